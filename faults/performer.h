/* A performer: an actor with the decorator of a planted bug around it. The one way in which an
 * engine is stepped, in the simulation and on PostgreSQL alike.
 *
 *      performer_next --> store --> performer_take
 *
 * Without a sabotage (NULL) it is the actor alone. */
#ifndef FAULTS_PERFORMER_H
#define FAULTS_PERFORMER_H

#include "faults/sabotage.h"

struct performer {
    const struct role *role; /* that the actor plays: found once, not at every step */
    struct actor actor;
    struct sabotage_memory memory;
};

/* Just started; died and came back. */
void performer_begin(struct performer *performer, const struct rules *rules, unsigned number);
void performer_restart(struct performer *performer, const struct rules *rules, unsigned number);

/* What it sends next. */
static inline void performer_next(struct performer *performer, const struct rules *rules,
                                  const struct sabotage *sabotage, struct bundle *next)
{
    performer->role->next(&performer->actor, rules, next);
    if (sabotage != NULL) {
        sabotage_bundle(sabotage, &performer->memory, &performer->actor, next);
    }
}

/* performer_take with a planted bug: it may keep the outcome to itself, and rewrites it in place.
 */
void performer_take_sabotaged(struct performer *performer, const struct rules *rules,
                              const struct sabotage *sabotage, const struct bundle *sent,
                              struct outcome *outcome, const struct rows *rows);

/* What came of it. `rows` are the store's, for bugs that read on the sly; NULL where they cannot be
 * seen. */
static inline void performer_take(struct performer *performer, const struct rules *rules,
                                  const struct sabotage *sabotage, const struct bundle *sent,
                                  struct outcome *outcome, const struct rows *rows)
{
    if (sabotage == NULL) {
        performer->role->take(&performer->actor, rules, outcome);
    } else {
        performer_take_sabotaged(performer, rules, sabotage, sent, outcome, rows);
    }
}

#endif
