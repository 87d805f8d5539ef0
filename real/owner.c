#include "real/owner.h"

#include "real/cluster_path.h"
#include "real/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SPACE_SIZE 48
#define KEPT       "kept\n"

struct owner {
    intmax_t pid;
    uint64_t start;
    char space[SPACE_SIZE]; /* the pid namespace, as /proc names it */
};

static void own_space(char *space)
{
    ssize_t length = readlink("/proc/self/ns/pid", space, SPACE_SIZE - 1);
    space[length < 0 ? 0 : length] = '\0';
}

static bool write_owner(int fd)
{
    struct process_state self;
    char space[SPACE_SIZE];
    own_space(space);
    if (!process_state(getpid(), &self)) {
        return false;
    }
    int length = dprintf(fd, "%jd %" PRIu64 " %s\n", (intmax_t)getpid(), self.start, space);
    return length > 0;
}

int owner_take(const char *folder)
{
    char path[PATH_MAX];
    if (!cluster_path(path, sizeof path, "%s/" OWNER_FILE, folder)) {
        return -1;
    }
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        return -1;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 || !write_owner(fd)) {
        int error = errno;
        (void)close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

bool owner_leave(int fd, bool keep)
{
    bool ok = !keep ||
              (ftruncate(fd, 0) == 0 && pwrite(fd, KEPT, strlen(KEPT), 0) == (ssize_t)strlen(KEPT));
    (void)close(fd);
    return ok;
}

/* The owner that the file's text names. False: none. */
static bool parse(const char *text, struct owner *owner)
{
    char *at;
    owner->pid = strtoimax(text, &at, 10);
    owner->start = strtoumax(at, &at, 10);
    size_t length = *at == ' ' ? strcspn(at + 1, "\n") : 0;
    if (owner->pid <= 0 || length == 0 || length >= sizeof owner->space) {
        return false;
    }
    memcpy(owner->space, at + 1, length);
    owner->space[length] = '\0';
    return true;
}

static bool process_is_gone(const struct owner *owner)
{
    struct process_state state;
    if (!process_state((pid_t)owner->pid, &state)) {
        return errno == ENOENT || errno == ESRCH;
    }
    return state.start != owner->start || state.state == 'Z' || state.state == 'X';
}

/* Whether the owner that this file names is gone; `fresh` if it names none. */
static bool named_is_gone(int fd, bool fresh)
{
    char text[128];
    char space[SPACE_SIZE];
    struct owner owner;
    ssize_t got = pread(fd, text, sizeof text - 1, 0);
    if (got < 0) {
        return false;
    }
    text[got] = '\0';
    if (strcmp(text, KEPT) == 0) {
        return false; /* O2 */
    }
    if (!parse(text, &owner)) {
        return !fresh; /* O3 */
    }
    own_space(space);
    if (strcmp(owner.space, space) == 0) {
        return process_is_gone(&owner);
    }
    return flock(fd, LOCK_SH | LOCK_NB) == 0; /* closing it unlocks it again */
}

bool owner_is_gone(const char *folder)
{
    struct stat status;
    char path[PATH_MAX];
    if (lstat(folder, &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid() ||
        !cluster_path(path, sizeof path, "%s/" OWNER_FILE, folder)) {
        return false;
    }
    bool fresh = time(NULL) - status.st_mtime < OWNER_GRACE_SEC;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return errno == ENOENT && !fresh;
    }
    bool gone = named_is_gone(fd, fresh);
    (void)close(fd);
    return gone;
}
