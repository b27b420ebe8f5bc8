/*
 * hf-metrics: measure sessions. They are named by operands, or come as
 * documents, hook JSON or statusline JSON on stdin.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cmd.h"
#include "base/opt.h"
#include "base/sig.h"
#include "session/metrics.h"

enum { ONE_MILLION = 1000000 };
static const char stdin_name[] = "standard input";

struct command {
	const char *agent_name;
	const struct hf_agent *agent;
	int64_t capacity;
	bool list, transcript, explain, strict;
	struct hf_config config;
	int status;		/* the gravest so far; -1: nothing was done */
};

/* ---- one session ---- */

/* Measures s into d. src NULL: from its file. s may be its path alone, if
 * there is a cursor. */
static int
measure(struct command *c, struct hf_session *s, struct hf_source *src,
    int64_t host, struct hf_str cursor, struct hf_doc *d,
    struct hf_err *err)
{
	struct hf_measure how = { .config = &c->config,
	    .capacity_option = c->capacity, .capacity_host = host,
	    .strict = c->strict, .explain = c->explain,
	    .stale_check = true, .cursor = cursor, .keep = true };
	struct hf_metrics m;
	char *real = s->path != NULL ? realpath(s->path, NULL) : NULL;

	/* The next command may run in another folder. */
	hf_session_set(&s->path, hf_str(real));
	free(real);
	if (hf_measure(s, src, &how, &m, NULL, err) < 0)
		return -1;
	hf_metrics_to_doc(d, s, &m);
	hf_metrics_release(&m);
	return 0;
}

static int
put(const struct hf_doc *d, struct hf_err *err)
{
	struct hf_buf line = HF_BUF_INIT;
	int rc;

	hf_doc_line(d, &line);
	rc = hf_out(hf_buf_view(&line), err);
	hf_buf_release(&line);
	return rc;
}

/* ---- operands ---- */

static int
measure_stdin(struct command *c, struct hf_doc *d, struct hf_err *err)
{
	struct hf_session s;
	struct hf_source src;
	int rc = -1;

	if (hf_source_fd(&src, STDIN_FILENO, stdin_name, err) < 0)
		return -1;
	hf_session_init(&s);
	if (hf_session_peek_source(&src, &s, err) == 0)
		rc = measure(c, &s, &src, 0, HF_STR_NONE, d, err);
	hf_session_release(&s);
	hf_source_close(&src);
	return rc;
}

static int
measure_named(struct command *c, const char *what, struct hf_doc *d,
    struct hf_err *err)
{
	struct hf_session s;
	int rc;

	hf_session_init(&s);
	rc = c->transcript ? hf_session_peek(what, &s, err) :
	    hf_session_find(what, c->agent, &s, err);
	if (rc == 0)
		rc = measure(c, &s, NULL, 0, HF_STR_NONE, d, err);
	hf_session_release(&s);
	return rc;
}

/* A session that cannot be measured is told of and the rest go on; only
 * what ends the program is -1. */
static int
operand(struct command *c, const char *what, struct hf_err *err)
{
	struct hf_err why = { HF_OK, "" };
	struct hf_doc d;
	int rc;

	hf_doc_new(&d);
	rc = c->transcript && strcmp(what, "-") == 0 ?
	    measure_stdin(c, &d, &why) : measure_named(c, what, &d, &why);
	if (rc == 0) {
		c->status = hf_status_worse(c->status, HF_EX_OK);
		rc = put(&d, err);
	} else if (why.code == HF_E_CANCELLED) {
		*err = why;
	} else {
		hf_warn_err(&why);
		c->status = hf_status_worse(c->status,
		    hf_code_status(why.code));
		rc = 0;
	}
	hf_doc_release(&d);
	return rc;
}

/* ---- documents ---- */

/* Is it what an agent hands to a hook or a statusline? */
static bool
is_host(const struct hf_jval *root)
{
	return hf_json_get(root, "v") == NULL &&
	    (hf_json_get_str(root, "session_id").n > 0 ||
	    hf_json_get_str(root, "transcript_path").n > 0);
}

/* It is kept whole under host, and a document of ours begins around it. */
static void
wrap_host(struct hf_doc *d)
{
	struct hf_jtree *t = hf_doc_tree(d);

	d->obj = hf_jtree_obj(t);
	hf_jset_int(t, d->obj, "v", 1);
	hf_jset(t, d->obj, "host", hf_jtree_copy(t, d->root));
}

/* The window that a statusline tells, or the suffix of its model. */
static int64_t
host_window(const struct hf_jval *host)
{
	const struct hf_jval *model = hf_json_get(host, "model");
	struct hf_str id = hf_json_type(model) == HF_J_OBJ ?
	    hf_json_get_str(model, "id") : hf_json_str(model);
	int64_t n = hf_json_count(hf_json_at(host,
	    "context_window.context_window_size"));

	if (n > 0)
		return n;
	return hf_str_ends(id, "[1m]") ? ONE_MILLION : 0;
}

/* A member as a string without NUL; the caller's, NULL: none. */
static char *
member(const struct hf_jval *v, const char *key)
{
	struct hf_str a = hf_json_get_str(v, key);

	if (a.n == 0 || memchr(a.s, '\0', a.n) != NULL)
		return NULL;
	return hf_strndup(a.s, a.n);
}

/* An id is a name: it finds a session that has it, and nothing else. */
static int
find_id(struct command *c, const char *id, const struct hf_agent *agent,
    struct hf_session *s, struct hf_err *err)
{
	if (!hf_path_component(hf_str(id)))
		return hf_err_set(err, HF_E_NOT_FOUND, "no session '%s'", id);
	if (hf_session_find(id, agent != NULL ? agent : c->agent, s, err) < 0)
		return -1;
	if (s->id == NULL || strcmp(s->id, id) != 0)
		return hf_err_set(err, HF_E_NOT_FOUND, "no session '%s'", id);
	return 0;
}

/* What an earlier measuring left, to go on from. */
static struct hf_str
cursor_of(const struct hf_doc *d)
{
	return hf_json_get_str(hf_doc_get(d, "metrics"), "cursor");
}

/* By the path that the document names; where that is gone, by the id. */
static int
locate(struct command *c, const struct hf_doc *d, const struct hf_jval *host,
    struct hf_session *s, struct hf_err *err)
{
	const struct hf_jval *v = hf_doc_get(d, "session");
	bool hook = is_host(d->root);
	char *path = hook ? member(host, "transcript_path") :
	    member(v, "path");
	char *id = hook ? member(host, "session_id") : member(v, "id");
	struct hf_err other;
	int rc = -1;

	if (path == NULL && id == NULL) {
		hf_err_set(err, HF_E_MISSING, "the document names no session");
	} else if (path != NULL && cursor_of(d).n > 0 &&
	    access(path, R_OK) == 0) {
		/* The cursor knows the rest. */
		hf_session_set(&s->path, hf_str(path));
		rc = 0;
	} else if (path != NULL) {
		rc = hf_session_peek(path, s, err);
		if (rc < 0 && err->code == HF_E_NOT_FOUND && id != NULL) {
			hf_session_release(s);
			rc = find_id(c, id, NULL, s, &other);
		}
	} else {
		rc = find_id(c, id, hf_agent_by_name(
		    hf_json_get_str(v, "agent")), s, err);
	}
	free(path);
	free(id);
	return rc;
}

/* Measures what the document names. What later stages said of an older
 * state goes. */
static int
document(struct command *c, struct hf_doc *d, struct hf_err *err)
{
	static const char *const old[] = { "trigger", "commit", "error" };
	const struct hf_jval *host = hf_doc_get(d, "host");
	struct hf_session s;
	int rc;

	if (is_host(d->root)) {
		host = d->root;
		wrap_host(d);
	}
	for (size_t i = 0; i < sizeof(old) / sizeof(old[0]); i++)
		if (hf_doc_get(d, old[i]) != NULL)
			hf_doc_del(d, old[i]);
	hf_session_init(&s);
	rc = locate(c, d, host, &s, err);
	if (rc == 0)
		rc = measure(c, &s, NULL, host_window(host), cursor_of(d), d,
		    err);
	hf_session_release(&s);
	return rc;
}

/* One document read and written. A failure is the document's own, unless
 * it ends the program. */
static int
stage(struct command *c, struct hf_doc *d, struct hf_err *err)
{
	struct hf_err why = { HF_OK, "" };

	if (document(c, d, &why) < 0) {
		if (why.code == HF_E_CANCELLED) {
			*err = why;
			return -1;
		}
		if (hf_doc_get(d, "metrics") != NULL)
			hf_doc_del(d, "metrics");
		hf_doc_fail(d, "hf-metrics", &why);
	}
	c->status = hf_status_worse(c->status, hf_doc_status(d));
	return put(d, err);
}

/* A line that is no document is told of and left out. */
static void
refuse(struct command *c, const struct hf_err *why)
{
	hf_warn_err(why);
	c->status = hf_status_worse(c->status, HF_EX_DATAERR);
}

static int
line(struct command *c, struct hf_str text, bool whole, struct hf_err *err)
{
	struct hf_err why;
	struct hf_doc d;
	int rc = 0;

	if (hf_doc_parse(&d, text, &why) < 0) {
		refuse(c, &why);
		return 0;
	}
	/* Hooks are not bound to end their JSON with a line end. */
	if (!whole && !is_host(d.root)) {
		hf_err_set(&why, HF_E_TRUNCATED,
		    "the last document has no end of line");
		refuse(c, &why);
	} else {
		rc = stage(c, &d, err);
	}
	hf_doc_release(&d);
	return rc;
}

static bool
is_json(struct hf_str text)
{
	struct hf_json *j = hf_json_parse(text, HF_JSON_RAW, NULL, NULL,
	    NULL);

	hf_json_free(j);
	return j != NULL;
}

/* Each line of a text that is no single document; the last one may not be
 * whole. */
static int
each_line(struct command *c, struct hf_str all, bool whole,
    struct hf_err *err)
{
	struct hf_str text;
	int rc = 0;

	while (rc == 0 && all.n > 0) {
		text = hf_str_line(all, &all);
		if (hf_str_trim(text).n > 0)
			rc = line(c, text, whole || all.n > 0, err);
	}
	return rc;
}

/*
 * A hook's JSON may be printed over several lines: what begins like an
 * object and is none is tried with all that follows. all has the first
 * line, and gets the rest.
 */
static int
over_lines(struct command *c, struct hf_lines *l, struct hf_buf *all,
    struct hf_err *err)
{
	struct hf_str text;
	bool whole = true;
	int rc;

	while ((rc = hf_lines_next(l, &text, &whole, err)) > 0) {
		hf_buf_putc(all, '\n');
		hf_buf_str(all, text);
	}
	if (rc < 0)
		return -1;
	if (all->full)
		return hf_err_set(err, HF_E_OVERFLOW,
		    "the text on %s is too long", stdin_name);
	text = hf_buf_view(all);
	return is_json(text) ? line(c, text, true, err) :
	    each_line(c, text, whole, err);
}

static int
documents(struct command *c, struct hf_err *err)
{
	struct hf_lines l;
	struct hf_str text;
	struct hf_buf all = HF_BUF_MAX(HF_DOC_MAX);
	bool whole, first = true;
	int rc;

	hf_lines_init(&l, STDIN_FILENO, stdin_name, HF_DOC_MAX);
	while ((rc = hf_lines_next(&l, &text, &whole, err)) > 0) {
		if (hf_str_trim(text).n == 0)
			continue;
		if (first && whole && hf_str_starts(hf_str_trim(text), "{") &&
		    !is_json(text)) {
			hf_buf_str(&all, text);
			rc = over_lines(c, &l, &all, err);
			break;
		}
		first = false;
		if ((rc = line(c, text, whole, err)) < 0 ||
		    (rc = hf_sig_check(err)) < 0)
			break;
	}
	hf_lines_release(&l);
	hf_buf_release(&all);
	return rc;
}

/* ---- the list ---- */

static int
list(struct command *c, struct hf_err *err)
{
	struct hf_session *s;
	struct hf_doc d;
	size_t n;
	int rc = 0;

	if (hf_session_list(c->agent, NULL, &s, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n && rc == 0; i++) {
		hf_doc_new(&d);
		hf_session_to_doc(&d, &s[i]);
		rc = put(&d, err);
		hf_doc_release(&d);
		c->status = HF_EX_OK;
	}
	hf_session_list_free(s, n);
	return rc;
}

/* ---- the command ---- */

static int
work(struct command *c, int n, char **operands, struct hf_err *err)
{
	static const char *const from_stdin[] = { "-" };
	int rc = 0;

	if (c->list)
		return list(c, err);
	if (n == 0 && c->transcript)
		return operand(c, from_stdin[0], err);
	if (n == 0 && isatty(STDIN_FILENO))
		return hf_err_set(err, HF_E_USAGE,
		    "name a session, or give documents on stdin");
	if (n == 0)
		return documents(c, err);
	for (int i = 0; i < n && rc == 0; i++) {
		if (!c->transcript && strcmp(operands[i], "-") == 0)
			rc = documents(c, err);
		else
			rc = operand(c, operands[i], err);
		if (rc == 0)
			rc = hf_sig_check(err);
	}
	return rc;
}

static int
run(int argc, char **argv, struct hf_err *err)
{
	struct command c = { .status = -1 };
	const struct hf_opt opts[] = {
		{ 0, "agent", "NAME", "look only at sessions of this agent",
		    HF_OPT_STR, &c.agent_name, 0, 0 },
		{ 0, "capacity", "TOKENS", "the model's context window, "
		    "where the transcript does not tell", HF_OPT_INT,
		    &c.capacity, 1, INT64_C(1000000000000) },
		{ 0, "explain", NULL, "name each row that is dropped, and why",
		    HF_OPT_FLAG, &c.explain, 0, 0 },
		{ 0, "list", NULL, "list the sessions, newest prompt first",
		    HF_OPT_FLAG, &c.list, 0, 0 },
		{ 0, "strict", NULL, "damage in a transcript is an error",
		    HF_OPT_FLAG, &c.strict, 0, 0 },
		{ 0, "transcript", NULL, "operands are files; -, or none: "
		    "the transcript is on stdin", HF_OPT_FLAG, &c.transcript,
		    0, 0 },
		{ 0, NULL, NULL, NULL, HF_OPT_FLAG, NULL, 0, 0 } };
	const struct hf_opt_usage usage = { "hf-metrics", "[SESSION ...]",
	    "measure sessions, named by path, id or title, or by documents "
	    "on stdin", opts };
	int n, rc;

	if ((rc = hf_opt_parse(&usage, argc, argv, &n, err)) != 0)
		return rc < 0 ? -1 : HF_EX_OK;
	if (c.agent_name != NULL) {
		c.agent = hf_agent_by_name(hf_str(c.agent_name));
		if (c.agent == NULL)
			return hf_err_set(err, HF_E_USAGE,
			    "no agent '%s'", c.agent_name);
	}
	if (c.list && n > 0)
		return hf_err_set(err, HF_E_USAGE,
		    "--list takes no operand '%s'", argv[1]);
	if (hf_config_load(&c.config, err) < 0)
		return -1;
	rc = work(&c, n, argv + 1, err);
	hf_config_release(&c.config);
	if (rc < 0)
		return -1;
	return c.status < 0 ? HF_EX_NO : c.status;
}

int
main(int argc, char **argv)
{
	return hf_cmd_main("hf-metrics", run, argc, argv);
}
