/* The loop over seeds allocates nothing: malloc and its kin are counted (the linker puts the
 * functions below in their place). */
#include "sim/campaign.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static size_t calls; /* since it was last set to 0 */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_malloc(size_t size)
{
    calls++;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    calls++;
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    calls++;
    return __real_realloc(memory, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    calls++;
    return __real_aligned_alloc(alignment, size);
}

static struct scenario scenario;
static struct campaign_runner runner;
static struct campaign_result sum, block;

/* How often memory was asked for by 1,000 seeds, some of them made twice. */
static size_t calls_of_a_thousand_seeds(const char *name, const struct sabotage *sabotage)
{
    struct error error;
    cr_assert(scenario_load(name, &scenario, &error), "%s", error.text);
    calls = 0;
    cr_assert(campaign_runner_make(&runner, &scenario, sabotage));
    cr_expect_gt(calls, 0, "setting up is counted, so the counting works");
    campaign_result_begin(&sum);
    calls = 0;
    for (uint64_t seed = 1; seed <= 1000; seed += CAMPAIGN_BLOCK) {
        campaign_block(&runner, seed, CAMPAIGN_BLOCK, CAMPAIGN_CHECK_USUAL, &block);
        campaign_result_add(&sum, &block);
    }
    size_t found = calls;
    campaign_runner_free(&runner);
    return found;
}

Test(campaign_alloc, a_thousand_seeds_allocate_nothing)
{
    for (size_t i = 0; i < scenario_count(); i++) {
        cr_expect_eq(calls_of_a_thousand_seeds(scenario_name(i), NULL), 0, "%s", scenario_name(i));
    }
}

Test(campaign_alloc, nor_do_those_that_break_a_promise)
{
    struct sabotage sabotage;
    cr_assert(sabotage_find("lost-snapshot", &sabotage));
    cr_expect_eq(calls_of_a_thousand_seeds("tree-3", &sabotage), 0);
    cr_expect_gt(sum.tally.findings, 0);
}
