#include "model/check.h"
#include "sim/visited.h"

#include "scenarios/pcg.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>

#define MANY    100000
#define THREADS 4
#define SMALL   ((size_t)VISITED_SHARDS * 2048) /* a first table for each shard, and no more */

static struct visited visited;
static struct explore_budget budget;

static void end(void)
{
    visited_free(&visited);
}

TestSuite(visited, .fini = end);

static void make(size_t bytes)
{
    budget.max = bytes;
    atomic_store(&budget.used, 0);
    cr_assert(visited_make(&visited, &budget));
}

/* Fingerprints that differ in more than the lowest bit, which is not theirs. */
static uint64_t draw(struct pcg *pcg)
{
    uint64_t high = pcg_next(pcg);
    return (high << 32 | pcg_next(pcg)) & ~UINT64_C(1);
}

static uint64_t *draw_many(uint64_t seed)
{
    struct pcg pcg = pcg_stream(seed, PCG_SCHEDULE);
    uint64_t *many = malloc(MANY * sizeof *many);
    cr_assert_not_null(many);
    for (size_t i = 0; i < MANY; i++) {
        many[i] = draw(&pcg);
    }
    return many;
}

/* Adds it; whether it was told to be new. Must not be full. */
static bool is_new(uint64_t fingerprint)
{
    bool rests;
    enum visited_answer answer = visited_add(&visited, fingerprint, &rests);
    cr_assert_neq(answer, VISITED_FULL);
    return answer == VISITED_NEW;
}

/* What its tables take: the shards themselves are as large as they are. */
static size_t table_bytes(void)
{
    struct visited empty;
    struct explore_budget none = {0};
    cr_assert(visited_make(&empty, &none));
    size_t bytes = visited_bytes(&visited) - visited_bytes(&empty);
    visited_free(&empty);
    return bytes;
}

Test(visited, each_fingerprint_is_new_once_however_the_tables_grow)
{
    uint64_t *many = draw_many(1);
    make((size_t)1 << 30);
    for (size_t i = 0; i < MANY; i++) {
        cr_assert(is_new(many[i]));
        cr_assert_not(is_new(many[i / 2]));
    }
    for (size_t i = 0; i < MANY; i++) {
        cr_assert_not(is_new(many[i]));
    }
    cr_expect_eq(visited_count(&visited), MANY);
    cr_expect_geq(table_bytes(), MANY * sizeof *many);
    cr_expect_leq(table_bytes(), sizeof *many * 4 * MANY); /* it grows as it must, not at once */
    free(many);
}

Test(visited, fingerprints_next_to_each_other_are_told_apart)
{
    make((size_t)1 << 30);
    for (uint64_t i = 2; i < 2000; i++) { /* all in one shard */
        cr_assert(is_new(2 * i), "%llu", (unsigned long long)i);
        cr_assert_not(is_new(2 * i + 1)); /* the lowest bit is no part of it */
    }
    cr_expect_eq(visited_count(&visited), 1998);
}

Test(visited, fingerprints_of_zeros_or_ones_are_like_any_other)
{
    static const uint64_t odd[] = {0, UINT64_MAX, UINT64_C(1) << 63};
    make((size_t)1 << 30);
    for (size_t i = 0; i < COUNT(odd); i++) {
        cr_expect(is_new(odd[i]));
        cr_expect_not(is_new(odd[i]));
        cr_expect_not(visited_rests(&visited, odd[i]));
        visited_set_rests(&visited, odd[i]);
        cr_expect(visited_rests(&visited, odd[i]));
    }
}

Test(visited, what_does_not_fit_is_told)
{
    bool rests;
    uint64_t first_refused = 0;
    make(SMALL);
    for (uint64_t i = 2; first_refused == 0; i++) {
        enum visited_answer answer = visited_add(&visited, 2 * i, &rests);
        cr_assert_neq(answer, VISITED_KNOWN);
        first_refused = answer == VISITED_FULL ? i : 0;
    }
    cr_expect_eq(visited_count(&visited), 240); /* fifteen sixteenths of a shard's 256 */
    cr_expect_eq(first_refused, 242);
    for (uint64_t i = 2; i < first_refused; i++) { /* none was lost */
        cr_expect_eq(visited_add(&visited, 2 * i, &rests), VISITED_KNOWN);
    }
    cr_expect_eq(visited_add(&visited, 2 * first_refused, &rests), VISITED_FULL); /* nor came in */
    cr_expect_eq(visited_add(&visited, UINT64_MAX, &rests), VISITED_NEW); /* of another shard */
}

Test(visited, tables_never_take_more_than_they_were_given)
{
    static const size_t given[] = {0, 1, SMALL - 1, SMALL, SMALL + 1, 2 * SMALL - 1};
    uint64_t *many = draw_many(2);
    for (size_t g = 0; g < COUNT(given); g++) {
        uint64_t added = 0;
        make(given[g]);
        for (size_t i = 0; i < MANY; i++) {
            bool rests;
            added += visited_add(&visited, many[i], &rests) == VISITED_NEW;
        }
        cr_expect_leq(table_bytes(), given[g]);
        cr_expect_eq(table_bytes(), atomic_load(&budget.used));
        cr_expect_eq(visited_count(&visited), added);
        cr_expect(added < MANY);
        cr_expect_eq(added == 0, given[g] < SMALL, "%llu of %zu bytes", (unsigned long long)added,
                     given[g]);
        visited_free(&visited);
    }
    make(SMALL);
    free(many);
}

/* What others took is not there for the tables. */
Test(visited, tables_take_what_others_have_left)
{
    uint64_t *many = draw_many(2), added = 0;
    make(2 * SMALL);
    cr_assert(explore_budget_take(&budget, SMALL));
    cr_expect_not(explore_budget_take(&budget, SMALL + 1));
    for (size_t i = 0; i < MANY; i++) {
        bool rests;
        added += visited_add(&visited, many[i], &rests) == VISITED_NEW;
    }
    cr_expect_eq(table_bytes(), SMALL);
    cr_expect_eq(visited_count(&visited), added);
    explore_budget_give(&budget, SMALL);
    for (size_t i = 0; i < MANY; i++) {
        bool rests;
        added += visited_add(&visited, many[i], &rests) == VISITED_NEW;
    }
    cr_expect_eq(table_bytes(), 2 * SMALL);
    cr_expect_eq(visited_count(&visited), added);
    free(many);
}

Test(visited, whether_a_state_rests_is_kept_and_is_its_own)
{
    uint64_t *many = draw_many(3);
    make((size_t)1 << 30);
    cr_expect_not(visited_rests(&visited, many[0])); /* not there at all */
    for (size_t i = 0; i < MANY; i++) {
        cr_assert(is_new(many[i]));
        if (i % 3 == 0) {
            visited_set_rests(&visited, many[i]);
        }
    }
    for (size_t i = 0; i < MANY; i++) { /* after many a growth */
        bool rests = i % 3 != 0;
        cr_assert_eq(visited_add(&visited, many[i], &rests), VISITED_KNOWN);
        cr_assert_eq(rests, i % 3 == 0);
        cr_assert_eq(visited_rests(&visited, many[i]), i % 3 == 0);
    }
    cr_expect_eq(visited_count(&visited), MANY);
    free(many);
}

/* ---- threads --------------------------------------------------------------------------------- */

struct adder {
    pthread_t thread;
    const uint64_t *many;
    size_t first, step; /* another order for each */
    uint64_t added;
};

static void *add_all(void *context)
{
    struct adder *adder = context;
    for (size_t i = 0, at = adder->first; i < MANY; i++, at = (at + adder->step) % MANY) {
        bool rests;
        adder->added += visited_add(&visited, adder->many[at], &rests) == VISITED_NEW;
        if (at % 2 == 0) {
            visited_set_rests(&visited, adder->many[at]);
        }
    }
    return NULL;
}

/* (VI1) */
Test(visited, of_several_threads_exactly_one_is_told_that_it_is_new)
{
    static const size_t steps[THREADS] = {1, MANY - 1, 7, 33333}; /* prime to MANY */
    struct adder adders[THREADS];
    uint64_t *many = draw_many(4), added = 0;
    make((size_t)1 << 30);
    for (size_t t = 0; t < THREADS; t++) {
        adders[t] = (struct adder){.many = many, .first = t, .step = steps[t]};
        cr_assert_eq(pthread_create(&adders[t].thread, NULL, add_all, &adders[t]), 0);
    }
    for (size_t t = 0; t < THREADS; t++) {
        pthread_join(adders[t].thread, NULL);
        added += adders[t].added;
    }
    cr_expect_eq(added, MANY);
    cr_expect_eq(visited_count(&visited), MANY);
    for (size_t i = 0; i < MANY; i++) {
        cr_assert_eq(visited_rests(&visited, many[i]), i % 2 == 0);
    }
    free(many);
}

/* ---- the chance of a mistake ----------------------------------------------------------------- */

Test(visited, the_chance_of_a_collision_is_that_of_a_birthday)
{
    cr_expect_eq(visited_collision(0), 0);
    cr_expect(visited_collision(1e6) > 5e-8 && visited_collision(1e6) < 6e-8);
    cr_expect(visited_collision(1e8) > 5e-4 && visited_collision(1e8) < 6e-4);
}
