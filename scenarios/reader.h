/* A strict reader of YAML, for scenarios: maps, lists and short texts, without the features that a
 * reader of the file would have to look up (anchors, aliases, tags, a second document).
 *
 * It pulls one event after the other from libyaml and never looks back; a callback that refuses a
 * value ends the reading there. Of scenarios it knows only the form of their error messages.
 *
 * (Y1) Every function that returns false has written one line to the fault: origin, line, where in
 *      the file, what is wrong and what would be right. Nothing may be read after that.
 * (Y2) A value is read whole: each read function begins on the value's first event and ends on the
 *      one after its last. */
#ifndef SCENARIOS_READER_H
#define SCENARIOS_READER_H

#include "model/error.h"
#include "scenarios/scenario.h"

#include <yaml.h>

#define READER_TEXT_SIZE   200 /* the longest text that is read, with its terminator */
#define READER_WHERE_SIZE  120
#define READER_QUOTED_SIZE 64

struct reader {
    yaml_parser_t parser;
    yaml_event_t event;            /* the next event */
    const char *text;              /* all of it */
    size_t size;                   /* of the text */
    const char *origin;            /* of the text, for messages */
    struct error *error;           /* where messages go */
    char where[READER_WHERE_SIZE]; /* keys from the root to here: "preset: left" */
    const char *key;               /* of a known field: the key whose value begins here */
};

/* A key or a value that is a text. */
struct reader_text {
    char text[READER_TEXT_SIZE]; /* terminated; may hold any character but 0 */
    size_t length;
    size_t line; /* where it stands, from 1 */
    bool plain;  /* not in quotes, and no block */
};

enum reader_kind { READER_TEXT, READER_LIST, READER_MAP };

/* Reads one value of a map or list; the key is that of a map. */
typedef bool reader_entry(struct reader *reader, const struct reader_text *key, void *context);
typedef bool reader_value(struct reader *reader, void *context);

/* A known key of a map. `read` is NULL for a key that would be right elsewhere: it is refused with
 * a message that says so. */
struct reader_field {
    const char *name;
    reader_value *read;
};

/* Begins at the root of the text's only document. Close the reader in any case. */
bool reader_open(struct reader *reader, const char *text, size_t size, const char *origin,
                 struct error *error);
/* Checks that nothing follows the root. */
bool reader_finish(struct reader *reader);
void reader_close(struct reader *reader);

/* The kind of the next value, and its line. */
enum reader_kind reader_kind(const struct reader *reader);
size_t reader_line(const struct reader *reader);

/* `right` says what belongs here, for the error message: "it is a list of names". */
bool reader_scalar(struct reader *reader, const char *right, struct reader_text *text);
/* A text of any length up to `most` bytes, to be freed by the caller. */
bool reader_long_text(struct reader *reader, const char *right, size_t most, char **text);
bool reader_number(struct reader *reader, int64_t least, int64_t most, int64_t *number);
/* Letters, digits, '-', '_' and '.'; fewer than `size`. */
bool reader_name(struct reader *reader, char *name, size_t size);
/* Calls `entry` for each entry; the callback has to refuse duplicate keys. */
bool reader_map(struct reader *reader, const char *right, reader_entry *entry, void *context);
bool reader_list(struct reader *reader, const char *right, reader_value *item, void *context);
/* Skips a value of any kind. */
bool reader_skip(struct reader *reader);
/* A map of at most 64 known keys, each at most once; *seen gets a bit for each that is there. */
bool reader_fields(struct reader *reader, const char *right, const struct reader_field *fields,
                   size_t count, void *context, uint64_t *seen);

/* Whether a text is a name, as for reader_name(). */
bool reader_is_name(struct reader *reader, const struct reader_text *text, size_t size);

/* Until the end of the entry, messages name this key, too. */
void reader_enter(struct reader *reader, const char *key);

/* Writes the message, with the line (0: none); returns false. */
bool reader_fail(struct reader *reader, size_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A text in quotes, for messages: clipped, in one line. */
const char *reader_quote(const struct reader_text *text, char quoted[READER_QUOTED_SIZE]);

#endif
