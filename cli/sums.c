#include "cli/sums.h"

#include "model/check.h"

#include <dirent.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HASH_DIGITS 64
#define DEPTH_MAX   32 /* folders in folders */

struct sums_hash sums_hash(const char *bytes, size_t length)
{
    struct sums_hash hash = {""};
    unsigned char digest[EVP_MAX_MD_SIZE];
    size_t size = 0;
    if (EVP_Q_digest(NULL, "SHA256", NULL, bytes, length, digest, &size) == 1) {
        for (size_t i = 0; i < size && 2 * i + 2 < sizeof hash.text; i++) {
            snprintf(&hash.text[2 * i], 3, "%02x", digest[i]);
        }
    }
    return hash;
}

struct sums_hash sums_hash_file(const char *path)
{
    struct sums_hash hash = {""};
    size_t length = 0;
    char *bytes = artefacts_read(path, &length);
    if (bytes != NULL) {
        hash = sums_hash(bytes, length);
    }
    free(bytes);
    return hash;
}

json_t *sums_sessions(const char *text, size_t length)
{
    static const char begin[] = "{\"type\":\"begin\"";
    json_t *hashes = json_array();
    const char *end = text + length, *first = NULL;
    for (const char *line = text; line < end;) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        bool begins =
            (size_t)(end - line) > strlen(begin) && memcmp(line, begin, strlen(begin)) == 0;
        if (begins && first != NULL) {
            json_array_append_new(hashes,
                                  json_string(sums_hash(first, (size_t)(line - first)).text));
        }
        first = begins ? line : first;
        line = next == NULL ? end : next + 1;
    }
    if (first != NULL) {
        json_array_append_new(hashes, json_string(sums_hash(first, (size_t)(end - first)).text));
    }
    return hashes;
}

/* ---- where ----------------------------------------------------------------------------------- */

static bool is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* False: it does not fit. */
static bool join(char path[ARTEFACTS_PATH_SIZE], const char *folder, const char *name)
{
    int length = snprintf(path, ARTEFACTS_PATH_SIZE, "%s/%s", folder, name);
    return length > 0 && length < ARTEFACTS_PATH_SIZE;
}

/* Whether the folder is `evidence` of a whole sign-off, which is then the root. */
static bool find_above(struct sums_place *place)
{
    char whole[ARTEFACTS_PATH_SIZE], steps[ARTEFACTS_PATH_SIZE];
    const char *last;
    if (realpath(place->folder, whole) == NULL || (last = strrchr(whole, '/')) == NULL ||
        strcmp(last, "/evidence") != 0) {
        return false;
    }
    return join(place->root, place->folder, "..") && join(steps, place->root, "steps") &&
           is_folder(steps);
}

bool sums_find(struct sums_place *place, const char *folder)
{
    char below[ARTEFACTS_PATH_SIZE];
    if (!join(place->folder, folder, "evidence") || !join(below, place->folder, SUMS_PAGE)) {
        return false;
    }
    if (access(below, F_OK) != 0) {
        snprintf(place->folder, sizeof place->folder, "%s", folder);
    }
    if (find_above(place)) {
        place->page = "evidence/" SUMS_PAGE;
    } else {
        snprintf(place->root, sizeof place->root, "%s", place->folder);
        place->page = SUMS_PAGE;
    }
    return true;
}

/* ---- the files below the root ---------------------------------------------------------------- */

struct sum {
    char *path; /* from the root */
    char hash[HASH_DIGITS + 1];
};

struct list {
    struct sum *sums;
    size_t count, capacity;
    bool failed; /* not enough memory, or a folder that cannot be read */
};

static void list_free(struct list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->sums[i].path);
    }
    free(list->sums);
}

static void list_add(struct list *list, const char *path, const char *hash)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 64 : 2 * list->capacity;
        struct sum *sums = realloc(list->sums, capacity * sizeof *sums);
        if (sums == NULL) {
            list->failed = true;
            return;
        }
        list->sums = sums;
        list->capacity = capacity;
    }
    struct sum *sum = &list->sums[list->count];
    sum->path = strdup(path);
    snprintf(sum->hash, sizeof sum->hash, "%s", hash);
    list->failed = list->failed || sum->path == NULL;
    list->count += sum->path != NULL;
}

/* What is made after SHA256SUMS, and names it. */
static bool is_left_out(const struct sums_place *place, const char *path)
{
    static const char *const endings[] = {"", ".sig", ".minisig"};
    const char *const names[] = {SUMS_NAME, place->page};
    for (size_t n = 0; n < COUNT(names); n++) {
        size_t length = strlen(names[n]);
        for (size_t e = 0; strncmp(path, names[n], length) == 0 && e < COUNT(endings); e++) {
            if (strcmp(path + length, endings[e]) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* A line holds one name as it is. */
static bool has_line(const char *path)
{
    return strpbrk(path, "\n\r\\") == NULL;
}

static void list_folder(struct list *list, const struct sums_place *place, const char *below,
                        int depth);

static void list_entry(struct list *list, const struct sums_place *place, const char *path,
                       int depth)
{
    char whole[ARTEFACTS_PATH_SIZE];
    struct stat about;
    if (!join(whole, place->root, path) || lstat(whole, &about) != 0) {
        list->failed = true;
    } else if (S_ISDIR(about.st_mode)) {
        list_folder(list, place, path, depth + 1);
    } else if (!is_left_out(place, path)) {
        bool fine = S_ISREG(about.st_mode) && has_line(path);
        list_add(list, path, fine ? sums_hash_file(whole).text : "");
    }
}

static void list_folder(struct list *list, const struct sums_place *place, const char *below,
                        int depth)
{
    char whole[ARTEFACTS_PATH_SIZE], path[ARTEFACTS_PATH_SIZE];
    const struct dirent *entry;
    DIR *folder = join(whole, place->root, below) ? opendir(whole) : NULL;
    if (folder == NULL || depth > DEPTH_MAX) {
        list->failed = true;
    }
    while (folder != NULL && depth <= DEPTH_MAX && (entry = readdir(folder)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        int length = snprintf(path, sizeof path, "%s%s%s", below, below[0] == '\0' ? "" : "/",
                              entry->d_name);
        if (length < 0 || length >= (int)sizeof path) {
            list->failed = true;
        } else {
            list_entry(list, place, path, depth);
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
}

static int by_path(const void *one, const void *other)
{
    return strcmp(((const struct sum *)one)->path, ((const struct sum *)other)->path);
}

static void list_files(struct list *list, const struct sums_place *place)
{
    *list = (struct list){0};
    list_folder(list, place, "", 0);
    if (list->count > 1) {
        qsort(list->sums, list->count, sizeof *list->sums, by_path);
    }
}

/* ---- the text -------------------------------------------------------------------------------- */

static char *write_list(const struct list *list, size_t *length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    if (out == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < list->count; i++) {
        fprintf(out, "%s  %s\n", list->sums[i].hash, list->sums[i].path);
    }
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* The first file without a hash; NULL: each has one. */
static const char *unhashed(const struct list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->sums[i].hash[0] == '\0') {
            return list->sums[i].path;
        }
    }
    return NULL;
}

char *sums_make(const struct sums_place *place, size_t *length, struct error *error)
{
    struct list files;
    list_files(&files, place);
    char *text = NULL;
    const char *wrong = unhashed(&files);
    if (wrong != NULL) {
        error_set(error, "%.200s/%.400s is no file that can be read and has a name of one line",
                  place->root, wrong);
    } else if (files.failed || (text = write_list(&files, length)) == NULL) {
        error_set(error, "the files of %.400s cannot be read", place->root);
    }
    list_free(&files);
    return text;
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* The lines of the text, in their order. False: one is no line of sums. */
static bool read_list(struct list *list, const char *text, size_t length)
{
    bool fine = strlen(text) == length;
    const char *line = text;
    *list = (struct list){0};
    for (const char *end; fine && *line != '\0'; line = end + 1) {
        char hash[HASH_DIGITS + 1], path[ARTEFACTS_PATH_SIZE];
        end = strchr(line, '\n');
        fine = end != NULL && end - line > HASH_DIGITS + 2 &&
               end - line < ARTEFACTS_PATH_SIZE + HASH_DIGITS &&
               strspn(line, "0123456789abcdef") == HASH_DIGITS &&
               strncmp(line + HASH_DIGITS, "  ", 2) == 0;
        if (!fine) {
            break;
        }
        snprintf(hash, sizeof hash, "%.*s", HASH_DIGITS, line);
        snprintf(path, sizeof path, "%.*s", (int)(end - line) - HASH_DIGITS - 2,
                 line + HASH_DIGITS + 2);
        list_add(list, path, hash);
    }
    return fine && !list->failed;
}

struct telling {
    void (*tell)(void *context, const char *path, const char *why);
    void *context;
    size_t count;
};

static void difference(struct telling *telling, const char *path, const char *why)
{
    telling->tell(telling->context, path, why);
    telling->count++;
}

/* Both in the order of paths. */
static void compare_lists(struct telling *telling, const struct list *files,
                          const struct list *lines)
{
    size_t f = 0, l = 0;
    while (f < files->count || l < lines->count) {
        int order = f == files->count   ? 1
                    : l == lines->count ? -1
                                        : strcmp(files->sums[f].path, lines->sums[l].path);
        if (order < 0) {
            difference(telling, files->sums[f].path, "was added: " SUMS_NAME " has no line of it");
        } else if (order > 0) {
            difference(telling, lines->sums[l].path, "is missing");
        } else if (strcmp(files->sums[f].hash, lines->sums[l].hash) != 0) {
            difference(telling, files->sums[f].path, "was changed: its hash is another");
        }
        f += order <= 0;
        l += order >= 0;
    }
}

size_t sums_compare(const struct sums_place *place, const char *text, size_t length,
                    void (*tell)(void *context, const char *path, const char *why), void *context)
{
    struct telling telling = {tell, context, 0};
    struct list files, lines;
    list_files(&files, place);
    if (!read_list(&lines, text, length)) {
        difference(&telling, SUMS_NAME, "has a line that is no hash with the name of a file");
    } else if (files.failed) {
        difference(&telling, ".", "has files that cannot be read");
    } else {
        compare_lists(&telling, &files, &lines);
    }
    list_free(&files);
    list_free(&lines);
    return telling.count;
}
