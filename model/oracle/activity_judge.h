/* What the monitors of activity.h share: how they cut a ledger, report a breach and remember.
 *
 * Private to model/oracle/activity*.c. Cuts a ledger by plain division, apart from digits.c, which
 * goes digit by digit: this is the fast path of every commit. */
#ifndef MODEL_ORACLE_ACTIVITY_JUDGE_H
#define MODEL_ORACLE_ACTIVITY_JUDGE_H

#include "model/check.h"
#include "model/oracle/activity.h"

/* ---- a ledger, cut at its fields ------------------------------------------------------------- */

#define LEG1_CEILING 999      /* digits 1-3 of an activity ledger are full (ACL-6) */
#define LEG2_CEILING 99999999 /* digits 8-15 of either ledger are full (ACL-7, ACL-15) */

/* Both ledgers are cut at the same places. `head` counts Leg1 entries and is reserved in a GUID;
 * `mark` says Leg1 complete, in a GUID job closed. All 0 if the number is no ledger. */
struct cut {
    bool fits; /* 0 to 15 nines */
    int32_t head;
    int32_t mark, work, children, tasks;
    int32_t count;
};

static inline struct cut cut_of(int64_t value)
{
    if (value < 0 || value > INT64_C(999999999999999)) {
        return (struct cut){.fits = false};
    }
    int32_t high = (int32_t)(value / 100000000); /* digits 1-7 */
    return (struct cut){.fits = true,
                        .head = high / 10000,
                        .mark = high / 1000 % 10,
                        .work = high / 100 % 10,
                        .children = high / 10 % 10,
                        .tasks = high % 10,
                        .count = (int32_t)(value % 100000000)};
}

/* Through Step 2, and through Step 3 if it closed the job: a GUID that owes nothing. */
static inline bool cut_finished(struct cut of)
{
    return of.children > 0 && (of.mark == 0 || of.tasks > 0);
}

/* ---- reporting ------------------------------------------------------------------------------- */

enum memory { MEMORY_JOB, MEMORY_ACTIVITY, MEMORY_GUID, MEMORY_COUNT };

struct judge {
    struct oracle_activity *oracle;
    const struct rows *rows;
    size_t base[MEMORY_COUNT];     /* the first cell of each table of the memory */
    size_t mask[MEMORY_COUNT];     /* its number of entries, a power of two, less one */
    struct oracle_verdict verdict; /* the first breach of a clause that is on (OA3) */
};

/* The antecedent of the clause held. */
static inline void judge_held(struct judge *judge, enum clause_id clause)
{
    judge->oracle->evaluated[clause] += judge->oracle->off[clause] ? 0 : 1;
}

static inline void judge_breach(struct judge *judge, enum oracle_name who, enum clause_id clause,
                                enum row_table table, uint32_t slot, const char *why)
{
    if (judge->verdict.broken || judge->oracle->off[clause] || judge->oracle->silent[who]) {
        return;
    }
    judge->verdict = oracle_broken(clause, why);
    judge->oracle->spoke = who;
    judge->oracle->table = (uint8_t)table;
    judge->oracle->slot = slot;
}

static inline void judge_see(struct judge *judge, enum oracle_sighting sighting)
{
    judge->oracle->seen[sighting]++;
}

static inline bool judge_row_lives(const struct rows *rows, enum row_table table, uint32_t slot)
{
    return row_find(rows, table, row_key(rows, table, slot)) == slot;
}

/* A column of the row with this key; 0 if there is no such row. */
static inline int64_t judge_column(const struct rows *rows, enum row_table table, int64_t key,
                                   int column)
{
    uint32_t slot = row_find(rows, table, key);
    return slot == ROW_NONE ? 0 : row_get(rows, table, slot, column);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Three open-addressed tables of four cells an entry lie one after the other in the ghost cells:
 * by job, by activity, by GUID. They are keyed by id and not by slot, since a GUID is published
 * before it has a row, and since slots tell in which order commuting commits came. */
enum memo {
    MEMO_KEY, /* 0: free */
    /* of a job */
    MEMO_OPEN = 1,  /* obligations (ACL-19) */
    MEMO_CARRIERS,  /* GUIDs with the snapshot digit (ACL-22) */
    MEMO_COMPLETED, /* how often completion tasks were run (ACL-18) */
    /* of an activity, of a GUID */
    MEMO_FLAGS = 1,
    /* of an activity */
    MEMO_NEXT_DIMENSION = 2, /* above every dimension that was given out (ACL-32) */
    MEMO_TASK,               /* key of its TASK row */
    /* of a GUID */
    MEMO_OUTPUT = 2, /* what its Step 1 stored */
    MEMO_COUNT = 4
};

/* MEMO_FLAGS of an activity. */
enum activity_past {
    PAST_LEG1_PUBLISHED = 1,
    PAST_TASK_PUBLISHED = 2,
    PAST_CLOSING_PUBLISHED = 4, /* a closing answer of any GUID */
    PAST_LEG1_ACKED = 8,
    PAST_CLOSED = 16,       /* its obligation is closed */
    PAST_STALE_ENTERED = 32 /* a Leg1 entry found 100B set, and no ack came since */
};

/* MEMO_FLAGS of a GUID. */
enum guid_past {
    PAST_PUBLISHED = 1,
    PAST_OBLIGES = 2, /* a cycle message that is not through Step 2 */
    PAST_ACKED = 4,
    PAST_RESUMED_CLOSED = 8, /* was entered again at 1110 */
    PAST_WORKED = 16         /* MEMO_OUTPUT was stored */
};

/* A judge without a breach. There is room for every job, every activity, and every GUID that has a
 * message or a row. */
static inline struct judge judge_begin(struct oracle_activity *oracle, const struct rows *rows)
{
    size_t guids = rows->table[TABLE_GUID].index_mask;
    size_t messages = rows->table[TABLE_MESSAGE].index_mask;
    struct judge judge = {.oracle = oracle, .rows = rows, .verdict = oracle_fine()};
    judge.mask[MEMORY_JOB] = rows->table[TABLE_JOB].index_mask;
    judge.mask[MEMORY_ACTIVITY] = rows->table[TABLE_ACTIVITY].index_mask;
    judge.mask[MEMORY_GUID] = messages > guids ? messages : guids;
    judge.base[MEMORY_JOB] = 0;
    judge.base[MEMORY_ACTIVITY] = (judge.mask[MEMORY_JOB] + 1) * MEMO_COUNT;
    judge.base[MEMORY_GUID] =
        judge.base[MEMORY_ACTIVITY] + (judge.mask[MEMORY_ACTIVITY] + 1) * MEMO_COUNT;
    return judge;
}

/* Where the entry of the id is, or would be. */
static inline size_t memory_place(const struct judge *judge, enum memory memory, int64_t id)
{
    const struct ghosts *ghosts = &judge->oracle->ghosts;
    size_t mask = judge->mask[memory];
    size_t at = (size_t)id & mask;
    for (size_t probes = 0;; probes++) {
        CHECK(probes <= mask); /* there are never more ids than rows */
        size_t place = judge->base[memory] + at * MEMO_COUNT;
        int64_t key = ghost_get(ghosts, place);
        if (key == id || key == 0) {
            return place;
        }
        at = (at + 1) & mask;
    }
}

/* 0 of an id that was never seen. */
static inline int64_t memory_get(const struct judge *judge, enum memory memory, int64_t id,
                                 int cell)
{
    return ghost_get(&judge->oracle->ghosts, memory_place(judge, memory, id) + (size_t)cell);
}

static inline void memory_set(struct judge *judge, enum memory memory, int64_t id, int cell,
                              int64_t value)
{
    struct ghosts *ghosts = &judge->oracle->ghosts;
    size_t place = memory_place(judge, memory, id);
    bool nobody = id == 0; /* a row that names nobody, which is judged elsewhere */
    if (!nobody && ghost_get(ghosts, place) != id) {
        ghost_set(ghosts, place, id);
    }
    if (!nobody && ghost_get(ghosts, place + (size_t)cell) != value) {
        ghost_set(ghosts, place + (size_t)cell, value);
    }
}

/* Sets flags; says whether all of them were set already. */
static inline bool memory_flag(struct judge *judge, enum memory memory, int64_t id, int64_t flags)
{
    int64_t had = memory_get(judge, memory, id, MEMO_FLAGS);
    memory_set(judge, memory, id, MEMO_FLAGS, had | flags);
    return (had & flags) == flags;
}

#endif
