/* The one source of choice: every decision of a run that could go either way is asked of here.
 *
 * Four questions:
 *      who     which of the actors that can run takes the turn
 *      fault   which fault hits that actor's transaction, nearly always FAULT_NONE
 *      amount  a fault's detail: how long, how many, which one
 *      stop    after how many operations the transaction stops, and other actors get their turn
 *
 * A choice is recorded as (why, actor, ordinal, value), and only if it differs from the default:
 * the lowest worker (the client, actor 0, if no worker can run), no fault, amount 0, no stop. So
 * every sublist of a list is also a valid run, and a shorter list is a calmer one. Ordinals count
 * turns for `who` and an actor's transactions for the others, so that an entry keeps its meaning
 * when others are removed.
 *
 * Two scheduling strategies draw `who`; both draw faults, amounts and stops alike:
 *      random  each turn uniformly among the actors that can run
 *      pct     probabilistic concurrency testing (Burckhardt and others, ASPLOS 2010): each actor
 *              has a priority, and the highest one that can run takes the turn. At d-1 change
 *              points among the first k turns, the actor that takes the turn is moved to the lowest
 *              priority. An actor stopped inside a transaction swaps priorities with a random one.
 * A bug of depth d shows if d pairs of turns come in a certain order. A pct schedule of n actors
 * and at most k turns has that order with a probability of at least 1 / (n k^(d-1)), whatever else
 * the actors do. That holds where no transaction is stopped (half of all seeds); with faults, it
 * holds multiplied by the probability of the faults that the bug needs. No such bound exists for
 * random schedules. pct is unfair by design, so it ends when faults stop: liveness is judged under
 * a fair schedule.
 *
 * (CO1) With equal (scenario, strategy, seed, PCG_VERSION, CHOICE_VERSION) the answers are equal.
 * (CO2) A run replayed from its own record makes the same choices.
 * (CO3) An answer is among those asked for: an actor that can run, a kind of fault that is allowed,
 *       an amount below its bound, a stop within the length. */
#ifndef SIM_CHOICE_H
#define SIM_CHOICE_H

#include "faults/catalogue.h"
#include "scenarios/pcg.h"

#define CHOICE_VERSION 2
#define CHOICE_NOBODY  255 /* the actor of events while no actor can run */

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

/* Scheduling strategy. Zero-initialised: uniformly random. */
struct choice_strategy {
    uint8_t depth;   /* pct: d; 0: random */
    uint32_t length; /* pct: k; 0: the length of the scenario's run without faults */
};

/* "random", "pct", "pct:DEPTH" or "pct:DEPTH:LENGTH". False: the text is none of these. */
bool choice_strategy_read(const char *text, struct choice_strategy *strategy);
void choice_strategy_text(const struct choice_strategy *strategy, char text[CHOICE_STRATEGY_SIZE]);

/* A list of choices; the memory is the caller's. */
struct choice_list {
    struct choice *items;
    size_t count, capacity;
    bool overflowed; /* a choice was not recorded for lack of room */
};

struct choice_source {
    uint64_t seed;                           /* that it draws from; 0: as listed */
    bool random_schedule;                    /* draw `who`; else as listed, or the lowest */
    bool random_faults;                      /* draw fault and amount; else as listed, or none */
    uint8_t depth;                           /* draw `who` by priorities (pct); 0: uniformly */
    uint8_t actors;                          /* with a priority */
    uint8_t priority[CHOICE_ACTORS_MAX];     /* all different */
    uint32_t falls_at[CHOICE_DEPTH_MAX - 1]; /* the turn whose actor drops to priority 0, 1, ... */
    struct pcg schedule, faults, amounts, stops;
    uint32_t stops_below;                   /* a draw below this stops a transaction */
    uint32_t fault_below[FAULT_KIND_COUNT]; /* cumulative sums: a draw below one picks the kind */
    uint32_t fault_any;                     /* the last of those sums */
    const struct choice_list *listed;       /* sorted by choice_list_sort; NULL: none */
    struct choice_list *record;             /* NULL: no recording */
};

/* The seed's random run: each seed enables a subset of the plan's faults, each with a rate of its
 * own up to the plan's. */
struct choice_source choice_random(uint64_t seed, const struct fault_plan *plan);

/* The same, except that `who` is drawn by priorities of `actors` actors. The strategy's length is
 * not 0. */
struct choice_source choice_pct(uint64_t seed, const struct fault_plan *plan,
                                const struct choice_strategy *strategy, unsigned actors);

/* The default choices, except as listed. */
struct choice_source choice_listed(const struct choice_list *list);

/* The seed's random schedule, faults as listed. */
struct choice_source choice_swept(uint64_t seed, const struct choice_list *list);

/* Faults stop: from here on the schedule is fair. */
void choice_settle(struct choice_source *source);

/* `able` has bit a set if actor a can run; at least one is. */
unsigned choice_who(struct choice_source *source, uint32_t turn, uint32_t able);
enum fault_kind choice_fault(struct choice_source *source, unsigned actor, uint32_t ordinal);

/* Confirms that the chosen fault applies and is within its budget: it becomes part of the
 * record. */
void choice_took(struct choice_source *source, unsigned actor, uint32_t ordinal,
                 enum fault_kind kind);

/* 0 .. bound - 1. */
uint32_t choice_amount(struct choice_source *source, unsigned actor, uint32_t ordinal,
                       uint32_t bound);

/* After how many of a transaction's operations it stops: 1 .. length, or 0: it does not. */
uint32_t choice_stop(struct choice_source *source, unsigned actor, uint32_t ordinal,
                     uint32_t length);

/* Gives one more actor a priority: it swaps with a random one. */
void choice_join(struct choice_source *source, unsigned actor);

/* Asserts that draws fall on the kinds of fault that the plan allows (CO3) and that lookups find
 * what is listed (CO2). */
void choice_check(const struct choice_source *source);

/* Sorts, as lookups need it. Of two entries with the same (why, actor, ordinal) the first stays. */
void choice_list_sort(struct choice_list *list);

#endif
