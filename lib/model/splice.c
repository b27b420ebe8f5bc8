#include "model/splice.h"

#include <string.h>

#include "json/lex.h"

/* Where a member's value stands in the text. */
struct place {
	size_t from, to;
	bool there;
};

static size_t
skip_blanks(struct hf_str a, size_t i)
{
	while (i < a.n && (a.s[i] == ' ' || a.s[i] == '\t' ||
	    a.s[i] == '\n' || a.s[i] == '\r'))
		i++;
	return i;
}

/* Behind the string that begins at i. */
static size_t
skip_string(struct hf_str a, size_t i)
{
	for (i++; i < a.n && a.s[i] != '"'; i++)
		if (a.s[i] == '\\')
			i++;
	return i < a.n ? i + 1 : a.n;
}

/* Behind the value that begins at i. */
static size_t
skip_value(struct hf_str a, size_t i)
{
	struct hf_lex lex = { 0 };
	size_t end;

	if (i < a.n && a.s[i] == '"')
		return skip_string(a, i);
	if (i < a.n && (a.s[i] == '{' || a.s[i] == '[')) {
		end = hf_lex_value(&lex, a.s + i, a.n - i);
		return end == SIZE_MAX ? a.n : i + end;
	}
	while (i < a.n && strchr(",}] \t\n\r", a.s[i]) == NULL)
		i++;
	return i;
}

/*
 * The member of the object at the top; text is known to be good JSON. The
 * name must be spelled without escapes, as everybody does.
 */
static int
find(struct hf_str a, const char *name, struct place *p, struct hf_err *err)
{
	size_t i = skip_blanks(a, 0) + 1, key, end;

	p->there = false;
	for (;;) {
		key = skip_blanks(a, i);
		if (key >= a.n || a.s[key] != '"')
			return 0;
		end = skip_string(a, key);
		i = skip_blanks(a, end) + 1;	/* the colon */
		i = skip_blanks(a, i);
		if (hf_str_is(hf_strn(a.s + key + 1, end - key - 2), name)) {
			if (p->there)
				return hf_err_set(err, HF_E_INVALID,
				    "the context has '%s' twice", name);
			p->there = true;
			p->from = i;
			p->to = skip_value(a, i);
		}
		i = skip_blanks(a, skip_value(a, i));
		if (i >= a.n || a.s[i] != ',')
			return 0;
		i++;
	}
}

/* Puts value in place of what stands from from to to. */
static void
replace(struct hf_buf *b, size_t from, size_t to, struct hf_str value)
{
	struct hf_buf out = HF_BUF_INIT;

	hf_buf_add(&out, b->data, from);
	hf_buf_str(&out, value);
	hf_buf_add(&out, b->data + to, b->len - to);
	hf_buf_release(b);
	*b = out;
}

/* Sets a member: in its place, else as the last one. */
static int
set(struct hf_buf *b, const char *name, struct hf_str value,
    struct hf_err *err)
{
	struct hf_buf member = HF_BUF_INIT;
	struct place p;
	size_t end;

	if (find(hf_buf_view(b), name, &p, err) < 0)
		return -1;
	if (p.there) {
		replace(b, p.from, p.to, value);
		return 0;
	}
	for (end = b->len; end > 0 && b->data[end - 1] != '}'; end--)
		;
	hf_buf_puts(&member, ",");
	hf_json_quote(&member, hf_str(name));
	hf_buf_putc(&member, ':');
	hf_buf_str(&member, value);
	replace(b, end - 1, end - 1, hf_buf_view(&member));
	hf_buf_release(&member);
	return 0;
}

static int
set_default(struct hf_buf *b, const char *name, struct hf_str value,
    struct hf_err *err)
{
	struct place p;

	if (find(hf_buf_view(b), name, &p, err) < 0)
		return -1;
	return p.there ? 0 : set(b, name, value, err);
}

/* The message behind the last element of the list. */
static int
append(const struct hf_wire *w, struct hf_str text, struct hf_buf *b,
    struct hf_err *err)
{
	struct hf_jtree *t = hf_jtree_new();
	struct hf_jnode *list = hf_jtree_arr(t);
	struct hf_buf message = HF_BUF_INIT;
	struct hf_str a = hf_buf_view(b);
	struct place p;
	size_t end;
	int rc = -1;

	w->message(t, list, text);
	hf_jtree_write(&message, list, false);
	if (find(a, w->list, &p, err) < 0)
		goto out;
	if (!p.there || a.s[p.from] != '[') {
		hf_err_set(err, HF_E_INVALID,
		    "the context has no list '%s'", w->list);
		goto out;
	}
	/* "[X]" without its first bracket, or with a comma in its stead. */
	if (skip_blanks(a, p.from + 1) == p.to - 1) {
		replace(b, p.from, p.to, hf_buf_view(&message));
	} else {
		message.data[0] = ',';
		for (end = p.to - 1; strchr(" \t\r\n", a.s[end - 1]); end--)
			;
		replace(b, end, p.to, hf_buf_view(&message));
	}
	rc = 0;
out:
	hf_buf_release(&message);
	hf_jtree_free(t);
	return rc;
}

/* What was read from the body before it is changed. */
static bool
lists_tools(const struct hf_jval *root)
{
	return hf_json_size(hf_json_get(root, "tools")) > 0;
}

static int
set_limit(const struct hf_wire *w, const struct hf_jval *root,
    int64_t max_tokens, struct hf_buf *b, struct hf_err *err)
{
	char number[32];
	struct hf_buf text = HF_BUF_MAX(sizeof(number));
	int rc;

	if (w->limit == NULL ||
	    hf_json_get(root, "max_completion_tokens") != NULL)
		return 0;
	hf_buf_printf(&text, "%lld", (long long)max_tokens);
	rc = set_default(b, w->limit, hf_buf_view(&text), err);
	hf_buf_release(&text);
	return rc;
}

static int
set_model(const char *model, struct hf_buf *b, struct hf_err *err)
{
	struct hf_buf quoted = HF_BUF_INIT;
	int rc;

	hf_json_quote(&quoted, hf_str(model));
	rc = set(b, "model", hf_buf_view(&quoted), err);
	hf_buf_release(&quoted);
	return rc;
}

int
hf_splice(const struct hf_wire *w, const struct hf_splice *s,
    struct hf_buf *out, bool *chosen, struct hf_err *err)
{
	struct hf_json *j;
	const struct hf_jval *root;
	int rc = -1;
	bool tools;

	if (chosen != NULL)
		*chosen = false;
	j = hf_json_parse(s->body, HF_JSON_RAW, NULL, NULL, err);
	if (j == NULL) {
		hf_err_prefix(err, "the context is no JSON");
		return -1;
	}
	root = hf_json_root(j);
	tools = lists_tools(root);
	hf_buf_str(out, s->body);
	if (hf_json_type(root) != HF_J_OBJ || hf_json_size(root) == 0)
		hf_err_set(err, HF_E_INVALID,
		    "the context is no request: not a JSON object");
	else if (append(w, s->text, out, err) == 0 &&
	    (!w->plain || s->model == NULL ||
	    set_model(s->model, out, err) == 0) &&
	    (!tools || set(out, w->choice, hf_str(s->choice), err) == 0) &&
	    (!w->plain ||
	    set_default(out, "stream", HF_STR("true"), err) == 0))
		rc = set_limit(w, root, s->max_tokens, out, err);
	if (rc == 0 && out->full)
		rc = hf_err_set(err, HF_E_OVERFLOW, "the context is too big");
	if (chosen != NULL)
		*chosen = tools;
	hf_json_free(j);
	return rc;
}

struct hf_str
hf_splice_model(struct hf_str body, struct hf_json **j)
{
	*j = hf_json_parse(body, HF_JSON_RAW, NULL, NULL, NULL);
	return *j != NULL ? hf_json_get_str(hf_json_root(*j), "model") :
	    HF_STR_NONE;
}
