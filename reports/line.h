/* The lines of results, typed: lines.def says which types and keys there are, and the functions
 * that write and read a key follow from it. A line is written by
 *
 *      line_make(LINE_DRIFT, line_scenario(name), line_seed(seed), ...)
 *
 * in the order of its members, and read by line_get_seed(line): a key that there is not, or a value
 * of another kind, does not compile.
 *
 * Lines that Assay did not write, or that were cut or edited, are refused here (line_check), before
 * they are added to evidence: what cannot be read is no success.
 *
 * (LI1) A line has a type, which is a text. Types that are not known here say nothing.
 * (LI2) Every line is in a session: "begin" opens one and names its verb, "end" closes it. A
 *       session that is open when another one begins, or at the end, was killed.
 * (LI3) "end" has the exit status of a verb, one of those that are documented.
 * (LI4) What is counted is a whole number from 0 to LINE_COUNT_MAX.
 * (LI5) A finding is new, known or expected.
 * (LI6) A type has the keys of its rows in lines.def, and each value is of its key's kind, or null.
 *       A line that is read may have other keys: those of another type are of a kind that they have
 *       there, and those that there are not say nothing. */
#ifndef REPORTS_LINE_H
#define REPORTS_LINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define LINE_COUNT_MAX INT64_C(1000000000000000)

/* ---- lines.def ------------------------------------------------------------------------------- */

#define KIND(name, written, read, about) LINE_KIND_##name,
enum line_kind {
#include "reports/lines.def"
    LINE_KINDS
};

#define NAMED(name, text, kind, about) LINE_KEY_##name,
enum line_key {
#include "reports/lines.def"
    LINE_KEY_COUNT
};

#define LINE(name, type, verbs, about, keys) LINE_##name,
enum line_type {
#include "reports/lines.def"
    LINE_TYPE_COUNT
};

/* How a value is handed over in C. A text or JSON that is NULL is null. */
typedef const char *line_as_text;
typedef uint64_t line_as_count;
typedef double line_as_real;
typedef bool line_as_flag;
typedef json_t *line_as_json; /* written: takes the reference; read: borrowed */

struct line_member {
    enum line_key key;
    union {
        line_as_text text;
        line_as_count count;
        line_as_real real;
        line_as_flag flag;
        line_as_json json;
    } value;
};

/* ---- writing --------------------------------------------------------------------------------- */

/* A line of the type; more members of a line. */
#define line_make(type, ...)                                                                       \
    line_add_all(line_begin(type),                                                                 \
                 (const struct line_member[]){__VA_ARGS__, {.key = LINE_KEY_COUNT}})
#define line_add(line, ...)                                                                        \
    ((void)line_add_all((line), (const struct line_member[]){__VA_ARGS__, {.key = LINE_KEY_COUNT}}))
json_t *line_begin(enum line_type type);
json_t *line_add_all(json_t *line, const struct line_member *members);

/* ---- reading --------------------------------------------------------------------------------- */

bool line_is(const json_t *line, enum line_type type);

/* The line tells what runs of a scenario come to. */
bool line_is_about_runs(const json_t *line);

/* "", 0 or false: there is none, or it is of another kind. */
line_as_text line_read_text(const json_t *line, enum line_key key);
line_as_count line_read_count(const json_t *line, enum line_key key);
line_as_real line_read_real(const json_t *line, enum line_key key);
line_as_flag line_read_flag(const json_t *line, enum line_key key);
/* NULL: there is none. */
line_as_json line_read_json(const json_t *line, enum line_key key);
/* A new reference to the value, whatever its kind, or to null. */
json_t *line_copy(const json_t *line, enum line_key key);

const char *line_key_text(enum line_key key);

/* For values that are one of a few words: line_text_is(line_get_kind(line), "new"). */
bool line_text_is(const char *text, const char *word);

/* ---- a writer and a reader for each key: line_seed(value), line_get_seed(line) --------------- */

#define KIND(name, written, read, about)                                                           \
    typedef line_as_##written line_in_##name;                                                      \
    typedef line_as_##read line_out_##name;                                                        \
    static inline struct line_member line_member_##name(enum line_key key, line_in_##name value)   \
    {                                                                                              \
        return (struct line_member){.key = key, .value.written = value};                           \
    }                                                                                              \
    static inline line_out_##name line_value_##name(const json_t *line, enum line_key key)         \
    {                                                                                              \
        return line_read_##read(line, key);                                                        \
    }
#include "reports/lines.def"

#define NAMED(name, text, kind, about)                                                             \
    static inline struct line_member line_##name(line_in_##kind value)                             \
    {                                                                                              \
        return line_member_##kind(LINE_KEY_##name, value);                                         \
    }                                                                                              \
    static inline line_out_##kind line_get_##name(const json_t *line)                              \
    {                                                                                              \
        return line_value_##kind(line, LINE_KEY_##name);                                           \
    }
#include "reports/lines.def"

/* ---- what is sound --------------------------------------------------------------------------- */

/* Where a reader of lines stands. */
struct line_reader {
    bool open; /* a session has begun and not ended */
};

/* True, or `why` says what is wrong with the line. */
bool line_check(struct line_reader *reader, const json_t *line, char *why, size_t size);

/* An exit status of a verb, in words ("every promise held"), and how much it says: the more, the
 * later in the list. -1: no verb ends so. */
int line_status_rank(json_int_t status);
int line_status_at(int rank);
const char *line_status_words(int rank);

/* Whether the line shows that something ran or was measured, with a planted bug or not. */
bool line_shows_a_run(const json_t *line);

/* All types, keys and kinds, in Markdown: a section of README.md. */
void line_write_schema(FILE *out);

#endif
