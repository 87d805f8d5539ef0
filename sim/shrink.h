/* Shrinking: from a run that breaks a promise to a smallest one, as far as it can find, that breaks
 * the same promise.
 *
 * It removes activities, jobs and workers, and searches the smaller scenario afresh; then it
 * removes faults and choices one by one while the promise still breaks. The result is a list from
 * which no entry can be removed, on a scenario from which nothing that was tried can be removed.
 * The same input always gives the same result.
 *
 * (SK1) The result breaks the same clause as the input.
 * (SK2) Its scenario's text and its scenario agree: the file alone reproduces it. */
#ifndef SIM_SHRINK_H
#define SIM_SHRINK_H

#include "sim/run.h"
#include "sim/schedule.h"

struct shrink_report {
    uint32_t steps_before, steps_after;   /* until the promise breaks */
    size_t choices_before, choices_after; /* in the list */
    uint32_t tried;                       /* runs that were made */
    bool has_passing;                     /* `passing` holds a list */
};

/* Shrinks *schedule in place; its clause must be known (breaks). `passing`, if not NULL, gets the
 * nearest list that passes: one entry left out, the one whose absence shows latest. `without` are
 * the clauses that are switched off, as in the run that found it; NULL: none. False: the schedule
 * does not break that clause, or there is no memory; it is unchanged then. */
bool shrink(struct schedule *schedule, const bool *without, struct choice_list *passing,
            struct shrink_report *report);

/* Records the run of a seed as a schedule, which schedule_make made and which has its scenario.
 * True: the run breaks a promise, which the schedule then names. */
bool shrink_record(struct schedule *schedule, uint64_t seed, const bool *without);

#endif
