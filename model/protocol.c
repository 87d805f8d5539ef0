#include "model/protocol.h"

#include "model/check.h"

#include <string.h>

#define PROTOCOL(id, name) extern const struct protocol protocol_##name;
#include "model/protocols.def"
#undef PROTOCOL

static const struct protocol *const protocols[PROTOCOL_COUNT] = {
#define PROTOCOL(id, name) [PROTOCOL_##id] = &protocol_##name,
#include "model/protocols.def"
#undef PROTOCOL
};

const struct protocol *protocol_get(enum protocol_id id)
{
    CHECK((size_t)id < PROTOCOL_COUNT);
    return protocols[id];
}

static bool is_same(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

bool protocol_find(const char *name, enum protocol_id *found)
{
    for (int id = 0; id < PROTOCOL_COUNT; id++) {
        if (is_same(protocols[id]->name, name)) {
            *found = (enum protocol_id)id;
            return true;
        }
    }
    return false;
}

bool protocol_judges(enum clause_family family)
{
    for (int id = 0; id < PROTOCOL_COUNT; id++) {
        if (protocols[id]->family == family) {
            return true;
        }
    }
    return false;
}

void protocol_begin(struct actor *actor, const struct rules *rules, unsigned number)
{
    memset(actor, 0, sizeof *actor);
    actor->role = rules->cast[number];
    protocol_role(rules, number)->begin(actor, rules, number);
}

void protocol_check(const struct actor *actor, const struct rules *rules, unsigned number)
{
    const struct role *role = protocol_role(rules, number);
    CHECK(actor->role == rules->cast[number]);
    if (role->message != NULL) {
        CHECK(!role->is_idle(actor) || role->message(actor)[0] == 0); /* PR2 */
    }
}

void protocol_restart(struct actor *actor, const struct rules *rules, unsigned number)
{
    const struct role *role = protocol_role(rules, number);
    if (role->restart == NULL) {
        protocol_begin(actor, rules, number);
    } else {
        role->restart(actor, rules, number);
    }
}

void protocol_client_begin(struct actor *actor, const struct rules *rules, unsigned number)
{
    (void)number;
    actor->is.client = (struct client){.count = rules->jobs};
}

void protocol_client_restart(struct actor *actor, const struct rules *rules, unsigned number)
{
    (void)actor, (void)rules, (void)number;
}

void protocol_client_take(struct actor *actor, const struct rules *rules,
                          const struct outcome *last)
{
    (void)rules;
    client_take(&actor->is.client, last);
}

bool protocol_client_is_done(const struct actor *actor)
{
    return actor->is.client.job == actor->is.client.count;
}

int64_t protocol_client_due(const struct actor *actor, const struct rules *rules,
                            const struct glance *glance)
{
    (void)rules;
    return protocol_client_is_done(actor) ? PROTOCOL_NEVER : glance->now;
}

void protocol_consumer_begin(struct actor *actor, const struct rules *rules, unsigned number)
{
    (void)rules, (void)number;
    actor->is.consumer = (struct consumer){.state = CONSUMER_IDLE};
}

void protocol_consumer_next(struct actor *actor, const struct rules *rules, struct bundle *next)
{
    const struct consumer *consumer = &actor->is.consumer;
    if (!consumer_next(consumer, rules->timeout, next)) {
        protocol_get((enum protocol_id)rules->protocol)
            ->roles[actor->role]
            .work(consumer->message, next);
    }
}

void protocol_consumer_take(struct actor *actor, const struct rules *rules,
                            const struct outcome *last)
{
    (void)rules;
    consumer_take(&actor->is.consumer, last);
}

bool protocol_consumer_is_idle(const struct actor *actor)
{
    return actor->is.consumer.state == CONSUMER_IDLE;
}

int64_t protocol_consumer_due(const struct actor *actor, const struct rules *rules,
                              const struct glance *glance)
{
    (void)rules;
    return protocol_consumer_is_idle(actor) ? glance->next_message : glance->now;
}

const int64_t *protocol_consumer_message(const struct actor *actor)
{
    return actor->is.consumer.message;
}
