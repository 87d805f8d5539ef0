/* The simulated store and PostgreSQL side by side: every bundle goes to both, and whatever they
 * answer or leave in their rows must be the same. For suites that link assay_sim and assay_real. */
#ifndef REAL_TESTS_PAIR_H
#define REAL_TESTS_PAIR_H

#include "model/text.h"
#include "real/row_diff.h"
#include "real/schema.h"
#include "real/store.h"
#include "sim/store.h"

#include <stdlib.h>
#include <string.h>

#define PAIR_SCHEMA "assay_pair"

struct pair {
    struct store_pg *store;
    const struct rows *rows; /* the simulation's */
    unsigned bundles;        /* compared so far */
    unsigned outcomes[5];    /* by kind */
    unsigned skips;
    char difference[600]; /* the first one; empty: none */
};

static inline bool pair_differs(const struct pair *both)
{
    return both->difference[0] != '\0';
}

/* ---- outcomes -------------------------------------------------------------------------------- */

static inline void pair_tell(struct pair *both, const struct bundle *bundle, const char *what,
                             int64_t simulated, int64_t real)
{
    struct text text = text_begin(both->difference, sizeof both->difference);
    text_put(&text, "bundle %u (", both->bundles);
    for (uint8_t i = 0; i < bundle->count && text.used < 400; i++) {
        const struct call *call = &bundle->calls[i];
        text_put(&text, "%s%s/%d", i == 0 ? "" : ", ", primitive_table[call->primitive].name,
                 call->mode);
    }
    text_put(&text, "): %s: simulated %lld, real %lld", what, (long long)simulated,
             (long long)real);
}

static inline void pair_outcomes(struct pair *both, const struct bundle *bundle,
                                 const struct outcome *simulated, const struct outcome *real)
{
    both->bundles++;
    both->outcomes[real->kind]++;
    both->skips += real->kind == OUTCOME_COMMITTED && real->skipped != 0;
    if (simulated->kind != real->kind) {
        pair_tell(both, bundle, "outcome", simulated->kind, real->kind);
    } else if (simulated->refusal != real->refusal) {
        pair_tell(both, bundle, "refusal", simulated->refusal, real->refusal);
    } else if (simulated->skipped != real->skipped) {
        pair_tell(both, bundle, "skipped", simulated->skipped, real->skipped);
    }
    for (int v = 0; v < BUNDLE_VALUES_MAX && simulated->kind == OUTCOME_COMMITTED; v++) {
        if (simulated->values[v] != real->values[v]) {
            pair_tell(both, bundle, "a value", simulated->values[v], real->values[v]);
        }
    }
    bool claimed = simulated->message[0] != 0 || real->message[0] != 0;
    for (int i = 0; claimed && simulated->kind == OUTCOME_COMMITTED && i <= MESSAGE_COLUMNS; i++) {
        if (simulated->message[i] != real->message[i]) {
            pair_tell(both, bundle, "claimed message", simulated->message[i], real->message[i]);
        }
    }
}

/* Sends the bundle to PostgreSQL and compares what the simulation answered. */
static inline void pair_execute(struct pair *both, const struct bundle *bundle,
                                const struct outcome *simulated)
{
    struct outcome real;
    if (store_pg_execute(both->store, bundle, simulated->now, &real)) {
        pair_outcomes(both, bundle, simulated, &real);
    } else {
        snprintf(both->difference, sizeof both->difference, "%s", store_pg_why_not(both->store));
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

static inline void pair_rows(struct pair *both)
{
    for (int t = 0; t < TABLE_COUNT && !pair_differs(both); t++) {
        struct row_diff diff = {.rows = both->rows, .table = (enum row_table)t};
        if (!store_pg_rows(both->store, diff.table, row_diff_row, &diff)) {
            snprintf(both->difference, sizeof both->difference, "%s",
                     store_pg_why_not(both->store));
        } else if (!row_diff_is_same(&diff)) {
            snprintf(both->difference, sizeof both->difference, "after bundle %u: %s",
                     both->bundles, diff.difference);
        }
    }
}

/* Gives PostgreSQL a row of the simulation as it is, or takes it away: what the world around did to
 * it is nobody's bundle. */
static inline void pair_copy_row(struct pair *both, enum row_table table, uint32_t slot)
{
    char script[ROW_DIFF_TEXT_SIZE];
    struct text text = text_begin(script, sizeof script);
    row_diff_copy(&text, PAIR_SCHEMA, both->rows, table, slot);
    if (!store_pg_run(both->store, script)) {
        snprintf(both->difference, sizeof both->difference, "%s", store_pg_why_not(both->store));
    }
}

/* No rows; children go before their parents. */
static inline bool pair_empty(struct store_pg *store)
{
    char script[4096];
    struct text text = text_begin(script, sizeof script);
    for (int t = TABLE_COUNT - 1; t >= 0; t--) {
        text_put(&text, "DELETE FROM " PAIR_SCHEMA ".%s;", schema_table((enum row_table)t));
    }
    return store_pg_run(store, script);
}

#endif
