/* What a line of results.jsonl may say, and whether it shows that anything ran. Lines that Assay
 * did not write, or that were cut or edited, are refused here, before they are added to evidence:
 * what cannot be read is nobody's success.
 *
 * (LI1) A line has a type, which is a text. Types that are not known here say nothing.
 * (LI2) Every line is in a session: "begin" opens one and names its verb, "end" closes it. A
 *       session that is open when another one begins, or at the end, was killed.
 * (LI3) "end" has the exit status of a verb, one of those that are documented.
 * (LI4) What is counted is a whole number from 0 to LINE_COUNT_MAX.
 * (LI5) A finding is new, known or expected. */
#ifndef REPORTS_LINE_H
#define REPORTS_LINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define LINE_COUNT_MAX INT64_C(1000000000000000)

/* Where a reader of lines stands. */
struct line_reader {
    bool open; /* a session has begun and not ended */
};

/* True, or `why` says what is wrong with the line. */
bool line_check(struct line_reader *reader, const json_t *line, char *why, size_t size);

/* An exit status of a verb, in words ("every promise held"), and how much it says: the more, the
 * later in the list. -1: no verb ends so. */
int line_status_rank(json_int_t status);
const char *line_status_words(int rank);

/* Whether the line shows that something ran or was measured, with a planted bug or not. */
bool line_shows_a_run(const json_t *line);

#endif
