#include "brief/views.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "brief/chars.h"

/* At byte at of the view stand n bytes for raw_n of the original at raw. */
struct hf_view_edit {
	uint32_t at, raw;
	uint8_t n, raw_n;
};

void
hf_view_release(struct hf_view *v)
{
	hf_buf_release(&v->text);
	free(v->edit);
	*v = (struct hf_view)HF_VIEW_INIT;
}

static void
edit(struct hf_view *v, size_t raw, size_t raw_n, const char *p, size_t n)
{
	if (v->n == v->cap) {
		v->cap = v->cap > 0 ? 2 * v->cap : 64;
		v->edit = hf_reallocarray(v->edit, v->cap,
		    sizeof(*v->edit));
	}
	v->edit[v->n++] = (struct hf_view_edit){ (uint32_t)v->text.len,
	    (uint32_t)raw, (uint8_t)n, (uint8_t)raw_n };
	hf_buf_add(&v->text, p, n);
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

/* The escape at i as bytes in out; how many of the text it takes, or 0. */
static size_t
json_escape(struct hf_str a, size_t i, char out[4], size_t *n)
{
	static const char plain[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
	const char *p;
	long u, low;

	if (a.n - i < 2)
		return 0;
	if (a.s[i + 1] != 'u') {
		p = memchr(plain, a.s[i + 1], sizeof(plain) - 1);
		if (p == NULL)
			return 0;
		out[0] = means[p - plain];
		*n = 1;
		return 2;
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
	struct hf_str rest;
	char before;

	(void)out;
	if (i > 0 && a.s[i - 1] == '\r')
		return 0;
	before = i > 0 ? a.s[i - 1] : ' ';
	if (a.s[i] == '\r')
		i++;
	if (i >= a.n || a.s[i] != '\n' || (hf_chars(before) &
	    (HF_CH_TOKEN | HF_CH_DOT | HF_CH_PLUS)) == 0)
		return 0;
	i++;
	end = hf_chars_run(a, i, HF_CH_ALNUM, 64);
	rest = hf_strn(a.s + i, end - i);
	if (rest.n < 3 || !hf_chars_garbled(rest))
		return 0;
	*n = 0;
	return i - from;
}

bool
hf_view_make(struct hf_view *v, enum hf_layer layer, struct hf_str text)
{
	static const char sign[] = { '\\', '%', '\n' };
	size_t from = 0, i = 0, used, n = 0;
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
		used = layer == HF_LAYER_JSON ?
		    json_escape(text, i, out, &n) :
		    layer == HF_LAYER_PERCENT ? percent(text, i, out, &n) :
		    broken(text, i, out, &n);
		if (used == 0) {
			i = (size_t)(p - text.s) + 1;
			continue;
		}
		hf_buf_add(&v->text, text.s + from, i - from);
		edit(v, i, used, out, n);
		from = i += used;
	}
	if (v->n == 0)
		return false;
	hf_buf_add(&v->text, text.s + from, text.n - from);
	return true;
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

struct hf_span
hf_view_span(const struct hf_view *v, struct hf_span s)
{
	return (struct hf_span){ raw_of(v, s.from).from,
	    raw_of(v, s.to - 1).to };
}
