/* A server for a suite: one for all its tests, started by the process that runs them. The tests are
 * processes of their own, which hear of it through the environment. To be included once. */
#ifndef REAL_TESTS_SERVER_H
#define REAL_TESTS_SERVER_H

#include "real/cluster.h"
#include "real/schema.h"
#include "real/store.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#define SERVER_DSN_VARIABLE     "ASSAY_TEST_DSN"
#define SERVER_WITHOUT_VARIABLE "ASSAY_TEST_WITHOUT"

static struct cluster server_cluster;

ReportHook(PRE_ALL)(struct criterion_test_set *tests)
{
    (void)tests;
    struct error error = {"built without libpq: install libpq-dev and build again"};
    unsetenv(SERVER_DSN_VARIABLE);
    if (store_pg_is_there() &&
        cluster_start(&server_cluster,
                      &(struct cluster_options){.settings = "wal_level = logical\n"}, &error)) {
        setenv(SERVER_DSN_VARIABLE, cluster_dsn(&server_cluster), 1);
    } else {
        fprintf(stderr, "all of this suite is skipped: %s\n", error.text);
        setenv(SERVER_WITHOUT_VARIABLE, error.text, 1);
    }
}

ReportHook(POST_ALL)(struct criterion_global_stats *stats)
{
    (void)stats;
    struct error error;
    if (server_cluster.folder[0] != '\0' && !cluster_close(&server_cluster, &error)) {
        fprintf(stderr, "%s\n", error.text);
    }
}

static inline const char *server_dsn(void)
{
    return getenv(SERVER_DSN_VARIABLE);
}

/* For the beginning of every test: an empty schema, or the test is skipped. */
static inline void server_make_schema(const char *schema)
{
    struct error error;
    if (server_dsn() == NULL) {
        cr_skip_test("%s", getenv(SERVER_WITHOUT_VARIABLE));
    }
    cr_assert(store_pg_drop_schema(server_dsn(), schema, &error), "%s", error.text);
    cr_assert(store_pg_make_schema(server_dsn(), schema, UINT64_MAX, &error), "%s", error.text);
}

/* The clocks of the schema are what a test sets them to. */
static inline void server_set_clocks(const char *schema)
{
    char script[SCHEMA_SCRIPT_SIZE];
    struct error error;
    const struct store_pg_options options = {.dsn = server_dsn(), .schema = schema};
    struct store_pg *store = store_pg_open(&options, &error);
    cr_assert_not_null(store, "%s", error.text);
    schema_lockstep_script(schema, script);
    cr_assert(store_pg_run(store, script), "%s", store_pg_why_not(store));
    store_pg_close(store);
}

#endif
