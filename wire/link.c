#include "wire/link.h"

#include "model/check.h"
#include "wire/tls.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define EDGES (EPOLLIN | EPOLLRDHUP | EPOLLET)

void link_none(struct link *link)
{
    *link = (struct link){.descriptor = -1};
}

bool link_open(struct link *link, int descriptor, int poller, uint64_t name)
{
    *link =
        (struct link){.descriptor = descriptor, .poller = poller, .name = name, .readable = true};
    struct epoll_event event = {.events = EDGES, .data.u64 = name};
    if (epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event) != 0) {
        close(descriptor);
        link_none(link);
        return false;
    }
    return true;
}

void link_close(struct link *link)
{
    if (link->tls != NULL) {
        tls_end(link->tls);
    }
    if (link->descriptor >= 0) {
        close(link->descriptor);
    }
    link_none(link);
}

static void watch_writing(struct link *link, bool watch)
{
    struct epoll_event event = {.events = EDGES | (watch ? (uint32_t)EPOLLOUT : 0),
                                .data.u64 = link->name};
    if (link->blocked != watch) {
        CHECK(epoll_ctl(link->poller, EPOLL_CTL_MOD, link->descriptor, &event) == 0);
    }
    link->blocked = watch;
}

void link_woken(struct link *link, uint32_t events)
{
    bool ended = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    link->hung_up |= ended;
    link->readable |= ended || (events & EPOLLIN) != 0;
    if ((events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0) {
        link->readable |= link->tls != NULL; /* TLS may have waited to write in order to read */
        watch_writing(link, false);
    }
}

ssize_t link_plain_read(int descriptor, char *bytes, size_t size)
{
    ssize_t count;
    do {
        count = recv(descriptor, bytes, size, 0);
    } while (count < 0 && errno == EINTR);
    return count;
}

ssize_t link_plain_write(int descriptor, const char *bytes, size_t size)
{
    ssize_t count;
    do {
        count = send(descriptor, bytes, size, MSG_NOSIGNAL);
    } while (count < 0 && errno == EINTR);
    return count;
}

ssize_t link_read(struct link *link, char *bytes, size_t size)
{
    ssize_t count = link->tls != NULL ? tls_read(link->tls, bytes, size)
                                      : link_plain_read(link->descriptor, bytes, size);
    if (count > 0) {
        if ((size_t)count < size && link->tls == NULL && !link->hung_up) {
            link->readable = false; /* LK1 */
        }
        return count;
    }
    bool again = count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    link->readable = false;
    return again ? LINK_AGAIN : LINK_ENDED;
}

ssize_t link_write(struct link *link, const char *bytes, size_t size)
{
    ssize_t count = link->tls != NULL ? tls_write(link->tls, bytes, size)
                                      : link_plain_write(link->descriptor, bytes, size);
    if (count >= 0) {
        return count;
    }
    if (errno != EAGAIN && errno != EWOULDBLOCK) {
        return LINK_ENDED;
    }
    watch_writing(link, true);
    return LINK_AGAIN;
}
