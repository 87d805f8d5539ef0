/* Which rows each commit changed, in the order of commits: logical decoding of the run's database. */
#include "wire/trial_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOT "assay_wire"

void trial_rows_begin(struct trial *trial)
{
    char text[JUDGE_TEXT_SIZE];
    if (trial->plan->rows &&
        judge_rows(trial->judge,
                   "SELECT pg_create_logical_replication_slot('" SLOT "', 'test_decoding')",
                   text) != JUDGE_HOLDS) {
        trial_end(trial, TRIAL_FAILED, "", "rows cannot be followed: %s", text);
    }
}

/* "table public.jobs: UPDATE: id[integer]:1 status[text]:'done'" becomes
 * "jobs UPDATE id:1 status:'done'". */
static void write_change(const char *change, char *text, size_t size)
{
    static const char schema[] = "public.";
    size_t used = strlen(text);
    bool quoted = false;
    if (strncmp(change, "table ", 6) != 0) {
        return;
    }
    change += 6;
    change += strncmp(change, schema, strlen(schema)) == 0 ? strlen(schema) : 0;
    if (used > 0 && used + 2 < size) {
        used += (size_t)snprintf(text + used, size - used, "; ");
    }
    for (; *change != '\0' && used + 1 < size; change++) {
        quoted = quoted != (*change == '\'');
        if (!quoted && *change == '[') { /* the type, which may itself end in [] */
            const char *colon = strstr(change, "]:");
            change = colon == NULL ? change : colon;
            continue;
        }
        if (!quoted && *change == ':' && change[1] == ' ') {
            continue;
        }
        text[used++] = *change;
    }
    text[used] = '\0';
}

static struct trial_commit *find_commit(struct trial_result *result, unsigned xid)
{
    for (size_t i = 0; i < result->commit_count; i++) {
        if ((result->commits[i].xid & UINT32_MAX) == xid) {
            return &result->commits[i];
        }
    }
    return NULL;
}

void trial_rows_end(struct trial *trial)
{
    if (!trial->plan->rows || trial->judge == NULL) {
        return;
    }
    PGresult *changes =
        PQexec(trial->judge, "SELECT xid, data FROM pg_logical_slot_get_changes('" SLOT
                             "', NULL, NULL, 'include-xids', '0', 'skip-empty-xacts', '1')");
    for (int i = 0; i < PQntuples(changes); i++) { /* none, if it failed */
        struct trial_commit *commit =
            find_commit(trial->result, (unsigned)strtoul(PQgetvalue(changes, i, 0), NULL, 10));
        if (commit != NULL) {
            write_change(PQgetvalue(changes, i, 1), commit->rows, sizeof commit->rows);
        }
    }
    PQclear(changes);
    PQclear(PQexec(trial->judge, "SELECT pg_drop_replication_slot('" SLOT "')"));
}
