/* A ledger in words: one display, digit by digit, for every layout of 15 digits (enum
 * column_ledger of model/table.h). Private to sim/. */
#ifndef SIM_LEDGER_WORDS_H
#define SIM_LEDGER_WORDS_H

#include "model/table.h"
#include "sim/story.h"

/* What a ledger says as a whole: "complete"; "": its layout has no such word. */
const char *ledger_words_state(enum column_ledger ledger, int64_t value);

/* The head of the part of a story that shows ledgers: "the ledgers, before and after step 12". */
void ledger_words_head(const struct story_telling *telling, const char *title);

/* Shows the ledger of a row (the column that teller_quoted names) with the meaning of each field,
 * before and after the last event. */
void ledger_words_show(const struct story_telling *telling, enum row_table table, uint32_t slot);

#endif
