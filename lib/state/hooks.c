#include "state/hooks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/env.h"
#include "base/file.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/proc.h"

enum {
	ENV_MAX = 256,
	ARGV_MAX = 64,
	BLOCKER_MAX = 200,	/* bytes of a blocker's line */
	VETO_MS = 60000,	/* someone may be asked */
	START_MS = 60000,
	OTHER_MS = 15000
};

static const char failed_hook[] = "blockers-hook-failed";

/* ---- whose it is ---- */

/* 1 it is there and safe, 0 not there, -1. */
static int
check_one(const char *path, bool folder, struct hf_err *err)
{
	struct stat st;

	if (stat(path, &st) < 0) {
		if (errno == ENOENT || errno == ENOTDIR)
			return 0;
		return hf_err_sys(err, errno, "cannot look at '%s'", path);
	}
	if (st.st_uid != geteuid() && st.st_uid != 0)
		return hf_err_set(err, HF_E_CONFIG,
		    "'%s' belongs to another user: it is not run", path);
	if (st.st_mode & 022)
		return hf_err_set(err, HF_E_CONFIG,
		    "'%s' can be written by others: it is not run", path);
	if (!folder && (!S_ISREG(st.st_mode) || !(st.st_mode & 0111)))
		return hf_err_set(err, HF_E_CONFIG,
		    "'%s' is not an executable file", path);
	return 1;
}

/* The path of a hook that is there; 1, 0, -1. */
static int
find_hook(const char *name, char **path, struct hf_err *err)
{
	char *config = hf_config_dir(err), *hooks;
	int rc;

	if (config == NULL)
		return -1;
	hooks = hf_path_join(config, "hooks");
	*path = hf_path_join(hooks, name);
	if ((rc = check_one(config, true, err)) > 0 &&
	    (rc = check_one(hooks, true, err)) > 0)
		rc = check_one(*path, false, err);
	if (rc <= 0)
		free(*path);
	free(hooks);
	free(config);
	return rc;
}

/* ---- running ---- */

static bool
is_passed_on(const char *var)
{
	return strncmp(var, "PATH=", 5) == 0 ||
	    strncmp(var, "HOME=", 5) == 0 ||
	    strncmp(var, "LANG=", 5) == 0 ||
	    strncmp(var, "HANDOFF_", 8) == 0;
}

/* The last line of what it said, for a message; "" if nothing. */
static struct hf_str
last_line(struct hf_buf *b)
{
	struct hf_str a = hf_str_trim(hf_buf_view(b));

	for (size_t i = a.n; i > 0; i--)
		if (a.s[i - 1] == '\n')
			return hf_strn(a.s + i, a.n - i);
	return a;
}

struct run {
	const char *const *argv;
	const char *const *envp;
	const char *cwd;
	struct hf_str input;
	long timeout_ms;
	struct hf_buf *out;	/* NULL: not wanted */
	struct hf_buf said;	/* what it wrote to stderr */
};

static int
run_it(struct run *r, int *status, struct hf_err *err)
{
	struct hf_buf dropped = HF_BUF_MAX(HF_HOOK_OUTPUT);
	struct hf_proc p = { r->argv, r->envp, r->cwd, r->input,
		r->out != NULL ? r->out : &dropped, &r->said, r->timeout_ms };
	int rc;

	r->said = (struct hf_buf)HF_BUF_MAX(HF_HOOK_OUTPUT);
	rc = hf_proc_run(&p, status, err);
	if (rc < 0)
		hf_err_prefix(err, "'%s'", r->argv[0]);
	hf_buf_release(&dropped);
	return rc;
}

static int
run_hook(const char *name, struct hf_str text, long timeout_ms, int *status,
    struct hf_buf *out, struct hf_buf *said, struct hf_err *err)
{
	const char *env[ENV_MAX + 1], *argv[2];
	char **all = hf_env_all(), *path;
	struct run r = { argv, env, NULL, text, timeout_ms, out, HF_BUF_INIT };
	size_t n = 0;
	int rc = find_hook(name, &path, err);

	if (rc <= 0)
		return rc;
	for (size_t i = 0; all[i] != NULL && n < ENV_MAX; i++)
		if (is_passed_on(all[i]))
			env[n++] = all[i];
	env[n] = NULL;
	argv[0] = path;
	argv[1] = NULL;
	rc = run_it(&r, status, err);
	*said = r.said;
	free(path);
	return rc < 0 ? -1 : 1;
}

int
hf_hook_run(const char *name, struct hf_str text, int *status,
    struct hf_buf *out, struct hf_err *err)
{
	struct hf_buf said = HF_BUF_INIT;
	int rc = run_hook(name, text, OTHER_MS, status, out, &said, err);

	hf_buf_release(&said);
	return rc;
}

/* ---- each of them ---- */

int
hf_hook_veto(struct hf_str document, struct hf_err *err)
{
	struct hf_buf said = HF_BUF_INIT;
	struct hf_err why = { HF_OK, "" };
	struct hf_str line;
	int status = 0;
	int rc = run_hook("before-switch", document, VETO_MS, &status, NULL,
	    &said, &why);

	if (rc < 0) {
		if (why.code != HF_E_CONFIG && why.code != HF_E_CANCELLED)
			why.code = HF_E_VETOED;
		*err = why;
	} else if (rc > 0 && status != 0) {
		line = last_line(&said);
		rc = hf_err_set(err, HF_E_VETOED,
		    "the before-switch hook says no (status %d)%s%.*s", status,
		    line.n > 0 ? ": " : "", (int)line.n, line.s);
	}
	hf_buf_release(&said);
	return rc < 0 ? -1 : 0;
}

static void
add_blocker(char **list, size_t *n, size_t max, struct hf_str line)
{
	struct hf_buf b = HF_BUF_INIT;

	line = hf_str_trim(line);
	line.n = hf_utf8_cut(line, line.n < BLOCKER_MAX ? line.n :
	    BLOCKER_MAX);
	if (line.n == 0 || *n == max)
		return;
	hf_text_safe(&b, line, false);
	list[(*n)++] = hf_buf_steal(&b);
}

int
hf_hook_blockers(struct hf_str document, char **list, size_t *n, size_t max,
    struct hf_err *err)
{
	struct hf_buf out = HF_BUF_MAX(HF_HOOK_OUTPUT), said = HF_BUF_INIT;
	struct hf_err why = { HF_OK, "" };
	struct hf_str rest;
	int status = 0;
	int rc = run_hook("blockers", document, OTHER_MS, &status, &out,
	    &said, &why);

	if (rc < 0 && why.code == HF_E_CANCELLED) {
		*err = why;
	} else if (rc < 0 || (rc > 0 && status != 0)) {
		if (rc < 0)
			hf_warn_err(&why);
		add_blocker(list, n, max, hf_str(failed_hook));
		rc = 0;
	} else if (rc > 0) {
		rest = hf_buf_view(&out);
		while (rest.n > 0) {
			struct hf_str line = hf_str_line(rest, &rest);

			add_blocker(list, n, max, line);
		}
	}
	hf_buf_release(&said);
	hf_buf_release(&out);
	return rc < 0 ? -1 : 0;
}

/* {id} {path} {cwd} {agent} put in; the rest as it is. */
static char *
fill_word(const char *word, const struct hf_attempt *r, const char *path)
{
	const struct hf_fill vars[] = {
		{ "{id}", r->target.id }, { "{path}", path },
		{ "{cwd}", r->target.cwd }, { "{agent}", r->target.agent },
	};
	struct hf_buf b = HF_BUF_INIT;

	hf_text_fill(&b, word, vars, sizeof(vars) / sizeof(vars[0]));
	return hf_buf_steal(&b);
}

/* The configuration's command: an agent, so not inside another one. */
static int
start_command(const struct hf_config *c, const struct hf_attempt *r,
    struct hf_str document, int *status, struct hf_buf *said,
    struct hf_err *err)
{
	char *word[ARGV_MAX + 1], *path = hf_record_path(r);
	const char **env = hf_proc_env(NULL);
	struct run run = { (const char *const *)word,
		(const char *const *)env, NULL, document, START_MS, NULL,
		HF_BUF_INIT };
	struct stat st;
	size_t n = 0;
	int rc;

	for (; n < ARGV_MAX && c->start[n] != NULL; n++)
		word[n] = fill_word(c->start[n], r, path);
	word[n] = NULL;
	if (r->target.cwd != NULL && stat(r->target.cwd, &st) == 0 &&
	    S_ISDIR(st.st_mode))
		run.cwd = r->target.cwd;
	rc = run_it(&run, status, err);
	*said = run.said;
	while (n > 0)
		free(word[--n]);
	free(env);
	free(path);
	return rc < 0 ? -1 : 1;
}

int
hf_hook_start(const struct hf_config *c, const struct hf_attempt *r,
    struct hf_str document, struct hf_err *err)
{
	struct hf_buf said = HF_BUF_INIT;
	struct hf_str line;
	int status = 0;
	int rc = run_hook("start", document, START_MS, &status, NULL, &said,
	    err);

	if (rc == 0 && c->start != NULL && c->start[0] != NULL)
		rc = start_command(c, r, document, &status, &said, err);
	if (rc > 0 && status != 0) {
		line = last_line(&said);
		rc = hf_err_set(err, HF_E_UNAVAILABLE,
		    "the successor was not started (status %d)%s%.*s", status,
		    line.n > 0 ? ": " : "", (int)line.n, line.s);
	}
	hf_buf_release(&said);
	return rc;
}

void
hf_hook_tell(const char *name, struct hf_str document)
{
	struct hf_err err = { HF_OK, "" };
	int status = 0;
	int rc = hf_hook_run(name, document, &status, NULL, &err);

	if (rc < 0)
		hf_warn_err(&err);
	else if (rc > 0 && status != 0)
		hf_warn("the hook '%s' ended with status %d", name, status);
}
