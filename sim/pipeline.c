/* The pipeline in the simulation: which faults apply to its phases, the hunting scenarios of its
 * planted bugs, and its words. */
#include "model/identity.h"
#include "model/pipeline_trespass.h"
#include "sim/part.h"
#include "sim/teller.h"

#include <inttypes.h>

/* ---- running --------------------------------------------------------------------------------- */

/* A trespass is not the worker's doing, and nothing else happens to it meanwhile. */
static bool applies(const struct run *run, enum fault_kind kind, unsigned actor)
{
    if (run->bundle.name == BUNDLE_TRESPASS) {
        return false;
    }
    if (kind == FAULT_CRASH_BEFORE_ACK) {
        return run->bundle.name == BUNDLE_HAND_ON;
    }
    if (kind == FAULT_ANSWER_CHANGED) { /* a bundle that a planted bug repeats was judged before */
        return run->bundle.name == BUNDLE_VERIFY && run->actors[actor].performer.memory.stage == 0;
    }
    return sim_part_applies(run, kind, actor);
}

/* A verifier gives the other verdict, until it is done with the request. */
static void twist(struct actor *actor, enum fault_kind kind, bool on)
{
    (void)kind;
    ACTOR_IS(actor, pipeline_worker)->flipped = ACTOR_IS(actor, pipeline_worker)->flipped || on;
}

/* What a principal may not do, in the name of one (model/pipeline_trespass.h). */
static uint32_t missteps(const struct run *run, unsigned actor, bool drawn)
{
    const struct actor *of = &run->actors[actor].performer.actor;
    (void)drawn;
    return of->role == PIPELINE_WORKER ? pipeline_trespass_count(ACTOR_IS(of, pipeline_worker)) : 0;
}

static void misstep(struct run *run, unsigned actor, uint32_t which, bool drawn)
{
    (void)drawn;
    ACTOR_IS(&run->actors[actor].performer.actor, pipeline_worker)->trespass = (uint8_t)(1 + which);
}

static bool has_flaw(const struct scenario *scenario, enum pipeline_flaw flaw)
{
    for (uint32_t i = 0; i < RULES_OF(scenario, pipeline_rules)->entry_count; i++) {
        if (RULES_OF(scenario, pipeline_rules)->entries[i].flaw == flaw) {
            return true;
        }
    }
    return false;
}

static bool has_reverify(const struct scenario *scenario)
{
    for (uint32_t i = 0; i < RULES_OF(scenario, pipeline_rules)->entry_count; i++) {
        if (RULES_OF(scenario, pipeline_rules)->entries[i].verifies > 1) {
            return true;
        }
    }
    return false;
}

/* ---- which moves of a status the plan of a scenario has -------------------------------------- */

static const struct pipeline_entry *planned(const struct scenario *scenario, uint32_t node)
{
    return &RULES_OF(scenario, pipeline_rules)->entries[node];
}

static bool is_marked(const struct pipeline_entry *entry)
{
    return entry->flaw != FLAW_NO_PAYLOAD && entry->flaw != FLAW_NO_BLOCKER;
}

static int64_t decided(const struct pipeline_entry *entry, int review)
{
    return entry->decisions[review] == DECISION_APPROVE ? STATUS_APPROVED : STATUS_REJECTED;
}

static bool reviews_so(const struct pipeline_entry *entry, int64_t from, int64_t to)
{
    bool found = from == STATUS_MARKED && decided(entry, 0) == to;
    for (int r = 1; r < entry->reviews; r++) {
        found = found || (decided(entry, r - 1) == from && decided(entry, r) == to);
    }
    return found;
}

/* Its last decision approves, and what it needs ends complete. Blockers come before it. */
static bool is_cut(const struct scenario *scenario, const struct pipeline_entry *entry)
{
    bool may = is_marked(entry) && decided(entry, entry->reviews - 1) == STATUS_APPROVED;
    for (int b = 0; b < entry->blocker_count && may; b++) {
        const struct pipeline_entry *blocker = planned(scenario, entry->blockers[b]);
        may = is_cut(scenario, blocker) && blocker->outcomes[0] == VERIFIED_PASS;
    }
    return may;
}

static bool verifies_so(const struct pipeline_entry *entry, int64_t from, int64_t to)
{
    uint8_t outcome = to == STATUS_COMPLETE ? VERIFIED_PASS : VERIFIED_FAIL;
    bool found = from == STATUS_CUT && entry->outcomes[0] == outcome;
    for (int v = 1; v < entry->verifies && entry->outcomes[v - 1] == VERIFIED_PASS; v++) {
        found = found || (from == STATUS_COMPLETE && entry->outcomes[v] == outcome);
    }
    return found;
}

static bool makes_move(const struct scenario *scenario, int64_t from, int64_t to)
{
    for (uint32_t node = 0; node < RULES_OF(scenario, pipeline_rules)->entry_count; node++) {
        const struct pipeline_entry *entry = planned(scenario, node);
        bool cut = is_cut(scenario, entry);
        if ((from == STATUS_NONE && is_marked(entry)) ||
            (is_marked(entry) && reviews_so(entry, from, to)) ||
            (cut && (to == STATUS_CUT || verifies_so(entry, from, to)))) {
            return true;
        }
    }
    return false;
}

static bool can_move(const struct scenario *scenario, enum oracle_cover sight)
{
    static const struct {
        uint8_t from, to;
    } moves[] = {
#define MOVE(from, to) {STATUS_##from, STATUS_##to},
        ORACLE_STATUS_MOVES(MOVE)
#undef MOVE
    };
    const size_t at = (size_t)(sight - COVER_STATUS_NONE_MARKED);
    return makes_move(scenario, moves[at].from, moves[at].to);
}

static bool can_see(const struct scenario *scenario, enum oracle_cover sight)
{
    if (sight >= COVER_STATUS_NONE_MARKED && sight <= COVER_STATUS_COMPLETE_ESCALATED) {
        return can_move(scenario, sight);
    }
    switch ((int)sight) {
    case COVER_HUMAN_PARENT:
        return has_flaw(scenario, FLAW_NO_BLOCKER);
    case COVER_HUMAN_NULL:
        return has_flaw(scenario, FLAW_NO_PAYLOAD);
    case COVER_REVERIFY_FAILED:
        return has_reverify(scenario);
    case COVER_HAND_ON_LET_GO:
    case COVER_EXHAUSTED: /* more errors than a run has by chance */
        return scenario->faults.budget[FAULT_GROUP_ABORT] > 2 * PIPELINE_TRIES_MAX;
    case COVER_SWEPT:
        return scenario->faults.budget[FAULT_GROUP_ABORT] > 2 * PIPELINE_TRIES_MAX &&
               RULES_OF(scenario, pipeline_rules)->passes != 1;
    case COVER_GIVEN_UP: /* ... and so again after each pass but the last */
        return scenario->faults.budget[FAULT_GROUP_ABORT] > 2 * PIPELINE_TRIES_MAX &&
               (RULES_OF(scenario, pipeline_rules)->passes == 1 ||
                RULES_OF(scenario, pipeline_rules)->passes == 2);
    default:
        return true;
    }
}

static const char *const grounds[] = {
    "pipeline",       "pipeline-people",   "pipeline-storm", "pipeline-race",
    "pipeline-lapse", "pipeline-stubborn", "pipeline-sweep", NULL};

/* A request is stopped, and swept, only where nearly everything fails; lanes are one chain each only
 * where that is asked for. */
static const char *const *only_grounds(enum bundle_name bundle, enum primitive_id primitive)
{
    static const char *const stops[] = {"pipeline-stubborn", "pipeline-sweep", NULL};
    static const char *const chains[] = {"pipeline-chain", NULL};
    if (primitive == PRIMITIVE_SIGN_LAST) {
        return chains;
    }
    return bundle == BUNDLE_STOP || bundle == BUNDLE_SWEEP_LOOK || bundle == BUNDLE_SWEEP ? stops
                                                                                          : NULL;
}

/* ---- names ----------------------------------------------------------------------------------- */

static const char *phase_text(int64_t phase)
{
    const char *text = column_value_name(table_column(TABLE_SWEEP_LOG, SWEEP_LOG_PHASE), phase);
    return text == NULL ? "?" : text;
}

static const char *status_text(int64_t status)
{
    const char *text = column_value_name(table_column(TABLE_ENTRY, ENTRY_STATUS), status);
    return text == NULL ? "no status" : text;
}

static struct name plan_name(const struct names *names, int64_t batch, int64_t node)
{
    struct name name = {""};
    if (names->scenario->jobs > 1) {
        names_append(&name, "batch %" PRId64 ": ", batch + 1);
    }
    bool known = node >= 0 && node < RULES_OF(names->scenario, pipeline_rules)->entry_count;
    names_append(&name, "%s",
                 known ? RULES_OF(names->scenario, pipeline_rules)->entries[node].name : "?");
    return name;
}

static int64_t cell(const struct names *names, enum row_table table, int64_t key, int column)
{
    uint32_t slot = row_find(names->rows, table, key);
    return slot == ROW_NONE ? 0 : row_get(names->rows, table, slot, column);
}

static struct name planned_name(const struct names *names, int64_t id)
{
    for (int64_t batch = 0; batch < names->scenario->jobs; batch++) {
        for (int64_t node = 0; node < RULES_OF(names->scenario, pipeline_rules)->entry_count;
             node++) {
            if (pipeline_entry_id(batch, node) == id) {
                return plan_name(names, batch, node);
            }
        }
    }
    return names_unknown("an entry");
}

/* An escalation is called after the entry whose verify failed. */
static struct name entry_name(const struct names *names, int64_t id)
{
    if (cell(names, TABLE_ENTRY, id, ENTRY_KIND) != ENTRY_ESCALATION) {
        return planned_name(names, id);
    }
    int64_t set = cell(names, TABLE_VERIFY, cell(names, TABLE_ENTRY, id, ENTRY_ABOUT), VERIFY_SET);
    return names_prefixed("escalation of ", planned_name(names, cell(names, TABLE_CHANGE_SET, set,
                                                                     CHANGE_SET_ENTRY)));
}

static struct name subject_name(const struct names *names, const int64_t *message)
{
    return plan_name(names, message[1 + REQUEST_BATCH], message[1 + REQUEST_NODE]);
}

static bool is_original(const int64_t *message)
{
    for (int path = 0; path <= PIPELINE_ENTRIES_MAX; path++) {
        if (message[0] == identity_mint(message[1 + REQUEST_ROW], IDENTITY_ASKS + path)) {
            return true;
        }
    }
    return false;
}

/* "REVIEW 2 of left", "CUT of left", "MARK of twice (other payload)" */
static struct name message_name(const struct names *names, const int64_t *message)
{
    struct name name = {""};
    int64_t phase = message[1 + REQUEST_PHASE], number = message[1 + REQUEST_NUMBER];
    names_append(&name, "%s", phase_text(phase));
    if (number > 1) {
        names_append(&name, " %" PRId64, number);
    }
    names_append(&name, " of %s", subject_name(names, message).text);
    if (phase == PHASE_REVIEW &&
        message[1 + REQUEST_ROW] ==
            identity_mint(message[1 + REQUEST_ENTRY], IDENTITY_DECISION + 2 * number + 1)) {
        names_append(&name, " (rival)");
    }
    if (phase == PHASE_MARK &&
        message[0] == identity_mint(message[1 + REQUEST_ROW], IDENTITY_ASKS + 1)) {
        names_append(&name, " (other payload)");
    }
    if (!is_original(message)) {
        names_append(&name, " (copy)");
    }
    return name;
}

static struct name thing_name(const struct names *names, enum row_table table, int64_t key)
{
    (void)table;
    return entry_name(names, key);
}

static void row_name(const struct names *names, enum row_table table, uint32_t slot,
                     struct name *name)
{
    if (table == TABLE_CHANGE_SET &&
        row_get(names->rows, table, slot, CHANGE_SET_COMPENSATES) != 0) {
        *name = names_prefixed("compensating ", *name);
    }
}

/* ---- traces ---------------------------------------------------------------------------------- */

static bool is_phase(const struct bundle *bundle)
{
    return bundle->name == BUNDLE_MARK || bundle->name == BUNDLE_REVIEW ||
           bundle->name == BUNDLE_CUT || bundle->name == BUNDLE_VERIFY;
}

/* A phase is described by its request, everything around it by its own name, too. */
static void tell_sent(const struct trace_effect *effect)
{
    const struct run_event *event = effect->event;
    bool about = trace_is_about_message(event);
    struct name message = about ? message_name(&effect->names, event->message) : (struct name){""};
    bool alone = about && is_phase(event->bundle);
    trace_add(effect->list, "", "%s%s%s",
              alone ? "" : bundle_name_text((enum bundle_name)event->bundle->name),
              about && !alone ? " " : "", message.text);
}

static int rows_of(const struct trace_effect *effect, enum row_table table, int column, int64_t key)
{
    int count = 0;
    for (size_t i = 0; i < effect->event->change_count; i++) {
        const struct row_change *change = &effect->event->changes[i];
        count += change->table == table && change->kind == ROW_INSERTED &&
                 row_get(effect->event->rows, table, change->slot, column) == key;
    }
    return count;
}

static void tell_set(const struct trace_effect *effect, uint32_t slot)
{
    const struct rows *rows = effect->event->rows;
    int affected = rows_of(effect, TABLE_AFFECTED_ROW, AFFECTED_ROW_SET,
                           row_key(rows, TABLE_CHANGE_SET, slot));
    bool undoes = row_get(rows, TABLE_CHANGE_SET, slot, CHANGE_SET_COMPENSATES) != 0;
    trace_add(effect->list, "; ", "%schange set of %d row%s", undoes ? "compensating " : "",
              affected, affected == 1 ? "" : "s");
}

static void tell_signature(const struct trace_effect *effect, uint32_t slot)
{
    const struct rows *rows = effect->event->rows;
    trace_add(effect->list, "; ", "signed by %s in lane DOT-%" PRId64,
              teller_value(&effect->names, TABLE_SIGNATURE, SIGNATURE_PRINCIPAL,
                           row_get(rows, TABLE_SIGNATURE, slot, SIGNATURE_PRINCIPAL))
                  .text,
              row_get(rows, TABLE_SIGNATURE, slot, SIGNATURE_LANE));
}

/* A status that does not change shows in the history alone. */
static void tell_past(const struct trace_effect *effect, uint32_t slot)
{
    const struct rows *rows = effect->event->rows;
    int64_t from = row_get(rows, TABLE_PAST, slot, PAST_FROM);
    int64_t retries = row_get(rows, TABLE_PAST, slot, PAST_RETRIES);
    if (from == row_get(rows, TABLE_PAST, slot, PAST_TO)) {
        trace_add(effect->list, "; ", "stays %s", status_text(from));
    }
    if (retries > 0) {
        trace_add(effect->list, "; ", "after %" PRId64 " retr%s", retries,
                  retries == 1 ? "y" : "ies");
    }
}

/* An event is about one entry, so that its status needs no name; false: the generic teller's. */
static bool tell_update(const struct trace_effect *effect, const struct row_change *change)
{
    if (change->table == TABLE_ENTRY && change->column == ENTRY_STATUS) {
        trace_add(effect->list, "; ", "%s -> %s", status_text(change->before),
                  status_text(trace_now(effect, change)));
        return true;
    }
    if (change->table == TABLE_REVIEW && change->column == REVIEW_BY && change->before == 0) {
        trace_add(effect->list, "; ", "the decision before it superseded");
        return true;
    }
    return false;
}

static bool tell_change(const struct trace_effect *effect, const struct row_change *change)
{
    if (change->kind == ROW_UPDATED) {
        return tell_update(effect, change);
    }
    void (*tell)(const struct trace_effect *, uint32_t) =
        change->kind == ROW_DELETED         ? NULL
        : change->table == TABLE_PAST       ? tell_past
        : change->table == TABLE_SIGNATURE  ? tell_signature
        : change->table == TABLE_CHANGE_SET ? tell_set
                                            : NULL;
    if (tell != NULL) {
        tell(effect, change->slot);
    }
    return tell != NULL;
}

/* ---- stories --------------------------------------------------------------------------------- */

/* The whole history of the entry that the finding is about. */
static void tell_history(const struct story_telling *telling)
{
    const struct names *names = &telling->names;
    const struct rows *rows = names->rows;
    enum row_table table = (enum row_table)telling->result.breach_table;
    uint32_t at = telling->result.breach_slot;
    if (table == TABLE_COUNT || table == TABLE_MESSAGE || at == ROW_NONE) {
        return;
    }
    int64_t entry = names_owner(rows, &table, at);
    fprintf(telling->out, "\n%sthe history%s of %s, which is %s\n", telling->style->strong,
            telling->style->plain, entry_name(names, entry).text,
            status_text(cell(names, TABLE_ENTRY, entry, ENTRY_STATUS)));
    for (uint32_t slot = 0; slot < rows->table[TABLE_PAST].used; slot++) {
        if (row_get(rows, TABLE_PAST, slot, PAST_ENTRY) == entry) {
            fprintf(telling->out, "  %s -> %s\n",
                    status_text(row_get(rows, TABLE_PAST, slot, PAST_FROM)),
                    status_text(row_get(rows, TABLE_PAST, slot, PAST_TO)));
        }
    }
}

static uint64_t knows(const struct fingerprint *same, uint64_t hash, const struct actor *actor)
{
    const struct pipeline_worker *one = ACTOR_IS(actor, pipeline_worker);
    hash = fingerprint_mix(hash, (uint64_t)one->state << 24 | (uint64_t)one->tries << 16 |
                                     (uint64_t)one->refusal << 8 | one->why);
    hash = fingerprint_mix(hash, (uint64_t)one->stops << 16 | (uint64_t)one->trespassed << 8 |
                                     (uint64_t)one->trespass << 2 | (uint64_t)one->follows << 1 |
                                     one->flipped);
    return fingerprint_mix_message(same, fingerprint_mix(hash, (uint64_t)one->found), one->message);
}

const struct sim_part sim_part_pipeline = {.knows = knows,
                                           .applies = applies,
                                           .twist = twist,
                                           .missteps = missteps,
                                           .misstep = misstep,
                                           .can_see = can_see,
                                           .grounds = grounds,
                                           .only_grounds = only_grounds,
                                           .thing = thing_name,
                                           .row = row_name,
                                           .message = message_name,
                                           .subject = subject_name,
                                           .sent = tell_sent,
                                           .change = tell_change,
                                           .kind = phase_text,
                                           .ledgers = tell_history};
