#include <pwd.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/env.h"
#include "base/err.h"

extern char **environ;

const char *
hf_env(const char *name)
{
	const char *value = getenv(name);

	return value != NULL && value[0] != '\0' ? value : NULL;
}

const char *
hf_env_home(struct hf_err *err)
{
	const char *home = hf_env("HOME");
	struct passwd *pw;

	if (home != NULL && home[0] == '/')
		return home;
	pw = getpwuid(geteuid());
	if (pw != NULL && pw->pw_dir != NULL && pw->pw_dir[0] == '/')
		return pw->pw_dir;
	hf_err_set(err, HF_E_CONFIG, "no home directory: HOME is not set");
	return NULL;
}

const char *
hf_env_user(void)
{
	struct passwd *pw = getpwuid(geteuid());

	return pw != NULL && pw->pw_name != NULL ? pw->pw_name : "";
}

char *
hf_env_xdg(const char *var, const char *fallback, struct hf_err *err)
{
	struct hf_buf path = HF_BUF_INIT;
	const char *dir = hf_env(var);

	if (dir != NULL && dir[0] == '/') {
		hf_buf_puts(&path, dir);
		return hf_buf_steal(&path);
	}
	dir = hf_env_home(err);
	if (dir == NULL)
		return NULL;
	hf_buf_puts(&path, dir);
	if (!hf_str_ends(hf_buf_view(&path), "/"))
		hf_buf_putc(&path, '/');
	hf_buf_puts(&path, fallback);
	return hf_buf_steal(&path);
}

char **
hf_env_all(void)
{
	return environ;
}
