/* Planted bugs: that each is what its name says. Whether a promise sees it is shown by
 * sim/tests/test_kill.c. */
#include "faults/sabotage.h"
#include "model/activity_engine.h"

#include "model/identity.h"
#include "model/ledger.h"
#include "model/tests/proves.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define COPY     PRIMITIVE_COUNT
#define ACTIVITY INT64_C(701)
#define GUID     INT64_C(702)
#define JOB      INT64_C(703)
#define SOURCE   INT64_C(704)
#define MESSAGE  INT64_C(705)

/* ---- bundles as engines send them --------------------------------------------------------------
 */

static struct graph graph = {
    .node_count = 3,
    .edge_count = 2,
    .nodes = {{.name = "trigger", .edge_count = 2},
              {.name = "left", .first_edge = 2},
              {.name = "right", .first_edge = 2}},
    .edges = {{.to = 1}, {.to = 2}},
};
static const struct activity_rules rules = {
    .graph = &graph, .timeout = 60, .put_back = 7, .threshold_count = 1};
static const struct activity_rules merged_rules = {
    .graph = &graph, .timeout = 60, .put_back = 7, .threshold_count = 1, .merged = true};
static const struct activity_rules direct_rules = {.graph = &graph,
                                                   .timeout = 60,
                                                   .put_back = 7,
                                                   .threshold_count = 1,
                                                   .merged = true,
                                                   .direct = true};

static struct activity_worker worker_at(enum activity_worker_state state, enum message_kind kind)
{
    struct activity_worker worker = {
        .state = (uint8_t)state, .held_until = 60, .input = 5, .dimension = 2};
    worker.message[0] = MESSAGE;
    worker.message[1 + MESSAGE_KIND] = kind;
    worker.message[1 + MESSAGE_JOB] = JOB;
    worker.message[1 + MESSAGE_ACTIVITY] = ACTIVITY;
    worker.message[1 + MESSAGE_GUID] = kind == MESSAGE_LEG2 ? GUID : 0;
    worker.message[1 + MESSAGE_EPOCH] = 1;
    worker.message[1 + MESSAGE_CONTENT] = 44;
    return worker;
}

/* One of every bundle there is, and of some two: every primitive that an engine puts in it. */
static struct sending {
    struct activity_worker worker;
    struct bundle bundle;
    const struct activity_rules *rules;
    bool by_client;
} sendings[32];
static size_t sending_count;

static struct activity_worker *add(enum activity_worker_state state, enum message_kind kind)
{
    sendings[sending_count].worker = worker_at(state, kind);
    sendings[sending_count].rules = &rules;
    return &sendings[sending_count++].worker;
}

static struct activity_worker *add_merged(enum activity_worker_state state, enum message_kind kind)
{
    struct activity_worker *worker = add(state, kind);
    sendings[sending_count - 1].rules = &merged_rules;
    return worker;
}

static void make_sendings(void)
{
    sending_count = 0;
    memset(sendings, 0, sizeof sendings);
    sendings[sending_count++].by_client = true;
    *add(ACTIVITY_WORKER_IDLE, MESSAGE_LEG1) = activity_worker_begin();
    add(ACTIVITY_WORKER_LEG1, MESSAGE_LEG1)->now = 59; /* time to extend */
    add(ACTIVITY_WORKER_ENTER_LEG1, MESSAGE_LEG1);
    add(ACTIVITY_WORKER_ENTER_LEG1, MESSAGE_LEG1)->message[1 + MESSAGE_SOURCE] = SOURCE;
    add(ACTIVITY_WORKER_LEG1, MESSAGE_LEG1);
    add(ACTIVITY_WORKER_READ_LEG1, MESSAGE_LEG1);
    add(ACTIVITY_WORKER_ANSWER, MESSAGE_TASK);
    add(ACTIVITY_WORKER_ENTER_LEG2, MESSAGE_LEG2)->message[1 + MESSAGE_PENDINGS] = 2;
    struct activity_worker *cycling = add(ACTIVITY_WORKER_ENTER_LEG2, MESSAGE_LEG2);
    cycling->message[1 + MESSAGE_ANSWER] = ANSWER_CYCLES;
    cycling->message[1 + MESSAGE_SOURCE] = SOURCE;
    add(ACTIVITY_WORKER_STEP1, MESSAGE_LEG2);
    add(ACTIVITY_WORKER_STEP2, MESSAGE_LEG2);
    add(ACTIVITY_WORKER_STEP3, MESSAGE_LEG2);
    add(ACTIVITY_WORKER_READ_LEG2, MESSAGE_LEG2);
    add(ACTIVITY_WORKER_ACK, MESSAGE_LEG2);
    add(ACTIVITY_WORKER_ESCALATE, MESSAGE_LEG1)->reason = ESCALATED_LEG1_CEILING;
    add(ACTIVITY_WORKER_ESCALATE, MESSAGE_LEG2)->reason = ESCALATED_ATTEMPTS_CEILING;
    add(ACTIVITY_WORKER_PUT_BACK, MESSAGE_LEG2);
    add_merged(ACTIVITY_WORKER_LEG1, MESSAGE_LEG1);
    add_merged(ACTIVITY_WORKER_LEG1, MESSAGE_LEG1);
    sendings[sending_count - 1].rules = &direct_rules;
    add_merged(ACTIVITY_WORKER_ANSWER, MESSAGE_TASK);
    add_merged(ACTIVITY_WORKER_ANSWER, MESSAGE_TASK)->apart = 1;
    add_merged(ACTIVITY_WORKER_STEP1, MESSAGE_LEG2);
    add_merged(ACTIVITY_WORKER_STEP1, MESSAGE_LEG2)->message[1 + MESSAGE_NODE] =
        1; /* without children */
    add_merged(ACTIVITY_WORKER_STEP3, MESSAGE_LEG2);
    add_merged(ACTIVITY_WORKER_ACK, MESSAGE_LEG2);
    cr_assert_leq(sending_count, COUNT(sendings));
    const struct client client = {.count = 1};
    for (size_t i = 0; i < sending_count; i++) {
        struct sending *sending = &sendings[i];
        if (sending->by_client) {
            activity_client_next(&client, &rules, &sending->bundle);
        } else {
            activity_worker_next(&sending->worker, sending->rules, &sending->bundle);
        }
    }
}

TestSuite(sabotage, .init = make_sendings);

static const struct sending *sending_of(enum bundle_name name)
{
    for (size_t i = 0; i < sending_count; i++) {
        if (sendings[i].bundle.name == name) {
            return &sendings[i];
        }
    }
    cr_assert_fail("%s", bundle_name_text(name));
    return NULL;
}

/* Who sent it. */
static const struct actor *actor_of(const struct sending *sending)
{
    static struct actor actor;
    memset(&actor, 0, sizeof actor);
    actor.role = sending->by_client ? ACTIVITY_CLIENT : ACTIVITY_WORKER;
    if (!sending->by_client) {
        *ACTOR_IS(&actor, activity_worker) = sending->worker;
    }
    return &actor;
}

static int find_call(const struct bundle *bundle, int primitive)
{
    for (int i = 0; i < bundle->count; i++) {
        if (bundle->calls[i].primitive == primitive) {
            return i;
        }
    }
    return -1;
}

/* How many of the named and of all sabotages are the activity protocol's, which these tests are
 * about; they come first, named and enumerated. */
static size_t own_named(void)
{
    size_t count = 0;
    for (size_t i = 0; i < sabotage_named_count(); i++) {
        struct sabotage one;
        sabotage_get(i, &one);
        count += one.protocol == &protocol_activity;
    }
    return count;
}

static size_t own_count(void)
{
    size_t count = sabotage_count();
    struct sabotage one;
    do {
        sabotage_get(--count, &one);
    } while (one.protocol != &protocol_activity);
    return count + 1;
}

static struct sabotage found(const char *name)
{
    struct sabotage sabotage;
    cr_assert(sabotage_find(name, &sabotage), "%s", name);
    return sabotage;
}

/* ---- the same? ---------------------------------------------------------------------------------
 */

static bool same_bytes(const void *left, const void *right, size_t size)
{
    return memcmp(left, right, size) == 0;
}

static bool same_calls(const struct call *left, const struct call *right, size_t count)
{
    return memcmp(left, right, count * sizeof *left) == 0;
}

static bool same_op(const struct op *left, const struct op *right)
{
    return memcmp(left, right, offsetof(struct op, columns)) == 0 &&
           left->columns == right->columns;
}

static bool same_primitive(const struct primitive *left, const struct primitive *right)
{
    bool same = left->name == right->name && left->params == right->params &&
                left->op_count == right->op_count;
    for (int i = 0; same && i < left->op_count; i++) {
        same = same_op(&left->ops[i], &right->ops[i]);
    }
    return same;
}

/* ---- names -------------------------------------------------------------------------------------
 */

Test(sabotage, every_one_has_a_name_of_its_own_by_which_it_is_found)
{
    size_t count = sabotage_count();
    cr_expect_gt(count, 150U);
    for (size_t i = 0; i < count; i++) {
        struct sabotage one, other;
        sabotage_get(i, &one);
        size_t length = strnlen(one.name, SABOTAGE_NAME_SIZE);
        cr_expect(length > 0 && length <= SABOTAGE_NAME_SIZE - 1, "number %zu", i);
        cr_expect_eq(strspn(one.name, "abcdefghijklmnopqrstuvwxyz0123456789-./"), length, "%s",
                     one.name);
        for (size_t j = 0; j < i; j++) {
            sabotage_get(j, &other);
            cr_expect_str_neq(one.name, other.name);
        }
        other = found(one.name);
        cr_expect(same_bytes(&one, &other, sizeof one), "%s", one.name);
    }
}

Test(sabotage, every_one_says_in_one_line_what_it_does)
{
    for (size_t i = 0; i < sabotage_count(); i++) {
        struct sabotage one;
        sabotage_get(i, &one);
        cr_assert_not_null(one.about, "%s", one.name);
        cr_expect(strlen(one.about) > 15 && strlen(one.about) < 90, "%s: %s", one.name, one.about);
        cr_expect_null(strchr(one.about, '\n'), "%s", one.name);
    }
}

/* Other tools and the documents rely on these. */
Test(sabotage, those_that_the_errata_and_the_command_line_name_are_there)
{
    SETTLES(ERRATUM_ACL_2, ERRATUM_ACL_3, ERRATUM_ACL_4, ERRATUM_ACL_5, ERRATUM_ACL_6,
            ERRATUM_ACL_7, ERRATUM_ACL_16, ERRATUM_ACL_25);
    static const char *const names[] = {"literal-markers",
                                        "guid-from-full-ledger",
                                        "dimension-from-counter",
                                        "trust-stale-read",
                                        "job-state-first",
                                        "fresh-guid",
                                        "ceiling-before-marker",
                                        "unlocked-marker-test",
                                        "unbundled-step2",
                                        "lost-snapshot",
                                        "early-ack",
                                        "read-then-write",
                                        "no-ceiling"};
    for (size_t i = 0; i < COUNT(names); i++) {
        struct sabotage one = found(names[i]);
        cr_expect_null(one.equivalent, "%s", one.name);
        cr_expect_not_null(one.scenario, "%s", one.name);
    }
}

Test(sabotage, what_is_not_there_is_not_found)
{
    static const char *const names[] = {"",
                                        "none",
                                        "early-ac",
                                        "early-ackk",
                                        "Early-ack",
                                        "step-2",
                                        "step-2/",
                                        "step-2/drop",
                                        "step-2/drop/",
                                        "step-2/drop/collate.9",
                                        "step-2/split-after/publish",
                                        "ack/ack-before",
                                        "early-ack "};
    struct sabotage one;
    for (size_t i = 0; i < COUNT(names); i++) {
        cr_expect_not(sabotage_find(names[i], &one), "%s", names[i]);
    }
}

/* (Z2): a reason that nobody can look up would hide a bug that was renamed. */
Test(sabotage, every_equivalent_on_the_list_is_an_enumerated_sabotage_and_listed_once)
{
    const char *name;
    size_t count = 0, listed = 0;
    for (; (name = sabotage_equivalent_name(count)) != NULL; count++) {
        struct sabotage one = found(name);
        cr_expect_neq(one.kind, SABOTAGE_NAMED, "%s", name);
        cr_expect_str_neq(one.equivalent, "");
        cr_expect_gt(strlen(one.equivalent), 10U, "%s: \"%s\" is too short for a reason", name,
                     one.equivalent);
    }
    for (size_t i = 0; i < sabotage_count(); i++) {
        struct sabotage one;
        sabotage_get(i, &one);
        listed += one.equivalent != NULL;
        cr_expect(one.equivalent == NULL || i >= sabotage_named_count(), "%s", one.name);
    }
    cr_expect_eq(listed, count);
}

/* ---- what is enumerated ------------------------------------------------------------------------
 */

Test(sabotage, the_enumeration_has_what_the_engines_send_and_nothing_else)
{
    bool sent[BUNDLE_NAME_COUNT][PRIMITIVE_COUNT] = {{false}};
    for (size_t i = 0; i < sending_count; i++) {
        const struct bundle *bundle = &sendings[i].bundle;
        for (int c = 0; c < bundle->count; c++) {
            sent[bundle->name][bundle->calls[c].primitive] = true;
        }
    }
    for (int b = 0; b < BUNDLE_NAME_COUNT; b++) {
        for (int p = 0; p < PRIMITIVE_COUNT; p++) {
            cr_expect_eq(
                sabotage_knows(&protocol_activity, (enum bundle_name)b, (enum primitive_id)p),
                sent[b][p], "%s, %s", bundle_name_text((enum bundle_name)b),
                primitive_table[p].name);
        }
    }
}

Test(sabotage, every_primitive_of_every_bundle_is_dropped_and_every_test_left_out)
{
    static struct sabotage all[1000];
    const size_t end = own_count();
    cr_assert_leq(end, COUNT(all));
    for (size_t i = 0; i < end; i++) {
        sabotage_get(i, &all[i]);
    }
    for (int b = 0; b < BUNDLE_NAME_COUNT; b++) {
        for (int p = 0; p < PRIMITIVE_COUNT; p++) {
            int whole = 0, unguarded = 0, stale = 0, tests = 0, sums = 0;
            for (int o = 0; o < primitive_table[p].op_count; o++) {
                tests += primitive_table[p].ops[o].test != TEST_NONE;
                sums += primitive_table[p].ops[o].kind == OP_ADD;
            }
            for (size_t i = sabotage_named_count(); i < end; i++) {
                const struct sabotage *one = &all[i];
                bool here = one->bundle == b && one->primitive == p;
                whole += here && one->kind == SABOTAGE_DROP && one->op == 0;
                unguarded += here && one->kind == SABOTAGE_UNGUARD;
                stale += here && one->kind == SABOTAGE_STALE;
            }
            bool known =
                sabotage_knows(&protocol_activity, (enum bundle_name)b, (enum primitive_id)p);
            cr_expect_eq(whole, known ? 1 : 0);
            cr_expect_eq(unguarded, known ? tests : 0);
            bool new_row = b == BUNDLE_STEPS_ACK && p == PRIMITIVE_ENTER_LEG1; /* made there */
            cr_expect_eq(stale, known && !new_row ? sums : 0);
        }
    }
}

/* ---- tables ------------------------------------------------------------------------------------
 */

/* (Z1) */
Test(sabotage, without_one_the_primitives_are_those_of_the_catalogue)
{
    struct primitive table[SABOTAGE_TABLE_SIZE];
    memset(table, 0xAA, sizeof table);
    sabotage_primitives(NULL, table);
    cr_expect(same_bytes(table, primitive_table, sizeof primitive_table));
    for (int i = PRIMITIVE_COUNT; i < SABOTAGE_TABLE_SIZE; i++) {
        cr_expect_eq(table[i].op_count, 0);
    }
}

/* How many operations a copy must have, and which of the original's it has at `i`. */
static void expect_copy(const struct sabotage *one, const struct primitive *copy)
{
    const struct primitive *original = &primitive_table[one->primitive];
    int at = one->op - 1;
    int dropped = one->kind == SABOTAGE_DROP && one->op != 0;
    int added = one->kind == SABOTAGE_STALE;
    cr_expect_eq(copy->op_count, original->op_count - dropped + added, "%s", one->name);
    for (int i = 0; i < original->op_count; i++) {
        if (one->op != 0 && i == at) {
            continue;
        }
        int where = i < at ? i : i - dropped + added;
        cr_expect(same_op(&copy->ops[where], &original->ops[i]), "%s, op %d", one->name, i + 1);
    }
    struct op changed = original->ops[at < 0 ? 0 : at];
    changed.test = TEST_NONE;
    cr_expect(one->kind != SABOTAGE_UNGUARD || same_op(&copy->ops[at], &changed), "%s", one->name);
}

Test(sabotage, an_enumerated_one_leaves_the_catalogue_alone_and_changes_one_operation_of_a_copy)
{
    struct primitive table[SABOTAGE_TABLE_SIZE];
    for (size_t i = sabotage_named_count(); i < own_count(); i++) {
        struct sabotage one;
        sabotage_get(i, &one);
        sabotage_primitives(&one, table);
        cr_expect(same_bytes(table, primitive_table, sizeof primitive_table), "%s", one.name);
        expect_copy(&one, &table[COPY]);
    }
}

/* ---- bundles -----------------------------------------------------------------------------------
 */

Test(sabotage, an_enumerated_one_leaves_all_other_bundles_alone)
{
    for (size_t i = sabotage_named_count(); i < own_count(); i++) {
        struct sabotage one;
        sabotage_get(i, &one);
        for (size_t s = 0; s < sending_count; s++) {
            struct sabotage_memory memory = {0}, fresh = {0};
            struct bundle bundle = sendings[s].bundle;
            bool part = one.kind == SABOTAGE_ACK_EARLY || find_call(&bundle, one.primitive) >= 0;
            if (bundle.name == one.bundle && part) {
                continue;
            }
            sabotage_bundle(&one, &memory, actor_of(&sendings[s]), &bundle);
            cr_expect(bundle_equal(&bundle, &sendings[s].bundle), "%s", one.name);
            cr_expect(same_bytes(&memory, &fresh, sizeof memory), "%s", one.name);
        }
    }
}

static void expect_dropped(const struct sabotage *one, const struct sending *sending)
{
    const struct bundle *before = &sending->bundle;
    struct sabotage_memory memory = {0};
    struct bundle after = *before;
    int at = find_call(before, one->primitive);
    sabotage_bundle(one, &memory, actor_of(sending), &after);
    cr_expect_eq(after.count, before->count - 1, "%s", one->name);
    cr_expect(same_calls(after.calls, before->calls, (size_t)at), "%s", one->name);
    cr_expect(same_calls(&after.calls[at], &before->calls[at + 1], (size_t)(after.count - at)),
              "%s", one->name);
    cr_expect_eq(memcmp(after.params, before->params, sizeof after.params), 0, "%s", one->name);
}

/* Drop of one operation, and a test left out: the first call of the primitive runs the copy. */
static void expect_copy_called(const struct sabotage *one, const struct sending *sending)
{
    struct sabotage_memory memory = {0};
    struct bundle after = sending->bundle;
    int at = find_call(&after, one->primitive);
    sabotage_bundle(one, &memory, actor_of(sending), &after);
    cr_expect_eq(after.calls[at].primitive, COPY, "%s", one->name);
    after.calls[at].primitive = one->primitive;
    cr_expect(bundle_equal(&after, &sending->bundle), "%s", one->name);
}

/* Each one of a kind on each bundle that it is for; how many there were. */
static int on_each(enum sabotage_kind kind,
                   void expect(const struct sabotage *, const struct sending *))
{
    int count = 0;
    for (size_t i = sabotage_named_count(); i < own_count(); i++) {
        struct sabotage one;
        sabotage_get(i, &one);
        for (size_t s = 0; s < sending_count && one.kind == kind; s++) {
            const struct bundle *bundle = &sendings[s].bundle;
            if (bundle->name == one.bundle &&
                (kind == SABOTAGE_ACK_EARLY || kind == SABOTAGE_REPEAT ||
                 find_call(bundle, one.primitive) >= 0)) {
                expect(&one, &sendings[s]);
                count++;
            }
        }
    }
    return count;
}

static void expect_drop(const struct sabotage *one, const struct sending *sending)
{
    (one->op == 0 ? expect_dropped : expect_copy_called)(one, sending);
}

Test(sabotage, drop_leaves_out_one_primitive_or_one_operation)
{
    cr_expect_gt(on_each(SABOTAGE_DROP, expect_drop), 60);
}

Test(sabotage, unguard_calls_the_copy_without_the_test)
{
    cr_expect_gt(on_each(SABOTAGE_UNGUARD, expect_copy_called), 15);
}

/* ---- two transactions instead of one -----------------------------------------------------------
 */

static struct outcome committed(void)
{
    struct outcome outcome = {.kind = OUTCOME_COMMITTED};
    return outcome;
}

/* The two halves make the whole, and the engine is told once, of all values. */
static void expect_split(const struct sabotage *one, const struct sending *sending)
{
    const struct bundle *before = &sending->bundle;
    struct sabotage_memory memory = {0};
    struct bundle head = *before, tail = *before;
    int at = find_call(before, one->primitive);
    sabotage_bundle(one, &memory, actor_of(sending), &head);
    cr_expect_eq(head.count, at + 1, "%s", one->name);
    cr_expect(same_calls(head.calls, before->calls, (size_t)at + 1), "%s", one->name);
    struct outcome outcome = committed();
    outcome.values[0] = 11;
    outcome.values[1] = 12;
    cr_expect_not(sabotage_outcome(one, &memory, &head, &outcome), "%s", one->name);
    sabotage_bundle(one, &memory, actor_of(sending), &tail);
    cr_expect_eq(head.count + tail.count, before->count, "%s", one->name);
    cr_expect(same_calls(tail.calls, &before->calls[at + 1], tail.count), "%s", one->name);
    cr_expect_eq(memcmp(tail.params, before->params, sizeof tail.params), 0, "%s", one->name);
    outcome = committed();
    outcome.values[1] = 22;
    outcome.values[2] = 23;
    cr_expect(sabotage_outcome(one, &memory, &tail, &outcome), "%s", one->name);
    cr_expect_eq(outcome.values[0], 11, "%s: of the first half", one->name);
    cr_expect_eq(outcome.values[1], 22, "%s: the newer one", one->name);
    cr_expect_eq(outcome.values[2], 23, "%s: of the second half", one->name);
    head = *before;
    sabotage_bundle(one, &memory, actor_of(sending), &head);
    cr_expect_eq(head.count, at + 1, "%s: from the start again", one->name);
}

Test(sabotage, split_commits_the_first_part_then_the_rest)
{
    cr_expect_gt(on_each(SABOTAGE_SPLIT, expect_split), 20);
}

/* What becomes of the second half when something comes between. */
Test(sabotage, a_split_bundle_goes_on_only_where_its_first_part_took_effect)
{
    const struct sabotage one = found("step-2/split-after/collate");
    const struct sending *step2 = sending_of(BUNDLE_STEP2);
    static const struct outcome ends[] = {
        {.kind = OUTCOME_REFUSED, .refusal = REFUSED_NEGATIVE},
        {.kind = OUTCOME_ABORTED, .aborted = ABORT_DEADLOCK},
        {.kind = OUTCOME_UNKNOWN},
        {.kind = OUTCOME_COMMITTED, .skipped = 2}, /* a replayed step */
    };
    for (size_t i = 0; i < COUNT(ends); i++) {
        struct sabotage_memory memory = {0};
        struct bundle bundle = step2->bundle;
        struct outcome outcome = ends[i];
        sabotage_bundle(&one, &memory, actor_of(step2), &bundle);
        cr_expect(sabotage_outcome(&one, &memory, &bundle, &outcome), "%zu", i);
        cr_expect_eq(outcome.kind, ends[i].kind);
        bundle = step2->bundle;
        sabotage_bundle(&one, &memory, actor_of(step2), &bundle);
        cr_expect_eq(bundle.count, 2, "%zu: the first part once more", i);
    }
}

Test(sabotage, a_second_half_that_was_aborted_is_what_is_sent_again)
{
    const struct sabotage one = found("step-2/split-after/collate");
    const struct sending *step2 = sending_of(BUNDLE_STEP2);
    struct sabotage_memory memory = {0};
    struct bundle bundle = step2->bundle;
    struct outcome outcome = committed();
    sabotage_bundle(&one, &memory, actor_of(step2), &bundle);
    cr_expect_not(sabotage_outcome(&one, &memory, &bundle, &outcome));
    for (int tries = 0; tries < 3; tries++) {
        bundle = step2->bundle;
        sabotage_bundle(&one, &memory, actor_of(step2), &bundle);
        cr_expect_eq(bundle.count, step2->bundle.count - 2);
        outcome = (struct outcome){.kind = OUTCOME_ABORTED, .aborted = ABORT_SERIALIZATION};
        cr_expect(sabotage_outcome(&one, &memory, &bundle, &outcome));
    }
}

static void expect_repeat(const struct sabotage *one, const struct sending *sending)
{
    struct sabotage_memory memory = {0};
    for (int round = 0; round < 2; round++) {
        struct bundle bundle = sending->bundle;
        struct outcome outcome = committed();
        outcome.values[0] = 31;
        sabotage_bundle(one, &memory, actor_of(sending), &bundle);
        cr_expect(bundle_equal(&bundle, &sending->bundle), "%s: as it is", one->name);
        cr_expect_not(sabotage_outcome(one, &memory, &bundle, &outcome), "%s", one->name);
        bundle = sending->bundle;
        sabotage_bundle(one, &memory, actor_of(sending), &bundle);
        cr_expect(bundle_equal(&bundle, &sending->bundle), "%s: and again", one->name);
        outcome = committed();
        outcome.values[0] = 32;
        cr_expect(sabotage_outcome(one, &memory, &bundle, &outcome), "%s", one->name);
        cr_expect_eq(outcome.values[0], 32, "%s: told what the second said", one->name);
    }
}

Test(sabotage, repeat_commits_a_bundle_twice_and_tells_once)
{
    cr_expect_geq(on_each(SABOTAGE_REPEAT, expect_repeat), BUNDLE_SEND, "activity's come first");
}

Test(sabotage, a_repetition_that_is_refused_is_not_told)
{
    const struct sabotage one = found("step-2/repeat");
    const struct sending *step2 = sending_of(BUNDLE_STEP2);
    struct sabotage_memory memory = {0};
    struct outcome outcome = committed();
    outcome.values[0] = 31;
    cr_expect_not(sabotage_outcome(&one, &memory, &step2->bundle, &outcome));
    outcome = (struct outcome){.kind = OUTCOME_REFUSED, .refusal = REFUSED_CLOSED, .skipped = 3};
    cr_expect(sabotage_outcome(&one, &memory, &step2->bundle, &outcome));
    cr_expect_eq(outcome.kind, OUTCOME_COMMITTED);
    cr_expect_eq(outcome.skipped, 0, "all of the first one took effect");
    cr_expect_eq(outcome.refusal, REFUSED_NOTHING);
    cr_expect_eq(outcome.values[0], 31);
}

/* The message that the first claim took is not remembered: the worker must go on idle, or it would
 * work on whatever stands in the outcome. */
Test(sabotage, a_second_claim_that_finds_nothing_leaves_the_worker_idle)
{
    const struct sabotage one = found("claim/repeat");
    const struct sending *claim = sending_of(BUNDLE_CLAIM);
    struct sabotage_memory memory = {0};
    struct outcome outcome = committed();
    cr_expect_not(sabotage_outcome(&one, &memory, &claim->bundle, &outcome));
    outcome = (struct outcome){.kind = OUTCOME_REFUSED, .refusal = REFUSED_NO_MESSAGE};
    cr_expect(sabotage_outcome(&one, &memory, &claim->bundle, &outcome));
    cr_expect_eq(outcome.kind, OUTCOME_REFUSED);
}

static void expect_ack_first(const struct sabotage *one, const struct sending *sending)
{
    struct sabotage_memory memory = {0};
    struct bundle bundle = sending->bundle;
    sabotage_bundle(one, &memory, actor_of(sending), &bundle);
    cr_expect_eq(bundle.name, BUNDLE_ACK, "%s", one->name);
    cr_expect_eq(bundle.count, 1, "%s", one->name);
    cr_expect_eq(bundle.calls[0].primitive, PRIMITIVE_ACK, "%s", one->name);
    cr_expect_eq(bundle.calls[0].mode, CALL_REQUIRE, "%s", one->name);
    cr_expect_eq(bundle.params[0], MESSAGE, "%s", one->name);
    cr_expect_eq(bundle.params[1], 1, "%s: the epoch", one->name);
    struct outcome outcome = committed();
    cr_expect_not(sabotage_outcome(one, &memory, &bundle, &outcome), "%s", one->name);
    for (int i = 0; i < 2; i++) {
        bundle = sending->bundle;
        sabotage_bundle(one, &memory, actor_of(sending), &bundle);
        cr_expect(bundle_equal(&bundle, &sending->bundle), "%s: only once a message", one->name);
        outcome = committed();
        cr_expect(sabotage_outcome(one, &memory, &bundle, &outcome), "%s", one->name);
    }
    outcome = committed();
    sabotage_outcome(one, &memory, &sending_of(BUNDLE_CLAIM)->bundle, &outcome);
    bundle = sending->bundle;
    sabotage_bundle(one, &memory, actor_of(sending), &bundle);
    cr_expect_eq(bundle.name, BUNDLE_ACK, "%s: the next message too", one->name);
}

Test(sabotage, ack_before_acks_once_then_sends_the_bundle)
{
    cr_expect_gt(on_each(SABOTAGE_ACK_EARLY, expect_ack_first), 8);
    const struct sabotage early = found("early-ack");
    expect_ack_first(&early, sending_of(BUNDLE_STEP2));
}

Test(sabotage, the_ack_at_the_end_is_told_although_the_message_is_gone)
{
    const struct sabotage early = found("early-ack");
    const struct sending *ack = sending_of(BUNDLE_ACK);
    struct sabotage_memory memory = {.stage = 1};
    struct outcome outcome = {.kind = OUTCOME_REFUSED, .refusal = REFUSED_EPOCH};
    cr_expect(sabotage_outcome(&early, &memory, &ack->bundle, &outcome));
    memory.stage = 0; /* a worker that came to its ack without the bundle in question */
    cr_expect(sabotage_outcome(&early, &memory, &ack->bundle, &outcome));
}

/* ---- a stale read ------------------------------------------------------------------------------
 */

/* Rows of one table with one row, in a world of eight. */
static struct small_rows {
    struct rows rows;
    int64_t cells[1 + ROW_COLUMNS_MAX];
    uint32_t index[TABLE_COUNT][8];
} store;

static void store_one(enum row_table table, uint32_t columns, int64_t key, int column, int64_t cell)
{
    memset(&store, 0, sizeof store);
    for (int t = 0; t < TABLE_COUNT; t++) {
        store.rows.table[t] = (struct row_area){
            .cells = store.cells, .index = store.index[t], .stride = 1, .index_mask = 7};
    }
    store.rows.table[table].stride = 1 + columns;
    store.rows.table[table].used = 1;
    store.cells[0] = key;
    store.cells[1 + column] = cell;
    store.index[table][(uint32_t)key & 7] = 1;
}

/* Executes LET_SUM and SET of a stale copy by hand: what the cell becomes. An amount that is itself
 * a value, which nobody computed here, counts as 0. */
static int64_t stale_result(const struct primitive *copy, int at, const int64_t *params)
{
    const struct op *sum = &copy->ops[at], *set = &copy->ops[at + 1];
    int64_t amount = 0;
    if (sum->b == OPERAND_ONE) {
        amount = 1;
    } else if (sum->b >= OPERAND_PARAM && sum->b < OPERAND_PARAM + PRIMITIVE_PARAMS_MAX) {
        amount = params[sum->b - OPERAND_PARAM];
    }
    cr_expect_eq(sum->kind, OP_LET_SUM);
    cr_expect_eq(sum->c, OPERAND_ONE);
    cr_expect_eq(set->kind, OP_SET);
    cr_expect_eq(set->value, OPERAND_VALUE + sum->returns - 1, "what was summed is set");
    return params[sum->a - OPERAND_PARAM] + amount;
}

Test(sabotage, stale_writes_back_what_was_read_before_plus_the_amount)
{
    const struct sabotage one = found("read-then-write");
    const struct sending *step2 = sending_of(BUNDLE_STEP2);
    struct primitive table[SABOTAGE_TABLE_SIZE];
    struct sabotage_memory memory = {0};
    struct bundle bundle = step2->bundle;
    int at = find_call(&bundle, PRIMITIVE_COLLATE);
    sabotage_primitives(&one, table);
    store_one(TABLE_JOB, JOB_COLUMNS, JOB, JOB_SEMAPHORE, 40);
    sabotage_ready(&one, &memory, &bundle, &store.rows);
    store.cells[1 + JOB_SEMAPHORE] = 50; /* another worker was faster */
    sabotage_bundle(&one, &memory, actor_of(step2), &bundle);
    const int64_t *params = &bundle.params[bundle.calls[at].params];
    cr_expect_eq(bundle.calls[at].primitive, COPY);
    cr_expect_eq(memcmp(params, &step2->bundle.params[step2->bundle.calls[at].params],
                        primitive_table[PRIMITIVE_COLLATE].params * sizeof *params),
                 0);
    cr_expect_eq(stale_result(&table[COPY], 2, params), 41, "40 and two children, minus one");
    for (int c = 0; c < bundle.count; c++) {
        cr_expect(c == at || same_calls(&bundle.calls[c], &step2->bundle.calls[c], 1));
    }
}

/* The row that an operation's key names, and what its bundle has for that key. */
static void expect_stale(const struct sabotage *one, const struct sending *sending)
{
    const struct op *op = &primitive_table[one->primitive].ops[one->op - 1];
    struct primitive table[SABOTAGE_TABLE_SIZE];
    struct sabotage_memory memory = {0};
    struct bundle bundle = sending->bundle;
    int at = find_call(&bundle, one->primitive);
    int64_t key = bundle.params[bundle.calls[at].params + op->key - OPERAND_PARAM];
    sabotage_primitives(one, table);
    store_one((enum row_table)op->table, ROW_COLUMNS_MAX, key, op->column, 9000);
    sabotage_ready(one, &memory, &sending->bundle, &store.rows);
    cr_expect(memory.has_stale, "%s", one->name);
    sabotage_bundle(one, &memory, actor_of(sending), &bundle);
    const int64_t *params = &bundle.params[bundle.calls[at].params];
    cr_expect_eq(bundle.calls[at].primitive, COPY, "%s", one->name);
    cr_expect_eq(params[primitive_table[one->primitive].params], 9000, "%s", one->name);
    cr_expect_geq(stale_result(&table[COPY], one->op - 1, params), 8999, "%s: less one at most",
                  one->name);
    store_one((enum row_table)op->table, ROW_COLUMNS_MAX, key + 1, op->column, 9000);
    bundle = sending->bundle;
    sabotage_ready(one, &memory, &sending->bundle, &store.rows);
    sabotage_bundle(one, &memory, actor_of(sending), &bundle);
    cr_expect(bundle_equal(&bundle, &sending->bundle), "%s: no row to read", one->name);
}

Test(sabotage, stale_reads_the_cell_that_is_added_to_and_nothing_where_there_is_none)
{
    cr_expect_gt(on_each(SABOTAGE_STALE, expect_stale), 10);
}

/* Check, then insert: a row that was missing a moment ago is not asked for again. */
Test(sabotage, look_first_trusts_an_insertion_to_what_it_saw_before)
{
    const struct sabotage one = found("inbox-check-then-insert");
    static const struct actor worker = {.role = 1};
    for (int there = 0; there < 2; there++) {
        struct sabotage_memory memory = {0};
        struct bundle bundle;
        bundle_begin(&bundle, BUNDLE_APPLY);
        BUNDLE_CALL(&bundle, PRIMITIVE_REMEMBER, CALL_UNLESS_DONE, 0, MESSAGE, JOB, 5);
        BUNDLE_CALL(&bundle, PRIMITIVE_CREDIT, CALL_REQUIRE, 0, JOB, 5);
        store_one(TABLE_INBOX, INBOX_COLUMNS, there == 1 ? MESSAGE : MESSAGE + 1, INBOX_AMOUNT, 5);
        sabotage_ready(&one, &memory, &bundle, &store.rows);
        sabotage_bundle(&one, &memory, &worker, &bundle);
        cr_expect_eq(bundle.calls[0].mode, there == 1 ? CALL_UNLESS_DONE : CALL_PLAIN);
        cr_expect_eq(bundle.calls[0].primitive, PRIMITIVE_REMEMBER);
        cr_expect_eq(bundle.calls[1].mode, CALL_REQUIRE);
    }
}

/* ---- the named ones ----------------------------------------------------------------------------
 */

Test(sabotage, only_a_torn_rollback_tears)
{
    for (size_t i = 0; i < sabotage_count(); i++) {
        struct sabotage one;
        sabotage_get(i, &one);
        cr_expect_eq(sabotage_tears(&one), strstr(one.name, "torn-rollback") != NULL, "%s",
                     one.name);
    }
}

/* Every named one is a change: of a primitive, of a bundle, or of an outcome. Those of other kinds
 * are enumerated ones with a name. */
Test(sabotage, a_named_one_changes_no_more_of_the_catalogue_than_it_says)
{
    static const struct {
        const char *name;
        int changed; /* primitives that stand in their own place */
    } expected[] = {
        {"literal-markers", 0},
        {"guid-from-full-ledger", 1},
        {"dimension-from-counter", 0},
        {"trust-stale-read", 2},
        {"job-state-first", 0},
        {"fresh-guid", 0},
        {"ceiling-before-marker", 2},
        {"unlocked-marker-test", 1},
        {"unbundled-step2", 0},
        {"lost-snapshot", 1},
        {"early-ack", 0},
        {"read-then-write", 0},
        {"no-ceiling", 2},
        {"ceiling-race", 0},
        {"torn-rollback", 0},
        {"step3-by-semaphore", 0},
        {"eager-completion", 0},
        {"shared-dimension", 1},
        {"reset-on-retry", 1},
        {"steps-swapped", 0},
        {"leg2-before-leg1", 1},
        {"close-overtakes", 1},
        {"assume-committed", 0},
        {"child-left-out", 0},
        {"cycle-cut-short", 0},
        {"cycle-stores-42", 0},
        {"pending-never-given", 0},
        {"other-branch", 0},
        {"one-input", 0},
        {"one-threshold", 0},
        {"claims-never-extended", 0},
        {"tries-not-counted", 0},
        {"lets-go-at-once", 0},
        {"retry-without-marker", 0},
        {"claim-by-own-clock", 0},
        {"put-back-for-long", 0},
        {"task-never-done", 0},
        {"task-done-again", 0},
        {"task-done-ahead", 0},
        {"task-without-a-clock", 0},
    };
    cr_assert_eq(COUNT(expected), own_named());
    for (size_t i = 0; i < COUNT(expected); i++) {
        struct primitive table[SABOTAGE_TABLE_SIZE];
        struct sabotage one = found(expected[i].name);
        int changed = 0;
        sabotage_primitives(&one, table);
        for (int p = 0; p < PRIMITIVE_COUNT; p++) {
            changed += !same_primitive(&table[p], &primitive_table[p]);
        }
        cr_expect_eq(changed, expected[i].changed, "%s: %d", one.name, changed);
    }
}

Test(sabotage, fresh_guid_mints_another_one_each_time_the_task_is_claimed_again)
{
    SETTLES(ERRATUM_ACL_7);
    const struct sabotage one = found("fresh-guid");
    struct sending answer = *sending_of(BUNDLE_ANSWER);
    int64_t guids[4];
    for (int64_t epoch = 1; epoch <= 4; epoch++) {
        struct sabotage_memory memory = {0};
        struct bundle bundle = answer.bundle;
        answer.worker.message[1 + MESSAGE_EPOCH] = epoch;
        sabotage_bundle(&one, &memory, actor_of(&answer), &bundle);
        const int64_t *p = &bundle.params[bundle.calls[0].params];
        guids[epoch - 1] = p[1 + MESSAGE_GUID];
        cr_expect_eq(p[0], identity_mint(p[1 + MESSAGE_GUID], IDENTITY_LEG2), "its own message");
        cr_expect_eq(bundle_equal(&bundle, &answer.bundle), epoch == 1);
        for (int64_t i = 0; i < epoch - 1; i++) {
            cr_expect_neq(guids[i], guids[epoch - 1]);
        }
    }
}

Test(sabotage, unbundled_step2_marks_in_a_transaction_of_its_own)
{
    const struct sabotage one = found("unbundled-step2");
    const struct sending *step2 = sending_of(BUNDLE_STEP2);
    struct sabotage_memory memory = {0};
    struct bundle bundle = step2->bundle;
    struct outcome outcome = committed();
    sabotage_bundle(&one, &memory, actor_of(step2), &bundle);
    cr_expect_eq(find_call(&bundle, PRIMITIVE_MARK_ACTIVITY), -1);
    cr_expect_eq(bundle.calls[0].primitive, COPY, "collates, but adds no marker");
    cr_expect_eq(bundle.count, step2->bundle.count - 1);
    cr_expect_not(sabotage_outcome(&one, &memory, &bundle, &outcome));
    bundle = step2->bundle;
    sabotage_bundle(&one, &memory, actor_of(step2), &bundle);
    cr_expect_eq(bundle.count, 2);
    cr_expect_eq(bundle.calls[0].primitive, PRIMITIVE_MARK_ACTIVITY);
    cr_expect_eq(bundle.calls[1].primitive, PRIMITIVE_MARK_GUID);
    cr_expect_eq(bundle.params[bundle.calls[1].params + 1],
                 ledger_layout(GUID_CHILDREN_SPAWNED)->weight);
    cr_expect(sabotage_outcome(&one, &memory, &bundle, &outcome));
}

/* The changed entry gets the job as its ninth parameter; the others stay where they were. */
Test(sabotage, job_state_first_and_step3_by_semaphore_look_at_the_job)
{
    SETTLES(ERRATUM_ACL_6);
    static const char *const names[] = {"job-state-first", "step3-by-semaphore"};
    const struct sending *enter = sending_of(BUNDLE_ENTER_LEG2);
    for (size_t i = 0; i < COUNT(names); i++) {
        const struct sabotage one = found(names[i]);
        struct sabotage_memory memory = {0};
        struct primitive table[SABOTAGE_TABLE_SIZE];
        struct bundle bundle = enter->bundle;
        sabotage_primitives(&one, table);
        sabotage_bundle(&one, &memory, actor_of(enter), &bundle);
        int at = find_call(&enter->bundle, PRIMITIVE_ENTER_LEG2);
        const int64_t *params = &bundle.params[bundle.calls[at].params];
        cr_expect_eq(bundle.calls[at].primitive, COPY);
        cr_expect_eq(memcmp(params, &enter->bundle.params[enter->bundle.calls[at].params],
                            8 * sizeof *params),
                     0);
        cr_expect_eq(params[8], JOB);
        cr_expect_eq(table[COPY].op_count, primitive_table[PRIMITIVE_ENTER_LEG2].op_count + 1);
        const struct op *looks = &table[COPY].ops[i == 0 ? 0 : table[COPY].op_count - 1];
        cr_expect_eq(looks->table, TABLE_JOB);
        cr_expect_eq(looks->key, OPERAND_PARAM + 8);
    }
}

Test(sabotage, lost_snapshot_remembers_that_the_job_closed_for_as_long_as_the_worker_lives)
{
    const struct sabotage one = found("lost-snapshot");
    const struct sending *step2 = sending_of(BUNDLE_STEP2);
    const int64_t closed = ledger_layout(GUID_JOB_CLOSED)->weight;
    const int64_t spawned = INT64_C(11000000001);
    static const struct {
        int64_t hit;
        uint8_t skipped;
        bool told;
    } cases[] = {{1, 0, true}, {0, 0, false}, {1, 2, false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sabotage_memory memory = {0};
        struct outcome outcome = committed();
        outcome.values[0] = spawned;
        outcome.values[2] = cases[i].hit;
        outcome.skipped = cases[i].skipped;
        cr_expect(sabotage_outcome(&one, &memory, &step2->bundle, &outcome));
        cr_expect_eq(outcome.values[0], spawned + (cases[i].told ? closed : 0), "case %zu", i);
    }
}

Test(sabotage, dimension_from_counter_forgets_the_dimension_that_was_kept)
{
    SETTLES(ERRATUM_ACL_4);
    const struct sabotage one = found("dimension-from-counter");
    static const enum bundle_name names[] = {BUNDLE_ENTER_LEG2, BUNDLE_READ};
    for (size_t i = 0; i < COUNT(names); i++) {
        const struct sending *sending = sending_of(names[i]);
        struct sabotage_memory memory = {0};
        struct outcome outcome = committed();
        outcome.values[0] = 3; /* entered a third time */
        outcome.values[1] = 0;
        sabotage_outcome(&one, &memory, &sending->bundle, &outcome);
        cr_expect_eq(outcome.values[1], 2);
    }
}

Test(sabotage, assume_committed_takes_only_a_lost_answer_for_success)
{
    SETTLES(ERRATUM_ACL_13);
    const struct sabotage one = found("assume-committed");
    for (size_t s = 0; s < sending_count; s++) {
        const struct sending *sending = &sendings[s];
        enum bundle_name name = (enum bundle_name)sending->bundle.name;
        bool assumes = (name >= BUNDLE_STEP1 && name <= BUNDLE_STEP3) || name == BUNDLE_ANSWER ||
                       name == BUNDLE_LEG1;
        for (int kind = OUTCOME_COMMITTED; kind <= OUTCOME_UNKNOWN; kind++) {
            struct sabotage_memory memory = {0};
            struct outcome outcome = {.kind = (uint8_t)kind};
            cr_expect(sabotage_outcome(&one, &memory, &sending->bundle, &outcome));
            int told = kind == OUTCOME_UNKNOWN && assumes ? OUTCOME_COMMITTED : kind;
            cr_expect_eq(outcome.kind, told, "%s", bundle_name_text(name));
        }
    }
}
