#include "verify/terminal.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum format_kind terminal_format(void)
{
    const char *no_color = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    bool refused = no_color != NULL && no_color[0] != '\0';
    bool able = terminal != NULL && strcmp(terminal, "dumb") != 0 && isatty(STDOUT_FILENO) == 1;
    return able && !refused ? FORMAT_COLOUR : FORMAT_TEXT;
}
