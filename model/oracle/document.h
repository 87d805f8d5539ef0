/* A scenario as its text has it: maps, lists and texts, before anything was made of them. The
 * evaluators of the oracles read this and nothing else of a scenario, so that no loader, graph or
 * rule that engines use stands between the text and what is expected of it.
 *
 * Reads only. The nodes are the caller's (scenarios/document.h makes them of YAML).
 *
 * (DO1) Node 0 is the root, a map. It is nobody's child, so 0 also means "there is none".
 * (DO2) Children come in the order of the text. */
#ifndef MODEL_ORACLE_DOCUMENT_H
#define MODEL_ORACLE_DOCUMENT_H

#include <stdbool.h>
#include <stdint.h>

#define DOCUMENT_NONE 0

enum document_kind { DOCUMENT_TEXT, DOCUMENT_LIST, DOCUMENT_MAP };

struct document_node {
    const char *key;  /* in a map: its key; else "" */
    const char *text; /* of a DOCUMENT_TEXT; else "" */
    uint32_t first;   /* its first child */
    uint32_t next;    /* its next sibling */
    uint8_t kind;     /* enum document_kind */
};

struct document {
    const struct document_node *nodes;
    uint32_t count;
};

enum document_kind document_kind(const struct document *document, uint32_t node);
const char *document_key(const struct document *document, uint32_t node);
const char *document_text(const struct document *document, uint32_t node);

/* for (n = document_first(d, list); n != DOCUMENT_NONE; n = document_next(d, n)) */
uint32_t document_first(const struct document *document, uint32_t node);
uint32_t document_next(const struct document *document, uint32_t node);

/* How many children a list or map has; 0 of DOCUMENT_NONE. */
uint32_t document_size(const struct document *document, uint32_t node);

/* The value of a map's key. */
uint32_t document_find(const struct document *document, uint32_t map, const char *key);

/* Whether the node is this text. */
bool document_is(const struct document *document, uint32_t node, const char *text);

/* The node as a decimal number; `usual` of DOCUMENT_NONE. */
int64_t document_number(const struct document *document, uint32_t node, int64_t usual);

/* Asserts (DO1) and (DO2): a node comes before its children and its next sibling. */
void document_check(const struct document *document);

/* Whether two terminated texts are the same: an oracle has no library. */
bool document_same(const char *one, const char *other);

#endif
