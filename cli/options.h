/* Options as data. A verb has one table: what it takes, where each value goes in its request, and
 * one text about it. The parser, the help, the completion of a shell and the line that does a
 * request again are made of that table.
 *
 * (OT1) Every row is in the help and in the completion of its verb.
 * (OT2) A value that a row does not allow is refused with one line that names the row, and
 *       CLI_USAGE. What the parser accepts lies within the row's bounds.
 * (OT3) The line that options_again writes is read back to the same values.
 * (OT4) Names are unique in a table. Rows without a name come first, and one that takes several
 *       arguments is the last of them. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "cli/cli.h"

#include <stdio.h>

/* The kind says how a value is written, and the type of its slot in the request. */
enum option_kind {
    OPTION_FLAG,      /* bool: takes no value */
    OPTION_NUMBER,    /* uint64_t, from `least` to `most` */
    OPTION_SIZE,      /* uint64_t, bytes: 500M, 8G */
    OPTION_TIME,      /* double, seconds: 60s, 5m, 2h */
    OPTION_TEXT,      /* const char *; NULL: not given */
    OPTION_WORD,      /* const char *, one of `words`; NULL: not given */
    OPTION_SABOTAGE,  /* const char *, the name of a planted bug; NULL: not given */
    OPTION_TEXTS,     /* struct cli_values: may be given several times */
    OPTION_ARGUMENTS, /* struct cli_arguments: a row without a name that takes several */
    OPTION_KIND_COUNT
};

/* What a shell proposes as its value, where the kind does not say. */
enum option_names {
    NAMES_OF_FILES,
    NAMES_OF_SCENARIOS,
    NAMES_OF_SABOTAGES,
    NAMES_OF_CLAUSES,
    NAMES_OF_NOTHING
};

/* Whether a value belongs to the line that does the same again. */
enum option_again {
    AGAIN_CHANGED, /* if it is not the usual one */
    AGAIN_ALWAYS,
    AGAIN_NEVER /* how results are shown or kept, not what they are */
};

struct option {
    const char *name; /* "--seed"; NULL: an argument without a name */
    enum option_kind kind;
    size_t at;                /* where the value goes: OPTION_AT */
    const char *value;        /* how help calls the value: "N"; NULL for a flag */
    const char *about;        /* what it does; help adds bounds and usual value */
    uint64_t least, most;     /* of numbers and sizes */
    uint64_t usual;           /* of numbers and sizes that are not given */
    const char *usual_text;   /* the usual value as help says it; NULL: the number is enough */
    const char *const *words; /* of a word; ends with NULL */
    const char *right;        /* what a refusal says would be right; NULL: follows from the kind */
    const char *lacking;      /* what is said when a needed one is missing; NULL: follows */
    const char *excludes;     /* names of options that it does not go with, spaces between */
    bool needed;
    enum option_names names;
    enum option_again again;
};

/* The place of a member in the request; does not compile if the member has another type. */
#define OPTION_AT(request, member, type)                                                           \
    _Generic(((request *)0)->member, type : offsetof(request, member)) /* NOLINT: a type */

/* The first columns of a row, by its kind. */
#define FLAG_ROW(request, member, called)                                                          \
    .name = (called), .kind = OPTION_FLAG, .at = OPTION_AT(request, member, bool)
#define COUNTED_ROW(request, member, called, what, from, to)                                       \
    .name = (called), .kind = OPTION_NUMBER, .at = OPTION_AT(request, member, uint64_t),           \
    .value = (what), .least = (from), .most = (to), .names = NAMES_OF_NOTHING
#define NUMBER_ROW(request, member, called, from, to)                                              \
    COUNTED_ROW(request, member, called, "N", from, to)
#define TEXT_ROW(request, member, called, what)                                                    \
    .name = (called), .kind = OPTION_TEXT, .at = OPTION_AT(request, member, const char *),         \
    .value = (what)
#define WORD_ROW(request, member, called, what, list)                                              \
    .name = (called), .kind = OPTION_WORD, .at = OPTION_AT(request, member, const char *),         \
    .value = (what), .words = (list)
#define TEXTS_ROW(request, member, called, what)                                                   \
    .name = (called), .kind = OPTION_TEXTS, .at = OPTION_AT(request, member, struct cli_values),   \
    .value = (what)
#define ARGUMENT_ROW(request, member, what)                                                        \
    .kind = OPTION_TEXT, .at = OPTION_AT(request, member, const char *), .value = (what),          \
    .needed = true
#define ARGUMENTS_ROW(request, member, what, must)                                                 \
    .kind = OPTION_ARGUMENTS, .at = OPTION_AT(request, member, struct cli_arguments),              \
    .value = (what), .needed = (must)
#define CLI_ARGUMENTS_MAX (sizeof((struct cli_arguments *)0)->positional / sizeof(char *))

/* ---- rows that several verbs have: the request's member is named as the option --------------- */

#define SCENARIO_ROW(request)                                                                      \
    ARGUMENT_ROW(request, scenario, "SCENARIO"),                                                   \
        .names = NAMES_OF_SCENARIOS,                                                               \
        .about = "a name (assay list scenarios), or the path of a .yaml file"
#define SEED_ROW(request)                                                                          \
    NUMBER_ROW(request, seed, "--seed", 0, INT64_MAX),                                             \
        .needed = true, .again = AGAIN_ALWAYS,                                                     \
        .right = "it is a number from 0 to 9223372036854775807",                                   \
        .lacking = "--seed N is needed; any number will do, such as 1",                            \
        .about = "the same seed is the same run on every machine"
#define STRATEGY_ROW(request, with)                                                                \
    TEXT_ROW(request, strategy, "--strategy", "S"),                                                \
        .usual_text = "random", .names = NAMES_OF_NOTHING,                                         \
        .about = "how the seed draws which actor runs next: random, or pct" with
#define SABOTAGE_ROW(request)                                                                      \
    .name = "--sabotage", .kind = OPTION_SABOTAGE,                                                 \
    .at = OPTION_AT(request, sabotage, const char *), .value = "NAME",                             \
    .names = NAMES_OF_SABOTAGES, .about = "plant this bug (assay list sabotages)"
#define WITHOUT_ROW(request, what, with)                                                           \
    TEXTS_ROW(request, without, "--without", what),                                                \
        .names = NAMES_OF_CLAUSES, .about = "do not judge this promise, such as ACL-21" with
#define JOBS_ROW(request, to)                                                                      \
    NUMBER_ROW(request, jobs, "--jobs", 1, to), .usual_text = "one a core", .again = AGAIN_NEVER,  \
                                                .about = "threads"
#define TIME_ROW(request, with)                                                                    \
    .name = "--time", .kind = OPTION_TIME, .at = OPTION_AT(request, time, double), .value = "60s", \
    .names = NAMES_OF_NOTHING, .about = "instead: " with
#define DSN_ROW(request, with)                                                                     \
    TEXT_ROW(request, dsn, "--dsn", "DSN"),                                                        \
        .again = AGAIN_NEVER, .names = NAMES_OF_NOTHING,                                           \
        .about = "a server to use, as libpq takes it; without it, a private one in a "             \
                 "temporary folder. " with
#define EXPECT_FINDING_ROW(request)                                                                \
    FLAG_ROW(request, expect_finding, "--expect-finding"),                                         \
        .again = AGAIN_NEVER, .about = "a broken promise is status 0, none is status 1"
#define JSON_ROW(request, what)                                                                    \
    FLAG_ROW(request, json, "--json"), .again = AGAIN_NEVER, .about = "JSON lines" what
#define OUT_ROW(request, kept)                                                                     \
    TEXT_ROW(request, out, "--out", "DIR"),                                                        \
        .again = AGAIN_NEVER, .about = "keep " kept " there; DIR must be empty or new"

/* ---- what is made of a table ------------------------------------------------------------------ */

/* An empty request, with its usual values. */
void options_begin(const struct cli_verb *verb, void *request);

/* Fills a request; argv[0] is the verb. Options and arguments come in any order, "--" ends the
 * options, and an argument such as -5 is no option. Returns CLI_OK, or CLI_USAGE after it has said
 * why. */
int options_read(const struct cli_verb *verb, int argc, char **argv, void *request);

/* Usage, the verb's own text (cli/help/VERB.txt) and its rows. */
void options_help(FILE *out, const struct cli_verb *verb);

/* The line that does the request again, as a shell takes it: "assay run tree-3 --seed 2". */
struct options_line {
    char text[8192];
};
struct options_line options_again(const struct cli_verb *verb, const void *request);

/* Values as messages and help write them: "2G"; "activity, guid, legacy, key". */
struct options_value {
    char text[200];
};
struct options_value options_size(uint64_t size);
struct options_value options_words(const char *const *words);

/* Whether the row does not go with the option of that name. */
bool options_excludes(const struct option *option, const char *name);

/* A word as a shell takes it: in quotes if it must be. */
void options_write_word(FILE *out, const char *word);

/* What the last of `words` may become, a line each; words[0] is the verb. Nothing is written where a
 * file, a number or a text of the user's own is meant. */
void options_complete(FILE *out, int count, char **words);

#endif
