/* The peers: other engines for durable jobs on PostgreSQL. Each runs jobs of three
 * steps, one after the other, with the same server and concurrency and as many jobs to warm up, and
 * measures itself.
 *
 * They are npm packages, in the versions that peers/package-lock.json pins. npm installs them into
 * a folder of the caller's, or they are found in one that has them already. */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include <stdbool.h>
#include <stddef.h>

struct peers {
    char folder[200];          /* with node_modules */
    bool (*interrupted)(void); /* NULL: no interrupts */
};

/* They are in this folder. False: *why says what is missing. */
bool peers_find(struct peers *peers, const char *folder, char *why, size_t size);
/* They are installed into this folder, which exists. */
bool peers_install(struct peers *peers, const char *folder, char *why, size_t size);

size_t peers_count(void);
const char *peers_name(size_t index);

struct peers_load {
    const char *dsn; /* of a server on a unix socket, as real/cluster.h writes it */
    unsigned jobs, concurrency;
    unsigned warm; /* so many jobs come first, and are not measured */
};

/* Jobs a second, 0 if there were none. False: *why says what it said last. */
bool peers_run(const struct peers *peers, size_t index, const struct peers_load *load, double *rate,
               char *why, size_t size);

#endif
