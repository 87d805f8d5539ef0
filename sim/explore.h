/* Exhaustive search: every schedule of a small scenario within bounds, all oracles on at every
 * state.
 *
 * Depth first over the moves of a walk, each taken back afterwards; a state that was seen before is
 * not gone into again. At a state where nothing but faults can happen the live promises are judged.
 *
 * Reductions, all on unless the plan says otherwise, none of which changes a verdict or the set of
 * durable ends; those that a planted bug or open transactions could make unsound are not made
 * (report.reductions). Three are about which states are the same (sameness.h). REDUCE_ORDER leaves
 * out orders of moves that come to the same:
 *
 * - Crashes. A worker dies right after a transaction of its own, or not until its next one: what
 *   others do in between does not depend on which, and it sets nothing free later that it does not
 *   set free earlier. But it may also die when time moves on, which it does only when nobody has
 *   anything to do.
 *
 * - Duplicates. A copy of a message comes to be when the message does, or when time moves on. It
 *   may lie there unseen for as long as one likes. When time moves on, any number of workers may
 *   die and of messages come twice, in one order.
 *
 * - Local steps. If a worker's next transaction reads and writes nothing but its own place, and no
 *   other message about that place is anywhere, then nobody can come in its way, now or later: it
 *   goes first, and nobody else's move is looked at in this state. That transactions name no rows
 *   of another place that is there already is not taken for granted: each is looked at, and one
 *   that does ends the search. A claim goes first only together with all that its worker does until
 *   it is idle again, if every step of that is local; the states in between are not kept. None is
 *   put off for ever: where such a step leads back to a state on the way to it, everything else is
 *   looked at there, too. (A circle that closes between two threads is left out, but not passed
 *   over: nothing in it has a way to rest, so the answer is STUCK, and who asks one thread is told
 *   the truth.) Some reasons are promises that oracles watch: if one of those is off (plan.without,
 *   plan.watch), nothing goes first.
 *
 * - Claims that ride with other work. The state is the one that the same work and then the claim
 *   lead to, with nothing in between, so they are claimed apart; but not where the answer is lost:
 *   then nobody knows what was claimed. Work that could lose a claim so is no local step. Where a
 *   planted bug makes several transactions of such work, no order is left out.
 *
 * Liveness: once faults stop, everything can come to rest from every state. A state can rest if it
 * is at rest (nobody can do anything, and the live promises hold), or if one of its successors
 * without a fault can. Depth first, that is known when a state is left; where it is not (there is a
 * cycle, or another thread is at work on a successor) the state and its successors are noted, and
 * settled at the end by going over those notes until nothing changes. What is left cannot rest.
 *
 * Threads: explore_join is called by as many threads as the search was made for. The first begins
 * at the root; one that has nothing to do is given, by another, what nobody has tried of that one's
 * way, as near to the root as there is something, and goes there by itself. Counts do not depend on
 * how many there are.
 *
 * Not searched: a commit that comes after its sender moved on (FAULT_COMMIT_LATE). A lost answer is
 * of a transaction that is over. Nor is a worker that is started again while it lives
 * (FAULT_SUCCESSOR): one that dies lets go at once. Work takes no time (FAULT_LONG_WORK): that its
 * claim runs out while its holder works is a lapse, which is searched; extensions meanwhile are
 * not. Nobody has a clock that could be wrong (FAULT_SKEW).
 *
 * (EX1) The answer is "complete" only if every state within the bounds was visited.
 * (EX2) A search that is complete and found nothing: no schedule within the bounds breaks a promise
 *       that is on, but for the chance that visited.h states. */
#ifndef SIM_EXPLORE_H
#define SIM_EXPLORE_H

#include "sim/visited.h"
#include "sim/walk.h"

#define EXPLORE_JOBS_MAX 64

/* Sets of reductions, as far as they tell ends apart: siblings and counters each left out or not.
 */
#define EXPLORE_ENDS_SETS 4
#define EXPLORE_ENDS_MAX  (1 << 15) /* different ends that are told apart */

/* Why a search with REDUCE_ORDER, or with REDUCE_COUNTERS, ends as BOUNDED: without that reduction
 * it can be done. */
#define EXPLORE_REACHES_OUT  "a transaction names rows of another place"
#define EXPLORE_NEAR_CEILING "a counter came near its ceiling"

/* Planted bugs of the search itself: its comparison with the unreduced one has to notice each. */
enum explore_bug {
    BUG_NONE,
    BUG_COMPANY, /* a step is local whoever else is about its place */
    BUG_DEATH,   /* nobody dies right after a transaction of its own */
    BUG_COPIES,  /* no message comes twice as soon as it is there */
    BUG_TRUST,   /* reductions are made whatever bug is planted in the protocol */
    BUG_REST,    /* a state can rest when all is done that can be done from there */
    BUG_ERRAND,  /* a thread forgets what it was given */
};

struct explore_plan {
    struct walk_plan walk;
    size_t memory; /* bytes, for everything that grows with the states (explore_budget.h) */
    unsigned jobs;
    uint64_t target; /* a state that is looked for: the way there ends the search; 0: none */
    enum explore_bug bug;
};

enum explore_verdict {
    EXPLORE_HELD,    /* complete, and every promise held */
    EXPLORE_BROKEN,  /* a promise was broken */
    EXPLORE_STUCK,   /* from some state nothing can come to rest */
    EXPLORE_BOUNDED, /* memory, depth or the store's room ran out, or it was interrupted */
    EXPLORE_VERDICT_COUNT
};

/* Different rows that states have in which nothing but faults can happen. */
struct explore_ends {
    uint64_t count, sum; /* how many, and a digest of them */
    bool more;           /* there are more, which are not counted */
};

struct explore_report {
    enum explore_verdict verdict;
    const char *why;     /* BOUNDED: what ran out */
    unsigned reductions; /* those of the plan's that may be made */
    uint64_t states, transitions;
    uint64_t rests;                              /* states in which nothing but faults can happen */
    struct explore_ends ends[EXPLORE_ENDS_SETS]; /* by set; see explore_ends_as */
    unsigned deepest;         /* on the ways that were gone: others may be shorter */
    size_t bytes;             /* of all that grows with the states, at the end */
    struct run_result result; /* BROKEN */
    struct walk_move *path;   /* BROKEN, or to the target: the way there; freed by explore_free */
    size_t path_length;
    uint64_t stuck;                                /* STUCK: one of the states */
    uint64_t evaluated[CLAUSE_COUNT];              /* how often each clause's antecedent held */
    uint64_t seen[SIGHT_COUNT];                    /* how often each path was seen */
    bool sent[BUNDLE_NAME_COUNT][PRIMITIVE_COUNT]; /* without a planted bug: what was sent */
    uint64_t spoiled; /* transactions that the planted bug had a hand in */
};

struct explore; /* explore.c */

/* NULL: no memory. */
struct explore *explore_make(const struct explore_plan *plan);
void explore_free(struct explore *explore);

/* Searches until everything is done; `job` is the thread's number, below plan->jobs. */
void explore_join(struct explore *explore, unsigned job);

/* How far it is, while others search; to be stopped from anywhere. */
uint64_t explore_states(const struct explore *explore);
void explore_stop(struct explore *explore);

/* After every thread has come back, once. */
const struct explore_report *explore_finish(struct explore *explore);

/* Ends as one who makes these reductions tells them apart. */
const struct explore_ends *explore_ends_as(const struct explore_report *report,
                                           unsigned reductions);

/* The ends themselves as one who makes these reductions tells them apart, in ascending order, into
 * `list`, which has room for EXPLORE_ENDS_MAX; how many. */
size_t explore_ends_list(const struct explore *explore, unsigned reductions, uint64_t *list);

/* Breadth first instead of explore_join, by one thread: the path is a shortest one. Order must not
 * be reduced: it is the number of moves that counts. A state at rest is judged before any move of
 * its level. Whether everything can rest is not asked: HELD says that no promise is broken at a
 * commit or at rest, and explore_join has to be asked for the remainder. With a target, the way
 * there is a shortest one. */
void explore_shortest(struct explore *explore);

/* A way that holds to the end and parts from this one as late as possible: `passing` has room for
 * WALK_DEPTH_MAX moves. False: there is none that does not go wrong. */
bool explore_nearest(struct walk *walk, const struct walk_move *path, size_t length,
                     struct walk_move *passing, size_t *passing_length);

#endif
