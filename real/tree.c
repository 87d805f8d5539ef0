#include "real/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define DEPTH_MAX    16 /* of a tree; PostgreSQL's is 4 */
#define BUFFER_SIZE  65536

struct copying {
    uid_t uid;
    gid_t gid;
};

/* Closes and keeps errno as it was. */
static void close_quietly(int fd)
{
    int saved = errno;
    (void)close(fd);
    errno = saved;
}

static void close_folder(DIR *folder)
{
    int saved = errno;
    (void)closedir(folder);
    errno = saved;
}

/* The next entry but "." and ".."; NULL at the end and on an error, which errno tells apart. */
static const char *next_entry(DIR *folder)
{
    const struct dirent *entry;
    do {
        errno = 0;
        entry = readdir(folder);
    } while (entry != NULL &&
             (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
    return entry == NULL ? NULL : entry->d_name;
}

/* A folder to be read, whose descriptor is dirfd(): closed with it. */
static DIR *open_folder(int parent, const char *name)
{
    int fd = openat(parent, name, FOLDER_FLAGS);
    if (fd < 0) {
        return NULL;
    }
    DIR *folder = fdopendir(fd);
    if (folder == NULL) {
        close_quietly(fd);
    }
    return folder;
}

static bool write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = write(fd, bytes, size);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            return false;
        }
        bytes += written;
        size -= (size_t)written;
    }
    return true;
}

static bool copy_bytes(int from, int to)
{
    char buffer[BUFFER_SIZE];
    for (;;) {
        ssize_t got = read(from, buffer, sizeof buffer);
        if (got == 0) {
            return true;
        }
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0 || !write_all(to, buffer, (size_t)got)) {
            return false;
        }
    }
}

static bool give(const struct copying *copying, int fd, mode_t mode)
{
    return fchown(fd, copying->uid, copying->gid) == 0 && fchmod(fd, mode & 07777) == 0;
}

static bool copy_file(const struct copying *copying, int from, mode_t mode, int to_folder,
                      const char *name)
{
    int to = openat(to_folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (to < 0) {
        return false;
    }
    bool ok = copy_bytes(from, to) && give(copying, to, mode);
    close_quietly(to);
    return ok;
}

static bool copy_entries(const struct copying *copying, DIR *from, int to, int depth);

static bool copy_folder(const struct copying *copying, int from_folder, const char *name,
                        mode_t mode, int to_folder, int depth)
{
    if (depth >= DEPTH_MAX) {
        errno = ELOOP;
        return false;
    }
    DIR *from = open_folder(from_folder, name);
    if (from == NULL) {
        return false;
    }
    bool ok = mkdirat(to_folder, name, 0700) == 0;
    int to = ok ? openat(to_folder, name, FOLDER_FLAGS) : -1;
    ok = to >= 0 && copy_entries(copying, from, to, depth + 1) && give(copying, to, mode);
    if (to >= 0) {
        close_quietly(to);
    }
    close_folder(from);
    return ok;
}

static bool copy_entry(const struct copying *copying, int from_folder, const char *name,
                       int to_folder, int depth)
{
    /* Not blocking: a pipe put here must not hold us up. It is refused below (T2). */
    int from = openat(from_folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (from < 0) {
        return false;
    }
    struct stat status;
    bool ok = fstat(from, &status) == 0;
    if (ok && S_ISDIR(status.st_mode)) {
        ok = copy_folder(copying, from_folder, name, status.st_mode, to_folder, depth);
    } else if (ok && S_ISREG(status.st_mode)) {
        ok = copy_file(copying, from, status.st_mode, to_folder, name);
    } else if (ok) {
        errno = EINVAL;
        ok = false;
    }
    close_quietly(from);
    return ok;
}

static bool copy_entries(const struct copying *copying, DIR *from, int to, int depth)
{
    for (const char *name; (name = next_entry(from)) != NULL;) {
        if (!copy_entry(copying, dirfd(from), name, to, depth)) {
            return false;
        }
    }
    return errno == 0;
}

bool tree_copy(const char *from, const char *to, uid_t uid, gid_t gid)
{
    const struct copying copying = {.uid = uid, .gid = gid};
    DIR *source = open_folder(AT_FDCWD, from);
    if (source == NULL) {
        return false;
    }
    int target = open(to, FOLDER_FLAGS);
    bool ok = target >= 0 && copy_entries(&copying, source, target, 0);
    if (target >= 0) {
        close_quietly(target);
    }
    close_folder(source);
    return ok;
}

static bool remove_folder(int parent, const char *name, int depth);

static bool remove_entry(int parent, const char *name, int depth)
{
    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT) {
        return true;
    }
    return errno == EISDIR && remove_folder(parent, name, depth);
}

static bool remove_folder(int parent, const char *name, int depth)
{
    if (depth >= DEPTH_MAX) {
        errno = ELOOP;
        return false;
    }
    DIR *folder = open_folder(parent, name);
    if (folder == NULL) {
        return errno == ENOENT;
    }
    bool ok = true;
    for (const char *entry; ok && (entry = next_entry(folder)) != NULL;) {
        ok = remove_entry(dirfd(folder), entry, depth + 1);
    }
    close_folder(folder);
    return ok && (unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT);
}

bool tree_remove(const char *path)
{
    return remove_folder(AT_FDCWD, path, 0);
}

bool tree_remove_last(const char *path, const char *last)
{
    DIR *folder = open_folder(AT_FDCWD, path);
    if (folder == NULL) {
        return errno == ENOENT;
    }
    bool ok = true;
    for (const char *entry; ok && (entry = next_entry(folder)) != NULL;) {
        ok = strcmp(entry, last) == 0 || remove_entry(dirfd(folder), entry, 1);
    }
    close_folder(folder);
    return ok && tree_remove(path);
}

void tree_spread(const char *path)
{
    int flags = 0;
    int fd = open(path, FOLDER_FLAGS);
    if (fd >= 0 && ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0) {
        flags |= FS_TOPDIR_FL;
        (void)ioctl(fd, FS_IOC_SETFLAGS, &flags);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
}
