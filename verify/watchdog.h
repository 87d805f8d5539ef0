/* A watchdog of runs that hang: an engine that loops, so that a turn never ends. The clauses of
 * liveness judge a run that takes turns for ever; nobody would ever judge this one.
 *
 * It measures processor time, which stands still while a machine is busy with other things. A run
 * whose turn takes too much of it is told, with the line that repeats it, and ends the program with
 * status 2: the thread that loops cannot be stopped in another way.
 *
 * (WD1) Only threads that asked for it are watched, and only while they are at a run. */
#ifndef VERIFY_WATCHDOG_H
#define VERIFY_WATCHDOG_H

/* Of the whole process, for each thread that is watched: 20, and less in a test. A turn takes some
 * microseconds. */
extern unsigned watchdog_seconds;

/* From now on this thread is watched, until watchdog_leave. */
void watchdog_enter(void);
void watchdog_leave(void);

#endif
