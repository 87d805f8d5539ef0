/* The check hook of programs: say what was claimed, then abort. Not part of the pure library. */
#include "model/check.h"

#include <stdio.h>
#include <stdlib.h>

/* Left out of coverage: a process that comes here aborts, and takes its counters with it. */
_Noreturn void check_failed(const char *claim, const char *file, int line) /* LCOV_EXCL_START */
{
    fprintf(stderr, "%s:%d: a bug in Assay: CHECK(%s) does not hold\n", file, line, claim);
    abort();
} /* LCOV_EXCL_STOP */
