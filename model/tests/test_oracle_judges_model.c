/* Where model and oracles meet, here and in test_oracle_judges_seq.c: random walks through the
 * model's functions, every step judged by an oracle that knows nothing of them. What the model does
 * must be fine, and what it refuses must be what the oracle would have called broken.
 *
 * Then the same walks with a bug planted in this file, between the model and the oracle: each must
 * be caught, under the name of the clause that it breaks. */
#include "model/key.h"
#include "model/oracle/key.h"
#include "model/oracle/legacy.h"
#include "model/reference/ledger.h"
#include "model/reference/legacy.h"
#include "model/reference/oracle_ledger.h"
#include "model/reference/semaphore.h"
#include "model/semaphore.h"
#include "model/tests/judge.h"

#include <criterion/criterion.h>
#include <string.h>

/* A number of 15 digits, each drawn from `digits`: most are wrong in one place or two. */
static int64_t draw_number(uint64_t *random, const char *digits)
{
    int64_t value = 0;
    for (int i = 0; i < 15; i++) {
        value = value * 10 + (digits[random_below(random, strlen(digits))] - '0');
    }
    return value;
}

/* ---- the two-leg protocol ------------------------------------------------------------------ */

enum two_leg_bug {
    TWO_LEG_SOUND,
    LITERAL_MARKERS,
    GUID_FROM_FULL_LEDGER,
    WRONG_WEIGHT,
    NO_CEILING,
    LEG2_TOO_EARLY,
    DIMENSION_FROM_COUNT,
    FRESH_COUNTER,
    RESET_ON_REPLAY,
    RESERVED_DIGIT,
    STEP2_TWICE,
    STEP3_BY_SEMAPHORE,
    LOST_SNAPSHOT,
    LATE_SNAPSHOT,
    BELOW_ZERO,
    PENDING_CLOSES,
    SKIPPED_STEP1,
};

/* A walk proves nothing about what it never meets. */
enum sight {
    SAW_LEG1_CEILING,
    SAW_LEG2_CEILING,
    SAW_ATTEMPT_CEILING,
    SAW_SATURATED,
    SAW_TOO_EARLY,
    SAW_MARKED_BEFORE,
    SAW_SNAPSHOT,
    SAW_STEP3,
    SAW_NEGATIVE,
    SIGHTS
};

enum { GUIDS = 6 };

/* One activity of one job, and the Leg2 messages that it receives. */
struct two_leg {
    enum two_leg_bug bug;
    uint64_t random;
    int64_t activity, semaphore, threshold;
    int64_t guid[GUIDS], dimension[GUIDS];
    int guids;
    int *seen;                     /* how often, a counter a sight */
    struct oracle_verdict verdict; /* the first breach */
};

static void note(struct two_leg *walk, struct oracle_verdict verdict)
{
    if (!walk->verdict.broken) {
        walk->verdict = verdict;
    }
}

static void set_activity(struct two_leg *walk, int64_t after)
{
    note(walk, oracle_activity_move(walk->activity, after));
    walk->activity = after;
}

static void set_guid(struct two_leg *walk, int which, int64_t after)
{
    note(walk, oracle_guid_move(walk->guid[which], after));
    walk->guid[which] = after;
}

static int64_t plus_one(int64_t ledger, enum ledger_field field)
{
    return ledger + ledger_layout(field)->weight;
}

static void leg1_message(struct two_leg *walk)
{
    struct ledger_leg1_entry entry = ledger_enter_leg1(walk->activity);
    int64_t naive = plus_one(walk->activity, ACTIVITY_LEG1_ENTRIES);
    expect_agreement(entry.activity != walk->activity, oracle_activity_move(walk->activity, naive),
                     naive);
    walk->seen[SAW_LEG1_CEILING] += entry.decision == LEDGER_ESCALATE;
    set_activity(walk, walk->bug == NO_CEILING ? naive : entry.activity);
    if (entry.decision == LEDGER_PROCEED && random_one_in(&walk->random, 2)) {
        set_activity(walk, ledger_add(walk->activity, ACTIVITY_LEG1_COMPLETE).ledger);
    }
}

static void first_entry(struct two_leg *walk)
{
    struct ledger_leg2_entry entry = ledger_enter_leg2_first(walk->activity);
    int64_t naive = walk->activity + 1;
    expect_agreement(entry.decision == LEDGER_PROCEED, oracle_activity_move(walk->activity, naive),
                     naive);
    if (entry.decision != LEDGER_PROCEED) {
        cr_assert_eq(entry.activity, walk->activity);
        bool early = entry.decision == LEDGER_TOO_EARLY;
        walk->seen[early ? SAW_TOO_EARLY : SAW_LEG2_CEILING]++;
        if (walk->bug == (early ? LEG2_TOO_EARLY : NO_CEILING)) {
            set_activity(walk, naive);
        }
        return;
    }
    int64_t guid = entry.guid;
    int64_t dimension = ledger_dimension(entry.activity);
    if (walk->bug == GUID_FROM_FULL_LEDGER) {
        guid = entry.activity;
    } else if (walk->bug == FRESH_COUNTER) {
        guid = 1;
    } else if (walk->bug == DIMENSION_FROM_COUNT) {
        dimension++;
    }
    bool wrong = walk->bug == WRONG_WEIGHT && entry.guid < 1000;
    set_activity(walk, wrong ? walk->activity + 10 : entry.activity);
    note(walk, oracle_guid_created(walk->activity, guid, dimension));
    walk->dimension[walk->guids] = dimension;
    walk->guid[walk->guids++] = guid;
}

static void re_entry(struct two_leg *walk, int which)
{
    int64_t guid = walk->guid[which];
    struct ledger_leg2_entry entry =
        ledger_enter_leg2_again(walk->activity, guid, walk->dimension[which]);
    walk->seen[SAW_SATURATED] += entry.decision == LEDGER_PROCEED && entry.guid == guid;
    if (entry.decision == LEDGER_ESCALATE) {
        walk->seen[SAW_ATTEMPT_CEILING]++;
        cr_assert(oracle_guid_move(guid, guid + 1).broken);
        cr_assert(entry.activity == walk->activity && entry.guid == guid);
    }
    set_activity(walk, entry.activity);
    set_guid(walk, which, walk->bug == RESET_ON_REPLAY ? guid - guid % 100000000 : entry.guid);
    if (walk->bug == LATE_SNAPSHOT && walk->semaphore == walk->threshold &&
        ledger_resume(guid) == LEDGER_SPAWNED_JOB_OPEN) {
        set_guid(walk, which, plus_one(walk->guid[which], GUID_JOB_CLOSED));
    }
}

/* The activity's marker of a step that a GUID has done: set once, by the first (E-ACL-2). */
static void mark_activity(struct two_leg *walk, enum ledger_field field)
{
    struct ledger_increment added = ledger_add(walk->activity, field);
    int64_t naive = plus_one(walk->activity, field);
    walk->seen[SAW_MARKED_BEFORE] += added.outcome == LEDGER_ALREADY_MARKED;
    if (!walk->verdict.broken) {
        expect_agreement(added.outcome == LEDGER_INCREMENTED,
                         oracle_activity_move(walk->activity, naive), naive);
    }
    set_activity(walk, walk->bug == LITERAL_MARKERS ? naive : added.ledger);
}

static void step1(struct two_leg *walk, int which)
{
    if (walk->bug != SKIPPED_STEP1) {
        set_guid(walk, which, ledger_add(walk->guid[which], GUID_WORK_DONE).ledger);
        mark_activity(walk, ACTIVITY_WORK_DONE);
    } else {
        set_guid(walk, which, ledger_add(walk->guid[which], GUID_CHILDREN_SPAWNED).ledger);
    }
}

static void step2(struct two_leg *walk, int which)
{
    int64_t children = (int64_t)random_below(&walk->random, 4);
    bool pending = random_one_in(&walk->random, 3);
    int64_t delta = semaphore_delta(children, pending && walk->bug != PENDING_CLOSES);
    int64_t before = walk->semaphore;
    struct semaphore_collation moved =
        semaphore_collate(before, delta, walk->threshold, walk->guid[which], GUID_JOB_CLOSED);
    if (moved.outcome != SEMAPHORE_MOVED) {
        walk->seen[SAW_NEGATIVE]++;
        int64_t naive = before + delta;
        cr_assert_eq(moved.after, before);
        cr_assert_eq(oracle_semaphore_move(before, naive, children, pending, walk->threshold,
                                           naive == walk->threshold)
                         .clause,
                     CLAUSE_ACL_19);
        if (walk->bug != BELOW_ZERO) {
            return;
        }
        moved.after = naive;
    }
    int64_t guid = walk->bug == LOST_SNAPSHOT ? walk->guid[which] : moved.guid;
    bool snapshot = guid != walk->guid[which];
    walk->seen[SAW_SNAPSHOT] += snapshot;
    set_guid(walk, which, ledger_add(guid, GUID_CHILDREN_SPAWNED).ledger);
    walk->semaphore = moved.after;
    note(walk,
         oracle_semaphore_move(before, moved.after, children, pending, walk->threshold, snapshot));
    mark_activity(walk, ACTIVITY_CHILDREN_SPAWNED);
}

static void step3(struct two_leg *walk, int which)
{
    walk->seen[SAW_STEP3]++;
    set_guid(walk, which, ledger_add(walk->guid[which], GUID_JOB_TASKS_DONE).ledger);
    mark_activity(walk, ACTIVITY_JOB_TASKS_DONE);
}

static void next_step(struct two_leg *walk, int which)
{
    switch (ledger_resume(walk->guid[which])) {
    case LEDGER_NOTHING_DONE:
        step1(walk, which);
        break;
    case LEDGER_WORK_IS_DONE:
        step2(walk, which);
        break;
    case LEDGER_SPAWNED_JOB_ENDED:
        step3(walk, which);
        break;
    case LEDGER_SPAWNED_JOB_OPEN:
        if (walk->bug == STEP2_TWICE) {
            set_guid(walk, which, plus_one(walk->guid[which], GUID_CHILDREN_SPAWNED));
        } else if (walk->bug == STEP3_BY_SEMAPHORE && walk->semaphore == 0) {
            step3(walk, which);
        }
        break;
    case LEDGER_ALL_DONE:
        if (walk->bug == RESERVED_DIGIT) {
            set_guid(walk, which, plus_one(walk->guid[which], ACTIVITY_LEG1_ENTRIES));
        }
        break;
    case LEDGER_RESUME_CORRUPT:
        cr_assert(walk->verdict.broken, "the model calls corrupt what the oracle does not");
        break;
    }
}

/* Increments that nobody would make here: refused if they leave their field, and only then. */
static void stray_increment(struct two_leg *walk)
{
    enum ledger_field field = (enum ledger_field)random_below(&walk->random, LEDGER_FIELD_COUNT);
    bool of_activity = ledger_layout(field)->kind == LEDGER_ACTIVITY;
    int64_t guid =
        walk->guids > 0 ? walk->guid[random_below(&walk->random, (uint64_t)walk->guids)] : 0;
    int64_t ledger = of_activity ? walk->activity : guid;
    struct ledger_increment added = ledger_add(ledger, field);
    if (added.outcome == LEDGER_INCREMENTED) {
        struct oracle_verdict verdict = of_activity ? oracle_activity_move(ledger, added.ledger)
                                                    : oracle_guid_move(ledger, added.ledger);
        cr_assert(verdict.clause != CLAUSE_ACL_5 && verdict.clause != CLAUSE_ACL_8 &&
                      verdict.clause != CLAUSE_ACL_12 && verdict.clause != CLAUSE_ACL_33,
                  "%lld: %s", (long long)added.ledger, verdict.why);
        return;
    }
    int64_t naive = plus_one(ledger, field);
    cr_assert_eq(added.ledger, ledger);
    cr_assert(of_activity ? oracle_activity_move(ledger, naive).broken
                          : oracle_guid_move(ledger, naive).broken);
}

static void new_job(struct two_leg *walk)
{
    static const struct {
        int64_t activity, guid; /* guid 0: none yet */
    } starts[] = {
        {0, 0},                    /* from the beginning */
        {995000000000000, 0},      /* near the ceiling of Leg1 */
        {1100099999996, 0},        /* near the ceiling of Leg2 */
        {1100099999999, 99999999}, /* there, and all of them attempts of one GUID */
    };
    static const int64_t thresholds[] = {0, 0, 1, 12};
    size_t start = random_below(&walk->random, COUNT(starts));
    walk->activity = starts[start].activity;
    walk->guid[0] = starts[start].guid;
    walk->dimension[0] = 0;
    walk->guids = starts[start].guid != 0;
    walk->threshold = thresholds[random_below(&walk->random, COUNT(thresholds))];
    walk->semaphore = SEMAPHORE_AT_CREATION;
}

static struct oracle_verdict walk_two_legs(enum two_leg_bug bug, uint64_t seed, int seen[SIGHTS])
{
    struct two_leg walk = {.bug = bug, .random = seed, .seen = seen, .verdict = oracle_fine()};
    for (int step = 0; step < STEPS && !walk.verdict.broken; step++) {
        if (step % 60 == 0) {
            new_job(&walk);
        }
        int which = walk.guids == 0 ? -1 : (int)random_below(&walk.random, (uint64_t)walk.guids);
        uint64_t action = random_below(&walk.random, 8);
        if (action == 0) {
            leg1_message(&walk);
        } else if (action == 1 && walk.guids < GUIDS) {
            first_entry(&walk);
        } else if (action == 2) {
            stray_increment(&walk);
        } else if (action == 3 && which >= 0) {
            re_entry(&walk, which);
        } else if (which >= 0) {
            next_step(&walk, which);
        }
    }
    return walk.verdict;
}

Test(oracle_judges_model, two_legs_hold_every_promise)
{
    PROVES(CLAUSE_ACL_4, CLAUSE_ACL_5, CLAUSE_ACL_6, CLAUSE_ACL_7, CLAUSE_ACL_8, CLAUSE_ACL_12,
           CLAUSE_ACL_14, CLAUSE_ACL_15, CLAUSE_ACL_20, CLAUSE_ACL_21, CLAUSE_ACL_31, CLAUSE_ACL_41,
           CLAUSE_ACL_45);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        int seen[SIGHTS] = {0};
        struct oracle_verdict verdict = walk_two_legs(TWO_LEG_SOUND, seed, seen);
        cr_expect_not(verdict.broken, "seed %d: %s", (int)seed, verdict.why);
        for (int sight = 0; sight < SIGHTS; sight++) {
            cr_expect_gt(seen[sight], 100, "seed %d met sight %d %d times", (int)seed, sight,
                         seen[sight]);
        }
    }
}

Test(oracle_judges_model, two_legs_with_a_bug_are_caught)
{
    SETTLES(ERRATUM_ACL_2, ERRATUM_ACL_3, ERRATUM_ACL_8);
    static const struct plant plants[] = {
        {"literal markers", LITERAL_MARKERS, CLAUSE_ACL_5},
        {"GUID from the full ledger", GUID_FROM_FULL_LEDGER, CLAUSE_ACL_14},
        {"wrong weight", WRONG_WEIGHT, CLAUSE_ACL_4},
        {"no ceiling", NO_CEILING, CLAUSE_ACL_8},
        {"Leg2 before Leg1", LEG2_TOO_EARLY, CLAUSE_ACL_45},
        {"dimension from the count", DIMENSION_FROM_COUNT, CLAUSE_ACL_31},
        {"fresh counter", FRESH_COUNTER, CLAUSE_ACL_32},
        {"reset on replay", RESET_ON_REPLAY, CLAUSE_ACL_33},
        {"reserved digit", RESERVED_DIGIT, CLAUSE_ACL_12},
        {"Step 2 twice", STEP2_TWICE, CLAUSE_ACL_41},
        {"skipped Step 1", SKIPPED_STEP1, CLAUSE_ACL_41},
        {"Step 3 by the semaphore", STEP3_BY_SEMAPHORE, CLAUSE_ACL_26},
        {"lost snapshot", LOST_SNAPSHOT, CLAUSE_ACL_21},
        {"late snapshot", LATE_SNAPSHOT, CLAUSE_ACL_21},
        {"below zero", BELOW_ZERO, CLAUSE_ACL_19},
        {"pending closes", PENDING_CLOSES, CLAUSE_ACL_20},
    };
    for (size_t i = 0; i < COUNT(plants); i++) {
        for (uint64_t seed = 1; seed <= 5; seed++) {
            expect_caught(walk_two_legs((enum two_leg_bug)plants[i].bug, seed, (int[SIGHTS]){0}),
                          &plants[i]);
        }
    }
}

Test(oracle_judges_model, a_number_is_a_sound_ledger_to_both_or_to_none)
{
    uint64_t random = 1;
    int sound[2] = {0};
    for (int step = 0; step < STEPS; step++) {
        int64_t value = draw_number(&random, random_one_in(&random, 2) ? "00000000001" : "0112");
        value *= random_one_in(&random, 50) ? -1 : random_one_in(&random, 50) ? 10 : 1;
        bool activity = ledger_inspect(LEDGER_ACTIVITY, value) == LEDGER_SOUND;
        bool guid = ledger_inspect(LEDGER_GUID, value) == LEDGER_SOUND;
        expect_agreement(activity, oracle_activity_value(value), value);
        expect_agreement(guid, oracle_guid_value(value), value);
        sound[0] += activity;
        sound[1] += guid;
    }
    cr_expect(sound[0] > 100 && sound[1] > 100, "%d, %d: hardly anything was sound", sound[0],
              sound[1]);
}

/* Any sound pair of ledgers, also one that no history leads to: what an entry counts is fine. */
Test(oracle_judges_model, an_entry_to_any_sound_ledger_is_counted_soundly)
{
    PROVES(CLAUSE_ACL_8, CLAUSE_ACL_31, CLAUSE_ACL_45);
    static const int64_t guids[] = {
        1, 99999999, 10000000001, 11000000001, 111000000001, 111100000001, 10099999999};
    uint64_t random = 1;
    int sound = 0;
    for (int step = 0; step < STEPS; step++) {
        int64_t activity =
            draw_number(&random, random_one_in(&random, 2) ? "0000000000001" : "0119");
        int64_t guid = guids[random_below(&random, COUNT(guids))];
        if (oracle_activity_value(activity).broken) {
            continue;
        }
        sound++;
        struct ledger_leg1_entry leg1 = ledger_enter_leg1(activity);
        struct ledger_leg2_entry first = ledger_enter_leg2_first(activity);
        int64_t dimension_of_guid = random_one_in(&random, 2) ? 0 : guid % 100000000 - 1;
        struct ledger_leg2_entry again = ledger_enter_leg2_again(activity, guid, dimension_of_guid);
        expect_agreement(true, oracle_activity_move(activity, leg1.activity), activity);
        expect_agreement(true, oracle_activity_move(activity, first.activity), activity);
        expect_agreement(true, oracle_activity_move(activity, again.activity), activity);
        expect_agreement(true, oracle_guid_move(guid, again.guid), guid);
        if (first.decision == LEDGER_PROCEED) {
            int64_t dimension = ledger_dimension(first.activity);
            expect_agreement(true, oracle_guid_created(first.activity, first.guid, dimension),
                             activity);
        }
    }
    cr_expect_gt(sound, 1000);
}

/* ---- the earlier ledger -------------------------------------------------------------------- */

enum legacy_bug { LEGACY_SOUND, LEGACY_TYPO, LEGACY_NO_LIMIT, LEGACY_UNDONE_WHILE_OPEN };

static struct oracle_verdict walk_legacy(enum legacy_bug bug, uint64_t seed)
{
    static const int64_t starts[] = {LEGACY_START, 889999995999990, 888999996000100};
    struct oracle_verdict verdict = oracle_fine();
    uint64_t random = seed;
    int64_t ledger = LEGACY_START;
    for (int step = 0; step < STEPS && !verdict.broken; step++) {
        if (step % 40 == 0) {
            ledger = starts[random_below(&random, COUNT(starts))];
        }
        enum legacy_event event = (enum legacy_event)random_below(&random, LEGACY_EVENT_COUNT);
        struct legacy_addition added = legacy_add(ledger, event);
        int64_t naive = ledger + legacy_summand(event);
        if (event == LEGACY_LEG2_UNDO && !legacy_closed(ledger)) {
            if (bug != LEGACY_UNDONE_WHILE_OPEN) {
                continue; /* only a late call is undone, and the model leaves that to its caller */
            }
        } else {
            expect_agreement(added.outcome == LEGACY_ADDED, oracle_legacy_move(ledger, naive),
                             naive);
        }
        int64_t after = added.ledger;
        if (bug == LEGACY_TYPO && event == LEGACY_LEG2_SUCCESS) {
            after = ledger - 999999999; /* E-LEG-1 */
        } else if (bug == LEGACY_NO_LIMIT) {
            after = naive;
        }
        verdict = oracle_legacy_move(ledger, after);
        ledger = after;
    }
    return verdict;
}

Test(oracle_judges_model, the_earlier_ledger_moves_by_its_lifecycle_alone)
{
    PROVES(CLAUSE_LEG_1, CLAUSE_LEG_5, CLAUSE_LEG_8);
    struct oracle_verdict verdict = walk_legacy(LEGACY_SOUND, 1);
    cr_expect_not(verdict.broken, "%s", verdict.why);
}

Test(oracle_judges_model, the_earlier_ledger_with_a_bug_is_caught)
{
    SETTLES(ERRATUM_LEG_1, ERRATUM_LEG_2);
    static const struct plant plants[] = {
        {"the typo of E-LEG-1", LEGACY_TYPO, CLAUSE_LEG_1},
        {"no limit", LEGACY_NO_LIMIT, CLAUSE_LEG_5},
        {"undone while open", LEGACY_UNDONE_WHILE_OPEN, CLAUSE_LEG_4},
    };
    for (size_t i = 0; i < COUNT(plants); i++) {
        expect_caught(walk_legacy((enum legacy_bug)plants[i].bug, 1), &plants[i]);
    }
}

/* ---- the collation key --------------------------------------------------------------------- */

enum key_bug {
    KEY_SOUND,
    KEY_BLIND_COMPLETE,
    KEY_BLIND_SKIP,
    KEY_TWO_AT_ONCE,
    KEY_PAUSED_AFTER_THE_END,
};

struct flow {
    struct key_graph graph;
    uint16_t untaken[KEY_ACTIVITIES_MAX];
    int64_t key;
};

static struct flow new_flow(uint64_t *random)
{
    struct flow flow = {.graph.count = 1 + (int)random_below(random, KEY_ACTIVITIES_MAX)};
    for (int from = 0; from < flow.graph.count; from++) {
        for (int to = from + 1; to < flow.graph.count; to++) {
            if (random_one_in(random, 3)) {
                key_graph_add(&flow.graph, from, to);
            }
        }
        flow.untaken[from] = (uint16_t)(flow.graph.next[from] & random_below(random, 1 << 15));
    }
    flow.key = key_initial(flow.graph.count);
    return flow;
}

static int64_t key_with_bug(const struct flow *flow, struct key_result result, enum key_bug bug,
                            int position)
{
    int other = (position + 1) % flow->graph.count;
    switch (bug) {
    case KEY_SOUND:
        break;
    case KEY_BLIND_COMPLETE:
        return flow->key + key_delta(KEY_CHANGE_COMPLETE, position);
    case KEY_BLIND_SKIP:
        return flow->key + key_delta(KEY_CHANGE_SKIP, position);
    case KEY_TWO_AT_ONCE:
        return key_apply(result.key, other, KEY_CHANGE_START).key;
    case KEY_PAUSED_AFTER_THE_END:
        if (result.outcome == KEY_REFUSED_COMPLETE && result.found == KEY_COMPLETED) {
            return flow->key + key_delta(KEY_CHANGE_PAUSE, position);
        }
        break;
    }
    return result.key;
}

/* Both sides know the same changes of one digit: the oracle by its list, the model by trying. */
static void expect_same_changes(int64_t key, int activities)
{
    for (int position = 0; position < KEY_ACTIVITIES_MAX; position++) {
        int64_t weight = key_weight(position);
        int64_t cleared = key - (int64_t)key_get(key, position) * weight;
        for (int digit = 0; digit <= 9; digit++) {
            int64_t after = cleared + digit * weight;
            bool done = after == key;
            for (int change = 0; change < KEY_CHANGE_COUNT && position < activities; change++) {
                struct key_result result = key_apply(key, position, (enum key_change)change);
                done |= result.outcome == KEY_CHANGED && result.key == after;
            }
            expect_agreement(done, oracle_key_move(key, after), after);
        }
    }
}

static struct oracle_verdict walk_key(enum key_bug bug, uint64_t seed)
{
    struct oracle_verdict verdict = oracle_fine();
    uint64_t random = seed;
    struct flow flow = new_flow(&random);
    for (int step = 0; step < STEPS && !verdict.broken; step++) {
        if (step % 200 == 0) {
            flow = new_flow(&random);
        }
        int position = (int)random_below(&random, (uint64_t)flow.graph.count);
        enum key_change change = (enum key_change)random_below(&random, KEY_CHANGE_COUNT);
        struct key_result result =
            random_one_in(&random, 8)
                ? key_apply(flow.key, position, change)
                : key_apply_skipping(&flow.graph, flow.untaken, flow.key, position, change);
        cr_assert_eq(result.outcome == KEY_CHANGED, result.key != flow.key);
        cr_assert_eq(result.completes,
                     !oracle_key_complete(flow.key) && oracle_key_complete(result.key));
        cr_assert_not(oracle_key_value(result.key).broken);
        if (step % 97 == 0) {
            expect_same_changes(flow.key, flow.graph.count);
        }
        int64_t after = key_with_bug(&flow, result, bug, position);
        verdict = oracle_key_move(flow.key, after);
        flow.key = after;
    }
    return verdict;
}

Test(oracle_judges_model, keys_change_by_the_seven_changes_alone)
{
    PROVES(CLAUSE_KEY_3, CLAUSE_KEY_8, CLAUSE_KEY_10);
    SETTLES(ERRATUM_KEY_5);
    struct oracle_verdict verdict = walk_key(KEY_SOUND, 1);
    cr_expect_not(verdict.broken, "%s", verdict.why);
}

Test(oracle_judges_model, keys_with_a_bug_are_caught)
{
    SETTLES(ERRATUM_KEY_3);
    static const struct plant plants[] = {
        {"blind completion", KEY_BLIND_COMPLETE, CLAUSE_KEY_8},
        {"blind skip", KEY_BLIND_SKIP, CLAUSE_KEY_8},
        {"two at once", KEY_TWO_AT_ONCE, CLAUSE_KEY_3},
        {"paused after the end", KEY_PAUSED_AFTER_THE_END, CLAUSE_KEY_10},
    };
    for (size_t i = 0; i < COUNT(plants); i++) {
        expect_caught(walk_key((enum key_bug)plants[i].bug, 1), &plants[i]);
    }
}

Test(oracle_judges_model, a_number_is_a_key_to_both_or_to_none)
{
    PROVES(CLAUSE_KEY_1, CLAUSE_KEY_4);
    uint64_t random = 1;
    int valid = 0;
    for (int step = 0; step < STEPS; step++) {
        int64_t value = draw_number(&random, random_one_in(&random, 2) ? "3467" : "334566678899");
        int64_t cut = key_weight((int)random_below(&random, KEY_ACTIVITIES_MAX));
        value -= random_one_in(&random, 2) ? value % cut : 0;
        value += random_one_in(&random, 4) ? cut : 0;
        expect_agreement(key_valid(value), oracle_key_value(value), value);
        cr_assert_eq(key_complete(value), oracle_key_complete(value), "%lld", (long long)value);
        cr_assert_eq(key_in_error(value), oracle_key_in_error(value), "%lld", (long long)value);
        valid += key_valid(value);
    }
    cr_expect(1000 < valid && valid < STEPS - 1000, "%d", valid);
}
