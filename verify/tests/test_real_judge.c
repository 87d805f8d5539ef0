/* What the judge of runs on PostgreSQL makes of courses that are built by hand: the order of commits
 * decides, and a history that lacks a change, or a word, is found out. */
#include "verify/real_judge.h"

#include "real/run_schema.h"
#include "real/tests/server.h"

#include <criterion/criterion.h>
#include <string.h>

static struct scenario scenario;
static struct run run;
static struct run_schema made;
static struct shared_page *page;
static struct store_pg *one, *other;

static struct store_pg *open_one(void)
{
    struct error error;
    struct store_pg *store =
        store_pg_open(&(struct store_pg_options){.dsn = server_dsn(),
                                                 .schema = made.own.name,
                                                 .primitives = primitive_table,
                                                 .primitive_count = PRIMITIVE_COUNT},
                      &error);
    cr_assert_not_null(store, "%s", error.text);
    return store;
}

/* '@' is the schema. */
static void must_run(struct store_pg *store, const char *format)
{
    char script[2000] = "";
    size_t used = 0;
    for (; *format != '\0'; format++) {
        bool schema = *format == '@';
        used += (size_t)snprintf(script + used, sizeof script - used, "%.*s",
                                 schema ? SCHEMA_NAME_SIZE : 1, schema ? made.own.name : format);
    }
    cr_assert(store_pg_run(store, script), "%s", store_pg_why_not(store));
}

static void make(void)
{
    struct error error;
    if (server_dsn() == NULL) {
        cr_skip_test("%s", getenv(SERVER_WITHOUT_VARIABLE));
    }
    cr_assert(scenario_load("inbox", &scenario, &error), "%s", error.text);
    cr_assert(run_make(&run, &scenario, NULL));
    cr_assert(run_schema_make(&made,
                              &(struct run_schema_plan){
                                  .scenario = &scenario, .dsn = server_dsn(), .about = "a test"},
                              &error),
              "%s", error.text);
    page = shared_page_make();
    cr_assert_not_null(page);
    one = open_one();
    other = open_one();
}

static void unmake(void)
{
    struct error error;
    if (one == NULL) {
        return;
    }
    store_pg_close(one);
    store_pg_close(other);
    shared_page_free(page);
    history_end(made.history);
    cr_expect(own_schema_drop(&made.own, server_dsn(), &error), "%s", error.text);
    run_free(&run);
}

TestSuite(real_judge, .init = make, .fini = unmake, .timeout = 60);

static struct real_verdict judge(void)
{
    struct error error;
    struct real_verdict verdict;
    const struct real_course course = {.page = page};
    cr_assert(history_read(made.history, &error), "%s", error.text);
    cr_assert(real_judge(&run, one, made.history, &course, &verdict), "%s", store_pg_why_not(one));
    return verdict;
}

/* What a store adds to the transaction of an actor. */
#define WORD " SELECT pg_logical_emit_message(true, '@', 'word ' || pg_backend_pid() || ' 1 0 0');"

/* The effect of message 1 in account 1. */
static void begin_course(void)
{
    must_run(one, "BEGIN; INSERT INTO @.account VALUES (1, 101), (2, 0);"
                  "INSERT INTO @.inbox VALUES (11, 1, 101);" WORD "COMMIT");
}

/* It was that of message 0: it is called so. */
static void put_right(struct store_pg *store)
{
    must_run(store, "BEGIN; UPDATE @.inbox SET amount = 100; UPDATE @.account SET balance = 100 "
                    "WHERE id = 1;" WORD);
}

/* The effect of message 1 in account 2, where it belongs. */
static void apply(struct store_pg *store)
{
    must_run(store, "BEGIN; INSERT INTO @.inbox VALUES (12, 2, 101); UPDATE @.account SET balance "
                    "= 101 WHERE id = 2;" WORD);
}

/* T1 writes last at 5 and commits at 10, T2 writes last at 6 and commits at 7: in between, message 1 was
 * applied twice. In the order of last writes it never was. (I2) */
Test(real_judge, a_breach_that_the_order_of_last_writes_hides_is_found)
{
    begin_course();
    put_right(one);
    apply(other);
    must_run(other, "COMMIT");
    must_run(one, "COMMIT");
    struct real_verdict verdict = judge();
    cr_expect_null(verdict.bug, "%s", verdict.bug);
    cr_assert(verdict.breach.broken);
    cr_expect_eq(verdict.breach.clause, CLAUSE_BOX_1);
    cr_expect_eq(verdict.commits, 3U);
}

/* The same writes, committed the other way round, break nothing: the order of last writes would find a
 * breach that the world never had if it were the one above. */
Test(real_judge, the_same_writes_committed_in_the_other_order_break_nothing)
{
    begin_course();
    apply(other);
    put_right(one);
    must_run(one, "COMMIT");
    must_run(other, "COMMIT");
    struct real_verdict verdict = judge();
    cr_expect_null(verdict.bug, "%s", verdict.bug);
    cr_expect_not(verdict.breach.broken, "%s", verdict.breach.why);
}

static void expect_bug(const char *words)
{
    struct real_verdict verdict = judge();
    cr_assert_not_null(verdict.bug);
    cr_expect_not_null(strstr(verdict.bug, words), "%s", verdict.bug);
}

/* A slot that was made too late lacks what committed before it. */
static void lose_what_was(void)
{
    struct error error;
    history_end(made.history);
    made.history = history_begin(&(struct history_plan){.dsn = server_dsn(),
                                                        .schema = made.own.name,
                                                        .tables = scenario.protocol->tables},
                                 &error);
    cr_assert_not_null(made.history, "%s", error.text);
}

/* (I3) */
Test(real_judge, a_history_that_lacks_a_row_does_not_end_with_the_final_rows)
{
    begin_course();
    lose_what_was();
    expect_bug("the rows are not what their history says");
}

/* (I3) */
Test(real_judge, a_history_that_lacks_an_insert_is_found_out_at_the_next_change)
{
    begin_course();
    lose_what_was();
    put_right(one);
    must_run(one, "COMMIT");
    expect_bug("update of a missing row");
}

/* What it would take to see that nothing is missing is missing itself. */
Test(real_judge, a_change_that_does_not_say_what_it_found_is_refused)
{
    struct error error;
    begin_course();
    must_run(one, "ALTER TABLE @.account REPLICA IDENTITY DEFAULT; UPDATE @.account SET balance = "
                  "balance; ALTER TABLE @.account REPLICA IDENTITY FULL");
    cr_expect_not(history_read(made.history, &error), "a change without the row that it found");
    cr_expect_not_null(strstr(error.text, "not understood"), "%s", error.text);
}

/* A change that no log has: of a table that is not logged meanwhile. (I3) */
Test(real_judge, a_history_that_lacks_an_update_does_not_join)
{
    begin_course();
    must_run(one, "ALTER TABLE @.inbox SET UNLOGGED; UPDATE @.inbox SET amount = 7; "
                  "ALTER TABLE @.inbox SET LOGGED");
    put_right(one);
    must_run(one, "COMMIT");
    expect_bug("does not begin with the row that was left");
}

Test(real_judge, a_transaction_of_no_known_sender_is_found_out)
{
    int64_t transaction = 0;
    must_run(one, "BEGIN; INSERT INTO @.account VALUES (1, 0)");
    cr_assert(store_pg_ask(one, "SELECT txid_current()", &transaction));
    must_run(one, "COMMIT");
    expect_bug("left no word");
    shared_page_disturb(page, transaction);
    struct real_verdict verdict = judge();
    cr_expect_null(verdict.bug, "%s", verdict.bug);
}
