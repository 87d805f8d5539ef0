/* Where a cluster's folder and its template go, and how they are removed. Only for the files
 * cluster*.c. */
#ifndef REAL_CLUSTER_PLACE_H
#define REAL_CLUSTER_PLACE_H

#include "model/error.h"
#include "real/cluster.h"

#define CLUSTER_STAGING_PREFIX "new-" /* a template that is being made */

/* The folder in which clusters are made: absolute, without links, fit for a socket's path and a
 * connection string, and within reach of the user. */
bool cluster_place_temporary(const struct cluster_options *options, const struct process_user *user,
                             char *path, size_t size, struct error *error);
/* The folder of templates, which may not exist yet. False: the environment names none. */
bool cluster_place_cache(const struct cluster_options *options, char *path, size_t size);
/* Makes a folder for ourselves, and those above it. */
bool cluster_place_make(char *path);

/* The data folder in a cluster's folder. Each has a name of its own: see tree_spread(). */
bool cluster_place_data(const char *folder, char *path, size_t size);

/* Removes a cluster's folder or a template; its owner file goes last, so that a removal that is cut
 * short is taken up by the next sweep. False: errno. */
bool cluster_sweep_remove(const char *folder);

#endif
