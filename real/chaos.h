/* Whoever works on PostgreSQL is a process; this starts them, watches over them, lets befall them
 * what a plan says, and starts anew who dies. It does not judge: what is left is in the server.
 *
 * A run has the two phases of the simulation. *Weather*: the faults of the plan fall, until nothing
 * is left to do. *Settling*: faults stop, every actor is started anew, claims lapse, and what is
 * left must be done in time.
 *
 * A fault of the plan waits, from a number of transactions on, for a process that comes to its
 * point (seat.h), which then stands still while it happens; or it falls at any instant, as soon as
 * that number is reached.
 *
 * (CH1) A fault counts only if it hit an open transaction, a held claim or an unanswered commit,
 * and only if it did what its kind says: who was stopped held a claim and slept past its end; a
 *       transaction whose connection or server was taken away did not get the answer that it
 *       committed; 40001, 40P01 and 53300 were answered to the one that they were meant for. Of the
 *       queue: a message that came twice or again was claimed; a later one was claimed while an
 *       earlier one was there; somebody looked for messages while one was hidden. An illegal move
 *       was attempted, and the ledger dealt with it.
 * (CH2) Only processes that were started here are signalled, and processes of the server that was
 *       given to be harmed.
 * (CH3) When chaos_run returns nobody that it started is left. */
#ifndef REAL_CHAOS_H
#define REAL_CHAOS_H

#include "faults/catalogue.h"
#include "real/chaos_server.h"
#include "real/driver.h"

#include <signal.h>

struct chaos_fault {
    uint8_t kind;    /* enum chaos_kind */
    uint8_t bundle;  /* where: enum bundle_name, or SEAT_ANY */
    uint8_t moment;  /* ... and when: enum seat_moment; SEAT_SENT: the server's process is frozen
                        before COMMIT is sent, so that it is unanswered for certain */
    uint32_t from;   /* transactions of all actors before it may fall */
    uint32_t amount; /* of a stop, a delay, a clock: milliseconds; CHAOS_KILL: whom; of a message or
                        a move: which */
};

struct chaos_plan {
    const struct chaos_fault *faults; /* in the order of `from` */
    size_t count;
    bool storms; /* there is weather at all; else nothing befalls anybody */
};

struct chaos_report {
    uint64_t counted[CHAOS_KINDS];       /* (CH1) */
    uint64_t planned[CHAOS_KINDS];       /* whose time came */
    uint64_t missed;                     /* that never fell, or hit nothing */
    uint64_t natural[ABORT_CLASS_COUNT]; /* aborts that nobody provoked, by enum abort_class */
    uint64_t points[BUNDLE_NAME_COUNT][SEAT_MOMENTS]; /* CHAOS_KILL_AT_POINT, counted or not */
    uint64_t sent[BUNDLE_NAME_COUNT];                 /* transactions */
    uint64_t turned_away;                             /* 53300 of principals, by their own limits */
    uint64_t transactions;
    uint64_t lives;   /* processes that were started */
    uint64_t crashes; /* of the server */
};

struct chaos {
    struct driver driver; /* what every process needs */
    struct chaos_server *server;
    const struct chaos_plan *plan;
    bool gentle; /* claims last, and end with who holds them (part.h, `patient`) */
    const volatile sig_atomic_t *interrupted; /* not 0: ends early */
    int64_t weather_ms, settle_ms;            /* until it is given up */
    int64_t until; /* by driver_now(): faults stop then, whatever is left of the plan; 0: never */
};

enum chaos_end {
    CHAOS_QUIET, /* nothing is left to do */
    CHAOS_LATE,  /* something is, and the time is up */
    CHAOS_INTERRUPTED,
    CHAOS_FAILED, /* a process or the server failed: *problem says why */
    CHAOS_END_COUNT
};

/* One run. Adds to *report. Leaves driver.page as the run left it. */
enum chaos_end chaos_run(struct chaos *chaos, struct chaos_report *report,
                         struct store_pg_problem *problem);

#endif
