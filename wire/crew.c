#include "wire/crew.h"

#include "model/check.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLOSE_ATTEMPTS 1000 /* of 10 ms, until a lane that does not end is killed */

/* What a lane says when it has opened. */
struct opening {
    bool ok;
    bool setup_failed;
    struct error why;
};

/* ---- bytes ----------------------------------------------------------------------------------- */

static bool write_all(int fd, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t count = send(fd, (const char *)bytes + done, size - done, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            return false;
        }
        done += (size_t)count;
    }
    return true;
}

static bool read_all(int fd, void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t count = recv(fd, (char *)bytes + done, size - done, 0);
        if (count < 0 && errno == EINTR && !lane_interrupted) {
            continue;
        }
        if (count <= 0) {
            return false;
        }
        done += (size_t)count;
    }
    return true;
}

/* A result is long because of its commits: only those that there are travel. */
static bool write_result(int fd, const struct trial_result *result)
{
    return write_all(fd, result, offsetof(struct trial_result, commits)) &&
           write_all(fd, result->commits, result->commit_count * sizeof result->commits[0]) &&
           write_all(fd, &result->reference, sizeof result->reference);
}

static bool read_result(int fd, struct trial_result *result)
{
    return read_all(fd, result, offsetof(struct trial_result, commits)) &&
           result->commit_count <= TRIAL_COMMITS_MAX &&
           read_all(fd, result->commits, result->commit_count * sizeof result->commits[0]) &&
           read_all(fd, &result->reference, sizeof result->reference);
}

/* ---- a lane's process ------------------------------------------------------------------------ */

static void on_end(int signal)
{
    (void)signal;
    lane_interrupted = 1;
}

static void serve(struct lane *lane, int fd)
{
    static struct trial_plan plan;
    static struct trial_result result;
    while (!lane_interrupted && read_all(fd, &plan, sizeof plan)) {
        trial_do(lane, &plan, &result);
        if (!write_result(fd, &result)) {
            return;
        }
    }
}

/* Ctrl-C at a terminal reaches all of its processes: the caller decides, and tells by SIGTERM. */
static _Noreturn void be_lane(const struct lane_options *options, int fd, pid_t parent)
{
    static struct lane lane;
    struct opening opening = {.ok = false};
    const struct sigaction end = {.sa_handler = on_end};
    const struct sigaction ignored = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGTERM, &end, NULL);
    (void)sigaction(SIGINT, &ignored, NULL);
    (void)sigaction(SIGPIPE, &ignored, NULL);
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != parent) {
        _exit(1);
    }
    opening.ok = lane_open(&lane, options, &opening.why);
    opening.setup_failed = lane.setup_failed;
    if (write_all(fd, &opening, sizeof opening) && opening.ok) {
        serve(&lane, fd);
    }
    if (opening.ok) {
        lane_close(&lane);
    }
    _exit(0);
}

/* ---- for the caller -------------------------------------------------------------------------- */

static bool start_lane(struct crew *crew, const struct lane_options *options, struct error *error)
{
    int ends[2];
    pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return error_set(error, "cannot start a lane: %s", strerror(errno));
    }
    pid_t pid = fork();
    if (pid == 0) {
        for (unsigned i = 0; i < crew->count; i++) {
            (void)close(crew->lanes[i].fd);
        }
        (void)close(ends[0]);
        be_lane(options, ends[1], parent);
    }
    (void)close(ends[1]);
    if (pid < 0) {
        (void)close(ends[0]);
        return error_set(error, "cannot start a lane: %s", strerror(errno));
    }
    crew->lanes[crew->count++] = (struct crew_lane){.pid = pid, .fd = ends[0]};
    return true;
}

bool crew_open(struct crew *crew, const struct lane_options *options, unsigned lanes,
               struct error *error)
{
    bool ok = true;
    bool setup_failed = false;
    CHECK(lanes >= 1 && lanes <= CREW_LANES_MAX);
    *crew = (struct crew){0};
    for (unsigned i = 0; ok && i < lanes; i++) {
        ok = start_lane(crew, options, error);
    }
    for (unsigned i = 0; ok && i < lanes; i++) {
        struct opening opening;
        ok = read_all(crew->lanes[i].fd, &opening, sizeof opening);
        if (!ok) {
            (void)error_set(error, "a lane ended while it was starting");
        } else if (!opening.ok) {
            ok = false;
            setup_failed = opening.setup_failed;
            *error = opening.why;
        }
    }
    if (!ok) {
        crew_close(crew);
        crew->setup_failed = setup_failed;
    }
    return ok;
}

static void end_lane(struct crew_lane *lane)
{
    (void)close(lane->fd);
    (void)kill(lane->pid, SIGTERM);
    for (int i = 0; i < CLOSE_ATTEMPTS; i++) {
        pid_t ended = waitpid(lane->pid, NULL, WNOHANG);
        if (ended == lane->pid || (ended < 0 && errno != EINTR)) {
            return;
        }
        (void)poll(NULL, 0, 10);
    }
    (void)kill(lane->pid, SIGKILL);
    (void)waitpid(lane->pid, NULL, 0);
}

void crew_close(struct crew *crew)
{
    for (unsigned i = 0; i < crew->count; i++) {
        (void)kill(crew->lanes[i].pid, SIGTERM); /* all at once, then one after the other */
    }
    for (unsigned i = 0; i < crew->count; i++) {
        end_lane(&crew->lanes[i]);
    }
    *crew = (struct crew){0};
}

static bool give_orders(struct crew *crew, crew_next *next, void *context, unsigned *busy)
{
    static struct trial_plan plan;
    *busy = 0;
    for (unsigned i = 0; i < crew->count; i++) {
        struct crew_lane *lane = &crew->lanes[i];
        if (!lane->busy && next(context, &plan, &lane->tag)) {
            lane->busy = true;
            if (!write_all(lane->fd, &plan, sizeof plan)) {
                return false;
            }
        }
        *busy += lane->busy;
    }
    return true;
}

static bool take_results(struct crew *crew, crew_took *took, void *context)
{
    static struct trial_result result;
    struct pollfd list[CREW_LANES_MAX];
    for (unsigned i = 0; i < crew->count; i++) {
        list[i] = (struct pollfd){.fd = crew->lanes[i].fd, .events = POLLIN};
    }
    if (poll(list, crew->count, 200) <= 0) {
        return true;
    }
    for (unsigned i = 0; i < crew->count; i++) {
        if (list[i].revents == 0) {
            continue;
        }
        if (!read_result(crew->lanes[i].fd, &result)) {
            return false;
        }
        crew->lanes[i].busy = false;
        took(context, crew->lanes[i].tag, &result);
    }
    return true;
}

bool crew_work(struct crew *crew, crew_next *next, crew_took *took, bool (*stop)(void),
               void *context)
{
    for (;;) {
        unsigned busy;
        if (stop() || !give_orders(crew, next, context, &busy)) {
            return false;
        }
        if (busy == 0) {
            return true;
        }
        if (!take_results(crew, took, context)) {
            return false;
        }
    }
}
