#include "faults/sabotage.h"

#include "faults/sabotage_book.h"
#include "model/check.h"

#include <stdio.h>
#include <string.h>

#define COPY SABOTAGE_COPY

/* ---- what is enumerated ---------------------------------------------------------------------- */

#define PROTOCOL(name, called) extern const struct sabotage_book sabotage_book_##name;
#include "model/protocols.def"
#undef PROTOCOL

static const struct sabotage_book *const books[] = {
#define PROTOCOL(name, called) &sabotage_book_##name,
#include "model/protocols.def"
#undef PROTOCOL
};

static const struct sabotage_book *book_of(const struct sabotage *sabotage)
{
    return books[protocol_place(sabotage->protocol)];
}

bool sabotage_knows(const struct protocol *protocol, enum bundle_name bundle,
                    enum primitive_id primitive)
{
    const struct sabotage_book *book = books[protocol_place(protocol)];
    for (size_t i = 0; i < book->shape_count; i++) {
        const struct sabotage_shape *shape = &book->shapes[i];
        if (shape->bundle == bundle &&
            memchr(shape->primitives, (int)primitive, shape->count) != NULL) {
            return true;
        }
    }
    return false;
}

const char *sabotage_equivalent_name(size_t index)
{
    for (size_t p = 0; p < protocol_count(); p++) {
        if (index < books[p]->equivalent_count) {
            return books[p]->equivalents[index].name;
        }
        index -= books[p]->equivalent_count;
    }
    return NULL;
}

/* The reason that a list gives for a name; NULL: none. */
static const char *reason_of(const struct sabotage_reason *reasons, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(reasons[i].name, name) == 0) {
            return reasons[i].reason;
        }
    }
    return NULL;
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

/* "step-2/drop/collate.5", "inbox.apply/drop/credit": with the name of the protocol in front, unless
 * its book says that there is none. */
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
    bool bare = book_of(out)->bare;
    const char *protocol = bare ? "" : out->protocol->name;
    snprintf(out->name, sizeof out->name, "%s%s%s/%s%s%s%s", protocol, bare ? "" : ".", bundle,
             kind_slugs[out->kind], primitive[0] == '\0' ? "" : "/", primitive, op);
}

/* Walks the enumeration: every sabotage once, in a fixed order. Ops are numbered from 1; 0 means
 * the primitive as a whole. */
struct walk {
    size_t protocol; /* whose bundles are enumerated: its place */
    size_t wanted, at;
    struct sabotage *out;
};

static bool visit(struct walk *walk, enum sabotage_kind kind, const struct sabotage_shape *shape,
                  uint8_t primitive, int op)
{
    if (walk->at++ != walk->wanted) {
        return false;
    }
    *walk->out = (struct sabotage){.protocol = protocol_at(walk->protocol),
                                   .kind = (uint8_t)kind,
                                   .bundle = shape->bundle,
                                   .primitive = primitive,
                                   .op = (uint8_t)op,
                                   .about = kind_abouts[kind]};
    name_it(walk->out);
    const struct sabotage_book *book = books[walk->protocol];
    walk->out->equivalent = reason_of(book->equivalents, book->equivalent_count, walk->out->name);
    walk->out->differs = reason_of(book->differing, book->differing_count, walk->out->name);
    return true;
}

static bool is_elsewhere(const struct sabotage_book *book, uint8_t bundle, uint8_t primitive)
{
    return book->once != NULL && book->once->primitive == primitive && book->once->bundle != bundle;
}

/* An earlier primitive of the shape inserts into the operation's table: the row cannot have been
 * read before, so no read of it is stale. */
static bool is_new_row(const struct sabotage_shape *shape, uint8_t at, const struct op *op)
{
    for (uint8_t i = 0; i < at; i++) {
        const struct primitive *before = &primitive_table[shape->primitives[i]];
        for (int o = 0; o < before->op_count; o++) {
            if (before->ops[o].kind == OP_INSERT && before->ops[o].table == op->table) {
                return true;
            }
        }
    }
    return false;
}

/* A primitive that only reads is no write of the bundle: a split after it tears nothing. */
static bool visit_ops(struct walk *walk, const struct sabotage_shape *shape, uint8_t at)
{
    uint8_t part = shape->primitives[at];
    const struct primitive *primitive = &primitive_table[part];
    for (int i = 0; i < primitive->op_count; i++) {
        const struct op *op = &primitive->ops[i];
        if ((primitive->op_count > 1 && visit(walk, SABOTAGE_DROP, shape, part, i + 1)) ||
            (op->test != TEST_NONE && visit(walk, SABOTAGE_UNGUARD, shape, part, i + 1)) ||
            (op->kind == OP_ADD && !is_new_row(shape, at, op) &&
             visit(walk, SABOTAGE_STALE, shape, part, i + 1))) {
            return true;
        }
    }
    return false;
}

static bool visit_shape(struct walk *walk, const struct sabotage_shape *shape)
{
    if (visit(walk, SABOTAGE_REPEAT, shape, shape->primitives[0], 0) ||
        (shape->before_ack && visit(walk, SABOTAGE_ACK_EARLY, shape, shape->primitives[0], 0))) {
        return true;
    }
    for (uint8_t i = 0; i < shape->count; i++) {
        uint8_t part = shape->primitives[i];
        bool last = i + 1 == shape->count;
        if (visit(walk, SABOTAGE_DROP, shape, part, 0) ||
            (!last && visit(walk, SABOTAGE_SPLIT, shape, part, 0)) ||
            (!is_elsewhere(books[walk->protocol], shape->bundle, part) &&
             visit_ops(walk, shape, i))) {
            return true;
        }
    }
    return false;
}

/* True if the enumeration has this number; else `at` is its length. */
static bool walk_to(struct walk *walk)
{
    for (walk->protocol = 0; walk->protocol < protocol_count(); walk->protocol++) {
        for (size_t i = 0; i < books[walk->protocol]->shape_count; i++) {
            if (visit_shape(walk, &books[walk->protocol]->shapes[i])) {
                return true;
            }
        }
    }
    return false;
}

size_t sabotage_named_count(void)
{
    size_t count = 0;
    for (size_t p = 0; p < protocol_count(); p++) {
        count += books[p]->named_count;
    }
    return count;
}

size_t sabotage_count(void)
{
    struct sabotage unused;
    struct walk walk = {.wanted = SIZE_MAX, .out = &unused};
    walk_to(&walk);
    return sabotage_named_count() + walk.at;
}

static void get_named(size_t index, struct sabotage *out)
{
    size_t p = 0;
    while (index >= books[p]->named_count) {
        index -= books[p++]->named_count;
        CHECK(p < protocol_count());
    }
    *out = books[p]->named[index];
    out->protocol = protocol_at(p);
    out->which = (uint8_t)index;
}

void sabotage_get(size_t index, struct sabotage *out)
{
    if (index < sabotage_named_count()) {
        get_named(index, out);
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
        if (book_of(sabotage)->primitives != NULL) {
            book_of(sabotage)->primitives(sabotage, table);
        }
        return;
    }
    table[COPY] = primitive_table[sabotage->primitive];
    change(sabotage, &table[COPY]);
}

bool sabotage_tears(const struct sabotage *sabotage)
{
    return sabotage->kind == SABOTAGE_NAMED && book_of(sabotage)->tears != NULL &&
           book_of(sabotage)->tears(sabotage);
}

/* ---- bundles on their way out ---------------------------------------------------------------- */

/* The first call of the primitive in the bundle, or -1. */
static void remove_calls(struct bundle *bundle, int first, int count)
{
    memmove(&bundle->calls[first], &bundle->calls[first + count],
            (size_t)(bundle->count - first - count) * sizeof *bundle->calls);
    bundle->count = (uint8_t)(bundle->count - count);
}

static void split(struct sabotage_memory *memory, struct bundle *bundle, int at)
{
    memory->flag = true; /* this bundle has such a call */
    if (memory->stage == 0) {
        bundle->count = (uint8_t)(at + 1);
    } else {
        remove_calls(bundle, 0, at + 1);
    }
}

/* The call executes the changed copy, with a further parameter: the value read before. */
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

static void ack_first(const struct sabotage *sabotage, struct sabotage_memory *memory,
                      const struct actor *actor, struct bundle *bundle)
{
    const struct role *role = &sabotage->protocol->roles[actor->role];
    if (memory->stage != 0 || role->message == NULL) {
        return;
    }
    const int64_t *message = role->message(actor);
    memory->flag = true; /* this ack is not sent by the engine */
    bundle_begin(bundle, BUNDLE_ACK);
    int64_t *p = bundle_append(bundle, PRIMITIVE_ACK, CALL_REQUIRE, 0);
    p[0] = message[0];
    p[1] = message[1 + MESSAGE_EPOCH];
    p[2] = message[1 + MESSAGE_CONTENT];
}

static bool changes_work(const struct sabotage *sabotage)
{
    return sabotage->kind == SABOTAGE_WORK_NEVER || sabotage->kind == SABOTAGE_WORK_AGAIN ||
           sabotage->kind == SABOTAGE_WORK_AHEAD || sabotage->kind == SABOTAGE_WORK_THROUGH;
}

/* Changes the work that the bundle rests on. Repetition: performer_works. */
static void change_work(const struct sabotage *sabotage, struct bundle *bundle)
{
    if (sabotage->kind == SABOTAGE_WORK_NEVER) {
        bundle->effect.what = 0;
    } else if (sabotage->kind == SABOTAGE_WORK_AHEAD) {
        bundle->effect.epoch++;
    }
}

void sabotage_bundle(const struct sabotage *sabotage, struct sabotage_memory *memory,
                     const struct actor *actor, struct bundle *bundle)
{
    if (sabotage->kind == SABOTAGE_TRIES_ENDLESS || sabotage->kind == SABOTAGE_TRIES_NONE) {
        return;
    }
    if (changes_work(sabotage)) {
        change_work(sabotage, bundle);
        return;
    }
    if (sabotage->kind == SABOTAGE_NAMED) {
        if (book_of(sabotage)->bundle != NULL) {
            book_of(sabotage)->bundle(sabotage, memory, actor, bundle);
        }
        return;
    }
    if (bundle->name != sabotage->bundle) {
        return;
    }
    int at = sabotage_book_find(bundle, sabotage->primitive);
    if (sabotage->kind == SABOTAGE_ACK_EARLY) {
        ack_first(sabotage, memory, actor, bundle);
    } else if (at < 0) {
        return;
    } else if (sabotage->kind == SABOTAGE_DROP && sabotage->op == 0) {
        remove_calls(bundle, at, 1);
    } else if (sabotage->kind == SABOTAGE_SPLIT) {
        split(memory, bundle, at);
    } else if (sabotage->kind == SABOTAGE_STALE) {
        pass_stale(sabotage, memory, bundle, &bundle->calls[at]);
    } else if (sabotage->kind == SABOTAGE_LOOK_FIRST) {
        bundle->calls[at].mode = memory->has_stale ? bundle->calls[at].mode : CALL_PLAIN;
    } else if (sabotage->kind == SABOTAGE_SHIFT) {
        bundle->params[bundle->calls[at].params + sabotage->op]++;
    } else if (sabotage->kind != SABOTAGE_REPEAT) {
        bundle->calls[at].primitive = COPY;
    }
}

/* Reads the operation's row right after the actor got its outcome: the cell of an addition, or
 * whether the row exists. */
static void look(const struct sabotage *sabotage, struct sabotage_memory *memory,
                 const struct bundle *next, const struct rows *rows)
{
    int at = sabotage_book_find(next, sabotage->primitive);
    if (at < 0) {
        return;
    }
    int which = sabotage->op == 0 ? 0 : sabotage->op - 1;
    const struct op *op = &primitive_table[sabotage->primitive].ops[which];
    int64_t key = next->params[next->calls[at].params + op->key - OPERAND_PARAM];
    uint32_t slot = row_find(rows, (enum row_table)op->table, key);
    memory->has_stale = slot != ROW_NONE;
    if (memory->has_stale) {
        memory->stale = row_get(rows, (enum row_table)op->table, slot, op->column);
    }
}

void sabotage_ready(const struct sabotage *sabotage, struct sabotage_memory *memory,
                    const struct bundle *next, const struct rows *rows)
{
    bool looks = sabotage->kind == SABOTAGE_STALE || sabotage->kind == SABOTAGE_LOOK_FIRST;
    if (sabotage->kind == SABOTAGE_NAMED && book_of(sabotage)->ready != NULL) {
        book_of(sabotage)->ready(sabotage, memory, next, rows);
    } else if (looks && next->name == sabotage->bundle) {
        look(sabotage, memory, next, rows);
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
        return true; /* the engine sends it again, and this is the second half */
    }
    memory->stage = 0;
    memory->flag = false; /* the next bundle may lack this call */
    for (int i = 0; went_on && i < BUNDLE_VALUES_MAX; i++) {
        if (outcome->values[i] == 0) {
            outcome->values[i] = memory->held[i];
        }
    }
    return true;
}

/* The outcome of the repetition counts only if it committed, too: the sender has the outcome of the
 * first bundle. The message of a first claim is not kept, so the worker stays idle and that claim
 * lapses. */
static bool outcome_of_repeat(struct sabotage_memory *memory, const struct bundle *sent,
                              struct outcome *outcome)
{
    if (memory->stage == 0 && outcome->kind == OUTCOME_COMMITTED) {
        memory->stage = 1;
        memory->skipped = outcome->skipped;
        memcpy(memory->held, outcome->values, sizeof memory->held);
        return false;
    }
    if (memory->stage == 1 && outcome->kind != OUTCOME_COMMITTED && sent->name != BUNDLE_CLAIM) {
        outcome->kind = OUTCOME_COMMITTED;
        outcome->refusal = REFUSED_NOTHING;
        outcome->aborted = ABORT_NONE;
        outcome->skipped = memory->skipped;
        memcpy(outcome->values, memory->held, sizeof memory->held);
    }
    memory->stage = 0;
    return true;
}

/* Stage 1 lasts until the worker claims something else. */
static bool outcome_of_early_ack(struct sabotage_memory *memory, const struct bundle *sent)
{
    if (sent->name == BUNDLE_CLAIM) {
        memory->stage = 0;
    }
    bool early = sent->name == BUNDLE_ACK && memory->stage == 0 && memory->flag;
    if (early) {
        memory->stage = 1;
        memory->flag = false;
    }
    return !early;
}

/* False: the engine does not get the outcome, and sends the same bundle again. */
static bool outcome_of_try(const struct sabotage *sabotage, const struct bundle *sent,
                           struct outcome *outcome)
{
    bool meant = sabotage->bundle == BUNDLE_NAME_COUNT || sabotage->bundle == sent->name;
    if (!meant || outcome->kind != OUTCOME_ABORTED) {
        return true;
    }
    outcome->kind = OUTCOME_REFUSED;
    outcome->refusal = REFUSED_EPOCH;
    return sabotage->kind == SABOTAGE_TRIES_NONE;
}

bool sabotage_outcome(const struct sabotage *sabotage, struct sabotage_memory *memory,
                      const struct bundle *sent, struct outcome *outcome)
{
    const struct sabotage_book *book = book_of(sabotage);
    switch ((enum sabotage_kind)sabotage->kind) {
    case SABOTAGE_NAMED:
        return book->outcome == NULL || book->outcome(sabotage, memory, sent, outcome);
    case SABOTAGE_SPLIT:
        return sent->name != sabotage->bundle || outcome_of_split(memory, outcome);
    case SABOTAGE_REPEAT:
        return sent->name != sabotage->bundle || outcome_of_repeat(memory, sent, outcome);
    case SABOTAGE_ACK_EARLY:
        return outcome_of_early_ack(memory, sent);
    case SABOTAGE_TRIES_ENDLESS:
    case SABOTAGE_TRIES_NONE:
        return outcome_of_try(sabotage, sent, outcome);
    case SABOTAGE_DROP:
    case SABOTAGE_UNGUARD:
    case SABOTAGE_STALE:
    case SABOTAGE_LOOK_FIRST:
    case SABOTAGE_SHIFT:
    case SABOTAGE_WORK_NEVER:
    case SABOTAGE_WORK_AGAIN:
    case SABOTAGE_WORK_AHEAD:
    case SABOTAGE_WORK_THROUGH:
    case SABOTAGE_KIND_COUNT:
        break;
    }
    return true;
}
