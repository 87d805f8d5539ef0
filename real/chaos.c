#include "real/chaos.h"

#include "model/check.h"
#include "real/part.h"
#include "real/queue_fault.h"
#include "real/rival.h"
#include "real/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TICK_NS        1000000 /* between two looks, if nothing happens */
#define PATIENCE       400 /* transactions after which a breakpoint that was not reached is dropped, */
#define JOB_PATIENCE   20 /* ... and so many for each job: with many, each bundle has its time */
#define SENT_NS        100000 /* between two looks whether COMMIT is sent */
#define END_MS         60000  /* for a backend to end: as soon as it is given a processor */
#define FOLLOW_TRIES   5     /* until a server that has lost a process and restarts has a standby */
#define CLAIM_MS       100   /* until a message that came again is taken, or left */
#define TRIES_MAX      200   /* until there are two messages to choose from */
#define SAFE_TRIES     20000 /* of SENT_NS, until no COMMIT is under way that must be answered */
#define TRACES_MAX     256   /* messages whose claims are looked up */
#define ORPHANS_MAX    64    /* claims of processes that died */
#define LEAP_NOTICE_MS 150   /* from the order that the store's clock leap until it does */
#define STATUS_LATE    2
#define STATUS_FAILED  3

/* An actor's process. */
struct child {
    pid_t pid;           /* 0: there is none */
    bool done;           /* it has ended because nothing was left to do */
    bool killed;         /* by the supervisor; to be started anew */
    bool stands;         /* stopped at a breakpoint; continued once */
    int64_t resume_at;   /* it is stopped until then; 0: it is not */
    int64_t stopped_at;  /* by the store's clock */
    size_t awaited;      /* 1 + the trace that it is stopped for; 0: none */
    int64_t waits_until; /* ... at most */
    bool claimed;        /* ... and held a claim when it was stopped */
    uint8_t owed;        /* 1 + enum chaos_kind: a fault whose effect is not known yet */
    unsigned long aborted, transactions; /* of the page, at that fault */
};

/* A message that came twice or again: what is looked for in the history when all is over. */
struct trace {
    enum chaos_kind kind;
    struct queue_trace of;
};

/* A claim whose holder died: the server's processes that it claimed by, and worked by last. */
struct orphan {
    int claimer, last;
};

struct watch {
    struct chaos *chaos;
    struct shared_page *page;
    unsigned actors;
    struct child children[PROTOCOL_ACTORS_MAX];
    struct chaos_fault set[SHARED_BREAKPOINTS]; /* what each breakpoint is for */
    uint64_t drop_at[SHARED_BREAKPOINTS];       /* progress at which it is given up */
    uint32_t tries[SHARED_BREAKPOINTS];         /* how often it was set for nothing */
    size_t next;                                /* of the plan */
    struct trace traces[TRACES_MAX];
    size_t trace_count;
    uint32_t copies;                  /* of messages */
    uint64_t owed_later[CHAOS_KINDS]; /* whether they count is told when all is over */
    struct orphan orphans[ORPHANS_MAX];
    size_t orphan_count;
    struct schema_leaps leaps;            /* of the store's clock */
    struct store_pg *admin;               /* NULL: not connected */
    uint64_t provoked[ABORT_CLASS_COUNT]; /* aborts, by enum abort_class */
    struct chaos_report *report;
    struct error *error;
    enum chaos_end end; /* CHAOS_END_COUNT: it goes on */
};

static void failed(struct watch *watch, const char *text)
{
    snprintf(watch->error->text, sizeof watch->error->text, "%.500s", text);
    watch->end = CHAOS_FAILED;
}

/* ---- what counts ----------------------------------------------------------------------------- */

static void count(struct watch *watch, enum chaos_kind kind, bool hit)
{
    if (hit) {
        watch->report->counted[kind]++; /* CH1 */
    } else {
        watch->report->missed++;
    }
}

/* The abort class by which a fault of this kind counts; ABORT_NONE: it counts otherwise. */
static enum abort_class answer_to(enum chaos_kind kind)
{
    return fault_aborts(fault_of_twin(kind));
}

/* A fault hits a stopped process: the outcome of its transaction decides whether it counts. */
static void owe(struct watch *watch, unsigned actor, enum chaos_kind kind)
{
    struct shared_actor *shared = &watch->page->actors[actor];
    struct child *child = &watch->children[actor];
    child->owed = (uint8_t)(1 + kind);
    child->aborted = shared->aborted[answer_to(kind)];
    child->transactions = shared->transactions;
    shared->struck = SHARED_STRUCK;
}

/* Whether the outcome is known by now. With CHAOS_CONNECTIONS a first transaction finds its connection
 * gone, and the next one finds none. */
static bool is_told(const struct watch *watch, unsigned actor, bool *hit)
{
    const struct shared_actor *shared = &watch->page->actors[actor];
    const struct child *child = &watch->children[actor];
    enum chaos_kind kind = (enum chaos_kind)(child->owed - 1);
    enum abort_class class = answer_to(kind);
    if (class == ABORT_NONE) {
        *hit = shared->struck == SHARED_DEFEATED;
        return *hit || shared->struck == SHARED_TOLD;
    }
    *hit = shared->aborted[class] > child->aborted;
    return *hit || shared->transactions >= child->transactions + 1 + (kind == CHAOS_CONNECTIONS);
}

/* Counts the fault of a process if its outcome is known; `last`: no outcome follows. */
static void collect(struct watch *watch, unsigned actor, bool last)
{
    struct child *child = &watch->children[actor];
    bool hit = false;
    if (child->owed != 0 && (is_told(watch, actor, &hit) || last)) {
        enum chaos_kind kind = (enum chaos_kind)(child->owed - 1);
        child->owed = 0;
        watch->page->actors[actor].struck = SHARED_UNHARMED;
        watch->provoked[answer_to(kind)] += hit;
        count(watch, kind, hit);
    }
}

/* ---- processes ------------------------------------------------------------------------------- */

static _Noreturn void live(const struct driver *driver, unsigned actor, pid_t parent)
{
    static const int exits[DRIVER_END_COUNT] = {
        [DRIVER_QUIET] = 0, [DRIVER_LATE] = STATUS_LATE, [DRIVER_FAILED] = STATUS_FAILED};
    struct error error;
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGINT, SIG_IGN); /* the supervisor ends it */
    (void)signal(SIGTERM, SIG_IGN);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(STATUS_FAILED);
    }
    enum driver_end end = driver_act(driver, actor, &error);
    if (end == DRIVER_FAILED) {
        fprintf(stderr, "assay real: a worker's store failed: %s\n", error.text);
    }
    _exit(exits[end]);
}

static void start(struct watch *watch, unsigned actor)
{
    struct child *child = &watch->children[actor];
    *child = (struct child){.pid = 0};
    watch->page->actors[actor].lives++;
    watch->page->actors[actor].gives_up = false;
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
    collect(watch, actor, true);
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
        failed(watch, WIFSIGNALED(status) ? "a worker was killed by an unexpected signal"
                                          : "a worker's store failed");
    }
}

static void end_all(struct watch *watch)
{
    for (unsigned a = 0; a < watch->actors; a++) {
        struct child *child = &watch->children[a];
        if (child->pid != 0) {
            collect(watch, a, true);
            watch->report->missed += child->resume_at != 0;
            (void)kill(child->pid, SIGKILL);
            while (waitpid(child->pid, NULL, 0) < 0) {
            }
            child->pid = 0;
            child->resume_at = 0;
        }
        watch->page->actors[a].breakpoint = -1;
    }
}

/* Until a process ends or stops, at most for TICK_NS. */
static void wait_a_little(void)
{
    sigset_t children;
    (void)sigemptyset(&children);
    (void)sigaddset(&children, SIGCHLD);
    (void)sigtimedwait(&children, NULL, &(struct timespec){.tv_nsec = TICK_NS});
}

/* ---- faults ---------------------------------------------------------------------------------- */

/* Where claims last, the claim of a killed actor is to be released. */
static void note_orphan(struct watch *watch, unsigned actor)
{
    const struct shared_actor *shared = &watch->page->actors[actor];
    const int claimers[] = {shared->claimer, shared->broken_off};
    for (int i = 0; i < 2 && watch->chaos->claims_last; i++) {
        if (claimers[i] != 0 && watch->orphan_count < ORPHANS_MAX) {
            watch->orphans[watch->orphan_count++] =
                (struct orphan){.claimer = claimers[i], .last = shared->backend};
        }
    }
}

static void kill_child(struct watch *watch, unsigned actor)
{
    collect(watch, actor, true);
    note_orphan(watch, actor);
    watch->children[actor].killed = true;
    (void)kill(watch->children[actor].pid, SIGKILL);
}

static void chaos_go_on(struct watch *watch, unsigned actor)
{
    struct child *child = &watch->children[actor];
    if (child->stands) { /* else it may stand at its next point by now, for another fault */
        child->stands = false;
        (void)kill(child->pid, SIGCONT);
    }
}

/* How far the store's clock has leapt, or is about to. */
static int64_t ahead_of(const struct schema_leaps *leaps)
{
    return leaps->count == 0 ? 0 : leaps->at[leaps->count - 1].ahead;
}

static void stand_still(struct watch *watch, unsigned actor, int64_t ms)
{
    struct child *child = &watch->children[actor];
    child->stopped_at = driver_now() + ahead_of(&watch->leaps);
    child->resume_at = driver_now() + ms;
    child->claimed = watch->page->actors[actor].holds;
}

/* Its claim began before it was stopped, at its last transaction or earlier. So after a stop as long
 * as a claim lasts, the claim has lapsed. */
static void chaos_wake(struct watch *watch, unsigned actor)
{
    struct child *child = &watch->children[actor];
    bool lapsed = driver_now() + ahead_of(&watch->leaps) - child->stopped_at >
                  watch->chaos->driver.rules->timeout;
    child->resume_at = 0;
    count(watch, lapsed ? CHAOS_STOP : CHAOS_SHORT_STOP, child->claimed);
    chaos_go_on(watch, actor);
}

static struct store_pg *admin(struct watch *watch)
{
    struct error ignored;
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

static void chaos_leave(struct watch *watch)
{
    store_pg_close(watch->admin);
    watch->admin = NULL;
}

/* A frozen one is continued, so that it ends. */
static bool terminate(struct watch *watch, const struct shared_actor *shared,
                      const struct process *frozen)
{
    char text[80];
    int64_t done = 0;
    snprintf(text, sizeof text, "SELECT pg_terminate_backend(%d, %d)::int::bigint",
             (int)shared->backend, frozen == NULL ? END_MS : 0);
    bool told = shared->backend != 0 && admin(watch) != NULL &&
                store_pg_ask(watch->admin, text, &done) && done == 1;
    if (frozen != NULL) {
        (void)process_signal(frozen, SIGCONT);
    }
    if (!told) {
        chaos_leave(watch); /* another one next time */
    }
    return told;
}

static bool restart(struct watch *watch, unsigned actor, const struct process *frozen)
{
    struct error error;
    chaos_leave(watch);
    watch->report->crashes++;
    chaos_server_stop(watch->chaos->server, frozen);
    chaos_go_on(watch, actor);
    if (!chaos_server_start(watch->chaos->server, &error)) {
        failed(watch, error.text);
        return false;
    }
    return true;
}

/* Clients go on while it joins, and learn the address. */
static bool chaos_follow(struct watch *watch)
{
    struct error error;
    struct chaos_server *server = watch->chaos->server;
    bool joined = server->standby.folder[0] != '\0';
    for (int i = 0; i < FOLLOW_TRIES && !joined; i++) {
        joined = chaos_server_follow(server, &error);
        if (joined) {
            watch->chaos->driver.dsn = chaos_server_dsn(server);
            shared_page_move(watch->page, watch->chaos->driver.dsn);
        } else {
            wait_a_little();
        }
    }
    if (!joined) {
        failed(watch, error.text);
    }
    return joined;
}

static bool fail_over(struct watch *watch, unsigned actor)
{
    struct error error;
    chaos_leave(watch);
    watch->report->crashes++;
    chaos_server_kill(watch->chaos->server);
    chaos_go_on(watch, actor);
    if (!chaos_server_promote(watch->chaos->server, &error)) {
        failed(watch, error.text);
        return false;
    }
    watch->chaos->driver.dsn = chaos_server_dsn(watch->chaos->server);
    return true;
}

static bool kill_backend(struct watch *watch, const struct shared_actor *shared)
{
    bool killed = chaos_server_kill_backend(watch->chaos->server, shared->backend);
    chaos_leave(watch);
    watch->report->crashes += killed;
    return killed;
}

/* A connection, or the server. */
static bool take_away(struct watch *watch, unsigned actor, enum chaos_kind kind,
                      const struct process *frozen)
{
    const struct shared_actor *shared = &watch->page->actors[actor];
    bool done = kind == CHAOS_TERMINATE      ? terminate(watch, shared, frozen)
                : kind == CHAOS_KILL_BACKEND ? kill_backend(watch, shared)
                : kind == CHAOS_RESTART      ? restart(watch, actor, frozen)
                                             : fail_over(watch, actor);
    chaos_go_on(watch, actor);
    return done;
}

/* No end and no stop of the process has been reported. */
static bool is_going(const struct child *child)
{
    siginfo_t change = {.si_pid = 0};
    int told = waitid(P_PID, (id_t)child->pid, &change, WEXITED | WSTOPPED | WNOHANG | WNOWAIT);
    return told == 0 && change.si_pid == 0;
}

/* It was continued, and goes on when it gets a processor. */
static void await_sent(const struct watch *watch, unsigned actor)
{
    const struct shared_actor *shared = &watch->page->actors[actor];
    while (shared->moment == SHARED_BEFORE_COMMIT && is_going(&watch->children[actor]) &&
           !*watch->chaos->interrupted && driver_now() < watch->chaos->driver.give_up_at) {
        nanosleep(&(struct timespec){.tv_nsec = SENT_NS}, NULL);
    }
}

/* It is stopped before COMMIT. The server's process is frozen, then it goes on and sends COMMIT,
 * which stays unanswered. */
static bool let_send(struct watch *watch, unsigned actor, struct process *frozen)
{
    const struct shared_actor *shared = &watch->page->actors[actor];
    if (!chaos_server_freeze(watch->chaos->server, shared->backend, frozen)) {
        return false;
    }
    chaos_go_on(watch, actor);
    await_sent(watch, actor);
    if (shared->moment == SHARED_SENT) {
        return true;
    }
    (void)process_signal(frozen, SIGCONT);
    process_release(frozen);
    return false;
}

/* ---- the other actors --------------------------------------------------------------------------
 */

/* Stops it while no answer is under way that it must get. */
static bool halt_safely(struct watch *watch, unsigned actor)
{
    const struct shared_actor *shared = &watch->page->actors[actor];
    struct child *child = &watch->children[actor];
    int status = 0;
    for (int i = 0; i < SAFE_TRIES; i++) {
        (void)kill(child->pid, SIGSTOP);
        while (waitpid(child->pid, &status, WUNTRACED) < 0) {
        }
        if (!WIFSTOPPED(status)) {
            ended(watch, actor, status);
            return false;
        }
        if (shared->sending == 0 || (shared->spared & SHARED_SPARED_DOUBT) == 0) {
            return true;
        }
        (void)kill(child->pid, SIGCONT);
        nanosleep(&(struct timespec){.tv_nsec = SENT_NS}, NULL);
    }
    return false;
}

/* Stops all actors but the victim, where a scenario spares an actor a lost answer. Returns the set of
 * those; actors that are stopped already are not in it. */
static uint32_t halt_others(struct watch *watch, unsigned victim)
{
    uint32_t halted = 0;
    for (unsigned a = 0; a < watch->actors && watch->chaos->claims_last; a++) {
        const struct child *child = &watch->children[a];
        if (a != victim && child->pid != 0 && !child->killed && !child->stands &&
            halt_safely(watch, a)) {
            halted |= UINT32_C(1) << a;
        }
    }
    return halted;
}

/* An actor that reached a breakpoint meanwhile goes on, and the fault misses. */
static void go_on_others(struct watch *watch, uint32_t halted)
{
    for (unsigned a = 0; a < watch->actors; a++) {
        if ((halted >> a & 1) != 0) {
            int number = atomic_exchange(&watch->page->actors[a].breakpoint, -1);
            if (number >= 0) {
                watch->page->breakpoints[number].state = SHARED_BREAKPOINT_FREE;
                watch->report->missed++;
            }
            (void)kill(watch->children[a].pid, SIGCONT);
        }
    }
}

/* The outcome of the victim's transaction decides whether it counts. */
static void strike(struct watch *watch, unsigned actor, const struct chaos_fault *fault)
{
    enum chaos_kind kind = (enum chaos_kind)fault->kind;
    struct process frozen = {.fd = -1};
    bool freezes = fault->moment == SHARED_SENT;
    bool ready = kind != CHAOS_FAILOVER || chaos_follow(watch);
    owe(watch, actor, kind);
    ready = ready && (!freezes || let_send(watch, actor, &frozen));
    uint32_t halted = ready && kind != CHAOS_TERMINATE ? halt_others(watch, actor) : 0;
    bool done = ready && take_away(watch, actor, kind, freezes ? &frozen : NULL);
    go_on_others(watch, halted);
    process_release(&frozen);
    if (!done) {
        chaos_go_on(watch, actor);
        watch->children[actor].owed = 0;
        count(watch, kind, false);
    }
}

struct victim {
    const struct watch *watch;
    unsigned actor;
};

static bool has_answer(const void *victim)
{
    const struct victim *of = victim;
    bool ignored;
    return is_told(of->watch, of->actor, &ignored) || !is_going(&of->watch->children[of->actor]);
}

static struct rival rival_of(const struct victim *victim)
{
    const struct watch *watch = victim->watch;
    unsigned actor = victim->actor;
    const struct shared_actor *shared = &watch->page->actors[actor];
    struct rival rival = {.dsn = watch->chaos->driver.dsn,
                          .schema = watch->chaos->driver.schema,
                          .victim = watch->children[actor].pid,
                          .backend = shared->backend,
                          .table = (enum row_table)shared->last_table,
                          .is_over = has_answer,
                          .of = victim};
    driver_name(&watch->chaos->driver, actor, rival.name);
    return rival;
}

/* A rival tells its victim to go on. */
static void contend(struct watch *watch, unsigned actor, enum chaos_kind kind)
{
    const struct victim victim = {.watch = watch, .actor = actor};
    struct rival rival = rival_of(&victim);
    owe(watch, actor, kind);
    watch->children[actor].stands = false;
    if (kind == CHAOS_SERIALIZATION) {
        shared_page_disturb(watch->page, rival_serialization(&rival));
    } else if (kind == CHAOS_DEADLOCK) {
        rival_deadlock(&rival);
    } else {
        watch->page->crowd = true;
        rival_crowd(&rival);
        watch->page->crowd = false;
    }
}

/* ---- the queue and the clock ------------------------------------------------------------------
 */

static struct queue_at queue_of(struct watch *watch)
{
    struct queue_at at = {.store = admin(watch),
                          .history = watch->chaos->server->history,
                          .schema = watch->chaos->driver.schema};
    if (at.store != NULL) {
        (void)store_pg_now(at.store, &at.now);
    }
    return at;
}

/* The history shows at the end whether it was claimed. */
static bool follow_trace(struct watch *watch, enum chaos_kind kind, struct queue_trace trace)
{
    if (trace.message == 0 || watch->trace_count == TRACES_MAX) {
        watch->report->missed++;
        return false;
    }
    watch->traces[watch->trace_count++] = (struct trace){.kind = kind, .of = trace};
    return true;
}

/* Its holder stays stopped until another actor has claimed it, at most for CLAIM_MS. */
static void await_claim(struct watch *watch, unsigned actor)
{
    struct child *child = &watch->children[actor];
    child->awaited = watch->trace_count;
    child->waits_until = driver_now() + CLAIM_MS;
}

/* Whether it is claimed by now. */
static void look_for_claim(struct watch *watch, unsigned actor)
{
    struct child *child = &watch->children[actor];
    struct queue_at at = queue_of(watch);
    if (at.store == NULL || driver_now() >= child->waits_until ||
        queue_fault_is_over(&at, &watch->traces[child->awaited - 1].of)) {
        child->awaited = 0;
        chaos_go_on(watch, actor);
    }
}

/* False: there was nothing to disturb. */
static bool disturb_queue(struct watch *watch, unsigned actor, const struct chaos_fault *fault)
{
    enum chaos_kind kind = (enum chaos_kind)fault->kind;
    struct queue_at at = queue_of(watch);
    struct queue_trace trace = {.message = 0};
    if (at.store != NULL) {
        trace = kind == CHAOS_REDELIVER
                    ? queue_fault_redeliver(&at, watch->page->actors[actor].claimer)
                    : queue_fault_copy(&at, kind == CHAOS_REPLAY, fault->amount, ++watch->copies);
    }
    shared_page_disturb(watch->page, trace.transaction);
    return follow_trace(watch, kind, trace);
}

/* A rival locks the oldest messages, as a claim would, until the victim has its answer. False: there
 * are not two to choose from. */
static bool overtake(struct watch *watch, unsigned actor, uint32_t most)
{
    const struct victim victim = {.watch = watch, .actor = actor};
    struct rival rival = rival_of(&victim);
    struct shared_actor *shared = &watch->page->actors[actor];
    owe(watch, actor, CHAOS_REORDER);
    watch->children[actor].stands = false;
    bool done = rival_overtake(&rival, queue_of(watch).now, most, &shared->kept_off);
    if (!done) {
        watch->children[actor].owed = 0;
        shared->struck = SHARED_UNHARMED;
    }
    return done;
}

static void chaos_sleep_until(int64_t ms)
{
    while (driver_now() < ms) {
        (void)nanosleep(&(struct timespec){.tv_nsec = TICK_NS}, NULL);
    }
}

/* The store's clock leaps in a moment: claims lapse earlier or later than they were granted for. The
 * actor stands still until then, so that its claim, if it holds one, meets the leap. */
static void leap(struct watch *watch, unsigned actor, const struct chaos_fault *fault)
{
    char script[SCHEMA_SCRIPT_SIZE];
    struct store_pg *store = admin(watch);
    struct schema_leaps leaps = watch->leaps;
    int64_t now = 0, ahead = ahead_of(&leaps);
    int64_t by =
        fault->kind == CHAOS_CLOCK_FORWARD ? (int64_t)fault->amount : -(int64_t)fault->amount;
    if (store == NULL || leaps.count == SCHEMA_LEAPS_MAX ||
        !store_pg_ask(store, "SELECT " SCHEMA_MS_OF("clock_timestamp()"), &now)) {
        watch->report->missed++;
        return;
    }
    int64_t asked = driver_now();
    leaps.at[leaps.count].from = now + LEAP_NOTICE_MS;
    leaps.at[leaps.count++].ahead = ahead + by;
    schema_leap_script(watch->chaos->driver.schema, &leaps, script);
    if (!store_pg_run(store, script)) {
        watch->report->missed++;
        return;
    }
    watch->leaps = leaps;
    chaos_sleep_until(asked + LEAP_NOTICE_MS + 1);
    count(watch, (enum chaos_kind)fault->kind, watch->page->actors[actor].holds);
}

/* Releases the claims of dead actors as soon as none of their transactions can commit any more. */
static void release_orphans(struct watch *watch)
{
    size_t left = 0;
    for (size_t i = 0; i < watch->orphan_count; i++) {
        struct queue_at at = queue_of(watch);
        struct orphan orphan = watch->orphans[i];
        int64_t transaction = 0;
        if (at.store == NULL || !queue_fault_is_gone(&at, orphan.claimer, orphan.last) ||
            !queue_fault_release(&at, orphan.claimer, &transaction)) {
            watch->orphans[left++] = orphan;
        }
        shared_page_disturb(watch->page, transaction);
    }
    watch->orphan_count = left;
}

/* An actor that got no answer waits for this (driver.c). Claims last, so what its processes on the server
 * hold is released, once they can commit no more; unless it knows that it holds a claim. False: not
 * yet. */
static bool release_for(struct watch *watch, struct shared_actor *shared)
{
    struct queue_at at = queue_of(watch);
    int broken_off = shared->broken_off;
    int64_t transaction = 0;
    if (at.store == NULL || (broken_off != 0 && !queue_fault_is_gone(&at, broken_off, 0))) {
        return false;
    }
    bool freed = shared->holds || queue_fault_release(&at, shared->claimer, &transaction);
    shared_page_disturb(watch->page, transaction);
    transaction = 0;
    freed = freed && (shared->holds || broken_off == 0 ||
                      queue_fault_release(&at, broken_off, &transaction));
    shared_page_disturb(watch->page, transaction);
    return freed;
}

/* Not before: an actor that dies meanwhile still holds its claim. */
static void release_those_who_wait(struct watch *watch)
{
    for (unsigned a = 0; a < watch->actors; a++) {
        struct shared_actor *shared = &watch->page->actors[a];
        if (shared->gives_up && release_for(watch, shared)) {
            shared->broken_off = 0;
            shared->gives_up = false;
        }
    }
}

/* Injects the fault: a process is stopped at its breakpoint. False: it has to wait for another. */
static bool inject(struct watch *watch, unsigned actor, const struct chaos_fault *fault)
{
    const struct shared_actor *shared = &watch->page->actors[actor];
    enum chaos_kind kind = (enum chaos_kind)fault->kind;
    collect(watch, actor, true);
    switch (kind) {
    case CHAOS_KILL_AT_POINT:
        watch->report->points[shared->bundle][shared->moment]++;
        count(watch, kind, shared_actor_is_exposed(shared));
        kill_child(watch, actor);
        break;
    case CHAOS_STOP:
    case CHAOS_SHORT_STOP:
        stand_still(watch, actor, fault->amount);
        break;
    case CHAOS_TERMINATE:
    case CHAOS_KILL_BACKEND:
    case CHAOS_RESTART:
    case CHAOS_FAILOVER:
        strike(watch, actor, fault);
        break;
    case CHAOS_SERIALIZATION:
    case CHAOS_DEADLOCK:
    case CHAOS_CONNECTIONS:
        contend(watch, actor, kind);
        break;
    case CHAOS_DUPLICATE:
    case CHAOS_REPLAY:
        (void)disturb_queue(watch, actor, fault);
        chaos_go_on(watch, actor);
        break;
    case CHAOS_REDELIVER:
        if (disturb_queue(watch, actor, fault)) {
            await_claim(watch, actor);
        } else {
            chaos_go_on(watch, actor);
        }
        break;
    case CHAOS_REORDER:
        return overtake(watch, actor, fault->amount);
    case CHAOS_CLOCK_FORWARD:
    case CHAOS_CLOCK_BACK:
        leap(watch, actor, fault);
        chaos_go_on(watch, actor);
        break;
    case CHAOS_KILL:
    case CHAOS_CUT_LATE:
    case CHAOS_CUT_EARLY:
    case CHAOS_ANSWER:
    case CHAOS_DELAY:
    case CHAOS_ILLEGAL_MOVE:
    case CHAOS_KINDS:
        CHECK(false); /* no process stops for these */
    }
    return true;
}

static void stopped(struct watch *watch, unsigned actor)
{
    int number =
        atomic_exchange(&watch->page->actors[actor].breakpoint, -1); /* it is the plan's again */
    watch->children[actor].stands = true;
    if (number < 0) { /* stopped from outside */
        chaos_go_on(watch, actor);
        return;
    }
    CHECK(number < SHARED_BREAKPOINTS);
    bool fell = inject(watch, actor, &watch->set[number]);
    bool again = !fell && ++watch->tries[number] < TRIES_MAX;
    watch->report->missed += !fell && !again;
    watch->page->breakpoints[number].state = again ? SHARED_BREAKPOINT_SET : SHARED_BREAKPOINT_FREE;
}

/* SIGKILL at any instant. The process is stopped first, so that its position is known. */
static void kill_now(struct watch *watch, unsigned first)
{
    for (unsigned i = 0; i < watch->actors; i++) {
        unsigned actor = (first + i) % watch->actors;
        struct child *child = &watch->children[actor];
        int status = 0;
        if (child->pid == 0 || child->killed || child->resume_at != 0 || child->awaited != 0) {
            continue;
        }
        (void)kill(child->pid, SIGSTOP);
        while (waitpid(child->pid, &status, WUNTRACED) < 0) {
        }
        if (!WIFSTOPPED(status)) {
            ended(watch, actor, status); /* it ended first */
            return;
        }
        struct shared_actor *shared = &watch->page->actors[actor];
        if ((shared->spared & SHARED_SPARED_DEATH) != 0) {
            if (shared->breakpoint < 0) {
                (void)kill(child->pid, SIGCONT);
            } else {
                stopped(watch, actor);
            }
            continue;
        }
        int number = atomic_exchange(&shared->breakpoint, -1);
        if (number >= 0) { /* it was at a point that another fault waits for */
            watch->page->breakpoints[number].state = SHARED_BREAKPOINT_FREE;
            watch->report->missed++;
        }
        count(watch, CHAOS_KILL, shared_actor_is_exposed(shared));
        kill_child(watch, actor);
        return;
    }
    watch->report->missed++;
}

/* ---- breakpoints ---------------------------------------------------------------------------------- */

static void set_breakpoint(struct watch *watch, int number, const struct chaos_fault *fault)
{
    struct shared_breakpoint *breakpoint = &watch->page->breakpoints[number];
    enum chaos_kind kind = (enum chaos_kind)fault->kind;
    breakpoint->act = kind == CHAOS_CUT_EARLY      ? SHARED_CUTS_EARLY
                      : kind == CHAOS_CUT_LATE     ? SHARED_CUTS_LATE
                      : kind == CHAOS_ANSWER       ? SHARED_ANSWERS
                      : kind == CHAOS_DELAY        ? SHARED_DELAYS
                      : kind == CHAOS_ILLEGAL_MOVE ? SHARED_ERRS
                                                   : SHARED_STOPS;
    breakpoint->bundle = fault->bundle;
    breakpoint->moment = fault->moment == SHARED_SENT ? SHARED_BEFORE_COMMIT : fault->moment;
    breakpoint->from = fault->from;
    breakpoint->held = kind != CHAOS_KILL_AT_POINT && kind != CHAOS_REPLAY && kind != CHAOS_REORDER;
    breakpoint->claimed = kind == CHAOS_STOP || kind == CHAOS_SHORT_STOP ||
                          kind == CHAOS_DUPLICATE || kind == CHAOS_REDELIVER ||
                          kind == CHAOS_CLOCK_FORWARD || kind == CHAOS_CLOCK_BACK;
    breakpoint->kills = kind == CHAOS_KILL_AT_POINT;
    breakpoint->claims = kind == CHAOS_REORDER;
    breakpoint->amount = fault->amount;
    watch->tries[number] = 0;
    breakpoint->serializable = kind == CHAOS_SERIALIZATION;
    breakpoint->writes_twice = kind == CHAOS_DEADLOCK;
    watch->set[number] = *fault;
    uint64_t progress = watch->page->progress;
    watch->drop_at[number] = PATIENCE + (uint64_t)JOB_PATIENCE * watch->chaos->driver.rules->jobs +
                             (progress > fault->from ? progress : fault->from);
    breakpoint->state = kind == CHAOS_KILL ? SHARED_BREAKPOINT_WAITS : SHARED_BREAKPOINT_SET;
}

/* An actor is stopped at it. */
static bool is_stood_in(const struct watch *watch, int number)
{
    for (unsigned a = 0; a < watch->actors; a++) {
        if (watch->page->actors[a].breakpoint == number) {
            return true;
        }
    }
    return false;
}

/* Injects a kill at any instant, counts a fault that a process brought about itself, and drops a
 * breakpoint that no process has reached. */
static void clear_breakpoint(struct watch *watch, int number, uint64_t progress)
{
    struct shared_breakpoint *breakpoint = &watch->page->breakpoints[number];
    const struct chaos_fault *fault = &watch->set[number];
    bool alone = breakpoint->act != SHARED_STOPS;
    int set = SHARED_BREAKPOINT_SET;
    if (breakpoint->state == SHARED_BREAKPOINT_WAITS && progress >= fault->from) {
        breakpoint->state = SHARED_BREAKPOINT_FREE;
        kill_now(watch, fault->amount);
    } else if (alone && breakpoint->state == SHARED_BREAKPOINT_HIT) {
        bool told_later = fault->kind == CHAOS_DELAY || fault->kind == CHAOS_ILLEGAL_MOVE;
        watch->report->counted[fault->kind] += !told_later;
        watch->owed_later[fault->kind] += told_later;
        breakpoint->state = SHARED_BREAKPOINT_FREE;
    } else if (progress > watch->drop_at[number] &&
               atomic_compare_exchange_strong(&breakpoint->state, &set, SHARED_BREAKPOINT_FREE)) {
        watch->report->missed++;
    } else if (breakpoint->state == SHARED_BREAKPOINT_HIT && progress > watch->drop_at[number] &&
               !is_stood_in(watch, number)) {
        breakpoint->state =
            SHARED_BREAKPOINT_FREE; /* its process was killed before it could record the hit */
        watch->report->missed++;
    }
}

static void follow_plan(struct watch *watch)
{
    const struct chaos_plan *plan = watch->chaos->plan;
    uint64_t progress = watch->page->progress;
    for (int i = 0; i < SHARED_BREAKPOINTS; i++) {
        clear_breakpoint(watch, i, progress);
    }
    for (int i = 0; i < SHARED_BREAKPOINTS && watch->next < plan->count; i++) {
        if (watch->page->breakpoints[i].state == SHARED_BREAKPOINT_FREE) {
            watch->report->planned[plan->faults[watch->next].kind]++;
            set_breakpoint(watch, i, &plan->faults[watch->next++]);
        }
    }
}

/* ---- a phase --------------------------------------------------------------------------------- */

static void chaos_look(struct watch *watch, unsigned actor)
{
    struct child *child = &watch->children[actor];
    int status = 0;
    if (child->pid == 0) {
        return;
    }
    collect(watch, actor, false);
    if (waitpid(child->pid, &status, WNOHANG | WUNTRACED) > 0) {
        if (!WIFSTOPPED(status)) {
            ended(watch, actor, status);
        } else if (!child->killed) {
            stopped(watch, actor);
        }
    }
    if (child->resume_at != 0 && driver_now() >= child->resume_at) {
        chaos_wake(watch, actor);
    }
    if (child->awaited != 0 && child->pid != 0) {
        look_for_claim(watch, actor);
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
            chaos_look(watch, a);
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
        release_orphans(watch);
        release_those_who_wait(watch);
        if (watch->end == CHAOS_END_COUNT) {
            wait_a_little();
        }
    }
}

/* No work is left, but an acked message may still be replayed. */
static void replay_late(struct watch *watch)
{
    for (int i = 0; i < SHARED_BREAKPOINTS; i++) {
        int set = SHARED_BREAKPOINT_SET;
        if (watch->set[i].kind == CHAOS_REPLAY && watch->page->breakpoints[i].act == SHARED_STOPS &&
            atomic_compare_exchange_strong(&watch->page->breakpoints[i].state, &set,
                                           SHARED_BREAKPOINT_FREE)) {
            (void)disturb_queue(watch, 0, &watch->set[i]);
        }
    }
}

/* Faults stop, and every actor is started anew. */
static void settle(struct watch *watch)
{
    end_all(watch);
    replay_late(watch);
    chaos_leave(watch);
    for (int i = 0; i < SHARED_BREAKPOINTS; i++) {
        clear_breakpoint(watch, i, UINT64_MAX);
        watch->page->breakpoints[i].state = SHARED_BREAKPOINT_FREE;
    }
    if (watch->chaos->until == 0) { /* else its time did not come */
        watch->report->missed += watch->chaos->plan->count - watch->next;
    }
    watch->chaos->driver.dsn = chaos_server_dsn(watch->chaos->server);
    run_phase(watch, false, driver_now() + watch->chaos->settle_ms);
}

/* Illegal moves that the ledger or the grants have refused. */
static uint64_t turned_away(const struct watch *watch, const struct queue_at *at)
{
    char query[120];
    int64_t number = 0;
    const struct protocol *protocol = watch->chaos->driver.rules->protocol;
    if (!part_refused_query(protocol, at->schema, query, sizeof query)) {
        return watch->page->forbidden;
    }
    bool asked = at->store != NULL && store_pg_ask(at->store, query, &number);
    return asked ? (uint64_t)number : 0;
}

/* The server's processes for the actors may outlive them a little, and commit what they were sent. */
static void await_silence(struct watch *watch)
{
    char query[200];
    int64_t left = 1, until = driver_now() + END_MS;
    snprintf(query, sizeof query,
             "SELECT count(*) FROM pg_stat_activity WHERE starts_with(application_name, '%s ')",
             watch->chaos->driver.schema);
    while (left > 0 && driver_now() < until && admin(watch) != NULL &&
           store_pg_ask(watch->admin, query, &left) && left > 0) {
        (void)nanosleep(&(struct timespec){.tv_nsec = TICK_NS}, NULL);
    }
}

/* What committed after this is none of the run. */
static void end_history(struct watch *watch)
{
    struct error error;
    bool ended = watch->end == CHAOS_END_COUNT || watch->end == CHAOS_LATE;
    if (ended) {
        await_silence(watch);
    }
    if (ended && !history_read(watch->chaos->server->history, &error)) {
        failed(watch, error.text);
    }
}

/* Counts the faults whose effect is known only at the end: by the history and the page. */
static void count_later(struct watch *watch)
{
    struct queue_at at = queue_of(watch);
    struct chaos_report *report = watch->report;
    const struct shared_page *page = watch->page;
    for (size_t i = 0; i < watch->trace_count; i++) {
        const struct trace *trace = &watch->traces[i];
        count(watch, trace->kind,
              queue_fault_took_effect(at.history, &trace->of, watch->chaos->driver.rules->timeout));
    }
    for (unsigned long i = 0; i < page->delay_count && i < SHARED_DELAYS_MAX; i++) {
        report->counted[CHAOS_DELAY] += page->delays[i].looked;
        watch->owed_later[CHAOS_DELAY] -= page->delays[i].looked;
    }
    uint64_t erred = turned_away(watch, &at);
    erred = erred < watch->owed_later[CHAOS_ILLEGAL_MOVE] ? erred
                                                          : watch->owed_later[CHAOS_ILLEGAL_MOVE];
    report->counted[CHAOS_ILLEGAL_MOVE] += erred;
    report->missed +=
        watch->owed_later[CHAOS_DELAY] + watch->owed_later[CHAOS_ILLEGAL_MOVE] - erred;
    chaos_leave(watch);
}

/* Adds up what the actors recorded. */
static void chaos_add_up(struct watch *watch)
{
    struct chaos_report *report = watch->report;
    report->turned_away += watch->page->turned_away;
    for (unsigned a = 0; a < watch->actors; a++) {
        const struct shared_actor *shared = &watch->page->actors[a];
        report->transactions += shared->transactions;
        for (int c = ABORT_SERIALIZATION; c <= ABORT_CONNECTIONS; c++) {
            report->natural[c] += shared->aborted[c];
        }
    }
    for (int c = ABORT_SERIALIZATION; c <= ABORT_CONNECTIONS; c++) {
        report->natural[c] -= watch->provoked[c];
    }
    for (int b = 0; b < BUNDLE_NAME_COUNT; b++) {
        report->sent[b] += watch->page->sent[b];
    }
}

enum chaos_end chaos_run(struct chaos *chaos, struct chaos_report *report, struct error *error)
{
    struct watch watch = {.chaos = chaos,
                          .page = chaos->driver.page,
                          .actors = chaos->driver.rules->actors,
                          .report = report,
                          .error = error,
                          .end = CHAOS_END_COUNT};
    sigset_t children, before;
    (void)sigemptyset(&children);
    (void)sigaddset(&children, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &children, &before);
    shared_page_begin(watch.page, chaos->driver.rules);
    chaos->driver.storms = chaos->plan->storms;
    int64_t late = driver_now() + chaos->weather_ms;
    run_phase(&watch, true, chaos->until != 0 && chaos->until < late ? chaos->until : late);
    bool in_hand =
        chaos->claims_last && watch.end == CHAOS_LATE; /* work during which no actor may die */
    if (chaos->plan->storms && !in_hand &&
        (watch.end == CHAOS_LATE || watch.end == CHAOS_END_COUNT)) {
        watch.end = CHAOS_END_COUNT; /* the phase with faults has no time limit of its own */
        settle(&watch);
    }
    end_all(&watch);
    end_history(&watch);
    count_later(&watch);
    chaos_add_up(&watch);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return watch.end == CHAOS_END_COUNT ? CHAOS_QUIET : watch.end;
}
