#define _GNU_SOURCE /* accept4 and struct ucred */
#include "model/check.h"
#include "wire/normalise.h"
#include "wire/trial_state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- the proxy's events ---------------------------------------------------------------------- */

/* Connections of a hand that is not admitted wait at the door; the server's pid names the hand. */
enum proxy_verdict trial_told(void *context, const struct proxy_event *event)
{
    struct trial *trial = context;
    struct proxy_connection found;
    if (event->worker >= LANE_SETUP) {
        return PROXY_PASS;
    }
    struct trial_hand *hand = &trial->hands[event->worker];
    if (event->kind == PROXY_CONNECTING) {
        return hand->admitted ? PROXY_PASS : PROXY_HOLD;
    }
    if (event->kind == PROXY_CONNECTED &&
        proxy_find(trial->lane->proxy, event->connection, &found)) {
        hand->connected = true;
        trial->backends[trial->backend_count++ % TRIAL_BACKENDS] = (struct trial_backend){
            .pid = found.backend, .connection = event->connection, .hand = event->worker};
    }
    return PROXY_PASS;
}

const struct trial_backend *trial_find_backend(const struct trial *trial, pid_t pid)
{
    size_t count = trial->backend_count < TRIAL_BACKENDS ? trial->backend_count : TRIAL_BACKENDS;
    const struct trial_backend *found = NULL;
    for (size_t i = 0; i < count; i++) {
        found = trial->backends[i].pid == pid ? &trial->backends[i] : found;
    }
    return found;
}

/* ---- seats ----------------------------------------------------------------------------------- */

void trial_close_seat(struct trial_seat *seat)
{
    if (seat->fd >= 0) {
        (void)close(seat->fd);
    }
    *seat = (struct trial_seat){.fd = -1};
}

static struct trial_seat *free_seat(struct trial *trial)
{
    for (size_t i = 0; i < TRIAL_SEATS; i++) {
        if (trial->seats[i].fd < 0) {
            return &trial->seats[i];
        }
    }
    return NULL;
}

/* Only the server's own processes may speak here. */
static bool is_server(const struct trial *trial, int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           peer.uid == trial->lane->cluster.user.uid;
}

void trial_accept(struct trial *trial)
{
    for (;;) {
        int fd = accept4(trial->lane->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) {
            return;
        }
        struct trial_seat *seat = is_server(trial, fd) ? free_seat(trial) : NULL;
        if (seat == NULL) {
            (void)close(fd); /* a backend that is not heard goes on */
            continue;
        }
        *seat = (struct trial_seat){.fd = fd};
    }
}

void trial_answer(struct trial_seat *seat, enum event_answer_kind kind, const char *sqlstate)
{
    struct event_answer answer = {.kind = kind};
    if (sqlstate != NULL) {
        (void)snprintf(answer.sqlstate, sizeof answer.sqlstate, "%s", sqlstate);
    }
    seat->hold = TRIAL_FREE;
    seat->commits = kind == EVENT_GO && seat->event.kind == EVENT_BEFORE;
    (void)send(seat->fd, &answer, sizeof answer, MSG_NOSIGNAL);
}

/* ---- commits --------------------------------------------------------------------------------- */

static void name_commit(const struct event *event, char name[TRIAL_NAME_SIZE])
{
    size_t length = normalise(event->text, strlen(event->text), name, TRIAL_NAME_SIZE - 1);
    name[length < TRIAL_NAME_SIZE ? length : TRIAL_NAME_SIZE - 1] = '\0';
    if (name[0] == '\0') {
        (void)snprintf(name, TRIAL_NAME_SIZE, "(no statement)");
    }
}

static bool is_background(const struct trial *trial, const char *name)
{
    for (size_t i = 0; i < trial->plan->background.count; i++) {
        if (strcmp(trial->plan->background.names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* Gives the commit its number, unless it is background. */
static void count_commit(struct trial *trial, struct trial_seat *seat)
{
    char name[TRIAL_NAME_SIZE];
    name_commit(&seat->event, name);
    seat->ordinal = is_background(trial, name) ? 0 : ++seat->hand->announced;
}

static void note_commit(struct trial *trial, const struct trial_seat *seat)
{
    struct trial_result *result = trial->result;
    if (seat->ordinal > 0 && trial->learn_until == 0) {
        trial_moves(trial);
        if (trial->joined > 0 && trial->acted == 0) {
            trial->acted = trial->clock_moved;
        }
        if (result->start_seconds == 0) {
            result->start_seconds = trial->moved - trial->began;
        }
    }
    if (result->commit_count == TRIAL_COMMITS_MAX) {
        return;
    }
    struct trial_commit *commit = &result->commits[result->commit_count++];
    *commit = (struct trial_commit){.worker = lane_letter(seat->hand->index),
                                    .ordinal = seat->ordinal,
                                    .xid = seat->event.xid,
                                    .life = seat->hand->life,
                                    .learnt = trial->learn_until > 0};
    name_commit(&seat->event, commit->name);
}

/* ---- asked at each commit -------------------------------------------------------------------- */

/* "FROM table WHERE it is of this transaction" */
static void rows_of(const struct subject_mapping *of, uint64_t xid, char *query, size_t size)
{
    char columns[JUDGE_COLUMNS_SIZE];
    judge_columns(of, "", columns);
    (void)snprintf(query, size, "SELECT ROW(%s)::text FROM %s WHERE xmin::text = '%u'", columns,
                   of->table, (unsigned)(xid & UINT32_MAX));
}

static void note_acknowledged(struct trial *trial, const struct trial_seat *seat)
{
    char query[1200];
    char rows[JUDGE_TEXT_SIZE];
    for (size_t i = 0; i < trial->subject->promise_count; i++) {
        const struct subject_promise *promise = &trial->subject->promises[i];
        if (promise->is != SUBJECT_ACKNOWLEDGED || seat->hand->index < LANE_CLIENT) {
            continue;
        }
        rows_of(&promise->of, seat->event.xid, query, sizeof query);
        if (judge_rows(trial->judge, query, rows) != JUDGE_HOLDS) {
            trial_end(trial, TRIAL_FAILED, promise->name, "%s", rows);
            return;
        }
        for (char *at = rows; *at != '\0' && trial->acked_count < TRIAL_ACKED;) {
            size_t length = strcspn(at, "\n");
            struct trial_acked *acked = &trial->acked[trial->acked_count++];
            acked->promise = i;
            (void)snprintf(acked->key, sizeof acked->key, "%.*s", (int)length, at);
            at += length + (at[length] == '\n');
        }
    }
}

static void judge_fence(struct trial *trial, const struct trial_seat *seat)
{
    char query[1200];
    char rows[JUDGE_TEXT_SIZE];
    for (size_t i = 0; i < trial->subject->promise_count; i++) {
        const struct subject_promise *promise = &trial->subject->promises[i];
        if (promise->is != SUBJECT_FENCED) {
            continue;
        }
        rows_of(&promise->of, seat->event.xid, query, sizeof query);
        if (judge_rows(trial->judge, query, rows) == JUDGE_HOLDS && rows[0] != '\0') {
            trial_end(trial, TRIAL_BROKEN, promise->name, "the late commit changed %s: %s",
                      promise->of.table, rows);
        }
    }
}

static void judge_always(struct trial *trial, const struct subject_promise *promise)
{
    char text[JUDGE_TEXT_SIZE];
    enum judge_verdict verdict = judge_promise(trial->judge, promise, text);
    if (verdict != JUDGE_HOLDS) {
        trial_end(trial, verdict == JUDGE_BROKEN ? TRIAL_BROKEN : TRIAL_FAILED, promise->name, "%s",
                  text);
    }
}

static bool asks_always(const struct trial *trial)
{
    bool asks = trial->subject->always_count > 0;
    for (size_t i = 0; i < trial->subject->promise_count; i++) {
        asks = asks || judge_is_always(&trial->subject->promises[i]);
    }
    return asks;
}

static void judge_commit(struct trial *trial, const struct trial_seat *seat)
{
    for (size_t i = 0; i < trial->subject->always_count; i++) {
        judge_always(trial, &trial->subject->always[i]);
    }
    for (size_t i = 0; i < trial->subject->promise_count; i++) {
        if (judge_is_always(&trial->subject->promises[i])) {
            judge_always(trial, &trial->subject->promises[i]);
        }
    }
    if (seat->late) {
        judge_fence(trial, seat);
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

static bool another_commits(const struct trial *trial)
{
    for (size_t i = 0; i < TRIAL_SEATS; i++) {
        if (trial->seats[i].fd >= 0 && trial->seats[i].commits) {
            return true;
        }
    }
    return false;
}

static void before_commit(struct trial *trial, struct trial_seat *seat)
{
    /* What is asked after each commit is asked of a state in which no other commit is under way. */
    if (asks_always(trial) && another_commits(trial)) {
        seat->hold = TRIAL_QUEUED;
        return;
    }
    const struct point *point = trial_point_here(trial, seat);
    if (point != NULL) {
        trial_strike(trial, seat, point);
    } else {
        trial_answer(seat, EVENT_GO, NULL);
    }
}

void trial_next_queued(struct trial *trial)
{
    for (size_t i = 0; i < TRIAL_SEATS && !another_commits(trial); i++) {
        if (trial->seats[i].fd >= 0 && trial->seats[i].hold == TRIAL_QUEUED) {
            trial->seats[i].hold = TRIAL_FREE;
            before_commit(trial, &trial->seats[i]);
        }
    }
}

static void after_commit(struct trial *trial, struct trial_seat *seat)
{
    seat->commits = false;
    if (seat->ordinal == 0) { /* its number, too, came only with the commit */
        count_commit(trial, seat);
    }
    note_commit(trial, seat);
    judge_commit(trial, seat);
    const struct point *point = trial_point_here(trial, seat);
    if (point != NULL) {
        trial_strike(trial, seat, point);
    } else {
        note_acknowledged(trial, seat);
        trial_answer(seat, EVENT_GO, NULL);
    }
    seat->ordinal = 0;
    seat->late = false;
}

static void handle(struct trial *trial, struct trial_seat *seat)
{
    const struct trial_backend *backend = trial_find_backend(trial, seat->event.backend);
    if (backend == NULL) {
        trial_answer(seat, EVENT_GO, NULL); /* of no hand: a background worker of the server */
        return;
    }
    seat->hand = &trial->hands[backend->hand];
    if (seat->event.kind == EVENT_BEFORE) {
        count_commit(trial, seat);
        before_commit(trial, seat);
    } else {
        after_commit(trial, seat);
    }
    trial_next_queued(trial);
}

void trial_read(struct trial *trial, struct trial_seat *seat)
{
    ssize_t got = recv(seat->fd, &seat->event, sizeof seat->event, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (got <= (ssize_t)offsetof(struct event, text)) { /* the backend has ended */
        trial_close_seat(seat);
        trial_next_queued(trial);
        return;
    }
    seat->event.text[sizeof seat->event.text - 1] = '\0';
    handle(trial, seat);
}
