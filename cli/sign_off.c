/* assay sign-off: the whole evidence, from nothing, and the page that is signed. */
#include "cli/load.h"
#include "cli/options.h"
#include "cli/sums.h"
#include "model/check.h"
#include "reports/artefacts.h"
#include "reports/evidence.h"
#include "reports/line.h"
#include "verify/interrupt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEP_WORDS_MAX 20
#define LONG_STEP      "sabotage"

/* The evidence, a line a step: the words of a command, to which --out is added. A step that takes
 * much longer than another comes first. Those that reports/steps.c asks for must be here,
 * but for the tests and their proofs, which come by --with. The long step is made once for a binary
 * (./test --full), comes by --with, too, and is made here only if --only names it. The
 * earlier ledger is searched without duplicates, which it is known not to bear (LEG-6). */
static const struct step {
    const char *name;
    const char *words[STEP_WORDS_MAX];
} steps[] = {
    {"campaign", {"campaign", "--seeds", "2000"}},
    {"sweep-tree-7", {"sweep", "tree-7", "--seed", "1", "--depth", "2"}},
    {"sweep-tree-7-merged", {"sweep", "tree-7-merged", "--seed", "1", "--depth", "2"}},
    {"sweep-tree-3", {"sweep", "tree-3", "--seed", "1", "--depth", "2"}},
    {"sweep-tree-3-merged", {"sweep", "tree-3-merged", "--seed", "1", "--depth", "2"}},
    {"sweep-cycle", {"sweep", "cycle", "--seed", "1", "--depth", "2"}},
    {"sweep-cycle-merged", {"sweep", "cycle-merged", "--seed", "1", "--depth", "2"}},
    {"sweep-pending", {"sweep", "pending", "--seed", "1", "--depth", "2"}},
    {"sweep-pending-merged", {"sweep", "pending-merged", "--seed", "1", "--depth", "2"}},
    {"sweep-seq", {"sweep", "seq", "--seed", "1", "--depth", "2"}},
    {"sweep-key", {"sweep", "quick-fox", "--seed", "1", "--depth", "2"}},
    {"sweep-key-branches", {"sweep", "key-branches", "--seed", "1"}},
    {"sweep-legacy", {"sweep", "legacy", "--seed", "1", "--depth", "2"}},
    {"sweep-pipeline", {"sweep", "pipeline", "--seed", "1", "--depth", "2"}},
    {"explore-peer-5", {"explore", "peer-5", "--crashes", "2", "--duplicates", "1"}},
    {"explore-peer-5-merged", {"explore", "peer-5-merged", "--crashes", "2", "--duplicates", "1"}},
    {"explore-peer-7", {"explore", "peer-7", "--crashes", "2", "--duplicates", "1"}},
    {"explore-tree-3", {"explore", "tree-3", "--crashes", "1", "--duplicates", "1"}},
    {"explore-tree-3-merged", {"explore", "tree-3-merged", "--crashes", "1", "--duplicates", "1"}},
    {"explore-pipeline", {"explore", "pipeline-pair", "--crashes", "1", "--duplicates", "1"}},
    {"explore-seq",
     {"explore", "seq-leases", "--crashes", "1", "--duplicates", "1", "--workers", "1"}},
    {"explore-key",
     {"explore", "quick-fox", "--crashes", "1", "--duplicates", "1", "--workers", "1"}},
    {"explore-legacy",
     {"explore", "legacy", "--crashes", "1", "--duplicates", "0", "--workers", "1"}},
    {LONG_STEP, {"sabotage"}},
    {"conform", {"conform", "--seeds", "500"}},
    {"conform-errors", {"conform", "--errors"}},
    {"real",
     {"real", "tree-3", "tree-3-merged", "tree-7", "tree-7-merged", "cycle", "cycle-merged",
      "pending", "pending-merged", "thresholds", "thresholds-merged", "key-branches", "seq",
      "legacy", "pipeline", "--seeds", "5"}},
    {"sabotage-real", {"sabotage", "--real"}},
    {"bench-sim", {"bench", "sim", "--seeds", "500"}},
};
#define STEP_COUNT COUNT(steps)

struct request {
    const char *out;
    struct cli_values with, only;
};

static const struct option options[] = {
    {TEXT_ROW(struct request, out, "--out", "DIR"), .needed = true,
     .about = "where all of it goes; it must be empty or new"},
    {TEXTS_ROW(struct request, with, "--with", "DIR"),
     .about = "evidence that was made before, by this program: of the unit tests, of the hunt for "
              "all planted bugs, of the proofs"},
    {TEXTS_ROW(struct request, only, "--only", "STEP"), .names = NAMES_OF_NOTHING,
     .about = "this step only; what is left out is NOT SHOWN"},
};

static bool is_wanted(const struct request *request, const struct step *step)
{
    for (int i = 0; i < request->only.count; i++) {
        if (strcmp(request->only.values[i], step->name) == 0) {
            return true;
        }
    }
    return request->only.count == 0 && strcmp(step->name, LONG_STEP) != 0;
}

static int check_steps(const struct request *request)
{
    for (int i = 0; i < request->only.count; i++) {
        bool any = false;
        for (size_t s = 0; s < STEP_COUNT; s++) {
            any = any || strcmp(steps[s].name, request->only.values[i]) == 0;
        }
        if (!any) {
            return cli_usage_error(
                &cli_sign_off, "--only %s: there is no such step, but %s, %s ...",
                cli_quote(request->only.values[i]).text, steps[0].name, steps[1].name);
        }
    }
    return CLI_OK;
}

/* ---- evidence that was made before ----------------------------------------------------------- */

/* Each session that says which program it was is of this one. */
static int check_builds(const char *folder, const struct evidence *evidence)
{
    char self[65];
    size_t i;
    json_t *line;
    snprintf(self, sizeof self, "%s", sums_hash_file("/proc/self/exe").text);
    json_array_foreach(evidence->lines, i, line)
    {
        const char *hash = line_is(line, LINE_BEGIN) ? line_get_binary_hash(line) : "";
        if (hash[0] != '\0' && strcmp(hash, self) != 0) {
            return cli_usage_error(&cli_sign_off,
                                   "--with %s: another program made it, with the SHA-256 %.16s...; "
                                   "this one has %.16s...",
                                   cli_quote(folder).text, hash, self);
        }
    }
    return CLI_OK;
}

static int check_folder(const char *folder)
{
    static struct evidence evidence;
    struct error error;
    size_t length;
    char *text = load_results(&cli_sign_off, folder, &length);
    if (text == NULL) {
        return CLI_USAGE;
    }
    evidence_begin(&evidence);
    int status = evidence_add(&evidence, text, length, folder, &error)
                     ? check_builds(folder, &evidence)
                     : cli_usage_error(&cli_sign_off, "--with %s", error.text);
    evidence_free(&evidence);
    free(text);
    return status;
}

/* Before a step runs: what cannot be taken would cost a page that took minutes. */
static int check_with(const struct request *request)
{
    int status = CLI_OK;
    for (int i = 0; i < request->with.count && status == CLI_OK; i++) {
        status = check_folder(request->with.values[i]);
    }
    return status;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* A process of this program. What it prints goes to `log`; NULL: where ours does. */
static int run_assay(char **argv, const char *log)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        if (log != NULL && freopen(log, "w", stdout) == NULL) {
            _exit(CLI_UNAVAILABLE);
        }
        execv("/proc/self/exe", argv);
        _exit(CLI_UNAVAILABLE);
    }
    int ended = 0;
    while (pid > 0 && waitpid(pid, &ended, 0) < 0 && errno == EINTR) {
    }
    return pid > 0 && WIFEXITED(ended) ? WEXITSTATUS(ended) : CLI_UNAVAILABLE;
}

static int run_step(const struct request *request, const struct step *step)
{
    char folder[ARTEFACTS_PATH_SIZE], log[ARTEFACTS_PATH_SIZE];
    char *argv[STEP_WORDS_MAX + 4] = {"assay"};
    size_t count = 1;
    for (size_t i = 0; i < STEP_WORDS_MAX && step->words[i] != NULL; i++) {
        argv[count++] = (char *)step->words[i];
    }
    snprintf(folder, sizeof folder, "%.3000s/steps/%s", request->out, step->name);
    snprintf(log, sizeof log, "%.3000s/steps/%s.txt", request->out, step->name);
    argv[count++] = "--out";
    argv[count++] = folder;
    fprintf(stderr, "%s:", step->name);
    for (size_t i = 1; i + 2 < count; i++) {
        fprintf(stderr, " %s", argv[i]);
    }
    fputc('\n', stderr);
    int status = run_assay(argv, log);
    if (status != CLI_OK) {
        fprintf(stderr, "%s: status %d; what it said is in %s\n", step->name, status, log);
    }
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int make_folder(const struct request *request)
{
    struct artefacts folder = {0};
    char path[ARTEFACTS_PATH_SIZE];
    if (!artefacts_claim(&folder, request->out)) {
        return cli_usage_error(&cli_sign_off, "--out %s", folder.problem);
    }
    snprintf(path, sizeof path, "%.3000s/steps", request->out);
    mkdir(path, 0777);
    return CLI_OK;
}

static int put_together(const struct request *request)
{
    static char paths[STEP_COUNT + 1][ARTEFACTS_PATH_SIZE];
    char log[ARTEFACTS_PATH_SIZE];
    char *argv[STEP_COUNT + 24] = {"assay", "merge"};
    size_t count = 2;
    for (size_t s = 0; s < STEP_COUNT; s++) {
        snprintf(paths[s], sizeof paths[s], "%.3000s/steps/%s", request->out, steps[s].name);
        if (is_wanted(request, &steps[s]) && access(paths[s], F_OK) == 0) {
            argv[count++] = paths[s];
        }
    }
    for (int i = 0; i < request->with.count; i++) {
        argv[count++] = (char *)request->with.values[i];
    }
    snprintf(paths[STEP_COUNT], sizeof paths[STEP_COUNT], "%.3000s/evidence", request->out);
    snprintf(log, sizeof log, "%.3000s/steps/merge.txt", request->out);
    argv[count++] = "--out";
    argv[count++] = paths[STEP_COUNT];
    run_assay(argv, log);
    char *page[] = {"assay", "report", paths[STEP_COUNT], "--sign-off", NULL};
    int status = run_assay(page, NULL);
    printf("the page is %s/sign-off.md, the report %s/report.html\n", paths[STEP_COUNT],
           paths[STEP_COUNT]);
    return status;
}

static int sign_off(const struct request *request)
{
    int status = make_folder(request);
    if (status != CLI_OK) {
        return status;
    }
    interrupt_watch();
    for (size_t s = 0; s < STEP_COUNT && !interrupt_seen(); s++) {
        if (is_wanted(request, &steps[s])) {
            run_step(request, &steps[s]);
        }
    }
    return put_together(request);
}

static int sign_off_verb(void *request)
{
    int status = check_steps(request);
    status = status == CLI_OK ? check_with(request) : status;
    return status == CLI_OK ? sign_off(request) : status;
}

const struct cli_verb cli_sign_off = {.name = "sign-off",
                                      .about = "the whole evidence, and the page that is signed",
                                      .options = options,
                                      .option_count = COUNT(options),
                                      .request_size = sizeof(struct request),
                                      .run = sign_off_verb};
