/* Rows as a session sees them: those of a snapshot, with the session's own writes. */
#include "sim/session_inside.h"

#include "model/check.h"

#include <string.h>

/* ---- versions -------------------------------------------------------------------------------- */

static bool anybody_looks_back(const struct sessions *sessions)
{
    for (uint32_t open = sessions->open; open != 0;) {
        if (sessions->each[sessions_take(&open)].snapshot != SESSION_NO_SNAPSHOT) {
            return true;
        }
    }
    return false;
}

static void forget_versions(struct sessions *sessions)
{
    sessions->version_count = 0;
    for (uint32_t s = 0; s < sessions->count; s++) {
        for (uint16_t l = 0; l < sessions->each[s].lock_count; l++) {
            sessions->each[s].locks[l].since = 0;
        }
    }
}

/* The log is full: every session that could need its beginning loses its connection. */
static void cut_off(struct sessions *sessions)
{
    for (uint32_t s = 0; s < sessions->count; s++) {
        if (sessions->each[s].snapshot != SESSION_NO_SNAPSHOT) {
            session_abort(sessions, s, ABORT_CONNECTION);
        }
    }
    forget_versions(sessions);
}

void session_note_version(struct sessions *sessions, struct row_change change,
                          enum session_ends ended)
{
    if (sessions->version_count == SESSION_VERSIONS_MAX) {
        cut_off(sessions);
    }
    sessions->ended[sessions->version_count] = (uint8_t)ended;
    sessions->versions[sessions->version_count++] = change;
}

/* The session's own lock on the row; NULL: it has none. */
static const struct session_lock *lock_on(const struct session *session, uint8_t table,
                                          uint32_t slot)
{
    for (uint16_t l = 0; l < session->lock_count; l++) {
        if (session->locks[l].table == table && session->locks[l].slot == slot) {
            return &session->locks[l];
        }
    }
    return NULL;
}

/* Of a row that the session wrote: how the version ended that was committed. Its own versions that
 * follow are met by who comes along from there, and by no one else. */
static enum session_ends ended_by(const struct session *session, uint8_t table, uint32_t slot)
{
    bool first = true;
    enum session_ends ended = ENDS_BY_UPDATE;
    for (uint16_t w = 0; w < session->write_count; w++) {
        const struct session_write *write = &session->writes[w];
        if (write->table == table && write->insert < 0 && write->slot == slot) {
            bool counts = first || write->ends == ENDS_FOR_ALL;
            ended = counts && write->ends > ended ? (enum session_ends)write->ends : ended;
            first = false;
        }
    }
    return ended;
}

bool session_goes_beside(const struct session *session, uint8_t table, uint32_t slot)
{
    for (uint16_t w = 0; w < session->write_count; w++) {
        const struct session_write *write = &session->writes[w];
        if (write->table == table && write->insert < 0 && write->slot == slot) {
            /* the first change decides: it ended the version in the snapshot */
            return write->ends == ENDS_BY_UPDATE;
        }
    }
    return false;
}

void session_note_changes(struct sessions *sessions, size_t mark, const struct session *session)
{
    for (size_t i = mark; i < sessions->world->change_count; i++) {
        struct row_change change = sessions->world->changes[i];
        enum session_ends ended =
            session != NULL ? ended_by(session, change.table, change.slot) : ENDS_BY_UPDATE;
        session_note_version(sessions, change, ended);
    }
}

/* True if an open snapshot may still read row versions from before this commit. */
bool sessions_are_looked_behind(struct sessions *sessions)
{
    sessions->commits++;
    if (!anybody_looks_back(sessions)) {
        forget_versions(sessions);
        sessions->history_count = 0;
        return false;
    }
    return true;
}

void sessions_note(struct sessions *sessions, size_t mark)
{
    if (sessions_are_looked_behind(sessions)) {
        session_note_changes(sessions, mark, NULL);
    }
}

enum since session_changed_since(const struct sessions *sessions, uint32_t snapshot, uint8_t table,
                                 uint32_t slot)
{
    enum since since = SINCE_NOTHING;
    for (uint32_t v = snapshot; v < sessions->version_count; v++) {
        const struct row_change *change = &sessions->versions[v];
        if (change->table == table && change->slot == slot) {
            bool replaced = sessions->ended[v] == ENDS_FOR_ALL ||
                            (sessions->ended[v] == ENDS_FOR_ITS_READERS && since == SINCE_NOTHING);
            enum since now = change->kind == ROW_DELETED ? SINCE_DELETED
                             : replaced                  ? SINCE_REPLACED
                                                         : SINCE_UPDATED;
            since = now > since ? now : since;
        }
    }
    return since;
}

static void copy_row(const struct sessions *sessions, enum row_table table, uint32_t slot,
                     struct seen *row)
{
    const struct row_area *area = &sessions->world->rows.table[table];
    row->there = true;
    row->slot = slot;
    memcpy(row->cells, &area->cells[(size_t)slot * area->stride], area->stride * sizeof(int64_t));
}

/* The committed row with this key, as of the snapshot. */
void session_committed_row(const struct sessions *sessions, uint32_t snapshot, enum row_table table,
                           int64_t key, struct seen *row)
{
    uint32_t slot = row_find(&sessions->world->rows, table, key);
    row->there = false; /* and its cells mean nothing */
    row->insert = -1;
    row->slot = ROW_NONE;
    if (slot != ROW_NONE) {
        copy_row(sessions, table, slot, row);
    }
    for (uint32_t v = sessions->version_count; v > snapshot; v--) {
        const struct row_change *change = &sessions->versions[v - 1];
        if (change->table != table) {
            continue;
        }
        if (change->kind == ROW_DELETED && !row->there &&
            row_key(&sessions->world->rows, table, change->slot) == key) {
            copy_row(sessions, table, change->slot, row); /* it can still be read where it was */
        } else if (row->there && change->slot == row->slot && change->kind == ROW_UPDATED) {
            row->cells[1 + change->column] = change->before;
        } else if (row->there && change->slot == row->slot && change->kind == ROW_INSERTED) {
            row->there = false;
        }
    }
}

/* ---- a session's own writes ------------------------------------------------------------------ */

static bool is_of(const struct session_write *write, const struct seen *row)
{
    return write->insert >= 0 ? write->insert == row->insert
                              : row->insert < 0 && write->slot == row->slot;
}

/* Applies the session's own writes on top, except those of the statement `but`, which are not
 * visible yet. */
void session_add_own_writes(const struct session *session, enum row_table table, int64_t key,
                            int but, struct seen *row)
{
    for (uint16_t w = 0; w < session->write_count; w++) {
        const struct session_write *write = &session->writes[w];
        if (write->table != table || write->key != key || write->statement == but) {
            continue;
        }
        if (write->kind == SESSION_INSERTS) {
            row->there = true;
            row->insert = write->insert;
            row->slot = ROW_NONE;
            row->cells[0] = key;
            memcpy(&row->cells[1], session->inserts[write->insert], sizeof session->inserts[0]);
        } else if (row->there && is_of(write, row) && write->kind == SESSION_DELETES) {
            row->there = false;
        } else if (row->there && is_of(write, row)) {
            row->cells[1 + write->column] = write->value;
        }
    }
}

/* A planted error: applies uncommitted writes of other sessions (a dirty read). */
void session_add_dirty_writes(const struct sessions *sessions, unsigned who, enum row_table table,
                              int64_t key, struct seen *row)
{
    for (uint32_t s = 0; s < sessions->count; s++) {
        if (s != who) {
            session_add_own_writes(&sessions->each[s], table, key, -1, row);
        }
    }
}

void session_write_to(struct session *session, struct session_write write)
{
    CHECK(session->write_count < SESSION_WRITES_MAX);
    write.statement = session->statement;
    const struct session_lock *lock =
        write.insert < 0 ? lock_on(session, write.table, write.slot) : NULL;
    write.ends = lock == NULL || lock->mode < LOCK_UPDATE ? ENDS_BY_UPDATE
                 : lock->beside                           ? ENDS_FOR_ITS_READERS
                                                          : ENDS_FOR_ALL;
    session->writes[session->write_count++] = write;
}

bool session_written_by_statement(const struct session *session, enum row_table table,
                                  const struct seen *row)
{
    for (uint16_t w = 0; w < session->write_count; w++) {
        const struct session_write *write = &session->writes[w];
        if (write->table == table && write->statement == session->statement &&
            write->kind != SESSION_INSERTS && is_of(write, row)) {
            return true;
        }
    }
    return false;
}

bool session_written_before(const struct session *session, enum row_table table,
                            const struct seen *row)
{
    for (uint16_t w = 0; w < session->write_count; w++) {
        const struct session_write *write = &session->writes[w];
        if (write->table == table && is_of(write, row)) {
            return true;
        }
    }
    return false;
}
