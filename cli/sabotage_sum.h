/* What hunts for planted bugs come to together: of `assay sabotage`, and of shards of it. */
#ifndef CLI_SABOTAGE_SUM_H
#define CLI_SABOTAGE_SUM_H

#include "model/error.h"
#include "verify/hunt.h"

#include <jansson.h>

/* What was asked for. */
struct sabotage_asked {
    bool whole;           /* every promise had its chance: all planted bugs, all promises on */
    bool shard;           /* only those of `part`, of `parts` */
    uint64_t part, parts; /* counted from 0 */
    uint64_t schedules;
    struct choice_strategy strategy;
};

struct sabotage_sum {
    size_t fates[PROTOCOLS_MAX][FATE_COUNT], all[FATE_COUNT];
    size_t disputed;              /* hunts in which the sound engine broke a promise, too */
    uint32_t kills[CLAUSE_COUNT]; /* sabotages that each promise found */
    size_t toothless;             /* safe and live promises that report none by themselves */
    size_t forestalled;           /* those that find one only once all others are switched off */
};

struct sabotage_sum sabotage_sum_of(const struct hunt *hunt);

/* Lines of every safe and live promise with all others switched off: what others always forestall is
 * no evidence that this one can fail. It takes all hunts, since it begins with what is typical of
 * them. NULL: no memory. */
json_t *sabotage_sum_alone(const struct sabotage_asked *asked, const struct hunt *hunt,
                           struct sabotage_sum *summary);

json_t *sabotage_sum_line(const struct sabotage_asked *asked, const struct hunt *hunt,
                          const struct sabotage_sum *summary);

/* enum cli_status */
int sabotage_sum_status(const struct sabotage_asked *asked, const struct hunt *hunt,
                        const struct sabotage_sum *summary);

bool sabotage_sum_must_kill(const struct clause *clause);

/* The hunt that shards are parts of: its lines between "begin" and "end". NULL: error says what they
 * lack. */
json_t *sabotage_join(json_t *const sessions[], size_t count, int *status, struct error *error);

#endif
