#include "model/oracle/legacy.h"

#include "model/oracle/digits.h"

enum { LEG1_ENTRY, LEG1_EXIT, LEG2_EXIT, LEG2_ENTRIES, LEG2_EXITS, FIELDS };

struct fields {
    int64_t of[FIELDS];
};

static struct fields fields_of(const struct oracle_digits *digits)
{
    return (struct fields){{
        [LEG1_ENTRY] = digits->at[1],
        [LEG1_EXIT] = digits->at[2],
        [LEG2_EXIT] = digits->at[3],
        [LEG2_ENTRIES] = oracle_digits_spell(digits, 4, 9),
        [LEG2_EXITS] = oracle_digits_spell(digits, 10, 15),
    }};
}

static bool a_field_ran_over(struct fields old, struct fields new)
{
    bool over = false;
    for (int field = LEG1_ENTRY; field <= LEG2_EXIT; field++) {
        over |= old.of[field] == 0 && new.of[field] == 9;
    }
    for (int field = LEG2_ENTRIES; field <= LEG2_EXITS; field++) {
        over |= old.of[field] == 999999 && new.of[field] == 0;
        over |= old.of[field] == 0 && new.of[field] == 999999;
    }
    return over;
}

static const int lifecycle[][FIELDS] = {
    {0, 0, 0, 0, 0},  /* no move */
    {-1, 0, 0, 0, 0}, /* Leg1 begins */
    {0, -1, 0, 0, 0}, /* Leg1 ends */
    {0, 0, 0, +1, 0}, /* Leg2 begins */
    {0, 0, 0, -1, 0}, /* a late call is undone */
    {0, 0, 0, 0, +1}, /* pending */
    {0, 0, -1, 0, +1} /* success */
};

static bool in_lifecycle(struct fields old, struct fields new)
{
    bool found = false;
    for (size_t i = 0; i < ORACLE_COUNT(lifecycle); i++) {
        bool same = true;
        for (int field = LEG1_ENTRY; field < FIELDS; field++) {
            same &= new.of[field] - old.of[field] == lifecycle[i][field];
        }
        found |= same;
    }
    return found;
}

struct oracle_verdict oracle_legacy_move(int64_t before, int64_t after)
{
    struct oracle_digits digits_before;
    struct oracle_digits digits_after;
    bool old_fits = oracle_digits_read(before, &digits_before);
    bool new_fits = oracle_digits_read(after, &digits_after);
    struct fields old = fields_of(&digits_before);
    struct fields new = fields_of(&digits_after);
    bool undone = new.of[LEG2_ENTRIES] < old.of[LEG2_ENTRIES];
    const struct oracle_verdict promises[] = {
        {!old_fits, CLAUSE_LEG_8, "the number before was no integer of 15 digits"},
        {!new_fits, CLAUSE_LEG_5, "a field ran over, out of the 15 digits"},
        {a_field_ran_over(old, new), CLAUSE_LEG_5, "a field ran over into its neighbour"},
        {!in_lifecycle(old, new), CLAUSE_LEG_1, "no event of the lifecycle moves the fields so"},
        {undone && old.of[LEG2_EXIT] == 9, CLAUSE_LEG_4, "an entry was undone while Leg2 is open"},
    };
    return oracle_first_broken(promises, ORACLE_COUNT(promises));
}
