/* Increments of the activity ledger and the GUID ledger, and the decision on an entry.
 * A reference model: tests hold the primitives to it; no run calls it.
 *
 * Runs execute both as the primitives of activity_primitives.def, and sim/tests/test_entries.c holds
 * these to what is said here. The layout is model/ledger.h's.
 *
 * (L2) A marker is 0 or 1; an increment of a set marker is refused (ACL-5, E-ACL-2).
 * (L3) A counter stops at its ceiling; the next increment is refused (ACL-6, ACL-7, E-ACL-18).
 * (L4) An increment changes its own field by one and no other digit (ACL-8). */
#ifndef MODEL_REFERENCE_LEDGER_H
#define MODEL_REFERENCE_LEDGER_H

#include "model/ledger.h"

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

/* One more in this field, or the reason why not. A store does the
 * test and the addition as one conditional statement (ACL-43). */
struct ledger_increment ledger_add(int64_t ledger, enum ledger_field field);

/* Asserts that the increment of a field made this of a ledger: (L1) to (L4). */
void ledger_check(int64_t before, enum ledger_field field, int64_t after);

/* Leg1 message claimed. The completion marker is tested before the
 * ceiling (E-ACL-16). */
struct ledger_leg1_entry ledger_enter_leg1(int64_t activity);

/* Leg2 message claimed whose GUID has no row yet: makes the GUID
 * ledger out of the low 8 digits that the activity's own increment returned (E-ACL-3). */
struct ledger_leg2_entry ledger_enter_leg2_first(int64_t activity);

/* Leg2 message claimed whose GUID is known. A full counter of the
 * activity stays full and the GUID resumes. A full counter of its own escalates if a step is
 * still owed, unless the GUID was created at the last entry and so never had room to count
 * (ACL-15, E-ACL-17). The order of the tests: is the number a ledger, is Leg1 complete, is the
 * counter full. */
struct ledger_leg2_entry ledger_enter_leg2_again(int64_t activity, int64_t guid, int64_t dimension);

/* True while Step 1, 2 or 3 is still to be done. */
bool ledger_owes_step(enum ledger_resume resume);

/* How often this GUID has been entered (E-ACL-4). */
int64_t ledger_attempts(int64_t guid, int64_t dimension);

#endif
