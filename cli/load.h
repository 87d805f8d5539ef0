/* What verbs load before they run: scenarios, planted bugs, schedules, results. Each function that
 * returns a status returns CLI_OK, or another after it has said why. */
#ifndef CLI_LOAD_H
#define CLI_LOAD_H

#include "cli/cli.h"
#include "faults/sabotage.h"
#include "sim/schedule.h"

int load_scenario(const struct cli_verb *verb, const char *name, struct scenario *scenario);

/* The planted bug of that name, which must be one of the scenario's protocol. `name` NULL: none is
 * asked for. `scenario` NULL: any protocol's. */
int load_sabotage(const struct cli_verb *verb, const char *name, const struct scenario *scenario,
                  struct sabotage *sabotage);

/* A schedule without choices: they are drawn from the seed. */
int load_drawn(const struct cli_verb *verb, const char *scenario, uint64_t seed,
               const char *sabotage, struct schedule *schedule);

/* A schedule file. `edited`: a sum that does not fit is no error. */
int load_schedule(const struct cli_verb *verb, const char *path, bool edited,
                  struct schedule *schedule);

/* The text of DIR/results.jsonl, which the caller frees; NULL after it has said that the folder is
 * none that a verb wrote with --out. */
char *load_results(const struct cli_verb *verb, const char *folder, size_t *length);

/* Returns what `run` does with an empty schedule, or CLI_UNAVAILABLE if there is no memory. */
int load_with_schedule(const struct cli_verb *verb, void *request,
                       int (*run)(void *request, struct schedule *schedule));

#endif
