#include "wire/probe.h"

#include "model/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RECORDINGS 2
#define NO_FINDING SIZE_MAX

enum job_kind { JOB_RECORD, JOB_POINT, JOB_REPEAT, JOB_CONTROL };

struct job {
    enum job_kind kind;
    struct point points[POINT_DEPTH_MAX];
    size_t count;
    size_t finding; /* of a repetition and its control arm */
    bool given;
    bool second; /* it missed its point once, and is tried again */
};

struct probe {
    const struct subject *subject;
    const struct probe_options *options;
    struct probe_result *result;
    struct job *jobs;
    size_t count, capacity;
    size_t next;       /* no job before it waits */
    size_t confirming; /* repetitions that wait */
    struct trial_result recordings[RECORDINGS];
    size_t recorded;
    double began;
    bool failed;
};

static double now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void fail(struct probe *probe, const char *what, const char *text)
{
    if (!probe->failed) {
        probe->failed = true;
        probe->result->end = PROBE_FAILED;
        (void)snprintf(probe->result->why, sizeof probe->result->why, "%.100s%.400s", what, text);
    }
}

static void add_job(struct probe *probe, const struct job *job)
{
    if (probe->count == PROBE_POINTS_MAX) {
        return;
    }
    if (probe->count == probe->capacity) {
        probe->capacity = probe->capacity == 0 ? 256 : 2 * probe->capacity;
        probe->jobs = realloc(probe->jobs, probe->capacity * sizeof *probe->jobs);
        CHECK(probe->jobs != NULL);
    }
    probe->jobs[probe->count++] = *job;
    probe->result->planned++;
    probe->confirming += job->kind == JOB_REPEAT || job->kind == JOB_CONTROL;
}

/* ---- the recording --------------------------------------------------------------------------- */

static bool is_named(const struct trial_background *background, const char *name)
{
    for (size_t i = 0; i < background->count; i++) {
        if (strcmp(background->names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* What still commits when all is done is no part of the work. */
static void learn_background(struct trial_background *background, const struct trial_result *result)
{
    for (size_t i = 0; i < result->commit_count; i++) {
        const struct trial_commit *commit = &result->commits[i];
        if (commit->learnt && !is_named(background, commit->name) &&
            background->count < TRIAL_BACKGROUND_MAX) {
            memcpy(background->names[background->count++], commit->name, TRIAL_NAME_SIZE);
        }
    }
}

/* The commits that count, with the numbers that they have when background is not counted. */
static size_t renumber(const struct trial_background *background, const struct trial_result *result,
                       struct trial_commit *commits)
{
    unsigned numbers[256] = {0};
    size_t count = 0;
    for (size_t i = 0; i < result->commit_count; i++) {
        const struct trial_commit *commit = &result->commits[i];
        if (!commit->learnt && !is_named(background, commit->name)) {
            commits[count] = *commit;
            commits[count++].ordinal = ++numbers[(unsigned char)commit->worker];
        }
    }
    return count;
}

static const struct trial_commit *find_commit(const struct trial_commit *commits, size_t count,
                                              const struct trial_commit *like)
{
    for (size_t i = 0; i < count; i++) {
        if (commits[i].worker == like->worker && commits[i].ordinal == like->ordinal) {
            return &commits[i];
        }
    }
    return NULL;
}

/* Keeps the commits that both have by number; says how many have the same statements. */
static void compare_recordings(struct probe *probe)
{
    static struct trial_commit second[TRIAL_COMMITS_MAX];
    struct probe_trace *trace = &probe->result->trace;
    for (size_t i = 0; i < RECORDINGS; i++) {
        learn_background(&trace->background, &probe->recordings[i]);
    }
    trace->count = renumber(&trace->background, &probe->recordings[0], trace->commits);
    trace->second_count = renumber(&trace->background, &probe->recordings[1], second);
    size_t kept = 0;
    for (size_t i = 0; i < trace->count; i++) {
        const struct trial_commit *other =
            find_commit(second, trace->second_count, &trace->commits[i]);
        trace->agreed += other != NULL && strcmp(other->name, trace->commits[i].name) == 0;
        if (other != NULL) {
            trace->commits[kept++] = trace->commits[i];
        }
    }
    trace->count = kept;
    trace->reference = probe->recordings[0].reference;
    trace->seconds = probe->recordings[0].seconds;
    trace->start_seconds = probe->recordings[0].start_seconds;
    trace->same_agrees = memcmp(trace->reference.same, probe->recordings[1].reference.same,
                                sizeof trace->reference.same) == 0;
}

static void took_recording(struct probe *probe, const struct trial_result *result)
{
    char what[200];
    if (result->verdict == TRIAL_BROKEN) {
        (void)snprintf(what, sizeof what, "without any fault %s is broken: ", result->broken);
        fail(probe, what, result->text);
    } else if (result->verdict != TRIAL_HELD) {
        fail(probe, "the run without faults failed: ", result->text);
    }
    probe->recordings[probe->recorded++] = *result;
}

/* ---- findings -------------------------------------------------------------------------------- */

static const char *name_of_point(const struct probe *probe, const struct point *point)
{
    const struct probe_trace *trace = &probe->result->trace;
    const struct trial_commit like = {.worker = point->worker, .ordinal = point->ordinal};
    const struct trial_commit *commit = find_commit(trace->commits, trace->count, &like);
    return commit == NULL ? "" : commit->name;
}

static const struct subject_known *find_known(const struct probe *probe, const char *broken,
                                              const struct point *last)
{
    for (size_t i = 0; i < probe->subject->known_count; i++) {
        const struct subject_known *known = &probe->subject->known[i];
        if (strcmp(known->breaks, broken) == 0 &&
            (known->fault[0] == '\0' || point_fault_is_of(last->fault, known->fault))) {
            return known;
        }
    }
    return NULL;
}

static void confirm(struct probe *probe, const struct job *job, size_t finding)
{
    struct job again = *job;
    again.kind = JOB_REPEAT;
    again.finding = finding;
    again.given = false;
    for (unsigned i = 0; i < PROBE_REPEATS; i++) {
        add_job(probe, &again);
    }
    again.kind = JOB_CONTROL;
    add_job(probe, &again);
}

/* Findings with the same promise, fault and statements are one. */
static struct probe_finding *find_finding(struct probe *probe, const struct job *job,
                                          const struct trial_result *result)
{
    const struct point *last = &job->points[job->count - 1];
    for (size_t i = 0; i < probe->result->finding_count; i++) {
        struct probe_finding *finding = &probe->result->findings[i];
        if (strcmp(finding->broken, result->broken) == 0 && finding->count == job->count &&
            finding->points[job->count - 1].fault == last->fault &&
            strcmp(finding->commit, name_of_point(probe, &job->points[0])) == 0) {
            return finding;
        }
    }
    return NULL;
}

static void keep_after(struct probe_finding *finding, const struct trial_result *result)
{
    const size_t room = COUNT(finding->after);
    for (size_t i = result->hit_at; i < result->commit_count && finding->after_count < room; i++) {
        finding->after[finding->after_count++] = result->commits[i];
    }
}

static void took_breach(struct probe *probe, size_t index, const struct trial_result *result)
{
    struct job job = probe->jobs[index]; /* a copy: adding jobs may move them */
    struct probe_finding *finding = find_finding(probe, &job, result);
    if (finding != NULL) {
        finding->runs++;
        return;
    }
    if (probe->result->finding_count == PROBE_FINDINGS_MAX) {
        return;
    }
    size_t number = probe->result->finding_count++;
    finding = &probe->result->findings[number];
    *finding = (struct probe_finding){.count = job.count, .runs = 1};
    memcpy(finding->points, job.points, sizeof job.points);
    memcpy(finding->broken, result->broken, sizeof finding->broken);
    memcpy(finding->text, result->text, sizeof finding->text);
    (void)snprintf(finding->commit, sizeof finding->commit, "%s",
                   name_of_point(probe, &job.points[0]));
    finding->known = find_known(probe, result->broken, &job.points[job.count - 1]);
    keep_after(finding, result);
    confirm(probe, &job, number);
}

bool probe_counts(const struct probe_finding *finding)
{
    return finding->again > 0 && finding->control_ran && finding->control_held; /* PB2 */
}

static void took_confirmation(struct probe *probe, const struct job *job,
                              const struct trial_result *result)
{
    struct probe_finding *finding = &probe->result->findings[job->finding];
    bool broken = result->verdict == TRIAL_BROKEN && strcmp(result->broken, finding->broken) == 0;
    if (job->kind == JOB_CONTROL) {
        finding->control_ran = true;
        finding->control_held = result->verdict == TRIAL_HELD;
        memcpy(finding->control_text, result->text, sizeof finding->control_text);
    } else if (++finding->repeated > 0 && broken && finding->again++ == 0) {
        finding->after_count = 0; /* the repetitions know the rows, too */
        keep_after(finding, result);
    }
    if (finding->control_ran && finding->repeated == PROBE_REPEATS) {
        finding->told = true;
        probe->options->found(probe->options->context, finding);
    }
}

/* ---- the second crash, inside the recovery ---------------------------------------------------- */

static void plan_recovery(struct probe *probe, const struct job *job,
                          const struct trial_result *result)
{
    if (probe->options->depth < 2 || job->count > 1 || job->kind != JOB_POINT ||
        job->points[0].fault->act != POINT_KILL || result->hits == 0) {
        return;
    }
    struct job deeper = {.kind = JOB_POINT, .count = 2, .finding = NO_FINDING};
    deeper.points[0] = job->points[0];
    for (size_t i = result->hit_at; i < result->commit_count; i++) {
        const struct trial_commit *commit = &result->commits[i];
        bool itself =
            commit->worker == job->points[0].worker && commit->ordinal == job->points[0].ordinal;
        for (size_t f = 0; f < point_fault_count && commit->ordinal > 0 && !itself; f++) {
            if (point_faults[f].act == POINT_KILL) {
                deeper.points[1] =
                    (struct point){commit->worker, commit->ordinal, &point_faults[f]};
                add_job(probe, &deeper);
            }
        }
    }
}

/* ---- orders and results ---------------------------------------------------------------------- */

static bool out_of_time(const struct probe *probe)
{
    return probe->options->seconds > 0 && now() - probe->began > probe->options->seconds;
}

/* Repetitions first: a finding is worth more than the next point. */
static struct job *choose(struct probe *probe)
{
    bool confirms = probe->confirming > 0;
    if (!confirms && out_of_time(probe) && probe->next < probe->count) {
        probe->result->end = PROBE_OUT_OF_TIME;
        return NULL;
    }
    for (size_t i = probe->next; i < probe->count; i++) {
        struct job *job = &probe->jobs[i];
        bool confirming = job->kind == JOB_REPEAT || job->kind == JOB_CONTROL;
        if (!job->given && confirming == confirms) {
            probe->confirming -= confirming;
            return job;
        }
    }
    return NULL;
}

static bool next(void *context, struct trial_plan *plan, size_t *tag)
{
    struct probe *probe = context;
    struct job *job = probe->failed ? NULL : choose(probe);
    if (job == NULL) {
        return false;
    }
    job->given = true;
    *tag = (size_t)(job - probe->jobs);
    memset(plan, 0, sizeof *plan);
    plan->count = job->count;
    memcpy(plan->points, job->points, sizeof plan->points);
    plan->control = job->kind == JOB_CONTROL;
    plan->learn = job->kind == JOB_RECORD;
    plan->rows = job->kind != JOB_POINT; /* it costs time, and is worth it where it is shown */
    plan->background = probe->result->trace.background;
    plan->reference = probe->result->trace.reference;
    while (probe->next < probe->count && probe->jobs[probe->next].given) {
        probe->next++;
    }
    return true;
}

static void took_run(struct probe *probe, size_t index, const struct trial_result *result)
{
    struct job *job = &probe->jobs[index];
    struct probe_result *sum = probe->result;
    sum->hit += result->hits > result->void_hits;
    sum->deaths += result->deaths > 0 && result->hits > 0;
    if (job->kind != JOB_POINT) {
        took_confirmation(probe, job, result);
        return;
    }
    if (result->verdict == TRIAL_BROKEN) {
        took_breach(probe, index, result);
    } else if (result->verdict == TRIAL_FAILED) {
        sum->failed++;
        (void)snprintf(sum->failed_text, sizeof sum->failed_text, "%s", result->text);
    } else if (result->verdict == TRIAL_MISSED && !job->second && job->count == 1) {
        job->second = true;
        job->given = false;
        probe->next = index < probe->next ? index : probe->next;
        return;
    }
    sum->missed += result->verdict == TRIAL_MISSED;
    struct job copy = probe->jobs[index];
    plan_recovery(probe, &copy, result);
}

static void took(void *context, size_t tag, const struct trial_result *result)
{
    struct probe *probe = context;
    probe->result->runs++;
    if (probe->jobs[tag].kind == JOB_RECORD) {
        took_recording(probe, result);
    } else {
        took_run(probe, tag, result);
    }
    if (probe->options->progress != NULL) {
        probe->options->progress(probe->options->context, probe->result->runs,
                                 probe->result->planned);
    }
}

/* ---- the plan -------------------------------------------------------------------------------- */

static void plan_recordings(struct probe *probe)
{
    for (size_t i = 0; i < RECORDINGS; i++) {
        add_job(probe, &(struct job){.kind = JOB_RECORD, .finding = NO_FINDING});
    }
}

static bool was_swept(const struct probe *probe, const struct trial_commit *commit)
{
    const struct probe_options *options = probe->options;
    return options->skip != NULL && options->skip(options->context, commit);
}

static void count_skipped(struct probe *probe)
{
    for (size_t i = 0; i < probe->result->trace.count; i++) {
        probe->result->skipped += was_swept(probe, &probe->result->trace.commits[i]);
    }
}

/* One fault after the other over all commits, the likeliest first. */
static void plan_points(struct probe *probe)
{
    const struct probe_trace *trace = &probe->result->trace;
    struct job job = {.kind = JOB_POINT, .count = 1, .finding = NO_FINDING};
    for (size_t f = 0; f < point_fault_count; f++) {
        const struct point_fault *fault = &point_faults[f];
        if (probe->options->faults != NULL && !point_fault_is_of(fault, probe->options->faults)) {
            continue;
        }
        for (size_t i = 0; i < trace->count; i++) {
            const struct trial_commit *commit = &trace->commits[i];
            if (!was_swept(probe, commit)) {
                job.points[0] = (struct point){commit->worker, commit->ordinal, fault};
                add_job(probe, &job);
            }
        }
    }
}

static void plan_named(struct probe *probe)
{
    struct job job = {.kind = JOB_POINT, .finding = NO_FINDING};
    bool sound = point_parse(probe->options->points, job.points, &job.count);
    CHECK(sound); /* the command line has refused others */
    for (unsigned i = 0; i < (probe->options->repeat == 0 ? 1 : probe->options->repeat); i++) {
        add_job(probe, &job);
    }
}

static bool work(struct probe *probe, struct crew *crew)
{
    if (crew_work(crew, next, took, probe->options->stop, probe)) {
        return !probe->failed;
    }
    if (probe->options->stop()) {
        probe->result->end = PROBE_INTERRUPTED;
    } else {
        fail(probe, "", "a lane ended: its process was killed, or has a bug");
    }
    return false;
}

void probe_do(struct crew *crew, const struct subject *subject, const struct probe_options *options,
              struct probe_result *result)
{
    struct probe *probe = calloc(1, sizeof *probe);
    CHECK(probe != NULL);
    memset(result, 0, sizeof *result);
    *probe =
        (struct probe){.subject = subject, .options = options, .result = result, .began = now()};
    plan_recordings(probe);
    if (work(probe, crew)) {
        compare_recordings(probe);
        options->recorded(options->context, &result->trace);
        if (options->points != NULL) {
            plan_named(probe);
        } else if (!options->record) {
            count_skipped(probe);
            plan_points(probe);
        }
        (void)work(probe, crew);
    }
    result->seconds = now() - probe->began;
    free(probe->jobs);
    free(probe);
}

/* ---- a subject that nobody has described yet -------------------------------------------------- */

struct survey {
    struct trial_result *result;
    bool given;
};

static bool next_survey(void *context, struct trial_plan *plan, size_t *tag)
{
    struct survey *survey = context;
    if (survey->given) {
        return false;
    }
    memset(plan, 0, sizeof *plan);
    plan->survey = true;
    plan->rows = true;
    survey->given = true;
    *tag = 0;
    return true;
}

static void took_survey(void *context, size_t tag, const struct trial_result *result)
{
    (void)tag;
    *((struct survey *)context)->result = *result;
}

bool probe_survey(struct crew *crew, bool (*stop)(void), struct trial_result *result)
{
    struct survey survey = {.result = result};
    return crew_work(crew, next_survey, took_survey, stop, &survey) &&
           result->verdict == TRIAL_HELD;
}
