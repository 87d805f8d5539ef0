/* The check hook of programs: returns to the trap, or says what was claimed and aborts. Not part of
 * the pure library. */
#include "model/check.h"
#include "model/check_trap.h"

#include <stdio.h>
#include <stdlib.h>

_Thread_local struct check_trap *check_trap;

/* Left out of coverage: a process that comes here aborts, and takes its counters with it. */
_Noreturn void check_failed(const char *claim, const char *file, int line) /* LCOV_EXCL_START */
{
    if (check_trap != NULL && check_trap->armed != 0) {
        check_trap->claim = claim;
        check_trap->file = file;
        check_trap->line = line;
        longjmp(check_trap->back, 1);
    }
    fprintf(stderr, "%s:%d: a bug in Assay: CHECK(%s) does not hold\n", file, line, claim);
    abort();
} /* LCOV_EXCL_STOP */
