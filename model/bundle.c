#include "model/bundle.h"

static const char *const name_texts[BUNDLE_NAME_COUNT] = {
    [BUNDLE_CREATE] = "create job",
    [BUNDLE_CLAIM] = "claim",
    [BUNDLE_EXTEND] = "extend",
    [BUNDLE_ENTER_LEG1] = "enter Leg1",
    [BUNDLE_LEG1] = "Leg1",
    [BUNDLE_ANSWER] = "answer",
    [BUNDLE_ENTER_LEG2] = "enter Leg2",
    [BUNDLE_STEP1] = "Step 1",
    [BUNDLE_STEP2] = "Step 2",
    [BUNDLE_STEP3] = "Step 3",
    [BUNDLE_ACK] = "ack",
    [BUNDLE_ESCALATE] = "escalate",
    [BUNDLE_PUT_BACK] = "put back",
    [BUNDLE_READ] = "read",
    /* inbox */
    [BUNDLE_SEND] = "send",
    [BUNDLE_APPLY] = "apply",
    /* legacy */
    [BUNDLE_CLEAN_UP] = "clean up",
    [BUNDLE_WORK] = "work",
    [BUNDLE_END_LEG1] = "end Leg1",
    [BUNDLE_PUBLISH] = "publish",
    [BUNDLE_SAVE] = "save",
    [BUNDLE_END_LEG2] = "end Leg2",
    [BUNDLE_UNDO] = "undo",
    /* key */
    [BUNDLE_BEGIN_FLOW] = "begin flow",
    [BUNDLE_START_KEY] = "start",
    [BUNDLE_FINISH_KEY] = "finish activity",
    [BUNDLE_PAUSE_KEY] = "pause",
    [BUNDLE_RELEASE_KEY] = "release",
    /* pipeline */
    [BUNDLE_REQUEST] = "request",
    [BUNDLE_MARK] = "MARK",
    [BUNDLE_REVIEW] = "REVIEW",
    [BUNDLE_CUT] = "CUT",
    [BUNDLE_VERIFY] = "VERIFY",
    [BUNDLE_HAND_ON] = "hand on",
    /* seq */
    [BUNDLE_SEQ_ADMIT] = "admit",
    [BUNDLE_SEQ_DISPATCH] = "dispatch",
    [BUNDLE_SEQ_LOOK] = "look",
    [BUNDLE_SEQ_TAKE] = "take",
    [BUNDLE_SEQ_BEAT] = "heartbeat",
    [BUNDLE_SEQ_FINISH] = "finish",
    [BUNDLE_SEQ_FAIL] = "fail",
    [BUNDLE_SEQ_RECLAIM] = "reclaim",
    [BUNDLE_SEQ_CANCEL] = "cancel",
    [BUNDLE_SEQ_ASK] = "ask to end",
    [BUNDLE_SEQ_FORCE] = "force cancel",
    [BUNDLE_SEQ_COMMIT] = "commit",
    [BUNDLE_SEQ_ATTEMPT] = "attempt",
    [BUNDLE_SEQ_HALT] = "halt",
    [BUNDLE_SEQ_READ] = "read seq",
    /* activity with merged commits */
    [BUNDLE_LEG1_ACK] = "Leg1 and ack",
    [BUNDLE_ANSWER_ACK] = "answer and ack",
    [BUNDLE_STEPS_ACK] = "steps and ack",
    [BUNDLE_STEP3_ACK] = "Step 3 and ack",
    [BUNDLE_ACK_CLAIM] = "ack and claim",
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
};

static const char *const abort_texts[] = {
    [ABORT_NONE] = "not aborted",
    [ABORT_SERIALIZATION] = "40001",
    [ABORT_DEADLOCK] = "40P01",
    [ABORT_CONNECTIONS] = "53300",
    [ABORT_CONNECTION] = "connection lost",
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
