/*
 * Old records go; what anything still needs stays.
 */
#ifndef HF_STATE_PRUNE_H
#define HF_STATE_PRUNE_H

#include "state/store.h"

/* Removes the records of attempts that began more than days ago and are
 * over, unless a route was made by them, they are the last of their session
 * or they are open; and temporary files that a killed process left in the
 * state. *removed counts records. */
int	hf_prune(struct hf_store *st, int64_t days, size_t *removed,
	    struct hf_err *err);

#endif
