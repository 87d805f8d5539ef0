#include "verify/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_bool seen; /* lock-free, so a handler may set it */

static void interrupt_note(int signal_number)
{
    (void)signal_number;
    atomic_store(&seen, true);
}

void interrupt_watch(void)
{
    struct sigaction action = {.sa_handler = interrupt_note, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool interrupt_seen(void)
{
    return atomic_load(&seen);
}
