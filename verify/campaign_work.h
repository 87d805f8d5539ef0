/* A campaign on all cores: threads take blocks of seeds. The results of blocks are added up in the
 * order of blocks, not in the order in which threads finish.
 *
 * Work is dealt out block by block, every scenario in turn, so that a campaign that ends early (out
 * of time, interrupted, enough findings) has seen all of them. It always ends between two blocks,
 * and all blocks before its end are in the results.
 *
 * (CW1) With seeds as the bound, the results do not depend on the number of threads, nor do those
 *       of a campaign that ends at its last allowed finding. */
#ifndef VERIFY_CAMPAIGN_WORK_H
#define VERIFY_CAMPAIGN_WORK_H

#include "sim/campaign.h"

#define CAMPAIGN_WORK_JOBS_MAX 256

/* A known finding: reported, and no failure. */
struct campaign_known {
    char scenario[SCENARIO_NAME_SIZE];
    enum clause_id clause;
    enum oracle_name oracle;
};

struct campaign_work;

struct campaign_entry {
    const char *name; /* as it was asked for: a name or a path */
    struct scenario *scenario;
};

struct campaign_plan {
    struct campaign_entry *entries; /* the scenarios */
    size_t scenario_count;
    bool whole;                      /* every built-in scenario is among them */
    const struct sabotage *sabotage; /* NULL: none */
    size_t regressions;              /* stored schedules that are replayed first */
    struct choice_strategy strategy;
    bool off[CLAUSE_COUNT];
    bool silent[ORACLE_NAME_COUNT];
    uint64_t base_seed;
    uint64_t seeds;         /* of each scenario; 0: until the time is over */
    double seconds;         /* 0: no bound */
    uint64_t shard, shards; /* this one, counted from 0, of so many */
    uint64_t check_every;   /* seeds; see campaign_block */
    unsigned jobs;
    uint64_t findings_max; /* new ones; 0: no bound */
    const struct campaign_known *known;
    size_t known_count;
    /* Called periodically with the results so far; threads wait meanwhile. NULL: never. */
    void (*peek)(void *context, const struct campaign_work *work);
    void *peek_context;
};

/* Digests of blocks, in their order: what a shard hands on, so that shards can be put together. */
struct campaign_blocks {
    uint64_t *digests;
    size_t count, capacity;
};

/* What a campaign yields. */
struct campaign_work {
    struct campaign_blocks *blocks;  /* a scenario each, of a shard of several; NULL: none */
    size_t block_lists;              /* how many there are */
    struct campaign_result *results; /* a scenario each, in the order of the plan */
    double seconds;
    bool interrupted; /* before its bound */
    bool out_of_memory;
};

/* The kind of a finding. */
enum campaign_finding {
    CAMPAIGN_NEW,      /* a failure */
    CAMPAIGN_KNOWN,    /* in the list of known findings */
    CAMPAIGN_EXPECTED, /* the scenario says that this promise breaks in it */
    CAMPAIGN_FINDING_COUNT
};
enum campaign_finding campaign_finding_kind(const struct campaign_plan *plan, size_t scenario,
                                            const struct campaign_bucket *bucket);
const char *campaign_finding_text(enum campaign_finding kind); /* "new", "known", "expected" */

/* Findings of one kind, a bucket each. */
uint64_t campaign_findings(const struct campaign_plan *plan, const struct campaign_work *work,
                           enum campaign_finding kind);

/* Runs of a result that are new findings. */
uint64_t campaign_broken_runs(const struct campaign_plan *plan, size_t scenario,
                              const struct campaign_result *result);

/* How many blocks of each scenario this shard has. */
uint64_t campaign_plan_blocks(const struct campaign_plan *plan);

/* The highest of the first `runs` seeds of each scenario. */
uint64_t campaign_plan_last(const struct campaign_plan *plan, uint64_t runs);

/* Runs it, with progress on stderr: a line that changes on a terminal, now and then one more in a
 * file. An interrupt (interrupt.h) ends it early. False: no memory. */
bool campaign_work_run(const struct campaign_plan *plan, struct campaign_work *work);
void campaign_work_free(struct campaign_work *work);

/* The campaign's digest and counts: those of all scenarios. */
uint64_t campaign_work_digest(const struct campaign_plan *plan, const struct campaign_work *work);
struct campaign_tally campaign_work_tally(const struct campaign_plan *plan,
                                          const struct campaign_work *work);

#endif
