#include "wire/subject.h"

#include "model/check.h"
#include "scenarios/reader.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 16384

#define RIGHT_COMMAND "it is a shell command"
#define RIGHT_QUERY   "it is an SQL query"
#define RIGHT_SOURCE  "it quotes the document that promises it"

static const char *const preset_names[SUBJECT_PRESETS] = {
    [SUBJECT_NEVER] = "never",
    [SUBJECT_EXACTLY_ONCE] = "exactly-once",
    [SUBJECT_AT_LEAST_ONCE] = "at-least-once",
    [SUBJECT_AT_MOST_ONCE] = "at-most-once",
    [SUBJECT_NEVER_STRANDED] = "never-stranded",
    [SUBJECT_FENCED] = "fenced",
    [SUBJECT_BOUNDED] = "attempts-bounded",
    [SUBJECT_TIMER_ONCE] = "timer-fires-once",
    [SUBJECT_ORDERED] = "ordered-by-key",
    [SUBJECT_AT_A_TIME] = "at-most-at-a-time",
    [SUBJECT_ACKNOWLEDGED] = "acknowledged-survives",
};

const char *subject_preset_name(enum subject_preset preset)
{
    CHECK(preset < SUBJECT_PRESETS);
    return preset_names[preset];
}

/* Columns that a mapping must have for a preset, at least. */
static unsigned columns_needed(enum subject_preset preset)
{
    switch (preset) {
    case SUBJECT_NEVER:
    case SUBJECT_NEVER_STRANDED:
    case SUBJECT_PRESETS:
        return 0;
    case SUBJECT_ORDERED:
        return 3;
    case SUBJECT_EXACTLY_ONCE:
    case SUBJECT_AT_LEAST_ONCE:
    case SUBJECT_AT_MOST_ONCE:
    case SUBJECT_FENCED:
    case SUBJECT_BOUNDED:
    case SUBJECT_TIMER_ONCE:
    case SUBJECT_AT_A_TIME:
    case SUBJECT_ACKNOWLEDGED:
        break;
    }
    return 1;
}

/* ---- mappings -------------------------------------------------------------------------------- */

/* A name, perhaps in double quotes, perhaps of a schema; ends at ',', '(' or ')'. */
static bool take_name(const char **at, char name[SUBJECT_NAME_SIZE])
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.\"";
    *at += strspn(*at, " ");
    size_t length = strspn(*at, plain);
    if (length == 0 || length >= SUBJECT_NAME_SIZE) {
        return false;
    }
    memcpy(name, *at, length);
    name[length] = '\0';
    *at += length;
    *at += strspn(*at, " ");
    return true;
}

static bool parse_mapping(const char *text, struct subject_mapping *mapping)
{
    *mapping = (struct subject_mapping){0};
    if (!take_name(&text, mapping->table) || *text++ != '(') {
        return false;
    }
    do {
        if (mapping->column_count == SUBJECT_COLUMNS_MAX ||
            !take_name(&text, mapping->columns[mapping->column_count++])) {
            return false;
        }
    } while (*text++ == ',');
    return text[-1] == ')' && *text == '\0';
}

static bool read_mapping(struct reader *reader, struct subject_mapping *mapping)
{
    static const char right[] = "it is a table with columns: \"effects(job, step)\"";
    struct reader_text text;
    char quoted[READER_QUOTED_SIZE];
    if (!reader_scalar(reader, right, &text)) {
        return false;
    }
    return parse_mapping(text.text, mapping) ||
           reader_fail(reader, text.line, "%s; %s", reader_quote(&text, quoted), right);
}

/* ---- promises -------------------------------------------------------------------------------- */

static bool read_is(struct reader *reader, void *context)
{
    struct subject_promise *promise = context;
    struct reader_text text;
    char known[300] = "";
    char quoted[READER_QUOTED_SIZE];
    if (!reader_scalar(reader, "it is the name of a preset", &text)) {
        return false;
    }
    for (int i = SUBJECT_NEVER + 1; i < SUBJECT_PRESETS; i++) {
        if (strcmp(text.text, preset_names[i]) == 0) {
            promise->is = (enum subject_preset)i;
            return true;
        }
        size_t used = strlen(known);
        (void)snprintf(known + used, sizeof known - used, "%s%s", used == 0 ? "" : ", ",
                       preset_names[i]);
    }
    return reader_fail(reader, text.line, "%s is no preset; known: %s", reader_quote(&text, quoted),
                       known);
}

static bool read_of(struct reader *reader, void *context)
{
    return read_mapping(reader, &((struct subject_promise *)context)->of);
}

static bool read_each(struct reader *reader, void *context)
{
    return read_mapping(reader, &((struct subject_promise *)context)->each);
}

static bool read_never(struct reader *reader, void *context)
{
    return reader_long_text(reader, RIGHT_QUERY, TEXT_MAX,
                            &((struct subject_promise *)context)->never);
}

static bool read_says(struct reader *reader, void *context)
{
    return reader_long_text(reader, RIGHT_SOURCE, TEXT_MAX,
                            &((struct subject_promise *)context)->says);
}

static bool read_name(struct reader *reader, void *context)
{
    return reader_name(reader, ((struct subject_promise *)context)->name, SUBJECT_NAME_SIZE);
}

static bool read_most(struct reader *reader, void *context)
{
    return reader_number(reader, 1, 1000000, &((struct subject_promise *)context)->most);
}

enum { KEY_IS, KEY_OF, KEY_NEVER, KEY_SAYS, KEY_NAME, KEY_MOST, KEY_EACH };
static const struct reader_field promise_fields[] = {
    [KEY_IS] = {"is", read_is},          [KEY_OF] = {"of", read_of},
    [KEY_NEVER] = {"never", read_never}, [KEY_SAYS] = {"says", read_says},
    [KEY_NAME] = {"name", read_name},    [KEY_MOST] = {"most", read_most},
    [KEY_EACH] = {"each", read_each}};

static bool has(uint64_t seen, int key)
{
    return (seen >> key & 1) != 0;
}

static bool check_promise(struct reader *reader, const struct subject_promise *promise,
                          uint64_t seen)
{
    size_t line = promise->line;
    if (has(seen, KEY_IS) == has(seen, KEY_NEVER)) {
        return reader_fail(reader, line,
                           "a promise has either 'is', a preset, or 'never', a query "
                           "that returns no row");
    }
    if (!has(seen, KEY_SAYS)) {
        return reader_fail(reader, line, "'says' is missing; " RIGHT_SOURCE);
    }
    unsigned needed = columns_needed(promise->is);
    if (promise->of.column_count < needed) {
        return reader_fail(reader, line, "%s needs 'of', a table with %u column%s or more",
                           preset_names[promise->is], needed, needed == 1 ? "" : "s");
    }
    bool counts = promise->is == SUBJECT_BOUNDED || promise->is == SUBJECT_AT_A_TIME;
    if (counts != has(seen, KEY_MOST)) {
        return reader_fail(reader, line, "%s %s", subject_preset_name(promise->is),
                           counts ? "needs 'most', a number" : "takes no 'most'");
    }
    return true;
}

static bool name_promise(struct reader *reader, struct subject_promise *list, size_t count)
{
    struct subject_promise *promise = &list[count];
    if (promise->name[0] == '\0') {
        (void)snprintf(promise->name, sizeof promise->name, "%s", preset_names[promise->is]);
        for (size_t i = 0; i < count; i++) {
            if (strcmp(list[i].name, promise->name) == 0) {
                (void)snprintf(promise->name, sizeof promise->name, "%s-%zu",
                               preset_names[promise->is], count + 1);
            }
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].name, promise->name) == 0) {
            return reader_fail(reader, promise->line, "the name %s again; a name stands once",
                               promise->name);
        }
    }
    return true;
}

static bool read_promise(struct reader *reader, struct subject_promise *list, size_t *count)
{
    uint64_t seen;
    if (*count == SUBJECT_PROMISES_MAX) {
        return reader_fail(reader, reader_line(reader), "more than %d", SUBJECT_PROMISES_MAX);
    }
    struct subject_promise *promise = &list[(*count)++];
    promise->line = reader_line(reader);
    return reader_fields(reader,
                         "it is a map: { is: exactly-once, of: \"effects(job)\", says: ... }",
                         promise_fields, COUNT(promise_fields), promise, &seen) &&
           check_promise(reader, promise, seen) && name_promise(reader, list, *count - 1);
}

static bool read_promise_item(struct reader *reader, void *context)
{
    struct subject *subject = context;
    return read_promise(reader, subject->promises, &subject->promise_count);
}

static bool read_always_item(struct reader *reader, void *context)
{
    struct subject *subject = context;
    return read_promise(reader, subject->always, &subject->always_count);
}

static bool read_promises(struct reader *reader, void *context)
{
    return reader_list(reader, "it is a list of promises", read_promise_item, context);
}

static bool read_always(struct reader *reader, void *context)
{
    return reader_list(reader, "it is a list of promises", read_always_item, context);
}

/* ---- what is expected, and what is known ------------------------------------------------------ */

static bool read_select(struct reader *reader, void *context)
{
    return reader_long_text(reader, RIGHT_QUERY, TEXT_MAX,
                            &((struct subject_expect *)context)->select);
}

static bool read_rows(struct reader *reader, void *context)
{
    return reader_long_text(reader, "it is what the query returns, '|' between columns", TEXT_MAX,
                            &((struct subject_expect *)context)->is);
}

static bool read_same(struct reader *reader, void *context)
{
    ((struct subject_expect *)context)->same = true;
    return read_select(reader, context);
}

static bool read_expectation(struct reader *reader, void *context)
{
    static const struct reader_field fields[] = {
        {"select", read_select}, {"is", read_rows}, {"same", read_same}};
    struct subject *subject = context;
    size_t line = reader_line(reader);
    uint64_t seen;
    if (subject->expect_count == SUBJECT_PROMISES_MAX) {
        return reader_fail(reader, line, "more than %d", SUBJECT_PROMISES_MAX);
    }
    struct subject_expect *expect = &subject->expect[subject->expect_count++];
    if (!reader_fields(reader, "it is a map: { select: SQL, is: ROWS } or { same: SQL }", fields, 3,
                       expect, &seen)) {
        return false;
    }
    return seen == 3 || seen == 4 ||
           reader_fail(reader, line, "it is { select: SQL, is: ROWS } or { same: SQL }");
}

static bool read_expect(struct reader *reader, void *context)
{
    return reader_list(reader, "it is a list: [{ select: SQL, is: ROWS }]", read_expectation,
                       context);
}

static bool read_breaks(struct reader *reader, void *context)
{
    return reader_name(reader, ((struct subject_known *)context)->breaks, SUBJECT_NAME_SIZE);
}

static bool read_fault(struct reader *reader, void *context)
{
    return reader_name(reader, ((struct subject_known *)context)->fault, SUBJECT_NAME_SIZE);
}

static bool read_admission(struct reader *reader, void *context)
{
    return reader_long_text(reader, "it quotes the document that admits it", TEXT_MAX,
                            &((struct subject_known *)context)->says);
}

static bool read_known_item(struct reader *reader, void *context)
{
    static const struct reader_field fields[] = {
        {"breaks", read_breaks}, {"says", read_admission}, {"fault", read_fault}};
    struct subject *subject = context;
    size_t line = reader_line(reader);
    uint64_t seen;
    if (subject->known_count == SUBJECT_PROMISES_MAX) {
        return reader_fail(reader, line, "more than %d", SUBJECT_PROMISES_MAX);
    }
    if (!reader_fields(reader, "it is a map: { breaks: NAME, says: ... }", fields, 3,
                       &subject->known[subject->known_count++], &seen)) {
        return false;
    }
    return (seen & 3) == 3 || reader_fail(reader, line,
                                          "it needs 'breaks', the name of a promise, "
                                          "and 'says', the document that admits it");
}

static bool read_known(struct reader *reader, void *context)
{
    return reader_list(reader, "it is a list: [{ breaks: NAME, says: ... }]", read_known_item,
                       context);
}

/* ---- the rest -------------------------------------------------------------------------------- */

static bool read_setup(struct reader *reader, void *context)
{
    return reader_long_text(reader, RIGHT_COMMAND, TEXT_MAX, &((struct subject *)context)->setup);
}

static bool read_done(struct reader *reader, void *context)
{
    return reader_long_text(reader, "it is an SQL query that returns true when all work is done",
                            TEXT_MAX, &((struct subject *)context)->done);
}

static bool read_run(struct reader *reader, void *context)
{
    return reader_long_text(reader, RIGHT_COMMAND, TEXT_MAX,
                            &((struct subject_crew *)context)->run);
}

static bool read_count(struct reader *reader, void *context)
{
    return reader_number(reader, 1, SUBJECT_WORKERS_MAX, &((struct subject_crew *)context)->count);
}

static bool read_crew(struct reader *reader, struct subject_crew *crew)
{
    static const struct reader_field fields[] = {{"run", read_run}, {"count", read_count}};
    size_t line = reader_line(reader);
    uint64_t seen;
    crew->count = 1;
    return reader_fields(reader, "it is a map: { run: COMMAND, count: 2 }", fields, 2, crew,
                         &seen) &&
           (has(seen, 0) || reader_fail(reader, line, "'run' is missing; " RIGHT_COMMAND));
}

static bool read_workers(struct reader *reader, void *context)
{
    return read_crew(reader, &((struct subject *)context)->workers);
}

static bool read_clients(struct reader *reader, void *context)
{
    struct subject *subject = context;
    size_t line = reader_line(reader);
    return read_crew(reader, &subject->clients) &&
           (subject->clients.count <= SUBJECT_CLIENTS_MAX ||
            reader_fail(reader, line, "at most %d clients", SUBJECT_CLIENTS_MAX));
}

static bool read_clock(struct reader *reader, void *context)
{
    static const char *const names[] = {"none", "server", "shim"};
    struct reader_text text;
    char quoted[READER_QUOTED_SIZE];
    if (!reader_scalar(reader, "it is none, server or shim", &text)) {
        return false;
    }
    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(text.text, names[i]) == 0) {
            ((struct subject *)context)->clock = (enum subject_clock)i;
            return true;
        }
    }
    return reader_fail(reader, text.line, "%s; it is none, server or shim",
                       reader_quote(&text, quoted));
}

static bool read_patience(struct reader *reader, void *context)
{
    return reader_number(reader, 1, 1000000, &((struct subject *)context)->patience);
}

enum { KEY_SETUP, KEY_WORKERS, KEY_DONE };
static const struct reader_field subject_fields[] = {[KEY_SETUP] = {"setup", read_setup},
                                                     [KEY_WORKERS] = {"workers", read_workers},
                                                     [KEY_DONE] = {"done", read_done},
                                                     {"clients", read_clients},
                                                     {"promises", read_promises},
                                                     {"always", read_always},
                                                     {"expect", read_expect},
                                                     {"known", read_known},
                                                     {"clock", read_clock},
                                                     {"patience", read_patience}};

static bool check_needed(struct reader *reader, uint64_t seen)
{
    static const char *const right[] = {
        [KEY_SETUP] = "the command that makes the schema",
        [KEY_WORKERS] = "the command of a worker: { run: COMMAND, count: 2 }",
        [KEY_DONE] = "an SQL query that returns true when all work is done"};
    for (int i = KEY_SETUP; i <= KEY_DONE; i++) {
        if (!has(seen, i)) {
            return reader_fail(reader, 1, "the key '%s' is missing; it is %s",
                               subject_fields[i].name, right[i]);
        }
    }
    return true;
}

static bool is_promise(const struct subject *subject, const char *name)
{
    bool found = strcmp(name, "stranded") == 0 || strcmp(name, "dies") == 0;
    for (size_t i = 0; i < subject->promise_count; i++) {
        found = found || strcmp(subject->promises[i].name, name) == 0;
    }
    for (size_t i = 0; i < subject->always_count; i++) {
        found = found || strcmp(subject->always[i].name, name) == 0;
    }
    return found;
}

static bool check_known(struct reader *reader, const struct subject *subject)
{
    for (size_t i = 0; i < subject->known_count; i++) {
        if (!is_promise(subject, subject->known[i].breaks)) {
            return reader_fail(reader, 1,
                               "known: there is no promise %s; it is the name of one of the "
                               "promises, 'stranded' or 'dies'",
                               subject->known[i].breaks);
        }
    }
    return true;
}

bool subject_parse(struct subject *subject, const char *text, size_t size, const char *origin,
                   struct error *error)
{
    struct reader reader;
    uint64_t seen;
    *subject = (struct subject){0};
    bool ok = reader_open(&reader, text, size, origin, error) &&
              reader_fields(&reader, "a subject is a map with setup, workers and done",
                            subject_fields, COUNT(subject_fields), subject, &seen) &&
              check_needed(&reader, seen) && check_known(&reader, subject) &&
              reader_finish(&reader);
    reader_close(&reader);
    if (subject->patience == 0) {
        subject->patience =
            subject->clock == SUBJECT_CLOCK_SHIM ? SUBJECT_CLOCK_SEC : SUBJECT_PATIENCE_SEC;
    }
    CHECK(!ok || (subject->setup != NULL && subject->workers.run != NULL &&
                  subject->done != NULL)); /* SJ1 */
    return ok;
}

static void free_promises(struct subject_promise *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(list[i].never);
        free(list[i].says);
    }
}

void subject_free(struct subject *subject)
{
    free(subject->setup);
    free(subject->clients.run);
    free(subject->workers.run);
    free(subject->done);
    free_promises(subject->promises, subject->promise_count);
    free_promises(subject->always, subject->always_count);
    for (size_t i = 0; i < subject->expect_count; i++) {
        free(subject->expect[i].select);
        free(subject->expect[i].is);
    }
    for (size_t i = 0; i < subject->known_count; i++) {
        free(subject->known[i].says);
    }
    *subject = (struct subject){0};
}
