/* The life of a transaction: it begins, does its statements, is executed up to its COMMIT, and is
 * closed. One interface with three implementations, each in a file of its own:
 *
 *   life_whole        all of it at once, when it is executed (life_whole.c, on store.h): for one
 *                     that overlaps with no other
 *   life_interleaved  operation by operation, beside other transactions (life_interleaved.c, on
 *                     session.h)
 *   life_lockstep     the same, and PostgreSQL follows (verify/life_lockstep.c, on lockstep.h)
 *
 *      begin -> step, step, ... -> life_execute -> life_close          (committed, or rolled back)
 *                   |                   ^
 *                   '-> abort ----------'                              (aborted)
 *
 * Runs (transact.c) and searches (walk.c) drive all of them in the same way, and end every
 * transaction by life_execute and life_close, or by life_drop. What differs between the two is
 * theirs, and not a matter of the implementation:
 *
 *   - when a transaction goes on, and which fault hits it;
 *   - who judges a commit: a run tells the oracles of every transaction and of its sender, a search
 *     of commits alone, and a watch may judge in their place;
 *   - who wakes the sessions that waited: a run does at once, while in a search each of them going
 *     on is a move of its own.
 *
 * A transaction that is refused a connection never begins, and has no life.
 *
 * (LF1) A transaction that no other overlaps with comes to the same rows, outcome and observations
 *       by each implementation.
 * (LF2) What execute does not carry out leaves no change.
 * (LF3) What it carries out is committed or refused: a transaction that was aborted never is.
 * (LF4) After it was closed a session holds nothing and can begin another. */
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

    /* It aborts. What it holds is released; it is still to be executed, in vain, and closed. */
    void (*abort)(struct run *run, unsigned who, enum abort_class why);

    /* Rows changed since `mark` outside any transaction. */
    void (*note)(struct run *run, size_t mark);

    bool follows; /* another store follows: every transaction counts, and presets come after it */
};

extern const struct life life_whole, life_interleaved;

/* Executes the transaction and rolls it back, unless it commits. True: its changes since `mark` are
 * a commit, for the caller to judge before it closes the session. */
bool life_execute(struct run *run, const struct life *life, unsigned who, bool commits,
                  size_t mark);

/* Releases everything. `kept`: it committed. */
void life_close(struct run *run, const struct life *life, unsigned who, bool kept, size_t mark);

/* Its connection breaks, or its sender crashes: it aborts and is closed. */
void life_drop(struct run *run, unsigned who);

#endif
