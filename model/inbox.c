#include "model/inbox.h"

#include "model/identity.h"
#include "model/protocol.h"

#include <string.h>

/* GUID: the message's id; JOB: the account it is for; CONTENT: the amount. */
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

static void next_of_worker(struct actor *actor, const struct rules *rules, struct bundle *next)
{
    const int64_t *message = actor->is.consumer.message;
    if (consumer_next(&actor->is.consumer, rules->timeout, next)) {
        return;
    }
    bundle_begin(next, BUNDLE_APPLY);
    int64_t *p = bundle_append(next, PRIMITIVE_REMEMBER, CALL_UNLESS_DONE, 0);
    p[0] = message[1 + MESSAGE_GUID];
    p[1] = message[1 + MESSAGE_JOB];
    p[2] = message[1 + MESSAGE_CONTENT];
    memcpy(bundle_append(next, PRIMITIVE_CREDIT, CALL_REQUIRE, 0), p + 1, 2 * sizeof *p);
}

const struct protocol protocol_inbox = {
    .name = "inbox",
    .family = CLAUSE_FAMILY_BOX,
    .tables = TABLE_SET(MESSAGE) | TABLE_SET(ACCOUNT) | TABLE_SET(INBOX),
    .roles = {[INBOX_CLIENT] = {PROTOCOL_CLIENT, .next = next_of_client},
              [INBOX_WORKER] = {PROTOCOL_CONSUMER, .next = next_of_worker}},
};
