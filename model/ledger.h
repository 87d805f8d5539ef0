/* The activity ledger and the GUID ledger of the two-leg protocol (seed 000): 15-digit integers
 * that only grow, whose digits are durable proofs of what has been committed.
 *
 *      001 1 1 1 0 00000002          000 0 1 1 0 00000002
 *      |   | | | | Leg2 entries      |   | | | | attempts of this GUID
 *      |   | | | job tasks done      |   | | | job tasks done
 *      |   | | children spawned      |   | | children spawned
 *      |   | work done               |   | work done
 *      |   Leg1 complete             |   job closed, a snapshot taken by Step 2
 *      Leg1 entries                  reserved, always 0
 *          activity ledger                   GUID ledger
 *
 * Owns the layout and how it is read. Holds no state and reads no row. Increments and entries of a
 * run are executed by a store, as the primitives of activity_primitives.def;
 * model/reference/ledger.h is what these are held to.
 *
 * (L1) A ledger is 0..999,999,999,999,999 (ACL-3, ACL-8).
 * (L5) Digits 4-7 of a GUID ledger are 0000, 0100, 0110, 1110 or 1111 (ACL-41). */
#ifndef MODEL_LEDGER_H
#define MODEL_LEDGER_H

#include "model/digits.h"

enum ledger_kind { LEDGER_ACTIVITY, LEDGER_GUID };

enum ledger_field {
    ACTIVITY_LEG1_ENTRIES,     /* +1T, 0..999: digits 1-3 (E-ACL-1) */
    ACTIVITY_LEG1_COMPLETE,    /* +100B, marker */
    ACTIVITY_WORK_DONE,        /* +10B, marker */
    ACTIVITY_CHILDREN_SPAWNED, /* +1B, marker */
    ACTIVITY_JOB_TASKS_DONE,   /* +100M, marker */
    ACTIVITY_LEG2_ENTRIES,     /* +1, 0..99,999,999 */
    GUID_RESERVED,             /* digits 1-3, always 0 */
    GUID_JOB_CLOSED,           /* +100B, marker: this GUID's Step 2 brought the job to its end */
    GUID_WORK_DONE,            /* +10B, marker: Step 1 */
    GUID_CHILDREN_SPAWNED,     /* +1B, marker: Step 2 */
    GUID_JOB_TASKS_DONE,       /* +100M, marker: Step 3 */
    GUID_ATTEMPTS,             /* +1, starts at the activity's entry count (E-ACL-4) */
    LEDGER_FIELD_COUNT
};

struct ledger_layout {
    const char *name;      /* "Leg1 entries" */
    enum ledger_kind kind; /* the ledger that has this field */
    int first_digit;       /* 1..15 */
    int digit_count;       /* 1, 3 or 8 */
    int64_t weight;        /* what one increment adds */
    int64_t ceiling;       /* the highest value: 1 for a marker, 0 for reserved digits */
};

/* The resume point of Leg2, read from the GUID ledger alone (ACL-24). */
enum ledger_resume {
    LEDGER_NOTHING_DONE,      /* 0000: Step 1 is next */
    LEDGER_WORK_IS_DONE,      /* 0100: Step 2 is next */
    LEDGER_SPAWNED_JOB_OPEN,  /* 0110: only the ack is left */
    LEDGER_SPAWNED_JOB_ENDED, /* 1110: Step 3 is owed, whatever the semaphore says (ACL-25) */
    LEDGER_ALL_DONE,          /* 1111: only the ack is left */
    LEDGER_RESUME_CORRUPT     /* any other digits */
};

/* Why a number cannot be a ledger that the protocol wrote. */
enum ledger_defect {
    LEDGER_SOUND,
    LEDGER_OUT_OF_RANGE,       /* (L1) */
    LEDGER_MARKER_ABOVE_1,     /* (L2) */
    LEDGER_RESERVED_SET,       /* digits 1-3 of a GUID ledger */
    LEDGER_COMPLETE_UNENTERED, /* Leg1 complete without a Leg1 entry */
    LEDGER_LEG2_BEFORE_LEG1,   /* Leg2 counted before Leg1 was complete (ACL-45) */
    LEDGER_MARKED_UNENTERED,   /* a step marker without a Leg2 entry */
    LEDGER_STEPS_OUT_OF_ORDER  /* a later step marked before an earlier one (L5) */
};

const struct ledger_layout *ledger_layout(enum ledger_field field);

/* The value of one field. A number that is no ledger reads as 0. */
int64_t ledger_get(int64_t ledger, enum ledger_field field);

/* Reads digits 4-7 only; ledger_inspect judges the whole number. */
enum ledger_resume ledger_resume(int64_t guid);

/* dimensionalIndex = Leg2EntryCount - 1 (ACL-31), for the value that a first entry returned. The
 * GUID row keeps it: no later count may be used, because a retry is counted too (E-ACL-4). */
int64_t ledger_dimension(int64_t activity_after_entry);

enum ledger_defect ledger_inspect(enum ledger_kind kind, int64_t ledger);
const char *ledger_defect_text(enum ledger_defect defect);

#endif
