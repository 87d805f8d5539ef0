/* What a scenario of the key protocol has: flows, and cases of them. */
#include "scenarios/flow_text.h"
#include "scenarios/part.h"

#include <inttypes.h>

static bool read_flows(struct reader *reader, void *context)
{
    struct loading *loading = context;
    return flow_text_read(reader, &loading->scenario->flows, &loading->flows);
}

static bool read_cases(struct reader *reader, void *context)
{
    struct loading *loading = context;
    uint32_t cases = 0;
    if (!part_read_count(reader, FLOW_CASES_MAX, &cases)) {
        return false;
    }
    loading->scenario->flows.cases = (uint8_t)cases;
    return true;
}

static const struct reader_field fields[] = {
    {"timeout", part_read_timeout}, {"cases", read_cases}, {"flows", read_flows}};

static bool check(struct reader *reader, struct loading *loading)
{
    struct flow_book *book = &loading->scenario->flows;
    if (book->shapes == 0) {
        return reader_fail(reader, 1, "the key flows is missing; a scenario has a name and flows");
    }
    book->cases = book->cases == 0 ? 1 : book->cases;
    return flow_text_build(reader, book, &loading->flows);
}

static void make_rules(const struct scenario *scenario, struct rules *rules)
{
    rules->of.key.book = &scenario->flows;
}

/* What a run of a shape makes, with all flows that are awaited in it. */
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

static void put_cases(struct page *page, uint8_t cases)
{
    const char *separator = "";
    page_put(page, "[");
    for (int i = 0; i < FLOW_CASES_MAX; i++) {
        if ((cases >> i & 1) != 0) {
            page_put(page, "%s%d", separator, i + 1);
            separator = ", ";
        }
    }
    page_put(page, "]");
}

static void put_next(struct page *page, const struct flow_shape *shape, int position, uint8_t all)
{
    const char *separator = "";
    page_put(page, "{next: [");
    for (int child = 0; child < shape->graph.count; child++) {
        uint8_t when = shape->at[position].when[child];
        if ((shape->graph.next[position] >> child & 1) == 0) {
            continue;
        }
        if (when == all) {
            page_put(page, "%s%s", separator, shape->at[child].name);
        } else {
            page_put(page, "%s{to: %s, when: ", separator, shape->at[child].name);
            put_cases(page, when);
            page_put(page, "}");
        }
        separator = ", ";
    }
    page_put(page, "]");
}

static void put_some(struct page *page, const char *what, uint8_t cases)
{
    if (cases != 0) {
        page_put(page, ", %s: ", what);
        put_cases(page, cases);
    }
}

static void put_activity(struct page *page, const struct flow_book *book,
                         const struct flow_shape *shape, int position)
{
    const struct flow_activity *activity = &shape->at[position];
    page_put(page, "    %s: ", activity->name);
    put_next(page, shape, position, (uint8_t)((1U << book->cases) - 1));
    put_some(page, "errors", activity->errors);
    put_some(page, "holds", activity->holds);
    put_some(page, "pauses", activity->pauses);
    if (activity->awaits != 0) {
        page_put(page, ", awaits: %s", book->shape[activity->awaits - 1].name);
    }
    page_put(page, "}\n");
}

static void write_keys(struct page *page, const struct scenario *scenario, const bool *gone)
{
    const struct flow_book *book = &scenario->flows;
    (void)gone;
    page_put(page, "cases: %d\nflows:\n", book->cases);
    for (int i = 0; i < book->shapes; i++) {
        page_put(page, "  %s:\n", book->shape[i].name);
        for (int at = 0; at < book->shape[i].graph.count; at++) {
            put_activity(page, book, &book->shape[i], at);
        }
    }
}

const struct scenario_part scenario_part_key = {.fields = fields,
                                                .field_count = sizeof fields / sizeof *fields,
                                                .needs = "a name and flows",
                                                .check = check,
                                                .rules = make_rules,
                                                .room = make_room,
                                                .write = write_keys};
