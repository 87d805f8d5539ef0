/* assay merge: the results of many runs as one. */
#include "cli/load.h"
#include "cli/options.h"
#include "cli/results.h"
#include "cli/sums.h"
#include "reports/line.h"
#include "reports/report.h"
#include "sim/campaign.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A folder that is merged. */
struct source {
    size_t first, end; /* its lines */
    char hash[65];     /* of its results */
    bool again;        /* the same results came before: they are counted once */
};

struct merging {
    struct cli_arguments from;
    const char *out;
    bool json;
    struct artefacts files;
    struct evidence evidence;
    struct source sources[CLI_ARGUMENTS_MAX];
};

static const struct option options[] = {
    {ARGUMENTS_ROW(struct merging, from, "DIR", true),
     .about = "folders that verbs wrote with --out"},
    {TEXT_ROW(struct merging, out, "--out", "NEW"), .needed = true,
     .about = "the new folder; it must be empty or new"},
    {FLAG_ROW(struct merging, json, "--json"), .again = AGAIN_NEVER,
     .about = "the report as one JSON document"},
};

static int merge_complain(const struct merging *merging)
{
    fprintf(stderr, "assay merge: %s\n", merging->files.problem);
    return CLI_UNAVAILABLE;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Whether a folder before this one has the very same results; says so. */
static bool is_again(const struct merging *merging, int index)
{
    for (int i = 0; i < index; i++) {
        if (strcmp(merging->sources[i].hash, merging->sources[index].hash) == 0) {
            fprintf(stderr, "assay merge: %s has the same results as %s; they are counted once\n",
                    merging->from.positional[index], merging->from.positional[i]);
            return true;
        }
    }
    return false;
}

static int load_one(struct merging *merging, int index)
{
    struct error error;
    struct source *source = &merging->sources[index];
    const char *folder = merging->from.positional[index];
    size_t length = 0;
    char *text = load_results(&cli_merge, folder, &length);
    if (text == NULL) {
        return CLI_USAGE;
    }
    snprintf(source->hash, sizeof source->hash, "%s", sums_hash(text, length).text);
    source->again = is_again(merging, index);
    source->first = json_array_size(merging->evidence.lines);
    bool read = source->again || evidence_add(&merging->evidence, text, length, folder, &error);
    source->end = json_array_size(merging->evidence.lines);
    free(text);
    return read ? CLI_OK : cli_usage_error(&cli_merge, "%s", error.text);
}

/* Checked, before anything is written. */
static int merge_load(struct merging *merging)
{
    int status = CLI_OK;
    for (int i = 0; i < merging->from.count && status == CLI_OK; i++) {
        status = load_one(merging, i);
    }
    return status;
}

/* The lines as they were, but for those that merge_findings changed. */
static void copy_lines(struct merging *merging)
{
    size_t i;
    json_t *line;
    json_array_foreach(merging->evidence.lines, i, line)
    {
        json_t *copy = json_copy(line);
        if (!line_is(line, LINE_BEGIN)) {
            json_object_del(copy, line_key_text(LINE_KEY_verb)); /* evidence added it */
        }
        artefacts_note(&merging->files, copy);
    }
}

/* ---- findings -------------------------------------------------------------------------------- */

static const char *const finding_files[] = {"schedule.json", "shrunk.json",  "trace.txt",
                                            "words.txt",     "finding.json", "plan.jsonl",
                                            "history.jsonl"};
#define FINDING_FILES COUNT(finding_files)

static char *read_file(const char *folder, const char *finding, const char *name, size_t *length)
{
    char path[ARTEFACTS_PATH_SIZE];
    snprintf(path, sizeof path, "%.2000s/findings/%.200s/%s", folder, finding, name);
    return artefacts_read(path, length);
}

static bool is_there(const char *folder, const char *finding)
{
    char path[ARTEFACTS_PATH_SIZE];
    struct stat status;
    snprintf(path, sizeof path, "%.2000s/findings/%.200s", folder, finding);
    return stat(path, &status) == 0;
}

/* Whether two folders hold the same files of a finding, byte by byte. */
static bool is_same(const char *folder, const char *finding, const char *other,
                    const char *other_finding)
{
    bool same = true;
    for (size_t i = 0; same && i < FINDING_FILES; i++) {
        size_t length = 0, other_length = 0;
        char *text = read_file(folder, finding, finding_files[i], &length);
        char *other_text = read_file(other, other_finding, finding_files[i], &other_length);
        same = (text == NULL) == (other_text == NULL) && length == other_length &&
               (text == NULL || memcmp(text, other_text, length) == 0);
        free(text);
        free(other_text);
    }
    return same;
}

static void copy_finding(struct merging *merging, const char *folder, const char *finding,
                         const char *name)
{
    bool any = false;
    for (size_t i = 0; i < FINDING_FILES; i++) {
        size_t length = 0;
        char *text = read_file(folder, finding, finding_files[i], &length);
        if (text != NULL) {
            artefacts_put_finding(&merging->files, name, finding_files[i], text, length);
            any = true;
        }
        free(text);
    }
    if (any) {
        artefacts_place_finding(&merging->files, name);
    }
}

/* Its lines say how it is called now. */
static void rename_lines(struct merging *merging, const struct source *source, const char *finding,
                         const char *name)
{
    for (size_t i = source->first; i < source->end; i++) {
        json_t *line = json_array_get(merging->evidence.lines, i);
        if (line_is(line, LINE_FINDING) && line_text_is(line_get_name(line), finding)) {
            line_add(line, line_name(name));
        }
    }
}

/* Under its name; if another finding has that, under one with a number, such as NAME-2; and not at
 * all if it is there already, byte by byte. */
static void merge_finding(struct merging *merging, int index, const char *finding)
{
    const char *folder = merging->from.positional[index];
    char name[300];
    snprintf(name, sizeof name, "%.200s", finding);
    for (int number = 2; is_there(merging->out, name); number++) {
        if (is_same(folder, finding, merging->out, name)) {
            break;
        }
        snprintf(name, sizeof name, "%.200s-%d", finding, number);
    }
    if (!is_there(merging->out, name)) {
        copy_finding(merging, folder, finding, name);
    }
    rename_lines(merging, &merging->sources[index], finding, name);
}

static int by_name(const struct dirent **one, const struct dirent **other)
{
    return strcmp((*one)->d_name, (*other)->d_name);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void merge_findings(struct merging *merging, int index)
{
    char path[ARTEFACTS_PATH_SIZE];
    struct dirent **entries = NULL;
    snprintf(path, sizeof path, "%s/findings", merging->from.positional[index]);
    int count = scandir(path, &entries, is_visible, by_name);
    for (int i = 0; i < count; i++) {
        merge_finding(merging, index, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

/* ---- gates that no shard could judge --------------------------------------------------------- */

/* What the shards of a scenario counted. */
static void add_tally(struct campaign_result *sum, const json_t *line)
{
    const json_t *fired = line_get_fired(line);
    const json_t *evaluated = line_get_evaluated(line);
    const json_t *seen = line_get_seen(line);
    sum->tally.full += line_get_full(line);
    for (int kind = 0; kind < FAULT_KIND_COUNT; kind++) {
        sum->tally.fired[kind] += evidence_number(fired, fault_get((enum fault_kind)kind)->name);
    }
    for (int c = 0; c < CLAUSE_COUNT; c++) {
        sum->tally.evaluated[c] += evidence_number(evaluated, clause_get((enum clause_id)c)->id);
    }
    for (int i = 0; i < COVER_COUNT; i++) {
        sum->tally.seen[i] += evidence_number(seen, oracle_cover_text((enum oracle_cover)i));
    }
}

static void add_bucket(struct campaign_result *sum, const json_t *line)
{
    const char *id = line_get_clause(line);
    enum clause_id clause;
    if (clause_find(id, strlen(id), &clause) && sum->bucket_count < CAMPAIGN_BUCKETS_MAX) {
        sum->buckets[sum->bucket_count++].clause = clause;
    }
}

static bool is_of_campaign(const json_t *line, const char *scenario)
{
    return line_text_is(line_get_verb(line), "campaign") &&
           line_text_is(line_get_scenario(line), scenario) && !evidence_is_planted(line);
}

/* True: shards ran it, and *sum is what all of them counted. */
static bool merge_add_up(const struct evidence *evidence, const char *scenario,
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
        if (line_is(line, LINE_SCENARIO)) {
            any = true;
            add_tally(sum, line);
        } else if (line_is(line, LINE_FINDING)) {
            add_bucket(sum, line);
        }
    }
    return any;
}

static void add_gate(const struct campaign_gate *gate, json_t *missed)
{
    char text[256];
    campaign_gate_text(gate, text, sizeof text);
    json_array_append_new(missed, json_string(text));
}

static size_t judge_scenario(const struct merging *merging, const char *name,
                             struct campaign_result *sum, struct scenario *scenario, json_t *missed)
{
    static const bool off[CLAUSE_COUNT];
    struct campaign_gate gates[CAMPAIGN_GATES_MAX];
    struct error error;
    const struct protocol *protocol;
    if (!merge_add_up(&merging->evidence, name, sum)) {
        return 0;
    }
    if (drawn_is_family(name, &protocol)) {
        drawn_family(protocol, scenario);
    } else if (!scenario_load(name, scenario, &error)) {
        return 0;
    }
    size_t count = campaign_gates(scenario, sum, off, gates);
    for (size_t i = 0; i < count; i++) {
        add_gate(&gates[i], missed);
    }
    return count;
}

/* The gates of all scenarios together, if all were run. */
static size_t judge_all(const struct merging *merging, struct campaign_result *sum, json_t *missed)
{
    static const bool off[CLAUSE_COUNT];
    static struct campaign_gate gates[CLAUSE_COUNT];
    struct campaign_tally all = {0};
    size_t count = 0;
    for (size_t i = 0; i < scenario_count(); i++) {
        merge_add_up(&merging->evidence, scenario_name(i), sum);
        campaign_tally_add(&all, &sum->tally);
    }
    for (size_t p = 0; p < protocol_count(); p++) {
        size_t more = campaign_gates_of_all(protocol_at(p)->family, &all, off, gates);
        for (size_t i = 0; i < more; i++) {
            add_gate(&gates[i], missed);
        }
        count += more;
    }
    return count;
}

static bool has_every_scenario(const struct merging *merging, struct campaign_result *sum)
{
    bool every = true;
    for (size_t i = 0; every && i < scenario_count(); i++) {
        every = merge_add_up(&merging->evidence, scenario_name(i), sum);
    }
    return every;
}

static bool has_shards(const struct evidence *evidence)
{
    size_t i;
    json_t *line;
    json_array_foreach(evidence->lines, i, line)
    {
        if (line_is(line, LINE_SUMMARY) && line_get_shards(line) > 1) {
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
    bool fits = sum != NULL && scenario != NULL;
    bool every = fits && has_every_scenario(merging, sum);
    for (size_t i = 0; fits && i < scenario_count(); i++) {
        count += judge_scenario(merging, scenario_name(i), sum, scenario, missed);
    }
    for (size_t p = 0; fits && p < protocol_count(); p++) {
        count += judge_scenario(merging, drawn_family_name(protocol_at(p)), sum, scenario, missed);
    }
    count += every ? judge_all(merging, sum, missed) : 0;
    free(sum);
    free(scenario);
    artefacts_note(&merging->files,
                   line_make(LINE_GATES, line_every_scenario(every), line_gates(missed)));
    return count > 0 || !fits ? CLI_INCOMPLETE : CLI_OK;
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
static int merge_tell(const struct merging *merging)
{
    char *argv[] = {"report", (char *)merging->out, "--json", NULL};
    return cli_run_verb(&cli_report, merging->json ? 3 : 2, argv);
}

static int merge(struct merging *merging)
{
    int status = merge_load(merging);
    if (status != CLI_OK) {
        return status;
    }
    if (!artefacts_open(&merging->files, merging->out, NULL)) {
        return cli_usage_error(&cli_merge, "--out %s", merging->files.problem);
    }
    for (int i = 0; i < merging->from.count; i++) {
        if (!merging->sources[i].again) {
            merge_findings(merging, i);
        }
    }
    copy_lines(merging);
    add_session(merging);
    return artefacts_close(&merging->files) ? merge_tell(merging) : merge_complain(merging);
}

static int merge_verb(void *request)
{
    struct merging *merging = request;
    evidence_begin(&merging->evidence);
    int status = merge(merging);
    evidence_free(&merging->evidence);
    return status;
}

const struct cli_verb cli_merge = {.name = "merge",
                                   .about = "the results of many runs as one",
                                   .options = options,
                                   .option_count = COUNT(options),
                                   .request_size = sizeof(struct merging),
                                   .run = merge_verb};
