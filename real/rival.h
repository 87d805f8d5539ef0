/* A rival for what a victim needs: locks rows in the wrong order, moves rows under a SERIALIZABLE
 * transaction, or takes all connections. What the victim then gets is the server's own answer:
 * 40P01, 40001, 53300. Changes nothing that anybody can see.
 *
 * The victim is a process that stands still before it begins its transaction (SIGSTOP); every
 * function lets it go on (SIGCONT) and stays until the victim has met it or has its answer, however
 * long it takes to be given a processor, up to some seconds. Whether it was hit is the victim's to
 * say.
 *
 * Most of it needs a superuser, and a server whose deadlock_timeout is RIVAL_DEADLOCK_MS or a
 * little more: the victim must be waiting already when the rival asks for what the victim has, and
 * be the first to look for a deadlock. */
#ifndef REAL_RIVAL_H
#define REAL_RIVAL_H

#include "real/store.h"

#include <sys/types.h>

#define RIVAL_DEADLOCK_MS 80

struct rival {
    const char *dsn, *schema;
    pid_t victim;
    int backend; /* the victim's process on the server; 0: it has yet to connect */
    char name[STORE_PG_NAME_SIZE]; /* of all its connections */
    enum row_table table; /* that the victim is going to change a row of, after other changes */
    bool (*is_over)(const void *of); /* the victim has its answer */
    const void *of;                  /* ... for that */
};

void rival_deadlock(const struct rival *rival);
void rival_serialization(const struct rival *rival);

/* Holds the oldest messages that could be claimed, up to `most`, so that the victim's claim takes a
 * later one. The oldest is in *held before the victim goes on. False: there are not two, and it
 * just goes on. */
bool rival_overtake(const struct rival *rival, int64_t now, uint32_t most, _Atomic long long *held);

/* Takes every connection that is left, and the victim's. */
void rival_crowd(const struct rival *rival);

#endif
