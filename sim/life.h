/* The life of a transaction: it begins, does its statements, is executed up to its COMMIT, and is
 * closed. One interface with three implementations:
 *
 *   life_whole        all of it at once, when it is executed (store.h): for one that overlaps with
 *                     no other
 *   life_interleaved  operation by operation, beside other transactions (session.h)
 *   lockstep          the same, and PostgreSQL follows (verify/mirror.h)
 *
 * Runs (transact.c) and searches (walk.c) drive all of them in the same way, and decide themselves
 * when a transaction goes on, which fault hits it and whether what it did is kept.
 *
 * (LF1) A transaction that no other overlaps with comes to the same rows, outcome and observations
 *       by each implementation. */
#ifndef SIM_LIFE_H
#define SIM_LIFE_H

#include "model/bundle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run;

struct life {
    /* Begins run->bundle as the transaction of session `who`; `picked` as for store_execute. */
    void (*begin)(struct run *run, unsigned who, uint32_t picked);

    /* The next operation, or the statement that it begins. One that is deadlocked aborts. */
    void (*step)(struct run *run, unsigned who);

    /* The sessions whose locks have been released do their statement, the longest waiting first. */
    void (*wake)(struct run *run);

    /* Everything but the end of COMMIT. run->bundle, run->outcome and run->seen are as the store has
     * them afterwards. True: the changes since `mark` are its own, to be kept or rolled back; with
     * `commits` false there may be none. */
    bool (*execute)(struct run *run, unsigned who, bool commits, size_t mark);

    /* Releases everything. `kept`: its changes since `mark` stay. */
    void (*close)(struct run *run, unsigned who, bool kept, size_t mark);

    /* It aborts. What it holds is released; it is still to be closed. */
    void (*abort)(struct run *run, unsigned who, enum abort_class why);

    /* Rows changed since `mark` outside any transaction. */
    void (*note)(struct run *run, size_t mark);

    bool follows; /* another store follows: every transaction counts, and presets come after it */
};

extern const struct life life_whole, life_interleaved;

#endif
