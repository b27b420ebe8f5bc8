#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/agent.h"
#include "base/io.h"
#include "base/sig.h"

/* As short as git takes them. */
enum { PREFIX_MIN = 4, NAMED_MAX = 6 };

/* ---- all session files ---- */

/* A session of which no more is known than its path tells. */
struct found {
	const struct hf_agent *agent;
	char *path, *id;
};

struct finder {
	const char *what;
	const struct hf_agent *agent;	/* the one whose files are shown */
	struct found *whole, *prefix;
	size_t nwhole, nprefix;
};

static void
found_add(struct found **v, size_t *n, const struct hf_agent *agent,
    const char *path, const char *id)
{
	*v = hf_reallocarray(*v, *n + 1, sizeof(**v));
	(*v)[(*n)++] = (struct found){ agent, hf_strdup(path),
	    hf_strdup(id) };
}

static void
found_free(struct found *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(v[i].path);
		free(v[i].id);
	}
	free(v);
}

static int
on_file(const char *path, void *arg, struct hf_err *err)
{
	struct finder *f = arg;
	struct hf_session s;
	size_t n = strlen(f->what);

	if (hf_sig_check(err) < 0)
		return -1;
	hf_session_init(&s);
	s.agent = f->agent;
	s.path = hf_strdup(path);
	if (f->agent->by_path != NULL)
		f->agent->by_path(&s);
	if (s.id == NULL) {
		hf_session_release(&s);
		if (hf_session_peek(path, &s, NULL) < 0 || s.id == NULL)
			goto out;
	}
	if (strcmp(s.id, f->what) == 0)
		found_add(&f->whole, &f->nwhole, f->agent, path, s.id);
	else if (n >= PREFIX_MIN && strncmp(s.id, f->what, n) == 0)
		found_add(&f->prefix, &f->nprefix, f->agent, path, s.id);
out:
	hf_session_release(&s);
	return 0;
}

/*
 * Calls cb for all files of one agent, or with NULL of all; set is told
 * whose they are. A store that cannot be read hides nobody else's sessions:
 * why is told of the first such one, and is clear when there is none. -1 on
 * a signal only.
 */
static int
each_file(const struct hf_agent *only, const struct hf_agent **set,
    int (*cb)(const char *path, void *arg, struct hf_err *err), void *arg,
    struct hf_err *why, struct hf_err *err)
{
	const struct hf_agent *const *agents;
	struct hf_err e;
	size_t i, n;

	why->code = HF_OK;
	agents = hf_agents(&n);
	for (i = 0; i < n; i++) {
		if ((only != NULL && agents[i] != only) ||
		    agents[i]->each == NULL)
			continue;
		*set = agents[i];
		if (agents[i]->each(cb, arg, &e) == 0)
			continue;
		if (e.code == HF_E_CANCELLED) {
			*err = e;
			return -1;
		}
		if (why->code == HF_OK)
			*why = e;
	}
	return 0;
}

/* ---- one session ---- */

static int
several(const char *what, const struct found *v, size_t n,
    struct hf_err *err)
{
	struct hf_buf list = HF_BUF_INIT;
	size_t i;

	for (i = 0; i < n && i < NAMED_MAX; i++) {
		hf_buf_puts(&list, i > 0 ? ", " : "");
		hf_buf_printf(&list, "%s %s", v[i].agent->name, v[i].id);
		if (i > 0 && strcmp(v[i].id, v[i - 1].id) == 0)
			hf_buf_printf(&list, " (%s)", v[i].path);
	}
	if (n > NAMED_MAX)
		hf_buf_printf(&list, " and %zu more", n - NAMED_MAX);
	hf_err_set(err, HF_E_USAGE, "'%s' fits several sessions: %s", what,
	    hf_buf_cstr(&list));
	hf_buf_release(&list);
	return -1;
}

/* The one of v, NULL when there are several. An agent may keep a session
 * in several files: then it knows which one stands for all. */
static char *
the_one(const struct found *v, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (v[i].agent != v[0].agent ||
		    strcmp(v[i].id, v[0].id) != 0)
			return NULL;
	if (n == 1)
		return hf_strdup(v[0].path);
	return v[0].agent->by_id != NULL ? v[0].agent->by_id(v[0].id) : NULL;
}

static int
take(const char *what, const struct found *v, size_t n,
    struct hf_session *s, struct hf_err *err)
{
	char *path = the_one(v, n);
	int r;

	if (path == NULL)
		return several(what, v, n, err);
	r = hf_session_peek(path, s, err);
	free(path);
	return r;
}

/* 1 found, 0 not, -1. */
static int
by_whole_id(const char *what, const struct hf_agent *agent,
    struct hf_session *s, struct hf_err *err)
{
	const struct hf_agent *const *agents;
	struct found *v = NULL;
	size_t i, n, count = 0;
	char *path;
	int r = 0;

	agents = hf_agents(&n);
	for (i = 0; i < n; i++) {
		if ((agent != NULL && agents[i] != agent) ||
		    agents[i]->by_id == NULL ||
		    (path = agents[i]->by_id(what)) == NULL)
			continue;
		found_add(&v, &count, agents[i], path, what);
		free(path);
	}
	if (count > 0)
		r = take(what, v, count, s, err) < 0 ? -1 : 1;
	found_free(v, count);
	return r;
}

static int
by_id(const char *what, const struct hf_agent *agent, struct hf_session *s,
    struct hf_err *why, struct hf_err *err)
{
	struct finder f = { .what = what };
	int r;

	r = each_file(agent, &f.agent, on_file, &f, why, err);
	if (r == 0 && f.nwhole > 0)
		r = take(what, f.whole, f.nwhole, s, err) < 0 ? -1 : 1;
	else if (r == 0 && f.nprefix > 0)
		r = take(what, f.prefix, f.nprefix, s, err) < 0 ? -1 : 1;
	found_free(f.whole, f.nwhole);
	found_free(f.prefix, f.nprefix);
	return r;
}

/* ---- all sessions ---- */

struct lister {
	const struct hf_agent *agent;
	const char *cwd;
	struct stat cwd_stat;
	bool cwd_there;
	struct hf_err said;
	struct hf_session *v;
	size_t n, cap;
};

static bool
in_folder(const struct lister *l, const struct hf_session *s)
{
	struct stat sb;

	if (l->cwd == NULL)
		return true;
	if (s->cwd == NULL)
		return false;
	if (strcmp(s->cwd, l->cwd) == 0)
		return true;
	return l->cwd_there && stat(s->cwd, &sb) == 0 &&
	    sb.st_dev == l->cwd_stat.st_dev &&
	    sb.st_ino == l->cwd_stat.st_ino;
}

static int
on_listed(const char *path, void *arg, struct hf_err *err)
{
	struct lister *l = arg;
	struct hf_session s;
	struct hf_err e;

	if (hf_sig_check(err) < 0)
		return -1;
	if (hf_session_peek(path, &s, &e) < 0) {
		/* Removed meanwhile, or no prompt yet: nothing to tell. A
		 * database says the same of each of its sessions. */
		if (e.code != HF_E_NOT_FOUND && e.code != HF_E_EMPTY &&
		    strcmp(e.msg, l->said.msg) != 0) {
			hf_warn_err(&e);
			l->said = e;
		}
		return 0;
	}
	if (s.agent != l->agent || !in_folder(l, &s)) {
		hf_session_release(&s);
		return 0;
	}
	if (l->n == l->cap) {
		l->cap = l->cap == 0 ? 64 : l->cap * 2;
		l->v = hf_reallocarray(l->v, l->cap, sizeof(*l->v));
	}
	l->v[l->n++] = s;
	return 0;
}

static int
newer(int64_t a, int64_t b)
{
	return a > b ? -1 : a < b;
}

static int
compare(const void *pa, const void *pb)
{
	const struct hf_session *a = pa, *b = pb;
	int c = newer(a->prompted, b->prompted);

	if (c == 0)
		c = newer(a->mtime, b->mtime);
	return c != 0 ? c : strcmp(a->path, b->path);
}

/* As hf_session_list; why as for each_file. */
static int
list(const struct hf_agent *agent, const char *cwd, struct hf_session **out,
    size_t *n, struct hf_err *why, struct hf_err *err)
{
	struct lister l = { .cwd = cwd };

	l.cwd_there = cwd != NULL && stat(cwd, &l.cwd_stat) == 0;
	if (each_file(agent, &l.agent, on_listed, &l, why, err) < 0) {
		hf_session_list_free(l.v, l.n);
		return -1;
	}
	if (l.n > 0)
		qsort(l.v, l.n, sizeof(*l.v), compare);
	*out = l.v;
	*n = l.n;
	return 0;
}

int
hf_session_list(const struct hf_agent *agent, const char *cwd,
    struct hf_session **out, size_t *n, struct hf_err *err)
{
	struct hf_err why;

	if (list(agent, cwd, out, n, &why, err) < 0)
		return -1;
	if (why.code == HF_OK)
		return 0;
	if (*n > 0) {
		hf_warn_err(&why);
		return 0;
	}
	*err = why;
	return -1;
}

void
hf_session_list_free(struct hf_session *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hf_session_release(&s[i]);
	free(s);
}

/* ---- by any name ---- */

/* A title that was given counts before one that is a first prompt. */
static int
by_title(const char *what, const struct hf_agent *agent,
    struct hf_session *s, struct hf_err *why, struct hf_err *err)
{
	struct hf_session *all;
	struct found *v = NULL;
	size_t i, n, count = 0;
	int given, r = 0;

	if (list(agent, NULL, &all, &n, why, err) < 0)
		return -1;
	for (given = 1; given >= 0 && count == 0; given--)
		for (i = 0; i < n; i++)
			if (all[i].title != NULL &&
			    all[i].titled == (given == 1) &&
			    strcmp(all[i].title, what) == 0)
				found_add(&v, &count, all[i].agent,
				    all[i].path, all[i].id != NULL ?
				    all[i].id : "");
	if (count > 0)
		r = take(what, v, count, s, err) < 0 ? -1 : 1;
	found_free(v, count);
	hf_session_list_free(all, n);
	return r;
}

int
hf_session_find(const char *what, const struct hf_agent *agent,
    struct hf_session *s, struct hf_err *err)
{
	struct stat sb;
	struct hf_err why;
	bool there = stat(what, &sb) == 0;
	int r = 0;

	hf_session_init(s);
	if (what[0] == '\0')
		return hf_err_set(err, HF_E_USAGE, "no session is named");
	if ((there && !S_ISDIR(sb.st_mode)) || strchr(what, '/') != NULL)
		return hf_session_peek(what, s, err);
	r = by_whole_id(what, agent, s, err);
	if (r == 0)
		r = by_id(what, agent, s, &why, err);
	if (r == 0)
		r = by_title(what, agent, s, &why, err);
	if (r != 0)
		return r < 0 ? -1 : 0;
	if (there)
		return hf_session_peek(what, s, err);
	/* It may be in the store that could not be read. */
	if (why.code != HF_OK) {
		*err = why;
		return -1;
	}
	return hf_err_set(err, HF_E_NOT_FOUND, "no session '%s'", what);
}
