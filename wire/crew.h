/* Lanes as processes: each runs what it is given, one run after the other, and hands back results.
 *
 * A lane is a process of its own, so that what a run starts is below it and below no other lane, and
 * so that it ends with whatever made it.
 *
 * (CR1) After crew_close(), and after a signal that ended the caller, nothing of a lane is left but
 *       what the next cluster_sweep() removes. */
#ifndef WIRE_CREW_H
#define WIRE_CREW_H

#include "wire/trial.h"

#define CREW_LANES_MAX 16

struct crew_lane {
    pid_t pid;
    int fd; /* orders out, results in */
    bool busy;
    size_t tag; /* of the order */
};

struct crew {
    struct crew_lane lanes[CREW_LANES_MAX];
    unsigned count;
    bool setup_failed; /* why it did not open: the subject's setup, and nothing of ours */
};

/* Starts the lanes, each of which runs the subject's setup. False: *error says what was wrong. */
bool crew_open(struct crew *crew, const struct lane_options *options, unsigned lanes,
               struct error *error);
void crew_close(struct crew *crew);

/* Fills the next order. False: there is none for now. */
typedef bool crew_next(void *context, struct trial_plan *plan, size_t *tag);
/* A result has come; it may lead to new orders. */
typedef void crew_took(void *context, size_t tag, const struct trial_result *result);

/* Until there is no order and nothing under way. False: a lane was lost, or stop() said so. */
bool crew_work(struct crew *crew, crew_next *next, crew_took *took, bool (*stop)(void),
               void *context);

#endif
