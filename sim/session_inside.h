/* What the files of the statement-level store share. Private to session*.c. */
#ifndef SIM_SESSION_INSIDE_H
#define SIM_SESSION_INSIDE_H

#include "sim/meaning.h"
#include "sim/session.h"

/* The result of an operation. */
enum effect {
    EFFECT_DONE,
    EFFECT_MISSED,
    EFFECT_IMPOSSIBLE, /* refused regardless of the call's mode */
    EFFECT_WAITS,
    EFFECT_ABORTED /* 40001 */
};

/* A row as a snapshot shows it: a copy, key first. */
struct seen {
    bool there;
    int8_t insert; /* which of the session's own new rows; -1: a committed one */
    uint32_t slot;
    int64_t cells[1 + ROW_COLUMNS_MAX];
};

/* The operation that is being executed. */
struct doing {
    struct sessions *sessions;
    struct session *session;
    unsigned who;
    bool one_statement; /* with other operations: it does not see what they wrote */
    const struct op *op;
    struct frame frame;
    enum refusal reason;
};

/* What commits did to a row since a snapshot. REPLACED: who locks it must look at its latest version
 * in every mode (enum session_ends). */
enum since { SINCE_NOTHING, SINCE_UPDATED, SINCE_REPLACED, SINCE_DELETED };

/* Takes the lowest member out of a set of sessions, which is not empty. Loops visit the open ones
 * only, of which there is rarely more than one. */
static inline unsigned sessions_take(uint32_t *set)
{
    unsigned lowest = (unsigned)__builtin_ctz(*set);
    *set &= *set - 1;
    return lowest;
}

/* The open sessions but `who`. */
static inline uint32_t sessions_others(const struct sessions *sessions, unsigned who)
{
    return sessions->open & ~(UINT32_C(1) << who);
}

/* ---- session_waits.c ---- */

/* Other sessions whose locks on the row exclude this mode. */
uint32_t sessions_holders(const struct sessions *sessions, unsigned who, uint8_t table,
                          uint32_t slot, uint8_t mode);

/* Other sessions that have an uncommitted write of a row with this key. */
uint32_t sessions_writers(const struct sessions *sessions, unsigned who, uint8_t table,
                          int64_t key);

uint32_t sessions_advisory_holders(const struct sessions *sessions, unsigned who, int64_t key);

/* ---- session_rows.c ---- */

/* The strongest change that commits made to the row since the snapshot. */
enum since session_changed_since(const struct sessions *sessions, uint32_t snapshot, uint8_t table,
                                 uint32_t slot);

/* Adds a change to the log of versions; session_note_changes adds all of a commit's, from `mark`
 * on. */
void session_note_version(struct sessions *sessions, struct row_change change,
                          enum session_ends ended);

/* It has updated the row and did not have it FOR UPDATE then: the version that others see is one
 * that FOR KEY SHARE goes beside. */
bool session_goes_beside(const struct session *session, uint8_t table, uint32_t slot);

void session_note_changes(struct sessions *sessions, size_t mark, const struct session *session);

/* True if an open snapshot may still read row versions from before this commit. */
bool sessions_are_looked_behind(struct sessions *sessions);

/* The committed row with this key, as of the snapshot. */
void session_committed_row(const struct sessions *sessions, uint32_t snapshot, enum row_table table,
                           int64_t key, struct seen *row);

/* Applies the session's own writes on top, except those of the statement `but`, which are not
 * visible yet. */
void session_add_own_writes(const struct session *session, enum row_table table, int64_t key,
                            int but, struct seen *row);

/* A planted error: applies uncommitted writes of other sessions (a dirty read). */
void session_add_dirty_writes(const struct sessions *sessions, unsigned who, enum row_table table,
                              int64_t key, struct seen *row);

/* Records a write of the session, with its statement. */
void session_write_to(struct session *session, struct session_write write);

/* The row was written by the current statement, an insert not counted; by the transaction
 * before. */
bool session_written_by_statement(const struct session *session, enum row_table table,
                                  const struct seen *row);
bool session_written_before(const struct session *session, enum row_table table,
                            const struct seen *row);

/* ---- session_looks.c ---- */

/* A serializable session has read the row with this key. */
void session_note_read(struct session *session, uint8_t table, int64_t key);

/* It has looked for rows by a predicate and found this one, or none: what it saw so is noted. */
void session_note_look(struct doing *doing, const struct seen *found);

/* A serializable session is about to commit: who has looked for what it writes, and has committed,
 * counts as having read it. session_noted_by_open says the same to those that are open. */
void session_noted_by_history(struct sessions *sessions, const struct session *session);
void session_noted_by_open(struct sessions *sessions, const struct session *session);

/* ---- session_operations.c ---- */

/* Does the operation, or says why not. */
enum effect session_perform(struct doing *doing);

/* ---- session_order.c ---- */

/* A serializable transaction is about to commit. False: no serial order exists, because the
 * transaction would have to come both before and after itself. True: it is recorded for later
 * checks. */
bool session_finds_order(struct sessions *sessions, const struct session *session);

#endif
