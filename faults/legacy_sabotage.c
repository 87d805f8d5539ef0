/* The planted bugs of the legacy protocol. Known weaknesses of the design do not excuse further
 * bugs: these are hunted in scenarios where the design holds. */
#include "faults/sabotage_book.h"
#include "model/legacy_engine.h"

#include "model/identity.h"
#include "model/legacy.h"

#include <string.h>

#define TYPO INT64_C(-999999999) /* 1 - 10^9 */

enum named {
    TYPO_INCREMENT,
    CEILING_UNCHECKED,
    PARENT_RESETS,
    LATE_NOT_UNDONE,
    PUBLISH_BEFORE_SAVE,
    SUCCESS_AS_PENDING,
    CHILD_FORGOTTEN,
    PENDING_FORGOTTEN,
    CALLS_FORGOTTEN,
    WRONG_INPUT,
    OTHER_DATA,
    OTHER_NODE
};

static const struct sabotage named[] = {
    [TYPO_INCREMENT] = {.name = "legacy-typo-increment",
                        .about = "success adds -999,999,999, as the specification's example has it "
                                 "(E-LEG-1)",
                        .scenario = "legacy"},
    [CEILING_UNCHECKED] = {.name = "legacy-ceiling-unchecked",
                           .about = "entries are counted without a look at the ceilings (E-LEG-2)",
                           .scenario = "legacy-ceilings"},
    [PARENT_RESETS] = {.name = "legacy-parent-resets",
                       .about = "an integer that is saved again is set back to its start (LEG-9)",
                       .scenario = "legacy"},
    [LATE_NOT_UNDONE] = {.name = "legacy-late-call-not-undone",
                         .about = "a call after success is turned away and its entry left counted",
                         .scenario = "legacy"},
    [PUBLISH_BEFORE_SAVE] = {.name = "legacy-publish-before-save",
                             .about = "the children's messages are published before their integers "
                                      "are saved (LEG-9)",
                             .scenario = "legacy"},
    [SUCCESS_AS_PENDING] = {.name = "legacy-success-as-pending",
                            .about = "success is counted like a pending reply, and Leg2 stays open",
                            .scenario = "legacy"},
    [CHILD_FORGOTTEN] = {.name = "legacy-child-forgotten",
                         .about = "the last child of an answer is neither saved nor published",
                         .scenario = "legacy"},
    [PENDING_FORGOTTEN] = {.name = "legacy-pending-forgotten",
                           .about = "Leg1 publishes its closing answer and no pending one",
                           .scenario = "legacy"},
    [CALLS_FORGOTTEN] = {.name = "legacy-calls-forgotten",
                         .about = "the calls after the closing answer are never made",
                         .scenario = "legacy"},
    [WRONG_INPUT] = {.name = "legacy-wrong-input",
                     .about = "a job's trigger is given another input than the job's",
                     .scenario = "legacy",
                     SABOTAGE_AS(SHIFT, CREATE, PUBLISH),
                     .op = 1 + MESSAGE_CONTENT},
    [OTHER_DATA] = {.name = "legacy-other-data",
                    .about = "Leg1 saves another value than it worked on",
                    .scenario = "legacy",
                    SABOTAGE_AS(SHIFT, WORK, SAVE),
                    .op = 3},
    [OTHER_NODE] = {.name = "legacy-other-node",
                    .about = "an answer's first child is saved as the node beside it",
                    .scenario = "legacy",
                    SABOTAGE_AS(SHIFT, SAVE, ADD_LEGACY),
                    .op = 2},
    SABOTAGE_WORK("legacy-work", "legacy"),
};

static void drop_test(struct primitive *primitive)
{
    primitive->ops[0].test = TEST_NONE;
}

/* A copy of the insertion that overwrites an existing row with the start value. */
static void reset_too(struct primitive *copy)
{
    *copy = primitive_table[PRIMITIVE_ADD_LEGACY];
    copy->ops[0].miss = MISS_GOES_ON;
    copy->ops[1] = (struct op){.kind = OP_SET,
                               .table = TABLE_LEGACY,
                               .column = LEGACY_LEDGER,
                               .key = OPERAND_PARAM + 0,
                               .value = OPERAND_PARAM + 3};
    copy->op_count = 2;
}

static void change_primitives(const struct sabotage *sabotage, struct primitive *table)
{
    if (sabotage->which == CEILING_UNCHECKED) {
        drop_test(&table[PRIMITIVE_COUNT_LEG1]);
        drop_test(&table[PRIMITIVE_COUNT_LEG2]);
    } else if (sabotage->which == PARENT_RESETS) {
        reset_too(&table[SABOTAGE_COPY]);
    }
}

static void change_summand(struct bundle *bundle, int64_t from, int64_t to)
{
    int64_t *summand = &bundle->params[bundle->calls[0].params + 1];
    *summand = *summand == from ? to : *summand;
}

static void use_copies(struct bundle *bundle)
{
    for (uint8_t i = 0; i < bundle->count; i++) {
        if (bundle->calls[i].primitive == PRIMITIVE_ADD_LEGACY) {
            bundle->calls[i].primitive = SABOTAGE_COPY;
        }
    }
}

/* The message of a child, from the call that would save its integer. */
static void append_message(const struct actor *actor, const int64_t *child, struct bundle *bundle)
{
    int64_t key = identity_mint(child[0], IDENTITY_LEG1);
    int64_t *p = bundle_publish(bundle, CALL_PLAIN, key, MESSAGE_LEG1);
    p[1 + MESSAGE_JOB] = child[1];
    p[1 + MESSAGE_ACTIVITY] = child[0];
    p[1 + MESSAGE_NODE] = child[2];
    p[1 + MESSAGE_SOURCE] = child[4];
    p[1 + MESSAGE_DIMENSION] = child[5];
    p[1 + MESSAGE_CONTENT] = ACTOR_IS(actor, legacy_worker)->message[1 + MESSAGE_CONTENT];
}

/* Sent before the save: the engine does not get the outcome (see take_outcome) and sends the save
 * again. */
static void publish_first(struct sabotage_memory *memory, const struct actor *actor,
                          struct bundle *bundle)
{
    const struct bundle save = *bundle;
    if (memory->stage == 1) {
        return;
    }
    bundle_begin(bundle, BUNDLE_SAVE);
    for (uint8_t i = 0; i < save.count; i++) {
        if (save.calls[i].primitive == PRIMITIVE_ADD_LEGACY) {
            append_message(actor, &save.params[save.calls[i].params], bundle);
        }
    }
}

static bool take_outcome(const struct sabotage *sabotage, struct sabotage_memory *memory,
                         const struct bundle *sent, struct outcome *outcome)
{
    if (sabotage->which != PUBLISH_BEFORE_SAVE || sent->name != BUNDLE_SAVE) {
        return true;
    }
    bool first = memory->stage == 0;
    memory->stage = first && outcome->kind == OUTCOME_COMMITTED;
    return !first;
}

/* The last call, if it saves or publishes a child. */
static void forget_child(struct bundle *bundle)
{
    const struct call *last = &bundle->calls[bundle->count - 1];
    const int64_t *params = &bundle->params[last->params];
    if (last->primitive == PRIMITIVE_ADD_LEGACY ||
        (last->primitive == PRIMITIVE_PUBLISH && params[1 + MESSAGE_KIND] == MESSAGE_LEG1)) {
        bundle->count--;
    }
}

/* The messages of pending answers (`sign` 1), or of calls after the closing one (-1). */
static void forget_answers(struct bundle *bundle, int64_t sign)
{
    uint8_t kept = 0;
    for (uint8_t i = 0; i < bundle->count; i++) {
        const struct call *call = &bundle->calls[i];
        bool forgotten = call->primitive == PRIMITIVE_PUBLISH &&
                         bundle->params[call->params + 1 + MESSAGE_ANSWER] * sign > 0;
        if (!forgotten) {
            bundle->calls[kept++] = *call;
        }
    }
    bundle->count = kept;
}

static void change_bundle(const struct sabotage *sabotage, struct sabotage_memory *memory,
                          const struct actor *actor, struct bundle *bundle)
{
    enum named which = (enum named)sabotage->which;
    int64_t success = legacy_summand(LEGACY_LEG2_SUCCESS);
    if (which == TYPO_INCREMENT && bundle->name == BUNDLE_END_LEG2) {
        change_summand(bundle, success, TYPO);
    } else if (which == SUCCESS_AS_PENDING && bundle->name == BUNDLE_END_LEG2) {
        change_summand(bundle, success, legacy_summand(LEGACY_LEG2_PENDING));
    } else if (which == PARENT_RESETS) {
        use_copies(bundle);
    } else if (which == LATE_NOT_UNDONE && bundle->name == BUNDLE_UNDO) {
        bundle->count = 0;
    } else if (which == PUBLISH_BEFORE_SAVE && bundle->name == BUNDLE_SAVE) {
        publish_first(memory, actor, bundle);
    } else if (which == CHILD_FORGOTTEN &&
               (bundle->name == BUNDLE_SAVE || bundle->name == BUNDLE_PUBLISH)) {
        forget_child(bundle);
    } else if (which == PENDING_FORGOTTEN && bundle->name == BUNDLE_PUBLISH) {
        forget_answers(bundle, 1);
    } else if (which == CALLS_FORGOTTEN && bundle->name == BUNDLE_PUBLISH) {
        forget_answers(bundle, -1);
    }
}

static const struct sabotage_shape shapes[] = {
    SHAPE(BUNDLE_CREATE, PRIMITIVE_ADD_LEGACY, PRIMITIVE_PUBLISH),
    SHAPE(BUNDLE_CLAIM, PRIMITIVE_CLAIM),
    SHAPE_BEFORE_ACK(BUNDLE_ENTER_LEG1, PRIMITIVE_COUNT_LEG1),
    SHAPE_BEFORE_ACK(BUNDLE_CLEAN_UP, PRIMITIVE_CLEAN_UP),
    SHAPE_BEFORE_ACK(BUNDLE_WORK, PRIMITIVE_SAVE),
    SHAPE_BEFORE_ACK(BUNDLE_END_LEG1, PRIMITIVE_MOVE_LEGACY),
    SHAPE_BEFORE_ACK(BUNDLE_PUBLISH, PRIMITIVE_MARK_PUBLISHED, PRIMITIVE_PUBLISH),
    SHAPE_BEFORE_ACK(BUNDLE_ENTER_LEG2, PRIMITIVE_COUNT_LEG2),
    SHAPE_BEFORE_ACK(BUNDLE_SAVE, PRIMITIVE_SAVE, PRIMITIVE_ADD_LEGACY),
    SHAPE_BEFORE_ACK(BUNDLE_END_LEG2, PRIMITIVE_MOVE_LEGACY),
    SHAPE_BEFORE_ACK(BUNDLE_UNDO, PRIMITIVE_MOVE_LEGACY),
    SHAPE_BEFORE_ACK(BUNDLE_READ, PRIMITIVE_READ_LEGACY),
    SHAPE(BUNDLE_ACK, PRIMITIVE_ACK),
    SHAPE(BUNDLE_ESCALATE, PRIMITIVE_ACK, PRIMITIVE_REQUIRE_FULL, PRIMITIVE_RECORD_ESCALATION),
};

#define INSERTED_WITH                                                                              \
    "no two saves differ under one key, so what is inserted is what would be written"
#define FOR_SIGHT "how often it was saved again is told to nobody but a cover point of LEG-9"

static const struct sabotage_reason equivalents[] = {
    {"legacy.create-job/repeat", "the integer is there, and is left alone"},
    {"legacy.clean-up/repeat", "there is nothing left to clean up"},
    {"legacy.work/repeat", "what is saved twice is saved"},
    {"legacy.work/drop/save.2", INSERTED_WITH},
    {"legacy.work/drop/save.3", INSERTED_WITH},
    {"legacy.work/stale/save.4", FOR_SIGHT},
    {"legacy.end-leg1/stale/move-earlier.1",
     "nobody else moves the integer between Leg1's entry and its end, but where a message comes "
     "twice, and there the design has broken already"},
    {"legacy.publish/repeat", "it is marked as published already"},
    {"legacy.save/repeat", "what is saved twice is saved"},
    {"legacy.save/drop/save.2", INSERTED_WITH},
    {"legacy.save/drop/save.3", INSERTED_WITH},
    {"legacy.save/stale/save.4", FOR_SIGHT},
    {"legacy.undo/ack-before",
     "a crash in between leaves the entry counted, as the design does without it (LEG-7)"},
    {"legacy.read/repeat", "a read changes nothing"},
    {"legacy.ack/repeat", "the message is gone already"},
    {"legacy.ack/unguard/ack.1",
     "a worker that acks has done all there is to do, with or without the claim"},
    {"legacy.escalate/repeat", "the message is gone already"},
    {"legacy.escalate/unguard/ack.1",
     "a worker that gives up has found the ceiling, with or without the claim"},
};

static const struct sabotage_reason differing[] = {
#include "faults/legacy_differing.def"
};

const struct sabotage_book sabotage_book_legacy = {
    SABOTAGE_BOOK(named, shapes, equivalents),
    SABOTAGE_DIFFERING(differing),
    .primitives = change_primitives,
    .bundle = change_bundle,
    .outcome = take_outcome,
};
