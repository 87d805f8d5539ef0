/* Flows under a collation key: the engines of the key protocol (seed 002).
 *
 *      client   begin flow: its row with the key of nines, its places, a message for each trigger
 *      worker   claim -> read -> what the message and the digit ask for -> ... -> ack
 *
 * A message names a flow and a position, and the digit there says what is left to do:
 *
 *      run      9: start, which also begins the flow that the activity awaits
 *               8: finish, unless it awaits a flow; then the message has done its part
 *      resume   8: finish, because the awaited flow has ended (E-KEY-9)
 *      pause    6: pause, unless the flow is complete
 *      release  5: release
 *      any      another digit: it is done already; ack
 *
 * The worker reads the flow before every change, and again when one was refused or its outcome is
 * not known: what stands in the row decides whether it is made again.
 *
 * When a join is ready. An edge is settled when its source is done (6, 4), errored (7) or skipped
 * (3), and live when the source is done and took it. A pending activity is ready when all of its
 * edges are settled and one is live; it is skipped when none can become live any more (key.h). So a
 * join waits for a parent that is paused, runs when one of its parents errored and another did not,
 * and what a pause of a completed parent finds published already is not called back. The change
 * that makes an activity ready publishes its message in the same transaction.
 *
 * What is judged on the whole key. Skips, and joins that become ready, depend on digits of other
 * activities, and a pause on whether any is active. Such a change is computed from a key that was
 * read, and made only if the key is still that one under its row's lock; if not, it is judged anew
 * (E-KEY-5). A digit never rises, so an equal key means that nothing happened in between. Every
 * other change (start, finishing without a branch or a join below) depends on its own digit alone
 * and is guarded by that (E-KEY-3): it never has to be repeated because of others.
 *
 * (FL1) A worker that is idle holds nothing.
 * (FL2) A transaction locks the row of one flow, before anything else, and then only inserts: no
 *       two can wait for each other.
 * (FL3) No engine decides that a flow is complete: the store does, on the key left by a change. */
#ifndef MODEL_FLOW_H
#define MODEL_FLOW_H

#include "model/bundle.h"
#include "model/key.h"

#define FLOW_SHAPES_MAX 4
#define FLOW_CASES_MAX  8
#define FLOW_MEMOS_MAX  60 /* edges to joins that may be left out: bits of FLOW_UNTAKEN */
#define FLOW_NAME_SIZE  16
#define FLOW_TRIES_MAX  4     /* without a change; then it lets go, and the message comes again */
#define FLOW_ACTIVE     985LL /* the digits that keep a flow from being complete (KEY-4) */

/* Cases are sets of bits: flows differ in their number, and jobs take the cases in turn. */
struct flow_activity {
    char name[FLOW_NAME_SIZE];
    uint8_t awaits;                   /* 1 + which shape; 0: none */
    uint8_t errors, holds, pauses;    /* in which cases */
    uint8_t when[KEY_ACTIVITIES_MAX]; /* by child: in which cases the edge is taken */
};

/* What a flow looks like; activities stand at their positions. */
struct flow_shape {
    char name[FLOW_NAME_SIZE];
    struct key_graph graph;
    struct flow_activity at[KEY_ACTIVITIES_MAX];
};

/* Those of a scenario. Clients begin the first; a shape awaits only later ones. */
struct flow_book {
    uint8_t shapes, cases;
    struct flow_shape shape[FLOW_SHAPES_MAX];
};

struct flow_rules {
    const struct flow_book *book;
};

/* ---- a shape --------------------------------------------------------------------------------- */

/* The activities with an edge to this one, a bit a position. */
uint16_t flow_parents(const struct flow_shape *shape, int position);

/* The children that the activity decides against in a case. */
uint16_t flow_untaken(const struct flow_shape *shape, int position, int number);

/* How many edges to joins may be left out, and so have a bit. */
int flow_memos(const struct flow_book *book, const struct flow_shape *shape);

/* The pending activities that could be started, a bit a position. */
uint16_t flow_ready(const struct flow_shape *shape, const uint16_t untaken[KEY_ACTIVITIES_MAX],
                    int64_t key);

/* ---- engines --------------------------------------------------------------------------------- */

enum flow_role { FLOW_CLIENT, FLOW_WORKER };

/* An order is a message of the queue: its columns, as flows use them. */
enum flow_order {
    ORDER_KIND = MESSAGE_KIND,     /* enum flow_message */
    ORDER_FLOW = MESSAGE_JOB,      /* the flow, */
    ORDER_POSITION = MESSAGE_NODE, /* ... and the activity's position in it */
    ORDER_KEY = MESSAGE_CONTENT    /* FLOW_RESUME: the key of the flow that was awaited */
};

enum flow_step {
    FLOW_STEP_CLAIM,
    FLOW_STEP_READ,
    FLOW_STEP_START,
    FLOW_STEP_CHANGE,
    FLOW_STEP_ACK
};

struct flow_worker {
    uint8_t step;                         /* enum flow_step: what it sends next */
    uint8_t tries;                        /* aborted or unknown outcomes since the last change */
    uint8_t change;                       /* enum key_change: of FLOW_STEP_CHANGE */
    int64_t message[1 + MESSAGE_COLUMNS]; /* that it holds, key first */
    int64_t flow[FLOW_COLUMNS];           /* as it was read last */
};

/* Asserts (FL1), and that it gives up after its tries. */
void flow_check(const struct flow_worker *worker);
/* Asserts (FL2) of what a worker sends: the first call alone touches a row that is there already,
 * one row, and nothing is inserted before that. */
void flow_bundle_check(const struct bundle *bundle);

extern const struct protocol protocol_flow;

#endif
