#include "model/reference/legacy.h"

#include "model/check.h"

void legacy_check(int64_t before, enum legacy_event event, int64_t after)
{
    CHECK(digits_in_range(after)); /* LG1 */
    for (int f = 0; f < LEGACY_FIELD_COUNT; f++) {
        enum legacy_field field = (enum legacy_field)f;
        CHECK(legacy_get(after, field) ==
              legacy_get(before, field) + legacy_change(event, field)); /* LG1 */
    }
}

static bool has_room(int64_t ledger, enum legacy_field field, int by)
{
    int64_t after = legacy_get(ledger, field) + by;
    return after >= 0 && after < digits_power(legacy_layout(field)->digit_count);
}

struct legacy_addition legacy_add(int64_t ledger, enum legacy_event event)
{
    CHECK((size_t)event < LEGACY_EVENT_COUNT);
    if (!digits_in_range(ledger)) {
        return (struct legacy_addition){.outcome = LEGACY_NOT_A_LEDGER, .ledger = ledger};
    }
    for (int f = 0; f < LEGACY_FIELD_COUNT; f++) {
        if (!has_room(ledger, (enum legacy_field)f, legacy_change(event, (enum legacy_field)f))) {
            return (struct legacy_addition){.outcome = LEGACY_AT_LIMIT, .ledger = ledger}; /* LG1 */
        }
    }
    int64_t after = ledger + legacy_summand(event);
    CHECK_ALL(legacy_check(ledger, event, after));
    return (struct legacy_addition){.outcome = LEGACY_ADDED, .ledger = after};
}
