/* A report as one HTML file: the page (page/README.md) with the data of one report inside it. It
 * opens from disk, asks the network for nothing and needs nothing beside it.
 *
 * (HT1) Whatever the data say, they stay data: no text in them ends the element that they stand in.
 */
#ifndef REPORTS_HTML_H
#define REPORTS_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Writes the page for this JSON text, which is one document. False: the stream failed. */
bool report_html_write(FILE *to, const char *json, size_t length);

#endif
