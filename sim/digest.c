#include "sim/digest.h"

#include "model/table.h"

/* ---- names ----------------------------------------------------------------------------------- */

static const char *const turn_names[RUN_TURN_COUNT] = {[RUN_TRANSACTION] = "transaction",
                                                       [RUN_CRASH] = "crash",
                                                       [RUN_PAUSE] = "pause",
                                                       [RUN_ENVIRONMENT] = "environment",
                                                       [RUN_SETTLE] = "settle",
                                                       [RUN_STOPS] = "stops",
                                                       [RUN_WAITS] = "waits",
                                                       [RUN_LANDS] = "lands"};

static const char *const outcome_names[OUTCOME_KIND_COUNT] = {[OUTCOME_NONE] = "none",
                                                              [OUTCOME_COMMITTED] = "committed",
                                                              [OUTCOME_REFUSED] = "refused",
                                                              [OUTCOME_ABORTED] = "aborted",
                                                              [OUTCOME_UNKNOWN] = "unknown"};

/* FNV-1a, and a finish that spreads the last characters over all bits. */
uint64_t digest_name(uint64_t class, const char *name)
{
    uint64_t hash = class ^ UINT64_C(0xCBF29CE484222325);
    for (; *name != '\0'; name++) {
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001B3);
    }
    hash = (hash ^ hash >> 33) * UINT64_C(0xFF51AFD7ED558CCD);
    return hash ^ hash >> 33;
}

static void digest_name_table(struct digest_names *names, enum row_table table)
{
    const struct table *described = table_get(table);
    uint64_t cells = digest_name(digest_name(0, "cell"), described->name);
    names->inserted[table] = digest_name(digest_name(0, "inserted"), described->name);
    names->deleted[table] = digest_name(digest_name(0, "deleted"), described->name);
    names->cell[table][0] = digest_name(digest_name(cells, "key"), "");
    for (uint32_t c = 0; c < described->columns; c++) {
        names->cell[table][1 + c] = digest_name(cells, described->column[c].name);
    }
}

void digest_names_make(struct digest_names *names, const struct rows *rows)
{
    uint64_t turns = digest_name(0, "turn"), faults = digest_name(0, "fault");
    uint64_t bundles = digest_name(0, "bundle"), outcomes = digest_name(0, "outcome");
    uint64_t refusals = digest_name(0, "refusal"), aborts = digest_name(0, "abort");
    for (int i = 0; i < RUN_TURN_COUNT; i++) {
        names->turn[i] = digest_name(turns, turn_names[i]);
    }
    for (int i = 0; i < FAULT_KIND_COUNT; i++) {
        names->fault[i] = digest_name(faults, fault_get((enum fault_kind)i)->name);
    }
    for (int i = 0; i < BUNDLE_NAME_COUNT; i++) {
        names->bundle[i] = digest_name(bundles, bundle_name_text((enum bundle_name)i));
    }
    for (int i = 0; i < OUTCOME_KIND_COUNT; i++) {
        names->outcome[i] = digest_name(outcomes, outcome_names[i]);
    }
    for (int i = 0; i < REFUSAL_COUNT; i++) {
        names->refusal[i] = digest_name(refusals, refusal_text((enum refusal)i));
    }
    for (int i = 0; i < ABORT_CLASS_COUNT; i++) {
        names->aborted[i] = digest_name(aborts, abort_class_text((enum abort_class)i));
    }
    for (int t = 0; t < TABLE_COUNT; t++) {
        if (rows->table[t].capacity > 0) {
            digest_name_table(names, (enum row_table)t);
        }
    }
}

/* ---- mixing ---------------------------------------------------------------------------------- */

static inline uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9FB21C651E98DF25);
    return hash ^ (hash >> 35);
}

/* Two words at the cost of one: mixing the first does not wait for the hash. */
static inline uint64_t mix_pair(uint64_t hash, uint64_t first, uint64_t second)
{
    return mix(hash, first * UINT64_C(0xD6E8FEB86659FD93) + second);
}

/* A sum over the cells, so that their order does not matter (DG2). */
static uint64_t mix_row(uint64_t hash, const struct row_area *area, uint32_t slot,
                        const uint64_t *names)
{
    const int64_t *row = &area->cells[(size_t)slot * area->stride];
    uint64_t sum = 0;
    for (uint32_t c = 0; c < area->stride; c++) {
        uint64_t cell = ((uint64_t)row[c] ^ names[c]) * UINT64_C(0xD6E8FEB86659FD93);
        sum += cell ^ cell >> 32;
    }
    return mix(hash, sum);
}

uint64_t digest_changes(const struct digest_names *names, uint64_t digest, const struct rows *rows,
                        const struct row_change *changes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct row_change *change = &changes[i];
        uint8_t table = change->table;
        uint32_t slot = change->slot;
        if (change->kind == ROW_UPDATED) {
            int64_t after = row_get(rows, (enum row_table)table, slot, change->column);
            digest =
                mix_pair(digest, names->cell[table][1 + change->column] + slot, (uint64_t)after);
        } else if (change->kind == ROW_INSERTED) {
            digest = mix(digest, names->inserted[table] + slot);
            digest = mix_row(digest, &rows->table[table], slot, names->cell[table]);
        } else {
            digest = mix(digest, names->deleted[table] + slot);
        }
    }
    return digest;
}

static uint64_t mix_effect(uint64_t hash, const struct side_effect *effect)
{
    hash = mix(hash, (uint64_t)effect->what);
    hash = mix(hash, (uint64_t)effect->claim);
    return mix(hash, (uint64_t)effect->epoch);
}

uint64_t digest_step(const struct run *run, const struct run_event *event)
{
    const struct digest_names *names = run->names;
    uint64_t now = (uint64_t)run->world.now;
    uint64_t hash =
        mix(run->result.digest, (names->turn[event->turn] + names->fault[event->fault]) ^
                                    ((uint64_t)event->actor << 1 | (uint64_t)event->committed));
    if (event->turn == RUN_TRANSACTION || event->turn == RUN_LANDS) {
        const struct outcome *outcome = &run->outcome;
        hash = mix_pair(hash, now,
                        names->bundle[run->bundle.name] + names->outcome[outcome->kind] +
                            names->refusal[outcome->refusal] + names->aborted[outcome->aborted] +
                            outcome->skipped);
    } else {
        hash = mix(hash, now);
    }
    if (run->effect.what != 0) {
        hash = mix_effect(hash, &run->effect);
    }
    return digest_changes(names, hash, &run->world.rows, event->changes, event->change_count);
}
