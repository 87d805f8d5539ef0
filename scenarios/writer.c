#include "scenarios/writer.h"

#include "scenarios/part.h"

#include <inttypes.h>

static void put_numbers(struct text *page, const struct scenario *scenario,
                        const struct scenario_part_number *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t number = *(const uint32_t *)((const char *)scenario + numbers[i].at);
        if (number != 0) {
            text_add(page, "%s: %" PRIu32 "\n", numbers[i].name, number);
        }
    }
}

/* A store keeps the log of its commits only if the scenario allows their loss. */
static void put_losses(struct text *page, const struct fault_rate *rate)
{
    if (rate->times != 0) {
        text_add(page, "faults: {%s: %" PRIu32 "/%" PRIu32 "}\n",
                 fault_get(FAULT_LOSSY_FAILOVER)->name, rate->times, rate->of);
    }
}

size_t scenario_write(const struct scenario *scenario, const bool *gone, char *text, size_t size)
{
    struct text page = {.text = text, .size = size};
    const char *quote = scenario->name[0] == '-' ? "'" : ""; /* else a list for YAML */
    text_add(&page, "name: %s%s%s\n", quote, scenario->name, quote);
    text_add(&page, "protocol: %s\n", scenario->protocol->name);
    put_numbers(&page, scenario, scenario_part_numbers, scenario_part_number_count);
    text_add(&page, "timeout: %" PRId64 "\n", scenario->timeout);
    if (scenario->whole_transactions) {
        text_add(&page, "level: transaction\n");
    }
    const struct scenario_part *part = scenario_part_get(scenario->protocol);
    put_numbers(&page, scenario, part->numbers, part->number_count);
    if (part->write != NULL) {
        part->write(&page, scenario, gone);
    }
    put_losses(&page, &scenario->faults.rate[FAULT_LOSSY_FAILOVER]);
    return page.full ? 0 : page.used;
}

bool scenario_smaller(struct scenario *scenario, unsigned way)
{
    const struct scenario_part *part = scenario_part_get(scenario->protocol);
    return part->smaller != NULL && part->smaller(scenario, way);
}
