/*
 * The key of a provider: from the variable or the program that the
 * configuration names, fetched once. While one is held the process leaves
 * no core and cannot be looked into by others of the same user.
 */
#ifndef HF_MODEL_KEY_H
#define HF_MODEL_KEY_H

#include "config/config.h"

struct hf_api_key {
	char *value;			/* NULL: there is none */
	bool looked;			/* for it, already */
};
#define HF_API_KEY_INIT	{ NULL, false }

/* Looks once: keyCommand, else the variable keyEnv, else the variable usual
 * (may be NULL). That there is none is no error. HF_E_CONFIG: the program
 * fails, or what is there can be no key. Never has the key in a message. */
int	hf_api_key_get(struct hf_api_key *k, const struct hf_config *c,
	    const char *usual, struct hf_err *err);
/* Wipes it. */
void	hf_api_key_release(struct hf_api_key *k);

#endif
