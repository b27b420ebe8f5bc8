#include "net/etcd_call.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/sig.h"

enum {
	ANSWER_MAX = 256 << 20,
	ERROR_MAX = 64 << 10,
	CONNECT_MS = 2000,	/* then the next endpoint is asked */
	IDLE_MS = 4000,
	TRY_MS = 6000,
	PAUSE_MS = 50, PAUSE_MAX_MS = 1000,
	TOKENS = 3		/* that may be asked for in one call */
};

/* What the gRPC codes of interest mean. */
enum { GRPC_INVALID = 3, GRPC_DEADLINE = 4, GRPC_NOT_FOUND = 5,
	GRPC_DENIED = 7, GRPC_EXHAUSTED = 8, GRPC_ABORTED = 10,
	GRPC_RANGE = 11, GRPC_UNAVAILABLE = 14, GRPC_WHO = 16 };

const struct hf_jval *
hf_etcd_call_get(const struct hf_jval *v, const char *name)
{
	const struct hf_jval *is = hf_json_get(v, name);
	struct hf_buf b = HF_BUF_INIT;

	if (is != NULL || strchr(name, '_') == NULL)
		return is;
	for (const char *s = name; *s != '\0'; s++) {
		if (*s != '_' || s[1] == '\0')
			hf_buf_putc(&b, *s);
		else
			hf_buf_putc(&b, (char)(*++s - 'a' + 'A'));
	}
	is = hf_json_get(v, hf_buf_cstr(&b));
	hf_buf_release(&b);
	return is;
}

int64_t
hf_etcd_call_int(const struct hf_jval *v, const char *name)
{
	const struct hf_jval *is = hf_etcd_call_get(v, name);
	int64_t n;

	if (hf_json_type(is) == HF_J_STR ? hf_text_int(hf_json_str(is), &n) :
	    hf_json_int(is, &n))
		return n;
	return 0;
}

/* ---- one try ---- */

struct try {
	struct hf_etcd_call *c;
	struct hf_post p;
	struct hf_buf body;	/* the answer, an error, a begun line */
};

static bool
stops(void *arg)
{
	struct try *t = arg;

	return t->c->stop != NULL && t->c->stop(t->c->arg);
}

/* The whole lines of a stream. */
static int
give_lines(struct try *t, struct hf_err *err)
{
	struct hf_str all = hf_buf_view(&t->body);
	size_t at, from = 0;
	int rc = 0;

	while (rc == 0 && (at = hf_str_find(all, HF_STR("\n"), from)) !=
	    SIZE_MAX) {
		rc = t->c->line(hf_strn(all.s + from, at - from), t->c->arg,
		    err);
		from = at + 1;
	}
	hf_buf_eat(&t->body, from);
	return rc;
}

static int
on_data(struct hf_str bytes, void *arg, struct hf_err *err)
{
	struct try *t = arg;

	hf_buf_str(&t->body, bytes);
	if (t->body.full)
		return hf_err_set(err, HF_E_OVERFLOW,
		    "etcd answers with more than can be read");
	if (t->c->line == NULL || t->p.status != 200)
		return 0;
	return give_lines(t, err);
}

static int
post(struct hf_etcd *e, struct try *t, struct hf_err *err)
{
	const char *header[] = { "Content-Type: application/json", NULL,
		NULL };
	struct hf_etcd_call *c = t->c;
	int64_t now = hf_clock_boot();
	int64_t end = c->deadline != 0 ? c->deadline : e->deadline;
	struct hf_buf url = HF_BUF_INIT;
	struct hf_post *p = &t->p;
	int rc;

	*p = (struct hf_post){
		.header = header, .body = c->body, .any_http = !e->url.tls,
		.ca_file = e->how.ca_file, .cert_file = e->how.cert_file,
		.key_file = e->how.key_file, .connect_ms = CONNECT_MS,
		.idle_ms = IDLE_MS, .max = ANSWER_MAX, .data = on_data,
		.stop = stops, .arg = t,
	};
	hf_buf_printf(&url, "%s%s", e->url.endpoint[e->at], c->path);
	if (e->token.len > 0)
		header[1] = hf_buf_cstr(&e->token);
	p->url = hf_buf_cstr(&url);
	p->deadline = end;
	/* A stream is silent as long as nothing happens. */
	if (c->line != NULL)
		p->idle_ms = 24 * 3600 * 1000;
	else if (p->deadline > now + TRY_MS)
		p->deadline = now + TRY_MS;
	rc = hf_http_post(e->http, p, err);
	hf_buf_release(&url);
	/* Only over a connection that was kept libcurl asks again. */
	if (e->answered && p->connected)
		c->again = true;
	e->answered = e->answered || rc == 0;
	if (rc == 0 && p->status == 0)
		p->status = 200;		/* stopped before an answer */
	return rc < 0 ? -1 : p->status;
}

/* ---- what an error means ---- */

enum verdict { FINAL, ANOTHER, NEW_TOKEN };

static bool
says(struct hf_str msg, const char *what)
{
	return hf_str_ifind(msg, what, 0) != SIZE_MAX;
}

/* By its message, where the code alone does not tell. */
static int
by_message(struct hf_str msg, enum verdict *what, struct hf_err *err)
{
	*what = FINAL;
	if (says(msg, "request is too large") || says(msg, "larger than max"))
		return hf_err_set(err, HF_E_OVERFLOW, "this is more than etcd "
		    "takes in one request (its --max-request-bytes)");
	if (says(msg, "database space exceeded"))
		return hf_err_set(err, HF_E_IO, "etcd has no space left (its "
		    "--quota-backend-bytes)");
	if (says(msg, "user name is empty"))
		return hf_err_set(err, HF_E_CONFIG, "this etcd asks for a user "
		    "and a password: etcd.user, etcd.passwordEnv");
	if (says(msg, "authentication is not enabled"))
		return hf_err_set(err, HF_E_CONFIG, "this etcd knows no users: "
		    "etcd.user must not be set");
	if (says(msg, "authentication failed"))
		return hf_err_set(err, HF_E_REFUSED,
		    "etcd declines the user or the password");
	if (!says(msg, "invalid auth token") &&
	    !says(msg, "auth store is old") && !says(msg, "header is old"))
		return 0;
	*what = NEW_TOKEN;
	return hf_err_set(err, HF_E_UNAVAILABLE,
	    "etcd declines the token that it gave");
}

static enum verdict
by_code(int64_t code, int status, const char *host, struct hf_str msg,
    struct hf_err *err)
{
	int n = (int)(msg.n < 200 ? msg.n : 200);
	const char *s = n > 0 ? msg.s : "";

	if (code == GRPC_WHO) {
		hf_err_set(err, HF_E_REFUSED, "etcd: %.*s", n, s);
		return NEW_TOKEN;
	}
	if (code == GRPC_NOT_FOUND && n > 0)
		hf_err_set(err, HF_E_NOT_FOUND, "etcd: %.*s", n, s);
	else if (code == GRPC_RANGE)
		hf_err_set(err, HF_E_CHANGED, "etcd: %.*s", n, s);
	else if (status >= 500 || status == 429 || status == 408 ||
	    code == GRPC_DEADLINE || code == GRPC_UNAVAILABLE ||
	    code == GRPC_ABORTED || code == GRPC_EXHAUSTED) {
		hf_err_set(err, HF_E_UNAVAILABLE, "etcd at '%s': %.*s (%d)",
		    host, n, s, status);
		return ANOTHER;
	} else
		hf_err_set(err, HF_E_REFUSED, "etcd at '%s' declines: %.*s "
		    "(%d)", host, n, s, status);
	return FINAL;
}

static enum verdict
judge(const struct hf_etcd *e, int status, const struct hf_buf *body,
    struct hf_err *err)
{
	struct hf_json *j = hf_json_parse(hf_buf_view(body), HF_JSON_MEND,
	    NULL, NULL, NULL);
	const struct hf_jval *v = hf_json_root(j);
	const struct hf_jval *inner = hf_json_get(v, "error");
	struct hf_str msg;
	enum verdict what;

	/* In a stream the error is an object. */
	if (hf_json_type(inner) == HF_J_OBJ)
		v = inner;
	msg = hf_json_get_str(v, "message");
	if (msg.n == 0)
		msg = hf_json_str(inner);
	if (by_message(msg, &what, err) == 0)
		what = by_code(hf_etcd_call_int(v, "code") != 0 ?
		    hf_etcd_call_int(v, "code") :
		    hf_etcd_call_int(v, "grpc_code"), status,
		    e->url.endpoint[e->at], msg, err);
	hf_json_free(j);
	return what;
}

/* ---- authentication ---- */

static int
take_token(struct hf_etcd *e, const struct hf_json *j, struct hf_err *err)
{
	struct hf_str token = hf_json_get_str(hf_json_root(j), "token");

	for (size_t i = 0; i < token.n; i++)
		if (token.s[i] <= ' ' || token.s[i] > '~')
			token.n = 0;
	if (token.n == 0)
		return hf_err_set(err, HF_E_REFUSED,
		    "etcd gives no token for the user and the password");
	hf_buf_puts(&e->token, "Authorization: ");
	hf_buf_str(&e->token, token);
	return 0;
}

static void
wipe(struct hf_buf *b)
{
	if (b->data != NULL)
		explicit_bzero(b->data, b->cap);
	hf_buf_release(b);
}

/* 0, or the verdict's -1. */
static int
authenticate(struct hf_etcd *e, enum verdict *what, struct hf_err *err)
{
	struct hf_etcd_call c = { .path = "/v3/auth/authenticate" };
	struct try t = { .c = &c, .body = HF_BUF_MAX(ERROR_MAX) };
	struct hf_buf body = HF_BUF_INIT, password = HF_BUF_MAX(4096);
	struct hf_json *j = NULL;
	int rc = -1, status;

	*what = FINAL;
	if (e->how.password(&password, e->how.arg, err) < 0)
		goto out;
	hf_buf_puts(&body, "{\"name\":");
	hf_json_quote(&body, hf_str(e->how.user));
	hf_buf_puts(&body, ",\"password\":");
	hf_json_quote(&body, hf_buf_view(&password));
	hf_buf_putc(&body, '}');
	c.body = hf_buf_view(&body);
	status = post(e, &t, err);
	if (status < 0)
		*what = err->code == HF_E_UNAVAILABLE ||
		    err->code == HF_E_TIMEOUT ? ANOTHER : FINAL;
	else if (status != 200)
		*what = judge(e, status, &t.body, err);
	else if ((j = hf_json_parse(hf_buf_view(&t.body), 0, NULL, NULL,
	    err)) != NULL)
		rc = take_token(e, j, err);
out:
	hf_json_free(j);
	wipe(&body);
	wipe(&password);
	wipe(&t.body);
	return rc;
}

/* ---- again and again ---- */

static enum verdict
try_once(struct hf_etcd *e, struct hf_etcd_call *c, int *rc,
    struct hf_err *err)
{
	struct try t = { .c = c, .body = HF_BUF_MAX(ANSWER_MAX) };
	enum verdict what = FINAL;
	int status;

	*rc = -1;
	if (e->how.user != NULL && e->token.len == 0 &&
	    authenticate(e, &what, err) < 0)
		return what;
	status = post(e, &t, err);
	if (status < 0)
		what = err->code == HF_E_UNAVAILABLE ||
		    err->code == HF_E_TIMEOUT ? ANOTHER : FINAL;
	else if (status != 200)
		what = judge(e, status, &t.body, err);
	else if (c->line != NULL)
		*rc = 0;
	else if ((c->answer = hf_json_parse(hf_buf_view(&t.body), 0, NULL,
	    NULL, err)) != NULL)
		*rc = 0;
	else {
		hf_err_set(err, HF_E_UNAVAILABLE,
		    "what answers at '%s' is not etcd's gateway",
		    e->url.endpoint[e->at]);
		what = ANOTHER;
	}
	hf_buf_release(&t.body);
	return what;
}

/* Between two rounds over all endpoints. */
static int
pause_after(const struct hf_etcd *e, size_t tries, struct hf_err *err)
{
	int64_t ms = PAUSE_MS;

	if (tries % e->url.n != 0)
		return 0;
	for (size_t i = e->url.n; i < tries && ms < PAUSE_MAX_MS;
	    i += e->url.n)
		ms *= 2;
	return hf_sig_sleep((long)(ms < PAUSE_MAX_MS ? ms : PAUSE_MAX_MS),
	    err);
}

int
hf_etcd_call(struct hf_etcd *e, struct hf_etcd_call *c, struct hf_err *err)
{
	int64_t end = c->deadline != 0 ? c->deadline : e->deadline;
	size_t tries = 0, tokens = 0;
	enum verdict what;
	int rc;

	c->answer = NULL;
	c->again = false;
	for (;;) {
		what = try_once(e, c, &rc, err);
		if (rc == 0)
			return 0;
		if (what == NEW_TOKEN && e->how.user != NULL &&
		    ++tokens < TOKENS) {
			wipe(&e->token);
			continue;
		}
		if (what != ANOTHER) {
			if (err->code == HF_E_TIMEOUT)
				err->code = HF_E_UNAVAILABLE;
			return -1;
		}
		c->again = true;
		e->at = (e->at + 1) % e->url.n;
		if (hf_clock_boot() >= end)
			break;
		if (pause_after(e, ++tries, err) < 0)
			return -1;
		if (hf_clock_boot() >= end)
			break;
	}
	err->code = HF_E_UNAVAILABLE;
	hf_err_prefix(err, "the store does not answer");
	return -1;
}
