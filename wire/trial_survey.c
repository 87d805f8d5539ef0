/* What there is in a database that nobody has described yet: tables, their rows, and the values of
 * columns that look like a status. */
#include "wire/trial_state.h"

#include <stdio.h>
#include <string.h>

#define TABLES_MAX "40"

static void add(struct trial_result *result, const char *line)
{
    size_t used = strlen(result->survey);
    (void)snprintf(result->survey + used, sizeof result->survey - used, "%s\n", line);
}

/* "schema.table" quoted where it needs to be, and the name of its status column or nothing. */
static const char tables[] =
    "SELECT format('%I.%I', n.nspname, c.relname), coalesce((SELECT quote_ident(a.attname) FROM "
    "pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attname "
    "~ '(status|state|done|phase)' ORDER BY a.attnum LIMIT 1), '') FROM pg_class c JOIN "
    "pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p') AND NOT "
    "c.relispartition AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' "
    "ORDER BY 1 LIMIT " TABLES_MAX;

static void survey_table(struct trial *trial, const char *table, const char *status)
{
    char query[600];
    char line[JUDGE_TEXT_SIZE + 200];
    char rows[JUDGE_TEXT_SIZE];
    (void)snprintf(query, sizeof query, "SELECT count(*) FROM %s", table);
    if (judge_rows(trial->judge, query, rows) != JUDGE_HOLDS) {
        return;
    }
    (void)snprintf(line, sizeof line, "%s: %s rows", table, rows);
    if (status[0] != '\0') {
        (void)snprintf(query, sizeof query,
                       "SELECT string_agg(format('%%s (%%s)', v, n), ', ') FROM (SELECT %s::text "
                       "AS v, count(*) AS n FROM %s GROUP BY 1 ORDER BY 1 LIMIT 8) x",
                       status, table);
        if (judge_rows(trial->judge, query, rows) == JUDGE_HOLDS && rows[0] != '\0') {
            size_t used = strlen(line);
            (void)snprintf(line + used, sizeof line - used, "; %s: %s", status, rows);
        }
    }
    add(trial->result, line);
}

void trial_survey(struct trial *trial)
{
    if (trial->judge == NULL || trial->result->verdict != TRIAL_HELD) {
        return;
    }
    PGresult *list = PQexec(trial->judge, tables);
    for (int i = 0; i < PQntuples(list); i++) {
        survey_table(trial, PQgetvalue(list, i, 0), PQgetvalue(list, i, 1));
    }
    PQclear(list);
}
