#include "model/check.h"
#include "model/key.h"
#include "model/tests/proves.h"
#include "model/tests/random.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

/* "968969" is the key 968969000000000. */
static int64_t key_of(const char *digits)
{
    int64_t key = 0;
    for (int i = 0; digits[i] != '\0'; i++) {
        key += (digits[i] - '0') * key_weight(i);
    }
    return key;
}

static void is_key(int64_t key, const char *digits, const char *when)
{
    char found[DIGITS_TEXT_SIZE];
    char expected[DIGITS_TEXT_SIZE];
    key_format(key, found);
    key_format(key_of(digits), expected);
    cr_assert_str_eq(found, expected, "%s: found %s, expected %s", when, found, expected);
}

/* ---- digits -------------------------------------------------------------------------------- */

Test(key, digits_mean_what_the_text_says)
{
    PROVES(CLAUSE_KEY_1);
    static const struct {
        enum key_digit digit;
        int value;
        const char *name;
    } cases[] = {
        {KEY_PENDING, 9, "pending"},       {KEY_STARTED, 8, "started"},
        {KEY_ERRORED, 7, "errored"},       {KEY_COMPLETED, 6, "completed"},
        {KEY_PAUSED, 5, "paused"},         {KEY_RELEASED, 4, "released"},
        {KEY_SKIPPED, 3, "skipped"},       {KEY_RIGHT, 2, "right parenthesis"},
        {KEY_LEFT, 1, "left parenthesis"}, {KEY_NONE, 0, "no activity"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        cr_assert_eq((int)cases[i].digit, cases[i].value);
        cr_assert_str_eq(key_digit_name(cases[i].digit), cases[i].name);
    }
}

Test(key, a_value_is_a_key_or_it_is_not)
{
    PROVES(CLAUSE_KEY_1, CLAUSE_KEY_2);
    static const struct {
        int64_t value;
        int activities; /* 0: no key */
    } cases[] = {
        {999969000000000, 6},
        {300000000000000, 1},
        {900000000000000, 1},
        {345678900000000, 7},
        {999999999999999, 15},
        {333333333333333, 15},
        {999999999999990, 14},
        {0, 0},
        {-1, 0},
        {-999969000000000, 0},
        {INT64_MIN, 0},
        {INT64_MAX, 0},
        {99999999999999, 0},
        {1000000000000000, 0},
        {9999690000000000, 0},
        {100000000000000, 0},
        {200000000000000, 0},
        {990900000000000, 0},
        {999000000000009, 0},
        {991900000000000, 0},
        {999999999999992, 0},
        {999999999999991, 0},
        {99996146636629, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        cr_assert_eq(key_activities(cases[i].value), cases[i].activities, "case %zu", i);
        cr_assert_eq(key_valid(cases[i].value), cases[i].activities > 0, "case %zu", i);
    }
}

Test(key, a_key_with_one_digit_overwritten_by_0_1_or_2_is_no_key)
{
    PROVES(CLAUSE_KEY_1);
    int64_t key = key_of("968969");
    for (int i = 0; i < 6; i++) {
        for (int digit = 0; digit <= 2; digit++) {
            int64_t value = key + (digit - (int)key_get(key, i)) * key_weight(i);
            bool only_shorter = digit == 0 && i == 5;
            cr_assert_eq(key_valid(value), only_shorter, "digit %d at %d", digit, i);
        }
    }
}

Test(key, a_digit_is_read_at_its_weight)
{
    int64_t key = key_of("987654333333336");
    for (int i = 0; i < KEY_ACTIVITIES_MAX; i++) {
        cr_assert_eq((int)key_get(key, i), "987654333333336"[i] - '0');
    }
    cr_assert_eq(key_weight(0), 100000000000000);
    cr_assert_eq(key_weight(14), 1);
    cr_assert_eq(key_get(key, -1), KEY_NONE);
    cr_assert_eq(key_get(key, 15), KEY_NONE);
    cr_assert_eq(key_get(-key, 0), KEY_NONE);
    cr_assert_eq(key_get(10 * key, 0), KEY_NONE);
}

Test(key, a_value_is_written_with_15_digits)
{
    static const struct {
        int64_t value;
        const char *text;
    } cases[] = {
        {999969000000000, "999969000000000"},  {0, "000000000000000"},
        {99996146636629, "099996146636629"},   {999999999999999, "999999999999999"},
        {1000000000000000, "???????????????"}, {-1, "???????????????"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[DIGITS_TEXT_SIZE];
        key_format(cases[i].value, text);
        cr_assert_str_eq(text, cases[i].text);
    }
}

Test(key, a_flow_starts_as_nines_then_zeros)
{
    PROVES(CLAUSE_KEY_9);
    static const char *const keys[] = {
        "900000000000000", "990000000000000", "999000000000000", "999900000000000",
        "999990000000000", "999999000000000", "999999900000000", "999999990000000",
        "999999999000000", "999999999900000", "999999999990000", "999999999999000",
        "999999999999900", "999999999999990", "999999999999999",
    };
    for (int k = 1; k <= KEY_ACTIVITIES_MAX; k++) {
        is_key(key_initial(k), keys[k - 1], "initial");
        cr_assert_eq(key_activities(key_initial(k)), k);
        cr_assert_not(key_complete(key_initial(k)));
    }
}

Test(key, a_job_is_complete_when_no_digit_is_9_8_or_5)
{
    PROVES(CLAUSE_KEY_4);
    static const struct {
        const char *key;
        bool complete, in_error;
    } cases[] = {
        {"366663", true, false},
        {"466366", true, false},
        {"766366", true, true},
        {"3", true, false},
        {"4", true, false},
        {"6", true, false},
        {"7", true, true},
        {"999969", false, false},
        {"968969", false, false},
        {"366863", false, false},
        {"566366", false, false},
        {"9", false, false},
        {"8", false, false},
        {"5", false, false},
        {"766866", false, true},
        {"666666666666669", false, false},
        {"666666666666667", true, true},
        {"0", false, false},
        {"667066", false, false},
        {"6617", false, false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t key = key_of(cases[i].key);
        cr_assert_eq(key_complete(key), cases[i].complete, "%s", cases[i].key);
        cr_assert_eq(key_in_error(key), cases[i].in_error, "%s", cases[i].key);
    }
    cr_assert_not(key_complete(-key_of("6")));
    cr_assert_not(key_in_error(-key_of("7")));
}

/* ---- positions ----------------------------------------------------------------------------- */

/* clang-format off */
#define ID(text) {text, sizeof(text) - 1}
/* clang-format on */

Test(key, positions_follow_the_bytewise_order_of_ids)
{
    PROVES(CLAUSE_KEY_2);
    static const struct {
        size_t count;
        struct key_id ids[KEY_ACTIVITIES_MAX];
        int position[KEY_ACTIVITIES_MAX];
    } cases[] = {
        {6,
         {ID("quick"), ID("brown"), ID("fox"), ID("jumped"), ID("slept"), ID("ate")},
         {4, 1, 2, 3, 5, 0}},
        {1, {ID("only")}, {0}},
        {3, {ID("abc"), ID("ab"), ID("a")}, {2, 1, 0}},
        {3, {ID("a"), ID("ab"), ID("abc")}, {0, 1, 2}},
        {4, {ID("a10"), ID("a9"), ID("B"), ID("a1")}, {2, 3, 0, 1}},
        {3, {ID("\xc3\xa9"), ID("z"), ID("\x7f")}, {2, 0, 1}},
        {3, {ID("a\0b"), ID("a"), ID("a\0")}, {2, 0, 1}},
        {15,
         {ID("o"), ID("n"), ID("m"), ID("l"), ID("k"), ID("j"), ID("i"), ID("h"), ID("g"), ID("f"),
          ID("e"), ID("d"), ID("c"), ID("b"), ID("a")},
         {14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct key_places places = key_place(cases[i].ids, cases[i].count);
        cr_assert_eq(places.outcome, KEY_PLACED, "case %zu", i);
        for (size_t j = 0; j < cases[i].count; j++) {
            cr_assert_eq(places.position[j], cases[i].position[j], "case %zu, id %zu", i, j);
        }
    }
}

Test(key, ids_without_positions_are_refused_by_name)
{
    PROVES(CLAUSE_KEY_2);
    static const struct {
        size_t count;
        struct key_id ids[KEY_ACTIVITIES_MAX + 2];
        enum key_placing outcome;
        size_t at;
        const char *rule;
    } cases[] = {
        {0, {ID("")}, KEY_PLACE_NO_ID, 0, "a flow has at least 1 activity"},
        {16,
         {ID("a"), ID("b"), ID("c"), ID("d"), ID("e"), ID("f"), ID("g"), ID("h"), ID("i"), ID("j"),
          ID("k"), ID("l"), ID("m"), ID("n"), ID("o"), ID("p")},
         KEY_PLACE_TOO_MANY,
         15,
         "a flow has at most 15 activities"},
        {3,
         {ID("a"), ID(""), ID("b")},
         KEY_PLACE_EMPTY,
         1,
         "an activity's id has at least 1 character"},
        {1, {{NULL, 0}}, KEY_PLACE_EMPTY, 0, "an activity's id has at least 1 character"},
        {4,
         {ID("b"), ID("a"), ID("c"), ID("a")},
         KEY_PLACE_TWIN,
         3,
         "the activities of a flow have different ids"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct key_places places = key_place(cases[i].ids, cases[i].count);
        cr_assert_eq(places.outcome, cases[i].outcome, "case %zu", i);
        cr_assert_eq(places.at, cases[i].at, "case %zu", i);
        cr_assert_str_eq(key_placing_rule(places.outcome), cases[i].rule);
    }
    cr_assert_str_eq(key_placing_rule(KEY_PLACED), "every activity has its position");
}

/* ---- changes ------------------------------------------------------------------------------- */

static const struct {
    enum key_change change;
    const char *name;
    int from, to;
} moves[] = {
    {KEY_CHANGE_START, "start", 9, 8},       {KEY_CHANGE_ERROR, "error", 8, 7},
    {KEY_CHANGE_COMPLETE, "complete", 8, 6}, {KEY_CHANGE_PAUSE, "pause", 6, 5},
    {KEY_CHANGE_HOLD, "hold", 8, 5},         {KEY_CHANGE_RELEASE, "release", 5, 4},
    {KEY_CHANGE_SKIP, "skip", 9, 3},
};

Test(key, a_change_is_one_decrement_at_the_weight_of_its_activity)
{
    PROVES(CLAUSE_KEY_3);
    cr_assert_eq(COUNT(moves), KEY_CHANGE_COUNT);
    for (size_t i = 0; i < COUNT(moves); i++) {
        enum key_change change = moves[i].change;
        cr_assert_str_eq(key_change_name(change), moves[i].name);
        cr_assert_eq((int)key_expected(change), moves[i].from);
        for (int position = 0; position < KEY_ACTIVITIES_MAX; position++) {
            int64_t delta = (moves[i].to - moves[i].from) * key_weight(position);
            cr_assert_eq(key_delta(change, position), delta);
        }
    }
    cr_assert_eq(key_delta(KEY_CHANGE_START, 0), -100000000000000);
    cr_assert_eq(key_delta(KEY_CHANGE_COMPLETE, 3), -200000000000);
    cr_assert_eq(key_delta(KEY_CHANGE_SKIP, 14), -6);
}

static enum key_outcome expected_outcome(int digit, int other, int activities, size_t move)
{
    if (digit != moves[move].from) {
        return KEY_REFUSED_DIGIT;
    }
    bool others_active = activities > 1 && (other == 9 || other == 8 || other == 5);
    bool complete = digit == 6 && !others_active;
    return complete ? KEY_REFUSED_COMPLETE : KEY_CHANGED;
}

/* A key of `activities` digits `other`, but for `digit` at `position`. */
static int64_t fill(int activities, int other, int position, int digit)
{
    int64_t key = 0;
    for (int i = 0; i < activities; i++) {
        key += (i == position ? digit : other) * key_weight(i);
    }
    return key;
}

static void check_change(int activities, int other, int position, int digit)
{
    int64_t before = fill(activities, other, position, digit);
    for (size_t m = 0; m < COUNT(moves); m++) {
        struct key_result result = key_apply(before, position, moves[m].change);
        enum key_outcome outcome = expected_outcome(digit, other, activities, m);
        int after = outcome == KEY_CHANGED ? moves[m].to : digit;
        bool as_expected = result.outcome == outcome && (int)result.found == digit &&
                           result.key == fill(activities, other, position, after) &&
                           result.delta == result.key - before && result.skipped == 0 &&
                           result.completes == (!key_complete(before) && key_complete(result.key));
        cr_assert(as_expected, "%s of %d at %d of %d activities, the others %d", moves[m].name,
                  digit, position, activities, other);
    }
}

Test(key, no_change_of_any_digit_at_any_position_ever_moves_another_digit)
{
    PROVES(CLAUSE_KEY_3, CLAUSE_KEY_8);
    for (int activities = 1; activities <= KEY_ACTIVITIES_MAX; activities++) {
        for (int position = 0; position < activities; position++) {
            for (int digit = 3; digit <= 9; digit++) {
                for (int other = 3; other <= 9; other++) {
                    check_change(activities, other, position, digit);
                }
            }
        }
    }
}

Test(key, an_impossible_change_is_refused_and_says_what_it_found)
{
    PROVES(CLAUSE_KEY_8);
    static const struct {
        const char *why;
        const char *key;
        int position;
        enum key_change change;
        enum key_outcome outcome;
        enum key_digit found;
    } cases[] = {
        {"complete a pending one", "999", 1, KEY_CHANGE_COMPLETE, KEY_REFUSED_DIGIT, KEY_PENDING},
        {"release a running one", "989", 1, KEY_CHANGE_RELEASE, KEY_REFUSED_DIGIT, KEY_STARTED},
        {"start a skipped one", "939", 1, KEY_CHANGE_START, KEY_REFUSED_DIGIT, KEY_SKIPPED},
        {"skip a running one", "989", 1, KEY_CHANGE_SKIP, KEY_REFUSED_DIGIT, KEY_STARTED},
        {"error a completed one", "969", 1, KEY_CHANGE_ERROR, KEY_REFUSED_DIGIT, KEY_COMPLETED},
        {"past the last activity", "999", 3, KEY_CHANGE_START, KEY_REFUSED_POSITION, KEY_NONE},
        {"past the last digit", "999", 15, KEY_CHANGE_START, KEY_REFUSED_POSITION, KEY_NONE},
        {"before the first", "999", -1, KEY_CHANGE_START, KEY_REFUSED_POSITION, KEY_NONE},
        {"no key: a parenthesis", "919", 0, KEY_CHANGE_START, KEY_REFUSED_VALUE, KEY_PENDING},
        {"no key: an inner 0", "909", 1, KEY_CHANGE_START, KEY_REFUSED_VALUE, KEY_NONE},
        {"no key at all", "0", 0, KEY_CHANGE_START, KEY_REFUSED_VALUE, KEY_NONE},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t key = key_of(cases[i].key);
        struct key_result result = key_apply(key, cases[i].position, cases[i].change);
        cr_assert_eq(result.outcome, cases[i].outcome, "%s", cases[i].why);
        cr_assert_eq(result.found, cases[i].found, "%s", cases[i].why);
        cr_assert_eq(result.key, key, "%s", cases[i].why);
        cr_assert_eq(result.delta, 0, "%s", cases[i].why);
        cr_assert_not(result.completes, "%s", cases[i].why);
    }
}

/* Every key of three activities is tried, so every way to reach and to leave a complete one is. */
Test(key, exactly_one_change_completes_and_nothing_follows_it)
{
    PROVES(CLAUSE_KEY_4, CLAUSE_KEY_10);
    for (int n = 333; n <= 999; n++) {
        int64_t key = n * key_weight(2);
        for (int i = 0; key_valid(key) && i < 3 * (int)KEY_CHANGE_COUNT; i++) {
            struct key_result result = key_apply(key, i % 3, (enum key_change)(i / 3));
            bool changed = result.outcome == KEY_CHANGED;
            cr_assert(!key_complete(key) || !changed, "%d changed although complete", n);
            cr_assert_eq(result.completes, changed && key_complete(result.key), "%d", n);
        }
    }
}

Test(key, only_finished_work_is_paused_and_only_while_the_job_runs)
{
    PROVES(CLAUSE_KEY_3);
    SETTLES(ERRATUM_KEY_2);
    static const struct {
        const char *before;
        enum key_change change;
        enum key_outcome outcome;
        const char *after;
    } cases[] = {
        {"69", KEY_CHANGE_PAUSE, KEY_CHANGED, "59"},
        {"89", KEY_CHANGE_HOLD, KEY_CHANGED, "59"},
        {"86", KEY_CHANGE_HOLD, KEY_CHANGED, "56"},
        {"89", KEY_CHANGE_PAUSE, KEY_REFUSED_DIGIT, "89"}, /* unfinished */
        {"99", KEY_CHANGE_PAUSE, KEY_REFUSED_DIGIT, "99"},
        {"99", KEY_CHANGE_HOLD, KEY_REFUSED_DIGIT, "99"},
        {"79", KEY_CHANGE_PAUSE, KEY_REFUSED_DIGIT, "79"},
        {"59", KEY_CHANGE_PAUSE, KEY_REFUSED_DIGIT, "59"},    /* replayed */
        {"66", KEY_CHANGE_PAUSE, KEY_REFUSED_COMPLETE, "66"}, /* it would complete twice, KEY-10 */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct key_result result = key_apply(key_of(cases[i].before), 0, cases[i].change);
        cr_assert_eq(result.outcome, cases[i].outcome, "%s", cases[i].before);
        is_key(result.key, cases[i].after, cases[i].before);
    }
}

Test(key, a_replayed_start_is_refused_where_a_blind_decrement_says_errored)
{
    SETTLES(ERRATUM_KEY_3);
    int64_t once = key_apply(key_of("99"), 0, KEY_CHANGE_START).key;
    is_key(once, "89", "started once");

    int64_t blind = once + key_delta(KEY_CHANGE_START, 0);
    is_key(blind, "79", "blindly started again");
    cr_assert(key_in_error(blind));

    struct key_result guarded = key_apply(once, 0, KEY_CHANGE_START);
    cr_assert_eq(guarded.outcome, KEY_REFUSED_DIGIT);
    cr_assert_eq(guarded.found, KEY_STARTED);
    is_key(guarded.key, "89", "start refused");
}

Test(key, a_blind_decrement_of_an_unused_position_borrows)
{
    PROVES(CLAUSE_KEY_8);
    int64_t blind = key_of("99") + key_delta(KEY_CHANGE_START, 2);
    is_key(blind, "989", "borrowed: activity 2 looks started");
    cr_assert_eq(key_apply(key_of("99"), 2, KEY_CHANGE_START).outcome, KEY_REFUSED_POSITION);
}

/* A later read of the key, as after a crash, shows that the job is complete but not which worker has
 * to complete it. Only the change itself shows that, so the tasks commit with it. */
Test(key, completion_shows_in_the_value_that_the_change_returned_and_nowhere_else)
{
    PROVES(CLAUSE_KEY_10);
    SETTLES(ERRATUM_KEY_7);
    struct key_result last = key_apply(key_of("366863"), 3, KEY_CHANGE_COMPLETE);
    is_key(last.key, "366663", "last decrement");
    cr_assert(last.completes);

    struct key_result replayed = key_apply(last.key, 3, KEY_CHANGE_COMPLETE);
    cr_assert_eq(replayed.outcome, KEY_REFUSED_DIGIT);
    cr_assert(key_complete(replayed.key));
    cr_assert_not(replayed.completes);
}

/* ---- graph --------------------------------------------------------------------------------- */

/* "01 12": from 0 to 1, from 1 to 2, as a bit a child for each activity. Far positions are
 * hexadecimal. */
static void read_edges(const char *edges, uint16_t out[KEY_ACTIVITIES_MAX])
{
    static const char places[] = "0123456789abcde";
    memset(out, 0, KEY_ACTIVITIES_MAX * sizeof out[0]);
    for (const char *edge = edges; *edge != '\0'; edge += edge[2] == ' ' ? 3 : 2) {
        long from = strchr(places, edge[0]) - places;
        long to = strchr(places, edge[1]) - places;
        out[from] = (uint16_t)(out[from] | 1U << to);
    }
}

static struct key_graph graph_of(int count, const char *edges)
{
    struct key_graph graph = {.count = count};
    uint16_t next[KEY_ACTIVITIES_MAX];
    read_edges(edges, next);
    for (int i = 0; i < KEY_ACTIVITIES_MAX * KEY_ACTIVITIES_MAX; i++) {
        int from = i / KEY_ACTIVITIES_MAX;
        int to = i % KEY_ACTIVITIES_MAX;
        if ((next[from] >> to & 1) != 0) {
            cr_assert_eq(key_graph_add(&graph, from, to), KEY_EDGE_ADDED);
        }
    }
    return graph;
}

Test(key, an_edge_joins_two_activities_of_the_graph)
{
    static const struct {
        int from, to;
        enum key_edge outcome;
    } cases[] = {
        {0, 1, KEY_EDGE_ADDED},    {0, 1, KEY_EDGE_ADDED},    {2, 0, KEY_EDGE_ADDED},
        {1, 1, KEY_EDGE_SELF},     {0, 3, KEY_EDGE_OUTSIDE},  {3, 0, KEY_EDGE_OUTSIDE},
        {-1, 0, KEY_EDGE_OUTSIDE}, {0, -1, KEY_EDGE_OUTSIDE}, {3, 3, KEY_EDGE_OUTSIDE},
    };
    struct key_graph graph = {.count = 3};
    for (size_t i = 0; i < COUNT(cases); i++) {
        cr_assert_eq(key_graph_add(&graph, cases[i].from, cases[i].to), cases[i].outcome);
    }
    cr_assert_eq(graph.next[0], 1U << 1);
    cr_assert_eq(graph.next[1], 0);
    cr_assert_eq(graph.next[2], 1U << 0);
}

Test(key, a_cycle_anywhere_is_found)
{
    static const struct {
        const char *edges;
        int count;
        bool acyclic;
    } cases[] = {
        {"", 1, true},
        {"41 12 23 25 50", 6, true},
        {"01 02 12", 3, true},
        {"01 12 23 34 45 56 67 78 89 9a ab bc cd de", 15, true},
        {"ed dc cb ba a9 98 87 76 65 54 43 32 21 10", 15, true},
        {"01 10", 2, false},
        {"01 12 20 03", 4, false},
        {"01 12 23 31", 4, false},
        {"01 12 23 34 45 56 67 78 89 9a ab bc cd de e0", 15, false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct key_graph graph = graph_of(cases[i].count, cases[i].edges);
        cr_assert_eq(key_graph_acyclic(&graph), cases[i].acyclic, "%s", cases[i].edges);
    }
}

/* ---- skips --------------------------------------------------------------------------------- */

struct skip_case {
    const char *why;
    const char *edges;   /* the graph, of as many activities as the key */
    const char *untaken; /* edges known not to have been taken */
    const char *before;
    int position;
    enum key_change change;
    const char *after;
};

static void check_skips(const struct skip_case *c)
{
    struct key_graph graph = graph_of((int)strlen(c->before), c->edges);
    uint16_t untaken[KEY_ACTIVITIES_MAX];
    read_edges(c->untaken, untaken);
    int64_t before = key_of(c->before);
    struct key_result result = key_apply_skipping(&graph, untaken, before, c->position, c->change);
    cr_assert_eq(result.outcome, KEY_CHANGED, "%s", c->why);
    is_key(result.key, c->after, c->why);
    cr_assert_eq(before + result.delta, result.key, "%s: one add", c->why);
    cr_assert_eq(result.completes, key_complete(key_of(c->after)), "%s", c->why);
    for (int i = 0; i < KEY_ACTIVITIES_MAX; i++) {
        bool skipped = i != c->position && key_get(before, i) != key_get(result.key, i);
        cr_assert_eq(result.skipped >> i & 1, skipped, "%s: mask", c->why);
    }
}

Test(key, a_change_skips_what_nothing_can_start_any_more)
{
    PROVES(CLAUSE_KEY_5);
    SETTLES(ERRATUM_KEY_5);
    static const struct skip_case cases[] = {
        {"an error skips all below it", "01 12", "", "899", 0, KEY_CHANGE_ERROR, "733"},
        {"an error at a leaf skips nothing", "01", "", "68", 1, KEY_CHANGE_ERROR, "67"},
        {"the order of positions does not matter", "21 10", "", "998", 2, KEY_CHANGE_ERROR, "337"},
        {"completing takes every edge unless told", "01 02", "", "899", 0, KEY_CHANGE_COMPLETE,
         "699"},
        {"an untaken branch is skipped", "01 02", "01", "899", 0, KEY_CHANGE_COMPLETE, "639"},
        {"an untaken branch, all of it", "01 12 03", "01", "8999", 0, KEY_CHANGE_COMPLETE, "6339"},
        {"nothing taken completes the job", "01 02", "01 02", "899", 0, KEY_CHANGE_COMPLETE, "633"},
        {"a join waits for its other parent", "02 12", "", "889", 0, KEY_CHANGE_ERROR, "789"},
        {"... pending or not", "02 12", "", "899", 0, KEY_CHANGE_ERROR, "799"},
        {"... but not for ever", "02 12", "", "789", 1, KEY_CHANGE_ERROR, "773"},
        {"a join that another has started lives", "02 12", "", "869", 0, KEY_CHANGE_ERROR, "769"},
        {"a join that neither takes", "02 12", "02 12", "689", 1, KEY_CHANGE_COMPLETE, "663"},
        {"a join below two skipped ones", "01 02 13 23", "", "8999", 0, KEY_CHANGE_ERROR, "7333"},
        {"a join below a skipped and a taken one", "01 02 13 23", "01", "8999", 0,
         KEY_CHANGE_COMPLETE, "6399"},
        {"a paused parent keeps its taken edge", "02 12", "", "859", 0, KEY_CHANGE_ERROR, "759"},
        {"a released one drops its untaken edge", "02 12", "12", "849", 0, KEY_CHANGE_ERROR, "743"},
        {"a running one has decided nothing yet", "02 12", "12", "889", 0, KEY_CHANGE_ERROR, "789"},
        {"a second trigger is not below anyone", "01", "", "899", 0, KEY_CHANGE_ERROR, "739"},
        {"what already runs is left alone", "01", "", "88", 0, KEY_CHANGE_ERROR, "78"},
        {"skipping skips all below", "01 12", "", "999", 0, KEY_CHANGE_SKIP, "333"},
        {"held work has decided", "01 02", "01", "899", 0, KEY_CHANGE_HOLD, "539"},
        {"or decides when released", "01 02", "01", "599", 0, KEY_CHANGE_RELEASE, "439"},
        {"a start never skips", "01 02", "01", "699", 2, KEY_CHANGE_START, "698"},
        {"a pause never skips", "01 02", "01", "699", 0, KEY_CHANGE_PAUSE, "599"},
        {"fifteen in a chain", "01 12 23 34 45 56 67 78 89 9a ab bc cd de", "", "899999999999999",
         0, KEY_CHANGE_ERROR, "733333333333333"},
        {"fifteen in a chain, backwards", "ed dc cb ba a9 98 87 76 65 54 43 32 21 10", "",
         "999999999999998", 14, KEY_CHANGE_ERROR, "333333333333337"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        check_skips(&cases[i]);
    }
}

Test(key, an_error_upstream_alone_leaves_pending_digits_for_ever)
{
    SETTLES(ERRATUM_KEY_5);
    struct key_result alone = key_apply(key_of("899"), 0, KEY_CHANGE_ERROR);
    is_key(alone.key, "799", "nothing will ever start the two others");
    cr_assert_not(alone.completes);

    struct key_graph chain = graph_of(3, "01 12");
    static const uint16_t none[KEY_ACTIVITIES_MAX];
    struct key_result together =
        key_apply_skipping(&chain, none, key_of("899"), 0, KEY_CHANGE_ERROR);
    cr_assert_eq(together.delta, -166000000000000);
    cr_assert_eq(together.skipped, 6);
    cr_assert(together.completes);
    cr_assert(key_in_error(together.key));
}

Test(key, a_refused_change_skips_nothing)
{
    PROVES(CLAUSE_KEY_8);
    static const uint16_t none[KEY_ACTIVITIES_MAX];
    static const struct {
        const char *key;
        int position;
        enum key_outcome outcome;
    } cases[] = {
        {"999", 0, KEY_REFUSED_DIGIT},    {"799", 0, KEY_REFUSED_DIGIT},
        {"899", 3, KEY_REFUSED_POSITION}, {"8999", 0, KEY_REFUSED_VALUE}, /* another job's */
        {"89", 0, KEY_REFUSED_VALUE},     {"819", 0, KEY_REFUSED_VALUE},
    };
    struct key_graph chain = graph_of(3, "01 12");
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct key_result result = key_apply_skipping(&chain, none, key_of(cases[i].key),
                                                      cases[i].position, KEY_CHANGE_ERROR);
        cr_assert_eq(result.outcome, cases[i].outcome, "%s", cases[i].key);
        is_key(result.key, cases[i].key, "refused");
        cr_assert(result.delta == 0 && result.skipped == 0 && !result.completes);
    }
}

/* ---- the worked example -------------------------------------------------------------------- */

/* quick => brown => fox => (jumped | (slept => ate)), in the order of the text */
enum { QUICK, BROWN, FOX, JUMPED, SLEPT, ATE, FLOW_COUNT };

struct flow {
    int at[FLOW_COUNT];                   /* positions */
    struct key_graph graph;               /* by position */
    uint16_t untaken[KEY_ACTIVITIES_MAX]; /* by position */
    int64_t key;                          /* now */
};

static struct flow quick_brown_fox(void)
{
    static const struct key_id ids[FLOW_COUNT] = {ID("quick"),  ID("brown"), ID("fox"),
                                                  ID("jumped"), ID("slept"), ID("ate")};
    static const int edges[][2] = {
        {QUICK, BROWN}, {BROWN, FOX}, {FOX, JUMPED}, {FOX, SLEPT}, {SLEPT, ATE}};
    struct key_places places = key_place(ids, FLOW_COUNT);
    struct flow flow = {.graph.count = FLOW_COUNT, .key = key_initial(FLOW_COUNT)};
    memcpy(flow.at, places.position, sizeof flow.at);
    for (size_t i = 0; i < COUNT(edges); i++) {
        key_graph_add(&flow.graph, flow.at[edges[i][0]], flow.at[edges[i][1]]);
    }
    return flow;
}

struct golden_step {
    const char *after;
    int activity;
    enum key_change change;
    int untaken; /* the child that completing leaves out, or -1 */
    bool completes;
};

static void follow(struct flow *flow, const struct golden_step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int position = flow->at[steps[i].activity];
        if (steps[i].untaken >= 0) {
            flow->untaken[position] = (uint16_t)(1U << flow->at[steps[i].untaken]);
        }
        struct key_result result =
            key_apply_skipping(&flow->graph, flow->untaken, flow->key, position, steps[i].change);
        flow->key = result.key;
        is_key(flow->key, steps[i].after, "golden");
        cr_assert_eq(result.completes, steps[i].completes, "%s", steps[i].after);
    }
}

Test(key, quick_brown_fox_jumped)
{
    PROVES(CLAUSE_KEY_7, CLAUSE_KEY_2, CLAUSE_KEY_5, CLAUSE_KEY_9);
    static const struct golden_step steps[] = {
        {"999989000000000", QUICK, KEY_CHANGE_START, -1, false},
        {"999969000000000", QUICK, KEY_CHANGE_COMPLETE, -1, false}, /* the trigger is done */
        {"989969000000000", BROWN, KEY_CHANGE_START, -1, false},
        {"969969000000000", BROWN, KEY_CHANGE_COMPLETE, -1, false},
        {"968969000000000", FOX, KEY_CHANGE_START, -1, false}, /* example 1 */
        {"366963000000000", FOX, KEY_CHANGE_COMPLETE, SLEPT, false},
        {"366863000000000", JUMPED, KEY_CHANGE_START, -1, false},   /* example 2 */
        {"366663000000000", JUMPED, KEY_CHANGE_COMPLETE, -1, true}, /* example 3 */
    };
    struct flow flow = quick_brown_fox();
    is_key(flow.key, "999999000000000", "at first");
    follow(&flow, steps, COUNT(steps));
    cr_assert_not(key_in_error(flow.key));
}

static struct flow at_ate(void)
{
    static const struct golden_step steps[] = {
        {"966369000000000", FOX, KEY_CHANGE_COMPLETE, JUMPED, false},
        {"966368000000000", SLEPT, KEY_CHANGE_START, -1, false},
        {"966366000000000", SLEPT, KEY_CHANGE_COMPLETE, -1, false},
        {"866366000000000", ATE, KEY_CHANGE_START, -1, false},
    };
    struct flow flow = quick_brown_fox();
    flow.key = key_of("968969");
    follow(&flow, steps, COUNT(steps));
    return flow;
}

Test(key, quick_brown_fox_slept_ate_paused_and_released)
{
    PROVES(CLAUSE_KEY_7);
    static const struct golden_step steps[] = {
        {"566366000000000", ATE, KEY_CHANGE_HOLD, -1, false},   /* example 4 */
        {"466366000000000", ATE, KEY_CHANGE_RELEASE, -1, true}, /* example 5 */
    };
    struct flow flow = at_ate();
    follow(&flow, steps, COUNT(steps));
    cr_assert_not(key_in_error(flow.key));
}

Test(key, quick_brown_fox_slept_ate_with_an_error)
{
    PROVES(CLAUSE_KEY_7);
    static const struct golden_step steps[] = {
        {"766366000000000", ATE, KEY_CHANGE_ERROR, -1, true}, /* ERROR example */
    };
    struct flow flow = at_ate();
    follow(&flow, steps, COUNT(steps));
    cr_assert(key_in_error(flow.key));
}

/* ---- random graphs ------------------------------------------------------------------------- */

static int below(uint64_t *state, int limit)
{
    return (int)(random_next(state) % (uint64_t)limit);
}

/* Edges go from earlier to later in a random order, so there is no cycle. */
static struct key_graph random_dag(uint64_t *state)
{
    struct key_graph graph = {.count = 1 + below(state, 12)};
    int order[KEY_ACTIVITIES_MAX] = {0};
    for (int i = 0; i < graph.count; i++) {
        int j = below(state, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    int density = 1 + below(state, 9);
    for (int i = 0; i < graph.count; i++) {
        for (int j = 0; j < i; j++) {
            if (below(state, 10) < density) {
                key_graph_add(&graph, order[j], order[i]);
            }
        }
    }
    return graph;
}

/* The independent judge: `reached` are the pending activities at the end of a path that begins at
 * one that can still act, by an edge it may take, and then runs through pending ones only. Walks
 * every path. */
struct judge {
    const struct key_graph *graph;
    const uint16_t *untaken;
    int64_t key;
    unsigned reached;
};

static void walk(struct judge *judge, int from)
{
    enum key_digit digit = key_get(judge->key, from);
    for (int to = 0; to < judge->graph->count; to++) {
        bool is_edge = (judge->graph->next[from] >> to & 1) != 0;
        bool is_untaken =
            digit != KEY_PENDING && digit != KEY_STARTED && (judge->untaken[from] >> to & 1) != 0;
        if (is_edge && !is_untaken && key_get(judge->key, to) == KEY_PENDING) {
            judge->reached |= 1U << to;
            walk(judge, to);
        }
    }
}

static bool has_parent(const struct key_graph *graph, int position)
{
    for (int i = 0; i < graph->count; i++) {
        if ((graph->next[i] >> position & 1) != 0) {
            return true;
        }
    }
    return false;
}

static unsigned skipped_by_paths(const struct key_graph *graph, const uint16_t *untaken,
                                 int64_t key)
{
    struct judge judge = {graph, untaken, key, 0};
    unsigned skipped = 0;
    for (int i = 0; i < graph->count; i++) {
        enum key_digit digit = key_get(key, i);
        bool dead = digit == KEY_ERRORED || digit == KEY_SKIPPED;
        bool begins_paths = digit == KEY_PENDING ? !has_parent(graph, i) : !dead;
        if (begins_paths) {
            walk(&judge, i);
        }
    }
    for (int i = 0; i < graph->count; i++) {
        bool pending = key_get(key, i) == KEY_PENDING && has_parent(graph, i);
        skipped |= pending && (judge.reached >> i & 1) == 0 ? 1U << i : 0;
    }
    return skipped;
}

/* (KE5) Any digits at all, reachable or not. */
Test(key, skips_are_those_that_no_path_reaches)
{
    PROVES(CLAUSE_KEY_5);
    static const enum key_change changes[] = {KEY_CHANGE_ERROR, KEY_CHANGE_COMPLETE,
                                              KEY_CHANGE_HOLD};
    uint64_t state = 0x9e3779b97f4a7c15;
    int with_skips = 0;
    for (int run = 0; run < 20000; run++) {
        struct key_graph graph = random_dag(&state);
        uint16_t untaken[KEY_ACTIVITIES_MAX];
        int64_t key = 0;
        for (int i = 0; i < graph.count; i++) {
            int digit = below(&state, 2) != 0 ? KEY_PENDING : 3 + below(&state, 7);
            key += digit * key_weight(i);
            untaken[i] = (uint16_t)(0xffffU ^ 1U << below(&state, 16)); /* few are taken */
        }
        int position = below(&state, graph.count);
        key += ((int)KEY_STARTED - (int)key_get(key, position)) * key_weight(position);
        enum key_change change = changes[below(&state, (int)COUNT(changes))];

        struct key_result result = key_apply_skipping(&graph, untaken, key, position, change);
        int64_t changed = key + key_delta(change, position);
        unsigned expected = skipped_by_paths(&graph, untaken, changed);
        cr_assert_eq(result.skipped, expected, "run %d: %x, not %x", run, result.skipped, expected);
        with_skips += expected != 0;
    }
    cr_assert_gt(with_skips, 5000, "only %d", with_skips);
}

/* True if the outside, or a finished parent that took the edge, would start it. */
static bool is_due(const struct key_graph *graph, const uint16_t *untaken, int64_t key,
                   int position)
{
    for (int i = 0; i < graph->count; i++) {
        enum key_digit digit = key_get(key, i);
        bool finished = digit >= KEY_RELEASED && digit <= KEY_COMPLETED;
        if (finished && ((graph->next[i] & ~untaken[i]) >> position & 1) != 0) {
            return true;
        }
    }
    return !has_parent(graph, position);
}

/* Runs a job to its end; how many changes saw it complete. */
static int run_job(uint64_t *state)
{
    struct key_graph graph = random_dag(state);
    uint16_t untaken[KEY_ACTIVITIES_MAX] = {0};
    int64_t key = key_initial(graph.count);
    int completions = 0;
    for (int tries = 0; !key_complete(key) && tries < 20000; tries++) {
        int position = below(state, graph.count);
        enum key_change change = (enum key_change)below(state, KEY_CHANGE_SKIP);
        if (change == KEY_CHANGE_START && !is_due(&graph, untaken, key, position)) {
            continue;
        }
        if (key_get(key, position) == KEY_STARTED) {
            untaken[position] = (uint16_t)random_next(state);
        }
        struct key_result result = key_apply_skipping(&graph, untaken, key, position, change);
        cr_assert_eq(key + result.delta, result.key);
        completions += result.completes;
        key = result.key;
    }
    cr_assert(key_complete(key), "pending digits are left for ever");
    return completions;
}

Test(key, every_random_job_ends_and_one_change_sees_it)
{
    PROVES(CLAUSE_KEY_10, CLAUSE_KEY_5);
    SETTLES(ERRATUM_KEY_5);
    uint64_t state = 0x2545f4914f6cdd1d;
    for (int run = 0; run < 3000; run++) {
        cr_assert_eq(run_job(&state), 1, "run %d", run);
    }
}

/* ---- our own bugs -------------------------------------------------------------------------- */

Test(key, a_flow_without_activities_is_a_bug, .signal = SIGABRT)
{
    key_initial(0);
}

Test(key, a_weight_past_the_last_digit_is_a_bug, .signal = SIGABRT)
{
    key_weight(15);
}

static void judge_skips_of(const struct key_graph *graph)
{
    static const uint16_t none[KEY_ACTIVITIES_MAX];
    key_apply_skipping(graph, none, key_of("88"), 0, KEY_CHANGE_ERROR);
}

Test(key, skips_in_a_cyclic_graph_are_a_bug, .signal = SIGABRT)
{
    struct key_graph graph = graph_of(2, "01 10");
    judge_skips_of(&graph);
}

Test(key, a_graph_without_activities_is_a_bug, .signal = SIGABRT)
{
    struct key_graph graph = {.count = 0};
    judge_skips_of(&graph);
}

Test(key, a_graph_of_16_activities_is_a_bug, .signal = SIGABRT)
{
    struct key_graph graph = {.count = 16};
    judge_skips_of(&graph);
}

Test(key, an_edge_that_leaves_the_graph_is_a_bug, .signal = SIGABRT)
{
    struct key_graph graph = {.count = 2, .next = {1U << 2}};
    judge_skips_of(&graph);
}
