/* The monitors of the key protocol. Which activities there are, what follows what, and what became
 * of each stands in rows of their own (places, events); the key claims to say the same in 15
 * digits. Every commit that touches a flow is judged whole, in this order:
 *
 *      KEY-9          a new flow is nines
 *      KEY-8, KEY-3   the key moved by changes that exist, and by one that is no skip; nothing
 *                     happened twice
 *      KEY-2, KEY-1   the key is one; each digit says what the events say, and these say what the
 *                     work of each activity came to, which stands in its place from the beginning
 *      KEY-8          nothing started before it was reached; who awaits a flow stays 8 until it
 *                     has ended, and then ends as it did (E-KEY-9)
 *      KEY-5          exactly those are skipped that nothing can reach any more
 *      KEY-10         completion tasks ran once, in the commit that left no active digit (E-KEY-7)
 *
 *      KEY-6          the status that is reported of a job is composed of the keys of its flows
 *      KEY-11         the work of what has ended was done, as the journal tells
 *      KEY-12         tries: seen_tries.c
 *
 * An edge is dead when its source errored, was skipped, or finished and decided against it. All is
 * read off the rows; only work outside them is remembered. Owns its digits: shares only the judge
 * of one key and one move (key.h). */
#include "model/oracle/key.h"
#include "model/oracle/seen.h"

#define POSITIONS  15
#define EVENT_LAST FLOW_SKIPPED

/* ---- memory: places whose work was done, and under which claims ------------------------------ */

enum { MEMORY_PLACE, MEMORY_CLAIM };

static struct judge begin(struct oracle *oracle, const struct rows *rows)
{
    struct judge judge;
    judge_begin(&judge, oracle, rows);
    size_t base = judge_remember(&judge, MEMORY_PLACE, 0, rows->table[TABLE_FLOW_PLACE].index_mask);
    judge_remember(&judge, MEMORY_CLAIM, base, rows->table[TABLE_MESSAGE].index_mask);
    return judge;
}

static size_t cells(const struct rows *rows)
{
    struct judge judge = begin(NULL, rows);
    return judge_cells(&judge, MEMORY_CLAIM);
}

static int memory_of(const struct rows *rows, size_t cell)
{
    struct judge judge = begin(NULL, rows);
    return judge_memory_of(&judge, MEMORY_CLAIM, cell);
}

/* ---- a flow as its rows tell it -------------------------------------------------------------- */

struct told {
    int64_t flow;
    uint32_t slot;
    int64_t key;
    int places;                              /* how many it has */
    int64_t place[POSITIONS];                /* id of its place */
    uint16_t next[POSITIONS];                /* a bit a child */
    bool awaits[POSITIONS];                  /* a flow of its own */
    int64_t ends[POSITIONS];                 /* what its work comes to */
    int64_t leaves[POSITIONS];               /* the children that its work decides against */
    int64_t runs[POSITIONS][EVENT_LAST + 1]; /* how often each happened */
    bool fresh[POSITIONS][EVENT_LAST + 1];   /* it happened in this commit */
    uint16_t untaken[POSITIONS];             /* children decided against */
    uint32_t foreign;                        /* an event that is none, or nowhere; ROW_NONE */
};

static bool member(uint16_t set, int position)
{
    return (set >> position & 1) != 0;
}

static bool is_position(int64_t value)
{
    return value >= 0 && value < POSITIONS;
}

static void tell_places(const struct rows *rows, struct told *told)
{
    for (uint32_t slot = 0; slot < rows->table[TABLE_FLOW_PLACE].used; slot++) {
        int64_t at = row_get(rows, TABLE_FLOW_PLACE, slot, FLOW_PLACE_POSITION);
        if (row_get(rows, TABLE_FLOW_PLACE, slot, FLOW_PLACE_FLOW) != told->flow ||
            !is_position(at)) {
            continue;
        }
        told->places++;
        told->place[at] = row_key(rows, TABLE_FLOW_PLACE, slot);
        told->next[at] = (uint16_t)row_get(rows, TABLE_FLOW_PLACE, slot, FLOW_PLACE_NEXT);
        told->awaits[at] = row_get(rows, TABLE_FLOW_PLACE, slot, FLOW_PLACE_AWAITS) != 0;
        told->ends[at] = row_get(rows, TABLE_FLOW_PLACE, slot, FLOW_PLACE_ENDS);
        told->leaves[at] = row_get(rows, TABLE_FLOW_PLACE, slot, FLOW_PLACE_LEAVES);
    }
}

static void tell_events(const struct rows *rows, struct told *told)
{
    for (uint32_t slot = 0; slot < rows->table[TABLE_FLOW_EVENT].used; slot++) {
        int64_t at = row_get(rows, TABLE_FLOW_EVENT, slot, FLOW_EVENT_POSITION);
        int64_t change = row_get(rows, TABLE_FLOW_EVENT, slot, FLOW_EVENT_CHANGE);
        if (row_get(rows, TABLE_FLOW_EVENT, slot, FLOW_EVENT_FLOW) != told->flow) {
            continue;
        }
        if (!is_position(at) || change < FLOW_STARTED || change > EVENT_LAST) {
            told->foreign = slot;
            continue;
        }
        told->runs[at][change] += row_get(rows, TABLE_FLOW_EVENT, slot, FLOW_EVENT_RUNS);
        told->untaken[at] |= (uint16_t)row_get(rows, TABLE_FLOW_EVENT, slot, FLOW_EVENT_UNTAKEN);
    }
}

static struct told tell(const struct rows *rows, int64_t flow, uint32_t slot)
{
    struct told told = {.flow = flow, .slot = slot, .foreign = ROW_NONE};
    told.key = row_get(rows, TABLE_FLOW, slot, FLOW_KEY);
    tell_places(rows, &told);
    tell_events(rows, &told);
    return told;
}

/* What this commit recorded. */
static void tell_fresh(const struct rows *rows, struct told *told, const struct row_change *changes,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t slot = changes[i].slot;
        if (changes[i].table != TABLE_FLOW_EVENT ||
            row_get(rows, TABLE_FLOW_EVENT, slot, FLOW_EVENT_FLOW) != told->flow) {
            continue;
        }
        int64_t at = row_get(rows, TABLE_FLOW_EVENT, slot, FLOW_EVENT_POSITION);
        int64_t change = row_get(rows, TABLE_FLOW_EVENT, slot, FLOW_EVENT_CHANGE);
        if (is_position(at) && change >= FLOW_STARTED && change <= EVENT_LAST) {
            told->fresh[at][change] = true;
        }
    }
}

static bool happened(const struct told *told, int position, enum flow_event event)
{
    return told->runs[position][event] > 0;
}

/* Its work is finished, whatever came after. */
static bool finished(const struct told *told, int position)
{
    return happened(told, position, FLOW_COMPLETED) || happened(told, position, FLOW_HELD);
}

static int digit_of(int64_t key, int position)
{
    for (int i = position + 1; i < POSITIONS; i++) {
        key /= 10;
    }
    return (int)(key % 10);
}

/* KEY-1, the other way round: the digit that the events ask for. */
static int true_digit(const struct told *told, int position)
{
    if (position >= told->places) {
        return 0;
    }
    bool paused = happened(told, position, FLOW_PAUSED) || happened(told, position, FLOW_HELD);
    return happened(told, position, FLOW_SKIPPED)    ? 3
           : happened(told, position, FLOW_RELEASED) ? 4
           : paused                                  ? 5
           : finished(told, position)                ? 6
           : happened(told, position, FLOW_ERRORED)  ? 7
           : happened(told, position, FLOW_STARTED)  ? 8
                                                     : 9;
}

/* ---- single promises ------------------------------------------------------------------------- */

static void breach(struct judge *judge, enum oracle_name who, enum clause_id clause,
                   const struct told *told, const char *why)
{
    judge_breach(judge, who, clause, TABLE_FLOW, told->slot, why);
}

static void pass_on(struct judge *judge, const struct told *told, struct oracle_verdict verdict)
{
    if (verdict.broken) {
        breach(judge, ORACLE_KEY, verdict.clause, told, verdict.why);
    }
}

static void judge_digits(struct judge *judge, const struct told *told)
{
    judge_held(judge, CLAUSE_KEY_1);
    pass_on(judge, told, oracle_key_value(told->key));
    if (told->foreign != ROW_NONE) {
        judge_breach(judge, ORACLE_FLOW, CLAUSE_KEY_1, TABLE_FLOW_EVENT, told->foreign,
                     "something happened that no digit stands for");
    }
    for (int i = 0; i < POSITIONS; i++) {
        if (digit_of(told->key, i) != true_digit(told, i)) {
            breach(judge, ORACLE_KEY, CLAUSE_KEY_1, told,
                   "a digit does not say what happened to its activity");
        }
    }
}

/* What the work came to is known from the beginning; only an activity that awaits a flow may fail
 * instead, and judge_awaiter says when. */
static void judge_work(struct judge *judge, const struct told *told)
{
    static const enum flow_event results[] = {FLOW_ERRORED, FLOW_COMPLETED, FLOW_HELD};
    for (int i = 0; i < told->places; i++) {
        for (size_t r = 0; r < COUNT(results); r++) {
            bool failed_below = results[r] == FLOW_ERRORED && told->awaits[i];
            if (happened(told, i, results[r]) && told->ends[i] != results[r] && !failed_below) {
                breach(judge, ORACLE_FLOW, CLAUSE_KEY_1, told,
                       "an activity ended otherwise than its work did");
            }
        }
        if (finished(told, i) && told->untaken[i] != told->leaves[i]) {
            breach(judge, ORACLE_FLOW, CLAUSE_KEY_1, told,
                   "an activity took other branches than its work decided for");
        }
    }
}

/* Each change of an activity is made once: the second would be impossible (KEY-8). */
static void judge_once(struct judge *judge, const struct told *told)
{
    for (int i = 0; i < POSITIONS; i++) {
        for (int change = FLOW_STARTED; change <= EVENT_LAST; change++) {
            if (told->runs[i][change] > 1) {
                breach(judge, ORACLE_FLOW, CLAUSE_KEY_8, told,
                       "a change that had been made was made again");
            }
        }
    }
}

/* An edge along which nothing can come any more. */
static bool is_dead(const struct told *told, int from, int to)
{
    return happened(told, from, FLOW_ERRORED) || happened(told, from, FLOW_SKIPPED) ||
           (finished(told, from) && member(told->untaken[from], to));
}

/* The edges to an activity: how many there are, are dead, and have brought what they ever will. */
struct ways {
    int all, dead, settled;
};

static struct ways ways_to(const struct told *told, int to)
{
    struct ways ways = {0};
    for (int from = 0; from < POSITIONS; from++) {
        if (member(told->next[from], to)) {
            bool passed = happened(told, from, FLOW_COMPLETED) ||
                          happened(told, from, FLOW_RELEASED); /* held: not before it is released */
            ways.all++;
            ways.dead += is_dead(told, from, to);
            ways.settled += passed || is_dead(told, from, to);
        }
    }
    return ways;
}

static void judge_reached(struct judge *judge, const struct told *told)
{
    for (int i = 0; i < told->places; i++) {
        struct ways ways = ways_to(told, i);
        bool started = happened(told, i, FLOW_STARTED);
        if (started && (ways.settled < ways.all || (ways.all > 0 && ways.dead == ways.all))) {
            breach(judge, ORACLE_FLOW, CLAUSE_KEY_8, told,
                   "an activity was started before the flow had come to it");
        }
    }
}

static void judge_skips(struct judge *judge, const struct told *told)
{
    for (int i = 0; i < told->places; i++) {
        struct ways ways = ways_to(told, i);
        bool unreachable = ways.all > 0 && ways.dead == ways.all;
        bool skipped = happened(told, i, FLOW_SKIPPED);
        if (unreachable || skipped) {
            judge_held(judge, CLAUSE_KEY_5);
        }
        if (unreachable && !skipped && !happened(told, i, FLOW_STARTED)) {
            breach(judge, ORACLE_FLOW, CLAUSE_KEY_5, told,
                   "nothing can reach an activity any more, and it was not skipped");
        }
        if (skipped && !unreachable) {
            breach(judge, ORACLE_FLOW, CLAUSE_KEY_5, told,
                   "an activity was skipped that could still be reached");
        }
    }
}

static bool has_end(const struct rows *rows, int64_t flow, uint32_t *found)
{
    for (uint32_t slot = 0; slot < rows->table[TABLE_FLOW_END].used; slot++) {
        if (row_get(rows, TABLE_FLOW_END, slot, FLOW_END_FLOW) == flow) {
            *found = slot;
            return true;
        }
    }
    return false;
}

static void judge_end(struct judge *judge, const struct told *told)
{
    const struct rows *rows = judge->rows;
    uint32_t end = ROW_NONE;
    bool complete = oracle_key_complete(told->key), ended = has_end(rows, told->flow, &end);
    if (complete || ended) {
        judge_held(judge, CLAUSE_KEY_10);
    }
    if (complete && !ended) {
        breach(judge, ORACLE_KEY, CLAUSE_KEY_10, told,
               "a flow became complete and its completion tasks did not run");
    }
    if (ended && !complete) {
        breach(judge, ORACLE_KEY, CLAUSE_KEY_10, told,
               "completion tasks ran of a flow that has active digits");
    }
    if (ended && row_get(rows, TABLE_FLOW_END, end, FLOW_END_RUNS) != 1) {
        breach(judge, ORACLE_KEY, CLAUSE_KEY_10, told, "completion tasks ran more than once");
    }
    if (ended && row_get(rows, TABLE_FLOW_END, end, FLOW_END_KEY) != told->key) {
        breach(judge, ORACLE_KEY, CLAUSE_KEY_10, told,
               "completion was decided on another key than the change left");
    }
}

/* ---- who awaits a flow (E-KEY-9) ------------------------------------------------------------- */

static int awaited_by(const struct rows *rows, int64_t flow, int position, uint32_t *found)
{
    int count = 0;
    for (uint32_t slot = 0; slot < rows->table[TABLE_FLOW].used; slot++) {
        if (row_get(rows, TABLE_FLOW, slot, FLOW_PARENT) == flow &&
            row_get(rows, TABLE_FLOW, slot, FLOW_AWAITER) == position) {
            *found = slot;
            count++;
        }
    }
    return count;
}

static void judge_awaiter(struct judge *judge, const struct told *told, int position)
{
    uint32_t awaited = ROW_NONE, end;
    bool started = happened(told, position, FLOW_STARTED);
    bool over = finished(told, position) || happened(told, position, FLOW_ERRORED);
    int count = awaited_by(judge->rows, told->flow, position, &awaited);
    if (count != (started ? 1 : 0)) {
        breach(judge, ORACLE_FLOW, CLAUSE_KEY_8, told,
               "an activity that awaits a flow began none, or not one, or not when it started");
        return;
    }
    if (!over) {
        return;
    }
    if (!has_end(judge->rows, row_key(judge->rows, TABLE_FLOW, awaited), &end)) {
        breach(judge, ORACLE_FLOW, CLAUSE_KEY_8, told,
               "an activity went on while the flow that it awaits was active");
        return;
    }
    bool in_error = oracle_key_in_error(row_get(judge->rows, TABLE_FLOW_END, end, FLOW_END_KEY));
    if (in_error && finished(told, position)) {
        breach(judge, ORACLE_FLOW, CLAUSE_KEY_8, told,
               "an activity completed although the flow that it awaits ended in error");
    }
    if (!in_error && told->ends[position] != FLOW_ERRORED &&
        happened(told, position, FLOW_ERRORED)) {
        breach(judge, ORACLE_FLOW, CLAUSE_KEY_8, told,
               "an activity failed although the flow that it awaits did not");
    }
}

static void judge_awaiters(struct judge *judge, const struct told *told)
{
    for (int i = 0; i < told->places; i++) {
        if (told->awaits[i]) {
            judge_awaiter(judge, told, i);
        }
    }
}

/* ---- work outside rows (KEY-11) -------------------------------------------------------------- */

static void judge_done(struct judge *judge, const struct told *told)
{
    for (int i = 0; i < told->places; i++) {
        bool ended = told->fresh[i][FLOW_COMPLETED] || told->fresh[i][FLOW_HELD] ||
                     told->fresh[i][FLOW_ERRORED];
        if (ended && !told->awaits[i]) { /* the work of one that awaits a flow is that flow */
            int64_t done = memory_get(judge, MEMORY_PLACE, told->place[i], JUDGE_MEMO_FLAGS);
            judge_that(judge, done != 0, ORACLE_JOURNAL, CLAUSE_KEY_11, TABLE_FLOW, told->slot,
                       "an activity ended whose work nobody had done");
        }
    }
}

/* A worker did an activity's work. */
static struct oracle_verdict effect(struct oracle *oracle, const struct rows *rows,
                                    const struct side_effect *effect)
{
    struct judge judge = begin(oracle, rows);
    uint32_t slot = judge_claimed(&judge, MEMORY_CLAIM, effect, CLAUSE_KEY_11);
    uint32_t place = row_find(rows, TABLE_FLOW_PLACE, effect->what);
    bool own = slot != ROW_NONE && place != ROW_NONE &&
               row_get(rows, TABLE_MESSAGE, slot, MESSAGE_KIND) == FLOW_RUN &&
               row_get(rows, TABLE_MESSAGE, slot, MESSAGE_JOB) ==
                   row_get(rows, TABLE_FLOW_PLACE, place, FLOW_PLACE_FLOW) &&
               row_get(rows, TABLE_MESSAGE, slot, MESSAGE_NODE) ==
                   row_get(rows, TABLE_FLOW_PLACE, place, FLOW_PLACE_POSITION);
    if (own) {
        memory_flag(&judge, MEMORY_PLACE, effect->what, 1);
    } else if (slot != ROW_NONE) {
        judge_breach(&judge, ORACLE_JOURNAL, CLAUSE_KEY_11, TABLE_MESSAGE, slot,
                     "the work of another activity was done than of the one that was claimed");
    }
    return judge.verdict;
}

/* ---- a flow as it stands --------------------------------------------------------------------- */

static void judge_state(struct judge *judge, const struct told *told)
{
    judge_once(judge, told);
    judge_digits(judge, told);
    judge_work(judge, told);
    judge_reached(judge, told);
    judge_awaiters(judge, told);
    judge_skips(judge, told);
    judge_end(judge, told);
}

/* ---- what the scenario asks for -------------------------------------------------------------- */

static void expect(const struct document *scenario, struct expectation *expected)
{
    expected_flow_read(scenario, &expected->of.flow);
}

/* The flow of the scenario that it is a run of, and in which case; NULL: none, or not asked. */
static const struct expected_flow *asked_flow(const struct judge *judge, uint32_t slot, int *at)
{
    int64_t shape = row_get(judge->rows, TABLE_FLOW, slot, FLOW_SHAPE);
    int64_t number = row_get(judge->rows, TABLE_FLOW, slot, FLOW_CASE);
    if (judge->oracle->expected == NULL) {
        return NULL;
    }
    const struct expected_flows *expected = &judge->oracle->expected->of.flow;
    bool is_there =
        shape >= 0 && shape < expected->flows && number >= 0 && number < expected->cases;
    *at = is_there ? (int)number : 0;
    return is_there ? &expected->flow[shape] : NULL;
}

/* Whether the activity that awaits this run awaits such a flow, in this case. */
static bool awaiter_asks(const struct judge *judge, uint32_t slot, int64_t parent)
{
    const struct rows *rows = judge->rows;
    uint32_t above = row_find(rows, TABLE_FLOW, parent);
    int64_t position = row_get(rows, TABLE_FLOW, slot, FLOW_AWAITER);
    int at;
    const struct expected_flow *flow = above == ROW_NONE ? NULL : asked_flow(judge, above, &at);
    return flow != NULL && position >= 0 && position < flow->places &&
           flow->place[position].awaits == row_get(rows, TABLE_FLOW, slot, FLOW_SHAPE) &&
           at == row_get(rows, TABLE_FLOW, slot, FLOW_CASE);
}

/* A new run was asked for, and its places are the flow's activities in ascending order, each with
 * the outcome of its work in this case. */
static void judge_asked(struct judge *judge, const struct told *told)
{
    int at;
    const struct expected_flow *flow = asked_flow(judge, told->slot, &at);
    int64_t parent = row_get(judge->rows, TABLE_FLOW, told->slot, FLOW_PARENT);
    if (judge->oracle->expected == NULL) {
        return;
    }
    judge_held(judge, CLAUSE_KEY_2);
    if (flow == NULL || (parent != 0 && !awaiter_asks(judge, told->slot, parent))) {
        breach(judge, ORACLE_FLOW, CLAUSE_KEY_10, told, "a flow began that nobody asked for");
        return;
    }
    bool same = told->places == flow->places;
    for (int i = 0; same && i < flow->places; i++) {
        const struct expected_place *place = &flow->place[i];
        int64_t ends = (place->errors >> at & 1) != 0  ? FLOW_ERRORED
                       : (place->holds >> at & 1) != 0 ? FLOW_HELD
                                                       : FLOW_COMPLETED;
        same = told->next[i] == place->next && told->awaits[i] == (place->awaits >= 0);
        if (same && (told->ends[i] != ends || told->leaves[i] != expected_flow_leaves(place, at))) {
            breach(judge, ORACLE_FLOW, CLAUSE_KEY_1, told,
                   "an activity is to end, or to branch, otherwise than its case says");
        }
    }
    if (!same) {
        breach(judge, ORACLE_FLOW, CLAUSE_KEY_2, told,
               "a flow's activities are not those of the scenario in ascending order");
    }
}

/* A message about pausing the activity at this place was published in this commit. */
static bool asks_for_pause(const struct rows *rows, const struct row_change *changes, size_t count,
                           const struct told *told, int position)
{
    for (size_t i = 0; i < count; i++) {
        if (changes[i].table == TABLE_MESSAGE && changes[i].kind == ROW_INSERTED &&
            row_get(rows, TABLE_MESSAGE, changes[i].slot, MESSAGE_KIND) == FLOW_PAUSE &&
            row_get(rows, TABLE_MESSAGE, changes[i].slot, MESSAGE_JOB) == told->flow &&
            row_get(rows, TABLE_MESSAGE, changes[i].slot, MESSAGE_NODE) == position) {
            return true;
        }
    }
    return false;
}

/* A completed activity that is to be paused is asked to, in the same commit. */
static void judge_pauses(struct judge *judge, const struct told *told,
                         const struct row_change *changes, size_t count)
{
    int at;
    const struct expected_flow *flow = asked_flow(judge, told->slot, &at);
    for (int i = 0; flow != NULL && i < flow->places; i++) {
        if (told->fresh[i][FLOW_COMPLETED] && (flow->place[i].pauses >> at & 1) != 0 &&
            !oracle_key_complete(told->key) &&
            !asks_for_pause(judge->rows, changes, count, told, i)) {
            breach(judge, ORACLE_FLOW, CLAUSE_KEY_3, told,
                   "an activity that is to be paused completed, and nobody was asked to pause it");
        }
    }
}

/* A request to pause an activity is acked once the activity was paused or its flow is complete. */
static void judge_pause_acked(struct judge *judge, uint32_t message)
{
    const struct rows *rows = judge->rows;
    int64_t flow = row_get(rows, TABLE_MESSAGE, message, MESSAGE_JOB);
    int64_t position = row_get(rows, TABLE_MESSAGE, message, MESSAGE_NODE);
    uint32_t slot = row_find(rows, TABLE_FLOW, flow);
    if (row_get(rows, TABLE_MESSAGE, message, MESSAGE_KIND) != FLOW_PAUSE || slot == ROW_NONE ||
        !is_position(position)) {
        return;
    }
    int64_t key = row_get(rows, TABLE_FLOW, slot, FLOW_KEY);
    judge_held(judge, CLAUSE_KEY_3);
    if (!oracle_key_complete(key) && digit_of(key, (int)position) >= 6) {
        judge_breach(judge, ORACLE_FLOW, CLAUSE_KEY_3, TABLE_FLOW, slot,
                     "a request to pause an activity was acked, and nothing was paused");
    }
}

/* ---- one commit ------------------------------------------------------------------------------ */

static void judge_birth(struct judge *judge, const struct told *told)
{
    judge_held(judge, CLAUSE_KEY_9);
    for (int i = 0; i < POSITIONS; i++) {
        if (told->places == 0 || digit_of(told->key, i) != (i < told->places ? 9 : 0)) {
            breach(judge, ORACLE_KEY, CLAUSE_KEY_9, told,
                   "a flow did not start with a nine for each of its activities");
        }
    }
}

/* The key's move over the whole commit. */
static void judge_move(struct judge *judge, const struct told *told,
                       const struct row_change *changes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (changes[i].table != TABLE_FLOW || changes[i].slot != told->slot) {
            continue;
        }
        if (changes[i].kind == ROW_INSERTED) {
            judge_birth(judge, told);
            judge_asked(judge, told);
            return;
        }
        if (changes[i].kind == ROW_UPDATED && changes[i].column == FLOW_KEY) {
            judge_held(judge, CLAUSE_KEY_8);
            pass_on(judge, told, oracle_key_move(changes[i].before, told->key));
            return;
        }
    }
}

static void see_skip(struct judge *judge, const struct told *told, int position)
{
    bool with_parent = false, error = false;
    for (int from = 0; from < POSITIONS; from++) {
        bool above = member(told->next[from], position);
        with_parent = with_parent || (above && told->fresh[from][FLOW_SKIPPED]);
        error = error || told->fresh[from][FLOW_ERRORED];
    }
    if (with_parent) {
        judge_see(judge, COVER_SKIP_CHAIN);
    }
    if (ways_to(told, position).all > 1) {
        judge_see(judge, COVER_SKIP_JOIN);
    }
    if (error) {
        judge_see(judge, COVER_SKIP_ERROR);
    }
}

static void see_skips(struct judge *judge, const struct told *told)
{
    for (int from = 0; from < POSITIONS; from++) {
        if (!told->fresh[from][FLOW_SKIPPED]) {
            continue;
        }
        see_skip(judge, told, from);
        for (int to = 0; to < told->places; to++) {
            if (member(told->next[from], to) && digit_of(told->key, to) == 9) {
                judge_see(judge, COVER_SKIP_SPARES);
            }
        }
    }
}

static void see_moves(struct judge *judge, const struct told *told)
{
    for (int at = 0; at < told->places; at++) {
        for (int change = FLOW_STARTED; change <= EVENT_LAST; change++) {
            if (told->fresh[at][change]) {
                judge_see(judge, (enum oracle_cover)(COVER_KEY_STARTED + change - FLOW_STARTED));
            }
        }
    }
}

/* The flow that a changed row is about; 0: none. */
static int64_t flow_of(const struct rows *rows, const struct row_change *change)
{
    switch ((int)change->table) {
    case TABLE_FLOW:
        return row_key(rows, TABLE_FLOW, change->slot);
    case TABLE_FLOW_PLACE:
        return row_get(rows, TABLE_FLOW_PLACE, change->slot, FLOW_PLACE_FLOW);
    case TABLE_FLOW_EVENT:
        return row_get(rows, TABLE_FLOW_EVENT, change->slot, FLOW_EVENT_FLOW);
    case TABLE_FLOW_END:
        return row_get(rows, TABLE_FLOW_END, change->slot, FLOW_END_FLOW);
    default:
        return 0;
    }
}

static bool was_judged(const struct rows *rows, const struct row_change *changes, size_t before,
                       int64_t flow)
{
    for (size_t i = 0; i < before; i++) {
        if (flow_of(rows, &changes[i]) == flow) {
            return true;
        }
    }
    return false;
}

/* Only a flow that is awaited has another one to resume (E-KEY-7). */
static void judge_resumed(struct judge *judge, uint32_t message)
{
    const struct rows *rows = judge->rows;
    if (row_get(rows, TABLE_MESSAGE, message, MESSAGE_KIND) == FLOW_RESUME &&
        row_find(rows, TABLE_FLOW, row_get(rows, TABLE_MESSAGE, message, MESSAGE_JOB)) ==
            ROW_NONE) {
        judge_breach(judge, ORACLE_FLOW, CLAUSE_KEY_10, TABLE_MESSAGE, message,
                     "a flow that none awaits resumed another one");
    }
}

static struct oracle_verdict commit(struct oracle *oracle, const struct rows *rows,
                                    const struct row_change *changes, size_t count)
{
    struct judge judge = begin(oracle, rows);
    for (size_t i = 0; i < count; i++) {
        int64_t flow = flow_of(rows, &changes[i]);
        if (changes[i].table == TABLE_MESSAGE && changes[i].kind == ROW_DELETED) {
            judge_pause_acked(&judge, changes[i].slot);
        } else if (changes[i].table == TABLE_MESSAGE && changes[i].kind == ROW_INSERTED) {
            judge_resumed(&judge, changes[i].slot);
        }
        if (flow == 0 || was_judged(rows, changes, i, flow)) {
            continue;
        }
        uint32_t slot = row_find(rows, TABLE_FLOW, flow);
        if (slot == ROW_NONE || changes[i].kind == ROW_DELETED) {
            judge_breach(&judge, ORACLE_FLOW, CLAUSE_KEY_1, (enum row_table)changes[i].table,
                         changes[i].slot, "what a flow is made of is not there");
            continue;
        }
        struct told told = tell(rows, flow, slot);
        tell_fresh(rows, &told, changes, count);
        judge_move(&judge, &told, changes, count);
        judge_pauses(&judge, &told, changes, count);
        judge_state(&judge, &told);
        judge_done(&judge, &told);
        see_skips(&judge, &told);
        see_moves(&judge, &told);
    }
    return judge.verdict;
}

/* ---- in the end ------------------------------------------------------------------------------ */

/* Every run ended, with the digits that its case asks for. */
static void judge_run(struct judge *judge, uint32_t slot)
{
    uint32_t end;
    int at;
    const struct expected_flow *flow = asked_flow(judge, slot, &at);
    int64_t key = row_get(judge->rows, TABLE_FLOW, slot, FLOW_KEY);
    bool right = true;
    for (int i = 0; flow != NULL && i < flow->places; i++) {
        right = right && expected_flow_ends(&flow->place[i], at, digit_of(key, i));
    }
    judge_held(judge, CLAUSE_KEY_10);
    if (!has_end(judge->rows, row_key(judge->rows, TABLE_FLOW, slot), &end)) {
        judge_breach(judge, ORACLE_FLOW, CLAUSE_KEY_10, TABLE_FLOW, slot,
                     "a flow began and no change ever completed it");
    } else if (!right) {
        judge_breach(judge, ORACLE_FLOW, CLAUSE_KEY_10, TABLE_FLOW, slot,
                     "a flow ended otherwise than its case asks for");
    }
}

/* Each job's flow began, in the case that is its turn, and no other did by itself. */
static void judge_jobs(struct judge *judge, const struct expected_flows *expected)
{
    const struct rows *rows = judge->rows;
    int64_t begun = 0;
    for (uint32_t slot = 0; slot < rows->table[TABLE_FLOW].used; slot++) {
        begun += row_get(rows, TABLE_FLOW, slot, FLOW_PARENT) == 0;
    }
    for (int64_t job = 0; job < expected->jobs; job++) {
        uint32_t slot = row_find(rows, TABLE_FLOW, expected_flow_id(job));
        judge_held(judge, CLAUSE_KEY_10);
        if (slot == ROW_NONE || begun != expected->jobs) {
            judge_breach(judge, ORACLE_FLOW, CLAUSE_KEY_10, TABLE_COUNT, ROW_NONE,
                         "a flow that was asked for never began, or one began that was not");
        } else if (row_get(rows, TABLE_FLOW, slot, FLOW_SHAPE) != 0 ||
                   row_get(rows, TABLE_FLOW, slot, FLOW_CASE) != job % expected->cases) {
            judge_breach(judge, ORACLE_FLOW, CLAUSE_KEY_10, TABLE_FLOW, slot,
                         "a job ran another flow, or in another case, than it asked for");
        }
    }
}

/* KEY-10: exactly one change sees the completion, so in the end one has. */
static struct oracle_verdict settled(struct oracle *oracle, const struct rows *rows, bool quiet)
{
    struct judge judge;
    judge_begin(&judge, oracle, rows);
    judge_quiet(&judge, quiet, ORACLE_FLOW, CLAUSE_KEY_10);
    for (uint32_t slot = 0; slot < rows->table[TABLE_FLOW].used; slot++) {
        judge_run(&judge, slot);
    }
    if (oracle->expected != NULL) {
        judge_jobs(&judge, &oracle->expected->of.flow);
    }
    return judge.verdict;
}

/* ---- what is reported ------------------------------------------------------------------------ */

#define DEPTH_MAX 16 /* of flows that await each other: more is no tree */

/* A text that is compared with what it should be, character by character. */
struct reading {
    const char *at;
    bool same;
};

static void expect_next(struct reading *reading, char c)
{
    reading->same = reading->same && *reading->at == c;
    reading->at += *reading->at != '\0';
}

/* The digits of a flow, and behind that of an activity which awaits one, in parentheses, those of that
 * flow. Positions behind the last activity have no digit. */
static void read_flow(struct reading *reading, const struct rows *rows, uint32_t slot, int depth)
{
    int64_t flow = row_key(rows, TABLE_FLOW, slot), key = row_get(rows, TABLE_FLOW, slot, FLOW_KEY);
    for (int i = 0; i < POSITIONS && digit_of(key, i) != 0; i++) {
        uint32_t below = ROW_NONE;
        expect_next(reading, (char)('0' + digit_of(key, i)));
        if (awaited_by(rows, flow, i, &below) > 0 && depth < DEPTH_MAX) {
            expect_next(reading, '1');
            read_flow(reading, rows, below, depth + 1);
            expect_next(reading, '2');
        }
    }
}

/* KEY-6 */
static struct oracle_verdict reported(struct oracle *oracle, const struct rows *rows, int64_t job,
                                      const char *text)
{
    struct judge judge;
    struct reading reading = {.at = text, .same = true};
    uint32_t slot = row_find(rows, TABLE_FLOW, job);
    judge_begin(&judge, oracle, rows);
    if (slot != ROW_NONE) {
        read_flow(&reading, rows, slot, 0);
    }
    judge_that(
        &judge, slot != ROW_NONE && reading.same && *reading.at == '\0', ORACLE_FLOW, CLAUSE_KEY_6,
        TABLE_FLOW, slot,
        "the status that is reported of a flow and those that it awaits is not that of their rows");
    return judge.verdict;
}

/* All flows as they stand, whatever came before. */
static struct oracle_verdict recheck(struct oracle *oracle, const struct rows *rows)
{
    struct judge judge;
    judge_begin(&judge, oracle, rows);
    for (uint32_t slot = 0; slot < rows->table[TABLE_FLOW].used; slot++) {
        struct told told = tell(rows, row_key(rows, TABLE_FLOW, slot), slot);
        judge_state(&judge, &told);
    }
    return judge.verdict;
}

const struct monitors monitors_flow = {.expect = expect,
                                       .cells = cells,
                                       .memories = {[MEMORY_CLAIM] = JUDGE_CLAIMS_MEMORY},
                                       .memory_of = memory_of,
                                       .commit = commit,
                                       .effect = effect,
                                       .granted = judge_granted,
                                       .transaction = seen_key,
                                       .whole = CLAUSE_KEY_8,
                                       .whole_by = ORACLE_KEY,
                                       .settled = settled,
                                       .reported = reported,
                                       .recheck = recheck};
