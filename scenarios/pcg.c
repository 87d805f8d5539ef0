#include "scenarios/pcg.h"

#include "model/check.h"

#define LCG_MULTIPLIER  UINT64_C(6364136223846793005)
#define SPLITMIX64_STEP UINT64_C(0x9e3779b97f4a7c15)

static void advance(struct pcg *pcg)
{
    pcg->state = pcg->state * LCG_MULTIPLIER + pcg->increment;
}

struct pcg pcg_seed(uint64_t init_state, uint64_t init_sequence)
{
    struct pcg pcg = {.state = 0, .increment = (init_sequence << 1) | 1}; /* PG1 */
    advance(&pcg);
    pcg.state += init_state;
    advance(&pcg);
    return pcg;
}

/* The n-th output, from 1, of the splitmix64 generator that starts at start. Its finaliser is a
 * bijection and its step is odd, so outputs of one start never repeat, and neither do the n-th
 * outputs of two starts. */
static uint64_t splitmix64(uint64_t start, uint64_t n)
{
    uint64_t mixed = start + n * SPLITMIX64_STEP;
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

/* Both halves are mixed, for two reasons.
 *   The sequence: with one sequence for all, streams would be stretches of a single cycle and
 *   could run into each other. Distinct sequences visit their states in different orders.
 *   The state: sequences of one multiplier are affine images of each other, so equal or nearby
 *   states in two sequences could stay correlated for as long as they are drawn.
 * The seed is mixed once before the concerns count on from it: counting from the seed itself, seeds
 * a few SPLITMIX64_STEPs apart would share states and sequences between their concerns. What is
 * left is chance: two given streams share a sequence with probability 2^-63. */
struct pcg pcg_stream(uint64_t seed, enum pcg_concern concern)
{
    CHECK((unsigned)concern < PCG_CONCERN_COUNT);
    uint64_t root = splitmix64(seed, 1);
    uint64_t taken = 2 * (uint64_t)concern;
    return pcg_seed(splitmix64(root, taken + 1), splitmix64(root, taken + 2)); /* PG6 */
}

uint32_t pcg_next(struct pcg *pcg)
{
    /* An unseeded generator is all zeros, gives zeros, and pcg_below would never return. */
    CHECK((pcg->increment & 1) == 1); /* PG1 */
    uint64_t before = pcg->state;
    advance(pcg);
    uint32_t folded = (uint32_t)((before ^ (before >> 18)) >> 27);
    uint32_t rotation = (uint32_t)(before >> 59);
    return (folded >> rotation) | (folded << (-rotation & 31));
}

uint32_t pcg_below(struct pcg *pcg, uint32_t bound)
{
    CHECK(bound > 0);
    /* 2^32 mod bound, in 32 bits: that many outputs are too many to share out evenly. */
    uint32_t threshold = -bound % bound;
    uint32_t drawn;
    do {
        drawn = pcg_next(pcg);
    } while (drawn < threshold);
    return drawn % bound; /* PG4 */
}

bool pcg_chance(struct pcg *pcg, uint32_t numerator, uint32_t denominator)
{
    CHECK(denominator > 0);
    CHECK(numerator <= denominator);
    return pcg_below(pcg, denominator) < numerator; /* PG5 */
}
