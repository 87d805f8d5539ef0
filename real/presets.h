/* Presets: a scenario may start ledgers near a ceiling, as if that many entries had been made. The
 * server does it: a deferred trigger adds to the ledger at COMMIT, in the transaction after which the
 * simulation adds to it. No other transaction sees the row without its preset.
 *
 * A preset is no commit of the protocol. The judge of a history recognises it (presets_due) and
 * shows the oracles the transaction without it.
 *
 * (PS1) The change of a preset is the last one of its row in its transaction. It adds to the ledger
 *       what the scenario says and changes nothing else. */
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
