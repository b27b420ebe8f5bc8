/*
 * Saying a thing once: a run every few minutes must not repeat itself.
 */
#ifndef HF_STATE_NEWS_H
#define HF_STATE_NEWS_H

#include "base/buf.h"
#include "base/err.h"

/* Appends to out the lines of text that were not among those of the last
 * call with this name (one component), or that were last said a day ago,
 * and keeps text in the state folder for the next one. Without a state
 * folder all are news. */
int	hf_news(const char *name, struct hf_str text, struct hf_buf *out,
	    struct hf_err *err);

#endif
