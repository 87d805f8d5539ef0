/* The activity ledger and the GUID ledger: the examples of the specification digit by digit, every
 * increment of every field, every decision of an entry, and what the other reading of each erratum
 * would have done. */
#include "model/check.h"
#include "model/reference/ledger.h"
#include "model/tests/proves.h"
#include "model/tests/random.h"
#include "model/tests/trace.h"

#include <criterion/criterion.h>
#include <signal.h>

#define LEG1_MAX INT64_C(999)
#define LEG2_MAX INT64_C(99999999)
#define T        INT64_C(1000000000000)
#define B        INT64_C(1000000000)
#define M        INT64_C(1000000)
#define MARKERS  (100 * M) /* the weight of digits 4-7 read as one number */

/* The digit maps of sections 1, 2 and 6, with digits 1-3 for Leg1 entries (E-ACL-1). */
/* clang-format off */
static const struct ledger_layout digit_map[LEDGER_FIELD_COUNT] = {
    [ACTIVITY_LEG1_ENTRIES]     = {"Leg1 entries",     LEDGER_ACTIVITY, 1, 3, 1 * T,   999},
    [ACTIVITY_LEG1_COMPLETE]    = {"Leg1 complete",    LEDGER_ACTIVITY, 4, 1, 100 * B, 1},
    [ACTIVITY_WORK_DONE]        = {"work done",        LEDGER_ACTIVITY, 5, 1, 10 * B,  1},
    [ACTIVITY_CHILDREN_SPAWNED] = {"children spawned", LEDGER_ACTIVITY, 6, 1, 1 * B,   1},
    [ACTIVITY_JOB_TASKS_DONE]   = {"job tasks done",   LEDGER_ACTIVITY, 7, 1, 100 * M, 1},
    [ACTIVITY_LEG2_ENTRIES]     = {"Leg2 entries",     LEDGER_ACTIVITY, 8, 8, 1,       99999999},
    [GUID_RESERVED]             = {"reserved",         LEDGER_GUID,     1, 3, 1 * T,   0},
    [GUID_JOB_CLOSED]           = {"job closed",       LEDGER_GUID,     4, 1, 100 * B, 1},
    [GUID_WORK_DONE]            = {"work done",        LEDGER_GUID,     5, 1, 10 * B,  1},
    [GUID_CHILDREN_SPAWNED]     = {"children spawned", LEDGER_GUID,     6, 1, 1 * B,   1},
    [GUID_JOB_TASKS_DONE]       = {"job tasks done",   LEDGER_GUID,     7, 1, 100 * M, 1},
    [GUID_ATTEMPTS]             = {"attempt counter",  LEDGER_GUID,     8, 8, 1,       99999999},
};
/* clang-format on */

static const int64_t no_ledgers[] = {INT64_MIN, -1, 1000000000000000, INT64_MAX};

static const char *const decision_names[] = {
    [LEDGER_PROCEED] = "proceed",     [LEDGER_STALE] = "stale",     [LEDGER_ESCALATE] = "escalate",
    [LEDGER_TOO_EARLY] = "too early", [LEDGER_CORRUPT] = "corrupt",
};

static const char *const resume_names[] = {
    [LEDGER_NOTHING_DONE] = "nothing done", [LEDGER_WORK_IS_DONE] = "work done",
    [LEDGER_SPAWNED_JOB_OPEN] = "job open", [LEDGER_SPAWNED_JOB_ENDED] = "job ended",
    [LEDGER_ALL_DONE] = "all done",         [LEDGER_RESUME_CORRUPT] = "corrupt",
};

/* The ledger with one more in `field`, which must have room. */
static int64_t plus(int64_t ledger, enum ledger_field field)
{
    struct ledger_increment increment = ledger_add(ledger, field);
    HOLDS(increment.outcome == LEDGER_INCREMENTED, TRACE_LEDGER ": %s is refused", ledger,
          digit_map[field].name);
    return increment.ledger;
}

/* The ledger with the marker set, by this call or by an earlier one (E-ACL-2). */
static int64_t marked(int64_t ledger, enum ledger_field marker)
{
    struct ledger_increment increment = ledger_add(ledger, marker);
    HOLDS(increment.outcome == LEDGER_INCREMENTED || increment.outcome == LEDGER_ALREADY_MARKED,
          TRACE_LEDGER ": %s has outcome %d", ledger, digit_map[marker].name,
          (int)increment.outcome);
    return increment.ledger;
}

static void expect_add(int64_t ledger, enum ledger_field field, enum ledger_outcome outcome,
                       int64_t after)
{
    struct ledger_increment increment = ledger_add(ledger, field);
    HOLDS(increment.outcome == outcome, TRACE_LEDGER ": %s has outcome %d, not %d", ledger,
          digit_map[field].name, (int)increment.outcome, (int)outcome);
    HOLDS(increment.ledger == after, TRACE_LEDGER ": %s leaves " TRACE_LEDGER, ledger,
          digit_map[field].name, increment.ledger);
}

static void expect_leg1(int64_t activity, enum ledger_decision decision, int64_t after)
{
    struct ledger_leg1_entry entry = ledger_enter_leg1(activity);
    HOLDS(entry.decision == decision, TRACE_LEDGER ": %s, not %s", activity,
          decision_names[entry.decision], decision_names[decision]);
    HOLDS(entry.activity == after, TRACE_LEDGER " becomes " TRACE_LEDGER, activity, entry.activity);
}

static void expect_leg2(struct ledger_leg2_entry entry, enum ledger_decision decision,
                        int64_t activity, int64_t guid)
{
    HOLDS(entry.decision == decision, TRACE_LEDGER " / " TRACE_LEDGER ": %s, not %s", activity,
          guid, decision_names[entry.decision], decision_names[decision]);
    HOLDS(entry.activity == activity, "activity " TRACE_LEDGER ", not " TRACE_LEDGER,
          entry.activity, activity);
    HOLDS(entry.guid == guid, "GUID " TRACE_LEDGER ", not " TRACE_LEDGER, entry.guid, guid);
}

/* ---- the layout ---------------------------------------------------------------------------- */

Test(ledger, layout_is_the_digit_map)
{
    PROVES(CLAUSE_ACL_4, CLAUSE_ACL_12);
    SETTLES(ERRATUM_ACL_1);
    for (int field = 0; field < LEDGER_FIELD_COUNT; field++) {
        const struct ledger_layout *layout = ledger_layout((enum ledger_field)field);
        cr_expect_str_eq(layout->name, digit_map[field].name);
        cr_expect_eq(layout->kind, digit_map[field].kind, "%s", layout->name);
        cr_expect_eq(layout->first_digit, digit_map[field].first_digit, "%s", layout->name);
        cr_expect_eq(layout->digit_count, digit_map[field].digit_count, "%s", layout->name);
        cr_expect_eq(layout->weight, digit_map[field].weight, "%s", layout->name);
        cr_expect_eq(layout->ceiling, digit_map[field].ceiling, "%s", layout->name);
    }
}

Test(ledger, every_field_reads_as_its_own_digits)
{
    PROVES(CLAUSE_ACL_4, CLAUSE_ACL_12);
    static const int64_t ledgers[] = {
        0, 1100000000001, 123456789012345, 999111199999999, 111199999999, 999999999999999,
    };
    for (size_t i = 0; i < COUNT(ledgers); i++) {
        for (int field = 0; field < LEDGER_FIELD_COUNT; field++) {
            cr_expect_eq(
                ledger_get(ledgers[i], (enum ledger_field)field),
                trace_field(ledgers[i], digit_map[field].first_digit, digit_map[field].digit_count),
                TRACE_LEDGER ": %s", ledgers[i], digit_map[field].name);
        }
    }
}

Test(ledger, a_number_that_is_no_ledger_reads_as_0_and_takes_no_increment)
{
    PROVES(CLAUSE_ACL_3, CLAUSE_ACL_8);
    for (size_t i = 0; i < COUNT(no_ledgers); i++) {
        for (int field = 0; field < LEDGER_FIELD_COUNT; field++) {
            cr_expect_eq(ledger_get(no_ledgers[i], (enum ledger_field)field), 0);
            expect_add(no_ledgers[i], (enum ledger_field)field, LEDGER_NOT_A_LEDGER, no_ledgers[i]);
        }
    }
}

/* ---- goldens ------------------------------------------------------------------------------- */

Test(ledger, example_18_1_leg1_entry_and_completion)
{
    PROVES(CLAUSE_ACL_3, CLAUSE_ACL_4, CLAUSE_ACL_10, CLAUSE_ACL_35);
    static struct trace trace;
    struct ledger_leg1_entry entry = {.activity = 0};
    trace_add(&trace, TRACE_LEDGER " start\n", entry.activity);
    entry = ledger_enter_leg1(entry.activity);
    trace_add(&trace, TRACE_LEDGER " entry: %s\n", entry.activity, decision_names[entry.decision]);
    entry.activity = plus(entry.activity, ACTIVITY_LEG1_COMPLETE);
    trace_add(&trace, TRACE_LEDGER " complete\n", entry.activity);
    entry = ledger_enter_leg1(entry.activity);
    trace_add(&trace, TRACE_LEDGER " entry: %s\n", entry.activity, decision_names[entry.decision]);
    cr_assert_str_eq(trace.text, "000000000000000 start\n"
                                 "001000000000000 entry: proceed\n"
                                 "001100000000000 complete\n"
                                 "002100000000000 entry: stale\n");
}

/* One line of a Leg2 trace: both ledgers, what happened, and where the GUID stands. */
static void trace_leg2(struct trace *trace, int64_t activity, int64_t guid, const char *event)
{
    trace_add(trace, TRACE_LEDGER " " TRACE_LEDGER " %s; %s\n", activity, guid, event,
              resume_names[ledger_resume(guid)]);
}

static void trace_entry(struct trace *trace, const struct ledger_leg2_entry *entry)
{
    trace_add(trace, TRACE_LEDGER " " TRACE_LEDGER " entry: %s; %s\n", entry->activity, entry->guid,
              decision_names[entry->decision], resume_names[entry->resume]);
}

/* 18.2 up to the entry after the crash. */
static struct ledger_leg2_entry trace_18_2(struct trace *trace)
{
    trace_leg2(trace, 1100000000000, 0, "start");
    struct ledger_leg2_entry entry = ledger_enter_leg2_first(1100000000000);
    trace_entry(trace, &entry);
    int64_t activity = plus(entry.activity, ACTIVITY_WORK_DONE);
    int64_t guid = plus(entry.guid, GUID_WORK_DONE);
    trace_leg2(trace, activity, guid, "Step 1");
    entry = ledger_enter_leg2_again(activity, guid, 0);
    trace_entry(trace, &entry);
    return entry;
}

Test(ledger, example_18_2_resumes_at_step_2_and_leaves_the_job_open)
{
    PROVES(CLAUSE_ACL_4, CLAUSE_ACL_12, CLAUSE_ACL_24, CLAUSE_ACL_36, CLAUSE_ACL_42);
    static struct trace trace;
    struct ledger_leg2_entry entry = trace_18_2(&trace);
    entry.activity = plus(entry.activity, ACTIVITY_CHILDREN_SPAWNED);
    entry.guid = plus(entry.guid, GUID_CHILDREN_SPAWNED);
    trace_leg2(&trace, entry.activity, entry.guid, "Step 2");
    entry = ledger_enter_leg2_again(entry.activity, entry.guid, 0);
    trace_entry(&trace, &entry);
    cr_assert_str_eq(trace.text, "001100000000000 000000000000000 start; nothing done\n"
                                 "001100000000001 000000000000001 entry: proceed; nothing done\n"
                                 "001110000000001 000010000000001 Step 1; work done\n"
                                 "001110000000002 000010000000002 entry: proceed; work done\n"
                                 "001111000000002 000011000000002 Step 2; job open\n"
                                 "001111000000003 000011000000003 entry: stale; job open\n");
}

Test(ledger, example_18_2_closes_the_job_and_runs_step_3)
{
    PROVES(CLAUSE_ACL_12, CLAUSE_ACL_24, CLAUSE_ACL_41, CLAUSE_ACL_42);
    static struct trace trace;
    struct ledger_leg2_entry entry = trace_18_2(&trace);
    entry.activity = plus(entry.activity, ACTIVITY_CHILDREN_SPAWNED);
    entry.guid = plus(plus(entry.guid, GUID_CHILDREN_SPAWNED), GUID_JOB_CLOSED);
    trace_leg2(&trace, entry.activity, entry.guid, "Step 2 closes");
    entry.activity = plus(entry.activity, ACTIVITY_JOB_TASKS_DONE);
    entry.guid = plus(entry.guid, GUID_JOB_TASKS_DONE);
    trace_leg2(&trace, entry.activity, entry.guid, "Step 3");
    entry = ledger_enter_leg2_again(entry.activity, entry.guid, 0);
    trace_entry(&trace, &entry);
    cr_assert_str_eq(trace.text, "001100000000000 000000000000000 start; nothing done\n"
                                 "001100000000001 000000000000001 entry: proceed; nothing done\n"
                                 "001110000000001 000010000000001 Step 1; work done\n"
                                 "001110000000002 000010000000002 entry: proceed; work done\n"
                                 "001111000000002 000111000000002 Step 2 closes; job ended\n"
                                 "001111100000002 000111100000002 Step 3; all done\n"
                                 "001111100000003 000111100000003 entry: stale; all done\n");
}

/* ---- every increment of every field -------------------------------------------------------- */

/* Both ends of an 8-digit counter, and around every power of ten. */
static const int64_t eight_digits[] = {
    0,        1,        2,        8,        9,        10,       11,       99,
    100,      101,      999,      1000,     1001,     9999,     10000,    10001,
    99999,    100000,   100001,   999999,   1000000,  1000001,  9999999,  10000000,
    10000001, 12345678, 89999999, 90000000, 99999997, 99999998, 99999999,
};

/* The digits around the field under test: none, all at their ceilings (activity, then GUID), all
 * full, and none like its neighbour. */
static const char *const surroundings[] = {
    "000000000000000", "999111199999999", "000111199999999", "999999999999999", "271828182845904",
};

static size_t value_count(const struct ledger_layout *field)
{
    return field->digit_count == 8 ? COUNT(eight_digits) : field->digit_count == 3 ? 1000 : 10;
}

static enum ledger_outcome expected_outcome(const struct ledger_layout *field, int64_t value)
{
    if (value < field->ceiling) {
        return LEDGER_INCREMENTED;
    }
    if (field->ceiling == 0) {
        return LEDGER_RESERVED;
    }
    return field->ceiling == 1 ? LEDGER_ALREADY_MARKED : LEDGER_AT_CEILING;
}

/* True if both texts have 15 digits and are the same but for the digits of one field. */
static bool same_elsewhere(int64_t before, int64_t after, const struct ledger_layout *field)
{
    char a[TRACE_SPELL_SIZE];
    char b[TRACE_SPELL_SIZE];
    trace_spell(before, DIGITS, a);
    trace_spell(after, DIGITS, b);
    memset(a + field->first_digit - 1, '.', (size_t)field->digit_count);
    memset(b + field->first_digit - 1, '.', (size_t)field->digit_count);
    return strlen(a) == DIGITS && strcmp(a, b) == 0;
}

/* One increment, judged by the texts before and after. */
static void expect_own_digits_only(int64_t before, enum ledger_field field, int64_t value)
{
    const struct ledger_layout *map = &digit_map[field];
    struct ledger_increment increment = ledger_add(before, field);
    enum ledger_outcome outcome = expected_outcome(map, value);
    int64_t step = outcome == LEDGER_INCREMENTED ? 1 : 0;
    HOLDS(increment.outcome == outcome, TRACE_LEDGER ": %s has outcome %d, not %d", before,
          map->name, (int)increment.outcome, (int)outcome);
    HOLDS(same_elsewhere(before, increment.ledger, map), TRACE_LEDGER ": %s makes " TRACE_LEDGER,
          before, map->name, increment.ledger);
    HOLDS(trace_field(increment.ledger, map->first_digit, map->digit_count) == value + step,
          TRACE_LEDGER ": %s makes " TRACE_LEDGER, before, map->name, increment.ledger);
}

Test(ledger, an_increment_moves_its_own_field_by_one_and_no_other_digit)
{
    PROVES(CLAUSE_ACL_4, CLAUSE_ACL_5, CLAUSE_ACL_6, CLAUSE_ACL_7, CLAUSE_ACL_8, CLAUSE_ACL_12,
           CLAUSE_ACL_15);
    SETTLES(ERRATUM_ACL_1, ERRATUM_ACL_2, ERRATUM_ACL_18);
    for (size_t s = 0; s < COUNT(surroundings); s++) {
        for (int field = 0; field < LEDGER_FIELD_COUNT; field++) {
            const struct ledger_layout *map = &digit_map[field];
            for (size_t i = 0; i < value_count(map); i++) {
                int64_t value = map->digit_count == 8 ? eight_digits[i] : (int64_t)i;
                expect_own_digits_only(
                    trace_number(surroundings[s], map->first_digit, map->digit_count, value),
                    (enum ledger_field)field, value);
            }
        }
    }
}

Test(ledger, a_full_activity_stays_within_15_digits_whatever_is_added)
{
    PROVES(CLAUSE_ACL_8);
    static const enum ledger_outcome outcomes[] = {
        [ACTIVITY_LEG1_ENTRIES] = LEDGER_AT_CEILING,
        [ACTIVITY_LEG1_COMPLETE] = LEDGER_ALREADY_MARKED,
        [ACTIVITY_WORK_DONE] = LEDGER_ALREADY_MARKED,
        [ACTIVITY_CHILDREN_SPAWNED] = LEDGER_ALREADY_MARKED,
        [ACTIVITY_JOB_TASKS_DONE] = LEDGER_ALREADY_MARKED,
        [ACTIVITY_LEG2_ENTRIES] = LEDGER_AT_CEILING,
    };
    for (size_t field = 0; field < COUNT(outcomes); field++) {
        expect_add(999111199999999, (enum ledger_field)field, outcomes[field], 999111199999999);
    }
}

/* ---- Leg1 ---------------------------------------------------------------------------------- */

Test(ledger, leg1_is_entered_999_times_and_the_next_entry_escalates)
{
    PROVES(CLAUSE_ACL_6);
    SETTLES(ERRATUM_ACL_18);
    int64_t activity = 0;
    for (int64_t entry = 1; entry <= LEG1_MAX; entry++) {
        expect_leg1(activity, LEDGER_PROCEED, entry * T);
        activity = entry * T;
    }
    expect_leg1(activity, LEDGER_ESCALATE, 999000000000000);
}

Test(ledger, leg1_entry_is_decided_by_its_counter_and_its_marker_alone)
{
    PROVES(CLAUSE_ACL_6, CLAUSE_ACL_10);
    SETTLES(ERRATUM_ACL_16);
    for (size_t s = 0; s < COUNT(surroundings); s++) {
        for (int64_t count = 0; count <= LEG1_MAX; count++) {
            for (int complete = 0; complete <= 1; complete++) {
                int64_t activity = trace_number(surroundings[s], 1, 4, count * 10 + complete);
                bool full = count == LEG1_MAX;
                expect_leg1(activity,
                            complete ? LEDGER_STALE
                            : full   ? LEDGER_ESCALATE
                                     : LEDGER_PROCEED,
                            full ? activity : activity + T);
            }
        }
    }
}

/* The other reading of E-ACL-16: Rule F before 4.2. */
static enum ledger_decision leg1_ceiling_before_marker(int64_t activity)
{
    if (activity / T == LEG1_MAX) {
        return LEDGER_ESCALATE;
    }
    return activity / (100 * B) % 10 == 1 ? LEDGER_STALE : LEDGER_PROCEED;
}

Test(ledger, a_completed_leg1_is_never_escalated_however_often_it_is_replayed)
{
    PROVES(CLAUSE_ACL_6, CLAUSE_ACL_10);
    SETTLES(ERRATUM_ACL_16);
    int64_t activity = 1100000000000;
    for (int replay = 0; replay < 998; replay++) {
        HOLDS(leg1_ceiling_before_marker(activity) == LEDGER_STALE, "the readings differ early");
        expect_leg1(activity, LEDGER_STALE, activity + T);
        activity += T;
    }
    cr_assert_eq(activity, INT64_C(999100000000000));
    expect_leg1(activity, LEDGER_STALE, activity);
    cr_expect_eq(leg1_ceiling_before_marker(activity), LEDGER_ESCALATE,
                 "the other reading escalates a healthy job");
}

Test(ledger, one_digit_cannot_count_the_leg1_entries)
{
    SETTLES(ERRATUM_ACL_1);
    static const struct {
        int entries;
        int64_t ledger;
        int64_t position_3; /* what the other reading, one digit, says */
    } cases[] = {
        {9, 9000000000000, 9},
        {10, 10000000000000, 0},
        {999, 999000000000000, 9},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t activity = 0;
        for (int entry = 0; entry < cases[i].entries; entry++) {
            activity = plus(activity, ACTIVITY_LEG1_ENTRIES);
        }
        cr_expect_eq(activity, cases[i].ledger);
        cr_expect_eq(ledger_get(activity, ACTIVITY_LEG1_ENTRIES), cases[i].entries);
        cr_expect_eq(trace_field(activity, 3, 1), cases[i].position_3);
    }
}

/* ---- Leg2: the first entry of a GUID ------------------------------------------------------- */

static const int64_t leg1_incomplete[] = {
    0, 1000000000000, 999000000000000, 1000000000001, 1000099999999,
};

Test(ledger, leg2_is_not_entered_before_leg1_is_complete)
{
    PROVES(CLAUSE_ACL_45);
    for (size_t i = 0; i < COUNT(leg1_incomplete); i++) {
        int64_t activity = leg1_incomplete[i];
        expect_leg2(ledger_enter_leg2_first(activity), LEDGER_TOO_EARLY, activity, 0);
    }
    int64_t complete = plus(1000000000000, ACTIVITY_LEG1_COMPLETE);
    expect_leg2(ledger_enter_leg2_first(complete), LEDGER_PROCEED, 1100000000001, 1);
}

Test(ledger, leg2_is_not_entered_again_before_leg1_is_complete)
{
    PROVES(CLAUSE_ACL_45);
    static const int64_t guids[] = {1, 10000000001, 11000000001, 111000000001, 111199999999};
    for (size_t i = 0; i < COUNT(leg1_incomplete); i++) {
        for (size_t g = 0; g < COUNT(guids); g++) {
            int64_t activity = leg1_incomplete[i];
            expect_leg2(ledger_enter_leg2_again(activity, guids[g], 0), LEDGER_TOO_EARLY, activity,
                        guids[g]);
        }
    }
}

Test(ledger, a_new_guid_begins_with_the_low_8_digits_alone)
{
    PROVES(CLAUSE_ACL_12, CLAUSE_ACL_14);
    SETTLES(ERRATUM_ACL_3);
    for (int64_t high = 0; high <= 9999999; high += 9) {
        if (high / 1000 % 10 != 1) {
            continue;
        }
        int64_t count = eight_digits[high % (int64_t)COUNT(eight_digits)];
        if (count == LEG2_MAX) {
            continue;
        }
        struct ledger_leg2_entry entry = ledger_enter_leg2_first(high * MARKERS + count);
        expect_leg2(entry, LEDGER_PROCEED, high * MARKERS + count + 1, count + 1);
        HOLDS(entry.resume == LEDGER_NOTHING_DONE, "a new GUID resumes at %s",
              resume_names[entry.resume]);
    }
}

Test(ledger, the_whole_ledger_copied_into_the_first_guid_says_that_the_job_is_closed)
{
    PROVES(CLAUSE_ACL_14);
    SETTLES(ERRATUM_ACL_3);
    struct ledger_leg2_entry entry = ledger_enter_leg2_first(1100000000000);
    int64_t copied = entry.activity;
    cr_expect_eq(ledger_get(copied, GUID_JOB_CLOSED), 1);
    cr_expect_eq(ledger_resume(copied), LEDGER_RESUME_CORRUPT);
    cr_expect_eq(ledger_inspect(LEDGER_GUID, copied), LEDGER_RESERVED_SET);
    cr_expect_eq(ledger_get(entry.guid, GUID_JOB_CLOSED), 0);
    cr_expect_eq(ledger_inspect(LEDGER_GUID, entry.guid), LEDGER_SOUND);
}

Test(ledger, the_whole_ledger_copied_into_the_second_guid_makes_it_skip_to_step_3)
{
    PROVES(CLAUSE_ACL_14);
    SETTLES(ERRATUM_ACL_3);
    struct ledger_leg2_entry entry = ledger_enter_leg2_first(1111000000001);
    int64_t copied = entry.activity % T; /* even without the reserved digits */
    cr_expect_eq(copied, INT64_C(111000000002));
    cr_expect_eq(ledger_resume(copied), LEDGER_SPAWNED_JOB_ENDED);
    cr_expect_eq(entry.guid, 2);
    cr_expect_eq(entry.resume, LEDGER_NOTHING_DONE);
}

/* The other reading of E-ACL-18: "if the counter reaches 99,999,999, fail". */
static bool leg2_reaches_ceiling(int64_t activity)
{
    return activity % (100 * M) + 1 >= LEG2_MAX;
}

Test(ledger, leg2_entry_99999999_is_served_and_the_next_guid_escalates)
{
    PROVES(CLAUSE_ACL_7);
    SETTLES(ERRATUM_ACL_18);
    expect_leg2(ledger_enter_leg2_first(1100099999997), LEDGER_PROCEED, 1100099999998, 99999998);
    cr_expect_not(leg2_reaches_ceiling(1100099999997));
    expect_leg2(ledger_enter_leg2_first(1100099999998), LEDGER_PROCEED, 1100099999999, 99999999);
    cr_expect(leg2_reaches_ceiling(1100099999998), "the other reading serves one entry less");
    expect_leg2(ledger_enter_leg2_first(1100099999999), LEDGER_ESCALATE, 1100099999999, 0);
    expect_leg2(ledger_enter_leg2_first(1111199999999), LEDGER_ESCALATE, 1111199999999, 0);
}

Test(ledger, an_entry_on_a_number_that_is_no_ledger_is_not_counted)
{
    PROVES(CLAUSE_ACL_8);
    for (size_t i = 0; i < COUNT(no_ledgers); i++) {
        expect_leg1(no_ledgers[i], LEDGER_CORRUPT, no_ledgers[i]);
        expect_leg2(ledger_enter_leg2_first(no_ledgers[i]), LEDGER_CORRUPT, no_ledgers[i], 0);
        expect_leg2(ledger_enter_leg2_again(no_ledgers[i], 1, 0), LEDGER_CORRUPT, no_ledgers[i], 1);
        expect_leg2(ledger_enter_leg2_again(1100000000001, no_ledgers[i], 0), LEDGER_CORRUPT,
                    1100000000001, no_ledgers[i]);
    }
}

/* ---- Leg2: where a GUID goes on ------------------------------------------------------------ */

/* Digits 4-7 that a GUID ledger may have, from left to right in time (ACL-41). */
static const struct resume_point {
    int digits;
    enum ledger_resume resume;
    bool owes;
} resume_points[] = {
    {0, LEDGER_NOTHING_DONE, true},         /* Step 1 */
    {100, LEDGER_WORK_IS_DONE, true},       /* Step 2 */
    {110, LEDGER_SPAWNED_JOB_OPEN, false},  /* the ack */
    {1110, LEDGER_SPAWNED_JOB_ENDED, true}, /* Step 3 */
    {1111, LEDGER_ALL_DONE, false},         /* the ack */
};

static enum ledger_resume expected_resume(int digits)
{
    for (size_t i = 0; i < COUNT(resume_points); i++) {
        if (resume_points[i].digits == digits) {
            return resume_points[i].resume;
        }
    }
    return LEDGER_RESUME_CORRUPT;
}

static bool all_markers(int digits)
{
    for (; digits > 0; digits /= 10) {
        if (digits % 10 > 1) {
            return false;
        }
    }
    return true;
}

/* (L5) */
Test(ledger, of_ten_thousand_markings_five_are_resume_points)
{
    PROVES(CLAUSE_ACL_12, CLAUSE_ACL_24, CLAUSE_ACL_41);
    static const int64_t attempts[] = {1, 2, 12345678, 99999999};
    int sound = 0;
    for (int digits = 0; digits <= 9999; digits++) {
        enum ledger_resume resume = expected_resume(digits);
        enum ledger_defect defect = !all_markers(digits)              ? LEDGER_MARKER_ABOVE_1
                                    : resume == LEDGER_RESUME_CORRUPT ? LEDGER_STEPS_OUT_OF_ORDER
                                                                      : LEDGER_SOUND;
        sound += defect == LEDGER_SOUND;
        for (size_t i = 0; i < COUNT(attempts); i++) {
            int64_t guid = digits * MARKERS + attempts[i];
            HOLDS(ledger_resume(guid) == resume, TRACE_LEDGER " resumes at %s", guid,
                  resume_names[ledger_resume(guid)]);
            HOLDS(ledger_inspect(LEDGER_GUID, guid) == defect, TRACE_LEDGER ": %s", guid,
                  ledger_defect_text(ledger_inspect(LEDGER_GUID, guid)));
        }
    }
    cr_assert_eq(sound, 5);
}

Test(ledger, only_steps_1_2_and_3_are_owed)
{
    PROVES(CLAUSE_ACL_24);
    for (size_t i = 0; i < COUNT(resume_points); i++) {
        cr_expect_eq(ledger_owes_step(resume_points[i].resume), resume_points[i].owes, "%s",
                     resume_names[resume_points[i].resume]);
    }
    cr_expect_not(ledger_owes_step(LEDGER_RESUME_CORRUPT));
}

Test(ledger, a_number_that_is_no_ledger_is_no_resume_point)
{
    for (size_t i = 0; i < COUNT(no_ledgers); i++) {
        cr_expect_eq(ledger_resume(no_ledgers[i]), LEDGER_RESUME_CORRUPT);
    }
}

Test(ledger, each_step_moves_a_guid_rightward_through_its_resume_points)
{
    PROVES(CLAUSE_ACL_41);
    static const struct {
        int64_t before;
        enum ledger_field step;
        int64_t after;
    } steps[] = {
        {1, GUID_WORK_DONE, 10000000001},
        {10000000001, GUID_CHILDREN_SPAWNED, 11000000001},
        {11000000001, GUID_JOB_CLOSED, 111000000001}, /* the same commit as the line before */
        {111000000001, GUID_JOB_TASKS_DONE, 111100000001},
    };
    for (size_t i = 0; i < COUNT(steps); i++) {
        expect_add(steps[i].before, steps[i].step, LEDGER_INCREMENTED, steps[i].after);
        expect_add(steps[i].after, steps[i].step, LEDGER_ALREADY_MARKED, steps[i].after);
        cr_expect_eq((int)ledger_resume(steps[i].after), (int)ledger_resume(steps[i].before) + 1);
    }
}

/* ---- Leg2: a GUID that comes again --------------------------------------------------------- */

Test(ledger, all_ten_thousand_markings_are_entered_again_as_their_resume_point_says)
{
    PROVES(CLAUSE_ACL_15, CLAUSE_ACL_24);
    for (int digits = 0; digits <= 9999; digits++) {
        int64_t guid = digits * MARKERS + 3;
        enum ledger_resume resume = expected_resume(digits);
        struct ledger_leg2_entry entry = ledger_enter_leg2_again(1100000000007, guid, 0);
        if (resume == LEDGER_RESUME_CORRUPT) {
            expect_leg2(entry, LEDGER_CORRUPT, 1100000000007, guid);
        } else {
            expect_leg2(entry, ledger_owes_step(resume) ? LEDGER_PROCEED : LEDGER_STALE,
                        1100000000008, guid + 1);
        }
        HOLDS(entry.resume == resume, TRACE_LEDGER " resumes at %s", guid,
              resume_names[entry.resume]);
    }
}

Test(ledger, the_activitys_step_markers_decide_nothing)
{
    PROVES(CLAUSE_ACL_24);
    SETTLES(ERRATUM_ACL_2);
    for (int markers = 0; markers <= 999; markers++) {
        int64_t activity = 1100000000007 + markers * MARKERS;
        for (size_t i = 0; i < COUNT(resume_points); i++) {
            int64_t guid = resume_points[i].digits * MARKERS + 7;
            expect_leg2(ledger_enter_leg2_again(activity, guid, 0),
                        resume_points[i].owes ? LEDGER_PROCEED : LEDGER_STALE, activity + 1,
                        guid + 1);
        }
        expect_leg2(ledger_enter_leg2_first(activity), LEDGER_PROCEED, activity + 1, 8);
    }
}

/* The counters of the activity and of the GUID before the entry, the GUID's dimension, and what
 * each resume point does: P proceeds, S is stale, E escalates. */
Test(ledger, a_known_guid_resumes_with_saturated_counters)
{
    PROVES(CLAUSE_ACL_7, CLAUSE_ACL_15);
    SETTLES(ERRATUM_ACL_17, ERRATUM_ACL_18);
    static const struct {
        int64_t activity;
        int64_t guid;
        int64_t dimension;
        const char *decisions; /* for 0000, 0100, 0110, 1110, 1111 */
        int64_t activity_after;
        int64_t guid_after;
    } cases[] = {
        {1, 1, 0, "PPSPS", 2, 2},
        {99999998, 99999998, 0, "PPSPS", 99999999, 99999999},
        {99999999, 99999998, 0, "PPSPS", 99999999, 99999999},
        {99999999, 1, 0, "PPSPS", 99999999, 2},
        {99999998, 99999999, 0, "EESES", 99999999, 99999999},
        {99999999, 99999999, 0, "EESES", 99999999, 99999999},
        {99999999, 99999999, 1, "EESES", 99999999, 99999999},        /* less room to count in, */
        {99999999, 99999999, 99999997, "EESES", 99999999, 99999999}, /* hardly any, */
        {99999999, 99999999, 99999998, "PPSPS", 99999999, 99999999}, /* none: born full */
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        for (size_t i = 0; i < COUNT(resume_points); i++) {
            int64_t activity = 1100000000000 + cases[c].activity;
            int64_t guid = resume_points[i].digits * MARKERS;
            struct ledger_leg2_entry entry =
                ledger_enter_leg2_again(activity, guid + cases[c].guid, cases[c].dimension);
            cr_expect_eq(entry.resume, resume_points[i].resume);
            if (cases[c].decisions[i] == 'E') {
                expect_leg2(entry, LEDGER_ESCALATE, activity, guid + cases[c].guid);
            } else {
                expect_leg2(entry, cases[c].decisions[i] == 'P' ? LEDGER_PROCEED : LEDGER_STALE,
                            1100000000000 + cases[c].activity_after, guid + cases[c].guid_after);
            }
        }
    }
}

Test(ledger, a_guid_that_crashed_at_the_activitys_ceiling_still_runs_step_3)
{
    PROVES(CLAUSE_ACL_7, CLAUSE_ACL_24);
    SETTLES(ERRATUM_ACL_17);
    int64_t activity = 1111099999999;
    int64_t guid = 111000000005;
    expect_leg2(ledger_enter_leg2_again(activity, guid, 0), LEDGER_PROCEED, activity, guid + 1);
    /* The other reading treats it as any entry, and Step 3 is lost. */
    cr_expect_eq(ledger_enter_leg2_first(activity).decision, LEDGER_ESCALATE);
}

/* ---- the activity's markers with many GUIDs ------------------------------------------------ */

/* The other reading of E-ACL-2: entry, Step 1 and Step 2 added as sections 7, 11 and 12 say, with
 * nothing tested. Printed after Step 1 of each GUID. */
Test(ledger, markers_added_literally_by_ten_guids_carry_into_leg1_complete)
{
    SETTLES(ERRATUM_ACL_2);
    static struct trace trace;
    int64_t literal = 1100000000000;
    for (int guid = 1; guid <= 10; guid++) {
        literal += 1 + 10 * B;
        trace_add(&trace, TRACE_LEDGER " %s\n", literal,
                  ledger_inspect(LEDGER_ACTIVITY, literal) == LEDGER_SOUND ? "sound" : "broken");
        literal += 1 * B;
    }
    cr_assert_str_eq(trace.text, "001110000000001 sound\n"
                                 "001121000000002 broken\n"
                                 "001132000000003 broken\n"
                                 "001143000000004 broken\n"
                                 "001154000000005 broken\n"
                                 "001165000000006 broken\n"
                                 "001176000000007 broken\n"
                                 "001187000000008 broken\n"
                                 "001198000000009 broken\n"
                                 "001209000000010 broken\n");
}

Test(ledger, each_marker_added_literally_carries_at_its_tenth_addition)
{
    SETTLES(ERRATUM_ACL_2);
    static const struct {
        enum ledger_field marker;
        int64_t nine;
        int64_t ten;
    } cases[] = {
        {ACTIVITY_WORK_DONE, 1190000000009, 1200000000009},
        {ACTIVITY_CHILDREN_SPAWNED, 1109000000009, 1110000000009},
        {ACTIVITY_JOB_TASKS_DONE, 1100900000009, 1101000000009},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        cr_expect_eq(cases[i].nine + digit_map[cases[i].marker].weight, cases[i].ten);
        expect_add(cases[i].nine, cases[i].marker, LEDGER_ALREADY_MARKED, cases[i].nine);
    }
}

Test(ledger, markers_of_the_activity_are_set_once_by_ten_guids)
{
    PROVES(CLAUSE_ACL_5, CLAUSE_ACL_8);
    SETTLES(ERRATUM_ACL_2);
    static struct trace trace;
    int64_t activity = 1100000000000;
    for (int guid = 1; guid <= 10; guid++) {
        activity = marked(ledger_enter_leg2_first(activity).activity, ACTIVITY_WORK_DONE);
        trace_add(&trace, TRACE_LEDGER "\n", activity);
        activity = marked(activity, ACTIVITY_CHILDREN_SPAWNED);
    }
    cr_assert_str_eq(trace.text, "001110000000001\n"
                                 "001111000000002\n"
                                 "001111000000003\n"
                                 "001111000000004\n"
                                 "001111000000005\n"
                                 "001111000000006\n"
                                 "001111000000007\n"
                                 "001111000000008\n"
                                 "001111000000009\n"
                                 "001111000000010\n");
}

Test(ledger, markers_stay_0_or_1_however_many_messages_come)
{
    PROVES(CLAUSE_ACL_5, CLAUSE_ACL_8);
    int64_t activity = 1100000000000;
    for (int64_t message = 1; message <= 100000; message++) {
        activity = ledger_enter_leg2_first(activity).activity;
        activity = marked(activity, ACTIVITY_WORK_DONE);
        activity = marked(activity, ACTIVITY_CHILDREN_SPAWNED);
        activity = marked(activity, ACTIVITY_JOB_TASKS_DONE);
        activity = marked(activity, ACTIVITY_LEG1_COMPLETE);
        HOLDS(activity == 1111100000000 + message, "message %" PRId64 ": " TRACE_LEDGER, message,
              activity);
    }
}

/* ---- dimensions ---------------------------------------------------------------------------- */

Test(ledger, dimension_is_the_entry_count_less_1)
{
    PROVES(CLAUSE_ACL_31);
    static const struct {
        int64_t activity;
        int64_t dimension;
    } cases[] = {
        {1100000000001, 0},          {1100000000002, 1},        {1111100000010, 9},
        {999111112345678, 12345677}, {1100099999999, 99999998},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        cr_expect_eq(ledger_dimension(cases[i].activity), cases[i].dimension);
    }
}

/* GUID A enters and crashes, GUID B enters, A comes again. */
Test(ledger, a_retry_keeps_the_dimension_that_no_counter_gives_any_more)
{
    PROVES(CLAUSE_ACL_31);
    SETTLES(ERRATUM_ACL_4);
    struct ledger_leg2_entry a = ledger_enter_leg2_first(1100000000000);
    int64_t dimension_a = ledger_dimension(a.activity);
    struct ledger_leg2_entry b = ledger_enter_leg2_first(a.activity);
    int64_t dimension_b = ledger_dimension(b.activity);
    cr_assert_eq(dimension_a, 0);
    cr_assert_eq(dimension_b, 1);
    a = ledger_enter_leg2_again(b.activity, a.guid, 0);
    expect_leg2(a, LEDGER_PROCEED, 1100000000003, 2);
    /* The other readings: from the activity's count a third dimension, from the GUID's own B's. */
    cr_expect_eq(ledger_dimension(a.activity), 2);
    cr_expect_eq(ledger_dimension(a.guid), dimension_b);
    cr_expect_eq(ledger_inspect(LEDGER_ACTIVITY, a.activity), LEDGER_SOUND, "and it looks legal");
}

Test(ledger, attempts_are_the_low_8_digits_less_the_dimension)
{
    SETTLES(ERRATUM_ACL_4);
    static const int64_t entries_before[] = {0, 1, 41, 99999989};
    for (size_t i = 0; i < COUNT(entries_before); i++) {
        struct ledger_leg2_entry entry = ledger_enter_leg2_first(1100000000000 + entries_before[i]);
        int64_t dimension = ledger_dimension(entry.activity);
        cr_expect_eq(dimension, entries_before[i]);
        for (int64_t attempt = 1; attempt < 10; attempt++) {
            cr_expect_eq(ledger_attempts(entry.guid, dimension), attempt);
            entry.guid = marked(entry.guid, GUID_WORK_DONE);
            cr_expect_eq(ledger_attempts(entry.guid, dimension), attempt);
            entry = ledger_enter_leg2_again(entry.activity, entry.guid, 0);
        }
    }
}

/* ---- inspection ---------------------------------------------------------------------------- */

Test(ledger, sound_ledgers_are_those_that_the_protocol_writes)
{
    PROVES(CLAUSE_ACL_3, CLAUSE_ACL_12);
    static const struct {
        enum ledger_kind kind;
        int64_t ledger;
    } cases[] = {
        {LEDGER_ACTIVITY, 0},
        {LEDGER_ACTIVITY, 1000000000000},
        {LEDGER_ACTIVITY, 1100000000000},
        {LEDGER_ACTIVITY, 2100000000000},
        {LEDGER_ACTIVITY, 1100000000001},
        {LEDGER_ACTIVITY, 1110000000001},
        {LEDGER_ACTIVITY, 1111000000002},
        {LEDGER_ACTIVITY, 1111100000002},
        {LEDGER_ACTIVITY, 999000000000000},
        {LEDGER_ACTIVITY, 999111199999999},
        {LEDGER_GUID, 0},
        {LEDGER_GUID, 1},
        {LEDGER_GUID, 10000000001},
        {LEDGER_GUID, 11000000002},
        {LEDGER_GUID, 111000000002},
        {LEDGER_GUID, 111100000002},
        {LEDGER_GUID, 111199999999},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        cr_expect_eq(ledger_inspect(cases[i].kind, cases[i].ledger), LEDGER_SOUND, TRACE_LEDGER,
                     cases[i].ledger);
    }
}

/* Each with a single defect, one change away from a sound ledger. */
Test(ledger, a_sound_ledger_becomes_broken_in_one_way_at_a_time)
{
    PROVES(CLAUSE_ACL_5, CLAUSE_ACL_8, CLAUSE_ACL_12, CLAUSE_ACL_41, CLAUSE_ACL_45);
    static const struct {
        enum ledger_kind kind;
        enum ledger_defect defect;
        int64_t ledger;
    } cases[] = {
        {LEDGER_ACTIVITY, LEDGER_OUT_OF_RANGE, -1},
        {LEDGER_ACTIVITY, LEDGER_OUT_OF_RANGE, 1000000000000000},
        {LEDGER_ACTIVITY, LEDGER_OUT_OF_RANGE, INT64_MIN},
        {LEDGER_ACTIVITY, LEDGER_OUT_OF_RANGE, INT64_MAX},
        {LEDGER_ACTIVITY, LEDGER_MARKER_ABOVE_1, 1200000000000},
        {LEDGER_ACTIVITY, LEDGER_MARKER_ABOVE_1, 1120000000001},
        {LEDGER_ACTIVITY, LEDGER_MARKER_ABOVE_1, 1112000000001},
        {LEDGER_ACTIVITY, LEDGER_MARKER_ABOVE_1, 1111900000001},
        {LEDGER_ACTIVITY, LEDGER_COMPLETE_UNENTERED, 100000000000},
        {LEDGER_ACTIVITY, LEDGER_COMPLETE_UNENTERED, 100000000001},
        {LEDGER_ACTIVITY, LEDGER_LEG2_BEFORE_LEG1, 1000000000001},
        {LEDGER_ACTIVITY, LEDGER_MARKED_UNENTERED, 1110000000000},
        {LEDGER_ACTIVITY, LEDGER_MARKED_UNENTERED, 1111000000000},
        {LEDGER_ACTIVITY, LEDGER_MARKED_UNENTERED, 1111100000000},
        {LEDGER_ACTIVITY, LEDGER_STEPS_OUT_OF_ORDER, 1101000000001},
        {LEDGER_ACTIVITY, LEDGER_STEPS_OUT_OF_ORDER, 1100100000001},
        {LEDGER_ACTIVITY, LEDGER_STEPS_OUT_OF_ORDER, 1110100000001},
        {LEDGER_ACTIVITY, LEDGER_STEPS_OUT_OF_ORDER, 1101100000001},
        {LEDGER_GUID, LEDGER_OUT_OF_RANGE, -1},
        {LEDGER_GUID, LEDGER_OUT_OF_RANGE, 1000000000000000},
        {LEDGER_GUID, LEDGER_MARKER_ABOVE_1, 20000000001},
        {LEDGER_GUID, LEDGER_MARKER_ABOVE_1, 102000000001}, /* E-ACL-25: two racing Step 2s */
        {LEDGER_GUID, LEDGER_MARKER_ABOVE_1, 211000000001},
        {LEDGER_GUID, LEDGER_MARKER_ABOVE_1, 111200000001},
        {LEDGER_GUID, LEDGER_RESERVED_SET, 1000000000001},
        {LEDGER_GUID, LEDGER_RESERVED_SET, 100000000000001},
        {LEDGER_GUID, LEDGER_RESERVED_SET, 999111199999999},
        {LEDGER_GUID, LEDGER_MARKED_UNENTERED, 10000000000},
        {LEDGER_GUID, LEDGER_MARKED_UNENTERED, 111100000000},
        {LEDGER_GUID, LEDGER_STEPS_OUT_OF_ORDER, 1000000001},
        {LEDGER_GUID, LEDGER_STEPS_OUT_OF_ORDER, 100000001},
        {LEDGER_GUID, LEDGER_STEPS_OUT_OF_ORDER, 100000000001},
        {LEDGER_GUID, LEDGER_STEPS_OUT_OF_ORDER, 110000000001},
        {LEDGER_GUID, LEDGER_STEPS_OUT_OF_ORDER, 11100000001},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        cr_expect_eq(ledger_inspect(cases[i].kind, cases[i].ledger), cases[i].defect,
                     "%s " TRACE_LEDGER ": %s", cases[i].kind == LEDGER_GUID ? "GUID" : "activity",
                     cases[i].ledger,
                     ledger_defect_text(ledger_inspect(cases[i].kind, cases[i].ledger)));
    }
}

/* Every defect that an activity ledger in range has, as a set of bits. */
static unsigned activity_defects(int64_t entries, int digits, int64_t leg2)
{
    int complete = digits / 1000;
    int steps = digits % 1000;
    unsigned defects = 0;
    if (!all_markers(digits)) {
        defects |= 1U << LEDGER_MARKER_ABOVE_1;
    }
    if (complete > 0 && entries == 0) {
        defects |= 1U << LEDGER_COMPLETE_UNENTERED;
    }
    if (complete == 0 && leg2 > 0) {
        defects |= 1U << LEDGER_LEG2_BEFORE_LEG1;
    }
    if (steps > 0 && leg2 == 0) {
        defects |= 1U << LEDGER_MARKED_UNENTERED;
    }
    if (all_markers(digits) && steps != 0 && steps != 100 && steps != 110 && steps != 111) {
        defects |= 1U << LEDGER_STEPS_OUT_OF_ORDER;
    }
    return defects;
}

Test(ledger, of_all_activity_markings_the_reported_defect_is_one_that_it_has)
{
    PROVES(CLAUSE_ACL_5, CLAUSE_ACL_45);
    static const int64_t entries[] = {0, 1, 10, 999};
    static const int64_t leg2[] = {0, 1, 99999999};
    for (int digits = 0; digits <= 9999; digits++) {
        for (size_t e = 0; e < COUNT(entries); e++) {
            for (size_t l = 0; l < COUNT(leg2); l++) {
                int64_t activity = entries[e] * T + digits * MARKERS + leg2[l];
                unsigned defects = activity_defects(entries[e], digits, leg2[l]);
                enum ledger_defect defect = ledger_inspect(LEDGER_ACTIVITY, activity);
                HOLDS(defects == 0 ? defect == LEDGER_SOUND : (defects >> defect & 1) != 0,
                      TRACE_LEDGER ": %s", activity, ledger_defect_text(defect));
            }
        }
    }
}

Test(ledger, the_dimension_of_an_activity_never_entered_is_a_bug_of_the_caller, .signal = SIGABRT)
{
    ledger_dimension(1100000000000);
}

Test(ledger, every_defect_has_words_of_its_own)
{
    for (int i = LEDGER_SOUND; i <= LEDGER_STEPS_OUT_OF_ORDER; i++) {
        const char *text = ledger_defect_text((enum ledger_defect)i);
        cr_assert(text != NULL && text[0] != '\0');
        for (int j = LEDGER_SOUND; j < i; j++) {
            cr_expect_str_neq(text, ledger_defect_text((enum ledger_defect)j));
        }
    }
}

/* ---- a random walk beside plain counters --------------------------------------------------- */

/* The same two ledgers as one plain counter a field: the reference of the walk. */
struct plain {
    int64_t field[LEDGER_FIELD_COUNT];
};

/* The high bits: the low ones of a xorshift are its weakest. */
static uint64_t next_random(uint64_t *state)
{
    return random_next(state) >> 11;
}

static int64_t packed(const struct plain *plain, enum ledger_kind kind)
{
    int64_t ledger = 0;
    for (int field = 0; field < LEDGER_FIELD_COUNT; field++) {
        if (digit_map[field].kind == kind) {
            ledger += plain->field[field] * digit_map[field].weight;
        }
    }
    return ledger;
}

static bool plain_add(struct plain *plain, enum ledger_field field)
{
    if (plain->field[field] >= digit_map[field].ceiling) {
        return false;
    }
    plain->field[field]++;
    return true;
}

/* Somewhere new, with counters often next to their ends. */
static void plain_jump(struct plain *plain, uint64_t *random)
{
    for (int field = 0; field < LEDGER_FIELD_COUNT; field++) {
        int64_t ceiling = digit_map[field].ceiling;
        int64_t near = (int64_t)(next_random(random) % 8);
        int64_t anywhere = (int64_t)(next_random(random) % (uint64_t)(ceiling + 1));
        uint64_t where = next_random(random) % 4;
        plain->field[field] = ceiling < 8  ? anywhere
                              : where == 0 ? near
                              : where == 1 ? anywhere
                                           : ceiling - near;
    }
}

static enum ledger_decision plain_enter_leg1(struct plain *plain)
{
    bool complete = plain->field[ACTIVITY_LEG1_COMPLETE] == 1;
    bool counted = plain_add(plain, ACTIVITY_LEG1_ENTRIES);
    return complete ? LEDGER_STALE : counted ? LEDGER_PROCEED : LEDGER_ESCALATE;
}

static enum ledger_decision plain_enter_leg2_first(struct plain *plain)
{
    for (int field = GUID_RESERVED; field <= GUID_ATTEMPTS; field++) {
        plain->field[field] = 0;
    }
    if (plain->field[ACTIVITY_LEG1_COMPLETE] == 0) {
        return LEDGER_TOO_EARLY;
    }
    if (!plain_add(plain, ACTIVITY_LEG2_ENTRIES)) {
        return LEDGER_ESCALATE;
    }
    plain->field[GUID_ATTEMPTS] = plain->field[ACTIVITY_LEG2_ENTRIES];
    return LEDGER_PROCEED;
}

static enum ledger_decision plain_enter_leg2_again(struct plain *plain)
{
    int digits =
        (int)(plain->field[GUID_JOB_CLOSED] * 1000 + plain->field[GUID_WORK_DONE] * 100 +
              plain->field[GUID_CHILDREN_SPAWNED] * 10 + plain->field[GUID_JOB_TASKS_DONE]);
    if (expected_resume(digits) == LEDGER_RESUME_CORRUPT) {
        return LEDGER_CORRUPT;
    }
    bool owes = digits == 0 || digits == 100 || digits == 1110;
    if (owes && plain->field[GUID_ATTEMPTS] == LEG2_MAX) {
        return LEDGER_ESCALATE;
    }
    plain_add(plain, GUID_ATTEMPTS);
    plain_add(plain, ACTIVITY_LEG2_ENTRIES);
    return owes ? LEDGER_PROCEED : LEDGER_STALE;
}

/* The two ledgers as the module has them, and the same in plain counters. */
struct walk {
    int64_t activity;
    int64_t guid;
    struct plain plain;
    long moved;   /* increments and entries that were counted */
    long refused; /* and those that were not */
};

static void walk_add(struct walk *walk, enum ledger_field field)
{
    int64_t *ledger = digit_map[field].kind == LEDGER_ACTIVITY ? &walk->activity : &walk->guid;
    struct ledger_increment increment = ledger_add(*ledger, field);
    enum ledger_outcome expected = expected_outcome(&digit_map[field], walk->plain.field[field]);
    HOLDS(increment.outcome == expected, TRACE_LEDGER ": %s has outcome %d", *ledger,
          digit_map[field].name, (int)increment.outcome);
    *ledger = increment.ledger;
    plain_add(&walk->plain, field);
}

static void expect_decision(enum ledger_decision decision, enum ledger_decision expected)
{
    HOLDS(decision == expected, "%s, not %s", decision_names[decision], decision_names[expected]);
}

static void walk_enter_leg1(struct walk *walk)
{
    struct ledger_leg1_entry entry = ledger_enter_leg1(walk->activity);
    expect_decision(entry.decision, plain_enter_leg1(&walk->plain));
    walk->activity = entry.activity;
}

static void walk_enter_leg2_first(struct walk *walk)
{
    struct ledger_leg2_entry entry = ledger_enter_leg2_first(walk->activity);
    expect_decision(entry.decision, plain_enter_leg2_first(&walk->plain));
    walk->activity = entry.activity;
    walk->guid = entry.guid;
}

static void walk_enter_leg2_again(struct walk *walk)
{
    struct ledger_leg2_entry entry = ledger_enter_leg2_again(walk->activity, walk->guid, 0);
    expect_decision(entry.decision, plain_enter_leg2_again(&walk->plain));
    walk->activity = entry.activity;
    walk->guid = entry.guid;
}

/* Three choices of four are a single increment. A GUID is entered again only where Leg1 is
 * complete: it could not be known otherwise. */
static void walk_choose(struct walk *walk, uint64_t choice)
{
    if (choice < LEDGER_FIELD_COUNT) {
        walk_add(walk, (enum ledger_field)choice);
    } else if (choice == LEDGER_FIELD_COUNT) {
        walk_enter_leg1(walk);
    } else if (choice == LEDGER_FIELD_COUNT + 1) {
        walk_enter_leg2_first(walk);
    } else if (walk->plain.field[ACTIVITY_LEG1_COMPLETE] == 1) {
        walk_enter_leg2_again(walk);
    }
}

static void walk_step(struct walk *walk, uint64_t *random)
{
    int64_t activity = walk->activity;
    int64_t guid = walk->guid;
    walk_choose(walk, next_random(random) % 16);
    if (walk->activity == activity && walk->guid == guid) {
        walk->refused++;
    } else {
        walk->moved++;
    }
}

Test(ledger, a_million_random_increments_agree_with_plain_counters)
{
    PROVES(CLAUSE_ACL_5, CLAUSE_ACL_8);
    uint64_t random = UINT64_C(20240607);
    struct walk walk = {0};
    for (long step = 0; step < 1000000; step++) {
        if (next_random(&random) % 32 == 0) {
            plain_jump(&walk.plain, &random);
            walk.activity = packed(&walk.plain, LEDGER_ACTIVITY);
            walk.guid = packed(&walk.plain, LEDGER_GUID);
        }
        walk_step(&walk, &random);
        HOLDS(walk.activity == packed(&walk.plain, LEDGER_ACTIVITY),
              "step %ld: activity " TRACE_LEDGER, step, walk.activity);
        HOLDS(walk.guid == packed(&walk.plain, LEDGER_GUID), "step %ld: GUID " TRACE_LEDGER, step,
              walk.guid);
    }
    cr_assert_gt(walk.moved, 200000, "legal increments: %ld", walk.moved);
    cr_assert_gt(walk.refused, 200000, "illegal increments: %ld", walk.refused);
}
