/*
 * Which session a person means (DESIGN section 10).
 */
#ifndef HF_STATE_PICK_H
#define HF_STATE_PICK_H

#include "state/main.h"

/* what not NULL: a session by path, id, prefix or title, also one that only
 * the state still knows. NULL: inside an agent that very session; else the
 * newest of this folder that is not redirected, not archived, not a
 * sub-agent's and not headless; HF_E_USAGE listing them when several of
 * those are open in an agent. HF_E_NOT_FOUND names the folder. */
int	hf_pick(struct hf_store *st, const char *what, struct hf_session *s,
	    struct hf_err *err);

#endif
