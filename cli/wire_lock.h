/* wire.lock: what a subject committed when it was swept last, and the findings that are accepted. It
 * lives in the user's repository: a change of the subject is swept only where it adds commits, and
 * fails only for findings that are new. A text file, a line each, sorted:
 *
 *      assay wire lock 1
 *      commit a insert into effects (job, step) values (?)
 *      finding exactly-once kill-after insert into effects (job, step) values (?)
 *
 * A commit is its worker and its statements; its number is not kept, which an added commit would
 * change for all that follow. */
#ifndef CLI_WIRE_LOCK_H
#define CLI_WIRE_LOCK_H

#include "wire/probe.h"

struct wire_lock {
    char *text; /* NULL: there was no file */
};

/* False: the file is there and is none, and `why` says so. */
bool wire_lock_read(struct wire_lock *lock, const char *path, char *why, size_t size);
void wire_lock_free(struct wire_lock *lock);

bool wire_lock_has_commit(const struct wire_lock *lock, const struct trial_commit *commit);
bool wire_lock_has_finding(const struct wire_lock *lock, const struct probe_finding *finding);

/* Writes what the sweep saw, and what the lock had. False: errno. */
bool wire_lock_write(const struct wire_lock *lock, const char *path,
                     const struct probe_result *result);

#endif
