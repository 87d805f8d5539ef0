/* Presets put to a real database: each finds the row that breaks it, and holds without it. */
#include "real/cluster.h"
#include "wire/judge.h"

#include <criterion/criterion.h>
#include <string.h>

static PGconn *open_database(struct cluster *cluster)
{
    struct error error;
    cr_assert(cluster_start(cluster, &(struct cluster_options){0}, &error), "%s", error.text);
    PGconn *connection = PQconnectdb(cluster_dsn(cluster));
    cr_assert_eq(PQstatus(connection), CONNECTION_OK);
    return connection;
}

static void run(PGconn *connection, const char *statements)
{
    PGresult *result = PQexec(connection, statements);
    cr_assert_eq(PQresultStatus(result), PGRES_COMMAND_OK, "%s", PQresultErrorMessage(result));
    PQclear(result);
}

/* What is there at first, what breaks it, and the row that must be told. */
static const struct {
    struct subject_promise promise;
    const char *sound, *breach, *told;
} cases[] = {
    {{.is = SUBJECT_EXACTLY_ONCE, .of = {"effects", {"job", "step"}, 2}},
     "insert into effects values (1, 1), (1, 2)",
     "insert into effects values (1, 2)",
     "job=1, step=2, times=2"},
    {{.is = SUBJECT_EXACTLY_ONCE, .of = {"effects", {"job"}, 1}, .each = {"jobs", {"id"}, 1}},
     "insert into effects values (1, 1); insert into jobs values (1, 0)",
     "insert into jobs values (2, 0)",
     "id=2, times=0"},
    {{.is = SUBJECT_AT_LEAST_ONCE, .of = {"effects", {"job"}, 1}, .each = {"jobs", {"id"}, 1}},
     "insert into effects values (1, 1), (1, 1); insert into jobs values (1, 0)",
     "insert into jobs values (3, 0)",
     "id=3, times=0"},
    {{.is = SUBJECT_AT_MOST_ONCE, .of = {"effects", {"job"}, 1}},
     "insert into effects values (1, 1)",
     "insert into effects values (1, 7)",
     "job=1, times=2"},
    {{.is = SUBJECT_BOUNDED, .of = {"jobs", {"attempts"}, 1}, .most = 3},
     "insert into jobs values (1, 3)",
     "insert into jobs values (2, 4)",
     "id=2, attempts=4"},
    {{.is = SUBJECT_ORDERED, .of = {"effects", {"job", "step", "at"}, 3}},
     "insert into effects values (1, 1), (2, 9), (1, 2)",
     "insert into effects values (1, 1)",
     "job=1, position=1, position_before=2"},
    {{.is = SUBJECT_AT_A_TIME, .of = {"effects", {"job"}, 1}, .most = 2},
     "insert into effects values (1, 1), (1, 2)",
     "insert into effects values (1, 3)",
     "job=1, times=3"},
    {{.is = SUBJECT_NEVER, .never = (char *)"select job from effects where step = 13"},
     "insert into effects values (1, 1)",
     "insert into effects values (4, 13)",
     "job=4"},
};

Test(judge, each_preset_finds_the_row_that_breaks_it)
{
    struct cluster cluster;
    struct error error;
    char text[JUDGE_TEXT_SIZE];
    PGconn *connection = open_database(&cluster);
    for (size_t i = 0; i < COUNT(cases); i++) {
        run(connection, "drop table if exists effects, jobs;"
                        "create table effects (job int, step int, at serial);"
                        "create table jobs (id int, attempts int)");
        run(connection, cases[i].sound);
        cr_assert_eq(judge_promise(connection, &cases[i].promise, text), JUDGE_HOLDS, "%zu: %s", i,
                     text);
        run(connection, cases[i].breach);
        cr_assert_eq(judge_promise(connection, &cases[i].promise, text), JUDGE_BROKEN, "%zu", i);
        cr_assert_str_eq(text, cases[i].told);
    }
    PQfinish(connection);
    cr_assert(cluster_close(&cluster, &error));
}

Test(judge, what_is_missing_and_what_is_expected)
{
    struct cluster cluster;
    struct error error;
    struct judge_reference reference;
    char text[JUDGE_TEXT_SIZE];
    static const struct subject subject = {
        .promises = {{.is = SUBJECT_AT_LEAST_ONCE, .of = {"effects", {"job"}, 1}}},
        .promise_count = 1,
        .expect = {{.select = (char *)"select count(*) from effects", .is = (char *)"2"},
                   {.select = (char *)"select max(job), 1 from effects", .same = true}},
        .expect_count = 2};
    PGconn *connection = open_database(&cluster);
    run(connection, "create table effects (job int); insert into effects values (1), (2)");
    cr_assert(judge_note(connection, &subject, &reference, text));
    cr_assert_eq(reference.keys[0], 2);
    cr_assert_str_eq(reference.same[1], "2|1");
    run(connection, "delete from effects where job = 2");
    cr_assert_eq(judge_missing(connection, &subject.promises[0], 2, text), JUDGE_BROKEN);
    cr_assert(strstr(text, "1 different keys, and 2 without") != NULL, "%s", text);
    cr_assert_eq(judge_expect(connection, &subject.expect[0], "", text), JUDGE_BROKEN);
    cr_assert_eq(judge_expect(connection, &subject.expect[1], reference.same[1], text),
                 JUDGE_BROKEN);
    cr_assert_eq(judge_done(connection, "select false", text), JUDGE_BROKEN);
    cr_assert_eq(judge_done(connection, "select true", text), JUDGE_HOLDS);
    cr_assert_eq(judge_done(connection, "selec", text), JUDGE_FAILED);
    cr_assert(strstr(text, "syntax error") != NULL);
    PQfinish(connection);
    cr_assert(cluster_close(&cluster, &error));
}
