/* The inbox protocol in the simulation: where its planted bugs are hunted; all else is the usual.
 */
#include "sim/part.h"

#include <inttypes.h>

extern const struct monitors monitors_inbox;

static struct name message_name(const struct names *names, const int64_t *message)
{
    struct name name = {""};
    (void)names;
    names_append(&name, "message of %" PRId64, message[1 + MESSAGE_CONTENT]); /* all differ */
    return name;
}

static const char *const grounds[] = {"inbox", NULL};

const struct sim_part sim_part_inbox = {
    .monitors = &monitors_inbox, .grounds = grounds, .message = message_name};
