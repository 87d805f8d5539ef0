#include "model/primitive.h"

#define P(i)      (OPERAND_PARAM + (i))
#define V(i)      (OPERAND_VALUE + (i))
#define NOW       OPERAND_NOW
#define ZERO      OPERAND_ZERO
#define ONE       OPERAND_ONE
#define MINUS_ONE OPERAND_MINUS_ONE
#define TO(i)     ((i) + 1) /* the value that a result goes to, or that a condition looks at */

static const uint8_t new_job[JOB_COLUMNS] = {ONE, P(1), ZERO, ZERO, P(2)}; /* E-ACL-9 */
static const uint8_t new_activity[ACTIVITY_COLUMNS] = {P(1), P(2), P(3), P(4)};
static const uint8_t new_task[TASK_COLUMNS] = {P(1), P(2), ZERO, ONE};
static const uint8_t new_guid[GUID_COLUMNS] = {P(0), V(0), V(1), P(2), P(3)};
static const uint8_t new_output[OUTPUT_COLUMNS] = {P(1), P(2), P(3), P(4), ONE};
static const uint8_t new_completion[COMPLETION_COLUMNS] = {P(1), P(2), ONE};
static const uint8_t new_escalation[ESCALATION_COLUMNS] = {P(1), P(2), P(3), ONE};
static const uint8_t new_message[MESSAGE_COLUMNS] = {
    P(1), P(2), P(3), P(4), P(5), P(6), P(7), P(8), P(9), P(10), P(11), P(12), P(13), NOW, ZERO};

/* A claim is held while its epoch stands (E-ACL-11). */
#define IF_EPOCH_STANDS .test = TEST_EQUAL, .a = P(1), .miss = MISS_BY_CALL, .reason = REFUSED_EPOCH

const struct primitive primitive_table[PRIMITIVE_COUNT] =
    {
        [PRIMITIVE_CLAIM] =
            {
                .name = "claim",
                .params = 1,
                .op_count = 1,
                .ops = {{OP_CLAIM, TABLE_MESSAGE, .value = P(0), .miss = MISS_REFUSES,
                         .reason = REFUSED_NO_MESSAGE}},
            },
        [PRIMITIVE_EXTEND] =
            {
                .name = "extend",
                .one_statement = true,
                .params = 3,
                .op_count = 3,
                .ops = {{OP_TEST, TABLE_MESSAGE, MESSAGE_EPOCH, .key = P(0), IF_EPOCH_STANDS},
                        {OP_LET_SUM, .a = NOW, .b = P(2), .c = ONE, .returns = TO(0)},
                        {OP_SET, TABLE_MESSAGE, MESSAGE_VISIBLE_AT, .key = P(0), .value = V(0)}},
            },
        [PRIMITIVE_PUT_BACK] =
            {
                .name = "put back",
                .one_statement = true,
                .params = 3,
                .op_count = 3,
                .ops = {{OP_TEST, TABLE_MESSAGE, MESSAGE_EPOCH, .key = P(0), IF_EPOCH_STANDS},
                        {OP_LET_SUM, .a = NOW, .b = P(2), .c = ONE, .returns = TO(0)},
                        {OP_SET, TABLE_MESSAGE, MESSAGE_VISIBLE_AT, .key = P(0), .value = V(0)}},
            },
        [PRIMITIVE_ACK] =
            {
                .name = "ack",
                .params = 2,
                .op_count = 1,
                .ops = {{OP_DELETE, TABLE_MESSAGE, MESSAGE_EPOCH, .key = P(0), IF_EPOCH_STANDS}},
            },
        /* Counted on stale replays too, as far as there is room (4.1, E-ACL-16). */
        [PRIMITIVE_ENTER_LEG1] =
            {
                .name = "enter Leg1",
                .one_statement = true,
                .params = 4,
                .op_count = 2,
                .ops = {{OP_TEST, TABLE_ACTIVITY, ACTIVITY_LEDGER, .key = P(0),
                         .miss = MISS_REFUSES, .reason = REFUSED_NO_ROW},
                        {OP_ADD, TABLE_ACTIVITY, ACTIVITY_LEDGER, .key = P(0), .value = P(1),
                         .test = TEST_BELOW, .a = P(1), .b = P(2), .c = P(3), .returns = TO(0),
                         .found = TO(1)}},
            },
        [PRIMITIVE_MARK_ACTIVITY] =
            {
                .name = "mark activity",
                .params = 2,
                .op_count = 1,
                .ops = {{OP_ADD, TABLE_ACTIVITY, ACTIVITY_LEDGER, .key = P(0), .value = P(1),
                         .test = TEST_UNMARKED, .a = P(1), .miss = MISS_BY_CALL,
                         .reason = REFUSED_DONE, .returns = TO(0)}},
            },
        [PRIMITIVE_REQUIRE_MARK] =
            {
                .name = "require mark",
                .params = 2,
                .op_count = 1,
                .ops = {{OP_TEST, TABLE_GUID, GUID_LEDGER, .key = P(0), .test = TEST_MARKED,
                         .a = P(1), .miss = MISS_BY_CALL, .reason = REFUSED_TOO_EARLY}},
            },
        [PRIMITIVE_REQUIRE_UNMARKED] =
            {
                .name = "require unmarked",
                .params = 2,
                .op_count = 1,
                .ops = {{OP_TEST, TABLE_ACTIVITY, ACTIVITY_LEDGER, .key = P(0),
                         .test = TEST_UNMARKED, .a = P(1), .miss = MISS_BY_CALL,
                         .reason = REFUSED_DONE}},
            },
        [PRIMITIVE_REQUIRE_STUCK] =
            {
                .name = "require stuck",
                .params = 4,
                .op_count = 1,
                .ops = {{OP_TEST, TABLE_GUID, GUID_LEDGER, .key = P(0), .test = TEST_STUCK,
                         .a = P(1), .b = P(2), .c = P(3), .miss = MISS_BY_CALL,
                         .reason = REFUSED_DONE}},
            },
        /* Values: 0 ledger, 1 dimension, 2 answer, 3 content, 4 known, 5 the activity's ledger. */
        [PRIMITIVE_ENTER_LEG2] =
            {
                .name = "enter Leg2",
                .one_statement = true,
                .params = 8,
                .op_count = 12,
                .ops = {{OP_TEST, TABLE_ACTIVITY, ACTIVITY_LEDGER, .key = P(0),
                         .miss = MISS_REFUSES, .reason = REFUSED_NO_ROW}, /* E-ACL-29 */
                        {OP_TEST, TABLE_ACTIVITY, ACTIVITY_LEDGER, .key = P(0), .test = TEST_MARKED,
                         .a = P(4), .miss = MISS_REFUSES, .reason = REFUSED_TOO_EARLY}, /* ACL-45 */
                        {OP_READ, TABLE_GUID, GUID_DIMENSION, .key = P(1), .fresh = true,
                         .returns = TO(1), .found = TO(4)},
                        /* a GUID that is known: ACL-15, E-ACL-17 */
                        {OP_TEST, TABLE_GUID, GUID_LEDGER, .key = P(1), .fresh = true,
                         .test = TEST_RESUMABLE, .a = P(5), .b = P(6), .c = P(7), .when = TO(4),
                         .miss = MISS_REFUSES, .reason = REFUSED_ATTEMPTS},
                        {OP_ADD, TABLE_ACTIVITY, ACTIVITY_LEDGER, .key = P(0), .value = ONE,
                         .test = TEST_BELOW, .a = ONE, .b = P(5), .c = P(6), .when = TO(4)},
                        {OP_ADD, TABLE_GUID, GUID_LEDGER, .key = P(1), .fresh = true, .value = ONE,
                         .test = TEST_BELOW, .a = ONE, .b = P(5), .c = P(6), .when = TO(4),
                         .returns = TO(0)},
                        /* a new one: ACL-7, E-ACL-3, E-ACL-4 */
                        {OP_ADD, TABLE_ACTIVITY, ACTIVITY_LEDGER, .key = P(0), .value = ONE,
                         .test = TEST_BELOW, .a = ONE, .b = P(5), .c = P(6), .unless = TO(4),
                         .miss = MISS_REFUSES, .reason = REFUSED_CEILING, .returns = TO(5)},
                        {OP_LET_MODULO, .a = V(5), .b = P(5), .unless = TO(4), .returns = TO(0)},
                        {OP_LET_SUM, .a = V(0), .b = MINUS_ONE, .c = ONE, .unless = TO(4),
                         .returns = TO(1)},
                        {OP_INSERT, TABLE_GUID, .key = P(1), .columns = new_guid, .unless = TO(4),
                         .miss = MISS_REFUSES},
                        {OP_READ, TABLE_GUID, GUID_ANSWER, .key = P(1), .fresh = true,
                         .returns = TO(2)},
                        {OP_READ, TABLE_GUID, GUID_CONTENT, .key = P(1), .fresh = true,
                         .returns = TO(3)}},
            },
        [PRIMITIVE_MARK_GUID] =
            {
                .name = "mark GUID",
                .params = 2,
                .op_count = 1,
                .ops = {{OP_ADD, TABLE_GUID, GUID_LEDGER, .key = P(0), .value = P(1),
                         .test = TEST_UNMARKED, .a = P(1), .miss = MISS_BY_CALL,
                         .reason = REFUSED_DONE, .returns = TO(0)}},
            },
        /* setStatusAndCollateGuid (12.2): everything hangs on the marker's test under the GUID's
         * lock (E-ACL-25), and the GUID row is updated exactly once (E-ACL-24). Values: 0 ledger, 1
         * semaphore, 2 hit. */
        [PRIMITIVE_COLLATE] =
            {
                .name = "collate",
                .one_statement = true,
                .params = 5,
                .op_count = 8,
                .ops = {{OP_TEST, TABLE_GUID, GUID_LEDGER, .key = P(0), .test = TEST_UNMARKED,
                         .a = P(3), .miss = MISS_BY_CALL, .reason = REFUSED_DONE, .returns = TO(0)},
                        {OP_READ, TABLE_JOB, JOB_THRESHOLD, .key = P(1), .returns = TO(3)},
                        {OP_ADD, TABLE_JOB, JOB_SEMAPHORE, .key = P(1), .value = P(2),
                         .test = TEST_NOT_BELOW, .miss = MISS_REFUSES, .reason = REFUSED_NEGATIVE,
                         .returns = TO(1)},
                        {OP_LET_EQUAL, .a = V(1), .b = V(3), .returns = TO(2)}, /* E-ACL-14 */
                        {OP_LET_SUM, .a = P(3), .b = V(2), .c = P(4), .returns = TO(4)},
                        {OP_ADD, TABLE_GUID, GUID_LEDGER, .key = P(0), .value = V(4),
                         .returns = TO(0)},
                        {OP_LET_EQUAL, .a = V(1), .b = ZERO, .returns = TO(3)},
                        {OP_SET, TABLE_JOB, JOB_STATE, .key = P(1), .value = V(3),
                         .joins = true}}, /* ACL-39 */
            },
        [PRIMITIVE_READ_ACTIVITY] =
            {
                .name = "read activity",
                .params = 1,
                .op_count = 1,
                .ops = {{OP_READ, TABLE_ACTIVITY, ACTIVITY_LEDGER, .key = P(0), .returns = TO(0)}},
            },
        [PRIMITIVE_READ_GUID] =
            {
                .name = "read GUID",
                .one_statement = true,
                .params = 1,
                .op_count = 2,
                .ops = {{OP_READ, TABLE_GUID, GUID_LEDGER, .key = P(0), .returns = TO(0),
                         .found = TO(2)},
                        {OP_READ, TABLE_GUID, GUID_DIMENSION, .key = P(0), .returns = TO(1)}},
            },
        [PRIMITIVE_READ_TASK] =
            {
                .name = "read task",
                .params = 1,
                .op_count = 1,
                .ops = {{OP_READ, TABLE_TASK, TASK_CLOSED, .key = P(0), .returns = TO(0)}},
            },
        [PRIMITIVE_READ_INPUT] =
            {
                .name = "read input",
                .params = 1,
                .op_count = 1,
                .ops = {{OP_READ, TABLE_JOB, JOB_INPUT, .key = P(0), .returns = TO(0)}},
            },
        [PRIMITIVE_READ_OUTPUT] =
            {
                .name = "read output",
                .params = 1,
                .op_count = 1,
                .ops = {{OP_READ, TABLE_OUTPUT, OUTPUT_VALUE, .key = P(0), .returns = TO(0)}},
            },
        [PRIMITIVE_CREATE_JOB] =
            {
                .name = "create job",
                .params = 3,
                .op_count = 1,
                .ops = {{OP_INSERT, TABLE_JOB, .key = P(0), .columns = new_job,
                         .miss = MISS_BY_CALL}},
            },
        [PRIMITIVE_ESCALATE_JOB] =
            {
                .name = "escalate job",
                .params = 1,
                .op_count = 1,
                .ops = {{OP_SET, TABLE_JOB, JOB_ESCALATED, .key = P(0), .value = ONE}},
            },
        [PRIMITIVE_CLOSE_TASK] =
            {
                .name = "close task",
                .params = 2,
                .op_count = 1,
                .ops = {{OP_SET, TABLE_TASK, TASK_CLOSED, .key = P(0), .value = P(1),
                         .test = TEST_EQUAL, .a = ZERO, .miss = MISS_BY_CALL,
                         .reason = REFUSED_CLOSED}},
            },
        [PRIMITIVE_ADD_ACTIVITY] =
            {
                .name = "add activity",
                .params = 5,
                .op_count = 1,
                .ops = {{OP_INSERT, TABLE_ACTIVITY, .key = P(0), .columns = new_activity,
                         .miss = MISS_BY_CALL}},
            },
        [PRIMITIVE_RECORD_TASK] =
            {
                .name = "record task",
                .params = 3,
                .op_count = 1,
                .ops = {{OP_RECORD, TABLE_TASK, .key = P(0), .columns = new_task}},
            },
        [PRIMITIVE_RECORD_OUTPUT] =
            {
                .name = "record output",
                .params = 5,
                .op_count = 1,
                .ops = {{OP_RECORD, TABLE_OUTPUT, .key = P(0), .columns = new_output}},
            },
        [PRIMITIVE_RECORD_COMPLETION] =
            {
                .name = "record completion",
                .params = 3,
                .op_count = 1,
                .ops = {{OP_RECORD, TABLE_COMPLETION, .key = P(0), .columns = new_completion}},
            },
        [PRIMITIVE_RECORD_ESCALATION] =
            {
                .name = "record escalation",
                .params = 4,
                .op_count = 1,
                .ops = {{OP_RECORD, TABLE_ESCALATION, .key = P(0), .columns = new_escalation}},
            },
        [PRIMITIVE_PUBLISH] =
            {
                .name = "publish",
                .params = 14,
                .op_count = 1,
                .ops = {{OP_INSERT, TABLE_MESSAGE, .key = P(0), .columns = new_message,
                         .miss = MISS_BY_CALL}},
            },
};

const struct primitive primitive_traps[TRAP_COUNT] = {
    [TRAP_TWO_UPDATES] =
        {
            .name = "two updates",
            .one_statement = true,
            .params = 3,
            .op_count = 3,
            .ops = {{OP_TEST, TABLE_GUID, GUID_LEDGER, .key = P(0), .test = TEST_UNMARKED,
                     .a = P(1), .miss = MISS_BY_CALL, .reason = REFUSED_DONE, .returns = TO(0)},
                    {OP_ADD, TABLE_GUID, GUID_LEDGER, .key = P(0), .value = P(1), .returns = TO(0)},
                    {OP_ADD, TABLE_GUID, GUID_LEDGER, .key = P(0), .value = P(2)}},
        },
    [TRAP_PLAIN_TEST] =
        {
            .name = "plain test",
            .one_statement = true,
            .params = 4,
            .op_count = 3,
            .ops = {{OP_TEST, TABLE_GUID, GUID_LEDGER, .key = P(0), .test = TEST_UNMARKED,
                     .a = P(3), .miss = MISS_BY_CALL, .reason = REFUSED_DONE, .lock = LOCK_NONE,
                     .returns = TO(0)},
                    {OP_ADD, TABLE_JOB, JOB_SEMAPHORE, .key = P(1), .value = P(2),
                     .miss = MISS_REFUSES, .reason = REFUSED_NO_ROW, .returns = TO(1)},
                    {OP_ADD, TABLE_GUID, GUID_LEDGER, .key = P(0), .value = P(3),
                     .returns = TO(0)}},
        },
};

const struct foreign_key primitive_foreign_keys[TABLE_COUNT] = {
    [TABLE_ACTIVITY] = {ACTIVITY_JOB, TABLE_JOB, true},
    [TABLE_TASK] = {TASK_ACTIVITY, TABLE_ACTIVITY, true},
    [TABLE_GUID] = {GUID_ACTIVITY, TABLE_ACTIVITY, true},
    [TABLE_OUTPUT] = {OUTPUT_ACTIVITY, TABLE_ACTIVITY, true},
    [TABLE_COMPLETION] = {COMPLETION_JOB, TABLE_JOB, true},
    [TABLE_ESCALATION] = {ESCALATION_JOB, TABLE_JOB, true},
    [TABLE_MESSAGE] = {MESSAGE_ACTIVITY, TABLE_ACTIVITY, true},
};
