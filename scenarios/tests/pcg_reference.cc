#include "scenarios/tests/pcg_reference.h"

#include <pcg_random.hpp>

uint32_t pcg_reference_next(uint64_t state, uint64_t sequence, uint32_t *out, size_t n)
{
    pcg32 reference(state, sequence);
    for (size_t i = 0; i < n; i++) {
        out[i] = reference();
    }
    return reference();
}

uint32_t pcg_reference_below(uint64_t state, uint64_t sequence, uint32_t bound, uint32_t *out,
                             size_t n)
{
    pcg32 reference(state, sequence);
    for (size_t i = 0; i < n; i++) {
        out[i] = reference(bound);
    }
    return reference();
}
