#include "cli/wire_tell.h"

#include "reports/line.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 100 /* characters of a statement in a list */

void wire_tell_progress(void *context, size_t runs, size_t planned)
{
    const struct wire_tell *tell = context;
    if (tell->live) {
        fprintf(stderr, "\r%zu of %zu runs ", runs, planned);
    }
}

static void clear_progress(const struct wire_tell *tell)
{
    if (tell->live) {
        fprintf(stderr, "\r%40s\r", "");
    }
}

bool wire_tell_skip(void *context, const struct trial_commit *commit)
{
    const struct wire_tell *tell = context;
    return tell->lock != NULL && wire_lock_has_commit(tell->lock, commit);
}

bool wire_tell_is_new(const struct wire_tell *tell, const struct probe_finding *finding)
{
    return finding->known == NULL &&
           (tell->lock == NULL || !wire_lock_has_finding(tell->lock, finding));
}

/* ---- the recording --------------------------------------------------------------------------- */

static void print_commit(const char *before, const struct trial_commit *commit)
{
    if (commit->ordinal == 0) {
        printf("%s%c:-    %.*s (background)\n", before, commit->worker, SHOWN, commit->name);
    } else {
        printf("%s%c:%-4u %.*s\n", before, commit->worker, commit->ordinal, SHOWN, commit->name);
    }
    if (commit->rows[0] != '\0') {
        printf("%s         %.*s\n", before, SHOWN, commit->rows);
    }
}

static void print_clock(const struct subject *subject)
{
    if (subject->clock == SUBJECT_CLOCK_SHIM) {
        printf("  time is Assay's: it leaps when everything rests, to the next deadline\n");
    } else if (subject->clock == SUBJECT_CLOCK_SERVER) {
        printf(
            "  time is Assay's for the server alone: it may overtake heartbeats of live workers\n");
    } else {
        printf("  time is real: work counts as stranded after %lld s without a commit\n",
               (long long)subject->patience);
    }
}

static void print_trace(const struct subject *subject, const struct probe_trace *trace)
{
    printf("recorded twice without faults: %zu commits, of which %zu have the same statements",
           trace->count, trace->agreed);
    if (trace->count != trace->second_count) {
        printf(" (the second recording has %zu; only what both have is swept)",
               trace->second_count);
    }
    printf("\n");
    for (size_t i = 0; i < trace->count; i++) {
        print_commit("  ", &trace->commits[i]);
    }
    for (size_t i = 0; i < trace->background.count; i++) {
        printf("  background, not counted: %.*s\n", SHOWN, trace->background.names[i]);
    }
    printf("  the first commit comes %.2f s after the start\n", trace->start_seconds);
    print_clock(subject);
}

void wire_tell_trace(void *context, const struct probe_trace *trace)
{
    const struct wire_tell *tell = context;
    if (tell->no_trace) {
        return;
    }
    for (size_t i = 0; i < trace->count; i++) {
        const struct trial_commit *commit = &trace->commits[i];
        const char worker[2] = {commit->worker, '\0'};
        artefacts_line(tell->results,
                       line_make(LINE_COMMIT, line_worker(worker), line_number(commit->ordinal),
                                 line_statements_text(commit->name)));
    }
    artefacts_line(tell->results,
                   line_make(LINE_RECORDING, line_commits(trace->count),
                             line_second(trace->second_count), line_agreed(trace->agreed),
                             line_background(trace->background.count)));
    if (!tell->quiet) {
        clear_progress(tell);
        print_trace(tell->subject, trace);
        fflush(stdout);
    }
}

/* ---- findings -------------------------------------------------------------------------------- */

static const char *says(const struct wire_tell *tell, const char *broken)
{
    for (size_t i = 0; i < tell->subject->promise_count; i++) {
        const struct subject_promise *promise = &tell->subject->promises[i];
        bool stranding = promise->is == SUBJECT_NEVER_STRANDED && strcmp(broken, "stranded") == 0;
        if (strcmp(promise->name, broken) == 0 || stranding) {
            return promise->says;
        }
    }
    for (size_t i = 0; i < tell->subject->always_count; i++) {
        if (strcmp(tell->subject->always[i].name, broken) == 0) {
            return tell->subject->always[i].says;
        }
    }
    return "";
}

static const char *kind_of(const struct wire_tell *tell, const struct probe_finding *finding)
{
    return wire_tell_is_new(tell, finding) ? "new" : "known";
}

static void again(const struct wire_tell *tell, const struct probe_finding *finding, char *text,
                  size_t size)
{
    char points[2 * POINT_TEXT_SIZE];
    point_write(finding->points, finding->count, points);
    (void)snprintf(text, size, "assay wire %s --point %s --repeat 5", tell->path, points);
}

static void write_finding(const struct wire_tell *tell, const struct probe_finding *finding,
                          FILE *out)
{
    char line[600];
    const char *quote = says(tell, finding->broken);
    again(tell, finding, line, sizeof line);
    fprintf(out, "%s is broken: %s\n", finding->broken, finding->text);
    if (quote[0] != '\0') {
        fprintf(out, "  promised   %s\n", quote);
    }
    for (size_t i = 0; i < finding->count; i++) {
        fprintf(out, "  fault      worker %c %s, its counting commit %u\n",
                finding->points[i].worker, finding->points[i].fault->words,
                finding->points[i].ordinal);
    }
    fprintf(out, "  commit     %s\n", finding->commit);
    fprintf(out, "  again      %u of %u; without the fault %s\n", finding->again, finding->repeated,
            !finding->control_ran   ? "it was not tried"
            : finding->control_held ? "it holds"
                                    : "it does not hold either, so that it is no finding");
    if (finding->known != NULL) {
        fprintf(out, "  known      %s\n", finding->known->says);
    } else if (!wire_tell_is_new(tell, finding)) {
        fprintf(out, "  accepted   in the lock\n");
    }
    fprintf(out, "  reproduce  %s\n", line);
    fprintf(out, "  after the fault\n");
    for (size_t i = 0; i < finding->after_count; i++) {
        const struct trial_commit *commit = &finding->after[i];
        fprintf(out, "    %c:%-4u %s%.*s\n", commit->worker, commit->ordinal,
                commit->life > 1 ? "(started again) " : "", SHOWN, commit->name);
        if (commit->rows[0] != '\0') {
            fprintf(out, "           %.*s\n", SHOWN, commit->rows);
        }
    }
    fputc('\n', out);
}

/* "c-broken-exactly-once-kill-after-a4": letters, digits and '-'. */
static void name_finding(const struct wire_tell *tell, const struct probe_finding *finding,
                         char *name, size_t size)
{
    const char *slash = strrchr(tell->path, '/');
    const struct point *last = &finding->points[finding->count - 1];
    (void)snprintf(name, size, "wire-%.40s-%s-%s-%c%u", slash == NULL ? tell->path : slash + 1,
                   finding->broken, last->fault->name, last->worker, last->ordinal);
    for (char *at = name; *at != '\0'; at++) {
        *at = isalnum((unsigned char)*at) ? *at : '-';
    }
}

static void keep_finding(const struct wire_tell *tell, const struct probe_finding *finding)
{
    char name[200];
    char line[600];
    char *text = NULL;
    size_t size = 0;
    name_finding(tell, finding, name, sizeof name);
    again(tell, finding, line, sizeof line);
    FILE *stream = tell->results->folder == NULL ? NULL : open_memstream(&text, &size);
    if (stream != NULL) {
        write_finding(tell, finding, stream);
        if (fclose(stream) == 0) {
            (void)artefacts_put_finding(tell->results, name, "words.txt", text, size);
            (void)artefacts_place_finding(tell->results, name);
        }
        free(text);
    }
    artefacts_line(tell->results,
                   line_make(LINE_FINDING, line_name(name), line_scenario(tell->path),
                             line_clause(finding->broken), line_oracle("wire"),
                             line_kind(kind_of(tell, finding)), line_why(finding->text),
                             line_runs(finding->runs), line_again_of(finding->repeated),
                             line_again_broken(finding->again),
                             line_control_held(finding->control_held), line_commit(finding->commit),
                             line_again(line)));
}

/* ---- the sweep ------------------------------------------------------------------------------- */

static void tell_known(const struct wire_tell *tell, const struct probe_result *result)
{
    for (size_t i = 0; i < tell->subject->known_count; i++) {
        const struct subject_known *known = &tell->subject->known[i];
        bool seen = false;
        for (size_t f = 0; f < result->finding_count; f++) {
            seen = seen || result->findings[f].known == known;
        }
        if (!seen && !tell->quiet && result->end == PROBE_WHOLE) {
            printf("known, and it did not happen: %s (%s)\n", known->breaks, known->says);
        }
    }
}

static void print_sum(const struct wire_tell *tell, const struct probe_result *result)
{
    size_t new = 0, known = 0, refused = 0;
    for (size_t i = 0; i < result->finding_count; i++) {
        const struct probe_finding *finding = &result->findings[i];
        bool counts = probe_counts(finding);
        new += counts &&wire_tell_is_new(tell, finding);
        known += counts && !wire_tell_is_new(tell, finding);
        refused += !counts;
    }
    if (result->skipped > 0) {
        printf("%zu of %zu commits are in the lock and were not swept again\n", result->skipped,
               result->trace.count);
    }
    printf("%zu runs in %.0f s, %zu hit by a fault, %zu missed their point", result->runs,
           result->seconds, result->hit, result->missed);
    if (result->failed > 0) {
        printf(", %zu failed (%s)", result->failed, result->failed_text);
    }
    printf(": %zu finding%s", new, new == 1 ? "" : "s");
    if (known > 0) {
        printf(", %zu known", known);
    }
    if (refused > 0) {
        printf(", %zu not confirmed", refused);
    }
    if (result->deaths > 0) {
        printf("; in %u runs a worker ended by itself after a fault and was started again",
               result->deaths);
    }
    if (result->end == PROBE_INTERRUPTED) {
        printf("; interrupted");
    }
    printf(result->end == PROBE_OUT_OF_TIME ? "; out of time: %zu of %zu runs were planned and not "
                                              "made\n"
                                            : "\n",
           result->planned - result->runs, result->planned);
}

void wire_tell_found(void *context, const struct probe_finding *finding)
{
    const struct wire_tell *tell = context;
    if (probe_counts(finding)) {
        keep_finding(tell, finding);
    }
    if (!tell->quiet) {
        clear_progress(tell);
        write_finding(tell, finding, stdout);
        fflush(stdout);
    }
}

void wire_tell_sweep(const struct wire_tell *tell, const struct probe_result *result)
{
    size_t counted = 0;
    clear_progress(tell);
    for (size_t i = 0; i < result->finding_count; i++) {
        if (!result->findings[i].told) { /* it was interrupted before it was repeated */
            wire_tell_found((void *)tell, &result->findings[i]);
        }
        counted += probe_counts(&result->findings[i]);
    }
    tell_known(tell, result);
    artefacts_line(tell->results,
                   line_make(LINE_WIRE, line_scenario(tell->path), line_runs(result->runs),
                             line_planned(result->planned), line_hit(result->hit),
                             line_missed(result->missed), line_failed(result->failed),
                             line_findings(counted), line_seconds(result->seconds)));
    if (!tell->quiet) {
        print_sum(tell, result);
    }
}
