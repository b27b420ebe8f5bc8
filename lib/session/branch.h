/*
 * The active branch: which row is the leaf, and the way to it from the
 * root. Internal to lib/session.
 */
#ifndef HF_SESSION_BRANCH_H
#define HF_SESSION_BRANCH_H

#include "session/fold.h"

struct hf_branch {
	uint32_t first, leaf;	/* nodes; HF_NONE: no row of the chain */
	size_t n;		/* how many */
};

/* Finds it, in time linear in the rows; a parent that is not there ends
 * the walk, and so does a cycle. Results of calls that were made at once
 * are on it, whichever of them leads on. The fold's links lead down the branch
 * from then on: hf_branch_next. Once a fold. */
void	hf_branch_find(struct hf_fold *f, struct hf_branch *b);
/* The node after i; HF_NONE behind the leaf. */
uint32_t hf_branch_next(const struct hf_fold *f, uint32_t i);

#endif
