/* What the monitors of activity.h share: how they cut a ledger, and what they remember.
 *
 * Private to model/oracle/activity*.c. Cuts a ledger by plain division, apart from digits.c, which
 * goes digit by digit: this is the fast path of every commit. */
#ifndef MODEL_ORACLE_ACTIVITY_JUDGE_H
#define MODEL_ORACLE_ACTIVITY_JUDGE_H

#include "model/oracle/activity.h"
#include "model/oracle/judge.h"

/* ---- a ledger, cut at its fields ------------------------------------------------------------- */

#define LEG1_ENTRY   INT64_C(1000000000000)
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

/* ---- memory ---------------------------------------------------------------------------------- */

/* Four open-addressed tables of four cells an entry lie one after the other in the ghost cells: by
 * job, by activity, by GUID, by message. They are keyed by id and not by slot, since a GUID is
 * published before it has a row, and since slots tell in which order commuting commits came. */
enum memory { MEMORY_JOB, MEMORY_ACTIVITY, MEMORY_GUID, MEMORY_CLAIM };

enum memo {
    MEMO_KEY, /* 0: free */
    /* of a job */
    MEMO_OPEN = 1,  /* obligations (ACL-19) */
    MEMO_CARRIERS,  /* GUIDs with the snapshot digit (ACL-22) */
    MEMO_COMPLETED, /* how often completion tasks were run (ACL-18) */
    /* of an activity, of a GUID */
    MEMO_FLAGS = JUDGE_MEMO_FLAGS,
    /* of an activity */
    MEMO_NEXT_DIMENSION = 2, /* above every dimension that was given out (ACL-32) */
    MEMO_TASK,               /* key of its TASK row */
    /* of a GUID */
    MEMO_OUTPUT = 2, /* what its Step 1 stored */
    MEMO_DUE,        /* what it must store; 0: not known */
    MEMO_COUNT = JUDGE_MEMO_CELLS
};

/* MEMO_FLAGS of an activity. */
enum activity_past {
    PAST_LEG1_PUBLISHED = 1,
    PAST_TASK_PUBLISHED = 2,
    PAST_CLOSING_PUBLISHED = 4, /* a closing answer of any GUID */
    PAST_LEG1_ACKED = 8,
    PAST_CLOSED = 16,        /* its obligation is closed */
    PAST_STALE_ENTERED = 32, /* a Leg1 entry found 100B set, and no ack came since */
    PAST_LEG1_GIVEN_UP = 64, /* a Leg1 message of it was escalated */
    PAST_TASK_DONE = 128     /* outside rows */
};

/* ... and of its answers: the closing one is 0, the k-th pending one k. */
#define PAST_THROUGH(answer)  (INT64_C(1) << (8 + (answer)))  /* its Step 2 is done */
#define PAST_GIVEN_UP(answer) (INT64_C(1) << (24 + (answer))) /* its message was escalated */
#define PAST_ANSWERED(answer) (INT64_C(1) << (40 + (answer))) /* it was given */

/* MEMO_FLAGS of a GUID. */
enum guid_past {
    PAST_PUBLISHED = 1,
    PAST_OBLIGES = 2, /* a cycle message that is not through Step 2 */
    PAST_ACKED = 4,
    PAST_RESUMED_CLOSED = 8, /* was entered again at 1110 */
    PAST_WORKED = 16,        /* MEMO_OUTPUT was stored */
    PAST_ABANDONED = 32      /* its message was escalated, and not for what another run answered */
};

/* ... and above them the round of a cycle that it belongs to. */
#define ROUND_SHIFT 8

/* A judge without a breach. There is room for every job, every activity, and every GUID that has a
 * message or a row. */
static inline void activity_judge_begin(struct judge *judge, struct oracle *oracle,
                                        const struct rows *rows)
{
    size_t guids = rows->table[TABLE_GUID].index_mask;
    size_t messages = rows->table[TABLE_MESSAGE].index_mask;
    judge_begin(judge, oracle, rows);
    size_t base = judge_remember(judge, MEMORY_JOB, 0, rows->table[TABLE_JOB].index_mask);
    base = judge_remember(judge, MEMORY_ACTIVITY, base, rows->table[TABLE_ACTIVITY].index_mask);
    judge_remember(judge, MEMORY_GUID, base, messages > guids ? messages : guids);
}

/* The first cell after those memories: the memory of claims begins here. */
static inline size_t activity_judge_claims(const struct judge *judge)
{
    return judge->base[MEMORY_GUID] + (judge->mask[MEMORY_GUID] + 1) * MEMO_COUNT;
}

#endif
