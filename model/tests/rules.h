/* Rules with static storage: the protocol's own part is filled in before any test runs. */
#ifndef MODEL_TESTS_RULES_H
#define MODEL_TESTS_RULES_H

#include "model/protocol.h"

#define OWN_RULES(rules, type, ...)                                                                \
    static __attribute__((constructor)) void own_##rules(void)                                     \
    {                                                                                              \
        *RULES_OF(&rules, type) = (struct type){__VA_ARGS__};                                      \
    }

#endif
