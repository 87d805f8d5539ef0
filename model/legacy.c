#include "model/legacy.h"

#include "model/check.h"

#define CHANGES_MAX 2

/* clang-format off */
static const struct legacy_layout layouts[LEGACY_FIELD_COUNT] = { /* LEG-8 */
    [LEGACY_LEG1_ENTRY]      = {"Leg1 entry status", 1, 1},
    [LEGACY_LEG1_EXIT]       = {"Leg1 exit status",  2, 1},
    [LEGACY_LEG2_EXIT]       = {"Leg2 exit status",  3, 1},
    [LEGACY_LEG2_ENTRIES]    = {"Leg2 entry count",  4, 6},
    [LEGACY_LEG2_EXIT_COUNT] = {"Leg2 exit count",  10, 6},
};

/* An event moves one or two fields by one: the summand follows from the fields, and so does the
 * test that none of them borrows or carries. */
static const struct {
    int count;
    struct { enum legacy_field field; int by; } change[CHANGES_MAX];
} events[LEGACY_EVENT_COUNT] = { /* LEG-1 */
    [LEGACY_LEG1_BEGIN]   = {1, {{LEGACY_LEG1_ENTRY, -1}}},
    [LEGACY_LEG1_END]     = {1, {{LEGACY_LEG1_EXIT, -1}}},
    [LEGACY_LEG2_BEGIN]   = {1, {{LEGACY_LEG2_ENTRIES, 1}}},
    [LEGACY_LEG2_UNDO]    = {1, {{LEGACY_LEG2_ENTRIES, -1}}},
    [LEGACY_LEG2_PENDING] = {1, {{LEGACY_LEG2_EXIT_COUNT, 1}}},
    [LEGACY_LEG2_SUCCESS] = {2, {{LEGACY_LEG2_EXIT, -1}, {LEGACY_LEG2_EXIT_COUNT, 1}}},
};
/* clang-format on */

const struct legacy_layout *legacy_layout(enum legacy_field field)
{
    CHECK((size_t)field < LEGACY_FIELD_COUNT);
    return &layouts[field];
}

int64_t legacy_get(int64_t ledger, enum legacy_field field)
{
    const struct legacy_layout *layout = legacy_layout(field);
    if (!digits_in_range(ledger)) {
        return 0;
    }
    return digits_get(ledger, layout->first_digit, layout->digit_count);
}

static int64_t weight_of(enum legacy_field field)
{
    return digits_weight(layouts[field].first_digit + layouts[field].digit_count - 1);
}

int64_t legacy_summand(enum legacy_event event)
{
    CHECK((size_t)event < LEGACY_EVENT_COUNT);
    int64_t sum = 0;
    for (int i = 0; i < events[event].count; i++) {
        sum += events[event].change[i].by * weight_of(events[event].change[i].field);
    }
    return sum;
}

int legacy_change(enum legacy_event event, enum legacy_field field)
{
    int by = 0;
    for (int i = 0; i < events[event].count; i++) {
        by += events[event].change[i].field == field ? events[event].change[i].by : 0;
    }
    return by;
}

enum legacy_leg1 legacy_leg1_decision(int64_t after_begin)
{
    if (legacy_get(after_begin, LEGACY_LEG1_EXIT) < 9) {
        return LEGACY_LEG1_COMPLETED;
    }
    return legacy_get(after_begin, LEGACY_LEG1_ENTRY) == 8 ? LEGACY_LEG1_FIRST
                                                           : LEGACY_LEG1_CRASHED;
}

enum legacy_leg2 legacy_leg2_decision(int64_t after_begin)
{
    return legacy_closed(after_begin) ? LEGACY_LEG2_TURNED_AWAY : LEGACY_LEG2_OPEN;
}

bool legacy_closed(int64_t ledger)
{
    return legacy_get(ledger, LEGACY_LEG2_EXIT) < 9;
}
