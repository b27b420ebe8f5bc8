/*
 * The transcript as plain text, for a model (DESIGN section 4): what the
 * session's own model still sees, in order, with roles. Tool results are
 * cut, images and thinking left out, injected rows left out, open calls
 * marked "interrupted", our tags neutralised. The text is valid UTF-8.
 */
#ifndef HF_SESSION_RENDER_H
#define HF_SESSION_RENDER_H

#include "session/walk.h"

enum { HF_RENDER_RESULT = 2000 };	/* characters of a tool result */

struct hf_render {
	size_t budget;		/* bytes at most; 0: no limit. What does not
				 * fit goes in this order: old tool results,
				 * old calls, old answers; the user's own words
				 * stay; each gap leaves a line with its size */
	/* Called on each text before it is cut or escaped: appends the text
	 * with its secrets masked. NULL: as it is. */
	void (*mask)(struct hf_buf *out, struct hf_str text, void *arg);
	void *mask_arg;
	/* results */
	size_t elided;		/* bytes left out for the budget */
	size_t rows;
};
int	hf_render(struct hf_walk *w, struct hf_render *r, struct hf_buf *out,
	    struct hf_err *err);

/* Appends text with anything that looks like <handoff-context> or its end,
 * in any case and spacing, made harmless ("&lt;…"). */
void	hf_render_escape(struct hf_buf *out, struct hf_str text);

#endif
