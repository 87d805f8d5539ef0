/* A performer: an actor with the decorator of a planted bug around it. Engines are stepped only
 * through this, in the simulation and on PostgreSQL alike.
 *
 *      performer_next --> performer_works --> store --> performer_take
 *
 * Without a sabotage (NULL) it is the actor alone.
 *
 * Work outside rows that a bundle rests on is run before the bundle is sent, once under a claim;
 * the performer keeps its result until it crashes. To run work is to enter it in a journal, which
 * belongs to the caller: oracles judge it in the simulation at once, on PostgreSQL from files. */
#ifndef FAULTS_PERFORMER_H
#define FAULTS_PERFORMER_H

#include "faults/sabotage.h"

struct performer {
    const struct role *role; /* the actor's role: looked up once, not at every step */
    struct actor actor;
    struct sabotage_memory memory;
    struct side_effect done; /* the work that it ran last: its result is available */
};

/* Asserts that a crash has left nothing to an actor but what its role keeps: no work, no memory of a
 * planted bug, and no message (U2 of sim/run.h). */
void performer_check_new(const struct performer *performer);

/* Asserts what its role does of a sound actor. */
void performer_check(const struct performer *performer);

/* Starts the actor; restarts it after a crash. */
void performer_begin(struct performer *performer, const struct rules *rules, unsigned number);
void performer_restart(struct performer *performer, const struct rules *rules, unsigned number);

/* Builds the bundle that the actor sends next. */
static inline void performer_next(struct performer *performer, const struct rules *rules,
                                  const struct sabotage *sabotage, struct bundle *next)
{
    performer->role->next(&performer->actor, rules, next);
    CHECK_ALL(bundle_check(next));
    if (sabotage != NULL) {
        sabotage_bundle(sabotage, &performer->memory, &performer->actor, next);
    }
}

/* Whether the actor runs the work that the bundle rests on before it sends it; if so, the caller
 * enters next->effect in the journal. */
static inline bool performer_works(struct performer *performer, const struct sabotage *sabotage,
                                   const struct bundle *next)
{
    const struct side_effect *effect = &next->effect, *done = &performer->done;
    if (effect->what == 0) {
        performer->done.what = next->name == BUNDLE_CLAIM ? 0 : done->what; /* its claim is over */
        return false;
    }
    bool at_hand =
        effect->what == done->what && effect->claim == done->claim && effect->epoch == done->epoch;
    performer->done = *effect;
    return !at_hand || (sabotage != NULL && sabotage->kind == SABOTAGE_WORK_AGAIN);
}

/* The answer that performer_works would give, without an effect. */
static inline bool performer_would_work(const struct performer *performer,
                                        const struct bundle *next)
{
    const struct side_effect *effect = &next->effect, *done = &performer->done;
    return effect->what != 0 && (effect->what != done->what || effect->claim != done->claim ||
                                 effect->epoch != done->epoch);
}

/* The actor has been at work for so many ticks of its own clock. */
static inline void performer_worked(struct performer *performer, const struct rules *rules,
                                    const struct sabotage *sabotage, int64_t ticks)
{
    bool through = sabotage != NULL && sabotage->kind == SABOTAGE_WORK_THROUGH;
    if (performer->role->worked != NULL && !through) {
        performer->role->worked(&performer->actor, rules, ticks);
    }
}

/* performer_take with a planted bug: it may withhold the outcome, and rewrites it in place. */
void performer_take_sabotaged(struct performer *performer, const struct rules *rules,
                              const struct sabotage *sabotage, const struct bundle *sent,
                              struct outcome *outcome, const struct rows *rows);

/* Gives the actor the outcome of its bundle. `rows` are the store's, for bugs that read outside a
 * transaction; NULL where they are not visible. */
static inline void performer_take(struct performer *performer, const struct rules *rules,
                                  const struct sabotage *sabotage, const struct bundle *sent,
                                  struct outcome *outcome, const struct rows *rows)
{
    if (sabotage == NULL) {
        performer->role->take(&performer->actor, rules, outcome);
        CHECK_ALL(performer_check(performer));
    } else {
        performer_take_sabotaged(performer, rules, sabotage, sent, outcome, rows);
    }
}

#endif
