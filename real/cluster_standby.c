/* Standbys: a copy that PostgreSQL's own programs make, and promotion. */
#include "real/cluster_template.h"

#include "model/check.h"

#include <limits.h>
#include <signal.h>
#include <unistd.h>

#define COPY_MS    120000
#define PROMOTE_MS 60000

/* Runs one of the server's programs, as the server's user. */
static bool run(const struct cluster *cluster, const char *program, const char *const *arguments,
                int timeout_ms, struct error *error)
{
    const char *all[16] = {program};
    for (size_t i = 0; arguments[i] != NULL; i++) {
        CHECK(i + 2 < COUNT(all));
        all[i + 1] = arguments[i];
    }
    return process_run(&(struct process_plan){.arguments = all,
                                              .user = &cluster->user,
                                              .output = cluster->log,
                                              .when_orphaned = SIGKILL},
                       timeout_ms, error);
}

bool cluster_standby_fill(const struct cluster *cluster, const struct cluster *primary,
                          struct error *error)
{
    char program[PATH_MAX];
    (void)cluster_path(program, sizeof program, "%s/pg_basebackup", cluster->programs.folder);
    const char *const arguments[] = {"-d",        cluster_dsn(primary),
                                     "-D",        cluster->data,
                                     "-R", /* what it needs to know to follow */
                                     "-X",        "stream",
                                     "-c",        "fast",
                                     "--no-sync", NULL};
    return run(cluster, program, arguments, COPY_MS, error);
}

bool cluster_promote(struct cluster *cluster, struct error *error)
{
    char program[PATH_MAX];
    CHECK(cluster->folder[0] != '\0' && cluster->owner == getpid()); /* C4 */
    (void)cluster_path(program, sizeof program, "%s/pg_ctl", cluster->programs.folder);
    const char *const arguments[] = {"promote", "-w", "-s", "-D", cluster->data, NULL};
    return run(cluster, program, arguments, PROMOTE_MS, error);
}
