/* What serializable transactions have read: rows by their keys, and rows that a predicate matches,
 * those included that are not there yet. No error is planted here: a 40001 of PostgreSQL that the
 * store does not ask for is taken over as a cautious one, so that lockstep would not show it. Courses
 * do (sim/tests/courses.h). */
#include "sim/session_inside.h"

#include "model/check.h"

/* ---- rows ------------------------------------------------------------------------------------ */

/* What one transaction has read. */
struct notes {
    struct session_item *items;
    uint16_t *count;
    bool *all;
};

static void note(struct notes notes, uint8_t table, int64_t key)
{
    for (uint16_t r = 0; r < *notes.count; r++) {
        if (notes.items[r].table == table && notes.items[r].key == key) {
            return;
        }
    }
    if (*notes.count == SESSION_READS_MAX) {
        *notes.all = true;
        return;
    }
    notes.items[(*notes.count)++] = (struct session_item){table, key};
}

static struct notes of_session(struct session *session)
{
    return (struct notes){session->reads, &session->read_count, &session->reads_all};
}

void session_note_read(struct session *session, uint8_t table, int64_t key)
{
    if (session->bundle.isolation == SERIALIZABLE) {
        note(of_session(session), table, key);
    }
}

/* ---- predicates ------------------------------------------------------------------------------ */

/* The row is one that decides what was found: it matches, and does not stand after what was. */
static bool decides(const struct session_look *look, const struct seen *row)
{
    if (!row->there || row->cells[1 + look->column] != look->a) {
        return false;
    }
    if (look->kind == OP_EVERY) {
        return true;
    }
    int64_t rank = row->cells[1 + look->order];
    bool after = look->found != 0 &&
                 (rank > look->rank || (rank == look->rank && row->cells[0] > look->found));
    return row->cells[1 + look->beside] == look->b && rank < look->c && !after;
}

/* The row names one that decides. */
static bool names_one(const struct sessions *sessions, const struct session_look *look,
                      const struct seen *row)
{
    struct seen named;
    uint32_t snapshot =
        look->snapshot < sessions->version_count ? look->snapshot : sessions->version_count;
    if (!row->there || row->cells[look->unnamed] == 0) {
        return false;
    }
    session_committed_row(sessions, snapshot, (enum row_table)look->table,
                          row->cells[look->unnamed], &named);
    return decides(look, &named);
}

/* This change of a row is one that the look would have had to see. */
static bool is_seen_by(const struct sessions *sessions, const struct session_look *look,
                       const struct seen *before, const struct seen *after)
{
    bool renames =
        look->unnamed != 0 && (before->there != after->there ||
                               before->cells[look->unnamed] != after->cells[look->unnamed]);
    return decides(look, before) || decides(look, after) ||
           (renames && (names_one(sessions, look, before) || names_one(sessions, look, after)));
}

/* What commits changed of what the look would have had to see, whether before it or since. */
static void note_changes(struct sessions *sessions, struct session *session,
                         const struct session_look *look)
{
    for (uint32_t v = 0; v < sessions->version_count; v++) {
        const struct row_change *change = &sessions->versions[v];
        if (change->table != look->table) {
            continue;
        }
        enum row_table table = (enum row_table)look->table;
        int64_t key = row_key(&sessions->world->rows, table, change->slot);
        struct seen before, after;
        session_committed_row(sessions, v, table, key, &before);
        session_committed_row(sessions, v + 1, table, key, &after);
        if (is_seen_by(sessions, look, &before, &after)) {
            session_note_read(session, look->table, key);
        }
    }
}

void session_note_look(struct doing *doing, const struct seen *found)
{
    const struct op *op = doing->op;
    struct session *session = doing->session;
    if (session->bundle.isolation != SERIALIZABLE) {
        return;
    }
    bool is = op->kind == OP_FIND && found->there;
    struct session_look look = {.kind = op->kind,
                                .table = op->table,
                                .column = op->column,
                                .beside = op->beside,
                                .order = op->order,
                                .unnamed = op->unnamed,
                                .a = meaning_operand(&doing->frame, op->a),
                                .b = meaning_operand(&doing->frame, op->b),
                                .c = meaning_operand(&doing->frame, op->c),
                                .found = is ? found->cells[0] : 0,
                                .rank = is ? found->cells[1 + op->order] : 0,
                                .snapshot = session->snapshot};
    if (is && found->insert < 0) {
        session_note_read(session, op->table, look.found);
    }
    if (session->look_count == SESSION_LOOKS_MAX) {
        session->reads_all = true;
        return;
    }
    session->looks[session->look_count++] = look;
    note_changes(doing->sessions, session, &look);
}

/* ---- a commit -------------------------------------------------------------------------------- */

/* Notes the rows that the session writes and one of the looks would have had to see. */
static void note_writes(const struct sessions *sessions, const struct session *session,
                        const struct session_look *looks, uint8_t count, struct notes notes)
{
    for (uint16_t w = 0; w < session->write_count && count > 0; w++) {
        const struct session_write *write = &session->writes[w];
        enum row_table table = (enum row_table)write->table;
        struct seen before, after;
        session_committed_row(sessions, sessions->version_count, table, write->key, &before);
        after = before;
        session_add_own_writes(session, table, write->key, -1, &after);
        for (uint8_t l = 0; l < count; l++) {
            if (looks[l].table == write->table &&
                is_seen_by(sessions, &looks[l], &before, &after)) {
                note(notes, write->table, write->key);
            }
        }
    }
}

void session_noted_by_history(struct sessions *sessions, const struct session *session)
{
    for (uint32_t h = 0; h < sessions->history_count; h++) {
        struct session_record *record = &sessions->history[h];
        note_writes(sessions, session, record->looks, record->look_count,
                    (struct notes){record->reads, &record->read_count, &record->reads_all});
    }
}

void session_noted_by_open(struct sessions *sessions, const struct session *session)
{
    for (uint32_t open = sessions->open; open != 0;) {
        struct session *other = &sessions->each[sessions_take(&open)];
        if (other != session) {
            note_writes(sessions, session, other->looks, other->look_count, of_session(other));
        }
    }
}
