#include "model/inbox.h"

#include "model/identity.h"
#include "model/protocol.h"

#include <string.h>

#define TRIES_MAX 4 /* then the worker lets go, the claim lapses and the message comes again */

static void next_of_client(struct actor *actor, const struct rules *rules, struct bundle *next)
{
    int64_t number = actor->is.client.job;
    int64_t account = identity_mint(0, IDENTITY_ACCOUNT + number % rules->of.inbox.accounts);
    bundle_begin(next, BUNDLE_SEND);
    bundle_append(next, PRIMITIVE_OPEN_ACCOUNT, CALL_PLAIN, 0)[0] = account;
    int64_t *p = bundle_append(next, PRIMITIVE_PUBLISH, CALL_UNLESS_DONE, 0);
    memset(p, 0, (1 + MESSAGE_VISIBLE_AT) * sizeof *p);
    p[0] = identity_mint(0, IDENTITY_LETTER + number);
    p[1 + MESSAGE_KIND] = 1;
    p[1 + MESSAGE_GUID] = p[0];
    p[1 + MESSAGE_JOB] = account;
    p[1 + MESSAGE_CONTENT] = 100 + number;
}

static void begin_worker(struct actor *actor, const struct rules *rules, unsigned number)
{
    (void)rules, (void)number;
    actor->is.inbox = (struct inbox_worker){.state = INBOX_IDLE};
}

static void next_of_worker(struct actor *actor, const struct rules *rules, struct bundle *next)
{
    const int64_t *message = actor->is.inbox.message;
    if (actor->is.inbox.state == INBOX_IDLE) {
        bundle_begin(next, BUNDLE_CLAIM);
        bundle_append(next, PRIMITIVE_CLAIM, CALL_PLAIN, 0)[0] = rules->timeout;
    } else if (actor->is.inbox.state == INBOX_APPLY) {
        bundle_begin(next, BUNDLE_APPLY);
        int64_t *p = bundle_append(next, PRIMITIVE_REMEMBER, CALL_UNLESS_DONE, 0);
        p[0] = message[1 + MESSAGE_GUID];
        p[1] = message[1 + MESSAGE_JOB];
        p[2] = message[1 + MESSAGE_CONTENT];
        memcpy(bundle_append(next, PRIMITIVE_CREDIT, CALL_REQUIRE, 0), p + 1, 2 * sizeof *p);
    } else {
        bundle_begin(next, BUNDLE_ACK);
        int64_t *p = bundle_append(next, PRIMITIVE_ACK, CALL_REQUIRE, 0);
        p[0] = message[0];
        p[1] = message[1 + MESSAGE_EPOCH];
    }
}

static void tell_worker(struct actor *actor, const struct rules *rules, const struct outcome *last)
{
    struct inbox_worker *worker = &actor->is.inbox;
    bool again = last->kind == OUTCOME_ABORTED || last->kind == OUTCOME_UNKNOWN;
    if (again && ++worker->tries <= TRIES_MAX) {
        return;
    }
    if (last->kind != OUTCOME_COMMITTED || worker->state == INBOX_ACK) {
        begin_worker(actor, rules, 0); /* done; or the claim is lost, and whoever has it goes on */
        return;
    }
    if (worker->state == INBOX_IDLE) {
        memcpy(worker->message, last->message, sizeof worker->message);
    }
    worker->state++;
    worker->tries = 0;
}

static bool worker_is_idle(const struct actor *actor)
{
    return actor->is.inbox.state == INBOX_IDLE;
}

static int64_t worker_due(const struct actor *actor, const struct rules *rules,
                          const struct glance *glance)
{
    (void)rules;
    return worker_is_idle(actor) ? glance->next_message : glance->now;
}

static const int64_t *worker_message(const struct actor *actor)
{
    return actor->is.inbox.message;
}

const struct protocol protocol_inbox = {
    .name = "inbox",
    .family = CLAUSE_FAMILY_BOX,
    .tables = TABLE_SET(MESSAGE) | TABLE_SET(ACCOUNT) | TABLE_SET(INBOX),
    .roles = {[INBOX_CLIENT] = {PROTOCOL_CLIENT, .next = next_of_client},
              [INBOX_WORKER] = {.name = "worker",
                                .begin = begin_worker,
                                .next = next_of_worker,
                                .take = tell_worker,
                                .is_idle = worker_is_idle,
                                .due = worker_due,
                                .message = worker_message}},
};
