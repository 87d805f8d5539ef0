/* Where an actor's process sits: memory that it shares with whoever watches over it (chaos.h). It
 * says there what it is doing before it does it, finds there what is to befall it, and leaves there
 * what its role keeps over a crash.
 *
 * Every transaction passes four moments:
 *
 *      begin ......... statements ......... COMMIT ......... answer
 *        ^ before begin          ^ before commit ^ sent        ^ after commit
 *
 * A breakpoint is set for a bundle and a moment. The first process that gets there springs it, alone,
 * and stops itself (SIGSTOP): whoever watches sees that, and knows exactly where it stands. Or it
 * cuts its own connection around COMMIT, so that the answer is lost.
 *
 * Whoever gets no answer to COMMIT is in doubt, and has to find out. What it concluded shows in
 * what it sends next, which is noted beside the commit that it is about: the same bundle again, by
 * which it is judged, or one that follows, which is a hint only and may have another reason.
 *
 * (SE1) A breakpoint is hit by one process, once.
 * (SE2) `before commit` means that all statements were executed and none failed: a transaction is
 *       open. `after commit` that COMMIT was answered and its actor does not know yet.
 * (SE3) Every commit that the server has acknowledged is noted before anything else is done.
 * (SE4) Work outside rows is entered in the journal before the transaction that rests on it is
 *       begun. An entry outlives its process: one that died in the middle of it had not begun. */
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
#define SHARED_DEATHS           256 /* of one shared, the last ones */
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
    SHARED_STOPS,      /* stops itself, and is told when to go on */
    SHARED_CUTS_EARLY, /* the line breaks just before COMMIT leaves */
    SHARED_CUTS_LATE,  /* ... just after */
    SHARED_ANSWERS,    /* answers otherwise than the task was answered before */
    SHARED_DELAYS,     /* what it publishes becomes visible late, by the same transaction */
    SHARED_ERRS        /* attempts a move that nobody may make */
};

enum shared_breakpoint_state {
    SHARED_BREAKPOINT_FREE,
    SHARED_BREAKPOINT_SET,
    SHARED_BREAKPOINT_HIT,
    SHARED_BREAKPOINT_WAITS /* it is no breakpoint: something that falls by itself, later */
};

struct shared_breakpoint {
    atomic_int state;  /* enum shared_breakpoint_state */
    uint8_t act;       /* enum shared_act */
    uint8_t bundle;    /* enum bundle_name, or SHARED_ANY */
    uint8_t moment;    /* enum shared_moment; of a cut: not looked at */
    uint64_t from;     /* progress before which it does nothing */
    bool held;         /* only one that holds a claim or has a transaction open, */
    bool claimed;      /* ... only one that holds a claim */
    bool serializable; /* only at a transaction of that level */
    bool writes_twice; /* only at one that changes rows of two tables: it can be locked out */
    bool kills;        /* not one that is spared death */
    bool claims;       /* only at one that takes a message, or would */
    uint32_t amount;   /* SHARED_DELAYS: for so long; SHARED_ERRS: which of its ways */
};

/* What a process that was in doubt about a commit took it for. */
enum shared_conclusion {
    SHARED_LEFT,    /* for nothing: it died, or left the work to others, or need not know */
    SHARED_DONE,    /* it was told so */
    SHARED_WENT_ON, /* it went on as if it was done, as far as its next bundle tells */
    SHARED_NOT_DONE /* it did it once more, and it took effect */
};

/* A commit that was acknowledged. */
struct shared_ack {
    struct store_pg_mark mark;
    uint64_t work; /* what it did, whoever does it: equal for those who do the same */
};

/* A commit whose answer was lost. */
struct shared_cut {
    struct store_pg_mark mark;
    uint64_t work;
    uint8_t bundle;
    uint8_t how; /* enum shared_act; SHARED_STOPS: it was waiting while the server went away */
    uint8_t concluded; /* enum shared_conclusion */
    bool may_fail;     /* COMMIT itself may be refused: it is SERIALIZABLE */
    bool phase;        /* a principal's: whoever goes on from there may have found it forbidden */
};

/* Messages that are hidden for a while after they were published. */
struct shared_delay {
    atomic_llong from, until; /* by the store's clock; until is 0: there is none yet */
    atomic_bool looked;       /* somebody looked for a message meanwhile */
};

/* What a scenario takes for granted that it does not happen to whoever sits there (part.h). */
enum shared_spared {
    SHARED_SPARED_DEATH = 1, /* that it dies now */
    SHARED_SPARED_DOUBT = 2  /* that the answer to its next COMMIT is lost */
};

/* Work that was done outside rows (struct side_effect). */
struct shared_work {
    int64_t claim, epoch;
    atomic_llong what; /* written last; 0: the entry was never finished */
};

/* What befell a process while it stood still in a transaction, and what became of that. */
enum shared_struck {
    SHARED_UNHARMED,
    SHARED_STRUCK,  /* by whoever watches; the transaction is not over yet */
    SHARED_TOLD,    /* it is over: COMMITTED */
    SHARED_DEFEATED /* ... or anything else; where a message is kept from it: it took another one */
};

struct shared_actor {
    /* what its process says */
    atomic_int moment;     /* enum shared_moment */
    atomic_int bundle;     /* enum bundle_name */
    atomic_bool holds;     /* a claim or a lease */
    atomic_int backend;    /* the server's process; 0: none */
    atomic_int breakpoint; /* that it sprang and stands still in; -1: none */
    atomic_int last_table; /* that the bundle changes rows of: where it can be made to wait */
    atomic_int struck;     /* enum shared_struck */
    atomic_int spared;     /* enum shared_spared, as bits: now */
    atomic_int claimer;    /* the server's process that it claimed by last */
    atomic_int broken_off; /* ... and the one that may still commit what it has no answer to */
    atomic_llong kept_off; /* a message that is kept from its next transaction; 0: none */
    atomic_ulong aborted[ABORT_CLASS_COUNT]; /* transactions, by enum abort_class */
    bool crowded; /* the last one found no connection: to ask again is no new fault */
    atomic_ulong transactions;
    unsigned doubt;       /* 1 + the cut that it does not know the fate of; 0: none */
    uint64_t doubt_about; /* ... and what it sent then, to the last parameter */
    /* what stays when it dies */
    struct actor actor[2]; /* written in turn, */
    atomic_int actor_now;  /* and this one is whole; -1: there is none yet */
    uint32_t lives;        /* how often it was started */
    atomic_ulong sending;  /* the work of the transaction that it sent and has no answer to; or 0 */
    uint64_t unheard[SHARED_DEATHS]; /* ... of those that it died over: committed, perhaps */
    uint32_t unheard_count;
};

struct shared_page {
    atomic_int clients_left;  /* who has not begun all that there is to begin */
    atomic_ulong progress;    /* transactions that were about something; an attempt that found no
                                 server is none, so an outage counts for nothing, however long */
    atomic_bool crowd;        /* a rival has taken every connection that there was */
    atomic_ulong turned_away; /* 53300 without one: a principal had no connection left */
    uint64_t resolved;        /* bundles, as bits, whose lost answer must be found out about */
    bool vague;               /* ... and that are skipped for other reasons, too (part.h) */
    atomic_ulong sent[BUNDLE_NAME_COUNT]; /* transactions by what they are for */
    atomic_uint dsn_changes;              /* 0: the server is where it was */
    char dsn[2][SHARED_DSN_SIZE];         /* written in turn: the last one is whole */
    atomic_llong clock;                   /* how far the store's clock is ahead of the machine's */
    atomic_ulong answered;                /* answers that were given otherwise */
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

/* Memory that processes started from here share. NULL: there is none. */
struct shared_page *shared_page_make(void);
void shared_page_free(struct shared_page *page);
/* Everything as at the beginning of a run. */
void shared_page_begin(struct shared_page *page, const struct rules *rules);

/* A transaction of whoever watches has changed rows. */
void shared_page_disturb(struct shared_page *page, int64_t transaction);
bool shared_page_is_disturbance(const struct shared_page *page, int64_t transaction);

/* The server is to be found elsewhere from now on. */
void shared_page_move(struct shared_page *page, const char *dsn);

/* It has an open transaction, a held claim or an unanswered commit. */
bool shared_actor_is_exposed(const struct shared_actor *shared);

/* ---- for the process that sits there ----------------------------------------------------------
 */

/* The actor as it is after a crash, or as it begins. */
void shared_actor_begin(struct shared_actor *shared, struct performer *performer,
                        const struct rules *rules, unsigned number);
/* Where the server is; NULL: where it was. */
const char *shared_page_dsn(const struct shared_page *page);

/* What stays of it. */
void shared_actor_keep(struct shared_actor *shared, const struct actor *actor);

/* An actor that is about to answer again what was answered before is to answer otherwise. */
bool shared_is_to_change_answer(struct shared_page *page, unsigned number,
                                const struct bundle *bundle);

/* A fault that an actor brings about itself waits for somebody. Takes it: how, into *amount. */
bool shared_has_breakpoint(const struct shared_page *page, enum shared_act act);
bool shared_is_to_err(struct shared_page *page, unsigned number, uint32_t *amount);

/* Enters work that is done outside rows (SE4). */
void shared_work(struct shared_page *page, const struct side_effect *effect);

/* store_pg_execute, with whatever befalls it. */
bool shared_execute(struct shared_page *page, unsigned number, struct store_pg *store,
                    const struct bundle *bundle, int64_t now, struct outcome *outcome);

#endif
