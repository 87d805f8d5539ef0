#include "model/pipeline.h"

#include "model/identity.h"
#include "model/pipeline_trespass.h"
#include "model/protocol.h"

#include <string.h>

/* ---- the status graph ------------------------------------------------------------------------ */

static const struct {
    uint8_t phase, from, to;
} moves[] = {
    {PHASE_MARK, STATUS_NONE, STATUS_MARKED},
    {PHASE_REVIEW, STATUS_MARKED, STATUS_APPROVED},
    {PHASE_REVIEW, STATUS_MARKED, STATUS_REJECTED},
    {PHASE_REVIEW, STATUS_APPROVED, STATUS_APPROVED}, /* written all the same (E-CUT-11) */
    {PHASE_REVIEW, STATUS_APPROVED, STATUS_REJECTED},
    {PHASE_REVIEW, STATUS_REJECTED, STATUS_APPROVED},
    {PHASE_REVIEW, STATUS_REJECTED, STATUS_REJECTED},
    {PHASE_CUT, STATUS_APPROVED, STATUS_CUT},
    {PHASE_VERIFY, STATUS_CUT, STATUS_COMPLETE},
    {PHASE_VERIFY, STATUS_CUT, STATUS_ESCALATED},
    {PHASE_VERIFY, STATUS_COMPLETE, STATUS_COMPLETE}, /* re-verify (E-CUT-12) */
    {PHASE_VERIFY, STATUS_COMPLETE, STATUS_ESCALATED},
};

bool pipeline_moves(enum pipeline_phase phase, int64_t from, int64_t to)
{
    for (size_t i = 0; i < COUNT(moves); i++) {
        if (moves[i].phase == phase && moves[i].from == from && moves[i].to == to) {
            return true;
        }
    }
    return false;
}

static int64_t status_of_decision(int64_t decision)
{
    return decision == DECISION_APPROVE ? STATUS_APPROVED : STATUS_REJECTED;
}

int pipeline_parts(int64_t node)
{
    return 1 + (int)(node % PIPELINE_PARTS_MAX);
}

/* ---- identities ------------------------------------------------------------------------------ */

static int64_t key_of(int64_t batch, int64_t node)
{
    return identity_mint(0, IDENTITY_INTAKE + batch * (PIPELINE_ENTRIES_MAX + 1) + node);
}

int64_t pipeline_entry_id(int64_t batch, int64_t node)
{
    return identity_mint(key_of(batch, node), IDENTITY_ENTRY);
}

/* The rival of a re-review is another decision. */
static int64_t decision_of(int64_t entry, int64_t number, bool rival)
{
    return identity_mint(entry, IDENTITY_DECISION + 2 * number + rival);
}

static int64_t set_of(int64_t decision)
{
    return identity_mint(decision, IDENTITY_CHANGE_SET);
}

/* Unique over (change set, prior verify result), none counting as a value (E-CUT-3). */
static int64_t verify_of(int64_t set, int64_t prior)
{
    return identity_mint(identity_mint(set, IDENTITY_VERIFY), prior);
}

static int64_t signature_of(int64_t signed_row)
{
    return identity_mint(signed_row, IDENTITY_SIGNATURE);
}

static int64_t past_of(int64_t cause)
{
    return identity_mint(cause, IDENTITY_PAST);
}

/* ---- requests -------------------------------------------------------------------------------- */

static int64_t column(const struct pipeline_worker *worker, int which)
{
    return worker->message[1 + which];
}

static const struct pipeline_entry *plan_of(const struct rules *rules, int64_t node)
{
    return &RULES_OF(rules, pipeline_rules)->entries[node];
}

/* Asks for a phase of an entry; `path` keeps several requests for the same phase apart. Returns the
 * message for the caller to fill in. */
static int64_t *ask(struct bundle *bundle, enum pipeline_phase phase, int64_t batch, int64_t node,
                    int64_t row, int64_t path)
{
    int64_t *p =
        bundle_publish(bundle, CALL_PLAIN, identity_mint(row, IDENTITY_ASKS + path), phase);
    p[1 + REQUEST_BATCH] = batch;
    p[1 + REQUEST_NODE] = node;
    p[1 + REQUEST_ENTRY] = pipeline_entry_id(batch, node);
    p[1 + REQUEST_ROW] = row;
    return p;
}

/* `version` 1 is a second request under the same key, with another payload. */
static void ask_mark(struct bundle *bundle, int64_t batch, int64_t node, int version)
{
    int64_t *p = ask(bundle, PHASE_MARK, batch, node, pipeline_entry_id(batch, node), version);
    p[1 + REQUEST_SOURCE] = identity_mint(key_of(batch, node), IDENTITY_PAYLOAD + version);
}

static void ask_review(struct bundle *bundle, const struct rules *rules, int64_t batch,
                       int64_t node, int64_t number, int64_t prior, int64_t expected, bool rival)
{
    const struct pipeline_entry *plan = plan_of(rules, node);
    int64_t decision = plan->decisions[number - 1];
    int64_t *p = ask(bundle, PHASE_REVIEW, batch, node,
                     decision_of(pipeline_entry_id(batch, node), number, rival), 0);
    p[1 + REQUEST_PRIOR] = prior;
    p[1 + REQUEST_NUMBER] = number;
    p[1 + REQUEST_RESULT] = rival ? DECISION_APPROVE + DECISION_REJECT - decision : decision;
    p[1 + REQUEST_STATUS] = expected;
}

/* The review after `number`, if there is one, and its rival. */
static void ask_next_review(struct bundle *bundle, const struct rules *rules, int64_t batch,
                            int64_t node, int64_t number, int64_t prior, int64_t expected)
{
    const struct pipeline_entry *plan = plan_of(rules, node);
    if (number >= plan->reviews) {
        return;
    }
    ask_review(bundle, rules, batch, node, number + 1, prior, expected, false);
    if (number > 0 && plan->flaw == FLAW_RIVAL_REVIEWER) {
        ask_review(bundle, rules, batch, node, number + 1, prior, expected, true);
    }
}

/* Of this decision, whether it is there or not: the guards decide. */
static void ask_cut(struct bundle *bundle, int64_t batch, int64_t node, int64_t decision,
                    int64_t path)
{
    int64_t *p = ask(bundle, PHASE_CUT, batch, node, set_of(decision), path);
    p[1 + REQUEST_SOURCE] = decision;
    p[1 + REQUEST_STATUS] = STATUS_APPROVED;
}

static void ask_verify(struct bundle *bundle, const struct rules *rules, int64_t batch,
                       int64_t node, int64_t number, int64_t set, int64_t prior)
{
    const struct pipeline_entry *plan = plan_of(rules, node);
    if (number > plan->verifies) {
        return;
    }
    int64_t *p = ask(bundle, PHASE_VERIFY, batch, node, verify_of(set, prior), 0);
    p[1 + REQUEST_SOURCE] = set;
    p[1 + REQUEST_PRIOR] = prior;
    p[1 + REQUEST_NUMBER] = number;
    p[1 + REQUEST_RESULT] = plan->outcomes[number - 1];
    p[1 + REQUEST_STATUS] = number == 1 ? STATUS_CUT : STATUS_COMPLETE;
}

/* An entry is complete: what waits for it may go on. Which of its decisions stands is for the
 * guards to say, so each that would approve is tried. */
static void ask_dependants(struct bundle *bundle, const struct rules *rules, int64_t batch,
                           int64_t blocker)
{
    for (uint32_t node = 0; node < RULES_OF(rules, pipeline_rules)->entry_count; node++) {
        const struct pipeline_entry *plan = plan_of(rules, node);
        for (int b = 0; b < plan->blocker_count; b++) {
            for (int64_t n = 1; plan->blockers[b] == blocker && n <= plan->reviews; n++) {
                bool approves = plan->decisions[n - 1] == DECISION_APPROVE;
                bool rivals = n > 1 && plan->flaw == FLAW_RIVAL_REVIEWER;
                if (approves || rivals) {
                    ask_cut(bundle, batch, node,
                            decision_of(pipeline_entry_id(batch, node), n, !approves), 1 + blocker);
                }
            }
        }
    }
}

static bool passes(const struct pipeline_worker *worker)
{
    return (column(worker, REQUEST_RESULT) == VERIFIED_PASS) != worker->flipped;
}

/* Where the phase that is asked for leads. */
static int64_t leads_to(const struct pipeline_worker *worker)
{
    switch (column(worker, REQUEST_PHASE)) {
    case PHASE_MARK:
        return STATUS_MARKED;
    case PHASE_REVIEW:
        return status_of_decision(column(worker, REQUEST_RESULT));
    case PHASE_CUT:
        return STATUS_CUT;
    default:
        return passes(worker) ? STATUS_COMPLETE : STATUS_ESCALATED;
    }
}

/* Nobody asks for anything else (PI2); a queue may hand it out all the same. */
static bool is_sound(const struct pipeline_worker *worker, const struct rules *rules)
{
    int64_t node = column(worker, REQUEST_NODE);
    return node >= 0 && node < RULES_OF(rules, pipeline_rules)->entry_count &&
           pipeline_moves((enum pipeline_phase)column(worker, REQUEST_PHASE),
                          column(worker, REQUEST_STATUS), leads_to(worker));
}

/* ---- phases ---------------------------------------------------------------------------------- */

static void lock(struct bundle *next, int64_t entry)
{
    BUNDLE_CALL(next, PRIMITIVE_LOCK_ENTRY, CALL_PLAIN, 0, entry);
}

/* The status, and the row of its history (CUT-25). */
static void move(const struct pipeline_worker *worker, struct bundle *next)
{
    int64_t entry = column(worker, REQUEST_ENTRY), from = column(worker, REQUEST_STATUS);
    int64_t to = leads_to(worker);
    BUNDLE_CALL(next, PRIMITIVE_MOVE, CALL_REQUIRE, 0, entry, from, to);
    BUNDLE_CALL(next, PRIMITIVE_ADD_PAST, CALL_REQUIRE, 0, past_of(column(worker, REQUEST_ROW)),
                entry, from, to, worker->tries);
}

static void mark(const struct pipeline_worker *worker, const struct rules *rules,
                 struct bundle *next)
{
    int64_t batch = column(worker, REQUEST_BATCH), node = column(worker, REQUEST_NODE);
    int64_t entry = column(worker, REQUEST_ENTRY);
    const struct pipeline_entry *plan = plan_of(rules, node);
    bundle_begin(next, BUNDLE_MARK);
    BUNDLE_CALL(next, PRIMITIVE_NEED_NEW, CALL_UNLESS_DONE, 0, entry); /* reads before it writes */
    BUNDLE_CALL_OF(next, plan->flaw == FLAW_NO_PAYLOAD ? PRIMITIVE_ADD_NULL : PRIMITIVE_ADD_ENTRY,
                   CALL_REQUIRE, 0, entry, ENTRY_WORK, STATUS_MARKED, key_of(batch, node),
                   column(worker, REQUEST_SOURCE), batch);
    BUNDLE_CALL(next, PRIMITIVE_ADD_PAST, CALL_REQUIRE, 0, past_of(entry), entry, STATUS_NONE,
                STATUS_MARKED, worker->tries);
    int nowhere = plan->flaw == FLAW_NO_BLOCKER;
    for (int b = 0; b < plan->blocker_count + nowhere; b++) {
        BUNDLE_CALL(next, PRIMITIVE_DEPEND, CALL_REQUIRE, 0,
                    identity_mint(entry, IDENTITY_DEPENDENCY + b), entry,
                    pipeline_entry_id(batch, b < plan->blocker_count ? plan->blockers[b]
                                                                     : PIPELINE_ENTRIES_MAX));
    }
    BUNDLE_CALL(next, PRIMITIVE_LOG_SWEEP, CALL_REQUIRE, 0, identity_mint(entry, IDENTITY_SWEEP),
                entry, PHASE_MARK, SWEEP_MARKED, 0);
}

static void review(const struct pipeline_worker *worker, struct bundle *next)
{
    int64_t entry = column(worker, REQUEST_ENTRY), decision = column(worker, REQUEST_ROW);
    int64_t prior = column(worker, REQUEST_PRIOR);
    int64_t envelope = identity_mint(decision, IDENTITY_ENVELOPE);
    bundle_begin(next, BUNDLE_REVIEW);
    lock(next, entry);
    BUNDLE_CALL(next, PRIMITIVE_ADD_ENVELOPE, CALL_REQUIRE, 0, envelope, entry,
                identity_mint(envelope, entry));
    for (int u = 0; u < pipeline_parts(column(worker, REQUEST_NODE)); u++) {
        int64_t unit = identity_mint(envelope, IDENTITY_UNIT + u);
        BUNDLE_CALL(next, PRIMITIVE_ADD_UNIT, CALL_REQUIRE, 0, unit, envelope, u + 1,
                    identity_mint(unit, entry));
    }
    BUNDLE_CALL(next, PRIMITIVE_ADD_REVIEW, CALL_REQUIRE, 0, decision, entry, envelope,
                identity_mint(envelope, IDENTITY_UNIT), column(worker, REQUEST_RESULT), prior);
    if (prior != 0) {
        BUNDLE_CALL(next, PRIMITIVE_SUPERSEDE, CALL_REQUIRE, 0, prior, decision);
    }
    move(worker, next);
}

static void affect(const struct pipeline_worker *worker, struct bundle *next, int64_t set)
{
    for (int r = 0; r < pipeline_parts(column(worker, REQUEST_NODE)); r++) {
        int64_t row = identity_mint(set, IDENTITY_AFFECTED + r);
        BUNDLE_CALL(next, PRIMITIVE_AFFECT, CALL_REQUIRE, 0, row, set, r + 1,
                    identity_mint(row, set));
    }
}

/* A signature: its id, entry, lane and principal, and the one before it of its entry and lane. Where
 * lanes are one chain each, that is whichever is the last (E-CUT-19). */
static void sign(const struct rules *rules, struct bundle *next, const int64_t row[5])
{
    bool one = RULES_OF(rules, pipeline_rules)->one_chain;
    BUNDLE_CALL_OF(next, one ? PRIMITIVE_SIGN_LAST : PRIMITIVE_SIGN, CALL_REQUIRE, 0, row[0],
                   row[1], row[2], row[3], one ? PIPELINE_ANY_ID : row[4]);
}

static void cut(const struct pipeline_worker *worker, const struct rules *rules,
                struct bundle *next)
{
    int64_t entry = column(worker, REQUEST_ENTRY), set = column(worker, REQUEST_ROW);
    int64_t decision = column(worker, REQUEST_SOURCE);
    bundle_begin(next, BUNDLE_CUT);
    next->isolation = SERIALIZABLE; /* CUT-17 */
    lock(next, entry);
    BUNDLE_CALL(next, PRIMITIVE_NEED_APPROVAL, CALL_REQUIRE, 0, entry, DECISION_APPROVE, decision);
    BUNDLE_CALL(next, PRIMITIVE_NEED_BLOCKERS, CALL_REQUIRE, 0, entry, STATUS_COMPLETE);
    BUNDLE_CALL(next, PRIMITIVE_NEED_UNCUT, CALL_REQUIRE, 0, entry, decision, PIPELINE_ANY_ID);
    int64_t before = 0; /* an entry is cut once: there is no signature before it */
    sign(rules, next, (int64_t[]){signature_of(set), entry, LANE_EXECUTOR, PRINCIPAL_EXEC, before});
    BUNDLE_CALL(next, PRIMITIVE_ADD_SET, CALL_REQUIRE, 0, set, entry, decision, signature_of(set));
    affect(worker, next, set);
    move(worker, next);
}

/* The mismatch is no error: the set is undone by another, and people are told (CUT-20, CUT-21). */
static int64_t compensate(const struct pipeline_worker *worker, struct bundle *next)
{
    int64_t result = column(worker, REQUEST_ROW);
    int64_t undone = identity_mint(result, IDENTITY_COMPENSATION);
    BUNDLE_CALL(next, PRIMITIVE_COMPENSATE, CALL_REQUIRE, 0, undone, column(worker, REQUEST_ENTRY),
                signature_of(result), column(worker, REQUEST_SOURCE));
    affect(worker, next, undone);
    return undone;
}

static void raise(const struct pipeline_worker *worker, struct bundle *next)
{
    int64_t key = identity_mint(column(worker, REQUEST_ROW), IDENTITY_RAISED);
    int64_t raised = identity_mint(key, IDENTITY_ENTRY);
    BUNDLE_CALL(next, PRIMITIVE_RAISE, CALL_REQUIRE, 0, raised, ENTRY_ESCALATION, STATUS_MARKED,
                key, identity_mint(key, IDENTITY_PAYLOAD), column(worker, REQUEST_ROW),
                past_of(raised));
}

/* In the order that needs no column written twice (E-CUT-8). */
static void verify(const struct pipeline_worker *worker, const struct rules *rules,
                   struct bundle *next)
{
    int64_t entry = column(worker, REQUEST_ENTRY), set = column(worker, REQUEST_SOURCE);
    int64_t result = column(worker, REQUEST_ROW), prior = column(worker, REQUEST_PRIOR);
    bool passed = passes(worker);
    bundle_begin(next, BUNDLE_VERIFY);
    next->isolation = SERIALIZABLE; /* CUT-17 */
    lock(next, entry);
    BUNDLE_CALL(next, PRIMITIVE_NEED_CUT, CALL_REQUIRE, 0, set, LANE_EXECUTOR,
                PRINCIPAL_EXEC); /* and so not the verifier's (CUT-11) */
    sign(rules, next,
         (int64_t[]){signature_of(result), entry, LANE_VERIFIER, PRINCIPAL_VERIFY,
                     prior == 0 ? 0 : signature_of(prior)});
    int64_t undone = passed ? 0 : compensate(worker, next);
    BUNDLE_CALL(next, PRIMITIVE_ADD_VERIFY, CALL_REQUIRE, 0, result, set, signature_of(set),
                signature_of(result), passed ? VERIFIED_PASS : VERIFIED_FAIL, prior, undone);
    if (!passed) {
        raise(worker, next);
    }
    move(worker, next);
}

static void next_phase(const struct pipeline_worker *worker, const struct rules *rules,
                       struct bundle *next)
{
    switch (column(worker, REQUEST_PHASE)) {
    case PHASE_MARK:
        mark(worker, rules, next);
        break;
    case PHASE_REVIEW:
        review(worker, next);
        break;
    case PHASE_CUT:
        cut(worker, rules, next);
        break;
    default: /* the change set was examined, which leaves no row by itself */
        verify(worker, rules, next);
        bundle_rests_on(next, column(worker, REQUEST_ROW), worker->message[0],
                        column(worker, MESSAGE_EPOCH));
    }
}

/* ---- around the phases ----------------------------------------------------------------------- */

/* As whom a phase is sent (CUT-11). */
static uint8_t principal_of(const struct pipeline_worker *worker)
{
    return column(worker, REQUEST_PHASE) == PHASE_VERIFY ? PRINCIPAL_VERIFY : PRINCIPAL_EXEC;
}

/* Is the phase's own row there, and where does the entry stand (E-CUT-13: in a new transaction)? */
static void read_back(const struct pipeline_worker *worker, struct bundle *next)
{
    static const enum primitive_id own[] = {[PHASE_MARK] = PRIMITIVE_READ_ENTRY,
                                            [PHASE_REVIEW] = PRIMITIVE_READ_REVIEW,
                                            [PHASE_CUT] = PRIMITIVE_READ_SET,
                                            [PHASE_VERIFY] = PRIMITIVE_READ_VERIFY};
    bundle_begin(next, BUNDLE_READ);
    next->isolation = SERIALIZABLE; /* entry and row as of one moment: a phase may come between */
    BUNDLE_CALL(next, PRIMITIVE_READ_ENTRY, CALL_PLAIN, 0, column(worker, REQUEST_ENTRY));
    BUNDLE_CALL_OF(next, own[column(worker, REQUEST_PHASE)], CALL_PLAIN, 2,
                   column(worker, REQUEST_ROW));
}

/* A row of the sweep log about the request; `number` tells the stops of one request apart. */
static void log_sweep(const struct pipeline_worker *worker, struct bundle *next,
                      enum call_mode mode, enum sweep_reason why, int64_t number)
{
    int64_t note = identity_mint(worker->message[0], IDENTITY_NOTE + why);
    BUNDLE_CALL(next, PRIMITIVE_LOG_SWEEP, mode, 0, identity_mint(note, number),
                column(worker, REQUEST_ENTRY), column(worker, REQUEST_PHASE), why,
                worker->message[0]);
}

/* The next MARK of the batch is asked for in every case. */
static void follow_mark(const struct pipeline_worker *worker, const struct rules *rules,
                        struct bundle *next)
{
    int64_t batch = column(worker, REQUEST_BATCH), node = column(worker, REQUEST_NODE);
    if (worker->follows) {
        ask_next_review(next, rules, batch, node, 0, 0, STATUS_MARKED);
        if (plan_of(rules, node)->flaw == FLAW_OTHER_PAYLOAD) {
            ask_mark(next, batch, node, 1);
        }
    }
    if ((uint32_t)node + 1 < RULES_OF(rules, pipeline_rules)->entry_count) {
        ask_mark(next, batch, node + 1, 0);
    }
}

static void follow_review(const struct pipeline_worker *worker, const struct rules *rules,
                          struct bundle *next)
{
    int64_t batch = column(worker, REQUEST_BATCH), node = column(worker, REQUEST_NODE);
    int64_t decision = column(worker, REQUEST_ROW);
    ask_next_review(next, rules, batch, node, column(worker, REQUEST_NUMBER), decision,
                    status_of_decision(worker->found));
    if (worker->found == DECISION_APPROVE) {
        ask_cut(next, batch, node, decision, 0);
    }
}

/* A re-verify follows only a pass (E-CUT-12). */
static void follow_verify(const struct pipeline_worker *worker, const struct rules *rules,
                          struct bundle *next)
{
    int64_t batch = column(worker, REQUEST_BATCH), node = column(worker, REQUEST_NODE);
    if (worker->found == VERIFIED_PASS) {
        ask_dependants(next, rules, batch, node);
        ask_verify(next, rules, batch, node, column(worker, REQUEST_NUMBER) + 1,
                   column(worker, REQUEST_SOURCE), column(worker, REQUEST_ROW));
    }
}

static void follow(const struct pipeline_worker *worker, const struct rules *rules,
                   struct bundle *next)
{
    int64_t phase = column(worker, REQUEST_PHASE);
    if (phase == PHASE_MARK) {
        follow_mark(worker, rules, next);
    } else if (phase == PHASE_REVIEW && worker->follows) {
        follow_review(worker, rules, next);
    } else if (phase == PHASE_CUT && worker->follows) {
        ask_verify(next, rules, column(worker, REQUEST_BATCH), column(worker, REQUEST_NODE), 1,
                   column(worker, REQUEST_ROW), 0);
    } else if (phase == PHASE_VERIFY && worker->follows) {
        follow_verify(worker, rules, next);
    }
}

/* A stop for people is a sweep pass of its own: its row stays (CUT-19). The same twice is one
 * row. */
static void build_hand_on(const struct pipeline_worker *worker, const struct rules *rules,
                          struct bundle *next)
{
    bundle_begin(next, BUNDLE_HAND_ON);
    BUNDLE_CALL(next, PRIMITIVE_ACK, CALL_REQUIRE, 0, worker->message[0],
                column(worker, MESSAGE_EPOCH), column(worker, MESSAGE_CONTENT));
    if (worker->why != SWEEP_MARKED) {
        log_sweep(worker, next, CALL_PLAIN, (enum sweep_reason)worker->why, 0);
    }
    follow(worker, rules, next);
}

/* The entry is as it was, and the request stands still until a sweep passes (PI4). */
static void build_stop(const struct pipeline_worker *worker, struct bundle *next)
{
    bundle_begin(next, BUNDLE_STOP);
    BUNDLE_CALL(next, PRIMITIVE_STOP, CALL_REQUIRE, 0, worker->message[0],
                column(worker, MESSAGE_EPOCH), column(worker, REQUEST_STOPS), worker->stops,
                PROTOCOL_NEVER);
    log_sweep(worker, next, CALL_REQUIRE, SWEEP_EXHAUSTED, worker->stops);
}

/* ---- the sweep ------------------------------------------------------------------------------- */

/* What FIND_STOPPED returns. */
enum { FOUND_KEY, FOUND_PHASE, FOUND_ENTRY, FOUND_STOPS, FOUND_BATCH, FOUND_NODE };
#define STOPS_ANY INT64_MAX /* above every number of stops */

/* One pass: a row of the log, and the phase is asked for again; or it is for people, and what
 * follows a MARK is asked for in every case (E-CUT-21). */
static void build_pass(const struct pipeline_worker *sweep, const struct rules *rules,
                       struct bundle *next)
{
    int64_t stops = column(sweep, REQUEST_STOPS);
    bool again = stops < RULES_OF(rules, pipeline_rules)->passes;
    bundle_begin(next, BUNDLE_SWEEP);
    if (again) {
        BUNDLE_CALL(next, PRIMITIVE_ASK_AGAIN, CALL_REQUIRE, 0, sweep->message[0], stops,
                    rules->put_back);
    } else {
        BUNDLE_CALL(next, PRIMITIVE_GIVE_UP, CALL_REQUIRE, 0, sweep->message[0], stops);
    }
    log_sweep(sweep, next, CALL_REQUIRE, again ? SWEEP_AGAIN : SWEEP_GIVEN_UP, stops);
    if (!again) {
        follow(sweep, rules, next); /* as after a phase that was not done */
    }
}

static void next_of_sweep(struct actor *actor, const struct rules *rules, struct bundle *next)
{
    const struct pipeline_worker *sweep = ACTOR_IS(actor, pipeline_worker);
    if (sweep->state == PIPELINE_PASS) {
        build_pass(sweep, rules, next);
        return;
    }
    bundle_begin(next, BUNDLE_SWEEP_LOOK);
    BUNDLE_CALL(next, PRIMITIVE_FIND_STOPPED, CALL_PLAIN, 0, STOPS_ANY);
}

/* A sweep that was not told how its pass ended looks again: what was done no longer stands. */
static void take_of_sweep(struct actor *actor, const struct rules *rules,
                          const struct outcome *last)
{
    struct pipeline_worker *sweep = ACTOR_IS(actor, pipeline_worker);
    struct pipeline_worker found = {.state = PIPELINE_IDLE};
    (void)rules;
    if (sweep->state == PIPELINE_IDLE && last->kind == OUTCOME_COMMITTED &&
        last->values[FOUND_KEY] != 0) {
        found.state = PIPELINE_PASS;
        found.message[0] = last->values[FOUND_KEY];
        found.message[1 + REQUEST_PHASE] = last->values[FOUND_PHASE];
        found.message[1 + REQUEST_ENTRY] = last->values[FOUND_ENTRY];
        found.message[1 + REQUEST_STOPS] = last->values[FOUND_STOPS];
        found.message[1 + REQUEST_BATCH] = last->values[FOUND_BATCH];
        found.message[1 + REQUEST_NODE] = last->values[FOUND_NODE];
    }
    *sweep = found;
}

/* As soon as a request stands still: how long it waits is for the pass to say. */
static int64_t due_of_sweep(const struct actor *actor, const struct rules *rules,
                            const struct glance *glance)
{
    (void)rules;
    const struct rows *rows = glance->rows;
    if (ACTOR_IS(actor, pipeline_worker)->state != PIPELINE_IDLE) {
        return glance->now;
    }
    for (uint32_t slot = 0; slot < rows->table[TABLE_SWEEP_LOG].used; slot++) {
        uint32_t stopped =
            row_find(rows, TABLE_MESSAGE, row_get(rows, TABLE_SWEEP_LOG, slot, SWEEP_LOG_REQUEST));
        if (stopped != ROW_NONE && row_get(rows, TABLE_MESSAGE, stopped, REQUEST_STANDS) != 0) {
            return glance->now;
        }
    }
    return PROTOCOL_NEVER;
}

/* ---- a worker's next bundle ------------------------------------------------------------------ */

static void next_of_worker(struct actor *actor, const struct rules *rules, struct bundle *next)
{
    struct pipeline_worker *worker = ACTOR_IS(actor, pipeline_worker);
    worker->trespassed = worker->trespass != 0;
    if (worker->trespassed) {
        pipeline_trespass_build(worker, worker->trespass - 1U, next);
        return;
    }
    switch ((enum pipeline_state)worker->state) {
    case PIPELINE_IDLE:
        bundle_begin(next, BUNDLE_CLAIM);
        BUNDLE_CALL(next, PRIMITIVE_CLAIM, CALL_PLAIN, 0, rules->timeout);
        break;
    case PIPELINE_PHASE:
        next_phase(worker, rules, next);
        next->principal = principal_of(worker);
        break;
    case PIPELINE_READ:
        read_back(worker, next);
        next->principal = principal_of(worker);
        break;
    case PIPELINE_HAND_ON:
        build_hand_on(worker, rules, next);
        break;
    case PIPELINE_STOP:
        build_stop(worker, next);
        break;
    case PIPELINE_PASS: /* the sweep's */
        break;
    }
}

/* ---- what an outcome means ------------------------------------------------------------------- */

/* Transient: the whole transaction again, but not for ever (CUT-12, E-CUT-15, E-CUT-16). False:
 * that was the last time. */
static bool may_try_again(struct pipeline_worker *worker)
{
    return ++worker->tries <= PIPELINE_TRIES_MAX;
}

static void hand_on(struct pipeline_worker *worker, bool follows, int64_t found,
                    enum sweep_reason why)
{
    worker->state = PIPELINE_HAND_ON;
    worker->tries = 0;
    worker->follows = follows;
    worker->found = found;
    worker->why = (uint8_t)why;
}

static void stop(struct pipeline_worker *worker)
{
    worker->state = PIPELINE_STOP;
    worker->tries = 0;
    worker->stops = (uint8_t)(column(worker, REQUEST_STOPS) + 1);
}

/* What the phase itself stores, when it commits. */
static int64_t stores(const struct pipeline_worker *worker)
{
    return column(worker, REQUEST_PHASE) != PHASE_VERIFY ? column(worker, REQUEST_RESULT)
           : passes(worker)                              ? VERIFIED_PASS
                                                         : VERIFIED_FAIL;
}

/* The stop that a refusal is, if it is one that people must look at (CUT-14, E-CUT-16). */
static enum sweep_reason for_people(const struct outcome *last)
{
    static const uint8_t reasons[REFUSAL_COUNT] = {[REFUSED_NO_PARENT] = SWEEP_NO_PARENT,
                                                   [REFUSED_NULL] = SWEEP_NULL,
                                                   [REFUSED_FORBIDDEN] = SWEEP_FORBIDDEN,
                                                   [REFUSED_UNCLASSIFIED] = SWEEP_UNCLASSIFIED};
    return last->kind == OUTCOME_REFUSED ? (enum sweep_reason)reasons[last->refusal] : SWEEP_MARKED;
}

/* Of an entry that is there: it is returned, if it was asked for with this payload (E-CUT-2). */
static void take_marked(struct pipeline_worker *worker, int64_t payload)
{
    bool same = payload == column(worker, REQUEST_SOURCE);
    hand_on(worker, same, 0, same ? SWEEP_MARKED : SWEEP_OTHER_LOAD);
}

static void take_phase(struct pipeline_worker *worker, const struct outcome *last)
{
    bool refused = last->kind == OUTCOME_REFUSED;
    if (last->kind == OUTCOME_COMMITTED && last->skipped != 0) {
        take_marked(worker, last->values[1]); /* MARK read it before it wrote */
    } else if (last->kind == OUTCOME_COMMITTED) {
        hand_on(worker, true, stores(worker), SWEEP_MARKED);
    } else if (for_people(last) != SWEEP_MARKED) {
        hand_on(worker, false, 0, for_people(last));
    } else if (refused || last->kind == OUTCOME_UNKNOWN) {
        worker->state = PIPELINE_READ;
        worker->refusal = refused ? last->refusal : REFUSED_NOTHING;
    } else if (!may_try_again(worker)) {
        stop(worker);
    }
}

/* The row is not there: a phase whose answer was lost did not commit and is tried again; a guard or
 * another worker stopped one that was refused, and the entry is as it was. A key that is taken by a
 * foreign row is for people (E-CUT-13). */
static void take_absent(struct pipeline_worker *worker)
{
    if (worker->refusal != REFUSED_NOTHING) {
        hand_on(worker, false, 0,
                worker->refusal == REFUSED_EXISTS ? SWEEP_CONFLICT : SWEEP_MARKED);
    } else if (may_try_again(worker)) {
        worker->state = PIPELINE_PHASE;
    } else {
        stop(worker);
    }
}

/* A replay returns what is stored (E-CUT-3, E-CUT-6, E-CUT-9). What follows a phase is not asked
 * for again once the entry has moved on from there, and of a set that was undone nothing follows.
 */
static void take_read(struct pipeline_worker *worker, const struct outcome *last)
{
    int64_t phase = column(worker, REQUEST_PHASE), status = last->values[0];
    int64_t found = last->values[2];
    if (for_people(last) != SWEEP_MARKED) {
        hand_on(worker, false, 0, for_people(last));
    } else if (last->kind != OUTCOME_COMMITTED) {
        if (!may_try_again(worker)) {
            stop(worker);
        }
    } else if (found == 0) {
        take_absent(worker);
    } else if (phase == PHASE_MARK) {
        take_marked(worker, last->values[3]);
    } else {
        hand_on(worker, phase != PHASE_CUT || status == STATUS_CUT, found, SWEEP_MARKED);
    }
}

static void let_go(struct pipeline_worker *worker)
{
    memset(worker, 0, sizeof *worker);
}

/* A request that was acked and asked for anew has stops in the log that it does not know of: this
 * is the first that is not there. */
static void take_stop(struct pipeline_worker *worker, const struct outcome *last)
{
    bool refused = last->kind == OUTCOME_REFUSED;
    if (refused && last->refusal == REFUSED_EXISTS && worker->stops < UINT8_MAX) {
        worker->stops++;
    } else if (last->kind == OUTCOME_COMMITTED || refused || !may_try_again(worker)) {
        let_go(worker);
    }
}

static void take_request(struct pipeline_worker *worker, const struct rules *rules,
                         const struct outcome *last)
{
    struct pipeline_worker claimed = {.state = PIPELINE_PHASE};
    memcpy(claimed.message, last->message, sizeof claimed.message);
    if (last->kind == OUTCOME_COMMITTED && is_sound(&claimed, rules)) {
        *worker = claimed;
    }
}

void pipeline_check(const struct pipeline_worker *worker, const struct rules *rules)
{
    CHECK(worker->state <= PIPELINE_STOP);
    CHECK(worker->state == PIPELINE_IDLE ? worker->message[0] == 0
                                         : is_sound(worker, rules)); /* PI2 */
    CHECK(worker->tries <= PIPELINE_TRIES_MAX);                      /* PI3 */
}

/* The request is as it was, whatever the store says. A connection that was lost is a try of its
 * phase, as it is without a trespass. */
static void take_trespass(struct pipeline_worker *worker, const struct outcome *last)
{
    bool phase = worker->state == PIPELINE_PHASE || worker->state == PIPELINE_READ;
    worker->trespassed = false;
    worker->trespass = 0;
    if (phase && last->kind == OUTCOME_ABORTED && !may_try_again(worker)) {
        stop(worker);
    }
}

static void take_of_worker(struct actor *actor, const struct rules *rules,
                           const struct outcome *last)
{
    struct pipeline_worker *worker = ACTOR_IS(actor, pipeline_worker);
    if (worker->trespassed) {
        const struct pipeline_worker before = *worker;
        take_trespass(worker, last);
        CHECK_ALL(pipeline_trespass_check(&before, worker, last));
        (void)before;
        return;
    }
    switch ((enum pipeline_state)worker->state) {
    case PIPELINE_IDLE:
        take_request(worker, rules, last);
        break;
    case PIPELINE_PHASE:
        take_phase(worker, last);
        break;
    case PIPELINE_READ:
        take_read(worker, last);
        break;
    case PIPELINE_HAND_ON:
        if (last->kind == OUTCOME_COMMITTED || last->kind == OUTCOME_REFUSED ||
            !may_try_again(worker)) {
            let_go(worker); /* done, another worker's by now, or it comes again */
        }
        break;
    case PIPELINE_STOP:
        take_stop(worker, last);
        break;
    case PIPELINE_PASS: /* the sweep's */
        break;
    }
    CHECK_ALL(pipeline_check(worker, rules));
}

/* ---- the protocol ---------------------------------------------------------------------------- */

static void begin_worker(struct actor *actor, const struct rules *rules, unsigned number)
{
    (void)rules, (void)number;
    *ACTOR_IS(actor, pipeline_worker) = (struct pipeline_worker){.state = PIPELINE_IDLE};
}

static bool is_idle(const struct actor *actor)
{
    return ACTOR_IS(actor, pipeline_worker)->state == PIPELINE_IDLE;
}

static int64_t due_of_worker(const struct actor *actor, const struct rules *rules,
                             const struct glance *glance)
{
    (void)rules;
    return is_idle(actor) ? glance->next_message : glance->now;
}

static const int64_t *message_of_worker(const struct actor *actor)
{
    return ACTOR_IS(actor, pipeline_worker)->message;
}

static void next_of_client(struct actor *actor, const struct rules *rules, struct bundle *next)
{
    (void)rules;
    bundle_begin(next, BUNDLE_REQUEST);
    ask_mark(next, ACTOR_IS(actor, client)->job, 0, 0);
}

const struct protocol protocol_pipeline = {
    .name = "pipeline",
    PROTOCOL_SIZES(struct pipeline_worker, struct pipeline_rules),
    .family = CLAUSE_FAMILY_CUT,
    .tables = TABLE_SET(MESSAGE) | TABLE_SET(ENTRY) | TABLE_SET(PAST) | TABLE_SET(DEPENDENCY) |
              TABLE_SET(SWEEP_LOG) | TABLE_SET(ENVELOPE) | TABLE_SET(UNIT_BLOCK) |
              TABLE_SET(REVIEW) | TABLE_SET(SIGNATURE) | TABLE_SET(CHANGE_SET) |
              TABLE_SET(AFFECTED_ROW) | TABLE_SET(VERIFY),
    .principals = PRINCIPAL_SET(EXEC) | PRINCIPAL_SET(VERIFY),
    .roles = {[PIPELINE_CLIENT] = {PROTOCOL_CLIENT, .next = next_of_client},
              [PIPELINE_WORKER] = {.name = "worker",
                                   .begin = begin_worker,
                                   .next = next_of_worker,
                                   .take = take_of_worker,
                                   .is_idle = is_idle,
                                   .due = due_of_worker,
                                   .message = message_of_worker},
              [PIPELINE_SWEEP] = {.name = "sweep",
                                  .alone = true,
                                  .begin = begin_worker,
                                  .next = next_of_sweep,
                                  .take = take_of_sweep,
                                  .is_idle = is_idle,
                                  .due = due_of_sweep}},
};
