/* A subject: an engine on PostgreSQL, what starts it, and what its documents promise.
 *
 *      setup:    psql -f schema.sql                  what it leaves becomes the template
 *      clients:  { run: ./enqueue, count: 1 }        producers
 *      workers:  { run: ./worker, count: 2 }
 *      done:     select not exists (select 1 from jobs where status <> 'done')
 *      promises:
 *        - { is: exactly-once, of: "effects(job, step)", says: "README: each step runs once" }
 *        - { never: "select job from ...", says: "docs/queues: tasks complete" }
 *      always:   []            the same, asked after every commit
 *      expect:   [{ select: "select count(*) from effects", is: "6" }]
 *      known:    [{ breaks: exactly-once, says: "docs: a step may run again" }]
 *      clock:    none          none, server or shim
 *      patience: 20            seconds (of the clock, if there is one) without a counting commit until work
 *                              counts as stranded
 *
 * setup, workers and done are needed, the rest is optional.
 *
 * (SJ1) A subject that was read has every needed part, and each promise is either a preset with its
 *       mapping or a query, never both. */
#ifndef WIRE_SUBJECT_H
#define WIRE_SUBJECT_H

#include "scenarios/scenario.h"

#include <stdbool.h>
#include <stddef.h>

#define SUBJECT_PROMISES_MAX 32
#define SUBJECT_COLUMNS_MAX  8
#define SUBJECT_NAME_SIZE    64
#define SUBJECT_WORKERS_MAX  8
#define SUBJECT_CLIENTS_MAX  3
#define SUBJECT_PATIENCE_SEC 20  /* in real time */
#define SUBJECT_CLOCK_SEC    300 /* of Assay's clock */

enum subject_preset {
    SUBJECT_NEVER, /* no preset: a query that returns no row */
    SUBJECT_EXACTLY_ONCE,
    SUBJECT_AT_LEAST_ONCE,
    SUBJECT_AT_MOST_ONCE,
    SUBJECT_NEVER_STRANDED,
    SUBJECT_FENCED,       /* a late worker changes nothing in the table */
    SUBJECT_BOUNDED,      /* the column never exceeds `most` */
    SUBJECT_TIMER_ONCE,   /* as exactly-once */
    SUBJECT_ORDERED,      /* of(key, position, order): by order, positions of a key rise */
    SUBJECT_AT_A_TIME,    /* of(key): at most `most` rows of a key at any time */
    SUBJECT_ACKNOWLEDGED, /* what a client was told to be committed is there at the end */
    SUBJECT_PRESETS
};

/* "effects(job, step)" */
struct subject_mapping {
    char table[SUBJECT_NAME_SIZE]; /* may be schema.table; empty: none was given */
    char columns[SUBJECT_COLUMNS_MAX][SUBJECT_NAME_SIZE];
    unsigned column_count;
};

struct subject_promise {
    char name[SUBJECT_NAME_SIZE]; /* given, or the preset's; unique among promises */
    enum subject_preset is;
    struct subject_mapping of;
    struct subject_mapping each; /* at-least-once: each of these has a row in `of` */
    char *never;                 /* SUBJECT_NEVER: the query */
    char *says;                  /* the quoted source */
    int64_t most;                /* of bounded and at-a-time */
    size_t line;
};

/* Rows that follow from the workload. */
struct subject_expect {
    char *select;
    char *is;  /* the rows, '|' between columns, a newline between rows; NULL: `same` */
    bool same; /* as in the run without faults: a hint */
};

struct subject_known {
    char breaks[SUBJECT_NAME_SIZE]; /* a promise's name, or "stranded" */
    char fault[SUBJECT_NAME_SIZE];  /* only by this fault; empty: by any */
    char *says;
};

struct subject_crew {
    char *run; /* a shell command; NULL: none */
    int64_t count;
};

enum subject_clock { SUBJECT_CLOCK_NONE, SUBJECT_CLOCK_SERVER, SUBJECT_CLOCK_SHIM };

struct subject {
    char *setup;
    struct subject_crew clients, workers;
    char *done;
    struct subject_promise promises[SUBJECT_PROMISES_MAX];
    size_t promise_count;
    struct subject_promise always[SUBJECT_PROMISES_MAX];
    size_t always_count;
    struct subject_expect expect[SUBJECT_PROMISES_MAX];
    size_t expect_count;
    struct subject_known known[SUBJECT_PROMISES_MAX];
    size_t known_count;
    enum subject_clock clock;
    int64_t patience; /* seconds, of the clock if there is one */
};

/* Reads YAML; `origin` names it in messages. False: *error says where, what is wrong and what would
 * be right. Free the subject in any case. */
bool subject_parse(struct subject *subject, const char *text, size_t size, const char *origin,
                   struct error *error);
void subject_free(struct subject *subject);

const char *subject_preset_name(enum subject_preset preset);

#endif
