/*
 * An attempt on its way: what its steps share (DESIGN section 7).
 */
#ifndef HF_STATE_ATTEMPT_H
#define HF_STATE_ATTEMPT_H

#include "base/step.h"
#include "json/doc.h"
#include "state/main.h"
#include "state/record.h"

/* How long a lease lasts: the summary's time limit and a margin. */
int64_t	hf_attempt_seconds(const struct hf_config *c);
/* The process that the steps of a handoff belong to, as HANDOFF_OWNER names
 * it: when it dies, nobody goes on. 0: not told. */
long	hf_attempt_owner(void);

/* A named fault point: -1 with *err when a failure was asked for. */
#ifdef HF_FAULTS
int	hf_attempt_step(const char *name, struct hf_err *err);
#else
#define hf_attempt_step(name, err)	((void)(err), 0)
#endif

/* Sets "commit" of a document: attempt, epoch, phase, reason, focus, brief
 * (its hash), target, and the lease under which the next step may go on. */
void	hf_attempt_to_doc(struct hf_doc *d, const struct hf_attempt *r,
	    const struct hf_lease *lease);
/* The document that a hook is told with, made from the record alone. */
void	hf_attempt_document(const struct hf_attempt *r, struct hf_buf *out);

/* Undoes an attempt that was not committed: nobody can commit it any more,
 * its draft is gone, its record says failed and why, and it is no longer
 * open; what another machine has of it stays open for that one. Again from
 * the start it comes to the same. HF_E_CONFLICT when it was
 * committed: then nothing is done. */
int	hf_attempt_undo(struct hf_store *st, struct hf_attempt *r,
	    const struct hf_err *why, struct hf_err *err);

#endif
