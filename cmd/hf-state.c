#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cmd.h"
#include "base/env.h"
#include "base/io.h"
#include "base/opt.h"
#include "base/proc.h"
#include "base/sig.h"
#include "json/lex.h"
#include "state/attempt.h"
#include "state/cursors.h"
#include "state/detach.h"
#include "state/doctor.h"
#include "state/host.h"
#include "state/inbox.h"
#include "state/join.h"
#include "state/pick.h"
#include "state/news.h"
#include "state/portable.h"
#include "state/prune.h"
#include "state/record.h"
#include "state/report.h"
#include "state/route.h"
#include "state/settle.h"
#include "state/setup.h"
#include "state/events.h"
#include "state/status.h"
#include "state/switches.h"
#include "state/transfer.h"

static const char name[] = "hf-state";

enum { IMPORT_MAX = 256 << 20, EVENT_MAX = 32 << 20, LINES_MAX = 1 << 20 };

struct run {
	struct hf_store *st;
	struct hf_config config;
	struct hf_cursors *cursors;
	const char *focus, *to, *until, *driver;
	bool keep, json, follow, write, remove, check, detach, automatic, user;
	int64_t seconds;
	const char *cwd;
	enum hf_report report;
	const char *field;
	bool seen;
	size_t n;
};

static int
put(struct hf_buf *out, struct hf_err *err)
{
	int rc = hf_out(hf_buf_view(out), err);

	hf_buf_release(out);
	return rc;
}

/* ---- join ---- */

static void
keep_cursor(struct run *r, const struct hf_doc *d)
{
	const struct hf_jval *s = hf_doc_get(d, "session");
	struct hf_str agent = hf_json_get_str(s, "agent");
	struct hf_str id = hf_json_get_str(s, "id");
	struct hf_str cursor = hf_json_get_str(hf_doc_get(d, "metrics"),
	    "cursor");
	char *a, *i;

	if (agent.n == 0 || id.n == 0 || cursor.n == 0)
		return;
	a = hf_strndup(agent.s, agent.n);
	i = hf_strndup(id.s, id.n);
	hf_cursors_put(r->cursors, a, i, cursor);
	free(a);
	free(i);
}

static int
act_join(struct hf_doc *d, void *arg, struct hf_err *err)
{
	struct run *r = arg;

	if (hf_json_type(hf_doc_get(d, "error")) > HF_J_NULL)
		return 0;
	if (r->keep)
		keep_cursor(r, d);
	return hf_join(r->st, &r->config, d, err);
}

static int
join(struct run *r, int n, char **what, struct hf_err *err)
{
	struct hf_stage s = { name, true, act_join, r, false };

	(void)n, (void)what;
	return hf_doc_stage(&s, err);
}

/* ---- which session ---- */

/* The main of the session that an operand names, or, without one, of the
 * one that a person means here. */
static int
find(struct run *r, const char *what, struct hf_main *m, struct hf_err *err)
{
	struct hf_session s;
	int rc;

	if (what != NULL)
		return hf_main_find(r->st, what, m, NULL, err);
	memset(m, 0, sizeof(*m));
	rc = hf_pick(r->st, NULL, &s, err);
	if (rc == 0) {
		rc = hf_main_load(r->st, s.agent->name, s.id, m, err);
		hf_main_set(&m->path, s.path);
		hf_main_set(&m->cwd, s.cwd);
	}
	hf_session_release(&s);
	return rc;
}

static int
pick(struct run *r, int n, char **what, struct hf_err *err)
{
	struct hf_buf out = HF_BUF_INIT;
	struct hf_session s;
	struct hf_doc d;
	int rc = hf_pick(r->st, n > 0 ? what[0] : NULL, &s, err);

	if (rc == 0) {
		hf_doc_new(&d);
		hf_session_to_doc(&d, &s);
		hf_doc_line(&d, &out);
		hf_doc_release(&d);
	}
	hf_session_release(&s);
	return rc < 0 ? -1 : put(&out, err);
}

/* ---- switches ---- */

static void
name_main(struct hf_buf *out, const struct hf_main *m)
{
	const struct hf_agent *a = hf_agent_by_name(hf_str(m->agent));

	hf_buf_printf(out, "%s session ", a != NULL ? a->label : m->agent);
	hf_text_safe(out, hf_str(m->id), false);
}

static void
say_switch(struct run *r, enum hf_switch s, const struct hf_main *m,
    struct hf_buf *out)
{
	name_main(out, m);
	switch (s) {
	case HF_SWITCH_ENABLE:
		hf_buf_puts(out, ": automatic handoff is on\n");
		if (!r->config.auto_handoff)
			hf_buf_puts(out, "It is off as a whole: 'handoff "
			    "config set autoHandoff true' switches it on.\n");
		break;
	case HF_SWITCH_DISABLE:
		hf_buf_puts(out, ": automatic handoff is off\n");
		if (m->redirect.id == NULL)
			break;
		hf_buf_puts(out, "What arrives there is still forwarded to ");
		hf_text_safe(out, hf_str(m->redirect.id), false);
		hf_buf_puts(out, " ('handoff unroute' ends that).\n");
		break;
	case HF_SWITCH_REQUEST:
		hf_buf_puts(out, ": a handoff is asked for\n");
		break;
	case HF_SWITCH_CANCEL:
		hf_buf_puts(out, ": no handoff is asked for\n");
		break;
	}
}

static int
set_switch(struct run *r, int n, char **what, enum hf_switch s,
    const struct hf_request *req, struct hf_err *err)
{
	struct hf_buf out = HF_BUF_INIT;
	struct hf_main m;
	int rc = find(r, n > 0 ? what[0] : NULL, &m, err);

	if (rc >= 0)
		rc = hf_switch_set(r->st, &m, s, req, err);
	if (rc == 0)
		say_switch(r, s, &m, &out);
	hf_main_release(&m);
	if (rc < 0) {
		hf_buf_release(&out);
		return -1;
	}
	return put(&out, err);
}

static int
enable(struct run *r, int n, char **what, struct hf_err *err)
{
	return set_switch(r, n, what, HF_SWITCH_ENABLE, NULL, err);
}

static int
disable(struct run *r, int n, char **what, struct hf_err *err)
{
	return set_switch(r, n, what, HF_SWITCH_DISABLE, NULL, err);
}

/* A time, or seconds from now. */
static int
parse_until(const char *text, int64_t *out, struct hf_err *err)
{
	int64_t n;

	if (text == NULL) {
		*out = hf_clock_now() + (int64_t)HF_REQUEST_SECONDS * 1000;
		return 0;
	}
	if (hf_text_int(hf_str(text), &n) && n > 0 && n <= 366 * 86400) {
		*out = hf_clock_now() + n * 1000;
		return 0;
	}
	if ((*out = hf_clock_parse(hf_str(text))) < 0)
		return hf_err_set(err, HF_E_USAGE, "'%s' is neither a number "
		    "of seconds nor a time like 2026-01-31T12:00:00Z", text);
	if (*out <= hf_clock_now())
		return hf_err_set(err, HF_E_USAGE, "'%s' is over", text);
	return 0;
}

static int
request(struct run *r, int n, char **what, struct hf_err *err)
{
	struct hf_request req = { 0, r->focus, r->to };

	if (parse_until(r->until, &req.until, err) < 0)
		return -1;
	if (r->focus != NULL && strlen(r->focus) > HF_FOCUS_MAX)
		return hf_err_set(err, HF_E_USAGE,
		    "the focus is longer than %d bytes", (int)HF_FOCUS_MAX);
	if (r->to != NULL && hf_agent_by_name(hf_str(r->to)) == NULL)
		return hf_err_set(err, HF_E_USAGE,
		    "the agent '%s' is not known", r->to);
	return set_switch(r, n, what, HF_SWITCH_REQUEST, &req, err);
}

static int
cancel(struct run *r, int n, char **what, struct hf_err *err)
{
	return set_switch(r, n, what, HF_SWITCH_CANCEL, NULL, err);
}

static int
unroute(struct run *r, int n, char **what, struct hf_err *err)
{
	struct hf_main m;
	struct hf_buf key = HF_BUF_INIT;
	int rc = find(r, n > 0 ? what[0] : NULL, &m, err);

	if (rc >= 0) {
		hf_buf_printf(&key, "%s:%s", m.agent, m.id);
		rc = hf_route_remove(r->st, hf_buf_cstr(&key), err);
	}
	if (rc == 0)
		rc = hf_err_set(err, HF_E_NOT_FOUND,
		    "'%s' is routed nowhere", m.id);
	else if (rc > 0)
		hf_event_session("unrouted", m.agent, m.id, m.redirect.id);
	hf_buf_release(&key);
	hf_main_release(&m);
	return rc < 0 ? -1 : 0;
}

/* ---- lists ---- */

static void
main_doc(const struct hf_main *m, struct hf_doc *d)
{
	struct hf_jtree *t;
	struct hf_jnode *s;

	hf_doc_new(d);
	t = hf_doc_tree(d);
	s = hf_jtree_obj(t);
	hf_jset_cstr(t, s, "agent", m->agent);
	hf_jset_cstr(t, s, "id", m->id);
	hf_jset_cstr(t, s, "path", m->path);
	hf_jset_cstr(t, s, "cwd", m->cwd);
	hf_doc_set(d, "session", s);
	hf_doc_set(d, "main", hf_main_to_json(t, m));
}

static void
main_line(const struct hf_main *m, struct hf_buf *out)
{
	struct hf_doc d;

	main_doc(m, &d);
	hf_doc_line(&d, out);
	hf_doc_release(&d);
}

static int
list_one(const char *key, struct hf_main *m, const struct hf_err *why,
    void *arg, struct hf_err *err)
{
	struct run *r = arg;
	struct hf_buf out = HF_BUF_INIT;

	(void)key;
	if (m == NULL) {
		hf_warn_err(why);
		return 0;
	}
	r->n++;
	main_line(m, &out);
	return put(&out, err);
}

static int
list(struct run *r, int n, char **what, struct hf_err *err)
{
	(void)n, (void)what;
	if (hf_main_each(r->st, list_one, r, err) < 0)
		return -1;
	return r->n > 0 ? HF_EX_OK : HF_EX_NO;
}

/* The session of a main, to be measured by what is kept of the last time. */
static int
due_line(struct run *r, const struct hf_main *m, struct hf_err *err)
{
	struct hf_buf out = HF_BUF_INIT, cursor = HF_BUF_INIT;
	struct hf_jtree *t;
	struct hf_jnode *o;
	struct hf_doc d;

	main_doc(m, &d);
	if (hf_cursors_get(r->cursors, m->agent, m->id, &cursor)) {
		t = hf_doc_tree(&d);
		o = hf_jtree_obj(t);
		hf_jset_str(t, o, "cursor", hf_buf_view(&cursor));
		hf_doc_set(&d, "metrics", o);
	}
	hf_doc_line(&d, &out);
	hf_doc_release(&d);
	hf_buf_release(&cursor);
	r->n++;
	return put(&out, err);
}

/* Those that auto looks at: asked for, or switched on twice, and there. */
static int
due_one(const char *key, struct hf_main *m, const struct hf_err *why,
    void *arg, struct hf_err *err)
{
	struct run *r = arg;

	if (m != NULL && (m->redirect.id != NULL || m->path == NULL ||
	    !(m->requested.on || (m->enabled && r->config.auto_handoff)) ||
	    !hf_main_present(m)))
		return 0;
	return m != NULL ? due_line(r, m, err) :
	    list_one(key, m, why, arg, err);
}

static int
due(struct run *r, int n, char **what, struct hf_err *err)
{
	(void)n, (void)what;
	if (hf_main_each(r->st, due_one, r, err) < 0)
		return -1;
	return r->n > 0 ? HF_EX_OK : HF_EX_NO;
}

struct records { struct run *r; const char *id; };

static int
record_one(const char *key, struct hf_attempt *a, const struct hf_err *why,
    void *arg, struct hf_err *err)
{
	struct records *rs = arg;
	struct hf_buf out = HF_BUF_INIT;
	struct hf_jtree *t;

	(void)key;
	if (a == NULL) {
		hf_warn_err(why);
		return 0;
	}
	if (rs->id != NULL && strcmp(rs->id, a->id) != 0 &&
	    (a->source.id == NULL || strcmp(rs->id, a->source.id) != 0) &&
	    (a->target.id == NULL || strcmp(rs->id, a->target.id) != 0))
		return 0;
	rs->r->n++;
	t = hf_jtree_new();
	hf_jtree_write(&out, hf_record_to_json(t, a), false);
	hf_buf_putc(&out, '\n');
	hf_jtree_free(t);
	return put(&out, err);
}

static int
records(struct run *r, int n, char **what, struct hf_err *err)
{
	struct records rs = { r, n > 0 ? what[0] : NULL };

	if (hf_record_each(r->st, record_one, &rs, err) < 0)
		return -1;
	return r->n > 0 ? HF_EX_OK : HF_EX_NO;
}

/* ---- status ---- */

/* A pipe gets no colour, nor who does not want any. */
static bool
in_colour(void)
{
	const char *term = hf_env("TERM");

	return isatty(1) && hf_env("NO_COLOR") == NULL && term != NULL &&
	    strcmp(term, "dumb") != 0;
}

static int
json_one(const char *key, struct hf_main *m, const struct hf_err *why,
    void *arg, struct hf_err *err)
{
	struct run *r = arg;
	struct hf_buf out = HF_BUF_INIT;

	(void)key;
	if (m == NULL) {
		hf_warn_err(why);
		return 0;
	}
	r->n++;
	if (hf_status_json(r->st, &r->config, m, false, &out, err) < 0)
		return -1;
	return put(&out, err);
}

static int
status_of(struct run *r, const char *what, struct hf_err *err)
{
	struct hf_buf out = HF_BUF_INIT;
	struct hf_main m;
	int rc = hf_main_find(r->st, what, &m, NULL, err);

	if (rc >= 0)
		rc = r->json ? hf_status_json(r->st, &r->config, &m, true,
		    &out, err) : hf_status_one(r->st, &r->config, &m,
		    in_colour(), &out, err);
	hf_main_release(&m);
	if (rc < 0) {
		hf_buf_release(&out);
		return -1;
	}
	r->n = 1;
	return put(&out, err);
}

static int
status_once(struct run *r, const char *what, struct hf_err *err)
{
	struct hf_buf out = HF_BUF_INIT;

	r->n = 0;
	if (what != NULL)
		return status_of(r, what, err);
	if (r->json)
		return hf_main_each(r->st, json_one, r, err);
	if (hf_status_table(r->st, &r->config, in_colour(), &out, &r->n,
	    err) < 0) {
		hf_buf_release(&out);
		return -1;
	}
	return put(&out, err);
}

/* One change of the state is often several writes: they are waited for. */
static int
follow(struct run *r, const char *what, struct hf_err *err)
{
	enum { LONG_MS = 60000, SETTLE_MS = 200 };

	for (;;) {
		int rc = hf_store_watch(r->st, "mains", LONG_MS, err);

		if (rc < 0)
			return -1;
		if (rc == 0)
			continue;
		if (hf_sig_sleep(SETTLE_MS, err) < 0 ||
		    (!r->json && hf_out(in_colour() ?
		    HF_STR("\033[H\033[J") : HF_STR("\n"), err) < 0) ||
		    status_once(r, what, err) < 0)
			return -1;
	}
}

static int
status(struct run *r, int n, char **what, struct hf_err *err)
{
	const char *one = n > 0 ? what[0] : NULL;

	if (status_once(r, one, err) < 0)
		return -1;
	if (r->follow)
		return follow(r, one, err);
	if (r->n > 0)
		return HF_EX_OK;
	hf_warn("no session is registered: 'handoff enable' does it, "
	    "'handoff now' hands one off");
	return HF_EX_NO;
}

/* ---- configuration ---- */

static int
show_key(const char *key, bool named, struct hf_err *err)
{
	struct hf_buf value = HF_BUF_INIT, out = HF_BUF_INIT;
	const char *from;

	if (hf_config_get(key, &value, &from, err) < 0) {
		hf_buf_release(&value);
		return -1;
	}
	if (named)
		hf_buf_printf(&out, "%s\t", key);
	hf_text_safe(&out, hf_buf_view(&value), false);
	if (named)
		hf_buf_printf(&out, "\t%s", from);
	hf_buf_putc(&out, '\n');
	hf_buf_release(&value);
	return put(&out, err);
}

static int
config(struct run *r, int n, char **what, struct hf_err *err)
{
	const struct hf_key *keys;
	size_t count;

	(void)r;
	if (n >= 2 && n <= 3 && strcmp(what[0], "set") == 0)
		return hf_config_set(what[1], n > 2 ? what[2] : NULL, err);
	if (n == 2 && strcmp(what[0], "get") == 0)
		return show_key(what[1], false, err);
	if (n > 1 || (n == 1 && strcmp(what[0], "get") != 0))
		return hf_err_set(err, HF_E_USAGE,
		    "config wants get [KEY] or set KEY [VALUE]");
	keys = hf_config_keys(&count);
	for (size_t i = 0; i < count; i++)
		if (show_key(keys[i].name, true, err) < 0)
			return -1;
	return 0;
}

/* ---- the agents' own settings ---- */

static int
check_driver(const struct run *r, const char *verb, struct hf_err *err)
{
	if (r->driver != NULL && r->driver[0] == '/')
		return 0;
	return hf_err_set(err, HF_E_USAGE,
	    "%s wants --driver with an absolute path", verb);
}

/* Does the agent call us? */
static int
setup_check(const char *agent, struct hf_err *err)
{
	char *command;
	int rc = hf_setup_is(agent, &command, err);

	free(command);
	return rc < 0 ? -1 : rc > 0 ? HF_EX_OK : HF_EX_NO;
}

static int
doctor(struct run *r, int n, char **what, struct hf_err *err)
{
	struct hf_buf out = HF_BUF_INIT;
	size_t bad = 0;

	(void)n, (void)what;
	if (check_driver(r, "doctor", err) < 0 || hf_doctor(r->driver,
	    r->automatic, &out, &bad, err) < 0) {
		hf_buf_release(&out);
		return -1;
	}
	if (put(&out, err) < 0)
		return -1;
	return bad > 0 ? HF_EX_CONFIG : HF_EX_OK;
}

/* Where the state is, or the user's files are, for scripts. */
static int
home(struct run *r, int n, char **what, struct hf_err *err)
{
	struct hf_buf out = HF_BUF_INIT;
	const char *user = r->user ? hf_env_home(err) : NULL;
	char *dir = r->user ? NULL : hf_store_dir(err);

	(void)n, (void)what;
	if (user == NULL && dir == NULL)
		return -1;
	hf_buf_printf(&out, "%s\n", user != NULL ? user : dir);
	free(dir);
	return put(&out, err);
}

static int
setup(struct run *r, int n, char **what, struct hf_err *err)
{
	struct hf_buf out = HF_BUF_INIT;
	enum hf_setup_do how = r->remove ? HF_SETUP_REMOVE : r->write ?
	    HF_SETUP_WRITE : HF_SETUP_SHOW;
	int rc;

	(void)n;
	if (r->write && r->remove)
		return hf_err_set(err, HF_E_USAGE,
		    "--write and --remove exclude each other");
	if (check_driver(r, "setup", err) < 0)
		return -1;
	if (r->check)
		return setup_check(what[0], err);
	rc = hf_setup(what[0], how, r->driver, &out, err);
	/* What was done before a failure is said too. */
	if (rc < 0) {
		struct hf_err ignored;

		put(&out, &ignored);
		return -1;
	}
	return put(&out, err);
}

/* ---- beside the agents ---- */

static int
answer(struct run *r, const struct hf_host *h, struct hf_err *err)
{
	struct hf_host_answer a;
	struct hf_err why;
	int rc = hf_host(r->st, &r->config, h, &a, err), status = a.status;

	if (rc >= 0 && a.out.len > 0)
		rc = hf_out(hf_buf_view(&a.out), err);
	if (rc >= 0 && a.said.len > 0)
		hf_io_write(2, a.said.data, a.said.len);
	if (hf_host_done(r->st, &a, rc >= 0, rc >= 0 ? err : &why) < 0)
		rc = -1;
	hf_buf_release(&a.out);
	hf_buf_release(&a.said);
	return rc < 0 ? -1 : status;
}

static int
hook_with(struct run *r, int n, char **what, struct hf_err *err)
{
	struct hf_host h = { r->driver, n > 0 ? what[0] : NULL,
		n > 1 ? what[1] : NULL, HF_STR_NONE };
	struct hf_buf text = HF_BUF_MAX(EVENT_MAX);
	int rc = check_driver(r, "hook", err);

	/* Codex's notify gives it as the last word. */
	if (rc == 0 && n > 2)
		hf_buf_puts(&text, what[2]);
	else if (rc == 0)
		rc = hf_io_slurp(0, &text, "stdin", err);
	h.json = hf_buf_view(&text);
	if (rc == 0 && (rc = hf_config_load(&r->config, err)) == 0) {
		rc = hf_store_open(&r->config, &r->st, err);
		if (rc == 0)
			rc = answer(r, &h, err);
		hf_store_close(r->st);
		hf_config_release(&r->config);
	}
	hf_buf_release(&text);
	return rc;
}

/* Whatever goes wrong with us, the agent goes on. */
static int
hook(struct run *r, int n, char **what, struct hf_err *err)
{
	int rc;

	if (n > 3)
		return hf_err_set(err, HF_E_USAGE,
		    "'%s' is one operand too many", what[3]);
	if (hf_env("HANDOFF_FORK") != NULL)
		return HF_EX_OK;
	rc = hook_with(r, n, what, err);
	if (rc < 0) {
		hf_warn_err(err);
		return HF_EX_OK;
	}
	return rc;
}

/* The session of a main, complete enough to be measured. */
static int
waited_for(struct run *r, const char *key, const struct hf_jval *host,
    struct hf_session *s, struct hf_err *err)
{
	struct hf_main m;
	int rc = hf_main_find(r->st, key, &m, s, err);

	if (rc >= 0 && s->id == NULL) {
		s->agent = hf_agent_by_name(hf_str(m.agent));
		hf_session_set(&s->id, hf_str(m.id));
		hf_session_set(&s->path, hf_str(m.path));
		hf_session_set(&s->cwd, hf_str(m.cwd));
	}
	hf_session_set(&s->path, hf_json_get_str(host, "transcript_path"));
	hf_main_release(&m);
	if (rc < 0)
		return -1;
	if (s->agent == NULL || s->path == NULL)
		return hf_err_set(err, HF_E_NOT_FOUND,
		    "no transcript of '%s' is known", key);
	return 0;
}

/* Each line of text with the time, in the log. */
static void
log_lines(struct hf_str text)
{
	char at[HF_TIME_LEN];
	struct hf_buf b = HF_BUF_INIT;
	struct hf_str line;

	hf_clock_format(hf_clock_now(), at);
	while (text.n > 0) {
		line = hf_str_line(text, &text);
		hf_buf_printf(&b, "%s ", at);
		hf_text_safe(&b, line, false);
		hf_buf_putc(&b, '\n');
	}
	if (b.len > 0)
		hf_auto_log(hf_buf_view(&b));
	hf_buf_release(&b);
}

/* The driver's auto on this one session. */
static int
hand_off(struct run *r, const struct hf_session *s,
    const struct hf_jval *host, struct hf_err *err)
{
	const char *argv[] = { r->driver, "auto", "-", NULL };
	struct hf_buf doc = HF_BUF_INIT, said = HF_BUF_MAX(LINES_MAX);
	struct hf_proc p = { argv, NULL, NULL, HF_STR_NONE, &said, &said, 0 };
	struct hf_doc d;
	int status = 0, rc;

	hf_doc_new(&d);
	hf_session_to_doc(&d, s);
	if (hf_json_type(host) == HF_J_OBJ)
		hf_doc_set(&d, "host", hf_jtree_copy(hf_doc_tree(&d), host));
	hf_doc_line(&d, &doc);
	hf_doc_release(&d);
	p.input = hf_buf_view(&doc);
	rc = hf_proc_run(&p, &status, err);
	log_lines(hf_buf_view(&said));
	hf_buf_release(&doc);
	hf_buf_release(&said);
	return rc < 0 ? -1 : status;
}

/* A second one that waits as long would only do the same. */
static int
only_waiter(struct run *r, const struct hf_session *s, struct hf_err *err)
{
	enum { LONG = 600 };
	struct hf_buf lock = HF_BUF_INIT;
	int fd;

	if (r->seconds < LONG)
		return 1;
	hf_buf_puts(&lock, "wait.");
	hf_store_name(&lock, s->agent->name, s->id);
	fd = hf_store_lock(r->st, hf_buf_cstr(&lock), 0, err);
	hf_buf_release(&lock);
	return fd >= 0 ? 1 : err->code == HF_E_LOCKED ? 0 : -1;
}

static int
after_with(struct run *r, const char *key, struct hf_str text,
    struct hf_err *err)
{
	struct hf_json *j = hf_json_parse(text, HF_JSON_MEND, NULL, NULL,
	    NULL);
	const struct hf_jval *host = hf_json_root(j);
	struct hf_session s;
	int rc;

	hf_session_init(&s);
	rc = waited_for(r, key, host, &s, err);
	if (rc == 0)
		rc = only_waiter(r, &s, err);
	if (rc > 0)
		rc = hf_settle(r->st, &s, r->seconds, err);
	if (rc > 0)
		rc = hand_off(r, &s, host, err);
	hf_session_release(&s);
	hf_json_free(j);
	return rc;
}

static int
after(struct run *r, int n, char **what, struct hf_err *err)
{
	struct hf_buf text = HF_BUF_MAX(EVENT_MAX);
	struct hf_main m;
	int rc = check_driver(r, "after", err);

	(void)n;
	if (rc == 0)
		rc = hf_io_slurp(0, &text, "stdin", err);
	if (rc == 0 && r->detach) {
		rc = hf_main_find(r->st, what[0], &m, NULL, err);
		if (rc >= 0)
			rc = hf_host_wait(r->driver, m.agent, m.id,
			    r->seconds, hf_buf_view(&text), err);
		hf_main_release(&m);
	} else if (rc == 0)
		rc = after_with(r, what[0], hf_buf_view(&text), err);
	hf_buf_release(&text);
	return rc;
}

/* Is it the session that we run inside of? */
static int
inside(struct run *r, int n, char **what, struct hf_err *err)
{
	const struct hf_agent *const *all;
	struct hf_main m;
	size_t count;
	int rc = hf_main_find(r->st, what[0], &m, NULL, err);
	bool here = false;

	(void)n;
	all = hf_agents(&count);
	for (size_t i = 0; rc >= 0 && i < count; i++) {
		const char *id = all[i]->session_env != NULL ?
		    hf_env(all[i]->session_env) : NULL;

		here = here || (id != NULL &&
		    strcmp(all[i]->name, m.agent) == 0 &&
		    strcmp(id, m.id) == 0);
	}
	hf_main_release(&m);
	return rc < 0 ? -1 : here ? HF_EX_OK : HF_EX_NO;
}

/* Runs a command that nobody runs beside, on this machine. */
static int
alone(struct run *r, int n, char **what, struct hf_err *err)
{
	struct hf_proc p = { (const char *const *)(what + 1), NULL, NULL,
		HF_STR_NONE, NULL, NULL, 0 };
	struct hf_buf name_here = HF_BUF_INIT;
	int status = 0, lock;

	(void)n;
	hf_buf_puts(&name_here, what[0]);
	if (r->st->shared) {
		hf_buf_printf(&name_here, ".%s.", hf_env_user());
		hf_text_percent(&name_here, hf_str(hf_proc_host()));
	}
	lock = hf_store_lock(r->st, hf_buf_cstr(&name_here), 0, err);
	hf_buf_release(&name_here);
	/* Who is told by the status needs no words. */
	if (lock < 0)
		return err->code == HF_E_LOCKED ? HF_EX_TEMPFAIL : -1;
	if (hf_proc_run(&p, &status, err) < 0)
		status = -1;
	hf_store_unlock(r->st, lock);
	return status;
}

static int
log_stdin(struct run *r, int n, char **what, struct hf_err *err)
{
	struct hf_buf text = HF_BUF_MAX(LINES_MAX);
	int rc = hf_io_slurp(0, &text, "stdin", err);

	(void)r, (void)n, (void)what;
	if (rc == 0)
		log_lines(hf_buf_view(&text));
	hf_buf_release(&text);
	return rc;
}

static int
news(struct run *r, int n, char **what, struct hf_err *err)
{
	struct hf_buf text = HF_BUF_MAX(LINES_MAX), out = HF_BUF_INIT;
	int rc = hf_io_slurp(0, &text, "stdin", err);

	(void)r, (void)n;
	if (rc == 0)
		rc = hf_news(what[0], hf_buf_view(&text), &out, err);
	hf_buf_release(&text);
	if (rc < 0) {
		hf_buf_release(&out);
		return -1;
	}
	return put(&out, err);
}

/* ---- the whole ---- */

static int
export(struct run *r, int n, char **what, struct hf_err *err)
{
	struct hf_jtree *t = hf_jtree_new();
	struct hf_buf out = HF_BUF_INIT;
	struct hf_jnode *o;
	int rc = hf_transfer_export(r->st, t, &o, err);

	(void)n, (void)what;
	if (rc == 0)
		hf_jtree_write(&out, o, true);
	hf_jtree_free(t);
	return rc < 0 ? -1 : put(&out, err);
}

static int
import(struct run *r, int n, char **what, struct hf_err *err)
{
	struct hf_buf text = HF_BUF_MAX(IMPORT_MAX), out = HF_BUF_INIT;
	struct hf_transfer got = { 0 };
	struct hf_json *j = NULL;
	int rc = n > 0 ? hf_io_slurp_path(what[0], &text, err) :
	    hf_io_slurp(0, &text, "stdin", err);

	if (rc == 0 && (j = hf_json_parse(hf_buf_view(&text), HF_JSON_RAW,
	    NULL, NULL, err)) == NULL)
		rc = -1;
	if (rc == 0)
		rc = hf_transfer_import(r->st, hf_json_root(j), &got, err);
	hf_json_free(j);
	hf_buf_release(&text);
	if (rc < 0)
		return -1;
	hf_buf_printf(&out, "%zu sessions, %zu routes and %zu records were "
	    "taken over; %zu were there already\n", got.mains, got.routes,
	    got.records, got.kept);
	if (put(&out, err) < 0)
		return -1;
	return got.refused > 0 ? HF_EX_DATAERR : HF_EX_OK;
}

static int
prune(struct run *r, int n, char **what, struct hf_err *err)
{
	struct hf_buf out = HF_BUF_INIT;
	size_t removed, messages;

	(void)n, (void)what;
	hf_cursors_prune(r->cursors, r->config.keep_days);
	if (hf_prune(r->st, r->config.keep_days, &removed, err) < 0 ||
	    hf_inbox_prune(r->st, r->config.keep_days, &messages, err) < 0)
		return -1;
	if (removed > 0)
		hf_buf_printf(&out, "%zu record%s removed\n", removed,
		    removed == 1 ? "" : "s");
	if (messages > 0)
		hf_buf_printf(&out, "%zu message%s forgotten\n", messages,
		    messages == 1 ? "" : "s");
	return put(&out, err);
}

/* ---- a brief that travels ---- */

static int
brief_export(struct run *r, int n, char **what, struct hf_err *err)
{
	struct hf_buf out = HF_BUF_INIT;
	struct hf_err ignored;
	struct hf_attempt a;
	struct hf_main m;
	int rc = hf_record_find(r->st, what[0], &a, err);

	(void)n;
	if (rc == 0) {
		if (hf_main_find(r->st, what[0], &m, NULL, &ignored) >= 0)
			rc = hf_record_find(r->st, m.id, &a, err);
		hf_main_release(&m);
	}
	if (rc == 0)
		rc = hf_err_set(err, HF_E_NOT_FOUND,
		    "no handoff of '%s' is known", what[0]);
	else if (rc > 0)
		rc = hf_portable_write(&a, &out, err);
	hf_record_release(&a);
	if (rc < 0) {
		hf_buf_release(&out);
		return -1;
	}
	return put(&out, err);
}

/* The same document as hf-commit's, so that hf-route and report go on. */
static int
brief_import(struct run *r, int n, char **what, struct hf_err *err)
{
	struct hf_portable how = { r->to, r->cwd };
	struct hf_buf text = HF_BUF_MAX(HF_PORTABLE_MAX), out = HF_BUF_INIT;
	struct hf_jtree *t;
	struct hf_jnode *s;
	struct hf_attempt a;
	struct hf_doc d;
	int rc = n > 0 && strcmp(what[0], "-") != 0 ?
	    hf_io_slurp_path(what[0], &text, err) :
	    hf_io_slurp(0, &text, "stdin", err);

	hf_record_init(&a);
	if (rc == 0)
		rc = hf_portable_read(r->st, &r->config, hf_buf_view(&text),
		    &how, &a, err);
	hf_buf_release(&text);
	if (rc >= 0) {
		hf_doc_new(&d);
		t = hf_doc_tree(&d);
		s = hf_jtree_obj(t);
		hf_jset_cstr(t, s, "agent", a.source.agent);
		hf_jset_cstr(t, s, "id", a.source.id);
		hf_doc_set(&d, "session", s);
		hf_attempt_to_doc(&d, &a, NULL);
		hf_doc_line(&d, &out);
		hf_doc_release(&d);
	}
	hf_record_release(&a);
	return rc < 0 ? -1 : put(&out, err);
}

/* ---- the text of a brief, for an editor ---- */

static int
read_text(const char *path, struct hf_buf *text, struct hf_err *err)
{
	text->max = HF_PORTABLE_MAX;
	if (hf_io_slurp_path(path, text, err) < 0)
		return -1;
	if (hf_str_trim(hf_buf_view(text)).n == 0)
		return hf_err_set(err, HF_E_CANCELLED, "the text is empty");
	return 0;
}

/* Without a file the text comes out, JSON with a line a value; with one it
 * goes in. */
static int
act_text(struct hf_doc *d, void *arg, struct hf_err *err)
{
	struct run *r = arg;
	const struct hf_jval *summary = hf_doc_get(d, "summary");
	struct hf_str was = hf_json_get_str(summary, "text");
	struct hf_buf out = HF_BUF_INIT, text = HF_BUF_INIT;
	struct hf_json *j;
	struct hf_jnode *o;

	if (was.n == 0)
		return hf_err_set(err, HF_E_MISSING,
		    "the document has no summary");
	if (r->field != NULL) {
		if (read_text(r->field, &text, err) < 0)
			return -1;
		o = hf_jtree_copy(hf_doc_tree(d), summary);
		hf_jset_str(hf_doc_tree(d), o, "text", hf_buf_view(&text));
		hf_doc_set(d, "summary", o);
		hf_doc_line(d, &out);
		hf_buf_release(&text);
		return put(&out, err);
	}
	j = hf_json_parse(was, HF_JSON_RAW, NULL, NULL, NULL);
	if (j != NULL) {
		hf_json_write(&text, hf_json_root(j));
		hf_lex_pretty(&out, hf_buf_view(&text));
		hf_buf_release(&text);
	} else {
		hf_buf_str(&out, was);
	}
	hf_json_free(j);
	return put(&out, err);
}

static int
text(struct run *r, int n, char **what, struct hf_err *err)
{
	struct hf_stage s = { name, true, act_text, r, true };

	r->field = n > 0 ? what[0] : NULL;
	return hf_doc_stage(&s, err);
}

/* ---- documents in words ---- */

static int
act_report(struct hf_doc *d, void *arg, struct hf_err *err)
{
	struct run *r = arg;
	struct hf_buf out = HF_BUF_INIT;

	hf_report(r->report, d, &out);
	return put(&out, err);
}

static int
report(struct run *r, int n, char **what, struct hf_err *err)
{
	struct hf_stage s = { name, true, act_report, r, true };
	int kind = hf_report_kind(what[0]), rc;

	(void)n;
	if (kind < 0)
		return hf_err_set(err, HF_E_USAGE,
		    "'%s' is no kind of report", what[0]);
	r->report = (enum hf_report)kind;
	rc = hf_doc_stage(&s, err);
	/* What the documents say is not what we came to. */
	return rc < 0 ? -1 : HF_EX_OK;
}

static int
act_field(struct hf_doc *d, void *arg, struct hf_err *err)
{
	struct run *r = arg;
	struct hf_buf out = HF_BUF_INIT, text = HF_BUF_INIT;
	const struct hf_jval *v = hf_json_at(d->root, r->field);

	/* Of the first document. */
	if (r->seen || hf_json_type(v) <= HF_J_NULL) {
		r->seen = true;
		return 0;
	}
	r->seen = true;
	r->n++;
	if (hf_json_type(v) == HF_J_STR)
		hf_buf_str(&text, hf_json_str(v));
	else
		hf_json_write(&text, v);
	hf_text_safe(&out, hf_buf_view(&text), false);
	hf_buf_putc(&out, '\n');
	hf_buf_release(&text);
	return put(&out, err);
}

static int
field(struct run *r, int n, char **what, struct hf_err *err)
{
	struct hf_stage s = { name, true, act_field, r, true };
	int rc;

	(void)n;
	r->field = what[0];
	rc = hf_doc_stage(&s, err);
	return rc < 0 ? -1 : r->n > 0 ? HF_EX_OK : HF_EX_NO;
}

/* ---- the command ---- */

static const struct {
	const char *word;
	int min, max;		/* operands */
	int (*does)(struct run *r, int n, char **what, struct hf_err *err);
} verbs[] = {
	{ "join", 0, 0, join }, { "enable", 0, 1, enable },
	{ "disable", 0, 1, disable }, { "request", 0, 1, request },
	{ "cancel", 0, 1, cancel }, { "unroute", 0, 1, unroute },
	{ "list", 0, 0, list }, { "due", 0, 0, due },
	{ "records", 0, 1, records }, { "status", 0, 1, status },
	{ "config", 0, 3, config }, { "export", 0, 0, export },
	{ "import", 0, 1, import }, { "prune", 0, 0, prune },
	{ "pick", 0, 1, pick }, { "report", 1, 1, report },
	{ "field", 1, 1, field }, { "setup", 1, 1, setup },
	{ "after", 1, 1, after }, { "inside", 1, 1, inside },
	{ "alone", 2, 64, alone }, { "log", 0, 0, log_stdin },
	{ "news", 1, 1, news }, { "doctor", 0, 0, doctor },
	{ "home", 0, 0, home }, { "brief-export", 1, 1, brief_export },
	{ "brief-import", 0, 1, brief_import }, { "text", 0, 1, text },
};

enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

static int
no_verb(const char *word, struct hf_err *err)
{
	const char *words[VERBS], *near;

	for (size_t i = 0; i < VERBS; i++)
		words[i] = verbs[i].word;
	near = hf_nearest(word, words, VERBS);
	return hf_err_set(err, HF_E_USAGE, "'%s' is not a verb%s%s%s", word,
	    near != NULL ? "; did you mean '" : " (--help lists them)",
	    near != NULL ? near : "", near != NULL ? "'?" : "");
}

static int
verb(struct run *r, int n, char **rest, struct hf_err *err)
{
	for (size_t i = 0; i < VERBS; i++) {
		if (strcmp(rest[0], verbs[i].word) != 0)
			continue;
		if (n - 1 < verbs[i].min)
			return hf_err_set(err, HF_E_USAGE,
			    "%s wants an operand", rest[0]);
		if (n - 1 > verbs[i].max)
			return hf_err_set(err, HF_E_USAGE,
			    "'%s' is one operand too many",
			    rest[verbs[i].max + 1]);
		return verbs[i].does(r, n - 1, rest + 1, err);
	}
	return no_verb(rest[0], err);
}

/* A configuration that is wrong must be mendable, and told of. */
static bool
does_without(const char *word)
{
	static const char *const words[] = { "config", "setup", "doctor",
		"home", "news", "log" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i], word) == 0)
			return true;
	return false;
}

static int
run(int argc, char **argv, struct hf_err *err)
{
	struct run r = { .seconds = 120 };
	const struct hf_opt opts[] = {
		{ 'f', "focus", "TEXT", "what the brief is to focus on "
		    "(request)", HF_OPT_STR, &r.focus, 0, 0 },
		{ 0, "cwd", "DIR", "the folder of the work here "
		    "(brief-import)", HF_OPT_STR, &r.cwd, 0, 0 },
		{ 0, "to", "AGENT", "the successor's agent (request, "
		    "brief-import)",
		    HF_OPT_STR, &r.to, 0, 0 },
		{ 0, "until", "TIME", "when the request expires: a time, or "
		    "seconds from now (request)", HF_OPT_STR, &r.until, 0, 0 },
		{ 0, "keep", NULL, "keep the cursors for the next time "
		    "(join)", HF_OPT_FLAG, &r.keep, 0, 0 },
		{ 'j', "json", NULL, "documents instead of a table (status)",
		    HF_OPT_FLAG, &r.json, 0, 0 },
		{ 0, "write", NULL, "change the agent's files (setup)",
		    HF_OPT_FLAG, &r.write, 0, 0 },
		{ 0, "remove", NULL, "take it out of them again (setup)",
		    HF_OPT_FLAG, &r.remove, 0, 0 },
		{ 0, "check", NULL, "is it there? (setup)", HF_OPT_FLAG,
		    &r.check, 0, 0 },
		{ 0, "auto", NULL, "only what an unattended run needs "
		    "(doctor)", HF_OPT_FLAG, &r.automatic, 0, 0 },
		{ 0, "user", NULL, "the user's own folder (home)",
		    HF_OPT_FLAG, &r.user, 0, 0 },
		{ 0, "driver", "PATH", "the handoff command that is to be "
		    "called (setup, hook, after, doctor)", HF_OPT_STR,
		    &r.driver, 0, 0 },
		{ 0, "seconds", "N", "how long to wait (after)", HF_OPT_INT,
		    &r.seconds, 1, 7 * 86400 },
		{ 0, "detach", NULL, "wait in the background (after)",
		    HF_OPT_FLAG, &r.detach, 0, 0 },
		{ 0, "follow", NULL, "go on, and print it again at each "
		    "change (status)", HF_OPT_FLAG, &r.follow, 0, 0 },
		{ 0, NULL, NULL, NULL, HF_OPT_FLAG, NULL, 0, 0 } };
	const struct hf_opt_usage usage = { name, "join | enable | disable | "
	    "request | cancel | unroute [ID] | status [ID] | records [ID] | "
	    "list | due | config [get [KEY] | set KEY [VALUE]] | export | "
	    "import [FILE] | prune | pick [SESSION] | report KIND | "
	    "field PATH | setup AGENT | hook [AGENT [EVENT [JSON]]] | "
	    "after ID | inside ID | alone NAME COMMAND ... | log | "
	    "news NAME | doctor | home | brief-export ID | "
	    "brief-import [FILE] | text [FILE]",
	    "the state: mains, switches, records, configuration", opts };
	int n, rc;

	if ((rc = hf_opt_parse(&usage, argc, argv, &n, err)) != 0)
		return rc < 0 ? -1 : HF_EX_OK;
	if (n == 0)
		return hf_err_set(err, HF_E_USAGE,
		    "a verb is missing (--help lists them)");
	if (strcmp(argv[1], "hook") == 0)
		return hook(&r, n - 1, argv + 2, err);
	if (does_without(argv[1]))
		return verb(&r, n, argv + 1, err);
	if (hf_config_load(&r.config, err) < 0)
		return -1;
	r.cursors = hf_cursors_open();
	rc = hf_store_open(&r.config, &r.st, err);
	if (rc == 0)
		rc = verb(&r, n, argv + 1, err);
	hf_store_close(r.st);
	hf_cursors_close(r.cursors);
	hf_config_release(&r.config);
	return rc;
}

int
main(int argc, char **argv)
{
	return hf_cmd_main(name, run, argc, argv);
}
