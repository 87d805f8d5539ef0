#include "sim/session.h"

#include "model/check.h"
#include "sim/meaning.h"

#include <string.h>

/* What an operation came to. */
enum effect {
    EFFECT_DONE,
    EFFECT_MISSED,
    EFFECT_IMPOSSIBLE, /* refused whatever the call says */
    EFFECT_WAITS,
    EFFECT_ABORTED /* 40001 */
};

/* A row as somebody sees it: a copy, key first. */
struct seen {
    bool there;
    int8_t insert; /* which of the session's own new rows; -1: one that is committed */
    uint32_t slot;
    int64_t cells[1 + ROW_COLUMNS_MAX];
};

/* An operation under way. */
struct doing {
    struct sessions *all;
    struct session *one;
    unsigned who;
    const struct primitive *primitive;
    const struct op *op;
    struct frame frame;
    enum refusal reason;
};

/* ---- sets of sessions ------------------------------------------------------------------------ */

static bool is_open(const struct session *one)
{
    return one->state != SESSION_CLOSED;
}

uint32_t sessions_open(const struct sessions *all)
{
    uint32_t mask = 0;
    for (uint32_t s = 0; s < all->count; s++) {
        mask |= (uint32_t)is_open(&all->each[s]) << s;
    }
    return mask;
}

uint32_t sessions_waiting(const struct sessions *all)
{
    uint32_t mask = 0;
    for (uint32_t s = 0; s < all->count; s++) {
        mask |= (uint32_t)(all->each[s].state == SESSION_WAITS) << s;
    }
    return mask;
}

/* Others whose locks on the row exclude this mode. */
static uint32_t holders(const struct sessions *all, unsigned who, uint8_t table, uint32_t slot,
                        uint8_t mode)
{
    uint32_t mask = 0;
    for (uint32_t s = 0; s < all->count; s++) {
        const struct session *other = &all->each[s];
        for (uint16_t l = 0; s != who && l < other->lock_count; l++) {
            const struct session_lock *lock = &other->locks[l];
            if (lock->table == table && lock->slot == slot &&
                all->rules->conflicts[lock->mode][mode]) {
                mask |= UINT32_C(1) << s;
            }
        }
    }
    return mask;
}

/* Others who have written a row with this key and not committed. */
static uint32_t writers(const struct sessions *all, unsigned who, uint8_t table, int64_t key)
{
    uint32_t mask = 0;
    for (uint32_t s = 0; s < all->count; s++) {
        const struct session *other = &all->each[s];
        for (uint16_t w = 0; s != who && w < other->write_count; w++) {
            if (other->writes[w].table == table && other->writes[w].key == key) {
                mask |= UINT32_C(1) << s;
            }
        }
    }
    return mask;
}

static uint32_t advisory_holders(const struct sessions *all, unsigned who, int64_t key)
{
    uint32_t mask = 0;
    for (uint32_t s = 0; s < all->count; s++) {
        const struct session *other = &all->each[s];
        for (uint8_t a = 0; s != who && a < other->advisory_count; a++) {
            mask |= (uint32_t)(other->advisory[a] == key) << s;
        }
    }
    return mask;
}

bool sessions_locked(const struct sessions *all, enum row_table table, uint32_t slot)
{
    return holders(all, SESSIONS_MAX, (uint8_t)table, slot, LOCK_UPDATE) != 0;
}

uint32_t session_waits_for(const struct sessions *all, unsigned who)
{
    const struct session *one = &all->each[who];
    if (one->state != SESSION_WAITS) {
        return 0;
    }
    switch ((enum session_wait_kind)one->wait_kind) {
    case WAIT_ROW:
        return holders(all, who, one->wait_table, one->wait_slot, one->wait_mode);
    case WAIT_KEY:
        return writers(all, who, one->wait_table, one->wait_key);
    case WAIT_ADVISORY:
        return advisory_holders(all, who, one->wait_key);
    }
    return 0;
}

/* Whom each waits for, directly or through others. */
static void reach(const struct sessions *all, uint32_t reached[SESSIONS_MAX])
{
    for (uint32_t s = 0; s < all->count; s++) {
        reached[s] = session_waits_for(all, s);
    }
    for (uint32_t via = 0; via < all->count; via++) {
        for (uint32_t s = 0; s < all->count; s++) {
            reached[s] |= (reached[s] >> via & 1) != 0 ? reached[via] : 0;
        }
    }
}

uint32_t session_deadlock(const struct sessions *all, unsigned who)
{
    uint32_t reached[SESSIONS_MAX], cycle = 0;
    reach(all, reached);
    for (uint32_t s = 0; s < all->count && (reached[who] >> who & 1) != 0; s++) {
        cycle |= (uint32_t)((reached[s] >> who & 1) != 0) << s;
    }
    return cycle;
}

uint32_t sessions_stuck(const struct sessions *all)
{
    uint32_t stuck = sessions_waiting(all), before = 0;
    while (stuck != before) {
        before = stuck;
        for (uint32_t s = 0; s < all->count; s++) {
            uint32_t others = session_waits_for(all, s);
            stuck &= others == 0 || (others & ~stuck) != 0 ? ~(UINT32_C(1) << s) : UINT32_MAX;
        }
    }
    return stuck;
}

bool session_queues(const struct sessions *all, unsigned who)
{
    const struct session *one = &all->each[who];
    for (uint32_t s = 0; s < all->count && one->wait_kind == WAIT_ROW; s++) {
        const struct session *other = &all->each[s];
        if (s != who && other->state == SESSION_WAITS && other->wait_kind == WAIT_ROW &&
            other->wait_since < one->wait_since && other->wait_table == one->wait_table &&
            other->wait_slot == one->wait_slot &&
            all->rules->conflicts[other->wait_mode][one->wait_mode]) {
            return true;
        }
    }
    return false;
}

bool session_may_abort(const struct sessions *all, unsigned who)
{
    const struct session *one = &all->each[who];
    if (one->bundle.isolation != SERIALIZABLE || one->snapshot == SESSION_NO_SNAPSHOT) {
        return false;
    }
    for (uint32_t s = 0; s < all->count; s++) {
        const struct session *other = &all->each[s];
        if (s != who && is_open(other) && other->bundle.isolation == SERIALIZABLE &&
            other->snapshot != SESSION_NO_SNAPSHOT) {
            return true;
        }
    }
    for (uint32_t h = 0; h < all->history_count; h++) {
        if (all->history[h].commit > one->start) {
            return true;
        }
    }
    return false;
}

/* ---- versions -------------------------------------------------------------------------------- */

static bool anybody_looks_back(const struct sessions *all)
{
    for (uint32_t s = 0; s < all->count; s++) {
        if (all->each[s].snapshot != SESSION_NO_SNAPSHOT) {
            return true;
        }
    }
    return false;
}

static void forget_versions(struct sessions *all)
{
    all->version_count = 0;
    for (uint32_t s = 0; s < all->count; s++) {
        for (uint16_t l = 0; l < all->each[s].lock_count; l++) {
            all->each[s].locks[l].since = 0;
        }
    }
}

/* The log is full: whoever could need its beginning loses its connection. */
static void cut_off(struct sessions *all)
{
    for (uint32_t s = 0; s < all->count; s++) {
        if (all->each[s].snapshot != SESSION_NO_SNAPSHOT) {
            session_abort(all, s, ABORT_CONNECTION);
        }
    }
    forget_versions(all);
}

static void note_version(struct sessions *all, struct row_change change, bool replaced)
{
    if (all->version_count == SESSION_VERSIONS_MAX) {
        cut_off(all);
    }
    all->replaced[all->version_count] = replaced;
    all->versions[all->version_count++] = change;
}

/* One of the session's own locks on the row is as strong as that. */
static bool has_lock(const struct session *one, uint8_t table, uint32_t slot, uint8_t mode)
{
    for (uint16_t l = 0; l < one->lock_count; l++) {
        const struct session_lock *lock = &one->locks[l];
        if (lock->table == table && lock->slot == slot) {
            return lock->mode >= mode;
        }
    }
    return false;
}

static bool replaces(const struct session *one, uint8_t table, uint32_t slot)
{
    for (uint16_t w = 0; w < one->write_count; w++) {
        const struct session_write *write = &one->writes[w];
        if (write->table == table && write->insert < 0 && write->slot == slot) {
            return write
                ->replaces; /* the first one tells: it made the version that others see go */
        }
    }
    return false;
}

static void note_changes(struct sessions *all, size_t mark, const struct session *one)
{
    for (size_t i = mark; i < all->world->change_count; i++) {
        struct row_change change = all->world->changes[i];
        bool replaced = one != NULL && replaces(one, change.table, change.slot);
        note_version(all, change, replaced);
    }
}

/* A commit; false: nobody will ever look behind it. */
static bool is_looked_behind(struct sessions *all)
{
    all->commits++;
    if (!anybody_looks_back(all)) {
        forget_versions(all);
        all->history_count = 0;
        return false;
    }
    return true;
}

void sessions_note(struct sessions *all, size_t mark)
{
    if (is_looked_behind(all)) {
        note_changes(all, mark, NULL);
    }
}

/* What commits did to a row since a snapshot. REPLACED: updated by somebody who had it FOR UPDATE,
 * which on a server looks like an update of its key. */
enum since { SINCE_NOTHING, SINCE_UPDATED, SINCE_REPLACED, SINCE_DELETED };

static enum since changed_since(const struct sessions *all, uint32_t snapshot, uint8_t table,
                                uint32_t slot)
{
    enum since since = SINCE_NOTHING;
    for (uint32_t v = snapshot; v < all->version_count; v++) {
        const struct row_change *change = &all->versions[v];
        if (change->table == table && change->slot == slot) {
            enum since now = change->kind == ROW_DELETED ? SINCE_DELETED
                             : all->replaced[v]          ? SINCE_REPLACED
                                                         : SINCE_UPDATED;
            since = now > since ? now : since;
        }
    }
    return since;
}

static void copy_row(const struct sessions *all, enum row_table table, uint32_t slot,
                     struct seen *row)
{
    const struct row_area *area = &all->world->rows.table[table];
    row->there = true;
    row->slot = slot;
    memcpy(row->cells, &area->cells[(size_t)slot * area->stride], area->stride * sizeof(int64_t));
}

/* The committed row with this key as it was at the snapshot. */
static void committed_row(const struct sessions *all, uint32_t snapshot, enum row_table table,
                          int64_t key, struct seen *row)
{
    uint32_t slot = row_find(&all->world->rows, table, key);
    *row = (struct seen){.insert = -1, .slot = ROW_NONE};
    if (slot != ROW_NONE) {
        copy_row(all, table, slot, row);
    }
    for (uint32_t v = all->version_count; v > snapshot; v--) {
        const struct row_change *change = &all->versions[v - 1];
        if (change->table != table) {
            continue;
        }
        if (change->kind == ROW_DELETED && !row->there &&
            row_key(&all->world->rows, table, change->slot) == key) {
            copy_row(all, table, change->slot, row); /* it can still be read where it was */
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

/* What the session did itself on top; `but` is a statement whose writes do not count yet. */
static void add_own_writes(const struct sessions *all, const struct session *one,
                           enum row_table table, int64_t key, int but, struct seen *row)
{
    for (uint16_t w = 0; w < one->write_count; w++) {
        const struct session_write *write = &one->writes[w];
        if (write->table != table || write->key != key || write->statement == but) {
            continue;
        }
        if (write->kind == SESSION_INSERTS) {
            uint32_t count = all->world->rows.table[table].stride - 1;
            *row = (struct seen){.there = true, .insert = write->insert, .slot = ROW_NONE};
            row->cells[0] = key;
            memcpy(&row->cells[1], one->inserts[write->insert], count * sizeof(int64_t));
        } else if (row->there && is_of(write, row) && write->kind == SESSION_DELETES) {
            row->there = false;
        } else if (row->there && is_of(write, row)) {
            row->cells[1 + write->column] = write->value;
        }
    }
}

/* A planted error: what others have not committed shines through. */
static void add_dirty_writes(const struct sessions *all, unsigned who, enum row_table table,
                             int64_t key, struct seen *row)
{
    for (uint32_t s = 0; s < all->count; s++) {
        if (s != who) {
            add_own_writes(all, &all->each[s], table, key, -1, row);
        }
    }
}

static void write_to(struct session *one, struct session_write write)
{
    CHECK(one->write_count < SESSION_WRITES_MAX);
    write.statement = one->statement;
    write.replaces = write.insert < 0 && has_lock(one, write.table, write.slot, LOCK_UPDATE);
    one->writes[one->write_count++] = write;
}

static bool written_by_statement(const struct session *one, enum row_table table,
                                 const struct seen *row)
{
    for (uint16_t w = 0; w < one->write_count; w++) {
        const struct session_write *write = &one->writes[w];
        if (write->table == table && write->statement == one->statement &&
            write->kind != SESSION_INSERTS && is_of(write, row)) {
            return true;
        }
    }
    return false;
}

static bool written_before(const struct session *one, enum row_table table, const struct seen *row)
{
    for (uint16_t w = 0; w < one->write_count; w++) {
        const struct session_write *write = &one->writes[w];
        if (write->table == table && is_of(write, row)) {
            return true;
        }
    }
    return false;
}

/* ---- seeing and locking ---------------------------------------------------------------------- */

static void note_read(struct session *one, uint8_t table, int64_t key)
{
    for (uint16_t r = 0; r < one->read_count; r++) {
        if (one->reads[r].table == table && one->reads[r].key == key) {
            return;
        }
    }
    if (one->bundle.isolation == SERIALIZABLE) {
        CHECK(one->read_count < SESSION_READS_MAX);
        one->reads[one->read_count++] = (struct session_item){table, key};
    }
}

/* The row as the statement's snapshot has it, or as it now is. */
static void see(const struct doing *doing, enum row_table table, int64_t key, bool latest,
                struct seen *row)
{
    const struct sessions *all = doing->all;
    struct session *one = doing->one;
    committed_row(all, latest ? all->version_count : one->snapshot, table, key, row);
    if (!all->rules->sees_committed_only) {
        add_dirty_writes(all, doing->who, table, key, row);
    }
    if (all->rules->sees_own_writes) {
        bool looks_only =
            doing->primitive->one_statement && !doing->op->fresh && doing->op->kind == OP_READ;
        add_own_writes(all, one, table, key, looks_only ? one->statement : -1, row);
    }
}

static enum effect wait(struct doing *doing, enum session_wait_kind kind, uint8_t table,
                        uint32_t slot, int64_t key, uint8_t mode)
{
    struct session *one = doing->one;
    if (one->state != SESSION_WAITS || one->wait_kind != kind || one->wait_table != table ||
        one->wait_slot != slot || one->wait_key != key) {
        one->wait_since = doing->all->waits++;
    }
    one->wait_kind = (uint8_t)kind;
    one->wait_table = table;
    one->wait_slot = slot;
    one->wait_key = key;
    one->wait_mode = mode;
    return EFFECT_WAITS;
}

static void take_lock(struct session *one, uint8_t table, uint32_t slot, uint8_t mode,
                      uint32_t since)
{
    for (uint16_t l = 0; l < one->lock_count; l++) {
        struct session_lock *lock = &one->locks[l];
        if (lock->table == table && lock->slot == slot) {
            lock->mode = lock->mode > mode ? lock->mode : mode;
            return;
        }
    }
    CHECK(one->lock_count < SESSION_LOCKS_MAX);
    one->locks[one->lock_count++] = (struct session_lock){table, mode, slot, since};
}

/* The version of the row that the snapshot shows has been replaced, and somebody who had a lock on
 * it before that is still there: a server then sees a version that is still in use, and waits for
 * whoever has the row now before it notices. */
static bool shared_with(const struct sessions *all, unsigned who, uint8_t table, uint32_t slot)
{
    uint32_t first = all->each[who].snapshot;
    while (first < all->version_count &&
           (all->versions[first].table != table || all->versions[first].slot != slot)) {
        first++;
    }
    for (uint32_t s = 0; s < all->count; s++) {
        const struct session *other = &all->each[s];
        for (uint16_t l = 0; s != who && l < other->lock_count; l++) {
            const struct session_lock *lock = &other->locks[l];
            if (lock->table == table && lock->slot == slot && lock->since <= first) {
                return true;
            }
        }
    }
    return false;
}

/* Locks a committed row that the session sees, and brings its copy up to date. */
static enum effect lock_row(struct doing *doing, enum row_table table, uint8_t mode, bool skips,
                            struct seen *row)
{
    struct sessions *all = doing->all;
    struct session *one = doing->one;
    enum since since = changed_since(all, one->snapshot, (uint8_t)table, row->slot);
    bool looks_back =
        mode == LOCK_KEY_SHARE && since == SINCE_UPDATED && all->rules->key_share_looks_back;
    uint32_t has_it = holders(all, doing->who, (uint8_t)table, row->slot, mode);
    if (since != SINCE_NOTHING && !looks_back && one->bundle.isolation == SERIALIZABLE &&
        all->rules->first_updater_wins &&
        (has_it == 0 || !shared_with(all, doing->who, (uint8_t)table, row->slot))) {
        return EFFECT_ABORTED; /* without waiting for whoever has it now */
    }
    if (has_it != 0) {
        if (skips && all->rules->skip_locked) {
            row->there = false;
            return EFFECT_DONE;
        }
        return wait(doing, WAIT_ROW, (uint8_t)table, row->slot, row->cells[0], mode);
    }
    if (since == SINCE_DELETED && all->rules->gone_is_gone) {
        row->there = false;
        return EFFECT_DONE;
    }
    take_lock(one, (uint8_t)table, row->slot, mode, all->version_count);
    if (since != SINCE_NOTHING && !looks_back) {
        int64_t key = row->cells[0];
        committed_row(all, all->version_count, table, key, row);
        add_own_writes(all, one, table, key, -1, row);
    }
    return EFFECT_DONE;
}

/* ---- operations ------------------------------------------------------------------------------ */

static uint8_t lock_for(const struct doing *doing)
{
    return doing->op->lock != LOCK_USUAL ? doing->op->lock
                                         : doing->all->rules->locks[doing->op->kind];
}

static enum effect absent(struct doing *doing)
{
    const struct op *op = doing->op;
    meaning_give(&doing->frame, op->returns, 0);
    meaning_give(&doing->frame, op->found, 0);
    doing->reason = meaning_absent(op);
    return op->kind == OP_READ ? EFFECT_DONE : EFFECT_MISSED;
}

/* A row that refers to the one that goes, in a table: one that is committed is locked, so that it
 * stays the reason, and waited for if it is about to go itself. */
static enum effect look_at_child(struct doing *doing, enum row_table table, uint32_t slot,
                                 int64_t key)
{
    struct sessions *all = doing->all;
    struct session *one = doing->one;
    struct seen child;
    int64_t child_key = row_key(&all->world->rows, table, slot);
    committed_row(all, one->looks_from, table, child_key, &child);
    if (!child.there || child.slot != slot) {
        return EFFECT_DONE;
    }
    add_own_writes(all, one, table, child_key, -1, &child);
    if (!child.there || child.insert >= 0 ||
        child.cells[1 + primitive_foreign_keys[table].column] != key) {
        return EFFECT_DONE;
    }
    enum since since = changed_since(all, one->looks_from, (uint8_t)table, slot);
    if (since >= SINCE_REPLACED && one->bundle.isolation == SERIALIZABLE &&
        all->rules->first_updater_wins) {
        return EFFECT_ABORTED;
    }
    if (since == SINCE_DELETED) {
        return EFFECT_DONE;
    }
    if (holders(all, doing->who, (uint8_t)table, slot, all->rules->parent_lock) != 0) {
        return wait(doing, WAIT_ROW, (uint8_t)table, slot, child_key, all->rules->parent_lock);
    }
    return EFFECT_IMPOSSIBLE;
}

static bool has_own_child(const struct doing *doing, enum row_table table, int64_t key)
{
    const struct session *one = doing->one;
    for (uint16_t w = 0; w < one->write_count; w++) {
        const struct session_write *write = &one->writes[w];
        struct seen child = {.insert = -1, .slot = ROW_NONE};
        if (write->kind != SESSION_INSERTS || write->table != table) {
            continue;
        }
        add_own_writes(doing->all, one, table, write->key, -1, &child);
        if (child.there && child.cells[1 + primitive_foreign_keys[table].column] == key) {
            return true;
        }
    }
    return false;
}

/* Rows that refer to the one that goes (23503), table by table in the order in which the foreign
 * keys were made. */
static enum effect look_for_children(struct doing *doing, enum row_table parent, int64_t key)
{
    struct sessions *all = doing->all;
    if (doing->one->looks_from == SESSION_NO_SNAPSHOT) {
        doing->one->looks_from = all->version_count;
    }
    doing->reason = REFUSED_NO_PARENT;
    for (int t = 0; t < TABLE_COUNT && all->rules->children; t++) {
        const struct foreign_key *refers = &primitive_foreign_keys[t];
        if (!refers->there || refers->parent != parent) {
            continue;
        }
        const struct row_area *area = &all->world->rows.table[t];
        for (uint32_t slot = 0; slot < area->used; slot++) {
            enum effect effect = look_at_child(doing, (enum row_table)t, slot, key);
            if (effect != EFFECT_DONE) {
                return effect;
            }
        }
        if (has_own_child(doing, (enum row_table)t, key)) {
            return EFFECT_IMPOSSIBLE;
        }
    }
    return EFFECT_DONE;
}

/* The row that a new one refers to must be there, and stay until the transaction ends. */
static enum effect lock_parent(struct doing *doing, enum row_table table, const int64_t *columns)
{
    struct sessions *all = doing->all;
    struct session *one = doing->one;
    const struct foreign_key *key = &primitive_foreign_keys[table];
    if (!key->there || !all->rules->parents ||
        all->world->rows.table[key->parent].capacity == 0) { /* a table that is not used */
        return EFFECT_DONE;
    }
    enum row_table parent = (enum row_table)key->parent;
    bool serializable = one->bundle.isolation == SERIALIZABLE;
    if (one->looks_from == SESSION_NO_SNAPSHOT) {
        one->looks_from = serializable ? one->snapshot : all->version_count;
    }
    struct seen row;
    committed_row(all, one->looks_from, parent, columns[key->column], &row);
    add_own_writes(all, one, parent, columns[key->column], -1, &row);
    note_read(one, (uint8_t)parent, columns[key->column]);
    doing->reason = REFUSED_NO_PARENT;
    if (!row.there) {
        return EFFECT_IMPOSSIBLE;
    }
    if (row.insert >= 0 || all->rules->parent_lock == LOCK_NONE) {
        return EFFECT_DONE;
    }
    enum since since = changed_since(all, one->looks_from, (uint8_t)parent, row.slot);
    if (serializable && all->rules->first_updater_wins && since >= SINCE_REPLACED) {
        return EFFECT_ABORTED;
    }
    if (holders(all, doing->who, (uint8_t)parent, row.slot, all->rules->parent_lock) != 0) {
        return wait(doing, WAIT_ROW, (uint8_t)parent, row.slot, row.cells[0],
                    all->rules->parent_lock);
    }
    if (since == SINCE_DELETED) {
        return EFFECT_IMPOSSIBLE;
    }
    take_lock(one, (uint8_t)parent, row.slot, all->rules->parent_lock, all->version_count);
    return EFFECT_DONE;
}

/* A row that this transaction has written before is checked anew when it is written again, whatever
 * the column: the server looks at who made the version that is replaced. */
static enum effect recheck_parent(struct doing *doing, enum row_table table, const struct seen *row)
{
    enum effect effect = lock_parent(doing, table, &row->cells[1]);
    doing->one->written = effect == EFFECT_WAITS;
    return effect;
}

/* READ, TEST, ADD, SET and DELETE: they look at one cell of one row. */
static enum effect on_cell(struct doing *doing)
{
    const struct op *op = doing->op;
    const struct session_rules *rules = doing->all->rules;
    struct session *one = doing->one;
    enum row_table table = (enum row_table)op->table;
    int64_t key = meaning_operand(&doing->frame, op->key);
    uint8_t lock = lock_for(doing);
    struct seen row;
    if (one->written) { /* and waited for the parent */
        see(doing, table, key, true, &row);
        return recheck_parent(doing, table, &row);
    }
    see(doing, table, key, op->fresh, &row);
    note_read(one, op->table, key);
    if (!row.there) {
        return absent(doing);
    }
    int64_t before = row.cells[1 + op->column]; /* as the snapshot has it */
    struct seen tested = row;
    if (lock != LOCK_NONE && row.insert < 0) {
        enum effect effect = lock_row(doing, table, lock, op->skips, &row);
        if (effect != EFFECT_DONE) {
            return effect;
        }
        if (!row.there) {
            return absent(doing);
        }
        tested = rules->tests_anew ? row : tested;
    }
    bool passed = meaning_passes(&doing->frame, op, tested.cells);
    int64_t cell = row.cells[1 + op->column];
    bool writes = op->kind == OP_ADD || op->kind == OP_SET || op->kind == OP_DELETE;
    bool again = false;
    bool lost = writes && doing->primitive->one_statement && !op->joins &&
                rules->one_update_a_statement && written_by_statement(one, table, &row);
    struct session_write write = {.table = op->table,
                                  .column = op->column,
                                  .insert = row.insert,
                                  .slot = row.slot,
                                  .key = key};
    if (passed && op->kind == OP_DELETE && !lost) {
        enum effect effect = look_for_children(doing, table, key);
        if (effect != EFFECT_DONE) {
            return effect;
        }
        write.kind = SESSION_DELETES;
        write_to(one, write);
    } else if (passed && (op->kind == OP_ADD || op->kind == OP_SET)) {
        int64_t written =
            meaning_written(&doing->frame, op, rules->writes_on_latest ? cell : before);
        write.value = written;
        if (!lost) {
            again = !op->joins && written_before(one, table, &row);
            write_to(one, write);
            cell = written;
        }
    }
    meaning_give(&doing->frame, op->returns, cell);
    meaning_give(&doing->frame, op->found, passed);
    doing->reason = (enum refusal)op->reason;
    if (again) {
        row.cells[1 + op->column] = cell;
        return recheck_parent(doing, table, &row);
    }
    return passed ? EFFECT_DONE : EFFECT_MISSED;
}

/* A row with the key of the new one is there: RECORD counts in it, INSERT misses. */
static enum effect conflict(struct doing *doing, enum row_table table, struct seen *row)
{
    struct session *one = doing->one;
    const struct session_rules *rules = doing->all->rules;
    const struct op *op = doing->op;
    bool serializable = one->bundle.isolation == SERIALIZABLE;
    int last = (int)doing->all->world->rows.table[table].stride - 1;
    doing->reason = REFUSED_EXISTS;
    if (op->kind != OP_RECORD) {
        bool fails = meaning_missed(op, &one->bundle.calls[one->call]) == CALL_REFUSED;
        struct seen visible;
        see(doing, table, row->cells[0], false, &visible);
        bool unseen = !visible.there ||
                      (row->insert < 0 && changed_since(doing->all, one->snapshot, op->table,
                                                        row->slot) != SINCE_NOTHING);
        return serializable && !fails && unseen && rules->conflict_unseen_fails ? EFFECT_ABORTED
                                                                                : EFFECT_MISSED;
    }
    if (row->insert < 0) {
        struct seen visible;
        see(doing, table, row->cells[0], false, &visible);
        if (holders(doing->all, doing->who, op->table, row->slot, LOCK_NO_KEY_UPDATE) != 0) {
            return wait(doing, WAIT_ROW, op->table, row->slot, row->cells[0], LOCK_NO_KEY_UPDATE);
        }
        bool unseen = !visible.there || changed_since(doing->all, one->snapshot, op->table,
                                                      row->slot) != SINCE_NOTHING;
        if (serializable && unseen && rules->first_updater_wins) {
            return EFFECT_ABORTED;
        }
        take_lock(one, op->table, row->slot, LOCK_NO_KEY_UPDATE, doing->all->version_count);
    }
    write_to(one, (struct session_write){.kind = SESSION_SETS,
                                         .table = op->table,
                                         .column = (uint8_t)(last - 1),
                                         .insert = row->insert,
                                         .slot = row->slot,
                                         .key = row->cells[0],
                                         .value = row->cells[last] + 1});
    return EFFECT_DONE;
}

static enum effect insert(struct doing *doing)
{
    struct sessions *all = doing->all;
    struct session *one = doing->one;
    const struct op *op = doing->op;
    enum row_table table = (enum row_table)op->table;
    int64_t key = meaning_operand(&doing->frame, op->key);
    int64_t columns[ROW_COLUMNS_MAX];
    if (!meaning_columns(&doing->frame, op, all->world->rows.table[table].stride - 1, columns) &&
        all->rules->not_null) {
        doing->reason = REFUSED_NULL;
        return EFFECT_IMPOSSIBLE;
    }
    if (!one->written) {
        struct seen row;
        if (all->rules->unique_waits && writers(all, doing->who, op->table, key) != 0) {
            return wait(doing, WAIT_KEY, op->table, ROW_NONE, key, LOCK_UPDATE);
        }
        see(doing, table, key, true, &row); /* as the unique index has it */
        note_read(one, op->table, key);
        if (row.there && (all->rules->unique || op->kind == OP_RECORD)) {
            return conflict(doing, table, &row);
        }
        CHECK(one->insert_count < SESSION_INSERTS_MAX);
        memcpy(one->inserts[one->insert_count], columns, sizeof columns);
        write_to(one, (struct session_write){.kind = SESSION_INSERTS,
                                             .table = op->table,
                                             .insert = (int8_t)one->insert_count++,
                                             .slot = ROW_NONE,
                                             .key = key});
        one->written = true;
    }
    enum effect effect = lock_parent(doing, table, columns);
    one->written = effect == EFFECT_WAITS;
    return effect;
}

/* Due earlier, or at the same time with a lower key. */
static bool is_due_before(const struct seen *left, const struct seen *right)
{
    int64_t first = left->cells[1 + MESSAGE_VISIBLE_AT],
            second = right->cells[1 + MESSAGE_VISIBLE_AT];
    return first != second ? first < second : left->cells[0] < right->cells[0];
}

/* The message that is due first of those that nobody has locked, the session's own new ones
 * included. */
static void pick_message(struct doing *doing, struct seen *best)
{
    struct sessions *all = doing->all;
    const struct session *one = doing->one;
    uint32_t committed = all->world->rows.table[TABLE_MESSAGE].used;
    for (uint32_t i = 0; i < committed + one->write_count; i++) {
        struct seen row;
        bool own = i >= committed;
        const struct session_write *write = own ? &one->writes[i - committed] : NULL;
        if (own && (write->kind != SESSION_INSERTS || write->table != TABLE_MESSAGE)) {
            continue;
        }
        see(doing, TABLE_MESSAGE, own ? write->key : row_key(&all->world->rows, TABLE_MESSAGE, i),
            false, &row);
        bool locked = !own && holders(all, doing->who, TABLE_MESSAGE, i, LOCK_UPDATE) != 0;
        bool is_this = own ? row.insert == write->insert : row.insert < 0 && row.slot == i;
        if (row.there && is_this && row.cells[1 + MESSAGE_VISIBLE_AT] <= one->now &&
            !(locked && all->rules->skip_locked) && (!best->there || is_due_before(&row, best))) {
            *best = row;
        }
    }
}

static enum effect claim(struct doing *doing)
{
    struct session *one = doing->one;
    struct seen row = {.there = false};
    doing->reason = REFUSED_NO_MESSAGE;
    if (one->picked == SESSION_PICKS_ITSELF) {
        pick_message(doing, &row);
    } else if (one->picked != ROW_NONE && doing->all->world->place[one->picked] != 0) {
        see(doing, TABLE_MESSAGE, row_key(&doing->all->world->rows, TABLE_MESSAGE, one->picked),
            false, &row);
    }
    if (!row.there) {
        return EFFECT_MISSED; /* none, or acked by an earlier call */
    }
    if (row.insert < 0) {
        enum effect effect = lock_row(doing, TABLE_MESSAGE, lock_for(doing), true, &row);
        if (effect != EFFECT_DONE || !row.there) {
            return effect == EFFECT_DONE ? EFFECT_MISSED : effect;
        }
    }
    note_read(one, TABLE_MESSAGE, row.cells[0]);
    struct session_write write = {
        .table = TABLE_MESSAGE, .insert = row.insert, .slot = row.slot, .key = row.cells[0]};
    row.cells[1 + MESSAGE_EPOCH]++;
    row.cells[1 + MESSAGE_VISIBLE_AT] = one->now + meaning_operand(&doing->frame, doing->op->value);
    write.column = MESSAGE_EPOCH;
    write.value = row.cells[1 + MESSAGE_EPOCH];
    write_to(one, write);
    write.column = MESSAGE_VISIBLE_AT;
    write.value = row.cells[1 + MESSAGE_VISIBLE_AT];
    write_to(one, write);
    memcpy(one->outcome.message, row.cells, sizeof one->outcome.message);
    return EFFECT_DONE;
}

static enum effect take_advisory(struct doing *doing)
{
    struct session *one = doing->one;
    int64_t key = meaning_operand(&doing->frame, doing->op->key);
    if (advisory_holders(doing->all, doing->who, key) != 0 && doing->all->rules->advisory_waits) {
        if (!doing->all->rules->snapshot_before_wait && one->statement == 1) {
            one->snapshot = SESSION_NO_SNAPSHOT; /* a planted error: taken when the wait is over */
        }
        return wait(doing, WAIT_ADVISORY, 0, ROW_NONE, key, LOCK_UPDATE);
    }
    CHECK(one->advisory_count < SESSION_ADVISORY_MAX);
    one->advisory_statement[one->advisory_count] = one->statement;
    one->advisory[one->advisory_count++] = key;
    return EFFECT_DONE;
}

static enum effect perform(struct doing *doing)
{
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

/* ---- the course of a transaction ------------------------------------------------------------- */

static void let_go(struct session *one)
{
    one->snapshot = SESSION_NO_SNAPSHOT;
    one->looks_from = SESSION_NO_SNAPSHOT;
    one->lock_count = 0;
    one->write_count = 0;
    one->insert_count = 0;
    one->advisory_count = 0;
    one->read_count = 0;
    one->in_statement = false;
    one->written = false;
}

void sessions_begin(struct sessions *all, struct world *world, const struct primitive *primitives,
                    const struct session_rules *rules, uint32_t count)
{
    CHECK(count <= SESSIONS_MAX);
    all->world = world;
    all->primitives = primitives;
    all->rules = rules;
    all->count = count;
    all->waits = 0;
    all->commits = 0;
    all->version_count = 0;
    all->history_count = 0;
    for (uint32_t s = 0; s < count; s++) {
        all->each[s].state = SESSION_CLOSED;
        let_go(&all->each[s]);
    }
}

/* The last operation may have been the last of its call, or of all. */
static void find_next(const struct sessions *all, struct session *one)
{
    while (one->call < one->bundle.count &&
           one->op == all->primitives[one->bundle.calls[one->call].primitive].op_count) {
        one->call++;
        one->op = 0;
    }
    one->state = one->call == one->bundle.count ? SESSION_DONE : SESSION_OPEN;
}

void session_begin(struct sessions *all, unsigned who, const struct bundle *bundle, uint32_t picked)
{
    struct session *one = &all->each[who];
    CHECK(who < all->count && one->state == SESSION_CLOSED);
    let_go(one);
    one->call = 0;
    one->op = 0;
    one->statement = 0;
    one->operations = 0;
    one->picked = picked;
    one->now = all->world->now;
    one->bundle.name = bundle->name;
    one->bundle.isolation = bundle->isolation;
    one->bundle.count = bundle->count;
    one->bundle.param_count = bundle->param_count;
    memcpy(one->bundle.calls, bundle->calls, bundle->count * sizeof *bundle->calls);
    memcpy(one->bundle.params, bundle->params, bundle->param_count * sizeof *bundle->params);
    one->outcome.kind = OUTCOME_COMMITTED;
    one->outcome.refusal = REFUSED_NOTHING;
    one->outcome.aborted = ABORT_NONE;
    one->outcome.skipped = 0;
    one->outcome.now = one->now;
    memset(one->outcome.values, 0, sizeof one->outcome.values);
    find_next(all, one);
}

uint32_t session_length(const struct sessions *all, unsigned who)
{
    const struct bundle *bundle = &all->each[who].bundle;
    uint32_t length = 0;
    for (uint8_t c = 0; c < bundle->count; c++) {
        length += all->primitives[bundle->calls[c].primitive].op_count;
    }
    return length;
}

static void begin_statement(struct sessions *all, struct session *one)
{
    if (!one->in_statement) {
        one->statement++;
        bool keeps =
            one->snapshot != SESSION_NO_SNAPSHOT &&
            (one->bundle.isolation == SERIALIZABLE || !all->rules->snapshot_each_statement);
        one->snapshot = keeps ? one->snapshot : all->version_count;
        one->start = keeps ? one->start : all->commits;
        one->in_statement = true;
    } else if (!all->rules->snapshot_outlasts_waits || one->snapshot == SESSION_NO_SNAPSHOT) {
        one->snapshot = all->version_count; /* a planted error */
        one->start = all->commits;
    }
}

/* A planted error: locks that end with their statement. */
static void drop_locks(struct session *one, const struct session_rules *rules)
{
    if (!rules->locks_last) {
        one->lock_count = 0;
    }
    if (!rules->advisory_lasts) {
        one->advisory_count = 0;
    }
}

/* READ COMMITTED: nobody has to look behind what the next statement will see. */
static void end_statement(const struct sessions *all, struct session *one)
{
    one->in_statement = false;
    if (one->bundle.isolation == READ_COMMITTED && all->rules->snapshot_each_statement) {
        one->snapshot = SESSION_NO_SNAPSHOT;
    }
    drop_locks(one, all->rules);
}

static void fail(struct session *one, enum outcome_kind kind, enum refusal refusal,
                 enum abort_class aborted)
{
    one->outcome.kind = (uint8_t)kind;
    one->outcome.refusal = (uint8_t)refusal;
    one->outcome.aborted = (uint8_t)aborted;
    one->outcome.skipped = kind == OUTCOME_REFUSED ? (uint8_t)(one->call + 1) : 0;
    one->state = SESSION_FAILED;
    let_go(one);
}

void session_abort(struct sessions *all, unsigned who, enum abort_class aborted)
{
    fail(&all->each[who], OUTCOME_ABORTED, REFUSED_NOTHING, aborted);
}

static void skip_rest(const struct sessions *all, struct session *one)
{
    end_statement(all, one);
    one->outcome.skipped = (uint8_t)(one->call + 1);
    one->state = SESSION_DONE;
}

static void go_on(const struct sessions *all, struct session *one,
                  const struct primitive *primitive)
{
    one->operations++;
    one->op++;
    one->looks_from = SESSION_NO_SNAPSHOT;
    if (!primitive->one_statement || one->op == primitive->op_count) {
        end_statement(all, one);
    }
    find_next(all, one);
}

enum session_state session_operation(struct sessions *all, unsigned who)
{
    struct session *one = &all->each[who];
    CHECK(one->state == SESSION_OPEN || one->state == SESSION_WAITS);
    const struct call *call = &one->bundle.calls[one->call];
    const struct primitive *primitive = &all->primitives[call->primitive];
    const int64_t constants[OPERAND_CONSTANTS] = MEANING_CONSTANTS(one->now);
    int64_t *values = &one->outcome.values[call->values];
    struct doing doing = {
        .all = all,
        .one = one,
        .who = who,
        .primitive = primitive,
        .op = &primitive->ops[one->op],
        .frame = {{constants, &one->bundle.params[call->params], values}, values},
        .reason = REFUSED_NOTHING,
    };
    begin_statement(all, one);
    enum effect effect = meaning_left_out(&doing.frame, doing.op) ? EFFECT_DONE : perform(&doing);
    enum call_result result =
        effect == EFFECT_MISSED ? meaning_missed(doing.op, call) : CALL_GOES_ON;
    if (effect == EFFECT_WAITS) {
        one->state = SESSION_WAITS;
    } else if (effect == EFFECT_ABORTED) {
        fail(one, OUTCOME_ABORTED, REFUSED_NOTHING, ABORT_SERIALIZATION);
    } else if (effect == EFFECT_IMPOSSIBLE || result == CALL_REFUSED) {
        fail(one, OUTCOME_REFUSED, doing.reason, ABORT_NONE);
    } else if (result == CALL_SKIPS_REST) {
        skip_rest(all, one);
    } else {
        go_on(all, one, primitive);
    }
    return (enum session_state)one->state;
}

enum session_state session_statement(struct sessions *all, unsigned who)
{
    struct session *one = &all->each[who];
    enum session_state state = SESSION_OPEN;
    do {
        state = session_operation(all, who);
    } while (state == SESSION_OPEN && one->in_statement);
    return state;
}

/* ---- what order explains what was seen ------------------------------------------------------- */

static bool overlap(const struct session_item *left, uint16_t left_count,
                    const struct session_item *right, uint16_t right_count)
{
    for (uint16_t l = 0; l < left_count; l++) {
        for (uint16_t r = 0; r < right_count; r++) {
            if (left[l].table == right[r].table && left[l].key == right[r].key) {
                return true;
            }
        }
    }
    return false;
}

/* `before` must come first in any order: the other saw or overwrote what it wrote, or it did not
 * see what the other wrote. */
static bool precedes(const struct session_record *before, const struct session_record *after)
{
    bool touches = overlap(before->writes, before->write_count, after->reads, after->read_count) ||
                   overlap(before->writes, before->write_count, after->writes, after->write_count);
    bool missed = overlap(before->reads, before->read_count, after->writes, after->write_count);
    return (touches && before->commit <= after->start) || (missed && after->commit > before->start);
}

static void make_record(const struct session *one, uint64_t commit, struct session_record *record)
{
    record->start = one->start;
    record->commit = commit;
    record->read_count = one->read_count;
    memcpy(record->reads, one->reads, one->read_count * sizeof *one->reads);
    record->write_count = one->write_count;
    for (uint16_t w = 0; w < one->write_count; w++) {
        record->writes[w] = (struct session_item){one->writes[w].table, one->writes[w].key};
    }
}

/* Whether this one, committed now, would have to come both before and after itself. */
static bool closes_cycle(const struct sessions *all, const struct session_record *last)
{
    uint32_t count = all->history_count, after = 0, old = 0;
    for (uint32_t h = 0; h < count; h++) {
        after |= (uint32_t)precedes(last, &all->history[h]) << h;
    }
    if (!all->rules->cycles_only) {
        return after != 0; /* a planted error */
    }
    while (after != old) { /* whoever must come after it, directly or not */
        old = after;
        for (uint32_t h = 0; h < count; h++) {
            for (uint32_t g = 0; g < count && (old >> h & 1) != 0; g++) {
                after |= (uint32_t)(g != h && precedes(&all->history[h], &all->history[g])) << g;
            }
        }
    }
    for (uint32_t h = 0; h < count; h++) {
        if ((after >> h & 1) != 0 && precedes(&all->history[h], last)) {
            return true;
        }
    }
    return false;
}

static void remember(struct sessions *all, const struct session_record *record)
{
    if (all->history_count == SESSION_HISTORY_MAX) {
        memmove(&all->history[0], &all->history[1],
                (SESSION_HISTORY_MAX - 1) * sizeof *all->history);
        all->history_count--;
    }
    all->history[all->history_count++] = *record;
}

/* ---- ending ---------------------------------------------------------------------------------- */

bool session_apply(struct sessions *all, unsigned who)
{
    struct session *one = &all->each[who];
    struct world *world = all->world;
    CHECK(one->state == SESSION_DONE);
    if (one->bundle.isolation == SERIALIZABLE && one->snapshot != SESSION_NO_SNAPSHOT) {
        struct session_record record;
        make_record(one, all->commits + 1, &record);
        if (closes_cycle(all, &record)) {
            fail(one, OUTCOME_ABORTED, REFUSED_NOTHING, ABORT_SERIALIZATION);
            return false;
        }
        remember(all, &record);
    }
    uint32_t slots[SESSION_INSERTS_MAX];
    for (uint16_t w = 0; w < one->write_count; w++) {
        const struct session_write *write = &one->writes[w];
        enum row_table table = (enum row_table)write->table;
        uint32_t slot = write->insert >= 0 ? slots[write->insert] : write->slot;
        if (write->kind == SESSION_INSERTS) {
            slot = world_insert(world, table, write->key, one->inserts[write->insert]);
            if (slot == ROW_NONE) {
                fail(one, OUTCOME_REFUSED, REFUSED_STORE_FULL, ABORT_NONE);
                return false;
            }
            slots[write->insert] = slot;
        } else if (write->kind == SESSION_DELETES) {
            world_delete(world, table, slot);
        } else {
            world_set(world, table, slot, write->column, write->value);
        }
    }
    return true;
}

/* An update that left a cell as it was is one all the same: others must look behind it. */
static void note_touches(struct sessions *all, const struct session *one, uint32_t from)
{
    for (uint16_t w = 0; w < one->write_count; w++) {
        const struct session_write *write = &one->writes[w];
        if (write->kind == SESSION_SETS && write->insert < 0 &&
            changed_since(all, from, write->table, write->slot) == SINCE_NOTHING) {
            struct row_change same = {.slot = write->slot,
                                      .table = write->table,
                                      .kind = ROW_UPDATED,
                                      .column = write->column,
                                      .before =
                                          row_get(&all->world->rows, (enum row_table)write->table,
                                                  write->slot, write->column)};
            note_version(all, same, write->replaces);
        }
    }
}

void session_end(struct sessions *all, unsigned who, size_t mark)
{
    struct session *one = &all->each[who];
    bool committed = one->state == SESSION_DONE;
    one->snapshot = SESSION_NO_SNAPSHOT;
    one->state = SESSION_CLOSED;
    if (committed && is_looked_behind(all)) {
        uint32_t from = all->version_count;
        note_changes(all, mark, one);
        note_touches(all, one, from);
    }
    let_go(one);
}
