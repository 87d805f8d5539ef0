/* What `assay sabotage --real` needs of `assay real`. */
#ifndef CLI_REAL_H
#define CLI_REAL_H

#include "faults/sabotage.h"
#include "reports/artefacts.h"

#include <stddef.h>

/* Plants each of these bugs on a private PostgreSQL, runs its scenario once and says which promise
 * found it in the committed history. An exit status: CLI_INCOMPLETE if one was not found. */
int real_sabotages(const struct sabotage *list, size_t count, struct artefacts *results);

#endif
