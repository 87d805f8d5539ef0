/* Scopes: small scenarios of every protocol, each with bounds on what may go wrong, in which a
 * search visits every state within seconds.
 *
 * Together the scopes of a protocol send every bundle that its planted bugs spoil and bring every
 * guard to where it decides: counters next to their ceilings, messages that come twice, claims that
 * run out, answers that are lost. What makes no difference in any of them is equivalent as far as
 * they go (equivalence.h). Faults are the search's, so the scenarios draw none. */
#ifndef SIM_SCOPES_H
#define SIM_SCOPES_H

#include "sim/walk.h"

struct scope {
    const char *name; /* for people, unique */
    const char *yaml; /* the scenario */
    struct walk_bounds bounds;
    bool by_statement; /* operations of different transactions interleave */
};

/* Of a protocol, the smallest first. */
size_t scopes_of(enum protocol_id protocol, const struct scope **scopes);

#endif
