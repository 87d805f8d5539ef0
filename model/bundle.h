/* A bundle: a straight line of durable primitives that a store commits whole or not at all, and the
 * outcome that it answers with. The only things that pass between an engine and a store.
 *
 * (B1) Either every call of a bundle took effect, or, after a missed `unless done`, every call
 *      before it, or none (ACL-2).
 * (B2) There is no other control flow, and no value feeds a later call of the same bundle.
 * (B3) An outcome that is not known is never folded into failure (E-ACL-13). */
#ifndef MODEL_BUNDLE_H
#define MODEL_BUNDLE_H

#include "model/check.h"
#include "model/primitive.h"

#include <string.h>

#define BUNDLE_CALLS_MAX  44
#define BUNDLE_PARAMS_MAX 340
#define BUNDLE_VALUES_MAX 16

/* What a bundle is for. Every transaction of the protocol has one of these names: crash points,
 * traces and planted bugs refer to them. */
enum bundle_name {
    /* activity; CLAIM, EXTEND, ACK and PUT_BACK are the queue's, for every protocol */
    BUNDLE_CREATE,     /* a client creates a job */
    BUNDLE_CLAIM,      /* a worker takes a message */
    BUNDLE_EXTEND,     /* ... and keeps it longer */
    BUNDLE_ENTER_LEG1, /* counted, apart from the work (ACL-9) */
    BUNDLE_LEG1,       /* Leg1's work and +100B (ACL-11) */
    BUNDLE_ANSWER,     /* a worker answers its task */
    BUNDLE_ENTER_LEG2, /* activity +1, GUID made or +1 (ACL-13) */
    BUNDLE_STEP1,      /* work (ACL-16) */
    BUNDLE_STEP2,      /* children, semaphore, snapshot (ACL-17) */
    BUNDLE_STEP3,      /* job completion tasks (ACL-18) */
    BUNDLE_ACK,        /* the message is deleted (ACL-28) */
    BUNDLE_ESCALATE,   /* handed to people and acked (E-ACL-10) */
    BUNDLE_PUT_BACK,   /* too early: visible again later, uncounted (E-ACL-20) */
    BUNDLE_READ,       /* where do things stand, after an unknown outcome (E-ACL-13) */
    /* inbox */
    BUNDLE_SEND,  /* a client sends a message */
    BUNDLE_APPLY, /* its effect, and its id, together (BOX-1) */
    /* legacy; CREATE, ENTER_LEG1, ENTER_LEG2, ESCALATE and READ are as above */
    BUNDLE_CLEAN_UP, /* what a Leg1 that did not end left behind (LEG-3) */
    BUNDLE_WORK,     /* Leg1's work */
    BUNDLE_END_LEG1, /* -10T */
    BUNDLE_PUBLISH,  /* the messages that follow from what a leg saved (LEG-9) */
    BUNDLE_SAVE,     /* Leg2's work and its children's integers (LEG-9) */
    BUNDLE_END_LEG2, /* pending or success (LEG-4) */
    BUNDLE_UNDO,     /* a call after success takes its entry back (LEG-4) */
    /* key; READ, too: where the flow stands */
    BUNDLE_BEGIN_FLOW,  /* a client begins a flow */
    BUNDLE_START_KEY,   /* 9 to 8, and the flow that it awaits */
    BUNDLE_FINISH_KEY,  /* 8 to 7, 6 or 5, and all skips that follow (E-KEY-5) */
    BUNDLE_PAUSE_KEY,   /* 6 to 5 */
    BUNDLE_RELEASE_KEY, /* 5 to 4 */
    /* pipeline: the four phases, each exactly one transaction (CUT-1), and what is around them */
    BUNDLE_REQUEST, /* a client asks for the MARK of a batch's first entry */
    BUNDLE_MARK,
    BUNDLE_REVIEW,
    BUNDLE_CUT,
    BUNDLE_VERIFY,
    BUNDLE_HAND_ON, /* the request is acked, and what follows from it asked for */
    /* seq */
    BUNDLE_SEQ_ADMIT,    /* a seq enters the ledger: UNSEEN */
    BUNDLE_SEQ_DISPATCH, /* move 1 */
    BUNDLE_SEQ_LOOK,     /* what is there to do */
    BUNDLE_SEQ_TAKE,     /* the lease and move 2 (E-SEQ-6) */
    BUNDLE_SEQ_BEAT,     /* progress keeps the lease (SEQ-9) */
    BUNDLE_SEQ_FINISH,   /* moves 3 and 4 */
    BUNDLE_SEQ_FAIL,     /* move 5, and 12 where the policy grants a retry (E-SEQ-2) */
    BUNDLE_SEQ_RECLAIM,  /* the same, of a run whose lease has expired (E-SEQ-1) */
    BUNDLE_SEQ_CANCEL,   /* move 6 */
    BUNDLE_SEQ_ASK,      /* a run is asked to end */
    BUNDLE_SEQ_FORCE,    /* move 7, after the grace period */
    BUNDLE_SEQ_COMMIT,   /* moves 8 to 11 */
    BUNDLE_SEQ_ATTEMPT,  /* an illegal move */
    BUNDLE_SEQ_HALT,     /* Stage1 has failed: the latch (E-SEQ-15) */
    BUNDLE_SEQ_READ,     /* where does this seq stand, after an unknown outcome (E-SEQ-11) */
    /* activity with merged commits: each ends its message, and takes the next one along */
    BUNDLE_LEG1_ACK,   /* Leg1's work */
    BUNDLE_ANSWER_ACK, /* a task's closing answer */
    BUNDLE_STEPS_ACK,  /* Steps 1 and 2; its message stays if it closed the job */
    BUNDLE_STEP3_ACK,  /* Step 3 */
    BUNDLE_ACK_CLAIM,  /* nothing was left to do */
    BUNDLE_NAME_COUNT
};

/* What a call does when its primitive's guard misses. */
enum call_mode {
    CALL_PLAIN,      /* goes on without it */
    CALL_REQUIRE,    /* the whole bundle is refused */
    CALL_UNLESS_DONE /* the rest is skipped and the bundle commits: a replayed step */
};

enum isolation { READ_COMMITTED, SERIALIZABLE };

struct call {
    uint8_t primitive; /* enum primitive_id */
    uint8_t mode;      /* enum call_mode */
    uint8_t values;    /* where its returned values begin */
    uint8_t child;     /* Step 2: 1 + which child it is for; 0: none */
    uint16_t params;   /* where its parameters begin */
};

struct bundle {
    uint8_t name;      /* enum bundle_name */
    uint8_t isolation; /* enum isolation */
    uint8_t principal; /* enum principal: who sends it */
    uint8_t count;
    uint16_t param_count;
    struct call calls[BUNDLE_CALLS_MAX];
    int64_t params[BUNDLE_PARAMS_MAX];
};

enum outcome_kind {
    OUTCOME_NONE,      /* nothing was asked yet */
    OUTCOME_COMMITTED, /* all of it, or skipped from a call on */
    OUTCOME_REFUSED,   /* a requirement missed: nothing happened */
    OUTCOME_ABORTED,   /* the store failed it: nothing happened, it may be tried again */
    OUTCOME_UNKNOWN    /* the connection died around COMMIT: it happened, or not */
};

/* Why the store aborted a transaction; all of them may be tried again. */
enum abort_class {
    ABORT_NONE,
    ABORT_SERIALIZATION, /* 40001 */
    ABORT_DEADLOCK,      /* 40P01 */
    ABORT_CONNECTIONS,   /* 53300 */
    ABORT_CONNECTION     /* 08006, 57P01: the connection is gone, and was before COMMIT */
};

struct outcome {
    uint8_t kind;    /* enum outcome_kind */
    uint8_t refusal; /* REFUSED: enum refusal */
    uint8_t aborted; /* ABORTED: enum abort_class */
    uint8_t skipped; /* COMMITTED: 1 + the call from which on it was skipped; REFUSED: 1 + the call
                        that was refused; 0: none */
    int64_t now;     /* the store's clock when it answered */
    int64_t values[BUNDLE_VALUES_MAX];
    int64_t message[1 + MESSAGE_COLUMNS]; /* CLAIM: the message, key first */
};

static inline void bundle_begin(struct bundle *bundle, enum bundle_name name)
{
    bundle->name = (uint8_t)name;
    bundle->isolation = READ_COMMITTED;
    bundle->principal = PRINCIPAL_NONE;
    bundle->count = 0;
    bundle->param_count = 0;
}

/* As far as it is filled: most of a bundle's room is empty. */
static inline void bundle_copy(struct bundle *to, const struct bundle *from)
{
    to->name = from->name;
    to->isolation = from->isolation;
    to->principal = from->principal;
    to->count = from->count;
    to->param_count = from->param_count;
    memcpy(to->calls, from->calls, from->count * sizeof *from->calls);
    memcpy(to->params, from->params, from->param_count * sizeof *from->params);
}

/* Appends a call and returns its parameters, for the caller to fill in. */
static inline int64_t *bundle_append(struct bundle *bundle, enum primitive_id primitive,
                                     enum call_mode mode, int values)
{
    CHECK(bundle->count < BUNDLE_CALLS_MAX);
    struct call *call = &bundle->calls[bundle->count++];
    call->primitive = (uint8_t)primitive;
    call->mode = (uint8_t)mode;
    call->values = (uint8_t)values;
    call->child = 0;
    call->params = bundle->param_count;
    bundle->param_count = (uint16_t)(bundle->param_count + primitive_table[primitive].params);
    CHECK(bundle->param_count <= BUNDLE_PARAMS_MAX);
    return &bundle->params[call->params];
}

/* It takes a message, or would if there were one. */
static inline bool bundle_claims(const struct bundle *bundle)
{
    return bundle->name == BUNDLE_CLAIM ||
           (bundle->count > 0 &&
            bundle->calls[bundle->count - 1].primitive == PRIMITIVE_CLAIM_NEXT);
}

const char *bundle_name_text(enum bundle_name name);
const char *refusal_text(enum refusal refusal);
const char *abort_class_text(enum abort_class aborted);

#endif
