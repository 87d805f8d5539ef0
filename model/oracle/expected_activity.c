#include "model/oracle/expected_activity.h"

#include "model/check.h"
#include "model/oracle/mint.h"

#include <stddef.h>

#define DATA_COUNT 999999999 /* outputs are 1 to this */

/* ---- reading --------------------------------------------------------------------------------- */

enum generator { GENERATOR_NONE, GENERATOR_BINARY, GENERATOR_CHAIN, GENERATOR_FAN };

/* A graph while it is read. A node has a name, or is generated: trigger, n1, n2, ... */
struct reading {
    const struct document *text;
    struct expected_activity *expected;
    enum generator generator;
    uint32_t generated; /* so many nodes are */
    const char *name[EXPECTED_NODES_MAX];
    uint32_t number[EXPECTED_NODES_MAX]; /* of a generated one; its name is NULL */
};

/* The value of a key of the scenario, and of a map that may not be there. */
static uint32_t find(const struct reading *reading, const char *key)
{
    return document_find(reading->text, 0, key);
}

static uint32_t first_of(const struct reading *reading, uint32_t node)
{
    return node == DOCUMENT_NONE ? DOCUMENT_NONE : document_first(reading->text, node);
}

static bool is_called(const struct reading *reading, uint32_t n, const char *name)
{
    uint32_t number = 0;
    if (reading->name[n] != NULL) {
        return document_same(reading->name[n], name);
    }
    if (reading->number[n] == 0 || name[0] != 'n') {
        return reading->number[n] == 0 && document_same(name, "trigger");
    }
    for (const char *digit = name + 1; *digit != '\0' && number < EXPECTED_NODES_MAX; digit++) {
        number = 10 * number + (uint32_t)(*digit - '0');
    }
    return number == reading->number[n];
}

/* The value of the key in this map that names node n. */
static uint32_t entry_of(const struct reading *reading, uint32_t map, uint32_t n)
{
    uint32_t entry = first_of(reading, map);
    while (entry != DOCUMENT_NONE && !is_called(reading, n, document_key(reading->text, entry))) {
        entry = document_next(reading->text, entry);
    }
    return entry;
}

static uint32_t append(struct reading *reading, uint32_t parent, uint32_t answer, uint8_t when)
{
    struct expected_activity *expected = reading->expected;
    CHECK(expected->nodes < EXPECTED_NODES_MAX);
    expected->node[expected->nodes] =
        (struct expected_node){.parent = (uint16_t)parent, .answer = (uint8_t)answer, .when = when};
    return expected->nodes++;
}

/* A list of edges: NAME, or {to: NAME, when: even}. */
static void read_edges(struct reading *reading, uint32_t parent, uint32_t answer, uint32_t list)
{
    const struct document *text = reading->text;
    for (uint32_t edge = first_of(reading, list); edge != DOCUMENT_NONE;
         edge = document_next(text, edge)) {
        bool plain = document_kind(text, edge) == DOCUMENT_TEXT;
        uint32_t to = plain ? edge : document_find(text, edge, "to");
        uint32_t when = plain ? DOCUMENT_NONE : document_find(text, edge, "when");
        uint32_t child = append(reading, parent, answer,
                                when == DOCUMENT_NONE             ? EXPECTED_ALWAYS
                                : document_is(text, when, "even") ? EXPECTED_EVEN
                                                                  : EXPECTED_ODD);
        reading->name[child] = document_text(text, to);
    }
}

/* The children of a generated node, which stand nowhere in the text. */
static void generate(struct reading *reading, uint32_t parent)
{
    uint32_t number = reading->number[parent];
    uint32_t first = reading->generator == GENERATOR_BINARY  ? 2 * number + 1
                     : reading->generator == GENERATOR_CHAIN ? number + 1
                     : number == 0                           ? 1
                                                             : reading->generated;
    uint32_t count = reading->generator == GENERATOR_BINARY  ? 2
                     : reading->generator == GENERATOR_CHAIN ? 1
                                                             : reading->generated;
    for (uint32_t n = first; n < first + count && n < reading->generated; n++) {
        reading->number[append(reading, parent, 0, EXPECTED_ALWAYS)] = n;
    }
}

static void read_children(struct reading *reading, uint32_t n)
{
    struct expected_node *node = &reading->expected->node[n];
    node->first = (uint16_t)reading->expected->nodes;
    if (reading->name[n] == NULL) {
        generate(reading, n);
    } else if (reading->generator == GENERATOR_NONE) {
        read_edges(reading, n, 0, entry_of(reading, find(reading, "graph"), n));
    }
    for (uint32_t list = first_of(reading, entry_of(reading, find(reading, "pending"), n));
         list != DOCUMENT_NONE; list = document_next(reading->text, list)) {
        CHECK(node->pendings < EXPECTED_PENDINGS_MAX);
        read_edges(reading, n, ++node->pendings, list);
    }
    node->children = (uint16_t)(reading->expected->nodes - node->first);
}

static void read_cycle_and_preset(struct reading *reading, uint32_t n)
{
    const struct document *text = reading->text;
    struct expected_node *node = &reading->expected->node[n];
    uint32_t cycle = entry_of(reading, find(reading, "cycles"), n);
    uint32_t preset = entry_of(reading, find(reading, "preset"), n);
    uint32_t again = entry_of(reading, find(reading, "again"), n);
    node->again = (uint8_t)document_number(text, again, 0);
    if (cycle != DOCUMENT_NONE) { /* back to an ancestor, or to itself */
        const char *to = document_text(text, document_find(text, cycle, "to"));
        node->rounds = (uint8_t)document_number(text, document_find(text, cycle, "rounds"), 1);
        node->head = (uint16_t)n;
        while (!is_called(reading, node->head, to)) {
            CHECK(node->head != 0);
            node->head = reading->expected->node[node->head].parent;
        }
    }
    if (preset != DOCUMENT_NONE) {
        node->leg1 = (int32_t)document_number(text, document_find(text, preset, "leg1"), 0);
        node->leg2 = (int32_t)document_number(text, document_find(text, preset, "leg2"), 0);
    }
}

/* {binary: LEVELS}, {chain: NODES}, {fan: CHILDREN}: a number, where a node has a list. */
static void read_generator(struct reading *reading)
{
    uint32_t only = document_first(reading->text, find(reading, "graph"));
    const char *key = document_key(reading->text, only);
    if (document_kind(reading->text, only) != DOCUMENT_TEXT) {
        reading->name[0] = key;
        return;
    }
    uint32_t size = (uint32_t)document_number(reading->text, only, 1);
    reading->generator = document_same(key, "binary")  ? GENERATOR_BINARY
                         : document_same(key, "chain") ? GENERATOR_CHAIN
                                                       : GENERATOR_FAN;
    reading->generated = reading->generator == GENERATOR_BINARY  ? (UINT32_C(1) << size) - 1
                         : reading->generator == GENERATOR_CHAIN ? size
                                                                 : size + 1;
}

static void read_graph(struct reading *reading)
{
    read_generator(reading);
    append(reading, 0, 0, EXPECTED_ALWAYS);
    for (uint32_t n = 0; n < reading->expected->nodes; n++) {
        read_children(reading, n);
        read_cycle_and_preset(reading, n);
    }
}

static void read_thresholds(const struct document *text, struct expected_activity *expected)
{
    uint32_t list = document_find(text, 0, "threshold");
    expected->thresholds = 1;
    if (list == DOCUMENT_NONE || document_kind(text, list) == DOCUMENT_TEXT) {
        expected->threshold[0] = document_number(text, list, 0);
        return;
    }
    expected->thresholds = 0;
    for (uint32_t of = document_first(text, list); of != DOCUMENT_NONE;
         of = document_next(text, of)) {
        CHECK(expected->thresholds < EXPECTED_THRESHOLDS_MAX);
        expected->threshold[expected->thresholds++] = document_number(text, of, 0);
    }
}

/* A rate: N/M, never if N is 0. */
static bool happens(const struct document *text, uint32_t faults, const char *kind)
{
    uint32_t rate = faults == DOCUMENT_NONE ? DOCUMENT_NONE : document_find(text, faults, kind);
    return rate != DOCUMENT_NONE && document_text(text, rate)[0] != '0';
}

void expected_activity_check(const struct expected_activity *expected)
{
    uint32_t next = 1;
    for (uint32_t n = 0; n < expected->nodes; n++) {
        const struct expected_node *node = &expected->node[n];
        CHECK(node->children == 0 || node->first == next); /* XA1 */
        next += node->children;
        CHECK(next <= expected->nodes); /* XA1 */
        for (uint32_t c = node->first; c < (uint32_t)node->first + node->children; c++) {
            bool is_first = c == node->first;
            CHECK(expected->node[c].parent == n);                                        /* XA1 */
            CHECK(is_first || expected->node[c - 1].answer <= expected->node[c].answer); /* XA1 */
        }
    }
    CHECK(next == expected->nodes); /* XA1 */
}

void expected_activity_read(const struct document *scenario, struct expected_activity *expected)
{
    struct reading reading = {.text = scenario, .expected = expected};
    *expected = (struct expected_activity){.nodes = 0};
    expected->jobs = document_number(scenario, document_find(scenario, 0, "jobs"), 1);
    uint32_t faults = document_find(scenario, 0, "faults");
    expected->changes =
        happens(scenario, faults, "answer") || happens(scenario, faults, "answer-changed");
    read_thresholds(scenario, expected);
    read_graph(&reading);
    CHECK_ALL(expected_activity_check(expected));
}

/* ---- what must be ---------------------------------------------------------------------------- */

int64_t expected_activity_output(int64_t node, int64_t input)
{
    return 1 + oracle_mint(input, node) % DATA_COUNT;
}

int64_t expected_activity_pending(int64_t node, int64_t input, int64_t k)
{
    return expected_activity_output(k, expected_activity_output(node, input));
}

uint64_t expected_activity_mark(int64_t node)
{
    return (uint64_t)oracle_mint(1, node);
}

struct expected_spawn expected_activity_spawn(const struct expected_activity *expected,
                                              uint32_t node, int64_t answer, int64_t value,
                                              int64_t round)
{
    const struct expected_node *of = &expected->node[node];
    struct expected_spawn spawn = {.cycles = answer <= 0 && round < of->rounds};
    for (uint32_t c = of->first; c < (uint32_t)of->first + of->children; c++) {
        const struct expected_node *child = &expected->node[c];
        bool taken =
            child->when == EXPECTED_ALWAYS || (child->when == EXPECTED_EVEN) == (value % 2 == 0);
        if (taken && child->answer == (answer > 0 ? answer : 0)) {
            spawn.children++;
            spawn.which += expected_activity_mark(c);
        }
    }
    return spawn;
}

bool expected_activity_has(const struct expected_activity *expected, int64_t node)
{
    return node >= 0 && node < expected->nodes;
}

bool expected_activity_answers(const struct expected_activity *expected, uint32_t node,
                               int64_t answer)
{
    return answer >= 0 && answer <= expected->node[node].pendings;
}

bool expected_activity_asks(const struct expected_activity *expected, int64_t input)
{
    return input >= EXPECTED_JOB_INPUT && input < EXPECTED_JOB_INPUT + expected->jobs;
}

int64_t expected_activity_threshold(const struct expected_activity *expected, int64_t input)
{
    return expected->threshold[(input - EXPECTED_JOB_INPUT) % expected->thresholds];
}
