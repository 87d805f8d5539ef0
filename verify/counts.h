/* Counts of runs as keys of a result line: the same keys for every verb. */
#ifndef VERIFY_COUNTS_H
#define VERIFY_COUNTS_H

#include "model/oracle/oracle.h"
#include "scenarios/scenario.h"

#include <jansson.h>

/* For lines about runs of an activity scenario: whether its commits are "merged" or "literal". */
void counts_form(json_t *line, const struct scenario *scenario);

/* For lines about runs: how often each clause was evaluated, and each path seen; those that were
 * not at all are left out. */
json_t *counts_evaluated(const uint64_t evaluated[CLAUSE_COUNT]);
json_t *counts_seen(const uint64_t seen[COVER_COUNT]);

#endif
