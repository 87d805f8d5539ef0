#include "bench/spin/peer.h"

/* By activity of the run without faults, four bits: what was executed. */
enum executed { EXECUTED_STEP3 = 1, EXECUTED_STEP2 = 2, EXECUTED_STEP1 = 4, EXECUTED_LEG1 = 8 };
#define BITS       4
#define ACTIVITIES 16

/* Which bit a transaction stands for; 0: none. Of an unbundled Step 2 the half that moves the
 * semaphore. */
static uint64_t bit_of(const struct run *run)
{
    switch ((int)run->bundle.name) {
    case BUNDLE_LEG1:
        return EXECUTED_LEG1;
    case BUNDLE_STEP1:
        return EXECUTED_STEP1;
    case BUNDLE_STEP3:
        return EXECUTED_STEP3;
    case BUNDLE_STEP2:
        break;
    default:
        return 0;
    }
    for (unsigned c = 0; c < run->bundle.count; c++) {
        const struct primitive *primitive = &run->primitives[run->bundle.calls[c].primitive];
        for (unsigned o = 0; o < primitive->op_count; o++) {
            if (primitive->ops[o].table == TABLE_JOB && primitive->ops[o].kind == OP_ADD) {
                return EXECUTED_STEP2;
            }
        }
    }
    return 0;
}

/* It was done, or got beyond its marker and was refused because it had been done before. */
static bool was_executed(const struct outcome *outcome)
{
    return outcome->kind == OUTCOME_REFUSED ? outcome->skipped > 1 : outcome->skipped == 0;
}

static bool has_other_digit(int64_t ledger)
{
    for (int64_t markers = ledger / 100000000 % 10000; markers > 0; markers /= 10) {
        if (markers % 10 > 1) {
            return true;
        }
    }
    return false;
}

/* Markers and the semaphore, where they changed. */
static bool rows_hold(const struct run *run, size_t mark)
{
    const struct world *world = &run->world;
    for (size_t i = mark; i < world->change_count; i++) {
        const struct row_change *change = &world->changes[i];
        enum row_table table = (enum row_table)change->table;
        int column = table == TABLE_ACTIVITY ? (int)ACTIVITY_LEDGER
                     : table == TABLE_GUID   ? (int)GUID_LEDGER
                     : table == TABLE_JOB    ? (int)JOB_SEMAPHORE
                                             : -1;
        int64_t value = column < 0 ? 0 : row_get(&world->rows, table, change->slot, column);
        if (table == TABLE_JOB ? value < 0 : has_other_digit(value)) {
            return false;
        }
    }
    return true;
}

static int64_t semaphore(const struct run *run)
{
    return row_get(&run->world.rows, TABLE_JOB, 0, JOB_SEMAPHORE);
}

static bool step_holds(struct walk *walk, const struct walk_record *record, uint64_t bit)
{
    const struct run *run = &walk->run;
    const int64_t *message = record->performer.role->message(&record->performer.actor);
    uint32_t slot = row_find(&run->crash_free.rows, TABLE_ACTIVITY, message[1 + MESSAGE_ACTIVITY]);
    if (slot >= ACTIVITIES) {
        return true;
    }
    uint64_t flag = bit << (BITS * slot);
    if ((walk->watched & flag) != 0 || (bit == EXECUTED_STEP3 && semaphore(run) != 0)) {
        return false;
    }
    walk->watched |= flag;
    return true;
}

static bool rest_holds(const struct walk *walk)
{
    const struct run *run = &walk->run;
    uint32_t activities = run->crash_free.rows.table[TABLE_ACTIVITY].used;
    const uint64_t all = EXECUTED_LEG1 | EXECUTED_STEP1 | EXECUTED_STEP2;
    unsigned closers = 0;
    bool done = true;
    for (uint32_t a = 0; a < activities && a < ACTIVITIES; a++) {
        uint64_t bits = walk->watched >> (BITS * a);
        done = done && (bits & all) == all;
        closers += (bits & EXECUTED_STEP3) != 0;
    }
    return done && closers == 1 && semaphore(run) == 0;
}

bool peer_watch(struct walk *walk, const struct walk_record *record)
{
    if (record == NULL) {
        return rest_holds(walk);
    }
    if (record->move.kind != WALK_STEP || record->move.actor == 0) {
        return true;
    }
    uint64_t bit = bit_of(&walk->run);
    return rows_hold(&walk->run, record->changes) &&
           (bit == 0 || !was_executed(&walk->run.outcome) || step_holds(walk, record, bit));
}
