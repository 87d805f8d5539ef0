/* Changes a number in the text of a scenario: replaces the value where it stands, or inserts the
 * key before the first one. The rest of the text stays as its author wrote it. */
#include "scenarios/scenario.h"
#include "scenarios/yaml_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a value stands in the text, and what goes there. */
struct splice {
    size_t from, to; /* bytes */
    char text[80];
};

/* libyaml counts characters. */
static size_t byte_of(const char *text, size_t size, size_t character)
{
    size_t at = 0;
    while (at < size && character > 0) {
        at++;
        while (at < size && ((unsigned char)text[at] & 0xC0) == 0x80) {
            at++;
        }
        character--;
    }
    return at;
}

static struct splice splice_value(const struct scenario *scenario, const yaml_node_t *value,
                                  uint32_t number)
{
    struct splice splice = {
        .from = byte_of(scenario->text, scenario->text_size, value->start_mark.index),
        .to = byte_of(scenario->text, scenario->text_size, value->end_mark.index)};
    snprintf(splice.text, sizeof splice.text, "%u", number);
    return splice;
}

static struct splice splice_key(const struct scenario *scenario, const yaml_node_t *root,
                                const char *key, uint32_t number)
{
    bool flow = root->data.mapping.style == YAML_FLOW_MAPPING_STYLE;
    size_t at = byte_of(scenario->text, scenario->text_size, root->start_mark.index);
    struct splice splice = {.from = at + (flow ? 1 : 0), .to = at + (flow ? 1 : 0)};
    snprintf(splice.text, sizeof splice.text, "%s: %u%s%*s", key, number, flow ? ", " : "\n",
             flow ? 0 : (int)root->start_mark.column, "");
    return splice;
}

/* False: no memory. */
static bool find_splice(const struct scenario *scenario, const char *key, uint32_t number,
                        struct splice *splice)
{
    yaml_document_t yaml;
    if (!yaml_text_load(scenario->text, scenario->text_size, &yaml)) {
        return false;
    }
    const yaml_node_t *root = yaml_document_get_root_node(&yaml);
    *splice = splice_key(scenario, root, key, number);
    for (const yaml_node_pair_t *pair = root->data.mapping.pairs.start;
         pair < root->data.mapping.pairs.top; pair++) {
        const yaml_node_t *name = yaml_document_get_node(&yaml, pair->key);
        if (strcmp((const char *)name->data.scalar.value, key) == 0) {
            *splice = splice_value(scenario, yaml_document_get_node(&yaml, pair->value), number);
        }
    }
    yaml_document_delete(&yaml);
    return true;
}

bool scenario_change(struct scenario *scenario, const char *key, uint32_t number,
                     struct error *error)
{
    struct splice splice;
    struct scenario *changed = malloc(sizeof *changed);
    char *text = malloc(SCENARIO_TEXT_SIZE_MAX + sizeof splice.text);
    bool sound = false;
    snprintf(error->text, sizeof error->text, "%s: not enough memory", scenario->name);
    if (changed != NULL && text != NULL && find_splice(scenario, key, number, &splice)) {
        size_t length = strlen(splice.text), after = scenario->text_size - splice.to;
        memcpy(text, scenario->text, splice.from);
        memcpy(text + splice.from, splice.text, length);
        memcpy(text + splice.from + length, scenario->text + splice.to, after);
        sound = scenario_parse(text, splice.from + length + after, scenario->name, changed, error);
        if (sound) {
            memcpy(scenario, changed, sizeof *scenario);
        }
    }
    free(text);
    free(changed);
    return sound;
}
