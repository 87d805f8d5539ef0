/* One run on the command line: its trace, its verdict, its story. `assay run` and `assay replay`
 * share it; the verb chooses the schedule and the exit status. */
#ifndef VERIFY_ONE_RUN_H
#define VERIFY_ONE_RUN_H

#include "reports/artefacts.h"
#include "reports/format.h"
#include "sim/run.h"
#include "sim/schedule.h"
#include "sim/story.h"
#include "verify/status.h"

struct one_run {
    const char *verb;               /* "run", for messages */
    struct schedule *schedule;      /* what is run; its choices are recorded there */
    bool drawn;                     /* choices come from the seed, not from the list */
    bool trace;                     /* a line an event, as it goes */
    uint32_t until;                 /* the ledgers are shown after this step; 0: never */
    bool json;                      /* JSON lines and nothing else */
    bool shrinks;                   /* the story is told of a smaller schedule */
    const char *title;              /* "tree-3, seed 7" */
    const char *reproduce;          /* the command that does it again */
    bool quiet;                     /* prints nothing */
    struct artefacts *results;      /* where its line goes, and a finding; NULL: nowhere */
    const char *kept;               /* what the finding is called there; NULL: by its clause */
    bool caller_writes_finding;     /* its line, in the results */
    bool caller_writes_run;         /* likewise */
    bool without[CLAUSE_COUNT];     /* promises that are not judged */
    bool silent[ORACLE_NAME_COUNT]; /* oracles that may report nothing */
    /* How it is run; NULL: run_once. NULL as a result: it could not, and *status is set. */
    const struct run_result *(*runs)(void *context, struct run *run, struct choice_source *source,
                                     int *status);
    void *context;
    struct run_result result;
};

/* Runs it and reports the result. True if it ran at all, else *status. Afterwards `result` has the
 * verdict, and the schedule names the broken promise. */
bool one_run(struct one_run *one, int *status);

/* How stories look in a format. */
struct story_style one_run_style(enum format_kind format);

/* The exit status of a verdict; `expects_finding` swaps 0 and 1. */
int one_run_status(enum run_verdict verdict, bool expects_finding);

#endif
