#include "wire/clock.h"

#include "model/check.h"
#include "real/process.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_SEC INT64_C(1000000000)

bool clock_open(struct clock *clock, const char *path, struct error *why)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    void *mapped = MAP_FAILED;
    if (fd >= 0 && fchmod(fd, 0666) == 0 && ftruncate(fd, sizeof *clock->page) == 0) {
        mapped = mmap(NULL, sizeof *clock->page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    int error = errno;
    if (fd >= 0) {
        (void)close(fd);
    }
    clock->page = mapped == MAP_FAILED ? NULL : mapped;
    return clock->page != NULL || error_set(why, "cannot make %s: %s", path, strerror(error));
}

void clock_close(struct clock *clock)
{
    if (clock->page != NULL) {
        (void)munmap(clock->page, sizeof *clock->page);
    }
    clock->page = NULL;
}

double clock_ahead(const struct clock *clock)
{
    return clock->page == NULL ? 0 : (double)atomic_load(&clock->page->offset) / (double)NS_PER_SEC;
}

static int64_t now(const struct clock *clock)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * NS_PER_SEC + time.tv_nsec + atomic_load(&clock->page->offset);
}

void clock_push(struct clock *clock, int seconds)
{
    CHECK(seconds > 0); /* CK1 */
    atomic_fetch_add(&clock->page->offset, seconds * NS_PER_SEC);
}

/* A process that was killed leaves its places behind; a stopped one waits for nothing now. */
static bool waits(struct page_wait *wait)
{
    struct process_state state;
    int32_t pid = atomic_load(&wait->pid);
    if (pid == 0) {
        return false;
    }
    if (!process_state(pid, &state) || strchr("ZX", state.state) != NULL) {
        (void)atomic_compare_exchange_strong(&wait->pid, &pid, 0);
        return false;
    }
    return state.state != 'T';
}

bool clock_leap(struct clock *clock)
{
    int64_t current = now(clock);
    int64_t earliest = INT64_MAX;
    for (size_t i = 0; i < PAGE_WAITS; i++) {
        struct page_wait *wait = &clock->page->waits[i];
        int64_t deadline = atomic_load(&wait->deadline);
        if (waits(wait) && deadline < earliest) {
            earliest = deadline;
        }
    }
    if (earliest == INT64_MAX) {
        return false;
    }
    if (earliest > current) {
        int64_t before = atomic_fetch_add(&clock->page->offset, earliest - current);
        CHECK(before >= 0); /* CK1 */
    }
    return true;
}
