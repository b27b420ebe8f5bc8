/*
 * Secrets that are known by what carries them: the password of a URL, the
 * value of a header or of a setting that can hold nothing else, the parts
 * of a JWT. What stands there as a template ($TOKEN, <token>, {{token}}) is
 * no secret.
 */
#ifndef HF_BRIEF_CARRIERS_H
#define HF_BRIEF_CARRIERS_H

#include "brief/shapes.h"

/* Where the names of a letter begin in the table. */
struct hf_carriers {
	uint8_t first[32];
};

/* Readies the index, and adds what a carrier can begin with. */
void	hf_carriers_init(struct hf_carriers *c, struct hf_grams *g);
/* Does the carrier at byte at hold a secret? out is the secret alone, at
 * byte at or later. What stands before edge counts as not there. */
bool	hf_carriers_at(const struct hf_carriers *c, struct hf_str text,
	    size_t at, size_t edge, struct hf_span *out);

#endif
