/* Files that are part of the program, as they were when it was built: embed.cmake writes them as
 * arrays. In alphabetical order of their names. */
#ifndef SCENARIOS_BUILTIN_H
#define SCENARIOS_BUILTIN_H

#include <stddef.h>

struct builtin {
    const char *name;          /* of the file, without its extension */
    const unsigned char *text; /* not terminated */
    size_t size;
};

extern const struct builtin builtin_scenarios[]; /* scenarios/NAME.yaml */
extern const size_t builtin_scenarios_count;

/* scenarios/regressions/NAME.json: schedules that broke a promise once and must never again. */
extern const struct builtin builtin_regressions[];
extern const size_t builtin_regressions_count;

#endif
