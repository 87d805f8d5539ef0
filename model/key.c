#include "model/key.h"

#include "model/check.h"

#include <string.h>

_Static_assert(KEY_ACTIVITIES_MAX == DIGITS, "an activity has a digit");

/* clang-format off */
static const char *const digit_names[] = { /* KEY-1 */
    [KEY_NONE]      = "no activity",
    [KEY_LEFT]      = "left parenthesis",
    [KEY_RIGHT]     = "right parenthesis",
    [KEY_SKIPPED]   = "skipped",
    [KEY_RELEASED]  = "released",
    [KEY_PAUSED]    = "paused",
    [KEY_COMPLETED] = "completed",
    [KEY_ERRORED]   = "errored",
    [KEY_STARTED]   = "started",
    [KEY_PENDING]   = "pending",
};
/* clang-format on */

/* Sets of digits, a bit a digit. */
#define SET(digit) (1U << (digit))
static const unsigned active = SET(KEY_PENDING) | SET(KEY_STARTED) | SET(KEY_PAUSED); /* KEY-4 */
static const unsigned finished = SET(KEY_COMPLETED) | SET(KEY_PAUSED) | SET(KEY_RELEASED);
static const unsigned dead_ends = SET(KEY_ERRORED) | SET(KEY_SKIPPED);

/* KEY-3, E-KEY-2, E-KEY-3: the whole of what may happen to a digit. */
static const struct rule {
    const char *name;
    enum key_digit expected; /* the digit before */
    int decrement;           /* from there to the digit after */
    bool ends_edges;         /* can leave edges of the activity dead */
} rules[KEY_CHANGE_COUNT] = {
    /* clang-format off */
    [KEY_CHANGE_START]    = {"start",    KEY_PENDING,   1, false},
    [KEY_CHANGE_ERROR]    = {"error",    KEY_STARTED,   1, true},
    [KEY_CHANGE_COMPLETE] = {"complete", KEY_STARTED,   2, true},
    [KEY_CHANGE_PAUSE]    = {"pause",    KEY_COMPLETED, 1, false},
    [KEY_CHANGE_HOLD]     = {"hold",     KEY_STARTED,   3, true},
    [KEY_CHANGE_RELEASE]  = {"release",  KEY_PAUSED,    1, true},
    [KEY_CHANGE_SKIP]     = {"skip",     KEY_PENDING,   6, true},
    /* clang-format on */
};

static const char *const placing_rules[] = {
    [KEY_PLACED] = "every activity has its position",
    [KEY_PLACE_NO_ID] = "a flow has at least 1 activity",
    [KEY_PLACE_TOO_MANY] = "a flow has at most 15 activities",
    [KEY_PLACE_EMPTY] = "an activity's id has at least 1 character",
    [KEY_PLACE_TWIN] = "the activities of a flow have different ids",
};

/* ---- digits -------------------------------------------------------------------------------- */

static bool in(enum key_digit digit, unsigned set)
{
    return (set & SET(digit)) != 0;
}

static bool has_any(int64_t key, unsigned set)
{
    for (int i = 0; i < KEY_ACTIVITIES_MAX; i++) {
        if (in(key_get(key, i), set)) {
            return true;
        }
    }
    return false;
}

const char *key_digit_name(enum key_digit digit)
{
    CHECK((size_t)digit <= KEY_PENDING);
    return digit_names[digit];
}

int64_t key_weight(int position)
{
    return digits_weight(position + 1); /* digits are counted from 1, positions from 0 */
}

int key_activities(int64_t key)
{
    int count = 0;
    while (key_get(key, count) >= KEY_SKIPPED) {
        count++;
    }
    bool zeros_follow = count > 0 && key % key_weight(count - 1) == 0; /* KE1 */
    return zeros_follow ? count : 0;
}

bool key_valid(int64_t key)
{
    return key_activities(key) > 0;
}

enum key_digit key_get(int64_t value, int position)
{
    if (!digits_in_range(value) || position < 0 || position >= KEY_ACTIVITIES_MAX) {
        return KEY_NONE;
    }
    return (enum key_digit)digits_get(value, position + 1, 1);
}

void key_format(int64_t value, char out[DIGITS_TEXT_SIZE])
{
    if (digits_in_range(value)) {
        digits_format(value, out);
    } else {
        memset(out, '?', DIGITS);
        out[DIGITS] = '\0';
    }
}

int64_t key_initial(int activities)
{
    CHECK(activities >= 1 && activities <= KEY_ACTIVITIES_MAX);
    return DIGITS_MAX + 1 - key_weight(activities - 1); /* KEY-9: nines, then zeros */
}

bool key_complete(int64_t key)
{
    return key_valid(key) && !has_any(key, active);
}

bool key_in_error(int64_t key)
{
    return key_valid(key) && has_any(key, SET(KEY_ERRORED));
}

/* ---- positions ----------------------------------------------------------------------------- */

static int compare(struct key_id a, struct key_id b)
{
    int order = memcmp(a.text, b.text, a.length < b.length ? a.length : b.length);
    return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

static struct key_places refuse_ids(enum key_placing outcome, size_t at)
{
    return (struct key_places){.outcome = outcome, .at = at};
}

struct key_places key_place(const struct key_id *ids, size_t count)
{
    if (count == 0) {
        return refuse_ids(KEY_PLACE_NO_ID, 0);
    }
    if (count > KEY_ACTIVITIES_MAX) {
        return refuse_ids(KEY_PLACE_TOO_MANY, KEY_ACTIVITIES_MAX);
    }
    struct key_places places = {.outcome = KEY_PLACED};
    for (size_t i = 0; i < count; i++) {
        if (ids[i].length == 0) {
            return refuse_ids(KEY_PLACE_EMPTY, i);
        }
        /* An id's position is the number of ids before it: the greater of each pair moves on. */
        for (size_t j = 0; j < i; j++) {
            int order = compare(ids[i], ids[j]);
            if (order == 0) {
                return refuse_ids(KEY_PLACE_TWIN, i);
            }
            places.position[order > 0 ? i : j]++;
        }
    }
    return places;
}

const char *key_placing_rule(enum key_placing outcome)
{
    CHECK((size_t)outcome <= KEY_PLACE_TWIN);
    return placing_rules[outcome];
}

/* ---- changes ------------------------------------------------------------------------------- */

static const struct rule *rule_of(enum key_change change)
{
    CHECK((size_t)change < KEY_CHANGE_COUNT);
    return &rules[change];
}

const char *key_change_name(enum key_change change)
{
    return rule_of(change)->name;
}

enum key_digit key_expected(enum key_change change)
{
    return rule_of(change)->expected;
}

int64_t key_delta(enum key_change change, int position)
{
    return -rule_of(change)->decrement * key_weight(position);
}

static enum key_outcome judge(int64_t key, enum key_digit found, enum key_change change)
{
    if (!key_valid(key)) {
        return KEY_REFUSED_VALUE;
    }
    if (found == KEY_NONE) {
        return KEY_REFUSED_POSITION;
    }
    if (found != key_expected(change)) {
        return KEY_REFUSED_DIGIT; /* KEY-8, E-KEY-3: never a blind decrement */
    }
    if (key_complete(key)) {
        return KEY_REFUSED_COMPLETE; /* KE3: else the release would complete it again, KEY-10 */
    }
    return KEY_CHANGED;
}

void key_check(int64_t before, int position, enum key_change change, int64_t after)
{
    enum key_digit found = key_get(before, position);
    CHECK(key_activities(after) == key_activities(before)); /* KE1 */
    CHECK(key_valid(after));                                /* KE1 */
    CHECK(found == key_expected(change));                   /* KE2 */
    CHECK(key_get(after, position) < found);                /* KE2 */
    CHECK(after - before == key_delta(change, position));   /* KE2 */
    CHECK(!key_complete(before));                           /* KE3 */
}

struct key_result key_apply(int64_t key, int position, enum key_change change)
{
    struct key_result result = {.found = key_get(key, position), .key = key};
    result.outcome = judge(key, result.found, change);
    if (result.outcome == KEY_CHANGED) {
        result.delta = key_delta(change, position);
        result.key = key + result.delta;
        result.completes = key_complete(result.key);
        CHECK_ALL(key_check(key, position, change, result.key));
    }
    return result;
}

/* ---- graph and skips ----------------------------------------------------------------------- */

static uint16_t bit(int position)
{
    return (uint16_t)(1U << position);
}

static bool has_activity(const struct key_graph *graph, int position)
{
    return position >= 0 && position < graph->count;
}

enum key_edge key_graph_add(struct key_graph *graph, int from, int to)
{
    CHECK(graph->count >= 1 && graph->count <= KEY_ACTIVITIES_MAX);
    if (!has_activity(graph, from) || !has_activity(graph, to)) {
        return KEY_EDGE_OUTSIDE;
    }
    if (from == to) {
        return KEY_EDGE_SELF;
    }
    graph->next[from] |= bit(to);
    return KEY_EDGE_ADDED;
}

bool key_graph_acyclic(const struct key_graph *graph)
{
    CHECK(graph->count >= 1 && graph->count <= KEY_ACTIVITIES_MAX);
    unsigned left = (1U << graph->count) - 1;
    unsigned before = 0;
    /* Takes childless activities away until none is left, or only cycles and what leads there. */
    while (left != before) {
        before = left;
        for (int i = 0; i < graph->count; i++) {
            if ((graph->next[i] & left) == 0) {
                left &= ~(unsigned)bit(i);
            }
        }
    }
    return left == 0;
}

static void check_graph(const struct key_graph *graph)
{
    CHECK(graph->count >= 1 && graph->count <= KEY_ACTIVITIES_MAX);
    for (int i = 0; i < graph->count; i++) {
        CHECK(graph->next[i] >> graph->count == 0); /* KE4 */
    }
    CHECK(key_graph_acyclic(graph)); /* KE4 */
}

/* E-KEY-5: the children of an activity that it can still start. */
static uint16_t live_edges(uint16_t next, uint16_t untaken, enum key_digit source)
{
    if (in(source, dead_ends)) {
        return 0;
    }
    return in(source, finished) ? next & (uint16_t)~untaken : next;
}

/* The pending activities that nothing can start any more. One without incoming edges is a trigger,
 * which the outside starts. */
static uint16_t find_orphans(const struct key_graph *graph, const uint16_t *untaken, int64_t key)
{
    uint16_t pending = 0;
    uint16_t children = 0;
    uint16_t startable = 0;
    for (int i = 0; i < graph->count; i++) {
        enum key_digit digit = key_get(key, i);
        pending |= digit == KEY_PENDING ? bit(i) : 0;
        children |= graph->next[i];
        startable |= live_edges(graph->next[i], untaken[i], digit);
    }
    return pending & children & (uint16_t)~startable;
}

static void add_skips(struct key_result *result, uint16_t orphans)
{
    for (int i = 0; i < KEY_ACTIVITIES_MAX; i++) {
        if ((orphans & bit(i)) != 0) {
            struct key_result skip = key_apply(result->key, i, KEY_CHANGE_SKIP);
            CHECK(skip.outcome == KEY_CHANGED);
            result->delta += skip.delta;
            result->key = skip.key;
            result->completes = skip.completes;
        }
    }
    result->skipped |= orphans;
}

struct key_result key_apply_skipping(const struct key_graph *graph,
                                     const uint16_t untaken[KEY_ACTIVITIES_MAX], int64_t key,
                                     int position, enum key_change change)
{
    check_graph(graph);
    struct key_result result = key_apply(key, position, change);
    if (key_activities(key) != graph->count) {
        return (struct key_result){.outcome = KEY_REFUSED_VALUE, .found = result.found, .key = key};
    }
    if (result.outcome != KEY_CHANGED || !rule_of(change)->ends_edges) {
        return result;
    }
    /* KEY-5: skipping kills edges too, so this goes on until nothing is orphaned (KE5). */
    uint16_t orphans = find_orphans(graph, untaken, result.key);
    while (orphans != 0) {
        add_skips(&result, orphans);
        orphans = find_orphans(graph, untaken, result.key);
    }
    return result;
}
