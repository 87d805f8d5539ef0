#include "cli/real_tell.h"
#include "verify/counts.h"

#include "cli/cli.h"
#include "cli/results.h"
#include "reports/line.h"
#include "sim/campaign.h"

#include <inttypes.h>
#include <stdio.h>

static const struct {
    enum shared_moment moment;
    const char *text;
} sides[SWEEP_SIDES] = {{SHARED_BEFORE_BEGIN, "before begin"},
                        {SHARED_BEFORE_COMMIT, "before commit"},
                        {SHARED_AFTER_COMMIT, "after commit"}};

uint64_t real_tell_counted(const struct chaos_report *report)
{
    uint64_t sum = 0;
    for (int k = 0; k < CHAOS_KINDS; k++) {
        sum += report->counted[k];
    }
    return sum;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void add_count(json_t *counts, const char *name, uint64_t more)
{
    json_int_t before = json_integer_value(json_object_get(counts, name));
    json_object_set_new(counts, name, json_integer(before + (json_int_t)more));
}

static json_t *kinds_of(const uint64_t counts[CHAOS_KINDS])
{
    json_t *kinds = json_object();
    for (int k = 0; k < CHAOS_KINDS; k++) {
        add_count(kinds, fault_twin_get((enum chaos_kind)k)->name, counts[k]);
    }
    return kinds;
}

/* At a named point: by its side. Where a transaction was begun every one counts; before that, those
 * that are left. */
static void add_kills(json_t *fired, const struct chaos_report *report)
{
    uint64_t inside = 0, after = 0;
    for (int b = 0; b < BUNDLE_NAME_COUNT; b++) {
        inside += report->points[b][SHARED_BEFORE_COMMIT];
        after += report->points[b][SHARED_AFTER_COMMIT];
    }
    add_count(fired, fault_get(FAULT_CRASH_BEFORE_BEGIN)->name,
              report->counted[CHAOS_KILL_AT_POINT] - inside - after);
    add_count(fired, fault_get(FAULT_CRASH_BEFORE_COMMIT)->name, inside);
    add_count(fired, fault_get(FAULT_CRASH_AFTER_COMMIT)->name, after);
}

/* What became of answers that were lost is the server's to say. */
static uint64_t fired_by(const struct real_result *result, enum chaos_kind kind)
{
    return kind == CHAOS_CUT_LATE    ? result->audit.committed
           : kind == CHAOS_CUT_EARLY ? result->audit.lost
                                     : result->chaos.counted[kind];
}

/* The same by the names of the simulation, for a page that shows both. A kill at any instant has
 * none there. */
static json_t *fired_of(const struct real_result *result)
{
    json_t *fired = json_object();
    add_kills(fired, &result->chaos);
    for (int k = 0; k < CHAOS_KINDS; k++) {
        enum chaos_kind kind = (enum chaos_kind)k;
        if (k != CHAOS_KILL_AT_POINT) {
            add_count(fired,
                      k == CHAOS_KILL ? fault_twin_get(kind)->name
                                      : fault_get(fault_of_twin(kind))->name,
                      fired_by(result, kind));
        }
    }
    return fired;
}

static json_t *natural_of(const struct chaos_report *report)
{
    return json_pack("{s:I, s:I, s:I}", "40001", (json_int_t)report->natural[ABORT_SERIALIZATION],
                     "40P01", (json_int_t)report->natural[ABORT_DEADLOCK], "53300",
                     (json_int_t)report->natural[ABORT_CONNECTIONS]);
}

static void add_audit(json_t *line, const struct outcome_audit *audit)
{
    line_add(line, line_acknowledged(audit->acknowledged), line_forgotten(audit->forgotten),
             line_unknown_committed(audit->committed), line_unknown_lost(audit->lost),
             line_asked(audit->asked), line_contradictions(audit->contradictions),
             line_concluded_done(audit->done), line_concluded_not_done(audit->not_done),
             line_misjudged(audit->misjudged), line_unexplained(audit->unexplained),
             line_unnoted(audit->unnoted));
}

/* A bundle that is sent has a crash point on each side. What only PostgreSQL has ever sent is
 * shown, and not asked for: no plan aims at it. */
static bool is_sent(const struct real_result *result, int bundle)
{
    return result->profile.sent[bundle] > 0;
}

/* [["Step 1", "before begin", 1, 369], ...]: a plan's kills do not follow from one another. Those that
 * were never hit are there with 0. */
static json_t *crash_points_of(const struct real_result *result)
{
    json_t *list = json_array();
    for (int b = 0; b < BUNDLE_NAME_COUNT; b++) {
        for (int s = 0; s < SWEEP_SIDES; s++) {
            uint64_t count = result->chaos.points[b][sides[s].moment];
            if (count > 0 || is_sent(result, b)) {
                json_array_append_new(list, json_pack("[s, s, i, I]",
                                                      bundle_name_text((enum bundle_name)b),
                                                      sides[s].text, 1, (json_int_t)count));
            }
        }
    }
    return list;
}

/* A crash point: where, and how often it was hit in the simulation and on PostgreSQL. */
static json_t *points_of(const struct real_result *result)
{
    json_t *points = json_array();
    for (int b = 0; b < BUNDLE_NAME_COUNT; b++) {
        for (int s = 0; s < SWEEP_SIDES && is_sent(result, b); s++) {
            json_array_append_new(
                points, json_pack("{s:s, s:s, s:I, s:I}", "bundle",
                                  bundle_name_text((enum bundle_name)b), "side", sides[s].text,
                                  "simulated", (json_int_t)result->profile.crashed[b][s], "real",
                                  (json_int_t)result->chaos.points[b][sides[s].moment]));
        }
    }
    return points;
}

static json_t *line_of(const struct real_result *result, const struct oracle *oracle)
{
    bool broken = result->status == CLI_BROKEN && result->verdict.breach.broken;
    json_t *line = line_make(
        LINE_REAL, line_scenario(result->scenario), line_protocol(result->protocol->name),
        line_sabotage(result->sabotage), line_runs(result->runs), line_late(result->late),
        line_expected(result->expected), line_commits(result->commits),
        line_changes(result->changes), line_turned_away(result->chaos.turned_away),
        line_status((uint64_t)result->status),
        line_clause(broken ? clause_get(result->verdict.breach.clause)->id : NULL),
        line_why(broken ? result->verdict.breach.why : NULL),
        line_evaluated(counts_evaluated(oracle->evaluated)), line_seen(counts_seen(oracle->seen)));
    if (result->storms) {
        const struct chaos_report *chaos = &result->chaos;
        line_add(line, line_kinds(kinds_of(chaos->counted)),
                 line_planned_kinds(kinds_of(chaos->planned)), line_fired(fired_of(result)),
                 line_unprovoked(natural_of(chaos)), line_crash_points(crash_points_of(result)),
                 line_counted(real_tell_counted(chaos)), line_missed(chaos->missed),
                 line_jobs(result->jobs), line_seconds(result->seconds),
                 line_points(points_of(result)));
        add_audit(line, &result->audit);
    }
    return line;
}

/* ---- text ------------------------------------------------------------------------------------ */

static const char *words(const struct real_result *result)
{
    switch (result->status) {
    case CLI_OK:
        return result->expected > 0 ? "every other promise held"
                                    : "every promise held, data as in the simulation";
    case CLI_BROKEN:
        return outcome_audit_charge(&result->audit);
    default:
        return result->late > 0 ? "what it did kept every promise" : "not complete";
    }
}

static void write_audit(const struct real_result *result)
{
    const struct outcome_audit *audit = &result->audit;
    uint64_t took_effect = real_tell_counted(&result->chaos);
    printf("  %" PRIu64 " faults planned, %" PRIu64 " took effect; %" PRIu64
           " commits acknowledged, %" PRIu64 " of them lost\n",
           took_effect + result->chaos.missed, took_effect, audit->acknowledged, audit->forgotten);
    printf("  answers to COMMIT lost: %" PRIu64 "; %" PRIu64 " had committed, %" PRIu64
           " had not; pg_xact_status %s the %" PRIu64 " it was asked about\n",
           audit->committed + audit->lost, audit->committed, audit->lost,
           audit->contradictions == 0 ? "agrees on" : "contradicts", audit->asked);
    printf("  actors looked %" PRIu64 " of them up, and took %" PRIu64 " for done and %" PRIu64
           " for not done: wrongly %" PRIu64 " times\n",
           audit->done + audit->not_done, audit->done, audit->not_done, audit->misjudged);
    if (audit->unexplained > 0) {
        printf("  after %" PRIu64
               " of them the sender went on though no transaction is known to have done the work\n",
               audit->unexplained);
    }
    if (audit->misjudged > 0) {
        printf("  the last of these: %s, taken for %s\n",
               bundle_name_text((enum bundle_name)audit->wrong.bundle),
               audit->wrong.concluded == SHARED_DONE ? "done" : "not done");
    }
    if (audit->unnoted > 0) {
        printf("  for %" PRIu64 " commits there was no room: not looked up\n", audit->unnoted);
    }
    if (result->seconds > 0) {
        printf("  %" PRIu64 " jobs in %.1f s, judging not counted: %.0f jobs/s, %.0f commits/s\n",
               result->jobs, result->seconds, (double)result->jobs / result->seconds,
               (double)result->commits / result->seconds);
    }
}

/* What did not come to its end is said first: it says nothing about what was to follow. */
static void write_first(const struct real_result *result)
{
    if (result->late > 0) {
        printf("%s: NOT COMPLETE: run %" PRIu64 " ran out of time before its work was done, which "
               "breaks no promise\n",
               result->scenario, result->runs);
    }
    if (result->expected > 0) {
        printf("%s: %" PRIu64 " of %" PRIu64 " runs break %s, as expected: %s\n", result->scenario,
               result->expected, result->runs, clause_get(result->as_expected.clause)->id,
               result->as_expected.why);
    }
}

static void write_text(const struct real_result *result)
{
    write_first(result);
    if (result->status == CLI_BROKEN && result->verdict.breach.broken) {
        const struct oracle_verdict *breach = &result->verdict.breach;
        printf("%s, run %" PRIu64 " on PostgreSQL: %s\n  breaks  %s, found by the %s oracle in the "
               "committed history\n",
               result->scenario, result->runs, breach->why, clause_get(breach->clause)->id,
               campaign_oracle_name(result->verdict.oracle));
    } else {
        printf("%s: %" PRIu64 " run%s on PostgreSQL, %" PRIu64 " commits judged", result->scenario,
               result->runs, result->runs == 1 ? "" : "s", result->commits);
        if (result->chaos.turned_away > 0) {
            printf(", turned away %" PRIu64 " time%s (53300)", result->chaos.turned_away,
                   result->chaos.turned_away == 1 ? "" : "s");
        }
        printf(": %s\n", words(result));
    }
    if (result->storms) {
        write_audit(result);
    }
    fflush(stdout);
}

void real_tell_result(const struct real_result *result, const struct oracle *oracle,
                      struct artefacts *results)
{
    artefacts_line(results, line_of(result, oracle));
    if (results->echo == NULL) {
        write_text(result);
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void write_kinds(const struct real_result *results, size_t count)
{
    uint64_t all = 0, natural[ABORT_CLASS_COUNT] = {0};
    printf("\n%-14s", "faults that hit");
    for (size_t i = 0; i < count; i++) {
        printf(" %10.10s", results[i].scenario);
        for (int c = 0; c < ABORT_CLASS_COUNT; c++) {
            natural[c] += results[i].chaos.natural[c];
        }
    }
    printf(" %8s %8s\n", "all", "planned");
    for (int k = 0; k < CHAOS_KINDS; k++) {
        uint64_t sum = 0, planned = 0;
        printf("%-15s", fault_twin_get((enum chaos_kind)k)->name);
        for (size_t i = 0; i < count; i++) {
            sum += results[i].chaos.counted[k];
            planned += results[i].chaos.planned[k];
            printf(" %10" PRIu64, results[i].chaos.counted[k]);
        }
        printf(" %8" PRIu64 " %8" PRIu64 "  %s\n", sum, planned,
               fault_twin_get((enum chaos_kind)k)->about);
        all += sum;
    }
    printf("%" PRIu64 " in all. A seed fixes workload and fault plan; who runs when is up to the "
           "machine.\nNobody provoked, and not counted: %" PRIu64 " times 40001, %" PRIu64
           " times 40P01, %" PRIu64 " times 53300.\n",
           all, natural[ABORT_SERIALIZATION], natural[ABORT_DEADLOCK], natural[ABORT_CONNECTIONS]);
}

/* The crash points of all scenarios of a protocol together. */
struct points {
    bool sent[BUNDLE_NAME_COUNT], shown[BUNDLE_NAME_COUNT];
    uint64_t simulated[BUNDLE_NAME_COUNT][SWEEP_SIDES], real[BUNDLE_NAME_COUNT][SWEEP_SIDES];
    uint64_t count, hit;
};

static struct points points_in(const struct real_result *results, size_t count,
                               const struct protocol *protocol)
{
    struct points points = {.count = 0};
    for (int b = 0; b < BUNDLE_NAME_COUNT; b++) {
        for (size_t i = 0; i < count; i++) {
            bool counts = results[i].protocol == protocol && results[i].storms;
            points.sent[b] = points.sent[b] || (counts && is_sent(&results[i], b));
            points.shown[b] = points.shown[b] || (counts && results[i].chaos.sent[b] > 0);
            for (int s = 0; s < SWEEP_SIDES && counts; s++) {
                points.simulated[b][s] += results[i].profile.crashed[b][s];
                points.real[b][s] += results[i].chaos.points[b][sides[s].moment];
            }
        }
        for (int s = 0; s < SWEEP_SIDES && points.sent[b]; s++) {
            points.count++;
            points.hit += points.real[b][s] > 0;
        }
    }
    return points;
}

static void write_points(const struct real_result *results, size_t count,
                         const struct protocol *protocol)
{
    struct points points = points_in(results, count, protocol);
    if (points.count == 0) {
        return;
    }
    printf("\n%-14s %*s%-15s %*s%-15s %*s%-15s\n", protocol->name, 7, "", sides[0].text, 7, "",
           sides[1].text, 7, "", sides[2].text);
    printf("%-14s", "killed at");
    for (int s = 0; s < SWEEP_SIDES; s++) {
        printf(" %10s %11s", "simulated", "PostgreSQL");
    }
    printf("\n");
    for (int b = 0; b < BUNDLE_NAME_COUNT; b++) {
        if (points.sent[b] || points.shown[b]) {
            printf("%-14s", bundle_name_text((enum bundle_name)b));
            for (int s = 0; s < SWEEP_SIDES; s++) {
                printf(" %10" PRIu64 " %11" PRIu64, points.simulated[b][s], points.real[b][s]);
            }
            printf("\n");
        }
    }
    printf("On PostgreSQL actors were killed at %" PRIu64 " of %" PRIu64
           " points: before BEGIN, before COMMIT and after COMMIT of each transaction\n",
           points.hit, points.count);
}

/* ---- gates ----------------------------------------------------------------------------------- */

static bool gate_kinds(const struct real_result *results, size_t count)
{
    bool met = true;
    for (int k = 0; k < CHAOS_KINDS; k++) {
        uint64_t planned = 0, hit = 0;
        for (size_t i = 0; i < count; i++) {
            planned += results[i].chaos.planned[k];
            hit += results[i].chaos.counted[k];
        }
        if (planned > 0 && hit == 0) {
            fprintf(stderr, "assay real: gate: %s was planned %" PRIu64 " times and never hit\n",
                    fault_twin_get((enum chaos_kind)k)->name, planned);
            met = false;
        }
    }
    return met;
}

static bool gate_points(const struct real_result *results, size_t count,
                        const struct protocol *protocol)
{
    struct points points = points_in(results, count, protocol);
    for (int b = 0; b < BUNDLE_NAME_COUNT; b++) {
        for (int s = 0; s < SWEEP_SIDES && points.sent[b]; s++) {
            if (points.real[b][s] == 0) {
                fprintf(stderr, "assay real: gate: %s: no worker was killed at %s, %s\n",
                        protocol->name, bundle_name_text((enum bundle_name)b), sides[s].text);
            }
        }
    }
    return points.hit == points.count;
}

bool real_tell_gate(const struct real_result *results, size_t count)
{
    bool met = gate_kinds(results, count);
    for (size_t p = 0; p < protocol_count(); p++) {
        met = gate_points(results, count, protocol_at(p)) && met;
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t c = 0; c < results[i].unreached_count; c++) {
            fprintf(stderr, "assay real: gate: %s is to reach %s and did not\n",
                    results[i].scenario, clause_get(results[i].unreached[c])->id);
            met = false;
        }
    }
    return met;
}

void real_tell_faults(const struct real_result *results, size_t count)
{
    bool storms = false;
    for (size_t i = 0; i < count; i++) {
        storms = storms || results[i].storms;
    }
    if (!storms) {
        return;
    }
    write_kinds(results, count);
    for (size_t p = 0; p < protocol_count(); p++) {
        write_points(results, count, protocol_at(p));
    }
}
