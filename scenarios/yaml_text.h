/* The text of a scenario that scenario_parse() has accepted, loaded whole by libyaml. Private to
 * scenarios/. */
#ifndef SCENARIOS_YAML_TEXT_H
#define SCENARIOS_YAML_TEXT_H

#include "model/check.h"

#include <stdbool.h>
#include <yaml.h>

/* A document whose root is a map, for yaml_document_delete(). False: no memory. */
static inline bool yaml_text_load(const char *text, size_t size, yaml_document_t *yaml)
{
    yaml_parser_t parser;
    if (yaml_parser_initialize(&parser) == 0) {
        return false;
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
    bool loaded = yaml_parser_load(&parser, yaml) != 0;
    CHECK(loaded || parser.error == YAML_MEMORY_ERROR); /* scenario_parse() has accepted it */
    yaml_parser_delete(&parser);
    if (loaded) {
        const yaml_node_t *root = yaml_document_get_root_node(yaml);
        CHECK(root != NULL && root->type == YAML_MAPPING_NODE);
    }
    return loaded;
}

#endif
