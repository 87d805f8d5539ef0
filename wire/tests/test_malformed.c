/* Conversations that are right, and 10,000 that were broken: nothing but their own connection ends,
 * and what passes is what was sent. */
#include "wire/tests/mill.h"

#include "wire/normalise.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define STREAMS    10000
#define CONNECTED  1000
#define STREAM_MAX (64 << 10)

/* ---- a conversation that is right ---- */

struct writer {
    char bytes[STREAM_MAX];
    size_t used;
};

static void put(struct writer *writer, char type, const void *body, size_t length)
{
    if (writer->used + length + FRAME_HEADER > sizeof writer->bytes) {
        return;
    }
    char *at = writer->bytes + writer->used;
    size_t number = length + 4;
    at[0] = type;
    for (int i = 0; i < 4; i++) {
        at[1 + i] = (char)(number >> (24 - 8 * i) & 0xff);
    }
    memcpy(at + FRAME_HEADER, body, length);
    writer->used += length + FRAME_HEADER;
}

#define PUT(writer, type, text) put(writer, type, text, sizeof(text) - 1)

static void put_text(struct writer *writer, char type, const char *text)
{
    put(writer, type, text, strlen(text) + 1);
}

static const char *const texts[] = {"select 1",
                                    "begin; insert into t values (1); commit",
                                    "commit",
                                    "begin",
                                    "copy t from stdin",
                                    "insert into t values ('it''s', E'\\'', $a$;$a$, 1.5e3)",
                                    "listen a",
                                    "",
                                    "call p()",
                                    "-- only this",
                                    "/* /* */ */ update t set a = 'x'",
                                    "rollback and chain",
                                    "create function f() begin atomic select 1; end; select 2"};

static void query(struct writer *up, struct writer *down, struct mill_random *random)
{
    put_text(up, 'Q', texts[mill_draw(random, COUNT(texts))]);
    PUT(down, 'T', "\0\1a\0\0\0\0\0\0\0\0\0\0\x17\0\4\xff\xff\xff\xff\0\0");
    PUT(down, 'D', "\0\1\0\0\0\1x");
    put_text(down, 'C', "SELECT 1");
    PUT(down, 'Z', "I");
}

static void extended(struct writer *up, struct writer *down, struct mill_random *random)
{
    uint32_t statements = 1 + mill_draw(random, 4);
    for (uint32_t i = 0; i < statements; i++) {
        char parse[256] = "s1";
        const char *text = texts[mill_draw(random, 4)];
        size_t length = 3 + (size_t)snprintf(parse + 3, sizeof parse - 3, "%s", text) + 3;
        bool named = mill_draw(random, 2) == 0;
        put(up, 'P', named ? parse : parse + 2, named ? length : length - 2);
        PUT(up, 'B', "\0s1\0\0\0\0\0\0\0");
        PUT(up, 'D', "P\0");
        PUT(up, 'E', "\0\0\0\0\0");
        PUT(down, '1', "");
        PUT(down, '2', "");
        PUT(down, 'n', "");
        put_text(down, 'C', "INSERT 0 1");
    }
    PUT(up, mill_draw(random, 4) == 0 ? 'H' : 'S', "");
    put(down, 'Z', mill_draw(random, 2) == 0 ? "I" : "T", 1);
}

static void others(struct writer *up, struct writer *down, struct mill_random *random)
{
    switch (mill_draw(random, 6)) {
    case 0:
        put_text(up, 'Q', "copy t from stdin");
        PUT(up, 'd', "1\t2\n");
        PUT(up, 'c', "");
        PUT(down, 'G', "\0\0\0");
        put_text(down, 'C', "COPY 1");
        PUT(down, 'Z', "I");
        break;
    case 1:
        PUT(down, 'A', "\0\0\0\1news\0payload\0");
        break;
    case 2:
        PUT(down, 'E', "SERROR\0C23505\0Mtwice\0\0");
        break;
    case 3:
        PUT(up, 'F', "\0\0\0\1\0\0\0\0\0\0");
        PUT(down, 'V', "\xff\xff\xff\xff");
        PUT(down, 'Z', "I");
        break;
    case 4:
        PUT(up, 'C', "Ss1\0");
        PUT(down, '3', "");
        break;
    default:
        PUT(down, 'N', "SNOTICE\0\0");
        PUT(down, 'S', "application_name\0other\0");
        break;
    }
}

static void converse(struct writer *up, struct writer *down, struct mill_random *random)
{
    up->used = down->used = 0;
    PUT(down, 'R', "\0\0\0\0");
    PUT(down, 'K', "\0\0\0\1abcd");
    PUT(down, 'Z', "I");
    for (uint32_t i = mill_draw(random, 30); i > 0; i--) {
        switch (mill_draw(random, 3)) {
        case 0:
            query(up, down, random);
            break;
        case 1:
            extended(up, down, random);
            break;
        default:
            others(up, down, random);
            break;
        }
    }
}

/* ---- breaking it ---- */

static void spoil(struct writer *writer, struct mill_random *random)
{
    for (uint32_t i = 1 + mill_draw(random, 6); i > 0 && writer->used > 8; i--) {
        size_t at = mill_draw(random, (uint32_t)writer->used);
        size_t length = 1 + mill_draw(random, 16);
        length = at + length < writer->used ? length : writer->used - at;
        switch (mill_draw(random, 4)) {
        case 0: /* a byte is another */
            writer->bytes[at] = (char)mill_draw(random, 256);
            break;
        case 1: /* some are lost */
            memmove(writer->bytes + at, writer->bytes + at + length, writer->used - at - length);
            writer->used -= length;
            break;
        case 2: /* a length is wrong by far */
            writer->bytes[at] = (char)(mill_draw(random, 2) == 0 ? 0xff : 0x7f);
            break;
        default: /* it ends early */
            writer->used -= length < 4 ? 0 : length;
            break;
        }
    }
}

static struct writer up_writer, down_writer;
static struct mill mill;

static void grind(uint64_t seed, bool spoilt, uint32_t mischief)
{
    memset(&mill, 0, sizeof mill);
    mill.random.state = seed;
    mill.mischief = mischief;
    converse(&up_writer, &down_writer, &mill.random);
    if (spoilt) {
        spoil(&up_writer, &mill.random);
        spoil(&down_writer, &mill.random);
    }
    struct mill_stream up = {.bytes = up_writer.bytes, .length = up_writer.used};
    struct mill_stream down = {.bytes = down_writer.bytes, .length = down_writer.used};
    mill_run(&mill, &up, &down);
    if (!spoilt && mischief == 0) {
        cr_assert(up.fed == up.length && down.fed == down.length, "seed %lu", (unsigned long)seed);
        cr_assert_eq(mill.host.count.malformed, 0);
    }
}

Test(malformed, what_is_right_passes_whole, .timeout = 600) /* (PX1) */
{
    for (uint64_t seed = 0; seed < 2000; seed++) {
        grind(seed, false, 0);
    }
}

/* (FR1) */
Test(malformed, ten_thousand_broken_streams, .timeout = 600)
{
    uint64_t refused = 0;
    for (uint64_t seed = 0; seed < STREAMS; seed++) {
        grind(seed, true, (uint32_t)seed % 5);
        refused += mill.host.count.malformed;
    }
    cr_log_info("%lu of %d were refused", (unsigned long)refused, STREAMS);
    cr_expect(refused > STREAMS / 4, "only %lu were refused", (unsigned long)refused);
}

/* ---- the same with sockets: a server that is only bytes ---- */

static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    cr_assert_eq(bind(descriptor, (struct sockaddr *)&address, sizeof address), 0);
    cr_assert_eq(listen(descriptor, 8), 0);
    return descriptor;
}

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    cr_assert_eq(connect(descriptor, (struct sockaddr *)&address, sizeof address), 0);
    return descriptor;
}

static void start(struct writer *up, struct mill_random *random)
{
    static const char startup[] = "\0\0\0\x13\0\3\0\0user\0me\0\0\0\0";
    static const char ssl[] = "\0\0\0\x08\4\xd2\x16\x2f", gss[] = "\0\0\0\x08\4\xd2\x16\x30";
    static const char cancel[] = "\0\0\0\x10\4\xd2\x16\x2e\0\0\0\1abcd";
    struct writer rest = *up;
    up->used = 0;
    const char *first[] = {startup, ssl, gss, cancel};
    size_t lengths[] = {sizeof startup - 1, 8, 8, 16};
    uint32_t which = mill_draw(random, 6) % 4;
    for (int i = which == 0 ? 1 : 0; i < 2; i++) {
        which = i == 1 && which != 3 ? 0 : which;
        memcpy(up->bytes + up->used, first[which], lengths[which]);
        up->used += lengths[which];
    }
    size_t length = rest.used < STREAM_MAX - up->used ? rest.used : STREAM_MAX - up->used;
    memcpy(up->bytes + up->used, rest.bytes, length);
    up->used += length;
}

/* The proxy between a client and a server that say what was written, and close. */
static void talk(struct proxy *proxy, const char *path, int server)
{
    char ignored[4096];
    int client = connect_to(path);
    (void)!send(client, up_writer.bytes, up_writer.used, MSG_NOSIGNAL);
    for (int i = 0; i < 4; i++) {
        proxy_turn(proxy, 0);
    }
    int accepted = accept(server, NULL, NULL);
    if (accepted >= 0) {
        (void)!send(accepted, down_writer.bytes, down_writer.used, MSG_NOSIGNAL | MSG_DONTWAIT);
        proxy_turn(proxy, 0);
        while (recv(accepted, ignored, sizeof ignored, MSG_DONTWAIT) > 0) {
        }
        close(accepted);
    }
    while (recv(client, ignored, sizeof ignored, MSG_DONTWAIT) > 0) {
    }
    close(client);
    for (int i = 0; i < 4; i++) {
        proxy_turn(proxy, 0);
    }
}

Test(malformed, broken_streams_on_sockets_end_their_own_connection_alone, .timeout = 600)
{
    char folder[] = "/tmp/assay-malformed-XXXXXX", path[64], upstream[64];
    cr_assert(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/proxy", folder);
    snprintf(upstream, sizeof upstream, "%s/server", folder);
    struct proxy_fault why;
    int server = listen_at(upstream);
    struct proxy *proxy = proxy_open(&(struct proxy_options){.upstream = upstream}, &why);
    cr_assert(proxy != NULL && proxy_listen_unix(proxy, 0, path, &why), "%s", why.text);
    for (uint64_t seed = 0; seed < CONNECTED; seed++) {
        struct mill_random random = {.state = seed};
        converse(&up_writer, &down_writer, &random);
        start(&up_writer, &random);
        spoil(&up_writer, &random);
        spoil(&down_writer, &random);
        talk(proxy, path, server);
    }
    for (int i = 0; i < 100; i++) {
        proxy_turn(proxy, 1);
    }
    cr_expect_eq(proxy_list(proxy, NULL, 0), 0, "none is left");
    cr_expect(proxy_count(proxy).malformed > CONNECTED / 10);
    proxy_close(proxy);
    close(server);
    unlink(upstream);
    rmdir(folder);
}
