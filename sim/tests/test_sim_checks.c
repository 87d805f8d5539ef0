/* The checks of sim/: each fires on what it must not let pass, and on nothing that is sound. The
 * slow ones are called only where a build asks for them (CHECK_ALL of model/check.h); so that every
 * build asks them, runs of each protocol are checked here after every step. */
#include "sim/campaign.h"
#include "sim/equivalence.h"
#include "sim/explore_inside.h"
#include "sim/run_inside.h"
#include "sim/script.h"
#include "sim/visited.h"
#include "sim/walk.h"

#include "model/tests/fires.h"
#include "scenarios/scenario.h"
#include "sim/tests/scopes.h"

TestSuite(checks, .timeout = 300);

static struct scenario scenario;
static struct run run;
static struct walk walk;

static void parse(const char *yaml)
{
    struct error error;
    cr_assert(scenario_parse(yaml, strlen(yaml), "scope.yaml", &scenario, &error), "%s",
              error.text);
}

static void load(const char *name)
{
    struct error error;
    cr_assert(scenario_load(name, &scenario, &error), "%s", error.text);
}

/* ---- runs, after every step ------------------------------------------------------------------ */

static void look(void *context, const struct run_event *event)
{
    (void)event;
    world_check(&((struct run *)context)->world);
    sessions_check(((struct run *)context)->sessions);
}

Test(checks, hold_in_runs_of_every_protocol)
{
    static const char *const names[] = {"tree-3",     "medley-merged",   "legacy-medley",
                                        "key-medley", "pipeline-medley", "seq-medley",
                                        "inbox"};
    for (size_t i = 0; i < COUNT(names); i++) {
        load(names[i]);
        cr_assert(run_make(&run, &scenario, NULL));
        run.observer = look;
        run.observer_context = &run;
        for (uint64_t seed = 1; seed <= 60; seed++) {
            struct choice_source source = run_draw(&run, seed);
            choice_check(&source);
            run_once(&run, &source);
            run_check(&run);
        }
        run_free(&run);
    }
}

/* ---- what a store tells of transactions: (OB2) ----------------------------------------------- */

static struct {
    uint32_t told, committed, of_nobody; /* by the store */
    uint32_t sent, happened, late;       /* transactions, commits, late ends, by the run */
    bool begun;
} account;
static struct monitors monitors;

static struct oracle_verdict note_told(struct oracle *oracle, const struct rows *rows,
                                       const struct observed *seen,
                                       const struct row_change *changes, size_t count)
{
    (void)oracle, (void)rows, (void)changes, (void)count;
    account.told++;
    account.committed += seen->ended == OBSERVED_COMMITTED;
    account.of_nobody += seen->client >= OBSERVED_CLIENTS_MAX;
    return (struct oracle_verdict){.broken = false};
}

/* A commit is told before its event, after all commits before it. A run begins with monitors of its
 * own, so what comes after the first event is looked at. */
static void note_event(void *context, const struct run_event *event)
{
    (void)context;
    if (!account.begun) {
        account.begun = true;
        monitors = *run.oracle.monitors;
        monitors.transaction = note_told;
        run.oracle.monitors = &monitors;
        return;
    }
    account.sent += event->turn == RUN_TRANSACTION;
    account.late += event->turn == RUN_LANDS;
    bool ends = event->turn == RUN_TRANSACTION || event->turn == RUN_LANDS;
    account.happened += ends && event->committed;
    cr_expect_eq(account.committed, account.happened, "step %u", event->step);
}

Test(checks, every_transaction_of_a_client_is_told_in_order)
{
    load("pipeline-medley");
    cr_assert(run_make(&run, &scenario, NULL));
    run.observer = note_event;
    for (uint64_t seed = 0; seed <= 60; seed++) {
        struct choice_source source = seed == 0 ? choice_listed(NULL) : run_draw(&run, seed);
        memset(&account, 0, sizeof account);
        (void)run_once(&run, &source);
        cr_expect_gt(account.committed, 10U);
        cr_expect_eq(account.of_nobody, account.late, "a late one has no client any more");
        cr_expect(seed != 0 || account.told == account.sent, "%u told, %u sent", account.told,
                  account.sent);
    }
    run_free(&run);
}

/* One line a case. */
/* clang-format off */

/* ---- a world: (W1), (W2), (R2) --------------------------------------------------------------- */

static const char *const world_claims[] = {
    "world->change_count <= world->change_capacity",
    "area->used <= area->capacity",
    "entry - 1 < area->used",
    "row_is_there(rows, table, entry - 1)",
    "world->queue_count == messages",
    "slot < world->rows.table[TABLE_MESSAGE].used && world->place[slot] == at + 1",
    "row_is_there(&world->rows, TABLE_MESSAGE, slot)",
    "at == 0 || !comes_first(world, slot, world->queue[(at - 1) / 2])",
    "mark <= world->change_count",
};

/* Three messages, due at 10, 20 and 30. */
static void make_world(struct world *world)
{
    struct world_capacity capacity = {.changes = 64};
    capacity.rows[TABLE_MESSAGE] = capacity.rows[TABLE_JOB] = 8;
    cr_assert(world_make(world, &capacity));
    for (int64_t m = 1; m <= 3; m++) {
        int64_t columns[MESSAGE_COLUMNS] = {[MESSAGE_VISIBLE_AT] = 10 * m};
        world_insert(world, TABLE_MESSAGE, m, columns);
    }
}

static void check_world(int which)
{
    struct world world;
    make_world(&world);
    struct row_area *messages = &world.rows.table[TABLE_MESSAGE];
    switch (which) {
    case 0: world.change_count = world.change_capacity + 1; break;
    case 1: messages->used = messages->capacity + 1; break;
    case 2: messages->used = 2; break;
    case 3: messages->cells[0] = 2; break;
    case 4: world.queue_count = 2; break;
    case 5: world.place[world.queue[1]] = 1; break;
    case 6:
        messages->index[1] = ROW_GONE;
        world.queue_count = 2;
        break;
    case 7: messages->cells[1 + MESSAGE_VISIBLE_AT] = 40; break;
    case 8: world_undo(&world, world_mark(&world) + 1); break;
    }
    world_check(&world);
}

Test(checks, of_a_world_fire)
{
    EXPECT_FIRES(check_world, world_claims);
}

/* ---- sessions: (SS1), (SS2), (SS3) ----------------------------------------------------------- */

static const char *const session_claims[] = {
    "sessions->count <= SESSIONS_MAX && sessions->version_count <= SESSION_VERSIONS_MAX",
    "session->lock_count == 0 && session->advisory_count == 0",
    "session->write_count == 0 && session->insert_count == 0",
    "session->snapshot == SESSION_NO_SNAPSHOT",
    "!has || session->snapshot <= sessions->version_count",
    "session->statement == 0 || has",
    "session->in_statement == has",
    "sessions_holders(sessions, who, lock->table, lock->slot, lock->mode) == 0",
};

/* Two transactions that have acked a message each and not committed; a third session is closed. */
static void make_sessions(struct world *world, struct sessions *sessions)
{
    make_world(world);
    sessions_begin(sessions, world, primitive_table, &session_postgresql, 3);
    for (unsigned who = 0; who < 2; who++) {
        struct bundle bundle;
        bundle_begin(&bundle, BUNDLE_ACK);
        bundle.isolation = who == 0 ? READ_COMMITTED : SERIALIZABLE;
        BUNDLE_CALL(&bundle, PRIMITIVE_ACK, CALL_REQUIRE, 0, 1 + (int64_t)who, 0, 0);
        session_begin(sessions, who, &bundle, ROW_NONE);
        while (session_operation(sessions, who) == SESSION_OPEN) {
        }
    }
}

static void check_sessions(int which)
{
    static struct sessions sessions;
    struct world world;
    make_sessions(&world, &sessions);
    switch (which) {
    case 0: sessions.count = SESSIONS_MAX + 1; break;
    case 1: sessions.each[2].lock_count = 1; break;
    case 2: sessions.each[2].write_count = 1; break;
    case 3: sessions.each[2].snapshot = 0; break;
    case 4: sessions.each[1].snapshot = 1; break;
    case 5: sessions.each[1].snapshot = SESSION_NO_SNAPSHOT; break;
    case 6: sessions.each[0].in_statement = true; break;
    case 7: sessions.each[1].locks[0].slot = sessions.each[0].locks[0].slot; break;
    }
    sessions_check(&sessions);
}

Test(checks, of_sessions_fire)
{
    EXPECT_FIRES(check_sessions, session_claims);
}

/* ---- the store: (ST1) ------------------------------------------------------------------------ */

static const char *const store_claims[] = {
    "outcome->kind == OUTCOME_COMMITTED || world_mark(world) == mark",
};

static void check_store(int which)
{
    struct world world;
    struct bundle bundle;
    struct outcome outcome = {.kind = OUTCOME_REFUSED, .refusal = REFUSED_EPOCH, .skipped = 1};
    make_world(&world);
    bundle_begin(&bundle, BUNDLE_ACK);
    BUNDLE_CALL(&bundle, PRIMITIVE_ACK, CALL_REQUIRE, 0, 1, 7, 0);
    store_check(&world, which == 0 ? 0 : world_mark(&world), &bundle, &outcome);
}

Test(checks, of_the_store_fire)
{
    EXPECT_FIRES(check_store, store_claims);
}

/* ---- choices: (CO2), (CO3) ------------------------------------------------------------------- */

static const char *const choice_claims[] = {
    "source->fault_below[kind] >= below",
    "source->fault_any == below",
    "source->depth <= CHOICE_DEPTH_MAX && source->actors <= CHOICE_ACTORS_MAX",
    "choice_compare(&list->items[i - 1], &list->items[i]) < 0",
    "choice_compare(&list->items[i - 1], &list->items[i]) < 0",
};

static void check_choice(int which)
{
    struct choice items[] = {{CHOICE_WHO, 0, 3, 1}, {CHOICE_WHO, 0, 5, 1}, {CHOICE_FAULT, 1, 2, 1}};
    struct choice_list list = {.items = items, .count = 3, .capacity = 3};
    load("tree-3");
    struct choice_source source = choice_random(1, &scenario.faults);
    source.listed = &list;
    switch (which) {
    case 0: source.fault_below[2] = source.fault_any + 1; break;
    case 1: source.fault_any++; break;
    case 2: source.depth = CHOICE_DEPTH_MAX + 1; break;
    case 3: items[1].ordinal = 3; break;
    case 4: items[1].ordinal = 2; break;
    }
    choice_check(&source);
}

Test(checks, of_choices_fire)
{
    EXPECT_FIRES(check_choice, choice_claims);
}

/* ---- a run: (U4), (FS1), (FS2), (LW1) -------------------------------------------------------- */

static const char *const run_claims[] = {
    "run->budget[g] <= run->scenario->faults.budget[g]",
    "run_actor->works_until == 0 || run_actor->works_on.what != 0",
    "open == (run->late[l].there && run->late[l].begun)",
    "run->late_count == late",
    "run->former.of < run->actor_count",
    "run_former(run) < run->sessions->count",
    "!run->settling",
    "!mask[run->actors[a].client]",
};

static void check_run(int which)
{
    load("tree-3");
    cr_assert(run_make(&run, &scenario, NULL));
    struct choice_source source = choice_listed(NULL);
    run_begin(&run, &source);
    run.former.there = true;
    run.actors[run_former(&run)] = run.actors[1];
    run.actors[run_former(&run)].client = run.former.spare;
    run_fit_sessions(&run);
    switch (which) {
    case 0: run.budget[FAULT_GROUP_CRASH] = scenario.faults.budget[FAULT_GROUP_CRASH] + 1; break;
    case 1: run.actors[1].works_until = 1; break;
    case 2: run.late[0].there = run.late[0].begun = true; break;
    case 3: run.late_count = 1; break;
    case 4: run.former.of = (uint8_t)run.actor_count; break;
    case 5: sessions_resize(run.sessions, run.actor_count); break;
    case 6: run.settling = true; break;
    case 7: run.actors[2].client = run.actors[1].client; break;
    }
    run_check(&run);
}

Test(checks, of_a_run_fire)
{
    EXPECT_FIRES(check_run, run_claims);
}

/* ---- a walk: (WA1), (WA3), (SA1) ------------------------------------------------------------- */

static const char *const walk_claims[] = {
    "budget_of(&walk->left) <= most",
    "top->changes <= world_mark(&run->world)",
    "top->ghosts <= run->oracle.ghosts.logged",
    "top->shares <= walk->same.logged",
    "*of[kind] > 0",
    "share->hash == fresh.hash && share->place == fresh.place",
    "same->sums[p] == sums[p]",
};

static void check_walk(int which)
{
    struct walk_move moves[WALK_MOVES_MAX];
    size_t sound;
    parse(SCOPE_CHAIN);
    struct walk_plan plan = {.scenario = &scenario, .bounds = {.crashes = 1}};
    cr_assert(walk_make(&walk, &plan));
    cr_assert(walk_moves(&walk, moves, &sound) > 0 && walk_do(&walk, moves[0]));
    switch (which) {
    case 0: walk.left.lapses = 2; break;
    case 1: walk.records[0].changes = world_mark(&walk.run.world) + 1; break;
    case 2: walk.records[0].ghosts = walk.run.oracle.ghosts.logged + 1; break;
    case 3: walk.records[0].shares = walk.same.logged + 1; break;
    case 4: walk_do(&walk, (struct walk_move){.kind = WALK_DRAG, .slot = WALK_NO_SLOT}); break;
    case 5:
        walk.same.shares[TABLE_JOB][0].hash++;
        fingerprint_check(&walk.same);
        break;
    case 6:
        walk.same.sums[0]++;
        fingerprint_check(&walk.same);
        break;
    }
    walk_check(&walk);
    walk_undo(&walk);
    walk_check(&walk);
}

Test(checks, of_a_walk_fire)
{
    EXPECT_FIRES(check_walk, walk_claims);
}

/* ---- scripts: (SP1), (SP2) ------------------------------------------------------------------- */

static const char *const script_claims[] = {
    "script->sessions >= 1 && script->sessions <= SCRIPT_SESSIONS_MAX",
    "call->primitive < script->primitive_count",
    "call->params + script->primitives[call->primitive].params <= bundle->param_count",
    "script->turns[t] < script->sessions",
    "has_parents(script, &script->rows[r])",
};

static void check_script(int which)
{
    static struct script script;
    script_draw(&script, 7);
    switch (which) {
    case 0: script.sessions = 0; break;
    case 1: script.bundles[0].calls[0].primitive = SCRIPT_PRIMITIVES_MAX; break;
    case 2: script.bundles[0].param_count = 0; break;
    case 3: script.turns[0] = SCRIPT_SESSIONS_MAX; break;
    case 4:
        script.rows[0] = (struct script_row){.table = TABLE_ACTIVITY, .key = 1};
        script.rows[0].columns[ACTIVITY_JOB] = 1000;
        break;
    }
    script_check(&script);
}

Test(checks, of_a_script_fire)
{
    EXPECT_FIRES(check_script, script_claims);
}

Test(checks, hold_of_every_script_and_of_all_that_is_left_when_a_part_goes)
{
    static struct script script, again, smaller;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        unsigned cuts = 0;
        script_draw(&script, seed);
        memset(&again, 0xFF, sizeof again);
        script_draw(&again, seed);
        memset(script.primitives, 0, sizeof script.primitives); /* which have bytes between fields */
        memset(again.primitives, 0, sizeof again.primitives);
        cr_expect_arr_eq(&script, &again, sizeof script, "seed %d", (int)seed);
        script_draw(&script, seed);
        script_check(&script);
        for (uint32_t which = 0; which < script_cuts(&script); which++) {
            if (script_cut(&script, which, &smaller)) {
                script_check(&smaller);
                cuts++;
            }
        }
        cr_expect_gt(cuts, 5U, "seed %d", (int)seed);
        cr_expect_not(script_cut(&script, script_cuts(&script), &smaller));
    }
}

/* ---- a search: (XP1), (EQ1), its table (VI2); a campaign's results (CA2), (CA3) -------------- */

static const char *const explore_claims[] = {
    "!held || explore->item_count == 0",
    "!held || !explore_stopped(explore)",
    "explore->report.verdict != EXPLORE_BOUNDED || explore->report.why != NULL",
};

static void check_explore(int which)
{
    parse(SCOPE_CHAIN);
    struct explore_plan plan = {
        .walk = {.scenario = &scenario}, .memory = 1 << 26, .jobs = 1};
    struct explore *explore = explore_make(&plan);
    cr_assert_not_null(explore);
    explore_join(explore, 0);
    cr_assert_eq(explore_finish(explore)->verdict, EXPLORE_HELD);
    switch (which) {
    case 0: explore->item_count = 1; break;
    case 1: explore->stop = true; break;
    case 2: explore->report.verdict = EXPLORE_BOUNDED; break;
    }
    explore_check(explore);
}

static const char *const equivalence_claims[] = {
    "(judged->scopes == 0) == (decisive == EQUIVALENCE_UNTOUCHED)",
    "judged->shown == (decisive == EQUIVALENCE_EQUAL)",
    "!judged->shown || (judged->spoiled > 0 && !judged->found)",
};

static void check_equivalence(int which)
{
    struct equivalence judged = {
        .shown = true, .scopes = 1, .spoiled = 1, .decisive = {.answer = EQUIVALENCE_EQUAL}};
    switch (which) {
    case 0: judged.scopes = 0; break;
    case 1: judged.shown = false; break;
    case 2: judged.spoiled = 0; break;
    }
    equivalence_check(&judged);
}


static const char *const visited_claims[] = {
    "bytes <= visited->budget->max",
};

static void check_visited(int which)
{
    struct explore_budget budget = {.max = 1 << 24};
    struct visited visited;
    bool rests;
    cr_assert(visited_make(&visited, &budget));
    for (uint64_t i = 1; i <= 1000; i++) {
        cr_assert_neq(visited_add(&visited, i * UINT64_C(0x9E3779B97F4A7C15), &rests),
                      VISITED_FULL);
    }
    budget.max = which == 0 ? 1000 : budget.max;
    visited_check(&visited);
}

static const char *const campaign_claims[] = {
    "result->tally.checked <= result->tally.runs",
    "result->tally.full <= result->tally.runs",
    "bucket->count > 0 && bucket->first_seed <= bucket->seed",
    "i == 0 || bucket[-1].first_seed < bucket->first_seed",
    "bucket->clause != result->buckets[j].clause || bucket->oracle != result->buckets[j].oracle",
    "findings == result->tally.findings",
};

static void check_campaign(int which)
{
    static struct campaign_result result;
    campaign_result_begin(&result);
    result.tally.runs = 10;
    result.tally.findings = 3;
    result.bucket_count = 2;
    result.buckets[0] = (struct campaign_bucket){CLAUSE_ACL_1, ORACLE_LEDGER, 2, 3, 5, 9, ""};
    result.buckets[1] = (struct campaign_bucket){CLAUSE_ACL_2, ORACLE_LEDGER, 1, 4, 4, 9, ""};
    switch (which) {
    case 0: result.tally.checked = 11; break;
    case 1: result.tally.full = 11; break;
    case 2: result.buckets[0].first_seed = 6; break;
    case 3: result.buckets[1].first_seed = 2; break;
    case 4: result.buckets[1].clause = CLAUSE_ACL_1; break;
    case 5: result.tally.findings = 4; break;
    }
    campaign_check(&result);
}

Test(checks, of_a_search_and_a_campaign_fire)
{
    EXPECT_FIRES(check_explore, explore_claims);
    EXPECT_FIRES(check_equivalence, equivalence_claims);
    EXPECT_FIRES(check_visited, visited_claims);
    EXPECT_FIRES(check_campaign, campaign_claims);
}
