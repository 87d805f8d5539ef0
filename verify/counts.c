#include "verify/counts.h"

#include "reports/line.h"

void counts_form(json_t *line, const struct scenario *scenario)
{
    if (scenario->protocol->merges) {
        line_add(line, line_form(scenario->merged ? "merged" : "literal"));
    }
}

json_t *counts_evaluated(const uint64_t evaluated[CLAUSE_COUNT])
{
    json_t *object = json_object();
    for (int c = 0; c < CLAUSE_COUNT; c++) {
        if (evaluated[c] > 0) {
            json_object_set_new(object, clause_get((enum clause_id)c)->id,
                                json_integer((json_int_t)evaluated[c]));
        }
    }
    return object;
}

json_t *counts_seen(const uint64_t seen[COVER_COUNT])
{
    json_t *object = json_object();
    for (int i = 0; i < COVER_COUNT; i++) {
        if (seen[i] > 0) {
            json_object_set_new(object, oracle_cover_text((enum oracle_cover)i),
                                json_integer((json_int_t)seen[i]));
        }
    }
    return object;
}
