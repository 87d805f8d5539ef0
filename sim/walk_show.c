/* A walk's moves as events for a trace or a story. */
#include "sim/run_inside.h"
#include "sim/walk.h"

static enum fault_kind fault_of(const struct walk *walk, struct walk_move move)
{
    static const uint8_t faults[WALK_KIND_COUNT] = {
        [WALK_CRASH] = FAULT_CRASH_BEFORE_BEGIN, [WALK_TEAR] = FAULT_CRASH_BEFORE_COMMIT,
        [WALK_DUPLICATE] = FAULT_DUPLICATE,      [WALK_LAPSE] = FAULT_REDELIVER,
        [WALK_UNSURE] = FAULT_UNKNOWN_COMMITTED, [WALK_LOST] = FAULT_UNKNOWN_LOST,
        [WALK_ABORT] = FAULT_SERIALIZATION,      [WALK_DRAG] = FAULT_CLOCK_FORWARD,
        [WALK_MISSTEP] = FAULT_ILLEGAL_MOVE};
    if (move.kind == WALK_DUPLICATE && walk->run.world.place[move.slot] == 0) {
        return FAULT_REPLAY; /* it was acked */
    }
    if (move.kind == WALK_LAPSE && move.slot == WALK_NO_SLOT) {
        return FAULT_CLOCK_FORWARD;
    }
    return (enum fault_kind)faults[move.kind];
}

static enum run_turn turn_of(const struct walk *walk, struct walk_move move)
{
    switch ((int)move.kind) {
    case WALK_CRASH:
        return RUN_CRASH;
    case WALK_DUPLICATE:
    case WALK_LAPSE:
    case WALK_DRAG:
    case WALK_MISSTEP:
        return RUN_ENVIRONMENT;
    case WALK_WAIT:
        return RUN_PAUSE;
    default:
        break;
    }
    enum session_state state = (enum session_state)walk->run.sessions->each[move.actor].state;
    return state == SESSION_CLOSED  ? RUN_TRANSACTION
           : state == SESSION_WAITS ? RUN_WAITS
                                    : RUN_STOPS;
}

/* The message that a step is about, before it is done; NULL: its role has none. */
static const int64_t *message_before(const struct performer *performer)
{
    return performer->role->message == NULL ? NULL : performer->role->message(&performer->actor);
}

bool walk_show(struct walk *walk, struct walk_move move)
{
    struct run *run = &walk->run;
    struct performer before = run->actors[move.actor].performer;
    enum fault_kind fault = fault_of(walk, move);
    size_t mark = world_mark(&run->world);
    int64_t now = run->world.now;
    if (move.kind == WALK_CRASH) {
        struct performer peek = before;
        performer_next(&peek, &run->rules, run->sabotage, &run->bundle);
    }
    bool held = walk_do(walk, move);
    enum run_turn turn = turn_of(walk, move);
    bool claims = turn == RUN_TRANSACTION && run->bundle.name == BUNDLE_CLAIM;
    const struct session *session = &run->sessions->each[move.actor];
    struct run_event event = {
        .turn = turn,
        .actor = move.kind == WALK_WAIT ? CHOICE_NOBODY : move.actor,
        .fault = fault,
        .crashed = move.kind == WALK_CRASH || move.kind == WALK_TEAR,
        .committed =
            turn == RUN_ENVIRONMENT ||
            (turn == RUN_TRANSACTION &&
             (move.kind == WALK_STEP || move.kind == WALK_UNSURE || move.kind == WALK_OPERATE) &&
             run->outcome.kind != OUTCOME_REFUSED && run->outcome.kind != OUTCOME_ABORTED),
        .bundle = turn == RUN_STOPS || turn == RUN_WAITS ? &session->bundle : &run->bundle,
        .outcome = &run->outcome,
        .message = claims ? run->outcome.message : message_before(&before),
        .amount = turn == RUN_WAITS   ? (int64_t)session_waits_for(run->sessions, move.actor)
                  : turn == RUN_STOPS ? (int64_t)session->operations
                                      : run->world.now - now,
        .effect = run->effect.what == 0 ? NULL : &run->effect,
        .changes = &run->world.changes[mark],
        .change_count = run->world.change_count - mark};
    if (run->observer != NULL) {
        event.step = walk->depth;
        event.now = run->world.now;
        event.rows = &run->world.rows;
        event.digest = walk_state(walk);
        run->observer(run->observer_context, &event);
    }
    return held;
}
