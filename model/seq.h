/* The seq ledger of seed 001 as durable rows: a table of seqs that many processes move through a
 * store, where reference/seq_memory.h is the same contract in the memory of one. Both decide by seq_rules.h.
 *
 *      dispatcher  admits every seq, then dispatches it                      moves 1
 *      worker      look -> take the lease -> progress ticks -> its result    moves 2, 3, 4, 5
 *      reclaimer   look -> ends runs whose lease has expired; retries        moves 5, 12
 *      canceller   look -> cancels what was not begun; asks a run to end,
 *                  and forces it after the grace period                      moves 6, 7
 *      committer   look -> commits what has ended and told so                moves 8 to 11
 *
 * A look finds the next seq that there is something to do with, by an index: it reads a row or none,
 * however many seqs there are (SEQ-17). A failure that the policy retries rests in TERMINAL_FAIL,
 * without an event, until the reclaimer retries it in a transaction of its own (E-SEQ-1, E-SEQ-2).
 *
 * Between a look and the move that rests on it the seq may move on: every move names the token or
 * the state that it expects, and one that was overtaken is refused and counted (E-SEQ-3, E-SEQ-8).
 * A move outside the contract changes no seq and sets the latch, in the transaction that detects
 * it; from then on every move is refused (E-SEQ-15). An unknown outcome is resolved by looking
 * again (E-SEQ-11); that of the commit, which may be repeated, by sending it again (SEQ-7).
 *
 * A worker sends progress ticks while it is at work, too, before half of the lease is over on its
 * own clock (E-SEQ-16).
 *
 * What a run of a seq comes to is a function of the seq and the attempt: its fate. */
#ifndef MODEL_SEQ_H
#define MODEL_SEQ_H

#include "model/bundle.h"
#include "model/seq_rules.h"

#define SEQ_FATES_MAX 64

enum seq_role { SEQ_DISPATCHER, SEQ_WORKER, SEQ_RECLAIMER, SEQ_CANCELLER, SEQ_COMMITTER };

enum seq_fate {
    SEQ_FATE_SUCCESS,
    SEQ_FATE_SKIP,
    SEQ_FATE_RETRY,   /* fails once with a class that may be retried */
    SEQ_FATE_EXHAUST, /* fails so every time */
    SEQ_FATE_FATAL,   /* fails with a class that may not be retried */
    SEQ_FATE_CANCEL,  /* works long, fails once, and is to be cancelled */
    SEQ_FATES
};

/* Beside SEQ_CLASS_LEASE_EXPIRED. */
enum seq_fail_class { SEQ_CLASS_TRANSIENT = 1, SEQ_CLASS_PERMANENT = 2 };

/* What the engines of a run share. The lease lasts rules->timeout ticks, grace rules->put_back. */
struct seq_plan {
    uint32_t retryable; /* bit c: fail class c may be retried */
    uint32_t budget;    /* retries of one seq (E-SEQ-14) */
    bool drill;         /* illegal moves are attempted on purpose */
    uint32_t fate_count;
    uint8_t fates[SEQ_FATES_MAX]; /* enum seq_fate; seqs have them in turn */
};

/* A move that an actor is about to make and should not. */
struct seq_misstep {
    bool there;
    uint8_t from, to; /* enum seq_state */
    uint32_t number;  /* of the seq */
};

/* One engine, in any of the roles. */
struct seq_actor {
    uint8_t number; /* of the actor */
    uint8_t sends;  /* enum bundle_name: what is next, but for a misstep */
    uint8_t sent;   /* enum bundle_name: what was last */
    uint8_t beats;  /* worker: progress ticks of this run */
    uint32_t incarnation;
    uint32_t at;     /* dispatcher: how far it is */
    uint32_t target; /* the number of the seq that it is about */
    int64_t attempt; /* worker: of its token */
    int64_t worked;  /* worker: ticks that it has been at work since it sent something */
    int64_t asked;   /* canceller: when the run was asked to end */
    struct seq_misstep misstep;
};

struct seq_result_of_run {
    enum seq_state state;
    uint32_t fail_class; /* of a FAIL */
};

/* What the attempt at the seq comes to. */
struct seq_result_of_run seq_plan_result(const struct seq_plan *plan, uint32_t number,
                                         int64_t attempt);

/* How many retries a failure of this class may have; the policy, as a store tests it. */
uint32_t seq_plan_retries(const struct seq_plan *plan, uint32_t fail_class);

/* The usual classes that may be retried. */
#define SEQ_PLAN_RETRYABLE (1U << SEQ_CLASS_LEASE_EXPIRED | 1U << SEQ_CLASS_TRANSIENT)

int64_t seq_id(uint32_t number);
int64_t seq_stage(void);

struct actor;
struct rules;

#define SEQ_MISSTEP_WEIGHT 12
#define SEQ_MISSTEPS_MAX   (SEQ_MISSTEP_WEIGHT * SEQ_STATES * SEQ_STATES)

/* The moves that nobody may make from states that some seq is in: the 51 pairs that are neither
 * legal nor a no-op, and the retry of a failure that is final (E-SEQ-2), so that FAIL is there only if
 * a final one is. Each once or, for a draw, as
 * often as it weighs: seqs are UNSEEN for long and rest in terminal states for a moment only. How
 * many there are. */
uint32_t seq_missteps(const bool is_there[SEQ_STATES], bool drawn,
                      uint8_t pairs[SEQ_MISSTEPS_MAX][2]);

/* The actor's next transaction is to be an attempt at this move. A bug on purpose: no engine does
 * this by itself. */
void seq_err(struct actor *actor, uint32_t number, enum seq_state from, enum seq_state to);

extern const struct protocol protocol_seq;

#endif
