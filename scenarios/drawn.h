/* Generated scenarios: a number draws one, out of everything that a protocol's format can say -
 * graphs and conditions, pending answers, cycles, thresholds, ledgers next to their ceilings, flows
 * with joins, plans, policies, both forms of commits, and the rates of faults.
 *
 * `drawn-key-17` is scenario number 17 of protocol key, for every verb. `drawn-key` is the whole
 * family, for a campaign: DRAWN_SEEDS consecutive seeds share a scenario.
 *
 * (DR1) A generated scenario is a function of protocol and number alone.
 * (DR2) It is sound (SN1), and says `expect: pass`: it allows only faults under which its protocol
 *       promises everything. */
#ifndef SCENARIOS_DRAWN_H
#define SCENARIOS_DRAWN_H

#include "scenarios/scenario.h"

#define DRAWN_SEEDS 16

/* The scenario with this number. */
void drawn_make(const struct protocol *protocol, uint64_t number, struct scenario *scenario);

/* The representative of a family: it has the family's name and no faults. */
void drawn_family(const struct protocol *protocol, struct scenario *scenario);

/* drawn-key */
const char *drawn_family_name(const struct protocol *protocol);

/* Whether a name is that of a family, drawn-key, or of a member, drawn-key-17. */
bool drawn_is_family(const char *name, const struct protocol **protocol);
bool drawn_is_one(const char *name, const struct protocol **protocol, uint64_t *number);

#endif
