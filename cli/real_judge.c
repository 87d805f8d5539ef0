#include "cli/real_judge.h"

#include "real/beside.h"
#include "real/history.h"

struct telling {
    struct run *run;
    struct real_verdict *verdict;
    int64_t transaction; /* the one under way; 0: none */
    size_t mark;
};

/* A transaction is complete: one commit for the oracles. */
static void end_commit(struct telling *telling)
{
    struct world *world = &telling->run->world;
    struct oracle *oracle = &telling->run->oracle;
    size_t count = world->change_count;
    if (telling->transaction == 0) {
        return;
    }
    telling->verdict->commits++;
    telling->verdict->changes += count;
    if (!telling->verdict->breach.broken) {
        telling->verdict->breach =
            oracle->monitors->commit(oracle, &world->rows, world->changes, count);
        telling->verdict->oracle = oracle->spoke;
    }
    world_keep(world);
}

static void apply(struct telling *telling, const struct history_change *change)
{
    struct world *world = &telling->run->world;
    uint32_t slot = row_find(&world->rows, change->table, change->row[0]);
    if ((change->kind == ROW_INSERTED) != (slot == ROW_NONE)) {
        telling->verdict->bug = "the history writes a row that is not there, or one that is";
    } else if (change->kind == ROW_INSERTED) {
        if (world_insert(world, change->table, change->row[0], change->row + 1) == ROW_NONE) {
            telling->verdict->bug = "the history has more rows than the scenario can have";
        }
    } else if (change->kind == ROW_DELETED) {
        world_delete(world, change->table, slot);
    } else {
        uint32_t columns = world->rows.table[change->table].stride - 1;
        for (uint32_t c = 0; c < columns; c++) {
            world_set(world, change->table, slot, (int)c, change->row[1 + c]);
        }
    }
}

static void tell(void *context, const struct history_change *change)
{
    struct telling *telling = context;
    if (change->transaction != telling->transaction) {
        end_commit(telling);
        telling->transaction = change->transaction;
    }
    if (telling->verdict->bug == NULL) {
        apply(telling, change);
    }
}

/* What the server has now is what its history says. */
static bool compare_rows(struct run *run, struct store_pg *store, struct real_verdict *verdict)
{
    uint64_t tables = protocol_get(run->scenario->protocol)->tables;
    for (int table = 0; table < TABLE_COUNT; table++) {
        if (!table_in(tables, (enum row_table)table)) {
            continue;
        }
        struct beside beside = {.rows = &run->world.rows, .table = (enum row_table)table};
        if (!store_pg_rows(store, beside.table, beside_row, &beside)) {
            return false;
        }
        if (!beside_is_same(&beside)) {
            verdict->bug = "the rows are not what their history says";
        }
    }
    return true;
}

bool real_judge(struct run *run, struct store_pg *store, const char *schema,
                struct real_verdict *verdict)
{
    *verdict = (struct real_verdict){.breach = oracle_fine()};
    world_reset(&run->world);
    run_begin_oracle(run);
    struct telling telling = {.run = run, .verdict = verdict};
    if (!history_read(store, schema, tell, &telling)) {
        return false;
    }
    end_commit(&telling);
    if (verdict->bug == NULL && !compare_rows(run, store, verdict)) {
        return false;
    }
    if (verdict->bug == NULL && !verdict->breach.broken) {
        verdict->breach = run->oracle.monitors->settled(&run->oracle, &run->world.rows,
                                                        run_is_quiet(run), &run->crash_free.rows);
        verdict->oracle = run->oracle.spoke;
    }
    return true;
}
