/* What the scenario of a seq ledger asks for: how many seqs there are, under which policy, and what
 * the work of each reports on its n-th run. Written from the specification, the errata and
 * scenarios/MEANING.md. */
#ifndef MODEL_ORACLE_EXPECTED_SEQ_H
#define MODEL_ORACLE_EXPECTED_SEQ_H

#include "model/oracle/document.h"

#define EXPECTED_FATES 64

enum expected_fate {
    EXPECTED_SUCCESS,
    EXPECTED_SKIP,
    EXPECTED_RETRY,
    EXPECTED_EXHAUST,
    EXPECTED_FATAL,
    EXPECTED_CANCEL,
    EXPECTED_FATE_COUNT
};

struct expected_seq {
    int64_t jobs;                 /* seqs, numbered from 0 */
    int64_t budget;               /* retries of one seq */
    bool drill;                   /* illegal moves may be attempted, and Stage1 may halt */
    uint32_t fates;               /* how many there are; seqs take them in turn */
    uint8_t fate[EXPECTED_FATES]; /* enum expected_fate */
};

/* What a run that is left to finish reports: a terminal state, and the class of a failure. */
struct expected_report {
    int64_t state;      /* 3, 4 or 5 */
    int64_t fail_class; /* of state 5: 1 transient, 2 permanent */
};

void expected_seq_read(const struct document *scenario, struct expected_seq *expected);

/* Which fail classes may be retried, a bit a class: an expired lease (0) and a transient one. */
int64_t expected_seq_retryable(void);

/* What the work of the seq reports after so many retries. */
struct expected_report expected_seq_report(const struct expected_seq *expected, int64_t number,
                                           int64_t attempts);

/* Whether the scenario has the seq cancelled. */
bool expected_seq_is_cancelled(const struct expected_seq *expected, int64_t number);

#endif
