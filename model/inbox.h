/* The inbox: messages may come any number of times, and each one's effect is applied once. The
 * example of a protocol; README.md, "Adding a protocol", walks through it.
 *
 *      client   send: the account is opened, the message published
 *      worker   claim -> apply: its id enters the inbox and the account moves, or the id is there
 * and nothing happens (BOX-1) -> ack */
#ifndef MODEL_INBOX_H
#define MODEL_INBOX_H

#include <stdint.h>

struct inbox_rules {
    uint32_t accounts; /* messages are for them in turn */
};

enum inbox_role { INBOX_CLIENT, INBOX_WORKER };

#endif
