/* The engines of the activity protocol: what a client and a worker do, as step functions without
 * I/O. An engine takes the outcome of its last transaction and answers with the next one.
 *
 *      outcome --> activity_worker_take --> its state --> activity_worker_next --> bundle
 *                     ^                                             |
 *                     '------------------- store <------------------'
 *
 * A worker claims a message and follows it to its end:
 *      Leg1   enter (counted) -> work and +100B -> ack
 *      task   answer: pending answers, then the closing one -> ack
 *      Leg2   enter (counted) -> Step 1 -> Step 2 -> Step 3 if this GUID closed the job -> ack
 * With merged commits, an extension (E-ACL-35), the last transaction of a message acks it. The worker goes on
 * with the message that it publishes there, as if it had claimed it, and enters it there, too:
 *      Leg1   work and +100B, ack, task published and kept
 *      task   answer, ack, Leg2 published, kept and entered (counted)
 *      Leg2   Step 1, Step 2, and unless this GUID closed the job ack, the first child's Leg1
 *             published, kept and entered (counted)
 *             -> else Step 3, ack
 * No other worker has seen that message, and its content is known before it is published. So its
 * entry is a call like any other (B2), and no claim has to look for it. An entry commits with the
 * work before it, never with the work that it enters: else a message that kills its worker would
 * never be counted (ACL-9). A worker with no message to keep claims the next one in the same
 * transaction, if there is one: after a Leg2 without children, a Step 3, answers of a task that has
 * several. It enters that message in a transaction of its own, as it does after a separate claim.
 * An ack in the transaction of a step ties the step to the claim: a worker that lost its claim is
 * refused as a whole, which is more than the markers ask for. An answer whose entry is refused is
 * sent again without the entry. A Step 2 that closes its job at a threshold while it has children
 * does not ack, so it does not go on with its first child either: that child waits until its claim
 * lapses. The GUID ledger alone says where Leg2 resumes (Rule C); every step's transaction tests
 * its marker again and returns the current ledger (E-ACL-5, E-ACL-26).
 *
 * Holds no pointer, no allocation, no clock: an engine can be copied, hashed, discarded (a crash)
 * and started anew. It learns the time from outcomes, so a paused engine does not know it; while it
 * is at work it learns the time from its caller, which has a clock, and extends its claim.
 *
 * (N1) A worker that is idle holds nothing.
 * (N2) Every bundle of a message but its entries may be repeated any number of times.
 * (N3) An aborted or unknown transaction is tried again at most ACTIVITY_TRIES_MAX times, reads and
 *      extensions in between not counted as progress; then the worker lets go, and the message
 *      comes again under the same GUID (E-ACL-13). */
#ifndef MODEL_ACTIVITY_ENGINE_H
#define MODEL_ACTIVITY_ENGINE_H

#include "model/consumer.h"
#include "model/graph.h"

#define ACTIVITY_TRIES_MAX 4

/* What a run's engines have in common; constant while it lasts. */
struct activity_rules {
    const struct graph *graph;
    int64_t timeout;       /* ticks that a claim lasts */
    int64_t put_back;      /* ticks until a message that came too early is visible again */
    int64_t thresholds[8]; /* job j has threshold j mod count */
    uint32_t threshold_count;
    bool direct; /* Leg1's work publishes the answers itself: no task hop */
    bool merged; /* fewer commits: see above */
};

/* The roles: see protocol.h. */
enum activity_role { ACTIVITY_CLIENT, ACTIVITY_WORKER };

/* Where a worker stands: the bundle that it sends next. */
enum activity_worker_state {
    ACTIVITY_WORKER_IDLE, /* claims a message */
    ACTIVITY_WORKER_ENTER_LEG1,
    ACTIVITY_WORKER_LEG1,
    ACTIVITY_WORKER_READ_LEG1, /* after an unknown outcome */
    ACTIVITY_WORKER_ANSWER,
    ACTIVITY_WORKER_ENTER_LEG2,
    ACTIVITY_WORKER_STEP1,
    ACTIVITY_WORKER_STEP2,
    ACTIVITY_WORKER_STEP3,
    ACTIVITY_WORKER_READ_LEG2, /* after an unknown outcome */
    ACTIVITY_WORKER_ACK,
    ACTIVITY_WORKER_ESCALATE,
    ACTIVITY_WORKER_PUT_BACK,
    ACTIVITY_WORKER_STATE_COUNT
};

struct activity_worker {
    uint8_t state;     /* enum activity_worker_state */
    uint8_t extending; /* the bundle sent last was an extension of the claim */
    uint8_t tries;     /* aborted or unknown outcomes since the last step forward */
    uint8_t answered;  /* task: answers that are out */
    uint8_t reason;    /* enum escalation_reason */
    uint8_t changed;   /* task: this worker answers otherwise than it should (a fault) */
    uint8_t apart;     /* task: the answer's entry was refused, and is made apart from it */
    int64_t ledger;    /* Leg2: the GUID's, as the last outcome returned it */
    int64_t dimension; /* Leg2: the GUID's own */
    int64_t input;     /* Leg1 and cycles: the data that came along the edge */
    int64_t now;       /* when the last outcome was given, and how long it worked since */
    int64_t held_until;
    int64_t message[1 + MESSAGE_COLUMNS]; /* key first */
};

/* A worker just started. */
struct activity_worker activity_worker_begin(void);

/* Asserts (N1) and (N3), whatever a store has answered. */
void activity_worker_check(const struct activity_worker *worker);

/* What the outcome of the last bundle means for where it stands. */
void activity_worker_take(struct activity_worker *worker, const struct activity_rules *rules,
                          const struct outcome *last);

/* In how many ticks it has to extend its claim, as far as it knows; 0 or less: now. */
int64_t activity_worker_extends_in(const struct activity_worker *worker,
                                   const struct activity_rules *rules);

/* The bundle that it sends next. May note that it is an extension. */
void activity_worker_next(struct activity_worker *worker, const struct activity_rules *rules,
                          struct bundle *next);

/* The job that a client creates next. */
void activity_client_next(const struct client *client, const struct activity_rules *rules,
                          struct bundle *next);

/* The id of a job, its input and its threshold: by its number. */
int64_t activity_job_id(uint32_t job);
int64_t activity_job_input(uint32_t job);
int64_t activity_job_threshold(const struct activity_rules *rules, uint32_t job);

extern const struct protocol protocol_activity;

#endif
