/* Of a build that found no libpq: no schema is ever made, and none is found. */
#include "real/own_schema.h"

#include "model/check.h"

#include <stdio.h>

static bool say(struct store_pg_problem *problem)
{
    snprintf(problem->text, sizeof problem->text,
             "this build cannot talk to PostgreSQL; install the Debian packages libpq5 and "
             "libpq-dev and build again");
    return false;
}

bool own_schema_make(struct own_schema *own, const struct own_schema_plan *plan,
                     struct store_pg_problem *problem)
{
    (void)plan;
    *own = (struct own_schema){.made = false};
    return say(problem);
}

bool own_schema_drop(struct own_schema *own, const char *dsn, struct store_pg_problem *problem)
{
    (void)dsn;
    (void)problem;
    CHECK(!own->made);
    return true;
}

void own_schema_leave(struct own_schema *own)
{
    CHECK(!own->made);
}

void own_schema_share(const char *name, char statement[OWN_SCHEMA_SHARE_SIZE])
{
    (void)name;
    statement[0] = '\0';
}

bool own_schema_look(const char *dsn, struct own_schema_list *list,
                     struct store_pg_problem *problem)
{
    (void)dsn;
    *list = (struct own_schema_list){0};
    return say(problem);
}

bool own_schema_remove(const char *dsn, const char *name, bool *removed,
                       struct store_pg_problem *problem)
{
    (void)dsn;
    (void)name;
    *removed = false;
    return say(problem);
}
