/*
 * Passwords in URLs.
 */
#ifndef HF_BRIEF_URLS_H
#define HF_BRIEF_URLS_H

#include "brief/shapes.h"

/* Does the URL whose "://" stands at byte at have a password, or a token in
 * the user's place? out is that alone. What stands before edge counts as
 * not there. */
bool	hf_urls_at(struct hf_str text, size_t at, size_t edge,
	    struct hf_span *out);

#endif
