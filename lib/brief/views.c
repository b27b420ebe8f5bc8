#include "brief/views.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "brief/chars.h"

/* At byte at of the view stand n bytes for raw_n of the original at raw;
 * or a blank, for what was left out. */
struct hf_view_edit {
	uint32_t at, raw, raw_n;
	uint8_t n;
	bool gap;
};

void
hf_view_release(struct hf_view *v)
{
	hf_buf_release(&v->text);
	free(v->edit);
	*v = (struct hf_view)HF_VIEW_INIT;
}

static void
edit(struct hf_view *v, size_t raw, size_t raw_n, struct hf_str by, bool gap)
{
	if (v->n == v->cap) {
		v->cap = v->cap > 0 ? 2 * v->cap : 64;
		v->edit = hf_reallocarray(v->edit, v->cap,
		    sizeof(*v->edit));
	}
	v->edit[v->n++] = (struct hf_view_edit){ (uint32_t)v->text.len,
	    (uint32_t)raw, (uint32_t)raw_n, (uint8_t)by.n, gap };
	hf_buf_str(&v->text, by);
}

static int
hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The UTF-16 unit of "\uXXXX" at i, or -1. */
static long
unit(struct hf_str a, size_t i)
{
	long u = 0;

	if (a.n - i < 6 || a.s[i] != '\\' || a.s[i + 1] != 'u')
		return -1;
	for (size_t k = i + 2; k < i + 6; k++) {
		if (hex(a.s[k]) < 0)
			return -1;
		u = u * 16 + hex(a.s[k]);
	}
	return u;
}

/* What a character behind a backslash means: JSON's letters, and any sign
 * itself, as shells and Markdown have it. NUL for nothing. */
static char
meaning(char c)
{
	switch (c) {
	case 'b': return '\b';
	case 'f': return '\f';
	case 'n': return '\n';
	case 'r': return '\r';
	case 't': return '\t';
	default:
		return c >= ' ' && c < 0x7f &&
		    (hf_chars(c) & HF_CH_ALNUM) == 0 ? c : '\0';
	}
}

/* The escape at i as bytes in out; how many of the text it takes, or 0. */
static size_t
backslash(struct hf_str a, size_t i, char out[4], size_t *n)
{
	long u, low;

	if (a.n - i < 2)
		return 0;
	if (a.s[i + 1] != 'u') {
		out[0] = meaning(a.s[i + 1]);
		*n = 1;
		return out[0] != '\0' ? 2 : 0;
	}
	if ((u = unit(a, i)) < 0)
		return 0;
	if (u >= 0xd800 && u < 0xdc00 && (low = a.n - i >= 12 ?
	    unit(a, i + 6) : -1) >= 0xdc00 && low < 0xe000) {
		u = 0x10000 + ((u - 0xd800) << 10) + (low - 0xdc00);
		*n = hf_utf8_put((uint32_t)u, out);
		return 12;
	}
	*n = hf_utf8_put((uint32_t)u, out);
	return 6;
}

static size_t
percent(struct hf_str a, size_t i, char out[4], size_t *n)
{
	if (a.n - i < 3 || hex(a.s[i + 1]) < 0 || hex(a.s[i + 2]) < 0)
		return 0;
	out[0] = (char)(hex(a.s[i + 1]) * 16 + hex(a.s[i + 2]));
	*n = 1;
	return 3;
}

/* A line break inside a run of token characters, when what follows looks
 * like the rest of a token and not like the next word. */
static size_t
broken(struct hf_str a, size_t i, char out[4], size_t *n)
{
	size_t from = i, end;
	char before = i > 0 ? a.s[i - 1] : ' ';

	(void)out;
	if (a.s[i] == '\r')
		i++;
	if (a.n - i < 4 || a.s[i] != '\n' || (hf_chars(before) &
	    (HF_CH_TOKEN | HF_CH_DOT | HF_CH_PLUS)) == 0)
		return 0;
	i++;
	end = hf_chars_run(a, i, HF_CH_ALNUM, 24);
	if (end - i < 3 || !hf_chars_garbled(hf_strn(a.s + i, end - i)))
		return 0;
	*n = 0;
	return i - from;
}

static bool
is_blank(char c)
{
	return (unsigned char)c <= ' ';
}

/* Adds the text [from, to) that stands between two edits; of it only what
 * is near them (the first and the last bytes of a text are near none). */
static void
between(struct hf_view *v, struct hf_str text, size_t from, size_t to,
    size_t near)
{
	size_t head = from > 0 ? from + near : from;
	size_t tail = to < text.n ? to - near : to;

	if (to - from > 2 * near + 1) {
		while (from > 0 && head < to && !is_blank(text.s[head]))
			head++;
		while (to < text.n && tail > head &&
		    !is_blank(text.s[tail - 1]))
			tail--;
		if (tail > head + 1) {
			hf_buf_add(&v->text, text.s + from, head - from);
			edit(v, head, tail - head, HF_STR(" "), true);
			from = tail;
		}
	}
	hf_buf_add(&v->text, text.s + from, to - from);
}

bool
hf_view_make(struct hf_view *v, enum hf_layer layer, struct hf_str text,
    size_t near)
{
	static const char sign[] = { '\\', '%', '\n' };
	size_t from = 0, i = 0, used, n = 0;
	bool any = false;
	char out[4] = "";
	const char *p;

	hf_buf_clear(&v->text);
	v->n = 0;
	/* A view is never longer than the text. */
	v->text.max = text.n + 1;
	if (text.n > UINT32_MAX)
		return false;
	while (i < text.n && (p = memchr(text.s + i, sign[layer],
	    text.n - i)) != NULL) {
		i = (size_t)(p - text.s);
		if (layer == HF_LAYER_LINES && i > from &&
		    text.s[i - 1] == '\r')
			i--;
		used = layer == HF_LAYER_BACKSLASH ?
		    backslash(text, i, out, &n) :
		    layer == HF_LAYER_PERCENT ? percent(text, i, out, &n) :
		    broken(text, i, out, &n);
		if (used == 0) {
			i = (size_t)(p - text.s) + 1;
			continue;
		}
		between(v, text, from, i, near);
		edit(v, i, used, hf_strn(out, n), false);
		any = true;
		from = i += used;
	}
	if (any)
		between(v, text, from, text.n, near);
	return any;
}

/* The last edit at or before byte at; NULL before the first. Of those at
 * the same place it is the last. */
static const struct hf_view_edit *
edit_before(const struct hf_view *v, size_t at)
{
	size_t lo = 0, hi = v->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (v->edit[mid].at <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo > 0 ? &v->edit[lo - 1] : NULL;
}

/* The bytes of the original that byte at of the view stands for. */
static struct hf_span
raw_of(const struct hf_view *v, size_t at)
{
	const struct hf_view_edit *e = edit_before(v, at);
	size_t raw;

	if (e == NULL)
		return (struct hf_span){ at, at + 1 };
	if (at - e->at < e->n)
		return (struct hf_span){ e->raw,
		    (size_t)e->raw + e->raw_n };
	raw = (size_t)e->raw + e->raw_n + (at - e->at - e->n);
	return (struct hf_span){ raw, raw + 1 };
}

bool
hf_view_span(const struct hf_view *v, struct hf_span *s)
{
	const struct hf_view_edit *e = edit_before(v, s->from);
	size_t i = e != NULL ? (size_t)(e - v->edit) : 0;

	for (; i < v->n && v->edit[i].at < s->to; i++)
		if (v->edit[i].gap && v->edit[i].at >= s->from)
			return false;
	*s = (struct hf_span){ raw_of(v, s->from).from,
	    raw_of(v, s->to - 1).to };
	return true;
}
