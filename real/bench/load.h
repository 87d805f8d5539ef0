/* A load: actors of a protocol as processes in front of one schema, as fast as they can go, until
 * the time is up or all jobs have ended. What `assay bench real` measures.
 *
 * Every process has one connection and plays one actor with the engines of model/; nothing is
 * simulated, injected, recorded or judged. The clock starts when all of them are connected and the
 * jobs that warm them up have ended. */
#ifndef REAL_BENCH_LOAD_H
#define REAL_BENCH_LOAD_H

#include "model/protocol.h"
#include "real/store.h"

struct load {
    const char *dsn, *schema;
    const struct rules *rules; /* of the activity protocol; its actor 0 is the client */
    unsigned workers;
    uint32_t jobs; /* the client creates so many meanwhile, and all must end; 0: no client */
    uint32_t warm; /* so many of them come first, and are not measured: statements get prepared */
    int64_t ms;    /* how long at most */
};

struct load_figures {
    double seconds;
    uint64_t commits; /* each of them one network round trip, too */
    uint64_t refused; /* round trips that committed nothing, of workers that held something */
    uint64_t waits;   /* looks at an empty queue */
    uint64_t ended;   /* jobs */
};

/* False: *problem says why. */
bool load_run(const struct load *load, struct load_figures *figures,
              struct store_pg_problem *problem);

#endif
