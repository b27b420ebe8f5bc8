#include "model/wire.h"

#include <string.h>

#include "brief/brief.h"

/* ---- parts of requests ---- */

static struct hf_jnode *
typed(struct hf_jtree *t, const char *type)
{
	struct hf_jnode *o = hf_jtree_obj(t);

	hf_jset_cstr(t, o, "type", type);
	return o;
}

struct hf_jnode *
hf_wire_schema(struct hf_jtree *t)
{
	struct hf_jnode *schema = typed(t, "object"), *list;
	struct hf_jnode *members = hf_jtree_obj(t);
	struct hf_jnode *required = hf_jtree_arr(t);
	enum hf_field f;

	for (f = HF_GOAL; f < HF_FIELDS; f++) {
		hf_jpush_str(t, required, hf_str(hf_field_name(f)));
		if (f == HF_GOAL) {
			hf_jset(t, members, hf_field_name(f),
			    typed(t, "string"));
			continue;
		}
		list = typed(t, "array");
		hf_jset(t, list, "items", typed(t, "string"));
		hf_jset(t, members, hf_field_name(f), list);
	}
	hf_jset(t, schema, "properties", members);
	hf_jset(t, schema, "required", required);
	hf_jset_bool(t, schema, "additionalProperties", false);
	return schema;
}

void
hf_wire_user(struct hf_jtree *t, struct hf_jnode *list, struct hf_str text)
{
	struct hf_jnode *o = hf_jtree_obj(t);

	hf_jset_cstr(t, o, "role", "user");
	hf_jset_str(t, o, "content", text);
	hf_jpush(list, o);
}

bool
hf_wire_reasons(const char *model)
{
	const char *base = strrchr(model, '/');

	base = base != NULL ? base + 1 : model;
	if (base[0] == 'o' && base[1] >= '1' && base[1] <= '9')
		return true;
	return strncmp(base, "gpt-5", 5) == 0 &&
	    strstr(base, "chat") == NULL;
}

/* ---- reading ---- */

static struct hf_json *
parse(struct hf_str text, const char *what, struct hf_err *err)
{
	struct hf_json *j;

	j = hf_json_parse(text, HF_JSON_RAW | HF_JSON_MEND, NULL, NULL, NULL);
	if (j == NULL)
		hf_err_set(err, HF_E_UNAVAILABLE, "%s is no JSON", what);
	return j;
}

static int
check_room(const struct hf_reader *r, struct hf_err *err)
{
	if (!r->text.full)
		return 0;
	return hf_err_set(err, HF_E_OVERFLOW,
	    "the text of the answer has more than %d bytes", HF_READER_TEXT);
}

/* Every API tells a failure as a member "error" of an object. */
static bool
is_error(struct hf_reader *r, const struct hf_jval *v)
{
	const struct hf_jval *e = hf_json_get(v, "error");
	enum hf_jtype type = hf_json_type(e);

	if (type != HF_J_OBJ && type != HF_J_STR)
		return false;
	hf_reader_error(r, e);
	return true;
}

int
hf_wire_event(const struct hf_wire *w, struct hf_reader *r,
    struct hf_str name, struct hf_str data, struct hf_err *err)
{
	struct hf_json *j;

	data = hf_str_trim(data);
	if (data.n == 0)
		return 0;
	if (hf_str_is(data, "[DONE]")) {
		r->whole = true;
		return 0;
	}
	j = parse(data, "an event of the answer", err);
	if (j == NULL)
		return -1;
	if (!is_error(r, hf_json_root(j)))
		w->event(r, name, hf_json_root(j));
	hf_json_free(j);
	return check_room(r, err);
}

int
hf_wire_answer(const struct hf_wire *w, struct hf_reader *r,
    struct hf_str body, struct hf_err *err)
{
	struct hf_json *j = parse(body, "the answer", err);

	if (j == NULL)
		return -1;
	if (!is_error(r, hf_json_root(j)))
		w->answer(r, hf_json_root(j));
	hf_json_free(j);
	return check_room(r, err);
}

/* ---- URLs ---- */

/* Is the last part of a path a version: v1, v4, v1beta? */
static bool
is_version(struct hf_str part)
{
	size_t i;

	if (part.n < 2 || part.s[0] != 'v' || part.s[1] < '0' ||
	    part.s[1] > '9')
		return false;
	for (i = 2; i < part.n; i++)
		if ((part.s[i] < '0' || part.s[i] > '9') &&
		    (part.s[i] < 'a' || part.s[i] > 'z'))
			return false;
	return true;
}

/*
 * The version is added unless the base ends in one. A base that ends in
 * "openai" is a gateway's, which has its own behind.
 */
static bool
wants_version(const struct hf_wire *w, struct hf_str base)
{
	struct hf_str last;
	size_t at = base.n;

	while (at > 0 && base.s[at - 1] != '/')
		at--;
	last = hf_strn(base.s + at, base.n - at);
	if (is_version(last))
		return false;
	return !hf_str_is(last, "openai") || w->key_header[0] != 'A';
}

void
hf_wire_url(const struct hf_wire *w, struct hf_buf *out, const char *base,
    const char *model)
{
	struct hf_str head = hf_strn(base, strcspn(base, "?#"));
	struct hf_str rest = hf_str(base + head.n);
	struct hf_buf path = HF_BUF_INIT;
	const char *query;

	while (head.n > 0 && head.s[head.n - 1] == '/')
		head.n--;
	w->path(&path, model);
	query = strchr(hf_buf_cstr(&path), '?');
	hf_buf_str(out, head);
	if (!hf_str_ends(head, path.data)) {
		if (wants_version(w, head))
			hf_buf_puts(out, w->version);
		hf_buf_add(out, path.data, query != NULL ?
		    (size_t)(query - path.data) : path.len);
	}
	hf_buf_str(out, rest);
	if (query != NULL) {
		hf_buf_putc(out, rest.n > 0 ? '&' : '?');
		hf_buf_puts(out, query + 1);
	}
	hf_buf_release(&path);
}
