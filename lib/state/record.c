#include "state/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hmac.h"
#include "base/mem.h"
#include "base/sig.h"
#include "state/main.h"

static const char id_prefix[] = "handoff-";

enum { ID_PREFIX = sizeof(id_prefix) - 1 };

/* ---- phases ---- */

static const char *const phases[] = {
	[HF_PHASE_SUMMARIZING] = "summarizing",
	[HF_PHASE_PREPARED] = "prepared",
	[HF_PHASE_COMMITTED] = "committed",
	[HF_PHASE_PENDING] = "committed-start-pending",
	[HF_PHASE_STARTED] = "started",
	[HF_PHASE_FAILED] = "failed",
};

enum { PHASES = sizeof(phases) / sizeof(phases[0]) };

const char *
hf_phase_name(enum hf_phase p)
{
	return phases[p];
}

bool
hf_phase_committed(enum hf_phase p)
{
	return p == HF_PHASE_COMMITTED || p == HF_PHASE_PENDING ||
	    p == HF_PHASE_STARTED;
}

static int
parse_phase(struct hf_str a, enum hf_phase *out)
{
	for (int i = 0; i < PHASES; i++)
		if (hf_str_is(a, phases[i])) {
			*out = (enum hf_phase)i;
			return 0;
		}
	return -1;
}

/* ---- ids ---- */

void
hf_record_new_id(char out[HF_ATTEMPT_LEN])
{
	memcpy(out, id_prefix, ID_PREFIX);
	hf_uuid7(hf_clock_now(), out + ID_PREFIX);
}

bool
hf_record_is_id(const char *s)
{
	size_t n = strlen(s);

	return n > ID_PREFIX && n < HF_ATTEMPT_LEN * 2 &&
	    strncmp(s, id_prefix, ID_PREFIX) == 0 &&
	    strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == n;
}

int64_t
hf_record_id_time(const char *id)
{
	const char *s = id + ID_PREFIX;
	int64_t ms = 0;
	int digits = 0;

	if (!hf_record_is_id(id) || strlen(s) != HF_UUID_LEN - 1 ||
	    s[14] != '7')
		return -1;
	for (; digits < 12; s++) {
		const char *hex = "0123456789abcdef", *d = strchr(hex, *s);

		if (*s == '-')
			continue;
		if (*s == '\0' || d == NULL)
			return -1;
		ms = ms * 16 + (d - hex);
		digits++;
	}
	return ms;
}

/* ---- the value ---- */

void
hf_record_init(struct hf_attempt *r)
{
	memset(r, 0, sizeof(*r));
	r->revision.size = -1;
}

void
hf_record_release(struct hf_attempt *r)
{
	char *all[] = { r->id, r->source.agent, r->source.id, r->source.path,
		r->host, r->user, r->reason, r->revision.digest,
		r->target.agent, r->target.id,
		r->target.dir, r->target.name, r->target.cwd, r->target.model,
		r->target.title, r->target.permission, r->focus, r->brief,
		r->validation,
		r->hash, r->draft, r->error_code, r->error };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		free(all[i]);
	hf_json_free(r->was);
	memset(r, 0, sizeof(*r));
}

void
hf_record_fail(struct hf_attempt *r, const struct hf_err *why)
{
	hf_main_set(&r->error_code,
	    why != NULL ? hf_code_name(why->code) : NULL);
	hf_main_set(&r->error, why != NULL ? why->msg : NULL);
}

char *
hf_record_path(const struct hf_attempt *r)
{
	if (r->target.dir == NULL || r->target.name == NULL)
		return NULL;
	return hf_path_join(r->target.dir, r->target.name);
}

bool
hf_record_here(const struct hf_store *st, const struct hf_attempt *r)
{
	return hf_main_is_here(st, r->host, r->user, r->source.path);
}

/* ---- to JSON ---- */

static void
set_time(struct hf_jtree *t, struct hf_jnode *o, const char *key, int64_t ms)
{
	char text[HF_TIME_LEN];

	hf_clock_format(ms, text);
	hf_jset_cstr(t, o, key, text);
}

static struct hf_jnode *
source_to_json(struct hf_jtree *t, const struct hf_attempt *r)
{
	struct hf_jnode *o = hf_jtree_obj(t);

	hf_jset_cstr(t, o, "agent", r->source.agent);
	hf_jset_cstr(t, o, "id", r->source.id);
	hf_jset_cstr(t, o, "path", r->source.path);
	return o;
}

static struct hf_jnode *
target_to_json(struct hf_jtree *t, const struct hf_attempt *r)
{
	struct hf_jnode *o;
	char *path;

	if (r->target.id == NULL)
		return hf_jtree_null(t);
	o = hf_jtree_obj(t);
	path = hf_record_path(r);
	hf_jset_cstr(t, o, "agent", r->target.agent);
	hf_jset_cstr(t, o, "id", r->target.id);
	hf_jset_cstr(t, o, "path", path);
	hf_jset_cstr(t, o, "cwd", r->target.cwd);
	hf_jset_cstr(t, o, "model", r->target.model);
	hf_jset_cstr(t, o, "title", r->target.title);
	hf_jset_cstr(t, o, "permission", r->target.permission);
	set_time(t, o, "time", r->target.time);
	free(path);
	return o;
}

static void
figures_to_json(struct hf_jtree *t, struct hf_jnode *o,
    const struct hf_attempt *r)
{
	struct hf_jnode *m = hf_jtree_obj(t), *rev = hf_jtree_obj(t);

	hf_jset_int(t, m, "tokens", r->metrics.tokens);
	hf_jset_int(t, m, "turns", r->metrics.turns);
	hf_jset_int(t, m, "compactions", r->metrics.compactions);
	hf_jset_int(t, m, "capacity", r->metrics.capacity);
	hf_jset(t, o, "metrics", m);
	hf_jset_int(t, rev, "seq", r->revision.seq);
	hf_jset_cstr(t, rev, "digest", r->revision.digest);
	if (r->revision.size >= 0)
		hf_jset_int(t, rev, "size", r->revision.size);
	hf_jset(t, o, "sourceRevision", rev);
}

/* null for none. */
static struct hf_jnode *
parsed(struct hf_jtree *t, const char *text)
{
	struct hf_json *j = text == NULL ? NULL :
	    hf_json_parse(hf_str(text), HF_JSON_RAW, NULL, NULL, NULL);
	struct hf_jnode *n = j != NULL ? hf_jtree_copy(t, hf_json_root(j)) :
	    hf_jtree_null(t);

	hf_json_free(j);
	return n;
}

static void
brief_to_json(struct hf_jtree *t, struct hf_jnode *o,
    const struct hf_attempt *r)
{
	struct hf_jnode *d;

	hf_jset(t, o, "brief", parsed(t, r->brief));
	hf_jset_cstr(t, o, "briefHash", r->hash);
	hf_jset(t, o, "validation", parsed(t, r->validation));
	d = r->draft != NULL ? hf_jtree_obj(t) : hf_jtree_null(t);
	if (r->draft != NULL) {
		hf_jset_cstr(t, d, "hash", r->draft);
		hf_jset_int(t, d, "size", r->draft_size);
	}
	hf_jset(t, o, "draft", d);
}

struct hf_jnode *
hf_record_to_json(struct hf_jtree *t, const struct hf_attempt *r)
{
	const struct hf_jval *was = hf_json_root(r->was);
	struct hf_jnode *o = hf_json_type(was) == HF_J_OBJ ?
	    hf_jtree_copy(t, was) : hf_jtree_obj(t), *e;

	hf_jset_cstr(t, o, "id", r->id);
	hf_jset_cstr(t, o, "phase", hf_phase_name(r->phase));
	hf_jset(t, o, "source", source_to_json(t, r));
	hf_jset_cstr(t, o, "host", r->host);
	hf_jset_cstr(t, o, "user", r->user);
	hf_jset_cstr(t, o, "reason", r->reason);
	hf_jset_int(t, o, "epoch", r->epoch);
	figures_to_json(t, o, r);
	hf_jset(t, o, "target", target_to_json(t, r));
	hf_jset_cstr(t, o, "focus", r->focus);
	brief_to_json(t, o, r);
	e = r->error != NULL ? hf_jtree_obj(t) : hf_jtree_null(t);
	if (r->error != NULL) {
		hf_jset_cstr(t, e, "code", r->error_code);
		hf_jset_cstr(t, e, "message", r->error);
	}
	hf_jset(t, o, "error", e);
	set_time(t, o, "begun", r->begun);
	set_time(t, o, "changed", r->changed);
	return o;
}

/* ---- from JSON ---- */

static char *
get_str(const struct hf_jval *v, const char *key)
{
	struct hf_str a = hf_json_get_str(v, key);

	if (a.s == NULL || memchr(a.s, '\0', a.n) != NULL)
		return NULL;
	return hf_strndup(a.s, a.n);
}

/* An object's member, or, in the seed's shape, the value itself. */
static char *
get_id(const struct hf_jval *v)
{
	struct hf_str a = hf_json_str(v);

	if (a.s != NULL && memchr(a.s, '\0', a.n) == NULL)
		return hf_strndup(a.s, a.n);
	return get_str(v, "id");
}

static void
get_target(struct hf_attempt *r, const struct hf_jval *v)
{
	char *path = get_str(v, "path");

	r->target.agent = get_str(v, "agent");
	r->target.id = get_id(v);
	if (path != NULL) {
		r->target.dir = hf_path_dir(path);
		r->target.name = hf_strdup(hf_path_base(path));
	}
	r->target.cwd = get_str(v, "cwd");
	r->target.model = get_str(v, "model");
	r->target.title = get_str(v, "title");
	r->target.permission = get_str(v, "permission");
	r->target.time = hf_clock_parse(hf_json_get_str(v, "time"));
	free(path);
}

static void
get_figures(struct hf_attempt *r, const struct hf_jval *v)
{
	const struct hf_jval *m = hf_json_get(v, "metrics");
	const struct hf_jval *rev = hf_json_get(v, "sourceRevision");

	r->metrics.tokens = hf_json_count(hf_json_get(m, "tokens"));
	r->metrics.turns = hf_json_count(hf_json_get(m, "turns"));
	r->metrics.compactions = hf_json_count(hf_json_get(m,
	    "compactions"));
	r->metrics.capacity = hf_json_count(hf_json_get(m, "capacity"));
	r->revision.seq = hf_json_count(hf_json_type(rev) == HF_J_OBJ ?
	    hf_json_get(rev, "seq") : rev);
	r->revision.digest = get_str(rev, "digest");
	if (!hf_json_int(hf_json_get(rev, "size"), &r->revision.size))
		r->revision.size = -1;
}

/* As compact JSON; NULL when there is none. */
static char *
get_object(const struct hf_jval *v, const char *key)
{
	const struct hf_jval *o = hf_json_get(v, key);
	struct hf_buf text = HF_BUF_INIT;

	if (hf_json_type(o) != HF_J_OBJ)
		return NULL;
	hf_json_write(&text, o);
	return hf_buf_steal(&text);
}

static void
get_brief(struct hf_attempt *r, const struct hf_jval *v)
{
	const struct hf_jval *draft = hf_json_get(v, "draft");

	r->brief = get_object(v, "brief");
	r->validation = get_object(v, "validation");
	r->hash = get_str(v, "briefHash");
	r->draft = get_str(draft, "hash");
	r->draft_size = hf_json_count(hf_json_get(draft, "size"));
}

int
hf_record_from_json(const struct hf_jval *v, struct hf_attempt *r,
    struct hf_err *err)
{
	const struct hf_jval *source = hf_json_get(v, "source");
	const struct hf_jval *error = hf_json_get(v, "error");

	hf_record_init(r);
	r->id = get_str(v, "id");
	if (r->id == NULL || !hf_record_is_id(r->id)) {
		hf_record_release(r);
		return hf_err_set(err, HF_E_INVALID,
		    "a record has no id that begins with 'handoff-'");
	}
	if (parse_phase(hf_json_get_str(v, "phase"), &r->phase) < 0) {
		hf_err_set(err, HF_E_INVALID,
		    "the record '%s' has no phase that is known", r->id);
		hf_record_release(r);
		return -1;
	}
	r->source.agent = get_str(source, "agent");
	r->source.id = get_id(source);
	r->source.path = get_str(source, "path");
	r->host = get_str(v, "host");
	r->user = get_str(v, "user");
	r->reason = get_str(v, "reason");
	r->epoch = hf_json_count(hf_json_get(v, "epoch"));
	get_figures(r, v);
	get_target(r, hf_json_get(v, "target"));
	r->focus = get_str(v, "focus");
	get_brief(r, v);
	r->error_code = get_str(error, "code");
	r->error = get_str(error, "message");
	r->begun = hf_clock_parse(hf_json_get_str(v, "begun"));
	r->changed = hf_clock_parse(hf_json_get_str(v, "changed"));
	return 0;
}

/* ---- load and store ---- */

/* What is under a key, as a record. */
static int
read_record(const char *key, struct hf_str text, const struct hf_rev *rev,
    struct hf_attempt *r, struct hf_err *err)
{
	struct hf_json *j = hf_json_parse(text, HF_JSON_RAW, NULL, NULL, err);

	hf_record_init(r);
	if (j == NULL || hf_record_from_json(hf_json_root(j), r, err) < 0) {
		hf_err_prefix(err, "'%s' is damaged", key);
		hf_json_free(j);
		return -1;
	}
	r->was = j;
	r->rev = *rev;
	return 0;
}

static int
load_key(struct hf_store *st, const char *key, struct hf_attempt *r,
    struct hf_err *err)
{
	struct hf_buf text = HF_BUF_INIT;
	struct hf_rev rev;
	int rc;

	hf_record_init(r);
	rc = hf_store_get(st, key, &text, &rev, err);
	if (rc > 0)
		rc = read_record(key, hf_buf_view(&text), &rev, r, err) < 0 ?
		    -1 : 1;
	hf_buf_release(&text);
	return rc;
}

static char *
key_of(const char *folder, const char *id, struct hf_err *err)
{
	if (!hf_record_is_id(id)) {
		hf_err_set(err, HF_E_INVALID, "'%s' is no handoff's id", id);
		return NULL;
	}
	return hf_path_join(folder, id);
}

int
hf_record_load(struct hf_store *st, const char *id, struct hf_attempt *r,
    struct hf_err *err)
{
	char *key = key_of("records", id, err);
	int rc;

	hf_record_init(r);
	if (key == NULL)
		return -1;
	rc = load_key(st, key, r, err);
	if (rc > 0 && strcmp(r->id, id) != 0) {
		rc = hf_err_set(err, HF_E_INVALID,
		    "'%s' is damaged: it holds the record '%s'", key, r->id);
		hf_record_release(r);
	}
	free(key);
	return rc;
}

int
hf_record_save(struct hf_store *st, struct hf_attempt *r, struct hf_err *err)
{
	char *key = key_of("records", r->id, err);
	struct hf_buf text = HF_BUF_INIT;
	struct hf_jtree *t;
	int rc;

	if (key == NULL)
		return -1;
	t = hf_jtree_new();
	r->changed = hf_clock_now();
	hf_jtree_write(&text, hf_record_to_json(t, r), false);
	hf_buf_putc(&text, '\n');
	if (r->rev.s[0] == '\0')
		rc = hf_store_create(st, key, hf_buf_view(&text), &r->rev,
		    err);
	else
		rc = hf_store_put(st, key, hf_buf_view(&text), &r->rev,
		    &r->rev, err);
	hf_buf_release(&text);
	hf_jtree_free(t);
	free(key);
	return rc;
}

struct each {
	int (*cb)(const char *key, struct hf_attempt *r,
	    const struct hf_err *why, void *arg, struct hf_err *err);
	void *arg;
};

static int
give_record(const char *key, struct hf_str val, const struct hf_rev *rev,
    const struct hf_err *why, void *arg, struct hf_err *err)
{
	struct each *e = arg;
	struct hf_err damage = { HF_OK, "" };
	struct hf_attempt r;
	int rc;

	if (why != NULL)
		return e->cb(key, NULL, why, e->arg, err);
	if (read_record(key, val, rev, &r, &damage) < 0)
		return e->cb(key, NULL, &damage, e->arg, err);
	rc = e->cb(key, &r, &damage, e->arg, err);
	hf_record_release(&r);
	return rc;
}

int
hf_record_each(struct hf_store *st,
    int (*cb)(const char *key, struct hf_attempt *r, const struct hf_err *why,
    void *arg, struct hf_err *err),
    void *arg, struct hf_err *err)
{
	struct each e = { cb, arg };

	return hf_store_each(st, "records", give_record, &e, err);
}

/* ---- finding ---- */

static bool
concerns(const struct hf_attempt *r, const char *id)
{
	return (r->source.id != NULL && strcmp(r->source.id, id) == 0) ||
	    (r->target.id != NULL && strcmp(r->target.id, id) == 0);
}

/* What the mains know: the attempt that redirected it, its last one, the
 * one that made it. */
static int
find_by_main(struct hf_store *st, const struct hf_main *m,
    struct hf_attempt *r, struct hf_err *err)
{
	const char *attempt = m->redirect.attempt != NULL ?
	    m->redirect.attempt : m->attempt;
	struct hf_main source;
	int rc;

	if (attempt != NULL)
		return hf_record_load(st, attempt, r, err);
	if (m->from.id == NULL || m->from.agent == NULL)
		return 0;
	rc = hf_main_load(st, m->from.agent, m->from.id, &source, err);
	if (rc > 0) {
		rc = 0;
		if (source.redirect.attempt != NULL)
			rc = hf_record_load(st, source.redirect.attempt, r,
			    err);
	}
	hf_main_release(&source);
	if (rc > 0 && !concerns(r, m->id)) {
		hf_record_release(r);
		rc = 0;
	}
	return rc;
}

static int
find_by_scan(struct hf_store *st, const char *id, struct hf_attempt *r,
    struct hf_err *err)
{
	struct hf_keys keys;
	int rc = 0;

	if (hf_store_list(st, "records", NULL, SIZE_MAX, &keys, err) < 0)
		return -1;
	/* The newest comes last: ids begin with their time. */
	for (size_t i = keys.n; i > 0 && rc == 0; i--) {
		struct hf_err ignored;
		int got = load_key(st, keys.key[i - 1], r, &ignored);

		if (got > 0 && concerns(r, id))
			rc = 1;
		else if (got > 0)
			hf_record_release(r);
		if (rc == 0 && hf_sig_check(err) < 0)
			rc = -1;
	}
	hf_keys_release(&keys);
	return rc;
}

int
hf_record_find(struct hf_store *st, const char *what, struct hf_attempt *r,
    struct hf_err *err)
{
	struct hf_main m;
	int rc;

	hf_record_init(r);
	if (hf_record_is_id(what) &&
	    (rc = hf_record_load(st, what, r, err)) != 0)
		return rc;
	rc = hf_main_lookup(st, what, &m, err);
	if (rc > 0)
		rc = find_by_main(st, &m, r, err);
	hf_main_release(&m);
	return rc == 0 ? find_by_scan(st, what, r, err) : rc;
}

/* ---- open attempts ---- */

void
hf_open_release(struct hf_open *o)
{
	free(o->attempt);
	free(o->agent);
	free(o->id);
	memset(o, 0, sizeof(*o));
}

int
hf_open_create(struct hf_store *st, const struct hf_open *o,
    struct hf_err *err)
{
	char *key = key_of("open", o->attempt, err);
	struct hf_buf text = HF_BUF_INIT;
	struct hf_jtree *t;
	struct hf_jnode *v;
	int rc;

	if (key == NULL)
		return -1;
	t = hf_jtree_new();
	v = hf_jtree_obj(t);
	hf_jset_cstr(t, v, "attempt", o->attempt);
	hf_jset_cstr(t, v, "agent", o->agent);
	hf_jset_cstr(t, v, "id", o->id);
	hf_jset(t, v, "lease", hf_lease_to_json(t, &o->lease));
	hf_jtree_write(&text, v, false);
	hf_buf_putc(&text, '\n');
	rc = hf_store_create(st, key, hf_buf_view(&text), NULL, err);
	hf_buf_release(&text);
	hf_jtree_free(t);
	free(key);
	return rc;
}

int
hf_open_load(struct hf_store *st, const char *attempt, struct hf_open *o,
    struct hf_err *err)
{
	char *key = key_of("open", attempt, err);
	struct hf_buf text = HF_BUF_INIT;
	struct hf_json *j = NULL;
	const struct hf_jval *v;
	int rc;

	memset(o, 0, sizeof(*o));
	if (key == NULL)
		return -1;
	rc = hf_store_get(st, key, &text, NULL, err);
	if (rc > 0) {
		j = hf_json_parse(hf_buf_view(&text), HF_JSON_RAW, NULL, NULL,
		    err);
		v = hf_json_root(j);
		o->attempt = hf_strdup(attempt);
		o->agent = get_str(v, "agent");
		o->id = get_str(v, "id");
		hf_lease_from_json(hf_json_get(v, "lease"), &o->lease);
		if (o->agent == NULL || o->id == NULL) {
			rc = hf_err_set(err, HF_E_INVALID,
			    "'%s' is damaged: it names no session", key);
			hf_open_release(o);
		}
	}
	hf_json_free(j);
	hf_buf_release(&text);
	free(key);
	return rc;
}

int
hf_open_remove(struct hf_store *st, const char *attempt, struct hf_err *err)
{
	char *key = key_of("open", attempt, err);
	int rc;

	if (key == NULL)
		return -1;
	rc = hf_store_remove(st, key, NULL, err);
	free(key);
	return rc;
}

int
hf_open_list(struct hf_store *st, struct hf_keys *out, struct hf_err *err)
{
	size_t skip = strlen("open/");

	if (hf_store_list(st, "open", NULL, SIZE_MAX, out, err) < 0)
		return -1;
	for (size_t i = 0; i < out->n; i++)
		memmove(out->key[i], out->key[i] + skip,
		    strlen(out->key[i] + skip) + 1);
	return 0;
}
