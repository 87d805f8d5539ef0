/* Options that several verbs have: of how runs are drawn, sabotaged and judged. */
#ifndef CLI_RUN_OPTIONS_H
#define CLI_RUN_OPTIONS_H

#include "cli/cli.h"
#include "sim/run.h"

/* Reads `--without NAME`, as often as it was given: what is not judged. `silent` NULL: oracles
 * cannot be named here. */
int one_run_without(const struct cli_verb *verb, const struct cli_values *names,
                    bool without[CLAUSE_COUNT], bool silent[ORACLE_NAME_COUNT]);

/* The value of --strategy; NULL: at random. */
int one_run_strategy(const struct cli_verb *verb, const char *text,
                     struct choice_strategy *strategy);

/* That the planted bug is one of the scenario's protocol; CLI_USAGE, and told, if not. */
int one_run_check_sabotage(const struct cli_verb *verb, const struct sabotage *sabotage,
                           const struct scenario *scenario);

/* "2/8" of --shard; *shard is counted from 0. CLI_USAGE, and told, if it is none. */
int one_run_shard(const struct cli_verb *verb, const char *text, uint64_t *shard, uint64_t *shards);

#endif
