#include "cli/sweep_counts.h"

#include "reports/line.h"

const char *const sweep_side_names[SWEEP_SIDES] = {"before begin", "before commit", "after commit"};

uint64_t sweep_fired_at(const struct sweep_report *report, int bundle, int side)
{
    uint64_t sum = 0;
    for (int depth = 0; depth < SWEEP_DEPTH_MAX; depth++) {
        sum += report->by_bundle[depth][bundle][side];
    }
    return sum;
}

static uint64_t fired_in(const struct sweep_report *report, int side)
{
    uint64_t sum = 0;
    for (int b = 0; b < BUNDLE_NAME_COUNT; b++) {
        sum += sweep_fired_at(report, b, side);
    }
    return sum;
}

uint64_t sweep_fired(const struct sweep_report *report)
{
    return fired_in(report, 0) + fired_in(report, 1) + fired_in(report, 2);
}

json_t *sweep_crash_points(const struct sweep_report *report)
{
    json_t *list = json_array();
    for (int depth = 0; depth < SWEEP_DEPTH_MAX; depth++) {
        for (int b = 0; b < BUNDLE_NAME_COUNT; b++) {
            for (int side = 0; side < SWEEP_SIDES; side++) {
                uint64_t count = report->by_bundle[depth][b][side];
                if (count > 0) {
                    json_array_append_new(
                        list, json_pack("[s, s, i, I]", bundle_name_text((enum bundle_name)b),
                                        sweep_side_names[side], depth + 1, (json_int_t)count));
                }
            }
        }
    }
    return list;
}

json_t *sweep_points(const uint64_t points[SWEEP_DEPTH_MAX], uint64_t depth)
{
    json_t *list = json_array();
    for (unsigned d = 0; d < depth; d++) {
        json_array_append_new(list, json_integer((json_int_t)points[d]));
    }
    return list;
}

json_t *sweep_fired_kinds(const struct sweep_report *report)
{
    json_t *kinds = json_object();
    for (int side = 0; side < SWEEP_SIDES; side++) {
        json_object_set_new(kinds, fault_get(sweep_sides[side])->name,
                            json_integer((json_int_t)fired_in(report, side)));
    }
    return kinds;
}

/* Where a point of a list is counted; NULL: nowhere. */
static uint64_t *counter_of(struct sweep_report *report, const json_t *point)
{
    const char *where = json_string_value(json_array_get(point, 0));
    const char *on = json_string_value(json_array_get(point, 1));
    json_int_t depth = json_integer_value(json_array_get(point, 2));
    for (int b = 0; depth >= 1 && depth <= SWEEP_DEPTH_MAX && b < BUNDLE_NAME_COUNT; b++) {
        for (int side = 0; side < SWEEP_SIDES; side++) {
            if (line_text_is(bundle_name_text((enum bundle_name)b), where) &&
                line_text_is(sweep_side_names[side], on)) {
                return &report->by_bundle[depth - 1][b][side];
            }
        }
    }
    return NULL;
}

void sweep_add_crash_points(struct sweep_report *report, const json_t *list)
{
    size_t i;
    json_t *point;
    json_array_foreach((json_t *)list, i, point)
    {
        uint64_t *counter = counter_of(report, point);
        if (counter != NULL) {
            *counter += (uint64_t)json_integer_value(json_array_get(point, 3));
        }
    }
}
