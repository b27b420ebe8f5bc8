/*
 * Step 5 of the transaction: the attempt is marked (DESIGN section 7).
 */
#ifndef HF_STATE_BEGIN_H
#define HF_STATE_BEGIN_H

#include "state/attempt.h"

struct hf_begin {
	const char *to;		/* the successor's agent; NULL: as requested,
				 * else the source's */
	const char *focus;	/* NULL: as requested */
	bool at_once;		/* the commit follows in the same call: the
				 * hook is asked there, the lease is ours */
};

/* Marks an attempt for a document that is due, or that has no trigger: then
 * it is decided here as one that was asked for. *r is the record (to be
 * released by the caller, also after a failure), *lease what the main
 * holds. HF_E_BUSY when another attempt is under way, HF_E_CHANGED when the
 * session was handed off meanwhile, HF_E_VETOED. After a failure nothing is
 * marked. */
int	hf_begin(struct hf_store *st, const struct hf_begin *how,
	    const struct hf_doc *d, struct hf_attempt *r,
	    struct hf_lease *lease, struct hf_err *err);

/* Keeps what holds up a document that is not due in the main of a
 * registered session, for status. */
int	hf_begin_defer(struct hf_store *st, const struct hf_doc *d,
	    struct hf_err *err);

/* Was the document's handoff decided without anyone asking for it? */
bool	hf_begin_automatic(const struct hf_doc *d);

#endif
