#include "wire/trial_state.h"

#include <stdlib.h>
#include <string.h>

#define RESTS_NEEDED   3 /* looks in a row that find everything at rest */
#define CONNECTIONS    256
#define PUSH_AFTER_SEC 1
#define PUSH_EACH_SEC  0.2
#define PUSH_SEC       5
#define LOOK_SEC       0.002 /* between two of them */

/* A backend that works, or waits for a lock, may still answer a client. One that is held by a fault
 * does not count: the rest of the world goes on without it. */
static bool server_rests(struct trial *trial)
{
    static const char query[] =
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' "
        "AND pid <> pg_backend_pid()";
    char rows[JUDGE_TEXT_SIZE];
    if (judge_rows(trial->judge, query, rows) != JUDGE_HOLDS) {
        return false;
    }
    for (char *at = rows; *at != '\0';) {
        pid_t pid = (pid_t)strtol(at, &at, 10);
        bool held = false;
        for (size_t i = 0; i < TRIAL_SEATS; i++) {
            const struct trial_seat *seat = &trial->seats[i];
            held =
                held || (seat->fd >= 0 && seat->hold != TRIAL_FREE && seat->event.backend == pid);
        }
        if (!held) {
            return false;
        }
        at += *at == '\n';
    }
    return true;
}

/* A connection that is being made is no query that waits for its answer, and yet is not at rest. */
static bool connections_rest(const struct trial *trial)
{
    struct proxy_connection list[CONNECTIONS];
    unsigned count = proxy_list(trial->lane->proxy, list, CONNECTIONS);
    for (unsigned i = 0; i < count && i < CONNECTIONS; i++) {
        bool waits = list[i].worker < LANE_SETUP && !trial->hands[list[i].worker].admitted;
        if (list[i].client && list[i].transaction == 0 && !list[i].replicates && !waits) {
            return false;
        }
    }
    return true;
}

static bool proxy_is_quiet(const struct trial *trial)
{
    return proxy_turn(trial->lane->proxy, 0) == 0 && proxy_rests(trial->lane->proxy) &&
           connections_rest(trial);
}

static bool hands_rest(const struct trial *trial)
{
    for (size_t i = 0; i < LANE_SETUP; i++) {
        const struct trial_hand *hand = &trial->hands[i];
        if (hand->start_at > 0 || (hand->runs && hand->admitted && !hand->connected) ||
            !keeper_rests(&hand->keeper)) {
            return false;
        }
    }
    return true;
}

/* Workers wait in real time, and nobody knows for how long: the server's clock goes ahead in steps
 * while nothing happens. */
static void push_server(struct trial *trial, double now)
{
    if (now - trial->moved > PUSH_AFTER_SEC && now - trial->leapt > PUSH_EACH_SEC) {
        clock_push(&trial->lane->clock, PUSH_SEC);
        trial->leapt = now;
    }
}

/* Everything rests. If it is done, what there is to judge is there. */
static void move(struct trial *trial, double now)
{
    if (trial->done && trial->learn_until == 0) {
        trial->settled = true;
    } else if (trial->subject->clock == SUBJECT_CLOCK_SERVER) {
        push_server(trial, now);
    } else {
        trial->leapt = clock_leap(&trial->lane->clock) ? now : trial->leapt;
    }
}

double trial_clock(const struct trial *trial)
{
    return trial_now() + clock_ahead(&trial->lane->clock);
}

void trial_move_clock(struct trial *trial)
{
    double now = trial_now();
    if (trial->lane->clock.page == NULL || now - trial->looked < LOOK_SEC) {
        return;
    }
    trial->looked = now;
    if (!proxy_is_quiet(trial) || !hands_rest(trial)) {
        trial->rests = 0;
        return;
    }
    if (++trial->rests < RESTS_NEEDED) {
        return;
    }
    trial->rests = 0;
    if (!server_rests(trial)) {
        return;
    }
    move(trial, now);
}
