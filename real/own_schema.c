#include "real/own_schema.h"

#include "model/text.h"
#include "real/connection.h"

#include <stdlib.h>
#include <string.h>

#define CHANCE_DIGITS  16
#define ABOUT_SIZE     512
#define QUERY_SIZE     2048
#define REMOVE_WAIT_MS 5000 /* for a session that reads it */

/* The mark of a schema n, as it would be written now; and what is the same after a restart. */
#define MARK_NAME "' mark assay-1 ' || n.nspname || ' ' || n.oid || ' '"
#define MARK_NOW  MARK_NAME " || (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint"

/* ---- names and keys -------------------------------------------------------------------------- */

static void draw_name(const char *verb, char name[SCHEMA_NAME_SIZE])
{
    char chance[CHANCE_DIGITS + 1];
    roles_draw_digits(chance, CHANCE_DIGITS);
    snprintf(name, SCHEMA_NAME_SIZE, "assay_%s_%s", verb, chance);
    CHECK(schema_name_is_sound(name));
}

/* Two numbers of 32 bits: a space of keys that bundles, which lock by one of 64, never use. */
static bool key_of(const char *name, int32_t key[2])
{
    size_t length = strlen(name);
    const char *chance = name + length - CHANCE_DIGITS;
    if (length <= CHANCE_DIGITS || strncmp(name, "assay_", 6) != 0 || chance[-1] != '_' ||
        strspn(chance, "0123456789abcdef") != CHANCE_DIGITS) {
        return false;
    }
    uint64_t number = strtoull(chance, NULL, 16);
    key[0] = (int32_t)(uint32_t)(number >> 32);
    key[1] = (int32_t)(uint32_t)number;
    return true;
}

void own_schema_share(const char *name, char statement[OWN_SCHEMA_SHARE_SIZE])
{
    int32_t key[2];
    statement[0] = '\0';
    if (key_of(name, key)) {
        snprintf(statement, OWN_SCHEMA_SHARE_SIZE, "SELECT pg_advisory_lock_shared(%d, %d);",
                 key[0], key[1]);
    }
}

/* ---- making ---------------------------------------------------------------------------------- */

/* A text of one row and column; false: there is none. */
static bool ask(PGconn *connection, const char *query, char *text, size_t size)
{
    PGresult *result = PQexec(connection, query);
    bool told = PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1;
    snprintf(text, size, "%s", told ? PQgetvalue(result, 0, 0) : "");
    PQclear(result);
    return told;
}

static bool write_comment(PGconn *connection, const struct own_schema *own,
                          const struct own_schema_plan *plan)
{
    char query[QUERY_SIZE], mark[ABOUT_SIZE] = "", about[ABOUT_SIZE];
    snprintf(query, sizeof query,
             "SELECT ';' || " MARK_NOW " FROM pg_namespace n "
             "WHERE n.nspname = '%s'",
             own->name);
    if (!plan->unmarked && !ask(connection, query, mark, sizeof mark)) {
        return false;
    }
    snprintf(about, sizeof about, "%.200s%.200s", plan->about, mark);
    char *literal = PQescapeLiteral(connection, about, strlen(about));
    CHECK(literal != NULL);
    snprintf(query, sizeof query, "COMMENT ON SCHEMA %s IS %s", own->name, literal);
    PQfreemem(literal);
    return connection_run(connection, query);
}

/* Nothing ends this session but its end. */
static bool take_hold(PGconn *connection, const char *name)
{
    char share[OWN_SCHEMA_SHARE_SIZE];
    own_schema_share(name, share);
    return connection_run(connection, "SELECT set_config(name, '0', false) FROM pg_settings "
                                      "WHERE name = 'idle_session_timeout'") &&
           connection_run(connection, share);
}

/* In one transaction: it is there with its comment, or not at all (OS3). */
static bool make_on(PGconn *connection, const struct own_schema *own,
                    const struct own_schema_plan *plan)
{
    char script[SCHEMA_SCRIPT_SIZE], clocks[SCHEMA_SCRIPT_SIZE] = "";
    schema_create_script(own->name, plan->tables, script);
    if (plan->lockstep) {
        schema_lockstep_script(own->name, clocks);
    }
    return connection_run(connection, "SET client_min_messages = warning") &&
           (plan->unmarked || take_hold(connection, own->name)) &&
           connection_run(connection, "BEGIN") && connection_run(connection, script) &&
           connection_run(connection, clocks) && write_comment(connection, own, plan) &&
           connection_run(connection, "COMMIT");
}

bool own_schema_make(struct own_schema *own, const struct own_schema_plan *plan,
                     struct error *error)
{
    *own = (struct own_schema){.made = false};
    draw_name(plan->verb, own->name);
    PGconn *connection = connection_open(plan->dsn);
    own->made = PQstatus(connection) == CONNECTION_OK && make_on(connection, own, plan); /* OS2 */
    if (!own->made) {
        connection_explain(error, "no schema could be made", PQerrorMessage(connection));
    }
    if (own->made && !plan->unmarked) {
        own->hold = connection;
    } else {
        PQfinish(connection);
    }
    return own->made;
}

void own_schema_leave(struct own_schema *own)
{
    if (own->hold != NULL) {
        PQfinish(own->hold);
    }
    own->hold = NULL;
    own->made = false;
}

bool own_schema_drop(struct own_schema *own, const char *dsn, struct error *error)
{
    char script[SCHEMA_SCRIPT_SIZE];
    if (!own->made) {
        return true; /* OS2 */
    }
    schema_drop_script(own->name, script);
    PGconn *connection = connection_open(dsn);
    bool done = PQstatus(connection) == CONNECTION_OK &&
                connection_run(connection, "SET client_min_messages = warning") &&
                connection_run(connection, script);
    if (!done) {
        connection_explain(error, "the schema could not be dropped", PQerrorMessage(connection));
    }
    PQfinish(connection);
    own_schema_leave(own);
    return done;
}

/* ---- what others left ------------------------------------------------------------------------ */

/* One row each: its name, whether a session shares its lock, whether the server is still the one
 * that was started before. `where`: of which schemas n. */
static PGresult *find(PGconn *connection, const char *where)
{
    char query[QUERY_SIZE];
    snprintf(query, sizeof query,
             "SELECT n.nspname,\n"
             "  EXISTS (SELECT FROM pg_locks l, pg_database d\n"
             "    WHERE d.datname = current_database() AND l.database = d.oid\n"
             "      AND l.locktype = 'advisory' AND l.objsubid = 2 AND l.pid <> pg_backend_pid()\n"
             "      AND lpad(to_hex(l.classid::bigint), 8, '0')\n"
             "          || lpad(to_hex(l.objid::bigint), 8, '0') = right(n.nspname, 16)),\n"
             "  right(said, length(" MARK_NOW ")) = " MARK_NOW "\n"
             "FROM pg_namespace n, obj_description(n.oid, 'pg_namespace') said\n"
             "WHERE n.nspname ~ '^assay_[a-z]+_[0-9a-f]{16}$'\n"
             "  AND said ~ (" MARK_NAME " || '[0-9]+$') AND pg_has_role(n.nspowner, 'USAGE')\n"
             "  AND %s\n"
             "ORDER BY 1 LIMIT %d",
             where, OWN_SCHEMA_LIST_MAX);
    return PQexec(connection, query);
}

static bool is_true(const PGresult *result, int row, int column)
{
    return PQgetvalue(result, row, column)[0] == 't';
}

static enum own_schema_state state_of(const PGresult *result, int row)
{
    return is_true(result, row, 1)   ? OWN_SCHEMA_HELD
           : is_true(result, row, 2) ? OWN_SCHEMA_GONE
                                     : OWN_SCHEMA_UNSURE;
}

bool own_schema_look(const char *dsn, struct own_schema_list *list, struct error *error)
{
    *list = (struct own_schema_list){0};
    PGconn *connection = connection_open(dsn);
    PGresult *result = find(connection, "true");
    bool told = PQresultStatus(result) == PGRES_TUPLES_OK;
    for (int r = 0; told && r < PQntuples(result); r++) {
        snprintf(list->each[list->count].name, SCHEMA_NAME_SIZE, "%s", PQgetvalue(result, r, 0));
        list->each[list->count++].state = state_of(result, r);
    }
    if (!told) {
        connection_explain(error, "the schemas of killed processes cannot be listed",
                           PQerrorMessage(connection));
    }
    PQclear(result);
    PQfinish(connection);
    return told;
}

/* Roles that say that they were made for this schema (roles_script); what they had in it is gone
 * with it, and one that has anything else stays: DROP ROLE refuses. */
static bool remove_roles(PGconn *connection, const char *name)
{
    char query[QUERY_SIZE];
    snprintf(query, sizeof query,
             "SELECT r.rolname FROM pg_roles r WHERE r.rolname ~ '^assay_[a-z]+_[0-9a-f]{16}$' "
             "AND shobj_description(r.oid, 'pg_authid') = '" ROLES_COMMENT "%s'",
             name);
    PGresult *result = PQexec(connection, query);
    bool done = PQresultStatus(result) == PGRES_TUPLES_OK;
    for (int r = 0; done && r < PQntuples(result); r++) {
        snprintf(query, sizeof query, "DROP ROLE %s", PQgetvalue(result, r, 0));
        done = connection_run(connection, query);
    }
    PQclear(result);
    return done;
}

/* Under its lock, held exclusively. */
static bool remove_locked(PGconn *connection, const char *name, bool *removed)
{
    char script[SCHEMA_SCRIPT_SIZE], where[SCHEMA_NAME_SIZE + 32];
    snprintf(where, sizeof where, "n.nspname = '%s'", name);
    PGresult *result = find(connection, where);
    bool told = PQresultStatus(result) == PGRES_TUPLES_OK;
    bool gone = told && PQntuples(result) == 1 && state_of(result, 0) == OWN_SCHEMA_GONE;
    PQclear(result);
    if (!gone) {
        return told;
    }
    schema_drop_script(name, script);
    bool done = connection_run(connection, "BEGIN") && connection_run(connection, script) &&
                remove_roles(connection, name) && connection_run(connection, "COMMIT");
    *removed = done;
    return done;
}

bool own_schema_remove(const char *dsn, const char *name, bool *removed, struct error *error)
{
    int32_t key[2];
    char query[QUERY_SIZE], alone[8];
    *removed = false;
    if (!key_of(name, key)) {
        return true; /* none of ours */
    }
    PGconn *connection = connection_open(dsn);
    snprintf(query, sizeof query, "SET client_min_messages = warning; SET lock_timeout = %d",
             REMOVE_WAIT_MS);
    bool done = PQstatus(connection) == CONNECTION_OK && connection_run(connection, query);
    snprintf(query, sizeof query, "SELECT pg_try_advisory_lock(%d, %d)", key[0], key[1]);
    done = done && ask(connection, query, alone, sizeof alone) &&
           (alone[0] != 't' || remove_locked(connection, name, removed)); /* OS5 */
    if (!done) {
        connection_explain(error, name, PQerrorMessage(connection));
    }
    PQfinish(connection);
    return done;
}
