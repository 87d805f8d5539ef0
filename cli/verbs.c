/* The verbs, in the order of the overview. */
#include "cli/cli.h"

#include <string.h>

const struct cli_verb *const cli_verbs[] = {
    &cli_run,    &cli_campaign,   &cli_sweep,    &cli_explore, &cli_replay,
    &cli_shrink, &cli_sabotage,   &cli_compare,  &cli_real,    &cli_conform,
    &cli_report, &cli_merge,      &cli_sign_off, &cli_verify,  &cli_decode,
    &cli_list,   &cli_completion, &cli_bench,    &cli_wire,    NULL};

const struct cli_verb *cli_find_verb(const char *name)
{
    const struct cli_verb *const *verb = cli_verbs;
    while (*verb != NULL && strcmp(name, (*verb)->name) != 0) {
        verb++;
    }
    return *verb;
}
