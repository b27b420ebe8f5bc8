#include "state/transfer.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "state/main.h"
#include "state/record.h"
#include "state/route.h"

/* Members that the seed has as plain ids and a number; export puts the
 * whole of them beside. */
static const struct { const char *beside, *member; } pairs[] = {
	{ "from", "source" }, { "to", "target" },
	{ "revision", "sourceRevision" },
};
enum { PAIRS = sizeof(pairs) / sizeof(pairs[0]) };

/* What messages are kept in; the first ones have a part for each session. */
static const char *const kept[] = { "inbox", "journal", "relays", "taken" };
enum { KEPT = sizeof(kept) / sizeof(kept[0]), BY_SESSION = 2 };

/* ---- export ---- */

struct export {
	struct hf_store *st;
	struct hf_jtree *t;
	struct hf_jnode *mains, *redirects, *records, *messages;
};

/* The seed names a session by its id alone; of two agents with the same one
 * the second is named with its agent. */
static void
name_of(struct hf_buf *out, struct hf_jnode *taken, const char *agent,
    const char *id)
{
	if (hf_jget(taken, id) != NULL)
		hf_buf_printf(out, "%s:", agent);
	hf_buf_puts(out, id);
}

static void
set_time(struct hf_jtree *t, struct hf_jnode *o, const char *key, int64_t ms)
{
	char text[HF_TIME_LEN];

	hf_clock_format(ms, text);
	hf_jset_cstr(t, o, key, text);
}

/* What the seed's shape has no room for. */
static void
beside_main(struct export *e, struct hf_jnode *o, const struct hf_main *m)
{
	struct hf_jnode *r;

	hf_jset_cstr(e->t, o, "agent", m->agent);
	hf_jset_cstr(e->t, o, "path", m->path);
	hf_jset_cstr(e->t, o, "cwd", m->cwd);
	hf_jset_cstr(e->t, o, "host", m->host);
	hf_jset_cstr(e->t, o, "user", m->user);
	hf_jset_int(e->t, o, "epoch", m->epoch);
	hf_jset_cstr(e->t, o, "attempt", m->attempt);
	hf_jset_int(e->t, o, "failures", m->failures);
	if (m->retry_at > 0)
		set_time(e->t, o, "retryAt", m->retry_at);
	if (m->from.id != NULL)
		hf_jset_cstr(e->t, o, "inheritedAgent", m->from.agent);
	if (m->redirect.id == NULL)
		return;
	hf_jset_cstr(e->t, o, "redirectAgent", m->redirect.agent);
	r = hf_jtree_obj(e->t);
	hf_jset_cstr(e->t, r, "attempt", m->redirect.attempt);
	set_time(e->t, r, "at", m->redirect.at);
	hf_jset(e->t, o, "redirected", r);
}

/* What belongs to a message, as it is, under its key. */
static int
export_message(const char *key, struct hf_str val, const struct hf_rev *rev,
    const struct hf_err *why, void *arg, struct hf_err *err)
{
	struct export *e = arg;
	struct hf_json *j;
	struct hf_err bad;

	(void)rev, (void)err;
	if (why != NULL) {
		hf_warn_err(why);
		return 0;
	}
	j = hf_json_parse(val, HF_JSON_RAW, NULL, NULL, &bad);
	if (j == NULL)
		hf_warn("'%s' is left out: it is no JSON", key);
	else
		hf_jset(e->t, e->messages, key, hf_jtree_copy(e->t,
		    hf_json_root(j)));
	hf_json_free(j);
	return 0;
}

/* Of one session; in a list of what is below "inbox" files have only what
 * is right there. */
static int
export_messages(struct export *e, const char *key, struct hf_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < BY_SESSION && rc == 0; i++) {
		struct hf_buf prefix = HF_BUF_INIT;

		hf_buf_puts(&prefix, kept[i]);
		hf_buf_puts(&prefix, strchr(key, '/'));
		rc = hf_store_each(e->st, hf_buf_cstr(&prefix),
		    export_message, e, err);
		hf_buf_release(&prefix);
	}
	return rc;
}

static int
export_main(const char *key, struct hf_main *m, const struct hf_err *why,
    void *arg, struct hf_err *err)
{
	struct export *e = arg;
	struct hf_buf name = HF_BUF_INIT;
	struct hf_jnode *o, *list;

	if (m == NULL) {
		hf_warn_err(why);
		return 0;
	}
	o = hf_jtree_obj(e->t);
	list = hf_jtree_arr(e->t);
	hf_jset_bool(e->t, o, "enabled", m->enabled);
	hf_jset_bool(e->t, o, "requested", m->requested.on);
	hf_jset_cstr(e->t, o, "inheritedFrom", m->from.id);
	if (m->last_seq >= 0)
		hf_jset_int(e->t, o, "lastAttemptSeq", m->last_seq);
	for (size_t i = 0; i < m->ndeferred; i++)
		hf_jpush_str(e->t, list, hf_str(m->deferred[i]));
	hf_jset(e->t, o, "deferred", list);
	beside_main(e, o, m);
	name_of(&name, e->mains, m->agent, m->id);
	if (m->redirect.id != NULL)
		hf_jset_cstr(e->t, e->redirects, hf_buf_cstr(&name),
		    m->redirect.id);
	hf_jset(e->t, e->mains, hf_buf_cstr(&name), o);
	hf_buf_release(&name);
	return e->st->shared ? 0 : export_messages(e, key, err);
}

static int
export_record(const char *key, struct hf_attempt *r,
    const struct hf_err *why, void *arg, struct hf_err *err)
{
	struct export *e = arg;
	const struct hf_jval *was;
	struct hf_jnode *o;

	(void)key, (void)err;
	if (r == NULL) {
		hf_warn_err(why);
		return 0;
	}
	o = hf_record_to_json(e->t, r);
	was = hf_json_root(r->was);
	for (size_t i = 0; i < PAIRS; i++)
		hf_jset(e->t, o, pairs[i].beside, hf_jtree_copy(e->t,
		    hf_json_get(was, pairs[i].member)));
	hf_jset_cstr(e->t, o, "source", r->source.id);
	hf_jset_cstr(e->t, o, "target", r->target.id);
	hf_jset_int(e->t, o, "sourceRevision", r->revision.seq);
	hf_jpush(e->records, o);
	return 0;
}

int
hf_transfer_export(struct hf_store *st, struct hf_jtree *t,
    struct hf_jnode **out, struct hf_err *err)
{
	struct export e = { st, t, hf_jtree_obj(t), hf_jtree_obj(t),
		hf_jtree_arr(t), hf_jtree_obj(t) };
	struct hf_jnode *o = hf_jtree_obj(t);

	if (hf_main_each(st, export_main, &e, err) < 0 ||
	    hf_record_each(st, export_record, &e, err) < 0)
		return -1;
	for (size_t i = st->shared ? 0 : BY_SESSION; i < KEPT; i++)
		if (hf_store_each(st, kept[i], export_message, &e, err) < 0)
			return -1;
	hf_jset_int(t, o, "version", 1);
	hf_jset(t, o, "mains", e.mains);
	hf_jset(t, o, "redirects", e.redirects);
	hf_jset(t, o, "records", e.records);
	if (hf_jsize(e.messages) > 0)
		hf_jset(t, o, "messages", e.messages);
	*out = o;
	return 0;
}

/* ---- import ---- */

struct import {
	struct hf_store *st;
	struct hf_transfer *out;
	const struct hf_jval *v;	/* of the main at hand */
};

static void
refuse(struct import *in, const char *what, const struct hf_err *why)
{
	in->out->refused++;
	hf_warn("'%s' is not taken over: %s", what, why->msg);
}

static void
copy_str(char **field, const struct hf_jval *v, const char *key)
{
	struct hf_str a = hf_json_get_str(v, key);

	if (a.s == NULL || memchr(a.s, '\0', a.n) != NULL)
		return;
	free(*field);
	*field = hf_strndup(a.s, a.n);
}

static void
import_beside(struct hf_main *m, const struct hf_jval *v)
{
	const struct hf_jval *e;
	struct hf_jiter it;
	char *line[HF_DEFERRED_MAX];
	size_t n = 0;

	copy_str(&m->path, v, "path");
	copy_str(&m->cwd, v, "cwd");
	copy_str(&m->host, v, "host");
	copy_str(&m->user, v, "user");
	m->epoch = hf_json_count(hf_json_get(v, "epoch"));
	copy_str(&m->attempt, v, "attempt");
	m->failures = hf_json_count(hf_json_get(v, "failures"));
	m->retry_at = hf_clock_parse(hf_json_get_str(v, "retryAt"));
	if (m->retry_at < 0)
		m->retry_at = 0;
	copy_str(&m->from.id, v, "inheritedFrom");
	copy_str(&m->from.agent, v, "inheritedAgent");
	if (m->from.agent == NULL || m->from.id == NULL) {
		hf_main_set(&m->from.agent, NULL);
		hf_main_set(&m->from.id, NULL);
	}
	hf_json_iter(&it, hf_json_get(v, "deferred"));
	while ((e = hf_json_next(&it, NULL)) != NULL && n < HF_DEFERRED_MAX)
		if (hf_json_str(e).s != NULL)
			line[n++] = hf_strndup(hf_json_str(e).s,
			    hf_json_str(e).n);
	hf_main_set_deferred(m, line, n);
	while (n > 0)
		free(line[--n]);
}

/* A request is not taken over: it was made to a running program there. */
static int
import_main(struct hf_main *m, void *arg, struct hf_err *err)
{
	struct import *in = arg;

	(void)err;
	if (m->stored) {
		in->out->kept++;
		return 0;
	}
	m->enabled = hf_json_true(hf_json_get(in->v, "enabled"));
	import_beside(m, in->v);
	if (!hf_json_int(hf_json_get(in->v, "lastAttemptSeq"), &m->last_seq))
		m->last_seq = -1;
	in->out->mains++;
	return 1;
}

/* "agent:id", or "id" with the member "agent". */
static void
split(struct hf_str key, const struct hf_jval *v, char **agent, char **id)
{
	struct hf_str a = hf_json_get_str(v, "agent");

	*agent = a.n > 0 ? hf_strndup(a.s, a.n) : hf_strdup(HF_AGENT_ANY);
	if (a.n > 0 && key.n > a.n + 1 && key.s[a.n] == ':' &&
	    hf_str_starts(key, *agent))
		key = hf_strn(key.s + a.n + 1, key.n - a.n - 1);
	*id = hf_strndup(key.s, key.n);
}

static int
import_mains(struct import *in, const struct hf_jval *mains,
    struct hf_err *err)
{
	const struct hf_jval *v;
	struct hf_jiter it;
	struct hf_str key;

	hf_json_iter(&it, mains);
	while ((v = hf_json_next(&it, &key)) != NULL) {
		struct hf_err why = { HF_OK, "" };
		struct hf_main m;
		char *agent, *id;
		int rc;

		if (key.n == 0 || memchr(key.s, '\0', key.n) != NULL)
			continue;
		split(key, v, &agent, &id);
		in->v = v;
		rc = hf_main_update(in->st, agent, id, &m, import_main, in,
		    &why);
		hf_main_release(&m);
		if (rc < 0 && why.code == HF_E_INVALID)
			refuse(in, id, &why);
		free(agent);
		free(id);
		if (rc < 0 && why.code != HF_E_INVALID) {
			*err = why;
			return -1;
		}
	}
	return 0;
}

/* By whom and when it was routed; the route itself has been added. */
static int
import_route(struct hf_main *m, void *arg, struct hf_err *err)
{
	struct import *in = arg;
	const struct hf_jval *r = hf_json_get(in->v, "redirected");
	int64_t at = hf_clock_parse(hf_json_get_str(r, "at"));
	int64_t epoch = hf_json_count(hf_json_get(in->v, "epoch"));

	(void)err;
	if (at < 0 || m->redirect.attempt != NULL ||
	    (m->redirect.at == at && m->epoch == epoch))
		return 0;
	m->redirect.at = at;
	copy_str(&m->redirect.attempt, r, "attempt");
	m->epoch = epoch;
	return 1;
}

/* One, from a to b, the exported main of a being in->v. */
static int
add_route(struct import *in, const char *a, const char *b,
    struct hf_err *err)
{
	struct hf_str agent = hf_json_get_str(in->v, "redirectAgent");
	struct hf_buf to = HF_BUF_INIT;
	struct hf_main m;
	int rc;

	if (agent.n > 0)
		hf_buf_printf(&to, "%.*s:", (int)agent.n, agent.s);
	hf_buf_puts(&to, b);
	rc = hf_route_add(in->st, a, hf_buf_cstr(&to), err);
	if (rc == 0 && hf_json_get(in->v, "redirected") != NULL &&
	    (rc = hf_main_lookup(in->st, a, &m, err)) >= 0) {
		char *who = hf_strdup(m.agent), *id = hf_strdup(m.id);

		hf_main_release(&m);
		rc = hf_main_update(in->st, who, id, &m, import_route, in,
		    err);
		hf_main_release(&m);
		free(who);
		free(id);
	}
	hf_buf_release(&to);
	return rc < 0 ? -1 : 0;
}

static int
import_redirects(struct import *in, const struct hf_jval *mains,
    const struct hf_jval *redirects, struct hf_err *err)
{
	const struct hf_jval *v;
	struct hf_jiter it;
	struct hf_str key, to;

	hf_json_iter(&it, redirects);
	while ((v = hf_json_next(&it, &key)) != NULL) {
		struct hf_err why = { HF_OK, "" };
		char *a, *b;
		int rc;

		to = hf_json_str(v);
		if (key.n == 0 || to.n == 0 ||
		    memchr(key.s, '\0', key.n) != NULL ||
		    memchr(to.s, '\0', to.n) != NULL)
			continue;
		a = hf_strndup(key.s, key.n);
		b = hf_strndup(to.s, to.n);
		in->v = hf_json_getn(mains, key.s, key.n);
		rc = add_route(in, a, b, &why);
		if (rc == 0)
			in->out->routes++;
		else if (hf_code_status(why.code) == HF_EX_DATAERR ||
		    hf_code_status(why.code) == HF_EX_REFUSED ||
		    why.code == HF_E_USAGE) {
			refuse(in, a, &why);
			rc = 0;
		}
		free(a);
		free(b);
		if (rc < 0) {
			*err = why;
			return -1;
		}
	}
	return 0;
}

/* The shape that export gives the members, undone: a copy, parsed. */
static struct hf_json *
restore_shape(const struct hf_jval *v)
{
	struct hf_jtree *t = hf_jtree_new();
	struct hf_jnode *o = hf_jtree_copy(t, v);
	struct hf_buf text = HF_BUF_INIT;
	struct hf_err ignored;
	struct hf_json *j;

	for (size_t i = 0; i < PAIRS; i++) {
		const struct hf_jval *whole = hf_json_get(v,
		    pairs[i].beside);

		if (whole == NULL)
			continue;
		hf_jset(t, o, pairs[i].member, hf_jtree_copy(t, whole));
		hf_jdel(o, pairs[i].beside);
	}
	hf_jtree_write(&text, o, false);
	j = hf_json_parse(hf_buf_view(&text), HF_JSON_RAW, NULL, NULL,
	    &ignored);
	hf_buf_release(&text);
	hf_jtree_free(t);
	return j;
}

static int
import_record(struct import *in, const struct hf_jval *v, struct hf_err *err)
{
	static const struct hf_err open = { HF_E_CANCELLED,
		"it was under way where the state was exported" };
	struct hf_json *j = restore_shape(v);
	struct hf_err why = { HF_OK, "" };
	struct hf_attempt r;
	int rc = hf_record_from_json(hf_json_root(j), &r, &why);

	if (rc < 0) {
		refuse(in, "a record", &why);
		rc = 0;
	} else {
		if (r.phase == HF_PHASE_SUMMARIZING ||
		    r.phase == HF_PHASE_PREPARED) {
			r.phase = HF_PHASE_FAILED;
			hf_record_fail(&r, &open);
		}
		rc = hf_record_save(in->st, &r, &why);
		if (rc == 0)
			in->out->records++;
		else if (why.code == HF_E_EXISTS) {
			in->out->kept++;
			rc = 0;
		} else
			*err = why;
	}
	hf_record_release(&r);
	hf_json_free(j);
	return rc;
}

static bool
is_kept(struct hf_str key)
{
	for (size_t i = 0; i < KEPT; i++)
		if (hf_str_starts(key, kept[i]) && key.n > strlen(kept[i]) &&
		    key.s[strlen(kept[i])] == '/')
			return true;
	return false;
}

static int
import_messages(struct import *in, const struct hf_jval *messages,
    struct hf_err *err)
{
	const struct hf_jval *v;
	struct hf_jiter it;
	struct hf_str key;

	hf_json_iter(&it, messages);
	while ((v = hf_json_next(&it, &key)) != NULL) {
		struct hf_buf text = HF_BUF_INIT;
		struct hf_err why = { HF_OK, "" };
		char *name = hf_strndup(key.s, key.n);
		int rc;

		hf_json_write(&text, v);
		hf_buf_putc(&text, '\n');
		rc = !is_kept(key) ?
		    hf_err_set(&why, HF_E_INVALID, "it is no message") :
		    hf_store_create(in->st, name, hf_buf_view(&text), NULL,
		    &why);
		if (rc < 0 && why.code == HF_E_INVALID)
			refuse(in, name, &why);
		free(name);
		hf_buf_release(&text);
		if (rc < 0 && why.code != HF_E_EXISTS &&
		    why.code != HF_E_INVALID) {
			*err = why;
			return -1;
		}
	}
	return 0;
}

int
hf_transfer_import(struct hf_store *st, const struct hf_jval *v,
    struct hf_transfer *out, struct hf_err *err)
{
	struct import in = { st, out, NULL };
	const struct hf_jval *record;
	struct hf_jiter it;
	int64_t version;

	memset(out, 0, sizeof(*out));
	if (!hf_json_int(hf_json_get(v, "version"), &version))
		return hf_err_set(err, HF_E_INVALID,
		    "this is no exported state: it has no version");
	if (version != 1)
		return hf_err_set(err, HF_E_UNSUPPORTED,
		    "version %lld of an exported state is not known",
		    (long long)version);
	if (import_mains(&in, hf_json_get(v, "mains"), err) < 0 ||
	    import_redirects(&in, hf_json_get(v, "mains"),
	    hf_json_get(v, "redirects"), err) < 0 ||
	    import_messages(&in, hf_json_get(v, "messages"), err) < 0)
		return -1;
	hf_json_iter(&it, hf_json_get(v, "records"));
	while ((record = hf_json_next(&it, NULL)) != NULL)
		if (import_record(&in, record, err) < 0)
			return -1;
	return 0;
}
