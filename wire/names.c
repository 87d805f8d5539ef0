#include "wire/names.h"

#include "model/check.h"

#include <stdlib.h>
#include <string.h>

void names_open(struct names *names)
{
    *names = (struct names){0};
}

static void let_go(struct names *names, struct names_text *text)
{
    if (text == NULL || --text->users > 0) {
        return;
    }
    if (names->spare == NULL || names->spare->size < text->size) {
        struct names_text *other = names->spare;
        names->spare = text;
        text = other;
    }
    if (text != NULL) {
        names->bytes -= text->size;
        free(text);
    }
}

static struct names_text *use(struct names_text *text)
{
    if (text != NULL) {
        text->users++;
    }
    return text;
}

static struct names_text *text_make(struct names *names, const char *bytes, size_t length, bool cut)
{
    struct names_text *text = names->spare;
    if (text != NULL && text->size >= length) {
        names->spare = NULL;
    } else {
        size_t size = length < 1024 ? 1024 : length;
        if (names->bytes + size > NAMES_BYTES_MAX) { /* NA1 */
            return NULL;
        }
        text = malloc(sizeof *text + size);
        CHECK(text != NULL);
        text->size = size;
        names->bytes += size;
    }
    text->users = 1;
    text->cut = cut;
    text->looked = false;
    text->length = length;
    memcpy(text->bytes, bytes, length);
    return text;
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < NAMES_LENGTH - 1 && name[i] != '\0'; i++) {
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    }
    return hash;
}

static struct names_entry **place(struct names *names, enum names_kind kind, const char *name)
{
    struct names_entry **at = &names->buckets[kind][hash_of(name) % NAMES_BUCKETS];
    while (*at != NULL && strncmp((*at)->name, name, NAMES_LENGTH - 1) != 0) {
        at = &(*at)->next;
    }
    return at;
}

/* The name means the text from now on, of which it becomes one more user. */
static void set(struct names *names, enum names_kind kind, const char *name,
                struct names_text *text)
{
    if (*name == '\0') {
        let_go(names, names->unnamed[kind]);
        names->unnamed[kind] = use(text);
        return;
    }
    struct names_entry **at = place(names, kind, name);
    if (*at == NULL && names->count[kind] < NAMES_MAX) { /* NA1 */
        struct names_entry *entry = calloc(1, sizeof *entry);
        CHECK(entry != NULL);
        strncpy(entry->name, name, NAMES_LENGTH - 1);
        *at = entry;
        entry->hash = hash_of(name);
        names->count[kind]++;
    }
    if (*at != NULL) {
        let_go(names, (*at)->text);
        (*at)->text = use(text);
    }
}

static void drop(struct names *names, enum names_kind kind, struct names_entry **at)
{
    struct names_entry *entry = *at;
    *at = entry->next;
    let_go(names, entry->text);
    free(entry);
    names->count[kind]--;
}

static void drop_all(struct names *names, enum names_kind kind)
{
    for (size_t i = 0; i < NAMES_BUCKETS && names->count[kind] > 0; i++) {
        while (names->buckets[kind][i] != NULL) {
            drop(names, kind, &names->buckets[kind][i]);
        }
    }
    let_go(names, names->unnamed[kind]);
    names->unnamed[kind] = NULL;
}

void names_close(struct names *names)
{
    drop_all(names, NAMES_STATEMENT);
    drop_all(names, NAMES_PORTAL);
    free(names->spare);
    *names = (struct names){0};
}

uint32_t names_parse(struct names *names, const char *name, const char *text, size_t length,
                     bool cut)
{
    struct names_entry *there = *name == '\0' ? NULL : *place(names, NAMES_STATEMENT, name);
    if (there != NULL && there->confirmed) {
        return there->hash;
    }
    struct names_text *made = text_make(names, text, length, cut);
    set(names, NAMES_STATEMENT, name, made);
    let_go(names, made);
    return *name == '\0' ? 0 : hash_of(name);
}

void names_confirm(struct names *names, uint32_t hash)
{
    struct names_entry *entry = names->buckets[NAMES_STATEMENT][hash % NAMES_BUCKETS];
    for (; entry != NULL; entry = entry->next) {
        entry->confirmed |= entry->hash == hash;
    }
}

void names_bind(struct names *names, const char *portal, const char *statement)
{
    set(names, NAMES_PORTAL, portal, names_find(names, NAMES_STATEMENT, statement));
}

void names_forget(struct names *names, enum names_kind kind, const char *name)
{
    if (*name == '\0') {
        set(names, kind, name, NULL);
        return;
    }
    struct names_entry **at = place(names, kind, name);
    if (*at != NULL) {
        drop(names, kind, at);
    }
}

void names_forget_portals(struct names *names)
{
    drop_all(names, NAMES_PORTAL);
}

void names_doubt(struct names *names)
{
    for (size_t i = 0; i < NAMES_BUCKETS; i++) {
        for (struct names_entry *entry = names->buckets[NAMES_STATEMENT][i]; entry != NULL;
             entry = entry->next) {
            entry->confirmed = false;
        }
    }
}

struct names_text *names_find(const struct names *names, enum names_kind kind, const char *name)
{
    if (*name == '\0') {
        return names->unnamed[kind];
    }
    const struct names_entry *entry = *place((struct names *)names, kind, name);
    return entry == NULL ? NULL : entry->text;
}
