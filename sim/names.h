/* Readable names of the actors and the rows of a run. Ids are 63-bit numbers that mean nothing to a
 * reader; a trace and a story of the activity protocol use
 *
 *      left                 the activity of node left
 *      left#2               ... of the second round of a cycle; left#1.2 where cycles nest
 *      job 2: left          ... of the second job, where the scenario has several
 *      ask (pending 1)      the first pending answer of ask
 *      Leg1 of left, task of left, Leg2 of left     messages
 *      Leg2 of left (copy)  a second row with the same content
 *
 * A round is counted by the GUIDs that entered the head of the cycle; before a GUID has entered, by
 * its message. Other protocols name their rows themselves (part.h), or use the default "account 2",
 * the second row of that table. Stateless: a name is computed from the rows. */
#ifndef SIM_NAMES_H
#define SIM_NAMES_H

#include "model/rows.h"
#include "scenarios/scenario.h"

#define NAMES_SIZE 96

struct name {
    char text[NAMES_SIZE];
};

/* What names are computed from. */
struct names {
    const struct scenario *scenario;
    const struct rows *rows;
};

/* "client", "worker 1", ...; "the world" for everything else. */
struct name names_actor(const struct scenario *scenario, unsigned actor);

/* A message, key first: what it is for, and the message itself. */
struct name names_subject(const struct names *names, const int64_t *message);
struct name names_message(const struct names *names, const int64_t *message);

/* The row in a slot: "GUID ledger of left", "job", "task of left". A deleted row is read where it
 * was. */
struct name names_row(const struct names *names, enum row_table table, uint32_t slot);

/* The key of the row that a row belongs to, the last of its owners, which may be itself; *table
 * becomes that row's table. 0: an owner is not there. The table must have words for its rows. */
int64_t names_owner(const struct rows *rows, enum row_table *table, uint32_t slot);

/* What a reference to a row says: "left" for the activity of left, "signature of left", "none". */
struct name names_reference(const struct names *names, enum row_table table, int64_t key);

/* For functions that compose names: appends, cut where it does not fit; "an activity that is not
 * there"; a name with a prefix. */
void names_append(struct name *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
struct name names_unknown(const char *what);
struct name names_prefixed(const char *prefix, struct name name);

#endif
