#include "real/programs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEBIAN "/usr/lib/postgresql"

static bool has_program(const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct stat status;
    return cluster_path(path, sizeof path, "%s/%s", folder, name) && access(path, X_OK) == 0 &&
           stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Takes the folder if both are there. Absolute: the programs are started from another folder. */
static bool take(struct programs *programs, const char *folder)
{
    char real[PATH_MAX];
    return has_program(folder, "initdb") && has_program(folder, "postgres") &&
           realpath(folder, real) != NULL &&
           cluster_path(programs->folder, sizeof programs->folder, "%s", real);
}

static bool take_debian(struct programs *programs)
{
    long highest = -1;
    DIR *versions = opendir(DEBIAN);
    if (versions == NULL) {
        return false;
    }
    for (const struct dirent *entry; (entry = readdir(versions)) != NULL;) {
        char folder[PATH_MAX];
        long version = strtol(entry->d_name, NULL, 10); /* 0 for what is no number */
        if (version > highest && version > 0 &&
            cluster_path(folder, sizeof folder, DEBIAN "/%s/bin", entry->d_name) &&
            take(programs, folder)) {
            highest = version;
        }
    }
    (void)closedir(versions);
    return highest > 0;
}

static bool take_path(struct programs *programs)
{
    const char *at = getenv("PATH");
    while (at != NULL && *at != '\0') {
        char folder[PATH_MAX];
        size_t length = strcspn(at, ":");
        if (length > 0 && length < sizeof folder &&
            cluster_path(folder, sizeof folder, "%.*s", (int)length, at) &&
            take(programs, folder)) {
            return true;
        }
        at += length + (at[length] == ':');
    }
    return false;
}

bool programs_find(struct programs *programs, const char *named, struct error *error)
{
    const char *folder = named != NULL ? named : getenv("ASSAY_POSTGRES");
    if (folder != NULL && folder[0] != '\0') {
        return take(programs, folder) ||
               error_set(error,
                         "PostgreSQL is not in %.300s: it has no initdb and postgres; they "
                         "are in the Debian package postgresql",
                         folder);
    }
    return take_debian(programs) || take_path(programs) ||
           error_set(error, "PostgreSQL is not installed: install the Debian package "
                            "postgresql (neither " DEBIAN " nor PATH has initdb and postgres)");
}

bool programs_version(const char *printed, char *version, unsigned long size, struct error *error)
{
    const char *at = strstr(printed, "(PostgreSQL) ");
    if (at == NULL) {
        return error_set(error, "postgres --version printed no version, but: %.200s", printed);
    }
    at += strlen("(PostgreSQL) ");
    size_t length = strspn(at, "0123456789.abcdefghijklmnopqrstuvwxyz");
    long major = strtol(at, NULL, 10);
    if (major < PROGRAMS_VERSION_LEAST) {
        return error_set(error,
                         "PostgreSQL %.*s is too old, it must be %d or later: install the "
                         "Debian package postgresql",
                         (int)(length < 20 ? length : 20), at, PROGRAMS_VERSION_LEAST);
    }
    return cluster_path(version, size, "%.*s", (int)length, at) ||
           error_set(error, "postgres --version printed too long a version");
}
