/* The monitors of what no row shows, told transactions by hand: what a store saw of them, and what
 * they wrote. What is due is done in time, or it is reported under its clause. */
#include "model/oracle/expected_legacy.h"
#include "model/oracle/seen.h"
#include "model/pipeline.h"
#include "model/protocol.h"
#include "model/tests/hand.h"
#include "model/tests/proves.h"

#define FINE          CLAUSE_COUNT
#define STEPS_MAX     16
#define RUN_STEPS_MAX 14

static struct hand hand;
static struct oracle oracle;

/* ---- the store ------------------------------------------------------------------------------- */

static void begin(void)
{
    hand_begin(&hand);
    memset(&oracle, 0, sizeof oracle);
}

TestSuite(oracle_seen, .init = begin);

static void put(enum row_table table, int64_t key)
{
    hand_put(&hand, table, key, (const int64_t[ROW_COLUMNS_MAX]){0});
}

static void set(enum row_table table, int64_t key, int column, int64_t value)
{
    hand_set(&hand, table, key, column, value);
}

static void drop(enum row_table table, int64_t key)
{
    hand_drop(&hand, table, key);
}

/* How a transaction ends, for tables of them. */
enum end { OK, REFUSED, ABORTED, AWAY, LOST, UNTOLD, BORN };

/* A step's time, with how long its client has worked before it, by its own clock, and how long it meant
 * to work without looking at that clock. */
#define WORKED(ticks)  ((ticks)*INT64_C(1000))
#define STRETCH(ticks) ((ticks)*WORKED(1000))

static struct observed seen_at(int64_t at, enum end end)
{
    static const uint8_t ends[] = {
        [OK] = OBSERVED_COMMITTED,     [REFUSED] = OBSERVED_REFUSED, [ABORTED] = OBSERVED_ABORTED,
        [AWAY] = OBSERVED_TURNED_AWAY, [LOST] = OBSERVED_LOST,       [UNTOLD] = OBSERVED_COMMITTED,
        [BORN] = OBSERVED_COMMITTED};
    return (struct observed){.ended = ends[end],
                             .answered = end != LOST && end != UNTOLD,
                             .is_new = end == BORN,
                             .client = 3,
                             .isolation = OBSERVED_READ_COMMITTED,
                             .worked = at / WORKED(1) % 1000,
                             .stretch = at / STRETCH(1),
                             .began = at % WORKED(1)};
}

static enum clause_id tell(seen_monitor *monitor, const struct observed *seen)
{
    bool committed = seen->ended == OBSERVED_COMMITTED;
    struct oracle_verdict verdict =
        monitor(&oracle, &hand.rows, seen, hand.changes, committed ? hand.count : 0);
    cr_expect_eq(verdict.broken, *verdict.why != '\0', "a breach is told in words");
    hand.count = 0;
    return verdict.clause;
}

/* ---- activity: claims and tries -------------------------------------------------------------- *
 * Message 7 is claimed for 20 ticks: half of the claim is over after 10. */

enum act {
    CLAIM,
    OTHER,
    STEP,
    NOTHING,
    READ,
    EXTEND,
    BACK,
    AT_ONCE,
    FOR_LESS,
    FOR_MUCH_LESS,
    AT_LAST,
    FAR_OFF,
    TOO_LATE,
    ACK,
    STOLEN,
    KEEP,
    HOP,
    NO_TIME,
    ANSWER
};
struct act_step {
    enum act act;
    int64_t at;
    enum end end;
};

static void claim(int64_t message, int64_t at)
{
    set(TABLE_MESSAGE, message, MESSAGE_EPOCH,
        1 + judge_column(&hand.rows, TABLE_MESSAGE, message, MESSAGE_EPOCH));
    set(TABLE_MESSAGE, message, MESSAGE_VISIBLE_AT, at + 20);
}

static void act(const struct act_step *step)
{
    switch (step->act) {
    case CLAIM:
        claim(7, step->at);
        break;
    case OTHER:
        claim(8, step->at);
        break;
    case STEP:
        set(TABLE_ACTIVITY, 1, ACTIVITY_LEDGER, step->at);
        break;
    case NOTHING: /* finds its step made, or extends to the time that stands */
    case READ:
        break;
    case EXTEND:
    case BACK:
        set(TABLE_MESSAGE, 7, MESSAGE_VISIBLE_AT,
            step->at % WORKED(1) + (step->act == BACK ? 3 : 20));
        break;
    case AT_ONCE:
        set(TABLE_MESSAGE, 7, MESSAGE_VISIBLE_AT, step->at);
        break;
    case FOR_LESS: /* for three quarters of a life, and a tick less */
    case FOR_MUCH_LESS:
        set(TABLE_MESSAGE, 7, MESSAGE_VISIBLE_AT, step->at + (step->act == FOR_LESS ? 15 : 14));
        break;
    case AT_LAST: /* as late as may be, and a tick later */
    case FAR_OFF:
        set(TABLE_MESSAGE, 7, MESSAGE_VISIBLE_AT, step->at + 30 + (step->act == FAR_OFF));
        break;
    case TOO_LATE:
        set(TABLE_MESSAGE, 7, MESSAGE_VISIBLE_AT, step->at + 21);
        break;
    case ACK:
        drop(TABLE_MESSAGE, 7);
        break;
    case STOLEN: /* by another client, which is not told of */
        claim(7, step->at);
        hand.count = 0;
        break;
    case HOP: /* goes on with what it publishes, for a time, or for none */
    case NO_TIME:
        put(TABLE_MESSAGE, 9);
        set(TABLE_MESSAGE, 9, MESSAGE_EPOCH, 1);
        set(TABLE_MESSAGE, 9, MESSAGE_VISIBLE_AT, step->at + (step->act == HOP ? 20 : 0));
        hand.count = 1;
        drop(TABLE_MESSAGE, 7);
        break;
    case ANSWER: /* which others have acked, if it was there before */
        if (row_find(&hand.rows, TABLE_MESSAGE, 10) != ROW_NONE) {
            drop(TABLE_MESSAGE, 10);
            hand.count = 0;
        }
        put(TABLE_MESSAGE, 10);
        break;
    case KEEP: /* publishes a message with a claim on it */
        put(TABLE_MESSAGE, 9);
        set(TABLE_MESSAGE, 9, MESSAGE_EPOCH, 1);
        hand.count = 1;
        break;
    }
}

static bool other_first; /* message 8 was published before message 7 */

static enum clause_id play(seen_monitor *monitor, const struct act_step *steps, size_t length)
{
    enum clause_id clause = FINE;
    begin();
    put(TABLE_MESSAGE, other_first ? 8 : 7);
    put(TABLE_MESSAGE, other_first ? 7 : 8);
    put(TABLE_ACTIVITY, 1);
    hand.count = 0;
    for (size_t i = 0; i < length && clause == FINE && steps[i].at != 0; i++) {
        struct observed seen = seen_at(steps[i].at, steps[i].end);
        seen.only_read = steps[i].act == READ;
        if (seen.ended == OBSERVED_COMMITTED) {
            act(&steps[i]);
        }
        if (steps[i].act != STOLEN) {
            clause = tell(monitor, &seen);
        }
    }
    return clause;
}

struct act_case {
    const char *name;
    enum clause_id clause;
    struct act_step steps[STEPS_MAX];
};

static void play_all(const struct act_case *cases, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        enum clause_id clause = play(seen_activity, cases[i].steps, STEPS_MAX);
        cr_expect_eq(clause, cases[i].clause, "%s: %s", cases[i].name,
                     clause == FINE ? "fine" : clause_get(clause)->id);
    }
}

Test(oracle_seen, a_claim_that_is_half_over_is_extended_by_who_goes_on)
{
    PROVES(CLAUSE_ACL_47);
    static const struct act_case cases[] = {
        {"in time", FINE, {{CLAIM, 100, OK}, {STEP, 109, OK}, {STEP, 110, OK}, {ACK, 110, OK}}},
        {"extended",
         FINE,
         {{CLAIM, 100, OK}, {STEP, 112, OK}, {EXTEND, 113, OK}, {STEP, 114, OK}, {STEP, 122, OK}}},
        {"extended again",
         FINE,
         {{CLAIM, 100, OK},
          {STEP, 112, OK},
          {EXTEND, 113, OK},
          {STEP, 124, OK},
          {EXTEND, 125, OK},
          {STEP, 130, OK}}},
        {"one that means to look at its clock when half of the claim is over",
         FINE,
         {{CLAIM, 100, OK}, {STEP, 103 + STRETCH(10), OK}}},
        {"one that means to look later",
         CLAUSE_ACL_47,
         {{CLAIM, 100, OK}, {STEP, 103 + STRETCH(13), OK}}},
        {"a look so soon that whole ticks hide it",
         FINE,
         {{CLAIM, 100, OK}, {STEP, 108, OK}, {STEP, 109 + STRETCH(4), OK}}},
        {"and one a tick later",
         CLAUSE_ACL_47,
         {{CLAIM, 100, OK}, {STEP, 108, OK}, {STEP, 109 + STRETCH(5), OK}}},
        {"an answer that crossed the next transaction",
         FINE,
         {{CLAIM, 100, OK}, {STEP, 112, OK}, {STEP, 113, OK}}},
        {"never",
         CLAUSE_ACL_47,
         {{CLAIM, 100, OK}, {STEP, 112, OK}, {STEP, 113, OK}, {STEP, 114, OK}}},
        {"not after a failure either",
         CLAUSE_ACL_47,
         {{CLAIM, 100, OK}, {STEP, 112, OK}, {STEP, 113, ABORTED}, {STEP, 114, OK}}},
        {"a clock that fell back, as a transaction without an answer showed",
         FINE,
         {{CLAIM, 100, OK},
          {STEP, 112, OK},
          {STEP, 113, ABORTED},
          {STEP, 104, LOST},
          {STEP, 105, OK}}},
        {"not before a read either",
         CLAUSE_ACL_47,
         {{CLAIM, 100, OK}, {READ, 112, OK}, {STEP, 113, OK}, {READ, 114, OK}}},
        {"nor an ack",
         CLAUSE_ACL_47,
         {{CLAIM, 100, OK}, {STEP, 112, OK}, {STEP, 113, OK}, {ACK, 114, OK}}},
        {"once, and then no more",
         CLAUSE_ACL_47,
         {{CLAIM, 100, OK},
          {STEP, 112, OK},
          {EXTEND, 113, OK},
          {STEP, 124, OK},
          {STEP, 125, OK},
          {STEP, 126, OK}}},
        {"perhaps to the time that stands, after the clock fell back",
         FINE,
         {{CLAIM, 100, OK}, {STEP, 112, OK}, {NOTHING, 113, OK}, {STEP, 114, OK}, {STEP, 115, OK}}},
        {"and then for a whole life again",
         FINE,
         {{CLAIM, 100, OK},
          {STEP, 112, OK},
          {NOTHING, 113, OK},
          {EXTEND, 114, OK},
          {STEP, 115, OK}}},
        {"which is no longer than it was",
         CLAUSE_ACL_47,
         {{CLAIM, 100, OK},
          {STEP, 112, OK},
          {NOTHING, 113, OK},
          {STEP, 118, OK},
          {STEP, 119, OK},
          {STEP, 120, OK}}},
        {"kept for a time", FINE, {{CLAIM, 100, OK}, {HOP, 101, OK}, {STEP, 102, OK}}},
        {"kept for no time at all", CLAUSE_ACL_47, {{CLAIM, 100, OK}, {NO_TIME, 101, OK}}},
        {"at work for less than half of it",
         FINE,
         {{CLAIM, 100, OK}, {STEP, 102, OK}, {STEP, 118 + WORKED(8), OK}}},
        {"at work for longer",
         CLAUSE_ACL_47,
         {{CLAIM, 100, OK}, {STEP, 102, OK}, {STEP, 118 + WORKED(9), OK}}},
        {"which adds up over what failed",
         CLAUSE_ACL_47,
         {{CLAIM, 100, OK},
          {STEP, 102, OK},
          {STEP, 107 + WORKED(5), ABORTED},
          {STEP, 111 + WORKED(4), OK}}},
        {"unless what failed told the time: a clock of its own that is fast",
         FINE,
         {{CLAIM, 100, OK}, {STEP, 102, OK}, {EXTEND, 107 + WORKED(9), ABORTED}, {STEP, 108, OK}}},
        {"told twice by what failed",
         CLAUSE_ACL_47,
         {{CLAIM, 100, OK},
          {STEP, 102, OK},
          {STEP, 112, ABORTED},
          {STEP, 113, ABORTED},
          {STEP, 114, OK}}},
        {"and extended meanwhile",
         FINE,
         {{CLAIM, 100, OK},
          {STEP, 102, OK},
          {EXTEND, 112 + WORKED(9), OK},
          {STEP, 121 + WORKED(9), OK}}},
        {"paused, and did not know", FINE, {{CLAIM, 100, OK}, {STEP, 101, OK}, {STEP, 118, OK}}},
        {"a clock that fell back",
         FINE,
         {{CLAIM, 100, OK}, {STEP, 112, OK}, {STEP, 102, OK}, {STEP, 103, OK}}},
        {"claimed by another meanwhile",
         FINE,
         {{CLAIM, 100, OK}, {STEP, 112, OK}, {STOLEN, 121, OK}, {STEP, 122, OK}, {STEP, 123, OK}}},
        {"let go for another: that needs no extension, but a reason",
         CLAUSE_ACL_48,
         {{CLAIM, 100, OK}, {STEP, 112, OK}, {STEP, 113, OK}, {OTHER, 114, OK}}},
        {"put back, which is no extension",
         FINE,
         {{CLAIM, 100, OK}, {BACK, 104, OK}, {OTHER, 105, OK}, {STEP, 106, OK}}},
        {"put back for no time at all", CLAUSE_ACL_47, {{CLAIM, 100, OK}, {AT_ONCE, 104, OK}}},
        {"put back until a claim would long be over", FINE, {{CLAIM, 100, OK}, {AT_LAST, 104, OK}}},
        {"and for longer", CLAUSE_ACL_47, {{CLAIM, 100, OK}, {FAR_OFF, 104, OK}}},
        {"extended for a little less, as it takes on a server",
         FINE,
         {{CLAIM, 100, OK}, {STEP, 112, OK}, {FOR_LESS, 113, OK}, {STEP, 114, OK}}},
        {"extended for much less",
         CLAUSE_ACL_47,
         {{CLAIM, 100, OK}, {STEP, 112, OK}, {FOR_MUCH_LESS, 113, OK}, {STEP, 114, OK}}},
        {"extended for longer",
         CLAUSE_ACL_47,
         {{CLAIM, 100, OK}, {STEP, 112, OK}, {FAR_OFF, 113, OK}}},
        {"by who does not hold it",
         FINE,
         {{CLAIM, 100, OK}, {STOLEN, 121, OK}, {TOO_LATE, 122, OK}}},
        {"a claim that it was not told of",
         FINE,
         {{CLAIM, 100, UNTOLD}, {STEP, 112, OK}, {STEP, 113, OK}, {STEP, 114, OK}}},
        {"started anew",
         FINE,
         {{CLAIM, 100, OK}, {STEP, 112, OK}, {STEP, 113, OK}, {STEP, 114, BORN}}},
    };
    play_all(cases, COUNT(cases));
}

Test(oracle_seen, what_fails_is_tried_again_as_often_as_allowed)
{
    PROVES(CLAUSE_ACL_48);
    static const struct act_case cases[] = {
        {"four times",
         FINE,
         {{CLAIM, 1, OK},
          {STEP, 2, ABORTED},
          {STEP, 2, ABORTED},
          {STEP, 2, LOST},
          {STEP, 2, AWAY},
          {STEP, 3, OK}}},
        {"five times",
         CLAUSE_ACL_48,
         {{CLAIM, 1, OK},
          {STEP, 2, ABORTED},
          {STEP, 2, ABORTED},
          {STEP, 2, LOST},
          {STEP, 2, AWAY},
          {STEP, 2, UNTOLD},
          {STEP, 3, OK}}},
        {"reads and extensions are no step forward",
         CLAUSE_ACL_48,
         {{CLAIM, 1, OK},
          {STEP, 2, ABORTED},
          {STEP, 2, LOST},
          {READ, 12, OK},
          {EXTEND, 13, OK},
          {STEP, 14, ABORTED},
          {STEP, 14, ABORTED},
          {STEP, 15, ABORTED},
          {STEP, 16, OK}}},
        {"what changes nothing may be an extension",
         FINE,
         {{CLAIM, 1, OK},
          {STEP, 2, ABORTED},
          {STEP, 2, ABORTED},
          {STEP, 2, ABORTED},
          {STEP, 2, ABORTED},
          {NOTHING, 3, OK},
          {STEP, 4, ABORTED},
          {OTHER, 5, OK}}},
        {"or a step",
         FINE,
         {{CLAIM, 1, OK},
          {STEP, 2, ABORTED},
          {STEP, 2, ABORTED},
          {STEP, 2, ABORTED},
          {NOTHING, 3, OK},
          {STEP, 4, ABORTED},
          {STEP, 4, ABORTED},
          {STEP, 4, ABORTED},
          {STEP, 5, OK}}},
        {"a step is",
         FINE,
         {{CLAIM, 1, OK},
          {STEP, 2, ABORTED},
          {STEP, 2, ABORTED},
          {STEP, 3, OK},
          {STEP, 4, ABORTED},
          {STEP, 4, ABORTED},
          {STEP, 4, ABORTED},
          {STEP, 5, OK}}},
        {"so is a refusal",
         FINE,
         {{CLAIM, 1, OK},
          {STEP, 2, ABORTED},
          {STEP, 2, ABORTED},
          {STEP, 3, REFUSED},
          {STEP, 4, ABORTED},
          {STEP, 4, ABORTED},
          {STEP, 4, ABORTED},
          {STEP, 5, OK}}},
        {"then it lets go",
         FINE,
         {{CLAIM, 1, OK},
          {STEP, 2, ABORTED},
          {STEP, 2, ABORTED},
          {STEP, 2, ABORTED},
          {STEP, 2, ABORTED},
          {STEP, 2, ABORTED},
          {OTHER, 3, OK}}},
        {"and may fail to claim, or find nothing",
         FINE,
         {{CLAIM, 1, OK},
          {STEP, 2, ABORTED},
          {STEP, 2, ABORTED},
          {STEP, 2, ABORTED},
          {STEP, 2, ABORTED},
          {STEP, 2, ABORTED},
          {OTHER, 2, REFUSED},
          {OTHER, 3, ABORTED},
          {OTHER, 4, OK}}},
        {"who extends another's claim has lost its own",
         FINE,
         {{CLAIM, 1, OK}, {STEP, 12, OK}, {STOLEN, 13, OK}, {EXTEND, 14, OK}, {OTHER, 15, OK}}},
        {"not without a failure", CLAUSE_ACL_48, {{CLAIM, 1, OK}, {OTHER, 3, OK}}},
        {"not sooner", CLAUSE_ACL_48, {{CLAIM, 1, OK}, {STEP, 2, ABORTED}, {OTHER, 3, OK}}},
        {"nor before the fifth failure",
         CLAUSE_ACL_48,
         {{CLAIM, 1, OK},
          {STEP, 2, ABORTED},
          {STEP, 2, ABORTED},
          {STEP, 2, ABORTED},
          {STEP, 2, ABORTED},
          {OTHER, 3, OK}}},
        {"unless it may have put the message back",
         FINE,
         {{CLAIM, 1, OK}, {BACK, 2, LOST}, {OTHER, 3, ABORTED}, {OTHER, 4, OK}}},
        {"or died", FINE, {{CLAIM, 1, OK}, {STEP, 2, ABORTED}, {OTHER, 3, BORN}}},
        {"or had nothing to let go of",
         FINE,
         {{CLAIM, 1, OK}, {ACK, 2, OK}, {OTHER, 3, ABORTED}, {OTHER, 4, OK}}},
        {"what it was told of is not sent again",
         CLAUSE_ACL_48,
         {{CLAIM, 1, OK}, {ANSWER, 2, OK}, {ANSWER, 3, OK}}},
        {"unless it was not told", FINE, {{CLAIM, 1, OK}, {ANSWER, 2, UNTOLD}, {ANSWER, 3, OK}}},
        {"or has another claim",
         FINE,
         {{CLAIM, 1, OK}, {ANSWER, 2, OK}, {ACK, 3, OK}, {OTHER, 4, OK}, {ANSWER, 5, OK}}},
        {"a message that is published and not gone on with is not held",
         FINE,
         {{CLAIM, 1, OK},
          {KEEP, 2, OK},
          {STEP, 3, ABORTED},
          {ACK, 4, OK},
          {OTHER, 5, ABORTED},
          {OTHER, 6, OK}}},
    };
    play_all(cases, COUNT(cases));
}

/* `clause` of a case: FINE, or whatever the protocol has of tries. */
Test(oracle_seen, workers_that_only_claim_change_and_ack_try_as_often)
{
    PROVES(CLAUSE_KEY_12, CLAUSE_BOX_3);
    static const struct {
        seen_monitor *monitor;
        enum clause_id clause;
        enum oracle_cover let_go;
    } protocols[] = {{seen_key, CLAUSE_KEY_12, COVER_KEY_LET_GO},
                     {seen_inbox, CLAUSE_BOX_3, COVER_INBOX_LET_GO}};
    static const struct {
        bool broken;
        uint64_t let_go;
        struct act_case is;
    } cases[] = {
        {.is = {.name = "four times",
                .steps = {{CLAIM, 1, OK},
                          {STEP, 2, ABORTED},
                          {STEP, 2, ABORTED},
                          {STEP, 2, LOST},
                          {STEP, 2, AWAY},
                          {STEP, 3, OK}}}},
        {.broken = true,
         .is = {.name = "five times",
                .steps = {{CLAIM, 1, OK},
                          {STEP, 2, ABORTED},
                          {STEP, 2, ABORTED},
                          {STEP, 2, LOST},
                          {STEP, 2, AWAY},
                          {STEP, 2, UNTOLD},
                          {STEP, 3, OK}}}},
        {.broken = true,
         .is = {.name = "reads are no step forward",
                .steps = {{CLAIM, 1, OK},
                          {STEP, 2, ABORTED},
                          {READ, 3, OK},
                          {STEP, 4, ABORTED},
                          {READ, 5, OK},
                          {STEP, 6, ABORTED},
                          {READ, 7, ABORTED},
                          {READ, 8, LOST},
                          {READ, 9, OK}}}},
        {.is = {.name = "a step is, and a refusal",
                .steps = {{CLAIM, 1, OK},
                          {STEP, 2, ABORTED},
                          {STEP, 3, ABORTED},
                          {STEP, 4, OK},
                          {STEP, 5, ABORTED},
                          {STEP, 6, ABORTED},
                          {STEP, 7, ABORTED},
                          {STEP, 8, REFUSED},
                          {STEP, 9, ABORTED},
                          {STEP, 10, ABORTED},
                          {ACK, 11, OK}}}},
        {.broken = true,
         .is = {.name = "an ack, too, is tried four times",
                .steps = {{CLAIM, 1, OK},
                          {ACK, 2, ABORTED},
                          {ACK, 2, ABORTED},
                          {ACK, 2, ABORTED},
                          {ACK, 2, ABORTED},
                          {ACK, 2, ABORTED},
                          {ACK, 3, OK}}}},
        {.let_go = 1,
         .is = {.name = "then it lets go",
                .steps = {{CLAIM, 1, OK},
                          {STEP, 2, ABORTED},
                          {STEP, 2, ABORTED},
                          {STEP, 2, ABORTED},
                          {STEP, 2, ABORTED},
                          {STEP, 2, ABORTED},
                          {OTHER, 3, OK}}}},
        {.broken = true,
         .is = {.name = "not sooner",
                .steps = {{CLAIM, 1, OK}, {STEP, 2, ABORTED}, {OTHER, 3, OK}}}},
        {.broken = true,
         .is = {.name = "nor before the fifth failure",
                .steps = {{CLAIM, 1, OK},
                          {STEP, 2, ABORTED},
                          {STEP, 2, ABORTED},
                          {STEP, 2, ABORTED},
                          {STEP, 2, ABORTED},
                          {OTHER, 3, OK}}}},
        {.broken = true,
         .is = {.name = "an answer that was lost is a try like any other",
                .steps = {{CLAIM, 1, OK}, {STEP, 2, UNTOLD}, {OTHER, 3, OK}}}},
        {.is = {.name = "unless it was refused",
                .steps = {{CLAIM, 1, OK}, {STEP, 2, REFUSED}, {OTHER, 3, OK}}}},
        {.is = {.name = "or may have put it back, to the time that stands",
                .steps = {{CLAIM, 1, OK}, {NOTHING, 2, OK}, {OTHER, 3, OK}}}},
        {.is = {.name = "or died",
                .steps = {{CLAIM, 1, OK}, {STEP, 2, ABORTED}, {OTHER, 3, BORN}}}},
        {.is = {.name = "or has acked",
                .steps = {{CLAIM, 1, OK}, {ACK, 2, OK}, {OTHER, 3, ABORTED}, {OTHER, 4, OK}}}},
        {.is = {.name = "or lost its claim",
                .steps = {{CLAIM, 1, OK}, {STOLEN, 21, OK}, {OTHER, 22, OK}}}},
        {.is = {.name = "or was not told of it",
                .steps = {{CLAIM, 1, UNTOLD}, {OTHER, 2, OK}, {STEP, 3, OK}}}},
    };
    for (size_t p = 0; p < 2 * COUNT(protocols); p++) {
        other_first = p >= COUNT(protocols);
        for (size_t i = 0; i < COUNT(cases); i++) {
            enum clause_id clause =
                play(protocols[p % COUNT(protocols)].monitor, cases[i].is.steps, STEPS_MAX);
            cr_expect_eq(clause, cases[i].broken ? protocols[p % COUNT(protocols)].clause : FINE,
                         "%s", cases[i].is.name);
            cr_expect_eq(oracle.seen[protocols[p % COUNT(protocols)].let_go], cases[i].let_go, "%s",
                         cases[i].is.name);
        }
    }
}

/* The caller's transactions; phases are a principal's. */
Test(oracle_seen, what_follows_a_phase_is_handed_on_as_often)
{
    PROVES(CLAUSE_CUT_12);
    static const struct {
        enum clause_id clause;
        struct act_case is;
    } cases[] = {
        {FINE,
         {.name = "three times",
          .steps = {{CLAIM, 1, OK},
                    {ACK, 2, ABORTED},
                    {ACK, 2, ABORTED},
                    {ACK, 2, AWAY},
                    {ACK, 3, OK}}}},
        {CLAUSE_CUT_12,
         {.name = "four times",
          .steps = {{CLAIM, 1, OK},
                    {ACK, 2, ABORTED},
                    {ACK, 2, ABORTED},
                    {ACK, 2, LOST},
                    {ACK, 2, AWAY},
                    {ACK, 3, OK}}}},
        {FINE,
         {.name = "then it lets go",
          .steps = {{CLAIM, 1, OK},
                    {ACK, 2, ABORTED},
                    {ACK, 2, ABORTED},
                    {ACK, 2, LOST},
                    {ACK, 2, LOST},
                    {OTHER, 3, OK}}}},
        {CLAUSE_CUT_12,
         {.name = "not sooner", .steps = {{CLAIM, 1, OK}, {ACK, 2, ABORTED}, {OTHER, 3, OK}}}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        cr_expect_eq(play(seen_pipeline, cases[i].is.steps, STEPS_MAX), cases[i].clause, "%s",
                     cases[i].is.name);
    }
}

/* (OB1) The first name that no client has is nobody's, too. */
Test(oracle_seen, of_nobody_nothing_is_counted_as_held)
{
    static const uint8_t nobody[] = {OBSERVED_NOBODY, OBSERVED_CLIENTS_MAX};
    for (size_t i = 0; i < COUNT(nobody); i++) {
        begin();
        struct observed seen = seen_at(5, OK);
        seen.client = nobody[i];
        put(TABLE_MESSAGE, 7);
        claim(7, 5);
        cr_expect_eq(tell(seen_activity, &seen), FINE);
        cr_expect_eq(tell(seen_seq, &seen), FINE);
        cr_expect_eq(tell(seen_key, &seen), FINE);
        cr_expect_eq(tell(seen_inbox, &seen), FINE);
        put(TABLE_ENTRY, 50);
        seen.isolation = OBSERVED_ISOLATION_UNKNOWN;
        cr_expect_eq(tell(seen_pipeline, &seen), FINE);
        for (int c = 0; c < CLAUSE_COUNT; c++) {
            cr_expect_eq(oracle.evaluated[c], 0U, "%s", clause_get((enum clause_id)c)->id);
        }
    }
}

/* ---- pipeline: locks and isolation ----------------------------------------------------------- */

enum { ENTRY = 50, DECISION = 51, SET = 52, RESULT = 53, PAST = 54 };

/* The head row of a phase, with its entry there before. */
static void do_phase(enum row_table head)
{
    bool reviews = head == TABLE_REVIEW;
    begin();
    put(TABLE_ENTRY, ENTRY);
    set(TABLE_ENTRY, ENTRY, ENTRY_KIND, ENTRY_WORK);
    if (head == TABLE_ENTRY) {
        hand.count = 1; /* the row is new */
        return;
    }
    put(TABLE_CHANGE_SET, SET);
    set(TABLE_CHANGE_SET, SET, CHANGE_SET_ENTRY, ENTRY);
    hand.count = 0;
    if (head == TABLE_CHANGE_SET) {
        hand_note(&hand, head, 0, ROW_INSERTED, 0, 0);
        return;
    }
    put(head, reviews ? DECISION : RESULT);
    set(head, reviews ? DECISION : RESULT, reviews ? REVIEW_ENTRY : VERIFY_SET,
        reviews ? ENTRY : SET);
}

Test(oracle_seen, a_phase_has_its_lock_first_and_its_isolation)
{
    PROVES(CLAUSE_CUT_16);
    PROVES(CLAUSE_CUT_17);
    static const struct {
        const char *name;
        enum row_table head;
        enum clause_id clause;
        uint8_t isolation, locked;
        int64_t lock; /* 0: none */
    } cases[] = {
        {"MARK", TABLE_ENTRY, FINE, OBSERVED_READ_COMMITTED, OBSERVED_LOCK_NONE, 0},
        {"MARK, SERIALIZABLE", TABLE_ENTRY, CLAUSE_CUT_17, OBSERVED_SERIALIZABLE,
         OBSERVED_LOCK_NONE, 0},
        {"REVIEW", TABLE_REVIEW, FINE, OBSERVED_READ_COMMITTED, OBSERVED_LOCK_FIRST, ENTRY},
        {"REVIEW, REPEATABLE READ", TABLE_REVIEW, CLAUSE_CUT_17, OBSERVED_REPEATABLE_READ,
         OBSERVED_LOCK_FIRST, ENTRY},
        {"REVIEW without a lock", TABLE_REVIEW, CLAUSE_CUT_16, OBSERVED_READ_COMMITTED,
         OBSERVED_LOCK_NONE, 0},
        {"CUT", TABLE_CHANGE_SET, FINE, OBSERVED_SERIALIZABLE, OBSERVED_LOCK_FIRST, ENTRY},
        {"CUT as a server tells it", TABLE_CHANGE_SET, FINE, OBSERVED_SERIALIZABLE,
         OBSERVED_LOCK_BEFORE, ENTRY},
        {"CUT, READ COMMITTED", TABLE_CHANGE_SET, CLAUSE_CUT_17, OBSERVED_READ_COMMITTED,
         OBSERVED_LOCK_FIRST, ENTRY},
        {"CUT, REPEATABLE READ", TABLE_CHANGE_SET, CLAUSE_CUT_17, OBSERVED_REPEATABLE_READ,
         OBSERVED_LOCK_FIRST, ENTRY},
        {"CUT, locked late", TABLE_CHANGE_SET, CLAUSE_CUT_16, OBSERVED_SERIALIZABLE,
         OBSERVED_LOCK_LATE, ENTRY},
        {"CUT, another's lock", TABLE_CHANGE_SET, CLAUSE_CUT_16, OBSERVED_SERIALIZABLE,
         OBSERVED_LOCK_FIRST, SET},
        {"VERIFY", TABLE_VERIFY, FINE, OBSERVED_SERIALIZABLE, OBSERVED_LOCK_FIRST, ENTRY},
        {"VERIFY, READ COMMITTED", TABLE_VERIFY, CLAUSE_CUT_17, OBSERVED_READ_COMMITTED,
         OBSERVED_LOCK_FIRST, ENTRY},
        {"VERIFY without a lock", TABLE_VERIFY, CLAUSE_CUT_16, OBSERVED_SERIALIZABLE,
         OBSERVED_LOCK_NONE, 0},
        {"nobody looked", TABLE_VERIFY, FINE, OBSERVED_ISOLATION_UNKNOWN, OBSERVED_LOCK_NONE, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        do_phase(cases[i].head);
        struct observed seen = {.client = OBSERVED_NOBODY,
                                .isolation = cases[i].isolation,
                                .locked = cases[i].locked,
                                .lock_count = cases[i].lock != 0,
                                .locks = {cases[i].lock}};
        cr_expect_eq(tell(seen_pipeline, &seen), cases[i].clause, "%s", cases[i].name);
    }
}

/* What a principal may, by the matrix of the specification; everything else is a breach. */
static enum clause_id grant_broken_by(enum row_change_kind kind, enum row_table table, int column,
                                      enum principal principal)
{
    bool exec = principal == PRINCIPAL_EXEC;
    if (kind == ROW_INSERTED) {
        uint64_t both = TABLE_SET(ENTRY) | TABLE_SET(PAST) | TABLE_SET(SIGNATURE) |
                        TABLE_SET(CHANGE_SET) | TABLE_SET(AFFECTED_ROW);
        uint64_t execs = TABLE_SET(DEPENDENCY) | TABLE_SET(SWEEP_LOG) | TABLE_SET(ENVELOPE) |
                         TABLE_SET(UNIT_BLOCK) | TABLE_SET(REVIEW);
        uint64_t may = both | (exec ? execs : TABLE_SET(VERIFY));
        return table_in(may, table) ? FINE : CLAUSE_CUT_11;
    }
    bool status = table == TABLE_ENTRY && column == ENTRY_STATUS;
    bool by = exec && table == TABLE_REVIEW && column == REVIEW_BY;
    return kind == ROW_UPDATED && (status || by) ? FINE : CLAUSE_CUT_24;
}

static enum clause_id told_of_grant(enum row_change_kind kind, enum row_table table, int column,
                                    enum principal principal)
{
    begin();
    put(table, ENTRY);
    if (table == TABLE_SIGNATURE) {
        set(table, ENTRY, SIGNATURE_PRINCIPAL, principal);
        set(table, ENTRY, SIGNATURE_LANE,
            principal == PRINCIPAL_EXEC ? LANE_EXECUTOR : LANE_VERIFIER);
    }
    hand.count = 0;
    hand_note(&hand, table, 0, kind, column, 1);
    struct observed seen = {.client = OBSERVED_NOBODY, .principal = (uint8_t)principal};
    return tell(seen_pipeline, &seen);
}

Test(oracle_seen, a_principal_changes_nothing_that_it_may_not)
{
    PROVES(CLAUSE_CUT_11, CLAUSE_CUT_24);
    uint64_t tables = protocol_pipeline.tables & ~TABLE_SET(MESSAGE);
    for (int p = PRINCIPAL_EXEC; p < PRINCIPAL_COUNT; p++) {
        for (int t = 0; t < TABLE_COUNT; t++) {
            enum row_table table = (enum row_table)t;
            for (int kind = ROW_UPDATED; table_in(tables, table) && kind <= ROW_DELETED; kind++) {
                int columns = kind == ROW_INSERTED ? 1 : (int)table_get(table)->columns;
                for (int c = 0; c < columns; c++) {
                    enum principal principal = (enum principal)p;
                    cr_expect_eq(told_of_grant((enum row_change_kind)kind, table, c, principal),
                                 grant_broken_by((enum row_change_kind)kind, table, c, principal),
                                 "%d: %d of %s.%d", p, kind, table_get(table)->name, c);
                }
            }
        }
        cr_expect_eq(told_of_grant(ROW_DELETED, TABLE_MESSAGE, 0, (enum principal)p),
                     CLAUSE_CUT_24);
        cr_expect_eq(told_of_grant(ROW_INSERTED, TABLE_MESSAGE, 0, (enum principal)p),
                     CLAUSE_CUT_11);
        for (int c = 0; c < (int)table_get(TABLE_MESSAGE)->columns; c++) {
            cr_expect_eq(told_of_grant(ROW_UPDATED, TABLE_MESSAGE, c, (enum principal)p),
                         CLAUSE_CUT_24, "message.%d", c);
        }
    }
}

Test(oracle_seen, a_principal_signs_in_its_own_lane_and_name)
{
    PROVES(CLAUSE_CUT_11);
    static const struct {
        enum principal as, name;
        enum signature_lane lane;
        enum clause_id clause;
    } cases[] = {
        {PRINCIPAL_EXEC, PRINCIPAL_EXEC, LANE_EXECUTOR, FINE},
        {PRINCIPAL_EXEC, PRINCIPAL_EXEC, LANE_VERIFIER, CLAUSE_CUT_11},
        {PRINCIPAL_EXEC, PRINCIPAL_VERIFY, LANE_EXECUTOR, CLAUSE_CUT_11},
        {PRINCIPAL_VERIFY, PRINCIPAL_VERIFY, LANE_VERIFIER, FINE},
        {PRINCIPAL_VERIFY, PRINCIPAL_VERIFY, LANE_EXECUTOR, CLAUSE_CUT_11},
        {PRINCIPAL_VERIFY, PRINCIPAL_EXEC, LANE_VERIFIER, CLAUSE_CUT_11},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin();
        put(TABLE_SIGNATURE, SET);
        set(TABLE_SIGNATURE, SET, SIGNATURE_PRINCIPAL, cases[i].name);
        set(TABLE_SIGNATURE, SET, SIGNATURE_LANE, cases[i].lane);
        hand.count = 1;
        struct observed seen = {.client = OBSERVED_NOBODY, .principal = (uint8_t)cases[i].as};
        cr_expect_eq(tell(seen_pipeline, &seen), cases[i].clause, "case %zu", i);
    }
}

Test(oracle_seen, a_principal_locks_what_it_writes)
{
    PROVES(CLAUSE_CUT_24);
    static const struct {
        enum principal principal;
        bool writes, reads, locks;
        enum clause_id clause;
    } cases[] = {
        {PRINCIPAL_EXEC, false, false, false, CLAUSE_CUT_24},
        {PRINCIPAL_VERIFY, false, false, false, CLAUSE_CUT_24},
        {PRINCIPAL_EXEC, true, false, false, FINE},
        {PRINCIPAL_EXEC, false, true, false, FINE},
        {PRINCIPAL_EXEC, false, false, true,
         FINE}, /* a phase that did nothing: others judge that */
        {PRINCIPAL_NONE, false, false, false, FINE},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin();
        put(TABLE_ENVELOPE, 7);
        hand.count = cases[i].writes;
        struct observed seen = {.client = OBSERVED_NOBODY,
                                .principal = (uint8_t)cases[i].principal,
                                .isolation = OBSERVED_SERIALIZABLE,
                                .only_read = cases[i].reads,
                                .lock_count = cases[i].locks};
        cr_expect_eq(tell(seen_pipeline, &seen), cases[i].clause, "case %zu", i);
    }
}

/* The entry of a MARK was there when its request was claimed, or came later; the transaction is refused
 * for a key that is taken, or for something else. */
Test(oracle_seen, a_mark_looks_for_its_entry_before_it_writes)
{
    PROVES(CLAUSE_CUT_5);
    static const struct {
        const char *name;
        bool before, taken, there;
        enum pipeline_phase phase;
        enum clause_id clause;
    } cases[] = {
        {"it wrote", true, true, true, PHASE_MARK, CLAUSE_CUT_5},
        {"another was quicker", false, true, true, PHASE_MARK, FINE},
        {"refused for something else", true, false, true, PHASE_MARK, FINE},
        {"the entry was lost again", true, true, false, PHASE_MARK, FINE},
        {"no MARK", true, true, true, PHASE_REVIEW, FINE},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin();
        put(TABLE_MESSAGE, 7);
        set(TABLE_MESSAGE, 7, MESSAGE_KIND, cases[i].phase);
        set(TABLE_MESSAGE, 7, MESSAGE_ACTIVITY, ENTRY);
        if (cases[i].before) {
            put(TABLE_ENTRY, ENTRY);
        }
        hand.count = 0;
        set(TABLE_MESSAGE, 7, MESSAGE_EPOCH, 1);
        struct observed seen = seen_at(1, OK);
        cr_assert_eq(tell(seen_pipeline, &seen), FINE);
        if (!cases[i].before) {
            put(TABLE_ENTRY, ENTRY);
        } else if (!cases[i].there) {
            hand_drop(&hand, TABLE_ENTRY, ENTRY);
        }
        hand.count = 0;
        seen = seen_at(2, REFUSED);
        seen.principal = PRINCIPAL_EXEC;
        seen.taken = cases[i].taken;
        cr_expect_eq(tell(seen_pipeline, &seen), cases[i].clause, "%s", cases[i].name);
    }
}

Test(oracle_seen, a_mark_that_finds_its_entry_locks_nothing_and_may_write_nothing)
{
    PROVES(CLAUSE_CUT_5);
    for (int skipped = 0; skipped < 2; skipped++) {
        begin();
        struct observed seen = {.client = OBSERVED_NOBODY,
                                .principal = PRINCIPAL_EXEC,
                                .isolation = OBSERVED_READ_COMMITTED,
                                .skipped = skipped == 1};
        cr_expect_eq(tell(seen_pipeline, &seen), skipped ? FINE : CLAUSE_CUT_24);
    }
}

/* Phases of which the client is told that they failed, or of which it is told nothing; then it
 * reads, twice. */
Test(oracle_seen, a_phase_that_is_exhausted_is_not_read_for)
{
    PROVES(CLAUSE_CUT_12);
    static const struct {
        int failed, lost;
        enum clause_id first, second;
    } cases[] = {{3, 0, FINE, FINE},
                 {4, 0, CLAUSE_CUT_12, CLAUSE_CUT_12},
                 {3, 1, FINE, CLAUSE_CUT_12},
                 {2, 1, FINE, FINE}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin();
        for (int f = 0; f < cases[i].failed + cases[i].lost; f++) {
            struct observed seen = seen_at(5 + f, f < cases[i].failed ? ABORTED : LOST);
            seen.principal = PRINCIPAL_EXEC;
            cr_expect_eq(tell(seen_pipeline, &seen), FINE);
        }
        struct observed seen = seen_at(20, OK);
        seen.principal = PRINCIPAL_EXEC;
        seen.isolation = OBSERVED_SERIALIZABLE;
        seen.only_read = true;
        cr_expect_eq(tell(seen_pipeline, &seen), cases[i].first, "case %zu", i);
        cr_expect_eq(tell(seen_pipeline, &seen), cases[i].second, "case %zu", i);
    }
}

Test(oracle_seen, what_became_of_a_phase_is_read_in_one_snapshot)
{
    PROVES(CLAUSE_CUT_17);
    static const struct {
        const char *name;
        enum clause_id clause;
        uint8_t isolation;
        enum principal principal;
        enum end end;
    } cases[] = {
        {"one", FINE, OBSERVED_SERIALIZABLE, PRINCIPAL_EXEC, OK},
        {"one, too", FINE, OBSERVED_REPEATABLE_READ, PRINCIPAL_VERIFY, OK},
        {"one a statement", CLAUSE_CUT_17, OBSERVED_READ_COMMITTED, PRINCIPAL_EXEC, OK},
        {"nobody knows", FINE, OBSERVED_ISOLATION_UNKNOWN, PRINCIPAL_EXEC, OK},
        {"it says nothing of a phase", FINE, OBSERVED_READ_COMMITTED, PRINCIPAL_NONE, OK},
        {"it came to nothing", FINE, OBSERVED_READ_COMMITTED, PRINCIPAL_EXEC, ABORTED},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin();
        struct observed seen = seen_at(1, cases[i].end);
        seen.only_read = true;
        seen.isolation = cases[i].isolation;
        seen.principal = (uint8_t)cases[i].principal;
        cr_expect_eq(tell(seen_pipeline, &seen), cases[i].clause, "%s", cases[i].name);
    }
}

Test(oracle_seen, a_status_is_not_moved_without_the_lock)
{
    put(TABLE_ENTRY, ENTRY);
    hand.count = 0;
    set(TABLE_ENTRY, ENTRY, ENTRY_STATUS, STATUS_CUT);
    struct observed seen = {.client = OBSERVED_NOBODY, .isolation = OBSERVED_SERIALIZABLE};
    cr_expect_eq(tell(seen_pipeline, &seen), CLAUSE_CUT_16);
}

/* ---- pipeline: tries ------------------------------------------------------------------------- */

enum ask { REQUEST, OTHER_REQUEST, PHASE, LOOK, GIVE_UP, GIVE_BACK };
struct ask_step {
    enum ask ask;
    enum end end;
    int64_t told; /* PHASE that commits: how often its history says that it was tried */
};

static void ask(const struct ask_step *step)
{
    if (step->ask == REQUEST) {
        set(TABLE_MESSAGE, 7, MESSAGE_EPOCH, 1);
    } else if (step->ask == OTHER_REQUEST) {
        set(TABLE_MESSAGE, 8, MESSAGE_EPOCH, 1);
    } else if (step->ask == PHASE) {
        put(TABLE_PAST, PAST);
        set(TABLE_PAST, PAST, PAST_ENTRY, ENTRY);
        set(TABLE_PAST, PAST, PAST_RETRIES, step->told);
        hand.count = 1;
    } else if (step->ask == GIVE_UP) {
        put(TABLE_SWEEP_LOG, 60);
        set(TABLE_SWEEP_LOG, 60, SWEEP_LOG_WHY, SWEEP_EXHAUSTED);
        set(TABLE_SWEEP_LOG, 60, SWEEP_LOG_REQUEST, 7);
        hand.count = 1;
        set(TABLE_MESSAGE, 7, MESSAGE_VISIBLE_AT, INT64_MAX);
    } else if (step->ask == GIVE_BACK) {
        set(TABLE_MESSAGE, 7, MESSAGE_VISIBLE_AT, 99);
    }
}

Test(oracle_seen, history_and_sweep_say_how_often_a_phase_was_tried)
{
    PROVES(CLAUSE_CUT_12);
    static const struct {
        const char *name;
        enum clause_id clause;
        struct ask_step steps[12];
        size_t length;
    } cases[] = {
        {"at once", FINE, {{REQUEST, OK, 0}, {PHASE, OK, 0}}, 2},
        {"put back, and nobody was told", CLAUSE_CUT_12, {{REQUEST, OK, 0}, {GIVE_BACK, OK, 0}}, 2},
        {"stopped, and told",
         FINE,
         {{REQUEST, OK, 0},
          {PHASE, ABORTED, 0},
          {PHASE, ABORTED, 0},
          {PHASE, ABORTED, 0},
          {PHASE, ABORTED, 0},
          {GIVE_UP, OK, 0}},
         6},
        {"stopped, and put back all the same",
         CLAUSE_CUT_12,
         {{REQUEST, OK, 0},
          {PHASE, ABORTED, 0},
          {PHASE, ABORTED, 0},
          {PHASE, ABORTED, 0},
          {PHASE, ABORTED, 0},
          {GIVE_UP, OK, 0},
          {GIVE_BACK, OK, 0}},
         7},
        {"after three",
         FINE,
         {{REQUEST, OK, 0},
          {PHASE, ABORTED, 0},
          {PHASE, ABORTED, 0},
          {PHASE, ABORTED, 0},
          {PHASE, OK, 3}},
         5},
        {"untold", CLAUSE_CUT_12, {{REQUEST, OK, 0}, {PHASE, ABORTED, 0}, {PHASE, OK, 0}}, 3},
        {"invented", CLAUSE_CUT_12, {{REQUEST, OK, 0}, {PHASE, OK, 1}}, 2},
        {"of an earlier request",
         FINE,
         {{REQUEST, OK, 0}, {PHASE, ABORTED, 0}, {REQUEST, OK, 0}, {PHASE, OK, 0}},
         4},
        {"no connection is a try",
         FINE,
         {{REQUEST, OK, 0}, {PHASE, AWAY, 0}, {PHASE, AWAY, 0}, {PHASE, OK, 2}},
         4},
        {"no connection, untold",
         CLAUSE_CUT_12,
         {{REQUEST, OK, 0}, {PHASE, AWAY, 0}, {PHASE, OK, 0}},
         3},
        {"stopped for want of a connection",
         FINE,
         {{REQUEST, OK, 0},
          {PHASE, AWAY, 0},
          {PHASE, AWAY, 0},
          {PHASE, AWAY, 0},
          {PHASE, AWAY, 0},
          {GIVE_UP, OK, 0}},
         6},
        {"lost, and found so",
         FINE,
         {{REQUEST, OK, 0}, {PHASE, LOST, 0}, {LOOK, OK, 0}, {PHASE, OK, 1}},
         4},
        {"reads that fail count",
         FINE,
         {{REQUEST, OK, 0},
          {PHASE, LOST, 0},
          {LOOK, ABORTED, 0},
          {LOOK, UNTOLD, 0},
          {LOOK, OK, 0},
          {PHASE, OK, 3}},
         6},
        {"and are bounded with it",
         FINE,
         {{REQUEST, OK, 0},
          {PHASE, LOST, 0},
          {LOOK, ABORTED, 0},
          {LOOK, ABORTED, 0},
          {LOOK, ABORTED, 0},
          {LOOK, ABORTED, 0},
          {GIVE_UP, OK, 0}},
         7},
        {"given up after four",
         FINE,
         {{REQUEST, OK, 0},
          {PHASE, ABORTED, 0},
          {PHASE, ABORTED, 0},
          {PHASE, ABORTED, 0},
          {PHASE, ABORTED, 0},
          {GIVE_UP, OK, 0}},
         6},
        {"given up early",
         CLAUSE_CUT_12,
         {{REQUEST, OK, 0}, {PHASE, ABORTED, 0}, {GIVE_UP, OK, 0}},
         3},
        {"given up after three",
         CLAUSE_CUT_12,
         {{REQUEST, OK, 0},
          {PHASE, ABORTED, 0},
          {PHASE, ABORTED, 0},
          {PHASE, ABORTED, 0},
          {GIVE_UP, OK, 0}},
         5},
        {"stopped, and another is claimed",
         FINE,
         {{REQUEST, OK, 0},
          {PHASE, ABORTED, 0},
          {PHASE, ABORTED, 0},
          {PHASE, ABORTED, 0},
          {PHASE, ABORTED, 0},
          {GIVE_UP, OK, 0},
          {OTHER_REQUEST, OK, 0}},
         7},
        {"let go for another without a try",
         CLAUSE_CUT_12,
         {{REQUEST, OK, 0}, {PHASE, OK, 0}, {OTHER_REQUEST, OK, 0}},
         3},
        {"never given up",
         CLAUSE_CUT_12,
         {{REQUEST, OK, 0},
          {PHASE, ABORTED, 0},
          {PHASE, ABORTED, 0},
          {PHASE, ABORTED, 0},
          {PHASE, ABORTED, 0},
          {PHASE, ABORTED, 0},
          {PHASE, ABORTED, 0}},
         7},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        enum clause_id clause = FINE;
        begin();
        put(TABLE_MESSAGE, 7);
        put(TABLE_MESSAGE, 8);
        put(TABLE_ENTRY, ENTRY);
        set(TABLE_ENTRY, ENTRY, ENTRY_KIND, ENTRY_WORK);
        hand.count = 0;
        for (size_t s = 0; s < cases[i].length && clause == FINE; s++) {
            const struct ask_step *step = &cases[i].steps[s];
            struct observed seen = seen_at(1 + (int64_t)s, step->end);
            bool as_principal = step->ask == PHASE || step->ask == LOOK;
            seen.isolation = OBSERVED_ISOLATION_UNKNOWN;
            seen.principal = as_principal ? PRINCIPAL_EXEC : PRINCIPAL_NONE;
            seen.only_read = step->ask == LOOK;
            if (seen.ended == OBSERVED_COMMITTED) {
                ask(step);
            }
            clause = tell(seen_pipeline, &seen);
        }
        cr_expect_eq(clause, cases[i].clause, "%s", cases[i].name);
    }
}

/* ---- seq: heartbeats and reclaiming ---------------------------------------------------------- *
 * Seqs 100 and 101 under a lease of 20 or 21; two rounds are eight transactions. */

enum run { TAKE, BEAT, AHEAD, BEHIND, GLANCE, FINISH, RECLAIM, CANCEL };
struct run_step {
    enum run run;
    int64_t at;
    enum end end;
};

static void run_it(const struct run_step *step)
{
    switch (step->run) {
    case TAKE:
        set(TABLE_SEQ, 100, SEQ_STATE, 2);
        set(TABLE_SEQ, 100, SEQ_HEARTBEAT, step->at % WORKED(1));
        break;
    case BEAT:
    case AHEAD: /* of the store's clock */
    case BEHIND:
        set(TABLE_SEQ, 100, SEQ_HEARTBEAT,
            step->at % WORKED(1) + (step->run == AHEAD) - (step->run == BEHIND));
        break;
    case GLANCE:
        break;
    case FINISH:
    case RECLAIM:
    case CANCEL:
        set(TABLE_SEQ, 100, SEQ_STATE, step->run == FINISH ? 3 : step->run == CANCEL ? 6 : 1);
        set(TABLE_SEQ, 100, SEQ_ENDED_BY, step->run == FINISH);
        break;
    }
}

struct run_case {
    const char *name;
    enum clause_id clause;
    struct run_step steps[RUN_STEPS_MAX];
};

static int64_t lease = 20;

static void run_all(const struct run_case *cases, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        enum clause_id clause = FINE;
        begin();
        put(TABLE_STAGE, 1);
        set(TABLE_STAGE, 1, STAGE_LEASE, lease);
        put(TABLE_SEQ, 100);
        put(TABLE_SEQ, 101);
        hand.count = 0;
        for (size_t s = 0; s < RUN_STEPS_MAX && clause == FINE && cases[i].steps[s].at != 0; s++) {
            const struct run_step *step = &cases[i].steps[s];
            struct observed seen = seen_at(step->at, step->end);
            seen.only_read = step->run == GLANCE;
            if (seen.ended == OBSERVED_COMMITTED) {
                run_it(step);
            }
            clause = tell(seen_seq, &seen);
        }
        cr_expect_eq(clause, cases[i].clause, "%s", cases[i].name);
    }
}

Test(oracle_seen, a_run_reports_nothing_before_a_heartbeat)
{
    PROVES(CLAUSE_SEQ_9);
    static const struct run_case cases[] = {
        {"one", FINE, {{TAKE, 5, OK}, {BEAT, 6, OK}, {FINISH, 7, OK}}},
        {"none", CLAUSE_SEQ_9, {{TAKE, 5, OK}, {FINISH, 7, OK}}},
        {"one of the run before",
         CLAUSE_SEQ_9,
         {{TAKE, 5, OK}, {BEAT, 6, OK}, {RECLAIM, 26, OK}, {TAKE, 27, OK}, {FINISH, 28, OK}}},
        {"a look is none", CLAUSE_SEQ_9, {{TAKE, 5, OK}, {GLANCE, 6, OK}, {FINISH, 7, OK}}},
        {"one that failed was sent", FINE, {{TAKE, 5, OK}, {BEAT, 6, ABORTED}, {FINISH, 7, OK}}},
        {"one behind the clock was sent", FINE, {{TAKE, 5, OK}, {GLANCE, 4, OK}, {FINISH, 7, OK}}},
        {"a run of which it does not know that it has begun",
         FINE,
         {{TAKE, 5, UNTOLD}, {FINISH, 7, OK}}},
        {"one that took its time",
         FINE,
         {{TAKE, 5, OK}, {BEAT, 6, OK}, {FINISH, 15 + WORKED(9), OK}}},
        {"and half of its lease",
         CLAUSE_SEQ_9,
         {{TAKE, 5, OK}, {BEAT, 6, OK}, {FINISH, 16 + WORKED(10), OK}}},
        {"with a heartbeat meanwhile",
         FINE,
         {{TAKE, 5, OK}, {BEAT, 6, OK}, {BEAT, 16 + WORKED(10), OK}, {FINISH, 20 + WORKED(4), OK}}},
        {"one that means to look when half of its lease is over",
         FINE,
         {{TAKE, 5, OK}, {BEAT, 6, OK}, {BEAT, 9 + WORKED(1) + STRETCH(10), OK}}},
        {"one that means to look later",
         CLAUSE_SEQ_9,
         {{TAKE, 5, OK}, {BEAT, 6, OK}, {BEAT, 9 + WORKED(1) + STRETCH(11), OK}}},
        {"another's run", FINE, {{TAKE, 5, OK}, {FINISH, 7, BORN}}},
        {"a run that was taken away", FINE, {{TAKE, 5, OK}, {RECLAIM, 25, OK}}},
    };
    run_all(cases, COUNT(cases));
    static const struct run_case later_by_half_a_tick = {
        "half a tick after half of its lease",
        CLAUSE_SEQ_9,
        {{TAKE, 5, OK}, {BEAT, 6, OK}, {BEAT, 9 + WORKED(1) + STRETCH(11), OK}}};
    lease = 21;
    run_all(&later_by_half_a_tick, 1);
}

Test(oracle_seen, a_heartbeat_is_the_time_of_the_store)
{
    PROVES(CLAUSE_SEQ_19);
    static const struct run_case cases[] = {
        {"it is", FINE, {{TAKE, 5, OK}, {BEAT, 6, OK}, {BEAT, 7, OK}}},
        {"ahead of it", CLAUSE_SEQ_19, {{TAKE, 5, OK}, {AHEAD, 6, OK}}},
        {"behind it", CLAUSE_SEQ_19, {{TAKE, 5, OK}, {BEHIND, 8, OK}}},
        {"even if nobody is told", CLAUSE_SEQ_19, {{TAKE, 5, OK}, {AHEAD, 6, UNTOLD}}},
        {"what failed wrote nothing", FINE, {{TAKE, 5, OK}, {AHEAD, 6, ABORTED}}},
    };
    run_all(cases, COUNT(cases));
}

Test(oracle_seen, an_expired_lease_is_reclaimed_within_two_rounds)
{
    PROVES(CLAUSE_SEQ_10);
    static const struct run_case cases[] = {
        {"at once", FINE, {{TAKE, 5, OK}, {GLANCE, 25, OK}, {RECLAIM, 26, OK}}},
        {"after two rounds",
         FINE,
         {{TAKE, 5, OK},
          {GLANCE, 25, OK},
          {GLANCE, 26, OK},
          {GLANCE, 27, OK},
          {GLANCE, 28, OK},
          {GLANCE, 29, OK},
          {GLANCE, 30, OK},
          {GLANCE, 31, OK},
          {GLANCE, 32, OK},
          {RECLAIM, 33, OK}}},
        {"after more",
         CLAUSE_SEQ_10,
         {{TAKE, 5, OK},
          {GLANCE, 25, OK},
          {GLANCE, 26, OK},
          {GLANCE, 27, OK},
          {GLANCE, 28, OK},
          {GLANCE, 29, OK},
          {GLANCE, 30, OK},
          {GLANCE, 31, OK},
          {GLANCE, 32, OK},
          {GLANCE, 33, OK},
          {RECLAIM, 34, OK}}},
        {"who is paused is not late", FINE, {{TAKE, 5, OK}, {GLANCE, 25, OK}, {RECLAIM, 9000, OK}}},
        {"nor who fails",
         FINE,
         {{TAKE, 5, OK},
          {GLANCE, 25, OK},
          {GLANCE, 26, ABORTED},
          {GLANCE, 27, LOST},
          {GLANCE, 28, OK},
          {GLANCE, 29, AWAY},
          {GLANCE, 30, OK},
          {RECLAIM, 31, OK}}},
        {"what it looked at before does not count",
         FINE,
         {{TAKE, 5, OK},
          {GLANCE, 17, OK},
          {GLANCE, 18, OK},
          {GLANCE, 19, OK},
          {GLANCE, 20, OK},
          {GLANCE, 21, OK},
          {GLANCE, 22, OK},
          {GLANCE, 23, OK},
          {GLANCE, 24, OK},
          {GLANCE, 25, OK},
          {RECLAIM, 26, OK}}},
        {"a cancel has its own time",
         FINE,
         {{TAKE, 5, OK},
          {GLANCE, 25, OK},
          {GLANCE, 26, OK},
          {GLANCE, 27, OK},
          {GLANCE, 28, OK},
          {GLANCE, 29, OK},
          {GLANCE, 30, OK},
          {GLANCE, 31, OK},
          {GLANCE, 32, OK},
          {GLANCE, 33, OK},
          {CANCEL, 34, OK}}},
    };
    run_all(cases, COUNT(cases));
}

/* ---- seq: who is refused was overtaken ------------------------------------------------------- */

/* MOVES and LOSES are the client's own, the others' move comes in between. */
enum turn { MOVES, LOSES, REPEATS, LOOKS, OTHERS_MOVE };
struct turn_step {
    enum turn turn;
    enum end end;
};

static void turn_it(enum turn turn)
{
    int64_t moves = row_get(&hand.rows, TABLE_SEQ, 0, SEQ_MOVE_COUNT);
    if (turn == MOVES || turn == OTHERS_MOVE) {
        set(TABLE_SEQ, 100, SEQ_MOVE_COUNT, moves + 1);
    } else if (turn == LOSES) {
        set(TABLE_SEQ_TALLY, 50, SEQ_TALLY_STALE, 1);
        set(TABLE_SEQ_TALLY, 50, SEQ_TALLY_OF, 100);
    } else if (turn == REPEATS) {
        set(TABLE_SEQ_TALLY, 50, SEQ_TALLY_REPEATED, 1);
    }
}

Test(oracle_seen, who_is_refused_was_not_overtaken_by_itself_and_told)
{
    PROVES(CLAUSE_SEQ_5);
    static const struct {
        const char *name;
        enum clause_id clause;
        bool drill;
        struct turn_step steps[4];
    } cases[] = {
        {"overtaken", FINE, false, {{MOVES, OK}, {OTHERS_MOVE, OK}, {LOSES, OK}}},
        {"by itself", CLAUSE_SEQ_5, false, {{MOVES, OK}, {LOSES, OK}}},
        {"again", CLAUSE_SEQ_5, false, {{LOSES, OK}, {LOSES, OK}}},
        {"committed again", CLAUSE_SEQ_5, false, {{MOVES, OK}, {REPEATS, OK}}},
        {"it was not told of its move", FINE, false, {{MOVES, UNTOLD}, {LOSES, OK}}},
        {"it is not told of the refusal", FINE, false, {{MOVES, OK}, {LOSES, UNTOLD}}},
        {"it looked in between", FINE, false, {{MOVES, OK}, {LOOKS, OK}, {LOSES, OK}}},
        {"it has read what it was not told",
         CLAUSE_SEQ_5,
         false,
         {{MOVES, UNTOLD}, {LOOKS, OK}, {LOSES, OK}}},
        {"others moved it before it read",
         FINE,
         false,
         {{MOVES, UNTOLD}, {OTHERS_MOVE, OK}, {LOOKS, OK}, {LOSES, OK}}},
        {"what it read got lost", FINE, false, {{MOVES, UNTOLD}, {LOOKS, LOST}, {LOSES, OK}}},
        {"its move did not happen", FINE, false, {{MOVES, ABORTED}, {LOSES, OK}}},
        {"it was started anew", FINE, false, {{MOVES, OK}, {LOSES, BORN}}},
        {"on purpose", FINE, true, {{MOVES, OK}, {LOSES, OK}}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        enum clause_id clause = FINE;
        begin();
        put(TABLE_STAGE, 1);
        set(TABLE_STAGE, 1, STAGE_DRILL, cases[i].drill);
        put(TABLE_SEQ, 100);
        put(TABLE_SEQ_TALLY, 50);
        hand.count = 0;
        for (size_t s = 0; s < COUNT(cases[i].steps) && clause == FINE; s++) {
            const struct turn_step *step = &cases[i].steps[s];
            struct observed seen = seen_at(1 + (int64_t)s, step->end);
            seen.client = step->turn == OTHERS_MOVE ? 4 : 3;
            seen.only_read = step->turn == LOOKS;
            if (s > 0 && step->turn == MOVES) {
                break; /* there are no more */
            }
            if (seen.ended == OBSERVED_COMMITTED) {
                turn_it(step->turn);
            }
            clause = tell(seen_seq, &seen);
        }
        cr_expect_eq(clause, cases[i].clause, "%s", cases[i].name);
    }
}

/* A client took the lease of seq 100, and its next transaction commits. */
Test(oracle_seen, a_refusal_of_a_worker_is_counted)
{
    PROVES(CLAUSE_SEQ_12);
    static const struct {
        const char *name;
        enum clause_id clause;
        bool takes, reads, counts;
        int64_t owner; /* by then */
    } cases[] = {
        {"counted", FINE, true, false, true, 0},
        {"not counted", CLAUSE_SEQ_12, true, false, false, 0},
        {"another has the lease", CLAUSE_SEQ_12, true, false, false, 76},
        {"another, the other way round", CLAUSE_SEQ_12, true, false, false, 78},
        {"it only reads", FINE, true, true, false, 0},
        {"the lease is still its own", FINE, true, false, false, 77},
        {"a client without a run", FINE, false, false, false, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin();
        put(TABLE_STAGE, 1);
        put(TABLE_SEQ, 100);
        put(TABLE_SEQ_TALLY, 50);
        hand.count = 0;
        struct observed seen = seen_at(5, OK);
        seen.client = cases[i].takes ? 3 : 4;
        set(TABLE_SEQ, 100, SEQ_STATE, 2);
        set(TABLE_SEQ, 100, SEQ_OWNER, 77);
        set(TABLE_SEQ, 100, SEQ_HEARTBEAT, 5);
        cr_expect_eq(tell(seen_seq, &seen), FINE);
        set(TABLE_SEQ, 100, SEQ_OWNER, cases[i].owner);
        hand.count = 0; /* by others */
        seen = seen_at(9, OK);
        seen.only_read = cases[i].reads;
        if (cases[i].counts) {
            set(TABLE_SEQ_TALLY, 50, SEQ_TALLY_STALE, 1);
            set(TABLE_SEQ_TALLY, 50, SEQ_TALLY_OF, 100);
        }
        cr_expect_eq(tell(seen_seq, &seen), cases[i].clause, "%s", cases[i].name);
    }
}

Test(oracle_seen, nothing_is_sent_once_it_is_told_that_stage1_has_failed)
{
    PROVES(CLAUSE_SEQ_20);
    static const struct {
        const char *name;
        enum clause_id clause;
        enum end told, then;
        bool failed, reads;
    } cases[] = {
        {"it goes on", CLAUSE_SEQ_20, REFUSED, REFUSED, true, false},
        {"it goes on, and that fails", CLAUSE_SEQ_20, REFUSED, ABORTED, true, false},
        {"it reads", FINE, REFUSED, OK, true, true},
        {"it was started anew", FINE, REFUSED, BORN, true, false},
        {"it was not told", FINE, LOST, REFUSED, true, false},
        {"refused for another reason", FINE, REFUSED, REFUSED, false, false},
        {"it failed Stage1 itself", CLAUSE_SEQ_20, OK, ABORTED, true, false},
        {"it failed Stage1 itself, untold", FINE, UNTOLD, ABORTED, true, false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin();
        put(TABLE_STAGE, 1);
        hand.count = 0;
        set(TABLE_STAGE, 1, STAGE_SEQ, cases[i].failed);
        struct observed seen = seen_at(5, cases[i].told);
        cr_expect_eq(tell(seen_seq, &seen), FINE);
        seen = seen_at(6, cases[i].then);
        seen.only_read = cases[i].reads;
        cr_expect_eq(tell(seen_seq, &seen), cases[i].clause, "%s", cases[i].name);
    }
}

/* ---- pipeline: what is put back ---------------------------------------------------------------
 */

/* The commit brings a row of the sweep log, of this request or another, that says why, or does not;
 * or the row was there before. */
Test(oracle_seen, a_request_is_put_back_where_the_same_commit_says_so_in_the_sweep_log)
{
    PROVES(CLAUSE_CUT_12);
    SETTLES(ERRATUM_CUT_16);
    static const struct {
        enum sweep_reason why;
        int64_t request;
        bool before;
        enum clause_id clause;
    } cases[] = {{SWEEP_EXHAUSTED, 7, true, CLAUSE_CUT_12},
                 {SWEEP_AGAIN, 7, false, FINE},
                 {SWEEP_AGAIN, 8, false, CLAUSE_CUT_12},
                 {SWEEP_GIVEN_UP, 7, false, CLAUSE_CUT_12},
                 {SWEEP_MARKED, 7, false, CLAUSE_CUT_12}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct observed seen = seen_at(5, OK);
        begin();
        put(TABLE_MESSAGE, 7);
        put(TABLE_SWEEP_LOG, 60);
        set(TABLE_SWEEP_LOG, 60, SWEEP_LOG_WHY, cases[i].why);
        set(TABLE_SWEEP_LOG, 60, SWEEP_LOG_REQUEST, cases[i].request);
        hand.count = 0;
        if (!cases[i].before) {
            hand_drop(&hand, TABLE_SWEEP_LOG, 60);
            put(TABLE_SWEEP_LOG, 61);
            set(TABLE_SWEEP_LOG, 61, SWEEP_LOG_WHY, cases[i].why);
            set(TABLE_SWEEP_LOG, 61, SWEEP_LOG_REQUEST, cases[i].request);
            hand.changes[0] = hand.changes[1]; /* it came so, and nothing went */
            hand.count = 1;
        }
        set(TABLE_MESSAGE, 7, MESSAGE_VISIBLE_AT, 90);
        cr_expect_eq(tell(seen_pipeline, &seen), cases[i].clause, "case %zu", i);
    }
}

Test(oracle_seen, a_sweep_asks_for_a_phase_again_no_later_than_a_claim_would_let_it_come)
{
    PROVES(CLAUSE_CUT_12);
    SETTLES(ERRATUM_CUT_21);
    static struct expectation asked;
    static const struct {
        int64_t wait, timeout;
        uint8_t client;
        enum clause_id clause;
    } cases[] = {{1, 20, 3, FINE},
                 {20, 20, 3, FINE},
                 {21, 20, 3, CLAUSE_CUT_12},
                 {0, 20, 3, CLAUSE_CUT_12},
                 {10, 2, 3, FINE},
                 {11, 2, 3, CLAUSE_CUT_12},
                 {0, 20, OBSERVED_NOBODY, FINE}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct observed seen = seen_at(5, OK);
        seen.client = cases[i].client;
        begin();
        asked.of.pipeline.timeout = cases[i].timeout;
        oracle.expected = &asked;
        put(TABLE_MESSAGE, 7);
        set(TABLE_MESSAGE, 7, MESSAGE_VISIBLE_AT, INT64_MAX);
        hand.count = 0;
        put(TABLE_SWEEP_LOG, 60);
        set(TABLE_SWEEP_LOG, 60, SWEEP_LOG_WHY, SWEEP_AGAIN);
        set(TABLE_SWEEP_LOG, 60, SWEEP_LOG_REQUEST, 7);
        hand.count = 1;
        set(TABLE_MESSAGE, 7, MESSAGE_VISIBLE_AT, 5 + cases[i].wait);
        cr_expect_eq(tell(seen_pipeline, &seen), cases[i].clause, "case %zu", i);
    }
}

/* ---- the earlier ledger: claims and saves ----------------------------------------------------- */

Test(oracle_seen, a_worker_of_the_earlier_ledger_holds_its_claim_until_the_ack)
{
    PROVES(CLAUSE_LEG_3);
    static const struct act_case cases[] = {
        {"acked", FINE, {{CLAIM, 1, OK}, {STEP, 2, OK}, {ACK, 3, OK}, {OTHER, 4, OK}}},
        {"let go", CLAUSE_LEG_3, {{CLAIM, 1, OK}, {STEP, 2, OK}, {OTHER, 3, OK}}},
        {"let go when it was refused",
         CLAUSE_LEG_3,
         {{CLAIM, 1, OK}, {STEP, 2, REFUSED}, {OTHER, 3, OK}}},
        {"let go when it was told to try again",
         CLAUSE_LEG_3,
         {{CLAIM, 1, OK}, {STEP, 2, ABORTED}, {OTHER, 3, OK}}},
        {"let go and claimed again",
         CLAUSE_LEG_3,
         {{CLAIM, 1, OK}, {STEP, 2, OK}, {CLAIM, 30, OK}}},
        {"let go without knowing what had become of it",
         FINE,
         {{CLAIM, 1, OK}, {STEP, 2, UNTOLD}, {OTHER, 3, OK}}},
        {"which is known again with the next claim",
         CLAUSE_LEG_3,
         {{CLAIM, 1, OK}, {STEP, 2, LOST}, {OTHER, 3, OK}, {CLAIM, 30, OK}}},
        {"a claim that it was not told of", FINE, {{CLAIM, 1, UNTOLD}, {OTHER, 3, OK}}},
        {"claimed by another meanwhile", FINE, {{CLAIM, 1, OK}, {STOLEN, 22, OK}, {OTHER, 23, OK}}},
        {"started anew", FINE, {{CLAIM, 1, OK}, {STEP, 2, OK}, {OTHER, 3, BORN}}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        cr_expect_eq(play(seen_legacy, cases[i].steps, STEPS_MAX), cases[i].clause, "%s",
                     cases[i].name);
    }
}

/* A worker holds message 7, and commits without writing anything. */
Test(oracle_seen, what_is_saved_again_is_counted)
{
    PROVES(CLAUSE_LEG_12);
    static const struct {
        bool other, published, reads;
        enum clause_id clause;
    } cases[] = {{false, false, false, CLAUSE_LEG_12},
                 {true, false, false, FINE},
                 {false, true, false, FINE},
                 {false, false, true, FINE}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct observed seen = seen_at(5, OK);
        begin();
        put(TABLE_MESSAGE, 7);
        hand.count = 0;
        claim(7, 4);
        cr_expect_eq(tell(seen_legacy, &seen), FINE);
        put(TABLE_SAVED, 50);
        set(TABLE_SAVED, 50, SAVED_BY, expected_legacy_claim(7, 1 + cases[i].other));
        set(TABLE_SAVED, 50, SAVED_PUBLISHED, cases[i].published);
        cr_expect_eq(tell(seen_legacy, &seen), FINE);
        seen.only_read = cases[i].reads;
        cr_expect_eq(tell(seen_legacy, &seen), cases[i].clause, "case %zu", i);
    }
}

/* ---- seq: the run in hand --------------------------------------------------------------------- */

/* A worker took the lease of seq 100, as owner 5, and its next transaction commits. */
Test(oracle_seen, a_worker_goes_on_with_the_run_that_it_holds)
{
    PROVES(CLAUSE_SEQ_9);
    static const struct {
        const char *name;
        enum end taken, between; /* OK: nothing is between */
        bool reads, takes, lost, halted;
        enum clause_id clause;
    } cases[] = {{"looks for another", OK, OK, true, false, false, false, CLAUSE_SEQ_9},
                 {"takes another", OK, OK, false, true, false, false, CLAUSE_SEQ_9},
                 {"is to try again", OK, ABORTED, true, false, false, false, CLAUSE_SEQ_9},
                 {"reads its own once more", OK, OK, false, false, false, false, FINE},
                 {"was not told of it", UNTOLD, OK, true, false, false, false, FINE},
                 {"was not told of what followed", OK, LOST, false, false, false, false, FINE},
                 {"has lost it", OK, OK, false, true, true, false, FINE},
                 {"has nothing more to do", OK, OK, true, false, false, true, FINE}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct observed seen = seen_at(5, cases[i].taken);
        begin();
        put(TABLE_STAGE, 1);
        set(TABLE_STAGE, 1, STAGE_LEASE, 20);
        put(TABLE_SEQ, 100);
        put(TABLE_SEQ, 101);
        set(TABLE_SEQ, 100, SEQ_ATTEMPTS, 2);
        hand.count = 0;
        set(TABLE_SEQ, 100, SEQ_STATE, 2);
        set(TABLE_SEQ, 100, SEQ_OWNER, 5);
        cr_expect_eq(tell(seen_seq, &seen), FINE);
        if (cases[i].between != OK) {
            seen = seen_at(5, cases[i].between);
            cr_expect_eq(tell(seen_seq, &seen), FINE);
        }
        set(TABLE_STAGE, 1, STAGE_SEQ, cases[i].halted);
        set(TABLE_SEQ, 100, SEQ_ATTEMPTS, 2 + cases[i].lost);
        hand.count = 0;
        seen = seen_at(6, OK);
        seen.only_read = !cases[i].takes;
        if (cases[i].reads) {
            cr_expect_eq(tell(seen_seq, &seen), FINE, "%s", cases[i].name);
        }
        if (cases[i].takes) {
            set(TABLE_SEQ, 101, SEQ_STATE, 2);
            set(TABLE_SEQ, 101, SEQ_OWNER, 5);
        }
        cr_expect_eq(tell(seen_seq, &seen), cases[i].clause, "%s", cases[i].name);
    }
}

/* Twelve transactions in a row change nothing, and so does the next, unless it is one of them that does. */
Test(oracle_seen, a_seq_that_is_to_be_cancelled_is_not_passed_over)
{
    PROVES(CLAUSE_SEQ_15);
    static const struct {
        int64_t state, unwanted, asked;
        bool halted, acts;
        enum clause_id clause;
    } cases[] = {{1, 1, 0, false, false, CLAUSE_SEQ_15},
                 {2, 1, 0, false, false, CLAUSE_SEQ_15},
                 {2, 1, 43, false, false, CLAUSE_SEQ_15}, /* and its grace period is over */
                 {2, 1, 44, false, false, FINE},
                 {1, 0, 0, false, false, FINE},
                 {3, 1, 0, false, false, FINE},
                 {1, 1, 0, true, false, FINE},
                 {1, 1, 0, false, true, FINE}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        enum clause_id clause = FINE;
        begin();
        put(TABLE_STAGE, 1);
        set(TABLE_STAGE, 1, STAGE_LEASE, 20);
        set(TABLE_STAGE, 1, STAGE_GRACE, 7);
        set(TABLE_STAGE, 1, STAGE_SEQ, cases[i].halted);
        put(TABLE_SEQ, 100);
        set(TABLE_SEQ, 100, SEQ_STATE, cases[i].state);
        set(TABLE_SEQ, 100, SEQ_UNWANTED, cases[i].unwanted);
        set(TABLE_SEQ, 100, SEQ_CANCEL_AT, cases[i].asked);
        set(TABLE_SEQ, 100, SEQ_HEARTBEAT, 50);
        hand.count = 0;
        for (int look = 1; look <= 13; look++) {
            struct observed seen = seen_at(50, OK);
            seen.only_read = look % 2 != 0;
            if (look == 6 && cases[i].acts) {
                put(TABLE_SEQ, 101);
            }
            clause = tell(seen_seq, &seen);
            cr_expect(look == 13 || clause == FINE, "case %zu: look %d", i, look);
        }
        cr_expect_eq(clause, cases[i].clause, "case %zu", i);
    }
}

/* A heartbeat at 50 and a lease of 20; asked to end at 55, with 7 ticks for it. */
Test(oracle_seen, nobody_waits_beyond_a_lease_or_a_grace_period)
{
    PROVES(CLAUSE_SEQ_10, CLAUSE_SEQ_15);
    static const struct {
        int64_t state, asked, until;
        bool halted, opened;
        enum clause_id clause;
    } cases[] = {
        {2, 0, 70, false, true, FINE},  {2, 0, 71, false, true, CLAUSE_SEQ_10},
        {2, 55, 62, false, true, FINE}, {2, 55, 63, false, true, CLAUSE_SEQ_15},
        {3, 0, 71, false, true, FINE},  {2, 55, 71, true, true, FINE},
        {2, 0, 71, false, false, FINE},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        begin();
        if (cases[i].opened) {
            put(TABLE_STAGE, 1);
            set(TABLE_STAGE, 1, STAGE_LEASE, 20);
            set(TABLE_STAGE, 1, STAGE_GRACE, 7);
            set(TABLE_STAGE, 1, STAGE_SEQ, cases[i].halted);
        }
        put(TABLE_SEQ, 100);
        set(TABLE_SEQ, 100, SEQ_STATE, cases[i].state);
        set(TABLE_SEQ, 100, SEQ_CANCEL_AT, cases[i].asked);
        set(TABLE_SEQ, 100, SEQ_HEARTBEAT, 50);
        struct oracle_verdict verdict = seen_seq_idle(&oracle, &hand.rows, cases[i].until);
        cr_expect_eq(verdict.clause, cases[i].clause, "case %zu", i);
        cr_expect_eq(verdict.broken, cases[i].clause != FINE, "case %zu", i);
    }
}

Test(oracle_seen, a_lease_that_was_read_for_is_seen_when_its_run_goes_on)
{
    PROVES(CLAUSE_SEQ_8);
    SETTLES(ERRATUM_SEQ_11);
    static const struct {
        enum end end;
        uint64_t seen;
    } cases[] = {{OK, 0}, {UNTOLD, 1}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        run_all(
            &(struct run_case){.name = "a run",
                               .clause = FINE,
                               .steps = {{TAKE, 5, cases[i].end}, {GLANCE, 6, OK}, {BEAT, 7, OK}}},
            1);
        cr_expect_eq(oracle.seen[COVER_SEQ_LEASE_READ], cases[i].seen);
    }
}

/* ---- where clients cannot be seen ------------------------------------------------------------ */

Test(oracle_seen, extensions_and_tries_are_seen_of_clients_alone)
{
    for (int clause = 0; clause < CLAUSE_COUNT; clause++) {
        cr_expect_eq(oracle_needs_clients((enum clause_id)clause),
                     clause == CLAUSE_ACL_47 || clause == CLAUSE_ACL_48 ||
                         clause == CLAUSE_KEY_12 || clause == CLAUSE_BOX_3,
                     "%s", clause_get((enum clause_id)clause)->id);
    }
}
