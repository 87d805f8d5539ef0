/* The memory that a search may take, all of it: the states seen, the notes on liveness, the ways
 * back of a search breadth first. Threads share it. What does not fit is told, and the search ends
 * as bounded. What does not grow with the number of states (a walk and a way for each thread) is
 * not counted. */
#ifndef SIM_EXPLORE_BUDGET_H
#define SIM_EXPLORE_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct explore_budget {
    size_t max; /* bytes */
    atomic_size_t used;
};

/* False: there is not so much left. */
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
