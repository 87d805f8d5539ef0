#include "scenarios/document.h"

#include "scenarios/yaml_text.h"

#include <stdlib.h>
#include <string.h>

#define ROOT 1 /* libyaml numbers nodes from 1 */

struct making {
    yaml_document_t yaml;
    struct document_node *nodes;
    uint32_t count, capacity;
    char *texts; /* all of them, one after the other; none is longer than where it stood */
    size_t used;
};

static const char *keep(struct making *making, const yaml_node_t *scalar)
{
    CHECK(scalar != NULL && scalar->type == YAML_SCALAR_NODE); /* a key or a text */
    char *text = &making->texts[making->used];
    memcpy(text, scalar->data.scalar.value, scalar->data.scalar.length);
    text[scalar->data.scalar.length] = '\0';
    making->used += scalar->data.scalar.length + 1;
    return text;
}

static uint32_t add(struct making *making, int number, const yaml_node_t *key);

/* Appends a child; `last` is the one before it. */
static uint32_t add_child(struct making *making, uint32_t parent, uint32_t last, int number,
                          const yaml_node_t *key)
{
    uint32_t child = add(making, number, key);
    if (last == DOCUMENT_NONE) {
        making->nodes[parent].first = child;
    } else {
        making->nodes[last].next = child;
    }
    return child;
}

static void add_children(struct making *making, uint32_t parent, const yaml_node_t *node)
{
    uint32_t last = DOCUMENT_NONE;
    if (node->type == YAML_SEQUENCE_NODE) {
        for (const yaml_node_item_t *item = node->data.sequence.items.start;
             item < node->data.sequence.items.top; item++) {
            last = add_child(making, parent, last, *item, NULL);
        }
    } else if (node->type == YAML_MAPPING_NODE) {
        for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
             pair < node->data.mapping.pairs.top; pair++) {
            last = add_child(making, parent, last, pair->value,
                             yaml_document_get_node(&making->yaml, pair->key));
        }
    }
}

/* Recursion is bounded: the loader has accepted the text, which is a few levels deep. */
static uint32_t add(struct making *making, int number, const yaml_node_t *key)
{
    const yaml_node_t *node = yaml_document_get_node(&making->yaml, number);
    CHECK(node != NULL && making->count < making->capacity);
    uint32_t at = making->count++;
    bool is_text = node->type == YAML_SCALAR_NODE;
    making->nodes[at] = (struct document_node){.key = key == NULL ? "" : keep(making, key),
                                               .text = is_text ? keep(making, node) : "",
                                               .kind = (uint8_t)(is_text ? DOCUMENT_TEXT
                                                                 : node->type == YAML_SEQUENCE_NODE
                                                                     ? DOCUMENT_LIST
                                                                     : DOCUMENT_MAP)};
    add_children(making, at, node);
    return at;
}

bool document_make(struct document *document, const char *text, size_t size)
{
    struct making making = {.nodes = NULL};
    *document = (struct document){.nodes = NULL};
    if (!yaml_text_load(text, size, &making.yaml)) {
        return false;
    }
    /* Nodes, then their texts; an escape of two characters stands for three bytes at most. */
    size_t nodes = (size_t)(making.yaml.nodes.top - making.yaml.nodes.start);
    making.capacity = (uint32_t)nodes;
    making.nodes = malloc(nodes * (sizeof *making.nodes + 1) + 2 * size);
    making.texts = (char *)(making.nodes + nodes);
    bool made = making.nodes != NULL;
    if (made) {
        add(&making, ROOT, NULL);
        *document = (struct document){.nodes = making.nodes, .count = making.count};
        CHECK_ALL(document_check(document));
    }
    yaml_document_delete(&making.yaml);
    return made;
}

void document_free(struct document *document)
{
    free((void *)document->nodes); /* const for readers; it is this module's block */
    *document = (struct document){.nodes = NULL};
}
