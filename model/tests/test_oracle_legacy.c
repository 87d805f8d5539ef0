/* The monitors of the earlier ledger: what is fine is told to be, every breach that can be planted
 * is reported under its clause, and paths are seen where they are taken. */
#include "model/oracle/oracle.h"
#include "model/tests/golden.h"
#include "model/tests/hand.h"
#include "model/tests/proves.h"

#define FINE     CLAUSE_COUNT
#define GHOSTS   (4 * HAND_INDEX * 4)
#define START    INT64_C(999000000000000)
#define LEG1     INT64_C(100000000000000)
#define LEG1_END INT64_C(10000000000000)
#define ENTRY    INT64_C(1000000)
#define SUCCESS  INT64_C(999999999999)

extern const struct monitors monitors_legacy;

/* ---- a store in memory ------------------------------------------------------------------------
 */

static struct hand hand;
static struct oracle oracle;
static int64_t ghosts[GHOSTS];

static void begin(void)
{
    hand_begin(&hand);
    memset(ghosts, 0, sizeof ghosts);
    memset(&oracle, 0, sizeof oracle);
    cr_assert_leq(oracle_cells(&monitors_legacy, &hand.rows), (size_t)GHOSTS);
    oracle_begin(&oracle, &monitors_legacy, &hand.rows, ghosts);
    oracle.off[CLAUSE_LEG_11] = true; /* no work outside rows is told here: test_oracle_journal.c */
}

TestSuite(oracle_legacy, .init = begin);

static void put(enum row_table table, int64_t key, const int64_t *values)
{
    hand_put(&hand, table, key, values);
}

static void set(enum row_table table, int64_t key, int column, int64_t value)
{
    hand_set(&hand, table, key, column, value);
}

static void drop(enum row_table table, int64_t key)
{
    hand_drop(&hand, table, key);
}

/* ---- the protocol, told by hand ----------------------------------------------------------------
 */

/* Activities are 1, 2, ...; their Leg1 messages 100 more; a state is 1000 * activity + dimension.
 */
static void integer(int64_t activity, int64_t node, int64_t parent, int64_t dimension)
{
    put(TABLE_LEGACY, activity,
        (const int64_t[LEGACY_COLUMNS]){[LEGACY_JOB] = 9,
                                        [LEGACY_NODE] = node,
                                        [LEGACY_LEDGER] = START,
                                        [LEGACY_PARENT] = parent,
                                        [LEGACY_DIMENSION] = dimension});
}

static void message(int64_t key, enum message_kind kind, int64_t activity)
{
    put(TABLE_MESSAGE, key,
        (const int64_t[MESSAGE_COLUMNS]){[MESSAGE_KIND] = kind, [MESSAGE_ACTIVITY] = activity});
}

static void state(int64_t activity, int64_t dimension, int64_t by)
{
    put(TABLE_SAVED, 1000 * activity + dimension,
        (const int64_t[SAVED_COLUMNS]){[SAVED_ACTIVITY] = activity,
                                       [SAVED_DIMENSION] = dimension,
                                       [SAVED_BY] = by,
                                       [SAVED_RUNS] = 1});
}

static void move(int64_t activity, int64_t by)
{
    set(TABLE_LEGACY, activity, LEGACY_LEDGER,
        hand_get(&hand, TABLE_LEGACY, activity, LEGACY_LEDGER) + by);
}

static struct golden said; /* whatever was, in order; one test compares it */
static const char *words;  /* of the last of it */

static struct oracle_verdict heard(struct oracle_verdict verdict)
{
    words = verdict.why;
    if (verdict.broken) {
        golden_verdict(&said, verdict);
    }
    return verdict;
}

static enum clause_id tell(void)
{
    struct oracle_verdict verdict =
        heard(monitors_legacy.commit(&oracle, &hand.rows, hand.changes, hand.count));
    cr_expect_eq(verdict.broken, *verdict.why != '\0', "a breach is told in words");
    cr_expect(!verdict.broken || oracle.spoke == ORACLE_LEGACY);
    hand.count = 0;
    return verdict.clause;
}

static enum clause_id settle(bool quiet)
{
    return heard(monitors_legacy.settled(&oracle, &hand.rows, quiet)).clause;
}

#define TELL(what)                                                                                 \
    do {                                                                                           \
        what;                                                                                      \
        cr_assert_eq(tell(), FINE, "%s", #what);                                                   \
    } while (0)
#define BREAKS(what, clause)                                                                       \
    do {                                                                                           \
        what;                                                                                      \
        cr_expect_eq(tell(), clause, "%s", #what);                                                 \
    } while (0)

static void create(int64_t activity)
{
    TELL((integer(activity, 0, 0, 0), message(100 + activity, MESSAGE_LEG1, activity)));
}

/* Up to its answers. */
static void run_leg1(int64_t activity)
{
    TELL(move(activity, -LEG1));
    TELL(state(activity, 0, 7));
    TELL(move(activity, -LEG1_END));
    TELL((set(TABLE_SAVED, 1000 * activity, SAVED_PUBLISHED, 1),
          message(200 + activity, MESSAGE_LEG2, activity)));
    TELL(drop(TABLE_MESSAGE, 100 + activity));
}

static void run_leg2(int64_t activity, int64_t exit)
{
    TELL(move(activity, ENTRY));
    TELL(move(activity, exit));
}

/* ---- what is fine ------------------------------------------------------------------------------
 */

Test(oracle_legacy, a_job_from_its_creation_to_a_late_call_is_fine_and_counted)
{
    PROVES(CLAUSE_LEG_1, CLAUSE_LEG_2, CLAUSE_LEG_4, CLAUSE_LEG_8, CLAUSE_LEG_10);
    create(1);
    run_leg1(1);
    TELL(move(1, ENTRY));
    TELL((state(1, 1, 8), integer(2, 1, 1, 1)));
    TELL((set(TABLE_SAVED, 1001, SAVED_PUBLISHED, 1), message(102, MESSAGE_LEG1, 2)));
    TELL(move(1, 1));
    cr_expect_eq(oracle.seen[COVER_LEGACY_PENDING], 1U);
    run_leg2(1, -SUCCESS);
    cr_expect_eq(row_get(&hand.rows, TABLE_LEGACY, 0, LEGACY_LEDGER), INT64_C(888000002000002));
    TELL(move(1, ENTRY));
    TELL(move(1, -ENTRY));
    cr_expect_eq(oracle.seen[COVER_LEGACY_TURNED_AWAY], 1U);
    run_leg1(2);
    run_leg2(2, -SUCCESS);
    cr_expect_eq(settle(true), FINE);
    static const enum clause_id counted[] = {CLAUSE_LEG_1, CLAUSE_LEG_3, CLAUSE_LEG_4,
                                             CLAUSE_LEG_6, CLAUSE_LEG_7, CLAUSE_LEG_8,
                                             CLAUSE_LEG_9, CLAUSE_LEG_10};
    for (size_t i = 0; i < COUNT(counted); i++) {
        cr_expect_gt(oracle.evaluated[counted[i]], 0U, "%s", clause_get(counted[i])->id);
    }
    cr_expect_eq(oracle.evaluated[CLAUSE_LEG_5], 0U, "nobody came near a ceiling");
}

Test(oracle_legacy, a_leg1_that_is_entered_again_is_seen)
{
    PROVES(CLAUSE_LEG_3);
    create(1);
    TELL(move(1, -LEG1));
    TELL(state(1, 0, 7));
    TELL(move(1, -LEG1)); /* 799 */
    TELL(drop(TABLE_SAVED, 1000));
    TELL(state(1, 0, 8));
    TELL(move(1, -LEG1_END));
    cr_expect_eq(oracle.seen[COVER_LEGACY_RAN_AGAIN], 1U);
    cr_expect_eq(oracle.seen[COVER_LEGACY_HAD_ENDED], 0U);
    TELL(move(1, -LEG1)); /* 689 */
    cr_expect_eq(oracle.seen[COVER_LEGACY_HAD_ENDED], 1U);
    hand.count = 0;
    hand_note(&hand, TABLE_SAVED, 1, ROW_UPDATED, SAVED_PUBLISHED, 0);
    hand.cells[TABLE_SAVED][1 + SAVED_COLUMNS + 1 + SAVED_PUBLISHED] = 1;
    TELL(message(201, MESSAGE_LEG2, 1));
    cr_expect_eq(oracle.seen[COVER_LEGACY_PUBLISHED_MISSING], 1U);
}

Test(oracle_legacy, what_is_published_by_the_run_that_saved_it_was_not_missing)
{
    create(1);
    run_leg1(1);
    cr_expect_eq(oracle.seen[COVER_LEGACY_PUBLISHED_MISSING], 0U);
}

Test(oracle_legacy, a_parent_that_saves_again_and_leaves_the_integer_alone_is_seen)
{
    PROVES(CLAUSE_LEG_9);
    create(1);
    run_leg1(1);
    TELL(move(1, ENTRY));
    TELL(state(1, 1, 8));
    TELL((set(TABLE_SAVED, 1001, SAVED_BY, 8), set(TABLE_SAVED, 1001, SAVED_RUNS, 2)));
    cr_expect_eq(oracle.seen[COVER_LEGACY_SAVED_AGAIN], 0U, "it has no child");
    TELL(integer(2, 1, 1, 2));
    TELL(set(TABLE_SAVED, 1001, SAVED_RUNS, 3));
    cr_expect_eq(oracle.seen[COVER_LEGACY_SAVED_AGAIN], 0U, "none in this dimension");
    TELL(integer(3, 1, 1, 1));
    TELL(set(TABLE_SAVED, 1001, SAVED_RUNS, 4));
    cr_expect_eq(oracle.seen[COVER_LEGACY_SAVED_AGAIN], 1U);
    TELL(set(TABLE_LEGACY, 3, LEGACY_DIMENSION, 1)); /* nobody's promise */
}

/* ---- what is not -------------------------------------------------------------------------------
 */

Test(oracle_legacy, an_integer_starts_at_its_start_and_moves_by_the_lifecycle_alone)
{
    PROVES(CLAUSE_LEG_1);
    SETTLES(ERRATUM_LEG_1);
    create(1);
    run_leg1(1);
    TELL(move(1, ENTRY));
    BREAKS(move(1, -999999999), CLAUSE_LEG_1);
    BREAKS(put(TABLE_LEGACY, 5, (const int64_t[LEGACY_COLUMNS]){[LEGACY_LEDGER] = START - 1}),
           CLAUSE_LEG_1);
    cr_expect_eq(oracle.table, TABLE_LEGACY);
}

Test(oracle_legacy, an_integer_is_neither_set_back_nor_taken_away_nor_late)
{
    PROVES(CLAUSE_LEG_9);
    create(1);
    run_leg1(1);
    BREAKS(set(TABLE_LEGACY, 1, LEGACY_LEDGER, START), CLAUSE_LEG_9);
    TELL(set(TABLE_LEGACY, 1, LEGACY_LEDGER, START)); /* it was there already */
    *hand_cell(&hand, TABLE_LEGACY, 1, LEGACY_LEDGER) = START + 1;
    BREAKS(set(TABLE_LEGACY, 1, LEGACY_LEDGER, START), CLAUSE_LEG_9);
    BREAKS(message(105, MESSAGE_LEG1, 5), CLAUSE_LEG_9);
    BREAKS(drop(TABLE_LEGACY, 1), CLAUSE_LEG_9);
}

Test(oracle_legacy, a_child_that_is_published_twice_shows_the_replay)
{
    PROVES(CLAUSE_LEG_6);
    SETTLES(ERRATUM_LEG_3);
    create(1);
    TELL((integer(2, 1, 1, 1), integer(3, 2, 1, 1), integer(4, 1, 1, 2), integer(5, 1, 3, 1)));
    TELL(message(102, MESSAGE_LEG1, 2));
    TELL(message(103, MESSAGE_LEG1, 3)); /* another node */
    TELL(message(105, MESSAGE_LEG1, 5)); /* another parent */
    TELL(message(302, MESSAGE_LEG1, 2)); /* a copy of the first */
    BREAKS(message(104, MESSAGE_LEG1, 4), CLAUSE_LEG_6);
    cr_expect_eq(oracle.slot, hand_at(&hand, TABLE_LEGACY, 4));
}

Test(oracle_legacy, a_leg1_that_ran_over_another_or_ended_too_often_is_told)
{
    PROVES(CLAUSE_LEG_3);
    create(1);
    TELL(move(1, -LEG1));
    TELL(state(1, 0, 7));
    TELL(set(TABLE_SAVED, 1000, SAVED_BY, 7));
    BREAKS(set(TABLE_SAVED, 1000, SAVED_BY, 8), CLAUSE_LEG_3);
    TELL(move(1, -LEG1_END));
    BREAKS(move(1, -LEG1_END), CLAUSE_LEG_3);
}

Test(oracle_legacy, entries_are_numbered_once_and_their_data_are_theirs)
{
    PROVES(CLAUSE_LEG_10);
    create(1);
    run_leg1(1);
    TELL(move(1, ENTRY));
    TELL(state(1, 1, 8));
    BREAKS(set(TABLE_SAVED, 1001, SAVED_BY, 9), CLAUSE_LEG_10);
    BREAKS(drop(TABLE_SAVED, 1001), CLAUSE_LEG_10);
    BREAKS(move(1, -ENTRY), CLAUSE_LEG_4); /* while it is open */
    BREAKS(move(1, ENTRY), CLAUSE_LEG_10);
}

Test(oracle_legacy, exits_and_undos_are_owed)
{
    PROVES(CLAUSE_LEG_4);
    create(1);
    run_leg1(1);
    run_leg2(1, -SUCCESS);
    BREAKS(move(1, 1), CLAUSE_LEG_4);      /* a reply that nobody entered with */
    BREAKS(move(1, -ENTRY), CLAUSE_LEG_4); /* an undo that no late call owes */
}

static void at_ceilings(int64_t ledger)
{
    create(1);
    hand.cells[TABLE_LEGACY][1 + LEGACY_LEDGER] = ledger;
}

static void give_up(int64_t key)
{
    put(TABLE_ESCALATION, key + 500,
        (const int64_t[ESCALATION_COLUMNS]){[ESCALATION_MESSAGE] = key});
}

Test(oracle_legacy, a_field_does_not_run_over)
{
    PROVES(CLAUSE_LEG_5);
    SETTLES(ERRATUM_LEG_2);
    at_ceilings(INT64_C(99000000000000));
    BREAKS(move(1, -LEG1), CLAUSE_LEG_5);
    begin();
    at_ceilings(INT64_C(888999999000001));
    BREAKS(move(1, ENTRY), CLAUSE_LEG_5);
    cr_expect_eq(oracle.evaluated[CLAUSE_LEG_5], 1U);
}

Test(oracle_legacy, a_call_is_given_up_at_its_ceiling_only)
{
    PROVES(CLAUSE_LEG_5);
    at_ceilings(INT64_C(99000000000000));
    TELL((drop(TABLE_MESSAGE, 101), give_up(101)));
    cr_expect_eq(settle(true), FINE, "it is not expected to end");
    begin();
    at_ceilings(INT64_C(889999999999998));
    TELL(message(201, MESSAGE_LEG2, 1));
    TELL(give_up(201)); /* not acked */
    BREAKS((drop(TABLE_MESSAGE, 101), give_up(101)), CLAUSE_LEG_5);
    begin();
    at_ceilings(INT64_C(889999998999998));
    TELL(message(201, MESSAGE_LEG2, 1));
    BREAKS((drop(TABLE_MESSAGE, 101), give_up(201)), CLAUSE_LEG_5);
    BREAKS(give_up(999), CLAUSE_LEG_5);
}

Test(oracle_legacy, a_transaction_that_did_not_commit_leaves_nothing)
{
    integer(1, 0, 0, 0);
    cr_expect_eq(oracle_rollback(&oracle, hand.changes, 0).clause, FINE);
    cr_expect_eq(oracle_rollback(&oracle, hand.changes, 1).clause, CLAUSE_LEG_1);
    cr_expect_eq(oracle.spoke, ORACLE_LEGACY);
}

/* ---- once all has settled ----------------------------------------------------------------------
 */

Test(oracle_legacy, what_was_forgotten_shows_when_all_has_settled)
{
    PROVES(CLAUSE_LEG_3, CLAUSE_LEG_4, CLAUSE_LEG_9);
    create(1);
    cr_expect_eq(settle(true), CLAUSE_LEG_3, "never begun");
    cr_expect_eq(settle(false), CLAUSE_LEG_3, "messages are left");
    TELL(move(1, -LEG1));
    TELL(state(1, 0, 7));
    cr_expect_eq(settle(true), CLAUSE_LEG_3, "never ended");
    TELL(move(1, -LEG1_END));
    cr_expect_eq(settle(true), CLAUSE_LEG_3, "never published");
    TELL(message(201, MESSAGE_LEG2, 1));
    cr_expect_eq(settle(true), CLAUSE_LEG_4, "never closed");
    run_leg2(1, -SUCCESS);
    cr_expect_eq(settle(true), FINE);
    cr_expect_eq(settle(false), CLAUSE_LEG_3, "and it does not end");
    TELL(integer(2, 1, 1, 1));
    cr_expect_eq(settle(true), CLAUSE_LEG_9, "a child that nobody was told of");
}

Test(oracle_legacy, a_late_call_that_is_never_undone_leaves_the_counts_apart)
{
    PROVES(CLAUSE_LEG_7);
    SETTLES(ERRATUM_LEG_3);
    create(1);
    run_leg1(1);
    run_leg2(1, -SUCCESS);
    TELL(move(1, ENTRY)); /* and its worker dies */
    TELL(move(1, ENTRY)); /* the message comes again */
    TELL(move(1, -ENTRY));
    cr_expect_eq(settle(true), CLAUSE_LEG_7);
    oracle.off[CLAUSE_LEG_7] = true;
    cr_expect_eq(settle(true), FINE);
}

/* ---- what the scenario asks for ----------------------------------------------------------------
 */

/* graph: {0: [1]}, pending: {0: [[2]]}, again: {0: 1}; one job. */
static const struct expectation asked = {
    .of.legacy.graph = {.jobs = 1,
                        .nodes = 3,
                        .node = {{.first = 1, .children = 2, .pendings = 1, .again = 1},
                                 {.first = 3},
                                 {.first = 3, .answer = 1}}}};

enum wrong {
    NOTHING,
    NO_JOB,
    INPUT_OF_JOB,
    ANOTHER_JOB,
    MESSAGE_TO_NODE,
    ENTERED_TWICE,
    COUNTS_OTHERS,
    LEG1_DATA,
    LEG2_DATA,
    LEG2_NUMBER,
    NO_PENDING,
    NO_CALL,
    ANSWER_DATA,
    ANSWER_ID,
    ANSWER_TOO_MANY,
    NO_CHILD,
    CHILD_OF_CALL,
    CHILD_OF_OTHER_NODE,
    CHILD_OF_OTHER_JOB,
    CHILD_APART,
    CHILD_INPUT,
    UNSAVED_PENDING,
    UNSAVED_SUCCESS,
    NOT_MARKED,
    NOT_COUNTED,
    COUNTED_TWICE,
    ANSWERED_AGAIN,
    OF_OTHER_PARENT,
    OF_OTHER_DIMENSION
};

static struct {
    enum wrong wrong;
    enum clause_id first; /* that broke */
} play;

static void step(void)
{
    enum clause_id clause = tell();
    play.first = play.first == FINE ? clause : play.first;
}

static bool is(enum wrong wrong)
{
    return play.wrong == wrong;
}

static void asked_integer(int64_t activity, int64_t node, int64_t parent, int64_t dimension)
{
    int64_t job = expected_legacy_job(is(ANOTHER_JOB) ? 1 : 0);
    put(TABLE_LEGACY, activity,
        (const int64_t[LEGACY_COLUMNS]){[LEGACY_JOB] =
                                            job + (parent != 0 && is(CHILD_OF_OTHER_JOB)),
                                        [LEGACY_NODE] = node,
                                        [LEGACY_LEDGER] = START,
                                        [LEGACY_PARENT] = parent,
                                        [LEGACY_DIMENSION] = dimension});
}

static void asked_message(int64_t key, enum message_kind kind, int64_t activity, int64_t node,
                          int64_t answer, int64_t content)
{
    bool leg1 = kind == MESSAGE_LEG1;
    int64_t parent = hand_get(&hand, TABLE_LEGACY, activity, LEGACY_PARENT) + is(OF_OTHER_PARENT);
    int64_t dimension =
        hand_get(&hand, TABLE_LEGACY, activity, LEGACY_DIMENSION) + is(OF_OTHER_DIMENSION);
    put(TABLE_MESSAGE, key,
        (const int64_t[MESSAGE_COLUMNS]){[MESSAGE_KIND] = kind,
                                         [MESSAGE_JOB] =
                                             hand_get(&hand, TABLE_LEGACY, activity, LEGACY_JOB),
                                         [MESSAGE_ACTIVITY] = activity,
                                         [MESSAGE_NODE] = node + is(MESSAGE_TO_NODE),
                                         [MESSAGE_ANSWER] = answer,
                                         [MESSAGE_SOURCE] = leg1 ? parent : 0,
                                         [MESSAGE_DIMENSION] = leg1 ? dimension : 0,
                                         [MESSAGE_CONTENT] = content});
}

static void asked_answer(int64_t activity, int64_t node, int64_t input, int64_t answer)
{
    asked_message(expected_legacy_leg2(activity, answer) + is(ANSWER_ID), MESSAGE_LEG2, activity,
                  node, answer, expected_legacy_content(node, input, answer) + is(ANSWER_DATA));
}

static void asked_state(int64_t activity, int64_t dimension, int64_t value, int64_t message)
{
    put(TABLE_SAVED, expected_legacy_state(activity, dimension),
        (const int64_t[SAVED_COLUMNS]){[SAVED_ACTIVITY] = activity,
                                       [SAVED_DIMENSION] = dimension,
                                       [SAVED_VALUE] = value,
                                       [SAVED_BY] = expected_legacy_claim(message, 1),
                                       [SAVED_RUNS] = 1 - is(NOT_COUNTED) + is(COUNTED_TWICE)});
}

/* From its claim to its ack. */
static void play_leg1(int64_t activity, int64_t node, int64_t input)
{
    int64_t message = expected_legacy_leg1(activity);
    bool trigger = node == 0;
    set(TABLE_MESSAGE, message, MESSAGE_EPOCH, 1);
    step();
    move(activity, -LEG1);
    step();
    if (is(ENTERED_TWICE)) {
        move(activity, -LEG1);
        step();
    }
    asked_state(activity, 0, input + is(LEG1_DATA), message);
    step();
    move(activity, -LEG1_END);
    step();
    if (!is(NOT_MARKED)) {
        set(TABLE_SAVED, expected_legacy_state(activity, 0), SAVED_PUBLISHED, 1);
    }
    if (trigger && !is(NO_PENDING)) {
        asked_answer(activity, node, input, 1);
    }
    asked_answer(activity, node, input, 0);
    if ((trigger && !is(NO_CALL)) || is(ANSWER_TOO_MANY)) {
        asked_answer(activity, node, input, -1);
    }
    step();
    drop(TABLE_MESSAGE, message);
    step();
}

/* One Leg2 message that gets in, in this dimension; the child's node, 0: it has none. */
static void play_leg2(int64_t activity, int64_t answer, int64_t dimension, int64_t node)
{
    int64_t message = expected_legacy_leg2(activity, answer) + is(ANSWER_ID);
    int64_t child = 77 + dimension;
    int64_t content = hand_get(&hand, TABLE_MESSAGE, message, MESSAGE_CONTENT);
    bool unsaved = answer > 0 ? is(UNSAVED_PENDING) : is(UNSAVED_SUCCESS);
    set(TABLE_MESSAGE, message, MESSAGE_EPOCH, 1);
    step();
    move(activity, ENTRY);
    step();
    if (!unsaved) {
        asked_state(activity, dimension + is(LEG2_NUMBER), content + is(LEG2_DATA), message);
    }
    if (is(CHILD_APART)) {
        step();
    }
    if (node != 0 && !is(NO_CHILD) && !unsaved) {
        asked_integer(child, is(CHILD_OF_OTHER_NODE) ? 3 - node : node, activity, dimension);
        step();
        asked_message(expected_legacy_leg1(child), MESSAGE_LEG1, child, node, 0,
                      content + is(CHILD_INPUT));
        step();
        play_leg1(child, node, content);
        play_leg2(child, 0, 1, 0);
    } else {
        step();
    }
    move(activity, answer > 0 ? 1 : -SUCCESS);
    step();
    drop(TABLE_MESSAGE, message);
    step();
    bool trigger = hand_get(&hand, TABLE_LEGACY, activity, LEGACY_NODE) == 0;
    if (is(ANSWERED_AGAIN) && trigger) { /* nothing is missing */
        asked_answer(activity, 0, 1000, answer);
        step();
    }
}

/* A job from its creation to its end; the first clause that breaks. */
static enum clause_id play_with(enum wrong wrong)
{
    int64_t trigger = expected_legacy_trigger(0);
    begin();
    oracle.expected = &asked;
    play.wrong = wrong;
    play.first = FINE;
    if (is(NO_JOB)) {
        return settle(true);
    }
    asked_integer(trigger, 0, 0, 0);
    asked_message(expected_legacy_leg1(trigger), MESSAGE_LEG1, trigger, 0, 0,
                  1000 + is(INPUT_OF_JOB));
    step();
    if (is(COUNTS_OTHERS)) { /* a preset that nobody asked for */
        hand.cells[TABLE_LEGACY][1 + LEGACY_LEDGER] += ENTRY + 1;
    }
    play_leg1(trigger, 0, 1000);
    int64_t dimension = is(COUNTS_OTHERS) ? 2 : 1;
    if (!is(NO_PENDING)) {
        play_leg2(trigger, 1, dimension, 2);
    }
    if (is(CHILD_OF_CALL)) {
        play_leg2(trigger, -1, dimension + 1, 1);
    }
    play_leg2(trigger, 0, dimension + 1, 1);
    enum clause_id last = settle(true);
    return play.first == FINE ? last : play.first;
}

Test(oracle_legacy, what_the_scenario_asks_for_is_there_and_nothing_else)
{
    PROVES(CLAUSE_LEG_1, CLAUSE_LEG_3, CLAUSE_LEG_4, CLAUSE_LEG_9, CLAUSE_LEG_10, CLAUSE_LEG_12);
    SETTLES(ERRATUM_LEG_4);
    static const struct {
        enum wrong wrong;
        enum clause_id clause;
    } cases[] = {
        {NOTHING, FINE},
        {NO_JOB, CLAUSE_LEG_12},
        {INPUT_OF_JOB, CLAUSE_LEG_12},
        {ANOTHER_JOB, CLAUSE_LEG_12},
        {MESSAGE_TO_NODE, CLAUSE_LEG_12},
        {ENTERED_TWICE, CLAUSE_LEG_1},
        {COUNTS_OTHERS, CLAUSE_LEG_1},
        {LEG1_DATA, CLAUSE_LEG_12},
        {LEG2_DATA, CLAUSE_LEG_12},
        {LEG2_NUMBER, CLAUSE_LEG_10},
        {NO_PENDING, CLAUSE_LEG_3},
        {NO_CALL, CLAUSE_LEG_3},
        {ANSWER_DATA, CLAUSE_LEG_12},
        {ANSWER_ID, CLAUSE_LEG_12},
        {ANSWER_TOO_MANY, CLAUSE_LEG_12},
        {NO_CHILD, CLAUSE_LEG_12},
        {CHILD_OF_CALL, CLAUSE_LEG_12},
        {CHILD_OF_OTHER_NODE, CLAUSE_LEG_12},
        {CHILD_OF_OTHER_JOB, CLAUSE_LEG_12},
        {CHILD_APART, CLAUSE_LEG_12},
        {CHILD_INPUT, CLAUSE_LEG_12},
        {UNSAVED_PENDING, CLAUSE_LEG_4},
        {UNSAVED_SUCCESS, CLAUSE_LEG_4},
        {NOT_MARKED, CLAUSE_LEG_3},
        {NOT_COUNTED, CLAUSE_LEG_12},
        {COUNTED_TWICE, CLAUSE_LEG_12},
        {ANSWERED_AGAIN, CLAUSE_LEG_3},
        {OF_OTHER_PARENT, CLAUSE_LEG_12},
        {OF_OTHER_DIMENSION, CLAUSE_LEG_12},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        golden_add(&said, "case %zu\n", i);
        enum clause_id clause = play_with(cases[i].wrong);
        cr_expect_eq(clause, cases[i].clause, "case %zu: %s", i,
                     clause == FINE ? "fine" : clause_get(clause)->id);
    }
    golden_compare(&said, "what_the_scenario_asks_for_of_the_earlier_ledger.txt");
}

Test(oracle_legacy, a_child_that_is_saved_apart_and_a_start_that_is_not_counted_are_told)
{
    PROVES(CLAUSE_LEG_1, CLAUSE_LEG_9);
    static struct expectation preset;
    int64_t trigger = expected_legacy_trigger(0);
    oracle.expected = &asked;
    asked_integer(trigger, 0, 0, 0);
    cr_assert_eq(tell(), FINE);
    BREAKS(asked_integer(5, 1, trigger, 1), CLAUSE_LEG_9);
    preset = asked;
    preset.of.legacy.graph.node[0].leg1 = 2;
    oracle.expected = &preset;
    BREAKS(move(trigger, -LEG1), CLAUSE_LEG_1);
    begin(); /* of a node that the graph does not have nothing more is expected */
    oracle.expected = &preset;
    BREAKS(asked_integer(trigger, 9, 0, 0), CLAUSE_LEG_12);
    TELL(message(201, MESSAGE_LEG1, trigger));
    TELL(move(trigger, -LEG1));
    BREAKS(put(TABLE_SAVED, 1000,
               (const int64_t[SAVED_COLUMNS]){[SAVED_ACTIVITY] = trigger, [SAVED_RUNS] = 2}),
           CLAUSE_LEG_12); /* by one that counts wrong */
}

Test(oracle_legacy, data_are_saved_of_an_activity_that_is_there_and_under_its_own_id)
{
    PROVES(CLAUSE_LEG_12);
    int64_t trigger = expected_legacy_trigger(0);
    oracle.expected = &asked;
    asked_integer(trigger, 0, 0, 0);
    cr_assert_eq(tell(), FINE);
    for (int there = 0; there < 2; there++) {
        put(TABLE_SAVED, there ? 4711 : expected_legacy_state(4711, 0),
            (const int64_t[SAVED_COLUMNS]){
                [SAVED_ACTIVITY] = there ? trigger : 4711, [SAVED_RUNS] = 1});
        cr_expect_eq(tell(), CLAUSE_LEG_12);
        cr_expect_str_eq(words, "data of an activity that is not there");
    }
}

/* Its answers are out, and the state that they follow from is not there. */
Test(oracle_legacy, answers_without_leg1s_data_are_told_in_the_end)
{
    PROVES(CLAUSE_LEG_3);
    int64_t trigger = expected_legacy_trigger(0);
    play.wrong = NOTHING;
    oracle.expected = &asked;
    for (int c = 0; c < CLAUSE_COUNT; c++) {
        oracle.off[c] = c != CLAUSE_LEG_3;
    }
    asked_integer(trigger, 0, 0, 0);
    asked_message(expected_legacy_leg1(trigger), MESSAGE_LEG1, trigger, 0, 0, 1000);
    tell();
    for (int64_t answer = -1; answer <= 1; answer++) {
        asked_answer(trigger, 0, 1000, answer);
    }
    tell();
    cr_expect_eq(settle(true), CLAUSE_LEG_3);
}

Test(oracle_legacy, a_message_is_given_up_for_the_reason_of_its_leg)
{
    PROVES(CLAUSE_LEG_5);
    static const struct {
        enum message_kind kind;
        int64_t reason, job;
        enum clause_id clause;
    } cases[] = {{MESSAGE_LEG1, 1, 0, FINE},
                 {MESSAGE_LEG1, 2, 0, CLAUSE_LEG_5},
                 {MESSAGE_LEG2, 2, 0, FINE},
                 {MESSAGE_LEG2, 1, 0, CLAUSE_LEG_5},
                 {MESSAGE_LEG1, 1, 6, CLAUSE_LEG_5}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin();
        at_ceilings(INT64_C(89999999999999));
        TELL(message(201, cases[i].kind, 1));
        oracle.expected = &asked;
        BREAKS(put(TABLE_ESCALATION, 5,
                   (const int64_t[ESCALATION_COLUMNS]){[ESCALATION_MESSAGE] = 201,
                                                       [ESCALATION_JOB] = cases[i].job,
                                                       [ESCALATION_REASON] = cases[i].reason}),
               cases[i].clause);
    }
}
