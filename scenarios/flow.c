/* The keys of a scenario of the key protocol: flows, and cases of them. */
#include "model/flow.h"
#include "scenarios/flow_text.h"
#include "scenarios/part.h"

#include <inttypes.h>
#include <string.h>

static bool read_flows(struct reader *reader, void *context)
{
    struct loading *loading = context;
    return flow_text_read(reader, &loading->scenario->flows, &loading->flows);
}

static bool read_cases(struct reader *reader, void *context)
{
    struct loading *loading = context;
    int64_t cases = 0;
    if (!reader_number(reader, 1, FLOW_CASES_MAX, &cases)) {
        return false;
    }
    loading->scenario->flows.cases = (uint8_t)cases;
    return true;
}

static const struct reader_field fields[] = {{"cases", read_cases}, {"flows", read_flows}};

/* Counts the rows of a run of a shape, with all awaited flows. */
static void count_run(const struct flow_book *book, int shape, uint32_t *flows,
                      uint32_t *activities)
{
    const struct flow_shape *of = &book->shape[shape];
    *flows += 1;
    *activities += (uint32_t)of->graph.count;
    for (int i = 0; i < of->graph.count; i++) {
        if (of->at[i].awaits != 0) {
            count_run(book, of->at[i].awaits - 1, flows, activities);
        }
    }
}

static bool check_activities(struct reader *reader, const struct loading *loading)
{
    const struct scenario *scenario = loading->scenario;
    uint32_t flows = 0, activities = 0;
    count_run(&scenario->flows, 0, &flows, &activities);
    if ((uint64_t)activities * scenario->jobs <= SCENARIO_ACTIVITIES_MAX) {
        return true;
    }
    return reader_fail(reader, loading->flows.line,
                       "%" PRIu32 " jobs of %" PRIu32 " activities; all jobs together make at most "
                       "%d",
                       scenario->jobs, activities, SCENARIO_ACTIVITIES_MAX);
}

static bool check(struct reader *reader, struct loading *loading)
{
    struct flow_book *book = &loading->scenario->flows;
    book->cases = book->cases == 0 ? 1 : book->cases;
    return flow_text_build(reader, book, &loading->flows) && check_activities(reader, loading);
}

static void make_rules(const struct scenario *scenario, struct rules *rules)
{
    RULES_OF(rules, flow_rules)->book = &scenario->flows;
}

static void make_room(const struct scenario *scenario, uint32_t rows[TABLE_COUNT])
{
    uint32_t flows = 0, activities = 0;
    count_run(&scenario->flows, 0, &flows, &activities);
    rows[TABLE_FLOW] = scenario->jobs * flows;
    rows[TABLE_FLOW_PLACE] = scenario->jobs * activities;
    rows[TABLE_FLOW_EVENT] = scenario->jobs * activities * FLOW_SKIPPED;
    rows[TABLE_FLOW_END] = scenario->jobs * flows;
    rows[TABLE_MESSAGE] = 8 * scenario->jobs * activities + 64; /* duplicated, replayed */
}

/* ---- as YAML again --------------------------------------------------------------------------- */

static void put_cases(struct text *page, uint8_t cases)
{
    const char *separator = "";
    text_add(page, "[");
    for (int i = 0; i < FLOW_CASES_MAX; i++) {
        if ((cases >> i & 1) != 0) {
            text_add(page, "%s%d", separator, i + 1);
            separator = ", ";
        }
    }
    text_add(page, "]");
}

static void put_next(struct text *page, const struct flow_shape *shape, int position, uint8_t all)
{
    const char *separator = "";
    text_add(page, "{next: [");
    for (int child = 0; child < shape->graph.count; child++) {
        uint8_t when = shape->at[position].when[child];
        if ((shape->graph.next[position] >> child & 1) == 0) {
            continue;
        }
        if (when == all) {
            text_add(page, "%s%s", separator, shape->at[child].name);
        } else {
            text_add(page, "%s{to: %s, when: ", separator, shape->at[child].name);
            put_cases(page, when);
            text_add(page, "}");
        }
        separator = ", ";
    }
    text_add(page, "]");
}

static void put_some(struct text *page, const char *what, uint8_t cases)
{
    if (cases != 0) {
        text_add(page, ", %s: ", what);
        put_cases(page, cases);
    }
}

static void put_activity(struct text *page, const struct flow_book *book,
                         const struct flow_shape *shape, int position)
{
    const struct flow_activity *activity = &shape->at[position];
    text_add(page, "    %s: ", activity->name);
    put_next(page, shape, position, (uint8_t)((1U << book->cases) - 1));
    put_some(page, "errors", activity->errors);
    put_some(page, "holds", activity->holds);
    put_some(page, "pauses", activity->pauses);
    if (activity->awaits != 0) {
        text_add(page, ", awaits: %s", book->shape[activity->awaits - 1].name);
    }
    text_add(page, "}\n");
}

static void write_keys(struct text *page, const struct scenario *scenario, const bool *gone)
{
    const struct flow_book *book = &scenario->flows;
    (void)gone;
    text_add(page, "cases: %d\nflows:\n", book->cases);
    for (int i = 0; i < book->shapes; i++) {
        text_add(page, "  %s:\n", book->shape[i].name);
        for (int at = 0; at < book->shape[i].graph.count; at++) {
            put_activity(page, book, &book->shape[i], at);
        }
    }
}

/* ---- smaller --------------------------------------------------------------------------------- */

/* Keeps one case, and one job of it. */
static void keep_case(struct scenario *scenario, int number)
{
    struct flow_book *book = &scenario->flows;
    for (int i = 0; i < book->shapes * KEY_ACTIVITIES_MAX; i++) {
        struct flow_activity *activity =
            &book->shape[i / KEY_ACTIVITIES_MAX].at[i % KEY_ACTIVITIES_MAX];
        activity->errors = activity->errors >> number & 1;
        activity->holds = activity->holds >> number & 1;
        activity->pauses = activity->pauses >> number & 1;
        for (int child = 0; child < KEY_ACTIVITIES_MAX; child++) {
            activity->when[child] = activity->when[child] >> number & 1;
        }
    }
    book->cases = 1;
    scenario->jobs = 1;
}

/* The bits above a position move down onto it. */
static uint16_t without(uint16_t set, int position)
{
    uint16_t below = (uint16_t)((1U << position) - 1);
    return (uint16_t)((set & below) | (set >> 1 & ~below));
}

static void remove_activity(struct flow_shape *shape, int position)
{
    int count = --shape->graph.count;
    for (int i = position; i < count; i++) {
        shape->at[i] = shape->at[i + 1];
        shape->graph.next[i] = shape->graph.next[i + 1];
    }
    for (int i = 0; i < count; i++) {
        uint8_t *when = shape->at[i].when;
        memmove(&when[position], &when[position + 1], (size_t)(count - position));
        shape->graph.next[i] = without(shape->graph.next[i], position);
    }
}

static void remove_unused(struct flow_book *book)
{
    int used = 1;
    for (int i = 0; i < book->shapes * KEY_ACTIVITIES_MAX; i++) {
        const struct flow_shape *shape = &book->shape[i / KEY_ACTIVITIES_MAX];
        int position = i % KEY_ACTIVITIES_MAX;
        int awaits = position < shape->graph.count ? shape->at[position].awaits : 0;
        used = awaits > used ? awaits : used;
    }
    book->shapes = (uint8_t)used;
}

/* Every way makes the scenario smaller, else shrinking would not end: one case of several; an
 * activity removed, where there are others; an awaited flow removed. */
static bool make_smaller(struct scenario *scenario, unsigned way)
{
    struct flow_book *book = &scenario->flows;
    for (int number = 0; book->cases > 1 && number < book->cases; number++) {
        if (way-- == 0) {
            keep_case(scenario, number);
            return true;
        }
    }
    for (int i = 0; i < book->shapes * KEY_ACTIVITIES_MAX; i++) {
        struct flow_shape *shape = &book->shape[i / KEY_ACTIVITIES_MAX];
        int position = i % KEY_ACTIVITIES_MAX;
        bool removable = position < shape->graph.count && shape->graph.count > 1;
        bool awaits = position < shape->graph.count && shape->at[position].awaits != 0;
        if (removable && way-- == 0) {
            remove_activity(shape, position);
            remove_unused(book);
            return true;
        }
        if (awaits && way-- == 0) {
            shape->at[position].awaits = 0;
            remove_unused(book);
            return true;
        }
    }
    return false;
}

const struct scenario_part scenario_part_flow = {
    SCENARIO_PART_FIELDS(fields), .needs = "flows",  .check = check,
    .rules = make_rules,          .room = make_room, .write = write_keys,
    .smaller = make_smaller};
