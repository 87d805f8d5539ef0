/* What a verb leaves in its folder (--out DIR), and the one place that writes it.
 *
 *      results.jsonl    every result, a JSON object a line: the source of all that follows
 *      findings/NAME/   a broken promise: schedules, trace, words
 *      report.json, report.html, junit.xml, summary.md    made of results.jsonl (report.h)
 *
 * A folder must be new or empty: nothing is written over that another run left there. Files are
 * written beside their place and moved there whole, and so is the folder of a finding: also after
 * the run was killed, each is complete as of some moment, or is not there.
 *
 * With no folder, no file is written; the lines are there for the verdict until it is closed.
 *
 * (AF1) At every moment from artefacts_open on, results.jsonl is there and each of its lines is one
 *       JSON object.
 * (AF2) A folder findings/NAME has all its files. What is being written lies in findings/.NAME. */
#ifndef REPORTS_ARTEFACTS_H
#define REPORTS_ARTEFACTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#define ARTEFACTS_PATH_SIZE 4096

struct artefacts {
    const char *folder; /* NULL: none */
    FILE *echo;         /* where each line goes, too; NULL: nowhere */
    char *lines;        /* all of them so far */
    size_t length, capacity;
    double saved;      /* when results.jsonl was written last, in seconds of some clock */
    double begun;      /* when it was opened */
    char problem[400]; /* what could not be done first; "": nothing */
};

/* Makes the folder and its first results.jsonl. False: problem says why. */
bool artefacts_open(struct artefacts *artefacts, const char *folder, FILE *echo);

/* Makes the folder, and nothing in it. False: problem says why. */
bool artefacts_claim(struct artefacts *artefacts, const char *folder);

/* Takes the reference. A line goes to `echo` at once, to the file within a second or with the next
 * line after that. */
void artefacts_line(struct artefacts *artefacts, json_t *line);

/* A line for the file alone: what a reader of the file needs, and one of the output knows. */
void artefacts_note(struct artefacts *artefacts, json_t *line);

/* The file as it would be if these lines were the next ones: for results that are still growing. */
void artefacts_peek(struct artefacts *artefacts, const char *lines, size_t length);

/* Seconds since it was opened. */
double artefacts_seconds(const struct artefacts *artefacts);

/* Whether a second has gone by since the file was written. */
bool artefacts_is_due(const struct artefacts *artefacts);

/* A file of the folder, whole or not at all; `name` may lie in folders below, which are made. */
bool artefacts_put(struct artefacts *artefacts, const char *name, const char *text, size_t length);

/* A file of a finding's folder, which is not in its place yet. */
bool artefacts_put_finding(struct artefacts *artefacts, const char *finding, const char *file,
                           const char *text, size_t length);

/* Moves a finding's folder to its place, instead of an older one of that name. */
bool artefacts_place_finding(struct artefacts *artefacts, const char *finding);

/* Writes what is left, and everything that is made of results.jsonl. False: problem says what could
 * not be written. Frees the lines. */
bool artefacts_close(struct artefacts *artefacts);

/* All of a file, to be freed by the caller, with a zero after it; NULL: it cannot be read. */
char *artefacts_read(const char *path, size_t *length);

#endif
