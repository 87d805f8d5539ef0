/* Processes: starting a program as an unprivileged user, and ending exactly the process that is
 * meant.
 *
 * A pid is a number that the kernel hands out again. So a process is held by a descriptor (pidfd),
 * which keeps meaning this process and no other, and everything that is signalled is signalled
 * through it, or is a child of a process that is stopped and cannot lose it.
 *
 * (P1) A process that was not started here is signalled only after its caller has verified, with
 *      the descriptor already held, what it is.
 * (P2) A started program has no terminal, no signals blocked, no descriptors of ours but its
 *      streams, the environment of process.c with that of the plan and none of the user's, and
 *      stands in the root folder.
 * (P3) It runs as plan->user, which is never root. */
#ifndef REAL_PROCESS_H
#define REAL_PROCESS_H

#include "real/cluster_path.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PROCESS_VARIABLES_MAX 8

struct process_user {
    uid_t uid;
    gid_t gid;
    bool drop;     /* it is another user: drop to it */
    char name[32]; /* for messages */
};

struct process {
    pid_t pid; /* 0: none */
    int fd;    /* pidfd */
};

struct process_plan {
    const char *const *arguments; /* ends with NULL; the first is the program's path */
    const struct process_user *user;
    const char *input;  /* file that it reads; NULL: nothing */
    const char *output; /* file that stdout and stderr are appended to; made with our rights */
    const char *const *environment; /* more variables, at most PROCESS_VARIABLES_MAX; NULL: none */
    int when_orphaned; /* signal it gets when the thread that started it ends; 0: none */
};

/* What /proc/PID/stat says. */
struct process_state {
    char state; /* R, S, D, T, Z ... */
    pid_t parent;
    uint64_t start; /* clock ticks since boot: with the pid, it names a process for good */
};

/* The user of server programs: our own, or for root the user postgres, else the user nobody. */
bool process_user_find(struct process_user *user, struct error *error);

bool process_start(struct process *process, const struct process_plan *plan, struct error *error);
/* Starts it and waits for its end. True: it ended with status 0. */
bool process_run(const struct process_plan *plan, int timeout_ms, struct error *error);

/* Holds a process that runs already. False: there is none, or it cannot be held. */
bool process_hold(struct process *process, pid_t pid);
/* Lets go of it, and reaps it if it is a child that has ended. */
void process_release(struct process *process);

/* Waits at most so long. True: it has ended. */
bool process_ended(const struct process *process, int timeout_ms);
bool process_signal(const struct process *process, int signal);
/* SIGKILL to the process and to every child it has, none of which gets to do anything more: it is
 * stopped first, so that it neither starts another nor reaps one. Returns when all have ended. */
void process_kill_family(const struct process *process);

/* False: errno is ENOENT or ESRCH if there is no such process. */
bool process_state(pid_t pid, struct process_state *state);

#endif
