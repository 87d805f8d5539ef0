#include "scenarios/shape_text.h"

#include "model/ledger.h"

#include <string.h>

/* What is being read, and the edge that is being put together. */
struct shape_reading {
    struct shape *shape;
    struct shape_edge edge;
    uint32_t keys;  /* of graph, so far */
    bool generated; /* the graph is that of a generator */
};

static bool fail_full(struct reader *reader, size_t line)
{
    return reader_fail(reader, line, "there are more than %d nodes or %d edges", GRAPH_NODES_MAX,
                       GRAPH_EDGES_MAX);
}

/* ---- nodes --------------------------------------------------------------------------------- */

/* A node that is mentioned in a value. */
static bool mention(struct reader *reader, struct shape *shape, enum shape_mention mention,
                    uint16_t *node)
{
    char name[GRAPH_NAME_SIZE];
    size_t line = reader_line(reader);
    if (!reader_name(reader, name, sizeof name)) {
        return false;
    }
    if (!shape_node(shape, name, line, node)) {
        return fail_full(reader, line);
    }
    shape->nodes[*node].mentions |= (uint8_t)mention;
    return true;
}

/* A node that is a key, once in its map. */
static bool enter_key(struct reader *reader, struct shape *shape, const struct reader_text *key,
                      enum shape_mention mention, uint16_t *node)
{
    if (!reader_is_name(reader, key, GRAPH_NAME_SIZE)) {
        return false;
    }
    if (!shape_node(shape, key->text, key->line, node)) {
        return fail_full(reader, key->line);
    }
    struct shape_node *found = &shape->nodes[*node];
    if ((found->mentions & mention) != 0) {
        return reader_fail(reader, key->line, "the node \"%s\" again; a key stands once",
                           key->text);
    }
    found->mentions |= (uint8_t)mention;
    reader_enter(reader, key->text);
    return true;
}

/* ---- children ------------------------------------------------------------------------------ */

static bool read_child_to(struct reader *reader, void *context)
{
    struct shape_reading *reading = context;
    return mention(reader, reading->shape, SHAPE_CHILD, &reading->edge.to);
}

static bool read_child_when(struct reader *reader, void *context)
{
    struct shape_reading *reading = context;
    struct reader_text text;
    if (!reader_scalar(reader, "it is even or odd", &text)) {
        return false;
    }
    bool even = strcmp(text.text, "even") == 0;
    if (!even && strcmp(text.text, "odd") != 0) {
        char quoted[READER_QUOTED_SIZE];
        return reader_fail(reader, text.line, "%s; it is even or odd", reader_quote(&text, quoted));
    }
    reading->edge.condition = even ? GRAPH_IF_EVEN : GRAPH_IF_ODD;
    return true;
}

static const struct reader_field child_fields[] = {{"to", read_child_to},
                                                   {"when", read_child_when}};

/* A name, or a map with the name and a condition. */
static bool read_child(struct reader *reader, void *context)
{
    struct shape_reading *reading = context;
    size_t line = reader_line(reader);
    uint64_t seen = 1;
    reading->edge.condition = GRAPH_ALWAYS;
    reading->edge.line = (uint32_t)line;
    bool read = reader_kind(reader) == READER_TEXT
                    ? read_child_to(reader, reading)
                    : reader_fields(reader, "a child is a name or {to: NAME, when: even}",
                                    child_fields, COUNT(child_fields), reading, &seen);
    if (!read) {
        return false;
    }
    if ((seen & 1) == 0) {
        return reader_fail(reader, line, "a child without a name; it is {to: NAME, when: even}");
    }
    return shape_edge(reading->shape, &reading->edge) || fail_full(reader, line);
}

static bool read_children(struct reader *reader, struct shape_reading *reading)
{
    return reader_list(reader, "it is a list of children, such as [left, right]", read_child,
                       reading);
}

/* ---- graph --------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    bool (*generate)(struct shape *shape, int64_t size, size_t line);
    int64_t most;
} generators[] = {
    {"binary", shape_binary, SHAPE_LEVELS_MAX},
    {"chain", shape_chain, GRAPH_NODES_MAX},
    {"fan", shape_fan, GRAPH_CHILDREN_MAX},
};

static bool read_generator(struct reader *reader, const struct reader_text *key,
                           struct shape_reading *reading)
{
    for (size_t i = 0; i < COUNT(generators); i++) {
        if (strcmp(generators[i].name, key->text) == 0) {
            int64_t size = 0;
            reading->generated = true;
            reader_enter(reader, generators[i].name);
            return reader_number(reader, 1, generators[i].most, &size) &&
                   (generators[i].generate(reading->shape, size, key->line) ||
                    fail_full(reader, key->line));
        }
    }
    char quoted[READER_QUOTED_SIZE];
    return reader_fail(reader, key->line,
                       "%s has no list; write {NODE: [CHILD, ...]}, {binary: LEVELS}, "
                       "{chain: NODES} or {fan: CHILDREN}",
                       reader_quote(key, quoted));
}

static bool read_graph_entry(struct reader *reader, const struct reader_text *key, void *context)
{
    struct shape_reading *reading = context;
    struct shape *shape = reading->shape;
    reading->keys++;
    if (reading->generated) {
        return reader_fail(reader, key->line, "a generator and more; a generator stands alone");
    }
    if (reader_kind(reader) == READER_TEXT && reading->keys == 1) {
        return read_generator(reader, key, reading);
    }
    if (!enter_key(reader, shape, key, SHAPE_GRAPH, &reading->edge.from)) {
        return false;
    }
    if (!shape->has_trigger) {
        shape->has_trigger = true;
        shape->trigger = reading->edge.from;
    }
    return read_children(reader, reading);
}

bool shape_text_graph(struct reader *reader, struct shape *shape)
{
    struct shape_reading reading = {.shape = shape};
    size_t line = reader_line(reader);
    const char *right = "it is a map such as {trigger: [left, right]}";
    if (!reader_map(reader, right, read_graph_entry, &reading)) {
        return false;
    }
    return shape->has_trigger || reader_fail(reader, line, "an empty map; %s", right);
}

/* ---- pending ------------------------------------------------------------------------------- */

static bool read_pending_answer(struct reader *reader, void *context)
{
    struct shape_reading *reading = context;
    if (reading->edge.answer == GRAPH_PENDINGS_MAX) {
        return reader_fail(reader, reader_line(reader),
                           "too many pending answers; a node has at most %d", GRAPH_PENDINGS_MAX);
    }
    reading->edge.answer++;
    return read_children(reader, reading);
}

static bool read_pending_entry(struct reader *reader, const struct reader_text *key, void *context)
{
    struct shape_reading reading = {.shape = context};
    if (!enter_key(reader, reading.shape, key, SHAPE_PENDING, &reading.edge.from) ||
        !reader_list(reader, "it is one list of children a pending answer, such as [[left], []]",
                     read_pending_answer, &reading)) {
        return false;
    }
    reading.shape->nodes[reading.edge.from].pendings = reading.edge.answer;
    return true;
}

bool shape_text_pending(struct reader *reader, struct shape *shape)
{
    return reader_map(reader, "it is a map such as {NODE: [[CHILD], []]}", read_pending_entry,
                      shape);
}

/* ---- cycles -------------------------------------------------------------------------------- */

static bool read_cycle_to(struct reader *reader, void *context)
{
    struct shape_reading *reading = context;
    return mention(reader, reading->shape, SHAPE_HEAD, &reading->edge.to);
}

static bool read_cycle_rounds(struct reader *reader, void *context)
{
    struct shape_reading *reading = context;
    int64_t rounds = 0;
    if (!reader_number(reader, 1, GRAPH_ROUNDS_MAX, &rounds)) {
        return false;
    }
    reading->edge.rounds = (uint8_t)rounds;
    return true;
}

static const struct reader_field cycle_fields[] = {{"to", read_cycle_to},
                                                   {"rounds", read_cycle_rounds}};

static bool read_cycle_entry(struct reader *reader, const struct reader_text *key, void *context)
{
    static const char right[] = "it is {to: ANCESTOR, rounds: NUMBER}";
    struct shape_reading reading = {.shape = context, .edge.line = (uint32_t)key->line};
    uint64_t seen = 0;
    if (!enter_key(reader, reading.shape, key, SHAPE_CYCLES, &reading.edge.from) ||
        !reader_fields(reader, right, cycle_fields, COUNT(cycle_fields), &reading, &seen)) {
        return false;
    }
    if (seen != 3) {
        return reader_fail(reader, key->line, "a key is missing; %s", right);
    }
    return shape_edge(reading.shape, &reading.edge) || fail_full(reader, key->line);
}

bool shape_text_cycles(struct reader *reader, struct shape *shape)
{
    return reader_map(reader, "it is a map such as {NODE: {to: ANCESTOR, rounds: 2}}",
                      read_cycle_entry, shape);
}

/* ---- preset -------------------------------------------------------------------------------- */

static bool read_entries(struct reader *reader, int64_t most, int32_t *entries)
{
    int64_t number = 0;
    if (!reader_number(reader, 0, most, &number)) {
        return false;
    }
    *entries = (int32_t)number;
    return true;
}

static bool read_preset_leg1(struct reader *reader, void *context)
{
    struct shape_node *node = context;
    return read_entries(reader, ledger_layout(ACTIVITY_LEG1_ENTRIES)->ceiling, &node->preset_leg1);
}

static bool read_preset_leg2(struct reader *reader, void *context)
{
    struct shape_node *node = context;
    return read_entries(reader, ledger_layout(ACTIVITY_LEG2_ENTRIES)->ceiling, &node->preset_leg2);
}

static const struct reader_field preset_fields[] = {{"leg1", read_preset_leg1},
                                                    {"leg2", read_preset_leg2}};

static bool read_preset_entry(struct reader *reader, const struct reader_text *key, void *context)
{
    static const char right[] = "it is {leg1: ENTRIES, leg2: ENTRIES} or one of them";
    struct shape *shape = context;
    uint16_t node = 0;
    uint64_t seen = 0;
    if (!enter_key(reader, shape, key, SHAPE_PRESET, &node) ||
        !reader_fields(reader, right, preset_fields, COUNT(preset_fields), &shape->nodes[node],
                       &seen)) {
        return false;
    }
    return seen != 0 || reader_fail(reader, key->line, "an empty map; %s", right);
}

bool shape_text_preset(struct reader *reader, struct shape *shape)
{
    return reader_map(reader, "it is a map such as {NODE: {leg1: 998}}", read_preset_entry, shape);
}

/* ---- again --------------------------------------------------------------------------------- */

static bool read_again_entry(struct reader *reader, const struct reader_text *key, void *context)
{
    struct shape *shape = context;
    uint16_t node = 0;
    int64_t calls = 0;
    if (!enter_key(reader, shape, key, SHAPE_AGAIN, &node) ||
        !reader_number(reader, 1, GRAPH_PENDINGS_MAX, &calls)) {
        return false;
    }
    shape->nodes[node].again = (uint8_t)calls;
    return true;
}

bool shape_text_again(struct reader *reader, struct shape *shape)
{
    return reader_map(reader, "it is a map such as {NODE: 1}", read_again_entry, shape);
}
