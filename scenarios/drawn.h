/* Scenarios that nobody wrote: a number draws one, out of everything that a protocol's format can
 * say - graphs and conditions, pending answers, cycles, thresholds, ledgers next to their ceilings,
 * flows with joins, plans, policies, both forms of commits, and which faults fall how often.
 *
 * `drawn-key-17` is the scenario number 17 of protocol key, for every verb. `drawn-key` is all of
 * them, for a campaign: DRAWN_SEEDS consecutive seeds share a scenario.
 *
 * (DR1) What is drawn follows from protocol and number alone.
 * (DR2) It is sound (S1), and says `expect: pass`: it allows only faults under which its protocol
 *       promises everything. */
#ifndef SCENARIOS_DRAWN_H
#define SCENARIOS_DRAWN_H

#include "scenarios/scenario.h"

#define DRAWN_SEEDS 16

/* The scenario with this number. */
void drawn_make(enum protocol_id protocol, uint64_t number, struct scenario *scenario);

/* What stands for all of them: its name is the family's, and no fault falls in it. */
void drawn_family(enum protocol_id protocol, struct scenario *scenario);

/* drawn-key */
const char *drawn_family_name(enum protocol_id protocol);

/* Whether a name is a family's: drawn-key; or that of one of them: drawn-key-17. */
bool drawn_is_family(const char *name, enum protocol_id *protocol);
bool drawn_is_one(const char *name, enum protocol_id *protocol, uint64_t *number);

#endif
