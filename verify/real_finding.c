#include "verify/real_finding.h"

#include "real/history.h"
#include "real/schema.h"
#include "reports/line.h"
#include "sim/campaign.h"
#include "verify/finding.h"

#include <inttypes.h>
#include <stdlib.h>

/* Not every finding is an oracle's: the server can forget, and a worker draw a wrong conclusion. */
struct charge {
    char name[FINDING_NAME_SIZE];
    const char *clause, *oracle, *why;
};

static struct charge charge_of(const struct real_finding *finding)
{
    const struct real_result *result = finding->result;
    const struct oracle_verdict *breach = &result->verdict.breach;
    struct charge charge;
    if (breach->broken) {
        charge.clause = clause_get(breach->clause)->id;
        charge.oracle = campaign_oracle_name(result->verdict.oracle);
        charge.why = breach->why;
        finding_name(charge.name, result->scenario, breach->clause, charge.oracle);
        return charge;
    }
    bool forgot = result->audit.forgotten > 0;
    charge.clause = "";
    charge.oracle = forgot ? "acknowledged" : "outcome-audit";
    charge.why = outcome_audit_charge(&result->audit);
    snprintf(charge.name, sizeof charge.name, "%.40s-%s", result->scenario, charge.oracle);
    return charge;
}

static void real_finding_put(struct artefacts *results, const struct charge *charge,
                             const char *file, FILE *stream, char **text, size_t *size)
{
    if (fclose(stream) == 0) { /* results->problem says why it could not be written */
        (void)artefacts_put_finding(results, charge->name, file, *text, *size);
    }
    free(*text);
    *text = NULL;
}

static void write_line(FILE *stream, json_t *line)
{
    (void)json_dumpf(line, stream, JSON_COMPACT);
    fputc('\n', stream);
    json_decref(line);
}

static void write_plan(FILE *stream, const struct chaos_plan *plan)
{
    static const char *const moments[] = {[SHARED_BEFORE_BEGIN] = "before begin",
                                          [SHARED_BEFORE_COMMIT] = "before commit",
                                          [SHARED_SENT] = "sent",
                                          [SHARED_AFTER_COMMIT] = "after commit"};
    for (size_t i = 0; i < plan->count; i++) {
        const struct chaos_fault *fault = &plan->faults[i];
        const char *bundle =
            fault->bundle == SHARED_ANY ? "any" : bundle_name_text((enum bundle_name)fault->bundle);
        write_line(stream, json_pack("{s:s, s:s, s:s, s:I, s:I}", "kind",
                                     fault_twin_get((enum chaos_kind)fault->kind)->name, "bundle",
                                     bundle, "moment", moments[fault->moment], "from",
                                     (json_int_t)fault->from, "amount", (json_int_t)fault->amount));
    }
}

static void write_change(void *context, const struct history_change *change)
{
    static const char *const kinds[] = {
        [ROW_INSERTED] = "inserted", [ROW_UPDATED] = "updated", [ROW_DELETED] = "deleted"};
    json_t *row = json_array();
    for (int c = 0; c <= schema_columns(change->table); c++) {
        json_array_append_new(row, json_integer((json_int_t)change->row[c]));
    }
    write_line(context,
               json_pack("{s:I, s:s, s:s, s:o}", "transaction", (json_int_t)change->of->id, "table",
                         schema_table(change->table), "was", kinds[change->kind], "row", row));
}

static void write_words(FILE *stream, const struct real_finding *finding,
                        const struct charge *charge)
{
    const struct real_result *result = finding->result;
    fprintf(stream, "%s, seed %" PRIu64 " on PostgreSQL: %s\n", result->scenario, finding->seed,
            charge->why);
    if (charge->clause[0] != '\0') {
        fprintf(stream, "  breaks  %s, found by the %s oracle in the committed history\n",
                charge->clause, charge->oracle);
    }
    if (result->sabotage != NULL) {
        fprintf(stream, "  planted %s\n", result->sabotage);
    }
    fprintf(stream,
            "  again   %s\n  A seed fixes workload and fault plan; who runs when is up to the "
            "machine.\n  plan.jsonl has the plan, history.jsonl every change that was "
            "committed.\n",
            finding->again);
}

static void keep_files(struct artefacts *results, const struct real_finding *finding,
                       const struct charge *charge)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (stream != NULL) {
        write_words(stream, finding, charge);
        real_finding_put(results, charge, "words.txt", stream, &text, &size);
    }
    stream = open_memstream(&text, &size);
    if (stream != NULL) {
        write_plan(stream, finding->plan);
        real_finding_put(results, charge, "plan.jsonl", stream, &text, &size);
    }
    stream = open_memstream(&text, &size);
    if (stream != NULL) {
        history_tell(finding->history, write_change, stream);
        real_finding_put(results, charge, "history.jsonl", stream, &text, &size);
    }
    (void)artefacts_place_finding(results, charge->name);
}

void real_finding_keep(struct artefacts *results, const struct real_finding *finding)
{
    const struct real_result *result = finding->result;
    struct charge charge = charge_of(finding);
    const struct oracle_verdict *breach = &result->verdict.breach;
    bool expected = breach->broken && scenario_breaks(finding->scenario, breach->clause);
    if (results->folder != NULL) {
        keep_files(results, finding, &charge);
    }
    json_t *line = line_make(LINE_FINDING, line_name(charge.name), line_scenario(result->scenario),
                             line_clause(charge.clause), line_oracle(charge.oracle),
                             line_kind(expected ? "expected" : "new"), line_why(charge.why),
                             line_seed(finding->seed), line_runs(1), line_again(finding->again));
    if (result->sabotage != NULL) {
        line_add(line, line_sabotage(result->sabotage));
    }
    artefacts_note(results, line);
}
