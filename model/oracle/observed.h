/* What a store saw of one transaction beside the rows that it wrote: facts of its execution, and
 * nothing of what its client intends. Some promises are about that and leave no row: locks and
 * isolation, how often something was tried, what a client knew of the time.
 *
 * A store fills in what it knows. What it cannot tell has the value that says so, and no promise is
 * counted as held on the strength of it (OB1).
 *
 * (OB1) OBSERVED_ISOLATION_UNKNOWN: neither isolation nor locks were seen. OBSERVED_NOBODY: it is
 *       not known whose transaction it was, nor how the one before it ended.
 * (OB2) Every transaction of a client that is known is told, in the order in which its client sent
 *       them, whether it committed or not. */
#ifndef MODEL_ORACLE_OBSERVED_H
#define MODEL_ORACLE_OBSERVED_H

#include <stdbool.h>
#include <stdint.h>

#define OBSERVED_CLIENTS_MAX 21
#define OBSERVED_NOBODY      255
#define OBSERVED_LOCKS_MAX   4

enum observed_end {
    OBSERVED_COMMITTED,
    OBSERVED_REFUSED,     /* a guard or a constraint: nothing stayed, and that is an answer */
    OBSERVED_ABORTED,     /* an error after which the whole may be tried again: nothing stayed */
    OBSERVED_TURNED_AWAY, /* likewise, and it had no connection: 53300 */
    OBSERVED_LOST         /* its connection went before COMMIT was through: nothing stayed */
};

enum observed_isolation {
    OBSERVED_ISOLATION_UNKNOWN,
    OBSERVED_READ_COMMITTED,
    OBSERVED_REPEATABLE_READ,
    OBSERVED_SERIALIZABLE
};

/* When the first advisory lock was taken. */
enum observed_lock {
    OBSERVED_LOCK_NONE,
    OBSERVED_LOCK_FIRST,  /* by its first statement */
    OBSERVED_LOCK_BEFORE, /* before it wrote a row; what it read earlier the store does not know */
    OBSERVED_LOCK_LATE
};

struct observed {
    uint8_t ended;     /* enum observed_end */
    bool answered;     /* its client was told how it ended */
    bool only_read;    /* it wrote nothing and locked no row */
    bool taken;        /* refused, since a row with its key was there: 23505 */
    bool skipped;      /* committed, and left out what had been done before */
    bool is_new;       /* its client was started since its last transaction, and knows of none */
    uint8_t client;    /* whose it was, by the name with which it connects; OBSERVED_NOBODY */
    uint8_t principal; /* enum principal: as whom it connected */
    uint8_t isolation; /* enum observed_isolation */
    uint8_t locked;    /* enum observed_lock */
    uint8_t lock_count;
    int64_t worked;  /* ticks that its client, by its own clock, has worked outside rows since the
                       transaction before, as the journal tells; 0: it does not */
    int64_t stretch; /* ... and the most that it meant to work without looking at its clock */
    int64_t
        began; /* the store's clock at its first statement, or when it was aborted: what its client was told */
    int64_t wall_from,
        wall_to; /* what the wall clock showed during its statements; both 0: not known */
    int64_t locks[OBSERVED_LOCKS_MAX]; /* what its advisory locks are of */
};

static inline bool observed_has_lock(const struct observed *seen, int64_t of)
{
    for (int i = 0; i < seen->lock_count; i++) {
        if (seen->locks[i] == of) {
            return true;
        }
    }
    return false;
}

/* Its client knows no more of it than that it failed, or not even that. */
static inline bool observed_failed(const struct observed *seen)
{
    return !seen->answered || seen->ended == OBSERVED_ABORTED || seen->ended == OBSERVED_LOST ||
           seen->ended == OBSERVED_TURNED_AWAY;
}

#endif
