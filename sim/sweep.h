/* The sweep: the same run, crashed at every point where a crash is possible, and crashed again
 * inside every recovery.
 *
 * A point is a transaction of an actor and a side: before it begins, before it commits, after it
 * committed and before the actor knows. At depth 1 every point of the run without crashes is
 * crashed once; at depth 2 every point after that crash is crashed, too. The schedule is drawn from
 * the seed, so that the run up to the crash is the same every time.
 *
 * The sweep ends when no point is left, that is, when no fault fires any more. */
#ifndef SIM_SWEEP_H
#define SIM_SWEEP_H

#include "sim/run.h"

#define SWEEP_DEPTH_MAX        3
#define SWEEP_SIDES            3
#define SWEEP_TRANSACTIONS_MAX (1 << 16) /* of one run */

struct sweep_report {
    uint32_t transactions;            /* of the run without a crash */
    uint64_t points[SWEEP_DEPTH_MAX]; /* crash points at each depth */
    uint64_t runs, steps;
    /* crashes that fired: by recovery (0: none), bundle and side */
    uint64_t by_bundle[SWEEP_DEPTH_MAX][BUNDLE_NAME_COUNT][SWEEP_SIDES];
    bool broken;
    struct run_result breach;               /* of the first run that broke a promise */
    struct choice crashes[SWEEP_DEPTH_MAX]; /* ... and its crashes */
    unsigned crash_count;
    uint64_t digest; /* of all runs, in order */
};

/* The fault of each side, in the order before begin, before commit, after commit. */
extern const enum fault_kind sweep_sides[SWEEP_SIDES];

/* A share of a sweep, for several machines. Block 0 is the run without a crash, block n the nth point
 * at depth 1 with all below it; part p of `parts` has every block b with b % parts = p. */
struct sweep_share {
    uint64_t part, parts;
    /* A block of the part is done, or broke a promise: the report up to now, and its digest. */
    void (*done)(void *context, uint64_t block, const struct sweep_report *report, uint64_t digest);
    void *context;
};

/* The digest of all runs of which `digest` is that of the first, and `more` that of the other `runs`. */
uint64_t sweep_fold(uint64_t digest, uint64_t more, uint64_t runs);

/* Called at intervals; false ends the sweep early. */
typedef bool sweep_progress(void *context, const struct sweep_report *report);

/* True: all points were swept, or one broke a promise. False: ended early, no memory, or a run has
 * more than SWEEP_TRANSACTIONS_MAX transactions. */
bool sweep(struct run *run, uint64_t seed, unsigned depth, struct sweep_report *report,
           sweep_progress *progress, void *context);

/* The same of a share. What is no part of it is neither in the report nor in the oracle's counts. */
bool sweep_share(struct run *run, uint64_t seed, unsigned depth, const struct sweep_share *share,
                 struct sweep_report *report, sweep_progress *progress, void *context);

#endif
