#define _GNU_SOURCE /* syncfs */
#include "real/cluster_template.h"

#include "real/cluster_place.h"
#include "real/owner.h"
#include "real/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORMAT    1 /* counts changes to what initdb is told */
#define INITDB_MS 120000

static bool template_path(const struct cluster *cluster, const struct cluster_options *options,
                          char *path, size_t size)
{
    char cache[PATH_MAX];
    return cluster_place_cache(options, cache, sizeof cache) &&
           cluster_path(path, size, "%s/postgresql-%s-%d", cache, cluster->version, FORMAT);
}

bool cluster_template_empty(const struct cluster *cluster)
{
    return tree_remove(cluster->data) && mkdir(cluster->data, 0700) == 0 &&
           chown(cluster->data, cluster->user.uid, cluster->user.gid) == 0;
}

bool cluster_template_copy(const struct cluster *cluster, const struct cluster_options *options)
{
    char path[PATH_MAX];
    char data[PATH_MAX];
    struct stat status;
    if (!template_path(cluster, options, path, sizeof path) || lstat(path, &status) != 0 ||
        !S_ISDIR(status.st_mode) || status.st_uid != geteuid() || /* K2 */
        !cluster_path(data, sizeof data, "%s/data", path)) {
        return false;
    }
    if (!tree_copy(data, cluster->data, cluster->user.uid, cluster->user.gid)) {
        (void)cluster_template_empty(cluster);
        return false;
    }
    return true;
}

void cluster_template_forget(const struct cluster *cluster, const struct cluster_options *options)
{
    char path[PATH_MAX];
    if (template_path(cluster, options, path, sizeof path)) {
        (void)cluster_sweep_remove(path);
    }
}

/* ---- making it ------------------------------------------------------------------------------ */

/* Runs one of the programs, as the server's user. */
static bool run(const struct cluster *cluster, const char *const *arguments, const char *input,
                struct error *error)
{
    const struct process_plan plan = {.arguments = arguments,
                                      .user = &cluster->user,
                                      .input = input,
                                      .output = cluster->log,
                                      .when_orphaned = SIGKILL};
    return process_run(&plan, INITDB_MS, error);
}

static bool run_initdb(const struct cluster *cluster, struct error *error)
{
    char program[PATH_MAX];
    (void)cluster_path(program, sizeof program, "%s/initdb", cluster->programs.folder);
    static const char role[] = "--username=" CLUSTER_ROLE;
    const char *const arguments[] = {program,
                                     "-D",
                                     cluster->data,
                                     role,
                                     "--auth-local=trust",
                                     "--auth-host=reject",
                                     "--locale=C",
                                     "--encoding=UTF8",
                                     "--no-sync",
                                     "--no-instructions",
                                     NULL};
    return run(cluster, arguments, NULL, error);
}

/* initdb makes three databases of 300 files each. Assay uses one, and the time to copy it and to
 * remove it goes with the number of files. */
static bool drop_databases(const struct cluster *cluster, struct error *why)
{
    static const char drops[] = "UPDATE pg_database SET datistemplate = false;\n"
                                "DROP DATABASE template0;\n"
                                "DROP DATABASE template1;\n";
    char program[PATH_MAX];
    char input[PATH_MAX];
    (void)cluster_path(program, sizeof program, "%s/postgres", cluster->programs.folder);
    (void)cluster_path(input, sizeof input, "%s/input", cluster->folder);
    int fd = open(input, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool written = fd >= 0 && write(fd, drops, strlen(drops)) == (ssize_t)strlen(drops);
    int error = errno;
    if (fd >= 0) {
        (void)close(fd);
    }
    if (!written) {
        return error_set(why, "cannot write %s: %s", input, strerror(error));
    }
    const char *const arguments[] = {program,       "--single", "-F", "-D",
                                     cluster->data, "postgres", NULL};
    bool ok = run(cluster, arguments, input, why);
    (void)unlink(input);
    return ok;
}

/* What is renamed must be on the disc before: else a machine that loses power would keep a template
 * with empty files (K1). */
static bool sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && syncfs(fd) == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return ok;
}

static bool fill_staging(const struct cluster *cluster, const char *staging)
{
    char data[PATH_MAX];
    return cluster_path(data, sizeof data, "%s/data", staging) && mkdir(data, 0700) == 0 &&
           tree_copy(cluster->data, data, geteuid(), getegid()) && sync_folder(data);
}

/* Several may do this at once: the first to rename wins, the others remove theirs (C3). */
static void save(const struct cluster *cluster, const struct cluster_options *options)
{
    char cache[PATH_MAX];
    char path[PATH_MAX];
    char staging[PATH_MAX];
    if (!cluster_place_cache(options, cache, sizeof cache) || !cluster_place_make(cache) ||
        !template_path(cluster, options, path, sizeof path) || access(path, F_OK) == 0 ||
        !cluster_path(staging, sizeof staging, "%s/" CLUSTER_STAGING_PREFIX "XXXXXX", cache) ||
        mkdtemp(staging) == NULL) {
        return; /* K3 */
    }
    int lock = owner_take(staging);
    bool saved = lock >= 0 && fill_staging(cluster, staging) && rename(staging, path) == 0;
    if (!saved) {
        (void)cluster_sweep_remove(staging);
    }
    if (lock >= 0) {
        (void)owner_leave(lock, false);
    }
}

bool cluster_template_make(const struct cluster *cluster, const struct cluster_options *options,
                           struct error *error)
{
    if (!run_initdb(cluster, error) || !drop_databases(cluster, error)) {
        return false;
    }
    save(cluster, options);
    return true;
}
