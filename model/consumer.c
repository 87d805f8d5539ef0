#include "model/consumer.h"

#include <string.h>

void client_take(struct client *client, const struct outcome *last)
{
    if (last->kind == OUTCOME_COMMITTED) {
        client->job++; /* made now, or found made: the jid is the key (E-ACL-30) */
    }
}

void consumer_take(struct consumer *consumer, const struct outcome *last)
{
    bool again = last->kind == OUTCOME_ABORTED || last->kind == OUTCOME_UNKNOWN;
    if (again && ++consumer->tries <= CONSUMER_TRIES_MAX) {
        return;
    }
    if (last->kind != OUTCOME_COMMITTED || consumer->state == CONSUMER_ACK) {
        memset(consumer, 0, sizeof *consumer);
        return;
    }
    if (consumer->state == CONSUMER_IDLE) {
        memcpy(consumer->message, last->message, sizeof consumer->message);
    }
    consumer->state++;
    consumer->tries = 0;
}

bool consumer_next(const struct consumer *consumer, int64_t timeout, struct bundle *next)
{
    if (consumer->state == CONSUMER_WORK) {
        return false;
    }
    bool idle = consumer->state == CONSUMER_IDLE;
    bundle_begin(next, idle ? BUNDLE_CLAIM : BUNDLE_ACK);
    if (idle) {
        BUNDLE_CALL(next, PRIMITIVE_CLAIM, CALL_PLAIN, 0, timeout);
    } else {
        BUNDLE_CALL(next, PRIMITIVE_ACK, CALL_REQUIRE, 0, consumer->message[0],
                    consumer->message[1 + MESSAGE_EPOCH], consumer->message[1 + MESSAGE_CONTENT]);
    }
    return true;
}
