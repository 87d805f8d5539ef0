#include "real/presets.h"

#include "model/check.h"
#include "model/text.h"
#include "real/part.h"
#include "real/schema.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static const struct real_part_preset *preset_of(const struct scenario *scenario)
{
    return real_part_preset(scenario->protocol);
}

void presets_script(const struct scenario *scenario, const char *schema,
                    char script[PRESETS_SCRIPT_SIZE])
{
    const struct real_part_preset *part = preset_of(scenario);
    struct text page = text_begin(script, PRESETS_SCRIPT_SIZE);
    CHECK(part != NULL);
    const char *ledger = schema_column(part->table, part->ledger);
    text_put(
        &page,
        "CREATE FUNCTION %s.preset() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "UPDATE %s.%s AS t SET %s = t.%s + preset.amount FROM (VALUES (NULL::bigint, 0::bigint)",
        schema, schema, schema_table(part->table), ledger, ledger);
    for (uint16_t n = 0; n < scenario->graph.node_count; n++) {
        int64_t amount = part->amount(&scenario->graph.nodes[n]);
        if (amount != 0) {
            text_put(&page, ", (%d, %" PRId64 ")", (int)n, amount);
        }
    }
    text_put(
        &page,
        ") AS preset (node, amount) WHERE t.id = NEW.%s AND t.%s = preset.node; RETURN NULL; END "
        "$$;\nCREATE CONSTRAINT TRIGGER preset AFTER INSERT ON %s.%s DEFERRABLE INITIALLY "
        "DEFERRED FOR EACH ROW EXECUTE FUNCTION %s.preset();\n",
        part->of < 0 ? "id" : schema_column(part->inserted, part->of),
        schema_column(part->table, part->node), schema, schema_table(part->inserted), schema);
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
