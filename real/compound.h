/* Step 2 as one SQL statement (Rule D, ACL-27): the activity's marker, the semaphore with GUID marker
 * and snapshot, the task that an answer closes, and every child. Text and numbers only.
 *
 * A bundle has it as calls that are joined (model/bundle.h): mark activity, collate unless done,
 * close task, then activities and messages of children, all of them required. That the statement
 * means what the calls mean one after the other is what test_store_pg.c and `assay conform` show.
 * Calls of altered primitives (a planted bug) are no compound, and each is sent by itself.
 *
 * Children are two arrays, so that one text serves any number of them. Parameters:
 *   $1 activity, $2 its marker's weight, $3 GUID, $4 job, $5 delta, $6 GUID marker's weight,
 *   $7 snapshot's weight, $8 the task to close, 0: none, $9 activities, $10 messages
 *
 * (CP1) What is written hangs on the GUID's marker, tested under the row's lock (E-ACL-25). Rows are
 *       locked in the order of (PM3): activity, GUID, job, task; then rows are inserted (E-ACL-28).
 * (CP2) No row is updated twice (E-ACL-24).
 * (CP3) A child that is there already (23505), or whose parent is not (23503), fails the statement:
 *       foreign keys are tested at its end, so of several such faults it may tell another than
 *       the calls one after the other would. */
#ifndef REAL_COMPOUND_H
#define REAL_COMPOUND_H

#include "real/sql.h"

#define COMPOUND_NUMBERS         8 /* $1 .. $8 */
#define COMPOUND_ACTIVITY_WIDTH  5 /* of a child's activity: key first, then its columns */
#define COMPOUND_MESSAGE_WIDTH   16
#define COMPOUND_ACTIVITIES_SIZE (BUNDLE_CALLS_MAX * COMPOUND_ACTIVITY_WIDTH)
#define COMPOUND_MESSAGES_SIZE   (BUNDLE_CALLS_MAX * COMPOUND_MESSAGE_WIDTH)
#define COMPOUND_PARAMS          (COMPOUND_NUMBERS + 2)
#define COMPOUND_GUARD           1 /* the call whose miss skips the rest */

struct compound {
    uint8_t first, calls; /* which calls of the bundle it consists of */
    uint8_t places_count; /* the outcome's values that its columns after the first are */
    uint8_t places[SQL_VALUES_MAX];
    uint16_t activities, messages; /* numbers in: */
    int64_t numbers[COMPOUND_NUMBERS];
    int64_t activity[COMPOUND_ACTIVITIES_SIZE];
    int64_t message[COMPOUND_MESSAGES_SIZE];
};

/* The compound of a bundle; no calls: it has none, or is sent by operation. */
void compound_find(const struct bundle *bundle, const struct primitive *primitives,
                   enum sql_form form, struct compound *compound);

/* It begins with this call. */
static inline bool compound_begins(const struct compound *compound, uint8_t call)
{
    return compound->calls != 0 && compound->first == call;
}

/* The calls of the bundle's statement that begins with this one. */
static inline uint8_t compound_step(const struct compound *compound, uint8_t call)
{
    return compound_begins(compound, call) ? compound->calls : 1;
}

/* The statement, the same for all of them. */
void compound_statement(const char *schema, struct sql_statement *statement);

/* An error of the server, in its words. The detail has the key that is there already, or the one
 * that is not. NULL: it said none. */
struct compound_error {
    const char *sqlstate, *table, *detail;
};

/* The call that it is about. */
uint8_t compound_refused(const struct bundle *bundle, const struct primitive *primitives,
                         const struct compound *compound, const struct compound_error *error);

#endif
