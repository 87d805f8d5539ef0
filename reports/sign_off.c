#include "reports/sign_off.h"

#include "model/check.h"
#include "reports/json_line.h"
#include "reports/line.h"
#include "reports/provenance.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#define TEXT_INDENT  8
#define TOGETHER_MAX 2 /* ids that one test may name for them to be about each other */

static const char *const verdict_names[SIGN_OFF_VERDICTS] = {
    [SIGN_OFF_PASS] = "PASS", [SIGN_OFF_FAIL] = "FAIL", [SIGN_OFF_NOT_SHOWN] = "NOT SHOWN"};

/* ---- rows ------------------------------------------------------------------------------------ */

static void set_row(struct sign_off_row *row, enum sign_off_verdict verdict, const char *format,
                    ...) __attribute__((format(printf, 3, 4)));
static void set_row(struct sign_off_row *row, enum sign_off_verdict verdict, const char *format,
                    ...)
{
    va_list values;
    row->verdict = verdict;
    va_start(values, format);
    vsnprintf(row->why, sizeof row->why, format, values);
    va_end(values);
}

/* The line that tells of the first mutant that this test met for `id`; NULL: none. */
static const json_t *mutant_of(const struct evidence *evidence, const struct proof *proof,
                               const char *id)
{
    size_t i;
    json_t *line;
    json_array_foreach(evidence->lines, i, line)
    {
        if (line_is(line, LINE_PROOF) && line_text_is(line_get_id(line), id) &&
            line_text_is(line_get_suite(line), proof->suite) &&
            line_text_is(line_get_test(line), proof->test)) {
            return line;
        }
    }
    return NULL;
}

static bool is_noticed(const json_t *mutant)
{
    return line_get_fails(mutant);
}

/* Counts the tests that name `id` and passed into the row; returns one that failed, or NULL. */
static const struct proof *count_tests(struct sign_off_row *row, const struct evidence *evidence,
                                       const char *id, bool erratum)
{
    const struct proof *failed = NULL;
    for (size_t i = 0; i < proofs_count(); i++) {
        const struct proof *proof = proofs_get(i);
        const json_t *ran = json_object_get(evidence->suites, proof->suite);
        if (ran == NULL || !proofs_names(erratum ? proof->errata : proof->clauses, id)) {
            continue;
        }
        if (!json_is_true(ran)) {
            failed = proof;
            continue;
        }
        bool shown = is_noticed(mutant_of(evidence, proof, id));
        row->test = row->test == NULL || (shown && row->shown == 0) ? proof : row->test;
        row->tests++;
        row->shown += shown;
    }
    return failed;
}

/* A path by which the clause is known and that no run took; COVER_COUNT: none. *any: it has some.
 */
static int unseen(const struct evidence *evidence, enum clause_id clause, bool *any)
{
    *any = false;
    for (int i = 0; i < COVER_COUNT; i++) {
        if (oracle_cover_clause((enum oracle_cover)i) == clause) {
            *any = true;
            if (evidence->seen[EVIDENCE_SIM][i] + evidence->seen[EVIDENCE_REAL][i] == 0) {
                return i;
            }
        }
    }
    return COVER_COUNT;
}

static uint64_t evaluated(const struct evidence_clause *of)
{
    return of->evaluated[EVIDENCE_SIM] + of->evaluated[EVIDENCE_REAL];
}

static void judge_run(struct sign_off_row *row, const struct evidence_clause *of)
{
    if (evaluated(of) == 0) {
        set_row(row, SIGN_OFF_NOT_SHOWN, "no run put it to the test");
    } else if (of->alone == NULL) {
        set_row(row, SIGN_OFF_NOT_SHOWN,
                "no planted bug shows that it can fail by itself, every other promise off");
    } else {
        set_row(row, SIGN_OFF_PASS, "reports %s by itself", of->alone);
    }
}

static void judge_path(struct sign_off_row *row, const struct evidence *evidence,
                       enum clause_id clause)
{
    const struct evidence_clause *of = &evidence->clauses[clause];
    bool any;
    int missing = unseen(evidence, clause, &any);
    if (of->weakness) {
        set_row(row, of->expected > 0 ? SIGN_OFF_PASS : SIGN_OFF_NOT_SHOWN, "%s",
                of->expected > 0 ? "the weakness was reproduced, as specified" : "no run found it");
    } else if (missing < COVER_COUNT) {
        set_row(row, SIGN_OFF_NOT_SHOWN, "not seen: %s",
                oracle_cover_text((enum oracle_cover)missing));
    } else if (!any && evaluated(of) == 0) {
        set_row(row, SIGN_OFF_NOT_SHOWN, "no run took it");
    } else {
        set_row(row, SIGN_OFF_PASS, "path taken in runs");
    }
}

/* The line of this type about `id` that fits; NULL: there is none. */
static const json_t *find_about(const struct evidence *evidence, enum line_type type,
                                const char *id, bool (*fits)(const json_t *line))
{
    size_t i;
    json_t *line;
    json_array_foreach(evidence->lines, i, line)
    {
        if (line_is(line, type) && line_text_is(line_get_id(line), id) &&
            (fits == NULL || fits(line))) {
            return line;
        }
    }
    return NULL;
}

static bool is_unnoticed(const json_t *mutant)
{
    return !is_noticed(mutant);
}

/* By tests that were seen to fail when it is broken, and by nothing else. */
static void judge_tests(struct sign_off_row *row, const struct evidence *evidence, const char *id)
{
    const json_t *lacking = find_about(evidence, LINE_LACKING, id, NULL);
    const json_t *unnoticed = find_about(evidence, LINE_PROOF, id, is_unnoticed);
    if (lacking != NULL) {
        set_row(row, SIGN_OFF_NOT_SHOWN, "%s", line_get_why(lacking));
    } else if (row->tests == 0) {
        set_row(row, SIGN_OFF_NOT_SHOWN, "no test that names it was run");
    } else if (unnoticed != NULL) {
        set_row(row, SIGN_OFF_NOT_SHOWN, "%s does not fail although %s (mutant %s)",
                line_get_test(unnoticed), line_get_mutation(unnoticed), line_get_mutant(unnoticed));
    } else if (row->shown == 0) {
        set_row(row, SIGN_OFF_NOT_SHOWN,
                "no mutant shows that a test which names it can fail for it (./test --proofs)");
    } else {
        const json_t *mutant = mutant_of(evidence, row->test, id);
        set_row(row, SIGN_OFF_PASS, "%s fails if %s (mutant %s)", row->test->test,
                line_get_mutation(mutant), line_get_mutant(mutant));
    }
}

/* A promise that scenarios are there to break passes where it is to hold; the signatory must know
 * of both. */
static void disclose(struct sign_off_row *row, const struct evidence_clause *of)
{
    size_t used = strlen(row->why);
    if (of->broken_in[0] != '\0') {
        snprintf(row->why + used, sizeof row->why - used, "; broken on purpose in %s",
                 of->broken_in);
    }
}

static void judge_clause(struct sign_off *page, enum clause_id id)
{
    const struct clause *clause = clause_get(id);
    const struct evidence_clause *of = &page->evidence->clauses[id];
    struct sign_off_row *row = &page->clauses[id];
    const struct proof *failed = count_tests(row, page->evidence, clause->id, false);
    if (of->findings + of->known > 0) {
        set_row(row, SIGN_OFF_FAIL,
                "findings: %" PRIu64 " new, of which %" PRIu64 " by planted bugs; %" PRIu64
                " known",
                of->findings, of->planted, of->known);
    } else if (failed != NULL) {
        set_row(row, SIGN_OFF_FAIL, "%s failed", failed->suite);
    } else if (clause->kind == CLAUSE_KIND_SAFE || clause->kind == CLAUSE_KIND_LIVE) {
        judge_run(row, of);
    } else if (clause->kind == CLAUSE_KIND_PATH) {
        judge_path(row, page->evidence, id);
    } else {
        judge_tests(row, page->evidence, clause->id);
    }
    disclose(row, of);
}

/* ---- errata ---------------------------------------------------------------------------------- */

/* The line of a planted bug that the decision names and that was found; NULL: none. */
static const json_t *other_reading(const struct evidence *evidence, const struct erratum *erratum)
{
    size_t i;
    json_t *line;
    json_array_foreach(evidence->lines, i, line)
    {
        if (line_is(line, LINE_SABOTAGE) && line_text_is(line_get_fate(line), "found") &&
            proofs_names(erratum->decided, line_get_name(line))) {
            return line;
        }
    }
    return NULL;
}

static void judge_erratum(struct sign_off *page, size_t index)
{
    const struct erratum *erratum = clause_erratum(index);
    struct sign_off_row *row = &page->errata[index];
    const struct proof *failed = count_tests(row, page->evidence, erratum->id, true);
    const json_t *kill = other_reading(page->evidence, erratum);
    if (failed != NULL) {
        set_row(row, SIGN_OFF_FAIL, "%s failed", failed->suite);
    } else if (kill != NULL) {
        set_row(row, SIGN_OFF_PASS, "the other reading, %s, breaks %s", line_get_name(kill),
                line_get_clause(kill));
    } else {
        judge_tests(row, page->evidence, erratum->id);
    }
}

static int count_ids(const char *list)
{
    int count = 0;
    for (const char *c = list; *c != '\0'; c++) {
        count += *c == ' ';
    }
    return count;
}

/* An erratum that is about the clause: one of them names the other, or a test shows both and little
 * else. */
static bool is_about(const struct erratum *erratum, const struct clause *clause)
{
    if (erratum->family != clause->family) {
        return false;
    }
    if (proofs_names(clause->promise, erratum->id) || proofs_names(erratum->decided, clause->id) ||
        proofs_names(erratum->text, clause->id) || proofs_names(erratum->problem, clause->id)) {
        return true;
    }
    for (size_t i = 0; i < proofs_count(); i++) {
        const struct proof *proof = proofs_get(i);
        if (count_ids(proof->clauses) <= TOGETHER_MAX && count_ids(proof->errata) <= TOGETHER_MAX &&
            proofs_names(proof->clauses, clause->id) && proofs_names(proof->errata, erratum->id)) {
            return true;
        }
    }
    return false;
}

/* ---- the page -------------------------------------------------------------------------------- */

/* Of the five specifications; Assay's own example is not signed. */
static bool is_signed(enum clause_family family)
{
    return strcmp(clause_family_seed(family), "none") != 0;
}

static void judge_step(struct sign_off *page, size_t step)
{
    char why[SIGN_OFF_WHY_SIZE] = "";
    static const enum sign_off_verdict verdicts[] = {[STEPS_THERE] = SIGN_OFF_PASS,
                                                     [STEPS_FAILED] = SIGN_OFF_FAIL,
                                                     [STEPS_ABSENT] = SIGN_OFF_NOT_SHOWN};
    set_row(&page->steps[step], verdicts[steps_judge(step, page->evidence, why, sizeof why)], "%s",
            why);
}

void sign_off_make(struct sign_off *page, const struct evidence *evidence)
{
    *page = (struct sign_off){.evidence = evidence};
    CHECK(clause_errata_count() <= SIGN_OFF_ERRATA_MAX);
    for (size_t i = 0; i < STEPS_COUNT; i++) {
        judge_step(page, i);
        page->count[page->steps[i].verdict]++;
    }
    for (int c = 0; c < CLAUSE_COUNT; c++) {
        if (is_signed(clause_get((enum clause_id)c)->family)) {
            judge_clause(page, (enum clause_id)c);
            page->count[page->clauses[c].verdict]++;
        }
    }
    for (size_t i = 0; i < clause_errata_count(); i++) {
        judge_erratum(page, i);
        page->count[page->errata[i].verdict]++;
    }
    int rows = page->count[SIGN_OFF_FAIL] > 0 ? 1 : page->count[SIGN_OFF_NOT_SHOWN] > 0 ? 4 : 0;
    bool more = line_status_rank(evidence->status) > line_status_rank(rows);
    page->status = more ? evidence->status : rows;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* The cells of a Markdown table may not hold a bar. */
static void sign_off_write_cell(FILE *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '|') {
            fputc('\\', out);
        }
        fputc(*c, out);
    }
}

/* What the literal reading does. */
static const char *literally(const struct erratum *erratum)
{
    return erratum->problem[0] == '\0' ? "it does not say" : erratum->problem;
}

static void write_errata_of(FILE *out, const struct clause *clause)
{
    const char *separator = "";
    for (size_t i = 0; i < clause_errata_count(); i++) {
        if (is_about(clause_erratum(i), clause)) {
            fprintf(out, "%s%s", separator, clause_erratum(i)->id);
            separator = " ";
        }
    }
}

static void write_sum(FILE *out, const struct sign_off *page)
{
    fprintf(out, "%zu PASS, %zu FAIL, %zu NOT SHOWN", page->count[SIGN_OFF_PASS],
            page->count[SIGN_OFF_FAIL], page->count[SIGN_OFF_NOT_SHOWN]);
}

/* ---- Markdown: the page that is signed ------------------------------------------------------- */

/* What the tests of a row are about: a clause, or an erratum. */
struct subject {
    const char *id;
    bool erratum;
};

/* The tests that name it and passed, those that were seen to fail when it is broken or the others. */
static void write_some_tests(FILE *out, const struct evidence *evidence, struct subject subject,
                             bool shown)
{
    const char *separator = ": ";
    for (size_t i = 0; i < proofs_count(); i++) {
        const struct proof *proof = proofs_get(i);
        bool names = proofs_names(subject.erratum ? proof->errata : proof->clauses, subject.id);
        if (names && json_is_true(json_object_get(evidence->suites, proof->suite)) &&
            is_noticed(mutant_of(evidence, proof, subject.id)) == shown) {
            fprintf(out, "%s%s (%s)", separator, proof->test, proof->suite);
            separator = ", ";
        }
    }
}

/* "3: 2 fail if it is broken: leg1_entry_at_999_is_refused (test_ledger), ...; 1 more: ...", all of
 * them. */
static void write_tests(FILE *out, const struct sign_off *page, const struct sign_off_row *row,
                        struct subject subject)
{
    fprintf(out, "%zu", row->tests);
    if (row->shown > 0) {
        fprintf(out, ": %zu fail%s if it is broken", row->shown, row->shown == 1 ? "s" : "");
        write_some_tests(out, page->evidence, subject, true);
    }
    if (row->tests > row->shown) {
        if (row->shown > 0) {
            fprintf(out, "; %zu more", row->tests - row->shown);
        }
        write_some_tests(out, page->evidence, subject, false);
    }
}

static void write_clause_row(FILE *out, const struct sign_off *page, enum clause_id id)
{
    const struct clause *clause = clause_get(id);
    const struct evidence_clause *of = &page->evidence->clauses[id];
    const struct sign_off_row *row = &page->clauses[id];
    fprintf(out, "| %s | %s | ", clause->id, clause->section);
    sign_off_write_cell(out, clause->promise);
    fputs(" | ", out);
    write_tests(out, page, row, (struct subject){clause->id, false});
    fprintf(out, " | %" PRIu64 " | %" PRIu64 " | %s%s | ", of->evaluated[EVIDENCE_SIM],
            of->evaluated[EVIDENCE_REAL], of->alone == NULL ? "" : of->alone,
            of->alone != NULL && of->sabotages > 1 ? ", ..." : "");
    write_errata_of(out, clause);
    fprintf(out, " | **%s** %s |\n", verdict_names[row->verdict], row->why);
}

static void write_family(FILE *out, const struct sign_off *page, enum clause_family family)
{
    fprintf(out, "\n## Seed %s: %s\n\n", clause_family_seed(family), clause_family_about(family));
    fputs("| clause | section | promise | tests | simulation | PostgreSQL | planted bug | "
          "decisions | |\n|---|---|---|---|--:|--:|---|---|---|\n",
          out);
    for (int c = 0; c < CLAUSE_COUNT; c++) {
        if (clause_get((enum clause_id)c)->family == family) {
            write_clause_row(out, page, (enum clause_id)c);
        }
    }
}

static void write_errata_table(FILE *out, const struct sign_off *page)
{
    fputs("\n## Deviations to accept\n\n"
          "Where a specification contradicts itself, is silent or breaks. A signature accepts "
          "what was decided.\n\n"
          "| | the text | what the literal reading does | decided | tests | shown |\n"
          "|---|---|---|---|---|---|\n",
          out);
    for (size_t i = 0; i < clause_errata_count(); i++) {
        const struct erratum *erratum = clause_erratum(i);
        const struct sign_off_row *row = &page->errata[i];
        fprintf(out, "| %s | ", erratum->id);
        sign_off_write_cell(out, erratum->text);
        fputs(" | ", out);
        sign_off_write_cell(out, literally(erratum));
        fputs(" | ", out);
        sign_off_write_cell(out, erratum->decided);
        fputs(" | ", out);
        write_tests(out, page, row, (struct subject){erratum->id, true});
        fprintf(out, " | **%s** %s |\n", verdict_names[row->verdict], row->why);
    }
}

static void write_open_row(FILE *out, const char *id, const struct sign_off_row *row,
                           enum sign_off_verdict verdict)
{
    if (row->verdict == verdict && id != NULL) {
        fprintf(out, "- **%s** %s: %s\n", verdict_names[verdict], id, row->why);
    }
}

static void write_open_rows(FILE *out, const struct sign_off *page, enum sign_off_verdict verdict)
{
    for (size_t i = 0; i < STEPS_COUNT; i++) {
        write_open_row(out, steps_get(i)->name, &page->steps[i], verdict);
    }
    for (int c = 0; c < CLAUSE_COUNT; c++) {
        const struct clause *clause = clause_get((enum clause_id)c);
        write_open_row(out, is_signed(clause->family) ? clause->id : NULL, &page->clauses[c],
                       verdict);
    }
    for (size_t i = 0; i < clause_errata_count(); i++) {
        write_open_row(out, clause_erratum(i)->id, &page->errata[i], verdict);
    }
}

/* What a signatory has to know first: every reason of the verdict, what failed, what is not shown. */
static void write_open(FILE *out, const struct sign_off *page)
{
    const struct evidence *evidence = page->evidence;
    char words[VERDICT_WORDS_SIZE], text[600];
    size_t i;
    json_t *reason;
    verdict_words(&evidence->verdict, evidence_covered(evidence), CLAUSE_COUNT, words);
    fprintf(out, "\n## Open items\n\nThe evidence: %s (status %d).\n\n", words, evidence->status);
    json_array_foreach(evidence->verdict.reasons, i, reason)
    {
        verdict_reason_words(reason, text, sizeof text);
        fprintf(out, "- %s\n", text);
    }
    write_open_rows(out, page, SIGN_OFF_FAIL);
    write_open_rows(out, page, SIGN_OFF_NOT_SHOWN);
}

/* The first words of the page. */
static const char *outcome_of(const struct sign_off *page)
{
    return page->status == 0                ? "Everything is shown and holds:"
           : page->count[SIGN_OFF_FAIL] > 0 ? "Not acceptable, something failed:"
           : page->status != 4              ? "Not acceptable, see the open items:"
                                            : "Not complete, and what is not shown is no pass:";
}

static void write_program(FILE *out, const struct sign_off *page)
{
    const json_t *begin = page->evidence->begin;
    const char *servers = page->evidence->servers;
    if (line_get_binary_hash(begin)[0] == '\0') {
        fputs("The evidence does not say which program made it.\n", out);
        return;
    }
    fprintf(out,
            "assay %s, commit %s%s, %s (%s), on %s, %s. %s%s%s" SIGN_OFF_BINARY "`%s`, of the "
            "clauses `%s`, of the errata `%s`.\n",
            line_get_assay(begin), line_get_commit(begin),
            line_get_dirty(begin) ? " with changes" : "", line_get_compiler(begin),
            line_get_flags(begin), line_get_system(begin), line_get_made(begin),
            servers[0] == '\0' ? "" : "PostgreSQL ", servers, servers[0] == '\0' ? "" : ". ",
            line_get_binary_hash(begin), line_get_clauses_hash(begin), line_get_errata_hash(begin));
}

static void write_markdown(FILE *out, const struct sign_off *page)
{
    fprintf(out, "# Sign-off\n\n**%s ", outcome_of(page));
    write_sum(out, page);
    fputs(".**\n\n", out);
    write_program(out, page);
    write_open(out, page);
    fputs("\n## Evidence\n\n| | what it shows | |\n|---|---|---|\n", out);
    for (size_t i = 0; i < STEPS_COUNT; i++) {
        fprintf(out, "| %s | %s | **%s** %s |\n", steps_get(i)->name, steps_get(i)->shows,
                verdict_names[page->steps[i].verdict], page->steps[i].why);
    }
    provenance_write_sessions(out, page->evidence, page->hashes);
    provenance_write_limits(out, page->evidence);
    for (int f = 0; f < CLAUSE_FAMILY_COUNT; f++) {
        if (is_signed((enum clause_family)f)) {
            write_family(out, page, (enum clause_family)f);
        }
    }
    write_errata_table(out, page);
    if (page->sums[0] != '\0') {
        fprintf(out,
                "\n## What it rests on\n\nSHA256SUMS has the hash of every file of the evidence; "
                "`assay verify` compares them, this page and the binary. " SIGN_OFF_SUMS "`%s`.\n",
                page->sums);
    }
    fputc('\n', out);
}

/* ---- text ------------------------------------------------------------------------------------ */

static void write_verdict(FILE *out, enum format_kind format, const struct sign_off_row *row)
{
    bool fine = row->verdict == SIGN_OFF_PASS;
    fprintf(out, "%s%-9s%s", fine ? "" : format_alarm(format), verdict_names[row->verdict],
            fine ? "" : format_plain(format));
}

/* "4.1: The ledger ...", in as many lines as it takes. */
static void write_part(FILE *out, const char *what, const char *text)
{
    int used = fprintf(out, "%s: ", what);
    format_wrapped(out, text, TEXT_INDENT + used);
}

static void write_text_erratum(FILE *out, enum format_kind format, const struct sign_off *page,
                               size_t index)
{
    const struct erratum *erratum = clause_erratum(index);
    const struct {
        const char *what, *text;
    } parts[] = {{"the text", erratum->text},
                 {"literally", literally(erratum)},
                 {"decided", erratum->decided}};
    fprintf(out, "%-8s ", erratum->id);
    write_verdict(out, format, &page->errata[index]);
    fprintf(out, " %5zu tests; %s\n", page->errata[index].tests, page->errata[index].why);
    for (size_t i = 0; i < COUNT(parts); i++) {
        fprintf(out, "%*s", TEXT_INDENT, "");
        write_part(out, parts[i].what, parts[i].text);
    }
}

static void write_text_clause(FILE *out, enum format_kind format, const struct sign_off *page,
                              enum clause_id id)
{
    const struct clause *clause = clause_get(id);
    const struct evidence_clause *of = &page->evidence->clauses[id];
    const struct sign_off_row *row = &page->clauses[id];
    fprintf(out, "%-7s ", clause->id);
    write_verdict(out, format, row);
    fprintf(out, " %-6s %5zu %12" PRIu64 " %10" PRIu64 "  %s", clause_kind_name(clause->kind),
            row->tests, of->evaluated[EVIDENCE_SIM], of->evaluated[EVIDENCE_REAL], row->why);
    fputs("; ", out);
    write_errata_of(out, clause);
    fprintf(out, "\n%*s", TEXT_INDENT, "");
    write_part(out, clause->section, clause->promise);
}

static void write_text(FILE *out, enum format_kind format, const struct sign_off *page)
{
    for (size_t i = 0; i < STEPS_COUNT; i++) {
        fprintf(out, "%-9s ", steps_get(i)->name);
        write_verdict(out, format, &page->steps[i]);
        fprintf(out, " %s: %s\n", steps_get(i)->shows, page->steps[i].why);
    }
    fprintf(out, "\n%s%-7s %-9s %-6s %5s %12s %10s  %s%s\n", format_strong(format), "clause", "",
            "kind", "tests", "simulation", "PostgreSQL", "shown by; decisions",
            format_plain(format));
    for (int c = 0; c < CLAUSE_COUNT; c++) {
        if (is_signed(clause_get((enum clause_id)c)->family)) {
            write_text_clause(out, format, page, (enum clause_id)c);
        }
    }
    fprintf(out, "\n%sdeviations to accept%s\n", format_strong(format), format_plain(format));
    for (size_t i = 0; i < clause_errata_count(); i++) {
        write_text_erratum(out, format, page, i);
    }
    fputc('\n', out);
    write_sum(out, page);
    fputc('\n', out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *errata_of(const struct clause *clause)
{
    json_t *list = json_array();
    for (size_t i = 0; i < clause_errata_count(); i++) {
        if (is_about(clause_erratum(i), clause)) {
            json_array_append_new(list, json_string(clause_erratum(i)->id));
        }
    }
    return list;
}

static json_t *step_json(const struct sign_off *page, size_t index)
{
    const struct sign_off_row *row = &page->steps[index];
    return line_make(LINE_SIGN_OFF_STEP, line_id(steps_get(index)->name),
                     line_shows(steps_get(index)->shows), line_verdict(verdict_names[row->verdict]),
                     line_why(row->why));
}

static json_t *clause_json(const struct sign_off *page, enum clause_id id)
{
    const struct clause *clause = clause_get(id);
    const struct sign_off_row *row = &page->clauses[id];
    const struct evidence_clause *of = &page->evidence->clauses[id];
    return line_make(LINE_SIGN_OFF_CLAUSE, line_id(clause->id),
                     line_specification(clause_family_seed(clause->family)),
                     line_section(clause->section), line_promise(clause->promise),
                     line_tests(row->tests), line_tests_that_fail_if_broken(row->shown),
                     line_sim(of->evaluated[EVIDENCE_SIM]), line_real(of->evaluated[EVIDENCE_REAL]),
                     line_sabotage(of->alone),
                     line_broken_in(of->broken_in[0] == '\0' ? NULL : of->broken_in),
                     line_errata(errata_of(clause)), line_verdict(verdict_names[row->verdict]),
                     line_why(row->why));
}

static json_t *erratum_json(const struct sign_off *page, size_t index)
{
    const struct erratum *erratum = clause_erratum(index);
    const struct sign_off_row *row = &page->errata[index];
    return line_make(LINE_SIGN_OFF_ERRATUM, line_id(erratum->id), line_text(erratum->text),
                     line_literal(literally(erratum)), line_decided(erratum->decided),
                     line_tests(row->tests), line_tests_that_fail_if_broken(row->shown),
                     line_verdict(verdict_names[row->verdict]), line_why(row->why));
}

static void sign_off_write_json(FILE *out, const struct sign_off *page)
{
    for (size_t i = 0; i < STEPS_COUNT; i++) {
        json_line_write(out, step_json(page, i));
    }
    for (int c = 0; c < CLAUSE_COUNT; c++) {
        if (is_signed(clause_get((enum clause_id)c)->family)) {
            json_line_write(out, clause_json(page, (enum clause_id)c));
        }
    }
    for (size_t i = 0; i < clause_errata_count(); i++) {
        json_line_write(out, erratum_json(page, i));
    }
    json_line_write(out, line_make(LINE_SIGN_OFF, line_pass(page->count[SIGN_OFF_PASS]),
                                   line_fail(page->count[SIGN_OFF_FAIL]),
                                   line_not_shown(page->count[SIGN_OFF_NOT_SHOWN]),
                                   line_status((uint64_t)page->status)));
}

void sign_off_write(FILE *out, enum format_kind format, const struct sign_off *page)
{
    if (format == FORMAT_MARKDOWN) {
        write_markdown(out, page);
    } else if (format == FORMAT_JSON) {
        sign_off_write_json(out, page);
    } else {
        write_text(out, format, page);
    }
}
