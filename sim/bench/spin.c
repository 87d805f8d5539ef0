#include "sim/bench/spin.h"

#include "scenarios/builtin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct builtin spin_models[]; /* ledger.pml */

/* A tree of 5, two crashes, one duplicate: some seconds of exhaustive search. */
static const char script[] = "cd '%s' && spin -DTREE=5 -DCRASHES=2 -DDUPS=1 -a ledger.pml >log 2>&1"
                             " && gcc -O2 -w -DSAFETY -DNOFAIR -DMEMLIM=4000 -o pan pan.c >log 2>&1"
                             " && ./pan -m10000 -w24 2>&1";

static bool is_there(const char *program)
{
    char command[80];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", program);
    return system(command) == 0; // NOLINT(cert-env33-c): a fixed command
}

static bool write_model(const char *folder)
{
    char path[200];
    snprintf(path, sizeof path, "%s/ledger.pml", folder);
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        return false;
    }
    const struct builtin *model = &spin_models[0];
    size_t written = fwrite(model->text, 1, model->size, file);
    return fclose(file) == 0 && written == model->size;
}

/* "  2345 states, stored", " 6789 transitions (= ...", "pan: elapsed time 1.5 seconds" */
static void read_line(const char *line, struct spin_figures *figures)
{
    static const char elapsed[] = "pan: elapsed time ";
    if (strstr(line, "states, stored") != NULL) {
        figures->states = strtod(line, NULL);
    } else if (strstr(line, "transitions (=") != NULL) {
        figures->transitions = strtod(line, NULL);
    } else if (strncmp(line, elapsed, sizeof elapsed - 1) == 0) {
        figures->seconds = strtod(line + sizeof elapsed - 1, NULL);
    }
}

static bool run_spin(const char *folder, struct spin_figures *figures)
{
    char command[600], line[400];
    snprintf(command, sizeof command, script, folder);
    FILE *output = popen(command, "r"); // NOLINT(cert-env33-c): a fixed command
    if (output == NULL) {
        return false;
    }
    while (fgets(line, sizeof line, output) != NULL) {
        read_line(line, figures);
    }
    return pclose(output) == 0 && figures->transitions > 0 && figures->seconds > 0;
}

static void remove_folder(const char *folder)
{
    char command[200];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) { // NOLINT(cert-env33-c): a fixed command
        fprintf(stderr, "assay bench: %s could not be removed\n", folder);
    }
}

bool spin_measure(struct spin_figures *figures, char *why, size_t size)
{
    *figures = (struct spin_figures){0};
    if (!is_there("spin") || !is_there("gcc")) {
        snprintf(why, size, "it needs the Debian packages spin and gcc");
        return false;
    }
    char folder[] = "/tmp/assay-spin-XXXXXX";
    if (mkdtemp(folder) == NULL) {
        snprintf(why, size, "no temporary folder");
        return false;
    }
    bool measured = write_model(folder) && run_spin(folder, figures);
    remove_folder(folder);
    if (!measured) {
        snprintf(why, size, "it did not run to its end");
        return false;
    }
    figures->transitions_per_second = figures->transitions / figures->seconds;
    return true;
}
