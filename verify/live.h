/* Progress on stderr while a verb runs: on a terminal one line that changes, in a log a plain line
 * every few seconds, and nothing for a run of a few seconds. */
#ifndef VERIFY_LIVE_H
#define VERIFY_LIVE_H

#include <stdbool.h>

struct live {
    bool terminal;
    bool shown; /* there is a line on the terminal */
    double start, last;
};

struct live live_begin(void);

/* Whether it is time for another line. */
bool live_is_due(const struct live *live);

/* Seconds since it began. */
double live_seconds(const struct live *live);

/* The line: "12 s: " and then the text. */
void live_say(struct live *live, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ", about 40 s left", when `share` of the work is done; "" if it is not known. */
struct live_left {
    char text[48];
};
struct live_left live_left(const struct live *live, double share);

/* Takes the line off the terminal. */
void live_end(struct live *live);

#endif
