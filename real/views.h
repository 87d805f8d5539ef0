/* Views for a person who looks at a schema with psql: what the digits of its ledgers say, and the
 * history with tables and columns by their names. Nothing of Assay reads them.
 *
 *      changes        every recorded change: when, in which transaction, of which row, to what
 *      TABLE_ledgers  of a table with a ledger: its fields, a row a ledger (activity, guid, earlier)
 *      TABLE_digits   of a table with a key: a row an activity, its digit by name (flow, flow_end)
 *      TABLE_states   of a table with enums: each by name, as COLUMN_is, before the row itself
 *
 * Which tables have which follows from the kinds of their columns (model/table.h). */
#ifndef REAL_VIEWS_H
#define REAL_VIEWS_H

#include <stdint.h>

#define VIEWS_SCRIPT_SIZE 32768

/* Of a schema that store_pg_make_schema made of these tables, and that has a history. */
void views_script(const char *schema, uint64_t tables, char script[VIEWS_SCRIPT_SIZE]);

#endif
