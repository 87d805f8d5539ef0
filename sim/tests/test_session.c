#include "sim/session.h"
#include <criterion/criterion.h>
Test(session, placeholder)
{
    cr_assert(session_error_count() > 0);
}
