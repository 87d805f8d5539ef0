#include "model/oracle/expected_seq.h"

#include "model/check.h"

enum { SUCCESS = 3, SKIP = 4, FAIL = 5 };                 /* states (SEQ-1) */
enum { CLASS_EXPIRED, CLASS_TRANSIENT, CLASS_PERMANENT }; /* of failures */

static const char *const fate_names[EXPECTED_FATE_COUNT] = {
    [EXPECTED_SUCCESS] = "success", [EXPECTED_SKIP] = "skip",   [EXPECTED_RETRY] = "retry",
    [EXPECTED_EXHAUST] = "exhaust", [EXPECTED_FATAL] = "fatal", [EXPECTED_CANCEL] = "cancel",
};

static uint8_t read_fate(const struct document *scenario, uint32_t node)
{
    uint8_t fate = 0;
    while (!document_is(scenario, node, fate_names[fate])) {
        fate++;
        CHECK(fate < EXPECTED_FATE_COUNT); /* the loader refuses others */
    }
    return fate;
}

void expected_seq_read(const struct document *scenario, struct expected_seq *expected)
{
    *expected = (struct expected_seq){
        .jobs = document_number(scenario, document_find(scenario, 0, "jobs"), 1),
        .budget = document_number(scenario, document_find(scenario, 0, "budget"), 0),
        .drill = document_is(scenario, document_find(scenario, 0, "drill"), "on"),
    };
    uint32_t list = document_find(scenario, 0, "fates");
    for (uint32_t n = document_first(scenario, list); n != DOCUMENT_NONE;
         n = document_next(scenario, n)) {
        CHECK(expected->fates < EXPECTED_FATES);
        expected->fate[expected->fates++] = read_fate(scenario, n);
    }
}

int64_t expected_seq_retryable(void)
{
    return 1 << CLASS_EXPIRED | 1 << CLASS_TRANSIENT;
}

static enum expected_fate fate_of(const struct expected_seq *expected, int64_t number)
{
    CHECK(number >= 0 && expected->fates > 0);
    return (enum expected_fate)expected->fate[(uint64_t)number % expected->fates];
}

struct expected_report expected_seq_report(const struct expected_seq *expected, int64_t number,
                                           int64_t attempts)
{
    const struct expected_report success = {SUCCESS, 0}, transient = {FAIL, CLASS_TRANSIENT};
    switch (fate_of(expected, number)) {
    case EXPECTED_SKIP:
        return (struct expected_report){SKIP, 0};
    case EXPECTED_EXHAUST:
        return transient;
    case EXPECTED_FATAL:
        return (struct expected_report){FAIL, CLASS_PERMANENT};
    case EXPECTED_RETRY:
    case EXPECTED_CANCEL:
        return attempts == 0 ? transient : success;
    case EXPECTED_SUCCESS:
    case EXPECTED_FATE_COUNT:
        break;
    }
    return success;
}

bool expected_seq_is_cancelled(const struct expected_seq *expected, int64_t number)
{
    return fate_of(expected, number) == EXPECTED_CANCEL;
}
