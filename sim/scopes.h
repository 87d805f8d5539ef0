/* Scopes: small scenarios of every protocol, each with a fault budget, in which a search visits
 * every state within seconds.
 *
 * Together the scopes of a protocol send every bundle that its planted bugs change, and bring every
 * guard to the point where it decides: counters next to their ceilings, duplicated messages,
 * expired claims, lost answers. A bug that makes no difference in any of them is equivalent as far
 * as they go (equivalence.h). The search injects the faults, so the scenarios draw none. */
#ifndef SIM_SCOPES_H
#define SIM_SCOPES_H

#include "sim/walk.h"

struct scope {
    const char *name; /* unique */
    const char *yaml; /* the scenario */
    struct walk_bounds bounds;
    bool by_statement; /* operations of different transactions interleave */
};

/* Of a protocol, the smallest first. */
size_t scopes_of(const struct protocol *protocol, const struct scope **scopes);

#endif
