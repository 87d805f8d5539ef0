/* Why a private cluster could not be made: one line for the user, in the words of the environment
 * (what is missing, where, what would be right). */
#ifndef REAL_CLUSTER_FAULT_H
#define REAL_CLUSTER_FAULT_H

#include <stdbool.h>

struct cluster_fault {
    char text[1200]; /* room for a path, and for the end of a server's log */
};

/* Writes the line, longer ones cut; returns false, so that it can end a function that failed. */
bool cluster_fault_set(struct cluster_fault *fault, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Formats a path. False: it did not fit, and errno is ENAMETOOLONG. */
bool cluster_path(char *path, unsigned long size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
