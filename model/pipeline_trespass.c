#include "model/pipeline_trespass.h"

#include "model/check.h"
#include "model/identity.h"

/* A parameter is a number of its own, or one of these. */
enum {
    NEW = -8,      /* the id of a row that nobody else brings */
    ENTRY_ID,      /* of the request in hand: its entry, */
    SOURCE,        /* ... the decision of a CUT, the change set of a VERIFY, */
    MANIFEST,      /* ... the envelope of that decision */
    MANIFEST_UNIT, /* ... and its first unit block, */
    SIGNATURE,     /* ... the signature of that change set, */
    REQUEST,       /* ... the message */
    EPOCH          /* ... and its claim */
};

#define PARAMS_MAX 7

/* Those that any request of an entry allows come first; then those for which a CUT's decision, or a
 * VERIFY's change set, must be there. */
static const struct {
    uint8_t principal, primitive;
    int16_t params[PARAMS_MAX];
} trespasses[] = {
#define TRY(principal, primitive, ...)                                                             \
    {                                                                                              \
        PRINCIPAL_##principal, PRIMITIVE_##primitive,                                              \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
    TRY(EXEC, SIGN, NEW, ENTRY_ID, LANE_VERIFIER, PRINCIPAL_EXEC, 0),
    TRY(EXEC, SIGN, NEW, ENTRY_ID, LANE_EXECUTOR, PRINCIPAL_VERIFY, 0),
    TRY(VERIFY, SIGN, NEW, ENTRY_ID, LANE_EXECUTOR, PRINCIPAL_VERIFY, 0),
    TRY(VERIFY, SIGN, NEW, ENTRY_ID, LANE_VERIFIER, PRINCIPAL_EXEC, 0),
    TRY(VERIFY, ADD_ENVELOPE, NEW, ENTRY_ID, NEW),
    TRY(VERIFY, DEPEND, NEW, ENTRY_ID, ENTRY_ID),
    TRY(VERIFY, LOG_SWEEP, NEW, ENTRY_ID, PHASE_VERIFY, SWEEP_CONFLICT),
    TRY(EXEC, REWRITE_PAYLOAD, ENTRY_ID, NEW),
    TRY(VERIFY, REWRITE_PAYLOAD, ENTRY_ID, NEW),
    TRY(EXEC, ACK, REQUEST, EPOCH), /* the queue is the caller's */
    TRY(VERIFY, ACK, REQUEST, EPOCH),
    TRY(EXEC, READ_REQUEST, REQUEST),
    TRY(VERIFY, READ_REQUEST, REQUEST),
#define OF_CUT 13
    TRY(VERIFY, ADD_UNIT, NEW, MANIFEST, PIPELINE_PARTS_MAX + 1, NEW),
    TRY(VERIFY, ADD_REVIEW, NEW, ENTRY_ID, MANIFEST, MANIFEST_UNIT, DECISION_APPROVE, SOURCE),
    TRY(VERIFY, SUPERSEDE, SOURCE, SOURCE),
    TRY(EXEC, REWRITE_DECISION, SOURCE, DECISION_REJECT),
    TRY(VERIFY, REWRITE_DECISION, SOURCE, DECISION_REJECT),
#define OF_VERIFY 18
    TRY(EXEC, LOCK_SIGNATURE, SIGNATURE),
    TRY(VERIFY, LOCK_SIGNATURE, SIGNATURE),
    TRY(EXEC, ADD_VERIFY, NEW, SOURCE, SIGNATURE, SIGNATURE, VERIFIED_PASS, 0, 0),
#undef TRY
};
#define TRESPASS_COUNT COUNT(trespasses)

static int64_t column(const struct pipeline_worker *worker, int which)
{
    return worker->message[1 + which];
}

unsigned pipeline_trespass_count(const struct pipeline_worker *worker)
{
    if (worker->state != PIPELINE_PHASE || worker->trespass != 0) {
        return 0;
    }
    switch (column(worker, REQUEST_PHASE)) {
    case PHASE_REVIEW:
        return OF_CUT;
    case PHASE_CUT:
        return OF_VERIFY;
    case PHASE_VERIFY:
        return OF_CUT + TRESPASS_COUNT - OF_VERIFY;
    default: /* a MARK: there is no entry yet */
        return 0;
    }
}

static int64_t value_of(const struct pipeline_worker *worker, int64_t param, size_t trespass)
{
    int64_t source = column(worker, REQUEST_SOURCE);
    int64_t manifest = identity_mint(source, IDENTITY_ENVELOPE);
    switch (param) {
    case NEW:
        return identity_mint(column(worker, REQUEST_ENTRY), IDENTITY_TRESPASS + (int64_t)trespass);
    case ENTRY_ID:
        return column(worker, REQUEST_ENTRY);
    case SOURCE:
        return source;
    case MANIFEST:
        return manifest;
    case MANIFEST_UNIT:
        return identity_mint(manifest, IDENTITY_UNIT);
    case SIGNATURE:
        return identity_mint(source, IDENTITY_SIGNATURE);
    case REQUEST:
        return worker->message[0];
    case EPOCH:
        return column(worker, MESSAGE_EPOCH);
    default:
        return param;
    }
}

void pipeline_trespass_build(const struct pipeline_worker *worker, unsigned which,
                             struct bundle *next)
{
    bool of_verify = column(worker, REQUEST_PHASE) == PHASE_VERIFY && which >= OF_CUT;
    size_t at = of_verify ? which - OF_CUT + OF_VERIFY : which;
    CHECK(at < TRESPASS_COUNT);
    enum primitive_id primitive = (enum primitive_id)trespasses[at].primitive;
    bundle_begin(next, BUNDLE_TRESPASS);
    next->principal = trespasses[at].principal;
    int64_t *params = bundle_append(next, primitive, CALL_REQUIRE, 0);
    CHECK(primitive_table[primitive].params <= PARAMS_MAX);
    for (int p = 0; p < primitive_table[primitive].params; p++) {
        params[p] = value_of(worker, trespasses[at].params[p], at);
    }
}

static bool same_request(const struct pipeline_worker *before, const struct pipeline_worker *after)
{
    bool same = before->state == after->state && before->refusal == after->refusal &&
                before->why == after->why && before->follows == after->follows &&
                before->flipped == after->flipped && before->found == after->found;
    for (int i = 0; i < 1 + MESSAGE_COLUMNS; i++) {
        same = same && before->message[i] == after->message[i];
    }
    return same;
}

void pipeline_trespass_check(const struct pipeline_worker *before,
                             const struct pipeline_worker *after, const struct outcome *last)
{
    bool aborted = last->kind == OUTCOME_ABORTED;
    CHECK(after->trespass == 0 && !after->trespassed);
    CHECK(aborted || same_request(before, after));   /* TP2 */
    CHECK(aborted || before->tries == after->tries); /* TP2 */
}
