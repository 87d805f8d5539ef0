#include "bench/pgbench.h"

#include "bench/command.h"
#include "model/text.h"
#include "real/programs.h"
#include "real/sql.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define OPTIONS_SIZE 2048
#define THREADS_MAX  2
#define MORE_S       60 /* than the measurement itself takes */

/* Without its quotes, and a space within it with a backslash before it. */
static void add_value(struct text *text, const char *value)
{
    for (; *value != '\0'; value++) {
        if (*value != '\'') {
            text_put(text, "%s%c", *value == ' ' ? "\\" : "", *value);
        }
    }
}

/* "SET a = b; SET c = 'd e';" as options of a connection: "-c a=b -c c=d\ e". */
static void add_settings(struct text *text)
{
    char script[SQL_SETTINGS_SIZE], *rest = NULL;
    sql_settings(script);
    for (char *one = strtok_r(script, ";", &rest); one != NULL; one = strtok_r(NULL, ";", &rest)) {
        char name[64], value[64];
        if (sscanf(one, " SET %63s = %63[^;]", name, value) == 2) {
            text_put(text, "-c %s=", name);
            add_value(text, value);
            text_put(text, " ");
        }
    }
}

struct told {
    double rate;
    char error[400]; /* the first one: a client that gave up makes the rate worthless */
};

static void take_line(void *context, const char *line)
{
    struct told *told = context;
    if (sscanf(line, "tps = %lf", &told->rate) != 1 && strstr(line, "error") != NULL &&
        told->error[0] == '\0') {
        snprintf(told->error, sizeof told->error, "%s", line);
    }
}

static bool run(const struct pgbench *pgbench, const char *const *arguments, double *rate,
                char *why, size_t size)
{
    char options[OPTIONS_SIZE];
    struct told told = {0};
    struct text text = text_begin(options, sizeof options);
    if (pgbench->settings) {
        add_settings(&text);
    }
    const struct command command = {.arguments = arguments,
                                    .variable = "PGOPTIONS",
                                    .value = options,
                                    .input = pgbench->script,
                                    .input_size = strlen(pgbench->script),
                                    .seconds_max = pgbench->seconds + MORE_S,
                                    .interrupted = pgbench->interrupted};
    bool done = command_run(&command, take_line, &told, why, size);
    if (told.error[0] != '\0') {
        snprintf(why, size, "pgbench failed: %s", told.error);
    }
    *rate = told.rate;
    return done && told.error[0] == '\0' && told.rate > 0;
}

bool pgbench_run(const struct pgbench *pgbench, double *rate, char *why, size_t size)
{
    struct programs programs;
    struct error error;
    char program[PATH_MAX], clients[16], threads[16], seconds[16];
    if (!programs_find(&programs, NULL, &error)) {
        snprintf(why, size, "%s", error.text);
        return false;
    }
    snprintf(program, sizeof program, "%s/pgbench", programs.folder);
    snprintf(clients, sizeof clients, "%u", pgbench->clients);
    snprintf(threads, sizeof threads, "%u",
             pgbench->clients < THREADS_MAX ? pgbench->clients : THREADS_MAX);
    snprintf(seconds, sizeof seconds, "%d", pgbench->seconds);
    const char *const arguments[] = {program, "-n", "-M",    "prepared", "-c", clients,      "-j",
                                     threads, "-T", seconds, "-f",       "-",  pgbench->dsn, NULL};
    return run(pgbench, arguments, rate, why, size);
}
