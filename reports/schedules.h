/* The schedules of findings, as findings/NAME/finding.json has them, put into the document that the
 * page is drawn from: as many as there is room for.
 *
 * (SC1) What the page cannot hold goes in this order: full schedules first, then those that pass,
 *       the shrunk ones last; of a finding that was not made smaller the full one counts as shrunk.
 * (SC2) Nothing goes without a word: a finding's "left_out" has an entry for every schedule that it
 *       lacks, with why, and the file that it is in if there is one. */
#ifndef REPORTS_SCHEDULES_H
#define REPORTS_SCHEDULES_H

#include <jansson.h>
#include <stddef.h>

/* Gives every finding of the list its "schedules", "left_out" and "parts_at", and its story's
 * sentence; or, if it has no schedule, its story as "words". `room`: bytes that they may take as text. */
void schedules_add(json_t *findings, const char *folder, size_t room);

#endif
