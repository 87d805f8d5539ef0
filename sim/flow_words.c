/* The words of the key protocol: names of its rows, descriptions of its events, and the key in a
 * story. */
#include "sim/flow_words.h"

#include "model/flow.h"
#include "model/identity.h"
#include "sim/flow_status.h"
#include "sim/ledger_words.h"
#include "sim/teller.h"

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

struct name flow_thing_name(const struct names *names, enum row_table table, int64_t key)
{
    (void)table;
    return flow_name(names, key);
}

/* Places and events belong to an activity, which has no row: "place of fox", "fox started". */
void flow_row_name(const struct names *names, enum row_table table, uint32_t slot,
                   struct name *name)
{
    const struct rows *rows = names->rows;
    if (table == TABLE_FLOW_PLACE) {
        *name = names_prefixed(
            "place of ", flow_activity_name(names, row_get(rows, table, slot, FLOW_PLACE_FLOW),
                                            row_get(rows, table, slot, FLOW_PLACE_POSITION)));
    } else if (table == TABLE_FLOW_EVENT) {
        int64_t change = row_get(rows, table, slot, FLOW_EVENT_CHANGE);
        *name = flow_activity_name(names, row_get(rows, table, slot, FLOW_EVENT_FLOW),
                                   row_get(rows, table, slot, FLOW_EVENT_POSITION));
        names_append(name, " %s", teller_value(names, table, FLOW_EVENT_CHANGE, change).text);
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

static bool is_skip(const struct run_event *event, const struct row_change *change)
{
    return change->table == TABLE_FLOW_EVENT && change->kind == ROW_INSERTED &&
           row_get(event->rows, TABLE_FLOW_EVENT, change->slot, FLOW_EVENT_CHANGE) == FLOW_SKIPPED;
}

/* The description of the bundle tells the change itself; skips are told here, as one list. */
static void tell_skip(const struct trace_effect *effect, const struct row_change *change)
{
    const struct rows *rows = effect->event->rows;
    const struct row_change *first = effect->event->changes;
    while (!is_skip(effect->event, first)) {
        first++;
    }
    int64_t position = row_get(rows, TABLE_FLOW_EVENT, change->slot, FLOW_EVENT_POSITION);
    uint32_t flow =
        row_find(rows, TABLE_FLOW, row_get(rows, TABLE_FLOW_EVENT, change->slot, FLOW_EVENT_FLOW));
    if (flow != ROW_NONE) {
        trace_add(effect->list, first == change ? "; skipped " : ", ", "%s",
                  activity_text(&effect->names, flow, position));
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

bool flow_tell_change(const struct trace_effect *effect, const struct row_change *change)
{
    if (is_skip(effect->event, change)) {
        tell_skip(effect, change);
        return true;
    }
    if (change->table == TABLE_FLOW_END && change->kind != ROW_DELETED) {
        tell_end(effect, change);
        return true;
    }
    return change->table == TABLE_FLOW && change->kind == ROW_UPDATED &&
           change->column == FLOW_UNTAKEN; /* it follows from the digits of the key */
}

/* A job in which one flow awaits another has a status beside its keys. */
bool flow_status_changed(const struct trace_effect *effect, struct part_status *status)
{
    const struct run_event *event = effect->event;
    for (size_t i = 0; i < event->change_count; i++) {
        const struct row_change *change = &event->changes[i];
        bool moves = change->table == TABLE_FLOW && change->kind != ROW_DELETED &&
                     (change->kind == ROW_INSERTED || change->column == FLOW_KEY);
        if (moves) {
            status->job =
                flow_status_first(event->rows, row_key(event->rows, TABLE_FLOW, change->slot));
            return flow_status(event->rows, status->job, status->text) > 1;
        }
    }
    return false;
}

/* ---- stories --------------------------------------------------------------------------------- */

/* The flow that the finding is about; if it is about another row, that row's. */
static uint32_t about(const struct story_telling *telling)
{
    const struct rows *rows = telling->names.rows;
    enum row_table table = (enum row_table)telling->result.breach_table;
    uint32_t slot = telling->result.breach_slot;
    if (slot == ROW_NONE || table_words(table)->called == NULL) { /* a message: none */
        return ROW_NONE;
    }
    return row_find(rows, TABLE_FLOW, names_owner(rows, &table, slot));
}

void flow_tell_ledgers(const struct story_telling *telling)
{
    uint32_t slot = about(telling);
    if (slot == ROW_NONE) {
        return;
    }
    ledger_words_head(telling, "the key");
    ledger_words_show(telling, TABLE_FLOW, slot);
    struct part_status status;
    const struct rows *rows = telling->names.rows;
    status.job = flow_status_first(rows, row_key(rows, TABLE_FLOW, slot));
    if (flow_status(rows, status.job, status.text) > 1) {
        fprintf(telling->out, "  %s\n    reads    %s\n",
                sim_part_status_name(&telling->names, &status).text, sim_part_status_text(&status));
    }
}
