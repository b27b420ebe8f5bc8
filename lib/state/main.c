#include "state/main.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/hmac.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/sig.h"

enum {
	TRIES = 200,		/* of a compare-and-set, all lost */
	PAUSE_MS = 8,		/* at most, between two */
	PREFIX_MIN = 8		/* of an id, as for transcripts */
};

/* ---- the value ---- */

void
hf_main_init(struct hf_main *m, const char *agent, const char *id)
{
	memset(m, 0, sizeof(*m));
	m->agent = hf_strdup(agent);
	m->id = hf_strdup(id);
	m->last_seq = -1;
}

void
hf_main_set(char **field, const char *s)
{
	char *copy = s != NULL ? hf_strdup(s) : NULL;

	free(*field);
	*field = copy;
}

void
hf_main_clear_request(struct hf_main *m)
{
	m->requested.on = false;
	m->requested.until = 0;
	hf_main_set(&m->requested.focus, NULL);
	hf_main_set(&m->requested.to, NULL);
}

void
hf_main_clear_redirect(struct hf_main *m)
{
	hf_main_set(&m->redirect.agent, NULL);
	hf_main_set(&m->redirect.id, NULL);
	hf_main_set(&m->redirect.attempt, NULL);
	m->redirect.at = 0;
}

void
hf_main_set_redirect(struct hf_main *m, const char *agent, const char *id,
    const char *attempt, int64_t at)
{
	hf_main_set(&m->redirect.agent, agent);
	hf_main_set(&m->redirect.id, id);
	hf_main_set(&m->redirect.attempt, attempt);
	m->redirect.at = at;
}

void
hf_main_set_deferred(struct hf_main *m, char *const *line, size_t n)
{
	for (size_t i = 0; i < m->ndeferred; i++)
		free(m->deferred[i]);
	m->ndeferred = 0;
	for (size_t i = 0; i < n && i < HF_DEFERRED_MAX; i++)
		m->deferred[m->ndeferred++] = hf_strdup(line[i]);
}

void
hf_main_end_attempt(struct hf_main *m)
{
	m->epoch++;
	m->lease.held = false;
}

bool
hf_main_busy(struct hf_store *st, const struct hf_main *m)
{
	return m->lease.held && hf_store_look(st, &m->lease) == HF_LEASE_LIVE;
}

void
hf_main_release(struct hf_main *m)
{
	hf_main_set_deferred(m, NULL, 0);
	hf_main_clear_request(m);
	hf_main_clear_redirect(m);
	free(m->from.agent);
	free(m->from.id);
	free(m->attempt);
	free(m->path);
	free(m->cwd);
	free(m->host);
	free(m->user);
	free(m->agent);
	free(m->id);
	hf_json_free(m->was);
	memset(m, 0, sizeof(*m));
}

/* ---- where ---- */

void
hf_main_place(struct hf_main *m)
{
	hf_main_set(&m->host, hf_proc_host());
	hf_main_set(&m->user, hf_env_user());
}

static bool
is_there(const char *path)
{
	struct stat found;
	char *file;
	bool there;

	if (path == NULL)
		return false;
	file = hf_session_file(path);
	there = stat(file, &found) == 0;
	free(file);
	return there;
}

bool
hf_main_present(const struct hf_main *m)
{
	return is_there(m->path);
}

bool
hf_main_is_here(const struct hf_store *st, const char *host,
    const char *user, const char *path)
{
	if (!st->shared || host == NULL ||
	    (strcmp(host, hf_proc_host()) == 0 &&
	    (user == NULL || strcmp(user, hf_env_user()) == 0)))
		return true;
	return is_there(path);
}

bool
hf_main_here(const struct hf_store *st, const struct hf_main *m)
{
	return hf_main_is_here(st, m->host, m->user, m->path);
}

/* ---- JSON ---- */

static void
set_time(struct hf_jtree *t, struct hf_jnode *o, const char *key, int64_t ms)
{
	char text[HF_TIME_LEN];

	hf_clock_format(ms, text);
	hf_jset_cstr(t, o, key, text);
}

static struct hf_jnode *
request_to_json(struct hf_jtree *t, const struct hf_main *m)
{
	struct hf_jnode *o;

	if (!m->requested.on)
		return hf_jtree_null(t);
	o = hf_jtree_obj(t);
	set_time(t, o, "until", m->requested.until);
	hf_jset_cstr(t, o, "focus", m->requested.focus);
	hf_jset_cstr(t, o, "to", m->requested.to);
	return o;
}

static struct hf_jnode *
redirect_to_json(struct hf_jtree *t, const struct hf_main *m)
{
	struct hf_jnode *o;

	if (m->redirect.id == NULL)
		return hf_jtree_null(t);
	o = hf_jtree_obj(t);
	hf_jset_cstr(t, o, "agent", m->redirect.agent);
	hf_jset_cstr(t, o, "id", m->redirect.id);
	hf_jset_cstr(t, o, "attempt", m->redirect.attempt);
	set_time(t, o, "at", m->redirect.at);
	return o;
}

struct hf_jnode *
hf_main_name(struct hf_jtree *t, const char *agent, const char *id)
{
	struct hf_jnode *o = hf_jtree_obj(t);

	hf_jset_cstr(t, o, "agent", agent);
	hf_jset_cstr(t, o, "id", id);
	return o;
}

static void
attempts_to_json(struct hf_jtree *t, struct hf_jnode *o,
    const struct hf_main *m)
{
	struct hf_jnode *a = hf_jtree_arr(t);

	if (m->last_seq >= 0)
		hf_jset_int(t, o, "lastAttemptSeq", m->last_seq);
	else
		hf_jset_null(t, o, "lastAttemptSeq");
	for (size_t i = 0; i < m->ndeferred; i++)
		hf_jpush_str(t, a, hf_str(m->deferred[i]));
	hf_jset(t, o, "deferred", a);
	hf_jset_int(t, o, "failures", m->failures);
	if (m->retry_at > 0)
		set_time(t, o, "retryAt", m->retry_at);
	else
		hf_jset_null(t, o, "retryAt");
	hf_jset(t, o, "inheritedFrom", m->from.id != NULL ?
	    hf_main_name(t, m->from.agent, m->from.id) : hf_jtree_null(t));
	if (hf_jget(o, "cursor") == NULL)
		hf_jset_null(t, o, "cursor");
}

struct hf_jnode *
hf_main_to_json(struct hf_jtree *t, const struct hf_main *m)
{
	const struct hf_jval *was = hf_json_root(m->was);
	struct hf_jnode *o = hf_json_type(was) == HF_J_OBJ ?
	    hf_jtree_copy(t, was) : hf_jtree_obj(t);

	hf_jset_cstr(t, o, "agent", m->agent);
	hf_jset_cstr(t, o, "id", m->id);
	hf_jset_cstr(t, o, "path", m->path);
	hf_jset_cstr(t, o, "cwd", m->cwd);
	hf_jset_cstr(t, o, "host", m->host);
	hf_jset_cstr(t, o, "user", m->user);
	hf_jset_bool(t, o, "enabled", m->enabled);
	hf_jset(t, o, "requested", request_to_json(t, m));
	hf_jset_int(t, o, "epoch", m->epoch);
	hf_jset_cstr(t, o, "attempt", m->attempt);
	hf_jset(t, o, "lease", hf_lease_to_json(t, &m->lease));
	hf_jset(t, o, "redirect", redirect_to_json(t, m));
	attempts_to_json(t, o, m);
	return o;
}

/* A string's copy; NULL for anything else, and for one with a NUL in it,
 * which could only be cut. */
static char *
get_str(const struct hf_jval *v, const char *key)
{
	struct hf_str a = hf_json_get_str(v, key);

	if (a.s == NULL || memchr(a.s, '\0', a.n) != NULL)
		return NULL;
	return hf_strndup(a.s, a.n);
}

static int64_t
get_time(const struct hf_jval *v, const char *key)
{
	return hf_clock_parse(hf_json_get_str(v, key));
}

static void
get_request(struct hf_main *m, const struct hf_jval *v)
{
	int64_t until = get_time(v, "until");

	if (until < hf_clock_now())
		return;
	m->requested.on = true;
	m->requested.until = until;
	m->requested.focus = get_str(v, "focus");
	m->requested.to = get_str(v, "to");
}

static void
get_redirect(struct hf_main *m, const struct hf_jval *v)
{
	m->redirect.agent = get_str(v, "agent");
	m->redirect.id = get_str(v, "id");
	m->redirect.attempt = get_str(v, "attempt");
	m->redirect.at = get_time(v, "at");
}

static void
get_attempts(struct hf_main *m, const struct hf_jval *v)
{
	const struct hf_jval *from = hf_json_get(v, "inheritedFrom"), *e;
	struct hf_jiter it;

	if (!hf_json_int(hf_json_get(v, "lastAttemptSeq"), &m->last_seq))
		m->last_seq = -1;
	m->failures = hf_json_count(hf_json_get(v, "failures"));
	m->retry_at = get_time(v, "retryAt");
	if (m->retry_at < 0)
		m->retry_at = 0;
	m->from.agent = get_str(from, "agent");
	m->from.id = get_str(from, "id");
	hf_json_iter(&it, hf_json_get(v, "deferred"));
	while ((e = hf_json_next(&it, NULL)) != NULL &&
	    m->ndeferred < HF_DEFERRED_MAX) {
		struct hf_str a = hf_json_str(e);

		if (a.s != NULL)
			m->deferred[m->ndeferred++] = hf_strndup(a.s, a.n);
	}
}

static int
from_json(struct hf_main *m, const struct hf_jval *v, const char *key,
    struct hf_err *err)
{
	const struct hf_jval *redirect = hf_json_get(v, "redirect");

	m->agent = get_str(v, "agent");
	m->id = get_str(v, "id");
	if (m->agent == NULL || m->id == NULL)
		return hf_err_set(err, HF_E_INVALID,
		    "'%s' is damaged: it names no session", key);
	m->path = get_str(v, "path");
	m->cwd = get_str(v, "cwd");
	m->host = get_str(v, "host");
	m->user = get_str(v, "user");
	m->enabled = hf_json_true(hf_json_get(v, "enabled"));
	get_request(m, hf_json_get(v, "requested"));
	if (!hf_json_int(hf_json_get(v, "epoch"), &m->epoch) || m->epoch < 0)
		return hf_err_set(err, HF_E_INVALID,
		    "'%s' is damaged: its epoch is no number", key);
	m->attempt = get_str(v, "attempt");
	hf_lease_from_json(hf_json_get(v, "lease"), &m->lease);
	if (hf_json_type(redirect) == HF_J_OBJ)
		get_redirect(m, redirect);
	if (hf_json_type(redirect) == HF_J_OBJ &&
	    (m->redirect.agent == NULL || m->redirect.id == NULL))
		return hf_err_set(err, HF_E_INVALID,
		    "'%s' is damaged: its redirect leads nowhere", key);
	get_attempts(m, v);
	return 0;
}

/* ---- load and store ---- */

static void
key_of(struct hf_buf *out, const char *agent, const char *id)
{
	hf_buf_puts(out, "mains/");
	hf_store_name(out, agent, id);
}

/* What is under a key, as a main. *m is zero after -1. */
static int
read_main(const char *key, struct hf_str text, const struct hf_rev *rev,
    struct hf_main *m, struct hf_err *err)
{
	int rc = -1;

	memset(m, 0, sizeof(*m));
	m->was = hf_json_parse(text, HF_JSON_RAW, NULL, NULL, err);
	if (m->was == NULL)
		hf_err_prefix(err, "'%s' is damaged", key);
	else
		rc = from_json(m, hf_json_root(m->was), key, err);
	m->stored = true;
	m->rev = *rev;
	if (rc < 0)
		hf_main_release(m);
	return rc;
}

/* The main under a key. 1, 0 there is none, -1; *m is zero unless 1. */
static int
load_key(struct hf_store *st, const char *key, struct hf_main *m,
    struct hf_err *err)
{
	struct hf_buf text = HF_BUF_INIT;
	struct hf_rev rev;
	int rc;

	memset(m, 0, sizeof(*m));
	rc = hf_store_get(st, key, &text, &rev, err);
	if (rc > 0)
		rc = read_main(key, hf_buf_view(&text), &rev, m, err) < 0 ?
		    -1 : 1;
	hf_buf_release(&text);
	return rc;
}

/* 1, 0 (*m is zero), -1 (the same). */
static int
load_exact(struct hf_store *st, const char *agent, const char *id,
    struct hf_main *m, struct hf_err *err)
{
	struct hf_buf key = HF_BUF_INIT;
	int rc;

	key_of(&key, agent, id);
	rc = load_key(st, hf_buf_cstr(&key), m, err);
	if (rc > 0 && (strcmp(m->agent, agent) != 0 ||
	    strcmp(m->id, id) != 0)) {
		rc = hf_err_set(err, HF_E_INVALID,
		    "'%s' is damaged: it holds the session '%s'",
		    hf_buf_cstr(&key), m->id);
		hf_main_release(m);
	}
	hf_buf_release(&key);
	return rc;
}

int
hf_main_load(struct hf_store *st, const char *agent, const char *id,
    struct hf_main *m, struct hf_err *err)
{
	int rc = load_exact(st, agent, id, m, err);

	if (rc == 0 && strcmp(agent, HF_AGENT_ANY) != 0)
		rc = load_exact(st, HF_AGENT_ANY, id, m, err);
	if (rc <= 0)
		hf_main_init(m, agent, id);
	return rc;
}

int
hf_main_save(struct hf_store *st, struct hf_main *m, struct hf_err *err)
{
	struct hf_jtree *t = hf_jtree_new();
	struct hf_buf key = HF_BUF_INIT, text = HF_BUF_INIT;
	int rc;

	key_of(&key, m->agent, m->id);
	hf_jtree_write(&text, hf_main_to_json(t, m), false);
	hf_buf_putc(&text, '\n');
	rc = hf_store_put_under(st, hf_buf_cstr(&key), hf_buf_view(&text),
	    &m->rev, m->fenced ? &m->lease : NULL, &m->rev, err);
	if (rc == 0)
		m->stored = true;
	hf_buf_release(&text);
	hf_buf_release(&key);
	hf_jtree_free(t);
	return rc;
}

/* So that those who lost together do not meet again. */
static int
pause_a_little(struct hf_err *err)
{
	uint8_t r;

	hf_random(&r, sizeof(r));
	return hf_sig_sleep(1 + r % PAUSE_MS, err);
}

int
hf_main_update(struct hf_store *st, const char *agent, const char *id,
    struct hf_main *m,
    int (*change)(struct hf_main *m, void *arg, struct hf_err *err),
    void *arg, struct hf_err *err)
{
	for (int i = 0; i < TRIES; i++) {
		struct hf_err why = { HF_OK, "" };
		int rc = hf_main_load(st, agent, id, m, err);

		if (rc >= 0)
			rc = change(m, arg, err);
		if (rc <= 0)
			return rc;
		if (hf_main_save(st, m, &why) == 0)
			return 0;
		/* Trying again brings no lease back. */
		if (why.code != HF_E_CHANGED || (m->fenced &&
		    hf_store_look(st, &m->lease) != HF_LEASE_LIVE)) {
			*err = why;
			return -1;
		}
		if (pause_a_little(err) < 0)
			return -1;
		hf_main_release(m);
	}
	hf_main_init(m, agent, id);
	return hf_err_set(err, HF_E_LOCKED,
	    "the state of session '%s' is changed all the time", id);
}

struct each {
	int (*cb)(const char *key, struct hf_main *m,
	    const struct hf_err *why, void *arg, struct hf_err *err);
	void *arg;
};

static int
give_main(const char *key, struct hf_str val, const struct hf_rev *rev,
    const struct hf_err *why, void *arg, struct hf_err *err)
{
	struct each *e = arg;
	struct hf_err damage = { HF_OK, "" };
	struct hf_main m;
	int rc;

	if (why != NULL)
		return e->cb(key, NULL, why, e->arg, err);
	if (read_main(key, val, rev, &m, &damage) < 0)
		return e->cb(key, NULL, &damage, e->arg, err);
	rc = e->cb(key, &m, &damage, e->arg, err);
	hf_main_release(&m);
	return rc;
}

int
hf_main_each(struct hf_store *st,
    int (*cb)(const char *key, struct hf_main *m, const struct hf_err *why,
    void *arg, struct hf_err *err),
    void *arg, struct hf_err *err)
{
	struct each e = { cb, arg };

	return hf_store_each(st, "mains", give_main, &e, err);
}

/* ---- looking up ---- */

/* "claude:ID" → its agent's name; NULL: what is an id. */
static const char *
split_agent(const char *what, const char **id)
{
	const char *colon = strchr(what, ':');
	const struct hf_agent *a;
	struct hf_str name;

	if (colon == NULL || colon[1] == '\0')
		return NULL;
	name = hf_strn(what, (size_t)(colon - what));
	*id = colon + 1;
	if (hf_str_is(name, HF_AGENT_ANY))
		return HF_AGENT_ANY;
	a = hf_agent_by_name(name);
	return a != NULL ? a->name : NULL;
}

struct found {
	struct hf_main *m;	/* the one, if n > 0 */
	size_t n;
	struct hf_buf names;
};

static int
look_at(struct hf_store *st, const char *agent, const char *id,
    struct found *f, struct hf_err *err)
{
	struct hf_main m;
	int rc = load_exact(st, agent, id, &m, err);

	if (rc <= 0)
		return rc;
	hf_buf_printf(&f->names, "%s%s:%s", f->n > 0 ? ", " : "", agent, id);
	if (f->n++ == 0)
		*f->m = m;
	else
		hf_main_release(&m);
	return 0;
}

/* A route by hand may be older than the main that the session got later:
 * of two of which only that one leads on, it counts. */
static int
look_at_any(struct hf_store *st, const char *id, struct found *f,
    struct hf_err *err)
{
	struct hf_main any;
	int rc = load_exact(st, HF_AGENT_ANY, id, &any, err);

	if (rc <= 0)
		return rc;
	if (f->n == 0 || (f->n == 1 && f->m->redirect.id == NULL &&
	    any.redirect.id != NULL)) {
		if (f->n > 0)
			hf_main_release(f->m);
		f->n = 1;
		*f->m = any;
	} else
		hf_main_release(&any);
	return 0;
}

int
hf_main_lookup(struct hf_store *st, const char *what, struct hf_main *m,
    struct hf_err *err)
{
	struct found f = { m, 0, HF_BUF_INIT };
	const char *id = what, *agent = split_agent(what, &id);
	const struct hf_agent *const *agents;
	size_t n;
	int rc = 0;

	if (agent != NULL)
		return hf_main_load(st, agent, id, m, err);
	agents = hf_agents(&n);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = look_at(st, agents[i]->name, what, &f, err);
	if (rc == 0)
		rc = look_at_any(st, what, &f, err);
	if (rc == 0 && f.n > 1)
		rc = hf_err_set(err, HF_E_USAGE,
		    "'%s' is the id of several sessions: %s", what,
		    hf_buf_cstr(&f.names));
	if (rc < 0 && f.n > 0)
		hf_main_release(m);
	if (rc < 0 || f.n == 0)
		hf_main_init(m, HF_AGENT_ANY, what);
	hf_buf_release(&f.names);
	return rc < 0 ? -1 : f.n > 0;
}

struct prefix {
	struct hf_buf encoded;
	char *agent, *id;
	size_t n;
};

static int
match_prefix(const char *key, struct hf_main *m, const struct hf_err *why,
    void *arg, struct hf_err *err)
{
	struct prefix *p = arg;
	const char *dot = strchr(key, '.');

	(void)why, (void)err;
	if (m == NULL || dot == NULL ||
	    !hf_str_starts(hf_str(dot + 1), hf_buf_cstr(&p->encoded)))
		return 0;
	if (p->n++ == 0) {
		p->agent = hf_strdup(m->agent);
		p->id = hf_strdup(m->id);
	}
	return 0;
}

/* A main whose id begins so: for sessions whose transcript has gone. 1, 0
 * none or several, -1. */
static int
by_prefix(struct hf_store *st, const char *what, struct hf_main *m,
    struct hf_err *err)
{
	struct prefix p = { HF_BUF_INIT, NULL, NULL, 0 };
	int rc = 0;

	if (strlen(what) < PREFIX_MIN)
		return 0;
	hf_text_percent(&p.encoded, hf_str(what));
	rc = hf_main_each(st, match_prefix, &p, err);
	if (rc == 0 && p.n == 1)
		rc = load_exact(st, p.agent, p.id, m, err);
	hf_buf_release(&p.encoded);
	free(p.agent);
	free(p.id);
	return rc;
}

int
hf_main_find(struct hf_store *st, const char *what, struct hf_main *m,
    struct hf_session *s, struct hf_err *err)
{
	struct hf_err why = { HF_OK, "" };
	struct hf_session own;
	struct hf_session *to = s != NULL ? s : &own;
	struct hf_main other;
	const char *id = what, *agent = split_agent(what, &id);
	int rc;

	hf_session_init(to);
	rc = hf_main_lookup(st, what, m, err);
	if (rc == 0 && hf_session_find(id, agent != NULL ?
	    hf_agent_by_name(hf_str(agent)) : NULL, to, &why) == 0) {
		hf_main_release(m);
		rc = hf_main_load(st, to->agent->name, to->id, m, err);
		if (rc >= 0) {
			hf_main_set(&m->path, to->path);
			hf_main_set(&m->cwd, to->cwd);
		}
	} else if (rc == 0) {
		rc = why.code == HF_E_NOT_FOUND ?
		    by_prefix(st, what, &other, err) : 0;
		if (rc > 0) {
			hf_main_release(m);
			*m = other;
		} else if (rc == 0) {
			*err = why;
			rc = -1;
		}
	}
	if (s == NULL)
		hf_session_release(&own);
	return rc;
}

int
hf_main_owner(const char *path, struct hf_err *err)
{
	char *file = hf_session_file(path);
	struct stat st;
	int rc = 0;

	if (stat(file, &st) < 0) {
		if (errno != ENOENT && errno != ENOTDIR)
			rc = hf_err_sys(err, errno, "cannot look at '%s'",
			    file);
	} else if (st.st_uid != geteuid()) {
		rc = hf_err_set(err, HF_E_REFUSED,
		    "'%s' is another user's session: hand it off as its owner",
		    path);
	}
	free(file);
	return rc;
}
