/* A worker and its former self (FAULT_SUCCESSOR): its supervisor took it for dead and started it
 * again under its name. Its former self is one more actor (struct run_former), with a connection of
 * its own, until it holds nothing, dies, or faults stop. Private to the files of a run.
 *
 * (FS1) There is one former self at most, at run_former. It is not started anew.
 * (FS2) The store tells the two apart by their connections: `client` of each is its own.
 * (FS3) The fault counts once its former self sends something after its successor has. */
#ifndef SIM_FORMER_H
#define SIM_FORMER_H

#include "sim/run.h"

/* The worker is started again while it lives. There is no former self yet. */
void former_start(struct run *run, unsigned actor);

/* The former self sent something. It ends if it holds nothing any more. */
void former_mind(struct run *run);

/* The former self, if there is one, is gone. Its session is closed. */
void former_end(struct run *run);

#endif
