/* The legacy protocol in the simulation: which faults spare Leg2, presets, the hunting scenarios of
 * planted bugs, and its words for traces and stories. */
#include "model/legacy.h"
#include "model/identity.h"
#include "model/legacy_engine.h"
#include "sim/part.h"

#include <inttypes.h>

/* ---- running --------------------------------------------------------------------------------- */

static bool increments_leg2(enum bundle_name name)
{
    return name == BUNDLE_ENTER_LEG2 || name == BUNDLE_END_LEG2 || name == BUNDLE_UNDO;
}

/* What the scenario assumes: see struct legacy_rules. */
static bool is_spared(const struct run *run, enum fault_kind kind, unsigned actor)
{
    const struct legacy_rules *rules = RULES_OF(&run->rules, legacy_rules);
    const struct actor *one = &run->actors[actor].performer.actor;
    enum fault_group group = fault_get(kind)->group;
    bool in_leg2 = run->actors[actor].performer.actor.role == LEGACY_WORKER &&
                   legacy_engine_in_leg2(ACTOR_IS(one, legacy_worker));
    return (group == FAULT_GROUP_CRASH && rules->spares_crash && in_leg2) ||
           (group == FAULT_GROUP_UNKNOWN && rules->spares_unknown &&
            increments_leg2((enum bundle_name)run->bundle.name));
}

static bool applies(const struct run *run, enum fault_kind kind, unsigned actor)
{
    if (kind == FAULT_PAUSE && run->actors[actor].performer.actor.role == LEGACY_CLIENT) {
        return false;
    }
    return part_applies(run, kind, actor) && !is_spared(run, kind, actor);
}

static bool has_presets(const struct scenario *scenario)
{
    for (uint16_t n = 0; n < scenario->graph.node_count; n++) {
        if (scenario->graph.nodes[n].preset_leg1 != 0 ||
            scenario->graph.nodes[n].preset_leg2 != 0) {
            return true;
        }
    }
    return false;
}

/* A scenario may start an integer next to a ceiling, as if so many messages had entered and left
 * Leg2. */
static void apply_preset(struct run *run, size_t mark)
{
    struct world *world = &run->world;
    size_t count = world->change_count;
    for (size_t i = mark; i < count; i++) {
        struct row_change change = world->changes[i];
        if (change.table != TABLE_EARLIER || change.kind != ROW_INSERTED) {
            continue;
        }
        int64_t node = row_get(&world->rows, TABLE_EARLIER, change.slot, EARLIER_NODE);
        const struct graph_node *of = &run->scenario->graph.nodes[node];
        int64_t both = legacy_summand(LEGACY_LEG2_BEGIN) + legacy_summand(LEGACY_LEG2_PENDING);
        int64_t ledger = row_get(&world->rows, TABLE_EARLIER, change.slot, EARLIER_LEDGER);
        ledger += of->preset_leg1 * legacy_summand(LEGACY_LEG1_BEGIN) + of->preset_leg2 * both;
        world_set(world, TABLE_EARLIER, change.slot, EARLIER_LEDGER, ledger);
    }
}

static bool can_see(const struct scenario *scenario, enum oracle_sighting sight)
{
    bool pending = false;
    for (uint16_t n = 0; n < scenario->graph.node_count; n++) {
        pending = pending || scenario->graph.nodes[n].pendings > 0;
    }
    return sight != SIGHT_LEGACY_PENDING || pending;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Jobs have no row: they are numbered by their triggers, in the order of creation. */
static void append_job(const struct names *names, int64_t job, struct name *name)
{
    const struct rows *rows = names->rows;
    int number = 1;
    for (uint32_t slot = 0; slot < rows->table[TABLE_EARLIER].used; slot++) {
        if (row_get(rows, TABLE_EARLIER, slot, EARLIER_JOB) == job) {
            break;
        }
        number += row_get(rows, TABLE_EARLIER, slot, EARLIER_PARENT) == 0;
    }
    if (names->scenario->jobs > 1) {
        names_append(name, "job %d: ", number);
    }
}

/* "left", and "left#2" for the second of one job. */
static struct name activity_name(const struct names *names, int64_t activity)
{
    const struct rows *rows = names->rows;
    struct name name = {""};
    uint32_t slot = row_find(rows, TABLE_EARLIER, activity);
    if (slot == ROW_NONE) {
        return names_unknown("an activity");
    }
    int64_t job = row_get(rows, TABLE_EARLIER, slot, EARLIER_JOB);
    int64_t node = row_get(rows, TABLE_EARLIER, slot, EARLIER_NODE);
    int number = 1;
    for (uint32_t other = 0; other < slot; other++) {
        number += row_get(rows, TABLE_EARLIER, other, EARLIER_JOB) == job &&
                  row_get(rows, TABLE_EARLIER, other, EARLIER_NODE) == node;
    }
    append_job(names, job, &name);
    names_append(&name, "%s", names->scenario->graph.nodes[node].name);
    if (number > 1) {
        names_append(&name, "#%d", number);
    }
    return name;
}

static void append_answer(struct name *name, int64_t answer)
{
    if (answer > 0) {
        names_append(name, " (pending %" PRId64 ")", answer);
    } else if (answer < 0) {
        names_append(name, " (call %" PRId64 ")", 1 - answer);
    }
}

static struct name subject_name(const struct names *names, const int64_t *message)
{
    struct name name = activity_name(names, message[1 + MESSAGE_ACTIVITY]);
    append_answer(&name, message[1 + MESSAGE_ANSWER]);
    return name;
}

/* Whether the row has the key that its content would be given. */
static bool is_original(const int64_t *message)
{
    int64_t answer = message[1 + MESSAGE_ANSWER];
    int64_t role = message[1 + MESSAGE_KIND] == MESSAGE_LEG1 ? IDENTITY_LEG1
                   : answer > 0                              ? IDENTITY_PENDING + answer
                   : answer == 0                             ? IDENTITY_CLOSE
                                                             : IDENTITY_AGAIN - answer;
    return message[0] == identity_mint(message[1 + MESSAGE_ACTIVITY], role);
}

static struct name message_name(const struct names *names, const int64_t *message)
{
    struct name name =
        names_prefixed(message[1 + MESSAGE_KIND] == MESSAGE_LEG1 ? "Leg1 of " : "Leg2 of ",
                       subject_name(names, message));
    names_append(&name, "%s", is_original(message) ? "" : " (copy)");
    return name;
}

static struct name state_name(const struct names *names, uint32_t slot)
{
    const struct rows *rows = names->rows;
    int64_t dimension = row_get(rows, TABLE_SAVED, slot, SAVED_DIMENSION);
    struct name name = names_prefixed(
        "state of ", activity_name(names, row_get(rows, TABLE_SAVED, slot, SAVED_ACTIVITY)));
    if (dimension > 0) {
        names_append(&name, " in dimension %" PRId64, dimension);
    }
    return name;
}

static struct name row_name(const struct names *names, enum row_table table, uint32_t slot)
{
    const struct row_area *area = &names->rows->table[table];
    switch ((int)table) {
    case TABLE_EARLIER:
        return names_prefixed("integer of ",
                              activity_name(names, row_key(names->rows, table, slot)));
    case TABLE_SAVED:
        return state_name(names, slot);
    case TABLE_MESSAGE:
        return message_name(names, &area->cells[(size_t)slot * area->stride]);
    default:
        return (struct name){"escalation"};
    }
}

/* ---- traces ---------------------------------------------------------------------------------- */

static void tell_sent(const struct trace_effect *effect)
{
    static const char *const words[BUNDLE_NAME_COUNT] = {
        [BUNDLE_CLAIM] = "claim ",
        [BUNDLE_ENTER_LEG1] = "enter ",
        [BUNDLE_CLEAN_UP] = "clean up ",
        [BUNDLE_WORK] = "work of ",
        [BUNDLE_END_LEG1] = "end ",
        [BUNDLE_ENTER_LEG2] = "enter ",
        [BUNDLE_SAVE] = "save ",
        [BUNDLE_END_LEG2] = "end ",
        [BUNDLE_UNDO] = "undo entry of ",
        [BUNDLE_READ] = "read integer for ",
        [BUNDLE_ACK] = "ack ",
        [BUNDLE_ESCALATE] = "give up ",
    };
    const struct run_event *event = effect->event;
    enum bundle_name bundle = (enum bundle_name)event->bundle->name;
    if (!trace_is_about_message(event)) {
        trace_add(effect->list, "", "%s", bundle_name_text(bundle));
    } else if (bundle == BUNDLE_PUBLISH) {
        bool leg1 = event->message[1 + MESSAGE_KIND] == MESSAGE_LEG1;
        trace_add(effect->list, "", "publish %s of %s", leg1 ? "answers" : "children",
                  names_subject(&effect->names, event->message).text);
    } else {
        trace_add(effect->list, "", "%s%s", words[bundle],
                  names_message(&effect->names, event->message).text);
    }
}

static void tell_integer(const struct trace_effect *effect, const struct row_change *change)
{
    const struct rows *rows = effect->event->rows;
    struct name name = activity_name(&effect->names, row_key(rows, TABLE_EARLIER, change->slot));
    int64_t ledger = row_get(rows, TABLE_EARLIER, change->slot, EARLIER_LEDGER);
    if (change->kind == ROW_UPDATED) {
        trace_add(effect->list, "; ", "%s %s -> %s", name.text, trace_ledger(change->before).text,
                  trace_ledger(ledger).text);
    } else {
        trace_add(effect->list, "; ", "%s %s %s", name.text, trace_ledger(ledger).text,
                  change->kind == ROW_INSERTED ? "saved" : "deleted");
    }
}

/* Of a save, only that it was made is told, or made again. */
static void tell_state(const struct trace_effect *effect, const struct row_change *change)
{
    struct name name = state_name(&effect->names, change->slot);
    if (change->kind != ROW_UPDATED) {
        trace_add(effect->list, "; ", "%s %s", name.text,
                  change->kind == ROW_INSERTED ? "saved" : "cleaned up");
    } else if (change->column == SAVED_RUNS) {
        trace_add(effect->list, "; ", "%s saved again", name.text);
    }
}

static void tell_changes(const struct trace_effect *effect)
{
    const struct run_event *event = effect->event;
    if (!event->crashed && event->outcome->kind == OUTCOME_COMMITTED &&
        event->bundle->name == BUNDLE_READ) {
        trace_add(effect->list, "; ", "reads %s", trace_ledger(event->outcome->values[0]).text);
    }
    for (size_t i = 0; i < event->change_count; i++) {
        const struct row_change *change = &event->changes[i];
        if (trace_is_repeated(event, i)) {
            continue;
        }
        if (change->table == TABLE_EARLIER) {
            tell_integer(effect, change);
        } else if (change->table == TABLE_SAVED) {
            tell_state(effect, change);
        } else if (change->table == TABLE_MESSAGE) {
            trace_tell_message(effect, change);
        } else {
            trace_add(effect->list, "; ", "escalated: at its ceiling");
        }
    }
    trace_tell_published(effect, NULL);
}

static const char *skip_reason(enum bundle_name name)
{
    return name == BUNDLE_CREATE ? "the job is there" : "published before";
}

static const char *remark(const struct run_event *event)
{
    int64_t ledger = event->outcome->values[0];
    if (event->bundle->name == BUNDLE_ENTER_LEG1) {
        static const char *const words[] = {[LEGACY_LEG1_FIRST] = NULL,
                                            [LEGACY_LEG1_CRASHED] = "it had crashed before",
                                            [LEGACY_LEG1_COMPLETED] = "it had ended before"};
        return words[legacy_leg1_decision(ledger)];
    }
    return event->bundle->name == BUNDLE_ENTER_LEG2 && legacy_closed(ledger) ? "Leg2 is closed"
                                                                             : NULL;
}

static const char *kind_text(int64_t kind)
{
    return kind == MESSAGE_LEG1 ? "Leg1" : "Leg2";
}

/* ---- stories --------------------------------------------------------------------------------- */

static void quoted(enum row_table table, struct story_quote *quote)
{
    quote->column = table == TABLE_EARLIER ? EARLIER_LEDGER : -1;
    quote->ledger = "legacy";
}

/* The meaning of the digits of a field. */
static struct name meaning(enum legacy_field field, int64_t digits)
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

static void show_integer(const struct story_telling *telling, uint32_t slot)
{
    const struct story_style *style = telling->style;
    int64_t after = row_get(telling->names.rows, TABLE_EARLIER, slot, EARLIER_LEDGER);
    const struct trace_change *change = story_change(telling, TABLE_EARLIER, slot, EARLIER_LEDGER);
    int64_t before = change != NULL && change->kind == ROW_UPDATED ? change->before : after;
    FILE *out = telling->out;
    fprintf(out, "  %s\n", names_row(&telling->names, TABLE_EARLIER, slot).text);
    if (before != after) {
        fprintf(out, "    before   %s\n", trace_ledger(before).text);
    }
    fprintf(out, "    %-9s%s\n", before != after ? "after" : "reads", trace_ledger(after).text);
    for (int i = 0; digits_in_range(after) && i < LEGACY_FIELD_COUNT; i++) {
        enum legacy_field field = (enum legacy_field)i;
        const struct legacy_layout *layout = legacy_layout(field);
        bool same = legacy_get(before, field) == legacy_get(after, field);
        int left = layout->first_digit - 1;
        fprintf(out, "             %*s%s%0*" PRId64 "%s%*s  %-18s%s\n", left, "",
                same ? "" : style->alarm, layout->digit_count, legacy_get(after, field),
                same ? "" : style->plain, DIGITS - left - layout->digit_count, "", layout->name,
                meaning(field, legacy_get(after, field)).text);
    }
}

/* The integer that the finding is about, and that of its parent. */
static void tell_ledgers(const struct story_telling *telling)
{
    const struct rows *rows = telling->names.rows;
    uint32_t slot = telling->result.breach_slot;
    if (slot == ROW_NONE || slot >= rows->table[telling->result.breach_table].used) {
        return;
    }
    int64_t activity = telling->result.breach_table == TABLE_EARLIER
                           ? row_key(rows, TABLE_EARLIER, slot)
                       : telling->result.breach_table == TABLE_SAVED
                           ? row_get(rows, TABLE_SAVED, slot, SAVED_ACTIVITY)
                       : telling->result.breach_table == TABLE_MESSAGE
                           ? row_get(rows, TABLE_MESSAGE, slot, MESSAGE_ACTIVITY)
                           : 0;
    uint32_t own = row_find(rows, TABLE_EARLIER, activity);
    if (own == ROW_NONE) {
        return;
    }
    uint32_t parent =
        row_find(rows, TABLE_EARLIER, row_get(rows, TABLE_EARLIER, own, EARLIER_PARENT));
    fprintf(telling->out, "\n%sthe integers%s, before and after step %" PRIu32 "\n",
            telling->style->strong, telling->style->plain, telling->last->line.step);
    if (parent != ROW_NONE) {
        show_integer(telling, parent);
    }
    show_integer(telling, own);
}

static void dump(FILE *out, const struct names *names)
{
    const struct rows *rows = names->rows;
    for (uint32_t slot = 0; slot < rows->table[TABLE_EARLIER].used; slot++) {
        fprintf(out, "  %-40s %s\n", names_row(names, TABLE_EARLIER, slot).text,
                trace_ledger(row_get(rows, TABLE_EARLIER, slot, EARLIER_LEDGER)).text);
    }
    for (uint32_t slot = 0; slot < rows->table[TABLE_SAVED].used; slot++) {
        fprintf(out, "  %-40s %s\n", names_row(names, TABLE_SAVED, slot).text,
                row_get(rows, TABLE_SAVED, slot, SAVED_PUBLISHED) == 1 ? "published"
                                                                       : "not published");
    }
}

/* All hold without a planted bug. */
static const char *const grounds[] = {"legacy", "legacy-ceilings", "legacy-one-death", NULL};

static uint64_t knows(const struct sameness *same, uint64_t hash, const struct actor *actor)
{
    const struct legacy_worker *one = ACTOR_IS(actor, legacy_worker);
    hash = sameness_mix(hash, (uint64_t)(one->state << 8 | one->unsure));
    hash = sameness_mix(hash, (uint64_t)one->ledger);
    return sameness_mix_message(same, hash, one->message);
}

const struct sim_part sim_part_legacy = {
    .knows = knows,
    .applies = applies,
    .has_presets = has_presets,
    .preset = apply_preset,
    .can_see = can_see,
    .grounds = grounds,
    .row = row_name,
    .subject = subject_name,
    .message = message_name,
    .sent = tell_sent,
    .changes = tell_changes,
    .skip_reason = skip_reason,
    .remark = remark,
    .kind = kind_text,
    .quoted = quoted,
    .ledgers = tell_ledgers,
    .dump = dump,
};
