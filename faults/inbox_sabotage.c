/* The planted bugs of the inbox protocol. */
#include "faults/sabotage_book.h"
#include "model/inbox.h"

static const struct sabotage named[] = {
    {.name = "inbox-one-account",
     .about = "every message is sent to the account of the first one",
     .scenario = "inbox"},
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

/* Of `inbox-one-account`: the client always uses the first account that it sent to. */
static void stick(const struct sabotage *sabotage, struct sabotage_memory *memory,
                  const struct actor *actor, struct bundle *bundle)
{
    (void)sabotage, (void)actor;
    if (bundle->name == BUNDLE_SEND) {
        memory->stale = memory->flag ? memory->stale : bundle->params[0];
        memory->flag = true;
        bundle->params[0] = memory->stale;
        bundle->params[bundle->calls[1].params + 1 + LETTER_ACCOUNT] = memory->stale;
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
    {"inbox.ack/unguard/ack.1", "who acks has applied the message, whoever holds it now"},
};

const struct sabotage_book sabotage_book_inbox = {SABOTAGE_BOOK(named, shapes, equivalents),
                                                  .bundle = stick};
