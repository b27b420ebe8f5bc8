/*
 * The brief without a model (DESIGN section 6): all eight fields computed
 * from the facts. Deterministic: the same facts give the same brief.
 */
#ifndef HF_BRIEF_EXTRACT_H
#define HF_BRIEF_EXTRACT_H

#include "brief/brief.h"
#include "session/facts.h"

struct hf_extract {
	struct hf_str focus;		/* what the user wants first; none */
	int64_t budget;			/* tokens, about; 0: 4000 */
	bool seeded;			/* the brief that the session began
					 * with is one of ours: it counts */
};
int	hf_extract(const struct hf_facts *f, const struct hf_extract *how,
	    struct hf_brief *out, struct hf_err *err);

#endif
