/* Whole transactions or operation by operation: on small scopes both levels of the simulated store
 * reach the same durable ends, whatever the interleaving. So what holds of a schedule of whole
 * transactions holds of interleaved ones, as far as the rows in the end go.
 *
 * Both levels are searched exhaustively (explore.h), nothing reduced, and every row that is there
 * when nothing can happen any more is noted as it stands. A message comes twice when a claim runs
 * out while its holder is at work. */
#include "sim/explore.h"
#include "sim/tests/print.h"
#include "sim/tests/scopes.h"

#include <stdio.h>

#define ENDS_MAX 4096
#define MEMORY   ((size_t)1 << 28)

struct scope {
    const char *name, *yaml;
    struct walk_bounds bounds;
    uint32_t ends; /* expected */
};

/* What a search came to. */
struct ends {
    uint64_t of[ENDS_MAX];
    uint32_t count;
    struct explore_report report;
};

/* As they are, unless a test says otherwise: the primitives of both levels, and the rules of the
 * interleaved one. */
static struct primitive primitives[PRIMITIVE_COUNT];
static struct session_claims postgresql;

static struct ends *noted;          /* by the search under way */
static const struct ends *expected; /* NULL, or ends that are known: another one is enough */

static void make(void)
{
    memcpy(primitives, primitive_table, sizeof primitives);
    postgresql = session_postgresql;
}

TestSuite(levels, .init = make, .timeout = 600);

static void alter(struct walk *walk)
{
    memcpy(walk->run.primitives, primitives, sizeof primitives);
    walk->run.sessions->rules = &postgresql;
}

/* ---- ends ------------------------------------------------------------------------------------ */

static int by_hash(const void *left, const void *right)
{
    return memcmp(left, right, sizeof(uint64_t));
}

static bool has_end(const struct ends *ends, const uint64_t *end)
{
    for (uint32_t e = 0; e < ends->count; e++) {
        if (memcmp(&ends->of[e], end, sizeof *end) == 0) {
            return true;
        }
    }
    return false;
}

/* Instead of the oracles: the search goes on whatever happens, until it is at a strange end. */
static bool watch(struct walk *walk, const struct walk_record *record)
{
    if (record != NULL) {
        return true;
    }
    cr_assert_eq(sessions_open(walk->run.sessions), 0, "a session is stuck");
    uint64_t end = print_of(&walk->run.world);
    if (!has_end(noted, &end)) {
        cr_assert_lt(noted->count, ENDS_MAX);
        noted->of[noted->count++] = end;
    }
    return expected == NULL || has_end(expected, &end);
}

static bool same_ends(const struct ends *one, const struct ends *other)
{
    return one->count == other->count &&
           memcmp(one->of, other->of, one->count * sizeof *one->of) == 0;
}

/* ---- a search -------------------------------------------------------------------------------- */

static struct ends *search_until(const struct scope *scope, bool interleaved,
                                 const struct ends *known)
{
    static struct scenario scenario;
    scope_read(scope->yaml, &scenario);
    struct explore_plan plan = {.walk = {.scenario = &scenario,
                                         .bounds = scope->bounds,
                                         .by_statement = interleaved,
                                         .watch = watch,
                                         .alter = alter},
                                .memory = MEMORY,
                                .jobs = 1};
    struct explore *explore = explore_make(&plan);
    cr_assert_not_null(explore);
    noted = calloc(1, sizeof *noted);
    cr_assert_not_null(noted);
    expected = known;
    explore_join(explore, 0);
    noted->report = *explore_finish(explore);
    noted->report.path = NULL; /* it goes with the search */
    explore_free(explore);
    qsort(noted->of, noted->count, sizeof *noted->of, by_hash);
    return noted;
}

static struct ends *search_all(const struct scope *scope, bool interleaved)
{
    struct ends *ends = search_until(scope, interleaved, NULL);
    cr_expect_eq(ends->report.verdict, EXPLORE_HELD, "%s: %d, %s", scope->name,
                 ends->report.verdict, ends->report.why);
    return ends;
}

static void compare_levels(const struct scope *scope)
{
    struct ends *whole = search_all(scope, false), *interleaved = search_all(scope, true);
    printf("%s: %llu states and %u ends of whole transactions; %llu states and %u ends by "
           "operation, %u deep\n",
           scope->name, (unsigned long long)whole->report.states, whole->count,
           (unsigned long long)interleaved->report.states, interleaved->count,
           interleaved->report.deepest);
    cr_expect(same_ends(whole, interleaved), "%s: other ends", scope->name);
    cr_expect_eq(whole->count, scope->ends, "%s: %u ends", scope->name, whole->count);
    cr_expect_gt(interleaved->report.states, whole->report.states, "%s", scope->name);
    free(whole);
    free(interleaved);
}

#define INBOX(jobs) SCOPE("inbox", "inbox", "jobs: " jobs "\nworkers: 2\naccounts: 1\n")

/* A trigger one of whose messages is delivered twice: two workers are at its steps at once. */
static const struct scope twice = {"trigger, anything twice", SCOPE_TRIGGER, {.lapses = 1}, 3};

Test(levels, a_job_ends_the_same)
{
    static const struct scope scopes[] = {
        {"trigger", SCOPE_TRIGGER, {.lapses = 0}, 1},
        {"trigger, a crash", SCOPE_TRIGGER, {.crashes = 1}, 3},
        {"trigger, anything twice and a crash", SCOPE_TRIGGER, {.crashes = 1, .lapses = 1}, 6},
        {"trigger, a lost answer", SCOPE_TRIGGER, {.unknowns = 1}, 3},
        {"trigger, an abort", SCOPE_TRIGGER, {.aborts = 1}, 1},
        {"two children", SCOPE_FORK, {.lapses = 0}, 2},
        {"merged trigger, a lost answer", SCOPE_MERGED_TRIGGER, {.unknowns = 1}, 3},
        {"merged trigger, a crash", SCOPE_MERGED_TRIGGER, {.crashes = 1}, 3},
        {"merged trigger, anything twice and a crash",
         SCOPE_MERGED_TRIGGER,
         {.crashes = 1, .lapses = 1},
         6},
        {"merged: two children", SCOPE_MERGED_FORK, {.lapses = 0}, 2},
    };
    compare_levels(&twice);
    for (size_t i = 0; i < COUNT(scopes); i++) {
        compare_levels(&scopes[i]);
    }
}

Test(levels, an_inbox_ends_the_same)
{
    static const struct scope scopes[] = {
        {"inbox", INBOX("1"), {.lapses = 0}, 1},
        {"inbox, a message twice", INBOX("1"), {.lapses = 1}, 1},
        {"inbox, a message twice and a crash", INBOX("1"), {.crashes = 1, .lapses = 1}, 1},
        {"inbox of two, one of them twice and a crash", INBOX("2"), {.crashes = 1, .lapses = 1}, 1},
    };
    for (size_t i = 0; i < COUNT(scopes); i++) {
        compare_levels(&scopes[i]);
    }
}

/* ---- that it would notice -------------------------------------------------------------------- */

/* Other rules than PostgreSQL's, under which a step is not what it is alone. */
Test(levels, a_store_that_breaks_a_rule_ends_otherwise)
{
    static const char *const broken[] = {
        "row locks end with their statement", "no new test after a wait",
        "an addition takes no lock",          "NO KEY UPDATE lets in NO KEY UPDATE",
        "an update is lost after a wait",
    };
    struct ends *right = search_all(&twice, false);
    for (size_t i = 0; i < COUNT(broken); i++) {
        char name[SESSION_ERROR_NAME_SIZE] = "";
        for (size_t e = 0; e < session_error_count() && strcmp(name, broken[i]) != 0; e++) {
            session_error(e, &postgresql, name);
        }
        cr_assert_str_eq(name, broken[i]);
        struct ends *wrong = search_until(&twice, true, right);
        cr_expect_eq(wrong->report.verdict, EXPLORE_BROKEN, "%s: no other end", name);
        free(wrong);
    }
    free(right);
}

/* E-ACL-25: whole transactions cannot show it, because nobody comes between test and write. That Step 2
 * locks the activity's row first does not help: it is one statement (Rule D), so after that wait the
 * plain test still sees the snapshot from before it, and the semaphore moves twice. */
Test(levels, a_marker_tested_without_its_lock_ends_otherwise)
{
    static const struct {
        bool guid_locked, activity_locked;
    } cases[] = {{true, true}, {false, true}, {false, false}};
    struct op *test = &primitives[PRIMITIVE_COLLATE].ops[0];
    struct op *mark = &primitives[PRIMITIVE_MARK_ACTIVITY].ops[0];
    cr_assert(test->kind == OP_TEST && mark->kind == OP_ADD);
    for (size_t i = 0; i < COUNT(cases); i++) {
        test->lock = cases[i].guid_locked ? LOCK_USUAL : LOCK_NONE;
        mark->lock = cases[i].activity_locked ? LOCK_USUAL : LOCK_NONE;
        struct ends *whole = search_all(&twice, false);
        struct ends *interleaved = search_until(&twice, true, NULL);
        cr_expect_eq(same_ends(whole, interleaved), cases[i].guid_locked,
                     "case %zu: %u and %u ends", i, whole->count, interleaved->count);
        free(whole);
        free(interleaved);
    }
}
