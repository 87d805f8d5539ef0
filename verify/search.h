/* An exhaustive search with as many threads as asked for: what `assay explore` and `assay bench
 * explore` have in common. */
#ifndef VERIFY_SEARCH_H
#define VERIFY_SEARCH_H

#include "sim/explore.h"

/* The search itself, with all its memory, is gone by then. */
struct search_result {
    struct explore_report report; /* its path is freed by search_free */
    unsigned jobs;                /* threads that searched */
    bool shortest;                /* the path is a shortest one */
    double seconds;
};

/* `tells`: says now and then how far it is (live.h). Ctrl-C ends the search as BOUNDED. False: no
 * memory. */
bool search(const struct explore_plan *plan, bool tells, struct search_result *result);

/* One thread, breadth first: a shortest way to a broken promise, or to plan->target. Whether
 * everything can rest is not asked. */
bool search_way(const struct explore_plan *plan, struct search_result *result);

/* The same, and where no promise is broken on any way, an ordinary search for the verdict. */
bool search_shortest(const struct explore_plan *plan, struct search_result *result);

void search_free(struct search_result *result);

#endif
