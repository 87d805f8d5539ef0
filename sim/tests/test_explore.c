/* Exhaustive search: how many states there are, and that what it leaves out changes no answer.
 *
 * With ASSAY_FULL in the environment, as in ./test --full, the reductions are held against larger
 * scopes, too: minutes instead of seconds. */
#include "model/seq.h"
#include "sim/explore.h"

#include "bench/spin/peer.h"
#include "sim/tests/scopes.h"

#include <inttypes.h>
#include <pthread.h>

#define MEMORY   ((size_t)1 << 30)
#define JOBS_MAX 3

TestSuite(explore, .timeout = 3000);

static struct scenario scenario;

static bool is_full(void)
{
    return getenv("ASSAY_FULL") != NULL;
}

/* Of the sabotages every so manieth is tried: all in the release build of gcc, which ./test runs.
 * That the reductions change no answer is shown there; the other builds look for errors of memory
 * and of compilers. */
#if !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__) || defined(__clang__)
enum { STRIDE = 27, NAMED_STRIDE = 4 };
#else
enum { STRIDE = 1, NAMED_STRIDE = 1 };
#endif

/* A built-in scenario by its name, or a scope. */
static void read(const char *yaml)
{
    struct error error;
    if (strchr(yaml, '\n') != NULL) {
        scope_read(yaml, &scenario);
    } else {
        cr_assert(scenario_load(yaml, &scenario, &error), "%s", error.text);
    }
}

/* ---- a search -------------------------------------------------------------------------------- */

struct helper {
    pthread_t thread;
    struct explore *explore;
    unsigned job;
};

static void *help(void *context)
{
    struct helper *helper = context;
    explore_join(helper->explore, helper->job);
    return NULL;
}

/* To be freed with explore_free. */
static struct explore *begin(const struct explore_plan *plan)
{
    struct explore *explore = explore_make(plan);
    cr_assert_not_null(explore);
    return explore;
}

/* The report without its path, which goes with the search. */
static struct explore_report search(const struct explore_plan *plan)
{
    struct helper helpers[JOBS_MAX];
    struct explore *explore = begin(plan);
    for (unsigned job = 0; job < plan->jobs; job++) {
        helpers[job] = (struct helper){.explore = explore, .job = job};
        cr_assert_eq(pthread_create(&helpers[job].thread, NULL, help, &helpers[job]), 0);
    }
    for (unsigned job = 0; job < plan->jobs; job++) {
        pthread_join(helpers[job].thread, NULL);
    }
    struct explore_report report = *explore_finish(explore);
    explore_free(explore);
    report.path = NULL;
    return report;
}

static struct explore_plan plan_of(struct walk_bounds bounds, unsigned reductions)
{
    return (struct explore_plan){
        .walk = {.scenario = &scenario, .bounds = bounds, .reductions = reductions},
        .memory = MEMORY,
        .jobs = 1};
}

static bool ended_as(const struct explore_report *report, const char *why)
{
    return report->verdict == EXPLORE_BOUNDED && strcmp(report->why, why) == 0;
}

/* As the program does it: again without the reduction of orders where that does not apply. */
static struct explore_report search_well(struct explore_plan plan)
{
    struct explore_report report = search(&plan);
    if (ended_as(&report, EXPLORE_REACHES_OUT)) {
        plan.walk.reductions &= ~(unsigned)REDUCE_ORDER;
        report = search(&plan);
    }
    return report;
}

/* ---- how many there are ---------------------------------------------------------------------- */

/* (XP2) The numbers are those of SPIN's verifier (-o2) of bench/spin/ledger.pml. */
Test(explore, without_reductions_there_are_as_many_states_as_spin_counts)
{
    static const struct {
        const char *scenario;
        struct walk_bounds bounds;
        uint64_t states;
    } cases[] = {
        {"peer-3", {0, 0, 0, 0, 0, 0, 0}, 545},    {"peer-3", {0, 1, 0, 0, 0, 0, 0}, 7217},
        {"peer-3", {1, 0, 0, 0, 0, 0, 0}, 6694},   {"peer-3", {1, 1, 0, 0, 0, 0, 0}, 73170},
        {"peer-3", {2, 0, 0, 0, 0, 0, 0}, 43573},  {"peer-3", {2, 1, 0, 0, 0, 0, 0}, 426753},
        {"peer-5", {0, 0, 0, 0, 0, 0, 0}, 2339},   {"peer-5", {0, 1, 0, 0, 0, 0, 0}, 43671},
        {"peer-5", {1, 0, 0, 0, 0, 0, 0}, 41224},  {"peer-5", {1, 1, 0, 0, 0, 0, 0}, 588964},
        {"peer-5", {2, 0, 0, 0, 0, 0, 0}, 385292}, {"peer-5", {2, 1, 0, 0, 0, 0, 0}, 4725500},
    };
    size_t count = COUNT(cases) - (is_full() ? 0 : 1); /* the last is slow */
    for (size_t i = 0; i < count; i++) {
        read(cases[i].scenario);
        struct explore_plan plan = plan_of(cases[i].bounds, 0);
        struct explore_report report = search(&plan);
        cr_expect_eq(report.verdict, EXPLORE_HELD);
        cr_expect_eq(report.states, cases[i].states, "%s, %u crashes, %u duplicates: %" PRIu64,
                     cases[i].scenario, cases[i].bounds.crashes, cases[i].bounds.duplicates,
                     report.states);
    }
}

struct pinned {
    const char *name, *yaml;
    struct walk_bounds bounds;
    uint64_t states, reduced, ends;
};

static void expect_pinned(const struct pinned *pinned, bool by_statement)
{
    read(pinned->yaml);
    const unsigned reductions[] = {0, REDUCE_ALL};
    const uint64_t states[] = {pinned->states, pinned->reduced};
    for (int r = 0; r < 2; r++) {
        struct explore_plan plan = plan_of(pinned->bounds, reductions[r]);
        plan.walk.by_statement = by_statement;
        struct explore_report report = search_well(plan);
        cr_expect_eq(report.verdict, EXPLORE_HELD, "%s: %s", pinned->name, report.why);
        cr_expect_eq(report.states, states[r],
                     "{\"%s\", crashes %u, duplicates %u, lapses %u, unknowns %u, aborts %u}, "
                     "reductions %u: %" PRIu64,
                     pinned->name, pinned->bounds.crashes, pinned->bounds.duplicates,
                     pinned->bounds.lapses, pinned->bounds.unknowns, pinned->bounds.aborts,
                     reductions[r], report.states);
        uint64_t ends = explore_ends_as(&report, REDUCE_ALL)->count;
        cr_expect_eq(ends, pinned->ends, "%s: %" PRIu64 " ends", pinned->name, ends);
    }
}

Test(explore, reduced_there_are_as_many_states_as_ever)
{
    static const struct pinned cases[] = {
        {"peer-3", "peer-3", {1, 1, 0, 0, 0, 0, 0}, 73170, 1915, 1},
        {"peer-3", "peer-3", {2, 1, 0, 0, 0, 0, 0}, 426753, 7261, 1},
        {"peer-5", "peer-5", {1, 0, 0, 0, 0, 0, 0}, 41224, 261, 1},
        {"fork", SCOPE_FORK, {1, 0, 0, 0, 0, 0, 0}, 23367, 391, 1},
        {"chain", SCOPE_CHAIN, {1, 1, 0, 0, 0, 0, 0}, 51579, 3699, 1},
        {"trigger", SCOPE_TRIGGER, {1, 0, 1, 0, 0, 0, 0}, 4075, 993, 1},
        {"trigger", SCOPE_TRIGGER, {0, 0, 0, 1, 1, 0, 0}, 1548, 333, 1},
        {"pending", SCOPE_PENDING, {1, 0, 0, 0, 0, 0, 0}, 15254, 1390, 2},
        {"cycle", SCOPE_CYCLE, {0, 1, 0, 0, 0, 0, 0}, 15369, 3048, 1},
        {"tree-3-merged", "tree-3-merged", {1, 1, 0, 0, 0, 0, 0}, 15756, 1039, 1},
        {"merged chain", SCOPE_MERGED_CHAIN, {1, 0, 0, 1, 0, 0, 0}, 781, 167, 1},
        {"merged pending", SCOPE_MERGED_PENDING, {1, 0, 0, 0, 0, 0, 0}, 876, 173, 2},
        {"legacy", SCOPE_LEGACY, {0, 0, 0, 0, 1, 0, 0}, 274, 143, 1},
        {"key", SCOPE_KEY, {1, 1, 0, 0, 0, 0, 0}, 3493, 1778, 1},
        {"pipeline", SCOPE_PIPELINE, {1, 1, 0, 0, 0, 0, 0}, 2376, 1257, 1},
        {"seq", SCOPE_SEQ, {1, 0, 1, 0, 0, 0, 0}, 11014, 11014, 280},
        {"inbox", SCOPE_INBOX, {2, 1, 0, 0, 0, 0, 0}, 3149, 1696, 1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        expect_pinned(&cases[i], false);
    }
}

Test(explore, interleaved_there_are_as_many_states_as_ever)
{
    static const struct pinned cases[] = {
        {"trigger", SCOPE_TRIGGER, {0, 0, 0, 0, 0, 0, 0}, 1100, 1100, 1},
        {"trigger", SCOPE_TRIGGER, {1, 0, 0, 0, 0, 0, 0}, 17707, 13949, 1},
        {"trigger", SCOPE_TRIGGER, {0, 0, 0, 1, 0, 0, 0}, 22808, 20602, 1},
        {"trigger", SCOPE_TRIGGER, {0, 0, 0, 0, 1, 0, 0}, 4150, 4150, 1},
        {"merged trigger", SCOPE_MERGED_TRIGGER, {1, 0, 0, 0, 0, 0, 0}, 401, 246, 1},
        {"merged trigger", SCOPE_MERGED_TRIGGER, {0, 0, 0, 1, 1, 0, 0}, 3078, 2702, 1},
        {"legacy", SCOPE_LEGACY, {0, 0, 0, 0, 0, 0, 0}, 2360, 2360, 1},
        {"key", SCOPE_KEY, {0, 1, 0, 0, 0, 0, 0}, 113378, 113378, 1},
        {"pipeline", SCOPE_PIPELINE, {1, 0, 0, 0, 0, 0, 0}, 417, 417, 1},
        {"seq", SCOPE_SEQ, {0, 0, 0, 0, 0, 0, 0}, 46593, 46593, 14},
        {"inbox", SCOPE_INBOX, {1, 1, 0, 0, 0, 0, 0}, 128839, 128839, 1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        expect_pinned(&cases[i], true);
    }
}

/* What goes wrong with a transaction at its end is tried at either level. */
Test(explore, lost_answers_and_torn_transactions_are_found_at_either_level)
{
    static const struct {
        const char *sabotage;
        struct walk_bounds bounds;
    } cases[] = {{"assume-committed", {.unknowns = 1}}, {"torn-rollback", {.crashes = 1}}};
    read(SCOPE_TRIGGER);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sabotage sabotage;
        cr_assert(sabotage_find(cases[i].sabotage, &sabotage));
        for (int level = 0; level < 2; level++) {
            struct explore_plan plan = plan_of(cases[i].bounds, REDUCE_ALL);
            plan.walk.by_statement = level == 1;
            cr_expect_eq(search(&plan).verdict, EXPLORE_HELD);
            plan.walk.sabotage = &sabotage;
            cr_expect_eq(search(&plan).verdict, EXPLORE_BROKEN, "%s, level %d", sabotage.name,
                         level);
        }
    }
}

/* ---- that nothing is lost -------------------------------------------------------------------- */

static const unsigned all_sets[] = {REDUCE_ALL, REDUCE_WORKERS, REDUCE_SIBLINGS, REDUCE_COUNTERS,
                                    REDUCE_ORDER};

/* The same ends, as one who makes these reductions tells them apart. */
static bool same_ends(const struct explore_report *one, const struct explore_report *other,
                      unsigned reductions)
{
    const struct explore_ends *a = explore_ends_as(one, reductions);
    const struct explore_ends *b = explore_ends_as(other, reductions);
    return a->count == b->count && a->sum == b->sum && !a->more && !b->more;
}

/* Planted bugs under which some count goes up for ever, so that a search that tells counts apart
 * has no end. About these, and no others, the two need not say the same. */
static bool is_endless(const struct sabotage *sabotage)
{
    static const char *const names[] = {"ack/drop/ack",
                                        "ack-and-claim/drop/ack",
                                        "answer-and-ack/drop/ack",
                                        "claim/repeat",
                                        "legacy.ack/drop/ack",
                                        "key.ack/drop/ack",
                                        "inbox.ack/drop/ack",
                                        "inbox.send/drop/open-account",
                                        "pipeline.hand-on/drop/ack",
                                        "seq.commit/unguard/committed-again.1"};
    for (size_t i = 0; sabotage != NULL && i < COUNT(names); i++) {
        if (strcmp(sabotage->name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether the two come to the same: the same verdict, and if all is well the same ends. Where the
 * whole search has no end, the other must not say that all is well. */
static bool agree(const struct sabotage *sabotage, const struct explore_report *whole,
                  const struct explore_report *reduced)
{
    if (whole->verdict == EXPLORE_BOUNDED) {
        return is_endless(sabotage) && reduced->verdict != EXPLORE_HELD;
    }
    return reduced->verdict == whole->verdict &&
           (whole->verdict != EXPLORE_HELD || same_ends(whole, reduced, reduced->reductions));
}

/* How many searches found something, so that a suite in which nothing does shows. */
static unsigned compare_sets(const struct sabotage *sabotage, struct walk_bounds bounds,
                             const unsigned *sets, size_t count)
{
    struct explore_plan plan = plan_of(bounds, 0);
    plan.walk.sabotage = sabotage;
    struct explore_report whole = search(&plan);
    for (size_t i = 0; i < count; i++) {
        plan.walk.reductions = sets[i];
        struct explore_report reduced = search_well(plan);
        cr_expect(agree(sabotage, &whole, &reduced),
                  "%s, %s, %u crashes, %u duplicates, %u lapses, %u unknowns, %u aborts, "
                  "reductions %u: verdict %d became %d (%s), %" PRIu64 " ends became %" PRIu64,
                  scenario.name, sabotage == NULL ? "as it should be" : sabotage->name,
                  bounds.crashes, bounds.duplicates, bounds.lapses, bounds.unknowns, bounds.aborts,
                  sets[i], whole.verdict, reduced.verdict, reduced.why,
                  explore_ends_as(&whole, sets[i])->count,
                  explore_ends_as(&reduced, sets[i])->count);
    }
    return whole.verdict == EXPLORE_BROKEN;
}

/* Whether the scenario can send the bundle that the sabotage spoils: not merged ones unless it says
 * so. */
static bool can_show(const struct sabotage *sabotage)
{
    bool merged = sabotage->kind != SABOTAGE_NAMED && sabotage->bundle >= BUNDLE_LEG1_ACK &&
                  sabotage->bundle <= BUNDLE_ACK_CLAIM;
    return sabotage->protocol == scenario.protocol && (scenario.merged || !merged);
}

/* Every sabotage that the scenario can show, the enumerated ones or not. */
static unsigned compare_all(struct walk_bounds bounds, const unsigned *sets, size_t count,
                            bool enumerated)
{
    size_t last = enumerated ? sabotage_count() : sabotage_named_count();
    unsigned broken = compare_sets(NULL, bounds, sets, count);
    for (size_t s = 0; s < last; s += s < sabotage_named_count() ? NAMED_STRIDE : STRIDE) {
        struct sabotage sabotage;
        sabotage_get(s, &sabotage);
        if (can_show(&sabotage)) {
            broken += compare_sets(&sabotage, bounds, sets, count);
        }
    }
    return broken;
}

Test(explore, reductions_change_no_answer_about_the_activity_ledger)
{
    static const char *const yamls[] = {"peer-3", SCOPE_CHAIN};
    for (size_t y = 0; y < COUNT(yamls); y++) {
        read(yamls[y]);
        cr_expect_gt(compare_all((struct walk_bounds){.crashes = 1}, all_sets, 5, true),
                     60 / STRIDE);
        cr_expect_gt(compare_all((struct walk_bounds){.duplicates = 1}, all_sets, 5, true),
                     60 / STRIDE);
    }
}

/* Without the reduction of orders claims ride with whatever they can; with it, only where the
 * answer is lost. */
Test(explore, reductions_change_no_answer_about_merged_commits)
{
    static const unsigned sets[] = {REDUCE_ALL, REDUCE_ORDER};
    static const struct walk_bounds weathers[] = {
        {.crashes = 1}, {.duplicates = 1}, {.unknowns = 1}, {.lapses = 1}};
    static const char *const yamls[] = {SCOPE_MERGED_CHAIN, SCOPE_MERGED_PENDING};
    for (size_t y = 0; y < COUNT(yamls); y++) {
        read(yamls[y]);
        for (size_t w = 0; w < COUNT(weathers); w++) {
            unsigned broken = compare_all(weathers[w], sets, 2, true);
            cr_expect_gt(broken, 30 / STRIDE, "%s: %u", scenario.name, broken);
        }
    }
}

Test(explore, reductions_change_no_answer_when_more_goes_wrong)
{
    read("peer-3");
    const struct walk_bounds both = {.crashes = 1, .duplicates = 1};
    cr_expect_gt(compare_all(both, all_sets, 5, false), 10 / NAMED_STRIDE);
    read(SCOPE_CHAIN);
    cr_expect_gt(compare_all(both, all_sets, 1, false), 10 / NAMED_STRIDE);
}

/* Two crashes, two duplicates, a third worker. */
Test(explore, reductions_change_no_answer_when_the_same_goes_wrong_again)
{
    static const struct walk_bounds deaths = {.crashes = 2}, copies = {.duplicates = 2};
    static const unsigned sets[] = {REDUCE_ALL, REDUCE_ORDER};
    static const char *const yamls[] = {SCOPE_TRIGGER, SCOPE_MERGED_CHAIN, SCOPE_PENDING};
    for (size_t y = 0; y < COUNT(yamls); y++) {
        bool small = y == 0;
        read(yamls[y]);
        cr_expect_gt(compare_all(deaths, sets, 2, small), small ? 60 / STRIDE : 5 / NAMED_STRIDE);
        if (small || is_full()) {
            cr_expect_gt(compare_all(copies, sets, 2, small),
                         small ? 60 / STRIDE : 5 / NAMED_STRIDE);
        }
    }
}

Test(explore, reductions_change_no_answer_with_a_third_worker)
{
    static const struct walk_bounds weathers[] = {
        {.crashes = 1}, {.duplicates = 1}, {.crashes = 1, .duplicates = 1}};
    struct error error;
    read(SCOPE_TRIGGER);
    cr_assert(scenario_change(&scenario, "workers", 3, &error), "%s", error.text);
    for (size_t w = 0; w < COUNT(weathers); w++) {
        cr_expect_gt(compare_all(weathers[w], all_sets, 5, w < 2),
                     w < 2 ? 60 / STRIDE : 5 / NAMED_STRIDE);
    }
}

/* Lost answers, aborts and claims that run out: named bugs, and reductions all together and that of
 * orders by itself, which is the one that has to do with them. */
Test(explore, reductions_change_no_answer_under_other_weather)
{
    static const unsigned sets[] = {REDUCE_ALL, REDUCE_ORDER};
    static const struct walk_bounds weathers[] = {
        {.unknowns = 1},
        {.aborts = 1},
        {.lapses = 1},
        {.crashes = 1, .unknowns = 1},
        {.duplicates = 1, .unknowns = 1},
        {.crashes = 1, .lapses = 1},
    };
    static const char *const yamls[] = {"peer-3", SCOPE_CHAIN, SCOPE_PENDING, SCOPE_CYCLE};
    for (size_t y = 0; y < COUNT(yamls); y++) {
        read(yamls[y]);
        for (size_t w = 0; w < COUNT(weathers); w++) {
            compare_sets(NULL, weathers[w], sets, 2);
        }
        for (size_t w = 0; w < 3; w++) {
            cr_expect_gt(compare_all(weathers[w], sets, 2, false), 3 / NAMED_STRIDE);
        }
    }
}

Test(explore, reductions_change_no_answer_about_other_protocols)
{
    static const unsigned sets[] = {REDUCE_ALL, REDUCE_ORDER};
    static const struct walk_bounds weathers[] = {
        {.crashes = 1}, {.duplicates = 1}, {.lapses = 1}, {.unknowns = 1}, {.aborts = 1}};
    static const char *const yamls[] = {SCOPE_LEGACY,   SCOPE_AGAIN, SCOPE_KEY,
                                        SCOPE_PIPELINE, SCOPE_SEQ,   SCOPE_INBOX};
    for (size_t y = 0; y < COUNT(yamls); y++) {
        unsigned broken = 0;
        read(yamls[y]);
        for (size_t w = 0; w < COUNT(weathers); w++) {
            broken +=
                compare_all(weathers[w], sets, 2, is_full() || scenario.protocol != &protocol_seq);
        }
        cr_expect_gt(broken, 5 / NAMED_STRIDE, "%s: %u", scenario.name, broken);
    }
}

Test(explore, reductions_change_no_answer_in_larger_scopes)
{
    static const struct walk_bounds weathers[] = {
        {.crashes = 1}, {.duplicates = 1}, {.crashes = 1, .duplicates = 1}};
    static const char *const yamls[] = {SCOPE_PAIR, SCOPE_FORK, SCOPE_PENDING, SCOPE_CYCLE};
    for (size_t y = 0; is_full() && y < COUNT(yamls); y++) {
        read(yamls[y]);
        for (size_t w = 0; w < COUNT(weathers); w++) {
            cr_expect_gt(compare_all(weathers[w], all_sets, y == 0 ? 5 : 1, true), 60 / STRIDE);
        }
    }
}

/* What goes first does so because of promises; where one is not judged, nothing does. */
Test(explore, where_a_promise_is_not_judged_no_order_is_left_out)
{
    bool without[CLAUSE_COUNT] = {false};
    read("peer-3");
    struct explore_plan plan = plan_of((struct walk_bounds){.crashes = 1}, REDUCE_ALL);
    plan.walk.without = without;
    cr_expect_eq(search(&plan).reductions, REDUCE_ALL);
    without[CLAUSE_COUNT - 1] = true;
    cr_expect_eq(search(&plan).reductions, REDUCE_ALL & ~REDUCE_ORDER);
    plan.walk.without = NULL;
    plan.walk.watch = peer_watch;
    cr_expect_eq(search(&plan).reductions, REDUCE_ALL & ~REDUCE_ORDER);
}

/* ---- bugs of the search itself --------------------------------------------------------------- */

/* Whether the search with this bug differs from the unreduced one about a planted bug, or none. */
static bool differs(enum explore_bug bug, struct walk_bounds bounds,
                    const struct sabotage *sabotage)
{
    struct explore_plan plan = plan_of(bounds, 0);
    plan.walk.sabotage = sabotage;
    struct explore_report whole = search(&plan);
    plan.bug = bug;
    plan.walk.reductions = REDUCE_ALL;
    struct explore_report reduced = search_well(plan);
    return !agree(sabotage, &whole, &reduced);
}

/* ... about some bug of the protocol, with a crash or with a message that comes twice. */
static bool is_noticed(enum explore_bug bug)
{
    static const struct walk_bounds weathers[] = {{.crashes = 1}, {.duplicates = 1}};
    for (size_t s = 0; s < sabotage_count(); s++) {
        struct sabotage sabotage;
        sabotage_get(s, &sabotage);
        for (size_t w = 0; w < 2 && can_show(&sabotage); w++) {
            if (differs(bug, weathers[w], &sabotage)) {
                return true;
            }
        }
    }
    return false;
}

Test(explore, a_bug_of_the_search_itself_changes_an_answer)
{
    read(SCOPE_TRIGGER);
    for (int bug = BUG_NONE + 1; bug < BUG_ITEM; bug++) {
        cr_expect(is_noticed((enum explore_bug)bug), "bug %d", bug);
    }
}

Test(explore, a_thread_that_forgets_what_it_was_given_changes_a_count)
{
    read("peer-3");
    struct explore_plan plan = plan_of((struct walk_bounds){1, 1, 0, 0, 0, 0, 0}, REDUCE_ALL);
    struct explore_report alone = search(&plan);
    plan.jobs = 2;
    plan.bug = BUG_ITEM;
    cr_expect_lt(search(&plan).states, alone.states);
}

/* ---- threads --------------------------------------------------------------------------------- */

Test(explore, counts_do_not_depend_on_the_number_of_threads)
{
    static const struct {
        const char *yaml;
        struct walk_bounds bounds;
        unsigned reductions;
        bool by_statement;
        const char *equivalent; /* a planted bug, or NULL */
    } cases[] = {
        {"peer-3", {1, 1, 0, 0, 0, 0, 0}, 0, false, NULL},
        {"peer-5", {2, 1, 0, 0, 0, 0, 0}, REDUCE_ALL, false, NULL},
        {SCOPE_FORK, {1, 1, 0, 0, 0, 0, 0}, REDUCE_ALL, false, NULL},
        {SCOPE_CYCLE, {1, 0, 0, 0, 0, 0, 0}, REDUCE_ALL, false, NULL},
        {SCOPE_INBOX, {1, 1, 0, 0, 0, 0, 0}, REDUCE_ALL, true, NULL},
        {SCOPE_SEQ, {1, 0, 1, 0, 0, 0, 0}, 0, false, NULL},
        {"peer-3", {1, 1, 0, 0, 0, 0, 0}, 0, false, "step-2/unguard/collate.3"},
        {"peer-5", {1, 1, 0, 0, 0, 0, 0}, REDUCE_ALL, false, "step-2/unguard/collate.3"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sabotage sabotage;
        read(cases[i].yaml);
        struct explore_plan plan = plan_of(cases[i].bounds, cases[i].reductions);
        plan.walk.by_statement = cases[i].by_statement;
        if (cases[i].equivalent != NULL) {
            cr_assert(sabotage_find(cases[i].equivalent, &sabotage));
            plan.walk.sabotage = &sabotage;
        }
        struct explore_report alone = search(&plan);
        cr_expect_eq(alone.verdict, EXPLORE_HELD);
        cr_expect_eq(alone.spoiled > 0, cases[i].equivalent != NULL);
        for (plan.jobs = 2; plan.jobs <= JOBS_MAX; plan.jobs++) {
            struct explore_report report = search(&plan);
            cr_expect(report.verdict == alone.verdict && report.states == alone.states &&
                          report.transitions == alone.transitions && report.rests == alone.rests &&
                          report.spoiled == alone.spoiled &&
                          same_ends(&report, &alone, report.reductions),
                      "case %zu, %u threads: %" PRIu64 " states, %" PRIu64 " transitions, %" PRIu64
                      " at rest; alone %" PRIu64 ", %" PRIu64 " and %" PRIu64,
                      i, plan.jobs, report.states, report.transitions, report.rests, alone.states,
                      alone.transitions, alone.rests);
        }
    }
}

/* A finding, a state that is stuck and a bound are told by several threads as by one. */
Test(explore, verdicts_do_not_depend_on_the_number_of_threads)
{
    static const struct {
        const char *yaml, *sabotage;
        enum explore_verdict verdict;
    } cases[] = {{"peer-3", "unbundled-step2", EXPLORE_BROKEN},
                 {SCOPE_TRIGGER, "ack/drop/ack", EXPLORE_STUCK}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sabotage sabotage;
        read(cases[i].yaml);
        cr_assert(sabotage_find(cases[i].sabotage, &sabotage));
        struct explore_plan plan = plan_of((struct walk_bounds){.crashes = 1}, REDUCE_ALL);
        plan.walk.sabotage = &sabotage;
        for (plan.jobs = 1; plan.jobs <= JOBS_MAX; plan.jobs++) {
            struct explore_report report = search(&plan);
            cr_expect_eq(report.verdict, cases[i].verdict, "%s by %u", sabotage.name, plan.jobs);
        }
    }
}

/* ---- bounds ---------------------------------------------------------------------------------- */

/* (XP1) */
Test(explore, where_memory_runs_out_the_answer_is_bounded)
{
    read("peer-3");
    struct explore_plan plan = plan_of((struct walk_bounds){2, 1, 0, 0, 0, 0, 0}, 0);
    plan.memory = (size_t)1 << 20;
    for (plan.jobs = 1; plan.jobs <= 2; plan.jobs++) {
        struct explore_report report = search(&plan);
        cr_expect_eq(report.verdict, EXPLORE_BOUNDED);
        cr_expect_str_eq(report.why, "memory ran out");
        cr_expect_gt(report.states, 1000);
        cr_expect_lt(report.states, plan.memory / sizeof(uint64_t));
    }
    plan.jobs = 1;
    struct explore *explore = begin(&plan);
    explore_shortest(explore);
    cr_expect_eq(explore_finish(explore)->verdict, EXPLORE_BOUNDED);
    explore_free(explore);
}

/* Notes on what cannot rest take from the same memory: here they are most of it. */
Test(explore, notes_on_liveness_count_as_memory)
{
    struct sabotage sabotage;
    read(SCOPE_CHAIN);
    cr_assert(sabotage_find("ack/drop/ack", &sabotage));
    struct explore_plan plan = plan_of((struct walk_bounds){1, 1, 0, 0, 0, 0, 0}, REDUCE_COUNTERS);
    plan.walk.sabotage = &sabotage;
    struct explore_report report = search(&plan);
    cr_expect_eq(report.verdict, EXPLORE_STUCK);
    cr_expect_gt(report.bytes, 32 * report.states);
    plan.memory = 16 * report.states;
    report = search(&plan);
    cr_expect(ended_as(&report, "memory ran out"));
    cr_expect_leq(report.bytes, plan.memory + (1 << 15));
}

/* Where counts are told apart, a message that is never acked has no end of states. */
Test(explore, a_schedule_that_never_ends_is_bounded)
{
    struct sabotage sabotage;
    read(SCOPE_TRIGGER);
    cr_assert(sabotage_find("ack/drop/ack", &sabotage));
    struct explore_plan plan = plan_of((struct walk_bounds){0}, 0);
    plan.walk.sabotage = &sabotage;
    struct explore_report report = search(&plan);
    cr_expect_eq(report.verdict, EXPLORE_BOUNDED);
    cr_expect_str_eq(report.why, "a schedule was too long");
}

/* More messages at once than are listed, or more workers for them than moves. */
Test(explore, where_too_much_can_happen_at_once_the_answer_is_bounded)
{
    static const char *const yamls[] = {
        SCOPE("many", "inbox", "jobs: 70\nworkers: 1\naccounts: 1\n"),
        SCOPE("crowd", "inbox", "jobs: 20\nworkers: 16\naccounts: 1\n")};
    for (size_t y = 0; y < COUNT(yamls); y++) {
        read(yamls[y]);
        struct explore_plan plan = plan_of((struct walk_bounds){0}, 0);
        struct explore_report report = search(&plan);
        cr_expect(ended_as(&report, "too much could happen at once"), "%s: %d, %s", scenario.name,
                  report.verdict, report.why);
    }
}

/* A ceiling that comes into play is not left out: the search must be done with counters. */
Test(explore, near_a_ceiling_counters_are_not_left_out)
{
    read(SCOPE_ACTIVITY("ceiling", "graph: {trigger: []}\npreset: {trigger: {leg1: 998}}\n"));
    struct explore_plan plan = plan_of((struct walk_bounds){.crashes = 1}, REDUCE_COUNTERS);
    struct explore_report report = search(&plan);
    cr_expect(ended_as(&report, EXPLORE_NEAR_CEILING));
    struct explore *explore = begin(&plan);
    explore_shortest(explore);
    cr_expect(ended_as(explore_finish(explore), EXPLORE_NEAR_CEILING));
    explore_free(explore);
    plan.walk.reductions = 0;
    report = search(&plan);
    cr_expect_eq(report.verdict, EXPLORE_HELD, "%d, %s", report.verdict, report.why);
    cr_expect_eq(explore_ends_as(&report, REDUCE_ALL)->count,
                 2); /* served, or given up at the ceiling (ACL-6) */
}

Test(explore, who_is_stopped_says_so)
{
    read("peer-5");
    struct explore_plan plan = plan_of((struct walk_bounds){2, 1, 0, 0, 0, 0, 0}, 0);
    struct explore *explore = begin(&plan);
    explore_stop(explore);
    explore_join(explore, 0);
    const struct explore_report *report = explore_finish(explore);
    cr_expect_eq(report->verdict, EXPLORE_BOUNDED);
    cr_expect_str_eq(report->why, "it was interrupted");
    explore_free(explore);
}

/* ---- liveness -------------------------------------------------------------------------------- */

/* The way to the state that a search was told to look for leads there. */
static void expect_way_to(struct explore_plan plan, uint64_t state)
{
    struct walk walk;
    plan.target = state;
    struct explore *explore = begin(&plan);
    explore_join(explore, 0);
    const struct explore_report *report = explore_finish(explore);
    cr_assert_eq(report->verdict, EXPLORE_STUCK);
    plan.walk.reductions = report->reductions;
    cr_assert(walk_make(&walk, &plan.walk));
    for (size_t i = 0; i < report->path_length; i++) {
        cr_assert(walk_do(&walk, report->path[i]));
    }
    cr_expect_eq(walk_state(&walk), state);
    walk_free(&walk);
    explore_free(explore);
}

Test(explore, a_message_that_is_never_acked_leaves_nothing_at_rest)
{
    static const struct {
        const char *yaml, *sabotage;
        bool by_statement;
    } cases[] = {{SCOPE_TRIGGER, "ack/drop/ack", false},
                 {SCOPE_CHAIN, "ack/drop/ack", false},
                 {SCOPE_TRIGGER, "ack/drop/ack", true}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sabotage sabotage;
        read(cases[i].yaml);
        cr_assert(sabotage_find(cases[i].sabotage, &sabotage));
        struct explore_plan plan = plan_of((struct walk_bounds){0}, REDUCE_ALL);
        plan.walk.sabotage = &sabotage;
        plan.walk.by_statement = cases[i].by_statement;
        struct explore_report report = search(&plan);
        cr_expect_eq(report.verdict, EXPLORE_STUCK, "case %zu: %d, %s", i, report.verdict,
                     report.why);
        cr_expect_neq(report.stuck, 0);
        cr_expect_eq(report.rests, 0);
        expect_way_to(plan, report.stuck);
    }
}

/* ---- shortest -------------------------------------------------------------------------------- */

static struct explore *search_shortest(const struct explore_plan *plan)
{
    struct explore *explore = begin(plan);
    explore_shortest(explore);
    return explore;
}

/* The path goes wrong with its last step, or after it once nothing can happen any more, as the
 * report says. */
static void expect_replays(const struct explore_plan *plan, const struct explore_report *report)
{
    struct walk walk;
    bool held = true;
    cr_assert(walk_make(&walk, &plan->walk));
    for (size_t i = 0; i < report->path_length; i++) {
        cr_assert(held, "it goes wrong before its end");
        held = walk_do(&walk, report->path[i]);
    }
    cr_expect_eq(held, report->result.settled);
    cr_expect_not(held && walk_settled(&walk));
    cr_expect_eq(walk.run.result.verdict, RUN_BROKEN);
    if (plan->walk.watch == NULL) {
        cr_expect_eq(walk.run.result.breach.clause, report->result.breach.clause);
    }
    walk_free(&walk);
}

/* As SPIN counts (-i): the first step included, the failing one not. */
Test(explore, the_peers_shortest_counterexamples_are_as_short_as_spins)
{
    static const struct {
        const char *sabotage;
        size_t steps;
    } cases[] = {{"unbundled-step2", 11},
                 {"lost-snapshot", 31},
                 {"guid-from-full-ledger", 8},
                 {"trust-stale-read", 7}};
    read("peer-3");
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sabotage sabotage;
        cr_assert(sabotage_find(cases[i].sabotage, &sabotage));
        struct explore_plan plan = plan_of((struct walk_bounds){2, 1, 0, 0, 0, 0, 0},
                                           REDUCE_ALL & ~(unsigned)REDUCE_ORDER);
        plan.walk.sabotage = &sabotage;
        plan.walk.watch = peer_watch;
        struct explore *explore = search_shortest(&plan);
        const struct explore_report *report = explore_finish(explore);
        cr_expect_eq(report->verdict, EXPLORE_BROKEN);
        cr_expect_eq(report->path_length - (report->result.settled ? 0 : 1), cases[i].steps,
                     "%s: %zu", cases[i].sabotage, report->path_length);
        expect_replays(&plan, report);
        explore_free(explore);
    }
}

/* With the oracles: no longer than any other way found, the same whether workers and siblings are
 * told apart or not, and it goes wrong again in the same place. */
Test(explore, the_shortest_way_is_a_way_and_no_other_is_shorter)
{
    static const char *const sabotages[] = {"unbundled-step2", "trust-stale-read", "early-ack",
                                            "reset-on-retry"};
    read("peer-3");
    for (size_t i = 0; i < COUNT(sabotages); i++) {
        struct sabotage sabotage;
        cr_assert(sabotage_find(sabotages[i], &sabotage));
        struct explore_plan plan = plan_of((struct walk_bounds){1, 1, 0, 0, 0, 0, 0}, 0);
        plan.walk.sabotage = &sabotage;
        struct explore *whole = search_shortest(&plan), *deep = begin(&plan);
        explore_join(deep, 0);
        const struct explore_report *found = explore_finish(deep);
        cr_expect_eq(found->verdict, EXPLORE_BROKEN);
        expect_replays(&plan, found);
        plan.walk.reductions = REDUCE_ALL & ~(unsigned)REDUCE_ORDER;
        struct explore *reduced = search_shortest(&plan);
        const struct explore_report *report = explore_finish(whole);
        const struct explore_report *as_short = explore_finish(reduced);
        cr_expect_eq(report->verdict, EXPLORE_BROKEN);
        cr_expect_leq(report->path_length, found->path_length);
        cr_expect_eq(report->path_length, as_short->path_length);
        expect_replays(&plan, report);
        expect_replays(&plan, as_short);
        explore_free(whole);
        explore_free(deep);
        explore_free(reduced);
    }
}

/* Breaks a rest after a crash, before which states of its level are met in which a message
 * came twice; and every move that leads as far from the root as this. */
static unsigned too_far;

static bool breaks_far_out(struct walk *walk, const struct walk_record *record)
{
    return record != NULL ? walk->depth < too_far : walk->left.crashes > 0;
}

/* A level's rests come before what its moves lead to, in whatever order its states are met. */
Test(explore, a_rest_is_nearer_than_a_move_from_beside_it)
{
    read(SCOPE_TRIGGER);
    struct explore_plan plan = plan_of((struct walk_bounds){1, 1, 0, 0, 0, 0, 0}, 0);
    plan.walk.watch = breaks_far_out;
    size_t nearest = 0;
    for (int round = 0; round < 2; round++) {
        too_far = round == 0 ? WALK_DEPTH_MAX : (unsigned)nearest + 1;
        struct explore *explore = search_shortest(&plan);
        const struct explore_report *report = explore_finish(explore);
        cr_expect_eq(report->verdict, EXPLORE_BROKEN);
        cr_expect(report->result.settled);
        cr_expect(round == 0 || report->path_length == nearest);
        nearest = report->path_length;
        explore_free(explore);
    }
}

/* A state that is looked for: breadth first leads there by a way that is no longer. */
Test(explore, the_way_to_where_nothing_rests_can_be_a_shortest_one)
{
    struct sabotage sabotage;
    read(SCOPE_TRIGGER);
    cr_assert(sabotage_find("ack/drop/ack", &sabotage));
    struct explore_plan plan = plan_of((struct walk_bounds){0}, REDUCE_COUNTERS);
    plan.walk.sabotage = &sabotage;
    struct explore *explore = search_shortest(&plan);
    cr_expect_eq(explore_finish(explore)->verdict, EXPLORE_HELD); /* of what it asks */
    explore_free(explore);
    plan.target = search(&plan).stuck;
    cr_assert_neq(plan.target, 0);
    struct explore *deep = begin(&plan), *broad = search_shortest(&plan);
    explore_join(deep, 0);
    const struct explore_report *some = explore_finish(deep), *shortest = explore_finish(broad);
    cr_expect_eq(some->verdict, EXPLORE_STUCK);
    cr_expect_eq(shortest->verdict, EXPLORE_STUCK);
    cr_expect_gt(shortest->path_length, 0);
    cr_expect_leq(shortest->path_length, some->path_length);
    explore_free(deep);
    explore_free(broad);
}

/* ---- the nearest way that passes ------------------------------------------------------------- */

Test(explore, the_nearest_way_that_passes_parts_late_and_passes)
{
    static struct walk_move passing[WALK_DEPTH_MAX];
    struct sabotage sabotage;
    struct walk walk;
    size_t length, common = 0;
    read("peer-3");
    cr_assert(sabotage_find("trust-stale-read", &sabotage));
    struct explore_plan plan = plan_of((struct walk_bounds){0, 1, 0, 0, 0, 0, 0}, 0);
    plan.walk.sabotage = &sabotage;
    struct explore *explore = search_shortest(&plan);
    const struct explore_report *report = explore_finish(explore);
    cr_assert_eq(report->verdict, EXPLORE_BROKEN);
    cr_assert(walk_make(&walk, &plan.walk));
    cr_assert(explore_nearest(&walk, report->path, report->path_length, passing, &length));
    while (common < length &&
           memcmp(&passing[common], &report->path[common], sizeof *passing) == 0) {
        common++;
    }
    cr_expect_lt(common, report->path_length);
    cr_expect_gt(common, 0);
    walk_begin(&walk);
    for (size_t i = 0; i < length; i++) {
        cr_assert(walk_do(&walk, passing[i]));
    }
    cr_expect(walk_settled(&walk));
    walk_free(&walk);
    explore_free(explore);
}
