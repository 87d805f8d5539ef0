/* The inbox: messages may come any number of times, and each one's effect is applied once. The
 * example of a protocol; README.md, "Adding a protocol", walks through it.
 *
 *      client   send: the account is opened, the message published
 *      worker   claim -> apply: its id enters the inbox and the account moves, or the id is there
 *               and nothing happens (BOX-1) -> ack
 *
 * A message of the queue is a letter (inbox.h). */
#include "model/inbox.h"
#include "model/identity.h"
#include "model/protocol.h"

static void send(struct actor *actor, const struct rules *rules, struct bundle *next)
{
    int64_t number = ACTOR_IS(actor, client)->job;
    int64_t account =
        identity_mint(0, IDENTITY_ACCOUNT + number % RULES_OF(rules, inbox_rules)->accounts);
    int64_t id = identity_mint(0, IDENTITY_LETTER + number);
    bundle_begin(next, BUNDLE_SEND);
    BUNDLE_CALL(next, PRIMITIVE_OPEN_ACCOUNT, CALL_PLAIN, 0, account);
    int64_t *p = bundle_publish(next, CALL_UNLESS_DONE, id, 1);
    p[1 + LETTER_ID] = id;
    p[1 + LETTER_ACCOUNT] = account;
    p[1 + LETTER_AMOUNT] = 100 + number;
}

static void apply(const int64_t *message, struct bundle *next)
{
    bundle_begin(next, BUNDLE_APPLY);
    BUNDLE_CALL(next, PRIMITIVE_REMEMBER, CALL_UNLESS_DONE, 0, message[1 + LETTER_ID],
                message[1 + LETTER_ACCOUNT], message[1 + LETTER_AMOUNT]);
    BUNDLE_CALL(next, PRIMITIVE_CREDIT, CALL_REQUIRE, 0, message[1 + LETTER_ACCOUNT],
                message[1 + LETTER_AMOUNT]);
}

const struct protocol protocol_inbox = {
    .name = "inbox",
    PROTOCOL_SIZES(struct consumer, struct inbox_rules),
    .family = CLAUSE_FAMILY_BOX,
    .tables = TABLE_SET(MESSAGE) | TABLE_SET(ACCOUNT) | TABLE_SET(INBOX),
    .roles = {{PROTOCOL_CLIENT, .next = send}, {PROTOCOL_CONSUMER, .work = apply}},
};
