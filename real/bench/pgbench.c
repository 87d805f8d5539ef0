#include "real/bench/pgbench.h"

#include "real/programs.h"
#include "real/sql.h"
#include "real/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMAND_SIZE 8192
#define THREADS_MAX  2

/* "SET a = b; SET c = d;" as options of a connection: "-c a=b -c c=d". */
static void add_settings(struct text *text)
{
    char script[SQL_SETTINGS_SIZE], *rest = NULL;
    sql_settings(script);
    for (char *one = strtok_r(script, ";", &rest); one != NULL; one = strtok_r(NULL, ";", &rest)) {
        char name[64], value[64];
        if (sscanf(one, " SET %63s = %63s", name, value) == 2) {
            size_t length = strlen(value);
            bool quoted = value[0] == '\'';
            text_add(text, "-c %s=%.*s ", name, (int)(quoted ? length - 2 : length),
                     quoted ? value + 1 : value);
        }
    }
}

static bool write_file(int fd, const char *content)
{
    size_t size = strlen(content);
    bool written = write(fd, content, size) == (ssize_t)size;
    return close(fd) == 0 && written;
}

static bool run_command(const char *command, double *rate, char *why, size_t size)
{
    char line[400], last[400] = "it printed nothing";
    bool whole = true;
    *rate = 0;
    FILE *output = popen(command, "r"); // NOLINT(cert-env33-c): a fixed command
    if (output == NULL) {
        snprintf(why, size, "no shell");
        return false;
    }
    while (fgets(line, sizeof line, output) != NULL) {
        if (sscanf(line, "tps = %lf", rate) != 1 && strstr(line, "error") != NULL && whole) {
            whole = false; /* a client that gave up makes the rate worthless */
            line[strcspn(line, "\n")] = '\0';
            snprintf(last, sizeof last, "%s", line);
        }
    }
    if (pclose(output) == 0 && whole && *rate > 0) {
        return true;
    }
    snprintf(why, size, "pgbench failed: %s", last);
    return false;
}

bool pgbench_run(const struct pgbench *pgbench, double *rate, char *why, size_t size)
{
    struct programs programs;
    struct cluster_fault fault;
    char path[] = "/tmp/assay-pgbench-XXXXXX", command[COMMAND_SIZE];
    if (!programs_find(&programs, NULL, &fault)) {
        snprintf(why, size, "%s", fault.text);
        return false;
    }
    int fd = mkstemp(path);
    if (fd < 0 || !write_file(fd, pgbench->script)) {
        snprintf(why, size, "no temporary file");
        return false;
    }
    struct text text = text_begin(command, sizeof command);
    text_add(&text, "PGOPTIONS='");
    if (pgbench->settings) {
        add_settings(&text);
    }
    text_add(&text, "' '%s/pgbench' -n -M prepared -c %u -j %u -T %d -D now=%" PRId64,
             programs.folder, pgbench->clients,
             pgbench->clients < THREADS_MAX ? pgbench->clients : THREADS_MAX, pgbench->seconds,
             pgbench->now);
    text_add(&text, " -f %s \"%s\" 2>&1", path, pgbench->dsn);
    bool measured = run_command(command, rate, why, size);
    unlink(path);
    return measured;
}
