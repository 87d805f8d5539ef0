/* The fault plan of a run on PostgreSQL, drawn from its seed within what the scenario allows; and the
 * profile of simulated runs that it is drawn from. */
#ifndef VERIFY_REAL_PLAN_H
#define VERIFY_REAL_PLAN_H

#include "real/chaos.h"
#include "sim/run.h"
#include "sim/sweep.h"

#define REAL_PLAN_SEEDS 1000 /* simulated runs of a profile */

/* What a scenario's actors send, in simulated runs under its faults. */
struct real_profile {
    uint64_t sent[BUNDLE_NAME_COUNT]; /* 0: never */
    uint32_t last[BUNDLE_NAME_COUNT]; /* without faults: the last transaction that sends it */
    uint8_t after[BUNDLE_NAME_COUNT]; /* 1 + a bundle whose lost answer it follows; 0: none */
    bool calm;                        /* (while it is made) */
    uint8_t unknown[RUN_ACTORS_MAX];  /* (while it is made) 1 + what each has no answer to */
    uint32_t transactions;            /* without faults */
    bool serializable;                /* some transaction is */
    uint64_t crashed[BUNDLE_NAME_COUNT][SWEEP_SIDES];
};

/* Runs it REAL_PLAN_SEEDS times. */
void real_profile_make(struct run *run, struct real_profile *profile);

struct real_plan {
    struct chaos_plan plan;
    struct chaos_fault *faults; /* its list; freed by real_plan_free */
    bool fails_over;            /* it has a failover: there must be a standby */
};

struct real_plan_request {
    const struct run *run;
    const struct real_profile *profile;
    uint64_t seed;
    uint32_t times;   /* multiplies the scenario's jobs; its limits are for one time */
    int64_t claim_ms; /* how long a claim lasts */
    bool ours;        /* faults may harm the server */
    bool throughout;  /* faults are injected until no work is left, without a calm end */
};

/* The plan of a seed. False: no memory. */
bool real_plan_draw(struct real_plan *plan, const struct real_plan_request *request);
void real_plan_free(struct real_plan *plan);

#endif
