#include "sim/life.h"

#include "model/check.h"
#include "sim/run_inside.h"

bool life_execute(struct run *run, const struct life *life, unsigned who, bool commits, size_t mark)
{
    if (!life->execute(run, who, commits, mark)) {
        CHECK(world_mark(&run->world) == mark); /* LF2 */
        return false;
    }
    if (run->outcome.kind == OUTCOME_REFUSED && run->outcome.refusal == REFUSED_STORE_FULL) {
        run->result.verdict = RUN_STORE_FULL;
    }
    if (run->outcome.kind == OUTCOME_REFUSED || !commits) {
        run_roll_back(run, mark);
        return false;
    }
    CHECK(run->outcome.kind == OUTCOME_COMMITTED); /* LF3 */
    return true;
}

void life_close(struct run *run, const struct life *life, unsigned who, bool kept, size_t mark)
{
    life->close(run, who, kept, mark);
    CHECK((sessions_open(run->sessions) >> who & 1) == 0); /* LF4 */
}

void life_drop(struct run *run, unsigned who)
{
    run->life->abort(run, who, ABORT_CONNECTION);
    life_close(run, run->life, who, false, world_mark(&run->world));
}
