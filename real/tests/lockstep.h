/* The simulated store and PostgreSQL side by side: every bundle goes to both, and whatever they
 * answer or leave in their rows must be the same. For suites that link assay_sim and assay_real. */
#ifndef REAL_TESTS_LOCKSTEP_H
#define REAL_TESTS_LOCKSTEP_H

#include "real/schema.h"
#include "real/store.h"
#include "real/text.h"
#include "sim/store.h"

#include <stdlib.h>
#include <string.h>

#define LOCKSTEP_SCHEMA "assay_lockstep"

struct lockstep {
    struct store_pg *store;
    const struct rows *rows; /* the simulation's */
    unsigned bundles;        /* compared so far */
    unsigned outcomes[5];    /* by kind */
    unsigned skips;
    char difference[600]; /* the first one; empty: none */
};

static inline bool lockstep_differs(const struct lockstep *both)
{
    return both->difference[0] != '\0';
}

/* ---- outcomes -------------------------------------------------------------------------------- */

static inline void lockstep_tell(struct lockstep *both, const struct bundle *bundle,
                                 const char *what, int64_t simulated, int64_t real)
{
    struct text text = text_begin(both->difference, sizeof both->difference);
    text_add(&text, "bundle %u (", both->bundles);
    for (uint8_t i = 0; i < bundle->count && text.used < 400; i++) {
        const struct call *call = &bundle->calls[i];
        text_add(&text, "%s%s/%d", i == 0 ? "" : ", ", primitive_table[call->primitive].name,
                 call->mode);
    }
    text_add(&text, "): %s: simulated %lld, real %lld", what, (long long)simulated,
             (long long)real);
}

static inline void lockstep_outcomes(struct lockstep *both, const struct bundle *bundle,
                                     const struct outcome *simulated, const struct outcome *real)
{
    both->bundles++;
    both->outcomes[real->kind]++;
    both->skips += real->kind == OUTCOME_COMMITTED && real->skipped != 0;
    if (simulated->kind != real->kind) {
        lockstep_tell(both, bundle, "outcome", simulated->kind, real->kind);
    } else if (simulated->refusal != real->refusal) {
        lockstep_tell(both, bundle, "refusal", simulated->refusal, real->refusal);
    } else if (simulated->skipped != real->skipped) {
        lockstep_tell(both, bundle, "skipped", simulated->skipped, real->skipped);
    }
    for (int v = 0; v < BUNDLE_VALUES_MAX && simulated->kind == OUTCOME_COMMITTED; v++) {
        if (simulated->values[v] != real->values[v]) {
            lockstep_tell(both, bundle, "a value", simulated->values[v], real->values[v]);
        }
    }
    bool claims = bundle->calls[0].primitive == PRIMITIVE_CLAIM;
    for (int i = 0; claims && simulated->kind == OUTCOME_COMMITTED && i <= MESSAGE_COLUMNS; i++) {
        if (simulated->message[i] != real->message[i]) {
            lockstep_tell(both, bundle, "claimed message", simulated->message[i], real->message[i]);
        }
    }
}

/* Sends the bundle to PostgreSQL and compares what the simulation answered. */
static inline void lockstep_execute(struct lockstep *both, const struct bundle *bundle,
                                    const struct outcome *simulated)
{
    struct outcome real;
    if (store_pg_execute(both->store, bundle, simulated->now, &real)) {
        lockstep_outcomes(both, bundle, simulated, &real);
    } else {
        snprintf(both->difference, sizeof both->difference, "%s", store_pg_why_not(both->store));
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct lockstep_table {
    struct lockstep *both;
    enum row_table table;
    uint32_t seen;
};

static inline void lockstep_row(void *context, const int64_t *row)
{
    struct lockstep_table *at = context;
    struct lockstep *both = at->both;
    uint32_t slot = row_find(both->rows, at->table, row[0]);
    at->seen++;
    for (int c = -1; c < schema_columns(at->table); c++) {
        if (slot == ROW_NONE || (c >= 0 && row_get(both->rows, at->table, slot, c) != row[1 + c])) {
            snprintf(both->difference, sizeof both->difference,
                     "after bundle %u: %s %lld, %s: real %lld, simulated %s", both->bundles,
                     schema_table(at->table), (long long)row[0],
                     c < 0 ? "id" : schema_column(at->table, c), (long long)row[1 + c],
                     slot == ROW_NONE ? "no such row" : "another");
            return;
        }
    }
}

static inline bool lockstep_is_there(const struct rows *rows, enum row_table table, uint32_t slot)
{
    return row_find(rows, table, row_key(rows, table, slot)) == slot;
}

static inline void lockstep_rows(struct lockstep *both)
{
    for (int t = 0; t < TABLE_COUNT && !lockstep_differs(both); t++) {
        struct lockstep_table at = {.both = both, .table = (enum row_table)t};
        uint32_t count = 0;
        for (uint32_t slot = 0; slot < both->rows->table[t].used; slot++) {
            count += lockstep_is_there(both->rows, at.table, slot);
        }
        bool read = store_pg_rows(both->store, at.table, lockstep_row, &at);
        if (!lockstep_differs(both) && (!read || at.seen != count)) {
            snprintf(both->difference, sizeof both->difference,
                     "after bundle %u: %s: %u rows simulated, %u real", both->bundles,
                     schema_table(at.table), count, at.seen);
        }
    }
}

/* Gives PostgreSQL a row of the simulation as it is, or takes it away: what the world around did to
 * it is nobody's bundle. */
static inline void lockstep_copy_row(struct lockstep *both, enum row_table table, uint32_t slot)
{
    char script[1024];
    struct text text = text_begin(script, sizeof script);
    const char *name = schema_table(table);
    long long key = row_key(both->rows, table, slot);
    if (!lockstep_is_there(both->rows, table, slot)) {
        text_add(&text, "DELETE FROM " LOCKSTEP_SCHEMA ".%s WHERE id = %lld", name, key);
    } else {
        text_add(&text, "INSERT INTO " LOCKSTEP_SCHEMA ".%s VALUES (%lld", name, key);
        for (int c = 0; c < schema_columns(table); c++) {
            text_add(&text, ", %lld", (long long)row_get(both->rows, table, slot, c));
        }
        text_add(&text, ") ON CONFLICT (id) DO UPDATE SET ");
        for (int c = 0; c < schema_columns(table); c++) {
            const char *column = schema_column(table, c);
            text_add(&text, "%s%s = excluded.%s", c == 0 ? "" : ", ", column, column);
        }
    }
    if (!store_pg_run(both->store, script)) {
        snprintf(both->difference, sizeof both->difference, "%s", store_pg_why_not(both->store));
    }
}

/* No rows; children go before their parents. */
static inline bool lockstep_empty(struct store_pg *store)
{
    char script[4096];
    struct text text = text_begin(script, sizeof script);
    for (int t = TABLE_COUNT - 1; t >= 0; t--) {
        text_add(&text, "DELETE FROM " LOCKSTEP_SCHEMA ".%s;", schema_table((enum row_table)t));
    }
    return store_pg_run(store, script);
}

#endif
