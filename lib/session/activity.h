/*
 * What is unfinished in a session, and who has it open. Internal to
 * lib/session.
 */
#ifndef HF_SESSION_ACTIVITY_H
#define HF_SESSION_ACTIVITY_H

#include "session/figures.h"
#include "session/reread.h"

/* What the transcript alone says. */
struct hf_activity {
	enum hf_state state;		/* of the turn */
	bool torn;			/* the last line is half written */
	char *tool[HF_ACTIVITY_MAX];	/* calls without results: own names */
	size_t n;
};
void	hf_activity_release(struct hf_activity *o);

/* Reads the last message and the results behind it again for them; -1 if
 * that fails. */
int	hf_activity_open(const struct hf_fold *f, const struct hf_figures *g,
	    struct hf_reread *again, struct hf_activity *o, struct hf_err *err);
/* Sets state, activity, owned, live and quiet of m by that, by the clock and
 * by the agent's processes; m->file is set by then, if there is a file. */
void	hf_activity(const struct hf_fold *f, const struct hf_activity *o,
	    const struct hf_measure *how, struct hf_metrics *m);

#endif
