#include "model/check.h"
#include "real/chaos_inside.h"
#include "real/rival.h"

#include <sys/wait.h>
#include <unistd.h>

#define SENT_NS        100000 /* between two looks whether COMMIT is sent */
#define FOLLOW_TRIES   5     /* until a server that has lost a process and restarts has a standby */
#define CLAIM_MS       100   /* until a message that came again is taken, or left */
#define SAFE_TRIES     20000 /* of SENT_NS, until no COMMIT is under way that must be answered */
#define LEAP_NOTICE_MS 150   /* from the order that the store's clock leap until it does */

/* ---- what counts ----------------------------------------------------------------------------- */

void chaos_count(struct watch *watch, enum chaos_kind kind, bool hit)
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

void chaos_collect(struct watch *watch, unsigned actor, bool last)
{
    struct child *child = &watch->children[actor];
    bool hit = false;
    if (child->owed != 0 && (is_told(watch, actor, &hit) || last)) {
        enum chaos_kind kind = (enum chaos_kind)(child->owed - 1);
        child->owed = 0;
        watch->page->actors[actor].struck = SHARED_UNHARMED;
        watch->provoked[answer_to(kind)] += hit;
        chaos_count(watch, kind, hit);
    }
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

void chaos_kill_child(struct watch *watch, unsigned actor)
{
    chaos_collect(watch, actor, true);
    note_orphan(watch, actor);
    watch->children[actor].killed = true;
    (void)kill(watch->children[actor].pid, SIGKILL);
}

void chaos_go_on(struct watch *watch, unsigned actor)
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
void chaos_wake(struct watch *watch, unsigned actor)
{
    struct child *child = &watch->children[actor];
    bool lapsed = driver_now() + ahead_of(&watch->leaps) - child->stopped_at >
                  watch->chaos->driver.rules->timeout;
    child->resume_at = 0;
    chaos_count(watch, lapsed ? CHAOS_STOP : CHAOS_SHORT_STOP, child->claimed);
    chaos_go_on(watch, actor);
}

struct store_pg *chaos_admin(struct watch *watch)
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

void chaos_leave(struct watch *watch)
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
    bool told = shared->backend != 0 && chaos_admin(watch) != NULL &&
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
        chaos_failed(watch, error.text);
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
            chaos_wait_a_little();
        }
    }
    if (!joined) {
        chaos_failed(watch, error.text);
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
        chaos_failed(watch, error.text);
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
            chaos_ended(watch, actor, status);
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
        chaos_count(watch, kind, false);
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

struct queue_at chaos_queue(struct watch *watch)
{
    struct queue_at at = {.store = chaos_admin(watch),
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
void chaos_look_for_claim(struct watch *watch, unsigned actor)
{
    struct child *child = &watch->children[actor];
    struct queue_at at = chaos_queue(watch);
    if (at.store == NULL || driver_now() >= child->waits_until ||
        queue_fault_is_over(&at, &watch->traces[child->awaited - 1].of)) {
        child->awaited = 0;
        chaos_go_on(watch, actor);
    }
}

bool chaos_disturb_queue(struct watch *watch, unsigned actor, const struct chaos_fault *fault)
{
    enum chaos_kind kind = (enum chaos_kind)fault->kind;
    struct queue_at at = chaos_queue(watch);
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
    bool done = rival_overtake(&rival, chaos_queue(watch).now, most, &shared->kept_off);
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
    struct store_pg *store = chaos_admin(watch);
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
    chaos_count(watch, (enum chaos_kind)fault->kind, watch->page->actors[actor].holds);
}

/* Releases the claims of dead actors as soon as none of their transactions can commit any more. */
static void release_orphans(struct watch *watch)
{
    size_t left = 0;
    for (size_t i = 0; i < watch->orphan_count; i++) {
        struct queue_at at = chaos_queue(watch);
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
    struct queue_at at = chaos_queue(watch);
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

void chaos_release_claims(struct watch *watch)
{
    release_orphans(watch); /* first: an actor that dies meanwhile still holds its claim */
    for (unsigned a = 0; a < watch->actors; a++) {
        struct shared_actor *shared = &watch->page->actors[a];
        if (shared->gives_up && release_for(watch, shared)) {
            shared->broken_off = 0;
            shared->gives_up = false;
        }
    }
}

bool chaos_inject(struct watch *watch, unsigned actor, const struct chaos_fault *fault)
{
    const struct shared_actor *shared = &watch->page->actors[actor];
    enum chaos_kind kind = (enum chaos_kind)fault->kind;
    chaos_collect(watch, actor, true);
    switch (kind) {
    case CHAOS_KILL_AT_POINT:
        watch->report->points[shared->bundle][shared->moment]++;
        chaos_count(watch, kind, shared_actor_is_exposed(shared));
        chaos_kill_child(watch, actor);
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
        (void)chaos_disturb_queue(watch, actor, fault);
        chaos_go_on(watch, actor);
        break;
    case CHAOS_REDELIVER:
        if (chaos_disturb_queue(watch, actor, fault)) {
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
