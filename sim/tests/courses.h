/* Courses: short interleavings of two to four transactions, step by step, with what becomes of each
 * step. One description for both sides: test_session.c runs them on the simulated store alone, and
 * verify/tests/test_lockstep.c the same ones with PostgreSQL beside it.
 *
 * A step is one statement of a session, which begins with its first one, or its end. What becomes
 * of it is a text: a value, "waits", an SQLSTATE; then each session that it let go: "commits; B:
 * 16". All courses begin with the same rows. */
#ifndef SIM_TESTS_COURSES_H
#define SIM_TESTS_COURSES_H

#include "sim/script.h"
#include "sim/session.h"

#include <stdio.h>
#include <string.h>

#define COURSE_STEPS_MAX  14
#define COURSE_CELLS_MAX  4
#define COURSE_TEXT_SIZE  64
#define COURSE_SESSIONS   SCRIPT_SESSIONS_MAX
#define COURSE_STATEMENTS (COURSE_STEPS_MAX)
#define COURSE_GONE       INT64_MIN

enum course_act { ACT_STATEMENT, ACT_COMMIT, ACT_ROLLBACK };

struct course_step {
    char who;    /* 'A' .. 'D'; 0: the course is over */
    uint8_t act; /* enum course_act */
    struct op op;
    const struct primitive *primitive; /* instead of the operation: several in one statement */
    uint8_t mode;                      /* enum call_mode */
    int64_t params[PRIMITIVE_PARAMS_MAX];
    const char *then; /* what becomes of it; "goes on": no wait, and no failure; NULL: anything */
};

struct course_cell {
    uint8_t table;
    int64_t key;
    int column;
    int64_t value; /* COURSE_GONE: there is no such row */
};

struct course {
    const char *name;
    const char *serializable;  /* sessions that are, such as "AB"; NULL: none */
    const char *exec, *verify; /* sessions that are a principal's; NULL: none */
    bool chosen; /* PostgreSQL may choose another course: only what it has in common with
                    the simulation and the rows in the end are compared */
    struct course_step steps[COURSE_STEPS_MAX];
    struct course_cell cells[COURSE_CELLS_MAX]; /* in the end; unused ones have key 0 */
};

/* ---- words for them -------------------------------------------------------------------------- */

#define COURSE_P(i)      ((uint8_t)(OPERAND_PARAM + (i)))
#define COURSE_TO(i)     ((uint8_t)((i) + 1))
#define JOB_             TABLE_JOB, JOB_SEMAPHORE
#define JOB_COLUMN(key_) TABLE_JOB, key_, JOB_SEMAPHORE
#define ACTIVITY_        TABLE_ACTIVITY, ACTIVITY_LEDGER
#define GUID_            TABLE_GUID, GUID_LEDGER
#define MESSAGE_         TABLE_MESSAGE, MESSAGE_VISIBLE_AT
#define STATUS_          TABLE_ENTRY, ENTRY_STATUS
#define PAYLOAD_         TABLE_ENTRY, ENTRY_PAYLOAD
#define STAMP_           TABLE_CHANGE_SET, CHANGE_SET_VERIFIER
#define SIGNED_          TABLE_SIGNATURE, SIGNATURE_PRIOR
#define SIGNED_BY_       TABLE_CHANGE_SET, CHANGE_SET_SIGNATURE

static const uint8_t course_job[JOB_COLUMNS] = {COURSE_P(1)};
static const uint8_t course_null_job[JOB_COLUMNS] = {COURSE_P(1), OPERAND_NULL};
static const uint8_t course_activity[ACTIVITY_COLUMNS] = {COURSE_P(1), 0, COURSE_P(2)};
static const uint8_t course_guid[GUID_COLUMNS] = {COURSE_P(1), COURSE_P(2)};
static const uint8_t course_completion[COMPLETION_COLUMNS] = {COURSE_P(1), 0, OPERAND_ONE};
static const uint8_t course_sweep[SWEEP_LOG_COLUMNS] = {[SWEEP_LOG_WHY] = COURSE_P(1)};
static const uint8_t course_verify[VERIFY_COLUMNS] = {
    [VERIFY_SET] = COURSE_P(1), [VERIFY_EXECUTOR] = COURSE_P(2), [VERIFY_VERIFIER] = COURSE_P(3)};
/* Of entry 51: lane and principal. */
static const uint8_t course_signature[SIGNATURE_COLUMNS] = {COURSE_P(3), COURSE_P(1), COURSE_P(2)};
static const uint8_t course_null_signature[SIGNATURE_COLUMNS] = {COURSE_P(3), OPERAND_NULL,
                                                                 COURSE_P(2)};
/* In lane 1, of an entry and after another. */
static const uint8_t course_chained[SIGNATURE_COLUMNS] = {COURSE_P(1), OPERAND_ONE, OPERAND_ONE,
                                                          COURSE_P(2)};
static const uint8_t course_message[MESSAGE_COLUMNS] = {
    [MESSAGE_ACTIVITY] = COURSE_P(1), [MESSAGE_VISIBLE_AT] = COURSE_P(2)};

#define DOES(who_, what_, then_)                                                                   \
    {                                                                                              \
        .who = (who_), what_, .then = (then_)                                                      \
    }
#define COMMITS(who_, then_)                                                                       \
    {                                                                                              \
        .who = (who_), .act = ACT_COMMIT, .then = (then_)                                          \
    }
#define GIVES_UP(who_, then_)                                                                      \
    {                                                                                              \
        .who = (who_), .act = ACT_ROLLBACK, .then = (then_)                                        \
    }

/* `cell` is a table and a column: JOB_ and so on. */
#define COURSE_ON(kind_, table_, column_, ...)                                                     \
    .op = {kind_,                                                                                  \
           table_,                                                                                 \
           column_,                                                                                \
           .key = COURSE_P(0),                                                                     \
           .returns = COURSE_TO(0),                                                                \
           .found = COURSE_TO(1),                                                                  \
           __VA_ARGS__}
#define READ(cell_, key_)        COURSE_ON(OP_READ, cell_, .lock = LOCK_USUAL), .params = {key_}
#define LOCK(cell_, key_, mode_) COURSE_ON(OP_READ, cell_, .lock = (mode_)), .params = {key_}
#define TRY_LOCK(cell_, key_, mode_)                                                               \
    COURSE_ON(OP_READ, cell_, .lock = (mode_), .skips = true), .params = {key_}
#define ADD(cell_, key_, value_)                                                                   \
    COURSE_ON(OP_ADD, cell_, .value = COURSE_P(1)), .params = {key_, value_}
#define ADD_IF(cell_, key_, value_, is_)                                                           \
    COURSE_ON(OP_ADD, cell_, .value = COURSE_P(1), .test = TEST_EQUAL, .a = COURSE_P(2)),          \
        .params = {key_, value_, is_}
#define TESTS(cell_, key_) COURSE_ON(OP_TEST, cell_, .test = TEST_NONE), .params = {key_}
#define SET(cell_, key_, value_)                                                                   \
    COURSE_ON(OP_SET, cell_, .value = COURSE_P(1)), .params = {key_, value_}
#define DELETE(cell_, key_) COURSE_ON(OP_DELETE, cell_, .lock = LOCK_USUAL), .params = {key_}
#define COURSE_NEW(kind_, table_, columns_, miss_)                                                 \
    .op = {kind_, table_, .key = COURSE_P(0), .miss = (miss_), .columns = (columns_)}
#define INSERT(table_, columns_, ...)                                                              \
    COURSE_NEW(OP_INSERT, table_, columns_, MISS_BY_CALL), .mode = CALL_REQUIRE,                   \
                                                           .params = {__VA_ARGS__}
#define INSERT_OR_NOT(table_, columns_, ...) /* ON CONFLICT DO NOTHING */                          \
    COURSE_NEW(OP_INSERT, table_, columns_, MISS_GOES_ON), .params = {__VA_ARGS__}
#define RECORD(...)                                                                                \
    COURSE_NEW(OP_RECORD, TABLE_COMPLETION, course_completion, MISS_GOES_ON),                      \
        .params = {__VA_ARGS__}
#define CLAIM()                                                                                    \
    .op = {OP_CLAIM, TABLE_MESSAGE, .value = COURSE_P(0), .miss = MISS_REFUSES,                    \
           .reason = REFUSED_NO_MESSAGE},                                                          \
    .params = {50}
#define FIND(below_) /* the first job with a semaphore below that */                               \
    .op = {OP_FIND,                                                                                \
           TABLE_JOB,                                                                              \
           JOB_ESCALATED,                                                                          \
           .beside = JOB_STATE,                                                                    \
           .order = JOB_SEMAPHORE,                                                                 \
           .c = COURSE_P(0),                                                                       \
           .returns = COURSE_TO(0)},                                                               \
    .params = {below_}
#define FIND_LAST() /* the last signature of lane 1 */                                             \
    .op = {OP_FIND,                                                                                \
           TABLE_SIGNATURE,                                                                        \
           SIGNATURE_LANE,                                                                         \
           .a = OPERAND_ONE,                                                                       \
           .beside = SIGNATURE_PRINCIPAL,                                                          \
           .b = OPERAND_ONE,                                                                       \
           .order = SIGNATURE_PRIOR,                                                               \
           .c = COURSE_P(0),                                                                       \
           .unnamed = 1 + SIGNATURE_PRIOR,                                                         \
           .returns = COURSE_TO(0)},                                                               \
    .params = {INT64_MAX}
#define EVERY(ledger_, is_, lock_) /* GUID of that ledger has an activity of this one */           \
    .op = {OP_EVERY,                                                                               \
           TABLE_GUID,                                                                             \
           GUID_LEDGER,                                                                            \
           .a = COURSE_P(0),                                                                       \
           .beside = GUID_ACTIVITY,                                                                \
           .b = COURSE_P(1),                                                                       \
           .order = ACTIVITY_LEDGER,                                                               \
           .lock = (lock_),                                                                        \
           .miss = MISS_BY_CALL,                                                                   \
           .reason = REFUSED_BLOCKED},                                                             \
    .mode = CALL_REQUIRE, .params = {ledger_, is_}
#define ADVISORY(number_) .op = {OP_ADVISORY, .key = COURSE_P(0)}, .params = {number_}
#define WHOLE(primitive_, ...)                                                                     \
    .primitive = &(primitive_), .mode = CALL_UNLESS_DONE, .params = {__VA_ARGS__}

/* Every course begins with these. */
static const struct script_row course_rows[] = {
    {TABLE_JOB, 1, {[JOB_SEMAPHORE] = 5}},
    {TABLE_JOB, 2, {[JOB_SEMAPHORE] = 7}},
    {TABLE_JOB, 3, {[JOB_SEMAPHORE] = 9}}, /* nothing refers to it */
    {TABLE_ACTIVITY, 11, {[ACTIVITY_JOB] = 1}},
    {TABLE_ACTIVITY, 12, {[ACTIVITY_JOB] = 2}},
    {TABLE_GUID, 31, {[GUID_ACTIVITY] = 11}},
    {TABLE_GUID, 32, {[GUID_ACTIVITY] = 12}},
    {TABLE_MESSAGE, 21, {[MESSAGE_ACTIVITY] = 11, [MESSAGE_VISIBLE_AT] = 10}},
    {TABLE_MESSAGE, 22, {[MESSAGE_ACTIVITY] = 12, [MESSAGE_VISIBLE_AT] = 20}},
    {TABLE_COMPLETION, 41, {[COMPLETION_JOB] = 1, [COMPLETION_RUNS] = 1}},
    {TABLE_ENTRY, 51, {[ENTRY_STATUS] = 3}},
    {TABLE_SWEEP_LOG, 61, {[SWEEP_LOG_WHY] = 0}},
    {TABLE_SIGNATURE, 71, {[SIGNATURE_ENTRY] = 51}},
    {TABLE_CHANGE_SET, 81, {[CHANGE_SET_ENTRY] = 51, [CHANGE_SET_SIGNATURE] = 71}},
};

/* ---- the courses ----------------------------------------------------------------------------- */

/* clang-format off */
static const struct course courses[] = {
    /* locks and waits */
    {"a wait ends with a commit, and nothing is lost", .steps = {
        DOES('A', ADD(JOB_, 1, 1), "6"),
        DOES('B', ADD(JOB_, 1, 10), "waits"),
        COMMITS('A', "commits; B: 16"),
        COMMITS('B', "commits")}, .cells = {{JOB_COLUMN(1), 16}}},
    {"a wait ends with a rollback", .steps = {
        DOES('A', ADD(JOB_, 1, 1), "6"),
        DOES('B', ADD(JOB_, 1, 10), "waits"),
        GIVES_UP('A', "rolls back; B: 15"),
        COMMITS('B', "commits")}, .cells = {{JOB_COLUMN(1), 15}}},
    {"an update that changes nothing is one all the same", .serializable = "B", .steps = {
        DOES('B', READ(JOB_, 2), "7"),
        DOES('A', SET(JOB_, 1, 5), "5"), COMMITS('A', "commits"),
        DOES('B', ADD(JOB_, 1, 1), "40001"), GIVES_UP('B', "rolls back")}},
    {"a lock lasts until the transaction ends", .steps = {
        DOES('A', LOCK(JOB_, 1, LOCK_UPDATE), "5"),
        DOES('A', READ(JOB_, 2), "7"),
        DOES('B', LOCK(JOB_, 1, LOCK_KEY_SHARE), "waits"),
        DOES('A', READ(JOB_, 2), "7"),
        COMMITS('A', "commits; B: 5"),
        COMMITS('B', "commits")}},
    {"one that fails lets go before it is ended", .steps = {
        DOES('A', ADD(JOB_, 1, 1), "6"),
        DOES('B', ADD(JOB_, 1, 10), "waits"),
        DOES('A', INSERT(TABLE_JOB, course_job, 2, 0), "23505; B: 15"),
        DOES('B', READ(JOB_, 2), "7"),
        GIVES_UP('A', "rolls back"),
        COMMITS('B', "commits")}, .cells = {{JOB_COLUMN(1), 15}}},
    {"SKIP LOCKED passes over a row that is locked", .steps = {
        DOES('A', LOCK(JOB_, 1, LOCK_UPDATE), "5"),
        DOES('B', TRY_LOCK(JOB_, 1, LOCK_UPDATE), "0, missed"),
        DOES('B', TRY_LOCK(JOB_, 1, LOCK_KEY_SHARE), "0, missed"),
        DOES('B', TRY_LOCK(JOB_, 2, LOCK_UPDATE), "7"),
        COMMITS('A', "commits"), COMMITS('B', "commits")}},
    {"SKIP LOCKED takes what its mode may share", .steps = {
        DOES('A', ADD(JOB_, 1, 1), "6"),
        DOES('B', TRY_LOCK(JOB_, 1, LOCK_KEY_SHARE), "5"),
        DOES('B', TRY_LOCK(JOB_, 1, LOCK_SHARE), "0, missed"),
        COMMITS('A', "commits"), COMMITS('B', "commits")}},
    {"claims pass over what others hold", .steps = {
        DOES('A', CLAIM(), "message 21"),
        DOES('B', CLAIM(), "message 22"),
        DOES('C', CLAIM(), "refused"),
        GIVES_UP('C', "rolls back"),
        GIVES_UP('A', "rolls back"),
        DOES('D', CLAIM(), "message 21"),
        COMMITS('B', "commits"), COMMITS('D', "commits")},
        .cells = {{TABLE_MESSAGE, 21, MESSAGE_EPOCH, 1}, {TABLE_MESSAGE, 22, MESSAGE_EPOCH, 1}}},
    {"a claim sees its own new message, and nobody else's", .steps = {
        DOES('A', INSERT(TABLE_MESSAGE, course_message, 23, 11, 5), "done"),
        DOES('B', CLAIM(), "message 21"),
        DOES('A', CLAIM(), "message 23"),
        COMMITS('A', "commits"), COMMITS('B', "commits")},
        .cells = {{TABLE_MESSAGE, 23, MESSAGE_EPOCH, 1}}},
    {"a claim takes the first of its own new messages", .steps = {
        DOES('A', INSERT(TABLE_MESSAGE, course_message, 23, 11, 5), "done"),
        DOES('A', INSERT(TABLE_MESSAGE, course_message, 24, 11, 4), "done"),
        DOES('A', CLAIM(), "message 24"), DOES('A', CLAIM(), "message 23"),
        COMMITS('A', "commits")},
        .cells = {{TABLE_MESSAGE, 23, MESSAGE_EPOCH, 1}, {TABLE_MESSAGE, 24, MESSAGE_EPOCH, 1}}},
    {"a claim does not take what is not due", .steps = {
        DOES('A', INSERT(TABLE_MESSAGE, course_message, 23, 11, SCRIPT_NOW + 1), "done"),
        DOES('A', CLAIM(), "message 21"), DOES('A', CLAIM(), "message 22"), DOES('A', CLAIM(), "refused"),
        GIVES_UP('A', "rolls back")}},
    {"an advisory lock excludes its number only, until the end", .steps = {
        DOES('A', ADVISORY(1), "done"),
        DOES('A', ADVISORY(1), "done"),
        DOES('B', ADVISORY(2), "done"),
        DOES('C', ADVISORY(1), "waits"),
        DOES('A', READ(JOB_, 1), "5"),
        COMMITS('B', "commits"),
        COMMITS('A', "commits; C: done"),
        COMMITS('C', "commits")}},
    {"a share becomes an update when the other is gone", .steps = {
        DOES('A', LOCK(JOB_, 1, LOCK_SHARE), "5"),
        DOES('B', LOCK(JOB_, 1, LOCK_SHARE), "5"),
        DOES('A', ADD(JOB_, 1, 1), "waits"),
        COMMITS('B', "commits; A: 6"),
        COMMITS('A', "commits")}, .cells = {{JOB_COLUMN(1), 6}}},
    {"two shares that both become updates are a deadlock", .chosen = true, .steps = {
        DOES('A', LOCK(JOB_, 1, LOCK_SHARE), "5"),
        DOES('B', LOCK(JOB_, 1, LOCK_SHARE), "5"),
        DOES('A', ADD(JOB_, 1, 1), "waits"),
        DOES('B', ADD(JOB_, 1, 1), "40P01; A: 6"),
        GIVES_UP('B', "rolls back"),
        COMMITS('A', "commits")}, .cells = {{JOB_COLUMN(1), 6}}},
    {"a cycle of three is a deadlock", .chosen = true, .steps = {
        DOES('A', ADD(JOB_, 1, 1), "6"),
        DOES('B', ADD(JOB_, 2, 1), "8"),
        DOES('C', ADD(JOB_, 3, 1), "10"),
        DOES('A', LOCK(JOB_, 2, LOCK_SHARE), "waits"),
        DOES('B', LOCK(JOB_, 3, LOCK_SHARE), "waits"),
        DOES('C', LOCK(JOB_, 1, LOCK_SHARE), "40P01; B: 9"),
        GIVES_UP('C', "rolls back"),
        COMMITS('B', "commits; A: 8"),
        COMMITS('A', "commits")}},

    /* READ COMMITTED */
    {"a statement sees what was committed when it began", .steps = {
        DOES('A', READ(JOB_, 1), "5"),
        DOES('B', ADD(JOB_, 1, 1), "6"),
        DOES('B', READ(JOB_, 1), "6"),
        DOES('A', READ(JOB_, 1), "5"),
        COMMITS('B', "commits"),
        DOES('A', READ(JOB_, 1), "6"),
        COMMITS('A', "commits")}},
    {"after a wait the row is tested anew, and fails", .steps = {
        DOES('A', SET(JOB_, 1, 0), "0"),
        DOES('B', ADD_IF(JOB_, 1, 1, 5), "waits"),
        COMMITS('A', "commits; B: 0, missed"),
        COMMITS('B', "commits")}, .cells = {{JOB_COLUMN(1), 0}}},
    {"after a wait the row is tested anew, and passes", .steps = {
        DOES('A', SET(JOB_, 1, 8), "8"),
        DOES('B', ADD_IF(JOB_, 1, 1, 8), "waits"),
        COMMITS('A', "commits; B: 9"),
        COMMITS('B', "commits")}, .cells = {{JOB_COLUMN(1), 9}}},
    {"who waited for a row that goes finds none", .steps = {
        DOES('A', DELETE(JOB_, 3), "9"),
        DOES('B', ADD(JOB_, 3, 1), "waits"),
        COMMITS('A', "commits; B: 0, missed"),
        COMMITS('B', "commits")}, .cells = {{JOB_COLUMN(3), COURSE_GONE}}},
    {"a row deleted and inserted again is gone for who waited", .steps = {
        DOES('A', DELETE(GUID_, 31), "0"),
        DOES('A', INSERT(TABLE_GUID, course_guid, 31, 11, 3), "done"),
        DOES('B', LOCK(GUID_, 31, LOCK_UPDATE), "waits"),
        COMMITS('A', "commits; B: 0, missed"),
        DOES('B', READ(GUID_, 31), "3"),
        COMMITS('B', "commits")}},
    {"a row that is not committed is not there, and not waited for", .steps = {
        DOES('A', INSERT(TABLE_JOB, course_job, 4, 1), "done"),
        DOES('B', LOCK(JOB_, 4, LOCK_UPDATE), "0, missed"),
        COMMITS('A', "commits"),
        DOES('B', LOCK(JOB_, 4, LOCK_UPDATE), "1"),
        COMMITS('B', "commits")}},
    {"FOR KEY SHARE reads around an update", .steps = {
        DOES('A', ADD(JOB_, 1, 1), "6"),
        DOES('B', LOCK(JOB_, 1, LOCK_KEY_SHARE), "5"),
        COMMITS('A', "commits"),
        DOES('B', READ(JOB_, 1), "6"),
        COMMITS('B', "commits")}},

    /* SERIALIZABLE */
    {"the snapshot is that of the first statement", .serializable = "A", .steps = {
        DOES('A', READ(JOB_, 2), "7"),
        DOES('B', ADD(JOB_, 1, 1), "6"),
        COMMITS('B', "commits"),
        DOES('A', READ(JOB_, 1), "5"),
        COMMITS('A', "commits")}},
    {"the snapshot is that of a first statement which waits", .serializable = "B", .steps = {
        DOES('A', ADVISORY(1), "done"),
        DOES('B', ADVISORY(1), "waits"),
        DOES('A', ADD(JOB_, 1, 1), "6"),
        COMMITS('A', "commits; B: done"),
        DOES('B', READ(JOB_, 1), "5"),
        COMMITS('B', "commits")}},
    {"the first updater wins", .serializable = "A", .steps = {
        DOES('A', READ(JOB_, 2), "7"),
        DOES('B', ADD(JOB_, 1, 1), "6"),
        COMMITS('B', "commits"),
        DOES('A', ADD(JOB_, 1, 10), "40001"),
        GIVES_UP('A', "rolls back")}, .cells = {{JOB_COLUMN(1), 6}}},
    {"the first updater wins, and the other waits for it", .serializable = "A", .steps = {
        DOES('A', READ(JOB_, 2), "7"),
        DOES('B', ADD(JOB_, 1, 1), "6"),
        DOES('A', ADD(JOB_, 1, 10), "waits"),
        COMMITS('B', "commits; A: 40001"),
        GIVES_UP('A', "rolls back")}, .cells = {{JOB_COLUMN(1), 6}}},
    {"a first updater that gives up has not won", .serializable = "A", .steps = {
        DOES('A', READ(JOB_, 2), "7"),
        DOES('B', ADD(JOB_, 1, 1), "6"),
        DOES('A', ADD(JOB_, 1, 10), "waits"),
        GIVES_UP('B', "rolls back; A: 15"),
        COMMITS('A', "commits")}, .cells = {{JOB_COLUMN(1), 15}}},
    {"a deleted row fails, too", .serializable = "A", .steps = {
        DOES('A', READ(JOB_, 2), "7"),
        DOES('B', DELETE(JOB_, 3), "9"),
        COMMITS('B', "commits"),
        DOES('A', LOCK(JOB_, 3, LOCK_SHARE), "40001"),
        GIVES_UP('A', "rolls back")}},
    {"FOR KEY SHARE looks back at an updated row", .serializable = "A", .steps = {
        DOES('A', READ(JOB_, 2), "7"),
        DOES('B', ADD(JOB_, 1, 1), "6"),
        COMMITS('B', "commits"),
        DOES('A', LOCK(JOB_, 1, LOCK_KEY_SHARE), "5"),
        COMMITS('A', "commits")}},
    {"FOR SHARE does not", .serializable = "A", .steps = {
        DOES('A', READ(JOB_, 2), "7"),
        DOES('B', ADD(JOB_, 1, 1), "6"),
        COMMITS('B', "commits"),
        DOES('A', LOCK(JOB_, 1, LOCK_SHARE), "40001"),
        GIVES_UP('A', "rolls back")}},
    {"FOR KEY SHARE does not look behind an update under FOR UPDATE", .serializable = "A", .steps = {
        DOES('A', READ(JOB_, 2), "7"),
        DOES('B', LOCK(JOB_, 1, LOCK_UPDATE), "5"),
        DOES('B', ADD(JOB_, 1, 1), "6"),
        COMMITS('B', "commits"),
        DOES('A', LOCK(JOB_, 1, LOCK_KEY_SHARE), "40001"),
        GIVES_UP('A', "rolls back")}},
    {"ON CONFLICT with a row that is not seen fails", .serializable = "A", .steps = {
        DOES('A', READ(JOB_, 2), "7"),
        DOES('B', INSERT(TABLE_JOB, course_job, 4, 1), "done"),
        COMMITS('B', "commits"),
        DOES('A', INSERT_OR_NOT(TABLE_JOB, course_job, 4, 2), "40001"),
        GIVES_UP('A', "rolls back")}, .cells = {{JOB_COLUMN(4), 1}}},
    {"ON CONFLICT with a row that is seen does nothing", .serializable = "A", .steps = {
        DOES('A', INSERT_OR_NOT(TABLE_JOB, course_job, 1, 2), "done"),
        COMMITS('A', "commits")}, .cells = {{JOB_COLUMN(1), 5}}},
    {"an insert of a key that is not seen is refused for the key", .serializable = "A", .steps = {
        DOES('A', READ(JOB_, 2), "7"),
        DOES('B', INSERT(TABLE_JOB, course_job, 4, 1), "done"),
        COMMITS('B', "commits"),
        DOES('A', INSERT(TABLE_JOB, course_job, 4, 2), "23505"),
        GIVES_UP('A', "rolls back")}, .cells = {{JOB_COLUMN(4), 1}}},
    {"of two with write skew the second to commit fails", .serializable = "AB", .steps = {
        DOES('A', READ(JOB_, 1), "5"),
        DOES('B', READ(JOB_, 2), "7"),
        DOES('A', ADD(JOB_, 2, 1), "8"),
        DOES('B', ADD(JOB_, 1, 1), "6"),
        COMMITS('A', "commits"),
        COMMITS('B', "40001")}, .cells = {{JOB_COLUMN(1), 5}, {JOB_COLUMN(2), 8}}},
    {"of two that found nothing where the other then writes the second to commit fails", .serializable = "AB", .steps = {
        DOES('A', FIND(5), "done"),
        DOES('B', FIND(5), "done"),
        DOES('A', ADD(JOB_, 1, -1), "4"),
        DOES('B', ADD(JOB_, 2, -3), "4"),
        COMMITS('A', "commits"),
        COMMITS('B', "40001")}, .cells = {{JOB_COLUMN(1), 4}, {JOB_COLUMN(2), 7}}},
    {"of two that sign after the last the second to commit fails", .serializable = "AB", .steps = {
        DOES('A', FIND_LAST(), "done"),
        DOES('B', FIND_LAST(), "done"),
        DOES('A', INSERT(TABLE_SIGNATURE, course_chained, 72, 51, 0), "done"),
        DOES('B', INSERT(TABLE_SIGNATURE, course_chained, 73, 51, 0), "done"),
        COMMITS('B', "commits"),
        COMMITS('A', "40001")}, .cells = {{TABLE_SIGNATURE, 72, SIGNATURE_LANE, COURSE_GONE}, {TABLE_SIGNATURE, 73, SIGNATURE_LANE, 1}}},
    {"at READ COMMITTED both follow the same one", .steps = {
        DOES('A', FIND_LAST(), "done"),
        DOES('B', FIND_LAST(), "done"),
        DOES('A', INSERT(TABLE_SIGNATURE, course_chained, 72, 51, 0), "done"),
        DOES('B', INSERT(TABLE_SIGNATURE, course_chained, 73, 51, 0), "done"),
        COMMITS('B', "commits"),
        COMMITS('A', "commits")}, .cells = {{TABLE_SIGNATURE, 72, SIGNATURE_LANE, 1}, {TABLE_SIGNATURE, 73, SIGNATURE_LANE, 1}}},
    {"a row that comes is one of every row", .serializable = "AB", .steps = {
        DOES('A', EVERY(0, 0, LOCK_NONE), "done"),
        DOES('B', EVERY(0, 0, LOCK_NONE), "done"),
        DOES('A', INSERT(TABLE_GUID, course_guid, 33, 12, 0), "done"),
        DOES('B', ADD(ACTIVITY_, 12, 1), "1"),
        COMMITS('A', "commits"),
        COMMITS('B', "40001")}, .cells = {{TABLE_GUID, 33, GUID_LEDGER, 0}, {TABLE_ACTIVITY, 12, ACTIVITY_LEDGER, 0}}},
    {"every row that is named is locked, and tested as it then is", .steps = {
        DOES('A', ADD(ACTIVITY_, 12, 1), "1"),
        DOES('B', EVERY(0, 0, LOCK_SHARE), "waits"),
        DOES('C', ADD(ACTIVITY_, 11, 1), "waits"),
        COMMITS('A', "commits; B: refused; C: 1"),
        GIVES_UP('B', "rolls back"),
        COMMITS('C', "commits")}, .cells = {{TABLE_ACTIVITY, 11, ACTIVITY_LEDGER, 1}}},
    {"without a cycle nobody fails", .serializable = "AB", .steps = {
        DOES('A', READ(JOB_, 1), "5"),
        DOES('B', ADD(JOB_, 1, 1), "6"),
        COMMITS('B', "commits"),
        DOES('A', READ(JOB_, 2), "7"),
        COMMITS('A', "commits")}, .cells = {{JOB_COLUMN(1), 6}}},
    {"one that began when the other had committed is no part of a cycle", .serializable = "AB", .steps = {
        DOES('A', READ(JOB_, 1), "5"),
        DOES('A', ADD(JOB_, 2, 1), "8"),
        COMMITS('A', "commits"),
        DOES('B', READ(JOB_, 2), "8"),
        DOES('B', ADD(JOB_, 1, 1), "6"),
        COMMITS('B', "commits")}, .cells = {{JOB_COLUMN(1), 6}, {JOB_COLUMN(2), 8}}},
    {"a READ COMMITTED writer is no part of a cycle", .serializable = "A", .steps = {
        DOES('A', READ(JOB_, 1), "5"),
        DOES('B', READ(JOB_, 2), "7"),
        DOES('A', ADD(JOB_, 2, 1), "8"),
        DOES('B', ADD(JOB_, 1, 1), "6"),
        COMMITS('B', "commits"),
        COMMITS('A', "commits")}, .cells = {{JOB_COLUMN(1), 6}, {JOB_COLUMN(2), 8}}},

    /* keys */
    {"an insert waits for one of its key, which commits", .steps = {
        DOES('A', INSERT(TABLE_JOB, course_job, 4, 1), "done"),
        DOES('B', INSERT(TABLE_JOB, course_job, 4, 2), "waits"),
        COMMITS('A', "commits; B: 23505"),
        GIVES_UP('B', "rolls back")}, .cells = {{JOB_COLUMN(4), 1}}},
    {"an insert waits for one of its key, which gives up", .steps = {
        DOES('A', INSERT(TABLE_JOB, course_job, 4, 1), "done"),
        DOES('B', INSERT(TABLE_JOB, course_job, 4, 2), "waits"),
        GIVES_UP('A', "rolls back; B: done"),
        COMMITS('B', "commits")}, .cells = {{JOB_COLUMN(4), 2}}},
    {"ON CONFLICT DO NOTHING waits for one of its key", .steps = {
        DOES('A', INSERT(TABLE_JOB, course_job, 4, 1), "done"),
        DOES('B', INSERT_OR_NOT(TABLE_JOB, course_job, 4, 2), "waits"),
        COMMITS('A', "commits; B: done"),
        COMMITS('B', "commits")}, .cells = {{JOB_COLUMN(4), 1}}},
    {"an insert waits for a delete of its key, which commits", .steps = {
        DOES('A', DELETE(JOB_, 3), "9"),
        DOES('B', INSERT(TABLE_JOB, course_job, 3, 2), "waits"),
        COMMITS('A', "commits; B: done"),
        COMMITS('B', "commits")}, .cells = {{JOB_COLUMN(3), 2}}},
    {"an insert waits for a delete of its key, which gives up", .steps = {
        DOES('A', DELETE(JOB_, 3), "9"),
        DOES('B', INSERT(TABLE_JOB, course_job, 3, 2), "waits"),
        GIVES_UP('A', "rolls back; B: 23505"),
        GIVES_UP('B', "rolls back")}, .cells = {{JOB_COLUMN(3), 9}}},
    {"of two upserts the second counts", .steps = {
        DOES('A', RECORD(42, 1), "done"),
        DOES('B', RECORD(42, 1), "waits"),
        COMMITS('A', "commits; B: done"),
        COMMITS('B', "commits")}, .cells = {{TABLE_COMPLETION, 42, COMPLETION_RUNS, 2}}},
    {"of two upserts the second inserts if the first gives up", .steps = {
        DOES('A', RECORD(42, 1), "done"),
        DOES('B', RECORD(42, 1), "waits"),
        GIVES_UP('A', "rolls back; B: done"),
        COMMITS('B', "commits")}, .cells = {{TABLE_COMPLETION, 42, COMPLETION_RUNS, 1}}},
    {"upserts of a row that is there wait for each other", .steps = {
        DOES('A', RECORD(41, 1), "done"),
        DOES('B', RECORD(41, 1), "waits"),
        COMMITS('A', "commits; B: done"),
        COMMITS('B', "commits")}, .cells = {{TABLE_COMPLETION, 41, COMPLETION_RUNS, 3}}},
    {"a null is refused before a key", .steps = {
        DOES('A', INSERT(TABLE_JOB, course_null_job, 1, 0), "23502"), GIVES_UP('A', "rolls back")}},

    /* rights */
    {"a principal may what its rights say", .exec = "A", .verify = "B", .steps = {
        DOES('A', INSERT(TABLE_SWEEP_LOG, course_sweep, 62, 0), "done"),
        DOES('A', LOCK(STATUS_, 51, LOCK_SHARE), "3"),
        DOES('A', INSERT(TABLE_SIGNATURE, course_signature, 72, LANE_EXECUTOR, PRINCIPAL_EXEC, 51), "done"),
        DOES('B', INSERT(TABLE_SIGNATURE, course_signature, 73, LANE_VERIFIER, PRINCIPAL_VERIFY, 51), "done"),
        DOES('B', INSERT(TABLE_VERIFY, course_verify, 91, 81, 71, 71), "done"),
        DOES('B', SET(STATUS_, 51, 4), "waits"),
        COMMITS('A', "commits; B: 4"), COMMITS('B', "commits")},
     .cells = {{TABLE_ENTRY, 51, ENTRY_STATUS, 4}, {TABLE_SIGNATURE, 73, SIGNATURE_LANE, LANE_VERIFIER}}},
    {"what the executor may not is 42501", .exec = "ABCD", .steps = {
        DOES('A', INSERT(TABLE_VERIFY, course_verify, 91, 81, 71, 71), "42501"), GIVES_UP('A', "rolls back"),
        DOES('B', SET(PAYLOAD_, 51, 1), "42501"), GIVES_UP('B', "rolls back"),
        DOES('C', DELETE(STATUS_, 99), "42501"), GIVES_UP('C', "rolls back"),
        DOES('D', SET(STAMP_, 81, 1), "42501"), GIVES_UP('D', "rolls back")}},
    {"what the verifier may not is 42501", .verify = "ABCD", .steps = {
        DOES('A', INSERT(TABLE_SWEEP_LOG, course_sweep, 61, 0), "42501"), GIVES_UP('A', "rolls back"),
        DOES('B', LOCK(SIGNED_, 71, LOCK_KEY_SHARE), "42501"), GIVES_UP('B', "rolls back"),
        DOES('C', READ(JOB_, 1), "42501"), GIVES_UP('C', "rolls back"),
        DOES('D', CLAIM(), "42501"), GIVES_UP('D', "rolls back")}},
    {"a right is looked at before a row is waited for", .exec = "B", .steps = {
        DOES('A', LOCK(PAYLOAD_, 51, LOCK_UPDATE), "0"),
        DOES('B', SET(PAYLOAD_, 51, 1), "42501"),
        GIVES_UP('B', "rolls back"), COMMITS('A', "commits")}},
    {"a signature says whose it is, before it is looked for", .exec = "ABC", .verify = "D", .steps = {
        DOES('A', INSERT(TABLE_SIGNATURE, course_signature, 72, LANE_VERIFIER, PRINCIPAL_EXEC, 51), "42501"),
        GIVES_UP('A', "rolls back"),
        DOES('B', INSERT(TABLE_SIGNATURE, course_signature, 71, LANE_EXECUTOR, PRINCIPAL_VERIFY, 51), "42501"),
        GIVES_UP('B', "rolls back"),
        DOES('C', INSERT(TABLE_SIGNATURE, course_null_signature, 72, 0, PRINCIPAL_EXEC, 51), "42501"),
        GIVES_UP('C', "rolls back"),
        DOES('D', INSERT(TABLE_SIGNATURE, course_signature, 72, LANE_EXECUTOR, PRINCIPAL_VERIFY, 99), "42501"),
        GIVES_UP('D', "rolls back")}},
    {"the caller may everything", .steps = {
        DOES('A', INSERT(TABLE_SIGNATURE, course_signature, 72, LANE_VERIFIER, PRINCIPAL_EXEC, 51), "done"),
        DOES('A', SET(PAYLOAD_, 51, 1), "1"),
        DOES('A', DELETE(STAMP_, 81), "0"),
        COMMITS('A', "commits")}, .cells = {{TABLE_ENTRY, 51, ENTRY_PAYLOAD, 1}}},
    {"a key is refused before a parent", .steps = {
        DOES('A', INSERT(TABLE_ACTIVITY, course_activity, 11, 99, 0), "23505"), GIVES_UP('A', "rolls back")}},
    {"a row that refers to none is refused", .steps = {
        DOES('A', INSERT(TABLE_ACTIVITY, course_activity, 13, 99, 0), "23503"), GIVES_UP('A', "rolls back")}},
    {"every reference of a new row is checked, one after the other", .steps = {
        DOES('A', LOCK(SIGNED_, 71, LOCK_UPDATE), "0"),
        DOES('B', LOCK(STAMP_, 81, LOCK_UPDATE), "0"),
        DOES('C', INSERT(TABLE_VERIFY, course_verify, 91, 81, 71, 71), "waits"),
        COMMITS('B', "commits"), /* C waits for the next one */
        COMMITS('A', "commits; C: done"),
        COMMITS('C', "commits")}, .cells = {{TABLE_VERIFY, 91, VERIFY_VERIFIER, 71}}},
    {"the first reference that is nowhere decides", .steps = {
        DOES('A', LOCK(SIGNED_, 71, LOCK_UPDATE), "0"),
        DOES('B', INSERT(TABLE_VERIFY, course_verify, 91, 82, 71, 71), "23503"), GIVES_UP('B', "rolls back"),
        DOES('C', INSERT(TABLE_VERIFY, course_verify, 92, 81, 71, 99), "waits"),
        COMMITS('A', "commits; C: 23503"), GIVES_UP('C', "rolls back")}},
    {"a reference that is changed must lead to a row, too", .steps = {
        DOES('A', SET(SIGNED_BY_, 81, 99), "23503"), GIVES_UP('A', "rolls back"),
        DOES('B', LOCK(SIGNED_, 71, LOCK_UPDATE), "0"),
        DOES('C', SET(SIGNED_BY_, 81, 71), "71"), /* the same one: nothing is looked for */
        COMMITS('C', "commits"),
        COMMITS('B', "commits")}, .cells = {{TABLE_CHANGE_SET, 81, CHANGE_SET_SIGNATURE, 71}}},
    {"a row that others refer to is not deleted", .steps = {
        DOES('A', DELETE(JOB_, 1), "23503"), GIVES_UP('A', "rolls back")}, .cells = {{JOB_COLUMN(1), 5}}},
    {"a parent may be one's own, and a child, too", .steps = {
        DOES('A', INSERT(TABLE_JOB, course_job, 4, 1), "done"),
        DOES('A', INSERT(TABLE_ACTIVITY, course_activity, 13, 4, 0), "done"),
        DOES('A', DELETE(JOB_, 4), "23503"),
        GIVES_UP('A', "rolls back")}},
    {"a parent that is not committed is none", .steps = {
        DOES('A', INSERT(TABLE_JOB, course_job, 4, 1), "done"),
        DOES('B', INSERT(TABLE_ACTIVITY, course_activity, 13, 4, 0), "23503"),
        COMMITS('A', "commits"), GIVES_UP('B', "rolls back")}},
    {"a delete waits for who refers to its row, and is refused", .steps = {
        DOES('A', INSERT(TABLE_ACTIVITY, course_activity, 13, 3, 0), "done"),
        DOES('B', DELETE(JOB_, 3), "waits"),
        COMMITS('A', "commits; B: 23503"),
        GIVES_UP('B', "rolls back")}, .cells = {{JOB_COLUMN(3), 9}}},
    {"a delete waits for who refers to its row and gives up", .steps = {
        DOES('A', INSERT(TABLE_ACTIVITY, course_activity, 13, 3, 0), "done"),
        DOES('B', DELETE(JOB_, 3), "waits"),
        GIVES_UP('A', "rolls back; B: 9"),
        COMMITS('B', "commits")}, .cells = {{JOB_COLUMN(3), COURSE_GONE}}},
    {"an insert waits for a delete of its key that waits for a child", .steps = {
        DOES('A', CLAIM(), "message 21"),
        DOES('A', DELETE(GUID_, 31), "0"),
        DOES('B', DELETE(ACTIVITY_, 11), "waits"),
        DOES('C', INSERT_OR_NOT(TABLE_ACTIVITY, course_activity, 11, 1, 0), "waits"),
        COMMITS('A', "commits; B: 23503; C: done"),
        GIVES_UP('B', "rolls back"), COMMITS('C', "commits")},
        .cells = {{TABLE_ACTIVITY, 11, ACTIVITY_JOB, 1}}},
    {"a delete that waited for a child goes on when that is gone", .steps = {
        DOES('A', DELETE(MESSAGE_, 21), "10"),
        DOES('A', DELETE(GUID_, 31), "0"),
        DOES('B', DELETE(ACTIVITY_, 11), "waits"),
        COMMITS('A', "commits; B: 0"),
        COMMITS('B', "commits")}, .cells = {{TABLE_ACTIVITY, 11, ACTIVITY_JOB, COURSE_GONE}}},
    {"who refers to a row waits for its delete, and is refused", .steps = {
        DOES('A', DELETE(JOB_, 3), "9"),
        DOES('B', INSERT(TABLE_ACTIVITY, course_activity, 13, 3, 0), "waits"),
        COMMITS('A', "commits; B: 23503"),
        GIVES_UP('B', "rolls back")}, .cells = {{TABLE_ACTIVITY, 13, ACTIVITY_JOB, COURSE_GONE}}},
    {"who refers to a row waits for a delete that gives up", .steps = {
        DOES('A', DELETE(JOB_, 3), "9"),
        DOES('B', INSERT(TABLE_ACTIVITY, course_activity, 13, 3, 0), "waits"),
        GIVES_UP('A', "rolls back; B: done"),
        COMMITS('B', "commits")}, .cells = {{TABLE_ACTIVITY, 13, ACTIVITY_JOB, 3}}},
    {"who refers to a row goes beside its update", .steps = {
        DOES('A', ADD(JOB_, 3, 1), "10"),
        DOES('B', INSERT(TABLE_ACTIVITY, course_activity, 13, 3, 0), "done"),
        DOES('A', ADD(JOB_, 3, 1), "11"),
        COMMITS('B', "commits"), COMMITS('A', "commits")}, .cells = {{JOB_COLUMN(3), 11}}},
    {"FOR KEY SHARE skips what is locked FOR UPDATE", .steps = {
        DOES('A', LOCK(JOB_, 3, LOCK_UPDATE), "9"),
        DOES('A', ADD(JOB_, 3, 1), "10"),
        DOES('B', TRY_LOCK(JOB_, 3, LOCK_KEY_SHARE), "0, missed"),
        COMMITS('A', "commits"), COMMITS('B', "commits")}},
    {"FOR KEY SHARE does not skip what was updated first and locked then", .steps = {
        DOES('A', ADD(JOB_, 3, 1), "10"),
        DOES('A', LOCK(JOB_, 3, LOCK_UPDATE), "10"),
        DOES('B', TRY_LOCK(JOB_, 3, LOCK_KEY_SHARE), "waits"),
        DOES('C', TRY_LOCK(JOB_, 3, LOCK_SHARE), "0, missed"),
        COMMITS('A', "commits; B: 9"),
        COMMITS('B', "commits"), COMMITS('C', "commits")}},
    {"nor what was updated since its snapshot and is locked now", .serializable = "B", .steps = {
        DOES('B', READ(JOB_, 1), "5"),
        DOES('A', ADD(JOB_, 3, 1), "10"), COMMITS('A', "commits"),
        DOES('C', LOCK(JOB_, 3, LOCK_UPDATE), "10"),
        DOES('B', TRY_LOCK(JOB_, 3, LOCK_KEY_SHARE), "waits"),
        COMMITS('C', "commits; B: 9"),
        COMMITS('B', "commits")}},
    {"FOR KEY SHARE that follows a row waits for who updates it now", .steps = {
        DOES('A', LOCK(JOB_, 3, LOCK_UPDATE), "9"),
        DOES('A', ADD(JOB_, 3, 1), "10"),
        DOES('B', ADD(JOB_, 3, 1), "waits"),
        DOES('C', LOCK(JOB_, 3, LOCK_KEY_SHARE), "waits"),
        COMMITS('A', "commits; B: 11"),
        COMMITS('B', "commits; C: 11"),
        COMMITS('C', "commits")}, .chosen = true, .cells = {{JOB_COLUMN(3), 11}}},
    {"FOR KEY SHARE sees the latest version if any was updated FOR UPDATE", .steps = {
        DOES('A', ADD(JOB_, 3, 1), "10"),
        DOES('A', LOCK(JOB_, 3, LOCK_UPDATE), "10"),
        DOES('A', ADD(JOB_, 3, 1), "11"),
        DOES('B', LOCK(JOB_, 3, LOCK_KEY_SHARE), "waits"),
        COMMITS('A', "commits; B: 11"),
        COMMITS('B', "commits")}},
    {"... but not if another had locked that version beside", .steps = {
        DOES('A', ADD(JOB_, 3, 1), "10"),
        DOES('C', LOCK(JOB_, 3, LOCK_KEY_SHARE), "9"), COMMITS('C', "commits"),
        DOES('A', LOCK(JOB_, 3, LOCK_UPDATE), "10"),
        DOES('A', ADD(JOB_, 3, 1), "11"),
        DOES('B', LOCK(JOB_, 3, LOCK_KEY_SHARE), "waits"),
        COMMITS('A', "commits; B: 9"),
        COMMITS('B', "commits")}},
    {"... nor if that other deleted what the row refers to, and failed", .steps = {
        DOES('A', ADD(ACTIVITY_, 11, 1), "1"),
        DOES('C', DELETE(JOB_, 1), "23503"), GIVES_UP('C', "rolls back"),
        DOES('A', LOCK(ACTIVITY_, 11, LOCK_UPDATE), "1"),
        DOES('A', ADD(ACTIVITY_, 11, 1), "2"),
        DOES('B', LOCK(ACTIVITY_, 11, LOCK_KEY_SHARE), "waits"),
        COMMITS('A', "commits; B: 0"),
        COMMITS('B', "commits")}},
    {"... and it does if that version is the one that it saw", .steps = {
        DOES('A', LOCK(JOB_, 3, LOCK_KEY_SHARE), "9"),
        DOES('C', LOCK(JOB_, 3, LOCK_KEY_SHARE), "9"), COMMITS('C', "commits"),
        DOES('A', LOCK(JOB_, 3, LOCK_UPDATE), "9"),
        DOES('A', ADD(JOB_, 3, 1), "10"),
        DOES('B', LOCK(JOB_, 3, LOCK_KEY_SHARE), "waits"),
        COMMITS('A', "commits; B: 10"),
        COMMITS('B', "commits")}},
    {"who refers to a row waits for FOR UPDATE", .steps = {
        DOES('A', LOCK(JOB_, 3, LOCK_UPDATE), "9"),
        DOES('B', INSERT(TABLE_ACTIVITY, course_activity, 13, 3, 0), "waits"),
        COMMITS('A', "commits; B: done"),
        COMMITS('B', "commits")}},
    {"a second update of a row in its transaction locks the parent", .steps = {
        DOES('A', ADD(ACTIVITY_, 11, 1), "1"),
        DOES('B', LOCK(JOB_, 1, LOCK_UPDATE), "5"),
        DOES('C', ADD(ACTIVITY_, 12, 1), "1"),
        DOES('A', ADD(ACTIVITY_, 11, 1), "waits"),
        COMMITS('B', "commits; A: 2"),
        COMMITS('A', "commits"), COMMITS('C', "commits")},
        .cells = {{TABLE_ACTIVITY, 11, ACTIVITY_LEDGER, 2}}},
    {"a second upsert of a row in its transaction locks that row's parent", .steps = {
        DOES('A', RECORD(41, 3), "done"),
        DOES('B', LOCK(JOB_, 1, LOCK_UPDATE), "5"),
        DOES('C', LOCK(JOB_, 3, LOCK_UPDATE), "9"),
        DOES('A', RECORD(41, 3), "waits"),
        COMMITS('C', "commits"),
        COMMITS('B', "commits; A: done"),
        COMMITS('A', "commits")},
        .cells = {{TABLE_COMPLETION, 41, COMPLETION_RUNS, 3}, {TABLE_COMPLETION, 41, COMPLETION_JOB, 1}}},
    {"an upsert of a row that the transaction made finds its parent locked", .steps = {
        DOES('A', RECORD(42, 1), "done"),
        DOES('B', ADD(JOB_, 1, 1), "6"),
        DOES('A', RECORD(42, 1), "done"),
        COMMITS('A', "commits"), COMMITS('B', "commits")},
        .cells = {{TABLE_COMPLETION, 42, COMPLETION_RUNS, 2}}},
    {"a claim of a message that the transaction wrote before locks the parent", .steps = {
        DOES('A', SET(MESSAGE_, 21, 5), "5"),
        DOES('B', LOCK(ACTIVITY_, 11, LOCK_UPDATE), "0"),
        DOES('A', CLAIM(), "waits"),
        COMMITS('B', "commits; A: message 21"),
        COMMITS('A', "commits")}, .cells = {{TABLE_MESSAGE, 21, MESSAGE_EPOCH, 1}}},
    {"a first claim of a message leaves its parent alone", .steps = {
        DOES('B', LOCK(ACTIVITY_, 11, LOCK_UPDATE), "0"),
        DOES('A', CLAIM(), "message 21"),
        COMMITS('A', "commits"), COMMITS('B', "commits")}},

    /* traps: what looks right and is not, and what is */
    {"E-ACL-24: of two updates of a row in a statement the second is lost", .steps = {
        DOES('A', WHOLE(primitive_traps[TRAP_TWO_UPDATES], 31, 10, 1000), "10"),
        COMMITS('A', "commits")}, .cells = {{TABLE_GUID, 31, GUID_LEDGER, 10}}},
    {"E-ACL-25: a marker tested on a plain read lets two through", .steps = {
        DOES('A', WHOLE(primitive_traps[TRAP_PLAIN_TEST], 31, 1, -1, 10), "10 4"),
        DOES('B', WHOLE(primitive_traps[TRAP_PLAIN_TEST], 31, 1, -1, 10), "waits"),
        COMMITS('A', "commits; B: 20 3"),
        COMMITS('B', "commits")},
        .cells = {{TABLE_GUID, 31, GUID_LEDGER, 20}, {JOB_COLUMN(1), 3}}}, /* a marker of 2 */
    {"E-ACL-25: a marker tested under its lock lets one through", .steps = {
        DOES('A', WHOLE(primitive_table[PRIMITIVE_COLLATE], 31, 1, -1, 10, 100), "10 4"),
        DOES('B', WHOLE(primitive_table[PRIMITIVE_COLLATE], 31, 1, -1, 10, 100), "waits"),
        COMMITS('A', "commits; B: 10 0, skips the rest"),
        COMMITS('B', "commits")},
        .cells = {{TABLE_GUID, 31, GUID_LEDGER, 10}, {JOB_COLUMN(1), 4}}},
    /* job 1 is the entry, job 2 the decision that a re-review supersedes, job 3 what is cut by it */
    {"E-CUT-11: a wait for an advisory lock ends in a superseded decision", .serializable = "B", .steps = {
        DOES('A', ADVISORY(1), "done"),
        DOES('B', ADVISORY(1), "waits"),
        DOES('A', SET(JOB_, 2, 8), "8"),
        COMMITS('A', "commits; B: done"),
        DOES('B', READ(JOB_, 2), "7"),
        DOES('B', SET(JOB_, 3, 7), "7"),
        COMMITS('B', "commits")},
        .cells = {{JOB_COLUMN(2), 8}, {JOB_COLUMN(3), 7}}}, /* no 40001 */
    {"E-CUT-11: with the entry written by both the loser pays a 40001", .serializable = "B", .steps = {
        DOES('A', ADVISORY(1), "done"),
        DOES('B', ADVISORY(1), "waits"),
        DOES('A', SET(JOB_, 2, 8), "8"),
        DOES('A', ADD(JOB_, 1, 1), "6"),
        COMMITS('A', "commits; B: done"),
        DOES('B', READ(JOB_, 2), "7"),
        DOES('B', ADD(JOB_, 1, 1), "40001"),
        GIVES_UP('B', "rolls back")},
        .cells = {{JOB_COLUMN(1), 6}, {JOB_COLUMN(2), 8}, {JOB_COLUMN(3), 9}}},
};
/* clang-format on */

#define COURSE_COUNT COUNT(courses)

/* ---- locks: what one holds, and whom it keeps waiting ---------------------------------------- */

/* clang-format off */
static const struct course_held {
    const char *name;
    struct course_step takes;
    const char *excludes; /* which of the four modes, the weakest first */
    uint8_t table, column;
    int64_t key; /* the row that is held */
} course_helds[] = {
    {"FOR KEY SHARE", DOES('A', LOCK(JOB_, 1, LOCK_KEY_SHARE), NULL), "---w", JOB_, 1},
    {"FOR SHARE", DOES('A', LOCK(JOB_, 1, LOCK_SHARE), NULL), "--ww", JOB_, 1},
    {"FOR NO KEY UPDATE", DOES('A', LOCK(JOB_, 1, LOCK_NO_KEY_UPDATE), NULL), "-www", JOB_, 1},
    {"FOR UPDATE", DOES('A', LOCK(JOB_, 1, LOCK_UPDATE), NULL), "wwww", JOB_, 1},
    {"a read", DOES('A', READ(JOB_, 1), NULL), "----", JOB_, 1},
    {"a test", DOES('A', TESTS(JOB_, 1), NULL), "-www", JOB_, 1},
    {"an addition", DOES('A', ADD(JOB_, 1, 1), NULL), "-www", JOB_, 1},
    {"a set", DOES('A', SET(JOB_, 1, 1), NULL), "-www", JOB_, 1},
    {"a set to what it was", DOES('A', SET(JOB_, 1, 5), NULL), "-www", JOB_, 1},
    {"a delete", DOES('A', DELETE(JOB_, 3), NULL), "wwww", JOB_, 3},
    {"a claim", DOES('A', CLAIM(), NULL), "wwww", MESSAGE_, 21},
    {"a row that refers to it", DOES('A', INSERT(TABLE_ACTIVITY, course_activity, 13, 3, 0), NULL), "---w", JOB_, 3},
    {"an upsert", DOES('A', RECORD(41, 1), NULL), "-www", TABLE_COMPLETION, COMPLETION_RUNS, 41},
};
/* clang-format on */

#define COURSE_HELDS COUNT(course_helds)
#define COURSE_MODES 4

/* A holds the row; B wants it in this mode, for a look. */
static inline void course_of_locks(size_t held, unsigned mode, struct course *course)
{
    const struct course_held *one = &course_helds[held];
    bool waits = one->excludes[mode] == 'w';
    *course = (struct course){.name = one->name,
                              .steps = {one->takes,
                                        DOES('B',
                                             COURSE_ON(OP_READ, one->table, one->column,
                                                       .lock = (uint8_t)(LOCK_KEY_SHARE + mode)),
                                             waits ? "waits" : "goes on"),
                                        COMMITS('A', NULL), COMMITS('B', "commits")}};
    course->steps[1].params[0] = one->key;
}

/* ---- running one ----------------------------------------------------------------------------- */

/* Who carries out the steps. A session that waits goes on by itself, within whatever let it go. */
struct course_hands {
    void (*begin)(void *context, unsigned who, const struct bundle *bundle);
    void (*statement)(void *context, unsigned who);
    bool (*end)(void *context, unsigned who, bool commit); /* true: committed */
};

/* A course made ready to be run. */
struct course_cast {
    struct primitive primitives[COURSE_STATEMENTS];
    uint32_t primitive_count;
    struct bundle bundles[COURSE_SESSIONS];
};

/* What is wrong with it; empty: nothing. */
struct course_verdict {
    char text[1000];
};

static inline void course_fill(struct world *world)
{
    world_reset(world);
    world->now = SCRIPT_NOW;
    for (size_t r = 0; r < COUNT(course_rows); r++) {
        world_insert(world, (enum row_table)course_rows[r].table, course_rows[r].key,
                     course_rows[r].columns);
    }
    world_keep(world);
}

static inline void course_prepare(const struct course *course, struct course_cast *cast)
{
    memset(cast, 0, sizeof *cast);
    for (const char *s = course->serializable; s != NULL && *s != '\0'; s++) {
        cast->bundles[*s - 'A'].isolation = SERIALIZABLE;
    }
    for (const char *s = course->exec; s != NULL && *s != '\0'; s++) {
        cast->bundles[*s - 'A'].principal = PRINCIPAL_EXEC;
    }
    for (const char *s = course->verify; s != NULL && *s != '\0'; s++) {
        cast->bundles[*s - 'A'].principal = PRINCIPAL_VERIFY;
    }
    for (const struct course_step *step = course->steps; step->who != 0; step++) {
        struct bundle *bundle = &cast->bundles[step->who - 'A'];
        if (step->act != ACT_STATEMENT) {
            continue;
        }
        struct primitive *primitive = &cast->primitives[cast->primitive_count];
        *primitive =
            step->primitive != NULL
                ? *step->primitive
                : (struct primitive){.name = "one", .params = 4, .op_count = 1, .ops = {step->op}};
        bundle->calls[bundle->count++] =
            (struct call){.primitive = (uint8_t)cast->primitive_count++,
                          .mode = step->mode,
                          .params = bundle->param_count};
        memcpy(&bundle->params[bundle->param_count], step->params,
               primitive->params * sizeof *step->params);
        bundle->param_count = (uint16_t)(bundle->param_count + primitive->params);
    }
}

static inline const char *course_failure(const struct outcome *outcome)
{
    return outcome->kind == OUTCOME_ABORTED ? outcome->aborted == ABORT_DEADLOCK ? "40P01" : "40001"
           : outcome->refusal == REFUSED_EXISTS    ? "23505"
           : outcome->refusal == REFUSED_NO_PARENT ? "23503"
           : outcome->refusal == REFUSED_NULL      ? "23502"
           : outcome->refusal == REFUSED_FORBIDDEN ? "42501"
                                                   : "refused";
}

/* What became of a statement. */
static inline void course_tell(const struct session *session, const struct course_step *step,
                               char text[COURSE_TEXT_SIZE])
{
    const struct outcome *outcome = &session->outcome;
    long long first = outcome->values[0], second = outcome->values[1];
    const char *skips = outcome->skipped != 0 ? ", skips the rest" : "";
    if (session->state == SESSION_WAITS) {
        snprintf(text, COURSE_TEXT_SIZE, "waits");
    } else if (session->state == SESSION_FAILED) {
        snprintf(text, COURSE_TEXT_SIZE, "%s", course_failure(outcome));
    } else if (step->primitive == &primitive_traps[TRAP_TWO_UPDATES]) {
        snprintf(text, COURSE_TEXT_SIZE, "%lld%s", first, skips);
    } else if (step->primitive != NULL) {
        snprintf(text, COURSE_TEXT_SIZE, "%lld %lld%s", first, second, skips);
    } else if (step->op.kind == OP_CLAIM) {
        snprintf(text, COURSE_TEXT_SIZE, "message %lld", (long long)outcome->message[0]);
    } else if (step->op.found != 0) {
        snprintf(text, COURSE_TEXT_SIZE, "%lld%s", first, second != 0 ? "" : ", missed");
    } else {
        snprintf(text, COURSE_TEXT_SIZE, "done");
    }
}

static inline void course_compare_cells(const struct course *course, const struct rows *rows,
                                        struct course_verdict *verdict)
{
    for (size_t c = 0; c < COURSE_CELLS_MAX && course->cells[c].key != 0; c++) {
        const struct course_cell *cell = &course->cells[c];
        uint32_t slot = row_find(rows, (enum row_table)cell->table, cell->key);
        int64_t value = slot == ROW_NONE
                            ? COURSE_GONE
                            : row_get(rows, (enum row_table)cell->table, slot, cell->column);
        if (value != cell->value && verdict->text[0] == '\0') {
            snprintf(verdict->text, sizeof verdict->text,
                     "%s: in the end row %lld has %lld, expected %lld", course->name,
                     (long long)cell->key, (long long)value, (long long)cell->value);
        }
    }
}

static inline bool course_fits(const struct course_step *step, const struct session *session,
                               const char *text)
{
    return step->then == NULL || strcmp(text, step->then) == 0 ||
           (strcmp(step->then, "goes on") == 0 && session->state != SESSION_WAITS &&
            session->state != SESSION_FAILED);
}

/* Runs a course whose rows and primitives are in place. With `aloud`, the text of every step must
 * be what the course says; without it, only the end counts, and steps of sessions that wait or have
 * ended are passed over. */
static inline struct course_verdict
course_run(const struct course *course, const struct course_cast *cast, struct sessions *sessions,
           const struct course_hands *hands, void *context, bool aloud)
{
    struct course_verdict verdict = {""};
    const struct course_step *at[COURSE_SESSIONS] = {NULL};
    bool ended[COURSE_SESSIONS] = {false};
    for (const struct course_step *step = course->steps; step->who != 0; step++) {
        unsigned who = (unsigned)(step->who - 'A');
        struct session *session = &sessions->each[who];
        char text[4 * COURSE_TEXT_SIZE], other[COURSE_TEXT_SIZE];
        uint32_t waited = sessions_waiting(sessions);
        if (at[who] == NULL && !ended[who]) {
            hands->begin(context, who, &cast->bundles[who]);
        }
        if (!aloud && (ended[who] || session->state == SESSION_WAITS ||
                       (step->act == ACT_STATEMENT && session->state != SESSION_OPEN))) {
            continue;
        }
        if (step->act == ACT_STATEMENT) {
            at[who] = step;
            hands->statement(context, who);
            course_tell(session, step, text);
        } else {
            ended[who] = true;
            bool commits = step->act == ACT_COMMIT && session->state == SESSION_DONE;
            bool committed = hands->end(context, who, step->act == ACT_COMMIT);
            snprintf(text, sizeof text, "%s",
                     committed ? "commits"
                     : commits ? "40001"
                               : "rolls back");
        }
        for (unsigned s = 0; s < COURSE_SESSIONS; s++) {
            size_t used = strlen(text);
            bool waited_here = (waited >> s & 1) != 0 && at[s] != NULL;
            if (waited_here && s != who && sessions->each[s].state != SESSION_WAITS) {
                course_tell(&sessions->each[s], at[s], other);
                snprintf(text + used, sizeof text - used, "; %c: %s", 'A' + (int)s, other);
            }
        }
        if (aloud && !course_fits(step, session, text)) {
            snprintf(verdict.text, sizeof verdict.text, "%s: step %d, %c: '%s', expected '%s'",
                     course->name, (int)(step - course->steps) + 1, step->who, text, step->then);
            break;
        }
    }
    course_compare_cells(course, &sessions->world->rows, &verdict);
    return verdict;
}

#endif
