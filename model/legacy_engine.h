/* The engines of the earlier ledger (seed 003): what a client and a worker do with the integer of
 * legacy.h, as it is written and with all its weaknesses (E-LEG-3).
 *
 *      client  create job: the trigger's integer, and its message
 *      Leg1    enter -100T -> [clean up] -> work -> end -10T -> publish the answers -> ack
 *      Leg2    enter +1M -> save, with the children's integers -> publish the children
 *              -> end, +1 or -999,999,999,999 -> ack
 *              ... or, if the returned value says closed: undo -1M -> ack
 *
 * The worker that does the work between the legs is left out: Leg1's transitions are its answers,
 * pending ones, the closing one, and calls that come after it.
 *
 * A message has no identity of its own here. A Leg2 message that comes again is one more entry in
 * one more dimension, with children of its own (LEG-6). A worker that crashes between an increment
 * and what follows from it leaves the increment behind (LEG-7). An unknown outcome is resolved by
 * reading, as far as one integer for all entries allows: an entry of Leg2 is repeated, and counted
 * again; one of Leg1 is left to the next claim (E-LEG-4).
 *
 * Holds no pointer, no allocation, no clock, as the engines of activity_engine.h. */
#ifndef MODEL_LEGACY_ENGINE_H
#define MODEL_LEGACY_ENGINE_H

#include "model/bundle.h"
#include "model/graph.h"

struct legacy_rules {
    const struct graph *graph;
    /* What the scenario takes for granted, because the design does: */
    bool spares_crash;   /* no worker crashes in Leg2 */
    bool spares_unknown; /* no answer to an increment of Leg2 is lost */
};

enum legacy_role { LEGACY_CLIENT, LEGACY_WORKER };

/* Where a worker stands: the bundle that it sends next. */
enum legacy_state {
    LEGACY_IDLE, /* claims a message */
    LEGACY_ENTER_LEG1,
    LEGACY_CLEAN_UP,
    LEGACY_WORK,
    LEGACY_END_LEG1,
    LEGACY_PUBLISH, /* of either leg */
    LEGACY_ENTER_LEG2,
    LEGACY_SAVE,
    LEGACY_END_LEG2,
    LEGACY_UNDO,
    LEGACY_READ, /* after an unknown outcome of an increment */
    LEGACY_ACK,
    LEGACY_ESCALATE,
    LEGACY_STATE_COUNT
};

struct legacy_worker {
    uint8_t state;                        /* enum legacy_state */
    uint8_t unsure;                       /* LEGACY_READ: the state whose increment is in doubt */
    int64_t ledger;                       /* as its entry returned it */
    int64_t message[1 + MESSAGE_COLUMNS]; /* key first */
};

/* Whether it holds a Leg2 message. */
bool legacy_engine_in_leg2(const struct legacy_worker *worker);

extern const struct protocol protocol_legacy;

#endif
