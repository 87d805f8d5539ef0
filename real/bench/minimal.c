#include "real/bench/minimal.h"

#include "model/check.h"
#include "real/bench/pgbench.h"
#include "scenarios/builtin.h"

#include <stdlib.h>
#include <string.h>

extern const struct builtin minimal_scripts[]; /* minimal/NAME.sql */

const struct minimal minimal_list[] = {
    {"one-update", "one row updated"},
    {"step-2", "Step 2 as one statement"},
    {"leg2-in-4", "a whole Leg2 message in 4 transactions"},
    {"leg2-in-2", "a whole Leg2 message in 2 transactions"},
    {0},
};

/* A copy of an embedded file that ends with a 0. */
static char *text_of(const char *name)
{
    const struct builtin *file = minimal_scripts;
    while (strcmp(file->name, name) != 0) {
        file++;
        CHECK(file->name != NULL);
    }
    char *text = calloc(1, file->size + 1);
    CHECK(text != NULL);
    memcpy(text, file->text, file->size);
    return text;
}

static bool make_rows(const char *dsn, struct store_pg_problem *problem)
{
    struct store_pg_options options = {.dsn = dsn,
                                       .schema = "minimal",
                                       .primitives = primitive_table,
                                       .primitive_count = PRIMITIVE_COUNT};
    struct store_pg *store = store_pg_open(&options, problem);
    if (store == NULL) {
        return false;
    }
    char *schema = text_of("schema");
    bool made = store_pg_run(store, schema) && store_pg_run(store, "VACUUM ANALYZE") &&
                store_pg_run(store, "CHECKPOINT");
    if (!made) {
        *problem = (struct store_pg_problem){0};
        strncpy(problem->text, store_pg_why_not(store), sizeof problem->text - 1);
    }
    free(schema);
    store_pg_close(store);
    return made;
}

bool minimal_run(const struct minimal *minimal, const char *dsn, unsigned clients, int seconds,
                 double *rate, struct store_pg_problem *problem)
{
    char *script = text_of(minimal->name);
    struct pgbench pgbench = {.dsn = dsn, .script = script, .clients = clients, .seconds = seconds};
    bool measured =
        make_rows(dsn, problem) && pgbench_run(&pgbench, rate, problem->text, sizeof problem->text);
    free(script);
    return measured;
}
