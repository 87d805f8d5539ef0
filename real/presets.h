/* Presets: a scenario may start ledgers near a ceiling, as if that many entries had been made. The store
 * does it: the last statement of a transaction adds to the ledgers whose rows it has brought. No other
 * transaction sees such a row without its preset. A table of keys, `preset`, tells which rows have had
 * theirs: it is no table of the protocol, and the history leaves it out.
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

#define PRESETS_SCRIPT_SIZE 4096

/* The table of keys, in a schema that is made. */
void presets_script(const char *schema, char script[PRESETS_SCRIPT_SIZE]);

/* The last statement of a transaction with inserts into the table that is returned. */
enum row_table presets_statement(const struct scenario *scenario, const char *schema,
                                 char statement[PRESETS_SCRIPT_SIZE]);

/* The table whose new rows bring a preset, and the key of the row that it changes. False: such a
 * change brings none. */
bool presets_due(const struct scenario *scenario, const struct history_change *change,
                 enum row_table *table, int64_t *key);

/* What is added to the ledger of this row of that table, key first, and the column that it lies in;
 * 0: nothing. */
int64_t presets_of(const struct scenario *scenario, const int64_t *row, int *ledger);

#endif
