#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "session/metrics.h"

const char *
hf_state_name(enum hf_state s)
{
	switch (s) {
	case HF_STATE_UNKNOWN:
		return "unknown";
	case HF_STATE_IDLE:
		return "idle";
	case HF_STATE_BUSY:
		return "busy";
	case HF_STATE_INTERRUPTED:
		return "interrupted";
	}
	return "unknown";
}

void
hf_metrics_release(struct hf_metrics *m)
{
	while (m->nactivity > 0)
		free(m->activity[--m->nactivity]);
	while (m->nowned > 0)
		free(m->owned[--m->nowned]);
	free(m->cursor);
	m->cursor = NULL;
}

void
hf_path_release(struct hf_path *p)
{
	free(p->row);
	p->row = NULL;
	p->n = 0;
}

/* ---- the time of a file: RFC 3339 to the nanosecond ---- */

enum { NS_LEN = HF_TIME_LEN + 6 };

static void
format_ns(int64_t ns, char out[NS_LEN])
{
	int64_t s = ns / 1000000000, rest = ns % 1000000000;
	char ms[HF_TIME_LEN];

	if (rest < 0) {
		rest += 1000000000;
		s--;
	}
	hf_clock_format(s * 1000, ms);
	/* "….000Z": what stands before the fraction stays. */
	snprintf(out, NS_LEN, "%.*s%09lldZ", HF_TIME_LEN - 5, ms,
	    (long long)rest);
}

/* -1 when it is no time. */
static int64_t
parse_ns(struct hf_str a)
{
	int64_t ms = hf_clock_parse(a), ns = 0, unit = 100000000;
	size_t dot = hf_str_find(a, HF_STR("."), 0);

	if (ms < 0)
		return -1;
	for (size_t i = dot; i != SIZE_MAX && ++i < a.n && unit > 0 &&
	    a.s[i] >= '0' && a.s[i] <= '9'; unit /= 10)
		ns += (a.s[i] - '0') * unit;
	return ms / 1000 * 1000000000 + ns;
}

/* ---- into a document ---- */

static void
set_time(struct hf_jtree *t, struct hf_jnode *o, const char *key, int64_t ms)
{
	char text[HF_TIME_LEN];

	if (ms < 0) {
		hf_jset_null(t, o, key);
		return;
	}
	hf_clock_format(ms, text);
	hf_jset_cstr(t, o, key, text);
}

static struct hf_jnode *
session_node(struct hf_jtree *t, const struct hf_session *s)
{
	struct hf_jnode *o = hf_jtree_obj(t);

	hf_jset_cstr(t, o, "agent", s->agent != NULL ? s->agent->name : NULL);
	hf_jset_cstr(t, o, "id", s->id);
	hf_jset_cstr(t, o, "path", s->path);
	hf_jset_cstr(t, o, "cwd", s->cwd);
	hf_jset_cstr(t, o, "model", s->model);
	hf_jset_cstr(t, o, "title", s->title);
	hf_jset_cstr(t, o, "parent", s->parent);
	hf_jset_bool(t, o, "subagent", s->subagent);
	hf_jset_bool(t, o, "archived", s->archived);
	/* What only some sessions have, or only some stages want. */
	if (s->provider != NULL)
		hf_jset_cstr(t, o, "provider", s->provider);
	if (s->branch != NULL)
		hf_jset_cstr(t, o, "branch", s->branch);
	if (s->permission != NULL)
		hf_jset_cstr(t, o, "permission", s->permission);
	hf_jset_bool(t, o, "titled", s->titled);
	hf_jset_bool(t, o, "headless", s->headless);
	set_time(t, o, "prompted", s->prompted);
	return o;
}

void
hf_session_to_doc(struct hf_doc *d, const struct hf_session *s)
{
	hf_doc_set(d, "session", session_node(hf_doc_tree(d), s));
}

static struct hf_jnode *
strings(struct hf_jtree *t, char *const *s, size_t n)
{
	struct hf_jnode *a = hf_jtree_arr(t);

	for (size_t i = 0; i < n; i++)
		hf_jpush_str(t, a, hf_str(s[i]));
	return a;
}

static struct hf_jnode *
live_node(struct hf_jtree *t, const struct hf_live *live)
{
	struct hf_jnode *o;

	if (!live->open)
		return hf_jtree_null(t);
	o = hf_jtree_obj(t);
	if (live->pid > 0)
		hf_jset_int(t, o, "pid", live->pid);
	else
		hf_jset_null(t, o, "pid");
	hf_jset_cstr(t, o, "status", live->status[0] != '\0' ? live->status :
	    NULL);
	if (live->waiting[0] != '\0')
		hf_jset_cstr(t, o, "waiting", live->waiting);
	return o;
}

static struct hf_jnode *
total_node(struct hf_jtree *t, const struct hf_usage *u)
{
	struct hf_jnode *o = hf_jtree_obj(t);

	hf_jset_int(t, o, "input", u->input);
	hf_jset_int(t, o, "cacheRead", u->cache_read);
	hf_jset_int(t, o, "cacheWrite", u->cache_write);
	hf_jset_int(t, o, "output", u->output);
	return o;
}

static struct hf_jnode *
revision_node(struct hf_jtree *t, const struct hf_metrics *m)
{
	struct hf_jnode *o = hf_jtree_obj(t);

	hf_jset_int(t, o, "seq", (int64_t)m->seq);
	hf_jset_cstr(t, o, "digest", m->digest);
	return o;
}

/* A transcript on stdin has none. */
static struct hf_jnode *
file_node(struct hf_jtree *t, const struct hf_file_id *f)
{
	struct hf_jnode *o;
	char time[NS_LEN];

	if (f->tail[0] == '\0')
		return hf_jtree_null(t);
	o = hf_jtree_obj(t);
	format_ns(f->mtime_ns, time);
	hf_jset_int(t, o, "dev", (int64_t)f->dev);
	hf_jset_int(t, o, "ino", (int64_t)f->ino);
	hf_jset_int(t, o, "size", (int64_t)f->size);
	hf_jset_cstr(t, o, "mtime", time);
	hf_jset_cstr(t, o, "tail", f->tail);
	return o;
}

static void
counts(struct hf_jtree *t, struct hf_jnode *o, const struct hf_metrics *m)
{
	hf_jset_int(t, o, "calls", m->calls);
	hf_jset(t, o, "total", total_node(t, &m->total));
	hf_jset_int(t, o, "rows", (int64_t)m->rows);
	hf_jset_int(t, o, "duplicates", (int64_t)m->duplicates);
	hf_jset_int(t, o, "sidechain", (int64_t)m->sidechain);
	hf_jset_int(t, o, "inherited", (int64_t)m->inherited);
	hf_jset_int(t, o, "errors", (int64_t)m->errors);
	hf_jset_int(t, o, "bad", (int64_t)m->bad);
	hf_jset_int(t, o, "mended", (int64_t)m->mended);
}

static struct hf_jnode *
metrics_node(struct hf_jtree *t, const struct hf_metrics *m)
{
	struct hf_jnode *o = hf_jtree_obj(t);

	hf_jset_int(t, o, "tokens", m->tokens);
	hf_jset_cstr(t, o, "tokensFrom", m->tokens_from);
	hf_jset_int(t, o, "capacity", m->capacity);
	hf_jset_cstr(t, o, "capacityFrom", m->capacity_from);
	hf_jset_int(t, o, "turns", m->turns);
	hf_jset_int(t, o, "compactions", m->compactions);
	hf_jset_int(t, o, "microCompactions", m->micro);
	hf_jset_int(t, o, "messages", m->messages);
	hf_jset_bool(t, o, "seeded", m->seeded);
	hf_jset_cstr(t, o, "state", hf_state_name(m->state));
	hf_jset(t, o, "activity", strings(t, m->activity, m->nactivity));
	hf_jset(t, o, "owned", strings(t, m->owned, m->nowned));
	hf_jset(t, o, "live", live_node(t, &m->live));
	if (m->quiet < 0)
		hf_jset_null(t, o, "quietSeconds");
	else
		hf_jset_int(t, o, "quietSeconds", m->quiet);
	counts(t, o, m);
	hf_jset(t, o, "revision", revision_node(t, m));
	hf_jset(t, o, "file", file_node(t, &m->file));
	hf_jset_cstr(t, o, "cursor", m->cursor);
	return o;
}

void
hf_metrics_to_doc(struct hf_doc *d, const struct hf_session *s,
    const struct hf_metrics *m)
{
	hf_session_to_doc(d, s);
	hf_doc_set(d, "metrics", metrics_node(hf_doc_tree(d), m));
}

/* ---- out of a document ---- */

static int
missing(struct hf_err *err, const char *what)
{
	return hf_err_set(err, HF_E_MISSING,
	    "the document has no usable '%s'", what);
}

static int
need_count(const struct hf_jval *o, const char *key, const char *what,
    int64_t *out, struct hf_err *err)
{
	int64_t n;

	if (!hf_json_int(hf_json_get(o, key), &n) || n < 0)
		return missing(err, what);
	*out = n;
	return 0;
}

static void
get_strings(const struct hf_jval *v, char **to, size_t *n)
{
	struct hf_jiter it;
	const struct hf_jval *e;
	struct hf_str a;

	hf_json_iter(&it, v);
	while (*n < HF_ACTIVITY_MAX && (e = hf_json_next(&it, NULL)) != NULL) {
		a = hf_json_str(e);
		if (a.n > 0)
			to[(*n)++] = hf_strndup(a.s, a.n);
	}
}

/* One of a table of names, so that it need not be owned. */
static const char *
one_of(struct hf_str a, const char *const *names, size_t n)
{
	for (size_t i = 0; i + 1 < n; i++)
		if (hf_str_is(a, names[i]))
			return names[i];
	return names[n - 1];
}

static enum hf_state
get_state(struct hf_str a)
{
	for (int i = HF_STATE_IDLE; i <= HF_STATE_INTERRUPTED; i++)
		if (hf_str_is(a, hf_state_name((enum hf_state)i)))
			return (enum hf_state)i;
	return HF_STATE_UNKNOWN;
}

static void
get_text(struct hf_str a, char *to, size_t cap)
{
	size_t n = a.n < cap ? a.n : hf_utf8_cut(a, cap - 1);

	if (n > 0)
		memcpy(to, a.s, n);
	to[n] = '\0';
}

static void
get_file(const struct hf_jval *v, struct hf_file_id *f)
{
	int64_t n;

	f->dev = hf_json_int(hf_json_get(v, "dev"), &n) ? (uint64_t)n : 0;
	f->ino = hf_json_int(hf_json_get(v, "ino"), &n) ? (uint64_t)n : 0;
	f->size = hf_json_int(hf_json_get(v, "size"), &n) && n > 0 ?
	    (uint64_t)n : 0;
	f->mtime_ns = parse_ns(hf_json_get_str(v, "mtime"));
	get_text(hf_json_get_str(v, "tail"), f->tail, sizeof(f->tail));
}

static void
get_live(const struct hf_jval *v, struct hf_live *live)
{
	int64_t pid;

	live->open = hf_json_type(v) == HF_J_OBJ;
	live->pid = hf_json_int(hf_json_get(v, "pid"), &pid) && pid > 0 ?
	    (long)pid : 0;
	get_text(hf_json_get_str(v, "status"), live->status,
	    sizeof(live->status));
	get_text(hf_json_get_str(v, "waiting"), live->waiting,
	    sizeof(live->waiting));
}

static void
get_counts(const struct hf_jval *o, struct hf_metrics *m)
{
	const struct hf_jval *t = hf_json_get(o, "total");
	const struct { const char *key; uint64_t *to; } c[] = {
		{ "rows", &m->rows }, { "duplicates", &m->duplicates },
		{ "sidechain", &m->sidechain }, { "inherited", &m->inherited },
		{ "errors", &m->errors }, { "bad", &m->bad },
		{ "mended", &m->mended } };

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++)
		*c[i].to = (uint64_t)hf_json_count(hf_json_get(o, c[i].key));
	m->calls = hf_json_count(hf_json_get(o, "calls"));
	m->total.input = hf_json_count(hf_json_get(t, "input"));
	m->total.cache_read = hf_json_count(hf_json_get(t, "cacheRead"));
	m->total.cache_write = hf_json_count(hf_json_get(t, "cacheWrite"));
	m->total.output = hf_json_count(hf_json_get(t, "output"));
}

static int
get_metrics(const struct hf_jval *o, struct hf_metrics *m, struct hf_err *err)
{
	static const char *const from[] = { "usage", "compaction", "estimate",
		"none" };
	static const char *const cap[] = { "transcript", "option", "host",
		"config", "table", "usage", "unknown" };
	const struct hf_jval *r = hf_json_get(o, "revision");
	struct hf_str state = hf_json_get_str(o, "state"), a;
	int64_t quiet;

	if (need_count(o, "tokens", "metrics.tokens", &m->tokens, err) < 0 ||
	    need_count(o, "capacity", "metrics.capacity", &m->capacity,
	    err) < 0 ||
	    need_count(o, "turns", "metrics.turns", &m->turns, err) < 0 ||
	    need_count(o, "compactions", "metrics.compactions",
	    &m->compactions, err) < 0 ||
	    need_count(o, "messages", "metrics.messages", &m->messages,
	    err) < 0)
		return -1;
	if (state.s == NULL)
		return missing(err, "metrics.state");
	m->state = get_state(state);
	m->tokens_from = one_of(hf_json_get_str(o, "tokensFrom"), from,
	    sizeof(from) / sizeof(from[0]));
	m->capacity_from = one_of(hf_json_get_str(o, "capacityFrom"), cap,
	    sizeof(cap) / sizeof(cap[0]));
	m->micro = hf_json_count(hf_json_get(o, "microCompactions"));
	m->seeded = hf_json_true(hf_json_get(o, "seeded"));
	get_strings(hf_json_get(o, "activity"), m->activity, &m->nactivity);
	get_strings(hf_json_get(o, "owned"), m->owned, &m->nowned);
	get_live(hf_json_get(o, "live"), &m->live);
	m->quiet = hf_json_int(hf_json_get(o, "quietSeconds"), &quiet) &&
	    quiet >= 0 ? quiet : -1;
	get_counts(o, m);
	m->seq = (uint64_t)hf_json_count(hf_json_get(r, "seq"));
	get_text(hf_json_get_str(r, "digest"), m->digest, sizeof(m->digest));
	get_file(hf_json_get(o, "file"), &m->file);
	a = hf_json_get_str(o, "cursor");
	if (a.n > 0)
		m->cursor = hf_strndup(a.s, a.n);
	return 0;
}

static int
get_session(const struct hf_jval *o, struct hf_session *s, struct hf_err *err)
{
	const struct { const char *key; char **to; } field[] = {
		{ "id", &s->id }, { "path", &s->path }, { "cwd", &s->cwd },
		{ "model", &s->model }, { "title", &s->title },
		{ "parent", &s->parent }, { "provider", &s->provider },
		{ "branch", &s->branch }, { "permission", &s->permission } };
	struct hf_str a;

	for (size_t i = 0; i < sizeof(field) / sizeof(field[0]); i++) {
		a = hf_json_get_str(o, field[i].key);
		/* A path with a NUL in it names another file than it says. */
		if (a.n > 0 && memchr(a.s, '\0', a.n) == NULL)
			hf_session_set(field[i].to, a);
	}
	if (s->id == NULL)
		return missing(err, "session.id");
	s->agent = hf_agent_by_name(hf_json_get_str(o, "agent"));
	s->subagent = hf_json_true(hf_json_get(o, "subagent"));
	s->archived = hf_json_true(hf_json_get(o, "archived"));
	s->titled = hf_json_true(hf_json_get(o, "titled"));
	s->headless = hf_json_true(hf_json_get(o, "headless"));
	s->prompted = hf_clock_parse(hf_json_get_str(o, "prompted"));
	return 0;
}

int
hf_metrics_from_doc(const struct hf_doc *d, struct hf_session *s,
    struct hf_metrics *m, struct hf_err *err)
{
	const struct hf_jval *sv = hf_doc_get(d, "session");
	const struct hf_jval *mv = hf_doc_get(d, "metrics");

	hf_session_init(s);
	memset(m, 0, sizeof(*m));
	m->quiet = -1;
	m->tokens_from = "none";
	m->capacity_from = "unknown";
	if (hf_json_type(sv) != HF_J_OBJ) {
		missing(err, "session");
	} else if (hf_json_type(mv) != HF_J_OBJ) {
		missing(err, "metrics");
	} else if (get_session(sv, s, err) == 0 &&
	    get_metrics(mv, m, err) == 0) {
		s->size = (int64_t)m->file.size;
		s->mtime = m->file.mtime_ns < 0 ? -1 :
		    m->file.mtime_ns / 1000000;
		return 0;
	}
	hf_session_release(s);
	hf_metrics_release(m);
	return -1;
}
