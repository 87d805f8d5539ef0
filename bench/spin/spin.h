/* SPIN as a peer: a Promela model of the same protocol (ledger.pml), verified in the same sitting,
 * so that figures can be compared on one machine. Needs the programs spin and gcc; writes to a
 * temporary folder and removes it.
 *
 * The model describes peer-3, peer-5 and peer-7 step for step: one transaction is one transition,
 * and its states, all variables counted (spin -o2), are those of `assay explore --no-reduction`. */
#ifndef BENCH_SPIN_H
#define BENCH_SPIN_H

#include <stdbool.h>
#include <stddef.h>

struct spin_question {
    int tree; /* 3, 5 or 7 activities */
    int crashes, duplicates;
    bool counters;      /* attempt counters are part of a state */
    bool all_variables; /* ... also those that nothing reads, which SPIN leaves out by itself */
    bool hashed;        /* hash-compact (-DHC4): states may be lost; else lossless */
    int megabytes;      /* at most */
    double states;      /* about how many, for each of which its hash table has a slot; 0: many */
    int bug;            /* the model's BUG; 0: none */
    bool unguarded;     /* the model's GUARD=0: markers are not tested again under the lock */
    bool shortest;      /* a shortest counterexample (pan -i) */
};

struct spin_figures {
    double states, transitions, seconds;
    double bytes;  /* of the states stored, with the hash table */
    bool complete; /* it was not out of memory, and found no error */
    int depth;     /* of the shortest error that it found, its failing step not counted; 0: none */
};

/* The programs that it takes are there. */
bool spin_is_there(void);

/* False: *why says what is missing. */
bool spin_measure(const struct spin_question *question, struct spin_figures *figures, char *why,
                  size_t size);

#endif
