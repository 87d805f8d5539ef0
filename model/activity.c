/* The activity protocol at the seam: its tables, its roles, and how they step the engines of
 * activity_engine.h. */
#include "model/activity_engine.h"
#include "model/protocol.h"

/* ---- the client ------------------------------------------------------------------------------ */

static void next_of_client(struct actor *actor, const struct rules *rules, struct bundle *next)
{
    activity_client_next(ACTOR_IS(actor, client), RULES_OF(rules, activity_rules), next);
}

/* ---- a worker -------------------------------------------------------------------------------- */

static void begin_worker(struct actor *actor, const struct rules *rules, unsigned number)
{
    (void)rules, (void)number;
    *ACTOR_IS(actor, activity_worker) = activity_worker_begin();
}

static void next_of_worker(struct actor *actor, const struct rules *rules, struct bundle *next)
{
    activity_worker_next(ACTOR_IS(actor, activity_worker), RULES_OF(rules, activity_rules), next);
}

static void take_of_worker(struct actor *actor, const struct rules *rules,
                           const struct outcome *last)
{
    activity_worker_take(ACTOR_IS(actor, activity_worker), RULES_OF(rules, activity_rules), last);
}

static bool worker_is_idle(const struct actor *actor)
{
    return ACTOR_IS(actor, activity_worker)->state == ACTIVITY_WORKER_IDLE;
}

static int64_t worker_due(const struct actor *actor, const struct rules *rules,
                          const struct glance *glance)
{
    (void)rules;
    return worker_is_idle(actor) ? glance->next_message : glance->now;
}

static const int64_t *worker_message(const struct actor *actor)
{
    return ACTOR_IS(actor, activity_worker)->message;
}

static void worker_worked(struct actor *actor, const struct rules *rules, int64_t ticks)
{
    (void)rules;
    ACTOR_IS(actor, activity_worker)->now += ticks;
}

static int64_t worker_attends(const struct actor *actor, const struct rules *rules)
{
    int64_t in = activity_worker_extends_in(ACTOR_IS(actor, activity_worker),
                                            RULES_OF(rules, activity_rules));
    return in < 1 ? 1 : in;
}

static void check_worker(const struct actor *actor)
{
    activity_worker_check(ACTOR_IS(actor, activity_worker));
}

const struct protocol protocol_activity = {
    .name = "activity",
    PROTOCOL_SIZES(struct activity_worker, struct activity_rules),
    .merges = true,
    .family = CLAUSE_FAMILY_ACL,
    .tables = TABLE_SET(JOB) | TABLE_SET(ACTIVITY) | TABLE_SET(TASK) | TABLE_SET(GUID) |
              TABLE_SET(OUTPUT) | TABLE_SET(COMPLETION) | TABLE_SET(ESCALATION) |
              TABLE_SET(MESSAGE),
    .roles = {[ACTIVITY_CLIENT] = {PROTOCOL_CLIENT, .next = next_of_client},
              [ACTIVITY_WORKER] = {.name = "worker",
                                   .begin = begin_worker,
                                   .next = next_of_worker,
                                   .take = take_of_worker,
                                   .check = check_worker,
                                   .is_idle = worker_is_idle,
                                   .due = worker_due,
                                   .message = worker_message,
                                   .worked = worker_worked,
                                   .attends = worker_attends}},
};
