/* The protocol seam, engine half: what a protocol is to whoever runs it.
 *
 * A protocol has roles: a client, a worker, a dispatcher, a reclaimer. An actor is one engine at
 * work in a role: a plain struct without pointers, stepped through the functions of its role. All
 * engines lie in one union, so that an actor can be copied, hashed and thrown away whatever it is.
 * Rules are what the engines of one run share; scenarios/ makes them.
 *
 * Nobody above this header knows an engine by name, but the parts that a protocol brings itself.
 * protocols.def lists the protocols; README.md, "Adding a protocol", walks through one.
 *
 * (PR1) Every function of a role is pure: it depends on its arguments, and writes to the actor and
 *       the bundle only.
 * (PR2) An actor that is idle holds nothing: starting it anew loses nothing. */
#ifndef MODEL_PROTOCOL_H
#define MODEL_PROTOCOL_H

#include "model/clause.h"
#include "model/consumer.h"
#include "model/engine.h"
#include "model/flow.h"
#include "model/legacy_engine.h"
#include "model/pipeline.h"
#include "model/rights.h"
#include "model/seq_durable.h"
#include "model/table.h"

enum protocol_id {
#define PROTOCOL(id, name) PROTOCOL_##id,
#include "model/protocols.def"
#undef PROTOCOL
    PROTOCOL_COUNT
};

#define PROTOCOL_ACTORS_MAX 20
#define PROTOCOL_ROLES_MAX  8
#define PROTOCOL_NEVER      INT64_MAX

/* What only engines of one protocol have in common. */
union rules_of {
    struct engine_rules activity;
    struct inbox_rules {
        uint32_t accounts; /* messages are for them in turn */
    } inbox;
    struct legacy_rules legacy;
    struct flow_rules key;
    struct pipeline_rules pipeline;
    struct seq_plan seq;
};

/* What the engines of a run have in common; constant while it lasts. */
struct rules {
    uint8_t protocol;                  /* enum protocol_id */
    uint8_t actors;                    /* how many there are */
    uint8_t cast[PROTOCOL_ACTORS_MAX]; /* by actor: which of the protocol's roles it plays */
    uint32_t jobs;                     /* how many things a client starts */
    int64_t timeout;                   /* ticks that a claim or a lease lasts */
    int64_t put_back;                  /* ticks until what came too early is tried again */
    union rules_of of;
};

/* One engine at work. */
struct actor {
    uint8_t role;
    union {
        struct client client; /* these two of every protocol that has no better ones */
        struct consumer consumer;
        struct worker worker; /* activity */
        struct legacy_worker legacy;
        struct flow_worker flow; /* key */
        struct pipeline_worker pipeline;
        struct seq_actor seq; /* seq: all of its roles */
    } is;
};

/* What a scheduler lets an actor see to say when it has something to do. */
struct glance {
    const struct rows *rows;
    int64_t now;
    int64_t next_message; /* when the next message of the queue can be claimed, or PROTOCOL_NEVER */
};

struct role {
    const char *name; /* "worker" */
    bool alone;       /* at most one plays it: it is called by the name alone, without a number */
    /* Just started; `number` is the actor's. */
    void (*begin)(struct actor *actor, const struct rules *rules, unsigned number);
    /* Died and came back. NULL: everything it knew is lost, and it begins again. */
    void (*restart)(struct actor *actor, const struct rules *rules, unsigned number);
    /* The bundle that it sends next. */
    void (*next)(struct actor *actor, const struct rules *rules, struct bundle *next);
    /* What the outcome of the last bundle means to it. */
    void (*take)(struct actor *actor, const struct rules *rules, const struct outcome *last);
    bool (*is_idle)(const struct actor *actor);
    /* From when on there is something for it to do: any time up to now, a later one, or
     * PROTOCOL_NEVER if not unless somebody else acts first. */
    int64_t (*due)(const struct actor *actor, const struct rules *rules,
                   const struct glance *glance);
    /* It has done all it will ever do: where rows cannot be seen, its process ends. NULL: it serves
     * for as long as there is something to serve. */
    bool (*is_done)(const struct actor *actor);
    /* The message of the queue that it holds, key first. NULL: the role holds none. */
    const int64_t *(*message)(const struct actor *actor);
    /* It is at work outside rows, and so many ticks went by on its own clock since it heard of the
     * store, or was told so last: it may have something to send before it goes on. NULL: it has
     * not, and looks at no clock. */
    void (*worked)(struct actor *actor, const struct rules *rules, int64_t ticks);
    /* ... in how many ticks it will: 1 or more. NULL only if `worked` is. */
    int64_t (*attends)(const struct actor *actor, const struct rules *rules);
    /* PROTOCOL_CONSUMER: the bundle that it commits for that message. */
    void (*work)(const int64_t *message, struct bundle *next);
};

struct protocol {
    const char *name;          /* as `protocol:` of a scenario has it */
    enum clause_family family; /* of its promises */
    uint64_t tables;           /* that it uses: a world has no room for the others */
    uint32_t principals;       /* PRINCIPAL_SET: as whom its bundles may be sent, beside the caller;
                                  0: it knows nobody else */
    struct role roles[PROTOCOL_ROLES_MAX];
};

const struct protocol *protocol_get(enum protocol_id id);

/* By its name. False: there is none. */
bool protocol_find(const char *name, enum protocol_id *found);

/* Whether the promises of a family are judged in runs of some protocol. */
bool protocol_judges(enum clause_family family);

/* The role that an actor of a run plays. */
static inline const struct role *protocol_role(const struct rules *rules, unsigned actor)
{
    return &protocol_get((enum protocol_id)rules->protocol)->roles[rules->cast[actor]];
}

/* ---- roles that most protocols have ---------------------------------------------------------- */

/* A client that starts rules->jobs things, each until it is sure of it; is.client.job is the one it
 * is about, `next` the protocol's. After a crash it goes on with that one: which there are stands
 * somewhere else. */
void protocol_client_begin(struct actor *actor, const struct rules *rules, unsigned number);
void protocol_client_restart(struct actor *actor, const struct rules *rules, unsigned number);
void protocol_client_take(struct actor *actor, const struct rules *rules,
                          const struct outcome *last);
bool protocol_client_is_done(const struct actor *actor);
int64_t protocol_client_due(const struct actor *actor, const struct rules *rules,
                            const struct glance *glance);
#define PROTOCOL_CLIENT                                                                            \
    .name = "client", .alone = true, .begin = protocol_client_begin,                               \
    .restart = protocol_client_restart, .take = protocol_client_take,                              \
    .is_idle = protocol_client_is_done, .is_done = protocol_client_is_done,                        \
    .due = protocol_client_due

/* A worker that claims a message, commits one bundle for it and acks it (consumer.h); `work` is the
 * protocol's. */
void protocol_consumer_begin(struct actor *actor, const struct rules *rules, unsigned number);
void protocol_consumer_next(struct actor *actor, const struct rules *rules, struct bundle *next);
void protocol_consumer_take(struct actor *actor, const struct rules *rules,
                            const struct outcome *last);
bool protocol_consumer_is_idle(const struct actor *actor);
int64_t protocol_consumer_due(const struct actor *actor, const struct rules *rules,
                              const struct glance *glance);
const int64_t *protocol_consumer_message(const struct actor *actor);
#define PROTOCOL_CONSUMER                                                                          \
    .name = "worker", .begin = protocol_consumer_begin, .next = protocol_consumer_next,            \
    .take = protocol_consumer_take, .is_idle = protocol_consumer_is_idle,                          \
    .due = protocol_consumer_due, .message = protocol_consumer_message

/* ---- actors ---------------------------------------------------------------------------------- */

/* An actor just started, whatever it held before. */
void protocol_begin(struct actor *actor, const struct rules *rules, unsigned number);

/* It died and is back. */
void protocol_restart(struct actor *actor, const struct rules *rules, unsigned number);

#endif
