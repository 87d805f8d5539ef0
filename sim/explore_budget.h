/* The memory budget of a search, shared by its threads: visited states, notes on liveness, back
 * pointers of a breadth-first search. A search that exceeds it ends as BOUNDED and says so.
 * Memory that does not grow with the number of states (a walk and a path for each thread) is not
 * counted. */
#ifndef SIM_EXPLORE_BUDGET_H
#define SIM_EXPLORE_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct explore_budget {
    size_t max; /* bytes */
    atomic_size_t used;
};

/* False: less is left. */
static inline bool explore_budget_take(struct explore_budget *budget, size_t bytes)
{
    size_t used = atomic_load_explicit(&budget->used, memory_order_relaxed);
    do {
        if (bytes > budget->max || used > budget->max - bytes) {
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&budget->used, &used, used + bytes,
                                                    memory_order_relaxed, memory_order_relaxed));
    return true;
}

static inline void explore_budget_give(struct explore_budget *budget, size_t bytes)
{
    atomic_fetch_sub_explicit(&budget->used, bytes, memory_order_relaxed);
}

#endif
