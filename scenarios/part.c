#include "scenarios/part.h"

#include <stdarg.h>
#include <stdio.h>

#define TIMEOUT_MAX 1000000

#define PROTOCOL(id, name) extern const struct scenario_part scenario_part_##name;
#include "model/protocols.def"
#undef PROTOCOL

static const struct scenario_part *const parts[PROTOCOL_COUNT] = {
#define PROTOCOL(id, name) [PROTOCOL_##id] = &scenario_part_##name,
#include "model/protocols.def"
#undef PROTOCOL
};

const struct scenario_part *part_get(enum protocol_id protocol)
{
    return parts[protocol];
}

void page_put(struct page *page, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(page->text + page->used, page->size - page->used, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= page->size - page->used) {
        page->full = true;
    } else {
        page->used += (size_t)length;
    }
}

bool part_read_count(struct reader *reader, int64_t most, uint32_t *count)
{
    int64_t number = 0;
    if (!reader_number(reader, 1, most, &number)) {
        return false;
    }
    *count = (uint32_t)number;
    return true;
}

bool part_read_timeout(struct reader *reader, void *context)
{
    struct loading *loading = context;
    return reader_number(reader, 1, TIMEOUT_MAX, &loading->scenario->timeout);
}

void scenario_rules(const struct scenario *scenario, int64_t timeout, int64_t put_back,
                    struct rules *rules)
{
    *rules = (struct rules){.protocol = (uint8_t)scenario->protocol,
                            .actors = (uint8_t)(1 + scenario->workers),
                            .jobs = scenario->jobs,
                            .timeout = timeout,
                            .put_back = put_back};
    for (uint32_t w = 1; w <= scenario->workers; w++) {
        rules->cast[w] = 1;
    }
    parts[scenario->protocol]->rules(scenario, rules);
}

uint32_t scenario_connections(const struct scenario *scenario, enum principal principal)
{
    bool has_principals = protocol_get(scenario->protocol)->principals != 0;
    if (principal == PRINCIPAL_NONE) {
        return has_principals ? 0 : scenario->connections;
    }
    return scenario->connections != 0 ? scenario->connections : rights_get(principal)->connections;
}

void scenario_room(const struct scenario *scenario, uint32_t rows[TABLE_COUNT])
{
    for (int t = 0; t < TABLE_COUNT; t++) {
        rows[t] = 0;
    }
    parts[scenario->protocol]->room(scenario, rows);
}
