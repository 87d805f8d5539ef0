#define _GNU_SOURCE /* close_range, pipe2 */
#include "real/process.h"

#include "model/check.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FAMILY_MAX    4096 /* children that are killed at once; PostgreSQL has one a connection */
#define STOP_ATTEMPTS 1000 /* milliseconds until a signal has had its effect */

static const char *const environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", "TZ=UTC",
                                          NULL};

/* ---- users ---------------------------------------------------------------------------------- */

bool process_user_find(struct process_user *user, struct error *error)
{
    static const char *const unprivileged[] = {"postgres", "nobody"};
    *user = (struct process_user){.uid = geteuid(), .gid = getegid(), .name = "oneself"};
    if (user->uid != 0) {
        return true;
    }
    for (size_t i = 0; i < COUNT(unprivileged); i++) {
        const struct passwd *entry = getpwnam(unprivileged[i]);
        if (entry != NULL && entry->pw_uid != 0) {
            user->uid = entry->pw_uid;
            user->gid = entry->pw_gid;
            user->drop = true;
            (void)snprintf(user->name, sizeof user->name, "%s", unprivileged[i]);
            return true;
        }
    }
    return error_set(error, "PostgreSQL does not run as root, and there is neither a user "
                            "postgres nor a user nobody to run it as: run as another user");
}

/* ---- starting ------------------------------------------------------------------------------- */

/* How far the child came; what it tells its parent when it comes no further. */
enum step { STEP_OUTPUT, STEP_USER, STEP_ORPHAN, STEP_EXEC };
struct report {
    enum step step;
    int error;
};

/* From fork to exec: only what is safe in the child of a program with threads. */
static bool set_up_streams(const struct process_plan *plan)
{
    int input = open(plan->input == NULL ? "/dev/null" : plan->input, O_RDONLY);
    int output = open(plan->output, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
    return input >= 0 && output >= 0 && dup2(input, 0) == 0 && dup2(output, 1) == 1 &&
           dup2(output, 2) == 2;
}

static bool drop_rights(const struct process_user *user)
{
    return !user->drop || (setgroups(1, &user->gid) == 0 && setgid(user->gid) == 0 &&
                           setuid(user->uid) == 0 && setuid(0) != 0);
}

/* After drop_rights(): a change of user would take the signal back. */
static bool die_with(pid_t parent, int signal)
{
    return signal == 0 || (prctl(PR_SET_PDEATHSIG, signal) == 0 && getppid() == parent);
}

/* What every program has, and what this one has besides. */
static void fill_environment(const char **list, const struct process_plan *plan)
{
    size_t count = 0;
    for (; environment[count] != NULL; count++) {
        list[count] = environment[count];
    }
    for (size_t i = 0;
         plan->environment != NULL && plan->environment[i] != NULL && i < PROCESS_VARIABLES_MAX;
         i++) {
        list[count++] = plan->environment[i];
    }
    list[count] = NULL;
}

static enum step process_become(const struct process_plan *plan, pid_t parent)
{
    const char *variables[COUNT(environment) + PROCESS_VARIABLES_MAX];
    sigset_t none;
    fill_environment(variables, plan);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)setsid(); /* Ctrl-C at the terminal is for Assay, which then ends the server */
    (void)umask(077);
    if (!set_up_streams(plan)) {
        return STEP_OUTPUT;
    }
    if (chdir("/") != 0 || !drop_rights(plan->user)) {
        return STEP_USER;
    }
    if (!die_with(parent, plan->when_orphaned)) {
        return STEP_ORPHAN;
    }
    (void)close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    (void)execve(plan->arguments[0], (char *const *)plan->arguments, (char *const *)variables);
    return STEP_EXEC;
}

static _Noreturn void child(const struct process_plan *plan, int pipe_end, pid_t parent)
{
    int told = fcntl(pipe_end, F_DUPFD_CLOEXEC, 3); /* out of the way of the streams */
    struct report report = {.step = process_become(plan, parent)};
    report.error = errno;
    (void)!write(told, &report, sizeof report);
    _exit(127);
}

static bool process_tell(const struct process_plan *plan, const struct report *report,
                         struct error *error)
{
    const char *reason = strerror(report->error);
    switch (report->step) {
    case STEP_OUTPUT:
        return error_set(error, "cannot write %s: %s", plan->output, reason);
    case STEP_USER:
        return error_set(error,
                         "PostgreSQL does not run as root, and becoming the user %s does "
                         "not work: %s; run as another user",
                         plan->user->name, reason);
    case STEP_ORPHAN:
        return error_set(error, "%s was not started: the process that starts it ended",
                         plan->arguments[0]);
    case STEP_EXEC:
        break;
    }
    return error_set(error, "cannot run %s as the user %s: %s", plan->arguments[0],
                     plan->user->name, reason);
}

/* What the child had to report; nothing when it became the program, which closed the pipe. */
static bool read_report(int fd, struct report *report)
{
    ssize_t got;
    do {
        got = read(fd, report, sizeof *report);
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof *report;
}

static void reap(pid_t pid)
{
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

bool process_start(struct process *process, const struct process_plan *plan, struct error *why)
{
    CHECK(plan->user->uid != 0); /* P3 */
    *process = (struct process){.fd = -1};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return error_set(why, "cannot start %s: %s", plan->arguments[0], strerror(errno));
    }
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        child(plan, ends[1], parent);
    }
    int error = errno;
    (void)close(ends[1]);
    struct report report;
    bool failed = pid > 0 && read_report(ends[0], &report);
    (void)close(ends[0]);
    if (pid < 0) {
        return error_set(why, "cannot start %s: %s", plan->arguments[0], strerror(error));
    }
    if (failed) {
        reap(pid);
        return process_tell(plan, &report, why);
    }
    if (!process_hold(process, pid)) {
        error = errno;
        (void)kill(pid, SIGKILL); /* our own child, not reaped yet: the pid is still its own */
        reap(pid);
        return error_set(why, "cannot hold %s: %s", plan->arguments[0], strerror(error));
    }
    return true;
}

bool process_run(const struct process_plan *plan, int timeout_ms, struct error *error)
{
    struct process process;
    if (!process_start(&process, plan, error)) {
        return false;
    }
    bool in_time = process_ended(&process, timeout_ms);
    if (!in_time) {
        process_kill_family(&process);
    }
    int status = -1;
    while (waitpid(process.pid, &status, 0) < 0 && errno == EINTR) {
    }
    process.pid = 0; /* reaped */
    process_release(&process);
    if (!in_time) {
        return error_set(error, "%s did not end in %d s", plan->arguments[0], timeout_ms / 1000);
    }
    if (status != 0) {
        return error_set(error, "%s failed", plan->arguments[0]);
    }
    return true;
}

/* ---- holding and ending --------------------------------------------------------------------- */

bool process_hold(struct process *process, pid_t pid)
{
    *process = (struct process){.pid = pid, .fd = pidfd_open(pid, 0)};
    if (process->fd < 0) {
        process->pid = 0;
        return false;
    }
    (void)fcntl(process->fd, F_SETFD, FD_CLOEXEC);
    return true;
}

void process_release(struct process *process)
{
    if (process->pid != 0 && process_ended(process, 0)) {
        (void)waitpid(process->pid, NULL, WNOHANG);
    }
    if (process->fd >= 0) {
        (void)close(process->fd);
    }
    *process = (struct process){.fd = -1};
}

static int64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool process_ended(const struct process *process, int timeout_ms)
{
    CHECK(process->fd >= 0);
    int64_t until = now_ms() + timeout_ms;
    for (int64_t left = timeout_ms;; left = until - now_ms()) {
        struct pollfd end = {.fd = process->fd, .events = POLLIN};
        int count = poll(&end, 1, left < 0 ? 0 : (int)left);
        if (count >= 0 || errno != EINTR) { /* a signal of the caller's ends no wait */
            return count > 0;
        }
    }
}

bool process_signal(const struct process *process, int signal)
{
    return pidfd_send_signal(process->fd, signal, NULL, 0) == 0;
}

/* The n-th field after this one. */
static const char *skip_fields(const char *text, int n)
{
    for (; n > 0 && text != NULL; n--) {
        text = strchr(text, ' ');
        text = text == NULL ? NULL : text + 1;
    }
    return text;
}

/* Field 2 is a name in brackets, which may hold anything; after it come the state, the parent and,
 * as field 22, the start. */
static bool parse_state(const char *text, struct process_state *state)
{
    const char *rest = skip_fields(strrchr(text, ')'), 1);
    const char *start = skip_fields(rest, 19);
    if (start == NULL) {
        errno = EINVAL;
        return false;
    }
    state->state = rest[0];
    state->parent = (pid_t)strtoimax(rest + 1, NULL, 10);
    state->start = strtoumax(start, NULL, 10);
    return true;
}

bool process_state(pid_t pid, struct process_state *state)
{
    char path[64];
    char text[1024];
    (void)snprintf(path, sizeof path, "/proc/%jd/stat", (intmax_t)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    ssize_t got = read(fd, text, sizeof text - 1);
    int error = got < 0 ? errno : EINVAL;
    (void)close(fd);
    errno = error;
    if (got <= 0) {
        return false;
    }
    text[got] = '\0';
    return parse_state(text, state);
}

static bool stopped_or_ended(pid_t pid)
{
    struct process_state state;
    return !process_state(pid, &state) || strchr("TtZX", state.state) != NULL;
}

static bool ended(pid_t pid)
{
    struct process_state state;
    return !process_state(pid, &state) || strchr("ZX", state.state) != NULL;
}

static void wait_until(bool (*done)(pid_t pid), pid_t pid)
{
    for (int i = 0; i < STOP_ATTEMPTS && !done(pid); i++) {
        (void)poll(NULL, 0, 1);
    }
}

/* The children of a process, zombies included. */
static size_t list_children(pid_t parent, pid_t *children, size_t limit)
{
    size_t count = 0;
    DIR *processes = opendir("/proc");
    if (processes == NULL) {
        return 0;
    }
    for (const struct dirent *entry; count < limit && (entry = readdir(processes)) != NULL;) {
        struct process_state state;
        pid_t pid = isdigit((unsigned char)entry->d_name[0])
                        ? (pid_t)strtoimax(entry->d_name, NULL, 10)
                        : 0;
        if (pid > 0 && process_state(pid, &state) && state.parent == parent) {
            children[count++] = pid;
        }
    }
    (void)closedir(processes);
    return count;
}

void process_kill_family(const struct process *process)
{
    pid_t children[FAMILY_MAX];
    if (process_signal(process, SIGSTOP)) {
        wait_until(stopped_or_ended, process->pid);
        /* A stopped parent reaps no child: until it is killed, these pids stay its children's (P1).
         */
        size_t count =
            process_ended(process, 0) ? 0 : list_children(process->pid, children, FAMILY_MAX);
        for (size_t i = 0; i < count; i++) {
            (void)kill(children[i], SIGKILL);
        }
        for (size_t i = 0; i < count; i++) {
            wait_until(ended, children[i]);
        }
    }
    (void)process_signal(process, SIGKILL);
    for (int i = 0; i < STOP_ATTEMPTS && !process_ended(process, 1); i++) {
    }
}
