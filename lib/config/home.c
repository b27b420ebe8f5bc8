#include "config/home.h"

#include <stdlib.h>

#include "base/env.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"

static char *
profile_dir(struct hf_err *err)
{
	const char *profile = hf_env("HANDOFF_PROFILE");
	char *state, *all, *dir;

	if (profile == NULL)
		profile = "default";
	if (!hf_path_component(hf_str(profile)) || profile[0] == '.') {
		hf_err_set(err, HF_E_CONFIG,
		    "HANDOFF_PROFILE is not a name: '%s'", profile);
		return NULL;
	}
	state = hf_env_xdg("XDG_STATE_HOME", ".local/state", err);
	if (state == NULL)
		return NULL;
	all = hf_path_join(state, "handoff");
	dir = hf_path_join(all, profile);
	free(all);
	free(state);
	return dir;
}

char *
hf_home_state(struct hf_err *err)
{
	const char *home = hf_env("HANDOFF_HOME");

	if (home == NULL)
		return profile_dir(err);
	/* Relative, each folder would have a state of its own. */
	if (home[0] != '/') {
		hf_err_set(err, HF_E_CONFIG,
		    "HANDOFF_HOME is not an absolute path: '%s'", home);
		return NULL;
	}
	return hf_strdup(home);
}
