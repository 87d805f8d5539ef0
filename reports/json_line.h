/* One JSON object as one line of output. For the reports that write JSON, not for their callers. */
#ifndef REPORTS_JSON_LINE_H
#define REPORTS_JSON_LINE_H

#include <jansson.h>
#include <stdio.h>

/* Takes the reference. */
static inline void json_line_write(FILE *out, json_t *object)
{
    json_dumpf(object, out, JSON_COMPACT);
    fputc('\n', out);
    json_decref(object);
}

#endif
