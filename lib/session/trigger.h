/*
 * Is a handoff due, and may it happen now? A pure function of the document
 * and the configuration (DESIGN section 3; CASES T1 to T6). hf-trigger,
 * stable() before the commit and status all call it.
 */
#ifndef HF_SESSION_TRIGGER_H
#define HF_SESSION_TRIGGER_H

#include "session/metrics.h"

enum { HF_BLOCKERS_MAX = 64 };

/* What of the session's main matters; from the document's "main". */
struct hf_trigger_main {
	bool known;		/* the document has a main */
	bool registered;	/* it is stored (a session unknown to the state
				 * has a main that says null) */
	bool enabled, requested, redirected;
	struct hf_str blockers[HF_BLOCKERS_MAX];	/* as join put them */
	size_t nblockers;
};

struct hf_trigger_in {
	const struct hf_session *session;
	const struct hf_metrics *metrics;
	const struct hf_trigger_main *main;
	const struct hf_config *config;
	const struct hf_jval *host;	/* a hook's JSON; NULL */
	bool manual, automatic;
};
struct hf_trigger {
	const char *reason;	/* NULL, "manual", "context-pressure",
				 * "repeated-compaction" */
	int64_t threshold, headroom;	/* tokens; headroom may be negative */
	const char *guard;	/* NULL or the first that fails */
	char *blockers[HF_BLOCKERS_MAX];	/* own */
	size_t nblockers;
	bool due;
};
/* How many tokens are enough, by the configuration and the window. */
int64_t	hf_trigger_threshold(const struct hf_config *c,
	    const struct hf_metrics *m);
void	hf_trigger_decide(const struct hf_trigger_in *in,
	    struct hf_trigger *out);
void	hf_trigger_release(struct hf_trigger *t);

/* Reads "main" of a document. */
void	hf_trigger_main_from(const struct hf_jval *main,
	    struct hf_trigger_main *out);
/* Sets "trigger" of a document. */
void	hf_trigger_to_doc(struct hf_doc *d, const struct hf_trigger *t);

#endif
