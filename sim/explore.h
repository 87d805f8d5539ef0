/* Exhaustive search: every schedule of a small scenario within bounds on faults, with all oracles
 * on at every state.
 *
 * The search is depth first over the moves of a walk (walk.h), each undone afterwards. It does not
 * expand a state whose fingerprint it has seen. A state without a fault-free successor is
 * quiescent; the live promises are judged there.
 *
 * Reductions, all on unless the plan says otherwise. None of them changes a verdict or the set of
 * terminal states. A reduction that a planted bug or interleaved operations would make unsound is
 * switched off (report.reductions). Three of the four decide which states are the same
 * (fingerprint.h). The fourth, REDUCE_ORDER, is a partial-order reduction: of several orders of moves
 * that lead to the same state it explores one.
 *
 * - Crashes. A crash of a worker commutes with the transactions of others, so the search tries it
 *   right after each transaction of that worker only. An earlier crash sets free everything that a
 *   later one does. A worker may also crash when time moves on, which happens only when no actor
 *   has anything to do.
 *
 * - Duplicates. A copy of a message appears together with the message, or when time moves on. It
 *   may stay unclaimed for any time. When time moves on, any number of workers may crash and any
 *   number of messages may be duplicated, in one order.
 *
 * - Local steps. The next transaction of a worker is local if it reads and writes rows of its own
 *   component only (fingerprint.h) and no other message of that component exists. A local step
 *   commutes with every other move, now and later, so it is an ample set by itself: in such a state
 *   the search takes no other move. That no transaction names existing rows of another component is
 *   checked, not assumed: one that does ends the search. A claim is taken first only together with
 *   all that its worker does until it is idle again, if every step of that is local; the states in
 *   between are not stored. The cycle proviso: where a local step leads back to a state on the
 *   current path, all other moves of that state are explored, too. (A cycle that spans two threads
 *   is not detected. None of its states is then known to reach quiescence, so the search reports
 *   STUCK; one thread gives the exact answer.) Some of these arguments rest on promises that
 *   oracles check. If one of those oracles is off (plan.without, plan.watch), no step goes first.
 *
 * - Claims that ride with other work. The same work followed by a separate claim leads to the same
 *   state, with nothing in between, so the search explores only the separate claim. The exception
 *   is a lost answer: then the worker does not know what it claimed. Work that could lose a claim
 *   in this way is not local. Where a planted bug splits such work into several transactions, the
 *   search omits no order.
 *
 * Liveness: once faults stop, the system can reach quiescence from every state. A state can if it
 * is quiescent and the live promises hold there, or if one of its fault-free successors can. A
 * depth-first search mostly knows this when it leaves a state. Where it does not (there is a cycle,
 * or another thread is exploring a successor), it notes the state with its successors and computes
 * the fixed point over those notes at the end. The states that remain are STUCK.
 *
 * Threads: explore_join is called by as many threads as the search was made for. The first begins
 * at the root. An idle thread receives a work item from another thread: an untried branch of that
 * thread's path, as near to the root as there is one, which the receiver reaches by replaying the
 * path. Counts do not depend on the number of threads.
 *
 * Not searched: a commit that takes effect after its sender moved on (FAULT_COMMIT_LATE); a lost
 * answer is always that of a transaction that is over. A worker that is started again while it
 * lives (FAULT_SUCCESSOR); a worker that crashes releases its message at once. Work that takes time
 * (FAULT_LONG_WORK); a claim that expires while its holder works is a lapse, which is searched, but
 * extensions meanwhile are not. A wrong clock of an actor (FAULT_SKEW): actors have none.
 *
 * (XP1) The answer is "complete" only if every state within the bounds was visited.
 * (XP2) A search that is complete and found nothing: no schedule within the bounds breaks a promise
 *       that is on, but for the chance of a hash collision that visited.h states. */
#ifndef SIM_EXPLORE_H
#define SIM_EXPLORE_H

#include "sim/visited.h"
#include "sim/walk.h"

#define EXPLORE_JOBS_MAX 64

/* Terminal states are told apart in four ways: with siblings and with counters each distinguished
 * or not. */
#define EXPLORE_ENDS_SETS 4
#define EXPLORE_ENDS_MAX  (1 << 15) /* most different terminal states that are counted */

/* Why a search with REDUCE_ORDER, or with REDUCE_COUNTERS, ends as BOUNDED. Without that reduction
 * it can finish. */
#define EXPLORE_REACHES_OUT  "a transaction names rows of another place"
#define EXPLORE_NEAR_CEILING "a counter came near its ceiling"

/* Planted bugs of the search itself. The comparison with the unreduced search must notice each. */
enum explore_bug {
    BUG_NONE,
    BUG_COMPANY, /* a step is local even if others work on its component */
    BUG_DEATH,   /* no worker crashes right after a transaction of its own */
    BUG_COPIES,  /* no message is duplicated as soon as it is published */
    BUG_TRUST,   /* no reduction is switched off for a planted bug of the protocol */
    BUG_REST,    /* a state counts as reaching quiescence once its successors are explored */
    BUG_ITEM,    /* a thread drops the work item that it received */
};

struct explore_plan {
    struct walk_plan walk;
    size_t memory; /* bytes, for everything that grows with the states (explore_budget.h) */
    unsigned jobs;
    uint64_t target; /* stop at this state and report the path to it; 0: none */
    enum explore_bug bug;
};

enum explore_verdict {
    EXPLORE_HELD,    /* complete, and every promise held */
    EXPLORE_BROKEN,  /* a promise was broken */
    EXPLORE_STUCK,   /* some state cannot reach quiescence */
    EXPLORE_BOUNDED, /* memory, depth or the store's capacity ran out, or it was interrupted */
    EXPLORE_VERDICT_COUNT
};

/* The terminal states: the different row contents of quiescent states. */
struct explore_ends {
    uint64_t count, sum; /* their number, and a digest of them */
    bool more;           /* more than EXPLORE_ENDS_MAX: the rest is not counted */
};

struct explore_report {
    enum explore_verdict verdict;
    const char *why;     /* BOUNDED: what ran out */
    unsigned reductions; /* those of the plan that are sound here */
    uint64_t states, transitions;
    uint64_t rests;                              /* quiescent states */
    struct explore_ends ends[EXPLORE_ENDS_SETS]; /* see explore_ends_as */
    unsigned deepest;         /* longest path explored; a state may have a shorter one */
    size_t bytes;             /* memory used at the end, as the budget counts it */
    struct run_result result; /* BROKEN */
    struct walk_move *path;   /* BROKEN, or target found: the path; freed by explore_free */
    size_t path_length;
    uint64_t stuck;                                /* STUCK: one of the states */
    uint64_t evaluated[CLAUSE_COUNT];              /* how often each clause's antecedent held */
    uint64_t seen[COVER_COUNT];                    /* how often each cover point was hit */
    bool sent[BUNDLE_NAME_COUNT][PRIMITIVE_COUNT]; /* by the engine, before a planted bug changes
                                                      it */
    uint64_t spoiled;                              /* transactions that the planted bug changed */
};

struct explore; /* explore.c */

/* NULL: no memory. */
struct explore *explore_make(const struct explore_plan *plan);
void explore_free(struct explore *explore);

/* Searches until all work is done; `job` is the thread's number, below plan->jobs. */
void explore_join(struct explore *explore, unsigned job);

/* From any thread while the search runs: progress, and a request to stop. */
uint64_t explore_states(const struct explore *explore);
void explore_stop(struct explore *explore);

/* Once, after every thread has returned from explore_join. */
const struct explore_report *explore_finish(struct explore *explore);

/* Terminal states, distinguished as finely as `reductions` allows. */
const struct explore_ends *explore_ends_as(const struct explore_report *report,
                                           unsigned reductions);

/* The terminal states themselves, distinguished as finely as `reductions` allows, in ascending
 * order, into `list`, which has room for EXPLORE_ENDS_MAX. Returns their number. */
size_t explore_ends_list(const struct explore *explore, unsigned reductions, uint64_t *list);

/* Breadth-first search by one thread instead of explore_join: the path to a breach, or to the
 * target, is a shortest one. REDUCE_ORDER must be off, because the number of moves counts. A
 * quiescent state is judged before any move of its level. Liveness is not checked: HELD says that
 * no promise breaks at a commit or at quiescence; explore_join has to answer the rest. */
void explore_shortest(struct explore *explore);

/* A path that breaks no promise up to quiescence and diverges from the given one as late as
 * possible. `passing` has room for WALK_DEPTH_MAX moves. False: every path breaks a promise. */
bool explore_nearest(struct walk *walk, const struct walk_move *path, size_t length,
                     struct walk_move *passing, size_t *passing_length);

#endif
