/* The protocol seam, engine half: what a protocol offers to a runner (sim/, real/).
 *
 * A protocol has roles: a client, a worker, a dispatcher, a reclaimer. An actor is one engine in a
 * role: a plain struct without pointers, stepped through the functions of its role. Rules are what
 * the engines of one run share; scenarios/ makes them. Both lie in bounded blocks of bytes, so that
 * an actor of any kind can be copied, hashed and discarded by code that knows no engine: what is in
 * a block is known to its protocol alone, which reads it by ACTOR_IS and RULES_OF.
 *
 * Code above this header knows no protocol, except the parts that a protocol brings itself: it has
 * a pointer to a description, or finds one by name. Every layer lists its parts in the order of
 * protocols.def; README.md, "Adding a protocol", walks through one.
 *
 * (PR1) Every function of a role is pure: it depends on its arguments, and writes to the actor and
 *       the bundle only.
 * (PR2) An idle actor holds nothing: restarting it loses nothing.
 * (PR3) What an actor and the rules hold fits into their blocks: PROTOCOL_SIZES asserts it at
 *       compile time, and protocol_at of every protocol that it gives.
 * (PR4) Whether there is something to do for an actor that holds nothing is told by the rows and the
 *       time, not by what it remembers: `due` says the same of one that has just begun. Roles with
 *       `is_done` are exempt. */
#ifndef MODEL_PROTOCOL_H
#define MODEL_PROTOCOL_H

#include "model/clause.h"
#include "model/consumer.h"
#include "model/rights.h"
#include "model/table.h"

#define PROTOCOL_ACTORS_MAX 20
#define PROTOCOL_ROLES_MAX  8
#define PROTOCOL_ACTOR_SIZE 184 /* bytes that an engine may have, */
#define PROTOCOL_RULES_SIZE 248 /* ... and the rules of a protocol */
#define PROTOCOLS_MAX       16
#define PROTOCOL_NEVER      INT64_MAX

/* What the engines of one protocol share. Bytes, so that a copy of the block is one of whatever is
 * in it. */
struct protocol_rules {
    _Alignas(8) unsigned char bytes[PROTOCOL_RULES_SIZE];
};

/* What the engines of a run share; constant during the run. */
struct rules {
    const struct protocol *protocol;
    uint8_t actors;                    /* the number of actors */
    uint8_t cast[PROTOCOL_ACTORS_MAX]; /* by actor: the index of its role */
    uint32_t jobs;                     /* how many jobs a client starts */
    int64_t timeout;                   /* ticks that a claim or a lease lasts */
    int64_t put_back;                  /* ticks until a message that came too early is tried
                                          again */
    struct protocol_rules of;
};

/* One engine at work. */
struct actor {
    uint8_t role;
    _Alignas(8) unsigned char is[PROTOCOL_ACTOR_SIZE];
};

/* The actor's engine, `struct type`; constant if the actor is. */
#define ACTOR_IS(one, type)                                                                        \
    _Generic((one), const struct actor *                                                           \
             : (const struct type *)(const void *)(one)->is, struct actor *                        \
             : (struct type *)(void *)(one)->is)

/* The protocol's own rules, `struct type`, of rules or of a scenario. */
#define RULES_OF(rules, type)                                                                      \
    _Generic(&(rules)->of, const struct protocol_rules *                                           \
             : (const struct type *)(const void *)(rules)->of.bytes, struct protocol_rules *       \
             : (struct type *)(void *)(rules)->of.bytes)

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
     * PROTOCOL_NEVER if only an act of another actor can change that. Of an idle actor the rows
     * decide (PR4). */
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
    uint32_t actor_size;       /* the largest of its engines, */
    uint32_t rules_size;       /* ... and its own rules; 0: it has none */
    bool merges;               /* its scenarios say whether commits are merged (`commits:`): one
                                  bundle then ends a message and claims the next */
    struct role roles[PROTOCOL_ROLES_MAX];
};

/* actor_size and rules_size, from the largest engine and the rules (PR3). */
#define PROTOCOL_SIZES(engine, rules)                                                              \
    .actor_size = PROTOCOL_FITS(engine, PROTOCOL_ACTOR_SIZE),                                      \
    .rules_size = PROTOCOL_FITS(rules, PROTOCOL_RULES_SIZE)
#define PROTOCOL_FITS(type, most)                                                                  \
    (sizeof(type) + 0 * sizeof(struct {                                                            \
                        _Static_assert(sizeof(type) <= (most) && _Alignof(type) <= 8,              \
                                       "it fits into its block");                                  \
                        char any;                                                                  \
                    }))

/* The protocols that there are, in the order of protocols.def. A scenario that names none is of the
 * first. */
size_t protocol_count(void);
const struct protocol *protocol_at(size_t place);

/* Where it stands in that order. */
size_t protocol_place(const struct protocol *protocol);

/* By its name. NULL: there is none. */
const struct protocol *protocol_find(const char *name);

/* Whether runs of some protocol judge the promises of a family. */
bool protocol_judges(enum clause_family family);

/* The role that an actor of a run plays. */
static inline const struct role *protocol_role(const struct rules *rules, unsigned actor)
{
    return &rules->protocol->roles[rules->cast[actor]];
}

/* ---- roles that most protocols have ---------------------------------------------------------- */

/* A client that starts rules->jobs jobs, each until it is sure of it; `struct client` has the
 * current one, and `next` is the protocol's. After a crash it goes on with that one: the list of jobs is
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
