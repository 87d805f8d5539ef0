/* Views for a person who looks at a schema with psql: what the digits of its ledgers say, and the
 * history with tables and columns by their names. Nothing of Assay reads them.
 *
 *      changes           every recorded change: when, in which transaction, of which row, to what
 *      activity_ledgers  seed 000: the fields of every activity's ledger,
 *      guid_ledgers      ... and of every GUID's
 *      earlier_ledgers   seed 003: likewise
 *      seq_states        seed 001: states by name
 *      flow_digits       seed 002: one row an activity of a flow, its digit by name
 *      entry_states      seed 004: statuses by name */
#ifndef REAL_VIEWS_H
#define REAL_VIEWS_H

#include <stdint.h>

#define VIEWS_SCRIPT_SIZE 32768

/* Of a schema that store_pg_make_schema made of these tables, and that has a history. */
void views_script(const char *schema, uint64_t tables, char script[VIEWS_SCRIPT_SIZE]);

#endif
