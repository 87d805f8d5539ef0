/* The tables of model/rows.h as SQL: what they and their columns are called, and the script that
 * makes or drops them in a schema of Assay's own name.
 *
 * Text only; store.h runs it. Of primitives it knows the foreign keys alone.
 *
 * (H1) Everything that Assay makes is in one schema and goes with it.
 * (H2) A cell has the type that cell.h gives it: in most tables it is a bigint and never null, 0 meaning
 *      "none" as in the rows of the simulation (R1).
 * (H3) A schema that is there already is not touched: making it again fails.
 * (H4) A name that passes schema_name_is_sound needs no quotes in SQL.
 * (H5) A foreign key to a table that is not made is not made.
 * (H6) What time it is, the server says: no statement gets the time from its client, unless the
 *      schema was made for lockstep (E-SEQ-13). */
#ifndef REAL_SCHEMA_H
#define REAL_SCHEMA_H

#include "model/table.h"

#include <inttypes.h>

#define SCHEMA_NAME_SIZE   48
#define SCHEMA_SCRIPT_SIZE 16384

/* The function that a missed requirement calls: it raises SQLSTATE SCHEMA_REFUSAL_CLASS and the
 * refusal's number in three digits. PostgreSQL and the standard leave this class alone. */
#define SCHEMA_REFUSE        "refuse"
#define SCHEMA_REFUSAL_CLASS "AS"

/* The clocks of a schema, functions without arguments that return bigint, in milliseconds. The store's
 * clock, by which claims and leases go, is one moment for a whole transaction and counts from the
 * year 2000; the wall clock counts from 1970. Both are the server's. */
#define SCHEMA_CLOCK "store_clock"
#define SCHEMA_WALL  "wall_clock"

/* A time as SQL in milliseconds since 1970, as both clocks round it. */
#define SCHEMA_MS_OF(time) "(date_part('epoch', " time ") * 1000)::bigint"

/* How the store's clock leaps: transactions that begin at `from` or later, in milliseconds since 1970,
 * see it so far ahead of the server's; the last leap that applies counts. */
#define SCHEMA_LEAPS_MAX 8
struct schema_leaps {
    unsigned count;
    struct {
        int64_t from, ahead;
    } at[SCHEMA_LEAPS_MAX];
};

/* The last leap is yet to come, and no transaction sees it halfway: a new function is seen at once, also
 * by transactions that are open. So the script fails unless it ends SCHEMA_LEAP_MARGIN_MS before
 * that leap. */
#define SCHEMA_LEAP_MARGIN_MS 50
void schema_leap_script(const char *name, const struct schema_leaps *leaps,
                        char script[SCHEMA_SCRIPT_SIZE]);

/* For lockstep with a simulation: the clocks are what each connection sets them to. */
#define SCHEMA_SET_CLOCK "SET assay.clock = '%" PRId64 "'"
#define SCHEMA_SET_WALL  "SET assay.wall = '%" PRId64 "'"
void schema_lockstep_script(const char *name, char script[SCHEMA_SCRIPT_SIZE]);

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
