#define _GNU_SOURCE /* memfd_create, pipe2 */

#include "bench/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS   50 /* how often an interrupt is checked */
#define LINE_SIZE 400

/* What it has printed: a line that is not whole yet, and the last one that was. */
struct output {
    char line[LINE_SIZE], last[LINE_SIZE];
    size_t length;
    command_line *each;
    void *context;
};

static double now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int input_of(const struct command *command)
{
    if (command->input == NULL) {
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
    int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd >= 0 &&
        (write(fd, command->input, command->input_size) != (ssize_t)command->input_size ||
         lseek(fd, 0, SEEK_SET) != 0)) {
        (void)close(fd);
        fd = -1;
    }
    return fd;
}

static _Noreturn void become(const struct command *command, int input, int output, pid_t parent)
{
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    if (getppid() == parent && dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
        dup2(output, STDERR_FILENO) >= 0 &&
        (command->folder == NULL || chdir(command->folder) == 0) &&
        (command->variable == NULL || setenv(command->variable, command->value, 1) == 0)) {
        execvp(command->arguments[0], (char *const *)(void *)command->arguments);
    }
    printf("%s: %s\n", command->arguments[0], strerror(errno));
    fflush(stdout);
    _exit(127);
}

static void take_byte(struct output *output, char byte)
{
    if (byte != '\n' && output->length + 1 < LINE_SIZE) {
        output->line[output->length++] = byte;
    }
    if (byte == '\n' && output->length > 0) {
        output->line[output->length] = '\0';
        memcpy(output->last, output->line, output->length + 1);
        output->length = 0;
        output->each(output->context, output->last);
    }
}

/* False: there will be no more. */
static bool take_some(struct output *output, int fd)
{
    char bytes[4096];
    ssize_t got = read(fd, bytes, sizeof bytes);
    for (ssize_t i = 0; i < got; i++) {
        take_byte(output, bytes[i]);
    }
    return got > 0 || (got < 0 && errno == EINTR);
}

/* It is left to be reaped. */
static bool has_ended(pid_t pid)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid == pid;
}

/* Returns NULL when it has closed its output, or has ended and left that to others; else why it is
 * not waited for any longer. */
static const char *listen_to(const struct command *command, struct output *output, int fd,
                             pid_t pid)
{
    double late = now_s() + command->seconds_max;
    for (;;) {
        struct pollfd look = {.fd = fd, .events = POLLIN};
        bool more = poll(&look, 1, LOOK_MS) > 0;
        if (more ? !take_some(output, fd) : has_ended(pid)) {
            return NULL;
        }
        if (command->interrupted != NULL && command->interrupted()) {
            return "interrupted";
        }
        if (now_s() > late) {
            return "it took too long";
        }
    }
}

/* The whole group goes before its leader is reaped: until then its number is nobody else's. */
static bool end(pid_t pid, const char *given_up)
{
    siginfo_t info;
    int status = 0;
    if (given_up == NULL) {
        while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
        }
    }
    (void)kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return given_up == NULL && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool command_run(const struct command *command, command_line *each, void *context, char *why,
                 size_t size)
{
    struct output output = {.last = "it said nothing", .each = each, .context = context};
    int ends[2], input = input_of(command);
    if (input < 0 || pipe2(ends, O_CLOEXEC) != 0) {
        snprintf(why, size, "%s: %s", command->arguments[0], strerror(errno));
        return false;
    }
    fflush(NULL);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        become(command, input, ends[1], parent);
    }
    (void)close(input);
    (void)close(ends[1]);
    bool done = false;
    if (pid > 0) {
        (void)setpgid(pid, pid); /* parent or child, whichever runs first */
        const char *given_up = listen_to(command, &output, ends[0], pid);
        done = end(pid, given_up);
        snprintf(why, size, "%s%s%s: %s", command->arguments[0], given_up == NULL ? "" : ", ",
                 given_up == NULL ? " failed" : given_up, output.last);
    } else {
        snprintf(why, size, "%s: %s", command->arguments[0], strerror(errno));
    }
    (void)close(ends[0]);
    return done;
}
