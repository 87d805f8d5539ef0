/* A foreign program that is measured or needed: gets an input, hands over its lines of output, ends
 * when its time is up.
 *
 * It leads a process group of its own. The whole group is killed when the time is up, on an
 * interrupt, and when the program has ended and left processes behind. If this process is killed,
 * the kernel kills the program. Nothing is written to disk for it. */
#ifndef BENCH_COMMAND_H
#define BENCH_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

struct command {
    const char *const *arguments; /* ends with NULL; the first is looked for in PATH */
    const char *folder;           /* where it runs; NULL: here */
    const char *variable, *value; /* one more of its environment; NULL: none */
    const void *input;            /* what it reads; NULL: nothing */
    size_t input_size;
    int seconds_max;
    bool (*interrupted)(void); /* polled; NULL: no interrupts */
};

typedef void command_line(void *context, const char *line);

/* True: it ended with status 0. False: *why says how it ended, and what it said last. */
bool command_run(const struct command *command, command_line *each, void *context, char *why,
                 size_t size);

#endif
