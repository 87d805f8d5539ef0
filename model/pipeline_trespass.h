/* Trespasses: what no phase of the pipeline does and no principal may, tried on purpose between two
 * transactions of a worker. A store that grants too much is found only this way: a sound engine
 * never asks for more than it may have.
 *
 * (TP1) Each is one call in the name of one principal, on rows that are there: without the grants no
 *       key or reference would refuse it, nor a guard unless others have been faster. A sound store
 *       answers 42501 to every one of them (CUT-11, CUT-24).
 * (TP2) It leaves the worker as it was, but for a lost connection, which is a try (PI3). */
#ifndef MODEL_PIPELINE_TRESPASS_H
#define MODEL_PIPELINE_TRESPASS_H

#include "model/pipeline.h"

/* How many of them the worker could try now. */
unsigned pipeline_trespass_count(const struct pipeline_worker *worker);

/* The transaction that is `which` of those. */
void pipeline_trespass_build(const struct pipeline_worker *worker, unsigned which,
                             struct bundle *next);

/* Asserts (TP2) once its outcome was taken. */
void pipeline_trespass_check(const struct pipeline_worker *before,
                             const struct pipeline_worker *after, const struct outcome *last);

#endif
