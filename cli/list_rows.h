/* What `assay list` prints of scenarios, faults, promises and sabotages, as text or as JSON lines.
 * Each function writes what `id` names ("" for all) and returns how many that were. */
#ifndef CLI_LIST_ROWS_H
#define CLI_LIST_ROWS_H

#include "model/error.h"
#include "reports/format.h"

#include <stdbool.h>
#include <stdio.h>

/* What runs left in their folder: how often each clause was evaluated, each path seen, each
 * fault fired. */
struct list_coverage {
    void *json; /* the file, parsed */
};

bool list_coverage_load(const char *folder, struct list_coverage *coverage, struct error *error);
void list_coverage_free(struct list_coverage *coverage);

int list_rows_scenarios(FILE *out, enum format_kind format, const char *id);
int list_rows_faults(FILE *out, enum format_kind format, const char *id,
                     const struct list_coverage *coverage);

/* Clauses of kind safe, live and path, or all; `id` may be a family. `coverage` may be NULL. */
int list_rows_promises(FILE *out, enum format_kind format, const char *id, bool all,
                       const struct list_coverage *coverage);

/* Named ones first, then those that are enumerated. */
int list_rows_sabotages(FILE *out, enum format_kind format, const char *id);

#endif
