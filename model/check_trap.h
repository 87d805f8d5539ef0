/* A trap for the CHECKs of code that is under test: a CHECK that does not hold while the trap of its
 * thread is armed returns to the trap, and the program goes on. Everywhere else it ends the program.
 *
 * An engine that fails a CHECK is a process that dies: what the others make of that is for the
 * promises to judge (sim/run.h). A CHECK of the simulation itself is never trapped. */
#ifndef MODEL_CHECK_TRAP_H
#define MODEL_CHECK_TRAP_H

#include <setjmp.h>

struct check_trap {
    jmp_buf back;
    unsigned armed;           /* 0: it is not; else a number of its owner's */
    const char *claim, *file; /* what did not hold, and where */
    int line;
};

/* NULL: this thread has none. */
extern _Thread_local struct check_trap *check_trap;

#endif
