/* The earlier activity ledger (seed 003): the 15-digit integer that seed 000 replaces, kept with
 * its weaknesses so that the bench can show why it was replaced (E-LEG-3).
 *
 *      8 8 9 000002 000001
 *      | | | |      Leg2 exit count
 *      | | | Leg2 entry count: the dimension of that entry (LEG-10)
 *      | | Leg2 exit status: below 9 means closed
 *      | Leg1 exit status: 9 until Leg1 has ended
 *      Leg1 entry status: 9 less one for each entry
 *
 * Owns the layout, the summands and the decision on the value that an addition returned. There is no message
 * identity here, and a late call is counted before it is turned away and undone: that is the
 * design, not an oversight of this code.
 *
 * The additions of a run are executed by a store, as the primitives of legacy_primitives.def;
 * model/reference/legacy.h is the checked addition that these are held to. */
#ifndef MODEL_LEGACY_H
#define MODEL_LEGACY_H

#include "model/digits.h"

#define LEGACY_START INT64_C(999000000000000)

enum legacy_field {
    LEGACY_LEG1_ENTRY,      /* digit 1, counts down from 9 */
    LEGACY_LEG1_EXIT,       /* digit 2, counts down from 9 */
    LEGACY_LEG2_EXIT,       /* digit 3, counts down from 9 */
    LEGACY_LEG2_ENTRIES,    /* digits 4-9, counts up */
    LEGACY_LEG2_EXIT_COUNT, /* digits 10-15, counts up */
    LEGACY_FIELD_COUNT
};

struct legacy_layout {
    const char *name; /* "Leg1 entry status" */
    int first_digit;  /* 1..15 */
    int digit_count;  /* 1 or 6 */
};

/* The additions of the lifecycle. The integer changes in no other way. */
enum legacy_event {
    LEGACY_LEG1_BEGIN,   /* -100,000,000,000,000 */
    LEGACY_LEG1_END,     /* -10,000,000,000,000 */
    LEGACY_LEG2_BEGIN,   /* +1,000,000 */
    LEGACY_LEG2_UNDO,    /* -1,000,000: a late call takes its own entry back; the caller ensures
                            that the entry is its own */
    LEGACY_LEG2_PENDING, /* +1 */
    LEGACY_LEG2_SUCCESS, /* -999,999,999,999 = 1 - 10^12 (E-LEG-1) */
    LEGACY_EVENT_COUNT
};

/* What the value returned by LEGACY_LEG1_BEGIN means (LEG-3). */
enum legacy_leg1 {
    LEGACY_LEG1_FIRST,    /* 899: run */
    LEGACY_LEG1_CRASHED,  /* 799, 699, ...: an earlier run did not end; clean up and run again */
    LEGACY_LEG1_COMPLETED /* 789, 689, ...: it had ended; publish what is missing, then end */
};

/* What the value returned by LEGACY_LEG2_BEGIN means (LEG-4). */
enum legacy_leg2 {
    LEGACY_LEG2_OPEN,       /* run */
    LEGACY_LEG2_TURNED_AWAY /* closed: undo the entry and ack */
};

const struct legacy_layout *legacy_layout(enum legacy_field field);

/* The digits of one field. A number that is no ledger reads as 0: one that an unchecked addition
 * made negative counts as used up and closed. */
int64_t legacy_get(int64_t ledger, enum legacy_field field);

/* The summand of an event, as the specification's HINCRBY has it. */
int64_t legacy_summand(enum legacy_event event);

/* By how much an event moves a field: 0 if it is another's. */
int legacy_change(enum legacy_event event, enum legacy_field field);

/* Both take the value that the addition returned. */
enum legacy_leg1 legacy_leg1_decision(int64_t after_begin);
enum legacy_leg2 legacy_leg2_decision(int64_t after_begin);

/* Third digit below 9 (E-LEG-3). */
bool legacy_closed(int64_t ledger);

#endif
