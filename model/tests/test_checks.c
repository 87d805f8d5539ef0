/* The checks of model/: each fires on what it must not let pass, and on nothing that is sound. */
#include "model/activity_engine.h"
#include "model/bundle.h"
#include "model/flow.h"
#include "model/graph.h"
#include "model/inbox.h"
#include "model/key.h"
#include "model/key_text.h"
#include "model/oracle/document.h"
#include "model/oracle/expected_activity.h"
#include "model/pipeline.h"
#include "model/pipeline_trespass.h"
#include "model/protocol.h"
#include "model/reference/ledger.h"
#include "model/reference/legacy.h"
#include "model/reference/semaphore.h"
#include "model/semaphore.h"
#include "model/tests/fires.h"

TestSuite(checks, .timeout = 120);

/* One line a case. */
/* clang-format off */

/* ---- a graph: (GR1), (GR2), (GR3) ------------------------------------------------------------ */

/* 0 has the children 1 and 2; 2 goes back to 0, twice. */
static const struct graph sound_graph = {
    .node_count = 3,
    .edge_count = 3,
    .nodes = {{.first_edge = 0, .edge_count = 2, .heads_cycle = true},
              {.first_edge = 2},
              {.first_edge = 2, .edge_count = 1}},
    .edges = {{.from = 0, .to = 1}, {.from = 0, .to = 2}, {.from = 2, .to = 0, .rounds = 2}}};

static const char *const graph_claims[] = {
    "graph->node_count >= 1 && graph->node_count <= GRAPH_NODES_MAX",
    "node->first_edge == next",
    "next <= graph->edge_count",
    "graph->edges[e].from == n",
    "graph->edges[e].answer <= node->pendings",
    "children[graph->edges[e].answer] <= GRAPH_CHILDREN_MAX",
    "next == graph->edge_count",
    "edge->to < graph->node_count",
    "edge->from < edge->to",
    "parents[n] == (n == 0 ? 0 : 1)",
    "edge->rounds == 0 || edge->to == nearest_head(graph, parent, edge->from)",
};

static void spoil_graph(struct graph *graph, int which)
{
    switch (which) {
    case 0: graph->node_count = 0; break;
    case 1: graph->nodes[1].first_edge = 1; break;
    case 2: graph->nodes[2].edge_count = 2; break;
    case 3: graph->edges[1].from = 1; break;
    case 4: graph->edges[1].answer = 1; break;
    case 5:
        graph->nodes[0].edge_count = GRAPH_CHILDREN_MAX + 1;
        graph->edge_count = GRAPH_CHILDREN_MAX + 1;
        memset(graph->edges, 0, sizeof graph->edges);
        break;
    case 6: graph->nodes[2].edge_count = 0; break;
    case 7: graph->edges[1].to = 3; break;
    case 8: graph->edges[2].rounds = 0; break;
    case 9: graph->edges[1].to = 1; break;
    case 10: graph->edges[2].to = 1; break;
    }
}

static void check_graph(int which)
{
    static struct graph graph;
    graph = sound_graph;
    spoil_graph(&graph, which);
    graph_check(&graph);
}

Test(checks, of_a_graph_fire)
{
    EXPECT_FIRES(check_graph, graph_claims);
}

/* ---- ledgers: (L1) to (L4), (LG1), (SM1), (SM2) ---------------------------------------------- */

static const char *const ledger_claims[] = {
    "digits_in_range(after)",
    "ledger_get(after, field) <= layout->ceiling",
    "ledger_get(after, field) == ledger_get(before, field) + 1",
    "after % layout->weight == before % layout->weight",
    "after / above == before / above",
};

static void check_ledger(int which)
{
    int64_t guid = 1, mark = ledger_layout(GUID_WORK_DONE)->weight;
    switch (which) {
    case 0: ledger_check(guid, GUID_WORK_DONE, -mark); break;
    case 1: ledger_check(guid + mark, GUID_WORK_DONE, guid + 2 * mark); break;
    case 2: ledger_check(guid, GUID_WORK_DONE, guid); break;
    case 3: ledger_check(guid, GUID_WORK_DONE, guid + mark + 1); break;
    case 4: ledger_check(guid, GUID_WORK_DONE, guid + 11 * mark); break;
    default: ledger_check(guid, GUID_WORK_DONE, guid + mark);
    }
}

static const char *const legacy_claims[] = {
    "digits_in_range(after)",
    "legacy_get(after, field) == legacy_get(before, field) + legacy_change(event, field)",
};

static void check_legacy(int which)
{
    int64_t before = INT64_C(999000000000000);
    int64_t after = before + legacy_summand(LEGACY_LEG1_BEGIN);
    legacy_check(before, LEGACY_LEG1_BEGIN, which == 0 ? -1 : which == 1 ? before : after);
}

static const char *const semaphore_claims[] = {
    "moved ? move->after >= 0 : move->after == before",
    "moved ? move->after >= 0 : move->after == before",
    "move->hit == (moved && move->after == threshold)",
};

static void check_semaphore(int which)
{
    struct semaphore_move move = {.outcome = SEMAPHORE_MOVED, .after = 2, .hit = true};
    switch (which) {
    case 0: move.after = -1; break;
    case 1: move.outcome = SEMAPHORE_NEGATIVE; break;
    case 2: move.hit = false; break;
    }
    semaphore_check(3, 2, &move);
}

Test(checks, of_ledgers_and_the_semaphore_fire)
{
    EXPECT_FIRES(check_ledger, ledger_claims);
    EXPECT_FIRES(check_legacy, legacy_claims);
    EXPECT_FIRES(check_semaphore, semaphore_claims);
}

/* ---- keys: (KE1), (KE2), (KE3), (KT1), (KT2) ------------------------------------------------- */

static const char *const key_claims[] = {
    "key_activities(after) == key_activities(before)",
    "key_valid(after)",
    "found == key_expected(change)",
    "key_get(after, position) < found",
    "after - before == key_delta(change, position)",
    "!key_complete(before)",
};

static void check_key(int which)
{
    int64_t two = INT64_C(990000000000000), started = INT64_C(890000000000000);
    switch (which) {
    case 0: key_check(two, 0, KEY_CHANGE_START, INT64_C(899000000000000)); break;
    case 1: key_check(0, 0, KEY_CHANGE_START, 0); break;
    case 2: key_check(started, 0, KEY_CHANGE_START, started); break;
    case 3: key_check(two, 0, KEY_CHANGE_START, two); break;
    case 4: key_check(two, 0, KEY_CHANGE_START, INT64_C(880000000000000)); break;
    case 5: key_check(INT64_C(600000000000000), 0, KEY_CHANGE_PAUSE, INT64_C(500000000000000)); break;
    default: key_check(two, 0, KEY_CHANGE_START, started);
    }
}

static const char *const text_claims[] = {
    "flows[0].parent == -1 && key_valid(flows[0].key)",
    "flow->parent >= 0 && flow->parent < i && key_valid(flow->key)",
    "can_await(key_get(flows[flow->parent].key, flow->position))",
    "flows[j].parent != flow->parent || flows[j].position < flow->position",
};

static void check_text(int which)
{
    struct key_flow flows[] = {{.key = INT64_C(880000000000000), .parent = -1},
                               {.key = INT64_C(900000000000000), .parent = 0, .position = 0},
                               {.key = INT64_C(900000000000000), .parent = 0, .position = 1}};
    switch (which) {
    case 0: flows[0].parent = 0; break;
    case 1: flows[1].parent = 2; break;
    case 2: flows[2].position = 2; break;
    case 3: flows[2].position = 0; break;
    }
    key_text_check(flows, 3);
}

Test(checks, of_keys_fire)
{
    EXPECT_FIRES(check_key, key_claims);
    EXPECT_FIRES(check_text, text_claims);
}

/* ---- bundles and outcomes: (B1), (B2), (B3) -------------------------------------------------- */

static const char *const of_bundle_claims[] = {
    "bundle->name < BUNDLE_NAME_COUNT && bundle->isolation <= SERIALIZABLE",
    "bundle->count >= 1 && bundle->count <= BUNDLE_CALLS_MAX",
    "call->primitive < PRIMITIVE_COUNT && call->mode <= CALL_UNLESS_DONE",
    "call->params == params",
    "call->values < BUNDLE_VALUES_MAX",
    "params == bundle->param_count",
};

static void make_bundle(struct bundle *bundle)
{
    bundle_begin(bundle, BUNDLE_ACK);
    BUNDLE_CALL(bundle, PRIMITIVE_ACK, CALL_REQUIRE, 0, 1, 1, 0);
    BUNDLE_CALL(bundle, PRIMITIVE_ACK, CALL_UNLESS_DONE, 0, 2, 1, 0);
}

static void check_bundle(int which)
{
    struct bundle bundle;
    make_bundle(&bundle);
    switch (which) {
    case 0: bundle.name = BUNDLE_NAME_COUNT; break;
    case 1: bundle.count = 0; break;
    case 2: bundle.calls[1].mode = CALL_UNLESS_DONE + 1; break;
    case 3: bundle.calls[1].params = 0; break;
    case 4: bundle.calls[1].values = BUNDLE_VALUES_MAX; break;
    case 5: bundle.param_count++; break;
    }
    bundle_check(&bundle);
}

static const char *const outcome_claims[] = {
    "kind == OUTCOME_COMMITTED || refused || aborted",
    "(outcome->refusal != REFUSED_NOTHING) == refused",
    "outcome->aborted == ABORT_NONE || aborted",
    "at <= bundle->count && (at != 0 || !refused) && (at == 0 || !aborted)",
    "kind != OUTCOME_COMMITTED || at == 0 || bundle->calls[at - 1].mode == CALL_UNLESS_DONE",
};

static void check_outcome(int which)
{
    struct bundle bundle;
    struct outcome outcome = {.kind = OUTCOME_COMMITTED, .skipped = 2};
    make_bundle(&bundle);
    switch (which) {
    case 0: outcome.kind = OUTCOME_UNKNOWN; break;
    case 1: outcome.kind = OUTCOME_REFUSED; break;
    case 2: outcome.aborted = ABORT_DEADLOCK; break;
    case 3: outcome.skipped = 3; break;
    case 4: outcome.skipped = 1; break;
    }
    outcome_check(&outcome, &bundle);
}

Test(checks, of_bundles_and_outcomes_fire)
{
    EXPECT_FIRES(check_bundle, of_bundle_claims);
    EXPECT_FIRES(check_outcome, outcome_claims);
}

/* ---- actors: (N1), (N3), (FL1), (FL2), (PI2), (PI3), (PR2), (TP2) ---------------------------- */

static const char *const worker_claims[] = {
    "worker->state < ACTIVITY_WORKER_STATE_COUNT",
    ("!idle || (worker->message[0] == 0 && worker->ledger == 0 && worker->held_until == 0 && "
     "worker->answered == 0 && worker->tries == 0 && worker->extending == 0)"),
    "worker->tries <= ACTIVITY_TRIES_MAX",
};

static void check_worker(int which)
{
    struct activity_worker worker = activity_worker_begin();
    worker.state = ACTIVITY_WORKER_STEP1;
    worker.message[0] = 1;
    switch (which) {
    case 0: worker.state = ACTIVITY_WORKER_STATE_COUNT; break;
    case 1: worker.state = ACTIVITY_WORKER_IDLE; break;
    case 2: worker.tries = ACTIVITY_TRIES_MAX + 1; break;
    }
    activity_worker_check(&worker);
}

static const char *const actor_claims[] = {
    "actor->role == rules->cast[number]",
    "!role->is_idle(actor) || role->message(actor)[0] == 0",
};

static void check_actor(int which)
{
    struct rules rules = {.protocol = &protocol_inbox, .actors = 2, .cast = {0, 1}, .jobs = 1};
    struct actor actor;
    protocol_begin(&actor, &rules, 1);
    switch (which) {
    case 0: actor.role = 0; break;
    case 1: ACTOR_IS(&actor, consumer)->message[0] = 1; break;
    }
    protocol_check(&actor, &rules, 1);
}

static const char *const flow_claims[] = {
    "worker->step <= FLOW_STEP_ACK",
    "worker->step != FLOW_STEP_CLAIM || worker->message[0] == 0",
    "worker->step != FLOW_STEP_CLAIM || worker->tries == 0",
    "worker->tries <= FLOW_TRIES_MAX",
};

static void check_flow(int which)
{
    struct flow_worker worker = {.step = FLOW_STEP_READ, .message = {1}};
    switch (which) {
    case 0: worker.step = FLOW_STEP_ACK + 1; break;
    case 1: worker.step = FLOW_STEP_CLAIM; break;
    case 2: worker = (struct flow_worker){.tries = 1}; break;
    case 3: worker.tries = FLOW_TRIES_MAX + 1; break;
    }
    flow_check(&worker);
}

static const char *const flow_bundle_claims[] = {
    "!locks(op) || (c == 0 && !inserted)",
    "!locks(op) || (c == 0 && !inserted)",
    "!locks(op) || (op->table == first->table && op->key == first->key)",
};

/* A change of a flow, then what it publishes. */
static void check_flow_bundle(int which)
{
    struct bundle bundle;
    bundle_begin(&bundle, BUNDLE_FINISH_KEY);
    if (which == 0) {
        BUNDLE_CALL(&bundle, PRIMITIVE_RECORD_EVENT, CALL_PLAIN, 0, 1, 2, 3, 4, 5);
    }
    if (which == 2) { /* the activity's row, then its GUID's */
        memset(bundle_append(&bundle, PRIMITIVE_ENTER_LEG2, CALL_REQUIRE, 0), 0,
               PRIMITIVE_ENTER_LEG2_PARAMS * sizeof(int64_t));
    }
    BUNDLE_CALL(&bundle, PRIMITIVE_START_KEY, CALL_REQUIRE, 0, 1, 1, 9, -1);
    if (which == 1) {
        BUNDLE_CALL(&bundle, PRIMITIVE_PAUSE_KEY, CALL_REQUIRE, 0, 2, 1, -1);
    }
    flow_bundle_check(&bundle);
}

static const char *const trespass_claims[] = {
    "after->trespass == 0 && !after->trespassed",
    "aborted || same_request(before, after)",
    "aborted || same_request(before, after)",
    "aborted || before->tries == after->tries",
};

static void check_trespass(int which)
{
    const struct pipeline_worker before = {.state = PIPELINE_PHASE, .message = {1}, .trespass = 1};
    struct pipeline_worker after = before;
    struct outcome outcome = {.kind = OUTCOME_REFUSED, .refusal = REFUSED_FORBIDDEN};
    after.trespass = 0;
    switch (which) {
    case 0: after.trespassed = true; break;
    case 1: after.state = PIPELINE_READ; break;
    case 2: after.message[1] = 1; break;
    case 3: after.tries = 1; break;
    }
    pipeline_trespass_check(&before, &after, &outcome);
    outcome.kind = OUTCOME_ABORTED; /* a lost connection is a try */
    after.tries = 1;
    pipeline_trespass_check(&before, &after, &outcome);
}

static const char *const pipeline_claims[] = {
    "worker->state <= PIPELINE_STOP",
    "worker->state == PIPELINE_IDLE ? worker->message[0] == 0 : is_sound(worker, rules)",
    "worker->state == PIPELINE_IDLE ? worker->message[0] == 0 : is_sound(worker, rules)",
    "worker->state == PIPELINE_IDLE ? worker->message[0] == 0 : is_sound(worker, rules)",
    "worker->tries <= PIPELINE_TRIES_MAX",
};

/* A request to mark an entry. */
static void check_pipeline(int which)
{
    struct rules rules = {.protocol = &protocol_pipeline};
*RULES_OF(&rules, pipeline_rules) = (struct pipeline_rules){.entry_count = 1};
    struct pipeline_worker worker = {.state = PIPELINE_PHASE, .message = {1}};
    worker.message[1 + MESSAGE_KIND] = PHASE_MARK;
    worker.message[1 + MESSAGE_PENDINGS] = STATUS_NONE;
    switch (which) {
    case 0: worker.state = PIPELINE_STOP + 1; break;
    case 1: worker.state = PIPELINE_IDLE; break;
    case 2: worker.message[1 + MESSAGE_NODE] = 1; break;
    case 3: worker.message[1 + MESSAGE_PENDINGS] = STATUS_CUT; break;
    case 4: worker.tries = PIPELINE_TRIES_MAX + 1; break;
    }
    pipeline_check(&worker, &rules);
}

Test(checks, of_actors_fire)
{
    EXPECT_FIRES(check_flow, flow_claims);
    EXPECT_FIRES(check_flow_bundle, flow_bundle_claims);
    EXPECT_FIRES(check_trespass, trespass_claims);
    EXPECT_FIRES(check_pipeline, pipeline_claims);
    EXPECT_FIRES(check_worker, worker_claims);
    EXPECT_FIRES(check_actor, actor_claims);
}

/* ---- what oracles read: (DO1), (DO2), (XA1) -------------------------------------------------- */

static const char *const document_claims[] = {
    "document->count > 0 && document->nodes[0].kind == DOCUMENT_MAP",
    "document->nodes[0].next == DOCUMENT_NONE",
    "node->first == DOCUMENT_NONE || node->first == n + 1",
    "node->next == DOCUMENT_NONE || node->next > n",
    "node->next < document->count",
    "node->kind != DOCUMENT_TEXT || node->first == DOCUMENT_NONE",
};

/* A map of a list, which has a text, and a text. */
static void check_document(int which)
{
    struct document_node nodes[] = {{.first = 1, .kind = DOCUMENT_MAP},
                                    {.first = 2, .next = 3, .kind = DOCUMENT_LIST},
                                    {.kind = DOCUMENT_TEXT},
                                    {.kind = DOCUMENT_TEXT}};
    struct document document = {.nodes = nodes, .count = 4};
    switch (which) {
    case 0: nodes[0].kind = DOCUMENT_LIST; break;
    case 1: nodes[0].next = 1; break;
    case 2: nodes[1].first = 3; break;
    case 3: nodes[3].next = 2; break;
    case 4: nodes[3].next = 4; break;
    case 5: nodes[1].kind = DOCUMENT_TEXT; break;
    }
    document_check(&document);
}

static const char *const expected_claims[] = {
    "node->children == 0 || node->first == next",
    "next <= expected->nodes",
    "expected->node[c].parent == n",
    "is_first || expected->node[c - 1].answer <= expected->node[c].answer",
    "next == expected->nodes",
};

/* The trigger has the children 1 and 2; 1 has the child 3. */
static void check_expected(int which)
{
    static struct expected_activity expected;
    expected = (struct expected_activity){
        .nodes = 4,
        .node = {{.first = 1, .children = 2}, {.first = 3, .children = 1}, {.answer = 1}, {.parent = 1}}};
    switch (which) {
    case 0: expected.node[1].first = 2; break;
    case 1: expected.node[1].children = 2; break;
    case 2: expected.node[3].parent = 2; break;
    case 3: expected.node[1].answer = 2; break;
    case 4: expected.nodes = 5; break;
    }
    expected_activity_check(&expected);
}

Test(checks, of_what_oracles_read_fire)
{
    EXPECT_FIRES(check_document, document_claims);
    EXPECT_FIRES(check_expected, expected_claims);
}
