/* The entry primitives and Step 2's, as a store executes them, beside the pure decisions of
 * model/ledger.h and model/semaphore.h: the same numbers in, the same decision and numbers out. */
#include "model/activity_engine.h"
#include "model/identity.h"
#include "model/ledger.h"
#include "model/reference/ledger.h"
#include "model/reference/semaphore.h"
#include "model/semaphore.h"
#include "model/tests/proves.h"
#include "model/tests/random.h"
#include "sim/store.h"
#include "sim/tests/print.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define ENTRIES_MAX INT64_C(99999999)
#define MODULUS     INT64_C(100000000)
#define RANDOMS     20000

#define JOB      INT64_C(1)
#define ACTIVITY INT64_C(2)
#define GUID     INT64_C(3)

static struct world world;

static void make(void)
{
    struct world_capacity capacity = {.changes = 64};
    for (int t = 0; t < TABLE_COUNT; t++) {
        capacity.rows[t] = 4;
    }
    cr_assert(world_make(&world, &capacity));
}

static void unmake(void)
{
    world_free(&world);
}

TestSuite(entries, .init = make, .fini = unmake);

static void set_up(int64_t semaphore, int64_t threshold, int64_t activity)
{
    world_reset(&world);
    world_insert(&world, TABLE_JOB, JOB,
                 (int64_t[JOB_COLUMNS]){semaphore, threshold, JOB_ACTIVE, 0, 0});
    world_insert(&world, TABLE_ACTIVITY, ACTIVITY,
                 (int64_t[ACTIVITY_COLUMNS]){JOB, 0, activity, 0});
    world_keep(&world);
}

static void set_up_guid(int64_t ledger, int64_t dimension)
{
    world_insert(&world, TABLE_GUID, GUID,
                 (int64_t[GUID_COLUMNS]){ACTIVITY, ledger, dimension, 7, 8});
    world_keep(&world);
}

static int64_t cell(enum row_table table, int64_t key, int column)
{
    uint32_t slot = row_find(&world.rows, table, key);
    return slot == ROW_NONE ? INT64_MIN : row_get(&world.rows, table, slot, column);
}

static struct outcome execute(const struct bundle *bundle)
{
    struct outcome outcome;
    store_execute(&world, primitive_table, bundle, ROW_NONE, &outcome);
    return outcome;
}

Test(entries, a_job_begins_with_the_obligation_of_its_trigger)
{
    SETTLES(ERRATUM_ACL_9);
    static const struct graph graph = {.node_count = 1};
    const struct activity_rules rules = {.graph = &graph, .threshold_count = 1};
    struct bundle bundle;
    activity_client_next(&(struct client){.count = 1}, &rules, &bundle);
    cr_assert_eq(execute(&bundle).kind, OUTCOME_COMMITTED);
    int64_t job = activity_job_id(0), trigger = identity_mint(job, IDENTITY_TRIGGER);
    cr_expect_eq(cell(TABLE_JOB, job, JOB_SEMAPHORE), 1);
    cr_expect_eq(cell(TABLE_MESSAGE, identity_mint(trigger, IDENTITY_LEG1), MESSAGE_JOB), job,
                 "with the message that the obligation is about");
}

/* A ledger as the protocol may have left it: few Leg1 entries or nearly all, and so on. */
static int64_t random_activity(uint64_t *random)
{
    static const int64_t leg1[] = {0, 1, 2, 500, 997, 998, 999};
    static const int64_t leg2[] = {0,          1, 2, 12345678, ENTRIES_MAX - 2, ENTRIES_MAX - 1,
                                   ENTRIES_MAX};
    int64_t ledger = leg1[random_below(random, COUNT(leg1))] * 1000000000000;
    ledger += (int64_t)random_below(random, 2) * 100000000000;
    ledger += (int64_t)random_below(random, 2) * 10000000000;
    ledger += (int64_t)random_below(random, 2) * 1000000000;
    ledger += (int64_t)random_below(random, 2) * 100000000;
    return ledger + leg2[random_below(random, COUNT(leg2))];
}

/* ---- Leg1 ------------------------------------------------------------------------------------ */

static struct outcome enter_leg1(void)
{
    const struct ledger_layout *entries = ledger_layout(ACTIVITY_LEG1_ENTRIES);
    struct bundle bundle;
    bundle_begin(&bundle, BUNDLE_ENTER_LEG1);
    int64_t *p = bundle_append(&bundle, PRIMITIVE_ENTER_LEG1, CALL_PLAIN, 0);
    p[0] = ACTIVITY;
    p[1] = entries->weight;
    p[2] = entries->ceiling + 1;
    p[3] = entries->ceiling;
    return execute(&bundle);
}

/* What the store did must be what the ledger says: the row, and what the caller is told. */
static void agree_on_leg1(int64_t activity)
{
    struct ledger_leg1_entry decided = ledger_enter_leg1(activity);
    set_up(1, 0, activity);
    struct outcome outcome = enter_leg1();
    cr_assert_eq(outcome.kind, OUTCOME_COMMITTED, "%015lld", (long long)activity);
    cr_assert_eq(cell(TABLE_ACTIVITY, ACTIVITY, ACTIVITY_LEDGER), decided.activity, "%015lld",
                 (long long)activity);
    cr_assert_eq(outcome.values[0], decided.activity, "%015lld", (long long)activity);
    bool counted = decided.activity != activity;
    cr_assert_eq(outcome.values[1], counted, "%015lld", (long long)activity);
    bool complete = ledger_get(outcome.values[0], ACTIVITY_LEG1_COMPLETE) == 1;
    enum ledger_decision read = complete                 ? LEDGER_STALE
                                : outcome.values[1] == 0 ? LEDGER_ESCALATE
                                                         : LEDGER_PROCEED;
    cr_assert_eq(read, decided.decision, "%015lld: what a caller can read from the outcome",
                 (long long)activity);
}

Test(entries, leg1_at_and_around_its_ceiling_is_what_the_ledger_decides)
{
    PROVES(CLAUSE_ACL_6, CLAUSE_ACL_10, CLAUSE_ACL_43);
    SETTLES(ERRATUM_ACL_16, ERRATUM_ACL_18);
    static const int64_t ledgers[] = {
        0,               /* never entered */
        1000000000000,   /* entered once */
        1100000000000,   /* complete: stale */
        997000000000000, /* */
        998000000000000, /* entry 999 is served */
        999000000000000, /* the next one is refused */
        998100000000000, /* stale and counted */
        999100000000000, /* stale, and no room to count: no escalation */
        999111199999999, /* the highest there is */
        998011199999999, /* */
    };
    for (size_t i = 0; i < COUNT(ledgers); i++) {
        agree_on_leg1(ledgers[i]);
    }
}

Test(entries, leg1_of_any_ledger_is_what_the_ledger_decides)
{
    uint64_t random = 11;
    for (int i = 0; i < RANDOMS; i++) {
        agree_on_leg1(random_activity(&random));
    }
}

/* ---- Leg2 ------------------------------------------------------------------------------------ */

static struct outcome enter_leg2(int64_t answer, int64_t content)
{
    struct bundle bundle;
    bundle_begin(&bundle, BUNDLE_ENTER_LEG2);
    int64_t *p = bundle_append(&bundle, PRIMITIVE_ENTER_LEG2, CALL_PLAIN, 0);
    p[0] = ACTIVITY;
    p[1] = GUID;
    p[2] = answer;
    p[3] = content;
    p[4] = ledger_layout(ACTIVITY_LEG1_COMPLETE)->weight;
    p[5] = MODULUS;
    p[6] = ENTRIES_MAX;
    p[7] = ENTRIES_MAX - 1;
    return execute(&bundle);
}

static enum refusal refusal_of(enum ledger_decision decision, bool known)
{
    return decision == LEDGER_TOO_EARLY  ? REFUSED_TOO_EARLY
           : decision != LEDGER_ESCALATE ? REFUSED_NOTHING
           : known                       ? REFUSED_ATTEMPTS
                                         : REFUSED_CEILING;
}

static void agree_on_leg2(const struct ledger_leg2_entry *decided, bool known, int64_t before)
{
    uint64_t print = print_of(&world);
    struct outcome outcome = enter_leg2(7, 8);
    long long shown = (long long)before;
    cr_assert_eq(outcome.refusal, refusal_of(decided->decision, known), "%015lld: %s", shown,
                 refusal_text((enum refusal)outcome.refusal));
    cr_assert_eq(cell(TABLE_ACTIVITY, ACTIVITY, ACTIVITY_LEDGER), decided->activity, "%015lld",
                 shown);
    if (outcome.kind == OUTCOME_REFUSED) {
        cr_assert_eq(print_of(&world), print, "%015lld: a refusal wrote", shown);
        return;
    }
    cr_assert_eq(cell(TABLE_GUID, GUID, GUID_LEDGER), decided->guid, "%015lld", shown);
    cr_assert_eq(outcome.values[0], decided->guid, "%015lld: the ledger returned", shown);
    cr_assert_eq(outcome.values[1], cell(TABLE_GUID, GUID, GUID_DIMENSION), "%015lld", shown);
    cr_assert_eq(outcome.values[2], 7, "the answer, as entered first");
    cr_assert_eq(outcome.values[3], 8, "its content");
    cr_assert_eq(ledger_resume(outcome.values[0]), decided->resume, "%015lld", shown);
}

static void agree_on_first(int64_t activity)
{
    struct ledger_leg2_entry decided = ledger_enter_leg2_first(activity);
    set_up(1, 0, activity);
    agree_on_leg2(&decided, false, activity);
    if (decided.decision == LEDGER_PROCEED) {
        cr_assert_eq(cell(TABLE_GUID, GUID, GUID_DIMENSION), ledger_dimension(decided.activity));
        cr_assert_eq(cell(TABLE_GUID, GUID, GUID_ACTIVITY), ACTIVITY);
        cr_assert_eq(cell(TABLE_GUID, GUID, GUID_LEDGER) / MODULUS, 0, "E-ACL-3");
    } else {
        cr_assert_eq(cell(TABLE_GUID, GUID, GUID_LEDGER), INT64_MIN, "a row was made");
    }
}

static void agree_on_again(int64_t activity, int64_t guid, int64_t dimension)
{
    struct ledger_leg2_entry decided = ledger_enter_leg2_again(activity, guid, dimension);
    set_up(1, 0, activity);
    set_up_guid(guid, dimension);
    agree_on_leg2(&decided, true, guid);
    cr_assert_eq(cell(TABLE_GUID, GUID, GUID_DIMENSION), dimension, "written once (E-ACL-4)");
}

Test(entries, leg2_of_a_new_guid_at_and_around_the_ceiling_is_what_the_ledger_decides)
{
    PROVES(CLAUSE_ACL_7, CLAUSE_ACL_13, CLAUSE_ACL_14, CLAUSE_ACL_31, CLAUSE_ACL_45);
    SETTLES(ERRATUM_ACL_3, ERRATUM_ACL_4, ERRATUM_ACL_18);
    static const int64_t ledgers[] = {
        0,               /* before Leg1: too early */
        1000000000000,   /* Leg1 entered and not complete: too early */
        1100000000000,   /* the first entry: dimension 0 */
        1111100000001,   /* markers of other GUIDs do not leak */
        1111100000009,   /* */
        1100099999997,   /* */
        1100099999998,   /* entry 99,999,999 is served */
        1100099999999,   /* the next is refused */
        999111199999999, /* */
        999111199999998, /* */
        1000099999999,   /* too early, before the ceiling */
    };
    for (size_t i = 0; i < COUNT(ledgers); i++) {
        agree_on_first(ledgers[i]);
    }
    uint64_t random = 12;
    for (int i = 0; i < RANDOMS; i++) {
        agree_on_first(random_activity(&random));
    }
}

static const int64_t resume_points[] = {0, 10000000000, 11000000000, 111000000000, 111100000000};

/* Known GUIDs: owing or not, full or not, born full or not, under an activity that is full or not.
 */
Test(entries, leg2_of_a_known_guid_is_what_the_ledger_decides)
{
    PROVES(CLAUSE_ACL_7, CLAUSE_ACL_15, CLAUSE_ACL_24, CLAUSE_ACL_45);
    SETTLES(ERRATUM_ACL_17);
    static const int64_t attempts[] = {1, 2, ENTRIES_MAX - 1, ENTRIES_MAX};
    static const int64_t dimensions[] = {0, 1, ENTRIES_MAX - 2, ENTRIES_MAX - 1};
    static const int64_t activities[] = {1100000000001, 1111100000002, 1111199999998,
                                         1111199999999, 1000000000001, 1000099999999};
    int escalated = 0;
    for (size_t r = 0; r < COUNT(resume_points); r++) {
        for (size_t a = 0; a < COUNT(attempts); a++) {
            for (size_t d = 0; d < COUNT(dimensions); d++) {
                for (size_t i = 0; i < COUNT(activities); i++) {
                    int64_t guid = resume_points[r] + attempts[a];
                    agree_on_again(activities[i], guid, dimensions[d]);
                    escalated +=
                        ledger_enter_leg2_again(activities[i], guid, dimensions[d]).decision ==
                        LEDGER_ESCALATE;
                }
            }
        }
    }
    cr_expect_eq(escalated, 3 * 3 * 4, "three points owe a step, three dimensions had room");
}

Test(entries, leg2_of_any_known_guid_is_what_the_ledger_decides)
{
    uint64_t random = 13;
    for (int i = 0; i < RANDOMS; i++) {
        int64_t activity = random_activity(&random);
        int64_t attempts = random_one_in(&random, 2)
                               ? ENTRIES_MAX - (int64_t)random_below(&random, 3)
                               : 1 + (int64_t)random_below(&random, ENTRIES_MAX);
        int64_t dimension = random_one_in(&random, 3)
                                ? ENTRIES_MAX - 1
                                : (int64_t)random_below(&random, (uint64_t)attempts);
        agree_on_again(activity, resume_points[random_below(&random, 5)] + attempts, dimension);
    }
}

/* What is given up is what an entry refuses, and nothing else (ACL-15, "E-ACL-31"). */
Test(entries, a_guid_is_stuck_exactly_when_its_entry_is_refused)
{
    PROVES(CLAUSE_ACL_15);
    static const int64_t attempts[] = {1, ENTRIES_MAX - 1, ENTRIES_MAX};
    static const int64_t dimensions[] = {0, ENTRIES_MAX - 1};
    for (size_t r = 0; r < COUNT(resume_points); r++) {
        for (size_t a = 0; a < COUNT(attempts); a++) {
            for (size_t d = 0; d < COUNT(dimensions); d++) {
                int64_t guid = resume_points[r] + attempts[a];
                set_up(1, 0, 1111199999999);
                set_up_guid(guid, dimensions[d]);
                struct bundle bundle;
                bundle_begin(&bundle, BUNDLE_ESCALATE);
                int64_t *p = bundle_append(&bundle, PRIMITIVE_REQUIRE_STUCK, CALL_REQUIRE, 0);
                p[0] = GUID;
                p[1] = MODULUS;
                p[2] = ENTRIES_MAX;
                p[3] = ENTRIES_MAX - 1;
                struct outcome given_up = execute(&bundle);
                struct outcome entered = enter_leg2(7, 8);
                cr_expect_eq(given_up.kind == OUTCOME_COMMITTED, entered.kind == OUTCOME_REFUSED,
                             "%015lld", (long long)guid);
            }
        }
    }
}

Test(entries, an_entry_keeps_the_answer_that_came_first)
{
    SETTLES(ERRATUM_ACL_21);
    set_up(1, 0, 1100000000000);
    cr_assert_eq(enter_leg2(2, 111).kind, OUTCOME_COMMITTED);
    struct outcome other = enter_leg2(1, 222);
    cr_expect_eq(other.kind, OUTCOME_COMMITTED, "it is told, and decides itself");
    cr_expect_eq(other.values[2], 2);
    cr_expect_eq(other.values[3], 111);
    cr_expect_eq(other.values[0], 2, "a replay is counted");
    cr_expect_eq(other.values[1], 0, "and keeps its dimension");
}

Test(entries, nobody_enters_an_activity_that_is_gone)
{
    SETTLES(ERRATUM_ACL_29);
    world_reset(&world);
    cr_expect_eq(enter_leg1().refusal, REFUSED_NO_ROW);
    cr_expect_eq(enter_leg2(0, 1).refusal, REFUSED_NO_ROW);
    cr_expect_eq(world_mark(&world), 0U, "no row is made");
}

/* ---- Step 2 ---------------------------------------------------------------------------------- */

static struct outcome collate(int64_t delta, enum call_mode mode)
{
    struct bundle bundle;
    bundle_begin(&bundle, BUNDLE_STEP2);
    int64_t *p = bundle_append(&bundle, PRIMITIVE_COLLATE, mode, 0);
    p[0] = GUID;
    p[1] = JOB;
    p[2] = delta;
    p[3] = ledger_layout(GUID_CHILDREN_SPAWNED)->weight;
    p[4] = ledger_layout(GUID_JOB_CLOSED)->weight;
    return execute(&bundle);
}

/* The marker and the snapshot are one addition (E-ACL-24), the rest is setStatusAndCollateGuid. */
static void agree_on_step2(int64_t semaphore, int64_t delta, int64_t threshold)
{
    int64_t guid = 10000000001;
    struct semaphore_collation decided =
        semaphore_collate(semaphore, delta, threshold, guid, GUID_JOB_CLOSED);
    set_up(semaphore, threshold, 1110000000001);
    set_up_guid(guid, 0);
    struct outcome outcome = collate(delta, CALL_UNLESS_DONE);
    cr_assert_eq(outcome.kind == OUTCOME_COMMITTED, decided.outcome == SEMAPHORE_MOVED,
                 "%lld %+lld", (long long)semaphore, (long long)delta);
    cr_assert_eq(cell(TABLE_JOB, JOB, JOB_SEMAPHORE), decided.after);
    int64_t marked = decided.outcome == SEMAPHORE_MOVED
                         ? ledger_add(decided.guid, GUID_CHILDREN_SPAWNED).ledger
                         : guid;
    cr_assert_eq(cell(TABLE_GUID, GUID, GUID_LEDGER), marked, "%lld %+lld threshold %lld",
                 (long long)semaphore, (long long)delta, (long long)threshold);
    if (decided.outcome != SEMAPHORE_MOVED) {
        cr_assert_eq(outcome.refusal, REFUSED_NEGATIVE);
        cr_assert_eq(world_mark(&world), 0U);
        return;
    }
    cr_assert_eq(outcome.values[0], marked);
    cr_assert_eq(outcome.values[1], decided.after);
    cr_assert_eq(outcome.values[2], decided.hit);
    cr_assert_eq(cell(TABLE_JOB, JOB, JOB_STATE), decided.after == 0 ? JOB_COMPLETE : JOB_ACTIVE);
    int guid_writes = 0;
    for (size_t i = 0; i < world.change_count; i++) {
        guid_writes += world.changes[i].table == TABLE_GUID;
    }
    cr_assert_eq(guid_writes, 1, "E-ACL-24");
}

Test(entries, step_2_is_what_the_semaphore_decides)
{
    PROVES(CLAUSE_ACL_20, CLAUSE_ACL_21, CLAUSE_ACL_23, CLAUSE_ACL_39, CLAUSE_ACL_40);
    SETTLES(ERRATUM_ACL_12, ERRATUM_ACL_14, ERRATUM_ACL_19, ERRATUM_ACL_24);
    static const int64_t thresholds[] = {0, 1, 12, -1};
    for (size_t t = 0; t < COUNT(thresholds); t++) {
        for (int64_t semaphore = 0; semaphore <= 15; semaphore++) {
            for (int64_t children = 0; children <= 16; children++) {
                agree_on_step2(semaphore, semaphore_delta(children, false), thresholds[t]);
                agree_on_step2(semaphore, semaphore_delta(children, true), thresholds[t]);
            }
            for (int64_t delta = -17; delta < 0; delta++) {
                agree_on_step2(semaphore, delta, thresholds[t]);
            }
        }
    }
}

/* E-ACL-25, E-ACL-26: the marker decides first, nothing else moves, and the ledger is told. */
Test(entries, step_2_of_a_marked_guid_moves_nothing_and_tells_the_ledger)
{
    SETTLES(ERRATUM_ACL_5, ERRATUM_ACL_25, ERRATUM_ACL_26);
    static const int64_t ledgers[] = {11000000003, 111000000003, 111100000003};
    static const enum call_mode modes[] = {CALL_UNLESS_DONE, CALL_REQUIRE};
    for (size_t i = 0; i < COUNT(ledgers); i++) {
        for (size_t m = 0; m < COUNT(modes); m++) {
            set_up(4, 0, 1111000000001);
            set_up_guid(ledgers[i], 0);
            struct outcome outcome = collate(-1, modes[m]);
            cr_expect_eq(outcome.kind,
                         modes[m] == CALL_REQUIRE ? OUTCOME_REFUSED : OUTCOME_COMMITTED);
            cr_expect_eq(outcome.skipped, 1);
            cr_expect_eq(outcome.values[0], ledgers[i], "as it now is");
            cr_expect_eq(world_mark(&world), 0U);
            cr_expect_eq(cell(TABLE_JOB, JOB, JOB_SEMAPHORE), 4);
        }
    }
}

/* Twice in a row is once: the worked example 18.4. */
Test(entries, example_18_4_closes_the_job_once)
{
    PROVES(CLAUSE_ACL_38);
    set_up(1, 0, 1110000000001);
    set_up_guid(10000000001, 0);
    struct outcome first = collate(-1, CALL_UNLESS_DONE);
    cr_expect_eq(first.values[2], 1);
    cr_expect_eq(cell(TABLE_GUID, GUID, GUID_LEDGER), 111000000001);
    struct outcome again = collate(-1, CALL_UNLESS_DONE);
    cr_expect_eq(again.skipped, 1);
    cr_expect_eq(cell(TABLE_JOB, JOB, JOB_SEMAPHORE), 0);
    cr_expect_eq(cell(TABLE_GUID, GUID, GUID_LEDGER), 111000000001);
}

/* ---- marks ----------------------------------------------------------------------------------- */

/* An activity's marker and a GUID's, one at a time, as ledger_add adds. */
Test(entries, a_mark_is_what_the_ledger_adds)
{
    PROVES(CLAUSE_ACL_5, CLAUSE_ACL_8);
    SETTLES(ERRATUM_ACL_2);
    static const enum ledger_field fields[] = {ACTIVITY_LEG1_COMPLETE,    ACTIVITY_WORK_DONE,
                                               ACTIVITY_CHILDREN_SPAWNED, ACTIVITY_JOB_TASKS_DONE,
                                               GUID_JOB_CLOSED,           GUID_WORK_DONE,
                                               GUID_CHILDREN_SPAWNED,     GUID_JOB_TASKS_DONE};
    uint64_t random = 14;
    for (int i = 0; i < RANDOMS; i++) {
        enum ledger_field field = fields[random_below(&random, COUNT(fields))];
        bool of_guid = ledger_layout(field)->kind == LEDGER_GUID;
        int64_t ledger =
            of_guid ? random_activity(&random) % 1000000000000 : random_activity(&random);
        set_up(1, 0, of_guid ? 1100000000001 : ledger);
        set_up_guid(of_guid ? ledger : 1, 0);
        struct bundle bundle;
        bundle_begin(&bundle, BUNDLE_STEP1);
        int64_t *p = bundle_append(&bundle, of_guid ? PRIMITIVE_MARK_GUID : PRIMITIVE_MARK_ACTIVITY,
                                   CALL_UNLESS_DONE, 0);
        p[0] = of_guid ? GUID : ACTIVITY;
        p[1] = ledger_layout(field)->weight;
        struct outcome outcome = execute(&bundle);
        struct ledger_increment added = ledger_add(ledger, field);
        int64_t now = of_guid ? cell(TABLE_GUID, GUID, GUID_LEDGER)
                              : cell(TABLE_ACTIVITY, ACTIVITY, ACTIVITY_LEDGER);
        cr_assert_eq(now, added.ledger, "%015lld", (long long)ledger);
        cr_assert_eq(outcome.values[0], added.ledger, "also when it was marked (E-ACL-26)");
        cr_assert_eq(outcome.skipped, added.outcome == LEDGER_INCREMENTED ? 0 : 1);
    }
}

/* ---- a worker at a ceiling ------------------------------------------------------------------- */

#define MESSAGE INT64_C(4)

static struct graph graph = {.node_count = 1};
static const struct activity_rules rules = {
    .graph = &graph, .timeout = 60, .put_back = 7, .threshold_count = 1};

static void set_up_message(enum message_kind kind)
{
    int64_t columns[MESSAGE_COLUMNS] = {[MESSAGE_KIND] = kind,
                                        [MESSAGE_JOB] = JOB,
                                        [MESSAGE_ACTIVITY] = ACTIVITY,
                                        [MESSAGE_GUID] = kind == MESSAGE_LEG2 ? GUID : 0,
                                        [MESSAGE_ANSWER] = kind == MESSAGE_LEG2 ? 7 : 0,
                                        [MESSAGE_CONTENT] = 8};
    world_insert(&world, TABLE_MESSAGE, MESSAGE, columns);
    world_keep(&world);
}

/* One turn: what the worker sends is executed and told to it. */
static void turn(struct activity_worker *worker, char *heard, size_t size)
{
    struct bundle bundle;
    struct outcome outcome = {0};
    int64_t visible_at = 0;
    activity_worker_next(worker, &rules, &bundle);
    store_execute(&world, primitive_table, &bundle, world_next_message(&world, &visible_at),
                  &outcome);
    world_keep(&world);
    activity_worker_take(worker, &rules, &outcome);
    size_t at = strlen(heard);
    snprintf(heard + at, size - at, "%s%s%s", at == 0 ? "" : ", ",
             bundle_name_text((enum bundle_name)bundle.name),
             outcome.kind == OUTCOME_REFUSED ? " refused" : "");
}

/* A worker from its claim on until it is idle again. */
static const char *follow(struct activity_worker *worker)
{
    static char heard[400];
    heard[0] = '\0';
    do {
        turn(worker, heard, sizeof heard);
    } while (worker->state != ACTIVITY_WORKER_IDLE && strlen(heard) < 300);
    return heard;
}

Test(entries, a_worker_at_a_ceiling_escalates_if_something_is_owed_and_acks_if_not)
{
    PROVES(CLAUSE_ACL_6, CLAUSE_ACL_7, CLAUSE_ACL_15, CLAUSE_ACL_28, CLAUSE_ACL_30);
    SETTLES(ERRATUM_ACL_10, ERRATUM_ACL_16, ERRATUM_ACL_17, ERRATUM_ACL_18);
    static const struct {
        enum message_kind kind;
        int64_t activity;
        int64_t guid; /* 0: not known */
        int64_t dimension;
        const char *heard;
        int64_t reason; /* 0: not escalated */
        int64_t activity_after;
    } cases[] = {
        {MESSAGE_LEG1, 999000000000000, 0, 0, "claim, enter Leg1, escalate", ESCALATED_LEG1_CEILING,
         999000000000000},
        {MESSAGE_LEG1, 999100000000000, 0, 0, "claim, enter Leg1, ack", 0, 999100000000000},
        {MESSAGE_LEG1, 998000000000000, 0, 0, "claim, enter Leg1, Leg1, ack", 0, 999100000000000},
        {MESSAGE_LEG2, 1100099999999, 0, 0, "claim, enter Leg2 refused, escalate",
         ESCALATED_LEG2_CEILING, 1100099999999},
        {MESSAGE_LEG2, 1100099999998, 0, 0, "claim, enter Leg2, Step 1, Step 2, ack", 0,
         1111099999999},
        /* a known GUID with full attempts that owes Step 1, 2 or 3, and that owes nothing */
        {MESSAGE_LEG2, 1100099999999, 99999999, 5, "claim, enter Leg2 refused, escalate",
         ESCALATED_ATTEMPTS_CEILING, 1100099999999},
        {MESSAGE_LEG2, 1110099999999, 10099999999, 5, "claim, enter Leg2 refused, escalate",
         ESCALATED_ATTEMPTS_CEILING, 1110099999999},
        {MESSAGE_LEG2, 1111099999999, 111099999999, 5, "claim, enter Leg2 refused, escalate",
         ESCALATED_ATTEMPTS_CEILING, 1111099999999},
        {MESSAGE_LEG2, 1111099999999, 11099999999, 5, "claim, enter Leg2, ack", 0, 1111099999999},
        {MESSAGE_LEG2, 1111199999999, 111199999999, 5, "claim, enter Leg2, ack", 0, 1111199999999},
        /* born at the last entry: it resumes, uncounted */
        {MESSAGE_LEG2, 1100099999999, 99999999, 99999998, "claim, enter Leg2, Step 1, Step 2, ack",
         0, 1111099999999},
        {MESSAGE_LEG2, 1111099999999, 111099999999, 99999998, "claim, enter Leg2, Step 3, ack", 0,
         1111199999999},
        /* a known GUID with room under an activity without */
        {MESSAGE_LEG2, 1100099999999, 99999998, 5, "claim, enter Leg2, Step 1, Step 2, ack", 0,
         1111099999999},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        set_up(2, 0, cases[i].activity);
        if (cases[i].guid != 0) {
            set_up_guid(cases[i].guid, cases[i].dimension);
        }
        set_up_message(cases[i].kind);
        struct activity_worker worker = activity_worker_begin();
        cr_expect_str_eq(follow(&worker), cases[i].heard, "case %zu", i);
        int64_t escalation = identity_mint(MESSAGE, IDENTITY_ESCALATION);
        cr_expect_eq(cell(TABLE_ESCALATION, escalation, ESCALATION_REASON),
                     cases[i].reason == 0 ? INT64_MIN : cases[i].reason, "case %zu", i);
        cr_expect_eq(cell(TABLE_JOB, JOB, JOB_ESCALATED), cases[i].reason != 0, "case %zu", i);
        cr_expect_eq(cell(TABLE_ACTIVITY, ACTIVITY, ACTIVITY_LEDGER), cases[i].activity_after,
                     "case %zu", i);
        cr_expect_eq(cell(TABLE_MESSAGE, MESSAGE, MESSAGE_KIND), INT64_MIN, "case %zu: acked", i);
    }
}

/* Between the refusal and the escalation another worker did what was owed: the escalation sees it in
 * its own transaction, and the message is entered again and acked (E-ACL-31). */
Test(entries, what_was_done_meanwhile_is_not_given_up)
{
    static const struct {
        enum message_kind kind;
        int64_t activity, guid; /* as the first entry finds them */
        int64_t activity_then, guid_then;
        const char *before, *after;
    } cases[] = {
        {MESSAGE_LEG1, 999000000000000, 0, 999100000000000, 0, "claim, enter Leg1",
         "escalate refused, enter Leg1, ack"},
        {MESSAGE_LEG2, 1110099999999, 10099999999, 1111099999999, 11099999999,
         "claim, enter Leg2 refused", "escalate refused, enter Leg2, ack"},
        {MESSAGE_LEG2, 1111099999999, 111099999999, 1111199999999, 111199999999,
         "claim, enter Leg2 refused", "escalate refused, enter Leg2, ack"},
        /* a step further, and yet something is owed: given up all the same */
        {MESSAGE_LEG2, 1100099999999, 99999999, 1110099999999, 10099999999,
         "claim, enter Leg2 refused", "escalate"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        set_up(2, 0, cases[i].activity);
        if (cases[i].guid != 0) {
            set_up_guid(cases[i].guid, 5);
        }
        set_up_message(cases[i].kind);
        struct activity_worker worker = activity_worker_begin();
        char heard[100] = "";
        turn(&worker, heard, sizeof heard);
        turn(&worker, heard, sizeof heard);
        cr_assert_str_eq(heard, cases[i].before, "case %zu", i);
        world_set(&world, TABLE_ACTIVITY, 0, ACTIVITY_LEDGER, cases[i].activity_then);
        if (cases[i].guid != 0) {
            world_set(&world, TABLE_GUID, 0, GUID_LEDGER, cases[i].guid_then);
        }
        world_keep(&world);
        cr_expect_str_eq(follow(&worker), cases[i].after, "case %zu", i);
        bool given_up = strcmp(cases[i].after, "escalate") == 0;
        cr_expect_eq(cell(TABLE_JOB, JOB, JOB_ESCALATED), given_up, "case %zu", i);
    }
}

/* A message whose job was purged is acked, and no row is made. */
Test(entries, a_message_of_a_job_that_is_gone_is_acked)
{
    SETTLES(ERRATUM_ACL_29);
    static const struct {
        enum message_kind kind;
        const char *heard;
    } cases[] = {{MESSAGE_LEG1, "claim, enter Leg1 refused, ack"},
                 {MESSAGE_TASK, "claim, answer refused, ack"},
                 {MESSAGE_LEG2, "claim, enter Leg2 refused, ack"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        world_reset(&world);
        set_up_message(cases[i].kind);
        struct activity_worker worker = activity_worker_begin();
        cr_expect_str_eq(follow(&worker), cases[i].heard);
        for (int t = 0; t < TABLE_COUNT; t++) {
            cr_expect_eq(world.rows.table[t].used, t == TABLE_MESSAGE ? 1U : 0U, "table %d", t);
        }
        cr_expect_eq(world.queue_count, 0U);
    }
}
