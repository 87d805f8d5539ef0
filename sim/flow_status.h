/* The compositional status of a job of the key protocol: the keys of its first flow and of every flow
 * that is awaited below it, as one text (model/key_text.h, KEY-6), read off the rows. */
#ifndef SIM_FLOW_STATUS_H
#define SIM_FLOW_STATUS_H

#include "model/key_text.h"
#include "model/rows.h"
#include "sim/part.h"

#define FLOW_STATUS_FLOWS_MAX 20 /* a job of more has no status that is told */
_Static_assert(KEY_TEXT_SIZE(FLOW_STATUS_FLOWS_MAX) <= PART_STATUS_SIZE, "it fits");

/* The first flow of the job that this one belongs to. */
int64_t flow_status_first(const struct rows *rows, int64_t flow);

/* The status of the job that begins with this flow; empty: its flows compose to none, or are too
 * many. Returns how many flows it has. */
int flow_status(const struct rows *rows, int64_t first, char text[PART_STATUS_SIZE]);

#endif
