/* The activity protocol's components and fingerprints (fingerprint.h). Private to sim/. */
#ifndef SIM_ACTIVITY_FINGERPRINT_H
#define SIM_ACTIVITY_FINGERPRINT_H

#include "sim/fingerprint.h"

extern const struct fingerprint_hooks activity_fingerprint;

#endif
