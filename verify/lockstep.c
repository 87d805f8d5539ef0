#include "verify/lockstep.h"

#include "real/row_diff.h"
#include "real/schema.h"

#include <stdlib.h>
#include <string.h>

/* ---- differences ----------------------------------------------------------------------------- */

static void label(const struct lockstep *both, unsigned who, char text[120])
{
    if (both->name != NULL) {
        both->name(both, who, text, 120);
    } else {
        snprintf(text, 120, "session %u", who + 1);
    }
}

static void differ(struct lockstep *both, unsigned who, const char *simulated, const char *real)
{
    char name[120];
    if (!lockstep_differs(both)) {
        label(both, who, name);
        snprintf(both->difference, sizeof both->difference, "%s: simulated: %s; PostgreSQL: %s",
                 name, simulated, real);
    }
}

static void fail(struct lockstep *both)
{
    if (!lockstep_differs(both)) {
        both->failed = true;
        snprintf(both->difference, sizeof both->difference, "%s", stepper_why_not(both->stepper));
    }
}

/* ---- what either side says ------------------------------------------------------------------- */

/* The SQLSTATE that a failed session stands for. */
static void sqlstate_of(const struct session *one, char text[6])
{
    const struct outcome *outcome = &one->outcome;
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

static void simulated_text(const struct session *one, const struct place *at,
                           const struct stepper_answer *answer, char text[160])
{
    char sqlstate[6];
    size_t used = 0;
    text[0] = '\0';
    if (one->state == SESSION_WAITS) {
        snprintf(text, 160, "waits");
    } else if (one->state == SESSION_FAILED) {
        sqlstate_of(one, sqlstate);
        snprintf(text, 160, "%s", sqlstate);
    } else {
        used = (size_t)snprintf(text, 160, "done");
        for (uint8_t v = 0; answer != NULL && v < answer->count; v++) {
            const int64_t *values = &one->outcome.values[one->bundle.calls[at->call].values];
            used += (size_t)snprintf(text + used, 160 - used, " %lld",
                                     (long long)values[answer->places[v]]);
        }
        if (answer != NULL && answer->message_there) {
            used += (size_t)snprintf(text + used, 160 - used, " message %lld",
                                     (long long)one->outcome.message[0]);
        }
        if (one->outcome.skipped != 0) {
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

static void tell(struct lockstep *both, unsigned who, const char *what, const char *simulated,
                 const char *real)
{
    char name[120];
    if (both->tell != NULL) {
        label(both, who, name);
        fprintf(both->tell, "  %-58s %-9s %-24s %s\n", name, what, simulated, real);
    }
}

static bool same_claim(const struct session *one, const struct stepper_answer *answer)
{
    return !answer->message_there ||
           memcmp(answer->claimed, one->outcome.message, sizeof answer->claimed) == 0;
}

/* Whether the session stands where PostgreSQL does. A 40001 that may come is taken over. */
static bool agrees(struct sessions *all, unsigned who, const struct place *at,
                   const struct stepper_answer *answer)
{
    struct session *one = &all->each[who];
    char sqlstate[6];
    if (answer->sqlstate[0] != '\0') {
        if (one->state == SESSION_FAILED) {
            sqlstate_of(one, sqlstate);
            if (strcmp(sqlstate, answer->sqlstate) == 0) {
                return true;
            }
        }
        if (strcmp(answer->sqlstate, "40001") == 0 && at->may) {
            session_abort(all, who, ABORT_SERIALIZATION);
            return true;
        }
        return false;
    }
    if (one->state == SESSION_FAILED || one->state == SESSION_WAITS) {
        return false;
    }
    const int64_t *values = &one->outcome.values[one->bundle.calls[at->call].values];
    for (uint8_t v = 0; v < answer->count; v++) {
        if (!answer->null[v] && answer->values[v] != values[answer->places[v]]) {
            return false;
        }
    }
    return (answer->skips == 1) == (one->outcome.skipped != 0) && same_claim(one, answer);
}

static struct place place_of(const struct sessions *all, unsigned who)
{
    const struct session *one = &all->each[who];
    return (struct place){one->call, one->op, session_may_abort(all, who)};
}

static void compare(struct lockstep *both, unsigned who, const struct place *at, bool answered)
{
    const struct stepper_answer *answer = answered ? stepper_answer(both->stepper, who) : NULL;
    const struct session *one = &both->all->each[who];
    char simulated[160], real[160];
    simulated_text(one, at, answer, simulated);
    bool waits = one->state == SESSION_WAITS;
    uint64_t chosen = one->state != SESSION_FAILED;
    bool same = answered ? !waits && agrees(both->all, who, at, answer) : waits;
    both->aborts += same && chosen && one->state == SESSION_FAILED;
    real_text(answer, real);
    tell(both, who, "", simulated, real);
    if (!same) {
        differ(both, who, simulated, real);
    }
}

/* ---- those that waited ----------------------------------------------------------------------- */

static uint32_t able(const struct sessions *all)
{
    uint32_t mask = 0;
    for (uint32_t s = 0; s < all->count; s++) {
        const struct session *one = &all->each[s];
        mask |= (uint32_t)(one->state == SESSION_WAITS && session_waits_for(all, s) == 0) << s;
    }
    return mask;
}

/* Lets those that can go on do so in an order that explains what PostgreSQL answered. False: there
 * is none; the simulation is as it was. */
static bool resolve(struct lockstep *both, uint32_t answered)
{
    struct sessions *all = both->all;
    uint32_t candidates = able(all);
    bool all_stay = (answered & sessions_waiting(all)) == 0;
    for (uint32_t s = 0; s < all->count; s++) {
        if ((candidates >> s & 1) == 0) {
            continue;
        }
        struct sessions *kept = malloc(sizeof *kept);
        if (kept == NULL) {
            return false;
        }
        *kept = *all;
        struct place at = place_of(all, s);
        bool told = (answered >> s & 1) != 0;
        enum session_state state = session_statement(all, s);
        bool fits = state == SESSION_WAITS
                        ? !told
                        : told && agrees(all, s, &at, stepper_answer(both->stepper, s));
        if (fits && resolve(both, state == SESSION_WAITS ? answered : answered & ~(1u << s))) {
            free(kept);
            return true;
        }
        *all = *kept;
        free(kept);
        all_stay = all_stay && session_queues(all, s);
    }
    return all_stay;
}

/* Of those who wait: a deadlock's victim and a 40001 that may come are PostgreSQL's choice. */
static void take_over_aborts(struct lockstep *both, uint32_t *answered)
{
    struct sessions *all = both->all;
    uint32_t cyclic = 0, may = 0;
    for (uint32_t s = 0; s < all->count; s++) {
        cyclic |= session_deadlock(all, s);
        may |= (uint32_t)session_may_abort(all, s) << s;
    }
    for (uint32_t s = 0; s < all->count; s++) {
        if ((*answered >> s & 1) == 0 || all->each[s].state != SESSION_WAITS) {
            continue;
        }
        const char *sqlstate = stepper_answer(both->stepper, s)->sqlstate;
        bool deadlock = strcmp(sqlstate, "40P01") == 0 && (cyclic >> s & 1) != 0;
        bool doomed = strcmp(sqlstate, "40001") == 0 && (may >> s & 1) != 0;
        if (deadlock || doomed) {
            session_abort(all, s, deadlock ? ABORT_DEADLOCK : ABORT_SERIALIZATION);
            both->deadlocks += deadlock;
            both->aborts += doomed;
            *answered &= ~(1u << s);
            tell(both, s, "", deadlock ? "deadlock" : "40001 may come", sqlstate);
        }
    }
}

static void compare_woken(struct lockstep *both, uint32_t before, uint32_t answered, bool resolved)
{
    struct sessions *all = both->all;
    for (uint32_t s = 0; s < all->count && !lockstep_differs(both); s++) {
        bool told = (answered >> s & 1) != 0;
        struct place at = place_of(all, s);
        if ((before >> s & 1) == 0 || (!told && resolved)) {
            continue;
        }
        if (!resolved && session_waits_for(all, s) == 0 && all->each[s].state == SESSION_WAITS) {
            session_statement(all, s); /* the usual order, to have something to show */
        }
        at.call = both->at[s];
        compare(both, s, &at, told);
    }
    if (!resolved && !lockstep_differs(both)) {
        differ(both, 0, "no order of those that waited explains it", "went on");
    }
}

/* Continues the sessions that PostgreSQL has released, until none is stuck. */
static void wake(struct lockstep *both, uint32_t answered)
{
    struct sessions *all = both->all;
    while (!lockstep_differs(both)) {
        take_over_aborts(both, &answered);
        uint32_t before = sessions_waiting(all);
        if (before != 0) {
            compare_woken(both, before, answered, resolve(both, answered));
        }
        uint32_t stuck = sessions_stuck(all);
        if (stuck == 0 || lockstep_differs(both)) {
            return;
        }
        if (!stepper_settle(both->stepper, true, &answered)) {
            for (uint32_t s = 0; s < all->count; s++) {
                if (stuck >> s & 1) {
                    differ(both, s, "deadlock", "no deadlock");
                }
            }
        }
    }
}

/* ---- the caller's steps ---------------------------------------------------------------------- */

void lockstep_begin(struct lockstep *both, unsigned who, const struct bundle *bundle,
                    uint32_t picked)
{
    if (lockstep_differs(both)) {
        return;
    }
    session_begin(both->all, who, bundle, picked);
    if (!stepper_begin(both->stepper, who, bundle, both->all->each[who].now)) {
        fail(both);
    }
}

/* A list of several operations by operation begins with a statement that only resets values. */
static bool send(struct lockstep *both, unsigned who, const struct place *at)
{
    const struct session *one = &both->all->each[who];
    const struct primitive *primitive =
        &both->all->primitives[one->bundle.calls[at->call].primitive];
    int count = stepper_statements(both->stepper, who, at->call);
    uint32_t answered = 0;
    if (count == 1) {
        return stepper_send(both->stepper, who, at->call, 0);
    }
    if (at->op == 0 && primitive->op_count > 1 &&
        (!stepper_send(both->stepper, who, at->call, 0) ||
         !stepper_settle(both->stepper, false, &answered))) {
        return false;
    }
    return stepper_send(both->stepper, who, at->call, at->op + 1);
}

void lockstep_statement(struct lockstep *both, unsigned who)
{
    if (lockstep_differs(both)) {
        return;
    }
    struct sessions *all = both->all;
    struct place at = place_of(all, who);
    uint32_t answered = 0;
    both->statements++;
    uint8_t primitive = all->each[who].bundle.calls[at.call].primitive;
    if (primitive < PRIMITIVE_COUNT) {
        both->followed[primitive]++;
    }
    if (!send(both, who, &at)) {
        fail(both);
        return;
    }
    both->at[who] = at.call;
    enum session_state state = session_statement(all, who);
    both->waits += state == SESSION_WAITS;
    if (!stepper_settle(both->stepper, false, &answered)) {
        fail(both);
        return;
    }
    bool went_on = state == SESSION_WAITS && (answered >> who & 1) != 0;
    if (!went_on) {
        compare(both, who, &at, (answered >> who & 1) != 0);
        answered &= ~(1u << who);
    }
    wake(both, answered); /* also sessions whose wait ended before it was observed */
}

void lockstep_abort(struct lockstep *both, unsigned who)
{
    uint32_t answered = 0;
    if (lockstep_differs(both)) {
        session_abort(both->all, who, ABORT_CONNECTION);
        return;
    }
    if (!stepper_cancel(both->stepper, who) || !stepper_end(both->stepper, who, false)) {
        fail(both);
    }
    session_abort(both->all, who, ABORT_CONNECTION);
    both->thrown_out[who] = true;
    if (!lockstep_differs(both) && !stepper_settle(both->stepper, false, &answered)) {
        fail(both);
    }
    tell(both, who, "thrown out", "", "");
    wake(both, answered & ~(1u << who));
}

bool lockstep_end(struct lockstep *both, unsigned who, bool commit, size_t mark)
{
    struct sessions *all = both->all;
    struct session *one = &all->each[who];
    if (lockstep_differs(both) || both->thrown_out[who]) {
        both->thrown_out[who] = false;
        if (one->state != SESSION_FAILED) {
            session_abort(all, who, ABORT_CONNECTION);
        }
        session_end(all, who, mark);
        return false;
    }
    bool commits = commit && one->state == SESSION_DONE, applied = false;
    bool may = session_may_abort(all, who);
    uint32_t answered = 0;
    if (!stepper_end(both->stepper, who, commits) ||
        !stepper_settle(both->stepper, false, &answered)) {
        fail(both);
        return false;
    }
    const struct stepper_answer *answer = stepper_answer(both->stepper, who);
    bool refused = answer->sqlstate[0] != '\0';
    if (commits && refused && strcmp(answer->sqlstate, "40001") == 0 && may) {
        struct sessions *before = both->copy; /* chosen, unless the simulation demands it, too */
        *before = *all;
        both->aborts += session_apply(before, who);
        session_abort(all, who, ABORT_SERIALIZATION);
        world_undo(all->world, mark);
    } else if (commits) {
        applied = session_apply(all, who);
    } else if (one->state != SESSION_FAILED) {
        session_abort(all, who, ABORT_NONE);
    }
    tell(both, who, commits ? "commit" : "rollback", !commits || applied ? "" : "40001",
         answer->sqlstate);
    if (commits && applied == refused) {
        differ(both, who, applied ? "commits" : "40001 at commit",
               refused ? answer->sqlstate : "commits");
    } else if (!commits && refused) {
        differ(both, who, "rolls back", answer->sqlstate);
    }
    both->commits += applied;
    session_end(all, who, mark);
    wake(both, answered & ~(1u << who));
    return applied;
}

/* ---- rows ------------------------------------------------------------------------------------ */

void lockstep_rows(struct lockstep *both)
{
    const struct rows *rows = &both->all->world->rows;
    for (int t = 0; t < TABLE_COUNT && !lockstep_differs(both); t++) {
        struct row_diff diff = {.rows = rows, .table = (enum row_table)t};
        if (rows->table[t].capacity == 0) {
            continue; /* not used: it may not be there on the server */
        }
        if (!stepper_rows(both->stepper, diff.table, row_diff_row, &diff)) {
            fail(both);
        } else if (!row_diff_is_same(&diff)) {
            snprintf(both->difference, sizeof both->difference, "in the end: %s", diff.difference);
        }
        both->rows += diff.seen;
    }
}

/* Children go before their parents, and come after them. */
void lockstep_fill(struct lockstep *both)
{
    const struct rows *rows = &both->all->world->rows;
    char *text = NULL;
    size_t size = 0;
    FILE *script = open_memstream(&text, &size);
    for (int t = TABLE_COUNT - 1; t >= 0; t--) {
        if (rows->table[t].capacity > 0) {
            fprintf(script, "DELETE FROM %s.%s;", both->schema, schema_table((enum row_table)t));
        }
    }
    for (int t = 0; t < TABLE_COUNT; t++) {
        for (uint32_t slot = 0; slot < rows->table[t].used; slot++) {
            if (row_is_there(rows, (enum row_table)t, slot)) {
                char row[ROW_DIFF_TEXT_SIZE];
                struct text insert = text_begin(row, sizeof row);
                row_diff_insert(&insert, both->schema, rows, (enum row_table)t, slot);
                fprintf(script, "%s;", row);
            }
        }
    }
    fclose(script);
    if (!lockstep_differs(both) && !stepper_run(both->stepper, text)) {
        fail(both);
    }
    free(text);
}

void lockstep_copy_row(struct lockstep *both, enum row_table table, uint32_t slot)
{
    char script[ROW_DIFF_TEXT_SIZE];
    struct text text = text_begin(script, sizeof script);
    row_diff_copy(&text, both->schema, &both->all->world->rows, table, slot);
    if (!lockstep_differs(both) && !stepper_run(both->stepper, script)) {
        fail(both);
    }
}
