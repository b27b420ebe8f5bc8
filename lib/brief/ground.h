/*
 * Checking a brief against the transcript (DESIGN section 5; CASES V5 to
 * V8), and its mechanical, visible repair: what the transcript does not
 * bear out moves to the uncertainties with the reason; what the brief
 * forgot is added in the transcript's own words.
 */
#ifndef HF_BRIEF_GROUND_H
#define HF_BRIEF_GROUND_H

#include "brief/brief.h"
#include "session/facts.h"

enum hf_ground_mode {
	HF_GROUND_REPAIR,
	HF_GROUND_STRICT,	/* the first finding is HF_E_INVALID_BRIEF */
	HF_GROUND_SCORE		/* says what it found, changes nothing */
};

struct hf_ground {
	enum hf_ground_mode mode;
	struct hf_str home;	/* of the user; none: not told */
	/* Is this seed, as the session holds it, a brief of ours? Then what
	 * it says counts as the user's own words. NULL: none is. */
	bool (*ours)(struct hf_str seed, void *arg);
	void *arg;
	/* Appends a text of the transcript with its secrets masked, for what
	 * is put back or reported; NULL: as it is. */
	void (*mask)(struct hf_buf *out, struct hf_str text, void *arg);
	void *mask_arg;
};

/* Walks w from its start. Repairs b in place; returns the "validation"
 * member, a node of t; NULL and *err. */
struct hf_jnode *hf_ground(const struct hf_ground *how, struct hf_brief *b,
	    struct hf_walk *w, struct hf_jtree *t, struct hf_err *err);

#endif
