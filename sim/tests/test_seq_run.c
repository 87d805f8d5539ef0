/* The durable seq ledger in runs: what its engines send is what the enumeration of planted bugs
 * knows, an illegal move ends a run HALTED, and equal inputs are decided equally by the store. */
#include "faults/sabotage.h"
#include "model/tests/proves.h"
#include "sim/run.h"
#include "sim/store.h"

#include <criterion/criterion.h>
#include <string.h>

static struct scenario scenario;
static struct run run;

static void make(const char *name)
{
    struct scenario_fault fault;
    cr_assert(scenario_load(name, &scenario, &fault), "%s", fault.text);
    cr_assert(run_make(&run, &scenario, NULL));
}

/* ---- what is sent ---------------------------------------------------------------------------- */

static bool sent[BUNDLE_NAME_COUNT][PRIMITIVE_COUNT];

static void note(void *context, const struct run_event *event)
{
    (void)context;
    for (int c = 0; event->turn == RUN_TRANSACTION && c < event->bundle->count; c++) {
        sent[event->bundle->name][event->bundle->calls[c].primitive] = true;
    }
}

Test(seq_run, the_enumeration_has_what_the_engines_send_and_nothing_else)
{
    static const char *const names[] = {"seq", "seq-illegal", "seq-grace"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        make(names[i]);
        run.observer = note;
        for (uint64_t seed = 1; seed <= 100; seed++) {
            struct choice_source source = choice_random(seed, &scenario.faults);
            cr_assert_eq(run_once(&run, &source)->verdict, RUN_HELD);
        }
        run_free(&run);
    }
    for (int b = 0; b < BUNDLE_NAME_COUNT; b++) {
        for (int p = 0; p < PRIMITIVE_COUNT; p++) {
            cr_expect_eq(sabotage_knows(PROTOCOL_SEQ, (enum bundle_name)b, (enum primitive_id)p),
                         sent[b][p], "%s, %s", bundle_name_text((enum bundle_name)b),
                         primitive_table[p].name);
        }
    }
}

/* ---- illegal moves --------------------------------------------------------------------------- */

/* What moved after the latch was set. */
struct watch {
    bool halted;
    uint32_t moved_after;
};

static void watch_latch(void *context, const struct run_event *event)
{
    struct watch *watch = context;
    for (size_t i = 0; event->committed && i < event->change_count; i++) {
        watch->moved_after += watch->halted && event->changes[i].table == TABLE_SEQ;
    }
    watch->halted = event->rows->table[TABLE_STAGE].used > 0 &&
                    row_get(event->rows, TABLE_STAGE, 0, STAGE_SEQ) != 0;
}

Test(seq_run, a_worker_that_attempts_an_illegal_move_ends_the_run_halted)
{
    PROVES(CLAUSE_SEQ_3, CLAUSE_SEQ_4, CLAUSE_SEQ_20);
    SETTLES(ERRATUM_SEQ_15);
    make("seq-illegal");
    struct choice items[] = {{CHOICE_FAULT, 1, 1, FAULT_ILLEGAL_MOVE}, {CHOICE_AMOUNT, 1, 1, 6}};
    struct choice_list list = {.items = items, .count = 2, .capacity = 2};
    choice_list_sort(&list);
    struct choice_source source = choice_listed(&list);
    struct watch watch = {.halted = false};
    run.observer = watch_latch;
    run.observer_context = &watch;
    const struct run_result *result = run_once(&run, &source);
    const struct rows *rows = &run.world.rows;
    cr_expect_eq(result->verdict, RUN_HELD);
    cr_expect_eq(result->fired[FAULT_ILLEGAL_MOVE], 1U);
    cr_expect(watch.halted);
    cr_expect_eq(watch.moved_after, 0U);
    int64_t prior = row_get(rows, TABLE_STAGE, 0, STAGE_PRIOR);
    int64_t attempted = row_get(rows, TABLE_STAGE, 0, STAGE_ATTEMPTED);
    cr_expect_eq(seq_rules_pair((enum seq_state)prior, (enum seq_state)attempted),
                 SEQ_PAIR_ILLEGAL);
    cr_expect_gt(row_get(rows, TABLE_STAGE, 0, STAGE_WALL), 0);
    run_free(&run);
}

/* ---- decisions on rows ----------------------------------------------------------------------- */

static uint32_t draw(uint64_t *state, uint32_t bound)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % bound;
}

/* What the store makes of a reclaim with these inputs: 0 nothing, 1 a retry, 2 a failure. */
static int reclaimed(struct world *world, const struct bundle *bundle, int64_t heartbeat,
                     int64_t attempts, int64_t now)
{
    struct outcome outcome;
    size_t mark = world_mark(world);
    world->now = now;
    world_set(world, TABLE_SEQ, 0, SEQ_STATE, SEQ_IN_FLIGHT);
    world_set(world, TABLE_SEQ, 0, SEQ_HEARTBEAT, heartbeat);
    world_set(world, TABLE_SEQ, 0, SEQ_ATTEMPTS, attempts);
    store_execute(world, primitive_table, bundle, ROW_NONE, &outcome);
    int64_t state = row_get(&world->rows, TABLE_SEQ, 0, SEQ_STATE);
    world_undo(world, mark);
    return state == SEQ_DISPATCHED ? 1 : state == SEQ_FAIL ? 2 : 0;
}

Test(seq_run, equal_inputs_are_reclaimed_equally_and_as_the_policy_says)
{
    PROVES(CLAUSE_SEQ_11, CLAUSE_SEQ_18);
    SETTLES(ERRATUM_SEQ_13, ERRATUM_SEQ_14);
    struct world world;
    struct world_capacity capacity = {.changes = 256};
    make("seq-leases");
    scenario_room(&scenario, capacity.rows);
    cr_assert(world_make(&world, &capacity));
    struct actor dispatcher, reclaimer;
    unsigned number = run.rules.actors - 3U;
    struct bundle bundle;
    struct outcome outcome;
    protocol_begin(&dispatcher, &run.rules, 0);
    protocol_role(&run.rules, 0)->next(&dispatcher, &run.rules, &bundle);
    store_execute(&world, primitive_table, &bundle, ROW_NONE, &outcome);
    cr_assert_eq(outcome.kind, OUTCOME_COMMITTED);
    uint64_t random = 11;
    int decided[3] = {0};
    for (int i = 0; i < 1000000; i++) {
        struct rules rules = run.rules;
        rules.timeout = 1 + draw(&random, 30);
        rules.of.seq.budget = draw(&random, 4);
        int64_t heartbeat = draw(&random, 60), attempts = draw(&random, 6),
                now = draw(&random, 100);
        protocol_begin(&reclaimer, &rules, number);
        reclaimer.is.seq.sends = BUNDLE_SEQ_RECLAIM;
        protocol_role(&rules, number)->next(&reclaimer, &rules, &bundle);
        int first = reclaimed(&world, &bundle, heartbeat, attempts, now);
        int again = reclaimed(&world, &bundle, heartbeat, attempts, now);
        int expected = now - heartbeat < rules.timeout ? 0 : attempts < rules.of.seq.budget ? 1 : 2;
        cr_assert_eq(first, expected);
        cr_assert_eq(again, expected);
        decided[first]++;
    }
    cr_expect(decided[0] > 1000 && decided[1] > 1000 && decided[2] > 1000);
    world_free(&world);
    run_free(&run);
}
