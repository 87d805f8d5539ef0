/* The benchmarks, a file each, and what they share. Only ratios within one run on one machine are
 * comparable. A bar is judged on such a ratio, or on a rate where there is no competitor. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "cli/bench_request.h"

#include <stdint.h>

/* Options, help and the benchmarks that they ask for. */
extern const struct cli_verb bench_verb;

/* Each returns an exit status: CLI_INCOMPLETE if a bar was missed. */
int bench_seq(const struct bench_options *options);
int bench_sim(const struct bench_options *options);
int bench_explore(const struct bench_options *options);
int bench_real(const struct bench_options *options);

double bench_now_ns(void);

/* A figure and the bar that it must meet; true if it does. */
bool bench_at_most(bool json, const char *what, double figure, double bar);
bool bench_at_least(bool json, const char *what, double figure, double bar);

/* A figure without a bar. */
void bench_note(bool json, const char *what, double figure);

#endif
