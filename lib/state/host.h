/*
 * What an agent's hook tells us, and what it is answered (DESIGN section 9).
 * Nothing here may break the agent: a failure is the caller's to warn of,
 * with status 0 and nothing on stdout.
 */
#ifndef HF_STATE_HOST_H
#define HF_STATE_HOST_H

#include "config/config.h"
#include "state/main.h"

struct hf_host {
	const char *driver;		/* the handoff command, absolute */
	const char *agent;		/* NULL: told by the JSON */
	const char *event;		/* NULL: told by the JSON */
	struct hf_str json;		/* as the agent gave it */
};

/* Answers one event: what stdout is to get is appended to out, what stderr
 * is to get (the reason of a compaction that is stopped) to said, and
 * *status is what to exit with. delivered is to be called once out is
 * written: until then what it hands over is not acknowledged. -1 with *err;
 * then out is empty. */
struct hf_host_answer {
	struct hf_buf out, said;
	int status;
	void *own;			/* internal */
};
int	hf_host(struct hf_store *st, const struct hf_config *c,
	    const struct hf_host *h, struct hf_host_answer *a,
	    struct hf_err *err);
/* out is written (written true), or could not be. */
int	hf_host_done(struct hf_store *st, struct hf_host_answer *a,
	    bool written, struct hf_err *err);

/* Has a detached run wait until the session's turn is over and then hand it
 * off, if that is wanted by then. */
int	hf_host_wait(const char *driver, const char *agent, const char *id,
	    int64_t seconds, struct hf_str json, struct hf_err *err);

#endif
