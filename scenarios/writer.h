/* Writes a scenario as YAML: the smaller one that shrinking makes must fit into a file. The text
 * holds what a replay needs: the workload, and of the faults only whether commits can be lost,
 * because a store must know that beforehand. */
#ifndef SCENARIOS_WRITER_H
#define SCENARIOS_WRITER_H

#include "scenarios/scenario.h"

/* Writes `scenario` without the nodes marked in `gone` (NULL: none are) into `text`. Returns the
 * number of bytes, or 0 if they do not fit. A node whose parent is marked must be marked, too. */
size_t scenario_write(const struct scenario *scenario, const bool *gone, char *text, size_t size);

/* Makes the workload smaller in one of its protocol's own ways, counted from 0. False: there is no
 * such way; then nothing has changed. */
bool scenario_smaller(struct scenario *scenario, unsigned way);

#endif
