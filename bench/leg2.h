/* Whole Leg2 messages: a queue full of them, and the SQL that Assay takes one through with, as a
 * script for pgbench.
 *
 * The rows are those of jobs whose trigger has done Leg1 and whose task was answered: job,
 * activity, task and message. Each message is for another job, and spawns what the graph says.
 *
 * The script is recorded, not written: one message is taken through by the engines, and every
 * bundle that they send becomes one pipeline of the script, BEGIN and COMMIT included, with the
 * statements of sql.h. What the message says becomes a variable; what is minted from it (the
 * children's keys) becomes a hash of the GUID, since pgbench cannot mint. A claim stands alone, in
 * a transaction of its own: pgbench takes no values from within a pipeline. So do the engines'
 * here, since their workers let go of the children that they would go on with. */
#ifndef BENCH_LEG2_H
#define BENCH_LEG2_H

#include "model/error.h"
#include "model/protocol.h"
#include "real/store.h"

#define LEG2_SCRIPT_SIZE ((size_t)128 * 1024)

/* Makes the schema with so many messages in it. */
bool leg2_prepare(const char *dsn, const char *schema, uint32_t messages, struct error *error);

/* How many of them are not acked yet. */
bool leg2_left(const char *dsn, const char *schema, int64_t *left, struct error *error);

/* Takes one message through and writes the script down. */
bool leg2_record(const char *dsn, const char *schema, const struct rules *rules,
                 char script[LEG2_SCRIPT_SIZE], struct error *error);

#endif
