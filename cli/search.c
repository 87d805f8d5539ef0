#include "cli/search.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#define PROGRESS_NS 200000000

static atomic_bool interrupted; /* lock-free, so a handler may set it */

static void note_interrupt(int signal_number)
{
    (void)signal_number;
    atomic_store(&interrupted, true);
}

static double now_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

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

/* Until every thread is done; meanwhile somebody may want to know how far it is, or stop it. */
static void watch(struct helper *helpers, unsigned count, double start,
                  void (*progress)(uint64_t states, double seconds))
{
    struct explore *explore = helpers[0].explore;
    const struct timespec moment = {.tv_nsec = 2000000};
    double told = start;
    bool done = false;
    while (!done) {
        done = true;
        for (unsigned h = 0; h < count; h++) {
            done = done && atomic_load(&helpers[h].done);
        }
        if (atomic_load(&interrupted)) {
            explore_stop(explore);
        }
        double now = now_seconds();
        if (progress != NULL && now - told > PROGRESS_NS / 1e9) {
            progress(explore_states(explore), now - start);
            told = now;
        }
        if (!done) {
            nanosleep(&moment, NULL);
        }
    }
}

static bool run(const struct explore_plan *plan, bool alone,
                void (*progress)(uint64_t states, double seconds), struct search_result *result)
{
    struct helper helpers[EXPLORE_JOBS_MAX];
    struct sigaction action = {.sa_handler = note_interrupt}, before;
    *result = (struct search_result){.explore = explore_make(plan)};
    if (result->explore == NULL) {
        return false;
    }
    unsigned count = 0;
    atomic_store(&interrupted, false);
    sigaction(SIGINT, &action, &before);
    double start = now_seconds();
    for (; count < plan->jobs; count++) {
        helpers[count] = (struct helper){.explore = result->explore, .job = count, .alone = alone};
        if (pthread_create(&helpers[count].thread, NULL, help, &helpers[count]) != 0) {
            break;
        }
    }
    if (count > 0) {
        watch(helpers, count, start, progress);
    }
    for (unsigned h = 0; h < count; h++) {
        pthread_join(helpers[h].thread, NULL);
    }
    sigaction(SIGINT, &before, NULL);
    if (count == 0) {
        explore_free(result->explore);
        return false;
    }
    result->report = explore_finish(result->explore);
    result->seconds = now_seconds() - start;
    return true;
}

bool search(const struct explore_plan *plan, void (*progress)(uint64_t states, double seconds),
            struct search_result *result)
{
    return run(plan, false, progress, result);
}

bool search_shortest(const struct explore_plan *plan, struct search_result *result)
{
    struct explore_plan alone = *plan;
    alone.jobs = 1;
    alone.walk.reductions &= ~(unsigned)REDUCE_ORDER;
    return run(&alone, true, NULL, result);
}
