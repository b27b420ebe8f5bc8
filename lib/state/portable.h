/*
 * A brief as one file, with which another machine or person goes on: the
 * brief, its hash, and of the session only what names it.
 */
#ifndef HF_STATE_PORTABLE_H
#define HF_STATE_PORTABLE_H

#include "state/record.h"

enum { HF_PORTABLE_MAX = 1 << 20 };

/* Appends it, one JSON object on a line. HF_E_NOT_FOUND for an attempt that
 * has no brief. */
int	hf_portable_write(const struct hf_attempt *r, struct hf_buf *out,
	    struct hf_err *err);

struct hf_portable {
	const char *to;		/* the successor's agent; NULL: the source's */
	const char *cwd;	/* its folder, absolute; NULL: the source's if
				 * there is one here, else ours */
};
/* Makes the successor here and leads the source's id to it, as a commit
 * does: all or nothing. *r, the caller's, is the record. 1 made; 0 the same
 * brief had been taken over before, *r the record of that. HF_E_INVALID for
 * a file that is none, HF_E_INVALID_BRIEF when brief and hash differ,
 * HF_E_CONFLICT when the source leads elsewhere already. */
int	hf_portable_read(struct hf_store *st, const struct hf_config *c,
	    struct hf_str text, const struct hf_portable *how,
	    struct hf_attempt *r, struct hf_err *err);

#endif
