/* A scenario may start ledgers next to a ceiling, as if so many had entered before. The server does
 * it: a trigger that waits for COMMIT adds to a ledger in the very transaction that the simulation
 * adds to it after, so that nobody ever sees the one without the other.
 *
 * It is no commit of the protocol. Whoever judges a history tells it apart (presets_due) and shows
 * the oracles the transaction without it.
 *
 * (PS1) The change of a preset is the last one of its row in its transaction, and adds to the
 *       ledger what the scenario says, and nothing else. */
#ifndef REAL_PRESETS_H
#define REAL_PRESETS_H

#include "real/history.h"
#include "scenarios/scenario.h"

#define PRESETS_SCRIPT_SIZE 8192

/* The trigger, in a schema that has a history. */
void presets_script(const struct scenario *scenario, const char *schema,
                    char script[PRESETS_SCRIPT_SIZE]);

/* The table whose new rows bring a preset, and the key of the row that it changes. False: such a
 * change brings none. */
bool presets_due(const struct scenario *scenario, const struct history_change *change,
                 enum row_table *table, int64_t *key);

/* What is added to the ledger of this row of that table, key first, and the column that it lies in;
 * 0: nothing. */
int64_t presets_of(const struct scenario *scenario, const int64_t *row, int *ledger);

#endif
