/* The digest of a run: a hash of every step, in order, by which two runs are compared.
 *
 * Turns, faults, bundles, outcomes, tables and columns enter it by their names, never by the numbers
 * of their enums, so that an enum may be reordered or lose a member and every digest stays the same.
 * A name that changes alters the digests of the runs in which it occurs. The names are hashed once,
 * when a run is made.
 *
 * (DG1) The hash of a name depends on the name and its class alone.
 * (DG2) A new row adds its cells in no order: the order of the columns does not matter.
 * (DG3) No two names of a digest have the same hash. */
#ifndef SIM_DIGEST_H
#define SIM_DIGEST_H

#include "sim/run.h"

/* The hash of each name, by enum. */
struct digest_names {
    uint64_t turn[RUN_TURN_COUNT];
    uint64_t fault[FAULT_KIND_COUNT];
    uint64_t bundle[BUNDLE_NAME_COUNT];
    uint64_t outcome[OUTCOME_KIND_COUNT];
    uint64_t refusal[REFUSAL_COUNT];
    uint64_t aborted[ABORT_CLASS_COUNT];
    uint64_t inserted[TABLE_COUNT];
    uint64_t deleted[TABLE_COUNT];
    uint64_t cell[TABLE_COUNT][1 + ROW_COLUMNS_MAX]; /* the key, then the columns */
};

/* The hash of a name in a class, which is such a hash, too; 0: the name is itself a class. */
uint64_t digest_name(uint64_t class, const char *name);

/* The names of this program; those of tables without a row in `rows` are left out. */
void digest_names_make(struct digest_names *names, const struct rows *rows);

/* The digest after a commit's changes. Old values are left out: earlier changes have contributed
 * them. */
uint64_t digest_changes(const struct digest_names *names, uint64_t digest, const struct rows *rows,
                        const struct row_change *changes, size_t count);

/* The digest after the step; its bundle and outcome are those of the run. */
uint64_t digest_step(const struct run *run, const struct run_event *event);

#endif
