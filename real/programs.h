/* Where PostgreSQL's server programs are.
 *
 * Debian keeps them out of the PATH, a folder for each version. Looked for in this order: the
 * folder that the caller names; the one that the environment's ASSAY_POSTGRES names; Debian's, the
 * highest version first; those of the PATH. Where one is named, no other is looked at. */
#ifndef REAL_PROGRAMS_H
#define REAL_PROGRAMS_H

#include "real/cluster_path.h"

#include <limits.h>

#define PROGRAMS_VERSION_LEAST 15

struct programs {
    char folder[PATH_MAX - 64]; /* absolute; holds initdb and postgres */
};

/* False: *error says which Debian package has them. */
bool programs_find(struct programs *programs, const char *named, struct error *error);

/* Reads what `postgres --version` prints: "15.18" of "postgres (PostgreSQL) 15.18 (Debian ...)".
 * False: it is none, or one that is too old. */
bool programs_version(const char *printed, char *version, unsigned long size, struct error *error);

#endif
