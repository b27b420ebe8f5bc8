/*
 * The successor's transcript: made complete under a name that no agent
 * reads, .handoff-<attempt>.tmp in its final folder; given its final name
 * after the commit. All of it can be made again from the record.
 */
#ifndef HF_STATE_DRAFT_H
#define HF_STATE_DRAFT_H

#include "state/record.h"

/* Chooses the target's id, folder and name for its agent. */
int	hf_draft_place(struct hf_attempt *r, struct hf_err *err);
/* Is the final name free? 1, 0, -1. */
int	hf_draft_free(const struct hf_attempt *r, struct hf_err *err);
/* Writes the draft durably, and its hash and size into r. */
int	hf_draft_write(struct hf_attempt *r, struct hf_err *err);
/* Removes it; that it is not there is no error. */
int	hf_draft_remove(const struct hf_attempt *r, struct hf_err *err);
/* Gives it its final name: 1. 0: the draft had gone and was made again, r
 * has another hash; store r, then call it again. Never overwrites:
 * HF_E_EXISTS when the name is taken by what is not ours. Any number of
 * times, the same end. */
int	hf_draft_publish(struct hf_attempt *r, struct hf_err *err);

#endif
