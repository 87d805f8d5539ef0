/* What the module in the server tells the conductor of a run, and what it is answered.
 *
 * Each backend has a connection of its own to the conductor (SOCK_SEQPACKET: a message is one
 * packet). It tells of a commit twice, just before and just after, and goes on when it is answered:
 * until then the backend stands still, before it with the transaction open, after it with the commit
 * durable and the client unanswered.
 *
 * Shared with the module, which is compiled against the server's headers: plain types only. */
#ifndef WIRE_EVENT_H
#define WIRE_EVENT_H

#include <stdint.h>

#define EVENT_TEXT_SIZE 4096 /* of the statements, with the terminator; longer ones are cut */

enum event_kind {
    EVENT_BEFORE = 1, /* all but the commit is done: deferred triggers, too */
    EVENT_AFTER = 2   /* it is committed, and nobody was told */
};

struct event {
    uint32_t kind;
    int32_t backend;            /* pid of the server's process */
    uint64_t xid;               /* 0: it gets none, or only while it commits (NOTIFY) */
    uint32_t database;          /* oid */
    uint32_t in_background;     /* 1: no client's backend */
    char text[EVENT_TEXT_SIZE]; /* the transaction's statements, a "; " between two */
};

enum event_answer_kind {
    EVENT_GO = 1,
    EVENT_RAISE, /* before a commit: an error with this SQLSTATE; the transaction rolls back */
    EVENT_END    /* before a commit: the backend rolls back and ends */
};

struct event_answer {
    uint32_t kind;
    char sqlstate[8];
};

#endif
