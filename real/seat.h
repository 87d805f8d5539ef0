/* Where an actor's process sits: memory that it shares with whoever watches over it (chaos.h). It
 * says there what it is doing before it does it, finds there what is to befall it, and leaves there
 * what its role keeps over a crash.
 *
 * Every transaction passes four moments:
 *
 *      begin ......... statements ......... COMMIT ......... answer
 *        ^ before begin          ^ before commit ^ sent        ^ after commit
 *
 * A snare is set for a bundle and a moment. The first process that gets there springs it, alone,
 * and stops itself (SIGSTOP): whoever watches sees that, and knows exactly where it stands. Or it
 * cuts its own connection around COMMIT, so that the answer is lost.
 *
 * Whoever gets no answer to COMMIT is in doubt, and has to find out. What it concluded shows in
 * what it sends next, which is noted beside the commit that it is about: the same bundle again, by
 * which it is judged, or one that follows, which is a hint only and may have another reason.
 *
 * (SE1) A snare is sprung by one process, once.
 * (SE2) `before commit` means that all statements were executed and none failed: a transaction is
 *       open. `after commit` that COMMIT was answered and its actor does not know yet.
 * (SE3) Every commit that the server has acknowledged is noted before anything else is done.
 * (SE4) Work outside rows is entered in the journal before the transaction that rests on it is
 *       begun. An entry outlives its process: one that died in the middle of it had not begun. */
#ifndef REAL_SEAT_H
#define REAL_SEAT_H

#include "faults/performer.h"
#include "real/store.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SEAT_SNARES           64
#define SEAT_CUTS_MAX         4096      /* of one run */
#define SEAT_ACKS_MAX         (1 << 21) /* of one run */
#define SEAT_WORKS_MAX        (1 << 17) /* done outside rows in one run */
#define SEAT_DELAYS_MAX       256       /* of one run */
#define SEAT_DISTURBANCES_MAX 1024
#define SEAT_DEATHS           256 /* of one seat, the last ones */
#define SEAT_ANY              BUNDLE_NAME_COUNT
#define SEAT_DSN_SIZE         512

enum seat_moment {
    SEAT_BEFORE_BEGIN,
    SEAT_BEFORE_COMMIT,
    SEAT_SENT,
    SEAT_AFTER_COMMIT,
    SEAT_AT_REST, /* in no transaction; no snare is set here */
    SEAT_MOMENTS = SEAT_AT_REST
};

enum seat_act {
    SEAT_STOPS,      /* stops itself, and is told when to go on */
    SEAT_CUTS_EARLY, /* the line breaks just before COMMIT leaves */
    SEAT_CUTS_LATE,  /* ... just after */
    SEAT_ANSWERS,    /* answers otherwise than the task was answered before */
    SEAT_DELAYS,     /* what it publishes becomes visible late, by the same transaction */
    SEAT_ERRS        /* attempts a move that nobody may make */
};

enum seat_snare_state {
    SEAT_SNARE_FREE,
    SEAT_SNARE_SET,
    SEAT_SNARE_SPRUNG,
    SEAT_SNARE_WAITS /* it is no snare: something that falls by itself, later */
};

struct seat_snare {
    atomic_int state;  /* enum seat_snare_state */
    uint8_t act;       /* enum seat_act */
    uint8_t bundle;    /* enum bundle_name, or SEAT_ANY */
    uint8_t moment;    /* enum seat_moment; of a cut: not looked at */
    uint64_t from;     /* progress before which it does nothing */
    bool held;         /* only one that holds a claim or has a transaction open, */
    bool claimed;      /* ... only one that holds a claim */
    bool serializable; /* only at a transaction of that level */
    bool writes_twice; /* only at one that changes rows of two tables: it can be locked out */
    bool kills;        /* not one that is spared death */
    bool claims;       /* only at one that takes a message, or would */
    uint32_t amount;   /* SEAT_DELAYS: for so long; SEAT_ERRS: which of its ways */
};

/* What a process that was in doubt about a commit took it for. */
enum seat_conclusion {
    SEAT_LEFT,    /* for nothing: it died, or left the work to others, or need not know */
    SEAT_DONE,    /* it was told so */
    SEAT_WENT_ON, /* it went on as if it was done, as far as its next bundle tells */
    SEAT_NOT_DONE /* it did it once more, and it took effect */
};

/* A commit that was acknowledged. */
struct seat_ack {
    struct store_pg_mark mark;
    uint64_t work; /* what it did, whoever does it: equal for those who do the same */
};

/* A commit whose answer was lost. */
struct seat_cut {
    struct store_pg_mark mark;
    uint64_t work;
    uint8_t bundle;
    uint8_t how;       /* enum seat_act; SEAT_STOPS: it was waiting while the server went away */
    uint8_t concluded; /* enum seat_conclusion */
    bool may_fail;     /* COMMIT itself may be refused: it is SERIALIZABLE */
    bool phase;        /* a principal's: whoever goes on from there may have found it forbidden */
};

/* Messages that are hidden for a while after they were published. */
struct seat_delay {
    atomic_llong from, until; /* by the store's clock; until is 0: there is none yet */
    atomic_bool looked;       /* somebody looked for a message meanwhile */
};

/* What a scenario takes for granted that it does not happen to whoever sits there (part.h). */
enum seat_spared {
    SEAT_SPARED_DEATH = 1, /* that it dies now */
    SEAT_SPARED_DOUBT = 2  /* that the answer to its next COMMIT is lost */
};

/* Work that was done outside rows (struct side_effect). */
struct seat_work {
    int64_t claim, epoch;
    atomic_llong what; /* written last; 0: the entry was never finished */
};

/* What befell a process while it stood still in a transaction, and what became of that. */
enum seat_struck {
    SEAT_UNHARMED,
    SEAT_STRUCK,  /* by whoever watches; the transaction is not over yet */
    SEAT_TOLD,    /* it is over: COMMITTED */
    SEAT_DEFEATED /* ... or anything else; where a message is kept from it: it took another one */
};

struct seat {
    /* what its process says */
    atomic_int moment;     /* enum seat_moment */
    atomic_int bundle;     /* enum bundle_name */
    atomic_bool holds;     /* a claim or a lease */
    atomic_int backend;    /* the server's process; 0: none */
    atomic_int snare;      /* that it sprang and stands still in; -1: none */
    atomic_int last_table; /* that the bundle changes rows of: where it can be made to wait */
    atomic_int struck;     /* enum seat_struck */
    atomic_int spared;     /* enum seat_spared, as bits: now */
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
    uint64_t unheard[SEAT_DEATHS]; /* ... of those that it died over: committed, perhaps */
    uint32_t unheard_count;
};

struct seat_page {
    atomic_int clients_left;  /* who has not begun all that there is to begin */
    atomic_ulong progress;    /* transactions that were about something; an attempt that found no
                                 server is none, so an outage counts for nothing, however long */
    atomic_bool crowd;        /* a rival has taken every connection that there was */
    atomic_ulong turned_away; /* 53300 without one: a principal had no connection left */
    uint64_t resolved;        /* bundles, as bits, whose lost answer must be found out about */
    bool vague;               /* ... and that are skipped for other reasons, too (part.h) */
    atomic_ulong sent[BUNDLE_NAME_COUNT]; /* transactions by what they are for */
    atomic_uint dsn_changes;              /* 0: the server is where it was */
    char dsn[2][SEAT_DSN_SIZE];           /* written in turn: the last one is whole */
    atomic_llong clock;                   /* how far the store's clock is ahead of the machine's */
    atomic_ulong answered;                /* answers that were given otherwise */
    atomic_ulong forbidden;               /* 42501: what a principal may not do */
    atomic_ulong disturbance_count;
    int64_t disturbances[SEAT_DISTURBANCES_MAX]; /* transactions that are no actor's */
    atomic_ulong delay_count;                    /* above SEAT_DELAYS_MAX: some had no room */
    struct seat_delay delays[SEAT_DELAYS_MAX];
    struct seat_snare snares[SEAT_SNARES];
    struct seat seats[PROTOCOL_ACTORS_MAX];
    atomic_uint cut_count;
    struct seat_cut cuts[SEAT_CUTS_MAX];
    atomic_ulong ack_count;
    struct seat_ack acks[SEAT_ACKS_MAX];    /* (SE3) */
    atomic_ulong work_count;                /* above SEAT_WORKS_MAX: some had no room */
    struct seat_work works[SEAT_WORKS_MAX]; /* the journal, in the order of its entries (SE4) */
};

/* Memory that processes started from here share. NULL: there is none. */
struct seat_page *seat_page_make(void);
void seat_page_free(struct seat_page *page);
/* Everything as at the beginning of a run. */
void seat_page_begin(struct seat_page *page, const struct rules *rules);

/* A transaction of whoever watches has changed rows. */
void seat_page_disturb(struct seat_page *page, int64_t transaction);
bool seat_page_is_disturbance(const struct seat_page *page, int64_t transaction);

/* The server is to be found elsewhere from now on. */
void seat_page_move(struct seat_page *page, const char *dsn);

/* It has an open transaction, a held claim or an unanswered commit. */
bool seat_is_hit(const struct seat *seat);

/* ---- for the process that sits there ----------------------------------------------------------
 */

/* The actor as it is after a crash, or as it begins. */
void seat_take_place(struct seat *seat, struct performer *performer, const struct rules *rules,
                     unsigned number);
/* Where the server is; NULL: where it was. */
const char *seat_page_dsn(const struct seat_page *page);

/* What stays of it. */
void seat_keep(struct seat *seat, const struct actor *actor);

/* An actor that is about to answer again what was answered before is to answer otherwise. */
bool seat_is_to_answer_otherwise(struct seat_page *page, unsigned number,
                                 const struct bundle *bundle);

/* A fault that an actor brings about itself waits for somebody. Takes it: how, into *amount. */
bool seat_is_awaited(const struct seat_page *page, enum seat_act act);
bool seat_is_to_err(struct seat_page *page, unsigned number, uint32_t *amount);

/* Enters work that is done outside rows (SE4). */
void seat_work(struct seat_page *page, const struct side_effect *effect);

/* store_pg_execute, with whatever befalls it. */
bool seat_execute(struct seat_page *page, unsigned number, struct store_pg *store,
                  const struct bundle *bundle, int64_t now, struct outcome *outcome);

#endif
