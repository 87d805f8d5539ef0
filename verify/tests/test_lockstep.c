/* The simulated store and PostgreSQL side by side: the courses of sim/tests/courses.h, which
 * test_session.c runs alone, and scripts. Nothing may differ, and every course must go as it says:
 * the traps of E-ACL-24, E-ACL-25 and E-CUT-11 among them do the same wrong thing on both sides. */
#include "verify/lockstep.h"

#include "model/tests/proves.h"
#include "real/tests/server.h"
#include "sim/script.h"
#include "sim/tests/courses.h"

#include <criterion/criterion.h>

#define SCHEMA  "assay_lockstep_test"
#define SCRIPTS 120

static struct world world;
static struct sessions sessions, copy;
static struct lockstep lockstep;
static struct session_claims rules;

static void make(void)
{
    struct error error;
    struct world_capacity capacity = script_capacity();
    server_make_schema(SCHEMA);
    server_set_clocks(SCHEMA);
    struct stepper_options options = {.dsn = server_dsn(),
                                      .schema = SCHEMA,
                                      .primitives = primitive_table,
                                      .primitive_count = PRIMITIVE_COUNT,
                                      .form = SQL_WHOLE,
                                      .connections = SCRIPT_SESSIONS_MAX,
                                      .principals = SCRIPT_PRINCIPALS};
    lockstep = (struct lockstep){.schema = SCHEMA, .sessions = &sessions, .copy = &copy};
    lockstep.stepper = stepper_open(&options, &error);
    cr_assert_not_null(lockstep.stepper, "%s", error.text);
    cr_assert(world_make(&world, &capacity));
    rules = session_postgresql;
}

static void unmake(void)
{
    stepper_close(lockstep.stepper);
    world_free(&world);
}

TestSuite(lockstep, .init = make, .fini = unmake, .timeout = 120);

static void begin(const struct primitive *primitives, uint32_t count)
{
    lockstep.difference[0] = '\0';
    sessions_begin(&sessions, &world, primitives, &rules, SCRIPT_SESSIONS_MAX);
    stepper_primitives(lockstep.stepper, primitives, count);
    lockstep_fill(&lockstep);
}

/* Whatever is still open does what is left of it, as far as it gets. */
static void finish(const bool *gives_up)
{
    for (bool moved = true; moved && !lockstep_differs(&lockstep);) {
        moved = false;
        for (unsigned s = 0; s < sessions.count && !lockstep_differs(&lockstep); s++) {
            enum session_state state = (enum session_state)sessions.each[s].state;
            if (state == SESSION_OPEN) {
                lockstep_statement(&lockstep, s);
            } else if (state == SESSION_DONE || state == SESSION_FAILED) {
                lockstep_end(&lockstep, s, gives_up == NULL || !gives_up[s], world_mark(&world));
                world_keep(&world);
            }
            moved = moved || (state != SESSION_CLOSED && state != SESSION_WAITS);
        }
    }
    if (!lockstep_differs(&lockstep)) {
        cr_assert_eq(sessions_open(&sessions), 0U, "a session waits for ever");
        lockstep_rows(&lockstep);
    }
}

/* ---- courses --------------------------------------------------------------------------------- */

static void hand_begin(void *context, unsigned who, const struct bundle *bundle)
{
    (void)context;
    lockstep_begin(&lockstep, who, bundle, SESSION_PICKS_ITSELF);
}

static void hand_statement(void *context, unsigned who)
{
    (void)context;
    lockstep_statement(&lockstep, who);
}

static bool hand_end(void *context, unsigned who, bool commit)
{
    (void)context;
    bool committed = lockstep_end(&lockstep, who, commit, world_mark(&world));
    world_keep(&world);
    return committed;
}

static const struct course_hands hands = {hand_begin, hand_statement, hand_end};

static struct course_verdict compare(const struct course *course)
{
    static struct course_cast cast;
    course_prepare(course, &cast);
    course_fill(&world);
    begin(cast.primitives, cast.primitive_count);
    struct course_verdict verdict =
        course_run(course, &cast, &sessions, &hands, NULL, !course->chosen);
    finish(NULL);
    return verdict;
}

static void compare_and_expect(const struct course *course)
{
    struct course_verdict verdict = compare(course);
    cr_expect_str_eq(lockstep.difference, "", "%s: %s", course->name, lockstep.difference);
    cr_expect(course->chosen || verdict.text[0] == '\0', "%s", verdict.text);
    if (lockstep_differs(&lockstep)) {
        cr_assert(stepper_reset(lockstep.stepper), "%s", stepper_why_not(lockstep.stepper));
    }
}

Test(lockstep, every_course_is_the_same_on_postgresql)
{
    SETTLES(ERRATUM_ACL_24, ERRATUM_ACL_25, ERRATUM_CUT_11);
    for (size_t c = 0; c < COURSE_COUNT; c++) {
        uint64_t before = lockstep.aborts;
        compare_and_expect(&courses[c]);
        cr_expect_eq(lockstep.aborts, before, "%s: a 40001 that nobody demands", courses[c].name);
    }
    cr_expect_gt(lockstep.waits, 30U);
    cr_expect_eq(lockstep.deadlocks, 2U);
    printf("%zu courses, %llu statements, %llu waits, %llu commits, %llu rows compared\n",
           COURSE_COUNT, (unsigned long long)lockstep.statements,
           (unsigned long long)lockstep.waits, (unsigned long long)lockstep.commits,
           (unsigned long long)lockstep.rows);
}

/* (LS2) */
Test(lockstep, locks_keep_the_same_waiting_on_postgresql)
{
    for (size_t held = 0; held < COURSE_HELDS; held++) {
        for (unsigned mode = 0; mode < COURSE_MODES; mode++) {
            struct course course;
            course_of_locks(held, mode, &course);
            compare_and_expect(&course);
        }
    }
}

/* ---- scripts --------------------------------------------------------------------------------- */

static void run_script(const struct script *script)
{
    bool ended[SCRIPT_SESSIONS_MAX] = {false};
    script_fill(script, &world);
    begin(script->primitives, script->primitive_count);
    for (unsigned s = 0; s < script->sessions; s++) {
        lockstep_begin(&lockstep, s, &script->bundles[s], SESSION_PICKS_ITSELF);
    }
    for (uint32_t t = 0; t < script->turn_count && !lockstep_differs(&lockstep); t++) {
        unsigned who = script->turns[t];
        enum session_state state = (enum session_state)sessions.each[who].state;
        if (state == SESSION_OPEN) {
            lockstep_statement(&lockstep, who);
        } else if (state != SESSION_WAITS && !ended[who]) {
            lockstep_end(&lockstep, who, !script->gives_up[who], world_mark(&world));
            world_keep(&world);
            ended[who] = true;
        }
    }
    finish(script->gives_up);
}

Test(lockstep, scripts_are_the_same_on_postgresql)
{
    for (uint64_t seed = 1; seed <= SCRIPTS; seed++) {
        static struct script script;
        script_draw(&script, seed);
        run_script(&script);
        cr_assert_not(lockstep_differs(&lockstep), "seed %llu: %s", (unsigned long long)seed,
                      lockstep.difference);
    }
    cr_expect_gt(lockstep.waits, 40U);
    cr_expect_gt(lockstep.commits, 100U);
}

/* ---- that it would notice -------------------------------------------------------------------- */

/* Every deliberate error of the simulated store, but on a course that tells it apart. (LS1) */
Test(lockstep, a_wrong_claim_about_postgresql_is_a_difference)
{
    static const struct {
        const char *error;
        const char *course;
    } cases[] = {
        {"an update is lost after a wait", "a wait ends with a commit, and nothing is lost"},
        {"no new test after a wait", "after a wait the row is tested anew, and fails"},
        {"row locks end with their statement", "a lock lasts until the transaction ends"},
        {"no unique check", "an insert waits for one of its key, which commits"},
        {"a statement updates a row twice",
         "E-ACL-24: of two updates of a row in a statement the second is lost"},
        {"snapshot taken after an advisory wait",
         "E-CUT-11: a wait for an advisory lock ends in a superseded decision"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char name[SESSION_ERROR_NAME_SIZE] = "";
        size_t e = 0, c = 0;
        for (; e < session_error_count(); e++) {
            session_error(e, &rules, name);
            if (strcmp(name, cases[i].error) == 0) {
                break;
            }
        }
        cr_assert_lt(e, session_error_count(), "%s", cases[i].error);
        while (c < COURSE_COUNT && strcmp(courses[c].name, cases[i].course) != 0) {
            c++;
        }
        cr_assert_lt(c, COURSE_COUNT, "%s", cases[i].course);
        compare(&courses[c]);
        cr_expect(lockstep_differs(&lockstep), "%s", name);
        cr_expect_not(lockstep.failed, "%s", lockstep.difference);
        cr_assert(stepper_reset(lockstep.stepper), "%s", stepper_why_not(lockstep.stepper));
    }
}
