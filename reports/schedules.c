#include "reports/schedules.h"

#include "reports/artefacts.h"
#include "reports/evidence.h"

#include <stdlib.h>

/* A kind of schedule, and the file beside finding.json that replays it. */
struct kind {
    const char *name, *file;
};

static const struct kind shrunk = {"shrunk", "shrunk.json"}, full = {"full", "schedule.json"},
                         passing = {"passing", "finding.json"};

static json_t *schedules_load(const char *folder, const char *name)
{
    char path[ARTEFACTS_PATH_SIZE];
    size_t length = 0;
    snprintf(path, sizeof path, "%s/findings/%s/finding.json", folder, name);
    char *text = artefacts_read(path, &length);
    json_t *drawn = text == NULL ? NULL : json_loadb(text, length, 0, NULL);
    free(text);
    return drawn;
}

/* Files that finding.json names lie beside it; the page lies two folders above. */
static void name_files(json_t *left_out, const char *name)
{
    size_t i;
    json_t *entry;
    json_array_foreach(left_out, i, entry)
    {
        json_t *file = json_object_get(entry, "file");
        if (file != NULL) {
            json_object_set_new(entry, "file",
                                json_sprintf("findings/%s/%s", name, json_string_value(file)));
        }
    }
}

/* The finding without any schedule yet, and what is known of those that were never drawn. */
static void schedules_begin(json_t *finding, const json_t *drawn)
{
    static const char *const keys[] = {"sentence", "parts_at", "left_out"};
    if (drawn == NULL) {
        return;
    }
    for (size_t i = 0; i < COUNT(keys); i++) {
        json_t *value = json_object_get(drawn, keys[i]);
        if (value != NULL) {
            json_object_set(finding, keys[i], value);
        }
    }
    if (json_object_get(finding, "left_out") == NULL) {
        json_object_set_new(finding, "left_out", json_array());
    }
    name_files(json_object_get(finding, "left_out"), evidence_text(finding, "name"));
    json_object_set_new(finding, "schedules", json_object());
}

/* Text inside of a script may grow where it has a '<' (html.c); nothing that is drawn has many. */
static size_t size_of(const json_t *schedule)
{
    return json_dumpb(schedule, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY) + 32;
}

/* A finding that no schedule file replays, such as that of a search, has its story as text. */
static void schedules_tell(json_t *finding, const char *folder, size_t *room)
{
    char path[ARTEFACTS_PATH_SIZE];
    size_t length = 0;
    snprintf(path, sizeof path, "%s/findings/%s/words.txt", folder, evidence_text(finding, "name"));
    char *text = artefacts_read(path, &length);
    json_t *words = text == NULL ? NULL : json_stringn(text, length);
    if (words != NULL && size_of(words) <= *room) {
        *room -= size_of(words);
        json_object_set(finding, "words", words);
    }
    json_decref(words);
    free(text);
}

static void schedules_leave_out(json_t *finding, const struct kind *kind, const json_t *schedule)
{
    json_t *steps = json_object_get(schedule, "steps");
    json_t *entry = json_pack(
        "{s:s, s:s, s:o}", "schedule", kind->name, "why", "the page would have grown too large",
        "file", json_sprintf("findings/%s/%s", evidence_text(finding, "name"), kind->file));
    if (steps != NULL) {
        json_object_set(entry, "steps", steps);
    }
    json_array_append_new(json_object_get(finding, "left_out"), entry);
}

static void add(json_t *finding, const json_t *drawn, const struct kind *kind, size_t *room)
{
    json_t *schedule = json_object_get(json_object_get(drawn, "schedules"), kind->name);
    json_t *schedules = json_object_get(finding, "schedules");
    if (schedule == NULL || json_is_null(schedule) ||
        json_object_get(schedules, kind->name) != NULL) {
        return;
    }
    size_t size = size_of(schedule);
    if (size > *room) {
        schedules_leave_out(finding, kind, schedule);
        return;
    }
    *room -= size;
    json_object_set(schedules, kind->name, schedule);
}

/* The one that a finding is told by: the smallest that there is. */
static const struct kind *first_of(const json_t *drawn)
{
    const json_t *small = json_object_get(json_object_get(drawn, "schedules"), shrunk.name);
    return small == NULL || json_is_null(small) ? &full : &shrunk;
}

void schedules_add(json_t *findings, const char *folder, size_t room)
{
    size_t count = json_array_size(findings);
    json_t *all = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *finding = json_array_get(findings, i);
        json_t *drawn = schedules_load(folder, evidence_text(finding, "name"));
        schedules_begin(finding, drawn);
        json_array_append_new(all, drawn == NULL ? json_null() : drawn);
        add(finding, drawn, first_of(drawn), &room);
        if (drawn == NULL) {
            schedules_tell(finding, folder, &room);
        }
    }
    for (size_t i = 0; i < count; i++) {
        add(json_array_get(findings, i), json_array_get(all, i), &passing, &room);
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *drawn = json_array_get(all, i);
        if (first_of(drawn) != &full) {
            add(json_array_get(findings, i), drawn, &full, &room);
        }
    }
    json_decref(all);
}
