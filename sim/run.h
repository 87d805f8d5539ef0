/* One run: the actors of a scenario take turns in a world, faults hit their transactions, and the
 * oracles judge every commit.
 *
 * A run has two phases. *Weather*: the source of choice injects faults, until nothing is left to do
 * or a chosen step or a bound is reached. *Settling*: faults stop, every actor restarts, claims
 * expire, and the remaining work must finish within a bound; then the live promises are judged.
 *
 * One turn (a step) consists of, in this order: who runs; which fault hits; faults of the
 * environment (a duplicate, a restart, a clock jump); the work outside rows that the actor's
 * transaction rests on, unless it was done under this claim; then that transaction, all of it or
 * none. At statement level a transaction may also be stopped half-way, or wait for a lock: it then
 * stays open over the turns of other actors, and resuming it is a turn of its own. A transaction
 * that lands late stays open in the same way at either level, with its locks: other actors wait for
 * them, as at statement level. Time moves by one tick a step. When no actor can run, it moves to
 * the next moment at which one can, which is no step.
 *
 * Owns the volatile half of a world: actors, their memory, the phase. Never starts a thread, reads
 * a clock or allocates while it runs: everything is made once, in run_make.
 *
 * (U1) A run is a function of (scenario, sabotage, source of choice).
 * (U2) An actor that crashes loses what its role says, a worker everything but the rows; it
 *      restarts at once.
 * (U3) The digest covers every turn taken, every fault, how every transaction ended, every cell's
 *      old and new value, and all work that was done outside rows.
 * (U4) Of a group of faults no more fall than the scenario's budget has. A late transaction is one
 *      of late_count, and has a session of its own once it has begun.
 * (U5) An actor that fails a CHECK of its own crashes. A run in which one did and every promise held
 *      is none that held: its verdict is RUN_DIED. */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include "faults/performer.h"
#include "model/check_trap.h"
#include "model/oracle/oracle.h"
#include "scenarios/scenario.h"
#include "sim/choice.h"
#include "sim/life.h"
#include "sim/session.h"
#include "sim/store.h"

#define RUN_ACTORS_MAX PROTOCOL_ACTORS_MAX /* rules.cast assigns the roles */
#define RUN_SETTLES_AT UINT32_MAX          /* the ordinal of the choice at which step faults stop */
#define RUN_TOLD_MAX   512                 /* changes of the commits that a failover may lose */
#define RUN_LATE_MAX   2                   /* transactions that can be in transit at once */

enum run_verdict {
    RUN_HELD,       /* every promise held */
    RUN_BROKEN,     /* a promise was broken */
    RUN_STORE_FULL, /* the simulated store ran out of room: no verdict */
    RUN_GIVEN_UP,   /* the store that follows diverged: no verdict */
    RUN_DIED,       /* every promise held, and an engine failed a CHECK of its own */
    RUN_VERDICT_COUNT
};

/* The kind of a turn. */
enum run_turn {
    RUN_TRANSACTION, /* a bundle was sent */
    RUN_CRASH,       /* the actor crashed before it sent anything, or failed a CHECK of its own */
    RUN_PAUSE,       /* the actor stopped for a while */
    RUN_ENVIRONMENT, /* a fault of the environment */
    RUN_SETTLE,      /* faults stop here */
    RUN_STOPS,       /* the actor's transaction stops half-way and keeps its locks */
    RUN_WAITS,       /* ... or waits for another's lock */
    RUN_LANDS        /* a late transaction ends (struct run_late) */
};
#define RUN_TURN_COUNT (RUN_LANDS + 1)

/* A step as a trace shows it. Pointers are valid during the call. */
struct run_event {
    enum run_turn turn;
    uint32_t step;
    int64_t now;
    unsigned actor;
    enum fault_kind fault;            /* that hit it */
    bool crashed;                     /* the actor crashed */
    bool committed;                   /* the changes are committed */
    const struct bundle *bundle;      /* RUN_TRANSACTION: what was sent */
    const struct outcome *outcome;    /* ... and what came back */
    const int64_t *message;           /* the message it was about, key first; NULL: none */
    const char *died;                 /* the CHECK that the actor failed; NULL: none */
    int64_t amount;                   /* the fault's detail; RUN_STOPS: operations done; RUN_WAITS:
                                         the set of actors that it waits for */
    const struct side_effect *effect; /* the work outside rows that it did first; NULL: none */
    const struct rows *rows;          /* after it */
    const struct row_change *changes;
    size_t change_count;
    uint64_t digest; /* of the run so far */
};

typedef void run_observer(void *context, const struct run_event *event);

struct run_result {
    enum run_verdict verdict;
    struct oracle_verdict breach; /* RUN_BROKEN */
    enum oracle_name oracle;      /* RUN_BROKEN: the oracle that reported it */
    uint8_t breach_table;         /* RUN_BROKEN: the row it is about */
    uint32_t breach_slot;
    bool settled; /* judged after settling, not at a commit */
    uint32_t steps;
    uint32_t transactions; /* bundles sent */
    uint64_t digest;
    uint32_t fired[FAULT_KIND_COUNT];
    uint32_t deaths; /* of actors that failed a CHECK of their own */
};

struct run_actor {
    struct performer performer;
    int64_t paused_until;
    uint32_t transactions;       /* bundles sent, or lost before they were sent */
    bool cut;                    /* its connection is lost, and it has not noticed */
    bool is_new;                 /* restarted since its last transaction */
    uint8_t queues_for;          /* enum principal whose connections were all in use */
    int64_t skew;                /* offset of its own clock from the store's, */
    uint8_t rate;                /* ... and its ticks for four of the store's; 0: four */
    bool skew_counts;            /* the skew took effect, or there is none */
    int64_t works_until;         /* it does work outside rows until then; 0: it does none */
    struct side_effect works_on; /* ... this work */
    int64_t works_since;         /* ... and knows of the time up to then */
    int64_t worked;              /* ticks of its own clock that no transaction has reported yet, */
    int64_t stretch;             /* ... and the most that it meant to work without looking at it */
    uint32_t works_at; /* transactions of the run when the work began; UINT32_MAX: the fault is
                          counted */
    uint8_t client;    /* its client number in the store (observed.h) */
    /* of its open transaction */
    bool twisted, stopped;
    uint8_t fault; /* enum fault_kind: the fault that hits it */
    uint32_t stop; /* stop after so many operations; 0: never */
};

/* A late transaction: its sender has moved on, or crashed. It was sent whole, COMMIT included. Its
 * session belongs to no actor and is numbered after those of the actors. */
struct run_late {
    bool there;
    bool begun;            /* executed as far as possible, and holds its locks; else its bundle is
                              in transit to the store */
    bool counted;          /* an actor went on meanwhile, so the fault took effect */
    uint8_t fault, actor;  /* enum fault_kind; the sender */
    uint32_t due;          /* the step at which it ends, if nothing blocks it */
    uint32_t transactions; /* of the run when it was sent */
    int64_t message[1 + MESSAGE_COLUMNS]; /* that the sender held, key first */
    bool has_message;
};

/* The former self of a worker that was started again under its name while it was alive. It goes on
 * beside its successor until it holds nothing, crashes, or faults stop. It is an actor like any
 * other, with a session and a client of its own, but it never restarts; its index is run_former. */
struct run_former {
    bool there;
    bool counted;    /* it sent a bundle after its successor had, so the fault took effect */
    uint8_t of;      /* the worker that was started again */
    uint8_t spare;   /* the client number that is free while it does not exist */
    uint32_t before; /* transactions of former selves before it: ordinals count on */
};

/* Everything that a run needs, made once for a scenario and used for many runs. */
struct run {
    const struct scenario *scenario;
    const struct sabotage *sabotage; /* NULL: none */
    const struct sim_part *part;     /* what the protocol brings: part.h */
    struct choice_strategy strategy; /* of run_draw; run_make sets random */
    struct rules rules;
    struct primitive primitives[SABOTAGE_TABLE_SIZE];
    struct world world;
    struct world crash_free; /* the rows after the run without faults */
    uint32_t crash_free_steps;
    uint32_t crash_free_transactions;
    struct oracle oracle;
    struct expectation *expected; /* what the scenario asks for, as the oracles read it */
    int64_t *ghosts;
    uint8_t *ghost_marks;       /* which of them are written: ghosts.h */
    struct digest_names *names; /* what the digest is made of: digest.h */
    struct run_actor actors[RUN_ACTORS_MAX + RUN_LATE_MAX + 1]; /* run_former last */
    unsigned actor_count;
    uint32_t budget[FAULT_GROUP_COUNT];
    struct sessions *sessions;
    struct run_late late[RUN_LATE_MAX];
    struct bundle late_bundles[RUN_LATE_MAX]; /* of those that are in transit */
    uint32_t late_count;
    struct run_former former;
    struct check_trap trap;  /* armed while an engine is stepped, with 1 + its actor */
    bool interleaves;        /* statement level: transactions may be stopped half-way */
    const struct life *life; /* of transactions that overlap; run_make: interleaved */
    void *life_context;      /* its own */
    uint32_t whole_picked;   /* of the transaction that lives at once (life_whole) */
    bool whole_aborted;
    bool settling;
    bool has_presets;  /* the scenario changes rows itself */
    bool calm;         /* no fault is asked for */
    bool keeps_log;    /* a failover can lose commits, so the log is kept */
    size_t commits[8]; /* position of the log before each of the last commits */
    uint32_t commit_count;
    uint32_t commits_held;                /* how many of those positions are valid */
    struct row_change told[RUN_TOLD_MAX]; /* the changes that a failover lost */
    size_t told_count;
    int64_t amount;  /* detail of the last fault */
    uint32_t copies; /* duplicates made */
    uint32_t turns, idle_turns;
    struct choice_source *source;
    struct bundle bundle;
    struct outcome outcome;
    struct side_effect effect; /* of the current turn; `what` is 0: none */
    struct observed seen;      /* what the store saw of that bundle */
    run_observer *observer;
    void *observer_context;
    uint64_t recheck_every; /* commits between slow rechecks, in a large world more; 0: never */
    uint64_t commit_number;
    struct run_result result;
};

/* The actor index of a worker's former self: beyond the actors and the late sessions. */
static inline unsigned run_former(const struct run *run)
{
    return run->actor_count + RUN_LATE_MAX;
}

/* Allocates everything, and runs the scenario once without faults and sabotage. False: no
 * memory. */
bool run_make(struct run *run, const struct scenario *scenario, const struct sabotage *sabotage);

/* The same, with room for a log of so many changes: for a caller that undoes many commits
 * (walk.h). */
bool run_make_deep(struct run *run, const struct scenario *scenario,
                   const struct sabotage *sabotage, size_t changes);
void run_free(struct run *run);

/* The source of choice of a seed for this scenario, by run->strategy. */
struct choice_source run_draw(const struct run *run, uint64_t seed);

/* Which run a thread is at, for a watchdog of another thread: its turns go on as long as it does
 * (run->turns). NULL: none. A thread that is not watched has no sign. */
struct run_sign {
    const struct run *volatile at;
};
extern _Thread_local struct run_sign *run_sign;

/* Ends the program, with the run's name, if the verdict is RUN_DIED: a bug in an engine. */
void run_check_alive(const struct run *run);

/* One run. Statistics of the oracle (run->oracle.evaluated, .seen) add up over runs. */
const struct run_result *run_once(struct run *run, struct choice_source *source);

/* Resets the oracles; the world must be empty. */
void run_begin_oracle(struct run *run);

/* Resets to the state before the first step; `source` may be NULL if the caller chooses the steps
 * (walk.h). */
void run_begin(struct run *run, struct choice_source *source);

/* What an actor may look at to say when it has something to do; the time from which on it can
 * run. */
struct glance run_glance(const struct run *run);
int64_t run_able_from(const struct run *run, unsigned actor, const struct glance *glance);

/* A second row with the content of the message in this slot, visible at once and never claimed
 * (E-ACL-11). False: no room. */
bool run_copy_message(struct run *run, uint32_t slot);

/* Quiescence: no serving actor would find anything to do in these rows, now or later. */
bool run_is_quiet(const struct run *run);

#endif
