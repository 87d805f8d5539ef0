/* The words of the activity protocol; see sim_part (part.h) for what each is. Private to sim/. */
#ifndef SIM_ACTIVITY_WORDS_H
#define SIM_ACTIVITY_WORDS_H

#include "sim/story.h"

/* "job", or "job 2" where there are several. */
struct name activity_job_name(const struct names *names, int64_t job);
struct name activity_activity_name(const struct names *names, int64_t activity);

/* The activity that a GUID is for, with its round and its pending answer. */
struct name activity_guid_name(const struct names *names, int64_t guid);

struct name activity_thing_name(const struct names *names, enum row_table table, int64_t key);
void activity_row_name(const struct names *names, enum row_table table, uint32_t slot,
                       struct name *name);
struct name activity_subject_name(const struct names *names, const int64_t *message);
struct name activity_message_name(const struct names *names, const int64_t *message);
void activity_tell_sent(const struct trace_effect *effect);
bool activity_tell_change(const struct trace_effect *effect, const struct row_change *change);
extern const enum row_table activity_order[];
bool activity_is_child(const struct run_event *event, const int64_t *message);
bool activity_reads_ledger(enum bundle_name bundle);
const char *activity_skip_reason(enum bundle_name name);
const char *activity_remark(const struct run_event *event);
const char *activity_kind_text(int64_t kind);
void activity_tell_also(const struct story_telling *telling, char *out, size_t size);
void activity_tell_ledgers(const struct story_telling *telling);

#endif
