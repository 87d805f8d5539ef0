#include "real/postmaster.h"

#include "real/cluster_path.h"
#include "real/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <unistd.h>

#define FILE_SIZE       4096
#define MEMORY_LINE     6         /* of postmaster.pid, from 0: key and id */
#define MEMORY_MAGIC    679834894 /* PGShmemMagic */
#define MEMORY_ATTEMPTS 100       /* of 10 ms, until the last process has let go */
#define QUIT_MS         10000     /* PostgreSQL itself gives its children 5 s */

/* As far as every version since 9.3 agrees. */
struct memory_header {
    int32_t magic;
    pid_t creator;
};

struct postmaster {
    pid_t pid;
    bool has_memory;
    int memory_id;
    uintmax_t memory_key;
};

static bool read_file(const char *path, char *text, size_t size, size_t *length)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    ssize_t got = read(fd, text, size - 1);
    (void)close(fd);
    if (got < 0) {
        return false;
    }
    text[got] = '\0';
    *length = (size_t)got;
    return true;
}

/* The n-th line of a text, from 0; NULL if there are fewer. */
static const char *line_of(const char *text, int n)
{
    for (; n > 0 && text != NULL; n--) {
        text = strchr(text, '\n');
        text = text == NULL ? NULL : text + 1;
    }
    return text;
}

static bool read_postmaster(const char *data, struct postmaster *postmaster)
{
    char path[PATH_MAX];
    char text[FILE_SIZE];
    size_t length;
    if (!cluster_path(path, sizeof path, "%s/postmaster.pid", data) ||
        !read_file(path, text, sizeof text, &length)) {
        return false;
    }
    /* A postgres without clients, as initdb runs it, writes its pid with a minus. */
    *postmaster = (struct postmaster){.pid = (pid_t)labs(strtol(text, NULL, 10))};
    const char *memory = line_of(text, MEMORY_LINE);
    if (memory != NULL) {
        char *at;
        char *end;
        postmaster->memory_key = strtoumax(memory, &at, 10);
        postmaster->memory_id = (int)strtol(at, &end, 10);
        postmaster->has_memory = at != memory && end != at;
    }
    return postmaster->pid > 1;
}

/* Whether the process is a `.../postgres -D DATA` (M1). */
static bool serves(pid_t pid, const char *data)
{
    char path[64];
    char text[FILE_SIZE];
    size_t length;
    (void)snprintf(path, sizeof path, "/proc/%jd/cmdline", (intmax_t)pid);
    if (!read_file(path, text, sizeof text, &length)) {
        return false;
    }
    const char *arguments[3] = {NULL};
    const char *at = text;
    for (int i = 0; i < 3 && at < text + length; i++) {
        arguments[i] = at;
        at += strlen(at) + 1;
    }
    if (arguments[2] == NULL) {
        return false;
    }
    const char *slash = strrchr(arguments[0], '/');
    return slash != NULL && strcmp(slash, "/postgres") == 0 && strcmp(arguments[1], "-D") == 0 &&
           strcmp(arguments[2], data) == 0;
}

bool postmaster_end(const char *data)
{
    struct postmaster postmaster;
    struct process process;
    if (!read_postmaster(data, &postmaster)) {
        return true;
    }
    if (!process_hold(&process, postmaster.pid)) {
        return errno == ESRCH || errno == EINVAL; /* EINVAL: a thread of a stranger */
    }
    bool over = !serves(postmaster.pid, data);
    if (!over) {
        (void)process_signal(&process, SIGQUIT);
        if (!process_ended(&process, QUIT_MS)) {
            process_kill_family(&process);
        }
        over = process_ended(&process, 0);
    }
    process_release(&process);
    return over;
}

/* Whether it is this server's, and no process has it attached (M2). */
static bool is_orphaned(const struct postmaster *postmaster, bool *in_use)
{
    struct shmid_ds status;
    *in_use = false;
    if (shmctl(postmaster->memory_id, IPC_STAT, &status) != 0 ||
        (uintmax_t)(uint32_t)status.shm_perm.__key != (uint32_t)postmaster->memory_key ||
        status.shm_segsz < sizeof(struct memory_header)) {
        return false;
    }
    *in_use = status.shm_nattch > 0;
    if (*in_use) {
        return false;
    }
    const struct memory_header *header = shmat(postmaster->memory_id, NULL, SHM_RDONLY);
    if ((intptr_t)header == -1) {
        return false;
    }
    bool ours = header->magic == MEMORY_MAGIC && header->creator == postmaster->pid;
    (void)shmdt(header);
    return ours;
}

void postmaster_free_memory(const char *data)
{
    struct postmaster postmaster;
    if (!read_postmaster(data, &postmaster) || !postmaster.has_memory) {
        return;
    }
    bool in_use = true;
    for (int i = 0; i < MEMORY_ATTEMPTS && in_use; i++) {
        if (is_orphaned(&postmaster, &in_use)) {
            (void)shmctl(postmaster.memory_id, IPC_RMID, NULL);
            return;
        }
        (void)poll(NULL, 0, in_use ? 10 : 0);
    }
}
