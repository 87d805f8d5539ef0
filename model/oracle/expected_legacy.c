#include "model/oracle/expected_legacy.h"

#include "model/oracle/mint.h"

/* Roles of ids (scenarios/MEANING.md). */
#define ROLE_TRIGGER 1
#define ROLE_LEG1    3
#define ROLE_JOB     8 /* plus its number */
#define ROLE_CLOSING (INT64_C(1) << 20)
#define ROLE_PENDING (INT64_C(1) << 21) /* plus its number */
#define ROLE_CALL    (INT64_C(1) << 23) /* plus its number */
#define ROLE_STATE   (INT64_C(1) << 24) /* plus its dimension */

void expected_legacy_read(const struct document *scenario, struct expected_legacy *expected)
{
    expected_activity_read(scenario, &expected->graph);
}

int64_t expected_legacy_job(int64_t j)
{
    return oracle_mint(0, ROLE_JOB + j);
}

int64_t expected_legacy_trigger(int64_t j)
{
    return oracle_mint(expected_legacy_job(j), ROLE_TRIGGER);
}

int64_t expected_legacy_state(int64_t activity, int64_t dimension)
{
    return oracle_mint(activity, ROLE_STATE + dimension);
}

int64_t expected_legacy_leg1(int64_t activity)
{
    return oracle_mint(activity, ROLE_LEG1);
}

int64_t expected_legacy_leg2(int64_t activity, int64_t answer)
{
    return oracle_mint(activity, answer > 0   ? ROLE_PENDING + answer
                                 : answer < 0 ? ROLE_CALL - answer
                                              : ROLE_CLOSING);
}

int64_t expected_legacy_claim(int64_t message, int64_t n)
{
    return oracle_mint(message, n);
}

bool expected_legacy_answers(const struct expected_node *node, int64_t answer)
{
    return answer >= -(int64_t)node->again && answer <= node->pendings;
}

int64_t expected_legacy_content(int64_t node, int64_t input, int64_t answer)
{
    return answer > 0 ? expected_activity_pending(node, input, answer)
                      : expected_activity_output(node, input);
}
