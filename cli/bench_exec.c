/* assay bench: hands over to assay-bench, which lies beside assay, so that the product holds no
 * benchmark and nothing that it is measured beside. */
#include "cli/bench_request.h"
#include "cli/program.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct option bench_rows[BENCH_ROWS] = {
    {ARGUMENTS_ROW(struct bench_request, names, "NAME", false), .names = NAMES_OF_NOTHING,
     .about = "a benchmark, as above; all without it"},
    {COUNTED_ROW(struct bench_request, of.seqs_max, "--max", "SEQS", 1000, BENCH_SEQS_MAX),
     .usual = BENCH_SEQS_MAX, .about = "seq: the largest ledger, which takes 2 GB and a minute"},
    {NUMBER_ROW(struct bench_request, of.seeds, "--seeds", 1, 10000000), .usual = 20000,
     .about = "sim: runs of a measurement"},
    {FLAG_ROW(struct bench_request, of.long_one, "--long"),
     .about = "explore: also the scope that SPIN cannot finish in 8 GB, which takes it many "
              "minutes to find out"},
    {NUMBER_ROW(struct bench_request, of.seconds, "--seconds", 1, 60), .usual = 3,
     .about = "real: of a measurement; all of it takes some minutes"},
    {TEXT_ROW(struct bench_request, of.peers, "--peers", "DIR"),
     .about = "real: a folder in which npm has installed the peers; without it npm installs them "
              "into a temporary one, which takes a registry"},
    {FLAG_ROW(struct bench_request, of.no_peers, "--no-peers"),
     .about = "real: without the peers; where they cannot be had the status is 4 otherwise"},
    {FLAG_ROW(struct bench_request, of.json, "--json"), .again = AGAIN_NEVER,
     .about = "JSON lines: one object a line"},
    {OUT_ROW(struct bench_request, "figures and bars, and a report of them,")},
};

static int pass(int argc, char **argv)
{
    (void)argc;
    struct program_path path = program_beside("assay-bench");
    fflush(stdout);
    execv(path.text, argv);
    fprintf(stderr, "assay bench: %s cannot be started: build assay-bench, and leave it there\n",
            path.text);
    return CLI_UNAVAILABLE;
}

const struct cli_verb cli_bench = {.name = "bench",
                                   .about = "the benchmarks, with ratios",
                                   .options = bench_rows,
                                   .option_count = BENCH_ROWS,
                                   .request_size = sizeof(struct bench_request),
                                   .pass = pass};
