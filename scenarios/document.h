/* The text of a scenario as a tree of maps, lists and texts, for the oracles (model/oracle). It
 * knows no key of a scenario and nothing of the loader (scenario.h, part.h), so that the oracles
 * read the text independently.
 *
 * Owns its nodes and their texts. */
#ifndef SCENARIOS_DOCUMENT_H
#define SCENARIOS_DOCUMENT_H

#include "model/oracle/document.h"

#include <stddef.h>

/* Reads YAML that scenario_parse() has accepted. False: no memory. */
bool document_make(struct document *document, const char *text, size_t size);
void document_free(struct document *document);

#endif
