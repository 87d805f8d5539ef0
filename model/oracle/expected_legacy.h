/* What a scenario of the earlier ledger asks for: its graph, read as the activity protocol reads
 * it, and the Leg2 messages of an activity. Written from the specification, the errata and
 * scenarios/MEANING.md.
 *
 * Answers are numbered as MESSAGE_ANSWER has them: k the k-th pending one, 0 the closing one, -k
 * the k-th call after it. Which of them get in is decided by the schedule (EX2). */
#ifndef MODEL_ORACLE_EXPECTED_LEGACY_H
#define MODEL_ORACLE_EXPECTED_LEGACY_H

#include "model/oracle/expected_activity.h"

struct expected_legacy {
    struct expected_activity graph; /* without cycles and thresholds */
};

void expected_legacy_read(const struct document *scenario, struct expected_legacy *expected);

/* Ids: of job j, of the activity of its trigger; of what an activity saved in a dimension; of its
 * Leg1 message, and of its Leg2 message with this answer; of a message's n-th claim, from 1. */
int64_t expected_legacy_job(int64_t j);
int64_t expected_legacy_trigger(int64_t j);
int64_t expected_legacy_state(int64_t activity, int64_t dimension);
int64_t expected_legacy_leg1(int64_t activity);
int64_t expected_legacy_leg2(int64_t activity, int64_t answer);
int64_t expected_legacy_claim(int64_t message, int64_t n);

/* A node has this answer; the data that it carries. */
bool expected_legacy_answers(const struct expected_node *node, int64_t answer);
int64_t expected_legacy_content(int64_t node, int64_t input, int64_t answer);

#endif
