#include "real/bench/load.h"

#include "faults/performer.h"
#include "model/check.h"
#include "real/driver.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_NS 500000 /* between two looks at an empty queue */
#define READY_MS 30000  /* until everybody is connected, at most */

/* What all processes of a load see. */
struct board {
    atomic_uint ready, failed;
    atomic_bool go;
    _Atomic int64_t until; /* by driver_now() */
    _Atomic uint64_t commits, refused, waits, ended;
    _Atomic double began;            /* the clock's start, by now_s() */
    struct store_pg_problem problem; /* of one that failed */
};

static void pause_a_moment(void)
{
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
}

static double now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* ---- in a process of its own ----------------------------------------------------------------- */

static bool is_over(const struct load *load, struct board *board)
{
    return driver_now() >= atomic_load(&board->until) ||
           (load->jobs != 0 && atomic_load(&board->ended) >= load->jobs);
}

static void count(struct board *board, const struct bundle *sent, const struct outcome *outcome,
                  bool was_idle)
{
    if (outcome->kind == OUTCOME_COMMITTED) {
        atomic_fetch_add(&board->commits, 1);
        if (sent->name == BUNDLE_STEP3 || sent->name == BUNDLE_STEP3_ACK) {
            atomic_fetch_add(&board->ended, 1);
        }
    } else if (was_idle) {
        atomic_fetch_add(&board->waits, 1);
        pause_a_moment();
    } else {
        atomic_fetch_add(&board->refused, 1);
    }
}

/* The client, between the jobs that warm up and those that are measured. */
static void start_clock(const struct load *load, struct board *board)
{
    while (atomic_load(&board->ended) < load->warm && !is_over(load, board)) {
        pause_a_moment();
    }
    atomic_store(&board->commits, 0);
    atomic_store(&board->refused, 0);
    atomic_store(&board->waits, 0);
    atomic_store(&board->began, now_s());
}

/* False: the store failed. */
static bool act(const struct load *load, struct board *board, struct store_pg *store,
                struct performer *performer)
{
    const struct role *role = performer->role;
    while (!is_over(load, board) && !(role->is_done != NULL && role->is_done(&performer->actor))) {
        struct bundle bundle;
        struct outcome outcome = {0};
        bool was_idle = role->is_idle(&performer->actor);
        if (role->is_done != NULL && load->warm != 0 &&
            performer->actor.is.client.job == load->warm) {
            start_clock(load, board);
        }
        performer_next(performer, load->rules, NULL, &bundle);
        if (!store_pg_execute(store, &bundle, driver_now(), &outcome)) {
            return false;
        }
        count(board, &bundle, &outcome, was_idle);
        performer_take(performer, load->rules, NULL, &bundle, &outcome, NULL);
    }
    return true;
}

static void play(const struct load *load, struct board *board, unsigned actor)
{
    struct store_pg_problem problem;
    struct performer performer;
    struct store_pg_options options = {.dsn = load->dsn,
                                       .schema = load->schema,
                                       .primitives = primitive_table,
                                       .primitive_count = PRIMITIVE_COUNT,
                                       .form = SQL_WHOLE};
    struct store_pg *store = store_pg_open(&options, &problem);
    atomic_fetch_add(&board->ready, 1);
    while (store != NULL && !atomic_load(&board->go)) {
        pause_a_moment();
    }
    performer_begin(&performer, load->rules, actor);
    if (store == NULL || !act(load, board, store, &performer)) {
        const char *why = store == NULL ? problem.text : store_pg_why_not(store);
        if (atomic_fetch_add(&board->failed, 1) == 0) {
            snprintf(board->problem.text, sizeof board->problem.text, "%.480s", why);
        }
    }
    store_pg_close(store);
}

/* ---- around them ----------------------------------------------------------------------------- */

static pid_t start(const struct load *load, struct board *board, unsigned actor)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        play(load, board, actor);
        _exit(0);
    }
    return pid;
}

/* All are connected, or one will never be. */
static void let_go(const struct load *load, struct board *board, unsigned count)
{
    int64_t late = driver_now() + READY_MS;
    while (atomic_load(&board->ready) < count && driver_now() < late) {
        pause_a_moment();
    }
    atomic_store(&board->until, driver_now() + load->ms);
    atomic_store(&board->began, now_s());
    atomic_store(&board->go, true);
}

static void tell(const struct board *board, double seconds, uint32_t warm,
                 struct load_figures *figures)
{
    *figures = (struct load_figures){.seconds = seconds,
                                     .commits = board->commits,
                                     .refused = board->refused,
                                     .waits = board->waits,
                                     .ended = board->ended - warm};
}

bool load_run(const struct load *load, struct load_figures *figures,
              struct store_pg_problem *problem)
{
    pid_t pids[PROTOCOL_ACTORS_MAX];
    unsigned count = 0, first = load->jobs == 0 ? 1 : 0;
    CHECK(load->workers < PROTOCOL_ACTORS_MAX);
    struct board *board =
        mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (board == MAP_FAILED) {
        snprintf(problem->text, sizeof problem->text, "not enough memory");
        return false;
    }
    for (unsigned actor = first; actor <= load->workers; actor++) {
        pids[count] = start(load, board, actor);
        if (pids[count] > 0) {
            count++;
        } else {
            atomic_fetch_add(&board->failed, 1);
        }
    }
    let_go(load, board, count);
    for (unsigned i = 0; i < count; i++) {
        waitpid(pids[i], NULL, 0);
    }
    tell(board, now_s() - atomic_load(&board->began), load->warm, figures);
    bool done = atomic_load(&board->failed) == 0;
    if (!done) {
        snprintf(problem->text, sizeof problem->text, "a worker failed: %.480s",
                 board->problem.text);
    } else if (load->jobs != 0 && figures->ended + load->warm < load->jobs) {
        snprintf(problem->text, sizeof problem->text, "the jobs did not end in time");
        done = false;
    }
    munmap(board, sizeof *board);
    return done;
}
