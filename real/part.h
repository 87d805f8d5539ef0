/* A protocol's part of runs on PostgreSQL, real_part_NAME (model/protocols.def): what an actor
 * cannot see from where it is, because it has no rows in its hands. */
#ifndef REAL_PART_H
#define REAL_PART_H

#include "model/protocol.h"

struct real_part {
    /* SQL that counts what is left to do, now or later: FROM and WHERE of a SELECT count(*), with
     * %s for the schema. 0 ends those who serve. */
    const char *left;
    /* It takes it for granted that nobody is ever late or dies at a bad moment: on a real machine
     * no fault can be let loose on it and spare that. */
    bool delicate;
    /* An answer that can be given otherwise (E-ACL-21); NULL: there is none. */
    int64_t (*answer)(const struct bundle *bundle);
    enum row_table answered; /* the row of that key is there once it was taken up */
    void (*otherwise)(struct actor *actor, bool on);
    /* Bundles, as bits, whose lost answer must be found out about before the work goes on: the same
     * again takes no effect if it was done (E-ACL-13, E-SEQ-11). An entry counts anew; and what
     * only publishes takes effect again once its message was taken up and acked, and is recognised
     * by whoever gets it (E-ACL-7). */
    uint64_t resolved;
    bool vague; /* one that is sent again may be skipped for another reason, too: a lease is lost */
};

/* The row that is there once the answer in this bundle was given and taken up before, in the table
 * of *asked; 0: the bundle is no such answer. */
int64_t part_answer(enum protocol_id protocol, const struct bundle *bundle, enum row_table *asked);
/* The actor's next answer is another one, or not any more. */
void part_answer_otherwise(enum protocol_id protocol, struct actor *actor, bool on);

uint64_t part_resolved(enum protocol_id protocol);
bool part_is_vague(enum protocol_id protocol);

/* Whether real faults may befall runs of the protocol. */
bool part_bears_faults(enum protocol_id protocol);

void part_left_query(enum protocol_id protocol, const char *schema, char *query, size_t size);

#endif
