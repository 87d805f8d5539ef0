#include "cli/wire_lock.h"

#include "reports/artefacts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD      "assay wire lock 1\n"
#define LINE_SIZE (TRIAL_NAME_SIZE + SUBJECT_NAME_SIZE + POINT_TEXT_SIZE + 16)

bool wire_lock_read(struct wire_lock *lock, const char *path, char *why, size_t size)
{
    size_t length;
    lock->text = NULL;
    if (access(path, F_OK) != 0 && errno == ENOENT) {
        return true;
    }
    lock->text = artefacts_read(path, &length);
    if (lock->text == NULL) {
        (void)snprintf(why, size, "%.200s cannot be read: %s", path, strerror(errno));
        return false;
    }
    if (strncmp(lock->text, HEAD, strlen(HEAD)) != 0) {
        (void)snprintf(why, size,
                       "%.200s is no wire.lock: its first line should be 'assay wire lock 1'",
                       path);
        wire_lock_free(lock);
        return false;
    }
    return true;
}

void wire_lock_free(struct wire_lock *lock)
{
    free(lock->text);
    lock->text = NULL;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void commit_line(const struct trial_commit *commit, char line[LINE_SIZE])
{
    (void)snprintf(line, LINE_SIZE, "commit %c %s\n", commit->worker, commit->name);
}

static void finding_line(const struct probe_finding *finding, char line[LINE_SIZE])
{
    (void)snprintf(line, LINE_SIZE, "finding %s %s %s\n", finding->broken,
                   finding->points[finding->count - 1].fault->name, finding->commit);
}

static bool has_line(const char *text, const char *line)
{
    size_t length = strlen(line);
    for (const char *at = text; at != NULL && *at != '\0';) {
        if (strncmp(at, line, length) == 0) {
            return true;
        }
        at = strchr(at, '\n');
        at = at == NULL ? NULL : at + 1;
    }
    return false;
}

bool wire_lock_has_commit(const struct wire_lock *lock, const struct trial_commit *commit)
{
    char line[LINE_SIZE];
    commit_line(commit, line);
    return has_line(lock->text, line);
}

bool wire_lock_has_finding(const struct wire_lock *lock, const struct probe_finding *finding)
{
    char line[LINE_SIZE];
    finding_line(finding, line);
    return has_line(lock->text, line);
}

/* ---- writing --------------------------------------------------------------------------------- */

struct lines {
    char (*list)[LINE_SIZE];
    size_t count;
};

static void wire_lock_add(struct lines *lines, const char *line)
{
    for (size_t i = 0; i < lines->count; i++) {
        if (strcmp(lines->list[i], line) == 0) {
            return;
        }
    }
    (void)snprintf(lines->list[lines->count++], LINE_SIZE, "%s", line);
}

static int wire_lock_compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* What the trace has now, and the findings of both: a partial sweep does not try the old ones. */
static void collect(struct lines *lines, const struct wire_lock *lock,
                    const struct probe_result *result)
{
    char line[LINE_SIZE];
    for (size_t i = 0; i < result->trace.count; i++) {
        commit_line(&result->trace.commits[i], line);
        wire_lock_add(lines, line);
    }
    for (size_t i = 0; i < result->finding_count; i++) {
        if (probe_counts(&result->findings[i])) {
            finding_line(&result->findings[i], line);
            wire_lock_add(lines, line);
        }
    }
    for (const char *at = lock->text; at != NULL && *at != '\0' && lines->count < 2000;) {
        size_t length = strcspn(at, "\n");
        if (strncmp(at, "finding ", 8) == 0 && length + 2 < LINE_SIZE) {
            (void)snprintf(line, sizeof line, "%.*s\n", (int)length, at);
            wire_lock_add(lines, line);
        }
        at += length + (at[length] == '\n');
    }
}

bool wire_lock_write(const struct wire_lock *lock, const char *path,
                     const struct probe_result *result)
{
    struct lines lines = {.list = calloc(TRIAL_COMMITS_MAX + 2048, sizeof *lines.list)};
    FILE *out = lines.list == NULL ? NULL : fopen(path, "w");
    if (out == NULL) {
        free(lines.list);
        return false;
    }
    collect(&lines, lock, result);
    qsort(lines.list, lines.count, sizeof *lines.list, wire_lock_compare);
    fputs(HEAD, out);
    for (size_t i = 0; i < lines.count; i++) {
        fputs(lines.list[i], out);
    }
    free(lines.list);
    return fclose(out) == 0;
}
