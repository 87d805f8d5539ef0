#include "model/semaphore.h"

#include "model/check.h"

int64_t semaphore_delta(int64_t children, bool pending)
{
    CHECK(children >= 0);
    return pending ? children : children - 1;
}
