/* The regressions: every finding ever made, as a schedule that broke a promise once and must hold
 * now. They are part of the program (scenarios/regressions/) and are replayed before a campaign. */
#ifndef VERIFY_REGRESSIONS_H
#define VERIFY_REGRESSIONS_H

#include "reports/artefacts.h"
#include "scenarios/builtin.h"
#include "verify/status.h"

/* Replays them; says how many there were, tells the story of each that breaks again, and keeps that
 * as a finding, regression-NAME. CLI_OK, CLI_BROKEN, or CLI_UNAVAILABLE. */
int regressions_replay(const char *verb, const struct builtin *files, size_t count,
                       struct artefacts *results);

#endif
