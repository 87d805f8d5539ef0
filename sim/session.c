#include "sim/session_inside.h"

#include "model/check.h"

#include <string.h>

_Static_assert(SESSION_ADVISORY_MAX == OBSERVED_LOCKS_MAX, "both levels tell of every lock");

/* ---- the course of a transaction ------------------------------------------------------------- */

static void session_let_go(struct session *session)
{
    session->snapshot = SESSION_NO_SNAPSHOT;
    session->looks_from = SESSION_NO_SNAPSHOT;
    session->unchecked = 0;
    session->lock_count = 0;
    session->write_count = 0;
    session->insert_count = 0;
    session->advisory_count = 0;
    session->read_count = 0;
    session->look_count = 0;
    session->reads_all = false;
    session->in_statement = false;
    session->written = false;
}

void sessions_begin(struct sessions *sessions, struct world *world,
                    const struct primitive *primitives, const struct session_claims *rules,
                    uint32_t count)
{
    sessions->world = world;
    sessions->primitives = primitives;
    sessions->rules = rules;
    sessions->count = 0;
    sessions->open = 0;
    sessions->waits = 0;
    sessions->commits = 0;
    sessions->version_count = 0;
    sessions->history_count = 0;
    sessions_resize(sessions, count);
}

void sessions_resize(struct sessions *sessions, uint32_t count)
{
    CHECK(count <= SESSIONS_MAX && (count == SESSIONS_MAX || sessions->open >> count == 0));
    for (uint32_t s = sessions->count; s < count; s++) {
        sessions->each[s].state = SESSION_CLOSED;
        session_let_go(&sessions->each[s]);
    }
    sessions->count = count;
}

/* Advances to the next call, if the last operation of a call is done. */
static void find_next(const struct sessions *sessions, struct session *session)
{
    while (session->call < session->bundle.count &&
           session->op ==
               sessions->primitives[session->bundle.calls[session->call].primitive].op_count) {
        session->call++;
        session->op = 0;
    }
    session->state = session->call == session->bundle.count ? SESSION_DONE : SESSION_OPEN;
}

void session_begin(struct sessions *sessions, unsigned who, const struct bundle *bundle,
                   uint32_t picked)
{
    struct session *session = &sessions->each[who];
    CHECK(who < sessions->count && session->state == SESSION_CLOSED);
    sessions->open |= UINT32_C(1) << who;
    session_let_go(session);
    session->call = 0;
    session->op = 0;
    session->statement = 0;
    session->operations = 0;
    session->picked = picked;
    session->now = sessions->world->now;
    session->wall_from = session->wall_to = world_wall(sessions->world);
    bundle_copy(&session->bundle, bundle);
    outcome_begin(&session->outcome, session->now);
    find_next(sessions, session);
}

uint32_t session_length(const struct sessions *sessions, const struct bundle *bundle)
{
    uint32_t length = 0;
    for (uint8_t c = 0; c < bundle->count; c++) {
        length += sessions->primitives[bundle->calls[c].primitive].op_count;
    }
    return length;
}

static void begin_statement(struct sessions *sessions, struct session *session)
{
    if (!session->in_statement) {
        session->statement++;
        bool keeps = session->snapshot != SESSION_NO_SNAPSHOT &&
                     (session->bundle.isolation == SERIALIZABLE ||
                      !sessions->rules->snapshot_each_statement);
        session->snapshot = keeps ? session->snapshot : sessions->version_count;
        session->start = keeps ? session->start : sessions->commits;
        session->in_statement = true;
    } else if (!sessions->rules->snapshot_outlasts_waits ||
               session->snapshot == SESSION_NO_SNAPSHOT) {
        session->snapshot = sessions->version_count; /* a planted error */
        session->start = sessions->commits;
    }
}

/* A planted error: locks that end with their statement. */
static void drop_locks(struct session *session, const struct session_claims *rules)
{
    if (!rules->locks_last) {
        session->lock_count = 0;
    }
    if (!rules->advisory_lasts) {
        session->advisory_count = 0;
    }
}

/* READ COMMITTED: versions older than the next statement's snapshot are not needed. */
static void end_statement(const struct sessions *sessions, struct session *session)
{
    session->in_statement = false;
    if (session->bundle.isolation == READ_COMMITTED && sessions->rules->snapshot_each_statement) {
        session->snapshot = SESSION_NO_SNAPSHOT;
    }
    drop_locks(session, sessions->rules);
}

static void session_fail(struct session *session, enum outcome_kind kind, enum refusal refusal,
                         enum abort_class aborted)
{
    session->outcome.kind = (uint8_t)kind;
    session->outcome.refusal = (uint8_t)refusal;
    session->outcome.aborted = (uint8_t)aborted;
    session->outcome.skipped = kind == OUTCOME_REFUSED ? (uint8_t)(session->call + 1) : 0;
    session->state = SESSION_FAILED;
    session_let_go(session);
}

void session_abort(struct sessions *sessions, unsigned who, enum abort_class aborted)
{
    session_fail(&sessions->each[who], OUTCOME_ABORTED, REFUSED_NOTHING, aborted);
}

static void skip_rest(const struct sessions *sessions, struct session *session)
{
    end_statement(sessions, session);
    session->outcome.skipped = (uint8_t)(session->call + 1);
    session->state = SESSION_DONE;
}

/* Its operations, and those of the calls that it is joined to, are one statement. */
static bool is_one_statement(const struct session *session, const struct primitive *primitive)
{
    return primitive->one_statement || session->bundle.calls[session->call].joined;
}

static void session_go_on(const struct sessions *sessions, struct session *session,
                          const struct primitive *primitive)
{
    session->operations++;
    session->op++;
    session->looks_from = SESSION_NO_SNAPSHOT;
    bool last = session->op == primitive->op_count;
    if (last ? !bundle_goes_on(&session->bundle, session->call)
             : !is_one_statement(session, primitive)) {
        end_statement(sessions, session);
    }
    find_next(sessions, session);
}

enum session_state session_operation(struct sessions *sessions, unsigned who)
{
    struct session *session = &sessions->each[who];
    CHECK(session->state == SESSION_OPEN || session->state == SESSION_WAITS);
    const struct call *call = &session->bundle.calls[session->call];
    const struct primitive *primitive = &sessions->primitives[call->primitive];
    int64_t wall = world_wall(sessions->world);
    session->wall_from = wall < session->wall_from ? wall : session->wall_from;
    session->wall_to = wall > session->wall_to ? wall : session->wall_to;
    const int64_t constants[OPERAND_CONSTANTS] = MEANING_CONSTANTS(session->now, wall);
    int64_t *values = &session->outcome.values[call->values];
    struct doing doing = {
        .sessions = sessions,
        .session = session,
        .who = who,
        .one_statement = is_one_statement(session, primitive),
        .op = &primitive->ops[session->op],
        .frame = {{constants, &session->bundle.params[call->params], values}, values},
        .reason = REFUSED_NOTHING,
    };
    begin_statement(sessions, session);
    enum effect effect =
        meaning_left_out(&doing.frame, doing.op) ? EFFECT_DONE : session_perform(&doing);
    enum call_result result =
        effect == EFFECT_MISSED ? meaning_missed(doing.op, call) : CALL_GOES_ON;
    if (effect == EFFECT_WAITS) {
        session->state = SESSION_WAITS;
    } else if (effect == EFFECT_ABORTED) {
        session_fail(session, OUTCOME_ABORTED, REFUSED_NOTHING, ABORT_SERIALIZATION);
    } else if (effect == EFFECT_IMPOSSIBLE || result == CALL_REFUSED) {
        session_fail(session, OUTCOME_REFUSED, doing.reason, ABORT_NONE);
    } else if (result == CALL_SKIPS_REST) {
        skip_rest(sessions, session);
    } else {
        session_go_on(sessions, session, primitive);
    }
    return (enum session_state)session->state;
}

enum session_state session_statement(struct sessions *sessions, unsigned who)
{
    struct session *session = &sessions->each[who];
    enum session_state state = SESSION_OPEN;
    do {
        state = session_operation(sessions, who);
    } while (state == SESSION_OPEN && session->in_statement);
    return state;
}

/* ---- ending ---------------------------------------------------------------------------------- */

/* The row was deleted by a session that should have had to wait: wrong rules allow that. */
static bool is_gone(const struct world *world, const struct session_write *write)
{
    return write->insert < 0 &&
           row_find(&world->rows, (enum row_table)write->table, write->key) != write->slot;
}

bool session_apply(struct sessions *sessions, unsigned who)
{
    struct session *session = &sessions->each[who];
    struct world *world = sessions->world;
    CHECK(session->state == SESSION_DONE);
    if (session->bundle.isolation == SERIALIZABLE && session->snapshot != SESSION_NO_SNAPSHOT &&
        !session_finds_order(sessions, session)) {
        session_fail(session, OUTCOME_ABORTED, REFUSED_NOTHING, ABORT_SERIALIZATION);
        return false;
    }
    uint32_t slots[SESSION_INSERTS_MAX];
    for (uint16_t w = 0; w < session->write_count; w++) {
        const struct session_write *write = &session->writes[w];
        enum row_table table = (enum row_table)write->table;
        uint32_t slot = write->insert >= 0 ? slots[write->insert] : write->slot;
        if (write->kind == SESSION_INSERTS) {
            slot = world_insert(world, table, write->key, session->inserts[write->insert]);
            if (slot == ROW_NONE) {
                session_fail(session, OUTCOME_REFUSED, REFUSED_STORE_FULL, ABORT_NONE);
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
static void note_touches(struct sessions *sessions, const struct session *session, uint32_t from)
{
    for (uint16_t w = 0; w < session->write_count; w++) {
        const struct session_write *write = &session->writes[w];
        if (write->kind == SESSION_SETS && write->insert < 0 &&
            session_changed_since(sessions, from, write->table, write->slot) == SINCE_NOTHING) {
            struct row_change same = {.slot = write->slot,
                                      .table = write->table,
                                      .kind = ROW_UPDATED,
                                      .column = write->column,
                                      .before = row_get(&sessions->world->rows,
                                                        (enum row_table)write->table, write->slot,
                                                        write->column)};
            session_note_version(sessions, same, (enum session_ends)write->ends);
        }
    }
}

void session_end(struct sessions *sessions, unsigned who, size_t mark)
{
    struct session *session = &sessions->each[who];
    bool committed = session->state == SESSION_DONE;
    session->snapshot = SESSION_NO_SNAPSHOT;
    session->state = SESSION_CLOSED;
    sessions->open &= ~(UINT32_C(1) << who);
    if (committed && sessions_are_looked_behind(sessions)) {
        uint32_t from = sessions->version_count;
        session_note_changes(sessions, mark, session);
        note_touches(sessions, session, from);
    }
    session_let_go(session);
    CHECK_ALL(sessions_check(sessions));
}

void session_seen(const struct sessions *sessions, unsigned who, struct observed *seen)
{
    const struct session *session = &sessions->each[who];
    int calls = session->outcome.skipped == 0 ? session->bundle.count : session->outcome.skipped;
    store_seen_begin(&session->bundle, session->now, seen);
    seen->wall_from = session->wall_from;
    seen->wall_to = session->wall_to;
    seen->lock_count = session->advisory_count;
    seen->locked = session->advisory_count == 0          ? OBSERVED_LOCK_NONE
                   : session->advisory_statement[0] == 1 ? OBSERVED_LOCK_FIRST
                                                         : OBSERVED_LOCK_LATE;
    memcpy(seen->locks, session->advisory, session->advisory_count * sizeof *seen->locks);
    seen->only_read = session->write_count == 0 &&
                      store_only_reads(sessions->primitives, &session->bundle, calls);
}

/* ---- checking -------------------------------------------------------------------------------- */

static void check_snapshot(const struct sessions *sessions, const struct session *session)
{
    bool has = session->snapshot != SESSION_NO_SNAPSHOT;
    CHECK(!has || session->snapshot <= sessions->version_count); /* SS2 */
    if (session->bundle.isolation == SERIALIZABLE) {
        CHECK(session->statement == 0 || has); /* SS3 */
    } else {
        CHECK(session->in_statement == has); /* SS2 */
    }
}

/* Two locks of which one excludes the other are never on one row. */
static void check_locks(const struct sessions *sessions, uint32_t who)
{
    const struct session *session = &sessions->each[who];
    for (uint16_t l = 0; l < session->lock_count; l++) {
        const struct session_lock *lock = &session->locks[l];
        CHECK(sessions_holders(sessions, who, lock->table, lock->slot, lock->mode) == 0); /* SS1 */
    }
}

void sessions_check(const struct sessions *sessions)
{
    CHECK(sessions->count <= SESSIONS_MAX && sessions->version_count <= SESSION_VERSIONS_MAX);
    for (uint32_t s = 0; s < sessions->count; s++) {
        const struct session *session = &sessions->each[s];
        CHECK((session->state != SESSION_CLOSED) == (sessions->open >> s & 1)); /* SS1 */
        if (session->state == SESSION_CLOSED || session->state == SESSION_FAILED) {
            CHECK(session->lock_count == 0 && session->advisory_count == 0); /* SS1 */
            CHECK(session->write_count == 0 && session->insert_count == 0);  /* SS1 */
            CHECK(session->snapshot == SESSION_NO_SNAPSHOT);                 /* SS2 */
            continue;
        }
        if (sessions->rules == &session_postgresql) { /* a planted error breaks these on purpose */
            check_snapshot(sessions, session);
            check_locks(sessions, s);
        }
    }
}
