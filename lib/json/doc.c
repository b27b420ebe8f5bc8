#include "json/doc.h"

#include <string.h>
#include <unistd.h>

#include "base/sig.h"

/* ---- one document ---- */

int
hf_doc_parse(struct hf_doc *d, struct hf_str line, struct hf_err *err)
{
	const struct hf_jval *v;
	int64_t version;

	memset(d, 0, sizeof(*d));
	d->in = hf_json_parse(line, HF_JSON_RAW, NULL, NULL, err);
	if (d->in == NULL)
		return -1;
	d->root = hf_json_root(d->in);
	d->line = line;
	v = hf_json_get(d->root, "v");
	if (hf_json_type(d->root) != HF_J_OBJ)
		hf_err_set(err, HF_E_INVALID, "not a JSON object");
	else if (v != NULL && (!hf_json_int(v, &version) || version != 1))
		hf_err_set(err, HF_E_UNSUPPORTED,
		    "a document of another version than 1");
	else
		return 0;
	hf_doc_release(d);
	return -1;
}

void
hf_doc_new(struct hf_doc *d)
{
	memset(d, 0, sizeof(*d));
	d->tree = hf_jtree_new();
	d->obj = hf_jtree_obj(d->tree);
	hf_jset_int(d->tree, d->obj, "v", 1);
}

void
hf_doc_release(struct hf_doc *d)
{
	hf_json_free(d->in);
	hf_jtree_free(d->tree);
	memset(d, 0, sizeof(*d));
}

const struct hf_jval *
hf_doc_get(const struct hf_doc *d, const char *key)
{
	return hf_json_get(d->root, key);
}

struct hf_jtree *
hf_doc_tree(struct hf_doc *d)
{
	if (d->tree == NULL) {
		d->tree = hf_jtree_new();
		d->obj = hf_jtree_copy(d->tree, d->root);
	}
	return d->tree;
}

void
hf_doc_set(struct hf_doc *d, const char *key, struct hf_jnode *val)
{
	hf_doc_tree(d);
	hf_jset(d->tree, d->obj, key, val);
}

void
hf_doc_del(struct hf_doc *d, const char *key)
{
	if (d->tree == NULL && hf_json_get(d->root, key) == NULL)
		return;
	hf_doc_tree(d);
	hf_jdel(d->obj, key);
}

void
hf_doc_fail(struct hf_doc *d, const char *stage, const struct hf_err *err)
{
	struct hf_jtree *t = hf_doc_tree(d);
	struct hf_jnode *e = hf_jtree_obj(t);

	hf_jset_cstr(t, e, "stage", stage);
	hf_jset_cstr(t, e, "code", hf_code_name(err->code));
	hf_jset_cstr(t, e, "message", err->msg);
	hf_jset_bool(t, e, "retry", hf_code_retry(err->code));
	hf_doc_set(d, "error", e);
}

/* ---- what it stands for ---- */

static bool
present(const struct hf_jval *v)
{
	return v != NULL && hf_json_type(v) != HF_J_NULL;
}

/* Not due: why decides between "not now" and "no". */
static int
not_due(const struct hf_jval *trigger)
{
	if (hf_json_is(hf_json_get(trigger, "guard"), "busy") ||
	    (hf_json_type(hf_json_get(trigger, "guard")) != HF_J_STR &&
	    hf_json_size(hf_json_get(trigger, "blockers")) > 0))
		return HF_EX_TEMPFAIL;
	return HF_EX_NO;
}

static int
status_of(const struct hf_jval *root)
{
	const struct hf_jval *e = hf_json_get(root, "error");
	const struct hf_jval *t = hf_json_get(root, "trigger");
	struct hf_buf code = HF_BUF_INIT;
	int status;

	if (present(e)) {
		hf_buf_str(&code, hf_json_get_str(e, "code"));
		status = hf_code_status(hf_code_parse(hf_buf_cstr(&code)));
		hf_buf_release(&code);
		return status;
	}
	if (present(t) && !hf_json_true(hf_json_get(t, "due")))
		return not_due(t);
	return HF_EX_OK;
}

bool
hf_doc_acts(const struct hf_doc *d)
{
	const struct hf_jval *t = hf_doc_get(d, "trigger");

	return !present(hf_doc_get(d, "error")) &&
	    (!present(t) || hf_json_true(hf_json_get(t, "due")));
}

void
hf_doc_line(const struct hf_doc *d, struct hf_buf *out)
{
	if (d->tree == NULL)
		hf_buf_str(out, d->line);
	else
		hf_jtree_write(out, d->obj, false);
	hf_buf_putc(out, '\n');
}

static void
add_member(struct hf_buf *out, const struct hf_doc *d, const char *key)
{
	struct hf_jnode *n = hf_jget(d->obj, key);

	if (n == NULL)
		return;
	hf_json_quote(out, hf_str(key));
	hf_buf_putc(out, ':');
	hf_jtree_write(out, n, false);
}

int
hf_doc_status(const struct hf_doc *d)
{
	struct hf_buf text = HF_BUF_INIT;
	struct hf_json *now;
	int status;

	if (d->tree == NULL)
		return status_of(d->root);
	/* Only the two members that count are written and read again. */
	hf_buf_putc(&text, '{');
	add_member(&text, d, "error");
	hf_buf_puts(&text, text.len > 1 ? "," : "");
	add_member(&text, d, "trigger");
	if (text.data[text.len - 1] == ',')
		hf_buf_cut(&text, text.len - 1);
	hf_buf_putc(&text, '}');
	now = hf_json_parse(hf_buf_view(&text), HF_JSON_RAW, NULL, NULL,
	    NULL);
	status = now != NULL ? status_of(hf_json_root(now)) :
	    HF_EX_SOFTWARE;
	hf_json_free(now);
	hf_buf_release(&text);
	return status;
}

/* ---- the loop ---- */

enum { OUT_KEEP = 1 << 20 };

struct loop {
	const struct hf_stage *s;
	struct hf_buf out;
	uint64_t line;
	int status;			/* -1: no document yet */
};

static void
no_document(struct loop *l, const char *why)
{
	hf_warn("line %llu of stdin is no document: %s",
	    (unsigned long long)l->line, why);
	l->status = hf_status_worse(l->status, HF_EX_DATAERR);
}

/* Lets the stage act; its failure goes into the document. */
static int
act(struct loop *l, struct hf_doc *d, struct hf_err *err)
{
	struct hf_err why = { HF_OK, "" };

	if ((!l->s->all && !hf_doc_acts(d)) ||
	    l->s->act(d, l->s->arg, &why) == 0)
		return 0;
	if (why.code == HF_E_CANCELLED && hf_sig_got() != 0) {
		*err = why;
		return -1;
	}
	hf_doc_fail(d, l->s->name, &why);
	return 0;
}

static int
one_line(struct loop *l, struct hf_str line, struct hf_err *err)
{
	struct hf_err why = { HF_OK, "" };
	struct hf_doc d;
	int rc;

	if (hf_str_trim(line).n == 0)
		return 0;
	if (hf_doc_parse(&d, line, &why) < 0) {
		no_document(l, why.msg);
		return 0;
	}
	rc = act(l, &d, err);
	if (rc == 0 && !l->s->quiet) {
		hf_buf_clear(&l->out);
		hf_doc_line(&d, &l->out);
		rc = hf_out(hf_buf_view(&l->out), err);
	}
	if (rc == 0)
		l->status = hf_status_worse(l->status, hf_doc_status(&d));
	hf_doc_release(&d);
	if (l->out.cap > OUT_KEEP)
		hf_buf_release(&l->out);
	return rc;
}

int
hf_doc_stage(const struct hf_stage *s, struct hf_err *err)
{
	struct loop l = { .s = s, .status = -1 };
	struct hf_lines lines;
	struct hf_str line;
	bool whole;
	int rc;

	hf_lines_init(&lines, STDIN_FILENO, "stdin", HF_DOC_MAX);
	while ((rc = hf_lines_next(&lines, &line, &whole, err)) > 0) {
		l.line++;
		if (!whole)
			no_document(&l, "it has no end: it may be torn");
		else if ((rc = one_line(&l, line, err)) < 0)
			break;
	}
	hf_lines_release(&lines);
	hf_buf_release(&l.out);
	if (rc < 0)
		return -1;
	return l.status < 0 ? HF_EX_NO : l.status;
}
