/* Planted bugs: what proves that the bench can find one.
 *
 * A sabotage is a decorator around an engine and its store. It changes an operation in a copy of
 * the table of primitives, rewrites bundles on their way to the store, or outcomes on their way
 * back. No engine has a switch for it. Its memory is bounded, one for each actor; a crash clears
 * it.
 *
 * Each protocol has a book of them (sabotage_book.h). Some are named after failures that real
 * systems had. The rest are enumerated mechanically from every bundle: each primitive dropped, each
 * bundle split after each primitive, each guard dropped, each increment written back from a stale
 * read, each bundle repeated, each message acked early.
 *
 * (Z1) Without a sabotage, nothing here is called and nothing changes.
 * (Z2) An enumerated sabotage that no promise can see is listed as equivalent, with the reason. One
 *      that leads to other rows all the same, of which no promise speaks, is listed as such, too.
 */
#ifndef FAULTS_SABOTAGE_H
#define FAULTS_SABOTAGE_H

#include "model/protocol.h"

#define SABOTAGE_COPY       PRIMITIVE_COUNT /* where a table has a changed copy of a primitive */
#define SABOTAGE_TABLE_SIZE (PRIMITIVE_COUNT + 2) /* with room for it and another */
#define SABOTAGE_NAME_SIZE  64

enum sabotage_kind {
    SABOTAGE_NAMED,      /* one that a protocol's book names */
    SABOTAGE_DROP,       /* the primitive is left out of the bundle */
    SABOTAGE_SPLIT,      /* what comes after the primitive is a transaction of its own */
    SABOTAGE_UNGUARD,    /* an operation's test is left out */
    SABOTAGE_STALE,      /* an addition becomes a write of what was read before, plus the amount */
    SABOTAGE_REPEAT,     /* the bundle is committed twice */
    SABOTAGE_ACK_EARLY,  /* the message is acked before the bundle */
    SABOTAGE_LOOK_FIRST, /* whether a row is there is looked up before the bundle, and its insertion
                            trusts that; not enumerated */
    SABOTAGE_SHIFT,      /* a parameter of the primitive, `op`, is one more; not enumerated */
    SABOTAGE_TRIES_ENDLESS, /* what fails is sent again and not counted; in the bundle that is
                               named, BUNDLE_NAME_COUNT: in all; not enumerated */
    SABOTAGE_TRIES_NONE,    /* what fails is taken for a refusal; likewise */
    SABOTAGE_WORK_NEVER,    /* work outside rows is not done; this and the next two: in every bundle
                               that rests on such work; not enumerated */
    SABOTAGE_WORK_AGAIN,    /* ... is done again with every bundle that rests on it */
    SABOTAGE_WORK_AHEAD,    /* ... is done under the claim after the one that is held */
    SABOTAGE_WORK_THROUGH,  /* ... is done without a look at the clock */
    SABOTAGE_KIND_COUNT
};

struct sabotage {
    char name[SABOTAGE_NAME_SIZE];
    const char *about;      /* what it does wrong, in one line */
    const char *equivalent; /* why no promise can see it; NULL: one must */
    const char *differs;    /* equivalent: in what it is not equal to the sound engine all the same,
                               so that it cannot be shown to be; NULL: it can */
    const char *scenario;   /* where it shows best */
    uint8_t protocol;       /* enum protocol_id: whose it is */
    uint8_t kind;           /* enum sabotage_kind */
    uint8_t which;          /* SABOTAGE_NAMED: which one */
    uint8_t bundle;         /* enum bundle_name */
    uint8_t primitive;      /* enum primitive_id */
    uint8_t op; /* UNGUARD, STALE: which operation of the primitive, from 1; SHIFT: which
                   parameter, from 0 */
};

/* What a decorator remembers between two transactions of one actor. All zero at a start, and when
 * the worker has become idle. */
struct sabotage_memory {
    uint8_t stage;                   /* how far a bundle is that takes several transactions */
    bool has_stale;                  /* the row was there, and `stale` is its cell */
    bool flag;                       /* the sabotage's own */
    uint8_t skipped;                 /* outcome.skipped of the first of two */
    int64_t skew;                    /* how far the clock of its worker is ahead of the store */
    int64_t stale;                   /* a cell as it was when the actor got its last outcome */
    int64_t held[BUNDLE_VALUES_MAX]; /* what the first half of a split bundle returned */
};

/* All of them, named ones first, in a fixed order. */
size_t sabotage_count(void);
size_t sabotage_named_count(void);
void sabotage_get(size_t index, struct sabotage *out);
bool sabotage_find(const char *name, struct sabotage *out);

/* Whether the enumeration has this primitive in this bundle of the protocol. */
bool sabotage_knows(enum protocol_id protocol, enum bundle_name bundle,
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

/* Rewrites what comes back. False: the engine is not told, and the decorator has something more to
 * send first. */
bool sabotage_outcome(const struct sabotage *sabotage, struct sabotage_memory *memory,
                      const struct bundle *sent, struct outcome *outcome);

/* A crash or abort of the store's that tears a transaction: true if half of its changes stay. */
bool sabotage_tears(const struct sabotage *sabotage);

#endif
