/* Transactions that are open at once: that one alone does what store.h does (SS4); courses of two
 * to four, step by step; locks, waits and deadlocks; what each sees. verify/tests/test_lockstep.c puts
 * the same courses to PostgreSQL. */
#include "sim/session.h"

#include "model/tests/proves.h"
#include "sim/script.h"
#include "sim/session_inside.h"
#include "sim/store.h"
#include "sim/tests/bundles.h"
#include "sim/tests/courses.h"
#include "sim/tests/print.h"

#include <criterion/criterion.h>
#include <string.h>

/* Sessions are large; a suite has one set of them, and tests are processes of their own. */
static struct sessions sessions;
static struct world world;

static void make(void)
{
    struct world_capacity capacity = script_capacity();
    cr_assert(world_make(&world, &capacity));
}

static void unmake(void)
{
    world_free(&world);
}

TestSuite(session, .init = make, .fini = unmake, .timeout = 60);

/* ---- one at a time (SS4) --------------------------------------------------------------------- */

static struct observed seen; /* of what was executed last */

/* All of it at once; where the log stood is the caller's to know. */
static struct outcome execute(unsigned who, const struct bundle *bundle, uint32_t picked,
                              bool gives_up)
{
    struct world *rows = sessions.world;
    size_t mark = world_mark(rows);
    sessions.each[who].outcome =
        (struct outcome){.kind = OUTCOME_NONE}; /* no claim of an earlier one */
    session_begin(&sessions, who, bundle, picked);
    uint32_t length = session_length(&sessions, &sessions.each[who].bundle), operations = 0;
    while (sessions.each[who].state == SESSION_OPEN) {
        session_operation(&sessions, who);
        operations++;
    }
    cr_assert_neq(sessions.each[who].state, SESSION_WAITS, "nobody is there to wait for");
    cr_assert_leq(operations, length);
    if (gives_up && sessions.each[who].state == SESSION_DONE) {
        session_abort(&sessions, who, ABORT_NONE);
    }
    if (sessions.each[who].state == SESSION_DONE && !session_apply(&sessions, who)) {
        world_undo(rows, mark);
    }
    struct outcome outcome = sessions.each[who].outcome;
    session_seen(&sessions, who, &seen);
    session_end(&sessions, who, mark);
    return outcome;
}

/* A session that failed has let go of what it held. */
static bool same_seen(const struct outcome *outcome, const struct observed *of_store)
{
    return outcome->kind != OUTCOME_COMMITTED ||
           (seen.isolation == of_store->isolation && seen.principal == of_store->principal &&
            seen.locked == of_store->locked && seen.lock_count == of_store->lock_count &&
            seen.only_read == of_store->only_read && seen.began == of_store->began &&
            memcmp(seen.locks, of_store->locks, seen.lock_count * sizeof *seen.locks) == 0);
}

static bool same_changes(const struct world *left, const struct world *right)
{
    if (left->change_count != right->change_count) {
        return false;
    }
    for (size_t i = 0; i < left->change_count; i++) {
        const struct row_change *one = &left->changes[i], *other = &right->changes[i];
        if (one->slot != other->slot || one->table != other->table || one->kind != other->kind ||
            one->column != other->column || one->before != other->before) {
            return false;
        }
    }
    return print_of(left) == print_of(right);
}

static bool same_outcome(const struct outcome *left, const struct outcome *right)
{
    return left->kind == right->kind && left->refusal == right->refusal &&
           left->aborted == right->aborted && left->skipped == right->skipped &&
           left->now == right->now &&
           memcmp(left->values, right->values, sizeof left->values) == 0 &&
           memcmp(left->message, right->message, sizeof left->message) == 0;
}

/* A row that others refer to is deleted by store.h, which looks at statements of engines only. */
static bool is_referred_to(const struct primitive *primitives, const struct bundle *bundle,
                           const struct outcome *outcome)
{
    return outcome->refusal == REFUSED_NO_PARENT &&
           primitives[bundle->calls[outcome->skipped - 1].primitive].ops[0].kind == OP_DELETE;
}

/* E-ACL-24 is about statements, and store.h knows none. */
static bool updates_twice(const struct primitive *primitives, const struct bundle *bundle)
{
    for (uint8_t c = 0; c < bundle->count; c++) {
        if (strcmp(primitives[bundle->calls[c].primitive].name, "two updates") == 0) {
            return true;
        }
    }
    return false;
}

/* A message that comes first of those that are due. */
static uint32_t pick(const struct world *rows)
{
    uint32_t slot = ROW_NONE;
    world_visible(rows, 1, &slot);
    return slot;
}

struct tally {
    unsigned committed, refused, skipped, given_up, serializable, passed_over, locked, only_read,
        by_refusal[REFUSAL_COUNT];
};

static void compare_alone(const struct script *script, struct world *other, unsigned who,
                          uint64_t seed, struct tally *tally)
{
    const struct bundle *bundle = &script->bundles[who];
    if (updates_twice(script->primitives, bundle)) {
        tally->passed_over++;
        return;
    }
    uint32_t picked = pick(&world);
    struct outcome one = execute(who, bundle, picked, script->gives_up[who]),
                   same = {.kind = OUTCOME_NONE};
    struct observed of_store;
    store_execute_seen(other, script->primitives, bundle, picked, &same, &of_store);
    bool given_up = script->gives_up[who] && same.kind == OUTCOME_COMMITTED;
    if (is_referred_to(script->primitives, bundle, &one)) {
        world_undo(other, 0);
        tally->passed_over++;
    } else if (given_up) {
        world_undo(other, 0);
        same.kind = OUTCOME_ABORTED;
        same.skipped = 0;
    }
    cr_assert(is_referred_to(script->primitives, bundle, &one) || same_outcome(&one, &same),
              "seed %llu, %c: outcome %d %s %d, of the store %d %s %d", (unsigned long long)seed,
              'A' + (int)who, one.kind, refusal_text((enum refusal)one.refusal), one.skipped,
              same.kind, refusal_text((enum refusal)same.refusal), same.skipped);
    cr_assert(same_changes(&world, other), "seed %llu, %c: other changes, %zu and %zu",
              (unsigned long long)seed, 'A' + (int)who, world.change_count, other->change_count);
    cr_assert(same_seen(&one, &of_store), "seed %llu, %c: both levels see the same of it",
              (unsigned long long)seed, 'A' + (int)who);
    tally->locked += one.kind == OUTCOME_COMMITTED && seen.lock_count > 0;
    tally->only_read += one.kind == OUTCOME_COMMITTED && seen.only_read;
    tally->committed += one.kind == OUTCOME_COMMITTED;
    tally->refused += one.kind == OUTCOME_REFUSED;
    tally->by_refusal[one.refusal]++;
    tally->skipped += one.kind == OUTCOME_COMMITTED && one.skipped != 0;
    tally->given_up += given_up;
    tally->serializable += bundle->isolation == SERIALIZABLE;
    world_keep(&world);
    world_keep(other);
}

/* (SP1) */
Test(session, alone_the_transactions_of_scripts_do_what_the_store_does)
{
    struct world other;
    struct world_capacity capacity = script_capacity();
    struct tally tally = {.committed = 0};
    cr_assert(world_make(&other, &capacity));
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        static struct script script;
        script_draw(&script, seed);
        script_fill(&script, &world);
        script_fill(&script, &other);
        sessions_begin(&sessions, &world, script.primitives, &session_postgresql,
                       SCRIPT_SESSIONS_MAX);
        for (unsigned who = 0; who < script.sessions; who++) {
            compare_alone(&script, &other, who, seed, &tally);
            cr_assert_eq(sessions_open(&sessions), 0U);
        }
    }
    world_free(&other);
    printf("%u committed, %u of them skipped a part; %u refused, %u given up, %u serializable; %u "
           "passed over\n",
           tally.committed, tally.skipped, tally.refused, tally.given_up, tally.serializable,
           tally.passed_over);
    cr_expect_gt(tally.committed, 4000U);
    cr_expect_gt(tally.refused, 1000U);
    cr_expect_gt(tally.skipped, 100U);
    cr_expect_gt(tally.serializable, 3000U);
    cr_expect_gt(tally.locked, 100U);
    cr_expect_gt(tally.only_read, 100U);
    cr_expect_lt(tally.passed_over, 1500U);
    static const enum refusal wanted[] = {REFUSED_EXISTS, REFUSED_NO_PARENT, REFUSED_NULL,
                                          REFUSED_CLOSED, REFUSED_DONE,      REFUSED_NO_MESSAGE};
    for (size_t i = 0; i < COUNT(wanted); i++) {
        cr_expect_gt(tally.by_refusal[wanted[i]], 0U, "%s", refusal_text(wanted[i]));
    }
}

/* The catalogue's primitives, in bundles that make little sense and go everywhere. */
Test(session, alone_bundles_of_the_catalogue_do_what_the_store_does)
{
    uint64_t random = 11;
    unsigned whole = 0, refused = 0, skipped = 0;
    for (int round = 0; round < 40; round++) {
        struct world one = bundles_world(400), other = bundles_world(400);
        sessions_begin(&sessions, &one, primitive_table, &session_postgresql, 1);
        for (int i = 0; i < 400; i++) {
            struct bundle bundle;
            struct outcome outcome, same = {.kind = OUTCOME_NONE};
            bundles_draw(&random, &bundle);
            bundle.isolation = random_one_in(&random, 2) ? SERIALIZABLE : READ_COMMITTED;
            uint32_t picked = pick(&one);
            outcome = execute(0, &bundle, picked, false);
            store_execute(&other, primitive_table, &bundle, picked, &same);
            cr_assert(same_outcome(&outcome, &same),
                      "round %d, bundle %d: outcome %d %s %d, of the store %d %s %d", round, i,
                      outcome.kind, refusal_text((enum refusal)outcome.refusal), outcome.skipped,
                      same.kind, refusal_text((enum refusal)same.refusal), same.skipped);
            cr_assert(same_changes(&one, &other), "round %d, bundle %d", round, i);
            refused += outcome.kind == OUTCOME_REFUSED;
            skipped += outcome.kind == OUTCOME_COMMITTED && outcome.skipped != 0;
            whole += outcome.kind == OUTCOME_COMMITTED && outcome.skipped == 0;
            world_keep(&one);
            world_keep(&other);
        }
        world_free(&one);
        world_free(&other);
    }
    cr_expect_gt(refused, 1500U);
    cr_expect_gt(skipped, 500U);
    cr_expect_gt(whole, 500U);
}

/* ---- a snapshot ------------------------------------------------------------------------------ */

static const struct {
    uint8_t table, column;
    int64_t first;
} snapshot_tables[] = {{TABLE_JOB, JOB_SEMAPHORE, 1},
                       {TABLE_ACTIVITY, ACTIVITY_LEDGER, 11},
                       {TABLE_MESSAGE, MESSAGE_VISIBLE_AT, 21},
                       {TABLE_GUID, GUID_LEDGER, 31},
                       {TABLE_COMPLETION, COMPLETION_RUNS, 41}};
#define SNAPSHOT_KEYS  3
#define SNAPSHOT_READS (COUNT(snapshot_tables) * SNAPSHOT_KEYS)

/* A serializable transaction that reads every row a script may have, one a statement. */
static void reader_of_all(struct primitive *primitives, uint8_t first, struct bundle *bundle)
{
    *bundle = (struct bundle){.isolation = SERIALIZABLE};
    for (size_t t = 0; t < COUNT(snapshot_tables); t++) {
        primitives[first + t] = (struct primitive){
            .name = "look",
            .params = 1,
            .op_count = 1,
            .ops = {{OP_READ, snapshot_tables[t].table, snapshot_tables[t].column,
                     .key = COURSE_P(0), .returns = COURSE_TO(0)}}};
        for (int k = 0; k < SNAPSHOT_KEYS; k++) {
            bundle->calls[bundle->count++] =
                (struct call){.primitive = (uint8_t)(first + t), .params = bundle->param_count};
            bundle->params[bundle->param_count++] = snapshot_tables[t].first + k;
        }
    }
}

static int64_t cell_of(const struct world *rows, uint8_t table, int64_t key, int column)
{
    uint32_t slot = row_find(&rows->rows, (enum row_table)table, key);
    return slot == ROW_NONE ? 0 : row_get(&rows->rows, (enum row_table)table, slot, column);
}

/* (SS3): whatever commits meanwhile, in as many transactions as there are. */
Test(session, a_serializable_reader_sees_the_rows_as_they_were)
{
    unsigned changed = 0;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        static struct script script;
        struct primitive primitives[(size_t)SCRIPT_PRIMITIVES_MAX + COUNT(snapshot_tables)];
        struct bundle reader;
        int64_t before[SNAPSHOT_READS];
        const unsigned who = SCRIPT_SESSIONS_MAX;
        script_draw(&script, seed);
        script_fill(&script, &world);
        memcpy(primitives, script.primitives, sizeof script.primitives);
        reader_of_all(primitives, SCRIPT_PRIMITIVES_MAX, &reader);
        for (size_t r = 0; r < SNAPSHOT_READS; r++) {
            size_t t = r / SNAPSHOT_KEYS;
            before[r] = cell_of(&world, snapshot_tables[t].table, reader.params[r],
                                snapshot_tables[t].column);
        }
        sessions_begin(&sessions, &world, primitives, &session_postgresql, SCRIPT_SESSIONS_MAX + 1);
        session_begin(&sessions, who, &reader, ROW_NONE);
        session_operation(&sessions, who);
        uint64_t first = print_of(&world);
        for (unsigned s = 0; s < script.sessions; s++) {
            execute(s, &script.bundles[s], pick(&world), script.gives_up[s]);
            world_keep(&world);
        }
        changed += print_of(&world) != first;
        for (size_t r = 0; r < SNAPSHOT_READS; r++) {
            cr_assert(r == 0 || session_operation(&sessions, who) != SESSION_WAITS);
            cr_assert_eq(sessions.each[who].outcome.values[0], before[r],
                         "seed %llu, row %lld: %lld instead of %lld", (unsigned long long)seed,
                         (long long)reader.params[r],
                         (long long)sessions.each[who].outcome.values[0], (long long)before[r]);
        }
        cr_assert(session_apply(&sessions, who), "who only reads what was before comes before all");
        session_end(&sessions, who, 0);
    }
    cr_expect_gt(changed, 1000U);
}

/* ---- courses --------------------------------------------------------------------------------- */

/* As a server would: who can go on does, who has waited longest first; who closes a cycle fails. */
static void wake(void)
{
    for (;;) {
        unsigned next = SESSIONS_MAX;
        for (unsigned s = 0; s < sessions.count; s++) {
            if (session_deadlock(&sessions, s) == 0 && sessions.each[s].state == SESSION_WAITS &&
                session_waits_for(&sessions, s) == 0 &&
                (next == SESSIONS_MAX ||
                 sessions.each[s].wait_since < sessions.each[next].wait_since)) {
                next = s;
            }
        }
        if (next == SESSIONS_MAX) {
            return;
        }
        session_statement(&sessions, next);
    }
}

static void hand_begin(void *context, unsigned who, const struct bundle *bundle)
{
    (void)context;
    session_begin(&sessions, who, bundle, SESSION_PICKS_ITSELF);
}

static void hand_statement(void *context, unsigned who)
{
    (void)context;
    session_statement(&sessions, who);
    if (session_deadlock(&sessions, who) != 0) {
        session_abort(&sessions, who, ABORT_DEADLOCK);
    }
    wake();
}

static bool hand_end(void *context, unsigned who, bool commit)
{
    (void)context;
    size_t mark = world_mark(&world);
    bool committed = false;
    if (commit && sessions.each[who].state == SESSION_DONE) {
        committed = session_apply(&sessions, who);
    } else if (sessions.each[who].state != SESSION_FAILED) {
        session_abort(&sessions, who, ABORT_NONE);
    }
    session_end(&sessions, who, mark);
    world_keep(&world);
    wake();
    return committed;
}

static const struct course_hands hands = {hand_begin, hand_statement, hand_end};

static struct course_verdict simulate(const struct course *course,
                                      const struct session_claims *rules)
{
    static struct course_cast cast;
    course_prepare(course, &cast);
    course_fill(&world);
    sessions_begin(&sessions, &world, cast.primitives, rules, COURSE_SESSIONS);
    return course_run(course, &cast, &sessions, &hands, NULL, true);
}

Test(session, every_course_goes_as_it_says)
{
    SETTLES(ERRATUM_ACL_24, ERRATUM_ACL_25, ERRATUM_CUT_11);
    for (size_t c = 0; c < COURSE_COUNT; c++) {
        struct course_verdict verdict = simulate(&courses[c], &session_postgresql);
        cr_expect_str_eq(verdict.text, "");
        cr_expect_eq(sessions_open(&sessions), 0U, "%s", courses[c].name);
    }
}

/* (SS1): the four modes against each other, and what each operation takes. */
Test(session, a_lock_keeps_waiting_whom_it_excludes)
{
    for (size_t held = 0; held < COURSE_HELDS; held++) {
        for (unsigned mode = 0; mode < COURSE_MODES; mode++) {
            struct course course;
            course_of_locks(held, mode, &course);
            cr_expect_str_eq(simulate(&course, &session_postgresql).text, "", "mode %u", mode);
        }
    }
}

static bool is_noticed(const struct session_claims *rules)
{
    for (size_t c = 0; c < COURSE_COUNT; c++) {
        if (simulate(&courses[c], rules).text[0] != '\0') {
            return true;
        }
    }
    for (size_t held = 0; held < COURSE_HELDS * COURSE_MODES; held++) {
        struct course course;
        course_of_locks(held / COURSE_MODES, held % COURSE_MODES, &course);
        if (simulate(&course, rules).text[0] != '\0') {
            return true;
        }
    }
    return false;
}

/* Courses are worth as much as the errors that they notice. */
Test(session, each_deliberate_error_makes_a_course_go_another_way)
{
    cr_assert_not(is_noticed(&session_postgresql));
    for (size_t e = 0; e < session_error_count(); e++) {
        struct session_claims rules;
        char name[SESSION_ERROR_NAME_SIZE];
        session_error(e, &rules, name);
        cr_expect(is_noticed(&rules), "no course notices '%s'", name);
    }
}

/* ---- waits ----------------------------------------------------------------------------------- */

/* A step of a session that does what is given, one operation a call; without anybody's help. */
static struct course_cast cast;
static const struct course *on_stage;

static void stage(const struct course *course)
{
    on_stage = course;
    course_prepare(course, &cast);
    course_fill(&world);
    sessions_begin(&sessions, &world, cast.primitives, &session_postgresql, COURSE_SESSIONS);
}

/* The steps up to this one, nobody going on by itself. */
static void play(size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        unsigned who = (unsigned)(on_stage->steps[i].who - 'A');
        if (sessions.each[who].state == SESSION_CLOSED) {
            session_begin(&sessions, who, &cast.bundles[who], SESSION_PICKS_ITSELF);
        }
        session_statement(&sessions, who);
    }
}

static void commit(unsigned who)
{
    size_t mark = world_mark(&world);
    cr_assert(session_apply(&sessions, who));
    session_end(&sessions, who, mark);
    world_keep(&world);
}

enum { A = 1, B = 2, C = 4, D = 8 };

Test(session, who_waits_for_whom)
{
    static const struct course course = {.steps = {DOES('A', LOCK(JOB_, 1, LOCK_SHARE), ""),
                                                   DOES('B', LOCK(JOB_, 1, LOCK_SHARE), ""),
                                                   DOES('C', ADD(JOB_, 1, 1), ""),
                                                   DOES('D', ADD(JOB_, 1, 1), "")}};
    stage(&course);
    play(0, 4);
    cr_expect_eq(sessions_open(&sessions), (uint32_t)(A | B | C | D));
    cr_expect_eq(sessions_waiting(&sessions), (uint32_t)(C | D));
    cr_expect_eq(session_waits_for(&sessions, 2), (uint32_t)(A | B));
    cr_expect_eq(session_waits_for(&sessions, 0), 0U, "who does not wait waits for nobody");
    cr_expect(sessions_locked(&sessions, TABLE_JOB, row_find(&world.rows, TABLE_JOB, 1)));
    cr_expect_not(sessions_locked(&sessions, TABLE_JOB, row_find(&world.rows, TABLE_JOB, 2)));
    cr_expect_eq(sessions_stuck(&sessions), 0U);
    commit(0);
    cr_expect_eq(session_waits_for(&sessions, 2), (uint32_t)B);
    commit(1);
    cr_expect_eq(session_waits_for(&sessions, 2), 0U);
    cr_expect_eq(session_waits_for(&sessions, 3), 0U);
    cr_expect_not(session_queues(&sessions, 2), "it came first");
    cr_expect(session_queues(&sessions, 3), "and would have to give way on a server");
    cr_expect_eq(session_statement(&sessions, 2), SESSION_DONE);
    cr_expect_eq(session_statement(&sessions, 3), SESSION_WAITS, "now for the other");
    cr_expect_eq(session_waits_for(&sessions, 3), (uint32_t)C);
    session_abort(&sessions, 2, ABORT_CONNECTION);
    cr_expect_eq(session_waits_for(&sessions, 3), 0U, "it lets go before it is ended");
    cr_expect_eq(session_statement(&sessions, 3), SESSION_DONE);
    cr_expect_eq(sessions.each[3].outcome.values[0], 6);
}

Test(session, a_cycle_of_three_and_who_waits_for_it)
{
    static const struct course course = {
        .steps = {DOES('A', ADD(JOB_, 1, 1), ""), DOES('B', ADD(JOB_, 2, 1), ""),
                  DOES('C', ADD(JOB_, 3, 1), ""), DOES('D', ADD(JOB_, 1, 1), ""),
                  DOES('A', ADD(JOB_, 2, 1), ""), DOES('B', ADD(JOB_, 3, 1), ""),
                  DOES('C', ADD(JOB_, 1, 1), "")}};
    stage(&course);
    play(0, 6);
    for (unsigned s = 0; s < 4; s++) {
        cr_expect_eq(session_deadlock(&sessions, s), 0U, "a queue is no cycle");
    }
    cr_expect_eq(sessions_stuck(&sessions), 0U);
    play(6, 7);
    for (unsigned s = 0; s < 3; s++) {
        cr_expect_eq(session_deadlock(&sessions, s) & (A | B | C), (uint32_t)(A | B | C), "%c",
                     'A' + (int)s);
    }
    cr_expect_eq(session_deadlock(&sessions, 3), 0U, "it waits for the cycle and is no part of it");
    cr_expect_eq(sessions_stuck(&sessions), (uint32_t)(A | B | C | D));
    session_abort(&sessions, 2, ABORT_DEADLOCK);
    cr_expect_eq(sessions.each[2].outcome.kind, OUTCOME_ABORTED);
    cr_expect_eq(sessions.each[2].outcome.aborted, ABORT_DEADLOCK);
    cr_expect_eq(sessions_stuck(&sessions), 0U);
    cr_expect_eq(session_statement(&sessions, 1), SESSION_DONE, "whom it kept waiting goes on");
    commit(1);
    cr_expect_eq(session_statement(&sessions, 0), SESSION_DONE);
    commit(0);
    cr_expect_eq(session_statement(&sessions, 3), SESSION_DONE);
    cr_expect_eq(sessions.each[3].outcome.values[0], 7);
}

/* A and B are a cycle; C, who shares with B what A waits for, can go on: a server need not have
 * noticed yet. */
Test(session, a_cycle_in_which_a_session_also_waits_for_one_that_can_go_on)
{
    static const struct course course = {
        .steps = {DOES('A', ADD(JOB_, 2, 1), ""), DOES('B', LOCK(JOB_, 1, LOCK_SHARE), ""),
                  DOES('C', LOCK(JOB_, 1, LOCK_SHARE), ""), DOES('A', ADD(JOB_, 1, 1), ""),
                  DOES('B', ADD(JOB_, 2, 1), "")}};
    stage(&course);
    play(0, 5);
    cr_expect_eq(session_waits_for(&sessions, 0), (uint32_t)(B | C));
    cr_expect_eq(session_deadlock(&sessions, 0), (uint32_t)(A | B), "a server may notice");
    cr_expect_eq(session_deadlock(&sessions, 1), (uint32_t)(A | B));
    cr_expect_eq(sessions_stuck(&sessions), 0U, "and need not");
    commit(2);
    cr_expect_eq(sessions_stuck(&sessions), (uint32_t)(A | B), "now it must");
}

Test(session, advisory_locks_and_rows_make_a_cycle_together)
{
    static const struct course course = {
        .steps = {DOES('A', ADVISORY(1), ""), DOES('B', INSERT(TABLE_JOB, course_job, 4, 0), ""),
                  DOES('B', ADVISORY(1), ""), DOES('A', INSERT(TABLE_JOB, course_job, 4, 0), "")}};
    stage(&course);
    play(0, 4);
    cr_expect_eq(session_deadlock(&sessions, 0), (uint32_t)(A | B));
    cr_expect_eq(sessions_stuck(&sessions), (uint32_t)(A | B));
}

/* ---- 40001 that may come --------------------------------------------------------------------- */

Test(session, a_serializable_transaction_beside_another_may_be_aborted)
{
    static const struct course course = {
        .serializable = "AB",
        .steps = {DOES('A', READ(JOB_, 1), ""), DOES('C', READ(JOB_, 1), ""),
                  DOES('B', READ(JOB_, 2), ""), DOES('A', READ(JOB_, 2), "")}};
    stage(&course);
    play(0, 2);
    cr_expect_not(session_may_abort(&sessions, 0), "READ COMMITTED is nobody to it");
    cr_expect_not(session_may_abort(&sessions, 2));
    play(2, 3);
    cr_expect(session_may_abort(&sessions, 0));
    cr_expect(session_may_abort(&sessions, 1));
    cr_expect_not(session_may_abort(&sessions, 2));
    commit(1);
    cr_expect(session_may_abort(&sessions, 0), "also when that has committed");
}

/* ---- 40001 that must come -------------------------------------------------------------------- */

static const struct session_item x = {TABLE_JOB, 1}, y = {TABLE_JOB, 2}, z = {TABLE_JOB, 3};

/* One that read a row and wrote another, of a snapshot before all commits. */
static void overlaps(struct session *session, struct session_item reads, struct session_item writes)
{
    *session = (struct session){.read_count = 1, .write_count = 1};
    session->reads[0] = reads;
    session->writes[0] = (struct session_write){.table = writes.table, .key = writes.key};
}

static bool commits_so(struct session_item reads, struct session_item writes)
{
    static struct session session;
    overlaps(&session, reads, writes);
    bool commits = session_finds_order(&sessions, &session);
    sessions.commits += commits;
    return commits;
}

/* Each read what the next one wrote: of two of them some order explains it, of all three none. A
 * server may choose another victim, or an earlier one, so that this is no course. */
Test(session, the_last_of_a_cycle_of_three_fails)
{
    sessions_begin(&sessions, &world, primitive_table, &session_postgresql, 3);
    cr_expect(commits_so(x, y));
    cr_expect(commits_so(y, z));
    cr_expect_eq(sessions.history_count, 2U);
    cr_expect_not(commits_so(z, x));
    cr_expect_eq(sessions.history_count, 2U, "what failed is no part of any order");
    cr_expect(commits_so(z, (struct session_item){TABLE_JOB, 4}), "a chain is no cycle");
}

/* The second saw what the first wrote, and nothing else keeps the two in order: the third did not see
 * the first and was not seen by the second. */
Test(session, what_one_has_seen_is_part_of_a_cycle)
{
    static struct session second;
    sessions_begin(&sessions, &world, primitive_table, &session_postgresql, 3);
    cr_expect(commits_so((struct session_item){TABLE_JOB, 4}, x));
    overlaps(&second, x, z);
    second.reads[second.read_count++] = y;
    second.start = sessions.commits;
    cr_expect(session_finds_order(&sessions, &second));
    sessions.commits++;
    cr_expect_not(commits_so(x, y));
}

Test(session, of_many_commits_the_oldest_is_forgotten)
{
    sessions_begin(&sessions, &world, primitive_table, &session_postgresql, 3);
    for (int64_t key = 1; key <= SESSION_HISTORY_MAX + 3; key++) {
        struct session_item own = {TABLE_JOB, key};
        cr_assert(commits_so(own, own));
        cr_assert_leq(sessions.history_count, (uint32_t)SESSION_HISTORY_MAX);
    }
    cr_assert_eq(sessions.history_count, (uint32_t)SESSION_HISTORY_MAX);
    for (int64_t h = 0; h < SESSION_HISTORY_MAX; h++) {
        cr_expect_eq(sessions.history[h].writes[0].key, h + 4);
    }
}

/* The 40001 at COMMIT is told as one. */
Test(session, who_fails_at_commit_is_told_why)
{
    static const struct course course = {
        .serializable = "AB",
        .steps = {DOES('A', READ(JOB_, 1), ""), DOES('B', READ(JOB_, 2), ""),
                  DOES('A', ADD(JOB_, 2, 1), ""), DOES('B', ADD(JOB_, 1, 1), "")}};
    stage(&course);
    play(0, 4);
    commit(0);
    cr_expect_not(session_apply(&sessions, 1));
    cr_expect_eq(sessions.each[1].outcome.kind, OUTCOME_ABORTED);
    cr_expect_eq(sessions.each[1].outcome.aborted, ABORT_SERIALIZATION);
}

/* ---- errors on purpose ----------------------------------------------------------------------- */

Test(session, every_deliberate_error_is_one_and_another)
{
    static struct session_claims rules[128];
    static char names[COUNT(rules)][SESSION_ERROR_NAME_SIZE];
    size_t count = session_error_count();
    cr_assert_leq(count, COUNT(rules));
    for (size_t i = 0; i < count; i++) {
        memset(&rules[i], 0, sizeof rules[i]);
        session_error(i, &rules[i], names[i]);
        cr_expect_neq(memcmp(&rules[i], &session_postgresql, sizeof rules[i]), 0, "%s", names[i]);
        for (size_t j = 0; j < i; j++) {
            cr_expect_neq(memcmp(&rules[i], &rules[j], sizeof rules[i]), 0, "%s and %s", names[i],
                          names[j]);
            cr_expect_str_neq(names[i], names[j]);
        }
    }
}

/* ---- other ways that rows change ------------------------------------------------------------- */

Test(session, a_change_that_nobody_made_is_one_that_a_snapshot_does_not_see)
{
    static const struct course course = {
        .serializable = "A",
        .steps = {DOES('A', READ(JOB_, 1), ""), DOES('A', READ(JOB_, 1), ""),
                  DOES('A', ADD(JOB_, 1, 1), ""), DOES('B', READ(JOB_, 1), "")}};
    stage(&course);
    play(0, 1);
    size_t mark = world_mark(&world);
    world_set(&world, TABLE_JOB, row_find(&world.rows, TABLE_JOB, 1), JOB_SEMAPHORE, 50);
    sessions_note(&sessions, mark);
    world_keep(&world);
    play(1, 2);
    cr_expect_eq(sessions.each[0].outcome.values[0], 5);
    play(3, 4);
    cr_expect_eq(sessions.each[1].outcome.values[0], 50);
    play(2, 3);
    cr_expect_eq(sessions.each[0].outcome.aborted, ABORT_SERIALIZATION);
}

/* The log of versions is bounded: who would need more of it loses its connection, and nobody else.
 */
Test(session, who_looks_back_too_far_is_cut_off)
{
    static const struct course course = {
        .serializable = "A",
        .steps = {DOES('A', READ(JOB_, 1), ""), DOES('A', READ(JOB_, 1), ""),
                  DOES('B', ADD(JOB_, 2, 1), ""), DOES('B', ADD(JOB_, 2, 1), "")}};
    stage(&course);
    play(0, 1);
    play(2, 3);
    for (int i = 0; i < SESSION_VERSIONS_MAX; i++) {
        cr_assert_eq(sessions.each[0].state, SESSION_OPEN, "after %d", i);
        world_set(&world, TABLE_JOB, row_find(&world.rows, TABLE_JOB, 1), JOB_SEMAPHORE, 6 + i);
        sessions_note(&sessions, 0);
        world_keep(&world);
    }
    world_set(&world, TABLE_JOB, row_find(&world.rows, TABLE_JOB, 1), JOB_SEMAPHORE, 5);
    sessions_note(&sessions, 0);
    world_keep(&world);
    cr_expect_eq(sessions.each[0].state, SESSION_FAILED);
    cr_expect_eq(sessions.each[0].outcome.aborted, ABORT_CONNECTION);
    cr_expect_eq(sessions.each[1].state, SESSION_OPEN);
    play(3, 4);
    cr_expect_eq(sessions.each[1].outcome.values[0], 9, "what it did stands");
    session_end(&sessions, 0, 0);
    commit(1);
}

/* Rules that are wrong may let two delete a row, or one write what the other deleted: the rows stay
 * sound all the same. */
Test(session, a_row_that_wrong_rules_let_two_delete_goes_once)
{
    static const struct course course = {.steps = {DOES('A', DELETE(MESSAGE_, 21), ""),
                                                   DOES('B', DELETE(MESSAGE_, 21), ""),
                                                   DOES('C', ADD(MESSAGE_, 21, 1), "")}};
    struct session_claims rules = session_postgresql;
    rules.locks_last = false;
    stage(&course);
    sessions.rules = &rules;
    play(0, 3);
    for (unsigned who = 0; who < 3; who++) {
        commit(who);
        cr_expect_eq(row_find(&world.rows, TABLE_MESSAGE, 21), ROW_NONE);
        cr_expect_eq(world.queue_count, 1U);
    }
}

/* (SS5): a copy of the sessions, and of the rows' world, goes on where the original stood. */
Test(session, a_copy_goes_on_where_the_original_stood)
{
    static struct sessions copy;
    static const struct course course = {
        .steps = {DOES('A', ADD(JOB_, 1, 1), ""), DOES('B', ADD(JOB_, 1, 1), "")}};
    stage(&course);
    play(0, 2);
    copy = sessions;
    commit(0);
    cr_expect_eq(session_statement(&sessions, 1), SESSION_DONE);
    cr_expect_eq(sessions.each[1].outcome.values[0], 7);
    world_set(&world, TABLE_JOB, row_find(&world.rows, TABLE_JOB, 1), JOB_SEMAPHORE, 5);
    world_keep(&world);
    cr_expect_eq(session_waits_for(&copy, 1), (uint32_t)A);
    session_abort(&copy, 0, ABORT_NONE);
    cr_expect_eq(session_statement(&copy, 1), SESSION_DONE);
    cr_expect_eq(copy.each[1].outcome.values[0], 6);
}

Test(session, every_deliberate_error_has_a_name_of_its_own_and_one_deviation)
{
    for (size_t e = 0; e < session_error_count(); e++) {
        struct session_claims rules, other;
        char name[SESSION_ERROR_NAME_SIZE], second[SESSION_ERROR_NAME_SIZE];
        session_error(e, &rules, name);
        cr_expect_neq(memcmp(&rules, &session_postgresql, sizeof rules), 0, "%s", name);
        cr_expect_lt(strlen(name), sizeof name - 1);
        for (size_t f = 0; f < e; f++) {
            session_error(f, &other, second);
            cr_expect_str_neq(name, second);
        }
    }
}
