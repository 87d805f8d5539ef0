/* The stepper of a build that found no libpq: it says what is missing, and never does anything. */
#include "model/check.h"
#include "real/stepper.h"

#include <stdio.h>

static void say(struct store_pg_problem *problem)
{
    snprintf(problem->text, sizeof problem->text,
             "this build cannot talk to PostgreSQL; install the Debian packages libpq5 and "
             "libpq-dev and build again");
}

struct stepper *stepper_open(const struct stepper_options *options,
                             struct store_pg_problem *problem)
{
    (void)options;
    say(problem);
    return NULL;
}

bool stepper_connection_refused(const char *dsn, const char *role, unsigned limit, char sqlstate[6],
                                struct store_pg_problem *problem)
{
    (void)dsn;
    (void)role;
    (void)limit;
    sqlstate[0] = '\0';
    say(problem);
    return false;
}

/* ---- nobody has a stepper to call these with --------------------------------------------------
 */

void stepper_close(struct stepper *stepper)
{
    CHECK(stepper == NULL);
}

void stepper_primitives(struct stepper *stepper, const struct primitive *primitives, size_t count)
{
    (void)primitives;
    (void)count;
    CHECK(stepper != NULL && false);
}

const char *stepper_why_not(const struct stepper *stepper)
{
    CHECK(stepper != NULL && false);
    return NULL;
}

bool stepper_begin(struct stepper *stepper, unsigned connection, const struct bundle *bundle,
                   int64_t now)
{
    (void)connection;
    (void)bundle;
    (void)now;
    CHECK(stepper != NULL && false);
    return false;
}

int stepper_statements(const struct stepper *stepper, unsigned connection, unsigned call)
{
    (void)connection;
    (void)call;
    CHECK(stepper != NULL && false);
    return 0;
}

bool stepper_send(struct stepper *stepper, unsigned connection, unsigned call, int index)
{
    (void)connection;
    (void)call;
    (void)index;
    CHECK(stepper != NULL && false);
    return false;
}

bool stepper_end(struct stepper *stepper, unsigned connection, bool commit)
{
    (void)connection;
    (void)commit;
    CHECK(stepper != NULL && false);
    return false;
}

bool stepper_settle(struct stepper *stepper, bool deadlock, uint32_t *answered)
{
    (void)deadlock;
    (void)answered;
    CHECK(stepper != NULL && false);
    return false;
}

uint32_t stepper_blocked(const struct stepper *stepper)
{
    CHECK(stepper != NULL && false);
    return 0;
}

const struct stepper_answer *stepper_answer(const struct stepper *stepper, unsigned connection)
{
    (void)connection;
    CHECK(stepper != NULL && false);
    return NULL;
}

bool stepper_cancel(struct stepper *stepper, unsigned connection)
{
    (void)connection;
    CHECK(stepper != NULL && false);
    return false;
}

bool stepper_reset(struct stepper *stepper)
{
    CHECK(stepper != NULL && false);
    return false;
}

bool stepper_run(struct stepper *stepper, const char *script)
{
    (void)script;
    CHECK(stepper != NULL && false);
    return false;
}

bool stepper_rows(struct stepper *stepper, enum row_table table, store_pg_row *each, void *context)
{
    (void)table;
    (void)each;
    (void)context;
    CHECK(stepper != NULL && false);
    return false;
}
