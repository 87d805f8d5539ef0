/* One run of a subject on a lane: a fresh database, the clients, then the workers, a fault at each
 * point of the plan, and the judgement.
 *
 * Without faults, worker a works alone: what it commits, and in which order, then hardly depends on
 * the machine. The other workers join when a fault has hit, which is when a successor matters. A
 * worker that was killed, or that ended by itself, is started again, as a supervisor would. A client
 * is not.
 *
 * Rest of time: without a clock of Assay's own, work counts as stranded when nothing was committed
 * that counts for the subject's patience, in real time.
 *
 * (TT1) A point hits at most once, and the next one only after it.
 * (TT2) When trial_do() returns, no foreign process of the run is left. */
#ifndef WIRE_TRIAL_H
#define WIRE_TRIAL_H

#include "wire/judge.h"
#include "wire/lane.h"
#include "wire/point.h"

#define TRIAL_COMMITS_MAX    1024
#define TRIAL_NAME_SIZE      240
#define TRIAL_ROWS_SIZE      320
#define TRIAL_SURVEY_SIZE    8192
#define TRIAL_BACKGROUND_MAX 64

struct trial_commit {
    char worker;
    unsigned ordinal; /* 0: background */
    uint64_t xid;
    unsigned life;              /* of the worker: 1, and one more each time it was started again */
    bool learnt;                /* came after everything was done */
    char name[TRIAL_NAME_SIZE]; /* its statements without literals */
    char rows[TRIAL_ROWS_SIZE]; /* what it changed, if the plan asks for it */
};

/* Statements whose commits do not count. */
struct trial_background {
    char names[TRIAL_BACKGROUND_MAX][TRIAL_NAME_SIZE];
    size_t count;
};

struct trial_plan {
    struct point points[POINT_DEPTH_MAX];
    size_t count;
    bool control; /* hold where the fault would hit, and go on */
    bool survey;  /* nobody knows yet when it is done: it ends when nothing commits any more */
    bool rows;    /* say of each commit which rows it changed */
    bool learn;   /* watch what goes on committing when all is done */
    struct trial_background background;
    struct judge_reference reference;
};

enum trial_verdict {
    TRIAL_HELD,
    TRIAL_BROKEN, /* `broken` names the promise */
    TRIAL_MISSED, /* not every point was reached */
    TRIAL_FAILED, /* it could not be run or judged: `text` says why */
    TRIAL_ENDED   /* interrupted */
};

struct trial_result {
    enum trial_verdict verdict;
    char broken[SUBJECT_NAME_SIZE]; /* a promise's name, "stranded", "dies" or "deaf" */
    char text[JUDGE_TEXT_SIZE];     /* the row that breaks it, or what is wrong */
    unsigned hits;                  /* points that were hit */
    unsigned void_hits;             /* of these, points where there was nothing to take away */
    size_t hit_at;                  /* commits before the first one */
    unsigned deaths;                /* workers that ended by themselves */
    char dead;                      /* which one did first; 0: none */
    double seconds, start_seconds;  /* of the run; until the first counting commit */
    char survey[TRIAL_SURVEY_SIZE]; /* tables, their rows and what their status columns hold */
    size_t commit_count;
    struct trial_commit commits[TRIAL_COMMITS_MAX];
    struct judge_reference reference; /* of a run without points */
};

void trial_do(struct lane *lane, const struct trial_plan *plan, struct trial_result *result);

#endif
