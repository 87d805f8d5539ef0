#include "faults/catalogue.h"

#include "model/check.h"

#include <string.h>

const struct fault fault_table[FAULT_KIND_COUNT] = {
    [FAULT_NONE] = {.name = "none",
                    .group = FAULT_GROUP_NONE,
                    .moment = FAULT_NEVER,
                    .about = "nothing goes wrong",
                    .no_twin = "it is no fault"},
    [FAULT_CRASH_BEFORE_BEGIN] = {.name = "crash-before-begin",
                                  .group = FAULT_GROUP_CRASH,
                                  .moment = FAULT_BEFORE_BEGIN,
                                  .dies = true,
                                  .answer = FAULT_TELLS_NOTHING,
                                  .about = "the worker dies before it sends anything",
                                  .no_twin =
                                      "kill-at-point at that point; crash-before-commit allows it"},
    [FAULT_CRASH_BEFORE_COMMIT] =
        {.name = "crash-before-commit",
         .group = FAULT_GROUP_CRASH,
         .moment = FAULT_INSIDE,
         .dies = true,
         .answer = FAULT_TELLS_NOTHING,
         .rolls_back = true,
         .about = "the worker dies with its transaction open, which is rolled back",
         .twins = {{CHAOS_KILL_AT_POINT, false, "kill-at-point",
                    "SIGKILL of a worker at a named point"},
                   {CHAOS_KILL, false, "kill", "SIGKILL of a worker at any instant"}}},
    [FAULT_CRASH_AFTER_COMMIT] = {.name = "crash-after-commit",
                                  .group = FAULT_GROUP_CRASH,
                                  .moment = FAULT_AFTER_COMMIT,
                                  .dies = true,
                                  .answer = FAULT_TELLS_NOTHING,
                                  .about =
                                      "the worker dies before it sees that its commit succeeded",
                                  .no_twin =
                                      "kill-at-point at that point; crash-before-commit allows it"},
    [FAULT_CRASH_BEFORE_ACK] =
        {.name = "crash-before-ack",
         .group = FAULT_GROUP_CRASH,
         .moment = FAULT_BEFORE_BEGIN,
         .dies = true,
         .answer = FAULT_TELLS_NOTHING,
         .about = "the worker dies with all work done and its message not acked",
         .no_twin = "kill-at-point before the begin of an ack; crash-before-commit allows it"},
    [FAULT_UNKNOWN_COMMITTED] =
        {.name = "unknown-committed",
         .group = FAULT_GROUP_UNKNOWN,
         .moment = FAULT_AFTER_COMMIT,
         .answer = FAULT_TELLS_UNKNOWN,
         .about = "the answer to COMMIT is lost, and the transaction did commit",
         .twins = {{CHAOS_CUT_LATE, false, "answer-lost",
                    "the connection cut after COMMIT was sent and before its answer"}}},
    [FAULT_UNKNOWN_LOST] = {.name = "unknown-lost",
                            .group = FAULT_GROUP_UNKNOWN,
                            .moment = FAULT_AT_COMMIT,
                            .rolls_back = true,
                            .answer = FAULT_TELLS_UNKNOWN,
                            .about =
                                "the answer to COMMIT is lost, and the transaction did not commit",
                            .twins = {{CHAOS_CUT_EARLY, false, "commit-lost",
                                       "the connection cut while COMMIT was being sent"}}},
    [FAULT_CONNECTION_CUT] = {.name = "connection-cut",
                              .group = FAULT_GROUP_ABORT,
                              .moment = FAULT_INSIDE,
                              .rolls_back = true,
                              .answer = FAULT_TELLS_ABORT,
                              .aborted = ABORT_CONNECTION,
                              .about = "the connection breaks inside the transaction (08006)",
                              .twins = {{CHAOS_TERMINATE, false, "terminate",
                                         "pg_terminate_backend"}}},
    [FAULT_SERIALIZATION] = {.name = "40001",
                             .group = FAULT_GROUP_ABORT,
                             .moment = FAULT_INSTEAD,
                             .answer = FAULT_TELLS_ABORT,
                             .aborted = ABORT_SERIALIZATION,
                             .about = "the server ends the transaction: serialization failure",
                             .twins = {{CHAOS_SERIALIZATION, true, "40001",
                                        "a serialization failure"}}},
    [FAULT_DEADLOCK] = {.name = "40P01",
                        .group = FAULT_GROUP_ABORT,
                        .moment = FAULT_INSTEAD,
                        .answer = FAULT_TELLS_ABORT,
                        .aborted = ABORT_DEADLOCK,
                        .about = "the server ends the transaction: deadlock",
                        .twins = {{CHAOS_DEADLOCK, true, "40P01", "a deadlock"}}},
    [FAULT_CONNECTIONS] = {.name = "53300",
                           .group = FAULT_GROUP_ABORT,
                           .moment = FAULT_INSTEAD,
                           .answer = FAULT_TELLS_ABORT,
                           .aborted = ABORT_CONNECTIONS,
                           .about = "the server has no connection left to give",
                           .twins = {{CHAOS_CONNECTIONS, true, "53300", "no connection is free"}}},
    [FAULT_DUPLICATE] = {.name = "duplicate",
                         .group = FAULT_GROUP_DUPLICATE,
                         .moment = FAULT_AROUND,
                         .about =
                             "a second row with the same GUID while the first one is not acked yet",
                         .twins = {{CHAOS_DUPLICATE, false, "duplicate",
                                    "a message comes a second time, the first one not acked yet"}}},
    [FAULT_REPLAY] = {.name = "replay",
                      .group = FAULT_GROUP_DUPLICATE,
                      .moment = FAULT_AROUND,
                      .about = "a second row with the same GUID after the first one was acked",
                      .twins = {{CHAOS_REPLAY, false, "replay",
                                 "a message that was acked comes again"}}},
    [FAULT_REDELIVER] = {.name = "redeliver",
                         .group = FAULT_GROUP_DUPLICATE,
                         .moment = FAULT_AROUND,
                         .about = "the same row again while its holder is alive and at work",
                         .twins = {{CHAOS_REDELIVER, false, "redeliver",
                                    "a message comes again while its holder is at work"}}},
    [FAULT_PAUSE] = {.name = "pause",
                     .group = FAULT_GROUP_PAUSE,
                     .moment = FAULT_BEFORE_BEGIN,
                     .answer = FAULT_TELLS_NOTHING,
                     .about = "the worker stops for a while and wakes up when its claim has lapsed",
                     .twins = {{CHAOS_STOP, false, "stop",
                                "SIGSTOP of a worker, and SIGCONT when its claim has lapsed"},
                               {CHAOS_SHORT_STOP, false, "short-stop",
                                "SIGSTOP of a worker, and SIGCONT while its claim lasts"}}},
    [FAULT_DELAY] = {.name = "delay",
                     .group = FAULT_GROUP_DELAY,
                     .moment = FAULT_AT_COMMIT,
                     .about = "what a commit published becomes visible late",
                     .twins = {{CHAOS_DELAY, false, "delay",
                                "what a commit published becomes visible late"}}},
    [FAULT_REORDER] = {.name = "reorder",
                       .group = FAULT_GROUP_DELAY,
                       .moment = FAULT_INSIDE,
                       .about = "a claim takes another message than the oldest",
                       .twins = {{CHAOS_REORDER, false, "reorder",
                                  "a claim takes another message than the oldest"}}},
    [FAULT_RESTART] = {.name = "restart",
                       .group = FAULT_GROUP_SERVER,
                       .moment = FAULT_AROUND,
                       .about = "the server restarts, and every connection breaks",
                       .twins = {{CHAOS_KILL_BACKEND, true, "kill-backend",
                                  "SIGKILL of a backend: the server starts over"},
                                 {CHAOS_RESTART, true, "restart",
                                  "immediate stop of the server, and restart"}}},
    [FAULT_FAILOVER] = {.name = "failover",
                        .group = FAULT_GROUP_SERVER,
                        .moment = FAULT_AROUND,
                        .about = "a standby that lost nothing takes over",
                        .twins = {{CHAOS_FAILOVER, true, "failover",
                                   "the primary killed, its synchronous standby promoted"}}},
    [FAULT_LOSSY_FAILOVER] = {.name = "lossy-failover",
                              .group = FAULT_GROUP_LOSS,
                              .moment = FAULT_AROUND,
                              .about = "a standby that lost the last commits takes over",
                              .no_twin = "the standby is synchronous and loses nothing"},
    [FAULT_CLOCK_FORWARD] = {.name = "clock-forward",
                             .group = FAULT_GROUP_CLOCK,
                             .moment = FAULT_AROUND,
                             .about = "the store's clock leaps ahead, and claims lapse early",
                             .twins = {{CHAOS_CLOCK_FORWARD, false, "clock-forward",
                                        "the store's clock leaps ahead, and claims lapse early"}}},
    [FAULT_CLOCK_BACK] = {.name = "clock-back",
                          .group = FAULT_GROUP_CLOCK,
                          .moment = FAULT_AROUND,
                          .about = "the store's clock falls back, and claims lapse late",
                          .twins = {{CHAOS_CLOCK_BACK, false, "clock-back",
                                     "the store's clock falls back, and claims lapse late"}}},
    [FAULT_ANSWER_CHANGED] = {.name = "answer-changed",
                              .group = FAULT_GROUP_ANSWER,
                              .moment = FAULT_INSIDE,
                              .about = "a worker that runs a task again answers otherwise",
                              .twins = {{CHAOS_ANSWER, false, "answer-changed",
                                         "a worker that runs a task again answers otherwise"}}},
    [FAULT_ILLEGAL_MOVE] =
        {.name = "illegal-move",
         .group = FAULT_GROUP_ILLEGAL,
         .moment = FAULT_AROUND,
         .about = "an actor attempts a move that the contract, or a grant, forbids",
         .twins = {{CHAOS_ILLEGAL_MOVE, false, "illegal-move",
                    "an actor attempts a move that the contract, or a grant, forbids"}}},
    [FAULT_COMMIT_LATE] =
        {.name = "commit-late",
         .group = FAULT_GROUP_UNKNOWN,
         .moment = FAULT_LATE,
         .counts_later = true,
         .answer = FAULT_TELLS_UNKNOWN,
         .about = "the answer to COMMIT is lost, and it commits after others moved on",
         .no_twin =
             "a server executes what it has received at once: nothing there delays one COMMIT"},
    [FAULT_CRASH_COMMIT_LATE] =
        {.name = "crash-commit-late",
         .group = FAULT_GROUP_CRASH,
         .moment = FAULT_LATE,
         .dies = true,
         .answer = FAULT_TELLS_NOTHING,
         .counts_later = true,
         .about = "the worker dies, and its commit comes after others moved on",
         .no_twin =
             "a server executes what it has received at once: nothing there delays one COMMIT"},
    [FAULT_SUCCESSOR] =
        {.name = "successor",
         .group = FAULT_GROUP_SUCCESSOR,
         .moment = FAULT_BEFORE_BEGIN,
         .counts_later = true,
         .answer = FAULT_TELLS_NOTHING,
         .about = "the worker is started again under its name, and its former self lives",
         .no_twin = "a process is started again only when its former self is dead"},
    [FAULT_LONG_WORK] = {.name = "long-work",
                         .group = FAULT_GROUP_WORK,
                         .moment = FAULT_BEFORE_BEGIN,
                         .counts_later = true,
                         .answer = FAULT_TELLS_NOTHING,
                         .about =
                             "the work outside rows takes time, in which its claim may run out",
                         .no_twin =
                             "a worker does its work at once; a stop makes it outlast its claim"},
    [FAULT_SKEW] = {.name = "clock-skew",
                    .group = FAULT_GROUP_SKEW,
                    .moment = FAULT_AROUND,
                    .counts_later = true,
                    .about = "the worker's own clock is set wrong, and runs too fast or too slow",
                    .no_twin = "all processes run on one machine, and so by one clock"},
};

static const struct fault_group_text groups[FAULT_GROUP_COUNT] = {
    [FAULT_GROUP_NONE] = {"none", "none", 0},
    [FAULT_GROUP_CRASH] = {"crash", "crashes", 3},
    [FAULT_GROUP_UNKNOWN] = {"unknown", "unknowns", 3},
    [FAULT_GROUP_ABORT] = {"abort", "aborts", 4},
    [FAULT_GROUP_DUPLICATE] = {"duplicate", "duplicates", 3},
    [FAULT_GROUP_PAUSE] = {"pause", "pauses", 2},
    [FAULT_GROUP_DELAY] = {"delay", "delays", 4},
    [FAULT_GROUP_SERVER] = {"server", "restarts", 1},
    [FAULT_GROUP_LOSS] = {"loss", "losses", 1},
    [FAULT_GROUP_CLOCK] = {"clock", "jumps", 2},
    [FAULT_GROUP_ANSWER] = {"answer", "answers", 1},
    [FAULT_GROUP_ILLEGAL] = {"illegal", "illegals", 1},
    [FAULT_GROUP_SUCCESSOR] = {"successor", "successors", 2},
    [FAULT_GROUP_WORK] = {"work", "works", 3},
    [FAULT_GROUP_SKEW] = {"skew", "skews", 2},
};

const struct fault_group_text *fault_group_get(enum fault_group group)
{
    CHECK((size_t)group < FAULT_GROUP_COUNT);
    return &groups[group];
}

static bool same_text(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

bool fault_find(const char *name, size_t length, enum fault_kind *found)
{
    for (int kind = FAULT_NONE + 1; kind < FAULT_KIND_COUNT; kind++) {
        if (same_text(fault_table[kind].name, name, length)) {
            *found = (enum fault_kind)kind;
            return true;
        }
    }
    return false;
}

bool fault_group_find(const char *name, size_t length, enum fault_group *found)
{
    for (int group = FAULT_GROUP_NONE + 1; group < FAULT_GROUP_COUNT; group++) {
        if (same_text(groups[group].name, name, length)) {
            *found = (enum fault_group)group;
            return true;
        }
    }
    return false;
}

bool fault_group_find_limit(const char *limit, size_t length, enum fault_group *found)
{
    for (int group = FAULT_GROUP_NONE + 1; group < FAULT_GROUP_COUNT; group++) {
        if (same_text(groups[group].limit, limit, length)) {
            *found = (enum fault_group)group;
            return true;
        }
    }
    return false;
}

static const struct fault_twin *twin_of(const struct fault *fault, enum chaos_kind kind)
{
    for (int i = 0; i < FAULT_TWINS_MAX && fault->twins[i].name != NULL; i++) {
        if (fault->twins[i].kind == kind) {
            return &fault->twins[i];
        }
    }
    return NULL;
}

enum fault_kind fault_of_twin(enum chaos_kind kind)
{
    int fault = FAULT_NONE;
    while (fault < FAULT_KIND_COUNT && twin_of(&fault_table[fault], kind) == NULL) {
        fault++;
    }
    CHECK(fault < FAULT_KIND_COUNT); /* F3 */
    return (enum fault_kind)fault;
}

const struct fault_twin *fault_twin_get(enum chaos_kind kind)
{
    return twin_of(&fault_table[fault_of_twin(kind)], kind);
}
