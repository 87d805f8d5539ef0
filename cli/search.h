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

/* `progress` is called now and then with the number of states so far; NULL: never. An interrupt
 * (SIGINT) ends the search as BOUNDED. False: no memory. */
bool search(const struct explore_plan *plan, void (*progress)(uint64_t states, double seconds),
            struct search_result *result);

/* One thread, breadth first. */
bool search_shortest(const struct explore_plan *plan, struct search_result *result);

#endif
