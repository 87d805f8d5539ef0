/* assay bench: the benchmarks. */
#include "cli/bench.h"

#include "cli/options.h"
#include "cli/results.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

struct request {
    struct cli_arguments names;
    const char *out;
    struct bench_options of;
};

static const struct option options[] = {
    {ARGUMENTS_ROW(struct request, names, "NAME", false), .names = NAMES_OF_NOTHING,
     .about = "a benchmark, as above; all without it"},
    {COUNTED_ROW(struct request, of.seqs_max, "--max", "SEQS", 1000, BENCH_SEQS_MAX),
     .usual = BENCH_SEQS_MAX, .about = "seq: the largest ledger, which takes 2 GB and a minute"},
    {NUMBER_ROW(struct request, of.seeds, "--seeds", 1, 10000000), .usual = 20000,
     .about = "sim: runs of a measurement"},
    {FLAG_ROW(struct request, of.long_one, "--long"),
     .about = "explore: also the scope that SPIN cannot finish in 8 GB, which takes it many "
              "minutes to find out"},
    {NUMBER_ROW(struct request, of.seconds, "--seconds", 1, 60), .usual = 3,
     .about = "real: of a measurement; all of it takes some minutes"},
    {TEXT_ROW(struct request, of.peers, "--peers", "DIR"),
     .about = "real: a folder in which npm has installed the peers; without it npm installs them "
              "into a temporary one, which takes a registry"},
    {FLAG_ROW(struct request, of.no_peers, "--no-peers"),
     .about = "real: without the peers; where they cannot be had the status is 4 otherwise"},
    {FLAG_ROW(struct request, of.json, "--json"), .again = AGAIN_NEVER,
     .about = "JSON lines: one object a line"},
    {OUT_ROW(struct request, "figures and bars, and a report of them,")},
};

double bench_now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* What the benchmarks say, for --out. */
static struct artefacts results;

static bool judge(bool json, const char *what, double figure, double bar, bool met)
{
    printf(json ? "{\"type\":\"bar\",\"what\":\"%s\",\"figure\":%.2f,\"bar\":%.2f,\"met\":%s}\n"
                : "  %s: %.2f, bar %.2f: %s\n",
           what, figure, bar, json ? (met ? "true" : "false") : (met ? "met" : "MISSED"));
    artefacts_note(&results, json_pack("{s:s, s:s, s:f, s:f, s:b}", "type", "bar", "what", what,
                                       "figure", figure, "bar", bar, "met", met));
    return met;
}

bool bench_at_most(bool json, const char *what, double figure, double bar)
{
    return judge(json, what, figure, bar, figure <= bar);
}

bool bench_at_least(bool json, const char *what, double figure, double bar)
{
    return judge(json, what, figure, bar, figure >= bar);
}

void bench_note(bool json, const char *what, double figure)
{
    printf(json ? "{\"type\":\"figure\",\"what\":\"%s\",\"figure\":%.2f}\n" : "  %s: %.2f\n", what,
           figure);
    artefacts_note(&results,
                   json_pack("{s:s, s:s, s:f}", "type", "figure", "what", what, "figure", figure));
}

static const struct {
    const char *name;
    int (*run)(const struct bench_options *options);
} benches[] = {
    {"seq", bench_seq}, {"sim", bench_sim}, {"explore", bench_explore}, {"real", bench_real}};
#define BENCHES (sizeof benches / sizeof *benches)

static bool is_wanted(const struct cli_arguments *arguments, const char *name)
{
    for (int i = 0; i < arguments->count; i++) {
        if (strcmp(arguments->positional[i], name) == 0) {
            return true;
        }
    }
    return arguments->count == 0;
}

static int check_names(const struct cli_arguments *arguments)
{
    for (int i = 0; i < arguments->count; i++) {
        bool known = false;
        for (size_t b = 0; b < BENCHES; b++) {
            known = known || strcmp(arguments->positional[i], benches[b].name) == 0;
        }
        if (!known) {
            return cli_usage_error(&cli_bench,
                                   "'%s' is no benchmark: there are seq, sim, explore and real",
                                   cli_quote(arguments->positional[i]).text);
        }
    }
    return CLI_OK;
}

static int run_verb(void *asked)
{
    const struct request *request = asked;
    int status = check_names(&request->names);
    if (status == CLI_OK) {
        status = results_open(&results,
                              &(struct results_plan){.verb = &cli_bench, .folder = request->out});
    }
    if (status != CLI_OK) {
        return status;
    }
    for (size_t b = 0; b < BENCHES && status != CLI_USAGE && status != CLI_UNAVAILABLE; b++) {
        if (is_wanted(&request->names, benches[b].name)) {
            int ended = benches[b].run(&request->of);
            status = ended == CLI_OK ? status : ended; /* a bar that is missed stops nothing */
        }
    }
    return results_close(&results, &cli_bench, status);
}

const struct cli_verb cli_bench = {.name = "bench",
                                   .about = "the benchmarks, with ratios",
                                   .options = options,
                                   .option_count = sizeof options / sizeof *options,
                                   .request_size = sizeof(struct request),
                                   .run = run_verb};
