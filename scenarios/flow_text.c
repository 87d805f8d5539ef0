#include "scenarios/flow_text.h"
#include "model/flow.h"

#include <string.h>

#define ALWAYS ((1U << FLOW_CASES_MAX) - 1)

/* What is being read. */
struct reading {
    struct flow_book *book;
    struct flow_draft *draft;
    int shape, position; /* of the activity at hand */
    int child;           /* of the edge at hand */
    uint8_t cases;       /* of the list at hand */
};

static struct flow_shape *shape_at(const struct reading *reading)
{
    return &reading->book->shape[reading->shape];
}

static struct flow_activity *activity_at(const struct reading *reading)
{
    return &shape_at(reading)->at[reading->position];
}

/* ---- names ----------------------------------------------------------------------------------- */

/* The activity with this name, new or not, in the order in which they are mentioned. */
static bool mention(struct reader *reader, struct flow_shape *shape, const char *name, size_t line,
                    int *found)
{
    for (int i = 0; i < shape->graph.count; i++) {
        if (strcmp(shape->at[i].name, name) == 0) {
            *found = i;
            return true;
        }
    }
    if (shape->graph.count == KEY_ACTIVITIES_MAX) {
        return reader_fail(reader, line, "\"%s\" is one too many; %s", name,
                           key_placing_rule(KEY_PLACE_TOO_MANY)); /* KEY-2 */
    }
    *found = shape->graph.count++;
    memcpy(shape->at[*found].name, name, strlen(name) + 1);
    return true;
}

/* ---- cases ----------------------------------------------------------------------------------- */

static bool read_case(struct reader *reader, void *context)
{
    struct reading *reading = context;
    size_t line = reader_line(reader);
    int64_t number = 0;
    if (!reader_number(reader, 1, FLOW_CASES_MAX, &number)) {
        return false;
    }
    reading->cases |= (uint8_t)(1U << (number - 1));
    if (number > reading->draft->greatest_case) {
        reading->draft->greatest_case = (int)number;
        reading->draft->case_line = line;
    }
    return true;
}

static bool read_cases(struct reader *reader, struct reading *reading, uint8_t *cases)
{
    reading->cases = 0;
    if (!reader_list(reader, "it is a list of cases, such as [1, 3]", read_case, reading)) {
        return false;
    }
    *cases = reading->cases;
    return true;
}

/* ---- an activity ----------------------------------------------------------------------------- */

static bool read_to(struct reader *reader, void *context)
{
    struct reading *reading = context;
    char name[FLOW_NAME_SIZE];
    size_t line = reader_line(reader);
    return reader_name(reader, name, sizeof name) &&
           mention(reader, shape_at(reading), name, line, &reading->child);
}

/* The child may come after its condition, so the condition is kept until both are read. */
static bool read_when(struct reader *reader, void *context)
{
    struct reading *reading = context;
    return read_cases(reader, reading, &reading->cases);
}

static const struct reader_field child_fields[] = {{"to", read_to}, {"when", read_when}};

static bool read_child(struct reader *reader, void *context)
{
    struct reading *reading = context;
    size_t line = reader_line(reader);
    uint64_t seen = 1;
    bool read = reader_kind(reader) == READER_TEXT
                    ? read_to(reader, reading)
                    : reader_fields(reader, "a child is a name or {to: NAME, when: [1]}",
                                    child_fields, COUNT(child_fields), reading, &seen);
    if (!read) {
        return false;
    }
    if ((seen & 1) == 0) {
        return reader_fail(reader, line, "a child without a name; it is {to: NAME, when: [1]}");
    }
    if (key_graph_add(&shape_at(reading)->graph, reading->position, reading->child) !=
        KEY_EDGE_ADDED) {
        return reader_fail(reader, line, "an activity cannot follow itself");
    }
    activity_at(reading)->when[reading->child] = (seen & 2) != 0 ? reading->cases : ALWAYS;
    return true;
}

static bool read_next(struct reader *reader, void *context)
{
    return reader_list(reader, "it is a list of children, such as [left, right]", read_child,
                       context);
}

static bool read_errors(struct reader *reader, void *context)
{
    struct reading *reading = context;
    return read_cases(reader, reading, &activity_at(reading)->errors);
}

static bool read_holds(struct reader *reader, void *context)
{
    struct reading *reading = context;
    return read_cases(reader, reading, &activity_at(reading)->holds);
}

static bool read_pauses(struct reader *reader, void *context)
{
    struct reading *reading = context;
    return read_cases(reader, reading, &activity_at(reading)->pauses);
}

static bool read_awaits(struct reader *reader, void *context)
{
    struct reading *reading = context;
    reading->draft->awaits[reading->shape][reading->position].line = reader_line(reader);
    return reader_name(reader, reading->draft->awaits[reading->shape][reading->position].flow,
                       FLOW_NAME_SIZE);
}

static const struct reader_field activity_fields[] = {{"next", read_next},
                                                      {"errors", read_errors},
                                                      {"holds", read_holds},
                                                      {"pauses", read_pauses},
                                                      {"awaits", read_awaits}};

static bool read_activity(struct reader *reader, const struct reader_text *key, void *context)
{
    struct reading *reading = context;
    uint16_t *described = &reading->draft->described[reading->shape];
    uint64_t seen;
    if (!reader_is_name(reader, key, FLOW_NAME_SIZE) ||
        !mention(reader, shape_at(reading), key->text, key->line, &reading->position)) {
        return false;
    }
    if ((*described >> reading->position & 1) != 0) {
        return reader_fail(reader, key->line, "the activity \"%s\" again; a key stands once",
                           key->text);
    }
    *described |= (uint16_t)(1U << reading->position);
    reader_enter(reader, key->text);
    return reader_kind(reader) == READER_LIST
               ? read_next(reader, reading)
               : reader_fields(reader, "it is a list of children or {next: [NAME], errors: [1]}",
                               activity_fields, COUNT(activity_fields), reading, &seen);
}

/* ---- flows ----------------------------------------------------------------------------------- */

static int find_flow(const struct flow_book *book, const char *name)
{
    for (int i = 0; i < book->shapes; i++) {
        if (strcmp(book->shape[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static bool read_flow(struct reader *reader, const struct reader_text *key, void *context)
{
    struct reading *reading = context;
    struct flow_book *book = reading->book;
    if (!reader_is_name(reader, key, FLOW_NAME_SIZE)) {
        return false;
    }
    if (find_flow(book, key->text) >= 0) {
        return reader_fail(reader, key->line, "the flow \"%s\" again; a key stands once",
                           key->text);
    }
    if (book->shapes == FLOW_SHAPES_MAX) {
        return reader_fail(reader, key->line, "too many; at most %d flows", FLOW_SHAPES_MAX);
    }
    reading->shape = book->shapes++;
    reading->draft->lines[reading->shape] = key->line;
    memcpy(shape_at(reading)->name, key->text, key->length + 1);
    reader_enter(reader, key->text);
    return reader_map(reader, "it is a map of activities, such as {quick: [brown]}", read_activity,
                      reading);
}

bool flow_text_read(struct reader *reader, struct flow_book *book, struct flow_draft *draft)
{
    static const char right[] = "it is a map of flows, such as {story: {quick: [brown]}}";
    struct reading reading = {.book = book, .draft = draft};
    draft->line = reader_line(reader);
    return reader_map(reader, right, read_flow, &reading) &&
           (book->shapes > 0 || reader_fail(reader, draft->line, "an empty map; %s", right));
}

/* ---- all of it together ---------------------------------------------------------------------- */

static uint16_t moved(uint16_t set, const int *position, int count)
{
    uint16_t result = 0;
    for (int i = 0; i < count; i++) {
        result = (uint16_t)(result | (set >> i & 1) << position[i]);
    }
    return result;
}

/* From the order of mention to ascending order (KEY-2). */
static void place_activities(struct flow_shape *shape, const int *position)
{
    struct flow_shape old = *shape;
    int count = old.graph.count;
    memset(shape->at, 0, sizeof shape->at);
    for (int i = 0; i < count; i++) {
        struct flow_activity *activity = &shape->at[position[i]];
        *activity = old.at[i];
        memset(activity->when, 0, sizeof activity->when);
        for (int child = 0; child < count; child++) {
            activity->when[position[child]] = old.at[i].when[child];
        }
        shape->graph.next[position[i]] = moved(old.graph.next[i], position, count);
    }
}

static bool link_flow(struct reader *reader, struct flow_book *book, const struct flow_draft *draft,
                      int from, int activity)
{
    const char *name = draft->awaits[from][activity].flow;
    size_t line = draft->awaits[from][activity].line;
    int to = find_flow(book, name);
    if (name[0] == '\0') {
        return true;
    }
    if (to < 0) {
        return reader_fail(reader, line, "there is no flow \"%s\" to await", name);
    }
    if (to <= from) {
        return reader_fail(reader, line, "\"%s\" does not stand below; a flow awaits later ones",
                           name);
    }
    book->shape[from].at[activity].awaits = (uint8_t)(1 + to);
    return true;
}

static bool build_flow(struct reader *reader, struct flow_book *book,
                       const struct flow_draft *draft, int number)
{
    struct flow_shape *shape = &book->shape[number];
    struct key_id ids[KEY_ACTIVITIES_MAX];
    reader_enter(reader, shape->name);
    if (shape->graph.count == 0) {
        return reader_fail(reader, draft->lines[number], "%s", key_placing_rule(KEY_PLACE_NO_ID));
    }
    for (int i = 0; i < shape->graph.count; i++) {
        ids[i] = (struct key_id){shape->at[i].name, strlen(shape->at[i].name)};
        if (!link_flow(reader, book, draft, number, i)) {
            return false;
        }
        for (int child = 0; child < shape->graph.count; child++) {
            shape->at[i].when[child] &= (uint8_t)((1U << book->cases) - 1);
        }
    }
    if (!key_graph_acyclic(&shape->graph)) {
        return reader_fail(reader, draft->lines[number], "a flow does not come back to itself");
    }
    struct key_places places = key_place(ids, (size_t)shape->graph.count);
    place_activities(shape, places.position);
    return flow_memos(book, shape) <= FLOW_MEMOS_MAX ||
           reader_fail(reader, draft->lines[number],
                       "more than %d edges with a condition lead to joins", FLOW_MEMOS_MAX);
}

bool flow_text_build(struct reader *reader, struct flow_book *book, const struct flow_draft *draft)
{
    if (draft->greatest_case > book->cases) {
        reader_enter(reader, "flows");
        return reader_fail(reader, draft->case_line, "case %d; there are %d", draft->greatest_case,
                           book->cases);
    }
    char where[READER_WHERE_SIZE];
    reader_enter(reader, "flows");
    memcpy(where, reader->where, sizeof where);
    for (int i = 0; i < book->shapes; i++) {
        memcpy(reader->where, where, sizeof where);
        if (!build_flow(reader, book, draft, i)) {
            return false;
        }
    }
    return true;
}
