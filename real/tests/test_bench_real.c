/* What `assay bench real` measures, on a small scale: that the load does the work that it counts,
 * and that the script for pgbench is what the engines send. No figure is judged here. */
#include "real/bench/leg2.h"
#include "real/bench/load.h"
#include "real/bench/pgbench.h"
#include "real/driver.h"
#include "real/tests/server.h"
#include "scenarios/scenario.h"

#include <criterion/criterion.h>
#include <string.h>

#define SCHEMA   "assay_bench_test"
#define MESSAGES 40
#define JOBS     4

static struct scenario scenario;
static struct rules rules;
static struct store_pg_problem problem;
static char script[LEG2_SCRIPT_SIZE];

static void make(void)
{
    if (server_dsn() == NULL) {
        cr_skip_test("%s", getenv(SERVER_WITHOUT_VARIABLE));
    }
    cr_assert(store_pg_drop_schema(server_dsn(), SCHEMA, &problem), "%s", problem.text);
}

static void unmake(void)
{
    if (server_dsn() != NULL) {
        cr_expect(store_pg_drop_schema(server_dsn(), SCHEMA, &problem), "%s", problem.text);
    }
}

TestSuite(bench_real, .init = make, .fini = unmake, .timeout = 120);

static void use(const char *graph, const char *commits)
{
    char text[200];
    struct scenario_fault fault;
    snprintf(text, sizeof text, "name: s\njobs: %d\ncommits: %s\ngraph: {%s}\n", JOBS, commits,
             graph);
    cr_assert(scenario_parse(text, strlen(text), "s", &scenario, &fault), "%s", fault.text);
    scenario_rules(&scenario, 30000, 10, &rules);
}

static int64_t left(void)
{
    int64_t count = -1;
    cr_assert(leg2_left(server_dsn(), SCHEMA, &count, &problem), "%s", problem.text);
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

Test(bench_real, workers_take_every_message_of_the_queue_through)
{
    static const char *const commits[] = {"literal", "merged"};
    for (size_t i = 0; i < 2; i++) {
        struct load_figures figures;
        use("trigger: []", commits[i]); /* no children: their messages would keep workers busy */
        cr_assert(leg2_prepare(server_dsn(), SCHEMA, MESSAGES, &problem), "%s", problem.text);
        cr_expect_eq(left(), MESSAGES);
        const struct load load = {
            .dsn = server_dsn(), .schema = SCHEMA, .rules = &rules, .workers = 2, .ms = 2000};
        cr_assert(load_run(&load, &figures, &problem), "%s", problem.text);
        cr_expect_lt(left(), MESSAGES, "%s", commits[i]);
        cr_expect_geq(figures.commits, (uint64_t)(MESSAGES - left()) * 2);
        make();
    }
}

Test(bench_real, the_script_has_the_transactions_of_the_engines)
{
    static const struct {
        const char *commits;
        int pipelines, statements; /* of entries, steps and ack, BEGIN and COMMIT apart */
    } cases[] = {{"literal", 4, 2 + 3 + 7 + 1}, {"merged", 2, 2 + 1 + 3 + 7 + 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        use("trigger: [left, right]", cases[i].commits);
        cr_assert(leg2_prepare(server_dsn(), SCHEMA, MESSAGES, &problem), "%s", problem.text);
        cr_assert(leg2_record(server_dsn(), SCHEMA, &rules, script, &problem), "%s", problem.text);
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
    cr_assert(leg2_prepare(server_dsn(), SCHEMA, 5000, &problem), "%s", problem.text);
    cr_assert(leg2_record(server_dsn(), SCHEMA, &rules, script, &problem), "%s", problem.text);
    const struct pgbench pgbench = {.dsn = server_dsn(),
                                    .script = script,
                                    .clients = 1,
                                    .seconds = 1,
                                    .now = driver_now(),
                                    .settings = true};
    cr_assert(pgbench_run(&pgbench, &rate, problem.text, sizeof problem.text), "%s", problem.text);
    cr_expect_gt(rate, 0);
    cr_expect_lt(left(), 5000 - 1);
}

Test(bench_real, jobs_end_and_cost_what_is_said)
{
    static const struct {
        const char *commits;
        uint64_t least, most; /* commits of a job; idle workers claim by themselves */
    } cases[] = {{"literal", 37, 38}, {"merged", 17, 26}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct load_figures figures;
        use("trigger: [second], second: [third]", cases[i].commits);
        cr_assert(store_pg_make_schema(server_dsn(), SCHEMA,
                                       protocol_get(PROTOCOL_ACTIVITY)->tables, &problem),
                  "%s", problem.text);
        const struct load load = {.dsn = server_dsn(),
                                  .schema = SCHEMA,
                                  .rules = &rules,
                                  .workers = 2,
                                  .jobs = JOBS,
                                  .ms = 60000};
        cr_assert(load_run(&load, &figures, &problem), "%s", problem.text);
        cr_expect_eq(figures.ended, JOBS);
        cr_expect_leq(figures.commits, cases[i].most * JOBS, "%s", cases[i].commits);
        cr_expect_geq(figures.commits, cases[i].least * JOBS, "%s", cases[i].commits);
        make();
    }
}
