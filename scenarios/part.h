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

/* A key that is a number from 1 to `most`: read and written without more. */
struct part_number {
    const char *name;
    size_t at; /* a uint32_t of struct scenario; 0 where the key is not there */
    uint32_t most;
};

struct scenario_part {
    /* Its keys, beside those that all protocols have. */
    const struct part_number *numbers;
    size_t number_count;
    const struct reader_field *fields;
    size_t field_count;
    const char *needs; /* the one of them that every scenario of it has: "graph" */
    /* Once all is read: that it is sound. NULL: it always is. */
    bool (*check)(struct reader *reader, struct loading *loading);
    /* Completes rules->of, which is the scenario's, and the cast if it is another than a client
     * (role 0) and the scenario's workers (role 1). NULL: both are right. */
    void (*rules)(const struct scenario *scenario, struct rules *rules);
    /* How many rows each table of the protocol needs at most. NULL: four a job, and some. */
    void (*room)(const struct scenario *scenario, uint32_t rows[TABLE_COUNT]);
    /* Its fields as YAML again, without the nodes that are marked as gone. NULL: it has
     * numbers only. */
    void (*write)(struct page *page, const struct scenario *scenario, const bool *gone);
    /* Makes it smaller in one of the protocol's own ways, counted from 0; false: there is no such
     * way. NULL: there is none at all. */
    bool (*smaller)(struct scenario *scenario, unsigned way);
};

const struct scenario_part *part_get(enum protocol_id protocol);

/* What all protocols have that is a number. */
extern const struct part_number part_numbers[];
extern const size_t part_number_count;

#define PART_FIELDS(keys)  .fields = (keys), .field_count = sizeof(keys) / sizeof *(keys)
#define PART_NUMBERS(keys) .numbers = (keys), .number_count = sizeof(keys) / sizeof *(keys)
#define PART_NUMBER(key, member, most)                                                             \
    {                                                                                              \
        key, offsetof(struct scenario, member), most                                               \
    }

/* Readers that several protocols use; the first is that of every part_number. */
bool part_read_number(struct reader *reader, void *context);
bool part_read_graph(struct reader *reader, void *context);
bool part_read_pending(struct reader *reader, void *context);
bool part_read_preset(struct reader *reader, void *context);

/* Of protocols whose jobs have a graph: builds it, and checks that all jobs together make not too
 * many activities; the graph, its pending answers, cycles and presets as YAML again. */
bool part_check_graph(struct reader *reader, struct loading *loading);
void part_put_graph(struct page *page, const struct graph *graph, const bool *gone);

#endif
