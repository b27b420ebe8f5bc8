/*
 * What the user still said to a session between the last look at it and
 * its redirect: nobody will answer it there, and the brief does not know
 * it (DESIGN section 7).
 */
#ifndef HF_STATE_LATE_H
#define HF_STATE_LATE_H

#include "state/record.h"

/* Puts it into the successor's inbox, said to be late; again is nothing.
 * A transcript that cannot be read any more holds nothing. */
int	hf_late_forward(struct hf_store *st, const struct hf_attempt *r,
	    struct hf_err *err);

#endif
