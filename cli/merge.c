/* assay merge: the results of many runs as one. */
#include "cli/campaign_join.h"
#include "cli/load.h"
#include "cli/options.h"
#include "cli/real_join.h"
#include "cli/results.h"
#include "cli/sabotage_sum.h"
#include "cli/sums.h"
#include "cli/sweep_join.h"
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
    bool is_shard, doubled;
    struct campaign_shard shard; /* of a campaign, or what else has shards */
    json_t *joined;              /* of the first shard of a campaign that is whole: its lines */
    int status;                  /* ... and how it ended, if they do not say more */
    bool part;                   /* its campaign is told by those lines */
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

/* The line as it was written. */
static json_t *plain_copy(json_t *line)
{
    json_t *copy = json_copy(line);
    if (!line_is(line, LINE_BEGIN)) {
        json_object_del(copy, line_key_text(LINE_KEY_verb)); /* evidence added it */
    }
    return copy;
}

/* The lines as they were, but for those that merge_findings changed. */
static void copy_lines(struct merging *merging, const struct source *source)
{
    for (size_t i = source->first; i < source->end; i++) {
        artefacts_note(&merging->files, plain_copy(json_array_get(merging->evidence.lines, i)));
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

/* ---- shards that are a whole campaign -------------------------------------------------------- */

static json_t *session_of(const struct merging *merging, const struct source *source)
{
    json_t *session = json_array();
    for (size_t i = source->first; i < source->end; i++) {
        json_array_append(session, json_array_get(merging->evidence.lines, i));
    }
    return session;
}

/* Verbs that have shards, and what puts these together: the lines between "begin" and "end", or NULL. */
typedef json_t *join_shards(json_t *const sessions[], size_t count, int *status,
                            struct error *error);
static const struct {
    const char *verb;
    join_shards *join;
} joins[] = {{"campaign", campaign_join},
             {"sweep", sweep_join},
             {"sabotage", sabotage_join},
             {"real", real_join}};

/* NULL: the verb has none. */
static join_shards *join_of(const struct merging *merging, const struct source *source)
{
    const json_t *begin = json_array_get(merging->evidence.lines, source->first);
    for (size_t i = 0; i < COUNT(joins); i++) {
        if (line_text_is(line_get_verb(begin), joins[i].verb)) {
            return joins[i].join;
        }
    }
    return NULL;
}

/* Whether the source is one session, of a shard. */
static void note_shard(const struct merging *merging, struct source *source)
{
    size_t sessions = 0;
    for (size_t i = source->first; i < source->end; i++) {
        sessions += line_is(json_array_get(merging->evidence.lines, i), LINE_BEGIN);
    }
    const json_t *begin = json_array_get(merging->evidence.lines, source->first);
    source->is_shard = !source->again && sessions == 1 && join_of(merging, source) != NULL &&
                       campaign_shard_of(line_get_command(begin), &source->shard);
}

static bool has_ended(const struct merging *merging, const struct source *source)
{
    return line_is(json_array_get(merging->evidence.lines, source->end - 1), LINE_END);
}

/* "2/8 of assay campaign tree-3" into a list. */
static void name_shard(json_t *list, const struct campaign_shard *shard, unsigned long number,
                       const char *why)
{
    json_array_append_new(
        list, json_sprintf("%lu/%lu of %.150s%s", number, shard->shards, shard->campaign, why));
}

/* What is wrong with the shards that were given. */
struct oddities {
    json_t *missing, *doubled, *foreign;
};

/* Whether two shards of one number counted the same, however long it took. */
static bool are_same_runs(const struct merging *merging, const struct source *one,
                          const struct source *other)
{
    json_t *digests[2] = {json_array(), json_array()};
    const struct source *sources[2] = {one, other};
    for (int s = 0; s < 2; s++) {
        for (size_t i = sources[s]->first; i < sources[s]->end; i++) {
            const json_t *line = json_array_get(merging->evidence.lines, i);
            if (line_is(line, LINE_SCENARIO) || line_is(line, LINE_SWEEP) ||
                line_is(line, LINE_SABOTAGE) || line_is(line, LINE_REAL) ||
                line_is(line, LINE_FINDING)) {
                json_array_append(digests[s], (json_t *)line);
            }
        }
    }
    bool same = json_equal(digests[0], digests[1]);
    json_decref(digests[0]);
    json_decref(digests[1]);
    return same;
}

/* Whether the build that made them is the same. */
static bool are_of_one_build(const struct merging *merging, const struct source *one,
                             const struct source *other)
{
    const json_t *begins[2] = {json_array_get(merging->evidence.lines, one->first),
                               json_array_get(merging->evidence.lines, other->first)};
    return line_text_is(line_get_binary_hash(begins[0]), line_get_binary_hash(begins[1])) &&
           line_text_is(line_get_clauses_hash(begins[0]), line_get_clauses_hash(begins[1])) &&
           line_text_is(line_get_errata_hash(begins[0]), line_get_errata_hash(begins[1]));
}

static bool are_of_one_campaign(const struct source *one, const struct source *other)
{
    return one->is_shard && other->is_shard && one->shard.shards == other->shard.shards &&
           strcmp(one->shard.campaign, other->shard.campaign) == 0;
}

/* The source that has this shard of the campaign of `first`; NULL: none has. A second one is
 * doubled, or foreign. */
static struct source *find_shard(struct merging *merging, const struct source *first,
                                 unsigned long number, struct oddities *odd)
{
    struct source *found = NULL;
    for (int i = 0; i < merging->from.count; i++) {
        struct source *source = &merging->sources[i];
        if (!are_of_one_campaign(first, source) || source->shard.shard != number) {
            continue;
        }
        if (found == NULL) {
            found = source;
        } else if (are_same_runs(merging, found, source)) {
            source->doubled = true;
            name_shard(odd->doubled, &source->shard, number, "");
        } else {
            name_shard(odd->foreign, &source->shard, number, ", is there with other results, too");
        }
    }
    return found;
}

/* Fills `parts` with the sources of all shards, by number. False: they are not all there and sound.
 */
static bool find_parts(struct merging *merging, const struct source *first, struct source **parts,
                       struct oddities *odd)
{
    size_t wrong = json_array_size(odd->missing) + json_array_size(odd->foreign);
    for (unsigned long k = 0; k < first->shard.shards; k++) {
        parts[k] = find_shard(merging, first, k + 1, odd);
        if (parts[k] == NULL) {
            name_shard(odd->missing, &first->shard, k + 1, "");
        } else if (!has_ended(merging, parts[k])) {
            name_shard(odd->missing, &first->shard, k + 1, ", which is half-written");
        } else if (!are_of_one_build(merging, first, parts[k])) {
            name_shard(odd->foreign, &first->shard, k + 1, " is of another build");
        }
    }
    return json_array_size(odd->missing) + json_array_size(odd->foreign) == wrong;
}

/* Lines of the whole, into the source of the first shard. */
static void join_parts(struct merging *merging, struct source **parts, struct oddities *odd)
{
    size_t count = parts[0]->shard.shards;
    struct error error = {.text = "out of memory"};
    json_t **sessions = calloc(count, sizeof(json_t *));
    for (size_t k = 0; sessions != NULL && k < count; k++) {
        sessions[k] = session_of(merging, parts[k]);
    }
    json_t *lines = sessions == NULL
                        ? NULL
                        : join_of(merging, parts[0])(sessions, count, &parts[0]->status, &error);
    for (size_t k = 0; sessions != NULL && k < count; k++) {
        parts[k]->part = lines != NULL;
        json_decref(sessions[k]);
    }
    if (lines == NULL && sessions != NULL) {
        json_array_append_new(odd->foreign, json_sprintf("the shards of %.150s: %s",
                                                         parts[0]->shard.campaign, error.text));
    }
    parts[0]->joined = lines;
    free(sessions);
}

/* The first source of its campaign. */
static bool is_first_of_campaign(const struct merging *merging, int index)
{
    for (int i = 0; i < index; i++) {
        if (are_of_one_campaign(&merging->sources[i], &merging->sources[index])) {
            return false;
        }
    }
    return merging->sources[index].is_shard;
}

static void join_all(struct merging *merging, struct oddities *odd)
{
    for (int i = 0; i < merging->from.count; i++) {
        note_shard(merging, &merging->sources[i]);
    }
    for (int i = 0; i < merging->from.count; i++) {
        struct source *first = &merging->sources[i];
        struct source **parts = !is_first_of_campaign(merging, i)
                                    ? NULL
                                    : calloc(first->shard.shards, sizeof(struct source *));
        if (parts != NULL && find_parts(merging, first, parts, odd)) {
            join_parts(merging, parts, odd);
        }
        free(parts);
    }
}

/* The finding is the line of a shard itself: each may have one of its name, and of the same seed. */
static bool is_verbatim(const struct source *first, const json_t *finding)
{
    return first->joined != NULL && json_object_get(finding, line_key_text(LINE_KEY_verb)) != NULL;
}

/* The folder of the shard that has this finding of the whole. */
static const char *folder_of(const struct merging *merging, const struct source *first,
                             const json_t *finding)
{
    for (int i = 0; i < merging->from.count; i++) {
        const struct source *source = &merging->sources[i];
        for (size_t l = source->first; are_of_one_campaign(first, source) && l < source->end; l++) {
            const json_t *line = json_array_get(merging->evidence.lines, l);
            if (line_is(line, LINE_FINDING) &&
                line_text_is(line_get_name(line), line_get_name(finding)) &&
                line_get_seed(line) == line_get_seed(finding) &&
                (!is_verbatim(first, finding) || line == finding)) {
                return merging->from.positional[i];
            }
        }
    }
    return NULL;
}

/* A session as the campaign without shards has it: where it began is where its first shard did. */
static void write_joined(struct merging *merging, const struct source *first)
{
    size_t i;
    json_t *line;
    json_t *begin = json_copy(json_array_get(merging->evidence.lines, first->first));
    line_add(begin, line_command(first->shard.campaign));
    artefacts_note(&merging->files, json_incref(begin));
    json_array_foreach(first->joined, i, line)
    {
        const char *folder = line_is(line, LINE_FINDING) ? folder_of(merging, first, line) : NULL;
        if (folder != NULL) {
            copy_finding(merging, folder, line_get_name(line), line_get_name(line));
        }
        artefacts_note(&merging->files, plain_copy(line));
    }
    results_note_verdict(&merging->files, begin, first->joined, first->status);
    json_decref(begin);
}

/* Campaigns in the order of their commands, whatever the order of folders. */
static void write_all_joined(struct merging *merging)
{
    const struct source *last = NULL;
    for (;;) {
        const struct source *next = NULL;
        for (int i = 0; i < merging->from.count; i++) {
            const struct source *source = &merging->sources[i];
            bool later = last == NULL || (source->joined != NULL &&
                                          strcmp(source->shard.campaign, last->shard.campaign) > 0);
            if (source->joined != NULL && later &&
                (next == NULL || strcmp(source->shard.campaign, next->shard.campaign) < 0)) {
                next = source;
            }
        }
        if (next == NULL) {
            return;
        }
        write_joined(merging, next);
        last = next;
    }
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

/* Whether shards are left that are no whole campaign. */
static bool has_loose_shards(const struct merging *merging)
{
    for (int i = 0; i < merging->from.count; i++) {
        const struct source *source = &merging->sources[i];
        for (size_t l = source->first; !source->part && !source->doubled && l < source->end; l++) {
            const json_t *line = json_array_get(merging->evidence.lines, l);
            if (line_is(line, LINE_SUMMARY) && line_get_shards(line) > 1) {
                return true;
            }
        }
    }
    return false;
}

/* A session of its own, so that what it found counts like any other. */
static void add_session(struct merging *merging, struct oddities *odd)
{
    size_t wrong = json_array_size(odd->missing) + json_array_size(odd->foreign);
    bool loose = has_loose_shards(merging);
    if (loose || wrong + json_array_size(odd->doubled) > 0) {
        results_note_begin(&merging->files, &cli_merge);
        artefacts_note(&merging->files,
                       line_make(LINE_SHARDS, line_missing(json_incref(odd->missing)),
                                 line_doubled(json_incref(odd->doubled)),
                                 line_foreign(json_incref(odd->foreign))));
        int status = loose ? judge_gates(merging) : CLI_OK;
        results_note_end(&merging->files, wrong > 0 ? CLI_INCOMPLETE : status);
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
    struct oddities odd = {json_array(), json_array(), json_array()};
    join_all(merging, &odd);
    write_all_joined(merging);
    for (int i = 0; i < merging->from.count; i++) {
        const struct source *source = &merging->sources[i];
        if (!source->again && !source->part && !source->doubled) {
            merge_findings(merging, i);
            copy_lines(merging, source);
        }
    }
    add_session(merging, &odd);
    json_decref(odd.missing);
    json_decref(odd.doubled);
    json_decref(odd.foreign);
    return artefacts_close(&merging->files) ? merge_tell(merging) : merge_complain(merging);
}

static int merge_verb(void *request)
{
    struct merging *merging = request;
    evidence_begin(&merging->evidence);
    int status = merge(merging);
    for (int i = 0; i < merging->from.count; i++) {
        json_decref(merging->sources[i].joined);
    }
    evidence_free(&merging->evidence);
    return status;
}

const struct cli_verb cli_merge = {.name = "merge",
                                   .about = "the results of many runs as one",
                                   .options = options,
                                   .option_count = COUNT(options),
                                   .request_size = sizeof(struct merging),
                                   .run = merge_verb};
