/* The page of a report as it is compiled in: page/embed.cmake writes it. For html.c only. */
#ifndef REPORTS_HTML_PAGE_H
#define REPORTS_HTML_PAGE_H

#include <stddef.h>

extern const unsigned char html_before[]; /* up to the data; not terminated */
extern const size_t html_before_size;
extern const unsigned char html_after[]; /* what follows them */
extern const size_t html_after_size;

#endif
