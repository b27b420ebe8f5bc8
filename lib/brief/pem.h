/*
 * Private keys in PEM form and what is left of them: with line numbers,
 * quotes or "\n" between the lines, cut at either end. The text around them
 * is found by what it is not: lines of base64.
 */
#ifndef HF_BRIEF_PEM_H
#define HF_BRIEF_PEM_H

#include "brief/shapes.h"

/* Does a private key begin with the five dashes at byte at? A mention of
 * the first line without a key behind it does not count. */
bool	hf_pem_at(struct hf_str text, size_t at, struct hf_span *out);
/* Do they begin the last line of one, whose lines stand before it? out then
 * begins with these, at edge or later. */
bool	hf_pem_tail(struct hf_str text, size_t at, size_t edge,
	    struct hf_span *out);

#endif
