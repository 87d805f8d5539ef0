/* Transactions on PostgreSQL, statement by statement: what single statements answer, who waits for
 * whom and what becomes of it. Most tests are small schedules: a line a step. */
#include "model/text.h"
#include "real/stepper.h"
#include "real/tests/server.h"

#include <criterion/criterion.h>
#include <string.h>
#include <time.h>

#define SCHEMA      "assay_stepper"
#define CONNECTIONS 4

/* ---- primitives ------------------------------------------------------------------------------ */

#define P(i)  (OPERAND_PARAM + (i))
#define V(i)  (OPERAND_VALUE + (i))
#define TO(i) ((i) + 1)

static const uint8_t new_job[JOB_COLUMNS] = {P(1), OPERAND_ZERO, OPERAND_ZERO, OPERAND_ZERO,
                                             OPERAND_ZERO};
static const uint8_t null_job[JOB_COLUMNS] = {P(1), OPERAND_NULL, OPERAND_ZERO, OPERAND_ZERO,
                                              OPERAND_ZERO};
static const uint8_t new_activity[ACTIVITY_COLUMNS] = {P(1), OPERAND_ZERO, OPERAND_ZERO,
                                                       OPERAND_ZERO};
static const uint8_t new_escalation[ESCALATION_COLUMNS] = {P(1), OPERAND_ZERO, OPERAND_ZERO,
                                                           OPERAND_ONE};

enum {
    READ,         /* job -> semaphore */
    EQUALS,       /* job, semaphore -> semaphore, found; guard: it is that */
    ADD,          /* job, how much -> semaphore; guard: not below 0 */
    DELETE,       /* job -> semaphore */
    INSERT,       /* job, semaphore; guard: there is none */
    INSERT_NULL,  /* job, semaphore: the threshold is null */
    INSERT_CHILD, /* activity, job */
    RECORD,       /* escalation, job */
    KEY_SHARE,    /* job -> semaphore */
    SHARE,        /* job -> semaphore */
    UPDATE,       /* job -> semaphore */
    ADVISORY,     /* number */
    CLAIM,        /* ticks; guard: there is one */
    COPY,         /* job, job: adds the semaphore of the first to that of the second -> both */
    PRIMITIVES
};

#define GUARD(why) .miss = MISS_BY_CALL, .reason = (why)

static const struct primitive primitives[PRIMITIVES] = {
    [READ] = {.params = 1,
              .op_count = 1,
              .ops = {{OP_READ, TABLE_JOB, JOB_SEMAPHORE, .key = P(0), .returns = TO(0)}}},
    [EQUALS] = {.params = 2,
                .op_count = 1,
                .ops = {{OP_TEST, TABLE_JOB, JOB_SEMAPHORE, .key = P(0), .test = TEST_EQUAL,
                         .a = P(1), .returns = TO(2), .found = TO(4), GUARD(REFUSED_EPOCH)}}},
    [ADD] = {.params = 2,
             .op_count = 1,
             .ops = {{OP_ADD, TABLE_JOB, JOB_SEMAPHORE, .key = P(0), .value = P(1),
                      .test = TEST_NOT_BELOW, .returns = TO(0), GUARD(REFUSED_NEGATIVE)}}},
    [DELETE] = {.params = 1,
                .op_count = 1,
                .ops = {{OP_DELETE, TABLE_JOB, JOB_SEMAPHORE, .key = P(0), .returns = TO(0)}}},
    [INSERT] = {.params = 2,
                .op_count = 1,
                .ops = {{OP_INSERT, TABLE_JOB, .key = P(0), .columns = new_job,
                         GUARD(REFUSED_EXISTS)}}},
    [INSERT_NULL] = {.params = 2,
                     .op_count = 1,
                     .ops = {{OP_INSERT, TABLE_JOB, .key = P(0), .columns = null_job,
                              GUARD(REFUSED_EXISTS)}}},
    [INSERT_CHILD] = {.params = 2,
                      .op_count = 1,
                      .ops = {{OP_INSERT, TABLE_ACTIVITY, .key = P(0), .columns = new_activity,
                               GUARD(REFUSED_EXISTS)}}},
    [RECORD] = {.params = 2,
                .op_count = 1,
                .ops = {{OP_RECORD, TABLE_ESCALATION, .key = P(0), .columns = new_escalation}}},
    [KEY_SHARE] = {.params = 1,
                   .op_count = 1,
                   .ops = {{OP_READ, TABLE_JOB, JOB_SEMAPHORE, .key = P(0), .returns = TO(0),
                            .lock = LOCK_KEY_SHARE}}},
    [SHARE] = {.params = 1,
               .op_count = 1,
               .ops = {{OP_READ, TABLE_JOB, JOB_SEMAPHORE, .key = P(0), .returns = TO(0),
                        .lock = LOCK_SHARE}}},
    [UPDATE] = {.params = 1,
                .op_count = 1,
                .ops = {{OP_READ, TABLE_JOB, JOB_SEMAPHORE, .key = P(0), .returns = TO(0),
                         .lock = LOCK_UPDATE}}},
    [ADVISORY] = {.params = 1, .op_count = 1, .ops = {{OP_ADVISORY, .key = P(0)}}},
    [CLAIM] = {.params = 1,
               .op_count = 1,
               .ops = {{OP_CLAIM, TABLE_MESSAGE, .value = P(0), GUARD(REFUSED_NO_MESSAGE)}}},
    [COPY] = {.params = 2,
              .op_count = 2,
              .ops = {{OP_READ, TABLE_JOB, JOB_SEMAPHORE, .key = P(0), .returns = TO(0)},
                      {OP_ADD, TABLE_JOB, JOB_SEMAPHORE, .key = P(1), .value = V(0),
                       .returns = TO(1), .found = TO(3)}}},
};

/* ---- steps ----------------------------------------------------------------------------------- */

static struct stepper *stepper;
static struct bundle bundles[CONNECTIONS];
static unsigned next_call[CONNECTIONS]; /* of the bundle: what is sent next */
static int next_index[CONNECTIONS];
static uint32_t answered; /* by the last settle */

#define OK(call) cr_assert((call), "%s", stepper_why_not(stepper))

static void open_with(enum sql_form form, const struct primitive *table, size_t count)
{
    struct error error;
    stepper = stepper_open(&(struct stepper_options){.dsn = server_dsn(),
                                                     .schema = SCHEMA,
                                                     .primitives = table,
                                                     .primitive_count = count,
                                                     .form = form,
                                                     .connections = CONNECTIONS},
                           &error);
    cr_assert_not_null(stepper, "%s", error.text);
}

/* Jobs 1 .. 9 with a semaphore of ten times their number. */
static void make(void)
{
    server_make_schema(SCHEMA);
    server_set_clocks(SCHEMA);
    open_with(SQL_BY_OPERATION, primitives, PRIMITIVES);
    OK(stepper_run(stepper, "INSERT INTO " SCHEMA
                            ".job SELECT i, 10 * i, 0, 0, 0, 0 FROM generate_series(1, 9) i"));
}

static void unmake(void)
{
    stepper_close(stepper);
}

TestSuite(stepper, .init = make, .fini = unmake, .timeout = 60);

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A call of the bundle that a connection is about to begin. */
static void plan_as(unsigned c, unsigned primitive, enum call_mode mode, int64_t a, int64_t b)
{
    struct bundle *bundle = &bundles[c];
    struct call *call = &bundle->calls[bundle->count++];
    *call = (struct call){
        .primitive = (uint8_t)primitive, .mode = (uint8_t)mode, .params = bundle->param_count};
    bundle->params[bundle->param_count++] = a;
    bundle->params[bundle->param_count++] = b;
}

static void plan(unsigned c, unsigned primitive, int64_t a, int64_t b)
{
    plan_as(c, primitive, CALL_REQUIRE, a, b);
}

static void begin_at(unsigned c, enum isolation isolation)
{
    bundles[c].isolation = (uint8_t)isolation;
    next_call[c] = 0;
    next_index[c] = 0;
    OK(stepper_begin(stepper, c, &bundles[c], 100));
}

static void begin(unsigned c)
{
    begin_at(c, READ_COMMITTED);
}

static bool is_blocked(unsigned c)
{
    return (stepper_blocked(stepper) & 1u << c) != 0;
}

static bool was_answered(unsigned c)
{
    return (answered & 1u << c) != 0;
}

static const struct stepper_answer *answer(unsigned c)
{
    return stepper_answer(stepper, c);
}

static void send(unsigned c)
{
    OK(stepper_send(stepper, c, next_call[c], next_index[c]));
    if (++next_index[c] == stepper_statements(stepper, c, next_call[c])) {
        next_index[c] = 0;
        next_call[c]++;
    }
}

static void settle(bool deadlock)
{
    OK(stepper_settle(stepper, deadlock, &answered));
}

/* The next statement, which is answered at once, or blocked. */
static const struct stepper_answer *step(unsigned c)
{
    send(c);
    settle(false);
    cr_assert_eq(was_answered(c), !is_blocked(c));
    return answer(c);
}

static void succeeds(unsigned c)
{
    step(c);
    cr_assert(was_answered(c), "connection %u waits", c);
    cr_assert_str_empty(answer(c)->sqlstate, "%s: %s", answer(c)->sqlstate, answer(c)->message);
}

static void blocks(unsigned c)
{
    step(c);
    cr_assert(is_blocked(c), "connection %u does not wait: %s", c, answer(c)->message);
}

static void fails(unsigned c, const char *sqlstate)
{
    step(c);
    cr_assert(was_answered(c), "connection %u waits", c);
    cr_assert_str_eq(answer(c)->sqlstate, sqlstate, "%s", answer(c)->message);
}

static void end(unsigned c, bool commit)
{
    OK(stepper_end(stepper, c, commit));
    settle(false);
    cr_assert(was_answered(c));
    bundles[c] = (struct bundle){0};
}

static void commit(unsigned c)
{
    end(c, true);
    cr_assert_str_empty(answer(c)->sqlstate, "%s", answer(c)->message);
    cr_assert(answer(c)->committed);
}

static void roll_back(unsigned c)
{
    end(c, false);
    cr_assert_str_empty(answer(c)->sqlstate, "%s", answer(c)->message);
    cr_assert_not(answer(c)->committed);
}

/* One transaction of one call, whole. */
static void alone(unsigned c, unsigned primitive, int64_t a, int64_t b)
{
    plan(c, primitive, a, b);
    begin(c);
    succeeds(c);
    commit(c);
}

static void keep_semaphore(void *context, const int64_t *row)
{
    int64_t *semaphores = context;
    cr_assert(row[0] > 0 && row[0] < 20);
    semaphores[row[0]] = row[1 + JOB_SEMAPHORE];
}

/* As it is committed; -1: there is no such job. */
static int64_t semaphore_of(int64_t job)
{
    int64_t semaphores[20];
    memset(semaphores, -1, sizeof semaphores);
    OK(stepper_rows(stepper, TABLE_JOB, keep_semaphore, semaphores));
    return semaphores[job];
}

/* ---- single statements ----------------------------------------------------------------------- */

Test(stepper, a_statement_answers_with_its_values_at_their_places)
{
    plan(0, READ, 3, 0);
    plan(0, READ, 77, 0);
    plan(0, EQUALS, 3, 30);
    plan(0, ADD, 3, 5);
    plan(0, DELETE, 3, 0);
    begin(0);
    succeeds(0);
    cr_expect(answer(0)->has_row && !answer(0)->did_nothing && answer(0)->skips == 0);
    cr_expect_eq(answer(0)->count, 1);
    cr_expect_eq(answer(0)->values[0], 30);
    succeeds(0);
    cr_expect_eq(answer(0)->values[0], 0, "no such row");
    succeeds(0);
    cr_expect_eq(answer(0)->count, 2);
    cr_expect(answer(0)->places[0] == 2 && answer(0)->places[1] == 4);
    cr_expect(answer(0)->values[0] == 30 && answer(0)->values[1] == 1);
    succeeds(0);
    cr_expect_eq(answer(0)->values[0], 35);
    cr_expect_eq(semaphore_of(3), 30, "not committed yet");
    succeeds(0);
    cr_expect_eq(answer(0)->values[0], 35);
    commit(0);
    cr_expect(answer(0)->did_nothing && !answer(0)->has_row);
    cr_expect_eq(semaphore_of(3), -1);
}

Test(stepper, a_list_of_operations_is_one_statement_each_behind_one_that_forgets)
{
    plan(0, COPY, 2, 3);
    begin(0);
    cr_assert_eq(stepper_statements(stepper, 0, 0), 3);
    succeeds(0);
    cr_expect_eq(answer(0)->count, 0);
    succeeds(0);
    cr_expect_eq(answer(0)->values[0], 20);
    succeeds(0);
    cr_expect(answer(0)->values[0] == 50 && answer(0)->values[1] == 1);
    cr_expect(answer(0)->places[0] == 1 && answer(0)->places[1] == 3);
    commit(0);
    cr_expect_eq(semaphore_of(3), 50);
}

Test(stepper, a_whole_primitive_is_one_statement)
{
    stepper_close(stepper);
    open_with(SQL_WHOLE, primitive_table, PRIMITIVE_COUNT);
    OK(stepper_run(stepper, "INSERT INTO " SCHEMA ".activity VALUES (1, 1, 0, 1110000000001, 0);"
                            "INSERT INTO " SCHEMA ".guid VALUES (2, 1, 10000000001, 0, 0, 5)"));
    bundle_begin(&bundles[0], BUNDLE_STEP2);
    memcpy(bundle_append(&bundles[0], PRIMITIVE_COLLATE, CALL_UNLESS_DONE, 0),
           (int64_t[]){2, 1, -10, 1000000000, 100000000000}, 5 * sizeof(int64_t));
    struct bundle again = bundles[0];
    begin(0);
    cr_assert_eq(stepper_statements(stepper, 0, 0), 1);
    succeeds(0);
    cr_expect_eq(answer(0)->count, 5);
    cr_expect_eq(answer(0)->values[0], 111000000001);
    cr_expect(answer(0)->values[1] == 0 && answer(0)->values[2] == 1);
    cr_expect_eq(answer(0)->skips, 0);
    commit(0);
    bundles[0] = again;
    begin(0);
    succeeds(0);
    cr_expect_eq(answer(0)->skips, 1, "done already");
    cr_expect_eq(answer(0)->values[0], 111000000001);
    cr_expect(answer(0)->null[1] && answer(0)->null[2]);
    commit(0);
}

Test(stepper, after_a_guard_missed_statements_do_nothing)
{
    plan_as(0, ADD, CALL_UNLESS_DONE, 1, -11);
    plan(0, ADD, 2, 1);
    plan(0, INSERT, 2, 1);
    begin(0);
    succeeds(0);
    cr_expect_eq(answer(0)->skips, 1);
    cr_expect_eq(answer(0)->values[0], 10, "and tells where it stands");
    succeeds(0);
    cr_expect(answer(0)->has_row && answer(0)->did_nothing && answer(0)->count == 0);
    succeeds(0);
    cr_expect(!answer(0)->has_row && answer(0)->did_nothing);
    commit(0);
    cr_expect_eq(semaphore_of(2), 20);
    alone(0, ADD, 2, 1);
    cr_expect_eq(semaphore_of(2), 21, "the next transaction skips nothing");
}

/* In the mode and with the parameters of the line a statement fails so. */
static const struct {
    uint8_t primitive, mode;
    int64_t a, b;
    const char *sqlstate;
} errors[] = {
    {ADD, CALL_REQUIRE, 1, -11, "AS008"},         /* REFUSED_NEGATIVE */
    {ADD, CALL_REQUIRE, 77, 1, "AS008"},          /* no row is a miss, too */
    {EQUALS, CALL_REQUIRE, 1, 5, "AS009"},        /* REFUSED_EPOCH */
    {CLAIM, CALL_REQUIRE, 1, 0, "AS011"},         /* REFUSED_NO_MESSAGE */
    {INSERT, CALL_REQUIRE, 1, 0, "23505"},        /* is there */
    {INSERT_NULL, CALL_REQUIRE, 11, 0, "23502"},  /* not null */
    {INSERT_NULL, CALL_REQUIRE, 1, 0, "23502"},   /* checked before the key is */
    {INSERT_CHILD, CALL_REQUIRE, 1, 77, "23503"}, /* no parent */
    {INSERT_CHILD, CALL_PLAIN, 1, 77, "23503"},   {RECORD, CALL_PLAIN, 1, 77, "23503"},
    {DELETE, CALL_PLAIN, 9, 0, "23503"}, /* has a child */
};

Test(stepper, what_the_server_refuses_has_its_sqlstate)
{
    OK(stepper_run(stepper, "INSERT INTO " SCHEMA ".activity VALUES (99, 9, 0, 0, 0)"));
    for (size_t i = 0; i < COUNT(errors); i++) {
        plan_as(0, errors[i].primitive, (enum call_mode)errors[i].mode, errors[i].a, errors[i].b);
        plan(0, READ, 1, 0);
        begin(0);
        fails(0, errors[i].sqlstate);
        cr_expect_str_not_empty(answer(0)->message);
        if (i % 2 == 0) {
            fails(0, "25P02"); /* the transaction is aborted */
            roll_back(0);
        } else {
            end(0, true);
            cr_expect_str_empty(answer(0)->sqlstate, "COMMIT succeeds,");
            cr_expect_not(answer(0)->committed, "as a ROLLBACK");
        }
    }
}

Test(stepper, other_primitives_are_other_statements_of_the_same_name)
{
    static const struct primitive others[] = {
        {.params = 1,
         .op_count = 1,
         .ops = {{OP_SET, TABLE_JOB, JOB_SEMAPHORE, .key = P(0), .value = OPERAND_NOW,
                  .returns = TO(0)}}}};
    alone(0, READ, 1, 0);
    stepper_primitives(stepper, others, COUNT(others));
    plan(0, 0, 1, 0);
    begin(0);
    succeeds(0);
    cr_expect_eq(answer(0)->values[0], 100, "the clock");
    commit(0);
    stepper_primitives(stepper, primitives, PRIMITIVES);
    plan(0, READ, 2, 0);
    begin(0);
    succeeds(0);
    cr_expect_eq(answer(0)->values[0], 20);
    commit(0);
}

/* ---- schedules -------------------------------------------------------------------------------
 * A line a step: who does what, and what is told. Told are the first value, "ok" if there is none,
 * "skips", "nothing", an SQLSTATE, or "waits"; behind it what others who waited are answered. */

enum { COMMIT = PRIMITIVES, ROLLBACK, PLAIN = 0x40, UNLESS = 0x80 };

struct line {
    uint8_t who, what; /* a primitive (required, PLAIN or UNLESS done), or COMMIT, ROLLBACK */
    int64_t a, b;
    const char *told;
};

static bool ends(const struct line *line)
{
    return line->what == COMMIT || line->what == ROLLBACK;
}

static void tell(struct text *text, unsigned c)
{
    const struct stepper_answer *is = answer(c);
    if (is->sqlstate[0] != '\0') {
        text_put(text, "%s", is->sqlstate);
    } else if (is->skips != 0) {
        text_put(text, "skips");
    } else if (is->count > 0) {
        text_put(text, "%lld", (long long)is->values[0]);
    } else {
        text_put(text, is->did_nothing && !is->committed ? "nothing" : "ok");
    }
}

/* What the line and the lines of this transaction behind it do. */
static void begin_line(const struct line *lines, size_t count, char level)
{
    unsigned who = lines[0].who;
    bundles[who] = (struct bundle){0};
    for (size_t i = 0; i < count && !(lines[i].who == who && ends(&lines[i])); i++) {
        if (lines[i].who == who) {
            plan_as(who, lines[i].what & 0x3f,
                    (lines[i].what & PLAIN) != 0    ? CALL_PLAIN
                    : (lines[i].what & UNLESS) != 0 ? CALL_UNLESS_DONE
                                                    : CALL_REQUIRE,
                    lines[i].a, lines[i].b);
        }
    }
    begin_at(who, level == 'S' ? SERIALIZABLE : READ_COMMITTED);
}

static void run_line(const struct line *line)
{
    if (ends(line)) {
        end(line->who, line->what == COMMIT);
    } else {
        step(line->who);
    }
    char told[100];
    struct text text = text_begin(told, sizeof told);
    if (is_blocked(line->who)) {
        text_put(&text, "waits");
    } else {
        tell(&text, line->who);
    }
    for (unsigned c = 0; c < CONNECTIONS; c++) {
        if (c != line->who && was_answered(c)) {
            text_put(&text, ", %u: ", c);
            tell(&text, c);
        }
    }
    cr_expect_str_eq(told, line->told, "%u: %s, not %s", line->who, told, line->told);
}

/* `levels`: R or S for each transaction, in the order of their numbers. */
static void run_schedule(const char *levels, const struct line *lines, size_t count)
{
    bool open[CONNECTIONS] = {false};
    for (size_t i = 0; i < count; i++) {
        if (!open[lines[i].who]) {
            begin_line(&lines[i], count - i, levels[lines[i].who]);
        }
        run_line(&lines[i]);
        open[lines[i].who] = !ends(&lines[i]);
    }
    OK(stepper_reset(stepper));
}

#define LINES(...) (const struct line[]){__VA_ARGS__}, COUNT(((const struct line[]){__VA_ARGS__}))

Test(stepper, a_wait_ends_with_the_row_as_it_then_is)
{
    run_schedule("RR", LINES({0, ADD, 1, 5, "15"}, {1, ADD, 1, 7, "waits"},
                             {0, COMMIT, .told = "ok, 1: 22"}, {1, COMMIT, .told = "ok"}));
    cr_expect_eq(semaphore_of(1), 22);
    run_schedule("RR", LINES({0, ADD, 1, 5, "27"}, {1, ADD, 1, 7, "waits"},
                             {0, ROLLBACK, .told = "nothing, 1: 29"}));
}

Test(stepper, a_test_is_made_on_the_row_after_the_wait)
{
    run_schedule("RR", LINES({0, ADD, 1, -10, "0"}, {1, ADD | UNLESS, 1, -1, "waits"},
                             {0, COMMIT, .told = "ok, 1: skips"}, {1, COMMIT, .told = "ok"}));
}

Test(stepper, an_error_lets_go_before_the_transaction_is_ended)
{
    run_schedule("RR", LINES({0, ADD, 1, 5, "15"}, {1, ADD, 1, 7, "waits"},
                             {0, ADD, 2, -100, "AS008, 1: 17"}, {0, COMMIT, .told = "nothing"}));
}

Test(stepper, of_those_in_line_each_commit_lets_one_go)
{
    run_schedule("RRR", LINES({0, UPDATE, 1, 0, "10"}, {1, ADD, 1, 1, "waits"},
                              {2, ADD, 1, 2, "waits"}, {0, COMMIT, .told = "ok, 1: 11"},
                              {1, COMMIT, .told = "ok, 2: 13"}, {2, COMMIT, .told = "ok"}));
}

/* ... and those who want to share it, together. */
Test(stepper, shares_in_line_are_let_go_together_and_overtake_a_writer)
{
    run_schedule("RRR", LINES({0, ADD, 1, 1, "11"}, {1, SHARE, 1, 0, "waits"},
                              {2, SHARE, 1, 0, "waits"}, {0, COMMIT, .told = "ok, 1: 11, 2: 11"}));
    run_schedule("RRR",
                 LINES({0, SHARE, 1, 0, "11"}, {1, ADD, 1, 1, "waits"}, {2, SHARE, 1, 0, "11"},
                       {0, COMMIT, .told = "ok"}, {2, COMMIT, .told = "ok, 1: 12"}));
}

Test(stepper, an_insert_waits_for_one_of_its_key)
{
    run_schedule("RR", LINES({0, INSERT, 11, 5, "ok"}, {1, INSERT, 11, 7, "waits"},
                             {0, ROLLBACK, .told = "nothing, 1: ok"}));
    run_schedule("RR", LINES({0, INSERT, 11, 5, "ok"}, {1, INSERT, 11, 7, "waits"},
                             {0, COMMIT, .told = "ok, 1: 23505"}));
    run_schedule("RR", LINES({0, INSERT, 12, 5, "ok"}, {1, INSERT | PLAIN, 12, 7, "waits"},
                             {0, COMMIT, .told = "ok, 1: ok"}, {1, COMMIT, .told = "ok"}));
    cr_expect_eq(semaphore_of(12), 5);
    run_schedule("RR", LINES({0, INSERT, 13, 5, "ok"}, {1, INSERT | PLAIN, 13, 7, "waits"},
                             {0, ROLLBACK, .told = "nothing, 1: ok"}, {1, COMMIT, .told = "ok"}));
    cr_expect_eq(semaphore_of(13), 7);
    run_schedule("RR", LINES({0, INSERT, 14, 5, "ok"}, {1, INSERT | UNLESS, 14, 7, "waits"},
                             {0, COMMIT, .told = "ok, 1: skips"}));
    run_schedule("RR", LINES({0, RECORD, 11, 1, "ok"}, {1, RECORD, 11, 1, "waits"},
                             {0, COMMIT, .told = "ok, 1: ok"}));
}

Test(stepper, an_insert_waits_for_a_delete_of_its_key)
{
    run_schedule("RR", LINES({0, DELETE, 1, 0, "10"}, {1, INSERT, 1, 7, "waits"},
                             {0, ROLLBACK, .told = "nothing, 1: 23505"}));
    run_schedule("RR", LINES({0, DELETE, 1, 0, "10"}, {1, INSERT | UNLESS, 1, 7, "waits"},
                             {0, ROLLBACK, .told = "nothing, 1: skips"}));
    run_schedule("RR", LINES({0, DELETE, 1, 0, "10"}, {1, INSERT, 1, 7, "waits"},
                             {0, COMMIT, .told = "ok, 1: ok"}));
}

Test(stepper, a_row_that_is_not_committed_is_not_there_and_not_waited_for)
{
    run_schedule("RR", LINES({0, INSERT, 11, 5, "ok"}, {1, ADD | PLAIN, 11, 1, "0"},
                             {1, INSERT_CHILD, 50, 11, "23503"}));
}

/* A row that went is gone for who waited for it, even if another one with its key has come. */
Test(stepper, who_waited_for_a_row_that_went_finds_none)
{
    run_schedule("RRRR",
                 LINES({0, DELETE, 1, 0, "10"}, {1, ADD | PLAIN, 1, 1, "waits"},
                       {2, INSERT_CHILD, 50, 1, "waits"}, {0, INSERT, 1, 77, "ok"},
                       {0, COMMIT, .told = "ok, 1: 0, 2: 23503"}, {1, COMMIT, .told = "ok"}));
    cr_expect_eq(semaphore_of(1), 77);
}

Test(stepper, a_parent_is_not_deleted_under_a_child)
{
    run_schedule("RR", LINES({0, INSERT_CHILD, 50, 1, "ok"}, {1, DELETE, 1, 0, "waits"},
                             {0, COMMIT, .told = "ok, 1: 23503"}));
}

/* A key share takes no notice of an update that leaves the key alone: it reads the version before
 * it, and what it locks is locked in the version after it, too. */
Test(stepper, a_key_share_reads_around_an_update_and_holds_its_result)
{
    run_schedule("RRR", LINES({0, ADD, 1, 5, "15"}, {1, KEY_SHARE, 1, 0, "10"},
                              {0, COMMIT, .told = "ok"}, {2, DELETE, 1, 0, "waits"},
                              {1, KEY_SHARE, 1, 0, "15"}, {1, COMMIT, .told = "ok, 2: 15"}));
}

/* Foreign keys are no reason to wait for each other, and updates on top of them no deadlock. */
Test(stepper, two_who_added_a_child_update_the_parent_one_after_the_other)
{
    run_schedule("RR", LINES({0, INSERT_CHILD, 50, 1, "ok"}, {1, INSERT_CHILD, 51, 1, "ok"},
                             {0, ADD, 1, 1, "11"}, {1, ADD, 1, 1, "waits"},
                             {0, COMMIT, .told = "ok, 1: 12"}, {1, COMMIT, .told = "ok"}));
}

/* ---- SERIALIZABLE ---------------------------------------------------------------------------- */

/* (S1): what committed between BEGIN and the first statement is seen. */
Test(stepper, a_serializable_snapshot_begins_with_the_first_statement)
{
    plan(0, READ, 1, 0);
    plan(0, READ, 1, 0);
    begin_at(0, SERIALIZABLE);
    alone(1, ADD, 1, 1);
    succeeds(0);
    cr_expect_eq(answer(0)->values[0], 11);
    alone(1, ADD, 1, 1);
    succeeds(0);
    cr_expect_eq(answer(0)->values[0], 11, "the same snapshot");
    commit(0);
}

/* Behind a snapshot that was taken before: what another one commits, and then a write. */
static const struct {
    struct line meanwhile, behind;
} behind_snapshot[] = {
    {{1, ADD, 1, 1, "11"}, {0, ADD, 1, 1, "40001"}},
    {{1, ADD, 1, 1, "11"}, {0, SHARE, 1, 0, "40001"}},
    {{1, ADD, 1, 1, "11"}, {0, KEY_SHARE, 1, 0, "10"}}, /* the snapshot's version, no error */
    {{1, ADD, 1, 1, "11"}, {0, INSERT_CHILD, 50, 1, "ok"}},
    {{1, UPDATE, 1, 0, "10"}, {0, ADD, 1, 1, "11"}}, /* locked and let go is not changed */
    {{1, DELETE, 1, 0, "10"}, {0, ADD, 1, 1, "40001"}},
    {{1, INSERT, 11, 5, "ok"}, {0, ADD | PLAIN, 11, 1, "0"}}, /* not there, in the snapshot */
    {{1, INSERT, 11, 5, "ok"}, {0, INSERT, 11, 7, "23505"}},
    {{1, INSERT, 11, 5, "ok"}, {0, INSERT | PLAIN, 11, 7, "40001"}},
    {{1, INSERT, 11, 5, "ok"}, {0, INSERT | UNLESS, 11, 7, "40001"}},
    {{1, INSERT, 11, 5, "ok"}, {0, INSERT_CHILD, 50, 11, "23503"}}, /* a parent must be in it */
    {{1, INSERT_CHILD, 50, 1, "ok"}, {0, DELETE, 1, 0, "23503"}},   /* a child need not */
    {{1, RECORD, 50, 1, "ok"}, {0, RECORD, 50, 1, "40001"}},
};

Test(stepper, a_serializable_write_of_what_changed_since_its_snapshot_fails)
{
    for (size_t i = 0; i < COUNT(behind_snapshot); i++) {
        run_schedule("SR", LINES({0, READ, 2, 0, "20"}, behind_snapshot[i].meanwhile,
                                 {1, COMMIT, .told = "ok"}, behind_snapshot[i].behind));
        OK(stepper_run(stepper, "DELETE FROM " SCHEMA ".activity; DELETE FROM " SCHEMA
                                ".escalation; DELETE FROM " SCHEMA ".job WHERE id IN (1, 11);"
                                "INSERT INTO " SCHEMA ".job VALUES (1, 10, 0, 0, 0, 0)"));
    }
}

Test(stepper, a_serializable_write_that_waited_fails_if_the_other_commits)
{
    run_schedule("SS", LINES({0, ADD, 1, 5, "15"}, {1, ADD, 1, 7, "waits"},
                             {0, ROLLBACK, .told = "nothing, 1: 17"}));
    run_schedule("SS", LINES({0, ADD, 1, 5, "15"}, {1, ADD, 1, 7, "waits"},
                             {0, COMMIT, .told = "ok, 1: 40001"}));
    run_schedule("RS", LINES({0, UPDATE, 2, 0, "20"}, {1, ADD, 2, 7, "waits"},
                             {0, COMMIT, .told = "ok, 1: 27"}));
    run_schedule("SS", LINES({0, INSERT, 11, 0, "ok"}, {1, INSERT, 11, 0, "waits"},
                             {0, COMMIT, .told = "ok, 1: 23505"}));
    run_schedule("SS", LINES({0, INSERT, 12, 0, "ok"}, {1, INSERT | PLAIN, 12, 0, "waits"},
                             {0, COMMIT, .told = "ok, 1: 40001"}));
    run_schedule("SS", LINES({0, RECORD, 11, 1, "ok"}, {1, RECORD, 11, 1, "waits"},
                             {0, COMMIT, .told = "ok, 1: 40001"}));
}

/* Each writes what the other read. The second to commit fails: at its statement if the first one
 * has committed before, else at COMMIT. */
Test(stepper, of_two_with_write_skew_the_second_to_commit_fails)
{
    run_schedule("SS", LINES({0, READ, 1, 0, "10"}, {1, READ, 2, 0, "20"}, {0, ADD, 2, 1, "21"},
                             {1, ADD, 1, 1, "11"}, {0, COMMIT, .told = "ok"},
                             {1, COMMIT, .told = "40001"}));
    run_schedule("SS", LINES({0, READ, 1, 0, "10"}, {1, READ, 2, 0, "21"}, {0, ADD, 2, 1, "22"},
                             {0, COMMIT, .told = "ok"}, {1, ADD, 1, 1, "40001"},
                             {1, ROLLBACK, .told = "nothing"}));
    run_schedule("SR",
                 LINES({0, READ, 1, 0, "10"}, {1, READ, 2, 0, "22"}, {0, ADD, 2, 1, "23"},
                       {1, ADD, 1, 1, "11"}, {0, COMMIT, .told = "ok"}, {1, COMMIT, .told = "ok"}));
}

/* What the server keeps of reads is coarse: any read by key locks the page of the index that the
 * key is or would be in. Rows of their own do not save two transactions that also insert. */
Test(stepper, reads_by_key_and_inserts_of_others_are_taken_for_a_conflict)
{
    run_schedule("SS",
                 LINES({0, READ, 1, 0, "10"}, {1, READ, 3, 0, "30"}, {0, ADD, 2, 1, "21"},
                       {1, ADD, 4, 1, "41"}, {0, COMMIT, .told = "ok"}, {1, COMMIT, .told = "ok"}));
    run_schedule("SS", LINES({0, READ, 1, 0, "10"}, {1, READ, 3, 0, "30"}, {0, INSERT, 12, 1, "ok"},
                             {1, INSERT, 14, 1, "ok"}, {0, COMMIT, .told = "ok"},
                             {1, COMMIT, .told = "40001"}));
}

/* E-CUT-11: the lock call takes the snapshot, then it waits. What is read behind the wait is older
 * than the lock, and since the writer is READ COMMITTED, nobody notices. */
Test(stepper, a_serializable_wait_for_an_advisory_lock_ends_in_stale_reads)
{
    run_schedule("RS",
                 LINES({0, ADVISORY, 7, 0, "ok"}, {1, ADVISORY, 7, 0, "waits"},
                       {0, ADD, 1, 5, "15"}, {0, COMMIT, .told = "ok, 1: ok"},
                       {1, READ, 1, 0, "10"}, {1, ADD, 2, 1, "21"}, {1, COMMIT, .told = "ok"}));
    cr_expect_eq(semaphore_of(1), 15);
    run_schedule("RR", LINES({0, ADVISORY, 7, 0, "ok"}, {1, ADVISORY, 7, 0, "waits"},
                             {0, ADD, 1, 5, "20"}, {0, COMMIT, .told = "ok, 1: ok"},
                             {1, READ, 1, 0, "20"}, {1, COMMIT, .told = "ok"}));
}

/* ---- waits ----------------------------------------------------------------------------------- */

/* (S2) */
Test(stepper, statements_that_do_not_wait_go_on_beside_those_that_do)
{
    plan(0, ADD, 1, 5);
    plan(0, READ, 2, 0);
    plan(0, ADD, 2, 1);
    plan(1, ADD, 1, 7);
    plan(2, ADD, 2, 7);
    plan(3, ADD, 3, 7);
    for (unsigned c = 0; c < 4; c++) {
        begin(c);
    }
    succeeds(0);
    blocks(1);
    succeeds(0);
    succeeds(0);
    blocks(2);
    succeeds(3);
    cr_expect_eq(stepper_blocked(stepper), 6);
    commit(3);
    cr_expect_eq(stepper_blocked(stepper), 6);
    commit(0);
    cr_expect_eq(answered, 7);
    commit(1);
    commit(2);
}

Test(stepper, several_sends_settle_together)
{
    for (unsigned c = 0; c < 4; c++) {
        plan(c, ADD, 1, 1);
        begin(c);
        send(c);
    }
    settle(false);
    cr_expect_eq(__builtin_popcount(answered), 1);
    cr_expect_eq(__builtin_popcount(stepper_blocked(stepper)), 3);
    OK(stepper_reset(stepper));
    cr_expect_eq(stepper_blocked(stepper), 0);
    cr_expect_eq(semaphore_of(1), 10);
    bundles[0] = (struct bundle){0};
    alone(0, ADD, 1, 1);
    cr_expect_eq(semaphore_of(1), 11);
}

/* ---- locks of rows --------------------------------------------------------------------------- */

/* Whether the second has to wait for the first, which is not committed. */
static const struct {
    uint8_t first, second;
    bool waits;
} locks[] = {
    {ADD, READ, false},           {ADD, KEY_SHARE, false},    {ADD, SHARE, true},
    {ADD, UPDATE, true},          {ADD, INSERT_CHILD, false}, {ADD, DELETE, true},
    {UPDATE, READ, false},        {UPDATE, KEY_SHARE, true},  {UPDATE, INSERT_CHILD, true},
    {SHARE, SHARE, false},        {SHARE, KEY_SHARE, false},  {SHARE, ADD, true},
    {SHARE, UPDATE, true},        {KEY_SHARE, ADD, false},    {KEY_SHARE, UPDATE, true},
    {KEY_SHARE, DELETE, true},    {INSERT_CHILD, ADD, false}, {INSERT_CHILD, UPDATE, true},
    {INSERT_CHILD, DELETE, true}, {DELETE, READ, false},      {DELETE, KEY_SHARE, true},
    {DELETE, INSERT_CHILD, true}, {EQUALS, ADD, true},        {EQUALS, KEY_SHARE, false},
};

Test(stepper, rows_are_locked_as_strongly_as_postgresql_says)
{
    for (size_t i = 0; i < COUNT(locks); i++) {
        bool child = locks[i].first == INSERT_CHILD, other = locks[i].second == INSERT_CHILD;
        plan_as(0, locks[i].first, CALL_PLAIN, child ? 50 : 1, child ? 1 : 10);
        plan_as(1, locks[i].second, CALL_PLAIN, other ? 51 : 1, other ? 1 : 10);
        begin(0);
        begin(1);
        succeeds(0);
        step(1);
        cr_expect_eq(is_blocked(1), locks[i].waits, "line %zu", i);
        roll_back(0);
        cr_expect_not(is_blocked(1));
        cr_expect_str_empty(answer(1)->sqlstate, "line %zu: %s", i, answer(1)->message);
        roll_back(1);
    }
}

/* ---- deadlocks ------------------------------------------------------------------------------- */

/* (S5) */
Test(stepper, of_two_that_wait_for_each_other_one_is_aborted_and_the_other_goes_on)
{
    for (unsigned c = 0; c < 2; c++) {
        plan(c, ADD, 1 + c, 1);
        plan(c, ADD, 2 - c, 1);
        begin(c);
        succeeds(c);
    }
    plan(2, ADD, 3, 1);
    begin(2);
    blocks(0);
    send(2); /* a stranger's answer is no end of the cycle */
    send(1);
    settle(true);
    cr_expect_eq(answered, 7);
    unsigned victim = answer(0)->sqlstate[0] != '\0' ? 0 : 1;
    cr_expect_str_eq(answer(victim)->sqlstate, "40P01");
    cr_expect_str_empty(answer(1 - victim)->sqlstate);
    roll_back(victim);
    commit(1 - victim);
    commit(2);
}

Test(stepper, a_cycle_of_three_is_broken_and_the_rest_is_settled)
{
    for (unsigned c = 0; c < 3; c++) {
        plan(c, ADD, 1 + c, 1);
        plan(c, ADD, 1 + (c + 1) % 3, 1);
        begin(c);
        succeeds(c);
    }
    blocks(0);
    blocks(1);
    send(2);
    settle(true);
    cr_expect_eq(__builtin_popcount(answered), 2, "the victim, and who waited for it");
    cr_expect_eq(__builtin_popcount(stepper_blocked(stepper)), 1);
    OK(stepper_reset(stepper));
}

/* ---- claims ---------------------------------------------------------------------------------- */

static void publish_two(void)
{
    OK(stepper_run(stepper, "INSERT INTO " SCHEMA ".activity VALUES (2, 1, 0, 0, 0);"
                            "INSERT INTO " SCHEMA ".message SELECT i, 1, 1, 2, 0, 0, 0, 0, 0, "
                            "0, 0, 0, 0, 0, i, 0 FROM generate_series(21, 22) i"));
}

/* Both read the index of what is due, and both write it. */
Test(stepper, of_two_serializable_claims_one_fails_although_they_took_two_messages)
{
    publish_two();
    run_schedule("SS", LINES({0, CLAIM, 30, 0, "ok"}, {1, CLAIM, 30, 0, "ok"},
                             {0, COMMIT, .told = "ok"}, {1, COMMIT, .told = "40001"}));
}

Test(stepper, claims_skip_what_others_hold_and_never_wait)
{
    publish_two();
    for (unsigned c = 0; c < 3; c++) {
        plan_as(c, CLAIM, CALL_UNLESS_DONE, 30, 0);
        begin(c);
        succeeds(c);
        cr_expect_eq(answer(c)->message_there, c < 2);
        cr_expect_eq(answer(c)->skips, c == 2);
        cr_expect_eq(answer(c)->claimed[0], c < 2 ? 21 + c : 0);
        cr_expect_eq(answer(c)->claimed[1 + MESSAGE_VISIBLE_AT], c < 2 ? 130 : 0);
        cr_expect_eq(answer(c)->claimed[1 + MESSAGE_EPOCH], c < 2 ? 1 : 0);
    }
    roll_back(0);
    commit(1);
    commit(2);
    plan(0, CLAIM, 30, 0);
    begin(0);
    succeeds(0);
    cr_expect_eq(answer(0)->claimed[0], 21, "it was given back");
    commit(0);
}

/* ---- trouble --------------------------------------------------------------------------------- */

Test(stepper, one_connection_more_than_a_role_may_have_is_refused)
{
    struct error error;
    for (unsigned limit = 0; limit < 4; limit++) {
        char sqlstate[6];
        cr_assert(stepper_connection_refused(server_dsn(), NULL, limit, sqlstate, &error), "%s",
                  error.text);
        cr_expect_str_eq(sqlstate, "53300", "limit %u: %s", limit, error.text);
    }
    char sqlstate[6];
    cr_expect_not(stepper_connection_refused("host=/nowhere", "guest", 1, sqlstate, &error));
    cr_expect_str_not_empty(error.text);
}

Test(stepper, a_connection_that_is_gone_is_trouble)
{
    plan(0, ADD, 1, 1);
    plan(1, ADD, 1, 1);
    begin(0);
    begin(1);
    succeeds(0);
    blocks(1);
    OK(stepper_run(stepper, "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks "
                            "WHERE NOT granted"));
    cr_expect_not(stepper_settle(stepper, false, &answered));
    cr_expect(strstr(stepper_why_not(stepper), "lost") != NULL, "%s", stepper_why_not(stepper));
}

Test(stepper, what_the_server_does_not_know_is_told_in_one_line)
{
    struct error error;
    cr_expect_not(stepper_run(stepper, "no such words"));
    cr_expect(strstr(stepper_why_not(stepper), "42601") != NULL, "%s", stepper_why_not(stepper));
    struct stepper_options options = {.dsn = "host=/nowhere",
                                      .schema = SCHEMA,
                                      .primitives = primitives,
                                      .primitive_count = PRIMITIVES,
                                      .connections = 1};
    cr_expect_null(stepper_open(&options, &error));
    cr_expect(strstr(error.text, "nowhere") != NULL, "%s", error.text);
    OK(stepper_run(stepper, "DROP SCHEMA " SCHEMA " CASCADE"));
    plan(0, READ, 1, 0);
    bundles[0].isolation = READ_COMMITTED;
    cr_expect_not(stepper_begin(stepper, 0, &bundles[0], 1));
    cr_expect(strstr(stepper_why_not(stepper), "prepared") != NULL, "%s", stepper_why_not(stepper));
}

/* ---- how long it takes ----------------------------------------------------------------------- */

#define ROUNDS 300

Test(stepper, steps_are_fast)
{
    double bare = seconds();
    for (int i = 0; i < ROUNDS; i++) {
        OK(stepper_run(stepper, "SELECT 1"));
    }
    fprintf(stderr, "SELECT 1 %.0f us; ", (seconds() - bare) / ROUNDS * 1e6);
    double statements = 0, blocked = 0, commits = 0, begins = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double since = seconds();
        for (unsigned c = 0; c < 2; c++) {
            plan(c, ADD, 1, 1);
            plan(c, READ, 2, 0);
            begin(c);
        }
        begins += seconds() - since;
        since = seconds();
        succeeds(0);
        succeeds(0);
        statements += seconds() - since;
        since = seconds();
        blocks(1);
        blocked += seconds() - since;
        since = seconds();
        commit(0);
        commits += seconds() - since;
        commit(1);
    }
    fprintf(stderr,
            "begin %.0f us, statement %.0f us, found blocked %.0f us, commit and the other's "
            "answer %.0f us\n",
            begins / ROUNDS / 2 * 1e6, statements / ROUNDS / 2 * 1e6, blocked / ROUNDS * 1e6,
            commits / ROUNDS * 1e6);
    cr_expect_lt(blocked / ROUNDS, 0.1, "a limit that says something is broken, no more");
}
