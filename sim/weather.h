/* The weather of a run: which fault falls on an actor's next transaction, and what the world around
 * does meanwhile. The queue's disturbances are those of TABLE_MESSAGE: a protocol without messages
 * has none. Private to sim/run.c. */
#ifndef SIM_WEATHER_H
#define SIM_WEATHER_H

#include "sim/run.h"

/* The fault that falls on the actor's next transaction. One of the world around happens here, as a
 * step of its own, and the transaction then runs as if nothing were. */
enum fault_kind weather_fault(struct run *run, unsigned actor);

/* Everything is done, and yet: a message that was acked long ago may come again. True: one did. */
bool weather_replay_late(struct run *run);

#endif
