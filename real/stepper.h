/* Several open transactions on PostgreSQL at once, each on a connection of its own, driven one
 * statement at a time; a statement that waits for a lock is found out to be waiting. The real half
 * of a comparison with a simulated store whose transactions interleave statement by statement.
 *
 * A step is: stepper_send or stepper_end on one connection (or several), then stepper_settle, then
 * stepper_answer of those that were answered. Whatever is still under way after stepper_settle
 * waits for a lock that another of these connections holds; it is answered by a later settle, once
 * a COMMIT, a ROLLBACK or an error let go of that lock.
 *
 * What the SQL says is sql.h's business. A primitive by operation that has several operations
 * begins with a statement, index 0, that forgets the values of other calls. It never waits and
 * tells nothing: who counts operations sends it right in front of the first one.
 *
 * After an error the transaction is aborted, and its locks are gone already; it is to be ended by
 * stepper_end(.., false). Built without libpq, every function is there, and stepper_open says which
 * package is missing.
 *
 * (S1) Between BEGIN and the caller's first statement nothing is executed: a SERIALIZABLE
 *      transaction has its snapshot from that statement, also if the statement begins with a wait
 *      (E-CUT-11). Everything is prepared before BEGIN.
 * (S2) "Blocked" is never guessed from time: in one look at pg_locks, which is a consistent picture
 *      of all who wait, every statement that was not answered stood in line for a row, a
 *      transaction or an advisory lock. Then nobody is left who could let go of anything, but for
 *      the server's own search for deadlocks, 20 ms after a wait began. There is no second look
 *      after statements that succeeded without a wait: those let go of nothing.
 * (S3) Nobody else may lock rows of the schema meanwhile: a wait for a stranger is not for good.
 * (S4) The clock is the caller's: no statement asks the server for the time.
 * (S5) Some choices are the server's, and a comparison has to follow them. Which transaction of a
 *      cycle is aborted (40P01): each looks once, 20 ms after its own wait began, and the first
 *      that finds the cycle closed is it; so the last to wait, unless the cycle was closed sooner
 *      than that. Who gets a row that several waited for: those who wait for a lock stand in line,
 *      but once the row was updated they run for its new version, and several inserts of one key
 *      run, too. What SERIALIZABLE takes for a conflict: its notes are of pages, not of keys.
 *
 * On two cores, where a bare SELECT 1 takes 0.1 to 0.15 ms, BEGIN takes the same and a statement
 * hardly more; one that is found blocked 0.7 ms; COMMIT and the answer of whom it lets go 0.3 ms; a
 * broken cycle 21 ms; preparing 0.1 to 0.3 ms a statement. */
#ifndef REAL_STEPPER_H
#define REAL_STEPPER_H

#include "real/store.h"

#define STEPPER_CONNECTIONS_MAX 10

struct stepper;

struct stepper_options {
    const char *dsn;                    /* as libpq takes it */
    const char *schema;                 /* sound, and made by store_pg_make_schema */
    const struct primitive *primitives; /* what a call's number refers to; must stay */
    size_t primitive_count;
    enum sql_form form;
    unsigned connections; /* beside one that watches; 1 .. STEPPER_CONNECTIONS_MAX */
    uint32_t principals;  /* PRINCIPAL_SET: as whom bundles may be sent; their roles are made here
                             and dropped by stepper_close */
};

/* NULL: *problem says why. */
struct stepper *stepper_open(const struct stepper_options *options,
                             struct store_pg_problem *problem);
void stepper_close(struct stepper *stepper);

/* Other primitives from now on: what was prepared is forgotten. No transaction is open. */
void stepper_primitives(struct stepper *stepper, const struct primitive *primitives, size_t count);

/* Why the last function returned false. After that only stepper_reset and stepper_close make sense.
 */
const char *stepper_why_not(const struct stepper *stepper);

/* ---- transactions ---------------------------------------------------------------------------- */

/* BEGIN at the bundle's isolation level, as the role of its principal (SET ROLE: no limit on
 * connections is felt), once its statements are prepared; waits for the server.
 * `now` is the clock of all its statements. False: the server failed. */
bool stepper_begin(struct stepper *stepper, unsigned connection, const struct bundle *bundle,
                   int64_t now);

/* How many statements a call of the open bundle takes. */
int stepper_statements(const struct stepper *stepper, unsigned connection, unsigned call);

/* Sends statement `index` of call `call`; does not wait. Nothing is under way on the connection. */
bool stepper_send(struct stepper *stepper, unsigned connection, unsigned call, int index);

/* Sends COMMIT or ROLLBACK; does not wait. */
bool stepper_end(struct stepper *stepper, unsigned connection, bool commit);

/* Waits until everything under way was answered or is blocked (S2). `deadlock`: there is a cycle
 * among those who wait; goes on until the server has broken it, and those whom that let go were
 * answered or are blocked, too. *answered: a bit for each connection that was answered by this
 * call. False: a connection was lost, or nothing became of it for long. */
bool stepper_settle(struct stepper *stepper, bool deadlock, uint32_t *answered);

/* A bit for each connection on which something was sent and not answered. */
uint32_t stepper_blocked(const struct stepper *stepper);

/* What a statement, a COMMIT or a ROLLBACK was answered with. */
struct stepper_answer {
    char sqlstate[6];  /* empty: it succeeded */
    char message[160]; /* the server's words, for people */
    bool committed;    /* COMMIT: it did; in an aborted transaction it succeeds as a ROLLBACK */
    bool has_row;      /* a row came back */
    bool did_nothing;  /* no row, or its first column is null: it was left out (sql.h). Also of
                          COMMIT and ROLLBACK. There are no values then */
    int64_t skips;     /* first column; 1: the guard missed, and the rest is to be skipped */
    uint8_t count;     /* values that came back: */
    uint8_t places[PRIMITIVE_VALUES_MAX]; /* which value of the call it is, */
    int64_t values[PRIMITIVE_VALUES_MAX]; /* how much, */
    bool null[PRIMITIVE_VALUES_MAX];      /* or nothing at all: the value is left alone */
    bool message_there;                   /* OP_CLAIM took a message: */
    int64_t claimed[1 + MESSAGE_COLUMNS]; /* key first */
};

/* Of the last that was answered on this connection. */
const struct stepper_answer *stepper_answer(const struct stepper *stepper, unsigned connection);

/* Gives up a statement that is under way on the connection, if one is; its answer is not told. */
bool stepper_cancel(struct stepper *stepper, unsigned connection);

/* Ends whatever is open or under way, without a word about how: a comparison begins anew. */
bool stepper_reset(struct stepper *stepper);

/* ---- beside transactions: by the connection that watches ------------------------------------- */

/* Runs statements that return nothing. They must not have to wait for open transactions. */
bool stepper_run(struct stepper *stepper, const char *script);

/* Every committed row of a table in the order of keys: key first, then the columns. */
bool stepper_rows(struct stepper *stepper, enum row_table table, store_pg_row *each, void *context);

/* ---- connections that are refused ------------------------------------------------------------ */

/* Makes a role that may have `limit` connections (at most STEPPER_CONNECTIONS_MAX), opens them,
 * tries one more, and drops the role. `role`: its name, which must be free; NULL: one by
 * chance. sqlstate: why the last one was refused (53300); empty: it was not.
 * False: the role could not be made, or may not connect at all. */
bool stepper_connection_refused(const char *dsn, const char *role, unsigned limit, char sqlstate[6],
                                struct store_pg_problem *problem);

#endif
