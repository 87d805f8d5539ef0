/* A protocol's part of a scenario: the keys that only it has, what it needs, and what becomes of
 * them. Private to scenarios/. Each protocol has one, scenario_part_NAME (model/protocols.def). */
#ifndef SCENARIOS_PART_H
#define SCENARIOS_PART_H

#include "scenarios/flow_text.h"
#include "scenarios/reader.h"
#include "scenarios/shape.h"

/* A scenario that is being read: the context of every reader_value below. */
struct loading {
    struct scenario *scenario;
    struct shape shape; /* activity: what is written down of the graph */
    size_t graph_line;
    struct flow_draft flows; /* key: likewise of the flows */
};

/* Text that grows until it does not fit. */
struct page {
    char *text;
    size_t size, used;
    bool full;
};

void page_put(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct scenario_part {
    const struct reader_field *fields; /* its keys, beside those that all protocols have */
    size_t field_count;
    const char *needs; /* "a name and a graph": what a scenario of it must have */
    /* Once all is read: what is needed is there and sound. NULL: nothing is. */
    bool (*check)(struct reader *reader, struct loading *loading);
    /* Fills in rules->of, and the cast if it is another than a client (role 0) and the scenario's
     * workers (role 1). */
    void (*rules)(const struct scenario *scenario, struct rules *rules);
    /* How many rows each table of the protocol needs at most. */
    void (*room)(const struct scenario *scenario, uint32_t rows[TABLE_COUNT]);
    /* Its keys as YAML again, without the nodes that are marked as gone. NULL: it has none. */
    void (*write)(struct page *page, const struct scenario *scenario, const bool *gone);
    /* Makes it smaller in one of the protocol's own ways, counted from 0; false: there is no such
     * way. NULL: there is none at all. */
    bool (*smaller)(struct scenario *scenario, unsigned way);
};

const struct scenario_part *part_get(enum protocol_id protocol);

/* Readers that several protocols use. */
bool part_read_count(struct reader *reader, int64_t most, uint32_t *count);
bool part_read_timeout(struct reader *reader, void *context);

/* Of protocols whose jobs have a graph: that all jobs together make not too many activities; the
 * graph, its pending answers, cycles and presets as YAML again. */
bool part_check_activities(struct reader *reader, const struct loading *loading);
void part_put_graph(struct page *page, const struct graph *graph, const bool *gone);

#endif
