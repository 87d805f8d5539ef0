/* The fault plan of a scenario, read from YAML.
 *
 *      faults: {crash: 1/20, duplicate: 1/40, replay: 0/1}
 *      limits: {crashes: 3}
 *
 * A key of faults is a group, or else a single kind. The rate of a group is that of each of its
 * kinds; a kind with a rate of its own keeps that, wherever in the map it stands. */
#ifndef SCENARIOS_PLAN_TEXT_H
#define SCENARIOS_PLAN_TEXT_H

#include "model/text.h"
#include "scenarios/reader.h"

#define PLAN_RATE_MAX  1000000 /* of numerator and denominator */
#define PLAN_LIMIT_MAX 1000000

/* Initialises: no faults, and the usual budget of every group. */
void plan_text_begin(struct fault_plan *plan);

bool plan_text_faults(struct reader *reader, struct fault_plan *plan);
bool plan_text_limits(struct reader *reader, struct fault_plan *plan);

#endif
