#include "wire/queue.h"

#include "model/check.h"

#include <stdlib.h>

#define QUEUE_BASE 16

void queue_open(struct queue *queue)
{
    *queue = (struct queue){.size = QUEUE_BASE};
    queue->items = malloc(QUEUE_BASE * sizeof *queue->items);
    CHECK(queue->items != NULL);
}

void queue_close(struct queue *queue)
{
    free(queue->items);
    *queue = (struct queue){0};
}

static struct queue_item *item_at(const struct queue *queue, uint64_t position)
{
    return &queue->items[position & (queue->size - 1)];
}

bool queue_full(const struct queue *queue)
{
    return queue->next - queue->first >= QUEUE_MAX;
}

static void grow(struct queue *queue)
{
    struct queue larger = *queue;
    larger.size *= 2;
    larger.items = malloc(larger.size * sizeof *larger.items);
    CHECK(larger.items != NULL);
    for (uint64_t at = queue->first; at < queue->next; at++) {
        *item_at(&larger, at) = *item_at(queue, at);
    }
    free(queue->items);
    *queue = larger;
}

bool queue_ends_batch(enum queue_kind kind)
{
    return kind == QUEUE_QUERY || kind == QUEUE_FUNCTION || kind == QUEUE_SYNC;
}

void queue_push(struct queue *queue, struct queue_item item)
{
    CHECK(!queue_full(queue)); /* QU1 */
    if (queue->next - queue->first == queue->size) {
        grow(queue);
    }
    *item_at(queue, queue->next++) = item;
    queue->batches += queue_ends_batch(item.kind);
}

/* What was known of the batch at the front is no longer so. */
static void forget_scan(struct queue *queue)
{
    queue->scanned = queue->first;
    queue->commits = queue->ends = false;
}

/* Nothing answers it. A driver may even send CopyFail after the end of its COPY. */
static bool is_silent(enum queue_kind kind)
{
    return kind == QUEUE_NOTHING || kind == QUEUE_COPY_END;
}

struct queue_item *queue_front(struct queue *queue)
{
    while (!queue_empty(queue) && is_silent(item_at(queue, queue->first)->kind)) {
        queue->first++;
    }
    return queue_empty(queue) ? NULL : item_at(queue, queue->first);
}

void queue_pop(struct queue *queue)
{
    CHECK(!queue_empty(queue));
    enum queue_kind kind = item_at(queue, queue->first++)->kind;
    if (queue_ends_batch(kind)) {
        queue->batches--;
        forget_scan(queue);
    } else if (queue->scanned < queue->first) {
        queue->scanned = queue->first;
    }
}

bool queue_commits(struct queue *queue)
{
    if (queue->scanned < queue->first) {
        queue->scanned = queue->first;
    }
    while (!queue->ends && queue->scanned < queue->next) {
        const struct queue_item *item = item_at(queue, queue->scanned++);
        queue->commits |= item->how != PROXY_COMMITS_NOT;
        queue->ends = queue_ends_batch(item->kind);
    }
    return queue->ends && queue->commits;
}

void queue_announce(struct queue *queue, enum proxy_commits how)
{
    queue_front(queue)->how = how;
    forget_scan(queue);
}

bool queue_copy_begins(struct queue *queue)
{
    bool ended = false;
    for (uint64_t at = queue->first + 1; at < queue->next && !ended; at++) {
        struct queue_item *item = item_at(queue, at);
        if (item->kind == QUEUE_SYNC) {
            item->kind = QUEUE_NOTHING;
            item->how = PROXY_COMMITS_NOT;
            queue->batches--;
        }
        ended = item->kind == QUEUE_COPY_END;
    }
    forget_scan(queue);
    return ended;
}
