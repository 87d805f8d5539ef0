/* The libraries that go into foreign processes and the private server, as bytes of the program: it
 * needs no folder of its own to find them in. */
#ifndef WIRE_EMBEDDED_H
#define WIRE_EMBEDDED_H

#include <stddef.h>

struct embedded {
    const char *bytes;
    size_t size; /* 0: the build had no headers of PostgreSQL's server */
};

struct embedded embedded_module(void);
struct embedded embedded_shim(void);

#endif
