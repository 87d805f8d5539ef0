#include "real/cluster_place.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Characters that need no quotes in a configuration file, a connection string or a shell. */
static bool is_plain(const char *path)
{
    for (; *path != '\0'; path++) {
        unsigned char c = (unsigned char)*path;
        if (!isalnum(c) && strchr("/._-+", c) == NULL) {
            return false;
        }
    }
    return true;
}

/* Whether every folder of the path lets this user pass. */
static bool is_within_reach(const char *path, const struct process_user *user)
{
    char part[PATH_MAX];
    size_t length = strlen(path);
    for (size_t i = 1; i <= length && user->drop; i++) {
        struct stat status;
        if (path[i] != '/' && path[i] != '\0') {
            continue;
        }
        memcpy(part, path, i);
        part[i] = '\0';
        if (stat(part, &status) != 0 ||
            (status.st_uid != user->uid && !(status.st_mode & S_IXOTH))) {
            return false;
        }
    }
    return true;
}

/* NULL: the folder will do, and its path is written. Otherwise what is wrong with it. */
static const char *unfit(const char *folder, const struct process_user *user, char *path,
                         size_t size)
{
    char real[PATH_MAX];
    if (realpath(folder, real) == NULL) {
        return strerror(errno);
    }
    if (access(real, W_OK | X_OK) != 0) {
        return strerror(errno);
    }
    if (!is_plain(real)) {
        return "its name has characters that a connection string cannot carry";
    }
    if (strlen(real) + strlen("/" CLUSTER_PREFIX "XXXXXX") >= CLUSTER_FOLDER_SIZE) {
        return "its name is too long for the path of a socket";
    }
    if (!is_within_reach(real, user)) {
        return "the user that PostgreSQL runs as may not enter it";
    }
    return cluster_path(path, size, "%s", real) ? NULL : "its name is too long";
}

bool cluster_place_temporary(const struct cluster_options *options, const struct process_user *user,
                             char *path, size_t size, struct error *error)
{
    const char *first = options->temporary != NULL ? options->temporary : getenv("TMPDIR");
    first = first == NULL || first[0] == '\0' ? "/tmp" : first;
    const char *wrong = unfit(first, user, path, size);
    if (wrong != NULL && options->temporary == NULL) {
        wrong = unfit("/tmp", user, path, size);
        first = "/tmp";
    }
    return wrong == NULL ||
           error_set(error, "cannot make a cluster in %.200s: %s; set TMPDIR to another folder",
                     first, wrong);
}

bool cluster_place_make(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool ok = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!ok) {
            return false;
        }
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

bool cluster_place_cache(const struct cluster_options *options, char *path, size_t size)
{
    const char *base = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    bool named;
    if (options->cache != NULL) {
        named = cluster_path(path, size, "%s", options->cache);
    } else if (base != NULL && base[0] == '/') {
        named = cluster_path(path, size, "%s/assay", base);
    } else {
        bool there = home != NULL && home[0] == '/' && access(home, F_OK) == 0;
        named = there && cluster_path(path, size, "%s/.cache/assay", home);
    }
    return named;
}

bool cluster_place_data(const char *folder, char *path, size_t size)
{
    const char *unique = strrchr(folder, '-');
    return cluster_path(path, size, "%s/data%s", folder, unique == NULL ? "" : unique);
}
