/* What `assay bench real` measures, on a small scale: that the load does the work that it counts,
 * and that the script for pgbench is what the engines send. No figure is judged here. */
#include "bench/command.h"
#include "bench/leg2.h"
#include "bench/load.h"
#include "bench/minimal.h"
#include "bench/peers.h"
#include "bench/pgbench.h"
#include "model/activity_engine.h"
#include "real/driver.h"
#include "real/tests/server.h"
#include "scenarios/scenario.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define SCHEMA   "assay_bench_test"
#define MESSAGES 40
#define WORKERS  2
#define JOBS     9
#define WARM     4

static struct scenario scenario;
static struct rules rules;
static struct error error;
static char script[LEG2_SCRIPT_SIZE];

static void make(void)
{
    if (server_dsn() == NULL) {
        cr_skip_test("%s", getenv(SERVER_WITHOUT_VARIABLE));
    }
    cr_assert(store_pg_drop_schema(server_dsn(), SCHEMA, &error), "%s", error.text);
}

static void unmake(void)
{
    if (server_dsn() != NULL) {
        cr_expect(store_pg_drop_schema(server_dsn(), SCHEMA, &error), "%s", error.text);
    }
}

TestSuite(bench_real, .init = make, .fini = unmake, .timeout = 120);

static void use(const char *graph, const char *commits)
{
    char text[200];
    struct error fault;
    snprintf(text, sizeof text, "name: s\njobs: %d\ncommits: %s\ngraph: {%s}\n", JOBS, commits,
             graph);
    cr_assert(scenario_parse(text, strlen(text), "s", &scenario, &fault), "%s", fault.text);
    scenario_rules(&scenario, 30000, 10, &rules);
}

static int64_t left(void)
{
    int64_t count = -1;
    cr_assert(leg2_left(server_dsn(), SCHEMA, &count, &error), "%s", error.text);
    return count;
}

static int times(const char *text, const char *part)
{
    int count = 0;
    for (; (text = strstr(text, part)) != NULL; text++) {
        count++;
    }
    return count;
}

/* Each message closes its job. With literal commits a worker acks the message afterwards, and may be
 * stopped before that. */
Test(bench_real, workers_take_every_message_of_the_queue_through)
{
    static const struct {
        const char *commits;
        uint64_t each;    /* commits of a message: claim, entry, steps, ack */
        uint64_t more;    /* claims of idle workers */
        int64_t left_max; /* by workers that were told */
    } cases[] = {{"literal", 6, 0, WORKERS}, {"merged", 3, WORKERS + MESSAGES, 0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct load_figures figures;
        use("trigger: []", cases[i].commits); /* no children: their messages would be taken, too */
        cr_assert(leg2_prepare(server_dsn(), SCHEMA, MESSAGES, &error), "%s", error.text);
        cr_expect_eq(left(), MESSAGES);
        const struct load load = {.dsn = server_dsn(),
                                  .schema = SCHEMA,
                                  .rules = &rules,
                                  .workers = WORKERS,
                                  .jobs = MESSAGES,
                                  .ms = 60000};
        cr_assert(load_run(&load, &figures, &error), "%s", error.text);
        cr_expect_eq(figures.ended, MESSAGES, "%s", cases[i].commits);
        cr_expect_leq(left(), cases[i].left_max, "%s", cases[i].commits);
        cr_expect_geq(figures.commits, MESSAGES * cases[i].each - WORKERS);
        cr_expect_leq(figures.commits, MESSAGES * cases[i].each + cases[i].more);
        cr_expect_eq(figures.tasks, 0, "all of them were answered before");
        make();
    }
}

static const struct load *endless(void)
{
    static struct load load;
    use("trigger: []", "merged");
    cr_assert(leg2_prepare(server_dsn(), SCHEMA, MESSAGES, &error), "%s", error.text);
    load = (struct load){
        .dsn = server_dsn(), .schema = SCHEMA, .rules = &rules, .workers = WORKERS, .ms = 60000};
    return &load;
}

/* SIGKILL to a child of this process; nobody is interrupted. */
static bool kills_a_child(void)
{
    static bool done;
    char path[60];
    int child;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *children = done ? NULL : fopen(path, "r");
    if (children != NULL && fscanf(children, "%d", &child) == 1) {
        done = kill(child, SIGKILL) == 0;
    }
    if (children != NULL) {
        fclose(children);
    }
    return false;
}

static bool interrupts(void)
{
    return true;
}

Test(bench_real, a_worker_that_dies_is_not_measured)
{
    struct load_figures figures;
    struct load load = *endless();
    load.interrupted = kills_a_child;
    cr_expect_not(load_run(&load, &figures, &error));
    cr_expect_not_null(strstr(error.text, "died by signal 9"), "%s", error.text);
}

Test(bench_real, a_load_that_is_interrupted_ends_at_once)
{
    struct load_figures figures;
    struct load load = *endless();
    load.interrupted = interrupts;
    cr_expect_not(load_run(&load, &figures, &error));
    cr_expect_not_null(strstr(error.text, "interrupted"), "%s", error.text);
}

Test(bench_real, the_script_has_the_transactions_of_the_engines)
{
    static const struct {
        const char *commits;
        int pipelines,
            statements; /* of entries, steps (Step 2 is one) and ack, BEGIN and COMMIT apart */
    } cases[] = {{"literal", 4, 2 + 3 + 1 + 1}, {"merged", 2, 2 + 1 + 3 + 1 + 2 + 2}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        use("trigger: [left, right]", cases[i].commits);
        cr_assert(leg2_prepare(server_dsn(), SCHEMA, MESSAGES, &error), "%s", error.text);
        cr_assert(leg2_record(server_dsn(), SCHEMA, &rules, script, &error), "%s", error.text);
        cr_expect_eq(left(), MESSAGES - 1, "one message was taken through");
        cr_expect_eq(times(script, "\\startpipeline"), cases[i].pipelines, "%s", script);
        cr_expect_eq(times(script, "COMMIT;\n\\endpipeline"), cases[i].pipelines);
        cr_expect_eq(times(script, " \\gset\n"), 1);
        cr_expect_eq(times(script, ";\n"), cases[i].statements + 2 * cases[i].pipelines, "%s",
                     script);
        make();
    }
}

/* pgbench commits what the engines would: the message is gone, and its children are there. */
Test(bench_real, pgbench_takes_messages_through_with_the_script)
{
    double rate = 0;
    use("trigger: [left, right]", "merged");
    cr_assert(leg2_prepare(server_dsn(), SCHEMA, 5000, &error), "%s", error.text);
    cr_assert(leg2_record(server_dsn(), SCHEMA, &rules, script, &error), "%s", error.text);
    const struct pgbench pgbench = {
        .dsn = server_dsn(), .script = script, .clients = 1, .seconds = 1, .settings = true};
    cr_assert(pgbench_run(&pgbench, &rate, error.text, sizeof error.text), "%s", error.text);
    cr_expect_gt(rate, 0);
    cr_expect_lt(left(), 5000 - 1);
}

/* A queue that ran dry is told, and not measured as if it had lasted. */
Test(bench_real, a_queue_that_runs_dry_is_told)
{
    const struct minimal *whole = minimal_list;
    while (strcmp(whole->name, "leg2-in-2") != 0) {
        whole++;
    }
    for (uint32_t messages = 1; messages <= 50000; messages += 49999) {
        double rate = 0;
        bool dry = false;
        const struct minimal_load load = {
            .dsn = server_dsn(), .clients = 1, .seconds = 1, .messages = messages};
        cr_assert(minimal_run(whole, &load, &rate, &dry, &error), "%s", error.text);
        cr_expect_eq(dry, messages == 1);
        cr_expect(dry || rate > 0);
    }
}

/* The last acks of those that warm up may be counted, those of the others may be not. */
Test(bench_real, jobs_end_and_cost_what_is_said)
{
    static const struct {
        const char *commits;
        uint64_t least, most; /* commits of a job; idle workers claim by themselves */
    } cases[] = {{"literal", 38, 38}, {"merged", 12, 14}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct load_figures figures;
        use("trigger: [second], second: [third]", cases[i].commits);
        cr_assert(store_pg_make_schema(server_dsn(), SCHEMA, protocol_activity.tables, &error),
                  "%s", error.text);
        const struct load load = {.dsn = server_dsn(),
                                  .schema = SCHEMA,
                                  .rules = &rules,
                                  .workers = WORKERS,
                                  .clients = 3,
                                  .warm = WARM,
                                  .jobs = JOBS - WARM,
                                  .ms = 60000};
        cr_assert(load_run(&load, &figures, &error), "%s", error.text);
        uint64_t jobs = JOBS - WARM;
        cr_expect_eq(figures.ended, jobs);
        cr_expect_eq(figures.tasks, 3 * jobs, "each in a process of its own");
        cr_expect_leq(figures.commits, cases[i].most * jobs + WORKERS, "%s", cases[i].commits);
        cr_expect_geq(figures.commits, cases[i].least * jobs - WORKERS, "%s", cases[i].commits);
        make();
    }
}

/* ---- programs of others ---------------------------------------------------------------------- */

TestSuite(command, .timeout = 60);

static char said[400];

static void take(void *context, const char *line)
{
    (void)context;
    snprintf(said, sizeof said, "%s", line);
}

static bool has_said_something(void)
{
    return said[0] != '\0';
}

static bool run_shell(const char *text, struct command command, char why[400])
{
    const char *const arguments[] = {"sh", "-c", text, NULL};
    command.arguments = arguments;
    return command_run(&command, take, NULL, why, 400);
}

Test(command, reads_its_input_and_its_variable_where_it_is_told_to)
{
    char why[400];
    const struct command command = {.folder = "/proc",
                                    .variable = "WHO",
                                    .value = "you",
                                    .input = "hello\n",
                                    .input_size = 6,
                                    .seconds_max = 30};
    cr_assert(run_shell("read word; echo first; echo $word $WHO in $PWD", command, why), "%s", why);
    cr_expect_str_eq(said, "hello you in /proc");
}

Test(command, that_fails_is_told_with_what_it_said)
{
    char why[400];
    cr_expect_not(run_shell("echo no way >&2; exit 3", (struct command){.seconds_max = 30}, why));
    cr_expect_not_null(strstr(why, "no way"), "%s", why);
    const char *const arguments[] = {"no-such-program", NULL};
    const struct command missing = {.arguments = arguments, .seconds_max = 30};
    cr_expect_not(command_run(&missing, take, NULL, why, sizeof why));
}

/* The shell said whom it has started. Who was killed takes a moment to go; who was not stays until
 * the test is too late. */
static void wait_until_gone(void)
{
    struct process_state state;
    pid_t pid = (pid_t)atoi(said);
    cr_assert_gt(pid, 0);
    while (process_state(pid, &state) && state.state != 'Z' && state.state != 'X') {
        usleep(1000);
    }
}

Test(command, is_ended_with_all_that_it_started)
{
    char why[400];
    const char *stays = "sleep 1000 & echo $!; wait", *leaves = "sleep 1000 & echo $!";
    const struct command interrupted = {.seconds_max = 60, .interrupted = has_said_something};
    cr_expect_not(run_shell(stays, interrupted, why));
    cr_expect_not_null(strstr(why, "interrupted"), "%s", why);
    wait_until_gone();
    cr_expect(run_shell(leaves, (struct command){.seconds_max = 60}, why), "%s", why);
    wait_until_gone();
    cr_expect_not(run_shell("sleep 1000", (struct command){.seconds_max = 0}, why));
    cr_expect_not_null(strstr(why, "took too long"), "%s", why);
}

Test(command, peers_are_not_found_where_there_are_none)
{
    struct peers peers = {0};
    char why[200];
    cr_expect_not(peers_find(&peers, "/proc", why, sizeof why));
    cr_expect_str_eq(why, "/proc has no node_modules");
}
