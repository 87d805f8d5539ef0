/* What a caller of the proxy is told and can do, on a private server. */
#include "wire/tests/rig.h"

#include <criterion/criterion.h>
#include <sys/socket.h>
#include <sys/un.h>

static struct rig rig;

static void begin(void)
{
    rig_open(&rig);
    rig_direct("drop table if exists t");
    rig_direct("create table t (a int primary key, b text default '')");
}

static void end(void)
{
    if (rig.proxy != NULL) {
        rig_close(&rig);
    }
}

TestSuite(proxy, .init = begin, .fini = end, .timeout = 300);

#define TOLD(expected)                                                                             \
    do {                                                                                           \
        rig_settle(&rig);                                                                          \
        cr_expect_str_eq(rig.told, expected, "told:\n%s\nexpected:\n%s", rig.told, expected);      \
        rig_forget(&rig);                                                                          \
    } while (0)

/* ---- what is told ---- */

static const struct {
    const char *sql, *told;
} simple[] = {
    {"select 1 -- one", "statement # select ?\ncommit # implicit\nanswer # SELECT 1\n"
                        "committed # implicit SELECT 1 I\nready I\n"},
    {"insert into t values (1), (2)",
     "statement # insert into t values (?)\ncommit # implicit\nanswer # INSERT 0 2\n"
     "committed # implicit INSERT 0 2 I\nready I\n"},
    {"show work_mem; set work_mem = 100",
     "statement # show work_mem; set work_mem = ?\nanswer # SHOW\nanswer # SET\nready I\n"},
    {"BEGIN; insert into t values (3); COMMIT",
     "statement # begin; insert into t values (?); commit\ncommit # explicit\nanswer # BEGIN\n"
     "answer # INSERT 0 1\nanswer # COMMIT\ncommitted # explicit COMMIT I\nready I\n"},
    {"begin", "statement # begin\nanswer # BEGIN\nready T\n"},
    {"update t set b = 'x'", "statement # update t set b = ?\nanswer # UPDATE 3\nready T\n"},
    {"select 1/0", "statement # select ?/?\nanswer # 22012\nready E\n"},
    {"commit", "statement # commit\nanswer # ROLLBACK\nready I\n"},
    {"start transaction; delete from t",
     "statement # start transaction; delete from t\nanswer # START TRANSACTION\n"
     "answer # DELETE 3\nready T\n"},
    {"end", "statement # end\ncommit # explicit\nanswer # COMMIT\ncommitted # explicit COMMIT I\n"
            "ready I\n"},
    {"commit", "statement # commit\nanswer # COMMIT\nready I\n"},
    {"do 'begin perform 1; end'",
     "statement # do ?\ncommit # inside\nanswer # DO\ncommitted # inside DO I\nready I\n"},
    {"insert into t values (1), (1)",
     "statement # insert into t values (?)\ncommit # implicit\nanswer # 23505\n"
     "committed # implicit 23505 I\nready I\n"},
    {"", "statement # \nanswer #\nready I\n"},
};

/* # stands for the statement's number. */
static void expect_told(const char *sql, const char *pattern, unsigned number)
{
    char expected[1024], digits[16];
    size_t used = 0;
    snprintf(digits, sizeof digits, "%u", number);
    for (const char *c = pattern; *c != '\0'; c++) {
        bool is_number = *c == '#';
        used += (size_t)snprintf(expected + used, sizeof expected - used, is_number ? "%s" : "%.1s",
                                 is_number ? digits : c);
    }
    cr_expect_str_eq(rig.told, expected, "%s\ntold:\n%s\nexpected:\n%s", sql, rig.told, expected);
}

Test(proxy, a_simple_query_is_told_with_its_commit_and_its_answers)
{
    PGconn *client = rig_connect(&rig);
    TOLD("connecting\nconnected\nready I\n");
    for (unsigned i = 0; i < COUNT(simple); i++) {
        rig_forget(&rig);
        rig_query(&rig, client, simple[i].sql);
        rig_settle(&rig);
        expect_told(simple[i].sql, simple[i].told, i + 1);
    }
    rig_forget(&rig);
    PQfinish(client);
    rig_until(&rig, PROXY_CLOSED, 1);
    TOLD("closed\n");
}

Test(proxy, an_extended_query_commits_at_its_sync)
{
    PGconn *client = rig_connect(&rig);
    rig_forget(&rig);
    rig_send_extended(client, "insert into t values (1)");
    cr_expect_str_eq(rig_last(&rig, client), "INSERT 0 1");
    TOLD("statement 1 insert into t values (?)\ncommit 1 implicit\nanswer 1 INSERT 0 1\n"
         "committed 1 implicit INSERT 0 1 I\nready I\n");
    rig_query(&rig, client, "begin");
    rig_forget(&rig);
    rig_send_extended(client, "insert into t values (2)");
    rig_last(&rig, client);
    rig_send_extended(client, "commit");
    cr_expect_str_eq(rig_last(&rig, client), "COMMIT");
    TOLD("statement 3 insert into t values (?)\nanswer 3 INSERT 0 1\nready T\n"
         "statement 4 commit\ncommit 4 explicit\nanswer 4 COMMIT\n"
         "committed 4 explicit COMMIT I\nready I\n");
    rig_send_extended(client, "insert into t values (2)");
    cr_expect_str_eq(rig_last(&rig, client), "23505");
    TOLD("statement 5 insert into t values (?)\ncommit 5 implicit\nanswer 5 23505\n"
         "committed 5 implicit 23505 I\nready I\n");
    PQfinish(client);
}

/* Statements by name, one of which fails; the rest of its batch is skipped. */
Test(proxy, pipelines_are_told_statement_by_statement)
{
    PGconn *client = rig_connect(&rig);
    rig_forget(&rig);
    cr_assert(PQenterPipelineMode(client));
    PQsendPrepare(client, "add", "insert into t values ($1::int)", 0, NULL);
    for (int i = 0; i < 3; i++) {
        const char *value = i == 2 ? "0" : i == 1 ? "1" : "0";
        PQsendQueryPrepared(client, "add", 1, &value, NULL, NULL, 0);
    }
    PQsendQueryParams(client, "select 1", 0, NULL, NULL, NULL, NULL, 0);
    PQpipelineSync(client);
    PQsendQueryParams(client, "select 2", 0, NULL, NULL, NULL, NULL, 0);
    PQpipelineSync(client);
    for (int syncs = 0; syncs < 2;) {
        PGresult *result = rig_result(&rig, client);
        syncs += result != NULL && PQresultStatus(result) == PGRES_PIPELINE_SYNC;
        PQclear(result);
    }
    TOLD("statement 1 insert into t values (?::int)\nstatement 2 insert into t values (?::int)\n"
         "statement 3 insert into t values (?::int)\nstatement 4 select ?\ncommit 4 implicit\n"
         "statement 5 select ?\ncommit 5 implicit\n"
         "answer 1 INSERT 0 1\nanswer 2 INSERT 0 1\nanswer 3 23505\nanswer 4 23505 skipped\n"
         "committed 4 implicit 23505 I\nready I\nanswer 5 SELECT 1\n"
         "committed 5 implicit SELECT 1 I\nready I\n");
    cr_expect_str_eq(rig_direct("select count(*) from t"), "0");
    PQfinish(client);
}

static void copy_rows(PGconn *client)
{
    PQclear(rig_result(&rig, client));
    PQputCopyData(client, "1\ta\n2\tb\n", 8);
    PQputCopyEnd(client, NULL);
    cr_expect_str_eq(rig_last(&rig, client), "COPY 2");
}

Test(proxy, copy_commits_with_the_end_of_its_data)
{
    PGconn *client = rig_connect(&rig);
    rig_forget(&rig);
    PQsendQuery(client, "copy t from stdin");
    copy_rows(client);
    TOLD("statement 1 copy t from stdin\ncopy-begin\ncommit 1 implicit\ncopy-end\n"
         "answer 1 COPY 2\ncommitted 1 implicit COPY 2 I\nready I\n");
    rig_direct("truncate t");
    rig_send_extended(client, "copy t from stdin"); /* libpq sends Sync, which is ignored */
    copy_rows(client);
    TOLD("statement 2 copy t from stdin\ncopy-begin\ncopy-end\ncommit 2 implicit\n"
         "answer 2 COPY 2\ncommitted 2 implicit COPY 2 I\nready I\n");
    rig_query(&rig, client, "begin; delete from t");
    rig_forget(&rig);
    PQsendQuery(client, "copy t from stdin");
    copy_rows(client);
    rig_query(&rig, client, "delete from t");
    rig_send_extended(client, "copy t from stdin");
    copy_rows(client);
    TOLD("statement 4 copy t from stdin\ncopy-begin\ncopy-end\nanswer 4 COPY 2\nready T\n"
         "statement 5 delete from t\nanswer 5 DELETE 2\nready T\n"
         "statement 6 copy t from stdin\ncopy-begin\ncopy-end\nanswer 6 COPY 2\nready T\n");
    rig_query(&rig, client, "rollback");
    rig_forget(&rig);
    rig_send_extended(client, "copy nothing from stdin");
    cr_expect_str_eq(rig_last(&rig, client), "42P01");
    TOLD("statement 8 copy nothing from stdin\nanswer 8 42P01\nready I\n");
    cr_expect_str_eq(rig_query(&rig, client, "select count(*) from t"), "2");
    PQfinish(client);
}

Test(proxy, a_function_call_is_told)
{
    PGconn *client = rig_connect(&rig);
    rig_forget(&rig);
    /* libpq's PQfn blocks; so the message is made here: pg_backend_pid() is function 2026. */
    static const char call[] = "F\0\0\0\x0e\0\0\x07\xea\0\0\0\0\0\1";
    cr_assert_eq(send(PQsocket(client), call, sizeof call - 1, 0), (ssize_t)sizeof call - 1);
    rig_until(&rig, PROXY_READY, 1);
    TOLD("statement 1 \ncommit 1 implicit\nanswer 1\ncommitted 1 implicit I\nready I\n");
    PQfinish(client);
}

/* ---- holding ---- */

static const struct {
    const char *name;
    bool extended, inside;
    enum proxy_event_kind at;
} holds[] = {{"a query, at its statement", false, false, PROXY_STATEMENT},
             {"a query, at its commit", false, false, PROXY_COMMIT},
             {"an extended query, at its statement", true, false, PROXY_STATEMENT},
             {"an extended query, at its sync", true, false, PROXY_COMMIT},
             {"COMMIT", false, true, PROXY_COMMIT},
             {"COMMIT, extended", true, true, PROXY_COMMIT}};

/* Sends what commits one row, and returns when it is held. */
static PGconn *hold(bool extended, bool inside, enum proxy_event_kind at)
{
    PGconn *client = rig_connect(&rig);
    const char *last = "insert into t values (1)";
    if (inside) {
        rig_query(&rig, client, "begin");
        rig_query(&rig, client, last);
        last = "commit";
    }
    rig_on(&rig, at, 1, PROXY_HOLD);
    if (extended) {
        rig_send_extended(client, last);
    } else {
        PQsendQuery(client, last);
        PQflush(client);
    }
    rig_until_held(&rig);
    return client;
}

static const char *rows(void)
{
    return rig_direct("select count(*) from t");
}

Test(proxy, what_is_held_before_the_server_is_not_committed_until_released)
{
    for (unsigned i = 0; i < COUNT(holds); i++) {
        rig_direct("truncate t");
        PGconn *client = hold(holds[i].extended, holds[i].inside, holds[i].at);
        cr_expect_str_eq(rows(), "0", "%s", holds[i].name);
        struct proxy_connection about;
        cr_expect(proxy_find(rig.proxy, rig.held, &about) && about.held_up && about.worker == 7);
        cr_expect_str_eq(about.application, "rig");
        cr_expect(proxy_rests(rig.proxy), "%s: nothing is on its way", holds[i].name);
        PQconsumeInput(client);
        cr_expect(PQisBusy(client), "%s", holds[i].name);
        cr_assert(proxy_release(rig.proxy, rig.held));
        cr_expect_str_eq(rig_last(&rig, client), holds[i].inside ? "COMMIT" : "INSERT 0 1");
        cr_expect_str_eq(rows(), "1", "%s", holds[i].name);
        cr_expect_str_eq(rig_query(&rig, client, "select 5"), "5");
        PQfinish(client);
    }
}

Test(proxy, an_answer_that_is_held_is_committed_and_not_heard)
{
    for (unsigned i = 0; i < COUNT(holds); i++) {
        rig_direct("truncate t");
        PGconn *client = hold(holds[i].extended, holds[i].inside, PROXY_COMMITTED);
        cr_expect_str_eq(rows(), "1", "%s", holds[i].name);
        struct pollfd answer = {.fd = PQsocket(client), .events = POLLIN};
        cr_expect_eq(poll(&answer, 1, 0), 0, "%s: not one byte of it", holds[i].name);
        cr_assert(proxy_release(rig.proxy, rig.held));
        cr_expect_str_eq(rig_last(&rig, client), holds[i].inside ? "COMMIT" : "INSERT 0 1");
        cr_expect_str_eq(rig_query(&rig, client, "select 5"), "5");
        PQfinish(client);
    }
}

/* (PX4) */
Test(proxy, while_a_statement_is_held_the_server_is_heard_and_others_are_served)
{
    PGconn *client = rig_connect(&rig), *other = rig_connect(&rig);
    rig_query(&rig, client, "listen news");
    rig_on(&rig, PROXY_STATEMENT, 1, PROXY_HOLD);
    PQsendQuery(client, "insert into t values (1)");
    rig_until_held(&rig);
    cr_expect_str_eq(rig_query(&rig, other, "notify news, 'x'"), "NOTIFY");
    rig_until(&rig, PROXY_NOTIFICATION, 1);
    rig_settle(&rig);
    PQconsumeInput(client);
    PGnotify *notice = PQnotifies(client);
    cr_assert(notice != NULL);
    cr_expect_str_eq(notice->extra, "x");
    PQfreemem(notice);
    cr_assert(proxy_release(rig.proxy, rig.held));
    cr_expect_str_eq(rig_last(&rig, client), "INSERT 0 1");
    PQfinish(client);
    PQfinish(other);
}

/* (PX6) */
Test(proxy, of_a_client_that_is_held_and_goes_on_no_more_is_read_than_the_bound)
{
    static const char data[1 << 20]; /* as messages, it would be malformed; it is not looked at */
    PGconn *client = hold(false, false, PROXY_STATEMENT);
    size_t total = 0;
    for (int still = 0; still < 50;) {
        ssize_t count = send(PQsocket(client), data, sizeof data, MSG_DONTWAIT | MSG_NOSIGNAL);
        total += count > 0 ? (size_t)count : 0;
        still = count > 0 || proxy_turn(rig.proxy, 2) > 0 ? 0 : still + 1;
        cr_assert(total < 2 * (size_t)PROXY_HELD_MAX);
    }
    cr_expect(total > PROXY_HELD_MAX / 2);
    cr_assert(proxy_release(rig.proxy, rig.held));
    rig_until(&rig, PROXY_CLOSED, 1);
    cr_expect_eq(proxy_count(rig.proxy).malformed, 1);
    PQfinish(client);
}

/* A client that uses Flush is answered before it sends Sync. */
Test(proxy, flush_is_answered_although_answers_to_commits_wait)
{
    PGconn *client = rig_connect(&rig);
    PQenterPipelineMode(client);
    PQsendQueryParams(client, "begin", 0, NULL, NULL, NULL, NULL, 0);
    PQsendQueryParams(client, "insert into t values (1)", 0, NULL, NULL, NULL, NULL, 0);
    PQsendQueryParams(client, "commit", 0, NULL, NULL, NULL, NULL, 0);
    PQsendFlushRequest(client);
    rig_forget(&rig);
    for (int i = 0; i < 3; i++) {
        PGresult *result = rig_result(&rig, client);
        cr_assert(result != NULL);
        PQclear(result);
        cr_assert_null(rig_result(&rig, client));
    }
    TOLD("statement 1 begin\nstatement 2 insert into t values (?)\nstatement 3 commit\n"
         "commit 3 explicit\nanswer 1 BEGIN\nanswer 2 INSERT 0 1\nanswer 3 COMMIT\n"
         "committed 3 explicit COMMIT I\n");
    cr_expect_str_eq(rows(), "1");
    PQfinish(client);
}

/* ---- no commit goes unannounced ---- */

/* What another connection sees is asked at every event. It may change only between PROXY_COMMIT and
 * its PROXY_COMMITTED (WS2): whatever a client sends, and however it sends it. */
static struct {
    PGconn *eye;
    char seen[64];
    unsigned coming, changes, looks;
    const char *last; /* what was sent last, for messages */
} witness;

static void look(char seen[64])
{
    PGresult *result = PQexec(witness.eye, "select count(*) || ' ' || coalesce(sum(a), 0) from t");
    cr_assert_eq(PQresultStatus(result), PGRES_TUPLES_OK, "%s", PQerrorMessage(witness.eye));
    snprintf(seen, 64, "%s", PQgetvalue(result, 0, 0));
    PQclear(result);
    witness.looks++;
}

static void bear_witness(struct rig *of, const struct proxy_event *event)
{
    char seen[64];
    look(seen);
    if (strcmp(seen, witness.seen) != 0) {
        cr_assert(witness.coming > 0, "\"%s\" committed unannounced, after:\n%s", witness.last,
                  of->told);
        witness.changes++;
    }
    memcpy(witness.seen, seen, sizeof seen);
    witness.coming += event->kind == PROXY_COMMIT;
    if (event->kind == PROXY_COMMITTED) {
        cr_assert(witness.coming > 0, "WS2: an answer to no commit, after:\n%s", of->told);
        witness.coming--;
    }
}

static const char *const deeds[] = {
    "insert into t values (nextval('s'))",
    "insert into t values (nextval('s')) returning a",
    "delete from t where a = (select max(a) from t)",
    "insert into t values (1)",
    "insert into u values (99)",
    "with n as (insert into t values (nextval('s')) returning a) select * from n",
    "select add_one()",
    "call add_two()",
    "do 'begin insert into t values (nextval(''s'')); end'",
    "begin",
    "begin",
    "commit",
    "commit",
    "end",
    "commit and chain",
    "rollback",
    "savepoint p",
    "rollback to p",
    "select 1",
    "show work_mem",
    "nonsense",
    "prepare q as insert into t values (nextval('s'))",
    "execute q",
    "explain analyze insert into t values (nextval('s'))",
    "delete from t",
    "copy (select * from t) to '/dev/null'",
    "table t",
};

static uint32_t draw(uint32_t below)
{
    static uint64_t state = 23;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

static const char *deed(void)
{
    return deeds[draw(COUNT(deeds))];
}

static void send_several(PGconn *client)
{
    static char text[1024];
    size_t used = 0;
    for (uint32_t i = 1 + draw(4); i > 0; i--) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s; ", deed());
    }
    witness.last = text;
    cr_assert(PQsendQuery(client, text));
    rig_last(&rig, client);
}

static void send_pipeline(PGconn *client)
{
    cr_assert(PQenterPipelineMode(client));
    uint32_t syncs = 1 + draw(2);
    for (uint32_t i = 0; i < syncs; i++) {
        for (uint32_t k = 1 + draw(4); k > 0; k--) {
            witness.last = deed();
            PQsendQueryParams(client, witness.last, 0, NULL, NULL, NULL, NULL, 0);
        }
        PQpipelineSync(client);
    }
    while (syncs > 0) {
        PGresult *result = rig_result(&rig, client);
        syncs -= result != NULL && PQresultStatus(result) == PGRES_PIPELINE_SYNC;
        PQclear(result);
    }
    cr_assert(PQexitPipelineMode(client));
}

Test(proxy, no_commit_goes_unannounced, .timeout = 600)
{
    rig_direct("drop sequence if exists s; create sequence s start 100; drop table if exists u;"
               "create table u (a int references t deferrable initially deferred);"
               "create or replace function add_one() returns void language sql as "
               "'insert into t values (nextval(''s''))'; "
               "create or replace procedure add_two() language plpgsql as 'begin insert into t "
               "values (nextval(''s'')); commit; insert into t values (nextval(''s'')); end'");
    rig_direct("alter table u drop constraint u_a_fkey");
    rig_direct("create unique index on t (a)");
    witness.eye = PQconnectdb(server_dsn());
    PQclear(PQexec(witness.eye, "set lock_timeout = '10s'"));
    look(witness.seen);
    rig.hook = bear_witness;
    PGconn *client = rig_connect(&rig);
    for (unsigned i = 0; i < 400; i++) {
        rig_forget(&rig);
        switch (draw(3)) {
        case 0:
            send_several(client);
            break;
        case 1:
            witness.last = deed();
            rig_send_extended(client, witness.last);
            rig_last(&rig, client);
            break;
        default:
            send_pipeline(client);
            break;
        }
        rig_settle(&rig);
        cr_assert_eq(witness.coming, 0, "WS2: %u commits without an answer, after:\n%s",
                     witness.coming, rig.told);
        cr_assert_eq(PQstatus(client), CONNECTION_OK);
    }
    rig.hook = NULL;
    cr_expect(witness.changes > 50, "only %u commits were seen", witness.changes);
    PQfinish(client);
    PQfinish(witness.eye);
}

/* ---- cutting ---- */

Test(proxy, cut_before_the_commit_it_did_not_happen)
{
    for (unsigned i = 0; i < COUNT(holds); i++) {
        PGconn *client = hold(holds[i].extended, holds[i].inside, holds[i].at);
        rig_forget(&rig);
        cr_assert(proxy_cut(rig.proxy, rig.held, PROXY_CUT_BOTH));
        TOLD("closed\n");
        cr_expect_str_eq(rig_last(&rig, client), "lost", "%s", holds[i].name);
        cr_expect_str_eq(rig_direct("begin; lock table t; select count(*) from t"), "0", "%s",
                         holds[i].name);
        cr_expect_not(proxy_cut(rig.proxy, rig.held, PROXY_CUT_BOTH), "PX5: it is gone");
        PQfinish(client);
    }
}

Test(proxy, cut_after_the_commit_its_answer_is_lost)
{
    for (unsigned i = 0; i < COUNT(holds); i++) {
        rig_direct("truncate t");
        PGconn *client = hold(holds[i].extended, holds[i].inside, PROXY_COMMITTED);
        cr_assert(proxy_cut(rig.proxy, rig.held, PROXY_CUT_BOTH));
        cr_expect_str_eq(rig_last(&rig, client), "lost", "%s", holds[i].name);
        cr_expect_str_eq(rows(), "1", "%s", holds[i].name);
        PQfinish(client);
    }
}

Test(proxy, half_open_the_backend_keeps_its_locks)
{
    rig_direct("insert into t values (5)");
    PGconn *client = rig_connect(&rig);
    rig_query(&rig, client, "begin");
    rig_query(&rig, client, "update t set b = 'mine'");
    rig_on(&rig, PROXY_COMMIT, 1, PROXY_HOLD);
    PQsendQuery(client, "commit");
    rig_until_held(&rig);
    cr_assert(proxy_cut(rig.proxy, rig.held, PROXY_CUT_CLIENT));
    cr_expect_str_eq(rig_last(&rig, client), "lost");
    cr_expect_str_eq(rig_direct("select a from t for update nowait"), "55P03");
    cr_expect_str_eq(rig_direct("select state from pg_stat_activity where application_name='rig'"),
                     "idle in transaction");
    cr_assert(proxy_cut(rig.proxy, rig.held, PROXY_CUT_BOTH));
    cr_expect_str_eq(rig_direct("select b from t for update"), "");
    PQfinish(client);
}

Test(proxy, late_what_was_kept_reaches_the_server_without_its_client)
{
    for (unsigned i = 0; i < COUNT(holds); i++) {
        rig_direct("truncate t");
        PGconn *client = hold(holds[i].extended, holds[i].inside, holds[i].at);
        cr_assert(proxy_cut(rig.proxy, rig.held, PROXY_CUT_CLIENT));
        cr_expect_str_eq(rig_last(&rig, client), "lost", "%s", holds[i].name);
        cr_expect_str_eq(rows(), "0", "%s", holds[i].name);
        rig_forget(&rig);
        cr_assert(proxy_release(rig.proxy, rig.held));
        rig_until(&rig, PROXY_READY, 1);
        cr_expect_str_eq(rows(), "1", "%s", holds[i].name);
        cr_expect(strstr(rig.told, " I late\n") != NULL, "%s", rig.told);
        cr_assert(proxy_cut(rig.proxy, rig.held, PROXY_CUT_BOTH));
        PQfinish(client);
    }
}

Test(proxy, a_client_that_dies_leaves_what_is_held)
{
    PGconn *client = hold(false, true, PROXY_COMMIT);
    shutdown(PQsocket(client), SHUT_RDWR); /* as the kernel does: libpq would say Terminate */
    PQfinish(client);
    rig_until(&rig, PROXY_CLIENT_GONE, 1);
    cr_expect_str_eq(rows(), "0");
    cr_assert(proxy_release(rig.proxy, rig.held));
    rig_until(&rig, PROXY_COMMITTED, 1);
    cr_expect_str_eq(rows(), "1");
    cr_assert(proxy_cut(rig.proxy, rig.held, PROXY_CUT_BOTH));
    client = hold(false, false, PROXY_COMMITTED);
    rig_forget(&rig);
    PQfinish(client);
    rig_until(&rig, PROXY_CLOSED, 1);
    TOLD("closed\n");
}

Test(proxy, a_worker_is_cut_as_a_whole)
{
    PGconn *one = rig_connect(&rig), *other = rig_connect(&rig);
    struct proxy_connection list[4];
    cr_expect_eq(proxy_list(rig.proxy, list, 4), 2);
    cr_expect(list[0].number < list[1].number && list[0].backend != list[1].backend);
    cr_expect_eq(proxy_cut_worker(rig.proxy, 8, PROXY_CUT_BOTH), 0);
    cr_expect_eq(proxy_cut_worker(rig.proxy, 7, PROXY_CUT_BOTH), 2);
    cr_expect_eq(proxy_list(rig.proxy, list, 4), 0);
    PQfinish(one);
    PQfinish(other);
}

/* ---- notifications, cancel ---- */

/* (PX2) */
Test(proxy, a_notification_is_dropped_and_framing_stays)
{
    PGconn *client = rig_connect(&rig);
    rig_query(&rig, client, "listen news");
    struct proxy_connection about;
    proxy_list(rig.proxy, &about, 1);
    cr_expect(about.listens);
    rig_on(&rig, PROXY_NOTIFICATION, 2, PROXY_DROP);
    cr_expect_str_eq(
        rig_query(&rig, client, "notify news, 'a'; notify news, 'b'; notify news, 'c'; select 3"),
        "3");
    rig_settle(&rig);
    PQconsumeInput(client);
    char heard[8] = "";
    PGnotify *notice;
    while ((notice = PQnotifies(client)) != NULL) {
        strncat(heard, notice->extra, 1);
        PQfreemem(notice);
    }
    cr_expect_str_eq(heard, "ac");
    rig_on(&rig, PROXY_NOTIFICATION, 1, PROXY_HOLD);
    rig_direct("notify news, 'd'");
    rig_until_held(&rig);
    PQconsumeInput(client);
    cr_expect_null(PQnotifies(client));
    cr_assert(proxy_release(rig.proxy, rig.held));
    PQconsumeInput(client);
    notice = PQnotifies(client);
    cr_expect_not_null(notice);
    PQfreemem(notice);
    cr_expect_str_eq(rig_query(&rig, client, "unlisten *"), "UNLISTEN");
    proxy_list(rig.proxy, &about, 1);
    cr_expect_not(about.listens);
    PQfinish(client);
}

static void send_cancel(PGconn *client)
{
    pid_t child = fork(); /* PQcancel blocks until the proxy has served it */
    if (child == 0) {
        char text[256];
        PGcancel *cancel = PQgetCancel(client);
        _exit(PQcancel(cancel, text, sizeof text) ? 0 : 1);
    }
    cr_assert(child > 0);
}

Test(proxy, a_cancel_request_reaches_its_backend_or_is_dropped)
{
    PGconn *client = rig_connect(&rig);
    PQsendQuery(client, "select pg_sleep(300)");
    PQflush(client);
    rig_until(&rig, PROXY_COMMIT, 1);
    rig_on(&rig, PROXY_CANCEL, 1, PROXY_DROP);
    send_cancel(client);
    rig_until(&rig, PROXY_CANCEL, 1);
    rig_settle(&rig);
    PQconsumeInput(client);
    cr_expect(PQisBusy(client));
    send_cancel(client);
    cr_expect_str_eq(rig_last(&rig, client), "57014");
    PQfinish(client);
}

/* ---- refusing ---- */

Test(proxy, a_connection_is_refused_held_or_dropped)
{
    rig.refuse = "53300";
    PGconn *client = rig_connect_with(&rig, "");
    cr_expect_eq(PQstatus(client), CONNECTION_BAD);
    cr_expect(strstr(PQerrorMessage(client), "FATAL:  no") != NULL, "%s", PQerrorMessage(client));
    PQfinish(client);
    rig.refuse = NULL;
    rig_on(&rig, PROXY_CONNECTING, 1, PROXY_DROP);
    client = rig_connect_with(&rig, "");
    cr_expect_eq(PQstatus(client), CONNECTION_BAD);
    PQfinish(client);
    rig_on(&rig, PROXY_CONNECTING, 1, PROXY_HOLD);
    char dsn[256];
    snprintf(dsn, sizeof dsn, "host=%s user=assay dbname=postgres", rig.folder);
    client = PQconnectStart(dsn);
    PQconnectPoll(client);
    rig_until_held(&rig);
    cr_expect(proxy_rests(rig.proxy));
    cr_assert(proxy_release(rig.proxy, rig.held));
    rig_until(&rig, PROXY_CONNECTED, 1);
    PQfinish(client);
}

Test(proxy, a_statement_is_refused_in_place_of_the_server)
{
    PGconn *client = rig_connect(&rig);
    for (int extended = 0; extended < 2; extended++) {
        rig_on(&rig, PROXY_STATEMENT, 1, PROXY_HOLD);
        if (extended) {
            rig_send_extended(client, "insert into t values (1)");
        } else {
            PQsendQuery(client, "insert into t values (1)");
        }
        rig_until_held(&rig);
        cr_assert(proxy_refuse(rig.proxy, rig.held, PROXY_FAILED, "40001", "try again"));
        cr_expect_str_eq(rig_last(&rig, client), "40001");
        cr_expect_eq(PQtransactionStatus(client), PQTRANS_IDLE);
        cr_expect_str_eq(rows(), "0");
        cr_expect_str_eq(rig_query(&rig, client, "select 5"), "5");
        rig_send_extended(client, "select 6");
        cr_expect_str_eq(rig_last(&rig, client), "6");
    }
    rig_query(&rig, client, "begin");
    rig_on(&rig, PROXY_STATEMENT, 1, PROXY_HOLD);
    PQsendQuery(client, "insert into t values (1)");
    rig_until_held(&rig);
    cr_expect_not(proxy_refuse(rig.proxy, rig.held, PROXY_FAILED, "40001", "a lie"));
    PQfinish(client);
}

Test(proxy, an_idle_client_reads_a_fatal_error)
{
    PGconn *client = rig_connect(&rig);
    struct proxy_connection about;
    proxy_list(rig.proxy, &about, 1);
    cr_assert(proxy_refuse(rig.proxy, about.number, PROXY_FATAL, "57P01", "going down"));
    rig_until(&rig, PROXY_CLOSED, 1);
    PQsendQuery(client, "select 1");
    PGresult *result = rig_result(&rig, client);
    cr_expect(strstr(PQerrorMessage(client), "going down") != NULL, "%s", PQerrorMessage(client));
    PQclear(result);
    PQfinish(client);
}

/* ---- what is wrong ---- */

/* What a client of bytes reads, after it has sent them; the connection must end. */
static void speak(const char *bytes, size_t length, char *answer, size_t size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", rig.path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    cr_assert_eq(connect(descriptor, (struct sockaddr *)&address, sizeof address), 0);
    cr_assert_eq(send(descriptor, bytes, length, MSG_NOSIGNAL), (ssize_t)length);
    time_t deadline = time(NULL) + RIG_WAIT_S;
    size_t used = 0;
    for (;;) {
        rig_turn(&rig, deadline);
        ssize_t count = recv(descriptor, answer + used, size - 1 - used, 0);
        if (count == 0) {
            break;
        }
        used += count > 0 ? (size_t)count : 0;
    }
    for (size_t i = 0; i < used; i++) {
        answer[i] = answer[i] == '\0' ? ' ' : answer[i];
    }
    answer[used] = '\0';
    close(descriptor);
}

/* (PX3) */
Test(proxy, garbage_ends_its_own_connection_with_a_reason)
{
    static const char http[] = "GET / HTTP/1.1\r\n\r\n";
    static const char wrong[] = "\0\0\0\x28\0\3\0\0user\0assay\0database\0postgres\0\0\0\0"
                                "!\0\0\0\4";
    char answer[4096];
    PGconn *client = rig_connect(&rig);
    speak(http, sizeof http - 1, answer, sizeof answer);
    cr_expect(strstr(answer, "08P01") != NULL && strstr(answer, "startup packet") != NULL, "%s",
              answer);
    speak(wrong, sizeof wrong - 1, answer, sizeof answer);
    cr_expect(strstr(answer, "08P01") != NULL && strstr(answer, "type '!'") != NULL, "%s", answer);
    cr_expect_eq(proxy_count(rig.proxy).malformed, 2);
    cr_expect_str_eq(rig_query(&rig, client, "select 5"), "5");
    PQfinish(client);
}

Test(proxy, a_port_or_a_path_that_is_taken_is_named)
{
    struct proxy_fault why;
    uint16_t port = 0;
    cr_assert(proxy_listen_tcp(rig.proxy, 1, &port, &why) && port != 0);
    cr_expect_not(proxy_listen_tcp(rig.proxy, 2, &port, &why));
    cr_expect(strstr(why.text, "another program has the port") != NULL, "%s", why.text);
    cr_expect_not(proxy_listen_unix(rig.proxy, 2, rig.path, &why));
    cr_expect(strstr(why.text, "remove the socket") != NULL, "%s", why.text);
    char path[256];
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    cr_expect_not(proxy_listen_unix(rig.proxy, 2, path, &why));
    cr_expect(strstr(why.text, "at most 107 bytes") != NULL, "%s", why.text);
}

Test(proxy, without_a_server_the_client_is_told_by_the_end_of_its_connection)
{
    struct proxy_fault why;
    cr_assert(proxy_set_upstream(rig.proxy, "/nowhere/.s.PGSQL.5432", &why));
    PGconn *client = rig_connect_with(&rig, "");
    cr_expect_eq(PQstatus(client), CONNECTION_BAD);
    TOLD("connecting\nclosed\n");
    PQfinish(client);
}

Test(proxy, unwatched_everything_passes_and_nothing_is_told)
{
    proxy_watch(rig.proxy, false);
    PGconn *client = rig_connect(&rig);
    rig_send_extended(client, "insert into t values (1)");
    cr_expect_str_eq(rig_last(&rig, client), "INSERT 0 1");
    TOLD("");
    proxy_watch(rig.proxy, true);
    cr_expect_str_eq(rig_query(&rig, client, "select 5"), "5");
    cr_expect_eq(rig.seen[PROXY_STATEMENT], 1);
    PQfinish(client);
}
