/* A finding as files: what is left in findings/NAME/ of a run that broke a promise.
 *
 *      schedule.json   the run as it was found, for assay replay
 *      shrunk.json     the smallest that was found to break the same promise
 *      trace.txt       that one, a line an event
 *      words.txt       its story
 *      finding.json    the same as data: what report.html draws */
#ifndef VERIFY_FINDING_H
#define VERIFY_FINDING_H

#include "reports/artefacts.h"
#include "sim/run.h"
#include "sim/schedule.h"

#define FINDING_NAME_SIZE 96

struct finding {
    const char *name;
    const struct schedule *full;
    const struct schedule *shrunk;     /* NULL: it could not be made smaller */
    const struct choice_list *passing; /* of the shrunk one's scenario; NULL: none is known */
    const char *words;                 /* the story */
    const bool *without;               /* clauses and oracles that are switched off */
    const bool *silent;
};

/* "tree-3-ACL-21-semaphore"; a scenario that was asked for by its path is called by its name. */
void finding_name(char name[FINDING_NAME_SIZE], const char *scenario, enum clause_id clause,
                  const char *oracle);

/* Writes the files. False: artefacts->problem says what could not be written, or no memory. */
bool finding_keep(struct artefacts *artefacts, const struct finding *finding);

#endif
