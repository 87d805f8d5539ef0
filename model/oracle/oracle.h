/* Oracles: what the monitors of all protocols have in common, and the seam through which a run asks
 * those of its protocol without knowing them.
 *
 * A monitor sees what the store saw and nothing else: the rows that it committed, in its order;
 * and, because no row has it, how it executed a transaction (observed.h), how many connections it
 * gave, how many answers a fault changed, and which work was done outside rows (struct
 * side_effect). It never sees an engine, a bundle, a worker or any other fault. What it must
 * remember of the past it keeps in ghost cells beside the rows (ghosts.h), so that a search can
 * take a commit back.
 *
 * Names and cover points are catalogues of all protocols: each appends a section and changes no other.
 *
 * (OR1) A clause that is switched off is neither reported nor counted, and all others are judged as
 *      if it were on.
 * (OR2) At most one breach a commit is reported, in an order that the protocol states. */
#ifndef MODEL_ORACLE_ORACLE_H
#define MODEL_ORACLE_ORACLE_H

#include "model/oracle/expectation.h"
#include "model/oracle/ghosts.h"
#include "model/oracle/observed.h"
#include "model/oracle/verdict.h"
#include "model/rows.h"

/* Which oracle spoke: ORACLE_LEDGER, ... */
enum oracle_name {
#define ORACLE(id, text) ORACLE_##id,
#include "model/oracle/names.def"
#undef ORACLE
    ORACLE_NAME_COUNT
};

/* "ledger", "semaphore", ... */
const char *oracle_name_text(enum oracle_name name);

/* The 51 pairs of states of the seq ledger that no move may lead between: PAIR(from, to). */
/* clang-format off */
#define ORACLE_SEQ_ILLEGAL_PAIRS(PAIR) \
    PAIR(0, 0) PAIR(0, 2) PAIR(0, 3) PAIR(0, 4) PAIR(0, 5) PAIR(0, 6) PAIR(0, 7) \
    PAIR(1, 0) PAIR(1, 1) PAIR(1, 3) PAIR(1, 4) PAIR(1, 5) PAIR(1, 7) \
    PAIR(2, 0) PAIR(2, 1) PAIR(2, 2) PAIR(2, 7) \
    PAIR(3, 0) PAIR(3, 1) PAIR(3, 2) PAIR(3, 3) PAIR(3, 4) PAIR(3, 5) PAIR(3, 6) \
    PAIR(4, 0) PAIR(4, 1) PAIR(4, 2) PAIR(4, 3) PAIR(4, 4) PAIR(4, 5) PAIR(4, 6) \
    PAIR(5, 0) PAIR(5, 2) PAIR(5, 3) PAIR(5, 4) PAIR(5, 5) PAIR(5, 6) \
    PAIR(6, 0) PAIR(6, 1) PAIR(6, 2) PAIR(6, 3) PAIR(6, 4) PAIR(6, 5) PAIR(6, 6) \
    PAIR(7, 0) PAIR(7, 1) PAIR(7, 2) PAIR(7, 3) PAIR(7, 4) PAIR(7, 5) PAIR(7, 6)
/* clang-format on */

/* The moves of the pipeline's status graph (enum entry_status): MOVE(from, to). */
/* clang-format off */
#define ORACLE_STATUS_MOVES(MOVE) \
    MOVE(NONE, MARKED) MOVE(MARKED, APPROVED) MOVE(MARKED, REJECTED) \
    MOVE(APPROVED, APPROVED) MOVE(APPROVED, REJECTED) MOVE(APPROVED, CUT) \
    MOVE(REJECTED, APPROVED) MOVE(REJECTED, REJECTED) \
    MOVE(CUT, COMPLETE) MOVE(CUT, ESCALATED) \
    MOVE(COMPLETE, COMPLETE) MOVE(COMPLETE, ESCALATED)
/* clang-format on */

/* A path that must be seen taken, and how it is recognised in rows alone. */
enum oracle_cover {
    /* activity */
    COVER_LEG1_ENTRY_APART,   /* ACL-9: +1T committed without the work */
    COVER_LEG1_STALE,         /* ACL-10: a Leg1 entry found 100B set, and its message was acked */
    COVER_THRESHOLD_0,        /* ACL-23: a Step 2 landed on threshold 0 */
    COVER_THRESHOLD_1,        /* ACL-23: on threshold 1 */
    COVER_THRESHOLD_12,       /* ACL-23: on threshold 12 */
    COVER_RESUME_NOTHING,     /* ACL-24: a known GUID was entered again at 0000 */
    COVER_RESUME_WORK,        /* ACL-24: at 0100 */
    COVER_RESUME_SPAWNED,     /* ACL-24: at 0110 */
    COVER_RESUME_CLOSED,      /* ACL-24: at 1110 */
    COVER_RESUME_DONE,        /* ACL-24: at 1111 */
    COVER_STEP3_AFTER_RESUME, /* ACL-25: Step 3 after the GUID was entered again at 1110 */
    COVER_REPLAY_LEG1_BEFORE_ACK, /* ACL-34: a finished Leg1 message claimed again before its ack */
    COVER_REPLAY_LEG1_AFTER_ACK,  /* ACL-34: another copy claimed after a first one was acked */
    COVER_REPLAY_LEG2_BEFORE_ACK, /* ACL-34: likewise for Leg2 */
    COVER_REPLAY_LEG2_AFTER_ACK,
    COVER_CLAIM_EXTENDED, /* ACL-47: a claim that was half over was extended */
    COVER_TRIED_AGAIN,    /* ACL-48: a step was made after it had failed */
    COVER_CLAIM_LET_GO,   /* ACL-48: a claim was let go after so many failures */
    /* legacy */
    COVER_LEGACY_RAN_AGAIN, /* LEG-3: a Leg1 that had not ended was entered again (799) and ended */
    COVER_LEGACY_HAD_ENDED, /* LEG-3: one that had ended was entered again (789) */
    COVER_LEGACY_PUBLISHED_MISSING, /* LEG-3: ... and published what was missing */
    COVER_LEGACY_PENDING,           /* LEG-4: a pending reply ended and Leg2 stayed open */
    COVER_LEGACY_TURNED_AWAY,       /* LEG-4: a call after success took its entry back */
    COVER_LEGACY_SAVED_AGAIN, /* LEG-9: a parent saved again and left its child's integer alone */
    /* key */
    COVER_SKIP_CHAIN,  /* KEY-5: activities were skipped along with one above them */
    COVER_SKIP_SPARES, /* KEY-5: a skip left a descendant alone that another could still reach */
    COVER_SKIP_JOIN,   /* KEY-5: a join was skipped with the last of several ways to it */
    COVER_SKIP_ERROR,  /* KEY-5: an error skipped what only it could reach (E-KEY-5) */
    COVER_KEY_STARTED, /* KEY-3: the moves of a digit, in the order of enum flow_event */
    COVER_KEY_ERRORED,
    COVER_KEY_COMPLETED,
    COVER_KEY_PAUSED,
    COVER_KEY_HELD,
    COVER_KEY_RELEASED,
    COVER_KEY_SKIPPED,
    COVER_KEY_LET_GO, /* KEY-12: a claim was let go after so many failures */
    /* inbox */
    COVER_INBOX_LET_GO, /* BOX-3: likewise */
    /* pipeline */
    COVER_RETRIED,         /* CUT-12: a phase committed after transient errors */
    COVER_EXHAUSTED,       /* CUT-12: one was stopped after too many, and logged */
    COVER_HAND_ON_LET_GO,  /* CUT-12: a claim was let go after so many failures to hand on */
    COVER_MARK_AGAIN,      /* CUT-13: another request of an entry that is there was acked */
    COVER_CUT_AGAIN,       /* CUT-13: likewise of a change set */
    COVER_VERIFY_AGAIN,    /* CUT-13: likewise of a verify result */
    COVER_HUMAN_PARENT,    /* CUT-14: 23503 was handed to people */
    COVER_HUMAN_NULL,      /* CUT-14: 23502 was handed to people */
    COVER_COMPENSATED,     /* CUT-20: a verify failed and took the compensating path */
    COVER_REVERIFY_FAILED, /* CUT-20: likewise a re-verify, out of verified_complete */
#define MOVE(from, to) COVER_STATUS_##from##_##to, /* CUT-25: told by a row of history */
    ORACLE_STATUS_MOVES(MOVE)
#undef MOVE
        COVER_SWEPT, /* CUT-12: a sweep passed, and asked for a phase again */
    COVER_GIVEN_UP,  /* CUT-12: one had passed as often as it may */
    /* seq */
    COVER_SEQ_MOVE_1,  /* SEQ-2: the moves of the contract as it numbers them; 0>1 */
    COVER_SEQ_MOVE_2,  /* 1>2 */
    COVER_SEQ_MOVE_3,  /* 2>3 */
    COVER_SEQ_MOVE_4,  /* 2>4 */
    COVER_SEQ_MOVE_5,  /* 2>5 */
    COVER_SEQ_MOVE_6,  /* 1>6 */
    COVER_SEQ_MOVE_7,  /* 2>6 */
    COVER_SEQ_MOVE_8,  /* 3>7 */
    COVER_SEQ_MOVE_9,  /* 4>7 */
    COVER_SEQ_MOVE_10, /* 5>7 */
    COVER_SEQ_MOVE_11, /* 6>7 */
    COVER_SEQ_MOVE_12, /* 5>1 */
#define PAIR(from, to) COVER_SEQ_ILLEGAL_##from##to, /* SEQ-3: told by the latch */
    ORACLE_SEQ_ILLEGAL_PAIRS(PAIR)
#undef PAIR
        COVER_SEQ_COMMIT_AGAIN, /* SEQ-7: a COMMITTED seq was marked again: counted, no change */
    COVER_SEQ_COMMIT_EARLY,     /* SEQ-7: a commit before the end: told by the latch */
    COVER_SEQ_HEARTBEAT,        /* SEQ-9: a heartbeat moved */
    COVER_SEQ_KEPT,             /* SEQ-9: a run outlived its first lease */
    COVER_SEQ_RECLAIM_RETRY,    /* SEQ-10: an expired lease led to DISPATCHED, by a retry */
    COVER_SEQ_RECLAIM_FAIL,     /* SEQ-10: to TERMINAL_FAIL */
    COVER_SEQ_LATE,             /* SEQ-12: whose token no longer stood was refused and counted */
    COVER_SEQ_EXHAUSTED,        /* SEQ-14: a retryable failure beyond the budget */
    COVER_SEQ_CANCEL_EARLY,     /* SEQ-15: before work began */
    COVER_SEQ_CANCEL_FORCED,    /* SEQ-15: after the grace period */
    COVER_SEQ_FINAL,       /* SEQ-3: 5>1 of a failure that is final: told by the latch (E-SEQ-2) */
    COVER_SEQ_LATE_RESULT, /* SEQ-12: what was late was the result of a run */
    COVER_SEQ_RECLAIM_WON, /* SEQ-12: ... of one that had been reclaimed */
    COVER_SEQ_LATE_BEAT,   /* SEQ-19: it was a heartbeat */
    COVER_SEQ_LEASE_READ,  /* SEQ-8: a run went on whose worker was not told of its lease */
    COVER_SEQ_CANCEL_LATE, /* SEQ-5: a forced cancel that its run's end had overtaken was counted */
    COVER_COUNT
};

enum clause_id oracle_cover_clause(enum oracle_cover point);
const char *oracle_cover_text(enum oracle_cover point);

struct oracle;

/* The monitors of one protocol. */
struct monitors {
    /* What the scenario's text asks for (expectation.h). NULL: not evaluated yet. */
    void (*expect)(const struct document *scenario, struct expectation *expected);
    /* How many ghost cells they need beside tables of these capacities: `plain` ones, then those of
     * the memories. NULL: none. */
    size_t (*cells)(const struct rows *rows);
    size_t plain;
    struct ghost_memory memories[GHOST_MEMORIES_MAX];
    /* Which memory a cell belongs to. NULL: there is one. */
    int (*memory_of)(const struct rows *rows, size_t cell);
    /* One commit. */
    struct oracle_verdict (*commit)(struct oracle *oracle, const struct rows *rows,
                                    const struct row_change *changes, size_t count);
    /* The promise that a transaction which did not commit (crash, abort, refusal) leaves nothing
     * behind, and whose it is. */
    enum clause_id whole;
    enum oracle_name whole_by;
    /* Work that was done outside rows, at this moment: no transaction takes it back. NULL: the
     * protocol has none. */
    struct oracle_verdict (*effect)(struct oracle *oracle, const struct rows *rows,
                                    const struct side_effect *effect);
    /* Whether the claim that it was done under had been given out, as these rows tell. */
    bool (*granted)(const struct rows *rows, const struct side_effect *effect);
    /* What the store saw of a transaction, whether it committed or not; after the hooks above.
     * `changes` are the commit's. NULL: no promise asks for it. */
    struct oracle_verdict (*transaction)(struct oracle *oracle, const struct rows *rows,
                                         const struct observed *seen,
                                         const struct row_change *changes, size_t count);
    /* ... and it asks for isolation and advisory locks, which a server has to be told to record */
    bool asks_locks;
    /* No actor means to do anything before this time of the store's clock, and no fault keeps one
     * from it: nothing may have been due before. Told by the simulation alone. NULL: no promise asks. */
    struct oracle_verdict (*idle)(struct oracle *oracle, const struct rows *rows, int64_t until);
    /* What else there is to count when a transaction does not commit. NULL: nothing. */
    void (*rollback)(struct oracle *oracle);
    /* Nothing is left to be done, or the bound on doing it was reached (`quiet` false): the live
     * promises. */
    struct oracle_verdict (*settled)(struct oracle *oracle, const struct rows *rows, bool quiet);
    /* A text that was reported of a job, when all is done. NULL: nothing is. */
    struct oracle_verdict (*reported)(struct oracle *oracle, const struct rows *rows, int64_t job,
                                      const char *text);
    /* The slow way, over all rows, without ghosts or history. Must agree with the monitors. NULL:
     * there is none. */
    struct oracle_verdict (*recheck)(struct oracle *oracle, const struct rows *rows);
};

#define SEEN_CELLS 16

struct oracle {
    const struct monitors *monitors;    /* of the run's protocol */
    const struct expectation *expected; /* what must happen; NULL: not known, and not asked for */
    struct ghosts ghosts;               /* memory of the past: the monitors know of what */
    bool off[CLAUSE_COUNT];             /* switched off: --without */
    bool silent[ORACLE_NAME_COUNT];     /* an oracle that may report nothing: --without */
    uint64_t evaluated[CLAUSE_COUNT];   /* how often each clause's antecedent held */
    uint64_t seen[COVER_COUNT];         /* how often each path was seen */
    /* the most connections that each principal has had at a time in this run, as the store says;
     * 0: it does not say */
    uint32_t connected[PRINCIPAL_COUNT];
    uint32_t answers_changed; /* by the fault `answer` in this run, as who injects it says */
    /* what is remembered of each client that the store tells apart (seen.h) */
    int64_t clients[OBSERVED_CLIENTS_MAX][SEEN_CELLS];
    enum oracle_name spoke; /* who reported the last breach */
    uint8_t table;          /* the row it is about: enum row_table, slot */
    uint32_t slot;
};

/* How many ghost cells the monitors need beside these rows: at least one. */
size_t oracle_cells(const struct monitors *monitors, const struct rows *rows);

/* Starts over with an empty store. The cells are the caller's, oracle_cells many and all zero.
 * `expected`, statistics (evaluated, seen), `off` and `silent` are left as they are. */
void oracle_begin(struct oracle *oracle, const struct monitors *monitors, const struct rows *rows,
                  int64_t *cells);

/* Whether monitors ask for what a store saw of a transaction. */
static inline bool oracle_observes(const struct oracle *oracle)
{
    return oracle->monitors->transaction != NULL;
}

/* The clause is about what clients know and try: only a store that tells them apart can judge it
 * (OBSERVED_NOBODY). */
bool oracle_needs_clients(enum clause_id clause);

/* The store lost commits that it had acknowledged: what it knows of its clients is not what they
 * know. */
void oracle_forget_clients(struct oracle *oracle);

/* A transaction that did not commit, and what it left behind all the same. */
struct oracle_verdict oracle_rollback(struct oracle *oracle, const struct row_change *changes,
                                      size_t count);

#endif
