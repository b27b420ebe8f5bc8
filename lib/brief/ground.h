/*
 * Checking a brief against the transcript (DESIGN section 5): the
 * "validation" member, and the visible, mechanical repair.
 */
#ifndef HF_BRIEF_GROUND_H
#define HF_BRIEF_GROUND_H

#include "brief/brief.h"
#include "session/facts.h"

enum hf_ground_mode { HF_GROUND_REPAIR, HF_GROUND_STRICT, HF_GROUND_SCORE,
	HF_GROUND_OFF };

/* Sets *report (a member of a tree) and repairs b in place. STRICT:
 * HF_E_INVALID_BRIEF with the first finding instead of a repair. SCORE
 * changes nothing. OFF: report says only that the schema held. w is a walk
 * from its start, or NULL with OFF. */
int	hf_ground(struct hf_brief *b, struct hf_walk *w,
	    enum hf_ground_mode mode, struct hf_jtree *t,
	    struct hf_jnode **report, struct hf_err *err);

#endif
