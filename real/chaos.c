#include "real/chaos.h"

#include "model/check.h"
#include "real/part.h"
#include "real/queue_fault.h"
#include "real/rival.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TICK_NS       1000000 /* between two looks, if nothing happens */
#define PATIENCE      400     /* transactions after which a fault that nobody came to is dropped, */
#define JOB_PATIENCE  20     /* ... and so many for each job: with many, each bundle has its time */
#define SENT_NS       100000 /* between two looks whether COMMIT is sent */
#define END_MS        60000  /* for a backend to end: as soon as it is given a processor */
#define FOLLOW_TRIES  5      /* until a server that has lost a process and restarts has a standby */
#define CLAIM_MS      100    /* until a message that came again is taken, or left */
#define TRIES_MAX     200    /* until there are two messages to choose from */
#define SAFE_TRIES    20000  /* of SENT_NS, until nobody has sent what must be answered */
#define TRACES_MAX    256    /* messages whose claims are looked up */
#define ORPHANS_MAX   64     /* claims of processes that died */
#define STATUS_LATE   2
#define STATUS_FAILED 3

/* An actor's process. */
struct child {
    pid_t pid;           /* 0: there is none */
    bool done;           /* it has ended because nothing was left to do */
    bool killed;         /* by us, and to be started anew */
    bool stands;         /* still, at a point, and goes on when it is told, once */
    int64_t resume_at;   /* it stands still until then; 0: it does not */
    int64_t stopped_at;  /* by the store's clock */
    size_t awaited;      /* 1 + the trace that it stands still for; 0: none */
    int64_t waits_until; /* ... at most */
    bool claimed;        /* ... and held a claim when it was stopped */
    uint8_t owed; /* 1 + enum chaos_kind: what befell it, and whether it counts is yet to be told */
    unsigned long aborted, transactions; /* its seat's, when that befell it */
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
    struct seat_page *page;
    unsigned actors;
    struct child children[PROTOCOL_ACTORS_MAX];
    struct chaos_fault set[SEAT_SNARES]; /* what each snare is for */
    uint64_t drop_at[SEAT_SNARES];       /* progress at which it is given up */
    uint32_t tries[SEAT_SNARES];         /* how often it was set for nothing */
    size_t next;                         /* of the plan */
    struct trace traces[TRACES_MAX];
    size_t trace_count;
    uint32_t copies;                  /* of messages */
    uint64_t owed_later[CHAOS_KINDS]; /* whether they count is told when all is over */
    struct orphan orphans[ORPHANS_MAX];
    size_t orphan_count;
    struct store_pg *admin;               /* NULL: not connected */
    uint64_t provoked[ABORT_CLASS_COUNT]; /* aborts, by enum abort_class */
    struct chaos_report *report;
    struct store_pg_problem *problem;
    enum chaos_end end; /* CHAOS_END_COUNT: it goes on */
};

static void failed(struct watch *watch, const char *text)
{
    snprintf(watch->problem->text, sizeof watch->problem->text, "%.500s", text);
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

/* What the server answers to a victim of this kind; ABORT_NONE: that is not how it is told. */
static enum abort_class answer_to(enum chaos_kind kind)
{
    return fault_aborts(fault_of_twin(kind));
}

/* Something befalls a process that stands still: what its transaction is told says whether it
 * counts. */
static void owe(struct watch *watch, unsigned actor, enum chaos_kind kind)
{
    struct seat *seat = &watch->page->seats[actor];
    struct child *child = &watch->children[actor];
    child->owed = (uint8_t)(1 + kind);
    child->aborted = seat->aborted[answer_to(kind)];
    child->transactions = seat->transactions;
    seat->struck = SEAT_STRUCK;
}

/* Whether it is told by now. A connection that is found gone is one transaction, the one that finds
 * none another. */
static bool is_told(const struct watch *watch, unsigned actor, bool *hit)
{
    const struct seat *seat = &watch->page->seats[actor];
    const struct child *child = &watch->children[actor];
    enum chaos_kind kind = (enum chaos_kind)(child->owed - 1);
    enum abort_class class = answer_to(kind);
    if (class == ABORT_NONE) {
        *hit = seat->struck == SEAT_DEFEATED;
        return *hit || seat->struck == SEAT_TOLD;
    }
    *hit = seat->aborted[class] > child->aborted;
    return *hit || seat->transactions >= child->transactions + 1 + (kind == CHAOS_CONNECTIONS);
}

/* Counts what a process owes; `last`: it will tell no more. */
static void collect(struct watch *watch, unsigned actor, bool last)
{
    struct child *child = &watch->children[actor];
    bool hit = false;
    if (child->owed != 0 && (is_told(watch, actor, &hit) || last)) {
        enum chaos_kind kind = (enum chaos_kind)(child->owed - 1);
        child->owed = 0;
        watch->page->seats[actor].struck = SEAT_UNHARMED;
        watch->provoked[answer_to(kind)] += hit;
        count(watch, kind, hit);
    }
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
        failed(watch, WIFSIGNALED(status) ? "a worker died, and not by our hand"
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
        watch->page->seats[a].snare = -1;
    }
}

/* Until somebody ends or stops, or a while. */
static void wait_a_little(void)
{
    sigset_t children;
    (void)sigemptyset(&children);
    (void)sigaddset(&children, SIGCHLD);
    (void)sigtimedwait(&children, NULL, &(struct timespec){.tv_nsec = TICK_NS});
}

/* ---- faults ---------------------------------------------------------------------------------- */

/* Where claims last, whoever was killed lets go of its own. */
static void note_orphan(struct watch *watch, unsigned actor)
{
    const struct seat *seat = &watch->page->seats[actor];
    const int claimers[] = {seat->claimer, seat->broken_off};
    for (int i = 0; i < 2 && watch->chaos->gentle; i++) {
        if (claimers[i] != 0 && watch->orphan_count < ORPHANS_MAX) {
            watch->orphans[watch->orphan_count++] =
                (struct orphan){.claimer = claimers[i], .last = seat->backend};
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

static void go_on(struct watch *watch, unsigned actor)
{
    struct child *child = &watch->children[actor];
    if (child->stands) { /* else it may stand at its next point by now, for another fault */
        child->stands = false;
        (void)kill(child->pid, SIGCONT);
    }
}

static void stand_still(struct watch *watch, unsigned actor, int64_t ms)
{
    struct child *child = &watch->children[actor];
    child->stopped_at = driver_now() + watch->page->clock;
    child->resume_at = driver_now() + ms;
    child->claimed = watch->page->seats[actor].holds;
}

/* Its claim is as old as its last transaction at least, which was before it was stopped: whoever
 * stood still for as long as a claim lasts has none any more. */
static void wake(struct watch *watch, unsigned actor)
{
    struct child *child = &watch->children[actor];
    bool lapsed =
        driver_now() + watch->page->clock - child->stopped_at > watch->chaos->driver.rules->timeout;
    child->resume_at = 0;
    count(watch, lapsed ? CHAOS_STOP : CHAOS_SHORT_STOP, child->claimed);
    go_on(watch, actor);
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

/* One that is frozen goes on, to find that it is to end. */
static bool terminate(struct watch *watch, const struct seat *seat, const struct process *frozen)
{
    char text[80];
    int64_t done = 0;
    snprintf(text, sizeof text, "SELECT pg_terminate_backend(%d, %d)::int::bigint",
             (int)seat->backend, frozen == NULL ? END_MS : 0);
    bool told = seat->backend != 0 && admin(watch) != NULL &&
                store_pg_ask(watch->admin, text, &done) && done == 1;
    if (frozen != NULL) {
        (void)process_signal(frozen, SIGCONT);
    }
    if (!told) {
        leave(watch); /* another one next time */
    }
    return told;
}

static bool restart(struct watch *watch, unsigned actor, const struct process *frozen)
{
    struct cluster_fault why;
    leave(watch);
    watch->report->crashes++;
    chaos_server_stop(watch->chaos->server, frozen);
    go_on(watch, actor);
    if (!chaos_server_start(watch->chaos->server, &why)) {
        failed(watch, why.text);
        return false;
    }
    return true;
}

/* Clients go on while it joins; they are told where it is. */
static bool follow(struct watch *watch)
{
    struct cluster_fault why;
    struct chaos_server *server = watch->chaos->server;
    bool joined = server->standby.folder[0] != '\0';
    for (int i = 0; i < FOLLOW_TRIES && !joined; i++) {
        joined = chaos_server_follow(server, &why);
        if (joined) {
            watch->chaos->driver.dsn = chaos_server_dsn(server);
            seat_page_move(watch->page, watch->chaos->driver.dsn);
        } else {
            wait_a_little();
        }
    }
    if (!joined) {
        failed(watch, why.text);
    }
    return joined;
}

static bool fail_over(struct watch *watch, unsigned actor)
{
    struct cluster_fault why;
    leave(watch);
    watch->report->crashes++;
    chaos_server_kill(watch->chaos->server);
    go_on(watch, actor);
    if (!chaos_server_promote(watch->chaos->server, &why)) {
        failed(watch, why.text);
        return false;
    }
    watch->chaos->driver.dsn = chaos_server_dsn(watch->chaos->server);
    return true;
}

static bool kill_backend(struct watch *watch, const struct seat *seat)
{
    bool killed = chaos_server_kill_backend(watch->chaos->server, seat->backend);
    leave(watch);
    watch->report->crashes += killed;
    return killed;
}

/* A connection, or the server. */
static bool take_away(struct watch *watch, unsigned actor, enum chaos_kind kind,
                      const struct process *frozen)
{
    const struct seat *seat = &watch->page->seats[actor];
    bool done = kind == CHAOS_TERMINATE      ? terminate(watch, seat, frozen)
                : kind == CHAOS_KILL_BACKEND ? kill_backend(watch, seat)
                : kind == CHAOS_RESTART      ? restart(watch, actor, frozen)
                                             : fail_over(watch, actor);
    go_on(watch, actor);
    return done;
}

/* It has neither ended nor stopped, as far as anybody has told us. */
static bool is_going(const struct child *child)
{
    siginfo_t change = {.si_pid = 0};
    int told = waitid(P_PID, (id_t)child->pid, &change, WEXITED | WSTOPPED | WNOHANG | WNOWAIT);
    return told == 0 && change.si_pid == 0;
}

/* It was told to go on, and does so when it is given a processor, however busy the machine is. */
static void await_sent(const struct watch *watch, unsigned actor)
{
    const struct seat *seat = &watch->page->seats[actor];
    while (seat->moment == SEAT_BEFORE_COMMIT && is_going(&watch->children[actor]) &&
           !*watch->chaos->interrupted && driver_now() < watch->chaos->driver.give_up_at) {
        nanosleep(&(struct timespec){.tv_nsec = SENT_NS}, NULL);
    }
}

/* It stands before COMMIT. Its connection's other end does nothing any more, then it goes on and
 * sends: from there on its commit is unanswered, and stays so. */
static bool let_send(struct watch *watch, unsigned actor, struct process *frozen)
{
    const struct seat *seat = &watch->page->seats[actor];
    if (!chaos_server_freeze(watch->chaos->server, seat->backend, frozen)) {
        return false;
    }
    go_on(watch, actor);
    await_sent(watch, actor);
    if (seat->moment == SEAT_SENT) {
        return true;
    }
    (void)process_signal(frozen, SIGCONT);
    process_release(frozen);
    return false;
}

/* ---- those around -----------------------------------------------------------------------------
 */

/* Stopped from outside, at a moment at which no answer that it must have can be lost. */
static bool halt_safely(struct watch *watch, unsigned actor)
{
    const struct seat *seat = &watch->page->seats[actor];
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
        if (seat->sending == 0 || (seat->spared & SEAT_SPARED_DOUBT) == 0) {
            return true;
        }
        (void)kill(child->pid, SIGCONT);
        nanosleep(&(struct timespec){.tv_nsec = SENT_NS}, NULL);
    }
    return false;
}

/* All but the victim, where a scenario spares somebody a lost answer. Those that stand still
 * already are left alone. As bits: who was halted. */
static uint32_t halt_others(struct watch *watch, unsigned victim)
{
    uint32_t halted = 0;
    for (unsigned a = 0; a < watch->actors && watch->chaos->gentle; a++) {
        const struct child *child = &watch->children[a];
        if (a != victim && child->pid != 0 && !child->killed && !child->stands &&
            halt_safely(watch, a)) {
            halted |= UINT32_C(1) << a;
        }
    }
    return halted;
}

/* One that had come to its snare meanwhile goes on, and the fault misses. */
static void go_on_others(struct watch *watch, uint32_t halted)
{
    for (unsigned a = 0; a < watch->actors; a++) {
        if ((halted >> a & 1) != 0) {
            int number = atomic_exchange(&watch->page->seats[a].snare, -1);
            if (number >= 0) {
                watch->page->snares[number].state = SEAT_SNARE_FREE;
                watch->report->missed++;
            }
            (void)kill(watch->children[a].pid, SIGCONT);
        }
    }
}

/* What comes of it, the victim's transaction tells. */
static void strike(struct watch *watch, unsigned actor, const struct chaos_fault *fault)
{
    enum chaos_kind kind = (enum chaos_kind)fault->kind;
    struct process frozen = {.fd = -1};
    bool freezes = fault->moment == SEAT_SENT;
    bool ready = kind != CHAOS_FAILOVER || follow(watch);
    owe(watch, actor, kind);
    ready = ready && (!freezes || let_send(watch, actor, &frozen));
    uint32_t halted = ready && kind != CHAOS_TERMINATE ? halt_others(watch, actor) : 0;
    bool done = ready && take_away(watch, actor, kind, freezes ? &frozen : NULL);
    go_on_others(watch, halted);
    process_release(&frozen);
    if (!done) {
        go_on(watch, actor);
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
    const struct seat *seat = &watch->page->seats[actor];
    struct rival rival = {.dsn = watch->chaos->driver.dsn,
                          .schema = watch->chaos->driver.schema,
                          .victim = watch->children[actor].pid,
                          .backend = seat->backend,
                          .table = (enum row_table)seat->last_table,
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
        rival_serialization(&rival);
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
    return (struct queue_at){.store = admin(watch),
                             .schema = watch->chaos->driver.schema,
                             .now = driver_now() + watch->page->clock};
}

/* Whether it is claimed shows in the end. */
static bool follow_trace(struct watch *watch, enum chaos_kind kind, struct queue_trace trace)
{
    if (trace.message == 0 || watch->trace_count == TRACES_MAX) {
        watch->report->missed++;
        return false;
    }
    watch->traces[watch->trace_count++] = (struct trace){.kind = kind, .of = trace};
    return true;
}

/* Its holder stands still until somebody else has taken it, or nobody did for a while. */
static void await_claim(struct watch *watch, unsigned actor)
{
    struct child *child = &watch->children[actor];
    child->awaited = watch->trace_count;
    child->waits_until = driver_now() + CLAIM_MS;
}

/* Whether it is taken by now. */
static void look_for_claim(struct watch *watch, unsigned actor)
{
    struct child *child = &watch->children[actor];
    struct queue_at at = queue_of(watch);
    if (at.store == NULL || driver_now() >= child->waits_until ||
        queue_fault_took_effect(&at, &watch->traces[child->awaited - 1].of,
                                watch->chaos->driver.rules->timeout)) {
        child->awaited = 0;
        go_on(watch, actor);
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
                    ? queue_fault_redeliver(&at, watch->page->seats[actor].claimer)
                    : queue_fault_copy(&at, kind == CHAOS_REPLAY, fault->amount, ++watch->copies);
    }
    seat_page_disturb(watch->page, trace.transaction);
    return follow_trace(watch, kind, trace);
}

/* The oldest messages are locked, as by somebody who is about to take it, until the victim has its
 * answer. False: there are not two to choose from. */
static bool overtake(struct watch *watch, unsigned actor, uint32_t most)
{
    const struct victim victim = {.watch = watch, .actor = actor};
    struct rival rival = rival_of(&victim);
    struct seat *seat = &watch->page->seats[actor];
    owe(watch, actor, CHAOS_REORDER);
    watch->children[actor].stands = false;
    bool done = rival_overtake(&rival, driver_now() + watch->page->clock, most, &seat->kept_off);
    if (!done) {
        watch->children[actor].owed = 0;
        seat->struck = SEAT_UNHARMED;
    }
    return done;
}

/* Claims that somebody holds lapse earlier or later than they were given for. */
static void leap(struct watch *watch, unsigned actor, const struct chaos_fault *fault)
{
    bool ahead = fault->kind == CHAOS_CLOCK_FORWARD;
    count(watch, (enum chaos_kind)fault->kind, watch->page->seats[actor].holds);
    watch->page->clock += ahead ? (int64_t)fault->amount : -(int64_t)fault->amount;
}

/* What the dead held comes again, as soon as nothing of theirs can be committed any more. */
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
        seat_page_disturb(watch->page, transaction);
    }
    watch->orphan_count = left;
}

/* A process stands still at the point of this fault. False: it is to wait for another one. */
static bool befall(struct watch *watch, unsigned actor, const struct chaos_fault *fault)
{
    const struct seat *seat = &watch->page->seats[actor];
    enum chaos_kind kind = (enum chaos_kind)fault->kind;
    collect(watch, actor, true);
    switch (kind) {
    case CHAOS_KILL_AT_POINT:
        watch->report->points[seat->bundle][seat->moment]++;
        count(watch, kind, seat_is_hit(seat));
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
        go_on(watch, actor);
        break;
    case CHAOS_REDELIVER:
        if (disturb_queue(watch, actor, fault)) {
            await_claim(watch, actor);
        } else {
            go_on(watch, actor);
        }
        break;
    case CHAOS_REORDER:
        return overtake(watch, actor, fault->amount);
    case CHAOS_CLOCK_FORWARD:
    case CHAOS_CLOCK_BACK:
        leap(watch, actor, fault);
        go_on(watch, actor);
        break;
    case CHAOS_KILL:
    case CHAOS_CUT_LATE:
    case CHAOS_CUT_EARLY:
    case CHAOS_ANSWER:
    case CHAOS_DELAY:
    case CHAOS_ILLEGAL_MOVE:
    case CHAOS_KINDS:
        CHECK(false); /* nobody stands still for these */
    }
    return true;
}

static void stopped(struct watch *watch, unsigned actor)
{
    int number = atomic_exchange(&watch->page->seats[actor].snare, -1); /* it is the plan's again */
    watch->children[actor].stands = true;
    if (number < 0) { /* somebody else's signal */
        go_on(watch, actor);
        return;
    }
    CHECK(number < SEAT_SNARES);
    bool fell = befall(watch, actor, &watch->set[number]);
    bool again = !fell && ++watch->tries[number] < TRIES_MAX;
    watch->report->missed += !fell && !again;
    watch->page->snares[number].state = again ? SEAT_SNARE_SET : SEAT_SNARE_FREE;
}

/* SIGKILL at any instant. It is stopped first: where it stood is then known. */
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
            ended(watch, actor, status); /* it was faster */
            return;
        }
        struct seat *seat = &watch->page->seats[actor];
        if ((seat->spared & SEAT_SPARED_DEATH) != 0) {
            if (seat->snare < 0) {
                (void)kill(child->pid, SIGCONT);
            } else {
                stopped(watch, actor);
            }
            continue;
        }
        int number = atomic_exchange(&seat->snare, -1);
        if (number >= 0) { /* it was at a point that another fault waits for */
            watch->page->snares[number].state = SEAT_SNARE_FREE;
            watch->report->missed++;
        }
        count(watch, CHAOS_KILL, seat_is_hit(seat));
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
    snare->act = kind == CHAOS_CUT_EARLY      ? SEAT_CUTS_EARLY
                 : kind == CHAOS_CUT_LATE     ? SEAT_CUTS_LATE
                 : kind == CHAOS_ANSWER       ? SEAT_ANSWERS
                 : kind == CHAOS_DELAY        ? SEAT_DELAYS
                 : kind == CHAOS_ILLEGAL_MOVE ? SEAT_ERRS
                                              : SEAT_STOPS;
    snare->bundle = fault->bundle;
    snare->moment = fault->moment == SEAT_SENT ? SEAT_BEFORE_COMMIT : fault->moment;
    snare->from = fault->from;
    snare->held = kind != CHAOS_KILL_AT_POINT && kind != CHAOS_REPLAY && kind != CHAOS_REORDER;
    snare->claimed = kind == CHAOS_STOP || kind == CHAOS_SHORT_STOP || kind == CHAOS_DUPLICATE ||
                     kind == CHAOS_REDELIVER || kind == CHAOS_CLOCK_FORWARD ||
                     kind == CHAOS_CLOCK_BACK;
    snare->kills = kind == CHAOS_KILL_AT_POINT;
    snare->claims = kind == CHAOS_REORDER;
    snare->amount = fault->amount;
    watch->tries[number] = 0;
    snare->serializable = kind == CHAOS_SERIALIZATION;
    snare->writes_twice = kind == CHAOS_DEADLOCK;
    watch->set[number] = *fault;
    uint64_t progress = watch->page->progress;
    watch->drop_at[number] = PATIENCE + (uint64_t)JOB_PATIENCE * watch->chaos->driver.rules->jobs +
                             (progress > fault->from ? progress : fault->from);
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
        bool told_later = fault->kind == CHAOS_DELAY || fault->kind == CHAOS_ILLEGAL_MOVE;
        watch->report->counted[fault->kind] += !told_later;
        watch->owed_later[fault->kind] += told_later;
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
            watch->report->planned[plan->faults[watch->next].kind]++;
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
    collect(watch, actor, false);
    if (waitpid(child->pid, &status, WNOHANG | WUNTRACED) > 0) {
        if (!WIFSTOPPED(status)) {
            ended(watch, actor, status);
        } else if (!child->killed) {
            stopped(watch, actor);
        }
    }
    if (child->resume_at != 0 && driver_now() >= child->resume_at) {
        wake(watch, actor);
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
        release_orphans(watch);
        if (watch->end == CHAOS_END_COUNT) {
            wait_a_little();
        }
    }
}

/* Everything is done, and yet: a message that was acked long ago may come again. */
static void replay_late(struct watch *watch)
{
    for (int i = 0; i < SEAT_SNARES; i++) {
        int set = SEAT_SNARE_SET;
        if (watch->set[i].kind == CHAOS_REPLAY && watch->page->snares[i].act == SEAT_STOPS &&
            atomic_compare_exchange_strong(&watch->page->snares[i].state, &set, SEAT_SNARE_FREE)) {
            (void)disturb_queue(watch, 0, &watch->set[i]);
        }
    }
}

/* Faults stop, and everybody begins anew. */
static void settle(struct watch *watch)
{
    end_all(watch);
    replay_late(watch);
    leave(watch);
    for (int i = 0; i < SEAT_SNARES; i++) {
        clear_snare(watch, i, UINT64_MAX);
        watch->page->snares[i].state = SEAT_SNARE_FREE;
    }
    if (watch->chaos->until == 0) { /* else its time did not come */
        watch->report->missed += watch->chaos->plan->count - watch->next;
    }
    watch->chaos->driver.dsn = chaos_server_dsn(watch->chaos->server);
    run_phase(watch, false, driver_now() + watch->chaos->settle_ms);
}

/* Illegal moves that the ledger has turned away, or the grants. */
static uint64_t turned_away(const struct watch *watch, const struct queue_at *at)
{
    char query[120];
    int64_t number = 0;
    const struct protocol *protocol = watch->chaos->driver.rules->protocol;
    if (!part_erred_query(protocol, at->schema, query, sizeof query)) {
        return watch->page->forbidden;
    }
    bool asked = at->store != NULL && store_pg_ask(at->store, query, &number);
    return asked ? (uint64_t)number : 0;
}

/* What is told when all is over: by the history, and by those who were there. */
static void count_later(struct watch *watch)
{
    struct queue_at at = queue_of(watch);
    struct chaos_report *report = watch->report;
    const struct seat_page *page = watch->page;
    for (size_t i = 0; i < watch->trace_count; i++) {
        const struct trace *trace = &watch->traces[i];
        count(watch, trace->kind,
              at.store != NULL &&
                  queue_fault_took_effect(&at, &trace->of, watch->chaos->driver.rules->timeout));
    }
    for (unsigned long i = 0; i < page->delay_count && i < SEAT_DELAYS_MAX; i++) {
        report->counted[CHAOS_DELAY] += page->delays[i].looked;
        watch->owed_later[CHAOS_DELAY] -= page->delays[i].looked;
    }
    uint64_t erred = turned_away(watch, &at);
    erred = erred < watch->owed_later[CHAOS_ILLEGAL_MOVE] ? erred
                                                          : watch->owed_later[CHAOS_ILLEGAL_MOVE];
    report->counted[CHAOS_ILLEGAL_MOVE] += erred;
    report->missed +=
        watch->owed_later[CHAOS_DELAY] + watch->owed_later[CHAOS_ILLEGAL_MOVE] - erred;
    leave(watch);
}

/* What only those who were there can tell. */
static void add_up(struct watch *watch)
{
    struct chaos_report *report = watch->report;
    report->turned_away += watch->page->turned_away;
    for (unsigned a = 0; a < watch->actors; a++) {
        const struct seat *seat = &watch->page->seats[a];
        report->transactions += seat->transactions;
        for (int c = ABORT_SERIALIZATION; c <= ABORT_CONNECTIONS; c++) {
            report->natural[c] += seat->aborted[c];
        }
    }
    for (int c = ABORT_SERIALIZATION; c <= ABORT_CONNECTIONS; c++) {
        report->natural[c] -= watch->provoked[c];
    }
    for (int b = 0; b < BUNDLE_NAME_COUNT; b++) {
        report->sent[b] += watch->page->sent[b];
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
    int64_t late = driver_now() + chaos->weather_ms;
    run_phase(&watch, true, chaos->until != 0 && chaos->until < late ? chaos->until : late);
    bool in_hand = chaos->gentle && watch.end == CHAOS_LATE; /* what nobody may die over */
    if (chaos->plan->storms && !in_hand &&
        (watch.end == CHAOS_LATE || watch.end == CHAOS_END_COUNT)) {
        watch.end = CHAOS_END_COUNT; /* that weather lasts is nobody's fault */
        settle(&watch);
    }
    end_all(&watch);
    count_later(&watch);
    add_up(&watch);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return watch.end == CHAOS_END_COUNT ? CHAOS_QUIET : watch.end;
}
