/* What a client has asked and the server has not answered, in order. A batch is what one
 * ReadyForQuery answers: a Query, a FunctionCall, or all up to a Sync.
 *
 * (QU1) At most QUEUE_MAX; the proxy does not read from a client that has as many unanswered. */
#ifndef WIRE_QUEUE_H
#define WIRE_QUEUE_H

#include "wire/proxy.h"

#define QUEUE_MAX (1 << 20)

enum queue_kind {
    QUEUE_NOTHING, /* taken back */
    QUEUE_QUERY,
    QUEUE_FUNCTION,
    QUEUE_SYNC,
    QUEUE_PARSE,
    QUEUE_BIND,
    QUEUE_DESCRIBE,
    QUEUE_CLOSE,
    QUEUE_EXECUTE,
    QUEUE_COPY_END /* CopyDone or CopyFail; nothing answers it */
};

struct queue_item {
    enum queue_kind kind;
    enum proxy_commits how; /* what PROXY_COMMIT has announced for it */
    uint32_t name;          /* of a Parse, for names_confirm() */
    uint64_t statement;
};

struct queue {
    struct queue_item *items; /* a ring */
    size_t size;              /* a power of two */
    uint64_t first, next;     /* positions, ever growing */
    uint64_t scanned;         /* the batch at the front is known up to here */
    bool commits;             /* so far, something in it may commit */
    bool ends;                /* its end was found */
    unsigned batches;         /* Queries, FunctionCalls and Syncs in it */
};

void queue_open(struct queue *queue);
void queue_close(struct queue *queue);

static inline bool queue_empty(const struct queue *queue)
{
    return queue->first == queue->next;
}

bool queue_full(const struct queue *queue);
void queue_push(struct queue *queue, struct queue_item item);
/* The item that the next answer is for; NULL: none. */
struct queue_item *queue_front(struct queue *queue);
void queue_pop(struct queue *queue);

/* Whether the item is answered by ReadyForQuery. */
bool queue_ends_batch(enum queue_kind kind);
/* The batch at the front has been sent up to its end, and something in it may commit. */
bool queue_commits(struct queue *queue);
/* The item at the front was sent and is now known to commit. */
void queue_announce(struct queue *queue, enum proxy_commits how);
/* The server is in COPY IN for the item at the front and ignores every Sync before the end of the
 * data. Returns whether the client has sent that end. */
bool queue_copy_begins(struct queue *queue);

#endif
