#include "sim/sweep.h"

#include "model/check.h"

#include <stdlib.h>
#include <string.h>

#define RUNS_A_PROGRESS 256

const enum fault_kind sweep_sides[SWEEP_SIDES] = {
    FAULT_CRASH_BEFORE_BEGIN, FAULT_CRASH_BEFORE_COMMIT, FAULT_CRASH_AFTER_COMMIT};

/* A transaction of a run, where a crash is possible. */
struct point {
    uint8_t actor;
    uint32_t ordinal;
};

/* The transactions of one run, in the order in which they were sent. */
struct course {
    struct point points[SWEEP_TRANSACTIONS_MAX];
    size_t count;
    bool full;          /* there were more */
    size_t after_crash; /* the first one after the last crash of the list */
    uint32_t sent[RUN_ACTORS_MAX];
    unsigned crashes; /* that fired */
    struct sweep_report *report;
};

struct sweeping {
    struct run *run;
    uint64_t seed;
    unsigned depth;
    struct sweep_report *report;
    sweep_progress *progress;
    void *context;
    struct course *courses[SWEEP_DEPTH_MAX + 1];
    struct choice crashes[SWEEP_DEPTH_MAX];
    bool stopped;
};

/* ---- watching a run -------------------------------------------------------------------------- */

/* Resets everything except the points, which are many. */
static void start(struct course *course, struct sweep_report *report)
{
    course->count = 0;
    course->full = false;
    course->after_crash = 0;
    memset(course->sent, 0, sizeof course->sent);
    course->crashes = 0;
    course->report = report;
}

static void count_crash(struct course *course, const struct run_event *event)
{
    for (int side = 0; side < SWEEP_SIDES; side++) {
        if (event->fault == sweep_sides[side]) {
            course->report->by_bundle[course->crashes][event->bundle->name][side]++;
            course->crashes++;
            course->after_crash = course->count;
        }
    }
}

static void sweep_watch(void *context, const struct run_event *event)
{
    struct course *course = context;
    if (event->turn != RUN_TRANSACTION && event->turn != RUN_CRASH) {
        return;
    }
    if (course->count == SWEEP_TRANSACTIONS_MAX) {
        course->full = true;
        return;
    }
    course->points[course->count++] =
        (struct point){.actor = (uint8_t)event->actor, .ordinal = course->sent[event->actor]++};
    if (event->fault != FAULT_NONE) {
        count_crash(course, event);
    }
}

/* ---- sweeping -------------------------------------------------------------------------------- */

/* Runs with the first `count` crashes; false if a promise broke or the sweep was ended. */
static bool run_with(struct sweeping *work, unsigned count)
{
    struct sweep_report *report = work->report;
    struct course *course = work->courses[count];
    struct choice sorted[SWEEP_DEPTH_MAX];
    memcpy(sorted, work->crashes, count * sizeof *sorted);
    struct choice_list list = {.items = sorted, .count = count, .capacity = SWEEP_DEPTH_MAX};
    choice_list_sort(&list);
    struct choice_source source = choice_swept(work->seed, &list);
    start(course, report);
    work->run->observer = sweep_watch;
    work->run->observer_context = course;
    const struct run_result *result = run_once(work->run, &source);
    work->run->observer = NULL;
    run_check_alive(work->run);
    report->runs++;
    report->steps += result->steps;
    report->digest = report->digest * UINT64_C(0x9E3779B97F4A7C15) + result->digest;
    if (result->verdict != RUN_HELD) {
        report->broken = true;
        report->breach = *result;
        memcpy(report->crashes, work->crashes, count * sizeof *report->crashes);
        report->crash_count = count;
        return false;
    }
    if (course->full) {
        work->stopped = true;
        return false;
    }
    if (work->progress != NULL && report->runs % RUNS_A_PROGRESS == 0 &&
        !work->progress(work->context, report)) {
        work->stopped = true;
        return false;
    }
    return true;
}

/* Crashes every point of the course that `count` crashes led to, from the last crash on. */
static bool sweep_from(struct sweeping *work, unsigned count)
{
    const struct course *course = work->courses[count];
    if (count == work->depth || count == SWEEP_DEPTH_MAX) {
        return true;
    }
    for (size_t at = course->after_crash; at < course->count; at++) {
        for (int side = 0; side < SWEEP_SIDES; side++) {
            work->crashes[count] = (struct choice){.why = CHOICE_FAULT,
                                                   .actor = course->points[at].actor,
                                                   .ordinal = course->points[at].ordinal,
                                                   .value = (uint32_t)sweep_sides[side]};
            work->report->points[count]++;
            if (!run_with(work, count + 1)) {
                return false;
            }
            /* A point of the settling phase is no crash point: faults have stopped there. */
            if (work->courses[count + 1]->crashes == count + 1 && !sweep_from(work, count + 1)) {
                return false;
            }
        }
    }
    return true;
}

bool sweep(struct run *run, uint64_t seed, unsigned depth, struct sweep_report *report,
           sweep_progress *progress, void *context)
{
    CHECK(depth >= 1 && depth <= SWEEP_DEPTH_MAX);
    *report = (struct sweep_report){0};
    struct sweeping work = {.run = run,
                            .seed = seed,
                            .depth = depth,
                            .report = report,
                            .progress = progress,
                            .context = context};
    bool made = true;
    for (unsigned i = 0; i <= depth; i++) {
        work.courses[i] = calloc(1, sizeof *work.courses[i]);
        made = made && work.courses[i] != NULL;
    }
    bool done = made && run_with(&work, 0);
    if (done) {
        report->transactions = (uint32_t)work.courses[0]->count;
        done = sweep_from(&work, 0);
    }
    for (unsigned i = 0; i <= depth; i++) {
        free(work.courses[i]);
    }
    return made && (done || report->broken);
}
