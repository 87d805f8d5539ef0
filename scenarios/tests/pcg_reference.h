/* The reference PCG32, by its author (libpcg-cpp-dev, class pcg32), for tests to compare with.
 *
 * Both functions seed a generator with (state, sequence), as pcg32_srandom_r does, fill out[0..n)
 * and return the output that follows: equal followers show that equally many outputs were taken,
 * also where the draws cannot show it (every draw below 1 is 0). */
#ifndef SIM_TESTS_PCG_REFERENCE_H
#define SIM_TESTS_PCG_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

uint32_t pcg_reference_next(uint64_t state, uint64_t sequence, uint32_t *out, size_t n);
uint32_t pcg_reference_below(uint64_t state, uint64_t sequence, uint32_t bound, uint32_t *out,
                             size_t n);

#ifdef __cplusplus
}
#endif

#endif
