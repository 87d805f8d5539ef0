/* The peers: what people run durable jobs on PostgreSQL with instead. Each runs jobs of three
 * steps, one after the other, with the same server and concurrency, and measures itself.
 *
 * They are npm packages. They are installed into a temporary folder that peers_close removes, or
 * found in one that has them already. */
#ifndef REAL_BENCH_PEERS_H
#define REAL_BENCH_PEERS_H

#include <stdbool.h>
#include <stddef.h>

struct peers {
    char folder[200]; /* with node_modules */
    bool ours;        /* to be removed */
};

/* `folder`: one with node_modules; NULL: a temporary one. False: *why says what is missing. */
bool peers_open(struct peers *peers, const char *folder, char *why, size_t size);
void peers_close(struct peers *peers);

size_t peers_count(void);
const char *peers_name(size_t index);

struct peers_load {
    const char *dsn; /* of a server on a unix socket, as real/cluster.h writes it */
    unsigned jobs, concurrency;
};

/* Jobs a second. False: *why says what it said last. */
bool peers_run(const struct peers *peers, size_t index, const struct peers_load *load, double *rate,
               char *why, size_t size);

#endif
