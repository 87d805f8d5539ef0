/* What `assay wire` says: to people, and as lines of results. */
#ifndef CLI_WIRE_TELL_H
#define CLI_WIRE_TELL_H

#include "cli/results.h"
#include "cli/wire_lock.h"
#include "wire/probe.h"

struct wire_tell {
    const char *path; /* of the subject */
    const struct subject *subject;
    struct artefacts *results;
    const struct wire_lock *lock; /* --against; NULL: none */
    bool no_trace;                /* of a --point: only the point is told */
    bool quiet;                   /* with --json only lines go to stdout */
    bool live;                    /* a progress line on stderr */
};

/* Members of a probe_options; the context is the struct wire_tell. */
void wire_tell_trace(void *context, const struct probe_trace *trace);
void wire_tell_found(void *context, const struct probe_finding *finding);
void wire_tell_progress(void *context, size_t runs, size_t planned);
bool wire_tell_skip(void *context, const struct trial_commit *commit);

void wire_tell_sweep(const struct wire_tell *tell, const struct probe_result *result);
/* Whether the finding is new: neither admitted by the documents nor accepted in the lock. */
bool wire_tell_is_new(const struct wire_tell *tell, const struct probe_finding *finding);

#endif
