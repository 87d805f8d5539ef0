/* Runs on PostgreSQL that shards made: every seed once, and all sums. Such runs are not the same twice,
 * so there is no more to be equal than that. */
#ifndef CLI_REAL_JOIN_H
#define CLI_REAL_JOIN_H

#include "model/error.h"

#include <jansson.h>
#include <stddef.h>

/* The lines between "begin" and "end", of the sessions of all shards in order. NULL: error says what
 * they lack. A finding that several shards made is there once, with its lowest seed. */
json_t *real_join(json_t *const sessions[], size_t count, int *status, struct error *error);

#endif
