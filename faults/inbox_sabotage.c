/* The planted bugs of the inbox protocol. */
#include "faults/sabotage_book.h"

enum { CHECK_THEN_INSERT };

static const struct sabotage named[] = {
    [CHECK_THEN_INSERT] = {.name = "inbox-check-then-insert",
                           .about = "the inbox is looked at before the transaction, not inside it",
                           .scenario = "inbox"},
    {.name = "inbox-split",
     .about = "a message's id and its effect are committed apart",
     .scenario = "inbox",
     .kind = SABOTAGE_SPLIT,
     .bundle = BUNDLE_APPLY,
     .primitive = PRIMITIVE_REMEMBER},
};

/* The look, a moment before. */
static void look(const struct sabotage *sabotage, struct sabotage_memory *memory,
                 const struct bundle *next, const struct rows *rows)
{
    if (sabotage->which == CHECK_THEN_INSERT && next->name == BUNDLE_APPLY) {
        int64_t id = next->params[next->calls[0].params];
        memory->flag = row_find(rows, TABLE_INBOX, id) != ROW_NONE;
    }
}

/* It was not there, so what the insertion finds no longer matters. */
static void trust(const struct sabotage *sabotage, struct sabotage_memory *memory,
                  const struct actor *actor, struct bundle *bundle)
{
    (void)actor;
    if (sabotage->which == CHECK_THEN_INSERT && bundle->name == BUNDLE_APPLY && !memory->flag) {
        bundle->calls[0].mode = CALL_PLAIN;
    }
}

static const struct sabotage_shape shapes[] = {
    {BUNDLE_SEND, PRIMITIVE_OPEN_ACCOUNT}, {BUNDLE_SEND, PRIMITIVE_PUBLISH},
    {BUNDLE_CLAIM, PRIMITIVE_CLAIM},       {BUNDLE_APPLY, PRIMITIVE_REMEMBER},
    {BUNDLE_APPLY, PRIMITIVE_CREDIT},      {BUNDLE_ACK, PRIMITIVE_ACK},
};

static const struct sabotage_reason equivalents[] = {
    {"inbox.send/repeat", "a message that is sent twice is one that comes twice"},
    {"inbox.send/split-after/open-account", "an account that nothing is sent to yet owes nothing"},
    {"inbox.claim/repeat", "the first claim lapses, and its message comes again"},
    {"inbox.apply/repeat", "the id is there already"},
    {"inbox.ack/repeat", "the message is gone already"},
    {"inbox.ack/unguard/ack.1", "who acks has applied the message, whoever holds it now"},
};

static bool owes_ack(enum bundle_name bundle)
{
    return bundle == BUNDLE_APPLY;
}

const struct sabotage_book sabotage_book_inbox = {
    .prefix = "inbox.",
    .shapes = shapes,
    .shape_count = sizeof shapes / sizeof *shapes,
    .equivalents = equivalents,
    .equivalent_count = sizeof equivalents / sizeof *equivalents,
    .named = named,
    .named_count = sizeof named / sizeof *named,
    .owes_ack = owes_ack,
    .ready = look,
    .bundle = trust,
};
