/* Components and fingerprints of the activity protocol (fingerprint.h). A component is an activity of
 * the run without faults: its row, its task, its GUIDs with their outputs, its messages, the
 * workers that hold one of them, and a completion that one of its GUIDs did. */
#include "sim/activity_fingerprint.h"
#include "model/activity_engine.h"

#include "model/check.h"

#include <stdlib.h>
#include <string.h>

#define GUIDS_MAX    256
#define CONTENTS_MAX 256
#define HEAD_CEILING 900      /* of 999 Leg1 entries: near enough to affect a decision */
#define COUNT_NEAR   99999000 /* of 99,999,999 */
#define EPOCHS_TOLD  8        /* claims of one message that are distinguished */

/* Index of the run without faults. */
struct known {
    const struct rows *rows;         /* that the run left */
    bool small;                      /* it is small enough for the tables */
    uint64_t guid_what[GUIDS_MAX];   /* by slot: which of its activity's GUIDs it is */
    uint32_t guid_output[GUIDS_MAX]; /* by slot: the OUTPUT row that it wrote, or ROW_NONE */
    struct content {                 /* by slot of the world searched: a cache */
        struct fingerprint_share share;
        int64_t message[1 + MESSAGE_VISIBLE_AT];
        int64_t dimension; /* of the GUID that published it */
    } contents[CONTENTS_MAX];
};

static const struct rows *rows_of(const struct fingerprint *same)
{
    return &same->run->world.rows;
}

static const struct known *known_of(const struct fingerprint *same)
{
    return same->own;
}

/* ---- places ---------------------------------------------------------------------------------- */

/* 0: the activity is not in the run without faults. */
static uint32_t place_of_activity(const struct fingerprint *same, int64_t activity)
{
    uint32_t slot = row_find(known_of(same)->rows, TABLE_ACTIVITY, activity);
    return slot == ROW_NONE || !known_of(same)->small ? 0 : slot + 1;
}

static bool locate(const struct fingerprint *same, int64_t id, uint32_t *place, uint64_t *what)
{
    const struct known *known = known_of(same);
    uint32_t guid = row_find(known->rows, TABLE_GUID, id);
    if (guid != ROW_NONE && known->small) {
        *place = place_of_activity(same, row_get(known->rows, TABLE_GUID, guid, GUID_ACTIVITY));
        *what = known->guid_what[guid];
        return true;
    }
    *place = place_of_activity(same, id);
    *what = 0;
    return *place != 0;
}

/* The shape of an activity with its subtree: equal for nodes that differ in name and number only.
 * Nodes whose edges depend on data or lead back equal no other. */
static uint64_t shape_of(const struct graph *graph, uint16_t number)
{
    const struct graph_node *node = &graph->nodes[number];
    uint64_t hash = fingerprint_mix(node->pendings, (uint64_t)node->preset_leg1);
    hash = fingerprint_mix(hash, (uint64_t)node->preset_leg2);
    uint64_t children = 0;
    for (uint16_t e = node->first_edge; e < node->first_edge + node->edge_count; e++) {
        const struct graph_edge *edge = &graph->edges[e];
        bool plain = edge->condition == GRAPH_ALWAYS && edge->rounds == 0;
        uint64_t below = plain ? shape_of(graph, edge->to) : (uint64_t)e << 32;
        children += fingerprint_finish(fingerprint_mix(below, edge->answer));
    }
    return fingerprint_finish(
        fingerprint_mix(hash, children + (node->heads_cycle ? number + 1 : 0)));
}

static void make_place(struct fingerprint *same, uint32_t slot)
{
    const struct known *known = known_of(same);
    const struct graph *graph = RULES_OF(&same->run->rules, activity_rules)->graph;
    int64_t spawned_by = row_get(known->rows, TABLE_ACTIVITY, slot, ACTIVITY_SPAWNED_BY);
    uint32_t guid = row_find(known->rows, TABLE_GUID, spawned_by);
    struct fingerprint_place *place = &same->places[slot + 1];
    bool exchangeable = (same->reductions & REDUCE_SIBLINGS) != 0 && guid != ROW_NONE;
    place->parent =
        guid == ROW_NONE
            ? 0
            : place_of_activity(same, row_get(known->rows, TABLE_GUID, guid, GUID_ACTIVITY));
    CHECK(place->parent <= slot);
    uint16_t node = (uint16_t)row_get(known->rows, TABLE_ACTIVITY, slot, ACTIVITY_NODE);
    place->salt =
        exchangeable ? fingerprint_mix(shape_of(graph, node), known->guid_what[guid]) : slot + 1;
}

/* Gives conditional children a shape of their own. Only unconditional children are exchangeable,
 * and shape_of sees the condition at the parent's edge, not at the child. */
static void set_apart(struct fingerprint *same, uint32_t slot)
{
    const struct graph *graph = RULES_OF(&same->run->rules, activity_rules)->graph;
    uint16_t node = (uint16_t)row_get(known_of(same)->rows, TABLE_ACTIVITY, slot, ACTIVITY_NODE);
    for (uint16_t e = 0; e < graph->edge_count; e++) {
        const struct graph_edge *edge = &graph->edges[e];
        if (edge->to == node && edge->rounds == 0 && edge->condition != GRAPH_ALWAYS) {
            same->places[slot + 1].salt = slot + 1;
        }
    }
}

/* Sets the components whose transactions may name rows of a component: itself; where the graph has
 * cycles, also those above and below it. */
static void make_near(struct fingerprint *same)
{
    const struct graph *graph = RULES_OF(&same->run->rules, activity_rules)->graph;
    bool cycles = false;
    for (uint16_t e = 0; e < graph->edge_count; e++) {
        cycles = cycles || graph->edges[e].rounds > 0;
    }
    for (uint32_t p = 1; p < same->place_count; p++) {
        same->places[p].near |= UINT64_C(1) << p;
        for (uint32_t q = same->places[p].parent; cycles && q > 0; q = same->places[q].parent) {
            same->places[p].near |= UINT64_C(1) << q;
            same->places[q].near |= UINT64_C(1) << p;
        }
    }
}

static bool make(struct fingerprint *same)
{
    const struct rows *rows = &same->run->crash_free.rows;
    uint32_t activities = rows->table[TABLE_ACTIVITY].used, guids = rows->table[TABLE_GUID].used;
    struct known *known = calloc(1, sizeof *known);
    same->own = known;
    if (known == NULL) {
        return false;
    }
    bool small = activities < FINGERPRINT_PLACES_MAX && guids <= GUIDS_MAX;
    known->rows = rows;
    known->small = small;
    for (uint32_t g = 0; small && g < guids; g++) {
        int64_t activity = row_get(rows, TABLE_GUID, g, GUID_ACTIVITY);
        known->guid_what[g] = 1;
        known->guid_output[g] = ROW_NONE;
        for (uint32_t before = 0; before < g; before++) {
            known->guid_what[g] += row_get(rows, TABLE_GUID, before, GUID_ACTIVITY) == activity;
        }
    }
    for (uint32_t o = 0; small && o < rows->table[TABLE_OUTPUT].used; o++) {
        known
            ->guid_output[row_find(rows, TABLE_GUID, row_get(rows, TABLE_OUTPUT, o, OUTPUT_GUID))] =
            o;
    }
    same->place_count = small ? 1 + activities : 1;
    for (uint32_t slot = 0; small && slot < activities; slot++) {
        make_place(same, slot);
        set_apart(same, slot);
    }
    make_near(same);
    return true;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* A ledger, with or without its counters. */
static uint64_t ledger(struct fingerprint *same, int64_t value, bool of_guid)
{
    if ((same->reductions & REDUCE_COUNTERS) == 0 || value < 0 ||
        value > INT64_C(999999999999999)) {
        return (uint64_t)value;
    }
    int64_t head = value / INT64_C(1000000000000), count = value % 100000000;
    same->saturated = same->saturated || (!of_guid && head > HEAD_CEILING) || count > COUNT_NEAR;
    return (uint64_t)(value / 100000000 % 10000 + (of_guid ? head * 10000 : 0));
}

static bool equals(const struct fingerprint *same, enum row_table table, uint32_t slot,
                   uint32_t expected, int column)
{
    return row_get(rows_of(same), table, slot, column) ==
           row_get(known_of(same)->rows, table, expected, column);
}

static struct fingerprint_share at(uint32_t place, uint64_t hash)
{
    return (struct fingerprint_share){.hash = fingerprint_finish(hash), .place = place};
}

static struct fingerprint_share activity_row(struct fingerprint *same, uint32_t slot,
                                             uint32_t expected)
{
    int64_t value = row_get(rows_of(same), TABLE_ACTIVITY, slot, ACTIVITY_LEDGER);
    for (int c = 0; c < ACTIVITY_COLUMNS; c++) {
        if (c != ACTIVITY_LEDGER && !equals(same, TABLE_ACTIVITY, slot, expected, c)) {
            return fingerprint_raw_row(same, TABLE_ACTIVITY, slot);
        }
    }
    return at(expected + 1, fingerprint_mix(UINT64_C(0xAC7), ledger(same, value, false)));
}

static struct fingerprint_share task_row(struct fingerprint *same, uint32_t slot, uint32_t expected)
{
    const struct rows *rows = rows_of(same);
    bool closed = row_get(rows, TABLE_TASK, slot, TASK_CLOSED) != 0;
    if (!equals(same, TABLE_TASK, slot, expected, TASK_ACTIVITY) ||
        !equals(same, TABLE_TASK, slot, expected, TASK_INPUT) ||
        (closed && !equals(same, TABLE_TASK, slot, expected, TASK_CLOSED))) {
        return fingerprint_raw_row(same, TABLE_TASK, slot);
    }
    uint64_t hash = fingerprint_mix(UINT64_C(0x7A5), closed);
    hash = fingerprint_mix(hash, (uint64_t)row_get(rows, TABLE_TASK, slot, TASK_RUNS));
    return at(place_of_activity(same, row_get(rows, TABLE_TASK, slot, TASK_ACTIVITY)), hash);
}

/* The rank of a dimension among those of the activity; -1: it is not above all earlier ones, as it
 * should be, and counts by its value. */
static int64_t rank_of_dimension(const struct fingerprint *same, uint32_t slot)
{
    const struct rows *rows = rows_of(same);
    int64_t activity = row_get(rows, TABLE_GUID, slot, GUID_ACTIVITY), rank = 0;
    int64_t dimension = row_get(rows, TABLE_GUID, slot, GUID_DIMENSION);
    for (uint32_t g = 0; g < slot; g++) {
        if (row_get(rows, TABLE_GUID, g, GUID_ACTIVITY) == activity) {
            if (row_get(rows, TABLE_GUID, g, GUID_DIMENSION) >= dimension) {
                return -1;
            }
            rank++;
        }
    }
    return rank;
}

static struct fingerprint_share guid_row(struct fingerprint *same, uint32_t slot, uint32_t expected)
{
    const struct rows *rows = rows_of(same);
    int64_t dimension = row_get(rows, TABLE_GUID, slot, GUID_DIMENSION);
    if ((same->reductions & REDUCE_COUNTERS) != 0) {
        dimension = rank_of_dimension(same, slot);
    }
    if (dimension < 0 || !equals(same, TABLE_GUID, slot, expected, GUID_ACTIVITY) ||
        !equals(same, TABLE_GUID, slot, expected, GUID_ANSWER) ||
        !equals(same, TABLE_GUID, slot, expected, GUID_CONTENT)) {
        return fingerprint_raw_row(same, TABLE_GUID, slot);
    }
    uint64_t hash = fingerprint_mix(UINT64_C(0x641D), known_of(same)->guid_what[expected]);
    hash = fingerprint_mix(hash, ledger(same, row_get(rows, TABLE_GUID, slot, GUID_LEDGER), true));
    return at(place_of_activity(same, row_get(rows, TABLE_GUID, slot, GUID_ACTIVITY)),
              fingerprint_mix(hash, (uint64_t)dimension));
}

/* The dimension that the GUID has; -1: there is no such GUID. */
static int64_t dimension_of(const struct fingerprint *same, int64_t guid)
{
    const struct rows *rows = rows_of(same);
    uint32_t slot = guid == 0 ? ROW_NONE : row_find(rows, TABLE_GUID, guid);
    return slot == ROW_NONE ? -1 : row_get(rows, TABLE_GUID, slot, GUID_DIMENSION);
}

static struct fingerprint_share output_row(struct fingerprint *same, uint32_t slot)
{
    const struct rows *rows = rows_of(same);
    const struct known *known = known_of(same);
    int64_t guid = row_get(rows, TABLE_OUTPUT, slot, OUTPUT_GUID);
    uint32_t of = row_find(known->rows, TABLE_GUID, guid);
    uint32_t expected = of == ROW_NONE ? ROW_NONE : known->guid_output[of];
    if (expected == ROW_NONE || !equals(same, TABLE_OUTPUT, slot, expected, OUTPUT_ACTIVITY) ||
        !equals(same, TABLE_OUTPUT, slot, expected, OUTPUT_VALUE) ||
        dimension_of(same, guid) != row_get(rows, TABLE_OUTPUT, slot, OUTPUT_DIMENSION)) {
        return fingerprint_raw_row(same, TABLE_OUTPUT, slot);
    }
    uint64_t hash = fingerprint_mix(UINT64_C(0x0077), known->guid_what[of]);
    hash = fingerprint_mix(hash, (uint64_t)row_get(rows, TABLE_OUTPUT, slot, OUTPUT_RUNS));
    return at(place_of_activity(same, row_get(rows, TABLE_OUTPUT, slot, OUTPUT_ACTIVITY)), hash);
}

static struct fingerprint_share completion_row(struct fingerprint *same, uint32_t slot)
{
    const struct rows *rows = rows_of(same);
    struct fingerprint_share share = {0};
    uint64_t what = 0;
    if (!locate(same, row_get(rows, TABLE_COMPLETION, slot, COMPLETION_GUID), &share.place,
                &what)) {
        return fingerprint_raw_row(same, TABLE_COMPLETION, slot);
    }
    uint64_t hash = fingerprint_mix(UINT64_C(0xC0DE), what);
    hash = fingerprint_mix(hash, (uint64_t)row_get(rows, TABLE_COMPLETION, slot, COMPLETION_JOB));
    hash = fingerprint_mix(hash, (uint64_t)row_get(rows, TABLE_COMPLETION, slot, COMPLETION_RUNS));
    return at(share.place, hash);
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Messages are given with their keys first. */

/* The message of the run without faults with the same kind, activity and GUID. It is acked since,
 * but its row can still be read. */
static const int64_t *expected_message(const struct fingerprint *same, const int64_t *message)
{
    const struct row_area *area = &known_of(same)->rows->table[TABLE_MESSAGE];
    for (uint32_t slot = 0; slot < area->used; slot++) {
        const int64_t *other = &area->cells[(size_t)slot * area->stride];
        if (other[1 + MESSAGE_KIND] == message[1 + MESSAGE_KIND] &&
            other[1 + MESSAGE_ACTIVITY] == message[1 + MESSAGE_ACTIVITY] &&
            other[1 + MESSAGE_GUID] == message[1 + MESSAGE_GUID]) {
            return other;
        }
    }
    return NULL;
}

/* Whether the key of a message matters, that is, whether a message and its copy differ. They do
 * where the same message may be published again, which then finds its key or not. A step is guarded
 * by its marker, but a task that runs again answers again, and a planted bug may do anything. */
static bool keys_matter(const struct fingerprint *same)
{
    return !RULES_OF(&same->run->rules, activity_rules)->direct || same->run->sabotage != NULL;
}

/* The content of a message, without its claims and its visibility. A message that a GUID published
 * must have that GUID's dimension, whatever it was in the run without faults; hash 0: some part of
 * it is not as expected. */
static struct fingerprint_share content_of(const struct fingerprint *same, const int64_t *message)
{
    const int64_t *expected = expected_message(same, message), *columns = &message[1];
    struct fingerprint_share share = {0};
    uint64_t guid = 0;
    if (expected == NULL || !known_of(same)->small) {
        return share;
    }
    for (int c = 0; c < MESSAGE_VISIBLE_AT; c++) {
        bool spawned = c == MESSAGE_DIMENSION && columns[MESSAGE_SPAWNED_BY] != 0;
        int64_t wanted =
            spawned ? dimension_of(same, columns[MESSAGE_SPAWNED_BY]) : expected[1 + c];
        if (columns[c] != wanted) {
            return share;
        }
    }
    if (columns[MESSAGE_GUID] != 0) {
        locate(same, columns[MESSAGE_GUID], &share.place, &guid);
    }
    uint64_t hash = fingerprint_mix(UINT64_C(0x3E55), (uint64_t)columns[MESSAGE_KIND]);
    hash = fingerprint_mix(hash, keys_matter(same) && message[0] != expected[0]);
    return at(place_of_activity(same, columns[MESSAGE_ACTIVITY]), fingerprint_mix(hash, guid));
}

/* The content by its values, without its claims: for a message with an unexpected part. */
static uint64_t strange_content(const int64_t *message)
{
    uint64_t hash = fingerprint_mix(UINT64_C(0x5712A46E), (uint64_t)message[0]);
    for (int c = 0; c < MESSAGE_VISIBLE_AT; c++) {
        hash = fingerprint_mix(hash, (uint64_t)message[1 + c]);
    }
    return hash;
}

static struct fingerprint_share message_content(const struct fingerprint *same,
                                                const int64_t *message)
{
    struct fingerprint_share share = content_of(same, message);
    return share.hash != 0 ? share : (struct fingerprint_share){.hash = strange_content(message)};
}

/* A cache of content_of by slot. It is invalid once another message takes the slot, or the
 * publishing GUID has another dimension. */
static struct fingerprint_share slot_content(const struct fingerprint *same, uint32_t slot,
                                             const int64_t *message)
{
    if (slot >= CONTENTS_MAX) {
        return message_content(same, message);
    }
    struct content *known = &((struct known *)same->own)->contents[slot];
    int64_t dimension = dimension_of(same, message[1 + MESSAGE_SPAWNED_BY]);
    if (known->share.hash == 0 || known->dimension != dimension ||
        memcmp(known->message, message, sizeof known->message) != 0) {
        memcpy(known->message, message, sizeof known->message);
        known->dimension = dimension;
        known->share = message_content(same, message);
    }
    return known->share;
}

/* The number of claims, up to EPOCHS_TOLD. It matters where a message may be published again
 * after its ack: claims then count from 1 again, and an earlier claim with the same count seems
 * to stand. */
static uint64_t told_epoch(const struct fingerprint *same, const int64_t *message)
{
    bool again = keys_matter(same) && message[1 + MESSAGE_KIND] != MESSAGE_LEG1;
    int64_t epoch = message[1 + MESSAGE_EPOCH];
    return !again || (same->reductions & REDUCE_COUNTERS) != 0 ? 0
           : epoch < EPOCHS_TOLD                               ? (uint64_t)epoch
                                                               : EPOCHS_TOLD;
}

static struct fingerprint_share message_row(const struct fingerprint *same, uint32_t slot)
{
    const struct row_area *area = &rows_of(same)->table[TABLE_MESSAGE];
    const int64_t *message = &area->cells[(size_t)slot * area->stride];
    struct fingerprint_share share = slot_content(same, slot, message);
    uint64_t ahead = (uint64_t)fingerprint_ahead(same, message[1 + MESSAGE_VISIBLE_AT]);
    uint64_t hash = fingerprint_mix(share.hash, told_epoch(same, message));
    return at(share.place, fingerprint_mix(hash, 1 + ahead));
}

/* ---- all rows -------------------------------------------------------------------------------- */

static struct fingerprint_share share_of_row(struct fingerprint *same, enum row_table table,
                                             uint32_t slot)
{
    uint32_t expected = row_find(known_of(same)->rows, table, row_key(rows_of(same), table, slot));
    if (!known_of(same)->small && table != TABLE_MESSAGE) {
        return fingerprint_raw_row(same, table, slot);
    }
    switch ((int)table) {
    case TABLE_MESSAGE:
        return message_row(same, slot);
    case TABLE_OUTPUT:
        return output_row(same, slot);
    case TABLE_COMPLETION:
        return completion_row(same, slot);
    case TABLE_ACTIVITY:
        if (expected != ROW_NONE) {
            return activity_row(same, slot, expected);
        }
        break;
    case TABLE_TASK:
        if (expected != ROW_NONE) {
            return task_row(same, slot, expected);
        }
        break;
    case TABLE_GUID:
        if (expected != ROW_NONE) {
            return guid_row(same, slot, expected);
        }
        break;
    default:
        break;
    }
    return fingerprint_raw_row(same, table, slot);
}

/* ---- workers --------------------------------------------------------------------------------- */

/* The remaining time of its claim; 1 if that has expired and no other worker got the message
 * meanwhile; 0: it is lost. Copies of a message may be exchanged, so it must be known which of two
 * workers with a copy each has the expired claim. */
static uint64_t holds(const struct fingerprint *same, const struct activity_worker *worker,
                      uint32_t slot)
{
    const struct rows *rows = rows_of(same);
    bool stands = slot != ROW_NONE && row_get(rows, TABLE_MESSAGE, slot, MESSAGE_EPOCH) ==
                                          worker->message[1 + MESSAGE_EPOCH];
    return !stands ? 0
                   : 1 + (uint64_t)fingerprint_ahead(
                             same, row_get(rows, TABLE_MESSAGE, slot, MESSAGE_VISIBLE_AT));
}

/* The input that it read, if it is still to be used. */
static uint64_t live_input(const struct fingerprint *same, const struct activity_worker *worker)
{
    const struct rows *rows = known_of(same)->rows;
    const int64_t *columns = &worker->message[1];
    bool in_leg1 =
        worker->state == ACTIVITY_WORKER_LEG1 || worker->state == ACTIVITY_WORKER_READ_LEG1;
    bool in_cycle = columns[MESSAGE_KIND] == MESSAGE_LEG2 &&
                    columns[MESSAGE_ANSWER] == ANSWER_CYCLES &&
                    worker->state != ACTIVITY_WORKER_ENTER_LEG2;
    if (!in_leg1 && !in_cycle) {
        return 0;
    }
    for (uint32_t t = 0; in_leg1 && t < rows->table[TABLE_TASK].used; t++) {
        if (row_get(rows, TABLE_TASK, t, TASK_ACTIVITY) == columns[MESSAGE_ACTIVITY] &&
            row_get(rows, TABLE_TASK, t, TASK_INPUT) == worker->input) {
            return 1;
        }
    }
    return (uint64_t)worker->input;
}

static bool is_in_steps(const struct activity_worker *worker)
{
    return worker->state == ACTIVITY_WORKER_STEP1 || worker->state == ACTIVITY_WORKER_STEP2 ||
           worker->state == ACTIVITY_WORKER_STEP3;
}

static struct fingerprint_share share_of_worker(struct fingerprint *same,
                                                const struct performer *performer)
{
    const struct activity_worker *worker = ACTOR_IS(&performer->actor, activity_worker);
    uint32_t slot = row_find(rows_of(same), TABLE_MESSAGE, worker->message[0]);
    struct fingerprint_share share = slot == ROW_NONE ? message_content(same, worker->message)
                                                      : slot_content(same, slot, worker->message);
    uint64_t hash = fingerprint_mix(share.hash, UINT64_C(0x3042));
    hash = fingerprint_mix(hash, (uint64_t)worker->apart << 40 | (uint64_t)worker->state << 32 |
                                     (uint64_t)worker->extending << 24 |
                                     (uint64_t)worker->tries << 16 |
                                     (uint64_t)worker->answered << 8 | worker->changed);
    hash = fingerprint_mix(hash, worker->state == ACTIVITY_WORKER_ESCALATE ? worker->reason : 0);
    hash = fingerprint_mix(hash, holds(same, worker, slot));
    hash = fingerprint_mix(hash, told_epoch(same, worker->message));
    hash = fingerprint_mix(hash, (uint64_t)fingerprint_ahead(same, worker->held_until) << 32 ^
                                     (uint64_t)(same->run->world.now - worker->now));
    hash = fingerprint_mix(hash, live_input(same, worker));
    bool own = !is_in_steps(worker) ||
               dimension_of(same, worker->message[1 + MESSAGE_GUID]) == worker->dimension;
    share.hash = own ? hash : fingerprint_mix(hash, (uint64_t)worker->dimension + 1);
    return share;
}

/* ---- what concerns one place only ------------------------------------------------------------ */

/* The bundle reads a changing value of the job: its semaphore, its state. */
static bool asks_job(const struct fingerprint *same, const struct bundle *bundle)
{
    for (unsigned c = 0; c < bundle->count; c++) {
        const struct primitive *primitive = &same->run->primitives[bundle->calls[c].primitive];
        for (unsigned o = 0; o < primitive->op_count; o++) {
            const struct op *op = &primitive->ops[o];
            if (op->kind < OP_LET_EQUAL && op->table == TABLE_JOB &&
                !(op->kind == OP_READ && op->column == JOB_INPUT)) {
                return true;
            }
        }
    }
    return false;
}

/* A Step 2, perhaps with Step 1 and an ack around it, that has children, and threshold 0. It cannot
 * end its job in any order: before it, its own obligation is open, and after it, those of its
 * children are. Nor does it affect whether another Step 2 ends the job. An oracle checks at every
 * commit that the semaphore is the number of open obligations. */
static bool only_adds(const struct fingerprint *same, const struct bundle *bundle)
{
    const struct activity_rules *rules = RULES_OF(&same->run->rules, activity_rules);
    bool children = false;
    for (unsigned c = 0; c < bundle->count; c++) {
        children = children || bundle->calls[c].child != 0;
    }
    return (bundle->name == BUNDLE_STEP2 || bundle->name == BUNDLE_STEPS_ACK) && children &&
           rules->threshold_count == 1 && rules->thresholds[0] == 0;
}

/* An ack commutes with everything except publishing the same message. Steps do not republish
 * (reaches_out checks it); a task that is run again does. */
static bool is_answer(const struct fingerprint *same, const struct bundle *bundle)
{
    uint32_t slot = row_find(rows_of(same), TABLE_MESSAGE, bundle->params[bundle->calls[0].params]);
    return !RULES_OF(&same->run->rules, activity_rules)->direct &&
           (slot == ROW_NONE ||
            row_get(rows_of(same), TABLE_MESSAGE, slot, MESSAGE_KIND) == MESSAGE_LEG2);
}

static enum fingerprint_locality locality(const struct fingerprint *same,
                                          const struct bundle *bundle)
{
    if (bundle->name == BUNDLE_ACK && bundle->count == 1 && !is_answer(same, bundle)) {
        return LOCAL_ANYWAY;
    }
    return !asks_job(same, bundle) || only_adds(same, bundle) ? LOCAL_ALONE : LOCAL_NOT;
}

/* A Leg2 without children closes an obligation, which concerns the whole job. */
static bool promises_locality(const struct fingerprint *same, uint32_t slot)
{
    const struct graph *graph = RULES_OF(&same->run->rules, activity_rules)->graph;
    const struct rows *rows = rows_of(same);
    const struct graph_node *node = &graph->nodes[row_get(rows, TABLE_MESSAGE, slot, MESSAGE_NODE)];
    return row_get(rows, TABLE_MESSAGE, slot, MESSAGE_KIND) != MESSAGE_LEG2 || node->edge_count > 0;
}

/* The component existed before: an activity's row is made once, and before its other rows. */
static bool was_there(const struct fingerprint *same, uint32_t place, uint32_t rows)
{
    int64_t activity = row_key(known_of(same)->rows, TABLE_ACTIVITY, place - 1);
    uint32_t slot = row_find(rows_of(same), TABLE_ACTIVITY, activity);
    return slot != ROW_NONE && slot < rows;
}

static bool stayed(const struct fingerprint *same, const struct bundle *bundle, uint32_t place,
                   size_t logged, uint32_t rows)
{
    bool adds = only_adds(same, bundle) && same->run->outcome.kind == OUTCOME_COMMITTED;
    bool acks = bundle->name == BUNDLE_ACK;
    for (size_t i = logged; i < same->logged; i++) {
        const struct fingerprint_before *before = &same->log[i];
        const struct fingerprint_share *now = &same->shares[before->table][before->slot];
        uint32_t at = now->hash != 0 ? now->place : before->share.place;
        bool own = at == place && (before->share.hash == 0 || before->share.place == place);
        bool child = adds && at != 0 && before->share.hash == 0 && !was_there(same, at, rows);
        bool job = adds && at == 0 && (before->table == TABLE_JOB || before->table == TABLE_COUNT);
        if (!(own && (!acks || before->table == TABLE_MESSAGE)) && !child && !job) {
            return false;
        }
    }
    return true;
}

/* The component of the thing with this id; 0: the whole world, or not known. */
static uint32_t place_of_id(const struct fingerprint *same, enum row_table table, int64_t id)
{
    const struct rows *rows = known_of(same)->rows;
    uint32_t slot = table == TABLE_ACTIVITY || table == TABLE_TASK || table == TABLE_GUID
                        ? row_find(rows, table, id)
                        : ROW_NONE;
    if (slot == ROW_NONE) {
        return 0;
    }
    int64_t activity = table == TABLE_TASK   ? row_get(rows, table, slot, TASK_ACTIVITY)
                       : table == TABLE_GUID ? row_get(rows, table, slot, GUID_ACTIVITY)
                                             : id;
    return place_of_activity(same, activity);
}

/* A message with this key is among the first so many. */
static bool was_published(const struct fingerprint *same, int64_t key, uint32_t messages)
{
    for (uint32_t slot = 0; slot < messages; slot++) {
        if (row_key(rows_of(same), TABLE_MESSAGE, slot) == key) {
            return true;
        }
    }
    return false;
}

/* How many calls of the executed bundle were reached. */
static unsigned calls_reached(const struct fingerprint *same, const struct bundle *bundle)
{
    const struct outcome *outcome = &same->run->outcome;
    return outcome->skipped == 0              ? bundle->count
           : outcome->kind == OUTCOME_REFUSED ? outcome->skipped
                                              : outcome->skipped - 1U;
}

static bool names_other(const struct fingerprint *same, const struct op *op, const int64_t *params,
                        uint32_t place, uint32_t rows)
{
    uint32_t other =
        op->kind == OP_INSERT && op->table == TABLE_MESSAGE
            ? place_of_activity(same, params[1 + MESSAGE_ACTIVITY])
            : place_of_id(same, (enum row_table)op->table, params[OPERAND_PLACE(op->key)]);
    return other != 0 && other != place && was_there(same, other, rows) &&
           (same->places[other].near >> place & 1) == 0;
}

/* Outputs may be read from any component: an output is written once, before any reader exists; else
 * an oracle has reported it. */
static bool reaches_out(const struct fingerprint *same, const struct bundle *bundle, uint32_t place,
                        uint32_t rows, uint32_t messages)
{
    unsigned reached = calls_reached(same, bundle);
    for (unsigned c = 0; c < reached; c++) {
        const struct call *call = &bundle->calls[c];
        const struct primitive *primitive = &same->run->primitives[call->primitive];
        const int64_t *params = &bundle->params[call->params];
        for (unsigned o = 0; o < primitive->op_count; o++) {
            const struct op *op = &primitive->ops[o];
            bool keyed =
                op->kind < OP_LET_EQUAL && OPERAND_ARRAY(op->key) == OPERAND_ARRAY(OPERAND_PARAM);
            bool publishes = keyed && op->kind == OP_INSERT && op->table == TABLE_MESSAGE &&
                             bundle->name != BUNDLE_ANSWER && bundle->name != BUNDLE_ANSWER_ACK;
            if (keyed &&
                (names_other(same, op, params, place, rows) ||
                 (publishes && was_published(same, params[OPERAND_PLACE(op->key)], messages)))) {
                return true;
            }
        }
    }
    return false;
}

const struct fingerprint_hooks activity_fingerprint = {.make = make,
                                                       .row = share_of_row,
                                                       .actor = share_of_worker,
                                                       .locate = locate,
                                                       .promises_locality = promises_locality,
                                                       .locality = locality,
                                                       .stayed = stayed,
                                                       .reaches_out = reaches_out,
                                                       .places_in = TABLE_ACTIVITY};
