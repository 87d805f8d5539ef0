/* What one commit did, gathered from its changes in one walk: the ledgers it moved, who did which
 * step, what came and went, and the jobs it is about.
 *
 * Private to model/oracle/activity*.c. Gathering also brings the memory (activity_judge.h) up to
 * date and counts cover points; it judges nothing but rows that vanish or change what they may not. */
#ifndef MODEL_ORACLE_ACTIVITY_COMMIT_H
#define MODEL_ORACLE_ACTIVITY_COMMIT_H

#include "model/oracle/activity_judge.h"

/* A ledger as the commit found it and left it. An inserted one counts from the value it was born
 * with; one that did not move has equal sides. */
struct commit_ledger {
    int64_t before, after;
    struct cut was, is;
    bool moved, born;
};

struct commit_job {
    int64_t id;
    uint32_t slot; /* ROW_NONE: there is no such job */
    bool born, moved, escalated;
    int64_t before, after; /* the semaphore */
    int64_t threshold;
    int64_t delta;                        /* what the Step 2s of the commit must move it by */
    int64_t opened, closed;               /* obligations */
    uint32_t step2s, snapshots, finishes; /* GUIDs of the job that did so in this commit */
    uint32_t escalations;
    int64_t open, carriers, completed; /* the memory after the commit */
};

struct commit_activity {
    int64_t id;
    uint32_t slot;
    struct commit_ledger ledger;
    uint32_t tasks, reruns;                   /* TASK rows inserted; run again */
    uint32_t task_messages, answers;          /* messages published for the first time */
    uint32_t entries, step1s, step2s, step3s; /* GUIDs of the activity that did so */
};

struct commit_guid {
    int64_t id;
    uint32_t slot;
    struct commit_ledger ledger;
    struct commit_activity *activity; /* NULL: it has no row */
    struct commit_job *job;           /* NULL: it has no row */
    int64_t answer;
    int64_t next_dimension;    /* born: what its activity's MEMO_NEXT_DIMENSION was */
    uint32_t outputs, reworks; /* OUTPUT rows inserted; run again */
    bool astray;               /* did Step 1, and its work went into another GUID's OUTPUT row */
    bool intruded;             /* the work that was done again is another GUID's, gone astray */
    uint32_t completions, refinishes;
    uint32_t child_rows, child_messages, cycles; /* what its Step 2 inserted */
    uint64_t child_marks;                        /* which nodes: see expected_activity.h */
    bool respawned;   /* a child was published that had been published before */
    bool closes_task; /* the commit wrote its name into a TASK row */
    bool overruled;   /* its task or activity was closed by another before this commit */
    bool entered, step1, step2, step3, snapshot;
};

struct commit {
    struct judge judge;
    const struct row_change *changes;
    size_t count;
    uint32_t kinds; /* bit of every (table, kind) among the changes: commit_bit */
    size_t jobs, activities, guids;
    struct commit_job job[ORACLE_COMMIT_ROWS_MAX];
    struct commit_activity activity[ORACLE_COMMIT_ROWS_MAX];
    struct commit_guid guid[ORACLE_COMMIT_ROWS_MAX];
};

static inline uint32_t commit_bit(enum row_table table, enum row_change_kind kind)
{
    return UINT32_C(1) << ((unsigned)table * 3 + (unsigned)kind);
}

static inline bool commit_has(const struct commit *commit, enum row_table table,
                              enum row_change_kind kind)
{
    return (commit->kinds & commit_bit(table, kind)) != 0;
}

/* Nothing but messages came, went or changed, and none of them was a child's: no ledger, no job. */
static inline bool commit_is_of_messages(const struct commit *commit)
{
    uint32_t of_messages = commit_bit(TABLE_MESSAGE, ROW_INSERTED) |
                           commit_bit(TABLE_MESSAGE, ROW_UPDATED) |
                           commit_bit(TABLE_MESSAGE, ROW_DELETED);
    return (commit->kinds & ~of_messages) == 0 &&
           commit->jobs + commit->activities + commit->guids == 0;
}

/* A message was escalated: its row came, or counts one time more because the same message was
 * published again by a worker that answered again. */
static inline bool is_escalation(const struct row_change *change)
{
    return change->table == TABLE_ESCALATION &&
           (change->kind == ROW_INSERTED ||
            (change->kind == ROW_UPDATED && change->column == ESCALATION_RUNS));
}

static inline bool has_escalation(const struct commit *commit)
{
    return commit_has(commit, TABLE_ESCALATION, ROW_INSERTED) ||
           commit_has(commit, TABLE_ESCALATION, ROW_UPDATED);
}

void activity_commit_gather(struct commit *commit);

/* The judges, in the order in which they are asked; see activity.c. */
void activity_ledger_numbers(struct commit *commit);
void activity_ledger_entries(struct commit *commit);
void activity_ledger_leg1(struct commit *commit);
void activity_ledger_steps(struct commit *commit);
void activity_semaphore_step2(struct commit *commit);
void activity_semaphore_step3(struct commit *commit);
void activity_semaphore_jobs(struct commit *commit);
void activity_ledger_list(struct commit *commit);
void activity_ack_judge(struct commit *commit);
void activity_data_judge(struct commit *commit);
void activity_expected_judge(struct commit *commit);

/* Whether another GUID than this one closed the activity's task (E-ACL-19). */
bool activity_commit_closed_by_another(const struct judge *judge, int64_t activity, int64_t guid);

#endif
