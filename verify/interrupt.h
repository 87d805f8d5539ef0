/* Ctrl-C, and SIGTERM, as CI sends it: the first one asks a verb to end with what it has, a second
 * one kills. */
#ifndef VERIFY_INTERRUPT_H
#define VERIFY_INTERRUPT_H

#include <stdbool.h>

/* From now on the first SIGINT, and the first SIGTERM, is noted. */
void interrupt_watch(void);

bool interrupt_seen(void);

#endif
