#include "reports/seeds.h"

#include "reports/evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What one line says was drawn. */
struct draw {
    const char *scenario, *strategy;
    uint64_t first, last, shard, shards;
    uint64_t runs; /* 0: another line has these seeds */
    bool breaks;
};

static struct draw draw_of(const json_t *line)
{
    return (struct draw){.scenario = line_get_scenario(line),
                         .strategy = line_get_strategy(line),
                         .first = line_get_base_seed(line),
                         .last = line_get_last_seed(line),
                         .shard = line_get_shard(line),
                         .shards = line_get_shards(line),
                         .runs = line_get_runs(line),
                         .breaks = line_get_breaks(line)[0] != '\0'};
}

/* Shards of one campaign have no seed in common. */
static bool overlap(const struct draw *a, const struct draw *b)
{
    bool shards = a->first == b->first && a->shards == b->shards && a->shard != b->shard;
    return strcmp(a->scenario, b->scenario) == 0 && strcmp(a->strategy, b->strategy) == 0 &&
           !shards && a->first <= b->last && b->first <= a->last;
}

/* Either the draw, or those before it that it overlaps, whichever are more seeds. */
static void keep_more(struct draw *draws, size_t index)
{
    uint64_t before = 0;
    for (size_t i = 0; i < index; i++) {
        before += overlap(&draws[i], &draws[index]) ? draws[i].runs : 0;
    }
    if (before >= draws[index].runs) {
        draws[index].runs = 0;
        return;
    }
    for (size_t i = 0; i < index; i++) {
        draws[i].runs = overlap(&draws[i], &draws[index]) ? 0 : draws[i].runs;
    }
}

static size_t collect(const json_t *lines, struct draw *draws)
{
    size_t count = 0, i;
    json_t *line;
    json_array_foreach((json_t *)lines, i, line)
    {
        if (line_is(line, LINE_SCENARIO) && !evidence_is_planted(line) &&
            !line_get_partly_judged(line)) {
            draws[count] = draw_of(line);
            keep_more(draws, count++);
        }
    }
    return count;
}

/* The draws of the scenario that `first` is the first draw of; 0: it is not. */
static uint64_t of_scenario(const struct draw *draws, size_t count, size_t first)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(draws[i].scenario, draws[first].scenario) == 0) {
            if (i < first) {
                return 0;
            }
            sum += draws[i].runs;
        }
    }
    return sum;
}

/* With N runs and no finding, what a run meets with a probability above this would have been met:
 * (1 - p)^N = 1 - confidence. */
static double excluded(uint64_t runs)
{
    return runs == 0 ? 1 : -expm1(log(1 - SEEDS_CONFIDENCE) / (double)runs);
}

struct seeds seeds_count(const json_t *lines)
{
    struct seeds seeds = {0};
    struct draw *draws = calloc(json_array_size(lines) + 1, sizeof *draws);
    size_t count = draws == NULL ? 0 : collect(lines, draws);
    for (size_t i = 0; i < count; i++) {
        uint64_t runs = of_scenario(draws, count, i);
        seeds.all += runs;
        if (runs == 0 || draws[i].breaks) {
            continue;
        }
        seeds.held += runs;
        seeds.scenarios++;
        if (seeds.weakest == NULL || runs < seeds.least) {
            seeds.weakest = draws[i].scenario;
            seeds.least = runs;
        }
    }
    seeds.probability = excluded(seeds.least);
    free(draws);
    return seeds;
}
