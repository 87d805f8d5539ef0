/* The campaign that shards are parts of. Its lines are made by the code that makes those of a
 * campaign (campaign_tell.h), from what the shards counted: so they are what the campaign would
 * have written by itself, but for times and hosts.
 *
 * (CJ1) The order in which shards are handed over is that of their numbers; their folders may come
 *       in any order. */
#ifndef CLI_CAMPAIGN_JOIN_H
#define CLI_CAMPAIGN_JOIN_H

#include "model/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* "2/8" of a command; its text without --shard, --out, --json and --jobs names the campaign. */
struct campaign_shard {
    unsigned long shard, shards; /* counted from 1 */
    char campaign[2000];
};

/* False: the command is of no shard. */
bool campaign_shard_of(const char *command, struct campaign_shard *shard);

/* The lines between "begin" and "end", of the sessions of all shards in order. NULL: error says
 * what they lack. *status: as in the campaign, if its lines do not say more. */
json_t *campaign_join(json_t *const sessions[], size_t count, int *status, struct error *error);

#endif
