/* The planted bugs of the durable seq ledger. */
#include "faults/sabotage_book.h"
#include "model/identity.h"
#include "model/seq.h"

enum {
    LATE_RESULT_ACCEPTED,
    SECOND_TERMINAL_EVENT,
    RECLAIM_WITHOUT_POLICY,
    HEARTBEAT_REVIVES,
    OWNER_NOT_REVOKED,
    RETRY_TOO_OFTEN,
    RECLAIM_BY_MOOD,
    SUCCESS_AS_SKIP,
    RECLAIM_LATE,
    TOKEN_WITHOUT_ATTEMPT,
    OWNER_BY_NAME,
    HEARTBEAT_AHEAD,
    BEAT_BY_OWN_CLOCK,
    LEASE_CLOCK_FOR_WALL,
    RETRY_IN_ONE_COMMIT,
    COMMIT_WITHOUT_EVENT,
    RETRY_UNSEEN
};

#define FAR_AHEAD INT64_C(1000000000000) /* ms, more than any time in a run */

static const struct sabotage named[] = {
    [LATE_RESULT_ACCEPTED] = {.name = "late-result-accepted",
                              .about = "a result is taken from any worker, without a token",
                              .scenario = "seq"},
    [SECOND_TERMINAL_EVENT] = {.name = "second-terminal-event",
                               .about = "a failure emits its event, retried or not",
                               .scenario = "seq"},
    [RECLAIM_WITHOUT_POLICY] = {.name = "reclaim-without-policy",
                                .about = "an expired lease is always retried, whatever the policy",
                                .scenario = "seq"},
    [HEARTBEAT_REVIVES] = {.name = "heartbeat-revives",
                           .about = "a late heartbeat takes a lost lease back",
                           .scenario = "seq"},
    [OWNER_NOT_REVOKED] = {.name = "owner-not-revoked",
                           .about = "a reclaimed run keeps its token",
                           .scenario = "seq"},
    [RETRY_TOO_OFTEN] = {.name = "retry-too-often",
                         .about = "the budget is compared before the retry is counted",
                         .scenario = "seq"},
    [RECLAIM_BY_MOOD] = {.name = "reclaim-by-mood",
                         .about = "whether an expired lease is retried depends on whose it was",
                         .scenario = "seq"},
    [SUCCESS_AS_SKIP] = {.name = "success-as-skip",
                         .about = "a run that succeeds is reported, event and all, as skipped",
                         .scenario = "seq"},
    [RECLAIM_LATE] = {.name = "reclaim-late",
                      .about = "a lease is reclaimed when it has been expired for ten more",
                      .scenario = "seq-leases"},
    [TOKEN_WITHOUT_ATTEMPT] = {.name = "token-without-attempt",
                               .about =
                                   "a token is taken for good if its owner is, whatever run it "
                                   "is of",
                               .scenario = "seq-late"},
    [OWNER_BY_NAME] = {.name = "owner-by-name",
                       .about =
                           "a lease is a worker's own if its name is on it, whichever incarnation "
                           "took it",
                       .scenario = "seq-names"},
    [HEARTBEAT_AHEAD] = {.name = "heartbeat-ahead",
                         .about = "a heartbeat is written far ahead of the store's time, and no "
                                  "lease expires after it",
                         .scenario = "seq"},
    [BEAT_BY_OWN_CLOCK] = {.name = "heartbeat-by-own-clock",
                           .about = "a heartbeat is the time of the worker's own clock (SEQ-19)",
                           .scenario = "seq-long"},
    [LEASE_CLOCK_FOR_WALL] = {.name = "lease-clock-for-wall",
                              .about = "the report of an illegal move has the time that leases go "
                                       "by (SEQ-4)",
                              .scenario = "seq-illegal"},
    [RETRY_IN_ONE_COMMIT] = {.name = "retry-in-one-commit",
                             .about =
                                 "a failure and its retry are one transaction, and no row ever "
                                 "shows the failure",
                             .scenario = "seq"},
    [COMMIT_WITHOUT_EVENT] = {.name = "commit-without-event",
                              .about =
                                  "the committer takes a failure that waits for its retry, and "
                                  "the contract allows it",
                              .scenario = "seq-late"},
    [RETRY_UNSEEN] = {.name = "retry-unseen",
                      .about = "the reclaimer does not look for failures that wait for a retry",
                      .scenario = "seq"},
    {.name = "other-budget",
     .about = "Stage1 is opened with a budget of one retry more than is asked for",
     .scenario = "seq",
     SABOTAGE_AS(SHIFT, SEQ_ADMIT, SEQ_OPEN),
     .op = 4},
    {.name = "seqs-from-one",
     .about = "seqs are numbered from 1, so that the first is missing and there is one too many",
     .scenario = "seq",
     SABOTAGE_AS(SHIFT, SEQ_ADMIT, SEQ_ADMIT),
     .op = 1},
    {.name = "heartbeat-never-sent",
     .about = "progress ticks leave the heartbeat alone",
     .scenario = "seq",
     SABOTAGE_AS(DROP, SEQ_BEAT, SEQ_BEAT)},
    {.name = "attempts-not-counted",
     .about = "a retry does not count as one",
     .scenario = "seq",
     SABOTAGE_AS(DROP, SEQ_RETRY, SEQ_RETRY),
     .op = 1},
    {.name = "counter-forgotten",
     .about = "a success is not counted as terminal",
     .scenario = "seq",
     SABOTAGE_AS(DROP, SEQ_FINISH, SEQ_TERMINAL)},
    {.name = "lease-not-required",
     .about = "a worker goes to work without taking the lease",
     .scenario = "seq",
     SABOTAGE_AS(DROP, SEQ_TAKE, SEQ_LEASE)},
    {.name = "event-apart",
     .about = "a terminal state and its event are committed apart",
     .scenario = "seq",
     SABOTAGE_AS(SPLIT, SEQ_FINISH, SEQ_END)},
    {.name = "reclaim-trusts-look",
     .about = "expiry is not tested again under the seq's lock",
     .scenario = "seq",
     SABOTAGE_AS(UNGUARD, SEQ_RECLAIM, SEQ_EXPIRED),
     .op = 3},
    {.name = "cancel-without-grace",
     .about = "a cancel does not name the state that it expects",
     .scenario = "seq",
     SABOTAGE_AS(DROP, SEQ_CANCEL, SEQ_EXPECT)},
    {.name = "illegal-accepted",
     .about = "the contract is not asked",
     .scenario = "seq-illegal",
     SABOTAGE_AS(UNGUARD, SEQ_ATTEMPT, SEQ_CONTRACT),
     .op = 1},
    {.name = "latch-forgotten",
     .about = "an illegal move is refused and counted, and Stage1 goes on",
     .scenario = "seq-illegal",
     SABOTAGE_AS(DROP, SEQ_ATTEMPT, SEQ_CONTRACT),
     .op = 5},
    {.name = "fact-forgotten",
     .about = "the report of an illegal move does not say who held the seq",
     .scenario = "seq-illegal",
     SABOTAGE_AS(DROP, SEQ_ATTEMPT, SEQ_CONTRACT),
     .op = 10},
    {.name = "work-after-halt",
     .about = "a worker goes on when Stage1 has failed",
     .scenario = "seq-illegal",
     SABOTAGE_AS(DROP, SEQ_BEAT, SEQ_GATE)},
    SABOTAGE_WORK("run", "seq"),
    SABOTAGE_THROUGH("run", "seq-long"),
};

/* As operations that follow those of the failure, if it is to be retried: state, move, attempt. */
static void retry_at_once(struct primitive *fail)
{
    static const struct {
        uint8_t kind, column, value;
    } more[] = {{OP_SET, SEQ_STATE, OPERAND_ONE},
                {OP_ADD, SEQ_MOVE_COUNT, OPERAND_ONE},
                {OP_ADD, SEQ_ATTEMPTS, OPERAND_ONE},
                {OP_SET, SEQ_RETRY, OPERAND_ZERO}};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        fail->ops[fail->op_count++] = (struct op){.kind = more[i].kind,
                                                  .table = TABLE_SEQ,
                                                  .column = more[i].column,
                                                  .key = OPERAND_PARAM,
                                                  .value = more[i].value,
                                                  .when = fail->ops[3].found};
    }
}

static void change_primitives(const struct sabotage *sabotage, struct primitive *table)
{
    const struct primitive *hold = &table[PRIMITIVE_SEQ_HOLD], *beat = &table[PRIMITIVE_SEQ_BEAT];
    struct primitive *fail = &table[PRIMITIVE_SEQ_FAIL];
    switch (sabotage->which) {
    case LATE_RESULT_ACCEPTED:
        table[SABOTAGE_COPY] = *hold;
        table[SABOTAGE_COPY].ops[0].test = TEST_NONE;
        table[SABOTAGE_COPY].ops[1].test = TEST_NONE;
        break;
    case SECOND_TERMINAL_EVENT:
        fail->ops[5].kind = OP_RECORD;
        fail->ops[5].unless = 0;
        table[PRIMITIVE_SEQ_EVENT].ops[0].kind = OP_RECORD;
        break;
    case RETRY_IN_ONE_COMMIT:
        retry_at_once(fail);
        break;
    case COMMIT_WITHOUT_EVENT: /* whether the event is out is compared with itself */
        table[PRIMITIVE_SEQ_CONTRACT].ops[2].b = OPERAND_VALUE + 2;
        break;
    case HEARTBEAT_REVIVES: /* a heartbeat makes its sender the owner */
        table[SABOTAGE_COPY] = *beat;
        table[SABOTAGE_COPY].ops[1].column = SEQ_OWNER;
        break;
    case HEARTBEAT_AHEAD: /* above any heartbeat */
        table[PRIMITIVE_SEQ_BEAT].ops[0].value = OPERAND_PARAM + 3;
        break;
    case TOKEN_WITHOUT_ATTEMPT:
        table[PRIMITIVE_SEQ_HOLD].ops[1].test = TEST_NONE;
        break;
    case BEAT_BY_OWN_CLOCK: /* the store's time plus a further parameter */
        table[SABOTAGE_COPY] = *beat;
        for (int i = beat->op_count; i > 0; i--) {
            table[SABOTAGE_COPY].ops[i] = beat->ops[i - 1];
        }
        table[SABOTAGE_COPY].op_count++;
        table[SABOTAGE_COPY].ops[0] = (struct op){.kind = OP_LET_SUM,
                                                  .a = beat->ops[0].value,
                                                  .b = (uint8_t)(OPERAND_PARAM + beat->params),
                                                  .c = OPERAND_ONE,
                                                  .returns = PRIMITIVE_VALUES_MAX};
        table[SABOTAGE_COPY].ops[1].value = OPERAND_VALUE + PRIMITIVE_VALUES_MAX - 1;
        table[SABOTAGE_COPY].params++;
        break;
    case LEASE_CLOCK_FOR_WALL:
        CHECK(table[PRIMITIVE_SEQ_CONTRACT].ops[12].value == OPERAND_WALL);
        table[PRIMITIVE_SEQ_CONTRACT].ops[12].value = OPERAND_NOW;
        break;
    case OWNER_NOT_REVOKED:
        table[PRIMITIVE_SEQ_REVOKE].ops[0].column = SEQ_ENDED_BY;
        break;
    default:
        break;
    }
}

/* Of OWNER_BY_NAME: the name instead of the owner, in every parameter and in the journal. Values
 * that are read are translated back, so that the engine takes the lease for its own. */
static void own_by_name(struct sabotage_memory *memory, const struct seq_actor *self,
                        struct bundle *bundle)
{
    int64_t name = identity_mint(0, IDENTITY_SEQ_TALLY + self->number);
    int64_t owner = identity_mint(name, IDENTITY_INCARNATION + self->incarnation);
    memory->stale = owner;
    memory->held[0] = name;
    for (uint16_t i = 0; i < bundle->param_count; i++) {
        bundle->params[i] = bundle->params[i] == owner ? name : bundle->params[i];
    }
    bundle->effect.claim = bundle->effect.claim == owner ? name : bundle->effect.claim;
}

static bool change_outcome(const struct sabotage *sabotage, struct sabotage_memory *memory,
                           const struct bundle *sent, struct outcome *outcome)
{
    if (sabotage->which == OWNER_BY_NAME && sent->name == BUNDLE_SEQ_TAKE &&
        outcome->kind == OUTCOME_COMMITTED && outcome->skipped != 0) {
        outcome->kind = OUTCOME_UNKNOWN; /* overtaken: perhaps by itself, it assumes, and reads */
    }
    if (sabotage->which == OWNER_BY_NAME && sent->name == BUNDLE_SEQ_READ &&
        outcome->values[0] == memory->held[0]) {
        outcome->values[0] = memory->stale;
    }
    return true;
}

/* Of BEAT_BY_OWN_CLOCK: as changed above, with the offset of its clock. */
static void beat_by_clock(const struct sabotage_memory *memory, struct bundle *bundle)
{
    struct call *call = sabotage_book_call(bundle, PRIMITIVE_SEQ_BEAT);
    uint8_t params = primitive_table[PRIMITIVE_SEQ_BEAT].params;
    CHECK(bundle->param_count + params < BUNDLE_PARAMS_MAX);
    for (uint8_t i = 0; i < params; i++) {
        bundle->params[bundle->param_count + i] = bundle->params[call->params + i];
    }
    bundle->params[bundle->param_count + params] = memory->skew;
    call->params = bundle->param_count;
    call->primitive = SABOTAGE_COPY;
    bundle->param_count = (uint16_t)(bundle->param_count + params + 1);
}

/* Failures that wait for a retry: the committer looks for these, and not for what was skipped; or the
 * reclaimer does not. */
static void look_elsewhere(const struct sabotage *sabotage, const struct actor *actor,
                           struct bundle *bundle)
{
    bool commits = sabotage->which == COMMIT_WITHOUT_EVENT;
    for (uint8_t i = 0; i < bundle->count && bundle->name == BUNDLE_SEQ_LOOK; i++) {
        int64_t *params = &bundle->params[bundle->calls[i].params];
        bool replaced = bundle->calls[i].primitive == PRIMITIVE_SEQ_NEXT &&
                        params[0] == (commits ? SEQ_SKIP : SEQ_FAIL);
        if (replaced && commits == (actor->role == SEQ_COMMITTER)) {
            params[0] = commits ? SEQ_FAIL : SEQ_COMMITTED;
            params[1] = 1;
        }
    }
}

static void change_bundle(const struct sabotage *sabotage, struct sabotage_memory *memory,
                          const struct actor *actor, struct bundle *bundle)
{
    if (sabotage->which == OWNER_BY_NAME) {
        own_by_name(memory, ACTOR_IS(actor, seq_actor), bundle);
    } else if (sabotage->which == BEAT_BY_OWN_CLOCK && bundle->name == BUNDLE_SEQ_BEAT) {
        beat_by_clock(memory, bundle);
    }
    if (sabotage->which == COMMIT_WITHOUT_EVENT || sabotage->which == RETRY_UNSEEN) {
        look_elsewhere(sabotage, actor, bundle);
    }
    struct call *fail = sabotage_book_call(bundle, PRIMITIVE_SEQ_FAIL);
    if (sabotage->which == RECLAIM_WITHOUT_POLICY && bundle->name == BUNDLE_SEQ_RECLAIM) {
        bundle->params[fail->params + 3] = INT64_MAX - 1;
    } else if (sabotage->which == RECLAIM_BY_MOOD && bundle->name == BUNDLE_SEQ_RECLAIM &&
               bundle->params[fail->params] % 2 == 0) {
        bundle->params[fail->params + 3] = 0;
    } else if (sabotage->which == RECLAIM_LATE && bundle->name == BUNDLE_SEQ_RECLAIM) {
        bundle->params[sabotage_book_call(bundle, PRIMITIVE_SEQ_EXPIRED)->params + 2] *= 11;
    } else if (sabotage->which == HEARTBEAT_AHEAD && bundle->name == BUNDLE_SEQ_BEAT) {
        bundle->params[sabotage_book_call(bundle, PRIMITIVE_SEQ_BEAT)->params + 3] = FAR_AHEAD;
    } else if (sabotage->which == RETRY_TOO_OFTEN && fail != NULL &&
               bundle->params[fail->params + 3] > 0) {
        bundle->params[fail->params + 3]++;
    } else if (sabotage->which == SUCCESS_AS_SKIP && bundle->name == BUNDLE_SEQ_FINISH) {
        bundle->params[sabotage_book_call(bundle, PRIMITIVE_SEQ_MOVE)->params + 1] = SEQ_SKIP;
        bundle->params[sabotage_book_call(bundle, PRIMITIVE_SEQ_EVENT)->params + 2] = SEQ_SKIP;
    } else if (sabotage->which == LATE_RESULT_ACCEPTED &&
               (bundle->name == BUNDLE_SEQ_FINISH || bundle->name == BUNDLE_SEQ_FAIL)) {
        sabotage_book_call(bundle, PRIMITIVE_SEQ_HOLD)->primitive = SABOTAGE_COPY;
    } else if (sabotage->which == HEARTBEAT_REVIVES && bundle->name == BUNDLE_SEQ_BEAT) {
        sabotage_book_call(bundle, PRIMITIVE_SEQ_HOLD)->mode = CALL_PLAIN;
        sabotage_book_call(bundle, PRIMITIVE_SEQ_BEAT)->primitive = SABOTAGE_COPY;
    }
}

static const struct sabotage_shape shapes[] = {
    SHAPE(BUNDLE_SEQ_ADMIT, PRIMITIVE_SEQ_OPEN, PRIMITIVE_SEQ_STRIPE, PRIMITIVE_SEQ_ADMIT),
    SHAPE(BUNDLE_SEQ_DISPATCH, PRIMITIVE_SEQ_GATE, PRIMITIVE_SEQ_EXPECT, PRIMITIVE_SEQ_CONTRACT,
          PRIMITIVE_SEQ_MOVE, PRIMITIVE_SEQ_DISPATCHED),
    SHAPE(BUNDLE_SEQ_LOOK, PRIMITIVE_SEQ_NEXT, PRIMITIVE_SEQ_UNWANTED),
    SHAPE(BUNDLE_SEQ_TAKE, PRIMITIVE_SEQ_GATE, PRIMITIVE_SEQ_EXPECT, PRIMITIVE_SEQ_CONTRACT,
          PRIMITIVE_SEQ_MOVE, PRIMITIVE_SEQ_LEASE, PRIMITIVE_SEQ_DISPATCHED,
          PRIMITIVE_SEQ_IN_FLIGHT),
    SHAPE(BUNDLE_SEQ_BEAT, PRIMITIVE_SEQ_GATE, PRIMITIVE_SEQ_HOLD, PRIMITIVE_SEQ_BEAT),
    SHAPE(BUNDLE_SEQ_FINISH, PRIMITIVE_SEQ_GATE, PRIMITIVE_SEQ_HOLD, PRIMITIVE_SEQ_CONTRACT,
          PRIMITIVE_SEQ_MOVE, PRIMITIVE_SEQ_END, PRIMITIVE_SEQ_EVENT, PRIMITIVE_SEQ_IN_FLIGHT,
          PRIMITIVE_SEQ_TERMINAL),
    SHAPE(BUNDLE_SEQ_FAIL, PRIMITIVE_SEQ_GATE, PRIMITIVE_SEQ_HOLD, PRIMITIVE_SEQ_CONTRACT,
          PRIMITIVE_SEQ_FAIL, PRIMITIVE_SEQ_END, PRIMITIVE_SEQ_IN_FLIGHT, PRIMITIVE_SEQ_TERMINAL),
    SHAPE(BUNDLE_SEQ_RECLAIM, PRIMITIVE_SEQ_GATE, PRIMITIVE_SEQ_EXPIRED, PRIMITIVE_SEQ_CONTRACT,
          PRIMITIVE_SEQ_FAIL, PRIMITIVE_SEQ_REVOKE, PRIMITIVE_SEQ_IN_FLIGHT,
          PRIMITIVE_SEQ_TERMINAL),
    SHAPE(BUNDLE_SEQ_RETRY, PRIMITIVE_SEQ_GATE, PRIMITIVE_SEQ_WAITS, PRIMITIVE_SEQ_CONTRACT,
          PRIMITIVE_SEQ_MOVE, PRIMITIVE_SEQ_RETRY, PRIMITIVE_SEQ_TERMINAL,
          PRIMITIVE_SEQ_DISPATCHED),
    SHAPE(BUNDLE_SEQ_CANCEL, PRIMITIVE_SEQ_GATE, PRIMITIVE_SEQ_EXPECT, PRIMITIVE_SEQ_CONTRACT,
          PRIMITIVE_SEQ_MOVE, PRIMITIVE_SEQ_EVENT, PRIMITIVE_SEQ_DISPATCHED,
          PRIMITIVE_SEQ_TERMINAL),
    SHAPE(BUNDLE_SEQ_ASK, PRIMITIVE_SEQ_GATE, PRIMITIVE_SEQ_EXPECT, PRIMITIVE_SEQ_ASK),
    SHAPE(BUNDLE_SEQ_FORCE, PRIMITIVE_SEQ_GATE, PRIMITIVE_SEQ_EXPECT, PRIMITIVE_SEQ_GRACE,
          PRIMITIVE_SEQ_CONTRACT, PRIMITIVE_SEQ_MOVE, PRIMITIVE_SEQ_REVOKE, PRIMITIVE_SEQ_EVENT,
          PRIMITIVE_SEQ_IN_FLIGHT, PRIMITIVE_SEQ_TERMINAL),
    SHAPE(BUNDLE_SEQ_COMMIT, PRIMITIVE_SEQ_GATE, PRIMITIVE_SEQ_AGAIN, PRIMITIVE_SEQ_CONTRACT,
          PRIMITIVE_SEQ_MOVE, PRIMITIVE_SEQ_TERMINAL, PRIMITIVE_SEQ_COMMITTED),
    SHAPE(BUNDLE_SEQ_ATTEMPT, PRIMITIVE_SEQ_GATE, PRIMITIVE_SEQ_EXPECT, PRIMITIVE_SEQ_DRILL,
          PRIMITIVE_SEQ_CONTRACT, PRIMITIVE_SEQ_MOVE),
    SHAPE(BUNDLE_SEQ_READ, PRIMITIVE_SEQ_READ),
};

/* An actor that keeps to the contract never gets more than the first value. */
static const struct sabotage_once once = {PRIMITIVE_SEQ_CONTRACT, BUNDLE_SEQ_ATTEMPT};

static const struct sabotage_reason equivalents[] = {
    {"seq.admit/repeat", "a seq that was admitted is there already"},
    {"seq.admit/split-after/open-stage",
     "nothing is counted and nothing moves before a seq is admitted"},
    {"seq.admit/split-after/open-stripe",
     "nothing is counted and nothing moves before a seq is admitted"},
    {"seq.dispatch/drop/ask-contract",
     "the state was tested under the same lock: the contract has nothing to refuse"},
    {"seq.dispatch/stale/move.2", "nobody but the dispatcher moves a seq that is UNSEEN"},
    {"seq.dispatch/stale/count-dispatched.1",
     "the dispatcher counts a seq once, and nothing else before it knows that it did"},
    {"seq.look/repeat", "a second look sees no less than the first"},
    {"seq.look/drop/find-unwanted.3",
     "the first search is for seqs that are DISPATCHED, and none of these was asked to end"},
    {"seq.retry/drop/ask-contract",
     "that it waits was tested under the same lock: the contract has nothing to refuse"},
    {"seq.take/drop/ask-contract",
     "the state was tested under the same lock: the contract has nothing to refuse"},
    {"seq.heartbeat/drop/hold.4", "a heartbeat adds nothing to the late results"},
    {"seq.heartbeat/stale/hold.4",
     "how many of the late ones were results tells what a campaign saw; no promise hangs on it"},
    {"seq.heartbeat/drop/beat.2", "the token stands at the heartbeat since the lease was taken"},
    {"seq.heartbeat/drop/beat.3", "the token stands at the heartbeat since the lease was taken"},
    {"seq.finish/drop/ask-contract",
     "a token stands while its run is in flight only: the contract has nothing to refuse"},
    {"seq.finish/stale/move.2", "while its token stands, nobody else moves the seq"},
    {"seq.fail/drop/ask-contract",
     "a token stands while its run is in flight only: the contract has nothing to refuse"},
    {"seq.fail/stale/fail.2", "while its token stands, nobody else moves the seq"},
    {"seq.reclaim/repeat", "the first one moved the seq on, so the second is overtaken"},
    {"seq.reclaim/drop/ask-contract",
     "the state was tested under the same lock: the contract has nothing to refuse"},
    {"seq.cancel/drop/ask-contract",
     "the state was tested under the same lock: the contract has nothing to refuse"},
    {"seq.force-cancel/drop/expect.5",
     "a time at which it was asked to end stands at a run in flight only"},
    {"seq.force-cancel/unguard/expect.5",
     "a time at which it was asked to end stands at a run in flight only"},
    {"seq.force-cancel/drop/ask-contract",
     "the state was tested under the same lock: the contract has nothing to refuse"},
    {"seq.force-cancel/stale/count-in-flight.1",
     "the next search finds the run that a transaction on its way is to cancel, so that none is "
     "counted in between"},
    {"seq.force-cancel/stale/move.2",
     "the run that was asked to end is still in flight, and a run makes no move"},
    {"seq.commit/stale/committed-again.2",
     "how often a commit was repeated tells what a campaign saw; no promise hangs on it"},
    {"seq.commit/drop/ask-contract",
     "nobody but the committer moves a seq that has ended, and none ends without its event"},
    {"seq.commit/stale/move.2", "nobody but the committer moves a seq that has ended"},
    {"seq.attempt/stale/drill.1", "an attempt that is on its way has failed Stage1 when it lands, "
                                  "and the gate refuses the next"},
    {"seq.attempt/split-after/ask-contract",
     "the contract refuses the move, so nothing after it is ever reached"},
    {"seq.attempt/unguard/ask-contract.2",
     "the key of an event is minted from its seq, so it is of no other"},
    {"seq.attempt/unguard/ask-contract.6",
     "the gate saw the latch free, and nobody sets it while the stage is locked FOR SHARE"},
    {"seq.attempt/stale/ask-contract.16", "an attempt that is on its way has failed Stage1 when it "
                                          "lands, and the gate refuses the next"},
    {"seq.attempt/drop/move", "the contract refuses the move, so nothing after it is ever reached"},
    {"seq.attempt/drop/move.1",
     "the contract refuses the move, so nothing after it is ever reached"},
    {"seq.attempt/drop/move.2",
     "the contract refuses the move, so nothing after it is ever reached"},
    {"seq.attempt/stale/move.2",
     "the contract refuses the move, so nothing after it is ever reached"},
    {"seq.read-seq/repeat", "a second read sees no less than the first"},
};

const struct sabotage_book sabotage_book_seq = {
    SABOTAGE_BOOK(named, shapes, equivalents),
    .once = &once,
    .primitives = change_primitives,
    .bundle = change_bundle,
    .outcome = change_outcome,
};
