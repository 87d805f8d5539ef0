#include "model/check.h"
#include "real/chaos_inside.h"
#include "real/part.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE      400 /* transactions after which a breakpoint that was not reached is dropped, */
#define JOB_PATIENCE  20  /* ... and so many for each job: with many, each bundle has its time */
#define TRIES_MAX     200 /* until there are two messages to choose from */
#define STATUS_LATE   2
#define STATUS_FAILED 3

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
        chaos_failed(watch, "no process could be started");
        return;
    }
    child->pid = pid;
}

void chaos_ended(struct watch *watch, unsigned actor, int status)
{
    struct child *child = &watch->children[actor];
    child->pid = 0;
    chaos_collect(watch, actor, true);
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
        chaos_failed(watch, WIFSIGNALED(status) ? "a worker was killed by an unexpected signal"
                                                : "a worker's store failed");
    }
}

static void end_all(struct watch *watch)
{
    for (unsigned a = 0; a < watch->actors; a++) {
        struct child *child = &watch->children[a];
        if (child->pid != 0) {
            chaos_collect(watch, a, true);
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

void chaos_wait_a_little(void)
{
    sigset_t children;
    (void)sigemptyset(&children);
    (void)sigaddset(&children, SIGCHLD);
    (void)sigtimedwait(&children, NULL, &(struct timespec){.tv_nsec = TICK_NS});
}

/* ---- breakpoints ------------------------------------------------------------------------------ */

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
    bool fell = chaos_inject(watch, actor, &watch->set[number]);
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
            chaos_ended(watch, actor, status); /* it ended first */
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
        chaos_count(watch, CHAOS_KILL, shared_actor_is_exposed(shared));
        chaos_kill_child(watch, actor);
        return;
    }
    watch->report->missed++;
}

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
    chaos_collect(watch, actor, false);
    if (waitpid(child->pid, &status, WNOHANG | WUNTRACED) > 0) {
        if (!WIFSTOPPED(status)) {
            chaos_ended(watch, actor, status);
        } else if (!child->killed) {
            stopped(watch, actor);
        }
    }
    if (child->resume_at != 0 && driver_now() >= child->resume_at) {
        chaos_wake(watch, actor);
    }
    if (child->awaited != 0 && child->pid != 0) {
        chaos_look_for_claim(watch, actor);
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
        chaos_release_claims(watch);
        if (watch->end == CHAOS_END_COUNT) {
            chaos_wait_a_little();
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
            (void)chaos_disturb_queue(watch, 0, &watch->set[i]);
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
    while (left > 0 && driver_now() < until && chaos_admin(watch) != NULL &&
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
        chaos_failed(watch, error.text);
    }
}

/* Counts the faults whose effect is known only at the end: by the history and the page. */
static void count_later(struct watch *watch)
{
    struct queue_at at = chaos_queue(watch);
    struct chaos_report *report = watch->report;
    const struct shared_page *page = watch->page;
    for (size_t i = 0; i < watch->trace_count; i++) {
        const struct trace *trace = &watch->traces[i];
        chaos_count(
            watch, trace->kind,
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
