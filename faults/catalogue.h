/* The fault catalogue: every fault has a name, a group that a scenario allows and limits as one, one
 * line that says what it does, and its effect as columns: when it acts, whether the sender dies,
 * whether the transaction is rolled back, what the sender is told, and how it is injected on
 * PostgreSQL. sim/ and real/ read the columns; what no column can say, such as which message comes
 * twice, is in their code.
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
 * (F1) Names are part of every recorded schedule, and what a seed draws goes by the order of the
 *      kinds: append only, else raise FAULT_VERSION.
 * (F2) The columns of a row agree: a sender that dies gets no answer, only a transaction that was
 *      executed is rolled back, an abort class is given where the answer is an abort and nowhere
 *      else, and a row has a twin or the reason why there is none.
 * (F3) Every chaos_kind is the twin of exactly one fault. */
#ifndef FAULTS_CATALOGUE_H
#define FAULTS_CATALOGUE_H

#include "model/bundle.h"

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

/* When a fault acts on the transaction that it hits. */
enum fault_moment {
    FAULT_NEVER,        /* FAULT_NONE */
    FAULT_AROUND,       /* a fault of the environment: a step of its own, and the transaction then
                           runs without a fault */
    FAULT_BEFORE_BEGIN, /* nothing of the transaction reaches the server */
    FAULT_INSTEAD,      /* the server fails the transaction, and nothing of it is executed */
    FAULT_INSIDE,       /* between its begin and its COMMIT */
    FAULT_AT_COMMIT,    /* its COMMIT */
    FAULT_AFTER_COMMIT, /* its answer */
    FAULT_LATE          /* its sender moves on, and its COMMIT takes effect later */
};

/* What the sender is told. */
enum fault_answer {
    FAULT_TELLS_TRUTH,   /* what the store did */
    FAULT_TELLS_NOTHING, /* it is dead, or it sent nothing */
    FAULT_TELLS_UNKNOWN, /* OUTCOME_UNKNOWN */
    FAULT_TELLS_ABORT    /* OUTCOME_ABORTED, with the row's abort class */
};

/* How faults are injected on PostgreSQL (real/chaos.h). */
enum chaos_kind {
    CHAOS_KILL_AT_POINT, /* SIGKILL at a named point */
    CHAOS_KILL,          /* SIGKILL at any instant */
    CHAOS_STOP,          /* SIGSTOP, and SIGCONT when its claim has lapsed */
    CHAOS_CUT_LATE,      /* the connection cut after COMMIT was sent and before its answer */
    CHAOS_CUT_EARLY,     /* the same, and COMMIT did not get through */
    CHAOS_TERMINATE,     /* pg_terminate_backend */
    CHAOS_KILL_BACKEND,  /* SIGKILL of a backend: the server starts over */
    CHAOS_RESTART,       /* immediate stop of the server, and restart */
    CHAOS_FAILOVER,      /* the primary killed, its synchronous standby promoted */
    CHAOS_SERIALIZATION, /* 40001 */
    CHAOS_DEADLOCK,      /* 40P01 */
    CHAOS_CONNECTIONS,   /* 53300 */
    CHAOS_ANSWER,        /* a worker that runs a task again answers otherwise */
    CHAOS_SHORT_STOP,    /* SIGSTOP, and SIGCONT before its claim lapses */
    CHAOS_DUPLICATE,     /* a message comes a second time, the first one not acked yet */
    CHAOS_REPLAY,        /* a message that was acked comes again */
    CHAOS_REDELIVER,     /* a message comes again while its holder is at work */
    CHAOS_DELAY,         /* what a commit published becomes visible late */
    CHAOS_REORDER,       /* a claim takes another message than the oldest */
    CHAOS_CLOCK_FORWARD, /* the store's clock leaps ahead: claims lapse early */
    CHAOS_CLOCK_BACK,    /* the store's clock falls back: claims lapse late */
    CHAOS_ILLEGAL_MOVE,  /* an actor attempts what the contract, or a grant, forbids */
    CHAOS_KINDS
};

/* A fault's twin: the same on PostgreSQL. */
struct fault_twin {
    uint8_t kind;     /* enum chaos_kind */
    bool server;      /* it needs a server that may be harmed */
    const char *name; /* "kill-at-point"; NULL: there is none */
    const char *about;
};
#define FAULT_TWINS_MAX 2

struct fault {
    const char *name; /* "crash-before-commit" */
    enum fault_group group;
    enum fault_moment moment;
    bool dies;                /* its sender, which starts anew */
    bool rolls_back;          /* a transaction that was executed */
    bool counts_later;        /* it may turn out to have no effect: it is counted once it has one */
    enum fault_answer answer; /* what the sender is told */
    enum abort_class aborted; /* FAULT_TELLS_ABORT */
    const char *about;        /* one line */
    struct fault_twin twins[FAULT_TWINS_MAX]; /* on PostgreSQL: a scenario that allows the fault
                                                 allows them */
    const char *no_twin;                      /* why it has none; NULL: it has */
};

struct fault_group_text {
    const char *name;     /* "crash", the key in `faults:` */
    const char *limit;    /* "crashes", the key in `limits:` */
    uint32_t limit_usual; /* the budget of a run whose scenario gives none */
};

extern const struct fault fault_table[FAULT_KIND_COUNT];

static inline const struct fault *fault_get(enum fault_kind kind)
{
    CHECK((size_t)kind < FAULT_KIND_COUNT);
    return &fault_table[kind];
}

/* A fault of the environment, not of a transaction. */
static inline bool fault_is_around(enum fault_kind kind)
{
    return fault_get(kind)->moment == FAULT_AROUND;
}

/* The abort that is answered in place of the transaction; ABORT_NONE: the transaction is
 * executed. */
static inline enum abort_class fault_aborts(enum fault_kind kind)
{
    const struct fault *fault = fault_get(kind);
    return fault->moment == FAULT_INSTEAD ? fault->aborted : ABORT_NONE;
}

/* The fault whose twin this is, and its row of `twins` (F3). */
enum fault_kind fault_of_twin(enum chaos_kind kind);
const struct fault_twin *fault_twin_get(enum chaos_kind kind);

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
