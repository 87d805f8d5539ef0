/* assay bench: the benchmarks. */
#include "bench/bench.h"

#include "cli/results.h"
#include "model/check.h"
#include "reports/line.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

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
    artefacts_note(&results, line_make(LINE_BAR, line_what(what), line_figure(figure),
                                       line_bar(bar), line_met(met)));
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
    artefacts_note(&results, line_make(LINE_FIGURE, line_what(what), line_figure(figure)));
}

static const struct {
    const char *name;
    int (*run)(const struct bench_options *options);
} benches[] = {
    {"seq", bench_seq}, {"sim", bench_sim}, {"explore", bench_explore}, {"real", bench_real}};
#define BENCHES COUNT(benches)

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

static int run_verb(void *asked)
{
    const struct bench_request *request = asked;
    int status = check_names(&request->names);
    if (status == CLI_OK) {
        status = results_open(&results,
                              &(struct results_plan){.verb = &bench_verb, .folder = request->out});
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
    return results_close(&results, &bench_verb, status);
}

const struct cli_verb bench_verb = {.name = "bench",
                                    .about = "the benchmarks, with ratios",
                                    .options = bench_rows,
                                    .option_count = BENCH_ROWS,
                                    .request_size = sizeof(struct bench_request),
                                    .run = run_verb};
