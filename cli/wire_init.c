#include "cli/wire_init.h"

#include "verify/interrupt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A text in single quotes, as YAML has it. */
static void put_quoted(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text != '\0'; text++) {
        fputs(*text == '\'' ? "''" : (const char[]){*text, '\0'}, out);
    }
    fputc('\'', out);
}

/* The first table of the survey that has a status, as a guess. */
static void put_done(FILE *out, const char *survey)
{
    for (const char *line = survey; *line != '\0'; line = strchr(line, '\n') + 1) {
        size_t table = strcspn(line, ":\n");
        const char *status = strchr(line, ';');
        const char *end = strchr(line, '\n');
        if (status != NULL && status < end) {
            status += 2;
            size_t column = strcspn(status, ":\n");
            const char *value = status + column + 2;
            fprintf(out,
                    "done:     select not exists (select 1 from %.*s where %.*s::text <> '%.*s')",
                    (int)table, line, (int)column, status, (int)strcspn(value, " \n"), value);
            fprintf(out, " # a guess: which values are final?\n");
            return;
        }
    }
    fprintf(out, "done:     select true # when is all work done?\n");
}

static void put_survey(FILE *out, const char *before, const char *survey)
{
    for (const char *line = survey; *line != '\0'; line = strchr(line, '\n') + 1) {
        fprintf(out, "%s%.*s\n", before, (int)strcspn(line, "\n"), line);
    }
}

static bool write_draft(const struct wire_init *init, const struct trial_result *result)
{
    FILE *out = fopen(init->draft, "wx");
    if (out == NULL) {
        return false;
    }
    fprintf(out, "# A draft: say when it is done, and what its documents promise.\n"
                 "# What there was when nothing was committed any more:\n");
    put_survey(out, "#   ", result->survey);
    fprintf(out, "setup:    ");
    put_quoted(out, init->setup);
    if (init->client != NULL) {
        fprintf(out, "\nclients:  { run: ");
        put_quoted(out, init->client);
        fprintf(out, " }");
    }
    fprintf(out, "\nworkers:  { run: ");
    put_quoted(out, init->worker);
    fprintf(out, ", count: 2 }\n");
    put_done(out, result->survey);
    fprintf(out, "promises: []\n"
                 "#  - { is: exactly-once, of: \"effects(job, step)\", says: \"README: ...\" }\n");
    return fclose(out) == 0;
}

static int survey(const struct wire_init *init, struct crew *crew, struct trial_result *result)
{
    if (!probe_survey(crew, interrupt_seen, result)) {
        fprintf(stderr, "assay wire: %s\n",
                result->text[0] == '\0' ? "it was interrupted, or a lane ended" : result->text);
        return CLI_USAGE;
    }
    printf("%zu commits\n", result->commit_count);
    for (size_t i = 0; i < result->commit_count; i++) {
        const struct trial_commit *commit = &result->commits[i];
        printf("  %c:%-4u %.100s\n", commit->worker, commit->ordinal, commit->name);
    }
    printf("tables\n");
    put_survey(stdout, "  ", result->survey);
    if (!write_draft(init, result)) {
        fprintf(stderr, "assay wire: %s cannot be written, or is there already\n", init->draft);
        return CLI_USAGE;
    }
    printf("%s is a draft: say when it is done and what is promised, then\n  assay wire %s\n",
           init->draft, init->draft);
    return CLI_OK;
}

int wire_init(const struct wire_init *init)
{
    struct crew crew;
    struct error error;
    char folder[4096];
    struct subject subject = {
        .setup = (char *)init->setup,
        .workers = {.run = (char *)init->worker, .count = 1},
        .clients = {.run = (char *)init->client, .count = init->client != NULL},
        .done = (char *)"select true",
        .patience = SUBJECT_PATIENCE_SEC};
    struct trial_result *result = calloc(1, sizeof *result);
    if (result == NULL || getcwd(folder, sizeof folder) == NULL) {
        free(result);
        return CLI_UNAVAILABLE;
    }
    const struct lane_options options = {
        .subject = &subject, .folder = folder, .programs = init->programs};
    int status = CLI_UNAVAILABLE;
    if (!crew_open(&crew, &options, 1, &error)) {
        fprintf(stderr, "assay wire: %s\n", error.text);
        status = crew.setup_failed ? CLI_USAGE : CLI_UNAVAILABLE;
    } else {
        status = survey(init, &crew, result);
        crew_close(&crew);
    }
    free(result);
    return status;
}
