/* A protocol's part of runs on PostgreSQL, real_part_NAME (model/protocols.def): facts that an actor
 * cannot read from rows, because the server holds them. */
#ifndef REAL_PART_H
#define REAL_PART_H

#include "model/graph.h"
#include "model/protocol.h"

/* A row that an illegal move can be tried on, and its state. */
struct part_target {
    int64_t number, state;
};
#define PART_TARGETS_MAX 256

/* Where the presets of a protocol's scenarios go (presets.h). */
struct real_part_preset {
    enum row_table inserted; /* a new row of this table brings a preset */
    int of;                  /* the column with the key of the preset row; -1: the row itself */
    enum row_table table;    /* the table of the ledger */
    int node, ledger;        /* its columns */
    int64_t (*amount)(const struct graph_node *node);
};

struct real_part {
    /* SQL that counts the work that is left, now or later: FROM and WHERE of a SELECT count(*), with
     * %s for the schema, as often as it is named. Actors that serve end when it is 0: with actors of
     * its own a protocol counts what is held, too, since nobody stays to free it. */
    const char *left;
    /* The protocol assumes that no actor is late. So a claim lasts until its holder is known to be
     * dead, and no commit arrives after its sender has gone on. */
    bool assumes_no_delay;
    const struct real_part_preset *preset; /* NULL: its scenarios have none */
    /* Faults that a scenario excludes for an actor that is about to send the bundle: enum
     * shared_spared, as bits. NULL: none. */
    int (*spares)(const struct rules *rules, const struct actor *actor,
                  const struct bundle *bundle);
    /* FAULT_ILLEGAL_MOVE. `targets` queries rows and their states; NULL: no row decides. `refused`
     * queries how many moves the ledger has refused; NULL: each is answered with 42501.
     * `illegal_move` makes the actor's next transaction the `which`-th illegal move that the targets
     * allow. False: there is none. NULL: the protocol has no illegal move. */
    const char *targets, *refused;
    bool (*illegal_move)(struct actor *actor, const struct part_target *targets, size_t count,
                         uint32_t which);
    /* An answer that a task can give differently when it is run again (E-ACL-21); NULL: none. */
    int64_t (*answer)(const struct bundle *bundle);
    enum row_table answered; /* has a row of that key once the answer was taken */
    void (*set_answer_changed)(struct actor *actor, bool on);
    /* Bundles, as bits, whose unknown outcome must be resolved before the work goes on. The same
     * bundle again has no effect if it was done (E-ACL-13, E-SEQ-11). Two kinds are left out: an
     * entry, which counts anew, and a bundle that only publishes, whose duplicates the consumer
     * recognises (E-ACL-7). */
    uint64_t must_resolve_unknown;
    bool skip_is_ambiguous; /* a repeated bundle may also be skipped because its lease was lost */
};

/* The key of the row in *asked that exists once the answer of this bundle was taken; 0: the bundle
 * is no such answer. */
int64_t real_part_answer(const struct protocol *protocol, const struct bundle *bundle,
                         enum row_table *asked);
/* Makes the actor's next answer differ, or not any more. */
void part_set_answer_changed(const struct protocol *protocol, struct actor *actor, bool on);

const struct real_part_preset *real_part_preset(const struct protocol *protocol);

uint64_t part_must_resolve_unknown(const struct protocol *protocol);
bool part_skip_is_ambiguous(const struct protocol *protocol);

bool part_assumes_no_delay(const struct protocol *protocol);
int real_part_spares(const struct rules *rules, const struct actor *actor,
                     const struct bundle *bundle);

/* The queries of a part as SQL; false: it has none. Then the move; false: there is none now. */
bool part_targets_query(const struct protocol *protocol, const char *schema, char *query,
                        size_t size);
bool part_refused_query(const struct protocol *protocol, const char *schema, char *query,
                        size_t size);
bool part_illegal_move(const struct protocol *protocol, struct actor *actor,
                       const struct part_target *targets, size_t count, uint32_t which);

void real_part_left_query(const struct protocol *protocol, const char *schema, char *query,
                          size_t size);

#endif
