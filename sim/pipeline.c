/* The pipeline in the simulation: which faults fall on its phases, where its planted bugs are
 * hunted, and its words. */
#include "sim/part.h"

#include <inttypes.h>

extern const struct monitors monitors_pipeline;

/* ---- running --------------------------------------------------------------------------------- */

static bool applies(const struct run *run, enum fault_kind kind, unsigned actor)
{
    if (kind == FAULT_CRASH_BEFORE_ACK) {
        return run->bundle.name == BUNDLE_HAND_ON;
    }
    return kind == FAULT_ANSWER_CHANGED ? run->bundle.name == BUNDLE_VERIFY
                                        : part_applies(run, kind, actor);
}

/* A verifier that judges otherwise, this once. */
static void twist(struct actor *actor, enum fault_kind kind, bool on)
{
    (void)kind;
    actor->is.pipeline.flipped = on;
}

static bool has_flaw(const struct scenario *scenario, enum pipeline_flaw flaw)
{
    for (uint32_t i = 0; i < scenario->pipeline.entry_count; i++) {
        if (scenario->pipeline.entries[i].flaw == flaw) {
            return true;
        }
    }
    return false;
}

static bool can_see(const struct scenario *scenario, enum oracle_sighting sight)
{
    switch ((int)sight) {
    case SIGHT_HUMAN_PARENT:
        return has_flaw(scenario, FLAW_NO_BLOCKER);
    case SIGHT_HUMAN_NULL:
        return has_flaw(scenario, FLAW_NO_PAYLOAD);
    case SIGHT_EXHAUSTED: /* more errors than a run has by chance */
        return scenario->faults.budget[FAULT_GROUP_ABORT] > 2 * PIPELINE_TRIES_MAX;
    default:
        return true;
    }
}

static const char *const grounds[] = {"pipeline", NULL};

const struct sim_part sim_part_pipeline = {.monitors = &monitors_pipeline,
                                           .applies = applies,
                                           .twist = twist,
                                           .can_see = can_see,
                                           .grounds = grounds};
