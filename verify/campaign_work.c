#include "verify/campaign_work.h"

#include "model/check.h"
#include "verify/interrupt.h"
#include "verify/live.h"
#include "verify/watchdog.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WINDOW_A_JOB  4 /* blocks that a thread may be ahead of the slowest one */
#define WATCH_SECONDS 0.2

/* A block between being dealt out and being added up. */
struct slot {
    bool done;
    struct campaign_result result;
};

struct pool {
    const struct campaign_plan *plan;
    struct campaign_work *work;
    uint64_t items; /* blocks of all scenarios; UINT64_MAX: until the time is over */
    struct slot *slots;
    uint64_t slot_count;
    double deadline; /* 0: none */
    pthread_mutex_t lock;
    pthread_cond_t moved; /* something of what follows has changed */
    uint64_t dealt;       /* items that a thread has, or had */
    uint64_t added;       /* items that are in the results */
    unsigned working;     /* threads */
    bool stop;            /* nothing more is dealt out */
    bool sealed;          /* nothing more is added up */
    uint64_t runs;
    uint64_t findings; /* runs that broke a promise where none is to be broken */
    uint64_t faults;   /* that fell */
};

static double now_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* ---- what a finding is ----------------------------------------------------------------------- */

static bool campaign_work_is_known(const struct campaign_plan *plan, const char *scenario,
                                   const struct campaign_bucket *bucket)
{
    for (size_t i = 0; i < plan->known_count; i++) {
        const struct campaign_known *known = &plan->known[i];
        if (known->clause == bucket->clause && known->oracle == bucket->oracle &&
            strcmp(known->scenario, scenario) == 0) {
            return true;
        }
    }
    return false;
}

enum campaign_finding campaign_finding_kind(const struct campaign_plan *plan, size_t scenario,
                                            const struct campaign_bucket *bucket)
{
    const struct scenario *of = plan->entries[scenario].scenario;
    if (scenario_breaks(of, bucket->clause)) {
        return CAMPAIGN_EXPECTED;
    }
    return campaign_work_is_known(plan, of->name, bucket) ? CAMPAIGN_KNOWN : CAMPAIGN_NEW;
}

const char *campaign_finding_text(enum campaign_finding kind)
{
    static const char *const texts[CAMPAIGN_FINDING_COUNT] = {
        [CAMPAIGN_NEW] = "new", [CAMPAIGN_KNOWN] = "known", [CAMPAIGN_EXPECTED] = "expected"};
    return texts[kind];
}

uint64_t campaign_broken_runs(const struct campaign_plan *plan, size_t scenario,
                              const struct campaign_result *result)
{
    uint64_t runs = 0;
    for (size_t i = 0; i < result->bucket_count; i++) {
        bool is_new = campaign_finding_kind(plan, scenario, &result->buckets[i]) == CAMPAIGN_NEW;
        runs += is_new ? result->buckets[i].count : 0;
    }
    return runs;
}

uint64_t campaign_findings(const struct campaign_plan *plan, const struct campaign_work *work,
                           enum campaign_finding kind)
{
    uint64_t count = 0;
    for (size_t s = 0; s < plan->scenario_count; s++) {
        for (size_t i = 0; i < work->results[s].bucket_count; i++) {
            count += campaign_finding_kind(plan, s, &work->results[s].buckets[i]) == kind;
        }
    }
    return count;
}

/* ---- which seeds ----------------------------------------------------------------------------- */

uint64_t campaign_plan_blocks(const struct campaign_plan *plan)
{
    if (plan->seeds == 0) {
        return UINT64_MAX;
    }
    uint64_t blocks = (plan->seeds + CAMPAIGN_BLOCK - 1) / CAMPAIGN_BLOCK;
    return blocks > plan->shard ? (blocks - plan->shard - 1) / plan->shards + 1 : 0;
}

uint64_t campaign_plan_last(const struct campaign_plan *plan, uint64_t runs)
{
    uint64_t before = runs == 0 ? 0 : (runs - 1) / CAMPAIGN_BLOCK; /* blocks of this shard */
    uint64_t offset = (before * plan->shards + plan->shard) * CAMPAIGN_BLOCK;
    return plan->base_seed + offset + (runs == 0 ? 0 : (runs - 1) % CAMPAIGN_BLOCK);
}

static bool run_item(const struct campaign_plan *plan, struct campaign_runner *runner,
                     uint64_t item, struct campaign_result *result)
{
    uint64_t block = item / plan->scenario_count * plan->shards + plan->shard;
    uint64_t offset = block * CAMPAIGN_BLOCK;
    uint64_t count = CAMPAIGN_BLOCK;
    if (plan->seeds != 0 && plan->seeds - offset < count) {
        count = plan->seeds - offset;
    }
    return campaign_block(runner, plan->base_seed + offset, count, plan->check_every, result);
}

/* ---- adding up ------------------------------------------------------------------------------- */

static bool is_enough(const struct pool *pool, const struct campaign_result *last)
{
    const struct campaign_plan *plan = pool->plan;
    return last->drift.found ||
           (plan->findings_max != 0 && last->bucket_count > 0 &&
            campaign_findings(plan, pool->work, CAMPAIGN_NEW) >= plan->findings_max);
}

/* False: no memory. */
static bool note_block(struct campaign_blocks *blocks, uint64_t digest)
{
    if (blocks->count == blocks->capacity) {
        size_t capacity = blocks->capacity == 0 ? 64 : 2 * blocks->capacity;
        uint64_t *more = realloc(blocks->digests, capacity * sizeof *more);
        if (more == NULL) {
            return false;
        }
        blocks->digests = more;
        blocks->capacity = capacity;
    }
    blocks->digests[blocks->count++] = digest;
    return true;
}

/* Adds what is done and next in order. After the last finding that is wanted nothing is added, so
 * that the results do not depend on who was how far ahead (CW1). */
static void campaign_work_add_up(struct pool *pool)
{
    struct slot *slot = &pool->slots[pool->added % pool->slot_count];
    while (slot->done) {
        slot->done = false;
        if (!pool->sealed) {
            size_t scenario = pool->added % pool->plan->scenario_count;
            campaign_result_add(&pool->work->results[scenario], &slot->result);
            if (pool->work->blocks != NULL &&
                !note_block(&pool->work->blocks[scenario], slot->result.digest)) {
                pool->work->out_of_memory = true;
                pool->stop = true;
            }
            pool->runs += slot->result.tally.runs;
            for (int kind = 0; kind < FAULT_KIND_COUNT; kind++) {
                pool->faults += slot->result.tally.fired[kind];
            }
            pool->findings += campaign_broken_runs(pool->plan, scenario, &slot->result);
            pool->sealed = is_enough(pool, &slot->result);
            pool->stop = pool->stop || pool->sealed;
        }
        pool->added++;
        slot = &pool->slots[pool->added % pool->slot_count];
    }
}

/* The next item, or false: there is none. */
static bool deal(struct pool *pool, uint64_t *item)
{
    bool dealt = false;
    pthread_mutex_lock(&pool->lock);
    while (!pool->stop && pool->dealt - pool->added == pool->slot_count) {
        pthread_cond_wait(&pool->moved, &pool->lock);
    }
    pool->stop =
        pool->stop || interrupt_seen() || (pool->deadline != 0 && now_seconds() >= pool->deadline);
    if (!pool->stop && pool->dealt < pool->items) {
        *item = pool->dealt++;
        dealt = true;
    }
    pthread_mutex_unlock(&pool->lock);
    return dealt;
}

static void hand_in(struct pool *pool, struct slot *slot)
{
    pthread_mutex_lock(&pool->lock);
    slot->done = true;
    campaign_work_add_up(pool);
    pthread_cond_broadcast(&pool->moved);
    pthread_mutex_unlock(&pool->lock);
}

/* ---- a thread -------------------------------------------------------------------------------- */

static struct campaign_runner *runner_new(const struct campaign_plan *plan, size_t scenario)
{
    struct campaign_runner *runner = malloc(sizeof *runner);
    if (runner == NULL ||
        !campaign_runner_make(runner, plan->entries[scenario].scenario, plan->sabotage)) {
        free(runner);
        return NULL;
    }
    runner->run.strategy = plan->strategy;
    memcpy(runner->run.oracle.off, plan->off, sizeof plan->off);
    memcpy(runner->run.oracle.silent, plan->silent, sizeof plan->silent);
    return runner;
}

/* Runs items until there are none. A thread has a runner for each scenario, made when it first meets
 * the scenario. False: no memory. */
static bool work_off(struct pool *pool, struct campaign_runner **runners)
{
    uint64_t item;
    while (deal(pool, &item)) {
        size_t scenario = item % pool->plan->scenario_count;
        if (runners[scenario] == NULL) {
            runners[scenario] = runner_new(pool->plan, scenario);
        }
        if (runners[scenario] == NULL) {
            return false;
        }
        struct slot *slot = &pool->slots[item % pool->slot_count];
        if (!run_item(pool->plan, runners[scenario], item, &slot->result)) {
            return false;
        }
        hand_in(pool, slot);
    }
    return true;
}

static void *work_thread(void *context)
{
    struct pool *pool = context;
    size_t count = pool->plan->scenario_count;
    struct campaign_runner **runners = calloc(count, sizeof *runners);
    watchdog_enter();
    bool fine = runners != NULL && work_off(pool, runners);
    for (size_t i = 0; runners != NULL && i < count; i++) {
        if (runners[i] != NULL) {
            campaign_runner_free(runners[i]);
            free(runners[i]);
        }
    }
    free(runners);
    watchdog_leave();
    pthread_mutex_lock(&pool->lock);
    pool->working--;
    if (!fine) {
        pool->work->out_of_memory = true;
        pool->stop = true;
    }
    pthread_cond_broadcast(&pool->moved);
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* ---- progress -------------------------------------------------------------------------------- */

/* How much of the work is done, by seeds or by time; 0: nobody can tell. */
static double share_done(const struct pool *pool, const struct live *live)
{
    return pool->items != UINT64_MAX ? (double)pool->added / (double)pool->items
           : pool->deadline != 0     ? live_seconds(live) / pool->plan->seconds
                                     : 0;
}

static void campaign_work_show_progress(const struct pool *pool, struct live *live)
{
    if (live_is_due(live)) {
        live_say(live,
                 "%" PRIu64 " seeds, %.0f seeds/s, %" PRIu64 " broke a promise, %" PRIu64
                 " faults%s",
                 pool->runs, (double)pool->runs / live_seconds(live), pool->findings, pool->faults,
                 live_left(live, share_done(pool, live)).text);
    }
}

/* Shows what was found so far to the hook that keeps it. */
static void peek(const struct pool *pool, const struct live *live)
{
    const struct campaign_plan *plan = pool->plan;
    if (plan->peek != NULL) {
        pool->work->seconds = live_seconds(live);
        pool->work->interrupted = true; /* as it would be if this were the end */
        plan->peek(plan->peek_context, pool->work);
    }
}

static void wait_a_little(struct pool *pool)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)(WATCH_SECONDS * 1e9);
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&pool->moved, &pool->lock, &until);
}

static void campaign_work_watch(struct pool *pool)
{
    struct live live = live_begin();
    pthread_mutex_lock(&pool->lock);
    while (pool->working > 0) {
        wait_a_little(pool);
        campaign_work_show_progress(pool, &live);
        peek(pool, &live);
    }
    pthread_mutex_unlock(&pool->lock);
    live_end(&live);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Starts the threads and waits for them. At least one must start. */
static bool run_threads(struct pool *pool)
{
    pthread_t threads[CAMPAIGN_WORK_JOBS_MAX];
    unsigned started = 0;
    pthread_mutex_lock(&pool->lock);
    while (started < pool->plan->jobs &&
           pthread_create(&threads[started], NULL, work_thread, pool) == 0) {
        started++;
    }
    pool->working = started;
    pthread_mutex_unlock(&pool->lock);
    campaign_work_watch(pool);
    for (unsigned i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
    return started > 0;
}

static bool pool_make(struct pool *pool, const struct campaign_plan *plan,
                      struct campaign_work *work)
{
    uint64_t blocks = campaign_plan_blocks(plan);
    *pool = (struct pool){
        .plan = plan,
        .work = work,
        .items = blocks == UINT64_MAX ? UINT64_MAX : blocks * plan->scenario_count,
        .slot_count = (uint64_t)WINDOW_A_JOB * plan->jobs,
    };
    pool->slots = calloc(pool->slot_count, sizeof *pool->slots);
    work->results = calloc(plan->scenario_count, sizeof *work->results);
    work->blocks = plan->shards > 1 ? calloc(plan->scenario_count, sizeof *work->blocks) : NULL;
    work->block_lists = work->blocks == NULL ? 0 : plan->scenario_count;
    if (pool->slots == NULL || work->results == NULL ||
        (work->blocks == NULL && plan->shards > 1)) {
        free(pool->slots);
        return false;
    }
    for (size_t i = 0; i < plan->scenario_count; i++) {
        campaign_result_begin(&work->results[i]);
    }
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->moved, NULL);
    return true;
}

bool campaign_work_run(const struct campaign_plan *plan, struct campaign_work *work)
{
    CHECK(plan->jobs >= 1 && plan->jobs <= CAMPAIGN_WORK_JOBS_MAX && plan->scenario_count > 0);
    struct pool pool;
    *work = (struct campaign_work){0};
    if (!pool_make(&pool, plan, work)) {
        return false;
    }
    double start = now_seconds();
    pool.deadline = plan->seconds == 0 ? 0 : start + plan->seconds;
    bool fine = run_threads(&pool) && !work->out_of_memory;
    work->seconds = now_seconds() - start;
    work->interrupted = interrupt_seen() && pool.added < pool.items;
    pthread_cond_destroy(&pool.moved);
    pthread_mutex_destroy(&pool.lock);
    free(pool.slots);
    return fine;
}

void campaign_work_free(struct campaign_work *work)
{
    for (size_t i = 0; i < work->block_lists; i++) {
        free(work->blocks[i].digests);
    }
    free(work->blocks);
    free(work->results);
    work->blocks = NULL;
    work->results = NULL;
    work->block_lists = 0;
}

uint64_t campaign_work_digest(const struct campaign_plan *plan, const struct campaign_work *work)
{
    uint64_t digest = 1;
    for (size_t i = 0; i < plan->scenario_count; i++) {
        digest = campaign_fold(digest, work->results[i].digest);
    }
    return digest;
}

struct campaign_tally campaign_work_tally(const struct campaign_plan *plan,
                                          const struct campaign_work *work)
{
    struct campaign_tally sum = {0};
    for (size_t i = 0; i < plan->scenario_count; i++) {
        campaign_tally_add(&sum, &work->results[i].tally);
    }
    return sum;
}
