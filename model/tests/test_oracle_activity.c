/* The monitors of the two-leg protocol, told commits by hand. Correct runs, with every replay that
 * the protocol allows, are fine to the last commit; each planted violation is reported under the
 * clause that it breaks and by the oracle that must see it. */
#include "model/oracle/seen.h"
#include "model/tests/golden.h"
#include "model/tests/proves.h"
#include "model/tests/told.h"

/* One world a test: Criterion runs each in a process of its own. */
static struct told world;

/* ---- correct runs ---------------------------------------------------------------------------- */

#define TELL(what)                                                                                 \
    do {                                                                                           \
        what;                                                                                      \
        expect_fine(told, #what);                                                                  \
    } while (false)

static void tell_leg1(struct told *told, int64_t activity)
{
    TELL(do_claim(told, activity + LEG1_OF));
    TELL(do_enter1(told, activity));
    TELL(do_work1(told, activity, 0));
    TELL(do_ack(told, activity + LEG1_OF));
}

static void tell_answer(struct told *told, int64_t activity, int64_t guid)
{
    TELL(do_claim(told, activity + WORK_OF));
    TELL(do_answer(told, activity, guid, ANSWER_CLOSES, 0));
    TELL(do_ack(told, activity + WORK_OF));
    TELL(do_claim(told, guid + LEG2_OF));
}

static void tell_leg2(struct told *told, int64_t activity, int64_t guid, int64_t answer,
                      struct family family)
{
    TELL(do_enter2(told, activity, guid, answer));
    TELL(do_step1(told, guid, 0));
    TELL(do_step2(told, guid, family, 0));
}

/* A child without children of its own, up to its ack. */
static void tell_leaf(struct told *told, int64_t activity)
{
    tell_leg1(told, activity);
    tell_answer(told, activity, activity + 100);
    tell_leg2(told, activity, activity + 100, ANSWER_CLOSES, nobody);
    TELL(do_ack(told, activity + 100 + LEG2_OF));
}

/* How far a trigger with two children has come. */
enum stage {
    NOTHING,
    CREATED,
    ENTERED1,
    WORKED1,
    ACKED1,
    ANSWERED,  /* the task is acked, the Leg2 message claimed */
    ENTERED2,  /* GUID 200 */
    STEPPED1,  /* work done */
    STEPPED2,  /* children 101 and 102 */
    LAST_WORK, /* 101 is done, GUID 202 has done its work */
    CLOSED,    /* GUID 202 closed the job */
    COMPLETED, /* and ran the completion tasks */
    ENDED      /* nothing is left */
};

static const struct family twins = {{101, 102}, 0};

static void reach_last_work(struct told *told)
{
    TELL(do_ack(told, 200 + LEG2_OF));
    tell_leaf(told, 101);
    tell_leg1(told, 102);
    tell_answer(told, 102, 202);
    TELL(do_enter2(told, 102, 202, ANSWER_CLOSES));
    TELL(do_step1(told, 202, 0));
}

static void reach(struct told *told, enum stage stage)
{
    told_begin(told);
    for (enum stage next = CREATED; next <= stage; next++) {
        switch (next) {
        case CREATED:
            TELL(do_create(told, 0, 0));
            TELL(do_claim(told, 100 + LEG1_OF));
            break;
        case ENTERED1:
            TELL(do_enter1(told, 100));
            break;
        case WORKED1:
            TELL(do_work1(told, 100, 0));
            break;
        case ACKED1:
            TELL(do_ack(told, 100 + LEG1_OF));
            break;
        case ANSWERED:
            tell_answer(told, 100, 200);
            break;
        case ENTERED2:
            TELL(do_enter2(told, 100, 200, ANSWER_CLOSES));
            break;
        case STEPPED1:
            TELL(do_step1(told, 200, 0));
            break;
        case STEPPED2:
            TELL(do_step2(told, 200, twins, 0));
            break;
        case LAST_WORK:
            reach_last_work(told);
            break;
        case CLOSED:
            TELL(do_step2(told, 202, nobody, 0));
            break;
        case COMPLETED:
            TELL(do_step3(told, 202, 0));
            break;
        case ENDED:
            TELL(do_ack(told, 202 + LEG2_OF));
            break;
        case NOTHING:
        default:
            break;
        }
    }
}

static void expect_settled(struct told *told, bool quiet, enum clause_id clause)
{
    struct oracle_verdict verdict = oracle_activity_settled(&told->oracle, &told->hand.rows, quiet);
    cr_expect_eq(verdict.clause, clause, "settled: clause %d where %d should be reported (%s)",
                 (int)verdict.clause, (int)clause, verdict.why);
}

static void expect_settled_as(struct told *told, const char *why)
{
    cr_expect_str_eq(oracle_activity_settled(&told->oracle, &told->hand.rows, true).why, why);
}

Test(oracle_activity, a_tree_without_faults_is_fine)
{
    PROVES(CLAUSE_ACL_16, CLAUSE_ACL_17, CLAUSE_ACL_18, CLAUSE_ACL_19, CLAUSE_ACL_22, CLAUSE_ACL_29,
           CLAUSE_ACL_39);
    reach(&world, ENDED);
    expect_settled(&world, true, FINE);
    cr_expect_eq(get(&world, TABLE_ACTIVITY, 102, ACTIVITY_LEDGER), INT64_C(1111100000001));
    cr_expect_eq(get(&world, TABLE_GUID, 202, GUID_LEDGER), INT64_C(111100000001));
    cr_expect_eq(world.oracle.seen[COVER_THRESHOLD_0], 1);
    cr_expect_eq(world.oracle.seen[COVER_LEG1_ENTRY_APART], 3);
}

/* Steps and ack in fewer commits, as a provider that bundles more would make them. */
Test(oracle_activity, merged_commits_are_fine)
{
    struct told *told = &world;
    reach(told, ANSWERED);
    do_enter2(told, 100, 200, ANSWER_CLOSES);
    do_step1(told, 200, 0);
    do_step2(told, 200, nobody, 0);
    do_step3(told, 200, 0);
    TELL(do_ack(told, 200 + LEG2_OF));
    expect_settled(told, true, FINE);
}

Test(oracle_activity, a_peer_that_answers_in_leg1_is_fine)
{
    struct told *told = &world;
    reach(told, ENTERED1);
    TELL(do_work1(told, 100, AS_PEER));
    TELL(do_ack(told, 100 + LEG1_OF));
    tell_leg2(told, 100, 200, ANSWER_CLOSES, nobody);
    TELL(do_step3(told, 200, 0));
    TELL(do_ack(told, 200 + LEG2_OF));
    expect_settled(told, true, FINE);
}

/* A pending answer leaves the activity open (E-ACL-8), a cycle edge sends a second GUID to it
 * (E-ACL-22): three GUIDs, one activity, markers set once (E-ACL-2). */
static void tell_pending_and_cycle(struct told *told, bool cycle_first)
{
    told_begin(told);
    TELL(do_create(told, 0, 0));
    tell_leg1(told, 100);
    TELL(do_answer(told, 100, 210, 1, 0));
    TELL(do_answer(told, 100, 200, ANSWER_CLOSES, 1));
    TELL(do_ack(told, 100 + WORK_OF));
    TELL(set(told, TABLE_MESSAGE, 200 + LEG2_OF, MESSAGE_VISIBLE_AT, 9)); /* put back (E-ACL-20) */
    tell_leg2(told, 100, 210, 1, (struct family){{103}, 0});
    TELL(do_ack(told, 210 + LEG2_OF));
    tell_leg2(told, 100, 200, ANSWER_CLOSES, (struct family){{101}, 0});
    TELL(do_ack(told, 200 + LEG2_OF));
    tell_leg1(told, 101);
    tell_answer(told, 101, 201);
    tell_leg2(told, 101, 201, ANSWER_CLOSES, (struct family){{0}, 220});
    TELL(do_ack(told, 201 + LEG2_OF));
    if (!cycle_first) {
        tell_leaf(told, 103);
    }
    tell_leg2(told, 100, 220, ANSWER_CYCLES, nobody);
    if (cycle_first) {
        TELL(do_ack(told, 220 + LEG2_OF));
        tell_leg1(told, 103);
        tell_answer(told, 103, 203);
        tell_leg2(told, 103, 203, ANSWER_CLOSES, nobody);
    }
    int64_t closer = cycle_first ? 203 : 220;
    TELL(do_step3(told, closer, 0));
    TELL(do_ack(told, closer + LEG2_OF));
}

Test(oracle_activity, pending_answers_and_cycles_are_fine)
{
    PROVES(CLAUSE_ACL_5, CLAUSE_ACL_19, CLAUSE_ACL_32);
    SETTLES(ERRATUM_ACL_2, ERRATUM_ACL_8, ERRATUM_ACL_20, ERRATUM_ACL_22);
    tell_pending_and_cycle(&world, true);
    expect_settled(&world, true, FINE);
    tell_pending_and_cycle(&world, false);
    expect_settled(&world, true, FINE);
}

/* ---- replays --------------------------------------------------------------------------------- */

Test(oracle_activity, a_stale_leg1_message_only_counts)
{
    PROVES(CLAUSE_ACL_9, CLAUSE_ACL_10, CLAUSE_ACL_34);
    struct told *told = &world;
    reach(told, WORKED1);
    TELL(do_copy(told, 100 + LEG1_OF));
    TELL(do_claim(told, 100 + LEG1_OF)); /* redelivered: finished, not acked */
    TELL(do_enter1(told, 100));
    TELL(do_ack(told, 100 + LEG1_OF));
    TELL(do_claim(told, 100 + LEG1_OF + COPY_OF));
    TELL(do_enter1(told, 100));
    TELL(do_ack(told, 100 + LEG1_OF + COPY_OF));
    cr_expect_eq(told->oracle.seen[COVER_REPLAY_LEG1_BEFORE_ACK], 1);
    cr_expect_eq(told->oracle.seen[COVER_REPLAY_LEG1_AFTER_ACK], 1);
    cr_expect_eq(told->oracle.seen[COVER_LEG1_STALE], 2);
}

Test(oracle_activity, a_crash_after_every_step_resumes)
{
    PROVES(CLAUSE_ACL_24, CLAUSE_ACL_25, CLAUSE_ACL_34);
    struct told *told = &world;
    reach(told, ENTERED2);
    TELL(do_enter2_again(told, 200));
    TELL(do_step1(told, 200, 0));
    TELL(do_enter2_again(told, 200));
    TELL(do_step2(told, 200, twins, 0));
    TELL(do_enter2_again(told, 200));
    reach_last_work(told);
    TELL(do_step2(told, 202, nobody, 0));
    TELL(do_enter2_again(told, 202));
    TELL(do_step3(told, 202, 0));
    TELL(do_claim(told, 202 + LEG2_OF));
    TELL(do_enter2_again(told, 202));
    TELL(do_copy(told, 202 + LEG2_OF));
    TELL(do_ack(told, 202 + LEG2_OF));
    TELL(do_claim(told, 202 + LEG2_OF + COPY_OF));
    TELL(do_enter2_again(told, 202));
    TELL(do_ack(told, 202 + LEG2_OF + COPY_OF));
    expect_settled(told, true, FINE);
    static const enum oracle_cover once[] = {
        COVER_RESUME_NOTHING,       COVER_RESUME_WORK,        COVER_RESUME_SPAWNED,
        COVER_RESUME_CLOSED,        COVER_STEP3_AFTER_RESUME, COVER_REPLAY_LEG2_BEFORE_ACK,
        COVER_REPLAY_LEG2_AFTER_ACK};
    for (size_t i = 0; i < COUNT(once); i++) {
        cr_expect_eq(told->oracle.seen[once[i]], 1, "%s", oracle_cover_text(once[i]));
    }
    cr_expect_eq(told->oracle.seen[COVER_RESUME_DONE], 2);
}

/* A copy of a child's message, of a cycle message and of an answer: none of them is a spawn. */
Test(oracle_activity, copies_are_no_spawns)
{
    SETTLES(ERRATUM_ACL_7, ERRATUM_ACL_11);
    struct told *told = &world;
    reach(told, STEPPED1);
    TELL(do_step2(told, 200, (struct family){{101}, 220}, 0));
    TELL(do_copy(told, 101 + LEG1_OF));
    TELL(do_copy(told, 220 + LEG2_OF));
    TELL(do_copy(told, 200 + LEG2_OF));
    TELL(do_ack(told, 200 + LEG2_OF));
    do_answer(told, 100, 200, ANSWER_CLOSES, 0); /* a worker that was run again */
    TELL(do_ack(told, 200 + LEG2_OF + COPY_OF));
    TELL(do_enter2(told, 100, 220, ANSWER_CYCLES));
    TELL(do_step1(told, 220, 0));
    TELL(do_ack(told, 200 + LEG2_OF));
    TELL(do_step2(told, 220, nobody, 0));
    TELL(do_ack(told, 220 + LEG2_OF + COPY_OF));
    TELL(do_ack(told, 220 + LEG2_OF));
}

/* A second closing answer under another GUID is acked without steps, whether it met the closure
 * before it did its work or after (E-ACL-19). */
Test(oracle_activity, an_overruled_answer_is_acked_without_steps)
{
    PROVES(CLAUSE_ACL_30);
    SETTLES(ERRATUM_ACL_19);
    struct told *told = &world;
    reach(told, STEPPED1);
    TELL(do_answer(told, 100, 230, ANSWER_CLOSES, 0));
    TELL(do_answer(told, 100, 231, ANSWER_CLOSES, 0));
    TELL(do_answer(told, 100, 232, ANSWER_CLOSES, 0));
    TELL(do_enter2(told, 100, 230, ANSWER_CLOSES));
    TELL(do_enter2(told, 100, 231, ANSWER_CLOSES));
    TELL(do_step1(told, 231, 0));
    TELL(do_step2(told, 200, twins, 0));
    TELL(do_ack(told, 230 + LEG2_OF));
    TELL(do_ack(told, 231 + LEG2_OF));
    TELL(do_ack(told, 232 + LEG2_OF));
}

/* A store that lost commits may take a message back which nobody claimed: that is no ack. */
Test(oracle_activity, a_message_that_vanishes_unclaimed_was_not_acked)
{
    struct told *told = &world;
    reach(told, ACKED1);
    TELL(do_answer(told, 100, 200, ANSWER_CLOSES, 0));
    uint64_t acks = told->oracle.evaluated[CLAUSE_ACL_30];
    TELL(drop(told, TABLE_MESSAGE, 200 + LEG2_OF));
    cr_expect_eq(told->oracle.evaluated[CLAUSE_ACL_30], acks);
    TELL(do_answer(told, 100, 200, ANSWER_CLOSES, 0));
    tell_leg2(told, 100, 200, ANSWER_CLOSES, nobody);
}

/* A job that has ended is purged, and a late message of it is acked (E-ACL-29). */
Test(oracle_activity, a_purged_job_may_vanish)
{
    SETTLES(ERRATUM_ACL_29);
    struct told *told = &world;
    reach(told, COMPLETED);
    TELL(do_copy(told, 202 + LEG2_OF));
    TELL(do_ack(told, 202 + LEG2_OF));
    drop(told, TABLE_JOB, THE_JOB);
    drop(told, TABLE_COMPLETION, 202 + COMPLETION_OF);
    for (int64_t activity = 100; activity <= 102; activity++) {
        drop(told, TABLE_OUTPUT, activity + 100 + OUTPUT_OF);
        drop(told, TABLE_TASK, activity + TASK_OF);
        drop(told, TABLE_ACTIVITY, activity);
    }
    TELL();
    TELL(do_ack(told, 202 + LEG2_OF + COPY_OF));
    TELL(drop(told, TABLE_GUID, 202));
}

/* ---- ceilings -------------------------------------------------------------------------------- */

static void begin_at(struct told *told, int64_t ledger)
{
    told_begin(told);
    TELL(do_create(told, 0, ledger));
}

Test(oracle_activity, the_999th_leg1_entry_is_served_and_the_next_escalated)
{
    PROVES(CLAUSE_ACL_6, CLAUSE_ACL_43);
    SETTLES(ERRATUM_ACL_10, ERRATUM_ACL_18);
    struct told *told = &world;
    begin_at(told, 998 * ONE_T);
    TELL(do_enter1(told, 100));
    TELL(do_escalate(told, 100 + LEG1_OF, ESCALATED_LEG1_CEILING));
    expect_settled(told, true, FINE);
}

Test(oracle_activity, leg2_counters_stand_still_at_their_ceilings)
{
    PROVES(CLAUSE_ACL_7, CLAUSE_ACL_15);
    SETTLES(ERRATUM_ACL_17);
    struct told *told = &world;
    begin_at(told, 99999996);
    tell_leg1(told, 100);
    TELL(do_answer(told, 100, 210, 1, 0));
    TELL(do_answer(told, 100, 211, 2, 0));
    TELL(do_answer(told, 100, 212, 3, 0));
    TELL(do_answer(told, 100, 213, 4, 0));
    TELL(do_enter2(told, 100, 210, 1)); /* 99,999,997 */
    TELL(do_enter2(told, 100, 211, 2)); /* 99,999,998 */
    TELL(do_enter2(told, 100, 212, 3)); /* 99,999,999: born full, resumes uncounted */
    TELL(do_escalate(told, 213 + LEG2_OF, ESCALATED_LEG2_CEILING));
    TELL(add(told, TABLE_GUID, 210, GUID_LEDGER, 1)); /* the activity's counter is full */
    TELL(add(told, TABLE_GUID, 211, GUID_LEDGER, 1));
    TELL(do_escalate(told, 211 + LEG2_OF, ESCALATED_ATTEMPTS_CEILING));
    TELL(do_step1(told, 212, 0));
    TELL(do_step2(told, 212, nobody, 0));
    TELL(do_ack(told, 212 + LEG2_OF));
}

Test(oracle_activity, a_changed_answer_is_escalated)
{
    SETTLES(ERRATUM_ACL_21);
    struct told *told = &world;
    reach(told, ENTERED2);
    TELL(do_copy_with(told, 200 + LEG2_OF, 1));
    TELL(do_escalate(told, 200 + LEG2_OF + COPY_OF, ESCALATED_CONTENT_CHANGED));
    for (int again = 0; again < 2; again++) { /* its row counts once more, or it was only acked */
        TELL(do_copy_with(told, 200 + LEG2_OF, 1));
        add(told, TABLE_ESCALATION, 200 + LEG2_OF + COPY_OF + ESCALATION_OF, ESCALATION_RUNS, 1);
        told->hand.count -= (size_t)again;
        do_ack(told, 200 + LEG2_OF + COPY_OF);
        cr_expect_eq(tell(told).clause, again ? CLAUSE_ACL_30 : FINE);
    }
    TELL(do_step1(told, 200, 0)); /* siblings run on (E-ACL-10) */
    TELL(do_step2(told, 200, twins, 0));
    TELL(do_copy_with(told, 200 + LEG2_OF, 1)); /* once nothing is left to do, too */
    do_ack(told, 200 + LEG2_OF + COPY_OF);
    cr_expect_eq(tell(told).clause, CLAUSE_ACL_30);
    TELL(do_copy(told, 200 + LEG2_OF));
    TELL(do_ack(told, 200 + LEG2_OF + COPY_OF));
}

/* Where the semaphore stands at 0, a step that would close one more is refused. */
Test(oracle_activity, a_refused_semaphore_is_escalated)
{
    SETTLES(ERRATUM_ACL_19);
    struct told *told = &world;
    reach(told, CLOSED);
    TELL(do_answer(told, 102, 230, ANSWER_CLOSES, 0));
    TELL(do_enter2(told, 102, 230, ANSWER_CLOSES));
    TELL(do_escalate(told, 230 + LEG2_OF, ESCALATED_SEMAPHORE_REFUSED));
    set(told, TABLE_JOB, THE_JOB, JOB_ESCALATED, 0);
    cr_expect_eq(tell(told).clause, CLAUSE_ACL_29, "what people were told stays told");
}

Test(oracle_activity, each_landing_on_another_threshold_takes_a_snapshot)
{
    PROVES(CLAUSE_ACL_21, CLAUSE_ACL_23);
    SETTLES(ERRATUM_ACL_12, ERRATUM_ACL_14);
    struct told *told = &world;
    static const int64_t thresholds[] = {1, 12};
    for (size_t i = 0; i < COUNT(thresholds); i++) {
        told_begin(told);
        TELL(do_create(told, thresholds[i], 0));
        tell_leg1(told, 100);
        for (int64_t k = 1; k <= 11; k++) { /* each opens one: 2 ... 12 */
            TELL(do_answer(told, 100, 210 + k, k, 0));
            tell_leg2(told, 100, 210 + k, k, (struct family){{110 + k}, 0});
        }
        cr_expect_eq(told->oracle.seen[COVER_THRESHOLD_12], thresholds[i] == 12 ? 1 : 0);
        TELL(do_answer(told, 100, 230, 12, 0)); /* opens none: lands again without moving */
        tell_leg2(told, 100, 230, 12, nobody);
        cr_expect_eq(told->oracle.seen[COVER_THRESHOLD_12], thresholds[i] == 12 ? 2 : 0);
        if (thresholds[i] == 12) {
            TELL(do_step3(told, 221, 0)); /* both run their tasks */
            TELL(do_step3(told, 230, 0));
        }
    }
    told_begin(told);
    TELL(do_create(told, 1, 0));
    tell_leg1(told, 100);
    tell_answer(told, 100, 200);
    tell_leg2(told, 100, 200, ANSWER_CLOSES, (struct family){{101}, 0}); /* 1 to 1 */
    cr_expect_eq(told->oracle.seen[COVER_THRESHOLD_1], 1);
    TELL(do_step3(told, 200, 0));
    TELL(do_ack(told, 200 + LEG2_OF));
    told->oracle.off[CLAUSE_ACL_30] = true;
    TELL(do_ack(told, 101 + LEG1_OF));
    expect_settled(told, true, FINE); /* closure is promised for 0 alone */
}

/* ---- planted violations ---------------------------------------------------------------------- */

/* The commit that must be reported, after a run that was fine up to a stage: a bundle with parts of
 * it left out, a cell that changes by itself, a row that is gone, or a story of its own. */
struct deed {
    const char *name;
    enum stage stage;
    void (*story)(struct told *told);
    void (*bundle)(struct told *told, int64_t id, int without);
    int without;
    enum row_table table;
    int64_t id;
    int column;
    int64_t delta; /* 0: the row is dropped */
};

struct plant {
    struct deed deed;
    enum clause_id clause;
    enum oracle_name who;
    bool at_rest; /* the rows alone still show it */
};

#define STORY(at, how)                                                                             \
    {                                                                                              \
        .name = #how, .stage = (at), .story = (how)                                                \
    }
#define PART(at, how, of, parts)                                                                   \
    {                                                                                              \
        .name = #how " " #parts, .stage = (at), .bundle = (how), .id = (of), .without = (parts)    \
    }
#define CELL(at, in, of, cell, by)                                                                 \
    {                                                                                              \
        .name = #cell " " #by, .stage = (at), .table = (in), .id = (of), .column = (cell),         \
        .delta = (by)                                                                              \
    }
#define GONE(at, in, of)                                                                           \
    {                                                                                              \
        .name = #in " gone", .stage = (at), .table = (in), .id = (of)                              \
    }

static void do_twins(struct told *told, int64_t guid, int without)
{
    do_step2(told, guid, twins, without);
}

static void do_alone(struct told *told, int64_t guid, int without)
{
    do_step2(told, guid, nobody, without);
}

static void do_ack_of(struct told *told, int64_t message, int without)
{
    (void)without;
    do_ack(told, message);
}

static void do_deed(struct told *told, const struct deed *deed)
{
    if (deed->story != NULL) {
        deed->story(told);
    } else if (deed->bundle != NULL) {
        deed->bundle(told, deed->id, deed->without);
    } else if (deed->delta != 0) {
        add(told, deed->table, deed->id, deed->column, deed->delta);
    } else {
        drop(told, deed->table, deed->id);
    }
}

/* Leg1 */

static void leg1_counts_with_its_work(struct told *told)
{
    do_enter1(told, 100);
    do_work1(told, 100, 0);
}

static void leg1_works_twice(struct told *told)
{
    add(told, TABLE_ACTIVITY, 100, ACTIVITY_LEDGER, B_100);
    add(told, TABLE_TASK, 100 + TASK_OF, TASK_RUNS, 1);
}

/* numbers */

static void activity_falls(struct told *told)
{
    add(told, TABLE_ACTIVITY, 100, ACTIVITY_LEDGER, -B_10);
    add(told, TABLE_GUID, 200, GUID_LEDGER, -B_10);
    drop(told, TABLE_OUTPUT, 200 + OUTPUT_OF);
}

static void marker_is_added_up(struct told *told)
{
    TELL(do_answer(told, 100, 210, 1, 0));
    TELL(do_enter2(told, 100, 210, 1));
    do_step1(told, 210, WITHOUT_ACTIVITY);
    add(told, TABLE_ACTIVITY, 100, ACTIVITY_LEDGER, B_10);
}

static void leg1_overruns(struct told *told)
{
    begin_at(told, 998 * ONE_T);
    TELL(do_enter1(told, 100));
    do_enter1(told, 100);
}

static void leg2_overruns(struct told *told)
{
    begin_at(told, FULL_8 - 1);
    tell_leg1(told, 100);
    TELL(do_enter2(told, 100, 200, ANSWER_CLOSES));
    do_enter2(told, 100, 210, 1);
}

static void attempts_overrun(struct told *told)
{
    begin_at(told, FULL_8 - 1);
    tell_leg1(told, 100);
    TELL(do_enter2(told, 100, 200, ANSWER_CLOSES));
    add(told, TABLE_GUID, 200, GUID_LEDGER, 1);
}

static void new_guid_enters_a_full_activity(struct told *told)
{
    begin_at(told, FULL_8 - 1);
    tell_leg1(told, 100);
    TELL(do_enter2(told, 100, 200, ANSWER_CLOSES));
    do_born(told, 100, 210, 1, FULL_8, FULL_8 - 1);
}

static void born_with_no_ledger(struct told *told)
{
    do_create(told, 0, 1000 * ONE_T);
}

/* entries */

static void guid_copies_the_whole_ledger(struct told *told)
{
    add(told, TABLE_ACTIVITY, 100, ACTIVITY_LEDGER, 1);
    do_born(told, 100, 200, ANSWER_CLOSES, get(told, TABLE_ACTIVITY, 100, ACTIVITY_LEDGER), 0);
}

static void guid_inherits_steps(struct told *told)
{
    add(told, TABLE_ACTIVITY, 100, ACTIVITY_LEDGER, 1);
    do_born(told, 100, 210, 1, B_10 + 2, 1);
}

static void leg2_enters_before_leg1_is_complete(struct told *told)
{
    do_enter2(told, 100, 200, ANSWER_CLOSES);
}

static void guid_is_born_uncounted(struct told *told)
{
    do_born(told, 100, 200, ANSWER_CLOSES, 1, 0);
}

static void guid_of_no_activity(struct told *told)
{
    do_born(told, 999, 200, ANSWER_CLOSES, 1, 0);
}

static void attempts_count_by_two(struct told *told)
{
    add(told, TABLE_ACTIVITY, 100, ACTIVITY_LEDGER, 1);
    add(told, TABLE_GUID, 200, GUID_LEDGER, 2);
}

static void dimension_is_shared(struct told *told)
{
    add(told, TABLE_ACTIVITY, 100, ACTIVITY_LEDGER, 1);
    do_born(told, 100, 210, 1, 2, 0);
}

static void guid_starts_afresh(struct told *told)
{
    add(told, TABLE_ACTIVITY, 100, ACTIVITY_LEDGER, 1);
    do_born(told, 100, 210, 1, 1, 1);
}

static void dimension_is_off_by_one(struct told *told)
{
    add(told, TABLE_ACTIVITY, 100, ACTIVITY_LEDGER, 1);
    do_born(told, 100, 200, ANSWER_CLOSES, 1, 1);
}

/* Step 1 */

static void step1_twice(struct told *told)
{
    add(told, TABLE_GUID, 200, GUID_LEDGER, B_10);
    add(told, TABLE_OUTPUT, 200 + OUTPUT_OF, OUTPUT_RUNS, 1);
}

/* Step 2 */

static void semaphore_moves_alone(struct told *told)
{
    do_semaphore(told, 1, 0);
}

static void children_come_alone(struct told *told)
{
    do_children(told, 200, twins, 0);
}

static void step2_twice(struct told *told)
{
    add(told, TABLE_GUID, 200, GUID_LEDGER, B_1);
    do_semaphore(told, 1, 0);
}

static void step2_spawns_a_child_again(struct told *told)
{
    TELL(do_answer(told, 100, 210, 1, 0));
    TELL(do_enter2(told, 100, 210, 1));
    TELL(do_step1(told, 210, 0));
    do_step2(told, 210, nobody, 0);
    do_copy(told, 101 + LEG1_OF);
}

static void semaphore_counts_the_parent(struct told *told)
{
    do_step2(told, 200, twins, 0);
    add(told, TABLE_JOB, THE_JOB, JOB_SEMAPHORE, 1);
}

static void child_is_lost_after_it_was_counted(struct told *told)
{
    do_step2(told, 200, (struct family){{101}, 0}, 0);
    add(told, TABLE_JOB, THE_JOB, JOB_SEMAPHORE, 1);
}

static void second_answer_closes_again(struct told *told)
{
    TELL(do_answer(told, 101, 230, ANSWER_CLOSES, 0));
    TELL(do_enter2(told, 101, 230, ANSWER_CLOSES));
    do_step1(told, 230, 0);
    do_step2(told, 230, nobody, WITHOUT_CLOSED);
}

static void overruled_answer_works(struct told *told)
{
    TELL(do_answer(told, 100, 230, ANSWER_CLOSES, 0));
    TELL(do_enter2(told, 100, 230, ANSWER_CLOSES));
    do_step1(told, 230, 0);
}

static void semaphore_goes_negative(struct told *told)
{
    do_semaphore(told, -3, WITHOUT_STATE);
}

/* snapshot and closure */

static void snapshot_away_from_the_threshold(struct told *told)
{
    do_step2(told, 200, twins, 0);
    add(told, TABLE_GUID, 200, GUID_LEDGER, B_100);
}

static void pending_reopens_a_closed_job(struct told *told)
{
    TELL(do_answer(told, 100, 210, 1, 0));
    TELL(do_enter2(told, 100, 210, 1));
    TELL(do_step1(told, 210, 0));
    do_step2(told, 210, (struct family){{103}, 0}, 0);
}

static void pending_closes_a_closed_job_again(struct told *told)
{
    TELL(do_answer(told, 100, 210, 1, 0));
    TELL(do_enter2(told, 100, 210, 1));
    TELL(do_step1(told, 210, 0));
    do_step2(told, 210, nobody, 0);
}

/* Step 3 */

static void step3_twice(struct told *told)
{
    add(told, TABLE_GUID, 202, GUID_LEDGER, M_100);
    add(told, TABLE_COMPLETION, 202 + COMPLETION_OF, COMPLETION_RUNS, 1);
}

/* acks and escalations */

static void healthy_leg1_escalated(struct told *told)
{
    begin_at(told, 998 * ONE_T);
    TELL(do_enter1(told, 100));
    TELL(do_work1(told, 100, 0));
    do_escalate(told, 100 + LEG1_OF, ESCALATED_LEG1_CEILING);
}

static void known_guid_escalated_at_the_ceiling(struct told *told)
{
    begin_at(told, FULL_8 - 1);
    tell_leg1(told, 100);
    tell_answer(told, 100, 200);
    TELL(do_enter2(told, 100, 200, ANSWER_CLOSES));
    do_escalate(told, 200 + LEG2_OF, ESCALATED_LEG2_CEILING);
}

static void guid_born_full_escalated(struct told *told)
{
    begin_at(told, FULL_8 - 1);
    tell_leg1(told, 100);
    tell_answer(told, 100, 200);
    TELL(do_enter2(told, 100, 200, ANSWER_CLOSES));
    do_escalate(told, 200 + LEG2_OF, ESCALATED_ATTEMPTS_CEILING);
}

static void leg1_escalated_early(struct told *told)
{
    do_escalate(told, 100 + LEG1_OF, ESCALATED_LEG1_CEILING);
}

static void answer_escalated_as_leg1(struct told *told)
{
    begin_at(told, 999 * ONE_T);
    TELL(do_answer(told, 100, 200, ANSWER_CLOSES, 0));
    do_escalate(told, 200 + LEG2_OF, ESCALATED_LEG1_CEILING);
}

static void leg1_escalated_as_new_guid(struct told *told)
{
    begin_at(told, FULL_8);
    TELL(do_enter1(told, 100));
    do_escalate(told, 100 + LEG1_OF, ESCALATED_LEG2_CEILING);
}

static void new_guid_escalated_early(struct told *told)
{
    do_escalate(told, 200 + LEG2_OF, ESCALATED_LEG2_CEILING);
}

static void attempts_escalated_early(struct told *told)
{
    do_escalate(told, 200 + LEG2_OF, ESCALATED_ATTEMPTS_CEILING);
}

static void finished_guid_escalated(struct told *told)
{
    begin_at(told, FULL_8 - 2);
    tell_leg1(told, 100);
    tell_answer(told, 100, 200);
    TELL(do_enter2(told, 100, 200, ANSWER_CLOSES));
    TELL(do_enter2_again(told, 200));
    TELL(do_step1(told, 200, 0));
    TELL(do_step2(told, 200, nobody, 0));
    TELL(do_step3(told, 200, 0));
    do_escalate(told, 200 + LEG2_OF, ESCALATED_ATTEMPTS_CEILING);
}

static void escalated_by_nothing(struct told *told)
{
    do_escalate(told, 200 + LEG2_OF, ESCALATED_CONTENT_CHANGED);
}

static void unknown_guid_escalated_as_refused(struct told *told)
{
    TELL(do_answer(told, 102, 230, ANSWER_CLOSES, 0));
    do_escalate(told, 230 + LEG2_OF, ESCALATED_SEMAPHORE_REFUSED);
}

static void escalated_as_corrupt(struct told *told)
{
    do_escalate(told, 200 + LEG2_OF, ESCALATED_CORRUPT);
}

static void escalated_with_semaphore_left(struct told *told)
{
    do_escalate(told, 200 + LEG2_OF, ESCALATED_SEMAPHORE_REFUSED);
}

static void escalated_and_not_acked(struct told *told)
{
    begin_at(told, 998 * ONE_T);
    TELL(do_enter1(told, 100));
    do_escalate(told, 100 + LEG1_OF, ESCALATED_LEG1_CEILING);
    told->hand.count--;
}

/* data */

static void output_in_another_dimension(struct told *told)
{
    TELL(do_enter2_again(told, 200));
    do_step1(told, 200, WITHOUT_WORK);
    do_output(told, 200, 1, work_of(told, 200));
}

/* The row that another GUID of the activity has filled counts once more. */
static void work_in_the_row_of_another(struct told *told)
{
    TELL(do_answer(told, 100, 210, 1, 0));
    TELL(do_enter2(told, 100, 210, 1));
    TELL(do_step1(told, 210, 0));
    do_step1(told, 200, WITHOUT_WORK);
    add(told, TABLE_OUTPUT, 210 + OUTPUT_OF, OUTPUT_RUNS, 1);
}

static void work_of_nobody(struct told *told)
{
    do_output(told, 200, 0, 5);
    told->hand.rows.table[TABLE_OUTPUT].cells[1 + OUTPUT_GUID] = 299;
}

static void output_is_not_the_answer(struct told *told)
{
    do_step1(told, 200, WITHOUT_WORK);
    do_output(told, 200, 0, 5);
}

static void children_in_another_dimension(struct told *told)
{
    do_step2(told, 200, twins, WITHOUT_MESSAGE);
    do_publish_leg1(told, 101, 200, 100, 0);
    do_publish_leg1(told, 102, 200, 100, 1);
}

static void children_of_another_source(struct told *told)
{
    do_step2(told, 200, twins, WITHOUT_MESSAGE);
    do_publish_leg1(told, 101, 200, 100, 0);
    do_publish_leg1(told, 102, 200, 101, 0);
}

static void leg1_receives_something_else(struct told *told)
{
    do_work1(told, 100, WITHOUT_WORK | WITHOUT_MESSAGE);
    put(told, TABLE_TASK, 100 + TASK_OF,
        (int64_t[TASK_COLUMNS]){[TASK_ACTIVITY] = 100, [TASK_INPUT] = 8, [TASK_RUNS] = 1});
    do_answer(told, 100, 200, ANSWER_CLOSES, 0);
}

static void child_receives_something_else(struct told *told)
{
    TELL(do_enter1(told, 101));
    do_work1(told, 101, WITHOUT_WORK | WITHOUT_MESSAGE);
    put(told, TABLE_TASK, 101 + TASK_OF,
        (int64_t[TASK_COLUMNS]){[TASK_ACTIVITY] = 101, [TASK_INPUT] = 8, [TASK_RUNS] = 1});
    do_answer(told, 101, 201, ANSWER_CLOSES, 0);
}

#define L ORACLE_LEDGER
#define S ORACLE_SEMAPHORE
#define D ORACLE_DATA
static const struct plant plants[] = {
    {STORY(ENTERED1, leg1_counts_with_its_work), CLAUSE_ACL_9, L, false},
    {PART(CREATED, do_work1, 100, 0), CLAUSE_ACL_9, L, true},
    {PART(ENTERED1, do_work1, 100, WITHOUT_WORK), CLAUSE_ACL_11, L, true},
    {PART(ENTERED1, do_work1, 100, WITHOUT_MESSAGE), CLAUSE_ACL_11, L, false},
    {PART(ENTERED1, do_work1, 100, WITHOUT_MARKER), CLAUSE_ACL_11, L, true},
    {STORY(WORKED1, leg1_works_twice), CLAUSE_ACL_11, L, true},
    {PART(ENTERED1, do_work1, 100, WITHOUT_MARKER | WITHOUT_WORK), CLAUSE_ACL_11, L, false},
    {GONE(WORKED1, TABLE_TASK, 100 + TASK_OF), CLAUSE_ACL_11, L, true},
    {STORY(STEPPED1, activity_falls), CLAUSE_ACL_33, L, false},
    {CELL(STEPPED1, TABLE_GUID, 200, GUID_LEDGER, -B_10), CLAUSE_ACL_33, L, true},
    {GONE(STEPPED1, TABLE_GUID, 200), CLAUSE_ACL_33, L, true},
    {GONE(STEPPED1, TABLE_JOB, THE_JOB), CLAUSE_ACL_33, L, false},
    {STORY(STEPPED1, marker_is_added_up), CLAUSE_ACL_5, L, true},
    {CELL(STEPPED2, TABLE_ACTIVITY, 100, ACTIVITY_LEDGER, 9 * B_1), CLAUSE_ACL_8, L, true},
    {STORY(NOTHING, leg1_overruns), CLAUSE_ACL_43, L, true},
    {STORY(NOTHING, leg2_overruns), CLAUSE_ACL_43, L, true},
    {STORY(NOTHING, attempts_overrun), CLAUSE_ACL_43, L, true},
    {STORY(NOTHING, new_guid_enters_a_full_activity), CLAUSE_ACL_7, L, true},
    {CELL(CREATED, TABLE_ACTIVITY, 100, ACTIVITY_LEDGER, 10 * ONE_T), CLAUSE_ACL_4, L, false},
    {STORY(NOTHING, born_with_no_ledger), CLAUSE_ACL_3, L, true},
    {STORY(ANSWERED, guid_copies_the_whole_ledger), CLAUSE_ACL_14, L, true},
    {STORY(STEPPED1, guid_inherits_steps), CLAUSE_ACL_41, L, true},
    {CELL(STEPPED1, TABLE_GUID, 200, GUID_LEDGER, B_100), CLAUSE_ACL_14, L, true},
    {STORY(ENTERED1, leg2_enters_before_leg1_is_complete), CLAUSE_ACL_45, L, true},
    {CELL(ANSWERED, TABLE_ACTIVITY, 100, ACTIVITY_LEDGER, 1), CLAUSE_ACL_13, L, false},
    {CELL(ENTERED2, TABLE_GUID, 200, GUID_LEDGER, 1), CLAUSE_ACL_13, L, false},
    {STORY(ANSWERED, guid_is_born_uncounted), CLAUSE_ACL_13, L, true},
    {STORY(ANSWERED, guid_of_no_activity), CLAUSE_ACL_13, L, false},
    {STORY(ENTERED2, attempts_count_by_two), CLAUSE_ACL_12, L, false},
    {CELL(ENTERED2, TABLE_GUID, 200, GUID_LEDGER, ONE_T), CLAUSE_ACL_12, L, true},
    {STORY(ENTERED2, dimension_is_shared), CLAUSE_ACL_32, L, true},
    {CELL(ENTERED2, TABLE_GUID, 200, GUID_DIMENSION, 4), CLAUSE_ACL_32, L, true},
    {STORY(ENTERED2, guid_starts_afresh), CLAUSE_ACL_32, L, true},
    {STORY(ANSWERED, dimension_is_off_by_one), CLAUSE_ACL_31, L, true},
    {STORY(ENTERED2, work_of_nobody), CLAUSE_ACL_16, L, true},
    {PART(ENTERED2, do_step1, 200, WITHOUT_WORK), CLAUSE_ACL_16, L, true},
    {PART(ENTERED2, do_step1, 200, WITHOUT_MARKER | WITHOUT_ACTIVITY), CLAUSE_ACL_16, L, true},
    {PART(ENTERED2, do_step1, 200, WITHOUT_ACTIVITY), CLAUSE_ACL_16, L, true},
    {PART(ENTERED2, do_step1, 200, WITHOUT_MARKER | WITHOUT_WORK), CLAUSE_ACL_16, L, true},
    {STORY(STEPPED1, step1_twice), CLAUSE_ACL_16, L, true},
    {CELL(STEPPED1, TABLE_GUID, 200, GUID_LEDGER, B_10), CLAUSE_ACL_16, L, true},
    {GONE(STEPPED1, TABLE_OUTPUT, 200 + OUTPUT_OF), CLAUSE_ACL_16, L, true},
    {PART(STEPPED1, do_twins, 200, WITHOUT_MARKER | WITHOUT_ACTIVITY | WITHOUT_CLOSED),
     CLAUSE_ACL_17, L, true},
    {PART(STEPPED1, do_twins, 200, WITHOUT_ACTIVITY), CLAUSE_ACL_17, L, true},
    {PART(STEPPED1, do_twins, 200, WITHOUT_MESSAGE), CLAUSE_ACL_17, L, false},
    {PART(STEPPED1, do_twins, 200, WITHOUT_WORK), CLAUSE_ACL_17, L, true},
    {PART(STEPPED1, do_twins, 200, WITHOUT_CLOSED), CLAUSE_ACL_17, L, false},
    {PART(STEPPED1, do_twins, 200, WITHOUT_SEMAPHORE), CLAUSE_ACL_17, S, true},
    {STORY(STEPPED1, semaphore_moves_alone), CLAUSE_ACL_17, S, true},
    {STORY(STEPPED1, children_come_alone), CLAUSE_ACL_17, L, true},
    {CELL(STEPPED1, TABLE_TASK, 100 + TASK_OF, TASK_CLOSED, 200), CLAUSE_ACL_17, L, true},
    {CELL(STEPPED1, TABLE_ACTIVITY, 100, ACTIVITY_LEDGER, B_1), CLAUSE_ACL_17, L, true},
    {STORY(STEPPED2, step2_twice), CLAUSE_ACL_17, L, true},
    {STORY(STEPPED2, step2_spawns_a_child_again), CLAUSE_ACL_17, L, false},
    {PART(ENTERED2, do_alone, 200, 0), CLAUSE_ACL_41, L, true},
    {STORY(STEPPED1, semaphore_counts_the_parent), CLAUSE_ACL_19, S, true},
    {STORY(STEPPED1, child_is_lost_after_it_was_counted), CLAUSE_ACL_19, S, true},
    {STORY(LAST_WORK, second_answer_closes_again), CLAUSE_ACL_19, S, true},
    {STORY(STEPPED2, overruled_answer_works), CLAUSE_ACL_19, S, false},
    {CELL(STEPPED2, TABLE_TASK, 100 + TASK_OF, TASK_CLOSED, 230), CLAUSE_ACL_19, L, true},
    {STORY(STEPPED2, semaphore_goes_negative), CLAUSE_ACL_17, S, true},
    {PART(LAST_WORK, do_alone, 202, WITHOUT_SNAPSHOT), CLAUSE_ACL_21, S, true},
    {STORY(STEPPED1, snapshot_away_from_the_threshold), CLAUSE_ACL_21, S, true},
    {CELL(STEPPED2, TABLE_GUID, 200, GUID_LEDGER, B_100), CLAUSE_ACL_21, S, true},
    {CELL(CLOSED, TABLE_GUID, 202, GUID_LEDGER, B_100), CLAUSE_ACL_21, S, true},
    {CELL(STEPPED2, TABLE_JOB, THE_JOB, JOB_THRESHOLD, 2), CLAUSE_ACL_21, L, false},
    {STORY(CLOSED, pending_reopens_a_closed_job), CLAUSE_ACL_22, S, true},
    {STORY(COMPLETED, pending_closes_a_closed_job_again), CLAUSE_ACL_22, S, true},
    {PART(LAST_WORK, do_alone, 202, WITHOUT_STATE), CLAUSE_ACL_39, S, true},
    {CELL(STEPPED2, TABLE_JOB, THE_JOB, JOB_STATE, JOB_COMPLETE), CLAUSE_ACL_39, S, true},
    {PART(STEPPED2, do_step3, 200, 0), CLAUSE_ACL_26, S, true},
    {PART(CLOSED, do_step3, 201, 0), CLAUSE_ACL_44, S, true},
    {PART(CLOSED, do_step3, 202, WITHOUT_WORK), CLAUSE_ACL_18, S, true},
    {PART(CLOSED, do_step3, 202, WITHOUT_MARKER | WITHOUT_ACTIVITY), CLAUSE_ACL_18, S, true},
    {PART(CLOSED, do_step3, 202, WITHOUT_ACTIVITY), CLAUSE_ACL_18, S, true},
    {STORY(COMPLETED, step3_twice), CLAUSE_ACL_18, L, true},
    {PART(CLOSED, do_step3, 202, WITHOUT_MARKER | WITHOUT_WORK), CLAUSE_ACL_18, L, true},
    {PART(ENTERED1, do_ack_of, 100 + LEG1_OF, 0), CLAUSE_ACL_30, L, false},
    {PART(WORKED1, do_ack_of, 100 + WORK_OF, 0), CLAUSE_ACL_30, L, false},
    {PART(ANSWERED, do_ack_of, 200 + LEG2_OF, 0), CLAUSE_ACL_30, L, false},
    {PART(STEPPED1, do_ack_of, 200 + LEG2_OF, 0), CLAUSE_ACL_30, L, false},
    {PART(CLOSED, do_ack_of, 202 + LEG2_OF, 0), CLAUSE_ACL_30, L, false},
    {STORY(NOTHING, healthy_leg1_escalated), CLAUSE_ACL_6, L, false},
    {STORY(NOTHING, known_guid_escalated_at_the_ceiling), CLAUSE_ACL_7, L, false},
    {STORY(NOTHING, guid_born_full_escalated), CLAUSE_ACL_15, L, false},
    {STORY(ENTERED1, leg1_escalated_early), CLAUSE_ACL_6, L, false},
    {STORY(NOTHING, answer_escalated_as_leg1), CLAUSE_ACL_6, L, false},
    {STORY(NOTHING, leg1_escalated_as_new_guid), CLAUSE_ACL_7, L, false},
    {STORY(ANSWERED, new_guid_escalated_early), CLAUSE_ACL_7, L, false},
    {STORY(ENTERED2, attempts_escalated_early), CLAUSE_ACL_15, L, false},
    {STORY(NOTHING, finished_guid_escalated), CLAUSE_ACL_15, L, false},
    {STORY(NOTHING, escalated_and_not_acked), CLAUSE_ACL_6, L, false},
    {STORY(STEPPED1, escalated_by_nothing), CLAUSE_ACL_29, L, false},
    {STORY(CLOSED, unknown_guid_escalated_as_refused), CLAUSE_ACL_29, L, false},
    {STORY(STEPPED1, escalated_as_corrupt), CLAUSE_ACL_29, L, false},
    {STORY(STEPPED1, escalated_with_semaphore_left), CLAUSE_ACL_29, L, false},
    {CELL(STEPPED1, TABLE_JOB, THE_JOB, JOB_ESCALATED, 1), CLAUSE_ACL_29, L, true},
    {STORY(ENTERED2, output_in_another_dimension), CLAUSE_ACL_32, D, true},
    {STORY(ENTERED2, work_in_the_row_of_another), CLAUSE_ACL_32, D, true},
    {STORY(ENTERED2, output_is_not_the_answer), CLAUSE_ACL_32, D, true},
    {STORY(STEPPED1, children_in_another_dimension), CLAUSE_ACL_32, D, true},
    {STORY(STEPPED1, children_of_another_source), CLAUSE_ACL_32, D, true},
    {STORY(ENTERED1, leg1_receives_something_else), CLAUSE_ACL_32, D, true},
    {STORY(STEPPED2, child_receives_something_else), CLAUSE_ACL_32, D, true},
    {CELL(STEPPED1, TABLE_OUTPUT, 200 + OUTPUT_OF, OUTPUT_VALUE, 5), CLAUSE_ACL_32, D, true},
};

/* (OA1) */
Test(oracle_activity, every_plant_is_reported_under_its_clause)
{
    PROVES(CLAUSE_ACL_5, CLAUSE_ACL_6, CLAUSE_ACL_7, CLAUSE_ACL_8, CLAUSE_ACL_9, CLAUSE_ACL_11,
           CLAUSE_ACL_13, CLAUSE_ACL_14, CLAUSE_ACL_15, CLAUSE_ACL_16, CLAUSE_ACL_17, CLAUSE_ACL_18,
           CLAUSE_ACL_19, CLAUSE_ACL_21, CLAUSE_ACL_22, CLAUSE_ACL_26, CLAUSE_ACL_29, CLAUSE_ACL_30,
           CLAUSE_ACL_32, CLAUSE_ACL_33, CLAUSE_ACL_39, CLAUSE_ACL_41, CLAUSE_ACL_43, CLAUSE_ACL_44,
           CLAUSE_ACL_45);
    for (size_t i = 0; i < COUNT(plants); i++) {
        const struct plant *plant = &plants[i];
        reach(&world, plant->deed.stage);
        do_deed(&world, &plant->deed);
        struct oracle_verdict verdict = tell(&world);
        cr_expect_eq(verdict.clause, plant->clause, "%s: clause %d where %d should be (%s)",
                     plant->deed.name, (int)verdict.clause, (int)plant->clause, verdict.why);
        cr_expect_eq(world.oracle.spoke, plant->who, "%s: told by oracle %d", plant->deed.name,
                     (int)world.oracle.spoke);
        verdict = oracle_activity_recheck(&world.oracle, &world.hand.rows);
        cr_expect_eq(verdict.broken, plant->at_rest, "recheck of %s: clause %d (%s)",
                     plant->deed.name, (int)verdict.clause, verdict.why);
    }
}

/* (OA3), (OR2)
 * Everything that is said of each plant: the first sentence, then, with its clause switched off,
 * the next promise's, and so on. */
Test(oracle_activity, every_plant_is_told_in_these_words)
{
    static struct golden golden;
    for (size_t i = 0; i < COUNT(plants); i++) {
        bool off[CLAUSE_COUNT] = {[CLAUSE_ACL_46] = true};
        bool broken = true;
        golden_add(&golden, "%s\n", plants[i].deed.name);
        while (broken) {
            reach(&world, plants[i].deed.stage);
            do_deed(&world, &plants[i].deed);
            memcpy(world.oracle.off, off, sizeof off);
            struct oracle_verdict verdict = tell(&world);
            golden_verdict(&golden, verdict);
            broken = verdict.broken;
            off[broken ? verdict.clause : CLAUSE_ACL_46] = true;
        }
    }
    golden_compare(&golden, "plants_of_the_activity_ledger.txt");
}

/* ---- each sentence of the slow recheck ------------------------------------------------------- */

struct edit {
    enum row_table table;
    int64_t id;
    int column;
    int64_t delta;
};

/* Rows at rest that break one promise, and how the recheck tells it with all others switched off.
 */
struct at_rest {
    enum stage stage;
    struct edit edits[4]; /* up to the first without a change */
    void (*story)(struct told *told);
    enum clause_id clause;
    const char *why;
};

static void another_guid_completes(struct told *told)
{
    do_step3(told, 200, 0);
}

#define ACTIVITY_BY(of, by)                                                                        \
    {                                                                                              \
        .table = TABLE_ACTIVITY, .id = (of), .column = ACTIVITY_LEDGER, .delta = (by)              \
    }
#define GUID_BY(of, by)                                                                            \
    {                                                                                              \
        .table = TABLE_GUID, .id = (of), .column = GUID_LEDGER, .delta = (by)                      \
    }

static const struct at_rest rests[] = {
    {ENDED,
     {ACTIVITY_BY(100, 1000 * ONE_T)},
     NULL,
     CLAUSE_ACL_8,
     "an activity ledger has left its 15 digits"},
    {ENDED,
     {ACTIVITY_BY(100, B_100)},
     NULL,
     CLAUSE_ACL_5,
     "a marker of an activity ledger is above 1"},
    {ENDED,
     {ACTIVITY_BY(100, B_10)},
     NULL,
     CLAUSE_ACL_5,
     "a marker of an activity ledger is above 1"},
    {ENDED,
     {ACTIVITY_BY(100, B_1)},
     NULL,
     CLAUSE_ACL_5,
     "a marker of an activity ledger is above 1"},
    {ENDED,
     {ACTIVITY_BY(102, M_100)},
     NULL,
     CLAUSE_ACL_5,
     "a marker of an activity ledger is above 1"},
    {ENDED,
     {ACTIVITY_BY(100, -ONE_T)},
     NULL,
     CLAUSE_ACL_9,
     "Leg1 is complete and was never entered"},
    {ENDED,
     {ACTIVITY_BY(100, -B_100)},
     NULL,
     CLAUSE_ACL_45,
     "a GUID exists and Leg1 is not complete"},
    {ENDED, {ACTIVITY_BY(100, -1)}, NULL, CLAUSE_ACL_13, "an activity has more GUIDs than entries"},
    {ENDED,
     {ACTIVITY_BY(100, -B_100)},
     NULL,
     CLAUSE_ACL_11,
     "Leg1's work and its marker do not agree"},
    {ENDED,
     {{TABLE_TASK, 101 + TASK_OF, TASK_ACTIVITY, 1}},
     NULL,
     CLAUSE_ACL_11,
     "Leg1's work and its marker do not agree"},
    {ENDED,
     {ACTIVITY_BY(100, -B_10)},
     NULL,
     CLAUSE_ACL_16,
     "an activity and its GUIDs do not agree on Step 1"},
    {ENDED,
     {ACTIVITY_BY(100, -B_1)},
     NULL,
     CLAUSE_ACL_17,
     "an activity and its GUIDs do not agree on Step 2"},
    {ENDED,
     {ACTIVITY_BY(102, -M_100)},
     NULL,
     CLAUSE_ACL_18,
     "an activity and its GUIDs do not agree on Step 3"},
    {ENDED,
     {ACTIVITY_BY(100, -B_1), GUID_BY(200, -B_1)},
     NULL,
     CLAUSE_ACL_17,
     "a child exists without its Step 2"},
    {ENDED,
     {{TABLE_TASK, 100 + TASK_OF, TASK_RUNS, 1}},
     NULL,
     CLAUSE_ACL_11,
     "Leg1's work was done more than once"},
    {ENDED,
     {ACTIVITY_BY(101, -B_1), GUID_BY(201, -B_1)},
     NULL,
     CLAUSE_ACL_17,
     "a task is closed without a Step 2"},
    {ENDED,
     {{TABLE_TASK, 100 + TASK_OF, TASK_INPUT, 1}},
     NULL,
     CLAUSE_ACL_32,
     "an activity received something else than its parent's output"},
    {ENDED,
     {{TABLE_TASK, 101 + TASK_OF, TASK_INPUT, -1}},
     NULL,
     CLAUSE_ACL_32,
     "an activity received something else than its parent's output"},
    {ENDED,
     {GUID_BY(200, 1000 * ONE_T)},
     NULL,
     CLAUSE_ACL_8,
     "a GUID ledger has left its 15 digits"},
    {ENDED, {GUID_BY(200, ONE_T)}, NULL, CLAUSE_ACL_12, "a reserved digit of a GUID ledger is set"},
    {ENDED,
     {GUID_BY(200, B_100 - B_1)},
     NULL,
     CLAUSE_ACL_14,
     "the job-closed digit is set and Step 2 is not done"},
    {ENDED, {GUID_BY(200, B_10)}, NULL, CLAUSE_ACL_16, "Step 1 and its marker do not agree"},
    {ENDED, {GUID_BY(200, B_1)}, NULL, CLAUSE_ACL_17, "a GUID did Step 2 twice"},
    {ENDED, {GUID_BY(202, B_100)}, NULL, CLAUSE_ACL_21, "a GUID's snapshot was taken twice"},
    {ENDED,
     {GUID_BY(200, M_100)},
     NULL,
     CLAUSE_ACL_44,
     "Step 3 ran because the semaphore is 0, on a GUID that did not close the job"},
    {STEPPED2,
     {GUID_BY(200, M_100)},
     NULL,
     CLAUSE_ACL_26,
     "Step 3 ran on a GUID that did not close the job"},
    {ENDED,
     {ACTIVITY_BY(100, M_100), GUID_BY(200, M_100)},
     NULL,
     CLAUSE_ACL_18,
     "Step 3 and its marker do not agree"},
    {ENDED, {GUID_BY(200, -1)}, NULL, CLAUSE_ACL_13, "a GUID was never entered"},
    {ENDED,
     {{TABLE_GUID, 201, GUID_ACTIVITY, -1}},
     NULL,
     CLAUSE_ACL_32,
     "two GUIDs share a dimension"},
    {ENDED,
     {{TABLE_GUID, 200, GUID_DIMENSION, 1}},
     NULL,
     CLAUSE_ACL_31,
     "a dimension is above its entry count less one"},
    {ENDED,
     {{TABLE_GUID, 200, GUID_DIMENSION, -1}},
     NULL,
     CLAUSE_ACL_31,
     "a dimension is above its entry count less one"},
    {ENDED,
     {GUID_BY(200, -B_10)},
     NULL,
     CLAUSE_ACL_41,
     "a GUID's markers are none of the five in the list"},
    {ENDED,
     {{TABLE_OUTPUT, 200 + OUTPUT_OF, OUTPUT_RUNS, 1}},
     NULL,
     CLAUSE_ACL_16,
     "Leg2's work was done more than once"},
    {ENDED,
     {{TABLE_GUID, 201, GUID_ACTIVITY, -1},
      {TABLE_GUID, 201, GUID_DIMENSION, 1},
      {TABLE_OUTPUT, 200 + OUTPUT_OF, OUTPUT_RUNS, 1}},
     NULL,
     CLAUSE_ACL_32,
     "two GUIDs stored their work in one dimension"},
    {ENDED,
     {{TABLE_OUTPUT, 201 + OUTPUT_OF, OUTPUT_GUID, 700}},
     NULL,
     CLAUSE_ACL_16,
     "Leg2's work belongs to no GUID"},
    {ENDED,
     {{TABLE_OUTPUT, 201 + OUTPUT_OF, OUTPUT_DIMENSION, 1}},
     NULL,
     CLAUSE_ACL_32,
     "a GUID's work went to another dimension than the GUID's"},
    {ENDED,
     {{TABLE_OUTPUT, 201 + OUTPUT_OF, OUTPUT_ACTIVITY, 1}},
     NULL,
     CLAUSE_ACL_32,
     "a GUID's work went to another dimension than the GUID's"},
    {ENDED,
     {{TABLE_OUTPUT, 201 + OUTPUT_OF, OUTPUT_VALUE, 1}},
     NULL,
     CLAUSE_ACL_32,
     "the work stored something else than the answer"},
    {STEPPED2,
     {{TABLE_MESSAGE, 101 + LEG1_OF, MESSAGE_SPAWNED_BY, 700}},
     NULL,
     CLAUSE_ACL_17,
     "a child was published without its Step 2"},
    {STEPPED2,
     {{TABLE_MESSAGE, 101 + LEG1_OF, MESSAGE_DIMENSION, 1}},
     NULL,
     CLAUSE_ACL_32,
     "a child was sent to another dimension than its parent's"},
    {STEPPED2,
     {{TABLE_MESSAGE, 101 + LEG1_OF, MESSAGE_SOURCE, 1}},
     NULL,
     CLAUSE_ACL_32,
     "a child was sent to another dimension than its parent's"},
    {ENDED,
     {{TABLE_COMPLETION, 202 + COMPLETION_OF, COMPLETION_RUNS, 1}},
     NULL,
     CLAUSE_ACL_18,
     "a job's completion tasks were run more than once"},
    {ENDED,
     {ACTIVITY_BY(102, -M_100),
      GUID_BY(202, -M_100),
      {TABLE_COMPLETION, 202 + COMPLETION_OF, COMPLETION_GUID, 700}},
     NULL,
     CLAUSE_ACL_18,
     "completion tasks were run by no GUID"},
    {ENDED,
     {{TABLE_JOB, THE_JOB, JOB_SEMAPHORE, -1}},
     NULL,
     CLAUSE_ACL_19,
     "the semaphore is negative"},
    {STEPPED2,
     {{TABLE_JOB, THE_JOB, JOB_SEMAPHORE, -1}},
     NULL,
     CLAUSE_ACL_19,
     "the semaphore is below the number of open obligations"},
    {STEPPED2,
     {{TABLE_JOB, THE_JOB, JOB_SEMAPHORE, 1}},
     NULL,
     CLAUSE_ACL_19,
     "the semaphore is above the number of open obligations"},
    {ENDED,
     {GUID_BY(202, -B_100)},
     NULL,
     CLAUSE_ACL_22,
     "the snapshot is not on one GUID of a closed job and on none of an open one"},
    {STEPPED2,
     {GUID_BY(200, B_100)},
     NULL,
     CLAUSE_ACL_22,
     "the snapshot is not on one GUID of a closed job and on none of an open one"},
    {ENDED,
     {{TABLE_JOB, THE_JOB, JOB_STATE, JOB_ACTIVE - JOB_COMPLETE}},
     NULL,
     CLAUSE_ACL_39,
     "semaphore and state do not agree"},
    {ENDED,
     {{.delta = 0}},
     another_guid_completes,
     CLAUSE_ACL_18,
     "a job's completion tasks were run by a second GUID"},
    {ENDED,
     {{TABLE_JOB, THE_JOB, JOB_ESCALATED, 1}},
     NULL,
     CLAUSE_ACL_29,
     "a job and its messages do not agree on its escalation"},
};

static void only(struct told *told, enum clause_id clause)
{
    for (int c = 0; c < CLAUSE_COUNT; c++) {
        told->oracle.off[c] = c != (int)clause;
    }
}

Test(oracle_activity, each_check_of_the_recheck_is_told_in_its_words)
{
    for (size_t i = 0; i < COUNT(rests); i++) {
        const struct at_rest *rest = &rests[i];
        reach(&world, rest->stage);
        for (const struct edit *edit = rest->edits; edit->delta != 0; edit++) {
            *hand_cell(&world.hand, edit->table, edit->id, edit->column) += edit->delta;
        }
        if (rest->story != NULL) {
            rest->story(&world);
        }
        only(&world, rest->clause);
        struct oracle_verdict verdict = oracle_activity_recheck(&world.oracle, &world.hand.rows);
        cr_expect_str_eq(verdict.why, rest->why, "case %zu: '%s' where it should be '%s'", i,
                         verdict.why, rest->why);
    }
}

/* ---- sentences that another one of the same clause would stand in for ------------------------ */

static void obligation_of_no_job(struct told *told)
{
    do_activity(told, 140, 0, 0);
    *hand_cell(&told->hand, TABLE_ACTIVITY, 140, ACTIVITY_JOB) = 9;
}

static void work_of_another_activity(struct told *told)
{
    do_step1(told, 200, 0);
    *hand_cell(&told->hand, TABLE_OUTPUT, 200 + OUTPUT_OF, OUTPUT_ACTIVITY) = 101;
}

static void work_of_an_earlier_activity(struct told *told)
{
    do_step1(told, 200, 0);
    *hand_cell(&told->hand, TABLE_OUTPUT, 200 + OUTPUT_OF, OUTPUT_ACTIVITY) = 99;
}

static void work_in_no_dimension(struct told *told)
{
    do_step1(told, 200, 0);
    *hand_cell(&told->hand, TABLE_OUTPUT, 200 + OUTPUT_OF, OUTPUT_DIMENSION) = -1;
}

static void child_of_an_earlier_source(struct told *told)
{
    do_step2(told, 200, twins, 0);
    *hand_cell(&told->hand, TABLE_MESSAGE, 101 + LEG1_OF, MESSAGE_SOURCE) = 99;
}

static void child_in_no_dimension(struct told *told)
{
    do_step2(told, 200, twins, 0);
    *hand_cell(&told->hand, TABLE_MESSAGE, 101 + LEG1_OF, MESSAGE_DIMENSION) = -1;
}

static void acked_with_another_answer(struct told *told, int64_t by)
{
    TELL(do_copy(told, 200 + LEG2_OF));
    TELL(do_step1(told, 200, 0));
    TELL(do_step2(told, 200, twins, 0));
    *hand_cell(&told->hand, TABLE_MESSAGE, 200 + LEG2_OF + COPY_OF, MESSAGE_ANSWER) += by;
    do_ack(told, 200 + LEG2_OF + COPY_OF);
}

static void acked_with_a_later_answer(struct told *told)
{
    acked_with_another_answer(told, 1);
}

static void acked_with_an_earlier_answer(struct told *told)
{
    acked_with_another_answer(told, -1);
}

static void pending_answer_acked_as_overruled(struct told *told)
{
    TELL(do_answer(told, 100, 210, 1, 0));
    TELL(do_enter2(told, 100, 210, 1));
    do_ack(told, 210 + LEG2_OF);
}

static void worker_is_asked_something_else(struct told *told)
{
    do_work1(told, 100, 0);
    *hand_cell(&told->hand, TABLE_MESSAGE, 100 + WORK_OF, MESSAGE_CONTENT) += 1;
}

static void worker_is_asked_something_smaller(struct told *told)
{
    do_work1(told, 100, 0);
    *hand_cell(&told->hand, TABLE_MESSAGE, 100 + WORK_OF, MESSAGE_CONTENT) -= 1;
}

static void work_is_given_more_than_the_input(struct told *told)
{
    do_work1(told, 100, WITHOUT_MESSAGE);
    do_answer(told, 100, 200, ANSWER_CLOSES, 0);
    *hand_cell(&told->hand, TABLE_TASK, 100 + TASK_OF, TASK_INPUT) += 1;
}

static void output_is_more_than_the_answer(struct told *told)
{
    do_step1(told, 200, 0);
    *hand_cell(&told->hand, TABLE_OUTPUT, 200 + OUTPUT_OF, OUTPUT_VALUE) += 1;
}

static void born_complete_without_its_work(struct told *told)
{
    begin_at(told, 0);
    do_activity(told, 140, 0, ONE_T + B_100);
}

static void guid_is_no_ledger(struct told *told)
{
    do_enter2(told, 100, 200, ANSWER_CLOSES);
    *hand_cell(&told->hand, TABLE_GUID, 200, GUID_LEDGER) = -1;
}

static void guid_leaves_its_digits(struct told *told)
{
    add(told, TABLE_GUID, 200, GUID_LEDGER, 1000 * ONE_T);
}

static void completion_vanishes(struct told *told)
{
    drop(told, TABLE_COMPLETION, 202 + COMPLETION_OF);
}

static void activity_vanishes(struct told *told)
{
    drop(told, TABLE_ACTIVITY, 100);
}

/* With a reason, and everything that belongs to it. */
static void escalate_changed_answer(struct told *told)
{
    *hand_cell(&told->hand, TABLE_MESSAGE, 200 + LEG2_OF, MESSAGE_CONTENT) += 1;
    do_escalate(told, 200 + LEG2_OF, ESCALATED_CONTENT_CHANGED);
}

static void escalation_vanishes(struct told *told)
{
    TELL(escalate_changed_answer(told));
    drop(told, TABLE_ESCALATION, 200 + LEG2_OF + ESCALATION_OF);
}

static void escalation_is_taken_back(struct told *told)
{
    TELL(escalate_changed_answer(told));
    set(told, TABLE_JOB, THE_JOB, JOB_ESCALATED, 0);
}

static void escalated_and_job_not_marked(struct told *told)
{
    escalate_changed_answer(told);
    *hand_cell(&told->hand, TABLE_JOB, THE_JOB, JOB_ESCALATED) = 0;
}

static void step3_marked_again(struct told *told)
{
    add(told, TABLE_GUID, 202, GUID_LEDGER, M_100);
}

static void another_guid_runs_step3(struct told *told)
{
    do_step3(told, 201, 0);
}

static void leg2_counted_before_leg1(struct told *told)
{
    add(told, TABLE_ACTIVITY, 100, ACTIVITY_LEDGER, 1);
}

static void leg2_counted_twice(struct told *told)
{
    do_enter2(told, 100, 200, ANSWER_CLOSES);
    add(told, TABLE_ACTIVITY, 100, ACTIVITY_LEDGER, 1);
}

static void step2_publishes_a_message_again(struct told *told)
{
    do_step2(told, 200, (struct family){{101}, 0}, 0);
    put_message(told, 777,
                (int64_t[MESSAGE_COLUMNS]){[MESSAGE_KIND] = MESSAGE_LEG2,
                                           [MESSAGE_JOB] = THE_JOB,
                                           [MESSAGE_ACTIVITY] = 100,
                                           [MESSAGE_GUID] = 200,
                                           [MESSAGE_ANSWER] = ANSWER_CYCLES,
                                           [MESSAGE_SPAWNED_BY] = 200});
}

static void pending_answer_closes(struct told *told)
{
    TELL(do_answer(told, 100, 210, 1, 0));
    TELL(do_enter2(told, 100, 210, 1));
    TELL(do_step1(told, 210, 0));
    do_step2(told, 210, (struct family){{103}, 0}, 0);
    set(told, TABLE_TASK, 100 + TASK_OF, TASK_CLOSED, 210);
}

Test(oracle_activity, each_of_several_checks_of_a_clause_is_told_in_its_words)
{
    static const struct {
        enum stage stage;
        void (*story)(struct told *told);
        enum clause_id clause;
        const char *why;
    } cases[] = {
        {STEPPED1, obligation_of_no_job, CLAUSE_ACL_19, "an obligation belongs to no job"},
        {LAST_WORK, second_answer_closes_again, CLAUSE_ACL_19,
         "an activity was closed a second time, by another GUID (E-ACL-19)"},
        {STEPPED2, overruled_answer_works, CLAUSE_ACL_19,
         "a closing answer worked although another had closed its task (E-ACL-19)"},
        {ENTERED2, work_of_another_activity, CLAUSE_ACL_32,
         "a GUID's work went to another activity"},
        {ENTERED2, work_of_an_earlier_activity, CLAUSE_ACL_32,
         "a GUID's work went to another activity"},
        {ENTERED2, work_in_no_dimension, CLAUSE_ACL_32,
         "a GUID's work went to another dimension than the GUID's"},
        {STEPPED1, child_of_an_earlier_source, CLAUSE_ACL_32,
         "a child was sent to another activity for its input"},
        {STEPPED1, child_in_no_dimension, CLAUSE_ACL_32,
         "a child was sent to another dimension than its parent's"},
        {ENTERED2, acked_with_a_later_answer, CLAUSE_ACL_30,
         "a Leg2 message with another answer than its GUID's was acked and not escalated "
         "(E-ACL-21)"},
        {ENTERED2, acked_with_an_earlier_answer, CLAUSE_ACL_30,
         "a Leg2 message with another answer than its GUID's was acked and not escalated "
         "(E-ACL-21)"},
        {STEPPED2, pending_answer_acked_as_overruled, CLAUSE_ACL_30,
         "a Leg2 message was acked before its Step 2 was marked"},
        {ENTERED2, output_in_another_dimension, CLAUSE_ACL_32,
         "a GUID's work went to another dimension than the GUID's"},
        {ENTERED1, worker_is_asked_something_else, CLAUSE_ACL_32,
         "a worker was asked about something else than the input"},
        {ENTERED1, worker_is_asked_something_smaller, CLAUSE_ACL_32,
         "a worker was asked about something else than the input"},
        {ENTERED1, work_is_given_more_than_the_input, CLAUSE_ACL_32,
         "an activity received something else than its parent's output"},
        {ENTERED2, output_is_more_than_the_answer, CLAUSE_ACL_32,
         "the work stored something else than the answer"},
        {NOTHING, born_complete_without_its_work, CLAUSE_ACL_11,
         "Leg1 was marked complete without its work"},
        {ANSWERED, guid_is_no_ledger, CLAUSE_ACL_12, "a new GUID has no ledger of 15 digits"},
        {ENTERED2, guid_leaves_its_digits, CLAUSE_ACL_8,
         "an increment carried out of the 15 digits"},
        {COMPLETED, completion_vanishes, CLAUSE_ACL_18, "a job's completion tasks vanished"},
        {STEPPED1, activity_vanishes, CLAUSE_ACL_33, "an activity ledger vanished"},
        {ENTERED2, escalation_vanishes, CLAUSE_ACL_29, "an escalation vanished"},
        {ENTERED2, escalation_is_taken_back, CLAUSE_ACL_29, "a job's escalation was taken back"},
        {ENTERED2, escalated_and_job_not_marked, CLAUSE_ACL_29,
         "a message was escalated and its job not marked"},
        {COMPLETED, step3_marked_again, CLAUSE_ACL_18, "a GUID did Step 3 twice"},
        {COMPLETED, another_guid_runs_step3, CLAUSE_ACL_18,
         "a job's completion tasks were run by a second GUID"},
        {ENTERED1, leg2_counted_before_leg1, CLAUSE_ACL_45,
         "a Leg2 entry was counted and Leg1 is not complete"},
        {ANSWERED, leg2_counted_twice, CLAUSE_ACL_4, "the Leg2 entries grew by more than one"},
        {STEPPED1, step2_publishes_a_message_again, CLAUSE_ACL_17,
         "Step 2 published a child again"},
        {STEPPED1, pending_answer_closes, CLAUSE_ACL_17,
         "a task was closed by an answer that does not close it"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        reach(&world, cases[i].stage);
        cases[i].story(&world);
        only(&world, cases[i].clause);
        cr_expect_str_eq(tell(&world).why, cases[i].why, "case %zu", i);
    }
}

/* (OR1)
 * (OA2) A breach whose clause is off is told as the next promise that it breaks, or not at all. */
Test(oracle_activity, the_next_clause_speaks_for_one_that_is_off)
{
    static const struct {
        struct deed deed;
        enum clause_id off[3]; /* CLAUSE_ACL_1 ends it: no monitor reports it */
        enum clause_id clause;
    } cases[] = {
        {PART(LAST_WORK, do_alone, 202, WITHOUT_SNAPSHOT), {CLAUSE_ACL_21}, CLAUSE_ACL_22},
        {PART(LAST_WORK, do_alone, 202, WITHOUT_SNAPSHOT), {CLAUSE_ACL_21, CLAUSE_ACL_22}, FINE},
        {PART(CLOSED, do_step3, 201, 0), {CLAUSE_ACL_44}, CLAUSE_ACL_26},
        {STORY(NOTHING, leg1_overruns), {CLAUSE_ACL_43}, CLAUSE_ACL_6},
        {STORY(NOTHING, leg1_overruns), {CLAUSE_ACL_43, CLAUSE_ACL_6}, CLAUSE_ACL_8},
        {STORY(NOTHING, leg2_overruns), {CLAUSE_ACL_43}, CLAUSE_ACL_7},
        {STORY(NOTHING, attempts_overrun), {CLAUSE_ACL_43}, CLAUSE_ACL_15},
        {STORY(WORKED1, leg1_works_twice), {CLAUSE_ACL_11}, CLAUSE_ACL_10},
        {STORY(WORKED1, leg1_works_twice), {CLAUSE_ACL_11, CLAUSE_ACL_10}, CLAUSE_ACL_5},
        {STORY(STEPPED1, marker_is_added_up), {CLAUSE_ACL_5}, FINE},
        {CELL(STEPPED1, TABLE_GUID, 200, GUID_LEDGER, B_10), {CLAUSE_ACL_16}, CLAUSE_ACL_41},
        {STORY(ANSWERED, guid_copies_the_whole_ledger), {CLAUSE_ACL_14}, CLAUSE_ACL_12},
        {PART(STEPPED1, do_twins, 200, WITHOUT_SEMAPHORE), {CLAUSE_ACL_17}, CLAUSE_ACL_19},
        {STORY(STEPPED1, semaphore_counts_the_parent), {CLAUSE_ACL_19}, CLAUSE_ACL_20},
        {STORY(STEPPED1, activity_falls), {CLAUSE_ACL_33}, CLAUSE_ACL_16},
        {PART(CLOSED, do_ack_of, 202 + LEG2_OF, 0), {CLAUSE_ACL_30}, FINE},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        reach(&world, cases[i].deed.stage);
        for (size_t k = 0; k < COUNT(cases[i].off) && cases[i].off[k] != CLAUSE_ACL_1; k++) {
            world.oracle.off[cases[i].off[k]] = true;
        }
        uint64_t counted = world.oracle.evaluated[cases[i].off[0]];
        do_deed(&world, &cases[i].deed);
        if (cases[i].deed.stage == NOTHING) { /* the plant began a world of its own */
            world.oracle.off[cases[i].off[0]] = true;
            world.oracle.off[cases[i].off[1]] = cases[i].off[1] != CLAUSE_ACL_1;
            counted = world.oracle.evaluated[cases[i].off[0]];
        }
        struct oracle_verdict verdict = tell(&world);
        cr_expect_eq(verdict.clause, cases[i].clause, "case %zu: clause %d (%s)", i,
                     (int)verdict.clause, verdict.why);
        cr_expect_eq(world.oracle.evaluated[cases[i].off[0]], counted, "case %zu: off", i);
    }
}

/* E-ACL-4: work and children in a dimension that was computed again. Every ledger looks legal, so
 * with the oracle of the data silent nobody says a word. */
Test(oracle_activity, only_the_data_show_a_dimension_from_the_counter)
{
    PROVES(CLAUSE_ACL_32);
    SETTLES(ERRATUM_ACL_4);
    static void (*const stories[])(struct told * told) = {
        output_in_another_dimension, work_in_the_row_of_another, children_in_another_dimension};
    static const enum stage stages[] = {ENTERED2, ENTERED2, STEPPED1};
    for (size_t i = 0; i < COUNT(stories); i++) {
        reach(&world, stages[i]);
        world.oracle.silent[ORACLE_DATA] = true;
        stories[i](&world);
        cr_expect_not(tell(&world).broken);
    }
}

/* E-ACL-2 read literally: every GUID adds to the activity's markers. */
static enum clause_id literal_markers(bool acl_5_off, int64_t *guids)
{
    struct told *told = &world;
    reach(told, ACKED1);
    told->recheck = false;
    told->oracle.off[CLAUSE_ACL_5] = acl_5_off;
    for (*guids = 1; *guids <= 12; (*guids)++) {
        int64_t guid = 209 + *guids;
        TELL(do_answer(told, 100, guid, *guids, 0));
        TELL(do_enter2(told, 100, guid, *guids));
        do_step1(told, guid, WITHOUT_ACTIVITY);
        add(told, TABLE_ACTIVITY, 100, ACTIVITY_LEDGER, B_10);
        struct oracle_verdict verdict = tell(told);
        if (verdict.broken) {
            return verdict.clause;
        }
    }
    return FINE;
}

Test(oracle_activity, literal_markers_show_at_the_second_guid_or_at_the_tenth)
{
    PROVES(CLAUSE_ACL_5, CLAUSE_ACL_8);
    SETTLES(ERRATUM_ACL_2);
    int64_t guids = 0;
    cr_expect_eq(literal_markers(false, &guids), CLAUSE_ACL_5);
    cr_expect_eq(guids, 2);
    cr_expect_eq(literal_markers(true, &guids), CLAUSE_ACL_8);
    cr_expect_eq(guids, 10);
}

Test(oracle_activity, what_a_rolled_back_transaction_leaves_is_reported)
{
    PROVES(CLAUSE_ACL_2);
    struct told *told = &world;
    reach(told, STEPPED1);
    cr_expect_not(oracle_rollback(&told->oracle, told->hand.changes, 0).broken);
    do_semaphore(told, 1, 0);
    struct oracle_verdict verdict =
        oracle_rollback(&told->oracle, told->hand.changes, told->hand.count);
    cr_expect_eq(verdict.clause, CLAUSE_ACL_2);
    cr_expect_eq(told->oracle.evaluated[CLAUSE_ACL_2], 2);
    cr_expect_eq(told->oracle.table, TABLE_JOB);
    cr_expect_eq(told->oracle.spoke, ORACLE_LEDGER);
    told->oracle.off[CLAUSE_ACL_2] = true;
    cr_expect_not(oracle_rollback(&told->oracle, told->hand.changes, told->hand.count).broken);
}

/* ---- the end --------------------------------------------------------------------------------- */

Test(oracle_activity, what_is_left_undone_is_reported)
{
    PROVES(CLAUSE_ACL_28, CLAUSE_ACL_29);
    struct told *told = &world;
    reach(told, COMPLETED);
    expect_settled(told, true, CLAUSE_ACL_28);
    reach(told, ENDED);
    expect_settled(told, false, CLAUSE_ACL_28);
    reach(told, CLOSED);
    told->oracle.off[CLAUSE_ACL_30] = true;
    TELL(do_ack(told, 202 + LEG2_OF)); /* Step 3 is lost */
    expect_settled(told, true, CLAUSE_ACL_29);
    expect_settled_as(told, "a job was closed and its completion tasks not run once");
    reach(told, ENTERED1);
    told->oracle.off[CLAUSE_ACL_30] = true;
    TELL(do_ack(told, 100 + LEG1_OF)); /* never closed */
    expect_settled(told, true, CLAUSE_ACL_29);
    expect_settled_as(told, "a job was neither closed nor escalated");
    told->oracle.off[CLAUSE_ACL_29] = true;
    expect_settled(told, true, FINE);
}

/* ---- what the scenario asks for -------------------------------------------------------------- */

/* graph: {trigger: [{to: n1, when: even}]}, pending: {trigger: [[n2]]}, cycles: {trigger: {to:
 * trigger, rounds: 1}}. The trigger makes 163347048 of 1000 and, by its cycle, 855108824 of that:
 * n1 is spawned twice, as activities 101 and 151. */
static const struct expectation asked = {
    .of.activity = {.jobs = 1,
                    .thresholds = 1,
                    .nodes = 3,
                    .node = {{.first = 1, .children = 2, .pendings = 1, .rounds = 1},
                             {.first = 3, .when = EXPECTED_EVEN},
                             {.first = 3, .answer = 1}}}};

static const struct family first_round = {{101}, 220};

static void ask(struct told *told)
{
    told_begin(told);
    told->oracle.expected = &asked;
    told->asks = &asked.of.activity;
    TELL(do_create(told, 0, 0));
    tell_leg1(told, 100);
    TELL(do_answer(told, 100, 210, 1, 0));
    TELL(do_answer(told, 100, 200, ANSWER_CLOSES, 1));
    TELL(do_ack(told, 100 + WORK_OF));
}

static void ask_up_to_cycle(struct told *told)
{
    ask(told);
    tell_leg2(told, 100, 210, 1, (struct family){{102}, 0});
    TELL(do_ack(told, 210 + LEG2_OF));
    TELL(do_enter2(told, 100, 200, ANSWER_CLOSES));
    TELL(do_step1(told, 200, 0));
}

static void ask_up_to_end(struct told *told)
{
    ask_up_to_cycle(told);
    TELL(do_step2(told, 200, first_round, 0));
    TELL(do_ack(told, 200 + LEG2_OF));
    tell_leg2(told, 100, 220, ANSWER_CYCLES, (struct family){{151}, 0});
    TELL(do_ack(told, 220 + LEG2_OF));
    tell_leaf(told, 101);
    tell_leaf(told, 102);
    tell_leg1(told, 151);
    tell_answer(told, 151, 251);
    tell_leg2(told, 151, 251, ANSWER_CLOSES, nobody);
}

static void expect_broken(struct told *told, enum clause_id clause, const char *why)
{
    struct oracle_verdict verdict = tell(told);
    cr_expect_eq(verdict.clause, clause, "%s: clause %d", why, (int)verdict.clause);
    cr_expect_str_eq(verdict.why, why);
}

Test(oracle_activity, what_was_asked_for_is_fine)
{
    PROVES(CLAUSE_ACL_17, CLAUSE_ACL_29, CLAUSE_ACL_32);
    struct told *told = &world;
    ask_up_to_end(told);
    TELL(do_step3(told, 251, 0));
    TELL(do_ack(told, 251 + LEG2_OF));
    expect_settled(told, true, FINE);
    cr_expect_eq(get(told, TABLE_OUTPUT, 200 + OUTPUT_OF, OUTPUT_VALUE), 163347048);
    cr_expect_eq(get(told, TABLE_OUTPUT, 220 + OUTPUT_OF, OUTPUT_VALUE), 855108824);
}

Test(oracle_activity, a_step2_spawns_what_its_answer_leads_to)
{
    PROVES(CLAUSE_ACL_17);
    static const struct {
        struct family family;
        const char *why; /* NULL: fine */
    } cases[] = {
        {{{101}, 220}, NULL},
        {{{0}, 220}, "Step 2 left out a child that its answer leads to"},
        {{{101, 151}, 220}, "Step 2 spawned a child that its answer does not lead to"},
        {{{152}, 220}, "Step 2 spawned other children than its answer leads to"},
        {{{101}, 0}, "Step 2 did not follow the cycle of its activity"},
    };
    struct told *told = &world;
    for (size_t i = 0; i < COUNT(cases); i++) {
        ask_up_to_cycle(told);
        do_step2(told, 200, cases[i].family, 0);
        expect_broken(told, cases[i].why == NULL ? FINE : CLAUSE_ACL_17,
                      cases[i].why == NULL ? "" : cases[i].why);
    }
    ask_up_to_cycle(told); /* a second round, where the cycle has one */
    TELL(do_step2(told, 200, first_round, 0));
    TELL(do_enter2(told, 100, 220, ANSWER_CYCLES));
    TELL(do_step1(told, 220, 0));
    do_step2(told, 220, (struct family){{151}, 221}, 0);
    expect_broken(told, CLAUSE_ACL_17, "Step 2 followed a cycle once too often");
}

Test(oracle_activity, a_closing_answer_waits_for_pending_ones)
{
    PROVES(CLAUSE_ACL_19);
    SETTLES(ERRATUM_ACL_7, ERRATUM_ACL_20);
    struct told *told = &world;
    ask(told);
    TELL(do_enter2(told, 100, 200, ANSWER_CLOSES));
    TELL(do_step1(told, 200, 0));
    do_step2(told, 200, first_round, 0);
    expect_broken(told, CLAUSE_ACL_19, "a closing answer overtook a pending one (E-ACL-20)");
    told_begin(told); /* before its Leg1 has asked anybody: told where it is entered */
    told->oracle.expected = &asked;
    told->asks = &asked.of.activity;
    TELL(do_create(told, 0, 0));
    TELL(do_answer(told, 100, 200, ANSWER_CLOSES, 1));
    do_enter2(told, 100, 200, ANSWER_CLOSES);
    cr_expect_eq(tell(told).clause, CLAUSE_ACL_45);
    ask_up_to_cycle(told);
    do_answer(told, 100, 211, 1, 0);
    expect_broken(told, CLAUSE_ACL_19, "an answer was given again, under a second GUID (E-ACL-7)");
}

static void create_with(struct told *told, int64_t threshold, int64_t ledger, int column,
                        int64_t value)
{
    told_begin(told);
    told->oracle.expected = &asked;
    told->asks = &asked.of.activity;
    do_create(told, threshold, ledger);
    told->hand.cells[TABLE_JOB][1 + column] = value;
}

Test(oracle_activity, jobs_and_ledgers_begin_as_asked)
{
    PROVES(CLAUSE_ACL_3, CLAUSE_ACL_21, CLAUSE_ACL_32);
    struct told *told = &world;
    create_with(told, 0, 0, JOB_INPUT, 1001);
    expect_broken(told, CLAUSE_ACL_32, "a job has an input that nobody asked for");
    create_with(told, 0, 0, JOB_THRESHOLD, 1);
    expect_broken(told, CLAUSE_ACL_21,
                  "a job has another threshold than the one that is its turn (E-ACL-12)");
    create_with(told, 0, ONE_T, JOB_INPUT, 1000);
    expect_broken(told, CLAUSE_ACL_3,
                  "an activity ledger does not start with the entries of its scenario");
    create_with(told, 0, 0, JOB_INPUT, 1000);
    told->hand.cells[TABLE_ACTIVITY][1 + ACTIVITY_NODE] = 1;
    expect_broken(told, CLAUSE_ACL_32, "an activity is none that the graph has there");
}

Test(oracle_activity, data_are_what_nodes_make_of_their_input)
{
    PROVES(CLAUSE_ACL_32);
    struct told *told = &world;
    ask(told);
    do_copy_with(told, 210 + LEG2_OF, 8);
    expect_broken(told, CLAUSE_ACL_32, "an answer is not what its activity makes of its input");
    do_answer(told, 100, 213, 2, 0);
    expect_broken(told, CLAUSE_ACL_32, "an activity gave an answer that it does not have");
    do_enter2(told, 100, 213, 1);
    expect_broken(told, CLAUSE_ACL_32, "a GUID was entered that nobody published");
    ask_up_to_cycle(told);
    TELL(do_step2(told, 200, first_round, 0));
    TELL(do_enter2(told, 100, 220, ANSWER_CYCLES));
    do_mark(told, 220, B_10, 0);
    do_output(told, 220, get(told, TABLE_GUID, 220, GUID_DIMENSION), 42);
    expect_broken(told, CLAUSE_ACL_32,
                  "the work stored something else than its activity makes of its input");
    ask_up_to_cycle(told);
    do_step2(told, 200, (struct family){{101}, 220}, 0);
    told->hand.cells[TABLE_MESSAGE]
                    [hand_at(&told->hand, TABLE_MESSAGE, 220 + LEG2_OF) * (1 + MESSAGE_COLUMNS) +
                     1 + MESSAGE_ACTIVITY] = 101; /* not the head */
    expect_broken(told, CLAUSE_ACL_17,
                  "a message went to an activity that no cycle of its sender leads to (E-ACL-22)");
}

/* A worker that is run again may answer otherwise where the scenario says so, once its answer was
 * entered; the first one stands (E-ACL-21). */
Test(oracle_activity, an_answer_may_change_where_the_scenario_says_so)
{
    SETTLES(ERRATUM_ACL_21);
    static struct expectation changing;
    struct told *told = &world;
    ask(told);
    changing = asked;
    changing.of.activity.changes = true;
    told->oracle.expected = &changing;
    TELL(do_enter2(told, 100, 210, 1));
    TELL(do_copy_with(told, 210 + LEG2_OF, 8));
    TELL(do_escalate(told, 210 + LEG2_OF + COPY_OF, ESCALATED_CONTENT_CHANGED));
    do_copy_with(told, 200 + LEG2_OF, 8);
    expect_broken(told, CLAUSE_ACL_32, "an answer is not what its activity makes of its input");
}

Test(oracle_activity, what_was_asked_for_and_is_missing_is_reported)
{
    PROVES(CLAUSE_ACL_29);
    static struct expectation more;
    struct told *told = &world;
    ask_up_to_end(told);
    TELL(do_step3(told, 251, 0));
    TELL(do_ack(told, 251 + LEG2_OF));
    more = asked;
    more.of.activity.jobs = 2;
    told->oracle.expected = &more;
    expect_settled(told, true, CLAUSE_ACL_29); /* a job */
    more = asked;
    more.of.activity.node[1].pendings = 1;
    expect_settled(told, true, CLAUSE_ACL_29); /* an answer of 101 */
    ask_up_to_end(told);
    told->oracle.off[CLAUSE_ACL_30] = true;
    TELL(do_ack(told, 251 + LEG2_OF));
    expect_settled(told, true, CLAUSE_ACL_29); /* completion tasks */
}

/* Up to the message that a cycle brought: entered, and no Step 2 of it. */
static void ask_up_to_cycle_message(struct told *told)
{
    ask_up_to_cycle(told);
    TELL(do_step2(told, 200, first_round, 0));
    TELL(do_ack(told, 200 + LEG2_OF));
    tell_leaf(told, 101);
    tell_leaf(told, 102);
    TELL(do_enter2(told, 100, 220, ANSWER_CYCLES));
    *hand_cell(&told->hand, TABLE_JOB, THE_JOB, JOB_THRESHOLD) = 1; /* no closure is promised */
}

Test(oracle_activity, each_thing_that_is_missing_is_told_in_its_words)
{
    static struct expectation preset;
    struct told *told = &world;
    ask_up_to_end(told);
    TELL(do_step3(told, 251, 0));
    TELL(do_ack(told, 251 + LEG2_OF));
    *hand_cell(&told->hand, TABLE_ACTIVITY, 101, ACTIVITY_LEDGER) = 0;
    only(told, CLAUSE_ACL_29);
    expect_settled_as(told, "an activity never ran");
    ask_up_to_cycle_message(told);
    only(told, CLAUSE_ACL_29);
    expect_settled_as(told, "nothing of a job was given up, and an obligation of it is open");
    *hand_cell(&told->hand, TABLE_JOB, THE_JOB, JOB_ESCALATED) = 1;
    expect_settled_as(told, "a message that a cycle brought never went through Step 2");
    ask_up_to_end(told); /* and no Step 3 */
    told->oracle.off[CLAUSE_ACL_30] = true;
    TELL(do_ack(told, 251 + LEG2_OF));
    *hand_cell(&told->hand, TABLE_JOB, THE_JOB, JOB_THRESHOLD) = 1;
    only(told, CLAUSE_ACL_29);
    expect_settled_as(told, "a GUID met the threshold and its completion tasks were not run");
    reach(told, COMPLETED);
    told->recheck = false;
    only(told, CLAUSE_ACL_29);
    TELL(do_step3(told, 201, 0)); /* run by a second GUID */
    expect_settled_as(told, "a job was closed and its completion tasks not run once");
    ask(told);
    put(told, TABLE_JOB, THE_JOB + 1, (int64_t[JOB_COLUMNS]){[JOB_INPUT] = EXPECTED_JOB_INPUT});
    only(told, CLAUSE_ACL_32);
    expect_settled_as(told, "two jobs work on the same input");
    ask(told);
    preset = asked;
    preset.of.activity.node[0].leg2 = 5;
    told->oracle.expected = &preset;
    only(told, CLAUSE_ACL_31);
    do_enter2(told, 100, 210, 1);
    expect_broken(told, CLAUSE_ACL_31,
                  "the first GUID of an activity is not in its first dimension");
}

/* ---- what was not asked for, where another check of the clause would stand in ---------------- */

static void entered_with_other_data(struct told *told)
{
    ask(told);
    do_enter2(told, 100, 210, 1);
    *hand_cell(&told->hand, TABLE_GUID, 210, GUID_CONTENT) += 1;
}

static void entered_with_smaller_data(struct told *told)
{
    ask(told);
    do_enter2(told, 100, 210, 1);
    *hand_cell(&told->hand, TABLE_GUID, 210, GUID_CONTENT) -= 1;
}

static void answered_with_more(struct told *told)
{
    ask(told);
    do_copy_with(told, 210 + LEG2_OF, get(told, TABLE_MESSAGE, 210 + LEG2_OF, MESSAGE_CONTENT) + 1);
}

static void cycle_stores_more(struct told *told)
{
    ask_up_to_cycle(told);
    TELL(do_step2(told, 200, first_round, 0));
    TELL(do_enter2(told, 100, 220, ANSWER_CYCLES));
    do_step1(told, 220, 0);
    *hand_cell(&told->hand, TABLE_OUTPUT, 220 + OUTPUT_OF, OUTPUT_VALUE) += 1;
}

static void spawned_for_no_job(struct told *told)
{
    ask_up_to_cycle(told);
    do_step2(told, 200, first_round, 0);
    *hand_cell(&told->hand, TABLE_ACTIVITY, 101, ACTIVITY_JOB) = 0;
}

static void spawned_by_a_sibling(struct told *told)
{
    ask_up_to_cycle(told);
    TELL(do_step2(told, 200, first_round, 0));
    tell_leg1(told, 101);
    tell_answer(told, 101, 201);
    TELL(do_enter2(told, 101, 201, ANSWER_CLOSES));
    TELL(do_step1(told, 201, 0));
    do_step2(told, 201, (struct family){{152}, 0}, 0);
}

static void spawned_for_another_job(struct told *told)
{
    ask_up_to_cycle(told);
    do_step2(told, 200, first_round, 0);
    *hand_cell(&told->hand, TABLE_ACTIVITY, 101, ACTIVITY_JOB) = 9;
}

static void entered_answer_changes(struct told *told)
{
    ask(told);
    TELL(do_enter2(told, 100, 210, 1));
    do_copy_with(told, 210 + LEG2_OF, 8);
}

static void first_guid_in_a_later_dimension(struct told *told)
{
    ask(told);
    *hand_cell(&told->hand, TABLE_ACTIVITY, 100, ACTIVITY_LEDGER) += 4;
    do_enter2(told, 100, 210, 1);
}

static void pending_answer_spawns_another(struct told *told)
{
    ask(told);
    TELL(do_enter2(told, 100, 210, 1));
    TELL(do_step1(told, 210, 0));
    do_step2(told, 210, (struct family){{101}, 0}, 0);
}

static void job_without_its_threshold(struct told *told)
{
    static struct expectation other;
    create_with(told, 0, 0, JOB_INPUT, 1000);
    other = asked;
    other.of.activity.threshold[0] = 1;
    told->oracle.expected = &other;
}

static void starts_with_fewer_entries(struct told *told)
{
    static struct expectation preset;
    create_with(told, 0, 3 * ONE_T, JOB_INPUT, 1000);
    preset = asked;
    preset.of.activity.node[0].leg1 = 5;
    told->oracle.expected = &preset;
}

static void starts_without_its_entries(struct told *told)
{
    static struct expectation preset;
    create_with(told, 0, 0, JOB_INPUT, 1000);
    preset = asked;
    preset.of.activity.node[0].leg1 = 5;
    told->oracle.expected = &preset;
}

Test(oracle_activity, each_thing_that_was_not_asked_for_is_told_in_its_words)
{
    static const struct {
        void (*story)(struct told *told);
        enum clause_id clause;
        const char *why;
    } cases[] = {
        {entered_with_other_data, CLAUSE_ACL_32,
         "an answer was entered that is not what its activity makes of its input"},
        {entered_with_smaller_data, CLAUSE_ACL_32,
         "an answer was entered that is not what its activity makes of its input"},
        {answered_with_more, CLAUSE_ACL_32,
         "an answer is not what its activity makes of its input"},
        {cycle_stores_more, CLAUSE_ACL_32,
         "the work stored something else than its activity makes of its input"},
        {spawned_for_no_job, CLAUSE_ACL_32, "a child belongs to another job"},
        {spawned_by_a_sibling, CLAUSE_ACL_17, "an activity was spawned by another than its parent"},
        {spawned_for_another_job, CLAUSE_ACL_32, "a child belongs to another job"},
        {entered_answer_changes, CLAUSE_ACL_32,
         "an answer is not what its activity makes of its input"},
        {first_guid_in_a_later_dimension, CLAUSE_ACL_31,
         "the first GUID of an activity is not in its first dimension"},
        {pending_answer_spawns_another, CLAUSE_ACL_17,
         "Step 2 spawned other children than its answer leads to"},
        {job_without_its_threshold, CLAUSE_ACL_21,
         "a job has another threshold than the one that is its turn (E-ACL-12)"},
        {starts_with_fewer_entries, CLAUSE_ACL_3,
         "an activity ledger does not start with the entries of its scenario"},
        {starts_without_its_entries, CLAUSE_ACL_3,
         "an activity ledger does not start with the entries of its scenario"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        cases[i].story(&world);
        only(&world, cases[i].clause);
        expect_broken(&world, cases[i].clause, cases[i].why);
    }
}

/* A job or an activity that nobody asked for is told where it is born, once. */
Test(oracle_activity, of_what_nobody_asked_for_nothing_more_is_expected)
{
    PROVES(CLAUSE_ACL_29);
    struct told *told = &world;
    create_with(told, 0, 0, JOB_INPUT, 5000);
    expect_broken(told, CLAUSE_ACL_32, "a job has an input that nobody asked for");
    told->oracle.off[CLAUSE_ACL_32] = true;
    told->hand.cells[TABLE_ACTIVITY][1 + ACTIVITY_NODE] = 9;
    tell_leg1(told, 100);
    tell_answer(told, 100, 200);
    tell_leg2(told, 100, 200, ANSWER_CLOSES, nobody);
    TELL(do_step3(told, 200, 0));
    TELL(do_ack(told, 200 + LEG2_OF));
    expect_settled(told, true, CLAUSE_ACL_29); /* the job that was asked for */
    told->oracle.off[CLAUSE_ACL_29] = true;
    expect_settled(told, true, FINE);
}

/* Siblings of an escalated obligation run on to their ends (E-ACL-10). */
Test(oracle_activity, an_escalated_job_is_complete_but_for_what_was_given_up)
{
    PROVES(CLAUSE_ACL_29);
    SETTLES(ERRATUM_ACL_10);
    static struct expectation full;
    struct told *told = &world;
    full = asked;
    full.of.activity.node[2].leg1 = 999;
    for (int runs_on = 0; runs_on < 2; runs_on++) {
        ask(told);
        told->oracle.expected = &full;
        TELL(do_enter2(told, 100, 210, 1));
        TELL(do_step1(told, 210, 0));
        do_step2(told, 210, (struct family){{102}, 0}, 0);
        told->hand.cells[TABLE_ACTIVITY][(1 + ACTIVITY_COLUMNS) + 1 + ACTIVITY_LEDGER] =
            999 * ONE_T;
        TELL();
        TELL(do_ack(told, 210 + LEG2_OF));
        TELL(do_escalate(told, 102 + LEG1_OF, ESCALATED_LEG1_CEILING));
        tell_leg2(told, 100, 200, ANSWER_CLOSES, first_round);
        TELL(do_ack(told, 200 + LEG2_OF));
        tell_leg2(told, 100, 220, ANSWER_CYCLES, (struct family){{151}, 0});
        TELL(do_ack(told, 220 + LEG2_OF));
        tell_leaf(told, 101);
        told->oracle.off[CLAUSE_ACL_30] = true;
        if (runs_on) {
            tell_leaf(told, 151);
        } else {
            TELL(do_ack(told, 151 + LEG1_OF));
        }
        expect_settled(told, true, runs_on ? FINE : CLAUSE_ACL_29);
    }
}

/* ---- entries against claims ------------------------------------------------------------------ */

enum move {
    END,
    CLAIM,
    ENTER,
    UNTOLD,
    WORK,
    GIVE_UP
}; /* UNTOLD: entered, and the answer is lost */

struct moves {
    int64_t ledger; /* entries that the activity begins with */
    enum move moves[8];
    enum clause_id clause;
};

static enum clause_id tell_of_client(struct told *told, bool answered)
{
    struct observed seen = {.ended = OBSERVED_COMMITTED, .answered = answered, .client = 1};
    struct oracle_verdict verdict =
        seen_activity(&told->oracle, &told->hand.rows, &seen, told->hand.changes, told->hand.count);
    expect_fine(told, "rows");
    return verdict.clause;
}

static void do_enter(struct told *told, bool leg2)
{
    if (!leg2) {
        do_enter1(told, 100);
    } else if (row_find(&told->hand.rows, TABLE_GUID, 200) == ROW_NONE) {
        do_enter2(told, 100, 200, ANSWER_CLOSES);
    } else {
        do_enter2_again(told, 200);
    }
}

static void do_move(struct told *told, enum move move, bool leg2)
{
    int64_t message = leg2 ? 200 + LEG2_OF : 100 + LEG1_OF;
    if (move == CLAIM) {
        do_claim(told, message);
    } else if (move == GIVE_UP) {
        do_escalate(told, message, leg2 ? ESCALATED_ATTEMPTS_CEILING : ESCALATED_LEG1_CEILING);
    } else if (move == WORK && leg2) {
        do_step1(told, 200, 0);
    } else if (move == WORK) {
        do_work1(told, 100, 0);
    } else {
        do_enter(told, leg2);
    }
}

static void play_moves(const struct moves *cases, size_t count, bool leg2)
{
    for (size_t i = 0; i < count; i++) {
        struct told *told = &world;
        enum clause_id clause = FINE;
        begin_at(told, cases[i].ledger);
        told->recheck = false;
        if (leg2) {
            tell_leg1(told, 100);
            TELL(do_answer(told, 100, 200, ANSWER_CLOSES, 0));
        }
        for (int m = 0; cases[i].moves[m] != END && clause == FINE; m++) {
            do_move(told, cases[i].moves[m], leg2);
            clause = tell_of_client(told, cases[i].moves[m] != UNTOLD);
        }
        cr_expect_eq(clause, cases[i].clause, "case %zu: clause %d", i, (int)clause);
    }
}

Test(oracle_activity, a_claim_of_a_leg1_message_is_counted_once)
{
    PROVES(CLAUSE_ACL_4, CLAUSE_ACL_6, CLAUSE_ACL_9);
    SETTLES(ERRATUM_ACL_18, ERRATUM_ACL_32);
    static const struct moves cases[] = {
        {0, {CLAIM, ENTER, WORK}, FINE},
        {0, {CLAIM, ENTER, ENTER}, CLAUSE_ACL_4},
        {0, {CLAIM, UNTOLD, ENTER, WORK}, FINE},
        {0, {CLAIM, UNTOLD, ENTER, ENTER}, CLAUSE_ACL_4},
        {0, {CLAIM, ENTER, CLAIM, ENTER, WORK}, FINE},
        {0, {CLAIM, ENTER, CLAIM, WORK}, CLAUSE_ACL_9},
        {998 * ONE_T, {CLAIM, ENTER, GIVE_UP}, CLAUSE_ACL_6},
        {998 * ONE_T, {CLAIM, ENTER, CLAIM, GIVE_UP}, FINE},
        {998 * ONE_T, {CLAIM, UNTOLD, GIVE_UP}, FINE},
        {999 * ONE_T, {CLAIM, GIVE_UP}, FINE},
    };
    play_moves(cases, COUNT(cases), false);
}

Test(oracle_activity, a_claim_of_a_leg2_message_is_counted_once)
{
    PROVES(CLAUSE_ACL_12, CLAUSE_ACL_13, CLAUSE_ACL_15);
    SETTLES(ERRATUM_ACL_17);
    static const struct moves cases[] = {
        {0, {CLAIM, ENTER, WORK}, FINE},
        {0, {CLAIM, ENTER, ENTER}, CLAUSE_ACL_12},
        {0, {CLAIM, UNTOLD, ENTER, WORK}, FINE},
        {0, {CLAIM, ENTER, CLAIM, WORK}, CLAUSE_ACL_13},
        {FULL_8 - 2, {CLAIM, ENTER, CLAIM, ENTER, WORK}, FINE},
        {FULL_8 - 2, {CLAIM, ENTER, CLAIM, ENTER, CLAIM, WORK}, CLAUSE_ACL_15},
        {FULL_8 - 2, {CLAIM, ENTER, CLAIM, ENTER, GIVE_UP}, CLAUSE_ACL_15},
        {FULL_8 - 2, {CLAIM, ENTER, CLAIM, ENTER, CLAIM, GIVE_UP}, FINE},
        {FULL_8 - 1, {CLAIM, ENTER, CLAIM, WORK}, FINE}, /* born at the last entry */
    };
    play_moves(cases, COUNT(cases), true);
}

/* ---- counting, memory ------------------------------------------------------------------------ */

/* (OA4) */
Test(oracle_activity, every_clause_is_evaluated_somewhere)
{
    static const enum clause_id clauses[] = {
        CLAUSE_ACL_5,  CLAUSE_ACL_8,  CLAUSE_ACL_9,  CLAUSE_ACL_10, CLAUSE_ACL_11, CLAUSE_ACL_13,
        CLAUSE_ACL_14, CLAUSE_ACL_16, CLAUSE_ACL_17, CLAUSE_ACL_18, CLAUSE_ACL_19, CLAUSE_ACL_21,
        CLAUSE_ACL_22, CLAUSE_ACL_26, CLAUSE_ACL_28, CLAUSE_ACL_29, CLAUSE_ACL_30, CLAUSE_ACL_32,
        CLAUSE_ACL_33, CLAUSE_ACL_39, CLAUSE_ACL_41, CLAUSE_ACL_44, CLAUSE_ACL_45,
    };
    struct told *told = &world;
    reach(told, ENDED);
    TELL(do_enter1(told, 100));
    expect_settled(told, true, FINE);
    for (size_t i = 0; i < COUNT(clauses); i++) {
        cr_expect(told->oracle.evaluated[clauses[i]] > 0, "clause %d", (int)clauses[i]);
    }
    cr_expect_eq(told->oracle.evaluated[CLAUSE_ACL_6], 0, "no ceiling was near");
    cr_expect_eq(told->oracle.evaluated[CLAUSE_ACL_43], 0);
    cr_expect_eq(told->oracle.evaluated[CLAUSE_ACL_18], 1);
    cr_expect_eq(told->oracle.evaluated[CLAUSE_ACL_45], 3);

    begin_at(told, 998 * ONE_T);
    TELL(do_enter1(told, 100));
    cr_expect_eq(told->oracle.evaluated[CLAUSE_ACL_6], 1);
    begin_at(told, FULL_8 - 2);
    tell_leg1(told, 100);
    TELL(do_enter2(told, 100, 200, ANSWER_CLOSES));
    TELL(do_enter2_again(told, 200));
    cr_expect_eq(told->oracle.evaluated[CLAUSE_ACL_7], 1);
    cr_expect_eq(told->oracle.evaluated[CLAUSE_ACL_15], 1);
    cr_expect_eq(told->oracle.evaluated[CLAUSE_ACL_43], 2);
}

Test(oracle_activity, every_sighting_has_a_clause_and_a_text)
{
    for (int point = 0; point <= COVER_REPLAY_LEG2_AFTER_ACK; point++) {
        enum clause_id clause = oracle_cover_clause((enum oracle_cover)point);
        cr_expect(point > COVER_REPLAY_LEG2_AFTER_ACK || clause == CLAUSE_ACL_9 ||
                  clause == CLAUSE_ACL_10 || clause == CLAUSE_ACL_23 || clause == CLAUSE_ACL_24 ||
                  clause == CLAUSE_ACL_25 || clause == CLAUSE_ACL_34);
        cr_expect(*oracle_cover_text((enum oracle_cover)point) != '\0');
    }
}

/* Ids that share a place in the memory are told apart. */
Test(oracle_activity, ids_that_collide_are_told_apart)
{
    struct told *told = &world;
    reach(told, STEPPED1);
    int64_t twin = 200 + HAND_INDEX;
    TELL(do_answer(told, 100, twin, 1, 0));
    tell_leg2(told, 100, twin, 1, (struct family){{100 + HAND_INDEX}, 0});
    TELL(do_step2(told, 200, twins, 0));
    TELL(do_enter1(told, 100 + HAND_INDEX));
    TELL(do_work1(told, 100 + HAND_INDEX, 0));
    TELL(do_ack(told, twin + LEG2_OF));
    TELL(do_ack(told, 200 + LEG2_OF));
}

/* A search takes a commit back by the log; it must find the memory as it was, and room for it. */
Test(oracle_activity, the_log_takes_a_commit_back)
{
    static struct ghost_write log[ORACLE_COMMIT_WRITES_MAX(HAND_CHANGES)];
    static int64_t before[GHOSTS];
    struct told *told = &world;
    reach(told, ANSWERED);
    told->oracle.ghosts.log = log;
    memcpy(before, told->ghosts, sizeof before);
    do_enter2(told, 100, 200, ANSWER_CLOSES);
    do_step1(told, 200, 0);
    do_step2(told, 200, (struct family){{101, 102, 103}, 220}, 0);
    do_ack(told, 200 + LEG2_OF);
    size_t changes = told->hand.count;
    TELL();
    struct ghosts *ghosts = &told->oracle.ghosts;
    cr_expect(ghosts->logged > 0 && ghosts->logged <= ORACLE_COMMIT_WRITES_MAX(changes));
    cr_expect(memcmp(before, told->ghosts, sizeof before) != 0);
    while (ghosts->logged > 0) {
        const struct ghost_write *write = &log[--ghosts->logged];
        told->ghosts[write->cell] = write->before;
    }
    cr_expect(memcmp(before, told->ghosts, sizeof before) == 0);
}
