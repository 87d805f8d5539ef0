/* The activity protocol in the simulation: which faults apply to which bundle, presets, the hunting
 * scenarios of planted bugs. Its words for traces and stories are in activity_words.c. */
#include "model/oracle/activity.h"
#include "model/activity_engine.h"
#include "sim/activity_fingerprint.h"
#include "sim/activity_words.h"
#include "sim/part.h"

/* The task ran before, and its answer under this GUID was entered: E-ACL-21 is about this one. */
static bool answered_before(const struct run *run)
{
    const struct bundle *bundle = &run->bundle;
    uint8_t publish = bundle->calls[0].primitive == PRIMITIVE_PUBLISH ? 0 : 1; /* after an ack */
    int64_t guid = bundle->params[bundle->calls[publish].params + 1 + MESSAGE_GUID];
    return row_find(&run->world.rows, TABLE_GUID, guid) != ROW_NONE;
}

static bool is_merged(enum bundle_name name)
{
    return name == BUNDLE_LEG1_ACK || name == BUNDLE_ANSWER_ACK || name == BUNDLE_STEPS_ACK;
}

static bool publishes(enum bundle_name name)
{
    return name == BUNDLE_STEP2 || name == BUNDLE_LEG1 || name == BUNDLE_ANSWER || is_merged(name);
}

static bool applies(const struct run *run, enum fault_kind kind, unsigned actor)
{
    switch ((int)kind) {
    case FAULT_CRASH_BEFORE_ACK:
        return bundle_has((enum bundle_name)run->bundle.name, TRAIT_ACKS);
    case FAULT_PAUSE:
        return run->actors[actor].performer.actor.role != ACTIVITY_CLIENT;
    case FAULT_REORDER:
        return bundle_claims(&run->bundle);
    case FAULT_DELAY:
        return publishes((enum bundle_name)run->bundle.name);
    case FAULT_ANSWER_CHANGED:
        return (run->bundle.name == BUNDLE_ANSWER || run->bundle.name == BUNDLE_ANSWER_ACK) &&
               answered_before(run);
    default:
        return true;
    }
}

/* This worker gives another answer than it should. */
static void twist(struct actor *actor, enum fault_kind kind, bool on)
{
    (void)kind;
    ACTOR_IS(actor, activity_worker)->changed = on;
}

static bool has_presets(const struct scenario *scenario)
{
    for (uint16_t n = 0; n < scenario->graph.node_count; n++) {
        if (scenario->graph.nodes[n].preset_leg2 != 0) {
            return true;
        }
    }
    return false;
}

/* A scenario may start an activity next to a ceiling: its Leg2 counter is raised once Leg1 is
 * complete. Not a commit of the protocol, so the oracles do not judge it. */
static void apply_preset(struct run *run, size_t mark)
{
    struct world *world = &run->world;
    for (size_t i = mark; i < world->change_count; i++) {
        struct row_change change = world->changes[i];
        if (change.table != TABLE_TASK || change.kind != ROW_INSERTED) {
            continue;
        }
        int64_t key = row_get(&world->rows, TABLE_TASK, change.slot, TASK_ACTIVITY);
        uint32_t activity = row_find(&world->rows, TABLE_ACTIVITY, key);
        int64_t node = row_get(&world->rows, TABLE_ACTIVITY, activity, ACTIVITY_NODE);
        int64_t preset = RULES_OF(&run->rules, activity_rules)->graph->nodes[node].preset_leg2;
        if (preset != 0) {
            int64_t ledger = row_get(&world->rows, TABLE_ACTIVITY, activity, ACTIVITY_LEDGER);
            world_set(world, TABLE_ACTIVITY, activity, ACTIVITY_LEDGER, ledger + preset);
        }
        return;
    }
}

static bool has_threshold(const struct scenario *scenario, int64_t threshold)
{
    for (size_t i = 0; i < scenario->threshold_count; i++) {
        if (scenario->thresholds[i] == threshold) {
            return true;
        }
    }
    return false;
}

static bool can_see(const struct scenario *scenario, enum oracle_cover sight)
{
    switch ((int)sight) {
    case COVER_THRESHOLD_0:
        return has_threshold(scenario, 0);
    case COVER_THRESHOLD_1:
        return has_threshold(scenario, 1);
    case COVER_THRESHOLD_12:
        return has_threshold(scenario, 12);
    case COVER_REPLAY_LEG1_BEFORE_ACK: /* with merged commits it is finished and acked at once */
    case COVER_REPLAY_LEG2_BEFORE_ACK:
        return !scenario->merged;
    default:
        return true;
    }
}

/* Together they cover children, cycles, pending answers, every ceiling, thresholds other than 0,
 * and closing answers that come too early. */
static const char *const grounds[] = {"tree-3",     "crowd",       "cycle",
                                      "pending",    "ceilings",    "thresholds",
                                      "overtaking", "last-chance", NULL};

#define ONLY(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Bundles that only some scenarios send. */
static const char *const *const only_where[BUNDLE_NAME_COUNT] = {
    [BUNDLE_ESCALATE] = ONLY("last-chance"),
    [BUNDLE_EXTEND] = ONLY("short-claims"),
    [BUNDLE_PUT_BACK] = ONLY("overtaking"),
    [BUNDLE_LEG1_ACK] = ONLY("tree-3-merged"),
    [BUNDLE_ANSWER_ACK] = ONLY("tree-3-merged"),
    [BUNDLE_STEPS_ACK] = ONLY("thresholds-merged"),
    [BUNDLE_STEP3_ACK] = ONLY("tree-3-merged", "peer-5-merged", "crowd-merged"),
    [BUNDLE_ACK_CLAIM] = ONLY("tree-3-merged", "medley-merged"),
};

/* With merged commits: an entry that rides with another step meets its ceilings in these scenarios;
 * only a worker that answers several times, or for its task, publishes for other workers. */
static const char *const *const where_entered[] = {ONLY("last-chance-merged"),
                                                   ONLY("ceilings-merged")};
static const char *const *const where_left[] = {ONLY("peer-5-merged"), ONLY("pending-merged")};

static const char *const *only_grounds(enum bundle_name bundle, enum primitive_id primitive)
{
    bool merged = is_merged(bundle);
    bool enters = primitive == PRIMITIVE_ENTER_LEG1 || primitive == PRIMITIVE_ENTER_LEG2;
    bool leaves = primitive == PRIMITIVE_PUBLISH || primitive == PRIMITIVE_CLAIM_NEXT;
    if (merged && enters) {
        return where_entered[bundle != BUNDLE_ANSWER_ACK];
    }
    if (merged && leaves && bundle != BUNDLE_STEPS_ACK) {
        return where_left[bundle != BUNDLE_LEG1_ACK];
    }
    return only_where[bundle];
}

const struct sim_part sim_part_activity = {
    .applies = applies,
    .twist = twist,
    .has_presets = has_presets,
    .preset = apply_preset,
    .can_see = can_see,
    .fingerprint = &activity_fingerprint,
    .grounds = grounds,
    .only_grounds = only_grounds,
    .thing = activity_thing_name,
    .row = activity_row_name,
    .subject = activity_subject_name,
    .message = activity_message_name,
    .sent = activity_tell_sent,
    .change = activity_tell_change,
    .order = activity_order,
    .is_child = activity_is_child,
    .reads_ledger = activity_reads_ledger,
    .skip_reason = activity_skip_reason,
    .remark = activity_remark,
    .kind = activity_kind_text,
    .also = activity_tell_also,
    .ledgers = activity_tell_ledgers,
};
