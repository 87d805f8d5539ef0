/* The inbox (inbox.c): its rules, and the columns of a message as it uses them. */
#ifndef MODEL_INBOX_H
#define MODEL_INBOX_H

#include "model/rows.h"

struct inbox_rules {
    uint32_t accounts; /* messages are for them in turn */
};

enum { LETTER_ID = MESSAGE_GUID, LETTER_ACCOUNT = MESSAGE_JOB, LETTER_AMOUNT = MESSAGE_CONTENT };

extern const struct protocol protocol_inbox;

#endif
