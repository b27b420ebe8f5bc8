#include "agent/pi.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/env.h"

/* ---- where its sessions are ---- */

/* The profile's name; NULL for the default one. */
static const char *
profile(void)
{
	const char *p = hf_env("OMP_PROFILE");

	if (p == NULL)
		p = hf_env("PI_PROFILE");
	if (p == NULL || strcmp(p, "default") == 0 ||
	    !hf_path_component(hf_str(p)))
		return NULL;
	return p;
}

static char *
under(char *base, const char *sub)
{
	char *out;

	if (base == NULL)
		return NULL;
	out = hf_path_join(base, sub);
	free(base);
	return out;
}

/* $XDG_DATA_HOME/omp, or the profile's folder in it, once the user has
 * moved the data there. */
static char *
migrated(const char *name)
{
	const char *xdg = hf_env("XDG_DATA_HOME");
	char *dir;

	if (xdg == NULL || xdg[0] != '/')
		return NULL;
	dir = hf_path_join(xdg, "omp");
	if (name != NULL)
		dir = under(under(dir, "profiles"), name);
	if (access(dir, F_OK) == 0)
		return dir;
	free(dir);
	return NULL;
}

static char *
root(struct hf_err *err)
{
	const char *name = profile(), *agent, *config;
	char *dir;

	agent = name == NULL ? hf_env("PI_CODING_AGENT_DIR") : NULL;
	if (agent != NULL)
		return under(hf_pi_dir(agent, err), "sessions");
	if ((dir = migrated(name)) != NULL)
		return under(dir, "sessions");
	if ((dir = hf_pi_dir("~", err)) == NULL)
		return NULL;
	config = hf_env("PI_CONFIG_DIR");
	dir = under(dir, config != NULL ? config : ".omp");
	if (name != NULL)
		dir = under(under(dir, "profiles"), name);
	return under(dir, "agent/sessions");
}

/* path below base: what follows it, "" for base itself; else NULL. */
static const char *
below(const char *path, const char *base)
{
	size_t n = strlen(base);

	while (n > 1 && base[n - 1] == '/')
		n--;
	if (n <= 1 || strncmp(path, base, n) != 0)
		return NULL;
	if (path[n] == '/')
		return path + n + 1;
	return path[n] == '\0' ? path + n : NULL;
}

/* "-project" below the home folder, "-tmp-x" below the temporary one, else
 * "--srv-x--". */
static void
folder(struct hf_buf *out, const char *cwd, const char *home)
{
	const char *tmp = hf_env("TMPDIR"), *rest = NULL;
	char *real = hf_pi_real(cwd), *at;

	if (home != NULL) {
		at = hf_pi_real(home);
		rest = below(real, at);
		free(at);
	}
	if (rest != NULL) {
		hf_buf_putc(out, '-');
		hf_pi_flat(out, rest);
		free(real);
		return;
	}
	at = hf_pi_real(tmp != NULL ? tmp : "/tmp");
	rest = below(real, at);
	free(at);
	hf_buf_puts(out, rest != NULL ? "-tmp" : "--");
	if (rest != NULL && *rest != '\0')
		hf_buf_putc(out, '-');
	hf_pi_flat(out, rest != NULL ? rest : real);
	if (rest == NULL)
		hf_buf_puts(out, "--");
	free(real);
}

static int
each(int (*cb)(const char *path, void *arg, struct hf_err *err), void *arg,
    struct hf_err *err)
{
	char *dir = root(err);
	int rc = -1;

	if (dir != NULL)
		rc = hf_pi_each(&hf_agent_omp, dir, cb, arg, err);
	free(dir);
	return rc;
}

static char *
by_id(const char *id)
{
	char *dir = root(NULL), *path = NULL;

	if (dir != NULL)
		path = hf_pi_by_id(&hf_agent_omp, dir, id);
	free(dir);
	return path;
}

/* ---- reading ---- */

static const struct hf_tool tools[] = {
	{ "read", HF_ACT_READ, "path|file_path", NULL },
	{ "write", HF_ACT_WRITE, "path|file_path", NULL },
	{ "edit", HF_ACT_EDIT, "path|file_path", NULL },
	{ "apply_patch", HF_ACT_EDIT, "input|patch", NULL },
	{ "ast_edit", HF_ACT_EDIT, "paths|path", NULL },
	{ "bash", HF_ACT_RUN, "command", NULL },
	{ "ask", HF_ACT_ASK, "questions|question", NULL },
	{ "todo", HF_ACT_TODOS, "todos", NULL },
	{ "todo_append", HF_ACT_TODO_ADD, "task", NULL },
	{ "todo_status", HF_ACT_TODO_SET, "task", "status" },
	{ "todo_write", HF_ACT_TODOS, "todos|items", NULL },
	{ "task", HF_ACT_SPAWN, "task|tasks", NULL },
	{ NULL, HF_ACT_OTHER, NULL, NULL }
};

static int
recognise(const char *path, const struct hf_jval *const *recs, size_t n)
{
	bool omp;
	int score = hf_pi_score(path, recs, n, &omp);

	return omp ? score : 0;
}

static void
row(struct hf_scan *sc, const struct hf_record *rec)
{
	hf_pi_row(sc, rec, HF_PI_OMP);
}

static int64_t
estimate(const struct hf_row *r)
{
	return hf_pi_estimate(r, HF_PI_OMP);
}

/* ---- a successor ---- */

static int
place(const struct hf_seed *seed, struct hf_place *out, struct hf_err *err)
{
	struct hf_buf name = HF_BUF_INIT;
	char *dir = root(err);

	if (dir == NULL)
		return -1;
	folder(&name, seed->cwd, hf_env_home(NULL));
	hf_pi_place(seed, under(dir, hf_buf_cstr(&name)), out);
	hf_buf_release(&name);
	return 0;
}

static int
draft(const struct hf_seed *seed, struct hf_buf *out, struct hf_err *err)
{
	return hf_pi_draft(seed, HF_PI_OMP, out, err);
}

static void
resume(const struct hf_session *s, const char *prompt, struct hf_argv *out)
{
	hf_pi_resume(s, "omp", "--resume", prompt, out);
}

const struct hf_agent hf_agent_omp = {
	.name = "omp",
	.label = "oh-my-pi",
	.program = "omp",
	.leaf = HF_LEAF_LAST,
	.tools = tools,
	.own_size = sizeof(struct hf_pi_own),
	.root = root,
	.recognise = recognise,
	.each = each,
	.by_path = hf_pi_by_path,
	.by_id = by_id,
	.row = row,
	.blocks = hf_pi_blocks,
	.estimate = estimate,
	.new_id = hf_pi_new_id,
	.place = place,
	.draft = draft,
	.resume = resume,
};
