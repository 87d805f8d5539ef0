/* What the files of a run share. Private to run.c and weather.c. */
#ifndef SIM_RUN_INSIDE_H
#define SIM_RUN_INSIDE_H

#include "sim/run.h"

/* Counts a step, takes it into the digest and shows it to whoever watches. */
void run_stepped(struct run *run, struct run_event *event);

/* A promise is broken: the run ends here. */
void run_broke(struct run *run, struct oracle_verdict breach);

/* What was written since `mark` is a commit: it goes to the oracles; it stays. */
void run_judge_commit(struct run *run, size_t mark);
void run_keep(struct run *run, size_t mark);

#endif
