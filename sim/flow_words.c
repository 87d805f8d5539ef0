/* The words of the key protocol: names of its rows, descriptions of its events, and the key in a
 * story. */
#include "sim/flow_words.h"
#include "model/flow.h"

#include "model/identity.h"

#include <inttypes.h>
#include <string.h>

/* ---- names ----------------------------------------------------------------------------------- */

static const struct flow_shape *shape_of(const struct names *names, uint32_t slot)
{
    int64_t shape = row_get(names->rows, TABLE_FLOW, slot, FLOW_SHAPE);
    return &names->scenario->flows.shape[shape];
}

static const char *activity_text(const struct names *names, uint32_t slot, int64_t position)
{
    const struct flow_shape *shape = shape_of(names, slot);
    bool known = position >= 0 && position < shape->graph.count;
    return known ? shape->at[position].name : "an activity that is not there";
}

static void append_flow(const struct names *names, int64_t flow, struct name *name)
{
    uint32_t slot = row_find(names->rows, TABLE_FLOW, flow);
    int64_t parent = slot == ROW_NONE ? 0 : row_get(names->rows, TABLE_FLOW, slot, FLOW_PARENT);
    uint32_t above = parent == 0 ? ROW_NONE : row_find(names->rows, TABLE_FLOW, parent);
    if (above != ROW_NONE) {
        int64_t awaiter = row_get(names->rows, TABLE_FLOW, slot, FLOW_AWAITER);
        append_flow(names, parent, name);
        names_append(name, "/%s", activity_text(names, above, awaiter));
        return;
    }
    names_append(name, "flow");
    for (uint32_t n = 0; names->scenario->jobs > 1 && n < names->scenario->jobs; n++) {
        if (identity_mint(0, IDENTITY_FLOW + n) == flow) {
            names_append(name, " %" PRIu32, n + 1);
        }
    }
}

struct name flow_name(const struct names *names, int64_t flow)
{
    struct name name = {""};
    append_flow(names, flow, &name);
    return name;
}

struct name flow_activity_name(const struct names *names, int64_t flow, int64_t position)
{
    uint32_t slot = row_find(names->rows, TABLE_FLOW, flow);
    struct name name = {""};
    if (slot == ROW_NONE) {
        return names_unknown("an activity");
    }
    names_append(&name, "%s", activity_text(names, slot, position));
    if (names->scenario->jobs > 1 || row_get(names->rows, TABLE_FLOW, slot, FLOW_PARENT) != 0) {
        names_append(&name, " of %s", flow_name(names, flow).text);
    }
    return name;
}

struct name flow_subject_name(const struct names *names, const int64_t *message)
{
    return flow_activity_name(names, message[1 + ORDER_FLOW], message[1 + ORDER_POSITION]);
}

const char *flow_kind_text(int64_t kind)
{
    static const char *const kinds[] = {[FLOW_RUN] = "run",
                                        [FLOW_RESUME] = "resume",
                                        [FLOW_PAUSE] = "pause",
                                        [FLOW_RELEASE] = "release"};
    return kind >= FLOW_RUN && kind <= FLOW_RELEASE ? kinds[kind] : "message";
}

static bool is_original(const int64_t *message)
{
    int64_t place =
        identity_mint(message[1 + ORDER_FLOW], IDENTITY_PLACE + message[1 + ORDER_POSITION]);
    return message[0] == identity_mint(place, IDENTITY_ORDER + message[1 + ORDER_KIND]);
}

/* "run of fox": the order to run it. */
struct name flow_message_name(const struct names *names, const int64_t *message)
{
    struct name name = {""};
    names_append(&name, "%s of %s%s", flow_kind_text(message[1 + ORDER_KIND]),
                 flow_subject_name(names, message).text, is_original(message) ? "" : " (copy)");
    return name;
}

static const char *event_text(int64_t change)
{
    static const char *const events[] = {
        [FLOW_STARTED] = "started", [FLOW_ERRORED] = "errored", [FLOW_COMPLETED] = "completed",
        [FLOW_PAUSED] = "paused",   [FLOW_HELD] = "held",       [FLOW_RELEASED] = "released",
        [FLOW_SKIPPED] = "skipped"};
    return change >= FLOW_STARTED && change <= FLOW_SKIPPED ? events[change] : "changed";
}

struct name flow_row_name(const struct names *names, enum row_table table, uint32_t slot)
{
    const struct rows *rows = names->rows;
    const struct row_area *area = &rows->table[table];
    struct name name = {""};
    switch ((int)table) {
    case TABLE_FLOW:
        return flow_name(names, row_key(rows, table, slot));
    case TABLE_FLOW_PLACE:
        return names_prefixed("place of ",
                              flow_activity_name(names, row_get(rows, table, slot, FLOW_PLACE_FLOW),
                                                 row_get(rows, table, slot, FLOW_PLACE_POSITION)));
    case TABLE_FLOW_EVENT:
        names_append(&name, "%s %s",
                     flow_activity_name(names, row_get(rows, table, slot, FLOW_EVENT_FLOW),
                                        row_get(rows, table, slot, FLOW_EVENT_POSITION))
                         .text,
                     event_text(row_get(rows, table, slot, FLOW_EVENT_CHANGE)));
        return name;
    case TABLE_FLOW_END:
        return names_prefixed("end of ",
                              flow_name(names, row_get(rows, table, slot, FLOW_END_FLOW)));
    default:
        return flow_message_name(names, &area->cells[(size_t)slot * area->stride]);
    }
}

/* ---- what was sent --------------------------------------------------------------------------- */

/* The change of the activity itself that a bundle records; 0: it records none. */
static int64_t change_sent(const struct bundle *bundle)
{
    for (int i = 0; i < bundle->count; i++) {
        if (bundle->calls[i].primitive == PRIMITIVE_RECORD_EVENT) {
            return bundle->params[bundle->calls[i].params + 3];
        }
    }
    return 0;
}

static const char *finish_text(const struct bundle *bundle)
{
    int64_t change = change_sent(bundle);
    return change == FLOW_ERRORED     ? "fail"
           : change == FLOW_HELD      ? "hold"
           : change == FLOW_COMPLETED ? "complete"
                                      : "finish";
}

static struct name begun(const struct names *names, const struct bundle *bundle)
{
    for (int i = 0; i < bundle->count; i++) {
        if (bundle->calls[i].primitive == PRIMITIVE_ADD_FLOW) {
            return flow_name(names, bundle->params[bundle->calls[i].params]);
        }
    }
    return (struct name){"a flow"};
}

void flow_tell_sent(const struct trace_effect *effect)
{
    const struct run_event *event = effect->event;
    const struct bundle *bundle = event->bundle;
    const char *text = bundle_name_text((enum bundle_name)bundle->name);
    bool about = trace_is_about_message(event);
    struct name subject =
        about ? names_subject(&effect->names, event->message) : (struct name){"an activity"};
    switch ((int)bundle->name) {
    case BUNDLE_BEGIN_FLOW:
        trace_add(effect->list, "", "begin %s", begun(&effect->names, bundle).text);
        break;
    case BUNDLE_FINISH_KEY:
        text = finish_text(bundle);
        /* fall through */
    case BUNDLE_READ:
    case BUNDLE_START_KEY:
    case BUNDLE_PAUSE_KEY:
    case BUNDLE_RELEASE_KEY:
        trace_add(effect->list, "", "%s %s", bundle->name == BUNDLE_READ ? "look at" : text,
                  subject.text);
        break;
    default: /* of the queue */
        trace_add(effect->list, "", "%s%s%s", text, about ? " " : "",
                  about ? names_message(&effect->names, event->message).text : "");
    }
}

const char *flow_skip_reason(enum bundle_name name)
{
    return name == BUNDLE_BEGIN_FLOW ? "the flow is there" : "done before";
}

/* ---- what changed ---------------------------------------------------------------------------- */

static void tell_flow(const struct trace_effect *effect, const struct row_change *change)
{
    struct name name =
        flow_name(&effect->names, row_key(effect->event->rows, TABLE_FLOW, change->slot));
    if (change->kind == ROW_INSERTED) {
        int64_t key = row_get(effect->event->rows, TABLE_FLOW, change->slot, FLOW_KEY);
        trace_add(effect->list, "; ", "%s begins, %s", name.text, trace_ledger(key).text);
    } else if (change->kind == ROW_UPDATED && change->column == FLOW_KEY) {
        trace_add(effect->list, "; ", "%s %s -> %s", name.text, trace_ledger(change->before).text,
                  trace_ledger(trace_now(effect, change)).text);
    }
}

/* The description of the bundle tells the change itself; here skips and repetitions are told. */
static void tell_event(const struct trace_effect *effect, const struct row_change *change,
                       bool *skipped)
{
    const struct rows *rows = effect->event->rows;
    int64_t position = row_get(rows, TABLE_FLOW_EVENT, change->slot, FLOW_EVENT_POSITION);
    uint32_t flow =
        row_find(rows, TABLE_FLOW, row_get(rows, TABLE_FLOW_EVENT, change->slot, FLOW_EVENT_FLOW));
    bool skip = row_get(rows, TABLE_FLOW_EVENT, change->slot, FLOW_EVENT_CHANGE) == FLOW_SKIPPED;
    if (change->kind == ROW_UPDATED) {
        trace_add(effect->list, "; ", "%s again",
                  names_row(&effect->names, TABLE_FLOW_EVENT, change->slot).text);
    } else if (skip && flow != ROW_NONE) {
        const char *name = activity_text(&effect->names, flow, position);
        trace_add(effect->list, *skipped ? ", " : "; skipped ", "%s", name);
        *skipped = true;
    }
}

static void tell_end(const struct trace_effect *effect, const struct row_change *change)
{
    const struct rows *rows = effect->event->rows;
    int64_t key = row_get(rows, TABLE_FLOW_END, change->slot, FLOW_END_KEY);
    struct name name =
        flow_name(&effect->names, row_get(rows, TABLE_FLOW_END, change->slot, FLOW_END_FLOW));
    trace_add(effect->list, "; ", "%s is complete%s%s", name.text,
              key_in_error(key) ? ", in error" : "", change->kind == ROW_UPDATED ? ", again" : "");
}

void flow_tell_changes(const struct trace_effect *effect)
{
    const struct run_event *event = effect->event;
    bool skipped = false;
    for (size_t i = 0; i < event->change_count; i++) {
        const struct row_change *change = &event->changes[i];
        if (trace_is_repeated(event, i)) {
            continue;
        }
        switch ((int)change->table) {
        case TABLE_FLOW:
            tell_flow(effect, change);
            break;
        case TABLE_FLOW_EVENT:
            tell_event(effect, change, &skipped);
            break;
        case TABLE_FLOW_END:
            tell_end(effect, change);
            break;
        case TABLE_MESSAGE:
            trace_tell_message(effect, change);
            break;
        default: /* places, which come with their flow */
            break;
        }
    }
    trace_tell_published(effect, NULL);
}

/* ---- stories --------------------------------------------------------------------------------- */

void flow_quoted(enum row_table table, struct story_quote *quote)
{
    quote->column = table == TABLE_FLOW ? FLOW_KEY : -1;
    quote->ledger = "key";
    quote->the = table == TABLE_FLOW         ? "the key of "
                 : table == TABLE_FLOW_EVENT ? "what happened: "
                                             : "the ";
}

static void write_digit(const struct story_telling *telling, const char *name, int position,
                        int64_t before, int64_t after)
{
    enum key_digit was = key_get(before, position), is = key_get(after, position);
    bool moved = was != is;
    fprintf(telling->out, "             %*s%s%d%s%*s  %-*s", position, "",
            moved ? telling->style->alarm : "", (int)is, moved ? telling->style->plain : "",
            DIGITS - 1 - position, "", FLOW_NAME_SIZE, name);
    if (moved) {
        fprintf(telling->out, "%s -> ", key_digit_name(was));
    }
    fprintf(telling->out, "%s\n", key_digit_name(is));
}

static void show_key(const struct story_telling *telling, uint32_t slot)
{
    const struct flow_shape *shape = shape_of(&telling->names, slot);
    int64_t after = row_get(telling->names.rows, TABLE_FLOW, slot, FLOW_KEY), before = after;
    const struct trace_change *change = story_change(telling, TABLE_FLOW, slot, FLOW_KEY);
    if (change != NULL && change->kind == ROW_UPDATED && !telling->result.settled) {
        before = change->before;
        fprintf(telling->out, "    before   %s\n", trace_ledger(before).text);
    }
    fprintf(telling->out, "    %-9s%s%s\n", before != after ? "after" : "reads",
            trace_ledger(after).text,
            key_complete(after) ? ", complete"
            : key_valid(after)  ? ", active"
                                : ", no key");
    for (int i = 0; i < shape->graph.count; i++) {
        write_digit(telling, shape->at[i].name, i, before, after);
    }
}

/* The flow that the finding is about; if it is about another row, that row's. */
static uint32_t about(const struct story_telling *telling)
{
    const struct rows *rows = telling->names.rows;
    enum row_table table = (enum row_table)telling->result.breach_table;
    uint32_t slot = telling->result.breach_slot;
    if (table == TABLE_FLOW || slot == ROW_NONE) {
        return slot;
    }
    int64_t flow = table == TABLE_FLOW_EVENT ? row_get(rows, table, slot, FLOW_EVENT_FLOW)
                   : table == TABLE_FLOW_END ? row_get(rows, table, slot, FLOW_END_FLOW)
                                             : row_get(rows, table, slot, FLOW_PLACE_FLOW);
    return row_find(rows, TABLE_FLOW, flow);
}

void flow_tell_ledgers(const struct story_telling *telling)
{
    uint32_t slot = about(telling);
    if (slot == ROW_NONE) {
        return;
    }
    fprintf(telling->out, "\n%sthe key of %s%s\n", telling->style->strong,
            names_row(&telling->names, TABLE_FLOW, slot).text, telling->style->plain);
    show_key(telling, slot);
}

void flow_dump(FILE *out, const struct names *names)
{
    const struct rows *rows = names->rows;
    for (uint32_t slot = 0; slot < rows->table[TABLE_FLOW].used; slot++) {
        int64_t key = row_get(rows, TABLE_FLOW, slot, FLOW_KEY);
        fprintf(out, "  %-40s %s  %s\n", names_row(names, TABLE_FLOW, slot).text,
                trace_ledger(key).text, key_complete(key) ? "complete" : "active");
    }
}
