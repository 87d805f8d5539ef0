#include "model/reference/ledger.h"

#include "model/check.h"

void ledger_check(int64_t before, enum ledger_field field, int64_t after)
{
    const struct ledger_layout *layout = ledger_layout(field);
    int64_t above = layout->weight * digits_power(layout->digit_count);
    CHECK(digits_in_range(after));                                    /* L1 */
    CHECK(ledger_get(after, field) <= layout->ceiling);               /* L2, L3 */
    CHECK(ledger_get(after, field) == ledger_get(before, field) + 1); /* L4 */
    CHECK(after % layout->weight == before % layout->weight);         /* L4 */
    CHECK(after / above == before / above);                           /* L4 */
}

struct ledger_increment ledger_add(int64_t ledger, enum ledger_field field)
{
    const struct ledger_layout *layout = ledger_layout(field);
    struct ledger_increment result = {.outcome = LEDGER_NOT_A_LEDGER, .ledger = ledger};
    if (!digits_in_range(ledger)) { /* L1 */
        return result;
    }
    if (ledger_get(ledger, field) < layout->ceiling) { /* so no digit carries: L4 */
        result.outcome = LEDGER_INCREMENTED;
        result.ledger = ledger + layout->weight;
        CHECK_ALL(ledger_check(ledger, field, result.ledger));
    } else if (layout->ceiling == 0) {
        result.outcome = LEDGER_RESERVED;
    } else if (layout->ceiling == 1) {
        result.outcome = LEDGER_ALREADY_MARKED; /* L2 */
    } else {
        result.outcome = LEDGER_AT_CEILING; /* L3 */
    }
    return result;
}

struct ledger_leg1_entry ledger_enter_leg1(int64_t activity)
{
    struct ledger_increment entry = ledger_add(activity, ACTIVITY_LEG1_ENTRIES);
    enum ledger_decision decision = LEDGER_PROCEED;
    if (entry.outcome == LEDGER_NOT_A_LEDGER) {
        decision = LEDGER_CORRUPT;
    } else if (ledger_get(activity, ACTIVITY_LEG1_COMPLETE) != 0) {
        decision = LEDGER_STALE; /* ACL-10; before the ceiling: E-ACL-16 */
    } else if (entry.outcome == LEDGER_AT_CEILING) {
        decision = LEDGER_ESCALATE; /* ACL-6 */
    }
    return (struct ledger_leg1_entry){.decision = decision, .activity = entry.ledger};
}

struct ledger_leg2_entry ledger_enter_leg2_first(int64_t activity)
{
    struct ledger_leg2_entry result = {.activity = activity, .resume = LEDGER_NOTHING_DONE};
    struct ledger_increment entry = ledger_add(activity, ACTIVITY_LEG2_ENTRIES);
    if (entry.outcome == LEDGER_NOT_A_LEDGER) {
        result.decision = LEDGER_CORRUPT;
    } else if (ledger_get(activity, ACTIVITY_LEG1_COMPLETE) == 0) {
        result.decision = LEDGER_TOO_EARLY; /* ACL-45 */
    } else if (entry.outcome == LEDGER_AT_CEILING) {
        result.decision = LEDGER_ESCALATE; /* ACL-7 */
    } else {
        result.decision = LEDGER_PROCEED;
        result.activity = entry.ledger;
        result.guid = ledger_get(entry.ledger, ACTIVITY_LEG2_ENTRIES); /* low 8: E-ACL-3 */
    }
    return result;
}

struct ledger_leg2_entry ledger_enter_leg2_again(int64_t activity, int64_t guid, int64_t dimension)
{
    struct ledger_leg2_entry result = {
        .activity = activity, .guid = guid, .resume = ledger_resume(guid)};
    struct ledger_increment entry = ledger_add(activity, ACTIVITY_LEG2_ENTRIES);
    struct ledger_increment attempt = ledger_add(guid, GUID_ATTEMPTS);
    bool owes = ledger_owes_step(result.resume);
    /* E-ACL-17: it never had room to count */
    bool born_full = dimension == ledger_layout(GUID_ATTEMPTS)->ceiling - 1;
    if (entry.outcome == LEDGER_NOT_A_LEDGER || result.resume == LEDGER_RESUME_CORRUPT) {
        result.decision = LEDGER_CORRUPT;
    } else if (ledger_get(activity, ACTIVITY_LEG1_COMPLETE) == 0) {
        result.decision = LEDGER_TOO_EARLY; /* ACL-45 */
    } else if (owes && attempt.outcome == LEDGER_AT_CEILING && !born_full) {
        result.decision = LEDGER_ESCALATE; /* ACL-15 */
    } else {
        result.decision = owes ? LEDGER_PROCEED : LEDGER_STALE;
        result.activity = entry.ledger; /* a full counter stays as it is: E-ACL-17 */
        result.guid = attempt.ledger;
    }
    return result;
}

bool ledger_owes_step(enum ledger_resume resume)
{
    return resume == LEDGER_NOTHING_DONE || resume == LEDGER_WORK_IS_DONE ||
           resume == LEDGER_SPAWNED_JOB_ENDED;
}

int64_t ledger_attempts(int64_t guid, int64_t dimension)
{
    return ledger_get(guid, GUID_ATTEMPTS) - dimension;
}
