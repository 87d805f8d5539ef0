/* The verdict: how results end, with every reason. It is made of typed lines, in one place
 * (evidence.c), and is all that exit status, terminal, headline, summary.md, JUnit, JSON and
 * sign-off say about how it ended.
 *
 * A reason has a kind, a status and, where there is one, a name: the promise that is broken, the
 * suite that failed, the gate that was not met. Two of one kind, name and status are one, counted
 * twice.
 *
 * (VE1) The status is that of the reason that says most (line_status_rank); without reasons 0.
 * (VE2) A status other than 0 has a reason, and the words name it.
 * (VE3) A broken promise is named by its clause. */
#ifndef REPORTS_VERDICT_H
#define REPORTS_VERDICT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VERDICT_WORDS_SIZE 1200

/* In the order in which they are told, among reasons of one status. */
enum verdict_kind {
    VERDICT_BUG,           /* a bug in Assay: nothing can be said */
    VERDICT_DRIFT,         /* a run was not the same twice */
    VERDICT_BROKEN,        /* a new finding */
    VERDICT_REGRESSION,    /* an earlier finding came back */
    VERDICT_SUITE,         /* a suite of tests failed */
    VERDICT_DIFFERENCE,    /* the two stores differ */
    VERDICT_CAUGHT,        /* a planted bug was found */
    VERDICT_NO_FINDING,    /* one was expected (--expect-finding), and there is none */
    VERDICT_UNTOLD,        /* a session says that a promise was broken, and no line says which */
    VERDICT_UNAVAILABLE,   /* something that was needed */
    VERDICT_USAGE,         /* a run was asked for wrongly */
    VERDICT_NO_PROGRESS,   /* and no promise says so */
    VERDICT_SURVIVED,      /* a planted bug was not found */
    VERDICT_MISSING_SHARD, /* not all shards are there */
    VERDICT_FOREIGN,       /* shards, or results, that do not belong together */
    VERDICT_INTERRUPTED,   /* by a signal, or killed */
    VERDICT_GATE,          /* not everything was put to the test */
    VERDICT_BOUNDED,       /* a search, or runs, stopped at a bound */
    VERDICT_NEVER_RAN,     /* nothing ran */
    VERDICT_INCOMPLETE,    /* for a reason that its lines do not tell */
    VERDICT_EXPECTED,      /* a scenario broke what it is there to break */
    VERDICT_DOUBLED,       /* shards that are there twice, and count once */
    VERDICT_KNOWN,         /* findings that --known lists */
    VERDICT_KINDS
};

struct verdict {
    json_t *reasons; /* a list of {kind, status, name, count, expected} */
    json_t *index;   /* the same by all that they have but the count */
};

void verdict_begin(struct verdict *verdict);
void verdict_free(struct verdict *verdict);

/* "broken", "failed suite", ... */
const char *verdict_kind_name(enum verdict_kind kind);

/* With the status that is usual for the kind. `name` may be "". */
void verdict_add(struct verdict *verdict, enum verdict_kind kind, const char *name, uint64_t count);
void verdict_add_as(struct verdict *verdict, enum verdict_kind kind, int status, const char *name,
                    uint64_t count);

/* Of all reasons (VE1). */
int verdict_status(const struct verdict *verdict);

/* How often there is a reason of this kind, of any name. */
uint64_t verdict_count(const struct verdict *verdict, enum verdict_kind kind);

/* Gives every reason of this kind another status. `met`: an option had asked for it. */
void verdict_change(struct verdict *verdict, enum verdict_kind kind, int status, bool met);

/* For a session that ended with a status that nothing else explains. */
enum verdict_kind verdict_of_status(int status);

/* Adds the reasons of a session to those of all. */
void verdict_take(struct verdict *all, const struct verdict *session);

/* A line for people: every reason, the worst first; "every promise held that was put to the test, 94
 * of 128" where there is none. */
void verdict_words(const struct verdict *verdict, uint64_t covered, uint64_t of,
                   char words[VERDICT_WORDS_SIZE]);

/* One reason, as the words have it: "a promise was broken: ACL-16". `names` is its name. */
void verdict_reason_words(const json_t *reason, char *text, size_t size);

/* {status, outcome, words, reasons, covered: {promises, of}} */
json_t *verdict_json(const struct verdict *verdict, uint64_t covered, uint64_t of);

#endif
