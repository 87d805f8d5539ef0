#include "model/reference/semaphore.h"

#include "model/check.h"

void semaphore_check(int64_t before, int64_t threshold, const struct semaphore_move *move)
{
    bool moved = move->outcome == SEMAPHORE_MOVED;
    CHECK(moved ? move->after >= 0 : move->after == before); /* SM1 */
    CHECK(move->hit == (moved && move->after == threshold)); /* SM2 */
}

struct semaphore_move semaphore_apply(int64_t semaphore, int64_t delta, int64_t threshold)
{
    struct semaphore_move move = {.outcome = SEMAPHORE_MOVED, .after = semaphore};
    if (semaphore < 0 || (delta < 0 && semaphore + delta < 0)) {
        move.outcome = SEMAPHORE_NEGATIVE;
    } else if (delta > INT64_MAX - semaphore) {
        move.outcome = SEMAPHORE_OVERFLOW;
    } else {
        move.after = semaphore + delta;
        move.hit = move.after == threshold;
    }
    CHECK_ALL(semaphore_check(semaphore, threshold, &move));
    return move;
}

struct semaphore_collation semaphore_collate(int64_t semaphore, int64_t delta, int64_t threshold,
                                             int64_t guid, enum ledger_field field)
{
    CHECK(ledger_layout(field)->kind == LEDGER_GUID);
    struct semaphore_move move = semaphore_apply(semaphore, delta, threshold);
    struct semaphore_collation result = {
        .outcome = move.outcome, .after = move.after, .guid = guid, .hit = move.hit};
    if (!move.hit) {
        return result;
    }
    struct ledger_increment snapshot = ledger_add(guid, field);
    if (snapshot.outcome != LEDGER_INCREMENTED) {
        return (struct semaphore_collation){
            .outcome = SEMAPHORE_GUID_REFUSED, .after = semaphore, .guid = guid};
    }
    result.guid = snapshot.ledger;
    return result;
}
