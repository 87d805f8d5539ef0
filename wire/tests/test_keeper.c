/* Trees of foreign processes, and the clock that they read. */
#include "wire/clock.h"
#include "wire/embedded.h"
#include "wire/keeper.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char folder[64];
static struct process_user user;

static void begin(void)
{
    struct error error;
    snprintf(folder, sizeof folder, "/tmp/assay-test-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chmod(folder, 0777), 0);
    cr_assert(process_user_find(&user, &error), "%s", error.text);
}

static void end(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0); // NOLINT(cert-env33-c): a fixed command
}

static void start(struct keeper *keeper, const char *command, char *const *environment)
{
    static char *const none[] = {(char *)"PATH=/usr/bin:/bin", NULL};
    struct error error;
    char output[80];
    snprintf(output, sizeof output, "%s/log", folder);
    cr_assert(
        keeper_start(keeper,
                     &(struct keeper_plan){.command = command,
                                           .folder = folder,
                                           .output = output,
                                           .user = &user,
                                           .environment = environment == NULL ? none : environment},
                     &error),
        "%s", error.text);
}

/* Pids that the tree has written into a file, a line each. */
static int read_pids(pid_t *pids, int wanted)
{
    char path[80];
    int count = 0;
    snprintf(path, sizeof path, "%s/pids", folder);
    for (int i = 0; i < 500 && count < wanted; i++, poll(NULL, 0, 10)) {
        FILE *file = fopen(path, "r");
        count = 0;
        while (file != NULL && count < wanted && fscanf(file, "%d", &pids[count]) == 1) {
            count++;
        }
        if (file != NULL) {
            fclose(file);
        }
    }
    return count;
}

static bool lives(pid_t pid)
{
    struct process_state state;
    return process_state(pid, &state) && strchr("ZX", state.state) == NULL;
}

/* A child, a child whose parent has ended, and one in a session of its own. */
static const char tree[] = "echo $$ >>pids; (sleep 1000 & echo $! >>pids; "
                           "setsid sh -c 'echo $$ >>pids; exec sleep 1000' &) ; exec sleep 1000";

Test(keeper, kills_the_whole_tree, .init = begin, .fini = end) /* KP2 */
{
    struct keeper keeper;
    pid_t pids[3];
    start(&keeper, tree, NULL);
    cr_assert_eq(read_pids(pids, 3), 3);
    keeper_kill(&keeper);
    for (int i = 0; i < 3; i++) {
        cr_assert(!lives(pids[i]), "process %d", i);
    }
}

Test(keeper, what_a_program_leaves_ends_with_it, .init = begin, .fini = end)
{
    struct keeper keeper;
    pid_t pids[1];
    int status = -1;
    start(&keeper, "sleep 1000 & echo $! >>pids; exit 3", NULL);
    cr_assert_eq(read_pids(pids, 1), 1);
    for (int i = 0; i < 500 && !keeper_ended(&keeper, &status); i++) {
        poll(NULL, 0, 10);
    }
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    cr_assert(!lives(pids[0]));
}

Test(keeper, tree_ends_with_its_maker, .init = begin, .fini = end) /* KP3 */
{
    pid_t pids[3];
    pid_t maker = fork();
    if (maker == 0) {
        struct keeper keeper;
        start(&keeper, tree, NULL);
        pause();
    }
    cr_assert_eq(read_pids(pids, 3), 3);
    cr_assert_eq(kill(maker, SIGKILL), 0);
    cr_assert_eq(waitpid(maker, NULL, 0), maker);
    bool alive = true;
    for (int i = 0; i < 500 && alive; i++, poll(NULL, 0, 10)) {
        alive = lives(pids[0]) || lives(pids[1]) || lives(pids[2]);
    }
    cr_assert(!alive);
}

Test(keeper, program_is_not_root, .init = begin, .fini = end) /* KP1 */
{
    struct keeper keeper;
    pid_t ids[1];
    int status;
    start(&keeper, "id -u >>pids", NULL);
    cr_assert_eq(read_pids(ids, 1), 1);
    cr_assert_eq((uid_t)ids[0], user.uid);
    cr_assert_neq(ids[0], 0);
    while (!keeper_ended(&keeper, &status)) {
        poll(NULL, 0, 10);
    }
}

/* ---- the clock ------------------------------------------------------------------------------- */

static void write_shim(const char *path)
{
    struct embedded shim = embedded_shim();
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
    cr_assert_eq(write(fd, shim.bytes, shim.size), (ssize_t)shim.size);
    cr_assert_eq(fchmod(fd, 0644), 0);
    close(fd);
}

Test(clock, leaps_to_the_earliest_deadline_and_never_back, .init = begin, .fini = end)
{
    struct keeper keeper;
    struct clock clock;
    struct error error;
    char path[100], preload[120], page[120];
    int status = -1, leaps = 0;
    snprintf(path, sizeof path, "%s/shim.so", folder);
    write_shim(path);
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", path);
    snprintf(path, sizeof path, "%s/clock", folder);
    cr_assert(clock_open(&clock, path, &error), "%s", error.text);
    snprintf(page, sizeof page, PAGE_VARIABLE "=%s", path);
    char *const environment[] = {(char *)"PATH=/usr/bin:/bin", preload, page, NULL};
    time_t began = time(NULL);
    start(&keeper, "a=$(date +%s); sleep 100; sleep 5000; b=$(date +%s); echo $((b - a)) >>pids",
          environment);
    double ahead = 0;
    for (int i = 0; i < 3000 && !keeper_ended(&keeper, &status); i++, poll(NULL, 0, 10)) {
        bool slept = keeper_rests(&keeper) && clock_leap(&clock);
        double now = clock_ahead(&clock);
        cr_assert(now >= ahead); /* CK1 */
        if (slept && now - ahead > 1) {
            leaps++;
            cr_assert(now - ahead < 5001, "CK2: it leapt %f s", now - ahead);
        }
        ahead = now;
    }
    pid_t slept[1];
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    cr_assert_eq(read_pids(slept, 1), 1);
    cr_assert(slept[0] >= 5100 && slept[0] < 5130, "the program slept %d s by its clock", slept[0]);
    cr_assert_eq(leaps, 2);
    cr_assert(time(NULL) - began < 60);
    clock_close(&clock);
}
