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
 * Owns the layout, the checked increment, and the decision on an entry. Holds no state and reads no
 * row.
 *
 * Runs use the layout and the reading functions. Increments and entries of a run are executed by a
 * store, as the primitives of activity_primitives.def. ledger_add and ledger_enter_* are reference
 * models of these: only tests call them, and sim/tests/test_entries.c holds the primitives to them.
 *
 * (L1) A ledger is 0..999,999,999,999,999 (ACL-3, ACL-8).
 * (L2) A marker is 0 or 1; an increment of a set marker is refused (ACL-5, E-ACL-2).
 * (L3) A counter stops at its ceiling; the next increment is refused (ACL-6, ACL-7, E-ACL-18).
 * (L4) An increment changes its own field by one and no other digit (ACL-8).
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

/* The outcome of an increment. Every one but LEDGER_INCREMENTED leaves the ledger unchanged. */
enum ledger_outcome {
    LEDGER_INCREMENTED,
    LEDGER_ALREADY_MARKED, /* the marker is set: the work is done */
    LEDGER_AT_CEILING,     /* the counter is full: fail fast and escalate */
    LEDGER_RESERVED,       /* these digits are never written */
    LEDGER_NOT_A_LEDGER    /* negative, or more than 15 digits */
};

struct ledger_increment {
    enum ledger_outcome outcome;
    int64_t ledger; /* after the call, incremented or not */
};

/* The decision on an entry (4.2, 7, E-ACL-16, E-ACL-17). It depends on the field that it counts, on
 * the Leg1 marker and on the GUID's own markers, and on nothing else: the activity's step markers
 * are informative, the GUID ledger drives Leg2 (Rule C, E-ACL-2). */
enum ledger_decision {
    LEDGER_PROCEED,   /* counted; something is owed: go on */
    LEDGER_STALE,     /* counted if there was room; nothing is owed: ack */
    LEDGER_ESCALATE,  /* at a ceiling with something owed: not counted; escalate and ack */
    LEDGER_TOO_EARLY, /* Leg2 before Leg1 is complete: not counted (ACL-45) */
    LEDGER_CORRUPT /* the number is no ledger, or a GUID's markers no resume point: not counted */
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

struct ledger_leg1_entry {
    enum ledger_decision decision;
    int64_t activity; /* the activity ledger after the entry */
};

struct ledger_leg2_entry {
    enum ledger_decision decision;
    int64_t activity;          /* the activity ledger after the entry */
    int64_t guid;              /* the GUID ledger after the entry; 0 if none was made */
    enum ledger_resume resume; /* the GUID's resume point */
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

/* Reference model of an increment: one more in this field, or the reason why not. A store does the
 * test and the addition as one conditional statement (ACL-43). */
struct ledger_increment ledger_add(int64_t ledger, enum ledger_field field);

/* Asserts that the increment of a field made this of a ledger: (L1) to (L4). */
void ledger_check(int64_t before, enum ledger_field field, int64_t after);

/* Reference model of an entry, Leg1 message claimed. The completion marker is tested before the
 * ceiling (E-ACL-16). */
struct ledger_leg1_entry ledger_enter_leg1(int64_t activity);

/* Reference model of an entry, Leg2 message claimed whose GUID has no row yet: makes the GUID
 * ledger out of the low 8 digits that the activity's own increment returned (E-ACL-3). */
struct ledger_leg2_entry ledger_enter_leg2_first(int64_t activity);

/* Reference model of an entry, Leg2 message claimed whose GUID is known. A full counter of the
 * activity stays full and the GUID resumes. A full counter of its own escalates if a step is
 * still owed, unless the GUID was created at the last entry and so never had room to count
 * (ACL-15, E-ACL-17). The order of the tests: is the number a ledger, is Leg1 complete, is the
 * counter full. */
struct ledger_leg2_entry ledger_enter_leg2_again(int64_t activity, int64_t guid, int64_t dimension);

/* Reads digits 4-7 only; ledger_inspect judges the whole number. */
enum ledger_resume ledger_resume(int64_t guid);

/* True while Step 1, 2 or 3 is still to be done. */
bool ledger_owes_step(enum ledger_resume resume);

/* dimensionalIndex = Leg2EntryCount - 1 (ACL-31), for the value that a first entry returned. The
 * GUID row keeps it: no later count may be used, because a retry is counted too (E-ACL-4). */
int64_t ledger_dimension(int64_t activity_after_entry);

/* How often this GUID has been entered (E-ACL-4). */
int64_t ledger_attempts(int64_t guid, int64_t dimension);

enum ledger_defect ledger_inspect(enum ledger_kind kind, int64_t ledger);
const char *ledger_defect_text(enum ledger_defect defect);

#endif
