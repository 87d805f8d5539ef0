#include "reports/server.h"

#include "reports/line.h"

static void add(json_t *sums, const char *name, json_int_t more)
{
    uint64_t sum = evidence_sum_of(evidence_number(sums, name), more);
    json_object_set_new(sums, name, json_integer((json_int_t)sum));
}

static void add_all(json_t *sums, const json_t *counts)
{
    const char *name;
    json_t *count;
    json_object_foreach((json_t *)counts, name, count)
    {
        add(sums, name, json_integer_value(count));
    }
}

static json_t *faults(const json_t *planned, const json_t *hit)
{
    json_t *list = json_array(), *ignored;
    const char *kind;
    json_object_foreach((json_t *)hit, kind, ignored)
    {
        json_array_append_new(list, json_pack("{s:s, s:I, s:I}", "kind", kind, "planned",
                                              (json_int_t)evidence_number(planned, kind), "hit",
                                              (json_int_t)evidence_number(hit, kind)));
    }
    return list;
}

json_t *report_server(const struct evidence *evidence)
{
    static const enum line_key keys[] = {LINE_KEY_commits,
                                         LINE_KEY_acknowledged,
                                         LINE_KEY_forgotten,
                                         LINE_KEY_unknown_committed,
                                         LINE_KEY_unknown_lost,
                                         LINE_KEY_concluded_done,
                                         LINE_KEY_concluded_not_done,
                                         LINE_KEY_misjudged,
                                         LINE_KEY_unexplained};
    json_t *sums = json_object(), *planned = json_object(), *hit = json_object();
    size_t i;
    json_t *line;
    json_array_foreach(evidence->lines, i, line)
    {
        if (!line_is(line, LINE_REAL) || line_get_kinds(line) == NULL) {
            continue;
        }
        for (size_t k = 0; k < COUNT(keys); k++) {
            add(sums, line_key_text(keys[k]), (json_int_t)line_read_count(line, keys[k]));
        }
        add_all(planned, line_get_planned_kinds(line));
        add_all(hit, line_get_kinds(line));
    }
    bool any = json_object_size(hit) > 0;
    json_object_set_new(sums, "faults", faults(planned, hit));
    json_decref(planned);
    json_decref(hit);
    if (!any) {
        json_decref(sums);
        sums = json_null();
    }
    return sums;
}
