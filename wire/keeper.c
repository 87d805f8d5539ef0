#define _GNU_SOURCE /* close_range */
#include "wire/keeper.h"

#include "model/check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TREE_MAX    1024 /* processes of a tree that are signalled in one round */
#define KILL_ROUNDS 5000 /* of 1 ms */
#define SIGNALLED   128  /* exit status of the keeper for a program that a signal ended: + signal */

/* ---- the tree -------------------------------------------------------------------------------- */

/* Appends the children that one thread of a process has started. */
static size_t add_children_of(const char *path, pid_t *list, size_t count)
{
    char text[8192];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0) {
        (void)close(fd);
    }
    text[got < 0 ? 0 : got] = '\0';
    for (char *at = text, *end; count < TREE_MAX; at = end) {
        intmax_t pid = strtoimax(at, &end, 10);
        if (end == at) {
            break;
        }
        list[count++] = (pid_t)pid;
    }
    return count;
}

static size_t add_children(pid_t parent, pid_t *list, size_t count)
{
    char path[300];
    (void)snprintf(path, sizeof path, "/proc/%jd/task", (intmax_t)parent);
    DIR *threads = opendir(path);
    if (threads == NULL) {
        return count;
    }
    for (const struct dirent *entry; (entry = readdir(threads)) != NULL;) {
        if (entry->d_name[0] != '.') {
            (void)snprintf(path, sizeof path, "/proc/%jd/task/%s/children", (intmax_t)parent,
                           entry->d_name);
            count = add_children_of(path, list, count);
        }
    }
    (void)closedir(threads);
    return count;
}

static size_t list_tree(pid_t root, pid_t *list)
{
    size_t count = add_children(root, list, 0);
    for (size_t i = 0; i < count; i++) {
        count = add_children(list[i], list, count);
    }
    return count;
}

static bool is_alive(pid_t pid)
{
    struct process_state state;
    return process_state(pid, &state) && strchr("ZX", state.state) == NULL;
}

/* Returns how many of the tree were alive. */
static size_t signal_tree(pid_t root, int signal)
{
    pid_t list[TREE_MAX];
    size_t alive = 0;
    size_t count = list_tree(root, list);
    for (size_t i = 0; i < count; i++) {
        if (is_alive(list[i])) {
            alive++;
            (void)kill(list[i], signal);
        }
    }
    return alive;
}

/* Until a round finds nobody: what is started meanwhile is found by the next. */
static void kill_tree(pid_t root)
{
    for (int i = 0; i < KILL_ROUNDS && signal_tree(root, SIGKILL) > 0; i++) {
        (void)poll(NULL, 0, 1);
    }
}

/* ---- the keeper's own process ---------------------------------------------------------------- */

static void on_orphaned(int signal)
{
    (void)signal; /* ends the wait below */
}

static bool become(const struct keeper_plan *plan)
{
    const struct process_user *user = plan->user;
    int input = open("/dev/null", O_RDONLY);
    int output = open(plan->output, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)setsid();
    (void)umask(077);
    if (input < 0 || output < 0 || dup2(input, 0) != 0 || dup2(output, 1) != 1 ||
        dup2(output, 2) != 2) {
        return false;
    }
    if (user->drop && (setgroups(1, &user->gid) != 0 || setgid(user->gid) != 0 ||
                       setuid(user->uid) != 0 || setuid(0) == 0)) {
        return false;
    }
    (void)close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    return chdir(plan->folder) == 0;
}

static _Noreturn void program(const struct keeper_plan *plan)
{
    char *const arguments[] = {(char *)"sh", (char *)"-c", (char *)plan->command, NULL};
    if (!become(plan)) {
        (void)fprintf(stderr, "cannot stand in %s as the user %s: %s\n", plan->folder,
                      plan->user->name, strerror(errno));
        _exit(126);
    }
    (void)execve("/bin/sh", arguments, plan->environment);
    _exit(127);
}

/* Waits for the program's end, reaping whatever of the tree ends before. */
static int await_program(pid_t pid)
{
    int status = 0;
    for (;;) {
        pid_t ended = waitpid(-1, &status, 0);
        if (ended == pid) {
            return WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
        }
        if (ended < 0) { /* told to end, or there is nobody left */
            return SIGNALLED + SIGTERM;
        }
    }
}

static _Noreturn void keep(const struct keeper_plan *plan, pid_t parent)
{
    const struct sigaction orphaned = {.sa_handler = on_orphaned}; /* no restart: waiting ends */
    const struct sigaction ignored = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGTERM, &orphaned, NULL);
    (void)sigaction(SIGINT, &ignored, NULL);
    (void)setsid();
    (void)close_range(3, ~0U, 0);
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 || prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 ||
        getppid() != parent) {
        _exit(126);
    }
    pid_t pid = fork();
    if (pid == 0) {
        program(plan);
    }
    int status = pid < 0 ? 126 : await_program(pid);
    kill_tree(getpid());
    _exit(status);
}

/* ---- for the conductor ----------------------------------------------------------------------- */

bool keeper_start(struct keeper *keeper, const struct keeper_plan *plan, struct error *error)
{
    CHECK(plan->user->uid != 0); /* KP1 */
    pid_t parent = getpid();
    *keeper = (struct keeper){.process.fd = -1};
    pid_t pid = fork();
    if (pid == 0) {
        keep(plan, parent);
    }
    if (pid < 0 || !process_hold(&keeper->process, pid)) {
        return error_set(error, "cannot start a process: %s", strerror(errno));
    }
    return true;
}

static void release(struct keeper *keeper, int *status)
{
    while (waitpid(keeper->process.pid, status, 0) < 0 && errno == EINTR) {
    }
    keeper->process.pid = 0;
    process_release(&keeper->process);
}

bool keeper_ended(struct keeper *keeper, int *status)
{
    if (keeper->process.pid == 0 || !process_ended(&keeper->process, 0)) {
        return false;
    }
    release(keeper, status);
    return true;
}

/* The keeper is stopped first, so that it reaps nobody: pids of its children stay theirs. */
void keeper_kill(struct keeper *keeper)
{
    int ignored;
    if (keeper->process.pid == 0) {
        return;
    }
    (void)process_signal(&keeper->process, SIGSTOP);
    kill_tree(keeper->process.pid);
    (void)process_signal(&keeper->process, SIGKILL);
    release(keeper, &ignored);
}

void keeper_signal(const struct keeper *keeper, int signal)
{
    if (keeper->process.pid != 0) {
        (void)signal_tree(keeper->process.pid, signal);
    }
}

/* The state of a thread stands after the name in brackets. */
static bool thread_rests(const char *path)
{
    char text[512];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0) {
        (void)close(fd);
    }
    text[got < 0 ? 0 : got] = '\0';
    const char *bracket = strrchr(text, ')');
    return bracket == NULL || strchr("STtZX", bracket[2]) != NULL;
}

static bool process_rests(pid_t pid)
{
    char path[300];
    bool rests = true;
    (void)snprintf(path, sizeof path, "/proc/%jd/task", (intmax_t)pid);
    DIR *threads = opendir(path);
    if (threads == NULL) {
        return true;
    }
    for (const struct dirent *entry; rests && (entry = readdir(threads)) != NULL;) {
        (void)snprintf(path, sizeof path, "/proc/%jd/task/%s/stat", (intmax_t)pid, entry->d_name);
        rests = entry->d_name[0] == '.' || thread_rests(path);
    }
    (void)closedir(threads);
    return rests;
}

bool keeper_rests(const struct keeper *keeper)
{
    pid_t list[TREE_MAX];
    bool rests = true;
    size_t count = keeper->process.pid == 0 ? 0 : list_tree(keeper->process.pid, list);
    for (size_t i = 0; rests && i < count; i++) {
        rests = process_rests(list[i]);
    }
    return rests;
}
