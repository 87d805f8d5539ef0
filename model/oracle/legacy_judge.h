/* What the monitors of the earlier ledger share: an integer cut at its fields, and what they
 * remember. Private to model/oracle/legacy_*.c. */
#ifndef MODEL_ORACLE_LEGACY_JUDGE_H
#define MODEL_ORACLE_LEGACY_JUDGE_H

#include "model/oracle/digits.h"
#include "model/oracle/judge.h"

#define LEGACY_START INT64_C(999000000000000)

enum { MEMORY_ACTIVITY, MEMORY_CLAIM };

enum memo { MEMO_FLAGS = JUDGE_MEMO_FLAGS, MEMO_LATE, MEMO_NUMBER };

/* MEMO_FLAGS: what was seen of an activity. */
enum past {
    PAST_PUBLISHED = 1,      /* its Leg1 message */
    PAST_ANSWERED = 2,       /* a Leg2 message */
    PAST_GIVEN_UP = 4,       /* a message of it, at a ceiling */
    PAST_ENDED_BEFORE = 8,   /* a Leg1 entry found that Leg1 had ended */
    PAST_SUCCESS_SAVED = 16, /* the data of a closing answer, or of a call after it */
    PAST_PENDING_SAVED = 32, /* those of a pending one */
    PAST_COPIED = 64, /* a Leg1 message of it came a second time: its claims are not counted */
    PAST_WORKED = 128 /* its work was done, outside rows */
};

/* ... and which of its Leg2 messages: -8 to 8, as MESSAGE_ANSWER has it. */
#define PAST_ANSWER(answer) (INT64_C(1) << (16 + (answer)))

/* ... and above them, of a trigger, its input. */
#define INPUT_SHIFT 32

/* An integer as the promises have it (LEG-8). */
struct legacy_cut {
    int64_t leg1_entry, leg1_exit, leg2_exit, entries, exits;
};

static inline struct legacy_cut legacy_cut_of(int64_t ledger)
{
    struct oracle_digits digits;
    oracle_digits_read(ledger, &digits);
    return (struct legacy_cut){.leg1_entry = digits.at[1],
                               .leg1_exit = digits.at[2],
                               .leg2_exit = digits.at[3],
                               .entries = oracle_digits_spell(&digits, 4, 9),
                               .exits = oracle_digits_spell(&digits, 10, 15)};
}

static inline void legacy_breach(struct judge *judge, enum clause_id clause, enum row_table table,
                                 uint32_t slot, const char *why)
{
    judge_breach(judge, ORACLE_LEGACY, clause, table, slot, why);
}

#endif
