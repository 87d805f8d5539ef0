#include "model/bundle.h"

static const char *const name_texts[BUNDLE_NAME_COUNT] = {
#define BUNDLE(id, text) [BUNDLE_##id] = (text),
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
