/* Which rows each commit changed, in the order of commits: logical decoding of the run's database. */
#include "real/decoding.h"
#include "wire/trial_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOT "assay_wire"

void trial_rows_begin(struct trial *trial)
{
    if (trial->plan->rows && !decoding_begin(trial->judge, SLOT, false)) {
        trial_end(trial, TRIAL_FAILED, "", "rows cannot be followed: %s",
                  PQerrorMessage(trial->judge));
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

static void keep_line(void *context, const struct decoding_line *line)
{
    struct trial_commit *commit = find_commit(context, line->transaction);
    if (commit != NULL) {
        write_change(line->text, commit->rows, sizeof commit->rows);
    }
}

void trial_rows_end(struct trial *trial)
{
    if (trial->plan->rows && trial->judge != NULL) {
        (void)decoding_read(trial->judge, SLOT, 0, keep_line, trial->result);
        (void)decoding_end(trial->judge, SLOT);
    }
}
