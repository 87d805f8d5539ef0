/* The server of a data folder, found by its postmaster.pid: ends an abandoned server and clears away
 * its remains.
 *
 * PostgreSQL keeps its shared memory in anonymous and file mappings, which end with it and with the
 * folder, all but one: 56 bytes of System V memory that say "in use". A server that was killed
 * leaves those behind.
 *
 * (M1) A process is signalled only if it is held, and then found to be a `postgres -D` of exactly
 *      this folder: a pid in a file proves nothing.
 * (M2) Memory is removed only if no process has it attached, and its header says that it is
 *      PostgreSQL's and was made by the server of this folder. */
#ifndef REAL_POSTMASTER_H
#define REAL_POSTMASTER_H

#include <stdbool.h>

/* Ends the server of this folder, if one runs. False: one is still there. */
bool postmaster_end(const char *data);

/* Removes the System V memory that a killed server of this folder left. */
void postmaster_free_memory(const char *data);

#endif
