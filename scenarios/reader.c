#include "scenarios/reader.h"

#include "model/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_MAX         40  /* characters of a text that a message shows */
#define ORIGIN_MAX        100 /* and of an origin: the end of a long path tells more */
#define NUMBER_DIGITS_MAX 18

/* ---- messages ------------------------------------------------------------------------------ */

/* The origin in one line, clipped at its beginning. */
static void show_origin(const char *origin, char shown[ORIGIN_MAX + 1])
{
    size_t length = strlen(origin);
    bool clipped = length > ORIGIN_MAX;
    const char *from = clipped ? origin + length - ORIGIN_MAX : origin;
    snprintf(shown, ORIGIN_MAX + 1, "%s", from);
    for (char *c = shown; *c != '\0'; c++) {
        *c = (unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c;
    }
    for (size_t i = 0; clipped && i < 3; i++) {
        shown[i] = '.';
    }
}

bool reader_fail(struct reader *reader, size_t line, const char *format, ...)
{
    char origin[ORIGIN_MAX + 1], at[24] = "", message[sizeof reader->error->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    show_origin(reader->origin, origin);
    if (line > 0) {
        snprintf(at, sizeof at, ":%zu", line);
    }
    const char *colon = reader->where[0] == '\0' ? "" : ": ";
    int written = snprintf(reader->error->text, sizeof reader->error->text, "%s%s: %s%s%s", origin,
                           at, reader->where, colon, message);
    CHECK(written > 0); /* a message that is clipped at its end is still a message */
    return false;
}

const char *reader_quote(const struct reader_text *text, char quoted[READER_QUOTED_SIZE])
{
    size_t at = 0;
    quoted[at++] = '"';
    for (size_t i = 0; i < text->length && at < SHOWN_MAX; i++) {
        unsigned char c = (unsigned char)text->text[i];
        if (c < ' ' || c >= 0x7f) {
            at += (size_t)snprintf(quoted + at, 5, "\\x%02x", c);
        } else {
            quoted[at++] = (char)c;
        }
    }
    bool clipped = at >= SHOWN_MAX;
    snprintf(quoted + at, READER_QUOTED_SIZE - at, clipped ? "...\"" : "\"");
    return quoted;
}

void reader_enter(struct reader *reader, const char *key)
{
    size_t length = strlen(reader->where);
    snprintf(reader->where + length, sizeof reader->where - length, "%s%s", length == 0 ? "" : ": ",
             key);
}

/* ---- events -------------------------------------------------------------------------------- */

size_t reader_line(const struct reader *reader)
{
    return reader->event.start_mark.line + 1;
}

/* libyaml gives only the offset of an invalid character. */
static size_t line_of_offset(const struct reader *reader, size_t offset)
{
    size_t line = 1;
    for (size_t i = 0; i < offset && i < reader->size; i++) {
        line += reader->text[i] == '\n';
    }
    return line;
}

static bool fail_syntax(struct reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    reader->where[0] = '\0'; /* where the text stops being YAML, keys mean nothing */
    if (parser->error == YAML_MEMORY_ERROR) {
        return reader_fail(reader, 1, "not enough memory to read it");
    }
    size_t line = parser->error == YAML_READER_ERROR
                      ? line_of_offset(reader, parser->problem_offset)
                      : parser->problem_mark.line + 1;
    return reader_fail(reader, line, "this is no YAML: %s%s%s",
                       parser->context == NULL ? "" : parser->context,
                       parser->context == NULL ? "" : ", ",
                       parser->problem == NULL ? "it cannot be read" : parser->problem);
}

static bool is_decorated(const yaml_event_t *event)
{
    yaml_event_type_t type = event->type;
    if (type == YAML_SCALAR_EVENT) {
        return event->data.scalar.anchor != NULL || event->data.scalar.tag != NULL;
    }
    if (type == YAML_SEQUENCE_START_EVENT) {
        return event->data.sequence_start.anchor != NULL || event->data.sequence_start.tag != NULL;
    }
    if (type == YAML_MAPPING_START_EVENT) {
        return event->data.mapping_start.anchor != NULL || event->data.mapping_start.tag != NULL;
    }
    return type == YAML_ALIAS_EVENT;
}

static bool advance(struct reader *reader)
{
    yaml_event_delete(&reader->event);
    if (!yaml_parser_parse(&reader->parser, &reader->event)) {
        return fail_syntax(reader);
    }
    if (is_decorated(&reader->event)) {
        return reader_fail(reader, reader_line(reader),
                           "an anchor, alias or tag; write the value itself");
    }
    return true;
}

bool reader_open(struct reader *reader, const char *text, size_t size, const char *origin,
                 struct error *error)
{
    memset(reader, 0, sizeof *reader);
    reader->text = text;
    reader->size = size;
    reader->origin = origin;
    reader->error = error;
    if (size > SCENARIO_TEXT_SIZE_MAX) {
        return reader_fail(reader, 1, "more than %d bytes, the most that a scenario may have",
                           SCENARIO_TEXT_SIZE_MAX);
    }
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        return reader_fail(reader, 1, "a byte order mark; write it as UTF-8 without one");
    }
    if (!yaml_parser_initialize(&reader->parser)) {
        return fail_syntax(reader);
    }
    yaml_parser_set_encoding(&reader->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader->parser, (const unsigned char *)text, size);
    bool began = advance(reader);
    if (!began || !advance(reader)) { /* the stream, then its first document */
        return false;
    }
    if (reader->event.type == YAML_STREAM_END_EVENT) {
        return reader_fail(reader, 1, "there is nothing in it; a scenario has a name and a graph");
    }
    return advance(reader);
}

bool reader_finish(struct reader *reader)
{
    CHECK(reader->event.type == YAML_DOCUMENT_END_EVENT); /* Y2 */
    if (!advance(reader)) {
        return false;
    }
    if (reader->event.type != YAML_STREAM_END_EVENT) {
        return reader_fail(reader, reader_line(reader),
                           "a second document; a file holds one scenario");
    }
    return true;
}

void reader_close(struct reader *reader)
{
    yaml_event_delete(&reader->event);
    yaml_parser_delete(&reader->parser);
}

/* ---- values -------------------------------------------------------------------------------- */

enum reader_kind reader_kind(const struct reader *reader)
{
    yaml_event_type_t type = reader->event.type;
    CHECK(type == YAML_SCALAR_EVENT || type == YAML_SEQUENCE_START_EVENT ||
          type == YAML_MAPPING_START_EVENT);
    return type == YAML_SCALAR_EVENT           ? READER_TEXT
           : type == YAML_SEQUENCE_START_EVENT ? READER_LIST
                                               : READER_MAP;
}

static bool expect(struct reader *reader, enum reader_kind wanted, const char *right)
{
    static const char *const names[] = {
        [READER_TEXT] = "a text", [READER_LIST] = "a list", [READER_MAP] = "a map"};
    enum reader_kind kind = reader_kind(reader);
    if (kind == wanted) {
        return true;
    }
    bool nothing = kind == READER_TEXT && reader->event.data.scalar.length == 0;
    return reader_fail(reader, reader_line(reader), "%s; %s", nothing ? "nothing" : names[kind],
                       right);
}

bool reader_scalar(struct reader *reader, const char *right, struct reader_text *text)
{
    memset(text, 0, sizeof *text);
    if (!expect(reader, READER_TEXT, right)) {
        return false;
    }
    const unsigned char *value = reader->event.data.scalar.value;
    size_t length = reader->event.data.scalar.length;
    text->line = reader_line(reader);
    text->plain = reader->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (length >= READER_TEXT_SIZE) {
        return reader_fail(reader, text->line, "a text of %zu bytes; %s", length, right);
    }
    if (memchr(value, '\0', length) != NULL) {
        return reader_fail(reader, text->line, "a text with a 0 byte; %s", right);
    }
    memcpy(text->text, value, length);
    text->length = length;
    return advance(reader);
}

bool reader_long_text(struct reader *reader, const char *right, size_t most, char **text)
{
    *text = NULL;
    if (!expect(reader, READER_TEXT, right)) {
        return false;
    }
    const char *value = (const char *)reader->event.data.scalar.value;
    size_t length = reader->event.data.scalar.length;
    if (length == 0 || length > most || memchr(value, '\0', length) != NULL) {
        return reader_fail(reader, reader_line(reader), "a text of %zu bytes; %s", length, right);
    }
    *text = strndup(value, length);
    CHECK(*text != NULL);
    return advance(reader);
}

/* Decimal digits with no zero in front, and perhaps a minus sign. */
static bool parse_number(const struct reader_text *text, int64_t *number)
{
    bool negative = text->text[0] == '-';
    const char *digits = text->text + (negative ? 1 : 0);
    size_t count = strspn(digits, "0123456789");
    bool leading_zero = digits[0] == '0' && (count > 1 || negative);
    if (!text->plain || count == 0 || count > NUMBER_DIGITS_MAX || digits[count] != '\0' ||
        leading_zero) {
        return false;
    }
    *number = 0;
    for (size_t i = 0; i < count; i++) {
        *number = *number * 10 + (digits[i] - '0');
    }
    *number = negative ? -*number : *number;
    return true;
}

bool reader_number(struct reader *reader, int64_t least, int64_t most, int64_t *number)
{
    char right[80], quoted[READER_QUOTED_SIZE];
    struct reader_text text;
    snprintf(right, sizeof right, "it is a number from %lld to %lld", (long long)least,
             (long long)most);
    if (!reader_scalar(reader, right, &text)) {
        return false;
    }
    if (!parse_number(&text, number) || *number < least || *number > most) {
        return reader_fail(reader, text.line, "%s%s; %s", reader_quote(&text, quoted),
                           text.plain ? "" : " in quotes", right);
    }
    return true;
}

bool reader_is_name(struct reader *reader, const struct reader_text *text, size_t size)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789-_.";
    char quoted[READER_QUOTED_SIZE];
    if (text->length == 0 || text->length >= size || strspn(text->text, allowed) != text->length) {
        return reader_fail(reader, text->line,
                           "%s; a name is 1 to %zu letters, digits, '-', '_' or '.'",
                           reader_quote(text, quoted), size - 1);
    }
    return true;
}

bool reader_name(struct reader *reader, char *name, size_t size)
{
    struct reader_text text;
    if (!reader_scalar(reader, "it is a name", &text) || !reader_is_name(reader, &text, size)) {
        return false;
    }
    memcpy(name, text.text, text.length + 1);
    return true;
}

bool reader_list(struct reader *reader, const char *right, reader_value *item, void *context)
{
    if (!expect(reader, READER_LIST, right) || !advance(reader)) {
        return false;
    }
    while (reader->event.type != YAML_SEQUENCE_END_EVENT) {
        if (!item(reader, context)) {
            return false;
        }
    }
    return advance(reader);
}

bool reader_map(struct reader *reader, const char *right, reader_entry *entry, void *context)
{
    if (!expect(reader, READER_MAP, right) || !advance(reader)) {
        return false;
    }
    size_t depth = strlen(reader->where);
    while (reader->event.type != YAML_MAPPING_END_EVENT) {
        struct reader_text key;
        if (!reader_scalar(reader, "a key is a name", &key) || !entry(reader, &key, context)) {
            return false;
        }
        reader->where[depth] = '\0';
    }
    return advance(reader);
}

bool reader_skip(struct reader *reader)
{
    int depth = 0;
    do {
        yaml_event_type_t type = reader->event.type;
        depth += type == YAML_MAPPING_START_EVENT || type == YAML_SEQUENCE_START_EVENT;
        depth -= type == YAML_MAPPING_END_EVENT || type == YAML_SEQUENCE_END_EVENT;
        if (!advance(reader)) {
            return false;
        }
    } while (depth > 0);
    return true;
}

/* ---- maps with known keys ------------------------------------------------------------------ */

struct field_reading {
    const struct reader_field *fields;
    size_t count;
    void *context;
    uint64_t *seen;
};

static bool fail_unknown_key(struct reader *reader, const struct reader_text *key,
                             const struct field_reading *reading)
{
    char known[200] = "", quoted[READER_QUOTED_SIZE];
    bool elsewhere = false;
    for (size_t i = 0, at = 0; i < reading->count && at < sizeof known; i++) {
        if (reading->fields[i].read != NULL) {
            at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", i == 0 ? "" : ", ",
                                   reading->fields[i].name);
        }
        elsewhere = elsewhere || strcmp(reading->fields[i].name, key->text) == 0;
    }
    return reader_fail(reader, key->line, "%s key %s; known: %s",
                       elsewhere ? "another protocol's" : "unknown", reader_quote(key, quoted),
                       known);
}

static bool read_field(struct reader *reader, const struct reader_text *key, void *context)
{
    struct field_reading *reading = context;
    for (size_t i = 0; i < reading->count; i++) {
        const struct reader_field *field = &reading->fields[i];
        if (field->read == NULL || strcmp(field->name, key->text) != 0) {
            continue;
        }
        if ((*reading->seen >> i & 1) != 0) {
            return reader_fail(reader, key->line, "the key %s again; a key stands once",
                               field->name);
        }
        *reading->seen |= UINT64_C(1) << i;
        reader_enter(reader, field->name);
        reader->key = field->name;
        return field->read(reader, reading->context);
    }
    return fail_unknown_key(reader, key, reading);
}

bool reader_fields(struct reader *reader, const char *right, const struct reader_field *fields,
                   size_t count, void *context, uint64_t *seen)
{
    CHECK(count <= 64);
    struct field_reading reading = {fields, count, context, seen};
    *seen = 0;
    return reader_map(reader, right, read_field, &reading);
}
