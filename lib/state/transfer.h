/*
 * The whole state as one value: the seed's handoffs.json, version 1, with
 * the redirects (DESIGN section 11). What that shape has no room for stands
 * beside it in members of our own.
 */
#ifndef HF_STATE_TRANSFER_H
#define HF_STATE_TRANSFER_H

#include "json/json.h"
#include "state/store.h"

/* *out is a node of t. What cannot be read is warned of and left out. */
int	hf_transfer_export(struct hf_store *st, struct hf_jtree *t,
	    struct hf_jnode **out, struct hf_err *err);

struct hf_transfer {
	size_t mains, records, routes;	/* taken over */
	size_t kept;			/* were there already, as they are */
	size_t refused;			/* warned of */
};
/* Adds what is in v to the state; what is there already is kept. Attempts
 * that were open there are failed here. HF_E_INVALID when v is of another
 * shape or version. */
int	hf_transfer_import(struct hf_store *st, const struct hf_jval *v,
	    struct hf_transfer *out, struct hf_err *err);

#endif
