/* The kinds of evidence that a sign-off needs, and whether each is there in full: not that a verb
 * was run, but that it was run on everything that its line on the page speaks of. */
#ifndef REPORTS_STEPS_H
#define REPORTS_STEPS_H

#include "reports/evidence.h"

#define STEPS_COUNT 9

struct step {
    const char *name;  /* the verb, or what else it is called */
    const char *shows; /* what it shows when it is there */
};

const struct step *steps_get(size_t index);

/* What is there of a kind of evidence. Failed, interrupted and never run are told apart in `why`. */
enum steps_state { STEPS_THERE, STEPS_FAILED, STEPS_ABSENT };
enum steps_state steps_judge(size_t index, const struct evidence *evidence, char *why, size_t size);

#endif
