/* A run that hangs or dies is told and ends the program; one that goes on, or a thread that is at none,
 * is left alone. Each case is a process of its own. */
#include "sim/run.h"
#include "verify/status.h"
#include "verify/watchdog.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECONDS_OF_WORK 6 /* of processor time, three times as much as is allowed here */

enum hanging { LOOPS, GOES_ON, AT_NONE, UNWATCHED, DIES };

static void work(struct run *run, enum hanging how)
{
    if (how == DIES) {
        raise(SIGABRT);
    }
    for (clock_t end = clock() + SECONDS_OF_WORK * CLOCKS_PER_SEC; clock() < end;) {
        run->turns += how == GOES_ON;
    }
}

static _Noreturn void child(enum hanging how, int out)
{
    static struct scenario scenario = {.name = "some-scenario"};
    static struct choice_source source = {.random_faults = true, .seed = 1234567};
    static struct run run = {.scenario = &scenario, .source = &source};
    dup2(out, STDERR_FILENO);
    watchdog_seconds = 2;
    if (how != UNWATCHED) {
        watchdog_enter();
        run_sign->at = how == AT_NONE ? NULL : &run;
    }
    work(&run, how);
    watchdog_leave();
    _exit(0);
}

/* Its exit status, and what it said. */
static int status_of(enum hanging how, char *said, size_t size)
{
    int pipes[2], status = 0;
    cr_assert_eq(pipe(pipes), 0);
    pid_t pid = fork();
    if (pid == 0) {
        child(how, pipes[1]);
    }
    close(pipes[1]);
    ssize_t length = read(pipes[0], said, size - 1);
    said[length < 0 ? 0 : length] = '\0';
    close(pipes[0]);
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

Test(watchdog, a_run_that_hangs_ends_the_program_with_its_name)
{
    char said[500];
    cr_expect_eq(status_of(LOOPS, said, sizeof said), CLI_NO_PROGRESS);
    cr_expect(strstr(said, "assay run some-scenario --seed 1234567\n") != NULL, "%s", said);
}

Test(watchdog, a_run_that_dies_is_named_and_the_signal_does_what_it_did)
{
    char said[500];
    cr_expect_eq(status_of(DIES, said, sizeof said), -SIGABRT);
    cr_expect(strstr(said, "dies after 0 steps; repeat it with: assay run some-scenario "
                           "--seed 1234567\n") != NULL,
              "%s", said);
}

/* (WD1) */
Test(watchdog, whatever_else_takes_time_is_left_alone)
{
    char said[500];
    for (enum hanging how = GOES_ON; how <= UNWATCHED; how++) {
        cr_expect_eq(status_of(how, said, sizeof said), 0, "%d", (int)how);
        cr_expect_str_eq(said, "");
    }
}
