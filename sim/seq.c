/* The durable seq ledger in the simulation: attempts of illegal moves, the hunting scenarios of its
 * planted bugs, and its words. */
#include "model/seq.h"
#include "sim/part.h"

#include <inttypes.h>
#include <string.h>

/* ---- illegal moves --------------------------------------------------------------------------- */

/* The slot of a seq in this state, or ROW_NONE; not of a failure that waits for its retry. */
static uint32_t seq_in(const struct rows *rows, int64_t state)
{
    for (uint32_t slot = 0; slot < rows->table[TABLE_SEQ].used; slot++) {
        if (row_get(rows, TABLE_SEQ, slot, SEQ_STATE) == state &&
            row_get(rows, TABLE_SEQ, slot, SEQ_RETRY) == 0) {
            return slot;
        }
    }
    return ROW_NONE;
}

/* The moves that some seq is in the wrong state for. */
static uint32_t pairs_of(const struct rows *rows, bool drawn, uint8_t pairs[SEQ_MISSTEPS_MAX][2])
{
    bool there[SEQ_STATES];
    for (int state = 0; state < SEQ_STATES; state++) {
        there[state] = seq_in(rows, state) != ROW_NONE;
    }
    return seq_missteps(there, drawn, pairs);
}

/* One attempt at a time. */
static uint32_t missteps(const struct run *run, unsigned actor, bool drawn)
{
    uint8_t pairs[SEQ_MISSTEPS_MAX][2];
    bool already = ACTOR_IS(&run->actors[actor].performer.actor, seq_actor)->misstep.there;
    return already ? 0 : pairs_of(&run->world.rows, drawn, pairs);
}

/* The actor attempts the move after its current transaction; if the seq has moved on by then, the
 * attempt is overtaken. */
static void misstep(struct run *run, unsigned actor, uint32_t which, bool drawn)
{
    uint8_t pairs[SEQ_MISSTEPS_MAX][2];
    const struct rows *rows = &run->world.rows;
    uint32_t count = pairs_of(rows, drawn, pairs);
    CHECK(which < count);
    int64_t number = row_get(rows, TABLE_SEQ, seq_in(rows, pairs[which][0]), SEQ_NUMBER);
    seq_err(&run->actors[actor].performer.actor, (uint32_t)number, (enum seq_state)pairs[which][0],
            (enum seq_state)pairs[which][1]);
    run->amount = number;
}

static bool can_see(const struct scenario *scenario, enum oracle_cover sight)
{
    bool illegal = (sight >= COVER_SEQ_ILLEGAL_00 && sight < COVER_SEQ_COMMIT_AGAIN) ||
                   sight == COVER_SEQ_COMMIT_EARLY || sight == COVER_SEQ_FINAL;
    return !illegal || scenario->faults.rate[FAULT_ILLEGAL_MOVE].times > 0;
}

/* ---- hunting --------------------------------------------------------------------------------- */

static const char *const grounds[] = {"seq",       "seq-illegal", "seq-leases",
                                      "seq-grace", "seq-late",    NULL};

/* Bundles that few scenarios send often, or whose guard matters in few: when another bundle of the
 * same actor comes late. In a drill a refusal may be intended, so that a cancel is also tried
 * without a drill. */
static const char *const *only_grounds(enum bundle_name bundle, enum primitive_id primitive)
{
    static const char *const attempts[] = {"seq-illegal", "seq-grace", NULL};
    static const char *const cancels[] = {"seq-grace", "seq-cancel", NULL};
    static const char *const late_cancels[] = {"seq-grace", NULL};
    static const char *const late_dispatches[] = {"seq-drill", "seq-late", NULL};
    static const char *const looks[] = {"seq",       "seq-leases", "seq-late",
                                        "seq-alone", "seq-grace",  NULL};
    static const char *const early_cancels[] = {"seq-leases", NULL};
    static const char *const reclaims[] = {"seq-leases", "seq-grace", NULL};
    static const char *const reads[] = {"seq", "seq-leases", "seq-late", "seq-names", NULL};
    static const char *const reports[] = {"seq", "seq-illegal", "seq-successors", NULL};
    static const char *const late_reports[] = {"seq", "seq-successors", NULL};
    switch ((int)bundle) {
    case BUNDLE_SEQ_ATTEMPT:
        return attempts;
    case BUNDLE_SEQ_DISPATCH:
        return primitive == PRIMITIVE_SEQ_EXPECT ? late_dispatches : NULL;
    case BUNDLE_SEQ_LOOK:
        return looks;
    case BUNDLE_SEQ_CANCEL:
        return primitive == PRIMITIVE_SEQ_DISPATCHED || primitive == PRIMITIVE_SEQ_TERMINAL
                   ? early_cancels
                   : NULL;
    case BUNDLE_SEQ_ASK:
        return cancels;
    case BUNDLE_SEQ_FORCE:
        return primitive == PRIMITIVE_SEQ_IN_FLIGHT ? late_cancels : cancels;
    case BUNDLE_SEQ_RECLAIM:
        return reclaims;
    case BUNDLE_SEQ_FINISH:
        return primitive == PRIMITIVE_SEQ_HOLD ? late_reports : reports;
    case BUNDLE_SEQ_COMMIT:
        return reports;
    case BUNDLE_SEQ_READ:
        return reads;
    default:
        return NULL;
    }
}

/* ---- words ----------------------------------------------------------------------------------- */

static const char *state_text(int64_t state)
{
    return state >= 0 && state < SEQ_STATES ? seq_rules_state_name((enum seq_state)state)
                                            : "no state";
}

static struct name seq_name(const struct names *names, uint32_t slot)
{
    struct name name = {""};
    if (slot == ROW_NONE) {
        return names_unknown("a seq");
    }
    names_append(&name, "seq %" PRId64, row_get(names->rows, TABLE_SEQ, slot, SEQ_NUMBER));
    return name;
}

static struct name thing_name(const struct names *names, enum row_table table, int64_t key)
{
    return seq_name(names, row_find(names->rows, table, key));
}

/* Stripes are made in the order of the actors. */
static void row_name(const struct names *names, enum row_table table, uint32_t slot,
                     struct name *name)
{
    if (table == TABLE_SEQ_TALLY) {
        *name = names_prefixed("counters of ", names_actor(names->scenario, slot));
    } else if (table == TABLE_STAGE) {
        *name = (struct name){"Stage1"};
    }
}

/* The seq that a bundle is about: the first row of that table among the parameters of its calls. */
static uint32_t about(const struct names *names, const struct bundle *bundle)
{
    for (uint8_t i = 0; i < bundle->count; i++) {
        uint32_t slot = row_find(names->rows, TABLE_SEQ, bundle->params[bundle->calls[i].params]);
        if (slot != ROW_NONE) {
            return slot;
        }
    }
    return ROW_NONE;
}

/* The parameter of the first call of the primitive; -1: there is none. */
static int64_t parameter(const struct bundle *bundle, enum primitive_id primitive, int index)
{
    for (uint8_t i = 0; i < bundle->count; i++) {
        if (bundle->calls[i].primitive == primitive) {
            return bundle->params[bundle->calls[i].params + index];
        }
    }
    return -1;
}

static void tell_sent(const struct trace_effect *effect)
{
    const struct bundle *bundle = effect->event->bundle;
    const char *text = bundle_name_text((enum bundle_name)bundle->name);
    uint32_t slot = about(&effect->names, bundle);
    if (bundle->name == BUNDLE_SEQ_LOOK || slot == ROW_NONE) {
        trace_add(effect->list, "", "%s", text);
    } else {
        trace_add(effect->list, "", "%s %s", text, seq_name(&effect->names, slot).text);
    }
    if (bundle->name == BUNDLE_SEQ_ATTEMPT) {
        trace_add(effect->list, "", ": %s -> %s",
                  state_text(parameter(bundle, PRIMITIVE_SEQ_EXPECT, 1)),
                  state_text(parameter(bundle, PRIMITIVE_SEQ_CONTRACT, 2)));
    } else if (bundle->name == BUNDLE_SEQ_FINISH) {
        trace_add(effect->list, "", " as %s",
                  state_text(parameter(bundle, PRIMITIVE_SEQ_CONTRACT, 2)));
    }
}

static void tell_seq(const struct trace_effect *effect, const struct row_change *change)
{
    struct name name = seq_name(&effect->names, change->slot);
    int64_t now = trace_now(effect, change);
    switch (change->column) {
    case SEQ_STATE:
        trace_add(effect->list, "; ", "%s %s -> %s", name.text, state_text(change->before),
                  state_text(now));
        break;
    case SEQ_ATTEMPTS:
        trace_add(effect->list, ", ", "retry %" PRId64, now);
        break;
    case SEQ_OWNER:
        trace_add(effect->list, ", ", now == 0 ? "lease given back" : "lease taken");
        break;
    case SEQ_HEARTBEAT:
        trace_add(effect->list, ", ", "heartbeat t=%" PRId64, now);
        break;
    case SEQ_CANCEL_AT:
        if (now != 0) {
            trace_add(effect->list, ", ", "asked to end at t=%" PRId64, now);
        }
        break;
    case SEQ_RETRY:
        if (now != 0) {
            trace_add(effect->list, ", ", "to be retried");
        }
        break;
    default: /* tokens, classes and counts: noise beside these */
        break;
    }
}

/* The five facts of the latch (SEQ-4). */
static void facts(const struct rows *rows, uint32_t slot, char *out, size_t size)
{
    snprintf(out, size,
             "seq %" PRId64 ", %s -> %s attempted, owner %" PRId64 ", wall clock %" PRId64,
             row_get(rows, TABLE_STAGE, slot, STAGE_SEQ) - 1,
             state_text(row_get(rows, TABLE_STAGE, slot, STAGE_PRIOR)),
             state_text(row_get(rows, TABLE_STAGE, slot, STAGE_ATTEMPTED)),
             row_get(rows, TABLE_STAGE, slot, STAGE_OWNER),
             row_get(rows, TABLE_STAGE, slot, STAGE_WALL));
}

static void tell_stage(const struct trace_effect *effect, const struct row_change *change)
{
    char text[TRACE_HALT_SIZE];
    if (change->column == STAGE_SEQ) {
        facts(effect->names.rows, change->slot, text, sizeof text);
        trace_add(effect->list, "; ", "Stage1 halts: %s", text);
    }
}

/* Stage1 has failed: an expected end where illegal moves are attempted (E-SEQ-15). */
static bool halted(const struct rows *rows, char *out, size_t size)
{
    if (rows->table[TABLE_STAGE].used == 0 || row_get(rows, TABLE_STAGE, 0, STAGE_SEQ) == 0) {
        return false;
    }
    int length = snprintf(out, size, "Stage1 HALTED: ");
    facts(rows, 0, out + length, size - (size_t)length);
    return true;
}

static void tell_tally(const struct trace_effect *effect, const struct row_change *change)
{
    if (change->column == SEQ_TALLY_STALE) {
        trace_add(effect->list, "; ", "overtaken: refused and counted");
    } else if (change->column == SEQ_TALLY_LATE) {
        trace_add(effect->list, "; ", "its token no longer stands: refused and counted");
    } else if (change->column == SEQ_TALLY_REPEATED) {
        trace_add(effect->list, "; ", "committed before: a no-op");
    }
}

static bool tell_change(const struct trace_effect *effect, const struct row_change *change)
{
    if (change->kind != ROW_UPDATED || change->table == TABLE_SEQ_EVENT) {
        return false;
    }
    if (change->table == TABLE_SEQ) {
        tell_seq(effect, change);
    } else if (change->table == TABLE_STAGE) {
        tell_stage(effect, change);
    } else {
        tell_tally(effect, change);
    }
    return true;
}

static const char *skip_reason(enum bundle_name bundle)
{
    return bundle == BUNDLE_SEQ_ATTEMPT                                 ? "not allowed here"
           : bundle == BUNDLE_SEQ_RECLAIM || bundle == BUNDLE_SEQ_FORCE ? "not due any more"
           : bundle == BUNDLE_SEQ_ADMIT                                 ? "done before"
                                                                        : "overtaken";
}

static uint64_t knows(const struct fingerprint *same, uint64_t hash, const struct actor *actor)
{
    const struct seq_actor *one = ACTOR_IS(actor, seq_actor);
    const struct seq_misstep *misstep = &one->misstep;
    int64_t since = one->asked == 0 ? INT64_MIN : one->asked - same->run->world.now;
    const int64_t words[] = {
        one->number,   one->sends,  one->sent,       one->beats, one->incarnation,
        one->at,       one->target, one->attempt,    since,      misstep->there,
        misstep->from, misstep->to, misstep->number, one->worked};
    return fingerprint_mix_words(hash, words, COUNT(words));
}

const struct sim_part sim_part_seq = {
    .knows = knows,
    .missteps = missteps,
    .misstep = misstep,
    .can_see = can_see,
    .grounds = grounds,
    .only_grounds = only_grounds,
    .thing = thing_name,
    .row = row_name,
    .sent = tell_sent,
    .change = tell_change,
    .skip_reason = skip_reason,
    .halted = halted,
};
