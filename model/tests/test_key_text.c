#include "model/check.h"
#include "model/key_text.h"
#include "model/tests/proves.h"
#include "model/tests/random.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#define FLOWS_MAX 64
#define TEXT_SIZE KEY_TEXT_SIZE(FLOWS_MAX)

static const char golden[] = "99996146636629";

static bool parse(const char *text, struct key_flow flows[FLOWS_MAX], int *count,
                  struct text_error *error)
{
    return key_text_parse(text, strlen(text), flows, FLOWS_MAX, count, error);
}

static bool same_flows(const struct key_flow *a, const struct key_flow *b, int count)
{
    for (int i = 0; i < count; i++) {
        if (a[i].key != b[i].key || a[i].parent != b[i].parent || a[i].position != b[i].position) {
            return false;
        }
    }
    return true;
}

/* ---- reading ------------------------------------------------------------------------------- */

Test(key_text, the_text_of_the_example_is_two_flows)
{
    PROVES(CLAUSE_KEY_6);
    struct key_flow flows[FLOWS_MAX];
    struct text_error error;
    int count = 0;
    cr_assert(parse(golden, flows, &count, &error));
    cr_assert_eq(count, 2);
    static const struct key_flow expected[] = {{999969000000000, -1, 0}, {466366000000000, 0, 4}};
    cr_assert(same_flows(flows, expected, 2));
}

Test(key_text, in_the_example_flow_b_is_complete_and_flow_a_is_not)
{
    SETTLES(ERRATUM_KEY_1);
    struct key_flow flows[FLOWS_MAX];
    struct text_error error;
    int count = 0;
    cr_assert(parse(golden, flows, &count, &error));
    cr_assert_not(key_complete(flows[0].key), "A has pending activities, whatever the text says");
    cr_assert(key_complete(flows[1].key));
}

Test(key_text, a_composed_state_is_text_and_no_number)
{
    SETTLES(ERRATUM_KEY_9);
    cr_assert_not(key_valid(99996146636629), "read as a number, position 0 would be 0");
    const char *two_full_flows = "88888888888888819999999999999992";
    struct key_flow flows[FLOWS_MAX];
    struct text_error error;
    int count = 0;
    cr_assert(parse(two_full_flows, flows, &count, &error));
    cr_assert_eq(count, 2);
    cr_assert_eq(flows[1].position, 14);
}

/* (KT3) Every text is read, and written again in its one form. */
Test(key_text, what_is_read_is_written_again_less_trailing_zeros)
{
    PROVES(CLAUSE_KEY_6);
    SETTLES(ERRATUM_KEY_9);
    static const struct {
        const char *text;
        int count;
        const char *composed; /* NULL: the same */
    } cases[] = {
        {"9", 1, NULL},
        {"3", 1, NULL},
        {"345678999999999", 1, NULL},
        {"999969000000000", 1, "999969"},
        {"90", 1, "9"},
        {golden, 2, NULL},
        {"99996146636600000000029", 2, golden},
        {"99996146636629000000000", 2, golden},
        {"8192", 2, NULL}, /* the awaiting activity stays 8 while it is suspended */
        {"7192", 2, NULL},
        {"6192", 2, NULL},
        {"5192", 2, NULL},
        {"4192", 2, NULL},
        {"81920", 2, "8192"},
        {"819028", 2, "81928"},
        {"81928172", 3, NULL},
        {"8181922", 3, NULL},
        {"81819228192", 4, NULL},
        {"8181922819200000000", 4, "81819228192"},
        {"98181992992813002481752", 5, "981819929928132481752"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct key_flow flows[FLOWS_MAX];
        struct text_error error;
        char out[TEXT_SIZE];
        int count = 0;
        const char *composed = cases[i].composed != NULL ? cases[i].composed : cases[i].text;
        cr_assert(parse(cases[i].text, flows, &count, &error), "%s", cases[i].text);
        cr_assert_eq(count, cases[i].count, "%s", cases[i].text);
        cr_assert_eq(key_text_compose(flows, count, out, sizeof out), KEY_TEXT_COMPOSED);
        cr_assert_str_eq(out, composed);
    }
}

#define GROUP_RULE "a group, 1 to 2, follows the digit of the activity that awaits it"
#define FLOW_RULE  "a flow is 1 to 15 activities, 9 to 3, then zeros if any"
#define DIGIT_RULE "a composed state is written in digits only"
#define AWAIT_RULE "only an activity that was started, 8 to 4, awaits a flow"
#define LEFT_RULE  "every 2 closes the nearest open 1"
#define RIGHT_RULE "every left parenthesis (1) is closed by a 2"
#define ZERO_RULE  "zeros stand only at the end of a flow"

Test(key_text, a_text_that_is_none_is_refused_with_the_place_and_the_rule)
{
    PROVES(CLAUSE_KEY_6);
    SETTLES(ERRATUM_KEY_9);
    static const struct {
        const char *text;
        size_t at;
        const char *wrong, *right;
    } cases[] = {
        {"", 0, "nothing", FLOW_RULE},
        {"0", 0, "a 0 before any activity", FLOW_RULE},
        {"099996146636629", 0, "a 0 before any activity", FLOW_RULE},
        {"8102", 2, "a 0 before any activity", FLOW_RULE},
        {"x", 0, "a character that is not a digit", DIGIT_RULE},
        {"99 9", 2, "a character that is not a digit", DIGIT_RULE},
        {"8(9)", 1, "a character that is not a digit", DIGIT_RULE},
        {"9\xff", 1, "a character that is not a digit", DIGIT_RULE},
        {"8192\n", 4, "a character that is not a digit", DIGIT_RULE},
        {"-9", 0, "a character that is not a digit", DIGIT_RULE},
        {"1", 0, "a left parenthesis (1) before any activity", GROUP_RULE},
        {"81192", 2, "a left parenthesis (1) before any activity", GROUP_RULE},
        {"192", 0, "a left parenthesis (1) before any activity", GROUP_RULE},
        {"80192", 2, "a left parenthesis (1) after a 0", GROUP_RULE},
        {"812", 2, "an empty group", FLOW_RULE},
        {"9192", 1, "a group after a pending or skipped activity", AWAIT_RULE},
        {"3192", 1, "a group after a pending or skipped activity", AWAIT_RULE},
        {"8192192", 4, "a second group", "an activity awaits one flow at most"},
        {"2", 0, "a right parenthesis (2) without its left one (1)", LEFT_RULE},
        {"92", 1, "a right parenthesis (2) without its left one (1)", LEFT_RULE},
        {"81922", 4, "a right parenthesis (2) without its left one (1)", LEFT_RULE},
        {"902", 2, "a right parenthesis (2) without its left one (1)", LEFT_RULE},
        {"81", 2, "the end of the text inside a group", RIGHT_RULE},
        {"819", 3, "the end of the text inside a group", RIGHT_RULE},
        {"8190", 4, "the end of the text inside a group", RIGHT_RULE},
        {"818192", 6, "the end of the text inside a group", RIGHT_RULE},
        {"9909", 3, "an activity after a 0", ZERO_RULE},
        {"819092", 4, "an activity after a 0", ZERO_RULE},
        {"8192099", 5, "an activity after a 0", ZERO_RULE},
        {"9999999999999999", 15, "a 16th digit in one flow", FLOW_RULE},
        {"9999990000000000", 15, "a 16th digit in one flow", FLOW_RULE},
        {"999999999999998192"
         "9",
         18, "a 16th digit in one flow", FLOW_RULE},
        {"8199999999999999992", 17, "a 16th digit in one flow", FLOW_RULE},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct key_flow flows[FLOWS_MAX];
        struct text_error error;
        int count = -7;
        cr_assert_not(parse(cases[i].text, flows, &count, &error), "%s", cases[i].text);
        cr_assert_eq(error.at, cases[i].at, "%s: at %zu", cases[i].text, error.at);
        cr_assert_str_eq(error.wrong, cases[i].wrong, "%s: %s", cases[i].text, error.wrong);
        cr_assert_str_eq(error.right, cases[i].right, "%s: %s", cases[i].text, error.right);
        cr_assert_eq(count, -7, "untouched");
    }
}

Test(key_text, a_prefix_of_a_good_text_is_good_only_outside_its_group)
{
    PROVES(CLAUSE_KEY_6);
    for (size_t length = 0; length < strlen(golden); length++) {
        struct key_flow flows[FLOWS_MAX];
        struct text_error error;
        int count = 0;
        bool inside = length >= 6 && length <= 12;
        bool good = key_text_parse(golden, length, flows, FLOWS_MAX, &count, &error);
        cr_assert_eq(good, length > 0 && !inside, "%zu", length);
        cr_assert(good || error.at == length);
    }
}

Test(key_text, the_array_of_the_caller_is_the_only_limit)
{
    PROVES(CLAUSE_KEY_6);
    static const char text[] = "81819228192";
    for (int capacity = 1; capacity <= 5; capacity++) {
        struct key_flow flows[5];
        struct text_error error;
        int count = 0;
        bool good = key_text_parse(text, strlen(text), flows, capacity, &count, &error);
        cr_assert_eq(good, capacity >= 4);
        if (!good) {
            static const size_t left_parentheses[] = {1, 3, 8};
            cr_assert_eq(error.at, left_parentheses[capacity - 1]);
            cr_assert_str_eq(error.wrong, "a group for which there is no room");
            cr_assert_str_eq(error.right, "the text holds no more flows than the reader can take");
        }
    }
}

#define DEPTH 1000000

/* In one pass: a search for each group would take minutes. */
Test(key_text, any_depth_is_read_and_written, .timeout = 60)
{
    PROVES(CLAUSE_KEY_6);
    static char text[3 * DEPTH + 2];
    static char out[sizeof text];
    static struct key_flow flows[DEPTH + 1];
    char *end = text;
    for (int i = 0; i < DEPTH; i++) {
        *end++ = '8';
        *end++ = '1';
    }
    *end++ = '9';
    memset(end, '2', DEPTH);
    struct text_error error;
    int count = 0;
    cr_assert(key_text_parse(text, strlen(text), flows, DEPTH + 1, &count, &error));
    cr_assert_eq(count, DEPTH + 1);
    cr_assert_eq(flows[DEPTH].parent, DEPTH - 1);
    cr_assert_eq(key_text_compose(flows, count, out, sizeof out), KEY_TEXT_COMPOSED);
    cr_assert_str_eq(out, text);
}

/* One character of a good text is overwritten by any other: refused, or again a text. */
Test(key_text, a_good_text_with_one_character_changed_is_refused_or_round_trips)
{
    PROVES(CLAUSE_KEY_6);
    static const char good[] = "98181992992813002481752";
    for (size_t i = 0; i < 256 * strlen(good); i++) {
        char text[sizeof good];
        memcpy(text, good, sizeof good);
        text[i / 256] = (char)(i % 256);
        struct key_flow flows[FLOWS_MAX];
        struct key_flow again[FLOWS_MAX];
        struct text_error error;
        char out[TEXT_SIZE];
        int count = 0;
        int count_again = 0;
        if (key_text_parse(text, strlen(good), flows, FLOWS_MAX, &count, &error)) {
            cr_assert_eq(key_text_compose(flows, count, out, sizeof out), KEY_TEXT_COMPOSED);
            cr_assert(parse(out, again, &count_again, &error));
            cr_assert(count == count_again && same_flows(flows, again, count), "%s", text);
        } else {
            cr_assert(error.at <= strlen(good) && error.wrong != NULL && error.right != NULL);
        }
    }
}

/* ---- writing ------------------------------------------------------------------------------- */

#define A 999969000000000
#define B 466366000000000

Test(key_text, flows_are_composed_in_any_order)
{
    PROVES(CLAUSE_KEY_6);
    static const struct {
        int count;
        struct key_flow flows[5];
        const char *text;
    } cases[] = {
        {2, {{A, -1, 0}, {B, 0, 4}}, "99996146636629"},
        {1, {{A, -1, 77}}, "999969"}, /* the outermost has no place: unread */
        {3, {{880000000000000, -1, 0}, {A, 0, 1}, {B, 0, 0}}, "814663662819999692"},
        {3, {{880000000000000, -1, 0}, {B, 0, 0}, {A, 0, 1}}, "814663662819999692"},
        {5,
         {{880000000000000, -1, 0}, /* all of one depth, then the next */
          {800000000000000, 0, 0},
          {700000000000000, 0, 1},
          {400000000000000, 1, 0},
          {600000000000000, 2, 0}},
         "81814228171622"},
        {5,
         {{880000000000000, -1, 0}, /* back to front */
          {700000000000000, 0, 1},
          {600000000000000, 1, 0},
          {800000000000000, 0, 0},
          {400000000000000, 3, 0}},
         "81814228171622"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char out[TEXT_SIZE];
        cr_assert_eq(key_text_compose(cases[i].flows, cases[i].count, out, sizeof out),
                     KEY_TEXT_COMPOSED, "case %zu", i);
        cr_assert_str_eq(out, cases[i].text, "case %zu: %s", i, out);
    }
}

Test(key_text, flows_that_make_no_text_are_refused_by_name)
{
    PROVES(CLAUSE_KEY_6);
    static const struct {
        int count;
        enum key_text_outcome outcome;
        struct key_flow flows[4];
    } cases[] = {
        {0, KEY_TEXT_NO_FLOW, {{A, -1, 0}}},
        {-1, KEY_TEXT_NO_FLOW, {{A, -1, 0}}},
        {1, KEY_TEXT_NOT_A_KEY, {{0, -1, 0}}},
        {1, KEY_TEXT_NOT_A_KEY, {{-A, -1, 0}}},
        {1, KEY_TEXT_NOT_A_KEY, {{990900000000000, -1, 0}}},
        {2, KEY_TEXT_NOT_A_KEY, {{A, -1, 0}, {99996146636629, 0, 4}}},
        {1, KEY_TEXT_PARENT_LATER, {{A, 0, 0}}},
        {1, KEY_TEXT_PARENT_LATER, {{A, -2, 0}}},
        {2, KEY_TEXT_PARENT_LATER, {{A, -1, 0}, {B, -1, 0}}}, /* two outermost flows */
        {2, KEY_TEXT_PARENT_LATER, {{A, -1, 0}, {B, 1, 0}}},  /* its own parent */
        {3, KEY_TEXT_PARENT_LATER, {{A, -1, 0}, {B, 2, 0}, {B, 0, 4}}},
        {2, KEY_TEXT_CANNOT_AWAIT, {{A, -1, 0}, {B, 0, 0}}},  /* a 9 */
        {2, KEY_TEXT_CANNOT_AWAIT, {{B, -1, 0}, {A, 0, 3}}},  /* a 3 */
        {2, KEY_TEXT_CANNOT_AWAIT, {{A, -1, 0}, {B, 0, 6}}},  /* no activity */
        {2, KEY_TEXT_CANNOT_AWAIT, {{A, -1, 0}, {B, 0, 15}}}, /* no position */
        {2, KEY_TEXT_CANNOT_AWAIT, {{A, -1, 0}, {B, 0, -1}}},
        {3, KEY_TEXT_AWAITS_TWICE, {{A, -1, 0}, {B, 0, 4}, {B, 0, 4}}},
        {4, KEY_TEXT_AWAITS_TWICE, {{A, -1, 0}, {B, 0, 4}, {B, 0, 4}, {B, 2, 0}}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char out[TEXT_SIZE] = "before";
        cr_assert_eq(key_text_compose(cases[i].flows, cases[i].count, out, sizeof out),
                     cases[i].outcome, "case %zu", i);
        cr_assert_str_empty(out, "case %zu", i);
    }
}

Test(key_text, a_buffer_too_small_is_refused_and_not_overrun)
{
    static const struct key_flow flows[] = {{A, -1, 0}, {B, 0, 4}};
    for (size_t size = 0; size <= sizeof golden + 1; size++) {
        char out[sizeof golden + 2];
        memset(out, '!', sizeof out);
        enum key_text_outcome outcome = key_text_compose(flows, 2, out, size);
        cr_assert_eq(outcome, size < sizeof golden ? KEY_TEXT_TOO_SMALL : KEY_TEXT_COMPOSED);
        cr_assert_eq(out[size], '!', "wrote past %zu", size);
        cr_assert(size == 0 || strcmp(out, size < sizeof golden ? "" : golden) == 0);
    }
}

Test(key_text, the_stated_size_fits_the_longest_text)
{
    struct key_flow flows[FLOWS_MAX];
    for (int i = 0; i < FLOWS_MAX; i++) {
        flows[i] = (struct key_flow){888888888888888, i - 1, 14};
    }
    for (int count = 1; count <= FLOWS_MAX; count++) {
        char out[TEXT_SIZE];
        size_t size = KEY_TEXT_SIZE(count);
        cr_assert_eq(key_text_compose(flows, count, out, size), KEY_TEXT_COMPOSED);
        cr_assert_eq(strlen(out), size - 2);
    }
}

/* ---- random flows -------------------------------------------------------------------------- */

static int below(uint64_t *state, int limit)
{
    return (int)random_below(state, (uint64_t)limit);
}

static bool is_taken(const struct key_flow *flows, int count, int parent, int position)
{
    for (int i = 1; i < count; i++) {
        if (flows[i].parent == parent && flows[i].position == position) {
            return true;
        }
    }
    return false;
}

/* Sound flows with parents earlier, in no order otherwise. */
static int random_flows(uint64_t *state, struct key_flow flows[FLOWS_MAX])
{
    int wanted = 1 + below(state, FLOWS_MAX);
    int count = 0;
    for (int tries = 0; tries < 4 * wanted && count < wanted; tries++) {
        int parent = count == 0 ? -1 : below(state, count);
        int position = count == 0 ? 0 : below(state, KEY_ACTIVITIES_MAX);
        enum key_digit digit = count == 0 ? KEY_STARTED : key_get(flows[parent].key, position);
        bool awaits = digit >= KEY_RELEASED && digit <= KEY_STARTED;
        if (!awaits || is_taken(flows, count, parent, position)) {
            continue;
        }
        flows[count] = (struct key_flow){0, parent, position};
        int activities = 1 + below(state, KEY_ACTIVITIES_MAX);
        for (int i = 0; i < activities; i++) {
            flows[count].key += (3 + below(state, 7)) * key_weight(i);
        }
        count++;
    }
    return count;
}

static int64_t sum_of_keys(const struct key_flow *flows, int count)
{
    int64_t sum = 0;
    for (int i = 0; i < count; i++) {
        sum += flows[i].key;
    }
    return sum;
}

Test(key_text, composed_flows_are_read_back_whatever_their_order_was)
{
    PROVES(CLAUSE_KEY_6);
    uint64_t state = 0x9e3779b97f4a7c15;
    int reordered = 0;
    for (int run = 0; run < 5000; run++) {
        struct key_flow flows[FLOWS_MAX];
        struct key_flow ordered[FLOWS_MAX];
        struct key_flow again[FLOWS_MAX];
        struct text_error error;
        char text[TEXT_SIZE];
        char same[TEXT_SIZE];
        int count = random_flows(&state, flows);
        int found = 0;
        cr_assert_eq(key_text_compose(flows, count, text, sizeof text), KEY_TEXT_COMPOSED);
        cr_assert(parse(text, ordered, &found, &error), "%s", text);
        cr_assert_eq(found, count);
        cr_assert_eq(sum_of_keys(flows, count), sum_of_keys(ordered, count));
        reordered += !same_flows(flows, ordered, count);

        cr_assert_eq(key_text_compose(ordered, count, same, sizeof same), KEY_TEXT_COMPOSED);
        cr_assert_str_eq(same, text);
        cr_assert(parse(same, again, &found, &error));
        cr_assert(same_flows(ordered, again, count), "in order, it is read as it was");
    }
    cr_assert_gt(reordered, 1000);
}

Test(key_text, no_room_for_even_one_flow_is_a_bug, .signal = SIGABRT)
{
    struct key_flow flows[1];
    struct text_error error;
    int count = 0;
    key_text_parse("9", 1, flows, 0, &count, &error);
}
