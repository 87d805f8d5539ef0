/* A lane's clock, as the conductor has it: it moves only when everything is at rest, to the earliest
 * deadline of any timed wait (wire/page.h).
 *
 * (CK1) The offset never shrinks.
 * (CK2) The clock leaps to no moment after a live process's earliest deadline. */
#ifndef WIRE_CLOCK_H
#define WIRE_CLOCK_H

#include "real/cluster_path.h"
#include "wire/page.h"

#include <stdbool.h>

struct clock {
    struct page *page; /* NULL: there is none, and time is real */
};

/* Makes the page, which every user may write: the folder around it is what keeps others out. */
bool clock_open(struct clock *clock, const char *path, struct error *error);
void clock_close(struct clock *clock);

/* Seconds that the clock is ahead of real time. */
double clock_ahead(const struct clock *clock);

/* Moves it by so many seconds, at rest or not: for processes that do not have this clock. */
void clock_push(struct clock *clock, int seconds);

/* Leaps to the earliest deadline that is to come. False: nobody waits for any. */
bool clock_leap(struct clock *clock);

#endif
