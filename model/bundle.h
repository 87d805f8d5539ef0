/* A bundle: a straight line of durable primitives that a store commits whole or not at all, and the
 * outcome that it answers with. The only things that pass between an engine and a store.
 *
 * Calls may be joined to a compound primitive: the calls of Step 2, however many children they spawn,
 * are one statement (Rule D, ACL-27). They keep their order and their meaning, and share a snapshot.
 *
 * (B1) Either every call of a bundle took effect, or, after a missed `unless done`, every call
 *      before it, or none (ACL-2).
 * (B2) There is no other control flow, and no value feeds a later call of the same bundle.
 * (B3) An outcome that is not known is never folded into failure (E-ACL-13). */
#ifndef MODEL_BUNDLE_H
#define MODEL_BUNDLE_H

#include "model/check.h"
#include "model/primitive.h"

#include <string.h>

#define BUNDLE_CALLS_MAX  44
#define BUNDLE_PARAMS_MAX 368
#define BUNDLE_VALUES_MAX 16

/* BUNDLE_CLAIM, ... */
enum bundle_name {
#define BUNDLE(id, text, traits) BUNDLE_##id,
#include "model/bundles.def"
#undef BUNDLE
    BUNDLE_NAME_COUNT
};

/* What generic code may ask of a bundle by its name. After a lost answer, the next bundle shows what
 * its sender believes of the lost one: one that asks shows nothing, one that leaves shows that the
 * work was given up, any other that the sender goes on. */
enum bundle_trait {
    TRAIT_NONE = 0,
    TRAIT_ACKS = 1 << 0,          /* ends a message, unless its message is needed further */
    TRAIT_ASKS = 1 << 1,          /* looks where things stand, or keeps a claim */
    TRAIT_LEAVES = 1 << 2,        /* takes up other work, or hands this one to others */
    TRAIT_LEAVES_UNLESS = 1 << 3, /* leaves, unless it publishes what follows */
    TRAIT_ANSWERS = 1 << 4,       /* an answer that a sender that runs again may give otherwise */
    TRAIT_AFTER_ANSWER = 1 << 5,  /* may be sent after an answer that was given otherwise */
    TRAIT_AFTER_MISSTEP = 1 << 6, /* sent after an illegal move alone */
    TRAIT_TRESPASSES = 1 << 7     /* an illegal move itself: no engine sends it, no book lists it */
};
extern const uint16_t bundle_traits[BUNDLE_NAME_COUNT];

static inline bool bundle_has(enum bundle_name name, enum bundle_trait trait)
{
    return (bundle_traits[name] & trait) != 0;
}

/* What a call does when its primitive's guard misses. */
enum call_mode {
    CALL_PLAIN,      /* goes on without it */
    CALL_REQUIRE,    /* the whole bundle is refused */
    CALL_UNLESS_DONE /* the rest is skipped and the bundle commits: a replayed step */
};

enum isolation { READ_COMMITTED, SERIALIZABLE };

struct call {
    uint8_t primitive; /* enum primitive_id */
    uint8_t mode;      /* enum call_mode */
    uint8_t values;    /* where its returned values begin */
    uint8_t child;     /* Step 2: 1 + which child it is for; 0: none */
    uint16_t params;   /* where its parameters begin */
    bool joined;       /* one statement with the joined calls right before and after it */
};

struct bundle {
    uint8_t name;      /* enum bundle_name */
    uint8_t isolation; /* enum isolation */
    uint8_t principal; /* enum principal: who sends it */
    uint8_t count;
    uint16_t param_count;
    struct side_effect
        effect; /* the work outside rows that must have been done before it is sent */
    struct call calls[BUNDLE_CALLS_MAX];
    int64_t params[BUNDLE_PARAMS_MAX];
};

enum outcome_kind {
    OUTCOME_NONE,      /* nothing was asked yet */
    OUTCOME_COMMITTED, /* all of it, or skipped from a call on */
    OUTCOME_REFUSED,   /* a requirement missed: nothing happened */
    OUTCOME_ABORTED,   /* the store failed it: nothing happened, it may be tried again */
    OUTCOME_UNKNOWN    /* the connection died around COMMIT: it happened, or not */
};
#define OUTCOME_KIND_COUNT (OUTCOME_UNKNOWN + 1) /* no member: a switch names all of them */

/* Why the store aborted a transaction; all of them may be tried again. */
enum abort_class {
    ABORT_NONE,
    ABORT_SERIALIZATION, /* 40001 */
    ABORT_DEADLOCK,      /* 40P01 */
    ABORT_CONNECTIONS,   /* 53300 */
    ABORT_CONNECTION,    /* 08xxx, 57P01-03, 25P03: the connection is gone, and was before COMMIT */
    ABORT_TIMEOUT, /* 55P03, 57014: a lock was waited for too long, or a statement cancelled */
    ABORT_CLASS_COUNT
};

struct outcome {
    uint8_t kind;    /* enum outcome_kind */
    uint8_t refusal; /* REFUSED: enum refusal */
    uint8_t aborted; /* ABORTED: enum abort_class */
    uint8_t skipped; /* COMMITTED: 1 + the call from which on it was skipped; REFUSED: 1 + the call
                        that was refused; 0: none */
    int64_t now;     /* the store's clock when it answered */
    int64_t values[BUNDLE_VALUES_MAX];
    int64_t message[1 + MESSAGE_COLUMNS]; /* CLAIM: the message, key first */
};

/* A transaction begins: nothing has missed yet, and nothing is returned. */
static inline void outcome_begin(struct outcome *outcome, int64_t now)
{
    outcome->kind = OUTCOME_COMMITTED;
    outcome->refusal = REFUSED_NOTHING;
    outcome->aborted = ABORT_NONE;
    outcome->skipped = 0;
    outcome->now = now;
    outcome->message[0] = 0;
    /* in two halves, which the compilers store straight away: the whole becomes a slow loop */
    memset(&outcome->values[0], 0, sizeof outcome->values / 2);
    memset(&outcome->values[BUNDLE_VALUES_MAX / 2], 0, sizeof outcome->values / 2);
}

static inline void bundle_begin(struct bundle *bundle, enum bundle_name name)
{
    bundle->name = (uint8_t)name;
    bundle->isolation = READ_COMMITTED;
    bundle->principal = PRINCIPAL_NONE;
    bundle->count = 0;
    bundle->param_count = 0;
    bundle->effect = (struct side_effect){0};
}

/* It rests on work outside rows, done under this claim. Sent again, it rests on the same work: who
 * has run it has its result at hand. */
static inline void bundle_rests_on(struct bundle *bundle, int64_t what, int64_t claim,
                                   int64_t epoch)
{
    bundle->effect = (struct side_effect){.what = what, .claim = claim, .epoch = epoch};
}

/* As far as it is filled: most of a bundle's room is empty. */
static inline void bundle_copy(struct bundle *to, const struct bundle *from)
{
    to->name = from->name;
    to->isolation = from->isolation;
    to->principal = from->principal;
    to->count = from->count;
    to->param_count = from->param_count;
    to->effect = from->effect;
    memcpy(to->calls, from->calls, from->count * sizeof *from->calls);
    memcpy(to->params, from->params, from->param_count * sizeof *from->params);
}

/* Appends a call and returns its parameters, for the caller to fill in. */
static inline int64_t *bundle_append(struct bundle *bundle, enum primitive_id primitive,
                                     enum call_mode mode, int values)
{
    CHECK(bundle->count < BUNDLE_CALLS_MAX);
    struct call *call = &bundle->calls[bundle->count++];
    call->primitive = (uint8_t)primitive;
    call->mode = (uint8_t)mode;
    call->values = (uint8_t)values;
    call->child = 0;
    call->joined = false;
    call->params = bundle->param_count;
    bundle->param_count = (uint16_t)(bundle->param_count + primitive_table[primitive].params);
    CHECK(bundle->param_count <= BUNDLE_PARAMS_MAX);
    return &bundle->params[call->params];
}

/* Appends a call with these parameters, which are all that its primitive has. BUNDLE_CALL counts them
 * when it is compiled; BUNDLE_CALL_OF is for a primitive that only the run knows. */
#define BUNDLE_CALL(bundle, primitive, mode, values, ...)                                          \
    do {                                                                                           \
        _Static_assert(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t) ==                 \
                           (primitive##_PARAMS),                                                   \
                       "a parameter is missing, or there is one too many");                        \
        BUNDLE_CALL_OF(bundle, primitive, mode, values, __VA_ARGS__);                              \
    } while (0)
#define BUNDLE_CALL_OF(bundle, primitive, mode, values, ...)                                       \
    bundle_call(bundle, primitive, mode, values, (const int64_t[]){__VA_ARGS__},                   \
                sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
static inline void bundle_call(struct bundle *bundle, enum primitive_id primitive,
                               enum call_mode mode, int values, const int64_t *params, size_t count)
{
    CHECK(count == primitive_table[primitive].params);
    memcpy(bundle_append(bundle, primitive, mode, values), params, count * sizeof *params);
}

/* The calls from `first` on are one statement. */
static inline void bundle_join(struct bundle *bundle, uint8_t first)
{
    for (uint8_t i = first; i < bundle->count; i++) {
        bundle->calls[i].joined = true;
    }
}

/* The statement that the call is part of goes on with the next call. */
static inline bool bundle_goes_on(const struct bundle *bundle, uint8_t call)
{
    return call + 1 < bundle->count && bundle->calls[call].joined && bundle->calls[call + 1].joined;
}

/* Appends the publication of a message and returns its parameters, key first: what the caller does
 * not fill in is 0. */
static inline int64_t *bundle_publish(struct bundle *bundle, enum call_mode mode, int64_t key,
                                      int64_t kind)
{
    int64_t *p = bundle_append(bundle, PRIMITIVE_PUBLISH, mode, 0);
    memset(p, 0, primitive_table[PRIMITIVE_PUBLISH].params * sizeof *p);
    p[0] = key;
    p[1 + MESSAGE_KIND] = kind;
    return p;
}

/* It takes a message, or would if there were one. */
static inline bool bundle_claims(const struct bundle *bundle)
{
    return bundle->name == BUNDLE_CLAIM ||
           (bundle->count > 0 &&
            bundle->calls[bundle->count - 1].primitive == PRIMITIVE_CLAIM_NEXT);
}

/* Whether both say the same to the store, field by field: a call has padding, which no append sets. */
bool bundle_equal(const struct bundle *a, const struct bundle *b);

/* Asserts that the calls are a straight line (B2): known primitives with all their parameters, one
 * after the other, and room for what they return. */
void bundle_check(const struct bundle *bundle);

/* Asserts that a store may answer the bundle so: (B1) and (B3). */
void outcome_check(const struct outcome *outcome, const struct bundle *bundle);

const char *bundle_name_text(enum bundle_name name);
const char *refusal_text(enum refusal refusal);
const char *abort_class_text(enum abort_class aborted);

#endif
