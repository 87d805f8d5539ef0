/* That a CHECK fires: the call runs in a process of its own, which must abort and say the claim that
 * did not hold (model/check_abort.c). */
#ifndef MODEL_TESTS_FIRES_H
#define MODEL_TESTS_FIRES_H

#include "model/check.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRES_SOUND (-1)

/* Makes something sound, breaks it in one way and checks it; FIRES_SOUND: breaks nothing. */
typedef void fires_call(int which);

/* What the call says before it aborts; empty: it returns. */
static inline void fires_text(fires_call *call, int which, char *text, size_t size)
{
    int ends[2], status = 0;
    size_t length = 0;
    ssize_t more = 0;
    cr_assert_eq(pipe(ends), 0);
    pid_t child = fork();
    cr_assert(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        call(which);
        _exit(0);
    }
    close(ends[1]);
    while (length + 1 < size && (more = read(ends[0], text + length, size - 1 - length)) > 0) {
        length += (size_t)more;
    }
    text[length] = '\0';
    close(ends[0]);
    cr_assert_eq(waitpid(child, &status, 0), child);
    bool aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
    cr_assert(aborted || (WIFEXITED(status) && WEXITSTATUS(status) == 0 && length == 0),
              "case %d neither aborts nor returns: %s", which, text);
}

/* Case i breaks claims[i], and what is sound breaks none. */
static inline void expect_fires(fires_call *call, const char *const *claims, size_t count)
{
    char text[1024], wanted[512];
    fires_text(call, FIRES_SOUND, text, sizeof text);
    cr_expect_str_empty(text, "what is sound fires");
    for (size_t i = 0; i < count; i++) {
        snprintf(wanted, sizeof wanted, "CHECK(%s)", claims[i]);
        fires_text(call, (int)i, text, sizeof text);
        cr_expect(strstr(text, wanted) != NULL, "case %zu: %s does not fire, but: %s", i, claims[i],
                  text);
    }
}

#define EXPECT_FIRES(call, claims) expect_fires(call, claims, COUNT(claims))

#endif
