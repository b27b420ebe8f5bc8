#include "state/doctor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/proc.h"
#include "state/detach.h"
#include "state/record.h"
#include "state/main.h"
#include "state/report.h"
#include "state/setup.h"

enum { ASK_MS = 3000, TABLE_MAX = 256 << 10 };

struct doctor {
	const char *driver;
	bool automatic;
	struct hf_buf *out;
	size_t bad;
};
enum mark { GOOD, ABSENT, BAD };

/* Begins a line. */
static void
mark(struct doctor *d, enum mark m)
{
	static const char *const words[] = { "  ok  ", "  --  ", "  !!  " };

	hf_buf_puts(d->out, words[m]);
	d->bad += m == BAD;
}

static void
say(struct doctor *d, enum mark m, const char *what, const char *more)
{
	if (d->automatic && m != BAD)
		return;
	mark(d, m);
	hf_buf_puts(d->out, what);
	hf_text_safe(d->out, hf_str(more), false);
	hf_buf_putc(d->out, '\n');
}

static void
head(struct doctor *d, const char *what)
{
	if (!d->automatic)
		hf_buf_printf(d->out, "%s\n", what);
}

/* Where a program is, the caller's; NULL. */
static char *
find_program(const char *name)
{
	struct hf_str rest = hf_str(hf_env("PATH")), dir;
	size_t end;
	char *path;

	if (strchr(name, '/') != NULL)
		return access(name, X_OK) == 0 ? hf_strdup(name) : NULL;
	while (rest.n > 0) {
		end = hf_str_find(rest, HF_STR(":"), 0);
		dir = hf_strn(rest.s, end == SIZE_MAX ? rest.n : end);
		rest = end == SIZE_MAX ? HF_STR_NONE :
		    hf_strn(rest.s + end + 1, rest.n - end - 1);
		if (dir.n == 0)
			continue;
		path = hf_strndup(dir.s, dir.n);
		{
			char *whole = hf_path_join(path, name);

			free(path);
			if (access(whole, X_OK) == 0)
				return whole;
			free(whole);
		}
	}
	return NULL;
}

/* ---- ours ---- */

static void
commands(struct doctor *d)
{
	static const char *const names[] = { "hf-metrics", "hf-trigger",
		"hf-summarize", "hf-validate", "hf-commit", "hf-route",
		"hf-state" };
	size_t missing = 0;

	head(d, "Commands");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *path = find_program(names[i]);

		if (path == NULL) {
			say(d, BAD, names[i], " is not beside handoff, nor "
			    "in PATH: install it again");
			missing++;
		}
		free(path);
	}
	if (missing == 0)
		say(d, GOOD, "all of them, with ", d->driver);
}

/* True with *c loaded. */
static bool
configuration(struct doctor *d, struct hf_config *c)
{
	struct hf_err err;

	head(d, "Configuration");
	if (hf_config_load(c, &err) < 0) {
		say(d, BAD, err.msg, "");
		return false;
	}
	say(d, c->file != NULL ? GOOD : ABSENT, c->file != NULL ? "" :
	    "none, so the defaults: ", c->path);
	return true;
}

struct counts { size_t mains, enabled, damaged; };

static int
count_main(const char *key, struct hf_main *m, const struct hf_err *why,
    void *arg, struct hf_err *err)
{
	struct counts *n = arg;

	(void)key, (void)why, (void)err;
	if (m == NULL)
		n->damaged++;
	else {
		n->mains++;
		n->enabled += m->enabled && m->redirect.id == NULL;
	}
	return 0;
}

static void
say_count(struct doctor *d, enum mark m, size_t n, const char *one,
    const char *many)
{
	if (d->automatic && m != BAD)
		return;
	mark(d, m);
	hf_report_count(d->out, (int64_t)n);
	hf_buf_printf(d->out, " %s\n", n == 1 ? one : many);
}

static void
state_content(struct doctor *d, struct hf_store *st, struct counts *n)
{
	struct hf_keys open = { 0 };
	struct hf_err err;

	if (hf_main_each(st, count_main, n, &err) < 0) {
		say(d, BAD, err.msg, "");
		return;
	}
	say_count(d, GOOD, n->mains, "session is registered",
	    "sessions are registered");
	if (n->damaged > 0)
		say_count(d, BAD, n->damaged, "value is damaged: 'handoff "
		    "status' names it", "values are damaged: 'handoff "
		    "status' names them");
	if (hf_open_list(st, &open, &err) == 0 && open.n > 0)
		say_count(d, ABSENT, open.n, "handoff is open: 'handoff "
		    "recover' looks after it, if nobody does",
		    "handoffs are open: 'handoff recover' looks after them, "
		    "if nobody does");
	hf_keys_release(&open);
}

/* The folder, or the nearest one above it that is there, takes files. */
static bool
can_write(const char *path)
{
	char *at = hf_strdup(path), *up;
	struct stat st;
	bool good;

	while (stat(at, &st) < 0 && strcmp(at, "/") != 0) {
		up = hf_path_dir(at);
		free(at);
		at = up;
	}
	good = access(at, W_OK | X_OK) == 0;
	free(at);
	return good;
}

static void
state(struct doctor *d, const struct hf_config *c, struct counts *n)
{
	struct hf_store *st = NULL;
	struct hf_err err;
	char *path;

	head(d, "State");
	if ((path = hf_store_dir(&err)) == NULL ||
	    hf_store_open(c, &st, &err) < 0) {
		say(d, BAD, err.msg, "");
	} else if (!can_write(path)) {
		say(d, BAD, "cannot be written: ", path);
	} else if (st->shared) {
		say(d, GOOD, "shared with other machines: ", c->store);
		state_content(d, st, n);
	} else {
		say(d, access(path, F_OK) == 0 ? GOOD : ABSENT,
		    access(path, F_OK) == 0 ? "" :
		    "nothing yet; it will be in ", path);
		state_content(d, st, n);
	}
	hf_store_close(st);
	free(path);
}

/* ---- the model ---- */

static const char *
key_variable(const struct hf_config *c)
{
	static const struct { const char *provider, *env; } usual[] = {
		{ "anthropic", "ANTHROPIC_API_KEY" },
		{ "openai", "OPENAI_API_KEY" },
		{ "openai-responses", "OPENAI_API_KEY" },
		{ "gemini", "GEMINI_API_KEY" },
	};

	if (c->key_env != NULL)
		return c->key_env;
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (strcmp(usual[i].provider, c->provider) == 0)
			return usual[i].env;
	return NULL;
}

static void
program(struct doctor *d, const char *name, const char *why)
{
	char *path = name != NULL ? find_program(name) : NULL;

	if (name == NULL)
		say(d, BAD, "no program is named for it: ", why);
	else if (path == NULL) {
		mark(d, BAD);
		hf_text_safe(d->out, hf_str(name), false);
		hf_buf_printf(d->out, " is not in PATH, and %s needs it\n",
		    why);
	} else
		say(d, GOOD, "", path);
	free(path);
}

static void
provider(struct doctor *d, const struct hf_config *c)
{
	const char *name = c->provider != NULL ? c->provider : "extract";
	const char *variable;

	head(d, "Who writes the brief");
	if (strcmp(name, "extract") == 0) {
		say(d, GOOD, "no model: it is computed, nothing is sent "
		    "anywhere", "");
		return;
	}
	say(d, GOOD, "provider ", name);
	if (strcmp(name, "command") == 0)
		program(d, c->command != NULL ? c->command[0] : NULL,
		    "summarize.command");
	else if (strcmp(name, "claude") == 0 || strcmp(name, "codex") == 0 ||
	    strcmp(name, "pi") == 0)
		program(d, name, "summarize.provider");
	else if (c->key_command != NULL && c->key_command[0] != NULL)
		program(d, c->key_command[0], "summarize.keyCommand");
	else if ((variable = key_variable(c)) != NULL &&
	    hf_env(variable) == NULL && c->base_url == NULL) {
		mark(d, BAD);
		hf_buf_printf(d->out, "%s is not set here: a key that "
		    "unattended runs can get comes from "
		    "summarize.keyCommand\n", variable);
	}
}

/* ---- the agents ---- */

static int
count_file(const char *path, void *arg, struct hf_err *err)
{
	size_t *n = arg;

	(void)path, (void)err;
	++*n;
	return 0;
}

static void
hooks(struct doctor *d, const struct hf_agent *a)
{
	struct hf_err err;
	char *command;
	int rc = hf_setup_is(a->name, &command, &err);

	if (rc < 0)
		say(d, BAD, err.msg, "");
	else if (rc > 0 && command != NULL && access(command, X_OK) < 0)
		say(d, BAD, "its hooks call what is not there: ", command);
	else if (rc > 0)
		say(d, GOOD, a->label, "'s hooks call us");
	else {
		mark(d, ABSENT);
		hf_buf_printf(d->out, "%s's hooks do not call us: 'handoff "
		    "setup %s --write'\n", a->label, a->name);
	}
	free(command);
}

static void
agent(struct doctor *d, const struct hf_agent *a)
{
	char *path = find_program(a->program), *root;
	const char *const *offered = hf_setup_agents();
	struct hf_err err;
	size_t n = 0;

	root = a->root(&err);
	if (root != NULL && a->each(count_file, &n, &err) < 0)
		say(d, BAD, err.msg, "");
	if (path == NULL && n == 0) {
		say(d, ABSENT, a->label, " is not here");
	} else {
		mark(d, path != NULL ? GOOD : ABSENT);
		hf_buf_printf(d->out, "%s%s, ", a->label, path != NULL ? "" :
		    " is not in PATH");
		hf_report_count(d->out, (int64_t)n);
		hf_buf_printf(d->out, " transcript%s in ", n == 1 ? "" :
		    "s");
		hf_report_path(d->out, hf_str(root));
		hf_buf_putc(d->out, '\n');
		for (; *offered != NULL; offered++)
			if (strcmp(*offered, a->name) == 0)
				hooks(d, a);
	}
	free(path);
	free(root);
}

static void
agents(struct doctor *d)
{
	const struct hf_agent *const *all;
	size_t n;

	head(d, "Agents");
	all = hf_agents(&n);
	for (size_t i = 0; i < n; i++)
		agent(d, all[i]);
}

/* ---- unattended ---- */

static bool
in_crontab(void)
{
	static const char *const argv[] = { "crontab", "-l", NULL };
	struct hf_buf text = HF_BUF_MAX(TABLE_MAX), said =
	    HF_BUF_MAX(TABLE_MAX);
	struct hf_proc p = { argv, NULL, NULL, HF_STR_NONE, &text, &said,
		ASK_MS };
	struct hf_err ignored;
	int status = 0;
	bool is = hf_proc_run(&p, &status, &ignored) == 0 && status == 0 &&
	    hf_str_find(hf_buf_view(&text), HF_STR("# handoff auto"), 0) !=
	    SIZE_MAX;

	hf_buf_release(&text);
	hf_buf_release(&said);
	return is;
}

static bool
has_timer(void)
{
	char *dir = hf_env_xdg("XDG_CONFIG_HOME", ".config", NULL), *path;
	bool is;

	if (dir == NULL)
		return false;
	path = hf_path_join(dir, "systemd/user/handoff.timer");
	is = access(path, F_OK) == 0;
	free(path);
	free(dir);
	return is;
}

static void
unattended(struct doctor *d, const struct hf_config *c,
    const struct counts *n)
{
	bool cron = in_crontab(), timer = has_timer();

	head(d, "Automatic handoff");
	if (c->auto_handoff)
		say(d, GOOD, "it is on", "");
	else
		say(d, ABSENT, "it is off as a whole: 'handoff config set "
		    "autoHandoff true'", "");
	say_count(d, n->enabled > 0 ? GOOD : ABSENT, n->enabled,
	    "session is enabled", "sessions are enabled: 'handoff enable'");
	if (cron || timer)
		say(d, GOOD, cron ? "cron runs it" : "a systemd timer runs "
		    "it", "");
	else
		say(d, ABSENT, "nothing runs it but the agents' hooks: "
		    "'handoff setup cron --write' or systemd", "");
	if (cron && timer)
		say(d, ABSENT, "cron and systemd both run it: one is enough",
		    "");
}

int
hf_doctor(const char *driver, bool automatic, struct hf_buf *out,
    size_t *bad, struct hf_err *err)
{
	struct doctor d = { driver, automatic, out, 0 };
	struct counts n = { 0 };
	struct hf_config c;

	if (hf_env_home(err) == NULL)
		return -1;
	commands(&d);
	if (configuration(&d, &c)) {
		state(&d, &c, &n);
		provider(&d, &c);
		if (!automatic) {
			agents(&d);
			unattended(&d, &c, &n);
		}
		hf_config_release(&c);
	}
	*bad = d.bad;
	return 0;
}
