/* How a verb ends: the exit statuses that scripts rely on. They are here because what a verb finds
 * is judged here; cli.h shows them to the verbs. */
#ifndef VERIFY_STATUS_H
#define VERIFY_STATUS_H

enum cli_status {
    CLI_OK = 0,          /* every promise held */
    CLI_BROKEN = 1,      /* a promise was broken */
    CLI_NO_PROGRESS = 2, /* no progress that no clause names */
    CLI_NONDETERMINISTIC = 3,
    CLI_INCOMPLETE = 4,   /* a gate not met, a search bounded, a sabotage surviving */
    CLI_USAGE = 64,       /* usage or bad input */
    CLI_UNAVAILABLE = 69, /* something needed is not available */
    CLI_BUG = 70          /* a bug in Assay itself */
};

#endif
