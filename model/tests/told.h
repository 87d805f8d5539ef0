/* A store in memory and the protocol told by hand: what the suites of the activity monitors use.
 *
 * A `do_` function makes the changes of one bundle, with parts of it left out if asked; `tell`
 * commits whatever was done since the last commit and asks the monitors. Ids are small numbers:
 * activities from 100, GUIDs from 200, everything else derived from them. */
#ifndef MODEL_TESTS_TOLD_H
#define MODEL_TESTS_TOLD_H

#include "model/oracle/activity.h"
#include "model/tests/hand.h"

#define FINE CLAUSE_COUNT

#define ONE_T  INT64_C(1000000000000)
#define B_100  INT64_C(100000000000)
#define B_10   INT64_C(10000000000)
#define B_1    INT64_C(1000000000)
#define M_100  INT64_C(100000000)
#define FULL_8 INT64_C(99999999)
#define GHOSTS ((3 * HAND_INDEX + HAND_INDEX / 2) * 4)

struct told {
    struct hand hand;
    struct oracle oracle;
    int64_t ghosts[GHOSTS];
    bool recheck;                         /* after every commit that is fine */
    const struct expected_activity *asks; /* NULL: nobody says what is expected */
};

/* ---- the store ------------------------------------------------------------------------------- */

static inline void told_begin(struct told *told)
{
    memset(told, 0, sizeof *told);
    hand_begin(&told->hand);
    cr_assert_eq(oracle_activity_cells(&told->hand.rows), (size_t)GHOSTS);
    oracle_begin(&told->oracle, &monitors_activity, &told->hand.rows, told->ghosts);
    /* no work outside rows is told here: test_oracle_journal.c */
    told->oracle.off[CLAUSE_ACL_46] = true;
    told->recheck = true;
}

static inline int64_t get(const struct told *told, enum row_table table, int64_t key, int column)
{
    return hand_get(&told->hand, table, key, column);
}

static inline void put(struct told *told, enum row_table table, int64_t key, const int64_t *values)
{
    hand_put(&told->hand, table, key, values);
}

static inline void set(struct told *told, enum row_table table, int64_t key, int column,
                       int64_t value)
{
    hand_set(&told->hand, table, key, column, value);
}

static inline void add(struct told *told, enum row_table table, int64_t key, int column,
                       int64_t delta)
{
    set(told, table, key, column, get(told, table, key, column) + delta);
}

static inline void drop(struct told *told, enum row_table table, int64_t key)
{
    hand_drop(&told->hand, table, key);
}

/* ---- telling --------------------------------------------------------------------------------- */

static inline struct oracle_verdict tell(struct told *told)
{
    struct oracle_verdict verdict = oracle_activity_commit(&told->oracle, &told->hand.rows,
                                                           told->hand.changes, told->hand.count);
    cr_expect_eq(verdict.broken, *verdict.why != '\0', "a breach is told in words");
    told->hand.count = 0;
    return verdict;
}

static inline void expect_fine(struct told *told, const char *what)
{
    struct oracle_verdict verdict = tell(told);
    cr_expect_not(verdict.broken, "%s: clause %d (%s)", what, (int)verdict.clause, verdict.why);
    if (told->recheck) {
        verdict = oracle_activity_recheck(&told->oracle, &told->hand.rows);
        cr_expect_not(verdict.broken, "recheck after %s: clause %d (%s)", what, (int)verdict.clause,
                      verdict.why);
    }
}

/* ---- ids ------------------------------------------------------------------------------------- */

enum { THE_JOB = 1 };
enum told_id { LEG1_OF = 1000, WORK_OF = 2000, LEG2_OF = 3000, TASK_OF = 4000, COPY_OF = 20000 };
enum told_id_of_guid { OUTPUT_OF = 5000, COMPLETION_OF = 6000, ESCALATION_OF = 50000 };

/* ---- bundles --------------------------------------------------------------------------------- */

/* What of a bundle is left out. */
enum told_part {
    WITHOUT_MARKER = 1,   /* on the GUID; of Leg1: on the activity */
    WITHOUT_ACTIVITY = 2, /* the marker on the activity */
    WITHOUT_WORK = 4,     /* the rows that the marker proves */
    WITHOUT_MESSAGE = 8,
    WITHOUT_SEMAPHORE = 16,
    WITHOUT_SNAPSHOT = 32,
    WITHOUT_STATE = 64,
    WITHOUT_CLOSED = 128, /* the task's closed mark */
    AS_PEER = 256         /* Leg1 publishes the closing answer itself */
};

static inline void put_message(struct told *told, int64_t key, const int64_t *values)
{
    put(told, TABLE_MESSAGE, key, values);
}

static inline void do_publish_leg1(struct told *told, int64_t activity, int64_t parent,
                                   int64_t source, int64_t dimension)
{
    put_message(told, activity + LEG1_OF,
                (int64_t[MESSAGE_COLUMNS]){[MESSAGE_KIND] = MESSAGE_LEG1,
                                           [MESSAGE_JOB] = THE_JOB,
                                           [MESSAGE_ACTIVITY] = activity,
                                           [MESSAGE_SOURCE] = source,
                                           [MESSAGE_DIMENSION] = dimension,
                                           [MESSAGE_SPAWNED_BY] = parent});
}

static inline void do_activity(struct told *told, int64_t activity, int64_t parent, int64_t ledger)
{
    put(told, TABLE_ACTIVITY, activity,
        (int64_t[ACTIVITY_COLUMNS]){[ACTIVITY_JOB] = THE_JOB,
                                    [ACTIVITY_NODE] = (activity - 100) % 50,
                                    [ACTIVITY_LEDGER] = ledger,
                                    [ACTIVITY_SPAWNED_BY] = parent});
}

static inline void do_create(struct told *told, int64_t threshold, int64_t ledger)
{
    put(told, TABLE_JOB, THE_JOB,
        (int64_t[JOB_COLUMNS]){
            [JOB_SEMAPHORE] = 1, [JOB_THRESHOLD] = threshold, [JOB_INPUT] = 1000});
    do_activity(told, 100, 0, ledger);
    do_publish_leg1(told, 100, 0, 0, 0);
}

static inline void do_claim(struct told *told, int64_t message)
{
    add(told, TABLE_MESSAGE, message, MESSAGE_EPOCH, 1);
    set(told, TABLE_MESSAGE, message, MESSAGE_VISIBLE_AT, 50);
}

/* Claims the message in the same commit, unless it is claimed already. */
static inline void do_ack(struct told *told, int64_t message)
{
    if (get(told, TABLE_MESSAGE, message, MESSAGE_EPOCH) == 0) {
        do_claim(told, message);
    }
    drop(told, TABLE_MESSAGE, message);
}

/* A second row with the same content, made by the environment; or with another content, by a worker
 * that was run again and answers otherwise (E-ACL-21). */
static inline void do_copy_with(struct told *told, int64_t message, int64_t content)
{
    int64_t values[MESSAGE_COLUMNS];
    for (int column = 0; column < MESSAGE_COLUMNS; column++) {
        values[column] = get(told, TABLE_MESSAGE, message, column);
    }
    values[MESSAGE_EPOCH] = 0;
    values[MESSAGE_CONTENT] = content;
    put_message(told, message + COPY_OF, values);
}

static inline void do_copy(struct told *told, int64_t message)
{
    do_copy_with(told, message, get(told, TABLE_MESSAGE, message, MESSAGE_CONTENT));
}

static inline int64_t input_of(const struct told *told, int64_t activity)
{
    int64_t parent = get(told, TABLE_ACTIVITY, activity, ACTIVITY_SPAWNED_BY);
    return parent == 0 ? get(told, TABLE_JOB, THE_JOB, JOB_INPUT)
                       : get(told, TABLE_OUTPUT, parent + OUTPUT_OF, OUTPUT_VALUE);
}

/* What an activity makes of its input; where nobody asks, told apart by the GUID. */
static inline int64_t answer_of(const struct told *told, int64_t activity, int64_t guid,
                                int64_t answer)
{
    if (told->asks == NULL || answer == ANSWER_CYCLES) {
        return guid * 11;
    }
    int64_t node = get(told, TABLE_ACTIVITY, activity, ACTIVITY_NODE);
    return answer == ANSWER_CLOSES
               ? expected_activity_output(node, input_of(told, activity))
               : expected_activity_pending(node, input_of(told, activity), answer);
}

/* What a GUID stores: of one that a cycle brought, what its node makes of its sender's output. */
static inline int64_t work_of(const struct told *told, int64_t guid)
{
    int64_t activity = get(told, TABLE_GUID, guid, GUID_ACTIVITY);
    if (told->asks == NULL || get(told, TABLE_GUID, guid, GUID_ANSWER) != ANSWER_CYCLES) {
        return get(told, TABLE_GUID, guid, GUID_CONTENT);
    }
    int64_t sender = get(told, TABLE_MESSAGE, guid + LEG2_OF, MESSAGE_SPAWNED_BY);
    return expected_activity_output(get(told, TABLE_ACTIVITY, activity, ACTIVITY_NODE),
                                    get(told, TABLE_OUTPUT, sender + OUTPUT_OF, OUTPUT_VALUE));
}

static inline void do_answer(struct told *told, int64_t activity, int64_t guid, int64_t answer,
                             int64_t pendings)
{
    put_message(
        told, guid + LEG2_OF,
        (int64_t[MESSAGE_COLUMNS]){[MESSAGE_KIND] = MESSAGE_LEG2,
                                   [MESSAGE_JOB] = THE_JOB,
                                   [MESSAGE_ACTIVITY] = activity,
                                   [MESSAGE_GUID] = guid,
                                   [MESSAGE_ANSWER] = answer,
                                   [MESSAGE_CONTENT] = answer_of(told, activity, guid, answer),
                                   [MESSAGE_PENDINGS] = pendings});
}

static inline void do_enter1(struct told *told, int64_t activity)
{
    add(told, TABLE_ACTIVITY, activity, ACTIVITY_LEDGER, ONE_T);
}

static inline void do_work1(struct told *told, int64_t activity, int without)
{
    if ((without & WITHOUT_MARKER) == 0) {
        add(told, TABLE_ACTIVITY, activity, ACTIVITY_LEDGER, B_100);
    }
    if ((without & WITHOUT_WORK) == 0) {
        put(told, TABLE_TASK, activity + TASK_OF,
            (int64_t[TASK_COLUMNS]){[TASK_ACTIVITY] = activity,
                                    [TASK_INPUT] = input_of(told, activity),
                                    [TASK_RUNS] = 1});
    }
    if ((without & AS_PEER) != 0) {
        do_answer(told, activity, activity + 100, ANSWER_CLOSES, 0);
    } else if ((without & WITHOUT_MESSAGE) == 0) {
        put_message(told, activity + WORK_OF,
                    (int64_t[MESSAGE_COLUMNS]){[MESSAGE_KIND] = MESSAGE_TASK,
                                               [MESSAGE_JOB] = THE_JOB,
                                               [MESSAGE_ACTIVITY] = activity,
                                               [MESSAGE_CONTENT] = input_of(told, activity)});
    }
}

static inline void do_born(struct told *told, int64_t activity, int64_t guid, int64_t answer,
                           int64_t ledger, int64_t dimension)
{
    put(told, TABLE_GUID, guid,
        (int64_t[GUID_COLUMNS]){[GUID_ACTIVITY] = activity,
                                [GUID_LEDGER] = ledger,
                                [GUID_DIMENSION] = dimension,
                                [GUID_ANSWER] = answer,
                                [GUID_CONTENT] = answer_of(told, activity, guid, answer)});
}

/* The first entry of a GUID. */
static inline void do_enter2(struct told *told, int64_t activity, int64_t guid, int64_t answer)
{
    add(told, TABLE_ACTIVITY, activity, ACTIVITY_LEDGER, 1);
    int64_t count = get(told, TABLE_ACTIVITY, activity, ACTIVITY_LEDGER) % M_100;
    do_born(told, activity, guid, answer, count, count - 1);
}

static inline void do_enter2_again(struct told *told, int64_t guid)
{
    add(told, TABLE_ACTIVITY, get(told, TABLE_GUID, guid, GUID_ACTIVITY), ACTIVITY_LEDGER, 1);
    add(told, TABLE_GUID, guid, GUID_LEDGER, 1);
}

/* Adds a step's weight to the GUID, and to the activity if it was not set there yet (E-ACL-2). */
static inline void do_mark(struct told *told, int64_t guid, int64_t weight, int without)
{
    int64_t activity = get(told, TABLE_GUID, guid, GUID_ACTIVITY);
    int64_t ledger = get(told, TABLE_ACTIVITY, activity, ACTIVITY_LEDGER);
    if ((without & WITHOUT_MARKER) == 0) {
        add(told, TABLE_GUID, guid, GUID_LEDGER, weight);
    }
    if ((without & WITHOUT_ACTIVITY) == 0 && ledger / weight % 10 == 0) {
        add(told, TABLE_ACTIVITY, activity, ACTIVITY_LEDGER, weight);
    }
}

static inline void do_output(struct told *told, int64_t guid, int64_t dimension, int64_t value)
{
    put(told, TABLE_OUTPUT, guid + OUTPUT_OF,
        (int64_t[OUTPUT_COLUMNS]){[OUTPUT_ACTIVITY] = get(told, TABLE_GUID, guid, GUID_ACTIVITY),
                                  [OUTPUT_DIMENSION] = dimension,
                                  [OUTPUT_VALUE] = value,
                                  [OUTPUT_GUID] = guid,
                                  [OUTPUT_RUNS] = 1});
}

static inline void do_step1(struct told *told, int64_t guid, int without)
{
    do_mark(told, guid, B_10, without);
    if ((without & WITHOUT_WORK) == 0) {
        do_output(told, guid, get(told, TABLE_GUID, guid, GUID_DIMENSION), work_of(told, guid));
    }
}

/* Ids of child activities, ended by 0. A cycle message is told by its GUID, and goes to the
 * trigger's activity. */
struct family {
    int64_t child[4];
    int64_t cycle;
};

static const struct family nobody = {{0}, 0};

static inline int64_t do_children(struct told *told, int64_t guid, struct family family,
                                  int without)
{
    int64_t source = get(told, TABLE_GUID, guid, GUID_ACTIVITY);
    int64_t dimension = get(told, TABLE_GUID, guid, GUID_DIMENSION);
    int64_t children = 0;
    for (; children < 4 && family.child[children] != 0; children++) {
        if ((without & WITHOUT_WORK) == 0) {
            do_activity(told, family.child[children], guid, 0);
        }
        if ((without & WITHOUT_MESSAGE) == 0) {
            do_publish_leg1(told, family.child[children], guid, source, dimension);
        }
    }
    if (family.cycle == 0) {
        return children;
    }
    put_message(told, family.cycle + LEG2_OF,
                (int64_t[MESSAGE_COLUMNS]){[MESSAGE_KIND] = MESSAGE_LEG2,
                                           [MESSAGE_JOB] = THE_JOB,
                                           [MESSAGE_ACTIVITY] = 100,
                                           [MESSAGE_GUID] = family.cycle,
                                           [MESSAGE_SOURCE] = source,
                                           [MESSAGE_DIMENSION] = dimension,
                                           [MESSAGE_ANSWER] = ANSWER_CYCLES,
                                           [MESSAGE_CONTENT] =
                                               answer_of(told, 100, family.cycle, ANSWER_CYCLES),
                                           [MESSAGE_SPAWNED_BY] = guid});
    return children + 1;
}

static inline void do_semaphore(struct told *told, int64_t delta, int without)
{
    if ((without & WITHOUT_SEMAPHORE) != 0) {
        return;
    }
    int64_t after = get(told, TABLE_JOB, THE_JOB, JOB_SEMAPHORE) + delta;
    set(told, TABLE_JOB, THE_JOB, JOB_SEMAPHORE, after);
    int64_t state = after == 0 ? JOB_COMPLETE : JOB_ACTIVE;
    if ((without & WITHOUT_STATE) == 0 && get(told, TABLE_JOB, THE_JOB, JOB_STATE) != state) {
        set(told, TABLE_JOB, THE_JOB, JOB_STATE, state);
    }
}

static inline void do_step2(struct told *told, int64_t guid, struct family family, int without)
{
    int64_t answer = get(told, TABLE_GUID, guid, GUID_ANSWER);
    int64_t activity = get(told, TABLE_GUID, guid, GUID_ACTIVITY);
    int64_t children = do_children(told, guid, family, without);
    do_semaphore(told, children - (answer > 0 ? 0 : 1), without);
    do_mark(told, guid, B_1, without);
    bool landed = get(told, TABLE_JOB, THE_JOB, JOB_SEMAPHORE) ==
                  get(told, TABLE_JOB, THE_JOB, JOB_THRESHOLD);
    if (landed && (without & WITHOUT_SNAPSHOT) == 0) {
        add(told, TABLE_GUID, guid, GUID_LEDGER, B_100);
    }
    if (answer == ANSWER_CLOSES && (without & WITHOUT_CLOSED) == 0) {
        set(told, TABLE_TASK, activity + TASK_OF, TASK_CLOSED, guid);
    }
}

static inline void do_step3(struct told *told, int64_t guid, int without)
{
    do_mark(told, guid, M_100, without);
    if ((without & WITHOUT_WORK) == 0) {
        put(told, TABLE_COMPLETION, guid + COMPLETION_OF,
            (int64_t[COMPLETION_COLUMNS]){
                [COMPLETION_JOB] = THE_JOB, [COMPLETION_GUID] = guid, [COMPLETION_RUNS] = 1});
    }
}

static inline void do_escalate(struct told *told, int64_t message, enum escalation_reason reason)
{
    put(told, TABLE_ESCALATION, message + ESCALATION_OF,
        (int64_t[ESCALATION_COLUMNS]){[ESCALATION_JOB] = THE_JOB,
                                      [ESCALATION_MESSAGE] = message,
                                      [ESCALATION_REASON] = reason});
    if (get(told, TABLE_JOB, THE_JOB, JOB_ESCALATED) == 0) {
        set(told, TABLE_JOB, THE_JOB, JOB_ESCALATED, 1);
    }
    do_ack(told, message);
}

#endif
