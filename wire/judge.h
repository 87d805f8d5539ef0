/* Promises put to a database: a preset over its mapping becomes a query that returns a row for each
 * breach; a row, or a query that fails, is told in words.
 *
 * What no query can tell by itself (work that is stranded, a commit that came late, what a client was
 * told) is judged by the run (trial.h). */
#ifndef WIRE_JUDGE_H
#define WIRE_JUDGE_H

#include "wire/subject.h"

#include <libpq-fe.h>

#define JUDGE_TEXT_SIZE 512

enum judge_verdict { JUDGE_HOLDS, JUDGE_BROKEN, JUDGE_FAILED /* the query does not run */ };

/* What the run without faults ended with: what at-least-once and `same` are compared with. */
struct judge_reference {
    bool known;
    int64_t keys[SUBJECT_PROMISES_MAX];               /* of each promise: distinct keys; -1: none */
    char same[SUBJECT_PROMISES_MAX][JUDGE_TEXT_SIZE]; /* of each expectation */
};

/* "job=3, step=pay, times=2" of the first row that breaks it, or the server's message. */
enum judge_verdict judge_promise(PGconn *connection, const struct subject_promise *promise,
                                 char text[JUDGE_TEXT_SIZE]);
/* Fewer keys than without faults: something never happened. */
enum judge_verdict judge_missing(PGconn *connection, const struct subject_promise *promise,
                                 int64_t keys, char text[JUDGE_TEXT_SIZE]);
enum judge_verdict judge_expect(PGconn *connection, const struct subject_expect *expect,
                                const char *same, char text[JUDGE_TEXT_SIZE]);

bool judge_note(PGconn *connection, const struct subject *subject,
                struct judge_reference *reference, char text[JUDGE_TEXT_SIZE]);

/* Whether the query says true. */
enum judge_verdict judge_done(PGconn *connection, const char *query, char text[JUDGE_TEXT_SIZE]);

/* The rows of a query, '|' between columns, a newline between rows. */
enum judge_verdict judge_rows(PGconn *connection, const char *query, char text[JUDGE_TEXT_SIZE]);

/* Whether the promise is asked after every commit. */
bool judge_is_always(const struct subject_promise *promise);

/* "job, step" */
#define JUDGE_COLUMNS_SIZE ((size_t)SUBJECT_COLUMNS_MAX * (SUBJECT_NAME_SIZE + 2))
void judge_columns(const struct subject_mapping *mapping, const char *prefix,
                   char text[JUDGE_COLUMNS_SIZE]);

#endif
