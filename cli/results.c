#include "cli/results.h"

#include "cli/options.h"
#include "faults/catalogue.h"
#include "model/identity.h"
#include "real/store.h"
#include "sim/schedule.h"

#include <openssl/evp.h>
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

struct results_hash results_hash(const char *bytes, size_t length)
{
    struct results_hash hash = {""};
    unsigned char digest[EVP_MAX_MD_SIZE];
    size_t size = 0;
    if (EVP_Q_digest(NULL, "SHA256", NULL, bytes, length, digest, &size) == 1) {
        for (size_t i = 0; i < size && 2 * i + 2 < sizeof hash.text; i++) {
            snprintf(&hash.text[2 * i], 3, "%02x", digest[i]);
        }
    }
    return hash;
}

static json_t *program_hash(void)
{
    size_t length = 0;
    char *bytes = artefacts_read(program.build.binary, &length);
    json_t *hash = json_string(bytes == NULL ? "" : results_hash(bytes, length).text);
    free(bytes);
    return hash;
}

static json_t *system_name(void)
{
    struct utsname name;
    char text[400];
    if (uname(&name) != 0) {
        return json_null();
    }
    snprintf(text, sizeof text, "%.60s %.100s %.60s", name.sysname, name.release, name.machine);
    return json_string(text);
}

static json_t *moment(void)
{
    char text[32];
    time_t now = time(NULL);
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return json_string(text);
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

static json_t *begin_line(const struct results_plan *plan)
{
    const struct results_build *build = &program.build;
    json_t *line =
        json_pack("{s:s, s:s, s:s, s:o, s:s, s:s, s:b, s:s, s:s, s:s, s:s, s:o, s:o, s:o}", "type",
                  "begin", "verb", plan->verb->name, "command", program.command, "made", moment(),
                  "assay", build->version, "commit", build->commit, "dirty", build->dirty,
                  "compiler", build->compiler, "flags", build->flags, "clauses_hash",
                  build->clauses_hash, "errata_hash", build->errata_hash, "binary_hash",
                  program_hash(), "system", system_name(), "fault_groups", fault_groups());
    json_object_set_new(line, "versions",
                        json_pack("{s:i, s:i, s:i, s:i, s:i}", "choice", CHOICE_VERSION, "fault",
                                  FAULT_VERSION, "identity", IDENTITY_VERSION, "generator",
                                  PCG_VERSION, "schedule", SCHEDULE_VERSION));
    json_object_set_new(line, "expects_finding", json_boolean(program.expects_finding));
    if (plan->jobs > 0) {
        json_object_set_new(line, "jobs", json_integer((json_int_t)plan->jobs));
        json_object_set_new(line, "base_seed", json_integer((json_int_t)plan->base_seed));
    }
    return line;
}

/* ---- opening and closing --------------------------------------------------------------------- */

int results_open(struct artefacts *results, const struct results_plan *plan)
{
    if (!artefacts_open(results, plan->folder, plan->json ? stdout : NULL)) {
        return cli_usage_error(plan->verb, "--out %s", results->problem);
    }
    if (plan->folder != NULL) {
        artefacts_note(results, begin_line(plan));
        artefacts_peek(results, "", 0);
    }
    return CLI_OK;
}

void results_note_begin(struct artefacts *results, const struct cli_verb *verb)
{
    artefacts_note(results, begin_line(&(struct results_plan){.verb = verb}));
}

void results_note_end(struct artefacts *results, int status)
{
    artefacts_note(results, json_pack("{s:s, s:i, s:f}", "type", "end", "status", status, "seconds",
                                      artefacts_seconds(results)));
}

void results_note_server(struct artefacts *results, const char *dsn)
{
    char version[STORE_PG_VERSION_SIZE];
    struct store_pg_problem problem;
    /* one that does not answer is told by whoever needs it next */
    if (results->folder != NULL && store_pg_version(dsn, version, &problem)) {
        artefacts_note(results, json_pack("{s:s, s:s}", "type", "server", "postgresql", version));
    }
}

int results_close(struct artefacts *results, const struct cli_verb *verb, int status)
{
    if (results->folder != NULL) {
        results_note_end(results, status);
    }
    if (!artefacts_close(results)) {
        fprintf(stderr, "assay %s: %s\n", verb->name, results->problem);
        return status == CLI_OK ? CLI_UNAVAILABLE : status;
    }
    return status;
}
