/* What a run on PostgreSQL is made in: a schema with the protocol's tables, and the history of it.
 *
 * (RS1) Nothing in the schema writes or judges by itself: it has tables, keys, indexes, its clocks and the
 *       function that refuses; no trigger, no DEFAULT, no CHECK (CUT-22). */
#ifndef REAL_RUN_SCHEMA_H
#define REAL_RUN_SCHEMA_H

#include "real/history.h"
#include "real/own_schema.h"
#include "scenarios/scenario.h"

struct run_schema_plan {
    const struct scenario *scenario;
    const char *dsn, *about;
    bool presets;  /* the scenario has some (presets.h) */
    bool unmarked; /* own_schema.h */
    bool outlives; /* history.h */
};

struct run_schema {
    struct own_schema own;
    struct history *history; /* NULL: there is none yet, or not any more */
};

/* False: *error says why; what is made by then is dropped with `own`. */
bool run_schema_make(struct run_schema *made, const struct run_schema_plan *plan,
                     struct error *error);

/* What the schema has that it must not have (RS1). False: the server cannot be asked. */
bool run_schema_count_extras(struct store_pg *store, const char *schema, int64_t *extras);

#endif
