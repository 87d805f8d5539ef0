#include "model/oracle/key.h"

#include "model/oracle/digits.h"

static int occurrences(const struct oracle_digits *digits, int digit)
{
    int found = 0;
    for (int position = 1; position <= ORACLE_DIGITS; position++) {
        found += digits->at[position] == digit;
    }
    return found;
}

static bool a_gap(const struct oracle_digits *digits)
{
    bool gap = false;
    for (int position = 2; position <= ORACLE_DIGITS; position++) {
        gap |= digits->at[position - 1] == 0 && digits->at[position] != 0;
    }
    return gap;
}

struct oracle_verdict oracle_key_value(int64_t key)
{
    struct oracle_digits digits;
    bool fits = oracle_digits_read(key, &digits);
    bool parenthesis = occurrences(&digits, 1) > 0 || occurrences(&digits, 2) > 0;
    const struct oracle_verdict promises[] = {
        {!fits, CLAUSE_KEY_2, "the number is no key of 15 digits"},
        {digits.at[1] == 0, CLAUSE_KEY_2, "a key has no activity at its first position"},
        {a_gap(&digits), CLAUSE_KEY_2, "an unused position stands before an activity"},
        {parenthesis, CLAUSE_KEY_1, "a parenthesis stands in place of an activity's digit"},
    };
    return oracle_first_broken(promises, ORACLE_COUNT(promises));
}

static bool a_change(int from, int to)
{
    static const int list[][2] = {{9, 8}, {8, 7}, {8, 6}, {6, 5}, {8, 5}, {5, 4}, {9, 3}};
    bool found = false;
    for (size_t i = 0; i < ORACLE_COUNT(list); i++) {
        found |= from == list[i][0] && to == list[i][1];
    }
    return found;
}

struct oracle_verdict oracle_key_move(int64_t before, int64_t after)
{
    struct oracle_digits old;
    struct oracle_digits new;
    bool old_fits = oracle_digits_read(before, &old);
    bool new_fits = oracle_digits_read(after, &new);
    int rises = 0;
    int impossible = 0;
    int changes = 0;
    for (int position = 1; position <= ORACLE_DIGITS; position++) {
        int from = old.at[position];
        int to = new.at[position];
        rises += to > from;
        impossible += to < from && !a_change(from, to);
        changes += to != from && !(from == 9 && to == 3);
    }
    const struct oracle_verdict promises[] = {
        {!old_fits, CLAUSE_KEY_2, "the number before was no key of 15 digits"},
        {!new_fits, CLAUSE_KEY_8, "a change borrowed from outside the 15 digits"},
        {rises > 0, CLAUSE_KEY_8, "a digit rose: a change borrowed from its neighbour"},
        {impossible > 0, CLAUSE_KEY_8, "a digit made a change that is none of the seven"},
        {changes > 1, CLAUSE_KEY_3, "one commit made two changes that are no skips"},
        {before != after && oracle_key_complete(before), CLAUSE_KEY_10, "a complete key moved"},
    };
    return oracle_first_broken(promises, ORACLE_COUNT(promises));
}

bool oracle_key_complete(int64_t key)
{
    struct oracle_digits digits;
    return oracle_digits_read(key, &digits) && !oracle_key_value(key).broken &&
           occurrences(&digits, 9) + occurrences(&digits, 8) + occurrences(&digits, 5) == 0;
}

bool oracle_key_in_error(int64_t key)
{
    struct oracle_digits digits;
    return oracle_digits_read(key, &digits) && !oracle_key_value(key).broken &&
           occurrences(&digits, 7) > 0;
}
