/* assay real: the same engines on PostgreSQL, under real faults. */
#include "cli/real.h"
#include "cli/real_tell.h"
#include "cli/run_options.h"

#include "cli/load.h"
#include "cli/options.h"
#include "cli/results.h"
#include "cli/server.h"
#include "real/part.h"
#include "real/presets.h"
#include "real/run_schema.h"
#include "real/views.h"
#include "scenarios/writer.h"
#include "sim/campaign.h"
#include "verify/one_run.h"
#include "verify/real_finding.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUN_MS_MAX       20000 /* until a phase of a run is given up, */
#define JOB_MS_MAX       1000  /* and for each job */
#define CALM_CLAIM_MS    10000
#define STORMY_CLAIM_MS  150   /* so that what a killed worker held comes again soon */
#define LASTING_CLAIM_MS 60000 /* longer than a phase may take: nobody is ever late */
#define PUT_BACK_MS      5
#define TOLD_MAX         64

struct request {
    const char *dsn, *sabotage, *shard, *out;
    uint64_t part, parts;   /* what --shard says, counted from 0; parts 0: it was not given */
    uint64_t seeds;         /* 0: not asked for */
    uint64_t jobs, workers; /* 0: as the scenario has it */
    double time;            /* in seconds; 0: `seeds` is the bound */
    bool keep, clean, json, expect_finding, no_faults, gate;
    struct artefacts *results;
    struct sabotage planted;
    struct cli_arguments scenarios;
    const struct sabotage *hunted; /* assay sabotage --real: those, each in its own scenario */
    size_t hunted_count;
    struct cluster cluster; /* the private server */
    struct chaos_server server;
    struct real_result told[TOLD_MAX];
    size_t told_count;
};

static const struct option options[] = {
    {ARGUMENTS_ROW(struct request, scenarios, "SCENARIO", false), .names = NAMES_OF_SCENARIOS,
     .about = "a name (assay list scenarios), or the path of a .yaml file"},
    {NUMBER_ROW(struct request, seeds, "--seeds", 1, 1000000), .usual_text = "1",
     .about = "runs of each scenario"},
    {TIME_ROW(struct request,
              "runs of each, one after the other, until the time is up; then faults "
              "stop, also in the one that is under way. With --seeds: those seeds over and over")},
    {TEXT_ROW(struct request, shard, "--shard", "K/N"), .names = NAMES_OF_NOTHING,
     .again = AGAIN_NEVER, .excludes = "--time",
     .about =
         "only every Nth seed, from the Kth on; assay merge adds shards up. Not with --gate, which "
         "one shard cannot judge"},
    {FLAG_ROW(struct request, no_faults, "--no-faults"), .about = "inject no faults"},
    {NUMBER_ROW(struct request, jobs, "--jobs", 1, SCENARIO_JOBS_MAX),
     .usual_text = "the scenario's", .about = "jobs; the scenario's limits on faults grow alike"},
    {NUMBER_ROW(struct request, workers, "--workers", 1, SCENARIO_WORKERS_MAX),
     .usual_text = "the scenario's", .about = "workers"},
    {DSN_ROW(struct request,
             "Assay makes schemas there, named by chance, and drops those that it made; roles, "
             "too, for a protocol with principals, which takes CREATEROLE. The server needs "
             "wal_level = logical, and the user REPLICATION: the history of a run is read from the "
             "server's log. It harms nothing but its own processes and "
             "connections. What a killed assay left there is listed")},
    {FLAG_ROW(struct request, clean, "--clean"), .again = AGAIN_NEVER,
     .about = "first remove the schemas that killed processes of assay left on that server: those "
              "that carry its mark in their comment, and whose maker holds their advisory lock no "
              "more, each with what depends on it; without SCENARIO it does nothing else"},
    {FLAG_ROW(struct request, keep, "--keep"), .again = AGAIN_NEVER,
     .about = "leave the private server with the schema of every run, each with a comment that "
              "names its scenario and seed, and say how to connect; views decode ledgers"},
    {FLAG_ROW(struct request, gate, "--gate"), .again = AGAIN_NEVER,
     .about = "status 4 if a kind of fault was planned and never hit; if no process was killed at "
              "a crash point (a bundle that is sent, before begin, before commit, after commit); "
              "or if a clause that a scenario is to reach was not evaluated. It takes some 200 "
              "seeds to meet it"},
    {SABOTAGE_ROW(struct request)},
    {EXPECT_FINDING_ROW(struct request)},
    {JSON_ROW(struct request, ": one of type \"real\" for each scenario")},
    {OUT_ROW(struct request, "results and a report")},
};

/* A scenario on a server. */
struct stage {
    struct request *request;
    struct scenario scenario;
    struct run run;
    struct rules rules;
    uint32_t times; /* how often the scenario's own jobs are done */
    int64_t claim_ms;
    int64_t until; /* when faults stop, by driver_now(); 0: never */
    uint64_t seed;
    const struct chaos_plan *plan; /* of that seed */
    struct run_schema made;
    char last[PRESETS_SCRIPT_SIZE]; /* of a transaction with presets */
    char name[25];                  /* scenario and seed, for people who look at the server */
    struct roles roles;             /* of the protocol's principals */
    struct shared_page *page;
    bool is_over; /* the run's work came to its end */
    struct real_result *result;
};

static volatile sig_atomic_t interrupted;

static void note_signal(int number)
{
    (void)number;
    interrupted = 1;
}

static int real_complain(const char *what, const char *why)
{
    fprintf(stderr, "assay real: %s: %s\n", what, why);
    return CLI_UNAVAILABLE;
}

/* ---- one run --------------------------------------------------------------------------------- */

static struct store_pg *open_store(struct stage *stage, struct error *error)
{
    return store_pg_open(
        &(struct store_pg_options){.dsn = chaos_server_dsn(&stage->request->server),
                                   .schema = stage->made.own.name,
                                   .primitives = primitive_table,
                                   .primitive_count = PRIMITIVE_COUNT},
        error);
}

/* The line that looks for a finding again. */
static struct options_line say_again(const struct stage *stage)
{
    static struct request again; /* with room for results: too large for the stack */
    const struct request *request = stage->request;
    options_begin(&cli_real, &again);
    again.scenarios = (struct cli_arguments){.positional = {stage->result->scenario}, .count = 1};
    again.seeds = stage->seed == 1 ? 0 : stage->seed;
    again.no_faults = request->no_faults;
    again.sabotage = request->sabotage;
    again.jobs = request->jobs;
    again.workers = request->workers;
    return options_again(&cli_real, &again);
}

static int verdict_of(const struct real_result *result)
{
    const struct outcome_audit *audit = &result->audit;
    const char *bug = result->verdict.bug != NULL ? result->verdict.bug
                      : audit->contradictions > 0
                          ? "history and pg_xact_status do not agree on a transaction"
                          : NULL;
    if (bug != NULL) {
        fprintf(stderr, "assay real: %s: a bug of Assay\n", bug);
        return CLI_BUG;
    }
    return result->verdict.breach.broken || audit->forgotten > 0 || audit->misjudged > 0
               ? CLI_BROKEN
               : CLI_OK;
}

static int judge_with(struct stage *stage, struct store_pg *store, bool ids_stand)
{
    struct real_result *result = stage->result;
    const struct real_course course = {
        .page = stage->page, .server_crashed = !ids_stand, .is_over = stage->is_over};
    if (!real_judge(&stage->run, store, stage->made.history, &course, &result->verdict) ||
        (result->storms && !outcome_audit_look_up(store, stage->made.history, stage->page,
                                                  ids_stand, &result->audit))) {
        return real_complain("the history cannot be read", store_pg_why_not(store));
    }
    int64_t extras = 0;
    if (!run_schema_count_extras(store, stage->made.own.name, &extras)) {
        return real_complain("the schema cannot be looked at", store_pg_why_not(store));
    }
    if (extras > 0) { /* RS1 */
        result->verdict.bug = "the schema has a trigger, a DEFAULT or a CHECK";
    }
    result->commits += result->verdict.commits;
    result->changes += result->verdict.changes;
    int status = verdict_of(result);
    if (status == CLI_BROKEN && stage->request->hunted == NULL) {
        struct options_line again = say_again(stage);
        real_finding_keep(stage->request->results,
                          &(struct real_finding){.result = result,
                                                 .history = stage->made.history,
                                                 .scenario = &stage->scenario,
                                                 .plan = stage->plan,
                                                 .seed = stage->seed,
                                                 .again = again.text});
    }
    return status;
}

/* After the judgement: what is judged has none of it. */
static bool keep_for_people(struct stage *stage, struct store_pg *store)
{
    char script[VIEWS_SCRIPT_SIZE];
    views_script(stage->made.own.name, stage->scenario.protocol->tables, script);
    return history_keep(stage->made.history, store) && store_pg_run(store, script);
}

static int judge(struct stage *stage, bool ids_stand)
{
    struct error error;
    struct store_pg *store = open_store(stage, &error);
    if (store == NULL) {
        return real_complain("the history cannot be read", error.text);
    }
    int status = judge_with(stage, store, ids_stand);
    if (stage->request->keep && !keep_for_people(stage, store)) {
        status = real_complain("the history cannot be kept", store_pg_why_not(store));
    }
    store_pg_close(store);
    return status;
}

/* The schema with its tables, and its history. */
static int make_schema(struct stage *stage)
{
    char about[SCENARIO_NAME_SIZE + 60];
    struct error error;
    struct chaos_server *server = &stage->request->server;
    bool ours = chaos_server_is_ours(server);
    snprintf(about, sizeof about, "assay real %s, seed %" PRIu64, stage->scenario.name,
             stage->seed);
    bool made = run_schema_make(&stage->made,
                                &(struct run_schema_plan){.scenario = &stage->scenario,
                                                          .dsn = chaos_server_dsn(server),
                                                          .about = about,
                                                          .presets = stage->run.has_presets,
                                                          .unmarked = stage->request->keep || ours,
                                                          .outlives = ours},
                                &error);
    server->history = stage->made.history;
    return made ? CLI_OK : real_complain("the schema cannot be made", error.text);
}

/* What it was told of a run is not needed any more. */
static void end_history(struct stage *stage)
{
    history_end(stage->made.history);
    stage->made.history = NULL;
    stage->request->server.history = NULL;
}

/* As many connections as the scenario says. */
static int make_roles(struct stage *stage)
{
    struct error error;
    roles_draw(&stage->roles, stage->scenario.protocol->principals);
    for (int p = PRINCIPAL_NONE + 1; p < PRINCIPAL_COUNT; p++) {
        stage->roles.connections[p] = scenario_connections(&stage->scenario, (enum principal)p);
    }
    if (!store_pg_make_roles(chaos_server_dsn(&stage->request->server), stage->made.own.name,
                             &stage->roles, &error)) {
        stage->roles.principals = 0; /* none to drop */
        return real_complain(stage->scenario.name, error.text);
    }
    return CLI_OK;
}

/* CLI_OK if all ended because nothing was left to do. */
static int run_actors(struct stage *stage, const struct chaos_plan *plan)
{
    static const int statuses[CHAOS_END_COUNT] = {[CHAOS_QUIET] = CLI_OK,
                                                  [CHAOS_LATE] = CLI_INCOMPLETE,
                                                  [CHAOS_INTERRUPTED] = CLI_INCOMPLETE,
                                                  [CHAOS_FAILED] = CLI_UNAVAILABLE};
    struct request *request = stage->request;
    struct error error;
    int64_t most_ms = RUN_MS_MAX + (int64_t)stage->scenario.jobs * JOB_MS_MAX;
    struct chaos chaos = {
        .driver = {.dsn = chaos_server_dsn(&request->server),
                   .schema = stage->made.own.name,
                   .run = stage->name,
                   .roles = &stage->roles,
                   .rules = &stage->rules,
                   .sabotage = request->sabotage == NULL ? NULL : &request->planted,
                   .page = stage->page,
                   .tells_locks = stage->run.oracle.monitors->asks_locks},
        .server = &request->server,
        .plan = plan,
        .claims_last = part_assumes_no_delay(stage->scenario.protocol),
        .interrupted = &interrupted,
        .weather_ms = most_ms,
        .settle_ms = most_ms,
        .until = stage->until};
    if (stage->run.has_presets) {
        chaos.driver.last = stage->last;
        chaos.driver.last_after =
            presets_statement(&stage->scenario, stage->made.own.name, stage->last);
    }
    int64_t begun = driver_now();
    enum chaos_end end = chaos_run(&chaos, &stage->result->chaos, &error);
    stage->result->seconds += (double)(driver_now() - begun) / 1000;
    stage->result->jobs += stage->scenario.jobs;
    stage->result->late += end == CHAOS_LATE;
    return end == CHAOS_FAILED ? real_complain(stage->scenario.name, error.text) : statuses[end];
}

/* With a schema that is there. */
static int run_and_judge(struct stage *stage, const struct real_plan *plan)
{
    struct chaos_server *server = &stage->request->server;
    struct error error;
    if (plan->fails_over && !chaos_server_follow(server, &error)) {
        return real_complain("no standby", error.text);
    }
    uint64_t crashes = stage->result->chaos.crashes;
    int worked = run_actors(stage, &plan->plan);
    bool ids_stand = stage->result->chaos.crashes == crashes;
    if (!chaos_server_unfollow(server, &error)) {
        return real_complain("the standby cannot be ended", error.text);
    }
    stage->is_over = worked == CLI_OK;
    int status = worked == CLI_UNAVAILABLE || interrupted ? worked : judge(stage, ids_stand);
    return status == CLI_OK ? worked : status; /* a broken promise tells more than lateness */
}

/* Roles and schema go, wherever they are now. */
static int clean_up(struct stage *stage, int status)
{
    struct error error;
    const char *dsn = chaos_server_dsn(&stage->request->server);
    if (status == CLI_UNAVAILABLE && chaos_server_is_ours(&stage->request->server)) {
        return status; /* it goes as a whole, and may be in no state to be asked */
    }
    if (!store_pg_drop_roles(dsn, &stage->roles, &error) && status == CLI_OK) {
        status = real_complain("the roles cannot be dropped", error.text);
    }
    if (!own_schema_drop(&stage->made.own, dsn, &error) && status == CLI_OK) {
        status = real_complain("the schema cannot be dropped", error.text);
    }
    return status;
}

static int run_planned(struct stage *stage, const struct real_plan *plan)
{
    stage->roles.principals = 0; /* none is made yet */
    int status = make_schema(stage);
    if (status == CLI_OK) {
        status = make_roles(stage);
    }
    if (status == CLI_OK) {
        status = run_and_judge(stage, plan);
    }
    stage->result->runs++;
    end_history(stage);
    if (stage->request->keep) {
        own_schema_leave(&stage->made.own);
        return status;
    }
    return clean_up(stage, status);
}

/* A weakness that the scenario is there to show; with a planted bug nothing is expected. */
static bool is_expected(const struct stage *stage)
{
    const struct real_result *result = stage->result;
    return result->sabotage == NULL && result->verdict.breach.broken &&
           result->audit.forgotten == 0 && result->audit.misjudged == 0 &&
           scenario_breaks(&stage->scenario, result->verdict.breach.clause);
}

static int run_seed(struct stage *stage, uint64_t seed)
{
    struct real_plan plan = {.faults = NULL};
    if (stage->result->storms &&
        !real_plan_draw(&plan, &(struct real_plan_request){
                                   .run = &stage->run,
                                   .profile = &stage->result->profile,
                                   .seed = seed,
                                   .times = stage->times,
                                   .throughout = stage->until != 0,
                                   .claim_ms = stage->claim_ms,
                                   .ours = chaos_server_is_ours(&stage->request->server)})) {
        return real_complain(stage->scenario.name, "not enough memory");
    }
    stage->seed = seed;
    stage->plan = &plan.plan;
    snprintf(stage->name, sizeof stage->name, "%.16s:%" PRIu64, stage->scenario.name,
             seed % 1000000);
    int status = run_planned(stage, &plan);
    real_plan_free(&plan);
    if (status == CLI_BROKEN && is_expected(stage)) {
        stage->result->expected++;
        stage->result->as_expected = stage->result->verdict.breach;
        return CLI_OK;
    }
    return status;
}

/* ---- a scenario ------------------------------------------------------------------------------ */

/* More or fewer jobs and workers; as sound as if the scenario had said so. */
static bool resize(struct stage *stage, struct error *error)
{
    const struct request *request = stage->request;
    struct scenario *scenario = &stage->scenario;
    uint32_t jobs = scenario->jobs;
    stage->times = 1;
    if (request->jobs == 0 && request->workers == 0) {
        return true;
    }
    bool sound =
        (request->jobs == 0 || scenario_change(scenario, "jobs", (uint32_t)request->jobs, error)) &&
        (request->workers == 0 ||
         scenario_change(scenario, "workers", (uint32_t)request->workers, error));
    stage->times = (scenario->jobs + jobs - 1) / jobs;
    return sound;
}

/* Of the scenario as it is, whatever its size here. */
static bool make_profile(struct stage *stage)
{
    if (!run_make(&stage->run, &stage->scenario, NULL)) {
        return false;
    }
    real_profile_make(&stage->run, &stage->result->profile);
    run_free(&stage->run);
    return true;
}

static int real_load(struct stage *stage, const char *name)
{
    struct error error;
    const struct request *request = stage->request;
    int status = load_scenario(&cli_real, name, &stage->scenario);
    if (status == CLI_OK && request->sabotage != NULL) {
        status = one_run_check_sabotage(&cli_real, &request->planted, &stage->scenario);
    }
    if (status != CLI_OK) {
        return status;
    }
    stage->result->storms = !request->no_faults;
    stage->claim_ms = part_assumes_no_delay(stage->scenario.protocol) ? LASTING_CLAIM_MS
                      : stage->result->storms                         ? STORMY_CLAIM_MS
                                                                      : CALM_CLAIM_MS;
    if (stage->result->storms && !make_profile(stage)) {
        return real_complain(name, "not enough memory");
    }
    if (!resize(stage, &error)) {
        return cli_usage_error(&cli_real, "%s", error.text);
    }
    scenario_rules(&stage->scenario, stage->claim_ms, PUT_BACK_MS, &stage->rules);
    return CLI_OK;
}

static int real_make_run(struct stage *stage, const char *name)
{
    if (!run_make(&stage->run, &stage->scenario, NULL)) {
        return real_complain(name, "not enough memory");
    }
    /* what the simulated run without faults has shown is not the server's */
    memset(stage->run.oracle.evaluated, 0, sizeof stage->run.oracle.evaluated);
    memset(stage->run.oracle.seen, 0, sizeof stage->run.oracle.seen);
    return CLI_OK;
}

/* Seed after seed; by time, those that were asked for over and over. */
static int run_loaded(struct stage *stage)
{
    const struct request *request = stage->request;
    int status = CLI_OK;
    bool timed = request->time > 0;
    uint64_t seeds = request->seeds == 0 ? 1 : request->seeds;
    stage->until = timed ? driver_now() + (int64_t)(request->time * 1000) : 0;
    uint64_t step = request->parts == 0 ? 1 : request->parts;
    for (uint64_t i = request->part; status == CLI_OK && !interrupted; i += step) {
        if (timed ? i > 0 && driver_now() >= stage->until : i >= seeds) {
            break;
        }
        uint64_t seed = timed && request->seeds == 0 ? i : i % seeds;
        status = run_seed(stage, 1 + seed);
    }
    return status;
}

/* What the scenario is to reach and did not: not evaluated, nor any of its paths seen. */
static void note_unreached(const struct stage *stage)
{
    const struct oracle *oracle = &stage->run.oracle;
    struct real_result *result = stage->result;
    for (size_t i = 0; i < stage->scenario.reaches_count; i++) {
        enum clause_id clause = stage->scenario.reaches[i];
        bool reached = oracle->evaluated[clause] > 0;
        for (int s = 0; s < COVER_COUNT; s++) {
            reached = reached ||
                      (oracle_cover_clause((enum oracle_cover)s) == clause && oracle->seen[s] > 0);
        }
        if (!reached && !oracle_needs_clients(clause)) { /* no row tells of a client */
            result->unreached[result->unreached_count++] = clause;
        }
    }
}

static int run_scenario(struct request *request, const char *name)
{
    struct stage *stage = calloc(1, sizeof *stage);
    struct shared_page *page = shared_page_make();
    struct real_result *result = &request->told[request->told_count];
    if (stage == NULL || page == NULL) {
        free(stage);
        shared_page_free(page);
        return real_complain(name, "not enough memory");
    }
    *result = (struct real_result){.sabotage = request->sabotage};
    stage->request = request;
    stage->page = page;
    stage->result = result;
    int status = real_load(stage, name);
    if (status == CLI_OK) {
        status = real_make_run(stage, name);
    }
    if (status == CLI_OK) {
        memcpy(result->scenario, stage->scenario.name, sizeof result->scenario);
        result->protocol = stage->scenario.protocol;
        status = run_loaded(stage);
        result->status = status;
        if (status != CLI_UNAVAILABLE || result->commits > 0) { /* else there was no server */
            note_unreached(stage);
            real_tell_result(result, &stage->run.oracle, request->results);
            request->told_count = (request->told_count + 1) % TOLD_MAX;
        }
        run_free(&stage->run);
    }
    shared_page_free(page);
    free(stage);
    return status;
}

static int run_each(struct request *request)
{
    int worst = CLI_OK;
    for (int i = 0; i < request->scenarios.count && !interrupted; i++) {
        int status = run_scenario(request, request->scenarios.positional[i]);
        if (status == CLI_USAGE || status == CLI_UNAVAILABLE || status == CLI_BUG) {
            return status;
        }
        worst = worst == CLI_OK ? status : worst;
    }
    return interrupted ? CLI_INCOMPLETE : worst;
}

static int run_all(void *context, const char *dsn)
{
    struct request *request = context;
    results_note_server(request->results, dsn);
    int status = run_each(request);
    if (!request->json && !request->no_faults && request->told_count > 0) {
        real_tell_faults(request->told, request->told_count);
    }
    if (status == CLI_OK && request->gate && !real_tell_gate(request->told, request->told_count)) {
        return CLI_INCOMPLETE;
    }
    if (status == CLI_OK || status == CLI_BROKEN) {
        return (status == CLI_BROKEN) == request->expect_finding ? CLI_OK : CLI_BROKEN;
    }
    return status;
}

/* ---- the server ------------------------------------------------------------------------------ */

static int use_server(struct request *request, on_server *what)
{
    request->server = (struct chaos_server){
        .foreign_dsn = request->dsn, .cluster = &request->cluster, .standby.lock = -1};
    return server_use(&(struct server_request){.verb = "real",
                                               .dsn = request->dsn,
                                               .clean = request->clean,
                                               .keep = request->keep,
                                               .cluster = &request->cluster,
                                               .settings = chaos_server_settings,
                                               .max_connections = CHAOS_SERVER_CONNECTIONS},
                      what, request);
}

/* ---- planted bugs ---------------------------------------------------------------------------- */

static int hunt_all(void *context, const char *dsn)
{
    struct request *request = context;
    int worst = CLI_OK;
    results_note_server(request->results, dsn);
    for (size_t i = 0; i < request->hunted_count && !interrupted; i++) {
        request->planted = request->hunted[i];
        request->sabotage = request->planted.name;
        if (!request->json) {
            printf("%s\n  ", request->sabotage);
        }
        int status = run_scenario(request, request->planted.scenario);
        if (status != CLI_BROKEN) {
            worst = status == CLI_OK ? CLI_INCOMPLETE : status;
        }
    }
    return worst;
}

int real_sabotages(const struct sabotage *list, size_t count, struct artefacts *results)
{
    struct request *request = calloc(1, sizeof *request);
    if (request == NULL) {
        return cli_no_memory(&cli_real);
    }
    *request = (struct request){.json = results->echo != NULL,
                                .results = results,
                                .no_faults = true,
                                .hunted = list,
                                .hunted_count = count};
    int status = use_server(request, hunt_all);
    free(request);
    return status;
}

/* ---- the verb -------------------------------------------------------------------------------- */

static int check_sabotage(struct request *request)
{
    int status = load_sabotage(&cli_real, request->sabotage, NULL, &request->planted);
    if (request->sabotage != NULL &&
        (request->planted.kind == SABOTAGE_STALE || sabotage_tears(&request->planted))) {
        status = cli_usage_error(&cli_real,
                                 "--sabotage %s needs the simulated store: it reads rows on the "
                                 "sly, or tears transactions",
                                 request->sabotage);
    }
    return status;
}

/* What is asked of a server goes together. */
static int check_server(const struct request *request)
{
    if (request->clean && request->dsn == NULL) {
        return cli_usage_error(&cli_real, "--clean is about the server that --dsn names; a private "
                                          "one goes as a whole");
    }
    if (request->clean && request->scenarios.count == 0 && request->out != NULL) {
        return cli_usage_error(&cli_real, "--out is for the results of a SCENARIO, and --clean "
                                          "alone runs none");
    }
    return server_check_dsn(&cli_real, request->dsn);
}

static int check_shard(struct request *request)
{
    uint64_t seeds = request->seeds == 0 ? 1 : request->seeds;
    if (request->gate) {
        return cli_usage_error(&cli_real,
                               "--gate and --shard exclude each other: what one shard did "
                               "not meet, another one may");
    }
    int status = one_run_shard(&cli_real, request->shard, &request->part, &request->parts);
    return status != CLI_OK || request->part < seeds
               ? status
               : cli_usage_error(&cli_real, "--shard %s has no seeds: there are %" PRIu64,
                                 request->shard, seeds);
}

/* What the table cannot say. */
static int check_request(struct request *request)
{
    int status = check_server(request);
    if (status != CLI_OK) {
        return status;
    }
    if (request->scenarios.count == 0 && !request->clean) {
        return cli_usage_error(&cli_real, "a SCENARIO is needed; assay list scenarios shows them");
    }
    if (request->gate && request->no_faults) {
        return cli_usage_error(&cli_real, "--gate is about faults, and --no-faults has none");
    }
    status = request->shard == NULL ? CLI_OK : check_shard(request);
    if (status != CLI_OK) {
        return status;
    }
    return check_sabotage(request);
}

static int run_request(struct request *request, struct artefacts *results)
{
    struct sigaction action = {.sa_handler = note_signal}; /* no restart: waiting ends */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    request->results = results;
    int status = results_open(results, &(struct results_plan){.verb = &cli_real,
                                                              .folder = request->out,
                                                              .json = request->json,
                                                              .base_seed = 1,
                                                              .jobs = 1});
    return status == CLI_OK ? results_close(results, &cli_real, use_server(request, run_all))
                            : status;
}

/* --clean without a SCENARIO. */
static int run_nothing(void *context, const char *dsn)
{
    (void)context;
    (void)dsn;
    return CLI_OK;
}

static int real_verb(void *asked)
{
    struct request *request = asked;
    struct artefacts results;
    int status = check_request(request);
    if (status != CLI_OK) {
        return status;
    }
    return request->scenarios.count == 0 ? use_server(request, run_nothing)
                                         : run_request(request, &results);
}

const struct cli_verb cli_real = {.name = "real",
                                  .about = "the same engines on PostgreSQL, killed for real",
                                  .options = options,
                                  .option_count = COUNT(options),
                                  .request_size = sizeof(struct request),
                                  .run = real_verb};
