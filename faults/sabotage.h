/* Planted bugs: the proof that the bench can find one.
 *
 * A sabotage is a decorator around an engine and its store. It changes an operation in a copy of
 * the table of primitives, rewrites bundles on their way to the store, or rewrites outcomes on
 * their way back. No engine has a switch for it. Its memory is bounded, one for each actor; a crash
 * clears it.
 *
 * Each protocol has a book of them (sabotage_book.h). Some are named after failures that real
 * systems had. The rest are enumerated mechanically from every bundle: each primitive dropped, each
 * bundle split after each primitive, each guard dropped, each increment written back from a stale
 * read, each bundle repeated, each message acked early.
 *
 * (Z1) Without a sabotage, no function here is called and nothing changes.
 * (Z2) An enumerated sabotage that breaks no promise is listed as equivalent, with the reason. One
 *      that leads to other rows all the same, about which no promise says anything, is listed as
 *      differing. */
#ifndef FAULTS_SABOTAGE_H
#define FAULTS_SABOTAGE_H

#include "model/protocol.h"

#define SABOTAGE_COPY       PRIMITIVE_COUNT       /* index of a changed copy of a primitive */
#define SABOTAGE_TABLE_SIZE (PRIMITIVE_COUNT + 2) /* with room for it and one more */
#define SABOTAGE_NAME_SIZE  64

enum sabotage_kind {
    SABOTAGE_NAMED,      /* named by a protocol's book */
    SABOTAGE_DROP,       /* the primitive is left out of the bundle */
    SABOTAGE_SPLIT,      /* the calls after the primitive are a transaction of their own */
    SABOTAGE_UNGUARD,    /* an operation's test is left out */
    SABOTAGE_STALE,      /* an addition becomes a write of the value read before, plus the amount */
    SABOTAGE_REPEAT,     /* the bundle is committed twice */
    SABOTAGE_ACK_EARLY,  /* the message is acked before the bundle */
    SABOTAGE_LOOK_FIRST, /* the existence of a row is read before the bundle, and its insertion
                            relies on that; not enumerated */
    SABOTAGE_SHIFT,      /* a parameter of the primitive, `op`, is one more; not enumerated */
    SABOTAGE_TRIES_ENDLESS, /* a failed bundle is sent again and not counted; in the named bundle,
                               BUNDLE_NAME_COUNT: in all; not enumerated */
    SABOTAGE_TRIES_NONE,    /* a failure is taken for a refusal; likewise */
    SABOTAGE_WORK_NEVER,    /* work outside rows is not done; this and the next two: in every bundle
                               that rests on such work; not enumerated */
    SABOTAGE_WORK_AGAIN,    /* ... is done again with every bundle that rests on it */
    SABOTAGE_WORK_AHEAD,    /* ... is done under the claim after the one that is held */
    SABOTAGE_WORK_THROUGH,  /* ... is done without checking the clock */
    SABOTAGE_KIND_COUNT
};

struct sabotage {
    char name[SABOTAGE_NAME_SIZE];
    const char *about;      /* what it does wrong, in one line */
    const char *equivalent; /* why it breaks no promise; NULL: it must break one */
    const char *differs;    /* equivalent: how it differs from the sound engine all the same, so
                               that equivalence cannot be shown; NULL: it does not */
    const char *scenario;   /* the scenario where it shows best */
    const struct protocol *protocol;
    uint8_t kind;      /* enum sabotage_kind */
    uint8_t which;     /* SABOTAGE_NAMED: which one */
    uint8_t bundle;    /* enum bundle_name */
    uint8_t primitive; /* enum primitive_id */
    uint8_t op;        /* UNGUARD, STALE: which operation of the primitive, from 1; SHIFT: which
                     parameter, from 0 */
    bool lasting;      /* SABOTAGE_NAMED: its memory outlives a message; only a crash clears it */
};

/* What a decorator remembers between two transactions of one actor. All zero at the start and, unless
 * the sabotage is `lasting`, when the worker has become idle. */
struct sabotage_memory {
    uint8_t stage;                   /* progress of a bundle that takes several transactions */
    bool has_stale;                  /* the row existed, and `stale` is its cell */
    bool flag;                       /* for the sabotage's own use */
    uint8_t skipped;                 /* outcome.skipped of the first of two transactions */
    int64_t skew;                    /* offset of the worker's clock from the store's */
    int64_t stale;                   /* a cell's value when the actor got its last outcome */
    int64_t held[BUNDLE_VALUES_MAX]; /* the values that the first half of a split bundle returned */
};

/* All sabotages, named ones first, in a fixed order. */
size_t sabotage_count(void);
size_t sabotage_named_count(void);
void sabotage_get(size_t index, struct sabotage *out);
bool sabotage_find(const char *name, struct sabotage *out);

/* Whether the enumeration has this primitive in this bundle of the protocol. */
bool sabotage_knows(const struct protocol *protocol, enum bundle_name bundle,
                    enum primitive_id primitive);

/* The names on the lists of equivalents, in their order; NULL: no more. */
const char *sabotage_equivalent_name(size_t index);

/* The table of primitives that a store is to execute. */
void sabotage_primitives(const struct sabotage *sabotage,
                         struct primitive table[SABOTAGE_TABLE_SIZE]);

/* The actor has its outcome and is about to send `next`: the moment of a stale read. */
void sabotage_ready(const struct sabotage *sabotage, struct sabotage_memory *memory,
                    const struct bundle *next, const struct rows *rows);

/* Rewrites what the engine sends. */
void sabotage_bundle(const struct sabotage *sabotage, struct sabotage_memory *memory,
                     const struct actor *actor, struct bundle *bundle);

/* Rewrites what comes back. False: the engine does not get the outcome, because the decorator has a
 * further bundle to send first. */
bool sabotage_outcome(const struct sabotage *sabotage, struct sabotage_memory *memory,
                      const struct bundle *sent, struct outcome *outcome);

/* Whether a crash or an abort tears a transaction: half of its changes stay. */
bool sabotage_tears(const struct sabotage *sabotage);

#endif
