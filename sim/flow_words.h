/* The words of the key protocol; see sim_part (part.h) for what each is. Private to sim/. */
#ifndef SIM_FLOW_WORDS_H
#define SIM_FLOW_WORDS_H

#include "sim/part.h"
#include "sim/story.h"

/* "flow", "flow 2" where there are several, "flow 2/call" the one that its activity call awaits. */
struct name flow_name(const struct names *names, int64_t flow);

/* "fox", "fox of flow 2", "try of flow 2/call". */
struct name flow_activity_name(const struct names *names, int64_t flow, int64_t position);

struct name flow_thing_name(const struct names *names, enum row_table table, int64_t key);
void flow_row_name(const struct names *names, enum row_table table, uint32_t slot,
                   struct name *name);
struct name flow_subject_name(const struct names *names, const int64_t *message);
struct name flow_message_name(const struct names *names, const int64_t *message);
void flow_tell_sent(const struct trace_effect *effect);
bool flow_tell_change(const struct trace_effect *effect, const struct row_change *change);
bool flow_status_changed(const struct trace_effect *effect, struct part_status *status);
const char *flow_skip_reason(enum bundle_name name);
const char *flow_kind_text(int64_t kind);
void flow_tell_ledgers(const struct story_telling *telling);

#endif
