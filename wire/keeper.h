/* A foreign program with all that it starts, as one thing that can be stopped, killed and awaited.
 *
 * Between Assay and the program stands a small process, the keeper. It is the reaper of all its
 * descendants (PR_SET_CHILD_SUBREAPER), so that a process whose parent ends, or that makes a session
 * of its own, stays below it and is found there.
 *
 * (KP1) The program runs as plan->user, who is not root, in a session of its own, with the
 *       environment of the plan and no descriptor of ours but its streams.
 * (KP2) When keeper_kill() returns, no process of the tree runs.
 * (KP3) If Assay ends without it, however it ends, the keeper kills the tree and ends. */
#ifndef WIRE_KEEPER_H
#define WIRE_KEEPER_H

#include "real/process.h"

#include <stdbool.h>

struct keeper {
    struct process process; /* the keeper; pid 0: there is none */
};

struct keeper_plan {
    const char *command; /* for sh -c */
    const char *folder;  /* where it stands */
    const char *output;  /* file that stdout and stderr are appended to */
    const struct process_user *user;
    char *const *environment; /* ends with NULL */
};

bool keeper_start(struct keeper *keeper, const struct keeper_plan *plan, struct error *error);

/* Whether the program has ended; what it left running is killed, and *status is its wait status. */
bool keeper_ended(struct keeper *keeper, int *status);

void keeper_kill(struct keeper *keeper);
/* Whether every thread of the tree sleeps, or is stopped. */
bool keeper_rests(const struct keeper *keeper);
/* SIGSTOP or SIGCONT to all of the tree. */
void keeper_signal(const struct keeper *keeper, int signal);

#endif
