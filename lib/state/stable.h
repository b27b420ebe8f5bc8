/*
 * Is a source session still what was summarised, and may it still be handed
 * off (DESIGN section 7, stable())?
 */
#ifndef HF_STATE_STABLE_H
#define HF_STATE_STABLE_H

#include "session/trigger.h"
#include "state/main.h"

struct hf_stable {
	const struct hf_session *session;	/* as they were measured */
	const struct hf_metrics *metrics;
	const struct hf_jval *host;		/* a hook's JSON; NULL */
	bool automatic;			/* by itself: both switches count */
};

/* Asks the disk again; the cheap check of the file first, all of it if that
 * differs. m is the session's main of now. HF_E_CHANGED saying what is
 * another. */
int	hf_stable(const struct hf_stable *s, const struct hf_config *c,
	    const struct hf_main *m, struct hf_err *err);

/* May a handoff that was asked for begin at all? What hf-trigger would say,
 * as an error: HF_E_BUSY, HF_E_BLOCKED, HF_E_CONFLICT (redirected),
 * HF_E_REFUSED. */
int	hf_stable_may(const struct hf_stable *s, const struct hf_config *c,
	    const struct hf_main *m, struct hf_err *err);

/* A guard's or a blocker's reason in words, for messages: "it is in the
 * middle of a turn". Borrowed. */
const char *hf_stable_words(const char *guard);

#endif
