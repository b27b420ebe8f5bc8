#include "json/skim.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "json/scan.h"

enum { DEPTH = 64, VALUES_MAX = 1 << 21, OWN_MIN = 4 << 10,
	OWN_MAX = 64 << 20 };

void
hf_skim_release(struct hf_skim *s)
{
	free(s->v);
	free(s->own);
	memset(s, 0, sizeof(*s));
}

/* ---- strings ---- */

struct string {
	const char *end;	/* the closing quote */
	bool escapes, high;	/* may have some */
};

/* Behind the opening quote. False: no end, or a control byte. */
static inline bool
find_end(const char *p, const char *end, struct string *s)
{
	uint64_t carry = 0, quote, before;
	unsigned plain;
	struct hf_scan64 m;

	s->escapes = s->high = false;
	/* Most strings are short and plain. */
	for (int i = 0; i < 3 && p < end; i++) {
		plain = hf_scan_plain(p);
		p += plain;
		if (plain == 16)
			continue;
		s->end = p;
		if (*p == '"')
			return p < end;
		break;
	}
	for (; p < end; p += HF_SCAN) {
		m = hf_scan64(p);
		quote = m.quote;
		if (m.backslash != 0 || carry != 0)
			quote &= ~hf_scan_escaped(m.backslash, &carry);
		before = quote != 0 ? (quote & (0 - quote)) - 1 : UINT64_MAX;
		s->escapes |= (m.backslash & before) != 0;
		s->high |= m.high;
		if (quote == 0) {
			if (m.control)
				return false;
			continue;
		}
		s->end = p + __builtin_ctzll(quote);
		if (s->end >= end)
			return false;
		if (!m.control)
			return true;
		/* Only what is before the quote counts. */
		for (; before != 0; before >>= 1)
			if ((unsigned char)*p++ < 0x20)
				return false;
		return true;
	}
	return false;
}

static int
hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The unit of \uXXXX behind its u; -1. */
static int
unit(const char *p, const char *end)
{
	int u = 0;

	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int d = hex(p[i]);

		if (d < 0)
			return -1;
		u = u * 16 + d;
	}
	return u;
}

/* The escape at p (its backslash): its length, a pair as one, and *to gets
 * what it means; 0: wrong, or no half of a pair. */
static size_t
escape(const char *p, const char *end, char **to)
{
	static const char from[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
	const char *at;
	int u, low;

	if (end - p < 2)
		return 0;
	if (p[1] != 'u') {
		at = p[1] != '\0' ? strchr(from, p[1]) : NULL;
		if (at == NULL)
			return 0;
		*(*to)++ = means[at - from];
		return 2;
	}
	u = unit(p + 2, end);
	if (u < 0 || (u >= 0xdc00 && u < 0xe000))
		return 0;
	if (u < 0xd800 || u >= 0xe000) {
		*to += hf_utf8_put((uint32_t)u, *to);
		return 6;
	}
	if (end - p < 8 || p[6] != '\\' || p[7] != 'u')
		return 0;
	low = unit(p + 8, end);
	if (low < 0xdc00 || low >= 0xe000)
		return 0;
	*to += hf_utf8_put(0x10000u + ((uint32_t)(u - 0xd800) << 10) +
	    (uint32_t)(low - 0xdc00), *to);
	return 12;
}

/* Copies what [p, end) means, as far as it fits into limit bytes of p. The
 * room is as large as the text. NULL: something is wrong in it. */
static char *
unescape(const char *p, const char *end, const char *limit, char *to)
{
	while (p < limit) {
		char *was = to;
		size_t n;

		if (*p == '\\') {
			n = escape(p, end, &to);
		} else if ((unsigned char)*p < 0x80) {
			*to++ = *p++;
			continue;
		} else {
			n = hf_utf8_at(p, (size_t)(end - p), NULL);
			memcpy(to, p, n);
			to += n;
		}
		if (n == 0)
			return NULL;
		if (p + n > limit)
			return was;
		p += n;
	}
	return to;
}

/* Up to where the first n bytes are whole code points; NULL: they are not
 * valid. */
static const char *
whole_points(const char *p, const char *end, const char *limit)
{
	while (p < limit) {
		size_t n = (unsigned char)*p < 0x80 ? 1 :
		    hf_utf8_at(p, (size_t)(end - p), NULL);

		if (n == 0)
			return NULL;
		if (p + n > limit)
			return p;
		p += n;
	}
	return p;
}

enum outcome { OK, DECLINED, FULL };

/* The string behind the quote before p: *v gets it, *next what follows. */
static inline enum outcome
string(struct hf_skim *s, const char *p, const char *end,
    struct hf_skim_val *v, const char **next)
{
	const char *limit;
	struct string t;
	char *to, *done;

	if (!find_end(p, end, &t))
		return DECLINED;
	*next = t.end + 1;
	limit = t.end - p <= HF_SKIM_WHOLE ? t.end : p + HF_SKIM_HEAD;
	if (!t.escapes && t.high &&
	    (limit = whole_points(p, t.end, limit)) == NULL)
		return DECLINED;
	if (t.escapes) {
		if (s->size - s->used < HF_SKIM_WHOLE)
			return FULL;
		to = s->own + s->used;
		done = unescape(p, t.end, limit, to);
		if (done == NULL)
			return DECLINED;
		s->used += (size_t)(done - to);
		p = to;
		limit = done;
	}
	v->tag = (uint64_t)(limit - p) << 8 | HF_SKIM_STR;
	v->u.s = p;
	return OK;
}

/* ---- numbers and words ---- */

static const char *
digits(const char *p, const char *end)
{
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p;
}

/* What follows the number at p; NULL: it is none. */
static const char *
number(const char *p, const char *end)
{
	const char *from;

	if (*p == '-')
		p++;
	from = p;
	p = digits(p, end);
	if (p == from || (*from == '0' && p > from + 1))
		return NULL;
	if (p < end && *p == '.') {
		from = ++p;
		if ((p = digits(p, end)) == from)
			return NULL;
	}
	if (p < end && (*p == 'e' || *p == 'E')) {
		p++;
		if (p < end && (*p == '+' || *p == '-'))
			p++;
		from = p;
		if ((p = digits(p, end)) == from)
			return NULL;
	}
	return p;
}

/* The scalar at p that is no string: what follows, or NULL. */
static const char *
scalar(const char *p, const char *end, struct hf_skim_val *v)
{
	const char *q;

	if (end - p >= 4 && memcmp(p, "true", 4) == 0) {
		v->tag = HF_SKIM_TRUE;
		return p + 4;
	}
	if (end - p >= 5 && memcmp(p, "false", 5) == 0) {
		v->tag = HF_SKIM_FALSE;
		return p + 5;
	}
	if (end - p >= 4 && memcmp(p, "null", 4) == 0) {
		v->tag = HF_SKIM_NULL;
		return p + 4;
	}
	q = number(p, end);
	if (q == NULL)
		return NULL;
	v->tag = (uint64_t)(q - p) << 8 | HF_SKIM_RAW;
	v->u.s = p;
	return q;
}

/* ---- structure ---- */

static inline const char *
blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\r'))
		p++;
	return p;
}

struct walk {
	struct hf_skim *s;
	const char *p, *end;
	size_t open[DEPTH];	/* values that are not closed yet */
	size_t count[DEPTH];	/* what is in them */
	unsigned depth;
};

static inline struct hf_skim_val *
add(struct hf_skim *s)
{
	if (s->n == s->cap) {
		s->cap = s->cap == 0 ? 256 : s->cap * 2;
		s->v = hf_reallocarray(s->v, s->cap, sizeof(*s->v));
	}
	return &s->v[s->n++];
}

static inline bool
opens(struct walk *w, enum hf_skim_type type)
{
	if (w->depth == DEPTH)
		return false;
	w->open[w->depth] = w->s->n;
	w->count[w->depth++] = 0;
	add(w->s)->tag = type;
	w->p++;
	return true;
}

/* The bracket at p closes the innermost value. */
static inline void
closes(struct walk *w)
{
	size_t i = w->open[--w->depth];
	struct hf_skim_val *v = &w->s->v[i];

	v->tag |= (uint64_t)w->count[w->depth] << 8;
	v->u.next = (w->s->n - i) * sizeof(*v);
	w->p++;
}

/* A member's name and its colon. */
static inline enum outcome
name(struct walk *w)
{
	struct hf_skim_val *v;
	const char *next;
	enum outcome o;

	if (w->p == w->end || *w->p != '"')
		return DECLINED;
	v = add(w->s);
	o = string(w->s, w->p + 1, w->end, v, &next);
	if (o != OK)
		return o;
	if (next - w->p > HF_SKIM_WHOLE)
		return DECLINED;
	w->p = blanks(next, w->end);
	if (w->p == w->end || *w->p != ':')
		return DECLINED;
	w->p = blanks(w->p + 1, w->end);
	return OK;
}

/* The value at p; *deeper when it is one that has others in it. */
static inline enum outcome
value(struct walk *w, bool *deeper)
{
	const char *next;
	enum outcome o;

	*deeper = false;
	if (w->p == w->end)
		return DECLINED;
	if (*w->p == '"') {
		o = string(w->s, w->p + 1, w->end, add(w->s), &next);
		if (o == OK)
			w->p = next;
		return o;
	}
	if (*w->p == '{' || *w->p == '[') {
		*deeper = true;
		return opens(w, *w->p == '{' ? HF_SKIM_OBJ : HF_SKIM_ARR) ?
		    OK : DECLINED;
	}
	next = scalar(w->p, w->end, add(w->s));
	if (next == NULL)
		return DECLINED;
	w->p = next;
	return OK;
}

/* Behind a value: steps over a comma, or closes what ends here and goes on
 * behind that. OK: another value or member is due, or all is closed. */
static inline enum outcome
after(struct walk *w)
{
	while (w->depth > 0) {
		bool obj = w->s->v[w->open[w->depth - 1]].tag == HF_SKIM_OBJ;

		w->p = blanks(w->p, w->end);
		if (w->p == w->end)
			return DECLINED;
		if (*w->p == ',') {
			w->p = blanks(w->p + 1, w->end);
			return OK;
		}
		if (*w->p != (obj ? '}' : ']'))
			return DECLINED;
		closes(w);
	}
	return OK;
}

static enum outcome
skim(struct walk *w)
{
	enum outcome o = OK;
	bool deeper = true;

	opens(w, HF_SKIM_OBJ);
	while (w->depth > 0 && o == OK) {
		size_t *count = &w->count[w->depth - 1];
		bool obj = w->s->v[w->open[w->depth - 1]].tag == HF_SKIM_OBJ;

		if (w->s->n > VALUES_MAX)
			return DECLINED;
		if (deeper) {
			w->p = blanks(w->p, w->end);
			if (w->p == w->end)
				return DECLINED;
			if (*w->p == (obj ? '}' : ']')) {
				closes(w);
				deeper = false;
				o = after(w);
				continue;
			}
		}
		++*count;
		if (obj && (o = name(w)) != OK)
			break;
		o = value(w, &deeper);
		if (o == OK && !deeper)
			o = after(w);
	}
	return o;
}

size_t
hf_skim(struct hf_skim *s, const char *p, size_t n)
{
	struct walk w;
	enum outcome o;

	if (n == 0 || *p != '{')
		return 0;
	if (s->own == NULL) {
		s->size = OWN_MIN;
		s->own = hf_malloc(s->size);
	}
	for (;;) {
		w.s = s;
		w.p = p;
		w.end = p + n;
		w.depth = 0;
		s->n = s->used = 0;
		o = skim(&w);
		if (o != FULL || s->size == OWN_MAX)
			break;
		s->size *= 2;
		s->own = hf_reallocarray(s->own, s->size, 1);
	}
	return o == OK ? (size_t)(w.p - p) : 0;
}
