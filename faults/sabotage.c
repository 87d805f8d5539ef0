#include "faults/sabotage.h"

#include "faults/sabotage_equivalent.h"
#include "faults/sabotage_named.h"
#include "model/check.h"

#include <stdio.h>
#include <string.h>

#define COPY PRIMITIVE_COUNT /* where the changed copy of a primitive stands in a table */

/* ---- what is enumerated ---------------------------------------------------------------------- */

/* Every primitive of every bundle, in the order of the bundle. A test sees to it that this is what
 * the engines send. */
static const struct shape {
    uint8_t bundle, primitive;
} shapes[] = {
    {BUNDLE_CREATE, PRIMITIVE_CREATE_JOB},
    {BUNDLE_CREATE, PRIMITIVE_ADD_ACTIVITY},
    {BUNDLE_CREATE, PRIMITIVE_PUBLISH},
    {BUNDLE_CLAIM, PRIMITIVE_CLAIM},
    {BUNDLE_EXTEND, PRIMITIVE_EXTEND},
    {BUNDLE_ENTER_LEG1, PRIMITIVE_ENTER_LEG1},
    {BUNDLE_ENTER_LEG1, PRIMITIVE_READ_INPUT},
    {BUNDLE_ENTER_LEG1, PRIMITIVE_READ_OUTPUT},
    {BUNDLE_LEG1, PRIMITIVE_MARK_ACTIVITY},
    {BUNDLE_LEG1, PRIMITIVE_RECORD_TASK},
    {BUNDLE_LEG1, PRIMITIVE_PUBLISH},
    {BUNDLE_ANSWER, PRIMITIVE_PUBLISH},
    {BUNDLE_ENTER_LEG2, PRIMITIVE_ENTER_LEG2},
    {BUNDLE_ENTER_LEG2, PRIMITIVE_REQUIRE_MARK},
    {BUNDLE_ENTER_LEG2, PRIMITIVE_READ_TASK},
    {BUNDLE_ENTER_LEG2, PRIMITIVE_READ_OUTPUT},
    {BUNDLE_STEP1, PRIMITIVE_MARK_ACTIVITY},
    {BUNDLE_STEP1, PRIMITIVE_MARK_GUID},
    {BUNDLE_STEP1, PRIMITIVE_RECORD_OUTPUT},
    {BUNDLE_STEP2, PRIMITIVE_MARK_ACTIVITY},
    {BUNDLE_STEP2, PRIMITIVE_COLLATE},
    {BUNDLE_STEP2, PRIMITIVE_CLOSE_TASK},
    {BUNDLE_STEP2, PRIMITIVE_ADD_ACTIVITY},
    {BUNDLE_STEP2, PRIMITIVE_PUBLISH},
    {BUNDLE_STEP3, PRIMITIVE_MARK_ACTIVITY},
    {BUNDLE_STEP3, PRIMITIVE_MARK_GUID},
    {BUNDLE_STEP3, PRIMITIVE_RECORD_COMPLETION},
    {BUNDLE_ACK, PRIMITIVE_ACK},
    {BUNDLE_ESCALATE, PRIMITIVE_ACK},
    {BUNDLE_ESCALATE, PRIMITIVE_REQUIRE_UNMARKED},
    {BUNDLE_ESCALATE, PRIMITIVE_REQUIRE_STUCK},
    {BUNDLE_ESCALATE, PRIMITIVE_ESCALATE_JOB},
    {BUNDLE_ESCALATE, PRIMITIVE_RECORD_ESCALATION},
    {BUNDLE_PUT_BACK, PRIMITIVE_PUT_BACK},
    {BUNDLE_READ, PRIMITIVE_READ_ACTIVITY},
    {BUNDLE_READ, PRIMITIVE_READ_GUID},
};
#define SHAPES (sizeof shapes / sizeof *shapes)

bool sabotage_knows(enum bundle_name bundle, enum primitive_id primitive)
{
    for (size_t i = 0; i < SHAPES; i++) {
        if (shapes[i].bundle == bundle && shapes[i].primitive == primitive) {
            return true;
        }
    }
    return false;
}

/* Bundles of a message that is not acked yet. */
static bool owes_ack(enum bundle_name bundle)
{
    return (bundle >= BUNDLE_ENTER_LEG1 && bundle <= BUNDLE_STEP3) || bundle == BUNDLE_READ;
}

/* Text as part of a name: lower case, dashes for blanks. */
static void slug(const char *text, char *out, size_t size)
{
    size_t i = 0;
    for (; text[i] != '\0' && i + 1 < size; i++) {
        char c = text[i];
        out[i] = (char)(c == ' ' ? '-' : c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    out[i] = '\0';
}

static const char *const kind_slugs[SABOTAGE_KIND_COUNT] = {
    [SABOTAGE_DROP] = "drop",       [SABOTAGE_SPLIT] = "split-after",
    [SABOTAGE_UNGUARD] = "unguard", [SABOTAGE_STALE] = "stale",
    [SABOTAGE_REPEAT] = "repeat",   [SABOTAGE_ACK_EARLY] = "ack-before",
};

static const char *const kind_abouts[SABOTAGE_KIND_COUNT] = {
    [SABOTAGE_DROP] = "leaves this part of the bundle out",
    [SABOTAGE_SPLIT] = "commits what follows this part in a transaction of its own",
    [SABOTAGE_UNGUARD] = "leaves out the test that this operation hangs on",
    [SABOTAGE_STALE] = "writes back what it read before, plus the amount, instead of adding",
    [SABOTAGE_REPEAT] = "commits the bundle twice",
    [SABOTAGE_ACK_EARLY] = "acks the message before this bundle",
};

/* "step-2/drop/collate.5" */
static void name_it(struct sabotage *out)
{
    char bundle[16], primitive[24] = "", op[8] = "";
    slug(bundle_name_text((enum bundle_name)out->bundle), bundle, sizeof bundle);
    if (out->kind != SABOTAGE_REPEAT && out->kind != SABOTAGE_ACK_EARLY) {
        slug(primitive_table[out->primitive].name, primitive, sizeof primitive);
    }
    if (out->op != 0) {
        snprintf(op, sizeof op, ".%d", out->op);
    }
    snprintf(out->name, sizeof out->name, "%s/%s%s%s%s", bundle, kind_slugs[out->kind],
             primitive[0] == '\0' ? "" : "/", primitive, op);
}

/* Walks the enumeration: every sabotage once, in a fixed order. Ops are numbered from 1; 0 means
 * the primitive as a whole. */
struct walk {
    size_t wanted, at;
    struct sabotage *out;
};

static bool visit(struct walk *walk, enum sabotage_kind kind, const struct shape *shape, int op)
{
    if (walk->at++ != walk->wanted) {
        return false;
    }
    *walk->out = (struct sabotage){.kind = (uint8_t)kind,
                                   .bundle = shape->bundle,
                                   .primitive = shape->primitive,
                                   .op = (uint8_t)op,
                                   .about = kind_abouts[kind]};
    name_it(walk->out);
    walk->out->equivalent = sabotage_equivalent(walk->out->name);
    return true;
}

static bool is_last(size_t i)
{
    return i + 1 == SHAPES || shapes[i + 1].bundle != shapes[i].bundle;
}

/* A part that only reads is no write of the bundle: nothing is torn by what follows it. */
static bool visit_ops(struct walk *walk, const struct shape *shape)
{
    const struct primitive *primitive = &primitive_table[shape->primitive];
    for (int i = 0; i < primitive->op_count; i++) {
        const struct op *op = &primitive->ops[i];
        if ((primitive->op_count > 1 && visit(walk, SABOTAGE_DROP, shape, i + 1)) ||
            (op->test != TEST_NONE && visit(walk, SABOTAGE_UNGUARD, shape, i + 1)) ||
            (op->kind == OP_ADD && visit(walk, SABOTAGE_STALE, shape, i + 1))) {
            return true;
        }
    }
    return false;
}

static bool visit_shape(struct walk *walk, size_t i)
{
    const struct shape *shape = &shapes[i];
    bool first = i == 0 || shapes[i - 1].bundle != shape->bundle;
    enum bundle_name bundle = (enum bundle_name)shape->bundle;
    return (first && visit(walk, SABOTAGE_REPEAT, shape, 0)) ||
           (first && owes_ack(bundle) && visit(walk, SABOTAGE_ACK_EARLY, shape, 0)) ||
           visit(walk, SABOTAGE_DROP, shape, 0) ||
           (!is_last(i) && visit(walk, SABOTAGE_SPLIT, shape, 0)) || visit_ops(walk, shape);
}

/* True if there is one with this number; `at` then tells how many there are before it. */
static bool walk_to(struct walk *walk)
{
    for (size_t i = 0; i < SHAPES; i++) {
        if (visit_shape(walk, i)) {
            return true;
        }
    }
    return false;
}

size_t sabotage_count(void)
{
    struct sabotage unused;
    struct walk walk = {.wanted = SIZE_MAX, .out = &unused};
    walk_to(&walk);
    return sabotage_named_count() + walk.at;
}

void sabotage_get(size_t index, struct sabotage *out)
{
    if (index < sabotage_named_count()) {
        sabotage_named_get(index, out);
        return;
    }
    struct walk walk = {.wanted = index - sabotage_named_count(), .out = out};
    bool found = walk_to(&walk);
    CHECK(found);
}

bool sabotage_find(const char *name, struct sabotage *out)
{
    size_t count = sabotage_count();
    for (size_t i = 0; i < count; i++) {
        sabotage_get(i, out);
        if (strcmp(out->name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- changed primitives ---------------------------------------------------------------------- */

/* An addition becomes: let value 5 be (an extra parameter, what was read) + amount; set. */
static void make_stale(struct primitive *copy, int at)
{
    CHECK(copy->op_count < PRIMITIVE_OPS_MAX);
    memmove(&copy->ops[at + 1], &copy->ops[at], (size_t)(copy->op_count - at) * sizeof *copy->ops);
    copy->op_count++;
    struct op *set = &copy->ops[at + 1];
    copy->ops[at] = (struct op){.kind = OP_LET_SUM,
                                .a = (uint8_t)(OPERAND_PARAM + copy->params),
                                .b = set->value,
                                .c = OPERAND_ONE,
                                .when = set->when,
                                .unless = set->unless,
                                .returns = PRIMITIVE_VALUES_MAX};
    set->kind = OP_SET;
    set->value = OPERAND_VALUE + PRIMITIVE_VALUES_MAX - 1;
    copy->params++;
}

static void change(const struct sabotage *sabotage, struct primitive *copy)
{
    int at = sabotage->op - 1;
    if (sabotage->kind == SABOTAGE_DROP && sabotage->op != 0) {
        memmove(&copy->ops[at], &copy->ops[at + 1],
                (size_t)(copy->op_count - at - 1) * sizeof *copy->ops);
        copy->op_count--;
    } else if (sabotage->kind == SABOTAGE_UNGUARD) {
        copy->ops[at].test = TEST_NONE;
    } else if (sabotage->kind == SABOTAGE_STALE) {
        make_stale(copy, at);
    }
}

void sabotage_primitives(const struct sabotage *sabotage,
                         struct primitive table[SABOTAGE_TABLE_SIZE])
{
    memset(table, 0, SABOTAGE_TABLE_SIZE * sizeof *table);
    memcpy(table, primitive_table, sizeof primitive_table);
    if (sabotage == NULL) {
        return;
    }
    if (sabotage->kind == SABOTAGE_NAMED) {
        sabotage_named_primitives(sabotage, table);
        return;
    }
    table[COPY] = primitive_table[sabotage->primitive];
    change(sabotage, &table[COPY]);
}

bool sabotage_tears(const struct sabotage *sabotage)
{
    return sabotage->kind == SABOTAGE_NAMED && sabotage_named_tears(sabotage);
}

/* ---- bundles on their way out ---------------------------------------------------------------- */

/* The first call of the primitive in the bundle, or -1. */
static int find_call(const struct bundle *bundle, uint8_t primitive)
{
    for (int i = 0; i < bundle->count; i++) {
        if (bundle->calls[i].primitive == primitive) {
            return i;
        }
    }
    return -1;
}

static void remove_calls(struct bundle *bundle, int first, int count)
{
    memmove(&bundle->calls[first], &bundle->calls[first + count],
            (size_t)(bundle->count - first - count) * sizeof *bundle->calls);
    bundle->count = (uint8_t)(bundle->count - count);
}

static void split(struct sabotage_memory *memory, struct bundle *bundle, int at)
{
    memory->flag = true; /* this bundle has such a part */
    if (memory->stage == 0) {
        bundle->count = (uint8_t)(at + 1);
    } else {
        remove_calls(bundle, 0, at + 1);
    }
}

/* The call executes the changed copy, with one parameter more: what was read before. */
static void pass_stale(const struct sabotage *sabotage, const struct sabotage_memory *memory,
                       struct bundle *bundle, struct call *call)
{
    uint8_t params = primitive_table[sabotage->primitive].params;
    if (!memory->has_stale) {
        return;
    }
    CHECK(bundle->param_count + params + 1 <= BUNDLE_PARAMS_MAX);
    memcpy(&bundle->params[bundle->param_count], &bundle->params[call->params],
           params * sizeof *bundle->params);
    call->params = bundle->param_count;
    call->primitive = COPY;
    bundle->param_count = (uint16_t)(bundle->param_count + params + 1);
    bundle->params[bundle->param_count - 1] = memory->stale;
}

static void ack_first(const struct sabotage_memory *memory, const struct worker *worker,
                      struct bundle *bundle)
{
    if (memory->stage != 0 || worker == NULL) {
        return;
    }
    bundle_begin(bundle, BUNDLE_ACK);
    int64_t *p = bundle_append(bundle, PRIMITIVE_ACK, CALL_REQUIRE, 0);
    p[0] = worker->message[0];
    p[1] = worker->message[1 + MESSAGE_EPOCH];
}

void sabotage_bundle(const struct sabotage *sabotage, struct sabotage_memory *memory,
                     const struct worker *worker, struct bundle *bundle)
{
    if (sabotage->kind == SABOTAGE_NAMED) {
        sabotage_named_bundle(sabotage, memory, worker, bundle);
        return;
    }
    if (bundle->name != sabotage->bundle) {
        return;
    }
    int at = find_call(bundle, sabotage->primitive);
    if (sabotage->kind == SABOTAGE_ACK_EARLY) {
        ack_first(memory, worker, bundle);
    } else if (at < 0) {
        return;
    } else if (sabotage->kind == SABOTAGE_DROP && sabotage->op == 0) {
        remove_calls(bundle, at, 1);
    } else if (sabotage->kind == SABOTAGE_SPLIT) {
        split(memory, bundle, at);
    } else if (sabotage->kind == SABOTAGE_STALE) {
        pass_stale(sabotage, memory, bundle, &bundle->calls[at]);
    } else if (sabotage->kind != SABOTAGE_REPEAT) {
        bundle->calls[at].primitive = COPY;
    }
}

/* The stale read: the cell that the addition is for, while the actor has just got its outcome. */
void sabotage_ready(const struct sabotage *sabotage, struct sabotage_memory *memory,
                    const struct bundle *next, const struct rows *rows)
{
    if (sabotage->kind == SABOTAGE_NAMED) {
        sabotage_named_ready(sabotage, memory, next, rows);
        return;
    }
    if (sabotage->kind != SABOTAGE_STALE || next->name != sabotage->bundle) {
        return;
    }
    int at = find_call(next, sabotage->primitive);
    if (at < 0) {
        return;
    }
    const struct op *op = &primitive_table[sabotage->primitive].ops[sabotage->op - 1];
    int64_t key = next->params[next->calls[at].params + op->key - OPERAND_PARAM];
    uint32_t slot = row_find(rows, (enum row_table)op->table, key);
    memory->has_stale = slot != ROW_NONE;
    if (memory->has_stale) {
        memory->stale = row_get(rows, (enum row_table)op->table, slot, op->column);
    }
}

/* ---- outcomes on their way back -------------------------------------------------------------- */

static bool outcome_of_split(struct sabotage_memory *memory, struct outcome *outcome)
{
    bool went_on = outcome->kind == OUTCOME_COMMITTED;
    if (memory->stage == 0) {
        bool is_split = memory->flag;
        memory->flag = false;
        if (!is_split || !went_on || outcome->skipped != 0) {
            return true;
        }
        memory->stage = 1;
        memcpy(memory->held, outcome->values, sizeof memory->held);
        return false;
    }
    if (outcome->kind == OUTCOME_ABORTED) {
        return true; /* the engine sends it again, and the second half it is */
    }
    memory->stage = 0;
    for (int i = 0; went_on && i < BUNDLE_VALUES_MAX; i++) {
        if (outcome->values[i] == 0) {
            outcome->values[i] = memory->held[i];
        }
    }
    return true;
}

/* A repetition that is refused is not told. The message of a first claim is not kept, so there the
 * worker stays idle and that claim lapses. */
static bool outcome_of_repeat(struct sabotage_memory *memory, const struct bundle *sent,
                              struct outcome *outcome)
{
    if (memory->stage == 0 && outcome->kind == OUTCOME_COMMITTED) {
        memory->stage = 1;
        memcpy(memory->held, outcome->values, sizeof memory->held);
        return false;
    }
    if (memory->stage == 1 && outcome->kind == OUTCOME_REFUSED && sent->name != BUNDLE_CLAIM) {
        outcome->kind = OUTCOME_COMMITTED;
        outcome->refusal = REFUSED_NOTHING;
        outcome->skipped = 0;
        memcpy(outcome->values, memory->held, sizeof memory->held);
    }
    memory->stage = 0;
    return true;
}

/* Stage 1 lasts until the worker claims something else. */
static bool outcome_of_early_ack(const struct sabotage *sabotage, struct sabotage_memory *memory,
                                 const struct worker *worker, const struct bundle *sent)
{
    if (sent->name == BUNDLE_CLAIM) {
        memory->stage = 0;
    }
    bool early = sent->name == BUNDLE_ACK && memory->stage == 0 && worker != NULL &&
                 worker->state != WORKER_ACK && sabotage->kind == SABOTAGE_ACK_EARLY;
    if (early) {
        memory->stage = 1;
    }
    return !early;
}

bool sabotage_outcome(const struct sabotage *sabotage, struct sabotage_memory *memory,
                      const struct worker *worker, const struct bundle *sent,
                      struct outcome *outcome)
{
    switch ((enum sabotage_kind)sabotage->kind) {
    case SABOTAGE_NAMED:
        return sabotage_named_outcome(sabotage, memory, worker, sent, outcome);
    case SABOTAGE_SPLIT:
        return sent->name != sabotage->bundle || outcome_of_split(memory, outcome);
    case SABOTAGE_REPEAT:
        return sent->name != sabotage->bundle || outcome_of_repeat(memory, sent, outcome);
    case SABOTAGE_ACK_EARLY:
        return outcome_of_early_ack(sabotage, memory, worker, sent);
    case SABOTAGE_DROP:
    case SABOTAGE_UNGUARD:
    case SABOTAGE_STALE:
    case SABOTAGE_KIND_COUNT:
        break;
    }
    return true;
}
