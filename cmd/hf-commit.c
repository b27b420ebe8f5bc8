#include <stdlib.h>
#include <string.h>

#include "base/cmd.h"
#include "base/io.h"
#include "base/opt.h"
#include "brief/brief.h"
#include "state/commit.h"
#include "state/inbox.h"
#include "state/recover.h"

static const char name[] = "hf-commit";

struct run {
	struct hf_store *st;
	struct hf_config config;
	struct hf_begin how;
	bool cancelled, json, score;
	const char *message;
};

static bool
has(const struct hf_doc *d, const char *key)
{
	return hf_json_type(hf_doc_get(d, key)) > HF_J_NULL;
}

/* ---- begin ---- */

static int
act_begin(struct hf_doc *d, void *arg, struct hf_err *err)
{
	struct run *r = arg;
	struct hf_attempt attempt;
	struct hf_lease lease;
	struct hf_err why;
	int rc;

	if (has(d, "error"))
		return 0;
	if (!hf_doc_acts(d)) {
		/* Only status would miss it. */
		if (hf_begin_defer(r->st, d, &why) < 0)
			hf_warn_err(&why);
		return 0;
	}
	rc = hf_begin(r->st, &r->how, d, &attempt, &lease, err);
	if (rc == 0)
		hf_attempt_to_doc(d, &attempt, &lease);
	hf_record_release(&attempt);
	return rc;
}

/* ---- commit ---- */

static int
act_commit(struct hf_doc *d, void *arg, struct hf_err *err)
{
	static const struct hf_err nothing = { HF_E_INTERNAL, "" };
	struct run *r = arg;
	struct hf_err why;

	if (has(d, "error")) {
		if (hf_commit_fail(r->st, d, &nothing, &why) < 0)
			hf_warn("the failure is not recorded: %s", why.msg);
		return 0;
	}
	if (!hf_doc_acts(d) || hf_commit(r->st, &r->how, d, err) == 0)
		return 0;
	/* A disk in trouble is the machine's business, not the document's
	 * alone. */
	if (err->code == HF_E_IO)
		hf_warn_err(err);
	return -1;
}

/* ---- fail ---- */

static struct hf_err
reason(const struct run *r)
{
	struct hf_err why;

	hf_err_set(&why, r->cancelled ? HF_E_CANCELLED : HF_E_UNAVAILABLE,
	    "%s", r->message != NULL ? r->message :
	    r->cancelled ? "cancelled" : "given up");
	return why;
}

static int
act_fail(struct hf_doc *d, void *arg, struct hf_err *err)
{
	struct run *r = arg;
	struct hf_err why = reason(r);

	if (hf_commit_fail(r->st, d, &why, err) < 0)
		return -1;
	if (!has(d, "error") && has(d, "commit"))
		hf_doc_fail(d, name, &why);
	return 0;
}

static int
fail_attempt(struct run *r, const char *id, struct hf_err *err)
{
	struct hf_err why = reason(r);
	struct hf_attempt a;
	int rc = hf_record_load(r->st, id, &a, err);

	if (rc == 0)
		rc = hf_err_set(err, HF_E_NOT_FOUND,
		    "there is no record of handoff '%s'", id);
	else if (rc > 0)
		rc = a.phase == HF_PHASE_FAILED ? 0 :
		    hf_attempt_undo(r->st, &a, &why, err);
	hf_record_release(&a);
	return rc;
}

/* ---- recover ---- */

static void
say(const struct hf_attempt *r, void *arg)
{
	(void)arg;
	if (r->phase == HF_PHASE_STARTED)
		hf_warn("handoff '%s' completed: session '%s' goes on as '%s'",
		    r->id, r->source.id, r->target.id);
	else if (!hf_phase_committed(r->phase))
		hf_warn("handoff '%s' undone: session '%s' is as it was",
		    r->id, r->source.id);
}

static int
recover(struct run *r, struct hf_err *err)
{
	struct hf_recovered n;
	size_t unknown;

	if (hf_recover(r->st, &r->config, &n, say, NULL, err) < 0 ||
	    hf_inbox_recover(r->st, &unknown, err) < 0)
		return -1;
	return n.failed > 0 || n.pending > 0 ? HF_EX_TEMPFAIL : HF_EX_OK;
}

/* ---- show ---- */

/* An item that the check moved to the uncertainties says so. */
static void
mark(struct hf_buf *out, struct hf_str text, void *arg)
{
	const struct hf_jval *moved = arg, *e;
	struct hf_jiter it;

	hf_json_iter(&it, moved);
	while ((e = hf_json_next(&it, NULL)) != NULL)
		if (hf_str_eq(hf_json_str(e), text)) {
			hf_buf_puts(out, "(moved here by the check) ");
			break;
		}
	hf_buf_str(out, text);
}

static void
markdown(struct hf_buf *out, const struct hf_brief *b,
    const struct hf_jval *check)
{
	union { const struct hf_jval *v; void *arg; } moved = {
	    hf_json_get(check, "moved") };
	struct hf_brief marked;

	hf_brief_map(b, &marked, mark, moved.arg);
	hf_brief_markdown(out, &marked);
	hf_brief_release(&marked);
}

static long long
figure(const struct hf_jval *check, const char *path)
{
	return (long long)hf_json_count(hf_json_at(check, path));
}

/* What the check of the brief found, in words. */
static int
show_score(const struct run *r, const struct hf_jval *check,
    struct hf_err *err)
{
	struct hf_buf out = HF_BUF_INIT, text = HF_BUF_INIT;
	const struct hf_jval *bad = hf_json_get(check, "ungrounded"), *e;
	struct hf_str n = hf_json_num(hf_json_get(check, "grounded"));
	struct hf_jiter it;
	int rc;

	if (r->json) {
		hf_json_write(&out, check);
		hf_buf_putc(&out, '\n');
	} else {
		hf_buf_printf(&out, "grounded     %.*s",
		    n.n > 0 ? (int)n.n : 11, n.n > 0 ? n.s : "not checked");
		hf_json_iter(&it, bad);
		for (const char *sep = "; not found: ";
		    (e = hf_json_next(&it, NULL)) != NULL; sep = ", ") {
			hf_buf_puts(&out, sep);
			hf_buf_str(&out, hf_json_str(e));
		}
		hf_buf_printf(&out, "\nconstraints  %lld found, %lld kept, "
		    "%zu lost\nartifacts    %lld written, %lld listed, %zu "
		    "invented\nmoved        %zu\nsize         %lld "
		    "characters, %lld tokens\n",
		    figure(check, "constraints.found"),
		    figure(check, "constraints.kept"),
		    hf_json_size(hf_json_at(check, "constraints.lost")),
		    figure(check, "artifacts.written"),
		    figure(check, "artifacts.listed"),
		    hf_json_size(hf_json_at(check, "artifacts.invented")),
		    hf_json_size(hf_json_get(check, "moved")),
		    figure(check, "characters"), figure(check, "tokens"));
	}
	hf_text_safe(&text, hf_buf_view(&out), true);
	rc = hf_out(hf_buf_view(&text), err);
	hf_buf_release(&text);
	hf_buf_release(&out);
	return rc;
}

static int
show_brief(const struct run *r, const struct hf_jval *v,
    const struct hf_jval *check, struct hf_err *err)
{
	struct hf_buf text = HF_BUF_INIT, out = HF_BUF_INIT;
	struct hf_jtree *t = hf_jtree_new();
	struct hf_brief b;
	int rc;

	hf_brief_init(&b);
	rc = hf_brief_from_json(&b, v, err);
	if (rc == 0 && r->json)
		hf_jtree_write(&out, hf_brief_to_json(t, &b), true);
	if (rc == 0 && !r->json) {
		markdown(&text, &b, check);
		hf_text_safe(&out, hf_buf_view(&text), true);
	}
	if (rc == 0)
		rc = hf_out(hf_buf_view(&out), err);
	hf_brief_release(&b);
	hf_jtree_free(t);
	hf_buf_release(&text);
	hf_buf_release(&out);
	return rc;
}

/* The record of what a person names, also by a session's prefix, title or
 * path. */
static int
find(struct run *r, const char *what, struct hf_attempt *a,
    struct hf_err *err)
{
	struct hf_err ignored;
	struct hf_main m;
	int rc = hf_record_find(r->st, what, a, err);

	if (rc != 0)
		return rc;
	rc = hf_main_find(r->st, what, &m, NULL, &ignored);
	if (rc > 0)
		rc = hf_record_find(r->st, m.id, a, err);
	else
		rc = 0;
	hf_main_release(&m);
	return rc;
}

static int
show(struct run *r, const char *what, struct hf_err *err)
{
	struct hf_json *j = NULL, *check = NULL;
	struct hf_err ignored;
	struct hf_attempt a;
	int rc = find(r, what, &a, err);

	if (rc == 0)
		rc = hf_err_set(err, HF_E_NOT_FOUND,
		    "no handoff of '%s' is known", what);
	else if (rc > 0 && a.brief == NULL)
		rc = hf_err_set(err, HF_E_NOT_FOUND, "handoff '%s' has no "
		    "brief%s%s", a.id, a.error != NULL ? ": " : "",
		    a.error != NULL ? a.error : "");
	else if (rc > 0) {
		j = hf_json_parse(hf_str(a.brief), 0, NULL, NULL, err);
		if (a.validation != NULL)
			check = hf_json_parse(hf_str(a.validation),
			    HF_JSON_RAW, NULL, NULL, &ignored);
		if (r->score && check == NULL)
			rc = hf_err_set(err, HF_E_NOT_FOUND, "the brief of "
			    "handoff '%s' was not checked", a.id);
		else if (r->score)
			rc = show_score(r, hf_json_root(check), err);
		else
			rc = j == NULL ? -1 : show_brief(r, hf_json_root(j),
			    hf_json_root(check), err);
	}
	hf_json_free(check);
	hf_json_free(j);
	hf_record_release(&a);
	return rc;
}

static int
act_show(struct hf_doc *d, void *arg, struct hf_err *err)
{
	if (!has(d, "brief"))
		return hf_err_set(err, HF_E_MISSING,
		    "the document has no brief: hf-validate makes it");
	return show_brief(arg, hf_doc_get(d, "brief"),
	    hf_doc_get(d, "validation"), err);
}

/* ---- the command ---- */

static int
stage(struct run *r, int (*act)(struct hf_doc *, void *, struct hf_err *),
    bool quiet, struct hf_err *err)
{
	struct hf_stage s = { name, true, act, r, quiet };

	return hf_doc_stage(&s, err);
}

static int
each(struct run *r, char **what, int n,
    int (*one)(struct run *, const char *, struct hf_err *),
    struct hf_err *err)
{
	for (int i = 0; i < n; i++)
		if (one(r, what[i], err) < 0)
			return -1;
	return 0;
}

static int
verb(struct run *r, const char *word, int n, char **rest,
    struct hf_err *err)
{
	bool is_show = strcmp(word, "show") == 0;
	bool is_fail = strcmp(word, "fail") == 0;

	if (is_show && n == 1 && strcmp(rest[0], "-") == 0)
		return stage(r, act_show, true, err);
	if (is_show && n > 0)
		return each(r, rest, n, show, err);
	if (is_show)
		return hf_err_set(err, HF_E_USAGE,
		    "show wants the id of a session or a handoff");
	if (is_fail && n > 0)
		return each(r, rest, n, fail_attempt, err);
	if (n > 0)
		return hf_err_set(err, HF_E_USAGE,
		    "'%s' is one operand too many", rest[0]);
	if (is_fail)
		return stage(r, act_fail, false, err);
	if (strcmp(word, "begin") == 0)
		return stage(r, act_begin, false, err);
	if (strcmp(word, "recover") == 0)
		return recover(r, err);
	if (word[0] == '\0')
		return stage(r, act_commit, false, err);
	return hf_err_set(err, HF_E_USAGE, "'%s' is not a verb: begin, fail, "
	    "recover, show are, and none at all commits", word);
}

static int
run(int argc, char **argv, struct hf_err *err)
{
	struct run r = { 0 };
	const struct hf_opt opts[] = {
		{ 0, "to", "AGENT", "make a session of this agent (begin)",
		    HF_OPT_STR, &r.how.to, 0, 0 },
		{ 'f', "focus", "TEXT", "what the brief is to focus on "
		    "(begin)", HF_OPT_STR, &r.how.focus, 0, 0 },
		{ 0, "cancelled", NULL, "someone cancelled it (fail)",
		    HF_OPT_FLAG, &r.cancelled, 0, 0 },
		{ 0, "message", "TEXT", "why it failed (fail)",
		    HF_OPT_STR, &r.message, 0, 0 },
		{ 0, "score", NULL, "what the check of the brief found "
		    "(show)", HF_OPT_FLAG, &r.score, 0, 0 },
		{ 'j', "json", NULL, "the brief as JSON (show)",
		    HF_OPT_FLAG, &r.json, 0, 0 },
		{ 0, NULL, NULL, NULL, HF_OPT_FLAG, NULL, 0, 0 } };
	const struct hf_opt_usage usage = { name,
	    "[begin | fail [ATTEMPT ...] | recover | show ID ...]",
	    "the transaction: mark, commit, complete or undo a handoff",
	    opts };
	int n, rc;

	if ((rc = hf_opt_parse(&usage, argc, argv, &n, err)) != 0)
		return rc < 0 ? -1 : HF_EX_OK;
	if (hf_config_load(&r.config, err) < 0)
		return -1;
	rc = hf_store_open(&r.config, &r.st, err);
	if (rc == 0)
		rc = verb(&r, n > 0 ? argv[1] : "", n > 0 ? n - 1 : 0,
		    argv + 2, err);
	hf_store_close(r.st);
	hf_config_release(&r.config);
	return rc;
}

int
main(int argc, char **argv)
{
	return hf_cmd_main(name, run, argc, argv);
}
