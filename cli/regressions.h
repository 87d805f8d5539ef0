/* The regressions: every finding ever made, as a schedule that broke a promise once and must hold
 * now. They are part of the program (scenarios/regressions/) and are replayed before a campaign. */
#ifndef CLI_REGRESSIONS_H
#define CLI_REGRESSIONS_H

#include "cli/cli.h"

/* Replays them all; says how many there were, and tells the story of each that breaks again.
 * CLI_OK, CLI_BROKEN, or CLI_UNAVAILABLE. */
int regressions_replay(const struct cli_verb *verb, bool json);

#endif
