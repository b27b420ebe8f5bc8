/*
 * The switches of a session: may it be handed off by itself, and was it
 * asked for.
 */
#ifndef HF_STATE_SWITCHES_H
#define HF_STATE_SWITCHES_H

#include "state/main.h"

enum { HF_REQUEST_SECONDS = 6 * 3600 };

enum hf_switch {
	HF_SWITCH_ENABLE,
	HF_SWITCH_DISABLE,	/* and no request, and no attempt goes on */
	HF_SWITCH_REQUEST,
	HF_SWITCH_CANCEL	/* no request, and no attempt goes on */
};
struct hf_request {
	int64_t until;		/* ms */
	const char *focus, *to;	/* NULL: none */
};

/* Sets a switch of the session that m (as hf_main_find left it) is about;
 * *m is the main as it is then. HF_E_REFUSED for another user's session,
 * HF_E_CONFLICT for enabling or requesting one that was handed off. */
int	hf_switch_set(struct hf_store *st, struct hf_main *m,
	    enum hf_switch what, const struct hf_request *req,
	    struct hf_err *err);

#endif
