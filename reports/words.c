/* The report in words: on a terminal, and as Markdown for a pull request. */
#include "reports/report.h"

#include <inttypes.h>
#include <string.h>

/* So that a summary stays below the 1 MiB that GitHub takes. */
#define FINDINGS_TOLD_MAX 20
#define REASONS_TOLD_MAX  50
#define RUNS_TOLD_MAX     500

static bool is_markdown(enum format_kind format)
{
    return format == FORMAT_MARKDOWN;
}

static void heading(FILE *out, enum format_kind format, const char *text)
{
    if (is_markdown(format)) {
        fprintf(out, "\n### %s\n\n", text);
    } else {
        fprintf(out, "\n%s%s%s\n", format_strong(format), text, format_plain(format));
    }
}

/* ---- the verdict ----------------------------------------------------------------------------- */

static void write_verdict(FILE *out, enum format_kind format, const json_t *report)
{
    const json_t *verdict = json_object_get(report, "verdict");
    bool fine = evidence_number(verdict, "status") == 0;
    const char *words = evidence_text(verdict, "words");
    if (is_markdown(format)) {
        fprintf(out, "## Assay: %s\n", words);
    } else {
        fprintf(out, "%s%s%s (status %" PRIu64 ")\n",
                fine ? format_strong(format) : format_alarm(format), words, format_plain(format),
                evidence_number(verdict, "status"));
    }
    const char *bound = evidence_text(json_object_get(report, "bound"), "words");
    if (bound[0] != '\0') {
        fprintf(out, "%s%s.\n", is_markdown(format) ? "\n" : "", bound);
    }
}

/* ---- findings -------------------------------------------------------------------------------- */

static void write_findings(FILE *out, enum format_kind format, const json_t *report)
{
    const json_t *findings = json_object_get(report, "findings");
    size_t i;
    json_t *finding;
    if (json_array_size(findings) == 0) {
        return;
    }
    heading(out, format, "Findings");
    json_array_foreach(findings, i, finding)
    {
        if (i == FINDINGS_TOLD_MAX) {
            fprintf(out, "and %zu more\n", json_array_size(findings) - i);
            return;
        }
        bool markdown = is_markdown(format);
        fprintf(out, markdown ? "- **%s** in `%s`%s: %s\n  `%s`\n" : "  %s in %s%s: %s\n    %s\n",
                evidence_text(finding, "clause"), evidence_text(finding, "scenario"),
                evidence_is(finding, "kind", "known")      ? ", known"
                : evidence_is(finding, "kind", "expected") ? ", as the scenario expects"
                                                           : "",
                evidence_text(finding, "sentence"), evidence_text(finding, "reproduce"));
    }
}

/* ---- promises -------------------------------------------------------------------------------- */

/* Of one family: how many there are, and how they stand, which adds up to all. */
struct count {
    uint64_t all, held, broken, expected, missing, elsewhere, sim, real;
};

static struct count count_family(const json_t *report, const char *family)
{
    struct count count = {0};
    size_t i;
    json_t *clause;
    json_array_foreach(json_object_get(report, "clauses"), i, clause)
    {
        if (evidence_is(clause, "family", family)) {
            count.all++;
            count.held += evidence_is(clause, "status", "held");
            count.broken += evidence_is(clause, "status", "broken");
            count.expected += evidence_is(clause, "status", "broken, as expected") ||
                              evidence_is(clause, "status", "known");
            count.elsewhere += evidence_is(clause, "status", "elsewhere");
            count.missing += evidence_is(clause, "status", "not shown");
            count.sim += evidence_number(clause, "sim");
            count.real += evidence_number(clause, "real");
        }
    }
    return count;
}

static void write_promises(FILE *out, enum format_kind format, const json_t *report)
{
    bool markdown = is_markdown(format);
    heading(out, format, "Promises");
    if (markdown) {
        fputs("| family | promises | held | broken | broken as known or expected | not shown here "
              "| left to unit tests | times put to the test, simulation | PostgreSQL |\n"
              "|---|--:|--:|--:|--:|--:|--:|--:|--:|\n",
              out);
    } else {
        fprintf(out, "  %-7s %8s %5s %6s %8s %9s %10s %13s %11s\n", "family", "promises", "held",
                "broken", "expected", "not shown", "unit tests", "simulation", "PostgreSQL");
    }
    for (int f = 0; f < CLAUSE_FAMILY_COUNT; f++) {
        const char *family = clause_family_name((enum clause_family)f);
        struct count count = count_family(report, family);
        fprintf(out,
                markdown ? "| %s | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64
                           " | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " |\n"
                         : "  %-7s %8" PRIu64 " %5" PRIu64 " %6" PRIu64 " %8" PRIu64 " %9" PRIu64
                           " %10" PRIu64 " %13" PRIu64 " %11" PRIu64 "\n",
                family, count.all, count.held, count.broken, count.expected, count.missing,
                count.elsewhere, count.sim, count.real);
    }
}

/* ---- what it is worth ------------------------------------------------------------------------ */

static void write_kills(FILE *out, enum format_kind format, const json_t *report)
{
    const json_t *kills = json_object_get(report, "kills");
    uint64_t found = 0, equivalent = 0, not_shown = 0, survived = 0, most = 0;
    size_t i;
    json_t *kill;
    json_array_foreach(kills, i, kill)
    {
        found += evidence_is(kill, "status", "found");
        equivalent += evidence_is(kill, "status", "equivalent");
        not_shown += evidence_is(kill, "status", "not shown");
        survived += evidence_is(kill, "status", "survived");
        uint64_t needed = evidence_number(kill, "most");
        most = needed > most ? needed : most;
    }
    if (json_array_size(kills) > 0) {
        heading(out, format, "Planted bugs");
        fprintf(out,
                "%s%zu: %" PRIu64 " found, the last after %" PRIu64 " schedules; %" PRIu64
                " shown equivalent, %" PRIu64 " not shown; %" PRIu64 " survived\n",
                is_markdown(format) ? "" : "  ", json_array_size(kills), found, most, equivalent,
                not_shown, survived);
    }
}

static void write_runs(FILE *out, enum format_kind format, const json_t *report)
{
    size_t i;
    json_t *run;
    bool markdown = is_markdown(format);
    if (markdown) {
        fputs("\n<details><summary>Runs</summary>\n\n"
              "| | scenario | runs | steps | |\n|---|---|--:|--:|---|\n",
              out);
    } else {
        heading(out, format, "Runs");
    }
    json_array_foreach(json_object_get(report, "runs"), i, run)
    {
        if (i == RUNS_TOLD_MAX) {
            break;
        }
        const char *scenario = evidence_text(run, "scenario");
        fprintf(out,
                markdown ? "| %s | %s | %" PRIu64 " | %" PRIu64 " | %s |\n"
                         : "  %-9s %-20s %9" PRIu64 " %13" PRIu64 "  %s\n",
                evidence_text(run, "kind"), scenario, evidence_number(run, "runs"),
                evidence_number(run, "steps"), evidence_text(run, "status"));
    }
    size_t count = json_array_size(json_object_get(report, "runs"));
    if (count > RUNS_TOLD_MAX) {
        fprintf(out, "and %zu more\n", count - RUNS_TOLD_MAX);
    }
    fputs(markdown ? "\n</details>\n" : "", out);
}

/* Every reason by itself: the first line has but a few of each kind. */
static void write_reasons(FILE *out, enum format_kind format, const json_t *report)
{
    const json_t *reasons = json_object_get(json_object_get(report, "verdict"), "reasons");
    size_t i;
    json_t *reason;
    if (json_array_size(reasons) == 0) {
        return;
    }
    heading(out, format, "Reasons");
    json_array_foreach(reasons, i, reason)
    {
        if (i == REASONS_TOLD_MAX) {
            fprintf(out, "and %zu more\n", json_array_size(reasons) - i);
            return;
        }
        fprintf(out,
                is_markdown(format) ? "- %s (status %" PRIu64 ")\n" : "  %s (status %" PRIu64 ")\n",
                evidence_text(reason, "text"), evidence_number(reason, "status"));
    }
}

static void write_provenance(FILE *out, enum format_kind format, const json_t *report)
{
    const json_t *provenance = json_object_get(report, "provenance");
    heading(out, format, "To repeat it");
    if (evidence_text(provenance, "binary_hash")[0] == '\0') {
        fprintf(out,
                is_markdown(format) ? "`%s`\n\nThe results do not say which program made them.\n"
                                    : "  %s\n  the results do not say which program made them\n",
                evidence_text(provenance, "command"));
        return;
    }
    fprintf(out,
            is_markdown(format)
                ? "`%s`\n\nassay %s, commit %.12s%s, %s (%s), on %s; binary `%.16s`, clauses "
                  "`%.16s`, errata `%.16s`\n"
                : "  %s\n  assay %s, commit %.12s%s, %s (%s), on %s\n  sha256: binary %.16s, "
                  "clauses %.16s, errata %.16s\n",
            evidence_text(provenance, "command"), evidence_text(provenance, "assay"),
            evidence_text(provenance, "commit"),
            json_is_true(json_object_get(provenance, "dirty")) ? " with changes" : "",
            evidence_text(provenance, "compiler"), evidence_text(provenance, "flags"),
            evidence_text(provenance, "system"), evidence_text(provenance, "binary_hash"),
            evidence_text(provenance, "clauses_hash"), evidence_text(provenance, "errata_hash"));
    if (evidence_text(provenance, "postgresql")[0] != '\0') {
        fprintf(out, is_markdown(format) ? "\nPostgreSQL %s\n" : "  PostgreSQL %s\n",
                evidence_text(provenance, "postgresql"));
    }
}

void report_write(FILE *out, enum format_kind format, const json_t *report)
{
    write_verdict(out, format, report);
    write_reasons(out, format, report);
    write_findings(out, format, report);
    write_promises(out, format, report);
    write_kills(out, format, report);
    write_runs(out, format, report);
    write_provenance(out, format, report);
}
