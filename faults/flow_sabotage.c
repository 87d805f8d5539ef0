/* The planted bugs of the key protocol. */
#include "faults/sabotage_book.h"
#include "model/flow.h"

#include <string.h>

#define COPY SABOTAGE_COPY

enum {
    BLIND_DECREMENT,
    SPLIT_COMPLETION,
    SKIP_FORGETS_DESCENDANTS,
    COMPLETE_FROM_STALE_KEY,
    RELEASE_WITHOUT_PAUSE,
    ERROR_WITHOUT_SKIP,
    PAUSED_IS_COMPLETE,
    AWAIT_DOES_NOT_WAIT,
    JOIN_FOR_EACH_PARENT,
    HOLD_COMPLETES,
    ERROR_COMPLETES,
    READ_RESTARTS_TRIES
};

static const struct sabotage named[] = {
    [BLIND_DECREMENT] = {.name = "blind-decrement",
                         .about = "a change does not name the digit that it expects (E-KEY-3)",
                         .scenario = "quick-fox"},
    [SPLIT_COMPLETION] = {.name = "split-completion",
                          .about = "completion tasks are a transaction of their own, after the "
                                   "change (E-KEY-7)",
                          .scenario = "quick-fox"},
    [SKIP_FORGETS_DESCENDANTS] = {.name = "skip-forgets-descendants",
                                  .about = "the branch that is not taken is skipped, what follows "
                                           "on it is not",
                                  .scenario = "quick-fox"},
    [COMPLETE_FROM_STALE_KEY] = {.name = "complete-from-stale-key",
                                 .about = "completion is decided on the key that was read before "
                                          "the change",
                                 .scenario = "key-branches"},
    [RELEASE_WITHOUT_PAUSE] = {.name = "release-without-pause",
                               .about = "a release does not look whether the activity is paused",
                               .scenario = "key-pause"},
    [ERROR_WITHOUT_SKIP] = {.name = "error-without-skip",
                            .about = "an error skips nothing that only it could reach (E-KEY-5)",
                            .scenario = "key-error"},
    [PAUSED_IS_COMPLETE] = {.name = "paused-is-complete",
                            .about = "a flow counts as complete while an activity is paused",
                            .scenario = "quick-fox"},
    [AWAIT_DOES_NOT_WAIT] = {.name = "await-does-not-wait",
                             .about = "an activity goes on as soon as the flow that it awaits has "
                                      "begun (E-KEY-9)",
                             .scenario = "key-await"},
    [JOIN_FOR_EACH_PARENT] = {.name = "join-for-each-parent",
                              .about = "a join is ready as soon as one of its parents is done",
                              .scenario = "key-branches"},
    [HOLD_COMPLETES] = {.name = "hold-completes",
                        .about = "work that is finished and to be held counts as completed",
                        .scenario = "key-pause"},
    [ERROR_COMPLETES] = {.name = "error-completes",
                         .about = "work that failed counts as completed",
                         .scenario = "quick-fox"},
    [READ_RESTARTS_TRIES] = {.name = "read-restarts-tries",
                             .about = "a change that fails is read for, and the count of tries "
                                      "starts anew with that (E-ACL-13)",
                             .scenario = "key-stubborn"},
    {.name = "judge-outside-lock",
     .about = "skips and joins are judged on a key that may have moved since (E-KEY-5)",
     .scenario = "key-branches",
     SABOTAGE_AS(UNGUARD, FINISH_KEY, CHANGE_KEY),
     .op = 2},
    {.name = "flow-in-another-case",
     .about = "a flow that a client begins is run in the case after its own",
     .scenario = "quick-fox",
     SABOTAGE_AS(SHIFT, BEGIN_FLOW, ADD_FLOW),
     .op = 3},
    {.name = "branches-of-another-case",
     .about = "an activity is to decide against other branches than its case says",
     .scenario = "quick-fox",
     SABOTAGE_AS(SHIFT, BEGIN_FLOW, ADD_PLACE),
     .op = 6},
    {.name = "positions-out-of-order",
     .about = "an activity leads to the places of others",
     .scenario = "key-branches",
     SABOTAGE_AS(SHIFT, BEGIN_FLOW, ADD_PLACE),
     .op = 3},
    SABOTAGE_WORK("activity", "quick-fox"),
    SABOTAGE_TRIES("key", "key-stubborn"),
};

/* Operations of PRIMITIVE_CHANGE_KEY. */
enum { AS_READ = 1, DECREMENT = 2, LACKS = 4, END = 5, RESUME = 7 };

/* Parameters of it. */
enum { FLOW, WEIGHT, DELTA = 3, ACTIVE = 6, RULES = 12 };

/* ---- primitives ------------------------------------------------------------------------------ */

/* Moves what follows the change of the key into a transaction of its own. */
static void split_end(struct primitive *table)
{
    const struct primitive *whole = &primitive_table[PRIMITIVE_CHANGE_KEY];
    table[PRIMITIVE_CHANGE_KEY].op_count = END;
    table[COPY] = (struct primitive){.name = "end", .params = whole->params, .op_count = 4};
    table[COPY].ops[0] = (struct op){.kind = OP_TEST,
                                     .table = TABLE_FLOW,
                                     .column = FLOW_KEY,
                                     .key = OPERAND_PARAM + FLOW,
                                     .returns = 1,
                                     .found = 2};
    memcpy(&table[COPY].ops[1], &whole->ops[END], 3 * sizeof *whole->ops);
}

static void change_primitives(const struct sabotage *sabotage, struct primitive *table)
{
    table[COPY] = primitive_table[PRIMITIVE_CHANGE_KEY];
    if (sabotage->which == BLIND_DECREMENT) {
        table[PRIMITIVE_START_KEY].ops[0].test = TEST_NONE;
        table[PRIMITIVE_CHANGE_KEY].ops[DECREMENT].test = TEST_NONE;
    } else if (sabotage->which == SPLIT_COMPLETION) {
        split_end(table);
    } else if (sabotage->which == COMPLETE_FROM_STALE_KEY) {
        table[COPY].params = RULES + 1;
        table[COPY].ops[LACKS] =
            (struct op){.kind = OP_LET_SUM, .a = OPERAND_PARAM + RULES, .returns = 2};
    } else if (sabotage->which == RELEASE_WITHOUT_PAUSE) {
        table[COPY].ops[AS_READ].test = TEST_NONE;
        table[COPY].ops[DECREMENT].test = TEST_NONE;
    }
}

/* ---- bundles --------------------------------------------------------------------------------- */

static int64_t *params_of(struct bundle *bundle, int call)
{
    return &bundle->params[bundle->calls[call].params];
}

/* Removes the skips of all other positions, from the key as well. */
static void keep_skips(struct bundle *bundle, int64_t positions)
{
    int kept = 0;
    for (int i = 0; i < bundle->count; i++) {
        int64_t *p = params_of(bundle, i);
        if (bundle->calls[i].primitive == PRIMITIVE_RECORD_SKIP && (positions >> p[2] & 1) == 0) {
            params_of(bundle, sabotage_book_find(bundle, PRIMITIVE_CHANGE_KEY))[DELTA] -=
                key_delta(KEY_CHANGE_SKIP, (int)p[2]);
        } else {
            bundle->calls[kept++] = bundle->calls[i];
        }
    }
    bundle->count = (uint8_t)kept;
}

/* Decides completion from the key that was read. */
static void decide_early(const struct actor *actor, struct bundle *bundle, struct call *call)
{
    const int64_t *p = &bundle->params[call->params];
    int64_t *more = &bundle->params[bundle->param_count];
    CHECK(bundle->param_count + RULES + 1 <= BUNDLE_PARAMS_MAX);
    memcpy(more, p, RULES * sizeof *more);
    more[RULES] = key_complete(ACTOR_IS(actor, flow_worker)->flow[FLOW_KEY] + p[DELTA]);
    call->params = bundle->param_count;
    call->primitive = COPY;
    bundle->param_count = (uint16_t)(bundle->param_count + RULES + 1);
}

/* Publishes a message like the engine's, under another key. */
static int64_t *publish_again(const struct actor *actor, struct bundle *bundle, int position,
                              enum flow_message kind)
{
    int64_t flow = ACTOR_IS(actor, flow_worker)->message[1 + ORDER_FLOW];
    int64_t *p = bundle_publish(bundle, CALL_PLAIN, (flow ^ position << 4 ^ kind) | 1, kind);
    p[1 + ORDER_FLOW] = flow;
    p[1 + ORDER_POSITION] = position;
    return p;
}

static void finish_too_soon(const struct actor *actor, struct bundle *bundle)
{
    if (sabotage_book_find(bundle, PRIMITIVE_ADD_FLOW) >= 0) {
        publish_again(actor, bundle, (int)ACTOR_IS(actor, flow_worker)->message[1 + ORDER_POSITION],
                      FLOW_RESUME);
    }
}

/* Children are known from the places that were read. */
static void publish_children(const struct sabotage_memory *memory, const struct actor *actor,
                             struct bundle *bundle)
{
    int event = sabotage_book_find(bundle, PRIMITIVE_RECORD_EVENT);
    if (params_of(bundle, event)[3] != FLOW_COMPLETED) {
        return;
    }
    int64_t taken = memory->stale & ~params_of(bundle, event)[4];
    for (int i = 0; i < KEY_ACTIVITIES_MAX; i++) {
        if ((taken >> i & 1) != 0) {
            publish_again(actor, bundle, i, FLOW_RUN);
        }
    }
}

/* Such an end counts as completed. */
static void complete_instead(struct bundle *bundle, enum key_change was)
{
    int64_t *event = params_of(bundle, sabotage_book_find(bundle, PRIMITIVE_RECORD_EVENT));
    int64_t *change = params_of(bundle, sabotage_book_find(bundle, PRIMITIVE_CHANGE_KEY));
    int position = (int)event[2];
    if (event[3] == was + 1) {
        event[3] = FLOW_COMPLETED;
        change[DELTA] += key_delta(KEY_CHANGE_COMPLETE, position) - key_delta(was, position);
    }
}

static void change_finish(const struct sabotage *sabotage, struct sabotage_memory *memory,
                          const struct actor *actor, struct bundle *bundle)
{
    int event = sabotage_book_find(bundle, PRIMITIVE_RECORD_EVENT);
    int change = sabotage_book_find(bundle, PRIMITIVE_CHANGE_KEY);
    bool errs = params_of(bundle, event)[3] == FLOW_ERRORED;
    if (sabotage->which == SKIP_FORGETS_DESCENDANTS) {
        keep_skips(bundle, memory->stale);
    } else if (sabotage->which == ERROR_WITHOUT_SKIP && errs) {
        keep_skips(bundle, 0);
    } else if (sabotage->which == COMPLETE_FROM_STALE_KEY) {
        decide_early(actor, bundle, &bundle->calls[change]);
    } else if (sabotage->which == PAUSED_IS_COMPLETE) {
        params_of(bundle, change)[ACTIVE] = 98;
    } else if (sabotage->which == HOLD_COMPLETES) {
        complete_instead(bundle, KEY_CHANGE_HOLD);
    } else if (sabotage->which == ERROR_COMPLETES) {
        complete_instead(bundle, KEY_CHANGE_ERROR);
    } else if (sabotage->which == JOIN_FOR_EACH_PARENT) {
        publish_children(memory, actor, bundle);
    } else if (sabotage->which == SPLIT_COMPLETION && memory->stage == 1) {
        bundle->calls[0] = bundle->calls[change];
        bundle->calls[0].primitive = COPY;
        bundle->count = 1;
    }
}

static void change_bundle(const struct sabotage *sabotage, struct sabotage_memory *memory,
                          const struct actor *actor, struct bundle *bundle)
{
    bool releases = sabotage->which == RELEASE_WITHOUT_PAUSE &&
                    ACTOR_IS(actor, flow_worker)->message[1 + ORDER_KIND] == FLOW_RELEASE;
    if (bundle->name == BUNDLE_READ) {
        memory->flag = releases;
        memory->stale =
            releases ? ACTOR_IS(actor, flow_worker)->message[1 + ORDER_POSITION] : memory->stale;
    } else if (bundle->name == BUNDLE_RELEASE_KEY && releases) {
        bundle->calls[sabotage_book_find(bundle, PRIMITIVE_CHANGE_KEY)].primitive = COPY;
    } else if (bundle->name == BUNDLE_START_KEY && sabotage->which == AWAIT_DOES_NOT_WAIT) {
        finish_too_soon(actor, bundle);
    } else if (bundle->name == BUNDLE_FINISH_KEY || bundle->name == BUNDLE_RELEASE_KEY) {
        change_finish(sabotage, memory, actor, bundle);
    }
}

/* Reads the activity's children, for bugs that work on the graph. */
static void look(const struct sabotage *sabotage, struct sabotage_memory *memory,
                 const struct bundle *next, const struct rows *rows)
{
    int event = sabotage_book_find(next, PRIMITIVE_RECORD_EVENT);
    bool wanted =
        sabotage->which == SKIP_FORGETS_DESCENDANTS || sabotage->which == JOIN_FOR_EACH_PARENT;
    if (!wanted || event < 0) {
        return;
    }
    const int64_t *p = &next->params[next->calls[event].params];
    for (uint32_t slot = 0; slot < rows->table[TABLE_FLOW_PLACE].used; slot++) {
        if (row_get(rows, TABLE_FLOW_PLACE, slot, FLOW_PLACE_FLOW) == p[1] &&
            row_get(rows, TABLE_FLOW_PLACE, slot, FLOW_PLACE_POSITION) == p[2]) {
            memory->stale = row_get(rows, TABLE_FLOW_PLACE, slot, FLOW_PLACE_NEXT);
        }
    }
}

/* ---- outcomes -------------------------------------------------------------------------------- */

static bool change_outcome(const struct sabotage *sabotage, struct sabotage_memory *memory,
                           const struct bundle *sent, struct outcome *outcome)
{
    bool committed = outcome->kind == OUTCOME_COMMITTED;
    bool changes = sent->name == BUNDLE_FINISH_KEY || sent->name == BUNDLE_RELEASE_KEY;
    if (sabotage->which == RELEASE_WITHOUT_PAUSE && sent->name == BUNDLE_READ && memory->flag) {
        int position = (int)memory->stale;
        int64_t digit = key_get(outcome->values[0], position);
        outcome->values[0] += (KEY_PAUSED - digit) * key_weight(position);
    }
    if (sabotage->which == READ_RESTARTS_TRIES && outcome->kind == OUTCOME_ABORTED &&
        (changes || sent->name == BUNDLE_START_KEY || sent->name == BUNDLE_PAUSE_KEY)) {
        outcome->kind = OUTCOME_REFUSED; /* then it reads, too, and has counted nothing */
        outcome->refusal = REFUSED_NOTHING;
    }
    if (sabotage->which == SPLIT_COMPLETION && changes) {
        bool owes = memory->stage == 0 && committed && outcome->values[1] != 0;
        memory->stage = owes ? 1 : 0;
        return !owes;
    }
    return true;
}

/* ---- what is enumerated ---------------------------------------------------------------------- */

static const struct sabotage_shape shapes[] = {
    SHAPE(BUNDLE_BEGIN_FLOW, PRIMITIVE_ADD_FLOW, PRIMITIVE_ADD_PLACE, PRIMITIVE_PUBLISH),
    SHAPE(BUNDLE_CLAIM, PRIMITIVE_CLAIM),
    SHAPE(BUNDLE_READ, PRIMITIVE_READ_FLOW),
    SHAPE_BEFORE_ACK(BUNDLE_START_KEY, PRIMITIVE_START_KEY, PRIMITIVE_RECORD_EVENT,
                     PRIMITIVE_ADD_FLOW, PRIMITIVE_ADD_PLACE, PRIMITIVE_PUBLISH),
    SHAPE_BEFORE_ACK(BUNDLE_FINISH_KEY, PRIMITIVE_CHANGE_KEY, PRIMITIVE_RECORD_EVENT,
                     PRIMITIVE_RECORD_SKIP, PRIMITIVE_PUBLISH),
    SHAPE_BEFORE_ACK(BUNDLE_PAUSE_KEY, PRIMITIVE_PAUSE_KEY, PRIMITIVE_RECORD_EVENT,
                     PRIMITIVE_PUBLISH),
    SHAPE_BEFORE_ACK(BUNDLE_RELEASE_KEY, PRIMITIVE_CHANGE_KEY, PRIMITIVE_RECORD_EVENT,
                     PRIMITIVE_PUBLISH),
    SHAPE(BUNDLE_ACK, PRIMITIVE_ACK),
};

static const struct sabotage_reason equivalents[] = {
    {"key.begin-flow/repeat", "the flow is there already"},
    {"key.pause/repeat", "the key is no longer the one that was read"},
    {"key.pause/stale/pause-key.1",
     "the test says that the key is still the one that was read, and what is written back is that"},
    {"key.release/repeat", "the digit is no longer the one that the release expects"},
    {"key.release/drop/change-key.4", "a release decides against no child, and adds 0"},
    {"key.ack/repeat", "the message is gone already"},
    {"key.ack/unguard/ack.1",
     "a worker that acks has done what the message asks for, or found it done"},
};

const struct sabotage_book sabotage_book_flow = {
    SABOTAGE_BOOK(named, shapes, equivalents),
    .primitives = change_primitives,
    .ready = look,
    .bundle = change_bundle,
    .outcome = change_outcome,
};
