#include "real/run_schema.h"

#include "real/presets.h"

#include <stdio.h>

static bool make_presets(const struct run_schema *made, const char *dsn, struct error *error)
{
    char script[PRESETS_SCRIPT_SIZE];
    struct store_pg *store =
        store_pg_open(&(struct store_pg_options){.dsn = dsn,
                                                 .schema = made->own.name,
                                                 .primitives = primitive_table,
                                                 .primitive_count = PRIMITIVE_COUNT},
                      error);
    if (store == NULL) {
        return false;
    }
    presets_script(made->own.name, script);
    bool done = store_pg_run(store, script) || error_set(error, "%s", store_pg_why_not(store));
    store_pg_close(store);
    return done;
}

bool run_schema_make(struct run_schema *made, const struct run_schema_plan *plan,
                     struct error *error)
{
    uint64_t tables = plan->scenario->protocol->tables;
    made->history = NULL;
    if (!own_schema_make(&made->own,
                         &(struct own_schema_plan){.dsn = plan->dsn,
                                                   .verb = "real",
                                                   .about = plan->about,
                                                   .tables = tables,
                                                   .unmarked = plan->unmarked},
                         error) ||
        (plan->presets && !make_presets(made, plan->dsn, error))) {
        return false;
    }
    made->history = history_begin(&(struct history_plan){.dsn = plan->dsn,
                                                         .schema = made->own.name,
                                                         .tables = tables,
                                                         .outlives = plan->outlives},
                                  error);
    return made->history != NULL;
}

bool run_schema_count_extras(struct store_pg *store, const char *schema, int64_t *extras)
{
    char query[600];
    snprintf(query, sizeof query,
             "SELECT (SELECT count(*) FROM pg_trigger JOIN pg_class AS c ON tgrelid = c.oid WHERE "
             "relnamespace = n.oid AND NOT tgisinternal) + (SELECT count(*) FROM pg_attrdef JOIN "
             "pg_class AS c ON adrelid = c.oid WHERE relnamespace = n.oid) + (SELECT count(*) FROM "
             "pg_constraint WHERE connamespace = n.oid AND contype = 'c') FROM pg_namespace AS n "
             "WHERE nspname = '%s'",
             schema);
    return store_pg_ask(store, query, extras);
}
