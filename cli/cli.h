/* The command line: one file a verb, and what the verbs share.
 *
 * A verb gets the arguments after its name and returns an exit status. Results go to stdout, errors
 * to stderr as one line that says what was wrong and what would be right. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "reports/format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What others script against. */
enum cli_status {
    CLI_OK = 0,          /* every promise held */
    CLI_BROKEN = 1,      /* a promise was broken */
    CLI_NO_PROGRESS = 2, /* no progress that no clause names */
    CLI_NONDETERMINISTIC = 3,
    CLI_INCOMPLETE = 4,   /* a gate not met, a search bounded, a sabotage surviving */
    CLI_USAGE = 64,       /* usage or bad input */
    CLI_UNAVAILABLE = 69, /* something needed is not available */
    CLI_BUG = 70          /* a bug in Assay itself */
};

struct cli_verb {
    const char *name;
    const char *about;                 /* one line for the overview */
    const char *help;                  /* usage, options and an example, for --help */
    int (*run)(int argc, char **argv); /* argv[0] is the verb */
};

extern const struct cli_verb cli_bench, cli_campaign, cli_compare, cli_conform, cli_decode,
    cli_explore, cli_list, cli_merge, cli_real, cli_replay, cli_report, cli_run, cli_sabotage,
    cli_shrink, cli_sign_off, cli_sweep, cli_wire;

/* One option of a verb: a flag, or one that takes a value. */
struct cli_option {
    const char *name;   /* "--as" */
    const char **value; /* where its value goes; NULL for a flag */
    bool *flag;         /* where a flag is noted; NULL otherwise */
};

struct cli_arguments {
    const char *positional[64];
    int count;
};

/* Sorts argv into options and positional arguments; "--" ends the options, and an argument such as
 * -5 is no option. Returns CLI_OK, or CLI_USAGE after it has said why. */
int cli_parse(const struct cli_verb *verb, int argc, char **argv, const struct cli_option *options,
              size_t option_count, struct cli_arguments *arguments);

/* The values of an option that may be given several times. */
struct cli_values {
    const char *values[16];
    int count;
};

/* Takes every "NAME VALUE" and "NAME=VALUE" out of argv, before cli_parse sorts the rest. Returns
 * CLI_OK, or CLI_USAGE after it has said why. */
int cli_take_values(const struct cli_verb *verb, int *argc, char **argv, const char *name,
                    struct cli_values *values);

/* 0 .. 18446744073709551615 in decimal digits, and nothing else. False: it is none. */
bool cli_read_number(const char *text, uint64_t *number);

/* The value of an option: a number from `least` to `most`. Not given (text is NULL): *number stays
 * as it is. Returns CLI_OK, or CLI_USAGE after it has said why. */
int cli_number_option(const struct cli_verb *verb, const char *option, const char *text,
                      uint64_t least, uint64_t most, uint64_t *number);

/* The value of an option: a time, such as 60s, 5m or 2h. Not given (text is NULL): *seconds stays
 * as it is. Returns CLI_OK, or CLI_USAGE after it has said why. */
int cli_time_option(const struct cli_verb *verb, const char *option, const char *text,
                    double *seconds);

/* How many cores there are; at most `most`. */
unsigned cli_cores(unsigned most);

/* FORMAT_COLOUR if stdout is a terminal that shows it and NO_COLOR is not set, else FORMAT_TEXT. */
enum format_kind cli_text_format(void);

/* What a user typed, fit for a one-line message: unprintable bytes as \xNN, long texts cut. */
struct cli_quoted {
    char text[200];
};
struct cli_quoted cli_quote(const char *text);

/* Prints "assay VERB: message" and where to read on; returns CLI_USAGE. */
int cli_usage_error(const struct cli_verb *verb, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
