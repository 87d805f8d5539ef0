/* What the bench is worth: every planted bug is found, by the promise that it breaks, and what is
 * listed as equivalent is not. There are some thousand of them: with ASSAY_FULL set, all are tried,
 * else one in so many of those that are enumerated. */
#include "sim/kill.h"

#include "model/ledger.h"
#include "model/tests/proves.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BASE_SEEDS     (is_full() ? 5 : 1)
#define SEEDS_BETWEEN  UINT64_C(1000000)        /* two hunts never share a schedule */
#define WITHIN         1000                     /* schedules, for a named one */
#define WITHIN_AT_MOST 10000                    /* for an enumerated one */
#define NOT_WITHIN     (is_full() ? 3000 : 300) /* for an equivalent one */
#define ONE_IN         (is_full() ? 1 : 12)     /* of the enumerated ones is tried */

static struct scenario scenario;
static struct run run;

static bool is_full(void)
{
    return getenv("ASSAY_FULL") != NULL;
}

static struct sabotage found(const char *name)
{
    struct sabotage sabotage;
    cr_assert(sabotage_find(name, &sabotage), "%s", name);
    return sabotage;
}

static struct kill hunt(const struct sabotage *sabotage, uint64_t base_seed, uint32_t schedules,
                        const bool *without)
{
    struct kill_hunting hunting = {
        .base_seed = base_seed, .schedules_max = schedules, .without = without};
    struct kill kill;
    cr_assert(kill_hunt(sabotage, &hunting, &kill));
    cr_expect_leq(kill.schedules, schedules);
    cr_expect(kill.found || kill.schedules == schedules, "%s: gave up early", sabotage->name);
    cr_expect_eq(kill.disputes, 0U, "%s, %s seed %d: the sound engine breaks %s, too",
                 sabotage->name, kill.dispute.scenario, (int)kill.dispute.seed,
                 kill.dispute.breach.why);
    return kill;
}

static void make(const char *name, const struct sabotage *sabotage)
{
    struct error error;
    cr_assert(scenario_load(name, &scenario, &error), "%s", error.text);
    cr_assert(run_make(&run, &scenario, sabotage));
}

static const struct run_result *run_seed(uint64_t seed)
{
    struct choice_source source = run_draw(&run, seed);
    return run_once(&run, &source);
}

/* ---- the named ones ----------------------------------------------------------------------------
 */

/* Which promises find it. Several where it depends on who comes first. */
static const struct killer {
    const char *name;
    enum clause_id clauses[6];
    int count;
} killers[] = {
    {"literal-markers", {CLAUSE_ACL_5}, 1}, /* E-ACL-2 */
    {"guid-from-full-ledger", {CLAUSE_ACL_14}, 1},
    {"dimension-from-counter", {CLAUSE_ACL_32}, 1}, /* E-ACL-4 */
    {"trust-stale-read", {CLAUSE_ACL_16, CLAUSE_ACL_18, CLAUSE_ACL_29, CLAUSE_ACL_11}, 4},
    {"job-state-first", {CLAUSE_ACL_30}, 1},
    {"fresh-guid", {CLAUSE_ACL_19}, 1},
    {"ceiling-before-marker", {CLAUSE_ACL_6}, 1},
    {"unlocked-marker-test", {CLAUSE_ACL_29}, 1},
    {"unbundled-step2", {CLAUSE_ACL_17}, 1},
    {"lost-snapshot", {CLAUSE_ACL_21}, 1},
    {"early-ack", {CLAUSE_ACL_30}, 1},
    {"read-then-write", {CLAUSE_ACL_17, CLAUSE_ACL_19}, 2},
    {"no-ceiling", {CLAUSE_ACL_43}, 1},
    {"ceiling-race", {CLAUSE_ACL_43}, 1},
    {"torn-rollback", {CLAUSE_ACL_2}, 1},
    {"step3-by-semaphore", {CLAUSE_ACL_44}, 1},
    {"eager-completion", {CLAUSE_ACL_26}, 1},
    {"shared-dimension", {CLAUSE_ACL_32}, 1},
    {"reset-on-retry", {CLAUSE_ACL_33, CLAUSE_ACL_13}, 2},
    {"steps-swapped", {CLAUSE_ACL_41}, 1},
    {"leg2-before-leg1", {CLAUSE_ACL_45}, 1},
    {"close-overtakes", {CLAUSE_ACL_19}, 1},
    {"assume-committed", {CLAUSE_ACL_30, CLAUSE_ACL_26, CLAUSE_ACL_41}, 3},
    {"child-left-out", {CLAUSE_ACL_17}, 1},
    {"cycle-cut-short", {CLAUSE_ACL_17}, 1},
    {"cycle-stores-42", {CLAUSE_ACL_32}, 1},
    {"pending-never-given", {CLAUSE_ACL_19, CLAUSE_ACL_29}, 2},
    {"other-branch", {CLAUSE_ACL_17}, 1},
    {"one-input", {CLAUSE_ACL_32, CLAUSE_ACL_29}, 2},
    {"one-threshold", {CLAUSE_ACL_21}, 1},
    {"claims-never-extended", {CLAUSE_ACL_47}, 1}, /* E-ACL-34 */
    {"put-back-for-long", {CLAUSE_ACL_47}, 1},     /* E-ACL-20 */
    {"tries-not-counted",
     {CLAUSE_ACL_48, CLAUSE_ACL_47},
     2}, /* E-ACL-13: it learns no time either */
    {"lets-go-at-once", {CLAUSE_ACL_48}, 1},
    {"retry-without-marker", {CLAUSE_ACL_16, CLAUSE_ACL_18}, 2}, /* E-ACL-13 */
    {"task-never-done", {CLAUSE_ACL_46}, 1},
    {"task-done-again", {CLAUSE_ACL_46}, 1},
    {"task-done-ahead", {CLAUSE_ACL_46}, 1},
    {"inbox-check-then-insert", {CLAUSE_BOX_1}, 1},
    {"inbox-split", {CLAUSE_BOX_1}, 1},
    {"inbox-one-account", {CLAUSE_BOX_1}, 1},
    {"inbox-by-delivery", {CLAUSE_BOX_1}, 1},
    {"inbox-in-order", {CLAUSE_BOX_1, CLAUSE_BOX_2}, 2},
    {"inbox-wrong-amount", {CLAUSE_BOX_1}, 1},
    {"inbox-tried-for-ever", {CLAUSE_BOX_3}, 1}, /* E-ACL-13 */
    {"inbox-let-go-at-once", {CLAUSE_BOX_3}, 1},
    {"legacy-typo-increment", {CLAUSE_LEG_1}, 1},    /* E-LEG-1 */
    {"legacy-ceiling-unchecked", {CLAUSE_LEG_5}, 1}, /* E-LEG-2 */
    {"legacy-parent-resets", {CLAUSE_LEG_9}, 1},
    {"legacy-late-call-not-undone", {CLAUSE_LEG_7}, 1},
    {"legacy-publish-before-save", {CLAUSE_LEG_9}, 1},
    {"legacy-success-as-pending", {CLAUSE_LEG_4}, 1},
    {"legacy-child-forgotten", {CLAUSE_LEG_12}, 1},
    {"legacy-pending-forgotten", {CLAUSE_LEG_3}, 1},
    {"legacy-calls-forgotten", {CLAUSE_LEG_3}, 1},
    {"legacy-wrong-input", {CLAUSE_LEG_12}, 1},
    {"legacy-other-data", {CLAUSE_LEG_12}, 1},
    {"legacy-other-node", {CLAUSE_LEG_12}, 1},
    {"legacy-work-never-done", {CLAUSE_LEG_11}, 1},
    {"legacy-work-done-again", {CLAUSE_LEG_11}, 1},
    {"legacy-work-done-ahead", {CLAUSE_LEG_11}, 1},
    {"blind-decrement", {CLAUSE_KEY_8, CLAUSE_KEY_10}, 2}, /* 10: on a flow that is complete */
    {"split-completion", {CLAUSE_KEY_10}, 1},
    {"skip-forgets-descendants", {CLAUSE_KEY_5}, 1},
    {"complete-from-stale-key", {CLAUSE_KEY_10}, 1},
    {"success-as-skip", {CLAUSE_SEQ_21}, 1},
    {"owner-by-name", {CLAUSE_SEQ_22, CLAUSE_SEQ_12}, 2},
    {"run-without-a-clock", {CLAUSE_SEQ_9}, 1}, /* E-SEQ-16 */
    {"heartbeat-by-own-clock", {CLAUSE_SEQ_19}, 1},
    {"lease-clock-for-wall", {CLAUSE_SEQ_4}, 1},
    {"retry-in-one-commit", {CLAUSE_SEQ_3}, 1},
    {"commit-without-event", {CLAUSE_SEQ_13, CLAUSE_SEQ_6}, 2},
    {"retry-unseen", {CLAUSE_SEQ_2}, 1},
    {"task-without-a-clock", {CLAUSE_ACL_47}, 1}, /* E-ACL-34 */
    {"claim-by-own-clock", {CLAUSE_ACL_47}, 1},
    {"other-budget", {CLAUSE_SEQ_21}, 1},
    {"seqs-from-one", {CLAUSE_SEQ_21}, 1},
    {"flow-in-another-case", {CLAUSE_KEY_1}, 1},
    {"branches-of-another-case", {CLAUSE_KEY_1}, 1},
    {"positions-out-of-order", {CLAUSE_KEY_2}, 1},
    {"release-without-pause", {CLAUSE_KEY_8}, 1},
    {"error-without-skip", {CLAUSE_KEY_5}, 1},
    {"paused-is-complete", {CLAUSE_KEY_10}, 1},
    {"await-does-not-wait", {CLAUSE_KEY_8}, 1},
    {"join-for-each-parent", {CLAUSE_KEY_8}, 1},
    {"hold-completes", {CLAUSE_KEY_1}, 1},
    {"error-completes", {CLAUSE_KEY_1, CLAUSE_KEY_5}, 2},
    {"judge-outside-lock", {CLAUSE_KEY_5, CLAUSE_KEY_10}, 2},
    {"activity-never-done", {CLAUSE_KEY_11}, 1},
    {"activity-done-again", {CLAUSE_KEY_11}, 1},
    {"activity-done-ahead", {CLAUSE_KEY_11}, 1},
    {"key-tried-for-ever", {CLAUSE_KEY_12}, 1}, /* E-ACL-13 */
    {"key-let-go-at-once", {CLAUSE_KEY_12}, 1},
    {"read-restarts-tries", {CLAUSE_KEY_12}, 1},
    {"pipeline-hands-on-for-ever", {CLAUSE_CUT_12}, 1},
    {"pipeline-hands-on-once", {CLAUSE_CUT_12}, 1},
    {"review-without-entry-write", {CLAUSE_CUT_8}, 1}, /* E-CUT-11 */
    {"pipeline-status-without-cas", {CLAUSE_CUT_15, CLAUSE_CUT_27}, 2},
    {"pipeline-guard-outside-transaction", {CLAUSE_CUT_8}, 1},
    {"pipeline-superseded-twice", {CLAUSE_CUT_7}, 1}, /* E-CUT-9 */
    {"pipeline-verifier-is-executor", {CLAUSE_CUT_11}, 1},
    {"pipeline-second-live-change-set",
     {CLAUSE_CUT_8, CLAUSE_CUT_15, CLAUSE_CUT_2, CLAUSE_CUT_27, CLAUSE_CUT_30},
     5},
    {"pipeline-assume-committed", {CLAUSE_CUT_2, CLAUSE_CUT_14, CLAUSE_CUT_30}, 3}, /* E-CUT-16 */
    {"pipeline-torn-rollback", {CLAUSE_CUT_19}, 1},
    {"pipeline-delete-to-undo", {CLAUSE_CUT_21, CLAUSE_CUT_12}, 2},
    {"pipeline-second-review",
     {CLAUSE_CUT_18, CLAUSE_CUT_16, CLAUSE_CUT_15, CLAUSE_CUT_27, CLAUSE_CUT_2, CLAUSE_CUT_30},
     6},
    {"pipeline-second-verify",
     {CLAUSE_CUT_16, CLAUSE_CUT_18, CLAUSE_CUT_10, CLAUSE_CUT_2, CLAUSE_CUT_31},
     5}, /* E-CUT-3 */
    {"pipeline-verifier-stamps-set", {CLAUSE_CUT_24}, 1},
    {"pipeline-history-from-nothing", {CLAUSE_CUT_25}, 1},
    {"pipeline-reverify-reopens", {CLAUSE_CUT_27}, 1},    /* E-CUT-12 */
    {"pipeline-verify-compensation", {CLAUSE_CUT_28}, 1}, /* E-CUT-4 */
    {"pipeline-drops-rereview", {CLAUSE_CUT_2}, 1},
    {"pipeline-drops-reverify", {CLAUSE_CUT_2}, 1},
    {"pipeline-neither-lock-nor-cas", {CLAUSE_CUT_16}, 1}, /* E-CUT-5 */
    {"pipeline-reviews-escalation", {CLAUSE_CUT_29}, 1},   /* E-CUT-20 */
    {"pipeline-asks-for-opposite", {CLAUSE_CUT_30}, 1},
    {"pipeline-finds-opposite", {CLAUSE_CUT_30}, 1},
    {"pipeline-review-id-collides", {CLAUSE_CUT_30}, 1},
    {"pipeline-approval-is-final", {CLAUSE_CUT_2}, 1},
    {"pipeline-cut-forgets-row", {CLAUSE_CUT_9}, 1},
    {"pipeline-undo-forgets-row", {CLAUSE_CUT_21}, 1},
    {"pipeline-tells-other-reason", {CLAUSE_CUT_14}, 1},
    {"pipeline-no-lock", {CLAUSE_CUT_16}, 1},
    {"pipeline-lock-late", {CLAUSE_CUT_16}, 1},
    {"pipeline-cut-read-committed", {CLAUSE_CUT_17}, 1},
    {"pipeline-verify-read-committed", {CLAUSE_CUT_17}, 1},
    {"pipeline-review-serializable", {CLAUSE_CUT_17}, 1},
    {"pipeline-read-committed", {CLAUSE_CUT_17}, 1}, /* E-CUT-13 */
    {"pipeline-tries-untold", {CLAUSE_CUT_12}, 1},   /* E-CUT-16 */
    {"pipeline-tries-start-anew", {CLAUSE_CUT_12}, 1},
    {"pipeline-tries-not-counted", {CLAUSE_CUT_12}, 1},
    {"pipeline-gives-up-early", {CLAUSE_CUT_12}, 1},
    {"pipeline-puts-back-for-ever", {CLAUSE_CUT_12}, 1},      /* E-CUT-16 */
    {"pipeline-turned-away-not-counted", {CLAUSE_CUT_12}, 1}, /* E-CUT-15 */
    {"pipeline-sweeps-for-ever", {CLAUSE_CUT_12}, 1},         /* E-CUT-21 */
    {"pipeline-sweeps-once", {CLAUSE_CUT_12}, 1},
    {"pipeline-follows-first-signature", {CLAUSE_CUT_32}, 1},
    {"pipeline-compensation-without-escalation", {CLAUSE_CUT_29}, 1},
    {"pipeline-mark-does-not-look", {CLAUSE_CUT_5}, 1},
    {"pipeline-split-cut", {CLAUSE_CUT_9}, 1},
    {"pipeline-split-verify", {CLAUSE_CUT_10}, 1},
    {"examination-never-done", {CLAUSE_CUT_31}, 1},
    {"examination-done-again", {CLAUSE_CUT_31}, 1},
    {"examination-done-ahead", {CLAUSE_CUT_31}, 1},
    {"late-result-accepted", {CLAUSE_SEQ_12, CLAUSE_SEQ_3}, 2},
    {"second-terminal-event", {CLAUSE_SEQ_6}, 1},
    {"reclaim-without-policy", {CLAUSE_SEQ_13}, 1},
    {"heartbeat-revives", {CLAUSE_SEQ_12, CLAUSE_SEQ_19}, 2},
    {"owner-not-revoked", {CLAUSE_SEQ_12}, 1},
    {"token-without-attempt", {CLAUSE_SEQ_12, CLAUSE_SEQ_19}, 2},
    {"heartbeat-ahead", {CLAUSE_SEQ_19}, 1},
    {"retry-too-often", {CLAUSE_SEQ_13}, 1},
    {"reclaim-by-mood", {CLAUSE_SEQ_11}, 1},
    {"reclaim-late", {CLAUSE_SEQ_10}, 1},        /* E-SEQ-17 */
    {"heartbeat-never-sent", {CLAUSE_SEQ_9}, 1}, /* E-SEQ-16 */
    {"attempts-not-counted", {CLAUSE_SEQ_13}, 1},
    {"counter-forgotten", {CLAUSE_SEQ_16}, 1},
    {"lease-not-required", {CLAUSE_SEQ_8}, 1},
    {"event-apart", {CLAUSE_SEQ_6}, 1},
    {"reclaim-trusts-look", {CLAUSE_SEQ_10}, 1},
    {"cancel-without-grace", {CLAUSE_SEQ_15}, 1},
    {"illegal-accepted", {CLAUSE_SEQ_3, CLAUSE_SEQ_8, CLAUSE_SEQ_6}, 3},
    {"latch-forgotten", {CLAUSE_SEQ_3}, 1}, /* E-SEQ-15 */
    {"fact-forgotten", {CLAUSE_SEQ_4}, 1},
    {"work-after-halt", {CLAUSE_SEQ_20}, 1},
    {"run-never-done", {CLAUSE_SEQ_22}, 1},
    {"run-done-again", {CLAUSE_SEQ_22}, 1},
    {"run-done-ahead", {CLAUSE_SEQ_22}, 1},
};

static bool is_killer(const struct killer *killer, enum clause_id clause)
{
    for (int i = 0; i < killer->count; i++) {
        if (killer->clauses[i] == clause) {
            return true;
        }
    }
    return false;
}

Test(kill, every_named_sabotage_is_found_within_1000_schedules_from_any_base_seed)
{
    SETTLES(ERRATUM_ACL_2, ERRATUM_ACL_3, ERRATUM_ACL_4, ERRATUM_ACL_5, ERRATUM_ACL_6,
            ERRATUM_ACL_7, ERRATUM_ACL_13, ERRATUM_ACL_16, ERRATUM_ACL_20, ERRATUM_ACL_25,
            ERRATUM_ACL_34, ERRATUM_LEG_1, ERRATUM_LEG_2, ERRATUM_SEQ_16, ERRATUM_SEQ_17,
            ERRATUM_CUT_16);
    cr_assert_eq(COUNT(killers), sabotage_named_count());
    for (size_t i = 0; i < COUNT(killers); i++) {
        const struct sabotage sabotage = found(killers[i].name);
        for (int base = 0; base < BASE_SEEDS; base++) {
            struct kill kill = hunt(&sabotage, 1 + (uint64_t)base * SEEDS_BETWEEN, WITHIN, NULL);
            cr_assert(kill.found, "%s, base seed %d", sabotage.name, base);
            cr_expect(is_killer(&killers[i], kill.breach.clause), "%s: %s", sabotage.name,
                      clause_get(kill.breach.clause)->id);
        }
    }
}

Test(kill, what_is_told_of_a_kill_can_be_run_again)
{
    for (size_t i = 0; i < sabotage_named_count(); i += is_full() ? 1 : 3) {
        struct sabotage sabotage;
        sabotage_get(i, &sabotage);
        struct kill kill = hunt(&sabotage, 77, WITHIN, NULL),
                    same = hunt(&sabotage, 77, WITHIN, NULL);
        cr_expect_eq(kill.schedules, same.schedules, "%s", sabotage.name);
        cr_expect_eq(kill.seed, same.seed, "%s", sabotage.name);
        make(kill.scenario, &sabotage);
        const struct run_result *result = run_seed(kill.seed);
        cr_expect_eq(result->verdict, RUN_BROKEN, "%s", sabotage.name);
        cr_expect_eq(result->breach.clause, kill.breach.clause, "%s", sabotage.name);
        cr_expect_eq(result->oracle, kill.oracle, "%s", sabotage.name);
        cr_expect_eq(result->steps, kill.steps, "%s", sabotage.name);
        run_free(&run);
        make(kill.scenario, NULL);
        cr_expect_eq(run_seed(kill.seed)->verdict, RUN_HELD, "%s", sabotage.name);
        run_free(&run);
    }
}

/* Of orders that are rare at random, and of what both find at once. */
Test(kill, pct_finds_sabotages_of_every_protocol_and_what_is_told_can_be_run_again)
{
    static const char *const names[] = {"trust-stale-read",        "job-state-first",
                                        "close-overtakes",         "inbox-check-then-insert",
                                        "legacy-parent-resets",    "release-without-pause",
                                        "complete-from-stale-key", "review-without-entry-write",
                                        "reclaim-trusts-look",     "late-result-accepted"};
    struct kill_hunting hunting = {.schedules_max = WITHIN,
                                   .strategy = {.depth = CHOICE_DEPTH_USUAL}};
    for (size_t i = 0; i < COUNT(names); i++) {
        const struct sabotage sabotage = found(names[i]);
        for (uint64_t base = 0; base < 3; base++) {
            struct kill kill;
            hunting.base_seed = 1 + base * SEEDS_BETWEEN;
            cr_assert(kill_hunt(&sabotage, &hunting, &kill));
            cr_assert(kill.found, "%s", names[i]);
            make(kill.scenario, &sabotage);
            run.strategy = hunting.strategy;
            const struct run_result *result = run_seed(kill.seed);
            cr_expect_eq(result->verdict, RUN_BROKEN, "%s", names[i]);
            cr_expect_eq(result->breach.clause, kill.breach.clause, "%s", names[i]);
            cr_expect_eq(result->steps, kill.steps, "%s", names[i]);
            run_free(&run);
        }
    }
}

/* Where an answer may change, it may on what a finding shrinks to, whose scenario allows no fault
 * by its text: else the sound engine would break there, too. */
Test(kill, a_changed_answer_is_no_finding_of_its_own_on_a_shrunk_schedule)
{
    const struct sabotage sabotage = found("read/drop/read-guid.2");
    struct kill_hunting hunting = {
        .base_seed = 1, .schedules_max = WITHIN, .strategy = {.depth = CHOICE_DEPTH_USUAL}};
    struct kill kill;
    cr_assert(kill_hunt(&sabotage, &hunting, &kill));
    cr_expect(kill.found);
    cr_expect_eq(kill.disputes, 0U, "%s", kill.dispute.breach.why);
}

/* ---- what is no kill ---------------------------------------------------------------------------
 */

/* Transition 7 never happens any more, and nothing else is wrong: who is there to make it looks and
 * tries in vain, which a promise notices before a path does. */
Test(kill, a_canceller_that_does_not_cancel_is_found_by_its_clause)
{
    static const char *const names[] = {"seq.force-cancel/drop/grace.2", "seq.ask-to-end/drop/ask"};
    for (size_t i = 0; i < COUNT(names); i++) {
        const struct sabotage sabotage = found(names[i]);
        cr_expect_null(sabotage.equivalent);
        struct kill kill = hunt(&sabotage, 1, WITHIN_AT_MOST, NULL);
        cr_assert(kill.found, "%s", names[i]);
        cr_expect_eq(kill.way, KILL_BREACH);
        cr_expect_eq(kill.breach.clause, CLAUSE_SEQ_15);
    }
}

/* (KI2): by chance is not enough, and neither is seldom. */
Test(kill, a_path_counts_only_if_the_sound_engine_takes_it_often_and_the_other_never)
{
    static const struct {
        uint32_t sound, spoiled;
        bool differs;
    } cases[] = {{KILL_PATH_TAKEN, 0, true},
                 {KILL_PATH_TAKEN - 1, 0, false},
                 {KILL_PATH_SEEDS, 1, false},
                 {0, KILL_PATH_SEEDS, false}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct kill kill = {0};
        struct kill_paths sound = {.seen[COVER_SEQ_LATE] = cases[i].sound};
        struct kill_paths spoiled = {.seen[COVER_SEQ_LATE] = cases[i].spoiled};
        cr_expect_eq(kill_paths_differ(&sound, &spoiled, NULL, &kill), cases[i].differs);
        sound = (struct kill_paths){.evaluated[CLAUSE_SEQ_12] = cases[i].sound};
        spoiled = (struct kill_paths){.evaluated[CLAUSE_SEQ_12] = cases[i].spoiled};
        cr_expect_eq(kill_paths_differ(&sound, &spoiled, NULL, &kill), cases[i].differs);
    }
}

/* (KI1)
 * Scenarios in which the sound engine breaks as well, and bugs that never take effect there. */
Test(kill, what_the_sound_engine_breaks_too_is_no_kill_and_is_told)
{
    static const struct {
        const char *ground;
        enum clause_id clause;
    } cases[] = {{"legacy-late-call", CLAUSE_LEG_7}, {"lossy-failover", CLAUSE_ACL_33}};
    static const char *const names[] = {"legacy.escalate/repeat", "escalate/repeat"};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sabotage sabotage = found(names[i]);
        struct kill_hunting hunting = {.base_seed = 1, .schedules_max = WITHIN};
        struct kill kill;
        sabotage.scenario = cases[i].ground;
        cr_assert(kill_hunt(&sabotage, &hunting, &kill));
        cr_expect_not(kill.found, "%s: %s", names[i], kill.breach.why);
        cr_expect_eq(kill.disputes, (uint32_t)KILL_DISPUTES_MAX, "it was given up");
        cr_expect_str_eq(kill.dispute.scenario, cases[i].ground);
        make(kill.dispute.scenario, NULL);
        cr_expect_eq(run_seed(kill.dispute.seed)->breach.clause, kill.dispute.breach.clause);
        run_free(&run);
    }
}

/* ---- where they are hunted ---------------------------------------------------------------------
 */

/* The rotation gives each scenario the same seeds. */
Test(kill, an_enumerated_sabotage_is_hunted_in_several_scenarios_in_turn)
{
    const char *names[KILL_SCENARIOS_MAX];
    struct sabotage sabotage = found("read/drop/read-guid.2");
    size_t count = kill_scenarios(&sabotage, names);
    cr_assert_gt(count, 1U);
    struct kill kill = hunt(&sabotage, 500, WITHIN_AT_MOST, NULL);
    cr_assert(kill.found);
    cr_expect_eq(kill.seed, 500 + (kill.schedules - 1) / count);
    cr_expect_str_eq(kill.scenario, names[(kill.schedules - 1) % count]);
    sabotage = found("escalate/drop/ack");
    cr_expect_eq(kill_scenarios(&sabotage, names), 1U, "hardly any other one escalates");
    sabotage = found("close-overtakes");
    cr_expect_eq(kill_scenarios(&sabotage, names), 1U);
    cr_expect_str_eq(names[0], "pending");
}

/* ---- what the errata say of some ---------------------------------------------------------------
 */

/* The ledger of the activity that the last step changed, before and after it; and who did it. */
struct last_mark {
    enum bundle_name bundle;
    int64_t activity, before, after;
};

static void watch_marks(void *context, const struct run_event *event)
{
    struct last_mark *last = context;
    last->activity = 0;
    for (size_t i = 0; i < event->change_count; i++) {
        const struct row_change *change = &event->changes[i];
        if (change->table == TABLE_ACTIVITY && change->kind == ROW_UPDATED &&
            change->column == ACTIVITY_LEDGER) {
            last->bundle = (enum bundle_name)event->bundle->name;
            last->activity = row_key(event->rows, TABLE_ACTIVITY, change->slot);
            last->before = change->before;
            last->after = row_get(event->rows, TABLE_ACTIVITY, change->slot, ACTIVITY_LEDGER);
        }
    }
}

static int count_marked(const struct rows *rows, int64_t activity, enum ledger_field field)
{
    int count = 0;
    for (uint32_t slot = 0; slot < rows->table[TABLE_GUID].used; slot++) {
        count += row_get(rows, TABLE_GUID, slot, GUID_ACTIVITY) == activity &&
                 ledger_get(row_get(rows, TABLE_GUID, slot, GUID_LEDGER), field) == 1;
    }
    return count;
}

Test(kill, literal_markers_break_acl_5_at_the_second_guid_and_without_it_acl_8_at_the_tenth)
{
    PROVES(CLAUSE_ACL_5, CLAUSE_ACL_8);
    SETTLES(ERRATUM_ACL_2);
    static const char text[] = "name: round\ncommits: literal\ngraph: {trigger: []}\n"
                               "cycles: {trigger: {to: trigger, rounds: 12}}\n";
    static const struct {
        bool off;
        enum clause_id clause;
        int guid;
    } cases[] = {{false, CLAUSE_ACL_5, 2}, {true, CLAUSE_ACL_8, 10}};
    const struct sabotage sabotage = found("literal-markers");
    struct error error;
    cr_assert(scenario_parse(text, sizeof text - 1, "test", &scenario, &error), "%s", error.text);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct last_mark last = {.activity = 0};
        struct choice_source calm = choice_listed(NULL);
        cr_assert(run_make(&run, &scenario, &sabotage));
        run.oracle.off[CLAUSE_ACL_5] = cases[i].off;
        run.observer = watch_marks;
        run.observer_context = &last;
        const struct run_result *result = run_once(&run, &calm);
        cr_assert_eq(result->verdict, RUN_BROKEN);
        cr_expect_eq(result->breach.clause, cases[i].clause, "%s",
                     clause_get(result->breach.clause)->id);
        cr_expect_not(result->settled, "at that commit");
        cr_expect_eq(last.bundle, BUNDLE_STEP1);
        cr_expect_eq(count_marked(&run.world.rows, last.activity, GUID_WORK_DONE), cases[i].guid);
        cr_expect_eq(ledger_get(last.before, ACTIVITY_WORK_DONE), cases[i].guid - 1);
        cr_expect_eq(ledger_get(last.after, ACTIVITY_WORK_DONE), cases[i].guid % 10);
        cr_expect_eq(ledger_get(last.after, ACTIVITY_LEG1_COMPLETE), cases[i].guid == 10 ? 2 : 1,
                     "the carry");
        run_free(&run);
    }
}

Test(kill, guid_from_full_ledger_is_found_with_one_guid_and_with_two)
{
    PROVES(CLAUSE_ACL_14);
    SETTLES(ERRATUM_ACL_3);
    static const char *const names[] = {"tree-3", "cycle"};
    const struct sabotage sabotage = found("guid-from-full-ledger");
    for (size_t i = 0; i < COUNT(names); i++) {
        make(names[i], &sabotage);
        cr_expect_eq(run_seed(1)->breach.clause, CLAUSE_ACL_14);
        run.oracle.off[CLAUSE_ACL_14] = true;
        cr_expect_eq(run_seed(1)->verdict, RUN_BROKEN, "the bug that does not look at that digit");
        run_free(&run);
    }
}

Test(kill, dimension_from_counter_is_seen_by_the_data_oracle_and_by_nobody_else)
{
    PROVES(CLAUSE_ACL_32);
    SETTLES(ERRATUM_ACL_4);
    const struct sabotage sabotage = found("dimension-from-counter");
    for (uint64_t base = 0; base < BASE_SEEDS; base++) {
        struct kill kill = hunt(&sabotage, 1 + base * SEEDS_BETWEEN, WITHIN, NULL);
        cr_expect_eq(kill.breach.clause, CLAUSE_ACL_32);
        cr_expect_eq(kill.oracle, ORACLE_DATA);
    }
    make("tree-3", &sabotage);
    run.oracle.silent[ORACLE_DATA] = true;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        const struct run_result *result = run_seed(seed);
        cr_assert_eq(result->verdict, RUN_HELD, "seed %d: %s", (int)seed, result->breach.why);
    }
    run_free(&run);
}

/* How many completions a job has that closed: Step 3 is lost where there is none. */
static int completions(const struct rows *rows)
{
    return (int)rows->table[TABLE_COMPLETION].used;
}

Test(kill, job_state_first_loses_step_3)
{
    PROVES(CLAUSE_ACL_25, CLAUSE_ACL_29, CLAUSE_ACL_30);
    SETTLES(ERRATUM_ACL_6);
    const struct sabotage sabotage = found("job-state-first");
    int lost = 0;
    make("tree-3", &sabotage);
    run.oracle.off[CLAUSE_ACL_30] = true;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        const struct run_result *result = run_seed(seed);
        if (result->verdict == RUN_HELD) {
            continue;
        }
        const struct rows *rows = &run.world.rows;
        cr_expect_eq(result->breach.clause, CLAUSE_ACL_29, "%s", result->breach.why);
        cr_expect(result->settled, "nothing breaks until all is quiet");
        cr_expect_eq(row_get(rows, TABLE_JOB, 0, JOB_STATE), JOB_COMPLETE);
        cr_expect_eq(completions(rows), 0, "the job closed and nobody ran its completion tasks");
        lost++;
    }
    cr_expect_gt(lost, 3);
    run_free(&run);
}

Test(kill, a_clause_that_is_off_does_not_kill)
{
    bool without[CLAUSE_COUNT] = {false};
    const struct sabotage sabotage = found("lost-snapshot");
    without[CLAUSE_ACL_21] = true;
    struct kill kill = hunt(&sabotage, 1, WITHIN, without);
    cr_expect(kill.found, "another one does");
    cr_expect_neq(kill.breach.clause, CLAUSE_ACL_21);
    for (int i = 0; i < CLAUSE_COUNT; i++) {
        without[i] = true;
    }
    cr_expect_not(hunt(&sabotage, 1, 100, without).found);
}

/* ---- all of them -------------------------------------------------------------------------------
 */

static bool finds_by_itself(enum clause_id clause)
{
    struct kill_hunting hunting = {.base_seed = 1, .schedules_max = WITHIN};
    struct kill kill;
    struct sabotage by;
    cr_assert(kill_by_itself(clause, NULL, &hunting, &kill, &by));
    return kill.found;
}

/* (Z2), and that no promise of a run is idle: each finds something, first or by itself. Which of
 * several comes first is a matter of the seed, so the named ones are hunted from a few. A sample of
 * bugs says nothing of promises. */
Test(kill, every_enumerated_sabotage_is_found_and_every_safe_or_live_clause_finds_one)
{
    bool finds[CLAUSE_COUNT] = {false};
    size_t count = sabotage_count(), named = sabotage_named_count();
    for (size_t i = 0; i < count; i += i < named ? 1 : (size_t)ONE_IN) {
        struct sabotage sabotage;
        sabotage_get(i, &sabotage);
        for (int base = 0; sabotage.equivalent == NULL && base < (i < named ? BASE_SEEDS : 1);
             base++) {
            struct kill kill =
                hunt(&sabotage, 1 + (uint64_t)base * SEEDS_BETWEEN, WITHIN_AT_MOST, NULL);
            cr_expect(kill.found, "%s survives %d schedules", sabotage.name, WITHIN_AT_MOST);
            finds[kill.breach.clause] |= kill.found && kill.schedules <= WITHIN;
        }
    }
    for (int id = 0; id < CLAUSE_COUNT; id++) {
        const struct clause *clause = clause_get((enum clause_id)id);
        bool judged = is_full() && protocol_judges(clause->family) &&
                      (clause->kind == CLAUSE_KIND_SAFE || clause->kind == CLAUSE_KIND_LIVE);
        cr_expect(finds[id] || !judged || finds_by_itself((enum clause_id)id), "%s finds nothing",
                  clause->id);
    }
}

/* Every so many of those listed, from the `from`th on. */
static void expect_not_found(int depth, int from)
{
    int equivalents = 0;
    for (size_t i = 0; i < sabotage_count(); i++) {
        struct sabotage sabotage;
        sabotage_get(i, &sabotage);
        if (sabotage.equivalent == NULL || equivalents++ % ONE_IN != from % ONE_IN) {
            continue;
        }
        struct kill_hunting hunting = {.base_seed = 1,
                                       .schedules_max = (uint32_t)NOT_WITHIN,
                                       .strategy = {.depth = (uint8_t)depth}};
        struct kill kill;
        cr_assert(kill_hunt(&sabotage, &hunting, &kill));
        cr_expect_not(kill.found, "%s: %s, after %u schedules (%s, seed %d%s)", sabotage.name,
                      kill.breach.why, kill.schedules, kill.scenario, (int)kill.seed,
                      depth > 0 ? ", pct" : "");
        cr_expect_eq(kill.disputes, 0U, "%s", sabotage.name);
    }
    cr_expect_gt(equivalents, 20);
}

Test(kill, what_is_listed_as_equivalent_breaks_no_promise_at_random)
{
    expect_not_found(0, 0);
}

Test(kill, what_is_listed_as_equivalent_breaks_no_promise_by_pct)
{
    expect_not_found(CHOICE_DEPTH_USUAL, 6);
}

/* ---- what is enumerated is what is sent --------------------------------------------------------
 */

static bool sent[PROTOCOLS_MAX][BUNDLE_NAME_COUNT][PRIMITIVE_COUNT];

static void watch_bundles(void *context, const struct run_event *event)
{
    (void)context;
    bool engine = event->turn == RUN_TRANSACTION &&
                  !bundle_has((enum bundle_name)event->bundle->name, TRAIT_TRESPASSES);
    for (int i = 0; engine && i < event->bundle->count; i++) {
        enum bundle_name bundle = (enum bundle_name)event->bundle->name;
        enum primitive_id primitive = (enum primitive_id)event->bundle->calls[i].primitive;
        cr_assert(sabotage_knows(run.scenario->protocol, bundle, primitive), "%s, %s",
                  bundle_name_text(bundle), primitive_table[primitive].name);
        sent[protocol_place(run.scenario->protocol)][bundle][primitive] = true;
    }
}

Test(kill, campaigns_send_everything_that_is_enumerated_and_nothing_else)
{
    for (size_t i = 0; i < scenario_count(); i++) {
        make(scenario_name(i), NULL);
        run.observer = watch_bundles;
        for (uint64_t seed = 1; seed <= 300; seed++) {
            run_seed(seed);
        }
        run_free(&run);
    }
    for (size_t i = 0; i < protocol_count() * BUNDLE_NAME_COUNT * PRIMITIVE_COUNT; i++) {
        size_t p = i % PRIMITIVE_COUNT, b = i / PRIMITIVE_COUNT % BUNDLE_NAME_COUNT;
        size_t protocol = i / PRIMITIVE_COUNT / BUNDLE_NAME_COUNT;
        bool known =
            sabotage_knows(protocol_at(protocol), (enum bundle_name)b, (enum primitive_id)p);
        cr_expect(!known || sent[protocol][b][p], "%s, %s is never sent",
                  bundle_name_text((enum bundle_name)b), primitive_table[p].name);
    }
}
