/*
 * The request for a brief as text: the rendered transcript first, what
 * code knows already, the instruction last (DESIGN section 4). Every part
 * has its secrets masked.
 */
#ifndef HF_MODEL_PROMPT_H
#define HF_MODEL_PROMPT_H

#include "brief/secrets.h"
#include "session/facts.h"
#include "session/render.h"

struct hf_prompt {
	/* in */
	struct hf_secrets *secrets;	/* NULL: nothing is masked (tests) */
	struct hf_str focus;		/* none: the default one for automatic
					 * runs, nothing for manual ones */
	bool automatic;
	size_t budget;			/* bytes for all of it; 0: no limit.
					 * What has to go is the transcript's,
					 * render.h; never below a few KB */
	/* out */
	struct hf_buf transcript;	/* with its frame */
	struct hf_buf instruction;
	size_t elided, rows;
};

/* Renders w and builds both parts. facts may be NULL. */
int	hf_prompt_build(struct hf_prompt *p, struct hf_walk *w,
	    const struct hf_facts *facts, struct hf_err *err);
/* Only the instruction: for a request that has the conversation itself. */
void	hf_prompt_instruct(struct hf_prompt *p, const struct hf_facts *facts);
/* Both, as one user message. */
void	hf_prompt_text(const struct hf_prompt *p, struct hf_buf *out);
void	hf_prompt_release(struct hf_prompt *p);

#endif
