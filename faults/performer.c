#include "faults/performer.h"

#include "model/check.h"

#include <string.h>

void performer_check(const struct performer *performer)
{
    if (performer->role->check != NULL) {
        performer->role->check(&performer->actor);
    }
}

void performer_check_new(const struct performer *performer)
{
    const struct role *role = performer->role;
    CHECK(performer->done.what == 0);    /* U2 */
    CHECK(performer->memory.stage == 0); /* U2 */
    if (role->message != NULL && role->restart == NULL) {
        CHECK(role->is_idle(&performer->actor)); /* U2 */
    }
}

void performer_begin(struct performer *performer, const struct rules *rules, unsigned number)
{
    performer->role = protocol_role(rules, number);
    protocol_begin(&performer->actor, rules, number);
    memset(&performer->memory, 0, sizeof performer->memory);
    performer->done = (struct side_effect){0};
    CHECK_ALL(performer_check_new(performer));
}

void performer_restart(struct performer *performer, const struct rules *rules, unsigned number)
{
    protocol_restart(&performer->actor, rules, number);
    memset(&performer->memory, 0, sizeof performer->memory);
    performer->done = (struct side_effect){0};
    CHECK_ALL(performer_check_new(performer));
}

/* What it is going to send, without an effect on the actor. */
static void get_ready(struct performer *performer, const struct rules *rules,
                      const struct sabotage *sabotage, const struct rows *rows)
{
    struct actor peek = performer->actor;
    struct bundle next;
    performer->role->next(&peek, rules, &next);
    sabotage_ready(sabotage, &performer->memory, &next, rows);
}

void performer_take_sabotaged(struct performer *performer, const struct rules *rules,
                              const struct sabotage *sabotage, const struct bundle *sent,
                              struct outcome *outcome, const struct rows *rows)
{
    if (!sabotage_outcome(sabotage, &performer->memory, sent, outcome)) {
        return;
    }
    performer->role->take(&performer->actor, rules, outcome);
    if (performer->role->is_idle(&performer->actor)) {
        if (sabotage->lasting) {
            return;
        }
        memset(&performer->memory, 0, sizeof performer->memory); /* the work is over */
    } else if (rows != NULL) {
        get_ready(performer, rules, sabotage, rows);
    }
}
