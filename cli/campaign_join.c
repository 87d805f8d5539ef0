#include "cli/campaign_join.h"

#include "cli/campaign_tell.h"
#include "cli/cli.h"
#include "cli/load.h"
#include "reports/evidence.h"
#include "reports/line.h"
#include "verify/one_run.h"

#include <stdlib.h>
#include <string.h>

/* ---- commands -------------------------------------------------------------------------------- */

/* Whether the word is this option, and how many words it takes: --shard 1/2, or --shard=1/2. */
static int words_of(const char *word, size_t length, const char *option, bool has_value)
{
    size_t size = strlen(option);
    if (length < size || strncmp(word, option, size) != 0) {
        return 0;
    }
    return length == size ? 1 + has_value : word[size] == '=' && has_value ? 1 : 0;
}

/* How many words from here on do not name the campaign. */
static int words_to_drop(const char *word, size_t length)
{
    static const struct {
        const char *option;
        bool has_value;
    } dropped[] = {{"--shard", true}, {"--out", true}, {"--jobs", true}, {"--json", false}};
    for (size_t i = 0; i < COUNT(dropped); i++) {
        int words = words_of(word, length, dropped[i].option, dropped[i].has_value);
        if (words > 0) {
            return words;
        }
    }
    return 0;
}

static bool read_shard(const char *word, struct campaign_shard *shard)
{
    const char *value = strncmp(word, "--shard=", 8) == 0   ? word + 8
                        : strncmp(word, "--shard ", 8) == 0 ? word + 8
                                                            : "";
    return sscanf(value, "%lu/%lu", &shard->shard, &shard->shards) == 2 && shard->shard >= 1 &&
           shard->shard <= shard->shards;
}

bool campaign_shard_of(const char *command, struct campaign_shard *shard)
{
    size_t used = 0;
    int skip = 0;
    bool is_shard = false;
    *shard = (struct campaign_shard){0};
    for (const char *word = command; *word != '\0';) {
        size_t length = strcspn(word, " ");
        is_shard = read_shard(word, shard) || is_shard;
        skip = skip > 0 ? skip : words_to_drop(word, length);
        if (skip == 0 && used + length + 2 < sizeof shard->campaign) {
            used += (size_t)snprintf(shard->campaign + used, sizeof shard->campaign - used,
                                     "%s%.*s", used == 0 ? "" : " ", (int)length, word);
        }
        skip -= skip > 0;
        word += length + (word[length] == ' ');
    }
    return is_shard;
}

/* ---- the plan -------------------------------------------------------------------------------- */

/* A campaign that is put together. */
struct join {
    json_t *const *sessions;
    size_t count;
    struct campaign_plan plan;
    struct campaign_work work;
    struct campaign_known *known;
    struct sabotage sabotage;
    struct error *error;
};

static bool join_lacks(struct join *join, const char *what)
{
    snprintf(join->error->text, sizeof join->error->text, "%s", what);
    return false;
}

/* The line of this type with that number among those of its type; NULL: there is none. */
static const json_t *line_at(const json_t *session, enum line_type type, size_t index)
{
    size_t i;
    json_t *line;
    json_array_foreach((json_t *)session, i, line)
    {
        if (line_is(line, type) && index-- == 0) {
            return line;
        }
    }
    return NULL;
}

static bool load_entry(struct campaign_entry *entry, const char *name)
{
    const struct protocol *protocol;
    struct error error;
    entry->scenario = malloc(sizeof *entry->scenario);
    entry->name = name;
    if (entry->scenario == NULL) {
        return false;
    }
    if (drawn_is_family(name, &protocol)) {
        drawn_family(protocol, entry->scenario);
        return true;
    }
    return scenario_load(name, entry->scenario, &error);
}

static bool load_entries(struct join *join)
{
    struct campaign_plan *plan = &join->plan;
    while (line_at(join->sessions[0], LINE_SCENARIO, plan->scenario_count) != NULL) {
        plan->scenario_count++;
    }
    plan->entries = calloc(plan->scenario_count + 1, sizeof *plan->entries);
    join->work.results = calloc(plan->scenario_count + 1, sizeof *join->work.results);
    if (plan->scenario_count == 0 || plan->entries == NULL || join->work.results == NULL) {
        return join_lacks(join, "it has no results");
    }
    for (size_t s = 0; s < plan->scenario_count; s++) {
        const json_t *line = line_at(join->sessions[0], LINE_SCENARIO, s);
        if (!load_entry(&plan->entries[s], line_get_scenario(line))) {
            return join_lacks(join, "one of its scenarios is not built in");
        }
    }
    return true;
}

/* Findings that --known listed: they are told as such again. */
static bool note_known(struct join *join)
{
    size_t room = 1, i;
    json_t *line;
    for (size_t k = 0; k < join->count; k++) {
        room += json_array_size(join->sessions[k]);
    }
    join->known = calloc(room, sizeof *join->known);
    join->plan.known = join->known;
    for (size_t k = 0; join->known != NULL && k < join->count; k++) {
        json_array_foreach(join->sessions[k], i, line)
        {
            struct campaign_known *known = &join->known[join->plan.known_count];
            const char *clause = line_get_clause(line);
            if (line_is(line, LINE_FINDING) && line_text_is(line_get_kind(line), "known") &&
                clause_find(clause, strlen(clause), &known->clause) &&
                campaign_oracle_find(line_get_oracle(line), &known->oracle)) {
                snprintf(known->scenario, sizeof known->scenario, "%s", line_get_scenario(line));
                join->plan.known_count++;
            }
        }
    }
    return join->known != NULL;
}

static bool read_plan(struct join *join)
{
    struct campaign_plan *plan = &join->plan;
    const json_t *summary = line_at(join->sessions[0], LINE_SUMMARY, 0);
    const char *strategy = line_get_strategy(summary), *bug = line_get_sabotage(summary);
    if (summary == NULL) {
        return join_lacks(join, "it has no summary");
    }
    plan->whole = line_get_every_scenario(summary);
    plan->regressions = line_get_regressions(summary);
    plan->base_seed = line_get_base_seed(summary);
    plan->jobs = (unsigned)line_get_jobs(summary);
    plan->shards = 1;
    if (!choice_strategy_read(strategy, &plan->strategy)) {
        return join_lacks(join, "its strategy is not known here");
    }
    if (bug[0] != '\0') {
        plan->sabotage = &join->sabotage;
        return sabotage_find(bug, &join->sabotage) ||
               join_lacks(join, "its planted bug is not known here");
    }
    return true;
}

/* ---- counts ---------------------------------------------------------------------------------- */

static void join_tally(struct campaign_tally *sum, const json_t *line)
{
    sum->runs += line_get_runs(line);
    sum->steps += line_get_steps(line);
    sum->transactions += line_get_transactions(line);
    sum->findings += line_get_broken_runs(line);
    sum->full += line_get_full(line);
    for (int kind = 0; kind < FAULT_KIND_COUNT; kind++) {
        sum->fired[kind] +=
            evidence_number(line_get_fired(line), fault_get((enum fault_kind)kind)->name);
    }
    for (int c = 0; c < CLAUSE_COUNT; c++) {
        sum->evaluated[c] +=
            evidence_number(line_get_evaluated(line), clause_get((enum clause_id)c)->id);
    }
    for (int i = 0; i < COVER_COUNT; i++) {
        sum->seen[i] +=
            evidence_number(line_get_seen(line), oracle_cover_text((enum oracle_cover)i));
    }
}

/* The digest of the block; false: the shard has none of that number. */
static bool block_at(const json_t *line, size_t index, uint64_t *digest)
{
    const char *blocks = line_get_blocks(line);
    char text[17] = "";
    if (strlen(blocks) < 16 * (index + 1)) {
        return false;
    }
    memcpy(text, blocks + 16 * index, 16);
    *digest = strtoull(text, NULL, 16);
    return true;
}

/* Folds the blocks of all shards in the order of their seeds. False: one lacks some. */
static bool join_digests(struct join *join, size_t s)
{
    struct campaign_result *result = &join->work.results[s];
    uint64_t block = 0, digest, all = 0;
    for (size_t k = 0; k < join->count; k++) {
        const json_t *line = line_at(join->sessions[k], LINE_SCENARIO, s);
        all += strlen(line_get_blocks(line)) / 16;
    }
    for (; block < all; block++) {
        const json_t *line = line_at(join->sessions[block % join->count], LINE_SCENARIO, s);
        if (!block_at(line, block / join->count, &digest)) {
            return join_lacks(join, "one of its shards did not get to its end");
        }
        result->digest = campaign_fold(result->digest, digest);
    }
    return result->tally.runs > (all - 1) * CAMPAIGN_BLOCK &&
                   result->tally.runs <= all * CAMPAIGN_BLOCK
               ? true
               : join_lacks(join, "its shards have not the seeds that they should have");
}

static bool bucket_of(const json_t *line, struct campaign_bucket *bucket)
{
    const char *clause = line_get_clause(line);
    *bucket = (struct campaign_bucket){.count = line_get_runs(line),
                                       .first_seed = line_get_first_seed(line),
                                       .seed = line_get_seed(line),
                                       .steps = (uint32_t)line_get_steps(line),
                                       .why = line_get_why(line)};
    return clause_find(clause, strlen(clause), &bucket->clause) &&
           campaign_oracle_find(line_get_oracle(line), &bucket->oracle);
}

/* (CA3): of equals the lowest seed. */
static void join_bucket(struct campaign_result *sum, const struct campaign_bucket *more)
{
    struct campaign_bucket *same = NULL;
    for (size_t i = 0; i < sum->bucket_count && same == NULL; i++) {
        bool is = sum->buckets[i].clause == more->clause && sum->buckets[i].oracle == more->oracle;
        same = is ? &sum->buckets[i] : NULL;
    }
    if (same == NULL) {
        sum->buckets[sum->bucket_count++] = *more;
        return;
    }
    same->count += more->count;
    same->first_seed = more->first_seed < same->first_seed ? more->first_seed : same->first_seed;
    if (more->steps < same->steps || (more->steps == same->steps && more->seed < same->seed)) {
        same->steps = more->steps;
        same->seed = more->seed;
        same->why = more->why;
    }
}

static int by_first_seed(const void *one, const void *other)
{
    uint64_t a = ((const struct campaign_bucket *)one)->first_seed,
             b = ((const struct campaign_bucket *)other)->first_seed;
    return (a > b) - (a < b);
}

static bool join_findings(struct join *join, size_t s)
{
    struct campaign_result *sum = &join->work.results[s];
    size_t i;
    json_t *line;
    for (size_t k = 0; k < join->count; k++) {
        json_array_foreach(join->sessions[k], i, line)
        {
            struct campaign_bucket bucket;
            if (!line_is(line, LINE_FINDING) ||
                !line_text_is(line_get_scenario(line), join->plan.entries[s].scenario->name)) {
                continue;
            }
            if (!bucket_of(line, &bucket)) {
                return join_lacks(join, "it has a finding that is none of a campaign");
            }
            join_bucket(sum, &bucket);
        }
    }
    qsort(sum->buckets, sum->bucket_count, sizeof *sum->buckets, by_first_seed);
    return true;
}

static bool join_scenario(struct join *join, size_t s)
{
    campaign_result_begin(&join->work.results[s]);
    for (size_t k = 0; k < join->count; k++) {
        const json_t *line = line_at(join->sessions[k], LINE_SCENARIO, s);
        if (line == NULL ||
            !line_text_is(line_get_scenario(line), join->plan.entries[s].scenario->name)) {
            return join_lacks(join, "its shards have not the same scenarios");
        }
        join_tally(&join->work.results[s].tally, line);
    }
    return join_digests(join, s) && join_findings(join, s);
}

/* Seconds add up, and runs that were made twice; no shard may have been interrupted. */
static bool join_summaries(struct join *join)
{
    for (size_t k = 0; k < join->count; k++) {
        const json_t *line = line_at(join->sessions[k], LINE_SUMMARY, 0);
        if (line == NULL || line_get_interrupted(line) ||
            line_at(join->sessions[k], LINE_DRIFT, 0) != NULL ||
            line_at(join->sessions[k], LINE_REGRESSIONS, 0) != NULL) {
            return join_lacks(join, "one of its shards did not get to its end");
        }
        join->work.seconds += line_get_seconds(line);
        join->work.results[0].tally.checked += line_get_runs(line) - line_get_seeds(line);
    }
    return true;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Why gates are not judged; NULL: they are. As in a campaign. */
static const char *join_unjudged(const struct join *join)
{
    const char *command = line_get_command(line_at(join->sessions[0], LINE_BEGIN, 0));
    uint64_t findings = campaign_findings(&join->plan, &join->work, CAMPAIGN_NEW);
    return strstr(command, " --no-gates") != NULL        ? "--no-gates"
           : join->plan.sabotage != NULL && findings > 0 ? "a bug is planted, and found"
                                                         : NULL;
}

static json_t *join_lines(struct join *join)
{
    struct campaign_report report;
    json_t *lines = NULL;
    if (campaign_report_make(&report, &join->plan, &join->work, join_unjudged(join))) {
        lines = campaign_tell_lines(&report);
        campaign_report_free(&report);
    } else {
        join_lacks(join, "not enough memory");
    }
    return lines;
}

static bool join_all(struct join *join)
{
    bool fine = load_entries(join) && read_plan(join) && note_known(join);
    for (size_t s = 0; fine && s < join->plan.scenario_count; s++) {
        fine = join_scenario(join, s);
    }
    return fine && join_summaries(join);
}

json_t *campaign_join(json_t *const sessions[], size_t count, int *status, struct error *error)
{
    struct join join = {.sessions = sessions, .count = count, .error = error};
    *status = CLI_OK;
    json_t *lines = join_all(&join) ? join_lines(&join) : NULL;
    for (size_t s = 0; s < join.plan.scenario_count && join.plan.entries != NULL; s++) {
        free(join.plan.entries[s].scenario);
    }
    free(join.plan.entries);
    free(join.work.results);
    free(join.known);
    return lines;
}
