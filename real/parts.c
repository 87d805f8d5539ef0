/* The parts of all protocols (part.h), a section each. */
#include "model/activity_engine.h"
#include "model/legacy.h"
#include "model/legacy_engine.h"
#include "model/pipeline_trespass.h"
#include "model/seq.h"
#include "real/part.h"
#include "real/shared.h"

/* ---- activity -------------------------------------------------------------------------------- */

/* The GUID of an answer. */
static int64_t answer_of(const struct bundle *bundle)
{
    bool acks = bundle->name == BUNDLE_ANSWER_ACK; /* first of all */
    return acks || bundle->name == BUNDLE_ANSWER
               ? bundle->params[bundle->calls[acks].params + 1 + MESSAGE_GUID]
               : 0;
}

static void set_answer_changed(struct actor *actor, bool on)
{
    ACTOR_IS(actor, activity_worker)->changed = on;
}

/* The Leg2 counter leaps once Leg1 is complete; Leg1's is the engine's. */
static int64_t of_leg2(const struct graph_node *node)
{
    return node->preset_leg2;
}

static const struct real_part_preset preset_of_activity = {.inserted = TABLE_TASK,
                                                           .of = TASK_ACTIVITY,
                                                           .table = TABLE_ACTIVITY,
                                                           .node = ACTIVITY_NODE,
                                                           .ledger = ACTIVITY_LEDGER,
                                                           .amount = of_leg2};

/* ---- legacy ---------------------------------------------------------------------------------- */

/* The same as the simulation spares: see struct legacy_rules. */
static int spares_leg2(const struct rules *rules, const struct actor *actor,
                       const struct bundle *bundle)
{
    const struct legacy_rules *of = RULES_OF(rules, legacy_rules);
    bool increments = bundle->name == BUNDLE_ENTER_LEG2 || bundle->name == BUNDLE_END_LEG2 ||
                      bundle->name == BUNDLE_UNDO;
    bool in_leg2 =
        actor->role == LEGACY_WORKER && legacy_engine_in_leg2(ACTOR_IS(actor, legacy_worker));
    return (of->spares_crash && in_leg2 ? SHARED_SPARED_DEATH : 0) |
           (of->spares_unknown && increments ? SHARED_SPARED_DOUBT : 0);
}

/* As if so many had entered Leg1, and entered and left Leg2. */
static int64_t of_both(const struct graph_node *node)
{
    int64_t both = legacy_summand(LEGACY_LEG2_BEGIN) + legacy_summand(LEGACY_LEG2_PENDING);
    return node->preset_leg1 * legacy_summand(LEGACY_LEG1_BEGIN) + node->preset_leg2 * both;
}

static const struct real_part_preset preset_of_legacy = {.inserted = TABLE_LEGACY,
                                                         .of = -1,
                                                         .table = TABLE_LEGACY,
                                                         .node = LEGACY_NODE,
                                                         .ledger = LEGACY_LEDGER,
                                                         .amount = of_both};

/* ---- seq ------------------------------------------------------------------------------------- */

static bool err(struct actor *actor, const struct part_target *targets, size_t count,
                uint32_t which)
{
    bool there[SEQ_STATES] = {false};
    uint8_t pairs[SEQ_MISSTEPS_MAX][2];
    for (size_t i = 0; i < count; i++) {
        there[targets[i].state % SEQ_STATES] = true;
    }
    uint32_t ways = seq_missteps(there, true, pairs);
    if (ways == 0 || ACTOR_IS(actor, seq_actor)->misstep.there) {
        return false;
    }
    const uint8_t *pair = pairs[which % ways];
    for (size_t i = 0; i < count; i++) {
        if (targets[i].state == pair[0]) {
            seq_err(actor, (uint32_t)targets[i].number, (enum seq_state)pair[0],
                    (enum seq_state)pair[1]);
            return true;
        }
    }
    return false;
}

/* ---- pipeline -------------------------------------------------------------------------------- */

static bool trespass(struct actor *actor, const struct part_target *targets, size_t count,
                     uint32_t which)
{
    (void)targets, (void)count;
    bool works = actor->role == PIPELINE_WORKER;
    unsigned ways = works ? pipeline_trespass_count(ACTOR_IS(actor, pipeline_worker)) : 0;
    if (ways > 0) {
        ACTOR_IS(actor, pipeline_worker)->trespass = (uint8_t)(1 + which % ways);
    }
    return ways > 0;
}

/* ---- what is left ---------------------------------------------------------------------------- */

#define BIT(name) (UINT64_C(1) << BUNDLE_##name)
_Static_assert(BUNDLE_NAME_COUNT <= 64, "bundles are bits");

/* No message is left, visible or not. */
const struct real_part real_part_activity = {
    .left = "%s.message",
    .preset = &preset_of_activity,
    .answer = answer_of,
    .answered = TABLE_GUID,
    .set_answer_changed = set_answer_changed,
    .must_resolve_unknown = BIT(CREATE) | BIT(LEG1) | BIT(STEP1) | BIT(STEP2) | BIT(STEP3) |
                            BIT(LEG1_ACK) | BIT(ANSWER_ACK) | BIT(STEPS_ACK) | BIT(STEP3_ACK)};
const struct real_part real_part_inbox = {.left = "%s.message", .must_resolve_unknown = BIT(APPLY)};
const struct real_part real_part_legacy = {.left = "%s.message",
                                           .assumes_no_delay = true,
                                           .preset = &preset_of_legacy,
                                           .spares = spares_leg2};
const struct real_part real_part_flow = {.left = "%s.message"};
const struct real_part real_part_pipeline = {.left = "%s.message",
                                             .must_resolve_unknown =
                                                 BIT(MARK) | BIT(REVIEW) | BIT(CUT) | BIT(VERIFY),
                                             .illegal_move = trespass};
/* A seq is on its way, as the counters say, and Stage1 has not failed: no row of a seq is read
 * (SEQ-17). Asked once the dispatcher is done: no seq is UNSEEN. */
const struct real_part real_part_seq = {
    .left =
        "(SELECT FROM %s.seq_tally WHERE NOT EXISTS (SELECT FROM %s.stage WHERE stage.seq <> 0) "
        "HAVING sum(dispatched + in_flight + terminal) <> 0) AS rest",
    .must_resolve_unknown = BIT(SEQ_ADMIT) | BIT(SEQ_DISPATCH) | BIT(SEQ_TAKE) | BIT(SEQ_FINISH) |
                            BIT(SEQ_FAIL), /* to commit a second time is counted */
    .skip_is_ambiguous = true,
    .targets = "SELECT number, state FROM %s.seq WHERE retry = 0 ORDER BY number",
    .refused = "SELECT coalesce(sum(illegal), 0)::bigint FROM %s.seq_tally",
    .illegal_move = err};
