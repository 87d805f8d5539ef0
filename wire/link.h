/* One end of a connection: a descriptor that does not block, with or without TLS, and what is known
 * of its readiness. It is watched edge by edge, so that passing bytes on takes no call but reading
 * and writing; that it can be written is watched only after a write that did not succeed.
 *
 * (LK1) Readiness is forgotten only when the kernel has said that there is nothing: a read that
 *       gave less than was asked for, or EAGAIN. */
#ifndef WIRE_LINK_H
#define WIRE_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct tls_link;

struct link {
    int descriptor; /* -1: none */
    struct tls_link *tls;
    bool readable;
    bool hung_up;  /* the other end has said that no more comes: read until there is nothing */
    bool blocked;  /* it waits until it can be written */
    int poller;    /* the epoll instance that watches it */
    uint64_t name; /* under which it is watched */
};

enum { LINK_AGAIN = -1, LINK_ENDED = -2 };

void link_none(struct link *link);
/* Takes the descriptor and has it watched. False: errno says why, and the descriptor is closed. */
bool link_open(struct link *link, int descriptor, int poller, uint64_t name);
void link_close(struct link *link);
static inline bool link_there(const struct link *link)
{
    return link->descriptor >= 0;
}

/* epoll has reported these events. */
void link_woken(struct link *link, uint32_t events);

/* How many bytes; LINK_AGAIN: none now; LINK_ENDED: never again. */
ssize_t link_read(struct link *link, char *bytes, size_t size);
ssize_t link_write(struct link *link, const char *bytes, size_t size);

/* read() and write() on a socket that goes on after signals and raises none. */
ssize_t link_plain_read(int descriptor, char *bytes, size_t size);
ssize_t link_plain_write(int descriptor, const char *bytes, size_t size);

#endif
