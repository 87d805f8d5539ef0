/* The simulated store, statement level: several transactions open at once on the rows of one world,
 * their operations interleaved, behaving as PostgreSQL does. A session does operation by operation
 * what store_execute (store.h) does to a bundle in one go.
 *
 * An operation belongs to a statement. Usually it is a statement by itself; in a primitive that is
 * marked as one statement, and in calls that are joined (bundle.h), all operations form one. Between
 * operations any other session may
 * run: there the caller interleaves them, stops one, or kills it.
 *
 *      begin -> operation, operation, ... -> DONE -> apply, end    (committed)
 *                    |            |
 *                    v            '-> FAILED -> end                (refused or aborted)
 *                  WAITS, until the sessions that it waits for end
 *
 * A session keeps its writes until it commits: no other session sees them. The rows of the world
 * are the committed ones. A snapshot is a position in a log of what commits changed since; an older
 * version of a row is found by walking that log backwards.
 *
 * What is claimed of PostgreSQL is data: struct session_claims. session_postgresql is the claim.
 * Each deviation that session_error names is a deliberate error, and `assay conform` must find
 * every one.
 *
 * (SS1) Locks last until the transaction ends, in one of four modes; a session that fails releases
 *       them at once. Only a session of the set `open` holds anything.
 * (SS2) READ COMMITTED: a statement sees what was committed when it began, and the transaction's
 *       own writes. A row that it locks it sees in its latest version, also after a wait, and tests
 *       it anew; rows that it does not lock keep the statement's snapshot (E-ACL-25).
 * (SS3) SERIALIZABLE: the snapshot is taken by the first statement, even if that only waits
 *       (E-CUT-11). A row that another transaction changed since fails with 40001; so does a commit
 *       after which no serial order of the serializable transactions explains what each has seen.
 *       Who looked for rows by a predicate (FIND, EVERY) has seen that there are no others: a row
 *       that comes to match it counts as one that was read. A server may notice more, since its
 *       notes are as coarse as plan and page; then it fails where this one does not.
 * (SS4) With one session at a time the rows, the outcome, the log of changes and what is seen of it
 *       are exactly those of store_execute. Two exceptions: deletes of rows that others refer to,
 *       which the store does not check, and a second update of a row in one statement, which the
 *       store does not model.
 * (SS5) Nothing is allocated; a struct sessions can be copied with its world's rows. */
#ifndef SIM_SESSION_H
#define SIM_SESSION_H

#include "model/bundle.h"
#include "sim/store.h"
#include "sim/world.h"

#define SESSIONS_MAX         23
#define SESSION_WRITES_MAX   120
#define SESSION_INSERTS_MAX  40
#define SESSION_LOCKS_MAX    120
#define SESSION_ADVISORY_MAX 4
#define SESSION_READS_MAX    96
#define SESSION_LOOKS_MAX    12
#define SESSION_VERSIONS_MAX 4096
#define SESSION_HISTORY_MAX  12
#define SESSION_PICKS_ITSELF STORE_PICKS_ITSELF
#define SESSION_NO_SNAPSHOT  UINT32_MAX

enum session_state {
    SESSION_CLOSED, /* no transaction */
    SESSION_OPEN,   /* between two operations */
    SESSION_WAITS,  /* blocked by others; session_operation tries its operation again */
    SESSION_DONE,   /* every operation is done: it may commit */
    SESSION_FAILED  /* refused or aborted, as its outcome says; holds no locks */
};

/* ---- what is claimed of PostgreSQL ----------------------------------------------------------- */

struct session_claims {
    bool conflicts[LOCK_COUNT][LOCK_COUNT]; /* two lock modes exclude each other */
    uint8_t locks[OP_LET_MODULO + 1];       /* by kind: enum op_lock that LOCK_USUAL stands for */
    uint8_t parent_lock;                    /* what an insert takes on the row that it refers to */
    bool locks_last;                        /* until the transaction ends, not the statement */
    bool sees_committed_only;               /* no statement sees what another has not committed */
    bool sees_own_writes;                   /* ... and each sees its own */
    bool snapshot_each_statement;           /* READ COMMITTED: a snapshot a statement */
    bool snapshot_outlasts_waits; /* a statement's snapshot is not renewed when a wait is over */
    bool tests_anew;              /* a row that changed during a wait is tested as it now is */
    bool writes_on_latest;        /* ... and written as it now is: no update is lost */
    bool gone_is_gone;            /* ... and one that was deleted meanwhile is not there */
    bool key_share_looks_back;    /* FOR KEY SHARE sees the snapshot's version of an updated row */
    bool one_update_a_statement;  /* a second update of a row in a statement is lost (E-ACL-24) */
    bool unique;                  /* a key that is there is refused: 23505 */
    bool unique_waits;            /* ... and an uncommitted one is waited for */
    bool not_null;                /* 23502 */
    bool grants;                  /* 42501 for what the principal may not do, before any row is
                                     touched */
    bool policies;                /* ... and for a new row that does not say what it must */
    bool parents;                 /* 23503 for a row that refers to none */
    bool checks_anew;             /* ... and for one that the transaction writes a second time */
    bool checks_moved;            /* ... and for one that is made to refer to another row */
    bool children;                /* 23503 for deleting a row that others refer to */
    bool deletes_first;           /* ... which is gone by then: an insert of its key waits */
    bool skip_locked;             /* SKIP LOCKED passes over locked rows */
    bool skip_stops_at_first;     /* ... by a lock on the version that it sees, not on later ones */
    bool advisory_waits;          /* an advisory lock excludes others */
    bool advisory_lasts;          /* ... until the transaction ends */
    bool snapshot_before_wait;    /* SERIALIZABLE: a first statement that waits has its snapshot */
    bool first_updater_wins;      /* SERIALIZABLE: 40001 on a row that changed since */
    bool conflict_unseen_fails;   /* SERIALIZABLE: 40001 for DO NOTHING on a row not visible */
    bool cycles_only;             /* SERIALIZABLE: a commit must fail only if it closes a cycle */
};

extern const struct session_claims session_postgresql;

/* The deliberate errors, one deviation each: their number, the name of each, and the rules with
 * it. */
#define SESSION_ERROR_NAME_SIZE 48
size_t session_error_count(void);
void session_error(size_t index, struct session_claims *rules, char name[SESSION_ERROR_NAME_SIZE]);

/* ---- sessions -------------------------------------------------------------------------------- */

enum session_write_kind { SESSION_SETS, SESSION_INSERTS, SESSION_DELETES };

/* How a version of a row ended, for who locks it FOR KEY SHARE afterwards. A server treats an update
 * by who held the version FOR UPDATE like an update of its key; but if others had locked the version
 * beside that holder, it has both marks of the holder apart, and a transaction that follows the row from
 * an older version meets the update alone. */
enum session_ends { ENDS_BY_UPDATE, ENDS_FOR_ITS_READERS, ENDS_FOR_ALL };

struct session_write {
    uint8_t kind;   /* enum session_write_kind */
    uint8_t table;  /* enum row_table */
    uint8_t column; /* SETS */
    int8_t insert;  /* which of the session's own new rows; -1: an existing row */
    uint8_t ends;   /* enum session_ends: the version of the row that was there before */
    uint16_t statement;
    uint32_t slot; /* of an existing row */
    int64_t key;
    int64_t value; /* SETS */
};

struct session_lock {
    uint8_t table, mode;
    bool beside; /* another session had the row locked, too, at some time */
    uint32_t slot;
    uint32_t since; /* position in the log of versions when it was taken */
};

/* A row that a serializable transaction looked for by its key, or wrote. */
struct session_item {
    uint8_t table;
    int64_t key;
};

/* What a serializable transaction looked for without naming a row: FIND or EVERY, and what it
 * found. */
struct session_look {
    uint8_t kind, table; /* enum op_kind; enum row_table */
    uint8_t column, beside, order, unnamed;
    int64_t a, b, c;
    int64_t found, rank; /* the row that was found, and its cell of the order; 0: none was */
    uint32_t snapshot;   /* as of which */
};

enum session_wait_kind { WAIT_ROW, WAIT_KEY, WAIT_ADVISORY };

struct session {
    uint8_t state;     /* enum session_state */
    uint8_t call, op;  /* position in the bundle */
    bool in_statement; /* begun and not ended: its snapshot stands */
    bool written;      /* the operation's row is written, not every parent of it locked */
    uint8_t wait_kind; /* WAITS: enum session_wait_kind */
    uint8_t wait_table, wait_mode;
    uint16_t statement;
    uint32_t wait_slot;
    int64_t wait_key;
    uint32_t wait_since;        /* when the wait began: orders the waiters */
    uint32_t snapshot;          /* a position in the log of versions, or SESSION_NO_SNAPSHOT */
    uint32_t looks_from;        /* the snapshot of its foreign key check, if there is one */
    uint32_t unchecked;         /* foreign keys of the row just written that are not checked yet, a
                                   bit each */
    uint32_t operations;        /* done so far */
    uint32_t picked;            /* the message slot that a claim takes */
    uint64_t start;             /* SERIALIZABLE: commits before its snapshot */
    int64_t now;                /* the time of all its statements */
    int64_t wall_from, wall_to; /* the earliest and the latest that the wall clock has shown it */
    uint16_t write_count, lock_count, read_count;
    uint8_t insert_count, advisory_count, look_count;
    bool reads_all; /* there was no room for what it read: it counts as having read everything */
    struct bundle bundle;
    struct outcome outcome;
    struct session_write writes[SESSION_WRITES_MAX];
    int64_t inserts[SESSION_INSERTS_MAX][ROW_COLUMNS_MAX];
    struct session_lock locks[SESSION_LOCKS_MAX];
    int64_t advisory[SESSION_ADVISORY_MAX];
    uint16_t advisory_statement[SESSION_ADVISORY_MAX];
    struct session_item reads[SESSION_READS_MAX];
    struct session_look looks[SESSION_LOOKS_MAX];
};

/* A serializable transaction that committed while others were open. */
struct session_record {
    uint64_t start, commit;
    uint16_t read_count, write_count;
    uint8_t look_count;
    bool reads_all;
    struct session_item reads[SESSION_READS_MAX];
    struct session_item writes[SESSION_WRITES_MAX];
    struct session_look looks[SESSION_LOOKS_MAX];
};

struct sessions {
    struct world *world;
    const struct primitive *primitives;
    const struct session_claims *rules;
    uint32_t count;   /* sessions below this number are in use */
    uint32_t open;    /* the set of those whose state is not CLOSED */
    uint32_t waits;   /* how often one began to wait */
    uint64_t commits; /* all commits, serializable or not */
    uint32_t version_count;
    uint32_t history_count;
    struct row_change versions[SESSION_VERSIONS_MAX]; /* what commits changed, while an open
                                                         snapshot may need the older version */
    uint8_t ended[SESSION_VERSIONS_MAX];              /* enum session_ends */
    struct session_record history[SESSION_HISTORY_MAX];
    struct session each[SESSIONS_MAX];
};

/* Resets: no session is open. `count` sessions may be used. */
void sessions_begin(struct sessions *sessions, struct world *world,
                    const struct primitive *primitives, const struct session_claims *rules,
                    uint32_t count);

/* Changes the number of sessions: new ones are closed, and those left out must be. */
void sessions_resize(struct sessions *sessions, uint32_t count);

/* Opens a transaction; `picked` as for store_execute, or SESSION_PICKS_ITSELF. */
void session_begin(struct sessions *sessions, unsigned who, const struct bundle *bundle,
                   uint32_t picked);

/* Does the next operation, or retries the one that waits. Operations that are left out count. */
enum session_state session_operation(struct sessions *sessions, unsigned who);

/* Goes on to the end of the statement. */
enum session_state session_statement(struct sessions *sessions, unsigned who);

/* Called in state DONE, when COMMIT is next. False: the commit fails with 40001, and the session
 * has FAILED. True: its writes are in the rows and in the world's log. */
bool session_apply(struct sessions *sessions, unsigned who);

/* Ends the transaction and releases everything. `mark` is where the world's log stood before
 * session_apply; the changes since then enter the log of versions. */
void session_end(struct sessions *sessions, unsigned who, size_t mark);

/* What the store saw of a transaction that got to its end, while it still holds its locks: as
 * store_execute_seen tells it. */
void session_seen(const struct sessions *sessions, unsigned who, struct observed *seen);

/* Rows changed outside any session: the world's log from `mark` on. */
void sessions_note(struct sessions *sessions, size_t mark);

/* The transaction aborts: deadlock, 40001, a lost connection. */
void session_abort(struct sessions *sessions, unsigned who, enum abort_class aborted);

/* Asserts (SS1), (SS2) and (SS3) as far as states show them: who holds what, and who has a
 * snapshot. Wrong rules (session_error) are not held to what they do away with. */
void sessions_check(const struct sessions *sessions);

/* ---- looking --------------------------------------------------------------------------------- */

/* Sessions with an open transaction, DONE and FAILED ones included; those that wait. */
static inline uint32_t sessions_open(const struct sessions *sessions)
{
    return sessions->open;
}
uint32_t sessions_waiting(const struct sessions *sessions);

/* Those of a principal, or of the caller: its connections in use. */
uint32_t sessions_connected(const struct sessions *sessions, enum principal principal);

/* The sessions that this one waits for; 0: none any more, it can go on. */
uint32_t session_waits_for(const struct sessions *sessions, unsigned who);

/* If this session is part of a cycle of waits: the sessions that wait for it, directly or not,
 * itself included. A server may abort any of them. 0: it is in no cycle. */
uint32_t session_deadlock(const struct sessions *sessions, unsigned who);

/* The deadlocked sessions: each waits only for others of them. 0: none. A server aborts one of
 * them; while a session in a cycle also waits for one that can go on, it may not notice yet. */
uint32_t sessions_stuck(const struct sessions *sessions);

/* The session can go on, but on a server it queues behind another that waits for the same row. */
bool session_queues(const struct sessions *sessions, unsigned who);

/* Some session has a lock on the row. */
bool sessions_locked(const struct sessions *sessions, enum row_table table, uint32_t slot);

/* SERIALIZABLE, and another serializable transaction overlaps with it: 40001 may come. */
bool session_may_abort(const struct sessions *sessions, unsigned who);

/* How many operations a bundle has. */
uint32_t session_length(const struct sessions *sessions, const struct bundle *bundle);

#endif
