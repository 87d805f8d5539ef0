/* Judges the seq state machine of seed 001: a monitor for one seq, folded over what was observed of
 * it, and a recount of many. One judge for the ledger in memory, whose calls are observed, and for
 * the durable one, whose rows are (seq_moves.c).
 *
 * Owns its own statement of the transition contract and of who may make which move. Sees steps that
 * were taken; a refused call is no step, and the caller checks that it changed nothing. Never
 * judges the grace period of a forced cancel, nor the hard failure of a ledger (SEQ-20).
 *
 * (OQ1) A step is one move, and every commit leaves its seq where one move led (E-SEQ-1).
 * (OQ2) A failure waits for its retry exactly when its class is retryable and attempts < budget
 *       (E-SEQ-14). Then it hands out no event, and the next step is the retry, 5>1 (E-SEQ-2).
 * (OQ3) Every other step into a terminal state hands out the terminal event, and no other step does.
 *       What follows is the commit, and nothing else. */
#ifndef MODEL_ORACLE_SEQ_H
#define MODEL_ORACLE_SEQ_H

#include "model/oracle/verdict.h"

#include <stdint.h>

#define ORACLE_SEQ_CLASSES 32

enum oracle_seq_state {
    ORACLE_SEQ_UNSEEN,
    ORACLE_SEQ_DISPATCHED,
    ORACLE_SEQ_IN_FLIGHT,
    ORACLE_SEQ_SUCCESS,
    ORACLE_SEQ_SKIP,
    ORACLE_SEQ_FAIL,
    ORACLE_SEQ_CANCEL,
    ORACLE_SEQ_COMMITTED,
    ORACLE_SEQ_STATES
};

enum oracle_seq_by {
    ORACLE_SEQ_BY_ORDER,     /* the dispatcher's or committer's */
    ORACLE_SEQ_BY_TAKE,      /* a worker takes the lease */
    ORACLE_SEQ_BY_HEARTBEAT, /* a worker reports progress */
    ORACLE_SEQ_BY_FINISH,    /* a worker reports its result */
    ORACLE_SEQ_BY_CANCEL,    /* a canceller cancels, or asks a run to end (no move) */
    ORACLE_SEQ_BY_RECLAIM,   /* the reclaimer ends a run whose lease expired */
    ORACLE_SEQ_BY_RETRY,     /* ... or retries a failure */
    ORACLE_SEQ_BY_COUNT
};

struct oracle_seq_policy {
    uint64_t lease_ms;   /* leaseExpiresMs */
    uint32_t retryable;  /* bit c: fail class c may be retried */
    uint32_t budget;     /* retries of one seq */
    uint32_t expired_as; /* the fail class of an expired lease, below ORACLE_SEQ_CLASSES */
};

/* One step, as it was recorded. */
struct oracle_seq_step {
    enum oracle_seq_by by;
    enum oracle_seq_state from; /* the state it found */
    enum oracle_seq_state to;   /* the state it left */
    uint64_t actor;             /* whose call it was; 0 is nobody */
    uint32_t token;             /* a worker's heartbeat or result: the attempt it speaks of */
    uint32_t fail_class;        /* a failure, or its retry: its class, below ORACLE_SEQ_CLASSES */
    bool waits;                 /* left FAIL: it is to be retried */
    uint32_t attempt;           /* retries on record after it */
    uint64_t owner;             /* left IN_FLIGHT: the lease owner on record after it */
    uint64_t heartbeat_ms;      /* left IN_FLIGHT: the heartbeat on record after it */
    uint64_t now_ms;            /* the store's clock */
    bool event;                 /* the terminal event was handed out with it */
};

/* One seq as the steps so far have left it. A seq that nobody has touched is all zeros. */
struct oracle_seq {
    enum oracle_seq_state state;
    uint64_t owner;        /* who holds the lease; 0 unless IN_FLIGHT */
    uint32_t attempt;      /* retries */
    uint64_t heartbeat_ms; /* the last one of the last run */
    bool event_out;        /* the terminal event was handed out */
};

/* LEGAL are the 12 of the contract; COMMITTED again is no move. */
enum oracle_seq_pair { ORACLE_SEQ_ILLEGAL, ORACLE_SEQ_LEGAL, ORACLE_SEQ_NO_MOVE };

enum oracle_seq_pair oracle_seq_pair(enum oracle_seq_state from, enum oracle_seq_state to);

/* Judges a step and follows it, broken or not: the record is what later steps find.
 *   SEQ-5   it found the state that the last step left
 *   SEQ-19  a heartbeat moves during a run only, by the run's token only, and never back
 *   SEQ-8   IN_FLIGHT is entered by taking the lease, by its owner, and only while nobody has it;
 *           the owner does not change until the run ends
 *   SEQ-3   the pair is legal, or nothing moved where that is allowed: a heartbeat, a cancel that was
 *           asked, COMMITTED again
 *   SEQ-6   a failure whose event is out is not worked on again (OQ3)
 *   SEQ-12  it was made by one who may: a run is ended by its token, the reclaimer or a canceller
 *   SEQ-10  a lease is reclaimed once it expired, now - heartbeat >= leaseExpiresMs (E-SEQ-13)
 *   SEQ-13  attempts grew by one if it was a retry, else not at all; the retry was granted (OQ2)
 *   SEQ-18  a retry that was due is waited for (OQ2)
 *   SEQ-6   the event was handed out as (OQ3) says; only a seq whose event is out is committed */
struct oracle_verdict oracle_seq_fold(struct oracle_seq *seq,
                                      const struct oracle_seq_policy *policy,
                                      const struct oracle_seq_step *step);

/* ---- counters ------------------------------------------------------------------------------ */

struct oracle_seq_occupancy {
    uint64_t unseen, dispatched, in_flight, terminal, committed;
};

/* Counts one seq more. */
void oracle_seq_count(struct oracle_seq_occupancy *occupancy, enum oracle_seq_state state);

struct oracle_seq_occupancy oracle_seq_recount(const enum oracle_seq_state *states, size_t count);

/* SEQ-16: the counters say what a full recount says. */
struct oracle_verdict oracle_seq_counters(struct oracle_seq_occupancy counters,
                                          const enum oracle_seq_state *states, size_t count);
struct oracle_verdict oracle_seq_compare(struct oracle_seq_occupancy counters,
                                         struct oracle_seq_occupancy true_ones);

#endif
