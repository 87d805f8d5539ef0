/* assay wire init: runs a setup and a worker once, says what they commit and which tables there are,
 * and writes the draft of a subject. */
#ifndef CLI_WIRE_INIT_H
#define CLI_WIRE_INIT_H

#include "cli/cli.h"
#include "wire/probe.h"

struct wire_init {
    const char *setup, *worker;
    const char *client;   /* NULL: none */
    const char *programs; /* of PostgreSQL; NULL: looked for */
    const char *draft;    /* the file that is written, which must not be there */
};

/* Returns an exit status, after it has said what was wrong. */
int wire_init(const struct wire_init *init);

#endif
