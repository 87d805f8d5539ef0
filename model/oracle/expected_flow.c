#include "model/oracle/expected_flow.h"

#include "model/check.h"
#include "model/oracle/mint.h"

#define FLOW_ROLE (INT64_C(1) << 25) /* of 0: a flow that a client begins; plus its number */

enum { PENDING = 9, ERRORED = 7, COMPLETED = 6, RELEASED = 4, SKIPPED = 3 };

int64_t expected_flow_id(int64_t job)
{
    return oracle_mint(0, FLOW_ROLE + job);
}

/* ---- names ----------------------------------------------------------------------------------- */

static void copy_name(char to[EXPECTED_NAME_SIZE], const char *name)
{
    int length = 0;
    while (name[length] != '\0') {
        CHECK(length < EXPECTED_NAME_SIZE - 1);
        to[length] = name[length];
        length++;
    }
    to[length] = '\0';
}

static bool comes_before(const char *one, const char *other)
{
    while (*one != '\0' && *one == *other) {
        one++;
        other++;
    }
    return (unsigned char)*one < (unsigned char)*other;
}

static int find(const struct expected_flow *flow, const char *name)
{
    for (int i = 0; i < flow->places; i++) {
        if (document_same(flow->place[i].name, name)) {
            return i;
        }
    }
    return -1;
}

/* An activity takes its place among those that are there: ascending (KEY-2). */
static void mention(struct expected_flow *flow, const char *name)
{
    int at = flow->places;
    if (find(flow, name) >= 0) {
        return;
    }
    CHECK(flow->places < EXPECTED_POSITIONS);
    for (flow->places++; at > 0 && comes_before(name, flow->place[at - 1].name); at--) {
        flow->place[at] = flow->place[at - 1];
    }
    flow->place[at] = (struct expected_place){.awaits = -1};
    copy_name(flow->place[at].name, name);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A list of cases, written from 1; `usual` where there is none. */
static uint8_t read_cases(const struct document *text, uint32_t list, uint8_t usual)
{
    uint8_t set = list == DOCUMENT_NONE ? usual : 0;
    for (uint32_t n = list == DOCUMENT_NONE ? DOCUMENT_NONE : document_first(text, list);
         n != DOCUMENT_NONE; n = document_next(text, n)) {
        set |= (uint8_t)(1 << (document_number(text, n, 1) - 1));
    }
    return set;
}

/* ACTIVITY: [children] is short for ACTIVITY: {next: [children]}. */
static uint32_t children_of(const struct document *text, uint32_t activity)
{
    bool is_list = document_kind(text, activity) == DOCUMENT_LIST;
    uint32_t list = is_list ? activity : document_find(text, activity, "next");
    return list == DOCUMENT_NONE ? DOCUMENT_NONE : document_first(text, list);
}

static uint32_t option(const struct document *text, uint32_t activity, const char *key)
{
    return document_kind(text, activity) == DOCUMENT_MAP ? document_find(text, activity, key)
                                                         : DOCUMENT_NONE;
}

static const char *child_name(const struct document *text, uint32_t child)
{
    bool is_map = document_kind(text, child) == DOCUMENT_MAP;
    return document_text(text, is_map ? document_find(text, child, "to") : child);
}

static void read_names(const struct document *text, uint32_t node, struct expected_flow *flow)
{
    copy_name(flow->name, document_key(text, node));
    for (uint32_t a = document_first(text, node); a != DOCUMENT_NONE; a = document_next(text, a)) {
        mention(flow, document_key(text, a));
        for (uint32_t c = children_of(text, a); c != DOCUMENT_NONE; c = document_next(text, c)) {
            mention(flow, child_name(text, c));
        }
    }
}

static void read_activity(const struct document *text, uint32_t node, struct expected_flow *flow)
{
    struct expected_place *place = &flow->place[find(flow, document_key(text, node))];
    for (uint32_t c = children_of(text, node); c != DOCUMENT_NONE; c = document_next(text, c)) {
        int child = find(flow, child_name(text, c));
        CHECK(child >= 0); /* read_names has mentioned it */
        place->next |= (uint16_t)(1 << child);
        place->when[child] = read_cases(text, option(text, c, "when"), UINT8_MAX);
    }
    place->errors = read_cases(text, option(text, node, "errors"), 0);
    place->holds = read_cases(text, option(text, node, "holds"), 0);
    place->pauses = read_cases(text, option(text, node, "pauses"), 0);
}

static void read_awaits(const struct document *text, uint32_t node, struct expected_flows *expected,
                        struct expected_flow *flow)
{
    for (uint32_t a = document_first(text, node); a != DOCUMENT_NONE; a = document_next(text, a)) {
        uint32_t awaited = option(text, a, "awaits");
        for (int f = 0; awaited != DOCUMENT_NONE && f < expected->flows; f++) {
            if (document_is(text, awaited, expected->flow[f].name)) {
                flow->place[find(flow, document_key(text, a))].awaits = (int8_t)f;
            }
        }
    }
}

/* ---- what each comes to ---------------------------------------------------------------------- */

/* Nothing comes along the edge: its source failed, was skipped, or decides against it. */
static bool is_dead(const struct expected_flow *flow, int from, int to, int at)
{
    int digit = flow->place[from].digit[at];
    return digit == ERRORED || digit == SKIPPED || (flow->place[from].when[to] >> at & 1) == 0;
}

/* A flow with a 7 ended in error, and fails the activity that awaits it (E-KEY-9). */
static bool fails(const struct expected_flow *flow, int at)
{
    for (int i = 0; i < flow->places; i++) {
        if (flow->place[i].digit[at] == ERRORED) {
            return true;
        }
    }
    return false;
}

static int result(const struct expected_flows *expected, const struct expected_place *place, int at)
{
    bool failed_below = place->awaits >= 0 && fails(&expected->flow[place->awaits], at);
    return failed_below || (place->errors >> at & 1) != 0 ? ERRORED
           : (place->holds >> at & 1) != 0                ? RELEASED
                                                          : COMPLETED;
}

/* The digit of an activity whose parents' are known; PENDING: one is not. */
static int decide(const struct expected_flows *expected, const struct expected_flow *flow, int to,
                  int at)
{
    int parents = 0, dead = 0;
    for (int from = 0; from < flow->places; from++) {
        if ((flow->place[from].next >> to & 1) != 0) {
            if (flow->place[from].digit[at] == PENDING) {
                return PENDING;
            }
            parents++;
            dead += is_dead(flow, from, to, at);
        }
    }
    return parents > 0 && dead == parents ? SKIPPED : result(expected, &flow->place[to], at);
}

/* A flow has no cycles, so each round decides at least one more activity. */
static void evaluate(const struct expected_flows *expected, struct expected_flow *flow, int at)
{
    for (int i = 0; i < flow->places; i++) {
        flow->place[i].digit[at] = PENDING;
    }
    for (int round = 0; round < flow->places; round++) {
        for (int i = 0; i < flow->places; i++) {
            if (flow->place[i].digit[at] == PENDING) {
                flow->place[i].digit[at] = (uint8_t)decide(expected, flow, i, at);
            }
        }
    }
}

void expected_flow_read(const struct document *scenario, struct expected_flows *expected)
{
    uint32_t flows = document_find(scenario, 0, "flows"), node;
    *expected = (struct expected_flows){.flows = 0};
    expected->jobs = document_number(scenario, document_find(scenario, 0, "jobs"), 1);
    expected->cases = (int)document_number(scenario, document_find(scenario, 0, "cases"), 1);
    for (node = document_first(scenario, flows); node != DOCUMENT_NONE;
         node = document_next(scenario, node)) {
        CHECK(expected->flows < EXPECTED_FLOWS);
        struct expected_flow *flow = &expected->flow[expected->flows++];
        read_names(scenario, node, flow);
        for (uint32_t a = document_first(scenario, node); a != DOCUMENT_NONE;
             a = document_next(scenario, a)) {
            read_activity(scenario, a, flow);
        }
    }
    int f = 0;
    for (node = document_first(scenario, flows); node != DOCUMENT_NONE;
         node = document_next(scenario, node)) {
        read_awaits(scenario, node, expected, &expected->flow[f++]);
    }
    while (f-- > 0) { /* who is awaited stands further down */
        for (int at = 0; at < expected->cases; at++) {
            evaluate(expected, &expected->flow[f], at);
        }
    }
}

/* ---- asking ---------------------------------------------------------------------------------- */

uint16_t expected_flow_leaves(const struct expected_place *place, int at)
{
    uint16_t leaves = 0;
    for (int child = 0; child < EXPECTED_POSITIONS; child++) {
        if ((place->next >> child & 1) != 0 && (place->when[child] >> at & 1) == 0) {
            leaves |= (uint16_t)(1 << child);
        }
    }
    return leaves;
}

bool expected_flow_ends(const struct expected_place *place, int at, int digit)
{
    bool paused = place->digit[at] == COMPLETED && (place->pauses >> at & 1) != 0;
    return digit == place->digit[at] || (paused && digit == RELEASED);
}
