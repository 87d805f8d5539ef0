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
};

/* Whether real faults may befall runs of the protocol. */
bool part_bears_faults(enum protocol_id protocol);

void part_left_query(enum protocol_id protocol, const char *schema, char *query, size_t size);

#endif
