/* What a ledger says, digit by digit: the output of `assay decode`.
 *
 * A text can be read as an activity ledger, a GUID ledger, a ledger of the earlier design, or a
 * collation key with the flows nested in it. A reading is made first (fields with their meaning, a
 * sentence, and what is wrong if no run of the protocol can have written it) and written
 * afterwards, so that a person and a script are told the same. */
#ifndef REPORTS_READING_H
#define REPORTS_READING_H

#include "model/text_error.h"
#include "reports/format.h"

#include <stdbool.h>
#include <stdio.h>

enum reading_kind { READING_ACTIVITY, READING_GUID, READING_LEGACY, READING_KEY, READING_KINDS };

#define READING_FIELDS_MAX 15
#define READING_FLOWS_MAX  64 /* flows in one composed key; more is refused with a clear error */

struct reading_field {
    int first;        /* 0-based column of its first digit */
    char digits[16];  /* as they stand */
    const char *name; /* "Leg1 entries" */
    char meaning[80]; /* "1 of 999" */
    long long value;  /* the number they spell */
};

/* One number: a ledger, or one flow of a composed key. */
struct reading_part {
    char digits[16]; /* zero-padded to 15 */
    int parent;      /* of a nested flow: the part that awaits it, else -1 */
    int position;    /* of a nested flow: the activity that awaits it, from 1 */
    int field_count;
    struct reading_field fields[READING_FIELDS_MAX];
    char words[256];    /* what it says, as a sentence */
    const char *defect; /* why the protocol cannot have written it; NULL if it can */
};

struct reading {
    enum reading_kind kind;
    int part_count;
    struct reading_part parts[READING_FLOWS_MAX];
};

/* "activity", "guid", "legacy", "key"; and "activity ledger", ... */
const char *reading_kind_name(enum reading_kind kind);
const char *reading_kind_title(enum reading_kind kind);

/* Reads a text of this kind. False if it is not even the text of one: *error says why and where. A
 * text of 15 digits that the protocol cannot have written is read, with its defect. */
bool reading_make(const char *text, size_t length, enum reading_kind kind, struct reading *reading,
                  struct text_error *error);

/* The first defect of its parts, or NULL. */
const char *reading_defect(const struct reading *reading);

void reading_write(FILE *out, enum format_kind format, const char *text,
                   const struct reading *reading);

#endif
