/*
 * Whether commands bear out what a brief says: what was run, what came of
 * it, and what was edited since. The computed brief and the check of a
 * model's ask the same questions.
 */
#ifndef HF_BRIEF_PROOF_H
#define HF_BRIEF_PROOF_H

#include "brief/brief.h"
#include "session/facts.h"

struct hf_proof {
	const struct hf_facts *f;	/* borrowed */
	const struct hf_brief *seed;	/* what the session began with, if it
					 * is ours; NULL. Borrowed */
	unsigned *kinds;		/* of each command: HF_CHECK_… */
	unsigned char *checks;		/* of each: which of its parts check
					 * something, a bit a part */
};
void	hf_proof_init(struct hf_proof *p, const struct hf_facts *f,
	    const struct hf_brief *seed);
void	hf_proof_release(struct hf_proof *p);

/* Does command i check something, rather than look around or work? */
bool	hf_proof_checks(const struct hf_proof *p, size_t i);
/* Is its failure over: did it, or one that looks at no less, succeed
 * later? */
bool	hf_proof_overcome(const struct hf_proof *p, size_t i);
/* Did the same run again later, whatever came of it? */
bool	hf_proof_ran_again(const struct hf_proof *p, size_t i);
/* Did command i succeed, after the last edit, and did no later run of it or
 * of a part of it fail? */
bool	hf_proof_holds(const struct hf_proof *p, size_t i);
/* The command that the item names in backticks: did it succeed, as it ran
 * last? Did it run at all? */
bool	hf_proof_succeeded(const struct hf_proof *p, struct hf_str item);
bool	hf_proof_ran(const struct hf_proof *p, struct hf_str item);

/* Does the item name a command that ran, and none of its runs printed the
 * number, whose digits these are? */
bool	hf_proof_other_number(const struct hf_proof *p, struct hf_str item,
	    struct hf_str digits);

/* The last edit of what the item speaks of: the files that it names, else
 * any that is no prose; 0: none. */
uint32_t hf_proof_last_edit(const struct hf_facts *f, struct hf_str item);
/* NULL when a command bears the item out, or it stood in the seed and
 * nothing happened since; else why not: "claimed verified, …". */
const char *hf_proof_missing(const struct hf_proof *p, struct hf_str item);

#endif
