/* Shrinking: from a run that breaks a promise to the smallest one that it can find that breaks the
 * same promise.
 *
 * It takes away activities, jobs and workers, and searches the smaller scenario afresh; then it
 * takes away faults and choices one by one for as long as the promise still breaks. What is left is
 * a list of which no entry can be spared, on a scenario of which nothing can be spared that was
 * tried. The same input always gives the same result.
 *
 * (H1) The result breaks the same clause as the input.
 * (H2) Its scenario's text and its scenario agree: the file alone reproduces it. */
#ifndef SIM_SHRINK_H
#define SIM_SHRINK_H

#include "sim/run.h"
#include "sim/schedule.h"

struct shrink_report {
    uint32_t steps_before, steps_after;   /* until the promise breaks */
    size_t choices_before, choices_after; /* in the list */
    uint32_t tried;                       /* runs that it took */
    bool has_passing;                     /* `passing` holds a list */
};

/* Shrinks *schedule in place; its clause must be known (breaks). `passing`, if not NULL, gets the
 * nearest list that passes: one entry left out, the one whose absence shows latest. `without` are
 * clauses that are switched off, as for the run that found it; NULL: none. False: it
 * does not break that clause, or there is no memory; the schedule is as it was. */
bool shrink(struct schedule *schedule, const bool *without, struct choice_list *passing,
            struct shrink_report *report);

/* Records the run of a seed as a schedule: made by schedule_make, its scenario already in place.
 * True if it breaks a promise, which the schedule then names. */
bool shrink_record(struct schedule *schedule, uint64_t seed, const bool *without);

#endif
