/*
 * What is unfinished in a session, and who has it open. Internal to
 * lib/session.
 */
#ifndef HF_SESSION_ACTIVITY_H
#define HF_SESSION_ACTIVITY_H

#include "session/figures.h"
#include "session/reread.h"

/* Sets state, activity, owned, live and quiet of m; m->file is set by
 * then, if there is a file. Reads the last message and the results behind
 * it again; -1 if that fails. */
int	hf_activity(const struct hf_fold *f, const struct hf_figures *g,
	    struct hf_reread *again, const struct hf_measure *how,
	    struct hf_metrics *m, struct hf_err *err);

#endif
