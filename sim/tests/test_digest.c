#include "model/table.h"
#include "sim/digest.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#define TABLES_ROOM 4

static void make(struct world *world, struct digest_names *names)
{
    struct world_capacity capacity = {.changes = 64};
    for (int t = 0; t < TABLE_COUNT; t++) {
        capacity.rows[t] = TABLES_ROOM;
    }
    cr_assert(world_make(world, &capacity));
    memset(names, 0, sizeof *names);
    digest_names_make(names, &world->rows);
}

/* (DG1): fixed values, which a change of an enum's order must leave alone. */
Test(digest, the_hash_of_a_name_is_made_of_the_name_and_its_class_alone)
{
    static struct digest_names names;
    struct world world;
    make(&world, &names);
    uint64_t bundles = digest_name(0, "bundle"), faults = digest_name(0, "fault");
    uint64_t refusals = digest_name(0, "refusal"), aborts = digest_name(0, "abort");
    cr_expect_eq(names.bundle[BUNDLE_CLAIM], digest_name(bundles, "claim"));
    cr_expect_eq(names.bundle[BUNDLE_SEQ_READ], digest_name(bundles, "read seq"));
    cr_expect_eq(names.outcome[OUTCOME_UNKNOWN], digest_name(digest_name(0, "outcome"), "unknown"));
    cr_expect_eq(names.turn[RUN_LANDS], digest_name(digest_name(0, "turn"), "lands"));
    cr_expect_eq(names.inserted[TABLE_TASK], digest_name(digest_name(0, "inserted"), "task"));
    cr_expect_eq(names.cell[TABLE_TASK][1 + TASK_RUNS],
                 digest_name(digest_name(digest_name(0, "cell"), "task"), "runs"));
    for (int i = 0; i < BUNDLE_NAME_COUNT; i++) {
        cr_expect_eq(names.bundle[i], digest_name(bundles, bundle_name_text((enum bundle_name)i)));
    }
    for (int i = 0; i < FAULT_KIND_COUNT; i++) {
        cr_expect_eq(names.fault[i], digest_name(faults, fault_get((enum fault_kind)i)->name));
    }
    for (int i = 0; i < REFUSAL_COUNT; i++) {
        cr_expect_eq(names.refusal[i], digest_name(refusals, refusal_text((enum refusal)i)));
    }
    for (int i = 0; i < ABORT_CLASS_COUNT; i++) {
        cr_expect_eq(names.aborted[i], digest_name(aborts, abort_class_text((enum abort_class)i)));
    }
    cr_expect_eq(digest_name(bundles, "claim"), UINT64_C(0x87D36FE67253E841));
    world_free(&world);
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

Test(digest, no_two_names_have_the_same_hash) /* DG3 */
{
    static struct digest_names names;
    static uint64_t all[sizeof names / sizeof(uint64_t)];
    struct world world;
    size_t count = 0;
    make(&world, &names);
    memcpy(all, &names, sizeof all);
    qsort(all, COUNT(all), sizeof *all, compare);
    for (size_t i = 1; i < COUNT(all); i++) {
        count += all[i] != 0; /* a table has fewer columns than there is room for */
        cr_expect(all[i] == 0 || all[i] != all[i - 1]);
    }
    cr_expect_gt(count, 300);
    world_free(&world);
}

/* Writes a row of each of two tables, whose columns are numbered as `order` says, and gives the
 * digest of that. */
static uint64_t digest_of_rows(const int order[static 3], int first, int second)
{
    static struct digest_names names;
    static const char *const tables[] = {"one", "other"}, *const columns[] = {"a", "b", "c"};
    int64_t cells[2][4] = {{0}};
    struct rows rows = {0};
    memset(&names, 0, sizeof names);
    for (int t = 0; t < 2; t++) {
        int table = t == 0 ? first : second;
        names.inserted[table] = digest_name(1, tables[t]);
        names.deleted[table] = digest_name(2, tables[t]);
        names.cell[table][0] = digest_name(3, tables[t]);
        cells[t][0] = 7 + t;
        for (int c = 0; c < 3; c++) {
            names.cell[table][1 + order[c]] = digest_name(names.cell[table][0], columns[c]);
            cells[t][1 + order[c]] = 100 * t + c;
        }
        rows.table[table] = (struct row_area){.cells = cells[t], .stride = 4, .used = 1};
    }
    const struct row_change changes[] = {
        {.table = (uint8_t)first, .kind = ROW_INSERTED},
        {.table = (uint8_t)second, .kind = ROW_INSERTED},
        {.table = (uint8_t)second, .kind = ROW_UPDATED, .column = (uint8_t)order[1]},
        {.table = (uint8_t)first, .kind = ROW_DELETED}};
    return digest_changes(&names, 1, &rows, changes, COUNT(changes));
}

Test(digest, the_order_of_tables_and_columns_does_not_matter) /* DG2 */
{
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    uint64_t expected = digest_of_rows(orders[0], TABLE_JOB, TABLE_TASK);
    for (size_t i = 0; i < COUNT(orders); i++) {
        cr_expect_eq(digest_of_rows(orders[i], TABLE_JOB, TABLE_TASK), expected);
        cr_expect_eq(digest_of_rows(orders[i], TABLE_SEQ, TABLE_JOB), expected);
    }
}

Test(digest, two_columns_that_exchange_their_values_make_a_difference)
{
    static struct digest_names names;
    struct world world;
    make(&world, &names);
    int64_t cells[2][1 + TASK_COLUMNS] = {{5, 1, 2}, {5, 2, 1}};
    uint64_t digests[2];
    for (int i = 0; i < 2; i++) {
        struct rows rows = {
            .table[TABLE_TASK] = {.cells = cells[i], .stride = 1 + TASK_COLUMNS, .used = 1}};
        const struct row_change change = {.table = TABLE_TASK, .kind = ROW_INSERTED};
        digests[i] = digest_changes(&names, 1, &rows, &change, 1);
    }
    cr_expect_neq(digests[0], digests[1]);
    world_free(&world);
}
