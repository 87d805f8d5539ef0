/* SPIN as a peer: a Promela model of the same protocol, verified in the same sitting, so that rates
 * can be compared on one machine. Needs the programs spin and gcc; writes to a temporary folder and
 * removes it. */
#ifndef SIM_BENCH_SPIN_H
#define SIM_BENCH_SPIN_H

#include <stdbool.h>
#include <stddef.h>

struct spin_figures {
    double states, transitions, seconds;
    double transitions_per_second;
};

/* False: *why says what is missing. */
bool spin_measure(struct spin_figures *figures, char *why, size_t size);

#endif
