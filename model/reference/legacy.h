/* The checked addition to the earlier activity ledger.
 * A reference model: tests hold the primitives to it; no run calls it.
 *
 * Runs execute additions as the primitives of legacy_primitives.def. The layout and the events are
 * model/legacy.h's.
 *
 * (LG1) A field never borrows from or carries into its neighbour: the addition is refused instead
 *       (LEG-5, E-LEG-2). */
#ifndef MODEL_REFERENCE_LEGACY_H
#define MODEL_REFERENCE_LEGACY_H

#include "model/legacy.h"

enum legacy_outcome {
    LEGACY_ADDED,
    LEGACY_AT_LIMIT,    /* a digit would borrow or carry: refused (LG1) */
    LEGACY_NOT_A_LEDGER /* negative, or more than 15 digits */
};

struct legacy_addition {
    enum legacy_outcome outcome;
    int64_t ledger; /* after the call, added or not */
};

struct legacy_addition legacy_add(int64_t ledger, enum legacy_event event);

/* Asserts that an event made this of a ledger: (LG1). */
void legacy_check(int64_t before, enum legacy_event event, int64_t after);

#endif
