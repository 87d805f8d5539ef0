/* That a performer's checks fire, and that a crash leaves a performer what its role keeps (U2). */
#include "faults/performer.h"
#include "model/inbox.h"

#include "model/tests/fires.h"

TestSuite(performer, .timeout = 60);

static const char *const new_claims[] = {
    "performer->done.what == 0",
    "performer->memory.stage == 0",
    "role->is_idle(&performer->actor)",
};

static const struct rules rules = {
    .protocol = &protocol_inbox, .actors = 2, .cast = {0, 1}, .jobs = 3, .timeout = 60};

static void check_new(int which)
{
    struct performer performer;
    performer_begin(&performer, &rules, 1);
    switch (which) {
    case 0:
        performer.done.what = 1;
        break;
    case 1:
        performer.memory.stage = 1;
        break;
    case 2:
        ACTOR_IS(&performer.actor, consumer)->state = CONSUMER_ACK;
        break;
    }
    performer_check_new(&performer);
}

Test(performer, checks_fire)
{
    EXPECT_FIRES(check_new, new_claims);
}

Test(performer, that_crashes_holds_nothing_but_a_client_knows_its_job)
{
    struct performer worker, client;
    performer_begin(&worker, &rules, 1);
    *ACTOR_IS(&worker.actor, consumer) = (struct consumer){.state = CONSUMER_ACK, .message = {1}};
    worker.done = (struct side_effect){.what = 1, .claim = 1, .epoch = 1};
    performer_restart(&worker, &rules, 1);
    cr_expect(worker.role->is_idle(&worker.actor));
    cr_expect_eq(ACTOR_IS(&worker.actor, consumer)->message[0], 0);
    cr_expect_eq(worker.done.what, 0);
    performer_begin(&client, &rules, 0);
    ACTOR_IS(&client.actor, client)->job = 2;
    performer_restart(&client, &rules, 0);
    cr_expect_eq(ACTOR_IS(&client.actor, client)->job, 2U);
}
