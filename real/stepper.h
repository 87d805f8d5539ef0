/* Several open transactions on PostgreSQL at once, each on a connection of its own, driven one
 * statement at a time. The stepper detects which statements wait for a lock. It is the real half of
 * a comparison with a simulated store whose transactions interleave statement by statement.
 *
 * A step is: stepper_send or stepper_end on one connection (or several), then stepper_settle, then
 * stepper_answer of those that were answered. A statement that is unanswered after stepper_settle
 * waits for a lock that another of these connections holds. A later settle answers it, once a
 * COMMIT, a ROLLBACK or an error has released that lock.
 *
 * sql.h has the SQL. A primitive by operation that has several operations begins with statement 0,
 * which clears the values of other calls. That statement never waits and returns nothing: a caller
 * that counts operations sends it right before the first one.
 *
 * After an error the transaction is aborted and its locks are released; the caller ends it with
 * stepper_end(.., false). Built without libpq, every function exists, and stepper_open names the
 * missing package.
 *
 * (S1) Between BEGIN and the caller's first statement only the clock is set: a SERIALIZABLE
 *      transaction has its snapshot from that statement, even if the statement begins with a wait
 *      (E-CUT-11). Everything is prepared before BEGIN.
 * (S2) "Blocked" is never guessed from time. One query of pg_locks, which is a consistent picture of
 *      all waits, showed every unanswered statement waiting for a row, a transaction or an advisory
 *      lock. Then no session can release anything, except by the server's deadlock detection, 20 ms
 *      after a wait began. Statements that succeeded without a wait release nothing, so no second
 *      query follows them.
 * (S3) No other session locks rows of the schema meanwhile: a wait for it would end by itself.
 * (S4) The clocks are the caller's: the schema is one for lockstep.
 * (S5) Some choices are the server's, and a comparison has to follow them. The victim of a deadlock
 *      (40P01): each waiter checks once, 20 ms after its own wait began, and the first that finds a
 *      closed cycle is aborted; usually that is the last to wait. The next holder of a row: waiters
 *      for a lock queue up, but after an update they race for the new version, and so do several
 *      inserts of one key. A conflict of SERIALIZABLE transactions: the server records reads by
 *      page, not by key.
 *
 * On two cores, where a bare SELECT 1 takes 0.1 to 0.15 ms, BEGIN takes the same and a statement
 * hardly more. Detecting a wait takes 0.7 ms; COMMIT with the answers that it releases 0.3 ms; a
 * broken cycle 21 ms; preparing 0.1 to 0.3 ms a statement. */
#ifndef REAL_STEPPER_H
#define REAL_STEPPER_H

#include "model/error.h"
#include "real/store.h"

#define STEPPER_CONNECTIONS_MAX 10

struct stepper;

struct stepper_options {
    const char *dsn;                    /* as libpq takes it */
    const char *schema;                 /* sound, and made by store_pg_make_schema */
    const struct primitive *primitives; /* what a call's number refers to; must stay */
    size_t primitive_count;
    enum sql_form form;
    unsigned connections; /* without the observer's; 1 .. STEPPER_CONNECTIONS_MAX */
    uint32_t principals;  /* PRINCIPAL_SET: the senders of bundles; their roles are made here
                             and dropped by stepper_close */
};

/* NULL: *error says why. */
struct stepper *stepper_open(const struct stepper_options *options, struct error *error);
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

/* What the wall clock shows the statements that are sent from now on. */
void stepper_wall(struct stepper *stepper, int64_t wall);

/* How many statements a call of the open bundle takes; 1 for the first of a compound, which stands for
 * all of its calls. */
int stepper_statements(const struct stepper *stepper, unsigned connection, unsigned call);

/* Sends statement `index` of call `call`; does not wait. Nothing is under way on the connection. */
bool stepper_send(struct stepper *stepper, unsigned connection, unsigned call, int index);

/* Sends COMMIT or ROLLBACK; does not wait. */
bool stepper_end(struct stepper *stepper, unsigned connection, bool commit);

/* Waits until every statement that was sent is answered or blocked (S2). `deadlock`: the waits form a
 * cycle; goes on until the server has broken it, and the statements that this released are answered
 * or blocked, too. *answered: a bit for each connection that this call answered. False: a connection
 * was lost, or the time is up. */
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
    uint8_t places[SQL_VALUES_MAX];       /* which value of the outcome it is, */
    int64_t values[SQL_VALUES_MAX];       /* how much, */
    bool null[SQL_VALUES_MAX];            /* or nothing at all: the value is left alone */
    bool message_there;                   /* OP_CLAIM took a message: */
    int64_t claimed[1 + MESSAGE_COLUMNS]; /* key first */
};

/* The last answer on this connection. */
const struct stepper_answer *stepper_answer(const struct stepper *stepper, unsigned connection);

/* Gives up a statement that is under way on the connection, if one is; its answer is not told. */
bool stepper_cancel(struct stepper *stepper, unsigned connection);

/* Ends whatever is open or under way, without a word about how: a comparison begins anew. */
bool stepper_reset(struct stepper *stepper);

/* ---- outside transactions: by the observer's connection --------------------------------------- */

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
                                struct error *error);

#endif
