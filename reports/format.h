/* How a report is written. A report goes to a stream that its caller opened; it never opens a file,
 * never decides whether the reader is a person, and never exits. */
#ifndef REPORTS_FORMAT_H
#define REPORTS_FORMAT_H

#include <stdint.h>
#include <stdio.h>

enum format_kind {
    FORMAT_TEXT,    /* for people */
    FORMAT_COLOUR,  /* the same, for a terminal that shows colour */
    FORMAT_JSON,    /* JSON lines: one object a line, each with a "type" */
    FORMAT_MARKDOWN /* for a document */
};

#define FORMAT_WIDTH 100 /* columns of text on a terminal */

/* What stands out: empty strings in any format but FORMAT_COLOUR. */
const char *format_strong(enum format_kind format); /* what the eye should find */
const char *format_alarm(enum format_kind format);  /* what is wrong */
const char *format_plain(enum format_kind format);  /* ends either */

/* 1234567 as "1,234,567". */
struct format_grouped {
    char text[32];
};
struct format_grouped format_grouped(uint64_t number);

/* Writes words, breaking lines before FORMAT_WIDTH; later lines are indented. The cursor stands at
 * column `indent` already. Ends with a new line. */
void format_wrapped(FILE *out, const char *text, int indent);

#endif
