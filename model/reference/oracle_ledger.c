#include "model/reference/oracle_ledger.h"

#include "model/check.h"
#include "model/oracle/digits.h"

/* Both ledgers are cut at the same places; digits 1-3 and digit 4 mean different things. */
struct fields {
    bool fits; /* 0 to 15 nines; otherwise all fields are 0 */
    int64_t head;
    int mark, work, children, tasks;
    int64_t count;
};

static struct fields fields_of(int64_t value)
{
    struct oracle_digits digits;
    bool fits = oracle_digits_read(value, &digits);
    return (struct fields){.fits = fits,
                           .head = oracle_digits_spell(&digits, 1, 3),
                           .mark = digits.at[4],
                           .work = digits.at[5],
                           .children = digits.at[6],
                           .tasks = digits.at[7],
                           .count = oracle_digits_spell(&digits, 8, 15)};
}

static bool a_step_is_marked(struct fields of)
{
    return of.work > 0 || of.children > 0 || of.tasks > 0;
}

static bool a_field_fell(struct fields old, struct fields new)
{
    return new.head < old.head || new.mark < old.mark || new.work < old.work ||
           new.children < old.children || new.tasks < old.tasks || new.count < old.count;
}

/* What no increments do to a ledger, whichever it is. */
static struct oracle_verdict growth(int64_t before, int64_t after, enum clause_id format)
{
    struct fields old = fields_of(before);
    struct fields new = fields_of(after);
    const struct oracle_verdict promises[] = {
        {!old.fits, format, "the number before was no ledger of 15 digits"},
        {after < before, CLAUSE_ACL_33, "a ledger became smaller"},
        {!new.fits, CLAUSE_ACL_8, "an increment carried out of the 15 digits"},
        {a_field_fell(old, new), CLAUSE_ACL_8, "an increment carried into the next field"},
    };
    return oracle_first_broken(promises, ORACLE_COUNT(promises));
}

/* ---- the activity ledger ------------------------------------------------------------------- */

struct oracle_verdict oracle_activity_value(int64_t value)
{
    struct fields of = fields_of(value);
    bool high = of.mark > 1 || of.work > 1 || of.children > 1 || of.tasks > 1;
    const struct oracle_verdict promises[] = {
        {!of.fits, CLAUSE_ACL_3, "the number is no ledger of 15 digits"},
        {high, CLAUSE_ACL_5, "a marker of an activity ledger is above 1"},
        {of.mark > 0 && of.head == 0, CLAUSE_ACL_9, "Leg1 is complete and was never entered"},
        {of.count > 0 && of.mark == 0, CLAUSE_ACL_45,
         "a Leg2 entry is counted and Leg1 is not complete"},
        {a_step_is_marked(of) && of.count == 0, CLAUSE_ACL_13,
         "a step is marked and Leg2 was never entered"},
        {of.children > of.work, CLAUSE_ACL_16, "children are spawned and no work is marked done"},
        {of.tasks > of.children, CLAUSE_ACL_17, "job tasks are done and no children are marked"},
    };
    return oracle_first_broken(promises, ORACLE_COUNT(promises));
}

struct oracle_verdict oracle_activity_move(int64_t before, int64_t after)
{
    struct fields old = fields_of(before);
    struct fields new = fields_of(after);
    const struct oracle_verdict promises[] = {
        growth(before, after, CLAUSE_ACL_3),
        oracle_activity_value(after),
        {new.head > old.head + 1, CLAUSE_ACL_4, "the Leg1 entries grew by more than one"},
        {new.count > old.count + 1, CLAUSE_ACL_4, "the Leg2 entries grew by more than one"},
    };
    return oracle_first_broken(promises, ORACLE_COUNT(promises));
}

/* ---- the GUID ledger ----------------------------------------------------------------------- */

/* Digits 4-7 as they are written in ACL-41. */
static bool a_resume_point(struct fields of)
{
    static const int list[][4] = {
        {0, 0, 0, 0}, {0, 1, 0, 0}, {0, 1, 1, 0}, {1, 1, 1, 0}, {1, 1, 1, 1}};
    bool found = false;
    for (size_t i = 0; i < ORACLE_COUNT(list); i++) {
        found |= of.mark == list[i][0] && of.work == list[i][1] && of.children == list[i][2] &&
                 of.tasks == list[i][3];
    }
    return found;
}

struct oracle_verdict oracle_guid_value(int64_t value)
{
    struct fields of = fields_of(value);
    const struct oracle_verdict promises[] = {
        {!of.fits, CLAUSE_ACL_12, "the number is no ledger of 15 digits"},
        {of.head != 0, CLAUSE_ACL_12, "a reserved digit of a GUID ledger is set"},
        {of.mark > 0 && of.children == 0, CLAUSE_ACL_14,
         "the job-closed digit is set and Step 2 is not done"},
        {of.tasks > 0 && of.mark == 0, CLAUSE_ACL_26,
         "Step 3 is done by a GUID that did not close the job"},
        {!a_resume_point(of), CLAUSE_ACL_41, "a GUID's markers are none of the five in the list"},
        {a_step_is_marked(of) && of.count == 0, CLAUSE_ACL_13,
         "a step is marked and the GUID was never entered"},
    };
    return oracle_first_broken(promises, ORACLE_COUNT(promises));
}

struct oracle_verdict oracle_guid_created(int64_t activity_after, int64_t guid, int64_t dimension)
{
    struct fields activity = fields_of(activity_after);
    struct fields of = fields_of(guid);
    const struct oracle_verdict promises[] = {
        {!of.fits, CLAUSE_ACL_12, "the number is no ledger of 15 digits"},
        {of.mark != 0, CLAUSE_ACL_14, "a new GUID has the job-closed digit already"},
        {of.head != 0, CLAUSE_ACL_12, "a reserved digit of a new GUID is set"},
        {a_step_is_marked(of), CLAUSE_ACL_41, "a new GUID has a step marked already"},
        {!activity.fits, CLAUSE_ACL_3, "the activity of a new GUID has no ledger of 15 digits"},
        {activity.mark == 0, CLAUSE_ACL_45, "a GUID was created and Leg1 is not complete"},
        {activity.count == 0, CLAUSE_ACL_13, "a GUID was created and no Leg2 entry counted"},
        {of.count != activity.count, CLAUSE_ACL_32, "a new GUID does not start at its entry count"},
        {dimension != activity.count - 1, CLAUSE_ACL_31,
         "a dimension is not its entry count less one"},
    };
    return oracle_first_broken(promises, ORACLE_COUNT(promises));
}

struct oracle_verdict oracle_guid_move(int64_t before, int64_t after)
{
    struct fields old = fields_of(before);
    struct fields new = fields_of(after);
    const struct oracle_verdict promises[] = {
        growth(before, after, CLAUSE_ACL_12),
        oracle_guid_value(after),
        {new.count > old.count + 1, CLAUSE_ACL_12, "the attempts grew by more than one"},
        {old.children > 0 && new.mark > old.mark, CLAUSE_ACL_21,
         "the job-closed digit was set after Step 2"},
    };
    return oracle_first_broken(promises, ORACLE_COUNT(promises));
}

/* ---- the semaphore ------------------------------------------------------------------------- */

struct oracle_verdict oracle_semaphore_move(int64_t before, int64_t after, int64_t children,
                                            bool pending, int64_t threshold, bool snapshot_taken)
{
    CHECK(children >= 0);
    if (before < 0 || after < 0) {
        return oracle_broken(CLAUSE_ACL_19, "the semaphore is negative");
    }
    int64_t closed = pending ? 0 : 1;
    const struct oracle_verdict promises[] = {
        {after - before != children - closed, CLAUSE_ACL_20,
         "the semaphore did not move by what was opened less what was closed"},
        {snapshot_taken && after != threshold, CLAUSE_ACL_21,
         "a snapshot was taken away from the threshold"},
        {!snapshot_taken && after == threshold, CLAUSE_ACL_21,
         "the threshold was reached and no snapshot taken"},
    };
    return oracle_first_broken(promises, ORACLE_COUNT(promises));
}
