#include "config/edit.h"

#include <stdint.h>
#include <string.h>

#include "json/json.h"

/*
 * The text has been parsed: what is done here may rely on that, and only
 * has to end whatever it meets.
 */
enum { ROUNDS = 64 };
#define NOWHERE		SIZE_MAX

struct member {
	size_t key, value, end;
	size_t comma;		/* behind it */
	size_t before;		/* the comma of the member before */
};
struct object {
	size_t open, close;
	struct member first, last;
};

static const struct member no_member = { NOWHERE, NOWHERE, NOWHERE, NOWHERE,
	NOWHERE };

/* ---- going over it ---- */

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static struct hf_str
part(struct hf_str t, size_t from, size_t to)
{
	return hf_strn(t.s + from, to - from);
}

/* Blanks and comments. */
static size_t
skip_space(struct hf_str t, size_t i)
{
	size_t end;

	while (i < t.n) {
		if (is_blank(t.s[i])) {
			i++;
			continue;
		}
		if (t.n - i < 2 || t.s[i] != '/')
			return i;
		if (t.s[i + 1] == '/') {
			/* A CR ends it too, says the parser. */
			while (i < t.n && t.s[i] != '\n' && t.s[i] != '\r')
				i++;
		} else if (t.s[i + 1] == '*') {
			end = hf_str_find(t, HF_STR("*/"), i + 2);
			i = end != SIZE_MAX ? end + 2 : t.n;
		} else {
			return i;
		}
	}
	return t.n;
}

static size_t
skip_string(struct hf_str t, size_t i)
{
	for (i++; i < t.n && t.s[i] != '"'; i++)
		if (t.s[i] == '\\')
			i++;
	return i < t.n ? i + 1 : t.n;
}

static size_t
skip_value(struct hf_str t, size_t i)
{
	size_t depth = 0;

	while ((i = skip_space(t, i)) < t.n) {
		switch (t.s[i]) {
		case '"':
			i = skip_string(t, i);
			break;
		case '{':
		case '[':
			depth++;
			i++;
			break;
		case '}':
		case ']':
			depth -= depth > 0;
			i++;
			break;
		case ',':
		case ':':
			i++;
			break;
		default:
			i++;
			while (i < t.n && strchr("{}[],:\"/ \t\r\n",
			    t.s[i]) == NULL)
				i++;
			break;
		}
		if (depth == 0)
			break;
	}
	return i;
}

static bool
key_is(struct hf_str quoted, struct hf_str name)
{
	struct hf_json *j = hf_json_parse(quoted, 0, NULL, NULL, NULL);
	bool same = hf_str_eq(hf_json_str(hf_json_root(j)), name);

	hf_json_free(j);
	return same;
}

/* Goes over the object at index i. True with *m if it has the member. */
static bool
find(struct hf_str t, size_t i, struct hf_str name, struct object *o,
    struct member *m)
{
	struct member e = no_member;
	bool same;

	*m = no_member;
	o->open = i;
	o->first = o->last = no_member;
	i = skip_space(t, i + 1);
	while (i < t.n && t.s[i] == '"') {
		e.before = e.comma;
		e.key = i;
		i = skip_string(t, i);
		same = m->key == NOWHERE && key_is(part(t, e.key, i), name);
		i = skip_space(t, i);
		e.value = skip_space(t, i < t.n ? i + 1 : i);
		e.end = skip_value(t, e.value);
		i = skip_space(t, e.end);
		e.comma = i < t.n && t.s[i] == ',' ? i : NOWHERE;
		if (e.comma != NOWHERE)
			i = skip_space(t, i + 1);
		if (same)
			*m = e;
		if (o->first.key == NOWHERE)
			o->first = e;
		o->last = e;
	}
	o->close = i;
	return m->key != NOWHERE;
}

/* name is split at its dot; group is none when it has none. */
struct name {
	struct hf_str whole, group, rest;
};

/* Looks for the member in the object at index root: as it is spelt, else
 * inside its group. *o is the object it is or would be in; *nested whether
 * that is the group. */
static bool
locate(struct hf_str t, size_t root, const struct name *name,
    struct object *o, struct member *m, bool *nested)
{
	struct object inner;
	struct member group;

	*nested = false;
	if (find(t, root, name->whole, o, m) || name->group.s == NULL ||
	    !find(t, root, name->group, o, &group) ||
	    t.s[group.value] != '{')
		return m->key != NOWHERE;
	*nested = true;
	find(t, group.value, name->rest, &inner, m);
	*o = inner;
	return m->key != NOWHERE;
}

/* ---- changing it ---- */

/* The blanks that the line of index i begins with. */
static struct hf_str
indent_of(struct hf_str t, size_t i)
{
	size_t from = i, to;

	while (from > 0 && t.s[from - 1] != '\n')
		from--;
	to = from;
	while (to < i && (t.s[to] == ' ' || t.s[to] == '\t'))
		to++;
	return part(t, from, to);
}

static void
add_indent(struct hf_buf *out, struct hf_str t, const struct object *o)
{
	struct hf_str outer = indent_of(t, o->open);
	struct hf_str inner = HF_STR_NONE;

	if (o->first.key != NOWHERE) {
		inner = indent_of(t, o->first.key);
		/* Does the first member begin its line? */
		if (inner.s + inner.n != t.s + o->first.key)
			inner = HF_STR_NONE;
	}
	if (inner.s != NULL) {
		hf_buf_str(out, inner);
		return;
	}
	hf_buf_str(out, outer);
	hf_buf_puts(out, outer.n > 0 && outer.s[0] == '\t' ? "\t" : "  ");
}

/* Behind all that the object holds, comments too. */
static void
insert(struct hf_buf *out, struct hf_str t, const struct object *o,
    struct hf_str member)
{
	bool empty = o->last.key == NOWHERE;
	bool lines = memchr(t.s + o->open, '\n', o->close - o->open) != NULL;
	size_t at = o->close;

	while (at > o->open + 1 && is_blank(t.s[at - 1]))
		at--;
	if (empty || o->last.comma != NOWHERE) {
		hf_buf_str(out, part(t, 0, at));
	} else {
		hf_buf_str(out, part(t, 0, o->last.end));
		hf_buf_putc(out, ',');
		hf_buf_str(out, part(t, o->last.end, at));
	}
	if (lines || empty) {
		hf_buf_putc(out, '\n');
		add_indent(out, t, o);
	} else {
		hf_buf_putc(out, ' ');
	}
	hf_buf_str(out, member);
	if (empty && !lines) {
		hf_buf_putc(out, '\n');
		hf_buf_str(out, indent_of(t, o->open));
		at = o->close;
	}
	hf_buf_str(out, part(t, at, t.n));
}

/* Takes the member out, its comma, and its lines if nothing else is on
 * them. */
static void
take_out(struct hf_buf *out, struct hf_str t, const struct member *m)
{
	bool last = m->comma == NOWHERE;
	size_t from = m->key, to = last ? m->end : m->comma + 1;
	size_t left = from, right = to, head;

	while (left > 0 && (t.s[left - 1] == ' ' || t.s[left - 1] == '\t'))
		left--;
	while (right < t.n && is_blank(t.s[right]) && t.s[right] != '\n')
		right++;
	if (left > 0 && t.s[left - 1] == '\n' && right < t.n &&
	    t.s[right] == '\n') {
		from = left;
		to = right + 1;
	} else if (last) {
		from = left;
	} else {
		to = right;
	}
	head = 0;
	if (last && m->before != NOWHERE) {
		hf_buf_str(out, part(t, 0, m->before));
		head = m->before + 1;
	}
	hf_buf_str(out, part(t, head, from));
	hf_buf_str(out, part(t, to, t.n));
}

/* Once: 1 when something was changed. */
static int
edit(struct hf_buf *out, struct hf_str t, const struct name *name,
    struct hf_str value)
{
	struct hf_buf text = HF_BUF_INIT;
	size_t root = hf_str_starts(t, "\xef\xbb\xbf") ? 3 : 0;
	struct object o;
	struct member m;
	bool nested, found;

	root = skip_space(t, root);
	if (root == t.n) {
		t = HF_STR("{}\n");
		root = 0;
	}
	found = locate(t, root, name, &o, &m, &nested);
	if (value.s == NULL) {
		if (found)
			take_out(out, t, &m);
		return found;
	}
	if (found) {
		hf_buf_str(out, part(t, 0, m.value));
		hf_buf_str(out, value);
		hf_buf_str(out, part(t, m.end, t.n));
		return 1;
	}
	if (name->group.s != NULL && !nested) {
		hf_json_quote(&text, name->group);
		hf_buf_puts(&text, ": {");
	}
	hf_json_quote(&text, name->group.s != NULL ? name->rest :
	    name->whole);
	hf_buf_puts(&text, ": ");
	hf_buf_str(&text, value);
	if (name->group.s != NULL && !nested)
		hf_buf_putc(&text, '}');
	insert(out, t, &o, hf_buf_view(&text));
	hf_buf_release(&text);
	return 1;
}

/* Is text one in which name is value? */
static bool
holds(struct hf_str text, const struct name *name, struct hf_str value)
{
	size_t root = hf_str_starts(text, "\xef\xbb\xbf") ? 3 : 0;
	struct hf_json *j = hf_json_parse(part(text, root, text.n),
	    HF_JSON_COMMENTS, NULL, NULL, NULL);
	const struct hf_jval *v = hf_json_get(hf_json_root(j),
	    name->whole.s);
	struct hf_buf is = HF_BUF_INIT;
	bool good;

	if (v == NULL)
		v = hf_json_at(hf_json_root(j), name->whole.s);
	if (v != NULL)
		hf_json_write(&is, v);
	good = j != NULL && (value.s == NULL ? v == NULL :
	    hf_str_eq(hf_buf_view(&is), value));
	hf_buf_release(&is);
	hf_json_free(j);
	return good;
}

int
hf_edit_set(struct hf_buf *out, struct hf_str text, const char *name,
    struct hf_str value, struct hf_err *err)
{
	struct hf_buf now = HF_BUF_INIT, next = HF_BUF_INIT;
	size_t dot = strcspn(name, ".");
	struct name n = { hf_str(name), HF_STR_NONE, HF_STR_NONE };
	int changed = 0, rc;

	if (name[dot] != '\0') {
		n.group = hf_strn(name, dot);
		n.rest = hf_str(name + dot + 1);
	}
	hf_buf_str(&now, text);
	/* A key may be there more than once; all are removed. */
	do {
		hf_buf_clear(&next);
		rc = edit(&next, hf_buf_view(&now), &n, value);
		if (rc > 0) {
			hf_buf_clear(&now);
			hf_buf_str(&now, hf_buf_view(&next));
		}
		changed += rc;
	} while (rc > 0 && value.s == NULL && changed < ROUNDS);
	rc = changed > 0;
	if (rc > 0 && (now.full || !holds(hf_buf_view(&now), &n, value)))
		rc = hf_err_set(err, HF_E_CONFIG,
		    "cannot change '%s' in such a file: edit it", name);
	if (rc > 0)
		hf_buf_str(out, hf_buf_view(&now));
	hf_buf_release(&now);
	hf_buf_release(&next);
	return rc;
}
