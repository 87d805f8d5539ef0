#include "model/flow.h"

#include "model/identity.h"
#include "model/protocol.h"

#include <string.h>

_Static_assert(FLOW_STARTED == KEY_CHANGE_START + 1 && FLOW_ERRORED == KEY_CHANGE_ERROR + 1 &&
                   FLOW_COMPLETED == KEY_CHANGE_COMPLETE + 1 &&
                   FLOW_PAUSED == KEY_CHANGE_PAUSE + 1 && FLOW_HELD == KEY_CHANGE_HOLD + 1 &&
                   FLOW_RELEASED == KEY_CHANGE_RELEASE + 1 && FLOW_SKIPPED == KEY_CHANGE_SKIP + 1,
               "an event is a change, counted from 1");

static bool has(unsigned set, int member)
{
    return (set >> member & 1) != 0;
}

static uint16_t bit(int position)
{
    return (uint16_t)(1U << position);
}

/* ---- a shape --------------------------------------------------------------------------------- */

uint16_t flow_parents(const struct flow_shape *shape, int position)
{
    uint16_t parents = 0;
    for (int i = 0; i < shape->graph.count; i++) {
        parents |= has(shape->graph.next[i], position) ? bit(i) : 0;
    }
    return parents;
}

uint16_t flow_untaken(const struct flow_shape *shape, int position, int number)
{
    uint16_t untaken = 0;
    for (int child = 0; child < shape->graph.count; child++) {
        if (has(shape->graph.next[position], child) &&
            !has(shape->at[position].when[child], number)) {
            untaken |= bit(child);
        }
    }
    return untaken;
}

static bool is_join(const struct flow_shape *shape, int position)
{
    uint16_t parents = flow_parents(shape, position);
    return (parents & (parents - 1)) != 0;
}

/* An edge that may be left out although its child is not skipped then: nothing but a bit tells. */
static bool is_memo(const struct flow_book *book, const struct flow_shape *shape, int from, int to)
{
    return has(shape->graph.next[from], to) && is_join(shape, to) &&
           shape->at[from].when[to] != (1U << book->cases) - 1;
}

int flow_memos(const struct flow_book *book, const struct flow_shape *shape)
{
    int count = 0;
    for (int from = 0; from < shape->graph.count; from++) {
        for (int to = 0; to < shape->graph.count; to++) {
            count += is_memo(book, shape, from, to);
        }
    }
    return count;
}

/* Between the bits of FLOW_UNTAKEN, which count the memos, and the children of each activity. */
static void unpack(const struct flow_book *book, const struct flow_shape *shape, int64_t bits,
                   uint16_t untaken[KEY_ACTIVITIES_MAX])
{
    memset(untaken, 0, KEY_ACTIVITIES_MAX * sizeof *untaken);
    for (int from = 0; from < shape->graph.count; from++) {
        for (int to = 0; to < shape->graph.count; to++) {
            if (is_memo(book, shape, from, to)) {
                untaken[from] |= (bits & 1) != 0 ? bit(to) : 0;
                bits >>= 1;
            }
        }
    }
}

static int64_t pack(const struct flow_book *book, const struct flow_shape *shape, int position,
                    uint16_t untaken)
{
    int64_t bits = 0, next = 1;
    for (int from = 0; from < shape->graph.count; from++) {
        for (int to = 0; to < shape->graph.count; to++) {
            if (is_memo(book, shape, from, to)) {
                bits |= from == position && has(untaken, to) ? next : 0;
                next <<= 1;
            }
        }
    }
    return bits;
}

static bool is_done(enum key_digit digit)
{
    return digit == KEY_COMPLETED || digit == KEY_RELEASED;
}

static bool is_ready(const struct flow_shape *shape, const uint16_t *untaken, int64_t key,
                     int position)
{
    uint16_t parents = flow_parents(shape, position);
    bool live = false;
    for (int i = 0; i < shape->graph.count; i++) {
        enum key_digit digit = key_get(key, i);
        if (!has(parents, i)) {
            continue;
        }
        if (!is_done(digit) && digit != KEY_ERRORED && digit != KEY_SKIPPED) {
            return false;
        }
        live = live || (is_done(digit) && !has(untaken[i], position));
    }
    return live && key_get(key, position) == KEY_PENDING;
}

uint16_t flow_ready(const struct flow_shape *shape, const uint16_t untaken[KEY_ACTIVITIES_MAX],
                    int64_t key)
{
    uint16_t ready = 0;
    for (int i = 0; i < shape->graph.count; i++) {
        ready |= is_ready(shape, untaken, key, i) ? bit(i) : 0;
    }
    return ready;
}

/* ---- identities and messages ----------------------------------------------------------------- */

static int64_t place_id(int64_t flow, int position)
{
    return identity_mint(flow, IDENTITY_PLACE + position);
}

static void publish(struct bundle *next, int64_t flow, int position, enum flow_message kind)
{
    int64_t key = identity_mint(place_id(flow, position), IDENTITY_ORDER + kind);
    int64_t *p = bundle_publish(next, CALL_PLAIN, key, kind);
    p[1 + ORDER_FLOW] = flow;
    p[1 + ORDER_POSITION] = position;
}

static void record(struct bundle *next, enum primitive_id primitive, int64_t flow, int position,
                   enum key_change change, uint16_t untaken)
{
    BUNDLE_CALL_OF(next, primitive, CALL_PLAIN, 0,
                   identity_mint(place_id(flow, position), IDENTITY_EVENT + change), flow, position,
                   change + 1, untaken);
}

/* What the work of an activity comes to in a case, if nothing that it awaits fails. */
static enum key_change work_of(const struct flow_activity *activity, int number)
{
    return has(activity->errors, number)  ? KEY_CHANGE_ERROR
           : has(activity->holds, number) ? KEY_CHANGE_HOLD
                                          : KEY_CHANGE_COMPLETE;
}

/* Who begins a flow, and for whom. */
struct begun {
    int64_t flow;
    int shape, number;
    int64_t parent;
    int awaiter;
};

static void begin_flow(const struct flow_book *book, const struct begun *begun, struct bundle *next)
{
    const struct flow_shape *shape = &book->shape[begun->shape];
    int64_t initial = key_initial(shape->graph.count); /* KEY-9 */
    BUNDLE_CALL(next, PRIMITIVE_ADD_FLOW, CALL_UNLESS_DONE, 0, begun->flow, initial, begun->shape,
                begun->number, begun->parent, begun->awaiter);
    for (int i = 0; i < shape->graph.count; i++) {
        BUNDLE_CALL(next, PRIMITIVE_ADD_PLACE, CALL_REQUIRE, 0, place_id(begun->flow, i),
                    begun->flow, i, shape->graph.next[i], shape->at[i].awaits != 0,
                    work_of(&shape->at[i], begun->number) + 1,
                    flow_untaken(shape, i, begun->number));
    }
    for (int i = 0; i < shape->graph.count; i++) {
        if (flow_parents(shape, i) == 0) {
            publish(next, begun->flow, i, FLOW_RUN);
        }
    }
}

static void next_of_client(struct actor *actor, const struct rules *rules, struct bundle *next)
{
    const struct flow_book *book = RULES_OF(rules, flow_rules)->book;
    int number = (int)ACTOR_IS(actor, client)->job;
    bundle_begin(next, BUNDLE_BEGIN_FLOW);
    begin_flow(book,
               &(struct begun){.flow = identity_mint(0, IDENTITY_FLOW + number),
                               .number = number % book->cases},
               next);
}

/* ---- a worker: what it sends ----------------------------------------------------------------- */

static int64_t flow_of(const struct flow_worker *worker)
{
    return worker->message[1 + ORDER_FLOW];
}

static int position_of(const struct flow_worker *worker)
{
    return (int)worker->message[1 + ORDER_POSITION];
}

static const struct flow_shape *shape_of(const struct flow_worker *worker,
                                         const struct flow_book *book)
{
    return &book->shape[worker->flow[FLOW_SHAPE]];
}

static void send_start(const struct flow_worker *worker, const struct flow_book *book,
                       struct bundle *next)
{
    int position = position_of(worker);
    int64_t flow = flow_of(worker);
    int awaits = shape_of(worker, book)->at[position].awaits;
    bundle_begin(next, BUNDLE_START_KEY);
    BUNDLE_CALL(next, PRIMITIVE_START_KEY, CALL_REQUIRE, 0, flow, key_weight(position),
                key_expected(KEY_CHANGE_START), key_delta(KEY_CHANGE_START, position));
    record(next, PRIMITIVE_RECORD_EVENT, flow, position, KEY_CHANGE_START, 0);
    if (awaits != 0) {
        begin_flow(
            book,
            &(struct begun){.flow = identity_mint(place_id(flow, position), IDENTITY_AWAITED),
                            .shape = awaits - 1,
                            .number = (int)worker->flow[FLOW_CASE],
                            .parent = flow,
                            .awaiter = position},
            next);
    }
}

/* A change, and what it depends on and brings with it. */
struct judged {
    struct key_result result;
    uint16_t untaken; /* decided against by this change */
    uint16_t ready;   /* become ready with it */
    bool whole;       /* only on this very key */
};

/* Digits of others matter as soon as edges die or a join could become ready. */
static bool needs_whole_key(const struct flow_shape *shape, int position, enum key_change change,
                            uint16_t untaken)
{
    if (change == KEY_CHANGE_PAUSE || untaken != 0) {
        return true;
    }
    bool joins = false;
    for (int i = 0; i < shape->graph.count; i++) {
        joins = joins || (has(shape->graph.next[position], i) && is_join(shape, i));
    }
    bool kills = change == KEY_CHANGE_ERROR || change == KEY_CHANGE_RELEASE;
    return kills ? shape->graph.next[position] != 0 : change == KEY_CHANGE_COMPLETE && joins;
}

static struct judged judge(const struct flow_worker *worker, const struct flow_book *book)
{
    const struct flow_shape *shape = shape_of(worker, book);
    enum key_change change = (enum key_change)worker->change;
    int position = position_of(worker);
    bool decides = change == KEY_CHANGE_COMPLETE || change == KEY_CHANGE_HOLD;
    uint16_t untaken[KEY_ACTIVITIES_MAX];
    struct judged judged = {0};
    unpack(book, shape, worker->flow[FLOW_UNTAKEN], untaken);
    uint16_t before = flow_ready(shape, untaken, worker->flow[FLOW_KEY]);
    if (decides) {
        judged.untaken = flow_untaken(shape, position, (int)worker->flow[FLOW_CASE]);
        untaken[position] = judged.untaken;
    }
    judged.result =
        key_apply_skipping(&shape->graph, untaken, worker->flow[FLOW_KEY], position, change);
    judged.ready = flow_ready(shape, untaken, judged.result.key) & (uint16_t)~before;
    judged.whole = needs_whole_key(shape, position, change, judged.untaken);
    return judged;
}

static void append_pause(const struct flow_worker *worker, const struct judged *judged,
                         struct bundle *next)
{
    BUNDLE_CALL(next, PRIMITIVE_PAUSE_KEY, CALL_REQUIRE, 0, flow_of(worker), worker->flow[FLOW_KEY],
                judged->result.delta);
}

static void append_change(const struct flow_worker *worker, const struct flow_book *book,
                          const struct judged *judged, struct bundle *next)
{
    int position = position_of(worker);
    int64_t *p = bundle_append(next, PRIMITIVE_CHANGE_KEY, CALL_REQUIRE, 0);
    p[0] = flow_of(worker);
    p[1] = key_weight(position);
    p[2] = key_expected((enum key_change)worker->change);
    p[3] = judged->result.delta;
    p[4] = judged->whole ? worker->flow[FLOW_KEY] : 0;
    p[5] = pack(book, shape_of(worker, book), position, judged->untaken);
    p[6] = FLOW_ACTIVE;
    p[7] = identity_mint(p[0], IDENTITY_END);
    p[8] = worker->flow[FLOW_PARENT];
    p[9] = worker->flow[FLOW_AWAITER];
    p[10] = identity_mint(place_id(p[8], (int)p[9]), IDENTITY_ORDER + FLOW_RESUME);
    p[11] = FLOW_RESUME;
}

/* The orders that a change gives for its own activity. */
static void append_orders(const struct flow_worker *worker, const struct flow_book *book,
                          struct bundle *next)
{
    int position = position_of(worker);
    uint8_t pauses = shape_of(worker, book)->at[position].pauses;
    if (worker->change == KEY_CHANGE_COMPLETE && has(pauses, (int)worker->flow[FLOW_CASE])) {
        publish(next, flow_of(worker), position, FLOW_PAUSE);
    }
    if (worker->change == KEY_CHANGE_PAUSE || worker->change == KEY_CHANGE_HOLD) {
        publish(next, flow_of(worker), position, FLOW_RELEASE);
    }
}

static void send_change(const struct flow_worker *worker, const struct flow_book *book,
                        struct bundle *next)
{
    struct judged judged = judge(worker, book);
    enum key_change change = (enum key_change)worker->change;
    bundle_begin(next, change == KEY_CHANGE_PAUSE     ? BUNDLE_PAUSE_KEY
                       : change == KEY_CHANGE_RELEASE ? BUNDLE_RELEASE_KEY
                                                      : BUNDLE_FINISH_KEY);
    if (change == KEY_CHANGE_PAUSE) {
        append_pause(worker, &judged, next);
    } else {
        append_change(worker, book, &judged, next);
    }
    record(next, PRIMITIVE_RECORD_EVENT, flow_of(worker), position_of(worker), change,
           judged.untaken);
    for (int i = 0; i < KEY_ACTIVITIES_MAX; i++) {
        if (has(judged.result.skipped, i)) {
            record(next, PRIMITIVE_RECORD_SKIP, flow_of(worker), i, KEY_CHANGE_SKIP, 0);
        }
    }
    for (int i = 0; i < KEY_ACTIVITIES_MAX; i++) {
        if (has(judged.ready, i)) {
            publish(next, flow_of(worker), i, FLOW_RUN);
        }
    }
    append_orders(worker, book, next);
}

static void next_of_worker(struct actor *actor, const struct rules *rules, struct bundle *next)
{
    const struct flow_worker *worker = ACTOR_IS(actor, flow_worker);
    const struct flow_book *book = RULES_OF(rules, flow_rules)->book;
    switch ((enum flow_step)worker->step) {
    case FLOW_STEP_CLAIM:
        bundle_begin(next, BUNDLE_CLAIM);
        BUNDLE_CALL(next, PRIMITIVE_CLAIM, CALL_PLAIN, 0, rules->timeout);
        break;
    case FLOW_STEP_READ:
        bundle_begin(next, BUNDLE_READ);
        BUNDLE_CALL(next, PRIMITIVE_READ_FLOW, CALL_PLAIN, 0, flow_of(worker));
        break;
    case FLOW_STEP_START:
        send_start(worker, book, next);
        break;
    case FLOW_STEP_CHANGE:
        send_change(worker, book, next);
        if (worker->message[1 + ORDER_KIND] == FLOW_RUN) { /* the activity's own work */
            bundle_rests_on(next, place_id(flow_of(worker), position_of(worker)),
                            worker->message[0], worker->message[1 + MESSAGE_EPOCH]);
        }
        break;
    case FLOW_STEP_ACK:
        bundle_begin(next, BUNDLE_ACK);
        BUNDLE_CALL(next, PRIMITIVE_ACK, CALL_REQUIRE, 0, worker->message[0],
                    worker->message[1 + MESSAGE_EPOCH], worker->message[1 + MESSAGE_CONTENT]);
        break;
    }
    CHECK_ALL(flow_bundle_check(next));
}

/* A row that is there is locked; else one is inserted, or a row is only looked at. */
static bool locks(const struct op *op)
{
    return op->kind == OP_TEST || op->kind == OP_ADD || op->kind == OP_SET ||
           op->kind == OP_DELETE || op->kind == OP_CLAIM || op->kind == OP_ADVISORY;
}

void flow_bundle_check(const struct bundle *bundle)
{
    const struct op *first = NULL;
    bool inserted = false;
    for (uint8_t c = 0; c < bundle->count; c++) {
        const struct primitive *primitive = &primitive_table[bundle->calls[c].primitive];
        for (uint8_t o = 0; o < primitive->op_count; o++) {
            const struct op *op = &primitive->ops[o];
            first = first == NULL && locks(op) ? op : first;
            CHECK(!locks(op) || (c == 0 && !inserted));                                /* FL2 */
            CHECK(!locks(op) || (op->table == first->table && op->key == first->key)); /* FL2 */
            inserted = inserted || op->kind == OP_INSERT || op->kind == OP_RECORD;
        }
    }
}

/* ---- a worker: what it makes of an outcome --------------------------------------------------- */

/* How the activity's run ends: for one that awaits a flow, as that flow did. */
static enum key_change finish(const struct flow_worker *worker,
                              const struct flow_activity *activity)
{
    bool failed = worker->message[1 + ORDER_KIND] == FLOW_RESUME &&
                  key_in_error(worker->message[1 + ORDER_KEY]);
    return failed ? KEY_CHANGE_ERROR : work_of(activity, (int)worker->flow[FLOW_CASE]);
}

/* What the message asks for, if the digit still asks for it. */
static enum flow_step decide(struct flow_worker *worker, const struct flow_book *book)
{
    const struct flow_activity *activity = &shape_of(worker, book)->at[position_of(worker)];
    enum key_digit digit = key_get(worker->flow[FLOW_KEY], position_of(worker));
    enum flow_message kind = (enum flow_message)worker->message[1 + ORDER_KIND];
    if (kind == FLOW_RUN && digit == KEY_PENDING) {
        return FLOW_STEP_START;
    }
    bool suspended = kind == FLOW_RUN && activity->awaits != 0; /* E-KEY-9: it stays 8 */
    worker->change = (uint8_t)(kind == FLOW_PAUSE     ? KEY_CHANGE_PAUSE
                               : kind == FLOW_RELEASE ? KEY_CHANGE_RELEASE
                                                      : finish(worker, activity));
    bool possible = judge(worker, book).result.outcome == KEY_CHANGED;
    return possible && !suspended ? FLOW_STEP_CHANGE : FLOW_STEP_ACK;
}

static void let_go(struct flow_worker *worker)
{
    memset(worker, 0, sizeof *worker);
}

static void take_commit(struct flow_worker *worker, const struct flow_book *book,
                        const struct outcome *last)
{
    if (worker->step != FLOW_STEP_READ) { /* to find out where things stand is no step forward */
        worker->tries = 0;
    }
    switch ((enum flow_step)worker->step) {
    case FLOW_STEP_CLAIM:
        memcpy(worker->message, last->message, sizeof worker->message);
        worker->step = FLOW_STEP_READ;
        break;
    case FLOW_STEP_READ:
        memcpy(worker->flow, last->values, sizeof worker->flow);
        worker->step = (uint8_t)decide(worker, book);
        break;
    case FLOW_STEP_START:
        worker->step = FLOW_STEP_READ; /* for what it depends on may have moved, too */
        break;
    case FLOW_STEP_CHANGE:
        worker->step = FLOW_STEP_ACK;
        break;
    case FLOW_STEP_ACK:
        let_go(worker);
        break;
    }
}

void flow_check(const struct flow_worker *worker)
{
    CHECK(worker->step <= FLOW_STEP_ACK);
    CHECK(worker->step != FLOW_STEP_CLAIM || worker->message[0] == 0); /* FL1 */
    CHECK(worker->step != FLOW_STEP_CLAIM || worker->tries == 0);      /* FL1 */
    CHECK(worker->tries <= FLOW_TRIES_MAX);
}

/* A change that is refused, and one whose outcome is not known: the flow tells where it stands. */
static void take_of_worker(struct actor *actor, const struct rules *rules,
                           const struct outcome *last)
{
    struct flow_worker *worker = ACTOR_IS(actor, flow_worker);
    bool changes = worker->step == FLOW_STEP_START || worker->step == FLOW_STEP_CHANGE;
    if (last->kind == OUTCOME_COMMITTED) {
        take_commit(worker, RULES_OF(rules, flow_rules)->book, last);
        CHECK_ALL(flow_check(worker));
        return;
    }
    if (last->kind == OUTCOME_REFUSED) { /* another worker changed the flow, or has the claim */
        worker->tries = 0;
    }
    bool gives_up = last->kind == OUTCOME_REFUSED
                        ? !changes
                        : worker->step == FLOW_STEP_CLAIM || ++worker->tries > FLOW_TRIES_MAX;
    if (gives_up) {
        let_go(worker);
    } else if (changes) {
        worker->step = FLOW_STEP_READ;
    }
    CHECK_ALL(flow_check(worker));
}

static void begin_worker(struct actor *actor, const struct rules *rules, unsigned number)
{
    (void)rules, (void)number;
    let_go(ACTOR_IS(actor, flow_worker));
}

static bool worker_is_idle(const struct actor *actor)
{
    return ACTOR_IS(actor, flow_worker)->step == FLOW_STEP_CLAIM;
}

static int64_t worker_due(const struct actor *actor, const struct rules *rules,
                          const struct glance *glance)
{
    (void)rules;
    return worker_is_idle(actor) ? glance->next_message : glance->now;
}

static const int64_t *worker_message(const struct actor *actor)
{
    return ACTOR_IS(actor, flow_worker)->message;
}

const struct protocol protocol_flow = {
    .name = "key",
    PROTOCOL_SIZES(struct flow_worker, struct flow_rules),
    .family = CLAUSE_FAMILY_KEY,
    .tables = TABLE_SET(MESSAGE) | TABLE_SET(FLOW) | TABLE_SET(FLOW_PLACE) | TABLE_SET(FLOW_EVENT) |
              TABLE_SET(FLOW_END),
    .roles = {[FLOW_CLIENT] = {PROTOCOL_CLIENT, .next = next_of_client},
              [FLOW_WORKER] = {.name = "worker",
                               .begin = begin_worker,
                               .next = next_of_worker,
                               .take = take_of_worker,
                               .is_idle = worker_is_idle,
                               .due = worker_due,
                               .message = worker_message}},
};
