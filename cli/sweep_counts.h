/* What a sweep counted, as its lines have it: of the sweep itself, and of one that shards are parts of. */
#ifndef CLI_SWEEP_COUNTS_H
#define CLI_SWEEP_COUNTS_H

#include "sim/sweep.h"

#include <jansson.h>

extern const char *const sweep_side_names[SWEEP_SIDES];

/* Crashes that fired in a kind of transaction and on a side, at any depth; and all of them. */
uint64_t sweep_fired_at(const struct sweep_report *report, int bundle, int side);
uint64_t sweep_fired(const struct sweep_report *report);

/* By the name of the fault. */
json_t *sweep_fired_kinds(const struct sweep_report *report);

/* [["Step 1", "before begin", 1, 369], ...], and back. */
json_t *sweep_crash_points(const struct sweep_report *report);
void sweep_add_crash_points(struct sweep_report *report, const json_t *list);

/* A number for each depth. */
json_t *sweep_points(const uint64_t points[SWEEP_DEPTH_MAX], uint64_t depth);

#endif
