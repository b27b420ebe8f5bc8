/*
 * The transaction's second half: a document with a brief becomes a
 * successor, and its source leads there (DESIGN section 7).
 *
 * The order of what is durable: record with the brief and the complete
 * draft, both flushed; the redirect by compare-and-set, the one commit
 * point; then forward.h. stable() is asked before the draft and again
 * immediately before the redirect, and no program runs in between.
 */
#ifndef HF_STATE_COMMIT_H
#define HF_STATE_COMMIT_H

#include "state/begin.h"

/* Commits the attempt of the document, or, when it has none, begins and
 * commits one in one go. Sets "commit". The same brief again is the same
 * success. Errors: HF_E_MISSING (no brief), HF_E_CONFLICT (another brief
 * for a committed attempt), HF_E_BUSY (another process is at it),
 * HF_E_CHANGED, HF_E_VETOED, HF_E_BLOCKED: then nothing is left of the
 * successor, and the record says why. HF_E_IO and others may also come
 * after the commit point; "commit" then has the phase committed. */
int	hf_commit(struct hf_store *st, const struct hf_begin *how,
	    struct hf_doc *d, struct hf_err *err);

/* Records that the attempt of a document failed: as its error says, else
 * as why says. Nothing when it has no attempt or one that is over. */
int	hf_commit_fail(struct hf_store *st, const struct hf_doc *d,
	    const struct hf_err *why, struct hf_err *err);

#endif
