#include "config/layout.h"

#include <string.h>

#include "json/json.h"
#include "json/lex.h"

static const struct hf_member no_member = { HF_NOWHERE, HF_NOWHERE,
	HF_NOWHERE, HF_NOWHERE, HF_NOWHERE };

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

size_t
hf_layout_root(struct hf_str t)
{
	return skip_space(t, hf_str_starts(t, "\xef\xbb\xbf") ? 3 : 0);
}

void
hf_layout_enter(struct hf_layout *l, struct hf_str t, size_t open)
{
	l->t = t;
	l->open = open;
	l->first = l->last = l->m = no_member;
	l->i = l->close = skip_space(t, open + 1);
}

bool
hf_layout_next(struct hf_layout *l)
{
	struct hf_str t = l->t;
	struct hf_member e = no_member;
	size_t i = l->i;

	l->close = i;
	if (i >= t.n || t.s[i] == '}' || t.s[i] == ']' || t.s[i] == ',')
		return false;
	e.before = l->last.comma;
	e.key = e.value = i;
	if (t.s[l->open] == '{') {
		if (t.s[i] != '"')
			return false;
		i = skip_space(t, skip_string(t, i));
		e.value = skip_space(t, i < t.n ? i + 1 : i);
	}
	e.end = skip_value(t, e.value);
	i = skip_space(t, e.end);
	if (i < t.n && t.s[i] == ',') {
		e.comma = i;
		i = skip_space(t, i + 1);
	}
	if (l->first.key == HF_NOWHERE)
		l->first = e;
	l->last = l->m = e;
	l->i = l->close = i;
	return true;
}

static bool
key_is(struct hf_str quoted, struct hf_str name)
{
	struct hf_json *j = hf_json_parse(quoted, 0, NULL, NULL, NULL);
	bool same = hf_str_eq(hf_json_str(hf_json_root(j)), name);

	hf_json_free(j);
	return same;
}

static struct hf_str
quoted_key(const struct hf_layout *l)
{
	return part(l->t, l->m.key, skip_string(l->t, l->m.key));
}

bool
hf_layout_is(const struct hf_layout *l, const char *key)
{
	return key_is(quoted_key(l), hf_str(key));
}

bool
hf_layout_find(struct hf_layout *l, struct hf_str t, size_t open,
    struct hf_str key)
{
	struct hf_member found = no_member;

	hf_layout_enter(l, t, open);
	while (hf_layout_next(l))
		if (found.key == HF_NOWHERE && key_is(quoted_key(l), key))
			found = l->m;
	l->m = found;
	return found.key != HF_NOWHERE;
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
add_indent(struct hf_buf *out, const struct hf_layout *l)
{
	struct hf_str outer = indent_of(l->t, l->open);
	struct hf_str inner = HF_STR_NONE;

	if (l->first.key != HF_NOWHERE) {
		inner = indent_of(l->t, l->first.key);
		/* Does the first member begin its line? */
		if (inner.s + inner.n != l->t.s + l->first.key)
			inner = HF_STR_NONE;
	}
	if (inner.s != NULL) {
		hf_buf_str(out, inner);
		return;
	}
	hf_buf_str(out, outer);
	hf_buf_puts(out, outer.n > 0 && outer.s[0] == '\t' ? "\t" : "  ");
}

/* Compact JSON with lines of its own, which begin as those of l do. */
static void
spread(struct hf_buf *out, const struct hf_layout *l, struct hf_str value,
    struct hf_str indent)
{
	struct hf_str outer = indent_of(l->t, l->open), line, rest;
	struct hf_str unit = HF_STR("  ");
	struct hf_buf text = HF_BUF_INIT;
	size_t depth, n = 0;

	if (indent.n > outer.n && memcmp(indent.s, outer.s, outer.n) == 0)
		unit = part(indent, outer.n, indent.n);
	hf_lex_pretty(&text, value);
	rest = hf_str_trim(hf_buf_view(&text));
	while (rest.n > 0) {
		line = hf_str_line(rest, &rest);
		for (depth = 0; depth < line.n && line.s[depth] == ' ';)
			depth++;
		if (n++ > 0) {
			hf_buf_putc(out, '\n');
			hf_buf_str(out, indent);
		}
		for (size_t i = 0; i < depth / 2; i++)
			hf_buf_str(out, unit);
		hf_buf_str(out, part(line, depth, line.n));
	}
	hf_buf_release(&text);
}

static void
add_member(struct hf_buf *out, const struct hf_layout *l, struct hf_str key,
    struct hf_str value, bool lines)
{
	struct hf_buf indent = HF_BUF_INIT;

	if (key.s != NULL) {
		hf_json_quote(out, key);
		hf_buf_puts(out, ": ");
	}
	if (lines) {
		add_indent(&indent, l);
		spread(out, l, value, hf_buf_view(&indent));
	} else {
		hf_buf_str(out, value);
	}
	hf_buf_release(&indent);
}

/* Behind all that it holds, comments too. */
void
hf_layout_add(struct hf_buf *out, const struct hf_layout *l,
    struct hf_str key, struct hf_str value, bool pretty)
{
	struct hf_str t = l->t;
	bool empty = l->last.key == HF_NOWHERE;
	bool lines = memchr(t.s + l->open, '\n', l->close - l->open) != NULL;
	size_t at = l->close;

	while (at > l->open + 1 && is_blank(t.s[at - 1]))
		at--;
	if (empty || l->last.comma != HF_NOWHERE) {
		hf_buf_str(out, part(t, 0, at));
	} else {
		hf_buf_str(out, part(t, 0, l->last.end));
		hf_buf_putc(out, ',');
		hf_buf_str(out, part(t, l->last.end, at));
	}
	if (lines || empty) {
		hf_buf_putc(out, '\n');
		add_indent(out, l);
	} else {
		hf_buf_putc(out, ' ');
	}
	add_member(out, l, key, value, pretty && (lines || empty));
	if (empty && !lines) {
		hf_buf_putc(out, '\n');
		hf_buf_str(out, indent_of(t, l->open));
		at = l->close;
	}
	hf_buf_str(out, part(t, at, t.n));
}

void
hf_layout_replace(struct hf_buf *out, struct hf_str t,
    const struct hf_member *m, struct hf_str value)
{
	hf_buf_str(out, part(t, 0, m->value));
	hf_buf_str(out, value);
	hf_buf_str(out, part(t, m->end, t.n));
}

void
hf_layout_remove(struct hf_buf *out, struct hf_str t,
    const struct hf_member *m)
{
	bool last = m->comma == HF_NOWHERE;
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
	if (last && m->before != HF_NOWHERE) {
		hf_buf_str(out, part(t, 0, m->before));
		head = m->before + 1;
	}
	hf_buf_str(out, part(t, head, from));
	hf_buf_str(out, part(t, to, t.n));
}
