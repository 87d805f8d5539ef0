/* The sweep that shards are parts of: its line, of the blocks that they counted up to the first that
 * broke a promise, where the sweep would have ended. */
#ifndef CLI_SWEEP_JOIN_H
#define CLI_SWEEP_JOIN_H

#include "model/error.h"

#include <jansson.h>
#include <stddef.h>

/* The lines between "begin" and "end", of the sessions of all shards in order. NULL: error says
 * why they are no whole sweep. */
json_t *sweep_join(json_t *const sessions[], size_t count, int *status, struct error *error);

#endif
