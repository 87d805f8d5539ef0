/* The clock of a lane as a page that the server and all foreign processes have mapped: real time plus
 * an offset, and the deadlines of all timed waits. Shared with the preloaded library (wire/shim),
 * which knows nothing else of Assay.
 *
 * The offset only grows. It is moved by the conductor alone, when everything is at rest, to the
 * earliest deadline; a wait ends when the clock, so read, has reached its deadline. */
#ifndef WIRE_PAGE_H
#define WIRE_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

#define PAGE_WAITS    1024
#define PAGE_VARIABLE "ASSAY_CLOCK" /* of the environment: the page's path */

struct page_wait {
    _Atomic int32_t pid;      /* 0: free */
    _Atomic int64_t deadline; /* nanoseconds of CLOCK_MONOTONIC and the offset */
};

struct page {
    _Atomic int64_t offset; /* nanoseconds */
    struct page_wait waits[PAGE_WAITS];
};

#endif
