/* The pipeline: an entry of a backlog is MARKed, REVIEWed, CUT and VERIFYed, each phase in exactly
 * one transaction (seed 004).
 *
 *      client   request: asks for the MARK of a batch's first entry
 *      worker   claim -> phase -> hand on: acked, and what follows from it asked for
 *                          |
 *                          +-> read: whether the phase's own row is there, after a refusal or an
 *                          |   answer that was lost; if so the phase is done (CUT-13, E-CUT-9)
 *                          '-> stop: out of tries; the request stands still (E-CUT-16)
 *
 *      sweep    look at stops -> sweep: one pass over one request that stands still. It is
 *               asked for again, or, after so many passes, for people (E-CUT-21)
 *
 * A request names what it asks for by the id of the row that the phase will write, minted with
 * the request: a replay finds that row and returns it. MARKs are asked for one after the other, so
 * that an entry is there before others depend on it; a VERIFY that passes asks for the CUT of
 * everything that waits for its entry. Requests are the caller's, not the pipeline's: no phase
 * touches the queue.
 *
 * A worker is nobody by itself. A phase, and the look at what became of it, is sent by the phase's
 * principal: cutter_exec for MARK, REVIEW and CUT, cutter_verify for VERIFY (CUT-11). What touches
 * the queue is the caller's.
 *
 * (PI1) Within a phase: the entry's advisory lock, the guards, the insertions, the status, the
 *       history. One advisory lock a phase; MARK looks for its entry, and relies on its key
 *       (E-CUT-17).
 * (PI2) Status moves along pipeline_moves and no other way.
 * (PI3) A transient error, no connection to be had among them, is answered by the whole transaction
 *       again, at most PIPELINE_TRIES_MAX times. An answer that was lost is read first.
 * (PI4) A phase that is out of tries stops: the entry is as it was, and nobody can claim the request
 *       until a sweep has passed. So many passes, each a row of the sweep log, and it is for
 *       people. */
#ifndef MODEL_PIPELINE_H
#define MODEL_PIPELINE_H

#include "model/bundle.h"

#define PIPELINE_ENTRIES_MAX  8
#define PIPELINE_BLOCKERS_MAX 3
#define PIPELINE_REVIEWS_MAX  4
#define PIPELINE_VERIFIES_MAX 3
#define PIPELINE_NAME_SIZE    16
#define PIPELINE_TRIES_MAX    3
#define PIPELINE_ANY_ID       INT64_MAX /* above every id */
#define PIPELINE_PARTS_MAX    2 /* unit blocks of an envelope, affected rows of a change set */

/* What is wrong with a request, on purpose. */
enum pipeline_flaw {
    FLAW_NONE,
    FLAW_NO_PAYLOAD,     /* 23502 */
    FLAW_NO_BLOCKER,     /* it depends on an entry that is nowhere: 23503 */
    FLAW_OTHER_PAYLOAD,  /* asked for again under the same key with another payload (E-CUT-2) */
    FLAW_RIVAL_REVIEWER, /* each re-review has a rival that decides otherwise (E-CUT-9) */
    FLAW_COUNT
};

/* What becomes of an entry. */
struct pipeline_entry {
    char name[PIPELINE_NAME_SIZE];
    uint8_t flaw; /* enum pipeline_flaw */
    uint8_t blocker_count;
    uint8_t blockers[PIPELINE_BLOCKERS_MAX]; /* entries before this one: no cycle (E-CUT-20) */
    uint8_t reviews, verifies;               /* how many, at least one of each */
    uint8_t decisions[PIPELINE_REVIEWS_MAX]; /* enum review_decision */
    uint8_t outcomes[PIPELINE_VERIFIES_MAX]; /* enum verify_outcome */
};

struct pipeline_rules {
    uint16_t entry_count; /* of each batch; a batch is what a client asks for */
    bool one_chain;       /* the signatures of a lane are one chain, and not those of an entry and
                             lane (E-CUT-19) */
    uint32_t passes;      /* of the sweep over a request, until it is for people */
    struct pipeline_entry entries[PIPELINE_ENTRIES_MAX];
};

enum pipeline_role { PIPELINE_CLIENT, PIPELINE_WORKER, PIPELINE_SWEEP };

/* A request is a message of the queue: its columns, as the pipeline uses them. */
enum pipeline_request {
    REQUEST_PHASE = MESSAGE_KIND,       /* enum pipeline_phase */
    REQUEST_BATCH = MESSAGE_JOB,        /* the batch, */
    REQUEST_NODE = MESSAGE_NODE,        /* ... and which of its entries */
    REQUEST_ENTRY = MESSAGE_ACTIVITY,   /* the entry's id */
    REQUEST_ROW = MESSAGE_GUID,         /* the row that the phase writes */
    REQUEST_SOURCE = MESSAGE_SOURCE,    /* the decision that a CUT is for, the change set of a
                                           VERIFY, the payload of a MARK */
    REQUEST_PRIOR = MESSAGE_SPAWNED_BY, /* the decision or result before it; 0: none */
    REQUEST_NUMBER = MESSAGE_ANSWER,    /* of the review or verify, from 1 */
    REQUEST_RESULT = MESSAGE_CONTENT,   /* the decision of a REVIEW, the planned outcome of a
                                           VERIFY */
    REQUEST_STATUS = MESSAGE_PENDINGS,  /* that the entry is expected to have */
    REQUEST_STOPS = MESSAGE_ROUND,      /* how often it was stopped */
    REQUEST_STANDS = MESSAGE_HEAD       /* 1: it stands still, and is the sweep's */
};

enum pipeline_state {
    PIPELINE_IDLE, /* claims a request */
    PIPELINE_PHASE,
    PIPELINE_READ,
    PIPELINE_HAND_ON,
    PIPELINE_STOP,
    PIPELINE_PASS /* the sweep's */
};

/* A worker, or the sweep, which holds what it has found of a request that stands still. */
struct pipeline_worker {
    uint8_t state;    /* enum pipeline_state */
    uint8_t tries;    /* transient errors and lost answers of this phase so far */
    uint8_t refusal;  /* READ: enum refusal that led there; REFUSED_NOTHING: the answer was lost */
    uint8_t why;      /* HAND_ON, STOP: enum sweep_reason; SWEEP_MARKED: nothing to log */
    uint8_t stops;    /* STOP: which stop of the request it is, by the log */
    bool follows;     /* HAND_ON: the phase is done, and what follows from it asked for */
    bool flipped;     /* it judges otherwise than planned, for as long as it has this request */
    uint8_t trespass; /* 1 + which it tries next (pipeline_trespass.h); 0: none */
    bool trespassed;  /* ... and that is what it sent last */
    int64_t found;    /* HAND_ON: the decision or outcome that is stored */
    int64_t message[1 + MESSAGE_COLUMNS]; /* that it holds, key first */
};

#define PIPELINE_PASSES_USUAL 3

struct rules;

/* Asserts (PI2) and (PI3) of a worker: it works on a sound request, for so many tries; idle, it
 * holds none. */
void pipeline_check(const struct pipeline_worker *worker, const struct rules *rules);

/* Whether a phase may move an entry so. The table behind it is the status graph (E-CUT-20). */
bool pipeline_moves(enum pipeline_phase phase, int64_t from, int64_t to);

/* How many unit blocks and affected rows an entry's manifests and change sets have. */
int pipeline_parts(int64_t node);

/* The id of an entry, for those who tell of it. */
int64_t pipeline_entry_id(int64_t batch, int64_t node);

extern const struct protocol protocol_pipeline;

#endif
