#include "model/protocol.h"

#include "model/check.h"

#include <string.h>

#define PROTOCOL(name, called) extern const struct protocol protocol_##name;
#include "model/protocols.def"
#undef PROTOCOL

static const struct protocol *const protocols[] = {
#define PROTOCOL(name, called) &protocol_##name,
#include "model/protocols.def"
#undef PROTOCOL
};
_Static_assert(COUNT(protocols) <= PROTOCOLS_MAX, "every protocol has a place");

size_t protocol_count(void)
{
    return COUNT(protocols);
}

const struct protocol *protocol_at(size_t place)
{
    CHECK(place < COUNT(protocols));
    const struct protocol *protocol = protocols[place];
    CHECK(protocol->actor_size <= PROTOCOL_ACTOR_SIZE); /* PR3 */
    CHECK(protocol->rules_size <= PROTOCOL_RULES_SIZE); /* PR3 */
    return protocol;
}

size_t protocol_place(const struct protocol *protocol)
{
    size_t place = 0;
    while (place < COUNT(protocols) && protocols[place] != protocol) {
        place++;
    }
    CHECK(place < COUNT(protocols));
    return place;
}

static bool is_same(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

const struct protocol *protocol_find(const char *name)
{
    for (size_t p = 0; p < COUNT(protocols); p++) {
        if (is_same(protocols[p]->name, name)) {
            return protocols[p];
        }
    }
    return NULL;
}

bool protocol_judges(enum clause_family family)
{
    for (size_t p = 0; p < COUNT(protocols); p++) {
        if (protocols[p]->family == family) {
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
    *ACTOR_IS(actor, client) = (struct client){.count = rules->jobs};
}

void protocol_client_restart(struct actor *actor, const struct rules *rules, unsigned number)
{
    (void)actor, (void)rules, (void)number;
}

void protocol_client_take(struct actor *actor, const struct rules *rules,
                          const struct outcome *last)
{
    (void)rules;
    client_take(ACTOR_IS(actor, client), last);
}

bool protocol_client_is_done(const struct actor *actor)
{
    return ACTOR_IS(actor, client)->job == ACTOR_IS(actor, client)->count;
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
    *ACTOR_IS(actor, consumer) = (struct consumer){.state = CONSUMER_IDLE};
}

void protocol_consumer_next(struct actor *actor, const struct rules *rules, struct bundle *next)
{
    const struct consumer *consumer = ACTOR_IS(actor, consumer);
    if (!consumer_next(consumer, rules->timeout, next)) {
        rules->protocol->roles[actor->role].work(consumer->message, next);
    }
}

void protocol_consumer_take(struct actor *actor, const struct rules *rules,
                            const struct outcome *last)
{
    (void)rules;
    consumer_take(ACTOR_IS(actor, consumer), last);
}

bool protocol_consumer_is_idle(const struct actor *actor)
{
    return ACTOR_IS(actor, consumer)->state == CONSUMER_IDLE;
}

int64_t protocol_consumer_due(const struct actor *actor, const struct rules *rules,
                              const struct glance *glance)
{
    (void)rules;
    return protocol_consumer_is_idle(actor) ? glance->next_message : glance->now;
}

const int64_t *protocol_consumer_message(const struct actor *actor)
{
    return ACTOR_IS(actor, consumer)->message;
}
