/* assay bench seq: the in-memory seq ledger. */
#include "bench/bench.h"
#include "bench/seq_workload.h"
#include "model/check.h"
#include "scenarios/pcg.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MOVES_MIN    4000000U /* of a sample, but for a small --max */
#define SAMPLES      5 /* of which the best counts; more of a small ledger, whose are short */
#define PLACES_MAX   4000000U
#define RECLAIM_SEQS 10000000U
#define THREAD_SEQS  4000000U

static const struct seq_policy policy = {
    .lease_ms = 30000, .grace_ms = 1000, .retryable_classes = ~0U, .retry_budget = 3};

struct bench {
    bool json;
    uint64_t max;       /* the largest ledger */
    uint64_t moves_min; /* of a sample */
};

/* ---- memory: huge pages where the kernel grants them, so that no TLB is measured ---- */

static void *memory_new(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return NULL;
    }
    madvise(memory, bytes, MADV_HUGEPAGE);
    memset(memory, 0, bytes); /* page faults are not measured either */
    return memory;
}

/* A fresh ledger in the same memory, its words in the cache as far as they fit. */
static struct seq_memory *ledger_renew(void *memory, uint64_t seqs)
{
    memset(memory, 0, seq_memory_bytes(seqs));
    struct seq_memory *ledger = seq_memory_init(memory, seqs, &policy);
    for (uint64_t seq = 0; seq < seqs; seq++) {
        CHECK(seq_memory_read(ledger, seq).state == SEQ_UNSEEN);
    }
    return ledger;
}

/* ---- random places ------------------------------------------------------------------------- */

/* `count` distinct places below `limit`, evenly spread and in random order. */
static uint32_t *places_new(uint64_t count, uint64_t limit)
{
    struct pcg random = pcg_stream(1, PCG_WORKLOAD);
    uint32_t *places = malloc(count * sizeof *places);
    uint32_t stride = (uint32_t)(limit / count);
    for (uint64_t i = 0; places != NULL && i < count; i++) {
        places[i] = (uint32_t)i * stride + pcg_below(&random, stride);
    }
    for (uint64_t i = count; places != NULL && i > 1; i--) {
        uint32_t j = pcg_below(&random, (uint32_t)i);
        uint32_t moved = places[i - 1];
        places[i - 1] = places[j];
        places[j] = moved;
    }
    return places;
}

/* ---- one size ------------------------------------------------------------------------------ */

struct figures {
    double window_ns;        /* per move, in order */
    double random_ns;        /* per move, at random places, a call a move, without hints */
    double random_hinted_ns; /* the same, hinted ahead */
    double random_many_ns;   /* per move, at random places, many moves a call */
    double bare_ns;          /* per bare compare-and-swap at random places */
    double bare_hinted_ns;   /* the same, hinted ahead */
};

static void keep_best(double *best, double ns)
{
    if (*best == 0 || ns < *best) {
        *best = ns;
    }
}

/* A sample is at least moves_min moves, however small the ledger: many short passes have as much
 * noise in them as one long one, and the best of them would flatter the small ledger. */
static double sample_window(const struct bench *bench, void *memory, uint64_t seqs)
{
    double ns = 0;
    uint64_t moves = 0;
    while (moves < bench->moves_min) {
        struct seq_memory *ledger = ledger_renew(memory, seqs);
        double start = bench_now_ns();
        moves += seq_workload_window(ledger, 0, seqs, 1);
        ns += bench_now_ns() - start;
        CHECK(seq_memory_count(ledger).committed == seqs);
    }
    return ns / (double)moves;
}

static double sample_places(const struct bench *bench, void *memory, uint64_t seqs,
                            const uint32_t *places, uint64_t count, enum seq_workload_calls calls)
{
    double ns = 0;
    uint64_t moves = 0;
    while (moves < bench->moves_min) {
        struct seq_memory *ledger = ledger_renew(memory, seqs);
        double start = bench_now_ns();
        moves += seq_workload_places(ledger, places, count, calls);
        ns += bench_now_ns() - start;
        CHECK(seq_memory_count(ledger).committed == count);
    }
    return ns / (double)moves;
}

/* The bare words are spread over as many bytes as the ledger has: the footprint is the same, and a
 * sample has as many swaps as one of the ledger has moves. */
static double sample_bare(const struct bench *bench, void *memory, const uint32_t *places,
                          uint64_t count, bool hint)
{
    double start = bench_now_ns();
    uint64_t swapped = 0;
    while (swapped < bench->moves_min || swapped < SEQ_WORKLOAD_MOVES * count) {
        swapped += seq_workload_bare(memory, places, count, hint);
    }
    return (bench_now_ns() - start) / (double)swapped;
}

/* On a terminal, what is under way; the next line that is printed overwrites it. */
static void show_progress(uint64_t seqs, int sample, int samples)
{
    if (isatty(STDERR_FILENO) == 1) {
        fprintf(stderr, "\r%11" PRIu64 "  sample %d of %d\r", seqs, sample, samples);
    }
}

static bool measure_size(const struct bench *bench, uint64_t seqs, struct figures *figures)
{
    size_t bytes = seq_memory_bytes(seqs);
    uint64_t words = (seq_memory_bytes(2 * seqs) - bytes) / sizeof(uint64_t);
    uint64_t count = seqs < PLACES_MAX ? seqs : PLACES_MAX;
    void *memory = memory_new(bytes);
    uint32_t *places = places_new(count, seqs);
    uint32_t *bare_places = places_new(count, words);
    bool enough = memory != NULL && places != NULL && bare_places != NULL;
    int samples = seqs < PLACES_MAX ? 3 * SAMPLES : SAMPLES;
    for (int i = 0; enough && i < samples; i++) {
        show_progress(seqs, i + 1, samples);
        keep_best(&figures->window_ns, sample_window(bench, memory, seqs));
        keep_best(&figures->random_ns,
                  sample_places(bench, memory, seqs, places, count, SEQ_WORKLOAD_ONE));
        keep_best(&figures->random_hinted_ns,
                  sample_places(bench, memory, seqs, places, count, SEQ_WORKLOAD_HINTED));
        keep_best(&figures->random_many_ns,
                  sample_places(bench, memory, seqs, places, count, SEQ_WORKLOAD_MANY));
        keep_best(&figures->bare_ns, sample_bare(bench, memory, bare_places, count, false));
        keep_best(&figures->bare_hinted_ns, sample_bare(bench, memory, bare_places, count, true));
    }
    if (memory != NULL) {
        munmap(memory, bytes);
    }
    free(places);
    free(bare_places);
    return enough;
}

/* ---- reclaim ------------------------------------------------------------------------------- */

/* Nanoseconds for each of `expired` leases that run out among the leases of a whole ledger. */
static double measure_reclaim(void *memory, uint64_t seqs, uint64_t expired)
{
    uint32_t *places = places_new(expired, seqs);
    double best_ns = 0;
    for (int i = 0; places != NULL && i < SAMPLES; i++) {
        struct seq_memory *ledger = ledger_renew(memory, seqs);
        seq_workload_lease_all(ledger, places, expired, policy.lease_ms / 2);
        CHECK(seq_workload_reclaim(ledger, policy.lease_ms - 1) == 0);
        double start = bench_now_ns();
        uint64_t reclaimed = seq_workload_reclaim(ledger, policy.lease_ms);
        keep_best(&best_ns, bench_now_ns() - start);
        CHECK(reclaimed == expired);
    }
    free(places);
    return best_ns / (double)expired;
}

/* ---- threads ------------------------------------------------------------------------------- */

struct walker {
    struct seq_memory *ledger;
    uint32_t index;
    uint64_t seqs; /* in its own range */
    uint64_t moves;
    pthread_t thread;
};

static void *walk(void *argument)
{
    struct walker *walker = argument;
    uint64_t first = walker->index * walker->seqs;
    walker->moves =
        seq_workload_window(walker->ledger, first, first + walker->seqs, walker->index + 1);
    return NULL;
}

#define WALKERS_MAX 64

/* Transitions a second of each of `threads` threads that walk one ledger side by side; 0 when there
 * is no memory for it. */
static double measure_threads(const struct bench *bench, uint32_t threads)
{
    uint64_t seqs = bench->max < THREAD_SEQS ? bench->max : THREAD_SEQS;
    struct walker walkers[WALKERS_MAX];
    size_t bytes = seq_memory_bytes(threads * seqs);
    void *memory = memory_new(bytes);
    double best_ns = 0;
    for (int pass = 0; memory != NULL && pass < SAMPLES; pass++) {
        struct seq_memory *ledger = ledger_renew(memory, threads * seqs);
        double start = bench_now_ns();
        for (uint32_t i = 0; i < threads; i++) {
            walkers[i] = (struct walker){.ledger = ledger, .index = i, .seqs = seqs};
            CHECK(pthread_create(&walkers[i].thread, NULL, walk, &walkers[i]) == 0);
        }
        for (uint32_t i = 0; i < threads; i++) {
            pthread_join(walkers[i].thread, NULL);
            CHECK(walkers[i].moves == SEQ_WORKLOAD_MOVES * seqs);
        }
        keep_best(&best_ns, bench_now_ns() - start);
    }
    if (memory != NULL) {
        munmap(memory, bytes);
    }
    return best_ns == 0 ? 0 : (double)(SEQ_WORKLOAD_MOVES * seqs) / best_ns * 1e9;
}

/* ---- the report ---------------------------------------------------------------------------- */

static void write_size(bool json, uint64_t seqs, const struct figures *of, double window_ratio)
{
    const char *format =
        json ? "{\"type\":\"bench\",\"name\":\"seq\",\"seqs\":%" PRIu64
               ",\"window_ns\":%.2f,\"window_ratio\":%.3f,\"random_ns\":%.2f,\"bare_ns\":%.2f,"
               "\"random_hinted_ns\":%.2f,\"random_many_ns\":%.2f,\"bare_hinted_ns\":%.2f}\n"
             : "%11" PRIu64 "  %7.1f %6.2fx   %9.1f %7.1f   %9.1f %8.1f %7.1f\n";
    printf(format, seqs, of->window_ns, window_ratio, of->random_ns, of->bare_ns,
           of->random_hinted_ns, of->random_many_ns, of->bare_hinted_ns);
    fflush(stdout);
}

/* A bar, its figure, and whether it is met. */
/* "At random, at most twice a bare compare-and-swap": the bar is on the way that a caller with many
 * random seqs at hand is meant to go, beside a bare loop that looks ahead as far. A call for each
 * transition is shown too. */
static bool judge_sizes(bool json, const struct figures *smallest, const struct figures *largest)
{
    bench_note(json, "random, 10^8 seqs, a call a transition over CAS, neither hinted",
               largest->random_ns / largest->bare_ns);
    bench_note(json, "random, 10^8 seqs, a call a transition over CAS, both hinted",
               largest->random_hinted_ns / largest->bare_hinted_ns);
    bool window = bench_at_most(json, "moving window, 10^8 seqs over 10^3, at most",
                                largest->window_ns / smallest->window_ns, 1.3);
    bool random =
        bench_at_most(json, "random, 10^8 seqs, many transitions a call over hinted CAS, at most",
                      largest->random_many_ns / largest->bare_hinted_ns, 2);
    return window && random;
}

static int bench_sizes(const struct bench *bench)
{
    static const uint64_t sizes[] = {1000, 100000, 10000000, 100000000};
    struct figures figures[4] = {0};
    if (!bench->json) {
        puts("nanoseconds per legal transition, and per bare load and compare-and-swap (CAS)\n"
             "             in a moving window   at random places    random, hinted ahead\n"
             "       seqs       ns  10^3 = 1   transition     CAS  transition     many     CAS");
    }
    for (size_t i = 0; i < 4 && sizes[i] <= bench->max; i++) {
        if (!measure_size(bench, sizes[i], &figures[i])) {
            fprintf(stderr, "assay bench: no memory for %" PRIu64 " seqs; try --max %" PRIu64 "\n",
                    sizes[i], sizes[i] / 10);
            return CLI_UNAVAILABLE;
        }
        write_size(bench->json, sizes[i], &figures[i], figures[i].window_ns / figures[0].window_ns);
    }
    if (bench->max < sizes[3]) {
        return CLI_OK; /* the bars are about the largest */
    }
    return judge_sizes(bench->json, &figures[0], &figures[3]) ? CLI_OK : CLI_INCOMPLETE;
}

static int bench_reclaim(const struct bench *bench)
{
    uint64_t seqs = bench->max < RECLAIM_SEQS ? bench->max : RECLAIM_SEQS;
    size_t bytes = seq_memory_bytes(seqs);
    void *memory = memory_new(bytes);
    if (memory == NULL) {
        fprintf(stderr, "assay bench: no memory for %" PRIu64 " seqs; try --max 100000\n", seqs);
        return CLI_UNAVAILABLE;
    }
    if (!bench->json) {
        printf("\nreclaiming k expired leases out of %" PRIu64 "\n          k   ns each\n", seqs);
    }
    for (uint64_t expired = 10; expired <= seqs / 10; expired *= 10) {
        double ns = measure_reclaim(memory, seqs, expired);
        printf(bench->json ? "{\"type\":\"bench\",\"name\":\"seq_reclaim\",\"expired\":%" PRIu64
                             ",\"ns_each\":%.1f}\n"
                           : "%11" PRIu64 "  %8.1f\n",
               expired, ns);
        fflush(stdout);
    }
    munmap(memory, bytes);
    return CLI_OK;
}

static int bench_threads(const struct bench *bench)
{
    uint32_t cores = cli_cores(WALKERS_MAX);
    double rate = 0;
    if (!bench->json) {
        puts("\nthreads on one ledger, each in a window of its own\n"
             "    threads   million transitions per second and core");
    }
    for (uint32_t threads = 1; threads <= cores; threads += cores > 1 ? cores - 1 : 1) {
        rate = measure_threads(bench, threads) / 1e6;
        printf(bench->json ? "{\"type\":\"bench\",\"name\":\"seq_threads\",\"threads\":%" PRIu32
                             ",\"million_per_second_per_core\":%.1f}\n"
                           : "%11" PRIu32 "   %.1f\n",
               threads, rate);
        fflush(stdout);
    }
    if (bench->max < THREAD_SEQS) {
        return CLI_OK;
    }
    bool met = bench_at_least(
        bench->json, "million transitions per second and core, all cores, at least", rate, 30);
    return met ? CLI_OK : CLI_INCOMPLETE;
}

int bench_seq(const struct bench_options *options)
{
    uint64_t max = options->seqs_max;
    struct bench bench = {.json = options->json,
                          .max = max,
                          .moves_min = max < MOVES_MIN / 100 ? 100 * max : MOVES_MIN};
    int (*const parts[])(const struct bench *) = {bench_sizes, bench_reclaim, bench_threads};
    int status = CLI_OK;
    for (size_t i = 0; i < 3 && status != CLI_UNAVAILABLE; i++) {
        int ended = parts[i](&bench);
        status = ended == CLI_OK ? status : ended; /* a bar that is missed stops nothing */
    }
    return status;
}
