#include "real/presets.h"

#include "model/check.h"
#include "model/text.h"
#include "real/history_line.h"
#include "real/part.h"
#include "real/schema.h"

#include <inttypes.h>
#include <stdio.h>

static const struct real_part_preset *preset_of(const struct scenario *scenario)
{
    return real_part_preset(scenario->protocol);
}

void presets_script(const char *schema, char script[PRESETS_SCRIPT_SIZE])
{
    struct text page = text_begin(script, PRESETS_SCRIPT_SIZE);
    text_put(&page, "CREATE TABLE %s." HISTORY_LEAVES_OUT " (id bigint PRIMARY KEY);\n", schema);
}

/* A row that others have committed has had its preset in their transaction: what has none is new. */
enum row_table presets_statement(const struct scenario *scenario, const char *schema,
                                 char statement[PRESETS_SCRIPT_SIZE])
{
    const struct real_part_preset *part = preset_of(scenario);
    struct text page = text_begin(statement, PRESETS_SCRIPT_SIZE);
    CHECK(part != NULL);
    const char *ledger = schema_column(part->table, part->ledger);
    const char *inserted = schema_table(part->inserted);
    text_put(&page,
             "WITH due AS (INSERT INTO %s." HISTORY_LEAVES_OUT " SELECT id FROM %s.%s AS i WHERE "
             "NOT EXISTS (SELECT FROM %s." HISTORY_LEAVES_OUT " AS had WHERE had.id = i.id) "
             "RETURNING id) UPDATE %s.%s AS t SET %s = t.%s + preset.amount FROM due, %s.%s AS i, "
             "(VALUES (NULL::bigint, 0::bigint)",
             schema, schema, inserted, schema, schema, schema_table(part->table), ledger, ledger,
             schema, inserted);
    for (uint16_t n = 0; n < scenario->graph.node_count; n++) {
        int64_t amount = part->amount(&scenario->graph.nodes[n]);
        if (amount != 0) {
            text_put(&page, ", (%d, %" PRId64 ")", (int)n, amount);
        }
    }
    text_put(&page,
             ") AS preset (node, amount) WHERE i.id = due.id AND t.id = i.%s AND t.%s = "
             "preset.node",
             part->of < 0 ? "id" : schema_column(part->inserted, part->of),
             schema_column(part->table, part->node));
    return part->inserted;
}

bool presets_due(const struct scenario *scenario, const struct history_change *change,
                 enum row_table *table, int64_t *key)
{
    const struct real_part_preset *part = preset_of(scenario);
    if (part == NULL || change->table != part->inserted || change->kind != ROW_INSERTED) {
        return false;
    }
    *table = part->table;
    *key = change->row[1 + part->of]; /* the key stands in front of the columns */
    return true;
}

int64_t presets_of(const struct scenario *scenario, const int64_t *row, int *ledger)
{
    const struct real_part_preset *part = preset_of(scenario);
    CHECK(part != NULL);
    int64_t node = row[1 + part->node];
    *ledger = part->ledger;
    return node >= 0 && node < scenario->graph.node_count
               ? part->amount(&scenario->graph.nodes[node])
               : 0;
}
