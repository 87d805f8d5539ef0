/* The simulated store, statement level: several transactions open at once on the rows of one
 * world, their operations interleaved, behaving as PostgreSQL does. What store.h does to a bundle
 * in one go, a session does operation by operation.
 *
 * An operation belongs to a statement. Usually it is one by itself; in a primitive that is marked
 * as one statement, all of its operations are. Between operations any other session may run: that
 * is where the caller interleaves them, stops one, or lets it die.
 *
 *      begin -> operation, operation, ... -> DONE -> apply, end    (committed)
 *                    |            |
 *                    v            '-> FAILED -> end                (refused or aborted)
 *                  WAITS, until whoever it waits for ends
 *
 * What is written is kept in the session until it commits: nobody else sees it. The rows of the
 * world are what is committed. A snapshot is a place in a log of what commits changed since; an
 * older version of a row is found by walking back.
 *
 * What is claimed of PostgreSQL is data: struct session_rules. session_postgresql is the claim;
 * each deviation from it that session_error names is a deliberate error, and `assay conform` must
 * find every one.
 *
 * (SE1) Locks last until the transaction ends, in one of four modes; a session that fails lets go
 *       at once.
 * (SE2) READ COMMITTED: a statement sees what was committed when it began, and what the transaction
 *       did itself. A row that it locks it sees as it now is, also after a wait, and tests it
 *       anew; rows that it does not lock keep the statement's snapshot (E-ACL-25).
 * (SE3) SERIALIZABLE: the snapshot is the first statement's, even if that only waits (E-CUT-11). A
 *       row that another transaction changed since fails with 40001; so does a commit after which
 *       no order of the serializable transactions would explain what each has seen.
 * (SE4) With one session at a time the rows, the outcome, the log of changes and what is seen of it
 *       are exactly those of store_execute; but for deletes of rows that others refer to, which the
 * store does not look at, and a second update of a row in one statement, of which it knows nothing.
 * (SE5) Nothing is allocated; a struct sessions can be copied with its world's rows. */
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
#define SESSION_VERSIONS_MAX 4096
#define SESSION_HISTORY_MAX  12
#define SESSION_PICKS_ITSELF STORE_PICKS_ITSELF
#define SESSION_NO_SNAPSHOT  UINT32_MAX

enum session_state {
    SESSION_CLOSED, /* no transaction */
    SESSION_OPEN,   /* between two operations */
    SESSION_WAITS,  /* for others to end; its operation is tried again by session_operation */
    SESSION_DONE,   /* every operation is done: it may commit */
    SESSION_FAILED  /* refused or aborted, as its outcome says; holds nothing any more */
};

/* ---- what is claimed of PostgreSQL ----------------------------------------------------------- */

struct session_rules {
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
    bool unique_waits;            /* ... and one that somebody is writing is waited for */
    bool not_null;                /* 23502 */
    bool grants;                  /* 42501 for what the principal may not do, before any row */
    bool policies;                /* ... and for a new row that does not say what it must */
    bool parents;                 /* 23503 for a row that refers to none */
    bool checks_anew;             /* ... and for one that the transaction writes a second time */
    bool children;                /* 23503 for deleting a row that others refer to */
    bool deletes_first;           /* ... which is gone by then: who inserts its key waits */
    bool skip_locked;             /* SKIP LOCKED passes over rows that are locked */
    bool skip_stops_at_first;     /* ... by a lock on the version that it sees, not on later ones */
    bool advisory_waits;          /* an advisory lock excludes others */
    bool advisory_lasts;          /* ... until the transaction ends */
    bool snapshot_before_wait;    /* SERIALIZABLE: a first statement that waits has its snapshot */
    bool first_updater_wins;      /* SERIALIZABLE: 40001 on a row that changed since */
    bool conflict_unseen_fails;   /* SERIALIZABLE: 40001 for DO NOTHING on a row not visible */
    bool cycles_only;             /* SERIALIZABLE: a commit must fail only if it closes a cycle */
};

extern const struct session_rules session_postgresql;

/* The deliberate errors, one deviation each: how many, its name, and the rules with it. */
#define SESSION_ERROR_NAME_SIZE 48
size_t session_error_count(void);
void session_error(size_t index, struct session_rules *rules, char name[SESSION_ERROR_NAME_SIZE]);

/* ---- sessions -------------------------------------------------------------------------------- */

enum session_write_kind { SESSION_SETS, SESSION_INSERTS, SESSION_DELETES };

struct session_write {
    uint8_t kind;   /* enum session_write_kind */
    uint8_t table;  /* enum row_table */
    uint8_t column; /* SETS */
    int8_t insert;  /* which of the session's own new rows; -1: one that was there */
    bool replaces;  /* the row was held FOR UPDATE when it was written */
    uint16_t statement;
    uint32_t slot; /* of a row that was there */
    int64_t key;
    int64_t value; /* SETS */
};

struct session_lock {
    uint8_t table, mode;
    uint32_t slot;
    uint32_t since; /* where the log of versions stood when it was taken */
};

/* A row that a serializable transaction looked for by its key, or wrote. */
struct session_item {
    uint8_t table;
    int64_t key;
};

enum session_wait_kind { WAIT_ROW, WAIT_KEY, WAIT_ADVISORY };

struct session {
    uint8_t state;     /* enum session_state */
    uint8_t call, op;  /* where it goes on */
    bool in_statement; /* begun and not ended: its snapshot stands */
    bool written;      /* the operation's row is in, its parent not yet locked */
    uint8_t wait_kind; /* WAITS: enum session_wait_kind */
    uint8_t wait_table, wait_mode;
    uint16_t statement;
    uint32_t wait_slot;
    int64_t wait_key;
    uint32_t wait_since; /* who waits longer */
    uint32_t snapshot;   /* a place in the log of versions, or SESSION_NO_SNAPSHOT */
    uint32_t looks_from; /* the snapshot that its foreign key is checked with, if it is */
    uint32_t operations; /* done so far */
    uint32_t picked;     /* the message slot that a claim takes */
    uint64_t start;      /* SERIALIZABLE: commits before its snapshot */
    int64_t now;         /* the time of all its statements */
    uint16_t write_count, lock_count, read_count;
    uint8_t insert_count, advisory_count;
    struct bundle bundle;
    struct outcome outcome;
    struct session_write writes[SESSION_WRITES_MAX];
    int64_t inserts[SESSION_INSERTS_MAX][ROW_COLUMNS_MAX];
    struct session_lock locks[SESSION_LOCKS_MAX];
    int64_t advisory[SESSION_ADVISORY_MAX];
    uint16_t advisory_statement[SESSION_ADVISORY_MAX];
    struct session_item reads[SESSION_READS_MAX];
};

/* A serializable transaction that committed while others were open. */
struct session_record {
    uint64_t start, commit;
    uint16_t read_count, write_count;
    struct session_item reads[SESSION_READS_MAX];
    struct session_item writes[SESSION_WRITES_MAX];
};

struct sessions {
    struct world *world;
    const struct primitive *primitives;
    const struct session_rules *rules;
    uint32_t count;   /* sessions in use are below */
    uint32_t waits;   /* how often one began to wait */
    uint64_t commits; /* serializable ones and others */
    uint32_t version_count;
    uint32_t history_count;
    struct row_change versions[SESSION_VERSIONS_MAX]; /* what commits changed, while somebody may
                                                         have to see what was before */
    bool replaced[SESSION_VERSIONS_MAX];              /* by somebody who had the row FOR UPDATE */
    struct session_record history[SESSION_HISTORY_MAX];
    struct session each[SESSIONS_MAX];
};

/* Nobody is connected. `count` sessions may be used. */
void sessions_begin(struct sessions *all, struct world *world, const struct primitive *primitives,
                    const struct session_rules *rules, uint32_t count);

/* So many may be used from now on: what is new is closed, what is left out must be. */
void sessions_resize(struct sessions *all, uint32_t count);

/* Opens a transaction; `picked` as for store_execute, or SESSION_PICKS_ITSELF. */
void session_begin(struct sessions *all, unsigned who, const struct bundle *bundle,
                   uint32_t picked);

/* Does the next operation, or tries the one again that it waits in. Left-out operations count. */
enum session_state session_operation(struct sessions *all, unsigned who);

/* Goes on to the end of the statement. */
enum session_state session_statement(struct sessions *all, unsigned who);

/* DONE: the operations are over and COMMIT is next. False: the commit is refused with 40001, and
 * the session has FAILED. True: what it wrote is in the rows and the world's log. */
bool session_apply(struct sessions *all, unsigned who);

/* The transaction is over and lets go of everything. `mark`: where the world's log stood before
 * session_apply; what is there since becomes part of what others may have to look behind. */
void session_end(struct sessions *all, unsigned who, size_t mark);

/* What was seen of a transaction that got to its end, while it holds what it holds: as
 * store_execute_seen tells it. */
void session_seen(const struct sessions *all, unsigned who, struct observed *seen);

/* Somebody who has no session changed rows: the world's log from `mark` on. */
void sessions_note(struct sessions *all, size_t mark);

/* It fails: deadlock, 40001, a connection that is gone. */
void session_abort(struct sessions *all, unsigned who, enum abort_class aborted);

/* ---- looking --------------------------------------------------------------------------------- */

/* Sessions with an open transaction, DONE and FAILED ones included; those that wait. */
uint32_t sessions_open(const struct sessions *all);
uint32_t sessions_waiting(const struct sessions *all);

/* Those of a principal, or the caller: as many connections of it are in use. */
uint32_t sessions_connected(const struct sessions *all, enum principal principal);

/* Whom a session waits for; 0: nobody any more, it can go on. */
uint32_t session_waits_for(const struct sessions *all, unsigned who);

/* If this session is part of a cycle of waits: those who wait for it, directly or not, itself
 * included. A server may give up any of them. 0: it is not. */
uint32_t session_deadlock(const struct sessions *all, unsigned who);

/* Those who can never go on: each waits only for others of them. 0: nobody is. A server gives one
 * of them up; while somebody in a cycle also waits for one who can go on, it may not notice yet. */
uint32_t sessions_stuck(const struct sessions *all);

/* It can go on, but on a server stands in line behind one that waits for the same row. */
bool session_queues(const struct sessions *all, unsigned who);

/* Somebody has a lock on the row. */
bool sessions_locked(const struct sessions *all, enum row_table table, uint32_t slot);

/* SERIALIZABLE, and another serializable transaction overlaps with it: 40001 may come. */
bool session_may_abort(const struct sessions *all, unsigned who);

/* How many operations a bundle has. */
uint32_t session_length(const struct sessions *all, const struct bundle *bundle);

#endif
