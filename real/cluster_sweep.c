#include "real/cluster_place.h"

#include "real/owner.h"
#include "real/postmaster.h"
#include "real/tree.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>

#define REMOVE_ATTEMPTS 100 /* of 10 ms: processes of a killed server may still write */

bool cluster_sweep_remove(const char *folder)
{
    for (int i = 0; i < REMOVE_ATTEMPTS; i++) {
        if (tree_remove_last(folder, OWNER_FILE)) {
            return true;
        }
        if (errno != ENOTEMPTY && errno != EEXIST) {
            return false;
        }
        (void)poll(NULL, 0, 10);
    }
    return false;
}

static bool remove_leftover(const char *folder)
{
    char data[PATH_MAX];
    if (!cluster_place_data(folder, data, sizeof data) || !postmaster_end(data)) {
        return false;
    }
    postmaster_free_memory(data);
    return cluster_sweep_remove(folder);
}

static int sweep_folder(const char *path, const char *prefix)
{
    int removed = 0;
    DIR *folder = opendir(path);
    if (folder == NULL) {
        return 0;
    }
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char leftover[PATH_MAX];
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
            cluster_path(leftover, sizeof leftover, "%s/%s", path, entry->d_name) &&
            owner_is_gone(leftover) && remove_leftover(leftover)) {
            removed++;
        }
    }
    (void)closedir(folder);
    return removed;
}

int cluster_sweep(const struct cluster_options *options)
{
    char path[PATH_MAX];
    struct process_user user;
    struct error ignored; /* where nothing can be made, nothing is left */
    int removed = 0;
    if (process_user_find(&user, &ignored) &&
        cluster_place_temporary(options, &user, path, sizeof path, &ignored)) {
        removed += sweep_folder(path, CLUSTER_PREFIX);
    }
    if (cluster_place_cache(options, path, sizeof path)) {
        removed += sweep_folder(path, CLUSTER_STAGING_PREFIX);
    }
    return removed;
}
