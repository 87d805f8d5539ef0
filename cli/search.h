/* An exhaustive search with as many threads as asked for: what `assay explore` and `assay bench
 * explore` have in common. */
#ifndef CLI_SEARCH_H
#define CLI_SEARCH_H

#include "sim/explore.h"

struct search_result {
    struct explore *explore; /* to be freed with explore_free */
    const struct explore_report *report;
    double seconds;
};

/* `tells`: says now and then how far it is (live.h). Ctrl-C ends the search as BOUNDED. False: no
 * memory. */
bool search(const struct explore_plan *plan, bool tells, struct search_result *result);

/* One thread, breadth first. */
bool search_shortest(const struct explore_plan *plan, struct search_result *result);

#endif
