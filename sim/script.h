/* Random transactions for the comparison of the simulated store with PostgreSQL: a few rows, a few
 * sessions with a transaction each, and the order in which their statements run.
 *
 * Transactions consist of the operations of model/primitive.h over a handful of rows of the
 * activity protocol's tables, which serve as plain tables here: jobs with activities that refer to
 * them, messages and GUIDs that refer to activities. They cover every lock mode, both isolation
 * levels, inserts that race for a key, foreign keys in both directions, nulls, SKIP LOCKED, claims,
 * advisory locks, Step 2's compound statement and the traps beside it. Some scripts are about
 * rights instead: principals and the caller on a few tables of the pipeline.
 *
 * (SP1) A script is a function of its seed.
 * (SP2) Removing a session, a call, a row or a turn leaves a valid script: it can be shrunk. */
#ifndef SIM_SCRIPT_H
#define SIM_SCRIPT_H

#include "model/bundle.h"
#include "model/rights.h"
#include "sim/world.h"

#define SCRIPT_SESSIONS_MAX   4
#define SCRIPT_CALLS_MAX      5 /* that a transaction is drawn of; the first may be Step 2 */
#define SCRIPT_STEP2_CALLS    4
#define SCRIPT_ROWS_MAX       24
#define SCRIPT_TURNS_MAX      48
#define SCRIPT_PRIMITIVES_MAX (SCRIPT_SESSIONS_MAX * (SCRIPT_CALLS_MAX + SCRIPT_STEP2_CALLS - 1))
#define SCRIPT_NOW            100
#define SCRIPT_PRINCIPALS     (PRINCIPAL_SET(EXEC) | PRINCIPAL_SET(VERIFY))

struct script_row {
    uint8_t table; /* enum row_table */
    int64_t key;
    int64_t columns[ROW_COLUMNS_MAX];
};

struct script {
    uint32_t sessions;
    struct bundle bundles[SCRIPT_SESSIONS_MAX];
    bool gives_up[SCRIPT_SESSIONS_MAX]; /* ends with ROLLBACK */
    struct primitive primitives[SCRIPT_PRIMITIVES_MAX];
    uint32_t primitive_count;
    struct script_row rows[SCRIPT_ROWS_MAX];
    uint32_t row_count;
    uint8_t turns[SCRIPT_TURNS_MAX]; /* the session whose next statement, or end, is run */
    uint32_t turn_count;
};

void script_draw(struct script *script, uint64_t seed);

/* Inserts the initial rows into an empty world. */
void script_fill(const struct script *script, struct world *world);

/* The capacity that a world needs for any script. */
struct world_capacity script_capacity(void);

/* Smaller scripts: the number of possible cuts, and each. False: the cut does not apply. */
uint32_t script_cuts(const struct script *script);
bool script_cut(const struct script *script, uint32_t which, struct script *smaller);

/* Asserts (SP2): every call has a primitive and its parameters, every turn a session, every row its
 * parent. */
void script_check(const struct script *script);

/* Describes a call in words, such as "add 3 to job 2's semaphore unless it is 5". */
void script_call_text(const struct primitive *primitive, const struct bundle *bundle, unsigned call,
                      char *text, size_t size);

#endif
