/* The sweep: the same run, crashed at every point where a crash can fall, and crashed again inside
 * every recovery.
 *
 * A point is a transaction of an actor and a side: before it begins, before it commits, after it
 * committed and before the actor knows. At depth 1 every point of the crash-free run is crashed
 * once; at depth 2 every point that comes after that crash is crashed too. Who runs when is drawn
 * from the seed, so that the run up to the crash is the same every time.
 *
 * Goes on until no point is left: it ends when no fault fires. */
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
    /* crashes that fired: in which recovery (0: none), where and on which side */
    uint64_t by_bundle[SWEEP_DEPTH_MAX][BUNDLE_NAME_COUNT][SWEEP_SIDES];
    bool broken;
    struct run_result breach;               /* of the first that broke a promise */
    struct choice crashes[SWEEP_DEPTH_MAX]; /* ... and what it took */
    unsigned crash_count;
    uint64_t digest; /* of all runs in order */
};

/* Which fault crashes on which side, in the order of before begin, before commit, after commit. */
extern const enum fault_kind sweep_sides[SWEEP_SIDES];

/* Called now and then; false ends the sweep early. */
typedef bool sweep_progress(void *context, const struct sweep_report *report);

/* True: all points were swept, or one broke a promise. False: ended early, no memory, or a run of
 * more than SWEEP_TRANSACTIONS_MAX transactions. */
bool sweep(struct run *run, uint64_t seed, unsigned depth, struct sweep_report *report,
           sweep_progress *progress, void *context);

#endif
