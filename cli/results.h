/* The results of a verb: JSON lines on stdout with --json, and artefacts with --out DIR, in one.
 *
 * Between results_open and results_close a verb hands every result to artefacts_line, in whatever
 * way it talks to people. results.jsonl then begins with where it ran (what it takes to repeat it)
 * and ends with how it ended. */
#ifndef CLI_RESULTS_H
#define CLI_RESULTS_H

#include "cli/cli.h"
#include "reports/artefacts.h"

/* Of which sources the program was built, and how: built.c knows. */
struct results_build {
    const char *version, *commit, *compiler, *flags;
    bool dirty;
    const char *clauses_hash, *errata_hash; /* SHA-256 of the tables */
    const char *binary; /* the file that is hashed; of a benchmark, the assay it was built with, so
                           that its results count as those of one build with assay's */
};
extern const struct results_build results_built;

/* The program and its command line, before any verb runs. */
void results_begin(const struct results_build *build, int argc, char **argv);

struct results_plan {
    const struct cli_verb *verb;
    const char *folder; /* --out; NULL: none */
    bool json;          /* lines go to stdout */
    uint64_t base_seed, jobs;
};

/* Returns CLI_OK, or CLI_USAGE after it has said why: the folder is not new or empty. */
int results_open(struct artefacts *results, const struct results_plan *plan);

/* The two lines around a session that a verb makes itself. */
void results_note_begin(struct artefacts *results, const struct cli_verb *verb);
void results_note_end(struct artefacts *results, int status);

/* The end of a session that is put together and ended with `status` as far as its verb knows: with
 * the status that its lines come to, and the seconds of its summary. */
void results_note_verdict(struct artefacts *results, const json_t *begin, const json_t *lines,
                          int status);

/* What the verb works on, for its folder: which PostgreSQL this is. */
void results_note_server(struct artefacts *results, const char *dsn);

/* The verb ends, with `status` as far as it knows. Returns the status of the verdict that its lines
 * come to (reports/verdict.h), after it has said why if that is not 0; or CLI_UNAVAILABLE after it
 * has said what could not be written. */
int results_close(struct artefacts *results, const struct cli_verb *verb, int status);

#endif
