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
    bool quiet;                   /* with --json only lines go to stdout */
    bool live;                    /* a progress line on stderr */
};

void wire_tell_trace(const struct wire_tell *tell, const struct probe_trace *trace);
void wire_tell_sweep(const struct wire_tell *tell, const struct probe_result *result);
/* A probe_options.progress; the context is the struct wire_tell. */
/* A probe_options.skip with the same context. */
bool wire_tell_skip(void *context, const struct trial_commit *commit);
/* Whether the finding is new: neither admitted by the documents nor accepted in the lock. */
bool wire_tell_is_new(const struct wire_tell *tell, const struct probe_finding *finding);
void wire_tell_progress(void *context, size_t runs, size_t planned);

#endif
