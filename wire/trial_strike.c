#include "model/check.h"
#include "wire/trial_state.h"

#include <signal.h>
#include <string.h>

#define CONNECTIONS   64
#define CONTROL_SEC   0.1  /* the control arm holds as long as a kill takes, and more */
#define RESTART_SEC   0.05 /* a supervisor's pause before it starts a worker again */
#define SUCCESSOR_SEC 3    /* at most until a late commit is let go: a successor may wait for it */
#define QUIET_SEC     0.15 /* without a commit, after a successor's: it has acted */

const struct point *trial_point_here(const struct trial *trial, const struct trial_seat *seat)
{
    size_t next = trial->result->hits;
    if (next >= trial->plan->count || seat->ordinal == 0) {
        return NULL;
    }
    const struct point *point = &trial->plan->points[next]; /* TT1 */
    bool here = point->worker == lane_letter(seat->hand->index) &&
                point->ordinal == seat->ordinal &&
                point->fault->after == (seat->event.kind == EVENT_AFTER);
    return here ? point : NULL;
}

/* ---- acts ------------------------------------------------------------------------------------ */

static void kill_hand(struct trial_hand *hand)
{
    keeper_kill(&hand->keeper);
    hand->runs = false;
    hand->connected = false;
    if (hand->index < LANE_CLIENT) {
        hand->start_at = trial_now() + RESTART_SEC;
    } else {
        hand->ended = true;
    }
}

static void cut(struct trial *trial, const struct trial_seat *seat, bool all)
{
    const struct trial_backend *backend = trial_find_backend(trial, seat->event.backend);
    CHECK(backend != NULL);
    if (all) {
        (void)proxy_cut_worker(trial->lane->proxy, backend->hand, PROXY_CUT_BOTH);
    } else {
        (void)proxy_cut(trial->lane->proxy, backend->connection, PROXY_CUT_BOTH);
    }
}

/* The other connections of the same worker, those that listen or those that are idle. */
static void cut_others(struct trial *trial, const struct trial_seat *seat, bool listening)
{
    struct proxy_connection list[CONNECTIONS];
    const struct trial_backend *own = trial_find_backend(trial, seat->event.backend);
    unsigned count = proxy_list(trial->lane->proxy, list, CONNECTIONS);
    unsigned cut_count = 0;
    for (unsigned i = 0; i < count && i < CONNECTIONS; i++) {
        bool meant =
            listening ? list[i].listens : list[i].transaction == 'I' && list[i].unanswered == 0;
        if (list[i].worker == seat->hand->index && list[i].number != own->connection && meant) {
            cut_count += proxy_cut(trial->lane->proxy, list[i].number, PROXY_CUT_BOTH);
        }
    }
    trial->result->void_hits += cut_count == 0;
}

static void hold(struct trial_seat *seat, enum trial_hold how, double seconds)
{
    seat->hold = how;
    seat->until = trial_now() + seconds;
}

/* All backends end with the server, and so do their seats. */
static void crash_server(struct trial *trial)
{
    struct error error;
    for (size_t i = 0; i < TRIAL_SEATS; i++) {
        trial_close_seat(&trial->seats[i]);
    }
    PQfinish(trial->judge);
    trial->judge = NULL;
    if (!lane_crash(trial->lane, &error) ||
        (trial->judge = lane_connect(trial->lane, trial->database, &error)) == NULL) {
        trial_end(trial, TRIAL_FAILED, "", "the server did not come back: %s", error.text);
    }
}

/* Before a commit, a backend whose client is gone rolls back; after it, it goes on and finds out. */
static void let_backend_go(struct trial_seat *seat)
{
    trial_answer(seat, seat->event.kind == EVENT_BEFORE ? EVENT_END : EVENT_GO, NULL);
}

/* Before its commit a sleeper keeps its locks; after it there is nothing left to keep. */
static void pause_backend(struct trial_seat *seat)
{
    if (seat->event.kind == EVENT_BEFORE) {
        hold(seat, TRIAL_PAUSED, SUCCESSOR_SEC);
    } else {
        trial_answer(seat, EVENT_GO, NULL);
    }
}

static void act(struct trial *trial, struct trial_seat *seat, const struct point_fault *fault)
{
    switch (fault->act) {
    case POINT_NOTHING:
        hold(seat, TRIAL_CONTROL, CONTROL_SEC);
        break;
    case POINT_KILL:
        kill_hand(seat->hand);
        let_backend_go(seat);
        break;
    case POINT_CUT:
    case POINT_CUT_ALL:
        cut(trial, seat, fault->act == POINT_CUT_ALL);
        let_backend_go(seat);
        break;
    case POINT_CUT_LISTENER:
    case POINT_CUT_IDLE:
        cut_others(trial, seat, fault->act == POINT_CUT_LISTENER);
        trial_answer(seat, EVENT_GO, NULL);
        break;
    case POINT_LATE:
    case POINT_HALF_OPEN:
        kill_hand(seat->hand);
        hold(seat, fault->act == POINT_LATE ? TRIAL_LATE : TRIAL_OPEN, SUCCESSOR_SEC);
        break;
    case POINT_PAUSE:
        keeper_signal(&seat->hand->keeper, SIGSTOP);
        seat->hand->paused = true;
        pause_backend(seat);
        break;
    case POINT_RESTART:
        crash_server(trial);
        break;
    case POINT_RAISE:
        trial_answer(seat, EVENT_RAISE, fault->sqlstate);
        break;
    case POINT_END:
        trial_answer(seat, EVENT_END, NULL);
        break;
    }
}

/* Whether the fault takes the worker away, so that another one matters. */
static bool needs_successor(const struct point_fault *fault)
{
    return fault->act == POINT_KILL || fault->act == POINT_LATE || fault->act == POINT_HALF_OPEN ||
           fault->act == POINT_PAUSE;
}

void trial_strike(struct trial *trial, struct trial_seat *seat, const struct point *point)
{
    const struct point_fault *control =
        point->fault->after ? &point_control_after : &point_control_before;
    CHECK(trial->result->hits < trial->plan->count); /* TT1 */
    if (trial->result->hits++ == 0) {
        trial->result->hit_at = trial->result->commit_count;
    }
    trial->struck = trial_now();
    trial_moves(trial);
    trial->struck_at = trial->result->commit_count;
    trial->client_hit = trial->client_hit || seat->hand->index >= LANE_CLIENT;
    act(trial, seat, trial->plan->control ? control : point->fault);
    if (needs_successor(point->fault)) {
        trial_join_others(trial);
    }
}

/* ---- letting go ------------------------------------------------------------------------------ */

/* Whether a worker committed since the fault, and none is about to. */
static bool successor_acted(const struct trial *trial)
{
    return trial->result->commit_count > trial->struck_at && trial_now() - trial->moved > QUIET_SEC;
}

static void wake(struct trial_hand *hand)
{
    keeper_signal(&hand->keeper, SIGCONT);
    hand->paused = false;
}

static void end_hold(struct trial *trial, struct trial_seat *seat)
{
    seat->late = seat->hold != TRIAL_CONTROL && trial->result->commit_count > trial->struck_at;
    if (seat->hold == TRIAL_PAUSED) {
        wake(seat->hand);
    }
    trial_moves(trial);
    trial_answer(seat, seat->hold == TRIAL_OPEN ? EVENT_END : EVENT_GO, NULL);
}

static bool is_held(const struct trial_seat *seat)
{
    return seat->fd >= 0 && seat->hold != TRIAL_FREE && seat->hold != TRIAL_QUEUED;
}

void trial_let_go(struct trial *trial)
{
    double now = trial_now();
    for (size_t i = 0; i < TRIAL_SEATS; i++) {
        struct trial_seat *seat = &trial->seats[i];
        bool acted = seat->hold != TRIAL_CONTROL && (successor_acted(trial) || trial->done);
        if (is_held(seat) && (now >= seat->until || acted)) {
            end_hold(trial, seat);
        }
    }
    bool wakes = now > trial->struck + SUCCESSOR_SEC || successor_acted(trial) || trial->done;
    for (size_t i = 0; i < LANE_SETUP; i++) {
        if (trial->hands[i].paused && wakes) {
            wake(&trial->hands[i]);
            trial_moves(trial);
        }
    }
}

bool trial_holds(const struct trial *trial)
{
    for (size_t i = 0; i < TRIAL_SEATS; i++) {
        if (is_held(&trial->seats[i])) {
            return true;
        }
    }
    for (size_t i = 0; i < LANE_SETUP; i++) {
        if (trial->hands[i].paused) {
            return true;
        }
    }
    return false;
}
