/* A protocol's part of a scenario: the keys that only this protocol has, how they are checked, and
 * the rules and table sizes that follow from them. Private to scenarios/. Each protocol has one,
 * scenario_part_NAME (model/protocols.def). */
#ifndef SCENARIOS_PART_H
#define SCENARIOS_PART_H

#include "model/text.h"
#include "scenarios/flow_text.h"
#include "scenarios/reader.h"
#include "scenarios/shape.h"

/* A scenario that is being read: the context of every reader_value below. */
struct loading {
    struct scenario *scenario;
    struct shape shape; /* activity: the graph as written */
    size_t graph_line;
    struct flow_draft flows; /* key: the flows as written */
};

/* A key whose value is a number from 1 to `most`; needs no reader or writer of its own. */
struct scenario_part_number {
    const char *name;
    size_t at; /* offset of a uint32_t in struct scenario; it is 0 if the key is missing */
    uint32_t most;
};

struct scenario_part {
    /* Its keys, in addition to those of all protocols. */
    const struct scenario_part_number *numbers;
    size_t number_count;
    const struct reader_field *fields;
    size_t field_count;
    const char
        *needs; /* the key that every scenario of the protocol must have: "graph"; NULL: none */
    /* Called after reading: checks that the scenario is sound. NULL: it always is. */
    bool (*check)(struct reader *reader, struct loading *loading);
    /* Completes rules->of, a copy of the scenario's, and the cast if it differs from one client
     * (role 0) and the scenario's workers (role 1). NULL: both are complete. */
    void (*rules)(const struct scenario *scenario, struct rules *rules);
    /* The most rows that each table of the protocol needs. NULL: four a job, plus some. */
    void (*room)(const struct scenario *scenario, uint32_t rows[TABLE_COUNT]);
    /* Writes its fields as YAML, without the nodes marked in `gone`. NULL: it has numbers only. */
    void (*write)(struct text *page, const struct scenario *scenario, const bool *gone);
    /* Makes the workload smaller in one of the protocol's own ways, counted from 0; false: there is
     * no such way. NULL: there is none. */
    bool (*smaller)(struct scenario *scenario, unsigned way);
};

const struct scenario_part *scenario_part_get(const struct protocol *protocol);

/* The numbers that all protocols have. */
extern const struct scenario_part_number scenario_part_numbers[];
extern const size_t scenario_part_number_count;

#define SCENARIO_PART_FIELDS(keys)  .fields = (keys), .field_count = COUNT(keys)
#define SCENARIO_PART_NUMBERS(keys) .numbers = (keys), .number_count = COUNT(keys)
/* ... in the scenario itself, or in the protocol's own rules, `struct type`. */
#define SCENARIO_PART_NUMBER(key, member, most)                                                    \
    {                                                                                              \
        key, offsetof(struct scenario, member), most                                               \
    }

#define SCENARIO_PART_OWN_NUMBER(key, type, member, most)                                          \
    {                                                                                              \
        key, offsetof(struct scenario, of) + offsetof(struct type, member), most                   \
    }

/* Readers that several protocols use; scenario_part_read_number is that of every scenario_part_number. */
bool scenario_part_read_number(struct reader *reader, void *context);
bool scenario_part_read_graph(struct reader *reader, void *context);
bool scenario_part_read_pending(struct reader *reader, void *context);
bool scenario_part_read_preset(struct reader *reader, void *context);

/* For protocols whose jobs have a graph: builds it, and checks the total number of activities of
 * all jobs; writes the graph, its pending answers, cycles and presets as YAML. */
bool scenario_part_check_graph(struct reader *reader, struct loading *loading);
void scenario_part_put_graph(struct text *page, const struct graph *graph, const bool *gone);

#endif
