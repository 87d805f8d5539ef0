#include "verify/watchdog.h"

#include "model/check.h"
#include "sim/run.h"
#include "verify/status.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define THREADS_MAX 257 /* the most that a campaign has, and the first one */

struct post {
    bool taken;
    struct run_sign sign;
    const struct run *last; /* what the last look saw, */
    uint32_t turns;
    unsigned looks; /* ... and how often since */
};

unsigned watchdog_seconds = 20;
static struct post posts[THREADS_MAX];
static unsigned count; /* posts that were ever taken */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- what is said: by a signal handler, so without stdio ----------------------------------------- */

static size_t watchdog_put(char *line, size_t used, size_t size, const char *text)
{
    while (*text != '\0' && used < size) {
        line[used++] = *text++;
    }
    return used;
}

static size_t put_number(char *line, size_t used, size_t size, uint64_t number)
{
    char digits[21] = {0};
    size_t at = sizeof digits - 1;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    return watchdog_put(line, used, size, &digits[at]);
}

/* The run, what came of it after so many steps, and the line that repeats it. */
static void watchdog_tell(const struct run *run, const char *what)
{
    char line[400];
    size_t size = sizeof line, used = 0;
    bool drawn = run->source != NULL && run->source->random_faults;
    used = watchdog_put(line, used, size, "assay: ");
    used = watchdog_put(line, used, size, run->scenario->name);
    if (drawn) {
        used = watchdog_put(line, used, size, ", seed ");
        used = put_number(line, used, size, run->source->seed);
    }
    used = watchdog_put(line, used, size, what);
    used = watchdog_put(line, used, size, " after ");
    used = put_number(line, used, size, run->result.steps);
    used = watchdog_put(line, used, size, " steps");
    if (drawn) {
        used = watchdog_put(line, used, size, "; repeat it with: assay run ");
        used = watchdog_put(line, used, size, run->scenario->name);
        used = watchdog_put(line, used, size, " --seed ");
        used = put_number(line, used, size, run->source->seed);
        used = watchdog_put(line, used, size, run->sabotage != NULL ? " --sabotage " : "");
        used = watchdog_put(line, used, size, run->sabotage != NULL ? run->sabotage->name : "");
    }
    used = watchdog_put(line, used, size, "\n");
    ssize_t ignored = write(STDERR_FILENO, line, used);
    (void)ignored;
}

/* ---- looking --------------------------------------------------------------------------------- */

static void watchdog_look(int signal_number)
{
    (void)signal_number;
    for (unsigned i = 0; i < count; i++) {
        struct post *post = &posts[i];
        const struct run *run = post->sign.at;
        bool same = run != NULL && run == post->last && run->turns == post->turns;
        post->looks = same ? post->looks + 1 : 0;
        post->last = run;
        post->turns = run == NULL ? 0 : run->turns;
        if (post->looks >= watchdog_seconds) {
            watchdog_tell(run, ": an engine hangs: its turn takes too much processor time,");
            _exit(CLI_NO_PROGRESS);
        }
    }
}

static const int deaths[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE};
static struct sigaction before[COUNT(deaths)]; /* what each did without a watchdog */

/* This thread dies: a CHECK does not hold, or memory was misused. The signal then does what it did
 * before. */
static void watchdog_die(int signal_number)
{
    const struct run *run = run_sign == NULL ? NULL : run_sign->at;
    if (run != NULL) {
        watchdog_tell(run, ": the program dies");
    }
    for (size_t i = 0; i < COUNT(deaths); i++) {
        sigaction(deaths[i], &before[i], NULL);
    }
    raise(signal_number);
}

static void watch_deaths(void)
{
    static bool watched;
    struct sigaction action = {.sa_handler = watchdog_die, .sa_flags = SA_NODEFER};
    for (size_t i = 0; !watched && i < COUNT(deaths); i++) {
        sigaction(deaths[i], &action, &before[i]);
    }
    watched = true;
}

/* A look for each second of one thread's processor time. */
static void set_timer(unsigned threads)
{
    struct sigaction action = {.sa_handler = watchdog_look, .sa_flags = SA_RESTART};
    struct timeval every = {.tv_sec = threads};
    struct itimerval timer = {.it_interval = every, .it_value = every};
    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &timer, NULL);
}

void watchdog_enter(void)
{
    pthread_mutex_lock(&lock);
    unsigned at = 0, taken = 1;
    for (unsigned i = 0; i < count; i++) {
        taken += posts[i].taken;
    }
    while (at < THREADS_MAX && posts[at].taken) {
        at++;
    }
    if (at < THREADS_MAX && run_sign == NULL) {
        posts[at].taken = true;
        run_sign = &posts[at].sign;
        count = at >= count ? at + 1 : count;
        set_timer(taken);
        watch_deaths();
    }
    pthread_mutex_unlock(&lock);
}

void watchdog_leave(void)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < count; i++) {
        if (run_sign == &posts[i].sign) {
            posts[i].taken = false;
            posts[i].sign.at = NULL;
        }
    }
    run_sign = NULL;
    pthread_mutex_unlock(&lock);
}
