/*
 * Where the state lives, for modules below the store.
 */
#ifndef HF_CONFIG_HOME_H
#define HF_CONFIG_HOME_H

#include "base/err.h"

/* The state folder: $HANDOFF_HOME, else the profile's in XDG_STATE_HOME;
 * there or not, the caller's. HF_E_CONFIG for one that is not absolute, a
 * profile that is no name, or a user without a home. */
char	*hf_home_state(struct hf_err *err);

#endif
