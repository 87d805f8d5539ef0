#include "wire/frame.h"

#include <stdio.h>
#include <string.h>

uint32_t frame_number(const char *bytes)
{
    const unsigned char *b = (const unsigned char *)bytes;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* The longest message of the type; 0: this side has no such type. Messages of authentication and
 * those with data have PostgreSQL's large limit. */
static uint32_t limit(enum frame_side side, char type)
{
    static const char *const small[] = {"CDEHSXcf", "123IKZcns"};
    static const char *const large[] = {"BFPQdp", "ACDEGHNRSTVWdtv"};
    if (type == '\0') {
        return 0;
    }
    if (strchr(small[side], type) != NULL) {
        return FRAME_SMALL_MAX;
    }
    return strchr(large[side], type) != NULL ? FRAME_LARGE_MAX : 0;
}

enum frame_state frame_read(enum frame_side side, const char *bytes, size_t available,
                            struct frame *frame)
{
    if (available == 0) {
        return FRAME_SHORT;
    }
    uint32_t most = limit(side, bytes[0]);
    if (most == 0) {
        return FRAME_MALFORMED;
    }
    if (available < FRAME_HEADER) {
        return FRAME_SHORT;
    }
    uint32_t length = frame_number(bytes + 1);
    *frame = (struct frame){.type = bytes[0], .length = length + 1};
    return length < 4 || length > most ? FRAME_MALFORMED : FRAME_FOUND;
}

enum frame_state frame_startup(const char *bytes, size_t available, uint32_t *length,
                               uint32_t *code)
{
    if (available < 4) {
        return FRAME_SHORT;
    }
    *length = frame_number(bytes);
    if (*length < 8 || *length > FRAME_STARTUP_MAX) {
        return FRAME_MALFORMED;
    }
    if (available < *length) {
        return FRAME_SHORT;
    }
    *code = frame_number(bytes + 4);
    return FRAME_FOUND;
}

const char *frame_string(const char *bytes, size_t end, size_t *at)
{
    if (*at >= end) {
        return NULL;
    }
    const char *text = bytes + *at;
    const char *zero = memchr(text, '\0', end - *at);
    if (zero == NULL) {
        return NULL;
    }
    *at = (size_t)(zero - bytes) + 1;
    return text;
}

const char *frame_parameter(const char *packet, size_t length, const char *name)
{
    size_t at = 8;
    for (;;) {
        const char *key = frame_string(packet, length, &at);
        const char *value = key == NULL || *key == '\0' ? NULL : frame_string(packet, length, &at);
        if (value == NULL || strcmp(key, name) == 0) {
            return value;
        }
    }
}

void frame_sqlstate(const char *body, size_t length, char sqlstate[6])
{
    size_t at = 0;
    memset(sqlstate, 0, 6);
    while (at < length && body[at] != '\0') {
        char field = body[at++];
        const char *value = frame_string(body, length, &at);
        if (value == NULL) {
            return;
        }
        if (field == 'C') {
            snprintf(sqlstate, 6, "%s", value);
            return;
        }
    }
}

static void put_number(char *bytes, size_t number)
{
    for (int i = 0; i < 4; i++) {
        bytes[i] = (char)(number >> (24 - 8 * i) & 0xff);
    }
}

static size_t put_field(char *message, size_t at, char field, const char *value)
{
    message[at] = field;
    int length = snprintf(message + at + 1, FRAME_ERROR_MAX - 2 - at, "%s", value);
    size_t most = FRAME_ERROR_MAX - 3 - at;
    return at + 2 + ((size_t)length < most ? (size_t)length : most);
}

size_t frame_make_error(char message[FRAME_ERROR_MAX], bool fatal, const char *sqlstate,
                        const char *text)
{
    const char *severity = fatal ? "FATAL" : "ERROR";
    message[0] = 'E';
    size_t at = put_field(message, FRAME_HEADER, 'S', severity);
    at = put_field(message, at, 'V', severity);
    at = put_field(message, at, 'C', sqlstate);
    at = put_field(message, at, 'M', text);
    message[at++] = '\0';
    put_number(message + 1, at - 1);
    return at;
}

size_t frame_make_ready(char message[6], char transaction)
{
    message[0] = 'Z';
    put_number(message + 1, 5);
    message[5] = transaction;
    return 6;
}
