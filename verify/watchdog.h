/* A watchdog for runs that end the program: an engine loops, so that a turn never ends, a CHECK does
 * not hold, or memory is misused. The liveness clauses judge a run that takes turns for ever, but
 * never see the end of such a turn.
 *
 * It measures processor time, which does not grow while the machine is busy with other programs. A
 * turn that takes too much of it is reported with the line that repeats the run, and the program
 * ends with status 2: a looping thread cannot be stopped in another way. A thread that dies during a
 * run reports the same line, and then dies.
 *
 * (WD1) Only threads that called watchdog_enter are watched, and only during a run. */
#ifndef VERIFY_WATCHDOG_H
#define VERIFY_WATCHDOG_H

/* Of the whole process, for each thread that is watched: 20, and less in a test. A turn takes some
 * microseconds. */
extern unsigned watchdog_seconds;

/* From now on this thread is watched, until watchdog_leave. */
void watchdog_enter(void);
void watchdog_leave(void);

#endif
