/* The seq ledger in memory (seed 001): a state machine per seq, moved by many threads at once.
 *
 * A reference model: tests hold the primitives to it; no run and no engine calls it. A failure and its
 * retry are one call here, which nothing can come between; in rows they are two transactions.
 * Runs execute the durable rows of model/seq.h, and sim/tests/test_seq_run.c holds their
 * decisions to this ledger. `assay bench seq` measures it.
 *
 * One 64-bit word a seq holds state, attempts, lease owner and heartbeat, and every move is one
 * compare-and-swap of that word: evaluation and write are atomic per seq (SEQ-5) and there is no
 * lock. Leases hang in a timing wheel, so the reclaimer examines only slots that are due, never the
 * ledger. Counters are striped by actor and read by adding up the stripes.
 *
 * Callers:
 *   dispatcher  seq_memory_order(SEQ_DISPATCHED)         committer  seq_memory_order(SEQ_COMMITTED)
 *   worker      seq_take, seq_heartbeat, seq_finish
 *   canceller   seq_cancel, then seq_cancel_force after the grace period
 *   reclaimer   seq_reclaim; there may be several
 * A caller with a queue of seqs uses seq_order_many, seq_take_many and seq_finish_many.
 *
 * Owns the memory it is given; never allocates, reads no clock (time is a parameter, the store's
 * clock: E-SEQ-13) and starts no thread. It is for the threads of one process: if a process dies
 * inside a call, its memory is lost. Arguments out of range (a seq not below the capacity, an actor
 * not in 1..SEQ_ACTOR_MAX, a state or class that does not exist) are bugs of the caller and abort.
 *
 * (SL1) A word leaves IN_FLIGHT only by its token, by the reclaimer after expiry, or by a forced
 *       cancel after the grace period; each revokes the token (E-SEQ-3, SEQ-12).
 * (SL2) attempts grows by one on each retry and never beyond the budget, so (owner, attempt) names
 *       one run of one seq and is never issued twice (SEQ-13).
 * (SL3) The call that ends the chain of attempts is handed the terminal event, and no other call is
 *       (SEQ-6, E-SEQ-2). A committer that learns of an end from the published event, and not by
 *       reading states, commits only what has been told (E-SEQ-10 makes that durable).
 * (SL4) A word that says it hangs in the wheel is in one list of it, in a slot that is due no later
 *       than its lease, or in the hands of a thread inside seq_take, seq_take_many or seq_reclaim.
 *       Every seq that is IN_FLIGHT hangs there.
 * (SL5) Once halted, a call changes nothing (SEQ-20). A call on another thread that had passed the
 *       test when the latch fell may still finish the one move that it was making; of many moves,
 *       each is tested.
 * (SL6) UNSEEN + dispatched + in flight + terminal + committed = capacity, and each equals a
 *       recount whenever no call is in progress (SEQ-16, E-SEQ-4). */
#ifndef MODEL_REFERENCE_SEQ_MEMORY_H
#define MODEL_REFERENCE_SEQ_MEMORY_H

#include "model/seq_rules.h"

#include <stddef.h>

#define SEQ_CAPACITY_MAX UINT64_C(4294967293)
#define SEQ_ALIGNMENT    128              /* of the memory of a ledger */
#define SEQ_ACTOR_MAX    ((1U << 19) - 1) /* actor ids are 1..SEQ_ACTOR_MAX; 0 is nobody */

struct seq_memory;

struct seq_time {
    uint64_t mono_ms; /* the store's monotonic clock: leases and grace */
    uint64_t wall_ms; /* milliseconds since 1970: only ever printed (SEQ-4) */
};

/* One run of one seq in the hands of one worker incarnation. */
struct seq_token {
    uint64_t seq;
    uint32_t owner;   /* the incarnation: a worker that restarts comes back with a new id */
    uint32_t attempt; /* 0 for the first run */
};

/* A cancel that was asked of a run in flight. */
struct seq_cancellation {
    struct seq_token run; /* the run it was asked of: any other run is not its business */
    uint64_t asked_ms;    /* when; the grace period counts from here */
};

struct seq_view {
    enum seq_state state;
    enum seq_state ended_as; /* of a committed seq: the terminal state it was committed from */
    uint32_t attempt;        /* retries so far */
    uint32_t owner; /* IN_FLIGHT: who holds the lease; else whose report ended the last run */
    uint32_t heartbeat_ms; /* IN_FLIGHT: low 32 bits of the last heartbeat */
    bool cancel_asked;     /* IN_FLIGHT: a canceller waits for the grace period to end */
};

enum seq_verdict {
    SEQ_MOVED,     /* done, by this call */
    SEQ_ASKED,     /* cancel noted on a run in flight; it can be forced after the grace period */
    SEQ_UNCHANGED, /* COMMITTED again: a no-op (SEQ-7) */
    SEQ_REPEATED, /* this token's result was applied before: success (E-SEQ-11); known while the seq
                     rests as that result left it */
    SEQ_STALE,    /* the token or expectation was overtaken: refused and counted (E-SEQ-3, -8) */
    SEQ_TOO_SOON, /* the grace period is not over */
    SEQ_FATAL,    /* outside the contract: nothing changed, and the ledger is now halted (SEQ-3) */
    SEQ_HALTED    /* refused: the ledger was halted before (SEQ-20) */
};

struct seq_result {
    enum seq_verdict verdict;
    enum seq_state from; /* the state that was found */
    enum seq_state to;   /* the state that was left behind */
    bool event;          /* the terminal event of this seq is this caller's to publish (SL3) */
    bool cancel_asked;   /* heartbeat: a canceller waits for this run to end */
};

/* The five facts of an illegal transition (SEQ-4), and who attempted it. */
struct seq_report {
    uint64_t seq;
    enum seq_state prior;
    enum seq_state attempted;
    uint32_t owner;   /* the owner on record, as in seq_view; 0 if none */
    uint64_t wall_ms; /* wall-clock time of the attempt */
    uint32_t by;      /* the actor whose call it was */
};

struct seq_counts {
    uint64_t unseen, dispatched, in_flight, terminal, committed;
    uint64_t moves[SEQ_MOVES]; /* how often each of the 12 legal moves was made */
    uint64_t stale;            /* refused because overtaken */
    uint64_t repeated;         /* recognised as already applied */
    uint64_t events;           /* terminal events handed out */
    uint64_t examined;         /* leases that reclaimers have looked at */
};

struct seq_reclaimed {
    uint64_t seq;
    uint32_t lost_owner;      /* whose lease ran out */
    struct seq_result result; /* to DISPATCHED, or to FAIL with its event (E-SEQ-1) */
    uint32_t attempt;         /* after the decision */
};

/* ---- life of a ledger ---------------------------------------------------------------------- */

size_t seq_memory_bytes(uint64_t capacity);

/* Lays a ledger out in `memory`: zeroed, aligned to SEQ_ALIGNMENT, seq_memory_bytes(capacity) long.
 * Every seq is UNSEEN. The policy is fixed from here on. */
struct seq_memory *seq_memory_init(void *memory, uint64_t capacity,
                                   const struct seq_policy *policy);

/* ---- moves --------------------------------------------------------------------------------- */

/* A hint: this seq will be moved soon. A caller that knows its next few seqs, as one with a queue
 * does, and hints some sixteen moves ahead has the cache misses of a random walk overlap. */
void seq_memory_prefetch(const struct seq_memory *ledger, uint64_t seq);

/* A move that claims no knowledge of the present state: dispatch, commit, cancel before work
 * begins. Whatever the contract does not allow to such a caller is fatal, and so is every move that
 * needs a lease or belongs to a failing run (E-SEQ-2, E-SEQ-8). */
struct seq_result seq_memory_order(struct seq_memory *ledger, uint64_t seq, enum seq_state to,
                                   uint32_t by, struct seq_time now);

/* Takes the lease and enters IN_FLIGHT, in one operation (E-SEQ-6), if the seq still is DISPATCHED
 * for this attempt. */
struct seq_result seq_memory_take(struct seq_memory *ledger, uint64_t seq, uint32_t attempt,
                                  uint32_t owner, struct seq_time now, struct seq_token *token);

/* Progress: keeps the lease. Never moves back and never revives a lost lease (SEQ-9, SEQ-19). */
struct seq_result seq_memory_heartbeat(struct seq_memory *ledger, struct seq_token token,
                                       struct seq_time now);

/* The worker's result: SUCCESS, SKIP or FAIL; from the owner anything else is fatal. A FAIL decides
 * its own retry, in the same operation: `to` is then DISPATCHED, and no event is due (E-SEQ-2).
 * fail_class is used for FAIL only. */
struct seq_result seq_memory_finish(struct seq_memory *ledger, struct seq_token token,
                                    enum seq_state to, uint32_t fail_class, struct seq_time now);

/* Many moves: results[i], and what becomes of the ledger, is as if seq_order, seq_take or
 * seq_finish had been called for each in the order given; returns how many were SEQ_MOVED. For a
 * caller that has a queue: some two hundred at random places cost about a quarter of what they
 * would one by one, because their cache misses overlap without further hints, and because a call
 * counts, and hangs up its leases, once. Others see them counted, and reclaimers find the leases,
 * when it has returned. */

uint64_t seq_memory_order_many(struct seq_memory *ledger, const uint64_t *seqs, size_t count,
                               enum seq_state to, uint32_t by, struct seq_time now,
                               struct seq_result *results);

/* Of each run, seq and attempt are given; the owner is set, which makes it a token, if it moved. */
uint64_t seq_memory_take_many(struct seq_memory *ledger, struct seq_token *runs, size_t count,
                              uint32_t owner, struct seq_time now, struct seq_result *results);

uint64_t seq_memory_finish_many(struct seq_memory *ledger, const struct seq_token *runs,
                                size_t count, enum seq_state to, uint32_t fail_class,
                                struct seq_time now, struct seq_result *results);

/* Cancels what the caller has seen: at once if it is still DISPATCHED, by asking if IN_FLIGHT. What
 * was asked of a run ends with it: on SEQ_STALE, read again and ask again. */
struct seq_result seq_memory_cancel(struct seq_memory *ledger, uint64_t seq,
                                    struct seq_view expected, uint32_t by, struct seq_time now,
                                    struct seq_cancellation *asked);

/* Ends the run that was asked, once the grace period is over. The ledger keeps no record of when it
 * was asked: that is the caller's word. */
struct seq_result seq_memory_cancel_force(struct seq_memory *ledger, struct seq_cancellation asked,
                                          uint32_t by, struct seq_time now);

/* Ends every run whose lease has expired, except those that another reclaimer handles, passes each
 * to `each`, and returns their number. `each` must return; it may call anything here but
 * seq_reclaim.
 *
 * Examines every lease in a slot of the wheel that has become due: a renewed one is hung up again,
 * one whose run has ended is dropped, an expired one is reclaimed. So a lease is examined at most
 * once in lease_ms, and never twice without having been renewed. An expired lease is found at once
 * if lease_ms is at most 32,766, else within lease_ms / 2^14 + 1 ms of its end. The exception is a
 * lease whose taker was held up inside seq_take for longer than lease_ms: it is found after a turn
 * of the wheel at the latest (2^16 slots of that fraction, at least 65 s). seq_reclaim must be
 * called at least every 2^31 ms. */
uint64_t seq_memory_reclaim(struct seq_memory *ledger, uint32_t by, struct seq_time now,
                            void (*each)(void *context, const struct seq_reclaimed *reclaimed),
                            void *context);

/* ---- reading ------------------------------------------------------------------------------- */

uint64_t seq_memory_capacity(const struct seq_memory *ledger);
struct seq_view seq_memory_read(const struct seq_memory *ledger, uint64_t seq);

/* Exact when no call is in progress. While others move seqs, each number is one that it had or was
 * about to have, and they need not add up. */
struct seq_counts seq_memory_count(const struct seq_memory *ledger);

/* True once an illegal move has been attempted; *report is the first one. */
bool seq_memory_halted(const struct seq_memory *ledger, struct seq_report *report);

#endif
