#include "cli/results.h"

#include "cli/options.h"
#include "cli/sums.h"
#include "faults/catalogue.h"
#include "model/identity.h"
#include "real/store.h"
#include "reports/evidence.h"
#include "reports/line.h"
#include "sim/schedule.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

static struct {
    struct results_build build;
    char command[2000];
    bool expects_finding;
} program;

void results_begin(const struct results_build *build, int argc, char **argv)
{
    program.build = *build;
    FILE *out = fmemopen(program.command, sizeof program.command, "w");
    if (out == NULL) {
        return;
    }
    fputs("assay", out);
    for (int i = 1; i < argc; i++) {
        fputc(' ', out);
        options_write_word(out, argv[i]);
        program.expects_finding =
            program.expects_finding || strcmp(argv[i], "--expect-finding") == 0;
    }
    fclose(out);
}

/* ---- where it runs --------------------------------------------------------------------------- */

/* False: it has none. */
static bool system_name(char text[400])
{
    struct utsname name;
    if (uname(&name) != 0) {
        return false;
    }
    snprintf(text, 400, "%.60s %.100s %.60s", name.sysname, name.release, name.machine);
    return true;
}

struct moment {
    char text[32];
};
static struct moment moment_now(void)
{
    struct moment moment;
    time_t now = time(NULL);
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(moment.text, sizeof moment.text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return moment;
}

static json_t *fault_groups(void)
{
    json_t *groups = json_object();
    for (int kind = FAULT_NONE + 1; kind < FAULT_KIND_COUNT; kind++) {
        const struct fault *fault = fault_get((enum fault_kind)kind);
        json_object_set_new(groups, fault->name, json_string(fault_group_get(fault->group)->name));
    }
    return groups;
}

/* `kept`: somebody reads the lines, and may ask of which program they are; its hash takes longer than
 * many a run. */
static json_t *begin_line(const struct results_plan *plan, bool kept)
{
    const struct results_build *build = &program.build;
    char system[400];
    json_t *versions = json_pack("{s:i, s:i, s:i, s:i, s:i}", "choice", CHOICE_VERSION, "fault",
                                 FAULT_VERSION, "identity", IDENTITY_VERSION, "generator",
                                 PCG_VERSION, "schedule", SCHEDULE_VERSION);
    json_t *line = line_make(
        LINE_BEGIN, line_verb(plan->verb->name), line_command(program.command),
        line_made(moment_now().text), line_assay(build->version), line_commit(build->commit),
        line_dirty(build->dirty), line_compiler(build->compiler), line_flags(build->flags),
        line_clauses_hash(build->clauses_hash), line_errata_hash(build->errata_hash),
        line_binary_hash(kept ? sums_hash_file(program.build.binary).text : ""),
        line_system(system_name(system) ? system : NULL), line_fault_groups(fault_groups()),
        line_versions(versions), line_expects_finding(program.expects_finding));
    if (plan->jobs > 0) {
        line_add(line, line_jobs(plan->jobs), line_base_seed(plan->base_seed));
    }
    return line;
}

/* ---- opening and closing --------------------------------------------------------------------- */

int results_open(struct artefacts *results, const struct results_plan *plan)
{
    if (!artefacts_open(results, plan->folder, plan->json ? stdout : NULL)) {
        return cli_usage_error(plan->verb, "--out %s", results->problem);
    }
    artefacts_note(results, begin_line(plan, plan->folder != NULL || plan->json));
    artefacts_peek(results, "", 0);
    return CLI_OK;
}

void results_note_begin(struct artefacts *results, const struct cli_verb *verb)
{
    artefacts_note(results, begin_line(&(struct results_plan){.verb = verb}, true));
}

void results_note_end(struct artefacts *results, int status)
{
    artefacts_note(results, line_make(LINE_END, line_status((uint64_t)status),
                                      line_seconds(artefacts_seconds(results))));
}

void results_note_server(struct artefacts *results, const char *dsn)
{
    char version[STORE_PG_VERSION_SIZE];
    struct error error;
    /* a server that does not answer is reported by its next use */
    if (results->folder != NULL && store_pg_version(dsn, version, &error)) {
        artefacts_note(results, line_make(LINE_SERVER, line_postgresql(version)));
    }
}

/* Benchmarks measure how fast something is, and have no verdict (evidence.h, EV2). */
static bool has_verdict(const struct cli_verb *verb)
{
    return strcmp(verb->name, "bench") != 0;
}

/* What the text of a session comes to if it ends with `status`. */
static bool read_session(const char *lines, size_t length, int status, struct evidence *evidence)
{
    struct error error;
    char end[60];
    snprintf(end, sizeof end, "{\"type\":\"end\",\"status\":%d}\n", status);
    char *text = malloc(length + sizeof end);
    evidence_begin(evidence);
    bool read = text != NULL;
    if (read) {
        memcpy(text, lines, length);
        memcpy(text + length, end, strlen(end) + 1);
        read = evidence_add(evidence, text, length + strlen(end), "results", &error);
        evidence_end(evidence);
    }
    free(text);
    return read;
}

static void write_line(FILE *out, const json_t *line)
{
    json_dumpf(line, out, JSON_COMPACT);
    fputc('\n', out);
}

void results_note_verdict(struct artefacts *results, const json_t *begin, const json_t *lines,
                          int status)
{
    static struct evidence evidence;
    char *text = NULL;
    size_t length = 0, i;
    json_t *line;
    double seconds = 0;
    FILE *out = open_memstream(&text, &length);
    if (out != NULL) {
        write_line(out, begin);
        json_array_foreach((json_t *)lines, i, line)
        {
            write_line(out, line);
            seconds = line_is(line, LINE_SUMMARY) ? line_get_seconds(line) : seconds;
        }
        fclose(out);
        status = read_session(text, length, status, &evidence) ? evidence.status : CLI_UNAVAILABLE;
        evidence_free(&evidence);
    }
    free(text);
    artefacts_note(results,
                   line_make(LINE_END, line_status((uint64_t)status), line_seconds(seconds)));
}

/* The status that all lines together come to, which is said if it is not 0. */
static int judge(const struct artefacts *results, const struct cli_verb *verb, int status)
{
    static struct evidence evidence;
    char words[VERDICT_WORDS_SIZE];
    if (read_session(results->lines, results->length, status, &evidence)) {
        status = evidence.status;
        if (status != CLI_OK && status != CLI_USAGE && status != CLI_UNAVAILABLE) {
            verdict_words(&evidence.verdict, 0, 0, words);
            fprintf(stderr, "assay %s: %s (status %d)\n", verb->name, words, status);
        }
    }
    evidence_free(&evidence);
    return status;
}

int results_close(struct artefacts *results, const struct cli_verb *verb, int status)
{
    if (has_verdict(verb)) {
        fflush(stdout);
        status = judge(results, verb, status);
    }
    results_note_end(results, status);
    if (!artefacts_close(results)) {
        fprintf(stderr, "assay %s: %s\n", verb->name, results->problem);
        return status == CLI_OK ? CLI_UNAVAILABLE : status;
    }
    return status;
}
