#include "net/etcd.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/clock.h"
#include "base/mem.h"
#include "net/etcd_call.h"

enum {
	VALUE_MAX = 8 << 20,
	WATCH_TURN_MS = 30000,	/* then a dead connection is noticed */
	/* A watch is looked at ten times a second; that it is over must be
	 * seen before it is taken for a silent server. */
	WATCH_SLACK_MS = 1000
};

/* ---- open and close ---- */

static int
check_password(const struct hf_etcd *e, struct hf_err *err)
{
	bool local;

	for (size_t i = 0; i < e->url.n; i++) {
		if (hf_http_check(e->url.endpoint[i], true, &local, err) < 0)
			return -1;
		if (e->how.user != NULL && !e->url.tls && !local)
			return hf_err_set(err, HF_E_CONFIG, "no password "
			    "without TLS to '%s': store must begin with "
			    "etcds://", e->url.endpoint[i]);
	}
	return 0;
}

int
hf_etcd_open(const struct hf_etcd_how *how, struct hf_etcd **out,
    struct hf_err *err)
{
	struct hf_etcd *e = hf_calloc(1, sizeof(*e));

	e->how = *how;
	e->http = hf_http_new();
	if (hf_etcd_url_parse(how->url, &e->url, err) < 0 ||
	    check_password(e, err) < 0) {
		hf_etcd_close(e);
		return -1;
	}
	*out = e;
	return 0;
}

void
hf_etcd_close(struct hf_etcd *e)
{
	if (e == NULL)
		return;
	hf_http_free(e->http);
	hf_etcd_url_release(&e->url);
	if (e->token.data != NULL)
		explicit_bzero(e->token.data, e->token.cap);
	hf_buf_release(&e->token);
	free(e);
}

void
hf_etcd_deadline(struct hf_etcd *e, int64_t deadline)
{
	e->deadline = deadline;
}

/* ---- parts of requests ---- */

/* "name":"BASE64" of the prefix, a slash, and what follows it. */
static void
add_key(struct hf_buf *b, const struct hf_etcd *e, const char *name,
    const char *key, const char *tail, size_t ntail)
{
	struct hf_buf whole = HF_BUF_INIT;

	hf_buf_puts(&whole, e->url.prefix);
	hf_buf_putc(&whole, '/');
	hf_buf_puts(&whole, key);
	hf_buf_add(&whole, tail, ntail);
	hf_buf_printf(b, "\"%s\":\"", name);
	hf_base64(b, hf_buf_view(&whole));
	hf_buf_putc(b, '"');
	hf_buf_release(&whole);
}

/* The condition on a key's revision; "" there is none. */
static void
add_compare(struct hf_buf *b, const struct hf_etcd *e, const char *key,
    const char *rev)
{
	hf_buf_putc(b, '{');
	add_key(b, e, "key", key, "", 0);
	if (rev[0] == '\0')
		hf_buf_puts(b, ",\"target\":\"VERSION\",\"result\":\"EQUAL\","
		    "\"version\":\"0\"}");
	else
		hf_buf_printf(b, ",\"target\":\"MOD\",\"result\":\"EQUAL\","
		    "\"mod_revision\":\"%s\"}", rev);
}

static bool
is_number(const char *s)
{
	return s[0] != '\0' && strlen(s) < HF_ETCD_ID &&
	    strspn(s, "0123456789") == strlen(s);
}

static int
check_number(const char *s, const char *what, struct hf_err *err)
{
	if (s == NULL || s[0] == '\0' || is_number(s))
		return 0;
	return hf_err_set(err, HF_E_INVALID, "'%s' is no %s of etcd", s,
	    what);
}

/* ---- parts of answers ---- */

static void
set_rev(struct hf_etcd_rev *rev, int64_t n)
{
	struct hf_buf b = HF_BUF_INIT;

	hf_buf_printf(&b, "%" PRId64, n);
	memcpy(rev->s, hf_buf_cstr(&b), b.len + 1);
	hf_buf_release(&b);
}

static int64_t
header_revision(const struct hf_jval *v)
{
	return hf_etcd_call_int(hf_json_get(v, "header"), "revision");
}

static int
ask(struct hf_etcd *e, const char *path, const struct hf_buf *body,
    struct hf_etcd_call *c, struct hf_err *err)
{
	int64_t rev;

	*c = (struct hf_etcd_call){ .path = path, .body = hf_buf_view(body) };
	if (hf_etcd_call(e, c, err) < 0)
		return -1;
	rev = header_revision(hf_json_root(c->answer));
	/* Who was told of a change and looks sees all that was by then; by
	 * the first look, since others belong to it. */
	if (rev >= e->since && rev > 0 && (e->since == 0 || e->told))
		e->since = rev + 1;
	e->told = false;
	return 0;
}

static int
damaged(struct hf_err *err)
{
	return hf_err_set(err, HF_E_IO,
	    "etcd answers with something that is no answer");
}

/* The first of the key-values of a range's answer; NULL: none. */
static const struct hf_jval *
first_kv(const struct hf_jval *range)
{
	return hf_json_elem(hf_json_get(range, "kvs"), 0);
}

static int
take_kv(const struct hf_jval *kv, struct hf_buf *val,
    struct hf_etcd_rev *rev, struct hf_err *err)
{
	struct hf_str text = hf_json_get_str(kv, "value");
	int64_t n = hf_etcd_call_int(kv, "mod_revision");

	if (n <= 0 || (val != NULL && hf_base64_decode(val, text) < 0))
		return damaged(err);
	set_rev(rev, n);
	return 0;
}

/* ---- get ---- */

int
hf_etcd_get(struct hf_etcd *e, const char *key, struct hf_buf *val,
    struct hf_etcd_rev *rev, struct hf_err *err)
{
	struct hf_buf body = HF_BUF_INIT;
	const struct hf_jval *kv;
	struct hf_etcd_call c;
	int rc;

	rev->s[0] = '\0';
	hf_buf_putc(&body, '{');
	add_key(&body, e, "key", key, "", 0);
	hf_buf_putc(&body, '}');
	rc = ask(e, "/v3/kv/range", &body, &c, err);
	if (rc == 0 && (kv = first_kv(hf_json_root(c.answer))) != NULL)
		rc = take_kv(kv, val, rev, err) < 0 ? -1 : 1;
	hf_json_free(c.answer);
	hf_buf_release(&body);
	return rc;
}

/* ---- transactions ---- */

/* Of the answer of a transaction that did not hold: what is there. */
static const struct hf_jval *
found(const struct hf_jval *answer)
{
	const struct hf_jval *r = hf_json_elem(hf_json_get(answer,
	    "responses"), 0);

	return first_kv(hf_etcd_call_get(r, "response_range"));
}

/* The value is there, since a try whose answer was lost: 1 and its
 * revision; 0 it is another one; -1. */
static int
was_ours(const struct hf_etcd_call *c, const struct hf_etcd_put *p,
    struct hf_etcd_rev *now, struct hf_err *err)
{
	const struct hf_jval *kv = found(hf_json_root(c->answer));
	struct hf_buf val = HF_BUF_MAX(VALUE_MAX);
	struct hf_etcd_rev rev;
	int rc = 0;

	if (!c->again || kv == NULL)
		return 0;
	rc = take_kv(kv, &val, &rev, err);
	if (rc == 0 && strcmp(rev.s, p->was) != 0 &&
	    hf_str_eq(hf_buf_view(&val), p->val)) {
		*now = rev;
		rc = 1;
	}
	hf_buf_release(&val);
	return rc;
}

static int
not_held(const struct hf_etcd_call *c, const struct hf_etcd_put *p,
    struct hf_err *err)
{
	const struct hf_jval *kv = found(hf_json_root(c->answer));
	struct hf_etcd_rev rev = { "" };

	if (kv != NULL && take_kv(kv, NULL, &rev, err) < 0)
		return -1;
	if (p->guard[0] != '\0' && strcmp(rev.s, p->was) == 0)
		return hf_err_set(err, HF_E_CHANGED,
		    "the lease is lost: too long without the store");
	return hf_err_set(err, HF_E_CHANGED,
	    "'%s' was changed by another process", p->key);
}

static void
put_body(const struct hf_etcd *e, const struct hf_etcd_put *p,
    struct hf_buf *b)
{
	hf_buf_puts(b, "{\"compare\":[");
	add_compare(b, e, p->key, p->was);
	if (p->guard[0] != '\0') {
		hf_buf_puts(b, ",{");
		add_key(b, e, "key", "leases/", p->guard, strlen(p->guard));
		hf_buf_puts(b, ",\"target\":\"VERSION\",\"result\":"
		    "\"GREATER\",\"version\":\"0\"}");
	}
	hf_buf_puts(b, "],\"success\":[{\"request_put\":{");
	add_key(b, e, "key", p->key, "", 0);
	hf_buf_puts(b, ",\"value\":\"");
	hf_base64(b, p->val);
	hf_buf_putc(b, '"');
	if (p->lease[0] != '\0')
		hf_buf_printf(b, ",\"lease\":\"%s\"", p->lease);
	hf_buf_puts(b, "}}],\"failure\":[{\"request_range\":{");
	add_key(b, e, "key", p->key, "", 0);
	hf_buf_puts(b, "}}]}");
}

int
hf_etcd_put(struct hf_etcd *e, const struct hf_etcd_put *p,
    struct hf_etcd_rev *now, struct hf_err *err)
{
	struct hf_buf body = HF_BUF_INIT;
	struct hf_etcd_call c = { .answer = NULL };
	int rc;

	if (check_number(p->was, "revision", err) < 0 ||
	    check_number(p->guard, "lease", err) < 0 ||
	    check_number(p->lease, "lease", err) < 0)
		return -1;
	put_body(e, p, &body);
	rc = ask(e, "/v3/kv/txn", &body, &c, err);
	if (rc == 0 && hf_json_true(hf_json_get(hf_json_root(c.answer),
	    "succeeded"))) {
		set_rev(now, header_revision(hf_json_root(c.answer)));
	} else if (rc == 0) {
		rc = was_ours(&c, p, now, err);
		rc = rc > 0 ? 0 : rc < 0 ? -1 : not_held(&c, p, err);
	} else if (err->code == HF_E_OVERFLOW)
		hf_err_prefix(err, "'%s' has %zu bytes", p->key, p->val.n);
	else if (err->code == HF_E_NOT_FOUND)
		hf_err_set(err, HF_E_UNAVAILABLE, "the lease is lost: too "
		    "long without the store");
	hf_json_free(c.answer);
	hf_buf_release(&body);
	return rc;
}

static int
remove_any(struct hf_etcd *e, const char *key, struct hf_err *err)
{
	struct hf_buf body = HF_BUF_INIT;
	struct hf_etcd_call c;
	int rc;

	hf_buf_putc(&body, '{');
	add_key(&body, e, "key", key, "", 0);
	hf_buf_putc(&body, '}');
	rc = ask(e, "/v3/kv/deleterange", &body, &c, err);
	if (rc == 0)
		rc = c.again || hf_etcd_call_int(hf_json_root(c.answer),
		    "deleted") > 0;
	hf_json_free(c.answer);
	hf_buf_release(&body);
	return rc;
}

/* 1, 0, or -1, of the transaction's answer. */
static int
removed(const struct hf_etcd_call *c, const char *key, struct hf_err *err)
{
	const struct hf_jval *v = hf_json_root(c->answer);

	if (hf_json_true(hf_json_get(v, "succeeded")))
		return 1;
	if (found(v) == NULL)
		return c->again;
	return hf_err_set(err, HF_E_CHANGED,
	    "'%s' was changed by another process", key);
}

int
hf_etcd_remove(struct hf_etcd *e, const char *key, const char *was,
    struct hf_err *err)
{
	struct hf_buf body = HF_BUF_INIT;
	struct hf_etcd_call c;
	int rc;

	if (was == NULL)
		return remove_any(e, key, err);
	if (check_number(was, "revision", err) < 0)
		return -1;
	hf_buf_puts(&body, "{\"compare\":[");
	add_compare(&body, e, key, was);
	hf_buf_puts(&body, "],\"success\":[{\"request_delete_range\":{");
	add_key(&body, e, "key", key, "", 0);
	hf_buf_puts(&body, "}}],\"failure\":[{\"request_range\":{");
	add_key(&body, e, "key", key, "", 0);
	hf_buf_puts(&body, "}}]}");
	rc = ask(e, "/v3/kv/txn", &body, &c, err);
	if (rc == 0)
		rc = removed(&c, key, err);
	hf_json_free(c.answer);
	hf_buf_release(&body);
	return rc;
}

/* ---- lists ---- */

/* One key-value, its key without our prefix. */
static int
give(const struct hf_etcd *e, const struct hf_etcd_range *r,
    const struct hf_jval *kv, struct hf_err *err)
{
	struct hf_buf key = HF_BUF_INIT, val = HF_BUF_INIT;
	size_t skip = strlen(e->url.prefix) + 1;
	struct hf_etcd_rev rev;
	int rc = -1;

	if (hf_base64_decode(&key, hf_json_get_str(kv, "key")) < 0 ||
	    key.len <= skip || take_kv(kv, &val, &rev, err) < 0)
		damaged(err);
	else
		rc = r->cb(hf_strn(key.data + skip, key.len - skip),
		    hf_buf_view(&val), rev.s, r->arg, err);
	hf_buf_release(&key);
	hf_buf_release(&val);
	return rc;
}

int
hf_etcd_range(struct hf_etcd *e, const struct hf_etcd_range *r, bool *more,
    struct hf_err *err)
{
	struct hf_buf body = HF_BUF_INIT;
	const struct hf_jval *v, *kv;
	struct hf_etcd_call c;
	struct hf_jiter it;
	int rc;

	hf_buf_putc(&body, '{');
	/* '0' stands behind '/', NUL before everything. */
	if (r->after != NULL)
		add_key(&body, e, "key", r->after, "", 1);
	else
		add_key(&body, e, "key", r->prefix, "/", 1);
	hf_buf_putc(&body, ',');
	add_key(&body, e, "range_end", r->prefix, "0", 1);
	hf_buf_printf(&body, ",\"limit\":\"%zu\",\"keys_only\":%s}", r->max,
	    r->values ? "false" : "true");
	rc = ask(e, "/v3/kv/range", &body, &c, err);
	v = hf_json_root(c.answer);
	*more = hf_json_true(hf_json_get(v, "more"));
	hf_json_iter(&it, hf_json_get(v, "kvs"));
	while (rc == 0 && (kv = hf_json_next(&it, NULL)) != NULL)
		rc = give(e, r, kv, err);
	if (rc > 0)
		*more = *more || it.left > 0;
	hf_json_free(c.answer);
	hf_buf_release(&body);
	return rc < 0 ? -1 : 0;
}

/* ---- watch ---- */

struct watch {
	struct hf_etcd *e;
	int64_t end;
	bool (*stop)(void *arg);
	void *arg;
	bool seen;
};

static bool
watch_stops(void *arg)
{
	struct watch *w = arg;

	return hf_clock_boot() >= w->end ||
	    (w->stop != NULL && w->stop(w->arg));
}

static int
watch_line(struct hf_str line, void *arg, struct hf_err *err)
{
	struct watch *w = arg;
	struct hf_json *j = hf_json_parse(line, 0, NULL, NULL, err);
	const struct hf_jval *v = hf_json_get(hf_json_root(j), "result");
	int64_t rev = header_revision(v);
	bool cancelled = hf_json_true(hf_json_get(v, "canceled"));

	if (j == NULL)
		return -1;
	if (v == NULL) {
		hf_json_free(j);
		return hf_err_set(err, HF_E_UNAVAILABLE,
		    "etcd gives the watch up");
	}
	/* What happened since is not known any more: something did. */
	if (cancelled || hf_json_size(hf_json_get(v, "events")) > 0)
		w->seen = true;
	if (w->seen)
		w->e->since = cancelled ? 0 : rev + 1;
	w->e->told = w->seen;
	hf_json_free(j);
	return w->seen;
}

int
hf_etcd_watch(struct hf_etcd *e, const char *prefix,
    bool (*stop)(void *arg), void *arg, struct hf_err *err)
{
	struct hf_buf body = HF_BUF_INIT;
	int64_t last = e->deadline;
	struct watch w = { e, 0, stop, arg, false };
	int rc = 0;

	hf_buf_puts(&body, "{\"create_request\":{");
	add_key(&body, e, "key", prefix, "/", 1);
	hf_buf_putc(&body, ',');
	add_key(&body, e, "range_end", prefix, "0", 1);
	if (e->since > 0)
		hf_buf_printf(&body, ",\"start_revision\":\"%" PRId64 "\"",
		    e->since);
	hf_buf_puts(&body, "}}");
	while (rc == 0 && !w.seen && hf_clock_boot() < last &&
	    !(stop != NULL && stop(arg))) {
		struct hf_etcd_call c = { .path = "/v3/watch",
			.body = hf_buf_view(&body), .line = watch_line,
			.stop = watch_stops, .arg = &w };

		w.end = hf_clock_boot() + WATCH_TURN_MS;
		if (w.end > last)
			w.end = last;
		c.deadline = last + WATCH_SLACK_MS;
		rc = hf_etcd_call(e, &c, err);
	}
	hf_buf_release(&body);
	return rc < 0 ? -1 : w.seen;
}

/* ---- leases ---- */

/* A lease has a key of its own, by which a transaction sees it. */
static int
mark_lease(struct hf_etcd *e, const char *id, struct hf_err *err)
{
	struct hf_buf body = HF_BUF_INIT;
	struct hf_etcd_call c;
	int rc;

	hf_buf_putc(&body, '{');
	add_key(&body, e, "key", "leases/", id, strlen(id));
	hf_buf_printf(&body, ",\"value\":\"\",\"lease\":\"%s\"}", id);
	rc = ask(e, "/v3/kv/put", &body, &c, err);
	hf_json_free(c.answer);
	hf_buf_release(&body);
	return rc;
}

int
hf_etcd_lease(struct hf_etcd *e, int64_t ttl, char id[HF_ETCD_ID],
    struct hf_err *err)
{
	struct hf_buf body = HF_BUF_INIT;
	struct hf_etcd_rev rev;
	struct hf_etcd_call c;
	int rc;

	hf_buf_printf(&body, "{\"TTL\":\"%" PRId64 "\"}", ttl);
	rc = ask(e, "/v3/lease/grant", &body, &c, err);
	if (rc == 0 && hf_etcd_call_int(hf_json_root(c.answer), "ID") <= 0)
		rc = damaged(err);
	if (rc == 0) {
		set_rev(&rev, hf_etcd_call_int(hf_json_root(c.answer), "ID"));
		rc = mark_lease(e, rev.s, err);
	}
	if (rc == 0)
		memcpy(id, rev.s, sizeof(rev.s));
	hf_json_free(c.answer);
	hf_buf_release(&body);
	return rc;
}

static int
ask_lease(struct hf_etcd *e, const char *path, const char *id,
    struct hf_etcd_call *c, struct hf_err *err)
{
	struct hf_buf body = HF_BUF_INIT;
	int rc;

	c->answer = NULL;
	if (!is_number(id))
		return check_number(id, "lease", err);
	hf_buf_printf(&body, "{\"ID\":\"%s\"}", id);
	rc = ask(e, path, &body, c, err);
	hf_buf_release(&body);
	return rc;
}

int
hf_etcd_renew(struct hf_etcd *e, const char *id, struct hf_err *err)
{
	const struct hf_jval *v;
	struct hf_etcd_call c;
	int rc = ask_lease(e, "/v3/lease/keepalive", id, &c, err);

	if (rc < 0)
		return err->code == HF_E_NOT_FOUND ? 0 : -1;
	v = hf_json_get(hf_json_root(c.answer), "result");
	rc = hf_etcd_call_int(v, "TTL") > 0;
	hf_json_free(c.answer);
	return rc;
}

int
hf_etcd_revoke(struct hf_etcd *e, const char *id, struct hf_err *err)
{
	struct hf_etcd_call c;
	int rc = ask_lease(e, "/v3/lease/revoke", id, &c, err);

	hf_json_free(c.answer);
	return rc < 0 && err->code != HF_E_NOT_FOUND ? -1 : 0;
}

int
hf_etcd_alive(struct hf_etcd *e, const char *id, struct hf_err *err)
{
	struct hf_buf key = HF_BUF_INIT;
	struct hf_etcd_rev rev;
	int rc;

	if (!is_number(id))
		return check_number(id, "lease", err);
	hf_buf_printf(&key, "leases/%s", id);
	rc = hf_etcd_get(e, hf_buf_cstr(&key), NULL, &rev, err);
	hf_buf_release(&key);
	return rc;
}
