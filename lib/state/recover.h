/*
 * What a process that ended left of an attempt is completed or undone
 * (DESIGN section 7). Any number of times, any number at once: the same
 * end.
 */
#ifndef HF_STATE_RECOVER_H
#define HF_STATE_RECOVER_H

#include "state/attempt.h"

struct hf_recovered {
	size_t completed, undone;
	size_t pending;		/* still not started, or not published */
	size_t running;		/* left alone */
	size_t failed;		/* could not be dealt with; warned of */
};
/* Looks at the open attempts only, and touches one only when its lease has
 * lapsed or its owner is proven dead. What concerns one attempt is warned
 * of and does not stop the rest. done, if not NULL, is called for each that
 * it dealt with. */
int	hf_recover(struct hf_store *st, const struct hf_config *c,
	    struct hf_recovered *out,
	    void (*done)(const struct hf_attempt *r, void *arg), void *arg,
	    struct hf_err *err);

#endif
