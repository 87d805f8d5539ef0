/* Buffers, names and the queue of what is unanswered, each by itself. */
#include "model/check.h"
#include "wire/buffer.h"
#include "wire/frame.h"
#include "wire/names.h"
#include "wire/queue.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- buffer ---- */

static void fill(struct buffer *buffer, size_t count, size_t max)
{
    while (count > 0) {
        size_t room = buffer_room(buffer, 1, max);
        cr_assert(room > 0);
        size_t piece = room < count ? room : count;
        memset(buffer->bytes + buffer->end, 'x', piece);
        buffer_filled(buffer, piece);
        count -= piece;
    }
}

Test(buffer, it_grows_for_what_may_not_be_written_and_shrinks_when_empty)
{
    struct buffer buffer;
    buffer_open(&buffer);
    fill(&buffer, 1 << 20, 4 << 20);
    cr_expect(buffer.size >= 1 << 20 && buffer.size <= 4 << 20); /* BU2 */
    buffer.parsed = buffer.ready = buffer.end;
    buffer_wrote(&buffer, buffer.ready);
    buffer_room(&buffer, 1, 4 << 20);
    cr_expect_eq(buffer.size, BUFFER_BASE);
    fill(&buffer, BUFFER_BASE, BUFFER_BASE);
    buffer.parsed = buffer.ready = buffer.end;
    cr_expect_eq(buffer_room(&buffer, 1, 4 << 20), 0, "what waits for a slow reader is not more");
    cr_expect_eq(buffer.size, BUFFER_BASE);
    buffer_close(&buffer);
}

Test(buffer, bytes_are_taken_out_and_put_in)
{
    struct buffer buffer;
    buffer_open(&buffer);
    memcpy(buffer.bytes, "abcdefgh", 8);
    buffer_filled(&buffer, 8);
    buffer.ready = 2;
    buffer.parsed = 5;
    buffer_remove(&buffer, 1, 4);
    cr_expect(buffer.ready == 1 && buffer.parsed == 2 && buffer.end == 5);
    buffer_insert_parsed(&buffer, "XY", 2);
    buffer_insert_ready(&buffer, "1", 1);
    cr_expect(buffer.ready == 2 && buffer.parsed == 5 && buffer.end == 8);
    cr_expect_arr_eq(buffer.bytes, "a1eXYfgh", 8);
    buffer_close(&buffer);
}

/* ---- names ---- */

static const char *text_of(const struct names *names, enum names_kind kind, const char *name)
{
    static char text[64];
    const struct names_text *found = names_find(names, kind, name);
    snprintf(text, sizeof text, "%.*s", found == NULL ? 4 : (int)found->length,
             found == NULL ? "none" : found->bytes);
    return text;
}

Test(names, a_portal_keeps_its_text)
{
    struct names names;
    names_open(&names);
    names_parse(&names, "", "one", 3, false);
    names_bind(&names, "", "");
    names_bind(&names, "c", "");
    names_parse(&names, "", "two", 3, false);
    cr_expect_str_eq(text_of(&names, NAMES_PORTAL, ""), "one");
    cr_expect_str_eq(text_of(&names, NAMES_STATEMENT, ""), "two");
    names_bind(&names, "", "");
    cr_expect_str_eq(text_of(&names, NAMES_PORTAL, ""), "two");
    cr_expect_str_eq(text_of(&names, NAMES_PORTAL, "c"), "one");
    names_forget(&names, NAMES_PORTAL, "");
    names_forget_portals(&names);
    cr_expect_str_eq(text_of(&names, NAMES_PORTAL, "c"), "none");
    names_bind(&names, "d", "unknown");
    cr_expect_null(names_find(&names, NAMES_PORTAL, "d"));
    names_close(&names);
}

/* The server refuses a name that it has, and keeps what it had. */
Test(names, a_name_that_the_server_has_stays)
{
    struct names names;
    names_open(&names);
    names_parse(&names, "s", "failed", 6, false);
    names_confirm(&names, names_parse(&names, "s", "first", 5, false));
    names_parse(&names, "s", "second", 6, false);
    cr_expect_str_eq(text_of(&names, NAMES_STATEMENT, "s"), "first");
    names_doubt(&names);
    names_parse(&names, "s", "third", 5, false);
    cr_expect_str_eq(text_of(&names, NAMES_STATEMENT, "s"), "third");
    names_forget(&names, NAMES_STATEMENT, "s");
    cr_expect_str_eq(text_of(&names, NAMES_STATEMENT, "s"), "none");
    names_close(&names);
}

Test(names, texts_without_a_name_reuse_their_memory)
{
    struct names names;
    names_open(&names);
    char text[512];
    memset(text, 'x', sizeof text);
    for (size_t i = 0; i < 10000; i++) {
        names_parse(&names, "", text, i % sizeof text, false);
        names_bind(&names, "", "");
    }
    cr_expect(names.bytes <= 4096, "NA2: %zu bytes are kept", names.bytes);
    names_close(&names);
}

Test(names, what_is_kept_is_bounded, .timeout = 120)
{
    struct names names;
    names_open(&names);
    char *large = calloc(1, 4 << 20), name[16];
    for (unsigned i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "large%u", i);
        names_parse(&names, name, large, 4 << 20, false);
    }
    cr_expect(names.bytes <= NAMES_BYTES_MAX); /* NA1 */
    cr_expect_null(names_find(&names, NAMES_STATEMENT, "large19"));
    free(large);
    names_close(&names);
}

/* ---- queue ---- */

static void push(struct queue *queue, enum queue_kind kind, enum proxy_commits how)
{
    queue_push(queue, (struct queue_item){.kind = kind, .how = how});
}

Test(queue, a_batch_commits_once_its_end_is_there)
{
    struct queue queue;
    queue_open(&queue);
    push(&queue, QUEUE_EXECUTE, PROXY_COMMITS_EXPLICIT);
    cr_expect_not(queue_commits(&queue), "its client may wait for the answer before it sends Sync");
    for (int i = 0; i < 100; i++) {
        push(&queue, QUEUE_BIND, PROXY_COMMITS_NOT);
    }
    push(&queue, QUEUE_SYNC, PROXY_COMMITS_NOT);
    push(&queue, QUEUE_QUERY, PROXY_COMMITS_NOT);
    cr_expect(queue_commits(&queue));
    for (int i = 0; i < 102; i++) {
        queue_pop(&queue);
    }
    cr_expect(queue.batches == 1 && !queue_commits(&queue));
    queue_announce(&queue, PROXY_COMMITS_IMPLICIT);
    cr_expect(queue_commits(&queue));
    queue_close(&queue);
}

Test(queue, syncs_before_the_end_of_copied_data_do_not_count)
{
    struct queue queue;
    queue_open(&queue);
    push(&queue, QUEUE_EXECUTE, PROXY_COMMITS_NOT);
    push(&queue, QUEUE_SYNC, PROXY_COMMITS_NOT);
    cr_expect_not(queue_copy_begins(&queue));
    cr_expect_eq(queue.batches, 0);
    push(&queue, QUEUE_COPY_END, PROXY_COMMITS_NOT);
    push(&queue, QUEUE_SYNC, PROXY_COMMITS_IMPLICIT);
    cr_expect(queue_copy_begins(&queue));
    cr_expect_eq(queue.batches, 1);
    queue_pop(&queue);
    cr_expect_eq(queue_front(&queue)->kind, QUEUE_SYNC);
    queue_close(&queue);
}

/* ---- frames ---- */

static const struct {
    enum frame_side side;
    const char *bytes;
    size_t available;
    enum frame_state state;
} frames[] = {
    {FRAME_CLIENT, "", 0, FRAME_SHORT},
    {FRAME_CLIENT, "Q\0\0\0", 4, FRAME_SHORT},
    {FRAME_CLIENT, "Q\0\0\0\4", 5, FRAME_FOUND},
    {FRAME_CLIENT, "Q\0\0\0\3", 5, FRAME_MALFORMED},
    {FRAME_CLIENT, "Q\x3f\xff\xff\xff", 5, FRAME_FOUND},
    {FRAME_CLIENT, "Q\x40\0\0\0", 5, FRAME_MALFORMED},
    {FRAME_CLIENT, "S\0\0\x27\x11", 5, FRAME_FOUND},
    {FRAME_CLIENT, "S\0\0\x27\x12", 5, FRAME_MALFORMED},
    {FRAME_CLIENT, "Z", 1, FRAME_MALFORMED},
    {FRAME_SERVER, "Z\0\0\0\5", 5, FRAME_FOUND},
    {FRAME_SERVER, "Q", 1, FRAME_MALFORMED},
    {FRAME_SERVER, "\0", 1, FRAME_MALFORMED},
};

Test(frame, a_header_is_short_found_or_malformed)
{
    for (size_t i = 0; i < COUNT(frames); i++) {
        struct frame frame;
        cr_expect_eq(frame_read(frames[i].side, frames[i].bytes, frames[i].available, &frame),
                     frames[i].state, "case %zu", i);
    }
}

Test(frame, an_error_is_made_and_read)
{
    char message[FRAME_ERROR_MAX], sqlstate[6], text[2 * FRAME_ERROR_MAX];
    struct frame frame;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    size_t length = frame_make_error(message, true, "57P01", text);
    cr_expect(length <= FRAME_ERROR_MAX);
    cr_expect_eq(frame_read(FRAME_SERVER, message, length, &frame), FRAME_FOUND);
    cr_expect_eq(frame.length, length);
    frame_sqlstate(message + FRAME_HEADER, length - FRAME_HEADER, sqlstate);
    cr_expect_str_eq(sqlstate, "57P01");
    frame_sqlstate("Sno end", 7, sqlstate);
    cr_expect_str_eq(sqlstate, "");
}
