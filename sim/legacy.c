/* The legacy protocol in the simulation: which faults spare Leg2, presets, the hunting scenarios of
 * planted bugs, and its words for traces and stories. */
#include "model/legacy.h"
#include "model/identity.h"
#include "model/legacy_engine.h"
#include "sim/ledger_words.h"
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
    return sim_part_applies(run, kind, actor) && !is_spared(run, kind, actor);
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
        if (change.table != TABLE_LEGACY || change.kind != ROW_INSERTED) {
            continue;
        }
        int64_t node = row_get(&world->rows, TABLE_LEGACY, change.slot, LEGACY_NODE);
        const struct graph_node *of = &run->scenario->graph.nodes[node];
        int64_t both = legacy_summand(LEGACY_LEG2_BEGIN) + legacy_summand(LEGACY_LEG2_PENDING);
        int64_t ledger = row_get(&world->rows, TABLE_LEGACY, change.slot, LEGACY_LEDGER);
        ledger += of->preset_leg1 * legacy_summand(LEGACY_LEG1_BEGIN) + of->preset_leg2 * both;
        world_set(world, TABLE_LEGACY, change.slot, LEGACY_LEDGER, ledger);
    }
}

static bool can_see(const struct scenario *scenario, enum oracle_cover sight)
{
    bool pending = false;
    for (uint16_t n = 0; n < scenario->graph.node_count; n++) {
        pending = pending || scenario->graph.nodes[n].pendings > 0;
    }
    return sight != COVER_LEGACY_PENDING || pending;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Jobs have no row: they are numbered by their triggers, in the order of creation. */
static int job_number(const struct names *names, int64_t job)
{
    const struct rows *rows = names->rows;
    int number = 1;
    for (uint32_t slot = 0; slot < rows->table[TABLE_LEGACY].used; slot++) {
        if (row_get(rows, TABLE_LEGACY, slot, LEGACY_JOB) == job) {
            break;
        }
        number += row_get(rows, TABLE_LEGACY, slot, LEGACY_PARENT) == 0;
    }
    return number;
}

/* "left", and "left#2" for the second of one job. */
static struct name activity_name(const struct names *names, int64_t activity)
{
    const struct rows *rows = names->rows;
    struct name name = {""};
    uint32_t slot = row_find(rows, TABLE_LEGACY, activity);
    if (slot == ROW_NONE) {
        return names_unknown("an activity");
    }
    int64_t job = row_get(rows, TABLE_LEGACY, slot, LEGACY_JOB);
    int64_t node = row_get(rows, TABLE_LEGACY, slot, LEGACY_NODE);
    int number = 1;
    for (uint32_t other = 0; other < slot; other++) {
        number += row_get(rows, TABLE_LEGACY, other, LEGACY_JOB) == job &&
                  row_get(rows, TABLE_LEGACY, other, LEGACY_NODE) == node;
    }
    if (names->scenario->jobs > 1) {
        names_append(&name, "job %d: ", job_number(names, job));
    }
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

/* Jobs are known by their triggers. */
static struct name thing_name(const struct names *names, enum row_table table, int64_t key)
{
    struct name name = {"job"};
    if (table != TABLE_JOB) {
        return activity_name(names, key);
    }
    if (names->scenario->jobs > 1) {
        names_append(&name, " %d", job_number(names, key));
    }
    return name;
}

static void row_name(const struct names *names, enum row_table table, uint32_t slot,
                     struct name *name)
{
    int64_t dimension =
        table == TABLE_SAVED ? row_get(names->rows, table, slot, SAVED_DIMENSION) : 0;
    if (dimension > 0) {
        names_append(name, " in dimension %" PRId64, dimension);
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

/* Of a save, only that it was made is told, or made again. */
static bool tell_change(const struct trace_effect *effect, const struct row_change *change)
{
    if (change->table == TABLE_SAVED && change->kind == ROW_DELETED) {
        trace_add(effect->list, "; ", "%s cleaned up",
                  names_row(&effect->names, TABLE_SAVED, change->slot).text);
        return true;
    }
    if (change->table == TABLE_ESCALATION) {
        trace_add(effect->list, "; ", "escalated: at its ceiling");
        return true;
    }
    return change->table == TABLE_SAVED && change->kind == ROW_UPDATED &&
           change->column != SAVED_RUNS;
}

static bool reads_ledger(enum bundle_name bundle)
{
    return bundle == BUNDLE_READ;
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

/* The integer that the finding is about, and that of its parent. */
static void tell_ledgers(const struct story_telling *telling)
{
    const struct rows *rows = telling->names.rows;
    uint32_t slot = telling->result.breach_slot;
    if (slot == ROW_NONE || slot >= rows->table[telling->result.breach_table].used) {
        return;
    }
    int64_t activity = telling->result.breach_table == TABLE_LEGACY
                           ? row_key(rows, TABLE_LEGACY, slot)
                       : telling->result.breach_table == TABLE_SAVED
                           ? row_get(rows, TABLE_SAVED, slot, SAVED_ACTIVITY)
                       : telling->result.breach_table == TABLE_MESSAGE
                           ? row_get(rows, TABLE_MESSAGE, slot, MESSAGE_ACTIVITY)
                           : 0;
    uint32_t own = row_find(rows, TABLE_LEGACY, activity);
    if (own == ROW_NONE) {
        return;
    }
    uint32_t parent = row_find(rows, TABLE_LEGACY, row_get(rows, TABLE_LEGACY, own, LEGACY_PARENT));
    ledger_words_head(telling, "the integers");
    if (parent != ROW_NONE) {
        ledger_words_show(telling, TABLE_LEGACY, parent);
    }
    ledger_words_show(telling, TABLE_LEGACY, own);
}

/* All hold without a planted bug. */
static const char *const grounds[] = {"legacy", "legacy-ceilings", "legacy-one-death", NULL};

static uint64_t knows(const struct fingerprint *same, uint64_t hash, const struct actor *actor)
{
    const struct legacy_worker *one = ACTOR_IS(actor, legacy_worker);
    hash = fingerprint_mix(hash, (uint64_t)(one->state << 8 | one->unsure));
    hash = fingerprint_mix(hash, (uint64_t)one->ledger);
    return fingerprint_mix_message(same, hash, one->message);
}

const struct sim_part sim_part_legacy = {
    .knows = knows,
    .applies = applies,
    .has_presets = has_presets,
    .preset = apply_preset,
    .can_see = can_see,
    .grounds = grounds,
    .thing = thing_name,
    .row = row_name,
    .subject = subject_name,
    .message = message_name,
    .sent = tell_sent,
    .change = tell_change,
    .reads_ledger = reads_ledger,
    .skip_reason = skip_reason,
    .remark = remark,
    .kind = kind_text,
    .ledgers = tell_ledgers,
};
