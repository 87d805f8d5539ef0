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
 * (C1) With equal (scenario, seed, PCG_VERSION, CHOICE_VERSION) the answers are equal.
 * (C2) A run replayed from its own record makes the same choices. */
#ifndef SIM_CHOICE_H
#define SIM_CHOICE_H

#include "faults/catalogue.h"
#include "sim/pcg.h"

#define CHOICE_VERSION 2
#define CHOICE_NOBODY  255 /* the actor of what happens while nobody can run */

enum choice_why { CHOICE_WHO, CHOICE_FAULT, CHOICE_AMOUNT, CHOICE_STOP, CHOICE_WHY_COUNT };

struct choice {
    uint8_t why;   /* enum choice_why */
    uint8_t actor; /* 0 for CHOICE_WHO */
    uint32_t ordinal;
    uint32_t value;
};

/* A list of choices; the memory is the caller's. */
struct choice_list {
    struct choice *items;
    size_t count, capacity;
    bool overflowed; /* something was not recorded for want of room */
};

struct choice_source {
    bool random_schedule; /* who: drawn; else listed, or the lowest */
    bool random_faults;   /* fault and amount: drawn; else listed, or none */
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

/* The usual choices, except as listed. */
struct choice_source choice_listed(const struct choice_list *list);

/* The seed's random schedule, faults as listed. */
struct choice_source choice_swept(uint64_t seed, const struct choice_list *list);

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

/* Sorted, as lookups need it; of two with the same (why, actor, ordinal) the first stays. */
void choice_list_sort(struct choice_list *list);

#endif
