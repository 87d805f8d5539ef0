/* The protocol seam, engine half: what a protocol offers to a runner (sim/, real/).
 *
 * A protocol has roles: a client, a worker, a dispatcher, a reclaimer. An actor is one engine in a
 * role: a plain struct without pointers, stepped through the functions of its role. All engines lie
 * in one union, so that an actor of any kind can be copied, hashed and discarded. This is why the
 * header includes those of all engines. Rules are what the engines of one run share; scenarios/
 * makes them.
 *
 * Code above this header knows no engine by name, except the parts that a protocol brings itself.
 * protocols.def lists the protocols; README.md, "Adding a protocol", walks through one.
 *
 * (PR1) Every function of a role is pure: it depends on its arguments, and writes to the actor and
 *       the bundle only.
 * (PR2) An idle actor holds nothing: restarting it loses nothing. */
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

/* What the engines of one protocol share. */
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

/* What the engines of a run share; constant during the run. */
struct rules {
    uint8_t protocol;                  /* enum protocol_id */
    uint8_t actors;                    /* the number of actors */
    uint8_t cast[PROTOCOL_ACTORS_MAX]; /* by actor: the index of its role */
    uint32_t jobs;                     /* how many jobs a client starts */
    int64_t timeout;                   /* ticks that a claim or a lease lasts */
    int64_t put_back;                  /* ticks until a message that came too early is tried
                                          again */
    union rules_of of;
};

/* One engine at work. */
struct actor {
    uint8_t role;
    union {
        struct client client; /* the default client and worker */
        struct consumer consumer;
        struct worker worker; /* activity */
        struct legacy_worker legacy;
        struct flow_worker flow; /* key */
        struct pipeline_worker pipeline;
        struct seq_actor seq; /* seq: all of its roles */
    } is;
};

/* The view that a scheduler gives an actor to say when it has something to do. */
struct glance {
    const struct rows *rows;
    int64_t now;
    int64_t next_message; /* when the next message of the queue can be claimed, or PROTOCOL_NEVER */
};

struct role {
    const char *name; /* "worker" */
    bool alone;       /* at most one actor plays it: its name has no number */
    /* Starts the actor; `number` is its index. */
    void (*begin)(struct actor *actor, const struct rules *rules, unsigned number);
    /* Restarts the actor after a crash. NULL: all its memory is lost, and it begins again. */
    void (*restart)(struct actor *actor, const struct rules *rules, unsigned number);
    /* Builds the bundle that it sends next. */
    void (*next)(struct actor *actor, const struct rules *rules, struct bundle *next);
    /* Takes the outcome of the last bundle. */
    void (*take)(struct actor *actor, const struct rules *rules, const struct outcome *last);
    /* Asserts what holds of a sound actor between two bundles; an actor with a planted bug is judged
     * by the oracles alone. NULL: nothing. */
    void (*check)(const struct actor *actor);
    bool (*is_idle)(const struct actor *actor);
    /* The time from which on it has something to do: any time up to now, a later one, or
     * PROTOCOL_NEVER if only an act of another actor can change that. */
    int64_t (*due)(const struct actor *actor, const struct rules *rules,
                   const struct glance *glance);
    /* It has done all its work: where rows are not visible, its process ends. NULL: it serves as
     * long as there is something to serve. */
    bool (*is_done)(const struct actor *actor);
    /* The message of the queue that it holds, key first. NULL: the role holds none. */
    const int64_t *(*message)(const struct actor *actor);
    /* It is at work outside rows, and `ticks` passed on its own clock since its last outcome or the
     * last call of this: it may have something to send before it goes on. NULL: it has not, and
     * reads no clock. */
    void (*worked)(struct actor *actor, const struct rules *rules, int64_t ticks);
    /* In how many ticks it will have something to send: 1 or more. NULL only if `worked` is. */
    int64_t (*attends)(const struct actor *actor, const struct rules *rules);
    /* PROTOCOL_CONSUMER: the bundle that it commits for that message. */
    void (*work)(const int64_t *message, struct bundle *next);
};

struct protocol {
    const char *name;          /* the value of `protocol:` in a scenario */
    enum clause_family family; /* of its promises */
    uint64_t tables;           /* that it uses: a world has no room for others */
    uint32_t principals;       /* PRINCIPAL_SET: the principals that may send its bundles, beside
                                  the caller; 0: only the caller */
    struct role roles[PROTOCOL_ROLES_MAX];
};

const struct protocol *protocol_get(enum protocol_id id);

/* By its name. False: there is none. */
bool protocol_find(const char *name, enum protocol_id *found);

/* Whether runs of some protocol judge the promises of a family. */
bool protocol_judges(enum clause_family family);

/* The role that an actor of a run plays. */
static inline const struct role *protocol_role(const struct rules *rules, unsigned actor)
{
    return &protocol_get((enum protocol_id)rules->protocol)->roles[rules->cast[actor]];
}

/* ---- roles that most protocols have ---------------------------------------------------------- */

/* A client that starts rules->jobs jobs, each until it is sure of it; is.client.job is the current
 * one, and `next` is the protocol's. After a crash it goes on with that one: the list of jobs is
 * kept elsewhere. */
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

/* Starts the actor, whatever it held before. */
void protocol_begin(struct actor *actor, const struct rules *rules, unsigned number);

/* Asserts (PR2), and that the actor plays the role that it is cast for. */
void protocol_check(const struct actor *actor, const struct rules *rules, unsigned number);

/* Restarts the actor after a crash. */
void protocol_restart(struct actor *actor, const struct rules *rules, unsigned number);

#endif
