/*
 * What a user laid down, sentence by sentence: rules and decisions, with
 * where each stands and which later one takes its place. The computed brief
 * and the check of a model's use the same list.
 */
#ifndef HF_BRIEF_RULES_H
#define HF_BRIEF_RULES_H

#include "brief/brief.h"
#include "brief/units.h"
#include "session/facts.h"

enum { HF_RULES_MAX = 768, HF_SENTENCES_MAX = 16384 };

struct hf_rule {
	struct hf_str text;		/* in the arena, blanks made single */
	struct hf_units units;
	uint32_t at;			/* place on the branch; 0: the seed's */
	bool rule, decision;		/* which of them it is; neither: it
					 * only takes something back */
	bool superseded;		/* a later one says otherwise */
	bool repeated;			/* a later one says the same */
	const struct hf_rule *by;	/* that one */
};
struct hf_rules {
	struct hf_rule *rule;		/* newest first */
	size_t n;
	struct hf_brief seed;		/* what the session began with */
	struct hf_arena arena;
};
/* seeded: the brief that the session began with is one of ours, and its
 * constraints and decisions count, as the oldest. */
void	hf_rules_read(struct hf_rules *r, const struct hf_facts *f,
	    bool seeded);
void	hf_rules_release(struct hf_rules *r);
/* Does it still hold, and is it said nowhere else? */
bool	hf_rule_holds(const struct hf_rule *rule);
/* Is text one of the rules, in percent of its matter, the same in what it
 * forbids? *which (may be NULL) gets the one that fits best. */
int	hf_rules_match(const struct hf_rules *r, const struct hf_units *u,
	    const struct hf_rule **which);
/* Does a later statement take the place of what text says? */
bool	hf_rules_outdated(const struct hf_rules *r, struct hf_str text);
/* Are two texts the same but for case, blanks and marks? */
bool	hf_rules_same_text(struct hf_str a, struct hf_str b);

#endif
