/* A small world and random bundles of the catalogue's primitives, for suites that execute them. */
#ifndef SIM_TESTS_BUNDLES_H
#define SIM_TESTS_BUNDLES_H

#include "model/bundle.h"
#include "model/tests/random.h"
#include "sim/world.h"

#include <criterion/criterion.h>

#define JOB      INT64_C(700)
#define ACTIVITY INT64_C(710)
#define GUID     INT64_C(720)
#define TASK     INT64_C(730)
#define MESSAGE  INT64_C(740)
#define NOBODY   INT64_C(999) /* no row has this key */
#define NOW      INT64_C(33)

/* One row a table: a job at semaphore 5, an activity, a GUID, a task and a message of it. */
static inline struct world bundles_world(uint32_t rows)
{
    struct world world;
    struct world_capacity capacity = {.changes = 512};
    for (int t = 0; t < TABLE_COUNT; t++) {
        capacity.rows[t] = rows;
    }
    cr_assert(world_make(&world, &capacity));
    world.now = NOW;
    world_insert(&world, TABLE_JOB, JOB, (int64_t[JOB_COLUMNS]){5, 0, 0, 0, 1000});
    world_insert(&world, TABLE_ACTIVITY, ACTIVITY,
                 (int64_t[ACTIVITY_COLUMNS]){JOB, 0, 1100000000001, 0});
    world_insert(&world, TABLE_TASK, TASK, (int64_t[TASK_COLUMNS]){ACTIVITY, 1, 0, 1});
    world_insert(&world, TABLE_GUID, GUID, (int64_t[GUID_COLUMNS]){ACTIVITY, 10000000001, 0, 0, 9});
    world_insert(&world, TABLE_MESSAGE, MESSAGE,
                 (int64_t[MESSAGE_COLUMNS]){[MESSAGE_KIND] = MESSAGE_LEG2,
                                            [MESSAGE_JOB] = JOB,
                                            [MESSAGE_ACTIVITY] = ACTIVITY,
                                            [MESSAGE_GUID] = GUID,
                                            [MESSAGE_VISIBLE_AT] = 20,
                                            [MESSAGE_EPOCH] = 3});
    world_keep(&world);
    return world;
}

/* A value that a cell, a key, a weight or a ceiling may have. */
static inline int64_t bundles_number(uint64_t *random)
{
    static const int64_t numbers[] = {JOB, ACTIVITY, GUID, TASK,    MESSAGE,   NOBODY,
                                      1,   3,        10,   1000000, 100000000, 10000000000};
    return numbers[random_below(random, COUNT(numbers))];
}

/* Keys that fit the operation more often than not, so that bundles get somewhere. */
static inline int64_t bundles_key(uint64_t *random, const struct primitive *primitive)
{
    static const int64_t keys[TABLE_COUNT] = {JOB, ACTIVITY, TASK, GUID, 55, 56, 57, MESSAGE};
    return random_one_in(random, 4) ? (int64_t)random_below(random, 6) + 50
                                    : keys[primitive->ops[0].table];
}

static inline void bundles_draw(uint64_t *random, struct bundle *bundle)
{
    bundle_begin(bundle, BUNDLE_STEP2);
    for (uint64_t calls = 1 + random_below(random, 5); calls > 0; calls--) {
        enum primitive_id id = (enum primitive_id)random_below(random, PRIMITIVE_COUNT);
        const struct primitive *primitive = &primitive_table[id];
        int64_t *p = bundle_append(bundle, id, (enum call_mode)random_below(random, 3),
                                   random_one_in(random, 2) ? 0 : 8);
        for (int i = 0; i < primitive->params; i++) {
            p[i] = bundles_number(random);
        }
        p[0] = bundles_key(random, primitive);
    }
}

#endif
