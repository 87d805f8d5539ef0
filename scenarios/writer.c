#include "scenarios/writer.h"

#include "scenarios/part.h"

#include <inttypes.h>

static void put_numbers(struct page *page, const struct scenario *scenario,
                        const struct part_number *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t number = *(const uint32_t *)((const char *)scenario + numbers[i].at);
        if (number != 0) {
            page_put(page, "%s: %" PRIu32 "\n", numbers[i].name, number);
        }
    }
}

/* A store keeps the log of its commits only if the scenario allows their loss. */
static void put_losses(struct page *page, const struct fault_rate *rate)
{
    if (rate->times != 0) {
        page_put(page, "faults: {%s: %" PRIu32 "/%" PRIu32 "}\n",
                 fault_get(FAULT_LOSSY_FAILOVER)->name, rate->times, rate->of);
    }
}

size_t scenario_write(const struct scenario *scenario, const bool *gone, char *text, size_t size)
{
    struct page page = {.text = text, .size = size};
    const char *quote = scenario->name[0] == '-' ? "'" : ""; /* else a list for YAML */
    page_put(&page, "name: %s%s%s\n", quote, scenario->name, quote);
    page_put(&page, "protocol: %s\n", scenario->protocol->name);
    put_numbers(&page, scenario, part_numbers, part_number_count);
    page_put(&page, "timeout: %" PRId64 "\n", scenario->timeout);
    if (scenario->whole_transactions) {
        page_put(&page, "level: transaction\n");
    }
    const struct scenario_part *part = part_get(scenario->protocol);
    put_numbers(&page, scenario, part->numbers, part->number_count);
    if (part->write != NULL) {
        part->write(&page, scenario, gone);
    }
    put_losses(&page, &scenario->faults.rate[FAULT_LOSSY_FAILOVER]);
    return page.full ? 0 : page.used;
}

bool scenario_smaller(struct scenario *scenario, unsigned way)
{
    const struct scenario_part *part = part_get(scenario->protocol);
    return part->smaller != NULL && part->smaller(scenario, way);
}
