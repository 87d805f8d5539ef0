/* The book of a protocol's planted bugs: what a protocol tells the enumeration of its bundles, and
 * the bugs that it names itself. Private to faults/; sabotage.h is the interface.
 *
 * A test sees to it that the shapes are what the engines send. Hooks are asked for named sabotages
 * only, by `which`, the index in `named`; every one of them may be NULL. */
#ifndef FAULTS_SABOTAGE_BOOK_H
#define FAULTS_SABOTAGE_BOOK_H

#include "faults/sabotage.h"

/* A primitive of a bundle; shapes are in the order of the bundle, a bundle's together. */
struct sabotage_shape {
    uint8_t bundle, primitive;
};

/* An enumerated sabotage that breaks no promise, by its whole name, and why. */
struct sabotage_reason {
    const char *name, *reason;
};

struct sabotage_book {
    const char *prefix; /* of enumerated names: "inbox.", so that no two protocols' are the same */
    const struct sabotage_shape *shapes;
    size_t shape_count;
    const struct sabotage_reason *equivalents;
    size_t equivalent_count;
    const struct sabotage *named; /* .protocol and .which are filled in */
    size_t named_count;
    /* Bundles of a message that is not acked yet: each is tried with the ack before it. */
    bool (*owes_ack)(enum bundle_name bundle);
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

#endif
