/* report.html: one file that needs nothing else, with the document of report.h inside. */
#ifndef REPORTS_HTML_H
#define REPORTS_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The page with this JSON document in it. False: it could not be written. */
bool report_html_write(FILE *to, const char *json, size_t length);

#endif
