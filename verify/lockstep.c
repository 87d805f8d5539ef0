#include "verify/lockstep.h"

#include "real/row_diff.h"
#include "real/schema.h"

#include <stdlib.h>
#include <string.h>

/* ---- differences ----------------------------------------------------------------------------- */

static void label(const struct lockstep *lockstep, unsigned who, char text[120])
{
    if (lockstep->name != NULL) {
        lockstep->name(lockstep, who, text, 120);
    } else {
        snprintf(text, 120, "session %u", who + 1);
    }
}

static void differ(struct lockstep *lockstep, unsigned who, const char *simulated, const char *real)
{
    char name[120];
    if (!lockstep_differs(lockstep)) {
        label(lockstep, who, name);
        snprintf(lockstep->difference, sizeof lockstep->difference,
                 "%s: simulated: %s; PostgreSQL: %s", name, simulated, real);
    }
}

static void lockstep_fail(struct lockstep *lockstep)
{
    if (!lockstep_differs(lockstep)) {
        lockstep->failed = true;
        snprintf(lockstep->difference, sizeof lockstep->difference, "%s",
                 stepper_why_not(lockstep->stepper));
    }
}

/* ---- what either side says ------------------------------------------------------------------- */

/* The SQLSTATE that a failed session stands for. */
static void sqlstate_of(const struct session *session, char text[6])
{
    const struct outcome *outcome = &session->outcome;
    if (outcome->kind == OUTCOME_ABORTED) {
        snprintf(text, 6, "%s", outcome->aborted == ABORT_DEADLOCK ? "40P01" : "40001");
        return;
    }
    switch ((int)outcome->refusal) {
    case REFUSED_EXISTS:
        snprintf(text, 6, "23505");
        return;
    case REFUSED_NO_PARENT:
        snprintf(text, 6, "23503");
        return;
    case REFUSED_NULL:
        snprintf(text, 6, "23502");
        return;
    case REFUSED_FORBIDDEN:
        snprintf(text, 6, "42501");
        return;
    default:
        snprintf(text, 6, SCHEMA_REFUSAL_CLASS "%03u", outcome->refusal % 1000u);
    }
}

/* A place to stand for one statement. */
struct place {
    uint8_t call, op;
    bool may; /* 40001 may come */
};

static void simulated_text(const struct session *session, const struct stepper_answer *answer,
                           char text[160])
{
    char sqlstate[6];
    size_t used = 0;
    text[0] = '\0';
    if (session->state == SESSION_WAITS) {
        snprintf(text, 160, "waits");
    } else if (session->state == SESSION_FAILED) {
        sqlstate_of(session, sqlstate);
        snprintf(text, 160, "%s", sqlstate);
    } else {
        used = (size_t)snprintf(text, 160, "done");
        for (uint8_t v = 0; answer != NULL && v < answer->count; v++) {
            used += (size_t)snprintf(text + used, 160 - used, " %lld",
                                     (long long)session->outcome.values[answer->places[v]]);
        }
        if (answer != NULL && answer->message_there) {
            used += (size_t)snprintf(text + used, 160 - used, " message %lld",
                                     (long long)session->outcome.message[0]);
        }
        if (session->outcome.skipped != 0) {
            snprintf(text + used, 160 - used, ", skips the rest");
        }
    }
}

static void real_text(const struct stepper_answer *answer, char text[160])
{
    if (answer == NULL) {
        snprintf(text, 160, "waits");
        return;
    }
    if (answer->sqlstate[0] != '\0') {
        snprintf(text, 160, "%s", answer->sqlstate);
        return;
    }
    size_t used = (size_t)snprintf(text, 160, "done");
    for (uint8_t v = 0; v < answer->count; v++) {
        if (answer->null[v]) {
            used += (size_t)snprintf(text + used, 160 - used, " -");
        } else {
            used +=
                (size_t)snprintf(text + used, 160 - used, " %lld", (long long)answer->values[v]);
        }
    }
    if (answer->message_there) {
        used += (size_t)snprintf(text + used, 160 - used, " message %lld",
                                 (long long)answer->claimed[0]);
    }
    if (answer->skips == 1) {
        snprintf(text + used, 160 - used, ", skips the rest");
    }
}

static void lockstep_tell(struct lockstep *lockstep, unsigned who, const char *what,
                          const char *simulated, const char *real)
{
    char name[120];
    if (lockstep->tell != NULL) {
        label(lockstep, who, name);
        fprintf(lockstep->tell, "  %-58s %-9s %-24s %s\n", name, what, simulated, real);
    }
}

static bool same_claim(const struct session *session, const struct stepper_answer *answer)
{
    return !answer->message_there ||
           memcmp(answer->claimed, session->outcome.message, sizeof answer->claimed) == 0;
}

/* Whether the session stands where PostgreSQL does. A 40001 that may come is taken over. */
static bool agrees(struct sessions *sessions, unsigned who, const struct place *at,
                   const struct stepper_answer *answer)
{
    struct session *session = &sessions->each[who];
    char sqlstate[6];
    if (answer->sqlstate[0] != '\0') {
        if (session->state == SESSION_FAILED) {
            sqlstate_of(session, sqlstate);
            if (strcmp(sqlstate, answer->sqlstate) == 0) {
                return true;
            }
        }
        if (strcmp(answer->sqlstate, "40001") == 0 && at->may) {
            session_abort(sessions, who, ABORT_SERIALIZATION);
            return true;
        }
        return false;
    }
    if (session->state == SESSION_FAILED || session->state == SESSION_WAITS) {
        return false;
    }
    for (uint8_t v = 0; v < answer->count; v++) {
        if (!answer->null[v] && answer->values[v] != session->outcome.values[answer->places[v]]) {
            return false;
        }
    }
    return (answer->skips == 1) == (session->outcome.skipped != 0) && same_claim(session, answer);
}

static struct place lockstep_place_of(const struct sessions *sessions, unsigned who)
{
    const struct session *session = &sessions->each[who];
    return (struct place){session->call, session->op, session_may_abort(sessions, who)};
}

static void lockstep_compare(struct lockstep *lockstep, unsigned who, const struct place *at,
                             bool answered)
{
    const struct stepper_answer *answer = answered ? stepper_answer(lockstep->stepper, who) : NULL;
    const struct session *session = &lockstep->sessions->each[who];
    char simulated[160], real[160];
    simulated_text(session, answer, simulated);
    bool waits = session->state == SESSION_WAITS;
    uint64_t chosen = session->state != SESSION_FAILED;
    bool same = answered ? !waits && agrees(lockstep->sessions, who, at, answer) : waits;
    lockstep->aborts += same && chosen && session->state == SESSION_FAILED;
    real_text(answer, real);
    lockstep_tell(lockstep, who, "", simulated, real);
    if (!same) {
        differ(lockstep, who, simulated, real);
    }
}

/* ---- those that waited ----------------------------------------------------------------------- */

static uint32_t able(const struct sessions *sessions)
{
    uint32_t mask = 0;
    for (uint32_t s = 0; s < sessions->count; s++) {
        const struct session *session = &sessions->each[s];
        mask |= (uint32_t)(session->state == SESSION_WAITS && session_waits_for(sessions, s) == 0)
                << s;
    }
    return mask;
}

/* Lets those that can go on do so in an order that explains what PostgreSQL answered. False: there
 * is none; the simulation is as it was. */
static bool resolve(struct lockstep *lockstep, uint32_t answered)
{
    struct sessions *sessions = lockstep->sessions;
    uint32_t candidates = able(sessions);
    bool all_stay = (answered & sessions_waiting(sessions)) == 0;
    for (uint32_t s = 0; s < sessions->count; s++) {
        if ((candidates >> s & 1) == 0) {
            continue;
        }
        struct sessions *kept = malloc(sizeof *kept);
        if (kept == NULL) {
            return false;
        }
        *kept = *sessions;
        struct place at = lockstep_place_of(sessions, s);
        bool told = (answered >> s & 1) != 0;
        enum session_state state = session_statement(sessions, s);
        bool fits = state == SESSION_WAITS
                        ? !told
                        : told && agrees(sessions, s, &at, stepper_answer(lockstep->stepper, s));
        if (fits && resolve(lockstep, state == SESSION_WAITS ? answered : answered & ~(1u << s))) {
            free(kept);
            return true;
        }
        *sessions = *kept;
        free(kept);
        all_stay = all_stay && session_queues(sessions, s);
    }
    return all_stay;
}

/* Of those who wait: a deadlock's victim and a 40001 that may come are PostgreSQL's choice. */
static void take_over_aborts(struct lockstep *lockstep, uint32_t *answered)
{
    struct sessions *sessions = lockstep->sessions;
    uint32_t cyclic = 0, may = 0;
    for (uint32_t s = 0; s < sessions->count; s++) {
        cyclic |= session_deadlock(sessions, s);
        may |= (uint32_t)session_may_abort(sessions, s) << s;
    }
    for (uint32_t s = 0; s < sessions->count; s++) {
        if ((*answered >> s & 1) == 0 || sessions->each[s].state != SESSION_WAITS) {
            continue;
        }
        const char *sqlstate = stepper_answer(lockstep->stepper, s)->sqlstate;
        bool deadlock = strcmp(sqlstate, "40P01") == 0 && (cyclic >> s & 1) != 0;
        bool doomed = strcmp(sqlstate, "40001") == 0 && (may >> s & 1) != 0;
        if (deadlock || doomed) {
            session_abort(sessions, s, deadlock ? ABORT_DEADLOCK : ABORT_SERIALIZATION);
            lockstep->deadlocks += deadlock;
            lockstep->aborts += doomed;
            *answered &= ~(1u << s);
            lockstep_tell(lockstep, s, "", deadlock ? "deadlock" : "40001 may come", sqlstate);
        }
    }
}

static void compare_woken(struct lockstep *lockstep, uint32_t before, uint32_t answered,
                          bool resolved)
{
    struct sessions *sessions = lockstep->sessions;
    for (uint32_t s = 0; s < sessions->count && !lockstep_differs(lockstep); s++) {
        bool told = (answered >> s & 1) != 0;
        struct place at = lockstep_place_of(sessions, s);
        if ((before >> s & 1) == 0 || (!told && resolved)) {
            continue;
        }
        if (!resolved && session_waits_for(sessions, s) == 0 &&
            sessions->each[s].state == SESSION_WAITS) {
            session_statement(sessions, s); /* the usual order, to have something to show */
        }
        at.call = lockstep->at[s];
        lockstep_compare(lockstep, s, &at, told);
    }
    if (!resolved && !lockstep_differs(lockstep)) {
        differ(lockstep, 0, "no order of those that waited explains it", "went on");
    }
}

/* Continues the sessions that PostgreSQL has released, until none is stuck. */
static void lockstep_wake(struct lockstep *lockstep, uint32_t answered)
{
    struct sessions *sessions = lockstep->sessions;
    while (!lockstep_differs(lockstep)) {
        take_over_aborts(lockstep, &answered);
        uint32_t before = sessions_waiting(sessions);
        if (before != 0) {
            compare_woken(lockstep, before, answered, resolve(lockstep, answered));
        }
        uint32_t stuck = sessions_stuck(sessions);
        if (stuck == 0 || lockstep_differs(lockstep)) {
            return;
        }
        if (!stepper_settle(lockstep->stepper, true, &answered)) {
            for (uint32_t s = 0; s < sessions->count; s++) {
                if (stuck >> s & 1) {
                    differ(lockstep, s, "deadlock", "no deadlock");
                }
            }
        }
    }
}

/* ---- the caller's steps ---------------------------------------------------------------------- */

void lockstep_begin(struct lockstep *lockstep, unsigned who, const struct bundle *bundle,
                    uint32_t picked)
{
    if (lockstep_differs(lockstep)) {
        return;
    }
    session_begin(lockstep->sessions, who, bundle, picked);
    if (!stepper_begin(lockstep->stepper, who, bundle, lockstep->sessions->each[who].now)) {
        lockstep_fail(lockstep);
    }
}

/* A list of several operations by operation begins with a statement that only resets values. */
static bool send(struct lockstep *lockstep, unsigned who, const struct place *at)
{
    const struct session *session = &lockstep->sessions->each[who];
    const struct primitive *primitive =
        &lockstep->sessions->primitives[session->bundle.calls[at->call].primitive];
    int count = stepper_statements(lockstep->stepper, who, at->call);
    uint32_t answered = 0;
    stepper_wall(lockstep->stepper, world_wall(lockstep->sessions->world));
    if (count == 1) {
        return stepper_send(lockstep->stepper, who, at->call, 0);
    }
    if (at->op == 0 && primitive->op_count > 1 &&
        (!stepper_send(lockstep->stepper, who, at->call, 0) ||
         !stepper_settle(lockstep->stepper, false, &answered))) {
        return false;
    }
    return stepper_send(lockstep->stepper, who, at->call, at->op + 1);
}

/* The statement that begins with this call. */
static void note_followed(struct lockstep *lockstep, const struct bundle *bundle, uint8_t call)
{
    for (bool on = true; on; call++) {
        on = bundle_goes_on(bundle, call);
        if (bundle->calls[call].primitive < PRIMITIVE_COUNT) {
            lockstep->followed[bundle->calls[call].primitive]++;
        }
    }
}

void lockstep_statement(struct lockstep *lockstep, unsigned who)
{
    if (lockstep_differs(lockstep)) {
        return;
    }
    struct sessions *sessions = lockstep->sessions;
    struct place at = lockstep_place_of(sessions, who);
    uint32_t answered = 0;
    lockstep->statements++;
    note_followed(lockstep, &sessions->each[who].bundle, at.call);
    if (!send(lockstep, who, &at)) {
        lockstep_fail(lockstep);
        return;
    }
    lockstep->at[who] = at.call;
    enum session_state state = session_statement(sessions, who);
    lockstep->waits += state == SESSION_WAITS;
    if (!stepper_settle(lockstep->stepper, false, &answered)) {
        lockstep_fail(lockstep);
        return;
    }
    bool went_on = state == SESSION_WAITS && (answered >> who & 1) != 0;
    if (!went_on) {
        lockstep_compare(lockstep, who, &at, (answered >> who & 1) != 0);
        answered &= ~(1u << who);
    }
    lockstep_wake(lockstep, answered); /* also sessions whose wait ended before it was observed */
}

void lockstep_abort(struct lockstep *lockstep, unsigned who)
{
    uint32_t answered = 0;
    if (lockstep_differs(lockstep)) {
        session_abort(lockstep->sessions, who, ABORT_CONNECTION);
        return;
    }
    if (!stepper_cancel(lockstep->stepper, who) || !stepper_end(lockstep->stepper, who, false)) {
        lockstep_fail(lockstep);
    }
    session_abort(lockstep->sessions, who, ABORT_CONNECTION);
    lockstep->thrown_out[who] = true;
    if (!lockstep_differs(lockstep) && !stepper_settle(lockstep->stepper, false, &answered)) {
        lockstep_fail(lockstep);
    }
    lockstep_tell(lockstep, who, "thrown out", "", "");
    lockstep_wake(lockstep, answered & ~(1u << who));
}

bool lockstep_end(struct lockstep *lockstep, unsigned who, bool commit, size_t mark)
{
    struct sessions *sessions = lockstep->sessions;
    struct session *session = &sessions->each[who];
    if (lockstep_differs(lockstep) || lockstep->thrown_out[who]) {
        lockstep->thrown_out[who] = false;
        if (session->state != SESSION_FAILED) {
            session_abort(sessions, who, ABORT_CONNECTION);
        }
        session_end(sessions, who, mark);
        return false;
    }
    bool commits = commit && session->state == SESSION_DONE, applied = false;
    bool may = session_may_abort(sessions, who);
    uint32_t answered = 0;
    if (!stepper_end(lockstep->stepper, who, commits) ||
        !stepper_settle(lockstep->stepper, false, &answered)) {
        lockstep_fail(lockstep);
        return false;
    }
    const struct stepper_answer *answer = stepper_answer(lockstep->stepper, who);
    bool refused = answer->sqlstate[0] != '\0';
    if (commits && refused && strcmp(answer->sqlstate, "40001") == 0 && may) {
        struct sessions *before =
            lockstep->copy; /* chosen, unless the simulation demands it, too */
        *before = *sessions;
        lockstep->aborts += session_apply(before, who);
        session_abort(sessions, who, ABORT_SERIALIZATION);
        world_undo(sessions->world, mark);
    } else if (commits) {
        applied = session_apply(sessions, who);
    } else if (session->state != SESSION_FAILED) {
        session_abort(sessions, who, ABORT_NONE);
    }
    lockstep_tell(lockstep, who, commits ? "commit" : "rollback",
                  !commits || applied ? "" : "40001", answer->sqlstate);
    if (commits && applied == refused) {
        differ(lockstep, who, applied ? "commits" : "40001 at commit",
               refused ? answer->sqlstate : "commits");
    } else if (!commits && refused) {
        differ(lockstep, who, "rolls back", answer->sqlstate);
    }
    lockstep->commits += applied;
    session_end(sessions, who, mark);
    lockstep_wake(lockstep, answered & ~(1u << who));
    return applied;
}

/* ---- rows ------------------------------------------------------------------------------------ */

void lockstep_rows(struct lockstep *lockstep)
{
    const struct rows *rows = &lockstep->sessions->world->rows;
    for (int t = 0; t < TABLE_COUNT && !lockstep_differs(lockstep); t++) {
        struct row_diff diff = {.rows = rows, .table = (enum row_table)t};
        if (rows->table[t].capacity == 0) {
            continue; /* not used: it may not be there on the server */
        }
        if (!stepper_rows(lockstep->stepper, diff.table, row_diff_row, &diff)) {
            lockstep_fail(lockstep);
        } else if (!row_diff_is_same(&diff)) {
            snprintf(lockstep->difference, sizeof lockstep->difference, "in the end: %s",
                     diff.difference);
        }
        lockstep->rows += diff.seen;
    }
}

/* Children go before their parents, and come after them. */
void lockstep_fill(struct lockstep *lockstep)
{
    const struct rows *rows = &lockstep->sessions->world->rows;
    char *text = NULL;
    size_t size = 0;
    FILE *script = open_memstream(&text, &size);
    for (int t = TABLE_COUNT - 1; t >= 0; t--) {
        if (rows->table[t].capacity > 0) {
            fprintf(script, "DELETE FROM %s.%s;", lockstep->schema,
                    schema_table((enum row_table)t));
        }
    }
    for (int t = 0; t < TABLE_COUNT; t++) {
        for (uint32_t slot = 0; slot < rows->table[t].used; slot++) {
            if (row_is_there(rows, (enum row_table)t, slot)) {
                char row[ROW_DIFF_TEXT_SIZE];
                struct text insert = text_begin(row, sizeof row);
                row_diff_insert(&insert, lockstep->schema, rows, (enum row_table)t, slot);
                fprintf(script, "%s;", row);
            }
        }
    }
    fclose(script);
    if (!lockstep_differs(lockstep) && !stepper_run(lockstep->stepper, text)) {
        lockstep_fail(lockstep);
    }
    free(text);
}

void lockstep_copy_row(struct lockstep *lockstep, enum row_table table, uint32_t slot)
{
    char script[ROW_DIFF_TEXT_SIZE];
    struct text text = text_begin(script, sizeof script);
    row_diff_copy(&text, lockstep->schema, &lockstep->sessions->world->rows, table, slot);
    if (!lockstep_differs(lockstep) && !stepper_run(lockstep->stepper, script)) {
        lockstep_fail(lockstep);
    }
}
