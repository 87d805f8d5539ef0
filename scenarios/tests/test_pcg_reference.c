/* PG3 and PG6 against the author's own implementation, draw for draw. */
#include "model/check.h"
#include "scenarios/pcg.h"
#include "scenarios/tests/pcg_reference.h"

#include <criterion/criterion.h>
#include <inttypes.h>

#define NEXT_DRAWS  (1u << 20)
#define BELOW_DRAWS (1u << 17)

static uint32_t drawn[NEXT_DRAWS], expected[NEXT_DRAWS];

static const struct {
    uint64_t state, sequence;
} pairs[] = {
    {42, 54},
    {0, 0},
    {0, 1},
    {1, 0},
    {UINT64_MAX, 0},
    {0, UINT64_MAX},
    {UINT64_MAX, UINT64_MAX},
    {7, UINT64_C(1) << 62},
    {7, UINT64_C(1) << 63}, /* a bit that both must drop */
    {UINT64_C(0x0123456789abcdef), UINT64_C(0xfedcba9876543210)},
};

static const uint64_t seeds[] = {0, 1, 2, 42, UINT64_C(0x9e3779b97f4a7c15), UINT64_MAX};

static const uint32_t bounds[] = {
    1, 2, 3, 6, 7, 1000, 0x7fffffff, 0x80000000, 0x80000001, 0xc0000000, 0xffffffff,
};

static void compare_next(struct pcg own, uint64_t state, uint64_t sequence)
{
    uint32_t follower = pcg_reference_next(state, sequence, expected, NEXT_DRAWS);
    for (size_t i = 0; i < NEXT_DRAWS; i++) {
        drawn[i] = pcg_next(&own);
    }
    cr_assert_arr_eq(drawn, expected, NEXT_DRAWS * sizeof *drawn, "(%" PRIu64 ", %" PRIu64 ")",
                     state, sequence);
    cr_assert_eq(pcg_next(&own), follower);
}

static void compare_below(struct pcg own, uint64_t state, uint64_t sequence, uint32_t bound)
{
    uint32_t follower = pcg_reference_below(state, sequence, bound, expected, BELOW_DRAWS);
    for (size_t i = 0; i < BELOW_DRAWS; i++) {
        drawn[i] = pcg_below(&own, bound);
    }
    cr_assert_arr_eq(drawn, expected, BELOW_DRAWS * sizeof *drawn,
                     "(%" PRIu64 ", %" PRIu64 ") below %" PRIu32, state, sequence, bound);
    cr_assert_eq(pcg_next(&own), follower);
}

static void compare(struct pcg own, uint64_t state, uint64_t sequence)
{
    compare_next(own, state, sequence);
    for (size_t i = 0; i < COUNT(bounds); i++) {
        compare_below(own, state, sequence, bounds[i]);
    }
}

/* splitmix64 in its published form, which counts its state on. */
static uint64_t splitmix64_next(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

Test(pcg_reference, seeded_generators_equal_the_reference)
{
    for (size_t i = 0; i < COUNT(pairs); i++) {
        compare(pcg_seed(pairs[i].state, pairs[i].sequence), pairs[i].state, pairs[i].sequence);
    }
}

Test(pcg_reference, splitmix64_gives_the_published_answers_for_1234567)
{
    static const uint64_t published[] = {
        UINT64_C(6457827717110365317),  UINT64_C(3203168211198807973),
        UINT64_C(9817491932198370423),  UINT64_C(4593380528125082431),
        UINT64_C(16408922859458223821),
    };
    uint64_t state = 1234567;
    for (size_t i = 0; i < COUNT(published); i++) {
        cr_assert_eq(splitmix64_next(&state), published[i]);
    }
}

Test(pcg_reference, streams_equal_the_reference_seeded_by_splitmix64)
{
    for (size_t i = 0; i < COUNT(seeds); i++) {
        uint64_t counter = seeds[i];
        counter = splitmix64_next(&counter);
        for (int concern = 0; concern < PCG_CONCERN_COUNT; concern++) {
            uint64_t state = splitmix64_next(&counter);
            uint64_t sequence = splitmix64_next(&counter);
            compare(pcg_stream(seeds[i], (enum pcg_concern)concern), state, sequence);
        }
    }
}
