#include "sim/session_inside.h"

#include "model/check.h"

#include <string.h>

_Static_assert(SESSION_ADVISORY_MAX == OBSERVED_LOCKS_MAX, "both levels tell of every lock");

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
    all->world = world;
    all->primitives = primitives;
    all->rules = rules;
    all->count = 0;
    all->waits = 0;
    all->commits = 0;
    all->version_count = 0;
    all->history_count = 0;
    sessions_resize(all, count);
}

void sessions_resize(struct sessions *all, uint32_t count)
{
    CHECK(count <= SESSIONS_MAX);
    for (uint32_t s = all->count; s < count; s++) {
        all->each[s].state = SESSION_CLOSED;
        let_go(&all->each[s]);
    }
    all->count = count;
}

/* Advances to the next call, if the last operation of a call is done. */
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
    bundle_copy(&one->bundle, bundle);
    one->outcome.kind = OUTCOME_COMMITTED;
    one->outcome.refusal = REFUSED_NOTHING;
    one->outcome.aborted = ABORT_NONE;
    one->outcome.skipped = 0;
    one->outcome.now = one->now;
    one->outcome.message[0] = 0;
    memset(one->outcome.values, 0, sizeof one->outcome.values);
    find_next(all, one);
}

uint32_t session_length(const struct sessions *all, const struct bundle *bundle)
{
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

/* READ COMMITTED: versions older than the next statement's snapshot are not needed. */
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
    enum effect effect =
        meaning_left_out(&doing.frame, doing.op) ? EFFECT_DONE : session_perform(&doing);
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

/* ---- ending ---------------------------------------------------------------------------------- */

/* The row was deleted by a session that should have had to wait: wrong rules allow that. */
static bool is_gone(const struct world *world, const struct session_write *write)
{
    return write->insert < 0 &&
           row_find(&world->rows, (enum row_table)write->table, write->key) != write->slot;
}

bool session_apply(struct sessions *all, unsigned who)
{
    struct session *one = &all->each[who];
    struct world *world = all->world;
    CHECK(one->state == SESSION_DONE);
    if (one->bundle.isolation == SERIALIZABLE && one->snapshot != SESSION_NO_SNAPSHOT &&
        !session_finds_order(all, one)) {
        fail(one, OUTCOME_ABORTED, REFUSED_NOTHING, ABORT_SERIALIZATION);
        return false;
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
        } else if (is_gone(world, write)) {
            continue;
        } else if (write->kind == SESSION_DELETES) {
            world_delete(world, table, slot);
        } else {
            world_set(world, table, slot, write->column, write->value);
        }
    }
    return true;
}

/* An update that leaves a cell unchanged is an update all the same: it makes a version. */
static void note_touches(struct sessions *all, const struct session *one, uint32_t from)
{
    for (uint16_t w = 0; w < one->write_count; w++) {
        const struct session_write *write = &one->writes[w];
        if (write->kind == SESSION_SETS && write->insert < 0 &&
            session_changed_since(all, from, write->table, write->slot) == SINCE_NOTHING) {
            struct row_change same = {.slot = write->slot,
                                      .table = write->table,
                                      .kind = ROW_UPDATED,
                                      .column = write->column,
                                      .before =
                                          row_get(&all->world->rows, (enum row_table)write->table,
                                                  write->slot, write->column)};
            session_note_version(all, same, write->replaces);
        }
    }
}

void session_end(struct sessions *all, unsigned who, size_t mark)
{
    struct session *one = &all->each[who];
    bool committed = one->state == SESSION_DONE;
    one->snapshot = SESSION_NO_SNAPSHOT;
    one->state = SESSION_CLOSED;
    if (committed && sessions_are_looked_behind(all)) {
        uint32_t from = all->version_count;
        session_note_changes(all, mark, one);
        note_touches(all, one, from);
    }
    let_go(one);
    CHECK_ALL(sessions_check(all));
}

void session_seen(const struct sessions *all, unsigned who, struct observed *seen)
{
    const struct session *one = &all->each[who];
    int calls = one->outcome.skipped == 0 ? one->bundle.count : one->outcome.skipped;
    store_seen_begin(&one->bundle, one->now, seen);
    seen->lock_count = one->advisory_count;
    seen->locked = one->advisory_count == 0          ? OBSERVED_LOCK_NONE
                   : one->advisory_statement[0] == 1 ? OBSERVED_LOCK_FIRST
                                                     : OBSERVED_LOCK_LATE;
    memcpy(seen->locks, one->advisory, one->advisory_count * sizeof *seen->locks);
    seen->only_read =
        one->write_count == 0 && store_only_reads(all->primitives, &one->bundle, calls);
}

/* ---- checking -------------------------------------------------------------------------------- */

static void check_snapshot(const struct sessions *all, const struct session *one)
{
    bool has = one->snapshot != SESSION_NO_SNAPSHOT;
    CHECK(!has || one->snapshot <= all->version_count); /* SS2 */
    if (one->bundle.isolation == SERIALIZABLE) {
        CHECK(one->statement == 0 || has); /* SS3 */
    } else {
        CHECK(one->in_statement == has); /* SS2 */
    }
}

/* Two locks of which one excludes the other are never on one row. */
static void check_locks(const struct sessions *all, uint32_t who)
{
    const struct session *one = &all->each[who];
    for (uint16_t l = 0; l < one->lock_count; l++) {
        const struct session_lock *lock = &one->locks[l];
        CHECK(sessions_holders(all, who, lock->table, lock->slot, lock->mode) == 0); /* SS1 */
    }
}

void sessions_check(const struct sessions *all)
{
    CHECK(all->count <= SESSIONS_MAX && all->version_count <= SESSION_VERSIONS_MAX);
    for (uint32_t s = 0; s < all->count; s++) {
        const struct session *one = &all->each[s];
        if (one->state == SESSION_CLOSED || one->state == SESSION_FAILED) {
            CHECK(one->lock_count == 0 && one->advisory_count == 0); /* SS1 */
            CHECK(one->write_count == 0 && one->insert_count == 0);  /* SS1 */
            CHECK(one->snapshot == SESSION_NO_SNAPSHOT);             /* SS2 */
            continue;
        }
        if (all->rules == &session_postgresql) { /* a planted error breaks these on purpose */
            check_snapshot(all, one);
            check_locks(all, s);
        }
    }
}
