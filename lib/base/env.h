/*
 * The environment and the user, read in this one place.
 */
#ifndef HF_BASE_ENV_H
#define HF_BASE_ENV_H

#include <stdbool.h>

struct hf_err;

/* The variable's value; NULL when unset or empty. Borrowed. */
const char *hf_env(const char *name);
/* HOME if absolute, else the password database's (cron). Borrowed; NULL
 * and HF_E_CONFIG when there is neither. */
const char *hf_env_home(struct hf_err *err);
/* The effective user's login name; "" where the password database has none.
 * Borrowed, until the database is asked again. */
const char *hf_env_user(void);
/* $var ("XDG_STATE_HOME") if absolute, else home/fallback; the caller's. */
char	*hf_env_xdg(const char *var, const char *fallback,
	    struct hf_err *err);
/* The whole environment, NULL-terminated "NAME=value". Borrowed. */
char	**hf_env_all(void);

#endif
