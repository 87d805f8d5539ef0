#include "bench/spin/spin.h"

#include "scenarios/builtin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct builtin spin_models[]; /* ledger.pml */

static const char script[] =
    "cd '%s' && spin %s -DTREE=%d -DCRASHES=%d -DDUPS=%d -DCOUNTERS=%d -DBUG=%d -DGUARD=%d"
    " -a ledger.pml >log 2>&1"
    " && gcc -O3 -w -DSAFETY -DNOFAIR -DMEMLIM=%d %s %s -o pan pan.c >log 2>&1"
    " && ./pan %s -m10000 -w%d 2>&1";
#define HASH_BITS_MIN  20
#define HASH_BITS_MANY 26
#define HASH_BITS_MAX  30

static bool is_there(const char *program)
{
    char command[80];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", program);
    return system(command) == 0; // NOLINT(cert-env33-c): a fixed command
}

bool spin_is_there(void)
{
    return is_there("spin") && is_there("gcc");
}

/* Of the hash table: the fewest with a slot for each state, so that it is neither slow nor larger
 * than it need be. */
static int hash_bits(double states)
{
    int bits = states == 0 ? HASH_BITS_MANY : HASH_BITS_MIN;
    while (bits < HASH_BITS_MAX && (double)(1L << bits) < states) {
        bits++;
    }
    return bits;
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

/* "  2345 states, stored", " 6789 transitions (= ...", "pan: elapsed time 1.5 seconds", and memory
 * in megabytes: "12.5 actual memory usage for states" (lossless: "equivalent"), "512 memory used
 * for hash table". After an
 * error at depth 7 a shorter one is looked for: "pan: reducing search depth to 8". */
static void read_line(const char *line, struct spin_figures *figures)
{
    static const char elapsed[] = "pan: elapsed time ",
                      shorter[] = "pan: reducing search depth to ";
    double number = strtod(line, NULL);
    if (strstr(line, "states, stored") != NULL) {
        figures->states = number;
    } else if (strstr(line, "transitions (=") != NULL) {
        figures->transitions = number;
    } else if (strstr(line, "actual memory usage for states") != NULL ||
               strstr(line, "memory used for hash table") != NULL) {
        figures->bytes += number * 1048576;
    } else if (strncmp(line, shorter, sizeof shorter - 1) == 0) {
        figures->depth = (int)strtol(line + sizeof shorter - 1, NULL, 10) - 1;
    } else if (strncmp(line, elapsed, sizeof elapsed - 1) == 0) {
        figures->seconds = strtod(line + sizeof elapsed - 1, NULL);
    } else if (strstr(line, "errors: 0") != NULL) {
        figures->complete = true;
    }
}

static bool run_spin(const char *folder, const struct spin_question *question,
                     struct spin_figures *figures)
{
    char command[900], line[400];
    bool out_of_memory = false;
    snprintf(command, sizeof command, script, folder, question->all_variables ? "-o2" : "",
             question->tree, question->crashes, question->duplicates, question->counters,
             question->bug, !question->unguarded, question->megabytes,
             question->hashed ? "-DHC4" : "", question->shortest ? "-DREACH" : "",
             question->shortest ? "-i" : "", hash_bits(question->states));
    FILE *output = popen(command, "r"); // NOLINT(cert-env33-c): a fixed command
    if (output == NULL) {
        return false;
    }
    while (fgets(line, sizeof line, output) != NULL) {
        read_line(line, figures);
        out_of_memory = out_of_memory || strstr(line, "out of memory") != NULL ||
                        strstr(line, "reached -DMEMLIM") != NULL;
    }
    pclose(output); /* out of memory is an answer, too */
    figures->complete = figures->complete && !out_of_memory;
    return figures->states > 0;
}

static void remove_folder(const char *folder)
{
    char command[200];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) { // NOLINT(cert-env33-c): a fixed command
        fprintf(stderr, "assay bench: %s could not be removed\n", folder);
    }
}

bool spin_measure(const struct spin_question *question, struct spin_figures *figures, char *why,
                  size_t size)
{
    *figures = (struct spin_figures){0};
    if (!spin_is_there()) {
        snprintf(why, size, "it needs the Debian packages spin and gcc");
        return false;
    }
    char folder[] = "/tmp/assay-spin-XXXXXX";
    if (mkdtemp(folder) == NULL) {
        snprintf(why, size, "no temporary folder");
        return false;
    }
    bool measured = write_model(folder) && run_spin(folder, question, figures);
    remove_folder(folder);
    if (!measured) {
        snprintf(why, size, "it did not run to its end");
    }
    return measured;
}
