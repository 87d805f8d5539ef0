/* What `assay real` says: text for people, JSON lines for scripts. */
#ifndef CLI_REAL_TELL_H
#define CLI_REAL_TELL_H

#include "reports/artefacts.h"
#include "verify/real_result.h"

/* To people, unless the lines go to stdout; and a line to `results`. `oracle` has judged. */
void real_tell_result(const struct real_result *result, const struct oracle *oracle,
                      struct artefacts *results);

/* After all of them, for people: faults by kind, and crash points beside the simulation's. */
void real_tell_faults(const struct real_result *results, size_t count);

/* What a gate misses, a line each on stderr: a kind that was planned and never hit, a crash point
 * of a bundle that was sent and never hit, a clause that a scenario is to reach and did not. True:
 * nothing. */
bool real_tell_gate(const struct real_result *results, size_t count);

/* Faults that counted. */
uint64_t real_tell_counted(const struct chaos_report *report);

#endif
