/* The earlier ledger: its lifecycle digit by digit, its limits, and what each wrong reading of the
 * text would have done. */
#include "model/check.h"
#include "model/reference/legacy.h"
#include "model/tests/proves.h"
#include "model/tests/trace.h"

#include <criterion/criterion.h>

/* The digit details of seed 003. */
static const struct {
    int first_digit;
    int digit_count;
} digit_details[LEGACY_FIELD_COUNT] = {
    [LEGACY_LEG1_ENTRY] = {1, 1},       /* ^-------------- */
    [LEGACY_LEG1_EXIT] = {2, 1},        /*  ^------------- */
    [LEGACY_LEG2_EXIT] = {3, 1},        /*   ^------------ */
    [LEGACY_LEG2_ENTRIES] = {4, 6},     /*    ^^^^^^------ */
    [LEGACY_LEG2_EXIT_COUNT] = {10, 6}, /*          ^^^^^^ */
};

/* The lifecycle as separate digits: what each event does to which field. */
static const struct event {
    int64_t summand;
    int step[LEGACY_FIELD_COUNT];
} lifecycle[LEGACY_EVENT_COUNT] = {
    [LEGACY_LEG1_BEGIN] = {-100000000000000, {[LEGACY_LEG1_ENTRY] = -1}},
    [LEGACY_LEG1_END] = {-10000000000000, {[LEGACY_LEG1_EXIT] = -1}},
    [LEGACY_LEG2_BEGIN] = {1000000, {[LEGACY_LEG2_ENTRIES] = 1}},
    [LEGACY_LEG2_UNDO] = {-1000000, {[LEGACY_LEG2_ENTRIES] = -1}},
    [LEGACY_LEG2_PENDING] = {1, {[LEGACY_LEG2_EXIT_COUNT] = 1}},
    [LEGACY_LEG2_SUCCESS] = {-999999999999,
                             {[LEGACY_LEG2_EXIT] = -1, [LEGACY_LEG2_EXIT_COUNT] = 1}},
};

static const char *const event_names[LEGACY_EVENT_COUNT] = {
    [LEGACY_LEG1_BEGIN] = "Leg1 begins",    [LEGACY_LEG1_END] = "Leg1 ends",
    [LEGACY_LEG2_BEGIN] = "Leg2 begins",    [LEGACY_LEG2_UNDO] = "Leg2 undone",
    [LEGACY_LEG2_PENDING] = "Leg2 pending", [LEGACY_LEG2_SUCCESS] = "Leg2 success",
};

static const int64_t no_ledgers[] = {INT64_MIN, -1, 1000000000000000, INT64_MAX};

/* The ledger after `event`, which must be allowed. */
static int64_t after(int64_t ledger, enum legacy_event event)
{
    struct legacy_addition addition = legacy_add(ledger, event);
    HOLDS(addition.outcome == LEGACY_ADDED, TRACE_LEDGER ": %s is refused", ledger,
          event_names[event]);
    return addition.ledger;
}

static void expect_refused(int64_t ledger, enum legacy_event event, enum legacy_outcome outcome)
{
    struct legacy_addition addition = legacy_add(ledger, event);
    HOLDS(addition.outcome == outcome, TRACE_LEDGER ": %s has outcome %d", ledger,
          event_names[event], (int)addition.outcome);
    HOLDS(addition.ledger == ledger, TRACE_LEDGER ": %s left " TRACE_LEDGER, ledger,
          event_names[event], addition.ledger);
}

/* Runs a lifecycle from `ledger` and compares the whole of it. */
static void expect_lifecycle(int64_t ledger, const enum legacy_event *events, size_t count,
                             const char *expected)
{
    static struct trace trace;
    trace = (struct trace){0};
    trace_add(&trace, TRACE_LEDGER " start\n", ledger);
    for (size_t i = 0; i < count; i++) {
        ledger = after(ledger, events[i]);
        trace_add(&trace, TRACE_LEDGER " %s\n", ledger, event_names[events[i]]);
    }
    cr_assert_str_eq(trace.text, expected);
}

/* ---- the layout and the summands ----------------------------------------------------------- */

Test(legacy, digits_are_those_of_the_digit_details)
{
    PROVES(CLAUSE_LEG_8);
    for (int field = 0; field < LEGACY_FIELD_COUNT; field++) {
        const struct legacy_layout *layout = legacy_layout((enum legacy_field)field);
        cr_expect_eq(layout->first_digit, digit_details[field].first_digit);
        cr_expect_eq(layout->digit_count, digit_details[field].digit_count);
        cr_expect(layout->name != NULL && layout->name[0] != '\0');
    }
    cr_expect_str_eq(legacy_layout(LEGACY_LEG1_ENTRY)->name, "Leg1 entry status");
}

Test(legacy, every_field_reads_as_its_own_digits)
{
    PROVES(CLAUSE_LEG_8);
    static const struct {
        int64_t ledger;
        int64_t value[LEGACY_FIELD_COUNT];
    } cases[] = {
        {LEGACY_START, {9, 9, 9, 0, 0}},
        {888000003000002, {8, 8, 8, 3, 2}},
        {123456789012345, {1, 2, 3, 456789, 12345}},
        {789999999000000, {7, 8, 9, 999999, 0}},
        {0, {0, 0, 0, 0, 0}},
        {999999999999999, {9, 9, 9, 999999, 999999}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (int field = 0; field < LEGACY_FIELD_COUNT; field++) {
            cr_expect_eq(legacy_get(cases[i].ledger, (enum legacy_field)field),
                         cases[i].value[field], "case %zu, field %d", i, field);
        }
    }
}

Test(legacy, summands_are_those_of_the_lifecycle)
{
    PROVES(CLAUSE_LEG_1);
    cr_expect_eq(LEGACY_START, INT64_C(999000000000000));
    for (int event = 0; event < LEGACY_EVENT_COUNT; event++) {
        cr_expect_eq(legacy_summand((enum legacy_event)event), lifecycle[event].summand, "%s",
                     event_names[event]);
    }
}

/* ---- goldens ------------------------------------------------------------------------------- */

Test(legacy, lifecycle_of_the_seed_digit_by_digit)
{
    PROVES(CLAUSE_LEG_1, CLAUSE_LEG_2, CLAUSE_LEG_4);
    static const enum legacy_event events[] = {
        LEGACY_LEG1_BEGIN, LEGACY_LEG1_END,     LEGACY_LEG2_BEGIN, LEGACY_LEG2_PENDING,
        LEGACY_LEG2_BEGIN, LEGACY_LEG2_SUCCESS, LEGACY_LEG2_BEGIN, LEGACY_LEG2_UNDO,
    };
    expect_lifecycle(LEGACY_START, events, COUNT(events),
                     "999000000000000 start\n"
                     "899000000000000 Leg1 begins\n"
                     "889000000000000 Leg1 ends\n"
                     "889000001000000 Leg2 begins\n"
                     "889000001000001 Leg2 pending\n"
                     "889000002000001 Leg2 begins\n"
                     "888000002000002 Leg2 success\n"
                     "888000003000002 Leg2 begins\n"
                     "888000002000002 Leg2 undone\n");
}

Test(legacy, two_lives_of_one_message_show_in_the_status_digits)
{
    SETTLES(ERRATUM_LEG_3);
    static const enum legacy_event two_leg1_runs[] = {LEGACY_LEG1_BEGIN, LEGACY_LEG1_BEGIN,
                                                      LEGACY_LEG1_END, LEGACY_LEG1_END};
    expect_lifecycle(LEGACY_START, two_leg1_runs, COUNT(two_leg1_runs),
                     "999000000000000 start\n"
                     "899000000000000 Leg1 begins\n"
                     "799000000000000 Leg1 begins\n"
                     "789000000000000 Leg1 ends\n"
                     "779000000000000 Leg1 ends\n");
    static const enum legacy_event two_successes[] = {LEGACY_LEG2_BEGIN, LEGACY_LEG2_BEGIN,
                                                      LEGACY_LEG2_SUCCESS, LEGACY_LEG2_SUCCESS};
    expect_lifecycle(889000000000000, two_successes, COUNT(two_successes),
                     "889000000000000 start\n"
                     "889000001000000 Leg2 begins\n"
                     "889000002000000 Leg2 begins\n"
                     "888000002000001 Leg2 success\n"
                     "887000002000002 Leg2 success\n");
}

/* ---- decisions ----------------------------------------------------------------------------- */

Test(legacy, leg1_entry_is_told_by_the_first_two_digits)
{
    PROVES(CLAUSE_LEG_3);
    static const struct {
        int64_t after_begin;
        enum legacy_leg1 decision;
    } cases[] = {
        {899000000000000, LEGACY_LEG1_FIRST},     {799000000000000, LEGACY_LEG1_CRASHED},
        {699000000000000, LEGACY_LEG1_CRASHED},   {599000000000000, LEGACY_LEG1_CRASHED},
        {99000000000000, LEGACY_LEG1_CRASHED},    {789000000000000, LEGACY_LEG1_COMPLETED},
        {689000000000000, LEGACY_LEG1_COMPLETED}, {89000000000000, LEGACY_LEG1_COMPLETED},
        {679000000000000, LEGACY_LEG1_COMPLETED}, /* two live runs had ended */
        {789000002000001, LEGACY_LEG1_COMPLETED}, /* whatever Leg2 has counted */
        {788000002000002, LEGACY_LEG1_COMPLETED},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        cr_expect_eq(legacy_leg1_decision(cases[i].after_begin), cases[i].decision, TRACE_LEDGER,
                     cases[i].after_begin);
    }
}

Test(legacy, leg1_runs_until_it_ended_and_never_again)
{
    PROVES(CLAUSE_LEG_3);
    for (int crashes = 0; crashes < 8; crashes++) {
        int64_t ledger = LEGACY_START;
        for (int entry = 0; entry <= crashes; entry++) {
            ledger = after(ledger, LEGACY_LEG1_BEGIN);
            cr_expect_eq(legacy_leg1_decision(ledger),
                         entry == 0 ? LEGACY_LEG1_FIRST : LEGACY_LEG1_CRASHED);
        }
        ledger = after(ledger, LEGACY_LEG1_END);
        for (int entry = crashes + 1; entry < 9; entry++) {
            ledger = after(ledger, LEGACY_LEG1_BEGIN);
            cr_expect_eq(legacy_leg1_decision(ledger), LEGACY_LEG1_COMPLETED);
        }
    }
}

Test(legacy, pending_answers_keep_leg2_open)
{
    PROVES(CLAUSE_LEG_4);
    int64_t ledger = 889000000000000;
    for (int answer = 0; answer < 1000; answer++) {
        ledger = after(ledger, LEGACY_LEG2_BEGIN);
        HOLDS(legacy_leg2_decision(ledger) == LEGACY_LEG2_OPEN, "turned away: " TRACE_LEDGER,
              ledger);
        ledger = after(ledger, LEGACY_LEG2_PENDING);
        HOLDS(!legacy_closed(ledger), "closed: " TRACE_LEDGER, ledger);
    }
    cr_assert_eq(ledger, INT64_C(889001000001000));
}

Test(legacy, a_call_after_success_is_turned_away_and_its_undo_leaves_no_trace)
{
    PROVES(CLAUSE_LEG_4);
    int64_t ledger = after(after(889000001000001, LEGACY_LEG2_BEGIN), LEGACY_LEG2_SUCCESS);
    cr_assert(legacy_closed(ledger));
    for (int call = 0; call < 1000; call++) {
        int64_t late = after(ledger, LEGACY_LEG2_BEGIN);
        HOLDS(legacy_leg2_decision(late) == LEGACY_LEG2_TURNED_AWAY, "open: " TRACE_LEDGER, late);
        HOLDS(after(late, LEGACY_LEG2_UNDO) == ledger, "not undone");
    }
}

Test(legacy, closed_is_a_third_digit_below_9_whatever_the_others_are)
{
    SETTLES(ERRATUM_LEG_3);
    static const char *const neighbours[] = {"000000000000000", "999999999999999",
                                             "889000002000001"};
    for (size_t i = 0; i < COUNT(neighbours); i++) {
        for (int digit = 0; digit <= 9; digit++) {
            int64_t ledger = trace_number(neighbours[i], 3, 1, digit);
            cr_expect_eq(legacy_closed(ledger), digit < 9, TRACE_LEDGER, ledger);
            cr_expect_eq(legacy_leg2_decision(ledger),
                         digit < 9 ? LEGACY_LEG2_TURNED_AWAY : LEGACY_LEG2_OPEN, TRACE_LEDGER,
                         ledger);
        }
    }
}

Test(legacy, no_two_leg2_entries_have_the_same_number)
{
    PROVES(CLAUSE_LEG_10);
    int64_t ledger = 889000000000000;
    for (int64_t entry = 1; entry <= 999999; entry++) {
        ledger = after(ledger, LEGACY_LEG2_BEGIN);
        HOLDS(legacy_get(ledger, LEGACY_LEG2_ENTRIES) == entry, "entry %" PRId64, entry);
        ledger = after(ledger, LEGACY_LEG2_PENDING);
        HOLDS(legacy_get(ledger, LEGACY_LEG2_ENTRIES) == entry, "the answer moved the number");
    }
    cr_assert_eq(ledger, INT64_C(889999999999999));
}

Test(legacy, a_replayed_leg2_message_gets_a_number_of_its_own)
{
    PROVES(CLAUSE_LEG_10);
    SETTLES(ERRATUM_LEG_3);
    int64_t first = after(889000000000000, LEGACY_LEG2_BEGIN);
    int64_t replay = after(first, LEGACY_LEG2_BEGIN);
    cr_assert_eq(legacy_leg2_decision(replay), LEGACY_LEG2_OPEN);
    cr_assert_neq(legacy_get(first, LEGACY_LEG2_ENTRIES), legacy_get(replay, LEGACY_LEG2_ENTRIES));
}

/* ---- limits: valid, then one more ---------------------------------------------------------- */

Test(legacy, nine_leg1_entries_are_served_and_the_tenth_is_refused)
{
    PROVES(CLAUSE_LEG_5);
    SETTLES(ERRATUM_LEG_2);
    static const enum legacy_event nine[] = {
        LEGACY_LEG1_BEGIN, LEGACY_LEG1_BEGIN, LEGACY_LEG1_BEGIN,
        LEGACY_LEG1_BEGIN, LEGACY_LEG1_BEGIN, LEGACY_LEG1_BEGIN,
        LEGACY_LEG1_BEGIN, LEGACY_LEG1_BEGIN, LEGACY_LEG1_BEGIN,
    };
    expect_lifecycle(LEGACY_START, nine, COUNT(nine),
                     "999000000000000 start\n"
                     "899000000000000 Leg1 begins\n"
                     "799000000000000 Leg1 begins\n"
                     "699000000000000 Leg1 begins\n"
                     "599000000000000 Leg1 begins\n"
                     "499000000000000 Leg1 begins\n"
                     "399000000000000 Leg1 begins\n"
                     "299000000000000 Leg1 begins\n"
                     "199000000000000 Leg1 begins\n"
                     "099000000000000 Leg1 begins\n");
    expect_refused(99000000000000, LEGACY_LEG1_BEGIN, LEGACY_AT_LIMIT);
    /* The other reading adds without a look: there is no digit left to borrow from. */
    cr_expect_eq(99000000000000 + legacy_summand(LEGACY_LEG1_BEGIN), INT64_C(-1000000000000));
}

Test(legacy, leg2_entry_999999_is_served_and_the_millionth_is_refused)
{
    PROVES(CLAUSE_LEG_5);
    SETTLES(ERRATUM_LEG_2);
    cr_expect_eq(after(888999998000002, LEGACY_LEG2_BEGIN), INT64_C(888999999000002));
    expect_refused(888999999000002, LEGACY_LEG2_BEGIN, LEGACY_AT_LIMIT);
    /* The other reading adds without a look: the carry opens the closed Leg2 again. */
    int64_t carried = 888999999000002 + legacy_summand(LEGACY_LEG2_BEGIN);
    cr_expect_eq(carried, INT64_C(889000000000002));
    cr_expect(legacy_closed(888999999000002));
    cr_expect_not(legacy_closed(carried));
    cr_expect_eq(legacy_leg2_decision(carried), LEGACY_LEG2_OPEN);
}

Test(legacy, an_addition_that_would_reach_a_neighbour_is_refused)
{
    PROVES(CLAUSE_LEG_5);
    SETTLES(ERRATUM_LEG_2);
    static const struct {
        enum legacy_event event;
        int64_t last;      /* the last ledger that takes it */
        int64_t full;      /* the first that does not */
        int64_t unchecked; /* what the sum would have been */
    } cases[] = {
        {LEGACY_LEG1_BEGIN, 189000000000000, 89000000000000, -11000000000000},
        {LEGACY_LEG1_END, 819000000000000, 809000000000000, 799000000000000},
        {LEGACY_LEG2_BEGIN, 889999998000000, 889999999000000, 890000000000000},
        {LEGACY_LEG2_UNDO, 889000001000000, 889000000000000, 888999999000000},
        {LEGACY_LEG2_PENDING, 889000001999998, 889000001999999, 889000002000000},
        {LEGACY_LEG2_SUCCESS, 881000009000008, 880000009000008, 879000009000009},
        {LEGACY_LEG2_SUCCESS, 889000001999998, 889000001999999, 888000002000000},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        after(cases[i].last, cases[i].event);
        expect_refused(cases[i].full, cases[i].event, LEGACY_AT_LIMIT);
        cr_expect_eq(cases[i].full + lifecycle[cases[i].event].summand, cases[i].unchecked,
                     "case %zu", i);
    }
}

Test(legacy, a_number_that_is_no_ledger_takes_no_event)
{
    PROVES(CLAUSE_LEG_5);
    for (size_t i = 0; i < COUNT(no_ledgers); i++) {
        for (int event = 0; event < LEGACY_EVENT_COUNT; event++) {
            expect_refused(no_ledgers[i], (enum legacy_event)event, LEGACY_NOT_A_LEDGER);
        }
    }
}

/* ---- every event on every value of its fields ---------------------------------------------- */

/* Both ends of a 6-digit count, and around every power of ten. */
static const int64_t six_digits[] = {
    0,    1,     2,     8,     9,      10,     11,     99,     100,    101,    999,    1000,   1001,
    9999, 10000, 10001, 99999, 100000, 100001, 123456, 499999, 500000, 900000, 999998, 999999,
};

static const char *const surroundings[] = {
    "000000000000000",
    "999999999999999",
    "999000000000000",
    "271828182845904",
};

static size_t value_count(enum legacy_field field)
{
    return digit_details[field].digit_count == 1 ? 10 : COUNT(six_digits);
}

static int64_t value_at(enum legacy_field field, size_t i)
{
    return digit_details[field].digit_count == 1 ? (int64_t)i : six_digits[i];
}

static int64_t with_field(int64_t ledger, enum legacy_field field, int64_t value)
{
    char digits[TRACE_SPELL_SIZE];
    trace_spell(ledger, DIGITS, digits);
    return trace_number(digits, digit_details[field].first_digit, digit_details[field].digit_count,
                        value);
}

/* What separate counters would do: move every field by its step, or none if one would leave its
 * digits. */
static struct legacy_addition by_fields(int64_t ledger, enum legacy_event event)
{
    int64_t moved = ledger;
    for (int i = 0; i < LEGACY_FIELD_COUNT; i++) {
        enum legacy_field field = (enum legacy_field)i;
        int64_t value =
            trace_field(ledger, digit_details[i].first_digit, digit_details[i].digit_count) +
            lifecycle[event].step[i];
        if (value < 0 || value > (digit_details[i].digit_count == 1 ? 9 : 999999)) {
            return (struct legacy_addition){LEGACY_AT_LIMIT, ledger};
        }
        moved = with_field(moved, field, value);
    }
    return (struct legacy_addition){LEGACY_ADDED, moved};
}

static void expect_as_by_fields(int64_t ledger, enum legacy_event event)
{
    struct legacy_addition actual = legacy_add(ledger, event);
    struct legacy_addition expected = by_fields(ledger, event);
    HOLDS(actual.outcome == expected.outcome, TRACE_LEDGER ": %s has outcome %d", ledger,
          event_names[event], (int)actual.outcome);
    HOLDS(actual.ledger == expected.ledger, TRACE_LEDGER ": %s makes " TRACE_LEDGER, ledger,
          event_names[event], actual.ledger);
}

Test(legacy, every_event_moves_its_own_digits_and_no_other)
{
    PROVES(CLAUSE_LEG_1, CLAUSE_LEG_5, CLAUSE_LEG_8);
    for (size_t s = 0; s < COUNT(surroundings); s++) {
        int64_t base = strtoll(surroundings[s], NULL, 10);
        for (int event = 0; event < LEGACY_EVENT_COUNT; event++) {
            for (int field = 0; field < LEGACY_FIELD_COUNT; field++) {
                for (size_t i = 0; i < value_count((enum legacy_field)field); i++) {
                    expect_as_by_fields(with_field(base, (enum legacy_field)field,
                                                   value_at((enum legacy_field)field, i)),
                                        (enum legacy_event)event);
                }
            }
        }
    }
}

Test(legacy, success_moves_both_its_fields_or_neither)
{
    PROVES(CLAUSE_LEG_5);
    SETTLES(ERRATUM_LEG_1);
    for (int status = 0; status <= 9; status++) {
        for (size_t i = 0; i < COUNT(six_digits); i++) {
            int64_t ledger = with_field(LEGACY_START, LEGACY_LEG2_EXIT, status);
            expect_as_by_fields(with_field(ledger, LEGACY_LEG2_EXIT_COUNT, six_digits[i]),
                                LEGACY_LEG2_SUCCESS);
        }
    }
}

/* ---- the typo ------------------------------------------------------------------------------ */

Test(legacy, success_subtracts_a_trillion_and_the_typo_gives_a_number_legal_to_the_eye)
{
    SETTLES(ERRATUM_LEG_1);
    const int64_t typo = 1 - INT64_C(1000000000);
    cr_expect_eq(legacy_summand(LEGACY_LEG2_SUCCESS), 1 - INT64_C(1000000000000));
    cr_expect_eq(after(889000002000001, LEGACY_LEG2_SUCCESS), INT64_C(888000002000002));
    int64_t wrong = 889000002000001 + typo;
    cr_expect_eq(wrong, INT64_C(888999002000002));
    cr_expect(legacy_closed(wrong));
    cr_expect_eq(legacy_get(wrong, LEGACY_LEG2_EXIT_COUNT), 2);
    cr_expect_eq(legacy_get(wrong, LEGACY_LEG2_ENTRIES), 999002, "nobody entered so often");
}

Test(legacy, a_number_that_is_no_ledger_reads_as_used_up_and_closed)
{
    SETTLES(ERRATUM_LEG_2);
    int64_t borrowed = 99000000000000 + legacy_summand(LEGACY_LEG1_BEGIN); /* the tenth entry */
    cr_assert_lt(borrowed, 0);
    for (int field = 0; field < LEGACY_FIELD_COUNT; field++) {
        cr_expect_eq(legacy_get(borrowed, (enum legacy_field)field), 0);
    }
    cr_expect_eq(legacy_leg1_decision(borrowed), LEGACY_LEG1_COMPLETED);
    cr_expect_eq(legacy_leg2_decision(borrowed), LEGACY_LEG2_TURNED_AWAY);
}
