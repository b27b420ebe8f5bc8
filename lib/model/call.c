#include "model/call.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hmac.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/sig.h"
#include "model/splice.h"
#include "model/sse.h"

enum {
	CONNECT_MS = 10000, IDLE_MS = 90000,
	ANSWER_MAX = 32 << 20,		/* bytes of an answer, streamed */
	RAW_MAX = 8 << 20,		/* of one that is not */
	ERROR_MAX = 64 << 10,		/* of an error's body */
	BACKOFF_MS = 500, BACKOFF_MAX = 15000, SPREAD_MS = 250,
	TICK_MS = 100,
	RAW_SHOWN = 120,		/* columns of a body, in a message */
	HEADERS = 64
};

/* How one request went. */
enum outcome { GOOD, FINAL, AGAIN, CHANGED };

struct call {
	const struct hf_provider *p;
	const struct hf_wire *w;
	const struct hf_ask *q;
	const char *base;
	char *model;
	struct hf_buf url, body;
	char *header[HEADERS + 1];
	size_t nheaders;
	int64_t deadline, backoff;
	bool context;			/* the user's own body is sent */
	bool chosen, automatic;		/* its choice of tools: set; auto */
	bool shrunk;
	unsigned without;		/* HF_WITHOUT_* */
	int64_t attempts;
	/* of the request under way */
	struct hf_post post;
	struct hf_reader reader;
	struct hf_sse sse;
	struct hf_buf raw;		/* what is no stream */
	bool begun, stream, events;	/* at least one */
};

/* ---- what is sent ---- */

/* One header; the first of a name wins. */
static int
add_header(struct call *c, struct hf_str name, struct hf_str value,
    struct hf_err *err)
{
	struct hf_buf line = HF_BUF_INIT;
	size_t i;

	for (i = 0; i < c->nheaders; i++)
		if (strlen(c->header[i]) > name.n &&
		    c->header[i][name.n] == ':' &&
		    hf_str_ieq(hf_strn(c->header[i], name.n), name))
			return 0;
	if (c->nheaders == HEADERS)
		return hf_err_set(err, HF_E_CONFIG,
		    "summarize.headers has more than %d", HEADERS - 8);
	hf_buf_str(&line, name);
	hf_buf_puts(&line, ": ");
	hf_buf_str(&line, value);
	c->header[c->nheaders++] = hf_buf_steal(&line);
	c->header[c->nheaders] = NULL;
	return 0;
}

/* "Name: value" as one text. */
static int
add_line(struct call *c, const char *line, struct hf_err *err)
{
	const char *colon = strchr(line, ':');

	return add_header(c, hf_strn(line, (size_t)(colon - line)),
	    hf_str_trim(hf_str(colon + 1)), err);
}

static bool
is_token(struct hf_str name)
{
	size_t i;

	for (i = 0; i < name.n; i++)
		if (name.s[i] <= ' ' || name.s[i] > '~' ||
		    strchr("()<>@,;:\\\"/[]?={}", name.s[i]) != NULL)
			return false;
	return name.n > 0;
}

/* The user's headers; *key is set when one of them holds a key. */
static int
own_headers(struct call *c, bool *key, struct hf_err *err)
{
	static const char *const keys[] = { "authorization", "x-api-key",
		"api-key", "x-goog-api-key" };
	const struct hf_jval *v;
	struct hf_jiter it;
	struct hf_str name;
	size_t i;

	*key = false;
	hf_json_iter(&it, c->q->config->headers);
	while ((v = hf_json_next(&it, &name)) != NULL) {
		if (!is_token(name))
			return hf_err_set(err, HF_E_CONFIG,
			    "summarize.headers: '%.*s' is no header's name",
			    (int)(name.n < 100 ? name.n : 100), name.s);
		for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			if (hf_str_ieq(name, hf_str(keys[i])))
				*key = true;
		if (add_header(c, name, hf_json_str(v), err) < 0)
			return -1;
	}
	return 0;
}

static int
key_header(struct call *c, bool optional, struct hf_err *err)
{
	const struct hf_config *config = c->q->config;
	const char *name = config->key_env != NULL ? config->key_env :
	    c->p->key_env;
	struct hf_buf line = HF_BUF_INIT;
	int rc;

	if (hf_api_key_get(c->q->key, config, c->p->key_env, err) < 0)
		return -1;
	if (c->q->key->value == NULL && optional)
		return 0;
	if (c->q->key->value == NULL)
		return hf_err_set(err, HF_E_CONFIG, "no key for '%s': set %s, "
		    "or summarize.keyEnv or summarize.keyCommand",
		    c->p->name, name);
	hf_buf_puts(&line, c->w->key_header);
	hf_buf_puts(&line, c->q->key->value);
	rc = add_line(c, hf_buf_cstr(&line), err);
	explicit_bzero(line.data, line.cap);
	hf_buf_release(&line);
	return rc;
}

/* A server on this machine may want no key. */
static int
headers(struct call *c, bool local, struct hf_err *err)
{
	bool has_key;

	if (own_headers(c, &has_key, err) < 0 ||
	    add_line(c, "Content-Type: application/json", err) < 0 ||
	    add_line(c, "Accept: text/event-stream, application/json",
	    err) < 0)
		return -1;
	if (c->w->header != NULL && add_line(c, c->w->header, err) < 0)
		return -1;
	return has_key ? 0 : key_header(c, local, err);
}

static int
spliced_body(struct call *c, struct hf_err *err)
{
	struct hf_splice s = { .body = c->q->context };

	s.text = hf_buf_view(&c->q->prompt->instruction);
	s.model = c->q->model_forced ? c->q->model : NULL;
	s.choice = c->automatic ? c->w->choice_auto : c->w->choice_none;
	s.max_tokens = c->q->config->max_tokens;
	return hf_splice(c->w, &s, &c->body, &c->chosen, err);
}

static int
body(struct call *c, struct hf_err *err)
{
	struct hf_wire_ask ask = { .model = c->model };
	struct hf_buf text = HF_BUF_INIT;
	struct hf_jtree *t;
	struct hf_jnode *o;

	hf_buf_clear(&c->body);
	if (c->context)
		return spliced_body(c, err);
	hf_prompt_text(c->q->prompt, &text);
	ask.text = hf_buf_view(&text);
	ask.max_tokens = c->q->config->max_tokens;
	ask.without = c->without;
	ask.home = c->q->config->base_url == NULL;
	t = hf_jtree_new();
	o = hf_jtree_obj(t);
	c->w->body(t, o, &ask);
	hf_jtree_write(&c->body, o, false);
	hf_jtree_free(t);
	hf_buf_release(&text);
	return c->body.full ? hf_err_set(err, HF_E_OVERFLOW,
	    "the request is too big") : 0;
}

/* The context's own model, unless another was asked for. */
static int
choose_model(struct call *c, struct hf_err *err)
{
	struct hf_json *j = NULL;
	struct hf_str own = HF_STR_NONE;

	if (c->context && !c->q->model_forced)
		own = hf_splice_model(c->q->context, &j);
	if (own.n > 0)
		c->model = hf_strndup(own.s, own.n);
	else if (c->q->model != NULL)
		c->model = hf_strdup(c->q->model);
	hf_json_free(j);
	return c->model != NULL ? 0 : hf_err_set(err, HF_E_CONFIG,
	    "summarize.model is not set: '%s' has many", c->p->name);
}

/* Looked at before anything is sent: libcurl's words for it name no key. */
static int
check_ca(const char *file, struct hf_err *err)
{
	if (file == NULL || access(file, R_OK) == 0)
		return 0;
	return hf_err_set(err, HF_E_CONFIG,
	    "cannot read '%s', which 'summarize.caFile' names: %s", file,
	    strerror(errno));
}

static int
check_base(struct call *c, bool *local, struct hf_err *err)
{
	if (hf_http_check(c->base, c->q->config->allow_http, local, err) == 0)
		return 0;
	hf_err_prefix(err, "summarize.baseUrl");
	return -1;
}

static int
call_open(struct call *c, struct hf_err *err)
{
	const struct hf_config *config = c->q->config;
	bool local;

	hf_reader_init(&c->reader);
	c->context = c->q->context.n > 0;
	c->deadline = hf_clock_boot() + config->timeout_seconds * 1000;
	c->backoff = BACKOFF_MS;
	c->base = config->base_url != NULL ? config->base_url :
	    c->p->base_url;
	if (check_ca(config->ca_file, err) < 0 ||
	    check_base(c, &local, err) < 0 ||
	    choose_model(c, err) < 0 || headers(c, local, err) < 0)
		return -1;
	hf_wire_url(c->w, &c->url, c->base, c->model);
	return body(c, err);
}

static void
call_close(struct call *c)
{
	size_t i;

	for (i = 0; i < c->nheaders; i++) {
		explicit_bzero(c->header[i], strlen(c->header[i]));
		free(c->header[i]);
	}
	free(c->model);
	hf_buf_release(&c->url);
	hf_buf_release(&c->body);
	hf_buf_release(&c->raw);
	hf_reader_release(&c->reader);
}

/* ---- what comes ---- */

static void
on_tick(void *arg)
{
	struct call *c = arg;

	if (c->q->progress != NULL)
		c->q->progress(c->reader.text.len, c->reader.output,
		    c->q->progress_arg);
}

static int
on_event(struct hf_str name, struct hf_str data, void *arg,
    struct hf_err *err)
{
	struct call *c = arg;

	c->events = true;
	if (hf_wire_event(c->w, &c->reader, name, data, err) < 0)
		return -1;
	return c->reader.whole || c->reader.failed ? 1 : 0;
}

/* A stream of events or one JSON text? Servers err in the media type, but
 * no line of a stream begins like JSON or HTML. */
static bool
looks_like_stream(struct hf_str bytes)
{
	bytes = hf_str_trim(bytes);
	return bytes.n > 0 && strchr("{[<", bytes.s[0]) == NULL;
}

static int
on_data(struct hf_str bytes, void *arg, struct hf_err *err)
{
	struct call *c = arg;
	bool good = c->post.status >= 200 && c->post.status < 300;

	if (!c->begun) {
		if (hf_str_trim(bytes).n == 0)
			return 0;
		c->begun = true;
		c->stream = good && looks_like_stream(bytes);
		c->raw.max = good ? RAW_MAX : ERROR_MAX;
	}
	if (c->stream)
		return hf_sse_feed(&c->sse, bytes, err);
	hf_buf_add(&c->raw, bytes.s, bytes.n);
	if (c->raw.full && good)
		return hf_err_set(err, HF_E_OVERFLOW,
		    "the answer has more than %d bytes", RAW_MAX);
	return c->raw.full ? 1 : 0;
}

static int
exchange(struct call *c, struct hf_err *err)
{
	struct hf_post *p = &c->post;
	int rc;

	hf_reader_release(&c->reader);
	hf_reader_init(&c->reader);
	c->sse.event = on_event;
	c->sse.arg = c;
	hf_sse_init(&c->sse);
	hf_buf_clear(&c->raw);
	c->begun = c->stream = c->events = false;
	*p = (struct hf_post){ .url = hf_buf_cstr(&c->url) };
	p->header = (const char *const *)c->header;
	p->body = hf_buf_view(&c->body);
	p->any_http = c->q->config->allow_http;
	p->ca_file = c->q->config->ca_file;
	p->deadline = c->deadline;
	p->connect_ms = CONNECT_MS;
	p->idle_ms = IDLE_MS;
	p->max = ANSWER_MAX;
	p->data = on_data;
	p->tick = on_tick;
	p->arg = c;
	c->attempts++;
	rc = hf_http_post(c->q->http, p, err);
	if (rc == 0 && c->stream && !c->reader.whole && !c->reader.failed &&
	    hf_sse_end(&c->sse, err) < 0)
		rc = -1;
	hf_sse_release(&c->sse);
	return rc;
}

/* ---- what it comes to ---- */

/* The server's words without the key or any other secret. */
static void
mask(struct call *c, struct hf_api_error *e)
{
	struct hf_buf out = HF_BUF_INIT;
	struct hf_str view;

	if (c->q->prompt->secrets == NULL)
		return;
	hf_secrets_mask(c->q->prompt->secrets, &out, hf_str(e->message));
	view = hf_buf_view(&out);
	if (view.n >= sizeof(e->message))
		view.n = hf_utf8_cut(view, sizeof(e->message) - 1);
	memcpy(e->message, view.s, view.n);
	e->message[view.n] = '\0';
	hf_buf_release(&out);
}

/* The prompt once more, shorter: the second and last try at its length. */
static enum outcome
shrink(struct call *c, const struct hf_api_error *e, struct hf_err *err)
{
	size_t bytes = c->q->prompt->transcript.len +
	    c->q->prompt->instruction.len;
	size_t before = c->body.len;
	int64_t fit = hf_judge_fit(e, c->q->config->max_tokens);

	if (c->shrunk || c->q->refit == NULL)
		return FINAL;
	c->shrunk = true;
	if (c->context) {
		/* It cannot be made shorter; the transcript can. */
		hf_warn("the context is too long for '%s': the transcript is "
		    "sent instead", c->model);
		c->context = c->chosen = false;
		bytes = before;
	}
	bytes = (size_t)((int64_t)bytes / 1000 * fit / 1000);
	if (c->q->refit(bytes, c->q->refit_arg, err) < 0 ||
	    body(c, err) < 0)
		return FINAL;
	return c->body.len < before ? CHANGED : FINAL;
}

/* Tool choice "auto", once, after a 400 that says so. */
static enum outcome
free_choice(struct call *c, struct hf_err *err)
{
	struct hf_err why = { HF_OK, "" };

	if (!c->chosen || c->automatic)
		return FINAL;
	c->automatic = true;
	if (body(c, &why) == 0)
		return CHANGED;
	*err = why;
	return FINAL;
}

/* Without a parameter that this server does not have. */
static enum outcome
do_without(struct call *c, const struct hf_api_error *e, struct hf_err *err)
{
	unsigned more = hf_judge_without(e) & ~c->without;
	struct hf_buf before = HF_BUF_INIT;
	struct hf_err why = { HF_OK, "" };
	enum outcome out = FINAL;

	if (more == 0 || c->context)
		return FINAL;
	c->without |= more;
	hf_buf_str(&before, hf_buf_view(&c->body));
	if (body(c, &why) < 0)
		*err = why;
	else if (!hf_str_eq(hf_buf_view(&before), hf_buf_view(&c->body)))
		out = CHANGED;
	hf_buf_release(&before);
	return out;
}

/* An error that the API told. *err is what it comes to if nothing helps. */
static enum outcome
declined(struct call *c, struct hf_api_error *e, struct hf_err *err)
{
	mask(c, e);
	hf_judge_set(err, c->p->name, e);
	switch (hf_judge(e)) {
	case HF_AGAIN:
		return AGAIN;
	case HF_TOO_LONG:
		return shrink(c, e, err);
	case HF_NO_CHOICE:
		return free_choice(c, err);
	case HF_NO_PARAMETER:
		return do_without(c, e, err);
	case HF_FINAL:
		break;
	}
	return FINAL;
}

/* Before anything of it is cut: half a secret is not known as one. */
static void
mask_raw(struct call *c)
{
	struct hf_buf out = HF_BUF_INIT;

	if (c->q->prompt->secrets == NULL || c->raw.len == 0 ||
	    hf_secrets_mask(c->q->prompt->secrets, &out,
	    hf_buf_view(&c->raw)) == 0) {
		hf_buf_release(&out);
		return;
	}
	hf_buf_release(&c->raw);
	c->raw = out;
}

/* What came in place of an error in the API's words, as one line; markup is
 * of no use to anybody. */
static void
quote_raw(struct call *c, struct hf_api_error *e)
{
	struct hf_buf out = HF_BUF_INIT;
	struct hf_str view = hf_str_trim(hf_buf_view(&c->raw));

	if (e->message[0] != '\0' || view.n == 0 || view.s[0] == '<')
		return;
	hf_text_clip(&out, view, RAW_SHOWN);
	view = hf_buf_view(&out);
	if (view.n < sizeof(e->message)) {
		memcpy(e->message, view.s, view.n);
		e->message[view.n] = '\0';
	}
	hf_buf_release(&out);
}

/* No such place there. */
static void
ask_url(struct hf_err *err)
{
	struct hf_err why = *err;

	hf_err_set(err, why.code, "%s; is summarize.baseUrl right?", why.msg);
}

/* An answer with a status that is no success. */
static enum outcome
bad_status(struct call *c, struct hf_err *err)
{
	const struct hf_jval *root, *inner;
	struct hf_api_error e;
	enum outcome out;
	struct hf_json *j;
	bool told;

	if (c->post.status < 400) {
		hf_err_set(err, HF_E_REFUSED, "'%s' answered with status %d; "
		    "redirects are not followed", c->p->name,
		    c->post.status);
		return FINAL;
	}
	mask_raw(c);
	j = hf_json_parse(hf_buf_view(&c->raw), HF_JSON_RAW | HF_JSON_MEND,
	    NULL, NULL, NULL);
	root = hf_json_root(j);
	/* Gemini's may be in a list. */
	if (hf_json_type(root) == HF_J_ARR)
		root = hf_json_elem(root, 0);
	inner = hf_json_get(root, "error");
	hf_api_error_read(&e, hf_json_type(inner) == HF_J_OBJ ||
	    hf_json_type(inner) == HF_J_STR ? inner : root, c->post.status);
	hf_json_free(j);
	told = e.message[0] != '\0';
	quote_raw(c, &e);
	out = declined(c, &e, err);
	if (!told && (e.status == 404 || e.status == 405))
		ask_url(err);
	return out;
}

/* The whole answer's text, or why it is none (CASES B4). */
static enum outcome
ended(struct call *c, struct hf_err *err)
{
	struct hf_reader *r = &c->reader;
	const char *who = c->p->name;
	bool blank;

	if (hf_reader_unthink(&r->text))
		r->thought = true;
	blank = hf_str_trim(hf_buf_view(&r->text)).n == 0;
	if (r->end == HF_END_BROKEN) {
		hf_err_set(err, HF_E_UNAVAILABLE,
		    "'%s' could not go on with its answer (%s)", who,
		    r->finish);
		return AGAIN;
	}
	if (r->end == HF_END_REFUSED)
		hf_err_set(err, HF_E_REFUSED, "'%s' refused to answer (%s)",
		    who, r->finish);
	else if (r->end == HF_END_LENGTH)
		hf_err_set(err, HF_E_TRUNCATED, "the answer of '%s' was cut "
		    "by a limit (%s)%s; summarize.maxTokens is %" PRId64, who,
		    r->finish, blank ? " before any text" : "",
		    c->q->config->max_tokens);
	else if (r->end == HF_END_TOOL || r->called)
		hf_err_set(err, HF_E_EMPTY,
		    "'%s' called a tool instead of answering", who);
	else if (blank)
		hf_err_set(err, HF_E_EMPTY, r->thought ?
		    "'%s' only thought and answered nothing" :
		    "the answer of '%s' is empty", who);
	else
		return GOOD;
	return FINAL;
}

static enum outcome
strange(struct call *c, struct hf_err *err)
{
	hf_err_set(err, HF_E_REFUSED, "'%s' answered with '%s', not with "
	    "JSON or events; is summarize.baseUrl right?", c->p->name,
	    c->post.type);
	return FINAL;
}

/* Was it to be JSON, and ended in the middle? */
static bool
is_cut(const struct call *c)
{
	struct hf_str raw = hf_str_trim(hf_buf_view(&c->raw));

	return strcmp(c->post.type, "application/json") == 0 &&
	    (hf_str_starts(raw, "{") || hf_str_starts(raw, "["));
}

static enum outcome
no_stream(struct call *c, struct hf_err *err)
{
	if (hf_wire_answer(c->w, &c->reader, hf_buf_view(&c->raw), err) < 0)
		return err->code != HF_E_UNAVAILABLE ? FINAL :
		    is_cut(c) ? AGAIN : strange(c, err);
	if (c->reader.failed)
		return declined(c, &c->reader.error, err);
	return ended(c, err);
}

/* One request and what it comes to. */
static enum outcome
attempt(struct call *c, struct hf_err *err)
{
	struct hf_reader *r = &c->reader;

	if (exchange(c, err) < 0) {
		/* What breaks behind the end of the answer does not count. */
		if (c->stream && !r->failed && r->end != HF_END_NONE &&
		    (err->code == HF_E_UNAVAILABLE ||
		    err->code == HF_E_TIMEOUT))
			return ended(c, err);
		return err->code == HF_E_UNAVAILABLE ? AGAIN : FINAL;
	}
	if (c->post.status < 200 || c->post.status >= 300)
		return bad_status(c, err);
	if (!c->begun) {
		hf_err_set(err, HF_E_UNAVAILABLE,
		    "'%s' answered with nothing at all", c->p->name);
		return AGAIN;
	}
	if (!c->stream)
		return no_stream(c, err);
	if (r->failed)
		return declined(c, &r->error, err);
	if (r->end == HF_END_NONE && !r->whole) {
		if (!c->events &&
		    strcmp(c->post.type, "text/event-stream") != 0)
			return strange(c, err);
		hf_err_set(err, HF_E_UNAVAILABLE,
		    "the answer of '%s' ended in the middle", c->p->name);
		return AGAIN;
	}
	return ended(c, err);
}

/* ---- again ---- */

static int64_t
random_below(int64_t n)
{
	uint32_t r;

	hf_random(&r, sizeof(r));
	return (int64_t)(r % (uint64_t)n);
}

/* How long to wait: what the server asks for, else longer each time, in
 * parts by chance, so that many do not come at once. */
static int64_t
delay(struct call *c)
{
	int64_t ms = c->post.retry_ms;

	if (ms > 0)
		return ms + random_below(SPREAD_MS);
	ms = c->backoff / 2 + random_below(c->backoff / 2);
	c->backoff = c->backoff * 2 < BACKOFF_MAX ? c->backoff * 2 :
	    BACKOFF_MAX;
	return ms;
}

/* Waits for the next try. -1: there is no time for it, and *err, the last
 * failure, says so; or a signal came. */
static int
wait_for_it(struct call *c, struct hf_answer *a, struct hf_err *err)
{
	int64_t ms = delay(c), end = hf_clock_boot() + ms;
	struct hf_err why = *err;

	if (end >= c->deadline) {
		if (c->post.retry_ms > 0) {
			a->retry_after = (c->post.retry_ms + 999) / 1000;
			return hf_err_set(err, why.code, "%s; it asks to wait "
			    "%" PRId64 " s, which is beyond the deadline",
			    why.msg, a->retry_after);
		}
		return -1;
	}
	while (hf_clock_boot() < end) {
		on_tick(c);
		ms = end - hf_clock_boot();
		if (ms > 0 && hf_sig_sleep(ms < TICK_MS ? (long)ms : TICK_MS,
		    err) < 0)
			return -1;
	}
	return 0;
}

static void
tell(struct call *c, struct hf_answer *a)
{
	struct hf_reader *r = &c->reader;

	a->text = r->text;
	r->text = (struct hf_buf)HF_BUF_INIT;
	snprintf(a->model, sizeof(a->model), "%s", r->model[0] != '\0' ?
	    r->model : c->model);
	snprintf(a->finish, sizeof(a->finish), "%s", r->finish);
	a->input = r->input;
	a->output = r->output;
	a->cached = r->cached;
}

int
hf_call(const struct hf_provider *p, const struct hf_wire *w,
    const struct hf_ask *q, struct hf_answer *a, struct hf_err *err)
{
	struct call c = { .p = p, .w = w, .q = q };
	int64_t began = hf_clock_boot();
	enum outcome out = FINAL;
	int rc = -1;

	if (call_open(&c, err) < 0)
		goto out;
	for (;;) {
		out = attempt(&c, err);
		if (out == GOOD || out == FINAL)
			break;
		if (out == AGAIN && wait_for_it(&c, a, err) < 0)
			break;
	}
	if (out == GOOD) {
		tell(&c, a);
		rc = 0;
	}
	if (rc < 0 && a->model[0] == '\0' && c.model != NULL)
		snprintf(a->model, sizeof(a->model), "%s", c.model);
out:
	a->attempts = c.attempts;
	a->milliseconds = hf_clock_boot() - began;
	call_close(&c);
	return rc;
}
