/* The fault catalogue: every fault has a name, a group that a scenario allows and limits as one,
 * and one line that says what it does. The catalogue only names faults; sim/ and real/ inject them.
 *
 * A fault hits one transaction of one actor, or the environment:
 *
 *      begin ......... statements ......... COMMIT ......... answer
 *        ^ crash-before-begin    ^ crash-before-commit         ^ crash-after-commit
 *        ^ 40001, 40P01, 53300, connection-cut   ^ unknown-lost, unknown-committed
 *
 * A client sends a transaction whole, COMMIT included, and then waits for answers. So the
 * transaction may be in transit, or executed and not yet committed, while its sender has moved on:
 * commit-late, and crash-commit-late if the sender crashed.
 *
 * (F1) Names and order are part of every recorded schedule: append only, else raise
 *      FAULT_VERSION. */
#ifndef FAULTS_CATALOGUE_H
#define FAULTS_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAULT_VERSION 1

enum fault_kind {
    FAULT_NONE,
    FAULT_CRASH_BEFORE_BEGIN,  /* the worker dies before it sends anything */
    FAULT_CRASH_BEFORE_COMMIT, /* it dies with the transaction open: rolled back */
    FAULT_CRASH_AFTER_COMMIT,  /* it dies before it sees that its commit succeeded */
    FAULT_CRASH_BEFORE_ACK,    /* it dies with all work done and its message not acked */
    FAULT_UNKNOWN_COMMITTED,   /* the answer to COMMIT is lost; it did commit */
    FAULT_UNKNOWN_LOST,        /* the answer to COMMIT is lost; it did not commit */
    FAULT_CONNECTION_CUT,      /* the connection breaks inside the transaction: 08006 */
    FAULT_SERIALIZATION,       /* 40001 */
    FAULT_DEADLOCK,            /* 40P01 */
    FAULT_CONNECTIONS,         /* 53300: no connection to be had */
    FAULT_DUPLICATE,           /* a second row with the same GUID, the first one not acked yet */
    FAULT_REPLAY,              /* a second row with the same GUID, the first one acked */
    FAULT_REDELIVER,           /* the same row again, while its holder is alive and at work */
    FAULT_PAUSE,               /* the worker stops for a while and wakes as a zombie */
    FAULT_DELAY,               /* what the commit published becomes visible late */
    FAULT_REORDER,             /* a claim takes another message than the oldest */
    FAULT_RESTART,             /* the server restarts: every connection breaks */
    FAULT_FAILOVER,            /* a standby that lost nothing takes over */
    FAULT_LOSSY_FAILOVER,      /* a standby that lost the last commits takes over */
    FAULT_CLOCK_FORWARD,       /* the store's clock leaps ahead: claims lapse early */
    FAULT_CLOCK_BACK,          /* the store's clock falls back: claims lapse late */
    FAULT_ANSWER_CHANGED,      /* a worker that runs a task again answers otherwise */
    FAULT_ILLEGAL_MOVE,        /* seq: a move outside the contract; pipeline: what grants forbid */
    FAULT_COMMIT_LATE,         /* the answer is lost, and the commit comes when others moved on */
    FAULT_CRASH_COMMIT_LATE,   /* the worker dies, and its commit comes when others moved on */
    FAULT_SUCCESSOR, /* the worker is started again under its name, and its former self lives on */
    FAULT_LONG_WORK, /* the work outside rows takes time, and the claim may run out meanwhile */
    FAULT_SKEW,      /* the worker's own clock is set wrong, and runs too fast or too slow */
    FAULT_KIND_COUNT
};

/* What scenarios allow and limit: `faults: {crash: 1/20}`, `limits: {crashes: 3}`. */
enum fault_group {
    FAULT_GROUP_NONE,
    FAULT_GROUP_CRASH,
    FAULT_GROUP_UNKNOWN,
    FAULT_GROUP_ABORT,
    FAULT_GROUP_DUPLICATE,
    FAULT_GROUP_PAUSE,
    FAULT_GROUP_DELAY,
    FAULT_GROUP_SERVER,
    FAULT_GROUP_LOSS,
    FAULT_GROUP_CLOCK,
    FAULT_GROUP_ANSWER,
    FAULT_GROUP_ILLEGAL,
    FAULT_GROUP_SUCCESSOR,
    FAULT_GROUP_WORK,
    FAULT_GROUP_SKEW,
    FAULT_GROUP_COUNT
};

struct fault {
    const char *name; /* "crash-before-commit" */
    enum fault_group group;
    const char *about; /* one line */
};

struct fault_group_text {
    const char *name;     /* "crash", the key in `faults:` */
    const char *limit;    /* "crashes", the key in `limits:` */
    uint32_t limit_usual; /* the budget of a run whose scenario gives none */
};

const struct fault *fault_get(enum fault_kind kind);
const struct fault_group_text *fault_group_get(enum fault_group group);

/* By name; false if there is none. */
bool fault_find(const char *name, size_t length, enum fault_kind *found);
bool fault_group_find(const char *name, size_t length, enum fault_group *found);
bool fault_group_find_limit(const char *limit, size_t length, enum fault_group *found);

/* A rate as an integer ratio, `times` in `of`; 0/1 is never. */
struct fault_rate {
    uint32_t times;
    uint32_t of;
};

/* What a scenario allows: the highest rate of each kind, and a budget for each group. */
struct fault_plan {
    struct fault_rate rate[FAULT_KIND_COUNT];
    uint32_t budget[FAULT_GROUP_COUNT];
};

#endif
