/* The activity protocol's components and fingerprints (sameness.h). Private to sim/. */
#ifndef SIM_ACTIVITY_SAMENESS_H
#define SIM_ACTIVITY_SAMENESS_H

#include "sim/sameness.h"

extern const struct sameness_hooks activity_sameness;

#endif
