/* Flows that nobody thought of: graphs of up to 15 activities are drawn, with branches, joins,
 * holds, pauses, errors and awaited flows, and each is run under faults. Every promise must hold in
 * all of them, and the drawing must bring about whatever a flow can do. */
#include "model/tests/proves.h"
#include "model/tests/random.h"
#include "sim/part.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BOOKS     400
#define SEEDS     8
#define CASES     3
#define TEXT_SIZE 16384

static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h",
                                    "i", "j", "k", "l", "m", "n", "o"};

struct drawn_text {
    char bytes[TEXT_SIZE];
    size_t used;
};

static void put(struct drawn_text *text, const char *word)
{
    size_t length = strlen(word);
    cr_assert_lt(text->used + length, TEXT_SIZE);
    memcpy(&text->bytes[text->used], word, length + 1);
    text->used += length;
}

/* Some of the cases, or none. */
static void put_cases(struct drawn_text *text, const char *what, unsigned set)
{
    const char *separator = "";
    put(text, what);
    put(text, "[");
    for (unsigned i = 0; i < CASES; i++) {
        if ((set >> i & 1) != 0) {
            char number[] = {(char)('1' + i), '\0'};
            put(text, separator);
            put(text, number);
            separator = ", ";
        }
    }
    put(text, "]");
}

/* Edges lead to later activities: no flow comes back to itself. */
static void put_children(struct drawn_text *text, uint64_t *random, unsigned from, unsigned count)
{
    const char *separator = "";
    put(text, "{next: [");
    for (unsigned to = from + 1; to < count; to++) {
        if (!random_one_in(random, 3)) {
            continue;
        }
        put(text, separator);
        put(text, "{to: ");
        put(text, names[to]);
        put_cases(text, ", when: ",
                  (unsigned)random_below(random, 3) == 0
                      ? (unsigned)random_below(random, 1U << CASES)
                      : (1U << CASES) - 1);
        put(text, "}");
        separator = ", ";
    }
    put(text, "]");
}

static void put_some(struct drawn_text *text, uint64_t *random, const char *what, uint64_t odds)
{
    if (random_one_in(random, odds)) {
        put_cases(text, what, (unsigned)random_below(random, 1U << CASES));
    }
}

static void put_flow(struct drawn_text *text, uint64_t *random, const char *name,
                     const char *awaited)
{
    unsigned count = 1 + (unsigned)random_below(random, KEY_ACTIVITIES_MAX);
    put(text, name);
    for (unsigned i = 0; i < count; i++) {
        put(text, "    ");
        put(text, names[i]);
        put(text, ": ");
        put_children(text, random, i, count);
        put_some(text, random, ", errors: ", 8);
        put_some(text, random, ", holds: ", 6);
        put_some(text, random, ", pauses: ", 6);
        if (awaited != NULL && random_one_in(random, count + 1)) {
            put(text, ", awaits: ");
            put(text, awaited);
        }
        put(text, "}\n");
    }
}

static void draw_book(struct drawn_text *text, uint64_t *random)
{
    text->used = 0;
    put(text, "name: drawn\nprotocol: key\njobs: 3\nworkers: 3\ncases: 3\n"
              "faults: {crash: 1/20, unknown: 1/30, abort: 1/40, duplicate: 1/20, pause: 1/40, "
              "delay: 1/40}\nflows:\n");
    put_flow(text, random, "  outer:\n", "inner");
    put_flow(text, random, "  inner:\n", NULL);
}

static void load(const struct drawn_text *text, struct scenario *scenario)
{
    struct error error;
    memset(scenario, 0, sizeof *scenario);
    cr_assert(scenario_parse(text->bytes, text->used, "drawn", scenario, &error), "%s\n%s",
              error.text, text->bytes);
}

struct tally {
    uint64_t steps, broken;
    uint64_t seen[COVER_COUNT];
};

/* The next book, under faults, with this planted bug or none. */
static void run_book(uint64_t *random, const struct sabotage *sabotage, struct tally *tally)
{
    static struct scenario scenario;
    static struct drawn_text text;
    struct run run = {0};
    draw_book(&text, random);
    load(&text, &scenario);
    cr_assert(run_make(&run, &scenario, sabotage));
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct choice_source source = choice_random(seed, &scenario.faults);
        const struct run_result *result = run_once(&run, &source);
        cr_assert(sabotage != NULL || result->verdict == RUN_HELD, "seed %d: %s\n%s", (int)seed,
                  result->breach.why, text.bytes);
        tally->steps += result->steps;
        tally->broken += result->verdict == RUN_BROKEN;
    }
    for (int sight = 0; sight < COVER_COUNT; sight++) {
        tally->seen[sight] += run.oracle.seen[sight];
    }
    run_free(&run);
}

Test(flow_drawn, every_promise_holds_whatever_the_flow_looks_like)
{
    PROVES(CLAUSE_KEY_1, CLAUSE_KEY_3, CLAUSE_KEY_5, CLAUSE_KEY_8, CLAUSE_KEY_9, CLAUSE_KEY_10);
    SETTLES(ERRATUM_KEY_2, ERRATUM_KEY_5, ERRATUM_KEY_9);
    struct tally tally = {0};
    uint64_t random = 2026;
    for (int book = 0; book < BOOKS; book++) {
        run_book(&random, NULL, &tally);
    }
    cr_expect_gt(tally.steps, (uint64_t)BOOKS * SEEDS * 50);
    for (int sight = COVER_SKIP_CHAIN; sight <= COVER_KEY_SKIPPED; sight++) {
        cr_expect_gt(tally.seen[sight], 0U, "%s", oracle_cover_text((enum oracle_cover)sight));
    }
}

Test(flow_drawn, planted_bugs_show_in_flows_that_nobody_thought_of)
{
    static const char *const bugs[] = {
        "blind-decrement",    "split-completion",       "skip-forgets-descendants",
        "error-without-skip", "await-does-not-wait",    "join-for-each-parent",
        "hold-completes",     "error-completes",        "release-without-pause",
        "paused-is-complete", "complete-from-stale-key"};
    for (size_t i = 0; i < COUNT(bugs); i++) {
        struct sabotage sabotage;
        struct tally tally = {0};
        uint64_t random = 2026;
        cr_assert(sabotage_find(bugs[i], &sabotage));
        for (int book = 0; book < BOOKS && tally.broken == 0; book++) {
            run_book(&random, &sabotage, &tally);
        }
        cr_expect_gt(tally.broken, 0U, "%s", bugs[i]);
    }
}
