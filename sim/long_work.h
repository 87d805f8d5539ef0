/* Work outside rows that takes time (FAULT_LONG_WORK), and the clock that its worker measures it by
 * (FAULT_SKEW). The worker is busy until works_until; meanwhile it looks at its own clock and sends
 * what its engine has to send, an extension or a heartbeat. Private to the files of a run.
 *
 * (LW1) The work enters the journal when it is done, not when it begins.
 * (LW2) Long work counts once anybody sent anything meanwhile, a skew once a clock that differs
 * from the store's was measured with. */
#ifndef SIM_LONG_WORK_H
#define SIM_LONG_WORK_H

#include "sim/run.h"

/* The work that run->bundle rests on begins. */
void long_work_begin(struct run *run, unsigned actor);

/* A turn of an actor that is at work: run->bundle is what it sends. False: it goes on working, and
 * sends nothing. */
bool long_work_leave(struct run *run, unsigned actor);

/* It rests until the work is done, or its engine has something to send. Who has let go of its claim
 * does not go on. */
void long_work_rest(struct run *run, struct run_actor *run_actor);

#endif
