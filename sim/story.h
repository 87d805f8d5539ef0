/* The story of a finding: how a broken promise is explained to an engineer, in this order:
 *
 *      one sentence that states the contradiction
 *      the clause, with its promise
 *      the command that reproduces it
 *      the schedule, one column an actor, one row a step
 *      the ledgers concerned, before and after the breaking commit, digit by digit
 *      the nearest schedule that passes, and where the two diverge
 *
 * It runs the schedule again to tell it. It writes to a stream that the caller opened and uses only
 * the colours that it is given: reports/ is not below this layer. */
#ifndef SIM_STORY_H
#define SIM_STORY_H

#include "sim/trace.h"

#include <stdio.h>

#define STORY_ROWS_MAX  40 /* of a schedule; a longer one is summarised */
#define STORY_ROWS_LAST 12 /* last steps, which are always told one by one */

struct story_style {
    const char *strong, *alarm, *plain; /* escape sequences, or empty strings */
    void (*wrapped)(FILE *out, const char *text, int indent); /* writes a text, wrapped */
};

struct story {
    const struct choice_list *choices; /* sorted; the schedule that breaks */
    const struct choice_list *passing; /* sorted; one that passes. NULL: story_tell looks for one */
    /* For a schedule that is no list of choices: runs the one that breaks, or the one that passes.
     * Returns NULL if there is none. */
    const struct run_result *(*play)(void *context, struct run *run, bool passing);
    void *context;
    const char *reproduce; /* the command */
    const char *about;     /* about the schedule: "shrunk from 93 steps"; NULL: nothing */
};

/* What the parts of a story share. */
struct story_telling {
    FILE *out;
    const struct story_style *style;
    struct run *run;
    struct run_result result;
    struct trace trace;              /* of the run that breaks */
    const struct trace_record *last; /* its last event */
    struct names names;
};

/* Tells the story of `choices` on `run`, whose observer and statistics are restored afterwards.
 * False: the run broke no promise, or there was no memory; then nothing is written. */
bool story_tell(FILE *out, const struct story_style *style, struct run *run,
                const struct story *story);

/* The change that the last event made to this cell (column -1: any) or row; NULL: none. */
const struct trace_change *story_change(const struct story_telling *telling, enum row_table table,
                                        uint32_t slot, int column);

#endif
