#include "model/legacy_engine.h"
#include "model/activity_engine.h"

#include "model/identity.h"
#include "model/legacy.h"
#include "model/protocol.h"

#include <string.h>

static int64_t column(const struct legacy_worker *worker, enum message_column column)
{
    return worker->message[1 + column];
}

static uint16_t node_of(const struct legacy_worker *worker)
{
    return (uint16_t)column(worker, MESSAGE_NODE);
}

bool legacy_engine_in_leg2(const struct legacy_worker *worker)
{
    return worker->state != LEGACY_IDLE && column(worker, MESSAGE_KIND) == MESSAGE_LEG2;
}

/* The number of its Leg2 entry is the dimension (LEG-10); Leg1 has none. */
static int64_t dimension(const struct legacy_worker *worker)
{
    return legacy_engine_in_leg2(worker) ? legacy_get(worker->ledger, LEGACY_LEG2_ENTRIES) : 0;
}

static int64_t state_id(const struct legacy_worker *worker)
{
    return identity_mint(column(worker, MESSAGE_ACTIVITY), IDENTITY_DIMENSION + dimension(worker));
}

/* Whether an answer takes this edge; a call after the closing one takes none. */
static bool takes(const struct legacy_worker *worker, const struct graph_edge *edge)
{
    return column(worker, MESSAGE_ANSWER) >= 0 &&
           graph_takes(edge, column(worker, MESSAGE_ANSWER), column(worker, MESSAGE_CONTENT), 0);
}

static bool has_children(const struct legacy_worker *worker, const struct legacy_rules *rules)
{
    const struct graph_node *node = &rules->graph->nodes[node_of(worker)];
    for (uint16_t i = 0; i < node->edge_count; i++) {
        if (takes(worker, &rules->graph->edges[node->first_edge + i])) {
            return true;
        }
    }
    return false;
}

/* ---- what an outcome means ------------------------------------------------------------------- */

static void claimed(struct legacy_worker *worker, const struct outcome *last)
{
    memcpy(worker->message, last->message, sizeof worker->message);
    worker->state =
        column(worker, MESSAGE_KIND) == MESSAGE_LEG1 ? LEGACY_ENTER_LEG1 : LEGACY_ENTER_LEG2;
}

/* LEG-3. What a completed Leg1 did not publish is found when it is published: the mark is tested
 * there. */
static void entered_leg1(struct legacy_worker *worker)
{
    static const uint8_t next[] = {[LEGACY_LEG1_FIRST] = LEGACY_WORK,
                                   [LEGACY_LEG1_CRASHED] = LEGACY_CLEAN_UP,
                                   [LEGACY_LEG1_COMPLETED] = LEGACY_PUBLISH};
    worker->state = next[legacy_leg1_decision(worker->ledger)];
}

/* Where an increment that was in doubt turns out to have happened, and where not. Others may have
 * moved the integer too, and nothing in it says who did: this is as far as reading goes. */
static bool happened(const struct legacy_worker *worker, int64_t now)
{
    if (worker->unsure == LEGACY_END_LEG1) {
        return legacy_get(now, LEGACY_LEG1_EXIT) < 9;
    }
    if (worker->unsure == LEGACY_UNDO) {
        return legacy_get(now, LEGACY_LEG2_ENTRIES) <
               legacy_get(worker->ledger, LEGACY_LEG2_ENTRIES);
    }
    return column(worker, MESSAGE_ANSWER) <= 0
               ? legacy_closed(now)
               : legacy_get(now, LEGACY_LEG2_EXIT_COUNT) >
                     legacy_get(worker->ledger, LEGACY_LEG2_EXIT_COUNT);
}

static void committed(struct legacy_worker *worker, const struct legacy_rules *rules,
                      const struct outcome *last)
{
    static const uint8_t after[LEGACY_STATE_COUNT] = {
        [LEGACY_CLEAN_UP] = LEGACY_WORK,    [LEGACY_WORK] = LEGACY_END_LEG1,
        [LEGACY_END_LEG1] = LEGACY_PUBLISH, [LEGACY_END_LEG2] = LEGACY_ACK,
        [LEGACY_UNDO] = LEGACY_ACK,         [LEGACY_ACK] = LEGACY_IDLE,
        [LEGACY_ESCALATE] = LEGACY_IDLE};
    CHECK(worker->state < LEGACY_STATE_COUNT);
    switch ((enum legacy_state)worker->state) {
    case LEGACY_IDLE:
        claimed(worker, last);
        break;
    case LEGACY_ENTER_LEG1:
        worker->ledger = last->values[0];
        entered_leg1(worker);
        break;
    case LEGACY_ENTER_LEG2:
        worker->ledger = last->values[0];
        worker->state =
            legacy_leg2_decision(worker->ledger) == LEGACY_LEG2_OPEN ? LEGACY_SAVE : LEGACY_UNDO;
        break;
    case LEGACY_SAVE:
        worker->state = has_children(worker, rules) ? LEGACY_PUBLISH : LEGACY_END_LEG2;
        break;
    case LEGACY_PUBLISH:
        worker->state = legacy_engine_in_leg2(worker) ? LEGACY_END_LEG2 : LEGACY_ACK;
        break;
    case LEGACY_READ:
        worker->state = happened(worker, last->values[0]) ? after[worker->unsure] : worker->unsure;
        break;
    case LEGACY_CLEAN_UP:
    case LEGACY_WORK:
    case LEGACY_END_LEG1:
    case LEGACY_END_LEG2:
    case LEGACY_UNDO:
    case LEGACY_ACK:
    case LEGACY_ESCALATE:
    case LEGACY_STATE_COUNT:
        worker->state = after[worker->state];
    }
}

/* At a ceiling a call is given up in the open (LEG-5, E-LEG-2), unless there is room again when it
 * is: a call after success had been counted. Everything else that is refused has lost its claim, or
 * found nothing to claim. */
static void refused(struct legacy_worker *worker, enum refusal refusal)
{
    worker->state = refusal == REFUSED_CEILING     ? LEGACY_ESCALATE
                    : refusal == REFUSED_TOO_EARLY ? LEGACY_ENTER_LEG2
                                                   : LEGACY_IDLE;
}

/* An increment is read for. An entry of Leg1 belongs to one claim: whether it was counted nobody
 * can tell, and a second one would say that its own worker had crashed, so the message is left to
 * come again (E-LEG-4). All else, an entry of Leg2 too, is asked for again. */
static void unknown(struct legacy_worker *worker)
{
    if (worker->state == LEGACY_ENTER_LEG1) {
        worker->state = LEGACY_IDLE;
    } else if (worker->state == LEGACY_END_LEG1 || worker->state == LEGACY_END_LEG2 ||
               worker->state == LEGACY_UNDO) {
        worker->unsure = worker->state;
        worker->state = LEGACY_READ;
    }
}

static void take_of_worker(struct actor *actor, const struct rules *rules,
                           const struct outcome *last)
{
    struct legacy_worker *worker = ACTOR_IS(actor, legacy_worker);
    switch ((enum outcome_kind)last->kind) {
    case OUTCOME_COMMITTED:
        committed(worker, RULES_OF(rules, legacy_rules), last);
        break;
    case OUTCOME_REFUSED:
        refused(worker, (enum refusal)last->refusal);
        break;
    case OUTCOME_UNKNOWN:
        unknown(worker);
        break;
    case OUTCOME_ABORTED: /* nothing happened: the same again */
    case OUTCOME_NONE:
        break;
    }
    if (worker->state == LEGACY_IDLE) {
        memset(worker, 0, sizeof *worker);
    }
}

/* ---- the next bundle ------------------------------------------------------------------------- */

static void next_move(const struct legacy_worker *worker, struct bundle *next,
                      enum bundle_name name, enum legacy_event event)
{
    bundle_begin(next, name);
    BUNDLE_CALL(next, PRIMITIVE_MOVE_LEGACY, CALL_PLAIN, 0, column(worker, MESSAGE_ACTIVITY),
                legacy_summand(event));
}

static void next_enter_leg1(const struct legacy_worker *worker, struct bundle *next)
{
    bundle_begin(next, BUNDLE_ENTER_LEG1);
    BUNDLE_CALL(next, PRIMITIVE_COUNT_LEG1, CALL_PLAIN, 0, column(worker, MESSAGE_ACTIVITY),
                legacy_summand(LEGACY_LEG1_BEGIN));
}

/* Parameters of the two primitives that look at the counter of Leg2 entries; its weight is what an
 * entry adds. */
static void append_about_entries(const struct legacy_worker *worker, struct bundle *next,
                                 enum primitive_id primitive, enum call_mode mode)
{
    int64_t room = digits_power(legacy_layout(LEGACY_LEG2_ENTRIES)->digit_count);
    BUNDLE_CALL_OF(next, primitive, mode, 0, column(worker, MESSAGE_ACTIVITY),
                   legacy_summand(LEGACY_LEG2_BEGIN), room, room - 1);
}

static void next_enter_leg2(const struct legacy_worker *worker, struct bundle *next)
{
    bundle_begin(next, BUNDLE_ENTER_LEG2);
    append_about_entries(worker, next, PRIMITIVE_COUNT_LEG2, CALL_PLAIN);
}

static void next_clean_up(const struct legacy_worker *worker, struct bundle *next)
{
    bundle_begin(next, BUNDLE_CLEAN_UP);
    BUNDLE_CALL(next, PRIMITIVE_CLEAN_UP, CALL_PLAIN, 0, state_id(worker));
}

/* What either leg saves of itself. */
static void append_save(const struct legacy_worker *worker, struct bundle *next)
{
    BUNDLE_CALL(next, PRIMITIVE_SAVE, CALL_PLAIN, 0, state_id(worker),
                column(worker, MESSAGE_ACTIVITY), dimension(worker),
                column(worker, MESSAGE_CONTENT),
                identity_mint(worker->message[0], column(worker, MESSAGE_EPOCH)));
}

static void next_work(const struct legacy_worker *worker, struct bundle *next)
{
    bundle_begin(next, BUNDLE_WORK);
    append_save(worker, next);
    bundle_rests_on(next, column(worker, MESSAGE_ACTIVITY), worker->message[0],
                    column(worker, MESSAGE_EPOCH));
}

static int64_t child_id(const struct legacy_worker *worker, uint16_t edge)
{
    return identity_mint(state_id(worker), IDENTITY_EDGE + edge);
}

/* An integer that is there already is left alone (LEG-9). */
static void append_child(const struct legacy_worker *worker, const struct graph_edge *edge,
                         uint16_t number, struct bundle *next)
{
    BUNDLE_CALL(next, PRIMITIVE_ADD_LEGACY, CALL_PLAIN, 0, child_id(worker, number),
                column(worker, MESSAGE_JOB), edge->to, LEGACY_START,
                column(worker, MESSAGE_ACTIVITY), dimension(worker));
}

static int64_t *append_message(struct bundle *next, int64_t key, enum message_kind kind,
                               int64_t job, int64_t activity)
{
    int64_t *p = bundle_publish(next, CALL_PLAIN, key, kind);
    p[1 + MESSAGE_JOB] = job;
    p[1 + MESSAGE_ACTIVITY] = activity;
    return p + 1;
}

static void append_child_message(const struct legacy_worker *worker, const struct graph_edge *edge,
                                 uint16_t number, struct bundle *next)
{
    int64_t child = child_id(worker, number);
    int64_t *p = append_message(next, identity_mint(child, IDENTITY_LEG1), MESSAGE_LEG1,
                                column(worker, MESSAGE_JOB), child);
    p[MESSAGE_NODE] = edge->to;
    p[MESSAGE_SOURCE] = column(worker, MESSAGE_ACTIVITY);
    p[MESSAGE_DIMENSION] = dimension(worker);
    p[MESSAGE_CONTENT] = column(worker, MESSAGE_CONTENT);
}

static void append_for_children(const struct legacy_worker *worker,
                                const struct legacy_rules *rules, struct bundle *next,
                                void (*append)(const struct legacy_worker *,
                                               const struct graph_edge *, uint16_t,
                                               struct bundle *))
{
    const struct graph_node *node = &rules->graph->nodes[node_of(worker)];
    for (uint16_t i = 0; i < node->edge_count; i++) {
        uint16_t number = (uint16_t)(node->first_edge + i);
        if (takes(worker, &rules->graph->edges[number])) {
            append(worker, &rules->graph->edges[number], number, next);
        }
    }
}

static void next_save(const struct legacy_worker *worker, const struct legacy_rules *rules,
                      struct bundle *next)
{
    bundle_begin(next, BUNDLE_SAVE);
    append_save(worker, next);
    append_for_children(worker, rules, next, append_child);
}

/* An answer of the worker that Leg1 handed its work to: k pending, the closing one, or the k-th
 * call after it. */
static void append_answer(const struct legacy_worker *worker, int64_t answer, struct bundle *next)
{
    int64_t activity = column(worker, MESSAGE_ACTIVITY), input = column(worker, MESSAGE_CONTENT);
    int64_t role = answer > 0    ? IDENTITY_PENDING + answer
                   : answer == 0 ? IDENTITY_CLOSE
                                 : IDENTITY_AGAIN - answer;
    int64_t *p = append_message(next, identity_mint(activity, role), MESSAGE_LEG2,
                                column(worker, MESSAGE_JOB), activity);
    p[MESSAGE_NODE] = node_of(worker);
    p[MESSAGE_ANSWER] = answer;
    p[MESSAGE_CONTENT] = answer > 0 ? graph_pending_output(node_of(worker), input, answer)
                                    : graph_output(node_of(worker), input);
}

static void append_answers(const struct legacy_worker *worker, const struct legacy_rules *rules,
                           struct bundle *next)
{
    const struct graph_node *node = &rules->graph->nodes[node_of(worker)];
    for (int64_t k = 1; k <= node->pendings; k++) {
        append_answer(worker, k, next);
    }
    for (int64_t k = 0; k <= node->again; k++) {
        append_answer(worker, -k, next);
    }
}

/* Everything that follows from what was saved, once: the mark is how a Leg1 that is entered again
 * verifies that it was (LEG-3). */
static void next_publish(const struct legacy_worker *worker, const struct legacy_rules *rules,
                         struct bundle *next)
{
    bundle_begin(next, BUNDLE_PUBLISH);
    BUNDLE_CALL(next, PRIMITIVE_MARK_PUBLISHED, CALL_UNLESS_DONE, 0, state_id(worker));
    if (legacy_engine_in_leg2(worker)) {
        append_for_children(worker, rules, next, append_child_message);
    } else {
        append_answers(worker, rules, next);
    }
}

static void append_ack(const struct legacy_worker *worker, struct bundle *next)
{
    BUNDLE_CALL(next, PRIMITIVE_ACK, CALL_REQUIRE, 0, worker->message[0],
                column(worker, MESSAGE_EPOCH), column(worker, MESSAGE_CONTENT));
}

static void next_escalate(const struct legacy_worker *worker, struct bundle *next)
{
    bundle_begin(next, BUNDLE_ESCALATE);
    append_ack(worker, next);
    if (legacy_engine_in_leg2(worker)) { /* Leg1's digit never rises again */
        append_about_entries(worker, next, PRIMITIVE_REQUIRE_FULL, CALL_REQUIRE);
    }
    BUNDLE_CALL(next, PRIMITIVE_RECORD_ESCALATION, CALL_PLAIN, 0,
                identity_mint(worker->message[0], IDENTITY_ESCALATION), column(worker, MESSAGE_JOB),
                worker->message[0],
                legacy_engine_in_leg2(worker) ? ESCALATED_LEG2_CEILING : ESCALATED_LEG1_CEILING);
}

static void next_of_worker(struct actor *actor, const struct rules *rules, struct bundle *next)
{
    const struct legacy_worker *worker = ACTOR_IS(actor, legacy_worker);
    const struct legacy_rules *own = RULES_OF(rules, legacy_rules);
    switch ((enum legacy_state)worker->state) {
    case LEGACY_STATE_COUNT:
    case LEGACY_IDLE:
        bundle_begin(next, BUNDLE_CLAIM);
        BUNDLE_CALL(next, PRIMITIVE_CLAIM, CALL_PLAIN, 0, rules->timeout);
        break;
    case LEGACY_ENTER_LEG1:
        next_enter_leg1(worker, next);
        break;
    case LEGACY_CLEAN_UP:
        next_clean_up(worker, next);
        break;
    case LEGACY_WORK:
        next_work(worker, next);
        break;
    case LEGACY_END_LEG1:
        next_move(worker, next, BUNDLE_END_LEG1, LEGACY_LEG1_END);
        break;
    case LEGACY_PUBLISH:
        next_publish(worker, own, next);
        break;
    case LEGACY_ENTER_LEG2:
        next_enter_leg2(worker, next);
        break;
    case LEGACY_SAVE:
        next_save(worker, own, next);
        break;
    case LEGACY_END_LEG2:
        next_move(worker, next, BUNDLE_END_LEG2,
                  column(worker, MESSAGE_ANSWER) > 0 ? LEGACY_LEG2_PENDING : LEGACY_LEG2_SUCCESS);
        break;
    case LEGACY_UNDO:
        next_move(worker, next, BUNDLE_UNDO, LEGACY_LEG2_UNDO);
        break;
    case LEGACY_READ:
        bundle_begin(next, BUNDLE_READ);
        BUNDLE_CALL(next, PRIMITIVE_READ_LEGACY, CALL_PLAIN, 0, column(worker, MESSAGE_ACTIVITY));
        break;
    case LEGACY_ACK:
        bundle_begin(next, BUNDLE_ACK);
        append_ack(worker, next);
        break;
    case LEGACY_ESCALATE:
        next_escalate(worker, next);
        break;
    }
}

/* ---- the roles ------------------------------------------------------------------------------- */

/* The trigger's integer and its message together: a client is no activity, and nothing is said of
 * one that dies in between. */
static void next_of_client(struct actor *actor, const struct rules *rules, struct bundle *next)
{
    (void)rules;
    int64_t job = activity_job_id(ACTOR_IS(actor, client)->job);
    int64_t activity = identity_mint(job, IDENTITY_TRIGGER);
    bundle_begin(next, BUNDLE_CREATE);
    BUNDLE_CALL(next, PRIMITIVE_ADD_LEGACY, CALL_UNLESS_DONE, 0, activity, job, 0, LEGACY_START, 0,
                0);
    int64_t *p =
        append_message(next, identity_mint(activity, IDENTITY_LEG1), MESSAGE_LEG1, job, activity);
    p[MESSAGE_CONTENT] = activity_job_input(ACTOR_IS(actor, client)->job);
}

static void begin_worker(struct actor *actor, const struct rules *rules, unsigned number)
{
    (void)rules, (void)number;
    *ACTOR_IS(actor, legacy_worker) = (struct legacy_worker){.state = LEGACY_IDLE};
}

static void restart_worker(struct actor *actor, const struct rules *rules, unsigned number)
{
    if (!RULES_OF(rules, legacy_rules)->spares_crash ||
        !legacy_engine_in_leg2(ACTOR_IS(actor, legacy_worker))) {
        begin_worker(actor, rules, number);
    }
}

static bool worker_is_idle(const struct actor *actor)
{
    return ACTOR_IS(actor, legacy_worker)->state == LEGACY_IDLE;
}

static int64_t worker_due(const struct actor *actor, const struct rules *rules,
                          const struct glance *glance)
{
    (void)rules;
    return worker_is_idle(actor) ? glance->next_message : glance->now;
}

static const int64_t *worker_message(const struct actor *actor)
{
    return ACTOR_IS(actor, legacy_worker)->message;
}

const struct protocol protocol_legacy = {
    .name = "legacy",
    PROTOCOL_SIZES(struct legacy_worker, struct legacy_rules),
    .family = CLAUSE_FAMILY_LEG,
    .tables = TABLE_SET(LEGACY) | TABLE_SET(SAVED) | TABLE_SET(ESCALATION) | TABLE_SET(MESSAGE),
    .roles = {[LEGACY_CLIENT] = {PROTOCOL_CLIENT, .next = next_of_client},
              [LEGACY_WORKER] = {.name = "worker",
                                 .begin = begin_worker,
                                 .restart = restart_worker,
                                 .next = next_of_worker,
                                 .take = take_of_worker,
                                 .is_idle = worker_is_idle,
                                 .due = worker_due,
                                 .message = worker_message}},
};
