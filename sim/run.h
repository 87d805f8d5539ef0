/* One run: the actors of a scenario take turns in a world, faults fall on their
 * transactions, and the oracles judge every commit.
 *
 * A run has two phases. *Weather*: faults fall as the source of choice says, until nothing is left
 * to do, a step that was chosen or a bound is reached. *Settling*: faults stop, every actor is
 * started anew, claims lapse, and what is left must be done within a bound; then the live promises
 * are judged.
 *
 * One turn (a step) is, in this order: who runs; which fault falls; the world around (a duplicate,
 * a restart, a clock that jumps); the work outside rows that the actor's transaction rests on, if
 * it has not been done under this claim; then that transaction, all of it or none. At statement
 * level a transaction may also be stopped half-way, or have to wait for a lock: then it stays open
 * over the turns of others, and to go on with it is a turn of its own. At either level one that
 * lands late is open over turns of others, too, with its locks: then they wait, as at statement
 * level. Time moves by
 * one tick a step; when nobody can run, it moves to the next moment at which somebody can, which is
 * no step.
 *
 * Owns the volatile half of a world: actors, their memory, the phase. Never starts a thread, reads
 * a clock or allocates while it runs: everything is made once, in run_make.
 *
 * (U1) A run is a function of (scenario, sabotage, source of choice).
 * (U2) An actor that crashes loses what its role says, a worker everything but the rows; it is back
 *      at once.
 * (U3) The digest covers every turn taken, every fault, how every transaction ended, every cell's
 *      old and new value, and all work that was done outside rows. */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include "faults/performer.h"
#include "model/oracle/oracle.h"
#include "scenarios/scenario.h"
#include "sim/choice.h"
#include "sim/session.h"
#include "sim/store.h"

#define RUN_ACTORS_MAX PROTOCOL_ACTORS_MAX /* rules.cast says who is who */
#define RUN_SETTLES_AT UINT32_MAX          /* the ordinal of: at which step faults stop */
#define RUN_TOLD_MAX   512                 /* changes of the commits that can be lost */
#define RUN_LATE_MAX   2                   /* transactions that can be on their way at once */

enum run_verdict {
    RUN_HELD,       /* every promise held */
    RUN_BROKEN,     /* a promise was broken */
    RUN_STORE_FULL, /* the simulated store ran out of room: says nothing */
    RUN_GIVEN_UP,   /* a mirror did not follow: says nothing */
    RUN_VERDICT_COUNT
};

/* What a turn was. */
enum run_turn {
    RUN_TRANSACTION, /* a bundle was sent */
    RUN_CRASH,       /* the actor died before it sent anything */
    RUN_PAUSE,       /* the actor stopped for a while */
    RUN_ENVIRONMENT, /* the world around changed: see the fault */
    RUN_SETTLE,      /* faults stop here */
    RUN_STOPS,       /* the actor's transaction stops half-way, and keeps its locks */
    RUN_WAITS,       /* ... or waits for a lock that another holds */
    RUN_LANDS        /* a transaction that its sender had moved on from ends */
};

/* A step as a trace shows it. Pointers hold for the duration of the call. */
struct run_event {
    enum run_turn turn;
    uint32_t step;
    int64_t now;
    unsigned actor;
    enum fault_kind fault;            /* that fell on it */
    bool crashed;                     /* the actor died of it */
    bool committed;                   /* the changes stayed */
    const struct bundle *bundle;      /* RUN_TRANSACTION: what was sent */
    const struct outcome *outcome;    /* ... and what came back */
    const int64_t *message;           /* the message it was about, key first; NULL: none */
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
    enum oracle_name oracle;      /* RUN_BROKEN: who spoke */
    uint8_t breach_table;         /* RUN_BROKEN: the row it is about */
    uint32_t breach_slot;
    bool settled; /* judged after settling, not at a commit */
    uint32_t steps;
    uint32_t transactions; /* bundles that were sent */
    uint64_t digest;
    uint32_t fired[FAULT_KIND_COUNT];
};

struct run_actor {
    struct performer performer;
    int64_t paused_until;
    uint32_t transactions;       /* bundles sent, or lost before they were sent */
    bool cut;                    /* its connection is gone, which it does not know yet */
    bool is_new;                 /* it was started anew since its last transaction */
    uint8_t queues_for;          /* enum principal: all connections of that were in use */
    int64_t skew;                /* how far its own clock is ahead of the store's, */
    uint8_t rate;                /* ... and its ticks in four of the store's; 0: as many */
    bool skew_counts;            /* that was seen to matter, or has not happened */
    int64_t works_until;         /* it is at work outside rows until then; 0: it is not */
    struct side_effect works_on; /* ... on this, which is done then */
    int64_t works_since;         /* ... and has been told of the time up to then */
    int64_t worked;              /* ticks of its own clock of which no transaction told yet */
    uint32_t works_at; /* transactions of the run when that began; UINT32_MAX: it was counted */
    uint8_t client;    /* its number as the store tells clients apart (observed.h) */
    /* of the transaction that it has open */
    bool twisted, stopped;
    uint8_t fault; /* enum fault_kind: that falls on it */
    uint32_t stop; /* after so many operations others get their turn; 0: never */
};

/* A transaction that its sender has moved on from, or died over: it was sent whole, COMMIT
 * included. Its session is nobody's, beyond those of the actors. */
struct run_late {
    bool there;
    bool begun;            /* executed as far as it gets, and holds its locks; else its bundle is
                              under way to the store */
    bool counted;          /* somebody moved on meanwhile, so the fault fell */
    uint8_t fault, actor;  /* enum fault_kind, and who sent it */
    uint32_t due;          /* it ends at this step, if nothing holds it up */
    uint32_t transactions; /* of the run when it was sent */
    int64_t message[1 + MESSAGE_COLUMNS]; /* that its sender held, key first */
    bool has_message;
};

/* A worker that was started again under its name while it lived: it goes on beside its successor
 * until it holds nothing, dies, or faults stop. It is an actor like any other, with a session and a
 * client of its own, but it is not started anew: its place is run_former. */
struct run_former {
    bool there;
    bool counted;    /* it sent something after its successor had, so the fault fell */
    uint8_t of;      /* whose former self it is */
    uint8_t spare;   /* the client's number that is free while it is not there */
    uint32_t before; /* transactions of those that were there before it: ordinals count on */
};

/* Somebody who does in step whatever the sessions of a run do: PostgreSQL. It acts on the sessions,
 * too. False: it cannot follow any more. */
struct run_mirror {
    bool (*begin)(void *context, unsigned who, const struct bundle *bundle, uint32_t picked);
    bool (*statement)(void *context, unsigned who);
    bool (*end)(void *context, unsigned who, bool commit, size_t mark);
    void (*abort)(void *context, unsigned who);
    void (*note)(void *context, size_t mark); /* rows that no session changed */
};

/* Everything that a run needs, made once for a scenario and used for many runs. */
struct run {
    const struct scenario *scenario;
    const struct sabotage *sabotage; /* NULL: none */
    const struct sim_part *part;     /* what the protocol brings: part.h */
    struct choice_strategy strategy; /* of run_draw; run_make leaves it at random */
    struct rules rules;
    struct primitive primitives[SABOTAGE_TABLE_SIZE];
    struct world world;
    struct world crash_free; /* the rows that a run without faults leaves */
    uint32_t crash_free_steps;
    uint32_t crash_free_transactions;
    struct oracle oracle;
    struct expectation *expected; /* what the scenario asks for, by the oracles' own reading */
    int64_t *ghosts;
    uint8_t *ghost_marks; /* which of them were written: ghosts.h */
    struct run_actor actors[RUN_ACTORS_MAX + RUN_LATE_MAX + 1]; /* run_former last */
    unsigned actor_count;
    uint32_t budget[FAULT_GROUP_COUNT];
    struct sessions *sessions;
    struct run_late late[RUN_LATE_MAX];
    struct bundle late_bundles[RUN_LATE_MAX]; /* of those that are not begun */
    uint32_t late_count;
    struct run_former former;
    bool interleaves;                /* transactions may be stopped half-way: statement level */
    const struct run_mirror *mirror; /* NULL: none */
    void *mirror_context;
    size_t noted_from; /* where the mirror's own changes end in the world's log */
    bool settling;
    bool has_presets;  /* the scenario changes rows by itself */
    bool calm;         /* no fault is asked for */
    bool keeps_log;    /* commits can be lost, so the log is kept */
    size_t commits[8]; /* where the log stood before each of the last commits */
    uint32_t commit_count;
    uint32_t commits_held;                /* how many of those places still stand */
    struct row_change told[RUN_TOLD_MAX]; /* what a failover lost, as changes */
    size_t told_count;
    int64_t amount;  /* the detail of the fault that fell last */
    uint32_t copies; /* duplicates made */
    uint32_t turns, idle_turns;
    struct choice_source *source;
    struct bundle bundle;
    struct outcome outcome;
    struct side_effect effect; /* of the turn that is being taken; its `what` is 0: none */
    struct observed seen;      /* what the store saw of that bundle */
    run_observer *observer;
    void *observer_context;
    uint64_t recheck_every; /* commits between slow rechecks; 0: never */
    uint64_t commit_number;
    struct run_result result;
};

/* Where the former self of a worker is: beyond the actors and the sessions of what is on its way.
 */
static inline unsigned run_former(const struct run *run)
{
    return run->actor_count + RUN_LATE_MAX;
}

/* Makes everything, and runs the scenario once without faults and sabotage. False: no memory. */
bool run_make(struct run *run, const struct scenario *scenario, const struct sabotage *sabotage);

/* The same, with room for a log of so many changes: for who takes many commits back. */
bool run_make_deep(struct run *run, const struct scenario *scenario,
                   const struct sabotage *sabotage, size_t changes);
void run_free(struct run *run);

/* What the seed draws for this scenario, by run->strategy. */
struct choice_source run_draw(const struct run *run, uint64_t seed);

/* One run. Statistics of the oracle (run->oracle.evaluated, .seen) add up over runs. */
const struct run_result *run_once(struct run *run, struct choice_source *source);

/* The oracles start over beside a world that is empty. */
void run_begin_oracle(struct run *run);

/* Everything as it is before the first step; `source` may be NULL for who takes the steps itself.
 */
void run_begin(struct run *run, struct choice_source *source);

/* What an actor could look at to say when it has something to do; from when on it can run. */
struct glance run_glance(const struct run *run);
int64_t run_able_from(const struct run *run, unsigned actor, const struct glance *glance);

/* A second row with the content of the message in this slot, visible at once and never claimed
 * (E-ACL-11). False: no room. */
bool run_copy_message(struct run *run, uint32_t slot);

/* Nobody who serves would find anything to do in these rows, now or later. */
bool run_is_quiet(const struct run *run);

#endif
