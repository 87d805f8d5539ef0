/* The key protocol in the simulation: which cover points a scenario can hit, the hunting scenarios
 * of planted bugs. Its words for traces and stories are in flow_words.c. */
#include "model/flow.h"
#include "sim/flow_status.h"
#include "sim/flow_words.h"
#include "sim/part.h"

#include <string.h>

/* ---- what a scenario can show ---------------------------------------------------------------- */

/* The result of a flow in one case, whatever the schedule: which activities err and which are
 * skipped. */
struct fate {
    bool errors[KEY_ACTIVITIES_MAX], skipped[KEY_ACTIVITIES_MAX];
    bool in_error;
};

static bool follows(const struct flow_shape *shape, int from, int to)
{
    return (shape->graph.next[from] >> to & 1) != 0;
}

static bool leads_nowhere(const struct flow_shape *shape, const struct fate *fate, int from, int to,
                          int number)
{
    return fate->errors[from] || fate->skipped[from] ||
           (flow_untaken(shape, from, number) >> to & 1) != 0;
}

static bool is_cut_off(const struct flow_shape *shape, const struct fate *fate, int to, int number)
{
    bool followed = false;
    for (int from = 0; from < shape->graph.count; from++) {
        if (follows(shape, from, to)) {
            followed = true;
            if (!leads_nowhere(shape, fate, from, to, number)) {
                return false;
            }
        }
    }
    return followed;
}

/* Every pass settles the activities one step further down. */
static struct fate fate_of(const struct flow_book *book, int shape_number, int number)
{
    const struct flow_shape *shape = &book->shape[shape_number];
    struct fate fate = {.in_error = false};
    for (int pass = 0; pass < shape->graph.count; pass++) {
        for (int i = 0; i < shape->graph.count; i++) {
            const struct flow_activity *activity = &shape->at[i];
            bool fails =
                (activity->errors >> number & 1) != 0 ||
                (activity->awaits != 0 && fate_of(book, activity->awaits - 1, number).in_error);
            fate.skipped[i] = is_cut_off(shape, &fate, i, number);
            fate.errors[i] = fails && !fate.skipped[i];
        }
    }
    for (int i = 0; i < shape->graph.count; i++) {
        fate.in_error = fate.in_error || fate.errors[i];
    }
    return fate;
}

/* Whether an edge hits the cover point in this case: the skip of its child, or of its source. */
static bool edge_shows(const struct flow_shape *shape, const struct fate *fate, int from, int to,
                       enum oracle_cover sight)
{
    uint16_t parents = flow_parents(shape, to);
    bool only = (parents & (parents - 1)) == 0;
    switch ((int)sight) {
    case COVER_SKIP_CHAIN:
        return fate->skipped[from] && only;
    case COVER_SKIP_SPARES: /* it waits for all of its parents, so it is still pending */
        return fate->skipped[from] && !fate->skipped[to];
    case COVER_SKIP_JOIN:
        return fate->skipped[to] && !only;
    default: /* COVER_SKIP_ERROR */
        return fate->errors[from] && only;
    }
}

static bool shape_shows(const struct flow_shape *shape, const struct fate *fate,
                        enum oracle_cover sight)
{
    for (int from = 0; from < shape->graph.count; from++) {
        for (int to = 0; to < shape->graph.count; to++) {
            if (follows(shape, from, to) && edge_shows(shape, fate, from, to, sight)) {
                return true;
            }
        }
    }
    return false;
}

/* Whether a digit can make this move (KEY-3). */
static bool makes_move(const struct flow_activity *activity, bool errors, bool skipped, int number,
                       enum oracle_cover sight)
{
    bool ends = !errors && !skipped;
    bool holds = ends && (activity->holds >> number & 1) != 0;
    bool pauses = ends && !holds && (activity->pauses >> number & 1) != 0;
    switch ((int)sight) {
    case COVER_KEY_STARTED:
        return !skipped;
    case COVER_KEY_ERRORED:
        return errors;
    case COVER_KEY_COMPLETED:
        return ends && !holds;
    case COVER_KEY_PAUSED:
        return pauses;
    case COVER_KEY_HELD:
        return holds;
    case COVER_KEY_RELEASED:
        return holds || pauses;
    case COVER_KEY_SKIPPED:
        return skipped;
    default: /* COVER_KEY_LET_GO: any move may fail */
        return true;
    }
}

static bool shape_moves(const struct flow_shape *shape, const struct fate *fate, int number,
                        enum oracle_cover sight)
{
    for (int i = 0; i < shape->graph.count; i++) {
        if (makes_move(&shape->at[i], fate->errors[i], fate->skipped[i], number, sight)) {
            return true;
        }
    }
    return false;
}

static bool can_see(const struct scenario *scenario, enum oracle_cover sight)
{
    const struct flow_book *book = &scenario->flows;
    bool moves = sight >= COVER_KEY_STARTED && sight <= COVER_KEY_SKIPPED;
    for (int shape = 0; shape < book->shapes; shape++) {
        for (int number = 0; number < book->cases && number < (int)scenario->jobs; number++) {
            struct fate fate = fate_of(book, shape, number);
            if (moves ? shape_moves(&book->shape[shape], &fate, number, sight)
                      : shape_shows(&book->shape[shape], &fate, sight)) {
                return true;
            }
        }
    }
    return false;
}

/* ---- hunting --------------------------------------------------------------------------------- */

static const char *const grounds[] = {"key-branches", "key-pause",    "key-error",
                                      "key-await",    "key-stubborn", NULL};

static const char *const *only_grounds(enum bundle_name bundle, enum primitive_id primitive)
{
    static const char *const pauses[] = {"key-pause", NULL};
    (void)primitive;
    return bundle == BUNDLE_PAUSE_KEY ? pauses : NULL;
}

static uint64_t knows(const struct fingerprint *same, uint64_t hash, const struct actor *actor)
{
    const struct flow_worker *one = ACTOR_IS(actor, flow_worker);
    hash = fingerprint_mix(hash, (uint64_t)(one->step << 16 | one->tries << 8 | one->change));
    return fingerprint_mix_message(same, fingerprint_mix_words(hash, one->flow, FLOW_COLUMNS),
                                   one->message);
}

/* Of jobs whose activities have awaited a flow. */
static bool next_status(const struct rows *rows, uint32_t *slot, struct part_status *status)
{
    for (; *slot < rows->table[TABLE_FLOW].used; (*slot)++) {
        status->job = row_key(rows, TABLE_FLOW, *slot);
        if (row_get(rows, TABLE_FLOW, *slot, FLOW_PARENT) == 0 &&
            flow_status(rows, status->job, status->text) > 1) {
            (*slot)++;
            return true;
        }
    }
    return false;
}

const struct sim_part sim_part_flow = {
    .knows = knows,
    .can_see = can_see,
    .grounds = grounds,
    .only_grounds = only_grounds,
    .thing = flow_thing_name,
    .row = flow_row_name,
    .message = flow_message_name,
    .subject = flow_subject_name,
    .sent = flow_tell_sent,
    .change = flow_tell_change,
    .status = flow_status_changed,
    .next_status = next_status,
    .skip_reason = flow_skip_reason,
    .kind = flow_kind_text,
    .ledgers = flow_tell_ledgers,
};
