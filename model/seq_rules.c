#include "model/seq_rules.h"

/* A pair that is not named is 0, no move (SR1). */
const uint8_t seq_rules_contract[SEQ_STATES][SEQ_STATES] = {
    [SEQ_UNSEEN] = {[SEQ_DISPATCHED] = SEQ_MOVE_DISPATCH},
    [SEQ_DISPATCHED] = {[SEQ_IN_FLIGHT] = SEQ_MOVE_TAKE, [SEQ_CANCEL] = SEQ_MOVE_CANCEL_EARLY},
    [SEQ_IN_FLIGHT] = {[SEQ_SUCCESS] = SEQ_MOVE_SUCCEED,
                       [SEQ_SKIP] = SEQ_MOVE_SKIP,
                       [SEQ_FAIL] = SEQ_MOVE_FAIL,
                       [SEQ_CANCEL] = SEQ_MOVE_CANCEL_FORCED},
    [SEQ_SUCCESS] = {[SEQ_COMMITTED] = SEQ_MOVE_COMMIT_SUCCESS},
    [SEQ_SKIP] = {[SEQ_COMMITTED] = SEQ_MOVE_COMMIT_SKIP},
    [SEQ_FAIL] = {[SEQ_COMMITTED] = SEQ_MOVE_COMMIT_FAIL, [SEQ_DISPATCHED] = SEQ_MOVE_RETRY},
    [SEQ_CANCEL] = {[SEQ_COMMITTED] = SEQ_MOVE_COMMIT_CANCEL},
};

static const char *const state_names[SEQ_STATES] = {SEQ_STATE_NAMES};

const char *seq_rules_state_name(enum seq_state state)
{
    CHECK((unsigned)state < SEQ_STATES);
    return state_names[state];
}
