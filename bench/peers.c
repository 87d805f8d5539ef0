#include "bench/peers.h"

#include "bench/command.h"
#include "scenarios/builtin.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define INSTALL_S 240
#define RUN_S     240
#define URL_SIZE  600

extern const struct builtin peer_scripts[]; /* peers/NAME.js */
extern const size_t peer_scripts_count;
extern const struct builtin peer_packages[]; /* peers/NAME.json: what npm needs to install them */
extern const size_t peer_packages_count;

size_t peers_count(void)
{
    return peer_scripts_count;
}

const char *peers_name(size_t index)
{
    return peer_scripts[index].name;
}

bool peers_find(struct peers *peers, const char *folder, char *why, size_t size)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/node_modules", folder);
    if (strlen(folder) >= sizeof peers->folder || access(path, R_OK) != 0) {
        snprintf(why, size, "%.100s has no node_modules", folder);
        return false;
    }
    snprintf(peers->folder, sizeof peers->folder, "%s", folder);
    return true;
}

static bool write_file(const char *folder, const struct builtin *file)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s.json", folder, file->name);
    FILE *stream = fopen(path, "w");
    bool written = stream != NULL && fwrite(file->text, 1, file->size, stream) == file->size;
    return stream != NULL && fclose(stream) == 0 && written;
}

static void ignore_line(void *context, const char *line)
{
    (void)context;
    (void)line;
}

bool peers_install(struct peers *peers, const char *folder, char *why, size_t size)
{
    static const char *const arguments[] = {
        "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", NULL};
    const struct command command = {.arguments = arguments,
                                    .folder = folder,
                                    .seconds_max = INSTALL_S,
                                    .interrupted = peers->interrupted};
    char said[400];
    for (size_t i = 0; i < peer_packages_count; i++) {
        if (!write_file(folder, &peer_packages[i])) {
            snprintf(why, size, "%s cannot be written to", folder);
            return false;
        }
    }
    if (!command_run(&command, ignore_line, NULL, said, sizeof said)) {
        snprintf(why, size, "it takes the Debian packages nodejs and npm, and a registry: %.200s",
                 said);
        return false;
    }
    return peers_find(peers, folder, why, size);
}

/* "host=/tmp/x port=5432 user=u dbname=d" as postgres://u@%2Ftmp%2Fx:5432/d, which JavaScript
 * takes. */
static bool url_of(const char *dsn, char url[URL_SIZE])
{
    char host[200], user[64], database[64], escaped[3 * sizeof host], *at = escaped;
    int port;
    if (sscanf(dsn, "host=%199s port=%d user=%63s dbname=%63s", host, &port, user, database) != 4) {
        return false;
    }
    for (const char *c = host; *c != '\0'; c++) {
        at += snprintf(at, 4, isalnum((unsigned char)*c) ? "%c" : "%%%02X", (unsigned char)*c);
    }
    int length = snprintf(url, URL_SIZE, "postgres://%s@%s:%d/%s", user, escaped, port, database);
    return length > 0 && length < URL_SIZE;
}

struct told {
    double rate;
    bool whole; /* it said how fast it was */
};

static void take_line(void *context, const char *line)
{
    struct told *told = context;
    told->whole = told->whole || sscanf(line, "jobs_per_second %lf", &told->rate) == 1;
}

bool peers_run(const struct peers *peers, size_t index, const struct peers_load *load, double *rate,
               char *why, size_t size)
{
    char url[URL_SIZE], jobs[16], concurrency[16], warm[16];
    struct told told = {0};
    snprintf(jobs, sizeof jobs, "%u", load->jobs);
    snprintf(concurrency, sizeof concurrency, "%u", load->concurrency);
    snprintf(warm, sizeof warm, "%u", load->warm);
    const char *const arguments[] = {"node", "-", jobs, concurrency, warm, NULL};
    const struct command command = {.arguments = arguments,
                                    .folder = peers->folder,
                                    .variable = "PEER_URL",
                                    .value = url,
                                    .input = peer_scripts[index].text,
                                    .input_size = peer_scripts[index].size,
                                    .seconds_max = RUN_S,
                                    .interrupted = peers->interrupted};
    if (!url_of(load->dsn, url)) {
        snprintf(why, size, "no address could be made of the server's");
        return false;
    }
    char said[500];
    bool done = command_run(&command, take_line, &told, said, sizeof said);
    snprintf(why, size, "%s: %.400s", peers_name(index), said);
    *rate = told.rate;
    return done && told.whole;
}
