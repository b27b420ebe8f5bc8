/*
 * What a handoff may do beside the transaction, if the configuration says
 * so. A failure of these fails nothing.
 */
#ifndef HF_STATE_EXTRAS_H
#define HF_STATE_EXTRAS_H

#include "state/attempt.h"

/* titleSuffix: one title row appended to the source, its times as they
 * were. 1 done, 0 nothing to do, -1. */
int	hf_extras_title(const struct hf_config *c, const struct hf_attempt *r,
	    struct hf_err *err);
/* handoffSaveToDisk: the brief as briefs/handoff-<time>.md in the state
 * folder. *path is the caller's. */
int	hf_extras_save(const struct hf_attempt *r, char **path,
	    struct hf_err *err);

#endif
