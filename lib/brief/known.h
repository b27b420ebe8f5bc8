/*
 * The values that are known to be secret, from where they stand.
 */
#ifndef HF_BRIEF_KNOWN_H
#define HF_BRIEF_KNOWN_H

#include "base/err.h"
#include "brief/literals.h"
#include "config/config.h"

/* Adds those of the environment, of cwd's .env and of the secrets file;
 * contracts as hf_secrets_load. */
int	hf_known_load(struct hf_literals *l, const struct hf_config *c,
	    const char *cwd, struct hf_err *err);
/* Does a variable's name say that its value is secret? */
bool	hf_known_name(struct hf_str name);
/* Is it a name that a shell can use, of three characters and more? */
bool	hf_known_variable(struct hf_str name);

#endif
