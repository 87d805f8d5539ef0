/* An exhaustive search with several threads, shared by `assay explore` and `assay bench explore`. */
#ifndef VERIFY_SEARCH_H
#define VERIFY_SEARCH_H

#include "sim/explore.h"

/* Outlives the search and its memory. */
struct search_result {
    struct explore_report report; /* its path is freed by search_free */
    unsigned jobs;                /* threads that searched */
    bool shortest;                /* the path is a shortest one */
    double seconds;
};

/* `tells`: reports progress (live.h). Ctrl-C ends the search as BOUNDED. False: no
 * memory. */
bool search(const struct explore_plan *plan, bool tells, struct search_result *result);

/* One thread, breadth first: a shortest path to a broken promise, or to plan->target. Whether every
 * state can reach quiescence is not checked. */
bool search_way(const struct explore_plan *plan, struct search_result *result);

/* The same; if no path breaks a promise, an ordinary search gives the verdict. */
bool search_shortest(const struct explore_plan *plan, struct search_result *result);

void search_free(struct search_result *result);

#endif
