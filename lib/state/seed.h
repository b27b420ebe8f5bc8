/*
 * Is a seed that a session begins with one that we wrote? Anyone can type
 * the tags; a brief is ours when our records hold it.
 */
#ifndef HF_STATE_SEED_H
#define HF_STATE_SEED_H

#include "state/record.h"

struct hf_seeds {
	struct hf_store *st;		/* opened when first asked */
	bool failed;			/* no state: none is ours */
};
/* arg is a struct hf_seeds, all zero at first: the record that the seed
 * names has its hash. */
bool	hf_seed_is_ours(struct hf_str seed, void *arg);
void	hf_seeds_close(struct hf_seeds *s);

#endif
