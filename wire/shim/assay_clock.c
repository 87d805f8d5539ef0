/* Preloaded into foreign processes and the private server: reads of the clock give real time plus the
 * offset of the page (wire/page.h), and timed waits last until that clock has reached their end.
 *
 * A wait asks the kernel for at most SLICE_NS at a time, so that a clock that leaps is noticed soon
 * without a signal, which a foreign program might have a use for. Without the page everything is as
 * it would be without this library. */
#define _GNU_SOURCE
#include "wire/page.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND   INT64_C(1000000000)
#define SLICE_NS (5 * INT64_C(1000000))

static struct page *page;
static bool waits; /* the server's waits are its own: only its reads are moved */

static __attribute__((constructor)) void begin(void)
{
    const char *path = getenv(PAGE_VARIABLE);
    const char *reads_only = getenv(PAGE_VARIABLE "_READS");
    int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    void *mapped = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    waits = reads_only == NULL;
    page = mapped == MAP_FAILED ? NULL : mapped;
}

/* ---- time ------------------------------------------------------------------------------------ */

static int64_t offset(void)
{
    return page == NULL ? 0 : atomic_load_explicit(&page->offset, memory_order_relaxed);
}

static int64_t nanoseconds(const struct timespec *time)
{
    return (int64_t)time->tv_sec * SECOND + time->tv_nsec;
}

static struct timespec timespec_of(int64_t value)
{
    value = value < 0 ? 0 : value;
    return (struct timespec){.tv_sec = value / SECOND, .tv_nsec = value % SECOND};
}

/* The kernel's clock, by the system call: the library's function is the one below. */
static int64_t real_now(clockid_t clock)
{
    struct timespec time = {0};
    static int (*next)(clockid_t, struct timespec *);
    if (next == NULL) {
        *(void **)&next = dlsym(RTLD_NEXT, "clock_gettime");
    }
    next(clock, &time);
    return nanoseconds(&time);
}

static int64_t now(clockid_t clock)
{
    return real_now(clock) + offset();
}

static bool is_moved(clockid_t clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME ||
           clock == CLOCK_REALTIME_COARSE || clock == CLOCK_MONOTONIC_COARSE ||
           clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_TAI;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    static int (*next)(clockid_t, struct timespec *);
    if (next == NULL) {
        *(void **)&next = dlsym(RTLD_NEXT, "clock_gettime");
    }
    int status = next(clock, time);
    if (status == 0 && page != NULL && is_moved(clock)) {
        *time = timespec_of(nanoseconds(time) + offset());
    }
    return status;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    (void)zone;
    int64_t value = now(CLOCK_REALTIME);
    time->tv_sec = value / SECOND;
    time->tv_usec = value % SECOND / 1000;
    return 0;
}

time_t time(time_t *timer)
{
    time_t value = now(CLOCK_REALTIME) / SECOND;
    if (timer != NULL) {
        *timer = value;
    }
    return value;
}

/* ---- waits ----------------------------------------------------------------------------------- */

/* The place of this wait in the page; NULL: it is full, and the wait is not seen. */
static struct page_wait *enter(int64_t deadline)
{
    int32_t own = (int32_t)getpid();
    unsigned start = (unsigned)syscall(SYS_gettid);
    for (unsigned i = 0; page != NULL && i < PAGE_WAITS; i++) {
        struct page_wait *wait = &page->waits[(start + i) % PAGE_WAITS];
        int32_t none = 0;
        if (atomic_compare_exchange_strong(&wait->pid, &none, own)) {
            atomic_store(&wait->deadline, deadline);
            return wait;
        }
    }
    return NULL;
}

static void leave(struct page_wait *wait)
{
    if (wait != NULL) {
        atomic_store(&wait->deadline, 0);
        atomic_store(&wait->pid, 0);
    }
}

/* What is left until the deadline, and how much of it the kernel is asked for now. */
static int64_t left(int64_t deadline)
{
    int64_t rest = deadline - now(CLOCK_MONOTONIC);
    return rest < 0 ? 0 : rest;
}

static int64_t slice(int64_t rest)
{
    return rest < SLICE_NS ? rest : SLICE_NS;
}

static bool is_plain(void)
{
    return page == NULL || !waits;
}

int epoll_pwait(int fd, struct epoll_event *events, int max, int timeout, const sigset_t *mask)
{
    static int (*next)(int, struct epoll_event *, int, int, const sigset_t *);
    if (next == NULL) {
        *(void **)&next = dlsym(RTLD_NEXT, "epoll_pwait");
    }
    if (is_plain() || timeout <= 0) {
        return next(fd, events, max, timeout, mask);
    }
    int64_t deadline = now(CLOCK_MONOTONIC) + timeout * (SECOND / 1000);
    struct page_wait *wait = enter(deadline);
    int count;
    do {
        int64_t part = (slice(left(deadline)) + 999999) / 1000000;
        count = next(fd, events, max, (int)part, mask);
    } while (count == 0 && left(deadline) > 0);
    leave(wait);
    return count;
}

int epoll_wait(int fd, struct epoll_event *events, int max, int timeout)
{
    return epoll_pwait(fd, events, max, timeout, NULL);
}

int ppoll(struct pollfd *list, nfds_t size, const struct timespec *timeout, const sigset_t *mask)
{
    static int (*next)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
    if (next == NULL) {
        *(void **)&next = dlsym(RTLD_NEXT, "ppoll");
    }
    if (is_plain() || timeout == NULL || nanoseconds(timeout) == 0) {
        return next(list, size, timeout, mask);
    }
    int64_t deadline = now(CLOCK_MONOTONIC) + nanoseconds(timeout);
    struct page_wait *wait = enter(deadline);
    int count;
    do {
        struct timespec part = timespec_of(slice(left(deadline)));
        count = next(list, size, &part, mask);
    } while (count == 0 && left(deadline) > 0);
    leave(wait);
    return count;
}

int poll(struct pollfd *list, nfds_t size, int timeout)
{
    struct timespec time = timespec_of((int64_t)timeout * (SECOND / 1000));
    return ppoll(list, size, timeout < 0 ? NULL : &time, NULL);
}

int pselect(int size, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
            const struct timespec *restrict timeout, const sigset_t *restrict mask)
{
    static int (*next)(int, fd_set *, fd_set *, fd_set *, const struct timespec *,
                       const sigset_t *);
    fd_set none, wanted[3];
    FD_ZERO(&none);
    if (next == NULL) {
        *(void **)&next = dlsym(RTLD_NEXT, "pselect");
    }
    if (is_plain() || timeout == NULL || nanoseconds(timeout) == 0) {
        return next(size, in, out, other, timeout, mask);
    }
    wanted[0] = in == NULL ? none : *in; /* a call that times out clears them */
    wanted[1] = out == NULL ? none : *out;
    wanted[2] = other == NULL ? none : *other;
    int64_t deadline = now(CLOCK_MONOTONIC) + nanoseconds(timeout);
    struct page_wait *wait = enter(deadline);
    int count;
    do {
        struct timespec part = timespec_of(slice(left(deadline)));
        fd_set *sets[3] = {in, out, other};
        for (int i = 0; i < 3; i++) {
            if (sets[i] != NULL) {
                *sets[i] = wanted[i];
            }
        }
        count = next(size, in, out, other, &part, mask);
    } while (count == 0 && left(deadline) > 0);
    leave(wait);
    return count;
}

int select(int size, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
           struct timeval *restrict timeout)
{
    struct timespec time = {0};
    if (timeout != NULL) {
        time = timespec_of((int64_t)timeout->tv_sec * SECOND + timeout->tv_usec * 1000);
    }
    return pselect(size, in, out, other, timeout == NULL ? NULL : &time, NULL);
}

/* Sleeps until the deadline; an interrupted sleep says what is left. */
static int sleep_until(int64_t deadline, struct timespec *rest)
{
    static int (*next)(const struct timespec *, struct timespec *);
    if (next == NULL) {
        *(void **)&next = dlsym(RTLD_NEXT, "nanosleep");
    }
    struct page_wait *wait = is_plain() ? NULL : enter(deadline);
    int status = 0;
    while (status == 0 && left(deadline) > 0) {
        struct timespec part = timespec_of(is_plain() ? left(deadline) : slice(left(deadline)));
        status = next(&part, NULL);
    }
    int error = errno;
    leave(wait);
    if (status != 0 && rest != NULL) {
        *rest = timespec_of(left(deadline));
    }
    errno = error;
    return status;
}

int nanosleep(const struct timespec *time, struct timespec *rest)
{
    if (time->tv_nsec < 0 || time->tv_nsec >= SECOND || time->tv_sec < 0) {
        errno = EINVAL;
        return -1;
    }
    return sleep_until(now(CLOCK_MONOTONIC) + nanoseconds(time), rest);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *rest)
{
    int64_t length = nanoseconds(time);
    if ((flags & TIMER_ABSTIME) != 0) {
        length -= now(clock);
    }
    return length > 0 && sleep_until(now(CLOCK_MONOTONIC) + length, rest) != 0 ? errno : 0;
}

int usleep(useconds_t time)
{
    return sleep_until(now(CLOCK_MONOTONIC) + (int64_t)time * 1000, NULL);
}

unsigned sleep(unsigned seconds)
{
    struct timespec rest = {0};
    if (sleep_until(now(CLOCK_MONOTONIC) + (int64_t)seconds * SECOND, &rest) == 0) {
        return 0;
    }
    return (unsigned)rest.tv_sec + (rest.tv_nsec > 0);
}

/* ---- condition variables --------------------------------------------------------------------- */

int pthread_cond_clockwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
                           clockid_t clock_id, const struct timespec *restrict abstime)
{
    static int (*next)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
    if (next == NULL) {
        *(void **)&next = dlsym(RTLD_NEXT, "pthread_cond_clockwait");
    }
    if (is_plain()) {
        return next(cond, mutex, clock_id, abstime);
    }
    int64_t deadline = now(CLOCK_MONOTONIC) + nanoseconds(abstime) - now(clock_id);
    struct page_wait *wait = enter(deadline);
    int status;
    do {
        struct timespec part = timespec_of(real_now(clock_id) + slice(left(deadline)));
        status = next(cond, mutex, clock_id, &part);
    } while (status == ETIMEDOUT && left(deadline) > 0);
    leave(wait);
    return status;
}

/* Which clock the variable has is not told: glibc keeps it in its flags, and both clocks are moved by
 * the same offset, so that only the kind of `abstime` matters. One long before now is monotonic. */
int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict abstime)
{
    bool monotonic = nanoseconds(abstime) < now(CLOCK_REALTIME) / 2;
    return pthread_cond_clockwait(cond, mutex, monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME,
                                  abstime);
}

int sem_clockwait(sem_t *restrict sem, clockid_t clock_id, const struct timespec *restrict abstime)
{
    static int (*next)(sem_t *, clockid_t, const struct timespec *);
    if (next == NULL) {
        *(void **)&next = dlsym(RTLD_NEXT, "sem_clockwait");
    }
    if (is_plain()) {
        return next(sem, clock_id, abstime);
    }
    int64_t deadline = now(CLOCK_MONOTONIC) + nanoseconds(abstime) - now(clock_id);
    struct page_wait *wait = enter(deadline);
    int status;
    do {
        struct timespec part = timespec_of(real_now(clock_id) + slice(left(deadline)));
        status = next(sem, clock_id, &part);
    } while (status != 0 && errno == ETIMEDOUT && left(deadline) > 0);
    leave(wait);
    return status;
}

int sem_timedwait(sem_t *restrict sem, const struct timespec *restrict abstime)
{
    return sem_clockwait(sem, CLOCK_REALTIME, abstime);
}
