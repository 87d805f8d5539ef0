/* The plainest client and the plainest worker there are.
 *
 * A client starts jobs, each until it is sure of it; how is its protocol's.
 *
 * A consumer is a worker: It claims a message of the queue, commits one bundle
 * for it, and acks it. The bundle is the protocol's and may be repeated any number of times, so an
 * outcome that is not known is asked for again; one that is refused lets the claim lapse.
 *
 * A protocol whose messages take several bundles brings a worker of its own. */
#ifndef MODEL_CONSUMER_H
#define MODEL_CONSUMER_H

#include "model/bundle.h"

#define CONSUMER_TRIES_MAX 4 /* then it lets go, and the message comes again */

enum consumer_state { CONSUMER_IDLE, CONSUMER_WORK, CONSUMER_ACK };

struct consumer {
    uint8_t state;                        /* enum consumer_state */
    uint8_t tries;                        /* aborted or unknown outcomes of this bundle */
    int64_t message[1 + MESSAGE_COLUMNS]; /* that it holds, key first */
};

/* A client that creates jobs 0 .. count - 1, each until it is sure of it. */
struct client {
    uint32_t job;   /* the one it is about to create */
    uint32_t count; /* how many there are */
};

/* What the outcome of the last bundle means to it. */
void client_take(struct client *client, const struct outcome *last);
void consumer_take(struct consumer *consumer, const struct outcome *last);

/* The claim or the ack that it sends next; false: the protocol's own bundle is next. */
bool consumer_next(const struct consumer *consumer, int64_t timeout, struct bundle *next);

#endif
