/* Paths of a private cluster. */
#ifndef REAL_CLUSTER_PATH_H
#define REAL_CLUSTER_PATH_H

#include "model/error.h"

/* Formats a path. False: it did not fit, and errno is ENAMETOOLONG. */
bool cluster_path(char *path, unsigned long size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
