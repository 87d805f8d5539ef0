#include "bench/load.h"

#include "faults/performer.h"
#include "model/activity_engine.h"
#include "model/check.h"
#include "real/driver.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_NS      500000  /* between two looks at an empty queue, at first */
#define PAUSE_NS_MAX  8000000 /* ... when many were in vain */
#define READY_MS      30000   /* until everybody is connected, at most */
#define PROCESSES_MAX 64

/* What all processes of a load see. */
struct board {
    atomic_uint ready, failed;
    atomic_bool go, measuring;
    _Atomic int64_t until; /* by driver_now() */
    _Atomic uint64_t commits, refused, waits, ended, tasks;
    _Atomic double began, stopped; /* the clock's start and end, by now_s() */
    struct error error;            /* of one that failed */
};

static void pause_ns(long ns)
{
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

static double now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void fail(struct board *board, const char *why)
{
    if (atomic_fetch_add(&board->failed, 1) == 0) {
        snprintf(board->error.text, sizeof board->error.text, "%.480s", why);
    }
}

/* ---- tasks, in a process of their own -------------------------------------------------------- */

struct task {
    int64_t node, input;
};

/* Until its worker is gone. */
static _Noreturn void run_tasks(int link)
{
    struct task task;
    while (read(link, &task, sizeof task) == (ssize_t)sizeof task) {
        int64_t output = graph_output((uint16_t)task.node, task.input);
        if (write(link, &output, sizeof output) != (ssize_t)sizeof output) {
            break;
        }
    }
    _exit(0);
}

/* The process that runs a worker's tasks, and the link to it. */
struct runner {
    pid_t pid; /* 0: none */
    int link;
};

/* It ends when its worker does: then the link breaks. */
static bool start_runner(struct runner *runner)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        return false;
    }
    runner->pid = fork();
    if (runner->pid == 0) {
        (void)close(ends[0]);
        run_tasks(ends[1]);
    }
    (void)close(ends[1]);
    runner->link = ends[0];
    return runner->pid > 0;
}

static void end_runner(const struct runner *runner)
{
    if (runner->pid > 0) {
        (void)close(runner->link);
        (void)waitpid(runner->pid, NULL, 0);
    }
}

/* A worker that is about to answer has its task run, and answers what came back. */
static bool answer_task(struct board *board, const struct runner *runner,
                        const struct performer *performer, struct bundle *bundle)
{
    if (bundle->name != BUNDLE_ANSWER && bundle->name != BUNDLE_ANSWER_ACK) {
        return true;
    }
    const int64_t *message = performer->role->message(&performer->actor);
    struct task task = {.node = message[1 + MESSAGE_NODE], .input = message[1 + MESSAGE_CONTENT]};
    int64_t output;
    CHECK(ACTOR_IS(&performer->actor, activity_worker)->answered ==
          0); /* graphs without pending answers */
    if (write(runner->link, &task, sizeof task) != (ssize_t)sizeof task ||
        read(runner->link, &output, sizeof output) != (ssize_t)sizeof output) {
        return false;
    }
    for (uint8_t c = 0; c < bundle->count; c++) {
        if (bundle->calls[c].primitive == PRIMITIVE_PUBLISH ||
            bundle->calls[c].primitive == PRIMITIVE_PUBLISH_HELD) {
            bundle->params[bundle->calls[c].params + 1 + MESSAGE_CONTENT] = output;
        }
    }
    atomic_fetch_add(&board->tasks, 1);
    return true;
}

/* ---- an actor, in a process of its own ------------------------------------------------------- */

struct player {
    const struct load *load;
    struct board *board;
    struct store_pg *store;
    struct performer performer;
    unsigned number; /* of the clients, or of the workers */
    bool is_client;
    struct runner runner; /* of a worker's tasks */
    long pause_ns;        /* after the next look in vain */
};

static uint32_t all_jobs(const struct load *load)
{
    return load->warm + load->jobs;
}

static bool is_over(const struct load *load, struct board *board)
{
    return driver_now() >= atomic_load(&board->until) || atomic_load(&board->failed) != 0 ||
           (all_jobs(load) != 0 && atomic_load(&board->ended) >= all_jobs(load));
}

/* Idle workers leave the machine to those who are not. */
static void wait_for_work(struct player *player)
{
    pause_ns(player->pause_ns);
    player->pause_ns =
        player->pause_ns * 2 < PAUSE_NS_MAX ? player->pause_ns * 2 : (long)PAUSE_NS_MAX;
}

static void count(struct player *player, const struct bundle *sent, const struct outcome *outcome,
                  bool was_idle)
{
    struct board *board = player->board;
    if (outcome->kind == OUTCOME_COMMITTED) {
        player->pause_ns = PAUSE_NS;
        atomic_fetch_add(&board->commits, 1);
        if (sent->name == BUNDLE_STEP3 || sent->name == BUNDLE_STEP3_ACK) {
            atomic_fetch_add(&board->ended, 1);
        }
    } else if (was_idle) {
        atomic_fetch_add(&board->waits, 1);
        wait_for_work(player);
    } else {
        atomic_fetch_add(&board->refused, 1);
    }
}

/* With merged commits a worker goes on with the first child that it spawned. */
static void let_go_of_children(struct player *player)
{
    struct performer *performer = &player->performer;
    const struct role *role = performer->role;
    if (!role->is_idle(&performer->actor) &&
        role->message(&performer->actor)[1 + MESSAGE_KIND] != MESSAGE_LEG2) {
        performer_begin(performer, player->load->rules, player->number + 1);
    }
}

/* One transaction. False: the store or the process that runs tasks failed. */
static bool step(struct player *player)
{
    struct bundle bundle;
    struct outcome outcome = {0};
    struct performer *performer = &player->performer;
    const struct rules *rules = player->load->rules;
    bool was_idle = performer->role->is_idle(&performer->actor);
    performer_next(performer, rules, NULL, &bundle);
    if (!answer_task(player->board, &player->runner, performer, &bundle)) {
        fail(player->board, "a task was not run");
        return false;
    }
    if (!store_pg_execute(player->store, &bundle, STORE_PG_SERVERS_TIME, &outcome)) {
        fail(player->board, store_pg_why_not(player->store));
        return false;
    }
    count(player, &bundle, &outcome, was_idle);
    performer_take(performer, rules, NULL, &bundle, &outcome, NULL);
    if (player->load->only_leg2) {
        let_go_of_children(player);
    }
    return true;
}

/* Its share of the jobs from `first` on. */
static bool create(struct player *player, uint32_t first, uint32_t jobs)
{
    struct client *client = ACTOR_IS(&player->performer.actor, client);
    unsigned clients = player->load->clients;
    client->job = first + (uint32_t)((uint64_t)jobs * player->number / clients);
    client->count = first + (uint32_t)((uint64_t)jobs * (player->number + 1) / clients);
    while (client->job < client->count && !is_over(player->load, player->board)) {
        if (!step(player)) {
            return false;
        }
    }
    return true;
}

static void act_as_client(struct player *player)
{
    const struct load *load = player->load;
    if (!create(player, 0, load->warm)) {
        return;
    }
    while (!atomic_load(&player->board->measuring) && !is_over(load, player->board)) {
        pause_ns(PAUSE_NS);
    }
    create(player, load->warm, load->jobs);
}

static void act_as_worker(struct player *player)
{
    while (!is_over(player->load, player->board) && step(player)) {
    }
    atomic_store(&player->board->stopped, now_s());
}

static void play(struct player *player)
{
    struct error error;
    const struct load *load = player->load;
    struct board *board = player->board;
    struct store_pg_options options = {.dsn = load->dsn,
                                       .schema = load->schema,
                                       .primitives = primitive_table,
                                       .primitive_count = PRIMITIVE_COUNT,
                                       .form = SQL_WHOLE};
    player->store = store_pg_open(&options, &error);
    if (player->store == NULL || !(player->is_client || start_runner(&player->runner))) {
        fail(board,
             player->store == NULL ? error.text : "no process could be started to run tasks");
        return;
    }
    atomic_fetch_add(&board->ready, 1);
    while (!atomic_load(&board->go)) {
        pause_ns(PAUSE_NS);
    }
    if (player->is_client) {
        act_as_client(player);
    } else {
        act_as_worker(player);
    }
    store_pg_close(player->store);
    end_runner(&player->runner);
}

/* ---- around them ----------------------------------------------------------------------------- */

struct crew {
    const struct load *load;
    struct board *board;
    pid_t pids[PROCESSES_MAX];
    unsigned count, left; /* who was started, and who has not ended yet */
};

static void start(struct crew *crew, bool is_client, unsigned number)
{
    struct player player = {.load = crew->load,
                            .board = crew->board,
                            .number = number,
                            .is_client = is_client,
                            .pause_ns = PAUSE_NS};
    CHECK(crew->count < PROCESSES_MAX);
    performer_begin(&player.performer, crew->load->rules, is_client ? 0 : number + 1);
    fflush(NULL);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        (void)signal(SIGINT, SIG_IGN); /* its parent ends it */
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent) {
            play(&player);
        }
        _exit(0);
    }
    if (pid < 0) {
        fail(crew->board, "no process could be started");
        return;
    }
    crew->pids[crew->count++] = pid;
    crew->left++;
}

/* Reaps processes that have ended; one that did not exit with status 0 has failed. */
static void reap(struct crew *crew)
{
    for (unsigned i = 0; i < crew->count; i++) {
        int status = 0;
        if (crew->pids[i] == 0 || waitpid(crew->pids[i], &status, WNOHANG) <= 0) {
            continue;
        }
        crew->pids[i] = 0;
        crew->left--;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            char why[80];
            snprintf(why, sizeof why, "a process died by signal %d",
                     WIFSIGNALED(status) ? WTERMSIG(status) : 0);
            fail(crew->board, why);
        }
    }
    if (crew->load->interrupted != NULL && crew->load->interrupted()) {
        fail(crew->board, "interrupted");
    }
}

/* Waits a moment. False: the time is up, or a process failed. */
static bool waits(struct crew *crew, int64_t late)
{
    pause_ns(2L * PAUSE_NS);
    reap(crew);
    return atomic_load(&crew->board->failed) == 0 && driver_now() < late;
}

/* All are connected, or one will never be. */
static void let_go(struct crew *crew)
{
    struct board *board = crew->board;
    int64_t late = driver_now() + READY_MS;
    bool waiting = true;
    while (atomic_load(&board->ready) < crew->count && waiting) {
        waiting = waits(crew, late);
    }
    if (!waiting) {
        fail(board, "not everybody could connect in time");
    }
    atomic_store(&board->until, driver_now() + crew->load->ms);
    atomic_store(&board->began, now_s());
    atomic_store(&board->go, true);
}

/* Those that warm up have ended: everything is counted from here. */
static void start_clock(struct crew *crew)
{
    struct board *board = crew->board;
    while (atomic_load(&board->ended) < crew->load->warm &&
           waits(crew, atomic_load(&board->until))) {
    }
    atomic_store(&board->commits, 0);
    atomic_store(&board->refused, 0);
    atomic_store(&board->waits, 0);
    atomic_store(&board->tasks, 0);
    atomic_store(&board->began, now_s());
    atomic_store(&board->measuring, true);
}

static bool tell(const struct load *load, struct board *board, struct load_figures *figures,
                 struct error *error)
{
    uint64_t ended = atomic_load(&board->ended), warm = load->warm;
    *figures = (struct load_figures){.seconds = board->stopped - board->began,
                                     .commits = board->commits,
                                     .refused = board->refused,
                                     .waits = board->waits,
                                     .tasks = board->tasks,
                                     .ended = ended < warm ? 0 : ended - warm};
    if (atomic_load(&board->failed) != 0) {
        snprintf(error->text, sizeof error->text, "a worker failed: %.480s", board->error.text);
        return false;
    }
    if (ended < all_jobs(load)) {
        snprintf(error->text, sizeof error->text, "the jobs did not end in time");
        return false;
    }
    return true;
}

bool load_run(const struct load *load, struct load_figures *figures, struct error *error)
{
    struct board *board =
        mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (board == MAP_FAILED) {
        snprintf(error->text, sizeof error->text, "not enough memory");
        return false;
    }
    struct crew crew = {.load = load, .board = board};
    for (unsigned i = 0; i < load->workers; i++) {
        start(&crew, false, i);
    }
    for (unsigned i = 0; i < load->clients; i++) {
        start(&crew, true, i);
    }
    let_go(&crew);
    start_clock(&crew);
    while (crew.left > 0) {
        pause_ns(2L * PAUSE_NS);
        reap(&crew);
    }
    bool done = tell(load, board, figures, error);
    munmap(board, sizeof *board);
    return done;
}
