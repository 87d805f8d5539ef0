/* Supervisor of the actor processes: starts them, injects the faults of a plan, and restarts those
 * that die. It does not judge: the rows and the history stay in the server.
 *
 * A run has the two phases of the simulation. Faults: the plan's faults are injected until no work
 * is left. Settling: no more faults; every actor is started anew, claims lapse, and the rest must be
 * done in time.
 *
 * A fault becomes active after a number of transactions. Then it waits at a breakpoint (shared.h)
 * for a process, which stops there while the fault is injected. A kill at any instant waits for
 * none.
 *
 * (CH1) A fault counts only if it hit an open transaction, a held claim or an unanswered commit, and
 *       had the effect of its kind. A stop: the process held a claim and slept past its end. A lost
 *       connection or server: the transaction was not told that it committed. 40001, 40P01 and
 *       53300: the victim got that answer. A duplicated, replayed or redelivered message: it was
 *       claimed. A reorder: a later message was claimed while an earlier one was there. A delay: an
 *       actor looked for messages while one was hidden. An illegal move: the ledger or the grants
 *       refused it.
 * (CH2) Signals go only to processes that were started here, and to processes of the server that
 *       may be harmed.
 * (CH3) When chaos_run returns, none of the processes that it started is left. */
#ifndef REAL_CHAOS_H
#define REAL_CHAOS_H

#include "faults/catalogue.h"
#include "model/error.h"
#include "real/chaos_server.h"
#include "real/driver.h"

#include <signal.h>

struct chaos_fault {
    uint8_t kind;   /* enum chaos_kind */
    uint8_t bundle; /* enum bundle_name, or SHARED_ANY */
    uint8_t moment; /* ... and when: enum shared_moment; SHARED_SENT: the server's process is frozen
                        before COMMIT is sent, so that it is unanswered for certain */
    uint32_t from;  /* transactions of all actors before it becomes active */
    uint32_t amount; /* a stop, a delay, a clock: milliseconds; CHAOS_KILL: the actor; a message or
                        a move: its number */
};

struct chaos_plan {
    const struct chaos_fault *faults; /* in the order of `from` */
    size_t count;
    bool storms; /* there is a phase with faults; else none is injected */
};

struct chaos_report {
    uint64_t counted[CHAOS_KINDS];       /* (CH1) */
    uint64_t planned[CHAOS_KINDS];       /* that became active */
    uint64_t missed;                     /* that were never injected, or had no effect */
    uint64_t natural[ABORT_CLASS_COUNT]; /* aborts without a fault, by enum abort_class */
    uint64_t points[BUNDLE_NAME_COUNT][SHARED_MOMENTS]; /* CHAOS_KILL_AT_POINT, counted or not */
    uint64_t sent[BUNDLE_NAME_COUNT];                   /* transactions */
    uint64_t turned_away;                               /* 53300 by the limits of principals */
    uint64_t transactions;
    uint64_t lives;   /* processes started */
    uint64_t crashes; /* of the server */
};

struct chaos {
    struct driver driver; /* what every process needs */
    struct chaos_server *server;
    const struct chaos_plan *plan;
    bool claims_last; /* a claim ends with its holder only (part.h, `assumes_no_delay`) */
    const volatile sig_atomic_t *interrupted; /* not 0: the run ends early */
    int64_t weather_ms, settle_ms;            /* limits of the two phases */
    int64_t until; /* by driver_now(): faults stop then even if some are left; 0: never */
};

enum chaos_end {
    CHAOS_QUIET, /* no work is left */
    CHAOS_LATE,  /* work is left, and the time is up */
    CHAOS_INTERRUPTED,
    CHAOS_FAILED, /* a process or the server failed: *error says why */
    CHAOS_END_COUNT
};

/* One run. Adds to *report. Leaves driver.page as the run left it. */
enum chaos_end chaos_run(struct chaos *chaos, struct chaos_report *report, struct error *error);

#endif
