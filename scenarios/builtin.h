/* The texts of the scenarios in this folder, as they were when the program was built: builtin.c is
 * written by embed.cmake. In alphabetical order of their names. */
#ifndef SCENARIOS_BUILTIN_H
#define SCENARIOS_BUILTIN_H

#include <stddef.h>

struct builtin {
    const char *name;          /* of the file, without .yaml */
    const unsigned char *text; /* not terminated */
    size_t size;
};

extern const struct builtin builtin_scenarios[];
extern const size_t builtin_count;

#endif
