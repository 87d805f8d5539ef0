#include "model/ledger.h"

#include "model/check.h"

#define T1   INT64_C(1000000000000)
#define B100 INT64_C(100000000000)
#define B10  INT64_C(10000000000)
#define B1   INT64_C(1000000000)
#define M100 INT64_C(100000000)

#define ENTRIES_MAX INT64_C(99999999)

/* clang-format off */
static const struct ledger_layout layouts[LEDGER_FIELD_COUNT] = { /* ACL-4, ACL-12 */
    [ACTIVITY_LEG1_ENTRIES]     = {"Leg1 entries",     LEDGER_ACTIVITY, 1, 3, T1,   999},
    [ACTIVITY_LEG1_COMPLETE]    = {"Leg1 complete",    LEDGER_ACTIVITY, 4, 1, B100, 1},
    [ACTIVITY_WORK_DONE]        = {"work done",        LEDGER_ACTIVITY, 5, 1, B10,  1},
    [ACTIVITY_CHILDREN_SPAWNED] = {"children spawned", LEDGER_ACTIVITY, 6, 1, B1,   1},
    [ACTIVITY_JOB_TASKS_DONE]   = {"job tasks done",   LEDGER_ACTIVITY, 7, 1, M100, 1},
    [ACTIVITY_LEG2_ENTRIES]     = {"Leg2 entries",     LEDGER_ACTIVITY, 8, 8, 1,    ENTRIES_MAX},
    [GUID_RESERVED]             = {"reserved",         LEDGER_GUID,     1, 3, T1,   0},
    [GUID_JOB_CLOSED]           = {"job closed",       LEDGER_GUID,     4, 1, B100, 1},
    [GUID_WORK_DONE]            = {"work done",        LEDGER_GUID,     5, 1, B10,  1},
    [GUID_CHILDREN_SPAWNED]     = {"children spawned", LEDGER_GUID,     6, 1, B1,   1},
    [GUID_JOB_TASKS_DONE]       = {"job tasks done",   LEDGER_GUID,     7, 1, M100, 1},
    [GUID_ATTEMPTS]             = {"attempt counter",  LEDGER_GUID,     8, 8, 1,    ENTRIES_MAX},
};

static const char *const defect_texts[] = {
    [LEDGER_SOUND]              = "sound",
    [LEDGER_OUT_OF_RANGE]       = "it is negative or has more than 15 digits",
    [LEDGER_MARKER_ABOVE_1]     = "a marker digit is neither 0 nor 1",
    [LEDGER_RESERVED_SET]       = "digits 1-3 of a GUID ledger are reserved and always 0",
    [LEDGER_COMPLETE_UNENTERED] = "Leg1 is complete although it was never entered",
    [LEDGER_LEG2_BEFORE_LEG1]   = "Leg2 was entered before Leg1 was complete",
    [LEDGER_MARKED_UNENTERED]   = "a step is marked although Leg2 was never entered",
    [LEDGER_STEPS_OUT_OF_ORDER] = "a later step is marked before an earlier one",
};
/* clang-format on */

const struct ledger_layout *ledger_layout(enum ledger_field field)
{
    CHECK((size_t)field < LEDGER_FIELD_COUNT);
    return &layouts[field];
}

/* Digits 4-7 as one number, 0 to 9999. */
static int64_t markers(int64_t ledger)
{
    return digits_get(ledger, 4, 4);
}

int64_t ledger_get(int64_t ledger, enum ledger_field field)
{
    const struct ledger_layout *layout = ledger_layout(field);
    if (!digits_in_range(ledger)) {
        return 0;
    }
    return digits_get(ledger, layout->first_digit, layout->digit_count);
}

enum ledger_resume ledger_resume(int64_t guid)
{
    if (!digits_in_range(guid)) {
        return LEDGER_RESUME_CORRUPT;
    }
    switch (markers(guid)) {
    case 0:
        return LEDGER_NOTHING_DONE;
    case 100:
        return LEDGER_WORK_IS_DONE;
    case 110:
        return LEDGER_SPAWNED_JOB_OPEN;
    case 1110:
        return LEDGER_SPAWNED_JOB_ENDED;
    case 1111:
        return LEDGER_ALL_DONE;
    default:
        return LEDGER_RESUME_CORRUPT;
    }
}

int64_t ledger_dimension(int64_t activity_after_entry)
{
    int64_t entries = ledger_get(activity_after_entry, ACTIVITY_LEG2_ENTRIES);
    CHECK(entries >= 1);
    return entries - 1;
}

static enum ledger_defect inspect_activity(int64_t ledger)
{
    bool entered_leg1 = ledger_get(ledger, ACTIVITY_LEG1_ENTRIES) > 0;
    bool complete = ledger_get(ledger, ACTIVITY_LEG1_COMPLETE) == 1;
    bool entered_leg2 = ledger_get(ledger, ACTIVITY_LEG2_ENTRIES) > 0;
    int64_t steps = markers(ledger) % 1000;
    if (complete && !entered_leg1) {
        return LEDGER_COMPLETE_UNENTERED;
    }
    if (entered_leg2 && !complete) {
        return LEDGER_LEG2_BEFORE_LEG1;
    }
    if (steps != 0 && !entered_leg2) {
        return LEDGER_MARKED_UNENTERED;
    }
    bool in_order = steps == 0 || steps == 100 || steps == 110 || steps == 111;
    return in_order ? LEDGER_SOUND : LEDGER_STEPS_OUT_OF_ORDER;
}

static enum ledger_defect inspect_guid(int64_t ledger)
{
    if (ledger_get(ledger, GUID_RESERVED) != 0) {
        return LEDGER_RESERVED_SET;
    }
    if (ledger_resume(ledger) == LEDGER_RESUME_CORRUPT) {
        return LEDGER_STEPS_OUT_OF_ORDER;
    }
    if (markers(ledger) != 0 && ledger_get(ledger, GUID_ATTEMPTS) == 0) {
        return LEDGER_MARKED_UNENTERED;
    }
    return LEDGER_SOUND;
}

enum ledger_defect ledger_inspect(enum ledger_kind kind, int64_t ledger)
{
    if (!digits_in_range(ledger)) {
        return LEDGER_OUT_OF_RANGE;
    }
    for (int digit = 4; digit <= 7; digit++) {
        if (digits_get(ledger, digit, 1) > 1) {
            return LEDGER_MARKER_ABOVE_1;
        }
    }
    return kind == LEDGER_ACTIVITY ? inspect_activity(ledger) : inspect_guid(ledger);
}

const char *ledger_defect_text(enum ledger_defect defect)
{
    CHECK((size_t)defect < COUNT(defect_texts));
    return defect_texts[defect];
}
