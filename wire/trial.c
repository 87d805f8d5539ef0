#include "wire/trial.h"

#include "model/check.h"
#include "wire/trial_state.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define TURN_MS       4
#define ASK_SEC       0.02 /* between two questions whether it is done */
#define SETTLE_SEC    0.15 /* done, and nothing was committed for so long */
#define SURVEY_SEC    3.0  /* nothing was committed for so long */
#define LEARN_SEC     2.0
#define FROZEN_SEC    30  /* of real time without a leap */
#define LONGEST_SEC   180 /* of real time without a commit */
#define BACK_SEC      20  /* for a worker to connect that was started again */
#define CLIENT_SEC    3   /* workers do not wait longer for clients, which may wait for them */
#define RESTART_SEC   0.1 /* after a worker ended by itself */
#define DEAF_PART     20  /* of the patience: what another worker may take to find the work */
#define DEATHS_MAX    6   /* of one worker in a run: it dies in a loop */
#define PATIENCES_MAX 6   /* of a run that commits for ever and is never done */

double trial_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void trial_moves(struct trial *trial)
{
    trial->moved = trial_now();
    trial->settled = false;
    trial->clock_moved = trial_clock(trial);
}

void trial_end(struct trial *trial, enum trial_verdict verdict, const char *broken,
               const char *format, ...)
{
    va_list values;
    if (trial->over) {
        return;
    }
    trial->over = true;
    trial->result->verdict = verdict;
    (void)snprintf(trial->result->broken, sizeof trial->result->broken, "%s", broken);
    va_start(values, format);
    (void)vsnprintf(trial->result->text, sizeof trial->result->text, format, values);
    va_end(values);
}

/* ---- hands ----------------------------------------------------------------------------------- */

static bool is_client(const struct trial_hand *hand)
{
    return hand->index >= LANE_CLIENT;
}

bool trial_start_hand(struct trial *trial, struct trial_hand *hand)
{
    struct error error;
    const char *command =
        is_client(hand) ? trial->subject->clients.run : trial->subject->workers.run;
    hand->start_at = 0;
    hand->connected = false;
    hand->life++;
    hand->runs =
        lane_start(trial->lane, hand->index, command, trial->database, &hand->keeper, &error);
    if (!hand->runs) {
        trial_end(trial, TRIAL_FAILED, "", "%s", error.text);
    }
    return hand->runs;
}

void trial_admit(struct trial *trial, struct trial_hand *hand)
{
    struct proxy_connection list[64];
    if (hand->admitted) {
        return;
    }
    hand->admitted = true;
    unsigned count = proxy_list(trial->lane->proxy, list, 64);
    for (unsigned i = 0; i < count && i < 64; i++) {
        if (list[i].worker == hand->index) {
            (void)proxy_release(trial->lane->proxy, list[i].number);
        }
    }
}

void trial_join_others(struct trial *trial)
{
    for (unsigned i = 1; i < (unsigned)trial->subject->workers.count; i++) {
        struct trial_hand *hand = &trial->hands[i];
        trial_admit(trial, hand);
        if (hand->life == 0) {
            (void)trial_start_hand(trial, hand);
        }
    }
}

static bool others_wait(const struct trial *trial)
{
    return trial->subject->workers.count > 1 && trial->hands[1].life == 0;
}

static bool clients_ended(const struct trial *trial)
{
    for (unsigned i = LANE_CLIENT; i < LANE_CLIENT + (unsigned)trial->subject->clients.count; i++) {
        if (!trial->hands[i].ended) {
            return false;
        }
    }
    return true;
}

/* A client that a fault did not hit is part of the workload: it has to work. */
static void client_ended(struct trial *trial, struct trial_hand *hand, int status)
{
    char tail[LANE_TAIL];
    hand->ended = true;
    if (trial->result->hits == 0 && status != 0) {
        lane_tail(trial->lane, tail);
        trial_end(trial, TRIAL_FAILED, "", "client %c ended with status %d; it printed: %s",
                  lane_letter(hand->index), WEXITSTATUS(status), tail);
    }
}

static void worker_ended(struct trial *trial, struct trial_hand *hand)
{
    char tail[LANE_TAIL];
    trial->result->deaths++;
    hand->deaths++;
    trial->result->dead = trial->result->dead == 0 ? lane_letter(hand->index) : trial->result->dead;
    hand->start_at = trial_now() + RESTART_SEC;
    if (hand->deaths < DEATHS_MAX) {
        return;
    }
    lane_tail(trial->lane, tail);
    if (trial->result->hits == 0) {
        trial_end(trial, TRIAL_FAILED, "",
                  "worker %c ends by itself, %u times without any fault; it "
                  "printed: %s",
                  lane_letter(hand->index), hand->deaths, tail);
    } else {
        trial_end(trial, TRIAL_BROKEN, "dies",
                  "worker %c ended %u times, and was started again each "
                  "time; it printed: %.300s",
                  lane_letter(hand->index), hand->deaths, tail);
    }
}

static void look_after_hand(struct trial *trial, struct trial_hand *hand)
{
    int status = 0;
    if (hand->runs && keeper_ended(&hand->keeper, &status)) {
        hand->runs = false;
        if (is_client(hand)) {
            client_ended(trial, hand, status);
        } else {
            worker_ended(trial, hand);
        }
    }
    if (hand->start_at > 0 && trial_now() >= hand->start_at) {
        (void)trial_start_hand(trial, hand);
    }
}

/* Workers start with the clients and are let in when those are through. */
static void look_after_hands(struct trial *trial)
{
    for (size_t i = 0; i < LANE_SETUP; i++) {
        look_after_hand(trial, &trial->hands[i]);
    }
    if (clients_ended(trial) || trial_now() - trial->began > CLIENT_SEC) {
        if (!trial->hands[0].admitted) {
            trial_moves(trial);
            trial_admit(trial, &trial->hands[0]);
        }
    }
}

/* ---- is it over ------------------------------------------------------------------------------ */

static void ask_whether_done(struct trial *trial)
{
    char text[JUDGE_TEXT_SIZE];
    double now = trial_now();
    if (trial->plan->survey) {
        trial->done = trial->hands[0].connected && now - trial->moved > SURVEY_SEC;
        return;
    }
    if (now - trial->asked < ASK_SEC || trial->over) {
        return;
    }
    trial->asked = now;
    enum judge_verdict verdict = judge_done(trial->judge, trial->subject->done, text);
    if (verdict == JUDGE_FAILED && strstr(text, "statement timeout") == NULL) {
        trial_end(trial, TRIAL_FAILED, "", "done: %s", text);
    }
    trial->done = verdict == JUDGE_HOLDS;
}

/* Hands that were started again must have had their chance to do harm. */
static bool all_are_back(const struct trial *trial)
{
    for (size_t i = 0; i < LANE_CLIENT; i++) {
        const struct trial_hand *hand = &trial->hands[i];
        if (hand->start_at > 0 || (hand->runs && !hand->connected)) {
            return false;
        }
    }
    return true;
}

static void finish(struct trial *trial)
{
    if (trial->plan->learn && trial->learn_until == 0) {
        trial->learn_until = trial_now() + LEARN_SEC;
    }
    if (trial_now() < trial->learn_until) {
        return;
    }
    if (trial->result->hits < trial->plan->count) {
        trial_end(trial, TRIAL_MISSED, "", "the commit was not reached");
    } else {
        trial_end(trial, TRIAL_HELD, "", "held");
    }
}

static void call_it_stranded(struct trial *trial, const char *how)
{
    char tail[LANE_TAIL];
    char row[JUDGE_TEXT_SIZE];
    if (trial->result->hits > 0) {
        (void)judge_rows(trial->judge, trial->subject->done, row);
        trial_end(trial, TRIAL_BROKEN, "stranded", "%s, and the work is not done (done: %s)", how,
                  row);
        return;
    }
    lane_tail(trial->lane, tail);
    trial_end(trial, TRIAL_FAILED, "", "%s, and the work is not done, without any fault: %s%s%s",
              how,
              trial->hands[0].connected ? "worker a is connected"
                                        : "worker a never connected to DATABASE_URL or PGHOST",
              tail[0] == '\0' ? "" : "; it printed: ", tail);
}

/* Rest is seen where there is a clock, and timed where there is none. */
static bool has_settled(const struct trial *trial)
{
    return trial->lane->clock.page == NULL ? trial_now() - trial->moved > SETTLE_SEC
                                           : trial->settled;
}

/* With a clock: nobody waits for any time, or the waits are too short to ever get there. */
static bool is_frozen(const struct trial *trial, double now)
{
    double still = now - trial->moved;
    return trial->lane->clock.page != NULL &&
           (still > LONGEST_SEC || (still > FROZEN_SEC && now - trial->leapt > FROZEN_SEC));
}

static void judge_progress(struct trial *trial)
{
    double now = trial_now();
    double patience = (double)trial->subject->patience;
    double still = trial_clock(trial) - trial->clock_moved;
    bool frozen = is_frozen(trial, now);
    char how[80];
    if (trial->done && clients_ended(trial) && !trial_holds(trial) && has_settled(trial) &&
        (all_are_back(trial) || now - trial->moved > BACK_SEC)) {
        finish(trial);
        return;
    }
    if (still > patience / 2 && trial->struck > 0 && others_wait(trial)) {
        trial->joined = trial_clock(trial);
        trial->joined_at = trial->result->commit_count;
        trial_join_others(trial);
    }
    if (still > patience || frozen) {
        (void)snprintf(how, sizeof how, "no commit for %.0f s%s", still,
                       trial->lane->clock.page == NULL ? "" : " of the clock");
        call_it_stranded(trial, how);
    } else if (trial_clock(trial) - trial->clock_began > PATIENCES_MAX * patience) {
        (void)snprintf(how, sizeof how, "commits for %.0f s",
                       trial_clock(trial) - trial->clock_began);
        call_it_stranded(trial, how);
    }
}

/* ---- judgement ------------------------------------------------------------------------------- */

static void judge_acked(struct trial *trial)
{
    char query[1600];
    char columns[JUDGE_COLUMNS_SIZE];
    char rows[JUDGE_TEXT_SIZE];
    for (size_t i = 0; i < trial->acked_count; i++) {
        const struct trial_acked *acked = &trial->acked[i];
        const struct subject_promise *promise = &trial->subject->promises[acked->promise];
        const struct subject_mapping *in =
            promise->each.column_count > 0 ? &promise->each : &promise->of;
        char *key = PQescapeLiteral(trial->judge, acked->key, strlen(acked->key));
        CHECK(key != NULL);
        judge_columns(in, "", columns);
        (void)snprintf(query, sizeof query, "SELECT 1 FROM %s WHERE ROW(%s)::text = %s LIMIT 1",
                       in->table, columns, key);
        PQfreemem(key);
        if (judge_rows(trial->judge, query, rows) != JUDGE_HOLDS) {
            trial_end(trial, TRIAL_FAILED, promise->name, "%s", rows);
        } else if (rows[0] == '\0') {
            trial_end(trial, TRIAL_BROKEN, promise->name,
                      "a client was told that %s%s is committed, and "
                      "it is not in %s",
                      promise->of.table, acked->key, in->table);
        }
    }
}

static void note_verdict(struct trial *trial, enum judge_verdict verdict, const char *name,
                         const char *text)
{
    if (verdict != JUDGE_HOLDS) {
        trial_end(trial, verdict == JUDGE_BROKEN ? TRIAL_BROKEN : TRIAL_FAILED, name, "%s", text);
    }
}

/* What is compared with the run without faults, unless a client could not say all it had to. */
static void judge_reference(struct trial *trial)
{
    const struct judge_reference *reference = &trial->plan->reference;
    char text[JUDGE_TEXT_SIZE];
    if (!reference->known || trial->client_hit) {
        return;
    }
    for (size_t i = 0; i < trial->subject->promise_count; i++) {
        const struct subject_promise *promise = &trial->subject->promises[i];
        enum judge_verdict verdict = judge_missing(trial->judge, promise, reference->keys[i], text);
        note_verdict(trial, verdict, promise->name, text);
    }
    for (size_t i = 0; i < trial->subject->expect_count; i++) {
        enum judge_verdict verdict =
            judge_expect(trial->judge, &trial->subject->expect[i], reference->same[i], text);
        note_verdict(trial, verdict, "expect", text);
    }
}

/* Nothing happened for half of the patience, another worker joined and found work at once: it was
 * there for the one that was hit, too. */
static bool is_deaf(const struct trial *trial)
{
    const struct trial_result *result = trial->result;
    return trial->joined > 0 && trial->joined_at < result->commit_count &&
           trial->acted - trial->joined < (double)trial->subject->patience / DEAF_PART;
}

/* Promises hold at the end of work, and those that forbid something hold whatever is unfinished. */
static void judge_end(struct trial *trial)
{
    char text[JUDGE_TEXT_SIZE];
    enum trial_verdict course = trial->result->verdict;
    bool finished = course == TRIAL_HELD || course == TRIAL_MISSED;
    if (!finished || trial->judge == NULL) {
        return;
    }
    trial->over = false; /* a breach outweighs both */
    for (size_t i = 0; i < trial->subject->promise_count; i++) {
        const struct subject_promise *promise = &trial->subject->promises[i];
        note_verdict(trial, judge_promise(trial->judge, promise, text), promise->name, text);
    }
    judge_acked(trial);
    judge_reference(trial);
    if (!trial->over && is_deaf(trial)) {
        trial_end(trial, TRIAL_BROKEN, "deaf",
                  "the worker that was hit lives and does nothing; another "
                  "one did its work");
    }
    if (!trial->over && trial->plan->count == 0 &&
        !judge_note(trial->judge, trial->subject, &trial->result->reference, text)) {
        trial_end(trial, TRIAL_FAILED, "", "%s", text);
    }
    trial->over = true;
}

/* ---- the course of a run --------------------------------------------------------------------- */

static void turn(struct trial *trial)
{
    struct pollfd list[TRIAL_SEATS + 2];
    struct trial_seat *seats[TRIAL_SEATS];
    nfds_t count = 2;
    list[0] = (struct pollfd){.fd = trial->lane->listener, .events = POLLIN};
    list[1] = (struct pollfd){.fd = proxy_descriptor(trial->lane->proxy), .events = POLLIN};
    for (size_t i = 0; i < TRIAL_SEATS; i++) {
        if (trial->seats[i].fd >= 0) {
            seats[count - 2] = &trial->seats[i];
            list[count++] = (struct pollfd){.fd = trial->seats[i].fd, .events = POLLIN};
        }
    }
    (void)poll(list, count, TURN_MS);
    (void)proxy_turn(trial->lane->proxy, 0); /* first: it says whose a new backend is */
    trial_accept(trial);
    for (nfds_t i = 2; i < count; i++) {
        /* A fault may have closed it, and its place may be another's. */
        if (list[i].revents != 0 && seats[i - 2]->fd == list[i].fd) {
            trial_read(trial, seats[i - 2]);
        }
    }
}

static void conduct(struct trial *trial)
{
    while (!trial->over) {
        turn(trial);
        look_after_hands(trial);
        trial_let_go(trial);
        trial_move_clock(trial);
        if (!trial->over) {
            ask_whether_done(trial);
            judge_progress(trial);
        }
        if (lane_interrupted) {
            trial_end(trial, TRIAL_ENDED, "", "interrupted");
        }
    }
}

static bool begin(struct trial *trial)
{
    struct error error;
    (void)snprintf(trial->database, sizeof trial->database, "run%u", ++trial->lane->runs);
    for (unsigned i = 0; i < LANE_SETUP; i++) {
        trial->hands[i].index = i;
        trial->hands[i].keeper.process.fd = -1;
    }
    for (size_t i = 0; i < TRIAL_SEATS; i++) {
        trial->seats[i].fd = -1;
    }
    if (!lane_copy_database(trial->lane, trial->database, &error) ||
        !lane_listen(trial->lane, &error) ||
        (trial->judge = lane_connect(trial->lane, trial->database, &error)) == NULL) {
        trial_end(trial, TRIAL_FAILED, "", "%s", error.text);
        return false;
    }
    trial_rows_begin(trial);
    trial->began = trial_now();
    trial_moves(trial);
    trial->clock_began = trial->clock_moved;
    trial->lane->told = trial_told;
    trial->lane->context = trial;
    for (unsigned i = 0; i < (unsigned)trial->subject->clients.count; i++) {
        trial->hands[LANE_CLIENT + i].admitted = true;
        (void)trial_start_hand(trial, &trial->hands[LANE_CLIENT + i]);
    }
    return trial_start_hand(trial, &trial->hands[0]);
}

static void clear(struct trial *trial)
{
    for (size_t i = 0; i < LANE_SETUP; i++) {
        keeper_kill(&trial->hands[i].keeper); /* TT2 */
        (void)proxy_cut_worker(trial->lane->proxy, (unsigned)i, PROXY_CUT_BOTH);
    }
    for (size_t i = 0; i < TRIAL_SEATS; i++) {
        trial_close_seat(&trial->seats[i]);
    }
    lane_stop_listening(trial->lane);
    if (trial->judge != NULL) {
        PQfinish(trial->judge);
    }
    trial->lane->told = NULL;
    trial->lane->context = NULL;
    lane_drop_database(trial->lane, trial->database);
}

void trial_do(struct lane *lane, const struct trial_plan *plan, struct trial_result *result)
{
    static struct trial trial; /* one at a time in a lane's process, and large */
    trial = (struct trial){
        .lane = lane, .subject = lane->options.subject, .plan = plan, .result = result};
    memset(result, 0, sizeof *result);
    if (begin(&trial)) {
        conduct(&trial);
        for (size_t i = 0; i < LANE_SETUP; i++) {
            keeper_kill(&trial.hands[i].keeper); /* judged when nobody can change anything */
        }
        if (plan->survey) {
            trial_survey(&trial);
        } else {
            judge_end(&trial);
        }
        trial_rows_end(&trial);
    }
    result->seconds = trial_now() - trial.began;
    clear(&trial);
}
