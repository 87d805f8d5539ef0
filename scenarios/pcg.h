/* PCG32: the random numbers behind every choice of `run` and `campaign`.
 *
 * A run is named by (scenario, seed, PCG_VERSION) and must be the same on every machine, compiler
 * and libc, so the generator is our own: the XSH-RR variant with 64 bits of state and 32 bits of
 * output of M.E. O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good
 * Algorithms for Random Number Generation" (HMC-CS-2014-0905), in integers throughout.
 *
 * Owns nothing: a generator is two integers that its holder keeps, copies and compares.
 * Never allocates, never reads a clock, the environment or libc's random, never uses floating
 * point. Not for secrets: its state can be computed from its outputs.
 *
 * (PG1) increment is odd, so the state visits all 2^64 values before it repeats.
 * (PG2) What is drawn depends on the struct alone: a copy draws what the original draws, and
 *       drawing from one generator never alters another.
 * (PG3) pcg_seed, pcg_next and pcg_below give, draw for draw, what the reference gives:
 *       pcg32_srandom_r, pcg32_random_r and pcg32_boundedrand_r.
 * (PG4) pcg_below is unbiased and takes at least one output, even where only one result is
 *       possible.
 * (PG5) What pcg_chance takes depends on the denominator, never on the numerator.
 * (PG6) pcg_stream depends on (seed, concern) alone. Two seeds of one concern never begin with the
 *       same (initial state, sequence), nor do two concerns of one seed. */
#ifndef SCENARIOS_PCG_H
#define SCENARIOS_PCG_H

#include <stdbool.h>
#include <stdint.h>

/* Raised whenever any function below would draw anything else for any seed, so that a run recorded
 * before can be refused instead of silently becoming another run. */
#define PCG_VERSION 1

struct pcg {
    uint64_t state;     /* position in the sequence */
    uint64_t increment; /* which of the 2^63 sequences, times 2, plus 1 */
};

/* What a stream is drawn for. Every concern has a stream of its own, so that a scenario that draws
 * more faults keeps its schedule. The values enter pcg_stream: append only, else PCG_VERSION. */
enum pcg_concern {
    PCG_SCHEDULE, /* who runs next */
    PCG_FAULTS,   /* what goes wrong, and where */
    PCG_WORKLOAD, /* which jobs exist */
    PCG_CLOCK,    /* how far time moves */
    PCG_STOPS,    /* where a transaction is stopped half-way */
    PCG_SCRIPT,   /* random transactions for `conform` */
    PCG_SWARM,    /* which of the kinds of fault that came later a run has */
    PCG_LATER,    /* which of them a scenario that is drawn has */
    PCG_CONCERN_COUNT
};

/* A generator as the reference seeds it; published known answers are given for such pairs. The
 * highest bit of init_sequence has no effect: there are 2^63 sequences. */
struct pcg pcg_seed(uint64_t init_state, uint64_t init_sequence);

/* The stream of a run's seed for one concern. Seeds may be consecutive: 1, 2, 3 give unrelated
 * streams. */
struct pcg pcg_stream(uint64_t seed, enum pcg_concern concern);

/* The next 32 bits. */
uint32_t pcg_next(struct pcg *pcg);

/* A number x with 0 <= x < bound, each equally likely; bound > 0. Takes two outputs on average at
 * worst (bound just above 2^31), hardly ever more than one for a small bound. */
uint32_t pcg_below(struct pcg *pcg, uint32_t bound);

/* True in numerator out of denominator cases; numerator <= denominator, denominator > 0. Draws
 * pcg_below(denominator) exactly once, at 0/n and n/n too: switching a fault off, or making it
 * certain, shifts no later draw, and the rest of the run stays comparable. */
bool pcg_chance(struct pcg *pcg, uint32_t numerator, uint32_t denominator);

#endif
