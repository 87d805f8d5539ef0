#include "verify/real_plan.h"

#include "real/part.h"
#include "scenarios/pcg.h"

#include <stdlib.h>
#include <string.h>

/* ---- the simulation -------------------------------------------------------------------------- */

static void observe(void *context, const struct run_event *event)
{
    struct real_profile *profile = context;
    if (event->bundle == NULL) {
        return;
    }
    uint8_t bundle = event->bundle->name;
    profile->sent[bundle]++;
    if (profile->calm) {
        profile->last[bundle] = ++profile->transactions;
    }
    profile->serializable = profile->serializable || event->bundle->isolation == SERIALIZABLE;
    if (event->turn == RUN_TRANSACTION) {
        uint8_t *unknown = &profile->unknown[event->actor];
        profile->after[bundle] = *unknown != 0 ? *unknown : profile->after[bundle];
        *unknown =
            event->outcome->kind == OUTCOME_UNKNOWN && !event->crashed ? (uint8_t)(bundle + 1) : 0;
    }
    if (event->crashed) {
        int side = event->fault == FAULT_CRASH_BEFORE_COMMIT  ? 1
                   : event->fault == FAULT_CRASH_AFTER_COMMIT ? 2
                                                              : 0;
        profile->crashed[bundle][side]++;
    }
}

void real_profile_make(struct run *run, struct real_profile *profile)
{
    struct choice_list nothing = {0};
    struct choice_source source = choice_listed(&nothing);
    memset(profile, 0, sizeof *profile);
    run->observer = observe;
    run->observer_context = profile;
    profile->calm = true;
    run_once(run, &source);
    profile->calm = false;
    for (uint64_t seed = 1; seed <= REAL_PLAN_SEEDS; seed++) {
        source = choice_random(seed, &run->scenario->faults);
        memset(profile->unknown, 0, sizeof profile->unknown);
        run_once(run, &source);
    }
    run->observer = NULL;
}

/* ---- a plan ---------------------------------------------------------------------------------- */

struct drawing {
    struct real_plan *plan;
    const struct real_plan_request *request;
    struct pcg pcg;
    uint64_t salt;                    /* so that a seed means another plan in another scenario */
    uint64_t rounds;                  /* draws of draw_once so far */
    uint32_t span;                    /* transactions over which faults are spread */
    size_t capacity, points;          /* points: that were asked for so far */
    uint32_t left[FAULT_GROUP_COUNT]; /* what the limits still allow */
    uint32_t copies;                  /* of messages */
    bool no_memory;
};

#define DELAY_MS_MAX   300
#define REORDER_WINDOW 8  /* how many messages a claim chooses from, as in the simulation */
#define COPIES_MAX     24 /* of messages in one run: the simulated store has room for so many more */

static bool makes_copies(enum chaos_kind kind)
{
    return kind == CHAOS_DUPLICATE || kind == CHAOS_REPLAY;
}

/* A bundle with this trait that is sent; BUNDLE_NAME_COUNT: none is. */
static enum bundle_name sent_with(const struct drawing *drawing, enum bundle_trait trait)
{
    int b = 0;
    while (b < BUNDLE_NAME_COUNT &&
           !(bundle_has((enum bundle_name)b, trait) && drawing->request->profile->sent[b] > 0)) {
        b++;
    }
    return (enum bundle_name)b;
}

static bool allows(const struct drawing *drawing, enum chaos_kind kind)
{
    enum fault_kind fault = fault_of_twin(kind);
    return drawing->request->run->scenario->faults.rate[fault].times > 0 &&
           (drawing->request->ours || !fault_twin_get(kind)->server) &&
           (kind != CHAOS_SERIALIZATION || drawing->request->profile->serializable) &&
           (kind != CHAOS_ANSWER || sent_with(drawing, TRAIT_ANSWERS) < BUNDLE_NAME_COUNT) &&
           (!makes_copies(kind) || drawing->copies < COPIES_MAX);
}

/* One more, within the limits; NULL: there is no room, neither there nor in memory. */
static struct chaos_fault *real_plan_add(struct drawing *drawing, enum chaos_kind kind)
{
    struct chaos_plan *plan = &drawing->plan->plan;
    uint32_t *left = &drawing->left[fault_get(fault_of_twin(kind))->group];
    if (*left == 0 || drawing->no_memory) {
        return NULL;
    }
    if (plan->count == drawing->capacity) {
        size_t capacity = drawing->capacity == 0 ? 64 : 2 * drawing->capacity;
        struct chaos_fault *faults = realloc(drawing->plan->faults, capacity * sizeof *faults);
        if (faults == NULL) {
            drawing->no_memory = true;
            return NULL;
        }
        drawing->plan->faults = faults;
        plan->faults = faults;
        drawing->capacity = capacity;
    }
    (*left)--;
    drawing->copies += makes_copies(kind);
    struct chaos_fault *fault = &drawing->plan->faults[plan->count++];
    *fault = (struct chaos_fault){.kind = (uint8_t)kind,
                                  .bundle = SHARED_ANY,
                                  .from = pcg_below(&drawing->pcg, drawing->span)};
    return fault;
}

/* No process of a foreign server is frozen. Where a scenario spares an actor a lost answer, a
 * connection is taken away while no transaction is open. */
static uint8_t any_moment(struct drawing *drawing)
{
    static const uint8_t moments[] = {SHARED_BEFORE_BEGIN, SHARED_BEFORE_COMMIT, SHARED_SENT};
    if (part_assumes_no_delay(drawing->request->run->scenario->protocol)) {
        return SHARED_BEFORE_BEGIN;
    }
    return moments[pcg_below(&drawing->pcg, drawing->request->ours ? 3 : 2)];
}

/* Longer than a claim lasts: the actor goes on without its claim. */
static void stop_long(struct drawing *drawing, struct chaos_fault *fault)
{
    static const uint8_t moments[] = {SHARED_BEFORE_BEGIN, SHARED_BEFORE_COMMIT};
    uint32_t claim = (uint32_t)drawing->request->claim_ms;
    fault->moment = moments[pcg_below(&drawing->pcg, 2)];
    fault->amount = claim + claim / 10 + pcg_below(&drawing->pcg, claim / 2);
}

/* From when on something may fall that is to come early in a job: where there are many jobs, any
 * time is early in some of them. */
static uint32_t early(struct drawing *drawing)
{
    return drawing->request->times == 1 ? 0 : pcg_below(&drawing->pcg, drawing->span);
}

/* From when on a fault may wait for this bundle, so that it is sent once more; in the first half of
 * the time that it is sent in, unless there are many jobs. */
static uint32_t while_sent(struct drawing *drawing, enum bundle_name bundle)
{
    uint32_t last = drawing->request->profile->last[bundle], times = drawing->request->times;
    return last == 0 ? early(drawing)
                     : pcg_below(&drawing->pcg, 1 + (times == 1 ? last / 2 : times * last));
}

/* The bundles of this set that are sent. */
static size_t list_bundles(const struct drawing *drawing, uint64_t among,
                           uint8_t names[BUNDLE_NAME_COUNT])
{
    size_t count = 0;
    for (int b = 0; b < BUNDLE_NAME_COUNT; b++) {
        if (drawing->request->profile->sent[b] > 0 && (among >> b & 1) != 0) {
            names[count++] = (uint8_t)b;
        }
    }
    return count;
}

/* Most lost answers are of bundles whose outcome the sender must resolve. */
static void aim_cut(struct drawing *drawing, struct chaos_fault *fault)
{
    uint8_t names[BUNDLE_NAME_COUNT];
    const struct protocol *protocol = drawing->request->run->scenario->protocol;
    size_t count = list_bundles(drawing, part_must_resolve_unknown(protocol), names);
    if (count > 0 && pcg_chance(&drawing->pcg, 3, 4)) {
        fault->bundle = names[pcg_below(&drawing->pcg, (uint32_t)count)];
        fault->from = while_sent(drawing, (enum bundle_name)fault->bundle);
    }
}

/* A task that is run again gives another answer: an actor must answer and die before the ack. */
static void add_answer(struct drawing *drawing)
{
    struct chaos_fault *death = real_plan_add(drawing, CHAOS_KILL_AT_POINT);
    if (death != NULL) {
        death->bundle = (uint8_t)sent_with(drawing, TRAIT_ANSWERS);
        death->moment = SHARED_AFTER_COMMIT;
        death->from = early(drawing);
        uint32_t from = death->from; /* the list may move */
        struct chaos_fault *answer = real_plan_add(drawing, CHAOS_ANSWER);
        if (answer != NULL) {
            answer->from = from;
        }
    }
}

/* Some bundles are sent only after another fault. */
static void bring_about(struct drawing *drawing, enum bundle_name bundle)
{
    if (bundle_has(bundle, TRAIT_AFTER_ANSWER) && allows(drawing, CHAOS_ANSWER)) {
        add_answer(drawing);
    }
    const struct real_profile *profile = drawing->request->profile;
    if (profile->last[bundle] == 0 && profile->after[bundle] != 0 &&
        allows(drawing, CHAOS_CUT_LATE)) {
        struct chaos_fault *cut = real_plan_add(drawing, CHAOS_CUT_LATE);
        if (cut != NULL) {
            cut->bundle = (uint8_t)(profile->after[bundle] - 1);
            cut->from = early(drawing);
        }
    }
    if (bundle == BUNDLE_EXTEND && allows(drawing, CHAOS_STOP)) {
        struct chaos_fault *stop = real_plan_add(drawing, CHAOS_SHORT_STOP);
        if (stop != NULL) {
            stop->from = early(drawing);
            stop->amount = (uint32_t)drawing->request->claim_ms * 2 / 3;
        }
    }
    if (bundle_has(bundle, TRAIT_AFTER_MISSTEP) && allows(drawing, CHAOS_ILLEGAL_MOVE)) {
        struct chaos_fault *move = real_plan_add(drawing, CHAOS_ILLEGAL_MOVE);
        if (move != NULL) {
            move->from = early(drawing);
            move->amount = pcg_next(&drawing->pcg);
        }
    }
}

/* A bundle that is sent, and one of the three sides: a seed's first in turn, so that as many seeds
 * as there are points have them all; others by chance. */
static void aim(struct drawing *drawing, struct chaos_fault *fault)
{
    static const uint8_t sides[] = {SHARED_BEFORE_BEGIN, SHARED_BEFORE_COMMIT, SHARED_AFTER_COMMIT};
    uint8_t names[BUNDLE_NAME_COUNT];
    size_t count = list_bundles(drawing, UINT64_MAX, names);
    uint64_t turn = drawing->points++ == 0 ? drawing->request->seed : pcg_next(&drawing->pcg);
    fault->bundle = names[turn / 3 % count];
    fault->moment = sides[turn % 3];
    fault->from = while_sent(drawing, (enum bundle_name)fault->bundle);
    bring_about(drawing, (enum bundle_name)fault->bundle);
}

/* How far a clock leaps: ahead, so that every claim that is held lapses, up to four times what one
 * lasts; back, up to once. */
static uint32_t any_leap(struct drawing *drawing, bool ahead)
{
    uint32_t claim = (uint32_t)drawing->request->claim_ms;
    return ahead ? claim + 1 + pcg_below(&drawing->pcg, 3 * claim)
                 : 1 + pcg_below(&drawing->pcg, claim);
}

/* Up to two claims, if they are short. */
static uint32_t any_delay(struct drawing *drawing)
{
    uint32_t most = 2 * (uint32_t)drawing->request->claim_ms;
    return 1 + pcg_below(&drawing->pcg, most < DELAY_MS_MAX ? most : DELAY_MS_MAX);
}

static void detail(struct drawing *drawing, struct chaos_fault *fault)
{
    switch ((enum chaos_kind)fault->kind) {
    case CHAOS_KILL_AT_POINT:
        aim(drawing, fault);
        break;
    case CHAOS_KILL:
        fault->amount = pcg_below(&drawing->pcg, PROTOCOL_ACTORS_MAX);
        break;
    case CHAOS_STOP:
        stop_long(drawing, fault);
        break;
    case CHAOS_CUT_LATE: /* around COMMIT, by itself */
    case CHAOS_CUT_EARLY:
        aim_cut(drawing, fault);
        break;
    case CHAOS_FAILOVER:
        drawing->plan->fails_over = true;
        fault->moment = any_moment(drawing);
        break;
    case CHAOS_TERMINATE:
    case CHAOS_KILL_BACKEND:
    case CHAOS_RESTART:
        fault->moment = any_moment(drawing);
        break;
    case CHAOS_DUPLICATE:
    case CHAOS_REPLAY:
    case CHAOS_ILLEGAL_MOVE:
        fault->amount = pcg_next(&drawing->pcg);
        break;
    case CHAOS_DELAY:
        fault->amount = any_delay(drawing);
        break;
    case CHAOS_CLOCK_FORWARD:
    case CHAOS_CLOCK_BACK:
        fault->amount = any_leap(drawing, fault->kind == CHAOS_CLOCK_FORWARD);
        break;
    case CHAOS_REORDER:
        fault->amount = 1 + pcg_below(&drawing->pcg, REORDER_WINDOW - 1);
        break;
    case CHAOS_REDELIVER:     /* the one that its victim holds */
    case CHAOS_SERIALIZATION: /* a rival comes before its victim begins */
    case CHAOS_DEADLOCK:
    case CHAOS_CONNECTIONS:
    case CHAOS_ANSWER:
    case CHAOS_SHORT_STOP: /* brought about for others */
    case CHAOS_KINDS:
        break;
    }
}

/* One of a group's kinds that the scenario allows. */
static void add_one_of(struct drawing *drawing, const enum chaos_kind *kinds, size_t count)
{
    enum chaos_kind allowed[CHAOS_KINDS];
    uint32_t allowed_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (allows(drawing, kinds[i])) {
            allowed[allowed_count++] = kinds[i];
        }
    }
    size_t place = drawing->plan->plan.count;
    if (allowed_count == 0 ||
        real_plan_add(drawing, allowed[pcg_below(&drawing->pcg, allowed_count)]) == NULL) {
        return;
    }
    struct chaos_fault fault = drawing->plan->faults[place]; /* the list may move */
    detail(drawing, &fault);
    drawing->plan->faults[place] = fault;
}

/* What a scenario limits as one; kinds that are named twice come twice as often. */
static const struct {
    enum fault_group group;
    enum chaos_kind kinds[4];
    uint32_t count;
    uint32_t least; /* each run has as many, if the limit allows, */
    uint32_t first; /* ... of the first kinds of the list */
} groups[] = {
    {FAULT_GROUP_CRASH,
     {CHAOS_KILL_AT_POINT, CHAOS_KILL_AT_POINT, CHAOS_KILL, CHAOS_KILL},
     4,
     1,
     1},
    {FAULT_GROUP_UNKNOWN, {CHAOS_CUT_LATE, CHAOS_CUT_EARLY}, 2, 1, 2},
    {FAULT_GROUP_PAUSE, {CHAOS_STOP}, 1, 0, 0},
    {FAULT_GROUP_ABORT,
     {CHAOS_TERMINATE, CHAOS_SERIALIZATION, CHAOS_DEADLOCK, CHAOS_CONNECTIONS},
     4,
     1,
     4},
    {FAULT_GROUP_DUPLICATE, {CHAOS_DUPLICATE, CHAOS_REPLAY, CHAOS_REDELIVER}, 3, 1, 3},
    {FAULT_GROUP_DELAY, {CHAOS_DELAY, CHAOS_REORDER}, 2, 1, 2},
    {FAULT_GROUP_CLOCK, {CHAOS_CLOCK_FORWARD, CHAOS_CLOCK_BACK}, 2, 0, 0},
    {FAULT_GROUP_ILLEGAL, {CHAOS_ILLEGAL_MOVE}, 1, 0, 0},
};

/* Costly ones: one seed in so many has one, in turn. */
#define SERVER_ONE_IN 3
#define ANSWER_ONE_IN 4
#define SERVER_KINDS  3
static const enum chaos_kind of_server[SERVER_KINDS] = {CHAOS_KILL_BACKEND, CHAOS_RESTART,
                                                        CHAOS_FAILOVER};

/* Faults fall one after the other, and their victims wait for them: of all that the limits allow,
 * so few are planned that the work goes on under them. */
#define THROUGHOUT_ONE_IN 4

/* The faults of one time. */
static void draw_once(struct drawing *drawing)
{
    const uint32_t *limits = drawing->request->run->scenario->faults.budget;
    for (int g = 0; g < FAULT_GROUP_COUNT; g++) {
        drawing->left[g] = limits[g];
    }
    for (size_t g = 0; g < COUNT(groups); g++) {
        uint32_t limit = limits[groups[g].group];
        uint32_t least = groups[g].least < limit ? groups[g].least : limit;
        uint32_t count = least + pcg_below(&drawing->pcg, limit - least + 1);
        for (uint32_t i = 0; i < count; i++) {
            add_one_of(drawing, groups[g].kinds, i < least ? groups[g].first : groups[g].count);
        }
    }
    if (allows(drawing, CHAOS_ANSWER) && pcg_chance(&drawing->pcg, 1, ANSWER_ONE_IN)) {
        add_answer(drawing);
    }
    uint64_t turn = drawing->request->seed + drawing->rounds++;
    if (turn % SERVER_ONE_IN == 1) {
        uint64_t which = (turn / SERVER_ONE_IN + drawing->salt) % SERVER_KINDS;
        add_one_of(drawing, &of_server[which], 1);
    }
}

static int real_plan_compare(const void *one, const void *other)
{
    const struct chaos_fault *a = one, *b = other;
    int later = (a->from > b->from) - (a->from < b->from);
    int elsewhere = (a->kind - b->kind) * BUNDLE_NAME_COUNT * SHARED_MOMENTS +
                    (a->bundle - b->bundle) * SHARED_MOMENTS + (a->moment - b->moment);
    return later != 0       ? later
           : elsewhere != 0 ? elsewhere
                            : (a->amount > b->amount) - (a->amount < b->amount);
}

/* FNV-1a */
static uint64_t hash(const char *text)
{
    uint64_t sum = UINT64_C(14695981039346656037);
    for (; *text != '\0'; text++) {
        sum = (sum ^ (unsigned char)*text) * UINT64_C(1099511628211);
    }
    return sum;
}

bool real_plan_draw(struct real_plan *plan, const struct real_plan_request *request)
{
    *plan = (struct real_plan){.plan.storms = true};
    struct drawing drawing = {
        .plan = plan, .request = request, .salt = hash(request->run->scenario->name)};
    uint32_t all = request->times * request->profile->transactions;
    drawing.span = 1 + (request->throughout ? all : all * 2 / 3);
    drawing.pcg = pcg_stream(request->seed ^ drawing.salt, PCG_FAULTS);
    uint32_t rounds =
        request->throughout ? 1 + (request->times - 1) / THROUGHOUT_ONE_IN : request->times;
    for (uint32_t i = 0; i < rounds; i++) {
        draw_once(&drawing);
    }
    if (drawing.no_memory) {
        real_plan_free(plan);
        return false;
    }
    if (plan->plan.count > 0) { /* else there is no array */
        qsort(plan->faults, plan->plan.count, sizeof *plan->faults, real_plan_compare);
    }
    return true;
}

void real_plan_free(struct real_plan *plan)
{
    free(plan->faults);
    *plan = (struct real_plan){.faults = NULL};
}
