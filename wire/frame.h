/* The messages of PostgreSQL's protocol, version 3, as bytes: where one begins and ends, what its
 * type allows, and the few that the proxy makes itself. Pure.
 *
 * (FR1) What is read lies inside the bytes that are there: no length or terminator is trusted. */
#ifndef WIRE_FRAME_H
#define WIRE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_HEADER      5     /* type and length */
#define FRAME_STARTUP_MAX 10000 /* PostgreSQL's own limits */
#define FRAME_SMALL_MAX   10001 /* of messages that hold no data */
#define FRAME_LARGE_MAX   1073741823
#define FRAME_ERROR_MAX   512 /* of an error that is made here */

/* Codes in place of a version. */
#define FRAME_CANCEL 80877102u
#define FRAME_SSL    80877103u
#define FRAME_GSS    80877104u

enum frame_side { FRAME_CLIENT, FRAME_SERVER };
enum frame_state { FRAME_SHORT, FRAME_FOUND, FRAME_MALFORMED };

struct frame {
    char type;
    uint32_t length; /* of the whole message, its type byte included */
};

uint32_t frame_number(const char *bytes); /* of four bytes */

/* The message that begins here; of its bytes only FRAME_HEADER need be there. */
enum frame_state frame_read(enum frame_side side, const char *bytes, size_t available,
                            struct frame *frame);
/* The first packet of a connection, which has no type: its length, and its version or code. */
enum frame_state frame_startup(const char *bytes, size_t available, uint32_t *length,
                               uint32_t *code);

/* A terminated string that begins at *at; *at moves behind it. NULL: no terminator before `end`. */
const char *frame_string(const char *bytes, size_t end, size_t *at);
/* The value of a startup packet's parameter; NULL: it has none of the name. */
const char *frame_parameter(const char *packet, size_t length, const char *name);
/* The SQLSTATE of an ErrorResponse's body, or "" */
void frame_sqlstate(const char *body, size_t length, char sqlstate[6]);

/* Messages; each returns its length. */
size_t frame_make_error(char message[FRAME_ERROR_MAX], bool fatal, const char *sqlstate,
                        const char *text);
size_t frame_make_ready(char message[6], char transaction);

#endif
