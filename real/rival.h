/* A rival of a victim's transaction: locks rows in the wrong order, moves rows under a SERIALIZABLE
 * transaction, or takes all connections. The victim gets the server's own answer: 40P01, 40001,
 * 53300. The rival leaves no change behind.
 *
 * The victim is a process that is stopped before it begins its transaction (SIGSTOP). Every function
 * continues it (SIGCONT) and waits until the victim has met the rival or has its answer, up to some
 * seconds. The victim's outcome tells whether it was hit.
 *
 * Most of it needs a superuser, and a server whose deadlock_timeout is RIVAL_DEADLOCK_MS or a little
 * more: the victim must already wait when the rival asks for what the victim holds, and be the first
 * to check for a deadlock. */
#ifndef REAL_RIVAL_H
#define REAL_RIVAL_H

#include "real/store.h"

#include <sys/types.h>

#define RIVAL_DEADLOCK_MS 80

struct rival {
    const char *dsn, *schema;
    pid_t victim;
    int backend; /* the victim's process on the server; 0: it has not connected yet */
    char name[STORE_PG_NAME_SIZE];   /* of all its connections */
    enum row_table table;            /* in which the victim changes a row after other changes */
    bool (*is_over)(const void *of); /* the victim has its answer */
    const void *of;                  /* ... for that */
    int64_t *transaction;            /* of the rival, for rival_serialization */
};

void rival_deadlock(const struct rival *rival);
/* Returns the rival's transaction: it writes rows as they were. 0: it wrote none. */
int64_t rival_serialization(struct rival *rival);

/* Locks the oldest claimable messages, up to `most`, so that the victim's claim takes a later one.
 * The oldest is in *held before the victim goes on. False: there are not two, and the victim goes on
 * undisturbed. */
bool rival_overtake(const struct rival *rival, int64_t now, uint32_t most, _Atomic long long *held);

/* Takes every free connection, and the victim's. */
void rival_crowd(const struct rival *rival);

#endif
