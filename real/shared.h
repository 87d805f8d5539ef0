/* Memory that the process of an actor shares with its supervisor (chaos.h). The process records its
 * next step there before it takes it, and reads there which faults await it. What its role keeps
 * over a crash is stored there, too.
 *
 * Every transaction passes four moments:
 *
 *      begin ......... statements ......... COMMIT ......... answer
 *        ^ before begin          ^ before commit ^ sent        ^ after commit
 *
 * A breakpoint is set for a bundle and a moment. The first process that reaches it hits it and
 * stops itself (SIGSTOP), so that the supervisor knows its exact position. Other breakpoints make
 * the process cut its own connection around COMMIT, so that the answer is lost.
 *
 * A process that gets no answer to COMMIT is in doubt and must resolve the outcome. Its next bundle
 * shows its conclusion, which is recorded with the commit in question. The same bundle again is
 * evidence. A bundle that follows from it is a hint only: it may have another reason.
 *
 * (SE1) A breakpoint is hit by one process, once.
 * (SE2) `before commit`: all statements were executed and none failed; the transaction is open.
 *       `after commit`: COMMIT was answered, and the actor has not taken the outcome yet.
 * (SE3) A commit that the server has acknowledged is recorded before anything else is done.
 * (SE4) Work outside rows enters the journal before the transaction that rests on it begins. An
 *       entry outlives its process; an unfinished entry is of work that had not begun. */
#ifndef REAL_SHARED_H
#define REAL_SHARED_H

#include "faults/performer.h"
#include "real/store.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SHARED_BREAKPOINTS      64
#define SHARED_CUTS_MAX         4096      /* of one run */
#define SHARED_ACKS_MAX         (1 << 21) /* of one run */
#define SHARED_WORKS_MAX        (1 << 17) /* done outside rows in one run */
#define SHARED_DELAYS_MAX       256       /* of one run */
#define SHARED_DISTURBANCES_MAX 1024
#define SHARED_DEATHS           256 /* of one actor, the last ones */
#define SHARED_ANY              BUNDLE_NAME_COUNT
#define SHARED_DSN_SIZE         512

enum shared_moment {
    SHARED_BEFORE_BEGIN,
    SHARED_BEFORE_COMMIT,
    SHARED_SENT,
    SHARED_AFTER_COMMIT,
    SHARED_AT_REST, /* in no transaction; no breakpoint is set here */
    SHARED_MOMENTS = SHARED_AT_REST
};

enum shared_act {
    SHARED_STOPS,      /* stops itself until the supervisor continues it */
    SHARED_CUTS_EARLY, /* cuts its connection just before COMMIT is sent */
    SHARED_CUTS_LATE,  /* ... just after */
    SHARED_ANSWERS,    /* gives another answer than the task had before */
    SHARED_DELAYS,     /* makes what it publishes visible late, in the same transaction */
    SHARED_ERRS        /* attempts an illegal move */
};

enum shared_breakpoint_state {
    SHARED_BREAKPOINT_FREE,
    SHARED_BREAKPOINT_SET,
    SHARED_BREAKPOINT_HIT,
    SHARED_BREAKPOINT_WAITS /* no breakpoint: a fault that the supervisor injects later */
};

struct shared_breakpoint {
    atomic_int state;  /* enum shared_breakpoint_state */
    uint8_t act;       /* enum shared_act */
    uint8_t bundle;    /* enum bundle_name, or SHARED_ANY */
    uint8_t moment;    /* enum shared_moment; of a cut: not looked at */
    uint64_t from;     /* progress before which it is inactive */
    bool held;         /* only an actor with a claim or an open transaction, */
    bool claimed;      /* ... only one with a claim */
    bool serializable; /* only a transaction of that level */
    bool writes_twice; /* only one that changes rows of two tables: it can deadlock */
    bool kills;        /* it kills: not an actor that is spared death */
    bool claims;       /* only a bundle that claims a message */
    uint32_t amount;   /* SHARED_DELAYS: how long; SHARED_ERRS: which move */
};

/* What a process in doubt about a commit concluded. */
enum shared_conclusion {
    SHARED_LEFT,    /* nothing: it died, left the work to others, or need not know */
    SHARED_DONE,    /* that it was done: the store said so */
    SHARED_WENT_ON, /* that it was done, as far as its next bundle tells */
    SHARED_REPEATED /* it did it again: that it was not done, if `repeat` changed something (history.h),
                       and that it was done if not */
};

/* A commit that was acknowledged. */
struct shared_ack {
    struct store_pg_mark mark;
    uint64_t work; /* digest of the work, equal for all actors that do the same */
};

/* A commit whose answer was lost. */
struct shared_cut {
    struct store_pg_mark mark;
    uint64_t work;
    uint8_t bundle;
    uint8_t how;       /* enum shared_act; SHARED_STOPS: the server went away during the wait */
    uint8_t concluded; /* enum shared_conclusion */
    struct store_pg_mark repeat;
    bool may_fail; /* COMMIT itself may fail: it is SERIALIZABLE */
    bool phase;    /* a principal's: its sender may go on because it was forbidden */
};

/* A period in which published messages are hidden. */
struct shared_delay {
    atomic_llong from, until; /* by the store's clock; until is 0: there is none yet */
    atomic_bool looked;       /* an actor looked for a message meanwhile */
};

/* Faults that a scenario excludes for the actor at this moment (part.h). */
enum shared_spared {
    SHARED_SPARED_DEATH = 1, /* it does not die now */
    SHARED_SPARED_DOUBT = 2  /* the answer to its next COMMIT is not lost */
};

/* Work done outside rows (struct side_effect). */
struct shared_work {
    int64_t claim, epoch;
    atomic_llong what; /* written last; 0: the entry was never finished */
};

/* Whether a fault hit the transaction of a stopped process, and how that transaction ended. */
enum shared_struck {
    SHARED_UNHARMED,
    SHARED_STRUCK,  /* the transaction is not over yet */
    SHARED_TOLD,    /* it is over: COMMITTED */
    SHARED_DEFEATED /* ... or anything else; where a message is kept from it: it took another one */
};

struct shared_actor {
    /* written by its process */
    atomic_int moment;     /* enum shared_moment */
    atomic_int bundle;     /* enum bundle_name */
    atomic_bool holds;     /* a claim or a lease */
    atomic_int backend;    /* the server's process; 0: none */
    atomic_int breakpoint; /* at which it is stopped; -1: none */
    atomic_int last_table; /* whose rows the bundle changes last: a lock there makes it wait */
    atomic_int struck;     /* enum shared_struck */
    atomic_int spared;     /* enum shared_spared, as bits: now */
    atomic_int claimer;    /* the server's process of its last claim */
    atomic_int broken_off; /* ... and the one that may still commit without an answer */
    atomic_bool gives_up;  /* it waits until the supervisor has ended the claims of both */
    atomic_llong kept_off; /* a message that its next transaction cannot take; 0: none */
    atomic_ulong aborted[ABORT_CLASS_COUNT]; /* transactions, by enum abort_class */
    bool crowded; /* the last one found no connection: another 53300 is no new fault */
    atomic_ulong transactions;
    unsigned doubt;       /* 1 + the cut whose outcome it does not know; 0: none */
    uint64_t doubt_about; /* ... and a digest of what it sent then */
    /* what survives its process */
    struct actor actor[2];           /* written in turn, */
    atomic_int actor_now;            /* and this one is whole; -1: there is none yet */
    uint32_t lives;                  /* how often it was started */
    atomic_ulong sending;            /* the work of its unanswered transaction; 0: none */
    uint64_t unheard[SHARED_DEATHS]; /* ... of those during which it died: perhaps committed */
    uint32_t unheard_count;
};

struct shared_page {
    atomic_int clients_left;  /* clients that have work left to start */
    atomic_ulong progress;    /* transactions with work; an attempt that found no server is none,
                                 so that an outage does not count, however long */
    atomic_bool crowd;        /* a rival holds every connection */
    atomic_ulong turned_away; /* 53300 without a rival: a principal had no connection left */
    uint64_t must_resolve_unknown;        /* bundles, as bits (part.h) */
    bool skip_is_ambiguous;               /* (part.h) */
    atomic_ulong sent[BUNDLE_NAME_COUNT]; /* transactions by what they are for */
    atomic_uint dsn_changes;              /* 0: the server is where it was */
    char dsn[2][SHARED_DSN_SIZE];         /* written in turn: the last one is whole */
    atomic_ulong answered;                /* answers that differed from the first */
    atomic_ulong forbidden;               /* 42501: what a principal may not do */
    atomic_ulong disturbance_count;
    int64_t disturbances[SHARED_DISTURBANCES_MAX]; /* transactions that are no actor's */
    atomic_ulong delay_count;                      /* above SHARED_DELAYS_MAX: some had no room */
    struct shared_delay delays[SHARED_DELAYS_MAX];
    struct shared_breakpoint breakpoints[SHARED_BREAKPOINTS];
    struct shared_actor actors[PROTOCOL_ACTORS_MAX];
    atomic_uint cut_count;
    struct shared_cut cuts[SHARED_CUTS_MAX];
    atomic_ulong ack_count;
    struct shared_ack acks[SHARED_ACKS_MAX];    /* (SE3) */
    atomic_ulong work_count;                    /* above SHARED_WORKS_MAX: some had no room */
    struct shared_work works[SHARED_WORKS_MAX]; /* the journal, in the order of its entries (SE4) */
};

/* Memory shared with the processes that this one starts. NULL: no memory. */
struct shared_page *shared_page_make(void);
void shared_page_free(struct shared_page *page);
/* Resets everything for a run. */
void shared_page_begin(struct shared_page *page, const struct rules *rules);

/* Records a transaction of the supervisor that changed rows. */
void shared_page_disturb(struct shared_page *page, int64_t transaction);
bool shared_page_is_disturbance(const struct shared_page *page, int64_t transaction);

/* The server has moved to this address. */
void shared_page_move(struct shared_page *page, const char *dsn);

/* The actor has an open transaction, a held claim or an unanswered commit. */
bool shared_actor_is_exposed(const struct shared_actor *shared);

/* ---- for the process of the actor -----------------------------------------------------------
 */

/* The actor as it begins, or as it is after a crash. */
void shared_actor_begin(struct shared_actor *shared, struct performer *performer,
                        const struct rules *rules, unsigned number);
/* The address of the server; NULL: it has not moved. */
const char *shared_page_dsn(const struct shared_page *page);

/* Stores what survives a crash. */
void shared_actor_keep(struct shared_actor *shared, const struct actor *actor);

/* The actor is about to repeat an answer, and is to change it. */
bool shared_is_to_change_answer(struct shared_page *page, unsigned number,
                                const struct bundle *bundle);

/* A breakpoint with this act is active. The second one hits it: which move, into *amount. */
bool shared_has_breakpoint(const struct shared_page *page, enum shared_act act);
bool shared_is_to_err(struct shared_page *page, unsigned number, uint32_t *amount);

/* Enters work outside rows in the journal (SE4). */
void shared_work(struct shared_page *page, const struct side_effect *effect);

/* store_pg_execute, with the breakpoints that await it. */
bool shared_execute(struct shared_page *page, unsigned number, struct store_pg *store,
                    const struct bundle *bundle, struct outcome *outcome);

#endif
