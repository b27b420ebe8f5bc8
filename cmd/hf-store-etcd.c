/*
 * hf-store-etcd: the state in etcd, for agents on many machines. Speaks
 * hf-store(7) on stdin and stdout; the commands start it by themselves.
 */
#include <poll.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/clock.h"
#include "base/cmd.h"
#include "base/env.h"
#include "base/io.h"
#include "base/opt.h"
#include "base/proc.h"
#include "base/sig.h"
#include "config/config.h"
#include "net/etcd.h"

static const char name[] = "hf-store-etcd";

enum {
	LINE_MAX_BYTES = 64 << 20,
	PAGE_BYTES = 8 << 20,	/* values in an answer to "scan" */
	PAGE_KEYS = 10000, PAGE_VALUES = 512,
	OP_MS = 10000, WAIT_MAX_MS = 600000,
	HELD_MAX = 16,
	HELD_SECONDS = 30,	/* a lease that we renew */
	RENEW_MS = 8000,
	RENEW_CALL_MS = 3000,
	END_MS = 1500,		/* to give back what we hold */
	COMMAND_MS = 60000
};

/* A lease that is renewed until its time is over or stdin ends. */
struct held {
	char id[HF_ETCD_ID];
	int64_t due, until;
};

struct server {
	struct hf_config config;
	struct hf_etcd *e;		/* NULL: not opened */
	struct hf_lines in;
	struct held held[HELD_MAX];
	size_t nheld;
	int64_t ms;			/* of the request at hand */
};

/* ---- the password ---- */

static int
by_command(char **argv, struct hf_buf *out, struct hf_err *err)
{
	struct hf_proc p = { .argv = (const char *const *)argv, .out = out,
		.timeout_ms = COMMAND_MS };
	int status, rc = hf_proc_run(&p, &status, err);

	if (rc == 0 && status == 0)
		return 0;
	if (rc == 0)
		hf_err_set(err, HF_E_CONFIG, "'%s' ended with status %d",
		    argv[0], status);
	if (err->code != HF_E_CANCELLED)
		err->code = HF_E_CONFIG;
	hf_err_prefix(err, "etcd.passwordCommand");
	return -1;
}

static int
password(struct hf_buf *out, void *arg, struct hf_err *err)
{
	const struct server *s = arg;
	const char *var = s->config.etcd.password_env, *value;

#ifdef __linux__
	/* Copies of it are in libcurl, too. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
	if (s->config.etcd.password_command != NULL) {
		if (by_command(s->config.etcd.password_command, out, err) < 0)
			return -1;
		/* The line's end is not a part of it. */
		while (out->len > 0 && (out->data[out->len - 1] == '\n' ||
		    out->data[out->len - 1] == '\r'))
			hf_buf_cut(out, out->len - 1);
	} else if (var != NULL && (value = hf_env(var)) != NULL)
		hf_buf_puts(out, value);
	if (out->len > 0)
		return 0;
	return hf_err_set(err, HF_E_CONFIG, "no password for the etcd user "
	    "'%s': etcd.passwordEnv names a variable, etcd.passwordCommand a "
	    "program", s->config.etcd.user);
}

/* ---- requests ---- */

/* A member that must be a string; "" if it may be missing. */
static int
get_text(const struct hf_jval *v, const char *key, bool must, char *out,
    size_t max, struct hf_err *err)
{
	struct hf_str a = hf_json_get_str(v, key);

	out[0] = '\0';
	if ((must && a.s == NULL) || a.n >= max ||
	    (a.n > 0 && memchr(a.s, '\0', a.n) != NULL))
		return hf_err_set(err, HF_E_INVALID,
		    "a request needs a \"%s\" of at most %zu bytes", key,
		    max - 1);
	if (a.n > 0)
		memcpy(out, a.s, a.n);
	out[a.n] = '\0';
	return 0;
}

enum { KEY_MAX = 512 };

static int
get_key(const struct hf_jval *v, const char *as, char key[KEY_MAX],
    struct hf_err *err)
{
	return get_text(v, as, true, key, KEY_MAX, err);
}

static int
do_open(struct server *s, const struct hf_jval *v, struct hf_buf *out,
    struct hf_err *err)
{
	struct hf_etcd_how how = { NULL, s->config.etcd.user, password, s,
		s->config.etcd.ca_file, s->config.etcd.cert_file,
		s->config.etcd.key_file };
	char url[4096];
	int64_t version;

	if (s->e != NULL)
		return hf_err_set(err, HF_E_INVALID, "it is open already");
	if (!hf_json_int(hf_json_get(v, "v"), &version) || version != 1)
		return hf_err_set(err, HF_E_UNSUPPORTED,
		    "only version 1 of hf-store(7) is spoken here");
	if (get_text(v, "url", true, url, sizeof(url), err) < 0)
		return -1;
	how.url = url;
	if (hf_etcd_open(&how, &s->e, err) < 0)
		return -1;
	hf_buf_puts(out, "\"v\":1");
	return 0;
}

static int
put_value(struct hf_buf *out, const char *key, struct hf_str val,
    struct hf_err *err)
{
	if (!hf_utf8_valid(val))
		return hf_err_set(err, HF_E_INVALID,
		    "'%s' is damaged: it is no text", key);
	hf_json_quote(out, val);
	return 0;
}

static int
do_get(struct server *s, const struct hf_jval *v, struct hf_buf *out,
    struct hf_err *err)
{
	struct hf_buf val = HF_BUF_INIT;
	struct hf_etcd_rev rev;
	char key[KEY_MAX];
	int rc = get_key(v, "key", key, err);

	if (rc == 0)
		rc = hf_etcd_get(s->e, key, &val, &rev, err);
	hf_buf_puts(out, "\"value\":");
	if (rc == 0)
		hf_buf_puts(out, "null");
	else if (rc > 0 && (rc = put_value(out, key, hf_buf_view(&val),
	    err)) == 0)
		hf_buf_printf(out, ",\"revision\":\"%s\"", rev.s);
	hf_buf_release(&val);
	return rc;
}

static int
do_put(struct server *s, const struct hf_jval *v, struct hf_buf *out,
    struct hf_err *err)
{
	char key[KEY_MAX], was[HF_ETCD_ID], guard[HF_ETCD_ID];
	char lease[HF_ETCD_ID];
	struct hf_etcd_put p = { key, hf_json_get_str(v, "value"), was, guard,
		lease };
	bool create = hf_json_is(hf_json_get(v, "op"), "create");
	struct hf_etcd_rev now;

	was[0] = '\0';
	if (get_key(v, "key", key, err) < 0 || (!create &&
	    get_text(v, "revision", true, was, sizeof(was), err) < 0) ||
	    get_text(v, "while", false, guard, sizeof(guard), err) < 0 ||
	    get_text(v, "lease", false, lease, sizeof(lease), err) < 0)
		return -1;
	if (p.val.s == NULL)
		return hf_err_set(err, HF_E_INVALID,
		    "a request needs a \"value\" that is a string");
	if (hf_etcd_put(s->e, &p, &now, err) < 0) {
		if (create && err->code == HF_E_CHANGED && guard[0] == '\0')
			hf_err_set(err, HF_E_EXISTS, "'%s' is there already",
			    key);
		return -1;
	}
	hf_buf_printf(out, "\"revision\":\"%s\"", now.s);
	return 0;
}

static int
do_delete(struct server *s, const struct hf_jval *v, struct hf_buf *out,
    struct hf_err *err)
{
	bool any = hf_json_get_str(v, "revision").s == NULL;
	char key[KEY_MAX], was[HF_ETCD_ID];
	int rc;

	if (get_key(v, "key", key, err) < 0 ||
	    get_text(v, "revision", false, was, sizeof(was), err) < 0)
		return -1;
	rc = hf_etcd_remove(s->e, key, any ? NULL : was, err);
	hf_buf_printf(out, "\"removed\":%s", rc > 0 ? "true" : "false");
	return rc;
}

/* ---- lists ---- */

struct page {
	struct hf_buf *out;
	bool values;
	size_t n;
};

static int
add_to_page(struct hf_str key, struct hf_str val, const char *rev,
    void *arg, struct hf_err *err)
{
	struct page *p = arg;
	struct hf_buf *b = p->out;
	char text[KEY_MAX];

	if (key.n >= sizeof(text) || !hf_utf8_valid(key))
		return 0;		/* none of ours */
	memcpy(text, key.s, key.n);
	text[key.n] = '\0';
	if (p->n++ > 0)
		hf_buf_putc(b, ',');
	if (!p->values) {
		hf_json_quote(b, key);
		return 0;
	}
	hf_buf_puts(b, "{\"key\":");
	hf_json_quote(b, key);
	hf_buf_puts(b, ",\"value\":");
	/* The one damaged value must not hide the others. */
	if (hf_utf8_valid(val))
		hf_json_quote(b, val);
	else
		hf_buf_puts(b, "\"\"");
	hf_buf_printf(b, ",\"revision\":\"%s\"}", rev);
	(void)err;
	return b->len > PAGE_BYTES;
}

static int
do_list(struct server *s, const struct hf_jval *v, struct hf_buf *out,
    struct hf_err *err)
{
	bool values = hf_json_is(hf_json_get(v, "op"), "scan");
	struct page p = { out, values, 0 };
	char prefix[KEY_MAX], after[KEY_MAX];
	struct hf_etcd_range r = { prefix, after, values ? PAGE_VALUES :
		PAGE_KEYS, values, add_to_page, &p };
	bool more = false;
	int64_t max;
	int rc;

	if (get_key(v, "prefix", prefix, err) < 0 ||
	    get_text(v, "after", false, after, sizeof(after), err) < 0)
		return -1;
	if (after[0] == '\0')
		r.after = NULL;
	if (hf_json_int(hf_json_get(v, "max"), &max) && max > 0 &&
	    (uint64_t)max < r.max)
		r.max = (size_t)max;
	hf_buf_puts(out, values ? "\"values\":[" : "\"keys\":[");
	/* Of large values fewer are asked for at once. */
	while ((rc = hf_etcd_range(s->e, &r, &more, err)) < 0 &&
	    err->code == HF_E_OVERFLOW && p.n == 0 && r.max > 1)
		r.max = (r.max + 7) / 8;
	if (rc < 0)
		return -1;
	hf_buf_printf(out, "],\"more\":%s", more ? "true" : "false");
	return 0;
}

/* ---- leases ---- */

static void
let_go(struct server *s, size_t i)
{
	memmove(s->held + i, s->held + i + 1,
	    (s->nheld - i - 1) * sizeof(s->held[0]));
	s->nheld--;
}

/* What is not reached now is tried again soon; etcd counts the seconds. */
static void
renew(struct server *s)
{
	for (size_t i = s->nheld; i > 0; i--) {
		struct held *h = &s->held[i - 1];
		int64_t now = hf_clock_boot();
		struct hf_err ignored;
		int rc;

		if (now < h->due)
			continue;
		hf_etcd_deadline(s->e, now + RENEW_CALL_MS);
		rc = now < h->until ? hf_etcd_renew(s->e, h->id, &ignored) : 0;
		h->due = hf_clock_boot() + (rc < 0 ? 1000 : RENEW_MS);
		if (rc == 0)
			let_go(s, i - 1);
	}
}

static int64_t
next_renewal(const struct server *s)
{
	int64_t due = INT64_MAX;

	for (size_t i = 0; i < s->nheld; i++)
		if (s->held[i].due < due)
			due = s->held[i].due;
	return due;
}

static void
give_back(struct server *s)
{
	struct hf_err ignored;

	if (s->nheld > 0)
		hf_etcd_deadline(s->e, hf_clock_boot() + END_MS);
	while (s->nheld > 0)
		if (hf_etcd_revoke(s->e, s->held[--s->nheld].id, &ignored) < 0)
			break;
}

static int
do_lease(struct server *s, const struct hf_jval *v, struct hf_buf *out,
    struct hf_err *err)
{
	bool held = hf_json_true(hf_json_get(v, "held"));
	int64_t seconds, ttl, now = hf_clock_boot();
	char id[HF_ETCD_ID];

	if (!hf_json_int(hf_json_get(v, "seconds"), &seconds) ||
	    seconds < 1 || seconds > 30 * 86400)
		return hf_err_set(err, HF_E_INVALID,
		    "a lease needs \"seconds\" from 1 to 2592000");
	ttl = held && seconds > HELD_SECONDS ? HELD_SECONDS : seconds;
	if (hf_etcd_lease(s->e, ttl, id, err) < 0)
		return -1;
	if (held) {
		if (s->nheld == HELD_MAX)
			let_go(s, 0);
		s->held[s->nheld] = (struct held){ "", now + RENEW_MS,
			now + seconds * 1000 };
		memcpy(s->held[s->nheld++].id, id, sizeof(id));
	}
	hf_buf_printf(out, "\"lease\":\"%s\"", id);
	return 0;
}

static int
do_alive(struct server *s, const struct hf_jval *v, struct hf_buf *out,
    struct hf_err *err)
{
	char id[HF_ETCD_ID];
	int rc = get_text(v, "lease", true, id, sizeof(id), err);

	if (rc == 0)
		rc = hf_etcd_alive(s->e, id, err);
	hf_buf_printf(out, "\"alive\":%s", rc > 0 ? "true" : "false");
	return rc;
}

static int
do_release(struct server *s, const struct hf_jval *v, struct hf_buf *out,
    struct hf_err *err)
{
	char id[HF_ETCD_ID];

	(void)out;
	if (get_text(v, "lease", true, id, sizeof(id), err) < 0)
		return -1;
	for (size_t i = s->nheld; i > 0; i--)
		if (strcmp(s->held[i - 1].id, id) == 0)
			let_go(s, i - 1);
	return hf_etcd_revoke(s->e, id, err);
}

/* ---- watch ---- */

/* Somebody wants something else: a request, the end, a lease. */
static bool
wanted(void *arg)
{
	const struct server *s = arg;
	struct pollfd p = { 0, POLLIN, 0 };

	return hf_clock_boot() >= next_renewal(s) || hf_sig_got() != 0 ||
	    poll(&p, 1, 0) > 0;
}

static bool
has_request(void)
{
	struct pollfd p = { 0, POLLIN, 0 };

	return poll(&p, 1, 0) > 0;
}

static int
do_watch(struct server *s, const struct hf_jval *v, struct hf_buf *out,
    struct hf_err *err)
{
	int64_t end = hf_clock_boot() + s->ms;
	char prefix[KEY_MAX];
	int rc = get_key(v, "prefix", prefix, err);

	while (rc == 0 && hf_clock_boot() < end && !has_request() &&
	    hf_sig_got() == 0) {
		renew(s);
		hf_etcd_deadline(s->e, end);
		rc = hf_etcd_watch(s->e, prefix, wanted, s, err);
		if (rc == 0 && end - hf_clock_boot() < 100)
			break;
	}
	hf_buf_printf(out, "\"changed\":%s", rc > 0 ? "true" : "false");
	return rc;
}

/* ---- the loop ---- */

static const struct {
	const char *op;
	int (*does)(struct server *s, const struct hf_jval *v,
	    struct hf_buf *out, struct hf_err *err);
} ops[] = {
	{ "open", do_open }, { "get", do_get }, { "put", do_put },
	{ "create", do_put }, { "delete", do_delete }, { "list", do_list },
	{ "scan", do_list }, { "watch", do_watch }, { "lease", do_lease },
	{ "alive", do_alive }, { "release", do_release },
};

static int
perform(struct server *s, const struct hf_jval *v, struct hf_buf *out,
    struct hf_err *err)
{
	struct hf_str op = hf_json_get_str(v, "op");

	if (!hf_json_int(hf_json_get(v, "ms"), &s->ms) || s->ms < 1)
		s->ms = OP_MS;
	if (s->ms > WAIT_MAX_MS)
		s->ms = WAIT_MAX_MS;
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (!hf_str_is(op, ops[i].op))
			continue;
		if (s->e == NULL && i > 0)
			return hf_err_set(err, HF_E_INVALID,
			    "the first request must be \"open\"");
		if (s->e != NULL)
			hf_etcd_deadline(s->e, hf_clock_boot() + s->ms);
		return ops[i].does(s, v, out, err);
	}
	return hf_err_set(err, HF_E_UNSUPPORTED,
	    "this request is not known here");
}

static int
answer(struct server *s, struct hf_str line, struct hf_err *err)
{
	struct hf_json *j = hf_json_parse(line, 0, NULL, NULL, err);
	struct hf_buf out = HF_BUF_INIT, body = HF_BUF_INIT;
	struct hf_err why = { HF_OK, "" };
	int64_t id = 0;
	int rc;

	if (j == NULL) {
		hf_err_prefix(err, "a request is no JSON");
		return -1;
	}
	hf_json_int(hf_json_get(hf_json_root(j), "id"), &id);
	hf_buf_printf(&out, "{\"id\":%lld", (long long)id);
	if (perform(s, hf_json_root(j), &body, &why) < 0) {
		hf_buf_printf(&out, ",\"error\":{\"code\":\"%s\","
		    "\"message\":", hf_code_name(why.code));
		hf_json_quote(&out, hf_str(why.msg));
		hf_buf_putc(&out, '}');
	} else if (body.len > 0) {
		hf_buf_putc(&out, ',');
		hf_buf_str(&out, hf_buf_view(&body));
	}
	hf_buf_puts(&out, "}\n");
	rc = hf_out(hf_buf_view(&out), err);
	hf_buf_release(&body);
	hf_buf_release(&out);
	hf_json_free(j);
	return rc;
}

/* Until there is something to read; leases are renewed meanwhile. */
static int
wait_for_request(struct server *s, struct hf_err *err)
{
	const struct hf_buf *b = &s->in.buf;

	/* It is here by now. */
	if (b->len > s->in.pos &&
	    memchr(b->data + s->in.pos, '\n', b->len - s->in.pos) != NULL)
		return 0;
	for (;;) {
		struct pollfd p[] = { { 0, POLLIN, 0 },
			{ hf_sig_fd(), POLLIN, 0 } };
		int64_t due = next_renewal(s), left = 60000;

		if (hf_sig_check(err) < 0)
			return -1;
		if (due - hf_clock_boot() < left)
			left = due - hf_clock_boot();
		if (left > 0 && poll(p, 2, (int)left) > 0 &&
		    p[0].revents != 0)
			return 0;
		renew(s);
	}
}

static int
serve(struct server *s, struct hf_err *err)
{
	struct hf_str line;
	int rc;

	for (;;) {
		if (wait_for_request(s, err) < 0)
			return -1;
		rc = hf_lines_next(&s->in, &line, NULL, err);
		if (rc <= 0)
			return rc;
		if (answer(s, line, err) < 0)
			return -1;
	}
}

static int
run(int argc, char **argv, struct hf_err *err)
{
	struct server s = { .e = NULL };
	const struct hf_opt opts[] = {
		{ 0, NULL, NULL, NULL, HF_OPT_FLAG, NULL, 0, 0 } };
	const struct hf_opt_usage usage = { name, "",
	    "keep the state in etcd: requests of hf-store(7) on stdin", opts };
	int n, rc;

	if ((rc = hf_opt_parse(&usage, argc, argv, &n, err)) != 0)
		return rc < 0 ? -1 : HF_EX_OK;
	if (n > 0)
		return hf_err_set(err, HF_E_USAGE,
		    "requests are read from stdin, not from '%s'", argv[1]);
	if (hf_config_load(&s.config, err) < 0)
		return -1;
	hf_lines_init(&s.in, 0, "stdin", LINE_MAX_BYTES);
	rc = serve(&s, err);
	give_back(&s);
	hf_lines_release(&s.in);
	hf_etcd_close(s.e);
	hf_config_release(&s.config);
	return rc < 0 ? -1 : HF_EX_OK;
}

int
main(int argc, char **argv)
{
	return hf_cmd_main(name, run, argc, argv);
}
