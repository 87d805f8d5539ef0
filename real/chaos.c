#include "real/chaos.h"

#include "model/check.h"
#include "real/rival.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TICK_NS       1000000 /* between two looks, if nothing happens */
#define PATIENCE      400     /* transactions after which a fault that nobody came to is dropped */
#define STATUS_LATE   2
#define STATUS_FAILED 3

static const struct chaos_kind_text kinds[CHAOS_KINDS] = {
    [CHAOS_KILL_AT_POINT] = {"kill-at-point", FAULT_CRASH_BEFORE_COMMIT, false,
                             "SIGKILL of a worker at a named point"},
    [CHAOS_KILL] = {"kill", FAULT_CRASH_BEFORE_COMMIT, false, "SIGKILL of a worker at any instant"},
    [CHAOS_STOP] = {"stop", FAULT_PAUSE, false,
                    "SIGSTOP of a worker, and SIGCONT when its claim has lapsed"},
    [CHAOS_CUT_LATE] = {"answer-lost", FAULT_UNKNOWN_COMMITTED, false,
                        "the connection cut after COMMIT was sent and before its answer"},
    [CHAOS_CUT_EARLY] = {"commit-lost", FAULT_UNKNOWN_LOST, false,
                         "the connection cut while COMMIT was being sent"},
    [CHAOS_TERMINATE] = {"terminate", FAULT_CONNECTION_CUT, false, "pg_terminate_backend"},
    [CHAOS_KILL_BACKEND] = {"kill-backend", FAULT_RESTART, true,
                            "SIGKILL of a backend: the server starts over"},
    [CHAOS_RESTART] = {"restart", FAULT_RESTART, true, "immediate stop of the server, and restart"},
    [CHAOS_FAILOVER] = {"failover", FAULT_FAILOVER, true,
                        "the primary killed, its synchronous standby promoted"},
    [CHAOS_SERIALIZATION] = {"40001", FAULT_SERIALIZATION, true, "a serialization failure"},
    [CHAOS_DEADLOCK] = {"40P01", FAULT_DEADLOCK, true, "a deadlock"},
    [CHAOS_CONNECTIONS] = {"53300", FAULT_CONNECTIONS, true, "no connection is free"},
    [CHAOS_ANSWER] = {"answer-changed", FAULT_ANSWER_CHANGED, false,
                      "a worker that runs a task again answers otherwise"},
};

const struct chaos_kind_text *chaos_kind_get(enum chaos_kind kind)
{
    CHECK(kind < CHAOS_KINDS);
    return &kinds[kind];
}

/* An actor's process. */
struct child {
    pid_t pid;         /* 0: there is none */
    bool done;         /* it has ended because nothing was left to do */
    bool killed;       /* by us, and to be started anew */
    int64_t resume_at; /* it stands still until then; 0: it does not */
};

struct watch {
    struct chaos *chaos;
    struct seat_page *page;
    unsigned actors;
    struct child children[PROTOCOL_ACTORS_MAX];
    struct chaos_fault set[SEAT_SNARES]; /* what each snare is for */
    uint64_t drop_at[SEAT_SNARES];       /* progress at which it is given up */
    size_t next;                         /* of the plan */
    struct store_pg *admin;              /* NULL: not connected */
    struct chaos_report *report;
    struct store_pg_problem *problem;
    enum chaos_end end; /* CHAOS_END_COUNT: it goes on */
};

static void failed(struct watch *watch, const char *text)
{
    snprintf(watch->problem->text, sizeof watch->problem->text, "%.500s", text);
    watch->end = CHAOS_FAILED;
}

/* ---- processes ------------------------------------------------------------------------------- */

static _Noreturn void live(const struct driver *driver, unsigned actor, pid_t parent)
{
    static const int exits[DRIVER_END_COUNT] = {
        [DRIVER_QUIET] = 0, [DRIVER_LATE] = STATUS_LATE, [DRIVER_FAILED] = STATUS_FAILED};
    struct store_pg_problem problem;
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGINT, SIG_IGN); /* whoever watches ends it */
    (void)signal(SIGTERM, SIG_IGN);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(STATUS_FAILED);
    }
    enum driver_end end = driver_act(driver, actor, &problem);
    if (end == DRIVER_FAILED) {
        fprintf(stderr, "assay real: a worker's store failed: %s\n", problem.text);
    }
    _exit(exits[end]);
}

static void start(struct watch *watch, unsigned actor)
{
    struct child *child = &watch->children[actor];
    *child = (struct child){.pid = 0};
    watch->page->seats[actor].lives++;
    watch->report->lives++;
    fflush(NULL);
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        live(&watch->chaos->driver, actor, parent);
    }
    if (pid < 0) {
        failed(watch, "no process could be started");
        return;
    }
    child->pid = pid;
}

static void ended(struct watch *watch, unsigned actor, int status)
{
    struct child *child = &watch->children[actor];
    child->pid = 0;
    if (child->killed) {
        start(watch, actor);
    } else if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        child->done = true;
        if (protocol_role(watch->chaos->driver.rules, actor)->is_done != NULL) {
            watch->page->clients_left--;
        }
    } else if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_LATE) {
        watch->end = CHAOS_LATE;
    } else {
        failed(watch, WIFSIGNALED(status) ? "a worker died, and not by our hand"
                                          : "a worker's store failed");
    }
}

static void end_all(struct watch *watch)
{
    for (unsigned a = 0; a < watch->actors; a++) {
        struct child *child = &watch->children[a];
        if (child->pid != 0) {
            (void)kill(child->pid, SIGKILL);
            while (waitpid(child->pid, NULL, 0) < 0) {
            }
            child->pid = 0;
        }
    }
}

/* ---- faults ---------------------------------------------------------------------------------- */

/* CH1 */
static bool hits(const struct seat *seat)
{
    return seat->holds || seat->moment == SEAT_BEFORE_COMMIT || seat->moment == SEAT_SENT ||
           seat->moment == SEAT_AFTER_COMMIT;
}

static void count(struct watch *watch, enum chaos_kind kind, bool hit)
{
    if (hit) {
        watch->report->counted[kind]++;
    } else {
        watch->report->missed++;
    }
}

static void kill_child(struct watch *watch, unsigned actor)
{
    watch->children[actor].killed = true;
    (void)kill(watch->children[actor].pid, SIGKILL);
}

static void go_on(struct watch *watch, unsigned actor)
{
    watch->children[actor].resume_at = 0;
    (void)kill(watch->children[actor].pid, SIGCONT);
}

static struct store_pg *admin(struct watch *watch)
{
    struct store_pg_problem ignored;
    if (watch->admin == NULL) {
        watch->admin =
            store_pg_open(&(struct store_pg_options){.dsn = watch->chaos->driver.dsn,
                                                     .schema = watch->chaos->driver.schema,
                                                     .primitives = primitive_table,
                                                     .primitive_count = PRIMITIVE_COUNT,
                                                     .name = "assay"},
                          &ignored);
    }
    return watch->admin;
}

static void leave(struct watch *watch)
{
    store_pg_close(watch->admin);
    watch->admin = NULL;
}

static bool terminate(struct watch *watch, const struct seat *seat)
{
    char text[80];
    int64_t done = 0;
    snprintf(text, sizeof text, "SELECT pg_terminate_backend(%d, 1000)::int::bigint",
             (int)seat->backend);
    bool told = seat->backend != 0 && admin(watch) != NULL &&
                store_pg_ask(watch->admin, text, &done) && done == 1;
    if (!told) {
        leave(watch); /* another one next time */
    }
    return told;
}

static bool restart(struct watch *watch, unsigned actor)
{
    struct cluster_fault why;
    leave(watch);
    watch->report->crashes++;
    chaos_server_stop(watch->chaos->server);
    go_on(watch, actor);
    if (!chaos_server_start(watch->chaos->server, &why)) {
        failed(watch, why.text);
        return false;
    }
    return true;
}

static bool fail_over(struct watch *watch, unsigned actor)
{
    struct cluster_fault why;
    if (watch->chaos->server->standby.folder[0] == '\0') {
        return false; /* there was one only */
    }
    leave(watch);
    watch->report->crashes++;
    chaos_server_kill(watch->chaos->server);
    go_on(watch, actor);
    if (!chaos_server_promote(watch->chaos->server, &why)) {
        failed(watch, why.text);
        return false;
    }
    return true;
}

static bool kill_backend(struct watch *watch, const struct seat *seat)
{
    bool killed = chaos_server_kill_backend(watch->chaos->server, seat->backend);
    leave(watch);
    watch->report->crashes += killed;
    return killed;
}

static struct rival rival_of(const struct watch *watch, unsigned actor)
{
    const struct seat *seat = &watch->page->seats[actor];
    struct rival rival = {.dsn = watch->chaos->driver.dsn,
                          .schema = watch->chaos->driver.schema,
                          .victim = watch->children[actor].pid,
                          .backend = seat->backend,
                          .table = (enum row_table)seat->last_table};
    driver_name(&watch->chaos->driver, actor, rival.name);
    return rival;
}

/* A process stands still at the point of this fault. Those that have answers of their own (40001,
 * 40P01, 53300) are counted by whoever gets them. */
static void befall(struct watch *watch, unsigned actor, const struct chaos_fault *fault)
{
    const struct seat *seat = &watch->page->seats[actor];
    struct rival rival = rival_of(watch, actor);
    bool hit = hits(seat);
    switch ((enum chaos_kind)fault->kind) {
    case CHAOS_KILL_AT_POINT:
        watch->report->points[seat->bundle][seat->moment]++;
        kill_child(watch, actor);
        break;
    case CHAOS_STOP:
        watch->children[actor].resume_at = driver_now() + fault->amount;
        break;
    case CHAOS_TERMINATE:
        hit = terminate(watch, seat) && hit;
        go_on(watch, actor);
        break;
    case CHAOS_KILL_BACKEND:
        hit = kill_backend(watch, seat) && hit;
        go_on(watch, actor);
        break;
    case CHAOS_RESTART:
        hit = restart(watch, actor) && hit;
        break;
    case CHAOS_FAILOVER:
        hit = fail_over(watch, actor) && hit;
        go_on(watch, actor);
        break;
    case CHAOS_SERIALIZATION:
        rival_serialization(&rival);
        return;
    case CHAOS_DEADLOCK:
        rival_deadlock(&rival);
        return;
    case CHAOS_CONNECTIONS:
        watch->page->crowd = true;
        rival_crowd(&rival);
        watch->page->crowd = false;
        return;
    case CHAOS_KILL:
    case CHAOS_CUT_LATE:
    case CHAOS_CUT_EARLY:
    case CHAOS_ANSWER:
    case CHAOS_KINDS:
        CHECK(false); /* nobody stands still for these */
    }
    count(watch, (enum chaos_kind)fault->kind, hit);
}

static void stopped(struct watch *watch, unsigned actor)
{
    int number = atomic_exchange(&watch->page->seats[actor].snare, -1); /* it is the plan's again */
    if (number < 0) {                                                   /* somebody else's signal */
        go_on(watch, actor);
        return;
    }
    CHECK(number < SEAT_SNARES);
    befall(watch, actor, &watch->set[number]);
    watch->page->snares[number].state = SEAT_SNARE_FREE;
}

/* SIGKILL at any instant. It is stopped first: where it stood is then known. */
static void kill_now(struct watch *watch, unsigned first)
{
    for (unsigned i = 0; i < watch->actors; i++) {
        unsigned actor = (first + i) % watch->actors;
        struct child *child = &watch->children[actor];
        int status = 0;
        if (child->pid == 0 || child->killed || child->resume_at != 0) {
            continue;
        }
        (void)kill(child->pid, SIGSTOP);
        while (waitpid(child->pid, &status, WUNTRACED) < 0) {
        }
        if (!WIFSTOPPED(status)) {
            ended(watch, actor, status); /* it was faster */
            return;
        }
        struct seat *seat = &watch->page->seats[actor];
        int number = atomic_exchange(&seat->snare, -1);
        if (number >= 0) { /* it was at a point that another fault waits for */
            watch->page->snares[number].state = SEAT_SNARE_FREE;
            watch->report->missed++;
        }
        count(watch, CHAOS_KILL, hits(seat));
        kill_child(watch, actor);
        return;
    }
    watch->report->missed++;
}

/* ---- snares ---------------------------------------------------------------------------------- */

static void set_snare(struct watch *watch, int number, const struct chaos_fault *fault)
{
    struct seat_snare *snare = &watch->page->snares[number];
    enum chaos_kind kind = (enum chaos_kind)fault->kind;
    snare->act = kind == CHAOS_CUT_EARLY  ? SEAT_CUTS_EARLY
                 : kind == CHAOS_CUT_LATE ? SEAT_CUTS_LATE
                 : kind == CHAOS_ANSWER   ? SEAT_ANSWERS
                                          : SEAT_STOPS;
    snare->bundle = fault->bundle;
    snare->moment = fault->moment;
    snare->from = fault->from;
    snare->held = kind != CHAOS_KILL_AT_POINT;
    snare->serializable = kind == CHAOS_SERIALIZATION;
    snare->writes_twice = kind == CHAOS_DEADLOCK;
    watch->set[number] = *fault;
    uint64_t progress = watch->page->progress;
    watch->drop_at[number] = PATIENCE + (progress > fault->from ? progress : fault->from);
    snare->state = kind == CHAOS_KILL ? SEAT_SNARE_WAITS : SEAT_SNARE_SET;
}

/* Somebody stands still in it. */
static bool is_stood_in(const struct watch *watch, int number)
{
    for (unsigned a = 0; a < watch->actors; a++) {
        if (watch->page->seats[a].snare == number) {
            return true;
        }
    }
    return false;
}

/* A kill at any instant waits for nobody; a cut or an answer needs nobody's help; what nobody came
 * to is dropped. */
static void clear_snare(struct watch *watch, int number, uint64_t progress)
{
    struct seat_snare *snare = &watch->page->snares[number];
    const struct chaos_fault *fault = &watch->set[number];
    bool alone = snare->act != SEAT_STOPS;
    int set = SEAT_SNARE_SET;
    if (snare->state == SEAT_SNARE_WAITS && progress >= fault->from) {
        snare->state = SEAT_SNARE_FREE;
        kill_now(watch, fault->amount);
    } else if (alone && snare->state == SEAT_SNARE_SPRUNG) {
        watch->report->counted[fault->kind]++;
        snare->state = SEAT_SNARE_FREE;
    } else if (progress > watch->drop_at[number] &&
               atomic_compare_exchange_strong(&snare->state, &set, SEAT_SNARE_FREE)) {
        watch->report->missed++;
    } else if (snare->state == SEAT_SNARE_SPRUNG && progress > watch->drop_at[number] &&
               !is_stood_in(watch, number)) {
        snare->state = SEAT_SNARE_FREE; /* who sprang it was killed before it could say so */
        watch->report->missed++;
    }
}

static void follow_plan(struct watch *watch)
{
    const struct chaos_plan *plan = watch->chaos->plan;
    uint64_t progress = watch->page->progress;
    for (int i = 0; i < SEAT_SNARES; i++) {
        clear_snare(watch, i, progress);
    }
    for (int i = 0; i < SEAT_SNARES && watch->next < plan->count; i++) {
        if (watch->page->snares[i].state == SEAT_SNARE_FREE) {
            set_snare(watch, i, &plan->faults[watch->next++]);
        }
    }
}

/* ---- a phase --------------------------------------------------------------------------------- */

static void look(struct watch *watch, unsigned actor)
{
    struct child *child = &watch->children[actor];
    int status = 0;
    if (child->pid == 0) {
        return;
    }
    if (waitpid(child->pid, &status, WNOHANG | WUNTRACED) > 0) {
        if (!WIFSTOPPED(status)) {
            ended(watch, actor, status);
        } else if (!child->killed) {
            stopped(watch, actor);
        }
    }
    if (child->resume_at != 0 && driver_now() >= child->resume_at) {
        go_on(watch, actor);
    }
}

static bool all_done(const struct watch *watch)
{
    for (unsigned a = 0; a < watch->actors; a++) {
        if (!watch->children[a].done) {
            return false;
        }
    }
    return true;
}

/* Until somebody ends or stops, or a while. */
static void wait_a_little(void)
{
    sigset_t children;
    (void)sigemptyset(&children);
    (void)sigaddset(&children, SIGCHLD);
    (void)sigtimedwait(&children, NULL, &(struct timespec){.tv_nsec = TICK_NS});
}

static void run_phase(struct watch *watch, bool weather, int64_t until)
{
    watch->chaos->driver.give_up_at = until;
    for (unsigned a = 0; a < watch->actors && watch->end == CHAOS_END_COUNT; a++) {
        bool client = protocol_role(watch->chaos->driver.rules, a)->is_done != NULL;
        if (!client || !watch->children[a].done) {
            start(watch, a);
        }
    }
    while (watch->end == CHAOS_END_COUNT) {
        for (unsigned a = 0; a < watch->actors && watch->end == CHAOS_END_COUNT; a++) {
            look(watch, a);
        }
        if (*watch->chaos->interrupted) {
            watch->end = CHAOS_INTERRUPTED;
        } else if (all_done(watch)) {
            return;
        } else if (driver_now() >= until) {
            watch->end = CHAOS_LATE;
        } else if (weather) {
            follow_plan(watch);
        }
        if (watch->end == CHAOS_END_COUNT) {
            wait_a_little();
        }
    }
}

/* Faults stop, and everybody begins anew. */
static void settle(struct watch *watch)
{
    end_all(watch);
    leave(watch);
    for (int i = 0; i < SEAT_SNARES; i++) {
        clear_snare(watch, i, UINT64_MAX);
        watch->page->snares[i].state = SEAT_SNARE_FREE;
    }
    watch->report->missed += watch->chaos->plan->count - watch->next;
    watch->chaos->driver.dsn = chaos_server_dsn(watch->chaos->server);
    run_phase(watch, false, driver_now() + watch->chaos->settle_ms);
}

/* What only its victims can tell. */
static void add_up(struct watch *watch)
{
    watch->report->turned_away += watch->page->turned_away;
    for (unsigned a = 0; a < watch->actors; a++) {
        const struct seat *seat = &watch->page->seats[a];
        watch->report->transactions += seat->transactions;
        watch->report->counted[CHAOS_SERIALIZATION] += seat->aborted[ABORT_SERIALIZATION];
        watch->report->counted[CHAOS_DEADLOCK] += seat->aborted[ABORT_DEADLOCK];
        watch->report->counted[CHAOS_CONNECTIONS] += seat->aborted[ABORT_CONNECTIONS];
    }
}

enum chaos_end chaos_run(struct chaos *chaos, struct chaos_report *report,
                         struct store_pg_problem *problem)
{
    struct watch watch = {.chaos = chaos,
                          .page = chaos->driver.page,
                          .actors = chaos->driver.rules->actors,
                          .report = report,
                          .problem = problem,
                          .end = CHAOS_END_COUNT};
    sigset_t children, before;
    (void)sigemptyset(&children);
    (void)sigaddset(&children, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &children, &before);
    seat_page_begin(watch.page, chaos->driver.rules);
    chaos->driver.storms = chaos->plan->storms;
    run_phase(&watch, true, driver_now() + chaos->weather_ms);
    if (chaos->plan->storms && (watch.end == CHAOS_LATE || watch.end == CHAOS_END_COUNT)) {
        watch.end = CHAOS_END_COUNT; /* that weather lasts is nobody's fault */
        settle(&watch);
    }
    end_all(&watch);
    leave(&watch);
    add_up(&watch);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return watch.end == CHAOS_END_COUNT ? CHAOS_QUIET : watch.end;
}
