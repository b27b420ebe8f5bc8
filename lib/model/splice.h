/*
 * A request's body of the user's own (--context), changed in the text
 * itself: what is not changed stays byte for byte, so that a provider's
 * prompt cache still knows it. Pure.
 */
#ifndef HF_MODEL_SPLICE_H
#define HF_MODEL_SPLICE_H

#include "model/wire.h"

struct hf_splice {
	struct hf_str body;		/* the request, a JSON object */
	struct hf_str text;		/* the trailing user message */
	const char *model;		/* NULL: the body's own */
	const char *choice;		/* wire's choice_none or choice_auto;
					 * only set where tools are listed */
	int64_t max_tokens;		/* where the body has no limit */
};

/* Appends the changed body. HF_E_INVALID: it is no JSON object, has no such
 * list, or has one of the members that matter twice. *chosen, if not NULL:
 * whether the choice of tools was set. */
int	hf_splice(const struct hf_wire *w, const struct hf_splice *s,
	    struct hf_buf *out, bool *chosen, struct hf_err *err);
/* The model that the body names; none. Borrowed from *j, the caller's. */
struct hf_str hf_splice_model(struct hf_str body, struct hf_json **j);

#endif
