/* A protocol's part of runs on PostgreSQL, real_part_NAME (model/protocols.def): what an actor
 * cannot see from where it is, because it has no rows in its hands. */
#ifndef REAL_PART_H
#define REAL_PART_H

#include "model/graph.h"
#include "model/protocol.h"

/* Something that can be moved, and the state that it is in. */
struct part_place {
    int64_t number, state;
};
#define PART_PLACES_MAX 256

/* Where the presets of a protocol's scenarios go (presets.h). */
struct part_preset {
    enum row_table inserted; /* a new row of this table brings one, */
    int of;                  /* ... for the row of this column's key; -1: for itself */
    enum row_table table;    /* that the ledger is in, */
    int node, ledger;        /* ... and its columns */
    int64_t (*amount)(const struct graph_node *node);
};

struct real_part {
    /* SQL that counts what is left to do, now or later: FROM and WHERE of a SELECT count(*), with
     * %s for the schema. 0 ends those who serve. */
    const char *left;
    /* It takes it for granted that nobody is late: claims last, whatever happens to a server and
     * however busy the machine is, and end when their holder is known to be dead; and no commit
     * comes after its sender has gone on. */
    bool patient;
    const struct part_preset *preset; /* NULL: its scenarios have none */
    /* What a scenario takes for granted beside that, of an actor that is about to send the bundle:
     * enum seat_spared, as bits. NULL: nothing. */
    int (*spares)(const struct rules *rules, const struct actor *actor,
                  const struct bundle *bundle);
    /* FAULT_ILLEGAL_MOVE: the actor's next transaction attempts one, the `which`-th of those that
     * the rows of the queried numbers and states allow. False: there is none. NULL: no actor ever
     * does. */
    const char *missteps; /* ... the query; NULL: no row decides, */
    const char
        *erred; /* ... and one for how many the ledger has turned away; NULL: each is 42501 */
    bool (*misstep)(struct actor *actor, const struct part_place *places, size_t count,
                    uint32_t which);
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
int64_t part_answer(const struct protocol *protocol, const struct bundle *bundle,
                    enum row_table *asked);
/* The actor's next answer is another one, or not any more. */
void part_answer_otherwise(const struct protocol *protocol, struct actor *actor, bool on);

const struct part_preset *part_preset(const struct protocol *protocol);

uint64_t part_resolved(const struct protocol *protocol);
bool part_is_vague(const struct protocol *protocol);

bool part_is_patient(const struct protocol *protocol);
int part_spares(const struct rules *rules, const struct actor *actor, const struct bundle *bundle);

/* What a misstep is chosen from, as SQL; false: nothing is asked. Then the step itself; false: the
 * protocol has none, or none now. */
bool part_missteps_query(const struct protocol *protocol, const char *schema, char *query,
                         size_t size);
bool part_erred_query(const struct protocol *protocol, const char *schema, char *query,
                      size_t size);
bool part_misstep(const struct protocol *protocol, struct actor *actor,
                  const struct part_place *places, size_t count, uint32_t which);

void part_left_query(const struct protocol *protocol, const char *schema, char *query, size_t size);

#endif
