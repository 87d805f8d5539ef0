/* The generic teller: values, changes, dumps and quotes of rows, in the words of the table
 * descriptions (model/table.h). A kind of column has one form everywhere: a ledger is its digits, an
 * enum its name, a reference the name of the row, a time t=12. A protocol only tells what is not in
 * a description (sim_part of part.h).
 *
 * (TL1) No text depends on an address, a slot or the number of a key that a description calls REF. */
#ifndef SIM_TELLER_H
#define SIM_TELLER_H

#include "sim/trace.h"

/* A value of a column: "000010000000001", "complete", "left", "t=12", or a number. */
struct name teller_value(const struct names *names, enum row_table table, int column,
                         int64_t value);

/* What an event changed, row by row, what it published, and the status that it led to. */
void teller_changes(const struct trace_effect *effect);

/* What an event calls a row: "left" for the activity ledger of left. */
struct name teller_brief(const struct trace_effect *effect, enum row_table table, uint32_t slot);

/* Every row of every table that has columns to show, and every status. */
void teller_dump(FILE *out, const struct names *names);

/* The column of a table that a sentence quotes; -1: it only names the row. */
int teller_quoted(enum row_table table);

#endif
