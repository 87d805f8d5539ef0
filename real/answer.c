#include "real/answer.h"

#include "real/schema.h"

#include <stdlib.h>
#include <string.h>

static bool is(const struct answer *answer, const char *sqlstate)
{
    return strcmp(answer->sqlstate, sqlstate) == 0;
}

static bool starts(const struct answer *answer, const char *prefix)
{
    return strncmp(answer->sqlstate, prefix, strlen(prefix)) == 0;
}

static bool aborted(struct outcome *outcome, enum abort_class why)
{
    outcome->kind = OUTCOME_ABORTED;
    outcome->aborted = (uint8_t)why;
    return true;
}

static bool refused(struct outcome *outcome, enum refusal why)
{
    outcome->kind = OUTCOME_REFUSED;
    outcome->refusal = (uint8_t)why;
    return true;
}

static bool unknown(struct outcome *outcome)
{
    outcome->kind = OUTCOME_UNKNOWN;
    return true;
}

/* The session ended with a word of farewell. While COMMIT was under way that says nothing: a
 * session that waits for its standby is ended after the commit is durable. */
static bool farewell(const struct answer *answer, struct outcome *outcome)
{
    if (answer->place == ANSWER_AT_COMMIT) {
        return unknown(outcome);
    }
    return aborted(outcome, is(answer, "53300") ? ABORT_CONNECTIONS : ABORT_CONNECTION);
}

static bool ends_session(const struct answer *answer)
{
    return answer->fatal || starts(answer, "08") || is(answer, "57P01") || is(answer, "57P02") ||
           is(answer, "57P03") || is(answer, "25P03") || is(answer, "53300");
}

/* It may be tried again. */
static bool transient(const struct answer *answer, struct outcome *outcome)
{
    if (ends_session(answer)) {
        return farewell(answer, outcome);
    }
    if (is(answer, "40001")) {
        return aborted(outcome, ABORT_SERIALIZATION);
    }
    if (is(answer, "40P01")) {
        return aborted(outcome, ABORT_DEADLOCK);
    }
    if (is(answer, "55P03") || is(answer, "57014")) { /* E-CUT-16 */
        return aborted(outcome, ABORT_TIMEOUT);
    }
    return false;
}

static bool refusal(const struct answer *answer, struct outcome *outcome)
{
    if (is(answer, "23505")) {
        return refused(outcome, REFUSED_EXISTS);
    }
    if (is(answer, "23503")) {
        return refused(outcome, REFUSED_NO_PARENT);
    }
    if (is(answer, "23502")) {
        return refused(outcome, REFUSED_NULL);
    }
    if (is(answer, "42501") && answer->bound) {
        return refused(outcome, REFUSED_FORBIDDEN);
    }
    bool private = starts(answer, SCHEMA_REFUSAL_CLASS);
    long reason = private ? strtol(answer->sqlstate + strlen(SCHEMA_REFUSAL_CLASS), NULL, 10) : -1;
    if (reason >= 0 && reason < REFUSAL_COUNT) {
        return refused(outcome, (enum refusal)reason);
    }
    return answer->bound && refused(outcome, REFUSED_UNCLASSIFIED);
}

bool answer_outcome(const struct answer *answer, struct outcome *outcome)
{
    outcome->refusal = REFUSED_NOTHING;
    outcome->aborted = ABORT_NONE;
    if (!answer->sent) {
        return aborted(outcome, is(answer, "53300") ? ABORT_CONNECTIONS : ABORT_CONNECTION);
    }
    if (answer->commit == ANSWER_COMMIT_DONE) {
        outcome->kind = OUTCOME_COMMITTED; /* whatever befell the connection afterwards */
        return true;
    }
    if (answer->place != ANSWER_NO_ERROR && answer->sqlstate[0] != '\0') {
        return transient(answer, outcome) || refusal(answer, outcome);
    }
    if (answer->commit == ANSWER_COMMIT_ROLLED_BACK) {
        return aborted(outcome, ABORT_SERIALIZATION); /* nothing happened, it may be tried again */
    }
    return unknown(outcome);
}
