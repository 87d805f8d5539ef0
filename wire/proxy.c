#define _GNU_SOURCE /* accept4 */
#include "wire/proxy.h"

#include "model/check.h"
#include "wire/relay.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LISTENERS_MAX (2 * PROXY_WORKERS_MAX)
#define EVENTS        64
#define RETRY_MS      5 /* of connecting to a server whose queue is full */

struct listener {
    int descriptor;
    unsigned worker;
    char path[PROXY_PATH_SIZE]; /* empty: TCP */
};

/* What epoll reports is a name: the number of a listener, or of a relay's place and which of its
 * tenants, so that an event for one that has gone meets no other. */
struct place {
    struct relay *relay; /* NULL: free */
    uint32_t tenant;
};

struct proxy {
    int poller;
    char upstream[PROXY_PATH_SIZE];
    struct session_host host;
    struct tls *tls;
    struct listener listeners[LISTENERS_MAX];
    unsigned listening;
    struct place places[PROXY_CONNECTIONS_MAX];
    unsigned used; /* places from here on are free */
    uint64_t numbers;
};

#define NAME_LISTENER       (UINT64_C(1) << 63)
#define NAME(place, tenant) ((uint64_t)(tenant) << 12 | (uint64_t)(place) << 1)
_Static_assert(PROXY_CONNECTIONS_MAX <= 1 << 11, "a place fits into a name");

static bool fault(struct proxy_fault *why, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool fault(struct proxy_fault *why, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why->text, sizeof why->text, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- for relays ---- */

struct session_host *proxy_host(struct proxy *proxy)
{
    return &proxy->host;
}

struct tls *proxy_tls(struct proxy *proxy)
{
    return proxy->tls;
}

const char *proxy_upstream(const struct proxy *proxy)
{
    return proxy->upstream;
}

uint64_t proxy_number(struct proxy *proxy)
{
    proxy->host.count.connections++;
    return ++proxy->numbers;
}

uint64_t proxy_with_key(const struct proxy *proxy, const char *key, size_t length)
{
    for (unsigned i = 0; i < proxy->used; i++) {
        const struct relay *relay = proxy->places[i].relay;
        if (relay != NULL && length > 0 && relay->session.key_length == length &&
            memcmp(relay->session.key, key, length) == 0) {
            return relay->session.about.number;
        }
    }
    return 0;
}

/* ---- opening and closing ---- */

bool proxy_set_upstream(struct proxy *proxy, const char *path, struct proxy_fault *why)
{
    if (strlen(path) >= sizeof proxy->upstream) {
        return fault(why, "%s: the path of a socket has at most %zu bytes", path,
                     sizeof proxy->upstream - 1);
    }
    snprintf(proxy->upstream, sizeof proxy->upstream, "%s", path);
    return true;
}

struct proxy *proxy_open(const struct proxy_options *options, struct proxy_fault *why)
{
    struct proxy *proxy = calloc(1, sizeof *proxy);
    CHECK(proxy != NULL);
    proxy->host = (struct session_host){.told = options->told,
                                        .context = options->context,
                                        .watch = options->told != NULL,
                                        .normalise = options->normalise};
    proxy->poller = epoll_create1(EPOLL_CLOEXEC);
    bool good = proxy->poller >= 0 || fault(why, "no epoll instance: %s", strerror(errno));
    good = good && proxy_set_upstream(proxy, options->upstream, why);
    if (good && options->tls_folder != NULL) {
        proxy->tls = tls_open(options->tls_folder, why->text, sizeof why->text);
        good = proxy->tls != NULL;
    }
    if (!good) {
        proxy_close(proxy);
        return NULL;
    }
    return proxy;
}

void proxy_close(struct proxy *proxy)
{
    for (unsigned i = 0; i < proxy->used; i++) {
        if (proxy->places[i].relay != NULL) {
            relay_free(proxy->places[i].relay);
        }
    }
    for (unsigned i = 0; i < proxy->listening; i++) {
        close(proxy->listeners[i].descriptor);
        if (proxy->listeners[i].path[0] != '\0') {
            unlink(proxy->listeners[i].path);
        }
    }
    if (proxy->tls != NULL) {
        tls_close(proxy->tls);
    }
    if (proxy->poller >= 0) {
        close(proxy->poller);
    }
    free(proxy->host.normal);
    free(proxy);
}

/* ---- listening ---- */

static bool listen_on(struct proxy *proxy, unsigned worker, int descriptor, const char *path,
                      struct proxy_fault *why)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = NAME_LISTENER | proxy->listening};
    if (proxy->listening == LISTENERS_MAX || listen(descriptor, 256) != 0 ||
        epoll_ctl(proxy->poller, EPOLL_CTL_ADD, descriptor, &event) != 0) {
        fault(why, "cannot listen for worker %u: %s", worker,
              proxy->listening == LISTENERS_MAX ? "too many listeners" : strerror(errno));
        close(descriptor);
        return false;
    }
    struct listener *listener = &proxy->listeners[proxy->listening++];
    *listener = (struct listener){.descriptor = descriptor, .worker = worker};
    snprintf(listener->path, sizeof listener->path, "%s", path);
    return true;
}

bool proxy_listen_unix(struct proxy *proxy, unsigned worker, const char *path,
                       struct proxy_fault *why)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        return fault(why, "%s: the path of a socket has at most %zu bytes", path,
                     sizeof address.sun_path - 1);
    }
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0) {
        return fault(why, "no socket: %s", strerror(errno));
    }
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0 ||
        chmod(path, 0777) != 0) {
        fault(why, "cannot listen on %s: %s%s", path, strerror(errno),
              errno == EADDRINUSE ? "; remove the socket that is there" : "");
        close(descriptor);
        return false;
    }
    return listen_on(proxy, worker, descriptor, path, why);
}

bool proxy_listen_tcp(struct proxy *proxy, unsigned worker, uint16_t *port, struct proxy_fault *why)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(*port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0) {
        return fault(why, "no socket: %s", strerror(errno));
    }
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0 ||
        getsockname(descriptor, (struct sockaddr *)&address, &length) != 0) {
        fault(why, "cannot listen on 127.0.0.1:%u: %s%s", *port, strerror(errno),
              errno == EADDRINUSE ? "; another program has the port, choose one that is free" : "");
        close(descriptor);
        return false;
    }
    *port = ntohs(address.sin_port);
    return listen_on(proxy, worker, descriptor, "", why);
}

/* ---- turns ---- */

static void settle(struct proxy *proxy, unsigned place)
{
    struct relay *relay = proxy->places[place].relay;
    if (relay != NULL && relay_settle(relay)) {
        relay_free(relay);
        proxy->places[place].relay = NULL;
        while (proxy->used > 0 && proxy->places[proxy->used - 1].relay == NULL) {
            proxy->used--;
        }
    }
}

static void serve(struct proxy *proxy, unsigned place)
{
    relay_serve(proxy->places[place].relay);
    settle(proxy, place);
}

static void take(struct proxy *proxy, unsigned worker, int descriptor)
{
    unsigned place = 0;
    while (place < proxy->used && proxy->places[place].relay != NULL) {
        place++;
    }
    if (place == PROXY_CONNECTIONS_MAX) {
        close(descriptor);
        return;
    }
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)); /* no matter if not */
    uint32_t tenant = ++proxy->places[place].tenant;
    struct relay *relay = relay_open(proxy, worker, descriptor, proxy->poller, NAME(place, tenant));
    if (relay != NULL) {
        proxy->places[place].relay = relay;
        proxy->used = place < proxy->used ? proxy->used : place + 1;
        serve(proxy, place);
    }
}

static void accept_all(struct proxy *proxy, const struct listener *listener)
{
    int descriptor;
    while ((descriptor = accept4(listener->descriptor, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >=
           0) {
        take(proxy, listener->worker, descriptor);
    }
}

static void woken(struct proxy *proxy, const struct epoll_event *event)
{
    uint64_t name = event->data.u64;
    if ((name & NAME_LISTENER) != 0) {
        accept_all(proxy, &proxy->listeners[name & ~NAME_LISTENER]);
        return;
    }
    unsigned place = name >> 1 & (PROXY_CONNECTIONS_MAX - 1);
    struct place *at = &proxy->places[place];
    if (at->relay != NULL && NAME(place, at->tenant) == (name & ~UINT64_C(1))) {
        relay_woken(at->relay, name & 1 ? RELAY_SERVER : RELAY_CLIENT, event->events);
        serve(proxy, place);
    }
}

/* Serves those that no event will wake. Returns whether there are any. */
static bool retry(struct proxy *proxy)
{
    bool any = false;
    for (unsigned i = 0; i < proxy->used; i++) {
        if (proxy->places[i].relay != NULL && proxy->places[i].relay->phase == RELAY_DIALING) {
            serve(proxy, i);
            any = true;
        }
    }
    return any;
}

int proxy_turn(struct proxy *proxy, int timeout_ms)
{
    struct epoll_event events[EVENTS];
    if (retry(proxy) && (timeout_ms < 0 || timeout_ms > RETRY_MS)) {
        timeout_ms = RETRY_MS;
    }
    int count = epoll_wait(proxy->poller, events, EVENTS, timeout_ms);
    for (int i = 0; i < count; i++) {
        woken(proxy, &events[i]);
    }
    return count < 0 ? 0 : count;
}

int proxy_descriptor(const struct proxy *proxy)
{
    return proxy->poller;
}

void proxy_watch(struct proxy *proxy, bool watch)
{
    proxy->host.watch = watch && proxy->host.told != NULL;
}

/* ---- actions ---- */

static struct relay *find(const struct proxy *proxy, uint64_t connection, unsigned *place)
{
    for (*place = 0; *place < proxy->used && connection != 0; ++*place) {
        struct relay *relay = proxy->places[*place].relay;
        if (relay != NULL && !relay->over && relay->session.about.number == connection) {
            return relay;
        }
    }
    return NULL;
}

bool proxy_release(struct proxy *proxy, uint64_t connection)
{
    unsigned place;
    struct relay *relay = find(proxy, connection, &place);
    if (relay == NULL || !relay_release(relay)) {
        return false;
    }
    serve(proxy, place);
    return true;
}

bool proxy_cut(struct proxy *proxy, uint64_t connection, enum proxy_cut how)
{
    unsigned place;
    struct relay *relay = find(proxy, connection, &place);
    if (relay == NULL || (how == PROXY_CUT_CLIENT && !relay->session.about.client)) {
        return false;
    }
    if (how == PROXY_CUT_BOTH) {
        relay_end(relay, "it was cut");
    } else {
        relay_orphan(relay);
        relay_serve(relay);
    }
    settle(proxy, place);
    return true;
}

unsigned proxy_cut_worker(struct proxy *proxy, unsigned worker, enum proxy_cut how)
{
    unsigned count = 0;
    for (unsigned i = 0; i < proxy->used; i++) {
        const struct relay *relay = proxy->places[i].relay;
        if (relay != NULL && relay->session.about.worker == worker) {
            count += proxy_cut(proxy, relay->session.about.number, how);
        }
    }
    return count;
}

bool proxy_refuse(struct proxy *proxy, uint64_t connection, enum proxy_severity severity,
                  const char *sqlstate, const char *message)
{
    unsigned place;
    struct relay *relay = find(proxy, connection, &place);
    if (relay == NULL || !relay_refuse(relay, severity, sqlstate, message)) {
        return false;
    }
    serve(proxy, place);
    return true;
}

/* ---- what there is ---- */

bool proxy_find(const struct proxy *proxy, uint64_t connection, struct proxy_connection *found)
{
    unsigned place;
    const struct relay *relay = find(proxy, connection, &place);
    if (relay != NULL) {
        *found = relay->session.about;
        found->unanswered = relay->session.queue.batches;
    }
    return relay != NULL;
}

/* Puts it where its number belongs in a list of `count`, of which the first `max` are kept. */
static void enlist(struct proxy_connection *list, unsigned count, unsigned max,
                   const struct session *session)
{
    unsigned at = count < max ? count : max;
    while (at > 0 && list[at - 1].number > session->about.number) {
        if (at < max) {
            list[at] = list[at - 1];
        }
        at--;
    }
    if (at < max) {
        list[at] = session->about;
        list[at].unanswered = session->queue.batches;
    }
}

unsigned proxy_list(const struct proxy *proxy, struct proxy_connection *list, unsigned max)
{
    unsigned count = 0;
    for (unsigned i = 0; i < proxy->used; i++) {
        const struct relay *relay = proxy->places[i].relay;
        if (relay != NULL && !relay->over && relay->session.about.number != 0) {
            enlist(list, count++, max, &relay->session);
        }
    }
    return count;
}

bool proxy_rests(const struct proxy *proxy)
{
    for (unsigned i = 0; i < proxy->used; i++) {
        if (proxy->places[i].relay != NULL && !relay_rests(proxy->places[i].relay)) {
            return false;
        }
    }
    return true;
}

struct proxy_count proxy_count(const struct proxy *proxy)
{
    return proxy->host.count;
}
