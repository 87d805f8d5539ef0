#include "scenarios/part.h"

#include "model/check.h"
#include "scenarios/shape_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PROTOCOL(name, called) extern const struct scenario_part scenario_part_##name;
#include "model/protocols.def"
#undef PROTOCOL

static const struct scenario_part *const parts[] = {
#define PROTOCOL(name, called) &scenario_part_##name,
#include "model/protocols.def"
#undef PROTOCOL
};

const struct scenario_part *scenario_part_get(const struct protocol *protocol)
{
    return parts[protocol_place(protocol)];
}

/* ---- numbers --------------------------------------------------------------------------------- */

const struct scenario_part_number scenario_part_numbers[] = {
    SCENARIO_PART_NUMBER("jobs", jobs, SCENARIO_JOBS_MAX),
    SCENARIO_PART_NUMBER("workers", workers, SCENARIO_WORKERS_MAX),
    SCENARIO_PART_NUMBER("connections", connections, SCENARIO_WORKERS_MAX),
};
const size_t scenario_part_number_count = COUNT(scenario_part_numbers);

static const struct scenario_part_number *find_number(const struct scenario_part_number *numbers,
                                                      size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(numbers[i].name, name) == 0) {
            return &numbers[i];
        }
    }
    return NULL;
}

bool scenario_part_read_number(struct reader *reader, void *context)
{
    struct scenario *scenario = ((struct loading *)context)->scenario;
    const struct scenario_part *part = scenario_part_get(scenario->protocol);
    const struct scenario_part_number *of =
        find_number(scenario_part_numbers, scenario_part_number_count, reader->key);
    of = of == NULL ? find_number(part->numbers, part->number_count, reader->key) : of;
    CHECK(of != NULL);
    int64_t number = 0;
    bool read = reader_number(reader, 1, of->most, &number);
    *(uint32_t *)((char *)scenario + of->at) = (uint32_t)number;
    return read;
}

/* ---- graphs ---------------------------------------------------------------------------------- */

bool scenario_part_read_graph(struct reader *reader, void *context)
{
    struct loading *loading = context;
    loading->graph_line = reader_line(reader);
    return shape_text_graph(reader, &loading->shape);
}

bool scenario_part_read_pending(struct reader *reader, void *context)
{
    return shape_text_pending(reader, &((struct loading *)context)->shape);
}

bool scenario_part_read_preset(struct reader *reader, void *context)
{
    return shape_text_preset(reader, &((struct loading *)context)->shape);
}

static bool check_activities(struct reader *reader, const struct loading *loading)
{
    const struct scenario *scenario = loading->scenario;
    const uint32_t most = SCENARIO_ACTIVITIES_MAX;
    uint32_t each = graph_activities(&scenario->graph, most + 1);
    if ((uint64_t)each * scenario->jobs <= most) {
        return true;
    }
    reader_enter(reader, "graph");
    return reader_fail(reader, loading->graph_line,
                       "%" PRIu32 " job%s of %s%" PRIu32 " activities; all jobs together make at "
                       "most %" PRIu32,
                       scenario->jobs, scenario->jobs == 1 ? "" : "s",
                       each > most ? "at least " : "", each, most);
}

bool scenario_part_check_graph(struct reader *reader, struct loading *loading)
{
    struct shape_error error;
    if (!shape_build(&loading->shape, &loading->scenario->graph, &error)) {
        reader_enter(reader, error.where);
        return reader_fail(reader, error.line, "%s", error.text);
    }
    return check_activities(reader, loading);
}

/* ---- what becomes of it ---------------------------------------------------------------------- */

void scenario_rules(const struct scenario *scenario, int64_t timeout, int64_t put_back,
                    struct rules *rules)
{
    const struct scenario_part *part = scenario_part_get(scenario->protocol);
    *rules = (struct rules){.protocol = scenario->protocol,
                            .actors = (uint8_t)(1 + scenario->workers),
                            .jobs = scenario->jobs,
                            .timeout = timeout,
                            .put_back = put_back,
                            .of = scenario->of};
    for (uint32_t w = 1; w <= scenario->workers; w++) {
        rules->cast[w] = 1;
    }
    if (part->rules != NULL) {
        part->rules(scenario, rules);
    }
}

uint32_t scenario_connections(const struct scenario *scenario, enum principal principal)
{
    bool has_principals = scenario->protocol->principals != 0;
    if (principal == PRINCIPAL_NONE) {
        return has_principals ? 0 : scenario->connections;
    }
    return scenario->connections != 0 ? scenario->connections : rights_get(principal)->connections;
}

void scenario_room(const struct scenario *scenario, uint32_t rows[TABLE_COUNT])
{
    const struct scenario_part *part = scenario_part_get(scenario->protocol);
    uint64_t used = part->room == NULL ? scenario->protocol->tables : 0;
    for (int t = 0; t < TABLE_COUNT; t++) {
        rows[t] = table_in(used, (enum row_table)t) ? 4 * scenario->jobs + 64 : 0;
    }
    if (part->room != NULL) {
        part->room(scenario, rows);
    }
}
