#include "faults/sabotage_equivalent.h"

#include <string.h>

static const struct {
    const char *name, *reason;
} equivalents[] = {
    {"create-job/repeat", "creating a job that exists finds it: the jid is the key (E-ACL-30)"},
    {"claim/repeat", "the first claim lapses, and its message comes again"},
    {"extend/repeat", "extending a claim twice extends it"},
    {"extend/drop/extend.1", "a claim that was lost is kept from the others a while longer; steps "
                             "are guarded by their markers (E-ACL-11)"},
    {"extend/unguard/extend.1", "a claim that was lost is kept from the others a while longer; "
                                "steps are guarded by their markers (E-ACL-11)"},
    {"extend/drop/extend.3", "a claim that is not extended lapses: a redelivery like any other"},
    {"enter-leg1/repeat", "an entry that is counted twice uses up an attempt"},
    {"enter-leg1/split-after/enter-leg1",
     "what follows only reads, and what it reads was written once and for all"},
    {"enter-leg1/split-after/read-input", "nothing follows"},
    {"enter-leg1/drop/enter-leg1.1", "no activity is ever deleted here; the test is for messages "
                                     "of a job that was purged (E-ACL-29)"},
    {"leg1/repeat", "a step that is done again is a replayed step: its marker skips it"},
    {"answer/repeat", "the message is there already, or it is a replay"},
    {"enter-leg2/repeat", "an entry that is counted twice uses up an attempt"},
    {"enter-leg2/split-after/require-mark", "a marker that was found set stays set"},
    {"enter-leg2/split-after/enter-leg2", "what follows only reads; a closing answer that is put "
                                          "back is counted, which uses up an attempt"},
    {"enter-leg2/split-after/read-task",
     "what follows only reads, and what it reads was written once and for all"},
    {"enter-leg2/drop/enter-leg2.1", "no activity is ever deleted here; the test is for messages "
                                     "of a job that was purged (E-ACL-29)"},
    {"enter-leg2/drop/enter-leg2.2", "nobody publishes a Leg2 message before Leg1 is complete; "
                                     "leg2-before-leg1 shows what the test is for"},
    {"enter-leg2/unguard/enter-leg2.2", "nobody publishes a Leg2 message before Leg1 is complete; "
                                        "leg2-before-leg1 shows what the test is for"},
    {"enter-leg2/drop/enter-leg2.4",
     "an attempt that is not counted leaves no trace in rows, so no oracle can miss its refusal; a "
     "unit test of the engine shows it"},
    {"enter-leg2/unguard/enter-leg2.4",
     "an attempt that is not counted leaves no trace in rows, so no oracle can miss its refusal; a "
     "unit test of the engine shows it"},
    {"enter-leg2/drop/read-task",
     "a task has one closing GUID (E-ACL-7), and pending answers come before it (E-ACL-20)"},
    {"step-1/repeat", "a step that is done again is a replayed step: its marker skips it"},
    {"step-2/repeat", "a step that is done again is a replayed step: its marker skips it"},
    {"step-2/unguard/collate.3", "the semaphore does not fall below 0 while everything else holds; "
                                 "the test is a second line of defence"},
    {"step-2/unguard/close-task.1",
     "a task has one closing GUID (E-ACL-7); fresh-guid shows what the test is for"},
    {"step-3/repeat", "a step that is done again is a replayed step: its marker skips it"},
    {"ack/repeat", "the message is gone already"},
    {"ack/unguard/ack.1",
     "who acks has found every step marked, so the copy in other hands owes nothing"},
    {"escalate/repeat", "the message is gone already"},
    {"escalate/unguard/ack.1", "what is given up is tested again in the same transaction "
                               "(E-ACL-31), whoever holds the claim"},
    {"put-back/repeat", "putting a message back twice puts it back"},
    {"put-back/drop/put-back", "the claim lapses, and the message comes again"},
    {"put-back/drop/put-back.1",
     "a message in other hands is redelivered: steps are guarded by their markers (E-ACL-11)"},
    {"put-back/unguard/put-back.1",
     "a message in other hands is redelivered: steps are guarded by their markers (E-ACL-11)"},
    {"put-back/drop/put-back.3", "the claim lapses, and the message comes again"},
    {"read/repeat", "reading changes nothing"},
    {"read/drop/read-activity", "Leg1 is done again, and its marker skips it"},
    {"read/split-after/read-activity", "nothing follows"},
    {"read/drop/read-guid", "the GUID is entered again, which tells the same"},
    {"read/drop/read-guid.1", "Step 1 is done again, and its marker skips it and tells the rest"},
};

#define COUNT (sizeof equivalents / sizeof *equivalents)

const char *sabotage_equivalent(const char *name)
{
    for (size_t i = 0; i < COUNT; i++) {
        if (strcmp(equivalents[i].name, name) == 0) {
            return equivalents[i].reason;
        }
    }
    return NULL;
}

const char *sabotage_equivalent_name(size_t index)
{
    return index < COUNT ? equivalents[index].name : NULL;
}
