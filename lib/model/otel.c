#include "model/otel.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/hmac.h"
#include "base/io.h"
#include "base/mem.h"
#include "json/json.h"

enum { TIMEOUT_MS = 5000, ANSWER_MAX = 64 << 10, HEADERS = 32,
	TRACE_LEN = 32, SPAN_LEN = 16, KIND_CLIENT = 3, STATUS_ERROR = 2 };

static bool
is_on(const char *name)
{
	const char *s = hf_env(name);

	return s != NULL && hf_str_ieq(hf_str(s), HF_STR("true"));
}

static bool
is(const char *name, const char *value)
{
	const char *s = hf_env(name);

	return s != NULL && strcmp(s, value) == 0;
}

bool
hf_otel_wanted(void)
{
	return (hf_env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != NULL ||
	    hf_env("OTEL_EXPORTER_OTLP_ENDPOINT") != NULL) &&
	    !is_on("OTEL_SDK_DISABLED") &&
	    !is("OTEL_TRACES_EXPORTER", "none");
}

/* ---- the span ---- */

static void
attribute(struct hf_jtree *t, struct hf_jnode *list, const char *key,
    struct hf_jnode *value)
{
	struct hf_jnode *o = hf_jtree_obj(t);

	hf_jset_cstr(t, o, "key", key);
	hf_jset(t, o, "value", value);
	hf_jpush(list, o);
}

static struct hf_jnode *
string_value(struct hf_jtree *t, const char *s)
{
	struct hf_jnode *v = hf_jtree_obj(t);

	hf_jset_cstr(t, v, "stringValue", s);
	return v;
}

static void
text(struct hf_jtree *t, struct hf_jnode *list, const char *key,
    const char *s)
{
	if (s != NULL && s[0] != '\0')
		attribute(t, list, key, string_value(t, s));
}

/* Integers of 64 bits are strings in its JSON. */
static void
digits(struct hf_jtree *t, struct hf_jnode *o, const char *key, int64_t n,
    const char *behind)
{
	struct hf_buf b = HF_BUF_INIT;

	hf_buf_printf(&b, "%" PRId64 "%s", n, behind);
	hf_jset_str(t, o, key, hf_buf_view(&b));
	hf_buf_release(&b);
}

static void
count(struct hf_jtree *t, struct hf_jnode *list, const char *key, int64_t n)
{
	struct hf_jnode *v = hf_jtree_obj(t);

	if (n < 0)
		return;
	digits(t, v, "intValue", n, "");
	attribute(t, list, key, v);
}

static void
finish(struct hf_jtree *t, struct hf_jnode *list, const char *word)
{
	struct hf_jnode *v = hf_jtree_obj(t), *a = hf_jtree_obj(t);
	struct hf_jnode *values = hf_jtree_arr(t);

	if (word[0] == '\0')
		return;
	hf_jpush(values, string_value(t, word));
	hf_jset(t, a, "values", values);
	hf_jset(t, v, "arrayValue", a);
	attribute(t, list, "gen_ai.response.finish_reasons", v);
}

static const char *
conventional(const char *provider)
{
	if (strcmp(provider, "gemini") == 0)
		return "gcp.gemini";
	if (strcmp(provider, "openai-responses") == 0)
		return "openai";
	return provider;
}

static struct hf_jnode *
attributes(struct hf_jtree *t, const struct hf_span *s)
{
	struct hf_jnode *list = hf_jtree_arr(t);

	text(t, list, "gen_ai.operation.name", "chat");
	text(t, list, "gen_ai.provider.name", conventional(s->provider));
	text(t, list, "gen_ai.request.model", s->model);
	text(t, list, "gen_ai.response.model", s->answer->model);
	count(t, list, "gen_ai.request.max_tokens", s->max_tokens);
	count(t, list, "gen_ai.usage.input_tokens", s->answer->input);
	count(t, list, "gen_ai.usage.output_tokens", s->answer->output);
	count(t, list, "gen_ai.usage.cache_read.input_tokens",
	    s->answer->cached);
	finish(t, list, s->answer->finish);
	count(t, list, "handoff.attempts", s->answer->attempts);
	if (s->failed != NULL)
		text(t, list, "error.type", hf_code_name(s->failed->code));
	return list;
}

static bool
is_hex(const char *s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if ((s[i] < '0' || s[i] > '9') && (s[i] < 'a' || s[i] > 'f'))
			return false;
	return true;
}

/* 00-TRACE-SPAN-flags */
static bool
is_parent(const char *p)
{
	return p != NULL && strlen(p) >= 3 + TRACE_LEN + 1 + SPAN_LEN &&
	    p[2] == '-' && is_hex(p, 2) && is_hex(p + 3, TRACE_LEN) &&
	    p[3 + TRACE_LEN] == '-' && is_hex(p + 4 + TRACE_LEN, SPAN_LEN);
}

static void
ids(struct hf_jtree *t, struct hf_jnode *o, const char *parent)
{
	unsigned char bytes[(TRACE_LEN + SPAN_LEN) / 2];
	struct hf_buf hex = HF_BUF_INIT;

	hf_random(bytes, sizeof(bytes));
	hf_text_hex(&hex, bytes, sizeof(bytes));
	if (is_parent(parent)) {
		hf_jset_str(t, o, "traceId", hf_strn(parent + 3, TRACE_LEN));
		hf_jset_str(t, o, "parentSpanId",
		    hf_strn(parent + 4 + TRACE_LEN, SPAN_LEN));
	} else {
		hf_jset_str(t, o, "traceId", hf_strn(hex.data, TRACE_LEN));
	}
	hf_jset_str(t, o, "spanId", hf_strn(hex.data + TRACE_LEN, SPAN_LEN));
	hf_buf_release(&hex);
}

static struct hf_jnode *
span(struct hf_jtree *t, const struct hf_span *s, const char *parent)
{
	struct hf_jnode *o = hf_jtree_obj(t), *status;
	struct hf_buf name = HF_BUF_INIT;

	ids(t, o, parent);
	hf_buf_printf(&name, "chat %s", s->model != NULL ? s->model :
	    s->provider);
	hf_jset_str(t, o, "name", hf_buf_view(&name));
	hf_buf_release(&name);
	hf_jset_int(t, o, "kind", KIND_CLIENT);
	digits(t, o, "startTimeUnixNano", s->began, "000000");
	digits(t, o, "endTimeUnixNano", s->ended, "000000");
	hf_jset(t, o, "attributes", attributes(t, s));
	if (s->failed != NULL) {
		status = hf_jtree_obj(t);
		hf_jset_int(t, status, "code", STATUS_ERROR);
		hf_jset(t, o, "status", status);
	}
	return o;
}

/* {"key": [value]} */
static struct hf_jnode *
in_list(struct hf_jtree *t, struct hf_jnode *o, const char *key,
    struct hf_jnode *value)
{
	struct hf_jnode *list = hf_jtree_arr(t);

	hf_jpush(list, value);
	hf_jset(t, o, key, list);
	return o;
}

void
hf_otel_body(struct hf_buf *out, const struct hf_span *s,
    const char *service, const char *parent)
{
	struct hf_jtree *t = hf_jtree_new();
	struct hf_jnode *resource = hf_jtree_obj(t), *group = hf_jtree_obj(t);
	struct hf_jnode *scope = hf_jtree_obj(t), *who = hf_jtree_obj(t);
	struct hf_jnode *list = hf_jtree_arr(t);

	text(t, list, "service.name", service);
	text(t, list, "service.version", HF_VERSION);
	hf_jset(t, resource, "attributes", list);
	hf_jset_cstr(t, who, "name", "handoff");
	hf_jset_cstr(t, who, "version", HF_VERSION);
	hf_jset(t, scope, "scope", who);
	in_list(t, scope, "spans", span(t, s, parent));
	hf_jset(t, group, "resource", resource);
	in_list(t, group, "scopeSpans", scope);
	hf_jtree_write(out, in_list(t, hf_jtree_obj(t), "resourceSpans",
	    group), false);
	hf_jtree_free(t);
}

/* ---- sending it ---- */

static void
percent_decode(struct hf_buf *out, struct hf_str a)
{
	static const char hex[] = "0123456789abcdef";
	const char *hi, *lo;
	size_t i;

	for (i = 0; i < a.n; i++) {
		hi = i + 2 < a.n && a.s[i] == '%' && a.s[i + 1] != '\0' ?
		    strchr(hex, a.s[i + 1] | 0x20) : NULL;
		lo = hi != NULL && a.s[i + 2] != '\0' ?
		    strchr(hex, a.s[i + 2] | 0x20) : NULL;
		if (lo == NULL) {
			hf_buf_putc(out, a.s[i]);
			continue;
		}
		hf_buf_putc(out, (char)((hi - hex) * 16 + (lo - hex)));
		i += 2;
	}
}

/* "name=value,name=value", values percent-encoded. */
static size_t
headers(char *header[HEADERS + 1])
{
	const char *s = hf_env("OTEL_EXPORTER_OTLP_TRACES_HEADERS");
	struct hf_buf line = HF_BUF_INIT;
	size_t n = 0, end, eq;

	header[n++] = hf_strdup("Content-Type: application/json");
	if (s == NULL)
		s = hf_env("OTEL_EXPORTER_OTLP_HEADERS");
	for (; s != NULL && *s != '\0' && n < HEADERS;
	    s += end + (s[end] == ',')) {
		end = strcspn(s, ",");
		eq = strcspn(s, "=");
		if (eq == 0 || eq >= end)
			continue;
		hf_buf_str(&line, hf_str_trim(hf_strn(s, eq)));
		hf_buf_puts(&line, ": ");
		percent_decode(&line, hf_str_trim(hf_strn(s + eq + 1,
		    end - eq - 1)));
		if (strpbrk(hf_buf_cstr(&line), "\r\n") == NULL)
			header[n++] = hf_buf_steal(&line);
		hf_buf_clear(&line);
	}
	header[n] = NULL;
	hf_buf_release(&line);
	return n;
}

static void
endpoint(struct hf_buf *out)
{
	const char *s = hf_env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
	struct hf_str base;

	if (s != NULL) {
		hf_buf_puts(out, s);
		return;
	}
	base = hf_str(hf_env("OTEL_EXPORTER_OTLP_ENDPOINT"));
	while (base.n > 0 && base.s[base.n - 1] == '/')
		base.n--;
	hf_buf_str(out, base);
	hf_buf_puts(out, "/v1/traces");
}

static int
nothing(struct hf_str bytes, void *arg, struct hf_err *err)
{
	(void)bytes;
	(void)arg;
	(void)err;
	return 0;
}

static int64_t
timeout_ms(void)
{
	const char *s = hf_env("OTEL_EXPORTER_OTLP_TIMEOUT");
	int64_t ms;

	if (s == NULL || !hf_text_int(hf_str(s), &ms) || ms < 1 ||
	    ms > TIMEOUT_MS)
		return TIMEOUT_MS;
	return ms;
}

void
hf_otel_export(struct hf_http *h, const struct hf_span *s)
{
	const char *service = hf_env("OTEL_SERVICE_NAME");
	struct hf_buf url = HF_BUF_INIT, body = HF_BUF_INIT;
	struct hf_err err = { HF_OK, "" };
	struct hf_post p = { 0 };
	char *header[HEADERS + 1];
	size_t n = headers(header), i;

	endpoint(&url);
	hf_otel_body(&body, s, service != NULL ? service : "handoff",
	    hf_env("TRACEPARENT"));
	p.url = hf_buf_cstr(&url);
	p.header = (const char *const *)header;
	p.body = hf_buf_view(&body);
	p.any_http = true;
	p.connect_ms = p.idle_ms = (long)timeout_ms();
	p.deadline = hf_clock_boot() + timeout_ms();
	p.max = ANSWER_MAX;
	p.data = nothing;
	if (hf_http_post(h, &p, &err) < 0) {
		if (err.code != HF_E_CANCELLED)
			hf_warn("no span was exported: %s", err.msg);
	} else if (p.status < 200 || p.status >= 300) {
		hf_warn("no span was exported: the collector answered with "
		    "status %d", p.status);
	}
	for (i = 0; i < n; i++) {
		explicit_bzero(header[i], strlen(header[i]));
		free(header[i]);
	}
	hf_buf_release(&url);
	hf_buf_release(&body);
}
