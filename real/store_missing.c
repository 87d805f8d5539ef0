/* The store of a build that found no libpq: it says what is missing, and never does anything. */
#include "model/check.h"
#include "real/store.h"

#include <stdio.h>

static void say(struct store_pg_problem *problem)
{
    snprintf(problem->text, sizeof problem->text,
             "this build cannot talk to PostgreSQL; install the Debian packages libpq5 and "
             "libpq-dev and build again");
}

bool store_pg_is_there(void)
{
    return false;
}

bool store_pg_version(const char *dsn, char version[STORE_PG_VERSION_SIZE],
                      struct store_pg_problem *problem)
{
    (void)dsn;
    version[0] = '\0';
    say(problem);
    return false;
}

bool store_pg_make_schema(const char *dsn, const char *schema, uint64_t tables,
                          struct store_pg_problem *problem)
{
    (void)dsn;
    (void)schema;
    (void)tables;
    say(problem);
    return false;
}

bool store_pg_drop_schema(const char *dsn, const char *schema, struct store_pg_problem *problem)
{
    (void)dsn;
    (void)schema;
    say(problem);
    return false;
}

bool store_pg_make_roles(const char *dsn, const char *schema, const struct roles *roles,
                         struct store_pg_problem *problem)
{
    (void)dsn;
    (void)schema;
    (void)roles;
    say(problem);
    return false;
}

bool store_pg_drop_roles(const char *dsn, const struct roles *roles,
                         struct store_pg_problem *problem)
{
    (void)dsn;
    (void)roles;
    say(problem);
    return false;
}

struct store_pg *store_pg_open(const struct store_pg_options *options,
                               struct store_pg_problem *problem)
{
    (void)options;
    say(problem);
    return NULL;
}

/* ---- nobody has a store to call these with ----------------------------------------------------
 */

void store_pg_close(struct store_pg *store)
{
    CHECK(store == NULL);
}

bool store_pg_execute(struct store_pg *store, const struct bundle *bundle, int64_t now,
                      struct outcome *outcome)
{
    (void)bundle;
    (void)now;
    (void)outcome;
    CHECK(store != NULL && false);
    return false;
}

const char *store_pg_why_not(const struct store_pg *store)
{
    CHECK(store != NULL && false);
    return NULL;
}

void store_pg_send(struct store_pg *store, const struct bundle *bundle, int64_t now)
{
    (void)bundle;
    (void)now;
    CHECK(store != NULL && false);
}

bool store_pg_receive(struct store_pg *store, struct outcome *outcome)
{
    (void)outcome;
    CHECK(store != NULL && false);
    return false;
}

void store_pg_cut(struct store_pg *store)
{
    CHECK(store != NULL && false);
}

bool store_pg_send_open(struct store_pg *store, const struct bundle *bundle, int64_t now)
{
    (void)bundle;
    (void)now;
    CHECK(store != NULL && false);
    return false;
}

const char *store_pg_schema(const struct store_pg *store)
{
    CHECK(store != NULL && false);
    return "";
}

int64_t store_pg_slip_in(struct store_pg *store, const char *statement)
{
    (void)statement;
    CHECK(store != NULL && false);
    return -1;
}

void store_pg_send_commit(struct store_pg *store)
{
    CHECK(store != NULL && false);
}

bool store_pg_is_well(struct store_pg *store)
{
    CHECK(store != NULL && false);
    return false;
}

void store_pg_move(struct store_pg *store, const char *dsn)
{
    (void)dsn;
    CHECK(store != NULL && false);
}

void store_pg_break(struct store_pg *store)
{
    CHECK(store != NULL && false);
}

struct store_pg_mark store_pg_mark(const struct store_pg *store)
{
    CHECK(store != NULL && false);
    return (struct store_pg_mark){0};
}

int store_pg_backend(const struct store_pg *store)
{
    CHECK(store != NULL && false);
    return 0;
}

bool store_pg_run(struct store_pg *store, const char *script)
{
    (void)script;
    CHECK(store != NULL && false);
    return false;
}

bool store_pg_ask(struct store_pg *store, const char *query, int64_t *number)
{
    (void)query;
    (void)number;
    CHECK(store != NULL && false);
    return false;
}

bool store_pg_rows(struct store_pg *store, enum row_table table, store_pg_row *each, void *context)
{
    (void)table;
    (void)each;
    (void)context;
    CHECK(store != NULL && false);
    return false;
}

bool store_pg_query(struct store_pg *store, const char *text, store_pg_row *each, void *context)
{
    (void)text;
    (void)each;
    (void)context;
    CHECK(store != NULL && false);
    return false;
}
