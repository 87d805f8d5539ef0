#include "wire/judge.h"

#include "model/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUERY_SIZE 4096

void judge_columns(const struct subject_mapping *mapping, const char *prefix,
                   char text[JUDGE_COLUMNS_SIZE])
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < mapping->column_count; i++) {
        used += (size_t)snprintf(text + used, JUDGE_COLUMNS_SIZE - used, "%s%s%s",
                                 i == 0 ? "" : ", ", prefix, mapping->columns[i]);
    }
}

/* ---- queries --------------------------------------------------------------------------------- */

static void query_twice(const struct subject_promise *promise, int64_t most, char *query)
{
    char columns[JUDGE_COLUMNS_SIZE];
    judge_columns(&promise->of, "", columns);
    (void)snprintf(query, QUERY_SIZE,
                   "SELECT %s, count(*) AS times FROM %s GROUP BY %s HAVING count(*) > %" PRId64
                   " ORDER BY %s LIMIT 1",
                   columns, promise->of.table, columns, most, columns);
}

static void query_none(const struct subject_promise *promise, char *query)
{
    char wanted[JUDGE_COLUMNS_SIZE];
    char found[JUDGE_COLUMNS_SIZE];
    judge_columns(&promise->each, "e.", wanted);
    judge_columns(&promise->of, "o.", found);
    (void)snprintf(query, QUERY_SIZE,
                   "SELECT %s, 0 AS times FROM %s e WHERE NOT EXISTS (SELECT 1 FROM %s o WHERE "
                   "(%s) = (%s)) LIMIT 1",
                   wanted, promise->each.table, promise->of.table, found, wanted);
}

static void query_order(const struct subject_promise *promise, char *query)
{
    const char(*column)[SUBJECT_NAME_SIZE] = promise->of.columns;
    (void)snprintf(query, QUERY_SIZE,
                   "SELECT * FROM (SELECT %s, %s AS position, lag(%s) OVER (PARTITION BY %s ORDER "
                   "BY %s) AS position_before FROM %s) x WHERE position < position_before LIMIT 1",
                   column[0], column[1], column[1], column[0], column[2], promise->of.table);
}

static void query_bounded(const struct subject_promise *promise, char *query)
{
    (void)snprintf(query, QUERY_SIZE, "SELECT * FROM %s WHERE %s > %" PRId64 " LIMIT 1",
                   promise->of.table, promise->of.columns[promise->of.column_count - 1],
                   promise->most);
}

bool judge_is_always(const struct subject_promise *promise)
{
    return promise->is == SUBJECT_AT_A_TIME;
}

/* ---- answers --------------------------------------------------------------------------------- */

static void write_row(const PGresult *result, char text[JUDGE_TEXT_SIZE])
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < PQnfields(result) && used < JUDGE_TEXT_SIZE; i++) {
        used += (size_t)snprintf(text + used, JUDGE_TEXT_SIZE - used, "%s%s=%s", i == 0 ? "" : ", ",
                                 PQfname(result, i),
                                 PQgetisnull(result, 0, i) ? "null" : PQgetvalue(result, 0, i));
    }
}

static void write_rows(const PGresult *result, char text[JUDGE_TEXT_SIZE])
{
    size_t used = 0;
    text[0] = '\0';
    for (int row = 0; row < PQntuples(result); row++) {
        for (int i = 0; i < PQnfields(result) && used < JUDGE_TEXT_SIZE; i++) {
            used += (size_t)snprintf(text + used, JUDGE_TEXT_SIZE - used, "%s%s",
                                     i > 0     ? "|"
                                     : row > 0 ? "\n"
                                               : "",
                                     PQgetvalue(result, row, i));
        }
    }
}

/* NULL: the query failed, and the text says why. */
static PGresult *ask(PGconn *connection, const char *query, char text[JUDGE_TEXT_SIZE])
{
    PGresult *result = PQexec(connection, query);
    if (PQresultStatus(result) == PGRES_TUPLES_OK) {
        return result;
    }
    (void)snprintf(text, JUDGE_TEXT_SIZE, "%.400s", PQresultErrorMessage(result));
    for (char *at = text; *at != '\0'; at++) {
        *at = *at == '\n' ? ' ' : *at;
    }
    if (text[0] == '\0') {
        (void)snprintf(text, JUDGE_TEXT_SIZE, "the query returns no rows: it is no SELECT");
    }
    PQclear(result);
    return NULL;
}

/* A row is a breach. */
static enum judge_verdict ask_for_none(PGconn *connection, const char *query,
                                       char text[JUDGE_TEXT_SIZE])
{
    PGresult *result = ask(connection, query, text);
    if (result == NULL) {
        return JUDGE_FAILED;
    }
    bool broken = PQntuples(result) > 0;
    if (broken) {
        write_row(result, text);
    }
    PQclear(result);
    return broken ? JUDGE_BROKEN : JUDGE_HOLDS;
}

enum judge_verdict judge_rows(PGconn *connection, const char *query, char text[JUDGE_TEXT_SIZE])
{
    PGresult *result = ask(connection, query, text);
    if (result == NULL) {
        return JUDGE_FAILED;
    }
    write_rows(result, text);
    PQclear(result);
    return JUDGE_HOLDS;
}

enum judge_verdict judge_done(PGconn *connection, const char *query, char text[JUDGE_TEXT_SIZE])
{
    enum judge_verdict verdict = judge_rows(connection, query, text);
    if (verdict != JUDGE_HOLDS) {
        return verdict;
    }
    return strcmp(text, "t") == 0 ? JUDGE_HOLDS : JUDGE_BROKEN;
}

enum judge_verdict judge_promise(PGconn *connection, const struct subject_promise *promise,
                                 char text[JUDGE_TEXT_SIZE])
{
    char query[QUERY_SIZE] = "";
    enum judge_verdict verdict = JUDGE_HOLDS;
    bool once = promise->is == SUBJECT_EXACTLY_ONCE || promise->is == SUBJECT_TIMER_ONCE;
    if (promise->is == SUBJECT_NEVER) {
        return ask_for_none(connection, promise->never, text);
    }
    if (once || promise->is == SUBJECT_AT_MOST_ONCE) {
        query_twice(promise, 1, query);
        verdict = ask_for_none(connection, query, text);
    } else if (promise->is == SUBJECT_AT_A_TIME) {
        query_twice(promise, promise->most, query);
        verdict = ask_for_none(connection, query, text);
    } else if (promise->is == SUBJECT_BOUNDED) {
        query_bounded(promise, query);
        verdict = ask_for_none(connection, query, text);
    } else if (promise->is == SUBJECT_ORDERED) {
        query_order(promise, query);
        verdict = ask_for_none(connection, query, text);
    }
    if (verdict == JUDGE_HOLDS && (once || promise->is == SUBJECT_AT_LEAST_ONCE) &&
        promise->each.column_count > 0) {
        query_none(promise, query);
        verdict = ask_for_none(connection, query, text);
    }
    return verdict;
}

/* ---- compared with the run without faults ---------------------------------------------------- */

static bool has_keys(const struct subject_promise *promise)
{
    return promise->is == SUBJECT_EXACTLY_ONCE || promise->is == SUBJECT_TIMER_ONCE ||
           promise->is == SUBJECT_AT_LEAST_ONCE;
}

static enum judge_verdict count_keys(PGconn *connection, const struct subject_promise *promise,
                                     int64_t *keys, char text[JUDGE_TEXT_SIZE])
{
    char query[QUERY_SIZE];
    char columns[JUDGE_COLUMNS_SIZE];
    judge_columns(&promise->of, "", columns);
    (void)snprintf(query, sizeof query, "SELECT count(*) FROM (SELECT DISTINCT %s FROM %s) x",
                   columns, promise->of.table);
    enum judge_verdict verdict = judge_rows(connection, query, text);
    *keys = verdict == JUDGE_HOLDS ? strtoll(text, NULL, 10) : -1;
    return verdict;
}

enum judge_verdict judge_missing(PGconn *connection, const struct subject_promise *promise,
                                 int64_t keys, char text[JUDGE_TEXT_SIZE])
{
    int64_t found;
    if (!has_keys(promise) || keys < 0) {
        return JUDGE_HOLDS;
    }
    if (count_keys(connection, promise, &found, text) != JUDGE_HOLDS) {
        return JUDGE_FAILED;
    }
    if (found >= keys) {
        return JUDGE_HOLDS;
    }
    (void)snprintf(text, JUDGE_TEXT_SIZE,
                   "%s has %" PRId64 " different keys, and %" PRId64 " without faults",
                   promise->of.table, found, keys);
    return JUDGE_BROKEN;
}

enum judge_verdict judge_expect(PGconn *connection, const struct subject_expect *expect,
                                const char *same, char text[JUDGE_TEXT_SIZE])
{
    char rows[JUDGE_TEXT_SIZE];
    const char *wanted = expect->same ? same : expect->is;
    if (judge_rows(connection, expect->select, rows) != JUDGE_HOLDS) {
        (void)snprintf(text, JUDGE_TEXT_SIZE, "%s", rows);
        return JUDGE_FAILED;
    }
    if (strcmp(rows, wanted) == 0) {
        return JUDGE_HOLDS;
    }
    (void)snprintf(text, JUDGE_TEXT_SIZE, "%.120s: %.150s, and it should be %.150s", expect->select,
                   rows, wanted);
    return JUDGE_BROKEN;
}

bool judge_note(PGconn *connection, const struct subject *subject,
                struct judge_reference *reference, char text[JUDGE_TEXT_SIZE])
{
    *reference = (struct judge_reference){.known = true};
    for (size_t i = 0; i < subject->promise_count; i++) {
        reference->keys[i] = -1;
        if (has_keys(&subject->promises[i]) &&
            count_keys(connection, &subject->promises[i], &reference->keys[i], text) !=
                JUDGE_HOLDS) {
            return false;
        }
    }
    for (size_t i = 0; i < subject->expect_count; i++) {
        if (subject->expect[i].same &&
            judge_rows(connection, subject->expect[i].select, reference->same[i]) != JUDGE_HOLDS) {
            (void)snprintf(text, JUDGE_TEXT_SIZE, "%s", reference->same[i]);
            return false;
        }
    }
    return true;
}
