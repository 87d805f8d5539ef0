/* The shortest schedule of every planted bug, compared with what a campaign's finding shrinks to. */
#ifndef VERIFY_EXPLORE_TABLE_H
#define VERIFY_EXPLORE_TABLE_H

#include "sim/explore.h"

#include <stdbool.h>

/* Hunts every sabotage of the scenario's protocol that is not listed as equivalent, `jobs` at a
 * time. Ctrl-C ends it with the rows that it has. Returns an exit status. */
int explore_table(const struct scenario *scenario, unsigned jobs, size_t memory, bool json);

#endif
