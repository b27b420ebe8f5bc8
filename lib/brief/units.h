/*
 * What a sentence is about: its words of content as numbers, so that two
 * sentences can be compared whatever their wording around it. Chinese,
 * Japanese and Korean, which have no blanks, are taken in pairs of
 * characters.
 */
#ifndef HF_BRIEF_UNITS_H
#define HF_BRIEF_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum { HF_UNITS_MAX = 128 };

struct hf_units {
	uint64_t h[HF_UNITS_MAX];	/* sorted, each once */
	size_t n;
	uint64_t number[16];		/* the numbers among them */
	size_t nnumbers;
	uint64_t name[16];		/* paths and identifiers, whole */
	size_t nnames;
	bool negative;			/* forbids rather than demands */
	bool denies;			/* internal: the last word did */
};
void	hf_units_of(struct hf_units *u, struct hf_str text);
/* How much of a is in b, in percent; 0 when a has nothing. */
int	hf_units_in(const struct hf_units *a, const struct hf_units *b);
/* How much of a but its numbers. */
int	hf_units_in_words(const struct hf_units *a, const struct hf_units *b);
/* Do both say the same numbers? Has b all those of a? */
bool	hf_units_same_numbers(const struct hf_units *a,
	    const struct hf_units *b);
bool	hf_units_has_numbers(const struct hf_units *a,
	    const struct hf_units *b);
/* Do both name files or identifiers, and none of them is the same? */
bool	hf_units_other_names(const struct hf_units *a,
	    const struct hf_units *b);
/* The same matter with other numbers: one of them is superseded. */
bool	hf_units_conflict(const struct hf_units *a,
	    const struct hf_units *b);
/* Is the word one of u's? */
bool	hf_units_word(const struct hf_units *u, struct hf_str word);

#endif
