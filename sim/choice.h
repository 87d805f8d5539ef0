/* One source of choice: whatever could go this way or that in a run is asked of here.
 *
 * Four questions:
 *      who     which of the actors that can run takes the turn
 *      fault   what goes wrong with that actor's transaction, FAULT_NONE nearly always
 *      amount  how long, how many, which one: a fault's detail
 *      stop    after how many operations the transaction stops, and others get their turn
 *
 * A choice is recorded as (why, actor, ordinal, value), and only if it is not the usual one: the
 * lowest worker (the client, actor 0, if no worker can run), no fault, amount 0, no stop. So a list
 * with entries left out always means a run, and a shorter list a calmer one. Ordinals count turns
 * for `who`, an actor's transactions for the others, so that an entry keeps its meaning when others
 * are taken away.
 *
 * Who runs is drawn by one of two strategies; faults, amounts and stops are drawn alike by both:
 *      random  every turn, among all who can run
 *      pct     probabilistic concurrency testing (Burckhardt and others, ASPLOS 2010): each actor
 *              has a priority, and the highest who can run takes the turn. At d - 1 turns, drawn
 *              from the first k, whoever takes it falls below all who have not fallen. Who is held
 *              up in a transaction changes places with one who is drawn.
 * A bug of depth d is one for which it is enough that d pairs of turns come in a certain order. A
 * pct schedule of n actors and at most k turns has that order with a probability of at least
 * 1 / (n k^(d-1)), whatever the actors do besides, where nobody is held up (half of all seeds);
 * with faults, as often as they are those that the bug needs. Of random schedules nothing of the
 * kind can be said. pct is unfair on purpose, so it ends when faults stop: what is to happen
 * eventually is asked of a fair schedule.
 *
 * (C1) With equal (scenario, strategy, seed, PCG_VERSION, CHOICE_VERSION) the answers are equal.
 * (C2) A run replayed from its own record makes the same choices. */
#ifndef SIM_CHOICE_H
#define SIM_CHOICE_H

#include "faults/catalogue.h"
#include "scenarios/pcg.h"

#define CHOICE_VERSION 2
#define CHOICE_NOBODY  255 /* the actor of what happens while nobody can run */

#define CHOICE_ACTORS_MAX    32
#define CHOICE_DEPTH_MAX     8
#define CHOICE_DEPTH_USUAL   3 /* most bugs of interleaving are of depth 1 or 2 */
#define CHOICE_LENGTH_MAX    1000000
#define CHOICE_STRATEGY_SIZE 24

enum choice_why { CHOICE_WHO, CHOICE_FAULT, CHOICE_AMOUNT, CHOICE_STOP, CHOICE_WHY_COUNT };

struct choice {
    uint8_t why;   /* enum choice_why */
    uint8_t actor; /* 0 for CHOICE_WHO */
    uint32_t ordinal;
    uint32_t value;
};

/* How who runs is drawn. All zero: at random. */
struct choice_strategy {
    uint8_t depth;   /* pct: d; 0: at random */
    uint32_t length; /* pct: k; 0: as many turns as the scenario takes without faults */
};

/* "random", "pct", "pct:DEPTH" or "pct:DEPTH:LENGTH". False: it is none. */
bool choice_strategy_read(const char *text, struct choice_strategy *strategy);
void choice_strategy_text(const struct choice_strategy *strategy, char text[CHOICE_STRATEGY_SIZE]);

/* A list of choices; the memory is the caller's. */
struct choice_list {
    struct choice *items;
    size_t count, capacity;
    bool overflowed; /* something was not recorded for want of room */
};

struct choice_source {
    bool random_schedule;                /* who: drawn; else listed, or the lowest */
    bool random_faults;                  /* fault and amount: drawn; else listed, or none */
    uint8_t depth;                       /* who: drawn by priorities (pct); 0: they do not count */
    uint8_t actors;                      /* that have one */
    uint8_t priority[CHOICE_ACTORS_MAX]; /* of those no two are equal */
    uint32_t falls_at[CHOICE_DEPTH_MAX - 1]; /* the turn whose taker gets priority 0, 1, ... */
    struct pcg schedule, faults, amounts, stops;
    uint32_t stops_below;                   /* a draw below stops a transaction */
    uint32_t fault_below[FAULT_KIND_COUNT]; /* running sums: a draw below picks the kind */
    uint32_t fault_any;                     /* the last of those sums */
    const struct choice_list *listed;       /* sorted by choice_list_sort; NULL: nothing */
    struct choice_list *record;             /* NULL: not recorded */
};

/* The seed's random run: each seed switches a subset of the plan's faults on, each with a rate of
 * its own up to the plan's. */
struct choice_source choice_random(uint64_t seed, const struct fault_plan *plan);

/* The same, but for who runs: by priorities of `actors` actors. The strategy's length is not 0. */
struct choice_source choice_pct(uint64_t seed, const struct fault_plan *plan,
                                const struct choice_strategy *strategy, unsigned actors);

/* The usual choices, except as listed. */
struct choice_source choice_listed(const struct choice_list *list);

/* The seed's random schedule, faults as listed. */
struct choice_source choice_swept(uint64_t seed, const struct choice_list *list);

/* Faults stop: from here on the schedule is fair. */
void choice_settle(struct choice_source *source);

/* `able` has bit a set if actor a can run; at least one is. */
unsigned choice_who(struct choice_source *source, uint32_t turn, uint32_t able);
enum fault_kind choice_fault(struct choice_source *source, unsigned actor, uint32_t ordinal);

/* The fault that was chosen does apply here, and its budget is not spent: it is part of the run. */
void choice_took(struct choice_source *source, unsigned actor, uint32_t ordinal,
                 enum fault_kind kind);

/* 0 .. bound - 1. */
uint32_t choice_amount(struct choice_source *source, unsigned actor, uint32_t ordinal,
                       uint32_t bound);

/* After how many of a transaction's operations it stops: 1 .. length, or 0: it does not. */
uint32_t choice_stop(struct choice_source *source, unsigned actor, uint32_t ordinal,
                     uint32_t length);

/* An actor more, beyond those that have a priority: it changes places with one who is drawn. */
void choice_join(struct choice_source *source, unsigned actor);

/* Sorted, as lookups need it; of two with the same (why, actor, ordinal) the first stays. */
void choice_list_sort(struct choice_list *list);

#endif
