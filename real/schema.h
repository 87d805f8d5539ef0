/* The tables of model/rows.h as SQL: what they and their columns are called, and the script that
 * makes or drops them in a schema of Assay's own name.
 *
 * Text only; store.h runs it. Of primitives it knows the foreign keys alone.
 *
 * (H1) Everything that Assay makes is in one schema and goes with it.
 * (H2) A cell is a bigint and never null: 0 means "none", as in the rows of the simulation (R1).
 * (H3) A schema that is there already is not touched: making it again fails.
 * (H4) A name that passes schema_name_is_sound needs no quotes in SQL.
 * (H5) A foreign key to a table that is not made is not made. */
#ifndef REAL_SCHEMA_H
#define REAL_SCHEMA_H

#include "model/table.h"

#define SCHEMA_NAME_SIZE   48
#define SCHEMA_SCRIPT_SIZE 16384

/* The function that a missed requirement calls: it raises SQLSTATE SCHEMA_REFUSAL_CLASS and the
 * refusal's number in three digits. PostgreSQL and the standard leave this class alone. */
#define SCHEMA_REFUSE        "refuse"
#define SCHEMA_REFUSAL_CLASS "AS"

/* Lower-case letters, digits and '_', no digit first, shorter than SCHEMA_NAME_SIZE, and not one of
 * PostgreSQL's own (pg_...). */
bool schema_name_is_sound(const char *name);

const char *schema_table(enum row_table table);
int schema_columns(enum row_table table);
const char *schema_column(enum row_table table, int column);

/* With these tables (TABLE_SET). Sent in one message it takes effect whole or not at all. */
void schema_create_script(const char *name, uint64_t tables, char script[SCHEMA_SCRIPT_SIZE]);
void schema_drop_script(const char *name, char script[SCHEMA_SCRIPT_SIZE]);

#endif
