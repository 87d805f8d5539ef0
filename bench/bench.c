/* assay bench: the benchmarks. */
#include "bench/bench.h"

#include "cli/results.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const char help[] =
    "usage: assay bench [seq] [sim] [explore] [real] [--max SEQS] [--seeds N] [--long]\n"
    "                   [--seconds N] [--peers DIR] [--no-peers] [--json] [--out DIR]\n"
    "\n"
    "  seq  nanoseconds per legal transition of the in-memory seq ledger from 10^3 to 10^8 seqs: "
    "in\n"
    "       order within a moving window, and at random places beside a bare compare-and-swap at\n"
    "       the same places of as much memory; the cost of reclaiming expired leases; and\n"
    "       transitions per second and core\n"
    "  sim  the simulation with all oracles on: steps and complete runs per second and core "
    "beside\n"
    "       the transitions per second of a SPIN verifier of the same protocol; cost per activity\n"
    "       and per job as they grow; memory\n"
    "  explore  exhaustive search beside SPIN's verifier of the same protocol: equal numbers of\n"
    "       states over twelve scopes; seconds and bytes for the same questions; two cores beside\n"
    "       one; some minutes\n"
    "  real the engines on a private PostgreSQL with fsync on: whole Leg2 messages per second of\n"
    "       1, 4 and 16 workers beside pgbench with the same statements in the same transactions,\n"
    "       and beside the least SQL that the protocol can be written in; jobs of three "
    "activities\n"
    "       per second beside DBOS, graphile-worker and pg-boss; what a job costs\n"
    "\n"
    "  --max SEQS  seq: the largest ledger (default 100000000: 2 GB and about a minute)\n"
    "  --seeds N   sim: runs of a measurement (default 20000)\n"
    "  --long      explore: also the scope that SPIN cannot finish in 8 GB, which takes it many\n"
    "              minutes to find out\n"
    "  --seconds N real: of a measurement (default 3; all of it takes some minutes)\n"
    "  --peers DIR real: a folder in which npm has installed the peers; without it npm installs\n"
    "              them into a temporary one, which takes a registry\n"
    "  --no-peers  real: without the peers; where they cannot be had the status is 4 otherwise\n"
    "  --json      one JSON object a line\n"
    "  --out DIR   keep figures and bars, and a report of them, there; DIR must be empty or new\n"
    "\n"
    "Without a name, all of them. Each figure is the best of some samples; the machine should be\n"
    "otherwise idle. A caller that knows its next seqs can hint them with seq_prefetch, or have "
    "many\n"
    "moved by one call, as by seq_order_many. Exit status 4 if a bar is missed.\n"
    "\n"
    "example: assay bench seq --max 10000000\n";

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
            return cli_usage_error(&bench_verb,
                                   "'%s' is no benchmark: there are seq, sim, explore and real",
                                   cli_quote(arguments->positional[i]).text);
        }
    }
    return CLI_OK;
}

static int run(int argc, char **argv)
{
    const char *max = NULL, *seeds = NULL, *seconds = NULL, *out = NULL;
    struct bench_options wanted = {.seqs_max = BENCH_SEQS_MAX, .seeds = 20000, .seconds = 3};
    const struct cli_option options[] = {
        {"--max", &max, NULL},          {"--seeds", &seeds, NULL},
        {"--out", &out, NULL},          {"--long", NULL, &wanted.long_one},
        {"--seconds", &seconds, NULL},  {"--peers", &wanted.peers, NULL},
        {"--json", NULL, &wanted.json}, {"--no-peers", NULL, &wanted.no_peers}};
    struct cli_arguments arguments;
    int status =
        cli_parse(&bench_verb, argc, argv, options, sizeof options / sizeof *options, &arguments);
    status = status != CLI_OK ? status : check_names(&arguments);
    status = status != CLI_OK ? status
                              : cli_number_option(&bench_verb, "--max", max, 1000, BENCH_SEQS_MAX,
                                                  &wanted.seqs_max);
    status = status != CLI_OK
                 ? status
                 : cli_number_option(&bench_verb, "--seeds", seeds, 1, 10000000, &wanted.seeds);
    status = status != CLI_OK
                 ? status
                 : cli_number_option(&bench_verb, "--seconds", seconds, 1, 60, &wanted.seconds);
    status =
        status != CLI_OK
            ? status
            : results_open(&results, &(struct results_plan){.verb = &bench_verb, .folder = out});
    if (status != CLI_OK) {
        return status;
    }
    for (size_t b = 0; b < BENCHES && status != CLI_USAGE && status != CLI_UNAVAILABLE; b++) {
        if (is_wanted(&arguments, benches[b].name)) {
            int ended = benches[b].run(&wanted);
            status = ended == CLI_OK ? status : ended; /* a bar that is missed stops nothing */
        }
    }
    return results_close(&results, &bench_verb, status);
}

const struct cli_verb bench_verb = {
    .name = "bench", .about = "the benchmarks, with ratios", .help = help, .run = run};
