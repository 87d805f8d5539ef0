/* Enumerated sabotages that break no promise, each with the reason. Private to faults/. */
#ifndef FAULTS_SABOTAGE_EQUIVALENT_H
#define FAULTS_SABOTAGE_EQUIVALENT_H

#include <stddef.h>

/* The reason, by the sabotage's name; NULL: a promise must see it. */
const char *sabotage_equivalent(const char *name);

/* The names on the list, in its order; NULL: no more. */
const char *sabotage_equivalent_name(size_t index);

#endif
