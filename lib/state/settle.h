/*
 * Waiting until an agent has finished writing a turn down: at its Stop hook
 * the transcript need not be complete yet.
 */
#ifndef HF_STATE_SETTLE_H
#define HF_STATE_SETTLE_H

#include "state/main.h"

/* 1: the session is at rest, and a handoff of it is wanted: asked for, or
 * both switches are on. 0: none is wanted (any more). HF_E_TIMEOUT when it
 * does not come to rest within that many seconds; HF_E_CANCELLED. */
int	hf_settle(struct hf_store *st, const struct hf_session *s,
	    int64_t seconds, struct hf_err *err);
/* Is one wanted? 1, 0, -1. */
int	hf_settle_wanted(struct hf_store *st, const struct hf_config *c,
	    const char *agent, const char *id, struct hf_err *err);
/* Is it in the middle of something? From the transcript alone. 1, 0, -1. */
int	hf_settle_busy(const struct hf_config *c, const char *path,
	    struct hf_err *err);

#endif
