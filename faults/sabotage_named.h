/* The sabotages that have a name: bugs that real systems had, or that a reading of the
 * specification leads to. Private to faults/; sabotage.h is the interface. */
#ifndef FAULTS_SABOTAGE_NAMED_H
#define FAULTS_SABOTAGE_NAMED_H

#include "faults/sabotage.h"

size_t sabotage_named_count(void);
void sabotage_named_get(size_t index, struct sabotage *out);
void sabotage_named_primitives(const struct sabotage *sabotage,
                               struct primitive table[SABOTAGE_TABLE_SIZE]);
void sabotage_named_ready(const struct sabotage *sabotage, struct sabotage_memory *memory,
                          const struct bundle *next, const struct rows *rows);
void sabotage_named_bundle(const struct sabotage *sabotage, struct sabotage_memory *memory,
                           const struct worker *worker, struct bundle *bundle);
bool sabotage_named_outcome(const struct sabotage *sabotage, struct sabotage_memory *memory,
                            const struct worker *worker, const struct bundle *sent,
                            struct outcome *outcome);
bool sabotage_named_tears(const struct sabotage *sabotage);

#endif
