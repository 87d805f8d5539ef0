/* A scenario as YAML again: the smaller one that shrinking is left with must be able to travel in a
 * file. Writes what a replay needs: the workload, not the faults that were allowed, except that
 * commits can be lost, because a store must know that beforehand. */
#ifndef SCENARIOS_WRITER_H
#define SCENARIOS_WRITER_H

#include "scenarios/scenario.h"

/* The text of `scenario` without the nodes marked in `gone` (NULL: all are there) into `text`. The
 * number of bytes, or 0 if they do not fit. A node whose parent is gone must be gone. */
size_t scenario_write(const struct scenario *scenario, const bool *gone, char *text, size_t size);

/* Makes the workload smaller in one of its protocol's own ways, counted from 0. False: there is no
 * such way; then nothing has changed. */
bool scenario_smaller(struct scenario *scenario, unsigned way);

#endif
