#include "verify/live.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define LINE_SECONDS      0.2
#define MILESTONE_SECONDS 10.0

static double seconds_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Of the terminal; as many as terminals usually have if it does not say. */
static int columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

struct live live_begin(void)
{
    double now = seconds_now();
    const char *name = getenv("TERM");
    bool able = name == NULL || strcmp(name, "dumb") != 0; /* to take a line back */
    return (struct live){.terminal = able && isatty(STDERR_FILENO) == 1, .start = now, .last = now};
}

bool live_is_due(const struct live *live)
{
    return seconds_now() - live->last >= (live->terminal ? LINE_SECONDS : MILESTONE_SECONDS);
}

double live_seconds(const struct live *live)
{
    return seconds_now() - live->start;
}

void live_say(struct live *live, const char *format, ...)
{
    char text[300];
    va_list values;
    live->last = seconds_now();
    live->shown = true;
    int used = snprintf(text, sizeof text, "%.0f s: ", live->last - live->start);
    va_start(values, format);
    vsnprintf(text + used, sizeof text - (size_t)used, format, values);
    va_end(values);
    if (live->terminal) { /* a line that wraps cannot be taken back */
        fprintf(stderr, "\r\033[K%.*s", columns() - 1, text);
    } else {
        fprintf(stderr, "%s\n", text);
    }
    fflush(stderr);
}

struct live_left live_left(const struct live *live, double share)
{
    struct live_left left = {""};
    if (share > 0 && share <= 1) {
        double seconds = live_seconds(live) * (1 - share) / share;
        snprintf(left.text, sizeof left.text, ", about %.0f s left", seconds);
    }
    return left;
}

void live_end(struct live *live)
{
    if (live->terminal && live->shown) {
        fputs("\r\033[K", stderr);
    }
    live->shown = false;
}
