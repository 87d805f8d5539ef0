/* Whether the reader of stdout is a person at a terminal: what reports/ never decides. */
#ifndef VERIFY_TERMINAL_H
#define VERIFY_TERMINAL_H

#include "reports/format.h"

/* FORMAT_COLOUR if stdout is a terminal that shows it and NO_COLOR is not set, else FORMAT_TEXT. */
enum format_kind terminal_format(void);

#endif
