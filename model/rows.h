/* The durable rows of all protocols: which tables there are, what a row holds, and how a commit's
 * changes to them are told. Each protocol appends a section and uses the tables it names
 * (protocol.h); TABLE_MESSAGE is the queue of every protocol that has one.
 *
 * This is the one thing that engines, stores and oracles have in common. It is a schema and a way
 * to look, nothing else: who may write which row is the primitives' business (primitive.h), how
 * rows are kept is the store's (sim/world.h). Header only, so that an oracle that looks at rows
 * links nothing.
 *
 * Every id is a 63-bit number minted from logical identity (identity.h), never from a sequence.
 *
 * (R1) A row is its key and a fixed number of 64-bit columns. 0 means "none" in a column that holds
 *      an id, a time or a value.
 * (R2) A slot never changes its key: a row deleted and inserted again gets another slot. */
#ifndef MODEL_ROWS_H
#define MODEL_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parents come before the tables that refer to them. */
enum row_table {
    TABLE_JOB,        /* one workflow; key: its jid, minted by the client (E-ACL-30) */
    TABLE_ACTIVITY,   /* one activity of a job, in one dimension; key: (spawning GUID, edge) */
    TABLE_TASK,       /* what Leg1 asked of a worker: Leg1's work; key: (activity, task) */
    TABLE_GUID,       /* one Leg2 message's ledger; key: its GUID */
    TABLE_OUTPUT,     /* what Step 1 stored: Leg2's work; key: (activity, dimension) */
    TABLE_COMPLETION, /* a job's completion tasks, Step 3; key: (job, GUID) */
    TABLE_ESCALATION, /* a message handed to people; key: (message, escalation) */
    TABLE_MESSAGE,    /* the queue; a message is deleted when it is acked */
    TABLE_ACCOUNT,    /* inbox: what effects are applied to; key: the account */
    TABLE_INBOX,      /* inbox: a message's id, once its effect is applied; key: that id */
    TABLE_LEGACY,     /* legacy: an activity's 15-digit integer; key: (parent's state, edge) */
    TABLE_SAVED,      /* legacy: what a leg saved; key: (activity, dimension), Leg1's is 0 */
    /* key */
    TABLE_FLOW,       /* one run of a flow; key: minted by the client, or of who awaits it */
    TABLE_FLOW_PLACE, /* an activity's place in a flow; key: (flow, position) */
    TABLE_FLOW_EVENT, /* what happened to an activity, once each; key: (place, change) */
    TABLE_FLOW_END,   /* a flow's completion tasks; key: (flow, end) */
    /* pipeline: the tables that its specification names (E-CUT-1), in the order of their
     * references. Every key is minted from the tuple that must be unique, so that the primary key
     * is the unique index (E-CUT-2, E-CUT-3) */
    TABLE_ENTRY,        /* decision_backlog_entry; key: (idempotency key), or of a failed verify */
    TABLE_PAST,         /* decision_backlog_history; key: of the move's cause */
    TABLE_DEPENDENCY,   /* decision_backlog_dependency; key: (from, to) */
    TABLE_SWEEP_LOG,    /* decision_backlog_sweep_log; key: (entry, why, what was asked) */
    TABLE_ENVELOPE,     /* manifest_envelope; key: (decision) */
    TABLE_UNIT_BLOCK,   /* manifest_unit_block; key: (envelope, unit) */
    TABLE_REVIEW,       /* review_decision; key: minted with the request (E-CUT-9) */
    TABLE_SIGNATURE,    /* dot_pair_signature; key: (change set) or (verify result) */
    TABLE_CHANGE_SET,   /* cut_change_set; key: (entry, decision), or (verify result) */
    TABLE_AFFECTED_ROW, /* cut_change_set_affected_row; key: (change set, row) */
    TABLE_VERIFY,       /* verify_result; key: (change set, prior verify result) */
    TABLE_STAGE,        /* seq: the policy and the latch of Stage1; one row */
    TABLE_SEQ,          /* seq: one seq; key: (nothing, its number) */
    TABLE_SEQ_EVENT,    /* seq: a terminal event; key: (seq, event) */
    TABLE_SEQ_TALLY,    /* seq: one actor's stripe of the counters; key: (nothing, its number) */
    TABLE_COUNT
};

/* ---- columns --------------------------------------------------------------------------------- */

enum job_column {
    JOB_SEMAPHORE, /* open obligations */
    JOB_THRESHOLD, /* fixed at creation (E-ACL-12) */
    JOB_STATE,     /* enum job_state */
    JOB_ESCALATED, /* 1: a message of it was escalated (E-ACL-10) */
    JOB_INPUT,     /* what the trigger works on */
    JOB_COLUMNS
};

enum job_state { JOB_ACTIVE, JOB_COMPLETE }; /* complete exactly when the semaphore is 0 (ACL-39) */

enum activity_column {
    ACTIVITY_JOB,        /* jid */
    ACTIVITY_NODE,       /* which node of the job's graph */
    ACTIVITY_LEDGER,     /* 15 digits */
    ACTIVITY_SPAWNED_BY, /* the GUID whose Step 2 published it; 0 for the trigger */
    ACTIVITY_COLUMNS
};

enum task_column {
    TASK_ACTIVITY, /* id of the activity */
    TASK_INPUT,    /* the data that the activity received */
    TASK_CLOSED,   /* the GUID of the closing answer, once its Step 2 is through (E-ACL-19) */
    TASK_RUNS,     /* how often Leg1's work was done: 1 */
    TASK_COLUMNS
};

enum guid_column {
    GUID_ACTIVITY,  /* id of the activity that the message is for */
    GUID_LEDGER,    /* 15 digits */
    GUID_DIMENSION, /* written once, at entry (E-ACL-4) */
    GUID_ANSWER,    /* the message's ANSWER, as entered first (E-ACL-21) */
    GUID_CONTENT,   /* the message's CONTENT, as entered first (E-ACL-21) */
    GUID_COLUMNS
};

enum output_column {
    OUTPUT_ACTIVITY,  /* id of the activity */
    OUTPUT_DIMENSION, /* of the GUID that did the work */
    OUTPUT_VALUE,     /* what children receive */
    OUTPUT_GUID,      /* who did the work */
    OUTPUT_RUNS,      /* how often the work was done: 1 */
    OUTPUT_COLUMNS
};

enum completion_column {
    COMPLETION_JOB,  /* jid */
    COMPLETION_GUID, /* who ran the completion tasks */
    COMPLETION_RUNS, /* how often: 1 */
    COMPLETION_COLUMNS
};

enum escalation_column {
    ESCALATION_JOB,     /* jid */
    ESCALATION_MESSAGE, /* id of the message */
    ESCALATION_REASON,  /* enum escalation_reason, of the first time */
    ESCALATION_RUNS, /* how often: a worker that answers again publishes the same message again */
    ESCALATION_COLUMNS
};

enum escalation_reason {
    ESCALATED_LEG1_CEILING = 1,  /* 999 Leg1 entries and Leg1 not complete (ACL-6) */
    ESCALATED_LEG2_CEILING,      /* 99,999,999 Leg2 entries and a new GUID (ACL-7) */
    ESCALATED_ATTEMPTS_CEILING,  /* a GUID's attempts are full and it owes a step (ACL-15) */
    ESCALATED_CONTENT_CHANGED,   /* the same GUID with another answer (E-ACL-21) */
    ESCALATED_SEMAPHORE_REFUSED, /* the semaphore would fall below 0 (E-ACL-19) */
    ESCALATED_CORRUPT,           /* a ledger that no protocol step can have written */
    ESCALATED_CONFLICT           /* a row that only this step may write is there already */
};

enum message_column {
    MESSAGE_KIND,       /* enum message_kind */
    MESSAGE_JOB,        /* jid */
    MESSAGE_ACTIVITY,   /* id of the activity it is for */
    MESSAGE_NODE,       /* that activity's node of the graph */
    MESSAGE_GUID,       /* Leg2: its GUID. Leg1 and task: 0 */
    MESSAGE_SOURCE,     /* the activity whose output is this one's input; 0: the job's input */
    MESSAGE_DIMENSION,  /* in which dimension of the source */
    MESSAGE_ANSWER,     /* Leg2: enum message_answer, or the number of a pending answer */
    MESSAGE_CONTENT,    /* Leg2: the answer's data; task: the input */
    MESSAGE_PENDINGS,   /* closing answer: how many pending answers came before it (E-ACL-20) */
    MESSAGE_ROUND,      /* how often a cycle was gone round before it */
    MESSAGE_HEAD,       /* the activity that a cycle edge below it returns to; 0: none */
    MESSAGE_SPAWNED_BY, /* the GUID whose Step 2 published it; 0: not published by a Step 2 */
    MESSAGE_VISIBLE_AT, /* nobody may claim it before */
    MESSAGE_EPOCH,      /* how often it was claimed; a claim holds while this stands (E-ACL-11) */
    MESSAGE_COLUMNS
};

enum message_kind { MESSAGE_LEG1 = 1, MESSAGE_TASK, MESSAGE_LEG2 };

/* Above 0: the k-th pending answer. Legacy, below 0: the k-th call after the closing answer. */
enum message_answer { ANSWER_CLOSES = 0, ANSWER_CYCLES = -1 };

/* ---- inbox ----------------------------------------------------------------------------------- */

enum inbox_column { INBOX_ACCOUNT, INBOX_AMOUNT, INBOX_COLUMNS }; /* what was applied, and where */
enum account_column { ACCOUNT_BALANCE, ACCOUNT_COLUMNS };

/* ---- legacy ---------------------------------------------------------------------------------- */

enum legacy_column {
    LEGACY_JOB,       /* the client's number for it */
    LEGACY_NODE,      /* which node of the job's graph */
    LEGACY_LEDGER,    /* 15 digits: see legacy.h */
    LEGACY_PARENT,    /* the activity whose Leg2 saved it; 0 for the trigger */
    LEGACY_DIMENSION, /* in which Leg2 entry of the parent */
    LEGACY_COLUMNS
};

enum saved_column {
    SAVED_ACTIVITY,  /* whose state it is */
    SAVED_DIMENSION, /* 0: Leg1's; else the number of a Leg2 entry */
    SAVED_VALUE,     /* the data */
    SAVED_BY,        /* the claim under which it was saved last */
    SAVED_RUNS,      /* how often it was saved */
    SAVED_PUBLISHED, /* 1: the messages that follow from it are out */
    SAVED_COLUMNS
};

/* ---- key ------------------------------------------------------------------------------------- */

enum flow_column {
    FLOW_KEY,     /* the collation key: a digit an activity */
    FLOW_UNTAKEN, /* the edges to joins that were not taken, a bit an edge; digits do not tell */
    FLOW_SHAPE,   /* which flow of the scenario it is a run of */
    FLOW_CASE,    /* which of the scenario's cases: it decides branches, errors and pauses */
    FLOW_PARENT,  /* the flow that awaits it; 0: none */
    FLOW_AWAITER, /* ... and the position of the activity there that does */
    FLOW_COLUMNS
};

enum flow_place_column {
    FLOW_PLACE_FLOW,
    FLOW_PLACE_POSITION, /* 0 to 14 */
    FLOW_PLACE_NEXT,     /* its children, a bit a position */
    FLOW_PLACE_AWAITS,   /* 1: it is suspended while a flow of its own runs */
    FLOW_PLACE_ENDS,     /* enum flow_event: what its work will come to; what it awaits may fail */
    FLOW_PLACE_LEAVES,   /* the children that it will decide against, a bit a position */
    FLOW_PLACE_COLUMNS
};

enum flow_event_column {
    FLOW_EVENT_FLOW,
    FLOW_EVENT_POSITION,
    FLOW_EVENT_CHANGE,  /* enum flow_event */
    FLOW_EVENT_UNTAKEN, /* completed or held: the children that it decided against */
    FLOW_EVENT_RUNS,    /* how often it happened: 1 */
    FLOW_EVENT_COLUMNS
};

enum flow_event {
    FLOW_STARTED = 1,
    FLOW_ERRORED,
    FLOW_COMPLETED,
    FLOW_PAUSED, /* after it completed */
    FLOW_HELD,   /* its work is finished, and it is paused at once (E-KEY-2) */
    FLOW_RELEASED,
    FLOW_SKIPPED
};

enum flow_end_column {
    FLOW_END_FLOW,
    FLOW_END_KEY,  /* the key that completed it */
    FLOW_END_RUNS, /* how often completion tasks ran: 1 */
    FLOW_END_COLUMNS
};

/* Kinds of messages. JOB: the flow; NODE: the position; CONTENT of RESUME: the key with which the
 * awaited flow ended. */
enum flow_message { FLOW_RUN = 1, FLOW_RESUME, FLOW_PAUSE, FLOW_RELEASE };
/* ---- pipeline --------------------------------------------------------------------------------
 * Texts are hashes. Columns that may be null in the specification hold 0 for "none" (R1). */

enum entry_column {
    ENTRY_KIND,    /* enum entry_kind */
    ENTRY_STATUS,  /* enum entry_status: the one column that both principals may write (CUT-24) */
    ENTRY_KEY,     /* payload.idempotency_key */
    ENTRY_PAYLOAD, /* hash of the payload: the same key with another one is for people (E-CUT-2) */
    ENTRY_ABOUT,   /* scenario_ref; of an escalation the verify result that failed (CUT-29) */
    ENTRY_COLUMNS
};
enum entry_kind { ENTRY_WORK = 1, ENTRY_ESCALATION }; /* nobody works on an escalation (E-CUT-20) */
/* Statuses as the specification names them; "nothing": before MARK. */
#define ENTRY_STATUSES(status)                                                                     \
    status(NONE, "nothing") status(MARKED, "marked") status(APPROVED, "reviewed_approve")          \
        status(REJECTED, "reviewed_reject") status(CUT, "cut_applied")                             \
            status(COMPLETE, "verified_complete") status(ESCALATED, "verify_failed_escalated")
enum entry_status {
#define STATUS(id, name) STATUS_##id,
    ENTRY_STATUSES(STATUS)
#undef STATUS
        STATUS_COUNT
};

enum past_column {
    PAST_ENTRY,
    PAST_FROM, /* enum entry_status */
    PAST_TO,
    PAST_RETRIES, /* how often the transaction was tried before, of transient errors (CUT-12) */
    PAST_COLUMNS
};
enum dependency_column { DEPENDENCY_FROM, DEPENDENCY_TO, DEPENDENCY_COLUMNS }; /* new to old */

enum sweep_column {
    SWEEP_LOG_ENTRY,   /* soft: there may be none */
    SWEEP_LOG_PHASE,   /* enum pipeline_phase */
    SWEEP_LOG_WHY,     /* enum sweep_reason */
    SWEEP_LOG_REQUEST, /* soft: the request that was stopped or swept; 0: MARK's own row */
    SWEEP_LOG_COLUMNS
};
enum pipeline_phase { PHASE_MARK = 1, PHASE_REVIEW, PHASE_CUT, PHASE_VERIFY, PHASE_END };
enum sweep_reason {
    SWEEP_MARKED,       /* MARK's own row */
    SWEEP_NO_PARENT,    /* NEEDS_HUMAN: 23503 (CUT-14) */
    SWEEP_NULL,         /* NEEDS_HUMAN: 23502 (CUT-14) */
    SWEEP_OTHER_LOAD,   /* NEEDS_HUMAN: the same key with another payload (E-CUT-2) */
    SWEEP_CONFLICT,     /* NEEDS_HUMAN: a 23505 of no key that means a replay (E-CUT-13) */
    SWEEP_EXHAUSTED,    /* out of tries: it stands still until a sweep passes (E-CUT-16) */
    SWEEP_FORBIDDEN,    /* NEEDS_HUMAN: 42501, which no phase of a sound pipeline gets (CUT-11) */
    SWEEP_UNCLASSIFIED, /* NEEDS_HUMAN: an SQLSTATE that nobody has classified (E-CUT-16) */
    SWEEP_AGAIN,        /* a sweep passed, and asks for the phase again (E-CUT-21) */
    SWEEP_GIVEN_UP      /* NEEDS_HUMAN: the sweep has passed as often as it may (E-CUT-21) */
};

enum envelope_column { ENVELOPE_SCOPE, ENVELOPE_HASH, ENVELOPE_COLUMNS };
enum unit_column { UNIT_BLOCK_ENVELOPE, UNIT_BLOCK_LOCAL, UNIT_BLOCK_HASH, UNIT_BLOCK_COLUMNS };

enum review_column {
    REVIEW_ENTRY,
    REVIEW_MANIFEST, /* the envelope */
    REVIEW_UNIT,     /* its unit block */
    REVIEW_DECISION, /* enum review_decision */
    REVIEW_PRIOR,    /* the decision that this one supersedes; 0: none */
    REVIEW_BY,       /* superseded_by: written once, by the executor (CUT-24) */
    REVIEW_COLUMNS
};
enum review_decision { DECISION_APPROVE = 1, DECISION_REJECT };

enum signature_column {
    SIGNATURE_ENTRY,
    SIGNATURE_LANE,      /* enum signature_lane */
    SIGNATURE_PRINCIPAL, /* enum principal: who signed */
    SIGNATURE_PRIOR,     /* the last one of this entry and lane (E-CUT-19); 0: none */
    SIGNATURE_COLUMNS
};
enum signature_lane { LANE_EXECUTOR = 991, LANE_VERIFIER = 992 };

/* Who sends a transaction. What each may do is in rights.h. */
enum principal {
    PRINCIPAL_NONE, /* the caller, whom nothing binds */
    PRINCIPAL_EXEC, /* cutter_exec */
    PRINCIPAL_VERIFY,
    PRINCIPAL_COUNT
};

enum change_set_column {
    CHANGE_SET_ENTRY,
    CHANGE_SET_REVIEW,      /* the decision that allows it (E-CUT-1); a compensating one has none */
    CHANGE_SET_SIGNATURE,   /* the executor's; of a compensating one the verifier's (E-CUT-4) */
    CHANGE_SET_VERIFIER,    /* verifier_signature_id: never written (CUT-9) */
    CHANGE_SET_COMPENSATES, /* the set that this one undoes; 0: none */
    CHANGE_SET_COLUMNS
};
enum affected_column {
    AFFECTED_ROW_SET,
    AFFECTED_ROW_ROW, /* hash of the row's name */
    AFFECTED_ROW_HASH,
    AFFECTED_ROW_COLUMNS
};
enum verify_column {
    VERIFY_SET,
    VERIFY_EXECUTOR, /* the signature that was checked */
    VERIFY_VERIFIER, /* the signature of this verify */
    VERIFY_OUTCOME,  /* enum verify_outcome */
    VERIFY_PRIOR,    /* of a re-verify the result before it; 0: none */
    VERIFY_ROLLBACK, /* the compensating set that a failure triggered; 0: none */
    VERIFY_COLUMNS
};
enum verify_outcome { VERIFIED_PASS = 1, VERIFIED_FAIL };

/* ---- seq ------------------------------------------------------------------------------------- */

/* The policy is written once, when Stage1 is set up. The latch is 0 until the first illegal move;
 * then it holds the five facts of SEQ-4, and nothing moves any more (E-SEQ-15). */
enum stage_column {
    STAGE_LEASE,     /* policy: ticks without a heartbeat after which a lease has expired */
    STAGE_GRACE,     /* policy: ticks from asking a run to end to forcing it */
    STAGE_RETRYABLE, /* policy: bit c: fail class c may be retried */
    STAGE_BUDGET,    /* policy: retries of one seq */
    STAGE_DRILL,     /* policy: 1: illegal moves are attempted on purpose, and Stage1 may fail */
    STAGE_SEQ,       /* latch: the number of the seq, plus 1; 0: Stage1 has not failed */
    STAGE_PRIOR,     /* latch: the state that the illegal move found; -1 before */
    STAGE_ATTEMPTED, /* latch: the state that it was to lead to; -1 before */
    STAGE_OWNER,     /* latch: the owner on record; 0: none */
    STAGE_WALL,      /* latch: when it was attempted */
    STAGE_MOVE,      /* latch: how many moves the seq had made then */
    STAGE_COLUMNS
};

enum seq_column {
    SEQ_NUMBER,     /* which seq it is, from 0 */
    SEQ_STATE,      /* 0..7 (SEQ-1) */
    SEQ_OWNER,      /* IN_FLIGHT: the worker incarnation that holds the lease; else 0 */
    SEQ_ATTEMPTS,   /* retries so far; with the owner, the token of a run */
    SEQ_HEARTBEAT,  /* of the last run: when it was taken, or made progress last */
    SEQ_BEAT_BY,    /* ... and whose token said so: owner, */
    SEQ_BEAT_RUN,   /* ... and attempt */
    SEQ_CANCEL_AT,  /* IN_FLIGHT: when this run was asked to end; 0: it was not */
    SEQ_FAIL_CLASS, /* of the last failure */
    SEQ_ENDED_BY,   /* whose token ended the last run: owner, 0 if it was taken away, */
    SEQ_ENDED_RUN,  /* ... and attempt */
    SEQ_ENDED_AT,   /* when the last run was taken away that was */
    SEQ_MOVE_COUNT, /* moves so far: each reads the seq at one count and leaves it at the next */
    SEQ_RETRY,    /* FAIL: 1: it waits for its retry, and its event is not out (E-SEQ-2); else 0 */
    SEQ_UNWANTED, /* it is to be cancelled; never written again */
    SEQ_COLUMNS
};

enum seq_event_column {
    SEQ_EVENT_SEQ,   /* id of the seq */
    SEQ_EVENT_STATE, /* the terminal state that it tells */
    SEQ_EVENT_RUNS,  /* how often it was emitted: 1 */
    SEQ_EVENT_COLUMNS
};

/* What one actor's commits added. The four counters of the ledger are the sums over all stripes: no
 * two actors ever wait for each other's. */
enum seq_tally_column {
    SEQ_TALLY_DISPATCHED,
    SEQ_TALLY_IN_FLIGHT,
    SEQ_TALLY_TERMINAL,
    SEQ_TALLY_COMMITTED,
    SEQ_TALLY_STALE,    /* refused because the state was not the expected one (E-SEQ-8) */
    SEQ_TALLY_REPEATED, /* COMMITTED again: no-ops (SEQ-7) */
    SEQ_TALLY_ILLEGAL,  /* illegal moves that the contract refused: each fails Stage1 */
    SEQ_TALLY_LATE,     /* refused because the token no longer stands (E-SEQ-3) */
    SEQ_TALLY_RESULTS,  /* ... and it was the result of a run, not a heartbeat */
    SEQ_TALLY_OF,       /* the seq of the last that was refused as stale or late, */
    SEQ_TALLY_AS,       /* ... and the state that was expected, or the attempt of the token; 8: a
                           failure that waits for its retry */
    SEQ_TALLY_DRILLS,   /* illegal moves that were attempted on purpose */
    SEQ_TALLY_COLUMNS
};

#define ROW_COLUMNS_MAX MESSAGE_COLUMNS

/* ---- looking at rows ------------------------------------------------------------------------- */

#define ROW_NONE UINT32_MAX /* no such row */
#define ROW_GONE UINT32_MAX /* in an index: a deleted row's place */

struct row_area {
    int64_t *cells;      /* rows, `stride` cells each: the key, then the columns */
    uint32_t *index;     /* open addressing by key: slot + 1, 0 or ROW_GONE */
    uint32_t stride;     /* 1 + columns */
    uint32_t index_mask; /* size of the index, a power of two, less one */
    uint32_t used;       /* slots in use, deleted ones included */
    uint32_t capacity;   /* slots there are */
};

struct rows {
    struct row_area table[TABLE_COUNT];
};

static inline int64_t row_key(const struct rows *rows, enum row_table table, uint32_t slot)
{
    const struct row_area *area = &rows->table[table];
    return area->cells[(size_t)slot * area->stride];
}

static inline int64_t row_get(const struct rows *rows, enum row_table table, uint32_t slot,
                              int column)
{
    const struct row_area *area = &rows->table[table];
    return area->cells[(size_t)slot * area->stride + 1 + (size_t)column];
}

/* The slot of the row with this key, or ROW_NONE. Keys are well mixed, so they are their own hash.
 */
static inline uint32_t row_find(const struct rows *rows, enum row_table table, int64_t key)
{
    const struct row_area *area = &rows->table[table];
    for (uint32_t at = (uint32_t)key & area->index_mask;; at = (at + 1) & area->index_mask) {
        uint32_t entry = area->index[at];
        if (entry == 0) {
            return ROW_NONE;
        }
        if (entry != ROW_GONE && area->cells[(size_t)(entry - 1) * area->stride] == key) {
            return entry - 1;
        }
    }
}

/* A row that was deleted can be read at its slot, but is not there. */
static inline bool row_is_there(const struct rows *rows, enum row_table table, uint32_t slot)
{
    return row_find(rows, table, row_key(rows, table, slot)) == slot;
}

/* ---- what leaves no row ---------------------------------------------------------------------- */

/* Work that is done outside the rows: a task, a run, an examination. No transaction takes it back.
 * A journal is a list of these, in the order in which they were done. */
struct side_effect {
    int64_t what;  /* what was worked on: the id of a task, a seq, ...; 0: nothing was done */
    int64_t claim; /* on whose claim: the message that was held, or the owner of a lease */
    int64_t epoch; /* ... and which of its claims: MESSAGE_EPOCH, or the attempt */
};

/* ---- what a commit changed ------------------------------------------------------------------- */

enum row_change_kind { ROW_UPDATED, ROW_INSERTED, ROW_DELETED };

/* One cell that was written, or one row that came or went. A commit's changes are in the order in
 * which they were made. The rows are as the commit left them; a deleted row can still be read at
 * its slot. */
struct row_change {
    uint32_t slot;
    uint8_t table;  /* enum row_table */
    uint8_t kind;   /* enum row_change_kind */
    uint8_t column; /* ROW_UPDATED: which */
    int64_t before; /* ROW_UPDATED: what the cell held; else the store's own note */
};

#endif
