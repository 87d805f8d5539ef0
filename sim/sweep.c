#include "sim/sweep.h"

#include "model/check.h"

#include <stdlib.h>
#include <string.h>

#define RUNS_A_PROGRESS 256
#define DIGEST_FACTOR   UINT64_C(0x9E3779B97F4A7C15)

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
    const struct sweep_share *share;
    bool stopped;
};

uint64_t sweep_fold(uint64_t digest, uint64_t more, uint64_t runs)
{
    uint64_t factor = DIGEST_FACTOR;
    for (; runs > 0; runs >>= 1) {
        digest *= (runs & 1) != 0 ? factor : 1;
        factor *= factor;
    }
    return digest + more;
}

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
    report->digest = report->digest * DIGEST_FACTOR + result->digest;
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

static bool sweep_from(struct sweeping *work, unsigned count);

/* Crashes the point after `count` crashes, and then every one below it. */
static bool sweep_point(struct sweeping *work, unsigned count, struct point point, int side)
{
    work->crashes[count] = (struct choice){.why = CHOICE_FAULT,
                                           .actor = point.actor,
                                           .ordinal = point.ordinal,
                                           .value = (uint32_t)sweep_sides[side]};
    work->report->points[count]++;
    /* A point of the settling phase is no crash point: faults have stopped there. */
    return run_with(work, count + 1) &&
           (work->courses[count + 1]->crashes != count + 1 || sweep_from(work, count + 1));
}

/* Whether the block is in the share. */
static bool has_block(const struct sweeping *work, uint64_t block)
{
    return block % work->share->parts == work->share->part;
}

/* A block of the share, whose digest is told by itself. */
static bool sweep_block(struct sweeping *work, uint64_t block, struct point point, int side)
{
    struct sweep_report *report = work->report;
    uint64_t before = report->digest, runs = report->runs;
    report->digest = 0;
    bool held = block == 0 ? run_with(work, 0) : sweep_point(work, 0, point, side);
    uint64_t digest = report->digest;
    report->digest = sweep_fold(before, digest, report->runs - runs);
    if (work->share->done != NULL && !work->stopped) {
        work->share->done(work->share->context, block, report, digest);
    }
    return held;
}

/* Crashes every point of the course that `count` crashes led to, from the last crash on. */
static bool sweep_from(struct sweeping *work, unsigned count)
{
    const struct course *course = work->courses[count];
    uint64_t block = 0;
    if (count == work->depth || count == SWEEP_DEPTH_MAX) {
        return true;
    }
    for (size_t at = course->after_crash; at < course->count; at++) {
        for (int side = 0; side < SWEEP_SIDES; side++) {
            block++;
            if (count == 0 && !has_block(work, block)) {
                continue;
            }
            if (!(count == 0 ? sweep_block(work, block, course->points[at], side)
                             : sweep_point(work, count, course->points[at], side))) {
                return false;
            }
        }
    }
    return true;
}

/* The run without a crash, which every share needs and one counts. False: it broke a promise, or was
 * ended early. */
static bool begin_share(struct sweeping *work)
{
    struct sweep_report *report = work->report;
    struct oracle *oracle = &work->run->oracle;
    uint64_t evaluated[CLAUSE_COUNT], seen[COVER_COUNT];
    if (has_block(work, 0)) {
        return sweep_block(work, 0, (struct point){0}, 0);
    }
    memcpy(evaluated, oracle->evaluated, sizeof evaluated);
    memcpy(seen, oracle->seen, sizeof seen);
    bool held = run_with(work, 0);
    *report = (struct sweep_report){0};
    memcpy(oracle->evaluated, evaluated, sizeof evaluated);
    memcpy(oracle->seen, seen, sizeof seen);
    return held;
}

bool sweep(struct run *run, uint64_t seed, unsigned depth, struct sweep_report *report,
           sweep_progress *progress, void *context)
{
    const struct sweep_share all = {.parts = 1};
    return sweep_share(run, seed, depth, &all, report, progress, context);
}

bool sweep_share(struct run *run, uint64_t seed, unsigned depth, const struct sweep_share *share,
                 struct sweep_report *report, sweep_progress *progress, void *context)
{
    CHECK(share->part < share->parts);
    CHECK(depth >= 1 && depth <= SWEEP_DEPTH_MAX);
    *report = (struct sweep_report){0};
    struct sweeping work = {.run = run,
                            .seed = seed,
                            .depth = depth,
                            .share = share,
                            .report = report,
                            .progress = progress,
                            .context = context};
    bool made = true;
    for (unsigned i = 0; i <= depth; i++) {
        work.courses[i] = calloc(1, sizeof *work.courses[i]);
        made = made && work.courses[i] != NULL;
    }
    bool done = made && begin_share(&work);
    if (done) {
        report->transactions = (uint32_t)work.courses[0]->count;
        done = sweep_from(&work, 0);
    }
    for (unsigned i = 0; i <= depth; i++) {
        free(work.courses[i]);
    }
    return made && (done || report->broken || !(work.stopped || has_block(&work, 0)));
}
