/* A run of the simulation that PostgreSQL follows statement by statement: a life of
 * transactions (sim/life.h) made of lockstep.h, in life_lockstep.c. Changes outside sessions (a
 * duplicate, a delayed message) are copied.
 *
 * (MI1) Some runs cannot be followed, and mirror_refuses says why: PostgreSQL always claims the
 *       message that is due first, and cannot be told to lose a commit. */
#ifndef VERIFY_MIRROR_H
#define VERIFY_MIRROR_H

#include "real/own_schema.h"
#include "sim/run.h"
#include "verify/lockstep.h"

struct mirror {
    struct lockstep lockstep;
    struct run *run;
    struct own_schema own;
    size_t executed_to; /* end of the last transaction's own changes in the world's log */
    uint64_t runs;
};

/* A transaction of the run, and PostgreSQL follows it; run->life_context is the mirror. */
extern const struct life life_lockstep;

/* Why PostgreSQL cannot follow runs of this scenario; NULL: it can. */
const char *mirror_refuses(const struct scenario *scenario);

/* The run is followed from now on. False: *error says why not. */
bool mirror_open(struct mirror *mirror, const char *dsn, struct run *run, struct error *error);
void mirror_close(struct mirror *mirror, const char *dsn);

/* One run, both sides starting empty. mirror->lockstep.difference says what differed. */
const struct run_result *mirror_run(struct mirror *mirror, struct choice_source *source);

#endif
