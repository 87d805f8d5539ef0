#include "model/bundle.h"

static const char *const name_texts[BUNDLE_NAME_COUNT] = {
#define BUNDLE(id, text, traits) [BUNDLE_##id] = (text),
#include "model/bundles.def"
#undef BUNDLE
};

const uint16_t bundle_traits[BUNDLE_NAME_COUNT] = {
#define BUNDLE(id, text, traits) [BUNDLE_##id] = (traits),
#include "model/bundles.def"
#undef BUNDLE
};

static const char *const refusal_texts[REFUSAL_COUNT] = {
    [REFUSED_NOTHING] = "not refused",
    [REFUSED_NO_ROW] = "no such row",
    [REFUSED_EXISTS] = "exists already (23505)",
    [REFUSED_NO_PARENT] = "refers to no row (23503)",
    [REFUSED_DONE] = "already marked",
    [REFUSED_CEILING] = "counter at its ceiling",
    [REFUSED_ATTEMPTS] = "attempts at their ceiling",
    [REFUSED_TOO_EARLY] = "too early",
    [REFUSED_NEGATIVE] = "semaphore would fall below 0",
    [REFUSED_EPOCH] = "claim lost",
    [REFUSED_CLOSED] = "task closed by another answer",
    [REFUSED_NO_MESSAGE] = "nothing to claim",
    [REFUSED_STORE_FULL] = "store full",
    [REFUSED_NULL] = "a column is null (23502)",
    [REFUSED_DIGIT] = "another digit than expected",
    [REFUSED_KEY_MOVED] = "the key has moved",
    [REFUSED_STATUS] = "the status has moved",
    [REFUSED_UNAPPROVED] = "not approved",
    [REFUSED_SUPERSEDED] = "the decision is superseded",
    [REFUSED_BLOCKED] = "a dependency is not complete",
    [REFUSED_UNSIGNED] = "no change set that the executor signed",
    [REFUSED_SWEPT] = "no request that stands still",
    [REFUSED_CUT] = "already cut",
    [REFUSED_HALTED] = "Stage1 has failed",
    [REFUSED_STALE] = "overtaken",
    [REFUSED_ILLEGAL] = "an illegal transition",
    [REFUSED_FORBIDDEN] = "a right is missing (42501)",
    [REFUSED_UNCLASSIFIED] = "an error that nobody has classified",
};

static const char *const abort_texts[ABORT_CLASS_COUNT] = {
    [ABORT_NONE] = "not aborted",
    [ABORT_SERIALIZATION] = "40001",
    [ABORT_DEADLOCK] = "40P01",
    [ABORT_CONNECTIONS] = "53300",
    [ABORT_CONNECTION] = "connection lost",
    [ABORT_TIMEOUT] = "55P03 or 57014",
};

const char *bundle_name_text(enum bundle_name name)
{
    return name_texts[name];
}

const char *refusal_text(enum refusal refusal)
{
    return refusal_texts[refusal];
}

const char *abort_class_text(enum abort_class aborted)
{
    return abort_texts[aborted];
}

static bool call_equal(const struct call *a, const struct call *b)
{
    return a->primitive == b->primitive && a->mode == b->mode && a->values == b->values &&
           a->child == b->child && a->params == b->params && a->joined == b->joined;
}

bool bundle_equal(const struct bundle *a, const struct bundle *b)
{
    bool equal = a->name == b->name && a->isolation == b->isolation &&
                 a->principal == b->principal && a->count == b->count &&
                 a->param_count == b->param_count && a->effect.what == b->effect.what &&
                 a->effect.claim == b->effect.claim && a->effect.epoch == b->effect.epoch;
    for (uint8_t i = 0; equal && i < a->count; i++) {
        equal = call_equal(&a->calls[i], &b->calls[i]);
    }
    for (uint16_t p = 0; equal && p < a->param_count; p++) {
        equal = a->params[p] == b->params[p];
    }
    return equal;
}

void bundle_check(const struct bundle *bundle)
{
    uint16_t params = 0;
    CHECK(bundle->name < BUNDLE_NAME_COUNT && bundle->isolation <= SERIALIZABLE);
    CHECK(bundle->count >= 1 && bundle->count <= BUNDLE_CALLS_MAX);
    for (uint8_t i = 0; i < bundle->count; i++) {
        const struct call *call = &bundle->calls[i];
        CHECK(call->primitive < PRIMITIVE_COUNT && call->mode <= CALL_UNLESS_DONE); /* B2 */
        CHECK(call->params == params);                                              /* B2 */
        CHECK(call->values < BUNDLE_VALUES_MAX);                                    /* B2 */
        params = (uint16_t)(params + primitive_table[call->primitive].params);
    }
    CHECK(params == bundle->param_count); /* B2 */
}

void outcome_check(const struct outcome *outcome, const struct bundle *bundle)
{
    uint8_t kind = outcome->kind, at = outcome->skipped;
    bool refused = kind == OUTCOME_REFUSED, aborted = kind == OUTCOME_ABORTED;
    CHECK(kind == OUTCOME_COMMITTED || refused || aborted);  /* B3: a store knows what it did */
    CHECK((outcome->refusal != REFUSED_NOTHING) == refused); /* B1 */
    CHECK(outcome->aborted == ABORT_NONE || aborted);        /* B1 */
    CHECK(at <= bundle->count && (at != 0 || !refused) && (at == 0 || !aborted)); /* B1 */
    CHECK(kind != OUTCOME_COMMITTED || at == 0 ||
          bundle->calls[at - 1].mode == CALL_UNLESS_DONE); /* B1 */
}
