#include "model/oracle/document.h"

#include "model/check.h"

static const struct document_node *at(const struct document *document, uint32_t node)
{
    CHECK(node < document->count);
    return &document->nodes[node];
}

enum document_kind document_kind(const struct document *document, uint32_t node)
{
    return (enum document_kind)at(document, node)->kind;
}

const char *document_key(const struct document *document, uint32_t node)
{
    return at(document, node)->key;
}

const char *document_text(const struct document *document, uint32_t node)
{
    return at(document, node)->text;
}

uint32_t document_first(const struct document *document, uint32_t node)
{
    return at(document, node)->first;
}

uint32_t document_next(const struct document *document, uint32_t node)
{
    return at(document, node)->next;
}

uint32_t document_size(const struct document *document, uint32_t node)
{
    uint32_t size = 0;
    if (node != DOCUMENT_NONE) {
        for (uint32_t n = document_first(document, node); n != DOCUMENT_NONE;
             n = document_next(document, n)) {
            size++;
        }
    }
    return size;
}

bool document_same(const char *one, const char *other)
{
    while (*one != '\0' && *one == *other) {
        one++;
        other++;
    }
    return *one == *other;
}

uint32_t document_find(const struct document *document, uint32_t map, const char *key)
{
    uint32_t n = document_first(document, map);
    while (n != DOCUMENT_NONE && !document_same(document_key(document, n), key)) {
        n = document_next(document, n);
    }
    return n;
}

bool document_is(const struct document *document, uint32_t node, const char *text)
{
    return node != DOCUMENT_NONE && document_kind(document, node) == DOCUMENT_TEXT &&
           document_same(document_text(document, node), text);
}

int64_t document_number(const struct document *document, uint32_t node, int64_t usual)
{
    if (node == DOCUMENT_NONE) {
        return usual;
    }
    const char *text = document_text(document, node);
    bool negative = *text == '-';
    int64_t number = 0;
    for (text += negative ? 1 : 0; *text >= '0' && *text <= '9'; text++) {
        CHECK(number <= (INT64_MAX - 9) / 10); /* the loader refuses larger ones */
        number = 10 * number + (*text - '0');
    }
    return negative ? -number : number;
}

void document_check(const struct document *document)
{
    CHECK(document->count > 0 && document->nodes[0].kind == DOCUMENT_MAP); /* DO1 */
    CHECK(document->nodes[0].next == DOCUMENT_NONE);                       /* DO1 */
    for (uint32_t n = 0; n < document->count; n++) {
        const struct document_node *node = &document->nodes[n];
        CHECK(node->first == DOCUMENT_NONE || node->first == n + 1); /* DO2 */
        CHECK(node->next == DOCUMENT_NONE || node->next > n);        /* DO2 */
        CHECK(node->next < document->count);                         /* DO2 */
        CHECK(node->kind != DOCUMENT_TEXT || node->first == DOCUMENT_NONE);
    }
}
