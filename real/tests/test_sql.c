/* The SQL as text: what every statement must say and must not, read off the catalogue; the schema;
 * and what an answer means, as a table. What the statements do is shown by test_store_pg.c on a
 * server. */
#include "model/tests/proves.h"
#include "real/answer.h"
#include "real/cell.h"
#include "real/compound.h"
#include "real/history_line.h"
#include "real/presets.h"
#include "real/schema.h"
#include "real/sql.h"
#include "real/views.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- statements ------------------------------------------------------------------------------ */

static struct sql_statement statement;

static const char *text_of(enum primitive_id id, enum call_mode mode)
{
    cr_assert_eq(sql_statement_count(&primitive_table[id], mode, SQL_WHOLE), 1);
    sql_statement(&primitive_table[id], mode, SQL_WHOLE, 0, "s", &statement);
    return statement.text;
}

static int times(const char *text, const char *words)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, words)) != NULL; at += strlen(words)) {
        count++;
    }
    return count;
}

/* What asks the server for the time without asking the schema: (H6), (G3), (S4). */
static const char *const times_of_the_server[] = {
    "now()",        "_timestamp", "timeofday",         "CURRENT_DATE",
    "CURRENT_TIME", "LOCALTIME",  "current_timestamp",
};

static void expect_sound(int params)
{
    const char *text = statement.text;
    cr_expect_eq(statement.params, params, "%s: the call's, and no time", text);
    cr_expect_eq(strcspn(text, "{}"), strlen(text), "%s: a word was not filled in", text);
    cr_expect_null(strchr(text, ';'), "%s: one statement", text);
    for (size_t i = 0; i < COUNT(times_of_the_server); i++) {
        cr_expect_null(strstr(text, times_of_the_server[i]), "%s: the time is the schema's", text);
    }
    for (uint8_t i = 0; i < statement.places_count; i++) {
        cr_expect_lt(statement.places[i], PRIMITIVE_VALUES_MAX);
    }
}

Test(sql, every_operation_of_every_primitive_has_its_statement)
{
    for (int id = 0; id < PRIMITIVE_COUNT; id++) {
        const struct primitive *primitive = &primitive_table[id];
        for (int i = 0; i < 6; i++) {
            enum call_mode mode = (enum call_mode)(i / 2);
            enum sql_form form = (enum sql_form)(i % 2);
            int count = sql_statement_count(primitive, mode, form);
            for (int s = 0; s < count; s++) {
                sql_statement(primitive, mode, form, s, "s", &statement);
                expect_sound(primitive->params);
                bool asks = strstr(statement.text, "current_setting('assay.skip') = '0'") != NULL;
                cr_expect(asks || (s == 0 && primitive->op_count > 1), "%s: may be skipped",
                          statement.text);
            }
        }
    }
}

/* (Q2) */
Test(sql, step2_is_one_statement_that_updates_each_row_once)
{
    SETTLES(ERRATUM_ACL_24);
    for (int mode = CALL_REQUIRE; mode <= CALL_UNLESS_DONE; mode++) {
        const char *text = text_of(PRIMITIVE_COLLATE, (enum call_mode)mode);
        cr_expect_eq(times(text, "UPDATE s.guid"), 1);
        cr_expect_eq(times(text, "UPDATE s.job"), 1);
    }
}

/* (CP2) */
Test(sql, step2_with_its_children_is_one_statement_that_updates_each_row_once)
{
    PROVES(CLAUSE_ACL_27);
    SETTLES(ERRATUM_ACL_24);
    static const char *const once[] = {"UPDATE s.activity",      "UPDATE s.guid",
                                       "UPDATE s.job",           "UPDATE s.task",
                                       "INSERT INTO s.activity", "INSERT INTO s.message"};
    compound_statement("s", &statement);
    expect_sound(COMPOUND_PARAMS);
    for (size_t i = 0; i < COUNT(once); i++) {
        cr_expect_eq(times(statement.text, once[i]), 1, "%s", once[i]);
    }
}

/* (CP1) */
Test(sql, step2_locks_activity_guid_job_and_task_in_this_order)
{
    SETTLES(ERRATUM_ACL_25, ERRATUM_ACL_28);
    static const char *const parts[] = {"FROM s.activity AS t WHERE t.id = $1",
                                        "FOR NO KEY UPDATE",
                                        "FROM s.guid AS t WHERE t.id = $3",
                                        "FROM a)",
                                        "FOR NO KEY UPDATE",
                                        "FROM g, s.job AS t WHERE g.owed",
                                        "FOR NO KEY UPDATE",
                                        "FROM j, s.task AS t",
                                        "FOR NO KEY UPDATE",
                                        "INSERT INTO s.activity",
                                        "FROM j",
                                        "INSERT INTO s.message",
                                        "FROM j"};
    compound_statement("s", &statement);
    const char *at = statement.text;
    for (size_t i = 0; i < COUNT(parts) && at != NULL; i++) {
        at = strstr(at, parts[i]);
        cr_expect_not_null(at, "%s", parts[i]);
    }
}

static struct bundle a_step2(void)
{
    struct bundle bundle;
    bundle_begin(&bundle, BUNDLE_STEP2);
    BUNDLE_CALL(&bundle, PRIMITIVE_MARK_ACTIVITY, CALL_PLAIN, 6, 1, 10);
    BUNDLE_CALL(&bundle, PRIMITIVE_COLLATE, CALL_UNLESS_DONE, 0, 2, 3, -1, 10, 100);
    BUNDLE_CALL(&bundle, PRIMITIVE_CLOSE_TASK, CALL_REQUIRE, 0, 4, 2);
    BUNDLE_CALL(&bundle, PRIMITIVE_ADD_ACTIVITY, CALL_REQUIRE, 0, 5, 3, 1, 0, 2);
    bundle_publish(&bundle, CALL_REQUIRE, 6, 1);
    bundle_join(&bundle, 0);
    return bundle;
}

Test(sql, joined_calls_are_a_compound_only_as_step2_sends_them)
{
    PROVES(CLAUSE_ACL_27);
    static struct compound compound;
    struct primitive table[PRIMITIVE_COUNT];
    memcpy(table, primitive_table, sizeof table);
    struct bundle bundle = a_step2();
    compound_find(&bundle, table, SQL_WHOLE, &compound);
    cr_expect_eq(compound.calls, bundle.count, "all of it");
    compound_find(&bundle, table, SQL_BY_OPERATION, &compound);
    cr_expect_eq(compound.calls, 0);
    bundle.calls[2].params = bundle.calls[0].params; /* closed for another GUID */
    compound_find(&bundle, table, SQL_WHOLE, &compound);
    cr_expect_eq(compound.calls, 0);
    for (int call = 0; call < 5; call++) {
        bundle = a_step2();
        bundle.calls[call].mode = (uint8_t)((bundle.calls[call].mode + 1) % 3);
        compound_find(&bundle, table, SQL_WHOLE, &compound);
        cr_expect_eq(compound.calls, 0, "call %d in another mode", call);
        bundle = a_step2();
        table[bundle.calls[call].primitive].ops[0].test = TEST_LACKS;
        compound_find(&bundle, table, SQL_WHOLE, &compound);
        cr_expect_eq(compound.calls, 0, "call %d altered", call);
        table[bundle.calls[call].primitive] = primitive_table[bundle.calls[call].primitive];
    }
}

/* (Q1) */
Test(sql, a_cell_is_tested_under_its_lock_before_anything_is_written)
{
    SETTLES(ERRATUM_ACL_25);
    for (int id = 0; id < PRIMITIVE_COUNT; id++) {
        const struct primitive *primitive = &primitive_table[id];
        if (primitive->ops[0].kind != OP_TEST && primitive->ops[0].kind != OP_ADD &&
            primitive->ops[0].kind != OP_SET && primitive->ops[0].kind != OP_DELETE) {
            continue;
        }
        int count = sql_statement_count(primitive, CALL_UNLESS_DONE, SQL_WHOLE);
        int first = count > 1 ? 1 : 0;             /* of several, the first makes room for values */
        if (primitive->ops[0].lock == LOCK_NONE) { /* says so: it writes nothing */
            continue;
        }
        sql_statement(primitive, CALL_UNLESS_DONE, SQL_WHOLE, first, "s", &statement);
        const char *text = statement.text;
        const char *lock =
            strstr(text, op_lock_of(&primitive->ops[0]) == LOCK_UPDATE  ? " FOR UPDATE"
                         : op_lock_of(&primitive->ops[0]) == LOCK_SHARE ? " FOR SHARE"
                                                                        : " FOR NO KEY UPDATE");
        cr_assert_not_null(lock, "%s", text);
        cr_expect(strstr(text, "UPDATE s.") == NULL || lock < strstr(text, "UPDATE s."), "%s",
                  text);
        cr_expect(strstr(text, "INSERT INTO") == NULL || lock < strstr(text, "INSERT INTO"), "%s",
                  text);
    }
}

/* What the simulation takes for one snapshot is one statement on a server, in the modes in which
 * engines call it: a list that is not guarded in all. (G1) */
Test(sql, what_is_one_statement_in_the_catalogue_is_sent_as_one)
{
    SETTLES(ERRATUM_SEQ_11);
    for (int id = 0; id < PRIMITIVE_COUNT; id++) {
        const struct primitive *primitive = &primitive_table[id];
        for (int mode = 0; primitive->one_statement && mode <= CALL_UNLESS_DONE; mode++) {
            bool guard = primitive->ops[0].miss == MISS_BY_CALL;
            int count = sql_statement_count(primitive, (enum call_mode)mode, SQL_WHOLE);
            cr_expect(count == 1 || (guard && mode == CALL_PLAIN), "%s: %d statements",
                      primitive->name, count);
        }
    }
}

Test(sql, a_miss_does_what_the_call_says)
{
    const char *text = text_of(PRIMITIVE_MARK_GUID, CALL_REQUIRE);
    cr_expect_eq(times(text, "s.refuse(4)"), 2, "%s: absent, or marked already", text);
    cr_expect_eq(times(text, "'assay.skip', '1'"), 0);
    text = text_of(PRIMITIVE_MARK_GUID, CALL_UNLESS_DONE);
    cr_expect_eq(times(text, "refuse"), 0);
    cr_expect_eq(times(text, "'assay.skip', '1'"), 2, "%s", text);
    text = text_of(PRIMITIVE_MARK_GUID, CALL_PLAIN);
    cr_expect_eq(times(text, "refuse") + times(text, "'assay.skip', '1'"), 0, "%s", text);
}

Test(sql, only_a_required_insert_fails_on_a_key_that_is_there)
{
    cr_expect_null(strstr(text_of(PRIMITIVE_PUBLISH, CALL_REQUIRE), "ON CONFLICT"));
    cr_expect_not_null(strstr(text_of(PRIMITIVE_PUBLISH, CALL_PLAIN), "DO NOTHING"));
    cr_expect_not_null(strstr(text_of(PRIMITIVE_PUBLISH, CALL_UNLESS_DONE), "DO NOTHING"));
    cr_expect_not_null(strstr(text_of(PRIMITIVE_RECORD_TASK, CALL_PLAIN),
                              "ON CONFLICT (id) DO UPDATE SET runs = t.runs + 1"));
}

Test(sql, a_claim_skips_what_others_hold_and_returns_the_message_whole)
{
    const char *text = text_of(PRIMITIVE_CLAIM, CALL_PLAIN);
    cr_expect_not_null(strstr(text, "ORDER BY t.visible_at, t.id LIMIT 1 FOR UPDATE SKIP LOCKED"));
    cr_expect(statement.message);
}

Test(sql, an_altered_primitive_is_executed_by_operation)
{
    struct primitive altered = primitive_table[PRIMITIVE_COLLATE];
    cr_expect_eq(sql_statement_count(&altered, CALL_REQUIRE, SQL_WHOLE), 1, "a copy is the same");
    altered.ops[0].test = TEST_NONE;
    cr_expect_eq(sql_statement_count(&altered, CALL_REQUIRE, SQL_WHOLE), 1 + altered.op_count);
    altered = primitive_table[PRIMITIVE_COLLATE];
    altered.op_count--;
    cr_expect_eq(sql_statement_count(&altered, CALL_REQUIRE, SQL_WHOLE), 1 + altered.op_count);
}

/* A call that goes on whatever its guard says has no whole form: nothing hangs on the guard. */
Test(sql, a_plain_call_of_a_guarded_list_is_executed_by_operation)
{
    const struct primitive *collate = &primitive_table[PRIMITIVE_COLLATE];
    cr_expect_eq(sql_statement_count(collate, CALL_PLAIN, SQL_WHOLE), 1 + collate->op_count);
}

/* One statement whole, as a reader meets it. */
Test(sql, the_statement_of_a_marker)
{
    cr_expect_str_eq(
        text_of(PRIMITIVE_MARK_GUID, CALL_UNLESS_DONE),
        "WITH cell AS MATERIALIZED (\n"
        "  SELECT t.ledger AS was, (t.ledger / $2 % 10 = 0) AS passed\n"
        "    FROM s.guid AS t WHERE t.id = $1 AND current_setting('assay.skip') = '0'"
        " FOR NO KEY UPDATE), written AS (\n"
        "  UPDATE s.guid AS t SET ledger = t.ledger + $2\n"
        "    FROM cell WHERE t.id = $1 AND cell.passed\n"
        "    RETURNING t.ledger AS now)\n"
        "SELECT CASE WHEN NOT (current_setting('assay.skip') = '0') THEN NULL"
        " WHEN cell.passed IS NULL THEN set_config('assay.skip', '1', true)::bigint\n"
        "            WHEN NOT cell.passed THEN set_config('assay.skip', '1', true)::bigint"
        " ELSE 0::bigint END,\n"
        "       coalesce(written.now, cell.was, 0)\n"
        "  FROM (SELECT) AS one LEFT JOIN cell ON true LEFT JOIN written ON true");
    cr_expect_eq(statement.places_count, 1);
    cr_expect_eq(statement.places[0], 0);
}

/* ---- the schema ------------------------------------------------------------------------------ */

/* (H4) */
Test(schema, a_name_that_needs_quotes_is_none)
{
    static const char *const sound[] = {"assay", "assay_1", "_a", "a2345678901234567890"};
    static const char *const unsound[] = {
        "",        "Assay", "1a",
        "a b",     "a;b",   "a\"b",
        "pg_temp", "a.b",   "a23456789012345678901234567890123456789012345678"};
    for (size_t i = 0; i < COUNT(sound); i++) {
        cr_expect(schema_name_is_sound(sound[i]), "%s", sound[i]);
    }
    for (size_t i = 0; i < COUNT(unsound); i++) {
        cr_expect_not(schema_name_is_sound(unsound[i]), "%s", unsound[i]);
    }
}

/* (H2) */
Test(schema, every_table_has_its_key_its_columns_and_its_foreign_key)
{
    char script[SCHEMA_SCRIPT_SIZE];
    schema_create_script("s", UINT64_MAX, script);
    cr_expect_not_null(strstr(script,
                              "CREATE TABLE s.guid (id bigint PRIMARY KEY, activity bigint "
                              "NOT NULL, ledger bigint NOT NULL, dimension bigint NOT NULL, "
                              "answer bigint NOT NULL, content bigint NOT NULL, FOREIGN KEY "
                              "(activity) REFERENCES s.activity);\n"),
                       "%s", script);
    cr_expect_eq(times(script, "CREATE TABLE s."), TABLE_COUNT);
    cr_expect_eq(times(script, "PRIMARY KEY"), TABLE_COUNT);
    int columns = 0, keys = 0;
    for (int t = 0; t < TABLE_COUNT; t++) {
        for (int c = 0; c < schema_columns((enum row_table)t); c++) {
            columns += cell_is_first((enum row_table)t, c) &&
                       !table_column((enum row_table)t, c)->nullable;
        }
        for (const struct foreign_key *key = primitive_foreign_keys[t]; key->there; key++) {
            keys++;
        }
    }
    cr_expect_eq(times(script, "FOREIGN KEY"), keys);
    cr_expect_not(primitive_foreign_keys[TABLE_JOB][0].there, "a job refers to nothing");
    cr_expect_eq(times(script, "NOT NULL"), columns);
    schema_drop_script("s", script);
    cr_expect_str_eq(script, "DROP SCHEMA IF EXISTS s CASCADE;\n");
}

/* The text of a file in golden/. */
static void is_as_kept(const char *name, const char *script)
{
    static char expected[SCHEMA_SCRIPT_SIZE + VIEWS_SCRIPT_SIZE];
    char path[300];
    snprintf(path, sizeof path, "%s/real/tests/golden/%s", ASSAY_SOURCE_DIR, name);
    bool update = getenv("UPDATE_GOLDEN") != NULL;
    FILE *file = fopen(path, update ? "w" : "r");
    cr_assert_not_null(file, "%s", path);
    if (update) {
        fputs(script, file);
    } else {
        size_t length = fread(expected, 1, sizeof expected - 1, file);
        expected[length] = '\0';
        cr_expect_str_eq(script, expected, "it now reads\n%s", script);
    }
    fclose(file);
}

/* The schema of seed 004 as it is made for every run, whole. Each foreign key's sentence is in
 * model/pipeline_tables.def. */
#define PIPELINE_TABLES                                                                            \
    (TABLE_SET(ENTRY) | TABLE_SET(PAST) | TABLE_SET(DEPENDENCY) | TABLE_SET(SWEEP_LOG) |           \
     TABLE_SET(ENVELOPE) | TABLE_SET(UNIT_BLOCK) | TABLE_SET(REVIEW) | TABLE_SET(SIGNATURE) |      \
     TABLE_SET(CHANGE_SET) | TABLE_SET(AFFECTED_ROW) | TABLE_SET(VERIFY))

Test(schema, the_pipeline_has_the_tables_of_its_specification)
{
    SETTLES(ERRATUM_CUT_1);
    char script[SCHEMA_SCRIPT_SIZE];
    schema_create_script("s", PIPELINE_TABLES, script);
    char *end = strstr(script, "CREATE OR REPLACE FUNCTION");
    cr_assert_not_null(end);
    *end = '\0';
    is_as_kept("pipeline_schema.sql", script);
    cr_expect_null(strstr(script, "DEFAULT"));
    cr_expect_null(strstr(script, "CHECK"));
}

/* Ledgers of every kind, a key, enums, and a table that has none of these. */
Test(schema, views_name_digits_and_states)
{
    char script[VIEWS_SCRIPT_SIZE];
    views_script("s",
                 TABLE_SET(JOB) | TABLE_SET(ACTIVITY) | TABLE_SET(GUID) | TABLE_SET(LEGACY) |
                     TABLE_SET(FLOW) | TABLE_SET(SEQ),
                 script);
    is_as_kept("views.sql", script);
}

/* (H5) */
Test(schema, a_foreign_key_to_a_table_that_is_not_made_is_left_out)
{
    char script[SCHEMA_SCRIPT_SIZE];
    schema_create_script("s", TABLE_SET(GUID), script);
    cr_expect_eq(times(script, "CREATE TABLE s."), 1);
    cr_expect_eq(times(script, "FOREIGN KEY"), 0);
    schema_create_script("s", TABLE_SET(GUID) | TABLE_SET(ACTIVITY), script);
    cr_expect_eq(times(script, "CREATE TABLE s."), 2);
    cr_expect_eq(times(script, "FOREIGN KEY"), 1, "%s", script);
    cr_expect_not_null(strstr(script, "REFERENCES s.activity"));
}

/* ---- answers --------------------------------------------------------------------------------- */

#define BEFORE ANSWER_BEFORE_COMMIT
#define AT     ANSWER_AT_COMMIT

static const struct answer_case {
    const char *name;
    struct answer answer;
    uint8_t kind, refusal, aborted;
} answers[] = {
    {"committed", {.sent = true, .commit = ANSWER_COMMIT_DONE}, OUTCOME_COMMITTED, 0, 0},
    {"committed, then lost",
     {.sent = true, .lost = true, .commit = ANSWER_COMMIT_DONE},
     OUTCOME_COMMITTED,
     0,
     0},
    {"COMMIT said ROLLBACK",
     {.sent = true, .commit = ANSWER_COMMIT_ROLLED_BACK},
     OUTCOME_ABORTED,
     0,
     ABORT_SERIALIZATION},
    {"never sent", {.sent = false}, OUTCOME_ABORTED, 0, ABORT_CONNECTION},
    {"no connection to be had",
     {.sent = false, .sqlstate = "53300"},
     OUTCOME_ABORTED,
     0,
     ABORT_CONNECTIONS},
    {"sent, and nothing came back", {.sent = true, .lost = true}, OUTCOME_UNKNOWN, 0, 0},
    {"lost without an SQLSTATE, early",
     {.sent = true, .lost = true, .place = BEFORE},
     OUTCOME_UNKNOWN,
     0,
     0},
    {"lost without an SQLSTATE, at COMMIT",
     {.sent = true, .lost = true, .place = AT},
     OUTCOME_UNKNOWN,
     0,
     0},
    {"ended by the administrator, early",
     {.sent = true, .lost = true, .place = BEFORE, .sqlstate = "57P01", .fatal = true},
     OUTCOME_ABORTED,
     0,
     ABORT_CONNECTION},
    {"ended by the administrator, at COMMIT",
     {.sent = true, .lost = true, .place = AT, .sqlstate = "57P01", .fatal = true},
     OUTCOME_UNKNOWN,
     0,
     0},
    {"another process crashed, early",
     {.sent = true, .lost = true, .place = BEFORE, .sqlstate = "57P02", .fatal = true},
     OUTCOME_ABORTED,
     0,
     ABORT_CONNECTION},
    {"a timeout ended the session, early",
     {.sent = true, .place = BEFORE, .sqlstate = "25P03", .fatal = true},
     OUTCOME_ABORTED,
     0,
     ABORT_CONNECTION},
    {"a timeout ended the session, at COMMIT",
     {.sent = true, .lost = true, .place = AT, .sqlstate = "25P03", .fatal = true},
     OUTCOME_UNKNOWN,
     0,
     0},
    {"the server does not take connections yet",
     {.sent = true, .place = BEFORE, .sqlstate = "57P03", .fatal = true},
     OUTCOME_ABORTED,
     0,
     ABORT_CONNECTION},
    {"a lock was not to be had in time",
     {.sent = true, .place = BEFORE, .sqlstate = "55P03"},
     OUTCOME_ABORTED,
     0,
     ABORT_TIMEOUT},
    {"cancelled",
     {.sent = true, .place = BEFORE, .sqlstate = "57014"},
     OUTCOME_ABORTED,
     0,
     ABORT_TIMEOUT},
    {"cancelled at COMMIT",
     {.sent = true, .place = AT, .sqlstate = "57014"},
     OUTCOME_ABORTED,
     0,
     ABORT_TIMEOUT},
    {"serialization, early",
     {.sent = true, .place = BEFORE, .sqlstate = "40001"},
     OUTCOME_ABORTED,
     0,
     ABORT_SERIALIZATION},
    {"serialization, at COMMIT",
     {.sent = true, .place = AT, .sqlstate = "40001"},
     OUTCOME_ABORTED,
     0,
     ABORT_SERIALIZATION},
    {"deadlock",
     {.sent = true, .place = BEFORE, .sqlstate = "40P01"},
     OUTCOME_ABORTED,
     0,
     ABORT_DEADLOCK},
    {"unique",
     {.sent = true, .place = BEFORE, .sqlstate = "23505"},
     OUTCOME_REFUSED,
     REFUSED_EXISTS,
     0},
    {"foreign key",
     {.sent = true, .place = BEFORE, .sqlstate = "23503"},
     OUTCOME_REFUSED,
     REFUSED_NO_PARENT,
     0},
    {"a principal lacks a right",
     {.bound = true, .sent = true, .place = BEFORE, .sqlstate = "42501"},
     OUTCOME_REFUSED,
     REFUSED_FORBIDDEN,
     0},
    {"a principal meets what nobody has classified",
     {.bound = true, .sent = true, .place = BEFORE, .sqlstate = "22003"},
     OUTCOME_REFUSED,
     REFUSED_UNCLASSIFIED,
     0},
    {"a principal finds no table",
     {.bound = true, .sent = true, .place = BEFORE, .sqlstate = "42P01"},
     OUTCOME_REFUSED,
     REFUSED_UNCLASSIFIED,
     0},
    {"refused", {.sent = true, .place = BEFORE, .sqlstate = "AS009"}, OUTCOME_REFUSED, 9, 0},
};

/* (X1), (X2) */
Test(answer, means_one_outcome)
{
    SETTLES(ERRATUM_ACL_13, ERRATUM_CUT_16);
    for (size_t i = 0; i < COUNT(answers); i++) {
        struct outcome outcome = {.kind = OUTCOME_NONE};
        cr_expect(answer_outcome(&answers[i].answer, &outcome), "%s", answers[i].name);
        cr_expect_eq(outcome.kind, answers[i].kind, "%s", answers[i].name);
        cr_expect_eq(outcome.refusal, answers[i].refusal, "%s", answers[i].name);
        cr_expect_eq(outcome.aborted, answers[i].aborted, "%s", answers[i].name);
    }
}

Test(answer, that_no_outcome_stands_for_is_told_apart)
{
    char first_unknown[16];
    snprintf(first_unknown, sizeof first_unknown, "AS%03d", REFUSAL_COUNT);
    const char *const sqlstates[] = {"42P01", "42501", "22003", "22012", first_unknown, "AS999"};
    for (size_t i = 0; i < COUNT(sqlstates); i++) {
        struct answer answer = {.sent = true, .place = ANSWER_BEFORE_COMMIT};
        struct outcome outcome;
        memcpy(answer.sqlstate, sqlstates[i], 6);
        cr_expect_not(answer_outcome(&answer, &outcome), "%s", sqlstates[i]);
    }
}

/* ---- cells of a typed table -------------------------------------------------------------------- */

#define UUID(last) "'00000000-0000-0000-0000-0000000000" last "'"

/* (CE1): what test_decoding writes of a row; what is NULL it leaves out of an old one. */
Test(sql, a_typed_row_of_the_log_is_the_row_that_was_written)
{
    static const char entry[] =
        " entry_id[uuid]:" UUID("0a") " kind[text]:'work' status[text]:'7' payload[jsonb]:'"
                                      "{\"payload_hash\": \"ffffffffffffffff\", "
                                      "\"idempotency_key\": \"0000000000000010\"}'";
    static const struct {
        enum row_table table;
        const char *text;
        int64_t row[6];
    } rows[] = {
        {TABLE_ENTRY, " scenario_ref[uuid]:null", {10, ENTRY_WORK, 7, 16, -1, 0}},
        {TABLE_ENTRY, "", {10, ENTRY_WORK, 7, 16, -1, 0}},
        {TABLE_ENTRY,
         " scenario_ref[uuid]:'00000000-0000-0000-8000-000000000001'",
         {10, ENTRY_WORK, 7, 16, -1, INT64_MIN + 1}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[600];
        int64_t row[1 + ROW_COLUMNS_MAX] = {0};
        snprintf(text, sizeof text, "%s%s", entry, rows[i].text);
        const char *at = text;
        cr_expect(cell_read_row(&at, rows[i].table, row), "%s", text);
        cr_expect_str_empty(at);
        cr_expect_eq(memcmp(row, rows[i].row, sizeof rows[i].row), 0, "%s", text);
    }
}

Test(sql, a_typed_row_of_the_log_that_is_another_is_refused)
{
    static const char *const texts[] = {
        " dependency_id[uuid]:" UUID("01") " from_entry_id[uuid]:" UUID("02"),
        " dependency_id[uuid]:" UUID("01") " from_entry_id[uuid]:null to_entry_id[uuid]:" UUID(
            "03"),
        " dependency_id[bigint]:1 from_entry_id[uuid]:" UUID("02") " to_entry_id[uuid]:" UUID("03"),
        " dependency_id[uuid]:'10000000-0000-0000-0000-000000000001' from_entry_id[uuid]:" UUID(
            "02") " to_entry_id[uuid]:" UUID("03"),
        " dependency_id[uuid]:" UUID("01") " from_entry_id[uuid]:" UUID(
            "02") " to_entry_id[uuid]:'"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        const char *at = texts[i];
        int64_t row[1 + ROW_COLUMNS_MAX];
        cr_expect_not(cell_read_row(&at, TABLE_DEPENDENCY, row) && *at == '\0', "%s", texts[i]);
    }
}

/* ---- lines of the log -------------------------------------------------------------------------- */

/* (HL1) */
Test(sql, a_line_of_the_log_is_read_whole_or_is_an_error)
{
    static const struct {
        const char *text;
        enum history_line_kind kind;
    } lines[] = {
        {"BEGIN 7", HISTORY_LINE_BEGIN},
        {"COMMIT 7", HISTORY_LINE_COMMIT},
        {"table s.account: INSERT: id[bigint]:1 balance[bigint]:-9", HISTORY_LINE_CHANGE},
        {"table s.account: UPDATE: old-key: id[bigint]:1 balance[bigint]:2 new-tuple: id[bigint]:1 "
         "balance[bigint]:3",
         HISTORY_LINE_CHANGE},
        {"table s.\"account\": DELETE: id[bigint]:1 balance[bigint]:2", HISTORY_LINE_CHANGE},
        {"table other.account: INSERT: id[bigint]:1", HISTORY_LINE_OTHER},
        {"table s.preset: INSERT: id[bigint]:1", HISTORY_LINE_OTHER},
        {"message: transactional: 1 prefix: s, sz: 13 content:word 5 3 70 71", HISTORY_LINE_WORD},
        {"message: transactional: 1 prefix: s, sz: 9 content:locks 5 6", HISTORY_LINE_LOCKS},
        {"message: transactional: 1 prefix: s, sz: 5 content:locks", HISTORY_LINE_LOCKS},
        {"message: transactional: 1 prefix: other, sz: 4 content:word", HISTORY_LINE_OTHER},
        {"table s.flow_event: INSERT: id[bigint]:1 flow[bigint]:2 \"position\"[bigint]:3 "
         "change[bigint]:4 untaken[bigint]:5 runs[bigint]:6",
         HISTORY_LINE_CHANGE},
        {"table s.account: INSERT: id[bigint]:1", HISTORY_LINE_BROKEN},
        {"table s.account: INSERT: id[bigint]:1 balance[bigint]:2 more[bigint]:3",
         HISTORY_LINE_BROKEN},
        {"table s.account: INSERT: id[bigint]:1 balance[bigint]:null", HISTORY_LINE_BROKEN},
        {"table s.account: INSERT: id[bigint]:1 balance[text]:'2'", HISTORY_LINE_BROKEN},
        {"table s.account: UPDATE: id[bigint]:1 balance[bigint]:3", HISTORY_LINE_BROKEN},
        {"table s.account: DELETE: (no-tuple-data)", HISTORY_LINE_BROKEN},
        {"table s.account: TRUNCATE: (no-flags)", HISTORY_LINE_BROKEN},
        {"table s.nothing: INSERT: id[bigint]:1", HISTORY_LINE_BROKEN},
        {"message: transactional: 1 prefix: s, sz: 9 content:word 5", HISTORY_LINE_BROKEN},
        {"message: transactional: 1 prefix: s, sz: 11 content:word 5 3 70", HISTORY_LINE_BROKEN},
        {"message: transactional: 1 prefix: s, sz: 9 content:nonsense", HISTORY_LINE_BROKEN}};
    struct history_line line;
    for (size_t i = 0; i < COUNT(lines); i++) {
        history_line_read(lines[i].text, "s", &line);
        cr_expect_eq(line.kind, lines[i].kind, "%s: %d", lines[i].text, (int)line.kind);
    }
    history_line_read(lines[3].text, "s", &line);
    cr_expect(line.change == ROW_UPDATED && line.table == TABLE_ACCOUNT);
    cr_expect(line.was[0] == 1 && line.was[1] == 2 && line.row[0] == 1 && line.row[1] == 3);
    history_line_read(lines[7].text, "s", &line);
    cr_expect(line.backend == 5 && line.isolation == 3);
    cr_expect(line.wall_from == 70 && line.wall_to == 71);
    history_line_read(lines[8].text, "s", &line);
    cr_expect(line.lock_count == 2 && line.locks[0] == 5 && line.locks[1] == 6);
}

/* ---- presets --------------------------------------------------------------------------------- */

static struct scenario load(const char *name)
{
    static struct scenario scenario;
    struct error error;
    cr_assert(scenario_load(name, &scenario, &error), "%s", error.text);
    return scenario;
}

/* (PS1) */
Test(presets, a_new_row_brings_the_preset_of_its_node_and_of_no_other)
{
    static char text[PRESETS_SCRIPT_SIZE];
    static struct scenario scenario;
    scenario = load("last-chance");
    cr_expect_eq(presets_statement(&scenario, "s", text), TABLE_TASK);
    cr_expect_str_eq(
        text, "WITH due AS (INSERT INTO s.preset SELECT id FROM s.task AS i WHERE NOT EXISTS "
              "(SELECT FROM s.preset AS had WHERE had.id = i.id) RETURNING id) "
              "UPDATE s.activity AS t SET ledger = t.ledger + preset.amount "
              "FROM due, s.task AS i, (VALUES (NULL::bigint, 0::bigint), (1, 99999997)) "
              "AS preset (node, amount) "
              "WHERE i.id = due.id AND t.id = i.activity AND t.node = preset.node");
    presets_script("s", text);
    cr_expect_str_eq(text, "CREATE TABLE s.preset (id bigint PRIMARY KEY);\n");
    static const int64_t nodes[][2] = {{0, 0}, {1, 99999997}, {2, 0}, {-1, 0}};
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        int64_t row[1 + ROW_COLUMNS_MAX] = {7, [1 + ACTIVITY_NODE] = nodes[i][0]};
        int ledger = -1;
        cr_expect_eq(presets_of(&scenario, row, &ledger), nodes[i][1], "node %d", (int)nodes[i][0]);
        cr_expect_eq(ledger, ACTIVITY_LEDGER);
    }
}

Test(presets, a_preset_is_due_of_a_row_that_was_inserted_where_the_scenario_has_some)
{
    static struct scenario scenario;
    static const struct {
        const char *name;
        enum row_table table;
        enum row_change_kind kind;
        bool due;
        int64_t key;
    } cases[] = {{"last-chance", TABLE_TASK, ROW_INSERTED, true, 70},
                 {"last-chance", TABLE_TASK, ROW_UPDATED, false, 0},
                 {"last-chance", TABLE_ACTIVITY, ROW_INSERTED, false, 0},
                 {"legacy-ceilings", TABLE_LEGACY, ROW_INSERTED, true, 7},
                 {"inbox", TABLE_INBOX, ROW_INSERTED, false, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct history_change change = {
            .table = cases[i].table, .kind = cases[i].kind, .row = {7, [1 + TASK_ACTIVITY] = 70}};
        enum row_table table = TABLE_COUNT;
        int64_t key = 0;
        scenario = load(cases[i].name);
        cr_expect_eq(presets_due(&scenario, &change, &table, &key), cases[i].due, "case %zu", i);
        cr_expect_eq(key, cases[i].key, "case %zu", i);
        cr_expect_eq(table,
                     !cases[i].due                  ? TABLE_COUNT
                     : cases[i].table == TABLE_TASK ? TABLE_ACTIVITY
                                                    : cases[i].table,
                     "case %zu", i);
    }
}
