#include "config/edit.h"

#include <string.h>

/* Places are offsets into the text; NOWHERE is none. */
#define NOWHERE	SIZE_MAX

/* Behind white space and comments at i. */
static size_t
blank(struct hf_str t, size_t i)
{
	for (;;) {
		while (i < t.n && (t.s[i] == ' ' || t.s[i] == '\t' ||
		    t.s[i] == '\n' || t.s[i] == '\r'))
			i++;
		if (i + 1 >= t.n || t.s[i] != '/')
			return i;
		if (t.s[i + 1] == '/') {
			while (i < t.n && t.s[i] != '\n')
				i++;
		} else {
			i = hf_str_find(t, HF_STR("*/"), i + 2);
			i = i == NOWHERE ? t.n : i + 2;
		}
	}
}

/* Behind the string at i. */
static size_t
string(struct hf_str t, size_t i)
{
	for (i++; i < t.n && t.s[i] != '"'; i++)
		if (t.s[i] == '\\')
			i++;
	return i < t.n ? i + 1 : t.n;
}

/* Behind the value at i. */
static size_t
value(struct hf_str t, size_t i)
{
	size_t depth = 0;

	do {
		i = blank(t, i);
		if (i >= t.n)
			return t.n;
		if (t.s[i] == '"') {
			i = string(t, i);
		} else if (t.s[i] == '{' || t.s[i] == '[') {
			depth++;
			i++;
		} else if (t.s[i] == '}' || t.s[i] == ']') {
			depth--;
			i++;
		} else if (t.s[i] == ',' || t.s[i] == ':') {
			i++;
		} else {
			while (i < t.n && strchr(" \t\r\n,:]}/", t.s[i]) == NULL)
				i++;
		}
	} while (depth > 0);
	return i;
}

struct member {
	size_t name, value, end;	/* of "name": value */
	size_t last;			/* end of the object's last member */
	size_t close;			/* its '}' */
	bool comma;			/* one stands behind the last member */
};

/* Looks for a member of the object at i. */
static void
look(struct hf_str t, size_t i, struct hf_str name, struct member *m)
{
	size_t begin, end, v, e;

	m->name = m->value = m->end = m->last = NOWHERE;
	m->comma = false;
	i = blank(t, i + 1);
	while (i < t.n && t.s[i] == '"') {
		begin = i;
		end = string(t, i);
		v = blank(t, blank(t, end) + 1);
		e = value(t, v);
		if (hf_str_eq(hf_strn(t.s + begin + 1, end - begin - 2),
		    name)) {
			m->name = begin;
			m->value = v;
			m->end = e;
		}
		m->last = e;
		i = blank(t, e);
		m->comma = i < t.n && t.s[i] == ',';
		if (m->comma)
			i = blank(t, i + 1);
	}
	m->close = i;
}

static void
put(struct hf_buf *out, struct hf_str t, size_t from, size_t to)
{
	hf_buf_str(out, hf_strn(t.s + from, to - from));
}

/* A new member behind the last one of the object at open. */
static void
insert(struct hf_str t, size_t open, const struct member *m,
    const char *indent, struct hf_str name, struct hf_str val,
    struct hf_buf *out)
{
	size_t at = m->last != NOWHERE ? m->last : open + 1;

	put(out, t, 0, at);
	if (m->last != NOWHERE)
		hf_buf_putc(out, ',');
	hf_buf_printf(out, "\n%s\"", indent);
	hf_buf_str(out, name);
	hf_buf_puts(out, "\": ");
	hf_buf_str(out, val);
	/* The comma that stood there has moved in front of the new one. */
	if (m->comma) {
		size_t comma = blank(t, m->last);

		put(out, t, m->last, comma);
		at = comma + 1;
	}
	if (m->last == NOWHERE)
		hf_buf_printf(out, "\n%s", indent + 2);
	put(out, t, at, t.n);
}

/* Takes a member out, with one of the commas around it. */
static void
cut(struct hf_str t, const struct member *m, struct hf_buf *out)
{
	size_t from = m->name, to = m->end, next = blank(t, m->end);

	if (next < t.n && t.s[next] == ',') {
		to = next + 1;
	} else {
		while (from > 0 && strchr(" \t\r\n", t.s[from - 1]) != NULL)
			from--;
		if (from > 0 && t.s[from - 1] == ',')
			from--;
	}
	put(out, t, 0, from);
	put(out, t, to, t.n);
}

static void
replace(struct hf_str t, const struct member *m, struct hf_str val,
    struct hf_buf *out)
{
	put(out, t, 0, m->value);
	hf_buf_str(out, val);
	put(out, t, m->end, t.n);
}

/* Sets or removes name in the object at open. */
static void
change(struct hf_str t, size_t open, const char *indent, struct hf_str name,
    struct hf_str val, struct hf_buf *out)
{
	struct member m;

	look(t, open, name, &m);
	if (m.name != NOWHERE && val.s == NULL)
		cut(t, &m, out);
	else if (m.name != NOWHERE)
		replace(t, &m, val, out);
	else if (val.s != NULL)
		insert(t, open, &m, indent, name, val, out);
	else
		put(out, t, 0, t.n);
}

/* A key in a group whose object is not there yet. */
static void
change_group(struct hf_str t, size_t open, struct hf_str group,
    struct hf_str name, struct hf_str val, struct hf_buf *out)
{
	struct hf_buf object = HF_BUF_INIT;
	struct member m;

	look(t, open, group, &m);
	if (m.name != NOWHERE && t.s[m.value] == '{') {
		change(t, m.value, "    ", name, val, out);
		return;
	}
	if (val.s != NULL) {
		hf_buf_puts(&object, "{\n    \"");
		hf_buf_str(&object, name);
		hf_buf_puts(&object, "\": ");
		hf_buf_str(&object, val);
		hf_buf_puts(&object, "\n  }");
		change(t, open, "  ", group, hf_buf_view(&object), out);
	} else {
		put(out, t, 0, t.n);
	}
	hf_buf_release(&object);
}

int
hf_config_edit(struct hf_str text, const char *key, struct hf_str val,
    struct hf_buf *out, struct hf_err *err)
{
	const char *dot = strchr(key, '.');
	struct member flat;
	size_t open;

	if (hf_str_trim(text).n == 0)
		text = HF_STR("{}\n");
	open = blank(text, hf_str_starts(text, "\xef\xbb\xbf") ? 3 : 0);
	if (open >= text.n || text.s[open] != '{')
		return hf_err_set(err, HF_E_CONFIG,
		    "the configuration is no JSON object");
	look(text, open, hf_str(key), &flat);
	if (dot == NULL || flat.name != NOWHERE)
		change(text, open, "  ", hf_str(key), val, out);
	else
		change_group(text, open, hf_strn(key, (size_t)(dot - key)),
		    hf_str(dot + 1), val, out);
	return 0;
}
