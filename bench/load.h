/* A load: actors of a protocol as processes in front of one schema, as fast as they can go, until
 * the time is up or all jobs have ended. What `assay bench real` measures.
 *
 * Every client and every worker is a process with one connection that runs one actor with the engines
 * of model/; nothing is simulated, injected, recorded or judged. Every worker has a second process
 * that runs its tasks: the worker sends it a claimed task and publishes the answer that comes back.
 * So no task runs in a process that does legs.
 *
 * The clock starts when all of them are connected and the jobs that warm them up have ended; it
 * stops with the last job, or when the last of them stops because the time is up. */
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

#include "model/error.h"
#include "model/protocol.h"
#include "real/store.h"

struct load {
    const char *dsn, *schema;
    const struct rules *rules; /* of the activity protocol; its actor 0 is the client */
    unsigned workers;
    unsigned clients; /* create the jobs, each its share; 0: they are there */
    uint32_t jobs;    /* that must end; 0, and none to warm up: they go on until the time is up */
    uint32_t warm;    /* so many come before those, and are not measured: statements get prepared */
    int64_t ms;       /* how long at most */
    bool only_leg2; /* workers let go of every other message: what one of these costs is measured */
    bool (*interrupted)(void); /* NULL: no interrupts */
};

struct load_figures {
    double seconds;
    uint64_t commits; /* each of them one network round trip, too */
    uint64_t refused; /* round trips that committed nothing, of workers that held something */
    uint64_t waits;   /* looks at an empty queue */
    uint64_t ended;   /* jobs */
    uint64_t tasks;   /* that were run, each in a process of its own */
};

/* False: *error says why; also if one of the processes did not end well. */
bool load_run(const struct load *load, struct load_figures *figures, struct error *error);

#endif
