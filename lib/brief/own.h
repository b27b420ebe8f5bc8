/*
 * What of a request is the user's own: without what was pasted, what a
 * later word took back, and, behind the first sentence, without the rules,
 * which stand among the constraints.
 */
#ifndef HF_BRIEF_OWN_H
#define HF_BRIEF_OWN_H

#include "brief/rules.h"

/* Appends the request's own words, at most max bytes: whole sentences of its
 * beginning and its end. Where that leaves no more than "yes, go on" the
 * rules too. What was pasted leaves a mark. */
void	hf_own_words(struct hf_buf *out, const struct hf_rules *rules,
	    struct hf_str request, size_t max);

/* Does a request say something by itself, or is "yes, go on" in it, or
 * nothing but that, or nothing of the user's at all? */
enum hf_own { HF_OWN_EMPTY, HF_OWN_GO_ON, HF_OWN_LEANS, HF_OWN_STANDS };
enum hf_own hf_own_lean(struct hf_str request);

/* The requests that tell what the user wants now: the last one, and where it
 * leans on what was said before, those up to the last that stands. */
enum { HF_TOLD_MAX = 4 };
struct hf_told {
	const struct hf_fact_text *r[HF_TOLD_MAX];	/* the last one first */
	size_t n;
	bool stands;		/* the oldest of them does */
};
void	hf_own_told(struct hf_told *t, const struct hf_facts *f);

#endif
