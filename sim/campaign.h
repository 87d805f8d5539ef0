/* A campaign's core: many seeds of one scenario, counted, bucketed and folded into one digest.
 *
 * Seeds run in blocks of CAMPAIGN_BLOCK consecutive ones, always cut at the same places; a block is
 * one piece of work for one thread. A block yields a result, and results are added in the order of
 * their blocks. So the result of a campaign does not depend on the number of threads; only its
 * duration does.
 *
 * Owns the memory of a runner, made once for a scenario. Starts no thread, reads no clock, and
 * allocates nothing while seeds of one scenario run.
 *
 * (CA1) The digest covers every run's digest, steps and verdict in the order of seeds. It is equal
 *       for every number of threads.
 * (CA2) A run that is repeated to prove that it is deterministic counts once.
 * (CA3) A bucket is a broken clause as reported by one oracle. It keeps the first seed that broke
 *       it, and the seed that did so in the fewest steps with the oracle's message; of equals, the
 *       lowest seed. */
#ifndef SIM_CAMPAIGN_H
#define SIM_CAMPAIGN_H

#include "scenarios/drawn.h"
#include "sim/run.h"

#define CAMPAIGN_BLOCK         64  /* seeds */
#define CAMPAIGN_CHECK_USUAL   64  /* one seed in so many is run twice */
#define CAMPAIGN_RECHECK_EVERY 256 /* commits between two slow rechecks of all rows */
#define CAMPAIGN_BUCKETS_MAX   ((size_t)CLAUSE_COUNT * ORACLE_NAME_COUNT)

/* ---- counting -------------------------------------------------------------------------------- */

struct campaign_tally {
    uint64_t runs;
    uint64_t steps;
    uint64_t transactions;
    uint64_t findings; /* runs that broke a promise */
    uint64_t full;     /* runs without a verdict: the simulated store ran out of room */
    uint64_t checked;  /* runs that were repeated */
    uint64_t fired[FAULT_KIND_COUNT];
    uint64_t evaluated[CLAUSE_COUNT];
    uint64_t seen[COVER_COUNT];
};

struct campaign_bucket {
    enum clause_id clause;
    enum oracle_name oracle;
    uint64_t count;      /* runs */
    uint64_t first_seed; /* the lowest seed that broke it */
    uint64_t seed;       /* the seed that did so in the fewest steps */
    uint32_t steps;      /* ... how many */
    const char *why;     /* ... and the oracle's message */
};

/* ---- determinism ----------------------------------------------------------------------------- */

/* One step of a run, in the detail that locates a divergence of two runs. */
struct campaign_step {
    uint64_t digest; /* of the run up to here */
    uint8_t turn;    /* enum run_turn */
    uint8_t actor;
    uint8_t fault;  /* enum fault_kind */
    uint8_t bundle; /* enum bundle_name; BUNDLE_NAME_COUNT: none was sent */
};

struct campaign_chain {
    struct campaign_step *steps;
    size_t count, capacity; /* steps beyond the capacity are covered by `digest` alone */
    uint64_t digest;        /* of the whole run and its verdict */
};

/* Where two runs of one seed diverge. */
struct campaign_drift {
    bool found;
    uint64_t seed;
    uint64_t step;               /* the first that differs, counted from 1 */
    struct campaign_step ran[2]; /* that step in each run; bundle and turn as in the chain */
    bool ended[2];               /* the run has no such step */
};

/* True if the chains differ; *drift then says where. Its seed is not set. */
bool campaign_chain_differs(const struct campaign_chain *first, const struct campaign_chain *second,
                            struct campaign_drift *drift);

/* "step 17: worker 2, Step 2, crash-after-commit; again: worker 1, Step 1", without line end. */
void campaign_drift_text(const struct scenario *scenario, const struct campaign_drift *drift,
                         char *text, size_t size);

/* ---- results --------------------------------------------------------------------------------- */

/* Of a block, or of many. */
struct campaign_result {
    uint64_t digest;
    struct campaign_tally tally;
    struct campaign_drift drift; /* the first one */
    size_t bucket_count;
    struct campaign_bucket buckets[CAMPAIGN_BUCKETS_MAX]; /* in the order of their first seeds */
};

void campaign_result_begin(struct campaign_result *result);

/* Asserts (CA2) and (CA3) as far as a result shows them. */
void campaign_check(const struct campaign_result *result);

/* Adds the result of a block, or any other that begins where this one ends. */
void campaign_result_add(struct campaign_result *sum, const struct campaign_result *next);

void campaign_tally_add(struct campaign_tally *sum, const struct campaign_tally *more);

/* Folds digests: those of a block's seeds, of a scenario's blocks, of all scenarios. */
uint64_t campaign_fold(uint64_t digest, uint64_t next);

/* ---- running --------------------------------------------------------------------------------- */

/* Everything that a thread needs for the seeds of one scenario, or of one protocol's generated
 * scenarios (drawn.h). */
struct campaign_runner {
    struct run run;
    struct campaign_chain chains[2];
    struct scenario *drawn; /* the generated scenario that runs now; NULL: the scenario is a written
                               one */
};

/* The scenario that a seed runs: `of`, or, if that is a family of generated ones, the one that the
 * seed draws, in `room`. */
const struct scenario *campaign_scenario(const struct scenario *of, uint64_t seed,
                                         struct scenario *room);

/* False: no memory. Clauses and oracles are switched off in runner->run.oracle; a strategy other
 * than random is set in runner->run.strategy. */
bool campaign_runner_make(struct campaign_runner *runner, const struct scenario *scenario,
                          const struct sabotage *sabotage);
void campaign_runner_free(struct campaign_runner *runner);

/* The run that a seed names. A campaign and a later repetition of one of its runs both start here,
 * so that the slow rechecks fall on the same commits. */
const struct run_result *campaign_seed(struct run *run, uint64_t seed);

/* Runs seeds first .. first + count - 1. Seeds that `check_every` divides are run twice; 0: none.
 * False: no memory for a generated scenario. */
bool campaign_block(struct campaign_runner *runner, uint64_t first, uint64_t count,
                    uint64_t check_every, struct campaign_result *result);

/* Records the run that a seed names, step by step, into runner->chains[which]. */
void campaign_record(struct campaign_runner *runner, uint64_t seed, int which);

/* ---- gates ----------------------------------------------------------------------------------- */

/* Coverage gates: what must have happened for a pass to mean something. */
enum campaign_gate_kind {
    CAMPAIGN_GATE_FAULT,  /* every kind of fault that the scenario allows was injected */
    CAMPAIGN_GATE_SIGHT,  /* a cover point that the scenario reaches was hit */
    CAMPAIGN_GATE_REACH,  /* a clause that the scenario reaches was evaluated */
    CAMPAIGN_GATE_BREAKS, /* a scenario that is to break a clause did */
    CAMPAIGN_GATE_ROOM,   /* no run ended because the simulated store was full */
    CAMPAIGN_GATE_LOST,   /* with a planted bug: a path that the sound engine takes is still
                             taken */
    CAMPAIGN_GATE_CLAUSE, /* every safe and live clause was evaluated in some scenario */
    CAMPAIGN_GATE_KIND_COUNT
};

/* A gate that was not met. */
struct campaign_gate {
    const struct scenario *scenario; /* NULL: all of them together */
    enum campaign_gate_kind kind;
    enum fault_kind fault;
    enum oracle_cover sight;
    enum clause_id clause;
    const char *lost;      /* LOST: the path, in words */
    uint32_t taken, seeds; /* LOST: by the sound engine, in `taken` of `seeds` seeds */
};

#define CAMPAIGN_GATES_MAX (FAULT_KIND_COUNT + COVER_COUNT + SCENARIO_REACHES_MAX + 2)

/* The gates of a scenario that were not met; returns their number. Of the cover points of ACL-23
 * only those count whose threshold the scenario has. `off` are the clauses that are switched off:
 * no gate. */
size_t campaign_gates(const struct scenario *scenario, const struct campaign_result *result,
                      const bool off[CLAUSE_COUNT],
                      struct campaign_gate missed[CAMPAIGN_GATES_MAX]);

/* The safe and live clauses of `family` that no scenario evaluated. */
size_t campaign_gates_of_all(enum clause_family family, const struct campaign_tally *tally,
                             const bool off[CLAUSE_COUNT],
                             struct campaign_gate missed[CLAUSE_COUNT]);

/* One line, without its line end. */
void campaign_gate_text(const struct campaign_gate *gate, char *text, size_t size);

/* "ledger", "semaphore", "data", ... */
const char *campaign_oracle_name(enum oracle_name oracle);
bool campaign_oracle_find(const char *name, enum oracle_name *found);

#endif
