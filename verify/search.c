#include "verify/search.h"

#include "verify/interrupt.h"
#include "verify/live.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct helper {
    struct explore *explore;
    unsigned job;
    bool alone; /* breadth first */
    atomic_bool done;
    pthread_t thread;
};

static void *help(void *context)
{
    struct helper *helper = context;
    if (helper->alone) {
        explore_shortest(helper->explore);
    } else {
        explore_join(helper->explore, helper->job);
    }
    atomic_store(&helper->done, true);
    return NULL;
}

/* Waits for every thread, reports progress, and stops the search on an interrupt. */
static void search_watch(struct helper *helpers, unsigned count, struct live *live, bool tells)
{
    struct explore *explore = helpers[0].explore;
    const struct timespec moment = {.tv_nsec = 2000000};
    bool done = false;
    while (!done) {
        done = true;
        for (unsigned h = 0; h < count; h++) {
            done = done && atomic_load(&helpers[h].done);
        }
        if (interrupt_seen()) {
            explore_stop(explore);
        }
        if (tells && live_is_due(live)) {
            uint64_t states = explore_states(explore);
            live_say(live, "%" PRIu64 " states, %.0f a second", states,
                     (double)states / live_seconds(live));
        }
        if (!done) {
            nanosleep(&moment, NULL);
        }
    }
}

/* The report outlives the search. */
static bool take_report(struct explore *explore, struct search_result *result)
{
    result->report = *explore_finish(explore);
    if (result->report.path == NULL) {
        return true;
    }
    size_t size = result->report.path_length * sizeof *result->report.path;
    struct walk_move *path = malloc(size + 1);
    if (path != NULL) {
        memcpy(path, result->report.path, size);
    }
    result->report.path = path;
    return path != NULL;
}

static bool search_run(const struct explore_plan *plan, bool alone, bool tells,
                       struct search_result *result)
{
    struct helper helpers[EXPLORE_JOBS_MAX];
    struct explore *explore = explore_make(plan);
    *result = (struct search_result){.jobs = plan->jobs, .shortest = alone};
    if (explore == NULL) {
        return false;
    }
    unsigned count = 0;
    struct live live = live_begin();
    for (; count < plan->jobs; count++) {
        helpers[count] = (struct helper){.explore = explore, .job = count, .alone = alone};
        if (pthread_create(&helpers[count].thread, NULL, help, &helpers[count]) != 0) {
            break;
        }
    }
    if (count > 0) {
        search_watch(helpers, count, &live, tells);
    }
    for (unsigned h = 0; h < count; h++) {
        pthread_join(helpers[h].thread, NULL);
    }
    bool done = count > 0 && take_report(explore, result);
    result->seconds = live_seconds(&live);
    live_end(&live);
    explore_free(explore);
    return done;
}

bool search(const struct explore_plan *plan, bool tells, struct search_result *result)
{
    return search_run(plan, false, tells, result);
}

bool search_way(const struct explore_plan *plan, struct search_result *result)
{
    struct explore_plan alone = *plan;
    alone.jobs = 1;
    alone.walk.reductions &= ~(unsigned)REDUCE_ORDER;
    return search_run(&alone, true, false, result);
}

bool search_shortest(const struct explore_plan *plan, struct search_result *result)
{
    if (!search_way(plan, result)) {
        return false;
    }
    if (result->report.verdict != EXPLORE_HELD) {
        return true;
    }
    double seconds = result->seconds;
    search_free(result);
    bool searched = search(plan, false, result);
    result->seconds += seconds;
    return searched;
}

void search_free(struct search_result *result)
{
    free(result->report.path);
    result->report.path = NULL;
}
