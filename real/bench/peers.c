#include "real/bench/peers.h"

#include "scenarios/builtin.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INSTALL_S 240
#define RUN_S     240
#define URL_SIZE  600

extern const struct builtin peer_scripts[]; /* peers/NAME.js */
extern const size_t peer_scripts_count;

/* Versions that the scripts were written for. */
static const char install[] =
    "cd '%s' && timeout %d npm install --no-audit --no-fund --loglevel=error '@dbos-inc/dbos-sdk@5'"
    " 'graphile-worker@0.17' 'pg-boss@10' pg@8 >log 2>&1 </dev/null";

size_t peers_count(void)
{
    return peer_scripts_count;
}

const char *peers_name(size_t index)
{
    return peer_scripts[index].name;
}

static bool is_there(const char *program)
{
    char command[80];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", program);
    return system(command) == 0; // NOLINT(cert-env33-c): a fixed command
}

static bool has_packages(const char *folder)
{
    char path[260];
    snprintf(path, sizeof path, "%s/node_modules", folder);
    return access(path, R_OK) == 0;
}

static bool install_into(struct peers *peers, char *why, size_t size)
{
    char command[700];
    snprintf(peers->folder, sizeof peers->folder, "/tmp/assay-peers-XXXXXX");
    if (mkdtemp(peers->folder) == NULL) {
        snprintf(why, size, "no temporary folder");
        return false;
    }
    peers->ours = true;
    snprintf(command, sizeof command, install, peers->folder, INSTALL_S);
    if (!is_there("npm") || system(command) != 0) { // NOLINT(cert-env33-c): a fixed command
        snprintf(why, size, "npm could not install them: it takes npm and a registry");
        peers_close(peers);
        return false;
    }
    return true;
}

bool peers_open(struct peers *peers, const char *folder, char *why, size_t size)
{
    *peers = (struct peers){0};
    if (!is_there("node")) {
        snprintf(why, size, "it needs the Debian packages nodejs and npm");
        return false;
    }
    if (folder == NULL) {
        return install_into(peers, why, size);
    }
    if (strlen(folder) >= sizeof peers->folder || strchr(folder, '\'') != NULL ||
        !has_packages(folder)) {
        snprintf(why, size, "%.100s has no node_modules", folder);
        return false;
    }
    snprintf(peers->folder, sizeof peers->folder, "%s", folder);
    return true;
}

void peers_close(struct peers *peers)
{
    char command[260];
    if (!peers->ours) {
        return;
    }
    snprintf(command, sizeof command, "rm -rf '%s'", peers->folder);
    if (system(command) != 0) { // NOLINT(cert-env33-c): a fixed command
        fprintf(stderr, "assay bench: %s could not be removed\n", peers->folder);
    }
    peers->ours = false;
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

/* Scripts are read from standard input, so that nothing is written into a folder of the user's. */
static bool run_command(const char *command, double *rate, char *why, size_t size)
{
    char line[400], last[400] = "it said nothing";
    *rate = 0;
    FILE *output = popen(command, "r"); // NOLINT(cert-env33-c): a fixed command
    if (output == NULL) {
        snprintf(why, size, "no shell");
        return false;
    }
    while (fgets(line, sizeof line, output) != NULL) {
        if (sscanf(line, "jobs_per_second %lf", rate) != 1 && line[0] != '\n') {
            line[strcspn(line, "\n")] = '\0';
            snprintf(last, sizeof last, "%s", line);
        }
    }
    if (pclose(output) == 0 && *rate > 0) {
        return true;
    }
    snprintf(why, size, "it failed: %s", last);
    return false;
}

static bool write_script(const struct builtin *script, char *path)
{
    int fd = mkstemp(path);
    bool written = fd >= 0 && write(fd, script->text, script->size) == (ssize_t)script->size;
    return fd >= 0 && close(fd) == 0 && written;
}

bool peers_run(const struct peers *peers, size_t index, const struct peers_load *load, double *rate,
               char *why, size_t size)
{
    char url[URL_SIZE], path[] = "/tmp/assay-peer-XXXXXX", command[1400];
    if (!url_of(load->dsn, url) || !write_script(&peer_scripts[index], path)) {
        snprintf(why, size, "no script could be made for it");
        return false;
    }
    snprintf(command, sizeof command, "cd '%s' && PEER_URL='%s' timeout %d node - %u %u <%s 2>&1",
             peers->folder, url, RUN_S, load->jobs, load->concurrency, path);
    bool measured = run_command(command, rate, why, size);
    unlink(path);
    return measured;
}
