/* What each operation does in a session: sees, locks, waits, writes. */
#include "sim/session_inside.h"

#include "model/check.h"
#include "model/rights.h"

#include <string.h>

#define QUEUE_FRONT 8 /* messages that are looked at before all are */

/* ---- seeing and locking ---------------------------------------------------------------------- */

/* The row as of the statement's snapshot, or its latest version. */
static void see(const struct doing *doing, enum row_table table, int64_t key, bool latest,
                struct seen *row)
{
    const struct sessions *sessions = doing->sessions;
    struct session *session = doing->session;
    session_committed_row(sessions, latest ? sessions->version_count : session->snapshot, table,
                          key, row);
    if (!sessions->rules->sees_committed_only) {
        session_add_dirty_writes(sessions, doing->who, table, key, row);
    }
    if (sessions->rules->sees_own_writes) {
        bool looks_only = doing->one_statement && !doing->op->fresh &&
                          (doing->op->kind == OP_READ || doing->op->kind == OP_FIND);
        session_add_own_writes(session, table, key, looks_only ? session->statement : -1, row);
    }
}

static enum effect wait(struct doing *doing, enum session_wait_kind kind, uint8_t table,
                        uint32_t slot, int64_t key, uint8_t mode)
{
    struct session *session = doing->session;
    if (session->state != SESSION_WAITS || session->wait_kind != kind ||
        session->wait_table != table || session->wait_slot != slot || session->wait_key != key) {
        session->wait_since = doing->sessions->waits++;
    }
    session->wait_kind = (uint8_t)kind;
    session->wait_table = table;
    session->wait_slot = slot;
    session->wait_key = key;
    session->wait_mode = mode;
    return EFFECT_WAITS;
}

/* Others that have the row locked have it beside this session from now on, also when it ends. True:
 * there are some. */
static bool go_beside(struct sessions *sessions, unsigned who, uint8_t table, uint32_t slot)
{
    bool any = false;
    for (uint32_t others = sessions_others(sessions, who); others != 0;) {
        struct session *other = &sessions->each[sessions_take(&others)];
        for (uint16_t l = 0; l < other->lock_count; l++) {
            struct session_lock *lock = &other->locks[l];
            if (lock->table == table && lock->slot == slot) {
                lock->beside = any = true;
            }
        }
    }
    return any;
}

static void take_lock(struct sessions *sessions, unsigned who, uint8_t table, uint32_t slot,
                      uint8_t mode)
{
    struct session *session = &sessions->each[who];
    bool beside = go_beside(sessions, who, table, slot);
    for (uint16_t l = 0; l < session->lock_count; l++) {
        struct session_lock *lock = &session->locks[l];
        if (lock->table == table && lock->slot == slot) {
            lock->mode = lock->mode > mode ? lock->mode : mode;
            lock->beside = lock->beside || beside;
            return;
        }
    }
    CHECK(session->lock_count < SESSION_LOCKS_MAX);
    session->locks[session->lock_count++] = (struct session_lock){.table = table,
                                                                  .mode = mode,
                                                                  .beside = beside,
                                                                  .slot = slot,
                                                                  .since = sessions->version_count};
}

/* The version of the row in the snapshot has been replaced, and another session that locked the row
 * before that is still open. A server then finds that version still in use, and waits for the
 * current holder of the row before it notices. */
static bool shared_with(const struct sessions *sessions, unsigned who, uint8_t table, uint32_t slot)
{
    uint32_t first = sessions->each[who].snapshot;
    while (first < sessions->version_count &&
           (sessions->versions[first].table != table || sessions->versions[first].slot != slot)) {
        first++;
    }
    for (uint32_t others = sessions_others(sessions, who); others != 0;) {
        const struct session *other = &sessions->each[sessions_take(&others)];
        for (uint16_t l = 0; l < other->lock_count; l++) {
            const struct session_lock *lock = &other->locks[l];
            if (lock->table == table && lock->slot == slot && lock->since <= first) {
                return true;
            }
        }
    }
    return false;
}

/* FOR KEY SHARE goes beside an update, so the version that is seen is no reason to skip; a server
 * then locks the versions after it, too, and waits there whatever it was asked to skip. */
static bool waits_behind(const struct sessions *sessions, uint32_t has_it, uint8_t table,
                         uint32_t slot, bool looks_back)
{
    bool behind = looks_back;
    for (uint32_t s = 0; s < sessions->count; s++) {
        behind = behind ||
                 ((has_it >> s & 1) != 0 && session_goes_beside(&sessions->each[s], table, slot));
    }
    return behind && sessions->rules->skip_stops_at_first;
}

/* A session that follows a row to its latest version waits for the transaction that is about to
 * replace it, in every mode: also FOR KEY SHARE, which does not conflict with an update of the
 * version that it sees. */
static bool is_under_way(const struct doing *doing, uint8_t table, int64_t key)
{
    return sessions_writers(doing->sessions, doing->who, table, key) != 0;
}

/* Locks a committed row that the session sees, and brings its copy up to date. */
static enum effect lock_row(struct doing *doing, enum row_table table, uint8_t mode, bool skips,
                            struct seen *row)
{
    struct sessions *sessions = doing->sessions;
    struct session *session = doing->session;
    enum since since =
        session_changed_since(sessions, session->snapshot, (uint8_t)table, row->slot);
    bool looks_back =
        mode == LOCK_KEY_SHARE && since == SINCE_UPDATED && sessions->rules->key_share_looks_back;
    uint32_t has_it = sessions_holders(sessions, doing->who, (uint8_t)table, row->slot, mode);
    if (since != SINCE_NOTHING && !looks_back && session->bundle.isolation == SERIALIZABLE &&
        sessions->rules->first_updater_wins &&
        (has_it == 0 || !shared_with(sessions, doing->who, (uint8_t)table, row->slot))) {
        return EFFECT_ABORTED; /* without waiting for the current holder */
    }
    if (has_it != 0) {
        bool behind = mode == LOCK_KEY_SHARE &&
                      waits_behind(sessions, has_it, (uint8_t)table, row->slot, looks_back);
        if (skips && sessions->rules->skip_locked && !behind) {
            row->there = false;
            return EFFECT_DONE;
        }
        return wait(doing, WAIT_ROW, (uint8_t)table, row->slot, row->cells[0], mode);
    }
    if (since == SINCE_DELETED && sessions->rules->gone_is_gone) {
        row->there = false;
        return EFFECT_DONE;
    }
    if (since == SINCE_REPLACED && is_under_way(doing, (uint8_t)table, row->cells[0])) {
        return wait(doing, WAIT_KEY, (uint8_t)table, ROW_NONE, row->cells[0], mode);
    }
    take_lock(sessions, doing->who, (uint8_t)table, row->slot, mode);
    if (since != SINCE_NOTHING && !looks_back) {
        int64_t key = row->cells[0];
        session_committed_row(sessions, sessions->version_count, table, key, row);
        session_add_own_writes(session, table, key, -1, row);
    }
    return EFFECT_DONE;
}

/* ---- operations ------------------------------------------------------------------------------ */

static enum principal principal_of(const struct doing *doing)
{
    return (enum principal)doing->session->bundle.principal;
}

static uint8_t lock_for(const struct doing *doing)
{
    return doing->op->lock != LOCK_USUAL ? doing->op->lock
                                         : doing->sessions->rules->locks[doing->op->kind];
}

static enum effect absent(struct doing *doing)
{
    const struct op *op = doing->op;
    meaning_give(&doing->frame, op->returns, 0);
    meaning_give(&doing->frame, op->found, 0);
    doing->reason = meaning_absent(op);
    return op->kind == OP_READ ? EFFECT_DONE : EFFECT_MISSED;
}

/* A row of a table that refers to the deleted one. A committed one is locked, so that it remains
 * the reason, and waited for if it is about to be deleted itself. */
static enum effect look_at_child(struct doing *doing, enum row_table table,
                                 const struct foreign_key *refers, uint32_t slot, int64_t key)
{
    struct sessions *sessions = doing->sessions;
    struct session *session = doing->session;
    struct seen child;
    int64_t child_key = row_key(&sessions->world->rows, table, slot);
    session_committed_row(sessions, session->looks_from, table, child_key, &child);
    if (!child.there || child.slot != slot) {
        return EFFECT_DONE;
    }
    session_add_own_writes(session, table, child_key, -1, &child);
    if (!child.there || child.insert >= 0 || child.cells[1 + refers->column] != key) {
        return EFFECT_DONE;
    }
    enum since since = session_changed_since(sessions, session->looks_from, (uint8_t)table, slot);
    if (since >= SINCE_REPLACED && session->bundle.isolation == SERIALIZABLE &&
        sessions->rules->first_updater_wins) {
        return EFFECT_ABORTED;
    }
    if (since == SINCE_DELETED) {
        return EFFECT_DONE;
    }
    if (sessions_holders(sessions, doing->who, (uint8_t)table, slot,
                         sessions->rules->parent_lock) != 0) {
        return wait(doing, WAIT_ROW, (uint8_t)table, slot, child_key, sessions->rules->parent_lock);
    }
    go_beside(sessions, doing->who, (uint8_t)table, slot); /* it is locked, and the delete fails */
    return EFFECT_IMPOSSIBLE;
}

static bool has_own_child(const struct doing *doing, enum row_table table,
                          const struct foreign_key *refers, int64_t key)
{
    const struct session *session = doing->session;
    for (uint16_t w = 0; w < session->write_count; w++) {
        const struct session_write *write = &session->writes[w];
        struct seen child = {.insert = -1, .slot = ROW_NONE};
        if (write->kind != SESSION_INSERTS || write->table != table) {
            continue;
        }
        session_add_own_writes(session, table, write->key, -1, &child);
        if (child.there && child.cells[1 + refers->column] == key) {
            return true;
        }
    }
    return false;
}

/* The rows of a table that refer to the deleted one by this key. */
static enum effect look_in_table(struct doing *doing, enum row_table table,
                                 const struct foreign_key *refers, int64_t key)
{
    const struct row_area *area = &doing->sessions->world->rows.table[table];
    for (uint32_t slot = 0; slot < area->used; slot++) {
        enum effect effect = look_at_child(doing, table, refers, slot, key);
        if (effect != EFFECT_DONE) {
            return effect;
        }
    }
    return has_own_child(doing, table, refers, key) ? EFFECT_IMPOSSIBLE : EFFECT_DONE;
}

/* Checks for rows that refer to the deleted one (23503), key by key in the order in which the
 * foreign keys were made. */
static enum effect look_for_children(struct doing *doing, enum row_table parent, int64_t key)
{
    struct sessions *sessions = doing->sessions;
    if (doing->session->looks_from == SESSION_NO_SNAPSHOT) {
        doing->session->looks_from = sessions->version_count;
    }
    doing->reason = REFUSED_NO_PARENT;
    for (int t = 0; t < TABLE_COUNT && sessions->rules->children; t++) {
        for (const struct foreign_key *k = primitive_foreign_keys[t]; k->there; k++) {
            enum effect effect = k->parent == parent && !(k->optional && key == 0)
                                     ? look_in_table(doing, (enum row_table)t, k, key)
                                     : EFFECT_DONE;
            if (effect != EFFECT_DONE) {
                return effect;
            }
        }
    }
    return EFFECT_DONE;
}

/* The parent of a row that was written must exist, and stay until the transaction ends. */
static enum effect lock_parent(struct doing *doing, const struct foreign_key *key,
                               const int64_t *columns)
{
    struct sessions *sessions = doing->sessions;
    struct session *session = doing->session;
    if (sessions->world->rows.table[key->parent].capacity == 0 || !sessions->rules->parents ||
        !foreign_key_applies(key, columns)) {
        return EFFECT_DONE;
    }
    enum row_table parent = (enum row_table)key->parent;
    bool serializable = session->bundle.isolation == SERIALIZABLE;
    if (session->looks_from == SESSION_NO_SNAPSHOT) {
        session->looks_from = serializable ? session->snapshot : sessions->version_count;
    }
    struct seen row;
    session_committed_row(sessions, session->looks_from, parent, columns[key->column], &row);
    session_add_own_writes(session, parent, columns[key->column], -1, &row);
    if (row.insert < 0) { /* its own new row is no read of what others did */
        session_note_read(session, (uint8_t)parent, columns[key->column]);
    }
    doing->reason = REFUSED_NO_PARENT;
    if (!row.there) {
        return EFFECT_IMPOSSIBLE;
    }
    if (row.insert >= 0 || sessions->rules->parent_lock == LOCK_NONE) {
        return EFFECT_DONE;
    }
    enum since since =
        session_changed_since(sessions, session->looks_from, (uint8_t)parent, row.slot);
    if (serializable && sessions->rules->first_updater_wins && since >= SINCE_REPLACED) {
        return EFFECT_ABORTED;
    }
    if (sessions_holders(sessions, doing->who, (uint8_t)parent, row.slot,
                         sessions->rules->parent_lock) != 0) {
        return wait(doing, WAIT_ROW, (uint8_t)parent, row.slot, row.cells[0],
                    sessions->rules->parent_lock);
    }
    if (since == SINCE_DELETED) {
        return EFFECT_IMPOSSIBLE;
    }
    if (since == SINCE_REPLACED && is_under_way(doing, (uint8_t)parent, row.cells[0])) {
        return wait(doing, WAIT_KEY, (uint8_t)parent, ROW_NONE, row.cells[0],
                    sessions->rules->parent_lock);
    }
    take_lock(sessions, doing->who, (uint8_t)parent, row.slot, sessions->rules->parent_lock);
    return EFFECT_DONE;
}

/* What a statement has just written must refer to rows that are there. The keys are checked one
 * after the other, each with a snapshot of its own. Goes on here, too, after a wait for a parent. */
static enum effect check_parents(struct doing *doing, enum row_table table, int64_t key)
{
    struct sessions *sessions = doing->sessions;
    struct session *session = doing->session;
    const struct foreign_key *keys = primitive_foreign_keys[table];
    struct seen row;
    session_committed_row(sessions, sessions->version_count, table, key, &row);
    session_add_own_writes(session, table, key, -1, &row);
    enum effect effect = EFFECT_DONE;
    for (int k = 0; row.there && keys[k].there; k++) {
        if ((session->unchecked >> k & 1) == 0) {
            continue;
        }
        effect = lock_parent(doing, &keys[k], &row.cells[1]);
        if (effect != EFFECT_DONE) {
            break;
        }
        session->unchecked &= ~(UINT32_C(1) << k);
        session->looks_from = SESSION_NO_SNAPSHOT;
    }
    session->written = effect == EFFECT_WAITS;
    session->unchecked = effect == EFFECT_WAITS ? session->unchecked : 0;
    return effect;
}

/* The foreign keys that a server checks after an update of this cell. All of them, if the
 * transaction has written the row before: it looks at who made the version that is replaced. */
static uint32_t keys_to_check(const struct doing *doing, const struct session_write *write,
                              const struct seen *row)
{
    const struct session_claims *rules = doing->sessions->rules;
    enum row_table table = (enum row_table)write->table;
    uint32_t moved = 0;
    if (rules->checks_anew && !doing->op->joins &&
        session_written_before(doing->session, table, row)) {
        return UINT32_MAX;
    }
    for (int k = 0; rules->checks_moved && primitive_foreign_keys[table][k].there; k++) {
        bool names_another = primitive_foreign_keys[table][k].column == write->column &&
                             row->cells[1 + write->column] != write->value;
        moved |= (uint32_t)names_another << k;
    }
    return moved;
}

/* Updates a row, which may then refer to another one. */
static enum effect update(struct doing *doing, struct session_write write, const struct seen *row)
{
    doing->session->unchecked = keys_to_check(doing, &write, row);
    session_write_to(doing->session, write);
    return doing->session->unchecked != 0
               ? check_parents(doing, (enum row_table)write.table, write.key)
               : EFFECT_DONE;
}

/* In a primitive that is one statement, a row that the statement has updated already: a second
 * update is lost without a word (E-ACL-24). */
static bool is_lost(const struct doing *doing, enum row_table table, const struct seen *row)
{
    return doing->one_statement && !doing->op->joins &&
           doing->sessions->rules->one_update_a_statement &&
           session_written_by_statement(doing->session, table, row);
}

/* The row that is tested and written: `row` is its latest version, `tested` the version that is
 * tested, `before` the cell in the snapshot. The three differ only for planted errors. */
static enum effect reach_row(struct doing *doing, enum row_table table, int64_t key,
                             struct seen *row, struct seen *tested, int64_t *before)
{
    see(doing, table, key, doing->op->fresh, row);
    session_note_read(doing->session, doing->op->table, key);
    *tested = *row;
    *before = row->cells[1 + doing->op->column];
    uint8_t lock = lock_for(doing);
    if (!row->there || lock == LOCK_NONE || row->insert >= 0) {
        return EFFECT_DONE;
    }
    enum effect effect = lock_row(doing, table, lock, doing->op->skips, row);
    if (effect == EFFECT_DONE && doing->sessions->rules->tests_anew) {
        *tested = *row;
    }
    return effect;
}

/* Nobody may refer to the row that is gone. Goes on here, too, after a wait for a child. */
static enum effect check_children(struct doing *doing, enum row_table table, int64_t key)
{
    enum effect effect = look_for_children(doing, table, key);
    doing->session->written = effect == EFFECT_WAITS;
    return effect;
}

/* The row goes before its children are looked for: who inserts its key meanwhile has to wait. */
static enum effect delete_row(struct doing *doing, enum row_table table, struct session_write write)
{
    if (doing->sessions->rules->deletes_first) {
        session_write_to(doing->session, write);
        return check_children(doing, table, write.key);
    }
    enum effect effect = look_for_children(doing, table, write.key);
    if (effect == EFFECT_DONE) {
        session_write_to(doing->session, write);
    }
    return effect;
}

/* ADD, SET and DELETE of a row that passed its test; `cell` is what it holds afterwards. */
static enum effect write_row(struct doing *doing, enum row_table table, const struct seen *row,
                             int64_t before, int64_t *cell)
{
    const struct op *op = doing->op;
    struct session_write write = {.kind = op->kind == OP_DELETE ? SESSION_DELETES : SESSION_SETS,
                                  .table = op->table,
                                  .column = op->column,
                                  .insert = row->insert,
                                  .slot = row->slot,
                                  .key = row->cells[0]};
    if (is_lost(doing, table, row)) {
        return EFFECT_DONE;
    }
    if (op->kind == OP_DELETE) {
        return delete_row(doing, table, write);
    }
    write.value = meaning_written(&doing->frame, op,
                                  doing->sessions->rules->writes_on_latest ? *cell : before);
    *cell = write.value;
    return update(doing, write, row);
}

/* READ, TEST, ADD, SET and DELETE: they look at one cell of one row. */
static enum effect on_cell(struct doing *doing)
{
    const struct op *op = doing->op;
    enum row_table table = (enum row_table)op->table;
    int64_t key = meaning_operand(&doing->frame, op->key);
    struct seen row, tested;
    if (doing->session->written) { /* and waited for the parent, or for children */
        return op->kind == OP_DELETE ? check_children(doing, table, key)
                                     : check_parents(doing, table, key);
    }
    int64_t before = 0;
    enum effect effect = reach_row(doing, table, key, &row, &tested, &before);
    if (effect != EFFECT_DONE || !row.there) {
        return effect == EFFECT_DONE ? absent(doing) : effect;
    }
    int64_t cell = row.cells[1 + op->column];
    bool passed = meaning_passes(&doing->frame, op, tested.cells);
    if (!passed && meaning_divides_by_0(&doing->frame, op)) {
        doing->reason = REFUSED_UNCLASSIFIED;
        return EFFECT_IMPOSSIBLE;
    }
    if (passed && op->kind != OP_READ && op->kind != OP_TEST) {
        effect = write_row(doing, table, &row, before, &cell);
    }
    if (effect == EFFECT_IMPOSSIBLE || effect == EFFECT_ABORTED ||
        (effect == EFFECT_WAITS && !doing->session->written)) {
        return effect;
    }
    meaning_give(&doing->frame, op->returns, cell);
    meaning_give(&doing->frame, op->found, passed);
    doing->reason = (enum refusal)op->reason;
    return passed ? effect : EFFECT_MISSED;
}

/* A row with the new key exists: RECORD counts in it, INSERT misses. */
static enum effect conflict(struct doing *doing, enum row_table table, struct seen *row)
{
    struct session *session = doing->session;
    const struct session_claims *rules = doing->sessions->rules;
    const struct op *op = doing->op;
    bool serializable = session->bundle.isolation == SERIALIZABLE;
    int last = (int)doing->sessions->world->rows.table[table].stride - 1;
    doing->reason = REFUSED_EXISTS;
    if (op->kind != OP_RECORD) {
        bool fails = meaning_missed(op, &session->bundle.calls[session->call]) == CALL_REFUSED;
        struct seen visible;
        see(doing, table, row->cells[0], false, &visible);
        bool unseen =
            !visible.there ||
            (row->insert < 0 && session_changed_since(doing->sessions, session->snapshot, op->table,
                                                      row->slot) != SINCE_NOTHING);
        return serializable && !fails && unseen && rules->conflict_unseen_fails ? EFFECT_ABORTED
                                                                                : EFFECT_MISSED;
    }
    if (row->insert < 0) {
        struct seen visible;
        see(doing, table, row->cells[0], false, &visible);
        if (sessions_holders(doing->sessions, doing->who, op->table, row->slot,
                             LOCK_NO_KEY_UPDATE) != 0) {
            return wait(doing, WAIT_ROW, op->table, row->slot, row->cells[0], LOCK_NO_KEY_UPDATE);
        }
        bool unseen =
            !visible.there || session_changed_since(doing->sessions, session->snapshot, op->table,
                                                    row->slot) != SINCE_NOTHING;
        if (serializable && unseen && rules->first_updater_wins) {
            return EFFECT_ABORTED;
        }
        take_lock(doing->sessions, doing->who, op->table, row->slot, LOCK_NO_KEY_UPDATE);
    }
    struct session_write write = {.kind = SESSION_SETS,
                                  .table = op->table,
                                  .column = (uint8_t)(last - 1),
                                  .insert = row->insert,
                                  .slot = row->slot,
                                  .key = row->cells[0],
                                  .value = row->cells[last] + 1};
    return update(doing, write, row);
}

static enum effect insert(struct doing *doing)
{
    struct sessions *sessions = doing->sessions;
    struct session *session = doing->session;
    const struct op *op = doing->op;
    enum row_table table = (enum row_table)op->table;
    int64_t key = meaning_operand(&doing->frame, op->key);
    int64_t columns[ROW_COLUMNS_MAX] = {0}; /* all of it is kept, and may be hashed */
    bool whole =
        meaning_columns(&doing->frame, op, sessions->world->rows.table[table].stride - 1, columns);
    if (sessions->rules->policies && !rights_allow_row(principal_of(doing), table, columns)) {
        doing->reason = REFUSED_FORBIDDEN;
        return EFFECT_IMPOSSIBLE;
    }
    if (!whole && sessions->rules->not_null) {
        doing->reason = REFUSED_NULL;
        return EFFECT_IMPOSSIBLE;
    }
    if (!session->written) {
        struct seen row;
        if (sessions->rules->unique_waits &&
            sessions_writers(sessions, doing->who, op->table, key) != 0) {
            return wait(doing, WAIT_KEY, op->table, ROW_NONE, key, LOCK_UPDATE);
        }
        see(doing, table, key, true, &row); /* as the unique index sees it; not a read of the
                                               transaction */
        if (row.there && (sessions->rules->unique || op->kind == OP_RECORD)) {
            return conflict(doing, table, &row);
        }
        CHECK(session->insert_count < SESSION_INSERTS_MAX);
        memcpy(session->inserts[session->insert_count], columns, sizeof columns);
        session_write_to(session, (struct session_write){.kind = SESSION_INSERTS,
                                                         .table = op->table,
                                                         .insert = (int8_t)session->insert_count++,
                                                         .slot = ROW_NONE,
                                                         .key = key});
        session->unchecked = UINT32_MAX;
    }
    return check_parents(doing, table, key);
}

/* Due earlier, or at the same time with a lower key. */
static bool is_due_before(const struct seen *left, const struct seen *right)
{
    int64_t first = left->cells[1 + MESSAGE_VISIBLE_AT],
            second = right->cells[1 + MESSAGE_VISIBLE_AT];
    return first != second ? first < second : left->cells[0] < right->cells[0];
}

/* The session sees of every committed message what its row holds now, and there are no others. */
static bool sees_the_queue(const struct doing *doing)
{
    const struct sessions *sessions = doing->sessions;
    return sessions->rules->sees_committed_only && doing->session->write_count == 0 &&
           doing->session->snapshot == sessions->version_count;
}

/* The slot of the message that is due first and that no session has locked, by the order of the
 * queue, since a long one takes long to go through; ROW_NONE: it is not among the first. */
static uint32_t first_of_queue(const struct doing *doing)
{
    const struct sessions *sessions = doing->sessions;
    uint32_t slots[QUEUE_FRONT];
    uint32_t count = world_visible(sessions->world, QUEUE_FRONT, slots);
    for (uint32_t i = 0; i < count; i++) {
        if (sessions_holders(sessions, doing->who, TABLE_MESSAGE, slots[i], LOCK_UPDATE) == 0 ||
            !sessions->rules->skip_locked) {
            return slots[i];
        }
    }
    return ROW_NONE;
}

/* The message that is due first of those that no session has locked, the session's own new ones
 * included. */
static void pick_message(struct doing *doing, struct seen *best)
{
    struct sessions *sessions = doing->sessions;
    uint32_t first = sees_the_queue(doing) ? first_of_queue(doing) : ROW_NONE;
    if (first != ROW_NONE) {
        see(doing, TABLE_MESSAGE, row_key(&sessions->world->rows, TABLE_MESSAGE, first), false,
            best);
        best->there = best->cells[1 + MESSAGE_VISIBLE_AT] <= doing->session->now;
        return;
    }
    const struct session *session = doing->session;
    uint32_t committed = sessions->world->rows.table[TABLE_MESSAGE].used;
    for (uint32_t i = 0; i < committed + session->write_count; i++) {
        struct seen row;
        bool own = i >= committed;
        const struct session_write *write = own ? &session->writes[i - committed] : NULL;
        if (own && (write->kind != SESSION_INSERTS || write->table != TABLE_MESSAGE)) {
            continue;
        }
        see(doing, TABLE_MESSAGE,
            own ? write->key : row_key(&sessions->world->rows, TABLE_MESSAGE, i), false, &row);
        bool locked =
            !own && sessions_holders(sessions, doing->who, TABLE_MESSAGE, i, LOCK_UPDATE) != 0;
        bool is_this = own ? row.insert == write->insert : row.insert < 0 && row.slot == i;
        if (row.there && is_this && row.cells[1 + MESSAGE_VISIBLE_AT] <= session->now &&
            !(locked && sessions->rules->skip_locked) &&
            (!best->there || is_due_before(&row, best))) {
            *best = row;
        }
    }
}

/* A row of the operation's table, as far as the session sees it: all committed ones, then its own
 * new ones. False: there are no more. */
static bool next_row(const struct doing *doing, uint32_t *at, struct seen *row)
{
    const struct session *session = doing->session;
    enum row_table table = (enum row_table)doing->op->table;
    const struct rows *rows = &doing->sessions->world->rows;
    uint32_t committed = rows->table[table].used;
    for (; *at < committed + session->write_count; (*at)++) {
        const struct session_write *write =
            *at < committed ? NULL : &session->writes[*at - committed];
        if (write == NULL || (write->kind == SESSION_INSERTS && write->table == doing->op->table)) {
            see(doing, table, write == NULL ? row_key(rows, table, *at) : write->key, false, row);
            (*at)++;
            return true;
        }
    }
    return false;
}

static bool is_named(const struct doing *doing, int64_t key)
{
    struct seen row;
    for (uint32_t at = 0; doing->op->unnamed != 0 && next_row(doing, &at, &row);) {
        if (row.there && row.cells[doing->op->unnamed] == key) {
            return true;
        }
    }
    return false;
}

/* A plain read of an index, the session's own new rows included. */
static enum effect find(struct doing *doing)
{
    const struct op *op = doing->op;
    struct seen row, best = {.there = false};
    for (uint32_t at = 0; next_row(doing, &at, &row);) {
        if (row.there && meaning_fits(&doing->frame, op, row.cells) &&
            (!best.there || meaning_stands_before(op, row.cells, best.cells)) &&
            !is_named(doing, row.cells[0])) {
            best = row;
        }
    }
    session_note_look(doing, &best);
    meaning_give(&doing->frame, op->returns, best.there ? best.cells[0] : 0);
    return EFFECT_DONE;
}

/* The row with the next higher key that EVERY is about; false: there is none. */
static bool next_of_every(const struct doing *doing, bool first, int64_t last, struct seen *next)
{
    int64_t a = meaning_operand(&doing->frame, doing->op->a);
    struct seen row;
    next->there = false;
    for (uint32_t at = 0; next_row(doing, &at, &row);) {
        if (row.there && row.cells[1 + doing->op->column] == a && (first || row.cells[0] > last) &&
            (!next->there || row.cells[0] < next->cells[0])) {
            *next = row;
        }
    }
    return next->there;
}

/* All rows that are named are locked, whatever the first of them holds. */
static enum effect every(struct doing *doing)
{
    const struct op *op = doing->op;
    enum row_table table = primitive_named_table(op);
    struct seen row, named = {.there = false};
    bool passed = true;
    for (bool first = true; next_of_every(doing, first, first ? 0 : row.cells[0], &row);
         first = false) {
        int64_t key = row.cells[1 + op->beside];
        see(doing, table, key, false, &named);
        session_note_read(doing->session, (uint8_t)table, key);
        uint8_t lock = lock_for(doing);
        enum effect effect = !named.there || lock == LOCK_NONE || named.insert >= 0
                                 ? EFFECT_DONE
                                 : lock_row(doing, table, lock, false, &named);
        if (effect != EFFECT_DONE) {
            return effect;
        }
        passed = passed && (!named.there ||
                            named.cells[1 + op->order] == meaning_operand(&doing->frame, op->b));
    }
    session_note_look(doing, &row);
    doing->reason = (enum refusal)op->reason;
    return passed ? EFFECT_DONE : EFFECT_MISSED;
}

/* The message in a slot, or, of those not in use yet, one of the session's own new ones. */
static void look_up(struct doing *doing, uint32_t slot, struct seen *row)
{
    const struct world *world = doing->sessions->world;
    const struct session *session = doing->session;
    uint32_t used = world->rows.table[TABLE_MESSAGE].used;
    if (slot < used) {
        if (world->place[slot] != 0) {
            see(doing, TABLE_MESSAGE, row_key(&world->rows, TABLE_MESSAGE, slot), false, row);
        }
        return;
    }
    uint32_t before = slot - used;
    for (uint16_t w = 0; w < session->write_count; w++) {
        const struct session_write *write = &session->writes[w];
        if (write->kind == SESSION_INSERTS && write->table == TABLE_MESSAGE && before-- == 0) {
            see(doing, TABLE_MESSAGE, write->key, false, row);
            return;
        }
    }
}

static enum effect claim(struct doing *doing)
{
    struct session *session = doing->session;
    struct seen row = {.there = false};
    if (session->written) { /* and waited for the parent */
        return check_parents(doing, TABLE_MESSAGE, session->outcome.message[0]);
    }
    doing->reason = REFUSED_NO_MESSAGE;
    if (session->picked == SESSION_PICKS_ITSELF) {
        pick_message(doing, &row);
    } else if (session->picked != ROW_NONE) {
        look_up(doing, session->picked, &row);
    }
    if (!row.there) {
        return EFFECT_MISSED; /* none, or acked by an earlier call */
    }
    if (row.insert < 0) {
        enum effect locked = lock_row(doing, TABLE_MESSAGE, lock_for(doing), true, &row);
        if (locked != EFFECT_DONE || !row.there) {
            return locked == EFFECT_DONE ? EFFECT_MISSED : locked;
        }
    }
    session_note_read(session, TABLE_MESSAGE, row.cells[0]);
    struct session_write write = {
        .table = TABLE_MESSAGE, .insert = row.insert, .slot = row.slot, .key = row.cells[0]};
    row.cells[1 + MESSAGE_EPOCH]++;
    row.cells[1 + MESSAGE_VISIBLE_AT] =
        session->now + meaning_operand(&doing->frame, doing->op->value);
    write.column = MESSAGE_EPOCH;
    write.value = row.cells[1 + MESSAGE_EPOCH];
    enum effect effect = update(doing, write, &row);
    write.column = MESSAGE_VISIBLE_AT;
    write.value = row.cells[1 + MESSAGE_VISIBLE_AT];
    session_write_to(session, write);
    memcpy(session->outcome.message, row.cells, sizeof session->outcome.message);
    return effect;
}

static enum effect take_advisory(struct doing *doing)
{
    struct session *session = doing->session;
    int64_t key = meaning_operand(&doing->frame, doing->op->key);
    if (sessions_advisory_holders(doing->sessions, doing->who, key) != 0 &&
        doing->sessions->rules->advisory_waits) {
        if (!doing->sessions->rules->snapshot_before_wait && session->statement == 1) {
            session->snapshot =
                SESSION_NO_SNAPSHOT; /* a planted error: taken when the wait is over */
        }
        return wait(doing, WAIT_ADVISORY, 0, ROW_NONE, key, LOCK_UPDATE);
    }
    CHECK(session->advisory_count < SESSION_ADVISORY_MAX);
    session->advisory_statement[session->advisory_count] = session->statement;
    session->advisory[session->advisory_count++] = key;
    return EFFECT_DONE;
}

enum effect session_perform(struct doing *doing)
{
    if (doing->sessions->rules->grants && !rights_allow(principal_of(doing), doing->op)) {
        doing->reason = REFUSED_FORBIDDEN;
        return EFFECT_IMPOSSIBLE;
    }
    switch ((enum op_kind)doing->op->kind) {
    case OP_READ:
    case OP_TEST:
    case OP_ADD:
    case OP_SET:
    case OP_DELETE:
        return on_cell(doing);
    case OP_INSERT:
    case OP_RECORD:
        return insert(doing);
    case OP_CLAIM:
        return claim(doing);
    case OP_FIND:
        return find(doing);
    case OP_EVERY:
        return every(doing);
    case OP_ADVISORY:
        return take_advisory(doing);
    case OP_LET_EQUAL:
    case OP_LET_SUM:
    case OP_LET_MODULO:
        meaning_let(&doing->frame, doing->op);
        return EFFECT_DONE;
    }
    return EFFECT_DONE;
}
