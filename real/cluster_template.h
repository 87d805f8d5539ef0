/* The data folder of a new cluster, from the cached template or from initdb. Only for the files
 * cluster*.c.
 *
 * (K1) A template is a cluster that never served, whole: it is written under another name, synced
 *      and renamed.
 * (K2) Only a template of our own user's is used.
 * (K3) No cluster fails for want of a template. */
#ifndef REAL_CLUSTER_TEMPLATE_H
#define REAL_CLUSTER_TEMPLATE_H

#include "model/error.h"
#include "real/cluster.h"

/* Fills the data folder, which is empty, from the template. False: there is none that can be used,
 * and the folder is empty still. */
bool cluster_template_copy(const struct cluster *cluster, const struct cluster_options *options);

/* Fills the data folder, which is empty, with initdb, leaves one database in it, and makes that the
 * template if there is none. */
bool cluster_template_make(const struct cluster *cluster, const struct cluster_options *options,
                           struct error *error);

/* Fills the data folder, which is empty, with a copy of a cluster that serves, made to follow it.
 */
bool cluster_standby_fill(const struct cluster *cluster, const struct cluster *primary,
                          struct error *error);

/* Removes a template that turned out to be of no use: the next start makes another. */
void cluster_template_forget(const struct cluster *cluster, const struct cluster_options *options);

/* Makes the data folder, empty and the server's; what was in it is gone. */
bool cluster_template_empty(const struct cluster *cluster);

#endif
