/* The inbox: messages may come any number of times, and each one's effect is applied once. The
 * example of a protocol; README.md, "Adding a protocol", walks through it.
 *
 *      client   send: the account is opened, the message published
 *      worker   claim -> apply: its id enters the inbox and the account moves, or the id is there
 * and nothing happens (BOX-1) -> ack
 *
 * Every bundle may be repeated any number of times, so an outcome that is not known is asked for
 * again. */
#ifndef MODEL_INBOX_H
#define MODEL_INBOX_H

#include "model/bundle.h"

struct inbox_rules {
    uint32_t accounts; /* messages are for them in turn */
};

enum inbox_role { INBOX_CLIENT, INBOX_WORKER };
enum inbox_state { INBOX_IDLE, INBOX_APPLY, INBOX_ACK };

struct inbox_worker {
    uint8_t state;                        /* enum inbox_state */
    uint8_t tries;                        /* aborted or unknown outcomes of this bundle */
    int64_t message[1 + MESSAGE_COLUMNS]; /* GUID: its id; JOB: the account; CONTENT: the amount */
};

#endif
