/* The sweep: the subject is recorded without faults, then run once for each commit and each fault,
 * and what breaks is run again.
 *
 * A finding is a promise that a run broke. It is repeated PROBE_REPEATS times, and once more with
 * the same point and hold but without the fault: if that breaks it, too, the workload or the promise
 * is wrong, and it is no finding. Findings with the same promise, fault and statements are one.
 *
 * (PB1) A sweep in which no fault hit anything shows nothing, and says so.
 * (PB2) A finding counts only if its control arm held. */
#ifndef WIRE_PROBE_H
#define WIRE_PROBE_H

#include "wire/crew.h"

#define PROBE_REPEATS      5
#define PROBE_FINDINGS_MAX 64
#define PROBE_POINTS_MAX   65536

/* Two recordings without faults. */
struct probe_trace {
    struct trial_commit commits[TRIAL_COMMITS_MAX]; /* that count, of the first one */
    size_t count;
    size_t agreed;       /* commits that are the same in the second one */
    size_t second_count; /* of the second one */
    struct trial_background background;
    struct judge_reference reference;
    bool same_agrees; /* `same` expectations are equal in both */
    double seconds, start_seconds;
};

struct probe_finding {
    struct point points[POINT_DEPTH_MAX];
    size_t count;
    char broken[SUBJECT_NAME_SIZE];
    char text[JUDGE_TEXT_SIZE];
    char commit[TRIAL_NAME_SIZE]; /* that was hit */
    unsigned runs;                /* in which it was found, before it was repeated */
    unsigned repeated, again;     /* of so many repetitions, so many broke the same promise */
    bool control_ran, control_held;
    char control_text[JUDGE_TEXT_SIZE];
    bool told;                         /* to probe_options.found */
    const struct subject_known *known; /* the documents admit it */
    size_t after_count;
    struct trial_commit after[24]; /* what was committed after the fault */
};

struct probe_options {
    const char *faults; /* a list of names; NULL: all */
    const char *points; /* "a:13:kill-after": only this; NULL: every one */
    unsigned repeat;    /* of `points`; 0: once */
    unsigned depth;     /* 1 or 2 */
    double seconds;     /* 0: no limit */
    bool record;        /* nothing but the recording */
    bool (*stop)(void);
    /* Whether a commit was swept before, and need not be again; NULL: none was. */
    bool (*skip)(void *context, const struct trial_commit *commit);
    /* When the recordings are compared, and when a finding is repeated and its control arm has run:
     * each at once, since a sweep is long. */
    void (*recorded)(void *context, const struct probe_trace *trace);
    void (*found)(void *context, const struct probe_finding *finding);
    /* After each run; may be NULL. */
    void (*progress)(void *context, size_t runs, size_t planned);
    void *context;
};

enum probe_end { PROBE_WHOLE, PROBE_OUT_OF_TIME, PROBE_INTERRUPTED, PROBE_FAILED };

struct probe_result {
    enum probe_end end;
    char why[JUDGE_TEXT_SIZE]; /* of PROBE_FAILED */
    struct probe_trace trace;
    size_t skipped; /* commits that were swept before */
    size_t planned, runs, hit, missed, failed;
    char failed_text[JUDGE_TEXT_SIZE];
    unsigned deaths; /* runs in which a worker ended by itself after a fault */
    struct probe_finding findings[PROBE_FINDINGS_MAX];
    size_t finding_count;
    double seconds;
};

void probe_do(struct crew *crew, const struct subject *subject, const struct probe_options *options,
              struct probe_result *result);

/* One run without faults of a subject whose `done` nobody knows yet. False: *result says why. */
bool probe_survey(struct crew *crew, bool (*stop)(void), struct trial_result *result);

/* Whether it counts against the subject: it was found again, and its control arm held (PB2). */
bool probe_counts(const struct probe_finding *finding);

#endif
