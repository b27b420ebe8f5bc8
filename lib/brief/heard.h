/*
 * Who said a thing: the user, in any of his sentences, or only the agent,
 * its tools and what they read. A constraint of a brief must be the user's;
 * other words for the same are no lie.
 */
#ifndef HF_BRIEF_HEARD_H
#define HF_BRIEF_HEARD_H

#include "brief/rules.h"

struct hf_heard {
	const struct hf_rules *rules;	/* borrowed */
	struct hf_units *said;		/* the user's sentences */
	bool *taken;			/* by a constraint that is it */
	size_t n;
};
/* Of the requests, and of what the seed has from the user. */
void	hf_heard_read(struct hf_heard *h, const struct hf_facts *f,
	    const struct hf_rules *rules);
void	hf_heard_release(struct hf_heard *h);

enum hf_heard_as {
	HF_HEARD,		/* he said so */
	HF_HEARD_ALIKE,		/* something like it: see who else did */
	HF_HEARD_OPPOSITE,	/* he said it must not be, or the reverse */
	HF_HEARD_OTHER_NUMBER,	/* he said so of another number */
	HF_HEARD_NOT
};
/* *percent gets how much of it is in the sentence that is nearest. What is
 * HF_HEARD takes its sentence: another constraint that is only like it says
 * something else. */
enum hf_heard_as hf_heard_user(struct hf_heard *h, const struct hf_units *u,
	    int *percent);
/* How much of each of the n texts is in a sentence that others said: best
 * gets it in percent. Walks w from its start. */
int	hf_heard_others(struct hf_walk *w, const struct hf_units *u, int *best,
	    size_t n, struct hf_err *err);

#endif
