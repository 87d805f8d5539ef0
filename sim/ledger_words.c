#include "sim/ledger_words.h"

#include "model/digits.h"
#include "model/flow.h"
#include "model/ledger.h"
#include "model/legacy.h"
#include "sim/teller.h"

#include <inttypes.h>
#include <string.h>

/* A field of a ledger: some neighbouring digits. */
struct field {
    const char *name;
    int first, count; /* of its digits; the first of all is 1 */
    int which;        /* of the layout's own enum */
};

/* ---- what the layouts have ------------------------------------------------------------------- */

static int two_leg_fields(enum ledger_kind kind, struct field fields[DIGITS])
{
    int count = 0;
    for (int f = 0; f < LEDGER_FIELD_COUNT; f++) {
        const struct ledger_layout *layout = ledger_layout((enum ledger_field)f);
        if (layout->kind == kind) {
            fields[count++] =
                (struct field){layout->name, layout->first_digit, layout->digit_count, f};
        }
    }
    return count;
}

static int legacy_fields(struct field fields[DIGITS])
{
    for (int f = 0; f < LEGACY_FIELD_COUNT; f++) {
        const struct legacy_layout *layout = legacy_layout((enum legacy_field)f);
        fields[f] = (struct field){layout->name, layout->first_digit, layout->digit_count, f};
    }
    return LEGACY_FIELD_COUNT;
}

/* A digit an activity of the flow. */
static int key_fields(const struct names *names, uint32_t slot, struct field fields[DIGITS])
{
    int64_t which = row_get(names->rows, TABLE_FLOW, slot, FLOW_SHAPE);
    const struct flow_shape *shape = &names->scenario->flows.shape[which];
    for (int i = 0; i < shape->graph.count; i++) {
        fields[i] = (struct field){shape->at[i].name, 1 + i, 1, i};
    }
    return shape->graph.count;
}

static int fields_of(const struct names *names, enum column_ledger ledger, uint32_t slot,
                     struct field fields[DIGITS])
{
    switch (ledger) {
    case DIGITS_ACTIVITY:
        return two_leg_fields(LEDGER_ACTIVITY, fields);
    case DIGITS_GUID:
        return two_leg_fields(LEDGER_GUID, fields);
    case DIGITS_LEGACY:
        return legacy_fields(fields);
    case DIGITS_KEY:
        return key_fields(names, slot, fields);
    case DIGITS_KINDS:
        break;
    }
    return 0;
}

/* ---- what digits mean ------------------------------------------------------------------------ */

static struct name legacy_meaning(enum legacy_field field, int64_t digits)
{
    struct name text = {""};
    bool counts = field == LEGACY_LEG2_ENTRIES || field == LEGACY_LEG2_EXIT_COUNT;
    if (counts) {
        names_append(&text, "%" PRId64, digits);
    } else if (field != LEGACY_LEG1_ENTRY && digits == 9) {
        names_append(&text, "not ended");
    } else {
        names_append(&text, "%s %" PRId64 " time%s",
                     field == LEGACY_LEG1_ENTRY ? "entered" : "ended", 9 - digits,
                     digits == 8 ? "" : "s");
    }
    return text;
}

static struct name meaning(enum column_ledger ledger, const struct field *field, int64_t digits)
{
    struct name text = {""};
    if (ledger == DIGITS_LEGACY) {
        return legacy_meaning((enum legacy_field)field->which, digits);
    }
    if (ledger == DIGITS_KEY) {
        names_append(&text, "%s", key_digit_name((enum key_digit)digits));
    } else if (ledger_layout((enum ledger_field)field->which)->ceiling == 1) {
        names_append(&text, "%s", digits == 0 ? "no" : digits == 1 ? "yes" : "neither 0 nor 1");
    } else {
        names_append(&text, "%" PRId64, digits);
    }
    return text;
}

const char *ledger_words_state(enum column_ledger ledger, int64_t value)
{
    return ledger != DIGITS_KEY  ? ""
           : key_complete(value) ? "complete"
           : key_valid(value)    ? "active"
                                 : "no key";
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_field(const struct story_telling *telling, enum column_ledger ledger,
                        const struct field *field, int64_t before, int64_t after)
{
    int64_t was = digits_get(before, field->first, field->count);
    int64_t is = digits_get(after, field->first, field->count);
    const char *alarm = was == is ? "" : telling->style->alarm;
    const char *plain = was == is ? "" : telling->style->plain;
    int left = field->first - 1;
    fprintf(telling->out, "             %*s%s%0*" PRId64 "%s%*s  %-18s", left, "", alarm,
            field->count, is, plain, DIGITS - left - field->count, "", field->name);
    if (was != is) {
        fprintf(telling->out, "%s -> ", meaning(ledger, field, was).text);
    }
    fprintf(telling->out, "%s\n", meaning(ledger, field, is).text);
}

/* A caret below each digit that changed. */
static void write_carets(FILE *out, int64_t before, int64_t after)
{
    char was[DIGITS_TEXT_SIZE], is[DIGITS_TEXT_SIZE], carets[DIGITS_TEXT_SIZE] = "";
    digits_format(before, was);
    digits_format(after, is);
    size_t end = 0;
    for (size_t i = 0; i < DIGITS; i++) {
        carets[i] = was[i] == is[i] ? ' ' : '^';
        end = was[i] == is[i] ? end : i + 1;
    }
    fprintf(out, "             %.*s\n", (int)end, carets);
}

static void write_ledger(const struct story_telling *telling, enum column_ledger ledger,
                         uint32_t slot, int64_t before, int64_t after)
{
    FILE *out = telling->out;
    struct field fields[DIGITS];
    if (before != after) {
        fprintf(out, "    before   %s\n", trace_ledger(before).text);
    }
    const char *state = ledger_words_state(ledger, after);
    fprintf(out, "    %-9s%s%s%s\n", before != after ? "after" : "reads", trace_ledger(after).text,
            state[0] == '\0' ? "" : ", ", state);
    if (!digits_in_range(before) || !digits_in_range(after)) {
        fputs("             no ledger: it has left its 15 digits\n", out);
        return;
    }
    if (before != after) {
        write_carets(out, before, after);
    }
    int count = fields_of(&telling->names, ledger, slot, fields);
    for (int i = 0; i < count; i++) {
        write_field(telling, ledger, &fields[i], before, after);
    }
}

void ledger_words_head(const struct story_telling *telling, const char *title)
{
    fprintf(telling->out, "\n%s%s%s, before and after step %" PRIu32 "\n", telling->style->strong,
            title, telling->style->plain, telling->last->line.step);
}

void ledger_words_show(const struct story_telling *telling, enum row_table table, uint32_t slot)
{
    int column = teller_quoted(table);
    int64_t after = row_get(telling->names.rows, table, slot, column);
    const struct trace_change *change = story_change(telling, table, slot, column);
    bool inserted = change != NULL && change->kind == ROW_INSERTED;
    fprintf(telling->out, "  %s%s\n", names_row(&telling->names, table, slot).text,
            inserted ? ", which was not there before" : "");
    int64_t before = change != NULL && change->kind == ROW_UPDATED ? change->before : after;
    write_ledger(telling, (enum column_ledger)table_column(table, column)->of, slot, before, after);
}
