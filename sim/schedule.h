/* A schedule: everything that makes a run happen again, in a file that a person can read and edit.
 *
 *      {"assay-schedule": 1,
 *       "versions": {"choice": 1, "fault": 1, "identity": 1, "generator": 1},
 *       "scenario": "name: tree-3\n...",
 *       "sabotage": "lost-snapshot",
 *       "breaks": "ACL-21",
 *       "seed": 7,
 *       "strategy": "pct",
 *       "choices": [["who", 12, 2], ["fault", 1, 5, "crash-after-commit"], ["amount", 1, 9, 31]],
 *       "sum": "6f1e..."}
 *
 * `who` is [turn, actor]; `fault` and `amount` are [actor, transaction, value]. Seed and strategy
 * (not there: random) say where the choices came from. The file carries its scenario with it. `sum`
 * covers all the rest: a file whose sum does not fit was cut short or edited, and is refused unless
 * the reader says that it was meant to be.
 *
 * Owns the memory of its choices and its scenario. */
#ifndef SIM_SCHEDULE_H
#define SIM_SCHEDULE_H

#include "faults/sabotage.h"
#include "model/clause.h"
#include "scenarios/scenario.h"
#include "sim/choice.h"

#define SCHEDULE_VERSION     1
#define SCHEDULE_CHOICES_MAX (1 << 16)

struct schedule {
    struct scenario *scenario;
    bool sabotaged;
    struct sabotage sabotage;        /* if sabotaged */
    bool breaks;                     /* it is known to break a promise, */
    enum clause_id broken;           /* this one */
    uint64_t seed;                   /* where it came from; informative */
    struct choice_strategy strategy; /* ... and the strategy that drew it */
    struct choice_list choices;
};

/* An empty one with room for a scenario and SCHEDULE_CHOICES_MAX choices. False: no memory. */
bool schedule_make(struct schedule *schedule);
void schedule_free(struct schedule *schedule);

/* The text of a file, to be freed by the caller; NULL: no memory. */
char *schedule_text(const struct schedule *schedule);

/* Reads the text of a file into a schedule that schedule_make made. `edited`: a sum that does not
 * match is accepted. `origin` names the text in messages. */
bool schedule_parse(const char *text, size_t size, const char *origin, bool edited,
                    struct schedule *schedule, struct error *error);

bool schedule_load(const char *path, bool edited, struct schedule *schedule, struct error *error);

#endif
