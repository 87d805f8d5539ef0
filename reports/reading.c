#include "reports/reading.h"

#include "model/check.h"
#include "model/key_text.h"
#include "model/ledger.h"
#include "model/legacy.h"
#include "reports/json_line.h"
#include "reports/line.h"

#include <string.h>

static const struct {
    const char *name, *title;
} kinds[READING_KINDS] = {
    [READING_ACTIVITY] = {"activity", "activity ledger"},
    [READING_GUID] = {"guid", "GUID ledger"},
    [READING_LEGACY] = {"legacy", "ledger of the earlier design"},
    [READING_KEY] = {"key", "collation key"},
};

const char *reading_kind_name(enum reading_kind kind)
{
    CHECK((unsigned)kind < READING_KINDS);
    return kinds[kind].name;
}

const char *reading_kind_title(enum reading_kind kind)
{
    CHECK((unsigned)kind < READING_KINDS);
    return kinds[kind].title;
}

/* ---- making -------------------------------------------------------------------------------- */

static struct reading_part *add_part(struct reading *reading, int64_t value)
{
    struct reading_part *part = &reading->parts[reading->part_count++];
    *part = (struct reading_part){.parent = -1};
    digits_format(value, part->digits);
    return part;
}

static struct reading_field *add_field(struct reading_part *part, int first_digit, int count,
                                       const char *name)
{
    struct reading_field *field = &part->fields[part->field_count++];
    field->first = first_digit - 1;
    field->name = name;
    memcpy(field->digits, part->digits + field->first, (size_t)count);
    for (int i = 0; i < count; i++) {
        field->value = field->value * 10 + (field->digits[i] - '0');
    }
    return field;
}

/* "1 of 999", "yes", "no", "always 0" */
static void describe_ledger_field(struct reading_field *field, const struct ledger_layout *layout)
{
    const char *marker = field->value == 0 ? "no" : field->value == 1 ? "yes" : "neither 0 nor 1";
    if (layout->ceiling == 0) {
        snprintf(field->meaning, sizeof field->meaning, "%s", "always 0");
    } else if (layout->ceiling == 1) {
        snprintf(field->meaning, sizeof field->meaning, "%s", marker);
    } else {
        snprintf(field->meaning, sizeof field->meaning, "%s of %s",
                 format_grouped((uint64_t)field->value).text,
                 format_grouped((uint64_t)layout->ceiling).text);
    }
}

static const char *times(int64_t count, char *out, size_t size)
{
    snprintf(out, size, count == 1 ? "once" : "%s times", format_grouped((uint64_t)count).text);
    return out;
}

static void say_activity(struct reading_part *part, int64_t ledger)
{
    char leg1[40];
    char leg2[40];
    int64_t leg1_entries = ledger_get(ledger, ACTIVITY_LEG1_ENTRIES);
    int64_t leg2_entries = ledger_get(ledger, ACTIVITY_LEG2_ENTRIES);
    bool complete = ledger_get(ledger, ACTIVITY_LEG1_COMPLETE) != 0;
    times(leg1_entries, leg1, sizeof leg1);
    times(leg2_entries, leg2, sizeof leg2);
    if (leg1_entries == 0) {
        snprintf(part->words, sizeof part->words, "Nothing has happened yet.");
    } else if (!complete) {
        snprintf(part->words, sizeof part->words,
                 "Leg1 was entered %s and is not complete: its work is owed.", leg1);
    } else if (leg2_entries == 0) {
        snprintf(part->words, sizeof part->words,
                 "Leg1 was entered %s and is complete; Leg2 has not been entered.", leg1);
    } else {
        snprintf(part->words, sizeof part->words,
                 "Leg1 was entered %s and is complete; Leg2 was entered %s (dimension %lld, if the "
                 "last entry was that of a new GUID).",
                 leg1, leg2, (long long)ledger_dimension(ledger));
    }
}

static void say_guid(struct reading_part *part, int64_t ledger)
{
    static const char *const words[] = {
        [LEDGER_NOTHING_DONE] = "No step is done: Step 1, the work, is next.",
        [LEDGER_WORK_IS_DONE] = "The work is done: Step 2, spawning the children, is next.",
        [LEDGER_SPAWNED_JOB_OPEN] =
            "The children are spawned and the job went on: only the ack is left.",
        [LEDGER_SPAWNED_JOB_ENDED] = "This GUID's Step 2 ended the job: Step 3, its completion "
                                     "tasks, is owed whatever the semaphore says.",
        [LEDGER_ALL_DONE] = "This GUID ended the job and did its completion tasks: only the ack is "
                            "left.",
        [LEDGER_RESUME_CORRUPT] = "These markers are no resume point: nothing can be decided.",
    };
    snprintf(part->words, sizeof part->words, "%s", words[ledger_resume(ledger)]);
}

static void read_ledger(struct reading *reading, int64_t value, enum ledger_kind kind)
{
    struct reading_part *part = add_part(reading, value);
    for (int i = 0; i < LEDGER_FIELD_COUNT; i++) {
        const struct ledger_layout *layout = ledger_layout((enum ledger_field)i);
        if (layout->kind == kind) {
            describe_ledger_field(
                add_field(part, layout->first_digit, layout->digit_count, layout->name), layout);
        }
    }
    enum ledger_defect defect = ledger_inspect(kind, value);
    part->defect = defect == LEDGER_SOUND ? NULL : ledger_defect_text(defect);
    if (kind == LEDGER_ACTIVITY) {
        say_activity(part, value);
    } else {
        say_guid(part, value);
    }
}

static const char *legacy_defect(int64_t ledger)
{
    int64_t leg1_ends = 9 - legacy_get(ledger, LEGACY_LEG1_EXIT);
    int64_t leg2_closings = 9 - legacy_get(ledger, LEGACY_LEG2_EXIT);
    int64_t leg2_exits = legacy_get(ledger, LEGACY_LEG2_EXIT_COUNT);
    if (legacy_get(ledger, LEGACY_LEG1_ENTRY) == 9 && legacy_get(ledger, LEGACY_LEG2_ENTRIES) > 0) {
        return "Leg2 was entered before Leg1 began";
    }
    if (leg1_ends > 9 - legacy_get(ledger, LEGACY_LEG1_ENTRY)) {
        return "Leg1 ended more often than it began";
    }
    if (leg2_exits > legacy_get(ledger, LEGACY_LEG2_ENTRIES)) {
        return "Leg2 ended more often than it began";
    }
    return leg2_closings > leg2_exits ? "Leg2 was closed more often than it ended" : NULL;
}

static void read_legacy(struct reading *reading, int64_t value)
{
    struct reading_part *part = add_part(reading, value);
    for (int i = 0; i < LEGACY_FIELD_COUNT; i++) {
        const struct legacy_layout *layout = legacy_layout((enum legacy_field)i);
        struct reading_field *field =
            add_field(part, layout->first_digit, layout->digit_count, layout->name);
        char count[40];
        bool counts_down = layout->digit_count == 1;
        times(counts_down ? 9 - field->value : field->value, count, sizeof count);
        snprintf(field->meaning, sizeof field->meaning, "%s",
                 counts_down && field->value == 9 ? "not yet" : count);
    }
    bool ended = legacy_get(value, LEGACY_LEG1_EXIT) < 9;
    bool begun = legacy_get(value, LEGACY_LEG1_ENTRY) < 9;
    snprintf(part->words, sizeof part->words, "Leg1 %s; Leg2 is %s.",
             !begun  ? "has not begun"
             : ended ? "has ended"
                     : "has begun and not ended",
             legacy_closed(value) ? "closed" : "open");
    part->defect = legacy_defect(value);
}

static void read_flow(struct reading *reading, const struct key_flow *flow)
{
    struct reading_part *part = add_part(reading, flow->key);
    int open = 0;
    part->parent = flow->parent;
    part->position = flow->parent < 0 ? 0 : flow->position + 1;
    for (int i = 0; i < key_activities(flow->key); i++) {
        struct reading_field *field = add_field(part, i + 1, 1, "activity");
        enum key_digit digit = (enum key_digit)field->value;
        snprintf(field->meaning, sizeof field->meaning, "%s", key_digit_name(digit));
        open += digit == KEY_PENDING || digit == KEY_STARTED || digit == KEY_PAUSED;
    }
    if (!key_complete(flow->key)) {
        snprintf(part->words, sizeof part->words,
                 "Not complete: %d of %d activities %s pending, started or paused.", open,
                 part->field_count, open == 1 ? "is" : "are");
    } else {
        snprintf(part->words, sizeof part->words, "Complete%s.",
                 key_in_error(flow->key) ? ", in error" : "");
    }
}

static bool read_key(struct reading *reading, const char *text, size_t length,
                     struct text_error *error)
{
    struct key_flow flows[READING_FLOWS_MAX];
    int count = 0;
    if (!key_text_parse(text, length, flows, READING_FLOWS_MAX, &count, error)) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        read_flow(reading, &flows[i]);
    }
    return true;
}

bool reading_make(const char *text, size_t length, enum reading_kind kind, struct reading *reading,
                  struct text_error *error)
{
    int64_t value = 0;
    reading->kind = kind;
    reading->part_count = 0;
    if (kind == READING_KEY) {
        return read_key(reading, text, length, error);
    }
    if (!digits_parse(text, length, &value, error)) {
        return false;
    }
    if (kind == READING_LEGACY) {
        read_legacy(reading, value);
    } else {
        read_ledger(reading, value, kind == READING_GUID ? LEDGER_GUID : LEDGER_ACTIVITY);
    }
    return true;
}

const char *reading_defect(const struct reading *reading)
{
    for (int i = 0; i < reading->part_count; i++) {
        if (reading->parts[i].defect != NULL) {
            return reading->parts[i].defect;
        }
    }
    return NULL;
}

/* ---- writing ------------------------------------------------------------------------------- */

static void write_part(FILE *out, enum format_kind format, const struct reading *reading, int index)
{
    const struct reading_part *part = &reading->parts[index];
    for (int i = 0; i < part->field_count; i++) {
        const struct reading_field *field = &part->fields[i];
        int after = 15 - field->first - (int)strlen(field->digits);
        fprintf(out, "  %*s%s%s%s%*s  ", field->first, "", format_strong(format), field->digits,
                format_plain(format), after, "");
        if (reading->kind == READING_KEY) {
            fprintf(out, "%s %-8d  %s\n", field->name, i + 1, field->meaning);
        } else {
            fprintf(out, "%-17s  %s\n", field->name, field->meaning);
        }
    }
    fputs("  ", out);
    format_wrapped(out, part->words, 2);
    if (part->defect != NULL) {
        fprintf(out, "  %sNot legal: %s.%s\n", format_alarm(format), part->defect,
                format_plain(format));
    }
}

static void write_text(FILE *out, enum format_kind format, const char *text,
                       const struct reading *reading)
{
    bool is_key = reading->kind == READING_KEY;
    fprintf(out, "%s  %s", is_key ? text : reading->parts[0].digits,
            reading_kind_title(reading->kind));
    if (reading->part_count > 1) {
        fprintf(out, ", %d flows", reading->part_count);
    }
    fputs("\n", out);
    for (int i = 0; i < reading->part_count; i++) {
        const struct reading_part *part = &reading->parts[i];
        fputs("\n", out);
        if (part->parent >= 0) {
            fprintf(out, "flow %d, %s, awaited by activity %d of flow %d\n", i + 1, part->digits,
                    part->position, part->parent + 1);
        } else if (reading->part_count > 1) {
            fprintf(out, "flow 1, %s, the outermost\n", part->digits);
        }
        write_part(out, format, reading, i);
    }
}

static json_t *field_as_json(const struct reading_field *field)
{
    return json_pack("{si ss ss ss sI}", "digit", field->first + 1, "digits", field->digits, "name",
                     field->name, "meaning", field->meaning, "value", (json_int_t)field->value);
}

static json_t *part_as_json(const struct reading_part *part)
{
    json_t *fields = json_array();
    for (int i = 0; i < part->field_count; i++) {
        json_array_append_new(fields, field_as_json(&part->fields[i]));
    }
    json_t *object =
        json_pack("{ss ss so ss? so}", "digits", part->digits, "words", part->words, "legal",
                  json_boolean(part->defect == NULL), "defect", part->defect, "fields", fields);
    if (part->parent >= 0) {
        json_object_set_new(object, "awaited_by_flow", json_integer(part->parent + 1));
        json_object_set_new(object, "awaited_by_activity", json_integer(part->position));
    }
    return object;
}

static void reading_write_json(FILE *out, const char *text, const struct reading *reading)
{
    json_t *parts = json_array();
    for (int i = 0; i < reading->part_count; i++) {
        json_array_append_new(parts, part_as_json(&reading->parts[i]));
    }
    json_line_write(out, line_make(LINE_READING, line_value(text),
                                   line_as(reading_kind_name(reading->kind)),
                                   line_legal(reading_defect(reading) == NULL), line_parts(parts)));
}

void reading_write(FILE *out, enum format_kind format, const char *text,
                   const struct reading *reading)
{
    if (format == FORMAT_JSON) {
        reading_write_json(out, text, reading);
    } else {
        write_text(out, format, text, reading);
    }
}
