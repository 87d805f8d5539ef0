/* The book of a protocol's planted bugs: the description of its bundles that the enumeration uses,
 * and its named bugs. Private to faults/; sabotage.h is the interface.
 *
 * A test checks that the shapes are what the engines send. Hooks are called for named sabotages
 * only and distinguish them by `which`, the index in `named`; every hook may be NULL. */
#ifndef FAULTS_SABOTAGE_BOOK_H
#define FAULTS_SABOTAGE_BOOK_H

#include "faults/sabotage.h"

/* The shape of a bundle that engines send: every primitive that it may contain, in order. */
struct sabotage_shape {
    uint8_t bundle;
    bool before_ack; /* its message is not acked yet: the variant with an early ack is enumerated,
                        too */
    uint8_t count;
    const uint8_t *primitives;
};

#define SHAPE_PARTS(...)                                                                           \
    (uint8_t)sizeof((const uint8_t[]){__VA_ARGS__}), (const uint8_t[])                             \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define SHAPE(bundle, ...)                                                                         \
    {                                                                                              \
        bundle, false, SHAPE_PARTS(__VA_ARGS__)                                                    \
    }
#define SHAPE_BEFORE_ACK(bundle, ...)                                                              \
    {                                                                                              \
        bundle, true, SHAPE_PARTS(__VA_ARGS__)                                                     \
    }

/* A primitive of many bundles. Its operations are enumerated in one of them, where all of them run;
 * in the others it is enumerated as a whole. */
struct sabotage_once {
    uint8_t primitive, bundle;
};

/* An enumerated sabotage that breaks no promise, by its full name, and the reason. */
struct sabotage_reason {
    const char *name, *reason;
};

struct sabotage_book {
    bool bare;                    /* names of enumerated bugs do not begin with the protocol's */
    const struct sabotage *named; /* .protocol and .which are filled in later */
    size_t named_count;
    const struct sabotage_shape *shapes;
    size_t shape_count;
    const struct sabotage_once *once; /* NULL: there is none */
    const struct sabotage_reason *equivalents;
    size_t equivalent_count;
    const struct sabotage_reason *differing; /* those of the equivalents that differ, and how */
    size_t differing_count;
    /* Changes primitives in place, or puts a copy at SABOTAGE_COPY for `bundle` to call. */
    void (*primitives)(const struct sabotage *sabotage, struct primitive *table);
    /* As sabotage_ready, sabotage_bundle, sabotage_outcome and sabotage_tears. */
    void (*ready)(const struct sabotage *sabotage, struct sabotage_memory *memory,
                  const struct bundle *next, const struct rows *rows);
    void (*bundle)(const struct sabotage *sabotage, struct sabotage_memory *memory,
                   const struct actor *actor, struct bundle *bundle);
    bool (*outcome)(const struct sabotage *sabotage, struct sabotage_memory *memory,
                    const struct bundle *sent, struct outcome *outcome);
    bool (*tears)(const struct sabotage *sabotage);
};

/* Where the first call of a primitive stands; -1: the bundle has none. */
static inline int sabotage_book_find(const struct bundle *bundle, uint8_t primitive)
{
    for (int i = 0; i < bundle->count; i++) {
        if (bundle->calls[i].primitive == primitive) {
            return i;
        }
    }
    return -1;
}

/* The call itself; NULL: there is none. */
static inline struct call *sabotage_book_call(struct bundle *bundle, uint8_t primitive)
{
    int at = sabotage_book_find(bundle, primitive);
    return at < 0 ? NULL : &bundle->calls[at];
}

/* Fields that few books have: SABOTAGE_DIFFERING(differing). */
#define SABOTAGE_DIFFERING(reasons) .differing = (reasons), .differing_count = COUNT(reasons)

/* A named sabotage of one of the enumerated kinds: SABOTAGE_AS(SPLIT, APPLY, REMEMBER). */
#define SABOTAGE_AS(kind_id, bundle_id, primitive_id)                                              \
    .kind = SABOTAGE_##kind_id, .bundle = BUNDLE_##bundle_id, .primitive = PRIMITIVE_##primitive_id

/* The three sabotages of work outside rows, which every protocol that has such work names. */
#define SABOTAGE_WORK(stem, where)                                                                 \
    {.name = stem "-never-done",                                                                   \
     .about = "work outside rows is not done, and reported all the same (E-ACL-33)",               \
     .scenario = (where),                                                                          \
     .kind = SABOTAGE_WORK_NEVER},                                                                 \
        {.name = stem "-done-again",                                                               \
         .about = "a transaction that is sent again does its work outside rows again (E-ACL-33)",  \
         .scenario = (where),                                                                      \
         .kind = SABOTAGE_WORK_AGAIN},                                                             \
    {                                                                                              \
        .name = stem "-done-ahead",                                                                \
        .about = "work outside rows is done for the claim after the one that is held (E-ACL-33)",  \
        .scenario = (where), .kind = SABOTAGE_WORK_AHEAD                                           \
    }

/* The two sabotages of retries, for every bundle; E-ACL-13. */
#define SABOTAGE_TRIES(stem, where)                                                                \
    {.name = stem "-tried-for-ever",                                                               \
     .about = "what fails is tried again and not counted (E-ACL-13)",                              \
     .scenario = (where),                                                                          \
     .kind = SABOTAGE_TRIES_ENDLESS,                                                               \
     .bundle = BUNDLE_NAME_COUNT},                                                                 \
    {                                                                                              \
        .name = stem "-let-go-at-once",                                                            \
        .about = "a claim is let go when something fails for the first time (E-ACL-13)",           \
        .scenario = (where), .kind = SABOTAGE_TRIES_NONE, .bundle = BUNDLE_NAME_COUNT              \
    }

/* A further one, where claims are extended. */
#define SABOTAGE_THROUGH(stem, where)                                                              \
    {                                                                                              \
        .name = stem "-without-a-clock",                                                           \
        .about = "nobody looks at the clock while work outside rows takes its time (E-ACL-34)",    \
        .scenario = (where), .kind = SABOTAGE_WORK_THROUGH                                         \
    }

/* Fields that every book has, from its arrays. */
#define SABOTAGE_BOOK(names, bundles, reasons)                                                     \
    .named = (names), .named_count = COUNT(names), .shapes = (bundles),                            \
    .shape_count = COUNT(bundles), .equivalents = (reasons), .equivalent_count = COUNT(reasons)

#endif
