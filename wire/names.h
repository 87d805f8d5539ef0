/* The prepared statements and portals of a connection, by name: the text that an Execute executes.
 * A portal keeps the text that it was bound to, although the statement is replaced.
 *
 * (NA1) What is kept is bounded: NAMES_MAX entries, NAMES_BYTES_MAX of text; what is beyond is not
 *       known.
 * (NA2) Texts without a name take no memory from the allocator but when one is longer than all
 *       before it. */
#ifndef WIRE_NAMES_H
#define WIRE_NAMES_H

#include "wire/statement.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAMES_MAX       65536
#define NAMES_BYTES_MAX (64 << 20)
#define NAMES_LENGTH    64 /* of a name; PostgreSQL compares no more */
#define NAMES_BUCKETS   256

/* A text that statements and portals share. */
struct names_text {
    unsigned users;
    bool cut, looked;
    struct statement_facts facts; /* if looked at */
    size_t size, length;
    char bytes[];
};

struct names_entry {
    struct names_entry *next;
    char name[NAMES_LENGTH];
    uint32_t hash;
    struct names_text *text;
    bool confirmed; /* the server has said that it took it */
};

struct names {
    struct names_entry *buckets[2][NAMES_BUCKETS]; /* statements, portals */
    struct names_text *unnamed[2];
    struct names_text *spare;
    size_t count[2], bytes;
};

enum names_kind { NAMES_STATEMENT, NAMES_PORTAL };

void names_open(struct names *names);
void names_close(struct names *names);

/* Parse: the name now means this text. A name that the server has confirmed stays what it is, as
 * the server will refuse to take it anew. Returns what names_confirm() knows it by; 0: unnamed. */
uint32_t names_parse(struct names *names, const char *name, const char *text, size_t length,
                     bool cut);
/* ParseComplete. */
void names_confirm(struct names *names, uint32_t hash);
/* Bind: the portal executes the statement's text. */
void names_bind(struct names *names, const char *portal, const char *statement);
/* Close. */
void names_forget(struct names *names, enum names_kind kind, const char *name);
/* The transaction has ended, and all portals with it. */
void names_forget_portals(struct names *names);
/* DEALLOCATE or DISCARD: any name may be taken anew. */
void names_doubt(struct names *names);

/* NULL: not known. */
struct names_text *names_find(const struct names *names, enum names_kind kind, const char *name);

#endif
