/*
 * events.jsonl in the state folder: one line a change of state, for people
 * and monitors. It is rotated at HF_EVENTS_MAX and never read back as
 * truth, so what goes wrong with it stops nothing.
 */
#ifndef HF_STATE_EVENTS_H
#define HF_STATE_EVENTS_H

#include "state/record.h"

enum { HF_EVENTS_MAX = 1 << 20 };

/* What happened to an attempt, or to a session; to may be NULL. */
void	hf_event_attempt(const char *event, const struct hf_attempt *r);
void	hf_event_session(const char *event, const char *agent,
	    const char *id, const char *to);

#endif
