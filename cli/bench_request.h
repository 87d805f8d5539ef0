/* What `assay bench` is asked for: its table is part of assay, which has its help and completion, and
 * of assay-bench, which reads it. */
#ifndef CLI_BENCH_REQUEST_H
#define CLI_BENCH_REQUEST_H

#include "cli/options.h"

#define BENCH_SEQS_MAX UINT64_C(100000000)

struct bench_options {
    bool json;
    uint64_t seqs_max; /* seq: the largest ledger */
    uint64_t seeds;    /* sim: runs of a measurement */
    bool long_one;     /* explore: also what takes SPIN many minutes */
    uint64_t seconds;  /* real: of a measurement */
    const char *peers; /* real: a folder that has the peers; NULL: they are installed */
    bool no_peers;     /* real: they are left out */
};

struct bench_request {
    struct cli_arguments names;
    const char *out;
    struct bench_options of;
};

#define BENCH_ROWS 9
extern const struct option bench_rows[BENCH_ROWS];

#endif
