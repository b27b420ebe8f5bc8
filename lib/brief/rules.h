/*
 * The rules that a user stated, sentence by sentence, with where each
 * stands and which later one supersedes it. The computed brief and the
 * check of a model's use the same list.
 */
#ifndef HF_BRIEF_RULES_H
#define HF_BRIEF_RULES_H

#include "brief/brief.h"
#include "brief/units.h"
#include "session/facts.h"

enum { HF_RULES_MAX = 512, HF_SENTENCES_MAX = 16384 };

struct hf_rule {
	struct hf_str text;		/* borrowed from the facts */
	struct hf_units units;
	uint32_t at;			/* place on the branch */
	bool superseded;		/* a later one gives other numbers */
};
struct hf_rules {
	struct hf_rule *rule;		/* newest first */
	size_t n;
	struct hf_brief seed;		/* what the session began with */
};
/* seeded: the brief that the session began with is one of ours, and its
 * constraints count, as the oldest. */
void	hf_rules_read(struct hf_rules *r, const struct hf_facts *f,
	    bool seeded);
void	hf_rules_release(struct hf_rules *r);
/* Is text one of them, in percent of its matter, the same in what it
 * forbids? *which (may be NULL) gets the one that fits best. */
int	hf_rules_match(const struct hf_rules *r, const struct hf_units *u,
	    const struct hf_rule **which);

#endif
