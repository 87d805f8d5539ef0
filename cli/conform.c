/* assay conform: the simulated store and PostgreSQL in lockstep. */
#include "cli/options.h"
#include "cli/results.h"
#include "cli/server.h"
#include "real/own_schema.h"
#include "reports/line.h"
#include "sim/script.h"
#include "verify/conform_runs.h"
#include "verify/conform_store.h"
#include "verify/lockstep.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEEDS_USUAL  500
#define ERRORS_USUAL 3000
#define STORE_SHARE  4 /* of so many scripts one goes through the store of `assay real`, too */

struct request {
    struct cli_arguments scenarios;
    const char *dsn, *error, *out;
    uint64_t seeds, base_seed;
    bool errors, keep, json;
    struct artefacts *results;
    size_t planted; /* the error that --error names */
};

static const struct option options[] = {
    {ARGUMENTS_ROW(struct request, scenarios, "SCENARIO", false), .names = NAMES_OF_SCENARIOS,
     .about = "follow runs of these only"},
    {NUMBER_ROW(struct request, seeds, "--seeds", 1, 100000000),
     .usual_text = "500; for planted errors 3000",
     .about = "random scripts, and a tenth as many runs, and more until every primitive of every "
              "protocol was compared; with SCENARIOs, runs of each; for planted errors, scripts "
              "at most for each"},
    {NUMBER_ROW(struct request, base_seed, "--base-seed", 0, UINT64_MAX), .usual = 1,
     .about = "the first seed"},
    {FLAG_ROW(struct request, errors, "--errors"), .excludes = "--error",
     .about = "the proof that it would notice: plant each deliberate error into the simulated "
              "store and say after how many seeds it was found"},
    {TEXT_ROW(struct request, error, "--error", "NAME"), .names = NAMES_OF_NOTHING,
     .about = "plant this one, as --errors calls it, and show the difference it makes"},
    {DSN_ROW(struct request,
             "Assay makes schemas there, named by chance, and drops those, and roles (CREATEROLE) "
             "for the principals. What a killed assay left there is listed, and removed by assay "
             "real --clean")},
    {FLAG_ROW(struct request, keep, "--keep"), .again = AGAIN_NEVER,
     .about = "leave the private server, and say how to connect"},
    {JSON_ROW(struct request, "")},
    {OUT_ROW(struct request, "results and a report")},
};

/* Everything that a comparison needs. */
struct bench {
    const struct request *request;
    struct own_schema own;
    struct lockstep lockstep;
    struct sessions sessions, copy;
    struct session_claims rules;
    struct world world;
    struct script script, smaller;
};

static volatile sig_atomic_t interrupted;

static void note_signal(int number)
{
    (void)number;
    interrupted = 1;
}

/* ---- one script ------------------------------------------------------------------------------ */

static void name_step(const struct lockstep *lockstep, unsigned who, char *text, size_t size)
{
    const struct bench *bench = lockstep->context;
    const struct session *session = &bench->sessions.each[who];
    const struct bundle *bundle = &bench->script.bundles[who];
    char call[80] = "";
    unsigned at = session->call < bundle->count ? session->call : bundle->count - 1u;
    if (bundle->count > 0) {
        if (session->state == SESSION_OPEN && at > 0) {
            at--; /* the one that is done */
        }
        script_call_text(&bench->script.primitives[bundle->calls[at].primitive], bundle, at, call,
                         sizeof call);
    }
    snprintf(text, size, "%c %s%s%s %s", 'A' + (int)who,
             bundle->isolation == SERIALIZABLE ? "(serializable)" : "",
             bundle->principal == PRINCIPAL_NONE ? "" : " as ",
             bundle->principal == PRINCIPAL_NONE
                 ? ""
                 : rights_get((enum principal)bundle->principal)->name,
             call);
}

/* One turn of a session; false: it has ended, or waits. */
static bool take_turn(struct bench *bench, unsigned who, bool *ended)
{
    struct lockstep *lockstep = &bench->lockstep;
    struct session *session = &bench->sessions.each[who];
    if (ended[who] || session->state == SESSION_WAITS) {
        return false;
    }
    if (session->state == SESSION_CLOSED) {
        lockstep_begin(lockstep, who, &bench->script.bundles[who], SESSION_PICKS_ITSELF);
    }
    if (session->state == SESSION_OPEN) {
        lockstep_statement(lockstep, who);
        return true;
    }
    lockstep_end(lockstep, who, !bench->script.gives_up[who], world_mark(&bench->world));
    world_keep(&bench->world);
    ended[who] = true;
    return true;
}

/* Runs bench->script; true: a difference. */
static bool differs(struct bench *bench)
{
    const struct script *script = &bench->script;
    struct lockstep *lockstep = &bench->lockstep;
    bool ended[SCRIPT_SESSIONS_MAX] = {false};
    lockstep->difference[0] = '\0';
    script_fill(script, &bench->world);
    sessions_begin(&bench->sessions, &bench->world, script->primitives, &bench->rules,
                   SCRIPT_SESSIONS_MAX);
    stepper_primitives(lockstep->stepper, script->primitives, script->primitive_count);
    lockstep_fill(lockstep);
    for (uint32_t t = 0; t < script->turn_count && !lockstep_differs(lockstep); t++) {
        take_turn(bench, script->turns[t], ended);
    }
    bool moved = true;
    while (moved && !lockstep_differs(lockstep)) {
        moved = false;
        for (unsigned s = 0; s < script->sessions && !lockstep_differs(lockstep); s++) {
            moved = take_turn(bench, s, ended) || moved;
        }
    }
    for (unsigned s = 0; s < script->sessions && !lockstep_differs(lockstep); s++) {
        if (!ended[s]) {
            snprintf(lockstep->difference, sizeof lockstep->difference,
                     "%c waits for ever in the simulation", 'A' + (int)s);
        }
    }
    if (!lockstep_differs(lockstep)) {
        lockstep_rows(lockstep);
    }
    bool found = lockstep_differs(lockstep) && !lockstep->failed;
    if (lockstep_differs(lockstep) && !stepper_reset(lockstep->stepper)) {
        lockstep->failed = true;
        snprintf(lockstep->difference, sizeof lockstep->difference, "%s",
                 stepper_why_not(lockstep->stepper));
    }
    return found;
}

/* ---- smaller --------------------------------------------------------------------------------- */

static void shrink(struct bench *bench)
{
    bool smaller = true;
    while (smaller && !interrupted && !bench->lockstep.failed) {
        smaller = false;
        for (uint32_t c = script_cuts(&bench->script); c-- > 0 && !bench->lockstep.failed;) {
            struct script before = bench->script;
            if (c < script_cuts(&before) && script_cut(&before, c, &bench->smaller)) {
                bench->script = bench->smaller;
                if (differs(bench)) {
                    smaller = true;
                } else {
                    bench->script = before;
                }
            }
        }
    }
}

static void tell_rows(const struct script *script)
{
    printf("  rows:");
    for (uint32_t r = 0; r < script->row_count; r++) {
        const struct script_row *row = &script->rows[r];
        printf("%s %" PRIi64, r == 0 ? "" : ",", row->key);
    }
    printf("%s\n", script->row_count == 0 ? " none" : "");
}

static void tell_difference(struct bench *bench, uint64_t seed)
{
    shrink(bench);
    differs(bench);
    artefacts_line(bench->request->results, line_make(LINE_DIFFERENCE, line_seed(seed),
                                                      line_what(bench->lockstep.difference)));
    if (bench->request->json) {
        return;
    }
    printf("seed %" PRIu64 ": the simulated store and PostgreSQL differ\n", seed);
    tell_rows(&bench->script);
    printf("  %-58s %-9s %-24s %s\n", "statement", "", "simulated", "PostgreSQL");
    bench->lockstep.tell = stdout;
    differs(bench);
    bench->lockstep.tell = NULL;
    struct request again = {.seeds = 1, .base_seed = seed, .error = bench->request->error};
    printf("  %s\n  repeat: %s\n", bench->lockstep.difference,
           options_again(&cli_conform, &again).text);
}

/* ---- many ------------------------------------------------------------------------------------ */

static int server_failed(const struct bench *bench, uint64_t seed)
{
    fprintf(stderr, "assay conform: seed %" PRIu64 ": %s\n", seed, bench->lockstep.difference);
    return CLI_UNAVAILABLE;
}

static int compare_all(struct bench *bench)
{
    const struct request *request = bench->request;
    uint64_t seeds = 0, differences = 0;
    for (; seeds < request->seeds && !interrupted && differences < 3; seeds++) {
        uint64_t seed = request->base_seed + seeds;
        script_draw(&bench->script, seed);
        if (differs(bench)) {
            differences++;
            tell_difference(bench, seed);
        }
        if (bench->lockstep.failed) {
            return server_failed(bench, seed);
        }
    }
    const struct lockstep *lockstep = &bench->lockstep;
    artefacts_line(request->results,
                   line_make(LINE_CONFORM_SUMMARY, line_seeds(seeds),
                             line_statements(lockstep->statements), line_waits(lockstep->waits),
                             line_deadlocks(lockstep->deadlocks),
                             line_serialization_failures(lockstep->aborts),
                             line_rows(lockstep->rows), line_differences(differences),
                             line_seconds(artefacts_seconds(request->results))));
    if (!request->json) {
        printf("%" PRIu64 " scripts, %" PRIu64 " statements, %" PRIu64 " waits, %" PRIu64
               " deadlocks, %" PRIu64 " commits, %" PRIu64 " 40001 chosen by PostgreSQL, %" PRIu64
               " final rows: %s\n",
               seeds, lockstep->statements, lockstep->waits, lockstep->deadlocks, lockstep->commits,
               lockstep->aborts, lockstep->rows,
               differences == 0 ? "no difference" : "they differ");
    }
    return differences > 0 ? CLI_BROKEN : interrupted ? CLI_INCOMPLETE : CLI_OK;
}

/* Where the sound store differs as well, the difference is not the planted error's. */
static bool sound_store_differs(struct bench *bench)
{
    struct session_claims planted = bench->rules;
    bench->rules = session_postgresql;
    bool differ = differs(bench);
    bench->rules = planted;
    return differ;
}

/* After how many seeds the planted error is found; 0: not within the bound. */
static uint64_t hunt(struct bench *bench)
{
    uint64_t found = 0;
    for (uint64_t n = 0; n < bench->request->seeds && found == 0 && !interrupted; n++) {
        script_draw(&bench->script, bench->request->base_seed + n);
        found = differs(bench) && !sound_store_differs(bench) ? n + 1 : 0;
        if (bench->lockstep.failed) {
            break;
        }
    }
    return found;
}

static void tell_hunt(const struct bench *bench, const char *name, uint64_t found)
{
    artefacts_line(bench->request->results,
                   line_make(LINE_ERROR, line_name(name), line_seeds(found)));
    if (bench->request->json) {
        fflush(stdout);
        return;
    }
    if (found == 0) {
        printf("  %-44s not found\n", name);
    } else {
        printf("  %-44s found after %" PRIu64 " seed%s\n", name, found, found == 1 ? "" : "s");
    }
    fflush(stdout);
}

static void tell_store(const struct bench *bench, const struct conform_store *of, uint64_t scripts,
                       uint64_t seed)
{
    bool differs = lockstep_differs(&bench->lockstep);
    artefacts_line(bench->request->results,
                   line_make(LINE_STORE, line_scripts(scripts), line_bundles(of->bundles),
                             line_commits(of->commits), line_waits(of->waits),
                             line_serialization_failures(of->aborts), line_differs(differs)));
    if (differs) {
        artefacts_line(bench->request->results, line_make(LINE_DIFFERENCE, line_seed(seed),
                                                          line_what(bench->lockstep.difference)));
    }
    if (bench->request->json) {
        return;
    }
    printf("%" PRIu64 " scripts by the store of assay real, %" PRIu64 " bundles, %" PRIu64
           " waits, %" PRIu64 " commits, %" PRIu64 " 40001 chosen by PostgreSQL: %s\n",
           scripts, of->bundles, of->waits, of->commits, of->aborts,
           differs ? "they differ" : "no difference");
    if (differs) {
        printf("  seed %" PRIu64 ": %s\n", seed, bench->lockstep.difference);
    }
}

/* As many scripts again as STORE_SHARE says, each bundle through the store that `assay real` uses.
 */
static int compare_store(struct bench *bench, const char *dsn)
{
    const struct request *request = bench->request;
    struct error error;
    struct conform_store of = {.dsn = dsn,
                               .schema = bench->own.name,
                               .lockstep = &bench->lockstep,
                               .rules = &bench->rules};
    if (!conform_store_open(&of, &error)) {
        fprintf(stderr, "assay conform: %s\n", error.text);
        return CLI_UNAVAILABLE;
    }
    uint64_t scripts = 0, seed = request->base_seed;
    uint64_t wanted = (request->seeds + STORE_SHARE - 1) / STORE_SHARE;
    for (; scripts < wanted && !interrupted && !lockstep_differs(&bench->lockstep); scripts++) {
        seed = request->base_seed + scripts;
        script_draw(&bench->script, seed);
        conform_store_script(&of, &bench->script);
    }
    conform_store_close(&of);
    if (bench->lockstep.failed) {
        return server_failed(bench, seed);
    }
    tell_store(bench, &of, scripts, seed);
    return lockstep_differs(&bench->lockstep) ? CLI_BROKEN : interrupted ? CLI_INCOMPLETE : CLI_OK;
}

static int find_errors(struct bench *bench)
{
    size_t found_count = 0, hunted = 0, count = session_error_count();
    for (; hunted < count && !interrupted; hunted++) {
        char name[SESSION_ERROR_NAME_SIZE];
        session_error(hunted, &bench->rules, name);
        uint64_t found = hunt(bench);
        if (bench->lockstep.failed) {
            return server_failed(bench, 0);
        }
        if (found == 0 && interrupted) {
            break; /* it was not hunted to the end */
        }
        found_count += found > 0;
        tell_hunt(bench, name, found);
    }
    artefacts_line(bench->request->results,
                   line_make(LINE_ERRORS, line_planted(count), line_found(found_count)));
    if (!bench->request->json && hunted < count) {
        printf("Interrupted: %zu of %zu deliberate errors were hunted, the others were not.\n",
               hunted, count);
    }
    if (!bench->request->json) {
        printf("%zu deliberate errors in the simulated store: %zu found\n", count, found_count);
    }
    return found_count < count ? CLI_INCOMPLETE : CLI_OK;
}

/* --error: the one, and what it does. */
static int find_error(struct bench *bench)
{
    char name[SESSION_ERROR_NAME_SIZE];
    session_error(bench->request->planted, &bench->rules, name);
    uint64_t found = hunt(bench);
    if (bench->lockstep.failed) {
        return server_failed(bench, 0);
    }
    tell_hunt(bench, name, found);
    if (found != 0) {
        tell_difference(bench, bench->request->base_seed + found - 1);
    }
    return found == 0 || interrupted ? CLI_INCOMPLETE : CLI_OK;
}

/* ---- the verb -------------------------------------------------------------------------------- */

static int on_schema(struct bench *bench, const char *dsn)
{
    struct error error;
    struct stepper_options wanted = {.dsn = dsn,
                                     .schema = bench->own.name,
                                     .primitives = primitive_table,
                                     .primitive_count = PRIMITIVE_COUNT,
                                     .form = SQL_WHOLE,
                                     .connections = SCRIPT_SESSIONS_MAX,
                                     .principals = SCRIPT_PRINCIPALS};
    bench->lockstep.stepper = stepper_open(&wanted, &error);
    if (bench->lockstep.stepper == NULL) {
        fprintf(stderr, "assay conform: %s\n", error.text);
        return CLI_UNAVAILABLE;
    }
    int status = bench->request->errors          ? find_errors(bench)
                 : bench->request->error != NULL ? find_error(bench)
                                                 : compare_all(bench);
    if (status == CLI_OK && !bench->request->errors && bench->request->error == NULL) {
        status = compare_store(bench, dsn);
    }
    stepper_close(bench->lockstep.stepper);
    return status;
}

/* ---- on a server ----------------------------------------------------------------------------- */

static int conform_scripts(struct bench *bench, const char *dsn)
{
    struct error error;
    struct world_capacity capacity = script_capacity();
    struct own_schema_plan plan = {.dsn = dsn,
                                   .verb = "conform",
                                   .about = "assay conform",
                                   .tables = UINT64_MAX,
                                   .lockstep = true,
                                   .unmarked = bench->request->keep};
    if (!world_make(&bench->world, &capacity)) {
        return cli_no_memory(&cli_conform);
    }
    if (!own_schema_make(&bench->own, &plan, &error)) {
        fprintf(stderr, "assay conform: %s\n", error.text);
        world_free(&bench->world);
        return CLI_UNAVAILABLE;
    }
    bench->rules = session_postgresql;
    bench->lockstep = (struct lockstep){.schema = bench->own.name,
                                        .sessions = &bench->sessions,
                                        .copy = &bench->copy,
                                        .name = name_step,
                                        .context = bench};
    int status = on_schema(bench, dsn);
    if (bench->request->keep) {
        own_schema_leave(&bench->own);
    } else if (!own_schema_drop(&bench->own, dsn, &error)) {
        fprintf(stderr, "assay conform: %s\n", error.text);
    }
    world_free(&bench->world);
    return status;
}

static int find_planted(struct request *request)
{
    struct session_claims rules;
    char name[SESSION_ERROR_NAME_SIZE];
    if (request->error == NULL) {
        return CLI_OK;
    }
    for (size_t e = 0; e < session_error_count(); e++) {
        session_error(e, &rules, name);
        if (strcmp(name, request->error) == 0) {
            request->planted = e;
            return CLI_OK;
        }
    }
    return cli_usage_error(&cli_conform,
                           "--error %s: no such error; assay conform --errors names all",
                           cli_quote(request->error).text);
}

static int conform(void *context, const char *dsn)
{
    struct bench *bench = context;
    const struct request *request = bench->request;
    results_note_server(request->results, dsn);
    struct conform_runs runs = {.results = request->results,
                                .json = request->json,
                                .dsn = dsn,
                                .first_seed = request->base_seed,
                                .seeds = request->seeds,
                                .interrupted = &interrupted};
    if (request->scenarios.count > 0) {
        struct error refusal = {""};
        int ended = conform_follow_named(&runs, request->scenarios.positional,
                                         request->scenarios.count, &refusal);
        return ended == CLI_USAGE ? cli_usage_error(&cli_conform, "%s", refusal.text) : ended;
    }
    int status = conform_scripts(bench, dsn);
    bool hunts = request->errors || request->error != NULL;
    return status == CLI_OK && !hunts ? conform_follow_all(&runs) : status;
}

static int run_request(struct request *request, struct bench *bench)
{
    struct artefacts results;
    struct sigaction action = {.sa_handler = note_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    bench->request = request;
    request->results = &results;
    int status = results_open(&results, &(struct results_plan){.verb = &cli_conform,
                                                               .folder = request->out,
                                                               .json = request->json,
                                                               .base_seed = request->base_seed,
                                                               .jobs = 1});
    if (status != CLI_OK) {
        return status;
    }
    status = server_use(
        &(struct server_request){.verb = "conform", .dsn = request->dsn, .keep = request->keep},
        conform, bench);
    return results_close(&results, &cli_conform, status);
}

static int conform_verb(void *asked)
{
    struct request *request = asked;
    bool hunts = request->errors || request->error != NULL;
    request->seeds = request->seeds != 0 ? request->seeds : hunts ? ERRORS_USUAL : SEEDS_USUAL;
    int status = server_check_dsn(&cli_conform, request->dsn);
    status = status == CLI_OK ? find_planted(request) : status;
    if (status != CLI_OK) {
        return status;
    }
    struct bench *bench = calloc(1, sizeof *bench);
    status = bench == NULL ? cli_no_memory(&cli_conform) : run_request(request, bench);
    free(bench);
    return status;
}

const struct cli_verb cli_conform = {
    .name = "conform",
    .about = "simulated store and PostgreSQL in lockstep, statement by statement",
    .options = options,
    .option_count = COUNT(options),
    .request_size = sizeof(struct request),
    .run = conform_verb};
