/* The planted bugs of the inbox protocol. */
#include "faults/sabotage_book.h"
#include "model/inbox.h"

enum { ONE_ACCOUNT, BY_DELIVERY, IN_ORDER };

static const struct sabotage named[] = {
    [ONE_ACCOUNT] = {.name = "inbox-one-account",
                     .about = "every message is sent to the account of the first one",
                     .scenario = "inbox"},
    [BY_DELIVERY] = {.name = "inbox-by-delivery",
                     .about = "the inbox has the id of the delivery, not that of the message",
                     .scenario = "inbox"},
    [IN_ORDER] = {.name = "inbox-in-order",
                  .about =
                      "a first delivery that is older than the last message is taken for a replay",
                  .scenario = "inbox",
                  .lasting = true},
    {.name = "inbox-wrong-amount",
     .about = "messages are sent with the amount of the next one",
     .scenario = "inbox",
     SABOTAGE_AS(SHIFT, SEND, PUBLISH),
     .op = 1 + LETTER_AMOUNT},
    {.name = "inbox-check-then-insert",
     .about = "the inbox is looked at before the transaction, not inside it",
     .scenario = "inbox",
     SABOTAGE_AS(LOOK_FIRST, APPLY, REMEMBER)},
    {.name = "inbox-split",
     .about = "a message's id and its effect are committed apart",
     .scenario = "inbox",
     SABOTAGE_AS(SPLIT, APPLY, REMEMBER)},
    SABOTAGE_TRIES("inbox", "inbox-stubborn"),
};

/* The client always uses the first account that it sent to. */
static void stick(struct sabotage_memory *memory, struct bundle *bundle)
{
    memory->stale = memory->flag ? memory->stale : bundle->params[0];
    memory->flag = true;
    bundle->params[0] = memory->stale;
    bundle->params[bundle->calls[1].params + 1 + LETTER_ACCOUNT] = memory->stale;
}

/* The worker trusts the queue's order: what comes for the first time, was sent before the last message
 * and has a smaller id is a copy. Amounts tell the order of sending; a queue orders by time, then id. */
static void apply_newer(struct sabotage_memory *memory, const int64_t *message,
                        struct bundle *bundle)
{
    int64_t number = message[1 + LETTER_AMOUNT], id = message[1 + LETTER_ID];
    bool older = number < memory->held[0] && id < memory->held[1];
    if (older && message[1 + MESSAGE_EPOCH] == 1) {
        bundle_begin(bundle, BUNDLE_APPLY);
        BUNDLE_CALL(bundle, PRIMITIVE_OPEN_ACCOUNT, CALL_PLAIN, 0, message[1 + LETTER_ACCOUNT]);
    } else {
        memory->held[0] = number;
        memory->held[1] = id;
    }
}

static void twist(const struct sabotage *sabotage, struct sabotage_memory *memory,
                  const struct actor *actor, struct bundle *bundle)
{
    if (sabotage->which == ONE_ACCOUNT && bundle->name == BUNDLE_SEND) {
        stick(memory, bundle);
    } else if (sabotage->which == BY_DELIVERY && bundle->name == BUNDLE_APPLY) {
        bundle->params[0] = ACTOR_IS(actor, consumer)->message[0];
    } else if (sabotage->which == IN_ORDER && bundle->name == BUNDLE_APPLY) {
        apply_newer(memory, ACTOR_IS(actor, consumer)->message, bundle);
    }
}

static const struct sabotage_shape shapes[] = {
    SHAPE(BUNDLE_SEND, PRIMITIVE_OPEN_ACCOUNT, PRIMITIVE_PUBLISH),
    SHAPE(BUNDLE_CLAIM, PRIMITIVE_CLAIM),
    SHAPE_BEFORE_ACK(BUNDLE_APPLY, PRIMITIVE_REMEMBER, PRIMITIVE_CREDIT),
    SHAPE(BUNDLE_ACK, PRIMITIVE_ACK),
};

static const struct sabotage_reason equivalents[] = {
    {"inbox.send/repeat", "a message that is sent twice is one that comes twice"},
    {"inbox.send/split-after/open-account", "an account that nothing is sent to yet owes nothing"},
    {"inbox.ack/repeat", "the message is gone already"},
    {"inbox.ack/unguard/ack.1",
     "a worker that acks has applied the message, with or without the claim"},
};

const struct sabotage_book sabotage_book_inbox = {SABOTAGE_BOOK(named, shapes, equivalents),

                                                  .bundle = twist};
