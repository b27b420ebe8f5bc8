/*
 * How large the model's context window is, and who says so. Internal to
 * lib/session.
 */
#ifndef HF_SESSION_CAPACITY_H
#define HF_SESSION_CAPACITY_H

#include "session/fold.h"

/* Sets m->capacity and m->capacity_from: from the transcript, else the
 * option, the hook's or statusline's JSON, the configuration's table, the
 * built-in one; raised when real usage proves more; 0 when unknown (M19).
 * window: what the transcript states, 0. */
void	hf_capacity(const struct hf_fold *f, int64_t window,
	    const struct hf_measure *how, struct hf_metrics *m);

#endif
