/* Random numbers for the suites of model/, which may not use scenarios/pcg.h: xorshift64, George
 * Marsaglia, "Xorshift RNGs" (2003). The state is any number but 0; equal states draw equally. */
#ifndef MODEL_TESTS_RANDOM_H
#define MODEL_TESTS_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static inline uint64_t random_below(uint64_t *state, uint64_t bound)
{
    return random_next(state) % bound;
}

static inline bool random_one_in(uint64_t *state, uint64_t odds)
{
    return random_below(state, odds) == 0;
}

#endif
