/* assay real: the same engines on PostgreSQL. */
#include "cli/real.h"

#include "cli/cli.h"
#include "cli/one_run.h"
#include "cli/real_judge.h"
#include "cli/results.h"
#include "cli/server.h"
#include "real/driver.h"
#include "real/history.h"
#include "sim/campaign.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char help[] =
    "usage: assay real SCENARIO... [--seeds N] [--dsn DSN] [--keep] [--sabotage NAME]\n"
    "                  [--expect-finding] [--json] [--out DIR]\n"
    "\n"
    "Runs scenarios on PostgreSQL with the engines of the simulation: workers are processes with "
    "one\n"
    "connection each; a phase of the pipeline is sent as the role of its principal, which has "
    "few.\n"
    "The server records every committed change in the transaction that made it; the oracles of "
    "the\n"
    "simulation judge that history, and the final data are compared with a simulated run without\n"
    "faults. No faults are injected yet. A seed numbers a run; who runs when is up to the "
    "machine.\n"
    "\n"
    "  --seeds N         runs of each scenario (default 1)\n"
    "  --dsn DSN         a server to use, as libpq takes it; Assay makes schemas of its own there "
    "and\n"
    "                    drops them, and roles, too, for a protocol with principals, which takes\n"
    "                    CREATEROLE. Without it, a private server in a temporary folder\n"
    "  --keep            leave the private server and its last schema, and say how to connect\n"
    "  --sabotage NAME   plant a bug (assay list sabotages)\n"
    "  --expect-finding  a broken promise is status 0, none is status 1\n"
    "  --json            JSON lines: one of type \"real\" for each scenario\n"
    "  --out DIR         keep results and a report there; DIR must be empty or new\n"
    "\n"
    "Exit status: 0 every promise held; 1 a promise was broken; 2 the work did not end; 69 no "
    "server,\n"
    "or no package to make or reach one.\n"
    "\n"
    "example: assay real tree-7 cycle --seeds 20\n";

#define RUN_MS_MAX     20000 /* until a run is given up */
#define CLAIM_MS       10000
#define PUT_BACK_MS    5
#define PROBLEM_STATUS 3 /* of a worker process whose store failed */

struct request {
    const char *seeds, *dsn, *sabotage_name, *out;
    struct artefacts *results;
    uint64_t seed_count;
    bool keep, json, expect_finding;
    struct sabotage sabotage;
    struct cli_arguments scenarios;
    const struct sabotage *hunted; /* assay sabotage --real: those, each in its own scenario */
    size_t hunted_count;
};

/* A scenario on a server. */
struct stage {
    const struct request *request;
    const char *dsn;
    struct scenario scenario;
    struct run run;
    struct rules rules;
    char schema[48];
    struct roles roles;            /* of the protocol's principals */
    _Atomic uint64_t *turned_away; /* 53300, of all workers; shared with them */
    uint64_t runs, commits, changes;
    struct real_verdict verdict;
};

static volatile sig_atomic_t interrupted;

static void note_signal(int number)
{
    (void)number;
    interrupted = 1;
}

/* ---- one run --------------------------------------------------------------------------------- */

static struct driver driver_of(const struct stage *stage)
{
    return (struct driver){
        .dsn = stage->dsn,
        .schema = stage->schema,
        .roles = &stage->roles,
        .turned_away = stage->turned_away,
        .rules = &stage->rules,
        .sabotage = stage->request->sabotage_name == NULL ? NULL : &stage->request->sabotage,
        .give_up_at = driver_now() + RUN_MS_MAX};
}

/* Who serves is a process, and ends with this one. */
static pid_t start_worker(const struct driver *driver, unsigned actor)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid != 0) {
        return pid;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct store_pg_problem problem;
    uint64_t transactions;
    enum driver_end end = driver_act(driver, actor, &transactions, &problem);
    if (end == DRIVER_FAILED) {
        fprintf(stderr, "assay real: a worker's store failed: %s\n", problem.text);
    }
    _exit(end == DRIVER_QUIET ? 0 : end == DRIVER_LATE ? CLI_NO_PROGRESS : PROBLEM_STATUS);
}

/* CLI_OK if all ended because nothing was left to do. */
static int run_workers(const struct stage *stage, const struct driver *driver)
{
    pid_t pids[PROTOCOL_ACTORS_MAX];
    unsigned count = 0;
    int status = CLI_OK;
    for (unsigned a = 0; a < stage->rules.actors; a++) {
        if (protocol_role(&stage->rules, a)->is_done == NULL) {
            pids[count] = start_worker(driver, a);
            status = pids[count] < 0 ? CLI_UNAVAILABLE : status;
            count++;
        }
    }
    for (unsigned w = 0; w < count; w++) {
        int ended = 0;
        while (pids[w] > 0 && waitpid(pids[w], &ended, 0) < 0 && !interrupted) {
        }
        if (interrupted && pids[w] > 0) {
            kill(pids[w], SIGKILL);
            waitpid(pids[w], &ended, 0);
        }
        int code = WIFEXITED(ended) ? WEXITSTATUS(ended) : PROBLEM_STATUS;
        status = code == PROBLEM_STATUS          ? CLI_UNAVAILABLE
                 : code != 0 && status == CLI_OK ? CLI_NO_PROGRESS
                                                 : status;
    }
    return status;
}

static int complain(const char *what, const char *why)
{
    fprintf(stderr, "assay real: %s: %s\n", what, why);
    return CLI_UNAVAILABLE;
}

static int judge(struct stage *stage)
{
    struct store_pg_problem problem;
    struct store_pg_options options = {.dsn = stage->dsn,
                                       .schema = stage->schema,
                                       .primitives = primitive_table,
                                       .primitive_count = PRIMITIVE_COUNT};
    struct store_pg *store = store_pg_open(&options, &problem);
    if (store == NULL) {
        return complain("the history cannot be read", problem.text);
    }
    int status = real_judge(&stage->run, store, stage->schema, &stage->verdict)
                     ? CLI_OK
                     : complain("the history cannot be read", store_pg_why_not(store));
    store_pg_close(store);
    stage->commits += stage->verdict.commits;
    stage->changes += stage->verdict.changes;
    if (status == CLI_OK && stage->verdict.bug != NULL) {
        fprintf(stderr, "assay real: %s: a bug of Assay\n", stage->verdict.bug);
        return CLI_BUG;
    }
    return status == CLI_OK && stage->verdict.breach.broken ? CLI_BROKEN : status;
}

/* The schema with its tables and triggers. */
static int make_schema(struct stage *stage)
{
    char script[HISTORY_SCRIPT_SIZE];
    struct store_pg_problem problem;
    struct store_pg_options options = {.dsn = stage->dsn,
                                       .schema = stage->schema,
                                       .primitives = primitive_table,
                                       .primitive_count = PRIMITIVE_COUNT};
    if (!store_pg_make_schema(stage->dsn, stage->schema,
                              protocol_get(stage->scenario.protocol)->tables, &problem)) {
        return complain("the schema cannot be made", problem.text);
    }
    struct store_pg *store = store_pg_open(&options, &problem);
    if (store == NULL) {
        return complain("the schema cannot be made", problem.text);
    }
    history_script(stage->schema, protocol_get(stage->scenario.protocol)->tables, script);
    int status = store_pg_run(store, script)
                     ? CLI_OK
                     : complain("the history cannot be recorded", store_pg_why_not(store));
    store_pg_close(store);
    return status;
}

/* As many connections as the scenario says. */
static int make_roles(struct stage *stage)
{
    struct store_pg_problem problem;
    roles_draw(&stage->roles, protocol_get(stage->scenario.protocol)->principals);
    for (int p = PRINCIPAL_NONE + 1; p < PRINCIPAL_COUNT; p++) {
        stage->roles.connections[p] = scenario_connections(&stage->scenario, (enum principal)p);
    }
    if (!store_pg_make_roles(stage->dsn, stage->schema, &stage->roles, &problem)) {
        stage->roles.principals = 0; /* none to drop */
        return complain(stage->scenario.name, problem.text);
    }
    return CLI_OK;
}

/* Clients: those that have done all they will ever do, one after the other. */
static int run_clients(const struct stage *stage, const struct driver *driver)
{
    struct store_pg_problem problem = {"the time is up"};
    uint64_t transactions;
    for (unsigned a = 0; a < stage->rules.actors; a++) {
        if (protocol_role(&stage->rules, a)->is_done != NULL &&
            driver_act(driver, a, &transactions, &problem) != DRIVER_QUIET) {
            return complain("the jobs cannot be created", problem.text);
        }
    }
    return CLI_OK;
}

static int run_seed(struct stage *stage)
{
    struct store_pg_problem problem;
    struct driver driver = driver_of(stage);
    stage->roles.principals = 0; /* none is made yet */
    int status = make_schema(stage);
    if (status == CLI_OK) {
        status = make_roles(stage);
    }
    if (status == CLI_OK) {
        status = run_clients(stage, &driver);
    }
    if (status == CLI_OK) {
        int worked = run_workers(stage, &driver);
        status = worked == CLI_UNAVAILABLE || interrupted ? CLI_UNAVAILABLE : judge(stage);
        status = status == CLI_OK ? worked : status; /* a promise tells more than "it hangs" */
    }
    stage->runs++;
    if (!stage->request->keep && !store_pg_drop_roles(stage->dsn, &stage->roles, &problem) &&
        status == CLI_OK) {
        status = complain("the roles cannot be dropped", problem.text);
    }
    if (!stage->request->keep && !store_pg_drop_schema(stage->dsn, stage->schema, &problem) &&
        status == CLI_OK) {
        status = complain("the schema cannot be dropped", problem.text);
    }
    return status;
}

/* ---- a scenario ------------------------------------------------------------------------------ */

static void write_lines(const struct stage *stage, int status)
{
    const struct oracle_verdict *breach = &stage->verdict.breach;
    const struct request *request = stage->request;
    const char *name = stage->scenario.name;
    const char *clause = status == CLI_BROKEN ? clause_get(breach->clause)->id : NULL;
    char again[200];
    if (clause != NULL && request->sabotage_name == NULL) {
        snprintf(again, sizeof again, "assay real %s --seeds %" PRIu64, name, request->seed_count);
        artefacts_note(request->results,
                       json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:s}", "type", "finding",
                                 "scenario", name, "clause", clause, "oracle",
                                 campaign_oracle_name(stage->verdict.oracle), "kind",
                                 stage->scenario.breaks ? "expected" : "new", "why", breach->why,
                                 "runs", (json_int_t)1, "again", again));
    }
    artefacts_line(request->results,
                   json_pack("{s:s, s:s, s:s, s:s?, s:I, s:I, s:I, s:I, s:i, s:s?, s:s?, s:o, s:o}",
                             "type", "real", "scenario", name, "protocol",
                             protocol_get(stage->scenario.protocol)->name, "sabotage",
                             request->sabotage_name, "runs", (json_int_t)stage->runs, "commits",
                             (json_int_t)stage->commits, "changes", (json_int_t)stage->changes,
                             "turned_away", (json_int_t)atomic_load(stage->turned_away), "status",
                             status, "clause", clause, "why", clause == NULL ? NULL : breach->why,
                             "evaluated", results_evaluated(stage->run.oracle.evaluated), "seen",
                             results_seen(stage->run.oracle.seen)));
}

static void write_stage(const struct stage *stage, int status)
{
    const struct oracle_verdict *breach = &stage->verdict.breach;
    const char *name = stage->scenario.name;
    uint64_t turned_away = atomic_load(stage->turned_away);
    bool broken = status == CLI_BROKEN;
    write_lines(stage, status);
    if (stage->request->json) {
        return;
    }
    if (broken) {
        printf("%s, run %" PRIu64 " on PostgreSQL: %s\n  breaks  %s, found by the %s oracle in the "
               "committed history\n",
               name, stage->runs, breach->why, clause_get(breach->clause)->id,
               campaign_oracle_name(stage->verdict.oracle));
    } else {
        printf("%s: %" PRIu64 " run%s on PostgreSQL, %" PRIu64 " commits judged", name, stage->runs,
               stage->runs == 1 ? "" : "s", stage->commits);
        if (turned_away > 0) {
            printf(", turned away %" PRIu64 " time%s (53300)", turned_away,
                   turned_away == 1 ? "" : "s");
        }
        printf(": %s\n", status == CLI_OK ? "every promise held, data as in the simulation"
                         : status == CLI_NO_PROGRESS ? "the work did not end"
                                                     : "not complete");
    }
}

static int load(struct stage *stage, const char *name)
{
    struct scenario_fault fault;
    if (!scenario_load(name, &stage->scenario, &fault)) {
        return cli_usage_error(&cli_real, "%s", fault.text);
    }
    if (stage->request->sabotage_name != NULL &&
        one_run_check_sabotage(&cli_real, &stage->request->sabotage, &stage->scenario) != CLI_OK) {
        return CLI_USAGE;
    }
    if (!run_make(&stage->run, &stage->scenario, NULL)) {
        return complain(name, "not enough memory");
    }
    if (stage->run.has_presets) {
        run_free(&stage->run);
        return cli_usage_error(
            &cli_real, "%s presets Leg2 counters, which only the simulation can do yet", name);
    }
    /* what the simulated run without faults has shown is not the server's */
    memset(stage->run.oracle.evaluated, 0, sizeof stage->run.oracle.evaluated);
    memset(stage->run.oracle.seen, 0, sizeof stage->run.oracle.seen);
    scenario_rules(&stage->scenario, CLAIM_MS, PUT_BACK_MS, &stage->rules);
    return CLI_OK;
}

static int run_scenario(const struct request *request, const char *dsn, const char *name)
{
    struct stage *stage = calloc(1, sizeof *stage);
    if (stage == NULL) {
        return complain(name, "not enough memory");
    }
    stage->request = request;
    stage->dsn = dsn;
    stage->turned_away = mmap(NULL, sizeof *stage->turned_away, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (stage->turned_away == MAP_FAILED) {
        free(stage);
        return complain(name, "not enough memory");
    }
    int status = load(stage, name);
    if (status == CLI_OK) {
        static unsigned number;
        for (uint64_t seed = 1; seed <= request->seed_count && status == CLI_OK && !interrupted;
             seed++) {
            snprintf(stage->schema, sizeof stage->schema, "assay_%ld_%u", (long)getpid(), ++number);
            status = run_seed(stage);
        }
        write_stage(stage, status);
        run_free(&stage->run);
    }
    munmap((void *)stage->turned_away, sizeof *stage->turned_away);
    free(stage);
    return status;
}

static int run_all(void *context, const char *dsn)
{
    const struct request *request = context;
    int worst = CLI_OK;
    for (int i = 0; i < request->scenarios.count && !interrupted; i++) {
        int status = run_scenario(request, dsn, request->scenarios.positional[i]);
        if (status == CLI_USAGE || status == CLI_UNAVAILABLE || status == CLI_BUG) {
            return status;
        }
        worst = worst == CLI_OK ? status : worst;
    }
    if (interrupted) {
        return CLI_INCOMPLETE;
    }
    if (worst == CLI_OK || worst == CLI_BROKEN) {
        return (worst == CLI_BROKEN) == request->expect_finding ? CLI_OK : CLI_BROKEN;
    }
    return worst;
}

/* ---- the server ------------------------------------------------------------------------------ */

static int use_server(struct request *request, on_server *what)
{
    return server_use(
        &(struct server_request){.verb = "real", .dsn = request->dsn, .keep = request->keep}, what,
        request);
}

/* ---- planted bugs ---------------------------------------------------------------------------- */

static int hunt_all(void *context, const char *dsn)
{
    const struct request *request = context;
    int worst = CLI_OK;
    for (size_t i = 0; i < request->hunted_count && !interrupted; i++) {
        struct request one = *request;
        one.sabotage = request->hunted[i];
        one.sabotage_name = one.sabotage.name;
        if (!one.json) {
            printf("%s\n  ", one.sabotage_name);
        }
        int status = run_scenario(&one, dsn, one.sabotage.scenario);
        if (status != CLI_BROKEN) {
            worst = status == CLI_OK || status == CLI_NO_PROGRESS ? CLI_INCOMPLETE : status;
        }
    }
    return worst;
}

int real_sabotages(const struct sabotage *list, size_t count, struct artefacts *results)
{
    struct request request = {.seed_count = 1,
                              .json = results->echo != NULL,
                              .results = results,
                              .hunted = list,
                              .hunted_count = count};
    return use_server(&request, hunt_all);
}

/* ---- the verb -------------------------------------------------------------------------------- */

static int read_request(int argc, char **argv, struct request *request)
{
    const struct cli_option options[] = {{"--seeds", &request->seeds, NULL},
                                         {"--dsn", &request->dsn, NULL},
                                         {"--sabotage", &request->sabotage_name, NULL},
                                         {"--out", &request->out, NULL},
                                         {"--keep", NULL, &request->keep},
                                         {"--json", NULL, &request->json},
                                         {"--expect-finding", NULL, &request->expect_finding}};
    int status = cli_parse(&cli_real, argc, argv, options, sizeof options / sizeof *options,
                           &request->scenarios);
    request->seed_count = 1;
    if (status != CLI_OK) {
        return status;
    }
    if (request->scenarios.count == 0) {
        return cli_usage_error(&cli_real, "a SCENARIO is needed; assay list scenarios shows them");
    }
    status =
        cli_number_option(&cli_real, "--seeds", request->seeds, 1, 1000000, &request->seed_count);
    if (status != CLI_OK) {
        return status;
    }
    if (request->sabotage_name != NULL &&
        !sabotage_find(request->sabotage_name, &request->sabotage)) {
        return cli_usage_error(&cli_real,
                               "--sabotage %s: there is none; assay list sabotages shows them",
                               cli_quote(request->sabotage_name).text);
    }
    if (request->sabotage_name != NULL &&
        (request->sabotage.kind == SABOTAGE_STALE || sabotage_tears(&request->sabotage))) {
        return cli_usage_error(&cli_real,
                               "--sabotage %s needs the simulated store: it reads rows on the sly, "
                               "or tears transactions",
                               request->sabotage_name);
    }
    return CLI_OK;
}

static int run_verb(int argc, char **argv)
{
    struct request request = {0};
    int status = read_request(argc, argv, &request);
    if (status != CLI_OK) {
        return status;
    }
    struct sigaction action = {.sa_handler = note_signal}; /* no restart: waiting ends */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct artefacts results;
    status = results_open(&results, &(struct results_plan){.verb = &cli_real,
                                                           .folder = request.out,
                                                           .json = request.json,
                                                           .base_seed = 1,
                                                           .jobs = 1});
    request.results = &results;
    return status != CLI_OK ? status
                            : results_close(&results, &cli_real, use_server(&request, run_all));
}

const struct cli_verb cli_real = {.name = "real",
                                  .about = "the same engines on PostgreSQL, judged alike",
                                  .help = help,
                                  .run = run_verb};
