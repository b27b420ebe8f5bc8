/*
 * A call of a model's API from the request to the text: retries, deadlines,
 * what each failure comes to (DESIGN section 4, CASES B2 to B6, B10, B11).
 */
#ifndef HF_MODEL_CALL_H
#define HF_MODEL_CALL_H

#include "model/provider.h"
#include "model/wire.h"

/* As hf_provider.ask, for the provider p whose API speaks w. */
int	hf_call(const struct hf_provider *p, const struct hf_wire *w,
	    const struct hf_ask *q, struct hf_answer *a, struct hf_err *err);

#endif
