/*
 * The cursors of sessions: what hf-metrics knew of a transcript when it was
 * measured last (metrics.cursor), so that a session that did not change is
 * not read again. Files of this machine, cursors/<key> in the state folder,
 * whatever the store: they speak of files of this machine. Nothing depends
 * on them: one that is lost costs a reading, so they are not flushed, and
 * errors are no errors.
 */
#ifndef HF_STATE_CURSORS_H
#define HF_STATE_CURSORS_H

#include "base/buf.h"

struct hf_cursors;

/* What is there is opened at the first use. Never NULL. */
struct hf_cursors *hf_cursors_open(void);
void	hf_cursors_close(struct hf_cursors *c);
/* Appends a session's; false if there is none. */
bool	hf_cursors_get(struct hf_cursors *c, const char *agent,
	    const char *id, struct hf_buf *out);
/* Replaces it; one that is the same is left alone. */
void	hf_cursors_put(struct hf_cursors *c, const char *agent,
	    const char *id, struct hf_str text);
/* Removes those that were not written for so many days. */
void	hf_cursors_prune(struct hf_cursors *c, int64_t days);

#endif
