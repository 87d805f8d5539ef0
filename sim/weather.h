/* Fault injection of a run (its weather): which fault hits an actor's next transaction, and the
 * faults of the environment. Faults of the queue concern TABLE_MESSAGE: a protocol without messages
 * has none. Private to sim/run.c. */
#ifndef SIM_WEATHER_H
#define SIM_WEATHER_H

#include "sim/run.h"

/* The fault that hits the actor's next transaction. A fault of the environment happens here, as a
 * step of its own, and the transaction then runs without a fault. */
enum fault_kind weather_fault(struct run *run, unsigned actor);

/* The run is quiescent, and yet a message that was acked long ago may be replayed. True: one
 * was. */
bool weather_replay_late(struct run *run);

#endif
