/* assay merge: the results of many runs as one. */
#include "cli/cli.h"
#include "cli/results.h"
#include "reports/report.h"
#include "sim/campaign.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: assay merge DIR... --out NEW [--json]\n"
    "\n"
    "Puts what verbs wrote with --out into one folder, as if one run had done it all: results\n"
    "one after the other, findings side by side, one report. If campaigns with --shard are among\n"
    "them, the gates that no shard can judge alone are judged of all together.\n"
    "\n"
    "  --out NEW  the new folder; it must be empty or new\n"
    "  --json     the report as one JSON document\n"
    "\n"
    "Exit status: the worst of the results, 4 if a gate is not met.\n"
    "\n"
    "example: assay merge shard-1 shard-2 --out results\n";

struct merging {
    struct cli_arguments from;
    const char *out;
    bool json;
    struct artefacts files;
    struct evidence evidence;
};

static int complain(const struct merging *merging)
{
    fprintf(stderr, "assay merge: %s\n", merging->files.problem);
    return CLI_UNAVAILABLE;
}

/* ---- files ----------------------------------------------------------------------------------- */

static char *read_results(const char *folder, size_t *length)
{
    char path[ARTEFACTS_PATH_SIZE];
    snprintf(path, sizeof path, "%s/results.jsonl", folder);
    return artefacts_read(path, length);
}

/* Checked, before anything is written. */
static int load(struct merging *merging)
{
    for (int i = 0; i < merging->from.count; i++) {
        struct evidence_fault fault;
        const char *folder = merging->from.positional[i];
        size_t length = 0;
        char *text = read_results(folder, &length);
        if (text == NULL) {
            return cli_usage_error(&cli_merge,
                                   "%s: it is a folder that assay wrote with --out, and has no "
                                   "results.jsonl",
                                   cli_quote(folder).text);
        }
        bool read = evidence_add(&merging->evidence, text, length, folder, &fault);
        free(text);
        if (!read) {
            return cli_usage_error(&cli_merge, "%s", fault.text);
        }
    }
    return CLI_OK;
}

/* The lines as they were. */
static void copy_lines(struct merging *merging)
{
    size_t i;
    json_t *line;
    json_array_foreach(merging->evidence.lines, i, line)
    {
        json_t *copy = json_copy(line);
        if (!evidence_is(line, "type", "begin")) {
            json_object_del(copy, "verb"); /* evidence added it */
        }
        artefacts_note(&merging->files, copy);
    }
}

static void copy_file(struct merging *merging, const char *folder, const char *finding,
                      const char *name)
{
    char from[ARTEFACTS_PATH_SIZE], to[ARTEFACTS_PATH_SIZE];
    size_t length = 0;
    snprintf(to, sizeof to, "findings/%s/%s", finding, name);
    snprintf(from, sizeof from, "%.2000s/%.2000s", folder, to);
    char *text = artefacts_read(from, &length);
    if (text != NULL) {
        artefacts_put(&merging->files, to, text, length);
    }
    free(text);
}

/* A finding that several have is kept as the last of them has it: it is the same promise, broken in
 * the same scenario. */
static void copy_findings(struct merging *merging, const char *folder)
{
    static const char *const names[] = {"schedule.json", "shrunk.json", "trace.txt", "words.txt",
                                        "finding.json"};
    char path[ARTEFACTS_PATH_SIZE];
    snprintf(path, sizeof path, "%s/findings", folder);
    DIR *findings = opendir(path);
    for (struct dirent *entry = findings == NULL ? NULL : readdir(findings); entry != NULL;
         entry = readdir(findings)) {
        for (size_t i = 0; entry->d_name[0] != '.' && i < sizeof names / sizeof names[0]; i++) {
            copy_file(merging, folder, entry->d_name, names[i]);
        }
    }
    if (findings != NULL) {
        closedir(findings);
    }
}

/* ---- gates that no shard could judge --------------------------------------------------------- */

/* What the shards of a scenario counted. */
static void add_tally(struct campaign_result *sum, const json_t *line)
{
    const json_t *fired = json_object_get(line, "fired");
    const json_t *evaluated = json_object_get(line, "evaluated");
    const json_t *seen = json_object_get(line, "seen");
    sum->tally.full += evidence_number(line, "full");
    for (int kind = 0; kind < FAULT_KIND_COUNT; kind++) {
        sum->tally.fired[kind] += evidence_number(fired, fault_get((enum fault_kind)kind)->name);
    }
    for (int c = 0; c < CLAUSE_COUNT; c++) {
        sum->tally.evaluated[c] += evidence_number(evaluated, clause_get((enum clause_id)c)->id);
    }
    for (int i = 0; i < SIGHT_COUNT; i++) {
        sum->tally.seen[i] += evidence_number(seen, oracle_sighting_text((enum oracle_sighting)i));
    }
}

static void add_bucket(struct campaign_result *sum, const json_t *line)
{
    const char *id = evidence_text(line, "clause");
    enum clause_id clause;
    if (clause_find(id, strlen(id), &clause) && sum->bucket_count < CAMPAIGN_BUCKETS_MAX) {
        sum->buckets[sum->bucket_count++].clause = clause;
    }
}

static bool is_of_campaign(const json_t *line, const char *scenario)
{
    return evidence_is(line, "verb", "campaign") && evidence_is(line, "scenario", scenario) &&
           !evidence_is_planted(line);
}

/* True: shards ran it, and *sum is what all of them counted. */
static bool add_up(const struct evidence *evidence, const char *scenario,
                   struct campaign_result *sum)
{
    bool any = false;
    size_t i;
    json_t *line;
    campaign_result_begin(sum);
    json_array_foreach(evidence->lines, i, line)
    {
        if (!is_of_campaign(line, scenario)) {
            continue;
        }
        if (evidence_is(line, "type", "scenario")) {
            any = true;
            add_tally(sum, line);
        } else if (evidence_is(line, "type", "finding")) {
            add_bucket(sum, line);
        }
    }
    return any;
}

static size_t judge_scenario(const struct merging *merging, const char *name,
                             struct campaign_result *sum, struct scenario *scenario, json_t *missed)
{
    static const bool off[CLAUSE_COUNT];
    struct campaign_gate gates[CAMPAIGN_GATES_MAX];
    struct scenario_fault fault;
    if (!scenario_load(name, scenario, &fault) || !add_up(&merging->evidence, name, sum)) {
        return 0;
    }
    size_t count = campaign_gates(scenario, sum, off, gates);
    for (size_t i = 0; i < count; i++) {
        char text[256];
        campaign_gate_text(&gates[i], text, sizeof text);
        json_array_append_new(missed, json_string(text));
    }
    return count;
}

static bool has_shards(const struct evidence *evidence)
{
    size_t i;
    json_t *line;
    json_array_foreach(evidence->lines, i, line)
    {
        if (evidence_is(line, "type", "summary") && evidence_number(line, "shards") > 1) {
            return true;
        }
    }
    return false;
}

/* The gates of built-in scenarios; CLI_OK if all are met, or there is nothing to judge. */
static int judge_gates(struct merging *merging)
{
    struct campaign_result *sum = malloc(sizeof *sum);
    struct scenario *scenario = malloc(sizeof *scenario);
    json_t *missed = json_array();
    size_t count = 0;
    for (size_t i = 0; sum != NULL && scenario != NULL && i < scenario_count(); i++) {
        count += judge_scenario(merging, scenario_name(i), sum, scenario, missed);
    }
    free(sum);
    free(scenario);
    artefacts_note(&merging->files, json_pack("{s:s, s:o}", "type", "gates", "gates", missed));
    return count > 0 ? CLI_INCOMPLETE : CLI_OK;
}

/* ---- the verb -------------------------------------------------------------------------------- */

/* A session of its own, so that what it found counts like any other. */
static void add_session(struct merging *merging)
{
    if (has_shards(&merging->evidence)) {
        results_note_begin(&merging->files, &cli_merge);
        results_note_end(&merging->files, judge_gates(merging));
    }
}

/* The new folder is read as any other. */
static int tell(const struct merging *merging)
{
    char *argv[] = {"report", (char *)merging->out, "--json", NULL};
    return cli_report.run(merging->json ? 3 : 2, argv);
}

static int merge(struct merging *merging)
{
    int status = load(merging);
    if (status != CLI_OK) {
        return status;
    }
    if (!artefacts_open(&merging->files, merging->out, NULL)) {
        return cli_usage_error(&cli_merge, "--out %s", merging->files.problem);
    }
    copy_lines(merging);
    add_session(merging);
    for (int i = 0; i < merging->from.count; i++) {
        copy_findings(merging, merging->from.positional[i]);
    }
    return artefacts_close(&merging->files) ? tell(merging) : complain(merging);
}

static int run(int argc, char **argv)
{
    struct merging *merging = calloc(1, sizeof *merging);
    if (merging == NULL) {
        fputs("assay merge: not enough memory\n", stderr);
        return CLI_UNAVAILABLE;
    }
    const struct cli_option options[] = {{"--out", &merging->out, NULL},
                                         {"--json", NULL, &merging->json}};
    int status = cli_parse(&cli_merge, argc, argv, options, sizeof options / sizeof *options,
                           &merging->from);
    if (status == CLI_OK && (merging->from.count == 0 || merging->out == NULL)) {
        status = cli_usage_error(&cli_merge, "DIR... and --out NEW are needed");
    }
    if (status == CLI_OK) {
        evidence_begin(&merging->evidence);
        status = merge(merging);
        evidence_free(&merging->evidence);
    }
    free(merging);
    return status;
}

const struct cli_verb cli_merge = {
    .name = "merge", .about = "the results of many runs as one", .help = help, .run = run};
