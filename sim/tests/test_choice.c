/* The sources of choice: what a list means, what is recorded, and what a seed draws. */
#include "sim/choice.h"

#include "model/tests/random.h"

#include <criterion/criterion.h>
#include <string.h>

static struct choice_list list_of(struct choice *items, size_t count)
{
    return (struct choice_list){.items = items, .count = count, .capacity = count};
}

/* ---- a list ---------------------------------------------------------------------------------- */

/* The client, actor 0, is last: what is begun is finished before something new is. */
Test(choice, nothing_listed_means_the_lowest_worker_no_fault_and_amount_0)
{
    struct choice_list empty = {0};
    struct choice_source sources[] = {choice_listed(NULL), choice_listed(&empty)};
    for (size_t i = 0; i < COUNT(sources); i++) {
        for (uint32_t turn = 0; turn < 5; turn++) {
            cr_expect_eq(choice_who(&sources[i], turn, 0x16), 1U);
            cr_expect_eq(choice_who(&sources[i], turn, 0x80000000), 31U);
            cr_expect_eq(choice_who(&sources[i], turn, 0x15), 2U);
            cr_expect_eq(choice_who(&sources[i], turn, 0x1), 0U);
            cr_expect_eq(choice_fault(&sources[i], 1, turn), FAULT_NONE);
            cr_expect_eq(choice_amount(&sources[i], 1, turn, 10), 0U);
        }
    }
}

Test(choice, an_entry_means_what_it_says_in_its_place_and_nothing_elsewhere)
{
    struct choice items[] = {{CHOICE_WHO, 0, 4, 3},     {CHOICE_FAULT, 2, 7, FAULT_PAUSE},
                             {CHOICE_AMOUNT, 2, 7, 25}, {CHOICE_WHO, 0, 5, 9},
                             {CHOICE_WHO, 0, 6, 77},    {CHOICE_FAULT, 2, 8, 200},
                             {CHOICE_AMOUNT, 1, 7, 1}};
    struct choice_list list = list_of(items, COUNT(items));
    choice_list_sort(&list);
    struct choice_source source = choice_listed(&list);
    cr_expect_eq(choice_who(&source, 4, 0xA), 3U);
    cr_expect_eq(choice_who(&source, 4, 0x6), 1U, "it cannot run: the lowest");
    cr_expect_eq(choice_who(&source, 5, 0xA), 1U, "there is no such actor");
    cr_expect_eq(choice_who(&source, 6, 0xA), 1U, "nor could there be");
    cr_expect_eq(choice_who(&source, 3, 0xA), 1U, "another turn");
    cr_expect_eq(choice_fault(&source, 2, 7), FAULT_PAUSE);
    cr_expect_eq(choice_fault(&source, 2, 6), FAULT_NONE);
    cr_expect_eq(choice_fault(&source, 1, 7), FAULT_NONE, "another actor's");
    cr_expect_eq(choice_fault(&source, 2, 8), FAULT_NONE, "there is no such fault");
    cr_expect_eq(choice_amount(&source, 2, 7, 100), 25U);
    cr_expect_eq(choice_amount(&source, 2, 7, 10), 5U, "in range, whatever is listed");
    cr_expect_eq(choice_amount(&source, 2, 7, 25), 0U);
    cr_expect_eq(choice_amount(&source, 1, 7, 100), 1U);
}

static bool in_order(const struct choice *a, const struct choice *b)
{
    if (a->why != b->why) {
        return a->why < b->why;
    }
    return a->actor != b->actor ? a->actor < b->actor : a->ordinal < b->ordinal;
}

/* The value says where an entry stood, so that of two equal ones the first can be told. */
Test(choice, a_sorted_list_has_each_place_once_with_what_stood_first)
{
    static struct choice items[400], before[400];
    for (uint64_t seed = 1; seed <= 300; seed++) {
        uint64_t random = seed;
        size_t count = (size_t)random_below(&random, COUNT(items) + 1);
        for (size_t i = 0; i < count; i++) {
            items[i] = (struct choice){.why = (uint8_t)random_below(&random, CHOICE_WHY_COUNT),
                                       .actor = (uint8_t)random_below(&random, 4),
                                       .ordinal = (uint32_t)random_below(&random, 1 + seed % 40),
                                       .value = (uint32_t)i};
        }
        memcpy(before, items, sizeof items);
        struct choice_list list = list_of(items, count);
        choice_list_sort(&list);
        for (size_t i = 1; i < list.count; i++) {
            cr_assert(in_order(&items[i - 1], &items[i]), "seed %d", (int)seed);
        }
        for (size_t i = 0; i < count; i++) {
            size_t first = 0, at = 0;
            while (in_order(&before[first], &before[i]) || in_order(&before[i], &before[first])) {
                first++;
            }
            while (at < list.count &&
                   (in_order(&items[at], &before[i]) || in_order(&before[i], &items[at]))) {
                at++;
            }
            cr_assert_lt(at, list.count, "seed %d: an entry is gone", (int)seed);
            cr_assert_eq(items[at].value, first, "seed %d: not the first", (int)seed);
        }
    }
}

Test(choice, a_list_of_one_or_none_is_sorted)
{
    struct choice one = {CHOICE_FAULT, 1, 2, 3};
    struct choice_list list = list_of(&one, 1), none = {0};
    choice_list_sort(&list);
    choice_list_sort(&none);
    cr_expect_eq(list.count, 1U);
    cr_expect_eq(one.value, 3U);
    cr_expect_eq(none.count, 0U);
}

/* ---- a record -------------------------------------------------------------------------------- */

Test(choice, only_what_is_not_usual_is_recorded)
{
    struct choice recorded[8];
    struct choice_list record = {.items = recorded, .capacity = COUNT(recorded)};
    struct choice items[] = {{CHOICE_WHO, 0, 1, 2}, {CHOICE_AMOUNT, 2, 5, 9}};
    struct choice_list list = list_of(items, COUNT(items));
    choice_list_sort(&list);
    struct choice_source source = choice_listed(&list);
    source.record = &record;
    choice_who(&source, 0, 0x6);
    choice_who(&source, 1, 0x6);
    choice_who(&source, 2, 0x4); /* the only one, and so the lowest */
    choice_fault(&source, 2, 5); /* asked is not taken */
    choice_amount(&source, 2, 4, 10);
    choice_amount(&source, 2, 5, 10);
    choice_took(&source, 2, 5, FAULT_PAUSE);
    cr_assert_eq(record.count, 3U);
    cr_expect(recorded[0].why == CHOICE_WHO && recorded[0].ordinal == 1 && recorded[0].value == 2);
    cr_expect(recorded[1].why == CHOICE_AMOUNT && recorded[1].actor == 2 &&
              recorded[1].ordinal == 5 && recorded[1].value == 9);
    cr_expect(recorded[2].why == CHOICE_FAULT && recorded[2].value == FAULT_PAUSE);
    cr_expect_not(record.overflowed);
}

Test(choice, a_full_record_says_so_and_keeps_what_it_has)
{
    struct choice recorded[2];
    struct choice_list record = {.items = recorded, .capacity = 2};
    struct choice_source source = choice_listed(NULL);
    source.record = &record;
    for (uint32_t i = 0; i < 3; i++) {
        cr_expect_not(record.overflowed);
        choice_took(&source, 1, i, FAULT_PAUSE);
    }
    cr_expect(record.overflowed);
    cr_expect_eq(record.count, 2U);
    cr_expect_eq(recorded[1].ordinal, 1U);
}

/* (CO2), question by question: a run's questions are asked of its own record. */
Test(choice, a_record_replayed_answers_as_the_draws_did)
{
    static struct choice recorded[4000];
    struct fault_plan plan = {0};
    for (int kind = 1; kind < FAULT_KIND_COUNT; kind++) {
        plan.rate[kind] = (struct fault_rate){1, 30};
    }
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct choice_list record = {.items = recorded, .capacity = COUNT(recorded)};
        struct choice_source drawn = choice_random(seed, &plan), same = choice_random(seed, &plan);
        drawn.record = &record;
        uint32_t who[200], amounts[200];
        enum fault_kind faults[200];
        for (uint32_t i = 0; i < 200; i++) {
            who[i] = choice_who(&drawn, i, 0x2F);
            faults[i] = choice_fault(&drawn, who[i], i);
            amounts[i] = faults[i] == FAULT_NONE ? 0 : choice_amount(&drawn, who[i], i, 50);
            if (faults[i] != FAULT_NONE) {
                choice_took(&drawn, who[i], i, faults[i]);
            }
            cr_assert_eq(choice_who(&same, i, 0x2F), who[i], "CO1");
            cr_assert_eq(choice_fault(&same, who[i], i), faults[i], "CO1");
            if (faults[i] != FAULT_NONE) {
                cr_assert_eq(choice_amount(&same, who[i], i, 50), amounts[i], "CO1");
            }
        }
        cr_assert_not(record.overflowed);
        choice_list_sort(&record);
        struct choice_source listed = choice_listed(&record);
        for (uint32_t i = 0; i < 200; i++) {
            cr_assert_eq(choice_who(&listed, i, 0x2F), who[i]);
            cr_assert_eq(choice_fault(&listed, who[i], i), faults[i]);
            cr_assert_eq(choice_amount(&listed, who[i], i, 50), amounts[i]);
        }
    }
}

Test(choice, a_sweep_draws_who_and_lists_the_rest)
{
    struct choice items[] = {{CHOICE_FAULT, 1, 3, FAULT_DEADLOCK}, {CHOICE_WHO, 0, 0, 5}};
    struct choice_list list = list_of(items, COUNT(items));
    choice_list_sort(&list);
    struct fault_plan calm = {0};
    struct choice_source swept = choice_swept(9, &list), drawn = choice_random(9, &calm);
    for (uint32_t turn = 0; turn < 100; turn++) {
        cr_expect_eq(choice_who(&swept, turn, 0x3F), choice_who(&drawn, turn, 0x3F));
    }
    cr_expect_eq(choice_fault(&swept, 1, 3), FAULT_DEADLOCK);
    cr_expect_eq(choice_fault(&swept, 1, 4), FAULT_NONE);
}

/* ---- drawing --------------------------------------------------------------------------------- */

Test(choice, every_actor_that_can_run_is_drawn_and_no_other)
{
    static const uint32_t masks[] = {0x1, 0x6, 0x15, 0x1FFFF, 0x80000001};
    struct fault_plan calm = {0};
    for (size_t m = 0; m < COUNT(masks); m++) {
        struct choice_source source = choice_random(m, &calm);
        uint32_t counts[32] = {0};
        for (uint32_t turn = 0; turn < 17000; turn++) {
            counts[choice_who(&source, turn, masks[m])]++;
        }
        uint32_t able = (uint32_t)__builtin_popcount(masks[m]);
        for (int actor = 0; actor < 32; actor++) {
            bool can = masks[m] >> actor & 1;
            cr_expect(can ? counts[actor] > 17000 / able * 8 / 10 : counts[actor] == 0,
                      "mask %x, actor %d: %u", masks[m], actor, counts[actor]);
        }
    }
}

/* What a kind has of 2^32 draws in a source. */
static uint32_t share_of(const struct choice_source *source, int kind)
{
    return source->fault_below[kind] - source->fault_below[kind - 1];
}

static struct fault_plan plan_of_all(uint32_t times, uint32_t of)
{
    struct fault_plan plan = {0};
    for (int kind = 1; kind < FAULT_KIND_COUNT; kind++) {
        plan.rate[kind] = (struct fault_rate){times, of};
    }
    return plan;
}

/* Switching one kind off, or another rate, leaves the rest of the swarm as it was. */
Test(choice, a_kind_that_is_not_allowed_leaves_the_others_as_they_were)
{
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct fault_plan plan = plan_of_all(1, 40);
        struct choice_source all = choice_random(seed, &plan);
        for (int off = 1; off < FAULT_KIND_COUNT; off++) {
            struct fault_plan less = plan;
            less.rate[off] = (struct fault_rate){0, seed % 2 == 0};
            struct choice_source without = choice_random(seed, &less);
            for (int kind = 1; kind < FAULT_KIND_COUNT; kind++) {
                cr_assert_eq(share_of(&without, kind), kind == off ? 0 : share_of(&all, kind));
            }
            cr_assert_eq(memcmp(&without.faults, &all.faults, sizeof all.faults), 0,
                         "nor do later draws differ");
            cr_assert_eq(memcmp(&without.schedule, &all.schedule, sizeof all.schedule), 0);
        }
    }
}

/* Half of the kinds at a time, at the plan's rate, a half, a quarter or an eighth of it; but for
 * illegal moves, which are there where they are allowed. */
Test(choice, a_seed_uses_half_of_the_kinds_at_one_of_four_rates)
{
    struct fault_plan plan = plan_of_all(1, 64);
    const uint32_t full = UINT32_C(1) << 26;
    int on = 0, rates[4] = {0};
    for (uint64_t seed = 0; seed < 1000; seed++) {
        struct choice_source source = choice_random(seed, &plan);
        for (int kind = 1; kind < FAULT_KIND_COUNT; kind++) {
            uint32_t share = share_of(&source, kind);
            int halvings = 0;
            while (share != 0 && halvings < 4 && share != full >> halvings) {
                halvings++;
            }
            cr_assert_lt(halvings, 4, "seed %d, kind %d: %u", (int)seed, kind, share);
            if (kind == FAULT_ILLEGAL_MOVE) {
                cr_assert_eq(share, full);
                continue;
            }
            on += share != 0;
            rates[halvings] += share != 0;
        }
        cr_assert_eq(source.fault_any, source.fault_below[FAULT_KIND_COUNT - 1]);
    }
    int all = 1000 * (FAULT_KIND_COUNT - 2);
    cr_expect(on > all * 48 / 100 && on < all * 52 / 100, "%d of %d", on, all);
    for (int i = 0; i < 4; i++) {
        cr_expect(rates[i] > on * 22 / 100 && rates[i] < on * 28 / 100, "rate %d: %d of %d", i,
                  rates[i], on);
    }
}

/* 200 seeds, 5000 draws each: what falls is what the sums say, within a tenth. */
Test(choice, faults_fall_as_often_as_their_rates_say)
{
    struct fault_plan plan = plan_of_all(1, 50);
    uint64_t expected[FAULT_KIND_COUNT] = {0};
    int fell[FAULT_KIND_COUNT] = {0};
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct choice_source source = choice_random(seed, &plan);
        for (int kind = 1; kind < FAULT_KIND_COUNT; kind++) {
            expected[kind] += share_of(&source, kind);
        }
        for (uint32_t i = 0; i < 5000; i++) {
            enum fault_kind kind = choice_fault(&source, 1, i);
            fell[kind]++;
            cr_assert(kind == FAULT_NONE || share_of(&source, (int)kind) != 0,
                      "a kind that is off");
        }
    }
    for (int kind = 1; kind < FAULT_KIND_COUNT; kind++) {
        int64_t mean = (int64_t)(expected[kind] * 5000 >> 32);
        cr_expect(fell[kind] > mean * 9 / 10 && fell[kind] < mean * 11 / 10, "%s: %d, not %d",
                  fault_get((enum fault_kind)kind)->name, fell[kind], (int)mean);
    }
}

Test(choice, nothing_falls_where_nothing_is_allowed_and_always_where_it_is_certain)
{
    struct fault_plan calm = {0}, wild = plan_of_all(1, 1);
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct choice_source none = choice_random(seed, &calm), much = choice_random(seed, &wild);
        for (uint32_t i = 0; i < 100; i++) {
            cr_assert_eq(choice_fault(&none, 1, i), FAULT_NONE);
            enum fault_kind kind = choice_fault(&much, 1, i);
            cr_assert(kind > FAULT_NONE && kind < FAULT_KIND_COUNT, "sums do not overflow");
        }
    }
}

Test(choice, amounts_are_in_range_and_each_is_drawn)
{
    struct fault_plan calm = {0};
    struct choice_source source = choice_random(3, &calm);
    int counts[10] = {0};
    for (uint32_t i = 0; i < 10000; i++) {
        uint32_t amount = choice_amount(&source, 1, i, 10);
        cr_assert_lt(amount, 10U);
        counts[amount]++;
        cr_assert_eq(choice_amount(&source, 1, i, 1), 0U);
    }
    for (int i = 0; i < 10; i++) {
        cr_expect(counts[i] > 850 && counts[i] < 1150, "%d: %d", i, counts[i]);
    }
}

/* ---- priorities ------------------------------------------------------------------------------ */

static struct choice_source pct_of(uint64_t seed, unsigned actors, uint8_t depth, uint32_t length)
{
    static const struct fault_plan calm;
    struct choice_strategy strategy = {.depth = depth, .length = length};
    return choice_pct(seed, &calm, &strategy, actors);
}

Test(choice, a_strategy_is_written_as_it_is_read)
{
    static const struct {
        const char *text, *again; /* NULL: it is none */
        uint8_t depth;
        uint32_t length;
    } cases[] = {
        {"random", "random", 0, 0},
        {"pct", "pct", 3, 0},
        {"pct:3", "pct", 3, 0},
        {"pct:1", "pct:1", 1, 0},
        {"pct:8:1", "pct:8:1", 8, 1},
        {"pct:2:1000000", "pct:2:1000000", 2, 1000000},
        {"", NULL, 0, 0},
        {"Random", NULL, 0, 0},
        {"pct:", NULL, 0, 0},
        {"pct:0", NULL, 0, 0},
        {"pct:9", NULL, 0, 0},
        {"pct:3:", NULL, 0, 0},
        {"pct:3:0", NULL, 0, 0},
        {"pct:3:1000001", NULL, 0, 0},
        {"pct:3:5:", NULL, 0, 0},
        {"pct3", NULL, 0, 0},
        {"pct:99999999999999999999", NULL, 0, 0},
        {"pct:3x", NULL, 0, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct choice_strategy strategy;
        char text[CHOICE_STRATEGY_SIZE];
        bool right = choice_strategy_read(cases[i].text, &strategy);
        cr_assert_eq(right, cases[i].again != NULL, "%s", cases[i].text);
        if (right) {
            choice_strategy_text(&strategy, text);
            cr_expect_str_eq(text, cases[i].again);
            cr_expect_eq(strategy.depth, cases[i].depth);
            cr_expect_eq(strategy.length, cases[i].length);
        }
    }
}

/* Depth 1: one order for all turns, and each of the orders as often as any other. */
Test(choice, without_a_change_the_highest_of_a_drawn_order_runs_whenever_it_can)
{
    int firsts[4] = {0}, orders = 0;
    bool seen[4][4][4] = {{{false}}};
    for (uint64_t seed = 0; seed < 4000; seed++) {
        struct choice_source source = pct_of(seed, 4, 1, 100);
        unsigned first = choice_who(&source, 0, 0xF);
        unsigned second = choice_who(&source, 1, 0xF & ~(1U << first));
        unsigned third = choice_who(&source, 2, 0xF & ~(1U << first) & ~(1U << second));
        for (uint32_t turn = 3; turn < 100; turn++) {
            cr_assert_eq(choice_who(&source, turn, 0xF), first);
            cr_assert_eq(choice_who(&source, turn, 0xF & ~(1U << first)), second);
        }
        firsts[first]++;
        orders += !seen[first][second][third];
        seen[first][second][third] = true;
    }
    cr_expect_eq(orders, 24);
    for (int i = 0; i < 4; i++) {
        cr_expect(firsts[i] > 900 && firsts[i] < 1100, "%d: %d", i, firsts[i]);
    }
}

/* Actors that take `STEPS` turns each and then are done; where each turn of each came. */
#define TOYS  3
#define STEPS 6
#define TURNS (TOYS * STEPS)

struct toy_run {
    int at[TOYS][STEPS];
};

static struct toy_run play(struct choice_source *source)
{
    struct toy_run run;
    int taken[TOYS] = {0};
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        uint32_t able = 0;
        for (unsigned a = 0; a < TOYS; a++) {
            able |= (uint32_t)(taken[a] < STEPS) << a;
        }
        unsigned who = choice_who(source, turn, able);
        run.at[who][taken[who]++] = (int)turn;
    }
    return run;
}

/* Planted bugs of depth 1, 2 and 3: all of 2 before 1 begins; all of 2 between two turns of 1; and
 * between two turns of 2, moreover, one of 1. */
static bool is_broken(const struct toy_run *run, int depth)
{
    const int *one = run->at[1], *two = run->at[2];
    switch (depth) {
    case 1:
        return two[STEPS - 1] < one[0];
    case 2:
        return one[1] < two[0] && two[STEPS - 1] < one[2];
    default:
        return one[1] < two[0] && two[2] < one[2] && one[STEPS - 1] < two[3];
    }
}

Test(choice, a_bug_of_depth_d_is_met_at_least_as_often_as_the_bound_says)
{
    enum { SEEDS = 40000 };
    static const struct fault_plan calm;
    int by_chance[4] = {0};
    for (int depth = 1; depth <= 3; depth++) {
        int found = 0, bound = TOYS;
        for (int i = 1; i < depth; i++) {
            bound *= TURNS; /* n k^(d-1) */
        }
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct choice_source drawn = pct_of(seed, TOYS, (uint8_t)depth, TURNS);
            struct choice_source random = choice_random(seed, &calm);
            struct toy_run run = play(&drawn), other = play(&random);
            found += is_broken(&run, depth);
            by_chance[depth] += is_broken(&other, depth);
        }
        cr_expect_geq(found * bound, SEEDS, "depth %d: %d of %d", depth, found, SEEDS);
    }
    cr_expect_lt(by_chance[1] * TOYS, SEEDS / 20, "random has no such bound: %d", by_chance[1]);
}

Test(choice, the_actor_that_takes_a_change_point_falls_below_all_others)
{
    int falls = 0;
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct choice_source source = pct_of(seed, 5, 2, 50);
        unsigned first = choice_who(&source, 0, 0x1F), now = first;
        uint32_t turn = 1;
        for (; turn < 60 && now == first; turn++) {
            now = choice_who(&source, turn, 0x1F);
        }
        cr_assert_leq(turn, 51U, "within the length");
        falls++;
        for (; turn < 80; turn++) {
            cr_assert_eq(choice_who(&source, turn, 0x1F), now, "it falls once");
            cr_assert_neq(choice_who(&source, turn, 1U << first | 1U << (first + 1) % 5), first);
        }
    }
    cr_expect_eq(falls, 500);
}

Test(choice, when_faults_stop_everybody_has_a_turn_again)
{
    struct choice_source source = pct_of(7, 4, 3, 10);
    int counts[4] = {0};
    choice_settle(&source);
    for (uint32_t turn = 0; turn < 4000; turn++) {
        counts[choice_who(&source, turn, 0xF)]++;
    }
    for (int i = 0; i < 4; i++) {
        cr_expect(counts[i] > 850 && counts[i] < 1150, "%d: %d", i, counts[i]);
    }
}

/* Being the highest, it would go on at once, and nobody would see it half-way. */
Test(choice, who_is_held_up_changes_places_with_any_other)
{
    bool after[5] = {false};
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct choice_source source = pct_of(seed, 5, 1, 50);
        unsigned first = choice_who(&source, 0, 0x1F);
        if (choice_stop(&source, first, 0, 4) != 0) {
            after[choice_who(&source, 1, 0x1F)] = true;
        } else {
            cr_assert_eq(choice_who(&source, 1, 0x1F), first);
        }
    }
    for (int i = 0; i < 5; i++) {
        cr_expect(after[i], "%d", i);
    }
}
