#include "faults/catalogue.h"

#include "model/check.h"

#include <string.h>

static const struct fault faults[FAULT_KIND_COUNT] = {
    [FAULT_NONE] = {"none", FAULT_GROUP_NONE, "nothing goes wrong"},
    [FAULT_CRASH_BEFORE_BEGIN] = {"crash-before-begin", FAULT_GROUP_CRASH,
                                  "the worker dies before it sends anything"},
    [FAULT_CRASH_BEFORE_COMMIT] = {"crash-before-commit", FAULT_GROUP_CRASH,
                                   "the worker dies with its transaction open, which is rolled "
                                   "back"},
    [FAULT_CRASH_AFTER_COMMIT] = {"crash-after-commit", FAULT_GROUP_CRASH,
                                  "the worker dies before it sees that its commit succeeded"},
    [FAULT_CRASH_BEFORE_ACK] = {"crash-before-ack", FAULT_GROUP_CRASH,
                                "the worker dies with all work done and its message not acked"},
    [FAULT_UNKNOWN_COMMITTED] = {"unknown-committed", FAULT_GROUP_UNKNOWN,
                                 "the answer to COMMIT is lost, and the transaction did commit"},
    [FAULT_UNKNOWN_LOST] = {"unknown-lost", FAULT_GROUP_UNKNOWN,
                            "the answer to COMMIT is lost, and the transaction did not commit"},
    [FAULT_CONNECTION_CUT] = {"connection-cut", FAULT_GROUP_ABORT,
                              "the connection breaks inside the transaction (08006)"},
    [FAULT_SERIALIZATION] = {"40001", FAULT_GROUP_ABORT,
                             "the server ends the transaction: serialization failure"},
    [FAULT_DEADLOCK] = {"40P01", FAULT_GROUP_ABORT, "the server ends the transaction: deadlock"},
    [FAULT_CONNECTIONS] = {"53300", FAULT_GROUP_ABORT, "the server has no connection left to give"},
    [FAULT_DUPLICATE] = {"duplicate", FAULT_GROUP_DUPLICATE,
                         "a second row with the same GUID while the first one is not acked yet"},
    [FAULT_REPLAY] = {"replay", FAULT_GROUP_DUPLICATE,
                      "a second row with the same GUID after the first one was acked"},
    [FAULT_REDELIVER] = {"redeliver", FAULT_GROUP_DUPLICATE,
                         "the same row again while its holder is alive and at work"},
    [FAULT_PAUSE] = {"pause", FAULT_GROUP_PAUSE,
                     "the worker stops for a while and wakes up when its claim has lapsed"},
    [FAULT_DELAY] = {"delay", FAULT_GROUP_DELAY, "what a commit published becomes visible late"},
    [FAULT_REORDER] = {"reorder", FAULT_GROUP_DELAY,
                       "a claim takes another message than the oldest"},
    [FAULT_RESTART] = {"restart", FAULT_GROUP_SERVER,
                       "the server restarts, and every connection breaks"},
    [FAULT_FAILOVER] = {"failover", FAULT_GROUP_SERVER, "a standby that lost nothing takes over"},
    [FAULT_LOSSY_FAILOVER] = {"lossy-failover", FAULT_GROUP_LOSS,
                              "a standby that lost the last commits takes over"},
    [FAULT_CLOCK_FORWARD] = {"clock-forward", FAULT_GROUP_CLOCK,
                             "the store's clock leaps ahead, and claims lapse early"},
    [FAULT_CLOCK_BACK] = {"clock-back", FAULT_GROUP_CLOCK,
                          "the store's clock falls back, and claims lapse late"},
    [FAULT_ANSWER_CHANGED] = {"answer-changed", FAULT_GROUP_ANSWER,
                              "a worker that runs a task again answers otherwise"},
    [FAULT_ILLEGAL_MOVE] = {"illegal-move", FAULT_GROUP_ILLEGAL,
                            "an actor attempts a move that the contract, or a grant, forbids"},
    [FAULT_COMMIT_LATE] = {"commit-late", FAULT_GROUP_UNKNOWN,
                           "the answer to COMMIT is lost, and it commits after others moved on"},
    [FAULT_CRASH_COMMIT_LATE] = {"crash-commit-late", FAULT_GROUP_CRASH,
                                 "the worker dies, and its commit comes after others moved on"},
    [FAULT_SUCCESSOR] = {"successor", FAULT_GROUP_SUCCESSOR,
                         "the worker is started again under its name, and its former self lives"},
    [FAULT_LONG_WORK] = {"long-work", FAULT_GROUP_WORK,
                         "the work outside rows takes time, in which its claim may run out"},
    [FAULT_SKEW] = {"clock-skew", FAULT_GROUP_SKEW,
                    "the worker's own clock is set wrong, and runs too fast or too slow"},
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

const struct fault *fault_get(enum fault_kind kind)
{
    CHECK((size_t)kind < FAULT_KIND_COUNT);
    return &faults[kind];
}

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
        if (same_text(faults[kind].name, name, length)) {
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
