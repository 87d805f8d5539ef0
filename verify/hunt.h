/* A hunt for planted bugs by several threads: what `assay sabotage` does in the simulation.
 *
 * Each bug is a trial: hunted from one or more base seeds (kill.h), and, if it is listed as
 * equivalent and was not found, searched for in every scope of its protocol (equivalence.h). */
#ifndef VERIFY_HUNT_H
#define VERIFY_HUNT_H

#include "reports/artefacts.h"
#include "sim/equivalence.h"
#include "sim/kill.h"
#include "verify/live.h"

#include <pthread.h>
#include <stdatomic.h>

#define HUNT_BASE_SEEDS_MAX 100
#define HUNT_JOBS_MAX       256

/* The result for a planted bug. */
enum fate {
    FATE_FOUND,
    FATE_EQUIVALENT,     /* it is listed so, and shown */
    FATE_NOT_SHOWN,      /* it is listed so, was not found, and is not shown */
    FATE_SURVIVED,       /* it is not listed so, and was not found */
    FATE_NOT_EQUIVALENT, /* it is listed so, and was found */
    FATE_COUNT
};

/* One sabotage and how it was found with one strategy, once for each base seed. */
struct trial {
    struct sabotage sabotage;
    struct choice_strategy strategy;
    struct kill kills[HUNT_BASE_SEEDS_MAX];
    struct equivalence equivalence; /* if it is listed as equivalent and was not found */
    bool done;
    uint64_t bases;        /* from how many base seeds it is hunted */
    uint32_t found;        /* of those */
    uint32_t median, most; /* schedules; of those where it was found */
};

/* What the sound engine does in the scopes of a protocol. */
struct hunt_grounds {
    struct equivalence_ground *list;
    size_t count;
};

struct hunt {
    uint64_t schedules_max, job_count;
    const bool *without;
    struct artefacts *results;
    struct trial *trials;
    size_t count;
    atomic_size_t next;
    atomic_bool out_of_memory;
    struct hunt_grounds grounds
        [PROTOCOLS_MAX];  /* by protocol_place: of those that have a bug listed as equivalent */
    pthread_mutex_t lock; /* of what follows, and of the trials' `done` */
    size_t done, unfound;
    struct live live;
};

/* Until every trial is done, or it is interrupted. False: no memory. */
bool hunt_all(struct hunt *hunt);
void hunt_free(struct hunt *hunt);

bool hunt_is_enumerated(const struct sabotage *sabotage);

enum fate hunt_fate(const struct trial *trial);

/* "found", "equivalent", "not shown", "SURVIVED", ... */
const char *hunt_fate_text(enum fate fate);

/* The first base seed that found it; NULL: none did. */
const struct kill *hunt_first_kill(const struct trial *trial);

/* The first finding that the sound engine shares; NULL: there is none. */
const struct kill_dispute *hunt_dispute(const struct trial *trial);

/* A line of results.jsonl. */
json_t *hunt_line(const struct trial *trial);

#endif
