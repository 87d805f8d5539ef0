/* Schemas on a server that may be foreign: what is dropped, and what is never touched. */
#include "model/pipeline.h"
#include "model/protocol.h"
#include "real/own_schema.h"
#include "real/tests/server.h"

#include <stdarg.h>
#include <string.h>

static struct store_pg *watcher; /* runs what the tests do to schemas; shares in no lock */
static struct error error;

static void begin(void)
{
    if (server_dsn() == NULL) {
        cr_skip_test("%s", getenv(SERVER_WITHOUT_VARIABLE));
    }
    watcher =
        store_pg_open(&(struct store_pg_options){.dsn = server_dsn(), .schema = "public"}, &error);
    cr_assert_not_null(watcher, "%s", error.text);
}

static void end(void)
{
    store_pg_close(watcher);
}

TestSuite(own_schema, .init = begin, .fini = end);

__attribute__((format(printf, 1, 2))) static void run(const char *format, ...)
{
    char script[2000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(script, sizeof script, format, arguments);
    va_end(arguments);
    cr_assert(store_pg_run(watcher, script), "%s: %s", script, store_pg_why_not(watcher));
}

static bool is_there(const char *schema)
{
    char query[200];
    int64_t count = 0;
    snprintf(query, sizeof query, "SELECT count(*) FROM pg_namespace WHERE nspname = '%s'", schema);
    cr_assert(store_pg_ask(watcher, query, &count), "%s", store_pg_why_not(watcher));
    return count == 1;
}

static void make(struct own_schema *own, bool unmarked)
{
    struct own_schema_plan plan = {.dsn = server_dsn(),
                                   .verb = "test",
                                   .about = "it's a test",
                                   .tables = TABLE_SET(JOB),
                                   .unmarked = unmarked};
    cr_assert(own_schema_make(own, &plan, &error), "%s", error.text);
    cr_assert(is_there(own->name));
}

/* The two numbers of its lock, in SQL. */
static const char *key_of(const char *schema)
{
    static char key[80];
    const char *chance = schema + strlen("assay_test_");
    snprintf(key, sizeof key, "x'%.8s'::int, x'%.8s'::int", chance, chance + 8);
    return key;
}

/* Waits until the server knows that nobody has it any more. */
static void await_no_holder(const char *schema)
{
    run("SELECT pg_advisory_lock(%s)", key_of(schema));
    run("SELECT pg_advisory_unlock(%s)", key_of(schema));
}

/* Its maker goes. */
static void leave(struct own_schema *own)
{
    own_schema_leave(own);
    await_no_holder(own->name);
}

/* As the look finds it; OWN_SCHEMA_STATES: it does not. */
static enum own_schema_state state_of(const char *schema)
{
    struct own_schema_list list;
    cr_assert(own_schema_look(server_dsn(), &list, &error), "%s", error.text);
    for (size_t i = 0; i < list.count; i++) {
        if (strcmp(list.each[i].name, schema) == 0) {
            return list.each[i].state;
        }
    }
    return OWN_SCHEMA_STATES;
}

static bool removes(const char *schema)
{
    bool removed = true;
    cr_assert(own_schema_remove(server_dsn(), schema, &removed, &error), "%s", error.text);
    return removed;
}

/* ---- its own --------------------------------------------------------------------------------- */

/* (OS1) */
Test(own_schema, is_made_and_dropped_and_two_are_never_the_same)
{
    struct own_schema one, other;
    make(&one, false);
    make(&other, true);
    cr_expect_str_neq(one.name, other.name);
    cr_expect(own_schema_drop(&one, server_dsn(), &error), "%s", error.text);
    cr_expect_not(is_there(one.name));
    cr_expect(is_there(other.name));
    cr_expect(own_schema_drop(&other, server_dsn(), &error), "%s", error.text);
    cr_expect_not(is_there(other.name));
}

/* (OS2) */
Test(own_schema, that_could_not_be_made_is_not_dropped)
{
    struct own_schema own;
    char dsn[400];
    run("DROP SCHEMA IF EXISTS precious CASCADE; CREATE SCHEMA precious");
    run("DROP ROLE IF EXISTS poor; CREATE ROLE poor LOGIN");
    snprintf(dsn, sizeof dsn, "%s user=poor", server_dsn());
    cr_expect_not(own_schema_make(
        &own, &(struct own_schema_plan){.dsn = dsn, .verb = "test", .about = ""}, &error));
    cr_expect_not_null(strstr(error.text, "permission denied"), "%s", error.text);
    memcpy(own.name, "precious", sizeof "precious"); /* as if that had been in the way */
    cr_expect(own_schema_drop(&own, server_dsn(), &error));
    cr_expect(is_there("precious"), "nobody here made it");
    run("DROP SCHEMA precious; DROP ROLE poor");
}

/* (OS3) */
Test(own_schema, is_left_without_a_mark_if_it_is_to_be_kept)
{
    struct own_schema own;
    make(&own, true);
    leave(&own);
    cr_expect_eq(state_of(own.name), OWN_SCHEMA_STATES);
    cr_expect_not(removes(own.name));
    cr_expect(is_there(own.name));
    run("DROP SCHEMA %s CASCADE", own.name);
}

/* ---- what others left ------------------------------------------------------------------------ */

#define LIKE_OURS "assay_test_0123456789abcdef"

/* What befalls a marked schema ("@" in the script), whose maker goes unless it is held; what is
 * found of the one called `name` then ("@": it), and that it is removed only if its maker is gone.
 */
static const struct {
    const char *claim, *script, *name;
    bool held;
    enum own_schema_state state;
} fates[] = {
    {"its maker lives", "SELECT 1", "@", true, OWN_SCHEMA_HELD},
    {"its maker is gone", "SELECT 1", "@", false, OWN_SCHEMA_GONE},
    {"the server was started again",
     "DO $x$ BEGIN EXECUTE format('COMMENT ON SCHEMA @ IS %L', "
     "  regexp_replace(obj_description('@'::regnamespace), '[0-9]+$', '1')); END $x$",
     "@", false, OWN_SCHEMA_UNSURE},
    {"it was renamed", "ALTER SCHEMA @ RENAME TO " LIKE_OURS, LIKE_OURS, false, OWN_SCHEMA_STATES},
    {"its comment is gone", "COMMENT ON SCHEMA @ IS NULL", "@", false, OWN_SCHEMA_STATES},
    {"it was made again, with its comment",
     "DO $x$ DECLARE said text := obj_description('@'::regnamespace); BEGIN "
     "  DROP SCHEMA @ CASCADE; CREATE SCHEMA @; "
     "  EXECUTE format('COMMENT ON SCHEMA @ IS %L', said); END $x$",
     "@", false, OWN_SCHEMA_STATES},
    {"another one has a name like that", "CREATE SCHEMA " LIKE_OURS, LIKE_OURS, false,
     OWN_SCHEMA_STATES},
    {"another one has a copy of its comment",
     "CREATE SCHEMA " LIKE_OURS "; DO $x$ BEGIN EXECUTE format('COMMENT ON SCHEMA " LIKE_OURS
     " IS %L', obj_description('@'::regnamespace)); END $x$",
     LIKE_OURS, false, OWN_SCHEMA_STATES},
    {"another one has another name and a copy of its comment",
     "CREATE SCHEMA precious; DO $x$ BEGIN EXECUTE format('COMMENT ON SCHEMA precious"
     " IS %L', obj_description('@'::regnamespace)); END $x$",
     "precious", false, OWN_SCHEMA_STATES},
};

static void put_name(const char *script, const char *name, char *out, size_t size)
{
    size_t used = 0;
    for (const char *at = script; *at != '\0' && used + SCHEMA_NAME_SIZE < size; at++) {
        used += (size_t)snprintf(out + used, size - used, *at == '@' ? "%s" : "%.1s",
                                 *at == '@' ? name : at);
    }
}

Test(own_schema, is_removed_only_if_it_carries_its_own_mark_and_its_maker_is_gone)
{
    for (size_t i = 0; i < COUNT(fates); i++) {
        char script[1000] = "", name[SCHEMA_NAME_SIZE * 2] = "";
        struct own_schema own;
        make(&own, false);
        put_name(fates[i].script, own.name, script, sizeof script);
        put_name(fates[i].name, own.name, name, sizeof name);
        run("%s", script);
        if (!fates[i].held) {
            leave(&own);
        }
        cr_expect_eq(state_of(name), fates[i].state, "%s: %d", fates[i].claim, (int)state_of(name));
        bool goes = fates[i].state == OWN_SCHEMA_GONE;
        cr_expect_eq(removes(name), goes, "%s", fates[i].claim);
        cr_expect_neq(is_there(name), goes, "%s", fates[i].claim);
        own_schema_leave(&own);
        run("DROP SCHEMA IF EXISTS %s CASCADE; DROP SCHEMA IF EXISTS %s CASCADE", name, own.name);
    }
}

/* The maker's own connection was cut, one of its workers' was not. (OS4) */
Test(own_schema, whose_worker_is_connected_is_held)
{
    struct own_schema own;
    make(&own, false);
    struct store_pg *worker =
        store_pg_open(&(struct store_pg_options){.dsn = server_dsn(), .schema = own.name}, &error);
    cr_assert_not_null(worker, "%s", error.text);
    own_schema_leave(&own);
    cr_expect_eq(state_of(own.name), OWN_SCHEMA_HELD);
    cr_expect_not(removes(own.name));
    store_pg_close(worker);
    await_no_holder(own.name);
    cr_expect(removes(own.name));
}

/* (OS5) */
Test(own_schema, is_removed_once_by_two_who_clean_up)
{
    struct own_schema own;
    int64_t locked = 0;
    char lock[200];
    make(&own, false);
    leave(&own);
    snprintf(lock, sizeof lock, "SELECT pg_try_advisory_lock(%s)::int::bigint", key_of(own.name));
    cr_assert(store_pg_ask(watcher, lock, &locked) && locked == 1); /* the other one is at it */
    cr_expect_not(removes(own.name));
    cr_expect(is_there(own.name));
    run("SELECT pg_advisory_unlock_all()");
    cr_expect(removes(own.name));
    cr_expect_not(removes(own.name), "it is gone");
}

/* (H1) */
Test(own_schema, goes_with_the_roles_that_were_made_for_it_and_no_others)
{
    struct own_schema own;
    struct roles roles, others;
    uint64_t tables = protocol_pipeline.tables;
    int64_t count = -1;
    cr_assert(
        own_schema_make(&own,
                        &(struct own_schema_plan){
                            .dsn = server_dsn(), .verb = "test", .about = "", .tables = tables},
                        &error));
    roles_draw(&roles, protocol_pipeline.principals);
    roles_draw(&others, protocol_pipeline.principals);
    cr_assert(store_pg_make_roles(server_dsn(), own.name, &roles, &error), "%s", error.text);
    run("CREATE ROLE %s", others.names[PRINCIPAL_NONE + 1]);
    leave(&own);
    cr_expect(removes(own.name));
    cr_assert(store_pg_ask(watcher, "SELECT count(*) FROM pg_roles WHERE rolname LIKE 'assay\\_%'",
                           &count));
    cr_expect_eq(count, 1, "%d", (int)count);
    run("DROP ROLE %s", others.names[PRINCIPAL_NONE + 1]);
}
