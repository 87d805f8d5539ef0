#include "model/activity_engine.h"

#include "model/identity.h"
#include "model/ledger.h"
#include "model/semaphore.h"

#include <string.h>

/* ---- values that bundles return, by where their calls put them ------------------------------- */

enum enter_leg1_values { LEG1_LEDGER, LEG1_COUNTED, LEG1_INPUT };
enum enter_leg2_values {
    LEG2_LEDGER,
    LEG2_DIMENSION,
    LEG2_ANSWER,
    LEG2_CONTENT,
    LEG2_CLOSED_BY = PRIMITIVE_VALUES_MAX,
    LEG2_INPUT
};
enum read_values { READ_LEDGER, READ_DIMENSION, READ_KNOWN };
enum step_values { STEP_LEDGER, STEP_ACTIVITY = PRIMITIVE_VALUES_MAX };

/* With merged commits, of the message that the worker goes on with: its entry, if that is an
 * activity's, as enum enter_leg1_values has it, and when its claim ends. */
enum carried_values { CARRIED_LEG1 = STEP_ACTIVITY + 2, CARRIED_UNTIL = CARRIED_LEG1 + 3 };

static int64_t column(const struct activity_worker *worker, enum message_column column)
{
    return worker->message[1 + column];
}

static int64_t weight(enum ledger_field field)
{
    return ledger_layout(field)->weight;
}

static int64_t task_id(const struct activity_worker *worker)
{
    return identity_mint(column(worker, MESSAGE_ACTIVITY), IDENTITY_TASK);
}

static void next_bundle(const struct activity_worker *worker, const struct activity_rules *rules,
                        struct bundle *next);

/* ---- what an outcome means ------------------------------------------------------------------- */

static void escalate(struct activity_worker *worker, enum escalation_reason reason)
{
    worker->state = ACTIVITY_WORKER_ESCALATE;
    worker->reason = (uint8_t)reason;
}

/* Where Leg2 goes on, from the GUID ledger alone (ACL-24, Rule C). */
static void resume(struct activity_worker *worker)
{
    switch (ledger_resume(worker->ledger)) {
    case LEDGER_NOTHING_DONE:
        worker->state = ACTIVITY_WORKER_STEP1;
        break;
    case LEDGER_WORK_IS_DONE:
        worker->state = ACTIVITY_WORKER_STEP2;
        break;
    case LEDGER_SPAWNED_JOB_ENDED:
        worker->state = ACTIVITY_WORKER_STEP3; /* whatever the semaphore says (ACL-25, ACL-44) */
        break;
    case LEDGER_SPAWNED_JOB_OPEN:
    case LEDGER_ALL_DONE:
        worker->state = ACTIVITY_WORKER_ACK;
        break;
    case LEDGER_RESUME_CORRUPT:
        escalate(worker, ESCALATED_CORRUPT);
        break;
    }
}

/* It holds the message that it has in hand. */
static void holds(struct activity_worker *worker)
{
    worker->held_until = column(worker, MESSAGE_VISIBLE_AT);
    worker->answered = 0;
    switch (column(worker, MESSAGE_KIND)) {
    case MESSAGE_LEG1:
        worker->state = ACTIVITY_WORKER_ENTER_LEG1;
        break;
    case MESSAGE_TASK:
        worker->state = ACTIVITY_WORKER_ANSWER;
        break;
    default:
        worker->state = ACTIVITY_WORKER_ENTER_LEG2;
    }
}

static void claimed(struct activity_worker *worker, const struct outcome *last)
{
    memcpy(worker->message, last->message, sizeof worker->message);
    holds(worker);
}

/* Its message is acked. A bundle that was skipped claimed nothing. */
static void went_on(struct activity_worker *worker, const struct outcome *last)
{
    *worker = activity_worker_begin();
    worker->now = last->now;
    if (last->skipped == 0 && last->message[0] != 0) {
        claimed(worker, last);
    }
}

static void entered_leg1(struct activity_worker *worker, const int64_t *values)
{
    if (ledger_get(values[LEG1_LEDGER], ACTIVITY_LEG1_COMPLETE) == 1) {
        worker->state =
            ACTIVITY_WORKER_ACK; /* stale: the marker before the ceiling (ACL-10, E-ACL-16) */
    } else if (values[LEG1_COUNTED] == 0) {
        escalate(worker, ESCALATED_LEG1_CEILING); /* ACL-6 */
    } else {
        worker->input = values[LEG1_INPUT];
        worker->state = ACTIVITY_WORKER_LEG1;
    }
}

static void entered_leg2(struct activity_worker *worker, const struct outcome *last)
{
    worker->ledger = last->values[LEG2_LEDGER];
    worker->dimension = last->values[LEG2_DIMENSION];
    worker->input = last->values[LEG2_INPUT];
    int64_t closed_by = last->values[LEG2_CLOSED_BY];
    bool answers = column(worker, MESSAGE_ANSWER) != ANSWER_CYCLES;
    if (last->values[LEG2_ANSWER] != column(worker, MESSAGE_ANSWER) ||
        last->values[LEG2_CONTENT] != column(worker, MESSAGE_CONTENT)) {
        escalate(worker, ESCALATED_CONTENT_CHANGED); /* E-ACL-21 */
    } else if (answers && closed_by != 0 && closed_by != column(worker, MESSAGE_GUID) &&
               ledger_resume(worker->ledger) == LEDGER_NOTHING_DONE) {
        worker->state = ACTIVITY_WORKER_ACK; /* counted, without steps (E-ACL-19) */
    } else {
        resume(worker);
    }
}

/* The message that the bundle publishes and keeps, its key first; NULL: none. */
static const int64_t *kept_message(const struct bundle *bundle)
{
    for (uint8_t i = 0; i < bundle->count; i++) {
        if (bundle->calls[i].primitive == PRIMITIVE_PUBLISH_HELD) {
            return &bundle->params[bundle->calls[i].params];
        }
    }
    return NULL;
}

/* Its message is acked, and it goes on with what it published for itself, which may be entered
 * already, or with what it claimed. */
static void carried_on(struct activity_worker *worker, const struct activity_rules *rules,
                       const struct outcome *last)
{
    struct bundle sent;
    next_bundle(worker, rules, &sent);
    const int64_t *kept = kept_message(&sent);
    went_on(worker, last);
    if (kept == NULL || last->skipped != 0) {
        return;
    }
    memcpy(worker->message, kept, (1 + MESSAGE_VISIBLE_AT) * sizeof *kept);
    worker->message[1 + MESSAGE_VISIBLE_AT] = last->values[CARRIED_UNTIL];
    worker->message[1 + MESSAGE_EPOCH] = 1;
    holds(worker);
    if (sent.name == BUNDLE_STEPS_ACK) {
        entered_leg1(worker, &last->values[CARRIED_LEG1]);
    } else if (sent.name == BUNDLE_ANSWER_ACK) {
        entered_leg2(worker, last);
    }
}

static void answered(struct activity_worker *worker, const struct activity_rules *rules,
                     const struct outcome *last)
{
    if (worker->answered < rules->graph->nodes[column(worker, MESSAGE_NODE)].pendings) {
        worker->answered++;
    } else if (rules->merged) {
        carried_on(worker, rules, last);
    } else {
        worker->answered++;
        worker->state = ACTIVITY_WORKER_ACK;
    }
}

/* The GUID's ledger as it now is, also if the step was skipped (E-ACL-26). Steps 1 and 2 that were
 * not skipped anywhere have acked their message. */
static void stepped(struct activity_worker *worker, const struct activity_rules *rules,
                    const struct outcome *last)
{
    bool acked = worker->state == ACTIVITY_WORKER_STEP3 ||
                 (worker->state == ACTIVITY_WORKER_STEP1 && last->skipped == 0);
    if (rules->merged && acked) {
        carried_on(worker, rules, last);
    } else {
        worker->ledger = last->values[STEP_LEDGER];
        resume(worker);
    }
}

static void read_leg2(struct activity_worker *worker, const struct outcome *last)
{
    worker->ledger = last->values[READ_LEDGER];
    worker->dimension = last->values[READ_DIMENSION];
    if (last->values[READ_KNOWN] == 0) {
        worker->state = ACTIVITY_WORKER_ENTER_LEG2;
    } else {
        resume(worker);
    }
}

static void committed(struct activity_worker *worker, const struct activity_rules *rules,
                      const struct outcome *last)
{
    switch ((enum activity_worker_state)worker->state) {
    case ACTIVITY_WORKER_IDLE:
        claimed(worker, last);
        break;
    case ACTIVITY_WORKER_ENTER_LEG1:
        entered_leg1(worker, last->values);
        break;
    case ACTIVITY_WORKER_LEG1:
    case ACTIVITY_WORKER_ACK:
        if (rules->merged) {
            carried_on(worker, rules, last);
        } else {
            worker->state =
                worker->state == ACTIVITY_WORKER_LEG1 ? ACTIVITY_WORKER_ACK : ACTIVITY_WORKER_IDLE;
        }
        break;
    case ACTIVITY_WORKER_READ_LEG1:
        worker->state = ledger_get(last->values[READ_LEDGER], ACTIVITY_LEG1_COMPLETE) == 1
                            ? ACTIVITY_WORKER_ACK
                            : ACTIVITY_WORKER_LEG1;
        break;
    case ACTIVITY_WORKER_ANSWER:
        answered(worker, rules, last);
        break;
    case ACTIVITY_WORKER_ENTER_LEG2:
        entered_leg2(worker, last);
        break;
    case ACTIVITY_WORKER_STEP1:
    case ACTIVITY_WORKER_STEP2:
    case ACTIVITY_WORKER_STEP3:
        stepped(worker, rules, last);
        break;
    case ACTIVITY_WORKER_READ_LEG2:
        read_leg2(worker, last);
        break;
    case ACTIVITY_WORKER_ESCALATE:
    case ACTIVITY_WORKER_PUT_BACK:
    case ACTIVITY_WORKER_STATE_COUNT:
        worker->state = ACTIVITY_WORKER_IDLE;
        break;
    }
}

static void refused_entry(struct activity_worker *worker, enum refusal refusal)
{
    if (refusal == REFUSED_NO_ROW) {
        worker->state = ACTIVITY_WORKER_ACK; /* the job is gone: E-ACL-29 */
    } else if (refusal == REFUSED_TOO_EARLY) {
        worker->state = ACTIVITY_WORKER_PUT_BACK; /* ACL-45, E-ACL-20 */
    } else if (refusal == REFUSED_CEILING) {
        escalate(worker, ESCALATED_LEG2_CEILING); /* ACL-7 */
    } else if (refusal == REFUSED_ATTEMPTS) {
        escalate(worker, ESCALATED_ATTEMPTS_CEILING); /* ACL-15 */
    } else {
        escalate(worker, ESCALATED_CONFLICT);
    }
}

/* Another worker did meanwhile what this message was given up for: it is entered again, and finds
 * that nothing is owed (E-ACL-31). */
static void refused_escalation(struct activity_worker *worker, enum refusal refusal)
{
    if (refusal != REFUSED_DONE) {
        worker->state =
            ACTIVITY_WORKER_IDLE; /* the job is gone: the next entry says so (E-ACL-29) */
    } else {
        worker->state = column(worker, MESSAGE_KIND) == MESSAGE_LEG1 ? ACTIVITY_WORKER_ENTER_LEG1
                                                                     : ACTIVITY_WORKER_ENTER_LEG2;
    }
}

/* What came with an answer to its Leg2 was refused for Leg2's reasons: then it is answered first,
 * and entered apart. */
static void refused_answer(struct activity_worker *worker, enum refusal refusal)
{
    bool entry = refusal == REFUSED_NO_ROW || refusal == REFUSED_TOO_EARLY ||
                 refusal == REFUSED_CEILING || refusal == REFUSED_ATTEMPTS;
    if (refusal == REFUSED_NO_PARENT) {
        worker->state = ACTIVITY_WORKER_ACK; /* the job is gone: E-ACL-29 */
    } else if (entry && worker->apart == 0) {
        worker->apart = 1;
    } else {
        escalate(worker, ESCALATED_CONFLICT);
    }
}

static void refused(struct activity_worker *worker, enum refusal refusal)
{
    if (refusal == REFUSED_EPOCH) {
        worker->state = ACTIVITY_WORKER_IDLE; /* the claim is lost (E-ACL-11) */
        return;
    }
    switch ((enum activity_worker_state)worker->state) {
    case ACTIVITY_WORKER_ENTER_LEG1:
    case ACTIVITY_WORKER_ENTER_LEG2:
        refused_entry(worker, refusal);
        break;
    case ACTIVITY_WORKER_STEP1:
    case ACTIVITY_WORKER_STEP2:
        escalate(worker, refusal == REFUSED_NEGATIVE ? ESCALATED_SEMAPHORE_REFUSED
                                                     : ESCALATED_CONFLICT); /* E-ACL-19 */
        break;
    case ACTIVITY_WORKER_ANSWER:
        refused_answer(worker, refusal);
        break;
    case ACTIVITY_WORKER_LEG1:
    case ACTIVITY_WORKER_STEP3:
    case ACTIVITY_WORKER_READ_LEG1:
    case ACTIVITY_WORKER_READ_LEG2:
        escalate(worker, ESCALATED_CONFLICT);
        break;
    case ACTIVITY_WORKER_ESCALATE:
        refused_escalation(worker, refusal);
        break;
    case ACTIVITY_WORKER_IDLE:
    case ACTIVITY_WORKER_ACK:
    case ACTIVITY_WORKER_PUT_BACK:
    case ACTIVITY_WORKER_STATE_COUNT:
        worker->state =
            ACTIVITY_WORKER_IDLE; /* nothing to claim, or the claim is lost (E-ACL-11) */
    }
}

/* Never assumed, always resolved (E-ACL-13): a step by reading its ledger; an entry, an answer, an
 * ack and an escalation by asking again, because each of them tells what it finds (E-ACL-32). */
static void unknown(struct activity_worker *worker)
{
    switch ((enum activity_worker_state)worker->state) {
    case ACTIVITY_WORKER_LEG1:
        worker->state = ACTIVITY_WORKER_READ_LEG1;
        break;
    case ACTIVITY_WORKER_STEP1:
    case ACTIVITY_WORKER_STEP2:
    case ACTIVITY_WORKER_STEP3:
        worker->state = ACTIVITY_WORKER_READ_LEG2;
        break;
    case ACTIVITY_WORKER_PUT_BACK:
        worker->state = ACTIVITY_WORKER_IDLE; /* it comes again either way */
        break;
    case ACTIVITY_WORKER_IDLE:
    case ACTIVITY_WORKER_ENTER_LEG1:
    case ACTIVITY_WORKER_ENTER_LEG2:
    case ACTIVITY_WORKER_READ_LEG1:
    case ACTIVITY_WORKER_READ_LEG2:
    case ACTIVITY_WORKER_ANSWER:
    case ACTIVITY_WORKER_ACK:
    case ACTIVITY_WORKER_ESCALATE:
    case ACTIVITY_WORKER_STATE_COUNT:
        break;
    }
}

static void tried(struct activity_worker *worker, bool is_unknown)
{
    worker->tries++;
    if (worker->tries > ACTIVITY_TRIES_MAX) {
        *worker = activity_worker_begin(); /* the claim lapses (N3) */
    } else if (is_unknown) {
        unknown(worker);
    }
}

/* Finding out where things stand, like keeping the claim, is no step forward: it does not start the
 * count of tries anew, else a step that never succeeds would be tried for ever. */
static bool reads(const struct activity_worker *worker)
{
    return worker->state == ACTIVITY_WORKER_READ_LEG1 || worker->state == ACTIVITY_WORKER_READ_LEG2;
}

/* Steps are guarded by markers alone, so a claim that could not be extended ends the work early
 * only because another worker is at it (E-ACL-11). */
static void extended(struct activity_worker *worker, const struct outcome *last)
{
    worker->extending = 0;
    if (last->kind == OUTCOME_COMMITTED) {
        worker->held_until = last->values[0];
    } else if (last->kind == OUTCOME_REFUSED) {
        *worker = activity_worker_begin();
    } else {
        tried(worker, false);
    }
}

struct activity_worker activity_worker_begin(void)
{
    return (struct activity_worker){.state = ACTIVITY_WORKER_IDLE};
}

void activity_worker_check(const struct activity_worker *worker)
{
    CHECK(worker->state < ACTIVITY_WORKER_STATE_COUNT);
    bool idle = worker->state == ACTIVITY_WORKER_IDLE;
    CHECK(!idle ||
          (worker->message[0] == 0 && worker->ledger == 0 && worker->held_until == 0 &&
           worker->answered == 0 && worker->tries == 0 && worker->extending == 0)); /* N1 */
    CHECK(worker->tries <= ACTIVITY_TRIES_MAX);                                     /* N3 */
}

void activity_worker_take(struct activity_worker *worker, const struct activity_rules *rules,
                          const struct outcome *last)
{
    worker->now = last->now;
    if (worker->extending) {
        extended(worker, last);
        return;
    }
    switch ((enum outcome_kind)last->kind) {
    case OUTCOME_COMMITTED:
        if (!reads(worker)) {
            worker->tries = 0;
        }
        committed(worker, rules, last);
        break;
    case OUTCOME_REFUSED:
        worker->tries = 0;
        refused(worker, (enum refusal)last->refusal);
        break;
    case OUTCOME_ABORTED:
        tried(worker, false);
        break;
    case OUTCOME_UNKNOWN:
        tried(worker, true);
        break;
    case OUTCOME_NONE:
        break;
    }
    if (worker->state == ACTIVITY_WORKER_IDLE) {
        *worker = activity_worker_begin(); /* N1 */
    }
}

/* ---- the next bundle ------------------------------------------------------------------------- */

static void append_ack(const struct activity_worker *worker, struct bundle *next)
{
    BUNDLE_CALL(next, PRIMITIVE_ACK, CALL_REQUIRE, 0, worker->message[0],
                column(worker, MESSAGE_EPOCH), column(worker, MESSAGE_CONTENT));
}

/* What merged bundles end with, unless the worker has something to go on with. */
static void append_claim_next(const struct activity_rules *rules, struct bundle *next)
{
    if (rules->merged && kept_message(next) == NULL) {
        BUNDLE_CALL(next, PRIMITIVE_CLAIM_NEXT, CALL_PLAIN, 0, rules->timeout);
    }
}

/* A bundle that ends its message by whatever it finds, under either of its names. */
static void begin_last(const struct activity_worker *worker, const struct activity_rules *rules,
                       struct bundle *next, enum bundle_name literal, enum bundle_name merged)
{
    bundle_begin(next, rules->merged ? merged : literal);
    if (rules->merged) {
        append_ack(worker, next);
    }
}

/* The data that came along the edge: the job's input, or what the source stored in the dimension
 * that the message names. */
static void append_read_input(const struct activity_worker *worker, struct bundle *next, int values)
{
    int64_t source = column(worker, MESSAGE_SOURCE);
    if (source == 0) {
        BUNDLE_CALL(next, PRIMITIVE_READ_INPUT, CALL_PLAIN, values, column(worker, MESSAGE_JOB));
    } else {
        BUNDLE_CALL(next, PRIMITIVE_READ_OUTPUT, CALL_PLAIN, values,
                    identity_mint(source, IDENTITY_DIMENSION + column(worker, MESSAGE_DIMENSION)));
    }
}

static void append_mark_activity(const struct activity_worker *worker, struct bundle *next,
                                 enum ledger_field field, enum call_mode mode, int values)
{
    BUNDLE_CALL(next, PRIMITIVE_MARK_ACTIVITY, mode, values, column(worker, MESSAGE_ACTIVITY),
                weight(field));
}

static void append_mark_guid(const struct activity_worker *worker, struct bundle *next,
                             enum ledger_field field)
{
    BUNDLE_CALL(next, PRIMITIVE_MARK_GUID, CALL_UNLESS_DONE, STEP_LEDGER,
                column(worker, MESSAGE_GUID), weight(field));
}

/* A message: its key, then what is common to all that one worker publishes. The caller fills in the
 * rest. `kept`: as one that the worker has claimed. */
static int64_t *append_message(const struct activity_worker *worker,
                               const struct activity_rules *rules, struct bundle *next,
                               enum call_mode mode, int64_t key, enum message_kind kind, bool kept)
{
    int64_t *p;
    if (kept) {
        p = bundle_append(next, PRIMITIVE_PUBLISH_HELD, mode, CARRIED_UNTIL);
        p[0] = key;
        p[1 + MESSAGE_KIND] = kind;
        p[1 + MESSAGE_VISIBLE_AT] = rules->timeout;
        p++;
    } else {
        p = bundle_publish(next, mode, key, kind) + 1;
    }
    p[MESSAGE_JOB] = column(worker, MESSAGE_JOB);
    p[MESSAGE_ACTIVITY] = column(worker, MESSAGE_ACTIVITY);
    p[MESSAGE_NODE] = column(worker, MESSAGE_NODE);
    p[MESSAGE_GUID] = 0;
    p[MESSAGE_SOURCE] = column(worker, MESSAGE_SOURCE);
    p[MESSAGE_DIMENSION] = column(worker, MESSAGE_DIMENSION);
    p[MESSAGE_ANSWER] = 0;
    p[MESSAGE_CONTENT] = 0;
    p[MESSAGE_PENDINGS] = 0;
    p[MESSAGE_ROUND] = column(worker, MESSAGE_ROUND);
    p[MESSAGE_HEAD] = column(worker, MESSAGE_HEAD);
    p[MESSAGE_SPAWNED_BY] = 0;
    return p;
}

static void append_enter_leg1(const struct activity_worker *worker, struct bundle *next, int values)
{
    const struct ledger_layout *entries = ledger_layout(ACTIVITY_LEG1_ENTRIES);
    BUNDLE_CALL(next, PRIMITIVE_ENTER_LEG1, CALL_PLAIN, values + LEG1_LEDGER,
                column(worker, MESSAGE_ACTIVITY), entries->weight, entries->ceiling + 1,
                entries->ceiling);
    append_read_input(worker, next, values + LEG1_INPUT);
}

static void next_enter_leg1(const struct activity_worker *worker, struct bundle *next)
{
    bundle_begin(next, BUNDLE_ENTER_LEG1);
    append_enter_leg1(worker, next, 0);
}

/* The worker as it will be when it holds the message that the bundle keeps. */
static struct activity_worker keeper(const struct bundle *bundle)
{
    struct activity_worker keeper = activity_worker_begin();
    memcpy(keeper.message, kept_message(bundle), (1 + MESSAGE_VISIBLE_AT) * sizeof *keeper.message);
    return keeper;
}

/* A task's answer: `k` pending, or closing. Its GUID is minted from the task, so that a worker that
 * runs twice answers under one GUID (E-ACL-7, E-ACL-21). */
static void append_answer(const struct activity_worker *worker, const struct activity_rules *rules,
                          struct bundle *next, int64_t input, int64_t answered, bool kept)
{
    uint16_t node = (uint16_t)column(worker, MESSAGE_NODE);
    int64_t pendings = rules->graph->nodes[node].pendings;
    bool closes = answered == pendings;
    int64_t role = closes ? IDENTITY_CLOSE : IDENTITY_PENDING + answered + 1;
    int64_t guid = identity_mint(task_id(worker), role);
    int64_t *p = append_message(worker, rules, next, CALL_UNLESS_DONE,
                                identity_mint(guid, IDENTITY_LEG2), MESSAGE_LEG2, kept);
    p[MESSAGE_GUID] = guid;
    p[MESSAGE_ANSWER] = closes ? ANSWER_CLOSES : answered + 1;
    p[MESSAGE_CONTENT] =
        closes ? graph_output(node, input) : graph_pending_output(node, input, answered + 1);
    p[MESSAGE_CONTENT] += worker->changed;
    p[MESSAGE_PENDINGS] = closes ? pendings : 0;
}

static void next_leg1(const struct activity_worker *worker, const struct activity_rules *rules,
                      struct bundle *next)
{
    begin_last(worker, rules, next, BUNDLE_LEG1, BUNDLE_LEG1_ACK);
    append_mark_activity(worker, next, ACTIVITY_LEG1_COMPLETE, CALL_UNLESS_DONE, LEG1_LEDGER);
    BUNDLE_CALL(next, PRIMITIVE_RECORD_TASK, CALL_PLAIN, 0, task_id(worker),
                column(worker, MESSAGE_ACTIVITY), worker->input);
    if (rules->direct) {
        int64_t pendings = rules->graph->nodes[column(worker, MESSAGE_NODE)].pendings;
        for (int64_t answered = 0; answered <= pendings; answered++) {
            append_answer(worker, rules, next, worker->input, answered, false);
            next->calls[next->count - 1].mode = CALL_REQUIRE;
        }
    } else {
        int64_t *p = append_message(worker, rules, next, CALL_REQUIRE,
                                    identity_mint(task_id(worker), IDENTITY_WORK), MESSAGE_TASK,
                                    rules->merged);
        p[MESSAGE_CONTENT] = worker->input;
    }
    append_claim_next(rules, next);
}

/* A closing answer waits for its pending answers, uncounted: a refusal takes the entry back
 * (E-ACL-20). After the entry, because the activity's row is locked before any GUID's (E-ACL-28),
 * and because at its ceiling there is nothing to wait for: whatever is not through is turned away,
 * too (ACL-7). */
static void append_require_pendings(const struct activity_worker *worker, struct bundle *next)
{
    for (int64_t k = 1; k <= column(worker, MESSAGE_PENDINGS); k++) {
        BUNDLE_CALL(next, PRIMITIVE_REQUIRE_MARK, CALL_REQUIRE, 0,
                    identity_mint(task_id(worker), IDENTITY_PENDING + k),
                    weight(GUID_CHILDREN_SPAWNED));
    }
}

static void append_enter_leg2(const struct activity_worker *worker, struct bundle *next)
{
    const struct ledger_layout *entries = ledger_layout(ACTIVITY_LEG2_ENTRIES);
    BUNDLE_CALL(next, PRIMITIVE_ENTER_LEG2, CALL_PLAIN, LEG2_LEDGER,
                column(worker, MESSAGE_ACTIVITY), column(worker, MESSAGE_GUID),
                column(worker, MESSAGE_ANSWER), column(worker, MESSAGE_CONTENT),
                weight(ACTIVITY_LEG1_COMPLETE), entries->ceiling + 1, entries->ceiling,
                entries->ceiling - 1);
    append_require_pendings(worker, next);
    BUNDLE_CALL(next, PRIMITIVE_READ_TASK, CALL_PLAIN, LEG2_CLOSED_BY, task_id(worker));
    if (column(worker, MESSAGE_ANSWER) == ANSWER_CYCLES) {
        append_read_input(worker, next, LEG2_INPUT);
    }
}

static void next_enter_leg2(const struct activity_worker *worker, struct bundle *next)
{
    bundle_begin(next, BUNDLE_ENTER_LEG2);
    append_enter_leg2(worker, next);
}

/* An answer that closes waits for its pending ones, if there are any, and then others go first. */
static void next_answer(const struct activity_worker *worker, const struct activity_rules *rules,
                        struct bundle *next)
{
    int64_t input = column(worker, MESSAGE_CONTENT);
    uint16_t pendings = rules->graph->nodes[column(worker, MESSAGE_NODE)].pendings;
    bool kept = rules->merged && pendings == 0 && worker->apart == 0;
    if (worker->answered < pendings) {
        bundle_begin(next, BUNDLE_ANSWER);
        append_answer(worker, rules, next, input, worker->answered, false);
        return;
    }
    begin_last(worker, rules, next, BUNDLE_ANSWER, BUNDLE_ANSWER_ACK);
    append_answer(worker, rules, next, input, worker->answered, kept);
    if (kept) {
        struct activity_worker after = keeper(next);
        append_enter_leg2(&after, next);
    }
    append_claim_next(rules, next);
}

/* What Step 1 stores and children receive. */
static int64_t output(const struct activity_worker *worker)
{
    return column(worker, MESSAGE_ANSWER) == ANSWER_CYCLES
               ? graph_output((uint16_t)column(worker, MESSAGE_NODE), worker->input)
               : column(worker, MESSAGE_CONTENT);
}

static void append_step1(const struct activity_worker *worker, struct bundle *next)
{
    append_mark_activity(worker, next, ACTIVITY_WORK_DONE, CALL_PLAIN, STEP_ACTIVITY);
    append_mark_guid(worker, next, GUID_WORK_DONE);
    BUNDLE_CALL(
        next, PRIMITIVE_RECORD_OUTPUT, CALL_PLAIN, 0,
        identity_mint(column(worker, MESSAGE_ACTIVITY), IDENTITY_DIMENSION + worker->dimension),
        column(worker, MESSAGE_ACTIVITY), worker->dimension, output(worker),
        column(worker, MESSAGE_GUID));
}

static void append_child(const struct activity_worker *worker, const struct activity_rules *rules,
                         struct bundle *next, uint16_t edge, bool kept)
{
    const struct graph *graph = rules->graph;
    uint16_t node = (uint16_t)column(worker, MESSAGE_NODE);
    uint16_t child = graph->edges[edge].to;
    int64_t guid = column(worker, MESSAGE_GUID);
    int64_t activity = identity_mint(guid, IDENTITY_EDGE + edge);
    BUNDLE_CALL(next, PRIMITIVE_ADD_ACTIVITY, CALL_REQUIRE, 0, activity,
                column(worker, MESSAGE_JOB), child,
                graph->nodes[child].preset_leg1 * weight(ACTIVITY_LEG1_ENTRIES), guid);
    int64_t *p = append_message(worker, rules, next, CALL_REQUIRE,
                                identity_mint(activity, IDENTITY_LEG1), MESSAGE_LEG1, kept);
    p[MESSAGE_ACTIVITY] = activity;
    p[MESSAGE_NODE] = child;
    p[MESSAGE_SOURCE] = column(worker, MESSAGE_ACTIVITY);
    p[MESSAGE_DIMENSION] = worker->dimension;
    p[MESSAGE_SPAWNED_BY] = guid;
    if (graph->nodes[node].heads_cycle) {
        p[MESSAGE_HEAD] = column(worker, MESSAGE_ACTIVITY);
    }
}

/* A cycle edge publishes a Leg2 message to the ancestor that is there already (E-ACL-22). */
static void append_cycle(const struct activity_worker *worker, const struct activity_rules *rules,
                         struct bundle *next, uint16_t edge)
{
    const struct graph *graph = rules->graph;
    bool to_itself = graph->edges[edge].to == column(worker, MESSAGE_NODE);
    int64_t guid = identity_mint(column(worker, MESSAGE_GUID), IDENTITY_EDGE + edge);
    int64_t *p = append_message(worker, rules, next, CALL_REQUIRE,
                                identity_mint(guid, IDENTITY_LEG2), MESSAGE_LEG2, false);
    p[MESSAGE_ACTIVITY] =
        to_itself ? column(worker, MESSAGE_ACTIVITY) : column(worker, MESSAGE_HEAD);
    p[MESSAGE_NODE] = graph->edges[edge].to;
    p[MESSAGE_GUID] = guid;
    p[MESSAGE_SOURCE] = column(worker, MESSAGE_ACTIVITY);
    p[MESSAGE_DIMENSION] = worker->dimension;
    p[MESSAGE_ANSWER] = ANSWER_CYCLES;
    p[MESSAGE_ROUND] = column(worker, MESSAGE_ROUND) + 1;
    p[MESSAGE_SPAWNED_BY] = column(worker, MESSAGE_GUID);
}

/* Children along every edge that this answer takes; returns how many. */
static int64_t append_children(const struct activity_worker *worker,
                               const struct activity_rules *rules, struct bundle *next)
{
    const struct graph *graph = rules->graph;
    const struct graph_node *node = &graph->nodes[column(worker, MESSAGE_NODE)];
    int64_t answer = column(worker, MESSAGE_ANSWER) > 0 ? column(worker, MESSAGE_ANSWER) : 0;
    int64_t children = 0;
    for (uint16_t i = 0; i < node->edge_count; i++) {
        uint16_t edge = (uint16_t)(node->first_edge + i);
        if (!graph_takes(&graph->edges[edge], answer, output(worker),
                         column(worker, MESSAGE_ROUND))) {
            continue;
        }
        uint8_t first = next->count;
        if (graph->edges[edge].rounds == 0) {
            append_child(worker, rules, next, edge,
                         next->name == BUNDLE_STEPS_ACK && kept_message(next) == NULL);
        } else {
            append_cycle(worker, rules, next, edge);
        }
        children++;
        for (uint8_t call = first; call < next->count; call++) {
            next->calls[call].child = (uint8_t)children;
        }
    }
    return children;
}

/* One compound primitive, whatever it spawns (Rule D, ACL-27). */
static void append_step2(const struct activity_worker *worker, const struct activity_rules *rules,
                         struct bundle *next)
{
    bool pending = column(worker, MESSAGE_ANSWER) > 0;
    uint8_t first = next->count;
    append_mark_activity(worker, next, ACTIVITY_CHILDREN_SPAWNED, CALL_PLAIN, STEP_ACTIVITY);
    int64_t *p = bundle_append(next, PRIMITIVE_COLLATE, CALL_UNLESS_DONE, STEP_LEDGER);
    p[0] = column(worker, MESSAGE_GUID);
    p[1] = column(worker, MESSAGE_JOB);
    p[3] = weight(GUID_CHILDREN_SPAWNED);
    p[4] = weight(GUID_JOB_CLOSED);
    if (column(worker, MESSAGE_ANSWER) == ANSWER_CLOSES) {
        BUNDLE_CALL(next, PRIMITIVE_CLOSE_TASK, CALL_REQUIRE, 0, task_id(worker),
                    column(worker, MESSAGE_GUID));
    }
    p[2] = semaphore_delta(append_children(worker, rules, next), pending);
    bundle_join(next, first);
}

/* Steps 1 and 2 in one transaction. A worker whose Step 2 closed the job owes Step 3 and keeps the
 * message; any other acks it. */
static void next_steps(const struct activity_worker *worker, const struct activity_rules *rules,
                       struct bundle *next)
{
    bundle_begin(next, BUNDLE_STEPS_ACK);
    BUNDLE_CALL(next, PRIMITIVE_HOLD, CALL_REQUIRE, 0, worker->message[0],
                column(worker, MESSAGE_EPOCH));
    append_step1(worker, next);
    append_step2(worker, rules, next);
    BUNDLE_CALL(next, PRIMITIVE_STAYS_OPEN, CALL_UNLESS_DONE, 0, column(worker, MESSAGE_GUID),
                weight(GUID_JOB_CLOSED));
    append_ack(worker, next);
    if (kept_message(next) != NULL) {
        struct activity_worker after = keeper(next);
        append_enter_leg1(&after, next, CARRIED_LEG1);
    }
    append_claim_next(rules, next);
}

static void next_step1(const struct activity_worker *worker, const struct activity_rules *rules,
                       struct bundle *next)
{
    if (rules->merged) {
        next_steps(worker, rules, next);
    } else {
        bundle_begin(next, BUNDLE_STEP1);
        append_step1(worker, next);
    }
}

static void next_step2(const struct activity_worker *worker, const struct activity_rules *rules,
                       struct bundle *next)
{
    bundle_begin(next, BUNDLE_STEP2);
    append_step2(worker, rules, next);
}

static void next_step3(const struct activity_worker *worker, const struct activity_rules *rules,
                       struct bundle *next)
{
    begin_last(worker, rules, next, BUNDLE_STEP3, BUNDLE_STEP3_ACK);
    append_mark_activity(worker, next, ACTIVITY_JOB_TASKS_DONE, CALL_PLAIN, STEP_ACTIVITY);
    append_mark_guid(worker, next, GUID_JOB_TASKS_DONE);
    BUNDLE_CALL(next, PRIMITIVE_RECORD_COMPLETION, CALL_PLAIN, 0,
                identity_mint(column(worker, MESSAGE_JOB), column(worker, MESSAGE_GUID)),
                column(worker, MESSAGE_JOB), column(worker, MESSAGE_GUID));
    append_claim_next(rules, next);
}

/* What is given up must still be owed: the ceiling was seen by another transaction (E-ACL-31). */
static void append_still_owed(const struct activity_worker *worker, struct bundle *next)
{
    if (worker->reason == ESCALATED_LEG1_CEILING) {
        BUNDLE_CALL(next, PRIMITIVE_REQUIRE_UNMARKED, CALL_REQUIRE, 0,
                    column(worker, MESSAGE_ACTIVITY), weight(ACTIVITY_LEG1_COMPLETE));
    } else if (worker->reason == ESCALATED_ATTEMPTS_CEILING) {
        const struct ledger_layout *attempts = ledger_layout(GUID_ATTEMPTS);
        BUNDLE_CALL(next, PRIMITIVE_REQUIRE_STUCK, CALL_REQUIRE, 0, column(worker, MESSAGE_GUID),
                    attempts->ceiling + 1, attempts->ceiling, attempts->ceiling - 1);
    }
}

/* One transaction: message acked, job marked, escalation written (E-ACL-10). */
static void next_escalate(const struct activity_worker *worker, struct bundle *next)
{
    bundle_begin(next, BUNDLE_ESCALATE);
    append_ack(worker, next);
    append_still_owed(worker, next);
    BUNDLE_CALL(next, PRIMITIVE_ESCALATE_JOB, CALL_PLAIN, 0, column(worker, MESSAGE_JOB));
    BUNDLE_CALL(next, PRIMITIVE_RECORD_ESCALATION, CALL_PLAIN, 0,
                identity_mint(worker->message[0], IDENTITY_ESCALATION), column(worker, MESSAGE_JOB),
                worker->message[0], worker->reason);
}

static void next_hold(const struct activity_worker *worker, struct bundle *next,
                      enum bundle_name name, enum primitive_id primitive, int64_t ticks)
{
    bundle_begin(next, name);
    BUNDLE_CALL_OF(next, primitive, CALL_REQUIRE, 0, worker->message[0],
                   column(worker, MESSAGE_EPOCH), ticks);
}

static void next_read(struct bundle *next, enum primitive_id primitive, int64_t key)
{
    bundle_begin(next, BUNDLE_READ);
    BUNDLE_CALL_OF(next, primitive, CALL_PLAIN, READ_LEDGER, key);
}

/* Until half of the claim's life has gone by, as far as the worker knows. */
int64_t activity_worker_extends_in(const struct activity_worker *worker,
                                   const struct activity_rules *rules)
{
    return worker->held_until - rules->timeout / 2 + 1 - worker->now;
}

static bool should_extend(const struct activity_worker *worker, const struct activity_rules *rules)
{
    return worker->state != ACTIVITY_WORKER_IDLE && activity_worker_extends_in(worker, rules) <= 0;
}

static void next_bundle(const struct activity_worker *worker, const struct activity_rules *rules,
                        struct bundle *next)
{
    switch ((enum activity_worker_state)worker->state) {
    case ACTIVITY_WORKER_STATE_COUNT:
    case ACTIVITY_WORKER_IDLE:
        bundle_begin(next, BUNDLE_CLAIM);
        BUNDLE_CALL(next, PRIMITIVE_CLAIM, CALL_PLAIN, 0, rules->timeout);
        break;
    case ACTIVITY_WORKER_ENTER_LEG1:
        next_enter_leg1(worker, next);
        break;
    case ACTIVITY_WORKER_LEG1:
        next_leg1(worker, rules, next);
        break;
    case ACTIVITY_WORKER_READ_LEG1:
        next_read(next, PRIMITIVE_READ_ACTIVITY, column(worker, MESSAGE_ACTIVITY));
        break;
    case ACTIVITY_WORKER_ANSWER: /* the task itself is done between the two legs, and not in rows */
        next_answer(worker, rules, next);
        bundle_rests_on(next, task_id(worker), worker->message[0], column(worker, MESSAGE_EPOCH));
        break;
    case ACTIVITY_WORKER_ENTER_LEG2:
        next_enter_leg2(worker, next);
        break;
    case ACTIVITY_WORKER_STEP1:
        next_step1(worker, rules, next);
        break;
    case ACTIVITY_WORKER_STEP2:
        next_step2(worker, rules, next);
        break;
    case ACTIVITY_WORKER_STEP3:
        next_step3(worker, rules, next);
        break;
    case ACTIVITY_WORKER_READ_LEG2:
        next_read(next, PRIMITIVE_READ_GUID, column(worker, MESSAGE_GUID));
        break;
    case ACTIVITY_WORKER_ACK:
        bundle_begin(next, rules->merged ? BUNDLE_ACK_CLAIM : BUNDLE_ACK);
        append_ack(worker, next);
        append_claim_next(rules, next);
        break;
    case ACTIVITY_WORKER_ESCALATE:
        next_escalate(worker, next);
        break;
    case ACTIVITY_WORKER_PUT_BACK:
        next_hold(worker, next, BUNDLE_PUT_BACK, PRIMITIVE_PUT_BACK, rules->put_back);
        break;
    }
}

void activity_worker_next(struct activity_worker *worker, const struct activity_rules *rules,
                          struct bundle *next)
{
    if (should_extend(worker, rules)) {
        worker->extending = 1;
        next_hold(worker, next, BUNDLE_EXTEND, PRIMITIVE_EXTEND, rules->timeout);
    } else {
        next_bundle(worker, rules, next);
    }
}

/* ---- the client ------------------------------------------------------------------------------ */

int64_t activity_job_id(uint32_t job)
{
    return identity_mint(0, IDENTITY_JOB + (int64_t)job);
}

int64_t activity_job_input(uint32_t job)
{
    return 1000 + (int64_t)job;
}

int64_t activity_job_threshold(const struct activity_rules *rules, uint32_t job)
{
    return rules->thresholds[job % rules->threshold_count];
}

void activity_client_next(const struct client *client, const struct activity_rules *rules,
                          struct bundle *next)
{
    int64_t job = activity_job_id(client->job);
    int64_t activity = identity_mint(job, IDENTITY_TRIGGER);
    bundle_begin(next, BUNDLE_CREATE);
    BUNDLE_CALL(next, PRIMITIVE_CREATE_JOB, CALL_UNLESS_DONE, 0, job,
                activity_job_threshold(rules, client->job), activity_job_input(client->job));
    BUNDLE_CALL(next, PRIMITIVE_ADD_ACTIVITY, CALL_REQUIRE, 0, activity, job, 0,
                rules->graph->nodes[0].preset_leg1 * weight(ACTIVITY_LEG1_ENTRIES), 0);
    int64_t *p =
        bundle_publish(next, CALL_REQUIRE, identity_mint(activity, IDENTITY_LEG1), MESSAGE_LEG1);
    p[1 + MESSAGE_JOB] = job;
    p[1 + MESSAGE_ACTIVITY] = activity;
}
