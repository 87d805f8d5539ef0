#include "cli/live.h"

#include <stdarg.h>
#include <stdio.h>
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

struct live live_begin(void)
{
    double now = seconds_now();
    return (struct live){.terminal = isatty(STDERR_FILENO) == 1, .start = now, .last = now};
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
    va_list values;
    live->last = seconds_now();
    live->shown = true;
    fprintf(stderr, "%s%.0f s: ", live->terminal ? "\r\033[K" : "", live->last - live->start);
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputs(live->terminal ? "" : "\n", stderr);
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
