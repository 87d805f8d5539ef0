/* The command line: one file a verb, and what the verbs share.
 *
 * A verb gets the arguments after its name and returns an exit status. Results go to stdout, errors
 * to stderr as one line that says what was wrong and what would be right. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "verify/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct option; /* cli/options.h */

struct cli_verb {
    const char *name;
    const char *about;            /* one line for the overview */
    const struct option *options; /* what it takes: its table */
    size_t option_count;
    size_t request_size;       /* of the struct that the table describes */
    int (*run)(void *request); /* filled from the command line; freed by the caller */
    /* NULL, or gets the words as they are: another program reads them. */
    int (*pass)(int argc, char **argv);
};

extern const struct cli_verb cli_bench, cli_campaign, cli_compare, cli_completion, cli_conform,
    cli_decode, cli_explore, cli_list, cli_merge, cli_real, cli_replay, cli_report, cli_run,
    cli_sabotage, cli_shrink, cli_sign_off, cli_sweep, cli_verify, cli_wire;

/* Every verb, in the order of the overview; ends with NULL. */
extern const struct cli_verb *const cli_verbs[];
const struct cli_verb *cli_find_verb(const char *name); /* NULL: there is none */

/* Reads the request from the arguments (argv[0] is the verb) and runs the verb. Returns an exit
 * status: the verb's, CLI_USAGE or CLI_UNAVAILABLE. */
int cli_run_verb(const struct cli_verb *verb, int argc, char **argv);

/* The arguments without a name, where a verb takes several. */
struct cli_arguments {
    const char *positional[64];
    int count;
};

/* The values of an option that may be given several times. */
struct cli_values {
    const char *values[16];
    int count;
};

/* 0 .. 18446744073709551615 in decimal digits, and nothing else. False: it is none. */
bool cli_read_number(const char *text, uint64_t *number);

/* How many cores there are; at most `most`. */
unsigned cli_cores(unsigned most);

/* What a user typed, fit for a one-line message: unprintable bytes as \xNN, long texts cut. */
struct cli_quoted {
    char text[200];
};
struct cli_quoted cli_quote(const char *text);

/* Prints "assay VERB: message" and where to read on; returns CLI_USAGE. */
int cli_usage_error(const struct cli_verb *verb, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints "assay VERB: not enough memory"; returns CLI_UNAVAILABLE. */
int cli_no_memory(const struct cli_verb *verb);

#endif
