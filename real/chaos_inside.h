/* What the supervisor of the actors' processes knows of them during one run, and how it injects a
 * fault. Private to real/chaos*.c: chaos.c starts, watches and ends the processes, and sets their
 * breakpoints; chaos_inject.c injects the faults and says which of them counted. */
#ifndef REAL_CHAOS_INSIDE_H
#define REAL_CHAOS_INSIDE_H

#include "real/chaos.h"
#include "real/queue_fault.h"
#include "real/schema.h"

#include <stdio.h>
#include <time.h>

#define TICK_NS     1000000 /* between two looks, if nothing happens */
#define END_MS      60000   /* for a backend to end: as soon as it is given a processor */
#define TRACES_MAX  256     /* messages whose claims are looked up */
#define ORPHANS_MAX 64      /* claims of processes that died */

/* An actor's process. */
struct child {
    pid_t pid;           /* 0: there is none */
    bool done;           /* it has ended because nothing was left to do */
    bool killed;         /* by the supervisor; to be started anew */
    bool stands;         /* stopped at a breakpoint; continued once */
    int64_t resume_at;   /* it is stopped until then; 0: it is not */
    int64_t stopped_at;  /* by the store's clock */
    size_t awaited;      /* 1 + the trace that it is stopped for; 0: none */
    int64_t waits_until; /* ... at most */
    bool claimed;        /* ... and held a claim when it was stopped */
    uint8_t owed;        /* 1 + enum chaos_kind: a fault whose effect is not known yet */
    unsigned long aborted, transactions; /* of the page, at that fault */
};

/* A message that came twice or again: what is looked for in the history when all is over. */
struct trace {
    enum chaos_kind kind;
    struct queue_trace of;
};

/* A claim whose holder died: the server's processes that it claimed by, and worked by last. */
struct orphan {
    int claimer, last;
};

/* One run. */
struct watch {
    struct chaos *chaos;
    struct shared_page *page;
    unsigned actors;
    struct child children[PROTOCOL_ACTORS_MAX];
    struct chaos_fault set[SHARED_BREAKPOINTS]; /* what each breakpoint is for */
    uint64_t drop_at[SHARED_BREAKPOINTS];       /* progress at which it is given up */
    uint32_t tries[SHARED_BREAKPOINTS];         /* how often it was set for nothing */
    size_t next;                                /* of the plan */
    struct trace traces[TRACES_MAX];
    size_t trace_count;
    uint32_t copies;                  /* of messages */
    uint64_t owed_later[CHAOS_KINDS]; /* whether they count is told when all is over */
    struct orphan orphans[ORPHANS_MAX];
    size_t orphan_count;
    struct schema_leaps leaps;            /* of the store's clock */
    struct store_pg *admin;               /* NULL: not connected */
    uint64_t provoked[ABORT_CLASS_COUNT]; /* aborts, by enum abort_class */
    struct chaos_report *report;
    struct error *error;
    enum chaos_end end; /* CHAOS_END_COUNT: it goes on */
};

static inline void chaos_failed(struct watch *watch, const char *text)
{
    snprintf(watch->error->text, sizeof watch->error->text, "%.500s", text);
    watch->end = CHAOS_FAILED;
}

/* ---- processes (chaos.c) --------------------------------------------------------------------- */

/* The actor's process has ended: its status says how, and whether another one begins. */
void chaos_ended(struct watch *watch, unsigned actor, int status);

/* Waits until a process ends or stops, at most for TICK_NS. */
void chaos_wait_a_little(void);

/* ---- faults (chaos_inject.c) ----------------------------------------------------------------- */

/* Injects the fault: a process is stopped at its breakpoint. False: it has to wait for another. */
bool chaos_inject(struct watch *watch, unsigned actor, const struct chaos_fault *fault);

/* A fault hit (CH1), or missed. */
void chaos_count(struct watch *watch, enum chaos_kind kind, bool hit);

/* Counts the fault of a process if its outcome is known; `last`: no outcome follows. */
void chaos_collect(struct watch *watch, unsigned actor, bool last);

/* Kills the actor's process. */
void chaos_kill_child(struct watch *watch, unsigned actor);

/* Continues a process that stands at a breakpoint. */
void chaos_go_on(struct watch *watch, unsigned actor);

/* Continues a process after a stop, and counts the stop by whether its claim has lapsed. */
void chaos_wake(struct watch *watch, unsigned actor);

/* Continues a process that awaits the claim of a message, once it is claimed or the wait is over. */
void chaos_look_for_claim(struct watch *watch, unsigned actor);

/* Disturbs the queue. False: there was nothing to disturb. */
bool chaos_disturb_queue(struct watch *watch, unsigned actor, const struct chaos_fault *fault);

/* Where claims last, releases those that nobody holds any more. */
void chaos_release_claims(struct watch *watch);

/* The supervisor's own connection; NULL: there is none, because the server is down. */
struct store_pg *chaos_admin(struct watch *watch);

/* Closes it. */
void chaos_leave(struct watch *watch);

struct queue_at chaos_queue(struct watch *watch);

#endif
