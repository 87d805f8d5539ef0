/* Random transactions for a comparison of the simulated store with PostgreSQL: a few rows, a few
 * sessions with a transaction each, and in which order their statements run.
 *
 * Transactions are made of the operations of model/primitive.h over a handful of rows of the
 * activity protocol's tables, which for this purpose are just tables: jobs with activities that
 * refer to them, messages and GUIDs that refer to activities. Every lock mode, both isolation
 * levels, inserts that race for a key, foreign keys in both directions, nulls, SKIP LOCKED, claims,
 * advisory locks, Step 2's compound statement and the traps beside it. Some scripts are about
 * rights instead: principals and the caller on a few tables of the pipeline.
 *
 * (SC1) A script is a function of its seed.
 * (SC2) Taking a session, a call, a row or a turn away leaves a script: it can be shrunk. */
#ifndef SIM_SCRIPT_H
#define SIM_SCRIPT_H

#include "model/bundle.h"
#include "model/rights.h"
#include "sim/world.h"

#define SCRIPT_SESSIONS_MAX   4
#define SCRIPT_CALLS_MAX      5 /* of a transaction */
#define SCRIPT_ROWS_MAX       24
#define SCRIPT_TURNS_MAX      48
#define SCRIPT_PRIMITIVES_MAX (SCRIPT_SESSIONS_MAX * SCRIPT_CALLS_MAX)
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
    uint8_t turns[SCRIPT_TURNS_MAX]; /* whose next statement, or end, is run */
    uint32_t turn_count;
};

void script_draw(struct script *script, uint64_t seed);

/* The rows that it starts with, into an empty world. */
void script_fill(const struct script *script, struct world *world);

/* The room that a world needs for it. */
struct world_capacity script_capacity(void);

/* Smaller scripts: the number of ways to take something away, and each. False: it is none. */
uint32_t script_cuts(const struct script *script);
bool script_cut(const struct script *script, uint32_t which, struct script *smaller);

/* What a call does, in words, such as "add 3 to job 2's semaphore unless it is 5". */
void script_call_text(const struct primitive *primitive, const struct bundle *bundle, unsigned call,
                      char *text, size_t size);

#endif
