/* A program of others that is measured or needed: started with an input, its lines of output handed
 * over, ended if it takes too long.
 *
 * It leads a process group of its own, which is killed as a whole: when it is late, when somebody
 * interrupts, and when it has ended itself and left somebody behind. If this process is killed the
 * kernel kills it. Nothing is written to disk for it. */
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
    bool (*interrupted)(void); /* asked now and then; NULL: nobody interrupts */
};

typedef void command_line(void *context, const char *line);

/* True: it ended with status 0. False: *why says how it ended, and what it said last. */
bool command_run(const struct command *command, command_line *each, void *context, char *why,
                 size_t size);

#endif
