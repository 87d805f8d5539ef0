#include "cli/sweep_join.h"

#include "cli/cli.h"
#include "cli/sweep_counts.h"
#include "reports/evidence.h"
#include "reports/line.h"
#include "verify/counts.h"

#include <stdlib.h>

/* A sweep that is put together. */
struct join {
    json_t *const *sessions;
    size_t count;
    struct sweep_report report; /* of the blocks so far */
    uint64_t evaluated[CLAUSE_COUNT], seen[COVER_COUNT];
};

/* The block with that number, of the shard that has it; NULL: the shard has no such. */
static const json_t *block_of(const struct join *join, uint64_t block)
{
    size_t i;
    json_t *line;
    json_array_foreach(join->sessions[block % join->count], i, line)
    {
        if (line_is(line, LINE_SWEEP_BLOCK) && line_get_block(line) == block) {
            return line;
        }
    }
    return NULL;
}

/* The first line of the type; NULL: there is none. */
static json_t *line_of(const json_t *session, enum line_type type)
{
    size_t i;
    json_t *line;
    json_array_foreach((json_t *)session, i, line)
    {
        if (line_is(line, type)) {
            return line;
        }
    }
    return NULL;
}

static void add_block(struct join *join, const json_t *line)
{
    struct sweep_report *sum = &join->report;
    size_t i;
    json_t *part;
    uint64_t digest = strtoull(line_get_digest(line), NULL, 16), runs = line_get_runs(line);
    sum->digest = sweep_fold(sum->digest, digest, runs);
    sum->runs += runs;
    sum->steps += line_get_steps(line);
    sum->broken = line_get_is_broken(line);
    json_array_foreach(line_get_points(line), i, part)
    {
        if (i < SWEEP_DEPTH_MAX) {
            sum->points[i] += (uint64_t)json_integer_value(part);
        }
    }
    sweep_add_crash_points(sum, line_get_crash_points(line));
    for (int c = 0; c < CLAUSE_COUNT; c++) {
        join->evaluated[c] +=
            evidence_number(line_get_evaluated(line), clause_get((enum clause_id)c)->id);
    }
    for (int p = 0; p < COVER_COUNT; p++) {
        join->seen[p] +=
            evidence_number(line_get_seen(line), oracle_cover_text((enum oracle_cover)p));
    }
}

/* All blocks, or those up to the first that broke a promise, which is that of `broken`. */
static bool add_blocks(struct join *join, size_t *broken, struct error *error)
{
    uint64_t block = 0, all = 0;
    for (size_t k = 0; k < join->count; k++) {
        size_t i;
        json_t *line;
        json_array_foreach(join->sessions[k], i, line)
        {
            all += line_is(line, LINE_SWEEP_BLOCK);
        }
    }
    for (const json_t *line; !join->report.broken && (line = block_of(join, block)) != NULL;
         block++) {
        *broken = block % join->count;
        add_block(join, line);
    }
    if (!join->report.broken && block < all) {
        snprintf(error->text, sizeof error->text, "its shards lack block %lu of %lu",
                 (unsigned long)block, (unsigned long)all);
        return false;
    }
    return true;
}

/* Every shard swept the same run, to its end. */
static bool are_complete(const struct join *join, struct error *error)
{
    const json_t *first = line_of(join->sessions[0], LINE_SWEEP);
    for (size_t k = 0; k < join->count; k++) {
        const json_t *line = line_of(join->sessions[k], LINE_SWEEP);
        bool ended = line != NULL && (line_get_complete(line) || line_get_is_broken(line));
        if (!ended || line_get_transactions(line) != line_get_transactions(first)) {
            snprintf(error->text, sizeof error->text, "one of its shards did not get to its end");
            return false;
        }
    }
    return true;
}

/* The line of the whole: what no block counts is as a shard has it. */
static json_t *whole_line(const struct join *join, const json_t *of)
{
    const struct sweep_report *report = &join->report;
    json_t *line = json_copy((json_t *)of);
    json_object_del(line, line_key_text(LINE_KEY_shard));
    json_object_del(line, line_key_text(LINE_KEY_shards));
    line_add(line, line_points(sweep_points(report->points, line_get_depth(of))),
             line_runs(report->runs), line_steps(report->steps), line_crashes(sweep_fired(report)),
             line_digest(report->digest), line_is_broken(report->broken),
             line_fired(sweep_fired_kinds(report)), line_crash_points(sweep_crash_points(report)),
             line_evaluated(counts_evaluated(join->evaluated)), line_seen(counts_seen(join->seen)));
    return line;
}

json_t *sweep_join(json_t *const sessions[], size_t count, int *status, struct error *error)
{
    struct join join = {.sessions = sessions, .count = count};
    size_t broken = 0;
    *status = CLI_OK;
    if (!are_complete(&join, error) || !add_blocks(&join, &broken, error)) {
        return NULL;
    }
    const json_t *session = sessions[join.report.broken ? broken : 0];
    json_t *lines = json_array(), *finding = line_of(session, LINE_FINDING);
    json_array_append_new(lines, whole_line(&join, line_of(session, LINE_SWEEP)));
    if (join.report.broken && finding != NULL) {
        json_array_append(lines, finding);
    }
    return lines;
}
