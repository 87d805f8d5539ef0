/* SHA256SUMS: the hash of every file that the acceptance page rests on, as `sha256sum -c` reads it.
 *
 * The page names the hash of SHA256SUMS, so that a line of it cannot be changed together with its
 * file. Nothing here writes files.
 *
 * Every file below the root has a line, but for the page, SHA256SUMS itself and signatures of
 * them; lines are in the order of their paths, byte by byte. */
#ifndef CLI_SUMS_H
#define CLI_SUMS_H

#include "model/error.h"
#include "reports/artefacts.h"

#include <jansson.h>
#include <stddef.h>

#define SUMS_NAME "SHA256SUMS"
#define SUMS_PAGE "sign-off.md"

/* As sha256sum says it, in hexadecimal digits; "" if it cannot be told. */
struct sums_hash {
    char text[65];
};
struct sums_hash sums_hash(const char *bytes, size_t length);
struct sums_hash sums_hash_file(const char *path);

/* A list of the hashes of the sessions in the text of results.jsonl, each of its lines from its "begin"
 * on. */
json_t *sums_sessions(const char *text, size_t length);

/* Where the page, its evidence and the sums lie. */
struct sums_place {
    char folder[ARTEFACTS_PATH_SIZE]; /* of the page and of results.jsonl */
    char root[ARTEFACTS_PATH_SIZE];   /* of SHA256SUMS: all below it is covered */
    const char *page;                 /* the page, seen from the root */
};

/* The folder of the page: `folder`, or its folder evidence if that has the page. The root is that
 * folder, or the one above it if that is the folder of a whole sign-off (it has steps). False: a
 * path is too long. */
bool sums_find(struct sums_place *place, const char *folder);

/* The text of SHA256SUMS, to be freed by the caller; NULL: error says which file has no hash. */
char *sums_make(const struct sums_place *place, size_t *length, struct error *error);

/* Compares the files below the root with the text of SHA256SUMS. Calls `tell` for each difference,
 * with a path seen from the root, and returns how many there are. */
size_t sums_compare(const struct sums_place *place, const char *text, size_t length,
                    void (*tell)(void *context, const char *path, const char *why), void *context);

#endif
