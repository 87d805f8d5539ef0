/* The planted bugs of the durable seq ledger. */
#include "faults/sabotage_book.h"

enum {
    LATE_RESULT_ACCEPTED,
    SECOND_TERMINAL_EVENT,
    RECLAIM_WITHOUT_POLICY,
    HEARTBEAT_REVIVES,
    OWNER_NOT_REVOKED,
    RETRY_TOO_OFTEN
};

static const struct sabotage named[] = {
    [LATE_RESULT_ACCEPTED] = {.name = "late-result-accepted",
                              .about = "a result is taken from whoever brings it, without a token",
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
    {.name = "attempts-not-counted",
     .about = "a retry does not count as one",
     .scenario = "seq",
     .kind = SABOTAGE_DROP,
     .bundle = BUNDLE_SEQ_FAIL,
     .primitive = PRIMITIVE_SEQ_FAIL,
     .op = 5},
    {.name = "counter-forgotten",
     .about = "a success is not counted as terminal",
     .scenario = "seq",
     .kind = SABOTAGE_DROP,
     .bundle = BUNDLE_SEQ_FINISH,
     .primitive = PRIMITIVE_SEQ_TERMINAL},
    {.name = "lease-not-required",
     .about = "a worker goes to work without taking the lease",
     .scenario = "seq",
     .kind = SABOTAGE_DROP,
     .bundle = BUNDLE_SEQ_TAKE,
     .primitive = PRIMITIVE_SEQ_LEASE},
    {.name = "event-apart",
     .about = "a terminal state and its event are committed apart",
     .scenario = "seq",
     .kind = SABOTAGE_SPLIT,
     .bundle = BUNDLE_SEQ_FINISH,
     .primitive = PRIMITIVE_SEQ_END},
    {.name = "reclaim-trusts-look",
     .about = "expiry is not tested again under the seq's lock",
     .scenario = "seq",
     .kind = SABOTAGE_UNGUARD,
     .bundle = BUNDLE_SEQ_RECLAIM,
     .primitive = PRIMITIVE_SEQ_EXPIRED,
     .op = 3},
    {.name = "cancel-without-grace",
     .about = "a cancel does not name the state that it expects",
     .scenario = "seq",
     .kind = SABOTAGE_DROP,
     .bundle = BUNDLE_SEQ_CANCEL,
     .primitive = PRIMITIVE_SEQ_EXPECT},
    {.name = "illegal-accepted",
     .about = "the contract is not asked",
     .scenario = "seq-illegal",
     .kind = SABOTAGE_UNGUARD,
     .bundle = BUNDLE_SEQ_ATTEMPT,
     .primitive = PRIMITIVE_SEQ_MOVE,
     .op = 1},
    {.name = "work-after-halt",
     .about = "a worker goes on when Stage1 has failed",
     .scenario = "seq-illegal",
     .kind = SABOTAGE_DROP,
     .bundle = BUNDLE_SEQ_BEAT,
     .primitive = PRIMITIVE_SEQ_GATE},
};

static void change_primitives(const struct sabotage *sabotage, struct primitive *table)
{
    struct primitive *hold = &table[PRIMITIVE_SEQ_HOLD], *fail = &table[PRIMITIVE_SEQ_FAIL];
    struct primitive *beat = &table[PRIMITIVE_SEQ_BEAT];
    switch (sabotage->which) {
    case LATE_RESULT_ACCEPTED:
        hold->ops[0].test = TEST_NONE;
        hold->ops[1].test = TEST_NONE;
        break;
    case SECOND_TERMINAL_EVENT:
        fail->ops[7].kind = OP_RECORD;
        fail->ops[7].unless = 0;
        table[PRIMITIVE_SEQ_EVENT].ops[0].kind = OP_RECORD;
        break;
    case HEARTBEAT_REVIVES: /* whoever beats is the owner */
        table[SABOTAGE_COPY] = *beat;
        table[SABOTAGE_COPY].ops[1].column = SEQ_OWNER;
        break;
    case OWNER_NOT_REVOKED:
        table[PRIMITIVE_SEQ_REVOKE].ops[0].column = SEQ_ENDED_BY;
        break;
    default:
        break;
    }
}

static struct call *call_of(struct bundle *bundle, enum primitive_id primitive)
{
    for (uint8_t i = 0; i < bundle->count; i++) {
        if (bundle->calls[i].primitive == primitive) {
            return &bundle->calls[i];
        }
    }
    return NULL;
}

static void change_bundle(const struct sabotage *sabotage, struct sabotage_memory *memory,
                          const struct actor *actor, struct bundle *bundle)
{
    (void)memory, (void)actor;
    struct call *fail = call_of(bundle, PRIMITIVE_SEQ_FAIL);
    if (sabotage->which == RECLAIM_WITHOUT_POLICY && bundle->name == BUNDLE_SEQ_RECLAIM) {
        bundle->params[fail->params + 4] = INT64_MAX - 1;
    } else if (sabotage->which == RETRY_TOO_OFTEN && fail != NULL &&
               bundle->params[fail->params + 4] > 0) {
        bundle->params[fail->params + 4]++;
    } else if (sabotage->which == HEARTBEAT_REVIVES && bundle->name == BUNDLE_SEQ_BEAT) {
        call_of(bundle, PRIMITIVE_SEQ_HOLD)->mode = CALL_PLAIN;
        call_of(bundle, PRIMITIVE_SEQ_BEAT)->primitive = SABOTAGE_COPY;
    }
}

static const struct sabotage_shape shapes[] = {
    {BUNDLE_SEQ_ADMIT, PRIMITIVE_SEQ_OPEN},
    {BUNDLE_SEQ_ADMIT, PRIMITIVE_SEQ_STRIPE},
    {BUNDLE_SEQ_ADMIT, PRIMITIVE_SEQ_ADMIT},
    {BUNDLE_SEQ_DISPATCH, PRIMITIVE_SEQ_GATE},
    {BUNDLE_SEQ_DISPATCH, PRIMITIVE_SEQ_EXPECT},
    {BUNDLE_SEQ_DISPATCH, PRIMITIVE_SEQ_MOVE},
    {BUNDLE_SEQ_DISPATCH, PRIMITIVE_SEQ_DISPATCHED},
    {BUNDLE_SEQ_LOOK, PRIMITIVE_SEQ_LOOK},
    {BUNDLE_SEQ_TAKE, PRIMITIVE_SEQ_GATE},
    {BUNDLE_SEQ_TAKE, PRIMITIVE_SEQ_EXPECT},
    {BUNDLE_SEQ_TAKE, PRIMITIVE_SEQ_MOVE},
    {BUNDLE_SEQ_TAKE, PRIMITIVE_SEQ_LEASE},
    {BUNDLE_SEQ_TAKE, PRIMITIVE_SEQ_DISPATCHED},
    {BUNDLE_SEQ_TAKE, PRIMITIVE_SEQ_IN_FLIGHT},
    {BUNDLE_SEQ_BEAT, PRIMITIVE_SEQ_GATE},
    {BUNDLE_SEQ_BEAT, PRIMITIVE_SEQ_HOLD},
    {BUNDLE_SEQ_BEAT, PRIMITIVE_SEQ_BEAT},
    {BUNDLE_SEQ_FINISH, PRIMITIVE_SEQ_GATE},
    {BUNDLE_SEQ_FINISH, PRIMITIVE_SEQ_HOLD},
    {BUNDLE_SEQ_FINISH, PRIMITIVE_SEQ_MOVE},
    {BUNDLE_SEQ_FINISH, PRIMITIVE_SEQ_END},
    {BUNDLE_SEQ_FINISH, PRIMITIVE_SEQ_EVENT},
    {BUNDLE_SEQ_FINISH, PRIMITIVE_SEQ_IN_FLIGHT},
    {BUNDLE_SEQ_FINISH, PRIMITIVE_SEQ_TERMINAL},
    {BUNDLE_SEQ_FAIL, PRIMITIVE_SEQ_GATE},
    {BUNDLE_SEQ_FAIL, PRIMITIVE_SEQ_HOLD},
    {BUNDLE_SEQ_FAIL, PRIMITIVE_SEQ_FAIL},
    {BUNDLE_SEQ_FAIL, PRIMITIVE_SEQ_END},
    {BUNDLE_SEQ_FAIL, PRIMITIVE_SEQ_IN_FLIGHT},
    {BUNDLE_SEQ_RECLAIM, PRIMITIVE_SEQ_GATE},
    {BUNDLE_SEQ_RECLAIM, PRIMITIVE_SEQ_EXPIRED},
    {BUNDLE_SEQ_RECLAIM, PRIMITIVE_SEQ_FAIL},
    {BUNDLE_SEQ_RECLAIM, PRIMITIVE_SEQ_REVOKE},
    {BUNDLE_SEQ_RECLAIM, PRIMITIVE_SEQ_IN_FLIGHT},
    {BUNDLE_SEQ_CANCEL, PRIMITIVE_SEQ_GATE},
    {BUNDLE_SEQ_CANCEL, PRIMITIVE_SEQ_EXPECT},
    {BUNDLE_SEQ_CANCEL, PRIMITIVE_SEQ_MOVE},
    {BUNDLE_SEQ_CANCEL, PRIMITIVE_SEQ_EVENT},
    {BUNDLE_SEQ_CANCEL, PRIMITIVE_SEQ_DISPATCHED},
    {BUNDLE_SEQ_CANCEL, PRIMITIVE_SEQ_TERMINAL},
    {BUNDLE_SEQ_ASK, PRIMITIVE_SEQ_GATE},
    {BUNDLE_SEQ_ASK, PRIMITIVE_SEQ_EXPECT},
    {BUNDLE_SEQ_ASK, PRIMITIVE_SEQ_ASK},
    {BUNDLE_SEQ_FORCE, PRIMITIVE_SEQ_GATE},
    {BUNDLE_SEQ_FORCE, PRIMITIVE_SEQ_EXPECT},
    {BUNDLE_SEQ_FORCE, PRIMITIVE_SEQ_GRACE},
    {BUNDLE_SEQ_FORCE, PRIMITIVE_SEQ_MOVE},
    {BUNDLE_SEQ_FORCE, PRIMITIVE_SEQ_REVOKE},
    {BUNDLE_SEQ_FORCE, PRIMITIVE_SEQ_EVENT},
    {BUNDLE_SEQ_FORCE, PRIMITIVE_SEQ_IN_FLIGHT},
    {BUNDLE_SEQ_FORCE, PRIMITIVE_SEQ_TERMINAL},
    {BUNDLE_SEQ_COMMIT, PRIMITIVE_SEQ_GATE},
    {BUNDLE_SEQ_COMMIT, PRIMITIVE_SEQ_COMMIT},
    {BUNDLE_SEQ_ATTEMPT, PRIMITIVE_SEQ_GATE},
    {BUNDLE_SEQ_ATTEMPT, PRIMITIVE_SEQ_EXPECT},
    {BUNDLE_SEQ_ATTEMPT, PRIMITIVE_SEQ_WITNESS},
    {BUNDLE_SEQ_ATTEMPT, PRIMITIVE_SEQ_MOVE},
    {BUNDLE_SEQ_HALT, PRIMITIVE_SEQ_HALT},
    {BUNDLE_SEQ_READ, PRIMITIVE_SEQ_READ},
};

static const struct sabotage_reason equivalents[] = {
    {"seq.look/repeat", "a second look sees no less than the first"},
};

const struct sabotage_book sabotage_book_seq = {
    .prefix = "seq.",
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof *shapes,
    .equivalents = equivalents,
    .equivalent_count = sizeof equivalents / sizeof *equivalents,
    .named = named,
    .named_count = sizeof named / sizeof *named,
    .primitives = change_primitives,
    .bundle = change_bundle,
};
