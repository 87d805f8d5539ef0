#include "verify/conform_store.h"

#include <string.h>

#define LOCK_TIMEOUT "SET lock_timeout = 50" /* ms, of a wait that has no other end */

/* ---- what differs ---------------------------------------------------------------------------- */

static void conform_store_fail(struct conform_store *of, const char *why)
{
    if (!lockstep_differs(of->lockstep)) {
        of->lockstep->failed = true;
        snprintf(of->lockstep->difference, sizeof of->lockstep->difference, "%.500s", why);
    }
}

static void differ(struct conform_store *of, unsigned who, const char *what, int64_t simulated,
                   int64_t real)
{
    if (!lockstep_differs(of->lockstep)) {
        snprintf(of->lockstep->difference, sizeof of->lockstep->difference,
                 "%c, by the store of assay real: %s: simulated: %lld; PostgreSQL: %lld",
                 'A' + (int)who, what, (long long)simulated, (long long)real);
    }
}

static void conform_store_compare(struct conform_store *of, unsigned who,
                                  const struct outcome *real)
{
    const struct outcome *simulated = &of->lockstep->sessions->each[who].outcome;
    of->bundles++;
    of->commits += real->kind == OUTCOME_COMMITTED;
    if (simulated->kind != real->kind) {
        differ(of, who, "outcome", simulated->kind, real->kind);
    }
    if (simulated->refusal != real->refusal || simulated->aborted != real->aborted) {
        differ(of, who, "refusal or abort", simulated->refusal + 100 * simulated->aborted,
               real->refusal + 100 * real->aborted);
    }
    if (simulated->kind != OUTCOME_COMMITTED) {
        return;
    }
    if (simulated->skipped != real->skipped) {
        differ(of, who, "skipped", simulated->skipped, real->skipped);
    }
    for (int v = 0; v < BUNDLE_VALUES_MAX; v++) {
        if (simulated->values[v] != real->values[v]) {
            differ(of, who, "a value", simulated->values[v], real->values[v]);
        }
    }
    bool claimed = simulated->message[0] != 0 || real->message[0] != 0;
    for (int i = 0; claimed && i <= MESSAGE_COLUMNS; i++) {
        if (simulated->message[i] != real->message[i]) {
            differ(of, who, "claimed message", simulated->message[i], real->message[i]);
        }
    }
}

/* ---- one transaction ------------------------------------------------------------------------- */

/* Its statements, as far as they go; true: 40001 could have come. */
static bool simulate(struct sessions *sessions, unsigned who, const struct bundle *bundle)
{
    bool may = false;
    session_begin(sessions, who, bundle, SESSION_PICKS_ITSELF);
    do {
        may = session_may_abort(sessions, who) || may;
    } while (session_statement(sessions, who) == SESSION_OPEN);
    return session_may_abort(sessions, who) || may;
}

static bool receive(struct conform_store *of, unsigned who, struct outcome *real)
{
    store_pg_send_commit(of->stores[who]);
    bool told = store_pg_receive(of->stores[who], real);
    if (!told) {
        conform_store_fail(of, store_pg_why_not(of->stores[who]));
    }
    return told;
}

/* The bundle begins with looking for a row by its key. */
static bool begins_with_a_look(const struct sessions *sessions, const struct bundle *bundle)
{
    switch ((enum op_kind)sessions->primitives[bundle->calls[0].primitive].ops[0].kind) {
    case OP_READ:
    case OP_TEST:
    case OP_ADD:
    case OP_SET:
    case OP_DELETE:
        return true;
    case OP_INSERT: /* what an index or a foreign key looks up is not always noted */
    case OP_RECORD:
    case OP_CLAIM:
    case OP_FIND:
    case OP_EVERY:
    case OP_ADVISORY:
    case OP_LET_EQUAL:
    case OP_LET_SUM:
    case OP_LET_MODULO:
        break;
    }
    return false;
}

/* A serializable transaction that looked for a row has notes of that, and nobody else has any: so
 * the server itself says at which level the store let it run. */
static void compare_level(struct conform_store *of, unsigned who)
{
    const struct session *session = &of->lockstep->sessions->each[who];
    bool serializable = session->bundle.isolation == SERIALIZABLE;
    char query[120];
    int64_t notes;
    snprintf(query, sizeof query,
             "SELECT count(*) FROM pg_locks WHERE mode = 'SIReadLock' AND pid = %d",
             store_pg_backend(of->stores[who]));
    if (!store_pg_ask(of->watcher, query, &notes)) {
        conform_store_fail(of, store_pg_why_not(of->watcher));
    } else if (serializable
                   ? begins_with_a_look(of->lockstep->sessions, &session->bundle) && notes == 0
                   : notes > 0) {
        differ(of, who, "notes of what a serializable transaction read", serializable, notes);
    }
}

/* What PostgreSQL refused that the simulation did: its choice is taken over where it has one (CS2).
 * True: so it is. */
static bool taken_over(struct conform_store *of, unsigned who, bool may, const struct outcome *real)
{
    struct sessions *sessions = of->lockstep->sessions;
    bool skipped = sessions->each[who].outcome.skipped != 0;
    bool chosen = may && real->kind == OUTCOME_ABORTED && real->aborted == ABORT_SERIALIZATION;
    bool asked_in_vain =
        skipped && real->kind == OUTCOME_REFUSED && real->refusal == REFUSED_FORBIDDEN;
    if (chosen || asked_in_vain) {
        of->aborts += chosen;
        session_abort(sessions, who, ABORT_SERIALIZATION);
    }
    return chosen || asked_in_vain;
}

/* All but COMMIT. True: it is open on both sides; false: it has ended. */
static bool open_both(struct conform_store *of, unsigned who, const struct bundle *bundle)
{
    struct sessions *sessions = of->lockstep->sessions;
    struct session *session = &sessions->each[who];
    struct outcome real;
    bool may = simulate(sessions, who, bundle);
    bool open = store_pg_send_open(of->stores[who], bundle, session->now);
    if (open && session->state == SESSION_DONE) {
        compare_level(of, who);
        return true;
    }
    if (!receive(of, who, &real)) {
        return false;
    }
    if (session->state == SESSION_WAITS) {
        of->waits++;
        session_abort(sessions, who, ABORT_TIMEOUT);
        conform_store_compare(of, who, &real);
    } else if (!taken_over(of, who, may, &real)) {
        conform_store_compare(of, who, &real);
    }
    session_end(sessions, who, world_mark(sessions->world));
    return false;
}

static void commit_both(struct conform_store *of, unsigned who)
{
    struct sessions *sessions = of->lockstep->sessions;
    size_t mark = world_mark(sessions->world);
    bool may = session_may_abort(sessions, who);
    struct outcome real;
    if (!receive(of, who, &real)) {
        return;
    }
    if (!taken_over(of, who, may, &real)) {
        session_apply(sessions, who);
        conform_store_compare(of, who, &real);
    }
    session_end(sessions, who, mark);
    world_keep(sessions->world);
}

/* ---- a script -------------------------------------------------------------------------------- */

static struct store_pg *connect_as(struct conform_store *of, const struct script *script,
                                   enum principal principal)
{
    struct error error;
    bool bound = principal != PRINCIPAL_NONE;
    struct store_pg_options options = {.dsn = of->dsn,
                                       .role = bound ? of->roles.names[principal] : NULL,
                                       .password = bound ? of->roles.password : NULL,
                                       .schema = of->schema,
                                       .primitives = script->primitives,
                                       .primitive_count = script->primitive_count,
                                       .form = SQL_WHOLE};
    struct store_pg *store = store_pg_open(&options, &error);
    if (store == NULL) {
        conform_store_fail(of, error.text);
    } else if (!store_pg_run(store, LOCK_TIMEOUT)) {
        conform_store_fail(of, store_pg_why_not(store));
    }
    return store;
}

enum stage { STAGE_TO_COME, STAGE_OPEN, STAGE_OVER };

static void take_turn(struct conform_store *of, const struct script *script, unsigned who,
                      enum stage *stage)
{
    if (*stage == STAGE_TO_COME) {
        *stage = open_both(of, who, &script->bundles[who]) ? STAGE_OPEN : STAGE_OVER;
    } else if (*stage == STAGE_OPEN) {
        commit_both(of, who);
        *stage = STAGE_OVER;
    }
}

void conform_store_script(struct conform_store *of, const struct script *script)
{
    struct lockstep *lockstep = of->lockstep;
    enum stage stages[SCRIPT_SESSIONS_MAX] = {STAGE_TO_COME};
    lockstep->difference[0] = '\0';
    script_fill(script, lockstep->sessions->world);
    sessions_begin(lockstep->sessions, lockstep->sessions->world, script->primitives, of->rules,
                   SCRIPT_SESSIONS_MAX);
    lockstep_fill(lockstep);
    for (unsigned s = 0; s < script->sessions && !lockstep_differs(lockstep); s++) {
        of->stores[s] = connect_as(of, script, (enum principal)script->bundles[s].principal);
    }
    for (uint32_t t = 0; t < script->turn_count && !lockstep_differs(lockstep); t++) {
        take_turn(of, script, script->turns[t], &stages[script->turns[t]]);
    }
    for (unsigned s = 0; s < 2 * script->sessions && !lockstep_differs(lockstep); s++) {
        take_turn(of, script, s / 2, &stages[s / 2]); /* what is left: open, then COMMIT */
    }
    if (!lockstep_differs(lockstep)) {
        lockstep_rows(lockstep);
    }
    for (unsigned s = 0; s < script->sessions; s++) {
        store_pg_close(of->stores[s]);
        of->stores[s] = NULL;
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

bool conform_store_open(struct conform_store *of, struct error *error)
{
    struct store_pg_options watches = {.dsn = of->dsn,
                                       .schema = of->schema,
                                       .primitives = primitive_table,
                                       .primitive_count = PRIMITIVE_COUNT,
                                       .form = SQL_WHOLE};
    roles_draw(&of->roles, SCRIPT_PRINCIPALS);
    for (int p = 0; p < PRINCIPAL_COUNT; p++) {
        of->roles.connections[p] = SCRIPT_SESSIONS_MAX;
    }
    if (!store_pg_make_roles(of->dsn, of->schema, &of->roles, error)) {
        return false;
    }
    of->watcher = store_pg_open(&watches, error);
    if (of->watcher == NULL) {
        conform_store_close(of);
    }
    return of->watcher != NULL;
}

void conform_store_close(struct conform_store *of)
{
    struct error ignored;
    store_pg_close(of->watcher);
    store_pg_drop_roles(of->dsn, &of->roles, &ignored);
}
