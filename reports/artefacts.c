#include "reports/artefacts.h"

#include "reports/report.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SAVE_SECONDS 1.0

static double seconds_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* The first problem is the one that is told. */
static bool artefacts_complain(struct artefacts *artefacts, const char *path, const char *what)
{
    if (artefacts->problem[0] == '\0') {
        snprintf(artefacts->problem, sizeof artefacts->problem, "%.200s %.80s", path, what);
    }
    return false;
}

/* ---- the folder ------------------------------------------------------------------------------ */

static bool is_empty(const char *path)
{
    DIR *folder = opendir(path);
    int entries = 0;
    while (folder != NULL && entries <= 2 && readdir(folder) != NULL) {
        entries++; /* . and .. are always there */
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return folder != NULL && entries <= 2;
}

bool artefacts_claim(struct artefacts *artefacts, const char *folder)
{
    artefacts->folder = folder;
    if (mkdir(artefacts->folder, 0777) == 0) {
        return true;
    }
    if (errno != EEXIST) {
        char why[80];
        snprintf(why, sizeof why, "cannot be made: %.60s", strerror(errno));
        return artefacts_complain(artefacts, artefacts->folder, why);
    }
    return is_empty(artefacts->folder) ||
           artefacts_complain(
               artefacts, artefacts->folder,
               "exists and is no empty folder; nothing is written over, choose another one");
}

/* The folders between the folder and the file. */
static void make_parents(const struct artefacts *artefacts, const char *name)
{
    char path[ARTEFACTS_PATH_SIZE];
    for (const char *slash = strchr(name, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        snprintf(path, sizeof path, "%s/%.*s", artefacts->folder, (int)(slash - name), name);
        mkdir(path, 0777);
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool write_parts(FILE *file, const char *first, size_t first_length, const char *second,
                        size_t second_length)
{
    return fwrite(first, 1, first_length, file) == first_length &&
           fwrite(second, 1, second_length, file) == second_length;
}

/* Beside its place, then moved there. */
static bool put(struct artefacts *artefacts, const char *name, const char *first,
                size_t first_length, const char *second, size_t second_length)
{
    char path[ARTEFACTS_PATH_SIZE], beside[ARTEFACTS_PATH_SIZE + 8];
    snprintf(path, sizeof path, "%s/%s", artefacts->folder, name);
    snprintf(beside, sizeof beside, "%s.part", path);
    FILE *file = fopen(beside, "w");
    bool written = file != NULL && write_parts(file, first, first_length, second, second_length);
    if (file != NULL) {
        written = fclose(file) == 0 && written;
    }
    if (!written || rename(beside, path) != 0) {
        char why[100];
        snprintf(why, sizeof why, "could not be written: %.60s", strerror(errno));
        remove(beside);
        return artefacts_complain(artefacts, path, why);
    }
    return true;
}

bool artefacts_put(struct artefacts *artefacts, const char *name, const char *text, size_t length)
{
    if (artefacts->folder == NULL) {
        return true;
    }
    make_parents(artefacts, name);
    return put(artefacts, name, text, length, "", 0);
}

/* ---- findings -------------------------------------------------------------------------------- */

bool artefacts_put_finding(struct artefacts *artefacts, const char *finding, const char *file,
                           const char *text, size_t length)
{
    char name[ARTEFACTS_PATH_SIZE];
    snprintf(name, sizeof name, "findings/.%s/%s", finding, file);
    return artefacts_put(artefacts, name, text, length);
}

/* A folder of files. */
static void remove_folder(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        unlinkat(dirfd(folder), entry->d_name, 0); /* . and .. are no files and stay */
    }
    if (folder != NULL) {
        closedir(folder);
        rmdir(path);
    }
}

bool artefacts_place_finding(struct artefacts *artefacts, const char *finding)
{
    char beside[ARTEFACTS_PATH_SIZE], path[ARTEFACTS_PATH_SIZE], older[ARTEFACTS_PATH_SIZE],
        why[80];
    if (artefacts->folder == NULL) {
        return true;
    }
    snprintf(beside, sizeof beside, "%s/findings/.%s", artefacts->folder, finding);
    snprintf(path, sizeof path, "%s/findings/%s", artefacts->folder, finding);
    snprintf(older, sizeof older, "%s/findings/.%s.older", artefacts->folder, finding);
    if ((rename(path, older) == 0 || errno == ENOENT) && rename(beside, path) == 0) {
        remove_folder(older);
        return true;
    }
    snprintf(why, sizeof why, "could not be written: %.50s", strerror(errno));
    return artefacts_complain(artefacts, path, why);
}

char *artefacts_read(const char *path, size_t *length)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t capacity = 0;
    *length = 0;
    while (file != NULL && !feof(file) && !ferror(file)) {
        if (*length + 1 >= capacity) {
            capacity = capacity == 0 ? 1 << 16 : 2 * capacity;
            char *more = realloc(text, capacity);
            if (more == NULL) {
                break;
            }
            text = more;
        }
        *length += fread(text + *length, 1, capacity - 1 - *length, file);
    }
    bool whole = text != NULL && feof(file) && !ferror(file);
    if (file != NULL) {
        fclose(file);
    }
    if (!whole) {
        free(text);
        return NULL;
    }
    text[*length] = '\0';
    return text;
}

/* ---- results --------------------------------------------------------------------------------- */

static bool save(struct artefacts *artefacts, const char *more, size_t length)
{
    artefacts->saved = seconds_now();
    return put(artefacts, "results.jsonl", artefacts->lines == NULL ? "" : artefacts->lines,
               artefacts->length, more, length);
}

double artefacts_seconds(const struct artefacts *artefacts)
{
    return seconds_now() - artefacts->begun;
}

bool artefacts_is_due(const struct artefacts *artefacts)
{
    return artefacts->folder != NULL && seconds_now() - artefacts->saved >= SAVE_SECONDS;
}

static void append(struct artefacts *artefacts, const char *text, size_t length)
{
    if (artefacts->length + length > artefacts->capacity) {
        size_t capacity = 2 * (artefacts->length + length);
        char *lines = realloc(artefacts->lines, capacity);
        if (lines == NULL) {
            artefacts_complain(artefacts, "results:", "not enough memory for their lines");
            return;
        }
        artefacts->lines = lines;
        artefacts->capacity = capacity;
    }
    memcpy(artefacts->lines + artefacts->length, text, length);
    artefacts->length += length;
}

static void artefacts_keep(struct artefacts *artefacts, const json_t *line, FILE *echo)
{
    char *text = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(9));
    if (text == NULL) {
        artefacts_complain(artefacts, "a line", "could not be made");
        return;
    }
    if (echo != NULL) {
        fprintf(echo, "%s\n", text);
    }
    append(artefacts, text, strlen(text));
    append(artefacts, "\n", 1);
    if (artefacts_is_due(artefacts)) {
        save(artefacts, "", 0);
    }
    free(text);
}

void artefacts_line(struct artefacts *artefacts, json_t *line)
{
    artefacts_keep(artefacts, line, artefacts->echo);
    json_decref(line);
}

void artefacts_note(struct artefacts *artefacts, json_t *line)
{
    artefacts_keep(artefacts, line, NULL);
    json_decref(line);
}

void artefacts_peek(struct artefacts *artefacts, const char *lines, size_t length)
{
    if (artefacts->folder != NULL) {
        save(artefacts, lines, length);
    }
}

bool artefacts_open(struct artefacts *artefacts, const char *folder, FILE *echo)
{
    *artefacts = (struct artefacts){.folder = folder, .echo = echo, .begun = seconds_now()};
    return folder == NULL || (artefacts_claim(artefacts, folder) && save(artefacts, "", 0));
}

bool artefacts_close(struct artefacts *artefacts)
{
    bool kept = artefacts->folder == NULL || save(artefacts, "", 0);
    if (kept && artefacts->folder != NULL) {
        kept = report_derive(artefacts);
    }
    free(artefacts->lines);
    artefacts->lines = NULL;
    artefacts->length = artefacts->capacity = 0;
    return kept && artefacts->problem[0] == '\0';
}
