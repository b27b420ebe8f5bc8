/*
 * Secrets that are known by what carries them: the password of a URL, the
 * value of a header or of a setting that can hold nothing else, the parts
 * of a JWT. What stands there as a template ($TOKEN, <token>, {{token}}) is
 * no secret.
 */
#ifndef HF_BRIEF_CARRIERS_H
#define HF_BRIEF_CARRIERS_H

#include "brief/shapes.h"

/* Sets bit in pairs for each pair of bytes that is to be looked at. */
void	hf_carriers_init(uint8_t *pairs, uint8_t bit);
/* Does the carrier at byte at hold a secret? out is the secret alone, at
 * byte at or later. What stands before edge counts as not there. */
bool	hf_carriers_at(struct hf_str text, size_t at, size_t edge,
	    struct hf_span *out);

#endif
