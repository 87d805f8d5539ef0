/* A build that found no libpq. store_pg_is_there says so, and whatever uses a server asks it first
 * (server_use of cli/server.h): no other function of store.h, stepper.h and own_schema.h is ever
 * called. They are one symbol here, so none of these headers is included. */
#include "model/check.h"

#include <stdbool.h>

bool store_pg_is_there(void);
bool store_pg_is_there(void)
{
    return false;
}

static void never_called(void)
{
    CHECK(store_pg_is_there());
}

#define NEVER(name) void name(void) __attribute__((alias("never_called")))

NEVER(decoding_begin);
NEVER(decoding_end);
NEVER(decoding_read);
NEVER(history_begin);
NEVER(history_catch_up);
NEVER(history_end);
NEVER(history_find);
NEVER(history_keep);
NEVER(history_lost);
NEVER(history_promote);
NEVER(history_read);
NEVER(history_tell);
NEVER(store_pg_ask);
NEVER(store_pg_backend);
NEVER(store_pg_break);
NEVER(store_pg_close);
NEVER(store_pg_cut);
NEVER(store_pg_drop_roles);
NEVER(store_pg_drop_schema);
NEVER(store_pg_execute);
NEVER(store_pg_is_well);
NEVER(store_pg_make_roles);
NEVER(store_pg_make_schema);
NEVER(store_pg_mark);
NEVER(store_pg_move);
NEVER(store_pg_now);
NEVER(store_pg_open);
NEVER(store_pg_query);
NEVER(store_pg_receive);
NEVER(store_pg_rows);
NEVER(store_pg_run);
NEVER(store_pg_schema);
NEVER(store_pg_send);
NEVER(store_pg_send_commit);
NEVER(store_pg_send_open);
NEVER(store_pg_slip_in);
NEVER(store_pg_time);
NEVER(store_pg_version);
NEVER(store_pg_why_not);
NEVER(stepper_answer);
NEVER(stepper_begin);
NEVER(stepper_blocked);
NEVER(stepper_cancel);
NEVER(stepper_close);
NEVER(stepper_connection_refused);
NEVER(stepper_end);
NEVER(stepper_open);
NEVER(stepper_primitives);
NEVER(stepper_reset);
NEVER(stepper_rows);
NEVER(stepper_run);
NEVER(stepper_send);
NEVER(stepper_settle);
NEVER(stepper_statements);
NEVER(stepper_wall);
NEVER(stepper_why_not);
NEVER(own_schema_drop);
NEVER(own_schema_leave);
NEVER(own_schema_look);
NEVER(own_schema_make);
NEVER(own_schema_remove);
NEVER(own_schema_share);
