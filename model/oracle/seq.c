#include "model/oracle/seq.h"

#include "model/check.h"

/* Who may move a seq from the state of the row to the state of the column:
 *   o dispatcher or committer   t taker of the lease           w worker, by its token
 *   f worker or reclaimer       r reclaimer, before its event  c canceller
 *   = no move                   . nobody: illegal */
static const char contract[ORACLE_SEQ_STATES][ORACLE_SEQ_STATES + 1] = {
    /*                01234567 */
    /* UNSEEN     */ ".o......",
    /* DISPATCHED */ "..t...c.",
    /* IN_FLIGHT  */ "...wwfc.",
    /* SUCCESS    */ ".......o",
    /* SKIP       */ ".......o",
    /* FAIL       */ ".r.....o",
    /* CANCEL     */ ".......o",
    /* COMMITTED  */ ".......=",
};

/* Whose letters are whose; nobody's letter is a full stop or the end of the text. */
static const char letters[ORACLE_SEQ_BY_COUNT][3] = {
    [ORACLE_SEQ_BY_ORDER] = "o=",  [ORACLE_SEQ_BY_TAKE] = "t",   [ORACLE_SEQ_BY_HEARTBEAT] = "",
    [ORACLE_SEQ_BY_FINISH] = "wf", [ORACLE_SEQ_BY_CANCEL] = "c", [ORACLE_SEQ_BY_RECLAIM] = "f",
    [ORACLE_SEQ_BY_RETRY] = "r",
};

static bool may(enum oracle_seq_by by, char cell)
{
    return letters[by][0] == cell || letters[by][1] == cell;
}

enum oracle_seq_pair oracle_seq_pair(enum oracle_seq_state from, enum oracle_seq_state to)
{
    CHECK(from < ORACLE_SEQ_STATES && to < ORACLE_SEQ_STATES);
    char cell = contract[from][to];
    return cell == '.' ? ORACLE_SEQ_ILLEGAL : cell == '=' ? ORACLE_SEQ_NO_MOVE : ORACLE_SEQ_LEGAL;
}

/* ---- the kinds of step --------------------------------------------------------------------- */

static bool stays_in_flight(const struct oracle_seq_step *step)
{
    return step->from == ORACLE_SEQ_IN_FLIGHT && step->to == ORACLE_SEQ_IN_FLIGHT;
}

/* A cancel that was asked of a run, or the run's own heartbeat. */
static bool keeps_the_run(const struct oracle_seq_step *step)
{
    return stays_in_flight(step) &&
           (step->by == ORACLE_SEQ_BY_HEARTBEAT || step->by == ORACLE_SEQ_BY_CANCEL);
}

static bool retries(const struct oracle_seq_step *step)
{
    return step->from == ORACLE_SEQ_FAIL && step->to == ORACLE_SEQ_DISPATCHED;
}

static bool fails(const struct oracle_seq_step *step)
{
    return step->from != step->to && step->to == ORACLE_SEQ_FAIL;
}

static bool ends(const struct oracle_seq_step *step) /* (OQ3) */
{
    return step->from != step->to && ORACLE_SEQ_SUCCESS <= step->to &&
           step->to <= ORACLE_SEQ_CANCEL && !(fails(step) && step->waits);
}

static bool has_token(const struct oracle_seq *seq, const struct oracle_seq_step *step)
{
    return step->actor == seq->owner && step->token == seq->attempt;
}

/* ---- the promises -------------------------------------------------------------------------- */

static struct oracle_verdict judge_lease(const struct oracle_seq *seq,
                                         const struct oracle_seq_step *step)
{
    bool beats = step->by == ORACLE_SEQ_BY_HEARTBEAT;
    bool takes = step->by == ORACLE_SEQ_BY_TAKE;
    bool stays = stays_in_flight(step);
    bool enters = step->to == ORACLE_SEQ_IN_FLIGHT && !stays;
    bool moved = step->heartbeat_ms != seq->heartbeat_ms;
    const struct oracle_verdict promises[] = {
        {beats && !stays, CLAUSE_SEQ_19, "a heartbeat moved a seq that is not in flight"},
        {beats && !has_token(seq, step), CLAUSE_SEQ_19, "a heartbeat came without the lease"},
        {stays && step->heartbeat_ms < seq->heartbeat_ms, CLAUSE_SEQ_19, "a heartbeat went back"},
        {stays && !beats && !takes && moved, CLAUSE_SEQ_19, "a heartbeat moved without progress"},
        {takes && seq->owner != 0, CLAUSE_SEQ_8, "a lease was taken that an owner holds already"},
        {enters && !takes, CLAUSE_SEQ_8, "a seq went in flight without its lease being taken"},
        {enters && (step->owner == 0 || step->owner != step->actor), CLAUSE_SEQ_8,
         "a seq went in flight in other hands than its owner's"},
        {stays && step->owner != seq->owner, CLAUSE_SEQ_8, "a lease changed hands during a run"},
    };
    return oracle_first_broken(promises, ORACLE_COUNT(promises));
}

static struct oracle_verdict judge_move(const struct oracle_seq *seq,
                                        const struct oracle_seq_policy *policy,
                                        const struct oracle_seq_step *step)
{
    char cell = contract[step->from][step->to];
    bool allowed = keeps_the_run(step) || may(step->by, cell);
    bool late = step->by == ORACLE_SEQ_BY_FINISH && !has_token(seq, step);
    bool expired =
        step->now_ms >= seq->heartbeat_ms && step->now_ms - seq->heartbeat_ms >= policy->lease_ms;
    const struct oracle_verdict promises[] = {
        {!keeps_the_run(step) && cell == '.', CLAUSE_SEQ_3, "an illegal transition was made"},
        {cell == 'r' && seq->event_out, CLAUSE_SEQ_6,
         "a failure was retried whose terminal event is out"},
        {!allowed, CLAUSE_SEQ_12, "a move was made by one who may not make it"},
        {late, CLAUSE_SEQ_12, "a worker without the lease ended a run"},
        {step->by == ORACLE_SEQ_BY_RECLAIM && !expired, CLAUSE_SEQ_10,
         "a lease was reclaimed before it expired"},
    };
    return oracle_first_broken(promises, ORACLE_COUNT(promises));
}

static struct oracle_verdict judge_retry(const struct oracle_seq *seq,
                                         const struct oracle_seq_policy *policy,
                                         const struct oracle_seq_step *step)
{
    bool expired = step->by == ORACLE_SEQ_BY_RECLAIM;
    uint32_t class = expired ? policy->expired_as : step->fail_class;
    CHECK(class < ORACLE_SEQ_CLASSES);
    bool retryable = (policy->retryable >> class & 1) != 0;
    bool in_budget = seq->attempt < policy->budget;
    bool retried = retries(step);
    bool waits = fails(step) && step->waits;
    const struct oracle_verdict promises[] = {
        {(retried || waits) && !retryable, CLAUSE_SEQ_13,
         "a class was retried that is not retryable"},
        {(retried || waits) && !in_budget, CLAUSE_SEQ_13, "a retry was made beyond the budget"},
        {step->attempt != seq->attempt + (retried ? 1 : 0), CLAUSE_SEQ_13,
         "the attempts do not count the retries"},
        {fails(step) && !waits && retryable && in_budget, CLAUSE_SEQ_18,
         "a retry was due and not made"},
        {step->waits && step->to != ORACLE_SEQ_FAIL, CLAUSE_SEQ_13,
         "a seq waits for a retry that has not failed"},
    };
    return oracle_first_broken(promises, ORACLE_COUNT(promises));
}

static struct oracle_verdict judge_event(const struct oracle_seq *seq,
                                         const struct oracle_seq_step *step)
{
    bool commits = step->to == ORACLE_SEQ_COMMITTED;
    const struct oracle_verdict promises[] = {
        {step->event && seq->event_out, CLAUSE_SEQ_6, "a second terminal event was handed out"},
        {step->event && !ends(step), CLAUSE_SEQ_6, "a terminal event came before the end"},
        {!step->event && ends(step), CLAUSE_SEQ_6, "a seq ended without its terminal event"},
        {commits && !seq->event_out, CLAUSE_SEQ_6, "a seq was committed before its event was out"},
    };
    return oracle_first_broken(promises, ORACLE_COUNT(promises));
}

struct oracle_verdict oracle_seq_fold(struct oracle_seq *seq,
                                      const struct oracle_seq_policy *policy,
                                      const struct oracle_seq_step *step)
{
    CHECK(step->from < ORACLE_SEQ_STATES && step->to < ORACLE_SEQ_STATES);
    CHECK(step->by < ORACLE_SEQ_BY_COUNT);
    const struct oracle_verdict promises[] = {
        {step->from != seq->state, CLAUSE_SEQ_5, "a step found a state that nobody had left"},
        judge_lease(seq, step),
        judge_move(seq, policy, step),
        judge_retry(seq, policy, step),
        judge_event(seq, step),
    };
    seq->state = step->to;
    seq->attempt = step->attempt;
    seq->event_out |= step->event;
    seq->owner = 0;
    if (step->to == ORACLE_SEQ_IN_FLIGHT) {
        seq->owner = step->owner;
        seq->heartbeat_ms = step->heartbeat_ms;
    }
    return oracle_first_broken(promises, ORACLE_COUNT(promises));
}

/* ---- counters ------------------------------------------------------------------------------ */

void oracle_seq_count(struct oracle_seq_occupancy *occupancy, enum oracle_seq_state state)
{
    CHECK(state < ORACLE_SEQ_STATES);
    uint64_t *const of[ORACLE_SEQ_STATES] = {
        &occupancy->unseen,   &occupancy->dispatched, &occupancy->in_flight, &occupancy->terminal,
        &occupancy->terminal, &occupancy->terminal,   &occupancy->terminal,  &occupancy->committed,
    };
    (*of[state])++;
}

struct oracle_seq_occupancy oracle_seq_recount(const enum oracle_seq_state *states, size_t count)
{
    struct oracle_seq_occupancy occupancy = {0};
    for (size_t i = 0; i < count; i++) {
        oracle_seq_count(&occupancy, states[i]);
    }
    return occupancy;
}

struct oracle_verdict oracle_seq_compare(struct oracle_seq_occupancy counters,
                                         struct oracle_seq_occupancy true_ones)
{
    bool same =
        counters.unseen == true_ones.unseen && counters.dispatched == true_ones.dispatched &&
        counters.in_flight == true_ones.in_flight && counters.terminal == true_ones.terminal &&
        counters.committed == true_ones.committed;
    return same ? oracle_fine()
                : oracle_broken(CLAUSE_SEQ_16, "the counters are not what a recount finds");
}

struct oracle_verdict oracle_seq_counters(struct oracle_seq_occupancy counters,
                                          const enum oracle_seq_state *states, size_t count)
{
    return oracle_seq_compare(counters, oracle_seq_recount(states, count));
}
