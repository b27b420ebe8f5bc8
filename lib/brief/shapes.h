/*
 * What tokens of known providers look like: a prefix that nothing else has,
 * and a run of characters behind it. A rule knows a shape, not an entropy
 * (CASES S4): what merely looks random is left alone.
 */
#ifndef HF_BRIEF_SHAPES_H
#define HF_BRIEF_SHAPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "brief/grams.h"

/* Bytes of a text: [from, to). */
struct hf_span {
	size_t from, to;
};

enum { HF_SHAPES_MAX = 160 };
/* Where the rows of the table begin, by the first byte of their prefix. */
struct hf_shapes {
	uint8_t first[256];
};
/* What a scan of one text remembers, cleared before: up to where a run was
 * looked at for a row. A text made of prefixes alone would else take the
 * square of its length. */
struct hf_shapes_memo {
	bool used;
	size_t dead[HF_SHAPES_MAX];
};

/* Readies the index, and adds what a token can begin with. */
void	hf_shapes_init(struct hf_shapes *s, struct hf_grams *g);
void	hf_shapes_forget(struct hf_shapes_memo *memo);
/* Does a token begin at byte at? What stands before edge counts as not
 * there. */
bool	hf_shapes_at(const struct hf_shapes *s, struct hf_shapes_memo *memo,
	    struct hf_str text, size_t at, size_t edge, struct hf_span *out);
/* Can a token begin at byte at: is no letter or digit before it (a colour's
 * escape sequence apart)? */
bool	hf_shapes_edge(struct hf_str text, size_t at, size_t edge);

#endif
