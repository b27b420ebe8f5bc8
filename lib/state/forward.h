/*
 * What comes after the commit point: only forward. Each step is one that
 * can be done again, by recover too (DESIGN section 7, step 8).
 */
#ifndef HF_STATE_FORWARD_H
#define HF_STATE_FORWARD_H

#include "state/attempt.h"

/* Publishes the successor, enters it into the state, starts it, and closes
 * the attempt; *r (its record, committed by a redirect) tells how far it
 * came. 0, also when only the start failed: r->phase is then
 * HF_PHASE_PENDING and r->error says why. -1: it is committed, but not yet
 * published; the attempt stays open for recover. */
int	hf_forward(struct hf_store *st, const struct hf_config *c,
	    struct hf_attempt *r, struct hf_err *err);

#endif
