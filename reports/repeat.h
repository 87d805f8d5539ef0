/* What must be typed to repeat what a report tells: every command of the sessions that it is made
 * of, and with which seeds. */
#ifndef REPORTS_REPEAT_H
#define REPORTS_REPEAT_H

#include "reports/evidence.h"

/* A list of {"command", "base_seed", "seeds", "seed", "runs", "sabotage", "status",
 * "seconds"}, one a session.
 * "seeds": how many were drawn from the base seed on, for every scenario; "seed": the one of a verb
 * that takes one. What is null was not told; a status that is null: it was killed. */
json_t *repeat_commands(const struct evidence *evidence);

/* The planted bug that a command line asks for; null: none. */
json_t *repeat_planted(const char *command);

#endif
