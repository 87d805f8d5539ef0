/* Whole transactions or operation by operation: on small scopes both levels of the simulated store
 * reach the same durable ends, whatever the interleaving. So what holds of a schedule of whole
 * transactions holds of interleaved ones, as far as the rows in the end go.
 *
 * An exhaustive search, depth first, over everything that can happen next: an actor begins a
 * transaction, does an operation, commits; a claim runs out; somebody dies. The clock stands still:
 * a claim that nobody holds any more may run out at any time, one that somebody holds as often as
 * the scope allows, which is a duplicate. States are told apart by a hash of what they can go on
 * from: rows, actors, and what each open transaction has seen, written and locked, by keys and not
 * by slots. */
#include "scenarios/scenario.h"
#include "sim/session.h"
#include "sim/store.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHANGES_MAX  8192
#define DEPTH_MAX    1000
#define ENDS_MAX     4096
#define VISITED_SIZE (UINT32_C(1) << 21) /* a power of two */
#define VISITED_MOST (VISITED_SIZE / 4 * 3)
#define VISIBLE_MAX  8
#define TIMEOUT      1000
#define PUT_BACK     7

/* How much may go wrong. */
struct budget {
    uint8_t duplicates; /* claims that run out while somebody holds them */
    uint8_t crashes;
};

struct scope {
    const char *name, *yaml;
    int duplicated; /* which messages: a kind, or 0: any */
    struct budget budget;
    uint32_t ends; /* expected */
};

/* As they are, unless a test says otherwise: the primitives of both levels, and the rules of the
 * interleaved one. */
static struct primitive primitives[PRIMITIVE_COUNT];
static struct session_rules postgresql;

static void make(void)
{
    memcpy(primitives, primitive_table, sizeof primitives);
    postgresql = session_postgresql;
}

TestSuite(levels, .init = make, .timeout = 600);

struct search {
    const struct scope *scope;
    bool interleaved; /* operation by operation; else whole transactions */
    struct rules rules;
    struct world world;
    struct sessions all;
    struct actor actors[PROTOCOL_ACTORS_MAX];
    struct budget left;
    struct world_fingerprint *visited;
    struct world_fingerprint ends[ENDS_MAX];
    uint32_t end_count, depth, deepest;
    uint64_t states, steps, waits, deadlocks, refusals;
    bool cut_short;             /* a bound was reached */
    const struct search *other; /* NULL, or one whose ends are known: another end is enough */
    bool strange;               /* ... and was found */
};

/* ---- sets of hashes -------------------------------------------------------------------------- */

/* False: it was there already. */
static bool visit(struct search *search, struct world_fingerprint hash)
{
    hash.high |= 1; /* 0: a free place */
    uint32_t at = (uint32_t)hash.low & (VISITED_SIZE - 1);
    for (; search->visited[at].high != 0; at = (at + 1) & (VISITED_SIZE - 1)) {
        if (search->visited[at].high == hash.high && search->visited[at].low == hash.low) {
            return false;
        }
    }
    search->visited[at] = hash;
    search->states++;
    return true;
}

static int by_hash(const void *left, const void *right)
{
    return memcmp(left, right, sizeof(struct world_fingerprint));
}

static bool has_end(const struct search *search, const struct world_fingerprint *end)
{
    for (uint32_t e = 0; e < search->end_count; e++) {
        if (memcmp(&search->ends[e], end, sizeof *end) == 0) {
            return true;
        }
    }
    return false;
}

static void note_end(struct search *search)
{
    const struct world_fingerprint *end = &search->world.fingerprint;
    if (has_end(search, end)) {
        return;
    }
    search->strange = search->other != NULL && !has_end(search->other, end);
    if (search->end_count == ENDS_MAX) {
        search->cut_short = true;
        return;
    }
    search->ends[search->end_count++] = *end;
}

/* ---- what a state is ------------------------------------------------------------------------- */

static void mix(struct world_fingerprint *hash, int64_t word)
{
    hash->high = (hash->high ^ (uint64_t)word) * UINT64_C(0x9FB21C651E98DF25);
    hash->high ^= hash->high >> 32;
    hash->low = (hash->low + (uint64_t)word) * UINT64_C(0xD6E8FEB86659FD93);
    hash->low ^= hash->low >> 29;
}

static void mix_bytes(struct world_fingerprint *hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (; size > 0; size -= size < 8 ? size : 8, at += 8) {
        int64_t word = 0;
        memcpy(&word, at, size < 8 ? size : 8);
        mix(hash, word);
    }
}

/* A row by its key, and whether it is the one that has the key now. */
static void mix_row(struct world_fingerprint *hash, const struct search *search, uint8_t table,
                    uint32_t slot)
{
    const struct rows *rows = &search->world.rows;
    int64_t key = slot == ROW_NONE ? -1 : row_key(rows, (enum row_table)table, slot);
    mix(hash, table);
    mix(hash, key);
    mix(hash, slot != ROW_NONE && row_find(rows, (enum row_table)table, key) == slot);
}

/* Field by field: what lies between fields is nobody's. */
static void mix_actor(struct world_fingerprint *hash, const struct search *search, unsigned actor)
{
    const struct actor *one = &search->actors[actor];
    const struct worker *worker = &one->is.worker;
    const struct consumer *consumer = &one->is.consumer;
    if (protocol_role(&search->rules, actor)->message == NULL) {
        mix(hash, one->is.client.job);
    } else if (search->rules.protocol == PROTOCOL_ACTIVITY) {
        mix_bytes(hash, worker, offsetof(struct worker, changed) + 1);
        mix_bytes(hash, &worker->ledger, sizeof *worker - offsetof(struct worker, ledger));
    } else {
        mix(hash, consumer->state << 8 | consumer->tries);
        mix_bytes(hash, consumer->message, sizeof consumer->message);
    }
}

static void mix_session(struct world_fingerprint *hash, const struct search *search,
                        const struct session *one)
{
    mix(hash, one->state);
    if (one->state == SESSION_CLOSED) {
        return;
    }
    mix(hash, one->call << 16 | one->op << 8 | one->in_statement << 1 | one->written);
    mix(hash, one->statement);
    mix(hash, one->snapshot);
    mix(hash, one->looks_from);
    if (one->state == SESSION_WAITS) {
        mix(hash, one->wait_kind << 8 | one->wait_mode);
        mix_row(hash, search, one->wait_table, one->wait_slot);
        mix(hash, one->wait_key);
    }
    mix_row(hash, search, TABLE_MESSAGE, one->picked);
    mix_bytes(hash, one->bundle.params, one->bundle.param_count * sizeof *one->bundle.params);
    mix(hash, one->bundle.name << 16 | one->bundle.count << 8 | one->outcome.skipped);
    mix_bytes(hash, one->outcome.values, sizeof one->outcome.values);
    for (uint16_t w = 0; w < one->write_count; w++) {
        const struct session_write *write = &one->writes[w];
        mix(hash, write->kind << 24 | write->column << 16 | (uint8_t)write->insert << 8 |
                      write->replaces);
        mix(hash, write->statement);
        mix_row(hash, search, write->table, write->slot);
        mix(hash, write->key);
        mix(hash, write->value);
    }
    mix_bytes(hash, one->inserts, one->insert_count * sizeof one->inserts[0]);
    for (uint16_t l = 0; l < one->lock_count; l++) {
        mix(hash, one->locks[l].mode);
        mix(hash, one->locks[l].since);
        mix_row(hash, search, one->locks[l].table, one->locks[l].slot);
    }
}

static struct world_fingerprint hash_of(const struct search *search)
{
    struct world_fingerprint hash = search->world.fingerprint;
    mix(&hash, search->left.duplicates << 8 | search->left.crashes);
    for (unsigned a = 0; a < search->rules.actors; a++) {
        mix_actor(&hash, search, a);
    }
    if (search->interleaved) {
        for (unsigned a = 0; a < search->rules.actors; a++) {
            mix_session(&hash, search, &search->all.each[a]);
        }
        for (uint32_t v = 0; v < search->all.version_count; v++) {
            const struct row_change *change = &search->all.versions[v];
            mix(&hash, change->kind << 16 | change->column << 8 | search->all.replaced[v]);
            mix_row(&hash, search, change->table, change->slot);
            mix(&hash, change->kind == ROW_UPDATED ? change->before : 0);
        }
    }
    return hash;
}

/* ---- going back ------------------------------------------------------------------------------ */

/* Everything but the rows, whose log takes them back. */
struct kept {
    struct budget left;
    size_t mark;
    struct actor actors[PROTOCOL_ACTORS_MAX];
    unsigned char *sessions;
};

static struct kept kept_states[DEPTH_MAX];

/* Sessions are mostly empty: what is in use of each. Copies either way. */
static size_t copy_part(unsigned char *at, size_t used, void *part, size_t size, bool back)
{
    if (back) {
        memcpy(part, at + used, size);
    } else {
        memcpy(at + used, part, size);
    }
    return used + size;
}

static size_t copy_session(unsigned char *at, size_t used, struct session *one, bool back)
{
    used = copy_part(at, used, one, offsetof(struct session, bundle), back);
    if (one->state == SESSION_CLOSED) {
        return used;
    }
    used = copy_part(at, used, &one->bundle, offsetof(struct bundle, calls), back);
    used =
        copy_part(at, used, one->bundle.calls, one->bundle.count * sizeof *one->bundle.calls, back);
    used = copy_part(at, used, one->bundle.params,
                     one->bundle.param_count * sizeof *one->bundle.params, back);
    used = copy_part(at, used, &one->outcome, sizeof one->outcome, back);
    used = copy_part(at, used, one->writes, one->write_count * sizeof *one->writes, back);
    used = copy_part(at, used, one->inserts, one->insert_count * sizeof *one->inserts, back);
    return copy_part(at, used, one->locks, one->lock_count * sizeof *one->locks, back);
}

static void copy_sessions(struct search *search, unsigned char *at, bool back)
{
    struct sessions *all = &search->all;
    size_t used = copy_part(at, 0, &all->version_count, sizeof all->version_count, back);
    used = copy_part(at, used, all->versions, all->version_count * sizeof *all->versions, back);
    used = copy_part(at, used, all->replaced, all->version_count * sizeof *all->replaced, back);
    for (unsigned a = 0; a < search->rules.actors; a++) {
        cr_assert_eq(all->each[a].advisory_count + all->each[a].read_count, 0);
        used = copy_session(at, used, &all->each[a], back);
    }
    cr_assert_lt(used, sizeof(struct sessions));
}

static void keep(struct search *search)
{
    struct kept *kept = &kept_states[search->depth];
    kept->left = search->left;
    kept->mark = world_mark(&search->world);
    memcpy(kept->actors, search->actors, sizeof kept->actors);
    if (search->interleaved) {
        if (kept->sessions == NULL) {
            kept->sessions = malloc(sizeof(struct sessions));
            cr_assert_not_null(kept->sessions);
        }
        copy_sessions(search, kept->sessions, false);
    }
}

static void go_back(struct search *search)
{
    struct kept *kept = &kept_states[search->depth];
    search->left = kept->left;
    world_undo(&search->world, kept->mark);
    memcpy(search->actors, kept->actors, sizeof kept->actors);
    if (search->interleaved) {
        copy_sessions(search, kept->sessions, true);
    }
}

/* ---- what can happen ------------------------------------------------------------------------- */

static void explore(struct search *search);

/* What came before is done: everything that can follow, and back. */
static void follow(struct search *search)
{
    search->steps++;
    explore(search);
    go_back(search);
}

static bool is_open(const struct search *search, unsigned actor)
{
    return search->interleaved && search->all.each[actor].state != SESSION_CLOSED;
}

static bool has_work(const struct search *search, unsigned actor)
{
    struct glance glance = {.rows = &search->world.rows, .now = search->world.now};
    if (world_next_message(&search->world, &glance.next_message) == ROW_NONE) {
        glance.next_message = PROTOCOL_NEVER;
    }
    return protocol_role(&search->rules, actor)
               ->due(&search->actors[actor], &search->rules, &glance) <= glance.now;
}

static void transact_whole(struct search *search, unsigned actor, const struct bundle *bundle,
                           uint32_t picked)
{
    struct outcome outcome;
    store_execute(&search->world, primitives, bundle, picked, &outcome);
    cr_assert(outcome.kind == OUTCOME_COMMITTED || outcome.refusal != REFUSED_STORE_FULL);
    search->refusals += outcome.kind == OUTCOME_REFUSED;
    protocol_role(&search->rules, actor)->take(&search->actors[actor], &search->rules, &outcome);
}

/* It is over, one way or another, and the actor hears of it. */
static void end_session(struct search *search, unsigned actor)
{
    struct session *one = &search->all.each[actor];
    size_t mark = world_mark(&search->world);
    if (one->state == SESSION_DONE) {
        cr_assert(session_apply(&search->all, actor));
    }
    struct outcome outcome = one->outcome;
    session_end(&search->all, actor, mark);
    search->refusals += outcome.kind == OUTCOME_REFUSED;
    protocol_role(&search->rules, actor)->take(&search->actors[actor], &search->rules, &outcome);
}

/* An operation that only reckons with its own values. */
static bool reckons(const struct session *one)
{
    const struct primitive *primitive = &primitives[one->bundle.calls[one->call].primitive];
    return primitive->ops[one->op].kind >= OP_LET_EQUAL;
}

/* The next operation, with those behind it that nobody could notice. Who fails hears of it at once:
 * it holds nothing any more. */
static void operate(struct search *search, unsigned actor)
{
    enum session_state state = SESSION_OPEN;
    do {
        state = session_operation(&search->all, actor);
    } while (state == SESSION_OPEN && reckons(&search->all.each[actor]));
    search->waits += state == SESSION_WAITS;
    if (state == SESSION_WAITS && session_deadlock(&search->all, actor) != 0) {
        session_abort(&search->all, actor, ABORT_DEADLOCK);
        search->deadlocks++;
        state = SESSION_FAILED;
    }
    if (state == SESSION_FAILED) {
        end_session(search, actor);
    }
}

static void begin_bundle(struct search *search, unsigned actor, uint32_t picked)
{
    struct bundle bundle;
    protocol_role(&search->rules, actor)->next(&search->actors[actor], &search->rules, &bundle);
    if (search->interleaved) {
        session_begin(&search->all, actor, &bundle, picked);
        operate(search, actor); /* BEGIN by itself does nothing that anybody could see */
    } else {
        transact_whole(search, actor, &bundle, picked);
    }
    follow(search);
}

/* A claim takes any message that is visible and that nobody has locked. */
static bool begin_claims(struct search *search, unsigned actor)
{
    uint32_t slots[VISIBLE_MAX];
    uint32_t count = world_visible(&search->world, VISIBLE_MAX, slots);
    bool some = false;
    cr_assert_lt(count, (uint32_t)VISIBLE_MAX);
    for (uint32_t i = 0; i < count; i++) {
        if (!search->interleaved || !sessions_locked(&search->all, TABLE_MESSAGE, slots[i])) {
            begin_bundle(search, actor, slots[i]);
            some = true;
        }
    }
    return some;
}

static bool step(struct search *search, unsigned actor)
{
    const struct role *role = protocol_role(&search->rules, actor);
    const struct session *one = &search->all.each[actor];
    if (!is_open(search, actor)) {
        if (!has_work(search, actor)) {
            return false;
        }
        if (role->message != NULL && role->is_idle(&search->actors[actor])) {
            return begin_claims(search, actor);
        }
        begin_bundle(search, actor, ROW_NONE);
        return true;
    }
    if (one->state == SESSION_WAITS && session_waits_for(&search->all, actor) != 0) {
        return false;
    }
    if (one->state == SESSION_DONE) {
        end_session(search, actor);
    } else {
        operate(search, actor);
    }
    follow(search);
    return true;
}

/* It dies, with its transaction, and is back. */
static void crash(struct search *search, unsigned actor)
{
    bool open = is_open(search, actor);
    const struct role *role = protocol_role(&search->rules, actor);
    if (search->left.crashes == 0 || (!open && role->is_idle(&search->actors[actor]))) {
        return;
    }
    search->left.crashes--;
    if (open) {
        session_abort(&search->all, actor, ABORT_CONNECTION);
        session_end(&search->all, actor, world_mark(&search->world));
    }
    protocol_restart(&search->actors[actor], &search->rules, actor);
    follow(search);
}

static bool is_held(const struct search *search, uint32_t slot)
{
    const struct rows *rows = &search->world.rows;
    for (unsigned a = 0; a < search->rules.actors; a++) {
        const struct role *role = protocol_role(&search->rules, a);
        const int64_t *message = role->message == NULL ? NULL : role->message(&search->actors[a]);
        if (message != NULL && !role->is_idle(&search->actors[a]) &&
            message[0] == row_key(rows, TABLE_MESSAGE, slot) &&
            message[1 + MESSAGE_EPOCH] == row_get(rows, TABLE_MESSAGE, slot, MESSAGE_EPOCH)) {
            return true;
        }
    }
    return false;
}

/* A claim runs out: the message can be claimed again. */
static bool run_out(struct search *search, uint32_t slot)
{
    struct world *world = &search->world;
    int kind = (int)row_get(&world->rows, TABLE_MESSAGE, slot, MESSAGE_KIND);
    bool held = is_held(search, slot);
    if (world->place[slot] == 0 ||
        row_get(&world->rows, TABLE_MESSAGE, slot, MESSAGE_VISIBLE_AT) <= world->now ||
        (search->interleaved && sessions_locked(&search->all, TABLE_MESSAGE, slot)) ||
        (held && (search->left.duplicates == 0 ||
                  (search->scope->duplicated != 0 && search->scope->duplicated != kind)))) {
        return false;
    }
    search->left.duplicates = (uint8_t)(search->left.duplicates - held);
    size_t mark = world_mark(world);
    world_set(world, TABLE_MESSAGE, slot, MESSAGE_VISIBLE_AT, world->now);
    if (search->interleaved) {
        sessions_note(&search->all, mark);
    }
    follow(search);
    return true;
}

static void explore(struct search *search)
{
    bool some = false;
    if (search->depth == DEPTH_MAX - 1 || search->states == VISITED_MOST) {
        search->cut_short = true;
    }
    if (search->cut_short || search->strange || !visit(search, hash_of(search))) {
        return;
    }
    search->depth++;
    search->deepest = search->depth > search->deepest ? search->depth : search->deepest;
    keep(search);
    for (unsigned a = 0; a < search->rules.actors; a++) {
        some = step(search, a) || some;
        crash(search, a);
    }
    uint32_t messages = search->world.rows.table[TABLE_MESSAGE].used;
    for (uint32_t slot = 0; slot < messages; slot++) {
        some = run_out(search, slot) || some;
    }
    if (!some) {
        cr_assert(!search->interleaved || sessions_open(&search->all) == 0, "somebody is stuck");
        note_end(search);
    }
    search->depth--;
}

/* ---- a scope --------------------------------------------------------------------------------- */

static struct search *search_until(const struct scope *scope, bool interleaved,
                                   const struct search *other)
{
    static struct scenario scenario;
    struct scenario_fault fault;
    struct world_capacity capacity = {.changes = CHANGES_MAX};
    struct search *search = calloc(1, sizeof *search);
    cr_assert_not_null(search);
    search->visited = calloc(VISITED_SIZE, sizeof *search->visited);
    cr_assert_not_null(search->visited);
    cr_assert(scenario_parse(scope->yaml, strlen(scope->yaml), scope->name, &scenario, &fault),
              "%s", fault.text);
    search->scope = scope;
    search->interleaved = interleaved;
    search->other = other;
    search->left = scope->budget;
    scenario_rules(&scenario, TIMEOUT, PUT_BACK, &search->rules);
    scenario_room(&scenario, capacity.rows);
    cr_assert(world_make(&search->world, &capacity));
    search->world.fingerprinted = true;
    for (unsigned a = 0; a < search->rules.actors; a++) {
        protocol_begin(&search->actors[a], &search->rules, a);
    }
    sessions_begin(&search->all, &search->world, primitives, &postgresql, search->rules.actors);
    explore(search);
    qsort(search->ends, search->end_count, sizeof search->ends[0], by_hash);
    cr_expect_not(search->cut_short, "%s: a bound was reached", scope->name);
    world_free(&search->world);
    free(search->visited);
    return search;
}

static struct search *search_all(const struct scope *scope, bool interleaved)
{
    return search_until(scope, interleaved, NULL);
}

static bool same_ends(const struct search *one, const struct search *other)
{
    return one->end_count == other->end_count &&
           memcmp(one->ends, other->ends, one->end_count * sizeof one->ends[0]) == 0;
}

static void compare_levels(const struct scope *scope)
{
    struct search *whole = search_all(scope, false), *interleaved = search_all(scope, true);
    printf(
        "%s: %llu states and %u ends of whole transactions; %llu states, %llu steps, %llu waits, "
        "%llu deadlocks and %u ends by operation, %u deep\n",
        scope->name, (unsigned long long)whole->states, whole->end_count,
        (unsigned long long)interleaved->states, (unsigned long long)interleaved->steps,
        (unsigned long long)interleaved->waits, (unsigned long long)interleaved->deadlocks,
        interleaved->end_count, interleaved->deepest);
    cr_expect(same_ends(whole, interleaved), "%s: other ends", scope->name);
    cr_expect_eq(whole->end_count, scope->ends, "%s: %u ends", scope->name, whole->end_count);
    cr_expect_gt(interleaved->states, whole->states, "%s", scope->name);
    free(whole);
    free(interleaved);
}

#define JOB(workers, graph)                                                                        \
    "name: job\nabout: a small job\nprotocol: activity\njobs: 1\nworkers: " workers                \
    "\ngraph: " graph "\nfaults: {}\nreaches: []\nexpect: pass\n"
#define INBOX(jobs)                                                                                \
    "name: inbox\nabout: a few messages\nprotocol: inbox\njobs: " jobs                             \
    "\nworkers: 2\naccounts: 1\nfaults: {}\nreaches: []\nexpect: pass\n"
#define TRIGGER JOB("2", "{trigger: []}")

/* A trigger whose Leg2 message is delivered twice: two workers are at its steps at once. */
static const struct scope twice = {"trigger, Leg2 twice", TRIGGER, MESSAGE_LEG2, {1, 0}, 2};

Test(levels, a_job_ends_the_same)
{
    static const struct scope scopes[] = {
        {"trigger", TRIGGER, 0, {0, 0}, 1},
        {"trigger, anything twice", TRIGGER, 0, {1, 0}, 3},
        {"trigger, a crash", TRIGGER, 0, {0, 1}, 3},
        {"trigger, Leg2 twice and a crash", TRIGGER, MESSAGE_LEG2, {1, 1}, 5},
        {"two children", JOB("2", "{trigger: [left, right]}"), 0, {0, 0}, 2},
    };
    compare_levels(&twice);
    for (size_t i = 0; i < sizeof scopes / sizeof scopes[0]; i++) {
        compare_levels(&scopes[i]);
    }
}

Test(levels, an_inbox_ends_the_same)
{
    static const struct scope scopes[] = {
        {"inbox", INBOX("1"), 0, {0, 0}, 1},
        {"inbox, a message twice", INBOX("1"), 0, {1, 0}, 1},
        {"inbox, a message twice and a crash", INBOX("1"), 0, {1, 1}, 1},
        {"inbox of two, one of them twice and a crash", INBOX("2"), 0, {1, 1}, 1},
    };
    for (size_t i = 0; i < sizeof scopes / sizeof scopes[0]; i++) {
        compare_levels(&scopes[i]);
    }
}

/* ---- that it would notice -------------------------------------------------------------------- */

/* Other rules than PostgreSQL's, under which a step is not what it is alone. */
Test(levels, a_store_that_breaks_a_rule_ends_otherwise)
{
    static const char *const broken[] = {
        "row locks end with their statement", "no new test after a wait",
        "an addition takes no lock",          "NO KEY UPDATE lets in NO KEY UPDATE",
        "an update is lost after a wait",
    };
    struct search *right = search_all(&twice, false);
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        char name[SESSION_ERROR_NAME_SIZE] = "";
        for (size_t e = 0; e < session_error_count() && strcmp(name, broken[i]) != 0; e++) {
            session_error(e, &postgresql, name);
        }
        cr_assert_str_eq(name, broken[i]);
        struct search *wrong = search_until(&twice, true, right);
        cr_expect(wrong->strange, "%s", name);
        free(wrong);
    }
    free(right);
}

/* E-ACL-25: whole transactions cannot show it, because nobody comes between test and write. In the
 * engines' Step 2 the activity's row, which it locks first, keeps others out as well: either lock
 * is enough, and without both the semaphore moves twice. */
Test(levels, a_marker_tested_without_any_lock_ends_otherwise)
{
    static const struct {
        bool guid_locked, activity_locked;
    } cases[] = {{true, true}, {false, true}, {false, false}};
    struct op *test = &primitives[PRIMITIVE_COLLATE].ops[0];
    struct op *mark = &primitives[PRIMITIVE_MARK_ACTIVITY].ops[0];
    cr_assert(test->kind == OP_TEST && mark->kind == OP_ADD);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        test->lock = cases[i].guid_locked ? LOCK_USUAL : LOCK_NONE;
        mark->lock = cases[i].activity_locked ? LOCK_USUAL : LOCK_NONE;
        struct search *whole = search_all(&twice, false), *interleaved = search_all(&twice, true);
        bool locked = cases[i].guid_locked || cases[i].activity_locked;
        cr_expect_eq(same_ends(whole, interleaved), locked, "case %zu: %u and %u ends", i,
                     whole->end_count, interleaved->end_count);
        free(whole);
        free(interleaved);
    }
}
