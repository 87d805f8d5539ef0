#include "bench/minimal.h"

#include "bench/pgbench.h"
#include "model/check.h"
#include "scenarios/builtin.h"

#include <inttypes.h>
#include <stdio.h>
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

static struct store_pg *open_store(const char *dsn, struct error *error)
{
    struct store_pg_options options = {.dsn = dsn,
                                       .schema = "minimal",
                                       .primitives = primitive_table,
                                       .primitive_count = PRIMITIVE_COUNT};
    return store_pg_open(&options, error);
}

static bool make_rows(const struct minimal_load *load, struct error *error)
{
    char count[80];
    struct store_pg *store = open_store(load->dsn, error);
    if (store == NULL) {
        return false;
    }
    snprintf(count, sizeof count, "SET minimal.messages = %" PRIu32, load->messages);
    char *schema = text_of("schema");
    bool made = store_pg_run(store, count) && store_pg_run(store, schema) &&
                store_pg_run(store, "VACUUM ANALYZE") && store_pg_run(store, "CHECKPOINT");
    if (!made) {
        snprintf(error->text, sizeof error->text, "%s", store_pg_why_not(store));
    }
    free(schema);
    store_pg_close(store);
    return made;
}

static bool ran_dry(const char *dsn)
{
    int64_t left = 1;
    struct error ignored;
    struct store_pg *store = open_store(dsn, &ignored);
    bool asked = store != NULL && store_pg_ask(store,
                                               "SELECT count(*) FROM minimal.message "
                                               "WHERE kind = 3 AND visible_at = 0",
                                               &left);
    store_pg_close(store);
    return asked && left == 0;
}

bool minimal_run(const struct minimal *minimal, const struct minimal_load *load, double *rate,
                 bool *dry, struct error *error)
{
    char *script = text_of(minimal->name);
    struct pgbench pgbench = {.dsn = load->dsn,
                              .script = script,
                              .clients = load->clients,
                              .seconds = load->seconds,
                              .interrupted = load->interrupted};
    bool made = make_rows(load, error);
    bool measured = made && pgbench_run(&pgbench, rate, error->text, sizeof error->text);
    *dry = made && ran_dry(load->dsn);
    free(script);
    return measured || *dry;
}
