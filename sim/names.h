/* What people call the rows of a run. Ids are 63-bit numbers that mean nothing to a reader; a trace
 * and a story speak of
 *
 *      left                 the activity of node left
 *      left#2               ... of the second round of a cycle; left#1.2 where cycles nest
 *      job 2: left          ... of the second job, where the scenario has several
 *      ask (pending 1)      the first pending answer of ask
 *      Leg1 of left, task of left, Leg2 of left     messages
 *      Leg2 of left (copy)  a second row with the same content
 *
 * A round is counted by the GUIDs that entered the head of the cycle; before a GUID has entered, by
 * what its message says. Owns nothing and remembers nothing: a name is read off the rows. */
#ifndef SIM_NAMES_H
#define SIM_NAMES_H

#include "model/rows.h"
#include "scenarios/scenario.h"

#define NAMES_SIZE 96

struct name {
    char text[NAMES_SIZE];
};

/* What the names are read off. */
struct names {
    const struct scenario *scenario;
    const struct rows *rows;
};

/* "client", "worker 1", ...; "the world" for everything else. */
struct name names_actor(unsigned actor);

/* "job", or "job 2" where there are several. */
struct name names_job(const struct names *names, int64_t job);
struct name names_activity(const struct names *names, int64_t activity);

/* The activity that a GUID is for, with its round and its pending answer. */
struct name names_guid(const struct names *names, int64_t guid);

/* A message, key first: the activity that it is for, and the message itself. */
struct name names_subject(const struct names *names, const int64_t *message);
struct name names_message(const struct names *names, const int64_t *message);

/* The row in a slot: "GUID ledger of left", "job", "task of left". A row that was deleted is read
 * where it was. */
struct name names_row(const struct names *names, enum row_table table, uint32_t slot);

#endif
